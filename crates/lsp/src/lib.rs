//! The language server of Selvedge, for EML, Boolean programs and the text form of models.
//!
//! A [`Server`] is a function of the messages that it gets: it gives back the messages to send, the checks
//! to run and when to end. Whoever has a pipe, threads and a clock runs the checks after the pause that
//! they name and stops those that are out of date.
//!
//! Where to start reading:
//! - [`frame`]: bytes to messages, damaged ones among them.
//! - [`server`](mod@server): what becomes of each message; [`settings`]: what an editor can say about it.
//! - [`document`](mod@document): a text that is open, with what is known of it; [`position`]: lines and UTF-16 units.
//! - [`project`](mod@project): what the `selvedge.toml` above a text asks for.
//! - [`job`](mod@job): one check of one version of a text, and what it found.
//! - [`report`](mod@report): mistakes and findings as diagnostics; [`hover`]: what a lock protects and which threads
//!   reach a function; [`outline`]: what a text declares; [`action`]: fixes as edits.
//!
//! ```
//! use selvedge_lsp::frame::Incoming;
//! use selvedge_lsp::{ServerEffect, Server};
//!
//! let mut server = Server::new();
//! let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
//! let effects = server.receive(vec![Incoming::of_body(hello.as_bytes())]);
//! let [ServerEffect::Send(answer)] = &effects[..] else { panic!("one answer") };
//! assert!(answer.to_string().contains("\"hoverProvider\":true"));
//! ```

pub mod action;
pub mod document;
pub mod frame;
pub mod hover;
pub mod job;
pub mod outline;
pub mod position;
pub mod project;
pub mod report;
pub mod server;
pub mod settings;

pub use document::OpenDocument;
pub use job::{CheckJob, CheckOutcome};
pub use lsp_types::Uri as TextUri;
pub use project::{FindProject, ProjectFile, ProjectSettings, file_path};
pub use server::{Server, ServerEffect};
pub use settings::EditorSettings;
