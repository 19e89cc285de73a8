//! The `parse-html` function on Lambda.

fn main() {}
