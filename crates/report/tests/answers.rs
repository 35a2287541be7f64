//! What answers look like as text and as JSON.

mod common;

use common::{FIGURE_1, query, stack, trace};
use insta::assert_snapshot;
use selvedge_base::{Diagnostic, Id, Severity, Span, StopReason};
use selvedge_program::{
    Answer, IndexedSymbol, Ipa, LocationId, Observable, Phase, Program, Question, Statistics,
    ThreadId, Trace, Units, Unknown, Verdict,
};
use selvedge_report::{Answers, Asked, Detail, Patterns, Source, Terminal, json, text};
use std::collections::BTreeSet;
use std::time::Duration;

/// Runs `check` with answers that hold everything but `answers`.
fn with_answers<T>(
    program: &Program,
    asked: Asked<'_>,
    answers: &[Answer],
    check: impl FnOnce(&mut Answers<'_>) -> T,
) -> T {
    let statistics = Statistics { counts: vec![("tuples", 1234), ("summaries", 56)] };
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let locations: Vec<LocationId> = program.locations.ids().collect();
    check(&mut Answers {
        source: Source { name: "examples/stack.eml", text: "lock : stack;\nvar : count;\n" },
        program,
        asked,
        threads: &threads,
        locations: &locations,
        engine: "tupling",
        chosen: None,
        answers,
        unasked: None,
        not_listed: (0, 0),
        nothing_shared: false,
        left_out: Vec::new(),
        statistics: &statistics,
        elapsed: Duration::from_millis(12),
        peak_memory: Some(3 << 20),
        warnings: Vec::new(),
        portfolio: None,
    })
}

const ALL: Asked<'static> = Asked::Patterns(Patterns::All, Units::Exact);

const SHORT: text::Options = text::Options {
    witnesses: text::Witnesses::First(10),
    detail: Detail::Events,
    statistics: false,
};

fn as_text(answers: &Answers<'_>, options: text::Options) -> String {
    text::render(answers, options, Terminal::plain(80))
}

fn as_json(answers: &Answers<'_>, witnesses: json::Witnesses) -> String {
    let mut out = Vec::new();
    json::write(answers, witnesses, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn answered(question: Question, verdict: Verdict<Trace>) -> Answer {
    let verdict = verdict.map(Box::new);
    Answer { question, verdict, engine: "tupling", explored: None, searched: None, refined: None }
}

/// One answer of each kind, and a second violation.
fn mixed(program: &Program) -> Vec<Answer> {
    let figure = trace(program, FIGURE_1);
    let stopped = || Verdict::Unknown(Unknown::Stopped(StopReason::Timeout));
    let answer = answered;
    vec![
        answer(query(12, &[0, 1]), Verdict::Violation(figure.clone())),
        answer(query(12, &[1, 0]), Verdict::Safe),
        answer(query(1, &[0]), Verdict::Unknown(Unknown::CallDepth(5))),
        answer(query(2, &[0]), stopped()),
        answer(query(2, &[1]), stopped()),
        answer(query(20, &[0, 1]), Verdict::Violation(figure)),
    ]
}

/// The automaton of paper 000 Fig. 2, by its phase transitions.
fn figure_2() -> Ipa {
    let symbol = |thread, symbol| IndexedSymbol { thread: ThreadId::from_index(thread), symbol };
    let (count, data) = (LocationId::from_index(0), LocationId::from_index(1));
    let advances = [
        symbol(0, Observable::BeginUnit),
        symbol(0, Observable::Read(count)),
        symbol(1, Observable::Write(data)),
        symbol(1, Observable::Write(count)),
        symbol(0, Observable::Read(data)),
    ];
    let phase = |advance| Phase { name: "q".to_owned(), loops: BTreeSet::new(), advance };
    Ipa { name: "fig2".to_owned(), phases: advances.into_iter().map(phase).collect() }
}

#[test]
fn all_kinds_of_answers() {
    let program = stack();
    with_answers(&program, ALL, &mixed(&program), |answers| {
        assert_eq!(answers.verdict(), "violation");
        assert_snapshot!("mixed_text", as_text(answers, SHORT));
        assert_snapshot!("mixed_json", as_json(answers, json::Witnesses::Included));
        let one = text::Options { witnesses: text::Witnesses::First(1), statistics: true, ..SHORT };
        assert_snapshot!("one_witness", as_text(answers, one));
        let none = text::Options { witnesses: text::Witnesses::Hidden, ..SHORT };
        assert_snapshot!("no_witness", as_text(answers, none));
        let short = as_json(answers, json::Witnesses::Omitted);
        assert!(!short.contains("\"witness\""));
        assert!(short.contains("\"verdict\":\"violation\""));
    });
}

/// Violation over unknown over safe.
#[test]
fn the_worst_answer_is_the_verdict() {
    let program = stack();
    let all = mixed(&program);
    for (range, verdict) in [(0..6, "violation"), (1..5, "unknown"), (1..2, "safe")] {
        with_answers(&program, ALL, &all[range], |answers| {
            assert_eq!(answers.verdict(), verdict);
        });
    }
}

#[test]
fn a_proof_says_what_it_covers() {
    let program = stack();
    let safe = [answered(query(12, &[1, 0]), Verdict::Safe)];
    let automaton = [answered(Question::Automaton(figure_2()), Verdict::Safe)];
    let shown = |asked, answers: &[Answer]| {
        with_answers(&program, asked, answers, |answers| as_text(answers, SHORT))
    };
    let all = [
        shown(ALL, &safe),
        shown(Asked::Patterns(Patterns::Vaziri, Units::Exact), &safe),
        shown(Asked::Patterns(Patterns::Vaziri, Units::Paper), &safe),
        shown(Asked::Patterns(Patterns::Numbers(vec![12, 13]), Units::Exact), &safe),
        shown(Asked::Property("fig2.ipa"), &automaton),
        shown(ALL, &[]),
        with_answers(&program, ALL, &safe, |answers| {
            answers.threads = &answers.threads[..1];
            answers.locations = &answers.locations[..1];
            as_text(answers, SHORT)
        }),
    ];
    assert_snapshot!("coverage", all.join("\n"));
}

#[test]
fn properties_have_the_name_of_their_file() {
    let program = stack();
    let trace = trace(&program, FIGURE_1);
    let answer = answered(Question::Automaton(figure_2()), Verdict::Violation(trace));
    let asked = Asked::Property("properties/fig2.ipa");
    with_answers(&program, asked, &[answer], |answers| {
        assert_snapshot!("property_text", as_text(answers, SHORT));
        assert_snapshot!("property_json", as_json(answers, json::Witnesses::Omitted));
    });
}

#[test]
fn warnings_are_part_of_the_json() {
    let program = stack();
    let warnings = [
        Diagnostic::global("too-few-threads", Severity::Warning, "only one thread"),
        Diagnostic::error("unused", "`count` is never used", Span::new(20, 25), "here")
            .with_severity(Severity::Warning),
    ];
    with_answers(&program, ALL, &[], |answers| {
        let of_model = (answers.source, &warnings[1]);
        let property = Source { name: "fig2.ipa", text: "" };
        let answers =
            Answers { warnings: vec![of_model, (property, &warnings[0])], ..answers.clone() };
        assert_snapshot!("warnings_json", as_json(&answers, json::Witnesses::Included));
    });
}

/// Any JSON reader takes it, whatever the names are.
#[test]
fn the_json_is_json() {
    let mut program = stack();
    program.threads[ThreadId::from_index(0)].name = "T\"1\\\u{1b}\n\u{2028}".to_owned();
    let answers = mixed(&stack());
    with_answers(
        &program,
        Asked::Patterns(Patterns::Numbers(vec![1, 2]), Units::Exact),
        &answers,
        |answers| {
            answers.peak_memory = None;
            let text = as_json(answers, json::Witnesses::Included);
            let value: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
            let queries = value["queries"].as_array().expect("an array");
            assert_eq!(queries.len(), 6);
            assert_eq!(queries[0]["unit_thread"], "T\"1\\\u{1b}\n\u{2028}");
            assert_eq!(value["options"]["patterns"], serde_json::json!([1, 2]));
            let witness = queries[0]["witness"].as_array().expect("an array");
            let matched: Vec<_> =
                witness.iter().filter_map(|step| step.get("matched")?.as_u64()).collect();
            assert_eq!(matched, [1, 2, 3, 4]);
            assert!(witness[0].as_object().is_some_and(|step| !step.contains_key("matched")));
        },
    );
}
