//! The analyses as a library: a program and questions in, answers out, every witness replayed.
//!
//! [`answer`] is what the command line calls; use it to embed Selvedge.
//!
//! ```
//! use selvedge_analysis::{Options, Prepared, answer};
//! use selvedge_base::Budget;
//! use selvedge_program::question::pattern_questions;
//! use selvedge_program::{Question, Units};
//! use selvedge_testkit::straight::{begin, end, read, straight_line, write};
//!
//! let program = straight_line(&[&[begin(), read(0), read(0), end()], &[write(0)]]);
//! let threads: Vec<_> = program.threads.ids().collect();
//! let locations: Vec<_> = program.locations.ids().collect();
//! let queries: Vec<Question> = pattern_questions(&program, &[1, 2], Units::Exact, &threads, &locations)
//!     .into_iter()
//!     .map(Question::Pattern)
//!     .collect();
//! let prepared = Prepared::new(&program);
//! let options = Options::new(None);
//! let report = answer(&prepared, &queries, &options, &Budget::new(), &mut |_| {}).unwrap();
//! let violated = report.answers.iter().filter(|one| one.verdict.word() == "violation");
//! assert_eq!(violated.count(), 1);
//! ```

pub mod branching;
mod choice;
pub mod containment;
pub mod copies;
pub mod deadlocks;
pub mod driver;
pub mod lock_order;
mod making;
mod marked_search;
pub mod prepared;
pub mod registry;
pub mod relation;

pub use branching::{BranchingAnswer, Evidence, NoEvidence, decide_branching, decide_branching_of};
pub use choice::left_out;
pub use containment::contain;
pub use copies::{Instance, instance};
pub use deadlocks::{
    DeadlockReport, PossibleDeadlocks, answer_deadlocks, answer_deadlocks_part, possible_deadlocks,
};
pub use driver::{InternalError, Options, Progress, Report, answer};
pub use lock_order::lock_order;
pub use prepared::{Prepared, nests};
pub use registry::{Declaration, EngineKind, QuestionKind};
pub use relation::{Listing, QuestionPart, RelationReport, answer_relation, answer_relation_part};
pub use selvedge_bounded::projection;
pub use selvedge_cpds::{Abstraction, CpdsOptions, Reentrant};
pub use selvedge_states::movers::movers;
pub use selvedge_states::{
    Ensemble, Journal, ProtectionRule, Reduction, SearchMeans, SearchOrder, StoreKind,
};

/// The book's page about embedding, as tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../book/src/library/analysis.md")]
    struct Analysis;
}
