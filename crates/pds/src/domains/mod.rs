//! Weight domains of plain data: examples of how to write one, and what the tests run on.
//!
//! - [`boolean`]: is there a run?
//! - [`min_plus`]: how short or cheap is the best run?
//! - [`relation`]: which values at the end belong to which values at the start?
//! - [`gen_kill`]: which facts may hold at the end (bit-vector data-flow analysis)?
//! - [`prefixes`]: which words do runs say, up to a length?
//! - [`locals`]: merging functions by which the caller keeps its locals.

pub mod boolean;
pub mod gen_kill;
pub mod locals;
pub mod min_plus;
pub mod prefixes;
pub mod relation;

pub use boolean::Boolean;
pub use gen_kill::{GenKill, Transfer};
pub use locals::{LocalFacts, LocalValues};
pub use min_plus::{Cost, MinPlus};
pub use prefixes::{PrefixSet, PrefixSets, TooManyNodes};
pub use relation::{Relation, Relations};
