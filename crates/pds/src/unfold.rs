//! # Idea
//! A system whose rules are made when they are needed. From one configuration with a single symbol on
//! its stack, the heads that can be met are found by summaries: which heads are met above the head
//! with which a part of the stack was pushed, and in which control locations that part is popped. The
//! rules of a head are asked for when it is met first, so what is left out are the rules that no run
//! can use.
//!
//! # Source
//! Reps, Horwitz, Sagiv, *Precise interprocedural dataflow analysis via graph reachability* (1995),
//! for the tabulation; with rules for edges that are not known beforehand.
//!
//! # Requires
//! The rules of a head have that head on their left side, and do not depend on when they are made.
//!
//! # Invariants
//! 1. Every rule has a reachable head, and every rule of a reachable head is there.
//! 2. Rules of one head are next to each other, in the order in which they were made.

use crate::system::{Pds, Rhs, RuleId, State, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id, StopReason};
use std::ops::Range;

/// A control location with the top of the stack.
pub type Head = (State, Symbol);

/// How many facts are looked at between two looks at the budget.
const POLL_EVERY: usize = 1024;

/// Makes the rules of all heads that are reachable from `start` with nothing below it: `make` adds
/// those of one head to the system. Gives the reachable heads in ascending order.
///
/// ```
/// use selvedge_base::{Budget, Id, StopReason};
/// use selvedge_pds::{Pds, Rhs, State, Symbol, unfold};
///
/// // A counter that calls itself with the next number, up to 9, and returns.
/// let mut pds = Pds::new(1, 11);
/// let only = State::from_index(0);
/// let start = (only, Symbol::from_index(5));
/// let heads = unfold(&mut pds, start, &Budget::new(), |pds, (state, symbol)| {
///     let next = Symbol::from_index(symbol.index() + 1);
///     let rhs = if symbol.index() < 9 { Rhs::Push(next, symbol) } else { Rhs::Pop };
///     pds.rule(state, symbol, only, rhs, ());
///     Ok::<(), StopReason>(())
/// })
/// .unwrap();
/// assert_eq!((heads.len(), pds.rules.len()), (5, 5));
/// ```
///
/// # Errors
/// Those of `make`, and the reason of a stopped budget.
pub fn unfold<L, E: From<StopReason>>(
    pds: &mut Pds<L>,
    start: Head,
    budget: &Budget,
    mut make: impl FnMut(&mut Pds<L>, Head) -> Result<(), E>,
) -> Result<Vec<Head>, E> {
    let mut summaries = Summaries::default();
    summaries.add(start, start);
    let mut rules: FxHashMap<Head, Range<usize>> = FxHashMap::default();
    let mut looks = 0usize;
    while let Some((entry, head)) = summaries.pending.pop() {
        // Also before the first one: there can be many systems, and each of them small.
        if looks.is_multiple_of(POLL_EVERY) {
            budget.charge(1 + looks.min(POLL_EVERY) as u64)?;
        }
        looks += 1;
        let range = if let Some(known) = rules.get(&head) {
            known.clone()
        } else {
            let first = pds.rules.len();
            make(pds, head)?;
            rules.insert(head, first..pds.rules.len());
            first..pds.rules.len()
        };
        for rule in range.map(RuleId::from_index) {
            let rule = &pds.rules[rule];
            debug_assert!((rule.state, rule.symbol) == head, "a rule of another head");
            summaries.apply(entry, rule.to, rule.rhs);
        }
    }
    let mut heads: Vec<Head> = rules.into_keys().collect();
    heads.sort_unstable();
    Ok(heads)
}

/// What is known of the parts of the stack.
#[derive(Default)]
struct Summaries {
    /// Heads, each with the one with which its part of the stack was pushed.
    facts: FxHashSet<(Head, Head)>,
    pending: Vec<(Head, Head)>,
    /// The control locations in which a part of the stack is popped.
    popped: FxHashMap<Head, Vec<State>>,
    pops: FxHashSet<(Head, State)>,
    /// The parts of the stack above which a part was pushed, with the symbol that is uncovered.
    callers: FxHashMap<Head, Vec<(Head, Symbol)>>,
    calls: FxHashSet<(Head, Head, Symbol)>,
}

impl Summaries {
    fn add(&mut self, entry: Head, head: Head) {
        if self.facts.insert((entry, head)) {
            self.pending.push((entry, head));
        }
    }

    fn apply(&mut self, entry: Head, to: State, rhs: Rhs) {
        match rhs {
            Rhs::Step(top) => self.add(entry, (to, top)),
            Rhs::Push(top, below) => {
                let callee = (to, top);
                self.add(callee, callee);
                if !self.calls.insert((callee, entry, below)) {
                    return;
                }
                self.callers.entry(callee).or_default().push((entry, below));
                for at in 0..self.popped.get(&callee).map_or(0, Vec::len) {
                    let state = self.popped[&callee][at];
                    self.add(entry, (state, below));
                }
            }
            Rhs::Pop => {
                if !self.pops.insert((entry, to)) {
                    return;
                }
                self.popped.entry(entry).or_default().push(to);
                for at in 0..self.callers.get(&entry).map_or(0, Vec::len) {
                    let (caller, below) = self.callers[&entry][at];
                    self.add(caller, (to, below));
                }
            }
        }
    }
}
