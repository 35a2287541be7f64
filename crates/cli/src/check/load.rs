//! # Idea
//! A file becomes a model and what there is to say about it. A file that cannot be read or understood
//! is a complaint like any other, so that the other files are analysed all the same.

use super::files::{InputFile, Mistake};
use crate::input::{self, Text, Unreadable};
use crate::watchdog::within;
use selvedge_analysis::copies::{FEW_COPIES, instance};
use selvedge_base::{Budget, Diagnostic, Severity, StopReason};
use selvedge_program::Program;
use selvedge_program::copies::Asked;

/// A file that was looked at.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name and text.
    pub text: Text,
    /// The language that it was read as.
    pub language: &'static str,
    /// The model, unless a complaint is an error; with as many copies of its threads as decide what
    /// is asked.
    pub program: Option<Program>,
    /// With how many copies nothing beyond them is known, if so.
    pub copies: Option<u32>,
    /// What there is to say about it.
    pub complaints: Vec<Diagnostic>,
    /// Whether a limit was met before it was read.
    pub stopped: bool,
}

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
    let mut loaded = refused("file-not-read", name, String::new(), message);
    loaded.complaints[0].severity = Severity::Warning;
    loaded.stopped = true;
    loaded
}

fn load_without_limit(found: &InputFile, budget: &Budget) -> Loaded {
    let text = match input::read_text(&found.path, budget) {
        Ok(text) => text,
        Err(Unreadable::Disk(name, error)) => {
            let message = format!("the file cannot be read: {error}");
            return refused("unreadable-file", name, String::new(), message);
        }
        Err(Unreadable::Encoding(text, complaint)) => {
            let complaints = vec![*complaint];
            return Loaded {
                text,
                language: "",
                program: None,
                copies: None,
                complaints,
                stopped: false,
            };
        }
        Err(Unreadable::Stopped(name, reason)) => return not_read(name, reason),
    };
    let extension = found.path.extension().and_then(|extension| extension.to_str());
    let standard_input = found.path.as_os_str() == "-";
    let language = match (extension, input::first_word(&text.text)) {
        (Some("slv"), _) | (_, "program") => "slv",
        (Some("eml"), _) | (_, "lock" | "var" | "process") => "eml",
        _ if standard_input => "eml",
        _ => {
            let help = match extension {
                Some("ipa") => {
                    "a property is checked on a program: selvedge atomicity PROGRAM --property \
                         FILE"
                }
                Some("bp" | "pds") => "programs with data are for `selvedge reach`",
                _ => "there are EML programs (.eml) and models in text form (.slv)",
            };
            let Text { name, text } = text;
            let mut loaded = refused(
                "unknown-format",
                name,
                text,
                "this is no file that Selvedge knows".to_owned(),
            );
            loaded.complaints[0].help = Some(help.to_owned());
            return loaded;
        }
    };
    let (program, mut complaints) = input::understand(&text.text, language == "slv");
    let kinds = [Asked::Threads(2), Asked::Deadlocks];
    let instance = program.map(|program| instance(program, &kinds, FEW_COPIES));
    let copies = instance.as_ref().and_then(|instance| instance.limit);
    let program = instance.map(|instance| instance.program);
    if let Some(program) = &program
        && program.threads.len() < 2
        && !complaints.iter().any(|complaint| complaint.code == "no-atomicity-question")
    {
        let message = "fewer than two threads take part, so there is nothing to ask";
        complaints.push(Diagnostic::global("nothing-to-ask", Severity::Warning, message));
    }
    Loaded { text, language, program, copies, complaints, stopped: false }
}

/// A folder without files to analyse.
pub fn nothing(mistake: Mistake) -> Loaded {
    let name = mistake.path.display().to_string();
    refused("bad-folder", name, String::new(), mistake.message)
}

fn refused(code: &'static str, name: String, text: String, message: String) -> Loaded {
    Loaded {
        text: Text { name, text },
        language: "",
        program: None,
        copies: None,
        complaints: vec![Diagnostic::global(code, Severity::Error, message)],
        stopped: false,
    }
}
