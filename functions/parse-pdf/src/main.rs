//! The `parse-pdf` function on Lambda.

fn main() {}
