//! # Idea
//! A limit that is met while files are read is an outcome like any other: nothing is known of the
//! model, and the report says so in the form that was asked for, so that who parses it need not guess.

use crate::args::ReportOptions;
use crate::check::publish;
use crate::exit::Exit;
use crate::output::Output;
use crate::watchdog::Watch;
use selvedge_library::render::{Extent, Format};
use selvedge_program::{Program, Statistics, Unknown};
use selvedge_report::{Answers, Asked, Source};
use std::path::Path;

/// An analysis whose files may not be read before a limit.
pub struct Unread<'a> {
    /// The model.
    pub file: &'a Path,
    /// What is asked about it.
    pub asked: Asked<'a>,
    /// The engine that was named.
    pub engine: &'a str,
    /// What becomes of the answers.
    pub report: &'a ReportOptions,
    /// The limits.
    pub watch: &'a Watch,
}

impl Unread<'_> {
    /// Reports that nothing is known if a limit ended the reading; a mistake has been printed. In text
    /// the limit has been, too.
    pub fn publish(self, exit: Exit, output: Output) -> Exit {
        let Self { file, asked, engine, report, watch } = self;
        let text = report.format == Format::Text && report.output.is_none();
        let Some(reason) = watch.budget().stopped().filter(|_| exit == Exit::Unknown && !text)
        else {
            return exit;
        };
        let name = file.display().to_string();
        let answers = Answers {
            source: Source { name: &name, text: "" },
            program: &Program::default(),
            asked,
            threads: &[],
            locations: &[],
            engine,
            chosen: None,
            answers: &[],
            not_listed: (0, 0),
            unasked: Some(&Unknown::Stopped(reason)),
            nothing_shared: false,
            left_out: Vec::new(),
            statistics: &Statistics::default(),
            elapsed: watch.elapsed(),
            peak_memory: watch.peak_memory(),
            warnings: Vec::new(),
            portfolio: None,
        };
        let extent = Extent { witnesses: None, most: None, verbose: false, stats: false };
        publish::answers(&answers, report, extent, output).err().unwrap_or(exit)
    }
}
