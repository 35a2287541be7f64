//! Automata against the meaning of formulas, on words that repeat their last part for ever.

use selvedge_base::{Budget, Id};
use selvedge_logic::automaton;
use selvedge_logic::normal::NormalForm;
use selvedge_program::{Formula, OmegaAutomaton, Proposition, ThreadId};
use selvedge_replay::temporal::evaluate::evaluate;
use selvedge_testkit::Rng;

/// Proposition number `at`: what it is about does not matter here.
fn atom(at: usize) -> Proposition {
    Proposition::Ended(ThreadId::from_index(at))
}

fn random(rng: &mut Rng, depth: u32, atoms: usize) -> Formula {
    if depth == 0 || rng.below(6) == 0 {
        return match rng.below(8) {
            0 => Formula::Constant(rng.below(2) == 0),
            _ => Formula::Proposition(atom(rng.below(atoms))),
        };
    }
    let mut part = || random(rng, depth - 1, atoms);
    let (f, g) = (part(), part());
    match rng.below(11) {
        0 | 1 => Formula::not(f),
        2 => Formula::and(f, g),
        3 => Formula::or(f, g),
        4 => Formula::next(f),
        5 => Formula::until(f, g),
        6 => Formula::release(f, g),
        7 => Formula::weak_until(f, g),
        8 => Formula::finally(f),
        9 => Formula::globally(f),
        _ => Formula::globally(Formula::finally(f)),
    }
}

/// Whether an automaton accepts a word: a state of the product that is reached, from which a cycle that
/// meets every mark leads back to it. By closing relations under composition, so that nothing is shared
/// with the search for components.
fn accepts(automaton: &OmegaAutomaton, word: &[Vec<bool>], repeats: usize) -> bool {
    let states = automaton.states.len();
    let all = (1u64 << automaton.marks) - 1;
    let node = |position: usize, state: u32| position * states + state as usize;
    let count = word.len() * states;
    // From each node to each node: the sets of marks with which it can be done, the largest ones.
    let mut ways: Vec<Vec<Vec<u64>>> = vec![vec![Vec::new(); count]; count];
    let truth = |position: usize, atom: u32| {
        let Proposition::Ended(thread) = automaton.atoms[atom as usize] else {
            panic!("another atom")
        };
        word[position][thread.index()]
    };
    for position in 0..word.len() {
        let next = if position + 1 == word.len() { repeats } else { position + 1 };
        for (state, edges) in automaton.states.iter().enumerate() {
            for edge in edges {
                if edge.guard.iter().all(|&(atom, wanted)| truth(position, atom) == wanted) {
                    let from = node(position, state as u32);
                    insert(&mut ways[from][node(next, edge.target)], edge.marks);
                }
            }
        }
    }
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                let (first, second) = (ways[from][middle].clone(), ways[middle][to].clone());
                // A cycle through the middle may be taken as often as one likes.
                let cycle = ways[middle][middle].iter().fold(0, |all, marks| all | marks);
                for &one in &first {
                    for &two in &second {
                        insert(&mut ways[from][to], one | two);
                        insert(&mut ways[from][to], one | cycle | two);
                    }
                }
            }
        }
    }
    let start = node(0, 0);
    (0..count).any(|at| {
        let reached = at == start || !ways[start][at].is_empty();
        let cycle = ways[at][at].iter().fold(0, |all, marks| all | marks);
        reached && !ways[at][at].is_empty() && cycle == all
    })
}

fn insert(sets: &mut Vec<u64>, marks: u64) {
    if !sets.iter().any(|&other| marks & !other == 0) {
        sets.retain(|&other| other & !marks != 0);
        sets.push(marks);
    }
}

/// All words with a first part of at most `prefix` letters and a repeated one of 1 to `round`.
fn words(atoms: usize, prefix: usize, round: usize) -> Vec<(Vec<Vec<bool>>, usize)> {
    let mut found = Vec::new();
    for first in 0..=prefix {
        for repeated in 1..=round {
            let bits = (first + repeated) * atoms;
            for code in 0u64..1 << bits {
                let letter =
                    |at: usize| (0..atoms).map(move |one| code >> (at * atoms + one) & 1 == 1);
                let word = (0..first + repeated).map(|at| letter(at).collect()).collect();
                found.push((word, first));
            }
        }
    }
    found
}

fn agrees(formula: &Formula, words: &[(Vec<Vec<bool>>, usize)]) {
    let automaton = automaton(formula, &Budget::new()).expect("a small automaton");
    for (word, repeats) in words {
        let truth = |at: usize, one: &Proposition| {
            let Proposition::Ended(thread) = one else { panic!("another atom") };
            word[at][thread.index()]
        };
        let meant = evaluate(formula, word.len(), *repeats, &truth);
        assert_eq!(
            accepts(&automaton, word, *repeats),
            meant,
            "{formula:?} on {word:?} from {repeats}: {automaton:?}"
        );
    }
}

#[test]
fn automata_accept_what_formulas_mean() {
    let words = words(2, 1, 2);
    for seed in 0..150 {
        let mut rng = Rng::new(seed);
        let formula = random(&mut rng, 3, 2);
        let small = automaton(&formula, &Budget::new()).expect("a small automaton");
        if small.states.len() <= 6 {
            agrees(&formula, &words);
        }
    }
}

#[test]
fn known_formulas_on_longer_words() {
    let (p, q) = (Formula::Proposition(atom(0)), Formula::Proposition(atom(1)));
    let often = |f: &Formula| Formula::globally(Formula::finally(f.clone()));
    let words: Vec<_> = words(2, 2, 3).into_iter().step_by(29).collect();
    for formula in [
        Formula::until(p.clone(), q.clone()),
        Formula::release(p.clone(), q.clone()),
        Formula::and(often(&p), often(&q)),
        Formula::or(Formula::not(often(&p)), often(&q)),
        often(&Formula::and(p.clone(), Formula::next(q.clone()))),
        Formula::globally(Formula::or(Formula::not(p.clone()), Formula::finally(q.clone()))),
        Formula::finally(Formula::globally(p.clone())),
        Formula::next(Formula::next(p.clone())),
        Formula::weak_until(p, Formula::next(q)),
    ] {
        agrees(&formula, &words);
        agrees(&Formula::not(formula), &words);
    }
}

/// Positive normal form and automaton stay small where they can.
#[test]
fn constants_are_gone() {
    let p = Formula::Proposition(atom(0));
    let always = Formula::or(p.clone(), Formula::not(p.clone()));
    let form = NormalForm::new(&Formula::globally(always));
    assert!(matches!(form.parts[form.whole], selvedge_logic::normal::NormalPart::Constant(true)));
    let machine =
        automaton(&Formula::globally(Formula::finally(p)), &Budget::new()).expect("small");
    assert_eq!((machine.states.len(), machine.marks), (2, 1));
}

/// A limit ends the translation of a formula that would have too many states.
#[test]
fn a_large_automaton_is_refused() {
    let eventually = |at: usize| Formula::finally(Formula::Proposition(atom(at)));
    let all = (0..40).map(eventually).reduce(Formula::and).expect("some");
    let budget = Budget::with_steps(100_000);
    assert!(automaton(&all, &budget).is_err());
}
