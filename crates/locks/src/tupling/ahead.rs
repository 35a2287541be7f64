//! # Idea
//! A thread that is to make an event of its role is of no use where it cannot make it any more. Where it still
//! can is found backwards from the event, over returns to whoever calls. A fact from which an event that has
//! to come cannot come leads to no end of the role, so it need not be a fact.
//!
//! # Invariants
//! 1. Nothing is left out from which the event can come: callers are not told apart, calls may or may not
//!    return, and only events that are forbidden in every phase until then, and end none of them, stop a
//!    path.

use crate::role::{Advance, PhaseView, Role};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec, StopReason};
use selvedge_lower::LoweredThread;
use selvedge_pds::{Rhs, Symbol};
use selvedge_program::{Event, Observable};
use std::cell::RefCell;
use std::rc::Rc;

/// From which symbols an event can still come.
pub type Ahead = IdVec<Symbol, bool>;

/// An event that has to come, and what must not happen before.
type Coming = (Advance, Vec<Observable>);

/// What of one thread can still come from where.
pub struct LookAhead {
    /// The steps, those of one target together. Behind the symbols are the exits of contexts, each at the
    /// number of its first symbol.
    steps: Vec<(u32, Option<Event>)>,
    /// Where those of a target begin.
    first: Vec<u32>,
    known: RefCell<FxHashMap<Coming, Rc<Ahead>>>,
}

impl LookAhead {
    /// Nothing is looked for yet.
    pub fn new(thread: &LoweredThread) -> Self {
        let symbols = thread.pds.symbols;
        let exit = |symbol: Symbol| symbols + thread.context_range(symbol).start;
        let mut all: Vec<(usize, u32, Option<Event>)> = Vec::with_capacity(thread.pds.rules.len());
        for rule in &thread.pds.rules {
            let (source, event) = (rule.symbol.index() as u32, rule.label.event);
            match rule.rhs {
                Rhs::Step(target) => all.push((target.index(), source, event)),
                Rhs::Push(callee, below) => {
                    all.push((callee.index(), source, event));
                    all.push((below.index(), source, event));
                    all.push((below.index(), exit(callee) as u32, None));
                }
                Rhs::Pop => all.push((exit(rule.symbol), source, event)),
            }
        }
        all.sort_unstable();
        all.dedup();
        let mut first = vec![0; 2 * symbols + 1];
        for &(target, ..) in &all {
            first[target + 1] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let steps = all.into_iter().map(|(_, source, event)| (source, event)).collect();
        Self { steps, first, known: RefCell::default() }
    }

    /// By the phase, from where each event can still come that the thread has to make from then on.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn of(
        &self,
        thread: &LoweredThread,
        role: &Role,
        budget: &Budget,
    ) -> Result<Vec<Vec<Rc<Ahead>>>, StopReason> {
        let own = |at: &usize| matches!(role.phases[*at].advance, Advance::Own { .. });
        let coming = |from: usize, until: usize| {
            let phases = &role.phases[from..=until];
            // An event that ends a phase before is made there, whatever is forbidden.
            let ends = |phase: &PhaseView, one: Observable| matches!(phase.advance, Advance::Own { symbol, .. } if symbol == one);
            let everywhere = |one: &&Observable| {
                let forbids = |phase: &PhaseView| phase.forbidden.binary_search(one).is_ok();
                phases.iter().all(|phase| forbids(phase) && !ends(phase, **one))
            };
            let forbidden = phases[0].forbidden.iter().filter(everywhere).copied().collect();
            self.ahead(thread, (role.phases[until].advance, forbidden), budget)
        };
        let all = 0..role.phases.len();
        all.clone().map(|at| (at..all.end).filter(own).map(|to| coming(at, to)).collect()).collect()
    }

    fn ahead(
        &self,
        thread: &LoweredThread,
        coming: Coming,
        budget: &Budget,
    ) -> Result<Rc<Ahead>, StopReason> {
        if let Some(known) = self.known.borrow().get(&coming) {
            return Ok(Rc::clone(known));
        }
        let (advance, forbidden) = &coming;
        let symbols = thread.pds.symbols;
        let mut seen = vec![false; 2 * symbols];
        let mut open: Vec<usize> = Vec::new();
        for rule in &thread.pds.rules {
            let (symbol, label) = (rule.symbol, rule.label);
            let makes = |event| advance.is_made_by(event, thread.in_unit(symbol), label.volatile);
            if label.event.is_some_and(makes) && !seen[symbol.index()] {
                seen[symbol.index()] = true;
                open.push(symbol.index());
            }
        }
        while let Some(target) = open.pop() {
            budget.check()?;
            for at in self.first[target]..self.first[target + 1] {
                let (source, event) = self.steps[at as usize];
                let is_stopped = |event: Event| match event {
                    Event::Observable(one) => forbidden.contains(&one),
                    _ => false,
                };
                if !seen[source as usize] && !event.is_some_and(is_stopped) {
                    seen[source as usize] = true;
                    open.push(source as usize);
                }
            }
        }
        let found: Rc<Ahead> = Rc::new(seen.into_iter().take(symbols).collect());
        self.known.borrow_mut().insert(coming, Rc::clone(&found));
        Ok(found)
    }
}
