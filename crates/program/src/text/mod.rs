//! The text form of a program: what it prints reads back as the same program, so a bug report is a
//! file.
//!
//! ```text
//! program
//! lock stack @3:8
//! set shared { count @4:7, data @4:14 }
//! thread T1 @6:9 main main {
//!   procedure main @7:5 end @12:5 nodes 4 entry 0 exit 3 {
//!     0 -> 1 acquire stack @8:9
//!     1 -> 2 read count @9:13
//!     2 -> 3 release stack @10:9
//!   }
//! }
//! ```
//!
//! Nodes are numbered per procedure. Places (`@line:column`) may be left out, which means that they
//! are not known. A name that is not made of letters, digits and `_` is written in double quotes, as
//! `"java.util.Stack.pop"`. Atomic sets may be opened several times. `//` starts a comment. The
//! actions are `skip`, `read x`, `write x`, `acquire l`, `release l`, `begin`, `end` and `call p`.
//!
//! - [`print`](print()) and [`parse`](parse()): out and in.
//! - [`complaints`]: collects the diagnostics of one text, with a limit.
//! - [`nearest`]: finds the name that was probably meant.

pub mod complaints;
mod lexer;
pub mod nearest;
mod parse;
mod print;
#[cfg(test)]
mod tests;

pub use parse::parse;
pub use print::print;
