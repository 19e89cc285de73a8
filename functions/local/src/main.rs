//! The `quarry` program.

use std::process::ExitCode;

/// The system's allocator keeps an arena for nearly every thread and gives little back: ADR 0065 has the figures.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    quarry::run()
}
