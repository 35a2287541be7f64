//! Automata and words as texts: what is printed reads back, and mistakes are explained.

use selvedge_base::Id;
use selvedge_front_nwa::{parse_nwa, parse_vpa, parse_word, print_nwa, print_vpa, print_word};
use selvedge_pds::nwa::{Letter, Nested, Nwa, NwaState};
use selvedge_pds::random::Random;

const NAMES: [&str; 4] = ["s", "call f", "*", "Q0"];

fn automaton(random: &mut Random) -> Nwa {
    let symbols = ["a", "call f", "-", "*"];
    let mut nwa = Nwa::new(symbols[..random.below(5)].iter().copied());
    let states = 1 + random.below(4);
    for name in &NAMES[..states] {
        nwa.state(*name);
    }
    let letters = nwa.letters.len() + 1;
    let state = |random: &mut Random| NwaState::from_index(random.below(states));
    let letter = |random: &mut Random| Letter::from_index(random.below(letters));
    for _ in 0..=random.below(2) {
        nwa.initial.insert(state(random));
        nwa.finals.insert(state(random));
    }
    for _ in 0..random.below(8) {
        nwa.internals.insert((state(random), letter(random), state(random)));
        nwa.calls.insert((state(random), letter(random), state(random)));
        nwa.returns.insert((state(random), state(random), letter(random), state(random)));
    }
    nwa
}

#[test]
fn what_is_printed_reads_back() {
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let nwa = automaton(&mut random);
        let text = print_nwa(&nwa);
        let (again, complaints) = parse_nwa(&text);
        assert_eq!(again.as_ref(), Some(&nwa), "seed {seed}: {complaints:?}\n{text}");
        let vpa = nwa.to_vpa();
        let text = print_vpa(&vpa);
        let (again, complaints) = parse_vpa(&text);
        let again = again.unwrap_or_else(|| panic!("seed {seed}: {complaints:?}\n{text}"));
        assert_eq!(print_vpa(&again), text, "seed {seed}");
        assert_eq!(
            (&again.calls.len(), &again.returns.len()),
            (&vpa.calls.len(), &vpa.returns.len())
        );
        let word: Vec<Nested> = (0..random.below(6))
            .map(|_| {
                let letter = Letter::from_index(random.below(nwa.letters.len() + 1));
                [Nested::Internal(letter), Nested::Call(letter), Nested::Return(letter)]
                    [random.below(3)]
            })
            .collect();
        let text = print_word(&word, &nwa);
        assert_eq!(parse_word(&text, &nwa).0, Some(word), "seed {seed}: {text}");
    }
}

#[test]
fn a_wildcard_is_every_symbol_without_a_transition_of_its_own() {
    let text = "nwa once: {
        Q0: {s} Qf: {t}   # braces may be left out
        Delta_i: { (s, *, t), (s, a, s) (t, b, -), (t, *, t) }
    }";
    let (nwa, complaints) = parse_nwa(text);
    let nwa = nwa.unwrap_or_else(|| panic!("{complaints:?}"));
    let accepts = |word: &str| nwa.accepts(&parse_word(word, &nwa).0.unwrap());
    assert!(accepts("a a whatever") && accepts("b") && accepts("* a \"two words\""));
    assert!(!accepts("a") && !accepts("c b") && !accepts("<c"));
}

#[test]
fn mistakes_have_a_code_and_a_place() {
    let cases = [
        ("Q0 s", "expected-block"),
        ("Qo: s", "unknown-block"),
        ("Q0: {s", "missing-brace"),
        ("Q0: {s, }", "missing-name"),
        ("Q0: s Delta_i: { (s, a) }", "wrong-arity"),
        ("Q0: s Delta_r: { (s, a, s) }", "wrong-arity"),
        ("Q0: s Delta_i: { (s, a, s }", "missing-parenthesis"),
        ("Q0: s Delta_i: { s, a, s }", "missing-parenthesis"),
        ("Q: {s, start} Q0: strat", "undefined"),
        ("Q0: s Sigma: {read} Delta_i: { (s, raed, s) }", "undefined"),
        ("Q0: s Delta_i: { (*, a, s) }", "wildcard"),
        ("Q0: s Delta_i: { (s, epsilon, s) }", "epsilon"),
        ("Q0: s /* ", "unterminated-comment"),
        ("Q0: \"s", "unknown-character"),
        ("Q0: \"\"", "empty-name"),
        ("nwa { Q0: s } Q0: t", "text-behind-the-end"),
        ("vpa Q0: s", "other-automaton"),
        ("Qf: s", "no-initial-state"),
    ];
    for (text, code) in cases {
        let (nwa, complaints) = parse_nwa(text);
        let codes: Vec<&str> = complaints.iter().map(|complaint| complaint.code).collect();
        assert_eq!(codes, [code], "{text}");
        assert_eq!(nwa.is_some(), code == "no-initial-state", "{text}");
        assert!(complaints[0].is_error() == nwa.is_none());
    }
    let (_, complaints) = parse_vpa("Q0: s");
    assert_eq!(complaints[0].code, "other-automaton");
    let nwa = parse_nwa("Q0: s").0.unwrap();
    for (text, code) in
        [("< a", ""), ("<", "missing-symbol"), ("<a>", "call-and-return"), ("(", "missing-symbol")]
    {
        let (word, complaints) = parse_word(text, &nwa);
        assert_eq!(complaints.first().map_or("", |complaint| complaint.code), code, "{text}");
        assert_eq!(word.is_some(), code.is_empty(), "{text}");
    }
}
