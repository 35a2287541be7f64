//! What `selvedge check`, `selvedge race` and `selvedge deadlock` write, in every format.

mod checked;

use checked::{
    as_json, check_text, checked_example, deadlocks_of, hostile_file, lines_of_sarif, races_of,
    with_checks,
};
use insta::{assert_snapshot, with_settings};
use selvedge_base::{Budget, Diagnostic, Span};
use selvedge_findings::{CheckedFile, Finding, FindingKind};
use selvedge_program::{Move, StepKind, TraceStep};
use selvedge_report::findings_text::{self, Options};
use selvedge_report::{
    Checks, Detail, Source, Terminal, findings_json, json, junit, lock_order, quotes, sarif, text,
    witness_dot,
};

/// Deadlocks, broken units, races, and none of them.
const EXAMPLES: [&str; 8] = [
    "acquisition-histories",
    "bank-transfer",
    "bank-transfer-split",
    "double-checked",
    "reentrant",
    "stack",
    "three-threads",
    "write-skew",
];

const EVERYTHING: Options =
    Options { witnesses: text::Witnesses::First(usize::MAX), detail: Detail::Events };

const ANSWERS: text::Options = text::Options {
    witnesses: text::Witnesses::First(usize::MAX),
    detail: Detail::Events,
    statistics: false,
};

fn as_text(files: &[CheckedFile], options: Options, terminal: Terminal) -> String {
    with_checks(files, |checks| findings_text::render(checks, options, terminal))
}

fn each_example(format: &str, render: impl Fn(&CheckedFile) -> String) {
    for name in EXAMPLES {
        let file = checked_example(name);
        with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            assert_snapshot!(format!("{format}__{name}"), render(&file));
        });
    }
}

#[test]
fn examples_as_text() {
    each_example("check_text", |file| {
        as_text(std::slice::from_ref(file), EVERYTHING, Terminal::plain(80))
    });
}

#[test]
fn examples_as_json() {
    each_example("check_json", |file| {
        with_checks(std::slice::from_ref(file), |checks| {
            as_json(|out| findings_json::write(checks, json::Witnesses::Included, out))
        })
    });
}

#[test]
fn examples_as_sarif() {
    each_example("sarif", |file| {
        lines_of_sarif(&with_checks(std::slice::from_ref(file), sarif::render))
    });
}

#[test]
fn examples_as_junit() {
    each_example("junit", |file| with_checks(std::slice::from_ref(file), junit::render));
}

#[test]
fn examples_as_graphs() {
    each_example("lock_order", |file| {
        let edges = selvedge_analysis::lock_order(&file.program, &Budget::new());
        let graph = lock_order::render(&file.program, &edges.expect("nested"));
        checked::assert_dot(&graph);
        graph
    });
    each_example("witness_dot", |file| {
        let graph = |finding: &Finding| witness_dot::render(finding, &file.program);
        let graphs: Vec<String> = file.findings.iter().map(graph).collect();
        for graph in &graphs {
            checked::assert_dot(graph);
        }
        graphs.concat()
    });
}

#[test]
fn examples_of_races_and_deadlocks() {
    each_example("race_text", |file| {
        races_of(file, |races| text::render(races, ANSWERS, Terminal::plain(80)))
    });
    each_example("race_json", |file| {
        races_of(file, |races| as_json(|out| json::write(races, json::Witnesses::Included, out)))
    });
    each_example("deadlock_text", |file| {
        deadlocks_of(file, |cycles| text::render(cycles, ANSWERS, Terminal::plain(80)))
    });
    each_example("deadlock_json", |file| {
        deadlocks_of(file, |cycles| {
            as_json(|out| json::write(cycles, json::Witnesses::Included, out))
        })
    });
}

/// A run over several files: suppressed findings, a baseline, an open question, an unreadable file.
fn mixed() -> Vec<CheckedFile> {
    let mut stack = checked_example("stack");
    let known = stack.findings[0].clone();
    let suppressed = known.clone();
    stack.known.push(known);
    stack.suppressed.push((suppressed, "seen & \"accepted\" <2026>".to_owned()));
    let mut open = checked_example("reentrant");
    open.open = vec!["the time limit was reached".to_owned()];
    open.tallies[1].1.unknown = 3;
    open.tallies[1].1.safe -= 3;
    vec![stack, open, checked_example("bank-transfer"), checked_example("early-return")]
}

#[test]
fn a_run_over_several_files() {
    let files = mixed();
    let broken = Diagnostic::error("missing-token", "expected `;`", Span::new(4, 5), "here");
    let broken_text = "lock\n : a";
    let run = |render: &dyn Fn(&Checks<'_>) -> String| {
        with_checks(&files, |checks| {
            let mut checks = checks.clone();
            checks.complaints.push((Source { name: "broken.eml", text: broken_text }, &broken));
            render(&checks)
        })
    };
    let options = Options { witnesses: text::Witnesses::First(1), detail: Detail::Events };
    assert_snapshot!(
        "several_text",
        run(&|checks| findings_text::render(checks, options, Terminal::plain(100)))
    );
    assert_snapshot!(
        "several_json",
        run(&|checks| as_json(|out| findings_json::write(checks, json::Witnesses::Omitted, out)))
    );
    assert_snapshot!("several_sarif", run(&|checks| lines_of_sarif(&sarif::render(checks))));
    assert_snapshot!("several_junit", run(&|checks| junit::render(checks)));
}

#[test]
fn the_summary_fits_a_screen() {
    let stack = checked_example("stack");
    let mut many = stack.clone();
    for _ in 0..6 {
        let again = many.findings.clone();
        many.findings.extend(again);
    }
    let quiet = checked_example("reentrant");
    let mut files = vec![many];
    files.extend(std::iter::repeat_n(quiet, 40));
    let hidden = Options { witnesses: text::Witnesses::Hidden, detail: Detail::Events };
    let shown = as_text(&files, hidden, Terminal::plain(80));
    assert!(shown.lines().count() <= 26, "{shown}");
    assert!(shown.contains("64 findings") && shown.contains("… and 52"), "{shown}");
    assert!(shown.contains("40 files without a finding"), "{shown}");
}

#[test]
fn text_fits_the_width_and_colours_change_nothing_else() {
    let files: Vec<CheckedFile> = EXAMPLES.map(checked_example).into();
    for width in [60, 80, 100, 140] {
        let plain = as_text(&files, EVERYTHING, Terminal::plain(width));
        for line in plain.lines().filter(|line| line.starts_with("  ") && !line.contains('|')) {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        let colored = as_text(&files, EVERYTHING, Terminal { width, color: true });
        assert!(colored.contains('\u{1b}'));
        let stripped = checked::without_colors(&colored);
        // The snippets of the drawing library end lines differently in colour.
        let lines =
            |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(lines(&stripped), lines(&plain), "{width}");
    }
}

/// Every row of the table shows the bars of the locks that are held then, and of no others.
#[test]
fn bars_are_held_locks() {
    for name in EXAMPLES {
        let file = checked_example(name);
        for finding in &file.findings {
            let shown = findings_text::render_finding(
                finding,
                &file,
                Detail::Everything,
                Terminal::plain(200),
            );
            let bars = |shape: char| shown.chars().filter(|&c| c == shape).count();
            let count = |wanted: fn(&StepKind) -> bool| {
                finding.trace.steps.iter().filter(|step| wanted(&step.kind)).count()
            };
            assert_eq!(
                bars('┌'),
                count(|kind| matches!(kind, StepKind::Acquire(_))),
                "{name}\n{shown}"
            );
            assert_eq!(
                bars('└'),
                count(|kind| matches!(kind, StepKind::Release(_))),
                "{name}\n{shown}"
            );
        }
    }
}

#[test]
fn hostile_names_are_escaped_everywhere() {
    let file = hostile_file();
    let kinds: Vec<FindingKind> = file.findings.iter().map(|finding| finding.kind).collect();
    let wanted = [FindingKind::Deadlock, FindingKind::Atomicity, FindingKind::Race];
    assert!(wanted.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    let files = [file];
    let file = &files[0];

    let shown = as_text(&files, EVERYTHING, Terminal::plain(80));
    checked::assert_harmless(&shown);
    checked::assert_harmless(&races_of(file, |races| {
        text::render(races, ANSWERS, Terminal::plain(80))
    }));
    checked::assert_harmless(&deadlocks_of(file, |cycles| {
        text::render(cycles, ANSWERS, Terminal::plain(80))
    }));

    let xml = with_checks(&files, junit::render);
    checked::assert_harmless(&xml);
    checked::assert_xml(&xml);
    assert!(!xml.contains("<b>"), "{xml}");

    let log = with_checks(&files, sarif::render);
    checked::assert_harmless(&log);
    let parsed: serde_json::Value = serde_json::from_str(&log).expect("JSON");
    let results = parsed["runs"][0]["results"].as_array().expect("results");
    for result in results {
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(uri, "a%20%3Cb%3E%22%1B%5B31m%3A%25.eml");
        let message = result["message"]["text"].as_str().expect("text");
        assert!(!message.contains("](") || message.contains("\\]("), "{message}");
        assert!(!message.contains('\u{1b}'), "{message}");
    }

    let object = with_checks(&files, |checks| {
        as_json(|out| findings_json::write(checks, json::Witnesses::Included, out))
    });
    let parsed: serde_json::Value = serde_json::from_str(&object).expect("JSON");
    assert_eq!(parsed["files"][0]["file"], file.file.as_str(), "names are exact in JSON");

    for finding in &file.findings {
        let graph = witness_dot::render(finding, &file.program);
        checked::assert_harmless(&graph);
        checked::assert_dot(&graph);
    }
    let edges = selvedge_analysis::lock_order(&file.program, &Budget::new()).expect("nested");
    let graph = lock_order::render(&file.program, &edges);
    checked::assert_harmless(&graph);
    checked::assert_dot(&graph);
}

#[test]
fn junit_is_well_formed() {
    let files: Vec<CheckedFile> = EXAMPLES.map(checked_example).into();
    checked::assert_xml(&with_checks(&files, junit::render));
    checked::assert_xml(&with_checks(&[], junit::render));
    checked::assert_xml(&with_checks(&mixed(), junit::render));
}

/// The shape that code hosts rely on.
#[test]
fn sarif_has_thread_flows_in_execution_order() {
    let files: Vec<CheckedFile> = EXAMPLES.map(checked_example).into();
    let log: serde_json::Value =
        serde_json::from_str(&with_checks(&files, sarif::render)).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let findings: Vec<_> = files.iter().flat_map(|file| &file.findings).collect();
    assert_eq!(results.len(), findings.len());
    for (result, finding) in results.iter().zip(findings) {
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert_eq!(result["partialFingerprints"]["selvedge/v1"], finding.fingerprint.as_str());
        let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("flows");
        // First all steps in their order, because common viewers show only that.
        let (merged, flows) = flows.split_first().expect("a flow");
        let merged = merged["locations"].as_array().expect("locations").iter();
        let merged: Vec<u64> =
            merged.map(|step| step["executionOrder"].as_u64().expect("order")).collect();
        let mut orders: Vec<u64> = Vec::new();
        let mut essential = 0;
        for flow in flows {
            let steps = flow["locations"].as_array().expect("locations");
            let own: Vec<u64> =
                steps.iter().map(|step| step["executionOrder"].as_u64().expect("order")).collect();
            assert!(own.is_sorted());
            orders.extend(own);
            essential += steps.iter().filter(|step| step["importance"] == "essential").count();
        }
        orders.sort_unstable();
        let all = finding.trace.steps.len() + finding.trace.next.len();
        assert_eq!(orders, (1..=all as u64).collect::<Vec<_>>());
        assert_eq!(merged, orders);
        let marked = finding.trace.steps.iter().filter(|step| step.matched.is_some()).count();
        assert_eq!(essential, marked + finding.trace.next.len());
    }
}

/// A witness of many thousand steps is cut, but not where it matters.
#[test]
fn long_witnesses_are_cut_in_sarif_and_graphs() {
    let mut file = check_text(
        "long.eml",
        "var : x; process T1 { main { unit { read x; while (*) { read x; } write x; } } }
         process T2 { main { write x; } }",
    );
    let finding = file
        .findings
        .iter_mut()
        .find(|finding| finding.kind == FindingKind::Atomicity)
        .expect("a lost update");
    let marked = finding.trace.steps.iter().filter(|step| step.matched.is_some()).count();
    let first = finding.trace.steps[0].clone();
    let padding = TraceStep { kind: StepKind::Read(finding.locations[0]), matched: None, ..first };
    let at = finding.trace.steps.iter().position(|step| step.matched.is_some()).expect("one") + 1;
    finding.trace.steps.splice(at..at, std::iter::repeat_n(padding, 20_000));
    let finding = finding.clone();
    file.findings = vec![finding];
    let files = [file];
    let log: serde_json::Value =
        serde_json::from_str(&with_checks(&files, sarif::render)).expect("JSON");
    let flows = &log["runs"][0]["results"][0]["codeFlows"][0];
    let steps: Vec<_> = flows["threadFlows"]
        .as_array()
        .expect("flows")
        .iter()
        .flat_map(|flow| flow["locations"].as_array().expect("locations"))
        .collect();
    assert_eq!(steps.len(), 5_000);
    // Each step is in the flow of all threads and in that of its own.
    assert_eq!(steps.iter().filter(|step| step["importance"] == "essential").count(), 2 * marked);
    assert!(flows["message"]["text"].as_str().expect("text").contains("left out"));
    let xml = with_checks(&files, junit::render);
    checked::assert_xml(&xml);
    assert!(xml.len() < 100_000, "{}", xml.len());
}

/// A finding that does not count, for either reason, is still not proved absent.
#[test]
fn not_counting_is_no_proof() {
    let stack = checked_example("stack");
    let mut known = stack.clone();
    known.known.append(&mut known.findings);
    let mut suppressed = stack;
    let findings = std::mem::take(&mut suppressed.findings);
    suppressed.suppressed = findings.into_iter().map(|own| (own, "why".to_owned())).collect();
    for file in [known, suppressed] {
        let shown = as_text(&[file], EVERYTHING, Terminal::plain(80));
        assert!(shown.contains("No data race"), "{shown}");
        assert!(!shown.contains("No atomicity violation"), "{shown}");
        assert!(!shown.contains("safe:"), "{shown}");
    }
}

/// Only what counts decides; an open question or an unreadable file leaves nothing proved.
#[test]
fn verdicts_of_runs() {
    let verdict = |files: &[CheckedFile]| with_checks(files, |checks| checks.verdict().to_owned());
    let stack = checked_example("stack");
    let safe = checked_example("reentrant");
    assert_eq!(verdict(&[safe.clone(), stack.clone()]), "violation");
    assert_eq!(verdict(std::slice::from_ref(&safe)), "safe");
    let mut silent = stack;
    silent.known.extend(silent.findings.pop());
    silent.suppressed.push((silent.known[0].clone(), String::new()));
    assert_eq!(verdict(&[silent.clone()]), "safe");
    let shown = as_text(&[silent], EVERYTHING, Terminal::plain(80));
    assert!(shown.contains("not counted: 1 suppressed by the configuration, 1 known"), "{shown}");
    assert!(!shown.contains("safe:") && shown.contains("proved:"), "{shown}");
    let mut open = safe.clone();
    open.tallies[0].1.unknown = 1;
    assert_eq!(verdict(&[open]), "unknown");
    let error = Diagnostic::error("missing-token", "expected `;`", Span::new(0, 0), "here");
    with_checks(&[safe], |checks| {
        let mut checks = checks.clone();
        checks.complaints.push((Source { name: "broken.eml", text: "" }, &error));
        assert_eq!(checks.verdict(), "unknown");
        assert!(!findings_text::render(&checks, EVERYTHING, Terminal::plain(80)).contains("safe:"));
        let log: serde_json::Value = serde_json::from_str(&sarif::render(&checks)).expect("JSON");
        assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
    });
}

#[test]
fn cycles_that_could_not_be_listed_are_unknown() {
    let file = checked_example("reentrant");
    let why = selvedge_program::Unknown::Unsupported("locks must be nested".to_owned());
    deadlocks_of(&file, |cycles| {
        let mut cycles = cycles.clone();
        cycles.unasked = Some(&why);
        assert_eq!(cycles.verdict(), "unknown");
        let shown = text::render(&cycles, ANSWERS, Terminal::plain(80));
        assert!(shown.starts_with("unknown  locks must be nested\n"), "{shown}");
        assert!(!shown.contains("safe:"), "{shown}");
        let object = as_json(|out| json::write(&cycles, json::Witnesses::Included, out));
        let object: serde_json::Value = serde_json::from_str(&object).expect("JSON");
        assert_eq!(object["open"][0]["reason"], "locks must be nested");
        assert_eq!(object["verdict"], "unknown");
    });
}

/// One thread alone cannot wait for itself, whatever order it takes its locks in.
#[test]
fn only_cycles_of_two_threads_are_red() {
    let graph = |text: &str| {
        let program = selvedge_front_eml::parse(text).program.expect("valid");
        let edges = selvedge_analysis::lock_order(&program, &Budget::new()).expect("nested");
        lock_order::render(&program, &edges)
    };
    let both = "synchronized(a) { synchronized(b) { skip; } } \
                synchronized(b) { synchronized(a) { skip; } }";
    let alone = graph(&format!(
        "lock : a, b, c; process T {{ main {{ {both} synchronized(c) {{ synchronized(a) {{ skip; }} }} }} }}"
    ));
    assert!(!alone.contains("red") && alone.matches("->").count() == 3, "{alone}");
    let two = graph(&format!(
        "lock : a, b, c; process T {{ main {{ {both} }} }}
         process U {{ main {{ synchronized(c) {{ synchronized(a) {{ {both} }} }} }} }}"
    ));
    let red: Vec<&str> =
        two.lines().filter(|line| line.contains("->") && line.contains("red")).collect();
    assert_eq!(red.len(), 2, "{two}");
    assert!(red[0].contains("T :1\\nU :2"), "{two}");
}

/// What the other thread does after the last access of the broken unit is not "in between".
#[test]
fn remarks_say_what_lies_in_between() {
    let file = checked_example("write-skew");
    let mut finding = file.findings[0].clone();
    let [unit, other] = finding.threads[..] else { panic!("two threads") };
    let [x, y] = finding.locations[..] else { panic!("two locations") };
    let step = |thread, kind, number| TraceStep {
        matched: Some(number),
        ..TraceStep::plain(thread, Move::Return, kind, selvedge_base::Place::NONE)
    };
    finding.trace.steps = vec![
        step(unit, StepKind::Read(x), 1),
        step(other, StepKind::Read(y), 2),
        step(unit, StepKind::Write(y), 3),
        step(other, StepKind::Write(x), 4),
    ];
    let remarks = quotes::remarks(&finding, &file.program);
    let texts: Vec<&str> = remarks.iter().map(|remark| remark.text.as_str()).collect();
    let expected = ["A reads `x`", "B reads `y` in between", "A writes `y`", "B writes `x`"];
    assert_eq!(texts, expected);
    assert_eq!(quotes::render(&finding, &file, Terminal::plain(80)), "", "no place is known");
}
