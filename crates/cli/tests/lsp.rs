//! `selvedge lsp` over its pipe, with recorded messages, damaged ones among them.
//!
//! A transcript in `tests/lsp` has `-->` before each message to the server, `==>` before raw bytes (as a
//! JSON string), `<--` before each message that has to come, in this order, and at last the exit code;
//! `end` closes the pipe. `SELVEDGE_BLESS=1` records again what comes.

use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// A message that has not come by then does not come.
const PATIENCE: Duration = Duration::from_mins(2);
/// Where messages are recorded, nothing more is expected after such a silence.
const SILENCE: Duration = Duration::from_millis(2500);

/// A server that runs.
struct Session {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
}

impl Session {
    fn new() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_selvedge"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, messages }
    }

    fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the pipe is open");
        // A server that has ended does not read.
        let _ = input.write_all(bytes).and_then(|()| input.flush());
    }

    fn send(&mut self, message: &str) {
        self.write(format!("Content-Length: {}\r\n\r\n{message}", message.len()).as_bytes());
    }

    fn next(&self, time: Duration) -> Result<Value, RecvTimeoutError> {
        self.messages.recv_timeout(time)
    }

    /// The exit code; the server must end by itself.
    fn exit(mut self) -> i32 {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                return status.code().expect("it was not killed");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        panic!("the server does not end");
    }
}

/// The next message; `None` where the pipe ends. Every byte is part of a message.
fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut header = String::new();
    if output.read_line(&mut header).ok()? == 0 {
        return None;
    }
    let length = header.trim().strip_prefix("Content-Length: ").expect("a header");
    let length: usize = length.parse().expect("a length");
    let mut blank = String::new();
    output.read_line(&mut blank).ok()?;
    assert_eq!(blank, "\r\n");
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("JSON"))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lsp")
}

/// Plays a transcript, and gives back what it would be if what has come were expected.
fn play(name: &str, text: &str, bless: bool) -> String {
    let mut session = Session::new();
    let mut shown = String::new();
    let lines: Vec<&str> = text.lines().collect();
    let mut exit = None;
    for (at, line) in lines.iter().enumerate() {
        if let Some(expected) = line.strip_prefix("<-- ") {
            if bless {
                continue;
            }
            let expected: Value = serde_json::from_str(expected).expect("JSON in a transcript");
            let came = session.next(PATIENCE);
            let came = came.unwrap_or_else(|_| panic!("{name}:{}: nothing comes", at + 1));
            assert_eq!(came, expected, "{name}:{}: {came}", at + 1);
            continue;
        }
        let _ = writeln!(shown, "{line}");
        if let Some(message) = line.strip_prefix("--> ") {
            session.send(message);
        } else if let Some(raw) = line.strip_prefix("==> ") {
            let raw: String = serde_json::from_str(raw).expect("a JSON string in a transcript");
            session.write(raw.as_bytes());
        } else if *line == "end" {
            session.input = None;
        } else if let Some(code) = line.strip_prefix("exit ") {
            exit = Some(code.parse::<i32>().expect("an exit code"));
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "{name}:{}: {line}", at + 1);
            continue;
        }
        let more = lines
            .get(at + 1)
            .is_some_and(|next| next.starts_with("--> ") || next.starts_with("==> "));
        if bless && !more {
            while let Ok(message) = session.next(SILENCE) {
                let _ = writeln!(shown, "<-- {message}");
            }
        }
    }
    if !bless {
        // Nothing comes that is not expected.
        if let Ok(message) = session.next(Duration::from_millis(100)) {
            panic!("{name}: not expected: {message}");
        }
    }
    let code = session.exit();
    assert_eq!(Some(code), exit, "{name}");
    shown
}

#[test]
fn recorded_messages() {
    let bless = std::env::var_os("SELVEDGE_BLESS").is_some();
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 5);
    for path in paths {
        let text = fs::read_to_string(&path).expect("a transcript");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let shown = play(&name, &text, bless);
        if bless {
            fs::write(&path, shown).expect("it can be written");
        }
    }
}

#[test]
fn a_check_that_is_out_of_date_is_stopped() {
    let mut session = Session::new();
    session.send(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"initializationOptions":{"pauseMilliseconds":0,"timeLimitSeconds":600}}}"#,
    );
    session.next(PATIENCE).expect("an answer");
    // Nobody decides this within seconds.
    let long = endless();
    let open = serde_json::json!({
        "jsonrpc": "2.0", "method": "textDocument/didOpen",
        "params": { "textDocument": { "uri": "file:///long.eml", "languageId": "eml", "version": 1, "text": long } },
    });
    session.send(&open.to_string());
    let said = session.next(PATIENCE).expect("mistakes");
    assert_eq!(said["params"]["version"], 1);
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    let short = "var : x;\nprocess P { main { write x; } }\nprocess Q { main { write x; } }\n";
    let change = serde_json::json!({
        "jsonrpc": "2.0", "method": "textDocument/didChange",
        "params": {
            "textDocument": { "uri": "file:///long.eml", "version": 2 },
            "contentChanges": [{ "text": short }],
        },
    });
    session.send(&change.to_string());
    let said = session.next(PATIENCE).expect("mistakes");
    assert_eq!(said["params"]["version"], 2);
    let found = session.next(PATIENCE).expect("findings");
    assert_eq!(found["params"]["version"], 2);
    assert_eq!(found["params"]["diagnostics"][1]["code"], "data-race");
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
    session.send(r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#);
    session.next(PATIENCE).expect("an answer");
    session.send(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    assert_eq!(session.exit(), 0);
}

#[test]
fn a_check_says_that_its_time_is_over() {
    let mut session = Session::new();
    session.send(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"initializationOptions":{"pauseMilliseconds":0,"timeLimitSeconds":0.3}}}"#,
    );
    session.next(PATIENCE).expect("an answer");
    let open = serde_json::json!({
        "jsonrpc": "2.0", "method": "textDocument/didOpen",
        "params": { "textDocument": { "uri": "file:///long.eml", "languageId": "eml", "version": 1, "text": endless() } },
    });
    session.send(&open.to_string());
    session.next(PATIENCE).expect("mistakes");
    let found = session.next(PATIENCE).expect("findings");
    let all = found["params"]["diagnostics"].as_array().expect("a list");
    let last = all.last().expect("something is said");
    assert_eq!((&last["code"], &last["severity"]), (&"unfinished-check".into(), &3.into()));
    let message = last["message"].as_str().expect("a text");
    assert!(message.starts_with("the check was stopped after 0.3 s; "), "{message}");
    drop(session.input.take());
    assert_eq!(session.exit(), 1);
}

/// The `selvedge.toml` above a text is read as `check` reads it, and again when the editor says that it changed.
#[test]
fn the_project_of_a_text() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lsp project#1");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("models")).expect("a folder");
    let config = folder.join("selvedge.toml");
    let quiet = "[[suppress]]\nrule = \"data-race\"\nfile = \"models/*\"\nreason = \"known\"\n";
    fs::write(&config, quiet).expect("written");
    let path = folder.to_str().expect("UTF-8").replace(' ', "%20").replace('#', "%23");
    let uri = format!("file://{path}/models/a.eml");
    let mut session = Session::new();
    session.send(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"initializationOptions":{"pauseMilliseconds":0}}}"#,
    );
    session.next(PATIENCE).expect("an answer");
    let text = "var : x;\nprocess P { main { write x; } }\nprocess Q { main { write x; } }\n";
    let document =
        serde_json::json!({ "uri": uri, "languageId": "eml", "version": 1, "text": text });
    let open = serde_json::json!({
        "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document },
    });
    session.send(&open.to_string());
    let codes = |session: &Session, of: &str| {
        let said = session.next(PATIENCE).expect("a message");
        assert_eq!(said["params"]["uri"], of, "{said}");
        let all = said["params"]["diagnostics"].as_array().expect("a list");
        all.iter().map(|one| one["code"].as_str().expect("a code").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(codes(&session, &uri), ["no-units"]);
    assert_eq!(codes(&session, &uri), ["no-units"], "the race does not count");
    let changed =
        r#"{"jsonrpc":"2.0","method":"workspace/didChangeWatchedFiles","params":{"changes":[]}}"#;
    // Every way in which it can be wrong is shown in it, and the text is checked with nothing left out.
    let project = format!("file://{path}/selvedge.toml");
    for (bytes, code) in [
        (&b"[[suppress]]\n"[..], "empty-suppression"),
        (b"reason = \"\xff\"\n", "bad-configuration"),
        (&vec![b'#'; 2 << 20], "bad-configuration"),
    ] {
        fs::write(&config, bytes).expect("written");
        session.send(changed);
        assert!(codes(&session, &project).contains(&code.to_owned()), "{code}");
        codes(&session, &uri);
        assert_eq!(codes(&session, &uri), ["no-units", "data-race"]);
    }
    fs::remove_file(&config).expect("removed");
    session.send(changed);
    assert_eq!(codes(&session, &project), [""; 0]);
    codes(&session, &uri);
    assert_eq!(codes(&session, &uri), ["no-units", "data-race"]);
    drop(session.input.take());
    assert_eq!(session.exit(), 1);
}

/// A program with more states than can be searched.
fn endless() -> String {
    let mut text = String::from("int 0..1000000 : x, y, z;\n");
    for process in ["P", "Q", "R"] {
        let _ = writeln!(
            text,
            "process {process} {{ main {{ while (*) {{ x = (x + y) % 1000; y = (y + z + 1) % 1000; z = (z * 7 + x) % 1000; assert(x < 1000); }} }} }}"
        );
    }
    text
}
