//! # Idea
//! A witness is executed step by step with the outcomes that it records, and turned into a trace. A
//! record says all but one thing: the locals of a caller that change in the very step of the call
//! are not seen again before the return. So the replayer follows *all* states that agree with the
//! record (nearly always one). Then the trace and the states that it ends in are compared with the
//! question by the definition.
//!
//! # Source
//! [`selvedge_program::data`] for the steps, [`selvedge_program::witness`] for witnesses;
//! `check`, `moment` and [`crate::run::target`] for the questions.
//!
//! # Requires
//! The program is valid. Question and witness may be anything.
//!
//! # Invariants
//! 1. States that agree with the record differ only in locals below the tops of the stacks. So what
//!    a step changes on top is the same for all, or any of it is right.
//! 2. At most `MOST_STATES` states agree with the record at any moment; a witness that leaves more
//!    open is not decided.
//! 3. A step without values changes the state in place, and any other one copies only what it can
//!    see of the stacks. So time is linear in the steps of a witness, whatever their depth, as long
//!    as one state agrees with the record.

use crate::check::{check_automaton, check_pattern};
use crate::moment::{check_deadlock, check_race};
use crate::obstacles::obstacles;
use crate::question::question_error;
use crate::run::{Record, Refusal, State, is_in_target, is_stuck};
use crate::step::Scheduled;
use crate::temporal::lasso::replay_temporal;
use selvedge_base::{Budget, Id, IdVec, Place};
use selvedge_program::{
    Action, ChannelId, FailureKind, GlobalId, LocalId, LocationId, LockId, Move, Program, Question,
    Start, StepKind, Target, ThreadId, Trace, TraceReceiver, TraceStep, Unknown, Valuation, Value,
    Variable, Witness, WitnessStep,
};
use std::fmt;
use std::ops::ControlFlow;

/// How many states may agree with what a witness records.
const MOST_STATES: usize = 1024;

/// Why a witness is no answer to its question, or why that was not found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayError {
    /// The step that is wrong, counted from 1; `None` if the question is, or if steps are missing.
    pub step: Option<usize>,
    /// What is wrong with it.
    pub message: String,
    /// The limit that was met, if one was: nothing is known to be wrong then.
    pub open: Option<Unknown>,
}

impl ReplayError {
    /// The step with this index, from 0, is wrong.
    pub(crate) fn at(index: usize, message: String) -> Self {
        Self { step: Some(index + 1), message, open: None }
    }

    /// The witness as a whole is wrong.
    pub(crate) fn whole(message: String) -> Self {
        Self { step: None, message, open: None }
    }

    /// Whether the witness is what was asked for was not found out.
    pub(crate) fn undecided(why: Unknown) -> Self {
        Self { step: None, message: why.to_string(), open: Some(why) }
    }

    /// A limit was met before a step.
    fn open(index: usize, why: Unknown) -> Self {
        Self { step: Some(index + 1), message: why.to_string(), open: Some(why) }
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(step) => write!(f, "step {step}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ReplayError {}

/// How many steps are executed between two looks at the budget.
const POLL_EVERY: usize = 1 << 12;

/// A variable with its new value, for each that changes in a step.
type Changes = Vec<(Variable, Value)>;

/// Executes a witness and checks that it answers the question; without a limit.
///
/// # Errors
/// As [`replay_within`].
pub fn replay(
    program: &Program,
    question: &Question,
    witness: &Witness,
) -> Result<Trace, ReplayError> {
    replay_within(program, question, witness, &Budget::new())
}

/// Executes a witness and checks that it answers the question.
///
/// # Errors
/// If the question makes no sense for the program, if a step is impossible where it stands, or not
/// with the recorded outcome, if the witness is not what the question asks for, or if a limit was
/// met.
pub fn replay_within(
    program: &Program,
    question: &Question,
    witness: &Witness,
    budget: &Budget,
) -> Result<Trace, ReplayError> {
    if let Some(message) = question_error(program, question) {
        return Err(ReplayError::whole(message));
    }
    if let Question::Temporal(temporal) = question {
        return replay_temporal(program, temporal, witness, budget);
    }
    if witness.repeats.is_some() {
        let message = "the run repeats a part for ever, which was not asked for";
        return Err(ReplayError::whole(message.to_owned()));
    }
    let mut marks = witness.steps.iter().enumerate();
    let marked = marks.find_map(|(index, step)| step.matched.map(|mark| (index, mark)));
    let takes_marks = matches!(question, Question::Pattern(_) | Question::Automaton(_));
    if let (Some((index, mark)), false) = (marked, takes_marks) {
        let message =
            format!("it is marked {mark}, but the question is about the last moment only");
        return Err(ReplayError::at(index, message));
    }
    let (mut trace, states) = run(program, witness, budget)?;
    if witness.fails && !matches!(question, Question::Reach(Target::Assertion)) {
        let message = "the run ends with an assertion that fails, which was not asked for";
        return Err(ReplayError::whole(message.to_owned()));
    }
    // States that agree with the record have the same control (invariant 1).
    let last = states.first().expect("a witness ends in some state");
    match question {
        Question::Pattern(question) => check_pattern(program, question, &trace)?,
        Question::Automaton(automaton) => check_automaton(program, automaton, &trace)?,
        Question::Race(race) => {
            trace.next = check_race(program, race, last).map_err(ReplayError::whole)?;
        }
        Question::Deadlock(deadlock) => {
            trace.next = check_deadlock(program, deadlock, last).map_err(ReplayError::whole)?;
        }
        Question::Reach(target) => {
            let is_end = |state: &State| match target {
                Target::Assertion => trace.fails.is_some(),
                Target::Label(_) | Target::State(_) => is_in_target(state, target),
            };
            if !states.iter().any(is_end) {
                return Err(ReplayError::whole(missed(target)));
            }
        }
        Question::Stuck => {
            if !is_stuck(program, last, budget).map_err(ReplayError::undecided)? {
                let message =
                    "the run ends in no dead end: a thread can still move, or all have ended";
                return Err(ReplayError::whole(message.to_owned()));
            }
            trace.next = obstacles(program, last);
        }
        // Every run answers the question which states there are.
        Question::States | Question::Temporal(_) => {}
    }
    Ok(trace)
}

/// Executes a witness from the initial state, whatever it is marked with.
///
/// # Errors
/// If a step is impossible where it stands.
pub fn execute(program: &Program, witness: &Witness) -> Result<Trace, ReplayError> {
    Ok(run(program, witness, &Budget::new())?.0)
}

/// The trace of a witness and the states that it can end in, at least one.
fn run(
    program: &Program,
    witness: &Witness,
    budget: &Budget,
) -> Result<(Trace, Vec<State>), ReplayError> {
    run_with(program, witness, budget, &mut |_, _, _| {})
}

/// The same; `see` is called before each step, with its index and the states that agree so far.
pub(crate) fn run_with(
    program: &Program,
    witness: &Witness,
    budget: &Budget,
    see: &mut dyn FnMut(usize, &[State], &WitnessStep),
) -> Result<(Trace, Vec<State>), ReplayError> {
    let mut states = vec![initial(program, witness).map_err(ReplayError::whole)?];
    let mut steps = Vec::with_capacity(witness.steps.len());
    let mut seen = Seen::new(program, witness);
    for (index, step) in witness.steps.iter().enumerate() {
        // What an engine has found before a limit is found: only long witnesses are cut short.
        if (index + 1).is_multiple_of(POLL_EVERY)
            && let Err(reason) = budget.charge(1 + (index + 1).min(POLL_EVERY) as u64)
        {
            return Err(ReplayError::open(index, Unknown::Stopped(reason)));
        }
        see(index, &states, step);
        let fails = witness.fails && index + 1 == witness.steps.len();
        let running = states[0].top(step.thread).map(|top| program.nodes[top]);
        let advanced = advance(program, witness, step, fails, &mut states);
        let (kind, fails) = advanced.map_err(|refusal| {
            let message = refused(program, step, refusal);
            match refusal {
                Refusal::TooManyChoices => ReplayError::open(index, Unknown::Unsupported(message)),
                _ => ReplayError::at(index, message),
            }
        })?;
        let place = match step.step {
            Move::Edge(edge) | Move::With(edge, _) => program.edges[edge].place,
            Move::Return => running.map_or(Place::NONE, |one| program.procedures[one].end),
        };
        let receivers = step.receivers.iter().map(|receiver| TraceReceiver {
            thread: receiver.thread,
            edge: receiver.edge,
            place: program.edges[receiver.edge].place,
        });
        let changes = seen.follow(step, kind);
        let matched = step.matched;
        steps.push(TraceStep {
            thread: step.thread,
            step: step.step,
            kind,
            place,
            receivers: receivers.collect(),
            matched,
            changes,
            fails,
            waits_for: None,
        });
    }
    let (globals, locals) = (witness.globals.clone(), witness.locals.clone());
    let fails = match steps.last() {
        Some(last) => last.fails,
        None if witness.fails => witness.failure_among(states[0].fails_at_first(program)),
        None => None,
    };
    let transactions = witness.transactions.clone();
    let (repeats, points) = (witness.repeats, witness.points.clone());
    let (next, probes) = (Vec::new(), Vec::new());
    let trace =
        Trace { globals, locals, steps, transactions, repeats, points, fails, next, probes };
    Ok((trace, states))
}

/// The state that a witness begins with.
fn initial(program: &Program, witness: &Witness) -> Result<State, String> {
    if witness.globals.0.len() != program.globals.len() {
        return Err("the run does not begin with a value for every global".to_owned());
    }
    for (id, global) in program.globals.iter_enumerated() {
        if global.initial.is_some_and(|initial| initial != witness.globals.get(id)) {
            return Err(format!("{} does not begin with its initial value", global.name));
        }
        if !program.has_value(global.ty, witness.globals.get(id)) {
            return Err(format!("{} begins with a value that it cannot have", global.name));
        }
    }
    for (id, thread) in program.threads.iter_enumerated() {
        let locals = program.procedures[thread.main].frame.locals.len();
        for (at, local) in program.procedures[thread.main].frame.locals.iter().enumerate() {
            let own = witness.locals.get(id).and_then(|values| values.0.get(at));
            let parameter = at < program.procedures[thread.main].frame.parameters;
            let wrong = own.is_some_and(|&own| {
                !program.has_value(local.ty, own)
                    || !parameter && local.initial.is_some_and(|initial| initial != own)
            });
            if wrong && thread.start == Start::AtFirst {
                return Err(format!("{} does not begin with a value of its own", local.name));
            }
        }
        // A thread that is never started needs no values.
        let has_values = witness.locals.get(id).map_or(0, |values| values.0.len()) == locals;
        if thread.start == Start::AtFirst && !has_values {
            return Err(format!("the run has not a value for every local of {}", thread.name));
        }
    }
    Ok(State::initial(program, witness.globals.clone(), &witness.locals))
}

/// Takes a step in all states that agree with the record; says what it did.
fn advance(
    program: &Program,
    witness: &Witness,
    step: &WitnessStep,
    fails: bool,
    states: &mut Vec<State>,
) -> Result<(StepKind, Option<FailureKind>), Refusal> {
    let scheduled = Scheduled { step: step.step, receivers: step.receivers.clone() };
    // Invariant 3. The record of such a step can hold no values that differ.
    if let [state] = &mut states[..]
        && !fails
        && step.globals == state.globals
        && step.locals.0.is_empty()
        && state.is_plain(program, step.thread, step.step)
    {
        return state.step_plain(program, step.thread, &scheduled).map(|kind| (kind, None));
    }
    let started = match started_by(program, step.step) {
        Some(thread) => witness.locals.get(thread),
        None => None,
    };
    let none = Valuation::default();
    let record =
        Record { globals: &step.globals, locals: &step.locals, started: started.unwrap_or(&none) };
    let thread = step.thread;
    let mut kind = (StepKind::Step, None);
    let mut after: Vec<State> = Vec::new();
    let mut refused = None;
    let mut too_many = false;
    for mut state in std::mem::take(states) {
        let deeper = state.put_aside();
        let mut found: Vec<State> = Vec::new();
        let mut keep = |next: State| {
            if !found.contains(&next) {
                found.push(next);
            }
            too_many = found.len() > MOST_STATES;
            if too_many { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let outcome = if fails {
            let kinds = state.fails_as_recorded(program, thread, scheduled.clone(), record);
            kinds.and_then(|kinds| {
                let other = Refusal::OtherFailure(kinds);
                let kind = witness.failure_among(kinds).ok_or(other)?;
                _ = keep(state.clone());
                Ok((StepKind::Step, Some(kind)))
            })
        } else {
            let step = scheduled.clone();
            let outcomes = state.outcomes(program, thread, step, Some(record), &mut keep);
            outcomes.map(|kind| (kind, None))
        };
        match outcome {
            Ok(done) => kind = done,
            Err(refusal) => _ = refused.get_or_insert(refusal),
        }
        // The last one takes what was put aside, the others a copy.
        if let Some(mut last) = found.pop() {
            for mut next in found {
                next.put_back(deeper.clone());
                add(&mut after, next);
            }
            last.put_back(deeper);
            add(&mut after, last);
        }
        if too_many || after.len() > MOST_STATES {
            return Err(Refusal::TooManyChoices);
        }
    }
    match refused {
        Some(refusal) if after.is_empty() => Err(refusal),
        _ => {
            *states = after;
            Ok(kind)
        }
    }
}

/// Adds a state that is not there.
fn add(states: &mut Vec<State>, state: State) {
    if !states.contains(&state) {
        states.push(state);
    }
}

fn started_by(program: &Program, step: Move) -> Option<ThreadId> {
    match program.edges.get(step.edge()?)?.action {
        Action::Start(thread) => Some(thread),
        _ => None,
    }
}

/// What was last seen of all variables along a witness.
struct Seen<'w> {
    globals: &'w Valuation,
    /// The locals of the open activations, innermost last.
    activations: IdVec<ThreadId, Vec<&'w [Value]>>,
}

impl<'w> Seen<'w> {
    fn new(program: &Program, witness: &'w Witness) -> Self {
        let main = |thread| witness.locals.get(thread).map_or(&[][..], |locals| &locals.0);
        let activations = program.threads.ids().map(|thread| vec![main(thread)]).collect();
        Self { globals: &witness.globals, activations }
    }

    /// What has another value after a step that was executed with its recorded outcome.
    fn follow(&mut self, step: &'w WitnessStep, kind: StepKind) -> Changes {
        let mut changes = Changes::new();
        for (at, (old, new)) in self.globals.0.iter().zip(&step.globals.0).enumerate() {
            if old != new {
                changes.push((Variable::Global(GlobalId::from_index(at)), *new));
            }
        }
        self.globals = &step.globals;
        let open = &mut self.activations[step.thread];
        match kind {
            // An activation that has just opened has no values before.
            StepKind::Call(_) => open.push(&[]),
            StepKind::Return(_) => _ = open.pop(),
            _ => {}
        }
        let Some(top) = open.last_mut() else { return changes };
        for (at, &new) in step.locals.0.iter().enumerate() {
            if top.get(at) != Some(&new) {
                changes.push((Variable::Local(LocalId::from_index(at)), new));
            }
        }
        *top = &step.locals.0;
        changes
    }
}

fn refused(program: &Program, step: &WitnessStep, refusal: Refusal) -> String {
    let reason = refusal.describe(program);
    let thread = thread_name(program, step.thread);
    match step.step {
        Move::Edge(edge) | Move::With(edge, _) => match program.edges.get(edge) {
            Some(edge) => {
                let deed = deed(program, edge.action);
                format!("{thread} cannot {deed} at {}: {reason}", edge.place)
            }
            None => format!("{thread} cannot take edge {}: {reason}", edge.index()),
        },
        Move::Return => format!("{thread} cannot return: {reason}"),
    }
}

/// What an action does, as in "it cannot read x".
fn deed(program: &Program, action: Action) -> String {
    let lock = |id: LockId| program.locks[id].name.as_str();
    let channel = |id: ChannelId| program.channels[id].name.as_str();
    let location = |id: LocationId| program.locations[id].name.as_str();
    let thread = |id: ThreadId| program.threads[id].name.as_str();
    let (verb, object) = match action {
        Action::Skip => ("take the step", ""),
        Action::Read(id) => ("read ", location(id)),
        Action::Write(id) => ("write ", location(id)),
        Action::Acquire(id) => ("acquire ", lock(id)),
        Action::Release(id) => ("release ", lock(id)),
        Action::Wait(id) => ("wait on ", &*program.wait_set_title(id)),
        Action::Resume(id) => ("resume with ", &*program.wait_set_title(id)),
        Action::Notify(id) => ("notify a thread that waits on ", &*program.wait_set_title(id)),
        Action::NotifyAll(id) => ("notify all threads that wait on ", &*program.wait_set_title(id)),
        Action::BeginUnit => ("begin a unit", ""),
        Action::EndUnit => ("end its unit", ""),
        Action::Call(id) => ("call ", program.procedures[id].name.as_str()),
        Action::Assert(_) => ("pass the assertion", ""),
        Action::Return(_) => ("return", ""),
        Action::Start(id) => ("start ", thread(id)),
        Action::Join(id) => ("join ", thread(id)),
        Action::Send(id) => ("send over ", channel(id)),
        Action::Post(id) => ("post over ", channel(id)),
        Action::Broadcast(id) => ("broadcast over ", channel(id)),
        Action::Recv(id) => ("receive over ", channel(id)),
        Action::BeginAtomic => ("begin an atomic section", ""),
        Action::EndAtomic => ("end its atomic section", ""),
    };
    format!("{verb}{object}")
}

fn missed(target: &Target) -> String {
    let message = match target {
        Target::Assertion => "the run does not end with an assertion that fails",
        Target::Label(_) => "no thread is at the label at the end",
        Target::State(_) => "the state at the end is not the one that was asked for",
    };
    message.to_owned()
}

/// The name of a thread, which need not exist.
pub(crate) fn thread_name(program: &Program, thread: ThreadId) -> String {
    match program.threads.get(thread) {
        Some(thread) => thread.name.clone(),
        None => format!("thread {}", thread.index()),
    }
}
