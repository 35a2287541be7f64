//! What people and programs are told about dead ends: an interleaving is never empty, for its last rows say
//! what each thread waits for; and where nothing is claimed, that is said.

mod common;

use common::{run, run_with_input};
use serde_json::Value;

/// Philosophers whose forks have gone: nobody can move at first.
const PHILOSOPHERS: &str = "chan : take0, take1;
process Fork0 { main { skip; } }
process P0 { main { send take0; send take1; } }
process P1 { main { send take1; send take0; } }
";

const WAITING: &str = "lock : l; chan : c; bool : ready = false;
process Holder { main { synchronized(l) { recv c; } } }
process Locker { main { synchronized(l) { skip; } } }
process Sender { main { assume(ready); send c; } }
process Joiner { main { join Holder; } }
";

fn ask(arguments: &[&str], source: &str, code: i32) -> String {
    let outcome = run_with_input(arguments, source.as_bytes());
    assert_eq!(outcome.code, Some(code), "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
    outcome.stdout
}

const ROWS: [&str; 4] = [
    "waits for a sender over c",
    "waits for l",
    "waits until ready holds",
    "waits for the end of Holder",
];

#[test]
fn the_last_rows_say_what_each_thread_waits_for() {
    for arguments in [&["reach", "-", "--deadlocks"][..], &["check", "-", "--no-cache"]] {
        let text = ask(arguments, WAITING, 1);
        for row in ROWS {
            assert!(text.contains(row), "{row}\n{text}");
        }
        assert!(text.contains("held by Holder"), "{text}");
    }
    // Also where nobody can move at first, so that there is no step.
    for arguments in [&["reach", "-", "--deadlocks"][..], &["check", "-", "--no-cache"]] {
        let text = ask(arguments, PHILOSOPHERS, 1);
        let rows = text.lines().filter(|line| line.contains("=>"));
        let rows: Vec<&str> = rows.collect();
        assert!(rows.iter().any(|row| row.contains("waits for a receiver of take0")), "{text}");
        assert!(rows.iter().any(|row| row.contains("waits for a receiver of take1")), "{text}");
    }
}

#[test]
fn pages_and_json_say_it_too() {
    let page = std::env::temp_dir().join(format!("selvedge-dead-end-{}.html", std::process::id()));
    let path = page.to_str().expect("UTF-8");
    for (source, rows) in
        [(WAITING, &ROWS[2..]), (PHILOSOPHERS, &["waits for a receiver of take0"][..])]
    {
        for arguments in [
            &["reach", "-", "--deadlocks", "--html", path][..],
            &["check", "-", "--no-cache", "--html", path],
        ] {
            ask(arguments, source, 1);
            let html = std::fs::read_to_string(&page).expect("a page was written");
            for row in rows {
                assert!(html.contains(row), "{row}");
            }
            assert!(html.contains("Now no thread can move:"));
        }
    }
    std::fs::remove_file(&page).expect("a file can be removed");
    let obstacles = |next: &Value| -> Vec<String> {
        let of = |step: &Value| step["waits_for"].to_string();
        next.as_array().expect("steps").iter().map(of).collect()
    };
    let expected = [
        r#"{"kind":"sender","name":"c"}"#,
        r#"{"holder":"Holder","kind":"lock","name":"l"}"#,
        r#"{"kind":"condition","name":"ready"}"#,
        r#"{"kind":"end","name":"Holder"}"#,
    ];
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&ask(arguments, WAITING, 1)).expect("JSON")
    };
    let reached = json(&["reach", "-", "--deadlocks", "--format", "json"]);
    assert_eq!(obstacles(&reached["next"]), expected);
    let checked = json(&["check", "-", "--no-cache", "--format", "json"]);
    let finding = &checked["files"][0]["findings"][0];
    assert_eq!(finding["rule"], "stuck");
    assert_eq!(obstacles(&finding["next"]), expected);
}

#[test]
fn what_is_not_asked_is_said() {
    let said = "not asked: dead ends (`reach --deadlocks`)";
    let outcome = run(&["check", "corpus/bp/dekker.bp", "--no-cache"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains(said), "{}", outcome.stdout);
    let json = run(&["check", "corpus/bp/dekker.bp", "--no-cache", "--format", "json"]).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["files"][0]["not_asked"][0], "dead ends (`reach --deadlocks`)");
    // Who asks gets an answer.
    let chosen = run(&["check", "corpus/bp/dekker.bp", "--no-cache", "--only", "deadlock"]);
    assert!(!chosen.stdout.contains("not asked: dead ends"), "{}", chosen.stdout);
    let reached = run(&["reach", "corpus/bp/dekker.bp", "--deadlocks"]);
    assert_eq!(chosen.code, reached.code, "{}", chosen.stdout);
    // Of an EML program it is asked.
    let asked = run(&["check", "examples/lost-wakeup.eml", "--no-cache"]);
    assert_eq!(asked.code, Some(1), "{}", asked.stdout);
    assert!(asked.stdout.contains("1 finding (1 dead end)"), "{}", asked.stdout);
}
