//! Binary decision diagrams behind one small trait, and relations of several arities over them.
//!
//! - [`manager`]: the trait [`BddManager`], what every backend offers, and the functions that only
//!   read a diagram.
//! - [`relation`]: [`Relations`], sets of tuples over bit vectors with generalized composition.
//! - [`native`], [`oxidd`] and [`biodivine`]: the backends.
//!
//! Start reading at [`BddManager`]; whoever only needs relations starts at [`Relations`].
//!
//! ```
//! use selvedge_bdd::{BddManager, OutOfNodes, OxiddManager, Relations};
//!
//! # fn main() -> Result<(), OutOfNodes> {
//! let manager = OxiddManager::new(Relations::<OxiddManager>::variables(2, 3), 1 << 12);
//! let relations = Relations::new(manager, 2, 3)?;
//! let step = relations.tuple(&[vec![false, true], vec![true, true]])?;
//! let id = relations.identity()?;
//! assert_eq!(relations.compose(&step, &id)?, step);
//! # Ok(())
//! # }
//! ```

pub mod manager;
pub mod relation;

pub mod biodivine;
pub mod native;
pub mod oxidd;

pub use biodivine::BiodivineManager;
pub use manager::{BddManager, MAX_VARIABLES, OutOfNodes, Shape, Var};
pub use native::{NATIVE_BYTES_PER_NODE, NativeManager};
pub use oxidd::OxiddManager;
pub use relation::{Position, Relation, Relations};
