//! `selvedge reach` and `selvedge sequentialize` as contracts: verdicts, exit codes, JSON fields.

mod common;

use common::{command, root, run_with_input, scratch};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

/// Exit code and standard output of a run.
fn run(arguments: &[&str]) -> (i32, String) {
    let output = command(arguments).current_dir(root()).output().expect("it runs");
    (output.status.code().expect("it exits"), String::from_utf8(output.stdout).expect("UTF-8"))
}

fn json(arguments: &[&str]) -> (i32, Value) {
    let mut all = vec!["reach", "--format", "json"];
    all.extend(arguments);
    let (code, text) = run(&all);
    (code, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

#[test]
fn the_json_of_a_violation_has_the_fields_of_the_contract() {
    for engine in ["lazy", "eager", "explicit", "pds", "spds"] {
        let (code, report) = json(&["examples/overbooking.bp", "--engine", engine]);
        assert_eq!(code, 1, "{engine}");
        assert_eq!(report["tool"]["name"], "selvedge");
        assert_eq!(report["file"], "examples/overbooking.bp");
        assert_eq!(report["analysis"], "reach");
        assert_eq!(report["verdict"], "violation");
        assert_eq!(report["bound"]["rounds"], 2, "{engine}");
        // Within two rounds, more contexts than needed are possible.
        assert!(report["contexts"].as_u64().is_some_and(|n| (4..=6).contains(&n)), "{engine}");
        assert_eq!(report["rounds"], 2);
        assert_eq!(report["states"][1]["rounds"], 2);
        assert!(report["states"][1]["count"].as_u64().is_some_and(|count| count > 0));
        let witness = report["witness"].as_array().expect("there is one");
        let last = witness.last().expect("it has steps");
        assert_eq!((&last["action"], &last["line"]), (&"assert".into(), &17.into()));
        assert_eq!(last["fails"], true);
        for step in witness {
            for field in ["thread", "action", "object", "line", "column", "values"] {
                assert!(step.get(field).is_some(), "{field} in {step}");
            }
        }
        let sets_free = |step: &&Value| step["values"]["free"] == false;
        assert!(witness.iter().any(|step| sets_free(&step)), "values change");
        assert!(report["stats"]["counts"].is_object());
    }
}

/// A typed program with recursion that no depth bounds.
const LADDER: &str = "int mod 4 : height;
enum Colour { Red, Green };
Colour : light;
int 0..2 : steps[2];
process Climber {
    climb(int mod 4 : n) { height = n; if (*) climb(n + 1); }
    main { light = Green; steps[1] = 2; climb(0); }
}
process Watcher { main { int mod 4 : seen = height; assert(seen != 3); } }
";

#[test]
fn typed_programs_are_searched_within_bounds() {
    let folder = scratch("typed");
    let file = folder.join("ladder.eml");
    fs::write(&file, LADDER).expect("it is written");
    let file = file.to_str().expect("UTF-8");
    for engine in ["lazy", "eager", "explicit"] {
        for bound in ["--rounds", "--contexts"] {
            let (code, report) = json(&[file, "--engine", engine, bound, "2"]);
            assert_eq!(code, 1, "{engine}: {report}");
            assert_eq!(report["failure"]["kind"], "assertion", "{engine}");
            let witness = report["witness"].as_array().expect("there is one");
            let sees =
                |name: &str, value: Value| witness.iter().any(|step| step["values"][name] == value);
            assert!(sees("height", 3.into()), "{engine}: {report}");
            assert!(sees("light", "Green".into()), "{engine}: {report}");
            let (code, report) = json(&[file, "--engine", engine, bound, "1"]);
            // One context is not enough, and neither is a round with the watcher alone behind it.
            assert_eq!(code, if bound == "--rounds" { 1 } else { 3 }, "{engine}: {report}");
        }
    }
    // Recursion goes to an engine that follows it to any depth.
    let (code, report) = json(&[file]);
    assert_eq!((code, &report["options"]["engine"]), (1, &"explicit".into()), "{report}");
    let (code, report) = json(&["examples/counter.eml"]);
    assert_eq!((code, &report["options"]["engine"]), (0, &"transactions".into()), "{report}");
    let (code, report) = json(&["examples/counter.eml", "--rounds", "1"]);
    assert_eq!(code, 3, "{report}");
    assert_ne!(report["options"]["engine"], "transactions", "{report}");
    fs::remove_dir_all(folder).expect("it is removed");
}

#[test]
fn typed_programs_are_sequentialized_or_refused() {
    let folder = scratch("typed-sequential");
    let file = folder.join("ladder.eml");
    fs::write(&file, LADDER).expect("it is written");
    let path = file.to_str().expect("UTF-8");
    for (rounds, expected) in [("1", 1), ("2", 1)] {
        let sequential = folder.join("sequential.bp");
        let out = sequential.to_str().expect("UTF-8");
        assert_eq!(run(&["sequentialize", path, "--rounds", rounds, "-o", out]).0, 0);
        assert_eq!(run(&["reach", out]).0, expected, "{rounds}");
    }
    fs::write(&file, LADDER.replace("mod 4", "0..65536")).expect("it is written");
    let output = command(&["sequentialize", path, "--rounds", "1"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("height has more than 16 bits"), "{said}");
    fs::remove_dir_all(folder).expect("it is removed");
}

#[test]
fn bounds_are_not_confused() {
    // Four contexts, but two rounds.
    assert_eq!(run(&["reach", "examples/overbooking.bp", "--rounds", "1"]).0, 3);
    assert_eq!(run(&["reach", "examples/overbooking.bp", "--rounds", "2"]).0, 1);
    for engine in ["lazy", "eager", "explicit"] {
        let contexts = |bound| {
            run(&["reach", "examples/overbooking.bp", "--contexts", bound, "--engine", engine]).0
        };
        assert_eq!((contexts("3"), contexts("4")), (3, 1), "{engine}");
    }
    let (code, report) = json(&["examples/overbooking.bp", "--rounds", "1"]);
    assert_eq!((code, &report["verdict"]), (3, &"unknown".into()));
    assert_eq!(report["reason"], "safe within 1 round");
    assert_eq!(report["contexts"], Value::Null);
}

#[test]
fn a_plateau_of_shared_states_is_no_proof() {
    let (code, report) = json(&["examples/handshakes.bp", "--engine", "lazy"]);
    assert_eq!((code, &report["bound"]["rounds"]), (1, &4.into()));
    let counts: Vec<_> =
        report["states"].as_array().expect("levels").iter().map(|one| &one["count"]).collect();
    assert!(counts.windows(2).all(|pair| pair[0] == pair[1]), "{counts:?}");
}

#[test]
fn pushdown_systems_count_visible_states_by_contexts() {
    let (code, report) = json(&["examples/recursive-walk.pds", "--states"]);
    assert_eq!(code, 1);
    assert!(report["bound"]["contexts"].as_u64().is_some());
    assert!(report["states"][0]["visible"].as_u64().is_some_and(|count| count > 1));
    let (_, listed) = json(&["examples/recursive-walk.pds", "--states=list", "--contexts", "1"]);
    let list = listed["list"].as_array().expect("a list");
    assert_eq!(list.len() as u64, listed["states"][0]["visible"].as_u64().expect("a number"));
    assert!(list[0].as_str().expect("text").contains('|'));
}

/// Both threads may call themselves in every turn, so no bound has all configurations.
#[test]
fn stacks_that_grow_for_ever_are_proved() {
    let folder = scratch("reach-turns");
    // Symbol 2 would need a shared state that nobody sets.
    let rules = "3\nPDA 0 1\n0 0 -> 1 0\n0 0 -> 1 0 1\n0 0 -> 1 1\n0 1 -> 1 -\n\
                 PDA 0 2\n1 0 -> 0 0 1\n1 0 -> 0 1\n1 1 -> 0 -\n2 0 -> 1 2\n";
    fs::write(folder.join("turns.pds"), rules).expect("it can be written");
    fs::write(folder.join("turns.init"), "0|0,0\n").expect("it can be written");
    let file = folder.join("turns.pds");
    let file = file.to_str().expect("a path");
    for question in [&["--target", "1|*,2"][..], &["--states"]] {
        let (code, report) = json(&[&[file], question].concat());
        assert_eq!((code, &report["verdict"]), (0, &"safe".into()));
        assert_eq!((&report["complete"], &report["proof"]), (&true.into(), &"generators".into()));
    }
    // A violation is no proof.
    let (_, report) = json(&["examples/recursive-walk.pds", "--target", "1|4,*"]);
    assert_eq!((&report["complete"], &report["proof"]), (&false.into(), &Value::Null));
}

#[test]
fn questions_by_label_and_by_state() {
    let folder = scratch("reach-questions");
    let file = folder.join("toggle.bp");
    let text = "decl x, y;\nvoid main() begin\n x, y := F, F;\n x := T;\n HERE: y := x;\n \
                assume(F);\n NEVER: skip;\nend\n";
    fs::write(&file, text).expect("it can be written");
    let file = file.to_str().expect("a path");
    let asked = |arguments: &[&str]| {
        let mut all = vec!["reach", file];
        all.extend(arguments);
        run(&all).0
    };
    assert_eq!(asked(&["--label", "HERE"]), 1);
    assert_eq!(asked(&["--label", "NEVER"]), 0);
    assert_eq!(asked(&["--label", "NOWHERE"]), 2);
    assert_eq!(asked(&["--target", "x=1,y=0|HERE"]), 1);
    assert_eq!(asked(&["--target", "x=0|HERE"]), 0);
    assert_eq!(asked(&["--target", "x=0|-"]), 0);
    assert_eq!(asked(&["--target", "z=0"]), 2);
    // Nothing to fail, so it is safe.
    assert_eq!(asked(&["--assertions"]), 0);
    assert_eq!(asked(&[]), 0);
    let (_, states) = json(&[file, "--states=list"]);
    assert_eq!(states["complete"], true);
    assert_eq!(states["list"].as_array().map(Vec::len), Some(4));
}

#[test]
fn locks_become_data() {
    let (code, text) = run(&["reach", "examples/stack.eml", "--states"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("shared states"), "{text}");
}

#[test]
fn atomicity_within_rounds_agrees_with_tupling_where_it_finds_something() {
    let bounded =
        ["atomicity", "examples/write-skew.eml", "--engine", "context-bounded", "--rounds", "2"];
    assert_eq!(run(&bounded).0, 1);
    let (code, _) = run(&bounded[..4]);
    assert_eq!(code, 2, "the engine needs a bound");
}

#[test]
fn threads_that_are_started_without_bound() {
    let folder = scratch("reach-starts");
    let file = folder.join("spawn.bp");
    let text = "decl x;\nvoid main() begin\n x := F;\n while * do\n  start_thread work();\n od\nend\n\
                void work() begin\n x := T;\n assert(x);\nend\n";
    fs::write(&file, text).expect("it can be written");
    let file = file.to_str().expect("a path");
    let refused = command(&["sequentialize", file, "--rounds", "1"]).output().expect("it runs");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--starts-per-site"));
    let (code, report) = json(&[file, "--starts-per-site", "2"]);
    assert_eq!((code, &report["reason"]), (3, &"safe within 2 starts per site".into()));
    let (code, report) = json(&[file]);
    assert_eq!((code, &report["reason"]), (3, &"safe within 3 starts per site".into()));
    let (code, report) = json(&[file, "--rounds", "1"]);
    assert_eq!((code, &report["reason"]), (3, &"safe within 1 round".into()));
    assert_eq!(report["options"]["starts_per_site"], 3);
    // A limit that ends a larger search leaves what the smaller ones have shown.
    let (code, report) = json(&[file, "--timeout", "4"]);
    let reason = report["reason"].as_str().expect("a text");
    let starts = reason.strip_prefix("safe within ").and_then(|rest| rest.split(' ').next());
    let starts: u32 = starts.and_then(|number| number.parse().ok()).unwrap_or(0);
    assert!(code == 3 && starts >= 3, "{reason}");
}

#[test]
fn starts_deepen_until_something_is_found() {
    let folder = scratch("reach-deepening");
    let file = folder.join("crowd.bp");
    for needed in 1..=4_usize {
        // The assertion fails if so many threads have been started; each raises the next flag.
        let names: Vec<String> = (0..needed).map(|at| format!("x{at}")).collect();
        let mut text = format!("decl {};\nvoid main() begin\n", names.join(", "));
        let zeros = vec!["F"; needed].join(", ");
        writeln!(text, " {} := {zeros};", names.join(", ")).expect("strings take text");
        text += " while * do start_thread work(); od\nend\nvoid work() begin\n atomic_begin;\n";
        for (at, name) in names.iter().enumerate() {
            let word = if at == 0 { "if" } else { "elsif" };
            writeln!(text, " {word} !{name} then {name} := T;").expect("strings take text");
        }
        let last = &names[needed - 1];
        writeln!(text, " fi\n assert(!{last});\n atomic_end;\nend").expect("strings take text");
        fs::write(&file, text).expect("it can be written");
        let file = file.to_str().expect("a path");
        let (code, report) = json(&[file]);
        if needed <= 3 {
            assert_eq!(code, 1, "{needed}");
            assert_eq!(report["options"]["starts_per_site"], needed, "the smallest is found");
        } else {
            assert_eq!((code, &report["reason"]), (3, &"safe within 3 starts per site".into()));
            let (code, report) = json(&[file, "--timeout", "60"]);
            assert_eq!((code, &report["options"]["starts_per_site"]), (1, &needed.into()));
        }
    }
}

#[test]
fn the_sequential_program_has_the_same_verdict() {
    let folder = scratch("reach-sequential");
    let out = folder.join("out.bp");
    let path = out.to_str().expect("a path");
    for (file, rounds, code) in [
        ("examples/overbooking.bp", "1", 0),
        ("examples/overbooking.bp", "2", 1),
        ("examples/overbooking-fixed.bp", "2", 0),
        ("examples/recursive-walk.bp", "2", 1),
        ("examples/recursive-walk.bp", "1", 0),
    ] {
        assert_eq!(run(&["sequentialize", file, "--rounds", rounds, "-o", path]).0, 0, "{file}");
        let (found, text) = run(&["reach", path, "--engine", "lazy", "--rounds", "1"]);
        // One thread has one round: what is not found is safe, or open only beyond one round.
        let open = text.contains("safe within 1 round");
        assert!(found == code || code == 0 && open, "{file} {rounds}: {text}");
    }
    assert!(Path::new(path).exists());
}

#[test]
fn limits_end_in_unknown() {
    let (code, report) = json(&["corpus/bp/peterson-4-flawed.bp", "--timeout", "0"]);
    assert_eq!((code, &report["reason"]), (3, &"the time limit was reached".into()));
}

/// Runs with a text on standard input; the exit code and what was printed.
fn piped(arguments: &[&str], input: &str) -> (i32, String) {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it is read");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code().expect("a code"), text.into_owned())
}

#[test]
fn the_sequential_program_keeps_the_question() {
    let folder = scratch("reach-question");
    let file = folder.join("race.bp");
    let text = "decl x, y;\nvoid main() begin\n x, y := F, F;\n start_thread other();\n\
                if x then\n SEEN: skip; fi\n assert(!y);\nend\n\
                void other() begin\n x := T;\n NEVER: assume(F);\nend\n";
    fs::write(&file, text).expect("it can be written");
    let file = file.to_str().expect("a path");
    let mut codes = Vec::new();
    for question in [
        vec!["--label", "SEEN"],
        vec!["--label", "NEVER"],
        vec!["--target", "x=1,y=0|SEEN,NEVER"],
        vec!["--target", "x=0|*,NEVER"],
        vec!["--target", "x=1|-,*"],
        vec!["--assertions"],
        vec![],
    ] {
        for rounds in ["1", "2"] {
            let asked = [&["reach", file, "--rounds", rounds], question.as_slice()].concat();
            let found = run(&asked).0 == 1;
            for dialect in ["boppo", "getafix"] {
                let written = ["sequentialize", file, "--rounds", rounds, "--dialect", dialect];
                let (code, sequential) = run(&[&written, question.as_slice()].concat());
                assert_eq!(code, 0, "{sequential}");
                for read in [&["reach", "-"][..], &["reach", "-", "--dialect", dialect]] {
                    let (code, text) = piped(read, &sequential);
                    assert_eq!(code == 1, found, "{question:?} {rounds} {dialect}: {text}");
                    assert_eq!(code == 0, !found, "{question:?} {rounds} {dialect}: {text}");
                }
            }
            codes.push(found);
        }
    }
    assert_eq!(codes.iter().filter(|&&found| found).count(), 6, "{codes:?}");
}

#[test]
fn a_program_that_asks_nothing_is_not_sequentialized() {
    let folder = scratch("reach-asks-nothing");
    let rules = folder.join("s.pds");
    fs::write(&rules, "2\nPDA 0 1\n0 0 -> 1 1\n").expect("it can be written");
    fs::write(folder.join("s.init"), "0|0\n").expect("it can be written");
    let rules = rules.to_str().expect("a path");
    let (code, text) = run(&["sequentialize", rules, "--rounds", "1"]);
    assert!(code == 2 && text.is_empty(), "{text}");
    for (target, found) in [("1|1", 1), ("0|1", 0)] {
        let arguments = ["sequentialize", rules, "--rounds", "1", "--target", target];
        let (code, sequential) = run(&arguments);
        assert_eq!(code, 0, "{sequential}");
        assert_eq!(piped(&["reach", "-"], &sequential).0, found, "{target}");
    }
}

#[test]
fn pushdown_systems_come_from_standard_input() {
    let folder = scratch("reach-standard-input");
    let init = folder.join("s.init");
    fs::write(&init, "0|-,0\n").expect("it can be written");
    let init = init.to_str().expect("a path");
    let rules = "# a system\n2\nPDA 0 1\n1 - -> 0 1\n0 1 -> 0 -\nPDA 0 0\n0 0 -> 1 0\n";
    let (code, text) = piped(&["reach", "-"], rules);
    assert!(code == 2 && text.contains("--init"), "{text}");
    let ask = |target: &str| piped(&["reach", "-", "--init", init, "--target", target], rules);
    for (target, expected) in
        [("0|1,0", 1), ("1|-,0", 1), ("0|-,0", 1), ("q=1|-,*", 1), ("0|0,0", 2)]
    {
        let (code, text) = ask(target);
        assert_eq!(code, expected, "{target}: {text}");
    }
    let (_, text) = piped(&["reach", "-", "--init", init, "--states=list"], rules);
    assert!(text.contains("\n  0|-,0\n  0|1,0\n  1|-,0\n"), "{text}");
}

#[test]
fn operators_bind_as_in_the_dialect() {
    let text = "void main() begin decl x, y, z; x, y, z := F, T, F; assert(x & y = z); end\n";
    assert_eq!(piped(&["reach", "-"], text).0, 0, "Boppo compares last");
    assert_eq!(piped(&["reach", "-", "--dialect", "getafix"], text).0, 1, "GETAFIX compares first");
}

/// Where a site could start any number of threads, no engine says more than it has seen.
#[test]
fn starts_that_were_cut_off_are_open() {
    let model = b"decl x, y;
        void main() begin
            x, y := 0, 0;
            L: if (*) then start_thread worker(); goto L; fi
        end
        void worker() begin
            if (x) then y := 1; fi
            x := 1;
            assert(!y);
        end";
    for engine in ["lazy", "explicit", "transactions"] {
        let args = ["reach", "-", "--engine", engine, "--starts-per-site", "1"];
        let outcome = run_with_input(&args, model);
        assert_eq!(outcome.code, Some(3), "{engine}: {}", outcome.stdout);
        assert!(outcome.stdout.contains("1 start per site"), "{}", outcome.stdout);
        let args = ["reach", "-", "--engine", engine, "--starts-per-site", "2"];
        assert_eq!(run_with_input(&args, model).code, Some(1), "{engine}");
    }
    // The same of formulas, which are about runs without failures.
    let model = String::from_utf8_lossy(model).replace("assert(!y)", "skip");
    for (starts, code) in [("1", 3), ("2", 1)] {
        let args = ["temporal", "-", "A G (end -> {!y})", "--starts-per-site", starts];
        let outcome = run_with_input(&args, model.as_bytes());
        assert_eq!(outcome.code, Some(code), "{}{}", outcome.stdout, outcome.stderr);
    }
}
