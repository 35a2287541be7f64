//! # Idea
//! Three-valued answers. `safe` is a proof for all executions of the model, `violation` carries a
//! witness, `unknown` says which limit was met.
//!
//! # Source
//! SEMANTICS, "Verdicts and exit codes".

use crate::reach::Bound;
use selvedge_base::StopReason;
use std::fmt;

/// The answer to one question; `W` is the kind of witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict<W> {
    /// No execution of the model violates the property.
    Safe,
    /// An execution violates it, and here is one.
    Violation(W),
    /// A limit was met before the question was decided.
    Unknown(Unknown),
}

impl<W> Verdict<W> {
    /// The word used in reports.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Violation(_) => "violation",
            Self::Unknown(_) => "unknown",
        }
    }

    /// The same answer with another witness.
    pub fn map<V>(self, f: impl FnOnce(W) -> V) -> Verdict<V> {
        match self {
            Self::Safe => Verdict::Safe,
            Self::Violation(witness) => Verdict::Violation(f(witness)),
            Self::Unknown(why) => Verdict::Unknown(why),
        }
    }
}

/// Why a question was left open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Unknown {
    /// The budget of the run was used up.
    Stopped(StopReason),
    /// No violation with at most this many open calls per thread; deeper ones were not explored.
    CallDepth(u32),
    /// No proof with so many frames of each stack known and any below, and no run that was found so is
    /// one of the program.
    Stacks(u32),
    /// A violation exists, but its shortest known interleaving has more steps than the limit.
    WitnessTooLong {
        /// How many steps the interleaving has, at least.
        steps: u64,
        /// The limit.
        limit: u64,
    },
    /// There are more tuples of lock histories than the limit.
    Tuples {
        /// The limit on facts about them.
        limit: u64,
    },
    /// The decision diagrams would need more nodes than the limit.
    Nodes {
        /// The limit.
        limit: u64,
    },
    /// There are more cycles of waits than can be asked about. Of those with at most this many threads
    /// all were.
    Cycles {
        /// How many were asked about.
        limit: u64,
        /// The number of threads.
        threads: u32,
    },
    /// No violation in which every process makes fewer actions than this.
    Actions {
        /// How many.
        fewer: u32,
        /// The limit that was met, if it is none on actions.
        stopped: Option<StopReason>,
    },
    /// Proved up to this bound on contexts or rounds, open beyond.
    Within(Bound),
    /// Proved for programs that start at most this many threads at each start site, open beyond.
    Starts(u32),
    /// Proved for at most this many copies of each process, open beyond.
    Copies(u32),
    /// Nothing was found among this many states, of each of which only a hash was kept: two of them may
    /// have been taken for one.
    Hashes(u64),
    /// There are more states than were looked at.
    States {
        /// How many were.
        limit: u64,
    },
    /// The events alone allow it, but no run with values that shows it was found; the text says why not
    /// all such runs were tried, if an engine that follows values was asked.
    OtherData(Option<String>),
    /// Something that the search needs was lost: a disk, a process; the text says what.
    Outside(String),
    /// Two engines contradict each other, which is a bug; the text says how.
    Disagreement(String),
    /// The engine does not handle this program; the text says what is missing.
    Unsupported(String),
}

impl Unknown {
    /// The same where a formula was asked, which looks for a run and not for a violation.
    pub fn about_runs(&self) -> String {
        match self {
            Self::CallDepth(depth) => {
                format!("no such run with at most {} per thread", counted(*depth, "open call"))
            }
            Self::Starts(limit) => {
                format!("no such run within {} per site", counted(*limit, "start"))
            }
            Self::Copies(limit) => {
                format!("no such run with at most {} of each process", copies(*limit))
            }
            other => other.to_string(),
        }
    }
}

impl From<StopReason> for Unknown {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

/// An engine contradicts itself: a bug, never a verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

/// Why an engine has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// A limit was met.
    Unknown(Unknown),
    /// It contradicts itself.
    Fault(Fault),
}

impl Failure {
    /// The engine contradicts itself, and this says how.
    pub fn fault(what: &str) -> Self {
        Self::Fault(Fault(what.to_owned()))
    }
}

impl<U: Into<Unknown>> From<U> for Failure {
    fn from(unknown: U) -> Self {
        Self::Unknown(unknown.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(unknown) => unknown.fmt(f),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A number with its noun, in the singular where it is one.
fn counted(number: u32, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// So many copies.
fn copies(number: u32) -> String {
    if number == 1 { "1 copy".to_owned() } else { format!("{number} copies") }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(reason) => reason.fmt(f),
            Self::CallDepth(depth) => {
                let calls = counted(*depth, "open call");
                write!(f, "no violation with at most {calls} per thread")
            }
            Self::Stacks(known) => {
                write!(f, "no proof with stacks known to depth {known}, and no loop that repeats")
            }
            Self::WitnessTooLong { steps, limit } => write!(
                f,
                "a violation was found, but its interleaving of at least {steps} steps exceeds the limit of \
                 {limit} and was not replayed"
            ),
            Self::Tuples { limit } => {
                write!(f, "more than {limit} facts about tuples of lock histories")
            }
            Self::Nodes { limit } => {
                write!(f, "the decision diagrams need more than {limit} nodes")
            }
            Self::Cycles { limit, threads } => write!(
                f,
                "only {limit} of the cycles of locks were asked about: all of at most {threads} threads, \
                 not all of more"
            ),
            Self::Actions { fewer, stopped } => {
                if let Some(reason) = stopped {
                    write!(f, "{reason}; ")?;
                }
                write!(f, "no violation in which every process makes fewer than {fewer} actions")
            }
            Self::Within(Bound { measure, limit }) => {
                write!(f, "safe within {}", measure.count(*limit))
            }
            Self::Starts(limit) => write!(f, "safe within {} per site", counted(*limit, "start")),
            Self::Copies(limit) => {
                write!(f, "safe with at most {} of each process", copies(*limit))
            }
            Self::Hashes(states) => {
                // Two given states have the same 64 bits with a probability of 2^-64.
                let many = f64::from(u32::try_from(*states).unwrap_or(u32::MAX));
                let probability = many * (many - 1.0).max(0.0) / 2f64.powi(65);
                write!(
                    f,
                    "nothing was found in {states} states, and the probability that one was left out because \
                     only hashes are kept is at most {probability:.1e}"
                )
            }
            Self::States { limit } => {
                let plural = if *limit == 1 { "" } else { "s" };
                write!(f, "there are more than {limit} state{plural}")
            }
            Self::OtherData(why) => {
                f.write_str(
                    "only with other data: values were left out, and the run that was found does \
                     not fit them",
                )?;
                match why {
                    None => Ok(()),
                    Some(why) => write!(f, "; of the runs with values not all were tried: {why}"),
                }
            }
            Self::Disagreement(how) => write!(f, "the engines disagree: {how}"),
            Self::Outside(what) | Self::Unsupported(what) => f.write_str(what),
        }
    }
}
