//! The table of the rules of the front end for Java, in `front-java/tests/programs/README.md`: each has programs
//! that are wrong and repaired, or tests that show it, and every program is there for a rule.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The programs by which an earlier form of the rules was broken.
const BROKEN: &str = "A01 A02 A03 A05 B01 B02 B03 B04 B05 B06 B07 B08 C01 C02 C03 D01 E01 E02 F01 F02 F03 F04 \
                      F05 F06 G01 G02 G04 G05 G06 H01 H02 H03 H04 J01 K01 L02 W01";

/// What statements become.
const STATEMENTS: [&str; 12] = [
    "start/join mask",
    "escape",
    "exceptions",
    "monitors",
    "wait",
    "j.u.c. locks",
    "un-nested",
    "statics",
    "arrays",
    "volatile",
    "invokedynamic",
    "virtual calls",
];

/// A row: the rules, the names in the three last columns.
struct Row {
    rules: Vec<String>,
    wrong: Vec<String>,
    right: Vec<String>,
    tests: Vec<String>,
}

/// All rules.
fn rules() -> impl Iterator<Item = String> {
    let numbers = (1..=27).map(|number| number.to_string());
    let broken = BROKEN.split_whitespace().map(str::to_owned);
    numbers.chain(broken).chain(STATEMENTS.iter().map(|one| format!("§5 {one}")))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../front-java/tests/programs")
}

/// The lines of the tables with so many columns, by cells.
fn cells(columns: usize) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder().join("README.md")).expect("it is there");
    let lines = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| rule"));
    let split = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let all: Vec<Vec<String>> = lines.map(split).collect();
    assert!(all.iter().all(|cells| [3, 5].contains(&cells.len())), "three or five columns");
    all.into_iter().filter(|cells| cells.len() == columns).collect()
}

/// The names in a cell.
fn names(cell: &str) -> Vec<String> {
    let all = cell.split(',').map(|one| one.trim().trim_matches('`').to_owned());
    all.filter(|one| !one.is_empty()).collect()
}

fn rows() -> Vec<Row> {
    let row = |cells: Vec<String>| {
        let [rules, wrong, right, tests] = [0, 2, 3, 4].map(|at| names(&cells[at]));
        Row { rules, wrong, right, tests }
    };
    cells(5).into_iter().map(row).collect()
}

/// The texts of all files of a folder that end so.
fn texts(folder: &Path, ending: &str) -> String {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let wanted = paths.filter(|path| path.to_string_lossy().ends_with(ending));
    wanted.map(|path| std::fs::read_to_string(path).expect("a text")).collect()
}

fn classes() -> BTreeSet<String> {
    let text = texts(&folder(), ".java");
    let classes = text.lines().filter_map(|line| line.strip_prefix("class "));
    classes.filter_map(|rest| rest.split_whitespace().next()).map(str::to_owned).collect()
}

/// The class that a name of a column stands for.
fn class(name: &str, ending: &str, classes: &BTreeSet<String>) -> Option<String> {
    [format!("{name}{ending}"), name.to_owned()].into_iter().find(|one| classes.contains(one))
}

#[test]
fn every_rule_has_programs_or_tests() {
    let rows = rows();
    let mut missing = Vec::new();
    for rule in rules() {
        let mut of = rows.iter().filter(|row| row.rules.contains(&rule));
        let shown =
            |row: &Row| !row.tests.is_empty() || (!row.wrong.is_empty() && !row.right.is_empty());
        if !of.any(shown) {
            missing.push(rule);
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn what_the_table_names_is_there() {
    let classes = classes();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tests = ["library", "front-java", "cli"]
        .map(|one| texts(&crates.join(one).join("tests"), ".rs"))
        .concat();
    let mut missing = Vec::new();
    for row in rows() {
        assert!(!row.tests.is_empty() || (!row.wrong.is_empty() && !row.right.is_empty()));
        for (names, ending) in [(&row.wrong, "Wrong"), (&row.right, "Right")] {
            missing
                .extend(names.iter().filter(|one| class(one, ending, &classes).is_none()).cloned());
        }
        missing.extend(row.tests.into_iter().filter(|one| !tests.contains(&format!("fn {one}()"))));
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn every_program_is_there_for_a_rule() {
    let classes = classes();
    let mut named = BTreeSet::new();
    for row in rows() {
        named.extend(row.wrong.iter().filter_map(|one| class(one, "Wrong", &classes)));
        named.extend(row.right.iter().filter_map(|one| class(one, "Right", &classes)));
    }
    let endings = ["Wrong", "Right", "Careless", "Careful"];
    let programs = classes.iter().filter(|one| endings.iter().any(|end| one.ends_with(end)));
    let unnamed: Vec<&String> = programs.filter(|one| !named.contains(*one)).collect();
    assert_eq!(unnamed, Vec::<&String>::new());
}

#[test]
fn programs_notice_each_rule_that_is_left_out() {
    let classes = classes();
    let mut noticed = BTreeSet::new();
    for cells in cells(3) {
        let programs = names(&cells[2]);
        assert!(!programs.is_empty(), "{cells:?}");
        let missing: Vec<&String> = programs.iter().filter(|one| !classes.contains(*one)).collect();
        assert_eq!(missing, Vec::<&String>::new());
        noticed.extend(names(&cells[0]));
    }
    // What is shown by tests alone was not left out.
    let by_tests = |row: &Row| row.wrong.is_empty() || row.right.is_empty();
    let by_tests: BTreeSet<String> =
        rows().into_iter().filter(by_tests).flat_map(|row| row.rules).collect();
    let missing: Vec<String> =
        rules().filter(|rule| !noticed.contains(rule) && !by_tests.contains(rule)).collect();
    assert_eq!(missing, ["B05"]);
}
