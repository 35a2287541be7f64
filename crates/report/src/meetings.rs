//! # Idea
//! Everything that the reports of `selvedge race` and `selvedge deadlock` need, gathered by whoever
//! ran the analysis.

use crate::answers::Counts;
use crate::describe::list;
use crate::diagnostic::Source;
use crate::escape::visible;
use selvedge_base::Diagnostic;
use selvedge_program::{Answer, LocationId, Program, Statistics, ThreadId, Unknown, Verdict};
use std::time::Duration;

/// The outcome of one analysis of one file.
#[derive(Clone, Debug)]
pub struct Meetings<'a> {
    /// The file that was analysed.
    pub source: Source<'a>,
    /// What the front end made of it.
    pub program: &'a Program,
    /// What was asked.
    pub analysis: Analysis,
    /// The threads that were asked about.
    pub threads: &'a [ThreadId],
    /// The locations that were asked about; with deadlocks they do not matter.
    pub locations: &'a [LocationId],
    /// The name of the engine.
    pub engine: &'a str,
    /// Every question with its answer. For deadlocks these are the cycles that the code suggests.
    pub answers: &'a [Answer],
    /// Why the questions could not be listed, if so; there are no answers then.
    pub unasked: Option<&'a Unknown>,
    /// What the work cost, in counts.
    pub statistics: &'a Statistics,
    /// How long it took.
    pub elapsed: Duration,
    /// The largest memory use that was seen, in bytes.
    pub peak_memory: Option<u64>,
    /// Complaints that did not stop the analysis, each with the text that it is about.
    pub warnings: Vec<(Source<'a>, &'a Diagnostic)>,
}

/// Which moments are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Analysis {
    /// Two threads about to access one location.
    Race,
    /// Threads that wait in a cycle.
    Deadlock,
}

impl Analysis {
    /// The name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::Deadlock => "deadlock",
        }
    }
}

impl Meetings<'_> {
    /// How many questions have which answer.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for answer in self.answers {
            *match answer.verdict {
                Verdict::Safe => &mut counts.safe,
                Verdict::Violation(_) => &mut counts.violations,
                Verdict::Unknown(_) => &mut counts.unknown,
            } += 1;
        }
        // What could not even be asked is one open question.
        counts.unknown += usize::from(self.unasked.is_some());
        counts
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
        let program = self.program;
        let mut parts = Vec::new();
        if self.threads.len() < program.threads.len() {
            let names = self.threads.iter().map(|&id| visible(&program.threads[id].name));
            parts.push(format!("the threads {}", list(names)));
        }
        if self.analysis == Analysis::Race && self.locations.len() < program.locations.len() {
            let names = self.locations.iter().map(|&id| visible(&program.locations[id].name));
            parts.push(format!("the locations {}", list(names)));
        }
        (!parts.is_empty()).then(|| parts.join(" and "))
    }
}
