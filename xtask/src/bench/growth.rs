//! How the cost grows with one parameter at a time: statements, threads, recursion, phases, locks.

use super::Case;
use super::atomicity::{ENGINES, measure};
use selvedge_program::{IndexedSymbol, Ipa, Observable, Phase, Program, Question, Units};
use selvedge_testkit::family::{crossed_locks, nested_locks};
use selvedge_testkit::queries::all_patterns;
use selvedge_testkit::{Block, Function, Model, Process, Rng, Statement};

/// The cases of these sections.
pub fn cases(quick: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    let statements: &[usize] =
        if quick { &[1_000, 10_000] } else { &[1_000, 3_000, 10_000, 30_000, 100_000] };
    for &size in statements {
        grow(&mut cases, "growth: statements", size, |size| patterns(&statements_model(size)));
    }
    for &threads in if quick { &[2, 8][..] } else { &[2, 4, 8, 16, 32, 64] } {
        grow(&mut cases, "growth: threads", threads, |threads| patterns(&threads_model(threads)));
    }
    for &depth in if quick { &[10][..] } else { &[10, 100, 1_000] } {
        grow(&mut cases, "growth: recursion", depth, |depth| patterns(&recursion_model(depth)));
    }
    let locks: &[usize] = if quick { &[2, 4] } else { &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] };
    for &locks in locks {
        grow(&mut cases, "growth: locks, nested", locks, |locks| patterns(&nested_locks(locks)));
    }
    for &locks in locks {
        grow(&mut cases, "growth: locks, crossed", locks, |locks| patterns(&crossed_locks(locks)));
    }
    for &phases in if quick { &[2, 6][..] } else { &[2, 4, 6, 8] } {
        grow(&mut cases, "growth: phases", phases, phases_question);
    }
    cases
}

fn grow(
    cases: &mut Vec<Case>,
    section: &'static str,
    size: usize,
    question: fn(usize) -> (Program, Vec<Question>),
) {
    for engine in ENGINES {
        cases.push(Case {
            section,
            name: size.to_string(),
            variant: engine.name(),
            grows: false,
            run: Box::new(move || {
                let (program, queries) = question(size);
                measure(&program, &queries, engine)
            }),
        });
    }
}

/// All 32 patterns on all pairs of threads.
fn patterns(model: &Model) -> (Program, Vec<Question>) {
    let program = model.to_program();
    let queries = all_patterns(&program, Units::Exact);
    (program, queries)
}

/// Two processes of many functions of forty statements: accesses, branches, loops, units, locks,
/// calls downwards and sometimes upwards.
pub(super) fn statements_model(statements: usize) -> Model {
    let mut rng = Rng::new(statements as u64);
    let functions = (statements / 2 / 40).max(1);
    let processes = (0..2)
        .map(|_| Process {
            functions: (0..functions)
                .map(|position| Function {
                    locks: if rng.percent(20) { vec![rng.below(3)] } else { Vec::new() },
                    body: body(&mut rng, position, functions),
                })
                .collect(),
        })
        .collect();
    Model { locks: 3, locations: 2, processes }
}

fn body(rng: &mut Rng, position: usize, functions: usize) -> Block {
    let access = |rng: &mut Rng| {
        let location = rng.below(2);
        if rng.percent(70) { Statement::Read(location) } else { Statement::Write(location) }
    };
    let callee = |rng: &mut Rng| {
        // Mostly a later function, seldom an earlier one, so that recursion occurs.
        let later = (position + 1 + rng.below(4)).min(functions - 1);
        Statement::Call(if rng.percent(5) { rng.below(position + 1) } else { later })
    };
    let mut block: Block = (0..22).map(|_| access(rng)).collect();
    let lock = rng.below(3);
    let at = |rng: &mut Rng, block: &Block| rng.below(block.len() + 1);
    for _ in 0..2 {
        let place = at(rng, &block);
        block.insert(place, Statement::If(vec![access(rng)], vec![callee(rng)]));
        let place = at(rng, &block);
        block.insert(place, Statement::While(vec![access(rng), access(rng)]));
    }
    let place = at(rng, &block);
    let inner = vec![access(rng), callee(rng)];
    block.insert(place, Statement::Synchronized(lock, inner));
    let place = at(rng, &block);
    block.insert(place, Statement::Unit(vec![access(rng), access(rng), callee(rng)]));
    block
}

/// Half of the threads update two locations under a lock, half read them under it one by one.
pub(super) fn threads_model(threads: usize) -> Model {
    let update = vec![Statement::While(vec![Statement::Unit(vec![Statement::Synchronized(
        0,
        vec![Statement::Write(0), Statement::Write(1)],
    )])])];
    let inspect = vec![Statement::While(vec![Statement::Unit(vec![
        Statement::Synchronized(0, vec![Statement::Read(0)]),
        Statement::Synchronized(0, vec![Statement::Read(1)]),
    ])])];
    let processes = (0..threads)
        .map(|thread| {
            let body = if thread % 2 == 0 { update.clone() } else { inspect.clone() };
            Process { functions: vec![Function { locks: Vec::new(), body }] }
        })
        .collect();
    Model { locks: 1, locations: 2, processes }
}

/// A ladder of mutually recursive functions under reentrant locks.
fn recursion_model(depth: usize) -> Model {
    let process = |offset: usize| {
        let function = |level: usize| {
            let down = (level + 1).min(depth);
            let up = level.saturating_sub(1).max(1);
            Function {
                locks: vec![(level + offset) % 3],
                body: vec![
                    Statement::Read(0),
                    Statement::If(vec![Statement::Call(down)], vec![Statement::Write(0)]),
                    Statement::If(vec![Statement::Call(up)], vec![Statement::Return]),
                ],
            }
        };
        let main = Function {
            locks: Vec::new(),
            body: vec![Statement::While(vec![Statement::Unit(vec![Statement::Call(1)])])],
        };
        Process { functions: std::iter::once(main).chain((1..=depth).map(function)).collect() }
    };
    Model { locks: 3, locations: 1, processes: vec![process(0), process(1)] }
}

/// Two threads that write under locks.
pub(super) fn phases_model() -> Model {
    let process = |first: usize, second: usize| Process {
        functions: vec![Function {
            locks: Vec::new(),
            body: vec![Statement::While(vec![
                Statement::Synchronized(first, vec![Statement::Write(0)]),
                Statement::Synchronized(
                    first,
                    vec![
                        Statement::Read(0),
                        Statement::Synchronized(second, vec![Statement::Write(0)]),
                    ],
                ),
            ])],
        }],
    };
    Model { locks: 2, locations: 1, processes: vec![process(0, 1), process(1, 0)] }
}

/// The same, and an automaton that wants them to alternate this often.
fn phases_question(phases: usize) -> (Program, Vec<Question>) {
    let program = phases_model().to_program();
    let threads: Vec<_> = program.threads.ids().collect();
    let location = program.locations.ids().next().expect("the model has a location");
    let symbols = [
        Observable::Read(location),
        Observable::Write(location),
        Observable::BeginUnit,
        Observable::EndUnit,
    ];
    let loops: std::collections::BTreeSet<IndexedSymbol> = threads
        .iter()
        .flat_map(|&thread| symbols.map(|symbol| IndexedSymbol { thread, symbol }))
        .collect();
    let phase = |at: usize| Phase {
        name: format!("q{}", at + 1),
        loops: loops.clone(),
        advance: IndexedSymbol { thread: threads[at % 2], symbol: Observable::Write(location) },
    };
    let ipa = Ipa { name: "alternate".to_owned(), phases: (0..phases).map(phase).collect() };
    (program, vec![Question::Automaton(ipa)])
}
