//! # Idea
//! A program may come from many files: one that was read, and others that it names, as the classes
//! of a Java program. Places say which one they lie in; here are the names, and the words for a place.
//! Nobody opens a file by such a name: it is for reports.
//!
//! # Invariants
//! 1. Number `n` is `files[n - 1]` of the program; 0 is the file that was read, which the program
//!    does not name.

use crate::model::Program;
use selvedge_base::{FileId, FilePosition, Id as _, Place};

/// A file that a program comes from, beside the one that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// Its name, for reports: a path as in `src/A.java`, or a class.
    pub name: String,
}

/// Characters that the name of a file may have.
pub const LONGEST_FILE_NAME: usize = 1024;

/// What is wrong with the name of a file, if something is.
pub fn mistake_in_file_name(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some("the name of a file is empty".to_owned());
    }
    if name.chars().any(char::is_control) {
        return Some("the name of a file has control characters".to_owned());
    }
    (name.chars().count() > LONGEST_FILE_NAME)
        .then(|| format!("the name of a file has more than {LONGEST_FILE_NAME} characters"))
}

/// Whether a name leads out of the folder that it is seen from: an absolute path, or one with `..`.
pub fn leads_out(name: &str) -> bool {
    let drive = name.as_bytes().get(1) == Some(&b':');
    drive || name.starts_with(['/', '\\']) || name.split(['/', '\\']).any(|part| part == "..")
}

impl Program {
    /// A file by its number; `None` for the one that was read, and for a number that no file has.
    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.index().checked_sub(1)?)
    }

    /// The numbers of the files beside the one that was read.
    pub fn file_ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (1..=self.files.len()).map(FileId::from_index)
    }

    /// A place as it is written in messages: `12:3`, `A.java:12:3`, `A.java:12` without a column,
    /// `A+37` for an offset, `A.java` for somewhere in it; `None` if nothing is known.
    pub fn located(&self, place: Place) -> Option<String> {
        let file = self.file(place.file).map_or("", |file| &file.name);
        let between = if file.is_empty() { "" } else { ":" };
        match place.position {
            FilePosition::Line { line, column: Some(column) } => {
                Some(format!("{file}{between}{line}:{column}"))
            }
            FilePosition::Line { line, column: None } => Some(format!("{file}{between}{line}")),
            FilePosition::Offset(offset) => Some(format!("{file}+{offset}")),
            FilePosition::Unknown => (!file.is_empty()).then(|| file.to_owned()),
        }
    }

    /// Where a place is, in words: `line 12`, `line 12 of A.java`, `offset 37 of A`.
    pub fn place_in_words(&self, place: Place) -> String {
        let file = self.file(place.file).map(|file| file.name.as_str());
        let position = match place.position {
            FilePosition::Line { line, .. } => format!("line {line}"),
            FilePosition::Offset(offset) => format!("offset {offset}"),
            FilePosition::Unknown => {
                return file.map_or("a place that is not known".to_owned(), |file| {
                    format!("a place in {file} that is not known")
                });
            }
        };
        file.map_or(position.clone(), |file| format!("{position} of {file}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_words() {
        let mut program = Program::default();
        program.files.push(SourceFile { name: "A.java".to_owned() });
        let other = FileId::from_index(1);
        let words = |place: Place| program.place_in_words(place);
        assert_eq!(words(Place::new(12, 3)), "line 12");
        assert_eq!(words(Place::in_line(12).in_file(other)), "line 12 of A.java");
        assert_eq!(words(Place::at_offset(37).in_file(other)), "offset 37 of A.java");
        assert_eq!(words(Place::NONE.in_file(other)), "a place in A.java that is not known");
        assert_eq!(words(Place::NONE), "a place that is not known");
        let located = |place: Place| program.located(place).unwrap_or_default();
        assert_eq!(
            (located(Place::new(12, 3)), located(Place::NONE)),
            ("12:3".to_owned(), String::new())
        );
        assert_eq!(located(Place::new(12, 3).in_file(other)), "A.java:12:3");
        assert_eq!(located(Place::in_line(12).in_file(other)), "A.java:12");
        assert_eq!(located(Place::at_offset(37).in_file(other)), "A.java+37");
        assert_eq!(located(Place::NONE.in_file(other)), "A.java");
        // A number that no file has is no reason to panic.
        assert_eq!(words(Place::new(1, 1).in_file(FileId::from_index(2))), "line 1");
        assert_eq!(program.file_ids().collect::<Vec<_>>(), [other]);
    }

    #[test]
    fn names_that_are_no_names() {
        for name in ["", "  ", "a\nb", "\u{1b}[31m", &"é".repeat(LONGEST_FILE_NAME + 1)] {
            assert!(mistake_in_file_name(name).is_some(), "{name:?}");
        }
        for name in ["A.java", "a b/ü.java", &"é".repeat(LONGEST_FILE_NAME), "../A.java"] {
            assert_eq!(mistake_in_file_name(name), None, "{name:?}");
        }
        let out =
            ["/etc/passwd", "../a", "a/../b", "a\\..\\b", "\\\\host\\a", "C:\\a", "C:a", ".."];
        assert!(out.into_iter().all(leads_out));
        assert!(!["A.java", "a/b..c/d", "...", "a/./b"].into_iter().any(leads_out));
    }
}
