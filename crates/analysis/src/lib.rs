//! The analyses as a library: a program and questions in, answers out, every witness replayed.
//!
//! [`atomicity`] is what the command line calls; use it to embed Selvedge.
//!
//! ```
//! use selvedge_analysis::{EngineKind, Options, atomicity};
//! use selvedge_base::Budget;
//! use selvedge_program::{Query, Units, Verdict, query::pattern_queries};
//! use selvedge_testkit::straight::{begin, end, read, straight_line, write};
//!
//! let program = straight_line(&[&[begin(), read(0), read(0), end()], &[write(0)]]);
//! let threads: Vec<_> = program.threads.ids().collect();
//! let locations: Vec<_> = program.locations.ids().collect();
//! let queries: Vec<Query> = pattern_queries(&program, &[1, 2], Units::Exact, &threads, &locations)
//!     .into_iter()
//!     .map(Query::Pattern)
//!     .collect();
//! let options = Options::new(EngineKind::Tupling);
//! let report = atomicity(&program, &queries, &options, &Budget::new(), &mut |_| {}).unwrap();
//! let violated = |answer: &&_| matches!(answer, selvedge_program::Answer { verdict: Verdict::Violation(_), .. });
//! assert_eq!(report.answers.iter().filter(violated).count(), 1);
//! ```

pub mod check;
mod context_bounded;
pub mod deadlocks;
pub mod engine_kind;
pub mod lock_order;
pub mod questions;
pub mod reach;

pub use check::{CheckOptions, Checked, Fixes, check};
pub use deadlocks::{PossibleDeadlocks, possible_deadlocks};
pub use engine_kind::EngineKind;
pub use lock_order::lock_order;
pub use questions::{InternalError, Options, Progress, Report, atomicity, meetings};
pub use reach::{ReachEngine, ReachOptions, Reached, reach};
pub use selvedge_bounded::reduction::projection;

/// The book's pages with Rust code, as tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../book/src/library/analysis.md")]
    struct Analysis;
    #[doc = include_str!("../../../book/src/library/weight-domain.md")]
    struct WeightDomain;
}
