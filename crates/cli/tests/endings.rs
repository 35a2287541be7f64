//! Where runs end, and what is said there: invariants that break together, labels, first states, blocks of
//! locals, conditions that keep a thread from going on.

mod common;

use common::{run_with_input, scratch};
use serde_json::Value;
use std::fs;

fn ask(arguments: &[&str], source: &str, code: i32) -> String {
    let outcome = run_with_input(arguments, source.as_bytes());
    assert_eq!(outcome.code, Some(code), "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
    outcome.stdout
}

fn json(arguments: &[&str], source: &str, code: i32) -> Value {
    let text = ask(&[arguments, &["--format", "json"]].concat(), source, code);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

const GUARDED: &str = "lock : l;
int 0..3 : x guarded by l;
invariant (x != 2);
process A { main { x = 2; } }
";

const TWO: &str = "int 0..3 : x;
int 0..3 : y;
invariant (x != 2);
invariant (x + y < 2);
process A { main { x = 2; } }
";

/// What fails in one step is listed failure by failure, each with its own run.
#[test]
fn invariants_of_one_step_are_entries_of_their_own() {
    for (source, wanted) in [
        (GUARDED, &[("annotation", None), ("invariant", Some("x != 2"))][..]),
        (TWO, &[("invariant", Some("x != 2")), ("invariant", Some("x + y < 2"))]),
    ] {
        let listed = json(&["reach", "-"], source, 1);
        let all = listed["assertions"].as_array().expect("a list");
        let entries: Vec<(&str, Option<&str>)> = all
            .iter()
            .map(|one| (one["kind"].as_str().expect("a kind"), one["invariant"].as_str()))
            .collect();
        assert_eq!(entries, wanted);
        let found = json(&["check", "-", "--no-cache"], source, 1);
        let findings = found["files"][0]["findings"].as_array().expect("a list").clone();
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert_ne!(findings[0]["fingerprint"], findings[1]["fingerprint"]);
        for (format, word) in [("junit", "<testcase"), ("sarif", "\"ruleId\"")] {
            for command in [&["check", "-", "--no-cache"][..], &["reach", "-"]] {
                let text = ask(&[command, &["--format", format]].concat(), source, 1);
                assert_eq!(text.matches(word).count(), 2, "{format}: {text}");
            }
        }
        // Each run is executed again, and breaks what it is listed for.
        let folder = scratch("endings-replay");
        let [model, runs] = ["model.eml", "runs.json"].map(|name| folder.join(name));
        fs::write(&model, source).expect("a file");
        fs::write(&runs, listed.to_string()).expect("a file");
        let [model, runs] = [&model, &runs].map(|path| path.to_str().expect("UTF-8"));
        let replayed = ask(&["replay", model, runs], "", 0);
        for condition in wanted.iter().filter_map(|(_, condition)| *condition) {
            assert!(replayed.contains(&format!("an invariant is broken: `{condition}`")));
        }
    }
}

#[test]
fn an_invariant_that_the_first_state_breaks_has_its_place_and_its_name() {
    let source = "int 0..3 : x = 2;
invariant (x != 1);
invariant (x == 0);
process A { main { skip; } }
";
    let text = ask(&["check", "-", "--no-cache"], source, 1);
    assert!(text.contains("An invariant is broken: `x = 0`."), "{text}");
    assert!(text.contains("the first state breaks this"), "{text}");
    assert!(!text.contains("`x != 1`"), "{text}");
    let listed = json(&["reach", "-"], source, 1);
    assert_eq!(listed["failure"]["line"], 3);
    assert_eq!(listed["failure"]["invariant"], "x = 0");
    let junit = ask(&["reach", "-", "--format", "junit"], source, 1);
    assert!(junit.contains(":3:1: An invariant is broken"), "{junit}");
    assert!(!junit.contains(" of  ["), "{junit}");
    let dot = ask(&["reach", "-", "--format", "dot"], source, 1);
    assert!(dot.contains("Before any step: the first state breaks this"), "{dot}");
    let page = scratch("endings-page").join("page.html");
    ask(&["reach", "-", "--html", page.to_str().expect("UTF-8")], source, 1);
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("The first state shows it, before any step."));
    assert!(page.contains("the first state breaks this"));
}

#[test]
fn a_label_is_reported_where_it_stands() {
    let source = "int 0..3 : x;
process A {
  main {
    x = 1;
    label late: x = 2;
  }
}
process B { main { label early: x = 3; } }
";
    for (label, place, thread) in [("late", "5:5", "A"), ("early", "8:20", "B")] {
        let text = ask(&["reach", "-", "--label", label], source, 1);
        assert!(text.lines().next().is_some_and(|line| line.ends_with(place)), "{text}");
        let junit = ask(&["reach", "-", "--label", label, "--format", "junit"], source, 1);
        assert!(junit.contains(&format!(":{place}: Label `{label}` is reached")), "{junit}");
        assert!(junit.contains(&format!("reached label of {thread} [")), "{junit}");
        assert!(junit.contains(&format!("{thread} is here")), "{junit}");
        let sarif = ask(&["reach", "-", "--label", label, "--format", "sarif"], source, 1);
        let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
        let location = &sarif["runs"][0]["results"][0]["locations"][0];
        let line = place.split(':').next().and_then(|line| line.parse::<u64>().ok());
        assert_eq!(location["physicalLocation"]["region"]["startLine"].as_u64(), line);
        assert_eq!(location["logicalLocations"][0]["name"], thread);
    }
}

#[test]
fn labels_of_boolean_programs_have_places() {
    let source = "decl x;
void main() begin
  x := T;
  HERE:
  x := F;
end
";
    let path = scratch("endings-bool").join("model.bp");
    fs::write(&path, source).expect("a file");
    let text = ask(&["reach", path.to_str().expect("UTF-8"), "--label", "HERE"], "", 1);
    assert!(text.contains("model.bp:4:3"), "{text}");
}

const WAITS: &str = "bool : f;
process A { main { assume(f); f = false; } }
process B { main { f = true; } }
";

/// An atomic section that cannot end is no step, so a random run does not get stuck inside.
#[test]
fn a_random_run_enters_no_section_that_cannot_end() {
    for seed in 0..12 {
        let text = ask(&["simulate", "-", "--seed", &seed.to_string()], WAITS, 0);
        assert!(text.contains("every thread that was started has ended"), "{seed}: {text}");
    }
}

#[test]
fn a_random_run_says_who_waits_for_what() {
    let source = "bool : f;
bool : g;
process A { main { assume(g); f = true; } }
process B { main { assume(f); g = true; } }
";
    let text = ask(&["simulate", "-"], source, 0);
    assert!(text.contains("=>  waits until g holds"), "{text}");
    assert!(text.contains("=>  waits until f holds"), "{text}");
    assert!(text.contains("a dead end: no thread can move"), "{text}");
}

const COPIES: &str = "mutex : m[2];
thread : o;
int 0..3 : arr[2];
int 0..3 : x;
process W[2] {
  int 0..3 : own;
  main {
    { int 0..3 : t = 2; x = t; }
    own = 1;
    o = me;
    x = own;
    assert(x != 1);
  }
}
process C { int 0..3 : pv = 3; main { pv = 2; synchronized(m[1]) { skip; } } }
";

#[test]
fn a_local_has_no_value_behind_its_block() {
    let text = ask(&["reach", "-", "--show", "W[0].t"], COPIES, 1);
    let behind = text.lines().position(|line| line.contains("W[0].t = -"));
    let written = text.lines().position(|line| line.contains("x := t"));
    assert!(text.contains("W[0].t = 2") && behind > written && written.is_some(), "{text}");
}

#[test]
fn names_with_parts_need_no_quotes() {
    for (expression, shown) in [
        ("W[0].own", "W[0].own = 1"),
        ("o == W[0]", "o == W[0] = T"),
        ("C.pv", "C.pv = 3"),
        ("arr[0] + W[1].own", "arr[0] + W[1].own = 0"),
    ] {
        let text = ask(&["reach", "-", "--show", expression], COPIES, 1);
        assert!(text.contains(shown), "{expression}: {text}");
    }
    let wrong = run_with_input(&["reach", "-", "--show", "arr"], COPIES.as_bytes());
    assert!(wrong.stderr.contains("`arr` is an array"), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("name one element: `arr[0]`"), "{}", wrong.stderr);
    // Whether an engine decides them is another matter.
    for formula in ["{ o != W[1] }", "{ o != none }", "{ C.pv == 3 }", "{ W[0].own == 0 }"] {
        let asked = ["temporal", "-", &format!("A G {formula}"), "--max-work", "100000"];
        let outcome = run_with_input(&asked, COPIES.as_bytes());
        assert!(matches!(outcome.code, Some(1 | 3)), "{formula}: {}", outcome.stderr);
    }
    let locks = "lock : m[2];
process A { main { acquire(m[1]); release(m[1]); } }
process B { main { acquire(m[1]); release(m[1]); } }
";
    for (formula, code) in [
        ("!next(A, acquire m[0])", 0),
        ("!next(A, acquire m[1])", 1),
        ("!holds(A, m[0])", 0),
        ("!holds(B, m[1])", 1),
    ] {
        ask(&["temporal", "-", &format!("A G {formula}")], locks, code);
    }
    let wrong = run_with_input(&["temporal", "-", "A G (o != W[1])"], COPIES.as_bytes());
    assert!(wrong.stderr.contains("in braces: `{ o == .. }`"), "{}", wrong.stderr);
}

/// The reasons of a dead end are those of the text.
#[test]
fn what_keeps_a_thread_is_named() {
    let folder = scratch("endings-dead");
    let boolean = "decl a, b;
void main() begin
  start_thread second();
  a := T;
  assume(F);
end
void second() begin
  b := F;
  b := T constrain b;
end
";
    let pushdown = "2
PDA 1 2
0 1 -> 0 2
0 2 -> 0 -
PDA 3 4
1 3 -> 0 4
";
    fs::write(folder.join("dead.init"), "0|1,3\n").expect("a file");
    for (name, source, rows) in [
        ("dead.bp", boolean, ["cannot go on: F is false", "waits until b allows its step"]),
        ("dead.pds", pushdown, ["waits until the shared state is 1"; 2]),
    ] {
        let path = folder.join(name);
        fs::write(&path, source).expect("a file");
        let path = path.to_str().expect("UTF-8");
        let text = ask(&["reach", path, "--deadlocks"], "", 1);
        for row in rows {
            assert!(text.contains(row), "{row}\n{text}");
        }
        let found = run_with_input(&["check", path, "--only", "deadlock", "--no-cache"], b"");
        assert!(found.stdout.contains("1 finding"), "{}", found.stdout);
        assert!(!found.stderr.contains("nothing-to-ask"), "{}", found.stderr);
    }
}

#[test]
fn expressions_are_shown_in_all_languages() {
    let folder = scratch("endings-show");
    let boolean = "decl x;
void main() begin
  decl y;
  y := T;
  x := y;
  assert(!x);
end
";
    let path = folder.join("shown.bp");
    fs::write(&path, boolean).expect("a file");
    let path = path.to_str().expect("UTF-8");
    let text = ask(&["reach", path, "--show", "x & main.y"], "", 1);
    assert!(text.contains("x & main.y = T"), "{text}");
    let text =
        ask(&["reach", "examples/recursive-walk.pds", "--show", "q = 1", "--show", "q + 1"], "", 1);
    assert!(text.contains("q = 1 = T") && text.contains("q + 1 = 2"), "{text}");
    // No engine of `deadlock` takes data, and the answer says so.
    let locked = "lock : a, b; int 0..3 : n = 1;
process T1 { main { synchronized(a) { synchronized(b) { n = 2; } } } }
process T2 { main { synchronized(b) { synchronized(a) { skip; } } } }
";
    let text = ask(&["deadlock", "-", "--show", "n * 2"], locked, 3);
    assert!(text.contains("takes no program that computes with data"), "{text}");
    let text = ask(&["reach", "-", "--deadlocks", "--show", "n * 2"], locked, 1);
    assert!(text.contains("n * 2 = 2"), "{text}");
}

/// Questions that nothing could violate prove nothing in any format.
#[test]
fn a_kind_with_vacuous_questions_only_is_not_proved() {
    let text = ask(&["check", "-", "--no-cache"], WAITS, 1);
    assert!(text.contains("could be a case of: atomicity violation"), "{text}");
    let junit = ask(&["check", "-", "--no-cache", "--format", "junit"], WAITS, 1);
    assert!(!junit.contains("no two units of work"), "{junit}");
    assert!(junit.contains("not asked: nothing in the model could be a case of it"), "{junit}");
}
