//! # Idea
//! Where findings and answers go: to the screen or a file in the form that was asked for, and to a page
//! for the browser.

use super::open;
use crate::args::{Format, ReportOptions};
use crate::exit::Exit;
use crate::output::Output;
use selvedge_findings::CheckedFile;
use selvedge_program::Program;
use selvedge_report::html::{self, Meta};
use selvedge_report::{
    Answers, Checks, Detail, Terminal, findings_json, findings_text, json, junit, sarif, text,
    witness_dot,
};
use std::io::{self, Write};
use std::path::Path;

/// How much of the outcome to show.
#[derive(Clone, Copy)]
pub struct Extent {
    /// How many interleavings, if any.
    pub witnesses: Option<usize>,
    /// Whether with every step of them.
    pub verbose: bool,
    /// Whether with what the work cost.
    pub stats: bool,
}

impl Extent {
    fn detail(self) -> Detail {
        if self.verbose { Detail::Everything } else { Detail::Events }
    }

    fn shown(self) -> text::Witnesses {
        self.witnesses.map_or(text::Witnesses::Hidden, text::Witnesses::First)
    }

    fn included(self) -> json::Witnesses {
        self.witnesses.map_or(json::Witnesses::Omitted, |_| json::Witnesses::Included)
    }
}

/// Prints the findings, or writes them into a file. Says whether somebody still reads.
///
/// # Errors
/// If they cannot be written; that has been said.
pub fn report(
    checks: &Checks<'_>,
    report: &ReportOptions,
    extent: Extent,
    output: Output,
) -> Result<bool, Exit> {
    publish(report, output, |terminal, out| match report.format {
        Format::Text => {
            let options =
                findings_text::Options { witnesses: extent.shown(), detail: extent.detail() };
            out.write_all(findings_text::render(checks, options, terminal).as_bytes())
        }
        Format::Json => findings_json::write(checks, extent.included(), out),
        other => write_findings(checks, other, out),
    })
}

/// Prints the answers of one analysis, or writes them into a file, and the page for the browser as
/// well if it is wanted. Text and JSON have every answer; the other forms have findings.
///
/// # Errors
/// If something cannot be written; that has been said.
pub fn answers(
    answers: &Answers<'_>,
    report: &ReportOptions,
    extent: Extent,
    output: Output,
) -> Result<(), Exit> {
    let as_it_is = matches!(report.format, Format::Text | Format::Json) && report.html.is_none();
    let file = (!as_it_is).then(|| checked_file(answers));
    let checks = Checks {
        files: file.as_slice(),
        complaints: answers.warnings.clone(),
        elapsed: answers.elapsed,
    };
    publish(report, output, |terminal, out| match report.format {
        Format::Text => {
            let options = text::Options {
                witnesses: extent.shown(),
                detail: extent.detail(),
                statistics: extent.stats,
            };
            out.write_all(text::render(answers, options, terminal).as_bytes())
        }
        Format::Json => json::write(answers, extent.included(), out),
        other => write_findings(&checks, other, out),
    })?;
    let options = format!("{}; engine {}", answers.asked.analysis(), answers.engine);
    html(&checks, report, &options, output)?;
    if report.open {
        open_page(report, output);
    }
    Ok(())
}

/// What the answers show, as `check` would tell it.
fn checked_file(answers: &Answers<'_>) -> CheckedFile {
    let Answers { source, program, asked, answers, not_listed: (safe, open), unasked, .. } =
        answers;
    let mut checked =
        selvedge_findings::findings(program, asked.kind(), asked.subject(), answers, *unasked);
    for (_, tally) in &mut checked.tallies {
        tally.questions += (safe + open) as usize;
        tally.safe += *safe as usize;
        tally.unknown += *open as usize;
    }
    CheckedFile {
        file: source.name.to_owned(),
        source: source.text.to_owned(),
        program: Program::clone(program),
        findings: checked.findings,
        suppressed: Vec::new(),
        known: Vec::new(),
        tallies: checked.tallies,
        open: checked.open,
    }
}

/// Writes the page for the browser, if it is wanted.
///
/// # Errors
/// If it cannot be written; that has been said.
pub fn html(
    checks: &Checks<'_>,
    report: &ReportOptions,
    options: &str,
    output: Output,
) -> Result<(), Exit> {
    let Some(path) = &report.html else { return Ok(()) };
    let meta = Meta { tool: "Selvedge", version: env!("CARGO_PKG_VERSION"), options, time: None };
    write_file(path, html::render(checks.files, &meta).as_bytes(), output)
}

/// Shows the page for the browser.
pub fn open_page(report: &ReportOptions, output: Output) {
    if let Some(page) = &report.html
        && let Err(error) = open::open(page)
    {
        output.warn(&format!("{} cannot be opened: {error}", page.display()));
    }
}

/// Writes a file and says so if that fails.
///
/// # Errors
/// If it fails.
pub fn write_file(path: &Path, bytes: &[u8], output: Output) -> Result<(), Exit> {
    std::fs::write(path, bytes).map_err(|error| {
        output.complain(&format!("cannot write {}: {error}", path.display()));
        Exit::BadInput
    })
}

/// Prints, or writes into the file that was asked for. Says whether somebody still reads.
fn publish(
    report: &ReportOptions,
    output: Output,
    write: impl FnOnce(Terminal, &mut dyn Write) -> io::Result<()>,
) -> Result<bool, Exit> {
    let Some(path) = &report.output else {
        return output.write_while_read(|out| write(output.stdout(), out));
    };
    let mut bytes = Vec::new();
    write(output.file(), &mut bytes).map_err(|error| {
        output.complain(&format!("cannot write the output: {error}"));
        Exit::BadInput
    })?;
    write_file(path, &bytes, output).map(|()| true)
}

/// The forms that have findings only.
fn write_findings(checks: &Checks<'_>, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Junit => out.write_all(junit::render(checks).as_bytes()),
        Format::Dot => {
            for file in checks.files {
                for finding in &file.findings {
                    out.write_all(witness_dot::render(finding, &file.program).as_bytes())?;
                }
            }
            Ok(())
        }
        _ => out.write_all(sarif::render(checks).as_bytes()),
    }
}
