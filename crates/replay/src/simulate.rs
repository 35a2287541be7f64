//! # Idea
//! One random run: at every state a thread that can move is drawn, and one of its steps with one of
//! its outcomes. The same seed gives the same run. An atomic section is one step: no way into it is drawn
//! that cannot end.
//!
//! # Requires
//! The program is valid.
//!
//! # Invariants
//! 1. All steps come from [`State::successors`] and [`State::can_fail`], so the witness replays.

use crate::run::{State, can_move};
use crate::step::Scheduled;
use selvedge_base::{Budget, IdVec};
use selvedge_program::{
    FailureKind, Local, Program, Start, Successors, ThreadId, Type, Unknown, Valuation, Value,
    Witness, WitnessStep,
};
use std::ops::ControlFlow;

/// A random run and how it ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Simulation {
    /// The run.
    pub witness: Witness,
    /// How it ended.
    pub end: SimulationEnd,
}

/// How a random run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SimulationEnd {
    /// Every thread that was started has returned from its main.
    Ended,
    /// Some thread has not returned, and no thread can move.
    Stuck,
    /// An assertion failed.
    Failed,
    /// The run has as many steps as were asked for.
    Steps,
    /// A limit was met.
    Open(Unknown),
}

/// The outcomes that are drawn from at a step; of more, the first ones.
const DRAWN: usize = 4096;

/// A random run of at most so many steps.
pub fn simulate(program: &Program, seed: u64, steps: u64, budget: &Budget) -> Simulation {
    let mut random = Random(seed);
    let successors = Successors::new(program);
    let mut state = initial(program, &mut random);
    let mut witness = Witness {
        globals: state.globals.clone(),
        locals: locals(program, &state),
        ..Witness::default()
    };
    let end = loop {
        let at_first = state.fails_at_first(program).iter().next();
        if let (true, Some(kind)) = (witness.steps.is_empty(), at_first) {
            (witness.fails, witness.failure) = (true, Some(kind));
            break SimulationEnd::Failed;
        }
        if witness.steps.len() as u64 >= steps {
            break SimulationEnd::Steps;
        }
        if let Some(reason) = budget.poll() {
            break SimulationEnd::Open(Unknown::Stopped(reason));
        }
        let drawn = match draw(program, &successors, &state, &mut random, budget) {
            Ok(Some(drawn)) => drawn,
            Ok(None) => {
                let ended = |thread: ThreadId| {
                    state.control.threads[thread].stack.is_empty() || state.top(thread).is_none()
                };
                let all = program.threads.ids().all(ended);
                break if all { SimulationEnd::Ended } else { SimulationEnd::Stuck };
            }
            Err(why) => break SimulationEnd::Open(why),
        };
        let Drawn { thread, step, next } = drawn;
        let failure = next.as_ref().err().copied();
        if let Ok(next) = next {
            note_started(program, &state, &next, &mut witness);
            state = next;
        }
        let top = state.threads[thread].activations.last();
        witness.steps.push(WitnessStep {
            thread,
            step: step.step,
            receivers: step.receivers,
            matched: None,
            globals: state.globals.clone(),
            locals: top.map_or_else(Valuation::default, |top| top.locals.clone()),
        });
        if failure.is_some() {
            (witness.fails, witness.failure) = (true, failure);
            break SimulationEnd::Failed;
        }
    };
    Simulation { witness, end }
}

/// A step that was drawn, with the next state or how it fails.
struct Drawn {
    thread: ThreadId,
    step: Scheduled,
    next: Result<State, FailureKind>,
}

/// A random step of a random thread that can move; `None` if no thread can. A step into an atomic section
/// that is not known to end is not drawn.
///
/// # Errors
/// If no other step was found and one may have been left out.
fn draw(
    program: &Program,
    successors: &Successors,
    state: &State,
    random: &mut Random,
    budget: &Budget,
) -> Result<Option<Drawn>, Unknown> {
    let mut left_out = None;
    let mut threads: Vec<ThreadId> = program.threads.ids().collect();
    while !threads.is_empty() {
        let thread = threads.swap_remove(random.below(threads.len()));
        let mut choices: Vec<Drawn> = Vec::new();
        for step in state.moves(program, successors, thread) {
            let kinds = state.can_fail(program, thread, step.clone()).unwrap_or_default();
            let failing = |kind| Drawn { thread, step: step.clone(), next: Err(kind) };
            choices.extend(kinds.iter().map(failing));
        }
        let flow = state.successors(program, successors, thread, &mut |step, next| {
            if next.in_atomic().is_some() {
                match can_move(program, successors, &next, thread, budget) {
                    Ok(true) => {}
                    Ok(false) => return ControlFlow::Continue(()),
                    Err(why) => {
                        left_out = Some(why);
                        return ControlFlow::Continue(());
                    }
                }
            }
            choices.push(Drawn { thread, step: step.clone(), next: Ok(next) });
            if choices.len() < DRAWN { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let _ = flow.map_err(|refusal| Unknown::Unsupported(refusal.describe(program)))?;
        if !choices.is_empty() {
            return Ok(Some(choices.swap_remove(random.below(choices.len()))));
        }
    }
    left_out.map_or(Ok(None), Err)
}

/// A random state that a run can begin with.
fn initial(program: &Program, random: &mut Random) -> State {
    let mut first = |ty: Type, initial: Option<Value>| {
        initial.unwrap_or_else(|| random.between(program.range(ty)))
    };
    let globals = program.globals.iter().map(|one| first(one.ty, one.initial));
    let globals = Valuation(globals.collect());
    let locals = program.threads.iter().map(|thread| {
        let frame = &program.procedures[thread.main].frame;
        let locals = frame.locals.iter().enumerate();
        let initial = |(at, one): (usize, &Local)| {
            first(one.ty, one.initial.filter(|_| at >= frame.parameters))
        };
        Valuation(locals.map(initial).collect())
    });
    let locals: IdVec<ThreadId, Valuation> = locals.collect();
    State::initial(program, globals, &locals)
}

/// The locals of the mains that run from the beginning.
fn locals(program: &Program, state: &State) -> IdVec<ThreadId, Valuation> {
    let own = |(id, thread): (ThreadId, &selvedge_program::Thread)| match thread.start {
        Start::AtFirst => state.threads[id].activations[0].locals.clone(),
        Start::ByEdge { .. } => Valuation::default(),
    };
    program.threads.iter_enumerated().map(own).collect()
}

/// Notes the locals of threads that a step has started.
fn note_started(program: &Program, before: &State, after: &State, witness: &mut Witness) {
    for thread in program.threads.ids() {
        if before.top(thread).is_none()
            && let (Some(_), Some(main)) =
                (after.top(thread), after.threads[thread].activations.first())
        {
            witness.locals[thread] = main.locals.clone();
        }
    }
}

/// The generator `SplitMix64` (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A value of a range.
    fn between(&mut self, (low, high): (Value, Value)) -> Value {
        let count = (i64::from(high) - i64::from(low) + 1).unsigned_abs();
        (i64::from(low) + (self.next() % count).cast_signed()) as Value
    }
}
