//! What the engines declare is what the book says and what they do.

use selvedge_analysis::{EngineKind, Options, Prepared, QuestionKind, answer};
use selvedge_base::Budget;
use selvedge_program::question::pattern_questions;
use selvedge_program::{Feature, Question, Target, Units};
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
        QuestionKind::Temporal,
    ];
    let mut table = "| engine | questions about | decides by | programs with | locks and units | \
                     `safe` covers | counts |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for engine in EngineKind::ALL {
        let declared = engine.declaration();
        let has_page = root().join(format!("book/src/engines/{}.md", declared.name)).exists();
        let quoted = format!("`{}`", declared.name);
        let name = if has_page { format!("[{quoted}]({}.md)", declared.name) } else { quoted };
        let questions = kinds.iter().filter(|kind| declared.questions.contains(kind));
        let questions: Vec<&str> = questions.map(|kind| kind.name()).collect();
        let names = |features: &[Feature]| -> String {
            let names: Vec<&str> = features.iter().map(|one| one.name()).collect();
            names.join("; ")
        };
        let mut features = names(declared.features);
        if !declared.with_events.is_empty() {
            let more = names(declared.with_events);
            let about = [QuestionKind::Atomicity, QuestionKind::Race, QuestionKind::Temporal];
            let about = about.iter().filter(|kind| {
                let other = **kind == QuestionKind::Temporal && declared.for_formulas.is_some();
                declared.questions.contains(kind) && !other
            });
            let about: Vec<&str> = about.map(|kind| kind.name()).collect();
            let about = about.join(", ");
            write!(features, "; for {about} also {more}").expect("strings take text");
        }
        if let Some(only) = declared.for_formulas {
            let (about, only) = (QuestionKind::Temporal.name(), names(only));
            write!(features, "; for {about} only {only}").expect("strings take text");
        }
        let counts: Vec<String> = declared.counts.iter().map(|one| format!("`{one}`")).collect();
        let locks = if declared.unnested { "any" } else { "nested" };
        writeln!(
            table,
            "| {name} | {} | {} | {} | {locks} | {} | {} |",
            questions.join(", "),
            declared.summary,
            features,
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

fn example(name: &str) -> String {
    std::fs::read_to_string(root().join("examples").join(name)).expect("an example")
}

/// An engine counts what it declares, and nothing else.
#[test]
fn engines_count_what_they_declare() {
    let locks = selvedge_front_eml::parse(&example("three-threads.eml")).program;
    let options = selvedge_front_bool::Options::default();
    let data = selvedge_front_bool::parse(&example("overbooking.bp"), &options).program;
    let (locks, data) = (locks.expect("a program"), data.expect("a program"));
    let threads: Vec<_> = locks.threads.ids().collect();
    let locations: Vec<_> = locks.locations.ids().collect();
    let all = pattern_questions(&locks, &[1, 2, 12], Units::Exact, &threads, &locations);
    let patterns: Vec<Question> = all.into_iter().map(Question::Pattern).collect();
    let reach = vec![Question::Reach(Target::Assertion)];
    let (formulas, _) = selvedge_logic::parse("A G !deadlock", &locks, &[]);
    let formulas: Vec<Question> = formulas.into_iter().map(Question::Temporal).collect();
    let mut wrong = Vec::new();
    for engine in EngineKind::ALL {
        let declared = engine.declaration();
        let about_data = declared.features.contains(&Feature::Values)
            && declared.questions.contains(&QuestionKind::Reach);
        let about_formulas = declared.questions == [QuestionKind::Temporal];
        let (program, questions) = match (about_data, about_formulas) {
            (true, _) => (&data, &reach),
            (_, true) => (&locks, &formulas),
            _ => (&locks, &patterns),
        };
        let (prepared, options) = (Prepared::new(program), Options::new(Some(engine)));
        let report = answer(&prepared, questions, &options, &Budget::new(), &mut |_| {});
        let counted = report.expect("no contradiction").statistics.counts;
        let counted: Vec<&str> = counted.iter().map(|&(name, _)| name).collect();
        if counted != declared.counts {
            wrong.push(format!("{} counts {counted:?}", engine.name()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
