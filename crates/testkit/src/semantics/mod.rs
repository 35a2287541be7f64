//! # Idea
//! A second interpreter of EML that shares no code with the first: programs as plain data
//! ([`syntax`]), random ones with all features mixed ([`generate`]), their text ([`mod@print`]), what a
//! step does and what a thread is about to do ([`machine`]), all interleavings ([`search`]), races,
//! deadlocks and patterns by their definitions ([`conflicts`]), formulas ([`mod@formula`]) about runs
//! ([`runs`]), smaller programs ([`shrink`]).
//!
//! # Source
//! The book alone; every rule names its page. Where the replayer and the engines share a mistake, this
//! one does not.

mod code;
pub mod conflicts;
pub mod features;
pub mod formula;
pub mod generate;
pub mod machine;
pub mod print;
pub mod runs;
pub mod search;
pub mod shrink;
pub mod syntax;
