//! Steps commute as their mover types say (paper 002, Appendix A, conditions A3 and A4; Appendix B, Lemmas
//! B.3 and B.4), on the states of random programs: a right mover can be delayed behind any step of
//! another thread, a left mover be advanced before it, with the same outcome; and what fails behind
//! a right mover fails before it, too.

use selvedge_base::Budget;
use selvedge_program::{Program, ThreadId, text};
use selvedge_states::state::State;
use selvedge_states::{
    Code, Goal, Mover, Offer, ProtectionRule, Reduction, SearchEnd, SearchOptions, StateSearch,
};
use selvedge_testkit::Rng;
use selvedge_testkit::typed::{TypedShape, random_typed};
use std::collections::BTreeSet;

/// How many states of a program are looked at.
const MOST: usize = 150;

/// What was looked at: right movers and left movers with a step of another thread.
#[derive(Default, Debug)]
struct Tally {
    right: usize,
    left: usize,
}

/// A search that has seen all accesses, so that no class loses its status any more.
struct Searched<'s, 'c, 'p> {
    search: &'s mut StateSearch<'c, 'p>,
}

impl Searched<'_, '_, '_> {
    fn offers(&self, state: &State, thread: ThreadId) -> Vec<Offer> {
        self.search.machine.offers(state, thread).expect("programs are small")
    }

    fn mover(&mut self, thread: ThreadId, offer: &Offer) -> Mover {
        let losses = self.search.protection.losses;
        let mover = offer.mover.and(self.search.protection.register(thread, &offer.accesses));
        assert_eq!(self.search.protection.losses, losses, "all accesses were seen");
        mover
    }

    /// The states to which steps of a thread lead.
    fn nexts(&self, offers: &[Offer]) -> Vec<State> {
        let ends = offers.iter().flat_map(|offer| &offer.outcomes);
        let ends = ends.map(|path| &path.last().expect("an outcome has a step").1);
        ends.map(|state| self.search.machine.normalise(state)).collect()
    }

    fn after(&self, state: &State, thread: ThreadId) -> Vec<State> {
        self.nexts(&self.offers(state, thread))
    }
}

fn check(program: &Program, rule: ProtectionRule, seed: u64, tally: &mut Tally) {
    let code = Code::new(program, &BTreeSet::new());
    let options = SearchOptions {
        reduction: Reduction::None,
        protection: rule,
        most_states: 20_000,
        ..SearchOptions::default()
    };
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    search.collect = true;
    // It takes steps without noting what they access.
    search.executor = None;
    if !matches!(search.run(), SearchEnd::Complete) {
        return;
    }
    let every = search.store.count().div_ceil(MOST);
    let numbers = (0..search.store.count()).step_by(every);
    let states: Vec<State> =
        numbers.map(|number| search.packing.unpack(search.store.packed(number as u32))).collect();
    let mut all = Searched { search: &mut search };
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let context = |what: &str| format!("{what}, seed {seed}\n{}", text::print(program));
    for state in &states {
        for &one in &threads {
            for &other in threads.iter().filter(|&&other| other != one) {
                for offer in all.offers(state, one) {
                    if !all.mover(one, &offer).right {
                        continue;
                    }
                    // First a right mover of `one`, then `other`: `other` could have gone first.
                    for between in all.nexts(std::slice::from_ref(&offer)) {
                        let first = all.offers(state, other);
                        let swapped: Vec<State> = all.nexts(&first);
                        let swapped: Vec<State> =
                            swapped.iter().flat_map(|next| all.after(next, one)).collect();
                        let then = all.offers(&between, other);
                        for end in all.nexts(&then) {
                            assert!(swapped.contains(&end), "{}", context("right mover"));
                            tally.right += 1;
                        }
                        for (before, behind) in first.iter().zip(&then) {
                            let fails = |offer: &Offer| !offer.failures.is_empty();
                            assert!(!fails(behind) || fails(before), "{}", context("failure"));
                        }
                    }
                }
                // First `other`, then a left mover of `one`: it could have gone first. A thread that was not
                // started is in no transaction, and one that is about to do something else, if only to
                // wait for the end of another, is interrupted.
                let standing = all.offers(state, one);
                if standing.is_empty() || standing.iter().any(|offer| !all.mover(one, offer).left) {
                    continue;
                }
                for between in all.after(state, other) {
                    for offer in all.offers(&between, one) {
                        if !all.mover(one, &offer).left {
                            continue;
                        }
                        let first = all.after(state, one);
                        let swapped: Vec<State> =
                            first.iter().flat_map(|next| all.after(next, other)).collect();
                        for end in all.nexts(std::slice::from_ref(&offer)) {
                            assert!(swapped.contains(&end), "{}", context("left mover"));
                            tally.left += 1;
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn movers_commute() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(60);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(200_000);
    let mut tally = Tally::default();
    for seed in first..first + programs {
        let shape = TypedShape {
            threads: 2 + usize::from(seed % 3 == 0),
            statements: if seed % 3 == 0 { 2 } else { 4 },
            disciplined: seed % 2 == 0,
            annotated: seed % 5 == 0,
        };
        let program = random_typed(&mut Rng::new(seed), shape);
        let rules = [ProtectionRule::Classes, ProtectionRule::Paper];
        check(&program, rules[(seed / 2 % 2) as usize], seed, &mut tally);
    }
    assert!(tally.right > 1000 && tally.left > 1000, "{tally:?}");
}
