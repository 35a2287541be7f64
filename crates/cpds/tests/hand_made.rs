//! Three communicating systems by hand: one that is empty with k = 3, one with a word that is found
//! with k = 5, and one that is never decided; and the pair of languages that prefixes alone never
//! tell apart.

use selvedge_base::{Budget, Id};
use selvedge_cpds::{
    Abstraction, CommunicatingSystem, ComponentAutomaton, ComponentId, ComponentLanguage,
    Emptiness, PushdownComponent, RefineOptions, Refinement, Refiner, SharedAction,
};
use selvedge_pds::{Rhs, Symbol};

fn action(at: usize) -> SharedAction {
    SharedAction::from_index(at)
}

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
const D: usize = 3;

fn symbol(at: usize) -> Symbol {
    Symbol::from_index(at)
}

/// A component that does `before` and calls a procedure, after which it does `behind` and stays. The procedure
/// does `first`, then calls itself or not, then does `then`, and returns.
fn nested(
    before: &[usize],
    first: &[usize],
    then: &[usize],
    behind: &[usize],
) -> PushdownComponent {
    let [entry, exit, bottom] = [0, 1, 2].map(symbol);
    let mut component = PushdownComponent::new(64, symbol(3));
    let mut next = 4;
    // A chain of actions between two symbols.
    let mut chain =
        |component: &mut PushdownComponent, from: Symbol, word: &[usize], to: Symbol| {
            let mut at = from;
            for (done, &one) in word.iter().enumerate() {
                let target = if done + 1 == word.len() {
                    to
                } else {
                    next += 1;
                    symbol(next - 1)
                };
                component.rule(at, Some(action(one)), Rhs::Step(target));
                at = target;
            }
            if word.is_empty() {
                component.rule(from, None, Rhs::Step(to));
            }
        };
    let [call, middle, end, after] = [60, 61, 62, 63].map(symbol);
    chain(&mut component, symbol(3), before, call);
    component.rule(call, None, Rhs::Push(entry, bottom));
    chain(&mut component, entry, first, middle);
    component.rule(middle, None, Rhs::Push(entry, end));
    component.rule(middle, None, Rhs::Step(end));
    chain(&mut component, end, then, exit);
    component.rule(exit, None, Rhs::Pop);
    chain(&mut component, bottom, behind, after);
    component
}

/// These components, all of which know a, b, c and d, and an automaton that wants the words in which
/// these letters have come, in this order.
fn system(components: Vec<PushdownComponent>, wanted: &[usize]) -> CommunicatingSystem {
    let mut system = CommunicatingSystem::default();
    for (at, component) in components.into_iter().enumerate() {
        system.add(format!("P{at}"), ComponentLanguage::Pushdown(component));
    }
    let mut automaton = ComponentAutomaton::default();
    for at in 0..=wanted.len() {
        let target = |letter: usize| {
            if wanted.get(at) == Some(&letter) { at as u32 + 1 } else { at as u32 }
        };
        automaton.rows.push((0..4).map(|letter| (action(letter), target(letter))).collect());
        automaton.accepting.push(at == wanted.len());
    }
    system.add("wanted", ComponentLanguage::Regular(automaton));
    let all: Vec<ComponentId> = system.components.ids().collect();
    for _ in 0..4 {
        system.action(all.clone());
    }
    system
}

fn decide(system: &CommunicatingSystem, abstraction: Abstraction, max_k: u32) -> Refinement {
    let options = RefineOptions { abstraction, max_k: Some(max_k), ..RefineOptions::default() };
    Refiner::decide(system, options, &Budget::new())
}

fn most(found: &Refinement) -> u32 {
    found.k.iter().map(|&(_, k)| k).max().expect("something is approximated")
}

#[test]
fn empty_with_three_known_actions() {
    // a^n b^n, and words that begin with a b b.
    let components = vec![nested(&[], &[A], &[B], &[]), nested(&[A, B, B], &[A], &[B], &[])];
    let system = system(components, &[B, B]);
    let found = decide(&system, Abstraction::Prefix, 20);
    assert_eq!((&found.emptiness, most(&found)), (&Emptiness::Empty, 3));
    assert_eq!(decide(&system, Abstraction::Both, 20).emptiness, Emptiness::Empty);
    // With fewer known actions it is open.
    let open = decide(&system, Abstraction::Prefix, 2);
    assert_eq!((open.emptiness, open.fewer), (Emptiness::Open(None), 2));
}

#[test]
fn a_word_with_five_known_actions() {
    // a a^n b^n b d, twice.
    let component = || nested(&[A], &[A], &[B], &[B, D]);
    let system = system(vec![component(), component()], &[D]);
    let word: Vec<SharedAction> = [A, A, B, B, D].map(action).to_vec();
    let found = decide(&system, Abstraction::Prefix, 20);
    assert_eq!((&found.emptiness, most(&found)), (&Emptiness::Word(word.clone()), 5));
    assert_eq!(found.refinements, 3);
    assert_eq!(decide(&system, Abstraction::Both, 20).emptiness, Emptiness::Word(word));
}

#[test]
fn never_decided() {
    // a^n b^n d, and a^n b^n b d.
    let components = vec![nested(&[], &[A], &[B], &[D]), nested(&[], &[A], &[B], &[B, D])];
    let system = system(components, &[D]);
    for abstraction in [Abstraction::Prefix, Abstraction::Both] {
        for k in [4, 8, 12] {
            let found = decide(&system, abstraction, k);
            assert_eq!(found.emptiness, Emptiness::Open(None), "{abstraction:?}");
            assert_eq!((found.fewer, most(&found)), (k, k), "{abstraction:?}");
        }
    }
}

/// (ab)*c against (ab)*d: every prefix of them is common, and stacks tell them apart at once.
#[test]
fn prefixes_alone_never_tell_them_apart() {
    let components = vec![nested(&[], &[A, B], &[], &[C]), nested(&[], &[A, B], &[], &[D])];
    let system = system(components, &[C]);
    let open = decide(&system, Abstraction::Prefix, 15);
    assert_eq!((open.emptiness, open.fewer), (Emptiness::Open(None), 15));
    let found = decide(&system, Abstraction::Both, 15);
    assert_eq!(found.emptiness, Emptiness::Empty);
    assert!(most(&found) <= 3, "{found:?}");
}

#[test]
fn a_limit_stops_within_a_round() {
    let components = vec![nested(&[], &[A], &[B], &[D]), nested(&[], &[A], &[B], &[B, D])];
    let system = system(components, &[D]);
    let whole = Budget::with_steps(u64::MAX);
    let options = RefineOptions { max_k: Some(6), ..RefineOptions::default() };
    Refiner::decide(&system, options, &whole);
    let mut excluded = 0;
    for polls in 1..whole.polls() {
        let budget = Budget::with_steps(polls);
        let found = Refiner::decide(&system, options, &budget);
        assert!(matches!(found.emptiness, Emptiness::Open(Some(_))), "{polls}: {found:?}");
        assert!(budget.polls() <= polls + 4, "{polls}");
        assert!(excluded <= found.fewer, "what is excluded stays so");
        excluded = found.fewer;
    }
    assert!(excluded > 2, "{excluded}");
}
