//! # Idea
//! A suppression is a list of conditions; a finding that meets all of them is shown apart and does
//! not count. A suppression that no finding meets is probably out of date, which is worth a warning.

use crate::glob::FilePattern;
use selvedge_base::{Diagnostic, FileId, Place, Severity, Span};
use selvedge_findings::{CheckedFile, Finding, FindingKind};
use selvedge_program::Program;

/// Conditions under which a finding does not count, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suppression {
    /// Why.
    pub reason: String,
    /// The finding is of this kind.
    pub rule: Option<FindingKind>,
    /// The finding has this identity.
    pub fingerprint: Option<String>,
    /// The finding is in such a file, seen from the folder of the configuration or as given, or one
    /// of its conflicting steps is in a file of this name that the program comes from.
    pub file: Option<FilePattern>,
    /// These threads take part.
    pub threads: Vec<String>,
    /// It is about these locations.
    pub locations: Vec<String>,
    /// One of its conflicting steps in that file is on this line.
    pub line: Option<u32>,
    /// Where the configuration says so.
    pub span: Span,
}

impl Default for Suppression {
    fn default() -> Self {
        Self {
            reason: String::new(),
            rule: None,
            fingerprint: None,
            file: None,
            threads: Vec::new(),
            locations: Vec::new(),
            line: None,
            span: Span::new(0, 0),
        }
    }
}

impl Suppression {
    fn about_file(&self, names: &[String]) -> bool {
        let matches = |pattern: &FilePattern| names.iter().any(|name| pattern.matches(name));
        self.file.as_ref().is_none_or(matches)
    }

    /// Whether it is about a file that the program names.
    fn about_other(&self, file: FileId, program: &Program) -> bool {
        program.file(file).is_some_and(|file| {
            let name = file.name.replace('\\', "/");
            self.file.as_ref().is_none_or(|pattern| pattern.matches(&name))
        })
    }

    fn covers(&self, finding: &Finding, program: &Program, names: &[String]) -> bool {
        let thread = |name: &String| {
            finding.threads.iter().any(|&thread| program.threads[thread].name == *name)
        };
        let location = |name: &String| {
            finding.locations.iter().any(|&location| program.locations[location].name == *name)
        };
        let about_file = self.about_file(names);
        let in_file = |place: &&Place| about_file || self.about_other(place.file, program);
        let mut places = finding.places.iter().filter(in_file);
        let fits = match self.line {
            Some(line) => places.any(|place| place.line() == Some(line)),
            None => about_file || places.next().is_some(),
        };
        fits && self.rule.is_none_or(|rule| rule == finding.kind)
            && self.fingerprint.as_ref().is_none_or(|print| *print == finding.fingerprint)
            && self.threads.iter().all(thread)
            && self.locations.iter().all(location)
    }
}

/// Moves the findings that do not count, and warns of suppressions that could have been used by
/// these files but were not. `relative` is the name of a file as seen from the folder of the
/// configuration.
pub fn apply(
    suppressions: &[Suppression],
    files: &mut [CheckedFile],
    relative: &dyn Fn(&str) -> String,
) -> Vec<Diagnostic> {
    let mut used = vec![false; suppressions.len()];
    let mut could_be_used = vec![false; suppressions.len()];
    for file in files {
        let names = [relative(&file.file), file.file.replace('\\', "/")];
        let complete = file.tallies.iter().all(|(_, tally)| tally.unknown == 0);
        for (suppression, could) in suppressions.iter().zip(&mut could_be_used) {
            let asked = |kind| file.tallies.iter().any(|&(asked, _)| asked == kind);
            let program = &file.program;
            let about = suppression.about_file(&names)
                || program.file_ids().any(|other| suppression.about_other(other, program));
            *could |= complete && about && suppression.rule.is_none_or(asked);
        }
        for finding in std::mem::take(&mut file.findings) {
            let mut covered = None;
            // All that cover it are in use; the first gives the reason.
            for (suppression, used) in suppressions.iter().zip(&mut used) {
                if suppression.covers(&finding, &file.program, &names) {
                    *used = true;
                    covered.get_or_insert(suppression);
                }
            }
            match covered {
                Some(suppression) => file.suppressed.push((finding, suppression.reason.clone())),
                None => file.findings.push(finding),
            }
        }
    }
    let unused = suppressions.iter().zip(used.into_iter().zip(could_be_used));
    unused
        .filter(|(_, (used, could))| !used && *could)
        .map(|(suppression, _)| {
            Diagnostic::error(
                "unused-suppression",
                "no finding meets this suppression",
                suppression.span,
                "perhaps it can go",
            )
            .with_severity(Severity::Warning)
        })
        .collect()
}
