//! # Idea
//! A transformation that cannot be applied to a program says where and why.

use selvedge_program::{Action, Program, Unknown};
use std::fmt;

/// The program has something that a transformation does not handle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// Where, if that is known: `12:3`, or `A.java:12:3`.
    pub at: Option<String>,
    /// What is not handled.
    pub message: String,
}

/// Refuses a program that waits for the end of a thread: joins become data before a search
/// ([`joins_to_data`](crate::monitor::joins_to_data)).
///
/// # Errors
/// If there is a join; the first one is named.
pub(crate) fn no_joins(program: &Program) -> Result<(), Unsupported> {
    let join = program.edges.iter().find(|edge| matches!(edge.action, Action::Join(_)));
    match join {
        Some(edge) => {
            Err(Unsupported::new(program.located(edge.place), "joins have to become data first"))
        }
        None => Ok(()),
    }
}

impl Unsupported {
    pub(crate) fn new(at: Option<String>, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{at}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Unsupported {}

impl From<Unsupported> for Unknown {
    fn from(unsupported: Unsupported) -> Self {
        Self::Unsupported(unsupported.to_string())
    }
}
