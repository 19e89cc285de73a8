//! Answers queries from published revisions.
