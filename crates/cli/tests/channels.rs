//! What a user sees of programs with channels: one step across lanes in every format, witnesses that
//! replay, and engines that say who takes such programs.

mod common;

use common::{run, run_with_input};
use serde_json::Value;

/// A broadcast with two receivers, behind which two threads race.
const BROADCAST: &str = "chan : go;
var : x;
process A { main { broadcast go; write x; } }
process B { main { recv go; write x; } }
process C { tell { recv go; } main { tell(); } }
";

fn output(arguments: &[&str], code: i32) -> String {
    let outcome = run_with_input(arguments, BROADCAST.as_bytes());
    assert_eq!(outcome.code, Some(code), "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
    outcome.stdout
}

#[test]
fn a_step_with_receivers_is_one_row_across_the_lanes() {
    let text = output(&["race", "-", "--engine", "exhaustive", "--width", "100"], 1);
    insta::assert_snapshot!("channels_table", without_time(&text));
    let narrow = output(&["race", "-", "--engine", "exhaustive", "--width", "40"], 1);
    insta::assert_snapshot!("channels_list", without_time(&narrow));
}

/// The output without how long it took.
fn without_time(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once(" in ") {
        Some((before, time)) if time.ends_with(" s") => before.to_owned(),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn steps_say_who_receives_in_json() {
    let text = output(&["race", "-", "--format", "json"], 1);
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let queries = report["queries"].as_array().expect("queries");
    let violated = queries.iter().find(|one| one["verdict"] == "violation").expect("a race");
    let steps = violated["witness"].as_array().expect("steps");
    let broadcast = steps.iter().find(|step| step["action"] == "broadcast").expect("a broadcast");
    assert_eq!(broadcast["object"], "go");
    let with = broadcast["with"].as_array().expect("receivers");
    let expected = [("B", 4, 20)];
    for (one, (thread, line, column)) in with.iter().zip(expected) {
        assert_eq!(
            (&one["thread"], &one["line"], &one["column"]),
            (&thread.into(), &line.into(), &column.into())
        );
    }
    let others = steps.iter().filter(|step| step["action"] != "broadcast");
    assert!(others.into_iter().all(|step| step.get("with").is_none()), "{steps:?}");
}

#[test]
fn other_formats_draw_it_too() {
    let check = |format: &str| {
        let outcome =
            run_with_input(&["check", "-", "--no-cache", "--format", format], BROADCAST.as_bytes());
        assert_eq!(outcome.code, Some(1), "{format}: {}", outcome.stderr);
        outcome.stdout
    };
    let sarif = check("sarif");
    assert!(sarif.contains("B receives over `go` from A"), "{sarif}");
    let dot = check("dot");
    assert!(dot.contains("rank=same") && dot.contains("recv go"), "{dot}");
    let page = std::env::temp_dir().join(format!("selvedge-meet-{}.html", std::process::id()));
    let path = page.to_str().expect("UTF-8");
    output(&["race", "-", "--html", path], 1);
    let html = std::fs::read_to_string(&page).expect("a page was written");
    assert!(html.contains("class=\"meet\"") && html.contains("\"with\":[["), "{html}");
    std::fs::remove_file(&page).expect("a file can be removed");
}

#[test]
fn witnesses_with_receivers_replay_and_changed_ones_do_not() {
    let report = output(&["race", "-", "--format", "json"], 1);
    let file = std::env::temp_dir().join(format!("selvedge-channels-{}.eml", std::process::id()));
    std::fs::write(&file, BROADCAST).expect("a file can be written");
    let path = file.to_str().expect("UTF-8");
    let replay = |report: &str| run_with_input(&["replay", path, "-"], report.as_bytes());
    let outcome = replay(&report);
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.stdout, outcome.stderr);
    // Who is ready has to receive.
    let mut changed: Value = serde_json::from_str(&report).expect("JSON");
    for query in changed["queries"].as_array_mut().expect("queries") {
        let Some(replay) = query.get_mut("replay") else { continue };
        for step in replay["steps"].as_array_mut().expect("steps") {
            if let Some(edge) = step[1].as_array().map(|parts| parts[0].clone()) {
                step[1] = edge;
            }
        }
    }
    let outcome = replay(&changed.to_string());
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("other threads have to receive over go"), "{}", outcome.stdout);
    std::fs::remove_file(&file).expect("a file can be removed");
}

#[test]
fn engines_that_take_no_channels_name_those_that_do() {
    for engine in ["tupling", "tupling-bdd"] {
        let outcome = run(&["race", "examples/handshake.eml", "--engine", engine]);
        assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
        assert!(
            outcome.stdout.contains("takes no program with channels; use "),
            "{}",
            outcome.stdout
        );
        assert!(outcome.stdout.contains("exhaustive"), "{}", outcome.stdout);
    }
}

#[test]
fn the_report_about_deadlocks_says_what_it_does_not_cover() {
    let outcome = run(&["deadlock", "examples/lost-wakeup.eml"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("waits for ever at `send` or `recv`"), "{}", outcome.stdout);
    let outcome = run(&["deadlock", "examples/lost-wakeup.eml", "--format", "json"]);
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert!(report["options"]["not_covered"].as_str().is_some_and(|text| text.contains("recv")));
    let outcome = run(&["deadlock", "examples/bank-transfer.eml"]);
    assert!(!outcome.stdout.contains("recv"), "{}", outcome.stdout);
}

#[test]
fn models_are_shown_with_their_channels() {
    let shown = run(&["show", "examples/barrier.eml"]).stdout;
    assert!(shown.contains("2 channels"), "{shown}");
    assert!(shown.contains("sent over by Gate.main; received by Left.main, Right.main"), "{shown}");
    let text = run(&["show", "examples/barrier.eml", "--format", "model"]).stdout;
    assert!(text.contains("channel arrived") && text.contains("broadcast go"), "{text}");
    let dot = run(&["show", "examples/barrier.eml", "--dot"]).stdout;
    assert!(dot.contains("broadcast go"), "{dot}");
    let outcome = run(&["simulate", "examples/barrier.eml", "--seed", "3"]);
    assert!(outcome.stdout.contains("<-"), "{}", outcome.stdout);
}

/// With one copy nobody meets anybody; two meet and race. Where none is found no number is enough.
#[test]
fn any_number_of_copies_is_tried_one_by_one() {
    let race = "chan : a; var : x; process P[*] { main { if (*) send a; else recv a; write x; } }";
    let outcome = run_with_input(&["race", "-"], race.as_bytes());
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
    let lost = "chan : a; var : x;
        process P[*] { main { recv a; write x; send a; } }
        process Q { main { write x; } }";
    let outcome = run_with_input(&["race", "-"], lost.as_bytes());
    assert_eq!(outcome.code, Some(3), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("copies"), "{}", outcome.stdout);
}

/// What is sent behind an assignment is seen behind the meeting, by engines that follow values.
#[test]
fn values_and_channels_by_engines_for_reach() {
    let program = |value: u32| {
        format!(
            "chan : a;\nint 0..3 : x = 0;\nprocess P {{ main {{ x = 2; send a; }} }}\n\
             process Q {{ main {{ recv a; assert (x == {value}); label done: skip; }} }}\n"
        )
    };
    let (right, wrong) = (program(2), program(3));
    let mut ways: Vec<Vec<&str>> = ["lazy", "explicit"].map(|one| vec!["--engine", one]).to_vec();
    ways.push(vec!["--engine", "transactions", "--reduction", "none"]);
    ways.push(Vec::new());
    for way in &ways {
        let ask = |more: &[&str], text: &str| {
            let arguments = [&["reach", "-", "--format", "json"], &way[..], more].concat();
            let outcome = run_with_input(&arguments, text.as_bytes());
            let report: Value = serde_json::from_str(&outcome.stdout)
                .unwrap_or_else(|error| panic!("{way:?}: {error}: {}", outcome.stderr));
            (outcome.code, report)
        };
        assert_eq!(ask(&[], &right).0, Some(0), "{way:?}");
        assert_eq!(ask(&[], &wrong).0, Some(1), "{way:?}");
        let (code, report) = ask(&["--label", "done"], &right);
        assert_eq!(code, Some(1), "{way:?}");
        let steps = report["witness"].as_array().expect("steps");
        let sends = steps.iter().find(|step| step["action"] == "send").expect("a meeting");
        assert_eq!(sends["with"][0]["thread"], "Q", "{way:?}: {sends}");
    }
    let reduced = ["reach", "-", "--engine", "transactions", "--reduction", "left-movers"];
    let outcome = run_with_input(&reduced, right.as_bytes());
    assert_eq!(outcome.code, Some(3), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("--reduction none"), "{}", outcome.stdout);
    let text = right.replace("int 0..3", "bool").replace("x = 0", "x = false");
    let text = text.replace("x = 2", "x = true").replace("x == 2", "x");
    let outcome = run_with_input(&["sequentialize", "-", "--rounds", "2"], text.as_bytes());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

/// Recursive threads whose words never agree: no engine says that they cannot meet.
#[test]
fn what_stays_open_is_said_to_be() {
    let file = "examples/meeting-never.eml";
    for way in [&["--max-k", "6"][..], &["--engine", "exhaustive"]] {
        let outcome = run(&[&["race", file], way].concat());
        assert_eq!(outcome.code, Some(3), "{way:?}: {}{}", outcome.stdout, outcome.stderr);
    }
}

/// What the engines that take channels say, and not that there are some.
#[test]
fn formulas_where_a_step_fails_are_open_for_that_reason() {
    let model = "chan : c; int 0..3 : x;
        process A { main { send c; x = 4 / x; } }
        process B { main { recv c; x = 1; } }";
    let outcome = run_with_input(&["temporal", "-", "A F end"], model.as_bytes());
    assert!(outcome.stdout.contains("a step can fail"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("use exhaustive"), "{}", outcome.stdout);
}

/// The run ends with the return, though the caller receives next.
#[test]
fn a_return_that_fails_in_front_of_a_receive_is_shown() {
    let model = "chan : c; process P { main { f(); recv c; } f() : int 1..3 { return 0; } }
        process Q { main { send c; } }";
    for engine in ["transactions", "lazy"] {
        let arguments = ["reach", "-", "--engine", engine];
        let outcome = run_with_input(&arguments, model.as_bytes());
        assert_eq!(outcome.code, Some(1), "{engine}: {}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stdout.contains("fails (range)"), "{engine}: {}", outcome.stdout);
    }
}
