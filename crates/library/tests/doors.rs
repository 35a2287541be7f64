//! What a door without files, threads and a clock can do: everything here is made from strings.

use selvedge_analysis::Options;
use selvedge_analysis::driver::INTERNAL_ERROR;
use selvedge_base::{Budget, Diagnostic, Severity, StopReason};
use selvedge_findings::{CheckedFile, FindingKind};
use selvedge_library::baseline::{self, Baseline};
use selvedge_library::cache::{Key, Store};
use selvedge_library::file::{FileAnswer, Loaded};
use selvedge_library::render::{Extent, Format, page_of_checks, write_answers, write_checks};
use selvedge_library::replay::{Replayed, execute, replays};
use selvedge_library::{
    CheckOptions, Inquiry, InquiryError, Model, ReachError, ReachRequest, Reading, Request,
    Subject, Text, Texts, config, load, reach, suppress,
};
use selvedge_program::Units;
use selvedge_report::{Answers, Checks, RunSettings, Sought, Terminal};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const ACCOUNT: &str = "\
lock : l, m;
var : balance;
process A {
    main { unit { synchronized(l) { read balance; } synchronized(l) { write balance; } }
           synchronized(l) { synchronized(m) { skip; } } }
}
process B {
    main { unit { write balance; } synchronized(m) { synchronized(l) { skip; } } }
}
";

const HANDSHAKE: &str = "program
global ready = F
thread A main main { procedure main nodes 2 entry 0 exit 1 { 0 -> 1 assert !ready } }
thread B main main { procedure main nodes 2 entry 0 exit 1 { 0 -> 1 skip do ready := T } }
";

fn loaded(name: &str, text: &str) -> Loaded {
    Loaded::new(Text::new(name, text), true)
}

fn check(file: &Loaded, store: Option<&dyn Store>, budget: &Budget) -> FileAnswer {
    let cache = store.map(|store| (store, "this build"));
    let answer = file.check(&CheckOptions::default(), cache, budget, &mut |_, _, _| {});
    answer.expect("a model").expect("no fault")
}

fn with_checks<T>(files: &[CheckedFile], then: impl FnOnce(&Checks<'_>) -> T) -> T {
    then(&Checks {
        files,
        complaints: Vec::new(),
        other_files: 0,
        settings: RunSettings::default(),
        elapsed: Duration::ZERO,
    })
}

fn verdict(files: &[CheckedFile]) -> &'static str {
    Checks {
        files,
        complaints: Vec::new(),
        other_files: 0,
        settings: RunSettings::default(),
        elapsed: Duration::ZERO,
    }
    .verdict()
}

fn json(write: impl FnOnce(&mut Vec<u8>)) -> Value {
    let mut out = Vec::new();
    write(&mut out);
    serde_json::from_slice(&out).expect("JSON")
}

fn report(checks: &Checks<'_>, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    write_checks(checks, format, Extent::ALL, Terminal::plain(80), &mut out).expect("in memory");
    out
}

fn answers_json(answers: &Answers<'_>) -> Value {
    json(|out| {
        let plain = Terminal::plain(80);
        write_answers(answers, Format::Json, Extent::ALL, plain, out).expect("in memory");
    })
}

fn model(name: &str, text: &str) -> Model {
    let texts = Texts::from(Text::new(name, text));
    load(&texts, Reading::default()).0.expect("a model")
}

fn request(subject: Subject) -> Request {
    Request { subject, threads: None, locations: None, list_all: false, copies: 4 }
}

#[test]
fn a_text_becomes_findings_and_every_format() {
    let file = loaded("account.eml", ACCOUNT);
    let FileAnswer { checked, from_cache, stopped, .. } = check(&file, None, &Budget::new());
    assert!(!from_cache && stopped.is_none());
    for kind in [FindingKind::Deadlock, FindingKind::Atomicity, FindingKind::Race] {
        assert!(checked.findings.iter().any(|finding| finding.kind == kind), "{}", kind.rule());
    }
    let files = [file.report(checked)];
    with_checks(&files, |checks| {
        let document = json(|out| *out = report(checks, Format::Json));
        assert_eq!(document["format"], 1);
        assert_eq!(document["verdict"], "violation");
        assert_eq!(document["files"][0]["file"], "account.eml");
        let found = document["files"][0]["findings"].as_array().expect("a list");
        assert_eq!(found.len(), files[0].findings.len());
        // What the report says can be executed again from the report alone.
        let replays = replays(&document).expect("of our form");
        assert_eq!(replays.len(), found.len());
        for replay in &replays {
            let outcome = execute(&files[0].program, replay, &Budget::new());
            assert!(matches!(outcome, Replayed::Holds(..)), "{outcome:?}");
        }
        for format in Format::ALL {
            assert!(!report(checks, format).is_empty(), "{}", format.name());
        }
        assert!(page_of_checks(checks).contains("account.eml"));
    });
}

#[test]
fn every_analysis_of_one_model() {
    let patterns = Subject::Patterns { patterns: None, units: Units::Exact };
    for (subject, analysis) in
        [(patterns, "atomicity"), (Subject::Races, "race"), (Subject::Deadlocks, "deadlock")]
    {
        let inquiry = Inquiry::new(model("account.eml", ACCOUNT), request(subject)).expect("asked");
        let decided = inquiry.decide(Options::new(None), &Budget::new(), &mut |_| {});
        let decided = decided.expect("no fault");
        let document = answers_json(&inquiry.answers(&decided, Duration::ZERO, None));
        assert_eq!(
            (&document["analysis"], &document["verdict"]),
            (&analysis.into(), &"violation".into())
        );
    }
    let request = ReachRequest {
        sought: None,
        bound: None,
        show_states: false,
        projection: false,
        copies: 4,
        most_starts: None,
        why: None,
        options: Options::new(None),
    };
    let search = |request| {
        let model = model("handshake.slv", HANDSHAKE);
        let found = reach(model, request, &Budget::new(), &mut |_| {}, &mut |_, _| None);
        found.map(|found| answers_json(&found.answers(Duration::ZERO, None)))
    };
    let document = search(&request).expect("there is an assertion");
    assert_eq!(document["verdict"], "violation");
    let missing = ReachRequest { sought: Some(Sought::Label("DONE")), ..request };
    let Err(ReachError::Wrong(why)) = search(&missing) else { panic!("there is no label") };
    assert_eq!(why.code, "unknown-label");
}

/// A fault of an engine is a warning in every format that has warnings.
#[test]
fn a_fault_is_a_warning() {
    let inquiry = Inquiry::new(model("account.eml", ACCOUNT), request(Subject::Races));
    let inquiry = inquiry.expect("asked");
    let decided = inquiry.decide(Options::new(None), &Budget::new(), &mut |_| {});
    let mut decided = decided.expect("no fault");
    let message = "engine lazy: panic; another engine was asked";
    decided.report.faults.push(Diagnostic::global(INTERNAL_ERROR, Severity::Warning, message));
    let answers = inquiry.answers(&decided, Duration::ZERO, None);
    let document = answers_json(&answers);
    let codes: Vec<&Value> =
        document["warnings"].as_array().expect("a list").iter().map(|one| &one["code"]).collect();
    assert!(codes.contains(&&INTERNAL_ERROR.into()), "{document}");
    assert_eq!(document["verdict"], "violation");
    let log = json(|out| {
        let plain = Terminal::plain(80);
        write_answers(&answers, Format::Sarif, Extent::ALL, plain, out).expect("in memory");
    });
    let log = log.to_string();
    assert!(log.contains(INTERNAL_ERROR) && log.contains(message), "{log}");
}

#[test]
fn a_host_stops_a_check_at_any_poll() {
    let file = loaded("account.eml", ACCOUNT);
    let all = check(&file, None, &Budget::new()).checked;
    let mut cut = 0;
    for last in [1, 2, 3, 5, 8, 13, 50, 200, 1000] {
        let polls = AtomicU64::new(0);
        let ask = move || {
            let over = polls.fetch_add(1, Ordering::Relaxed) + 1 >= last;
            over.then_some(StopReason::Cancelled)
        };
        let answer = check(&file, None, &Budget::with_callback(1, ask));
        let files = [file.report(answer.checked.clone())];
        if answer.stopped.is_none() {
            assert_eq!(answer.checked, all);
            continue;
        }
        cut += 1;
        assert_eq!(answer.stopped, Some(StopReason::Cancelled));
        if answer.open() > 0 {
            assert_eq!(answer.checked.open, ["the run was interrupted"]);
            let violated = !answer.checked.findings.is_empty();
            assert_eq!(verdict(&files), if violated { "violation" } else { "unknown" });
        }
    }
    assert!(cut > 3, "only {cut} were stopped");
}

#[test]
fn what_a_project_keeps_is_data() {
    let file = loaded("models/account.eml", ACCOUNT);
    let files = || vec![file.report(check(&file, None, &Budget::new()).checked)];
    let as_it_is = |name: &str| name.to_owned();

    let text = "only = [\"race\"]\n[[suppress]]\nreason = \"known\"\nrule = \"data-race\"\n";
    let (config, complaints) = config::parse(text);
    assert!(complaints.is_empty());
    assert_eq!(config.options().expect("fits").kinds, [FindingKind::Race]);
    let mut suppressed = files();
    assert!(suppress::apply(&config.suppressions, &mut suppressed, &as_it_is).is_empty());
    assert!(suppressed[0].suppressed.iter().all(|(finding, _)| finding.kind == FindingKind::Race));
    assert_eq!(suppressed[0].suppressed.len(), 1);

    let known: Baseline = baseline::entries(&files(), &as_it_is).collect();
    let known = Baseline::parse(&known.render()).expect("it was written");
    let mut new = files();
    assert_eq!(baseline::set_aside(known, &mut new, &FindingKind::CHECKED, &as_it_is), 0);
    assert!(new[0].findings.is_empty() && !new[0].known.is_empty());
    assert_eq!(verdict(&new), "safe");
}

/// Entries of a cache in memory.
#[derive(Default)]
struct Memory(RefCell<BTreeMap<Key, Vec<u8>>>);

impl Store for Memory {
    fn get(&self, key: &Key) -> Option<Vec<u8>> {
        self.0.borrow().get(key).cloned()
    }

    fn put(&self, key: &Key, bytes: &[u8]) -> bool {
        self.0.borrow_mut().insert(key.clone(), bytes.to_vec());
        true
    }
}

#[test]
fn an_answer_is_given_once_more_from_a_store() {
    let store = Memory::default();
    let file = loaded("account.eml", ACCOUNT);
    let first = check(&file, Some(&store), &Budget::new());
    let again = check(&file, Some(&store), &Budget::new());
    assert!(!first.from_cache && again.from_cache);
    assert_eq!(first.checked, again.checked);
    let other = loaded("account.eml", &ACCOUNT.replace("balance", "amount"));
    assert!(!check(&other, Some(&store), &Budget::new()).from_cache);
    // What a limit cut short is not kept.
    let empty = Memory::default();
    check(&file, Some(&empty), &Budget::with_callback(1, || Some(StopReason::Timeout)));
    assert!(empty.0.borrow().is_empty());
}

#[test]
fn mistakes_are_given_back() {
    let broken = loaded("account.eml", "lock : l");
    assert!(broken.program.is_none() && broken.complaints.iter().any(Diagnostic::is_error));
    let unknown = loaded("account.txt", "hello");
    assert_eq!(unknown.complaints[0].code, "unknown-format");
    assert!(
        unknown.check(&CheckOptions::default(), None, &Budget::new(), &mut |_, _, _| {}).is_none()
    );
    let threads = Some(vec!["C".to_owned()]);
    let asked = Request { threads, ..request(Subject::Races) };
    let Err(InquiryError::Complaints(text, wrong)) =
        Inquiry::new(model("account.eml", ACCOUNT), asked)
    else {
        panic!("there is no thread C");
    };
    assert_eq!((text.name.as_str(), wrong[0].code), ("account.eml", "unknown-thread"));
}
