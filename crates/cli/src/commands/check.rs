//! # Idea
//! `selvedge check`: one run over some files, or one run after each change with `--watch`.

use crate::args::check::{CheckArgs, ListChoice};
use crate::check::analyse::{Analysis, FileLimits, Task, analyse};
use crate::check::cache::{Cache, default_folder};
use crate::check::files::{self, Found, relative};
use crate::check::finish::{Aside, Ended, Run, Telling, finish, unread};
use crate::check::load;
use crate::check::outputs::{FileKind, OutputFile};
use crate::check::publish;
use crate::check::settings::Settings;
use crate::check::shard;
use crate::check::sources;
use crate::check::watch::Look;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::progress;
use crate::shows;
use crate::watchdog::{Limits, Watch, within};
use selvedge_base::{Budget, Diagnostic};
use selvedge_findings::CheckedFile;
use selvedge_library::file::Loaded;
use selvedge_library::render::{Extent, Format};
use selvedge_report::{Checks, RunSettings};
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// With so many complaints about files printed, those about further ones are counted.
const SHOWN_COMPLAINTS: usize = 40;
/// A warning that so many files have got is counted for further ones.
const SHOWN_ALIKE: usize = 3;

/// How many bytes of memory a run uses at most that checks a program in Java, unless somebody says so.
const MEMORY_FOR_JAVA: u64 = 3 << 30;

/// Runs the command.
pub fn run(args: &CheckArgs, output: Output) -> Result<Exit, Exit> {
    if let (Some(shard), false) = (args.shard, args.report.format == Format::Json) {
        let form = args.report.format.name();
        output.complain(&format!(
            "shard {shard} is a part of a report, which `selvedge merge` makes: --format json writes the \
             answers for it, and not {form}"
        ));
        return Err(Exit::BadInput);
    }
    if let Some(what) = args.java.list {
        return list(args, what, output);
    }
    if !args.watch {
        return Ok(once(args, output, Round::Only, None).exit);
    }
    if args.paths.iter().any(|path| path.as_os_str() == "-") {
        output.complain("standard input cannot be watched");
        return Err(Exit::BadInput);
    }
    let mut rounds = 0;
    loop {
        let look = Look::new(args);
        rounds += 1;
        let round = if rounds == 1 { Round::First } else { Round::Later(rounds) };
        let ended = once(args, output, round, Some(&look));
        if ended.outdated && !interrupt::requested() {
            continue;
        }
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

/// One run; with a look at the files it ends as soon as they look different.
fn once(args: &CheckArgs, output: Output, round: Round, look: Option<&Look>) -> Ended {
    let start = Instant::now();
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
            let exit = nothing_read(exit, &files, args, start, output);
            return Ended { exit, somebody_reads, outdated: false };
        }
    };
    let mut watch = Watch::new(limits(settings.timeout, settings.memory, start), start);
    drop(first);
    if let Err(exit) = refuse_outputs(args, &settings, output) {
        return Ended { exit, somebody_reads: false, outdated: false };
    }
    let Read { loaded, identities, other_files } = read(args, &settings, output, watch.budget());
    let shows = match shows::of_files(&args.show, &loaded, output) {
        Ok(shows) => shows,
        Err(exit) => return Ended { exit, somebody_reads, outdated: false },
    };
    let has_java = loaded.iter().any(|one| one.java.is_some());
    if has_java && settings.memory.is_none() && watch.budget().stopped().is_none() {
        watch = Watch::new(limits(settings.timeout, Some(MEMORY_FOR_JAVA), start), start);
    }
    let cache = cache(args, output);
    let analysis = Analysis {
        options: &settings.options,
        task: args.shard.map_or(Task::Whole, |shard| Task::Part(shard, &identities)),
        budget: watch.budget(),
        limits: FileLimits::new(args.max_work, settings.timeout),
        cache: cache.as_ref(),
        jobs: args.jobs,
        progress: args.progress || progress::wanted(),
        confirm: args.java.confirm.is_some().then_some(&args.java),
    };
    let work = || analyse(&loaded, &analysis);
    let analysed = match look {
        Some(look) => look.during(args, watch.budget(), work),
        None => Some(work()),
    };
    let Some(mut analysed) = analysed else {
        return Ended { exit: Exit::Unknown, somebody_reads, outdated: true };
    };
    for file in &mut analysed.files {
        sources::add(file, &args.java.source, watch.budget());
        shows.evaluate_file(file, watch.budget());
    }
    let folder = |path: &Path| path.parent().unwrap_or(Path::new("")).to_owned();
    let config = settings.config.as_ref();
    let config_folder = config.map(|config| folder(&config.path)).unwrap_or_default();
    let baseline_folder = args.baseline.as_deref().map(folder).unwrap_or_default();
    let name_for_config = |file: &str| relative(file, &config_folder);
    let name_for_baseline = |file: &str| relative(file, &baseline_folder);
    let aside = Aside {
        suppressions: &settings.suppressions,
        config: config.map(|config| &config.text),
        name_for_config: &name_for_config,
        baseline: settings.baseline.as_ref(),
        name_for_baseline: &name_for_baseline,
        kinds: &settings.options.kinds,
        is_part: args.shard.is_some(),
    };
    let most_interleavings = watch.most_interleavings();
    let shard = args.shard.map(|shard| {
        let part = shard::StoredPart { shard, settings: &settings, max_work: args.max_work };
        let few = most_interleavings.is_some();
        part.render(&loaded, &identities, other_files, few, &analysed, &aside)
    });
    let run = Run {
        loaded: &loaded,
        analysed,
        aside,
        other_files,
        options: &settings.summary,
        limits_for_data: analysis.limits.for_data(&loaded),
        most_interleavings,
        elapsed: start.elapsed(),
        peak_memory: watch.peak_memory(),
        shard,
    };
    let telling = Telling {
        report: &args.report,
        shown: args.shown,
        stats: args.stats,
        write_baseline: args.write_baseline.as_ref(),
        open: args.report.open && round_opens(round),
    };
    let ended = finish(run, &telling, output);
    Ended { somebody_reads: somebody_reads && ended.somebody_reads, ..ended }
}

/// Lists what was understood of programs in Java.
fn list(args: &CheckArgs, what: ListChoice, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let memory = args.memory.map(|memory| memory.saturating_mul(1 << 20));
    let watch = Watch::new(limits(args.timeout, memory, start), start);
    let java = Settings::read(args, output, watch.budget())?.java;
    let Found { files: found, mistakes, .. } = files::find(&args.paths);
    let mut loaded: Vec<Loaded> = mistakes.into_iter().map(load::nothing).collect();
    loaded.extend(found.iter().map(|one| load::load(one, &[], &java, watch.budget())));
    say(&loaded, output);
    let mut exit = Exit::Success;
    for file in loaded {
        let name = file.text.name.clone();
        let Some(java) = file.java else {
            if !file.complaints.iter().any(Diagnostic::is_error) {
                output.complain(&format!("{name} is no program in Java: there is nothing to list"));
            }
            exit = Exit::BadInput;
            continue;
        };
        let inner = watch.budget().clone();
        let listed = within(watch.budget(), None, move || java.list(what.into(), &inner));
        match listed.and_then(|listed| listed) {
            Ok(text) => output.print(&text)?,
            Err(reason) => {
                output.complain(&format!("{name} is not listed: {reason}"));
                exit = Exit::Unknown;
            }
        }
    }
    Ok(exit)
}

/// The limits of a run that began at `start`.
pub fn limits(timeout: Option<Duration>, memory: Option<u64>, start: Instant) -> Limits {
    // A deadline beyond what the clock can show is none. How much work a file may be is for the file.
    Limits { deadline: timeout.and_then(|timeout| start.checked_add(timeout)), memory, work: None }
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
    publish::report(&checks, None, &args.report, extent, output).map_or_else(|exit| exit, |_| exit)
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

/// The files of a run.
struct Read {
    loaded: Vec<Loaded>,
    /// What tells each of them from the others, wherever its folder is.
    identities: Vec<String>,
    /// How many files of other kinds there are.
    other_files: usize,
}

/// Reads all files and prints what there is to say about them.
fn read(args: &CheckArgs, settings: &Settings, output: Output, budget: &Budget) -> Read {
    let Found { files: found, mistakes, others: other_files } = files::find(&args.paths);
    let identities = mistakes.iter().map(|one| files::slashed(&one.path));
    let identities = identities.chain(found.iter().map(|one| one.identity.clone())).collect();
    let mut loaded: Vec<Loaded> = mistakes.into_iter().map(load::nothing).collect();
    // A file that is not read to its end leaves time for the others, and to analyse them.
    let pieces = |at: usize| 2 * found.len() - at;
    let restrictions = &settings.restrictions;
    let load =
        |(at, found)| load::load(found, restrictions, &settings.java, &budget.share(pieces(at)));
    loaded.extend(found.iter().enumerate().map(load));
    let config_folder = settings.config.as_ref().and_then(|config| config.path.parent());
    for file in &mut loaded {
        let name = relative(&file.text.name, config_folder.unwrap_or(Path::new("")));
        file.ask_formulas(&settings.formulas, &name);
        file.prepare(&settings.options);
    }
    say(&loaded, output);
    Read { loaded, identities, other_files }
}

/// Prints what there is to say about the files.
pub fn say(loaded: &[Loaded], output: Output) {
    let (mut printed, mut errors, mut warnings) = (0, 0, 0);
    // How many files have got a warning.
    let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
    for file in loaded {
        let beside = file.beside.iter().map(|(text, said)| (text, said));
        for (text, said) in std::iter::once((&file.text, &file.complaints)).chain(beside) {
            // A file that is wrong in many ways has a limit of its own.
            let is_new = |one: &&Diagnostic| {
                one.is_error() || alike.get(one.code).is_none_or(|&files| files < SHOWN_ALIKE)
            };
            let mut shown: Vec<Diagnostic> = said.iter().filter(is_new).cloned().collect();
            if printed >= SHOWN_COMPLAINTS {
                shown.clear();
            }
            let wrong = |all: &[Diagnostic]| all.iter().filter(|one| one.is_error()).count();
            let (all_wrong, shown_wrong) = (wrong(said), wrong(&shown));
            errors += all_wrong - shown_wrong;
            warnings += (said.len() - all_wrong) - (shown.len() - shown_wrong);
            printed += shown.len();
            output.diagnostics(&shown, &text.source());
            let codes: BTreeSet<&str> = said.iter().map(|one| one.code).collect();
            for code in codes {
                *alike.entry(code).or_default() += 1;
            }
        }
    }
    if errors + warnings > 0 {
        let more = [(errors, "more error"), (warnings, "more warning")].into_iter();
        let more = more.filter(|(number, _)| *number > 0);
        let more = more.map(|(number, what)| selvedge_report::describe::count(number, what));
        let more = more.collect::<Vec<_>>().join(" and ");
        output.warn(&format!("{more}; --format json lists all"));
    }
}

fn cache(args: &CheckArgs, output: Output) -> Option<Cache> {
    // A part of the answers is no answer to keep.
    if args.no_cache || args.shard.is_some() {
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
