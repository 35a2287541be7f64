//! # Idea
//! How a run ends, as the exit code says it.
//!
//! # Source
//! SEMANTICS, "Verdicts and exit codes".

use std::process::ExitCode;

/// The outcome of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Everything was proved, or a command without a verdict did its work.
    Success,
    /// A violation was found.
    Violation,
    /// The input or the usage is wrong.
    BadInput,
    /// A limit was met before everything was decided.
    Unknown,
    /// A bug of ours.
    Internal,
}

impl Exit {
    /// The outcome with this verdict.
    pub fn from_verdict(verdict: &str) -> Self {
        match verdict {
            "safe" | "holds" => Self::Success,
            "violation" | "fails" => Self::Violation,
            _ => Self::Unknown,
        }
    }

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Violation => 1,
            Self::BadInput => 2,
            Self::Unknown => 3,
            Self::Internal => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
