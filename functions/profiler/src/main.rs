//! The `profiler` function on Lambda.

fn main() {}
