//! # Idea
//! Where findings and answers go: to the screen or a file in the form that was asked for, and to a page
//! for the browser.

use super::open;
use super::outputs::{self, FileKind, OutputFile};
use crate::args::ReportOptions;
use crate::exit::Exit;
use crate::output::Output;
use selvedge_library::render::{self, Extent};
use selvedge_report::{Answers, Checks, Terminal};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Prints the findings, or writes them into a file; those of a part of a run with the JSON of what belongs
/// to it. Says whether somebody still reads.
///
/// # Errors
/// If they cannot be written; that has been said.
pub fn report(
    checks: &Checks<'_>,
    shard: Option<&str>,
    report: &ReportOptions,
    extent: Extent,
    output: Output,
) -> Result<bool, Exit> {
    publish(report, output, |terminal, out| match shard {
        Some(shard) => render::write_part(checks, shard, extent, out),
        None => render::write_checks(checks, report.format, extent, terminal, out),
    })
}

/// Prints the answers of one analysis, or writes them into a file, and the page for the browser as
/// well if it is wanted.
///
/// # Errors
/// If something cannot be written; that has been said.
pub fn answers(
    answers: &Answers<'_>,
    report: &ReportOptions,
    extent: Extent,
    output: Output,
) -> Result<(), Exit> {
    refuse(report, &[PathBuf::from(answers.source.name)], output)?;
    publish(report, output, |terminal, out| {
        render::write_answers(answers, report.format, extent, terminal, out)
    })?;
    page(report, output, || render::page_of_answers(answers, extent.most))?;
    if report.open {
        open_page(report, output);
    }
    Ok(())
}

/// Writes the page for the browser, if it is wanted.
///
/// # Errors
/// If it cannot be written; that has been said.
pub fn page(
    report: &ReportOptions,
    output: Output,
    page: impl FnOnce() -> String,
) -> Result<(), Exit> {
    let Some(path) = &report.html else { return Ok(()) };
    write_file(path, page().as_bytes(), output)?;
    output.remark(&format!("The report for the browser is in {}\n", path.display()));
    Ok(())
}

/// Refuses outputs that would destroy something.
///
/// # Errors
/// If one would; that has been said.
pub fn refuse(report: &ReportOptions, inputs: &[PathBuf], output: Output) -> Result<(), Exit> {
    refuse_all(&outputs_of(report), inputs, output)
}

/// The same for any outputs.
///
/// # Errors
/// If one would destroy something; that has been said.
pub fn refuse_all(
    outputs: &[OutputFile<'_>],
    inputs: &[PathBuf],
    output: Output,
) -> Result<(), Exit> {
    match outputs::refusal(outputs, inputs) {
        None => Ok(()),
        Some(why) => {
            output.complain(&why);
            Err(Exit::BadInput)
        }
    }
}

/// The files that a report goes to.
pub fn outputs_of(report: &ReportOptions) -> Vec<OutputFile<'_>> {
    let kind = FileKind::of_format(report.format);
    let text = report.output.as_deref().map(|path| OutputFile { option: "--output", path, kind });
    let kind = FileKind::Page;
    let page = report.html.as_deref().map(|path| OutputFile { option: "--html", path, kind });
    text.into_iter().chain(page).collect()
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
    outputs::write(path, bytes).map_err(|error| {
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
