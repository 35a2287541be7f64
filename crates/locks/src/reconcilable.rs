//! # Idea
//! Two threads with *trees* of local runs. The rules of an alternating pushdown system ask that all of several
//! successors succeed, so what shows that a configuration succeeds is a tree, and each path of the tree has a
//! lock history. Two trees are *reconcilable* if for every path of the one there is a path of the other such
//! that the two can be interleaved, and the other way round. A control location gets the *set* of the
//! histories of all paths of the tree below it, and `pre*` is that of the system with such sets.
//!
//! That is a relation between trees of threads, and nothing else: the tree of runs of the program is another
//! one. In it a thread may wait for ever for a lock that its own tree takes, which makes true what no local
//! tree shows, and may be passed over for ever, which makes false what a local tree shows.
//!
//! # Source
//! Paper 003, Definition 14 and Theorem 16 (lock-constrained pairs of alternating multi-automata), whose
//! Theorems 20 and 21 claim that this decides formulas about the program; they do not hold (ERRATA).
//! Deviation: compatibility is that of [`compatible`], with the condition on what is held throughout, which
//! the definition leaves out.
//!
//! # Requires
//! Locks are non-reentrant and nested. Histories come in sets, so their number is doubly exponential in the
//! number of locks: there are at most [`MOST_LOCKS`].
//!
//! # Invariants
//! 1. A control location of the product is one of the thread with the histories of all paths from there.

use crate::lock_history::{LockAction, LockHistory, compatible};
use selvedge_base::{Budget, Id, StopReason};
use selvedge_lower::LockSet;
use selvedge_pds::alternating::{
    AlternatingAutomaton, AlternatingPds, AlternatingRule, alternating_pre_star,
};
use selvedge_pds::{State, Symbol};
use std::collections::{BTreeMap, BTreeSet};

/// How many locks there may be.
pub const MOST_LOCKS: usize = 2;

/// With more control locations, each with a set of histories, it is given up.
const MOST_LOCATIONS: usize = 4096;

/// What a thread has to show.
#[derive(Clone, Debug)]
pub struct TreeThread {
    /// The rules.
    pub system: AlternatingPds,
    /// What each rule does with locks.
    pub actions: Vec<Option<LockAction>>,
    /// The locks that are held in each control location.
    pub held: Vec<LockSet>,
    /// Where a path may end: its first states are the control locations.
    pub ends: AlternatingAutomaton,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoTrees {
    /// There are so many locks, which is too many.
    Locks(usize),
    /// A rule does not do to the locks what its control locations say.
    WrongLocks(usize),
    /// There are too many sets of histories.
    Sets,
    /// The budget is used up.
    Stopped(StopReason),
}

/// The histories of all paths of a tree.
type Histories = BTreeSet<LockHistory>;

/// Whether two threads have trees from these configurations that are reconcilable.
///
/// # Errors
/// If there are too many locks or sets of histories, or a rule is wrong, or the budget is used up.
pub fn reconcilable_trees(
    threads: [&TreeThread; 2],
    start: [(State, &[Symbol]); 2],
    budget: &Budget,
) -> Result<bool, NoTrees> {
    let locks = threads.iter().flat_map(|thread| {
        let held = thread.held.iter().flat_map(LockSet::iter);
        let taken = thread.actions.iter().flatten().map(|action| match *action {
            LockAction::Acquire(lock) | LockAction::Release(lock) => lock,
        });
        held.chain(taken).collect::<Vec<_>>()
    });
    let locks: BTreeSet<_> = locks.collect();
    if locks.len() > MOST_LOCKS {
        return Err(NoTrees::Locks(locks.len()));
    }
    let of = |at: usize| trees(threads[at], start[at], budget);
    let (ones, others) = (of(0)?, of(1)?);
    // For each path of the one a path of the other, and the other way round.
    let covers = |all: &Histories, by: &Histories| {
        all.iter().all(|one| by.iter().any(|other| compatible(&[one, other])))
    };
    Ok(ones.iter().any(|one| others.iter().any(|other| covers(one, other) && covers(other, one))))
}

/// The sets of histories of the trees from a configuration.
fn trees(
    thread: &TreeThread,
    (state, stack): (State, &[Symbol]),
    budget: &Budget,
) -> Result<Vec<Histories>, NoTrees> {
    let product = Product::new(thread, budget)?;
    let mut automaton = product.ends();
    alternating_pre_star(&product.system(), &mut automaton, budget).map_err(NoTrees::Stopped)?;
    let own = product.numbers.iter().filter(|((location, _), _)| *location == state);
    let accepted = own.filter(|(_, number)| automaton.accepts(**number, stack));
    Ok(accepted.map(|((_, histories), _)| histories.clone()).collect())
}

/// A thread with sets of histories in its control locations.
struct Product<'a> {
    thread: &'a TreeThread,
    /// The control locations.
    numbers: BTreeMap<(State, Histories), State>,
    /// The rules: of which rule of the thread, from where to where.
    rules: BTreeSet<(usize, State, Vec<State>)>,
}

impl<'a> Product<'a> {
    fn new(thread: &'a TreeThread, budget: &Budget) -> Result<Self, NoTrees> {
        let mut product = Self { thread, numbers: BTreeMap::new(), rules: BTreeSet::new() };
        for location in (0..thread.system.states).map(State::from_index) {
            let symbols = (0..thread.system.symbols).map(Symbol::from_index);
            let reads = symbols.into_iter().any(|one| !thread.ends.reads(location, one).is_empty());
            if reads || thread.ends.accepts(location, &[]) {
                product.number(location, product.empty(location))?;
            }
        }
        // As long as there are new sets, whatever the stacks are: `pre*` decides about these.
        loop {
            let (sets, rules) = (product.numbers.len(), product.rules.len());
            for at in 0..thread.system.rules.len() {
                product.combine(at, budget)?;
            }
            if (sets, rules) == (product.numbers.len(), product.rules.len()) {
                return Ok(product);
            }
        }
    }

    /// The history of a path that ends where it begins.
    fn empty(&self, location: State) -> Histories {
        let held = self.thread.held[location.index()].clone();
        Histories::from([LockHistory::empty(held)])
    }

    fn number(&mut self, location: State, histories: Histories) -> Result<State, NoTrees> {
        if self.numbers.len() >= MOST_LOCATIONS {
            return Err(NoTrees::Sets);
        }
        let next = State::from_index(self.numbers.len());
        Ok(*self.numbers.entry((location, histories)).or_insert(next))
    }

    /// Adds what a rule makes of all sets that are known behind it.
    fn combine(&mut self, at: usize, budget: &Budget) -> Result<(), NoTrees> {
        let rule = &self.thread.system.rules[at];
        let before = LockHistory::empty(self.thread.held[rule.state.index()].clone());
        let step = self.thread.actions[at].map_or_else(|| before.clone(), |one| before.post(one));
        let mut found: Vec<(Histories, Vec<State>)> = vec![(Histories::new(), Vec::new())];
        for (location, _) in &rule.targets {
            if self.thread.held[location.index()] != step.finally_held() {
                return Err(NoTrees::WrongLocks(at));
            }
            let mut more = Vec::new();
            for (histories, numbers) in &found {
                budget.check().map_err(NoTrees::Stopped)?;
                let own = self.numbers.iter().filter(|((other, _), _)| other == location);
                for ((_, set), &number) in own {
                    let all = histories.union(set).cloned().collect();
                    more.push((all, [&numbers[..], &[number]].concat()));
                }
                if more.len() > MOST_LOCATIONS {
                    return Err(NoTrees::Sets);
                }
            }
            found = more;
        }
        for (histories, targets) in found {
            // A path that ends with this step, or all that go on.
            let own: Histories = match targets[..] {
                [] => Histories::from([step.clone()]),
                _ => histories.iter().map(|history| step.then(history)).collect(),
            };
            let from = self.number(rule.state, own)?;
            self.rules.insert((at, from, targets));
        }
        Ok(())
    }

    fn system(&self) -> AlternatingPds {
        let rule = |(at, from, targets): &(usize, State, Vec<State>)| {
            let own = &self.thread.system.rules[*at];
            let rhs = own.targets.iter().map(|&(_, rhs)| rhs);
            AlternatingRule {
                state: *from,
                symbol: own.symbol,
                targets: targets.iter().copied().zip(rhs).collect(),
            }
        };
        AlternatingPds {
            states: self.numbers.len(),
            symbols: self.thread.system.symbols,
            rules: self.rules.iter().map(rule).collect(),
        }
    }

    /// Where paths may end, with the history of a path that ends where it begins.
    fn ends(&self) -> AlternatingAutomaton {
        let mut automaton = AlternatingAutomaton::new(self.numbers.len());
        let offset = automaton.append(&self.thread.ends);
        for ((location, histories), &number) in &self.numbers {
            if *histories != self.empty(*location) {
                continue;
            }
            automaton.set_accepting(number, self.thread.ends.accepts(*location, &[]));
            for symbol in (0..self.thread.system.symbols).map(Symbol::from_index) {
                for set in self.thread.ends.reads(*location, symbol) {
                    let moved = set.iter().map(|one| State::from_index(one.index() + offset));
                    automaton.add(number, symbol, moved.collect());
                }
            }
        }
        automaton
    }
}
