//! # Idea
//! The text of a file as a numbered list whose lines can be linked to. Names of locks look as in
//! the diagram and names of locations stand out; comments stand back. That needs no grammar of the
//! language: words are compared with the names of the model. Lines in which findings lie have links to
//! them.

use super::finding::Numbered;
use super::words::{finding_name, kind_class, kind_count, lock_class};
use super::writer::Html;
use crate::places::first_place;
use selvedge_base::FileId;
use selvedge_findings::{CheckedFile, FindingKind};
use selvedge_program::LockId;
use std::collections::{BTreeMap, BTreeSet};

/// Writes the lines of a file with links to its findings; the ids of the lines are `s<number>-<line>`.
pub fn source(html: &mut Html, file: &CheckedFile, number: usize, findings: &[Numbered<'_>]) {
    if file.source.is_empty() {
        html.leaf("p", &[("class", "quiet")], "The source text is not part of this report.");
        return;
    }
    let names = Names::new(file);
    // The findings of each line, by kind.
    let mut lying: BTreeMap<u32, BTreeMap<FindingKind, Vec<Numbered<'_>>>> = BTreeMap::new();
    for &one in findings {
        let place = first_place(one.finding);
        if let Some(line) = place.line().filter(|_| place.file == FileId::READ) {
            lying.entry(line).or_default().entry(one.finding.kind).or_default().push(one);
        }
    }
    let mut in_comment = false;
    html.element("ol", &[("class", "code"), ("role", "list")], |html| {
        for (at, line) in file.source.lines().enumerate() {
            let shown = (at + 1).to_string();
            let id = format!("s{number}-{shown}");
            html.element("li", &[("id", &id), ("data-n", &shown)], |html| {
                let target = format!("#{id}");
                let label = format!("line {shown}");
                let attributes = [
                    ("class", "n"),
                    ("href", &*target),
                    ("tabindex", "-1"),
                    ("aria-label", &*label),
                ];
                html.leaf("a", &attributes, &shown);
                html.element("code", &[], |html| {
                    for (kind, text) in tokens(line, &mut in_comment) {
                        names.write(html, kind, text);
                    }
                });
                for own in lying.get(&(at as u32 + 1)).into_iter().flat_map(BTreeMap::values) {
                    lies(html, own);
                }
            });
            html.line_break();
        }
    });
}

/// A link to the first of some findings of one kind.
fn lies(html: &mut Html, findings: &[Numbered<'_>]) {
    let Some(first) = findings.first() else { return };
    let kind = first.finding.kind;
    let target = format!("#f{}", first.at.finding);
    let class = format!("lies {}", kind_class(kind));
    let title = &first.finding.reason;
    let attributes = [("class", &*class), ("href", &target), ("title", title), ("tabindex", "-1")];
    match findings.len() {
        1 => html.leaf("a", &attributes, finding_name(first.finding)),
        number => html.leaf("a", &attributes, kind_count(kind, number)),
    }
}

/// The parts of a line that are treated differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Word,
    Comment,
    Other,
}

struct Names<'a> {
    locks: BTreeMap<&'a str, LockId>,
    locations: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    fn new(file: &'a CheckedFile) -> Self {
        let program = &file.program;
        Self {
            locks: program.locks.iter_enumerated().map(|(id, lock)| (&*lock.name, id)).collect(),
            locations: program.locations.iter().map(|location| &*location.name).collect(),
        }
    }

    fn write(&self, html: &mut Html, kind: Kind, text: &str) {
        match kind {
            Kind::Comment => html.leaf("i", &[], text),
            Kind::Word => {
                if let Some(&lock) = self.locks.get(text) {
                    html.leaf("b", &[("class", &lock_class(lock))], text);
                } else if self.locations.contains(text) {
                    html.leaf("b", &[], text);
                } else {
                    html.text(text);
                }
            }
            Kind::Other => html.text(text),
        }
    }
}

/// Cuts a line into words, comments and the rest. `in_comment` says whether a comment of several
/// lines is open.
fn tokens<'a>(line: &'a str, in_comment: &mut bool) -> Vec<(Kind, &'a str)> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut tokens = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = if *in_comment {
            let end = rest.find("*/").map(|at| at + 2);
            *in_comment = end.is_none();
            (Kind::Comment, end.unwrap_or(rest.len()))
        } else if rest.starts_with("//") {
            (Kind::Comment, rest.len())
        } else if rest.starts_with("/*") {
            *in_comment = true;
            (Kind::Comment, 2)
        } else if word(first) {
            (Kind::Word, rest.find(|c| !word(c)).unwrap_or(rest.len()))
        } else {
            let special = |(at, c): (usize, char)| at > 0 && (word(c) || c == '/');
            (
                Kind::Other,
                rest.char_indices().find(|&next| special(next)).map_or(rest.len(), |(at, _)| at),
            )
        };
        tokens.push((kind, &rest[..length]));
        rest = &rest[length..];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_and_nothing_is_lost() {
        let mut in_comment = false;
        let line = "read é1/2; // x";
        let cut = tokens(line, &mut in_comment);
        assert_eq!(cut.iter().map(|(_, text)| *text).collect::<String>(), line);
        assert_eq!(cut[2], (Kind::Word, "é1"));
        assert_eq!(cut.last(), Some(&(Kind::Comment, "// x")));
        assert!(!in_comment);
    }

    #[test]
    fn comments_span_lines() {
        let mut in_comment = false;
        assert_eq!(tokens("a /* b", &mut in_comment).len(), 4);
        assert!(in_comment);
        let cut = tokens("c */ d", &mut in_comment);
        assert_eq!(cut, [(Kind::Comment, "c */"), (Kind::Other, " "), (Kind::Word, "d")]);
        assert!(!in_comment);
    }
}
