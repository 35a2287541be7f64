//! What `reach`, `race`, `deadlock` and `atomicity` write as SARIF, `JUnit` XML, Graphviz and HTML: the
//! findings of their answers.

mod checked;

use checked::{assert_dot, assert_harmless, assert_xml, lines_of_sarif, with_checks};
use insta::assert_snapshot;
use selvedge_analysis::{Options, Prepared, answer, possible_deadlocks};
use selvedge_base::{Budget, Place};
use selvedge_findings::{CheckedFile, FindingKind, findings};
use selvedge_program::moment::races;
use selvedge_program::question::pattern_questions;
use selvedge_program::{Program, Question, Target, Units};
use selvedge_report::html::{self, Meta};
use selvedge_report::{junit, sarif, witness_dot};

fn example(name: &str) -> String {
    let path = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What the answers to these questions show.
fn found(
    (file, text): (&str, &str),
    program: &Program,
    kind: FindingKind,
    subject: &str,
    questions: &[Question],
) -> CheckedFile {
    let (prepared, options) = (Prepared::new(program), Options::new(None));
    let report = answer(&prepared, questions, &options, &Budget::new(), &mut |_| {});
    let answers = report.expect("no fault").answers;
    let checked = findings(program, Some(kind), subject, &answers, None);
    CheckedFile {
        file: file.to_owned(),
        source: text.to_owned(),
        program: program.clone(),
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

/// A question to a Boolean program.
fn reached(text: &str, kind: FindingKind, subject: &str, target: Target) -> CheckedFile {
    let options = selvedge_front_bool::Options::default();
    let parsed = selvedge_front_bool::parse(text, &options);
    let program = parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    found(("walk.bp", text), &program, kind, subject, &[Question::Reach(target)])
}

fn walk() -> CheckedFile {
    reached(&example("recursive-walk.bp"), FindingKind::Assertion, "", Target::Assertion)
}

fn as_sarif(file: &CheckedFile) -> String {
    lines_of_sarif(&with_checks(std::slice::from_ref(file), sarif::render))
}

fn as_junit(file: &CheckedFile) -> String {
    let text = with_checks(std::slice::from_ref(file), junit::render);
    assert_xml(&text);
    text
}

fn as_html(file: &CheckedFile) -> String {
    let meta = Meta { options: "reach", ..Meta::new("Selvedge", "0.1.0") };
    html::render(std::slice::from_ref(file), &meta)
}

#[test]
fn a_failing_assertion_in_every_format() {
    let file = walk();
    assert_eq!(file.findings.len(), 1);
    let finding = &file.findings[0];
    assert_eq!(finding.reason, "An assertion fails: `even`");
    assert_eq!(finding.places, [Place::new(16, 5)]);
    assert_snapshot!("reach_sarif", as_sarif(&file));
    assert_snapshot!("reach_junit", as_junit(&file));
    let page = as_html(&file);
    let body = &page[page.find("<header").expect("a header")..];
    assert_snapshot!("reach_html", &body[..body.find("<dialog").expect("a dialog")]);
    let graph = witness_dot::render(finding, &file.program);
    assert_dot(&graph);
    assert!(graph.contains("even := !even") && graph.contains("assert even  fails"), "{graph}");
}

/// The lanes have the statement and what it changed; the failing one is marked, and the script knows
/// the values at first and after each step.
#[test]
fn lanes_have_values() {
    let file = walk();
    let page = as_html(&file);
    for part in [
        "<p class=\"first\">At first <code>even=F</code></p>",
        "<code class=\"statement\">even := T</code> <span class=\"values\">even=T</span>",
        "<code class=\"statement\">assert even</code> <strong class=\"fails\">fails</strong>",
        "<span class=\"dot\">!</span>",
        "\"first\":[[\"even\",\"F\"]]",
        "\"even := T\",[[\"even\",\"T\"]],false]",
        "\"assert even\",[],true]",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let last = file.findings[0].trace.steps.len();
    let marked = page.split("<li class=\"row").filter(|row| row.contains(" matched\""));
    let marked: Vec<&str> = marked.collect();
    assert_eq!(marked.len(), 1, "one step is marked");
    assert!(marked[0].contains(&format!("data-p=\"{last}\"")), "and it is the last one");
}

#[test]
fn labels_and_states_are_findings() {
    let text = "decl x; void main() begin x := T; HERE: x := F; end";
    let parsed = selvedge_front_bool::parse(text, &selvedge_front_bool::Options::default());
    let program = parsed.program.expect("valid");
    let nodes = program.labels.iter().filter(|label| label.name == "HERE").map(|label| label.node);
    let file = reached(text, FindingKind::Label, "HERE", Target::Label(nodes.collect()));
    assert_eq!(file.findings[0].reason, "Label `HERE` is reached");
    let log = as_sarif(&file);
    assert!(log.contains("\"ruleId\":\"label-reached\""), "{log}");
    let x = program.globals.ids().next().expect("one global");
    let state = selvedge_program::StatePattern {
        globals: vec![(x, 1)],
        threads: program.threads.iter().map(|_| selvedge_program::Position::Any).collect(),
        ..Default::default()
    };
    let file = reached(text, FindingKind::State, "x=1", Target::State(state));
    assert_eq!(file.findings[0].reason, "State `x=1` is reached");
    assert!(as_junit(&file).contains("type=\"state-reached\""));
}

/// The identity does not depend on lines, but on what is asserted and where.
#[test]
fn fingerprints_of_runs() {
    let text = example("recursive-walk.bp");
    let print = |text: &str| {
        let file = reached(text, FindingKind::Assertion, "", Target::Assertion);
        file.findings[0].fingerprint.clone()
    };
    assert_eq!(print(&text), print(&format!("// one more line\n{text}")));
    assert_ne!(print(&text), print(&text.replace("assert(even)", "assert(even & even)")));
}

/// Nothing is found: one test passes; a limit: it is an error.
#[test]
fn proofs_and_open_questions() {
    let safe = "decl x; void main() begin x := T; assert(x); end";
    let mut file = reached(safe, FindingKind::Assertion, "", Target::Assertion);
    assert!(file.findings.is_empty());
    let report = as_junit(&file);
    assert!(report.contains("no assertion failure"), "{report}");
    assert!(report.contains("failures=\"0\" errors=\"0\""), "{report}");
    file.tallies[0].1.unknown = 1;
    file.open = vec!["safe within 2 rounds".to_owned()];
    let report = as_junit(&file);
    assert!(report.contains("1 question left open: safe within 2 rounds"), "{report}");
    let log = with_checks(std::slice::from_ref(&file), sarif::render);
    assert!(log.contains("Questions were left open: safe within 2 rounds."), "{log}");
}

#[test]
fn hostile_names_of_runs() {
    let mut file = walk();
    let evil = |what: &str| format!("{what}<b>&\"'\u{1b}[31m\u{202e}\n`");
    for id in file.program.threads.ids() {
        file.program.threads[id].name = evil(&file.program.threads[id].name);
    }
    for id in file.program.globals.ids() {
        file.program.globals[id].name = evil(&file.program.globals[id].name);
    }
    assert_harmless(&as_junit(&file));
    let page = as_html(&file);
    assert!(!page.contains("<b>&\"'") && !page.contains('\u{1b}') && !page.contains('\u{202e}'));
    let log = with_checks(std::slice::from_ref(&file), sarif::render);
    assert!(!log.contains('\u{1b}') && !log.contains("\\u001b"), "{log}");
}

#[test]
fn other_analyses_have_findings_too() {
    let of = |name: &str, kind: FindingKind| {
        let text = example(name);
        let program = selvedge_front_eml::parse(&text).program.expect("valid");
        let threads: Vec<_> = program.threads.ids().collect();
        let locations: Vec<_> = program.locations.ids().collect();
        let questions: Vec<Question> = match kind {
            FindingKind::Deadlock => {
                let prepared = Prepared::new(&program);
                let cycles = possible_deadlocks(&prepared, &threads, &Budget::new()).asked;
                cycles.into_iter().map(Question::Deadlock).collect()
            }
            FindingKind::Race => {
                races(&threads, &locations).into_iter().map(Question::Race).collect()
            }
            _ => {
                let all: Vec<u32> = (1..=32).collect();
                let all = pattern_questions(&program, &all, Units::Exact, &threads, &locations);
                all.into_iter().map(Question::Pattern).collect()
            }
        };
        found((name, &text), &program, kind, "", &questions)
    };
    let file = of("bank-transfer.eml", FindingKind::Deadlock);
    assert_snapshot!("deadlock_alone_sarif", as_sarif(&file));
    assert_snapshot!("deadlock_alone_junit", as_junit(&file));
    let file = of("acquisition-histories.eml", FindingKind::Race);
    assert_snapshot!("race_alone_sarif", as_sarif(&file));
    assert_snapshot!("race_alone_junit", as_junit(&file));
    let file = of("acquisition-histories.eml", FindingKind::Atomicity);
    assert_snapshot!("atomicity_alone_sarif", as_sarif(&file));
    assert_snapshot!("atomicity_alone_junit", as_junit(&file));
}
