//! # Idea
//! The meaning of a program, unfolded for a search that knows nothing of expressions: a *shared
//! state* is one machine word, a *stack symbol* is a small number, and for each head (shared state,
//! symbol on top) there is a list of [`Successor`]s, computed once.
//!
//! # Source
//! The semantics of [`selvedge_program::data`], points 1 to 7; each thread becomes a pushdown system
//! as in paper 001 §3.1 (its control locations are the shared states), over one set of shared
//! states as in Qadeer and Rehof (TACAS 2005). Deviations: the word holds more than the globals
//! ([`layout`]); the locals with which a thread begins are chosen in its first step, because nothing
//! can tell before; a return is a pop that hands values to what is below, see
//! [`Expansion::resume`].
//!
//! # Requires
//! The program is valid. Units of work are not counted: a thread ends only units that it has begun.
//!
//! # Invariants
//! 1. A symbol belongs to one thread, and symbols are numbered in the order of their first use.
//! 2. A successor stands at the same place for ever, so its number is a name for it.

pub mod layout;
mod outcomes;
mod values;

pub use layout::{Shared, StateLayout};

use crate::unsupported::no_joins;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec, define_id};
use selvedge_program::{
    Edge, EdgeId, Move, NodeId, Program, Start, Successors, ThreadId, Unknown, Valuation, Variable,
};
use std::ops::Range;

define_id!(
    /// A stack symbol: an activation of a procedure.
    SymbolId
);

/// What a stack symbol stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Activity {
    /// The main of a thread that has not moved yet; its locals are not chosen.
    First,
    /// On top of its stack, at a node.
    At(NodeId),
    /// Below another activation that this call has opened, or one that returns to the same node
    /// with its results going to the same variables.
    Open(EdgeId),
}

/// A stack symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExpandedSymbol {
    /// The thread on whose stack it lies. Threads may share procedures, and what a step does to a
    /// lock depends on who takes it.
    pub thread: ThreadId,
    /// What it stands for.
    pub activity: Activity,
    /// The values of its locals, the first in the lowest bit.
    pub locals: u64,
}

/// What a step does to the stack of its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackEffect {
    /// Another symbol on top.
    Step(SymbolId),
    /// A call: the callee on top of the caller.
    Push(SymbolId, SymbolId),
    /// A return of these values.
    Pop(u64),
    /// An assertion fails: the end of the run.
    Fail,
}

/// A step with its outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Successor {
    /// The shared state afterwards; for a return, before the results are assigned.
    pub shared: Shared,
    /// What happens to the stack.
    pub effect: StackEffect,
    /// The step.
    pub step: Move,
}

/// How many outcomes the steps of one head may have.
pub const MOST_OUTCOMES: usize = 1 << 20;

/// A program unfolded on demand.
pub struct Expansion<'p> {
    program: &'p Program,
    edges: Successors,
    layout: StateLayout,
    /// For each call the first one that returns in the same way.
    same_return: IdVec<EdgeId, EdgeId>,
    symbols: IdVec<SymbolId, ExpandedSymbol>,
    numbers: FxHashMap<ExpandedSymbol, SymbolId>,
    successors: Vec<Successor>,
    heads: FxHashMap<(Shared, SymbolId), (u32, u32)>,
    resumed: FxHashMap<(Shared, u64, SymbolId), Option<(Shared, SymbolId)>>,
    /// The locals that first steps choose.
    chosen: FxHashMap<u32, u64>,
    /// What the outcomes of steps may cost.
    budget: Budget,
}

impl<'p> Expansion<'p> {
    /// Prepares a program; each outcome of a step counts in the budget.
    ///
    /// # Errors
    /// If its data does not fit into machine words.
    pub fn new(program: &'p Program, budget: &Budget) -> Result<Self, Unknown> {
        no_joins(program)?;
        let layout = StateLayout::new(program)?;
        for procedure in &program.procedures {
            let (locals, results) = (procedure.frame.locals.len(), procedure.frame.results.len());
            if locals.max(results) > 64 {
                return Err(Unknown::Unsupported(format!(
                    "the explicit search handles at most 64 locals and 64 results, but {} has \
                     {locals} and {results}",
                    procedure.name
                )));
            }
        }
        Ok(Self {
            program,
            edges: Successors::new(program),
            layout,
            same_return: same_return(program),
            symbols: IdVec::new(),
            numbers: FxHashMap::default(),
            successors: Vec::new(),
            heads: FxHashMap::default(),
            resumed: FxHashMap::default(),
            chosen: FxHashMap::default(),
            budget: budget.clone(),
        })
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// How shared states are written.
    pub fn layout(&self) -> &StateLayout {
        &self.layout
    }

    /// The shared states that a run can begin with.
    ///
    /// # Errors
    /// If there are too many.
    pub fn initial(&self) -> Result<Vec<Shared>, Unknown> {
        let mut word = self.layout.waiting_at_first();
        let mut free = Vec::new();
        for (id, global) in self.program.globals.iter_enumerated() {
            match global.initial {
                Some(value) => word.0 |= u64::from(value != 0) << id.index(),
                None => free.push(1 << id.index()),
            }
        }
        if free.len() > MOST_OUTCOMES.ilog2() as usize {
            return Err(Unknown::Unsupported(format!(
                "the explicit search handles at most {} globals without an initial value, but \
                 there are {}",
                MOST_OUTCOMES.ilog2(),
                free.len()
            )));
        }
        Ok((0..1u64 << free.len()).map(|which| Shared(word.0 | spread(which, &free))).collect())
    }

    /// The symbol on the stack of a thread at first.
    pub fn first(&mut self, thread: ThreadId) -> SymbolId {
        let main = &self.program.procedures[self.program.threads[thread].main];
        let nothing_to_choose = main.frame.locals.is_empty();
        let activity = if nothing_to_choose { Activity::At(main.entry) } else { Activity::First };
        self.symbol(ExpandedSymbol { thread, activity, locals: 0 })
    }

    /// What a number stands for.
    pub fn get(&self, symbol: SymbolId) -> ExpandedSymbol {
        self.symbols[symbol]
    }

    /// How many symbols were met.
    pub fn symbols(&self) -> usize {
        self.symbols.len()
    }

    /// How many successors were computed.
    pub fn computed(&self) -> usize {
        self.successors.len()
    }

    /// The node of a symbol that is on top.
    pub fn node(&self, symbol: SymbolId) -> NodeId {
        let ExpandedSymbol { thread, activity, .. } = self.symbols[symbol];
        match activity {
            Activity::First => self.program.procedures[self.program.threads[thread].main].entry,
            Activity::At(node) => node,
            Activity::Open(edge) => self.program.edges[edge].target,
        }
    }

    /// The locals of a symbol; empty ones for a thread that has not moved.
    pub fn locals(&self, symbol: SymbolId) -> Valuation {
        if self.symbols[symbol].activity == Activity::First {
            return Valuation::default();
        }
        let procedure = self.program.nodes[self.node(symbol)];
        let locals = self.program.procedures[procedure].frame.locals.len();
        valuation(self.symbols[symbol].locals, locals)
    }

    /// The numbers of the successors of a head.
    ///
    /// # Errors
    /// If there are too many of them, or a count does not fit.
    #[inline]
    pub fn successors(
        &mut self,
        thread: ThreadId,
        shared: Shared,
        top: SymbolId,
    ) -> Result<Range<u32>, Unknown> {
        match self.heads.get(&(shared, top)) {
            Some(&(start, end)) => Ok(start..end),
            None => self.expand(thread, shared, top),
        }
    }

    /// A successor by its number.
    #[inline]
    pub fn successor(&self, number: u32) -> Successor {
        self.successors[number as usize]
    }

    /// The locals that a thread has chosen if this is its first step.
    pub fn chosen(&self, number: u32) -> Option<u64> {
        self.chosen.get(&number).copied()
    }

    /// What a return of values makes of the symbol below; `None` if its procedure forbids it.
    pub fn resume(
        &mut self,
        shared: Shared,
        values: u64,
        below: SymbolId,
    ) -> Option<(Shared, SymbolId)> {
        if let Some(&known) = self.resumed.get(&(shared, values, below)) {
            return known;
        }
        let result = self.assign_results(shared, values, below);
        self.resumed.insert((shared, values, below), result);
        result
    }

    fn assign_results(
        &mut self,
        shared: Shared,
        values: u64,
        below: SymbolId,
    ) -> Option<(Shared, SymbolId)> {
        let program = self.program;
        let ExpandedSymbol { thread, activity: Activity::Open(call), mut locals } =
            self.symbols[below]
        else {
            unreachable!("below another activation there are open calls only")
        };
        let mut shared = shared;
        let edge = &program.edges[call];
        let results = edge.passing.map_or(&[][..], |id| &program.passings[id].results);
        for (at, target) in results.iter().enumerate() {
            let value = values >> at & 1 == 1;
            match target {
                None => {}
                Some(Variable::Global(global)) => set(&mut shared.0, global.index(), value),
                Some(Variable::Local(local)) => set(&mut locals, local.index(), value),
            }
        }
        if !self.enforced(program.nodes[edge.target], shared, locals) {
            return None;
        }
        let activity = Activity::At(edge.target);
        Some((shared, self.symbol(ExpandedSymbol { thread, activity, locals })))
    }

    fn expand(
        &mut self,
        thread: ThreadId,
        shared: Shared,
        top: SymbolId,
    ) -> Result<Range<u32>, Unknown> {
        let start = self.successors.len();
        let free = self.layout.waits(shared, thread)
            || self.layout.in_atomic(shared).is_some_and(|owner| owner != thread);
        if !free {
            match self.symbols[top] {
                ExpandedSymbol { activity: Activity::First, .. } => {
                    self.first_steps(thread, shared)?;
                }
                ExpandedSymbol { activity: Activity::At(node), locals, .. } => {
                    self.steps(thread, shared, node, locals, start)?;
                }
                ExpandedSymbol { activity: Activity::Open(_), .. } => {}
            }
        }
        let range = number(start)..number(self.successors.len());
        self.heads.insert((shared, top), (range.start, range.end));
        Ok(range)
    }

    /// The steps of a thread that has not moved: those from every choice of its locals.
    fn first_steps(&mut self, thread: ThreadId, shared: Shared) -> Result<(), Unknown> {
        let head = self.successors.len();
        let main = &self.program.procedures[self.program.threads[thread].main];
        let waited = self.program.threads[thread].start != Start::AtFirst;
        let passed = if waited { main.frame.parameters } else { 0 };
        let free = main.frame.locals.len() - passed;
        if free > MOST_OUTCOMES.ilog2() as usize {
            return Err(too_many_outcomes());
        }
        let arguments = self.layout.arguments(shared, thread);
        let shared = self.layout.with_arguments(shared, thread, 0);
        for choice in 0..1u64 << free {
            if choice > 0 {
                self.budget.check()?;
            }
            let locals = arguments | choice.checked_shl(passed as u32).unwrap_or(0);
            let start = self.successors.len();
            self.steps(thread, shared, main.entry, locals, head)?;
            for at in start..self.successors.len() {
                self.chosen.insert(number(at), locals);
            }
        }
        Ok(())
    }

    /// The number of a symbol.
    pub fn symbol(&mut self, symbol: ExpandedSymbol) -> SymbolId {
        *self.numbers.entry(symbol).or_insert_with(|| self.symbols.push(symbol))
    }
}

fn same_return(program: &Program) -> IdVec<EdgeId, EdgeId> {
    let mut firsts = FxHashMap::default();
    let same = |(id, edge): (EdgeId, &Edge)| {
        let results = edge.passing.map_or(&[][..], |passing| &program.passings[passing].results);
        *firsts.entry((edge.target, results)).or_insert(id)
    };
    program.edges.iter_enumerated().map(same).collect()
}

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("more successors than memory holds")
}

fn too_many_outcomes() -> Unknown {
    Unknown::Unsupported(format!(
        "the explicit search handles at most {MOST_OUTCOMES} outcomes of a step, and this program \
         has a step with more"
    ))
}

/// The values of the first `count` bits of a word.
pub fn valuation(word: u64, count: usize) -> Valuation {
    Valuation::of_bits((0..count).map(|at| word >> at & 1 == 1))
}

fn set(word: &mut u64, bit: usize, value: bool) {
    *word = *word & !(1 << bit) | u64::from(value) << bit;
}

/// The masks whose bit in `which` is set.
fn spread(which: u64, masks: &[u64]) -> u64 {
    let chosen = masks.iter().enumerate().filter(|&(at, _)| which >> at & 1 == 1);
    chosen.fold(0, |word, (_, mask)| word | mask)
}
