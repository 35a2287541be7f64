//! `selvedge reach --engine transactions` as a contract: verdict per assertion, what protects each
//! variable, orders and stores, runs by transaction, options that do not go together.

mod common;

use common::{command, root, scratch};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Exit code, standard output and standard error of a run.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = command(arguments).current_dir(root()).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

fn json(arguments: &[&str]) -> (i32, Value) {
    let (code, out, _) = run(&[&["reach", "--format", "json"], arguments].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}")))
}

/// Two threads, one of which forgets the lock of `x`.
const FORGETFUL: &str = "mutex : m;
int 0..9 : x, y;
process Careful {
    main {
        acquire(m);
        x = x + 1;
        assert(x > 0);
        y = x;
        assert(y == x);
        release(m);
    }
}
process Hasty {
    main {
        x = 0;
    }
}
";

fn forgetful(folder: &str) -> PathBuf {
    let file = scratch(folder).join("forgetful.eml");
    fs::write(&file, FORGETFUL).expect("it can be written");
    file
}

#[test]
fn every_assertion_has_its_own_verdict_in_json() {
    let file = forgetful("transactions-assertions");
    let file = file.to_str().expect("a path");
    let (code, report) = json(&[file]);
    assert_eq!((code, &report["verdict"]), (1, &"violation".into()));
    assert_eq!(report["reduction"], "transactions");
    let all = report["assertions"].as_array().expect("a list");
    let row = |one: &Value| {
        (one["line"].as_u64(), one["verdict"].as_str().map(str::to_owned), one["kind"].clone())
    };
    let violation = |line| (Some(line), Some("violation".to_owned()), Value::from("assertion"));
    assert_eq!(all.iter().map(row).collect::<Vec<_>>(), [violation(7), violation(9)]);
    let counts = report["stats"]["counts"].as_object().expect("counts");
    for name in ["states", "nodes", "transitions", "depth", "sweeps", "bytes_per_state"] {
        assert!(counts[name].is_u64(), "{name}");
    }
    // A search that is stopped leaves them open.
    let (code, report) = json(&["examples/counter.eml", "--state-limit", "5"]);
    assert_eq!(code, 3);
    assert_eq!(report["assertions"][0]["verdict"], "unknown");
    let (code, report) = json(&["examples/counter.eml"]);
    assert_eq!((code, &report["assertions"][0]["verdict"]), (0, &"safe".into()));
}

#[test]
fn what_protects_each_variable() {
    let file = forgetful("transactions-locks");
    let file = file.to_str().expect("a path");
    let (_, report) = json(&[file, "--show-locks"]);
    let row = |name: &str| {
        let rows = report["protection"].as_array().expect("a list");
        rows.iter().find(|row| row["variable"] == name).expect(name).clone()
    };
    let x = row("x");
    assert_eq!((&x["kind"], &x["proved"]), (&"none".into(), &true.into()));
    assert_eq!(x["broken_by"][0]["lock"], "m");
    assert_eq!(x["broken_by"][0]["thread"], "Hasty");
    assert_eq!(x["broken_by"][0]["line"], 15);
    assert_eq!(x["broken_by"][0]["held"], Value::Array(Vec::new()));
    let clash = x["clash"].as_array().expect("two accesses");
    assert_eq!((clash.len(), &clash[1]["thread"]), (2, &"Hasty".into()));
    assert_eq!(row("y")["by"][0], "Careful");
    assert_eq!(row("y")["kind"], "thread");
    let (_, report) = json(&[file, "--why", "x"]);
    let why = &report["why"];
    assert_eq!((&why["variable"], &why["access"]["line"]), (&"x".into(), &15.into()));
    assert!(why["witness"].is_array());
    let (_, text, _) = run(&["reach", file, "--show-locks", "--why", "x", "--no-witness"]);
    for part in ["what protects each variable, proved", "unprotected", "local to Careful"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.contains("why x: Hasty writes at :15, holds no lock"), "{text}");
    assert!(text.contains("=>  write x; x := 0"), "{text}");
    // No assertion is needed, and nothing is claimed that was not searched.
    let bare = scratch("transactions-bare").join("bare.eml");
    fs::write(
        &bare,
        "lock : m; int 0..3 : x; process P[2] { main { acquire(m); x = 1; release(m); } }",
    )
    .expect("it can be written");
    let bare = bare.to_str().expect("a path");
    let (code, report) = json(&[bare, "--show-locks"]);
    assert_eq!((code, &report["protection"][0]["by"][0]), (0, &"m".into()));
    let (code, report) = json(&[bare, "--show-locks", "--state-limit", "1"]);
    assert_eq!((code, &report["protection"][0]["proved"]), (3, &false.into()));
    let (code, _, error) = run(&["reach", bare, "--why", "z"]);
    assert!(code == 2 && error.contains("there is no global `z`"), "{error}");
}

#[test]
fn orders_stores_and_rules_agree() {
    let file = forgetful("transactions-orders");
    let file = file.to_str().expect("a path");
    for options in [
        &["--search", "dfs"][..],
        &["--store", "compact"],
        &["--protection", "paper"],
        &["--search", "dfs", "--store", "compact", "--protection", "paper"],
        &["--reduction", "none"],
    ] {
        assert_eq!(run(&[&["reach", file], options].concat()).0, 1, "{options:?}");
        let (code, report) = json(&[&["examples/counter.eml"], options].concat());
        if options.contains(&"compact") {
            assert_eq!((code, &report["verdict"]), (3, &"unknown".into()), "{options:?}");
            let reason = report["reason"].as_str().expect("a reason");
            assert!(reason.contains("probability"), "{reason}");
        } else {
            assert_eq!((code, &report["verdict"]), (0, &"safe".into()), "{options:?}");
        }
    }
}

#[test]
fn states_and_targets_are_not_reduced() {
    let (code, report) = json(&["examples/counter.eml", "--target", "count=3"]);
    assert_eq!((code, &report["reduction"]), (1, &"none".into()));
    let (code, report) = json(&["examples/counter.eml", "--states=list"]);
    assert_eq!((code, &report["reduction"]), (0, &"none".into()));
    assert_eq!(report["states"], Value::Array(Vec::new()));
    let list = report["list"].as_array().expect("a list");
    assert_eq!(Some(list.len() as u64), report["shared_states"].as_u64());
    assert_eq!(list[0]["mx"], false);
}

/// Several adders and a stopper of the Bluetooth driver whose first repair fails too.
fn bluetooth(adders: usize) -> String {
    let starts = "    start_thread adder();\n".repeat(adders);
    let bits: Vec<String> = (0..6).map(|bit| format!("p{bit}")).collect();
    let all = bits.join(", ");
    let change = |sign: &str| {
        let next = |at: usize| match bits[..at].iter().map(|bit| format!("{sign}{bit}")) {
            below if at > 0 => {
                format!("{} != ({})", bits[at], below.collect::<Vec<_>>().join(" & "))
            }
            _ => format!("!{}", bits[at]),
        };
        (0..bits.len()).map(next).collect::<Vec<_>>().join(", ")
    };
    let (more, less) = (change(""), change("!"));
    format!(
        "decl {all};
decl stopping_flag, stopping_event, stopped;
void main() begin
    {all} := T, F, F, F, F, F;
    stopping_flag, stopping_event, stopped := F, F, F;
{starts}    start_thread stopper();
end
void adder() begin
    decl admitted;
    admitted := increment();
    if admitted then assert(!stopped); fi
    decrement();
end
void stopper() begin
    stopping_flag := T;
    decrement();
    assume(stopping_event);
    stopped := T;
end
bool increment() begin
    {all} := {more};
    if stopping_flag then decrement(); return F; fi
    return T;
end
void decrement() begin
    decl last;
    {all}, last := {less}, p0 & !p1 & !p2 & !p3 & !p4 & !p5;
    if last then stopping_event := T; fi
end
"
    )
}

#[test]
fn copies_cost_little() {
    let folder = scratch("transactions-copies");
    let mut states = Vec::new();
    for adders in [2, 4, 16] {
        let file = folder.join(format!("bluetooth-{adders}.bp"));
        fs::write(&file, bluetooth(adders)).expect("it can be written");
        let file = file.to_str().expect("a path");
        let stored = |more: &[&str]| {
            let options = ["reach", file, "--engine", "transactions", "--stats", "--no-witness"];
            let (code, out, _) = run(&[&options[..], more].concat());
            assert_eq!(code, 1, "{out}");
            let line = out.lines().find(|line| line.trim_start().starts_with("states "));
            let number = line.and_then(|line| line.split_whitespace().last());
            number.and_then(|number| number.parse::<u64>().ok()).expect("a number")
        };
        states.push(stored(&[]));
        if adders == 4 {
            let all = stored(&["--no-symmetry"]);
            assert!(all > 5 * states[1], "{all} without symmetry");
        }
    }
    // With 16 adders, 12 more than with 4, the number of states is not even twice as large.
    assert!(states[2] < 4 * states[1], "{states:?}");
}

#[test]
fn workers_give_the_same_answer() {
    let peterson = "bench/models/peterson-4.eml";
    let mut reports = Vec::new();
    for workers in ["1", "2", "8"] {
        let options = ["--reduction", "none", "--state-limit", "20000", "--workers", workers];
        let (code, report) = json(&[&[peterson], &options[..]].concat());
        assert_eq!((code, &report["verdict"]), (3, &"unknown".into()));
        assert_eq!(report["stats"]["workers"].to_string(), workers);
        let file = forgetful(&format!("transactions-workers-{workers}"));
        let file = file.to_str().expect("a path");
        let (code, report) = json(&[file, "--workers", workers, "--reduction", "none"]);
        assert_eq!(code, 1);
        let steps = report["witness"]["steps"].clone();
        let stats = &report["stats"];
        let counts = (stats["levels"].clone(), stats["counts"]["states"].clone());
        let assertions = report["assertions"].as_array().expect("a list").iter();
        let verdicts: Vec<Value> = assertions.map(|one| one["verdict"].clone()).collect();
        reports.push((verdicts, counts, steps));
    }
    assert_eq!(reports[1], reports[2]);
    assert_eq!((&reports[0].0, &reports[0].1), (&reports[1].0, &reports[1].1));
    let (code, _, error) = run(&["reach", peterson, "--workers", "0"]);
    assert!(code == 2 && error.contains("workers"), "{error}");
}

#[test]
fn options_that_do_not_go_together() {
    let file = "examples/counter.eml";
    let transactions = ["--engine", "transactions"];
    for (options, reason) in [
        (&["--rounds", "2"][..], "do not go with engine transactions"),
        (&["--contexts", "2"], "do not go with engine transactions"),
        (&["--projection"], "do not go with engine transactions"),
        (&["--states", "--reduction", "left-movers"], "no reduction preserves states"),
        (&["--target", "x=1", "--reduction", "transactions"], "no reduction preserves states"),
        (&["--deadlocks", "--reduction", "transactions"], "do not preserve deadlocks"),
        (&["--states", "--store", "compact"], "keeps no states"),
        (&["--workers", "2", "--search", "dfs"], "several workers search breadth first"),
        (&["--workers", "2", "--store", "compact"], "several workers store whole states"),
        (&["--workers", "2", "--why", "count"], "the run to an access is one worker's"),
    ] {
        let (code, _, error) = run(&[&["reach", file], &transactions[..], options].concat());
        assert_eq!(code, 2, "{options:?}");
        assert!(error.contains(reason), "{options:?}: {error}");
    }
    for option in
        [&["--show-locks"][..], &["--search", "dfs"], &["--why", "x"], &["--workers", "2"]]
    {
        let (code, _, error) = run(&[&["reach", file, "--engine", "lazy"], option].concat());
        assert!(code == 2 && error.contains("is for engine transactions"), "{option:?}: {error}");
    }
    let (code, _, error) = run(&["reach", file, "--engine", "eager", "--no-symmetry"]);
    assert!(code == 2 && error.contains("is for engines transactions, explicit"), "{error}");
}

#[test]
fn a_run_is_shown_by_transactions() {
    let file = forgetful("transactions-text");
    let file = file.to_str().expect("a path");
    let (_, short, _) = run(&["reach", file]);
    assert!(short.contains("transaction 1  Careful"), "{short}");
    assert!(short.contains("transaction 3  Hasty"), "{short}");
    assert!(short.contains("acquire m"), "{short}");
    let (_, long, _) = run(&["reach", file, "-v"]);
    assert!(long.lines().count() > short.lines().count(), "{long}");
}

/// Paper 002 §4.3: the instrumented `read` has the phase `p := true` behind the acquisitions, keeps it
/// at the protected accesses, and has `p := false` from the access to `count` on.
#[test]
fn movers_and_phases_are_those_of_the_figure() {
    let file = scratch("transactions-movers").join("counter.eml");
    let text = "const K = 4;
mutex : mx, my;
int mod K : x, y, count;
process Worker[2] {
    incr { acquire(mx); int mod K : tx = x; atomic { count = count + 1; } x = tx + 1; release(mx); }
    decr { acquire(my); int mod K : ty = y; atomic { count = count - 1; } y = ty + 1; release(my); }
    look : int mod K {
        acquire(mx);
        int mod K : tx = x;
        acquire(my);
        int mod K : ty = y;
        assert(count == (tx - ty + K) % K);
        release(my);
        release(mx);
        return tx - ty;
    }
    main {
        int mod K : seen;
        while (true) {
            if (*) incr();
            else if (*) decr();
            else { seen = look(); }
        }
    }
}
";
    fs::write(&file, text).expect("it can be written");
    let (code, shown, _) = run(&["show", file.to_str().expect("a path"), "--movers"]);
    assert_eq!(code, 0);
    let section = shown.split("\n\n").find(|part| part.contains("look")).expect("a part");
    let rows: Vec<&str> = section.lines().skip(1).collect();
    let figure = [
        (":8", "acquire mx", "right", "pre"),
        (":9", "read x", "both", "pre"),
        (":10", "acquire my", "right", "pre"),
        (":11", "read y", "both", "pre"),
        (":12", "assert", "none", "post"),
        (":13", "release my", "left", "post"),
        (":14", "release mx", "left", "post"),
        (":15", "return", "both", "post"),
    ];
    assert_eq!(rows.len(), figure.len(), "{section}");
    for (row, (place, statement, mover, phase)) in rows.iter().zip(figure) {
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(words.first(), Some(&place), "{section}");
        assert!(row.contains(statement), "{section}");
        assert_eq!(&words[words.len() - 2..], [mover, phase], "{section}");
    }
    let (code, _, error) =
        run(&["show", file.to_str().expect("a path"), "--movers", "--max-work", "5"]);
    assert!(code == 3 && error.contains("is not shown"), "{error}");
}

/// A limit that is met while a transaction is open leaves what was stored, what waits, and how deep.
#[test]
fn a_limit_says_how_far_the_search_came() {
    let file = "examples/counter.eml";
    let (code, report) = json(&[file, "--max-work", "400"]);
    assert_eq!((code, &report["verdict"]), (3, &"unknown".into()));
    let searched = &report["searched"];
    for name in ["states", "queue", "depth"] {
        assert!(searched[name].as_u64().is_some_and(|number| number > 0), "{name}: {searched}");
    }
    let (_, text, _) = run(&["reach", file, "--max-work", "400"]);
    assert!(text.contains("stored") && text.contains("not expanded yet"), "{text}");
}
