//! # Idea
//! Answers of `selvedge reach`: [`text`] for people, [`json`] for programs, with the words for
//! statements and values in [`words`] and the table of a run in [`rows`].

pub mod json;
pub mod rows;
pub mod text;
pub mod words;

use crate::diagnostic::Source;
use selvedge_base::Diagnostic;
use selvedge_program::{
    Answer, Bound, LevelCount, Measure, NodeId, Program, Proof, States, Statistics,
};
use std::time::Duration;

/// The outcome of one analysis of one file.
#[derive(Clone, Debug)]
pub struct Reach<'a> {
    /// The file that was analysed.
    pub source: Source<'a>,
    /// What the front end made of it.
    pub program: &'a Program,
    /// What was asked.
    pub question: Sought<'a>,
    /// Why this engine, if it was not named.
    pub chosen: Option<&'a str>,
    /// The engine's answer.
    pub answer: &'a Answer,
    /// What the bound counts.
    pub measure: Measure,
    /// What the work cost, in counts.
    pub statistics: &'a Statistics,
    /// Whether to show how many states each bound has.
    pub show_states: bool,
    /// The nodes on runs to the target, if they were asked for.
    pub projection: Option<&'a Projection>,
    /// How many threads each start site may start, if some site had to be cut off.
    pub starts_per_site: Option<u32>,
    /// How long it took.
    pub elapsed: Duration,
    /// The largest memory use that was seen, in bytes.
    pub peak_memory: Option<u64>,
    /// Complaints that did not stop the analysis, each with the text that it is about.
    pub warnings: Vec<(Source<'a>, &'a Diagnostic)>,
}

impl Reach<'_> {
    /// The bound up to which everything was explored, or at which the violation showed up.
    pub fn bound(&self) -> Bound {
        let nothing = Bound { measure: self.measure, limit: 0 };
        self.answer.explored.as_ref().map_or(nothing, |explored| explored.bound)
    }

    /// The reachable states for every bound up to there.
    pub fn levels(&self) -> &[LevelCount] {
        self.answer.explored.as_ref().map_or(&[], |explored| &explored.levels)
    }

    /// Whether no larger bound reaches anything new.
    pub fn is_complete(&self) -> bool {
        self.answer.explored.as_ref().is_some_and(|explored| explored.complete)
    }

    /// Why no larger bound reaches anything new.
    pub fn proof(&self) -> Option<Proof> {
        self.answer.explored.as_ref()?.proof
    }

    /// The states themselves, if they were asked for.
    pub fn listed(&self) -> Option<&States> {
        self.answer.explored.as_ref()?.states.as_ref()
    }
}

/// What was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sought<'a> {
    /// Whether an assertion can fail.
    Assertions,
    /// Whether a thread can reach this label.
    Label(&'a str),
    /// Whether this state can be reached, as it was written.
    State(&'a str),
    /// Which states can be reached.
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
