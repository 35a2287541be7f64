//! Long witnesses by deep recursion: replaying takes time and memory in proportion to the steps. A
//! replayer that copied stacks would need minutes here, and gigabytes if the trace kept them.

use selvedge_base::Id;
use selvedge_program::text::parse;
use selvedge_program::{
    EdgeId, GlobalId, LocationId, Move, Program, Question, Race, Stacks, StatePattern, StepKind,
    Target, ThreadId, Trace, Valuation, Witness, WitnessStep,
};
use selvedge_replay::replay;

const DEPTH: usize = 100_000;

/// `main` calls `f`, which calls itself; afterwards `A` and `B` are about to write. The edges are
/// numbered as they are written.
fn recursive(globals: &str) -> Program {
    let text = format!(
        "program
set s {{ x }}
{globals}
thread A main main {{
  procedure main nodes 3 entry 0 exit 2 {{
    0 -> 1 call f
    1 -> 2 write x
  }}
  procedure f nodes 2 entry 0 exit 1 {{
    0 -> 1 call f
    0 -> 1 skip
  }}
}}
thread B main main {{
  procedure main nodes 2 entry 0 exit 1 {{ 0 -> 1 write x }}
}}
"
    );
    parse(&text).0.expect("a valid program")
}

/// `DEPTH` nested calls, all of which return.
fn moves() -> Vec<Move> {
    let edge = |at: usize| Move::Edge(EdgeId::from_index(at));
    let mut moves = vec![edge(0)];
    moves.extend((1..DEPTH).map(|_| edge(2)));
    moves.push(edge(3));
    moves.extend((0..DEPTH).map(|_| Move::Return));
    moves
}

/// How many procedures of the moving thread are open at most.
fn highest(program: &Program, trace: &Trace) -> usize {
    let mut stacks = Stacks::new(program);
    let mut highest = 0;
    for step in &trace.steps {
        stacks.follow(step);
        highest = highest.max(stacks.of(step.thread).len());
    }
    assert_eq!(stacks.of(ThreadId::from_index(0)).len(), 1, "only main is left");
    highest
}

fn race() -> Question {
    Question::Race(Race {
        location: LocationId::from_index(0),
        threads: [0, 1].map(ThreadId::from_index),
    })
}

#[test]
fn deep_recursion_without_values() {
    let program = recursive("");
    let thread = ThreadId::from_index(0);
    let steps = moves().into_iter().map(|step| WitnessStep::plain(thread, step, None)).collect();
    let trace = replay(&program, &race(), &Witness::plain(steps)).expect("it is a run");
    assert_eq!(trace.steps.len(), 2 * DEPTH + 1);
    assert_eq!(highest(&program, &trace), DEPTH + 1);
    let kinds: Vec<StepKind> = trace.next.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [StepKind::Write(LocationId::from_index(0)); 2]);
}

/// That a program has variables does not make the steps slow that leave them alone.
#[test]
fn deep_recursion_beside_values() {
    let program = recursive("global g = F\nglobal h");
    let thread = ThreadId::from_index(0);
    let globals = Valuation(vec![0, 1]);
    let step =
        |step| WitnessStep { globals: globals.clone(), ..WitnessStep::plain(thread, step, None) };
    let steps: Vec<WitnessStep> = moves().into_iter().map(step).collect();
    let mut witness = Witness { globals: globals.clone(), ..Witness::plain(steps) };
    let trace = replay(&program, &race(), &witness).expect("it is a run");
    assert_eq!(highest(&program, &trace), DEPTH + 1);
    assert!(trace.steps.iter().all(|step| step.changes.is_empty()));
    // The values are compared all the same.
    witness.steps[DEPTH / 2].globals = Valuation(vec![1, 1]);
    let error = replay(&program, &race(), &witness).expect_err("nothing assigns g");
    assert_eq!(error.step, Some(DEPTH / 2 + 1));
}

/// What the vectors of a trace hold together.
fn size(trace: &Trace) -> usize {
    let steps = trace.steps.iter().chain(&trace.next);
    trace.globals.0.len() + steps.map(|step| 1 + step.changes.len()).sum::<usize>()
}

/// Every call passes a value, every activation has a local, every return changes a global: what is
/// kept of a step is what changes in it, however many activations are open.
#[test]
fn traces_of_recursion_with_values_are_linear() {
    let calls: usize = 1 << 16;
    let program = parse(
        "program
global g = F
thread A main main {
  procedure main nodes 2 entry 0 exit 1 { 0 -> 1 call f(T) into g }
  procedure f (a) -> 1 locals b nodes 3 entry 0 exit 2 {
    0 -> 1 call f(!a) into g
    1 -> 2 return !g
    0 -> 2 return a
  }
}
",
    )
    .0
    .expect("a valid program");
    let thread = ThreadId::from_index(0);
    let edge = |at: usize| Move::Edge(EdgeId::from_index(at));
    let local = |depth: usize| depth % 2 == 1;
    let mut steps = Vec::new();
    let mut push = |step: Move, g: bool, open: usize| {
        let locals = if open == 0 { vec![] } else { vec![local(open), true] };
        let (globals, locals) = (Valuation::of_bits([g]), Valuation::of_bits(locals));
        steps.push(WitnessStep { globals, locals, ..WitnessStep::plain(thread, step, None) });
    };
    for open in 1..=calls {
        push(edge(usize::from(open != 1)), false, open);
    }
    let mut g = local(calls);
    push(edge(3), g, calls - 1);
    for open in (0..calls - 1).rev() {
        g = !g;
        push(edge(2), g, open);
    }
    let witness = Witness { globals: Valuation(vec![0]), ..Witness::plain(steps) };
    assert_eq!(witness.steps.len(), 1 << 17);
    let threads = program.threads.iter().map(|_| selvedge_program::Position::Any).collect();
    let globals = vec![(GlobalId::from_index(0), g.into())];
    let target = Target::State(StatePattern { globals, locks: Vec::new(), threads });
    let trace = replay(&program, &Question::Reach(target), &witness).expect("it is a run");
    assert_eq!(highest(&program, &trace), calls + 1);
    assert!(size(&trace) > trace.steps.len(), "values do change");
    assert!(size(&trace) <= 4 * trace.steps.len(), "{} of {}", size(&trace), trace.steps.len());
}
