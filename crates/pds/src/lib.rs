//! Pushdown systems, usable alone.
//!
//! # What
//! A pushdown system is a finite control with a stack: the natural model of a program with
//! procedures. This crate answers questions about *all* its runs, of any length and any stack
//! depth: which configurations can be reached from a regular set ([`post_star()`]), from which a
//! regular set can be reached ([`pre_star()`]), by which run ([`run_from_post_star`],
//! [`run_from_pre_star`]), and what the runs do to data, if each rule has a weight in a semiring
//! ([`weighted_post_star()`], [`weighted_pre_star()`], [`WeightedSaturation::value`],
//! [`weighted_run_from_post_star`]).
//!
//! # Why another library
//! The algorithms are the textbook ones in their efficient form: memory is a few flat arrays and
//! time is linear in the number of derived transitions, so systems of millions of rules take about
//! a second. Every answer comes with a reason: a transition remembers the rule and the older
//! transitions it was derived from, and a run that is handed out can be replayed with
//! [`Pds::replay`]. Operations of a weight domain may fail, which decision diagrams need, and all
//! work can be stopped through a stopped budget.
//!
//! # Example
//! A procedure `f` that calls itself or returns, called from `main`.
//!
//! ```
//! use selvedge_base::Budget;
//! use selvedge_pds::{PAutomaton, Reasons, post_star, run_from_post_star, text};
//!
//! let named = text::parse(
//!     "run main -> run f end   # main calls f and then is at `end`
//!      run f    -> run f back  # f calls itself
//!      run f    -> run         # f returns
//!      run back -> run",
//! )
//! .unwrap();
//! let start = named.configuration("run main").unwrap();
//! let initial = PAutomaton::singleton(named.pds.states, &start);
//! let budget = Budget::new();
//! let reached = post_star(&named.pds, &initial, Reasons::new(), &budget).unwrap();
//!
//! // Stacks are written top first.
//! let deep = named.configuration("run f back back back end").unwrap();
//! assert!(reached.automaton.accepts(&deep));
//! let end = named.configuration("run end").unwrap();
//! let run = run_from_post_star(&named.pds, &reached, &end, 1000, &budget).unwrap();
//! assert_eq!(named.pds.replay(&run.start, &run.rules), Ok(end));
//! ```
//!
//! # Where to start reading
//! [`system`] (the model and its one step relation), [`automaton`] (regular sets of
//! configurations), [`mod@pre_star`] (the shortest of the algorithms), [`mod@post_star`],
//! [`reason`] and [`witness`] (runs), [`mod@unfold`] (rules on demand). Then [`weight`] with [`domains`], [`weighted`],
//! [`mod@weighted_post_star`], [`value`] and [`weighted_witness`]; [`merging`] for what a call and its
//! caller do together. [`alternating`] and [`branching`] are about properties that branch, [`mod@path`] about
//! what a single run shows of them; [`nwa`] has nested-word automata. [`oracle`] has the naive versions
//! that everything is tested against.

pub mod system;

pub mod automaton;
pub mod text;

mod grouped;
mod heads;
pub mod post_star;
pub mod pre_star;
pub mod reason;
pub mod unfold;
pub mod witness;

pub mod domains;
pub mod merging;
mod order;
pub mod value;
pub mod weight;
pub mod weighted;
pub mod weighted_post_star;
pub mod weighted_pre_star;
pub mod weighted_witness;

pub mod alternating;
pub mod branching;
pub mod path;

pub mod nwa;

pub mod generate;
pub mod oracle;
pub mod random;

pub use alternating::{
    AlternatingAutomaton, AlternatingPds, AlternatingRule, alternating_pre_star,
};
pub use automaton::{Node, PAutomaton, Transition, TransitionId};
pub use branching::{MuFormula, MuNode, satisfying, satisfying_among};
pub use merging::{Extend, Merging, WitnessMerging, check_merging};
pub use path::{FormulaPath, path_among};
pub use post_star::{PostStar, post_star};
pub use pre_star::{PreStar, pre_star};
pub use reason::{NoReasons, PostReason, PreReason, Reasons, Recorder};
pub use system::{Configuration, InvalidRule, Pds, Rhs, Rule, RuleId, State, Symbol};
pub use unfold::{Head, unfold};
pub use value::Query;
pub use weight::{BrokenLaw, WeightDomain, WitnessDomain, check_laws};
pub use weighted::{
    FactId, History, IncrementId, Increments, Part, StackOrder, Stopped, WeightedAutomaton,
    WeightedSaturation,
};
pub use weighted_post_star::{extended_post_star, weighted_post_star};
pub use weighted_pre_star::{extended_pre_star, weighted_pre_star};
pub use weighted_witness::{
    NoWeightedRun, extended_run_from_post_star, extended_run_from_pre_star,
    weighted_run_from_post_star, weighted_run_from_pre_star,
};
pub use witness::{NoRun, Run, run_from_post_star, run_from_pre_star};

/// The book's page about weight domains, as tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../book/src/library/weight-domain.md")]
    struct WeightDomain;
}
