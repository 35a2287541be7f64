//! The bottom of Selvedge: what every other crate needs and nothing else.
//!
//! - [`id`]: typed dense indices ([`define_id!`]) and the vector that only they can index.
//! - [`set`]: sets of ids that share their common parts.
//! - [`graph`]: strongly connected components.
//! - [`place`]: byte spans; places in files: lines and columns, or what else is known.
//! - [`diagnostic`]: complaints about input, as data.
//! - [`budget`]: what an analysis may cost, polled by engines that read no clock.
//!
//! ```
//! use selvedge_base::{IdVec, define_id};
//!
//! define_id!(/// A lock.
//!     LockId);
//! let mut locks: IdVec<LockId, &str> = IdVec::new();
//! let stack = locks.push("stack");
//! assert_eq!(locks[stack], "stack");
//! ```

pub mod budget;
pub mod diagnostic;
pub mod graph;
pub mod id;
pub mod place;
pub mod set;

pub use budget::{Budget, SearchFigures, StopReason};
pub use diagnostic::{Diagnostic, Replacement, Severity, SourceLabel};
pub use id::{Id, IdVec};
pub use place::{FileId, FilePosition, LineIndex, Place, Span};
pub use set::IdSet;
