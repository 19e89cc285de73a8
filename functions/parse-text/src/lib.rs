//! Reads plain text and Markdown into rows.
