//! The step relation with data.
//!
//! - [`values`]: what an expression can be.
//! - [`state`]: a program with data between two steps.
//! - `outcome`: the steps of a state, all of them or the one that a run records.
//! - [`refusal`]: why a step is not possible.
//! - [`target`]: whether a state is what a question looks for.

pub mod aside;
mod outcome;
pub mod refusal;
pub mod state;
pub mod target;
pub mod values;

pub use outcome::Record;
pub use refusal::Refusal;
pub use state::{ActivationData, State, ThreadData};
pub use target::{can_move, is_in_target, is_stuck, somebody_can_move, target_error};
pub use values::{Possible, Touched, View};
