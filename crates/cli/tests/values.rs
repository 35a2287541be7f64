//! `--show`: expressions along runs, in every output of every command that shows runs.

mod common;

use common::{run, run_with_input, scratch};
use serde_json::{Value, json};
use std::fs;

/// An array, an enumeration, copies, and a local that is there for a while.
const COUNT: &str = "\
enum Phase { idle, busy };
int 0..9 : count = 0;
int 0..3 : slots[3];
Phase : phase = idle;
lock : l;
process W[2] waits {
  main { put(); }
  put { int 0..9 : seen; seen = count; slots[1] = 2; phase = busy; count = seen + 1; }
}
process C {
  main {
    start W[0]; start W[1]; join W[0]; join W[1];
    synchronized(l) { assert(count == 2); }
  }
}
";

const CLERKS: &str = "examples/overbooking.bp";

fn on_count(arguments: &[&str]) -> common::Outcome {
    let (command, rest) = arguments.split_first().expect("a command");
    run_with_input(&[&[*command, "-"], rest].concat(), COUNT.as_bytes())
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The values of an expression, at first and after each step.
fn values(run: &Value, steps: &str, expression: &str) -> Vec<Value> {
    let steps = run[steps].as_array().expect("steps").iter();
    std::iter::once(run).chain(steps).map(|one| one["show"][expression].clone()).collect()
}

#[test]
fn text_has_values_where_they_change() {
    let asked =
        ["count + 1", "W[0].seen", "slots[count + 1]", "phase", "phase == busy && count > 0"];
    let options: Vec<&str> = asked.iter().flat_map(|one| ["--show", one]).collect();
    let text = on_count(&[&["reach"], &options[..]].concat()).stdout;
    for line in [
        "shown  count + 1 = 1, W[0].seen = -, slots[count + 1] = 0, phase = idle",
        "[W[0].seen = 0]",
        "[slots[count + 1] = 2]",
        "[phase = busy]",
        "[count + 1 = 2]",
        "[phase == busy && count > 0 = T]",
        "[W[0].seen = -]",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    // Locals of threads whose names need quotes, of which the innermost call counts.
    let calls = "decl x;\nvoid main() begin\n start_thread f();\n start_thread f();\nend\n\
                 void f() begin\n decl y;\n y := T;\n g();\n x := y;\nend\n\
                 void g() begin\n decl y, z;\n y, z := F, T;\n assert(!z | x);\nend\n";
    let asked = ["reach", "-", "--show", "\"f#2\".y", "--show", "f.y", "--show", "f.z"];
    let outcome = run_with_input(&asked, calls.as_bytes());
    for line in ["shown  \"f#2\".y = -, f.y = ", "[f.y = T]", "[f.y = F]", "[f.z = T]"] {
        assert!(outcome.stdout.contains(line), "{line} in {}", outcome.stdout);
    }
    // What does not change is said once.
    assert_eq!(text.matches("[phase = ").count(), 1, "{text}");
    let text = run(&["reach", CLERKS, "--show", "free & !sold", "--show", "free = 1 | F"]).stdout;
    assert!(text.contains("shown  free & !sold = F, free = 1 | F = F"), "{text}");
    assert!(text.contains("[free & !sold = T]"), "{text}");
}

#[test]
fn json_has_values_at_every_step() {
    let found = on_count(&["reach", "--show", "W[1].seen", "--show", "count", "--format", "json"]);
    let report = json_of(&found.stdout);
    let seen = values(&report, "witness", "W[1].seen");
    assert_eq!(seen[0], Value::Null);
    assert!(seen.contains(&json!(0)) && seen.last() == Some(&Value::Null), "{seen:?}");
    let count = values(&report, "witness", "count");
    assert_eq!((&count[0], count.last()), (&json!(0), Some(&json!(1))));
    // They are those that the steps say themselves.
    let mut said = json!(0);
    for (step, value) in report["witness"].as_array().expect("steps").iter().zip(&count[1..]) {
        if let Some(changed) = step["values"].get("count") {
            said = changed.clone();
        }
        assert_eq!(*value, said, "{step}");
    }
    let found = run(&["reach", CLERKS, "--show", "free", "--format", "json"]).stdout;
    let free = values(&json_of(&found), "witness", "free");
    assert_eq!(
        (&free[0], &free[1], free.last()),
        (&json!(false), &json!(true), Some(&json!(false)))
    );
}

#[test]
fn every_command_that_shows_runs_shows_values() {
    let folder = scratch("values");
    let path = folder.join("count.eml");
    fs::write(&path, COUNT).expect("written");
    let path = path.to_str().expect("UTF-8");
    // What a formula that branches says of a run that fails is not defined.
    let whole = folder.join("whole.eml");
    fs::write(&whole, COUNT.replace("assert(count == 2)", "skip")).expect("written");
    let whole = whole.to_str().expect("UTF-8");
    let race = ["race", path, "--show", "count + 1", "--format", "json"];
    let race = json_of(&run(&race).stdout);
    let queries = race["queries"].as_array().expect("queries");
    let found = queries.iter().find(|one| one["verdict"] == "violation").expect("a race");
    assert_eq!(values(found, "witness", "count + 1")[0], json!(1));
    let temporal = ["temporal", path, "A G {count < 1}", "--show", "count", "--format", "json"];
    let temporal = json_of(&run(&temporal).stdout);
    let steps = values(&temporal["formulas"][0]["witness"], "steps", "count");
    assert!(steps.contains(&json!(1)), "{steps:?}");
    let branching = ["branching", whole, "AG {count < 1}", "--show", "count", "--format", "json"];
    let branching = json_of(&run(&branching).stdout);
    let steps = values(&branching["formulas"][0]["witness"], "steps", "count");
    assert_eq!((&steps[0], steps.last()), (&json!(0), Some(&json!(1))));
    let check = ["check", path, "--no-cache", "--show", "slots[1]", "--format", "json"];
    let check = json_of(&run(&check).stdout);
    let finding = &check["files"][0]["findings"][0];
    assert_eq!(values(finding, "witness", "slots[1]")[0], json!(0));
    let text = run(&["branching", whole, "EF {count == 2}", "--show", "count * 2"]).stdout;
    assert!(text.contains("shown  count * 2 = 0") && text.contains("[count * 2 = 4]"), "{text}");
    let text = run(&["check", path, "--no-cache", "--show", "count * 2"]).stdout;
    assert!(text.contains("[count * 2 = 2]"), "{text}");
    let report = run(&["reach", path, "--format", "json"]).stdout;
    let replayed = ["replay", path, "-", "--show", "phase"];
    let text = run_with_input(&replayed, report.as_bytes()).stdout;
    assert!(text.contains("shown  phase = idle") && text.contains("[phase = busy]"), "{text}");
    assert!(text.contains("1 of 1 interleaving holds"), "{text}");
    let text = run(&["simulate", path, "--show", "count"]).stdout;
    assert!(text.contains("shown  count = 0"), "{text}");
    let text = run(&["deadlock", "examples/bank-transfer.eml", "--show", "1 + 1"]).stdout;
    assert!(text.contains("shown  1 + 1 = 2"), "{text}");
    let text = run(&["atomicity", path, "--show", "count"]);
    assert_ne!(text.code, Some(2), "{}", text.stderr);
}

#[test]
fn pages_have_values() {
    let folder = scratch("values-page");
    for (name, source, expression, first, later) in [
        ("count.eml", COUNT.to_owned(), "count + W[0].seen", "-", "0"),
        (
            "clerks.bp",
            fs::read_to_string(common::root().join(CLERKS)).expect("a text"),
            "free & !sold",
            "F",
            "T",
        ),
    ] {
        let path = folder.join(name);
        fs::write(&path, source).expect("written");
        let page = folder.join(format!("{name}.html"));
        let (path, page) = (path.to_str().expect("UTF-8"), page.to_str().expect("UTF-8"));
        let outcome = run(&["reach", path, "--show", expression, "--html", page]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        let html = fs::read_to_string(page).expect("a page");
        // For the player, in the line before the table, and in a lane of the table.
        let escaped = expression.replace('&', "\\u0026");
        assert!(html.contains(&format!("[\"{escaped}\",\"{first}\"]")), "{name}");
        assert!(html.contains(&format!("[\"{escaped}\",\"{later}\"]")), "{name}");
        let escaped = expression.replace('&', "&amp;");
        assert!(html.contains(&format!("{escaped} = {first}")), "{name}");
        assert!(html.matches(&escaped).count() > 1, "{name}: a lane");
    }
}

#[test]
fn wrong_expressions_are_told() {
    for (expression, place, said) in [
        ("cuont", ":1:1", "did you mean `count`?"),
        ("count + W[0].sen", ":1:14", "did you mean `seen`?"),
        ("V.seen", ":1:1", "there is no thread `V`"),
        ("W.seen", ":1:1", "it has copies: write `W[0]`"),
        ("seen", ":1:1", "write `W[0].seen` for the local"),
        ("count && phase", ":1:1", "expected a truth value, found a number"),
        ("count count", ":1:7", "expected the end of the expression"),
        ("count +", ":1:8", "expected the name of a variable"),
    ] {
        let outcome = on_count(&["reach", "--show", expression]);
        assert_eq!(outcome.code, Some(2), "{expression}: {}", outcome.stdout);
        assert!(outcome.stderr.contains(said), "{expression}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(&format!("--show{place}")), "{}", outcome.stderr);
    }
    for command in ["race", "deadlock", "atomicity", "check"] {
        assert_eq!(on_count(&[command, "--show", "cuont"]).code, Some(2), "{command}");
    }
    // Locks alone have no values, and programs in Java name none.
    let locks = run(&["race", "examples/stack.eml", "--show", "count"]);
    assert!(locks.stderr.contains("the program has no variables with values"), "{}", locks.stderr);
    let client = "crates/front-java/tests/classes/programs.jar";
    let java = run(&["check", client, "--class", "JoinedCareless", "--no-cache", "--show", "x"]);
    assert_eq!(java.code, Some(2), "{}", java.stdout);
    assert!(java.stderr.contains("programs in Java have none"), "{}", java.stderr);
}

/// Of several files one has to have the variables; where they are not there, nothing is shown.
#[test]
fn several_files() {
    let asked = ["check", CLERKS, "examples/stack.eml", "--no-cache", "--show", "free"];
    let text = run(&asked).stdout;
    assert!(text.contains("[free = T]"), "{text}");
    assert_eq!(text.matches("shown  ").count(), 1, "{text}");
    let nobody = [&asked[..], &["--show", "nothing"]].concat();
    assert_eq!(run(&nobody).code, Some(2));
}
