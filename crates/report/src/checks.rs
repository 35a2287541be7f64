//! # Idea
//! Everything that the reports of `selvedge check` need, gathered by whoever ran the analyses, and
//! the numbers that all of its forms show.
//!
//! # Invariants
//! 1. Suppressed findings and those of the baseline are counted, and are part of no verdict.

use crate::diagnostic::Source;
use crate::places::by_file;
use selvedge_base::Diagnostic;
use selvedge_findings::outcome::importance;
use selvedge_findings::{CheckedFile, Finding, FindingKind, Tally};
use std::time::Duration;

/// The outcome of one run over some files.
#[derive(Clone, Debug)]
pub struct Checks<'a> {
    /// The files that were analysed.
    pub files: &'a [CheckedFile],
    /// Complaints about input, each with the text that it is about. A file with an error is not
    /// among the analysed ones.
    pub complaints: Vec<(Source<'a>, &'a Diagnostic)>,
    /// How many files of other kinds were found in folders.
    pub other_files: usize,
    /// What the run was told to do, and what limits it had, in words.
    pub settings: RunSettings<'a>,
    /// How long it took.
    pub elapsed: Duration,
}

/// What a run was told to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RunSettings<'a> {
    /// The options in words.
    pub options: &'a str,
    /// The limits of each file with data, if the user set none.
    pub limits_for_data: Option<DefaultLimits>,
    /// The exit code, where it is known.
    pub exit: Option<u8>,
    /// The largest memory use that was seen, in bytes, where it is known.
    pub peak_memory: Option<u64>,
}

/// The limits that a file has by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DefaultLimits {
    /// The steps of work.
    pub work: u64,
    /// The seconds after which it ends on a machine that is too slow for that.
    pub seconds: u64,
}

/// The numbers of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// What was asked.
    pub tally: Tally,
    /// Findings that count.
    pub findings: usize,
    /// Findings that the configuration suppresses.
    pub suppressed: usize,
    /// Findings that the baseline knows.
    pub known: usize,
}

/// Why a finding is in a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing<'a> {
    /// It counts.
    Counted,
    /// The configuration suppresses it for this reason.
    Suppressed(&'a str),
    /// The baseline knows it.
    Known,
}

impl Checks<'_> {
    /// The verdict of the whole run: violation over unknown over safe. With a file that could not
    /// be read nothing is known to be safe.
    pub fn verdict(&self) -> &'static str {
        let totals = self.totals();
        let open = totals.tally.unknown > 0 || self.files.iter().any(|file| !file.open.is_empty());
        match (totals.findings, open || self.errors() > 0) {
            (0, false) => "safe",
            (0, true) => "unknown",
            _ => "violation",
        }
    }

    /// Whether there is no question, because no threads of any file share anything.
    pub fn share_nothing(&self) -> bool {
        let all = self.files.iter().all(|file| file.nothing_shared);
        all && !self.files.is_empty() && self.errors() == 0
    }

    /// The numbers of all files together.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for file in self.files {
            totals.findings += file.findings.len();
            totals.suppressed += file.suppressed.len();
            totals.known += file.known.len();
            file.tallies.iter().for_each(|(_, tally)| totals.tally += *tally);
        }
        totals
    }

    /// How many complaints are errors.
    pub fn errors(&self) -> usize {
        self.complaints.iter().filter(|(_, complaint)| complaint.is_error()).count()
    }

    /// How many complaints are warnings.
    pub fn warnings(&self) -> usize {
        self.complaints.len() - self.errors()
    }

    /// All findings that count, with their files, the most important first; among equals in the order
    /// of the files. Those of one program stay together by the files that it was made of.
    pub fn ranked(&self) -> Vec<(&Finding, &CheckedFile)> {
        let mut all: Vec<(&Finding, &CheckedFile)> = Vec::new();
        for file in self.files {
            if file.findings.iter().any(|finding| finding.cause.is_some()) {
                // Causes are ranked over all files.
                all.extend(file.findings.iter().map(|own| (own, file)));
            } else {
                let grouped = by_file(file).into_iter().flat_map(|(_, findings)| findings);
                all.extend(grouped.map(|own| (own, file)));
            }
        }
        if self.files.len() > 1 {
            all.sort_by_cached_key(|(finding, _)| importance(finding));
        }
        all
    }

    /// How many findings of a kind count.
    pub fn of_kind(&self, kind: FindingKind) -> usize {
        let findings = self.files.iter().flat_map(|file| &file.findings);
        findings.filter(|finding| finding.kind == kind).count()
    }
}

/// All findings of a file: those that count, then the suppressed ones, then those of the baseline.
pub fn all_findings(file: &CheckedFile) -> impl Iterator<Item = (&Finding, Standing<'_>)> {
    let counted = file.findings.iter().map(|finding| (finding, Standing::Counted));
    let suppressed =
        file.suppressed.iter().map(|(finding, why)| (finding, Standing::Suppressed(why)));
    let known = file.known.iter().map(|finding| (finding, Standing::Known));
    counted.chain(suppressed).chain(known)
}
