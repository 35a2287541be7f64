//! # Idea
//! What a run is to do: the command line where it says something, the configuration file where it
//! does, defaults otherwise.

use super::files;
use crate::args::check::{CheckArgs, JavaArgs};
use crate::exit::Exit;
use crate::input::{self, Text};
use crate::output::Output;
use selvedge_base::{Budget, Diagnostic};
use selvedge_library::baseline::Baseline;
use selvedge_library::config::{self, Config};
use selvedge_library::formulas::ProjectFormulas;
use selvedge_library::java::UnitOptions;
use selvedge_library::shard::stored::StoredRestriction;
use selvedge_library::suppress::Suppression;
use selvedge_library::{CheckOptions, ThreadRestriction};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a run is to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What to ask of each file.
    pub options: CheckOptions,
    /// The time limit.
    pub timeout: Option<Duration>,
    /// The memory limit in bytes.
    pub memory: Option<u64>,
    /// The findings that do not count.
    pub suppressions: Vec<Suppression>,
    /// What is asked of the runs of the models.
    pub formulas: ProjectFormulas,
    /// Where the configuration is from.
    pub config: Option<ConfigFile>,
    /// The findings that are known.
    pub baseline: Option<Baseline>,
    /// Which runs of some threads count.
    pub restrictions: Vec<ThreadRestriction>,
    /// The texts that say so, for a part of a run.
    pub restriction_texts: Vec<StoredRestriction>,
    /// How to read programs in Java.
    pub java: JavaArgs,
    /// The options of the run in words.
    pub summary: String,
}

/// A configuration file.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// The text.
    pub text: Text,
    /// Where it is.
    pub path: PathBuf,
}

impl Settings {
    /// Reads the files that say what to do. Mistakes have been printed when this returns.
    ///
    /// # Errors
    /// If there is a mistake, or a limit was met before the files were read.
    pub fn read(args: &CheckArgs, output: Output, budget: &Budget) -> Result<Self, Exit> {
        let (config, file) = configuration(args, output, budget)?;
        let baseline = match &args.baseline {
            Some(path) => Some(baseline(path, output, budget)?),
            None => None,
        };
        let said = Config {
            patterns: args.patterns.clone(),
            units: args.units.map(Into::into),
            add_units: args.add_units.map(Into::into),
            only: args
                .only
                .as_ref()
                .map(|kinds| kinds.iter().flat_map(|kind| kind.kinds().to_vec()).collect()),
            timeout: args.timeout,
            memory: args.memory,
            fixes: (args.fixes || args.no_fixes).then_some(args.fixes),
            suppressions: Vec::new(),
            formulas: Vec::new(),
            java: UnitOptions::default(),
        };
        let config = said.or(config);
        let mut options = config.options().map_err(|message| {
            output.complain(&message);
            Exit::BadInput
        })?;
        options.analysis.max_nodes = args.max_nodes;
        let restrictions = input::restrictions(&args.restrict, output, budget)?;
        if options.add_units.is_some() && !restrictions.is_empty() {
            output
                .complain("an automaton reads the steps of a program without added units of work");
            return Err(Exit::BadInput);
        }
        let restriction_texts = match args.shard {
            None => Vec::new(),
            Some(_) => restriction_texts(&args.restrict, output, budget)?,
        };
        Ok(Self {
            summary: summary(&options, &restrictions),
            java: args.java.with(&config.java, config.add_units),
            restrictions,
            restriction_texts,
            options,
            timeout: config.timeout,
            memory: config.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20)),
            suppressions: config.suppressions,
            formulas: ProjectFormulas {
                config: file.as_ref().map(|file| file.text.clone()).unwrap_or_default(),
                all: config.formulas,
            },
            config: file,
            baseline,
        })
    }
}

/// The options of a run in words.
pub fn summary(options: &CheckOptions, restrictions: &[ThreadRestriction]) -> String {
    let restricted = restrictions.iter().map(|one| format!("; {} restricted", one.thread));
    options.summary() + &restricted.collect::<String>()
}

fn restriction_texts(
    wanted: &[(String, String)],
    output: Output,
    budget: &Budget,
) -> Result<Vec<StoredRestriction>, Exit> {
    let one = |(thread, file): &(String, String)| {
        let automaton = (&input::text(Path::new(file), output, budget)?).into();
        Ok(StoredRestriction { thread: thread.clone(), automaton })
    };
    wanted.iter().map(one).collect()
}

fn configuration(
    args: &CheckArgs,
    output: Output,
    budget: &Budget,
) -> Result<(Config, Option<ConfigFile>), Exit> {
    let first = args.paths.first().map_or(Path::new("."), PathBuf::as_path);
    let Some(path) = args.config.clone().or_else(|| files::configuration(first)) else {
        return Ok((Config::default(), None));
    };
    let read = |text: &Text| config::parse(&text.text);
    let (text, (config, complaints)) = input::read_within(&path, output, budget, read)?;
    output.diagnostics(&complaints, &text.source());
    if complaints.iter().any(Diagnostic::is_error) {
        return Err(Exit::BadInput);
    }
    Ok((config, Some(ConfigFile { text, path })))
}

fn baseline(path: &Path, output: Output, budget: &Budget) -> Result<Baseline, Exit> {
    let read = |text: &Text| Baseline::parse(&text.text);
    let (text, baseline) = input::read_within(path, output, budget, read)?;
    baseline.map_err(|message| {
        output.complain(&format!("{} is no baseline: {message}", text.name));
        Exit::BadInput
    })
}
