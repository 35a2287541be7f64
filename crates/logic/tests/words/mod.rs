//! Words that repeat their last part for ever, and automata that read them, wherever these come from.

use selvedge_base::Id;
use selvedge_program::{Formula, OmegaAutomaton, Proposition, ThreadId};
use selvedge_testkit::Rng;

/// Proposition number `at`: what it is about does not matter here.
pub fn atom(at: usize) -> Proposition {
    Proposition::Ended(ThreadId::from_index(at))
}

/// The number of a proposition.
pub fn number(atom: &Proposition) -> usize {
    match atom {
        Proposition::Ended(thread) => thread.index(),
        other => panic!("another atom: {other:?}"),
    }
}

/// A random formula over two atoms with so many operators at most; without `X` if `steps` says so.
pub fn random(rng: &mut Rng, size: usize, steps: bool) -> Formula {
    if size == 0 {
        return Formula::Proposition(atom(rng.below(2)));
    }
    let left = rng.below(size);
    let one = |rng: &mut Rng| random(rng, size - 1, steps);
    let two = |rng: &mut Rng| (random(rng, left, steps), random(rng, size - 1 - left, steps));
    match rng.below(10) {
        0 => Formula::not(one(rng)),
        1 => {
            let (f, g) = two(rng);
            Formula::and(f, g)
        }
        2 => {
            let (f, g) = two(rng);
            Formula::or(f, g)
        }
        3 if steps => Formula::next(one(rng)),
        4 => {
            let (f, g) = two(rng);
            Formula::until(f, g)
        }
        5 => {
            let (f, g) = two(rng);
            Formula::release(f, g)
        }
        6 => {
            let (f, g) = two(rng);
            Formula::weak_until(f, g)
        }
        7 => Formula::finally(one(rng)),
        8 => Formula::globally(one(rng)),
        _ => Formula::globally(Formula::finally(one(rng))),
    }
}

/// A word of letters over two atoms, each a number of two bits, and where its last part begins.
pub type Lasso = (Vec<u8>, usize);

/// All words with a first part of at most `prefix` letters and a repeated one of 1 to `round`.
pub fn lassos(prefix: usize, round: usize) -> Vec<Lasso> {
    let mut found = Vec::new();
    for first in 0..=prefix {
        for repeated in 1..=round {
            let length = first + repeated;
            for code in 0u32..1 << (2 * length) {
                let word = (0..length).map(|at| (code >> (2 * at) & 3) as u8).collect();
                found.push((word, first));
            }
        }
    }
    found
}

/// An automaton: which states it may begin in, and the edges of each state: the letters that they read, as
/// bits, where they lead, and the marks that they bear.
#[derive(Debug)]
pub struct Machine {
    pub initial: Vec<usize>,
    pub edges: Vec<Vec<(u8, usize, u64)>>,
    pub marks: u64,
}

impl Machine {
    /// What [`selvedge_logic::automaton`] has made.
    pub fn of(automaton: &OmegaAutomaton) -> Self {
        let reads = |guard: &[(u32, bool)], letter: u8| {
            guard.iter().all(|&(atom, wanted)| {
                (letter >> number(&automaton.atoms[atom as usize]) & 1 == 1) == wanted
            })
        };
        let bits = |guard: &[(u32, bool)]| {
            (0u8..4).filter(|&letter| reads(guard, letter)).fold(0u8, |all, one| all | 1 << one)
        };
        let edges = automaton.states.iter().map(|edges| {
            edges.iter().map(|one| (bits(&one.guard), one.target as usize, one.marks)).collect()
        });
        Self { initial: vec![0], edges: edges.collect(), marks: (1 << automaton.marks) - 1 }
    }

    /// Whether it accepts a word. After the first part some states are reached; each round of the repeated
    /// one leads from states to states with the marks on the way; a set of states that lead to each other
    /// and have all marks on the ways between them is what is looked for.
    pub fn accepts(&self, (word, repeats): &Lasso) -> bool {
        assert!(self.edges.len() <= 128, "{} states", self.edges.len());
        let step = |from: &[(usize, u64)], letter: u8| {
            let mut next: Vec<(usize, u64)> = Vec::new();
            for &(state, marks) in from {
                for &(letters, target, more) in &self.edges[state] {
                    let reached = (target, marks | more);
                    if letters >> letter & 1 == 1 && !next.contains(&reached) {
                        next.push(reached);
                    }
                }
            }
            next
        };
        let start: Vec<(usize, u64)> = self.initial.iter().map(|&state| (state, 0)).collect();
        let first = word[..*repeats].iter().fold(start, |from, &letter| step(&from, letter));
        let count = self.edges.len();
        let rounds: Vec<Vec<(usize, u64)>> = (0..count)
            .map(|state| {
                word[*repeats..].iter().fold(vec![(state, 0)], |from, &one| step(&from, one))
            })
            .collect();
        let mut reach: Vec<u128> = rounds
            .iter()
            .map(|ways| ways.iter().fold(0, |all, &(state, _)| all | 1 << state))
            .collect();
        for middle in 0..count {
            for from in 0..count {
                if reach[from] >> middle & 1 == 1 {
                    reach[from] |= reach[middle];
                }
            }
        }
        let mut entered: u128 = 0;
        for &(state, _) in &first {
            entered |= reach[state] | 1 << state;
        }
        (0..count).filter(|&state| entered >> state & 1 == 1).any(|state| {
            let together =
                |other: usize| reach[state] >> other & 1 == 1 && reach[other] >> state & 1 == 1;
            if !together(state) {
                return false;
            }
            let inside = (0..count).filter(|&other| together(other));
            let ways = inside.flat_map(|other| rounds[other].iter()).filter(|way| together(way.0));
            ways.fold(0, |all, way| all | way.1) == self.marks
        })
    }
}

/// A Boolean expression over `p0` and `p1`, in the words of `tools`: which letters make it true, as bits.
pub fn letters(text: &str) -> u8 {
    let mut parser = Guard { rest: text.trim() };
    let found = parser.or();
    assert!(parser.rest.is_empty(), "not understood: {text}");
    found
}

struct Guard<'a> {
    rest: &'a str,
}

impl Guard<'_> {
    fn eat(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn or(&mut self) -> u8 {
        let mut all = self.and();
        while self.eat("||") {
            all |= self.and();
        }
        all
    }

    fn and(&mut self) -> u8 {
        let mut all = self.not();
        while self.eat("&&") {
            all &= self.not();
        }
        all
    }

    fn not(&mut self) -> u8 {
        if self.eat("!") {
            return !self.not() & 0b1111;
        }
        if self.eat("(") {
            let inner = self.or();
            assert!(self.eat(")"), "a bracket is missing: {}", self.rest);
            return inner;
        }
        for (word, found) in
            [("p0", 0b1010), ("p1", 0b1100), ("1", 0b1111), ("true", 0b1111), ("false", 0)]
        {
            if self.eat(word) {
                return found;
            }
        }
        panic!("not understood: {}", self.rest)
    }
}
