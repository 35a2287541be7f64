//! # Idea
//! The arguments of `check`. What the configuration file can say as well is optional here, so that
//! the command line can be told from the default.

use super::{ReportOptions, UnitChoice, parse_nodes, parse_seconds};
use clap::{Args, ValueEnum, ValueHint};
use selvedge_findings::FindingKind;
use selvedge_library::java::{
    FieldSet, FrameworkPreset, JavaList, JavaOptions, JavaSettings, MethodPattern, QuestionShare,
    UnitOptions, UnknownCalls,
};
use selvedge_library::restrict::parse_assignment;
use selvedge_library::select::parse_patterns;
use selvedge_library::shard::{Shard, parse_shard};
use selvedge_program::AddedUnits;
use selvedge_report::Patterns;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Shown after the help of `check`.
pub const EXAMPLES: &str = "\
Examples:
  selvedge check program.eml
  selvedge check models/ --html report.html --open
  selvedge check models/ --format sarif --output selvedge.sarif
  selvedge check models/ --only deadlock,race --timeout 60
  selvedge check models/ --write-baseline baseline.json
  selvedge check models/ --baseline baseline.json
  selvedge check models/ --watch
  selvedge check target/classes --main com.acme.Main
  selvedge check app.jar --list kinds
  selvedge check app.jar --confirm
  selvedge check models/ --shard 3/16 --output shard-3.json

Folders are searched for .eml, .slv, .bp and .pds files; hidden ones are skipped, others counted.
All class files of a folder are one program.

Configuration: the nearest selvedge.toml in the folder of the first path or above it, otherwise
the one in the current folder. The command line is stronger than the file.
  patterns = \"all\"                # or \"vaziri\", \"12,17-20\", [12, 17]
  units = \"exact\"                 # or \"paper\"
  add-units = \"functions\"         # or \"locks\"; of Java \"loops\" or \"callers\"
  only = [\"deadlock\", \"race\"]     # and \"assertion\", \"atomicity\", \"temporal\"
  timeout = 60                    # seconds, for the whole run
  memory = 2048                   # MiB
  fixes = true                    # look for fixes
  [java]                          # units of work and sets of fields in Java
  units = [\"com.acme.Cache.put*\"]
  no-units = [\"Cache.debug\"]
  sets = [\"com.acme.Cache=hits,misses\"]
  [[suppress]]                    # a finding with all that is given is not counted
  reason = \"statistics may be off by one\"
  rule = \"data-race\"              # or \"atomicity-violation\", \"deadlock\", …
  fingerprint = \"…\"               # as the reports show it
  file = \"models/**/cache*.eml\"
  threads = [\"T1\"]                # those that take part, perhaps with others
  locations = [\"hits\"]
  line = 12                       # of one of the conflicting steps
  [[temporal]]                    # a formula that must hold, as `selvedge temporal` reads it
  name = \"no starvation\"
  formula = \"A (G F T1@idle)\"
  fair = [\"T2\"]                   # only runs that are fair to these
  file = \"models/spool*.eml\"      # the files that it is about [default: all]";

/// The exit codes of `check`, where several files come together.
pub const EXIT_CODES: &str = "\
Exit codes, the first that applies:
  4  internal error, never a verdict
  2  bad input or usage; files that can be read are analysed all the same
  1  violation: a finding that neither the configuration nor the baseline covers
  3  unknown: a limit was met, or something was not understood or left out
  0  safe: everything else was proved for all executions of the models";

/// The arguments of `check`.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct CheckArgs {
    /// Programs in EML, models in text form (`.slv`), Boolean programs (`.bp`), pushdown systems
    /// (`.pds`), class files, jars and source files of Java, or folders with such files; `-` reads standard input.
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// What becomes of the findings.
    #[command(flatten)]
    pub report: ReportOptions,
    /// Show the value of this expression along each interleaving, as `x + y` or `T1.i == owner`, over
    /// globals and locals of threads; one of the models must have what it names. May be given several
    /// times.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with = "shard")]
    pub show: Vec<String>,
    /// Look for these only, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KINDS")]
    pub only: Option<Vec<KindChoice>>,
    /// Which access patterns atomicity is about: `all`, `vaziri` (1 to 14), or numbers and ranges
    /// such as `12,17-20` [default: all, or vaziri with `--units paper`].
    #[arg(long, value_parser = parse_patterns)]
    pub patterns: Option<Patterns>,
    /// What counts as one unit of the other thread [default: exact].
    #[arg(long, value_enum)]
    pub units: Option<UnitChoice>,
    /// Count only those interleavings in which the nested-word automaton of the file can read the steps
    /// of the thread, which every model must have; may be given several times. No fixes are looked for
    /// then: a changed model has other steps.
    #[arg(long, value_name = "THREAD=FILE", value_parser = parse_assignment)]
    pub restrict: Vec<(String, String)>,
    /// Take more parts of the programs for units of work.
    #[arg(long, value_enum, value_name = "PARTS")]
    pub add_units: Option<AddedUnitChoice>,
    /// Stop after this time, over all files, each of which has its share; undecided questions are
    /// unknown. Without it, files with data and programs in Java have a default limit on work, and end
    /// after 600 seconds each.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// Stop above this much memory with the files that are being analysed; undecided questions are
    /// unknown [default: 3072 if there is a program in Java, nothing otherwise].
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub memory: Option<u64>,
    /// Stop with each file after this much work, counted in steps of the analysis; undecided questions
    /// are unknown. Unlike time it is the same on every machine [default: 20,000,000 for each file with
    /// data, 60,000,000 for each program in Java, nothing for the others, and nothing with --timeout].
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_work: Option<u64>,
    /// Give up a question whose decision diagrams need more nodes than this; it is unknown then.
    #[arg(long, value_name = "NUMBER", value_parser = parse_nodes)]
    pub max_nodes: Option<usize>,
    /// Look for fixes, each by checking a changed model again; this is the default.
    #[arg(long, overrides_with = "no_fixes")]
    pub fixes: bool,
    /// Do not look for fixes.
    #[arg(long, overrides_with = "fixes")]
    pub no_fixes: bool,
    /// Read the configuration from this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Do not count the findings that this file lists.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub baseline: Option<PathBuf>,
    /// Write the findings into this file, for `--baseline`. The exit code does not change.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub write_baseline: Option<PathBuf>,
    /// Ask only one of so many parts of the questions, such as `3/16`, and write the answers as JSON, of
    /// which `selvedge merge` makes the report. The cache is not used.
    #[arg(long, value_name = "NUMBER/COUNT", value_parser = parse_shard)]
    #[arg(conflicts_with_all = ["watch", "html", "write_baseline"])]
    pub shard: Option<Shard>,
    /// Check again whenever a file changes, until the program is stopped.
    #[arg(long)]
    pub watch: bool,
    /// End after so many rounds of `--watch`.
    #[arg(long, hide = true, requires = "watch", value_name = "NUMBER")]
    pub watch_iterations: Option<NonZeroUsize>,
    /// Neither read nor write the cache of answers.
    #[arg(long)]
    pub no_cache: bool,
    /// Keep the cache of answers in this folder [default: `selvedge` in the user's cache folder].
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    #[arg(conflicts_with = "no_cache")]
    pub cache_dir: Option<PathBuf>,
    /// How to read a program in Java.
    #[command(flatten)]
    pub java: JavaArgs,
    /// How much of the findings to show.
    #[command(flatten)]
    pub shown: ShownOptions,
    /// How many files are analysed at once [default: one per processor].
    #[arg(long, value_name = "NUMBER")]
    pub jobs: Option<NonZeroUsize>,
    /// Print what the work cost, to standard error.
    #[arg(long)]
    pub stats: bool,
    /// Show on standard error how far the work is, also where that is no terminal.
    #[arg(long)]
    pub progress: bool,
}

/// How to read a program in Java.
#[derive(Args, Clone, Debug, Default)]
pub struct JavaArgs {
    /// Of a program in Java, begin with the `main` of this class [default: each class that has one is a
    /// program].
    #[arg(long, value_name = "CLASS")]
    pub main: Option<String>,
    /// Ask about this class of Java, used by any clients through its public methods, in place of a program
    /// that begins with a `main`.
    #[arg(long, value_name = "CLASS", conflicts_with = "main")]
    pub class: Option<String>,
    /// A program in Java begins with this method, which any number of threads call, in place of a `main`; may
    /// be given several times.
    #[arg(long, value_name = "CLASS.METHOD", conflicts_with_all = ["main", "class"])]
    pub entry: Vec<String>,
    /// A program in Java is run by these frameworks, separated by commas: what they call for requests begins any
    /// number of threads after everything has been set up; each test is a program of its own.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FRAMEWORKS")]
    #[arg(conflicts_with_all = ["main", "class", "entry"])]
    pub entry_preset: Vec<PresetChoice>,
    /// A method of Java is a unit of work, whatever it does, whoever declares it; `*` is any text, and the package
    /// may be left out; may be given several times.
    #[arg(long, value_name = "CLASS.METHOD", value_parser = MethodPattern::new)]
    pub unit: Vec<MethodPattern>,
    /// A method of Java is no unit of work, nor is what is under locks in it; `*` is any text; may be given
    /// several times.
    #[arg(long, value_name = "CLASS.METHOD", value_parser = MethodPattern::new)]
    pub no_unit: Vec<MethodPattern>,
    /// These fields of a class of Java belong together, and not to the set of its other fields; may be given
    /// several times.
    #[arg(long, value_name = "CLASS=FIELD,FIELD", value_parser = FieldSet::new)]
    pub set: Vec<FieldSet>,
    /// What becomes a unit of work, where programs in Java are concerned.
    #[arg(skip)]
    pub added: Option<AddedUnits>,
    /// What methods outside a program in Java do that nothing is known of.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub unknown: UnknownChoice,
    /// Do not assume, of a program in Java, that loops and calls wait for the end of every thread that look
    /// like it.
    #[arg(long)]
    pub no_assume_joins: bool,
    /// How many locks a deadlock of a program in Java may have that is asked about.
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=3))]
    pub deadlock_locks: u8,
    /// More classes of a program in Java: a folder, a jar or a class file; may be given several times.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub classpath: Vec<PathBuf>,
    /// Of a class for several versions of Java in a jar, take the one for this version [default: the
    /// newest].
    #[arg(long, value_name = "VERSION")]
    pub release: Option<u16>,
    /// Quote the sources of a program in Java from this folder; may be given several times [default:
    /// `src/main/java`, `src/test/java` and `src` around what is checked].
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub source: Vec<PathBuf>,
    /// Run a program in Java under the interleavings of its findings, if there is a JVM, and say which of
    /// them happened; it does what it does, on this machine. With `=DIRECTORY`, keep schedules, changed classes
    /// and output there. Neither verdict nor exit code depends on it.
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    #[arg(num_args = 0..=1, require_equals = true, conflicts_with = "shard")]
    #[expect(clippy::option_option, reason = "not at all, somewhere, or in a folder")]
    pub confirm: Option<Option<PathBuf>>,
    /// Do not check a program in Java, but list what was understood of it.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub list: Option<ListChoice>,
}

/// What to list of a program in Java.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ListChoice {
    /// The kinds of threads, and whether there is one of each.
    Kinds,
    /// What threads share, and by which kinds.
    Objects,
    /// The locks that have a name, and where they are taken.
    Locks,
    /// The units of work.
    Units,
    /// Calls of code of which nothing is known.
    Unknown,
    /// Locks that are left out of models.
    IgnoredLocks,
    /// Public methods that nothing reaches.
    Unreached,
}

impl From<ListChoice> for JavaList {
    fn from(choice: ListChoice) -> Self {
        match choice {
            ListChoice::Kinds => Self::Kinds,
            ListChoice::Objects => Self::Objects,
            ListChoice::Locks => Self::Locks,
            ListChoice::Units => Self::Units,
            ListChoice::Unknown => Self::Unknown,
            ListChoice::IgnoredLocks => Self::IgnoredLocks,
            ListChoice::Unreached => Self::Unreached,
        }
    }
}

/// What runs a program in Java.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetChoice {
    /// Servlets, filters and their listeners.
    Servlet,
    /// Spring: mappings of requests, schedules, listeners.
    Spring,
    /// Tests of `JUnit` 3 to 5.
    Junit,
}

impl From<PresetChoice> for FrameworkPreset {
    fn from(choice: PresetChoice) -> Self {
        match choice {
            PresetChoice::Servlet => Self::Servlet,
            PresetChoice::Spring => Self::Spring,
            PresetChoice::Junit => Self::Junit,
        }
    }
}

/// What unknown code does.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownChoice {
    /// Whatever it can with what it was ever given: keep it, give it back, change and call it.
    #[default]
    Args,
    /// Nothing that matters; that is assumed, and said.
    Pure,
    /// As `args`, and it reads and writes all fields of what it was ever given and of what that leads to.
    Havoc,
}

impl JavaArgs {
    /// The same with what the configuration says, too.
    #[must_use]
    pub fn with(&self, units: &UnitOptions, added: Option<AddedUnits>) -> Self {
        let mut all = self.clone();
        all.unit.extend(units.units.iter().cloned());
        all.no_unit.extend(units.not_units.iter().cloned());
        all.set.extend(units.sets.iter().cloned());
        all.added = added;
        all
    }

    /// The settings that the arguments ask for.
    pub fn settings(&self) -> JavaSettings {
        JavaSettings {
            main: self.main.clone(),
            class: self.class.clone(),
            entries: self.entry.clone(),
            presets: self.entry_preset.iter().map(|&one| one.into()).collect(),
            options: JavaOptions {
                deadlock_locks: usize::from(self.deadlock_locks),
                unknown: match self.unknown {
                    UnknownChoice::Args => UnknownCalls::Args,
                    UnknownChoice::Pure => UnknownCalls::Pure,
                    UnknownChoice::Havoc => UnknownCalls::Havoc,
                },
                units: UnitOptions {
                    loops: self.added == Some(AddedUnits::Loops),
                    callers: self.added == Some(AddedUnits::Callers),
                    units: self.unit.clone(),
                    not_units: self.no_unit.clone(),
                    sets: self.set.clone(),
                },
                assume_joins: !self.no_assume_joins,
                part: QuestionShare::default(),
            },
        }
    }
}

/// How much of the findings to show.
#[derive(Args, Clone, Copy, Debug)]
pub struct ShownOptions {
    /// Show at most this many findings in full; the rest gets one line each [default: 10].
    #[arg(long, value_name = "NUMBER", visible_alias = "max-witnesses")]
    pub max_findings: Option<usize>,
    /// Leave the interleavings out of the output.
    #[arg(long)]
    pub no_witness: bool,
    /// Show every step of an interleaving, also those without an event.
    #[arg(long, short)]
    pub verbose: bool,
}

/// What to look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum KindChoice {
    /// Assertions that fail, labels named ERROR, targets of .spec files.
    Assertion,
    /// Deadlocks (threads wait for each other in a cycle) and dead ends (no thread can move).
    Deadlock,
    /// Two units of work conflict in a cycle.
    Atomicity,
    /// Two threads access a location at once.
    Race,
    /// The formulas of the configuration do not hold.
    Temporal,
}

impl KindChoice {
    /// The kinds of findings that this means.
    pub fn kinds(self) -> &'static [FindingKind] {
        let [assertion, deadlock, atomicity, race, temporal] = FindingKind::TOPICS;
        match self {
            Self::Assertion => assertion.1,
            Self::Deadlock => deadlock.1,
            Self::Atomicity => atomicity.1,
            Self::Race => race.1,
            Self::Temporal => temporal.1,
        }
    }
}

/// What becomes a unit of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AddedUnitChoice {
    /// Each function call from `main`.
    Functions,
    /// Each outermost synchronized block.
    Locks,
    /// Of a program in Java, each pass of an outermost loop of what a thread begins with, if it calls two
    /// methods of one object.
    Loops,
    /// Of a program in Java, methods of other classes than that of the object.
    Callers,
}

impl From<AddedUnitChoice> for AddedUnits {
    fn from(choice: AddedUnitChoice) -> Self {
        match choice {
            AddedUnitChoice::Functions => Self::Functions,
            AddedUnitChoice::Locks => Self::Locks,
            AddedUnitChoice::Loops => Self::Loops,
            AddedUnitChoice::Callers => Self::Callers,
        }
    }
}
