//! `--checkpoint` and `--resume` as a contract: a run that is stopped goes on and answers as if it had not
//! been; what is of another run is refused with the difference; what is damaged is done again.

mod common;

use common::{command, root, scratch};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Exit code, standard output and standard error of a run.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = command(arguments).current_dir(root()).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

const PETERSON: &str = "bench/models/peterson-4.eml";

/// Peterson's algorithm for three processes: 12,498 states.
fn peterson(folder: &Path) -> String {
    let text = fs::read_to_string(root().join(PETERSON)).expect("it is there");
    let file = folder.join("peterson-3.eml");
    fs::write(&file, text.replace("const N = 4;", "const N = 3;")).expect("it can be written");
    file.to_str().expect("a path").to_owned()
}

fn json(arguments: &[&str]) -> (i32, Value) {
    let common = ["reach", "--format", "json", "--reduction", "none"];
    let (code, out, err) = run(&[&common, arguments].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}")))
}

/// The logs in a folder.
fn logs(folder: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("it is there");
        entries.map(|entry| entry.expect("it is there").path()).collect::<Vec<_>>()
    };
    let searches = entries(folder).into_iter().filter(|path| path.is_dir());
    searches.flat_map(|search| entries(&search)).collect()
}

#[test]
fn a_run_that_is_stopped_goes_on() {
    let folder = scratch("checkpoint-stopped");
    let (file, kept) = (peterson(&folder), folder.join("kept"));
    let kept = kept.to_str().expect("a path");
    let limited = ["--state-limit", "5000", "--workers", "2", "--checkpoint", kept];
    let (code, report) = json(&[&[&file[..]], &limited[..]].concat());
    assert_eq!((code, &report["verdict"]), (3, &"unknown".into()));
    assert_eq!(report["stats"]["resumed_from_level"], Value::Null);
    assert_eq!(logs(Path::new(kept)).len(), 2);
    // With another number of workers, and once more when there is nothing left to do.
    let mut before = 0;
    for workers in ["3", "1"] {
        let (code, report) = json(&[&file, "--resume", kept, "--workers", workers]);
        assert_eq!((code, &report["verdict"]), (0, &"safe".into()));
        let stats = &report["stats"];
        assert_eq!(stats["counts"]["states"], 12_498);
        assert_eq!(stats["counts"]["transitions"], 33_369);
        let level = stats["resumed_from_level"].as_u64().expect("a number");
        assert!(level > before, "{level}");
        before = level;
    }
    let whole = json(&[&file]).1;
    assert_eq!(whole["stats"]["levels"], before);
}

#[test]
fn a_limit_on_time_leaves_a_checkpoint() {
    let folder = scratch("checkpoint-time");
    let kept = folder.join("kept");
    let kept = kept.to_str().expect("a path");
    let search = ["reach", PETERSON, "--reduction", "none", "--no-symmetry", "--workers", "1"];
    let (code, _, err) = run(&[&search[..], &["--timeout", "0.3", "--checkpoint", kept]].concat());
    assert_eq!(code, 3, "{err}");
    assert!(err.contains(&format!("go on with --resume {kept}")), "{err}");
    assert_eq!(logs(Path::new(kept)).len(), 1);
}

#[test]
fn what_is_of_another_run_is_refused() {
    let folder = scratch("checkpoint-other");
    let (file, kept) = (peterson(&folder), folder.join("kept"));
    let kept = kept.to_str().expect("a path");
    let first = ["reach", &file, "--state-limit", "100", "--checkpoint", kept];
    assert_eq!(run(&first).0, 3);
    let refused = |arguments: &[&str], why: &str| {
        let (code, out, err) = run(arguments);
        assert_eq!((code, &out[..]), (2, ""), "{err}");
        assert!(err.contains(why), "{err}");
    };
    refused(&first, "is not empty; go on from a checkpoint with --resume");
    let other = ["reach", "examples/counter.eml", "--resume", kept];
    refused(&other, "is of another run: program was ");
    let deeper = ["reach", &file, "--resume", kept, "--depth", "9", "--no-symmetry"];
    refused(&deeper, "is of another run: depth was 64 and is 9; symmetry was yes and is no");
    let unreduced = ["reach", &file, "--resume", kept, "--reduction", "none"];
    refused(&unreduced, "is of another run: reduction was default and is none");
    let nothing = folder.join("nothing");
    let nothing = ["reach", &file, "--resume", nothing.to_str().expect("a path")];
    refused(&nothing, "there is no checkpoint in ");
    let both = ["reach", &file, "--resume", kept, "--checkpoint", kept];
    assert_eq!(run(&both).0, 2);
    for other in [["--search", "dfs"], ["--store", "compact"], ["--why", "x"]] {
        refused(&[&["reach", &file, "--resume", kept], &other[..]].concat(), "do not go with");
    }
    refused(&["reach", &file, "--resume", kept, "--engine", "lazy"], "for engine transactions");
    let text = fs::read_to_string(Path::new(kept).join("run.txt")).expect("it is there");
    let old = text.replace("version = ", "version = 0.0.");
    fs::write(Path::new(kept).join("run.txt"), old).expect("it can be written");
    refused(&["reach", &file, "--resume", kept], "is of another run: version was 0.0.");
}

#[test]
fn what_is_damaged_is_done_again() {
    let folder = scratch("checkpoint-damaged");
    let (file, kept) = (peterson(&folder), folder.join("kept"));
    let kept = kept.to_str().expect("a path");
    let limited = ["--state-limit", "5000", "--workers", "2", "--checkpoint", kept];
    assert_eq!(json(&[&[&file[..]], &limited[..]].concat()).0, 3);
    let log = &logs(Path::new(kept))[0];
    let mut bytes = fs::read(log).expect("it is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(log, bytes).expect("it can be written");
    let common = ["reach", "--format", "json", "--reduction", "none"];
    let (code, out, err) = run(&[&common[..], &[&file, "--resume", kept]].concat());
    assert_eq!(code, 0);
    assert!(err.contains("of the checkpoint is damaged; the search goes on behind level"), "{err}");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["stats"]["counts"]["states"], 12_498);
    assert!(report["stats"]["resumed_from_level"].as_u64() > Some(0));
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let folder = scratch("checkpoint-file");
    let (file, kept) = (peterson(&folder), folder.join("file"));
    fs::write(&kept, "a file").expect("it can be written");
    let (code, _, err) = run(&["reach", &file, "--checkpoint", kept.to_str().expect("a path")]);
    assert_eq!(code, 2);
    assert!(err.contains("cannot write"), "{err}");
}

#[test]
fn a_violation_is_found_again_with_the_same_run() {
    let folder = scratch("checkpoint-violation");
    let kept = folder.join("kept");
    let kept = kept.to_str().expect("a path");
    let search = ["reach", "examples/index-out-of-bounds.eml", "--workers", "2"];
    let plain = run(&search);
    let first = run(&[&search[..], &["--checkpoint", kept]].concat());
    let again = run(&[&search[..], &["--resume", kept]].concat());
    let without = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.contains(" found in "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(plain.0, 1);
    assert_eq!(plain.0, first.0);
    assert_eq!(without(&plain.1), without(&first.1));
    assert_eq!(without(&first.1), without(&again.1));
}

#[test]
fn what_does_not_fit_into_memory_goes_to_the_disk() {
    let folder = scratch("checkpoint-spill");
    let common = ["reach", PETERSON, "--reduction", "none", "--no-symmetry", "--workers", "1"];
    // The program alone takes some memory, the states 26 MB more.
    let small = run(&[&common[..], &["--state-limit", "1", "--stats"]].concat()).1;
    let peak = small.lines().find_map(|line| line.trim().strip_prefix("peak-memory-bytes"));
    let Some(base) = peak.and_then(|peak| peak.trim().parse::<u64>().ok()) else {
        // The system does not tell, so nothing is limited.
        return;
    };
    let memory = (base >> 20).saturating_add(9).to_string();
    let limited = [&common[..], &["--format", "json", "--memory", &memory]].concat();
    let (code, out, err) = run(&limited);
    assert_eq!(code, 3, "it does not fit: {out}{err}");
    let kept = folder.join("kept");
    let kept = kept.to_str().expect("a path");
    // A disk that is too small is no verdict, and the search goes on when it is larger.
    let (code, out, _) = run(&[&limited[..], &["--checkpoint", kept, "--disk", "12"]].concat());
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &report["verdict"]), (3, &"unknown".into()));
    assert!(out.contains("the limit of --disk was reached"), "{out}");
    assert!(out.contains(&format!("resume with --resume {kept}")), "{out}");
    let (code, out, err) = run(&[&limited[..], &["--resume", kept]].concat());
    assert_eq!(code, 0, "{out}{err}");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["stats"]["counts"]["states"], 1_119_560);
    assert_eq!(report["stats"]["levels"], 104);
    assert!(report["stats"]["resumed_from_level"].as_u64() > Some(0));
    assert_eq!(logs(Path::new(kept)).len(), 1, "what was sorted is removed");
}

#[test]
fn a_limit_on_disk_needs_a_checkpoint_and_a_folder_has_one_run() {
    let folder = scratch("checkpoint-lock");
    let (file, kept) = (peterson(&folder), folder.join("kept"));
    let kept = kept.to_str().expect("a path");
    let (code, _, err) = run(&["reach", &file, "--disk", "9"]);
    assert_eq!(code, 2);
    assert!(err.contains("use it with --checkpoint or --resume"), "{err}");
    let limited = ["reach", &file, "--state-limit", "100", "--checkpoint", kept];
    assert_eq!(run(&limited).0, 3);
    let lock = fs::File::create(Path::new(kept).join("run.lock")).expect("it can be written");
    lock.lock().expect("it is free");
    let (code, _, err) = run(&["reach", &file, "--resume", kept]);
    assert_eq!(code, 2);
    assert!(err.contains("another run is writing to"), "{err}");
    lock.unlock().expect("it is locked");
    assert_eq!(run(&["reach", &file, "--resume", kept]).0, 0);
}
