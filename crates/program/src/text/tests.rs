mod data;
mod random;

use super::{parse, print};
use crate::validate::validate;
use random::{Random, random_program};
use selvedge_base::{Diagnostic, FileId, Id as _, Place, Severity};

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
    let mut elsewhere = 0;
    for seed in 0..3000 {
        let program = random_program(&mut Random::new(seed));
        assert_eq!(validate(&program), [], "seed {seed}");
        edges += program.edges.len();
        let with_data = program.edges.iter().filter(|edge| edge.action.is_about_data());
        on_data += with_data.count();
        elsewhere += program.edges.iter().filter(|edge| edge.place.file != FileId::READ).count();
        let text = print(&program);
        assert_eq!(parse(&text), (Some(program), vec![]), "seed {seed}\n{text}");
    }
    assert!(edges > 10_000, "the generator makes programs that are worth it: {edges} edges");
    assert!(on_data > 3000, "{on_data} of them on data");
    assert!(elsewhere > 500, "{elsewhere} of them in other files");
}

const CONDITIONS: &str = "\
program
lock l @1:1
lock m @1:2
condition notFull of l @2:1
condition m of m
thread T main main {
  procedure main nodes 6 entry 0 exit 5 {
    0 -> 1 acquire l
    1 -> 2 wait notFull
    2 -> 3 resume notFull
    3 -> 4 notifyAll l
    4 -> 5 notify m
  }
}
";

#[test]
fn conditions_name_a_lock_and_a_lock_its_own_condition() {
    let (program, diagnostics) = parse(CONDITIONS);
    assert_eq!(diagnostics, []);
    let program = program.expect("no errors");
    assert_eq!(print(&program), CONDITIONS);
    let titles = program.wait_sets.ids().map(|set| program.wait_set_title(set));
    assert_eq!(titles.collect::<Vec<_>>(), ["notFull of l", "m", "l"]);
    let places = program.wait_sets.iter().map(|set| set.place).collect::<Vec<_>>();
    assert_eq!(places, [Place::new(2, 1), Place::NONE, Place::new(1, 1)]);
    let locks = program.edges.iter().map(|edge| program.lock_of(edge.action));
    let names = locks.map(|lock| lock.map(|lock| program.locks[lock].name.as_str()));
    assert_eq!(names.collect::<Vec<_>>(), ["l", "l", "l", "l", "m"].map(Some));
    // The names of edges mean what is declared: the condition, or the lock.
    let index = super::symbols(CONDITIONS);
    let uses = |name: &str| {
        let id = index.symbols.iter_enumerated().find(|(_, one)| one.name == name);
        let id = id.expect("declared").0;
        index.occurrences.iter().filter(|one| one.symbol == id).count()
    };
    assert_eq!((uses("notFull"), uses("l")), (3, 4));
}

#[test]
fn a_condition_is_declared_before_it_is_named() {
    let said = |text: &str, with: &str| {
        let (program, diagnostics) = parse(&CONDITIONS.replace(text, with));
        assert_eq!(program, None);
        diagnostics.into_iter().map(|one| one.message).collect::<Vec<_>>()
    };
    assert_eq!(said("wait notFull", "wait notFul"), ["there is no condition or lock \"notFul\""]);
    assert_eq!(said("of l", "of k")[0], "there is no lock \"k\"");
    assert_eq!(said("n m of m", "n notFull of m"), ["the condition \"notFull\" is declared twice"]);
    let other = "a condition with the name of a lock is one of this lock";
    assert_eq!(said("n m of m", "n m of l"), [other]);
}

const FILES: &str = "\
program
file 1 \"src/A.java\"
file 2 \"B\"
lock l @1:3:8
lock m @2
set s { x @1:4:_, y @12:_ }
thread T @2+37 main m {
  procedure m @+5 end @2:9:1 nodes 2 entry 0 exit 1 {
    0 -> 1 read x @1:8:9
  }
}
";

#[test]
fn places_name_their_files() {
    let (program, diagnostics) = parse(FILES);
    assert_eq!(diagnostics, []);
    let program = program.expect("no errors");
    assert_eq!(print(&program), FILES);
    let file = |number: usize| FileId::from_index(number);
    let of_locks: Vec<Place> = program.locks.iter().map(|lock| lock.place).collect();
    assert_eq!(of_locks, [Place::new(3, 8).in_file(file(1)), Place::NONE.in_file(file(2))]);
    let of_locations: Vec<Place> = program.locations.iter().map(|one| one.place).collect();
    assert_eq!(of_locations, [Place::in_line(4).in_file(file(1)), Place::in_line(12)]);
    assert_eq!(program.threads.as_slice()[0].place, Place::at_offset(37).in_file(file(2)));
    let procedure = &program.procedures.as_slice()[0];
    assert_eq!(procedure.place, Place::at_offset(5));
    assert_eq!(procedure.end, Place::new(9, 1).in_file(file(2)));
    assert_eq!(program.edges.as_slice()[0].place, Place::new(8, 9).in_file(file(1)));
}

#[test]
fn zero_stands_for_what_is_not_known() {
    let read = |place: &str| {
        let text = format!("program file 1 \"A\" lock l {place}");
        let (program, diagnostics) = parse(&text);
        assert_eq!(diagnostics, []);
        program.expect("no errors").locks.as_slice()[0].place
    };
    let file = FileId::from_index(1);
    assert_eq!((read("@0:0"), read("@0:7"), read("@0")), (Place::NONE, Place::NONE, Place::NONE));
    assert_eq!((read("@7:0"), read("@0:7:3")), (Place::in_line(7), Place::new(7, 3)));
    assert_eq!(read("@1:7:0"), Place::in_line(7).in_file(file));
    assert_eq!(read("@1:0:0"), Place::NONE.in_file(file));
}

/// The codes of the diagnostics of a text with these declarations.
fn codes(declarations: &str) -> Vec<(&'static str, Severity)> {
    let found = check(&format!("program\n{declarations}\n"));
    found.iter().map(|one| (one.code, one.severity)).collect()
}

#[test]
fn one_slip_with_files_is_one_message() {
    let error = |code| [(code, Severity::Error)];
    let locks = "lock l @1:1:1\nlock m @1:2:2\nlock n @1+3\nlock o @1";
    assert_eq!(codes(locks), error("unknown-file"));
    assert_eq!(codes("lock l @1:1:1\nfile 1 \"A\"\nlock m @1:1:1"), error("unknown-file"));
    // Places in a file whose declaration could not be read are no further mistakes.
    assert_eq!(codes(&format!("file \"A\"\n{locks}")), error("unexpected-text"));
    assert_eq!(codes(&format!("file 2 \"A\"\n{locks}")), error("unexpected-text"));
    assert_eq!(codes(&format!("file 1\n{locks}")), error("unexpected-text"));
    assert_eq!(codes("file 1 \"A\"\nfile 1 \"B\""), error("unexpected-text"));
    assert_eq!(codes("file 1 \"A\"\nfile 2 \"A\"\nlock l @2:1:1"), error("duplicate-name"));
    for place in ["@1:", "@1:1:", "@+", "@1+", "@", "@:", "@1:1:1:1", "@_", "@1:x", "@1 + x"] {
        let found = codes(&format!("file 1 \"A\"\nlock l {place}\nlock m"));
        assert_eq!(found, error("unexpected-text"), "{place}");
    }
    assert_eq!(codes("lock l @99999999999:1:1"), error("number-too-large"));
    assert_eq!(codes("lock l @4294967295:1:1"), error("unknown-file"));
}

#[test]
fn hostile_names_of_files_are_reported() {
    let error = [("bad-file-name", Severity::Error)];
    let long = "a".repeat(100_000);
    for name in ["", " ", "a\\nb", "\\u{1b}[31m", "\\u{0}", &long] {
        assert_eq!(codes(&format!("file 1 \"{name}\"\nlock l @1:1:1")), error, "{name:.20}");
    }
    let warning = [("bad-file-name", Severity::Warning)];
    for name in ["/etc/passwd", "../../A.java", "a/../b", "C:\\\\a", "\\\\\\\\host\\\\a"] {
        assert_eq!(codes(&format!("file 1 \"{name}\"\nlock l @1:1:1")), warning, "{name}");
    }
    assert_eq!(codes("file 1 \"a\\qb\""), [("unknown-escape", Severity::Error)]);
    // The message does not repeat the name.
    let found = check(&format!("program\nfile 1 \"{long}\"\nfile 2 \"{long}\"\n"));
    assert!(found.iter().all(|one| one.message.len() < 200), "{found:?}");
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
        "@1:2:3",
        "@1+2",
        "@2:_",
        "file 1 \"A\"",
    ];
    for example in [EXAMPLE, data::EXAMPLE, FILES] {
        let count = example.lines().count();
        let mut accepted = 0;
        for seed in 0..3000 {
            let random = &mut Random::new(seed);
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

/// Found by fuzzing: what is declared behind a name that is declared twice has no number of its own.
#[test]
fn what_follows_a_name_that_is_declared_twice_is_read() {
    let text = "program\nglobal g\nglobal g\nglobal x : 0..3 = 0\nexclusive x when g";
    let codes: Vec<&str> = check(text).iter().map(|one| one.code).collect();
    assert_eq!(codes, ["duplicate-name"]);
    let text = "program\nenum E { A }\nenum E { B }\nenum F { C }\nglobal x : F = $enum(F, C)";
    assert_eq!(check(text).first().map(|one| one.code), Some("duplicate-name"));
}
