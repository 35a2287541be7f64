//! What a program means, and whether a claimed run is one.
//!
//! - [`step`]: configurations and the step relation of a [`Program`](selvedge_program::Program),
//!   written once; [`restriction`] says which steps count where only some runs of a thread do.
//!   Everything else here calls it; engines do not, so that they can be checked against it.
//! - [`run`]: the step relation with data, on top of [`step`].
//! - [`mod@execute`]: [`replay`] executes a witness step by step and checks by the definition that it
//!   answers its question (`check` for patterns and automata, `moment` for races and deadlocks).
//! - [`with_values`]: values for a claimed run that has none.
//! - [`mod@probe`]: the values of expressions along a run.
//! - [`mod@simulate`]: one random run.
//! - [`exhaustive`]: [`Exhaustive`] decides a question by trying all interleavings, up to a limit on
//!   open calls. It is the oracle of the other engines, and an engine for small models;
//!   [`bounded_states`] is the one for bounded schedules with data.
//!
//! This crate knows nothing of pushdown systems, lock histories or decision diagrams: a checker that
//! shares code with what it checks proves nothing.
//!
//! ```
//! use selvedge_base::Budget;
//! use selvedge_program::{Pattern, PatternQuestion, Question, Units, Verdict};
//! use selvedge_replay::{Exhaustive, replay};
//! use selvedge_testkit::straight::{begin, end, read, straight_line, write};
//!
//! // [ R(x) R(x) ] against a W(x) that no lock keeps away: pattern 2.
//! let program = straight_line(&[&[begin(), read(0), read(0), end()], &[write(0)]]);
//! let query = Question::Pattern(PatternQuestion {
//!     pattern: Pattern::by_number(2).unwrap(),
//!     units: Units::Exact,
//!     unit_thread: program.threads.ids().next().unwrap(),
//!     other_thread: program.threads.ids().last().unwrap(),
//!     locations: program.locations.ids().collect(),
//! });
//! let verdict = Exhaustive::new(&program, 3, Budget::new()).decide(&query);
//! let Verdict::Violation(witness) = verdict else { panic!("the write can come in between") };
//! let trace = replay(&program, &query, &witness).expect("it is a run");
//! assert_eq!(trace.steps.iter().filter(|step| step.matched.is_some()).count(), 3);
//! ```

mod check;
pub mod execute;
pub mod exhaustive;
mod moment;
mod obstacles;
pub mod probe;
pub mod question;
pub mod restriction;
pub mod run;
pub mod simulate;
pub mod step;
pub mod temporal;
pub mod with_values;

pub use execute::{ReplayError, execute, replay, replay_within};
pub use exhaustive::Exhaustive;
pub use exhaustive::bounded::{BoundedLevel, BoundedLimits, BoundedSets, bounded_states};
pub use probe::probe;
pub use question::question_error;
pub use run::State;
pub use simulate::{Simulation, SimulationEnd, simulate};
pub use step::{Configuration, Ownership, Scheduled, StepError, ThreadState};
pub use with_values::replay_with_values;
