//! What the readers of all texts share before their grammars begin: the text form of programs, EML,
//! Boolean programs, pushdown systems, properties.
//!
//! - [`tokens`]: a language names its kinds of token ([`tokens::TokenKind`]); here they get their
//!   text, their bytes and their place.
//! - [`cursor`]: what a parser looks at, with one complaint per mistake.
//! - [`complaints`]: the diagnostics of one text, up to a limit.
//! - [`nearest`]: the name that was probably meant.
//! - [`symbols`]: what names mean and where they stand, for an editor.
//!
//! Where to start reading: [`cursor`].
//!
//! ```
//! use selvedge_base::{Diagnostic, Span};
//! use selvedge_syntax::complaints::Complaints;
//! use selvedge_syntax::nearest::nearest;
//!
//! let mut complaints = Complaints::new();
//! let meant = nearest("conut", ["data", "count"]);
//! complaints.push(
//!     Diagnostic::error("undefined", "there is no `conut`", Span::new(4, 9), "not defined")
//!         .with_help(format!("did you mean `{}`?", meant.unwrap_or_default())),
//! );
//! assert!(complaints.has_errors());
//! ```

pub mod complaints;
pub mod cursor;
pub mod nearest;
pub mod symbols;
pub mod tokens;
