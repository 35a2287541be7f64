//! What several tests of this crate use.

#![allow(dead_code, reason = "not every test uses everything")]

use selvedge_base::{Budget, Diagnostic};
use selvedge_front_bool::{Options, Parsed, parse, print};
use selvedge_program::validate::validate;
use selvedge_program::{Bound, Measure, Program, Target, text};
use selvedge_replay::exhaustive::bounded::{BoundedLimits, BoundedSets, bounded_states};
use std::fs;
use std::path::{Path, PathBuf};

/// The Boolean programs in folders of the workspace, in order.
pub fn files(folders: &[&str]) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(root.join(folder)).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        files.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "bp")));
    }
    files.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a text");
        (path.display().to_string(), text)
    };
    files.into_iter().map(read).collect()
}

/// A small generator of pseudo-random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// The program of a text without errors.
pub fn program(text: &str) -> Program {
    let parsed = parse(text, &Options { starts_per_site: Some(2), dialect: None });
    let errors: Vec<&Diagnostic> = parsed.diagnostics.iter().filter(|one| one.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    parsed.program.expect("no errors")
}

/// A text without the comments that say where its lines come from.
pub fn without_places(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("// line "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Prints a program, reads it, prints it again: the same text. `None` if it cannot be printed.
pub fn round_trip(program: &Program) -> Option<Program> {
    let printed = print(program).ok()?;
    let again = self::program(&printed);
    let once_more = print(&again).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    let message = format!("{printed}\n{}", text::print(program));
    assert_eq!(without_places(&printed), without_places(&once_more), "{message}");
    Some(again)
}

/// What must hold whatever the text is.
pub fn check(source: &str) -> Parsed {
    let parsed = parse(source, &Options { starts_per_site: Some(2), dialect: None });
    let refused = parsed.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(parsed.program.is_none(), refused);
    for diagnostic in &parsed.diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            assert!(source.get(label.span.range()).is_some(), "{diagnostic:?}");
        }
    }
    if let Some(program) = &parsed.program {
        assert_eq!(validate(program), []);
        // The text form leaves out how many starts the reader has cut off.
        let printed = Program { starts_per_site: None, ..program.clone() };
        assert_eq!(text::parse(&text::print(program)).0, Some(printed));
        round_trip(program);
    }
    parsed
}

/// What exhaustive search reaches within some rounds; `None` if there are too many states.
pub fn reached(
    program: &Program,
    targets: &[Target],
    rounds: u32,
    states: usize,
) -> Option<BoundedSets> {
    let bound = Bound { measure: Measure::Rounds, limit: rounds };
    let limits = BoundedLimits { call_depth: 5, states };
    bounded_states(program, targets, bound, limits, &Budget::new()).ok()
}

/// Whether an assertion can fail within three rounds.
pub fn fails(program: &Program) -> bool {
    let sets = reached(program, &[Target::Assertion], 3, 60_000).expect("few states");
    sets.least(0).is_some()
}
