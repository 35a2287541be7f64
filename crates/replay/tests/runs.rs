//! Runs are accepted exactly if they are runs, and what the replayer makes of them is what happened.

use selvedge_base::{Id, IdVec, Place};
use selvedge_program::text::parse;
use selvedge_program::{
    EdgeId, GlobalId, LocalId, Move, NodeId, Position, ProcedureId, Program, Question, Stacks,
    StatePattern, StepKind, Successors, Target, ThreadId, Trace, Valuation, Value, Variable,
    Witness, WitnessStep,
};
use selvedge_replay::{State, replay};
use selvedge_testkit::Rng;
use selvedge_testkit::boolean::decorate::decorate;
use selvedge_testkit::boolean::generate::{BoolShape, random_bool_model};
use std::ops::ControlFlow;

fn thread(at: usize) -> ThreadId {
    ThreadId::from_index(at)
}

fn bits(text: &str) -> Valuation {
    Valuation::of_bits(text.chars().map(|bit| bit == '1'))
}

/// The target that every state is in.
fn anywhere(program: &Program) -> Target {
    let threads = IdVec::filled(Position::Any, program.threads.len());
    Target::State(StatePattern { globals: Vec::new(), locks: Vec::new(), threads })
}

/// A step as `thread edge globals locals`, with `r` for a return from an exit node.
fn step(text: &str) -> WitnessStep {
    let words: Vec<&str> = text.split(' ').collect();
    let step = match words[1] {
        "r" => Move::Return,
        edge => Move::Edge(EdgeId::from_index(edge.parse().expect("a number"))),
    };
    let thread = thread(words[0].parse().expect("a number"));
    let bits = |at: usize| bits(words[at].trim_matches('-'));
    WitnessStep { globals: bits(2), locals: bits(3), ..WitnessStep::plain(thread, step, None) }
}

fn run(globals: &str, locals: &[&str], steps: &[&str]) -> Witness {
    Witness {
        globals: bits(globals),
        locals: locals.iter().map(|locals| bits(locals)).collect(),
        steps: steps.iter().map(|text| step(text)).collect(),
        fails: false,
        ..Witness::default()
    }
}

/// The stack of the thread that moves before each step, as a reader of the trace can rebuild it:
/// nodes from the moves, procedures by [`Stacks`], which must agree.
fn stacks_before(program: &Program, trace: &Trace) -> Vec<Vec<NodeId>> {
    let entry = |procedure: ProcedureId| program.procedures[procedure].entry;
    let mut nodes: IdVec<ThreadId, Vec<NodeId>> =
        program.threads.iter().map(|thread| vec![entry(thread.main)]).collect();
    let mut procedures = Stacks::new(program);
    let mut before = Vec::new();
    for step in &trace.steps {
        let stack = &mut nodes[step.thread];
        before.push(stack.clone());
        let open: Vec<ProcedureId> = stack.iter().map(|&node| program.nodes[node]).collect();
        assert_eq!(open, procedures.of(step.thread));
        if let (Move::Edge(edge), Some(top)) = (step.step, stack.last_mut()) {
            assert_eq!(*top, program.edges[edge].source);
            *top = program.edges[edge].target;
        }
        match step.kind {
            StepKind::Call(callee) => stack.push(entry(callee)),
            StepKind::Return(_) => _ = stack.pop(),
            _ => {}
        }
        procedures.follow(step);
    }
    before
}

/// Two threads: the first calls `f` and starts the second, which asserts.
const PROGRAM: &str = "program
global x = F
global y
thread A @1:1 main main {
  procedure main @1:2 locals l end @1:3 nodes 5 entry 0 exit 4 {
    0 -> 1 call f(x, *) into x, l do l := * @2:1
    1 -> 2 start B(l) @2:2
    2 -> 3 begin atomic @2:3
    3 -> 4 end atomic when l do y := !y constrain 'y => x @2:4
  }
  procedure f @1:4 (a, b) -> 2 enforce !a end @1:5 nodes 3 entry 0 exit 2 {
    0 -> 1 skip do b := * @3:1
    1 -> 2 return b, !b @3:2
  }
}
thread B waits main main {
  procedure main (p) locals q nodes 2 entry 0 exit 1 {
    0 -> 1 assert p & q when !y @4:1
  }
}
label L at A main 2
";

fn program() -> Program {
    parse(PROGRAM).0.expect("no errors")
}

/// All of it: call, update, return, start, atomic section.
fn good() -> Witness {
    run(
        "01",
        &["0", "10"],
        &["0 0 01 01", "0 4 01 00", "0 5 01 1", "0 1 01 1", "0 2 01 1", "0 3 00 1", "1 6 00 10"],
    )
}

#[test]
fn a_run_becomes_a_trace() {
    let program = program();
    let trace = replay(&program, &Question::Reach(anywhere(&program).clone()), &good());
    assert!(trace.is_err(), "the last step fails: {trace:?}");
    let failing = Witness { fails: true, ..good() };
    let trace = replay(&program, &Question::Reach(Target::Assertion), &failing).expect("a run");
    assert_eq!((trace.contexts(), trace.rounds()), (2, 1));
    assert_eq!(trace.globals, bits("01"));
    let stacks = stacks_before(&program, &trace);
    let shown: Vec<String> = trace
        .steps
        .iter()
        .zip(&stacks)
        .map(|(step, stack)| {
            let name = |node: &NodeId| &program.procedures[program.nodes[*node]].name;
            let stack: Vec<String> =
                stack.iter().map(|node| format!("{}.{}", name(node), node.index())).collect();
            let changes: Vec<String> = step
                .changes
                .iter()
                .map(|(variable, value)| match variable {
                    Variable::Global(id) => format!("g{}={}", id.index(), value),
                    Variable::Local(id) => format!("l{}={}", id.index(), value),
                })
                .collect();
            let fails = if step.fails.is_some() { " fails" } else { "" };
            format!(
                "{} {} [{}] {}{fails}",
                step.thread.index(),
                step.place,
                stack.join(" "),
                changes.join(" ")
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "0 2:1 [main.0] l0=0 l1=1",
            "0 3:1 [main.1 f.5] l1=0",
            "0 3:2 [main.1 f.6] l0=1",
            "0 2:2 [main.1] ",
            "0 2:3 [main.2] ",
            "0 2:4 [main.3] g1=0",
            "1 4:1 [main.8]  fails",
        ]
    );
}

#[test]
fn a_return_from_the_exit_has_the_place_of_the_end() {
    let text = "program global x = F thread A main main {
        procedure main nodes 2 entry 0 exit 1 {\n 0 -> 1 call f() into x\n }
        procedure f -> 1 end @7:8 nodes 1 entry 0 exit 0 { } }";
    let program = parse(text).0.expect("no errors");
    for result in ["0", "1"] {
        let last = format!("0 r {result} -");
        let run = run("0", &[""], &["0 0 0 -", &last, "0 r 0 -"][..2]);
        let trace = replay(&program, &Question::Reach(anywhere(&program).clone()), &run)
            .expect("any value is right");
        assert_eq!(trace.steps[1].place, Place::new(7, 8));
        assert_eq!(trace.steps[1].changes.len(), usize::from(result == "1"));
    }
}

#[test]
fn targets_are_checked_at_the_end() {
    let program = program();
    let node = |at| NodeId::from_index(at);
    let outcome = |steps: usize, fails: bool, target: &Target| {
        let mut run = good();
        run.steps.truncate(steps);
        run.fails = fails;
        replay(&program, &Question::Reach(target.clone()), &run)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let label = Target::Label(vec![program.labels[0].node]);
    assert_eq!(outcome(4, false, &label), Ok(()));
    let elsewhere = "no thread is at the label at the end";
    for steps in [0, 3, 5, 6] {
        assert_eq!(outcome(steps, false, &label), Err(elsewhere.to_owned()), "{steps}");
    }
    // The second thread is at its entry, but only since it was started.
    let entry = Target::Label(vec![node(8)]);
    assert_eq!(outcome(3, false, &entry), Err(elsewhere.to_owned()));
    assert_eq!(outcome(4, false, &entry), Ok(()));
    let state = |globals: &[(usize, bool)], positions: [Position; 2]| {
        let globals =
            globals.iter().map(|&(at, value)| (GlobalId::from_index(at), value.into())).collect();
        let threads = positions.into_iter().collect();
        Target::State(StatePattern { globals, locks: Vec::new(), threads })
    };
    let wrong = "the state at the end is not the one that was asked for";
    for (steps, target, right) in [
        (0, state(&[(0, false), (1, true)], [Position::At(vec![node(0)]), Position::Any]), true),
        (0, state(&[(1, false)], [Position::Any, Position::Any]), false),
        (0, state(&[], [Position::Any, Position::At(vec![node(8)])]), false),
        (4, state(&[], [Position::Any, Position::At(vec![node(7), node(8)])]), true),
        (4, state(&[], [Position::Ended, Position::Any]), false),
        (0, state(&[], [Position::Any, Position::Ended]), false),
        // Inside an atomic section there is no state to be reached.
        (5, state(&[], [Position::Any, Position::Any]), false),
        (6, state(&[(1, false)], [Position::At(vec![node(4)]), Position::Any]), true),
    ] {
        let expected = if right { Ok(()) } else { Err(wrong.to_owned()) };
        assert_eq!(outcome(steps, false, &target), expected, "{steps} {target:?}");
    }
    assert_eq!(outcome(7, true, &Target::Assertion), Ok(()));
    let missing = Err("the run does not end with an assertion that fails".to_owned());
    assert_eq!(outcome(6, false, &Target::Assertion), missing);
    assert_eq!(outcome(0, true, &Target::Assertion), missing);
    let unasked = "the run ends with an assertion that fails, which was not asked for";
    assert_eq!(outcome(7, true, &entry), Err(unasked.to_owned()));
    let unknown = Target::State(StatePattern {
        globals: vec![(GlobalId::from_index(9), 1)],
        locks: Vec::new(),
        threads: IdVec::filled(Position::Any, 2),
    });
    assert_eq!(
        outcome(0, false, &unknown),
        Err("the target names a global that does not exist".to_owned())
    );
}

/// Spoils the good run and returns the complaint.
fn spoilt(spoil: impl FnOnce(&mut Witness)) -> String {
    let program = program();
    let mut run = Witness { fails: true, ..good() };
    spoil(&mut run);
    replay(&program, &Question::Reach(Target::Assertion), &run)
        .expect_err("it is spoilt")
        .to_string()
}

#[test]
fn what_is_wrong_is_said_in_words() {
    let set = |at: usize, text: &'static str| move |run: &mut Witness| run.steps[at] = step(text);
    for (complaint, expected) in [
        (spoilt(|run| run.globals = bits("11")), "x does not begin with its initial value"),
        (
            spoilt(|run| run.globals = bits("0")),
            "the run does not begin with a value for every global",
        ),
        (spoilt(|run| run.locals = IdVec::new()), "the run has not a value for every local of A"),
        (
            spoilt(set(0, "9 0 01 01")),
            "step 1: thread 9 cannot call f at 2:1: there is no such thread",
        ),
        (spoilt(set(0, "0 99 01 01")), "step 1: A cannot take edge 99: there is no such edge"),
        (
            spoilt(set(0, "0 r 01 01")),
            "step 1: A cannot return: the thread is not at the exit of a procedure",
        ),
        (spoilt(set(0, "0 0 01 11")), "step 1: A cannot call f at 2:1: a cannot become T"),
        (
            spoilt(set(0, "0 0 00 01")),
            "step 1: A cannot call f at 2:1: y changes without being assigned",
        ),
        (
            spoilt(set(0, "0 0 01 0")),
            "step 1: A cannot call f at 2:1: another number of values is recorded than the 2 of the variables",
        ),
        (
            spoilt(set(0, "1 6 01 10")),
            "step 1: B cannot pass the assertion at 4:1: the thread was not started yet",
        ),
        (
            spoilt(set(1, "0 4 01 10")),
            "step 2: A cannot take the step at 3:1: a changes without being assigned",
        ),
        (spoilt(set(2, "0 5 01 0")), "step 3: A cannot return at 3:2: l cannot become F"),
        (spoilt(set(2, "0 5 11 1")), "step 3: A cannot return at 3:2: x cannot become T"),
        (
            spoilt(|run| run.locals[thread(1)] = bits("00")),
            "step 4: A cannot start B at 2:2: p cannot become F",
        ),
        (
            spoilt(|run| run.locals[thread(1)] = bits("0")),
            "step 4: A cannot start B at 2:2: another number of values is recorded than the 2 of the variables",
        ),
        (
            spoilt(set(5, "1 6 01 10")),
            "step 6: B cannot pass the assertion at 4:1: A is inside an atomic section",
        ),
        (
            spoilt(set(5, "0 3 01 1")),
            "step 6: A cannot end its atomic section at 2:4: y cannot become T",
        ),
        (
            spoilt(set(6, "1 6 00 11")),
            "step 7: B cannot pass the assertion at 4:1: q changes without being assigned",
        ),
        (spoilt(set(6, "0 r 00 -")), "step 7: A cannot return: it is no assertion that can fail"),
        (
            spoilt(|run| run.locals[thread(1)] = bits("11")),
            "step 7: B cannot pass the assertion at 4:1: it is no assertion that can fail",
        ),
        (
            spoilt(|run| run.fails = false),
            "step 7: B cannot pass the assertion at 4:1: the asserted condition cannot be true",
        ),
        (
            spoilt(|run| drop(run.steps.splice(4..6, []))),
            "step 5: B cannot pass the assertion at 4:1: its condition cannot be true",
        ),
        (
            spoilt(|run| drop(run.steps.pop())),
            "step 6: A cannot end its atomic section at 2:4: it is no assertion that can fail",
        ),
    ] {
        assert_eq!(complaint, expected);
    }
}

/// Refusals that the program above does not show.
#[test]
fn further_refusals_are_said_in_words() {
    let refused = |text: &str, steps: &[&str]| {
        let program = parse(text).0.expect("no errors");
        let locals = vec![""; program.threads.len()];
        let run = run("0", &locals, steps);
        let error = replay(&program, &Question::Reach(anywhere(&program).clone()), &run)
            .expect_err("it is refused");
        error.to_string().rsplit_once(": ").expect("a reason").1.to_owned()
    };
    let main = |frame: &str, edge: &str| {
        format!(
            "program global x = F thread A main m {{ procedure m {frame} nodes 2 entry 0 exit 1 {{ {edge} }} }}
             thread B waits main m {{ procedure m nodes 1 entry 0 exit 0 {{ }} }}
             thread C waits after B main m {{ procedure m nodes 1 entry 0 exit 0 {{ }} }}"
        )
    };
    for (frame, edge, steps, reason) in [
        ("", "0 -> 1 skip constrain x", &["0 0 0 -"][..], "its constraint cannot be true"),
        ("enforce x", "0 -> 1 skip", &["0 0 0 -"], "what m enforces does not hold"),
        (
            "enforce !x",
            "0 -> 1 skip do x := T",
            &["0 0 1 -"],
            "what m enforces would not hold after it",
        ),
        ("", "0 -> 1 end atomic", &["0 0 0 -"], "the thread is in no atomic section"),
        ("", "0 -> 0 start B", &["0 0 0 -", "0 0 0 -"], "B was started before"),
        ("", "0 -> 0 start C", &["0 0 0 -"], "C comes after B, which still waits"),
        ("", "0 -> 1 skip", &["0 0 0 -", "0 r 0 -", "0 r 0 -"], "the thread has finished"),
    ] {
        assert_eq!(refused(&main(frame, edge), steps), reason);
    }
    // 30 hidden choices in one step.
    let locals: Vec<String> = (0..30).map(|at| format!("l{at}")).collect();
    let many = format!(
        "program global x = F thread A main m {{
            procedure m nodes 2 entry 0 exit 1 {{ 0 -> 1 call f }}
            procedure f locals {} nodes 2 entry 0 exit 1 {{ 0 -> 1 return do {} := {} constrain {} }} }}",
        locals.join(", "),
        locals.join(", "),
        vec!["*"; 30].join(", "),
        locals.iter().map(|name| format!("'{name}")).collect::<Vec<_>>().join(" & "),
    );
    let zeros = format!("0 0 0 {}", "0".repeat(30));
    assert_eq!(refused(&many, &[&zeros, "0 1 0 -"]), "too many choices are open");
}

/// What a caller chooses in the step of a call is seen only after the return.
#[test]
fn hidden_choices_are_followed() {
    let text = |locals: usize| {
        let names: Vec<String> = (0..locals).map(|at| format!("l{at}")).collect();
        let (names, choices) = (names.join(", "), vec!["*"; locals].join(", "));
        format!(
            "program thread A main m {{
                procedure m locals {names} nodes 2 entry 0 exit 1 {{
                    0 -> 1 call f do {names} := {choices} constrain 'l0 }}
                procedure f nodes 2 entry 0 exit 1 {{ 0 -> 1 return }} }}"
        )
    };
    let program = parse(&text(3)).0.expect("no errors");
    for (after, right) in [("100", true), ("111", true), ("011", false)] {
        let run = run("", &["000"], &["0 0 - -", &format!("0 1 - {after}")]);
        let trace = replay(&program, &Question::Reach(anywhere(&program).clone()), &run);
        assert_eq!(trace.is_ok(), right, "{after}: {trace:?}");
        if let Ok(trace) = trace {
            // The change happened in the step of the call, and is seen at the return.
            assert_eq!(trace.steps[0].changes, []);
            let changed: Vec<(Variable, Value)> = (0..3)
                .filter(|&at| after.as_bytes()[at] == b'1')
                .map(|at| (Variable::Local(LocalId::from_index(at)), 1))
                .collect();
            assert_eq!(trace.steps[1].changes, changed);
            assert_eq!(trace.witness(&program), run);
        }
    }
    let many = parse(&text(12)).0.expect("no errors");
    let run = run("", &["000000000000"], &["0 0 - -", "0 1 - 111111111111"]);
    let error = replay(&many, &Question::Reach(anywhere(&many).clone()), &run)
        .expect_err("too many states");
    assert!(error.message.ends_with("too many choices are open"), "{error}");
}

/// A random run of a program, and the states that it passes.
fn random_walk(program: &Program, rng: &mut Rng, length: usize) -> (Witness, Vec<State>) {
    let successors = Successors::new(program);
    let mut initial = Vec::new();
    let _ = State::for_each_initial(program, &mut |state| {
        initial.push(state);
        ControlFlow::Continue(())
    });
    let mut states = vec![rng.pick(&initial).clone()];
    let mut run = Witness { globals: states[0].globals.clone(), ..Witness::default() };
    for thread in program.threads.ids() {
        run.locals.push(states[0].threads[thread].activations[0].locals.clone());
    }
    for _ in 0..length {
        let state = &states[states.len() - 1];
        let thread = ThreadId::from_index(rng.below(program.threads.len()));
        let mut next = Vec::new();
        let _ = state.successors(program, &successors, thread, &mut |step, state| {
            next.push((step.clone(), state));
            ControlFlow::Continue(())
        });
        if next.is_empty() {
            continue;
        }
        let (step, state) = rng.pick(&next).clone();
        for started in program.threads.ids() {
            if states[states.len() - 1].waits(started) && !state.waits(started) {
                run.locals[started] = state.threads[started].activations[0].locals.clone();
            }
        }
        let top = state.threads[thread].activations.last();
        let locals = top.map(|top| top.locals.clone()).unwrap_or_default();
        let globals = state.globals.clone();
        let plain = WitnessStep::plain(thread, step.step, None);
        run.steps.push(WitnessStep { globals, locals, ..plain });
        states.push(state);
    }
    (run, states)
}

/// Whether a run is one, by following every state that agrees with it.
fn is_run(program: &Program, run: &Witness) -> bool {
    let successors = Successors::new(program);
    let mut states = Vec::new();
    let _ = State::for_each_initial(program, &mut |state| {
        let agrees = |thread: ThreadId| {
            let data = &state.threads[thread];
            state.waits(thread) || data.activations[0].locals == run.locals[thread]
        };
        if state.globals == run.globals && program.threads.ids().all(agrees) {
            states.push(state);
        }
        ControlFlow::Continue(())
    });
    for recorded in &run.steps {
        let mut next: Vec<State> = Vec::new();
        for state in &states {
            let _ = state.successors(program, &successors, recorded.thread, &mut |step, after| {
                let top = after.threads[recorded.thread].activations.last();
                let locals = top.map(|top| top.locals.clone()).unwrap_or_default();
                let started = program.threads.ids().all(|thread| {
                    state.waits(thread) == after.waits(thread)
                        || after.threads[thread].activations[0].locals == run.locals[thread]
                });
                let agrees = step.step == recorded.step
                    && after.globals == recorded.globals
                    && locals == recorded.locals
                    && started;
                if agrees && !next.contains(&after) {
                    next.push(after);
                }
                ControlFlow::Continue(())
            });
        }
        states = next;
    }
    !states.is_empty()
}

fn flip(rng: &mut Rng, values: &mut Valuation) {
    if !values.0.is_empty() {
        let at = rng.below(values.0.len());
        values.0[at] = !values.0[at];
    }
}

/// Changes one thing in a run.
fn mutate(program: &Program, rng: &mut Rng, run: &mut Witness) {
    if run.steps.is_empty() || rng.percent(10) {
        if rng.percent(50) {
            flip(rng, &mut run.globals);
        } else {
            let thread = thread(rng.below(program.threads.len()));
            flip(rng, &mut run.locals[thread]);
        }
        return;
    }
    let at = rng.below(run.steps.len());
    match rng.below(6) {
        0 => flip(rng, &mut run.steps[at].globals),
        1 | 2 => flip(rng, &mut run.steps[at].locals),
        3 => run.steps[at].step = Move::Edge(EdgeId::from_index(rng.below(program.edges.len()))),
        4 => drop(run.steps.remove(at)),
        _ => run.steps[at].thread = thread(rng.below(program.threads.len())),
    }
}

#[test]
fn random_runs_are_accepted_and_mutants_only_if_they_are_runs() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..250 {
        let rng = &mut Rng::new(seed);
        let mut program = random_bool_model(rng, &BoolShape::SMALL).to_program();
        if seed % 2 == 0 {
            decorate(&mut program, rng);
        }
        // Every state counts, also inside an atomic section, which a label does.
        let everywhere = Target::Label(program.nodes.ids().collect());
        for _ in 0..4 {
            let (run, states) = random_walk(&program, rng, 14);
            let end = &states[states.len() - 1];
            if program.threads.ids().all(|thread| end.top(thread).is_none()) {
                continue;
            }
            let trace = replay(&program, &Question::Reach(everywhere.clone()), &run);
            let trace = trace.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_eq!((trace.contexts(), trace.rounds()), (run.contexts(), run.rounds()));
            let stacks = stacks_before(&program, &trace);
            for ((step, state), stack) in trace.steps.iter().zip(&states).zip(stacks) {
                assert_eq!(stack, state.control.threads[step.thread].stack);
            }
            for (at, step) in trace.steps.iter().enumerate() {
                check_changes(&states[at], &states[at + 1], step.thread, &step.changes);
            }
            for _ in 0..8 {
                let mut mutant = run.clone();
                mutate(&program, rng, &mut mutant);
                let replayed = replay(&program, &Question::Reach(everywhere.clone()), &mutant);
                let ends = || replayed.as_ref().is_err_and(|error| error.step.is_none());
                let expected = is_run(&program, &mutant);
                assert!(
                    replayed.is_ok() == expected || ends(),
                    "seed {seed}: {replayed:?}, {expected}\n{mutant:?}"
                );
                accepted += usize::from(expected);
                refused += usize::from(!expected);
            }
        }
    }
    assert!(accepted > 500 && refused > 2000, "{accepted} {refused}");
}

/// The changes are those of the globals, and of the locals on top.
fn check_changes(before: &State, after: &State, thread: ThreadId, changes: &[(Variable, Value)]) {
    let globals = |state: &State| state.globals.clone();
    let mut rebuilt = globals(before);
    for (variable, value) in changes {
        if let Variable::Global(global) = variable {
            assert_ne!(rebuilt.get(*global), *value);
            rebuilt.0[global.index()] = *value;
        }
    }
    assert_eq!(rebuilt, globals(after));
    let (old, new) = (&before.threads[thread].activations, &after.threads[thread].activations);
    let Some(top) = new.last() else { return };
    let locals: Vec<(usize, Value)> = changes
        .iter()
        .filter_map(|(variable, value)| match variable {
            Variable::Local(local) => Some((local.index(), *value)),
            Variable::Global(_) => None,
        })
        .collect();
    if new.len() < old.len() {
        // What changed in the step of the call is seen at the return, too.
        let differs = |&at: &usize| old[new.len() - 1].locals.0[at] != top.locals.0[at];
        assert!(locals.iter().all(|&(at, value)| top.locals.0[at] == value));
        let listed = |at: usize| locals.iter().any(|&(one, _)| one == at);
        assert!((0..top.locals.0.len()).filter(differs).all(listed));
        return;
    }
    let opened = new.len() > old.len();
    let expected: Vec<(usize, Value)> = (0..top.locals.0.len())
        .filter(|&at| opened || old[new.len() - 1].locals.0[at] != top.locals.0[at])
        .map(|at| (at, top.locals.get(LocalId::from_index(at))))
        .collect();
    assert_eq!(locals, expected);
}

/// Runs that make no sense at all are refused, not crashed on.
#[test]
fn hostile_runs_do_no_harm() {
    let program = program();
    let rng = &mut Rng::new(5);
    for _ in 0..20_000 {
        let valuation = |rng: &mut Rng, most: usize| {
            Valuation::of_bits((0..rng.below(most)).map(|_| rng.percent(50)))
        };
        let mut steps = good().steps;
        steps.truncate(rng.below(8));
        for _ in 0..rng.below(3) {
            let step = match rng.below(4) {
                0 => Move::Return,
                _ => Move::Edge(EdgeId::from_index(rng.below(9))),
            };
            let (globals, locals) = (valuation(rng, 4), valuation(rng, 4));
            let (thread, matched) = (thread(rng.below(4)), None);
            let plain = WitnessStep::plain(thread, step, matched);
            steps.push(WitnessStep { globals, locals, ..plain });
        }
        let locals = if rng.percent(70) {
            good().locals
        } else {
            (0..rng.below(4)).map(|_| valuation(rng, 4)).collect()
        };
        let globals = if rng.percent(80) { bits("01") } else { valuation(rng, 4) };
        let run = Witness { globals, locals, steps, fails: rng.percent(50), ..Witness::default() };
        let target = if run.fails { Target::Assertion } else { anywhere(&program) };
        let _ = replay(&program, &Question::Reach(target.clone()), &run);
    }
}
