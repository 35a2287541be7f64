//! Nested-word automata against the definition, by all words up to a length.

use selvedge_base::{Budget, Id, StopReason};
use selvedge_pds::nwa::emptiness::Shortest;
use selvedge_pds::nwa::vpa::StackSymbol;
use selvedge_pds::nwa::{Letter, Nested, Nwa, NwaError, NwaLimits, NwaState, Vpa};
use selvedge_pds::random::Random;

const LIMITS: NwaLimits = NwaLimits { states: 100_000, word: 1000 };

/// All nested words over `letters` letters with at most `longest` positions, shortest first.
fn words(letters: usize, longest: usize) -> Vec<Vec<Nested>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = all.len();
        for at in from..to {
            for letter in (0..letters).map(Letter::from_index) {
                for next in [Nested::Internal(letter), Nested::Call(letter), Nested::Return(letter)]
                {
                    let mut word = all[at].clone();
                    word.push(next);
                    all.push(word);
                }
            }
        }
        from = to;
    }
    all
}

/// Whether some run accepts the word, by trying all of them.
fn accepts(nwa: &Nwa, word: &[Nested]) -> bool {
    fn goes_on(
        nwa: &Nwa,
        begun: NwaState,
        state: NwaState,
        open: &mut Vec<NwaState>,
        word: &[Nested],
    ) -> bool {
        let Some((&first, rest)) = word.split_first() else { return nwa.finals.contains(&state) };
        match first {
            Nested::Internal(letter) => nwa
                .internals
                .iter()
                .any(|&(p, a, q)| p == state && a == letter && goes_on(nwa, begun, q, open, rest)),
            Nested::Call(letter) => nwa.calls.iter().any(|&(p, a, q)| {
                if p != state || a != letter {
                    return false;
                }
                open.push(state);
                let accepted = goes_on(nwa, begun, q, open, rest);
                open.pop();
                accepted
            }),
            Nested::Return(letter) => {
                let popped = open.pop();
                let caller = popped.unwrap_or(begun);
                let accepted = nwa.returns.iter().any(|&(p, c, a, q)| {
                    p == state && c == caller && a == letter && goes_on(nwa, begun, q, open, rest)
                });
                open.extend(popped);
                accepted
            }
        }
    }
    nwa.initial.iter().any(|&begun| goes_on(nwa, begun, begun, &mut Vec::new(), word))
}

/// Whether some run of a visibly pushdown automaton accepts the word.
fn vpa_accepts(vpa: &Vpa, word: &[Nested]) -> bool {
    fn goes_on(vpa: &Vpa, state: NwaState, stack: &mut Vec<StackSymbol>, word: &[Nested]) -> bool {
        let Some((&first, rest)) = word.split_first() else { return vpa.finals.contains(&state) };
        match first {
            Nested::Internal(letter) => vpa
                .internals
                .iter()
                .any(|&(p, a, q)| p == state && a == letter && goes_on(vpa, q, stack, rest)),
            Nested::Call(letter) => vpa.calls.iter().any(|&(p, a, q, pushed)| {
                if p != state || a != letter {
                    return false;
                }
                stack.push(pushed);
                let accepted = goes_on(vpa, q, stack, rest);
                stack.pop();
                accepted
            }),
            Nested::Return(letter) => {
                let popped = stack.pop();
                let accepted = vpa.returns.iter().any(|&(p, read, a, q)| {
                    p == state && read == popped && a == letter && goes_on(vpa, q, stack, rest)
                });
                stack.extend(popped);
                accepted
            }
        }
    }
    vpa.initial.iter().any(|&begun| goes_on(vpa, begun, &mut Vec::new(), word))
}

/// A random automaton over the symbols `names` and all others.
fn automaton(random: &mut Random, names: &[&str]) -> Nwa {
    let mut nwa = Nwa::new(names.iter().copied());
    let states = 1 + random.below(3);
    for state in 0..states {
        nwa.state(format!("q{state}"));
    }
    let state = |random: &mut Random| NwaState::from_index(random.below(states));
    let letter = |random: &mut Random| Letter::from_index(random.below(names.len() + 1));
    for _ in 0..=random.below(2) {
        nwa.initial.insert(state(random));
        nwa.finals.insert(state(random));
    }
    for _ in 0..random.below(5) {
        nwa.internals.insert((state(random), letter(random), state(random)));
    }
    for _ in 0..random.below(6) {
        nwa.calls.insert((state(random), letter(random), state(random)));
    }
    for _ in 0..random.below(9) {
        nwa.returns.insert((state(random), state(random), letter(random), state(random)));
    }
    nwa
}

#[test]
fn one_automaton_reads_determinizes_and_converts_as_its_runs_do() {
    let budget = Budget::new();
    let (short, long) = (words(2, 4), words(2, 6));
    let mut accepted_words = 0;
    for seed in 0..60 {
        let (words, longest) = if seed < 3 { (&long, 6) } else { (&short, 4) };
        let nwa = automaton(&mut Random::new(seed), &["a"]);
        let deterministic = nwa.determinize(&LIMITS, &budget).unwrap();
        let complement = nwa.complement(&LIMITS, &budget).unwrap();
        let vpa = nwa.to_vpa();
        let back = vpa.to_nwa();
        let mut everything = nwa.clone();
        everything.finals = nwa.states.ids().collect();
        let mut shortest = None;
        for word in words {
            let accepted = accepts(&nwa, word);
            assert_eq!(nwa.accepts(word), accepted, "seed {seed}: {word:?}");
            assert_eq!(nwa.can_read(word), accepts(&everything, word), "seed {seed}: {word:?}");
            assert_eq!(deterministic.accepts(word), accepted, "seed {seed}: {word:?}");
            assert_eq!(complement.accepts(word), !accepted, "seed {seed}: {word:?}");
            assert_eq!(vpa_accepts(&vpa, word), accepted, "seed {seed}: {word:?}");
            assert_eq!(back.accepts(word), accepted, "seed {seed}: {word:?}");
            if accepted {
                accepted_words += 1;
                shortest = shortest.or(Some(word.len()));
            }
        }
        match nwa.shortest(&LIMITS, &budget).unwrap() {
            Shortest::Empty => assert_eq!(shortest, None, "seed {seed}"),
            Shortest::Word(word) => {
                assert!(accepts(&nwa, &word), "seed {seed}: {word:?}");
                assert!(
                    shortest.is_none_or(|length| length == word.len()),
                    "seed {seed}: {word:?}"
                );
                assert!(shortest.is_some() || word.len() > longest, "seed {seed}: {word:?}");
            }
        }
        // The complement of the complement is the language again.
        let again = complement.complement(&LIMITS, &budget).unwrap();
        assert_eq!(again.distinguish(&nwa, &LIMITS, &budget).unwrap(), None, "seed {seed}");
    }
    assert!(accepted_words > 3000, "{accepted_words}");
}

#[test]
fn two_automata_meet_as_their_languages_do() {
    let budget = Budget::new();
    let (mut included, mut different) = (0, 0);
    for seed in 0..60 {
        let mut random = Random::new(1000 + seed);
        let one = automaton(&mut random, &["a"]);
        // The second automaton names another symbol: both are "other" to each other.
        let name = if random.chance(50) { "a" } else { "b" };
        let two = automaton(&mut random, &[name]);
        let union = one.union(&two);
        let both = one.intersect(&two, &LIMITS, &budget).unwrap();
        assert_eq!(union.letters, both.letters, "seed {seed}");
        let words = words(union.letters.len() + 1, if union.letters.len() == 1 { 4 } else { 3 });
        let as_read_by = |nwa: &Nwa, word: &[Nested]| -> Vec<Nested> {
            let rename = |letter: Letter| {
                union.symbol(letter).map_or(nwa.other(), |symbol| nwa.letter(symbol))
            };
            let renamed = word.iter().map(|position| match *position {
                Nested::Internal(letter) => Nested::Internal(rename(letter)),
                Nested::Call(letter) => Nested::Call(rename(letter)),
                Nested::Return(letter) => Nested::Return(rename(letter)),
            });
            renamed.collect()
        };
        let mut is_included = true;
        for word in &words {
            let first = accepts(&one, &as_read_by(&one, word));
            let second = accepts(&two, &as_read_by(&two, word));
            assert_eq!(union.accepts(word), first || second, "seed {seed}: {word:?}");
            assert_eq!(both.accepts(word), first && second, "seed {seed}: {word:?}");
            is_included &= !first || second;
        }
        match one.difference(&two, &LIMITS, &budget).unwrap() {
            None => {
                assert!(is_included, "seed {seed}");
                included += 1;
            }
            Some(found) => {
                let word = &found.word;
                assert_eq!(found.letters.letters, union.letters, "seed {seed}");
                assert!(accepts(&one, &as_read_by(&one, word)), "seed {seed}: {word:?}");
                assert!(!accepts(&two, &as_read_by(&two, word)), "seed {seed}: {word:?}");
                different += 1;
            }
        }
        // De Morgan: neither of both is outside of the one or outside of the other.
        let outside = both.complement(&LIMITS, &budget).unwrap();
        let (not_one, not_two) =
            (one.complement(&LIMITS, &budget).unwrap(), two.complement(&LIMITS, &budget).unwrap());
        let either = not_one.union(&not_two);
        assert_eq!(outside.distinguish(&either, &LIMITS, &budget).unwrap(), None, "seed {seed}");
    }
    assert!(included > 5 && different > 20, "{included} {different}");
}

/// Words `aⁿ bⁿ` as calls and returns, which no finite automaton tells from `aⁿ bᵐ`.
#[test]
fn matching_is_seen_where_counting_is_needed() {
    let mut nwa = Nwa::new(["a", "b"]);
    let (outer, inner, after, done) =
        (nwa.state("outer"), nwa.state("inner"), nwa.state("after"), nwa.state("done"));
    let (a, b) = (nwa.letter("a"), nwa.letter("b"));
    nwa.initial.insert(outer);
    nwa.finals.insert(done);
    nwa.calls.extend([(outer, a, inner), (inner, a, inner)]);
    for from in [inner, after] {
        nwa.returns.insert((from, inner, b, after));
        nwa.returns.insert((from, outer, b, done));
    }
    for n in 1..20usize {
        for m in 1..20usize {
            let mut word = vec![Nested::Call(a); n];
            word.extend(vec![Nested::Return(b); m]);
            assert_eq!(nwa.accepts(&word), n == m, "{n} {m}");
        }
    }
}

/// Each state calls the next one twice: the only word doubles with every state.
#[test]
fn a_word_that_is_too_long_is_not_written_down() {
    let mut nwa = Nwa::new(["f"]);
    let f = nwa.letter("f");
    let rounds = 40;
    let entries: Vec<NwaState> = (0..=rounds).map(|n| nwa.state(format!("entry{n}"))).collect();
    let middles: Vec<NwaState> = (0..=rounds).map(|n| nwa.state(format!("middle{n}"))).collect();
    let exits: Vec<NwaState> = (0..=rounds).map(|n| nwa.state(format!("exit{n}"))).collect();
    nwa.initial.insert(entries[0]);
    nwa.finals.insert(exits[0]);
    for n in 0..rounds {
        nwa.calls.extend([(entries[n], f, entries[n + 1]), (middles[n], f, entries[n + 1])]);
        nwa.returns.insert((exits[n + 1], entries[n], f, middles[n]));
        nwa.returns.insert((exits[n + 1], middles[n], f, exits[n]));
    }
    nwa.internals.insert((entries[rounds], f, exits[rounds]));
    let found = nwa.shortest(&LIMITS, &Budget::new());
    let length = 5 * (1u64 << rounds) - 4;
    assert_eq!(found, Err(NwaError::Word(length)));
    // The limit on states and the budget end the other operations.
    let few = NwaLimits { states: 3, word: 10 };
    assert_eq!(nwa.determinize(&few, &Budget::new()), Err(NwaError::States(3)));
    assert_eq!(nwa.intersect(&nwa, &few, &Budget::new()), Err(NwaError::States(3)));
    let stopped = Err(NwaError::Stopped(StopReason::Steps));
    assert_eq!(nwa.determinize(&LIMITS, &Budget::with_steps(2)), stopped);
    assert_eq!(nwa.intersect(&nwa, &LIMITS, &Budget::with_steps(2)), stopped);
    assert_eq!(
        nwa.shortest(&LIMITS, &Budget::with_steps(2)),
        Err(NwaError::Stopped(StopReason::Steps))
    );
}
