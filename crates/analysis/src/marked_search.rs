//! # Idea
//! The search of states answers questions about events, too: the question becomes data of the program
//! ([`selvedge_lower::marked`]), and the search is asked whether a thread gets to where that says yes.
//! Reductions need no thought: what is added is shared data like any other, so whatever depends on the
//! order of the accesses in question does not commute for the search either.
//!
//! Channels become data first ([`selvedge_lower::channels`]), and then nothing is reduced: a reduced search
//! does not store a thread that stands where it can receive behind a right mover.
//!
//! # Invariants
//! 1. `safe` is a proof for all executions, with all values.

use crate::driver::Options;
use crate::prepared::Prepared;
use selvedge_base::{Budget, StopReason};
use selvedge_lower::marked::MarkedRun;
use selvedge_lower::{Marked, channels_to_data};
use selvedge_program::{
    Bound, Decision, Engine, Fault, Feature, Program, Question, Statistics, Target, Unknown,
    Verdict,
};
use selvedge_replay::replay_within;
use selvedge_states::{Reduction, SearchMeans, SearchOptions, Transactions};

/// How many states are stored for one of many questions, unless more are allowed.
const STATES_PER_QUESTION: u64 = 1 << 18;

/// The search of states, with questions as data.
pub(crate) struct MarkedSearch<'p> {
    program: &'p Program,
    plain: Transactions<'p>,
    search: SearchOptions,
    options: SearchOptions,
    reduction: Option<Reduction>,
    budget: Budget,
    means: SearchMeans,
    statistics: Statistics,
}

impl<'p> MarkedSearch<'p> {
    /// An engine for a valid program.
    pub fn new(
        prepared: &Prepared<'p>,
        search: SearchOptions,
        options: &Options,
        budget: Budget,
    ) -> Self {
        let program = prepared.program;
        let means = options.means.cloned().unwrap_or_default();
        let plain = Transactions::new(program, search, options.reduction, budget.clone())
            .with_means(means.clone());
        // Without recursion calls end by themselves.
        let is_recursive = prepared.features.contains(Feature::Recursion);
        let depth = if is_recursive {
            search.depth
        } else {
            u32::try_from(program.procedures.len()).unwrap_or(u32::MAX).max(search.depth)
        };
        let most_states = options.state_limit.unwrap_or(STATES_PER_QUESTION);
        Self {
            program,
            plain,
            search,
            options: SearchOptions {
                depth,
                most_states,
                protection: search.protection,
                symmetry: search.symmetry,
                workers: search.workers,
                alone: search.alone,
                ..SearchOptions::default()
            },
            reduction: options.reduction,
            budget,
            means,
            statistics: Statistics::default(),
        }
    }

    /// The question about a program in which channels are data.
    fn over_channels(&mut self, question: &Question) -> Result<Decision, Fault> {
        if self.reduction.is_some_and(|one| one != Reduction::None) {
            let why = "where threads meet over channels nothing is reduced, since a reduced search \
                       does not store a thread that waits to receive; use --reduction none";
            return Ok(Verdict::Unknown(Unknown::Unsupported(why.to_owned())).into());
        }
        let without = match channels_to_data(self.program) {
            Ok(without) => without,
            Err(why) => return Ok(Verdict::Unknown(why).into()),
        };
        let Some(asked) = without.question(question) else {
            let why = "states are not counted where threads meet over channels";
            return Ok(Verdict::Unknown(Unknown::Unsupported(why.to_owned())).into());
        };
        let mut inner = MarkedSearch {
            program: &without.program,
            plain: Transactions::new(
                &without.program,
                SearchOptions { states: None, why: None, locks: false, ..self.search },
                Some(Reduction::None),
                self.budget.clone(),
            )
            .with_means(self.means.clone()),
            search: self.search,
            options: self.options,
            reduction: Some(Reduction::None),
            budget: self.budget.clone(),
            means: self.means.clone(),
            statistics: Statistics::default(),
        };
        let mut decision = match without.marked(self.program, question) {
            Some(marked) if marked.goals.is_empty() => Verdict::Safe.into(),
            Some(marked) => inner.about_events(&marked, question)?,
            None => inner.decide(&asked, &mut |_| {})?,
        };
        self.statistics.add(&inner.statistics());
        // It says of the bits that stand for channels what it says of variables.
        decision.searched = None;
        if let Verdict::Violation(witness) = &decision.verdict {
            decision.verdict = Verdict::Violation(without.original(witness));
        }
        Ok(decision)
    }

    fn about_events(&mut self, marked: &Marked, question: &Question) -> Result<Decision, Fault> {
        let mut search =
            Transactions::new(&marked.program, self.options, self.reduction, self.budget.clone())
                .with_means(self.means.clone());
        let target = Question::Reach(Target::Label(marked.goals.clone()));
        let decision = search.decide(&target, &mut |_| {})?;
        self.statistics.add(&search.statistics());
        let witness = match decision.verdict {
            Verdict::Violation(witness) => witness,
            // The limit of this search, not that of the run.
            Verdict::Unknown(Unknown::Stopped(StopReason::Memory))
                if self.budget.stopped().is_none() =>
            {
                let limit = self.options.most_states;
                return Ok(Verdict::Unknown(Unknown::States { limit }).into());
            }
            verdict => return Ok(verdict.into()),
        };
        let verdict = match marked.shown(&witness) {
            MarkedRun::TooDeep => {
                let why = "more units are open at once than are counted";
                Verdict::Unknown(Unknown::Unsupported(why.to_owned()))
            }
            MarkedRun::Run(run) => {
                let fits = marked.exact
                    || replay_within(self.program, question, &run, &self.budget).is_ok();
                if fits {
                    Verdict::Violation(run)
                } else {
                    Verdict::Unknown(Unknown::OtherData(None))
                }
            }
        };
        Ok(verdict.into())
    }
}

impl Engine for MarkedSearch<'_> {
    fn decide(
        &mut self,
        question: &Question,
        widened: &mut dyn FnMut(Bound),
    ) -> Result<Decision, Fault> {
        if self.program.features().contains(Feature::Channels) {
            return self.over_channels(question);
        }
        match Marked::new(self.program, question) {
            None => self.plain.decide(question, widened),
            Some(marked) if marked.goals.is_empty() => Ok(Verdict::Safe.into()),
            Some(marked) => self.about_events(&marked, question),
        }
    }

    fn statistics(&self) -> Statistics {
        let mut statistics = self.plain.statistics();
        statistics.add(&self.statistics);
        statistics
    }
}
