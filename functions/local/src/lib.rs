//! The `quarry` program.
//!
//! What this room is for: every stage in one process, on a folder of data, for a person at a command line or a client
//! at a local port. What enters: arguments, files, HTTP requests. What leaves: answers on standard output (JSON with
//! `--json`), progress and faults on standard error, an exit code that means something ([`Exit`]). What it must never
//! do: parse a user's document in this process (a child does), or do anything that the deployed functions do differently:
//! it only wires their stages to the local store.

mod cli;
mod command;
mod engine;
mod exit;
mod files;
mod letter;
mod locate;
mod output;
pub mod parsers;
mod progress;
mod road;
mod wait;
mod worker;

pub use exit::{Exit, Failure};

use std::process::ExitCode;

use clap::Parser;

/// Reads the arguments and does what they say.
pub fn run() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, everything else is a wrong call; clap chooses the stream.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            return if error.print().is_ok() { exit.into() } else { Exit::Failure.into() };
        }
    };
    let json = cli.common.json;
    match command::run(cli) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::failure(&failure, json);
            failure.exit.into()
        }
    }
}
