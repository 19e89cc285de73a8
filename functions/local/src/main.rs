//! The `quarry` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    quarry::run()
}
