//! What every door to Selvedge calls, whether it is a command line, an editor or a web page.
//!
//! Where to start reading: [`check`](mod@check) asks everything about a program and gives back
//! findings; the search for their fixes asks about changed programs. [`select`] and [`target`] turn
//! names that a user gives into ids. [`config`], [`suppress`], [`baseline`] and [`cache`] are what a
//! project keeps about its findings, as texts and data: where these are kept, the door knows.

pub mod ask;
pub mod baseline;
pub mod cache;
pub mod check;
pub mod config;
pub mod file;
mod fixes;
pub mod glob;
pub mod language;
pub mod load;
pub mod reach;
pub mod render;
pub mod replay;
pub mod select;
pub mod suppress;
pub mod target;

pub use ask::{Decided, Inquiry, InquiryError, Questions, Request, Subject};
pub use check::{CheckOptions, Fixes, check};
pub use language::Language;
pub use load::{Model, Property, Reading, Text, Texts, load};
pub use reach::{ReachError, ReachOutcome, ReachRequest, reach};
