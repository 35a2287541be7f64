//! From answers to findings: what a person is told of the mistakes in a program.
//!
//! Many questions show one mistake. [`group`](mod@group) joins the answers that are about the same
//! conflict into one [`Finding`], with the best interleaving, a sentence that explains it
//! ([`reason`]) and an identity that survives changes of unrelated lines
//! ([`fingerprint`](mod@fingerprint)). [`fix`] and [`wrap`](mod@wrap) change the program so that a
//! finding may be gone; whether it is, somebody with an engine says. [`walk`] is what a reader of a
//! trace keeps in mind, [`stack`] where threads stand when they conflict, [`ending`] where a run ends, [`cause`] what several findings have
//! in common, [`outcome`] what became of all questions about a program, ranked and counted.
//!
//! Where to start reading: [`finding`], then [`group`](mod@group).
//!
//! ```
//! use selvedge_base::{Id, Place};
//! use selvedge_findings::{FindingKind, findings};
//! use selvedge_program::moment::races;
//! use selvedge_program::{
//!     Answer, EdgeId, Move, Question, StepKind, Trace, TraceStep, Verdict, text,
//! };
//!
//! let (program, _) = text::parse(
//!     "program
//!      set s { x }
//!      thread A main main { procedure main nodes 2 entry 0 exit 1 { 0 -> 1 write x } }
//!      thread B main main { procedure main nodes 2 entry 0 exit 1 { 0 -> 1 write x } }",
//! );
//! let program = program.expect("it is a program");
//! let threads: Vec<_> = program.threads.ids().collect();
//! let locations: Vec<_> = program.locations.ids().collect();
//! // What an engine says, and the replayer has executed: both are about to write.
//! let about_to = |at: usize| {
//!     let step = Move::Edge(EdgeId::from_index(at));
//!     TraceStep::plain(threads[at], step, StepKind::Write(locations[0]), Place::NONE)
//! };
//! let trace = Trace { next: vec![about_to(0), about_to(1)], ..Trace::default() };
//! let question = Question::Race(races(&threads, &locations)[0]);
//! let verdict = Verdict::Violation(Box::new(trace));
//! let answer = Answer { question, verdict, engine: "tupling", explored: None, searched: None, refined: None };
//!
//! let told = findings(&program, Some(FindingKind::Race), "", &[answer], None);
//! assert_eq!(
//!     told.findings[0].reason,
//!     "A and B can write `x` at the same time: no lock keeps them apart"
//! );
//! ```

pub mod cause;
pub mod ending;
pub mod finding;
pub mod fingerprint;
pub mod fix;
pub mod group;
pub mod outcome;
pub mod reason;
pub mod stack;
pub mod walk;
pub mod wrap;

pub use cause::{AccessTable, Cause, CausePair, Change, Conflict, ConflictStep, by_cause};
pub use ending::Ending;
pub use finding::{Confirmation, Edit, Finding, FindingKind, Fix, Hold};
pub use group::{Group, group};
pub use outcome::{Checked, CheckedFile, Tally, findings};
pub use stack::{ThreadStack, stacks};
