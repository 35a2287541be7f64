//! # Idea
//! Questions about locks, joins and units of work for engines that know only data. Locks become shared
//! Booleans, and so do the ends of threads that are joined; a pattern or an automaton becomes a counter of its phases beside them, which the threads
//! move on when they take the next access. The target is a label: the node behind the last access.
//!
//! # Source
//! SEMANTICS, "The patterns"; paper 000 Defn. 3 for automata. Which accesses are meant is guessed:
//! every edge with an access comes once without and once with the move to the next phase.
//!
//! # Requires
//! Locks and units are nested; the query fits the program.
//!
//! # Invariants
//! 1. Every step of the new program is one step of the original one ([`StepMap`]), and the threads
//!    keep their ids. So bounds on rounds and contexts mean the same in both.
//! 2. The unit conditions need no variables. Whether an access is inside a unit is part of the
//!    control state ([`selvedge_lower`]); and a unit that has begun to match cannot end before it has
//!    matched, since a run in which it does ends in no violation.

mod ended;
mod phases;
mod unlocked;

pub use ended::joins_to_data;

use phases::Phases;
use selvedge_base::{Budget, IdVec};
use selvedge_lower::{LockSet, Names};
use selvedge_program::{
    EdgeId, Feature, GlobalId, LockId, Move, NodeId, Position, Program, Question, StatePattern,
    Target, ThreadId, Unknown, Valuation, Value, Witness, WitnessStep,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use unlocked::unlocked;

/// From the steps of a new program to those of the original one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StepMap {
    /// The step that an edge stands for.
    pub moves: IdVec<EdgeId, Move>,
    /// Which access of the query it is, from 1.
    pub matched: IdVec<EdgeId, Option<u32>>,
    /// The node that a node stands for; `None` if it is new.
    pub nodes: IdVec<NodeId, Option<NodeId>>,
    /// The globals that say whether a lock is held.
    pub locks: BTreeMap<LockId, GlobalId>,
    /// The globals that say whether a joined thread has ended.
    pub ended: BTreeMap<ThreadId, GlobalId>,
}

impl StepMap {
    /// The map of two translations: first `first`, then this one.
    #[must_use]
    pub fn after(self, first: &Self) -> Self {
        let step = |step: Move| step.edge().map_or(Move::Return, |edge| first.moves[edge]);
        let mut locks = first.locks.clone();
        locks.extend(self.locks);
        let mut ended = first.ended.clone();
        ended.extend(self.ended);
        Self {
            moves: self.moves.iter().map(|&one| step(one)).collect(),
            matched: self.matched,
            nodes: self.nodes.iter().map(|node| node.and_then(|node| first.nodes[node])).collect(),
            locks,
            ended,
        }
    }

    /// What is to be reached in the new program instead of this in the original one.
    pub fn target(&self, target: &Target) -> Target {
        let standing_for = |wanted: &[NodeId]| -> Vec<NodeId> {
            let stands = |(node, old): (NodeId, &Option<NodeId>)| {
                old.is_some_and(|old| wanted.contains(&old)).then_some(node)
            };
            self.nodes.iter_enumerated().filter_map(stands).collect()
        };
        match target {
            Target::Assertion => Target::Assertion,
            Target::Label(nodes) => Target::Label(standing_for(nodes)),
            Target::State(pattern) => {
                // Locks that are still locks stay in the pattern.
                let (mut globals, mut locks) = (pattern.globals.clone(), Vec::new());
                for &(lock, held) in &pattern.locks {
                    match self.locks.get(&lock) {
                        Some(&global) => globals.push((global, Value::from(held))),
                        None => locks.push((lock, held)),
                    }
                }
                let position = |position: &Position| match position {
                    Position::At(nodes) => Position::At(standing_for(nodes)),
                    other => other.clone(),
                };
                let threads = pattern.threads.iter().map(position).collect();
                Target::State(StatePattern { globals, locks, threads })
            }
        }
    }
}

/// A program with a monitor for one query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Monitored {
    /// The program, without locks.
    pub program: Program,
    /// What is reached by the runs that answer the query.
    pub target: Target,
    /// Where its steps come from.
    pub origin: StepMap,
}

impl Monitored {
    /// The same as what became of the program before a first translation.
    fn after(self, first: Option<&StepMap>) -> Self {
        match first {
            Some(first) => Self { origin: self.origin.after(first), ..self },
            None => self,
        }
    }
}

/// The program with its joins and its locks as data: those that more than one thread uses, and those
/// given. Reads, writes and units are steps without meaning in it.
///
/// # Errors
/// If locks or units are not nested, or if the budget was raised.
pub fn locks_to_data(
    program: &Program,
    locks: &LockSet,
    budget: &Budget,
) -> Result<(Program, StepMap), Unknown> {
    let (program, first) = without_joins(program);
    let everyone: Vec<ThreadId> = program.threads.ids().collect();
    let built = unlocked(&program, &everyone, None, locks, budget)?.after(first.as_ref());
    Ok((built.program, built.origin))
}

/// The program with its joins and locks as data and a monitor for the query. Threads that take no part in the
/// query stay where they are, unless there is data that they could change.
///
/// # Errors
/// As [`locks_to_data`].
pub fn monitor(
    program: &Program,
    question: &Question,
    budget: &Budget,
) -> Result<Monitored, Unknown> {
    let Some(phases) = Phases::new(question) else {
        let why = "context-bounded decides atomicity only; use tupling for races and deadlocks";
        return Err(Unknown::Unsupported(why.to_owned()));
    };
    let (program, first) = without_joins(program);
    // Who takes no part can stay where it is, unless the others depend on what it computes or starts.
    let others = [Feature::Values, Feature::AtomicSections, Feature::Starts];
    let features = program.features();
    let is_alone = others.iter().all(|&feature| !features.contains(feature));
    let participants = if is_alone { question.threads() } else { program.threads.ids().collect() };
    let built = unlocked(&program, &participants, Some(&phases), &LockSet::new(), budget)?;
    Ok(built.after(first.as_ref()))
}

/// What a program computes with, without its threads, procedures and locks, and names that are new in
/// it.
fn data_of(source: &Program) -> (Program, Names) {
    let data = Program {
        files: source.files.clone(),
        globals: source.globals.clone(),
        updates: source.updates.clone(),
        conditions: source.conditions.clone(),
        returns: source.returns.clone(),
        passings: source.passings.clone(),
        numerals: source.numerals.clone(),
        ..Program::default()
    };
    let locals = source.procedures.iter().flat_map(|procedure| &procedure.frame.locals);
    let globals = source.globals.iter().map(|global| global.name.as_str());
    let names = Names::avoiding(locals.map(|local| local.name.as_str()).chain(globals));
    (data, names)
}

/// The labels of each node.
fn labels_of(source: &Program) -> BTreeMap<NodeId, Vec<&str>> {
    let mut labels: BTreeMap<NodeId, Vec<&str>> = BTreeMap::new();
    for label in &source.labels {
        labels.entry(label.node).or_default().push(&label.name);
    }
    labels
}

/// The program with its joins as data, if it has some.
fn without_joins(program: &Program) -> (Cow<'_, Program>, Option<StepMap>) {
    match joins_to_data(program) {
        Some((without, first)) => (Cow::Owned(without), Some(first)),
        None => (Cow::Borrowed(program), None),
    }
}

/// A witness of the new program as one of the original program.
pub fn original(witness: &Witness, origin: &StepMap, program: &Program) -> Witness {
    // The new program has the globals of the original one first.
    let globals = |all: &Valuation| Valuation(all.0[..program.globals.len()].to_vec());
    let steps = witness.steps.iter().map(|step| {
        let (taken, matched) = match step.step {
            Move::Edge(edge) | Move::With(edge, _) => (origin.moves[edge], origin.matched[edge]),
            Move::Return => (Move::Return, None),
        };
        let (globals, locals) = (globals(&step.globals), step.locals.clone());
        WitnessStep {
            thread: step.thread,
            step: taken,
            receivers: Vec::new(),
            matched,
            globals,
            locals,
        }
    });
    Witness {
        globals: globals(&witness.globals),
        locals: witness.locals.clone(),
        steps: steps.collect(),
        fails: witness.fails,
        failure: witness.failure,
        ..Witness::default()
    }
}
