//! The examples and the corpus read without a complaint, in the dialect that they are written in,
//! and mutants of them do no harm.

mod common;

use common::{Random, check, files};
use selvedge_front_bool::{Dialect, Options, parse};

#[test]
fn examples_are_read_without_a_complaint() {
    let files = files(&["examples", "corpus/bp"]);
    assert!(files.len() >= 40, "{}", files.len());
    let mut getafix = 0;
    for (path, text) in files {
        let parsed = parse(&text, &Options::default());
        assert_eq!(parsed.diagnostics, [], "{path}");
        let program = parsed.program.expect("no errors");
        let is_static = path.contains("static");
        let expected = if is_static { Dialect::Getafix } else { Dialect::Boppo };
        assert_eq!(parsed.dialect, expected, "{path}: {}", parsed.why);
        getafix += usize::from(is_static);
        assert!(program.threads.len() > 2, "{path}");
    }
    assert!(getafix > 2);
}

/// Splits a text into words, signs and the spaces between them.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for character in text.chars() {
        let kind = |one: char| (one.is_alphanumeric() || one == '_', one.is_whitespace());
        match pieces.last_mut() {
            Some(last)
                if last.chars().next().map(kind) == Some(kind(character))
                    && kind(character) != (false, false) =>
            {
                last.push(character);
            }
            _ => pieces.push(character.to_string()),
        }
    }
    pieces
}

#[test]
fn mutants_do_no_harm() {
    let words: Vec<&str> = "decl void bool dfs begin end enforce skip goto if then elsif else fi \
        while do od return assert assume abortif constrain dead start_thread end_thread sync \
        atomic_begin atomic_end schoose T F 0 1 * ! & | ^ = != => ' ( ) [ ] < > { } , ; : := main \
        init x L1 ASYNC_1: /* é\u{0} {x>0}"
        .split_whitespace()
        .collect();
    let originals: Vec<Vec<String>> = files(&["examples", "corpus/bp"])
        .iter()
        .filter(|(_, text)| text.len() < 3000)
        .map(|(_, text)| pieces(text))
        .collect();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..3000 {
        let random = &mut Random(seed);
        let mut mutant = originals[random.below(originals.len())].clone();
        for _ in 0..=random.below(2) {
            let at = random.below(mutant.len());
            match random.below(6) {
                0 => mutant.truncate(at.max(1)),
                1 => drop(mutant.remove(at)),
                2 => mutant.insert(at, words[random.below(words.len())].to_owned()),
                3 => words[random.below(words.len())].clone_into(&mut mutant[at]),
                4 => {
                    let other = random.below(mutant.len());
                    mutant.swap(at, other);
                }
                _ => {
                    let end = (at + random.below(20)).min(mutant.len());
                    let copy = mutant[at..end].to_vec();
                    let target = random.below(mutant.len());
                    mutant.splice(target..target, copy);
                }
            }
            if mutant.is_empty() {
                break;
            }
        }
        let parsed = check(&mutant.concat());
        if parsed.program.is_some() {
            accepted += 1;
        } else {
            refused += 1;
        }
    }
    assert!(accepted > 250 && refused > 250, "{accepted} accepted, {refused} refused");
}

#[test]
fn every_prefix_of_an_example_is_read() {
    for (_, text) in files(&["examples"]) {
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            check(&text[..end]);
        }
    }
}
