//! Real findings of real programs, and small checkers of the formats.

#![allow(dead_code, reason = "each user takes a part of it")]

use selvedge_analysis::{EngineKind, Options, Prepared, answer, possible_deadlocks};
use selvedge_base::Budget;
use selvedge_findings::{CheckedFile, FindingKind};
use selvedge_library::{CheckOptions, Fixes, check};
use selvedge_program::moment::races;
use selvedge_program::{Program, Question, Statistics, Units};
use selvedge_report::{Answers, Asked, Checks, RunSettings, Source};
use std::time::Duration;

/// Checks an example of the repository.
pub fn checked_example(name: &str) -> CheckedFile {
    let file = format!("examples/{name}.eml");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let text = std::fs::read_to_string(format!("{root}{file}"));
    check_text(&file, &text.unwrap_or_else(|error| panic!("{file}: {error}")))
}

/// Checks a text under this name.
pub fn check_text(file: &str, text: &str) -> CheckedFile {
    let parsed = selvedge_front_eml::parse(text);
    let program = parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    check_program(file, text, program)
}

/// Checks a program under this name.
pub fn check_program(file: &str, text: &str, program: Program) -> CheckedFile {
    let options = CheckOptions {
        kinds: FindingKind::ALL.to_vec(),
        patterns: (1..=32).collect(),
        units: Units::Exact,
        chosen: false,
        add_units: None,
        analysis: Options::new(Some(EngineKind::Tupling)),
        fixes: Fixes::Look,
    };
    let checked = check(&program, &options, &Budget::new(), &mut |_, _, _| {});
    let checked = checked.expect("no fault");
    CheckedFile {
        file: file.to_owned(),
        source: text.to_owned(),
        program,
        findings: checked.findings,
        suppressed: Vec::new(),
        known: Vec::new(),
        tallies: checked.tallies,
        open: checked.open,
        not_reproducible: false,
        left_out: Vec::new(),
        not_asked: Vec::new(),
        nothing_shared: false,
        claims: Vec::new(),
        sources: std::collections::BTreeMap::new(),
    }
}

/// A name that begins with `what` and that no format can show as it is.
pub fn hostile_name(what: &str) -> String {
    format!("{what}<b>&\"'\u{1b}[31m\u{202e}\n\\](http://x) {{0}} `%s")
}

/// A program with every kind of finding in which nothing has a harmless name.
pub fn hostile_file() -> CheckedFile {
    let text = "lock : a, b; var : x, y;
        process T1 { f { unit { read x; write y; write x; } }
                     main { f(); synchronized(a) { synchronized(b) { skip; } } } }
        process T2 { main { unit { write x; read y; } synchronized(b) { synchronized(a) { skip; } } } }
        // \u{1b}[31m <b>&\"' \u{202e}";
    let mut program = selvedge_front_eml::parse(text).program.expect("valid");
    let evil = hostile_name;
    for id in program.threads.ids() {
        program.threads[id].name = evil(&program.threads[id].name);
    }
    for id in program.locks.ids() {
        program.locks[id].name = evil(&program.locks[id].name);
    }
    for id in program.locations.ids() {
        program.locations[id].name = evil(&program.locations[id].name);
    }
    for id in program.procedures.ids() {
        program.procedures[id].name = evil(&program.procedures[id].name);
    }
    check_program("a <b>\"\u{1b}[31m:%.eml", text, program)
}

/// Calls `report` with a run over these files.
pub fn with_checks<T>(files: &[CheckedFile], report: impl FnOnce(&Checks<'_>) -> T) -> T {
    report(&Checks {
        files,
        complaints: Vec::new(),
        other_files: 0,
        settings: RunSettings::default(),
        elapsed: Duration::from_millis(12),
    })
}

/// Calls `report` with the races of a file.
pub fn races_of<T>(file: &CheckedFile, report: impl FnOnce(&Answers<'_>) -> T) -> T {
    let threads: Vec<_> = file.program.threads.ids().collect();
    let locations: Vec<_> = file.program.locations.ids().collect();
    let questions: Vec<Question> =
        races(&threads, &locations).into_iter().map(Question::Race).collect();
    with_moments(file, Asked::Race, &questions, report)
}

/// Calls `report` with the deadlocks of a file.
pub fn deadlocks_of<T>(file: &CheckedFile, report: impl FnOnce(&Answers<'_>) -> T) -> T {
    let threads: Vec<_> = file.program.threads.ids().collect();
    let prepared = Prepared::new(&file.program);
    let cycles = possible_deadlocks(&prepared, &threads, &Budget::new()).asked;
    let questions: Vec<Question> = cycles.into_iter().map(Question::Deadlock).collect();
    with_moments(file, Asked::Deadlock, &questions, report)
}

fn with_moments<T>(
    file: &CheckedFile,
    asked: Asked<'_>,
    questions: &[Question],
    report: impl FnOnce(&Answers<'_>) -> T,
) -> T {
    let options = Options::new(Some(EngineKind::Tupling));
    let answers =
        answer(&Prepared::new(&file.program), questions, &options, &Budget::new(), &mut |_| {})
            .expect("fine");
    let threads: Vec<_> = file.program.threads.ids().collect();
    let locations: Vec<_> = file.program.locations.ids().collect();
    report(&Answers {
        source: Source { name: &file.file, text: &file.source },
        program: &file.program,
        asked,
        threads: &threads,
        locations: &locations,
        engine: "tupling",
        chosen: None,
        answers: &answers.answers,
        unasked: None,
        not_listed: (0, 0),
        nothing_shared: false,
        left_out: Vec::new(),
        statistics: &Statistics { counts: vec![("summaries", 56)] },
        elapsed: Duration::from_millis(12),
        peak_memory: None,
        warnings: Vec::new(),
        portfolio: None,
    })
}

/// What `write` writes, which must be JSON.
pub fn as_json(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes everything");
    let text = String::from_utf8(out).expect("JSON is UTF-8");
    serde_json::from_str::<serde_json::Value>(&text).expect("JSON");
    text
}

/// A SARIF log with a line per rule, result, thread flow and step.
pub fn lines_of_sarif(log: &str) -> String {
    let mut lines = log.to_owned();
    for beginning in ["{\"id\":\"", "{\"ruleId\":", "{\"location\":{\"physical", "\"artifacts\":"] {
        lines = lines.replace(beginning, &format!("\n{beginning}"));
    }
    lines
}

/// Without the control sequences of colours.
pub fn without_colors(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let end = rest[at..].find('m').expect("a colour ends with m");
        rest = &rest[at + end + 1..];
    }
    out + rest
}

/// Nothing that a terminal acts upon.
pub fn assert_harmless(text: &str) {
    for c in text.chars() {
        let harmless = c == '\n' || !c.is_control() && c != '\u{202e}';
        let at = text.chars().position(|other| other == c).unwrap_or(0);
        let around: String = text.chars().skip(at.saturating_sub(60)).take(80).collect();
        assert!(harmless, "{c:?} in {around:?}");
    }
}

/// Elements are closed in order, attributes are quoted and unique, `&` begins a known entity.
pub fn assert_xml(text: &str) {
    let body = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("a prolog");
    let mut open: Vec<&str> = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        assert_text(&rest[..at]);
        let end = rest[at..].find('>').expect("a tag ends") + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed in order");
            continue;
        }
        let (tag, closed) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
        let mut names: Vec<&str> = Vec::new();
        while !attributes.is_empty() {
            let (name, value) = attributes.split_once("=\"").expect("a quoted value");
            assert!(!names.contains(&name), "{name} twice");
            names.push(name);
            let (value, next) = value.split_once('"').expect("the end of a value");
            assert_text(value);
            assert!(!value.contains('\n'));
            attributes = next.trim_start();
        }
        if !closed {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert_text(rest);
}

fn assert_text(text: &str) {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#9;"];
        assert!(known.iter().any(|entity| text[at..].starts_with(entity)), "{}", &text[at..]);
    }
    assert!(!text.contains('>') && !text.contains('"') || !text.contains('<'), "{text}");
}

/// Braces, brackets and strings of a graph are closed, and every line is a statement.
pub fn assert_dot(text: &str) {
    let mut nesting: Vec<char> = Vec::new();
    let mut in_string = false;
    let mut escaped = false;
    for c in text.chars() {
        if in_string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                '\n' => panic!("a string over two lines in {text}"),
                _ => {}
            }
            continue;
        }
        match c {
            '"' => in_string = true,
            '{' => nesting.push('}'),
            '[' => nesting.push(']'),
            '}' | ']' => assert_eq!(nesting.pop(), Some(c), "{text}"),
            '<' => panic!("HTML in {text}"),
            _ => {}
        }
    }
    assert!(!in_string && nesting.is_empty(), "{text}");
    for line in text.lines() {
        assert!(line.ends_with([';', '{', '}']), "{line}");
    }
}
