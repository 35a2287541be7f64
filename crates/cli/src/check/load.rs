//! # Idea
//! A path becomes a file that was looked at, with what lies beside it, left behind if the budget is used up.

use super::files::{InputFile, Mistake};
use crate::input::{self, Text, Unreadable};
use crate::watchdog::within;
use selvedge_base::{Budget, Diagnostic, Severity, StopReason};
use selvedge_library::ThreadRestriction;
use selvedge_library::file::Loaded;
use selvedge_library::{Language, Texts};

/// Reads a file.
pub fn load(found: &InputFile, restrictions: &[ThreadRestriction], budget: &Budget) -> Loaded {
    let (inner, path, restrictions) = (budget.clone(), found.clone(), restrictions.to_vec());
    within(budget, move || load_without_limit(&path, &restrictions, &inner)).unwrap_or_else(
        |reason| {
            let name = found.path.display().to_string();
            not_read(name, reason)
        },
    )
}

/// A file whose end was not reached before a limit: no mistake, and no model.
fn not_read(name: String, reason: StopReason) -> Loaded {
    let message = format!("the file was not read to its end: {reason}");
    let complaint = Diagnostic::global("file-not-read", Severity::Warning, message);
    Loaded { stopped: true, ..Loaded::refused(Text::new(name, ""), complaint) }
}

fn load_without_limit(
    found: &InputFile,
    restrictions: &[ThreadRestriction],
    budget: &Budget,
) -> Loaded {
    let text = match input::read_text(&found.path, budget) {
        Ok(text) => text,
        Err(unreadable) => return refused(unreadable),
    };
    let is_file = found.path.as_os_str() != "-";
    let mut texts = Texts::from(text);
    if is_file && Language::of(&texts.program.name, &texts.program.text) == Language::Pushdown {
        for (extension, beside) in [("init", &mut texts.init), ("spec", &mut texts.spec)] {
            let path = found.path.with_extension(extension);
            if path.is_file() {
                match input::read_text(&path, budget) {
                    Ok(text) => *beside = Some(text),
                    Err(unreadable) => return refused(unreadable),
                }
            }
        }
    }
    Loaded::restricted(texts, is_file, restrictions, budget)
}

fn refused(unreadable: Unreadable) -> Loaded {
    match unreadable {
        Unreadable::Disk(name, error) => {
            let message = format!("the file cannot be read: {error}");
            let complaint = Diagnostic::global("unreadable-file", Severity::Error, message);
            Loaded::refused(Text::new(name, ""), complaint)
        }
        Unreadable::Encoding(text, complaint) => Loaded::refused(text, *complaint),
        Unreadable::Stopped(name, reason) => not_read(name, reason),
    }
}

/// A folder without files to analyse.
pub fn nothing(mistake: Mistake) -> Loaded {
    let complaint = Diagnostic::global("bad-folder", Severity::Error, mistake.message);
    Loaded::refused(Text::new(mistake.path.display().to_string(), ""), complaint)
}
