//! Inputs and slow oracles for the tests of the other crates. Everything is a function of a seed.
//!
//! - [`source`], [`build`], [`generate`], [`shrink`]: small structured models, which can be printed as
//!   EML or built as a [`Program`](selvedge_program::Program) without any front end; random ones; and
//!   the way from a model on which a test fails to a smallest one.
//! - [`boolean`]: the same for concurrent Boolean programs, which can also be printed in Boppo's
//!   dialect.
//! - [`straight`]: programs without branches, action by action, also badly nested ones.
//! - [`outlined`]: programs whose procedures take and release locks for their callers.
//! - [`typed`]: programs with numbers, arrays, waits and assertions; [`typed_events`]: such programs whose
//!   accesses are events.
//! - [`channels`]: programs with channels, and a second reading of the rules for them.
//! - [`semantics`]: a second interpreter of EML, written from the book, with random programs in which all
//!   features meet.
//! - [`files`]: programs whose statements come from many files.
//! - [`queries`]: all or some of the questions about a program.
//! - [`naive`], [`definition`]: interleaving search and the check of a schedule once more, by the
//!   words of the definition and without any thought of cost.
//! - [`formulas`], [`chain_formulas`]: random temporal formulas, and those that are chains of moments.
//! - [`family`]: models that grow with the number of locks.
//! - [`getafix`]: whether GETAFIX's grammar has a text.
//! - [`models`]: concurrent algorithms as texts of Boolean programs and as Promela, in any size.
//! - [`code`]: random modules of the object program, and an interpreter.
//! - [`addresses`]: where processes of this machine may listen.
//! - [`lock_words`]: lock actions of several threads and whether they can be interleaved.
//!
//! ```
//! use selvedge_testkit::{Rng, generate::{Shape, random_model}};
//! let model = random_model(&mut Rng::new(7), &Shape::SMALL);
//! assert_eq!(model, random_model(&mut Rng::new(7), &Shape::SMALL));
//! let program = model.to_program();
//! assert!(selvedge_program::validate::validate(&program).is_empty());
//! assert!(model.to_eml().contains("process T1 {"));
//! ```

pub mod addresses;
pub mod boolean;
pub mod build;
pub mod chain_formulas;
pub mod channels;
pub mod code;
pub mod complaints;
pub mod definition;
pub mod family;
pub mod files;
pub mod formulas;
pub mod generate;
pub mod getafix;
pub mod lock_words;
pub mod models;
pub mod naive;
pub mod outlined;
mod procedure_text;
pub mod queries;
pub mod restrictions;
pub mod rng;
pub mod semantics;
pub mod shared;
pub mod shrink;
pub mod source;
pub mod straight;
pub mod typed;
pub mod typed_data;
pub mod typed_events;

pub use boolean::{BoolModel, BoolStatement};
pub use rng::Rng;
pub use source::{Block, Function, Model, Process, Statement};
