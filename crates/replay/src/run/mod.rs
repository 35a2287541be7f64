//! The step relation with data, and runs.
//!
//! - [`values`]: what an expression can be.
//! - [`state`]: a program with data between two steps.
//! - [`outcome`]: the steps of a state, all of them or the one that a run records.
//! - [`refusal`]: why a step is not possible.
//! - [`target`]: whether a state is what a question looks for.
//! - [`replay`]: [`replay_run`] executes a run and makes a trace of it.

pub mod outcome;
pub mod refusal;
pub mod replay;
pub mod state;
pub mod target;
pub mod values;

pub use outcome::Record;
pub use refusal::Refusal;
pub use replay::{RunError, replay_run};
pub use state::{ActivationData, State, ThreadData};
pub use target::{is_in_target, target_error};
pub use values::{Values, View};
