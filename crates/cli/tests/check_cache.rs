//! The cache of `selvedge check`, and `--watch`.

mod common;

use common::{command, root, scratch};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const RACY: &str = "\
var : x;
process A { main { unit { read x; write x; } } }
process B { main { unit { read x; write x; } } }
";
const SAFE: &str = "\
lock : l;
var : x;
process A { main { synchronized(l) { unit { read x; write x; } } } }
process B { main { synchronized(l) { unit { read x; write x; } } } }
";

/// A folder with files and a cache in it.
struct Project(PathBuf);

impl Project {
    fn new(name: &str) -> Self {
        let project = Self(scratch(&format!("cache-{name}")));
        project.write("m/a.eml", RACY);
        project.write("m/b.eml", SAFE);
        project
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&["check", "m", "--cache-dir", "cache", "--stats"]);
        command.args(arguments).current_dir(&self.0);
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::new(&self.command(arguments).output().expect("the program runs"))
    }

    fn entries(&self) -> Vec<PathBuf> {
        let folder = std::fs::read_dir(self.0.join("cache")).expect("a cache");
        let mut entries: Vec<PathBuf> = folder.map(|entry| entry.expect("one").path()).collect();
        entries.sort();
        entries
    }
}

struct Ran {
    code: Option<i32>,
    /// Without the line with the time.
    stdout: String,
    from_cache: usize,
}

impl Ran {
    fn new(output: &Output) -> Self {
        let stdout = String::from_utf8(output.stdout.clone()).expect("UTF-8");
        let stderr = String::from_utf8(output.stderr.clone()).expect("UTF-8");
        let line = stderr.lines().find(|line| line.trim_start().starts_with("from-cache"));
        let number = line.and_then(|line| line.split_whitespace().last()?.parse().ok());
        Self {
            code: output.status.code(),
            stdout: without_time(&stdout),
            from_cache: number.unwrap_or_else(|| panic!("no statistics: {stderr}")),
        }
    }
}

/// The output without the time that a run took, in whatever form.
fn without_time(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let seconds =
            ["\"seconds\":", " in ", "time=\""].iter().filter_map(|mark| line.find(mark)).min();
        out.push_str(&line[..seconds.unwrap_or(line.len())]);
        out.push('\n');
    }
    out
}

/// A run of transactions is shown as such, whether it is found or remembered.
#[test]
fn transactions_are_remembered() {
    let project = Project::new("transactions");
    project.write(
        "m/a.eml",
        "int 0..3 : x;
        process A { main { x = 1; assert(x == 1); } }
        process B { main { x = 2; } }",
    );
    let first = project.run(&[]);
    let second = project.run(&[]);
    assert_eq!((first.code, second.from_cache), (Some(1), 2));
    assert!(first.stdout.contains("transaction 1"), "{}", first.stdout);
    assert_eq!(first.stdout, second.stdout);
}

#[test]
fn a_hit_gives_the_same_bytes() {
    for format in ["text", "json", "sarif", "junit", "dot"] {
        let project = Project::new(&format!("hit-{format}"));
        let options = ["--format", format, "--html", "r.html"];
        let page = || std::fs::read_to_string(project.0.join("r.html")).expect("a page");
        let first = project.run(&options);
        assert_eq!((first.code, first.from_cache), (Some(1), 0));
        let first_page = page();
        let second = project.run(&options);
        assert_eq!((second.code, second.from_cache), (Some(1), 2));
        assert_eq!(first.stdout, second.stdout, "{format}");
        assert_eq!(first_page, page());
        let without = command(&["check", "m", "--no-cache", "--stats", "--format", format])
            .current_dir(&project.0)
            .output()
            .expect("the program runs");
        assert_eq!(Ran::new(&without).stdout, first.stdout);
    }
    // All examples, which have findings of every kind, with calls, recursion and fixes.
    let project = Project::new("hit-examples");
    for entry in std::fs::read_dir(root().join("examples")).expect("examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "eml") {
            std::fs::copy(&path, project.0.join("m").join(path.file_name().expect("a name")))
                .expect("copied");
        }
    }
    // How far a search comes is the same each time if work is counted and not seconds.
    let options = ["--format", "json", "--max-work", "100000"];
    let first = project.run(&options);
    let second = project.run(&options);
    assert_eq!(first.stdout, second.stdout);
    let value: Value =
        serde_json::from_slice(&project.command(&options).output().expect("it runs").stdout)
            .expect("JSON");
    // What a limit or an engine has left open is asked again.
    let is_decided = |file: &&Value| file["open"].as_array().is_some_and(Vec::is_empty);
    let decided = value["files"].as_array().expect("files").iter().filter(is_decided).count();
    assert!(decided > 25, "{decided}");
    assert_eq!(second.from_cache, decided);
}

#[test]
fn what_matters_makes_a_miss() {
    let project = Project::new("miss");
    let cached = |arguments: &[&str]| project.run(arguments).from_cache;
    assert_eq!(cached(&[]), 0);
    assert_eq!(cached(&[]), 2);
    for options in [
        &["--only", "race"][..],
        &["--patterns", "1-4"],
        &["--patterns", "1-3"],
        &["--units", "paper"],
        &["--no-fixes"],
    ] {
        assert_eq!(cached(options), 0, "{options:?}");
        assert_eq!(cached(options), 2, "{options:?}");
    }
    // The form of the output, the limits and what does not count do not matter.
    for options in [
        &["--format", "json"][..],
        &["--max-findings", "1"],
        &["--timeout", "0"],
        &["--jobs", "1"],
        &["--verbose"],
    ] {
        assert_eq!(cached(options), 2, "{options:?}");
    }
    // One file is changed, and then it is as before.
    project.write("m/a.eml", &format!("{RACY} "));
    assert_eq!(cached(&[]), 1);
    project.write("m/a.eml", RACY);
    assert_eq!(cached(&[]), 2);
    // The text decides, not the name.
    project.write("m/c.eml", SAFE);
    assert_eq!(cached(&[]), 3);
    std::fs::remove_file(project.0.join("m/c.eml")).expect("removed");
    // Another executable does not believe it.
    let copy = project.0.join("selvedge-copy");
    std::fs::copy(env!("CARGO_BIN_EXE_selvedge"), &copy).expect("copied");
    let old = std::time::SystemTime::now() - Duration::from_secs(1000);
    std::fs::File::options()
        .append(true)
        .open(&copy)
        .and_then(|file| file.set_modified(old))
        .expect("another time");
    let output = Command::new(&copy)
        .args(["check", "m", "--cache-dir", "cache", "--stats"])
        .current_dir(&project.0)
        .output()
        .expect("the copy runs");
    assert_eq!(Ran::new(&output).from_cache, 0);
}

#[test]
fn open_answers_are_not_kept() {
    let project = Project::new("open");
    let stopped = project.run(&["--timeout", "0"]);
    assert_eq!((stopped.code, stopped.from_cache), (Some(3), 0));
    assert_eq!(project.entries(), Vec::<PathBuf>::new());
    assert_eq!(project.run(&[]).code, Some(1));
    assert_eq!(project.entries().len(), 2);
}

/// From the bytes of an entry and of another one to what stands in its place.
type Damage = fn(&[u8], &[u8]) -> Vec<u8>;

#[test]
fn damaged_entries_are_computed_again() {
    let project = Project::new("damaged");
    let good = project.run(&[]);
    let entries = project.entries();
    assert_eq!(entries.len(), 2);
    let bytes: Vec<Vec<u8>> =
        entries.iter().map(|entry| std::fs::read(entry).expect("readable")).collect();
    let damages: [Damage; 6] = [
        |_, _| Vec::new(),
        |own, _| own[..own.len() / 2].to_vec(),
        |own, _| [&own[..own.len() - 1], b"x"].concat(),
        |_, other| other.to_vec(),
        |_, _| b"something else".to_vec(),
        |own, _| String::from_utf8_lossy(own).replace("data-race", "deadlocks").into_bytes(),
    ];
    for (at, damage) in damages.into_iter().enumerate() {
        std::fs::write(&entries[0], damage(&bytes[0], &bytes[1])).expect("written");
        std::fs::write(&entries[1], damage(&bytes[1], &bytes[0])).expect("written");
        let again = project.run(&[]);
        // The last damage does not touch the entry of a file without findings.
        let untouched =
            entries.iter().zip(&bytes).filter(|(_, bytes)| damage(bytes, b"") == **bytes);
        assert_eq!(again.from_cache, untouched.count(), "damage {at}");
        assert_eq!((again.code, &again.stdout), (good.code, &good.stdout), "damage {at}");
        let mended: Vec<Vec<u8>> =
            entries.iter().map(|entry| std::fs::read(entry).expect("readable")).collect();
        assert_eq!(mended, bytes, "damage {at}");
    }
    // A folder in the place of an entry, and a file in the place of the cache.
    std::fs::remove_file(&entries[0]).expect("removed");
    std::fs::create_dir(&entries[0]).expect("a folder");
    assert_eq!(project.run(&[]).stdout, good.stdout);
    project.write("blocked", "");
    let output = command(&["check", "m", "--cache-dir", "blocked"])
        .current_dir(&project.0)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("warning: no cache in blocked"), "{said}");
}

#[test]
fn no_cache_leaves_nothing() {
    let project = Project::new("none");
    let output = command(&["check", "m", "--no-cache"])
        .current_dir(&project.0)
        .env("XDG_CACHE_HOME", project.0.join("xdg"))
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(!project.0.join("xdg").exists());
    // Without the option the answers are in the folder of the user.
    let output = command(&["check", "m"])
        .current_dir(&project.0)
        .env("XDG_CACHE_HOME", project.0.join("xdg"))
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let entries = std::fs::read_dir(project.0.join("xdg/selvedge")).expect("a cache");
    assert_eq!(entries.count(), 2);
    // No place for a cache is no reason to fail.
    let output = command(&["check", "m"])
        .current_dir(&project.0)
        .env_remove("XDG_CACHE_HOME")
        .env_remove("HOME")
        .output()
        .expect("it runs");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(1), 0));
}

#[test]
fn concurrent_runs() {
    let project = Project::new("concurrent");
    let expected = project.run(&[]).stdout;
    for round in 0..3 {
        // The cache is emptied while eight runs use it.
        let mut children: Vec<Child> = (0..8)
            .map(|_| {
                project
                    .command(&[])
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .expect("the program starts")
            })
            .collect();
        if round > 0 {
            for entry in project.entries() {
                let _ = std::fs::remove_file(entry);
            }
        }
        for child in children.drain(..) {
            let ran = Ran::new(&child.wait_with_output().expect("it ends"));
            assert_eq!((ran.code, ran.stdout), (Some(1), expected.clone()));
        }
        let left = project.entries();
        assert!(left.iter().all(|entry| entry.extension().is_some_and(|name| name == "answer")));
    }
    assert_eq!(project.run(&[]).stdout, expected);
}

/// Reads the output of a run that goes on.
struct Watched {
    child: Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Watched {
    fn new(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    /// Waits for a line with this text.
    fn wait_for(&self, text: &str) {
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            if line.unwrap_or_else(|_| panic!("no line with `{text}`")).contains(text) {
                return;
            }
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn watching() {
    let project = Project::new("watch");
    let mut watched = Watched::new(project.command(&["--watch", "--watch-iterations", "7"]));
    watched.wait_for("2 findings");
    watched.wait_for(" in ");
    project.write("m/a.eml", SAFE);
    watched.wait_for("=== check 2 ===");
    watched.wait_for("2 files");
    // The same size, another text.
    project.write("m/a.eml", &SAFE.replace("write x", "write y"));
    watched.wait_for("=== check 3 ===");
    // A new file, a folder, one that goes, and the configuration.
    project.write("m/new/c.eml", SAFE);
    watched.wait_for("=== check 4 ===");
    std::fs::remove_file(project.0.join("m/a.eml")).expect("removed");
    watched.wait_for("=== check 5 ===");
    watched.wait_for("2 files");
    project.write("selvedge.toml", "mistake");
    watched.wait_for("=== check 6 ===");
    project.write("selvedge.toml", "only = ['race']");
    watched.wait_for("=== check 7 ===");
    let status = watched.child.wait().expect("it ends");
    assert_eq!(status.code(), Some(0), "the exit code is that of the last round");
}

/// Far more states than can be visited while the test runs.
const SLOW: &str = "int 0..99999 : a, b, c;
process T1 { main { while (true) { a = (a + 7) % 99991; } } }
process T2 { main { while (true) { b = (b + 5) % 99989; } } }
process T3 { main { while (true) { c = (c + 3) % 99971; } } }
process T4 { main { assert(a + b + c < 299900); } }
";

/// A run whose files change while it works is stopped, and nothing of it is shown.
#[test]
fn watching_drops_what_is_out_of_date() {
    let project = Project::new("watch-outdated");
    project.write("m/a.eml", SLOW);
    // Without the change this run would go on until its limit, far behind that of the test.
    let mut watched =
        Watched::new(project.command(&["--watch", "--watch-iterations", "1", "--timeout", "600"]));
    std::thread::sleep(Duration::from_secs(1));
    assert!(watched.child.try_wait().expect("it can be asked").is_none(), "it still works");
    let changed = Instant::now();
    project.write("m/a.eml", SAFE);
    let mut shown = Vec::new();
    loop {
        let line = watched.lines.recv_timeout(Duration::from_mins(1)).expect("a line");
        if line.contains("=== check 2 ===") {
            break;
        }
        shown.push(line);
    }
    assert!(shown.iter().all(String::is_empty), "{shown:?}");
    assert!(changed.elapsed() < Duration::from_secs(20), "{:?}", changed.elapsed());
    watched.wait_for("2 files");
    // A run that was dropped is not the last one.
    assert_eq!(watched.child.wait().expect("it ends").code(), Some(0));
}

/// Files that did not change are answered from the cache, and the page is written again.
#[test]
fn watching_uses_the_cache() {
    let project = Project::new("watch-cache");
    let page = project.0.join("r.html");
    let mut child = project
        .command(&["--watch", "--watch-iterations", "2", "--html", "r.html"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut numbers = Vec::new();
    for line in stderr.lines().map_while(Result::ok) {
        if let Some(number) = line.trim().strip_prefix("from-cache") {
            numbers.push(number.trim().to_owned());
            assert!(Path::new(&page).exists());
            if numbers.len() == 1 {
                let _ = std::fs::remove_file(&page);
                project.write("m/a.eml", SAFE);
            }
        }
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    // The changed file has the text of the other one, which is known.
    assert_eq!(numbers, ["0", "2"]);
    assert!(page.exists());
}
