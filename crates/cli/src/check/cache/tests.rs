use super::*;
use selvedge_analysis::{EngineKind, Options};
use selvedge_base::{Budget, Id, Place};
use selvedge_findings::{FindingKind, Tally};
use selvedge_library::check;
use selvedge_program::{LocationId, StepKind, ThreadId};

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
        analysis: Options::new(None),
        fixes: Fixes::Look,
    }
}

fn answer(program: &Program) -> Checked {
    check(program, &options(), &Budget::new(), &mut |_, _, _| {}).expect("no bug")
}

fn build() -> Build {
    Build { version: "1".to_owned(), executable: "2".to_owned() }
}

fn cache(name: &str) -> Cache {
    let folder = std::env::temp_dir().join(format!("selvedge-test-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    Cache::open(folder).expect("a folder")
}

#[test]
fn what_is_put_is_got() {
    let (cache, program) = (cache("put"), program());
    let checked = answer(&program);
    let kinds: Vec<FindingKind> = checked.findings.iter().map(|finding| finding.kind).collect();
    for kind in FindingKind::CHECKED {
        assert!(kinds.contains(&kind), "the example has a {}", kind.rule());
    }
    assert!(checked.findings.iter().any(|finding| finding.fix.is_some()));
    let key = Key::new(&build(), "eml", SOURCE, &options());
    assert_eq!(cache.get(&key, &program), None);
    assert!(cache.put(&key, &checked, &program));
    assert_eq!(cache.get(&key, &program), Some(checked.clone()));
    // The same again does no harm.
    assert!(cache.put(&key, &checked, &program));
    assert_eq!(cache.get(&key, &program), Some(checked));
    std::fs::remove_dir_all(&cache.folder).expect("removed");
}

/// Everything that the answer depends on is part of the key.
#[test]
fn keys_differ() {
    let (build, options) = (build(), options());
    let mut keys = vec![
        Key::new(&build, "eml", SOURCE, &options),
        Key::new(&build, "slv", SOURCE, &options),
        Key::new(&build, "eml", "", &options),
        Key::new(&Build { version: "2".to_owned(), ..build.clone() }, "eml", SOURCE, &options),
        Key::new(&Build { executable: "3".to_owned(), ..build.clone() }, "eml", SOURCE, &options),
    ];
    let mut with = |change: fn(&mut CheckOptions)| {
        let mut changed = options.clone();
        change(&mut changed);
        keys.push(Key::new(&build, "eml", SOURCE, &changed));
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
    assert_eq!(keys[0], Key::new(&build, "eml", SOURCE, &options));
}

#[test]
fn open_answers_are_not_kept() {
    let (cache, program) = (cache("open"), program());
    let key = Key::new(&build(), "eml", SOURCE, &options());
    let mut checked = answer(&program);
    checked.open.push("the time limit was reached".to_owned());
    assert!(!cache.put(&key, &checked, &program));
    checked.open.clear();
    checked.tallies[0].1.unknown = 1;
    assert!(!cache.put(&key, &checked, &program));
    assert_eq!(cache.get(&key, &program), None);
    std::fs::remove_dir_all(&cache.folder).expect("removed");
}

/// Any byte that is changed, any cut and any addition makes an entry none.
#[test]
fn damaged_entries_are_ignored() {
    let program = program();
    let checked = answer(&program);
    let bytes = entry::write(&checked, "key", &program);
    assert_eq!(entry::read(&bytes, "key", &program), Some(checked));
    assert_eq!(entry::read(&bytes, "other key", &program), None);
    let mut at = 0;
    while at < bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert_eq!(entry::read(&damaged, "key", &program), None, "byte {at}");
        assert_eq!(entry::read(&bytes[..at], "key", &program), None, "cut at {at}");
        at += 1 + at / 7;
    }
    let longer = [&bytes[..], b" "].concat();
    assert_eq!(entry::read(&longer, "key", &program), None);
    for foreign in [&b""[..], b"\n", b"\xff\xfe", b"{}", b"selvedge-answer-1 \n{}"] {
        assert_eq!(entry::read(foreign, "key", &program), None);
    }
}

/// An entry with the right sum about another program names things that do not exist.
#[test]
fn entries_about_other_programs_are_ignored() {
    let checked = answer(&program());
    let bytes = entry::write(&checked, "key", &program());
    let small = "var : x; process A { main { read x; } } process B { main { write x; } }";
    let small = selvedge_front_eml::parse(small).program.expect("a program");
    assert_eq!(entry::read(&bytes, "key", &small), None);
}

/// Steps of a branch look alike; what counts is where the trace can end.
#[test]
fn branches_are_told_apart_at_the_end() {
    let source = include_str!("../../../../../examples/double-checked.eml");
    let program = selvedge_front_eml::parse(source).program.expect("a program");
    let checked = answer(&program);
    assert!(checked.findings.iter().any(|finding| finding.kind == FindingKind::Race));
    for finding in &checked.findings {
        assert!(revalidate::holds(&program, finding), "{}", finding.reason);
    }
}

/// What was tampered with in a way that keeps the sums is not a run, or does not show the finding.
#[test]
fn traces_are_executed_again() {
    let program = program();
    let checked = answer(&program);
    let holds = |finding: &selvedge_findings::Finding| revalidate::holds(&program, finding);
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

#[test]
fn the_least_recently_used_go_first() {
    let cache = cache("evict");
    let now = SystemTime::now();
    let checked = Checked {
        findings: Vec::new(),
        tallies: vec![(FindingKind::Race, Tally::default())],
        open: Vec::new(),
    };
    let keys: Vec<Key> =
        (0..8).map(|at| Key::new(&build(), "eml", &format!("{at}"), &options())).collect();
    for (age, key) in keys.iter().enumerate() {
        assert!(cache.put(key, &checked, &program()));
        let file = File::options().append(true).open(cache.path(key)).expect("an entry");
        file.set_modified(now - Duration::from_secs(60 * age as u64)).expect("a time");
    }
    let foreign = cache.folder.join("notes.txt");
    let (young, old) = (cache.folder.join("1-0.partial"), cache.folder.join("1-1.partial"));
    for path in [&foreign, &young, &old] {
        std::fs::write(path, "x").expect("written");
        let file = File::options().append(true).open(path).expect("there");
        file.set_modified(now - Duration::from_hours(2)).expect("a time");
    }
    File::options()
        .append(true)
        .open(&young)
        .and_then(|file| file.set_modified(now))
        .expect("a time");
    cache.evict_to(u64::MAX, 8, now);
    assert!(keys.iter().all(|key| cache.path(key).exists()), "nothing has to go");
    assert!(foreign.exists() && young.exists() && !old.exists());
    cache.evict_to(u64::MAX, 4, now);
    let left: Vec<bool> = keys.iter().map(|key| cache.path(key).exists()).collect();
    assert_eq!(left, [true, true, true, false, false, false, false, false]);
    cache.evict_to(0, 100, now);
    assert!(keys.iter().all(|key| !cache.path(key).exists()) && foreign.exists());
    std::fs::remove_dir_all(&cache.folder).expect("removed");
}
