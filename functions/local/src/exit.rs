//! How the program ends.

use std::process::ExitCode;

/// Exit codes. They are part of the interface; `quarry --help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Ok,
    /// 1: something went wrong that is not the caller's fault.
    Failure,
    /// 2: the call itself is wrong.
    Usage,
    /// 3: done, but some documents could not be read.
    SomeFailed,
    /// 4: nothing was found: no such document, no evidence, no readable file.
    NotFound,
    /// 130: stopped by Ctrl-C; what was begun goes on with the next call.
    Interrupted,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::SomeFailed => 3,
            Self::NotFound => 4,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command ended early: what to say, and with which code to end.
#[derive(Debug)]
pub struct Failure {
    /// The code.
    pub exit: Exit,
    /// For the user.
    pub error: anyhow::Error,
}

impl Failure {
    /// The call is wrong.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Self { exit: Exit::Usage, error: anyhow::anyhow!("{message}") }
    }

    /// What was asked for is not there.
    pub fn not_found(message: impl std::fmt::Display) -> Self {
        Self { exit: Exit::NotFound, error: anyhow::anyhow!("{message}") }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { exit: Exit::Failure, error: error.into() }
    }
}
