//! `selvedge replay` executes what every analysis found, and notices what was changed;
//! `selvedge simulate` prints runs.

mod common;

use common::{run, run_with_input, scratch};

/// The report of an analysis that finds something.
fn report(arguments: &[&str]) -> String {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    let outcome = run(&all);
    assert_eq!(outcome.code, Some(1), "{arguments:?}: {}", outcome.stderr);
    outcome.stdout
}

#[test]
fn witnesses_of_every_analysis_hold() {
    for (arguments, file) in [
        (&["atomicity", "examples/stack.eml"][..], "examples/stack.eml"),
        (
            &["atomicity", "examples/stack.eml", "--property", "examples/fig2.ipa"],
            "examples/stack.eml",
        ),
        (&["race", "examples/double-checked.eml"], "examples/double-checked.eml"),
        (&["deadlock", "examples/bank-transfer.eml"], "examples/bank-transfer.eml"),
        (&["check", "examples/three-threads.eml", "--no-cache"], "examples/three-threads.eml"),
        (&["reach", "examples/overbooking.bp"], "examples/overbooking.bp"),
        (&["reach", "examples/recursive-walk.pds"], "examples/recursive-walk.pds"),
    ] {
        let report = report(arguments);
        let outcome = run_with_input(&["replay", file, "-"], report.as_bytes());
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stdout.contains("holds   1  "), "{}", outcome.stdout);
    }
}

/// Writes a text and gives its path.
fn file(name: &str, text: &str) -> String {
    let path = scratch("replayed").join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("a path").to_owned()
}

/// A report says with which options it was found; without one of them its runs are refused.
fn describes_itself(arguments: &[&str], model: &str, option: &str) {
    let report = report(arguments);
    let outcome = run_with_input(&["replay", model, "-"], report.as_bytes());
    assert_eq!(outcome.code, Some(0), "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
    let document: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let without = |mut document: serde_json::Value| {
        let mut open = vec![&mut document];
        while let Some(value) = open.pop() {
            match value {
                serde_json::Value::Object(fields) => {
                    if let Some(replay) = fields.get_mut("replay") {
                        let removed = replay.as_object_mut().and_then(|one| one.remove(option));
                        assert!(removed.is_some(), "{option}: {replay}");
                    }
                    open.extend(fields.iter_mut().map(|one| one.1));
                }
                serde_json::Value::Array(items) => open.extend(items.iter_mut()),
                _ => {}
            }
        }
        document
    };
    let changed = without(document).to_string();
    let outcome = run_with_input(&["replay", model, "-"], changed.as_bytes());
    let fails = option != "restrictions";
    assert_eq!(outcome.code, Some(i32::from(fails)), "{option}: {}", outcome.stdout);
}

#[test]
fn a_report_says_with_which_options_it_was_found() {
    let waits = file(
        "waits.eml",
        "lock : l; int 0..1 : done;
process A { main { synchronized(l) { wait(l); assert(done == 1); } } }
process B { main { synchronized(l) { done = 1; notify(l); } } }\n",
    );
    describes_itself(&["reach", &waits, "--spurious-wakeups"], &waits, "spurious_wakeups");
    let units = file(
        "units.eml",
        "lock : l; var : x, y;
process A { get { synchronized(l) { read x; } synchronized(l) { read y; } } main { get(); } }
process B { set { synchronized(l) { write x; write y; } } main { set(); } }\n",
    );
    let arguments = ["check", &units, "--no-cache", "--add-units", "functions"];
    describes_itself(&arguments, &units, "added_units");
    let any = file(
        "any.nwa",
        "Q0: s\nQf: s\nDelta_i: { (s, *, s) }\nDelta_c: { (s, *, s) }\nDelta_r: { (s, s, *, s) }\n",
    );
    let model = "examples/bank-transfer.eml";
    let thread = first_thread(model);
    let restricted = format!("{thread}={any}");
    let arguments = ["deadlock", model, "--restrict", &restricted];
    describes_itself(&arguments, model, "restrictions");
    // A run that the automaton cannot read is none.
    let report = report(&arguments).replace("(s, *, s)", "");
    let outcome = run_with_input(&["replay", model, "-"], report.as_bytes());
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
}

const COPIES: &str = "int 0..9 : x;
process W[*] { main { x = x + 1; label up: assert(x < 3); } }\n";

const WAITS: &str = "lock : l; int 0..1 : done;
process A { main { synchronized(l) { wait(l); assert(done == 1); label woken: skip; } } }
process B { main { synchronized(l) { done = 1; notify(l); } } }\n";

const LOCKS: &str = "lock : l, k; int 0..1 : x;
process A[2] { main { synchronized(l) { label in: x = 1; synchronized(k) { skip; } } } }
process B { main { synchronized(k) { synchronized(l) { assert(x == 1); } } } }\n";

const UNITS: &str = "lock : l; var : x, y;
process A[*] { main { unit { read x; read y; synchronized(l) { write y; } write x; } } }
process B { main { unit { write x; synchronized(l) { write y; } } unit { write y; } } }\n";

const LOOPS: &str = "lock : l;
process A[*] { main { while (*) { synchronized(l) { label in: skip; } } } }
process B { main { while (*) { label asks: synchronized(l) { label gets: skip; } } } }\n";

/// What a run was found with is in its report, so `replay` needs no option.
#[test]
fn runs_that_are_found_with_any_option_hold() {
    let folder = scratch("replayed-with-options");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("a path").to_owned()
    };
    let copies = &*file("copies.eml", COPIES);
    let waits = &*file("waits.eml", WAITS);
    let locks = &*file("locks.eml", LOCKS);
    let units = &*file("units.eml", UNITS);
    let loops = &*file("loops.eml", LOOPS);
    let formulas = &*file("loops.ltl", "let inside = B@gets;\nprogress: A G F inside;\n");
    let mut all: Vec<(Vec<&str>, &str)> = Vec::new();
    for engine in ["transactions", "lazy", "eager", "explicit", "pds", "spds"] {
        all.push((vec!["reach", waits, "--spurious-wakeups", "--engine", engine], waits));
        all.push((vec!["reach", locks, "--label", "in", "--engine", engine], locks));
    }
    all.push((vec!["reach", copies, "--engine", "lazy", "--rounds", "3"], copies));
    for options in
        [&["--copies", "5"][..], &["--label", "up", "--copies", "3"], &["--contexts", "5"]]
    {
        all.push(([&["reach", copies], options].concat(), copies));
    }
    for options in [
        &["--deadlocks"][..],
        &["--assertions"],
        &["--reduction", "none"],
        &["--no-symmetry"],
        &["--workers", "2"],
        &["--search", "dfs"],
        &["--target", "x=1"],
    ] {
        all.push(([&["reach", locks], options].concat(), locks));
    }
    all.push((vec!["reach", waits, "--deadlocks"], waits));
    all.push((vec!["reach", waits, "--spurious-wakeups", "--label", "woken"], waits));
    let overbooking = "examples/overbooking.bp";
    all.push((vec!["reach", overbooking, "--starts-per-site", "3"], overbooking));
    for engine in ["tupling", "tupling-bdd", "exhaustive", "cpds", "transactions"] {
        all.push((vec!["atomicity", units, "--copies", "3", "--engine", engine], units));
        all.push((vec!["race", units, "--engine", engine], units));
    }
    for options in [
        &["--units", "paper"][..],
        &["--patterns", "vaziri", "--threads", "B,A"],
        &["--engine", "context-bounded", "--rounds", "3"],
    ] {
        all.push(([&["atomicity", units], options].concat(), units));
    }
    for options in [&["--units", "paper"][..], &["--add-units", "functions"], &["--only", "race"]] {
        all.push(([&["check", units, "--no-cache"], options].concat(), units));
    }
    for (formula, options) in [
        ("A G (B@asks -> F B@gets)", &["--fair", "A[0]"][..]),
        ("A G (B@asks -> F B@gets)", &["--fair", "A[0],A[2]", "--copies", "3"]),
        ("A G F A[2]@in", &["--copies", "3", "--engine", "exhaustive"]),
    ] {
        all.push(([&["temporal", loops, formula], options].concat(), loops));
    }
    all.push((vec!["temporal", loops, "--formulas", formulas, "--fair", "A[1]"], loops));
    for (arguments, model) in all {
        let report = report(&arguments);
        let outcome = run_with_input(&["replay", model, "-"], report.as_bytes());
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
    }
}

/// The name of a thread of a model that takes part in a deadlock.
fn first_thread(model: &str) -> String {
    let document: serde_json::Value =
        serde_json::from_str(&report(&["deadlock", model])).expect("JSON");
    let thread = &document["cycles"][0]["replay"]["threads"][0];
    thread.as_str().expect("a name").to_owned()
}

#[test]
fn a_changed_witness_does_not_hold_and_the_step_is_named() {
    let report = report(&["deadlock", "examples/bank-transfer.eml"]);
    let mut document: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let replay = &mut document["cycles"][0]["replay"];
    let steps = replay["steps"].as_array_mut().expect("steps");
    steps.remove(0);
    let changed = document.to_string();
    let outcome =
        run_with_input(&["replay", "examples/bank-transfer.eml", "-"], changed.as_bytes());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("fails   1  step 1: "), "{}", outcome.stdout);

    let mut document: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let question = &mut document["cycles"][0]["replay"]["question"];
    question["deadlock"].as_array_mut().expect("waits").reverse();
    let outcome = run_with_input(
        &["replay", "examples/bank-transfer.eml", "-"],
        document.to_string().as_bytes(),
    );
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
}

/// Another program has other steps.
#[test]
fn a_witness_of_another_program_does_not_hold() {
    let report = report(&["deadlock", "examples/bank-transfer.eml"]);
    let outcome =
        run_with_input(&["replay", "examples/recursive-counter.eml", "-"], report.as_bytes());
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
}

#[test]
fn what_is_no_report_is_refused() {
    for (input, complaint) in [
        ("no JSON", "is no JSON"),
        ("{}", "has no interleaving"),
        (r#"{"replay":{"steps":[]}}"#, "another form"),
    ] {
        let outcome = run_with_input(&["replay", "examples/stack.eml", "-"], input.as_bytes());
        assert_eq!(outcome.code, Some(2), "{input}");
        assert!(outcome.stderr.contains(complaint), "{input}: {}", outcome.stderr);
    }
    let hostile = r#"{"replay":{"threads":["T1","T2"],"question":"assertion","globals":"","locals":[],"fails":true,
        "steps":[[9,null,null,""]]}}"#;
    let outcome = run_with_input(&["replay", "examples/stack.eml", "-"], hostile.as_bytes());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("there is no such thread"), "{}", outcome.stdout);
}

#[test]
fn a_seed_is_a_run() {
    let ask = |file: &str, seed: &str| {
        let outcome = run(&["simulate", file, "--seed", seed, "--steps", "40", "--verbose"]);
        assert_eq!(outcome.code, Some(0), "{file}: {}", outcome.stderr);
        outcome.stdout
    };
    for file in ["examples/stack.eml", "examples/overbooking.bp", "examples/recursive-walk.pds"] {
        assert_eq!(ask(file, "1"), ask(file, "1"));
        let runs: std::collections::BTreeSet<String> =
            (0..8).map(|seed| ask(file, &seed.to_string())).collect();
        assert!(runs.len() > 1, "{file}: one run for all seeds");
    }
}

/// Where threads are started in a loop, replay reads as many starts as the report is about.
#[test]
fn runs_with_starts_in_a_loop_hold() {
    let model = "decl x;\nvoid main() begin\n x := F;\n while * do start_thread w(); od\n assert(!x);\nend\n\
                 void w() begin x := T; end\n";
    let folder = scratch("replay-starts");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("starts.bp");
    std::fs::write(&file, model).expect("a file");
    let file = file.to_str().expect("UTF-8");
    for arguments in [
        &["check", file, "--no-cache"][..],
        &["check", file, "--no-cache", "--only", "deadlock"],
        &["temporal", file, "E F {x}"],
        &["temporal", file, "E F {x}", "--starts-per-site", "3"],
        &["reach", file],
        &["reach", file, "--starts-per-site", "3"],
    ] {
        let report = run(&[arguments, &["--format", "json"]].concat()).stdout;
        let replayed = run_with_input(&["replay", file, "-"], report.as_bytes());
        assert_eq!(replayed.code, Some(0), "{arguments:?}: {}{}", replayed.stdout, replayed.stderr);
        assert!(replayed.stdout.contains("1 of 1 interleaving holds"), "{}", replayed.stdout);
    }
}

/// The title of an interleaving says which kind of failure it shows.
#[test]
fn titles_name_the_kind_of_failure() {
    let two = |declared: &str, body: &str| {
        format!("{declared} process A {{ main {{ {body} }} }} process B {{ main {{ skip; }} }}")
    };
    let reach = &["reach"][..];
    let cases = [
        (reach, two("int 0..3 : x;", "x = 1; assert(x == 0);"), "an assertion fails"),
        (reach, two("int 0..3 : x;", "x = 3; x = x + 1;"), "a value is out of range"),
        (reach, two("int 0..3 : x, a[2];", "x = 3; a[x] = 1;"), "an index is outside its array"),
        (reach, two("int 0..3 : x;", "x = 1 / x;"), "a step divides by zero"),
        (
            reach,
            two("lock : l; int 0..3 : x;", "x = 1; release(l);"),
            "a thread releases a lock that it does not hold",
        ),
        (
            reach,
            two("lock : l; int 0..3 : x;", "x = 1; notify(l);"),
            "a thread waits or notifies without holding the lock",
        ),
        (
            reach,
            two("lock : l; int 0..3 : x guarded by l;", "x = 1;"),
            "an access breaks an annotation: `x` is guarded by `l`",
        ),
        (
            reach,
            two("int 0..3 : x; invariant (x == 0);", "x = 1;"),
            "an invariant is broken: `x = 0`",
        ),
        (&["reach", "--deadlocks"], two("int 0..3 : x;", "assume(x == 1);"), "dead end"),
        (
            &["deadlock"],
            "lock : k, l; process A { main { synchronized(k) { synchronized(l) { skip; } } } }
             process B { main { synchronized(l) { synchronized(k) { skip; } } } }"
                .to_owned(),
            "deadlock on k, l",
        ),
    ];
    let folder = scratch("replay-titles");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (at, (command, source, title)) in cases.into_iter().enumerate() {
        let file = folder.join(format!("{at}.eml"));
        std::fs::write(&file, source).expect("a file");
        let file = file.to_str().expect("UTF-8");
        let report = run(&[command, &[file, "--format", "json"]].concat());
        assert_eq!(report.code, Some(1), "{at}: {}{}", report.stdout, report.stderr);
        let replayed = run_with_input(&["replay", file, "-"], report.stdout.as_bytes());
        let first = replayed.stdout.lines().next().unwrap_or_default();
        assert!(first.starts_with(&format!("holds   1  {title}  ")), "{at}: {}", replayed.stdout);
    }
}
