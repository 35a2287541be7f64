//! # Idea
//! The end of a run, whether its files were analysed here or its parts elsewhere: findings that do not
//! count are set aside, the outcome is told in every form that was asked for, and becomes an exit code.
//!
//! # Invariants
//! 1. Of several outcomes the exit code is that of the first of: an internal error, bad input, a
//!    violation, an open question, safe.

use super::analyse::Analysed;
use super::files::relative;
use super::publish;
use crate::args::ReportOptions;
use crate::args::check::ShownOptions;
use crate::exit::Exit;
use crate::input::Text;
use crate::output::Output;
use selvedge_base::Diagnostic;
use selvedge_findings::{CheckedFile, FindingKind};
use selvedge_library::baseline::{self, Baseline};
use selvedge_library::file::Loaded;
use selvedge_library::render::{self, Extent};
use selvedge_library::suppress::{self, Suppression};
use selvedge_program::Program;
use selvedge_report::{Checks, DefaultLimits, RunSettings};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many findings are shown in full if nothing else is said.
const SHOWN_FINDINGS: usize = 10;

/// A run of which everything is known.
pub struct Run<'a> {
    /// The files.
    pub loaded: &'a [Loaded],
    /// What was found in them.
    pub analysed: Analysed,
    /// What does not count.
    pub aside: Aside<'a>,
    /// How many files of other kinds there are.
    pub other_files: usize,
    /// The options in words.
    pub options: &'a str,
    /// The limits of each file with data, if the user set none.
    pub limits_for_data: Option<DefaultLimits>,
    /// How many interleavings at most, if a limit asks for that.
    pub most_interleavings: Option<usize>,
    /// How long it took.
    pub elapsed: Duration,
    /// The largest memory use that was seen, in bytes.
    pub peak_memory: Option<u64>,
    /// If it is a part of a run, what is needed to put it together with the others, as JSON.
    pub shard: Option<String>,
}

/// The findings that do not count.
pub struct Aside<'a> {
    /// Those that the configuration suppresses.
    pub suppressions: &'a [Suppression],
    /// The configuration.
    pub config: Option<&'a Text>,
    /// The name of a file as seen from the folder of the configuration.
    pub name_for_config: &'a dyn Fn(&str) -> String,
    /// Those that are known.
    pub baseline: Option<&'a Baseline>,
    /// The name of a file as seen from the folder of the baseline.
    pub name_for_baseline: &'a dyn Fn(&str) -> String,
    /// What was looked for.
    pub kinds: &'a [FindingKind],
    /// Whether something may be missing without being gone.
    pub is_part: bool,
}

/// Where the outcome goes.
pub struct Telling<'a> {
    /// In which form where.
    pub report: &'a ReportOptions,
    /// How much of it.
    pub shown: ShownOptions,
    /// Whether what it cost is told.
    pub stats: bool,
    /// Where the known findings of the next run go.
    pub write_baseline: Option<&'a PathBuf>,
    /// Whether the page is shown in a browser.
    pub open: bool,
}

/// How a run ended.
pub struct Ended {
    /// The outcome.
    pub exit: Exit,
    /// Whether somebody reads what is printed.
    pub somebody_reads: bool,
    /// Whether it was stopped because a file changed meanwhile; nothing was shown then.
    pub outdated: bool,
}

/// Ends a run.
pub fn finish(run: Run<'_>, telling: &Telling<'_>, output: Output) -> Ended {
    let Run { loaded, mut analysed, aside, other_files, elapsed, peak_memory, .. } = run;
    let mut exits = vec![Exit::Success];
    let mut somebody_reads = true;
    for bug in &analysed.bugs {
        output.complain(&format!("internal error: {bug}"));
        exits.push(Exit::Internal);
    }
    let stopped = loaded.iter().filter(|file| file.stopped);
    analysed
        .files
        .extend(stopped.map(|file| unread(&file.text.name, file.complaints[0].message.clone())));
    let unused = set_aside(&aside, &mut analysed.files, output);
    let said = loaded.iter().flat_map(Loaded::said);
    let mut complaints: Vec<_> = said.map(|(text, said)| (text.source(), said)).collect();
    for (text, said) in &analysed.warnings {
        output.diagnostics(std::slice::from_ref(said), &text.source());
        complaints.push((text.source(), said));
    }
    if let Some(config) = aside.config {
        complaints.extend(unused.iter().map(|complaint| (config.source(), complaint)));
    }
    if let Some(most) = run.most_interleavings {
        say_left_out(render::leave_out(&mut analysed.files, most), output);
    }
    let (options, limits_for_data) = (run.options, run.limits_for_data);
    let settings = RunSettings { options, limits_for_data, exit: None, peak_memory };
    let checks = Checks { files: &analysed.files, complaints, other_files, settings, elapsed };
    exits.push(verdict(&checks));
    let ShownOptions { max_findings, no_witness, verbose } = telling.shown;
    let extent = Extent {
        witnesses: (!no_witness).then(|| max_findings.unwrap_or(SHOWN_FINDINGS)),
        most: None,
        verbose,
        stats: telling.stats,
    };
    match publish::report(&checks, run.shard.as_deref(), telling.report, extent, output) {
        Ok(read) => somebody_reads &= read,
        Err(exit) => exits.push(exit),
    }
    let exit = Some(worst(&exits).code());
    let page = || {
        let settings = RunSettings { exit, ..checks.settings };
        render::page_of_checks(&Checks { settings, ..checks.clone() })
    };
    exits.extend(publish::page(telling.report, output, page).err());
    if let Some(path) = telling.write_baseline {
        exits.extend(write_baseline(path, &checks, output).err());
    }
    if telling.open {
        publish::open_page(telling.report, output);
    }
    if telling.stats {
        output.remark(&statistics(&checks, &analysed, peak_memory));
    }
    Ended { exit: worst(&exits), somebody_reads, outdated: false }
}

/// A file of which nothing is known, because a limit was met before it was read.
pub fn unread(name: &str, why: String) -> CheckedFile {
    CheckedFile {
        file: name.to_owned(),
        source: String::new(),
        program: Program::default(),
        findings: Vec::new(),
        suppressed: Vec::new(),
        known: Vec::new(),
        tallies: Vec::new(),
        open: vec![why],
        not_reproducible: true,
        left_out: Vec::new(),
        not_asked: Vec::new(),
        nothing_shared: false,
        claims: Vec::new(),
        sources: std::collections::BTreeMap::new(),
    }
}

/// Says how many interleavings are left out, if any are.
pub fn say_left_out(count: usize, output: Output) {
    if count > 0 {
        let what = selvedge_report::describe::count(count, "interleaving");
        output.warn(&format!("{what} left out, because a limit was met"));
    }
}

/// Sets the findings aside that do not count. Gives the warnings about suppressions.
fn set_aside(aside: &Aside<'_>, files: &mut [CheckedFile], output: Output) -> Vec<Diagnostic> {
    let mut unused = Vec::new();
    if let Some(config) = aside.config {
        unused = suppress::apply(aside.suppressions, files, aside.name_for_config);
        if aside.is_part {
            // The finding that would use it may be another part's.
            unused.clear();
        }
        output.diagnostics(&unused, &config.source());
    }
    if let Some(known) = aside.baseline {
        let (known, kinds) = (known.clone(), aside.kinds);
        let gone = baseline::set_aside(known, files, kinds, aside.name_for_baseline);
        if gone > 0 && !aside.is_part {
            let what = selvedge_report::describe::count(gone, "finding");
            output.warn(&format!(
                "{what} of the baseline {} gone; --write-baseline writes a new one",
                if gone == 1 { "is" } else { "are" }
            ));
        }
    }
    unused
}

fn write_baseline(path: &Path, checks: &Checks<'_>, output: Output) -> Result<(), Exit> {
    if checks.errors() > 0 || checks.totals().tally.unknown > 0 {
        output.warn("the baseline lacks what could not be read or decided");
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let relative = |file: &str| relative(file, folder);
    let baseline: Baseline = baseline::entries(checks.files, &relative).collect();
    publish::write_file(path, baseline.render().as_bytes(), output)
}

fn verdict(checks: &Checks<'_>) -> Exit {
    let open = |file: &CheckedFile| {
        !file.open.is_empty() || file.tallies.iter().any(|(_, tally)| tally.unknown > 0)
    };
    if checks.errors() > 0 {
        Exit::BadInput
    } else if checks.files.iter().any(|file| !file.findings.is_empty()) {
        Exit::Violation
    } else if checks.files.iter().any(open) {
        Exit::Unknown
    } else {
        Exit::Success
    }
}

/// The outcome that the exit code tells.
fn worst(exits: &[Exit]) -> Exit {
    let order = [Exit::Internal, Exit::BadInput, Exit::Violation, Exit::Unknown];
    order.into_iter().find(|exit| exits.contains(exit)).unwrap_or(Exit::Success)
}

fn statistics(checks: &Checks<'_>, analysed: &Analysed, peak_memory: Option<u64>) -> String {
    let totals = checks.totals();
    let mut lines = vec![
        ("files", analysed.files.len() as u64),
        ("from-cache", analysed.from_cache as u64),
        ("questions", totals.tally.questions as u64),
        ("milliseconds", checks.elapsed.as_millis() as u64),
    ];
    lines.extend(peak_memory.map(|bytes| ("peak-memory-bytes", bytes)));
    let mut text = String::new();
    for (name, value) in lines {
        let _ = writeln!(text, "  {name:17}  {value:>12}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_of_outcomes() {
        use Exit::{BadInput, Internal, Success, Unknown, Violation};
        let order = [Internal, BadInput, Violation, Unknown, Success];
        for (at, &high) in order.iter().enumerate() {
            for &low in &order[at..] {
                assert_eq!(worst(&[low, high]), high);
                assert_eq!(worst(&[Success, high, low]), high);
            }
        }
        assert_eq!(worst(&[]), Success);
    }
}
