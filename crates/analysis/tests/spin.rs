//! Formulas without `X` about programs without recursion, against SPIN from end to end: the program is written
//! as Promela, one atomic step for each of ours, and the verifier looks for a run that satisfies the formula.
//! Skipped where `spin` or a C compiler is missing.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs.

#![expect(clippy::print_stdout, reason = "the large run shows its counts, and what was skipped")]

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::{Budget, Id};
use selvedge_program::{
    Action, Feature, Formula, LockId, NodeId, Program, Proposition, Question, Successors,
    TemporalQuestion, ThreadId,
};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Emphasis, Shape, random_model};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const FORMULAS: usize = 6;

const SHAPE: Shape = Shape {
    processes: (2, 2),
    locks: 2,
    locations: 1,
    functions: 1,
    statements: 4,
    nesting: 2,
    emphasis: Emphasis::Locks,
};

/// A thread without recursion as a graph: where it is, the node on top last and the return points below it.
struct Positions {
    numbers: BTreeMap<Vec<NodeId>, usize>,
    steps: Vec<(usize, Option<Action>, usize)>,
}

impl Positions {
    fn new(program: &Program, successors: &Successors, thread: ThreadId) -> Self {
        let main = &program.procedures[program.threads[thread].main];
        let mut found = Self { numbers: BTreeMap::new(), steps: Vec::new() };
        let mut open = vec![vec![main.entry]];
        found.numbers.insert(vec![main.entry], 0);
        while let Some(stack) = open.pop() {
            let from = found.numbers[&stack];
            let mut to = |next: Vec<NodeId>, action: Option<Action>, found: &mut Self| {
                let count = found.numbers.len();
                let number = *found.numbers.entry(next.clone()).or_insert(count);
                if number == count {
                    open.push(next);
                }
                found.steps.push((from, action, number));
            };
            let Some((&top, below)) = stack.split_last() else { continue };
            for &edge in successors.of(top) {
                let edge = &program.edges[edge];
                let mut next = [below, &[edge.target]].concat();
                if let Action::Call(callee) = edge.action {
                    next.push(program.procedures[callee].entry);
                }
                to(next, Some(edge.action), &mut found);
            }
            if top == program.procedures[program.nodes[top]].exit {
                to(below.to_vec(), None, &mut found);
            }
        }
        found
    }

    /// That the thread is in one of the positions whose top is such a node, or at its end.
    fn condition(&self, thread: usize, wanted: impl Fn(Option<NodeId>) -> bool) -> String {
        let own = self.numbers.iter().filter(|(stack, _)| wanted(stack.last().copied()));
        let own: Vec<String> = own.map(|(_, number)| format!("pc{thread} == {number}")).collect();
        if own.is_empty() { "false".to_owned() } else { format!("({})", own.join(" || ")) }
    }
}

fn promela(program: &Program, threads: &[Positions]) -> String {
    let mut text = format!("byte own[{0}];\nbyte held[{0}];\n", program.locks.len().max(1));
    for at in 0..threads.len() {
        let _ = writeln!(text, "short pc{at} = 0;");
    }
    for (at, positions) in threads.iter().enumerate() {
        let me = at + 1;
        let _ = writeln!(text, "active proctype t{at}() {{ do");
        for (from, action, to) in &positions.steps {
            let (guard, effect) = match action {
                Some(Action::Acquire(lock)) => {
                    let lock = lock.index();
                    (
                        format!(" && (own[{lock}] == 0 || own[{lock}] == {me})"),
                        format!("own[{lock}] = {me}; held[{lock}]++; "),
                    )
                }
                Some(Action::Release(lock)) => {
                    let lock = lock.index();
                    let free = format!("if :: held[{lock}] == 0 -> own[{lock}] = 0 :: else fi; ");
                    (String::new(), format!("held[{lock}]--; {free}"))
                }
                _ => (String::new(), String::new()),
            };
            let _ =
                writeln!(text, ":: atomic {{ pc{at} == {from}{guard} -> {effect}pc{at} = {to} }}");
        }
        text.push_str("od }\n");
    }
    text
}

fn ltl(formula: &Formula, threads: &[Positions]) -> String {
    let two = |f: &Formula, operator: &str, g: &Formula| {
        format!("({} {operator} {})", ltl(f, threads), ltl(g, threads))
    };
    match formula {
        Formula::Constant(value) => value.to_string(),
        Formula::Proposition(one) => match one {
            Proposition::At(thread, nodes) => {
                let at = thread.index();
                threads[at].condition(at, |top| top.is_some_and(|top| nodes.contains(&top)))
            }
            Proposition::Ended(thread) => {
                threads[thread.index()].condition(thread.index(), |top| top.is_none())
            }
            Proposition::Holds(thread, lock) => {
                format!("(own[{}] == {})", lock.index(), thread.index() + 1)
            }
            other => panic!("no such atom is made: {other:?}"),
        },
        Formula::Not(f) => format!("(! {})", ltl(f, threads)),
        Formula::Next(_) => panic!("X is not made"),
        Formula::And(f, g) => two(f, "&&", g),
        Formula::Or(f, g) => two(f, "||", g),
        Formula::Until(f, g) => two(f, "U", g),
        Formula::Release(f, g) => two(f, "V", g),
    }
}

fn random(rng: &mut Rng, program: &Program, nodes: &[Vec<NodeId>], depth: u32) -> Formula {
    if depth == 0 {
        let at = rng.below(nodes.len());
        let thread = ThreadId::from_index(at);
        return Formula::Proposition(match rng.below(4) {
            0 => Proposition::Ended(thread),
            1 if !program.locks.is_empty() => {
                Proposition::Holds(thread, LockId::from_index(rng.below(program.locks.len())))
            }
            _ => Proposition::At(thread, vec![*rng.pick(&nodes[at])]),
        });
    }
    let f = random(rng, program, nodes, depth - 1);
    let g = random(rng, program, nodes, depth - 1);
    match rng.below(8) {
        0 => Formula::not(f),
        1 => Formula::and(f, g),
        2 => Formula::or(f, g),
        3 => Formula::until(f, g),
        4 => Formula::release(f, g),
        5 => Formula::finally(f),
        6 => Formula::globally(f),
        _ => Formula::globally(Formula::finally(f)),
    }
}

/// How long a tool may take: SPIN's translation of a formula can take hours.
const LIMIT: Duration = Duration::from_mins(1);

/// What a tool prints; nothing if it takes too long.
fn call(folder: &Path, program: &str, arguments: &[&str]) -> Option<String> {
    let printed = folder.join("printed");
    let file = || std::fs::File::options().append(true).open(&printed).expect("a file");
    std::fs::write(&printed, "").expect("written");
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(file())
        .stderr(file())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if started.elapsed() > LIMIT {
            child.kill().expect("killed");
            child.wait().expect("a child");
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let said = std::fs::read_to_string(&printed).expect("read");
    assert!(status.success(), "{program}: {said}");
    Some(said)
}

/// Whether SPIN finds a run that satisfies each of these formulas; nothing if it takes too long.
fn spin(folder: &Path, text: &str, formulas: &[String]) -> Option<Vec<bool>> {
    let mut all = text.to_owned();
    for (at, formula) in formulas.iter().enumerate() {
        let _ = writeln!(all, "ltl f{at} {{ !{formula} }}");
    }
    std::fs::write(folder.join("model.pml"), all).expect("written");
    call(folder, "spin", &["-a", "model.pml"])?;
    call(folder, "gcc", &["-O0", "-w", "-DNOREDUCE", "-o", "pan", "pan.c"])?;
    let verify = |at: usize| {
        let name = format!("f{at}");
        let said = call(folder, "./pan", &["-a", "-E", "-m1000000", "-N", &name])?;
        assert!(!said.contains("max search depth too small"), "{said}");
        let errors = said.split_once("errors: ").expect("a result").1;
        Some(!errors.starts_with('0'))
    };
    (0..formulas.len()).map(verify).collect()
}

fn installed() -> bool {
    let runs = |program: &str, argument: &str| {
        let mut command = Command::new(program);
        command.arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let there = runs("spin", "-V") && runs("gcc", "--version");
    if !there {
        println!("skipped: `spin` or `gcc` is not installed");
    }
    there
}

#[test]
fn formulas_without_next_agree_with_spin() {
    if !installed() {
        return;
    }
    let asked = std::env::var("SELVEDGE_PROGRAMS").ok().and_then(|count| count.parse().ok());
    let wanted: usize = asked.unwrap_or(1);
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spin");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (mut compared, mut slow, mut counts) = (0, 0, [0; 2]);
    for seed in 0.. {
        if compared == wanted {
            break;
        }
        let mut rng = Rng::new(seed);
        let program = random_model(&mut rng, &SHAPE).to_program();
        if program.features().contains(Feature::Recursion) {
            continue;
        }
        let successors = Successors::new(&program);
        let threads: Vec<Positions> =
            program.threads.ids().map(|id| Positions::new(&program, &successors, id)).collect();
        let nodes: Vec<Vec<NodeId>> = threads
            .iter()
            .map(|one| one.numbers.keys().filter_map(|stack| stack.last().copied()).collect())
            .collect();
        let formulas: Vec<Formula> = (0..FORMULAS)
            .map(|_| {
                let depth = rng.between(1, 3) as u32;
                random(&mut rng, &program, &nodes, depth)
            })
            .collect();
        let questions: Vec<Question> = formulas
            .iter()
            .map(|formula| Question::Temporal(TemporalQuestion::some(formula.clone())))
            .collect();
        let options = Options::new(Some(EngineKind::Exhaustive));
        let prepared = Prepared::new(&program);
        let report = answer(&prepared, &questions, &options, &Budget::new(), &mut |_| {});
        let ours: Vec<Option<bool>> = report
            .expect("every run replays")
            .answers
            .iter()
            .map(selvedge_program::Answer::is_good)
            .collect();
        let texts: Vec<String> = formulas.iter().map(|one| ltl(one, &threads)).collect();
        let Some(theirs) = spin(&folder, &promela(&program, &threads), &texts) else {
            slow += 1;
            continue;
        };
        compared += 1;
        for (at, &found) in theirs.iter().enumerate() {
            let source = || selvedge_program::text::print(&program);
            assert_eq!(ours[at], Some(found), "seed {seed}: {:?}\n{}", formulas[at], source());
            counts[usize::from(found)] += 1;
        }
    }
    let [fail, hold] = counts;
    println!("{compared} programs, {hold} formulas hold, {fail} fail; SPIN too slow on {slow}");
}
