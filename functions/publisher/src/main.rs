//! The `publisher` function on Lambda.

fn main() {}
