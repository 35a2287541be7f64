//! The examples read without a complaint, and mutants of them do no harm.

use selvedge_base::Diagnostic;
use selvedge_front_eml::parse;
use selvedge_program::{text, validate::validate};
use std::fs;
use std::path::PathBuf;

fn examples() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder of the examples")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "eml"))
        .collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("an example is a text");
        (path.display().to_string(), text)
    };
    files.into_iter().map(read).collect()
}

/// What must hold whatever the text is; whether there is a program.
fn check(text: &str) -> bool {
    let parsed = parse(text);
    let refused = parsed.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(parsed.program.is_none(), refused);
    for diagnostic in &parsed.diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            assert!(text.get(label.span.range()).is_some(), "{diagnostic:?}");
        }
    }
    if let Some(program) = &parsed.program {
        assert_eq!(validate(program), []);
        assert_eq!(text::parse(&text::print(program)).0.as_ref(), Some(program));
    }
    parsed.program.is_some()
}

#[test]
fn examples_are_read_without_a_complaint() {
    let examples = examples();
    assert!(examples.len() >= 15, "{}", examples.len());
    for (path, text) in examples {
        let parsed = parse(&text);
        assert_eq!(parsed.diagnostics, [], "{path}");
        assert!(parsed.program.is_some(), "{path}");
        assert!(text.contains("//! expect: "), "{path} says what is expected");
        assert!(text.starts_with("//! source: "), "{path} says where it comes from");
    }
}

/// A small generator of pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
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
    const WORDS: [&str; 24] = [
        "lock",
        "var",
        "process",
        "synchronized",
        "unit",
        "read",
        "write",
        "skip",
        "return",
        "if",
        "else",
        "while",
        "main",
        "x",
        "{",
        "}",
        "(",
        ")",
        ";",
        ",",
        ":",
        "*",
        "/*",
        "é\u{0}",
    ];
    let originals: Vec<Vec<String>> = examples().iter().map(|(_, text)| pieces(text)).collect();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..6000 {
        let random = &mut Random(seed);
        let mut mutant = originals[random.below(originals.len())].clone();
        for _ in 0..=random.below(4) {
            let at = random.below(mutant.len());
            match random.below(6) {
                0 => mutant.truncate(at.max(1)),
                1 => drop(mutant.remove(at)),
                2 => mutant.insert(at, WORDS[random.below(WORDS.len())].to_owned()),
                3 => WORDS[random.below(WORDS.len())].clone_into(&mut mutant[at]),
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
        if check(&mutant.concat()) {
            accepted += 1;
        } else {
            refused += 1;
        }
    }
    // Mutations in comments and spaces leave a program; most others do not.
    assert!(accepted > 500 && refused > 500, "{accepted} accepted, {refused} refused");
}

#[test]
fn every_prefix_of_an_example_is_read() {
    for (_, text) in examples().iter().take(4) {
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            check(&text[..end]);
        }
    }
}
