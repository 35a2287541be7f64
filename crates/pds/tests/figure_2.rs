//! Figure 2 of paper 004: the three grammars of a lock against automata, on all words of up to ten letters.

use selvedge_pds::nwa::{Nested, Nwa};
use std::collections::BTreeSet;

const LONGEST: usize = 10;

type Word = String;

/// Letters: `(` and `)` for grammar (a); `o` and `O` for the outermost, `n` and `N` for the nested opening
/// and closing parentheses of (b) and (c).
type Symbols = [char; 2];

fn joined<'a>(
    first: &'a BTreeSet<Word>,
    second: &'a BTreeSet<Word>,
) -> impl Iterator<Item = Word> + 'a {
    first.iter().flat_map(move |one| {
        let fitting = second.iter().filter(move |two| one.len() + two.len() <= LONGEST);
        fitting.map(move |two| format!("{one}{two}"))
    })
}

fn wrapped([open, close]: Symbols, inside: &BTreeSet<Word>) -> BTreeSet<Word> {
    let fitting = inside.iter().filter(|word| word.len() + 2 <= LONGEST);
    fitting.map(|word| format!("{open}{word}{close}")).collect()
}

fn opened([open, _]: Symbols, inside: &BTreeSet<Word>) -> BTreeSet<Word> {
    let fitting = inside.iter().filter(|word| word.len() < LONGEST);
    fitting.map(|word| format!("{open}{word}")).collect()
}

/// `M → ε | M M | ( M' )` and `U → M | M U | ( U'`, where what is inside parentheses has symbols of its own:
/// for (a) the same, for (b) the nested ones.
fn grammar(own: Symbols, inner: Option<(&BTreeSet<Word>, &BTreeSet<Word>)>) -> [BTreeSet<Word>; 2] {
    let mut matched: BTreeSet<Word> = BTreeSet::from([Word::new()]);
    let mut unmatched: BTreeSet<Word> = BTreeSet::new();
    loop {
        let (before, other) = (matched.len(), unmatched.len());
        let (m, u) = (matched.clone(), unmatched.clone());
        let (inside, open_inside) = inner.unwrap_or((&m, &u));
        matched.extend(joined(&m, &m));
        matched.extend(wrapped(own, inside));
        unmatched.extend(m.iter().cloned());
        unmatched.extend(joined(&m, &u));
        unmatched.extend(opened(own, open_inside));
        if (matched.len(), unmatched.len()) == (before, other) {
            return [matched, unmatched];
        }
    }
}

/// All words of up to ten letters that an automaton can read, where these letters are calls and returns.
fn readable(nwa: &Nwa, calls: &str, returns: &str) -> BTreeSet<Word> {
    let position = |letter: char| {
        let known = nwa.letter(&letter.to_string());
        match (calls.contains(letter), returns.contains(letter)) {
            (true, _) => Nested::Call(known),
            (_, true) => Nested::Return(known),
            _ => Nested::Internal(known),
        }
    };
    let mut all: BTreeSet<Word> = BTreeSet::new();
    let mut pending = vec![Word::new()];
    while let Some(word) = pending.pop() {
        // What cannot be read is not continued: no longer word can be read then.
        if !nwa.can_read(&word.chars().map(position).collect::<Vec<_>>()) {
            continue;
        }
        if word.len() < LONGEST {
            let letters = nwa.letters.iter();
            pending.extend(letters.map(|letter| format!("{word}{letter}")));
        }
        all.insert(word);
    }
    all
}

#[test]
fn grammars_and_automata_have_the_same_words() {
    // (a): every return belongs to a call. A return without one reads the initial state, which has none.
    let [_, alike] = grammar(['(', ')'], None);
    let mut nwa = Nwa::new(["(", ")"]);
    let (free, held) = (nwa.state("free"), nwa.state("held"));
    nwa.initial.insert(free);
    let (open, close) = (nwa.letter("("), nwa.letter(")"));
    nwa.calls.extend([(free, open, held), (held, open, held)]);
    nwa.returns.extend([(held, free, close, free), (held, held, close, held)]);
    assert_eq!(readable(&nwa, "(", ")"), alike);
    assert!(alike.len() > 500, "{} words", alike.len());

    // (b): outermost parentheses where the lock is free before the call.
    let [inside, open_inside] = grammar(['n', 'N'], None);
    let [_, apart] = grammar(['o', 'O'], Some((&inside, &open_inside)));
    let mut nwa = Nwa::new(["o", "O", "n", "N"]);
    let (free, held) = (nwa.state("free"), nwa.state("held"));
    nwa.initial.insert(free);
    let [outer, close, inner, close_inner] = ["o", "O", "n", "N"].map(|letter| nwa.letter(letter));
    nwa.calls.extend([(free, outer, held), (held, inner, held)]);
    nwa.returns.extend([(held, free, close, free), (held, held, close_inner, held)]);
    assert_eq!(readable(&nwa, "on", "ON"), apart);

    // (c): S → (o )o S | (o | ε, as a finite automaton.
    let mut reduced = BTreeSet::from([Word::new(), "o".to_owned()]);
    for _ in 0..LONGEST {
        let longer = reduced.iter().filter(|word| word.len() + 2 <= LONGEST);
        let longer: Vec<Word> = longer.map(|word| format!("oO{word}")).collect();
        reduced.extend(longer);
    }
    let mut nwa = Nwa::new(["o", "O"]);
    let (free, held) = (nwa.state("free"), nwa.state("held"));
    nwa.initial.insert(free);
    let (open, close) = (nwa.letter("o"), nwa.letter("O"));
    nwa.internals.extend([(free, open, held), (held, close, free)]);
    assert_eq!(readable(&nwa, "", ""), reduced);

    // Without subscripts (b) is (a); without its nested parentheses it is (c), as far as it reaches.
    let forget = |word: &Word| -> Word {
        word.chars().map(|letter| if letter.is_lowercase() { '(' } else { ')' }).collect()
    };
    assert_eq!(apart.iter().map(forget).collect::<BTreeSet<_>>(), alike);
    let erase = |word: &Word| -> Word { word.chars().filter(|one| "oO".contains(*one)).collect() };
    assert_eq!(apart.iter().map(erase).collect::<BTreeSet<_>>(), reduced);
}
