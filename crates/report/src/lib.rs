//! What the user sees: diagnostics, answers, findings and models in every format.
//!
//! Everything here is a function from data to a `String`; nothing prints, reads a clock or asks the
//! terminal. Engines, front ends and the replayer are not known here: every engine reports the same
//! way, because all of them answer in terms of the program model.
//!
//! Where to start reading: [`diagnostic`] (complaints about input), [`answers`] (the outcome of one
//! analysis of one file, whatever it asked), [`text`] with its columns in [`interleaving`] (answers for
//! people), [`json`] (answers for programs), [`model`], [`model_json`] and [`dot`] (what was understood
//! of the input).
//!
//! The findings of a whole check are written from one [`Checks`] by [`findings_text`] (with the
//! quoted source of [`quotes`]), [`findings_json`], [`sarif`], [`junit`] and [`html`]; [`lock_order`]
//! and [`witness_dot`] draw graphs. [`describe`] has the words they share, [`escape`] keeps control
//! characters of the input away from the terminal, and [`places`] says how a place is written.
//! [`explain`] has what rules, patterns and diagnostics mean, from the book's own pages.
//!
//! ```
//! use selvedge_base::{Diagnostic, Span};
//! use selvedge_report::{Source, Terminal, diagnostic};
//!
//! let source = Source { name: "a.eml", text: "lock : l\n" };
//! let missing = Diagnostic::error("missing-token", "expected `;`", Span::new(8, 8), "here");
//! let shown = diagnostic::render(&[missing], &source, Terminal::plain(80), 10);
//! assert!(shown.contains("--> a.eml:1:9"));
//! ```

pub mod answers;
pub mod branching_json;
mod causes;
pub mod checks;
pub mod describe;
pub mod diagnostic;
pub mod dot;
pub mod escape;
pub mod explain;
pub mod extent;
pub mod findings_json;
pub mod findings_text;
mod fit;
pub mod html;
pub mod interleaving;
pub mod json;
pub mod junit;
pub mod lock_order;
pub mod model;
pub mod model_json;
pub mod movers;
pub mod outline;
mod ownership;
pub mod places;
pub mod portfolio;
mod probes;
pub mod quotes;
pub mod replay_json;
pub mod sarif;
mod statement;
pub mod terminal;
pub mod text;
mod width;
pub mod witness_dot;

pub use answers::{Answers, Asked, AskedFormula, Counts, Patterns, Projection, Reach, Sought};
pub use branching_json::{BranchingEntry, BranchingRun};
pub use checks::{Checks, DefaultLimits, RunSettings};
pub use diagnostic::Source;
pub use fit::wrap_lines;
pub use interleaving::Detail;
pub use portfolio::{Disagreement, EngineOutcome, EngineRow, Portfolio};
pub use terminal::Terminal;
