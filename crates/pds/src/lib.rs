//! Pushdown systems, usable alone.

pub mod automaton;
pub mod domains;
pub mod generate;
mod grouped;
mod heads;
pub mod oracle;
mod order;
pub mod post_star;
pub mod pre_star;
pub mod random;
pub mod reason;
pub mod system;
pub mod text;
pub mod value;
pub mod weight;
pub mod weighted;
pub mod weighted_post_star;
pub mod weighted_pre_star;
pub mod weighted_witness;
pub mod witness;

pub use automaton::{Node, PAutomaton, Transition, TransitionId};
pub use post_star::{PostStar, post_star};
pub use pre_star::{PreStar, pre_star};
pub use reason::{NoReasons, PostReason, PreReason, Reasons, Recorder};
pub use system::{Configuration, InvalidRule, Pds, Rhs, Rule, RuleId, State, Symbol};
pub use weight::{BrokenLaw, WeightDomain, WitnessDomain, check_laws};
pub use weighted::{
    FactId, History, IncrementId, Increments, Order, Part, Stopped, WeightedAutomaton,
    WeightedSaturation,
};
pub use weighted_post_star::weighted_post_star;
pub use weighted_pre_star::weighted_pre_star;
pub use weighted_witness::{
    NoWeightedRun, weighted_run_from_post_star, weighted_run_from_pre_star,
};
pub use witness::{NoRun, Run, run_from_post_star, run_from_pre_star};
