//! # Idea
//! A report in one HTML file that needs nothing else: no network, no font, no server. Everything
//! that it says is written here as HTML, so that it can be read without JavaScript, printed, and
//! compared; the script only adds the stepping, the filters and the panel of the state.
//!
//! The diagram and its data come from [`layout`](self), the looks from `assets/*.css`, the behaviour
//! from `assets/*.js`. The page allows its own two scripts by their digest and nothing from
//! elsewhere.
//!
//! # Invariants
//! 1. Everything that comes from outside passes through the writer, which escapes it.
//! 2. The same findings give the same bytes: no clock, no random number.
//! 3. The script writes text only as text and never as markup.

mod cycle;
mod data;
mod diagram;
mod digest;
mod finding;
mod layout;
mod page;
mod source;
mod summary;
mod words;
mod writer;

pub use page::{Meta, render};
