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
//! are not known. A program that comes from many files names them, from 1 on, before their places:
//! `file 1 "A.java"`, and then `@1:12:3` is line 12, column 3 of that file. Where the column is not
//! known, `_` stands for it (`@12:_`, `@1:12:_`); what has no lines has offsets (`@+37`, `@1+37`); and
//! `@1` is somewhere in file 1. A name that is not made of letters, digits and `_` is written in double quotes, as
//! `"java.util.Stack.pop"`. Atomic sets may be opened several times. `//` starts a comment. The
//! actions are `skip`, `read x`, `write x`, `acquire l`, `release l`, `begin`, `end`, `call p`, `start t`
//! (a thread that `waits`) and `join t`; `wait c`, `resume c`, `notify c` and `notifyAll c` with
//! `condition c of l` declared, or with the name of a lock for its default condition; and with `channel a` declared `send a`, `post a`, `broadcast a`
//! and `recv a`. A procedure that several threads run stands outside of them;
//! a thread all of whose procedures are shared needs no braces. Where a procedure of the thread hides a
//! shared one of the same name, a dot before the name means the shared one.
//!
//! With data:
//!
//! ```text
//! program
//! global x = F
//! global y
//! thread A main main {
//!   procedure main locals ok nodes 6 entry 0 exit 5 {
//!     0 -> 1 start B(y)
//!     1 -> 2 begin atomic
//!     2 -> 3 call swap(x, *) into x, y
//!     3 -> 4 end atomic when x != y do ok := y
//!     4 -> 5 assert ok & !x
//!   }
//!   procedure swap (a, b) -> 2 enforce !(a & b) nodes 2 entry 0 exit 1 {
//!     0 -> 1 return b, a
//!   }
//! }
//! thread B waits main main {
//!   procedure main (y) nodes 2 entry 0 exit 1 {
//!     0 -> 1 skip do x, .y := *, y constrain 'x => '.y
//!   }
//! }
//! label done at A main 4
//! ```
//!
//! A local hides a global of the same name; a dot before the name means the global. `'x` is the value
//! after the step, `*` either value. The updates of an edge come behind its action, in this order:
//! `when` a guard, `do` an assignment, `constrain` what holds before and after. The book has the
//! grammar.
//!
//! [`print`](print()) writes it and [`parse`](parse()) reads it; [`symbols`](symbols()) says where its names
//! stand.

mod lexer;
mod parse;
mod print;
mod symbols;
#[cfg(test)]
mod tests;

pub use parse::parse;
pub use print::print;
pub use symbols::{edge_spans, renamed, symbols};
