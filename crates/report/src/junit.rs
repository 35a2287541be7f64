//! # Idea
//! The findings as `JUnit` XML, for the dashboards of CI servers: a suite per file; in it a failed test
//! per finding (whose class is the file that it lies in), a skipped one per finding that does not count, and per kind of finding without any a
//! passed test, or one with an error if questions were left open. Of a kind without a question there is no
//! test; where there is no question at all, one test says why. A file that could not be read is a suite with
//! an error.
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

use crate::causes::sentences;
use crate::checks::{Checks, Standing, all_findings};
use crate::describe::{
    NOTHING_SHARED, count, finding_name, kind_name, not_asked, open_reasons, proved,
};
use crate::escape::visible;
use crate::findings_text::render_finding;
use crate::interleaving::Detail;
use crate::places::{first_place, located, other_file};
use crate::terminal::Terminal;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use selvedge_base::{LineIndex, Place};
use selvedge_findings::{CheckedFile, Finding, FindingKind, Tally};
use std::time::Duration;

/// The width of the interleavings.
const WIDTH: usize = 100;
/// Characters of an interleaving; servers cut or refuse longer ones.
const LONGEST: usize = 60_000;

/// Renders the findings.
pub fn render(checks: &Checks<'_>) -> String {
    let mut report = Report::new("selvedge");
    report.set_time(checks.elapsed);
    report.add_test_suites(checks.files.iter().map(suite));
    report.add_test_suites(complaint_suites(checks));
    report.to_string().expect("a text in memory takes all that is written")
}

fn suite(file: &CheckedFile) -> TestSuite {
    let mut suite = empty_suite(&file.file);
    for (finding, standing) in all_findings(file) {
        let status = match standing {
            Standing::Counted => failure(finding, file),
            Standing::Suppressed(why) => skipped(&format!("suppressed: {why}")),
            Standing::Known => skipped("known from the baseline"),
        };
        // Dashboards group tests by this name.
        let lies_in = other_file(first_place(finding), &file.program).unwrap_or(&file.file);
        suite.add_test_case(case(lies_in, &case_name(finding, file), status));
    }
    for &(kind, tally) in file.tallies.iter().filter(|(_, tally)| tally.questions > 0) {
        let name = format!("no {}", kind_name(kind));
        let found = all_findings(file).any(|(finding, _)| finding.kind == kind);
        match (tally.unknown, found) {
            (0, true) => {}
            // They are among the conflicts of another finding, with the same cause.
            (0, false) if tally.violated > 0 => {}
            (0, false) if tally.proved() == 0 => {
                let status = skipped("not asked: nothing in the model could be a case of it");
                suite.add_test_case(case(&file.file, &name, status));
            }
            (0, false) => {
                let mut passed = case(&file.file, &name, TestCaseStatus::success());
                passed.set_system_out(line(&proof(kind, tally)));
                suite.add_test_case(passed);
            }
            (unknown, _) => {
                let why = open_reasons(file).join("; ");
                let message = format!("{} left open: {why}", count(unknown, "question"));
                suite.add_test_case(case(&file.file, &name, error("unknown", &message)));
            }
        }
    }
    for &kind in &file.not_asked {
        let (name, why) = (format!("no {}", kind_name(kind)), not_asked(kind));
        suite.add_test_case(case(&file.file, &name, skipped(&format!("not asked: {why}"))));
    }
    if !file.claims.is_empty() {
        suite.set_system_out(line(&file.claims.join(" ")));
    }
    if file.tallies.iter().all(|(_, tally)| tally.questions == 0) {
        suite.add_test_cases(without_question(file));
    }
    suite
}

/// The test of a file about which there is no question of a kind of finding.
fn without_question(file: &CheckedFile) -> Option<TestCase> {
    let why = open_reasons(file);
    if !why.is_empty() {
        // Which states can be reached is a question about no kind.
        let status = error("unknown", &why.join("; "));
        Some(case(&file.file, "everything is known", status))
    } else if file.nothing_shared {
        Some(case(&file.file, NOTHING_SHARED, TestCaseStatus::success()))
    } else if file.tallies.is_empty() {
        None
    } else {
        let status = skipped("no question arises");
        Some(case(&file.file, "there is a question to ask", status))
    }
}

/// A suite without tests yet. Questions are not timed one by one, and some servers want a time.
fn empty_suite(file: &str) -> TestSuite {
    let mut suite = TestSuite::new(line(file));
    suite.set_time(Duration::ZERO);
    suite
}

fn case(file: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(line(name), status);
    case.set_classname(line(file)).set_time(Duration::ZERO);
    case
}

fn proof(kind: FindingKind, tally: Tally) -> String {
    format!("proved with {}: {}", count(tally.questions, "question"), proved(kind))
}

fn case_name(finding: &Finding, file: &CheckedFile) -> String {
    let threads = finding.threads.iter().map(|&id| file.program.threads[id].name.as_str());
    let threads: Vec<&str> = threads.collect();
    let fingerprint: String = finding.fingerprint.chars().take(12).collect();
    let of =
        if threads.is_empty() { String::new() } else { format!(" of {}", threads.join(" and ")) };
    format!("{}{of} [{fingerprint}]", finding_name(finding))
}

fn failure(finding: &Finding, file: &CheckedFile) -> TestCaseStatus {
    let at = match first_place(finding) {
        Place::NONE => String::new(),
        place => format!("{}: ", located(&file.file, place, &file.program)),
    };
    let text = render_finding(finding, file, Detail::Events, Terminal::plain(WIDTH));
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push_str("…\n");
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status
        .set_type(finding.kind.rule())
        .set_message(line(&format!("{at}{}", sentences(finding))))
        .set_description(lines(&format!("\n{short}")));
    status
}

fn error(kind: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(line(kind)).set_message(line(message));
    status
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(line(message));
    status
}

/// A suite per file that has an error.
fn complaint_suites(checks: &Checks<'_>) -> Vec<TestSuite> {
    let mut suites: Vec<(&str, TestSuite)> = Vec::new();
    for (source, complaint) in &checks.complaints {
        if !complaint.is_error() {
            continue;
        }
        let at = complaint.primary.as_ref().map_or(String::new(), |label| {
            format!("{}: ", LineIndex::new(source.text).place(label.span.start))
        });
        let status = error(complaint.code, &format!("{at}{}", complaint.message));
        let known = suites.iter().position(|(file, _)| *file == source.name);
        let known = known.unwrap_or_else(|| {
            suites.push((source.name, empty_suite(source.name)));
            suites.len() - 1
        });
        let suite = &mut suites[known].1;
        let name = match suite.tests {
            0 => "input is well-formed".to_owned(),
            before => format!("input is well-formed [{}]", before + 1),
        };
        suite.add_test_case(case(source.name, &name, status));
    }
    suites.into_iter().map(|(_, suite)| suite).collect()
}

/// Text of several lines for XML.
fn lines(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// One line of text for XML, without characters that XML does not have and without those that do
/// not survive in an attribute.
fn line(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' => '␉',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c => c,
    };
    visible(text).chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_end_an_attribute() {
        let hostile = "a<b>&\"'\u{1b}[0m\u{ffff}\t";
        let mut report = Report::new("selvedge");
        let mut suite = empty_suite(hostile);
        let mut status = skipped(hostile);
        status.set_description(lines("]]>\n<"));
        suite.add_test_case(case(hostile, "]]>\n", status));
        report.add_test_suite(suite);
        let written = report.to_string().expect("XML");
        let escaped = "\"a&lt;b&gt;&amp;&quot;&apos;␛[0m\u{fffd}␉\"";
        assert_eq!(written.matches(escaped).count(), 3, "{written}");
        assert!(written.contains("name=\"]]&gt;␊\""), "{written}");
        assert!(written.contains(">]]&gt;\n&lt;</skipped>"), "{written}");
        let read = Report::deserialize_from_str(&written).expect("XML");
        assert_eq!(read.test_suites[0].name.as_str(), line(hostile));
    }
}
