//! # Idea
//! The weighted pushdown system of one thread in one role. Its control locations are the phases, its
//! stack symbols are those that the silent-step reduction keeps, and its rules carry what they do to
//! lock histories as weights. A thread that leaves the last phase by itself enters one more control
//! location, where nothing happens any more.
//!
//! # Source
//! Paper 000 §8, the construction of 𝒲. Deviations: silent steps are left out
//! ([`crate::tupling::reduce`]); that another thread ends the phase is guessed only where the next
//! step is visible, because a guess can be delayed over silent steps, calls and returns. Once the
//! thread has made its last own access it may stop anywhere, so then it guesses anywhere.
//!
//! # Requires
//! The role has a phase.

use crate::lock_history::LockAction;
use crate::role::{Advance, Role};
use crate::tupling::reduce::Reduced;
use selvedge_base::{Id, IdVec};
use selvedge_lower::{LockSet, LoweredThread};
use selvedge_pds::{PAutomaton, Pds, Rhs, RuleId, State, Symbol};
use selvedge_program::Event;
use std::rc::Rc;

/// What a rule does to lock histories.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// Nothing.
    None,
    /// A lock action of a thread that holds these locks.
    Lock(LockAction, LockSet),
    /// The next phase begins, while these locks are held.
    NextPhase(LockSet),
}

/// The kept symbols of a thread, renumbered.
pub struct Skeleton {
    /// The thread without its silent steps.
    pub reduced: Rc<Reduced>,
    /// The symbols that can be on top of the stack.
    kept: IdVec<Symbol, Symbol>,
    /// The new number of each kept symbol.
    numbers: IdVec<Symbol, Option<Symbol>>,
}

impl Skeleton {
    /// The part of `thread` that the reduction keeps.
    pub fn new(thread: &LoweredThread, reduced: Rc<Reduced>) -> Self {
        let numbers = IdVec::filled(None, thread.pds.symbols);
        let mut skeleton = Self { reduced, kept: IdVec::new(), numbers };
        skeleton.number(thread.entry);
        let mut next = 0;
        while next < skeleton.kept.len() {
            let symbol = skeleton.kept[Symbol::from_index(next)];
            for (_, rule) in thread.rules_of(symbol) {
                for symbol in rule.rhs.symbols() {
                    skeleton.number(symbol);
                }
            }
            next += 1;
        }
        skeleton
    }

    fn number(&mut self, symbol: Symbol) {
        let (target, _) = self.reduced.forward(symbol);
        if self.numbers[target].is_none() {
            self.numbers[target] = Some(self.kept.push(target));
        }
    }

    /// The new number of the symbol that silent steps lead to.
    fn forward(&self, symbol: Symbol) -> Symbol {
        let (target, _) = self.reduced.forward(symbol);
        self.numbers[target].expect("symbols are numbered as they are met")
    }
}

/// The weighted pushdown system of a thread in a role.
pub struct Product {
    /// The rules; the label is the rule of the thread, `None` for a guess.
    pub pds: Pds<Option<RuleId>>,
    /// What each rule does to lock histories.
    pub effects: IdVec<RuleId, Effect>,
    /// The first symbol.
    pub entry: Symbol,
    /// The control location in which runs end.
    pub accepting: State,
    /// The kept symbols.
    pub skeleton: Rc<Skeleton>,
}

impl Product {
    /// The product of `thread` and `role`.
    pub fn new(thread: &LoweredThread, role: &Role, skeleton: Rc<Skeleton>) -> Self {
        let phases = role.phases.len();
        let last_own = role.last_own();
        let accepting = State::from_index(if last_own == phases { phases } else { phases - 1 });
        let pds = Pds::new(accepting.index() + 1, skeleton.kept.len());
        let entry = skeleton.forward(thread.entry);
        let mut product = Self { pds, effects: IdVec::new(), entry, accepting, skeleton };
        for phase in 0..phases {
            let view = &role.phases[phase];
            for number in (0..product.skeleton.kept.len()).map(Symbol::from_index) {
                let symbol = product.skeleton.kept[number];
                if view.advance == Advance::Other
                    && phase + 1 < phases
                    && (phase >= last_own || product.skeleton.reduced.is_visible(symbol))
                {
                    let effect = Effect::NextPhase(thread.held(symbol).clone());
                    product.rule(phase, number, phase + 1, Rhs::Step(number), None, effect);
                }
                for (id, rule) in thread.rules_of(symbol) {
                    let rhs = match rule.rhs {
                        Rhs::Pop => Rhs::Pop,
                        Rhs::Step(target) => Rhs::Step(product.skeleton.forward(target)),
                        Rhs::Push(callee, below) => Rhs::Push(
                            product.skeleton.forward(callee),
                            product.skeleton.forward(below),
                        ),
                    };
                    let held = || thread.held(symbol).clone();
                    let action = match rule.label.event {
                        Some(Event::Acquire(lock)) => Some(LockAction::Acquire(lock)),
                        Some(Event::Release(lock)) => Some(LockAction::Release(lock)),
                        Some(Event::Observable(_)) | None => None,
                    };
                    let Some(Event::Observable(event)) = rule.label.event else {
                        let effect = action.map_or(Effect::None, |a| Effect::Lock(a, held()));
                        product.rule(phase, number, phase, rhs, Some(id), effect);
                        if let Advance::Acquire { wants, holds } = view.advance
                            && rule.label.event == Some(Event::Acquire(wants))
                            && thread.held(symbol).contains(holds)
                        {
                            debug_assert_eq!(phase + 1, phases, "only the last phase ends so");
                            product.rule(phase, number, phases, rhs, Some(id), Effect::None);
                        }
                        continue;
                    };
                    if view.forbidden.binary_search(&event).is_err() {
                        product.rule(phase, number, phase, rhs, Some(id), Effect::None);
                    }
                    if let Advance::Own { symbol: wanted, in_unit } = view.advance
                        && wanted == event
                        && (!in_unit || thread.in_unit(symbol))
                    {
                        let last = phase + 1 == phases;
                        let effect = if last { Effect::None } else { Effect::NextPhase(held()) };
                        product.rule(phase, number, phase + 1, rhs, Some(id), effect);
                    }
                }
            }
        }
        product
    }

    /// The automaton of all configurations in which runs end: the last control location, with any
    /// stack but the empty one (a thread that has returned from its main function can do no more than
    /// it could just before).
    pub fn ends(&self) -> PAutomaton {
        let mut automaton = PAutomaton::new(self.pds.states);
        let any = automaton.add_node();
        automaton.accept(any);
        for symbol in (0..self.pds.symbols).map(Symbol::from_index) {
            automaton.add_transition(automaton.control(self.accepting), symbol, any);
            automaton.add_transition(any, symbol, any);
        }
        automaton
    }

    fn rule(
        &mut self,
        phase: usize,
        symbol: Symbol,
        next_phase: usize,
        rhs: Rhs,
        origin: Option<RuleId>,
        effect: Effect,
    ) {
        let [from, to] = [phase, next_phase].map(State::from_index);
        self.pds.rule(from, symbol, to, rhs, origin);
        self.effects.push(effect);
    }
}
