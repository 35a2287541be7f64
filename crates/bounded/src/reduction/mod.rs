//! # Idea
//! The reductions of a concurrent program with little data to one pushdown system, and what the
//! pushdown library makes of it: reachable shared states per number of rounds, runs to a target, and
//! the nodes that lie on such runs.
//!
//! # Source
//! Paper 001 §4 ([`PdsSearch`]: Fig. 4, Theorem 1, Appendix A.2) and §5 ([`SpdsSearch`]); Lal, Kidd,
//! Reps, Touili, *Abstract error projection* (SAS 2007), for [`projection`].
//!
//! The bound is a number of rounds. A bound on contexts in any order is not a schedule of the kind
//! that the reduction fixes beforehand, so these searches have none to offer.

mod level;
mod projection;
mod search;
mod single;
mod spds;
mod threads;
mod tuples;
mod witness;

pub use projection::projection;
pub use search::PdsSearch;
pub use spds::SpdsSearch;
