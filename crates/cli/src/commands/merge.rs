//! # Idea
//! `selvedge merge`: the parts of a check become the report that one run would have given.

use super::check::{limits, say};
use crate::args::merge::MergeArgs;
use crate::check::analyse::{Analysis, FileLimits, Task, analyse};
use crate::check::finish::{Aside, Run, Telling, finish};
use crate::check::outputs::{FileKind, OutputFile};
use crate::check::publish;
use crate::check::settings::summary;
use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::progress;
use crate::watchdog::Watch;
use selvedge_base::{Budget, Diagnostic};
use selvedge_library::config;
use selvedge_library::file::Loaded;
use selvedge_library::render::AFTER_A_LIMIT;
use selvedge_library::shard::join::{Joined, join};
use selvedge_library::shard::stored::PartReport;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Runs the command.
pub fn run(args: &MergeArgs, output: Output) -> Result<Exit, Exit> {
    let mut outputs = publish::outputs_of(&args.report);
    let option = "--write-baseline";
    let baseline = args.write_baseline.as_deref();
    outputs.extend(baseline.map(|path| OutputFile { option, path, kind: FileKind::Json }));
    publish::refuse_all(&outputs, &args.parts, output)?;
    let joined = read(args, output)?;
    let start = Instant::now();
    let timeout = joined.limits.timeout.and_then(|time| Duration::try_from_secs_f64(time).ok());
    let watch = Watch::new(limits(timeout, joined.limits.memory, start), start);
    let suppressions = match &joined.config {
        None => Vec::new(),
        Some(text) => {
            let (config, complaints) = config::parse(&text.text);
            output.diagnostics(&complaints, &text.source());
            if complaints.iter().any(Diagnostic::is_error) {
                return Err(Exit::BadInput);
            }
            config.suppressions
        }
    };
    let loaded: Vec<Loaded> = joined.files.iter().map(|file| file.loaded.clone()).collect();
    say(&loaded, output);
    let analysis = Analysis {
        options: &joined.options,
        task: Task::Joined(&joined.files),
        budget: watch.budget(),
        limits: FileLimits::new(joined.limits.max_work, timeout),
        cache: None,
        jobs: args.jobs,
        progress: progress::wanted(),
        confirm: None,
    };
    let analysed = analyse(&loaded, &analysis);
    let names = |of: fn(&_) -> &String| -> BTreeMap<&str, &str> {
        let files = joined.files.iter();
        files.map(|file| (file.loaded.text.name.as_str(), of(file).as_str())).collect()
    };
    let for_config = names(|file| &file.name_for_config);
    let for_baseline = names(|file| &file.name_for_baseline);
    let named = |names: &BTreeMap<&str, &str>, file: &str| {
        names.get(file).copied().unwrap_or(file).to_owned()
    };
    let aside = Aside {
        suppressions: &suppressions,
        config: joined.config.as_ref(),
        name_for_config: &|file| named(&for_config, file),
        baseline: joined.baseline.as_ref(),
        name_for_baseline: &|file| named(&for_baseline, file),
        kinds: &joined.options.kinds,
        is_part: false,
    };
    let run = Run {
        loaded: &loaded,
        analysed,
        aside,
        other_files: joined.other_files,
        options: &summary(&joined.options, &joined.restrictions),
        limits_for_data: analysis.limits.for_data(&loaded),
        most_interleavings: joined.few_interleavings.then_some(AFTER_A_LIMIT),
        elapsed: joined.elapsed,
        peak_memory: joined.peak_memory,
        shard: None,
    };
    let telling = Telling {
        report: &args.report,
        shown: args.shown,
        stats: false,
        write_baseline: args.write_baseline.as_ref(),
        open: args.report.open,
    };
    Ok(finish(run, &telling, output).exit)
}

/// Reads the parts and puts them together.
fn read(args: &MergeArgs, output: Output) -> Result<Joined, Exit> {
    let mut parts = Vec::with_capacity(args.parts.len());
    let mut wrong = false;
    for path in &args.parts {
        let text = input::text(path, output, &Budget::new())?;
        match PartReport::parse(&text.name, &text.text) {
            Ok(part) => parts.push(part),
            Err(message) => {
                output.complain(&format!("{} is no part of a check: {message}", text.name));
                wrong = true;
            }
        }
    }
    if wrong {
        return Err(Exit::BadInput);
    }
    join(parts).map_err(|message| {
        output.complain(&message);
        Exit::BadInput
    })
}
