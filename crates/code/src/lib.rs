//! The second waist of Selvedge: the object program, one form of imperative code with threads.
//!
//! Readers of languages produce a [`Module`](model::Module); analyses of heaps and locks read it and
//! nothing else of a program. It names no language. Plain data with public fields.
//!
//! - [`model`], [`statement`], [`words`], [`place`]: what a module consists of.
//! - [`operands`], [`registers`]: what statements read, where blocks go, and tidy registers.
//! - [`text`]: the text form `.code`, which reads back.
//! - [`validate`]: what every module has to satisfy.
//! - [`layout`], [`address`]: the leaves that an access touches, and paths to one byte.
//! - [`flow`]: the definitions of each use, live registers, elements that are one.
//! - [`simplify`]: inlining, local objects as registers, copies per value of a flag.
//!
//! Where to start reading: [`model`], then [`statement`]. The book's page *The text form of code* has
//! the grammar.

pub mod address;
pub mod flow;
pub mod layout;
pub mod model;
pub mod operands;
pub mod place;
pub mod registers;
pub mod simplify;
pub mod statement;
pub mod text;
pub mod validate;
pub mod words;

/// The book's page about the text form, as tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../book/src/reference/code-text.md")]
    struct CodeText;
}
