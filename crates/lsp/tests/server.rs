//! The server as a function of its messages: what is cancelled, what is out of date, and messages that
//! nobody would send.

use selvedge_base::Budget;
use selvedge_lsp::frame::Incoming;
use selvedge_lsp::{CheckJob, ProjectFile, Server, ServerEffect, TextUri, file_path};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn frames(messages: &[Value]) -> Vec<Incoming> {
    messages.iter().map(|message| Incoming::of_body(message.to_string().as_bytes())).collect()
}

fn sent(effects: &[ServerEffect]) -> Vec<&Value> {
    let sent = effects.iter().filter_map(|effect| match effect {
        ServerEffect::Send(message) => Some(message),
        _ => None,
    });
    sent.collect()
}

fn jobs(effects: Vec<ServerEffect>) -> Vec<CheckJob> {
    let jobs = effects.into_iter().filter_map(|effect| match effect {
        ServerEffect::Check(job) => Some(*job),
        _ => None,
    });
    jobs.collect()
}

fn started() -> Server {
    let mut server = Server::new();
    server.receive(frames(&[
        json!({ "id": 0, "method": "initialize", "params": { "capabilities": {} } }),
    ]));
    server
}

fn open(text: &str, version: i32) -> Value {
    let document =
        json!({ "uri": "file:///a.eml", "languageId": "eml", "version": version, "text": text });
    json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } })
}

fn change(text: &str, version: i32) -> Value {
    let document = json!({ "uri": "file:///a.eml", "version": version });
    let changes = json!([{ "text": text }]);
    json!({ "method": "textDocument/didChange", "params": { "textDocument": document, "contentChanges": changes } })
}

fn hover(id: i32, line: u32, character: u32) -> Value {
    let document = json!({ "uri": "file:///a.eml" });
    let position = json!({ "line": line, "character": character });
    json!({ "id": id, "method": "textDocument/hover", "params": { "textDocument": document, "position": position } })
}

const RACE: &str = "var : x;\nprocess P { main { write x; } }\nprocess Q { main { write x; } }\n";

#[test]
fn a_request_that_is_cancelled_already_is_not_answered() {
    let mut server = started();
    let cancel = json!({ "method": "$/cancelRequest", "params": { "id": 2 } });
    let effects = server.receive(frames(&[
        open(RACE, 1),
        hover(1, 0, 6),
        hover(2, 0, 6),
        cancel,
        hover(3, 0, 6),
    ]));
    let answers: Vec<(&Value, &Value)> = sent(&effects)
        .into_iter()
        .filter(|message| message.get("id").is_some())
        .map(|message| (&message["id"], &message["error"]["code"]))
        .collect();
    let (none, cancelled) = (Value::Null, Value::from(-32800));
    assert_eq!(answers, [(&1.into(), &none), (&2.into(), &cancelled), (&3.into(), &none)]);
}

#[test]
fn of_changes_that_come_together_the_last_is_shown_and_checked() {
    let mut server = started();
    let effects = server.receive(frames(&[
        open("lock", 1),
        change("lock :", 2),
        hover(1, 0, 0),
        change(RACE, 3),
    ]));
    let shown: Vec<&Value> = sent(&effects)
        .into_iter()
        .filter(|message| message["method"] == "textDocument/publishDiagnostics")
        .map(|message| &message["params"]["version"])
        .collect();
    assert_eq!(shown, [&Value::from(3)]);
    let jobs = jobs(effects);
    assert_eq!(jobs.iter().map(|job| job.version).collect::<Vec<_>>(), [3]);
}

#[test]
fn findings_of_an_old_version_are_dropped() {
    let mut server = started();
    let old = jobs(server.receive(frames(&[open(RACE, 1)]))).remove(0);
    let new = jobs(server.receive(frames(&[change(RACE, 2)]))).remove(0);
    assert!(server.finished(old.run(&Budget::new())).is_empty());
    let effects = server.finished(new.run(&Budget::new()));
    let found = &sent(&effects)[0]["params"]["diagnostics"];
    let races: Vec<&Value> =
        found.as_array().into_iter().flatten().filter(|one| one["code"] == "data-race").collect();
    assert_eq!(races.len(), 1);
    assert_eq!(races[0]["relatedInformation"].as_array().map(Vec::len), Some(2));
    // A budget that is raised says that somebody does not want to know.
    let budget = Budget::new();
    budget.raise(selvedge_base::StopReason::Cancelled);
    assert!(server.finished(new.run(&budget)).is_empty());
    let close = json!({ "method": "textDocument/didClose", "params": { "textDocument": { "uri": "file:///a.eml" } } });
    let effects = server.receive(frames(&[close]));
    assert!(effects.iter().any(|effect| matches!(effect, ServerEffect::Drop(_))));
    assert!(server.finished(new.run(&Budget::new())).is_empty());
}

#[test]
fn findings_can_be_left_out_and_asked_for_later() {
    let mut server = started();
    let settings = |on: bool| json!({ "method": "workspace/didChangeConfiguration", "params": { "settings": { "selvedge": { "findings": on } } } });
    assert_eq!(jobs(server.receive(frames(&[settings(false), open(RACE, 1)]))).len(), 0);
    assert_eq!(jobs(server.receive(frames(&[settings(true)]))).len(), 1);
}

/// A small random number generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).expect("it fits")
    }
}

#[test]
fn no_message_is_the_end_of_the_server() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/lsp");
    let mut recorded: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).expect("the transcripts are there") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("a transcript");
        let lines = text.lines().filter_map(|line| line.strip_prefix("--> "));
        recorded.extend(lines.map(str::to_owned));
    }
    recorded.sort();
    assert!(recorded.len() > 50);
    let mut answered = 0;
    for seed in 1..=150_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut server = started();
        for _ in 0..12 {
            let mut body = recorded[random.below(recorded.len())].clone().into_bytes();
            if body.windows(8).any(|part| part == b"shutdown") {
                continue;
            }
            for _ in 0..random.below(4) {
                let at = random.below(body.len());
                match random.below(4) {
                    0 => body[at] = b"0123456789{}[]\",:-eml\\\xF0"[random.below(23)],
                    1 => body.truncate(at.max(1)),
                    2 => body.insert(at, body[random.below(body.len())]),
                    _ => {
                        body.remove(at);
                        if body.is_empty() {
                            body.push(b' ');
                        }
                    }
                }
            }
            for effect in server.receive(vec![Incoming::of_body(&body)]) {
                match effect {
                    ServerEffect::Send(_) => answered += 1,
                    ServerEffect::Check(job) => {
                        let outcome = job.run(&Budget::with_steps(2000));
                        server.finished(outcome);
                    }
                    ServerEffect::Drop(_) | ServerEffect::Exit(_) => {}
                }
            }
        }
    }
    assert!(answered > 500, "{answered}");
}

/// What `selvedge.toml` says in these tests, by the folder of the text.
fn project(uri: &TextUri) -> Option<ProjectFile> {
    let (above, says) = match file_path(uri)?.as_str() {
        "/quiet/deep/a.eml" => {
            (1, "[[suppress]]\nrule = \"data-race\"\nfile = \"deep/*.eml\"\nreason = \"known\"\n")
        }
        "/other/a.eml" => {
            (0, "[[suppress]]\nrule = \"data-race\"\nfile = \"deep/*.eml\"\nreason = \"known\"\n")
        }
        "/only/a.eml" => (0, "only = [\"deadlock\"]\n"),
        "/units/a.eml" => (0, "add-units = \"functions\"\n"),
        "/formulas/a.eml" => (
            0,
            "[[temporal]]\nname = \"x\"\nformula = \"A G !next(P, write x)\"\nfile = \"a.eml\"\n",
        ),
        "/formulas/b.eml" => (0, "[[temporal]]\nname = \"x\"\nformula = \"A G C@l\"\n"),
        "/broken/a.eml" => (0, "only = [\"race\"]\nonyl = 1\n"),
        _ => return None,
    };
    ProjectFile::new(uri, above, Ok(says.to_owned()))
}

fn in_project() -> Server {
    let mut server = Server::with_projects(project);
    let hello = json!({ "id": 0, "method": "initialize", "params": { "capabilities": {} } });
    server.receive(frames(&[hello]));
    server
}

fn open_at(uri: &str, text: &str) -> Value {
    let document = json!({ "uri": uri, "languageId": "eml", "version": 1, "text": text });
    json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } })
}

/// The codes of what is said at last of a text in a server that knows projects.
fn codes(uri: &str, text: &str) -> Vec<String> {
    let mut server = in_project();
    let job = jobs(server.receive(frames(&[open_at(uri, text)]))).remove(0);
    let effects = server.finished(job.run(&Budget::new()));
    let all = sent(&effects)[0]["params"]["diagnostics"].as_array().expect("a list").clone();
    all.iter().map(|one| one["code"].as_str().expect("a code").to_owned()).collect()
}

#[test]
fn a_project_says_what_is_asked_and_what_does_not_count() {
    let race = ["no-units", "data-race"];
    assert_eq!(codes("file:///nowhere/a.eml", RACE), race);
    assert_eq!(codes("file:///quiet/deep/a.eml", RACE), ["no-units"]);
    // The pattern is about files below its own folder.
    assert_eq!(codes("file:///other/a.eml", RACE), race);
    // What is not asked needs no units.
    assert_eq!(codes("file:///only/a.eml", RACE), [""; 0]);
    let calls = RACE.replace("main { write x; }", "f() { read x; write x; } main { f(); }");
    assert!(!codes("file:///nowhere/a.eml", &calls).contains(&"atomicity-violation".to_owned()));
    assert!(codes("file:///units/a.eml", &calls).contains(&"atomicity-violation".to_owned()));
    // The formulas of a project are asked; what one of them speaks of may be missing here.
    let found = codes("file:///formulas/a.eml", RACE);
    assert!(found.contains(&"temporal-property".to_owned()), "{found:?}");
    let found = codes("file:///formulas/b.eml", RACE);
    assert!(found.contains(&"unknown-thread".to_owned()), "{found:?}");
    assert!(found.contains(&"data-race".to_owned()), "{found:?}");
    // A text that is no file belongs to no project.
    assert_eq!(codes("untitled:Untitled-1", RACE), race);
}

#[test]
fn mistakes_of_a_project_are_shown_in_it_and_go_with_the_last_text() {
    let mut server = in_project();
    let about = |effects: &[ServerEffect], uri: &str| -> Vec<Value> {
        let own = sent(effects).into_iter().filter(|one| one["params"]["uri"] == uri);
        own.map(|one| one["params"]["diagnostics"].clone()).collect()
    };
    let effects = server.receive(frames(&[open_at("file:///broken/a.eml", RACE)]));
    let said = about(&effects, "file:///broken/selvedge.toml");
    assert_eq!(said.len(), 1, "{effects:?}");
    assert_eq!(
        (&said[0][0]["code"], &said[0][0]["range"]["start"]["line"]),
        (&"unknown-key".into(), &1.into())
    );
    // It is said once, and the text is checked all the same, with everything asked.
    let changed =
        json!({ "method": "workspace/didChangeWatchedFiles", "params": { "changes": [] } });
    let effects = server.receive(frames(&[changed]));
    assert_eq!(about(&effects, "file:///broken/selvedge.toml"), [Value::Null; 0]);
    assert_eq!(jobs(effects).len(), 1);
    let document = json!({ "uri": "file:///broken/a.eml" });
    let close =
        json!({ "method": "textDocument/didClose", "params": { "textDocument": document } });
    let effects = server.receive(frames(&[close]));
    assert_eq!(about(&effects, "file:///broken/selvedge.toml"), [json!([])]);
}

#[test]
fn an_editor_that_can_watch_files_is_asked_to() {
    for can in [true, false] {
        let watched = json!({ "didChangeWatchedFiles": { "dynamicRegistration": can } });
        let capabilities = json!({ "workspace": watched });
        let mut server = Server::new();
        let hello =
            json!({ "id": 0, "method": "initialize", "params": { "capabilities": capabilities } });
        server.receive(frames(&[hello]));
        let effects = server.receive(frames(&[json!({ "method": "initialized", "params": {} })]));
        let asked = sent(&effects).iter().any(|one| one["method"] == "client/registerCapability");
        assert_eq!(asked, can);
        // The answer needs none.
        let answer = json!({ "id": "watch-projects", "result": null });
        assert!(server.receive(frames(&[answer])).is_empty());
    }
}

/// The wrong inputs of the corpus in the languages that editors are served, with the names of their files.
fn wrong_texts() -> Vec<(String, String)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut texts = Vec::new();
    for folder in ["bad", "bad-bp", "bad-model"] {
        for entry in fs::read_dir(corpus.join(folder)).expect("a folder of the corpus") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            // Some are no text at all.
            if let Ok(text) = fs::read_to_string(&path) {
                texts.push((name, text));
            }
        }
    }
    texts.sort();
    texts
}

/// The diagnostics of a text that is opened alone.
fn diagnostics_of(server: &mut Server, uri: &str, text: &str) -> Vec<Value> {
    let document = json!({ "uri": uri, "languageId": "", "version": 1, "text": text });
    let open = json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } });
    let effects = server.receive(frames(&[open]));
    let shown = sent(&effects)
        .into_iter()
        .find(|message| message["params"]["uri"] == uri)
        .expect("diagnostics of the text");
    shown["params"]["diagnostics"].as_array().expect("a list").clone()
}

/// The byte of a position in a text of ASCII.
fn byte_at(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().expect("a number") as usize;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    start + position["character"].as_u64().expect("a number") as usize
}

/// A word that is suggested in place of another one is a quick fix, and whoever takes it has one mistake
/// less.
#[test]
fn every_suggested_word_is_a_quick_fix_that_removes_its_mistake() {
    let mut server = started();
    let mut taken = 0;
    for (at, (name, text)) in wrong_texts().into_iter().enumerate() {
        let uri = format!("file:///{at}/{name}");
        let found = diagnostics_of(&mut server, &uri, &text);
        for diagnostic in &found {
            let message = diagnostic["message"].as_str().expect("a text");
            let params = json!({
                "textDocument": { "uri": uri },
                "range": diagnostic["range"],
                "context": { "diagnostics": [diagnostic] }
            });
            let request = json!({ "id": 9, "method": "textDocument/codeAction", "params": params });
            let effects = server.receive(frames(&[request]));
            let answer = sent(&effects)[0]["result"].clone();
            let actions = answer.as_array().expect("a list");
            let repair = actions.iter().find(|action| action["diagnostics"][0] == *diagnostic);
            let is_suggested =
                message.contains("did you mean `") || message.contains("did you mean \"");
            assert!(repair.is_some() || !is_suggested, "{name}: {message}");
            let Some(repair) = repair.filter(|_| text.is_ascii()) else { continue };
            let edit = &repair["edit"]["changes"][&uri][0];
            let (start, end) = (&edit["range"]["start"], &edit["range"]["end"]);
            let mut repaired = text.clone();
            let new = edit["newText"].as_str().expect("a text");
            repaired.replace_range(byte_at(&text, start)..byte_at(&text, end), new);
            let again = format!("file:///{at}/{taken}/{name}");
            let left = diagnostics_of(&mut server, &again, &repaired);
            let same =
                |one: &&Value| one["message"] == *message && one["range"] == diagnostic["range"];
            let before = found.iter().filter(same).count();
            let after = left.iter().filter(same).count();
            assert!(after < before, "{name}: {message}\n{}\n{repaired}", repair["title"]);
            taken += 1;
        }
    }
    assert!(taken > 50, "{taken}");
}

#[test]
fn the_title_of_a_quick_fix_says_what_it_changes() {
    let mut server = started();
    for (text, expected) in [
        (
            "lock : l; process P { main { synchronized(k) { skip; } } } lokc : k;",
            "Replace `lokc` with `lock`",
        ),
        ("int 0..7 x; process P { main { x = 1; } }", "Insert ` :`"),
        ("int 0..7 : x; process P { main { assume(x <> 1); } }", "Replace `<>` with `!=`"),
        ("int 3..0 : x; process P { main { x = 1; } }", "Replace `3..0` with `0..3`"),
    ] {
        let uri = format!("file:///{}.eml", expected.len());
        diagnostics_of(&mut server, &uri, text);
        let end = json!({ "line": 1, "character": 0 });
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": end });
        let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
        let request = json!({ "id": 9, "method": "textDocument/codeAction", "params": params });
        let effects = server.receive(frames(&[request]));
        let answer = sent(&effects)[0]["result"].clone();
        let titles: Vec<&str> = answer
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|action| action["title"].as_str())
            .collect();
        assert!(titles.contains(&expected), "{text}: {titles:?}");
    }
}
