//! Chains against the meaning of formulas, on all words with at most three letters before a part of at most
//! three that repeats for ever, over three atoms. A truth value is a table with a bit for every word of a
//! shape, so that all words are looked at at once.

use selvedge_base::{Budget, Id};
use selvedge_logic::fragment::{Fragment, fragment};
use selvedge_logic::{NoChains, chains};
use selvedge_program::{
    Chain, ChainLink, ChainWindow, Formula, Proposition, StepCondition, ThreadId,
};
use selvedge_testkit::Rng;

const ATOMS: usize = 3;

/// The first two atoms are about moments, the third is about steps.
fn atom(at: usize) -> Proposition {
    let thread = ThreadId::from_index(at);
    if at == 2 { Proposition::Takes(thread, None) } else { Proposition::Ended(thread) }
}

fn proposition(at: usize) -> Formula {
    Formula::Proposition(atom(at))
}

/// A bit for every word.
type Table = Vec<u64>;

/// The words with so many letters, the last of which goes on at letter `repeats`.
struct Words {
    letters: usize,
    repeats: usize,
}

impl Words {
    fn all() -> impl Iterator<Item = Self> {
        let shapes = (0..=3).flat_map(|first| (1..=3).map(move |round| (first, round)));
        shapes.map(|(first, round)| Self { letters: first + round, repeats: first })
    }

    fn next(&self, at: usize) -> usize {
        if at + 1 == self.letters { self.repeats } else { at + 1 }
    }

    fn constant(&self, value: bool) -> Table {
        let bits = 1usize << (self.letters * ATOMS);
        vec![if value { u64::MAX } else { 0 }; bits.div_ceil(64)]
    }

    /// The words that have an atom at a letter.
    fn atom(&self, at: usize, atom: usize) -> Table {
        let bit = at * ATOMS + atom;
        let low = (0..64).filter(|place| place >> bit & 1 == 1);
        let low = if bit < 6 { low.fold(0, |all, place| all | 1u64 << place) } else { 0 };
        let mut table = self.constant(false);
        for (index, word) in table.iter_mut().enumerate() {
            *word = if bit < 6 {
                low
            } else if index >> (bit - 6) & 1 == 1 {
                u64::MAX
            } else {
                0
            };
        }
        table
    }

    /// The truth of a formula at every letter.
    fn formula(&self, formula: &Formula) -> Vec<Table> {
        let zip = |f: &Formula, g: &Formula, with: fn(u64, u64) -> u64| {
            let pairs = self.formula(f).into_iter().zip(self.formula(g));
            pairs.map(|(f, g)| combine(&f, &g, with)).collect()
        };
        match formula {
            Formula::Constant(value) => vec![self.constant(*value); self.letters],
            Formula::Proposition(Proposition::Ended(thread) | Proposition::Takes(thread, None)) => {
                (0..self.letters).map(|at| self.atom(at, thread.index())).collect()
            }
            Formula::Proposition(_) => panic!("another atom"),
            Formula::Not(f) => {
                let negated = |table: Table| table.iter().map(|word| !word).collect();
                self.formula(f).into_iter().map(negated).collect()
            }
            Formula::And(f, g) => zip(f, g, |f, g| f & g),
            Formula::Or(f, g) => zip(f, g, |f, g| f | g),
            Formula::Next(f) => {
                let f = self.formula(f);
                (0..self.letters).map(|at| f[self.next(at)].clone()).collect()
            }
            Formula::Until(f, g) | Formula::Release(f, g) => {
                let is_until = matches!(formula, Formula::Until(..));
                let (f, g) = (self.formula(f), self.formula(g));
                let mut truth = vec![self.constant(!is_until); self.letters];
                for at in (0..self.letters).rev().chain((0..self.letters).rev()) {
                    let later = truth[self.next(at)].clone();
                    truth[at] = if is_until {
                        combine(&g[at], &combine(&f[at], &later, |f, t| f & t), |g, t| g | t)
                    } else {
                        combine(&g[at], &combine(&f[at], &later, |f, t| f | t), |g, t| g & t)
                    };
                }
                truth
            }
        }
    }

    /// The words of which a chain is true.
    fn chain(&self, chain: &Chain) -> Table {
        assert_eq!(chain.points.len(), chain.links.len() + 1);
        let last = chain.points.len() - 1;
        let mut truth = self.formula(&chain.points[last]);
        for at in (0..last).rev() {
            let here = self.formula(&chain.points[at]);
            let behind: Vec<Table> = match &chain.links[at] {
                ChainLink::Any => (0..self.letters)
                    .map(|from| {
                        // Every letter that comes at or behind this one.
                        let first = if from < self.repeats { from } else { self.repeats };
                        let some = truth[first..].iter();
                        some.fold(self.constant(false), |any, t| combine(&any, t, |a, b| a | b))
                    })
                    .collect(),
                ChainLink::One(step) => self.one_step(&truth, step),
            };
            truth = here.iter().zip(&behind).map(|(a, b)| combine(a, b, |a, b| a & b)).collect();
        }
        let windows = chain.windows.iter().map(|window| self.window(window));
        windows.fold(truth.swap_remove(0), |all, window| combine(&all, &window, |a, b| a & b))
    }

    /// What is true a step later, where the step is of these threads.
    fn one_step(&self, truth: &[Table], said: &StepCondition) -> Vec<Table> {
        let taken = |at: usize| {
            let later = truth[self.next(at)].clone();
            said.iter().fold(later, |all, (thread, _)| {
                combine(&all, &self.atom(at, thread.index()), |a, b| a & b)
            })
        };
        (0..self.letters).map(taken).collect()
    }

    fn window(&self, window: &ChainWindow) -> Table {
        let last = window.points.len() - 1;
        let mut truth = self.formula(&window.points[last]);
        for at in (0..last).rev() {
            let behind = self.one_step(&truth, &window.steps[at]);
            let here = self.formula(&window.points[at]);
            truth = here.iter().zip(&behind).map(|(a, b)| combine(a, b, |a, b| a & b)).collect();
        }
        let again = truth[self.repeats..].iter();
        again.fold(self.constant(false), |any, t| combine(&any, t, |a, b| a | b))
    }
}

fn combine(a: &Table, b: &Table, with: fn(u64, u64) -> u64) -> Table {
    a.iter().zip(b).map(|(&a, &b)| with(a, b)).collect()
}

/// A formula with `F`, `X`, `GF`, and, or.
fn random(rng: &mut Rng, depth: u32) -> Formula {
    if depth == 0 || rng.below(7) == 0 {
        let atom = proposition(rng.below(ATOMS));
        let is_step = matches!(atom, Formula::Proposition(Proposition::Takes(..)));
        return if !is_step && rng.below(3) == 0 { Formula::not(atom) } else { atom };
    }
    let mut part = || random(rng, depth - 1);
    let (f, g) = (part(), part());
    match rng.below(9) {
        0..=2 => Formula::and(f, g),
        3 => Formula::or(f, g),
        4 => Formula::next(f),
        5 | 6 => Formula::finally(f),
        7 => Formula::globally(Formula::finally(f)),
        _ => {
            let thread = rng.below(2);
            local(rng, 2, thread)
        }
    }
}

/// A formula without `X` about one thread.
fn local(rng: &mut Rng, depth: u32, thread: usize) -> Formula {
    if depth == 0 {
        let atom = proposition(thread);
        return if rng.below(2) == 0 { Formula::not(atom) } else { atom };
    }
    let mut part = || local(rng, depth - 1, thread);
    let (f, g) = (part(), part());
    match rng.below(5) {
        0 => Formula::until(f, g),
        1 => Formula::release(f, g),
        2 => Formula::globally(f),
        3 => Formula::finally(f),
        _ => Formula::or(f, g),
    }
}

fn agrees(formula: &Formula, found: &[Chain]) {
    for words in Words::all() {
        let meant = words.formula(formula).swap_remove(0);
        let none = words.constant(false);
        let said =
            found.iter().fold(none, |any, chain| combine(&any, &words.chain(chain), |a, b| a | b));
        // Only words of fewer than 64 bits leave a part of a table unused.
        let bits = 1usize << (words.letters * ATOMS);
        let used = if bits < 64 { (1 << bits) - 1 } else { u64::MAX };
        assert!(
            meant.iter().zip(&said).all(|(a, b)| (a ^ b) & used == 0),
            "{formula:?} is not {found:?} on {} letters, repeated from {}",
            words.letters,
            words.repeats
        );
    }
}

#[test]
fn chains_mean_what_their_formula_means() {
    let (mut chained, mut windows, mut steps, mut longest) = (0, 0, 0, 0);
    for seed in 0..300 {
        let formula = random(&mut Rng::new(seed), 4);
        let found = match chains(&formula, 60, &Budget::new()) {
            Ok(found) => found,
            Err(NoChains::TooMany(_)) => continue,
            Err(why) => panic!("{why}: {formula:?}"),
        };
        assert_eq!(fragment(&formula), Fragment::Chains, "{formula:?}");
        agrees(&formula, &found);
        chained += 1;
        windows += found.iter().map(|chain| chain.windows.len()).sum::<usize>();
        let links = || found.iter().flat_map(|chain| &chain.links);
        steps +=
            links().filter(|link| matches!(link, ChainLink::One(said) if !said.is_empty())).count();
        longest = longest.max(found.iter().map(|chain| chain.points.len()).max().unwrap_or(0));
    }
    let counts = format!("{chained} formulas, {windows} windows, {steps} steps, longest {longest}");
    assert!(chained > 250 && windows > 100 && steps > 100 && longest > 4, "{counts}");
}

#[test]
fn known_normal_forms() {
    let (p, q) = (proposition(0), proposition(1));
    let finally = |f: &Formula| Formula::finally(f.clone());
    let again = |f: &Formula| Formula::globally(finally(f));
    let budget = Budget::new();
    // Two things that happen, in either order.
    let both = Formula::and(finally(&p), finally(&q));
    let found = chains(&both, 10, &budget).unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|chain| chain.points.len() == 3), "{found:?}");
    // A window that 003 has no case for.
    let window = again(&Formula::and(p.clone(), Formula::next(q.clone())));
    let found = chains(&Formula::finally(window), 10, &budget).unwrap();
    let expected = ChainWindow { points: vec![p.clone(), q.clone()], steps: vec![Vec::new()] };
    let chain =
        Chain { points: vec![Formula::Constant(true)], links: Vec::new(), windows: vec![expected] };
    assert_eq!(found, [chain]);
    // What happens later again and again need not happen together.
    let apart = again(&Formula::and(p.clone(), finally(&q)));
    assert_eq!(
        chains(&apart, 10, &budget),
        chains(&Formula::and(again(&p), again(&q)), 10, &budget)
    );
    // Combinations of atoms stay as they are.
    let either = Formula::finally(Formula::or(p.clone(), q.clone()));
    assert_eq!(chains(&either, 10, &budget).unwrap().len(), 1);
}

#[test]
fn what_chains_cannot_say_and_what_is_too_much() {
    let (p, q) = (proposition(0), proposition(1));
    let budget = Budget::new();
    for formula in [
        Formula::globally(Formula::or(p.clone(), q.clone())),
        Formula::globally(Formula::or(p.clone(), Formula::next(p.clone()))),
        Formula::until(p.clone(), q.clone()),
        Formula::not(proposition(2)),
        Formula::globally(Formula::or(p.clone(), Formula::finally(q.clone()))),
    ] {
        assert_eq!(chains(&formula, 10, &budget), Err(NoChains::Shape), "{formula:?}");
    }
    // What is about one thread alone is one condition, unless it has an `X`.
    let alone = Formula::globally(Formula::or(p.clone(), Formula::globally(Formula::not(p))));
    assert_eq!(chains(&alone, 10, &budget).unwrap()[0].points.len(), 1);
    // Eight threads that are somewhere at some time: 8! orders.
    let some = (0..8).map(|at| {
        Formula::finally(Formula::Proposition(Proposition::Ended(ThreadId::from_index(at))))
    });
    let all = some.reduce(Formula::and).unwrap();
    assert_eq!(chains(&all, 10_000, &budget), Err(NoChains::TooMany(10_000)));
    assert_eq!(chains(&all, 100_000, &budget).unwrap().len(), 40_320);
    let short = Budget::with_steps(100);
    assert!(matches!(chains(&all, 100_000, &short), Err(NoChains::Stopped(_))));
}
