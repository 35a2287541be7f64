//! # Idea
//! What becomes of findings and answers: one of the forms that `report` knows, as a door asks for it.
//! Text and JSON have every answer of an analysis; the other forms have findings.

use selvedge_findings::{CheckedFile, Finding};
use selvedge_program::Program;
use selvedge_report::html::{self, Meta};
use selvedge_report::{
    Answers, Checks, Detail, RunSettings, Terminal, findings_json, findings_text, json, junit,
    sarif, text, witness_dot,
};
use std::io::{self, Write};

/// Forms of an outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people.
    Text,
    /// For programs: one object.
    Json,
    /// For code hosts: SARIF 2.1.0.
    Sarif,
    /// For CI dashboards: XML as test runners write it.
    Junit,
    /// Graphviz: one graph, with the interleaving of each finding.
    Dot,
}

impl Format {
    /// All forms.
    pub const ALL: [Self; 5] = [Self::Text, Self::Json, Self::Sarif, Self::Junit, Self::Dot];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Sarif => "sarif",
            Self::Junit => "junit",
            Self::Dot => "dot",
        }
    }

    /// What it is for, in a few words.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Text => "For people",
            Self::Json => "For programs: one object; schemas/ has its schema",
            Self::Sarif => "For code hosts: SARIF 2.1.0",
            Self::Junit => "For CI dashboards: XML as test runners write it",
            Self::Dot => "Graphviz: one graph, with the interleaving of each finding",
        }
    }
}

/// How much of the outcome to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// How many interleavings, if any.
    pub witnesses: Option<usize>,
    /// How many interleavings at most in forms that have all of them, if a limit asks for that:
    /// [`AFTER_A_LIMIT`].
    pub most: Option<usize>,
    /// Whether with every step of them.
    pub verbose: bool,
    /// Whether with what the work cost.
    pub stats: bool,
}

impl Extent {
    /// Everything but what the work cost and steps without an event.
    pub const ALL: Self =
        Self { witnesses: Some(usize::MAX), most: None, verbose: false, stats: false };

    fn detail(self) -> Detail {
        if self.verbose { Detail::Everything } else { Detail::Events }
    }

    fn shown(self) -> text::Witnesses {
        self.witnesses.map_or(text::Witnesses::Hidden, text::Witnesses::First)
    }

    fn included(self) -> json::Witnesses {
        match (self.witnesses, self.most) {
            (None, _) => json::Witnesses::Omitted,
            (Some(_), None) => json::Witnesses::Included,
            (Some(_), Some(most)) => json::Witnesses::First(most),
        }
    }
}

/// So many interleavings are written where a limit was met: a report is completed then, and must not
/// take noticeably longer than the limit. Every further finding is named without its interleaving.
pub const AFTER_A_LIMIT: usize = 500;

/// Leaves out all interleavings but the first `most`. Says how many these are.
pub fn leave_out(files: &mut [CheckedFile], most: usize) -> usize {
    let findings = files.iter_mut().flat_map(|file| {
        let suppressed = file.suppressed.iter_mut().map(|(finding, _)| finding);
        file.findings.iter_mut().chain(suppressed).chain(&mut file.known)
    });
    findings.skip(most).map(Finding::leave_out_interleaving).count()
}

/// Writes the findings of a check in one of the forms.
///
/// # Errors
/// Those of `out`.
pub fn write_checks(
    checks: &Checks<'_>,
    format: Format,
    extent: Extent,
    terminal: Terminal,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => {
            let options =
                findings_text::Options { witnesses: extent.shown(), detail: extent.detail() };
            out.write_all(findings_text::render(checks, options, terminal).as_bytes())
        }
        Format::Json => findings_json::write(checks, extent.included(), out),
        Format::Sarif => out.write_all(sarif::render(checks).as_bytes()),
        Format::Junit => out.write_all(junit::render(checks).as_bytes()),
        Format::Dot => out.write_all(witness_dot::render_all(checks).as_bytes()),
    }
}

/// Writes a part of a check as JSON, with what is needed to put it together with the other parts.
///
/// # Errors
/// Those of `out`.
pub fn write_part(
    checks: &Checks<'_>,
    shard: &str,
    extent: Extent,
    out: &mut dyn Write,
) -> io::Result<()> {
    findings_json::write_part(checks, extent.included(), Some(shard), out)
}

/// Writes the answers of one analysis in one of the forms.
///
/// # Errors
/// Those of `out`.
pub fn write_answers(
    answers: &Answers<'_>,
    format: Format,
    extent: Extent,
    terminal: Terminal,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => {
            let options = text::Options {
                witnesses: extent.shown(),
                detail: extent.detail(),
                statistics: extent.stats,
            };
            out.write_all(text::render(answers, options, terminal).as_bytes())
        }
        Format::Json => json::write(answers, extent.included(), out),
        other => with_checks(answers, extent.most, |checks| {
            write_checks(checks, other, extent, terminal, out)
        }),
    }
}

/// The page for the browser about a check.
pub fn page_of_checks(checks: &Checks<'_>) -> String {
    let RunSettings { options, limits_for_data, exit, .. } = checks.settings;
    let meta = Meta {
        options,
        complaints: &checks.complaints,
        limits_for_data,
        other_files: checks.other_files,
        exit,
        ..Meta::new("Selvedge", env!("CARGO_PKG_VERSION"))
    };
    html::render(checks.files, &meta)
}

/// The page for the browser about one analysis, with at most so many interleavings.
pub fn page_of_answers(answers: &Answers<'_>, most: Option<usize>) -> String {
    let options = format!("{}; engine {}", answers.asked.analysis(), answers.engine);
    with_checks(answers, most, |checks| {
        let settings = RunSettings { options: &options, ..checks.settings };
        page_of_checks(&Checks { settings, ..checks.clone() })
    })
}

/// The answers of one analysis as `check` would tell them.
fn with_checks<T>(
    answers: &Answers<'_>,
    most: Option<usize>,
    then: impl FnOnce(&Checks<'_>) -> T,
) -> T {
    let mut file = checked_file(answers);
    if let Some(most) = most {
        leave_out(std::slice::from_mut(&mut file), most);
    }
    then(&Checks {
        files: std::slice::from_ref(&file),
        complaints: answers.warnings.clone(),
        other_files: 0,
        settings: RunSettings::default(),
        elapsed: answers.elapsed,
    })
}

/// What the answers show, as `check` would tell it.
fn checked_file(answers: &Answers<'_>) -> CheckedFile {
    let Answers {
        source,
        program,
        asked,
        answers,
        not_listed: (safe, open),
        unasked,
        nothing_shared,
        left_out,
        ..
    } = answers;
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
        not_reproducible: false,
        left_out: left_out.clone(),
        not_asked: Vec::new(),
        nothing_shared: *nothing_shared,
        claims: Vec::new(),
        sources: std::collections::BTreeMap::new(),
    }
}
