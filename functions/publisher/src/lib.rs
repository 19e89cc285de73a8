//! Turns finished revisions into records, graph and one split, and flips the namespace head.
