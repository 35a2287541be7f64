//! # Idea
//! Everything that the reports of one analysis of one file need, gathered by whoever ran it: what was
//! asked, of whom, what the answers are, and what the work cost. All analyses share it; what they ask
//! differs, and [`Asked`] says how.

use crate::describe::list;
use crate::diagnostic::Source;
use crate::escape::visible;
use crate::portfolio::Portfolio;
use selvedge_base::Diagnostic;
use selvedge_findings::FindingKind;
use selvedge_program::{
    Answer, Bound, Explored, Feature, LevelCount, LocationId, Measure, NodeId, Program, Proof,
    States, Statistics, ThreadId, Units, Unknown,
};
use std::time::Duration;

/// The outcome of one analysis of one file.
#[derive(Clone, Debug)]
pub struct Answers<'a> {
    /// The file that was analysed.
    pub source: Source<'a>,
    /// What the front end made of it.
    pub program: &'a Program,
    /// What was asked.
    pub asked: Asked<'a>,
    /// The threads that were asked about.
    pub threads: &'a [ThreadId],
    /// The locations that were asked about; they matter for patterns and races only.
    pub locations: &'a [LocationId],
    /// The name of the engine.
    pub engine: &'a str,
    /// Why this engine, if it was not named and that needs a reason.
    pub chosen: Option<&'a str>,
    /// Every question with its answer, but for those that are not listed. For deadlocks these are the
    /// cycles that the code suggests.
    pub answers: &'a [Answer],
    /// How many more are safe, and how many more are open.
    pub not_listed: (u64, u64),
    /// Why there are questions that could not be asked, if so.
    pub unasked: Option<&'a Unknown>,
    /// Whether there is no question because no two threads share anything.
    pub nothing_shared: bool,
    /// What was left out of the program wherever the rest suffices.
    pub left_out: Vec<String>,
    /// What the work cost, in counts.
    pub statistics: &'a Statistics,
    /// How long it took.
    pub elapsed: Duration,
    /// The largest memory use that was seen, in bytes.
    pub peak_memory: Option<u64>,
    /// Complaints that did not stop the analysis, each with the text that it is about.
    pub warnings: Vec<(Source<'a>, &'a Diagnostic)>,
    /// What every engine says, if all were asked.
    pub portfolio: Option<&'a Portfolio>,
}

/// What is no deadlock here.
pub(crate) const BLOCKED_OVER_CHANNELS: &str =
    "a thread that waits for ever at `send` or `recv` is not one of these deadlocks";

/// What was asked about the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked<'a> {
    /// Whether units of work conflict as patterns say, and what counts as a unit of the other thread.
    Patterns(Patterns, Units),
    /// The property of this file.
    Property(&'a str),
    /// Whether two threads can be about to access one location.
    Race,
    /// Whether threads can wait in a cycle.
    Deadlock,
    /// What can be reached.
    Reach(Reach<'a>),
    /// Whether formulas hold of the runs; what is known of each, in the order of the answers.
    Temporal(&'a [AskedFormula]),
}

/// What is known of a formula before it is asked about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedFormula {
    /// Its shape: `chains`, `safety`, `co-safety` or `general`.
    pub fragment: &'static str,
    /// What is to be explained of it, line by line.
    pub explanation: Vec<String>,
}

/// Some of the patterns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Patterns {
    /// The 32.
    All,
    /// The 14 of Vaziri et al.
    Vaziri,
    /// Those with these numbers.
    Numbers(Vec<u32>),
}

/// What is to be reached, within what, and what else to say about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reach<'a> {
    /// What was asked.
    pub sought: Sought<'a>,
    /// What the bound counts.
    pub measure: Measure,
    /// Whether to show how many states each bound has.
    pub show_states: bool,
    /// The nodes on runs to the target, if they were asked for.
    pub projection: Option<&'a Projection>,
    /// How many threads each start site may start, if some site had to be cut off.
    pub starts_per_site: Option<u32>,
    /// The variable whose protection is to be explained.
    pub why: Option<&'a str>,
}

/// What is to be reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sought<'a> {
    /// An assertion that fails.
    Assertions,
    /// A thread at this label.
    Label(&'a str),
    /// This state, as it was written.
    State(&'a str),
    /// A state in which no thread can move, and a started one has not ended.
    Deadlocks,
    /// Nothing in particular: which states can be reached?
    States,
}

/// The nodes on runs to the target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Projection {
    /// Within how many rounds.
    pub rounds: u32,
    /// The nodes.
    pub nodes: Vec<NodeId>,
}

/// How many questions have which answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// With a violation.
    pub violations: usize,
    /// Proved.
    pub safe: usize,
    /// Open.
    pub unknown: usize,
}

impl Counts {
    /// Counts one more answer.
    pub fn add(&mut self, answer: &Answer) {
        *match answer.is_good() {
            Some(true) => &mut self.safe,
            Some(false) => &mut self.violations,
            None => &mut self.unknown,
        } += 1;
    }

    /// The verdict of all answers: violation over unknown over safe; of formulas, if these are.
    pub fn verdict(self, temporal: bool) -> &'static str {
        match (self.violations, self.unknown) {
            (0, 0) if temporal => "holds",
            (0, 0) => "safe",
            (0, _) => "unknown",
            _ if temporal => "fails",
            _ => "violation",
        }
    }
}

impl Asked<'_> {
    /// The name of the command.
    pub fn analysis(&self) -> &'static str {
        match self {
            Self::Patterns(..) | Self::Property(_) => "atomicity",
            Self::Race => "race",
            Self::Deadlock => "deadlock",
            Self::Reach(_) => "reach",
            Self::Temporal(_) => "temporal",
        }
    }

    /// What is looked for, if that is a mistake.
    pub fn kind(&self) -> Option<FindingKind> {
        Some(match self {
            Self::Patterns(..) => FindingKind::Atomicity,
            Self::Property(_) => FindingKind::Property,
            Self::Race => FindingKind::Race,
            Self::Deadlock => FindingKind::Deadlock,
            Self::Temporal(_) => FindingKind::Temporal,
            Self::Reach(about) => match about.sought {
                Sought::Assertions => FindingKind::Assertion,
                Sought::Label(_) => FindingKind::Label,
                Sought::State(_) => FindingKind::State,
                Sought::Deadlocks => FindingKind::Stuck,
                Sought::States => return None,
            },
        })
    }

    /// What was asked about in the user's words: the label, the state, the file of the property.
    pub fn subject(&self) -> &str {
        match self {
            Self::Property(file) => file,
            Self::Reach(Reach { sought: Sought::Label(text) | Sought::State(text), .. }) => text,
            _ => "",
        }
    }
}

impl Answers<'_> {
    /// How many questions have which answer.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for answer in self.answers {
            counts.add(answer);
        }
        counts.safe += self.not_listed.0 as usize;
        counts.unknown += self.not_listed.1 as usize;
        // What could not even be asked is one open question.
        counts.unknown += usize::from(self.unasked.is_some());
        counts
    }

    /// How many questions there are in all.
    pub fn total(&self) -> usize {
        self.answers.len() + (self.not_listed.0 + self.not_listed.1) as usize
    }

    /// The verdict of the whole run: violation over unknown over safe.
    pub fn verdict(&self) -> &'static str {
        self.counts().verdict(matches!(self.asked, Asked::Temporal(_)))
    }

    /// Which threads and locations took part, if not all.
    pub(crate) fn restriction(&self) -> Option<String> {
        let (by_thread, by_location) = match self.asked {
            Asked::Patterns(..) | Asked::Race => (true, true),
            Asked::Deadlock => (true, false),
            Asked::Property(_) | Asked::Reach(_) | Asked::Temporal(_) => (false, false),
        };
        let program = self.program;
        let mut parts = Vec::new();
        if by_thread && self.threads.len() < program.threads.len() {
            let names = self.threads.iter().map(|&id| visible(&program.threads[id].name));
            parts.push(format!("the threads {}", list(names)));
        }
        if by_location && self.locations.len() < program.locations.len() {
            let names = self.locations.iter().map(|&id| visible(&program.locations[id].name));
            parts.push(format!("the locations {}", list(names)));
        }
        (!parts.is_empty()).then(|| parts.join(" and "))
    }

    /// What a reader may think is covered, and is not.
    pub(crate) fn not_covered(&self) -> Option<&'static str> {
        let channels = self.program.features().contains(Feature::Channels);
        (channels && self.asked == Asked::Deadlock).then_some(BLOCKED_OVER_CHANNELS)
    }

    /// What was explored, if the engine widens a bound.
    fn explored(&self) -> Option<&Explored> {
        self.answers.first()?.explored.as_deref()
    }

    /// The bound up to which everything was explored, or at which the violation showed up; nothing
    /// of this measure if the engine widens none.
    pub(crate) fn bound(&self, measure: Measure) -> Bound {
        self.explored().map_or(Bound { measure, limit: 0 }, |explored| explored.bound)
    }

    /// The reachable states for every bound up to there.
    pub(crate) fn levels(&self) -> &[LevelCount] {
        self.explored().map_or(&[], |explored| &explored.levels)
    }

    /// Whether no larger bound reaches anything new.
    pub(crate) fn is_complete(&self) -> bool {
        self.explored().is_some_and(|explored| explored.complete)
    }

    /// Why no larger bound reaches anything new.
    pub(crate) fn proof(&self) -> Option<Proof> {
        self.explored()?.proof
    }

    /// The states themselves, if they were asked for.
    pub(crate) fn listed(&self) -> Option<&States> {
        self.explored()?.states.as_ref()
    }
}
