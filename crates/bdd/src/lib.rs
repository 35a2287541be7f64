//! Binary decision diagrams behind one small trait, and relations of several arities over them.
//!
//! - [`manager`]: the trait [`BddManager`], what every backend offers, and the functions that only
//!   read a diagram.
//! - [`relation`]: [`Relations`], sets of tuples over bit vectors with generalized composition.
//! - [`native`]: the backend to use. Libraries of others stand behind the same trait in `bench/bdd`,
//!   to compare with.
//!
//! Start reading at [`BddManager`]; whoever only needs relations starts at [`Relations`].
//!
//! ```
//! use selvedge_bdd::{NativeManager, Exhausted, Relations};
//!
//! # fn main() -> Result<(), Exhausted> {
//! let (width, max_arity) = (2, 3);
//! let variables = Relations::<NativeManager>::variables(width, max_arity);
//! let relations = Relations::new(NativeManager::new(variables, 1 << 20), width, max_arity)?;
//! let step = relations.tuple(&[vec![false, true], vec![true, true]])?;
//! assert_eq!(relations.compose(&step, &relations.identity()?)?, step);
//! # Ok(())
//! # }
//! ```

pub mod manager;
pub mod relation;

pub mod native;

pub use manager::{BddManager, Exhausted, MAX_VARIABLES, Shape, Var};
pub use native::{NATIVE_BYTES_PER_NODE, NativeManager};
pub use relation::{Component, Relation, Relations};
