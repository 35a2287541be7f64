//! What every door to Selvedge calls, whether it is a command line, an editor or a web page: texts and
//! settings in; answers, findings and reports out.
//!
//! Everything here is a function of its arguments. Files are texts under names, the clock and the
//! memory are behind the [`Budget`](selvedge_base::Budget) that the door makes, what is kept from one
//! run to the next is data (a configuration, a baseline) or bytes under names ([`cache::Store`]), and
//! what is said is given back and never printed. So it also runs where there is no file system, no
//! thread and no clock.
//!
//! Where to start reading, in the order in which data walks through:
//! - [`language`] and [`load`](mod@load): texts to models, with what there is to say about them.
//! - [`ask`]: one analysis of one model (atomicity, a property, races, deadlocks); [`reach`](mod@reach):
//!   what can be reached in one with values. [`select`] and [`target`] turn the names that a user gives
//!   into ids; [`mod@temporal`]: formulas about its runs; [`sequentialize`](mod@sequentialize) writes a program for one thread instead.
//! - [`check`](mod@check): everything about a program in one go, [`goals`] among it; the search for fixes
//!   asks about changed programs. [`file`](mod@file) does it for a text; [`vacuity`] says where a proof
//!   would be worth nothing.
//! - [`shard`]: a part of the questions, and all parts together.
//! - [`formulas`]: what a project asks of the runs of its models.
//! - [`config`], [`suppress`] with [`glob`], [`baseline`] and [`cache`]: what a project keeps about its
//!   findings.
//! - [`portfolio`]: the same questions, put to every engine, and what the engines cost.
//! - [`nwa`]: questions about nested-word automata, and operations on them; [`mod@restrict`]: those that say
//!   which runs of a thread count.
//! - [`java`]: what is in class files and archives.
//! - [`names`]: what the names of a text mean, and new ones for them; [`held`]: which locks are held where,
//!   and which threads reach a procedure. An editor shows both.
//! - [`explain`]: the rule, pattern or diagnostic that a name means; [`starter`]: what a new user begins with.
//! - [`render`]: answers and findings in every format; [`replay`]: the interleavings of a report once
//!   more.
//!
//! ```
//! use selvedge_base::Budget;
//! use selvedge_library::file::Loaded;
//! use selvedge_library::render::{Extent, Format, write_checks};
//! use selvedge_library::{CheckOptions, Text};
//! use selvedge_report::{Checks, RunSettings, Terminal};
//! use std::time::Duration;
//!
//! let text = "var : balance;
//!     process A { main { write balance; } }
//!     process B { main { write balance; } }";
//! let file = Loaded::new(Text::new("account.eml", text), true);
//! assert!(file.complaints.is_empty());
//!
//! // The budget can be stopped from outside, or ask its host; the closure hears of the progress.
//! let answer = file.check(&CheckOptions::default(), None, &Budget::new(), &mut |_, _, _| {});
//! let answer = answer.expect("a model").expect("engines do not contradict the replayer");
//! let finding = &answer.checked.findings[0];
//! assert_eq!(
//!     finding.reason,
//!     "A and B can write `balance` at the same time: no lock keeps them apart"
//! );
//! assert!(finding.fix.is_some());
//!
//! let files = [file.report(answer.checked)];
//! let settings = RunSettings::default();
//! let (complaints, other_files, elapsed) = (Vec::new(), 0, Duration::ZERO);
//! let checks = Checks { files: &files, complaints, other_files, settings, elapsed };
//! let mut report = Vec::new();
//! write_checks(&checks, Format::Sarif, Extent::ALL, Terminal::plain(80), &mut report).unwrap();
//! assert!(String::from_utf8(report).unwrap().contains("\"ruleId\":\"data-race\""));
//! ```

pub mod ask;
pub mod baseline;
pub mod branching;
pub mod cache;
pub mod check;
pub mod code;
pub mod config;
mod edits;
pub mod explain;
pub mod file;
mod fixes;
pub mod formulas;
pub mod glob;
pub mod goals;
pub mod held;
pub mod java;
pub mod language;
pub mod load;
pub mod names;
pub mod nwa;
pub mod portfolio;
pub mod reach;
pub mod render;
pub mod replay;
pub mod restrict;
pub mod select;
pub mod sequentialize;
pub mod shard;
pub mod show;
pub mod starter;
pub mod suppress;
pub mod target;
pub mod temporal;
pub mod vacuity;

pub use ask::{Decided, Inquiry, InquiryError, Questions, Request, Subject};
pub use branching::{Branching, BranchingAnswers};
pub use check::{CheckOptions, Fixes, check};
pub use goals::Goals;
pub use language::Language;
pub use load::{Model, Property, Reading, Text, Texts, load};
pub use portfolio::{EngineCost, Meter};
pub use reach::{ReachError, ReachOutcome, ReachRequest, reach, reach_by_all};
pub use restrict::ThreadRestriction;
pub use show::Shows;
pub use temporal::{Explain, Temporal};

/// The book's page about doors, as tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../book/src/library/doors.md")]
    struct Doors;
}
