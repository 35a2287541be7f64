//! Pushdown systems, usable alone.

pub mod automaton;
pub mod generate;
mod grouped;
mod heads;
pub mod post_star;
pub mod pre_star;
pub mod random;
pub mod reason;
pub mod system;
pub mod text;

pub use automaton::{Node, PAutomaton, Transition, TransitionId};
pub use post_star::{PostStar, post_star};
pub use pre_star::{PreStar, pre_star};
pub use reason::{NoReasons, PostReason, PreReason, Reasons, Recorder};
pub use system::{Configuration, InvalidRule, Pds, Rhs, Rule, RuleId, State, Symbol};
