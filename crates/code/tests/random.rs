//! Random modules: what is printed reads back, and damaged texts are no panic.

use selvedge_code::text::{print, read};
use selvedge_code::validate::validate;
use selvedge_testkit::Rng;
use selvedge_testkit::code::generate::{Shape, random_module};

#[test]
fn random_modules_read_back_as_themselves() {
    let (mut statements, mut places) = (0, 0);
    for seed in 0..1500 {
        let module = random_module(&mut Rng::new(seed), &Shape::ALL);
        assert_eq!(validate(&module), [], "seed {seed}\n{}", print(&module));
        let blocks = module.procedures.iter().flat_map(|procedure| &procedure.blocks);
        statements += blocks.map(|block| block.statements.len()).sum::<usize>();
        places += module.places.len();
        let text = print(&module);
        let reading = read(&text);
        assert_eq!(reading.diagnostics, [], "seed {seed}\n{text}");
        assert_eq!(reading.module, Some(module), "seed {seed}\n{text}");
    }
    assert!(statements > 20_000, "the modules are worth it: {statements} statements");
    assert!(places > 3000, "{places} places");
}

/// A text with some changes of single characters, tokens and lines.
fn damaged(text: &str, rng: &mut Rng) -> String {
    const PIECES: [&str; 24] = [
        "'",
        "\\",
        "{",
        "}",
        "(",
        ")",
        "@",
        "^",
        "!",
        ":",
        ";",
        "=",
        "->",
        "<",
        "-",
        ".",
        "type ",
        "proc ",
        "catch ",
        "\n",
        "99999999999999999999",
        "é",
        "\0",
        "_",
    ];
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..rng.between(1, 4) {
        let at = rng.below(text.len() + 1);
        let end = (at + rng.below(12)).min(text.len());
        match rng.below(4) {
            0 => drop(text.drain(at..end)),
            1 => {
                let piece: Vec<char> = rng.pick(&PIECES).chars().collect();
                text.splice(at..at, piece);
            }
            2 => {
                let copied = text[at..end].to_vec();
                let to = rng.below(text.len() + 1);
                text.splice(to..to, copied);
            }
            _ => text.truncate(text.len() - rng.below(text.len() / 4 + 1)),
        }
    }
    text.into_iter().collect()
}

#[test]
fn damaged_texts_are_no_panic() {
    let (mut wrong, mut read_anyway) = (0, 0);
    for seed in 0..2000 {
        let mut rng = Rng::new(seed);
        let text = damaged(&print(&random_module(&mut rng, &Shape::ALL)), &mut rng);
        let reading = read(&text);
        let errors = reading.diagnostics.iter().filter(|one| one.is_error()).count();
        assert_eq!(reading.module.is_none(), errors > 0, "seed {seed}\n{text}");
        for diagnostic in &reading.diagnostics {
            let labels = diagnostic.primary.iter().chain(&diagnostic.secondary);
            for label in labels {
                assert!(text.get(label.span.range()).is_some(), "seed {seed}: {diagnostic:?}");
            }
        }
        if let Some(module) = reading.module {
            read_anyway += 1;
            let printed = print(&module);
            let again = read(&printed);
            assert_eq!(again.diagnostics, [], "seed {seed}\n{printed}");
            assert_eq!(again.module.as_ref().map(print), Some(printed), "seed {seed}");
        } else {
            wrong += 1;
        }
    }
    assert!(wrong > 1000 && read_anyway > 30, "{wrong} wrong, {read_anyway} not");
}

#[test]
fn deep_and_long_texts_are_no_problem() {
    let dimensions = format!("global g: word{}\n", "[1]".repeat(50_000));
    assert!(read(&dimensions).module.is_some());
    let all = |line: fn(usize) -> String| (0..20_000).map(line).collect::<Vec<_>>().concat();
    let chain = all(|n| format!("type t{n}: t{}\n", n + 1));
    assert!(read(&format!("{chain}type t20000\n")).module.is_some());
    let inside = all(|n| format!("type t{n} {{ f: t{} }}\n", n + 1));
    assert!(read(&format!("{inside}type t20000\n")).module.is_some());
    let inlined = " < a:1".repeat(50_000);
    assert!(read(&format!("proc f()\nb:\n  return @a:1{inlined}\n")).module.is_some());
    assert!(read(&"(".repeat(100_000)).module.is_none());
    assert!(read(&"'\\".repeat(100_000)).module.is_none());
}
