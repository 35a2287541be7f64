//! # Idea
//! The threads of a program as pushdown systems over common control locations, unfolded on demand.
//! A location is a shared state, or a shared state with values that are on their way from a callee
//! to the activation below it.
//!
//! # Source
//! Paper 001 §4: a concurrent program with finite data is one pushdown system per thread over one set
//! of states. As there, main never empties its stack: a symbol below it says that the thread has
//! ended.
//!
//! # Invariants
//! 1. Locations and symbols are numbered in the order of their first use and keep their numbers.
//! 2. At a [`ThreadControl::Returning`] a step of the program is half done, so no other thread may move.

use crate::expand::{Expansion, Shared, StackEffect, SymbolId};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, IdVec, define_id};
use selvedge_pds::{Rhs, Symbol};
use selvedge_program::{Program, ThreadId, Unknown};

define_id!(
    /// A control location.
    ControlId
);

/// A control location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ThreadControl {
    /// A shared state between two steps.
    At(Shared),
    /// A shared state with the values that a callee returns.
    Returning(Shared, u64),
}

/// A stack symbol of some thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gamma {
    /// `e_i`: the thread begins.
    Begin(ThreadId),
    /// An activation of a procedure.
    Activation(ThreadId, SymbolId),
    /// Below main.
    Ended(ThreadId),
    /// `e_{n+1}`: all threads have run.
    Final,
}

/// A rule of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The location afterwards.
    pub to: ControlId,
    /// What happens to the stack.
    pub rhs: Rhs,
    /// What it means.
    pub act: Act,
}

/// What a rule means in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// Nothing.
    Silent,
    /// A step: a successor, the shared state after it and the top of the stack after it. For a return
    /// the [`Act::Resume`] that follows knows the latter two.
    Take(u32, Shared, Option<SymbolId>),
    /// The end of a return.
    Resume(Shared, Option<SymbolId>),
}

/// The threads of a program.
pub struct Threads<'p> {
    /// The program, unfolded.
    pub expansion: Expansion<'p>,
    locations: IdVec<ControlId, ThreadControl>,
    location_numbers: FxHashMap<ThreadControl, ControlId>,
    symbols: IdVec<Symbol, Gamma>,
    symbol_numbers: FxHashMap<Gamma, Symbol>,
}

impl<'p> Threads<'p> {
    /// Prepares a program.
    ///
    /// # Errors
    /// If its data does not fit into machine words.
    pub fn new(program: &'p Program, budget: &Budget) -> Result<Self, Unknown> {
        Ok(Self {
            expansion: Expansion::new(program, budget)?,
            locations: IdVec::new(),
            location_numbers: FxHashMap::default(),
            symbols: IdVec::new(),
            symbol_numbers: FxHashMap::default(),
        })
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.expansion.program()
    }

    /// The locations that a run can begin with.
    ///
    /// # Errors
    /// If there are too many.
    pub fn initial(&mut self) -> Result<Vec<ControlId>, Unknown> {
        let initial = self.expansion.initial()?;
        Ok(initial.into_iter().map(|shared| self.location(ThreadControl::At(shared))).collect())
    }

    /// The number of a location.
    pub fn location(&mut self, location: ThreadControl) -> ControlId {
        let locations = &mut self.locations;
        *self.location_numbers.entry(location).or_insert_with(|| locations.push(location))
    }

    /// How many locations were met.
    pub fn locations(&self) -> usize {
        self.locations.len()
    }

    /// The shared state of a location at which another thread than this one may go on.
    pub fn switchable(&self, location: ControlId, thread: ThreadId) -> Option<Shared> {
        match self.locations[location] {
            ThreadControl::At(shared) => {
                let inside = self.expansion.layout().in_atomic(shared);
                (inside != Some(thread)).then_some(shared)
            }
            ThreadControl::Returning(..) => None,
        }
    }

    /// The shared state of a location at which no step is half done.
    pub fn shared(&self, location: ControlId) -> Option<Shared> {
        match self.locations[location] {
            ThreadControl::At(shared) => Some(shared),
            ThreadControl::Returning(..) => None,
        }
    }

    /// The shared state of a location at which no thread is in the middle of anything.
    pub fn quiet(&self, location: ControlId) -> Option<Shared> {
        match self.locations[location] {
            ThreadControl::At(shared) => {
                self.expansion.layout().in_atomic(shared).is_none().then_some(shared)
            }
            ThreadControl::Returning(..) => None,
        }
    }

    /// The number of a stack symbol.
    pub fn symbol(&mut self, gamma: Gamma) -> Symbol {
        let symbols = &mut self.symbols;
        *self.symbol_numbers.entry(gamma).or_insert_with(|| symbols.push(gamma))
    }

    /// What a stack symbol stands for.
    pub fn gamma(&self, symbol: Symbol) -> Gamma {
        self.symbols[symbol]
    }

    /// How many stack symbols were met.
    pub fn symbols(&self) -> usize {
        self.symbols.len()
    }

    /// The rules of a head, and the successors that fail there.
    ///
    /// # Errors
    /// If there are too many.
    pub fn steps(
        &mut self,
        location: ControlId,
        symbol: Symbol,
    ) -> Result<(Vec<Step>, Vec<u32>), Unknown> {
        let mut steps = Vec::new();
        let mut failing = Vec::new();
        match (self.locations[location], self.symbols[symbol]) {
            (_, Gamma::Final) | (ThreadControl::At(_), Gamma::Ended(_)) => {}
            (_, Gamma::Begin(thread)) => {
                let first = self.expansion.first(thread);
                let first = self.symbol(Gamma::Activation(thread, first));
                let rhs = Rhs::Push(first, self.symbol(Gamma::Ended(thread)));
                steps.push(Step { to: location, rhs, act: Act::Silent });
            }
            (ThreadControl::At(shared), Gamma::Activation(thread, top)) => {
                for number in self.expansion.successors(thread, shared, top)? {
                    let successor = self.expansion.successor(number);
                    let shared = successor.shared;
                    let mut gamma = |top| self.symbol(Gamma::Activation(thread, top));
                    let (rhs, top) = match successor.effect {
                        StackEffect::Step(top) => (Rhs::Step(gamma(top)), Some(top)),
                        StackEffect::Push(callee, caller) => {
                            (Rhs::Push(gamma(callee), gamma(caller)), Some(callee))
                        }
                        StackEffect::Pop(values) => {
                            let to = self.location(ThreadControl::Returning(shared, values));
                            let act = Act::Take(number, shared, None);
                            steps.push(Step { to, rhs: Rhs::Pop, act });
                            continue;
                        }
                        StackEffect::Fail => {
                            failing.push(number);
                            continue;
                        }
                    };
                    let to = self.location(ThreadControl::At(shared));
                    steps.push(Step { to, rhs, act: Act::Take(number, shared, top) });
                }
            }
            (ThreadControl::Returning(shared, values), Gamma::Activation(thread, below)) => {
                if let Some((shared, top)) = self.expansion.resume(shared, values, below) {
                    let to = self.location(ThreadControl::At(shared));
                    let rhs = Rhs::Step(self.symbol(Gamma::Activation(thread, top)));
                    steps.push(Step { to, rhs, act: Act::Resume(shared, Some(top)) });
                }
            }
            (ThreadControl::Returning(shared, _), Gamma::Ended(_)) => {
                let to = self.location(ThreadControl::At(shared));
                steps.push(Step { to, rhs: Rhs::Step(symbol), act: Act::Resume(shared, None) });
            }
        }
        Ok((steps, failing))
    }
}

impl Gamma {
    /// Whose stack it is on.
    pub fn thread(self) -> Option<ThreadId> {
        match self {
            Self::Begin(thread) | Self::Activation(thread, _) | Self::Ended(thread) => Some(thread),
            Self::Final => None,
        }
    }

    /// The activation, if it is one.
    pub fn activation(self) -> Option<SymbolId> {
        match self {
            Self::Activation(_, top) => Some(top),
            _ => None,
        }
    }
}
