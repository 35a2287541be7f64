//! # Idea
//! A stack of which only the topmost symbols are known. Where a call pushes more than that, the lowest
//! known symbol is forgotten; where a return uncovers what is not known, it goes to any return point
//! of the procedure that returns. That makes a finite system, which is made deterministic while it is
//! searched: a state is the set of stacks in which the component may be, of which those are left out
//! that can do nothing before they have done something silently.
//!
//! Without recursion no stack is deeper than the longest chain of calls. Then all of it is known, and
//! the automaton has the words of the component and no others.
//!
//! # Source
//! The call strings of Sharir and Pnueli (1981), as a second abstraction beside the prefixes of paper
//! 004 §3.2, which alone cannot prove a program safe whose threads can act together for ever (ERRATA, 004).
//!
//! # Invariants
//! 1. A stack is written top first, has at most as many symbols as are known, and says whether there
//!    may be more below.
//! 2. A state is sorted, and each of its stacks can do an action at once.

use crate::automata::{AutomatonRow, AutomatonStop};
use crate::pushdown::PushdownComponent;
use crate::system::SharedAction;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, IdVec, define_id};
use selvedge_pds::{Rhs, RuleId, Symbol};
use std::collections::BTreeMap;
use std::rc::Rc;

define_id!(
    /// A stack of which the topmost symbols are known.
    KnownStack
);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Top {
    symbols: Box<[Symbol]>,
    /// Whether there may be more below.
    is_cut: bool,
}

/// The deterministic automaton of a component with the tops of its stacks.
#[derive(Debug)]
pub struct StackAutomaton {
    component: Rc<PushdownComponent>,
    rules: IdVec<Symbol, Vec<RuleId>>,
    /// Where a procedure that returns at a symbol may return to.
    returns: IdVec<Symbol, Vec<Symbol>>,
    depth: usize,
    limit: usize,
    tops: IdVec<KnownStack, Top>,
    ids: FxHashMap<Top, KnownStack>,
    /// The stacks that can act and are reached silently.
    silent: FxHashMap<KnownStack, Rc<[KnownStack]>>,
    states: Vec<Rc<[KnownStack]>>,
    state_ids: FxHashMap<Rc<[KnownStack]>, u32>,
}

impl StackAutomaton {
    /// The automaton in which `depth` symbols are known, or all of them, with at most `limit` stacks.
    pub fn new(component: Rc<PushdownComponent>, depth: Option<usize>, limit: usize) -> Self {
        let rules = component.by_symbol();
        let returns =
            if depth.is_some() { return_points(&component, &rules) } else { IdVec::new() };
        Self {
            component,
            rules,
            returns,
            depth: depth.unwrap_or(usize::MAX),
            limit,
            tops: IdVec::new(),
            ids: FxHashMap::default(),
            silent: FxHashMap::default(),
            states: Vec::new(),
            state_ids: FxHashMap::default(),
        }
    }

    /// Whether all of every stack is known.
    pub fn is_exact(&self) -> bool {
        self.depth == usize::MAX
    }

    /// The first state.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn first(&mut self, budget: &Budget) -> Result<u32, AutomatonStop> {
        let start = Top { symbols: Box::new([self.component.entry]), is_cut: false };
        let start = self.top(start)?;
        let silent = self.silent(start, budget)?;
        Ok(self.state(silent))
    }

    /// The transitions of a state.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn expand(&mut self, state: u32, budget: &Budget) -> Result<AutomatonRow, AutomatonStop> {
        if self.states.is_empty() {
            self.first(budget)?;
        }
        let stacks = Rc::clone(&self.states[state as usize]);
        let mut targets: BTreeMap<SharedAction, Vec<KnownStack>> = BTreeMap::new();
        for &stack in stacks.iter() {
            budget.check()?;
            let component = Rc::clone(&self.component);
            for at in 0..self.rules[self.tops[stack].symbols[0]].len() {
                let rule = self.rules[self.tops[stack].symbols[0]][at];
                let Some(action) = component.pds.rules[rule].label else { continue };
                for next in self.apply(stack, component.pds.rules[rule].rhs)? {
                    let reached = self.silent(next, budget)?;
                    targets.entry(action).or_default().extend(reached.iter());
                }
            }
        }
        let mut row = Vec::with_capacity(targets.len());
        for (action, mut stacks) in targets {
            stacks.sort_unstable();
            stacks.dedup();
            row.push((action, self.state(stacks.into())));
        }
        Ok(row.into())
    }

    fn state(&mut self, stacks: Rc<[KnownStack]>) -> u32 {
        let states = &mut self.states;
        *self.state_ids.entry(stacks).or_insert_with_key(|stacks| {
            states.push(Rc::clone(stacks));
            (states.len() - 1) as u32
        })
    }

    fn top(&mut self, top: Top) -> Result<KnownStack, AutomatonStop> {
        if let Some(&known) = self.ids.get(&top) {
            return Ok(known);
        }
        if self.tops.len() >= self.limit {
            return Err(AutomatonStop::Stacks);
        }
        let id = self.tops.push(top.clone());
        self.ids.insert(top, id);
        Ok(id)
    }

    /// The stacks after a rule.
    fn apply(&mut self, stack: KnownStack, rhs: Rhs) -> Result<Vec<KnownStack>, AutomatonStop> {
        let Top { symbols, is_cut } = self.tops[stack].clone();
        let (top, below) = (symbols[0], &symbols[1..]);
        let mut next: Vec<Symbol> = rhs.symbols().chain(below.iter().copied()).collect();
        if next.is_empty() {
            // Nothing is known of what a return uncovers. A stack that is known is never empty.
            let points = if is_cut { self.returns[top].clone() } else { Vec::new() };
            let point = |point| Top { symbols: Box::new([point]), is_cut: true };
            return points.into_iter().map(|symbol| self.top(point(symbol))).collect();
        }
        let is_cut = is_cut || next.len() > self.depth;
        next.truncate(self.depth);
        Ok(vec![self.top(Top { symbols: next.into(), is_cut })?])
    }

    /// The stacks that can act and are reached from one without an action, sorted.
    fn silent(
        &mut self,
        from: KnownStack,
        budget: &Budget,
    ) -> Result<Rc<[KnownStack]>, AutomatonStop> {
        if let Some(known) = self.silent.get(&from) {
            return Ok(Rc::clone(known));
        }
        let component = Rc::clone(&self.component);
        let mut acting = Vec::new();
        let mut seen: FxHashSet<KnownStack> = std::iter::once(from).collect();
        let mut open = vec![from];
        while let Some(stack) = open.pop() {
            budget.check()?;
            let symbol = self.tops[stack].symbols[0];
            let mut acts = false;
            for at in 0..self.rules[symbol].len() {
                let rule = &component.pds.rules[self.rules[symbol][at]];
                if rule.label.is_some() {
                    acts = true;
                    continue;
                }
                let next = self.apply(stack, rule.rhs)?;
                open.extend(next.into_iter().filter(|&next| seen.insert(next)));
            }
            if acts {
                acting.push(stack);
            }
        }
        acting.sort_unstable();
        let acting: Rc<[KnownStack]> = acting.into();
        self.silent.insert(from, Rc::clone(&acting));
        Ok(acting)
    }
}

/// For each symbol at which a procedure returns, the symbols below its entries.
fn return_points(
    component: &PushdownComponent,
    rules: &IdVec<Symbol, Vec<RuleId>>,
) -> IdVec<Symbol, Vec<Symbol>> {
    let pds = &component.pds;
    let mut below: BTreeMap<Symbol, Vec<Symbol>> = BTreeMap::new();
    for rule in &pds.rules {
        if let Rhs::Push(top, under) = rule.rhs {
            below.entry(top).or_default().push(under);
        }
    }
    let mut returns: IdVec<Symbol, Vec<Symbol>> = IdVec::filled(Vec::new(), pds.symbols);
    let mut seen: IdVec<Symbol, Option<Symbol>> = IdVec::filled(None, pds.symbols);
    for (&entry, under) in &below {
        // The symbols of the procedure: those that stand where its entry stood.
        let mut open = vec![entry];
        seen[entry] = Some(entry);
        while let Some(symbol) = open.pop() {
            for &rule in &rules[symbol] {
                let next = match pds.rules[rule].rhs {
                    Rhs::Step(next) | Rhs::Push(_, next) => next,
                    Rhs::Pop => {
                        returns[symbol].extend(under);
                        continue;
                    }
                };
                if seen[next].replace(entry) != Some(entry) {
                    open.push(next);
                }
            }
        }
    }
    for points in &mut returns {
        points.sort_unstable();
        points.dedup();
    }
    returns
}
