//! The `search` function on Lambda.

fn main() {}
