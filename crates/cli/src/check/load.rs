//! # Idea
//! A path becomes a file that was looked at, with what lies beside it, left behind if the budget is used up.

use super::files::{InputFile, Mistake};
use super::javac::{self, NotCompiled};
use crate::args::check::JavaArgs;
use crate::input::{self, NoBytes, Text, Unreadable};
use crate::watchdog::within;
use selvedge_base::{Budget, Diagnostic, Severity, StopReason};
use selvedge_library::ThreadRestriction;
use selvedge_library::file::Loaded;
use selvedge_library::java::{JavaClasses, is_archive, is_class_file};
use selvedge_library::{Language, Texts};

/// Reads a file.
pub fn load(
    found: &InputFile,
    restrictions: &[ThreadRestriction],
    java: &JavaArgs,
    budget: &Budget,
) -> Loaded {
    let (inner, path, restrictions) = (budget.clone(), found.clone(), restrictions.to_vec());
    let java = java.clone();
    // Readers need the stack of a main thread, which this is not.
    let work = move || load_without_limit(&path, &restrictions, &java, &inner);
    let loaded = within(budget, None, work);
    loaded.unwrap_or_else(|reason| not_read(found.path.display().to_string(), reason))
}

/// Reads the classes of a folder, an archive or a class file.
fn load_java(found: &InputFile, args: &JavaArgs, budget: &Budget) -> Result<Loaded, NoBytes> {
    let mut classes = match args.confirm {
        Some(_) => JavaClasses::keeping_bytes(),
        None => JavaClasses::default(),
    };
    let is_source = javac::is_source(&found.path);
    let compiled = is_source.then(|| javac::compile(&found.path, &args.classpath, budget));
    let compiled = match compiled.transpose() {
        Ok(compiled) => compiled,
        Err(NotCompiled::NoBytes(why)) => return Err(why),
        Err(NotCompiled::Wrong(complaint)) => {
            let name = found.path.display().to_string();
            return Ok(Loaded::refused(Text::new(name, ""), *complaint));
        }
    };
    let own = compiled.as_ref().map_or(&found.path, |folder| &folder.0);
    let others = args.classpath.iter();
    for path in std::iter::once(own).chain(others) {
        for (name, bytes) in input::class_files(path, budget)? {
            classes.add(&name, &bytes?, args.release, budget).map_err(NoBytes::Stopped)?;
        }
    }
    let name = found.path.display().to_string();
    Ok(Loaded::java(name, classes, &args.settings(), budget))
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
    java: &JavaArgs,
    budget: &Budget,
) -> Loaded {
    let name = found.path.display().to_string();
    let is_java = is_class_file(&name) || is_archive(&name) || javac::is_source(&found.path);
    if is_java || found.path.is_dir() {
        return load_java(found, java, budget).unwrap_or_else(|wrong| match wrong {
            NoBytes::Disk(error) => refused(Unreadable::Disk(name, error)),
            NoBytes::Stopped(reason) => not_read(name, reason),
        });
    }
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
    let complaint = match mistake.help {
        Some(help) => complaint.with_help(help),
        None => complaint,
    };
    Loaded::refused(Text::new(mistake.path.display().to_string(), ""), complaint)
}
