//! # Idea
//! `selvedge reach`: from the file and the options to one question about data, from the question to
//! an answer under the limits, from the answer to the screen.

use super::inquiry::exit_of;
use crate::args::EngineChoice;
use crate::args::reach::{ReachArgs, ReductionName, SearchName, StatesForm, StoreName};
use crate::asked;
use crate::check::publish;
use crate::checkpoint::{CheckpointFolder, RunIdentity};
use crate::exit::Exit;
use crate::hosts::{self, Introduction, Seat};
use crate::input::{self, Model, Reading};
use crate::meter::EngineMeter;
use crate::output::Output;
use crate::progress;
use crate::shows;
use crate::unread::Unread;
use crate::watchdog::{Done, Limits, Watch};
use selvedge_analysis::{EngineKind, Journal, Options, SearchMeans};
use selvedge_base::Budget;
use selvedge_library::render::{Extent, Format};
use selvedge_library::{ReachError, ReachOutcome, ReachRequest, reach, reach_by_all};
use selvedge_program::{Bound, Measure, Verdict};
use selvedge_report::{Answers, Asked, Portfolio, Reach, Sought};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

/// How many threads a site may start at most that could start any number, if neither an option nor a
/// limit says where to stop.
const STARTS: u32 = 3;

/// How many it may start at most if there is a limit.
const MOST_STARTS: u32 = 64;

/// How many states one worker stores before the others help, unless their number is given.
const ALONE: u64 = 1 << 15;

/// How many workers there are, unless their number is given.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(64)
}

fn workers(args: &ReachArgs) -> usize {
    args.workers.map_or_else(cores, |workers| workers as usize)
}

/// Runs the command.
pub fn run(args: &ReachArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.limits, start), start);
    let reading = Reading { dialect: args.input.dialect(), starts_per_site: Some(1) };
    let model = input::data_model(&args.input.files, reading, output, watch.budget());
    let model = model.map_err(|exit| unread(args, &watch).publish(exit, output))?;
    let rounds_only = |engine: &EngineKind| !engine.bounds_contexts() && args.contexts.is_some();
    if let Some(engine) = args.engine.and_then(EngineChoice::one).filter(rounds_only) {
        let name = engine.name();
        output.complain(&format!(
            "engine {name} bounds rounds only; use --rounds, or lazy, eager or explicit for contexts"
        ));
        return Err(Exit::BadInput);
    }
    if let Some(message) = misfit(args) {
        output.complain(message);
        return Err(Exit::BadInput);
    }
    let mut model = model;
    model.program.spurious_wakeups |= args.spurious_wakeups;
    let instance = selvedge_analysis::instance(model.program.clone(), &[], args.copies.copies);
    let shows = shows::of(&args.show.show, &instance.program, output)?;
    let means = means(args, &model, &watch, output)?;
    let request = request(args, means.search);
    let (mut reached, portfolio) =
        search(model, &request, args, watch.budget()).map_err(|error| match error {
            ReachError::Wrong(diagnostic) => asked::wrong(&args.asked, *diagnostic, output),
            ReachError::Internal(error) => {
                output.complain(&format!("internal error: {error}"));
                Exit::Internal
            }
        })?;
    if let Some(seat) = &means.seat {
        seat.part();
    }
    // The first process speaks for all; the others say only that there is no answer.
    if means.process > 0 {
        let answers = reached.answers(watch.elapsed(), watch.peak_memory());
        let verdict = reached.report.answers.first().map(|answer| &answer.verdict);
        if let Some(Verdict::Unknown(why)) = verdict {
            output.remark(&format!("unknown: {why}\n"));
        }
        return Ok(Exit::from_verdict(answers.verdict()));
    }
    shows.evaluate_all(&reached.model.program, &mut reached.report.answers, watch.budget());
    output.diagnostics(&reached.report.faults, &reached.model.text.source());
    let answers = reached.answers(watch.elapsed(), watch.peak_memory());
    let answers = Answers { portfolio: portfolio.as_ref(), ..answers };
    let extent = Extent {
        witnesses: (!args.no_witness).then_some(1),
        most: None,
        verbose: args.verbose,
        stats: args.stats,
    };
    publish::answers(&answers, &args.report, extent, output)?;
    let exit = exit_of(&answers, output);
    let kept = args.checkpoint.as_ref().or(args.resume.as_ref());
    if let Some(folder) =
        kept.filter(|_| exit == Exit::Unknown && watch.budget().stopped().is_some())
    {
        output.remark(&format!("go on with --resume {}\n", folder.display()));
    }
    Ok(exit)
}

/// What is wrong with options that do not go together.
fn misfit(args: &ReachArgs) -> Option<&'static str> {
    if let Some(message) = args.cpds.misfit(args.engine) {
        return Some(message);
    }
    let transactions = args.engine == Some(EngineChoice::One(EngineKind::Transactions));
    if args.engine == Some(EngineChoice::All) && (args.projection || args.states.is_some()) {
        return Some("--projection and --states are for one engine; name it with --engine");
    }
    let bounded = args.rounds.is_some() || args.contexts.is_some() || args.projection;
    if transactions && bounded {
        return Some("--rounds, --contexts and --projection do not go with engine transactions");
    }
    if args.engine == Some(EngineChoice::One(EngineKind::Cpds))
        && (bounded || args.states.is_some())
    {
        return Some(
            "--rounds, --contexts, --projection and --states do not go with engine cpds; \
             --max-k bounds it",
        );
    }
    if let Some(message) = for_transactions(args)
        && (bounded || args.engine.is_some() && !transactions)
    {
        return Some(message);
    }
    let permutes = |engine| {
        matches!(engine, EngineKind::Transactions | EngineKind::Explicit | EngineKind::Lazy)
    };
    if args.no_symmetry && !args.engine.and_then(EngineChoice::one).is_none_or(permutes) {
        return Some("--no-symmetry is for engines transactions, explicit and lazy");
    }
    let other = args.engine.and_then(EngineChoice::one).is_some() && !transactions;
    if args.asked.deadlocks && (bounded || other) {
        return Some("--deadlocks is decided by engine transactions, which bounds nothing");
    }
    let lossy = args.reduction.is_some_and(|reduction| reduction != ReductionName::None);
    let whole = args.asked.target.is_some() || args.states.is_some();
    if lossy && whole {
        return Some(
            "no reduction preserves states; use --reduction none with --target and --states",
        );
    }
    if args.store == Some(StoreName::Compact) && args.states.is_some() {
        return Some("--store compact keeps no states to be counted or listed with --states");
    }
    if args.workers.is_some_and(|workers| workers > 1) {
        if args.search == Some(SearchName::Dfs) {
            return Some("several workers search breadth first; use --workers 1 with --search dfs");
        }
        if args.store == Some(StoreName::Compact) {
            return Some(
                "several workers store whole states; use --workers 1 with --store compact",
            );
        }
        if args.why.is_some() {
            return Some("the run to an access is one worker's; use --workers 1 with --why");
        }
    }
    if args.disk.is_some() && args.checkpoint.is_none() && args.resume.is_none() {
        return Some("--disk limits a checkpoint; use it with --checkpoint or --resume");
    }
    if args.hosts.is_some() && args.states.is_some() {
        return Some("states are counted and listed in one process; leave --states or --hosts out");
    }
    if args.checkpoint.is_some() || args.resume.is_some() || args.hosts.is_some() {
        let other = args.search == Some(SearchName::Dfs) || args.store == Some(StoreName::Compact);
        if other || args.why.is_some() {
            return Some(
                "a search that is kept, or done in several processes, is breadth first, stores whole states and \
                 keeps no run to an access; --search dfs, --store compact and --why do not go with \
                 --checkpoint, --resume and --hosts",
            );
        }
    }
    if args.reduction == Some(ReductionName::Transactions) && args.asked.deadlocks {
        return Some("transactions do not preserve deadlocks; use --reduction left-movers or none");
    }
    None
}

/// That an option is one for the engine `transactions`, which bounds nothing.
fn for_transactions(args: &ReachArgs) -> Option<&'static str> {
    let options = [
        (args.show_locks, "--show-locks is for engine transactions, which bounds nothing"),
        (args.why.is_some(), "--why is for engine transactions, which bounds nothing"),
        (
            args.protection.is_some(),
            "--protection is for engine transactions, which bounds nothing",
        ),
        (args.search.is_some(), "--search is for engine transactions, which bounds nothing"),
        (args.store.is_some(), "--store is for engine transactions, which bounds nothing"),
        (args.workers.is_some(), "--workers is for engine transactions, which bounds nothing"),
        (
            args.checkpoint.is_some(),
            "--checkpoint is for engine transactions, which bounds nothing",
        ),
        (args.resume.is_some(), "--resume is for engine transactions, which bounds nothing"),
        (args.hosts.is_some(), "--hosts is for engine transactions, which bounds nothing"),
        (args.reduction.is_some(), "--reduction is for engine transactions, which bounds nothing"),
        (
            args.state_limit.is_some(),
            "--state-limit is for engine transactions, which bounds nothing",
        ),
    ];
    options.into_iter().find(|(given, _)| *given).map(|(_, message)| message)
}

/// What to say if the model is not read to the end.
fn unread<'a>(args: &'a ReachArgs, watch: &'a Watch) -> Unread<'a> {
    let measure = if args.contexts.is_some() { Measure::Contexts } else { Measure::Rounds };
    Unread {
        file: &args.input.files.file,
        asked: Asked::Reach(Reach {
            sought: asked::wanted(&args.asked).unwrap_or(Sought::Assertions),
            measure,
            show_states: args.states.is_some(),
            projection: None,
            starts_per_site: None,
            why: args.why.as_deref(),
        }),
        engine: args.engine.map_or("none", EngineChoice::name),
        report: &args.report,
        watch,
    }
}

/// What the search has beside the memory and the cores of this process.
struct Means {
    /// It lives as long as the process.
    search: Option<&'static SearchMeans>,
    seat: Option<Seat>,
    process: usize,
}

/// How many bytes states may take before they go to the disk: a part of what is left of the memory. The
/// rest is for what else a search needs, and for sorting what goes to the disk.
fn room(mebibytes: u64, watch: &Watch) -> u64 {
    let left = mebibytes.saturating_mul(1 << 20).saturating_sub(watch.peak_memory().unwrap_or(0));
    left / 8 * 3
}

fn means(args: &ReachArgs, model: &Model, watch: &Watch, output: Output) -> Result<Means, Exit> {
    let refuse = |message: String| {
        output.complain(&message);
        Exit::BadInput
    };
    let kept = args.checkpoint.as_ref().or(args.resume.as_ref());
    if kept.is_none() && args.hosts.is_none() {
        return Ok(Means { search: None, seat: None, process: 0 });
    }
    let process = match &args.hosts {
        Some(_) => hosts::number(args.process).map_err(refuse)?,
        None => 0,
    };
    let identity = identity(args, model);
    let disk = args.disk.map(|mebibytes| mebibytes.saturating_mul(1 << 20));
    let folder = match (&args.checkpoint, &args.resume) {
        (Some(folder), _) if process == 0 => {
            Some(CheckpointFolder::begin(folder, &identity, output, disk).map_err(refuse)?)
        }
        (Some(folder), _) => Some(CheckpointFolder::joined(folder, output, disk)),
        (None, Some(folder)) => {
            let first = process == 0;
            let folder = CheckpointFolder::resume(folder, &identity, output, disk, first);
            Some(folder.map_err(refuse)?)
        }
        (None, None) => None,
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let nonce = now.as_nanos() as u64 ^ u64::from(std::process::id()) << 40;
    let seat = match &args.hosts {
        Some(hosts) => {
            let introduction = Introduction {
                hosts,
                process,
                workers: workers(args),
                about: identity.text(),
                nonce,
                advice: kept.map(|folder| format!("resume with --resume {}", folder.display())),
            };
            Some(hosts::join(introduction, watch.budget(), output)?)
        }
        None => None,
    };
    let search = SearchMeans {
        journal: folder.map(|folder| Arc::new(folder) as Arc<dyn Journal>),
        ensemble: seat.as_ref().map(|seat| seat.ensemble.clone()),
        room: args.limits.memory.map(|mebibytes| room(mebibytes, watch)),
        nonce: seat.as_ref().map_or(nonce, |seat| seat.nonce),
    };
    Ok(Means { search: Some(Box::leak(Box::new(search))), seat, process })
}

/// The value of an option as it is written.
fn chosen<T: clap::ValueEnum>(option: Option<T>) -> String {
    let value = option.and_then(|one| one.to_possible_value());
    value.as_ref().map_or("default", |value| value.get_name()).to_owned()
}

/// Whether an output lists every assertion or every failure; the text shows one run.
fn lists_assertions(args: &ReachArgs) -> bool {
    args.report.format != Format::Text || args.report.html.is_some()
}

/// What the answer depends on.
fn identity(args: &ReachArgs, model: &Model) -> RunIdentity {
    let word = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    let starts = args.input.files.starts_per_site;
    let settings = vec![
        ("question", format!("{:?}", asked::wanted(&args.asked))),
        ("states", chosen(args.states)),
        ("engine", args.engine.map_or("default", EngineChoice::name).to_owned()),
        ("reduction", chosen(args.reduction)),
        ("protection", chosen(args.protection)),
        ("depth", args.depth.to_string()),
        ("symmetry", word(!args.no_symmetry)),
        ("show-locks", word(args.show_locks)),
        ("verdict-per-assertion", word(lists_assertions(args))),
        ("spurious-wakeups", word(args.spurious_wakeups)),
        ("copies", args.copies.copies.to_string()),
        ("starts-per-site", starts.map_or_else(|| "default".to_owned(), |many| many.to_string())),
        ("kept", word(args.checkpoint.is_some() || args.resume.is_some())),
    ];
    RunIdentity::new(&selvedge_program::text::print(&model.program), settings)
}

fn request<'a>(args: &'a ReachArgs, means: Option<&'static SearchMeans>) -> ReachRequest<'a> {
    let bound = |measure, limit: Option<u32>| limit.map(|limit| Bound { measure, limit });
    let fixed = args.input.files.starts_per_site.is_some();
    ReachRequest {
        sought: asked::wanted(&args.asked),
        bound: bound(Measure::Rounds, args.rounds)
            .or_else(|| bound(Measure::Contexts, args.contexts)),
        show_states: args.states.is_some(),
        projection: args.projection,
        copies: args.copies.copies,
        why: args.why.as_deref(),
        most_starts: (!fixed).then_some(if args.limits.is_set() { MOST_STARTS } else { STARTS }),
        options: Options {
            list: (args.states == Some(StatesForm::List)).then_some(args.max_states),
            max_nodes: args.max_nodes,
            reduction: args.reduction.map(Into::into),
            state_limit: args.state_limit,
            call_depth: args.depth,
            cpds: args.cpds.options(),
            protection: args.protection.map(Into::into).unwrap_or_default(),
            order: args.search.map(Into::into).unwrap_or_default(),
            store: args.store.map(Into::into).unwrap_or_default(),
            assertions: lists_assertions(args),
            locks: args.show_locks,
            symmetry: !args.no_symmetry,
            workers: workers(args),
            alone: if args.workers.is_some() { 0 } else { ALONE },
            means,
            ..Options::new(
                args.engine
                    .and_then(EngineChoice::one)
                    .or(for_transactions(args).map(|_| EngineKind::Transactions)),
            )
        },
    }
}

/// Searches under the limits, and shows how far it is.
fn search<'a>(
    model: Model,
    request: &'a ReachRequest<'a>,
    args: &ReachArgs,
    budget: &Budget,
) -> Result<(ReachOutcome<'a>, Option<Portfolio>), ReachError> {
    let measure = request.measure(&model);
    let (done, level) = (Done::default(), Mutex::new(Bound { measure, limit: 0 }));
    std::thread::scope(|scope| {
        if progress::wanted() {
            scope.spawn(|| progress::show_level(&level, budget, &done));
        }
        let _end = done.guard();
        let dialect = args.input.dialect();
        let mut larger = |model: &Model, starts| input::with_starts(model, dialect, starts, budget);
        let mut note = |at: selvedge_analysis::Progress<'_>| {
            let mut level = level.lock().unwrap_or_else(PoisonError::into_inner);
            *level = at.bound.unwrap_or(Bound { measure, limit: 0 });
        };
        if args.engine == Some(EngineChoice::All) {
            let mut meter = EngineMeter::new(args.limits);
            let all = reach_by_all(&model, request, &mut meter, &mut note, &mut larger);
            return all.map(|(reached, portfolio)| (reached, Some(portfolio)));
        }
        reach(model, request, budget, &mut note, &mut larger).map(|reached| (reached, None))
    })
}
