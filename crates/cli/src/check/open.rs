//! # Idea
//! Shows a file in the browser, by the program that the system has for that. Some of these programs
//! end at once and some with the browser; nobody waits for the latter.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that fails does so within this time.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often to look whether it has ended.
const PERIOD: Duration = Duration::from_millis(20);

/// Opens a file.
///
/// # Errors
/// If the system has no program for that, or if it fails at once.
pub fn open(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let mut child = opener()
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(io::Error::other(status.to_string())),
            None => std::thread::sleep(PERIOD),
        }
    }
    Ok(())
}

fn opener() -> Command {
    if cfg!(windows) {
        // What `start` does, without a shell that would act upon the characters of the name.
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else if cfg!(target_os = "macos") {
        Command::new("open")
    } else {
        Command::new("xdg-open")
    }
}
