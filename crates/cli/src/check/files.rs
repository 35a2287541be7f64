//! # Idea
//! From the paths on the command line to the files to analyse: a file stands for itself, a folder for
//! all files below it with an extension that is known. The order is that of the command line, within
//! a folder that of the names.
//!
//! # Invariants
//! 1. No file is listed twice, whatever links lead to it; a folder that contains itself through a
//!    link is entered once.
//! 2. Hidden files and folders are skipped, except those that are named on the command line.

use selvedge_library::Language;
use selvedge_library::config::NAME;
use selvedge_library::java;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Extensions of texts that are read with the model beside them.
const BESIDE: [&str; 2] = ["init", "spec"];

/// What to do about a folder with sources of Java.
const FOR_JAVA: Option<&str> = Some(
    "a program in Java is read from its class files: name a jar, or the folder that the compiler writes to, \
     as in `selvedge check target/classes`",
);

/// A file to analyse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputFile {
    /// Its path.
    pub path: PathBuf,
    /// Whether the command line names it.
    pub named: bool,
    /// Its path as seen from the folder that the command line names, with `/` between its parts.
    pub identity: String,
}

/// What is wrong with a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub message: String,
    /// What to do.
    pub help: Option<&'static str>,
}

/// What the paths stand for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// The files to analyse.
    pub files: Vec<InputFile>,
    /// What is wrong with the paths.
    pub mistakes: Vec<Mistake>,
    /// How many files of other kinds lie in the folders.
    pub others: usize,
}

/// What the paths stand for.
pub fn find(paths: &[PathBuf]) -> Found {
    let mut search = Search::default();
    for path in paths {
        if path.as_os_str() == "-" || !path.is_dir() {
            // Whether it can be read is seen when it is read.
            search.file(path, None);
            continue;
        }
        let before = search.seen.len();
        search.folder(path);
        if std::mem::take(&mut search.classes) {
            // All classes of a folder are one program.
            search.file(path, None);
        }
        if search.seen.len() == before && !search.already(path) {
            let languages = Language::ALL.map(|language| format!(".{}", language.extension()));
            let message = format!(
                "there is nothing to check in this folder: no {}, no .class",
                languages.join(", no ")
            );
            search.found.mistakes.push(Mistake { path: path.clone(), message, help: FOR_JAVA });
        }
    }
    search.found
}

#[derive(Default)]
struct Search {
    found: Found,
    /// Files and folders by their real paths.
    seen: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    /// Whether there are class files.
    classes: bool,
}

impl Search {
    /// Takes a file that the command line names, or one below a folder that it names.
    fn file(&mut self, path: &Path, root: Option<&Path>) {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if self.seen.insert(real) {
            let inside = root.and_then(|root| path.strip_prefix(root).ok());
            let identity = slashed(inside.unwrap_or(path));
            let named = root.is_none();
            self.found.files.push(InputFile { path: path.to_owned(), named, identity });
        }
    }

    /// Whether something in this folder is on the list already.
    fn already(&self, folder: &Path) -> bool {
        let Ok(real) = folder.canonicalize() else { return false };
        self.seen.iter().any(|file| file.starts_with(&real))
    }

    fn folder(&mut self, root: &Path) {
        // What is still to be looked at, the next one last; no recursion, however deep the folders.
        let mut open = vec![root.to_owned()];
        while let Some(path) = open.pop() {
            if !path.is_dir() {
                self.file(&path, Some(root));
                continue;
            }
            if !path.canonicalize().is_ok_and(|real| self.folders.insert(real)) {
                continue;
            }
            let (mut inside, others, classes) = match inside(&path) {
                Ok(inside) => inside,
                Err(error) => {
                    let message = format!("the folder cannot be read: {error}");
                    self.found.mistakes.push(Mistake { path, message, help: None });
                    continue;
                }
            };
            self.found.others += others;
            self.classes |= classes;
            inside.sort();
            open.extend(inside.into_iter().rev());
        }
    }
}

/// The folders and the models in a folder, how many files of other kinds there are, and whether there are
/// class files.
fn inside(folder: &Path) -> std::io::Result<(Vec<PathBuf>, usize, bool)> {
    let (mut found, mut others, mut classes) = (Vec::new(), 0, false);
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
            continue;
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_model = |extension| Language::ALL.iter().any(|one| one.extension() == extension);
        if path.is_dir() || (path.is_file() && extension.is_some_and(is_model)) {
            found.push(path);
        } else if path.is_file() && path.to_str().is_some_and(java::is_class_file) {
            classes = true;
        } else if path.is_file() {
            let system = path.with_extension(Language::Pushdown.extension());
            let beside = extension.is_some_and(|one| BESIDE.contains(&one)) && system.is_file();
            let known = beside || path.file_name().is_some_and(|name| name == NAME);
            others += usize::from(!known);
        }
    }
    Ok((found, others, classes))
}

/// The configuration for a run on `first`: the nearest one in its folder or above, otherwise that of
/// the current folder.
pub fn configuration(first: &Path) -> Option<PathBuf> {
    let start = std::path::absolute(first).ok()?;
    let folders = start.ancestors().skip(usize::from(!start.is_dir()));
    let above = folders.map(|folder| folder.join(NAME)).find(|path| path.is_file());
    let path = above.or_else(|| Some(PathBuf::from(NAME)).filter(|path| path.is_file()))?;
    // Reports name it as a person would.
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    Some(short.unwrap_or(path))
}

/// The name of a file as seen from `folder`, with `/` between its parts; as it is if the file is
/// elsewhere.
pub fn relative(file: &str, folder: &Path) -> String {
    let absolute = |path: &Path| {
        let path = std::path::absolute(path).ok()?;
        Some(path.canonicalize().unwrap_or(path))
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let inside = absolute(Path::new(file))
        .zip(absolute(folder))
        .and_then(|(file, folder)| file.strip_prefix(folder).ok().map(Path::to_owned));
    slashed(&inside.unwrap_or_else(|| PathBuf::from(file)))
}

/// A path with `/` between its parts.
pub fn slashed(path: &Path) -> String {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}
