//! Limits on work: what `check` finds depends on the input alone, not on what else the machine does.

mod common;

use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};

const CAUSES: &str = "crates/front-java/tests/classes/causes.jar";
const PROGRAMS: &str = "crates/front-java/tests/classes/programs.jar";

/// What `check` says with these arguments, without what it costs.
fn checked(arguments: &[&str]) -> Value {
    let all = [&["check", "--no-cache", "--format", "json"][..], arguments].concat();
    let text = common::run(&all).stdout;
    let mut value: Value = serde_json::from_str(&text).expect("JSON");
    value["stats"]["seconds"] = Value::Null;
    value["stats"]["peak_memory_bytes"] = Value::Null;
    value
}

/// Does work while every core has more than enough to do beside it.
fn on_a_loaded_machine<T>(work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..2 * cores {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

/// Asserts that a limit on work is met, and that load and workers change nothing.
fn assert_reproducible(arguments: &[&str]) {
    let idle = checked(arguments);
    let files = idle["files"].as_array().expect("files");
    let open = files.iter().flat_map(|file| file["open"].as_array().expect("reasons"));
    let met = open.filter(|why| why.to_string().contains("the limit on work was reached")).count();
    assert!(met > 0, "{arguments:?} meet no limit: {idle}");
    assert!(files.iter().all(|file| file.get("not_reproducible").is_none()), "{idle}");
    let loaded = on_a_loaded_machine(|| checked(arguments));
    assert_eq!(idle, loaded, "{arguments:?}");
    let alone = checked(&[arguments, &["--jobs", "1"]].concat());
    assert_eq!(idle, alone, "{arguments:?}");
}

#[test]
fn java_findings_do_not_depend_on_load() {
    assert_reproducible(&[CAUSES, "--max-work", "30000"]);
    assert_reproducible(&[PROGRAMS, "--max-work", "300000"]);
}

#[test]
fn findings_about_data_do_not_depend_on_load() {
    assert_reproducible(&["examples", "corpus/bp", "--max-work", "20000"]);
}

/// A Java check leaves off at the same question whether answers come from a cache or not.
#[test]
fn cached_answers_count_as_work() {
    let cache = common::scratch("reproducible-cache");
    let cache = cache.to_str().expect("UTF-8");
    let arguments = ["check", CAUSES, "--max-work", "30000", "--format", "json"];
    let run = || {
        let text = common::run(&[&arguments[..], &["--cache-dir", cache]].concat()).stdout;
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        value["stats"]["seconds"] = Value::Null;
        value["stats"]["peak_memory_bytes"] = Value::Null;
        value
    };
    let first = run();
    assert!(std::fs::read_dir(cache).expect("a folder").count() > 0, "nothing was kept");
    assert_eq!(first, run());
}

#[test]
fn limits_of_the_machine_are_named_in_every_format() {
    let arguments = ["check", "examples/bank-transfer.eml", "--no-cache", "--timeout", "0"];
    for format in ["text", "sarif", "junit"] {
        let text = common::run(&[&arguments[..], &["--format", format]].concat()).stdout;
        assert!(text.contains("not reproducible"), "{format}: {text}");
    }
    let json = checked(&["examples/bank-transfer.eml", "--timeout", "0"]);
    assert_eq!(json["files"][0]["not_reproducible"], true);
    let folder = common::scratch("reproducible-page");
    let page = folder.join("page.html");
    let html = ["--html", page.to_str().expect("UTF-8")];
    common::run(&[&arguments[..], &html].concat());
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.to_lowercase().contains("not reproducible"), "the page does not say it");
    let limited = checked(&["examples/bank-transfer.eml", "--max-work", "1"]);
    assert!(limited["files"][0].get("not_reproducible").is_none());
}
