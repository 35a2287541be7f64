//! Explicit-state search for programs with data, locks and condition variables, transaction by
//! transaction: a thread is interrupted only where its inferred transactions end.
//!
//! Start reading at [`search`]. [`step`] is the step relation with what each step accesses, [`eval`] the
//! values of expressions, [`protection`] which accesses commute, [`program`] what is prepared once,
//! [`layout`] and [`store`] the packed states, [`bytecode`] and [`executor`] steps that simply happen, [`symmetry`] the order in which interchangeable copies are stored, `shared` what several workers store, [`task`] a search that partitions without common memory do, [`journal`] what survives of it, [`witness`] the run to what was found, [`engine`] the engine.
//!
//! ```
//! use selvedge_base::Budget;
//! use selvedge_program::{Engine, Question, Target, Verdict, text};
//! use selvedge_states::{SearchOptions, Transactions};
//!
//! let program = text::parse(
//!     "program global x : 0..3 = 0
//!      thread T main main { procedure main nodes 2 entry 0 exit 1 { 0 -> 1 assert x < 3 } }",
//! ).0.unwrap();
//! let mut engine = Transactions::new(&program, SearchOptions::default(), None, Budget::new());
//! let question = Question::Reach(Target::Assertion);
//! let decision = engine.decide(&question, &mut |_| {}).unwrap();
//! assert_eq!(decision.verdict, Verdict::Safe);
//! ```

pub mod bytecode;
pub mod engine;
pub mod eval;
pub mod executor;
pub mod journal;
pub mod layout;
pub mod movers;
pub mod program;
pub mod protection;
pub mod search;
mod shared;
pub mod state;
pub mod step;
pub mod store;
pub mod symmetry;
pub mod task;
mod wire;
pub mod witness;

pub use engine::Transactions;
pub use journal::Journal;
pub use program::Code;
pub use protection::{AccessClass, Protection, ProtectionRule};
pub use search::holding::ownership_probe;
pub use search::partition::{
    OutcomeEnd, Parcel, Partition, Place as PartitionPlace, SearchOutcome, Turn,
};
pub use search::{
    FailingRun, Found, Goal, Reduction, SearchEnd, SearchOptions, SearchOrder, StateCounts,
    StateSearch, StoreKind, WorkCounts,
};
pub use step::{CellAccess, FailingSite, Mover, Offer, StepFailure, StepRelation};
pub use symmetry::Symmetry;
pub use task::{Ensemble, SearchMeans, SearchTask};
