//! # Idea
//! A baseline lists the findings that are known, so that only new ones count. Each entry covers one
//! finding: of two findings with the same identity, a baseline with one entry leaves one.
//!
//! # Invariants
//! 1. The same findings give the same bytes, whatever their order.

use selvedge_findings::{CheckedFile, Finding, FindingKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the file's form.
const VERSION: u32 = 1;

/// The known findings, each with the number of entries.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Baseline {
    counts: BTreeMap<Entry, usize>,
}

/// One known finding.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The file, relative to the folder of the baseline where that is possible.
    pub file: String,
    /// The rule.
    pub rule: String,
    /// The identity of the finding.
    pub fingerprint: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    tool: String,
    version: u32,
    findings: Vec<Entry>,
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// Says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if document.tool != "selvedge" {
            return Err(format!("it belongs to the tool `{}`", document.tool));
        }
        if document.version != VERSION {
            return Err(format!(
                "it has the form {}, and this is form {VERSION}; write it again with \
                 --write-baseline",
                document.version
            ));
        }
        Ok(document.findings.into_iter().collect())
    }

    /// The text of this baseline.
    pub fn render(&self) -> String {
        let repeat = |(entry, &count): (&Entry, &usize)| vec![entry.clone(); count];
        let findings = self.counts.iter().flat_map(repeat).collect();
        let document = Document { tool: "selvedge".to_owned(), version: VERSION, findings };
        // Strings and numbers can always be written.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }

    /// Takes the entry for a finding, if one is left.
    pub fn take(&mut self, entry: &Entry) -> bool {
        match self.counts.get_mut(entry) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// How many entries about these files and kinds are left.
    pub fn left(&self, files: &[String], kinds: &[FindingKind]) -> usize {
        let asked = |entry: &Entry| {
            files.contains(&entry.file) && kinds.iter().any(|kind| kind.rule() == entry.rule)
        };
        let about = self.counts.iter().filter(|(entry, _)| asked(entry));
        about.map(|(_, &count)| count).sum()
    }
}

impl FromIterator<Entry> for Baseline {
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> Self {
        let mut counts = BTreeMap::new();
        for entry in entries {
            *counts.entry(entry).or_insert(0) += 1;
        }
        Self { counts }
    }
}

/// The entry of a finding.
fn entry(file: String, finding: &Finding) -> Entry {
    Entry { file, rule: finding.kind.rule().to_owned(), fingerprint: finding.fingerprint.clone() }
}

/// The entries of all findings that are not suppressed. `relative` is the name of a file as seen from
/// the folder of the baseline.
pub fn entries(
    files: &[CheckedFile],
    relative: &dyn Fn(&str) -> String,
) -> impl Iterator<Item = Entry> {
    files.iter().flat_map(move |file| {
        let name = relative(&file.file);
        let all = file.findings.iter().chain(&file.known);
        all.map(move |finding| entry(name.clone(), finding))
    })
}

/// Sets the findings aside that the baseline knows, and says how many of its findings about these
/// files and kinds are gone.
pub fn set_aside(
    mut known: Baseline,
    files: &mut [CheckedFile],
    kinds: &[FindingKind],
    relative: &dyn Fn(&str) -> String,
) -> usize {
    let mut names = Vec::new();
    for file in files {
        let name = relative(&file.file);
        for finding in std::mem::take(&mut file.findings) {
            let covered = known.take(&entry(name.clone(), &finding));
            if covered { &mut file.known } else { &mut file.findings }.push(finding);
        }
        if file.tallies.iter().all(|(_, tally)| tally.unknown == 0) {
            names.push(name);
        }
    }
    known.left(&names, kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(file: &str, fingerprint: &str) -> Entry {
        Entry {
            file: file.to_owned(),
            rule: "deadlock".to_owned(),
            fingerprint: fingerprint.to_owned(),
        }
    }

    #[test]
    fn an_entry_covers_one_finding() {
        let mut baseline: Baseline =
            [known("a", "1"), known("a", "1"), known("b", "2")].into_iter().collect();
        assert!(baseline.take(&known("a", "1")));
        assert_eq!(baseline.left(&["a".to_owned()], &FindingKind::ALL), 1);
        assert!(baseline.take(&known("a", "1")));
        assert!(!baseline.take(&known("a", "1")), "a third one is new");
        assert!(!baseline.take(&known("b", "1")), "another file");
        assert_eq!(baseline.left(&["a".to_owned()], &FindingKind::ALL), 0);
        assert_eq!(baseline.left(&["b".to_owned()], &FindingKind::ALL), 1);
        assert_eq!(baseline.left(&["b".to_owned()], &[FindingKind::Race]), 0);
    }

    #[test]
    fn the_text_is_sorted_and_read_again() {
        let entries = [known("b", "2"), known("a", "1"), known("a", "1")];
        let baseline: Baseline = entries.clone().into_iter().collect();
        let reversed: Baseline = entries.into_iter().rev().collect();
        assert_eq!(baseline.render(), reversed.render());
        assert_eq!(Baseline::parse(&baseline.render()), Ok(baseline));
    }

    #[test]
    fn other_files_are_refused() {
        for text in [
            "",
            "{}",
            "[]",
            "{\"tool\":\"x\",\"version\":1,\"findings\":[]}",
            "{\"tool\":\"selvedge\",\"version\":2,\"findings\":[]}",
            "{\"tool\":\"selvedge\",\"version\":1,\"findings\":[{\"file\":\"a\"}]}",
        ] {
            assert!(Baseline::parse(text).is_err(), "{text}");
        }
    }
}
