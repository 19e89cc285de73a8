//! The `parse-text` function on Lambda.

fn main() {}
