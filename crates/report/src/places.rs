//! # Idea
//! How a place is written: with the name of its file where that is not the one that was read, and
//! with no more than is known of it.
//!
//! # Invariants
//! 1. Names of files are escaped ([`visible`]) in what is meant for the screen, and not in JSON.

use crate::escape::visible;
use selvedge_base::{FileId, FilePosition, Place};
use selvedge_findings::{CheckedFile, Finding};
use selvedge_program::Program;
use serde::Serialize;

/// A place with its file: `a.eml:12:3`, `A.java:12`, `A.java+37`; the name of the file alone if
/// nothing else is known. `read` is the file that was read.
pub fn located(read: &str, place: Place, program: &Program) -> String {
    match program.file(place.file) {
        Some(_) => visible(&program.located(place).unwrap_or_default()).into_owned(),
        None => format!("{}{}", visible(read), within(place)),
    }
}

/// A place in its file: `:12:3`, `:12` without a column, `+37` for an offset, or nothing.
pub(crate) fn within(place: Place) -> String {
    match place.position {
        FilePosition::Unknown => String::new(),
        FilePosition::Line { line, column: Some(column) } => format!(":{line}:{column}"),
        FilePosition::Line { line, column: None } => format!(":{line}"),
        FilePosition::Offset(offset) => format!("+{offset}"),
    }
}

/// A place where there is little room: `:12`, `A.java:12`, `A.java+37`, or nothing. Of a path only
/// the last part is shown if no other file of the program has it.
pub fn short(place: Place, program: &Program) -> String {
    let name = short_name(place.file, program).map_or(String::new(), |name| visible(name).into());
    match place.position {
        FilePosition::Line { line, .. } => format!("{name}:{line}"),
        FilePosition::Unknown | FilePosition::Offset(_) => name + &within(place),
    }
}

/// The last part of the path of a file, or all of it where that is not enough; `None` for the file
/// that was read.
fn short_name(file: FileId, program: &Program) -> Option<&str> {
    let last = |path: &'_ str| path.rfind(['/', '\\']).map_or(0, |at| at + 1);
    let name = &program.file(file)?.name;
    let part = &name[last(name)..];
    let same = program.files.iter().filter(|one| one.name[last(&one.name)..] == *part).count();
    Some(if same == 1 && !part.is_empty() { part } else { name })
}

/// The name of the file that a place lies in, if it is not the one that was read.
pub fn other_file(place: Place, program: &Program) -> Option<&str> {
    program.file(place.file).map(|file| file.name.as_str())
}

/// Where to look for a finding.
pub fn first_place(finding: &Finding) -> Place {
    finding.places.first().copied().unwrap_or(Place::NONE)
}

/// The findings of a program by the file that they lie in: the file of the most important one
/// first, and within a file the most important one first. A program of one file is one group.
pub fn by_file(file: &CheckedFile) -> Vec<(FileId, Vec<&Finding>)> {
    let mut groups: Vec<(FileId, Vec<&Finding>)> = Vec::new();
    for finding in &file.findings {
        let own = first_place(finding).file;
        match groups.iter_mut().find(|(id, _)| *id == own) {
            Some((_, findings)) => findings.push(finding),
            None => groups.push((own, vec![finding])),
        }
    }
    groups
}

/// A place as fields of a JSON object. `file` is there only if it is not the one that was read, and
/// `offset` only where there is no line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
pub(crate) struct PlaceFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u32>,
}

impl<'a> PlaceFields<'a> {
    pub fn new(place: Place, program: &'a Program) -> Self {
        Self { file: other_file(place, program), ..Self::within(place) }
    }

    /// Without the file.
    pub fn within(place: Place) -> Self {
        let (line, column, offset) = (place.line(), place.column(), place.offset());
        Self { file: None, line, column, offset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id as _;
    use selvedge_program::SourceFile;

    fn program(files: &[&str]) -> Program {
        let files = files.iter().map(|&name| SourceFile { name: name.to_owned() }).collect();
        Program { files, ..Program::default() }
    }

    #[test]
    fn places_name_their_file_if_it_is_another_one() {
        let program = program(&["src/A.java", "lib/B", "test/B", "a/"]);
        let file = |at: usize| FileId::from_index(at);
        let both = |place: Place| (located("r.slv", place, &program), short(place, &program));
        let pair = |long: &str, short: &str| (long.to_owned(), short.to_owned());
        assert_eq!(both(Place::new(12, 3)), pair("r.slv:12:3", ":12"));
        assert_eq!(both(Place::NONE), pair("r.slv", ""));
        assert_eq!(both(Place::at_offset(3)), pair("r.slv+3", "+3"));
        assert_eq!(both(Place::new(12, 3).in_file(file(1))), pair("src/A.java:12:3", "A.java:12"));
        assert_eq!(both(Place::in_line(12).in_file(file(1))), pair("src/A.java:12", "A.java:12"));
        assert_eq!(both(Place::at_offset(37).in_file(file(2))), pair("lib/B+37", "lib/B+37"));
        assert_eq!(both(Place::NONE.in_file(file(3))), pair("test/B", "test/B"));
        assert_eq!(both(Place::in_line(1).in_file(file(4))), pair("a/:1", "a/:1"));
        let json = |place| serde_json::to_string(&PlaceFields::new(place, &program)).expect("JSON");
        assert_eq!(json(Place::new(12, 3)), r#"{"line":12,"column":3}"#);
        assert_eq!(json(Place::NONE), r#"{"line":null,"column":null}"#);
        assert_eq!(
            json(Place::at_offset(37).in_file(file(2))),
            r#"{"file":"lib/B","line":null,"column":null,"offset":37}"#
        );
    }
}
