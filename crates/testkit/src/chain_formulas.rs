//! # Idea
//! Random temporal formulas that are unions of chains of moments: points with conditions, links of any
//! number of steps or of one, and if wanted windows and local formulas.

use crate::Rng;
use selvedge_program::{
    Action, Deed, Formula, NodeId, PathQuantifier, Program, Proposition, TemporalQuestion, ThreadId,
};
use std::collections::BTreeSet;

/// What is in the formulas beside points and links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum With {
    /// Nothing.
    Nothing,
    /// What happens again and again, and fairness.
    Windows,
    /// The same and formulas about single threads.
    Locals,
}

/// Makes questions about a program.
pub struct ChainMaker<'a> {
    program: &'a Program,
    rng: Rng,
    with: With,
    nodes: Vec<Vec<NodeId>>,
}

impl<'a> ChainMaker<'a> {
    /// For a program, from a seed.
    pub fn new(program: &'a Program, rng: Rng, with: With) -> Self {
        let nodes = program.threads.ids().map(|thread| nodes(program, thread)).collect();
        Self { program, rng, with, nodes }
    }

    fn thread(&mut self) -> ThreadId {
        let threads: Vec<ThreadId> = self.program.threads.ids().collect();
        *self.rng.pick(&threads)
    }

    fn deed(&mut self, thread: ThreadId) -> Deed {
        let program = self.program;
        let at = program.threads.ids().position(|id| id == thread).expect("a thread");
        let node = *self.rng.pick(&self.nodes[at]);
        let edges: Vec<Action> = program
            .edges
            .iter()
            .filter(|edge| edge.source == node)
            .map(|edge| edge.action)
            .collect();
        let procedure = program.nodes[node];
        match edges.first() {
            Some(Action::Read(location)) => Deed::Read(*location),
            Some(Action::Write(location)) => Deed::Write(*location),
            Some(Action::Acquire(lock)) => Deed::Acquire(*lock),
            Some(Action::Release(lock)) => Deed::Release(*lock),
            Some(Action::BeginUnit) => Deed::Begin,
            Some(Action::EndUnit) => Deed::End,
            Some(Action::Call(callee)) => Deed::Call(*callee),
            Some(Action::Start(started)) => Deed::Start(*started),
            Some(Action::Join(joined)) => Deed::Join(*joined),
            _ => Deed::Return(procedure),
        }
    }

    fn atom(&mut self) -> Proposition {
        let thread = self.thread();
        match self.rng.below(16) {
            13 => Proposition::Blocked(thread),
            14 => Proposition::Deadlock,
            15 => Proposition::End,
            _ => self.atom_of(thread),
        }
    }

    fn atom_of(&mut self, thread: ThreadId) -> Proposition {
        let at = self.program.threads.ids().position(|id| id == thread).expect("a thread");
        let node = *self.rng.pick(&self.nodes[at]);
        let locks: Vec<_> = self.program.locks.ids().collect();
        match self.rng.below(13) {
            0..=5 => Proposition::At(thread, vec![node]),
            6 => Proposition::In(thread, self.program.nodes[node]),
            7 | 8 if !locks.is_empty() => Proposition::Holds(thread, *self.rng.pick(&locks)),
            9 => Proposition::Unit(thread),
            10 => Proposition::About(thread, self.deed(thread)),
            _ => Proposition::Ended(thread),
        }
    }

    /// A formula without `X` about one thread.
    fn local(&mut self, thread: ThreadId, depth: u32) -> Formula {
        if depth == 0 {
            let atom = Formula::Proposition(self.atom_of(thread));
            return if self.rng.percent(40) { Formula::not(atom) } else { atom };
        }
        let (f, g) = (self.local(thread, depth - 1), self.local(thread, depth - 1));
        match self.rng.below(8) {
            0 | 1 => Formula::until(f, g),
            2 => Formula::release(f, g),
            3 | 4 => Formula::globally(f),
            5 => Formula::finally(f),
            6 => Formula::or(f, g),
            _ => Formula::and(f, g),
        }
    }

    /// A Boolean combination of atoms.
    fn condition(&mut self, depth: u32) -> Formula {
        if self.with == With::Locals && self.rng.percent(35) {
            let (thread, depth) = (self.thread(), self.rng.between(1, 2) as u32);
            return self.local(thread, depth);
        }
        if depth == 0 || self.rng.percent(30) {
            let atom = Formula::Proposition(self.atom());
            return if self.rng.percent(25) { Formula::not(atom) } else { atom };
        }
        let (f, g) = (self.condition(depth - 1), self.condition(depth - 1));
        if self.rng.percent(70) { Formula::and(f, g) } else { Formula::or(f, g) }
    }

    /// A step that is said to be one of a thread, and what is true behind it.
    fn step(&mut self, then: Formula) -> Formula {
        let thread = self.thread();
        let deed = self.rng.percent(50).then(|| self.deed(thread));
        let takes = Formula::Proposition(Proposition::Takes(thread, deed));
        Formula::and(takes, Formula::next(then))
    }

    /// A formula with `F`, `X` and, if windows are wanted, `GF`.
    fn formula(&mut self, depth: u32) -> Formula {
        if depth == 0 {
            return self.condition(1);
        }
        let now = self.condition(1);
        let later = self.formula(depth - 1);
        match self.rng.below(if self.with == With::Nothing { 7 } else { 10 }) {
            0 | 1 => Formula::finally(Formula::and(now, later)),
            2 => Formula::finally(later),
            3 => Formula::and(now, Formula::next(later)),
            4 => Formula::finally(self.step(later)),
            5 => Formula::and(Formula::finally(now), later),
            6 => Formula::or(Formula::finally(Formula::and(now, later.clone())), later),
            7 | 8 => Formula::and(Formula::globally(Formula::finally(now)), later),
            _ => {
                let next = self.condition(0);
                let window =
                    if self.rng.percent(50) { Formula::next(next) } else { self.step(next) };
                let window = Formula::globally(Formula::finally(Formula::and(now, window)));
                if self.rng.percent(50) { Formula::and(window, later) } else { window }
            }
        }
    }

    /// A question.
    ///
    /// # Panics
    /// If the program has no threads.
    pub fn question(&mut self) -> TemporalQuestion {
        let deepest = if self.with == With::Locals { 2 } else { 3 };
        let depth = self.rng.between(1, deepest) as u32;
        let formula = self.formula(depth);
        let all: Vec<ThreadId> = self.program.threads.ids().collect();
        let fair = if self.with != With::Nothing && self.rng.percent(40) {
            all.into_iter().filter(|_| self.rng.percent(60)).collect()
        } else {
            Vec::new()
        };
        let every = self.rng.percent(20);
        let (quantifier, formula) = if every {
            (PathQuantifier::Every, Formula::not(formula))
        } else {
            (PathQuantifier::Some, formula)
        };
        let (text, definitions) = (String::new(), String::new());
        TemporalQuestion { name: None, text, definitions, quantifier, formula, fair }
    }
}

/// The nodes of a thread that its main reaches.
fn nodes(program: &Program, thread: ThreadId) -> Vec<NodeId> {
    let mut procedures = BTreeSet::from([program.threads[thread].main]);
    loop {
        let called: Vec<_> = program
            .edges
            .iter()
            .filter(|edge| procedures.contains(&program.nodes[edge.source]))
            .filter_map(|edge| match edge.action {
                Action::Call(callee) => Some(callee),
                _ => None,
            })
            .collect();
        let before = procedures.len();
        procedures.extend(called);
        if procedures.len() == before {
            break;
        }
    }
    program.nodes.ids().filter(|&node| procedures.contains(&program.nodes[node])).collect()
}
