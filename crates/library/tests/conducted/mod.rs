//! Programs in Java, run in a JVM by the machinery of `--confirm` without a schedule: threads pause at random, and
//! what meets is noted.

use selvedge_front_java::world::MemberId;
use selvedge_library::java::{CONDUCTOR, ClassBytes, JavaProgram, Rehearsal, RunPlace, watched};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Whether a tool of the JDK is there; a message if not.
pub fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("-version").output().is_ok_and(|one| one.status.success());
    if !found {
        println!("skipped: there is no {tool}");
    }
    found
}

/// Copies of classes that can be run.
pub struct Stage {
    folder: PathBuf,
    made: Rehearsal,
}

/// What was seen.
pub struct Meeting {
    /// `race` or `atomicity`.
    pub what: String,
    /// The places of two accesses.
    pub places: Vec<RunPlace>,
}

impl Stage {
    pub fn new(
        name: &str,
        all: &JavaProgram,
        bytes: &ClassBytes,
        main: MemberId,
        units: bool,
    ) -> Self {
        let made = watched(&all.world, bytes, main, units).expect("all classes have room");
        let folder = std::env::temp_dir().join(format!("selvedge-{name}-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("changed")).expect("there is room for files");
        for (name, bytes) in bytes {
            let bytes = made.classes.get(name).unwrap_or(bytes);
            let file = folder.join("changed").join(format!("{name}.class"));
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("room");
            std::fs::write(file, bytes).expect("room");
        }
        std::fs::write(folder.join("conductor.jar"), CONDUCTOR).expect("room");
        std::fs::write(folder.join("schedule"), &made.schedule).expect("room");
        Self { folder, made }
    }

    /// Runs a program once, for so many milliseconds at most.
    pub fn run(&self, main: &str, limit: u32) -> Vec<Meeting> {
        let result = self.folder.join("result");
        let _ = std::fs::remove_file(&result);
        let paths = ["changed", "conductor.jar"].map(|name| self.folder.join(name));
        let ended = Command::new("java")
            .arg(format!("-Dselvedge.schedule={}", self.folder.join("schedule").display()))
            .arg(format!("-Dselvedge.result={}", result.display()))
            .arg(format!("-Dselvedge.limit={limit}"))
            .arg("-cp")
            .arg(std::env::join_paths(paths).expect("plain paths"))
            .arg(main)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(ended.is_ok(), "{main}");
        let text = std::fs::read_to_string(&result).unwrap_or_default();
        let meetings = text.lines().filter_map(|line| {
            let (what, pair) = line.split_once(' ')?;
            let places =
                pair.split(' ').filter_map(|one| self.made.places.get(one.parse::<usize>().ok()?));
            let seen = ["race", "atomicity"].contains(&what);
            seen.then(|| Meeting { what: what.to_owned(), places: places.cloned().collect() })
        });
        meetings.collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
