//! What an answer is worth for which there was no question: in every form, of models and of programs in Java,
//! in one run, in parts and out of the cache.

mod common;

use common::{Outcome, command, root, run, scratch};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const VACUOUS: &str = "crates/front-java/tests/classes/vacuous.jar";
const NOTHING: &str = "nothing is shared between threads";
/// Two threads with a lock each.
const APART: &str = "\
lock : l, m;
process A { main { synchronized(l) { skip; } } }
process B { main { synchronized(m) { skip; } } }
";
/// Two threads with one lock.
const ONE_LOCK: &str = "\
lock : l;
process A { main { synchronized(l) { skip; } } }
process B { main { synchronized(l) { skip; } } }
";
const SINGLE: &str = "process A { main { skip; } }\n";
/// Two threads that take two locks in a cycle, one after the other.
const IN_TURN: &str = "\
lock : l, m;
process A waits { main { synchronized(l) { synchronized(m) { skip; } } } }
process B waits { main { synchronized(m) { synchronized(l) { skip; } } } }
process M { main { start A; join A; start B; } }
";
/// Two processes, of which one never runs.
const NEVER: &str = "process V waits { main { skip; } }\nprocess W { main { skip; } }\n";
/// Any number of threads, of which the model has some.
const STARTS: &str = "\
void main() begin while (*) do start_thread other(); od end
void other() begin skip; end
";

/// What a check says in all forms.
struct Told {
    code: Option<i32>,
    text: String,
    json: Value,
    sarif: Value,
    junit: String,
    html: String,
    stderr: String,
}

impl Told {
    /// Runs the same in each form.
    fn by(run: &dyn Fn(&[&str]) -> Outcome) -> Self {
        let test = std::thread::current();
        let test = test.name().expect("a test has a name");
        let page = scratch(&format!("vacuous-page-{test}")).join("page.html");
        let page = page.to_str().expect("UTF-8");
        let text = run(&["--html", page]);
        let form = |name: &str| {
            let outcome = run(&["--format", name]);
            assert_eq!(outcome.code, text.code, "{name}: {}", outcome.stderr);
            outcome.stdout
        };
        let json = |name: &str| serde_json::from_str(&form(name)).expect("JSON");
        Self {
            code: text.code,
            json: json("json"),
            sarif: json("sarif"),
            junit: form("junit"),
            html: fs::read_to_string(page).expect("a page"),
            text: text.stdout,
            stderr: text.stderr,
        }
    }

    fn check(arguments: &[&str]) -> Self {
        Self::by(&|form| run(&[&["check", "--no-cache"], arguments, form].concat()))
    }

    /// That no form says that something is not there.
    fn claims_nothing(&self, context: &str) {
        for (form, told) in [("text", &self.text), ("JUnit", &self.junit), ("HTML", &self.html)] {
            for kind in ["deadlock", "data race", "atomicity violation"] {
                let case = format!("<testcase name=\"no {kind}\"");
                let passes = told.lines().zip(told.lines().skip(1)).any(|(line, next)| {
                    line.contains(&case) && !next.contains("<error") && !next.contains("<skipped")
                });
                assert!(!passes, "{context}, {form}: {told}");
                let says = told.contains(&format!("No {kind}:"))
                    || told.contains(&format!("no {kind}s of up to"))
                    || told.contains(&format!("no {kind} on the"));
                assert!(!says, "{context}, {form}: {told}");
            }
            assert!(!told.contains("proved with 0 questions"), "{context}, {form}: {told}");
            assert!(!told.contains("A proof says"), "{context}, {form}: {told}");
        }
    }

    /// That it is safe because nothing is shared, in all forms.
    fn is_apart(&self, context: &str) {
        assert_eq!(self.code, Some(0), "{context}: {}", self.text);
        assert_eq!(self.text.lines().next(), Some(NOTHING), "{context}");
        assert_eq!(self.json["verdict"], "safe", "{context}");
        assert_eq!(self.json["nothing_shared"], true, "{context}");
        assert_eq!(self.json["files"][0]["nothing_shared"], true, "{context}");
        assert_eq!(self.json["stats"]["vacuous"], 0, "{context}");
        let case = format!("<testcase name=\"{NOTHING}\"");
        assert!(self.junit.contains(&case) && !self.junit.contains("<skipped"), "{}", self.junit);
        let notes = self.notes();
        let says =
            |note: &&(String, String)| note.0 == "nothing-shared" && note.1.contains(NOTHING);
        assert_eq!(notes.iter().filter(says).count(), 1, "{context}: {notes:?}");
        assert!(self.html.contains("Nothing is shared between threads"), "{context}");
        self.claims_nothing(context);
    }

    /// That it is open for this reason, in all forms.
    fn is_open(&self, why: &str) {
        assert_eq!(self.code, Some(3), "{why}: {}", self.text);
        let joined: Vec<&str> = self.text.split_whitespace().collect();
        assert!(joined.join(" ").contains(why), "{why}: {}", self.text);
        assert_eq!(self.json["verdict"], "unknown", "{why}");
        let open = self.json["files"][0]["open"].to_string();
        assert!(open.contains(why), "{why}: {open}");
        assert!(self.junit.contains("<error") && self.junit.contains(why), "{}", self.junit);
        let notes = self.notes();
        let says = |note: &(String, String)| note.0 == "unknown" && note.1.contains(why);
        assert!(notes.iter().any(says), "{why}: {notes:?}");
        assert!(self.html.contains("verdict open"), "{why}");
        self.is_not_apart(why);
        self.claims_nothing(why);
    }

    /// That no form says that nothing is shared.
    fn is_not_apart(&self, context: &str) {
        for told in [&self.text, &self.junit, &self.html] {
            assert!(!told.to_lowercase().contains(NOTHING), "{context}: {told}");
        }
        assert!(!self.json.to_string().contains("nothing_shared"), "{context}: {}", self.json);
        assert!(!self.sarif.to_string().contains("nothing-shared"), "{context}: {}", self.sarif);
    }

    /// What SARIF remarks, with the names.
    fn notes(&self) -> Vec<(String, String)> {
        let all = &self.sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let all = all.as_array().map_or(&[][..], Vec::as_slice);
        all.iter()
            .map(|one| (word(&one["descriptor"]["id"]), word(&one["message"]["text"])))
            .collect()
    }
}

fn ran(command: &mut Command) -> Outcome {
    let output = command.output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn java(main: &str) -> Told {
    Told::check(&[VACUOUS, "--main", main, "--no-witness"])
}

/// A file in a folder of its own.
fn file(name: &str, text: &str) -> (PathBuf, String) {
    let folder = scratch(&format!("vacuous-{}", name.replace('.', "-")));
    let path = folder.join(name);
    fs::write(&path, text).expect("written");
    let path = path.to_str().expect("UTF-8").to_owned();
    (folder, path)
}

#[test]
fn programs_in_java_that_share_nothing_are_safe() {
    java("Apart").is_apart("Apart");
    let only = Told::check(&[VACUOUS, "--main", "Apart", "--only", "race"]);
    only.is_apart("Apart, --only race");
}

#[test]
fn one_thread_in_java_is_unknown() {
    java("OneThread").is_open("one thread was found");
}

#[test]
fn what_is_left_out_of_a_program_in_java_is_unknown() {
    for (main, why) in [
        ("CallLeftOut", "the model leaves out 1 unknown call"),
        ("LockLeftOut", "the model leaves out 1 lock (`--list ignored-locks`: ReentrantLock@"),
        ("StartLeftOut", "no object is known for what StartLeftOut.main"),
        ("AccessLeftOut", "the model leaves out objects marked `@NotThreadSafe` (Tally)"),
        ("ThreeLocks", "the model leaves out cycles of more than 2 locks (`--deadlock-locks 3`)"),
        ("Permits", "the model leaves out deadlocks over what is no lock (Semaphore@"),
    ] {
        java(main).is_open(why);
    }
    // What the advice says finds it.
    let found =
        run(&["check", "--no-cache", VACUOUS, "--main", "ThreeLocks", "--deadlock-locks", "3"]);
    assert_eq!(found.code, Some(1), "{}", found.stdout);
}

/// What is shared and can never meet is safe, with no sentence about it.
#[test]
fn what_is_shared_without_a_question_is_no_claim() {
    for main in ["OneLock", "InOrder"] {
        let told = java(main);
        assert_eq!((told.code, &told.json["verdict"]), (Some(0), &"safe".into()), "{main}");
        told.is_not_apart(main);
        told.claims_nothing(main);
        assert!(told.junit.contains("<skipped message=\"no question arises\""), "{}", told.junit);
    }
}

/// A sentence is about a kind that was asked about: here there are questions about data, and none about locks.
#[test]
fn a_kind_without_a_question_has_no_sentence() {
    let told = java("ThreeLocksAndCounter");
    assert_eq!(told.code, Some(0), "{}", told.text);
    assert!(told.text.contains("  No data race: "), "{}", told.text);
    assert!(told.text.contains("no question arises about: deadlock"), "{}", told.text);
    let claim = told.json["files"][0]["claims"][0].to_string();
    assert!(claim.contains("no data race on the"), "{claim}");
    assert!(claim.contains("no question was asked about deadlocks of up to 2 locks"), "{claim}");
    for told in [&told.text, &told.junit, &told.html] {
        assert!(!told.to_lowercase().contains("no deadlock"), "{told}");
        assert!(!told.contains("each for a lock that the next one"), "{told}");
    }
    assert!(told.junit.contains("<testcase name=\"no data race\""), "{}", told.junit);
}

#[test]
fn models_that_share_nothing_are_safe() {
    let (_, apart) = file("apart.eml", APART);
    Told::check(&[&apart]).is_apart("EML");
    let model = run(&["show", &apart, "--format", "model"]).stdout;
    let (_, model) = file("apart.slv", &model);
    Told::check(&[&model]).is_apart("text form");
    for command in ["race", "deadlock", "atomicity"] {
        let told = run(&[command, &apart]);
        assert_eq!((told.code, told.stdout.lines().next()), (Some(0), Some(NOTHING)), "{command}");
        assert!(!told.stdout.contains("Covered: threads that wait"), "{command}: {}", told.stdout);
        let json = run(&[command, &apart, "--format", "json"]).stdout;
        let json: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(json["nothing_shared"], true, "{command}");
        let junit = run(&[command, &apart, "--format", "junit"]).stdout;
        assert!(junit.contains(&format!("<testcase name=\"{NOTHING}\"")), "{command}: {junit}");
        let sarif = run(&[command, &apart, "--format", "sarif"]).stdout;
        assert!(sarif.contains("nothing-shared"), "{command}: {sarif}");
    }
}

#[test]
fn one_process_is_safe_with_a_warning() {
    let (_, single) = file("single.eml", SINGLE);
    let told = Told::check(&[&single]);
    assert_eq!((told.code, &told.json["verdict"]), (Some(0), &"safe".into()));
    assert!(told.stderr.contains("warning[no-atomicity-question]"), "{}", told.stderr);
    assert_eq!(told.json["complaints"][0]["severity"], "warning");
    told.is_not_apart("one process");
    told.claims_nothing("one process");
}

/// What never runs shares nothing, and is no second thread.
#[test]
fn a_process_that_never_runs_is_none() {
    let (_, never) = file("never.eml", NEVER);
    let told = Told::check(&[&never, "--only", "race"]);
    assert_eq!(told.code, Some(0), "{}", told.text);
    told.is_not_apart("never started");
}

/// With a question there is a sentence.
#[test]
fn a_kind_with_a_question_has_its_sentence() {
    let (_, model) = file("in-turn.eml", IN_TURN);
    let told = Told::check(&[&model]);
    assert_eq!(told.code, Some(0), "{}", told.text);
    assert!(told.text.contains("  No deadlock: "), "{}", told.text);
    assert!(told.text.contains("no question arises about: atomicity violation, data race"));
    assert!(told.junit.contains("<testcase name=\"no deadlock\""), "{}", told.junit);
    assert!(!told.junit.contains("no data race"), "{}", told.junit);
    for (form, passed) in
        [("text", "Covered: threads that wait"), ("junit", "name=\"no deadlock\"")]
    {
        let told = run(&["deadlock", &model, "--format", form]);
        assert!(told.stdout.contains(passed), "{}", told.stdout);
    }
}

#[test]
fn models_that_share_a_lock_are_safe_without_a_sentence() {
    let (_, one_lock) = file("one-lock.eml", ONE_LOCK);
    let told = Told::check(&[&one_lock]);
    assert_eq!(told.code, Some(0), "{}", told.text);
    told.is_not_apart("one lock");
    told.claims_nothing("one lock");
    let told = run(&["deadlock", &one_lock]);
    assert_eq!(told.code, Some(0));
    assert!(told.stdout.contains("safe: there is no question to ask"), "{}", told.stdout);
    assert!(!told.stdout.contains("Covered: threads that wait"), "{}", told.stdout);
}

#[test]
fn starts_that_are_left_out_of_a_model_are_unknown() {
    let (_, starts) = file("starts.bp", STARTS);
    let told = Told::check(&[&starts]);
    told.is_open("no question arises with at most 3 starts per site");
}

/// What some files share is said of them alone.
#[test]
fn files_are_told_apart() {
    let (folder, _) = file("apart.eml", APART);
    fs::write(folder.join("lock.eml"), ONE_LOCK).expect("written");
    // The width of the text must not depend on the name of the folder.
    let told = Told::by(&|form| {
        let mut command = command(&[&["check", "--no-cache", "."], form].concat());
        ran(command.current_dir(&folder))
    });
    assert_eq!(told.code, Some(0));
    assert!(told.json.get("nothing_shared").is_none(), "{}", told.json);
    assert_eq!(told.json["files"][0]["nothing_shared"], true);
    assert!(told.json["files"][1].get("nothing_shared").is_none(), "{}", told.json);
    assert!(told.text.contains(&format!("apart.eml: no finding; {NOTHING}\n")), "{}", told.text);
    assert!(told.text.contains("lock.eml: no finding\n"), "{}", told.text);
}

#[test]
fn parts_together_say_the_same() {
    let (folder, apart) = file("parts.eml", APART);
    let jar = root().join(VACUOUS).display().to_string();
    let programs = ["Apart", "OneThread", "CallLeftOut", "LockLeftOut", "ThreeLocks", "Permits"];
    let mut all: Vec<Vec<&str>> = programs.map(|main| vec![jar.as_str(), "--main", main]).to_vec();
    all.push(vec![&apart]);
    for arguments in all {
        let whole = Told::check(&arguments);
        let names = ["1/3", "2/3", "3/3"].map(|shard| {
            let name = folder.join(format!("part-{}.json", &shard[..1])).display().to_string();
            let _ = fs::remove_file(&name);
            let part = ["check", "--no-cache", "--shard", shard, "--output", &name];
            run(&[&part[..], &arguments].concat());
            name
        });
        let merged = Told::by(&|form| {
            run(&[&["merge"], form, &names.each_ref().map(String::as_str)].concat())
        });
        let context = format!("{arguments:?}");
        assert_eq!(merged.code, whole.code, "{context}: {}", merged.stderr);
        assert_eq!(merged.json["files"], whole.json["files"], "{context}");
        assert_eq!(
            merged.json.get("nothing_shared"),
            whole.json.get("nothing_shared"),
            "{context}"
        );
        assert_eq!(merged.text.lines().next(), whole.text.lines().next(), "{context}");
        assert_eq!(merged.notes(), whole.notes(), "{context}");
    }
}

#[test]
fn known_answers_say_the_same() {
    let (folder, apart) = file("cached.eml", APART);
    let cache = folder.join("cache").display().to_string();
    for arguments in [vec![apart.as_str()], vec![VACUOUS, "--main", "Apart"]] {
        for again in [false, true] {
            let told = Told::by(&|form| {
                let cached = ["check", "--cache-dir", &cache];
                ran(&mut command(&[&cached[..], &arguments, form].concat()))
            });
            told.is_apart(&format!("{arguments:?}, again: {again}"));
        }
    }
    assert!(fs::read_dir(&cache).expect("a cache").count() > 0);
}
