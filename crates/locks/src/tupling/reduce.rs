//! # Idea
//! For one role, most steps of a thread are silent: they carry no lock event and nothing that the
//! role looks at. A symbol from which all steps are silent and lead, over silent steps, to one and
//! the same symbol need not be visited: it is *forwarded* there. What is left is small even for long
//! procedures.
//!
//! # Invariants
//! 1. `forward` is idempotent: a forwarded symbol's target is kept. Targets stay within the context.
//! 2. Following `route` from a symbol reaches its target in `distance` steps.
//! 3. Kept symbols are numbered consecutively within each context.

use super::ahead::LookAhead;
use crate::behaviour::BehaviourId;
use crate::role::{Advance, Role};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id, IdVec, StopReason};
use selvedge_lower::LoweredThread;
use selvedge_pds::{Rhs, RuleId, Symbol};
use selvedge_program::{Event, Observable};
use std::rc::Rc;

/// Which observable events matter to a role: those that end a phase and those that are forbidden in
/// some phase. Roles with equal sets can share one reduction.
pub fn relevant(role: &Role) -> Vec<Observable> {
    let mut relevant: Vec<Observable> = role
        .phases
        .iter()
        .flat_map(|phase| {
            let own = match phase.advance {
                Advance::Own { symbol, .. } => Some(symbol),
                // Lock events, starts and joins are never silent.
                Advance::Wait { .. } | Advance::Start(_) | Advance::End | Advance::Other => None,
            };
            phase.forbidden.iter().copied().chain(own)
        })
        .collect();
    relevant.sort_unstable();
    relevant.dedup();
    relevant
}

/// A thread without its silent steps.
pub struct Reduced {
    forward: IdVec<Symbol, Symbol>,
    distance: IdVec<Symbol, u32>,
    route: IdVec<Symbol, Option<RuleId>>,
    /// The number of each kept symbol within its context.
    local: IdVec<Symbol, u32>,
    /// How many symbols of each context are kept, at the context's first symbol.
    kept: IdVec<Symbol, u32>,
    /// Whether some rule of the symbol has a lock event or a relevant one.
    visible: IdVec<Symbol, bool>,
}

/// The threads without their silent steps, by what is relevant, as far as they were asked for.
#[derive(Default)]
pub struct Reductions {
    known: FxHashMap<(BehaviourId, Vec<Observable>), Rc<Reduced>>,
    /// What can still come from where, whatever is relevant.
    ahead: FxHashMap<BehaviourId, LookAhead>,
}

impl Reductions {
    /// The thread of a class for a role, and what can still come from where in it.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn of(
        &mut self,
        thread: &LoweredThread,
        class: BehaviourId,
        role: &Role,
        budget: &Budget,
    ) -> Result<(Rc<Reduced>, &LookAhead), StopReason> {
        let key = (class, relevant(role));
        let reduced = if let Some(reduced) = self.known.get(&key) {
            Rc::clone(reduced)
        } else {
            let reduced = Rc::new(Reduced::new(thread, &key.1, budget)?);
            self.known.insert(key, Rc::clone(&reduced));
            reduced
        };
        Ok((reduced, self.ahead.entry(class).or_insert_with(|| LookAhead::new(thread))))
    }
}

impl Reduced {
    /// Where to go from `symbol`, and in how many steps.
    pub fn forward(&self, symbol: Symbol) -> (Symbol, u32) {
        (self.forward[symbol], self.distance[symbol])
    }

    /// The silent rule to take at a symbol that is not kept.
    pub fn route(&self, symbol: Symbol) -> Option<RuleId> {
        self.route[symbol]
    }

    /// The number of a kept symbol within its context.
    pub fn local(&self, symbol: Symbol) -> usize {
        self.local[symbol] as usize
    }

    /// How many symbols of the context with this entry are kept.
    pub fn kept_in(&self, entry: Symbol) -> usize {
        self.kept[entry] as usize
    }

    /// Whether something other than silent steps can happen at `symbol` itself.
    pub fn is_visible(&self, symbol: Symbol) -> bool {
        self.visible[symbol]
    }

    /// Reduces `thread` for roles that look at `relevant` events.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn new(
        thread: &LoweredThread,
        relevant: &[Observable],
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let symbols = thread.pds.symbols;
        let relevant: FxHashSet<Observable> = relevant.iter().copied().collect();
        let is_silent = |event: Option<Event>| match event {
            None => true,
            Some(Event::Observable(symbol)) => !relevant.contains(&symbol),
            Some(Event::Acquire(_) | Event::Release(_) | Event::Start(_) | Event::Join(_)) => false,
        };
        let mut reduced = Self {
            forward: (0..symbols).map(Symbol::from_index).collect(),
            distance: IdVec::filled(0, symbols),
            route: IdVec::filled(None, symbols),
            local: IdVec::filled(0, symbols),
            kept: IdVec::filled(0, symbols),
            visible: IdVec::filled(false, symbols),
        };
        reduced.forward_all(thread, &is_silent, budget)?;
        reduced.number(thread);
        Ok(reduced)
    }

    /// Depth first, so that most symbols are decided after their successors. A symbol on the search
    /// stack counts as its own target, which is corrected when the chains are flattened.
    fn forward_all(
        &mut self,
        thread: &LoweredThread,
        is_silent: &impl Fn(Option<Event>) -> bool,
        budget: &Budget,
    ) -> Result<(), StopReason> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let symbols = thread.pds.symbols;
        let mut mark: IdVec<Symbol, Mark> = IdVec::filled(Mark::New, symbols);
        let mut search: Vec<Symbol> = Vec::new();
        for root in (0..symbols).map(Symbol::from_index) {
            if mark[root] != Mark::New {
                continue;
            }
            search.push(root);
            while let Some(&symbol) = search.last() {
                budget.check()?;
                if mark[symbol] == Mark::New {
                    mark[symbol] = Mark::Open;
                    for (_, rule) in thread.rules_of(symbol) {
                        if let Rhs::Step(target) = rule.rhs
                            && mark[target] == Mark::New
                        {
                            search.push(target);
                        }
                    }
                    continue;
                }
                search.pop();
                if mark[symbol] == Mark::Open {
                    mark[symbol] = Mark::Done;
                    self.decide(thread, symbol, is_silent);
                }
            }
        }
        self.flatten(symbols, budget)
    }

    fn decide(
        &mut self,
        thread: &LoweredThread,
        symbol: Symbol,
        is_silent: &impl Fn(Option<Event>) -> bool,
    ) {
        let mut only: Option<(Symbol, u32, RuleId)> = None;
        let mut several = false;
        for (id, rule) in thread.rules_of(symbol) {
            if !is_silent(rule.label.event) {
                self.visible[symbol] = true;
            }
            match rule.rhs {
                Rhs::Step(target) if is_silent(rule.label.event) => {
                    let (target, distance) = self.resolve(target);
                    match only {
                        // A silent way back changes nothing.
                        _ if target == symbol => {}
                        Some((other, ..)) if other != target => several = true,
                        Some((_, best, _)) if best <= distance => {}
                        _ => only = Some((target, distance, id)),
                    }
                }
                _ => several = true,
            }
        }
        if let (Some((target, distance, rule)), false) = (only, several) {
            self.forward[symbol] = target;
            self.distance[symbol] = distance.saturating_add(1);
            self.route[symbol] = Some(rule);
        }
    }

    /// Follows the links that exist so far. They form a forest: a link goes from a root to another
    /// root.
    fn resolve(&self, mut symbol: Symbol) -> (Symbol, u32) {
        let mut distance = 0u32;
        while self.forward[symbol] != symbol {
            distance = distance.saturating_add(self.distance[symbol]);
            symbol = self.forward[symbol];
        }
        (symbol, distance)
    }

    /// Makes every link go to the root (invariant 1).
    fn flatten(&mut self, symbols: usize, budget: &Budget) -> Result<(), StopReason> {
        for symbol in (0..symbols).map(Symbol::from_index) {
            budget.check()?;
            let (target, distance) = self.resolve(symbol);
            self.forward[symbol] = target;
            self.distance[symbol] = distance;
        }
        Ok(())
    }

    fn number(&mut self, thread: &LoweredThread) {
        let mut at = 0;
        while at < thread.pds.symbols {
            let entry = Symbol::from_index(at);
            let range = thread.context_range(entry);
            let mut kept = 0;
            for symbol in range.clone().map(Symbol::from_index) {
                if self.forward[symbol] == symbol {
                    self.local[symbol] = kept;
                    kept += 1;
                }
            }
            self.kept[entry] = kept;
            at = range.end;
        }
    }
}
