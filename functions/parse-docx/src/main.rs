//! The `parse-docx` function on Lambda.

fn main() {}
