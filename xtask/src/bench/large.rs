//! Inputs that are large in one direction and easy in all others: very many questions with an obvious
//! answer, very many variables of which few matter, very many threads, a very long interleaving. Every
//! row asks as the command line does where nothing is said, but for the last one, in which explicit
//! search finds a run and the replayer executes it.

use super::{Case, Measurement};
use selvedge_analysis::{EngineKind, Listing, Options, Prepared, Report, answer, answer_relation};
use selvedge_base::{Budget, StopReason};
use selvedge_program::{Program, Question, QuestionRelation, Target, Units, Verdict};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// How long one case may take.
const LIMIT: Duration = Duration::from_secs(20);

/// The cases about locks and units.
pub fn about_locks() -> Vec<Case> {
    let case = |name: &str, body: Body| Case {
        section: "large: 12 threads x 40 locations, all 32 patterns",
        name: name.to_owned(),
        variant: "default",
        grows: false,
        run: Box::new(move || {
            let parsed = selvedge_front_eml::parse(&threads(body));
            relation(&parsed.program.ok_or("the model is not valid")?)
        }),
    };
    vec![case("own-locations", own_locations), case("one-lock", one_lock)]
}

/// What a thread does.
type Body = fn(usize) -> String;

/// The cases about data.
pub fn about_data() -> Vec<Case> {
    let case =
        |name: &str, engine: Option<EngineKind>, input: fn() -> Result<Input, String>| Case {
            section: "large: variables, threads, steps",
            name: name.to_owned(),
            variant: engine.map_or("default", EngineKind::name),
            grows: false,
            run: Box::new(move || {
                let (program, target) = input()?;
                reach(&program, target, engine)
            }),
        };
    vec![
        case("5000-globals", None, many_globals),
        case("80-threads", None, many_threads),
        case("run-of-10^6-steps", Some(EngineKind::Explicit), long_run),
    ]
}

type Input = (Program, Target);

const THREADS: usize = 12;
const LOCATIONS: usize = 40;

fn threads(body: Body) -> String {
    let names: Vec<String> = (0..LOCATIONS).map(|at| format!("x{at}")).collect();
    let mut text = format!("lock : l;\nvar : {};\n", names.join(", "));
    for thread in 0..THREADS {
        let _ = writeln!(text, "process T{thread} {{ main {{ {} }} }}", body(thread));
    }
    text
}

/// Each thread has locations of its own, so that its code rules out what is asked.
fn own_locations(thread: usize) -> String {
    let own = (0..LOCATIONS).filter(|at| at % THREADS == thread);
    let own: Vec<String> = own.map(|at| format!("read x{at}; write x{at};")).collect();
    format!("unit {{ {} }}", own.join(" "))
}

/// All threads do the same, under one lock.
fn one_lock(_: usize) -> String {
    let all: Vec<String> = (0..LOCATIONS).map(|at| format!("read x{at}; write x{at};")).collect();
    format!("synchronized(l) {{ unit {{ {} }} }}", all.join(" "))
}

/// One thread copies along a chain of globals that nobody looks at, the other one sets the one that
/// is looked at.
fn many_globals() -> Result<Input, String> {
    let names: Vec<String> = (0..5_000).map(|at| format!("g{at}")).collect();
    let mut text =
        format!("decl {};\nvoid main() begin g0 := F; start_thread t();\n", names.join(", "));
    for at in 1..5_000 {
        let _ = write!(text, "g{at} := g{};", at - 1);
    }
    text += "assert(!g0); end\nvoid t() begin g0 := T; end\n";
    boolean(&text)
}

/// Eighty threads that count the shared state on; two of them have done so.
fn many_threads() -> Result<Input, String> {
    let text = "3\n".to_owned() + &"PDA 0 1\n0 0 -> 1 1\n1 0 -> 2 1\n".repeat(80);
    let stacks = |moved: usize| {
        let tops: Vec<&str> = (0..80).map(|at| if at < moved { "1" } else { "0" }).collect();
        tops.join(",")
    };
    let (init, spec) = (format!("0|{}", stacks(0)), format!("2|{}", stacks(2)));
    let parsed = selvedge_front_pds::parse(&text, Some(&init), Some(&spec))
        .map_err(|complaints| format!("{complaints:?}"))?;
    Ok((parsed.program, parsed.target.ok_or("there is a target")?))
}

/// A recursion that counts down from `2^18 - 1`, of four steps an activation.
fn long_run() -> Result<Input, String> {
    const BITS: usize = 18;
    let all = |one: &dyn Fn(usize) -> String, between: &str| {
        (0..BITS).map(one).collect::<Vec<String>>().join(between)
    };
    let name = |at: usize| format!("a{at}");
    let one_less = |at: usize| {
        let lower: Vec<String> = (0..at).map(name).collect();
        if at == 0 { "!a0".to_owned() } else { format!("(({}) = a{at})", lower.join(" | ")) }
    };
    boolean(&format!(
        "decl g;
         void main() begin g := F; down({}); assert(g); end
         void down({}) begin if ({}) then down({}); g := !g; else g := T; fi end",
        all(&|_| "T".to_owned(), ", "),
        all(&name, ", "),
        all(&name, " | "),
        all(&one_less, ", "),
    ))
}

fn boolean(text: &str) -> Result<Input, String> {
    let parsed = selvedge_front_bool::parse(text, &selvedge_front_bool::Options::default());
    Ok((parsed.program.ok_or("the model is not valid")?, Target::Assertion))
}

fn alarm() -> Budget {
    let budget = Budget::new();
    let watched = budget.clone();
    std::thread::spawn(move || {
        std::thread::sleep(LIMIT);
        watched.raise(StopReason::Timeout);
    });
    budget
}

fn relation(program: &Program) -> Result<Measurement, String> {
    let (numbers, budget): (Vec<u32>, _) = ((1..=32).collect(), alarm());
    let threads: Vec<_> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().collect();
    let relation = QuestionRelation::patterns(&numbers, Units::Exact, &threads, &locations);
    let (prepared, options) = (Prepared::new(program), Options::new(None));
    let start = Instant::now();
    let (listing, known) = (Listing::Decided, Vec::new());
    let answers =
        answer_relation(&prepared, &relation, listing, known, &options, &budget, &mut |_| {})
            .map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let listed = answers.report.answers.iter();
    let safe = listed.filter(|answer| answer.verdict == Verdict::Safe).count();
    let asked = answers.report.answers.len() as u64 + answers.safe + answers.unknown;
    let outcome = format!("{} of {asked} safe", answers.safe + safe as u64);
    let stopped = budget.stopped().is_some();
    Ok(measurement(program, outcome, &answers.report, seconds, stopped))
}

fn reach(
    program: &Program,
    target: Target,
    engine: Option<EngineKind>,
) -> Result<Measurement, String> {
    let budget = alarm();
    let options = Options::new(engine);
    let start = Instant::now();
    let prepared = Prepared::new(program);
    let report = answer(&prepared, &[Question::Reach(target)], &options, &budget, &mut |_| {})
        .map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let answer = &report.answers[0];
    let outcome = match &answer.verdict {
        Verdict::Violation(trace) => {
            format!("{}: violation in {} steps", answer.engine, trace.steps.len())
        }
        Verdict::Safe => format!("{}: safe", answer.engine),
        Verdict::Unknown(why) => format!("{}: {why}", answer.engine),
    };
    let stopped = budget.stopped().is_some();
    Ok(measurement(program, outcome, &report, seconds, stopped))
}

fn measurement(
    program: &Program,
    outcome: String,
    report: &Report,
    seconds: f64,
    stopped: bool,
) -> Measurement {
    let (threads, edges) = (program.threads.len(), program.edges.len());
    let globals = program.globals.len();
    let counts: Vec<String> =
        report.statistics.counts.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Measurement {
        size: format!("{threads} threads, {edges} edges, {globals} globals"),
        outcome,
        counts: counts.join(" "),
        seconds,
        peak_mib: None,
        stopped,
    }
}
