//! Fuzzing with the stable compiler: the targets of `fuzz/` are built with the instrumentation that
//! libFuzzer needs, and run on the files of the corpora for a while.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A target, the folders whose files it starts with, and the longest text that it tries.
const TARGETS: &[(&str, &[&str], u32)] = &[
    ("bool", &["corpus/bp", "corpus/bad-bp"], 4096),
    ("eml", &["examples", "corpus/bad"], 4096),
    ("eml_search", &["examples", "bench/models"], 1024),
    ("model_text", &["corpus/bad-model", "crates/states/tests/programs"], 4096),
    ("java", &["crates/front-java/tests/classes/17", "crates/front-java/tests/classes/8"], 8192),
    ("ltl", &["examples", "corpus/bad-ltl"], 2048),
    ("nwa", &["examples", "corpus/bad-nwa"], 2048),
    ("pds_cuba", &["corpus/bad-pds"], 1024),
    ("property", &["examples", "corpus/bad-property"], 4096),
];

/// What libFuzzer needs to see which parts of the code a text reaches. Nothing of it is `unsafe`, so no
/// sanitizer is needed, and with it no nightly compiler.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

/// Runs the target of this name for so many seconds; all of them, one after the other, for no name.
pub fn run(name: Option<&str>, seconds: u64) -> Result<String, String> {
    let chosen: Vec<_> =
        TARGETS.iter().filter(|(own, ..)| name.is_none_or(|name| name == *own)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = TARGETS.iter().map(|(name, ..)| *name).collect();
        return Err(format!("there are the targets {}", names.join(", ")));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let fuzz = root.join("fuzz");
    let host = host()?;
    for (name, folders, longest) in chosen {
        let mut build = Command::new(env!("CARGO"));
        // A target of its own keeps build scripts free of the instrumentation.
        build.args(["build", "--release", "--target", &host, "--bin", name]);
        build.args(["--config", "profile.release.debug-assertions=true"]);
        build.args(["--config", "profile.release.overflow-checks=true"]);
        build.current_dir(&fuzz).env("RUSTFLAGS", FLAGS);
        succeed(&mut build, "the target could not be built")?;
        let found = fuzz.join("corpus").join(name);
        std::fs::create_dir_all(&found).map_err(|error| format!("{}: {error}", found.display()))?;
        let program: PathBuf = ["target", host.as_str(), "release", name].iter().collect();
        let mut fuzzing = Command::new(fuzz.join(program));
        fuzzing.current_dir(&root).arg(&found).args(*folders);
        let dictionary =
            fuzz.join(format!("{}.dict", name.split("_search").next().unwrap_or(name)));
        if dictionary.is_file() {
            fuzzing.arg(format!("-dict={}", dictionary.display()));
        }
        fuzzing.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={longest}"));
        fuzzing.args(["-timeout=20", "-print_final_stats=1"]);
        succeed(&mut fuzzing, &format!("{name}: there is a finding, see above"))?;
    }
    Ok(String::new())
}

fn succeed(command: &mut Command, otherwise: &str) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("it could not be started: {error}"))?;
    status.success().then_some(()).ok_or_else(|| otherwise.to_owned())
}

/// The name of this machine's target.
fn host() -> Result<String, String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(|error| format!("rustc could not be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say what it compiles for".to_owned())
}
