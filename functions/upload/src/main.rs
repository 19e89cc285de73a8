//! The `upload` function on Lambda.

fn main() {}
