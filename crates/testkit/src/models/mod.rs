//! Concurrent algorithms as texts of Boolean programs, in any size.
//!
//! - [`bluetooth`]: a driver whose requests race with its removal, with procedures.
//! - [`tree`]: a binary search tree on a small heap, with recursion.
//! - [`machine`], [`bits`], [`boolean`], [`promela`]: guarded commands over small numbers, printed bit
//!   by bit as a Boolean program of either dialect or as Promela, so that the same model can be put
//!   to another checker.
//! - [`exclusion`], [`buffers`]: algorithms for mutual exclusion and a multi-buffer protocol as
//!   machines, each with a flaw that can be switched on.
//! - [`corpus`]: the instances that are files of the repository.
//!
//! ```
//! use selvedge_testkit::models::{boolean::{self, Dialect}, exclusion, promela};
//! let machine = exclusion::peterson(2, false);
//! assert!(boolean::print(&machine, Dialect::Boppo).contains("start_thread p1();"));
//! assert!(promela::print(&machine).contains("active proctype p1()"));
//! ```

pub mod bits;
pub mod bluetooth;
pub mod boolean;
pub mod buffers;
pub mod corpus;
pub mod exclusion;
pub mod machine;
pub mod promela;
pub mod tree;
