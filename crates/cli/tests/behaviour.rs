//! What holds for every run: exit codes, limits, pipes, forms of input and output.

mod common;

use common::{command, root, run, run_with_input, scratch};
use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

const STACK: &str = "examples/stack.eml";

fn examples() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("examples"))
        .expect("examples")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "eml"))
        .collect();
    files.sort();
    assert!(files.len() >= 10);
    files
}

fn json(arguments: &[&str], input: &[u8]) -> (Option<i32>, Value) {
    let mut arguments = arguments.to_vec();
    arguments.extend(["--format", "json"]);
    let outcome = run_with_input(&arguments, input);
    assert_eq!(outcome.stderr, "", "nothing but the answers when piped");
    let value = serde_json::from_str(&outcome.stdout);
    (outcome.code, value.unwrap_or_else(|error| panic!("{error}: {}", outcome.stderr)))
}

/// The first word of an expectation.
fn word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or("")
}

/// Whether a text declares channels.
fn has_channels(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("chan "))
}

/// `//! expect: fails assertion 21` (how, and in which line), `no failure`, `stuck` and `not stuck` in a
/// file, against what `reach` says with and without `--deadlocks`, in every reduction that is allowed.
#[test]
fn examples_with_data_fail_as_expected() {
    let mut kinds = std::collections::BTreeSet::new();
    for file in examples() {
        let path = file.to_str().expect("UTF-8");
        let text = std::fs::read_to_string(&file).expect("readable");
        for line in text.lines().filter_map(|line| line.strip_prefix("//! expect: ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (question, reductions, wanted): (&[&str], &[&str], _) = match words[..] {
                ["fails", ..] => (&[], &["transactions", "left-movers", "none"], "violation"),
                ["no", "failure"] => (&[], &["transactions", "left-movers", "none"], "safe"),
                ["stuck"] => (&["--deadlocks"], &["left-movers", "none"], "violation"),
                ["not", "stuck"] => (&["--deadlocks"], &["left-movers", "none"], "safe"),
                _ => continue,
            };
            // Where threads meet over channels no step commutes with another one.
            let reductions = if has_channels(&text) { &["none"] } else { reductions };
            for reduction in reductions {
                let arguments = [&["reach", path, "--reduction", reduction], question].concat();
                let (code, report) = json(&arguments, b"");
                let wanted_code = i32::from(wanted == "violation");
                assert_eq!(report["verdict"], wanted, "{path} {reduction}: {line}");
                assert_eq!(code, Some(wanted_code), "{path} {reduction}: {line}");
                if let ["fails", kind, place] = words[..] {
                    let failure = &report["failure"];
                    assert_eq!(failure["kind"], kind, "{path} {reduction}");
                    assert_eq!(failure["line"].as_u64(), place.parse().ok(), "{path} {reduction}");
                    kinds.insert(kind.to_owned());
                }
            }
        }
    }
    let all = ["annotation", "assertion", "division", "index", "monitor", "range", "release"];
    assert!(kinds.iter().eq(all), "{kinds:?}");
}

/// `//! expect: violated 12 T1 T2 count data` in a file, against the JSON of every engine.
#[test]
fn examples_have_their_verdicts() {
    for file in examples() {
        let path = file.to_str().expect("UTF-8");
        let text = std::fs::read_to_string(&file).expect("readable");
        let lines: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("//! expect: ")).collect();
        assert!(!lines.is_empty(), "{path} says what is expected");
        let about_units =
            |line: &&&str| ["violated", "safe", "all", "vaziri"].contains(&word(line));
        if !lines.iter().any(|line| about_units(&line)) {
            continue;
        }
        let engines: &[&str] = if has_channels(&text) {
            &["exhaustive"]
        } else {
            &["tupling", "tupling-bdd", "exhaustive"]
        };
        for &engine in engines {
            let (code, value) = json(&["atomicity", path, "--engine", engine], b"");
            let queries = value["queries"].as_array().expect("queries");
            let mut expected = 0;
            for line in lines.iter().filter(about_units) {
                let words: Vec<&str> = line.split_whitespace().collect();
                if let [which @ ("all" | "vaziri"), "safe"] = words[..] {
                    expected += 1;
                    let asked =
                        |query: &&Value| which == "all" || query["pattern"].as_u64() <= Some(14);
                    let violated = |query: &Value| query["verdict"] == "violation";
                    assert!(!queries.iter().filter(asked).any(violated), "{path} {engine}");
                    continue;
                }
                let [verdict, pattern, unit, other, ref locations @ ..] = words[..] else {
                    panic!("{path}: {line}")
                };
                expected += 1;
                let query = queries
                    .iter()
                    .find(|query| {
                        query["pattern"].as_u64() == pattern.parse().ok()
                            && query["unit_thread"] == unit
                            && query["other_thread"] == other
                            && query["locations"] == serde_json::json!(locations)
                    })
                    .unwrap_or_else(|| panic!("{path}: no query {line}"));
                let wanted = if verdict == "violated" { "violation" } else { verdict };
                let found = query["verdict"].as_str().expect("a word");
                // Exhaustive search may meet its depth limit, but never contradicts.
                let open = engine == "exhaustive" && found == "unknown";
                assert!(found == wanted || open, "{path} {engine}: {line}, found {found}");
            }
            assert!(expected > 0, "{path} says what is expected");
            let worst = |word: &str| queries.iter().any(|query| query["verdict"] == word);
            let (word, exit) = match (worst("violation"), worst("unknown")) {
                (true, _) => ("violation", 1),
                (false, true) => ("unknown", 3),
                (false, false) => ("safe", 0),
            };
            assert_eq!((value["verdict"].as_str(), code), (Some(word), Some(exit)), "{path}");
        }
    }
}

/// `//! expect: race A B x`, `no race A B x`, `deadlock A B`, `no deadlock`, `label l reached` and
/// `label l unreachable` in a file, against the JSON of every engine that takes the question.
#[test]
fn examples_have_their_races_deadlocks_and_labels() {
    let mut expected = std::collections::BTreeSet::new();
    for file in examples() {
        let path = file.to_str().expect("UTF-8");
        let text = std::fs::read_to_string(&file).expect("readable");
        for line in text.lines().filter_map(|line| line.strip_prefix("//! expect: ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let ask = |command: &str, engines: &[&str], holds: &dyn Fn(&Value) -> bool| {
                for engine in engines {
                    let (_, report) = json(&[command, path, "--engine", engine], b"");
                    assert!(holds(&report), "{path} {engine}: {line}: {report}");
                }
            };
            let all: &[&str] = if has_channels(&text) {
                &["exhaustive"]
            } else {
                &["tupling", "tupling-bdd", "exhaustive"]
            };
            match words[..] {
                ["race", a, b, x] | ["no", "race", a, b, x] => {
                    let channels = has_channels(&text);
                    let engines = if channels { &["exhaustive", "cpds"] } else { all };
                    ask("race", engines, &|report| {
                        let queries = report["queries"].as_array().expect("queries");
                        let mut names = [a, b];
                        names.sort_unstable();
                        let own = |query: &&Value| {
                            let threads = &query["threads"];
                            let mut found = [0, 1].map(|at| threads[at].as_str().expect("a name"));
                            found.sort_unstable();
                            query["location"] == x && found == names
                        };
                        let query = queries.iter().find(own).expect("the question is asked");
                        let wanted = if words[0] == "race" { "violation" } else { "safe" };
                        query["verdict"] == wanted
                    });
                }
                ["no", "deadlock"] => ask("deadlock", all, &|report| report["verdict"] == "safe"),
                ["deadlock", ..] => ask("deadlock", all, &|report| {
                    let cycles = report["cycles"].as_array().expect("cycles");
                    cycles.iter().any(|cycle| cycle["threads"] == serde_json::json!(words[1..]))
                }),
                ["label", name, verdict] => {
                    let wanted = if verdict == "reached" { "violation" } else { "safe" };
                    for engine in ["lazy", "explicit"] {
                        let arguments = ["reach", path, "--label", name, "--engine", engine];
                        let (_, report) = json(&arguments, b"");
                        assert_eq!(report["verdict"], wanted, "{path} {engine}: {line}");
                    }
                }
                _ => continue,
            }
            let kind = words.iter().take_while(|word| word.starts_with(char::is_lowercase));
            expected.insert(kind.take(2).copied().collect::<Vec<_>>().join(" "));
        }
    }
    assert!(expected.len() >= 5, "{expected:?}");
}

/// Every ordered pair of threads and of locations, safe ones too, and witnesses that show the
/// pattern.
#[test]
fn the_json_lists_every_query() {
    let (_, value) = json(&["atomicity", STACK], b"");
    let queries = value["queries"].as_array().expect("queries");
    // Two ordered pairs of threads; 5 patterns on one of two locations, 27 on ordered pairs of them.
    assert_eq!(queries.len(), 2 * (5 * 2 + 27 * 2));
    assert_eq!(value["tool"]["name"], "selvedge");
    assert_eq!(value["file"], STACK);
    assert_eq!(value["analysis"], "atomicity");
    let mut violations = 0;
    for query in queries {
        let witness = query.get("witness").and_then(Value::as_array);
        assert_eq!(witness.is_some(), query["verdict"] == "violation");
        let Some(witness) = witness else { continue };
        violations += 1;
        let matched: Vec<&Value> =
            witness.iter().filter(|step| step.get("matched").is_some()).collect();
        let numbers: Vec<u64> =
            matched.iter().map(|step| step["matched"].as_u64().expect("a number")).collect();
        let length = if query["pattern"].as_u64() <= Some(5) { 3 } else { 4 };
        assert_eq!(numbers, (1..=length).collect::<Vec<_>>());
        for step in &matched {
            assert!(step["action"] == "read" || step["action"] == "write");
            let locations = query["locations"].as_array().expect("names");
            assert!(locations.contains(&step["object"]));
            assert!(step["line"].is_u64() && step["column"].is_u64());
        }
        assert_eq!(matched[0]["thread"], query["unit_thread"]);
        mutual_exclusion(witness);
    }
    assert_eq!(violations, 10);
    let (_, short) = json(&["atomicity", STACK, "--no-witness"], b"");
    assert!(
        short["queries"]
            .as_array()
            .expect("queries")
            .iter()
            .all(|query| query.get("witness").is_none())
    );
}

/// No lock is acquired while somebody owns it, and only its owner releases it.
fn mutual_exclusion(witness: &[Value]) {
    let mut owners: Vec<(&Value, &Value)> = Vec::new();
    for step in witness {
        let own = (&step["object"], &step["thread"]);
        match step["action"].as_str() {
            Some("acquire") => {
                assert!(owners.iter().all(|(lock, _)| *lock != own.0), "{step}");
                owners.push(own);
            }
            Some("release") => {
                let before = owners.len();
                owners.retain(|other| *other != own);
                assert_eq!(owners.len() + 1, before, "{step}");
            }
            _ => {}
        }
    }
}

/// The same answers, byte for byte, except for times and memory.
#[test]
fn runs_are_deterministic() {
    let once = || {
        let (_, mut value) = json(&["atomicity", STACK], b"");
        value["stats"]["seconds"] = Value::Null;
        value["stats"]["peak_memory_bytes"] = Value::Null;
        value
    };
    assert_eq!(once(), once());
}

/// The model's text form is an input like any other, by its extension, its first word or as
/// standard input, and gives the same answers.
#[test]
fn the_text_form_is_an_input() {
    let model = run(&["show", STACK, "--format", "model"]).stdout;
    let file = scratch("text-form").join("stack.slv");
    std::fs::write(&file, &model).expect("written");
    let (_, direct) = json(&["atomicity", STACK], b"");
    let (_, from_file) = json(&["atomicity", file.to_str().expect("UTF-8")], b"");
    // With the mark that some editors put at the beginning of a file.
    let marked = format!("\u{feff}{model}");
    let (_, from_stdin) = json(&["atomicity", "-"], marked.as_bytes());
    assert_eq!(direct["queries"], from_file["queries"]);
    assert_eq!(direct["queries"], from_stdin["queries"]);
    assert_eq!(from_stdin["file"], "<stdin>");
    let again = run(&["show", file.to_str().expect("UTF-8"), "--format", "model"]).stdout;
    assert_eq!(model, again);
}

/// A program without a violation on which exhaustive search takes longer than anybody waits: two
/// threads wander about in a recursive procedure before they come to what they are asked for.
fn endless() -> String {
    let wander = "read z; ".repeat(60);
    let process = |name: &str| {
        format!(
            "process {name} {{
                f {{ {wander} if (*) f(); {wander} }}
                main {{ f(); synchronized(l) {{ unit {{ read x; write x; read y; write y; }} }} }}
            }}\n"
        )
    };
    format!("lock : l;\nvar : x, y, z;\n{}{}", process("A"), process("B"))
}

/// Runs exhaustive search on [`endless`] with these limits; gives the exit code and the reasons of
/// the open queries. Tests of one limit set the other as well, far away, so that a limit that does
/// not work costs a test and not the machine.
fn stopped(seconds: &str, mebibytes: &str) -> (Option<i32>, Vec<String>) {
    let engine = ["atomicity", "-", "--engine", "exhaustive", "--depth", "100"];
    let arguments = [&engine[..], &["--timeout", seconds, "--memory", mebibytes]].concat();
    let start = Instant::now();
    let (code, value) = json(&arguments, endless().as_bytes());
    assert!(start.elapsed() < Duration::from_mins(1), "the limit was ignored");
    let queries = value["queries"].as_array().expect("queries");
    assert_eq!(queries.len(), 2 * (5 * 3 + 27 * 6));
    let open = queries.iter().filter(|query| query["verdict"] == "unknown");
    (code, open.map(|query| query["reason"].as_str().expect("a reason").to_owned()).collect())
}

#[test]
fn the_time_limit_ends_a_run() {
    // Longer than a second, so that there would be a progress bar on a terminal.
    let (code, reasons) = stopped("1.3", "2000");
    assert_eq!(code, Some(3));
    assert!(!reasons.is_empty());
    assert!(reasons.iter().all(|reason| reason == "the time limit was reached"));
}

#[test]
fn the_memory_limit_ends_a_run() {
    let (code, reasons) = stopped("30", "40");
    assert_eq!(code, Some(3));
    assert!(!reasons.is_empty());
    assert!(reasons.iter().all(|reason| reason == "the memory limit was reached"));
}

/// A limit that is met at once still gives one answer per query.
#[test]
fn no_time_at_all() {
    let (code, reasons) = stopped("0", "2000");
    assert_eq!(code, Some(3));
    assert!(reasons.len() > 100);
}

/// Exhaustive search follows as many open calls as asked for, and says so.
#[test]
fn the_call_depth_is_an_option() {
    let process = |name: &str| {
        format!(
            "process {name} {{
                f {{ if (*) f(); }}
                main {{ f(); synchronized(l) {{ unit {{ read x; write x; }} }} }}
            }}\n"
        )
    };
    let text = format!("lock : l;\nvar : x;\n{}{}", process("A"), process("B"));
    for depth in ["2", "5"] {
        let arguments = ["atomicity", "-", "--engine", "exhaustive", "--depth", depth];
        let (code, value) = json(&arguments, text.as_bytes());
        assert_eq!(code, Some(3));
        let reason = format!("no violation with at most {depth} open calls per thread");
        assert_eq!(value["queries"][0]["reason"], reason);
    }
}

/// A reader that goes away early.
#[test]
fn closed_pipes_do_not_panic() {
    for arguments in [
        &["atomicity", STACK, "--verbose"][..],
        &["atomicity", STACK, "--format", "json"],
        &["show", STACK, "--dot"],
        &["patterns"],
        &["--help"],
        &["man"],
        &["completions", "zsh"],
    ] {
        let mut child = command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let mut complaints = String::new();
        let mut stderr = child.stderr.take().expect("a pipe");
        stderr.read_to_string(&mut complaints).expect("UTF-8");
        let code = child.wait().expect("the program ends").code();
        assert_eq!(complaints, "", "{arguments:?}");
        let expected = i32::from(arguments.contains(&"atomicity"));
        assert_eq!(code, Some(expected), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let output = command(&["patterns"]).stdout(full).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the output"));
}

#[test]
fn text_that_is_not_utf8() {
    let outcome = run_with_input(&["show", "-"], b"lock : l;\nvar : \xC3\xA9\xFFx;\n");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("--> <stdin>:2:8"), "{}", outcome.stderr);
}

#[test]
fn colours_only_when_wanted() {
    let always = run(&["atomicity", STACK, "--color", "always"]);
    assert!(always.stdout.contains("\u{1b}["));
    for arguments in [&["atomicity", STACK][..], &["atomicity", STACK, "--color", "never"]] {
        assert!(!run(arguments).stdout.contains('\u{1b}'));
    }
    let mistake = run_with_input(&["show", "-", "--color", "always"], b"lock");
    assert!(mistake.stderr.contains("\u{1b}["));
}

/// The demonstration always succeeds, and analyses the example that the repository has.
#[test]
fn the_demonstration() {
    let demo = run(&["demo", "--format", "json"]);
    assert_eq!(demo.code, Some(0));
    let value: Value = serde_json::from_str(&demo.stdout).expect("JSON");
    assert_eq!(value["file"], STACK);
    assert_eq!(value["verdict"], "violation");
    let source = std::fs::read_to_string(root().join(STACK)).expect("readable");
    assert_eq!(run(&["demo", "--source"]).stdout, source);
    // One finding with its reason and its fix, on one screen, and what to do next.
    let shown = run(&["demo", "--width", "80"]).stdout;
    assert!(shown.lines().count() <= 50, "{shown}");
    for part in ["atomicity violation", "so T1 can see two values", "Fix: Hold", "Next: "] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let too_wide = shown.lines().find(|line| line.chars().count() > 80 && !line.contains(" | "));
    assert_eq!(too_wide, None);
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let outcome = run(&["completions", shell]);
        assert_eq!(outcome.code, Some(0));
        assert!(outcome.stdout.contains("max-witnesses"), "{shell}");
    }
    assert!(run(&["man"]).stdout.contains(".TH selvedge"));
    let directory = scratch("man");
    let path = directory.to_str().expect("UTF-8");
    assert_eq!(run(&["man", "--out-dir", path]).code, Some(0));
    for page in ["selvedge.1", "selvedge-atomicity.1", "selvedge-show.1"] {
        let text = std::fs::read_to_string(directory.join(page)).expect(page);
        assert!(text.contains("Examples"), "{page}");
    }
    let file = directory.join("selvedge.1/pages");
    let inside_a_file = run(&["man", "--out-dir", file.to_str().expect("UTF-8")]);
    assert_eq!(inside_a_file.code, Some(2));
}

#[test]
fn wrong_properties() {
    for property in [STACK, "examples", "no-such-file.ipa"] {
        let outcome = run(&["atomicity", STACK, "--property", property]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{property}");
        assert!(outcome.stderr.contains(property));
    }
}

/// The automaton of paper 000 Fig. 2 on the paper's program: it is pattern 12 with `--units paper`.
#[test]
fn properties() {
    const FILE: &str = "examples/fig2.ipa";
    for (program, exit, verdict) in
        [(STACK, 1, "violation"), ("examples/stack-fixed.eml", 0, "safe")]
    {
        for engine in ["tupling", "tupling-bdd", "exhaustive"] {
            let arguments = ["atomicity", program, "--property", FILE, "--engine", engine];
            let (code, value) = json(&arguments, b"");
            assert_eq!(code, Some(exit), "{program} {engine}");
            let queries = value["queries"].as_array().expect("queries");
            // The property's two threads are variables.
            assert_eq!(queries.len(), 2);
            for query in queries {
                assert_eq!(query["pattern"], FILE);
                assert_eq!(query["verdict"], verdict);
                assert_eq!(query["phases"].as_array().map(Vec::len), Some(5));
                let Some(witness) = query.get("witness").and_then(Value::as_array) else {
                    continue;
                };
                let matched = witness.iter().filter_map(|step| step.get("matched")?.as_u64());
                assert_eq!(matched.collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
            }
        }
    }
}

/// Any bytes are answered with an exit code of the contract.
#[test]
fn hostile_bytes() {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let words: [&[u8]; 12] = [
        b"process ",
        b"{ ",
        b"} ",
        b"unit ",
        b"lock : ",
        b"a",
        b"; ",
        b"\xF0\x9F",
        b"program\n",
        b"\0",
        b"main ",
        b"\"",
    ];
    for _ in 0..40 {
        let mut input = Vec::new();
        for _ in 0..60 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            input.extend_from_slice(words[(state >> 33) as usize % words.len()]);
        }
        let outcome = run_with_input(&["atomicity", "-"], &input);
        assert!(matches!(outcome.code, Some(0..=3)), "{:?}: {}", outcome.code, outcome.stderr);
        assert!(outcome.stderr.chars().all(|c| c == '\n' || !c.is_control()));
    }
}

/// Whoever names a file in place of a command wants it to be checked.
#[test]
fn a_file_in_the_place_of_a_command_is_meant_to_be_checked() {
    let outcome = run(&["examples/stack.eml"]);
    assert_eq!(outcome.code, Some(2));
    let tip = "tip: write `selvedge check examples/stack.eml` to check a file or a folder";
    assert!(outcome.stderr.contains(tip), "{}", outcome.stderr);
    let outcome = run(&["examples/no-such-file.eml"]);
    assert_eq!(outcome.code, Some(2));
    assert!(!outcome.stderr.contains("tip:"), "{}", outcome.stderr);
}
