//! # Idea
//! The findings as `JUnit` XML, for the dashboards of CI servers: a suite per file; in it a failed test
//! per finding, a skipped one per finding that does not count, and per kind of finding without any a
//! passed test, or one with an error if questions were left open. A file that could not be read is a
//! suite with an error.
//!
//! Names are stable: those of failed tests end with the finding's fingerprint, so a dashboard
//! recognises them when lines move.
//!
//! # Source
//! The format has no standard; this keeps to what the schemas of Ant and of Jenkins have in common,
//! except that suites have no `hostname` and no `timestamp`. XML 1.0, §2.2 for the characters that
//! are allowed.
//!
//! # Invariants
//! 1. The same findings give the same bytes, except for `time`.

use crate::checks::{Checks, Standing, all_findings};
use crate::describe::{count, kind_name, proved};
use crate::escape::visible;
use crate::findings_text::render_finding;
use crate::interleaving::Detail;
use crate::terminal::Terminal;
use selvedge_base::{LineIndex, Place};
use selvedge_program::{CheckedFile, Finding, FindingKind, Tally};
use std::fmt::Write as _;

/// The width of the interleavings.
const WIDTH: usize = 100;
/// Characters of an interleaving; servers cut or refuse longer ones.
const LONGEST: usize = 60_000;

/// Renders the findings.
pub fn render(checks: &Checks<'_>) -> String {
    let mut suites: Vec<Suite> = checks.files.iter().map(suite).collect();
    suites.extend(complaint_suites(checks));
    let sum = |number: fn(&Suite) -> usize| suites.iter().map(number).sum::<usize>();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"selvedge\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\">",
        sum(|suite| suite.cases.len()),
        sum(Suite::failures),
        sum(Suite::errors),
        checks.elapsed.as_secs_f64()
    );
    for suite in &suites {
        suite.write(&mut out);
    }
    out.push_str("</testsuites>\n");
    out
}

struct Suite {
    name: String,
    cases: Vec<Case>,
}

struct Case {
    class: String,
    name: String,
    outcome: Outcome,
}

enum Outcome {
    Passed { output: String },
    Failed { kind: &'static str, message: String, text: String },
    Error { kind: &'static str, message: String },
    Skipped { message: String },
}

impl Suite {
    fn failures(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed { .. })).count()
    }

    fn errors(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Error { .. })).count()
    }

    fn write(&self, out: &mut String) {
        let skipped = |case: &&Case| matches!(case.outcome, Outcome::Skipped { .. });
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" \
             time=\"0\">",
            escaped(&self.name),
            self.cases.len(),
            self.failures(),
            self.errors(),
            self.cases.iter().filter(skipped).count()
        );
        for case in &self.cases {
            let _ = writeln!(
                out,
                "    <testcase classname=\"{}\" name=\"{}\" time=\"0\">",
                escaped(&case.class),
                escaped(&case.name)
            );
            let _ = match &case.outcome {
                Outcome::Passed { output } => {
                    writeln!(out, "      <system-out>{}</system-out>", escaped(output))
                }
                Outcome::Failed { kind, message, text } => writeln!(
                    out,
                    "      <failure type=\"{kind}\" message=\"{}\">{}</failure>",
                    escaped(message),
                    escaped_lines(text)
                ),
                Outcome::Error { kind, message } => writeln!(
                    out,
                    "      <error type=\"{}\" message=\"{}\"/>",
                    escaped(kind),
                    escaped(message)
                ),
                Outcome::Skipped { message } => {
                    writeln!(out, "      <skipped message=\"{}\"/>", escaped(message))
                }
            };
            out.push_str("    </testcase>\n");
        }
        out.push_str("  </testsuite>\n");
    }
}

fn suite(file: &CheckedFile) -> Suite {
    let mut cases: Vec<Case> = all_findings(file)
        .map(|(finding, standing)| Case {
            class: file.file.clone(),
            name: case_name(finding, file),
            outcome: match standing {
                Standing::Counted => failure(finding, file),
                Standing::Suppressed(why) => {
                    Outcome::Skipped { message: format!("suppressed: {why}") }
                }
                Standing::Known => {
                    Outcome::Skipped { message: "known from the baseline".to_owned() }
                }
            },
        })
        .collect();
    for &(kind, tally) in &file.tallies {
        let found = all_findings(file).any(|(finding, _)| finding.kind == kind);
        let outcome = match (tally.unknown, found) {
            (0, true) => continue,
            (0, false) => Outcome::Passed { output: proof(kind, tally) },
            (unknown, _) => {
                let why = file.open.join("; ");
                let message = format!("{} left open: {why}", count(unknown, "question"));
                Outcome::Error { kind: "unknown", message }
            }
        };
        let name = format!("no {}", kind_name(kind));
        cases.push(Case { class: file.file.clone(), name, outcome });
    }
    Suite { name: file.file.clone(), cases }
}

fn proof(kind: FindingKind, tally: Tally) -> String {
    format!("proved with {}: {}", count(tally.questions, "question"), proved(kind))
}

fn case_name(finding: &Finding, file: &CheckedFile) -> String {
    let threads = finding.threads.iter().map(|&id| file.program.threads[id].name.as_str());
    let threads: Vec<&str> = threads.collect();
    let fingerprint: String = finding.fingerprint.chars().take(12).collect();
    format!("{} of {} [{fingerprint}]", kind_name(finding.kind), threads.join(" and "))
}

fn failure(finding: &Finding, file: &CheckedFile) -> Outcome {
    let place = finding.places.first().copied().unwrap_or(Place::NONE);
    let at = match place {
        Place::NONE => String::new(),
        place => format!("{}:{place}: ", file.file),
    };
    let text = render_finding(finding, file, Detail::Events, Terminal::plain(WIDTH));
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push_str("…\n");
    }
    Outcome::Failed {
        kind: finding.kind.rule(),
        message: format!("{at}{}", finding.reason),
        text: format!("\n{short}"),
    }
}

/// A suite per file that has an error.
fn complaint_suites(checks: &Checks<'_>) -> Vec<Suite> {
    let mut suites: Vec<Suite> = Vec::new();
    for (source, complaint) in &checks.complaints {
        if !complaint.is_error() {
            continue;
        }
        let at = complaint.primary.as_ref().map_or(String::new(), |label| {
            format!("{}: ", LineIndex::new(source.text).place(label.span.start))
        });
        let case = Case {
            class: source.name.to_owned(),
            name: "input is well-formed".to_owned(),
            outcome: Outcome::Error {
                kind: complaint.code,
                message: format!("{at}{}", complaint.message),
            },
        };
        match suites.iter_mut().find(|suite| suite.name == source.name) {
            Some(suite) => {
                let name = format!("{} [{}]", case.name, suite.cases.len() + 1);
                suite.cases.push(Case { name, ..case });
            }
            None => suites.push(Suite { name: source.name.to_owned(), cases: vec![case] }),
        }
    }
    suites
}

/// Text of several lines for XML.
fn escaped_lines(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

/// One line of text for XML, inside and outside of quotes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' => out.push_str("&#9;"),
            // Not characters of XML.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_end_an_attribute() {
        assert_eq!(escaped("a<b>&\"'\u{1b}\u{ffff}"), "a&lt;b&gt;&amp;&quot;&apos;␛\u{fffd}");
        assert_eq!(escaped("]]>\n"), "]]&gt;␊");
        assert_eq!(escaped_lines("a\n<"), "a\n&lt;");
    }
}
