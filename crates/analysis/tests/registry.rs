//! What the engines declare is what the book says and what they do.

use selvedge_analysis::{EngineKind, Options, Prepared, QuestionKind, answer};
use selvedge_base::Budget;
use selvedge_program::question::pattern_questions;
use selvedge_program::{Program, Question, Target, Units};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The table of all engines, as the book has it.
fn table() -> String {
    let kinds = [
        QuestionKind::Atomicity,
        QuestionKind::Race,
        QuestionKind::Deadlock,
        QuestionKind::Reach,
        QuestionKind::Stuck,
    ];
    let mut table = "| engine | questions about | decides by | programs with | locks and units | \
                     `safe` covers | counts |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for engine in EngineKind::ALL {
        let declared = engine.declaration();
        let has_page = root().join(format!("book/src/engines/{}.md", declared.name)).exists();
        let name = match has_page {
            true => format!("[`{0}`]({0}.md)", declared.name),
            false => format!("`{}`", declared.name),
        };
        let questions = kinds.iter().filter(|kind| declared.questions.contains(kind));
        let questions: Vec<&str> = questions.map(|kind| kind.name()).collect();
        let features: Vec<&str> = declared.features.iter().map(|one| one.name()).collect();
        let counts: Vec<String> = declared.counts.iter().map(|one| format!("`{one}`")).collect();
        let locks = if declared.unnested { "any" } else { "nested" };
        writeln!(
            table,
            "| {name} | {} | {} | {} | {locks} | {} | {} |",
            questions.join(", "),
            declared.summary,
            features.join(", "),
            declared.covers,
            counts.join(", "),
        )
        .expect("strings take text");
    }
    table
}

/// `SELVEDGE_BLESS=1` writes the table into the book.
#[test]
fn the_table_of_the_book_is_what_the_engines_declare() {
    let path = root().join("book/src/engines/index.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (before, rest) = page.split_once("## All engines\n\n").expect("a section");
    let (words, rest) = rest.split_once("\n\n").expect("a sentence before the table");
    let (shown, after) = rest.split_once("\n\n").expect("something after the table");
    let table = table();
    if std::env::var_os("SELVEDGE_BLESS").is_some() {
        let page = format!("{before}## All engines\n\n{words}\n\n{table}\n{after}");
        std::fs::write(&path, page).expect("the page can be written");
    } else {
        assert_eq!(format!("{shown}\n"), table, "SELVEDGE_BLESS=1 writes it");
    }
}

fn example(name: &str) -> Program {
    let text = std::fs::read_to_string(root().join("examples").join(name)).expect("an example");
    let parsed = if name.ends_with(".bp") {
        selvedge_front_bool::parse(&text, &selvedge_front_bool::Options::default()).program
    } else {
        selvedge_front_eml::parse(&text).program
    };
    parsed.expect("a program")
}

/// An engine counts what it declares, and nothing else.
#[test]
fn engines_count_what_they_declare() {
    let (locks, data) = (example("three-threads.eml"), example("overbooking.bp"));
    let threads: Vec<_> = locks.threads.ids().collect();
    let locations: Vec<_> = locks.locations.ids().collect();
    let all = pattern_questions(&locks, &[1, 2, 12], Units::Exact, &threads, &locations);
    let patterns: Vec<Question> = all.into_iter().map(Question::Pattern).collect();
    let reach = vec![Question::Reach(Target::Assertion)];
    for engine in EngineKind::ALL {
        let declared = engine.declaration();
        let (program, questions) = match declared.questions.contains(&QuestionKind::Reach) {
            true => (&data, &reach),
            false => (&locks, &patterns),
        };
        let (prepared, options) = (Prepared::new(program), Options::new(Some(engine)));
        let report = answer(&prepared, questions, &options, &Budget::new(), &mut |_| {});
        let counted = report.expect("no contradiction").statistics.counts;
        let counted: BTreeSet<&str> = counted.iter().map(|&(name, _)| name).collect();
        let declared: BTreeSet<&str> = declared.counts.iter().copied().collect();
        assert_eq!(counted, declared, "{}", engine.name());
    }
}
