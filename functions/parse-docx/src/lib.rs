//! Reads DOCX into rows.
