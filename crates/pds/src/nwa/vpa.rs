//! # Idea
//! A visibly pushdown automaton pushes at calls, pops at returns and leaves its stack alone
//! otherwise; it has the languages of nested-word automata. What one remembers in the state before a
//! call, the other pushes.
//!
//! # Source
//! Alur, Madhusudan, *Visibly Pushdown Languages* (2004), definition 1, and *Adding Nesting Structure
//! to Words* (2009), section 5.1. A return on the empty stack reads `None`.
//!
//! # Invariants
//! 1. Letters are numbered as in [`Nwa`].

use super::{Letter, Nwa, NwaState};
use selvedge_base::{Id, IdVec, define_id};
use std::collections::{BTreeMap, BTreeSet};

define_id!(
    /// A stack symbol of a visibly pushdown automaton.
    StackSymbol
);

/// A nondeterministic visibly pushdown automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vpa {
    /// The symbols with names, sorted; one more letter stands for all others.
    pub letters: IdVec<Letter, String>,
    /// The names of the states.
    pub states: IdVec<NwaState, String>,
    /// The names of the stack symbols.
    pub stack: IdVec<StackSymbol, String>,
    /// Where runs begin, on the empty stack.
    pub initial: BTreeSet<NwaState>,
    /// Where accepting runs end, on any stack.
    pub finals: BTreeSet<NwaState>,
    /// `(p, a, q)`: in `p`, an internal `a` leads to `q`.
    pub internals: BTreeSet<(NwaState, Letter, NwaState)>,
    /// `(p, a, q, γ)`: in `p`, a call `a` leads to `q` and pushes `γ`.
    pub calls: BTreeSet<(NwaState, Letter, NwaState, StackSymbol)>,
    /// `(p, γ, a, q)`: in `p`, a return `a` pops `γ`, or finds the stack empty, and leads to `q`.
    pub returns: BTreeSet<(NwaState, Option<StackSymbol>, Letter, NwaState)>,
}

impl Nwa {
    /// The visibly pushdown automaton that pushes the state before a call. Where there are several
    /// initial states, a state also knows in which of them the run began, because a return without a
    /// call reads it.
    pub fn to_vpa(&self) -> Vpa {
        let mut vpa = Vpa {
            letters: self.letters.clone(),
            states: IdVec::new(),
            stack: self.states.iter().cloned().collect(),
            initial: BTreeSet::new(),
            finals: BTreeSet::new(),
            internals: BTreeSet::new(),
            calls: BTreeSet::new(),
            returns: BTreeSet::new(),
        };
        for &begun in &self.initial {
            let offset = vpa.states.len();
            let moved = |state: NwaState| NwaState::from_index(state.index() + offset);
            for name in &self.states {
                vpa.states.push(if self.initial.len() == 1 {
                    name.clone()
                } else {
                    format!("({},{name})", self.states[begun])
                });
            }
            vpa.initial.insert(moved(begun));
            vpa.finals.extend(self.finals.iter().copied().map(moved));
            vpa.internals.extend(self.internals.iter().map(|&(p, a, q)| (moved(p), a, moved(q))));
            vpa.calls.extend(
                self.calls
                    .iter()
                    .map(|&(p, a, q)| (moved(p), a, moved(q), StackSymbol::from_index(p.index()))),
            );
            for &(p, caller, a, q) in &self.returns {
                let popped = StackSymbol::from_index(caller.index());
                vpa.returns.insert((moved(p), Some(popped), a, moved(q)));
                if caller == begun {
                    vpa.returns.insert((moved(p), None, a, moved(q)));
                }
            }
        }
        vpa
    }
}

impl Vpa {
    /// The nested-word automaton whose states also know the symbol on top of the stack: at a return
    /// the state before the call tells what was on top then.
    pub fn to_nwa(&self) -> Nwa {
        let mut nwa = Nwa::new(self.letters.iter().map(String::as_str));
        let mut ids: BTreeMap<(NwaState, Option<StackSymbol>), NwaState> = BTreeMap::new();
        for (state, name) in self.states.iter_enumerated() {
            ids.insert((state, None), nwa.state(name.clone()));
            for (symbol, top) in self.stack.iter_enumerated() {
                ids.insert((state, Some(symbol)), nwa.state(format!("({name},{top})")));
            }
        }
        let tops = || std::iter::once(None).chain(self.stack.ids().map(Some));
        nwa.initial = self.initial.iter().map(|&state| ids[&(state, None)]).collect();
        for top in tops() {
            nwa.finals.extend(self.finals.iter().map(|&state| ids[&(state, top)]));
            for &(p, a, q) in &self.internals {
                nwa.internals.insert((ids[&(p, top)], a, ids[&(q, top)]));
            }
            for &(p, a, q, pushed) in &self.calls {
                nwa.calls.insert((ids[&(p, top)], a, ids[&(q, Some(pushed))]));
            }
        }
        for &(p, popped, a, q) in &self.returns {
            if popped.is_none() {
                for &begun in &self.initial {
                    let from = (ids[&(p, None)], ids[&(begun, None)]);
                    nwa.returns.insert((from.0, from.1, a, ids[&(q, None)]));
                }
                continue;
            }
            // Whoever called, what is on top behind the return was on top before the call.
            for (&(_, top), &caller) in &ids {
                nwa.returns.insert((ids[&(p, popped)], caller, a, ids[&(q, top)]));
            }
        }
        nwa
    }
}
