//! # Idea
//! `selvedge check`: one run over some files, or one run after each change with `--watch`.
//!
//! # Invariants
//! 1. Of several outcomes the exit code is that of the first of: an internal error, bad input, a
//!    violation, an open question, safe.

use crate::args::check::CheckArgs;
use crate::check::analyse::{Analysed, Analysis, analyse};
use crate::check::cache::{Cache, default_folder};
use crate::check::files::{self, Found, relative};
use crate::check::load;
use crate::check::outputs::{FileKind, OutputFile};
use crate::check::publish;
use crate::check::settings::Settings;
use crate::check::watch::Look;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::watchdog::{Limits, Watch};
use selvedge_base::{Budget, Diagnostic};
use selvedge_findings::CheckedFile;
use selvedge_library::baseline::{self, Baseline};
use selvedge_library::file::Loaded;
use selvedge_library::render::{self, Extent, Format};
use selvedge_library::suppress;
use selvedge_program::Program;
use selvedge_report::{Checks, RunSettings};
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many findings are shown in full if nothing else is said.
const SHOWN_FINDINGS: usize = 10;

/// With so many complaints about files printed, those about further ones are counted.
const SHOWN_COMPLAINTS: usize = 40;

/// How long the analysis of a file with data may take if nothing is said about time.
const TIME_FOR_DATA: Duration = Duration::from_mins(1);

/// Runs the command.
pub fn run(args: &CheckArgs, output: Output) -> Result<Exit, Exit> {
    if !args.watch {
        return Ok(once(args, output, Round::Only).exit);
    }
    if args.paths.iter().any(|path| path.as_os_str() == "-") {
        output.complain("standard input cannot be watched");
        return Err(Exit::BadInput);
    }
    let mut rounds = 0;
    loop {
        let look = Look::new(args);
        rounds += 1;
        let ended =
            once(args, output, if rounds == 1 { Round::First } else { Round::Later(rounds) });
        let last = args.watch_iterations.is_some_and(|most| rounds >= most.get());
        if last || !ended.somebody_reads || interrupt::requested() {
            return Ok(ended.exit);
        }
        if std::io::stderr().is_terminal() {
            output.remark("Waiting for changes; Ctrl-C ends this.\n");
        }
        look.wait(args);
    }
}

/// Which run of several it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Only,
    First,
    Later(usize),
}

/// How a run ended.
struct Ended {
    exit: Exit,
    somebody_reads: bool,
}

fn once(args: &CheckArgs, output: Output, round: Round) -> Ended {
    let start = Instant::now();
    let mut exits = vec![Exit::Success];
    let mut somebody_reads = true;
    if let (Round::Later(number), Format::Text, None) =
        (round, args.report.format, &args.report.output)
    {
        somebody_reads = separate(number, output);
    }
    // The configuration may set limits, and is read under those of the command line.
    let mebibytes = |memory: u64| memory.saturating_mul(1 << 20);
    let first = Watch::new(limits(args.timeout, args.memory.map(mebibytes), start), start);
    let settings = match Settings::read(args, output, first.budget()) {
        Ok(settings) => settings,
        Err(exit) => {
            let files = match first.budget().stopped() {
                Some(reason) if exit == Exit::Unknown => {
                    let why = format!("the settings were not read to their end: {reason}");
                    let names = args.paths.iter().map(|path| path.display().to_string());
                    names.map(|name| unread(&name, why.clone())).collect()
                }
                _ => Vec::new(),
            };
            return Ended { exit: nothing_read(exit, &files, args, start, output), somebody_reads };
        }
    };
    let watch = Watch::new(limits(settings.timeout, settings.memory, start), start);
    drop(first);
    if let Err(exit) = refuse_outputs(args, &settings, output) {
        return Ended { exit, somebody_reads: false };
    }
    let (loaded, other_files) = read(args, &settings, output, watch.budget());
    let cache = cache(args, output);
    let analysis = Analysis {
        options: &settings.options,
        budget: watch.budget(),
        work: args.max_work,
        time_for_data: settings.timeout.is_none().then_some(TIME_FOR_DATA),
        cache: cache.as_ref(),
        jobs: args.jobs,
    };
    let mut analysed = analyse(&loaded, &analysis);
    for bug in &analysed.bugs {
        output.complain(&format!("internal error: {bug}"));
        exits.push(Exit::Internal);
    }
    let stopped = loaded.iter().filter(|file| file.stopped);
    analysed
        .files
        .extend(stopped.map(|file| unread(&file.text.name, file.complaints[0].message.clone())));
    let unused = set_aside(args, &settings, &mut analysed.files, output);
    let said = loaded.iter().flat_map(Loaded::said);
    let mut complaints: Vec<_> = said.map(|(text, said)| (text.source(), said)).collect();
    for (text, said) in &analysed.warnings {
        output.diagnostics(std::slice::from_ref(said), &text.source());
        complaints.push((text.source(), said));
    }
    if let Some(config) = &settings.config {
        complaints.extend(unused.iter().map(|complaint| (config.text.source(), complaint)));
    }
    if let Some(most) = watch.most_interleavings() {
        say_left_out(render::leave_out(&mut analysed.files, most), output);
    }
    let searches = loaded.iter().any(|file| file.program.is_some() && file.goals.has_search());
    let time = analysis.time_for_data.filter(|_| searches);
    let run = RunSettings {
        options: &settings.summary,
        seconds_for_data: time.map(|time| time.as_secs()),
        exit: None,
    };
    let elapsed = start.elapsed();
    let checks = Checks { files: &analysed.files, complaints, other_files, settings: run, elapsed };
    exits.push(verdict(&checks));
    let extent = Extent {
        witnesses: (!args.no_witness).then(|| args.max_findings.unwrap_or(SHOWN_FINDINGS)),
        most: None,
        verbose: args.verbose,
        stats: args.stats,
    };
    match publish::report(&checks, &args.report, extent, output) {
        Ok(read) => somebody_reads &= read,
        Err(exit) => exits.push(exit),
    }
    let exit = Some(worst(&exits).code());
    let page = || {
        let settings = RunSettings { exit, ..checks.settings };
        render::page_of_checks(&Checks { settings, ..checks.clone() })
    };
    exits.extend(publish::page(&args.report, output, page).err());
    exits.extend(write_baseline(args, &checks, output).err());
    if args.report.open && round_opens(round) {
        publish::open_page(&args.report, output);
    }
    if args.stats {
        output.remark(&statistics(&checks, &analysed, watch.peak_memory()));
    }
    Ended { exit: worst(&exits), somebody_reads }
}

/// The limits of a run that began at `start`.
fn limits(timeout: Option<Duration>, memory: Option<u64>, start: Instant) -> Limits {
    // A deadline beyond what the clock can show is none. How much work a file may be is for the file.
    Limits { deadline: timeout.and_then(|timeout| start.checked_add(timeout)), memory, work: None }
}

/// A file of which nothing is known, because a limit was met before it was read.
fn unread(name: &str, why: String) -> CheckedFile {
    CheckedFile {
        file: name.to_owned(),
        source: String::new(),
        program: Program::default(),
        findings: Vec::new(),
        suppressed: Vec::new(),
        known: Vec::new(),
        tallies: Vec::new(),
        open: vec![why],
        left_out: Vec::new(),
    }
}

/// Says how many interleavings are left out, if any are.
pub fn say_left_out(count: usize, output: Output) {
    if count > 0 {
        let what = selvedge_report::describe::count(count, "interleaving");
        output.warn(&format!("{what} left out, because a limit was met"));
    }
}

/// Ends a run that got no further than its settings. A limit is an outcome, so it is reported.
fn nothing_read(
    exit: Exit,
    files: &[CheckedFile],
    args: &CheckArgs,
    start: Instant,
    output: Output,
) -> Exit {
    if files.is_empty() || args.report.format == Format::Text {
        return exit;
    }
    let checks = Checks {
        files,
        complaints: Vec::new(),
        other_files: 0,
        settings: RunSettings::default(),
        elapsed: start.elapsed(),
    };
    let extent = Extent { witnesses: None, most: None, verbose: false, stats: false };
    publish::report(&checks, &args.report, extent, output).map_or_else(|exit| exit, |_| exit)
}

/// A browser that shows the page already needs no second one.
fn round_opens(round: Round) -> bool {
    !matches!(round, Round::Later(_))
}

/// Clears the screen, or draws a line where there is none. Says whether somebody reads it.
fn separate(number: usize, output: Output) -> bool {
    let line = if std::io::stdout().is_terminal() {
        "\u{1b}[2J\u{1b}[H".to_owned()
    } else {
        format!("\n=== check {number} ===\n\n")
    };
    output.write_while_read(|out| out.write_all(line.as_bytes())).unwrap_or(false)
}

/// Refuses outputs that would destroy an input, another output or a file of another kind.
fn refuse_outputs(args: &CheckArgs, settings: &Settings, output: Output) -> Result<(), Exit> {
    let mut outputs = publish::outputs_of(&args.report);
    let option = "--write-baseline";
    let baseline = args.write_baseline.as_deref();
    outputs.extend(baseline.map(|path| OutputFile { option, path, kind: FileKind::Json }));
    let mut inputs: Vec<PathBuf> = Vec::new();
    for found in files::find(&args.paths).files {
        let beside = ["init", "spec"].map(|extension| found.path.with_extension(extension));
        inputs.extend(beside);
        inputs.push(found.path);
    }
    inputs.extend(settings.config.iter().map(|config| config.path.clone()));
    // A baseline may be brought up to date in its place.
    inputs.extend(args.baseline.clone().filter(|path| Some(path) != args.write_baseline.as_ref()));
    publish::refuse_all(&outputs, &inputs, output)
}

/// Reads all files and prints what there is to say about them. Counts files of other kinds.
fn read(
    args: &CheckArgs,
    settings: &Settings,
    output: Output,
    budget: &Budget,
) -> (Vec<Loaded>, usize) {
    let Found { files: found, mistakes, others } = files::find(&args.paths);
    let mut loaded: Vec<Loaded> = mistakes.into_iter().map(load::nothing).collect();
    // A file that is not read to its end leaves time for the others, and to analyse them.
    let pieces = |at: usize| 2 * found.len() - at;
    let restrictions = &settings.restrictions;
    let load = |(at, found)| load::load(found, restrictions, &budget.share(pieces(at)));
    loaded.extend(found.iter().enumerate().map(load));
    let (mut printed, mut errors, mut warnings) = (0, 0, 0);
    for file in &mut loaded {
        file.prepare(&settings.options);
        let beside = file.beside.iter().map(|(text, said)| (text, said));
        for (text, said) in std::iter::once((&file.text, &file.complaints)).chain(beside) {
            // A file that is wrong in many ways has a limit of its own.
            if printed < SHOWN_COMPLAINTS {
                output.diagnostics(said, &text.source());
                printed += said.len();
                continue;
            }
            let wrong = said.iter().filter(|one| one.is_error()).count();
            (errors, warnings) = (errors + wrong, warnings + said.len() - wrong);
        }
    }
    if errors + warnings > 0 {
        let [errors, warnings] = [(errors, "more error"), (warnings, "more warning")]
            .map(|(number, what)| selvedge_report::describe::count(number, what));
        output.warn(&format!("{errors} and {warnings}; --format json lists all"));
    }
    (loaded, others)
}

fn cache(args: &CheckArgs, output: Output) -> Option<Cache> {
    if args.no_cache {
        return None;
    }
    let given = args.cache_dir.clone();
    let folder = given.clone().or_else(default_folder)?;
    match Cache::open(folder) {
        Ok(cache) => Some(cache),
        Err(error) => {
            // Whoever asked for it wants to know; otherwise things just take longer.
            if let Some(given) = given {
                output.warn(&format!("no cache in {}: {error}", given.display()));
            }
            None
        }
    }
}

/// Sets the findings aside that do not count. Gives the warnings about suppressions.
fn set_aside(
    args: &CheckArgs,
    settings: &Settings,
    files: &mut [CheckedFile],
    output: Output,
) -> Vec<Diagnostic> {
    let mut unused = Vec::new();
    if let Some(config) = &settings.config {
        let folder = config.path.parent().unwrap_or(Path::new(""));
        let relative = |file: &str| relative(file, folder);
        unused = suppress::apply(&settings.suppressions, files, &relative);
        output.diagnostics(&unused, &config.text.source());
    }
    if let (Some(path), Some(known)) = (&args.baseline, &settings.baseline) {
        let folder = path.parent().unwrap_or(Path::new(""));
        let relative = |file: &str| relative(file, folder);
        let gone = baseline::set_aside(known.clone(), files, &settings.options.kinds, &relative);
        if gone > 0 {
            let what = selvedge_report::describe::count(gone, "finding");
            output.warn(&format!(
                "{what} of the baseline {} gone; --write-baseline writes a new one",
                if gone == 1 { "is" } else { "are" }
            ));
        }
    }
    unused
}

fn write_baseline(args: &CheckArgs, checks: &Checks<'_>, output: Output) -> Result<(), Exit> {
    let Some(path) = &args.write_baseline else { return Ok(()) };
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
