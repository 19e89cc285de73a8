//! Reads HTML into rows.
