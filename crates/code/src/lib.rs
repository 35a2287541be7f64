//! The second waist of Selvedge: the object program, one form of imperative code with threads.
//!
//! Readers of languages produce a [`Module`](model::Module); analyses of heaps and locks read it and
//! nothing else of a program. It names no language. Plain data with public fields.
//!
//! - [`model`], [`statement`], [`words`], [`place`]: what a module consists of.
//! - [`operands`]: what statements read and where blocks go.
//! - [`text`]: the text form `.code`, which reads back.
//! - [`validate`]: what every module has to satisfy.
//!
//! Where to start reading: [`model`], then [`statement`].

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
