//! What is found in every language, and what is said of a proof of nothing.

use crate::common::{Outcome, root};
use crate::{Project, RACY, SAFE, count, names};
use serde_json::Value;

#[test]
fn findings_of_several_files() {
    let model = include_str!("../../../../examples/two-files.slv");
    let project = Project::new("files", &[("m/a.slv", model)]);
    let (code, value) = project.json(&["."]);
    assert_eq!((code, count(&value, "findings")), (Some(1), 3));
    for (conditions, suppressed) in [
        ("file = 'm/a.slv'", 3),
        ("file = 'src/shop/Seller.java'", 2),
        ("file = 'Seller.java'", 2),
        ("file = 'Seller.java'\nline = 12", 1),
        ("file = 'Auditor.java'\nline = 12", 0),
        ("file = 'Auditor.java'\nline = 8", 1),
        ("line = 12", 1),
        ("file = 'shop.Log'", 1),
        ("file = 'shop.Log'\nrule = 'deadlock'", 0),
        ("file = 'Nobody.java'", 0),
    ] {
        project.write("selvedge.toml", &format!("[[suppress]]\nreason = 'known'\n{conditions}\n"));
        let (_, value) = project.json(&["."]);
        assert_eq!(count(&value, "suppressed"), suppressed, "{conditions}");
        let warned = project.check(&["."]).stderr.contains("unused-suppression");
        // A file that nothing comes from may be one of another run.
        let unused = suppressed == 0 && !conditions.contains("Nobody");
        assert_eq!(warned, unused, "{conditions}");
    }
    project.write("selvedge.toml", "");
    // What the cache keeps of places is what was found.
    let cached = ["check", "--cache-dir", "kept", "--format", "json", "m/a.slv"];
    let findings = |text: &str| {
        let value: Value = serde_json::from_str(text).expect("JSON");
        value["files"].clone()
    };
    let first = project.run(&cached).stdout;
    assert_eq!(findings(&project.run(&cached).stdout), findings(&first));
    project.write("report.json", &first);
    let replayed = project.run(&["replay", "m/a.slv", "report.json"]);
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.stdout, replayed.stderr);
}

/// "A vs B" and "B vs A" are one mistake, and so are those of copies.
#[test]
fn both_sides_of_a_mistake_are_one_finding() {
    let copies = "var : x; lock : l;
process W[3] { main { unit { synchronized(l) { read x; } synchronized(l) { write x; } } } }";
    let project = Project::new("sides", &[("racy.eml", RACY), ("copies.eml", copies)]);
    for file in ["racy.eml", "copies.eml"] {
        let (_, value) = project.json(&[file, "--only", "atomicity"]);
        assert_eq!(count(&value, "findings"), 1, "{file}");
        let fix = &value["files"][0]["findings"][0]["fix"];
        assert!(fix["text"].is_string(), "{file}: the fix cures both sides");
    }
}

/// An assertion that fails, a label that is reached.
pub const FAILING: &str = "\
decl x;
void main() begin x := F; start_thread t(); assert(!x); if x then ERROR: skip; fi end
void t() begin x := T; end
";

/// Every language, and what can be asked in it; the safe file beside them changes nothing.
#[test]
fn all_languages_are_checked() {
    let walk = |extension: &str| {
        let path = root().join(format!("examples/recursive-walk.{extension}"));
        std::fs::read_to_string(path).expect("an example")
    };
    let (system, init, spec) = (walk("pds"), walk("init"), walk("spec"));
    let typed = "int 0..3 : n = 0; lock : l, m;
process A { main { n = n + 2; synchronized(l) { synchronized(m) { skip; } } } }
process B { main { n = n + 2; synchronized(m) { synchronized(l) { skip; } } } }";
    let project = Project::new(
        "languages",
        &[
            ("safe.eml", SAFE),
            ("data.bp", FAILING),
            ("sub/walk.pds", &system),
            ("sub/walk.init", &init),
            ("sub/walk.spec", &spec),
            ("typed.eml", typed),
            ("notes.md", "notes"),
            ("lone.spec", "0|1"),
            ("selvedge.toml", ""),
        ],
    );
    let (code, value) = project.json(&["."]);
    assert_eq!((code, &value["verdict"]), (Some(1), &"violation".into()));
    assert_eq!(names(&value), ["./data.bp", "./safe.eml", "./sub/walk.pds", "./typed.eml"]);
    let rules = |at: usize| -> Vec<&str> {
        let findings = value["files"][at]["findings"].as_array().expect("findings");
        findings.iter().map(|one| one["rule"].as_str().expect("a rule")).collect()
    };
    assert_eq!(rules(0), ["assertion-failure", "label-reached"]);
    assert!(rules(1).is_empty());
    assert_eq!(rules(2), ["state-reached"]);
    assert_eq!(rules(3)[..3], ["assertion-failure", "assertion-failure", "stuck"]);
    assert_eq!(value["files"][3]["findings"][0]["tags"][0], "range");
    assert_eq!(value["stats"]["other_files"], 2);
    assert_eq!(value["stats"]["work_for_data"], 20_000_000);
    assert_eq!(value["stats"]["seconds_for_data"], 600);
    let text = project.check(&["."]);
    assert!(text.stdout.contains("\n2 files of other kinds\n"), "{}", text.stdout);
    let limits = "files with data had 20000000 steps of work each;";
    assert!(text.stdout.contains(limits), "{}", text.stdout);
    // A limit of the user's is the only one.
    let limited = project.json(&[".", "--timeout", "100"]).1;
    assert!(limited["stats"].get("seconds_for_data").is_none());
    assert!(limited["stats"].get("work_for_data").is_none());

    let only = |kinds: &str| project.check(&[".", "--no-witness", "--only", kinds]);
    let assertions = only("assertion");
    assert_eq!(assertions.code, Some(1));
    for word in ["assertion failure", "reached label", "reached state"] {
        assert!(assertions.stdout.contains(word), "{}", assertions.stdout);
    }
    assert!(!assertions.stdout.contains("dead end"), "{}", assertions.stdout);
    // Who asks for them gets the dead ends of the pushdown system, too.
    assert!(only("deadlock").stdout.contains("2 dead ends"));
    for format in ["sarif", "junit", "dot"] {
        let outcome = project.check(&["data.bp", "--format", format]);
        assert_eq!(outcome.code, Some(1));
        let wanted = if format == "dot" { "digraph" } else { "assertion-failure" };
        assert!(outcome.stdout.contains(wanted), "{format}: {}", outcome.stdout);
    }
}

/// Findings of programs with data are kept, known and suppressed as all others are.
#[test]
fn findings_with_data_have_a_cache_a_baseline_and_suppressions() {
    let project = Project::new(
        "data",
        &[
            ("data.bp", FAILING),
            (
                "b.eml",
                "int 0..1 : n = 1;
process A { main { n = n + 1; } }
process B { main { skip; } }",
            ),
        ],
    );
    let cached = |arguments: &[&str]| {
        project.run(&[&["check", ".", "--cache-dir", ".cache", "--stats"], arguments].concat())
    };
    let (first, again) = (cached(&[]), cached(&[]));
    let known = |outcome: &Outcome| {
        let line = outcome.stderr.lines().find(|line| line.contains("from-cache"));
        line.map(|line| line.trim().to_owned())
    };
    assert_eq!(known(&first).as_deref(), Some("from-cache                    0"));
    assert_eq!(known(&again).as_deref(), Some("from-cache                    2"));
    assert_eq!(first.code, Some(1));
    let cut = |text: &str| text.lines().filter(|line| !line.contains(" in 0.")).count();
    assert_eq!(cut(&first.stdout), cut(&again.stdout));
    assert_eq!(project.check(&[".", "--write-baseline", "known.json"]).code, Some(1));
    assert_eq!(project.check(&[".", "--baseline", "known.json"]).code, Some(0));
    let rules = ["assertion-failure", "label-reached"];
    let entries = rules.map(|rule| format!("[[suppress]]\nrule = {rule:?}\nreason = \"so\"\n"));
    project.write("selvedge.toml", &entries.concat());
    assert_eq!(project.check(&["."]).code, Some(0));
}

/// The tour's program without its units: nothing is claimed to be atomic.
#[test]
fn a_proof_of_nothing_is_none() {
    let text = "lock : desk;
var  : free;
process Alice {
    look { synchronized(desk) { read free; } }
    book { synchronized(desk) { write free; } }
    main { while (*) { look(); if (*) book(); } }
}
process Bob {
    look { synchronized(desk) { read free; } }
    book { synchronized(desk) { write free; } }
    trade { look(); book(); }
    main { while (*) { trade(); } }
}
";
    let project = Project::new("vacuous", &[("seats.eml", text)]);
    let outcome = project.check(&["seats.eml"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stderr.contains("warning[no-units]"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--> seats.eml:6:24"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--add-units functions"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("1 proved safe, 10 that nothing could violate"));
    assert!(!outcome.stdout.contains("No atomicity violation"), "{}", outcome.stdout);
    let (_, value) = project.json(&["seats.eml"]);
    assert_eq!(value["files"][0]["tallies"]["atomicity-violation"]["vacuous"], 10);
    assert_eq!(value["complaints"][0]["code"], "no-units");

    // Bob's trade is a unit of two blocks; each block alone is atomic.
    let functions = project.check(&["seats.eml", "--add-units", "functions"]);
    assert_eq!(functions.code, Some(1), "{}", functions.stdout);
    assert!(functions.stdout.contains("Bob vs Alice"), "{}", functions.stdout);
    assert!(!functions.stderr.contains("no-units"));
    let locks = project.check(&["seats.eml", "--add-units", "locks"]);
    assert_eq!((locks.code, locks.stderr.as_str()), (Some(0), ""));
    assert!(locks.stdout.contains("No atomicity violation"), "{}", locks.stdout);
    project.write("selvedge.toml", "add-units = \"functions\"\n");
    assert_eq!(project.check(&["seats.eml"]).code, Some(1));
}

#[test]
fn what_a_program_lacks_is_said() {
    let lacking = "lock : l, never;
var : x, constant;
process A { unused { synchronized(never) { skip; } } main { unit { synchronized(l) { read x; write x; read constant; } } } }
process B { main { unit { synchronized(l) { write x; read constant; } } } }
process C { main { skip; } }
";
    let asserting = "decl x;
void main() begin x := F; start_thread t(); assert(!x | x); if x then assert(x); fi end
void t() begin skip; end
";
    let project = Project::new("lacking", &[("a.eml", lacking), ("b.bp", asserting)]);
    let outcome = project.check(&["a.eml"]);
    for (code, place) in
        [("lock-never-taken", "1:11"), ("never-written", "2:10"), ("shares-nothing", "5:9")]
    {
        let at = outcome.stderr.find(&format!("warning[{code}]")).expect(code);
        assert!(outcome.stderr[at..].contains(&format!("--> a.eml:{place}")), "{}", outcome.stderr);
    }
    assert!(!outcome.stderr.contains("no-units"));
    let outcome = project.check(&["b.bp"]);
    assert!(outcome.stderr.contains("warning[assertion-never-reached]"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--> b.bp:2:71"), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("warning[").count(), 1);
}
