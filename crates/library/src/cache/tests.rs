use super::*;
use crate::check::check;
use crate::goals::Goals;
use selvedge_analysis::{EngineKind, Options};
use selvedge_base::{Budget, Id, Place};
use selvedge_findings::FindingKind;
use selvedge_program::{LocationId, StepKind, ThreadId};
use std::cell::RefCell;
use std::collections::BTreeMap;

const SOURCE: &str = "\
lock : l, m;
var : x, y;
process A {
    f { if (*) skip; else skip; if (*) f(); }
    main { f(); synchronized(l) { synchronized(m) { unit { read x; read y; } } } unit { write x; write y; } }
}
process B {
    main { if (*) { synchronized(m) { synchronized(l) { write x; } } } else { unit { write y; write x; } } }
}
";

fn program() -> Program {
    selvedge_front_eml::parse(SOURCE).program.expect("a program")
}

fn options() -> CheckOptions {
    CheckOptions {
        kinds: FindingKind::CHECKED.to_vec(),
        patterns: (1..=32).collect(),
        units: Units::Exact,
        chosen: false,
        add_units: None,
        analysis: Options::new(None),
        fixes: Fixes::Look,
    }
}

fn answer(program: &Program) -> Checked {
    check(program, &options(), &Budget::new(), &mut |_, _, _| {}).expect("no bug")
}

/// Entries in memory.
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
fn what_is_put_is_got() {
    let (cache, program) = (Memory::default(), program());
    let checked = answer(&program);
    let kinds: Vec<FindingKind> = checked.findings.iter().map(|finding| finding.kind).collect();
    for kind in [FindingKind::Deadlock, FindingKind::Atomicity, FindingKind::Race] {
        assert!(kinds.contains(&kind), "the example has a {}", kind.rule());
    }
    assert!(checked.findings.iter().any(|finding| finding.fix.is_some()));
    let key = Key::new("build", "eml", &[SOURCE], &options());
    assert_eq!(get(&cache, &key, &program, &Goals::default(), &Budget::new()), None);
    assert!(put(&cache, &key, &checked, &program, 7));
    assert_eq!(
        get(&cache, &key, &program, &Goals::default(), &Budget::new()),
        Some((checked.clone(), 7))
    );
    // The same again does no harm.
    assert!(put(&cache, &key, &checked, &program, 7));
    assert_eq!(get(&cache, &key, &program, &Goals::default(), &Budget::new()), Some((checked, 7)));
}

/// Everything that the answer depends on is part of the key.
#[test]
fn keys_differ() {
    let (build, options) = ("build", options());
    let mut keys = vec![
        Key::new(build, "eml", &[SOURCE], &options),
        Key::new(build, "slv", &[SOURCE], &options),
        Key::new(build, "eml", &[""], &options),
        Key::new("another build", "eml", &[SOURCE], &options),
    ];
    let mut with = |change: fn(&mut CheckOptions)| {
        let mut changed = options.clone();
        change(&mut changed);
        keys.push(Key::new(build, "eml", &[SOURCE], &changed));
    };
    with(|options| options.kinds = vec![FindingKind::Race]);
    with(|options| options.patterns = vec![1, 2]);
    with(|options| options.patterns = vec![12]);
    with(|options| options.units = Units::Paper);
    with(|options| options.fixes = Fixes::Skip);
    with(|options| options.analysis.max_witness_steps = 7);
    with(|options| options.analysis.engine = Some(EngineKind::Exhaustive));
    let distinct: std::collections::BTreeSet<&Key> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len());
    assert_eq!(keys[0], Key::new(build, "eml", &[SOURCE], &options));
}

/// Small entries are read whatever the limits are; what takes long to execute again is not.
#[test]
fn large_entries_are_read_within_the_limits() {
    let (cache, program) = (Memory::default(), program());
    let mut checked = answer(&program);
    let key = Key::new("build", "eml", &[SOURCE], &options());
    let spent = Budget::new();
    spent.raise(selvedge_base::StopReason::Timeout);
    assert!(put(&cache, &key, &checked, &program, 7));
    assert_eq!(get(&cache, &key, &program, &Goals::default(), &spent), Some((checked.clone(), 7)));
    let all = checked.findings.clone();
    while entry::write(&checked, "", &program, 7).len() <= SMALL {
        checked.findings.extend(all.clone());
    }
    assert!(put(&cache, &key, &checked, &program, 7));
    assert_eq!(get(&cache, &key, &program, &Goals::default(), &Budget::new()), Some((checked, 7)));
    assert_eq!(get(&cache, &key, &program, &Goals::default(), &spent), None);
}

#[test]
fn open_answers_are_not_kept() {
    let (cache, program) = (Memory::default(), program());
    let key = Key::new("build", "eml", &[SOURCE], &options());
    let mut checked = answer(&program);
    checked.open.push("the time limit was reached".to_owned());
    assert!(!put(&cache, &key, &checked, &program, 7));
    checked.open.clear();
    checked.tallies[0].1.unknown = 1;
    assert!(!put(&cache, &key, &checked, &program, 7));
    assert_eq!(get(&cache, &key, &program, &Goals::default(), &Budget::new()), None);
}

/// Any byte that is changed, any cut and any addition makes an entry none.
#[test]
fn damaged_entries_are_ignored() {
    let program = program();
    let checked = answer(&program);
    let bytes = entry::write(&checked, "key", &program, 7);
    assert_eq!(
        entry::read(&bytes, "key", &program, &Goals::default(), &|| true),
        Some((checked, 7))
    );
    assert_eq!(entry::read(&bytes, "other key", &program, &Goals::default(), &|| true), None);
    let mut at = 0;
    while at < bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert_eq!(
            entry::read(&damaged, "key", &program, &Goals::default(), &|| true),
            None,
            "byte {at}"
        );
        assert_eq!(
            entry::read(&bytes[..at], "key", &program, &Goals::default(), &|| true),
            None,
            "cut at {at}"
        );
        at += 1 + at / 7;
    }
    let longer = [&bytes[..], b" "].concat();
    assert_eq!(entry::read(&longer, "key", &program, &Goals::default(), &|| true), None);
    for foreign in [&b""[..], b"\n", b"\xff\xfe", b"{}", b"selvedge-answer-1 \n{}"] {
        assert_eq!(entry::read(foreign, "key", &program, &Goals::default(), &|| true), None);
    }
}

/// An entry with the right sum about another program names things that do not exist.
#[test]
fn entries_about_other_programs_are_ignored() {
    let checked = answer(&program());
    let bytes = entry::write(&checked, "key", &program(), 7);
    let small = "var : x; process A { main { read x; } } process B { main { write x; } }";
    let small = selvedge_front_eml::parse(small).program.expect("a program");
    assert_eq!(entry::read(&bytes, "key", &small, &Goals::default(), &|| true), None);
}

/// Steps of a branch look alike; what counts is where the trace can end.
#[test]
fn branches_are_told_apart_at_the_end() {
    let source = include_str!("../../../../examples/double-checked.eml");
    let program = selvedge_front_eml::parse(source).program.expect("a program");
    let checked = answer(&program);
    assert!(checked.findings.iter().any(|finding| finding.kind == FindingKind::Race));
    for finding in &checked.findings {
        assert!(revalidate::holds(&program, &Goals::default(), finding), "{}", finding.reason);
    }
}

/// What was tampered with in a way that keeps the sums is not a run, or does not show the finding.
#[test]
fn traces_are_executed_again() {
    let program = program();
    let checked = answer(&program);
    let holds = |finding: &selvedge_findings::Finding| {
        revalidate::holds(&program, &Goals::default(), finding)
    };
    for finding in &checked.findings {
        assert!(holds(finding));
        let tamper = |change: &dyn Fn(&mut selvedge_findings::Finding)| {
            let mut changed = finding.clone();
            change(&mut changed);
            assert!(changed == *finding || !holds(&changed), "{changed:?}");
        };
        for at in 0..finding.trace.steps.len() {
            tamper(&|finding| {
                finding.trace.steps.remove(at);
            });
            tamper(&|finding| finding.trace.steps[at].thread = ThreadId::from_index(1));
            tamper(&|finding| {
                finding.trace.steps[at].kind = StepKind::Read(LocationId::from_index(1));
            });
            tamper(&|finding| finding.trace.steps[at].place = Place::new(99, 1));
            tamper(&|finding| finding.trace.steps[at].matched = Some(1));
            tamper(&|finding| finding.trace.steps.truncate(at));
        }
        tamper(&|finding| finding.trace.next.reverse());
        tamper(&|finding| finding.threads.reverse());
        tamper(&|finding| finding.threads.clear());
        tamper(&|finding| {
            finding.kind = match finding.kind {
                FindingKind::Atomicity => FindingKind::Race,
                FindingKind::Race => FindingKind::Deadlock,
                _ => FindingKind::Atomicity,
            };
        });
        if finding.kind == FindingKind::Atomicity {
            tamper(&|finding| finding.tags.clear());
        } else {
            tamper(&|finding| finding.trace.next.clear());
        }
    }
}
