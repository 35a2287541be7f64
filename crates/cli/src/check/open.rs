//! # Idea
//! Shows a file in the browser, by the program that the system has for that. The program goes on
//! without us.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Opens a file.
///
/// # Errors
/// If the system has no program for that, or if it fails at once.
pub fn open(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let mut command = opener();
    let child =
        command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let status = child?.wait()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{status}"))) }
}

fn opener() -> Command {
    if cfg!(windows) {
        let mut command = Command::new("cmd");
        // The empty word is the title of the window, which `start` takes first.
        command.args(["/C", "start", ""]);
        command
    } else if cfg!(target_os = "macos") {
        Command::new("open")
    } else {
        Command::new("xdg-open")
    }
}
