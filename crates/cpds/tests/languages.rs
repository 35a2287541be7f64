//! What is made of a pushdown component, against the definition, on random ones: reduction keeps the
//! words, prefixes are exact below their length and cover what is longer, stacks cover all words and
//! are exact without recursion, and runs do the words that they are for.

use selvedge_base::{Budget, Id};
use selvedge_cpds::automata::{AutomatonKind, LazyAutomaton, PairedAutomaton};
use selvedge_cpds::prefixes::PrefixAutomaton;
use selvedge_cpds::stacks::StackAutomaton;
use selvedge_cpds::{PushdownComponent, SharedAction};
use selvedge_pds::random::Random;
use selvedge_pds::{Configuration, Rhs, State, Symbol};
use std::collections::BTreeSet;
use std::rc::Rc;

const LETTERS: usize = 2;
const LONGEST: usize = 5;

/// A component with a few symbols; the one at the bottom is not popped.
fn random_component(random: &mut Random, recursive: bool) -> PushdownComponent {
    let symbols = 2 + random.below(6);
    let bottom = Symbol::from_index(symbols);
    let start = Symbol::from_index(symbols + 1);
    let mut component = PushdownComponent::new(symbols + 2, start);
    component.rule(start, None, Rhs::Push(Symbol::from_index(0), bottom));
    for _ in 0..symbols + random.below(2 * symbols) {
        let from = random.below(symbols);
        // Without recursion, a call goes to a symbol that is larger, and so does every step behind.
        let least = if recursive { 0 } else { from + 1 };
        let some = |random: &mut Random| {
            (least < symbols).then(|| Symbol::from_index(least + random.below(symbols - least)))
        };
        let letter = random.below(LETTERS + 1);
        let action = (letter < LETTERS).then(|| SharedAction::from_index(letter));
        let rhs = match random.below(4) {
            0 => Some(Rhs::Pop),
            1 => some(random).zip(some(random)).map(|(top, below)| Rhs::Push(top, below)),
            _ => some(random).map(Rhs::Step),
        };
        if let Some(rhs) = rhs {
            component.rule(Symbol::from_index(from), action, rhs);
        }
    }
    component
}

fn words() -> Vec<Vec<SharedAction>> {
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..LONGEST {
        last = last
            .iter()
            .flat_map(|word| {
                (0..LETTERS).map(move |letter| {
                    let mut longer: Vec<SharedAction> = word.clone();
                    longer.push(SharedAction::from_index(letter));
                    longer
                })
            })
            .collect();
        all.extend(last.clone());
    }
    all
}

/// The words of all runs whose stacks stay below a height, by following them.
fn naive(component: &PushdownComponent) -> BTreeSet<Vec<SharedAction>> {
    let state = State::from_index(0);
    let first = (Vec::new(), Configuration { state, stack: vec![component.entry] });
    let mut seen = BTreeSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some((word, configuration)) = open.pop() {
        for (rule, next) in component.pds.successors(&configuration) {
            let mut longer = word.clone();
            longer.extend(component.pds.rules[rule].label);
            let item = (longer, next);
            if item.0.len() <= LONGEST && item.1.stack.len() <= 7 && seen.insert(item.clone()) {
                open.push(item);
            }
        }
    }
    seen.into_iter().map(|(word, _)| word).collect()
}

/// Whether an automaton reads a word, and whether it says that the component can do it.
fn reads(automaton: &mut LazyAutomaton, word: &[SharedAction]) -> Option<bool> {
    let budget = Budget::new();
    let mut state = automaton.first(&budget).expect("no limit");
    for action in word {
        let row = automaton.row(state, &budget).expect("no limit");
        state = row.iter().find(|(one, _)| one == action)?.1;
    }
    Some(automaton.is_exact(state))
}

#[test]
fn languages_are_what_they_are_by_definition() {
    let (all, budget) = (words(), Budget::new());
    let mut recursive = 0;
    for seed in 0..250 {
        let mut random = Random::new(seed);
        let component = random_component(&mut random, seed % 3 != 0);
        let reduced = component.reduced(&budget).expect("no limit");
        recursive += usize::from(reduced.is_recursive());
        let k = 1 + random.below(LONGEST);
        let depth = 1 + random.below(3);
        let alphabet: Vec<SharedAction> = (0..LETTERS).map(SharedAction::from_index).collect();
        let shared = Rc::new(reduced.clone());
        let prefixes = |of: &PushdownComponent| {
            PrefixAutomaton::new(of, alphabet.clone(), k, 100_000, &budget).expect("no limit")
        };
        let stacks = |depth| StackAutomaton::new(Rc::clone(&shared), depth, usize::MAX);
        let mut words = LazyAutomaton::new(AutomatonKind::Words(prefixes(&reduced)));
        let mut tops = LazyAutomaton::new(AutomatonKind::Stacks(stacks(Some(depth))));
        let both = PairedAutomaton::new(prefixes(&reduced), stacks(Some(depth)));
        let mut both = LazyAutomaton::new(AutomatonKind::Both(Box::new(both)));
        let exact = !shared.is_recursive();
        let mut whole = LazyAutomaton::new(AutomatonKind::Stacks(stacks(None)));
        let naive = naive(&component);
        for word in &all {
            let what = format!("seed {seed}, k = {k}, depth {depth}: {word:?}");
            let done = component.accepted(word, &budget).expect("no limit");
            let is_done = done == word.len();
            assert!(is_done || !naive.contains(word), "{what}");
            if exact && !component.is_recursive() {
                assert_eq!(is_done, naive.contains(word), "{what}");
            }
            assert_eq!(reduced.accepted(word, &budget), Ok(done), "{what}: reduction");
            // The first k letters decide; what is shorter is exact.
            let known = word.len().min(k);
            let expected = (done >= known).then_some(word.len() < k);
            assert_eq!(reads(&mut words, word), expected, "{what}: prefixes");
            assert!(!is_done || reads(&mut tops, word).is_some(), "{what}: stacks");
            let paired = reads(&mut both, word);
            assert!(!is_done || paired.is_some(), "{what}: both");
            assert!(paired.is_none() || expected.is_some(), "{what}: both have the prefixes");
            if exact {
                assert_eq!(reads(&mut whole, word).is_some(), is_done, "{what}: whole stacks");
            }
            let run = component.run(word, 10_000, &budget);
            assert_eq!(run.is_ok(), is_done, "{what}: run");
            if let Ok(run) = run {
                let rules = run.iter().filter_map(|&rule| component.pds.rules[rule].label);
                assert_eq!(&rules.collect::<Vec<_>>(), word, "{what}: run");
                let stack = vec![component.entry];
                let start = Configuration { state: State::from_index(0), stack };
                assert!(component.pds.replay(&start, &run).is_ok(), "{what}: run");
            }
        }
    }
    assert!(recursive > 50, "{recursive} recursive components");
}
