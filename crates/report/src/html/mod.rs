//! # Idea
//! A report in one HTML file that needs nothing else: no network, no font, no server. Everything
//! that it says is written here as HTML, so that it can be read without JavaScript, printed, and
//! compared; the script only adds the stepping, the filters and the panel of the state. Of very many
//! findings the first ones are part of the page and the others are kept packed until they are opened.
//!
//! The diagram and its data come from [`layout`](self), the looks from `assets/*.css`, the behaviour
//! from `assets/*.js`. The page allows its own two scripts by their digest and nothing from
//! elsewhere.
//!
//! # Invariants
//! 1. Everything that comes from outside passes through the writer, which escapes it.
//! 2. The same findings give the same bytes: no clock, no random number.
//! 3. The script writes text only as text. The only markup that it takes is what was packed here, by the
//!    same writer; and even that could not run a script, because the page allows no others.

mod cycle;
mod data;
mod diagram;
mod digest;
mod finding;
mod folds;
mod later;
mod layout;
mod page;
mod rules;
mod shapes;
mod source;
mod summary;
mod values;
mod words;
mod writer;

pub use page::{Meta, render};
