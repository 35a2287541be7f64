//! # Idea
//! All that one thread can do in one context, from one shared state and a regular set of stacks: the
//! automaton of all configurations that it reaches, with a reason for every transition, from which
//! runs are rebuilt.
//!
//! # Source
//! `post*` as in [`selvedge_pds::post_star`](mod@selvedge_pds::post_star) and Schwoon's thesis,
//! Algorithm 2, here with rules that are computed when a head is first met. A return is two rules: a
//! pop into a control location that remembers what is returned, and a step from there with the
//! symbol below.
//!
//! # Invariants
//! 1. A reason's premises are older than its transition.
//! 2. No transition enters a control location, and every node leads to an accepting one.

use super::language::{Automaton, Graph};
use crate::expand::{Expansion, Shared, StackEffect, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::Budget;
use selvedge_program::{ThreadId, Unknown};

/// A control location of the thread's pushdown system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ControlLocation {
    /// Between two steps.
    Between(Shared),
    /// In the middle of a return of these values.
    Returning(Shared, u64),
}

/// A transition of the automaton.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    pub from: u32,
    pub symbol: SymbolId,
    pub to: u32,
}

/// Why a transition is there. Numbers are those of successors and of older transitions.
#[derive(Clone, Copy, Debug)]
enum Reason {
    Initial,
    Entry,
    Step { successor: u32, before: u32 },
    Resume { before: u32 },
    Push { successor: u32, before: u32 },
    Pop { successor: u32, popped: u32, below: u32 },
}

/// Why a control location is reached with the empty stack.
#[derive(Clone, Copy, Debug)]
enum Emptied {
    Initially,
    Popped { successor: u32, popped: u32 },
}

/// Something that happens to the stack, with the top before it.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub top: SymbolId,
    /// The successor; `None` if a return goes on with the symbol below.
    pub successor: Option<u32>,
}

/// How many operations a run may have.
pub const LONGEST_RUN: usize = 4_000_000;

/// How many transitions are looked at between two looks at the budget.
const POLL_EVERY: usize = 1024;

/// The saturated automaton.
pub struct Saturation {
    /// The control locations with their nodes, by age.
    pub controls: Vec<(ControlLocation, u32)>,
    pub transitions: Vec<Transition>,
    /// The assertions that fail: transition of the head, and successor.
    pub fails: Vec<(u32, u32)>,
    reasons: Vec<Reason>,
    nodes: FxHashMap<ControlLocation, u32>,
    /// For each node: its control location, whether it accepts, what leaves it, who has an
    /// ε-transition into it (control node, successor of the pop, transition that was popped).
    control: Vec<Option<ControlLocation>>,
    accepting: Vec<bool>,
    outgoing: Vec<Vec<u32>>,
    epsilons: Vec<Vec<(u32, u32, u32)>>,
    emptied: FxHashMap<u32, Emptied>,
    known: FxHashSet<(u32, SymbolId, u32)>,
    known_epsilons: FxHashSet<(u32, u32)>,
    middles: FxHashMap<(u32, SymbolId), u32>,
}

impl Graph for Saturation {
    fn accepts(&self, node: u32) -> bool {
        self.accepting[node as usize]
    }

    fn moves(&self, node: u32, visit: &mut dyn FnMut(SymbolId, u32)) {
        for &id in &self.outgoing[node as usize] {
            let Transition { symbol, to, .. } = self.transitions[id as usize];
            visit(symbol, to);
        }
    }
}

impl Saturation {
    /// Saturates from a shared state with a set of stacks.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn new(
        expansion: &mut Expansion<'_>,
        thread: ThreadId,
        shared: Shared,
        stacks: &Automaton,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let mut this = Self {
            controls: Vec::new(),
            transitions: Vec::new(),
            fails: Vec::new(),
            reasons: Vec::new(),
            nodes: FxHashMap::default(),
            control: Vec::new(),
            accepting: Vec::new(),
            outgoing: Vec::new(),
            epsilons: Vec::new(),
            emptied: FxHashMap::default(),
            known: FxHashSet::default(),
            known_epsilons: FxHashSet::default(),
            middles: FxHashMap::default(),
        };
        for state in &stacks.states {
            this.node(None, state.accepting);
        }
        for (from, state) in stacks.states.iter().enumerate() {
            for &(symbol, to) in &state.moves {
                this.add(from as u32, symbol, to, Reason::Initial);
            }
        }
        let start = this.control_node(ControlLocation::Between(shared));
        for &(symbol, to) in &stacks.states[0].moves {
            this.add(start, symbol, to, Reason::Initial);
        }
        if stacks.states[0].accepting {
            this.emptied.insert(start, Emptied::Initially);
        }
        let mut next = 0;
        while next < this.transitions.len() {
            if next % POLL_EVERY == 0 {
                budget.charge(1 + next.min(POLL_EVERY) as u64)?;
            }
            this.process(expansion, thread, next as u32)?;
            next += 1;
        }
        Ok(this)
    }

    /// Whether a control location is reached with the empty stack.
    pub fn is_emptied(&self, node: u32) -> bool {
        self.emptied.contains_key(&node)
    }

    /// The transitions that leave a node.
    pub fn leaving(&self, node: u32) -> &[u32] {
        &self.outgoing[node as usize]
    }

    /// Transitions that read a stack, given from its top, between two steps with a shared state;
    /// for the empty stack the control location that has it.
    pub fn path(&self, shared: Shared, stack: &[SymbolId]) -> Option<End> {
        if stack.is_empty() {
            let with_shared = |control: ControlLocation| match control {
                ControlLocation::Between(own) | ControlLocation::Returning(own, _) => own == shared,
            };
            let mut emptied = self
                .controls
                .iter()
                .filter(|&&(control, node)| with_shared(control) && self.is_emptied(node));
            return emptied.next().map(|&(_, node)| End::Empty(node));
        }
        let &start = self.nodes.get(&ControlLocation::Between(shared))?;
        // Forward: the transitions that may read each symbol, each with one that may come before.
        let mut layers: Vec<FxHashMap<u32, u32>> = Vec::new();
        let mut here = vec![start];
        for symbol in stack {
            let mut reached: FxHashMap<u32, u32> = FxHashMap::default();
            let mut next = Vec::new();
            for &node in &here {
                for &id in self.leaving(node) {
                    let Transition { symbol: read, to, .. } = self.transitions[id as usize];
                    if read == *symbol && !reached.contains_key(&to) {
                        reached.insert(to, id);
                        next.push(to);
                    }
                }
            }
            layers.push(reached);
            here = next;
        }
        let mut at = here.into_iter().find(|&node| self.accepting[node as usize])?;
        let mut path = Vec::with_capacity(stack.len());
        for layer in layers.iter().rev() {
            let id = layer[&at];
            path.push(id);
            at = self.transitions[id as usize].from;
        }
        path.reverse();
        Some(End::Stack(path))
    }

    /// A shortest path from a transition on to an accepting node, which there is by invariant 2.
    pub fn path_from(&self, first: u32) -> Option<Vec<u32>> {
        let mut before: FxHashMap<u32, u32> = FxHashMap::default();
        let mut queue = std::collections::VecDeque::from([self.transitions[first as usize].to]);
        while let Some(node) = queue.pop_front() {
            if self.accepting[node as usize] {
                let mut path = Vec::new();
                let mut at = node;
                while let Some(&id) = before.get(&at) {
                    path.push(id);
                    at = self.transitions[id as usize].from;
                    if at == self.transitions[first as usize].to {
                        break;
                    }
                }
                path.push(first);
                path.reverse();
                return Some(path);
            }
            for &id in self.leaving(node) {
                let to = self.transitions[id as usize].to;
                if to != self.transitions[first as usize].to && !before.contains_key(&to) {
                    before.insert(to, id);
                    queue.push_back(to);
                }
            }
        }
        None
    }

    /// The operations of a run to a configuration.
    ///
    /// # Errors
    /// If it is too long, or the budget was stopped.
    pub fn operations(&self, end: &End, budget: &Budget) -> Result<Vec<Operation>, Unknown> {
        let mut work: Vec<Task> = Vec::new();
        match end {
            End::Stack(path) => work.extend(path.iter().map(|&id| Task::Run(id))),
            End::Empty(node) => {
                if let Emptied::Popped { successor, popped } = self.emptied[node] {
                    work.extend([self.taking(popped, Some(successor)), Task::Run(popped)]);
                }
            }
        }
        let mut operations = Vec::new();
        while let Some(task) = work.pop() {
            if (operations.len() + 1).is_multiple_of(POLL_EVERY) {
                budget.charge(1 + (operations.len() + 1).min(POLL_EVERY) as u64)?;
            }
            if operations.len() + work.len() > LONGEST_RUN {
                let steps = (operations.len() + work.len()) as u64;
                return Err(Unknown::WitnessTooLong { steps, limit: LONGEST_RUN as u64 });
            }
            // What comes first is pushed last.
            let id = match task {
                Task::Take(operation) => {
                    operations.push(operation);
                    continue;
                }
                Task::Run(id) => id,
            };
            match self.reasons[id as usize] {
                Reason::Initial | Reason::Entry => {}
                Reason::Step { successor, before } | Reason::Push { successor, before } => {
                    work.extend([self.taking(before, Some(successor)), Task::Run(before)]);
                }
                Reason::Resume { before } => {
                    work.extend([self.taking(before, None), Task::Run(before)]);
                }
                Reason::Pop { successor, popped, below } => {
                    let take = self.taking(popped, Some(successor));
                    work.extend([take, Task::Run(popped), Task::Run(below)]);
                }
            }
        }
        Ok(operations)
    }

    fn taking(&self, before: u32, successor: Option<u32>) -> Task {
        Task::Take(Operation { top: self.transitions[before as usize].symbol, successor })
    }

    fn process(
        &mut self,
        expansion: &mut Expansion<'_>,
        thread: ThreadId,
        id: u32,
    ) -> Result<(), Unknown> {
        let Transition { from, symbol, to } = self.transitions[id as usize];
        match self.control[from as usize] {
            None => {}
            Some(ControlLocation::Returning(shared, values)) => {
                if let Some((shared, top)) = expansion.resume(shared, values, symbol) {
                    let control = self.control_node(ControlLocation::Between(shared));
                    self.add(control, top, to, Reason::Resume { before: id });
                }
            }
            Some(ControlLocation::Between(shared)) => {
                for successor in expansion.successors(thread, shared, symbol)? {
                    let taken = expansion.successor(successor);
                    let between = ControlLocation::Between(taken.shared);
                    match taken.effect {
                        StackEffect::Step(top) => {
                            let control = self.control_node(between);
                            self.add(control, top, to, Reason::Step { successor, before: id });
                        }
                        StackEffect::Push(callee, caller) => {
                            let control = self.control_node(between);
                            let middle = self.middle(control, callee);
                            self.add(middle, caller, to, Reason::Push { successor, before: id });
                        }
                        StackEffect::Pop(values) => {
                            let returning = ControlLocation::Returning(taken.shared, values);
                            let control = self.control_node(returning);
                            self.pop(control, to, successor, id);
                        }
                        StackEffect::Fail => self.fails.push((id, successor)),
                    }
                }
            }
        }
        Ok(())
    }

    fn pop(&mut self, control: u32, to: u32, successor: u32, popped: u32) {
        if !self.known_epsilons.insert((control, to)) {
            return;
        }
        self.epsilons[to as usize].push((control, successor, popped));
        if self.accepting[to as usize] {
            self.emptied.entry(control).or_insert(Emptied::Popped { successor, popped });
        }
        for at in 0..self.outgoing[to as usize].len() {
            let below = self.outgoing[to as usize][at];
            let Transition { symbol, to, .. } = self.transitions[below as usize];
            self.add(control, symbol, to, Reason::Pop { successor, popped, below });
        }
    }

    fn middle(&mut self, control: u32, top: SymbolId) -> u32 {
        if let Some(&known) = self.middles.get(&(control, top)) {
            return known;
        }
        let middle = self.node(None, false);
        self.middles.insert((control, top), middle);
        self.add(control, top, middle, Reason::Entry);
        middle
    }

    fn add(&mut self, from: u32, symbol: SymbolId, to: u32, reason: Reason) {
        if !self.known.insert((from, symbol, to)) {
            return;
        }
        let id = self.transitions.len() as u32;
        self.transitions.push(Transition { from, symbol, to });
        self.reasons.push(reason);
        self.outgoing[from as usize].push(id);
        for at in 0..self.epsilons[from as usize].len() {
            let (control, successor, popped) = self.epsilons[from as usize][at];
            self.add(control, symbol, to, Reason::Pop { successor, popped, below: id });
        }
    }

    fn control_node(&mut self, control: ControlLocation) -> u32 {
        if let Some(&known) = self.nodes.get(&control) {
            return known;
        }
        let node = self.node(Some(control), false);
        self.nodes.insert(control, node);
        self.controls.push((control, node));
        node
    }

    fn node(&mut self, control: Option<ControlLocation>, accepting: bool) -> u32 {
        self.control.push(control);
        self.accepting.push(accepting);
        self.outgoing.push(Vec::new());
        self.epsilons.push(Vec::new());
        self.control.len() as u32 - 1
    }
}

/// A configuration that the automaton accepts.
#[derive(Clone, Debug)]
pub enum End {
    /// The transitions that read its stack, from the top.
    Stack(Vec<u32>),
    /// The node of a control location that is reached with the empty stack.
    Empty(u32),
}

enum Task {
    Run(u32),
    Take(Operation),
}
