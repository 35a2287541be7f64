//! # Idea
//! A path becomes a file that was looked at, left behind if the budget is used up.

use super::files::{InputFile, Mistake};
use crate::input::{self, Unreadable};
use crate::watchdog::within;
use selvedge_base::{Budget, Severity, StopReason};
use selvedge_library::file::Loaded;

/// Reads a file.
pub fn load(found: &InputFile, budget: &Budget) -> Loaded {
    let (inner, path) = (budget.clone(), found.clone());
    within(budget, move || load_without_limit(&path, &inner)).unwrap_or_else(|reason| {
        let name = found.path.display().to_string();
        not_read(name, reason)
    })
}

/// A file whose end was not reached before a limit: no mistake, and no model.
fn not_read(name: String, reason: StopReason) -> Loaded {
    let message = format!("the file was not read to its end: {reason}");
    let mut loaded = Loaded::refused("file-not-read", name, String::new(), message);
    loaded.complaints[0].severity = Severity::Warning;
    loaded.stopped = true;
    loaded
}

fn load_without_limit(found: &InputFile, budget: &Budget) -> Loaded {
    let text = match input::read_text(&found.path, budget) {
        Ok(text) => text,
        Err(Unreadable::Disk(name, error)) => {
            let message = format!("the file cannot be read: {error}");
            return Loaded::refused("unreadable-file", name, String::new(), message);
        }
        Err(Unreadable::Encoding(text, complaint)) => {
            let refused = Loaded::refused("", text.name, text.text, String::new());
            return Loaded { complaints: vec![*complaint], ..refused };
        }
        Err(Unreadable::Stopped(name, reason)) => return not_read(name, reason),
    };
    Loaded::new(text, found.path.as_os_str() != "-")
}

/// A folder without files to analyse.
pub fn nothing(mistake: Mistake) -> Loaded {
    let name = mistake.path.display().to_string();
    Loaded::refused("bad-folder", name, String::new(), mistake.message)
}
