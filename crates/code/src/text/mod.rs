//! The text form `.code`: what it prints reads back as the same module, so a test is a text of a few
//! lines and a bug report is a file.
//!
//! ```text
//! type cell 56 { m: mutex @0; n: word 4 @40; link: ref node @48 }
//! type mutex 40
//! type node
//! global cells: cell[8]
//! proc worker(arg: word 8) returns 1 entry
//! b0:
//!   e = elem &cells arg cell
//!   m = field e cell.m
//!   ^7 lock m @'cells.c':12:3 note pthread_mutex_lock
//!   x = field e cell.link
//!   ^9 l = load x acquire
//!   if eq l null goto b2 else b1
//! b1:
//!   c = shift l -48
//!   n = field c cell.n
//!   store n 1 @'list.h':8:5 < 'cells.c':15:3
//!   goto b2
//! b2:
//!   unlock m
//!   return null
//! ```
//!
//! `^n` before a statement is its origin, `!` says that it may fail, `@file:line:column` behind it is
//! its place, with `<` before the place of the call that it was inlined at, and `note` is the name in a
//! library that it stands for. All of them may be left out. `'..'` quotes names; `//` starts a comment.
//! Statements and labels have a line each. The book has the grammar.
//!
//! [`read`](read()) reads it and [`print`](print()) writes it.

mod names;
mod print;
mod read;
mod scanner;
mod spans;

#[cfg(test)]
mod tests;

pub use print::{print, print_statement};
pub use read::{ModuleReading, read};
pub use spans::{BlockSpans, ProcedureSpans, Spans};
