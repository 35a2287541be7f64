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
use selvedge_base::{Budget, Id, IdVec, StopReason};
use selvedge_lower::{LockSet, LoweredThread, RuleLabel};
use selvedge_pds::{PAutomaton, Pds, Rhs, Rule, RuleId, State, Symbol};
use selvedge_program::Event;
use std::rc::Rc;

/// What a rule does to lock histories.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum HistoryEffect {
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

/// What a rule of the product stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Made {
    /// A rule of the thread.
    Rule(RuleId),
    /// A guess that another thread ends the phase, or the very beginning.
    Guess,
    /// The return before it was the end of the thread.
    End,
}

/// The weighted pushdown system of a thread in a role.
pub struct Product {
    /// The rules, with what they stand for.
    pub pds: Pds<Made>,
    /// What each rule does to lock histories.
    pub effects: IdVec<RuleId, HistoryEffect>,
    /// The first control location.
    pub begin: State,
    /// The first symbol.
    pub entry: Symbol,
    /// The control location in which runs end.
    pub accepting: State,
    /// The kept symbols.
    pub skeleton: Rc<Skeleton>,
}

impl Product {
    /// The product of `thread` and `role`.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn new(
        thread: &LoweredThread,
        role: &Role,
        skeleton: Rc<Skeleton>,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let phases = role.phases.len();
        let last_own = role.last_own();
        let accepting = State::from_index(if last_own == phases { phases } else { phases - 1 });
        let kept = skeleton.kept.len();
        // A role that ends the thread has two more symbols, one above its main and one below.
        let pds = Pds::new(accepting.index() + 1, kept + if role.ends() { 2 } else { 0 });
        let begin = State::from_index(role.begin as usize);
        let entry = skeleton.forward(thread.entry);
        let mut product = Self { pds, effects: IdVec::new(), begin, entry, accepting, skeleton };
        if role.ends() {
            product.add_end(role, kept);
        }
        for phase in begin.index()..phases {
            let view = &role.phases[phase];
            for number in (0..kept).map(Symbol::from_index) {
                budget.check()?;
                let symbol = product.skeleton.kept[number];
                let returns = || thread.rules_of(symbol).any(|(_, rule)| rule.rhs == Rhs::Pop);
                if view.advance == Advance::Other
                    && phase + 1 < phases
                    && (phase >= last_own
                        || product.skeleton.reduced.is_visible(symbol)
                        || role.ends() && returns())
                {
                    let effect = HistoryEffect::NextPhase(thread.held(symbol).clone());
                    product.rule(phase, number, phase + 1, Rhs::Step(number), Made::Guess, effect);
                }
                for (id, rule) in thread.rules_of(symbol) {
                    product.add_rule(thread, role, phase, number, (id, rule));
                }
            }
            if view.advance == Advance::End {
                break;
            }
        }
        Ok(product)
    }

    /// The rules of the product for a rule of the thread in a phase.
    fn add_rule(
        &mut self,
        thread: &LoweredThread,
        role: &Role,
        phase: usize,
        number: Symbol,
        (id, rule): (RuleId, &Rule<RuleLabel>),
    ) {
        let phases = role.phases.len();
        let view = &role.phases[phase];
        let rhs = match rule.rhs {
            Rhs::Pop => Rhs::Pop,
            Rhs::Step(target) => Rhs::Step(self.skeleton.forward(target)),
            Rhs::Push(callee, below) => {
                Rhs::Push(self.skeleton.forward(callee), self.skeleton.forward(below))
            }
        };
        let held = thread.held(rule.symbol);
        let made = Made::Rule(id);
        let effect = match rule.label.event {
            Some(Event::Acquire(lock)) => {
                HistoryEffect::Lock(LockAction::Acquire(lock), held.clone())
            }
            Some(Event::Release(lock)) => {
                HistoryEffect::Lock(LockAction::Release(lock), held.clone())
            }
            Some(Event::Observable(_) | Event::Start(_) | Event::Join(_)) | None => {
                HistoryEffect::None
            }
        };
        if rule.label.event.is_none_or(|event| view.allows(event)) {
            self.rule(phase, number, phase, rhs, made, effect);
        }
        if rule.label.event.is_some_and(|event| view.advance.is_wait_at(event, held)) {
            debug_assert_eq!(phase + 1, phases, "only the last phase ends so");
            self.rule(phase, number, phases, rhs, made, HistoryEffect::None);
        }
        if let Some(event) = rule.label.event
            && view.advance.is_made_by(event, thread.in_unit(rule.symbol), rule.label.volatile)
        {
            let last = phase + 1 == phases;
            let effect =
                if last { HistoryEffect::None } else { HistoryEffect::NextPhase(held.clone()) };
            self.rule(phase, number, phase + 1, rhs, made, effect);
        }
    }

    /// The symbols above and below the main of a thread that ends. When the one below is on top, the
    /// thread has returned from its main; in the phase of its end that ends the phase, and after it
    /// the thread can only wait for the others.
    fn add_end(&mut self, role: &Role, kept: usize) {
        let [above, below] = [kept, kept + 1].map(Symbol::from_index);
        let (begin, phases) = (self.begin.index(), role.phases.len());
        let call = Rhs::Push(self.entry, below);
        self.rule(begin, above, begin, call, Made::Guess, HistoryEffect::None);
        self.entry = above;
        let end = role.phases.iter().position(|view| view.advance == Advance::End);
        for phase in end.unwrap_or(phases)..phases {
            let made = if Some(phase) == end { Made::End } else { Made::Guess };
            let last = phase + 1 == phases;
            let effect =
                if last { HistoryEffect::None } else { HistoryEffect::NextPhase(LockSet::new()) };
            if !last || made == Made::End {
                self.rule(phase, below, phase + 1, Rhs::Step(below), made, effect);
            }
        }
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
        made: Made,
        effect: HistoryEffect,
    ) {
        let [from, to] = [phase, next_phase].map(State::from_index);
        self.pds.rule(from, symbol, to, rhs, made);
        self.effects.push(effect);
    }
}
