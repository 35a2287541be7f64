//! # Idea
//! Everything that the reports of one run need, gathered by whoever ran the analysis.

use crate::describe::list;
use crate::diagnostic::Source;
use crate::escape::visible;
use selvedge_base::Diagnostic;
use selvedge_program::{Answer, LocationId, Program, Statistics, ThreadId, Units, Verdict};
use std::time::Duration;

/// The outcome of one analysis of one file.
#[derive(Clone, Debug)]
pub struct Answers<'a> {
    /// The file that was analysed.
    pub source: Source<'a>,
    /// What the front end made of it.
    pub program: &'a Program,
    /// What was asked.
    pub question: Asked,
    /// What counts as one unit of the other thread.
    pub units: Units,
    /// The threads that were asked about.
    pub threads: &'a [ThreadId],
    /// The locations that were asked about.
    pub locations: &'a [LocationId],
    /// The name of the engine.
    pub engine: &'a str,
    /// Every question with its answer, but for those that are not listed.
    pub answers: &'a [Answer],
    /// How many more are safe, and how many more are open.
    pub not_listed: (u64, u64),
    /// What the work cost, in counts.
    pub statistics: &'a Statistics,
    /// How long it took.
    pub elapsed: Duration,
    /// The largest memory use that was seen, in bytes.
    pub peak_memory: Option<u64>,
    /// Complaints that did not stop the analysis, each with the text that it is about.
    pub warnings: Vec<(Source<'a>, &'a Diagnostic)>,
}

/// What was asked about the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// The 32 patterns.
    AllPatterns,
    /// The 14 patterns of Vaziri et al.
    Vaziri,
    /// Patterns by number.
    Patterns(Vec<u32>),
    /// The property of this file.
    Property(String),
}

/// How many queries have which answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// With a violation.
    pub violations: usize,
    /// Proved.
    pub safe: usize,
    /// Open.
    pub unknown: usize,
}

impl Answers<'_> {
    /// How many queries have which answer.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for answer in self.answers {
            *match answer.verdict {
                Verdict::Safe => &mut counts.safe,
                Verdict::Violation(_) => &mut counts.violations,
                Verdict::Unknown(_) => &mut counts.unknown,
            } += 1;
        }
        counts.safe += self.not_listed.0 as usize;
        counts.unknown += self.not_listed.1 as usize;
        counts
    }

    /// How many questions there are in all.
    pub fn total(&self) -> usize {
        self.answers.len() + (self.not_listed.0 + self.not_listed.1) as usize
    }

    /// The verdict of the whole run: violation over unknown over safe.
    pub fn verdict(&self) -> &'static str {
        let counts = self.counts();
        match (counts.violations, counts.unknown) {
            (0, 0) => "safe",
            (0, _) => "unknown",
            _ => "violation",
        }
    }

    /// Which threads and locations took part, if not all.
    pub(crate) fn restriction(&self) -> Option<String> {
        if matches!(self.question, Asked::Property(_)) {
            return None;
        }
        let program = self.program;
        let mut parts = Vec::new();
        if self.threads.len() < program.threads.len() {
            let names = self.threads.iter().map(|&id| visible(&program.threads[id].name));
            parts.push(format!("the threads {}", list(names)));
        }
        if self.locations.len() < program.locations.len() {
            let names = self.locations.iter().map(|&id| visible(&program.locations[id].name));
            parts.push(format!("the locations {}", list(names)));
        }
        (!parts.is_empty()).then(|| parts.join(" and "))
    }
}
