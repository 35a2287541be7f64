//! # Idea
//! A report never destroys what somebody wrote: an output that is an input, another output, or an existing
//! file of another kind is refused, and so is a place where no file can be. A file is written beside its place and renamed when it is complete, so
//! a full disk leaves the old one.
//!
//! # Invariants
//! 1. Pipes and devices are written as they are: there is nothing to destroy.

use selvedge_library::Language;
use selvedge_library::language::{extension, first_word};
use selvedge_library::render::Format;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// What a file is, as far as its name and its first bytes tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// A page for the browser.
    Page,
    /// JSON, also SARIF and baselines.
    Json,
    /// XML.
    Xml,
    /// Graphviz.
    Graph,
    /// A model, or what belongs to one.
    Source,
    /// Any other text.
    Text,
    /// Something else.
    Bytes,
}

impl FileKind {
    /// What the files of a form are.
    pub fn of_format(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json | Format::Sarif => Self::Json,
            Format::Junit => Self::Xml,
            Format::Dot => Self::Graph,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Page => "a page for the browser",
            Self::Json => "JSON",
            Self::Xml => "XML",
            Self::Graph => "a graph",
            Self::Source => "a model",
            Self::Text => "text",
            Self::Bytes => "no text",
        }
    }

    /// What an existing file is; nothing if it is empty or does not exist.
    fn of_file(path: &Path) -> Option<Self> {
        let mut start = Vec::new();
        let file = File::open(path).ok()?;
        file.take(4096).read_to_end(&mut start).ok()?;
        let name = path.to_string_lossy();
        let sources =
            ["init", "spec", "ipa", "ltl", "nwa", "vpa", "toml", "java", "c", "cpp", "rs", "code"];
        let is_source = |one: &str| {
            Language::ALL.iter().any(|language| language.extension() == one)
                || sources.contains(&one)
        };
        if start.is_empty() {
            return None;
        }
        if extension(&name).is_some_and(is_source) {
            return Some(Self::Source);
        }
        // The last character may be cut.
        let text = match std::str::from_utf8(&start) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&start[..error.valid_up_to()]).ok()?
            }
            Err(_) => return Some(Self::Bytes),
        };
        let begin = text.trim_start().to_ascii_lowercase();
        Some(if begin.starts_with("<!doctype html") || begin.starts_with("<html") {
            Self::Page
        } else if begin.starts_with(['{', '[']) {
            Self::Json
        } else if begin.starts_with("<?xml") {
            Self::Xml
        } else if begin.starts_with("digraph") {
            Self::Graph
        } else if ["program", "decl", "process", "nwa", "vpa", "Q", "Q0"]
            .contains(&first_word(text))
        {
            Self::Source
        } else {
            Self::Text
        })
    }
}

/// A file that is to be written.
#[derive(Clone, Copy, Debug)]
pub struct OutputFile<'a> {
    /// The option that names it.
    pub option: &'static str,
    /// Where.
    pub path: &'a Path,
    /// What it will be.
    pub kind: FileKind,
}

/// Why some of these files must not be written, if so; `inputs` are the files that the run reads.
pub fn refusal(outputs: &[OutputFile<'_>], inputs: &[PathBuf]) -> Option<String> {
    let real = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    for (at, output) in outputs.iter().enumerate() {
        let OutputFile { option, path, kind } = *output;
        let shown = path.display();
        if path == Path::new("-") {
            return Some(format!(
                "{option} names a file (./- if that is its name); what is printed without --output \
                 goes to standard output"
            ));
        }
        // Better said now than after the work is done.
        if path.is_dir() {
            return Some(format!(
                "cannot write {shown}: {option} names a file, and this is a folder"
            ));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let folder = folder.display();
            return Some(format!("cannot write {shown}: there is no folder {folder}"));
        }
        if !may_be_file(path) {
            continue;
        }
        let same = |other: &Path| real(other).is_some_and(|one| Some(one) == real(path));
        if inputs.iter().any(|input| same(input)) {
            return Some(format!("{option} {shown} would overwrite a file that is read"));
        }
        if let Some(other) = outputs[..at].iter().find(|other| same(other.path)) {
            return Some(format!("{option} and {} name the same file {shown}", other.option));
        }
        let there = FileKind::of_file(path).filter(|&there| there != kind);
        if let Some(there) = there {
            return Some(format!(
                "{option} {shown} would overwrite a file of another kind ({} instead of {}); name \
                 another one, or remove it",
                kind.name(),
                there.name()
            ));
        }
    }
    None
}

/// Whether a path is or can become a plain file.
fn may_be_file(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |about| about.is_file())
}

/// Writes a file as a whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if !may_be_file(path) {
        return fs::write(path, bytes);
    }
    // What a link leads to is replaced, not the link.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().ok_or_else(|| io::Error::other("it has no name"))?;
    let mut partial = name.to_owned();
    partial.push(format!(".{}.part", std::process::id()));
    let partial = path.with_file_name(partial);
    let written = File::create_new(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        if let Ok(before) = fs::metadata(&path) {
            fs::set_permissions(&partial, before.permissions())?;
        }
        fs::rename(&partial, &path)
    });
    match written {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !partial.exists() => {
            // A folder in which no file can be made may have one that can be written.
            fs::write(&path, bytes)
        }
        Err(error) => {
            let _ = fs::remove_file(&partial);
            Err(error)
        }
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("selvedge-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("made");
        folder
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = folder("outputs");
        let path = folder.join("report.txt");
        write(&path, b"old").expect("written");
        // The name of the partial file is taken, as by a folder.
        let partial = folder.join(format!("report.txt.{}.part", std::process::id()));
        fs::create_dir(&partial).expect("made");
        assert!(write(&path, b"new").is_err());
        assert_eq!(fs::read(&path).expect("read"), b"old");
        fs::remove_dir(&partial).expect("removed");
        write(&path, b"new").expect("written");
        assert_eq!(fs::read(&path).expect("read"), b"new");
        assert_eq!(fs::read_dir(&folder).expect("read").count(), 1);
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn kinds_of_files() {
        let folder = folder("kinds");
        let kind = |name: &str, text: &[u8]| {
            let path = folder.join(name);
            fs::write(&path, text).expect("written");
            FileKind::of_file(&path)
        };
        assert_eq!(kind("a.eml", b"var : x;"), Some(FileKind::Source));
        assert_eq!(kind("a", b"// model\nprocess A { }"), Some(FileKind::Source));
        assert_eq!(kind("a.html", b"<!DOCTYPE html>\n"), Some(FileKind::Page));
        assert_eq!(kind("a.json", b"{}"), Some(FileKind::Json));
        assert_eq!(kind("a.xml", b"<?xml version=\"1.0\"?>"), Some(FileKind::Xml));
        assert_eq!(kind("a.txt", b"1 file"), Some(FileKind::Text));
        assert_eq!(kind("a.bin", b"\xff\xfe"), Some(FileKind::Bytes));
        assert_eq!(kind("empty", b""), None);
        assert_eq!(FileKind::of_file(&folder.join("none")), None);
        fs::remove_dir_all(folder).expect("removed");
    }
}
