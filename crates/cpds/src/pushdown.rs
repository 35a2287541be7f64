//! # Idea
//! A component with a stack: a pushdown system with one control location whose rules do an action or
//! nothing. Before its language is approximated, what is silent is taken out: calls in which nothing
//! can be heard are steps, and steps that do nothing are followed at once. What is left has a rule for
//! each action, each call in which something can be heard, and each return. An action that moves
//! nothing is done as early as it can be.
//!
//! Whether a word is in the language is decided exactly, by multiplying the rules with the positions
//! of the word.
//!
//! # Source
//! Paper 004 §3.1 for the system; Bouajjani, Esparza, Maler (1997) for words along pushdown systems.
//!
//! # Requires
//! The stack is never empty: a symbol at its bottom is not popped.
//!
//! # Invariants
//! 1. Reduction keeps the words of all runs, and of all runs from an entry to its return.

use crate::system::SharedAction;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id, IdVec, StopReason};
use selvedge_pds::{
    Configuration, NoRun, PAutomaton, Pds, Reasons, Rhs, Rule, RuleId, State, Symbol, post_star,
    run_from_post_star, unfold,
};
use std::collections::BTreeSet;

/// A pushdown system whose rules do an action or nothing.
#[derive(Clone, Debug)]
pub struct PushdownComponent {
    /// The rules; there is one control location.
    pub pds: Pds<Option<SharedAction>>,
    /// The stack at first.
    pub entry: Symbol,
}

/// The only control location.
fn only() -> State {
    State::from_index(0)
}

impl PushdownComponent {
    /// A system with so many symbols, without rules.
    pub fn new(symbols: usize, entry: Symbol) -> Self {
        Self { pds: Pds::new(1, symbols), entry }
    }

    /// Adds a rule.
    pub fn rule(&mut self, symbol: Symbol, action: Option<SharedAction>, rhs: Rhs) -> RuleId {
        self.pds.rule(only(), symbol, only(), rhs, action)
    }

    /// The rules of each symbol.
    pub fn by_symbol(&self) -> IdVec<Symbol, Vec<RuleId>> {
        let mut rules = IdVec::filled(Vec::new(), self.pds.symbols);
        for (id, rule) in self.pds.rules.iter_enumerated() {
            rules[rule.symbol].push(id);
        }
        rules
    }

    /// Whether a procedure can call itself. What cannot be reached counts, too.
    pub fn is_recursive(&self) -> bool {
        // A strongly connected component with a call in it, by the depth-first search of Tarjan.
        let rules = self.by_symbol();
        let component = components(&rules, &self.pds);
        self.pds.rules.iter().any(|rule| match rule.rhs {
            Rhs::Push(top, _) => component[rule.symbol] == component[top],
            _ => false,
        })
    }

    /// The same language with fewer rules.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn reduced(&self, budget: &Budget) -> Result<Self, StopReason> {
        let audible = self.audible(|_| true);
        let moving = self.audible(|rule| !is_idle(rule));
        let idle_rules = self.pds.rules.iter().filter(|rule| is_idle(rule));
        let all_idle: BTreeSet<SharedAction> = idle_rules.filter_map(|rule| rule.label).collect();
        let returns = self.returning();
        let rules = self.by_symbol();
        let mut names: FxHashMap<Symbol, Symbol> = FxHashMap::default();
        let mut sources: Vec<Symbol> = Vec::new();
        let mut kept: FxHashSet<(Symbol, Option<SharedAction>, Rhs)> = FxHashSet::default();
        let mut made: Vec<(Symbol, Option<SharedAction>, Rhs)> = Vec::new();
        let mut name = |symbol: Symbol, sources: &mut Vec<Symbol>| {
            *names.entry(symbol).or_insert_with(|| {
                sources.push(symbol);
                Symbol::from_index(sources.len() - 1)
            })
        };
        let entry = name(self.entry, &mut sources);
        let is_useful = |symbol: Symbol| audible[symbol] || returns[symbol];
        let mut seen: IdVec<Symbol, u32> = IdVec::filled(u32::MAX, self.pds.symbols);
        let mut next = 0;
        while next < sources.len() {
            budget.check()?;
            let source = Symbol::from_index(next);
            // What can be done here without moving need not be done further on.
            let here = rules[sources[next]].iter().map(|&rule| &self.pds.rules[rule]);
            let here: BTreeSet<SharedAction> =
                here.filter(|rule| is_idle(rule)).filter_map(|rule| rule.label).collect();
            let idles = here == all_idle;
            let is_silent = |callee: Symbol| !audible[callee] || idles && !moving[callee];
            let mut open = vec![sources[next]];
            seen[sources[next]] = next as u32;
            while let Some(symbol) = open.pop() {
                for &rule in &rules[symbol] {
                    let rule = &self.pds.rules[rule];
                    let Rule { rhs, label: action, .. } = *rule;
                    let elsewhere = symbol != sources[next];
                    if elsewhere && is_idle(rule) && action.is_some_and(|one| here.contains(&one)) {
                        continue;
                    }
                    let mut follow = |target: Symbol| {
                        if is_useful(target)
                            && std::mem::replace(&mut seen[target], next as u32) != next as u32
                        {
                            open.push(target);
                        }
                    };
                    let rhs = match (action, rhs) {
                        (None, Rhs::Step(target)) => {
                            follow(target);
                            continue;
                        }
                        (None, Rhs::Push(top, below)) if is_silent(top) => {
                            if returns[top] {
                                follow(below);
                            }
                            continue;
                        }
                        (_, Rhs::Pop) => Rhs::Pop,
                        (_, Rhs::Step(target)) => Rhs::Step(name(target, &mut sources)),
                        (_, Rhs::Push(top, below)) => {
                            let top = name(top, &mut sources);
                            Rhs::Push(top, name(below, &mut sources))
                        }
                    };
                    if kept.insert((source, action, rhs)) {
                        made.push((source, action, rhs));
                    }
                }
            }
            next += 1;
        }
        let mut reduced = Self::new(sources.len(), entry);
        for (symbol, action, rhs) in made {
            reduced.rule(symbol, action, rhs);
        }
        Ok(reduced)
    }

    /// The symbols from which an action of such a rule can be heard before what lies below is uncovered.
    fn audible(&self, counts: impl Fn(&Rule<Option<SharedAction>>) -> bool) -> IdVec<Symbol, bool> {
        let mut audible = IdVec::filled(false, self.pds.symbols);
        let mut before: IdVec<Symbol, Vec<Symbol>> = IdVec::filled(Vec::new(), self.pds.symbols);
        let mut open = Vec::new();
        for rule in &self.pds.rules {
            if rule.label.is_some()
                && counts(rule)
                && !std::mem::replace(&mut audible[rule.symbol], true)
            {
                open.push(rule.symbol);
            }
            for symbol in rule.rhs.symbols() {
                before[symbol].push(rule.symbol);
            }
        }
        while let Some(symbol) = open.pop() {
            for &earlier in &before[symbol] {
                if !std::mem::replace(&mut audible[earlier], true) {
                    open.push(earlier);
                }
            }
        }
        audible
    }

    /// The symbols from which what lies below can be uncovered.
    fn returning(&self) -> IdVec<Symbol, bool> {
        let mut returning = IdVec::filled(false, self.pds.symbols);
        let mut users: IdVec<Symbol, Vec<RuleId>> = IdVec::filled(Vec::new(), self.pds.symbols);
        let mut open: Vec<RuleId> = Vec::new();
        for (id, rule) in self.pds.rules.iter_enumerated() {
            for symbol in rule.rhs.symbols() {
                users[symbol].push(id);
            }
            if rule.rhs == Rhs::Pop {
                open.push(id);
            }
        }
        while let Some(rule) = open.pop() {
            let rule = &self.pds.rules[rule];
            if rule.rhs.symbols().all(|symbol| returning[symbol])
                && !std::mem::replace(&mut returning[rule.symbol], true)
            {
                open.extend(&users[rule.symbol]);
            }
        }
        returning
    }

    /// The system that reads a word: control locations are positions.
    fn along(
        &self,
        word: &[SharedAction],
        budget: &Budget,
    ) -> Result<(Pds<RuleId>, usize), StopReason> {
        let rules = self.by_symbol();
        let mut product: Pds<RuleId> = Pds::new(word.len() + 1, self.pds.symbols);
        let heads = unfold(&mut product, (only(), self.entry), budget, |product, (at, symbol)| {
            for &rule in &rules[symbol] {
                let Rule { rhs, label: action, .. } = self.pds.rules[rule];
                let to = match action {
                    None => at,
                    Some(action) if word.get(at.index()) == Some(&action) => {
                        State::from_index(at.index() + 1)
                    }
                    Some(_) => continue,
                };
                product.rule(at, symbol, to, rhs, rule);
            }
            Ok::<(), StopReason>(())
        })?;
        let furthest = heads.last().map_or(0, |(at, _)| at.index());
        Ok((product, furthest))
    }

    /// How many letters of a word it can do: all of them if the word is in its language.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn accepted(&self, word: &[SharedAction], budget: &Budget) -> Result<usize, StopReason> {
        Ok(self.along(word, budget)?.1)
    }

    /// The rules of a run that does a word and ends with its last letter, of at most `max` rules.
    ///
    /// # Errors
    /// [`NoRun`] says why there is none.
    pub fn run(
        &self,
        word: &[SharedAction],
        max: usize,
        budget: &Budget,
    ) -> Result<Vec<RuleId>, NoRun> {
        let (product, furthest) = self.along(word, budget)?;
        if furthest < word.len() {
            return Err(NoRun::NotAccepted);
        }
        let start = Configuration { state: only(), stack: vec![self.entry] };
        let initial = PAutomaton::singleton(product.states, &start);
        let reached = post_star(&product, &initial, Reasons::new(), budget)?;
        let end = reached.automaton.shortest_at([State::from_index(word.len())]);
        let end = end.ok_or(NoRun::NotAccepted)?;
        let run = run_from_post_star(&product, &reached, &end, max, budget)?;
        let mut rules: Vec<RuleId> =
            run.rules.into_iter().map(|rule| product.rules[rule].label).collect();
        let last = rules.iter().rposition(|&rule| self.pds.rules[rule].label.is_some());
        rules.truncate(last.map_or(0, |last| last + 1));
        Ok(rules)
    }
}

/// Whether a rule does an action and moves nothing.
fn is_idle(rule: &Rule<Option<SharedAction>>) -> bool {
    rule.label.is_some() && rule.rhs == Rhs::Step(rule.symbol)
}

/// The strongly connected component of each symbol, where a rule leads to the symbols of its right side.
fn components(
    rules: &IdVec<Symbol, Vec<RuleId>>,
    pds: &Pds<Option<SharedAction>>,
) -> IdVec<Symbol, u32> {
    const OPEN: u32 = u32::MAX;
    let next_of = |symbol: Symbol| -> Vec<Symbol> {
        rules[symbol].iter().flat_map(|&rule| pds.rules[rule].rhs.symbols()).collect()
    };
    let mut component: IdVec<Symbol, u32> = IdVec::filled(OPEN, pds.symbols);
    let mut order: IdVec<Symbol, u32> = IdVec::filled(OPEN, pds.symbols);
    let mut low: IdVec<Symbol, u32> = IdVec::filled(OPEN, pds.symbols);
    let (mut visited, mut found) = (0, 0);
    let mut stack: Vec<Symbol> = Vec::new();
    for root in order.ids().collect::<Vec<_>>() {
        if order[root] != OPEN {
            continue;
        }
        let mut work: Vec<(Symbol, Vec<Symbol>)> = Vec::new();
        let enter = |symbol: Symbol, work: &mut Vec<_>| work.push((symbol, next_of(symbol)));
        order[root] = visited;
        low[root] = visited;
        visited += 1;
        stack.push(root);
        enter(root, &mut work);
        while let Some((symbol, pending)) = work.last_mut() {
            let symbol = *symbol;
            if let Some(next) = pending.pop() {
                if order[next] == OPEN {
                    order[next] = visited;
                    low[next] = visited;
                    visited += 1;
                    stack.push(next);
                    enter(next, &mut work);
                } else if component[next] == OPEN {
                    low[symbol] = low[symbol].min(order[next]);
                }
                continue;
            }
            work.pop();
            if let Some((caller, _)) = work.last() {
                low[*caller] = low[*caller].min(low[symbol]);
            }
            if low[symbol] == order[symbol] {
                while let Some(member) = stack.pop() {
                    component[member] = found;
                    if member == symbol {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}
