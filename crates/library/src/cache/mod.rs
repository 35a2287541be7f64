//! # Idea
//! Answers that were given before, so that a model that has not changed is not analysed again. The
//! name of an entry is a hash of everything that the answer depends on; an entry that is not exactly
//! what was written is no entry. Where the entries are kept, a [`Store`] knows.
//!
//! The files: [`entry`] (findings as bytes and back), [`revalidate`] (the interleavings of an entry
//! are executed again before they are believed).
//!
//! # Why it is never wrong
//! - The key covers the text, how it is read, every option that matters, the automata that restrict
//!   threads, the formulas of its project, and what tells one build of
//!   the tool from another, so that a rebuilt tool does not believe its predecessor. It is a SHA-256:
//!   two runs with the same key asked the same question.
//! - An entry carries its key and a SHA-256 of its contents. A damaged, shortened or foreign one is
//!   ignored, and overwritten by the next answer.
//! - Only complete answers are written: a limit may be met today and not tomorrow.
//! - Every interleaving of an entry is replayed on the model before it is shown. That there is no
//!   further violation, and that a fix works, rests on the two hashes.

pub mod entry;
pub mod revalidate;
#[cfg(test)]
mod tests;

use crate::check::{CheckOptions, Fixes};
use crate::goals::Goals;
use selvedge_base::Budget;
use selvedge_findings::Checked;
use selvedge_program::{Program, Restriction, TemporalQuestion, Units};
use sha2::{Digest, Sha256};
use std::fmt::{self, Write as _};

/// Entries with more bytes than this are neither written nor read.
pub const LARGEST: usize = 32 << 20;

/// Where entries are kept: bytes under names. Whatever goes wrong there means an analysis, not an
/// error.
pub trait Store {
    /// The bytes under this name.
    fn get(&self, key: &Key) -> Option<Vec<u8>>;
    /// Keeps bytes under this name. Says whether it did.
    fn put(&self, key: &Key, bytes: &[u8]) -> bool;
}

/// The name of an entry.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key(String);

impl Key {
    /// The key of an analysis of these texts; `build` tells one build of the tool from another,
    /// `language` how the first of them is read.
    pub fn new(build: &str, language: &str, texts: &[&str], options: &CheckOptions) -> Self {
        let CheckOptions { kinds, chosen, patterns, units, add_units, analysis, fixes } = options;
        let units = match units {
            Units::Exact => "exact",
            Units::Paper => "paper",
        };
        let fixes = match fixes {
            Fixes::Look => "fixes",
            Fixes::Skip => "no fixes",
        };
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.rule()).collect();
        let parts = [
            entry::FORM.to_owned(),
            build.to_owned(),
            language.to_owned(),
            kinds.join(","),
            format!("{chosen:?}"),
            format!("{patterns:?}"),
            units.to_owned(),
            format!("{add_units:?}"),
            format!("{analysis:?}"),
            fixes.to_owned(),
        ];
        let mut hash = Sha256::new();
        for part in parts.iter().map(String::as_str).chain(texts.iter().copied()) {
            // The lengths keep the parts apart.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hex(&hash.finalize()))
    }

    /// The key of the same analysis where only some runs of threads count.
    #[must_use]
    pub fn restricted(self, restrictions: &[Restriction]) -> Self {
        if restrictions.is_empty() {
            return self;
        }
        Self(digest(format!("{}\n{restrictions:?}", self.0).as_bytes()))
    }

    /// The key of the same analysis where formulas are asked beside the rest.
    #[must_use]
    pub fn asked(self, formulas: &[TemporalQuestion]) -> Self {
        if formulas.is_empty() {
            return self;
        }
        Self(digest(format!("{}\n{formulas:?}", self.0).as_bytes()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Entries up to this size are read whatever the limits of the run are: that takes a moment.
const SMALL: usize = 1 << 18;

/// The answer with this key about `program`, with the work that it took, if there is one that can be
/// believed. A large one is none if the budget is used up before its interleavings were executed again.
pub fn get(
    store: &dyn Store,
    key: &Key,
    program: &Program,
    goals: &Goals,
    budget: &Budget,
) -> Option<(Checked, u64)> {
    let bytes = store.get(key).filter(|bytes| bytes.len() <= LARGEST)?;
    let go_on = || bytes.len() <= SMALL || budget.peek().is_none();
    if !go_on() {
        return None;
    }
    let (checked, work) = entry::read(&bytes, &key.0, program, goals, &go_on)?;
    let holds = |finding| go_on() && revalidate::holds(program, goals, finding);
    checked.findings.iter().all(holds).then_some((checked, work))
}

/// Keeps an answer that took so much work if it is complete. Says whether it did.
pub fn put(store: &dyn Store, key: &Key, checked: &Checked, program: &Program, work: u64) -> bool {
    let complete =
        checked.open.is_empty() && checked.tallies.iter().all(|(_, tally)| tally.unknown == 0);
    if !complete {
        return false;
    }
    let bytes = entry::write(checked, &key.0, program, work);
    bytes.len() <= LARGEST && store.put(key, &bytes)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 of a text in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
