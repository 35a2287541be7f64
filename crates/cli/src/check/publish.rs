//! # Idea
//! Where the findings go: to the screen or a file in the form that was asked for, and to a page for
//! the browser.

use crate::args::check::{CheckArgs, ReportFormat};
use crate::exit::Exit;
use crate::output::Output;
use selvedge_report::html::{self, Meta};
use selvedge_report::{
    Checks, Detail, Terminal, findings_json, findings_text, json, junit, sarif, text, witness_dot,
};
use std::io::{self, Write};
use std::path::Path;

/// How many findings are shown in full if nothing else is said.
const SHOWN_FINDINGS: usize = 10;

/// Prints the findings, or writes them into a file. Says whether somebody still reads.
///
/// # Errors
/// If they cannot be written; that has been said.
pub fn report(checks: &Checks<'_>, args: &CheckArgs, output: Output) -> Result<bool, Exit> {
    let Some(path) = &args.output else {
        return output.write_while_read(|out| write(checks, args, output.stdout(), out));
    };
    let mut bytes = Vec::new();
    let written = write(checks, args, output.file(), &mut bytes);
    written.map_err(|error| {
        output.complain(&format!("cannot write the output: {error}"));
        Exit::BadInput
    })?;
    write_file(path, &bytes, output).map(|()| true)
}

/// Writes the page for the browser, if it is wanted.
///
/// # Errors
/// If it cannot be written; that has been said.
pub fn html(
    checks: &Checks<'_>,
    args: &CheckArgs,
    options: &str,
    output: Output,
) -> Result<(), Exit> {
    let Some(path) = &args.html else { return Ok(()) };
    let meta = Meta { tool: "Selvedge", version: env!("CARGO_PKG_VERSION"), options, time: None };
    write_file(path, html::render(checks.files, &meta).as_bytes(), output)
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

fn write(
    checks: &Checks<'_>,
    args: &CheckArgs,
    terminal: Terminal,
    out: &mut dyn Write,
) -> io::Result<()> {
    let witnesses =
        if args.no_witness { json::Witnesses::Omitted } else { json::Witnesses::Included };
    match args.format {
        ReportFormat::Text => {
            let options = findings_text::Options {
                witnesses: if args.no_witness {
                    text::Witnesses::Hidden
                } else {
                    text::Witnesses::First(args.max_findings.unwrap_or(SHOWN_FINDINGS))
                },
                detail: if args.verbose { Detail::Everything } else { Detail::Events },
            };
            out.write_all(findings_text::render(checks, options, terminal).as_bytes())
        }
        ReportFormat::Json => findings_json::write(checks, witnesses, out),
        ReportFormat::Sarif => out.write_all(sarif::render(checks).as_bytes()),
        ReportFormat::Junit => out.write_all(junit::render(checks).as_bytes()),
        ReportFormat::Dot => {
            for file in checks.files {
                for finding in &file.findings {
                    let graph =
                        witness_dot::render(&finding.trace, &finding.threads, &file.program);
                    out.write_all(graph.as_bytes())?;
                }
            }
            Ok(())
        }
    }
}
