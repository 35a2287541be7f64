//! # Idea
//! The comparisons of papers 000 and 004 in one process: the questions of `bench atomicity` and those
//! about five models with reentrant locks, put to lock histories and to communicating pushdown systems in
//! four forms. Paper 000 has 34 times for tupling over the procedure of paper 004, and that one 3.4 times
//! for locks as regular languages over locks that count. Every question is asked alone, of an engine that
//! knows nothing of the others.
//!
//! # Invariants
//! 1. Where two rows answer the same question, their answers are the same; otherwise the suite fails.
//! 2. Speed-ups are over the questions that all rows have answered.

use super::atomicity;
use super::{is_quick, resident_mib};
use selvedge_analysis::{
    Abstraction, CpdsOptions, EngineKind, Options, Prepared, Reentrant, answer,
};
use selvedge_base::{Budget, Id, StopReason};
use selvedge_cpds::SharedAction;
use selvedge_cpds::prefixes::PrefixAutomaton;
use selvedge_cpds::translate::all_events;
use selvedge_program::moment::races;
use selvedge_program::{Program, Question, Unknown, Verdict};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const MODELS: [(&str, &str); 5] = [
    ("buffered-writer", include_str!("../../../bench/models/buffered-writer.eml")),
    ("allocation-vector", include_str!("../../../bench/models/allocation-vector.eml")),
    ("bubble-sort", include_str!("../../../bench/models/bubble-sort.eml")),
    ("buggy-program", include_str!("../../../bench/models/buggy-program.eml")),
    ("store", include_str!("../../../bench/models/store.eml")),
];

/// How much memory a question may take.
const MOST_MIB: f64 = 2048.0;

/// Who is asked, the one that the others are compared with last.
const ROWS: [(&str, EngineKind, Reentrant, Abstraction); 6] = [
    ("tupling", EngineKind::Tupling, Reentrant::Reduced, Abstraction::Both),
    ("tupling-bdd", EngineKind::TuplingBdd, Reentrant::Reduced, Abstraction::Both),
    ("cpds reduced both", EngineKind::Cpds, Reentrant::Reduced, Abstraction::Both),
    ("cpds reduced prefix", EngineKind::Cpds, Reentrant::Reduced, Abstraction::Prefix),
    ("cpds counted both", EngineKind::Cpds, Reentrant::Counted, Abstraction::Both),
    ("cpds counted prefix", EngineKind::Cpds, Reentrant::Counted, Abstraction::Prefix),
];

/// What became of one question.
#[derive(Clone, Copy)]
struct Asked {
    /// Whether it is violated, if that was found out.
    violated: Option<bool>,
    /// Whether the limit that ended it was one on memory.
    memory: bool,
    seconds: f64,
    k: u32,
    nodes: u64,
    strings: u64,
}

/// Runs the suite.
#[expect(clippy::print_stdout, reason = "tables are seen as they are measured")]
pub fn run(arguments: &[&str]) -> Result<String, String> {
    let quick = is_quick(arguments)?;
    let start = Instant::now();
    let (every, limit) = if quick { (20, 0.2) } else { (1, 1.0) };
    let limit = Duration::from_secs_f64(limit);
    let alarm = Alarm::new();
    let models = atomicity::MODELS.into_iter().chain(MODELS);
    let mut columns: Vec<Vec<Asked>> = vec![Vec::new(); ROWS.len()];
    let mut number = 0;
    for (name, text) in models {
        let parsed = selvedge_front_eml::parse(text).program;
        let program = parsed.ok_or_else(|| format!("{name} is not valid EML"))?;
        for question in atomicity::queries(&program) {
            number += 1;
            if (number - 1) % every != 0 {
                continue;
            }
            let mut known = None;
            for (row, column) in ROWS.iter().zip(&mut columns) {
                let asked = ask(&program, &question, row, limit, &alarm)?;
                if let Some(violated) = asked.violated
                    && known.replace(violated).is_some_and(|before| before != violated)
                {
                    return Err(format!("{name}: {} contradicts another row", row.0));
                }
                column.push(asked);
            }
        }
        print!(".");
        std::io::stdout().flush().map_err(|error| error.to_string())?;
    }
    println!();
    print!("{}", table(&columns, limit));
    print!("{}", prefixes()?);
    print!("{}", rings(8, &alarm)?);
    Ok(format!("{:.0} s in all\n", start.elapsed().as_secs_f64()))
}

/// Raises the budget that is in use when there is too little memory.
#[derive(Clone, Default)]
struct Alarm(Arc<Mutex<Option<Budget>>>);

impl Alarm {
    fn new() -> Self {
        let alarm = Self::default();
        let watched = alarm.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(20));
                if resident_mib().is_some_and(|mib| mib > MOST_MIB)
                    && let Ok(slot) = watched.0.lock()
                    && let Some(budget) = &*slot
                {
                    budget.raise(StopReason::Memory);
                }
            }
        });
        alarm
    }

    fn budget(&self, limit: Duration) -> Budget {
        let budget = Budget::with_deadline(Instant::now() + limit);
        if let Ok(mut slot) = self.0.lock() {
            *slot = Some(budget.clone());
        }
        budget
    }
}

fn ask(
    program: &Program,
    question: &Question,
    row: &(&str, EngineKind, Reentrant, Abstraction),
    limit: Duration,
    alarm: &Alarm,
) -> Result<Asked, String> {
    let &(_, engine, reentrant, abstraction) = row;
    let cpds = CpdsOptions { reentrant, abstraction, max_k: None };
    // Explicit tuples alone, however many there are.
    let options = Options { cpds, max_facts: u64::MAX, ..Options::new(Some(engine)) };
    let start = Instant::now();
    let budget = alarm.budget(limit);
    let prepared = Prepared::new(program);
    let one = std::slice::from_ref(question);
    let report = answer(&prepared, one, &options, &budget, &mut |_| {})
        .map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let given = &report.answers[0];
    let reason = match &given.verdict {
        Verdict::Unknown(Unknown::Stopped(reason)) => Some(*reason),
        Verdict::Unknown(Unknown::Actions { stopped, .. }) => *stopped,
        _ => None,
    };
    let counts = &report.statistics.counts;
    let count = |wanted: &str| {
        counts.iter().find(|(name, _)| *name == wanted).map_or(0, |&(_, count)| count)
    };
    Ok(Asked {
        violated: match given.verdict {
            Verdict::Violation(_) => Some(true),
            Verdict::Safe => Some(false),
            Verdict::Unknown(_) => None,
        },
        memory: reason == Some(StopReason::Memory),
        seconds,
        k: given.refined.as_ref().and_then(selvedge_program::Refined::most).unwrap_or(0),
        nodes: count("automaton-nodes"),
        strings: count("prefix-strings"),
    })
}

/// The arithmetic mean; 0 of nothing.
fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), one| (sum + one, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// The table of all rows.
fn table(columns: &[Vec<Asked>], limit: Duration) -> String {
    let questions = columns[0].len();
    let common: Vec<usize> = (0..questions)
        .filter(|&at| columns.iter().all(|column| column[at].violated.is_some()))
        .collect();
    let seconds = |column: &[Asked]| common.iter().map(|&at| column[at].seconds).sum::<f64>();
    let baseline = &columns[columns.len() - 1];
    let ratio = |slow: &[Asked], fast: &[Asked]| {
        let logs = common.iter().map(|&at| (slow[at].seconds / fast[at].seconds).ln());
        (seconds(slow) / seconds(fast), mean(logs).exp())
    };
    let mut out = format!(
        "{questions} questions, {} s each; {} answered by all rows; speed-ups over {}\n\n",
        limit.as_secs_f64(),
        common.len(),
        ROWS[ROWS.len() - 1].0
    );
    let _ = writeln!(
        out,
        "| row | violations | safe | out of time | out of memory | s, common | s, all | speed-up | \
         geometric mean | k, most | k, mean | automaton nodes | strings |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|"
    );
    for ((name, ..), column) in ROWS.iter().zip(columns) {
        let count = |wanted: fn(&&Asked) -> bool| column.iter().filter(wanted).count();
        let (speed, geometric) = ratio(baseline, column);
        let refined: Vec<u32> = column.iter().map(|one| one.k).filter(|&k| k > 0).collect();
        let average = mean(refined.iter().map(|&k| f64::from(k)));
        let strings = column.iter().fold(0u64, |sum, one| sum.saturating_add(one.strings));
        let strings =
            if strings == u64::MAX { "2^64 or more".to_owned() } else { strings.to_string() };
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {:.2} | {:.2} | {speed:.1} | {geometric:.1} | {} | {average:.1} \
             | {} | {strings} |",
            count(|one| one.violated == Some(true)),
            count(|one| one.violated == Some(false)),
            count(|one| one.violated.is_none() && !one.memory),
            count(|one| one.violated.is_none() && one.memory),
            seconds(column),
            column.iter().map(|one| one.seconds).sum::<f64>(),
            refined.iter().max().unwrap_or(&0),
            column.iter().map(|one| one.nodes).sum::<u64>(),
        );
    }
    let pairs = [
        ("tupling over cpds reduced prefix (paper 000: 34)", 3, 0),
        ("reduced over counted, prefix (paper 004: 3.4)", 5, 3),
        ("reduced over counted, both", 4, 2),
        ("both over prefix, reduced", 3, 2),
    ];
    out.push('\n');
    for (what, slow, fast) in pairs {
        let (speed, geometric) = ratio(&columns[slow], &columns[fast]);
        let _ = writeln!(out, "{what}: {speed:.1} times in all, geometric mean {geometric:.1}");
    }
    out.push('\n');
    out
}

/// How prefix automata grow with `k` on the stack example, beside the strings that they stand for.
fn prefixes() -> Result<String, String> {
    let text = include_str!("../../../examples/stack.eml");
    // A thread that pops for ever has words of every length.
    let text = text.replacen("main { popwrap(); }", "main { while (*) popwrap(); }", 1);
    let parsed = selvedge_front_eml::parse(&text).program;
    let program = parsed.ok_or("the stack example is not valid EML")?;
    let thread = program.threads.ids().next().ok_or("the stack example has no thread")?;
    let budget = Budget::new();
    let (component, actions) =
        all_events(&program, thread, &budget).map_err(|why| format!("{why:?}"))?;
    let alphabet: Vec<SharedAction> = (0..actions).map(SharedAction::from_index).collect();
    let mut out = "prefixes of a thread of the stack example that pops again and again\n\n\
                   | k | nodes | strings | ms |\n|---|---|---|---|\n"
        .to_owned();
    for k in 2..=20 {
        let start = Instant::now();
        let words = PrefixAutomaton::new(&component, alphabet.clone(), k, usize::MAX, &budget)
            .map_err(|stop| format!("{stop:?}"))?;
        let elapsed = start.elapsed().as_secs_f64() * 1000.0;
        let _ = writeln!(out, "| {k} | {} | {} | {elapsed:.1} |", words.nodes(), words.strings());
    }
    out.push('\n');
    Ok(out)
}

/// Rings of threads that hand on a token over channels, with and without recursion.
fn rings(most: usize, alarm: &Alarm) -> Result<String, String> {
    let mut out = "rings of threads that hand on a token, and whether two of them can write at once\n\n\
                   | threads | recursive | verdict | k | product states | s |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for recursive in [false, true] {
        for threads in 2..=most {
            let program = selvedge_front_eml::parse(&ring(threads, recursive)).program;
            let program = program.ok_or("a ring is not valid EML")?;
            let ids: Vec<_> = program.threads.ids().collect();
            let locations: Vec<_> = program.locations.ids().collect();
            let race = Question::Race(races(&ids, &locations).remove(0));
            let start = Instant::now();
            let options = Options::new(Some(EngineKind::Cpds));
            let budget = alarm.budget(Duration::from_secs(5));
            let report = answer(&Prepared::new(&program), &[race], &options, &budget, &mut |_| {})
                .map_err(|error| error.to_string())?;
            let given = &report.answers[0];
            let k = given.refined.as_ref().and_then(selvedge_program::Refined::most);
            let counts = &report.statistics.counts;
            let states = counts.iter().find(|(name, _)| *name == "product-states");
            let _ = writeln!(
                out,
                "| {threads} | {} | {} | {} | {} | {:.3} |",
                if recursive { "yes" } else { "no" },
                given.verdict.word(),
                k.map_or("-".to_owned(), |k| k.to_string()),
                states.map_or(0, |&(_, states)| states),
                start.elapsed().as_secs_f64()
            );
        }
    }
    out.push('\n');
    Ok(out)
}

/// The first thread has the token at first.
fn ring(threads: usize, recursive: bool) -> String {
    let names: Vec<String> = (0..threads).map(|at| format!("c{at}")).collect();
    let mut text = format!("chan : {};\nvar : x;\n", names.join(", "));
    for at in 0..threads {
        let next = (at + 1) % threads;
        let turn = if at == 0 {
            format!("write x; send c{next}; recv c{at};")
        } else {
            format!("recv c{at}; write x; send c{next};")
        };
        let body = if recursive {
            format!("again {{ {turn} if (*) again(); }} main {{ again(); }}")
        } else {
            format!("main {{ while (*) {{ {turn} }} }}")
        };
        let _ = writeln!(text, "process T{at} {{ {body} }}");
    }
    text
}
