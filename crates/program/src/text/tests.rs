mod data;
mod random;

use super::{parse, print};
use crate::validate::validate;
use random::{Random, random_program};
use selvedge_base::Diagnostic;

const EXAMPLE: &str = "\
program
lock stack @3:8
set shared { count @4:7, data @4:14 }
thread T1 @6:9 main main {
  procedure pop @7:5 end @12:6 nodes 3 entry 0 exit 2 {
    0 -> 1 acquire stack @7:5
    1 -> 2 release stack @9:5
  }
  procedure main nodes 7 entry 0 exit 6 {
    0 -> 1 begin @8:9
    1 -> 1 skip
    1 -> 2 read count @8:9
    2 -> 3 write data @9:9
    3 -> 4 call pop @9:9
    4 -> 5 end
  }
}
thread T2 main run {
  procedure run nodes 1 entry 0 exit 0 {
  }
}
";

#[test]
fn the_documented_form_reads_and_prints_back() {
    let (program, diagnostics) = parse(EXAMPLE);
    assert_eq!(diagnostics, []);
    let program = program.expect("no errors");
    assert_eq!(print(&program), EXAMPLE);
    assert_eq!((program.nodes.len(), program.edges.len()), (11, 8));
    let loose = EXAMPLE.replace('\n', " // remark\n ").replace(", ", " , ");
    assert_eq!(parse(&loose), (Some(program), vec![]));
}

#[test]
fn the_examples_of_the_documentation_read() {
    let source = include_str!("mod.rs");
    let examples: Vec<String> = source
        .split("//! ```text\n")
        .skip(1)
        .filter_map(|example| example.split_once("//! ```"))
        .map(|(example, _)| example.replace("//! ", ""))
        .collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let (program, diagnostics) = parse(&example);
        assert_eq!(diagnostics, []);
        assert_eq!(print(&program.expect("no errors")), example);
    }
}

#[test]
fn every_valid_program_reads_back_as_itself() {
    let mut edges = 0;
    let mut on_data = 0;
    for seed in 0..3000 {
        let program = random_program(&mut Random(seed));
        assert_eq!(validate(&program), [], "seed {seed}");
        edges += program.edges.len();
        let with_data = program.edges.iter().filter(|edge| edge.action.is_about_data());
        on_data += with_data.count();
        let text = print(&program);
        assert_eq!(parse(&text), (Some(program), vec![]), "seed {seed}\n{text}");
    }
    assert!(edges > 10_000, "the generator makes programs that are worth it: {edges} edges");
    assert!(on_data > 3000, "{on_data} of them on data");
}

fn check(text: &str) -> Vec<Diagnostic> {
    let (program, diagnostics) = parse(text);
    assert_eq!(program.is_some(), !diagnostics.iter().any(Diagnostic::is_error));
    for diagnostic in &diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            assert!(text.get(label.span.range()).is_some(), "{diagnostic:?}");
        }
    }
    if let Some(program) = program {
        assert_eq!(validate(&program), []);
        assert_eq!(parse(&print(&program)).0, Some(program));
    }
    diagnostics
}

#[test]
fn mutants_do_no_harm() {
    let pieces = [
        "{",
        "}",
        "@",
        "@1:2",
        ",",
        "->",
        "7",
        "\"a",
        "lock",
        "thread T2 main m {",
        "é",
        "\0",
        "(",
        ")",
        ":=",
        "!",
        "'",
        "* & x",
        "= T",
        "when",
        "do x := F",
        "(*)",
        "label L at T1 main 0",
    ];
    for example in [EXAMPLE, data::EXAMPLE] {
        let count = example.lines().count();
        let mut accepted = 0;
        for seed in 0..3000 {
            let random = &mut Random(seed);
            let mut lines: Vec<String> = example.lines().map(str::to_owned).collect();
            for _ in 0..=random.below(3) {
                let at = random.below(lines.len());
                match random.below(5) {
                    0 if lines.len() > 1 => drop(lines.remove(at)),
                    1 => lines.swap(at, random.below(count).min(at)),
                    2 => lines[at].truncate(random.below(8)),
                    3 => lines[at].push_str(pieces[random.below(pieces.len())]),
                    _ => {
                        let mut words: Vec<&str> = lines[at].split(' ').collect();
                        let word = random.below(words.len());
                        words[word] = pieces[random.below(pieces.len())];
                        lines[at] = words.join(" ");
                    }
                }
            }
            accepted += usize::from(check(&lines.join("\n")).is_empty());
        }
        assert!((50..2500).contains(&accepted), "{accepted} mutants are programs");
    }
}

#[test]
fn large_numbers_are_refused() {
    for text in [
        "program thread T main m { procedure m nodes 4294967295 entry 0 exit 1 { } }",
        "program thread T main m { procedure m nodes 99999999999 entry 0 exit 1 { } }",
    ] {
        assert!(!check(text).is_empty());
    }
}

#[test]
fn garbage_is_capped() {
    let garbage: String =
        (0..200_000).map(|at| ["@", "\u{1}", " x", "{\n", "§"][at * 7 % 5]).collect();
    let found = check(&garbage);
    assert!(found.len() <= 51, "{}", found.len());
    assert!(check("").iter().any(|one| one.code == "unexpected-text"));
}
