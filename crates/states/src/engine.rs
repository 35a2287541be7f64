//! # Idea
//! The search as an engine: questions about what can be reached in, verdicts with runs out.
//!
//! # Invariants
//! 1. `safe` is a proof for all executions: the search has ended, and nothing was cut off.
//! 2. A reduction is used only for questions that it preserves.

use crate::program::Code;
use crate::protection::site;
use crate::search::partition::{OutcomeEnd, SearchOutcome};
use crate::search::{Found, Goal, Reduction, SearchEnd, SearchOptions, StateSearch};
use crate::shared::MOST_WORKERS;
use crate::step::FailingSite;
use crate::store::MOST_MOVERS;
use crate::task::{SearchMeans, SearchTask};
use crate::witness::NoWitness;
use selvedge_base::{Budget, Place, StopReason};
use selvedge_program::{
    Action, AssertionVerdict, Bound, Decision, Engine, Explored, FailureKind, Fault, GlobalId,
    LevelCount, Measure, NodeId, Position, Program, Question, Searched, States, Statistics, Target,
    Unknown, Verdict, Witness,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many locks a program may have.
pub(crate) const MOST_LOCKS: usize = 128;

/// Explores the states of a program, transaction by transaction.
#[derive(Debug)]
pub struct Transactions<'p> {
    program: &'p Program,
    options: SearchOptions,
    /// The reduction that was asked for.
    reduction: Option<Reduction>,
    budget: Budget,
    statistics: Statistics,
    means: SearchMeans,
}

impl<'p> Transactions<'p> {
    /// An engine for a valid program; without a reduction, the one that suits the question.
    pub fn new(
        program: &'p Program,
        options: SearchOptions,
        reduction: Option<Reduction>,
        budget: Budget,
    ) -> Self {
        let (statistics, means) = (Statistics::default(), SearchMeans::default());
        Self { program, options, reduction, budget, statistics, means }
    }

    /// The same engine, with more than the memory and the cores of this process.
    #[must_use]
    pub fn with_means(self, means: SearchMeans) -> Self {
        Self { means, ..self }
    }

    /// Searches by partitions, and leaves with a search what they have found.
    fn run_elsewhere<'c>(
        &self,
        code: &'c Code<'p>,
        goal: &Goal,
        named: BTreeSet<NodeId>,
        options: SearchOptions,
    ) -> (StateSearch<'c, 'p>, Ended) {
        let search = StateSearch::new(code, goal.clone(), options, self.budget.clone());
        if !search.takes_workers() {
            let why = "what is kept of a search, or done in several processes, is breadth first, with whole \
                       states";
            return (search, Ended::plain(SearchEnd::Open(Unknown::Unsupported(why.to_owned()))));
        }
        let task = SearchTask {
            program: Arc::new(self.program.clone()),
            goal: goal.clone(),
            named,
            options,
            budget: self.budget.clone(),
            journal: self.means.journal.clone(),
            room: self.means.room.map(|room| room / options.workers.max(1) as u64),
            nonce: self.means.nonce,
        };
        let outcome = match &self.means.ensemble {
            Some(ensemble) => ensemble.search(&task),
            None => Ok(task.search_here(options.workers.clamp(1, MOST_WORKERS))),
        };
        match outcome {
            Ok(outcome) => search.with_outcome(outcome),
            Err(why) => (search, Ended::plain(SearchEnd::Open(why))),
        }
    }

    /// What is looked for, the nodes that it names, and the reduction that preserves it.
    fn goal(question: &Question) -> Option<(Goal, BTreeSet<NodeId>, Reduction)> {
        let target = match question {
            Question::Reach(target) => target,
            Question::Stuck => {
                return Some((Goal::DeadEnd, BTreeSet::new(), Reduction::LeftMovers));
            }
            Question::States => {
                return Some((Goal::Everything, BTreeSet::new(), Reduction::None));
            }
            _ => return None,
        };
        Some(match target {
            Target::Assertion => (Goal::Failure, BTreeSet::new(), Reduction::Transactions),
            Target::Label(nodes) => {
                let nodes: BTreeSet<NodeId> = nodes.iter().copied().collect();
                (Goal::Label(nodes.clone()), nodes, Reduction::Transactions)
            }
            Target::State(pattern) => {
                let named = pattern.threads.iter().flat_map(|position| match position {
                    Position::At(nodes) => &nodes[..],
                    Position::Any | Position::Ended => &[],
                });
                let named = named.copied().collect();
                (Goal::State(pattern.clone()), named, Reduction::None)
            }
        })
    }
}

impl Engine for Transactions<'_> {
    fn decide(
        &mut self,
        question: &Question,
        _widened: &mut dyn FnMut(Bound),
    ) -> Result<Decision, Fault> {
        let unsupported =
            |what: &str| Ok(Verdict::Unknown(Unknown::Unsupported(what.into())).into());
        let Some((goal, named, reduction)) = Self::goal(question) else {
            return unsupported("transactions decides what can be reached");
        };
        if self.program.locks.len() > MOST_LOCKS {
            return unsupported("transactions takes at most 128 locks");
        }
        if self.program.threads.len() > MOST_MOVERS {
            return unsupported("transactions takes at most 65536 threads");
        }
        let code = Code::new(self.program, &named);
        // No reduction preserves states.
        let reduction = if self.options.states.is_some() { Reduction::None } else { reduction };
        if self.reduction.is_some_and(|asked| asked < reduction) {
            return unsupported("this reduction does not preserve what is asked");
        }
        let reduction = self.reduction.unwrap_or(reduction);
        let options = SearchOptions { reduction, ..self.options };
        let (mut search, Ended { end, witness }) = if self.means.is_empty() {
            let (search, end) = run(&code, &goal, options, &self.budget);
            (search, Ended::plain(end))
        } else {
            self.run_elsewhere(&code, &goal, named, options)
        };
        if let Some(fault) = search.fault.take() {
            return Err(fault);
        }
        let open = match &end {
            SearchEnd::Open(why) => Some(why.clone()),
            SearchEnd::Complete | SearchEnd::Found(_) => None,
        };
        let searched = searched(&search, &end, open.as_ref());
        let verdict = match (end, search.runs.first()) {
            (SearchEnd::Complete | SearchEnd::Open(_), Some(first)) => {
                Verdict::Violation(first.witness.clone())
            }
            (SearchEnd::Complete, None) => Verdict::Safe,
            (SearchEnd::Open(why), None) => Verdict::Unknown(why),
            (SearchEnd::Found(found), _) => match witness.unwrap_or_else(|| search.witness(&found))
            {
                Ok(witness) => Verdict::Violation(witness),
                Err(NoWitness::Unknown(why)) => Verdict::Unknown(why),
                Err(NoWitness::Fault(fault)) => return Err(fault),
            },
        };
        let explored = match options.states {
            Some(most) => explored(&search, most, matches!(verdict, Verdict::Safe)),
            None => None,
        };
        let (counts, work) = (search.counts(), search.work_counts());
        self.statistics.add(&Statistics {
            counts: vec![
                ("states", counts.states),
                ("nodes", counts.nodes),
                ("transitions", counts.transitions),
                ("depth", counts.depth),
                ("sweeps", counts.sweeps),
                ("bytes_per_state", counts.bytes_per_state),
                ("levels", work.levels),
                ("workers", work.workers),
                ("imbalance", work.imbalance),
            ],
        });
        let mut more = Vec::new();
        let disk = counts.disk_bytes_per_state;
        more.extend((disk > 0).then_some(("disk_bytes_per_state", disk)));
        more.extend((work.processes > 0).then_some(("processes", work.processes)));
        more.extend(work.resumed_from_level.map(|level| ("resumed_from_level", level)));
        self.statistics.add(&Statistics { counts: more });
        Ok(Decision { verdict, explored, searched: Some(Box::new(searched)), refined: None })
    }

    fn statistics(&self) -> Statistics {
        self.statistics.clone()
    }
}

/// How a search has ended, with the run if it was made elsewhere.
struct Ended {
    end: SearchEnd,
    witness: Option<Result<Witness, NoWitness>>,
}

impl Ended {
    fn plain(end: SearchEnd) -> Self {
        Self { end, witness: None }
    }
}

impl StateSearch<'_, '_> {
    /// The search as if it had done what partitions have done.
    fn with_outcome(mut self, outcome: SearchOutcome) -> (Self, Ended) {
        self.install(&outcome);
        self.failures = outcome.failures;
        self.runs = outcome.runs;
        self.protection = outcome.protection;
        self.fault = outcome.fault;
        self.gathered = outcome.shared_states;
        let ended = match outcome.end {
            OutcomeEnd::Complete => Ended::plain(SearchEnd::Complete),
            OutcomeEnd::Open(why) => Ended::plain(SearchEnd::Open(why)),
            OutcomeEnd::Found(witness) => {
                let thread = selvedge_base::Id::from_index(0);
                let found =
                    Found { from: 0, thread, path: Vec::new(), fails: None, at_first: None };
                let silent = || {
                    Err(NoWitness::Unknown(Unknown::Outside("another process has the run".into())))
                };
                let witness = Some(witness.unwrap_or_else(silent));
                Ended { end: SearchEnd::Found(Box::new(found)), witness }
            }
        };
        (self, ended)
    }
}

/// Searches, with one worker or several. What is small is done before several have begun, so they
/// are called where one has stored a number of states, and begin anew.
fn run<'c, 'p>(
    code: &'c Code<'p>,
    goal: &Goal,
    options: SearchOptions,
    budget: &Budget,
) -> (StateSearch<'c, 'p>, SearchEnd) {
    let mut search = StateSearch::new(code, goal.clone(), options, budget.clone());
    if options.workers < 2 || !search.takes_workers() {
        let end = search.run();
        return (search, end);
    }
    if options.alone > 0 {
        let most_states = options.most_states.min(options.alone);
        let few = SearchOptions { most_states, ..options };
        let mut alone = StateSearch::new(code, goal.clone(), few, budget.clone());
        let end = alone.run();
        let full = alone.counts().states >= options.alone && budget.stopped().is_none();
        if !(full && matches!(end, SearchEnd::Open(Unknown::Stopped(StopReason::Memory)))) {
            return (alone, end);
        }
    }
    let end = search.run_with(options.workers);
    (search, end)
}

/// The shared states of a search, unless a limit is met while they are counted.
fn explored(search: &StateSearch<'_, '_>, most: usize, complete: bool) -> Option<Explored> {
    let states = search.shared_states().ok()?;
    let bound = Bound { measure: Measure::Rounds, limit: 0 };
    let level = LevelCount { limit: 0, shared: states.len() as u128, visible: None };
    let names = search.machine.code.program.locks.iter().map(|lock| lock.name.clone());
    let listed = (most > 0).then(|| States::Shared {
        others: names.collect(),
        states: states.into_iter().take(most).collect(),
    });
    Some(Explored { bound, levels: vec![level], complete, proof: None, states: listed })
}

/// What a search says beside its verdict.
fn searched(
    search: &StateSearch<'_, '_>,
    end: &SearchEnd,
    open: Option<&Unknown>,
) -> Searched<Witness> {
    let program = search.machine.code.program;
    let options = search.options;
    let kept = !search.failures.iter().any(|(_, kind)| *kind == FailureKind::Annotation);
    let proved = matches!(end, SearchEnd::Complete);
    let protection = &search.protection;
    let is_breaking = |(cell, class): (GlobalId, usize)| protection.breaking(cell) == Some(class);
    let mut ways = search.ways.iter();
    let why = ways.find(|(cell, class, _)| is_breaking((*cell, *class)));
    let why = why.map(|(cell, class, witness)| {
        (site(program, &protection.classes(*cell)[*class]), witness.clone())
    });
    let counts = search.counts();
    let lists = options.assertions && search.goal == Goal::Failure;
    Searched {
        reduction: options.reduction.name(),
        stored: counts.states,
        waiting: search.waiting(),
        depth: counts.depth,
        assertions: lists.then(|| assertions(search, open)),
        protection: options.locks.then(|| protection.table(program, kept, proved)),
        why,
    }
}

/// The verdict of every assertion, and of every other kind of failure that was found. Assertions at one
/// place are one: copies of a process have the same.
fn assertions(
    search: &StateSearch<'_, '_>,
    open: Option<&Unknown>,
) -> Vec<AssertionVerdict<Witness>> {
    let program = search.machine.code.program;
    let mut all: Vec<AssertionVerdict<Witness>> = Vec::new();
    let mut add = |one: AssertionVerdict<Witness>| {
        let known = all.iter_mut().find(|known| {
            (known.place, known.kind) == (one.place, one.kind) && one.place != Place::NONE
        });
        match known {
            // The first run to a place is enough.
            Some(known) if !matches!(known.verdict, Verdict::Violation(_)) => *known = one,
            Some(_) => {}
            None => all.push(one),
        }
    };
    let failing = |site: FailingSite| {
        let own = search.runs.iter().filter(move |run| run.site == site);
        own.map(|run| (run.kind, Verdict::Violation(run.witness.clone())))
    };
    let edges = program.edges.iter_enumerated();
    for (id, edge) in edges.filter(|&(id, _)| search.symmetry.representative(id) == id) {
        let place = edge.place;
        let asserted = FailureKind::Assertion;
        let site = FailingSite::Edge(id);
        let fails = failing(site).any(|(kind, _)| kind == asserted);
        if matches!(edge.action, Action::Assert(_)) && !fails {
            let verdict = open.map_or(Verdict::Safe, |why| Verdict::Unknown(why.clone()));
            add(AssertionVerdict { place, kind: asserted, verdict });
        }
        for (kind, verdict) in failing(site) {
            add(AssertionVerdict { place, kind, verdict });
        }
    }
    for (exit, &procedure) in program.nodes.iter_enumerated() {
        let place = program.procedures[procedure].end;
        for (kind, verdict) in failing(FailingSite::Return(exit)) {
            add(AssertionVerdict { place, kind, verdict });
        }
    }
    for (kind, verdict) in failing(FailingSite::AtFirst) {
        let invariant = kind.invariant().and_then(|at| program.invariants.get(at));
        let place = invariant.map_or(Place::NONE, |one| one.place);
        add(AssertionVerdict { place, kind, verdict });
    }
    all
}
