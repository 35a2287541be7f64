//! # Idea
//! Random restrictions: small automata, some of them nondeterministic, over some of the symbols that a
//! thread has in its code; most words can be read. And the definition of what they can read, for words
//! that are as short as those of a witness: one run after the other.

use crate::rng::Rng;
use selvedge_base::Id;
use selvedge_program::{
    Action, Program, Restriction, RestrictionLetter, RestrictionState, Sharing, StepKind,
    StepSymbol, ThreadId,
};
use std::collections::{BTreeMap, BTreeSet};

/// A random restriction of a thread.
pub fn random_restriction(rng: &mut Rng, program: &Program, thread: ThreadId) -> Restriction {
    let symbols = symbols(program, thread);
    let mut letters = BTreeMap::new();
    for _ in 0..rng.between(1, 4) {
        let symbol = symbols[rng.below(symbols.len())];
        let next = RestrictionLetter::from_index(letters.len());
        letters.entry(symbol).or_insert(next);
    }
    let other = RestrictionLetter::from_index(letters.len());
    let states = rng.between(1, 3);
    let all = || (0..states).map(RestrictionState::from_index);
    let initial = if rng.percent(20) { states.min(2) } else { 1 };
    let mut restriction = Restriction {
        thread,
        source: "random".to_owned(),
        text: String::new(),
        states,
        initial: all().take(initial).collect(),
        letters,
        other,
        internals: BTreeMap::new(),
        calls: BTreeMap::new(),
        returns: BTreeMap::new(),
    };
    // Some automata have exactly one run over every word.
    let ambiguous = if rng.percent(50) { 15 } else { 0 };
    let named = if rng.percent(50) { 60 } else { 85 };
    for from in all() {
        for letter in (0..=other.index()).map(RestrictionLetter::from_index) {
            let likely = if letter == other { 95 } else { named };
            let targets = |rng: &mut Rng| {
                let mut targets = BTreeSet::new();
                if rng.percent(likely) {
                    targets.insert(RestrictionState::from_index(rng.below(states)));
                }
                if rng.percent(ambiguous) {
                    targets.insert(RestrictionState::from_index(rng.below(states)));
                }
                targets
            };
            restriction.internals.insert((from, letter), targets(rng).into_iter().collect());
            restriction.calls.insert((from, letter), targets(rng).into_iter().collect());
            let mut returns = Vec::new();
            for call in all() {
                returns.extend(targets(rng).into_iter().map(|target| (call, target)));
            }
            restriction.returns.insert((from, letter), returns);
        }
    }
    restriction
}

/// The symbols of a thread's steps, as far as its code tells.
pub fn symbols(program: &Program, thread: ThreadId) -> Vec<StepSymbol> {
    let sharing = Sharing::new(program);
    let own: BTreeSet<_> = sharing.procedures(thread).iter().copied().collect();
    let mut symbols = BTreeSet::from([StepSymbol::Did(StepKind::Step)]);
    symbols.extend(own.iter().map(|&procedure| StepSymbol::Did(StepKind::Return(procedure))));
    for edge in program.edges.iter().filter(|edge| own.contains(&program.nodes[edge.source])) {
        symbols.insert(StepSymbol::Did(match edge.action {
            Action::Read(location) => StepKind::Read(location),
            Action::Write(location) => StepKind::Write(location),
            Action::Acquire(lock) => StepKind::Acquire(lock),
            Action::Release(lock) => StepKind::Release(lock),
            Action::BeginUnit => StepKind::BeginUnit,
            Action::EndUnit => StepKind::EndUnit,
            Action::Call(callee) => StepKind::Call(callee),
            Action::Start(started) => StepKind::Start(started),
            Action::Join(joined) => StepKind::Join(joined),
            Action::Send(channel) => StepKind::Send(channel),
            Action::Post(channel) => StepKind::Post(channel),
            Action::Broadcast(channel) => StepKind::Broadcast(channel),
            Action::Recv(channel) => {
                symbols.insert(StepSymbol::Received(channel));
                continue;
            }
            _ => StepKind::Step,
        }));
    }
    symbols.into_iter().collect()
}

/// Whether some run of the automaton reads the word, by trying all of them.
pub fn reads(restriction: &Restriction, word: &[StepSymbol]) -> bool {
    restriction.initial.iter().any(|&initial| run(restriction, word, initial, initial, &mut vec![]))
}

fn run(
    restriction: &Restriction,
    word: &[StepSymbol],
    initial: RestrictionState,
    state: RestrictionState,
    open: &mut Vec<RestrictionState>,
) -> bool {
    let Some((&step, rest)) = word.split_first() else { return true };
    let key = (state, restriction.letter(step));
    match step {
        StepSymbol::Did(StepKind::Call(_)) => {
            restriction.calls.get(&key).into_iter().flatten().any(|&next| {
                open.push(state);
                let found = run(restriction, rest, initial, next, open);
                open.pop();
                found
            })
        }
        StepSymbol::Did(StepKind::Return(_)) => {
            let call = open.pop();
            let before = call.unwrap_or(initial);
            let next = restriction.returns.get(&key).into_iter().flatten();
            let mut next = next.filter(|(call, _)| *call == before);
            let found = next.any(|&(_, next)| run(restriction, rest, initial, next, open));
            open.extend(call);
            found
        }
        _ => {
            let mut next = restriction.internals.get(&key).into_iter().flatten();
            next.any(|&next| run(restriction, rest, initial, next, open))
        }
    }
}
