//! # Idea
//! From sets to a run: pick shared states for all turns of all threads that fit together, walking
//! over the products along the schedule from where the target was met; find the run of every thread
//! for its part of them; put the steps in the order of the schedule.
//!
//! # Invariants
//! 1. Values are picked from sets in which they were found, so that every later choice exists.

use super::draft::{Assignment, pick};
use super::layout::{Bit, Turn};
use super::space::Bdd;
use super::trail::{Interface, Trail};
use super::tuples::{TargetHit, TupleSearch};
use crate::expr::possible;
use selvedge_base::Id;
use selvedge_bdd::{Exhausted, Var};
use selvedge_program::{
    Action, Program, ThreadId, Valuation, Value, Variable, Witness, WitnessStep,
};

/// The shared states of one moment, by round and bit that crosses switches.
type States = Vec<Vec<bool>>;

impl TupleSearch {
    /// The inputs and outputs of every thread's contexts on a run to the target.
    pub(super) fn plan(&self, found: &TargetHit) -> Result<Plan, Exhausted> {
        let interfaces = self.interfaces(found)?;
        let round = |round| (0..self.threads.len()).map(move |thread| (thread, round));
        let begin = interfaces.first().and_then(|one| one.inputs.first()).cloned();
        let meets = match found {
            TargetHit::Within(thread, _) => Some(*thread),
            TargetHit::Between(_) => None,
        };
        Ok(Plan {
            order: (1..=self.round).flat_map(round).collect(),
            begin: begin.unwrap_or_default(),
            interfaces,
            meets,
        })
    }

    fn interfaces(&self, found: &TargetHit) -> Result<Vec<Interface>, Exhausted> {
        let threads = self.threads.len();
        let round = self.round;
        let mut inputs: Vec<States> = vec![Vec::new(); threads];
        let mut outputs: Vec<States> = vec![Vec::new(); threads];
        match found {
            TargetHit::Within(thread, met) => {
                let thread = *thread;
                let history = self.pick(met, &[])?;
                inputs[thread] = self.read(&history, round, |turn| turn.input);
                outputs[thread] = self.read(&history, round - 1, |turn| turn.output);
                let mut starts = inputs[thread].clone();
                if let Some(prefix) = &self.prefix[thread] {
                    let mut fixed = self.fix(&inputs[thread], 1, |turn| turn.input);
                    fixed.extend(self.fix(&outputs[thread], 1, |turn| turn.output));
                    let both = match &self.suffix[thread] {
                        Some(suffix) => self.frame.space.and(prefix, suffix)?,
                        None => prefix.clone(),
                    };
                    starts = self.read(&self.pick(&both, &fixed)?, round, |turn| turn.start);
                }
                let products: Vec<&Bdd> = self.prefix[..=thread].iter().flatten().collect();
                self.go_back(thread, &starts, &products, &self.effects, &mut inputs, &mut outputs)?;
                for after in thread + 1..threads {
                    inputs[after] = outputs[after - 1][..round - 1].to_vec();
                    let Some(suffix) = &self.suffix[after] else { continue };
                    let mut fixed = self.fix(&inputs[after], 1, |turn| turn.input);
                    fixed.extend(self.fix(&starts[1..], 2, |turn| turn.start));
                    let both = self.frame.space.and(&self.effects[after], suffix)?;
                    let picked = self.pick(&both, &fixed)?;
                    outputs[after] = self.read(&picked, round - 1, |turn| turn.output);
                }
            }
            TargetHit::Between(parts) => {
                let Some((_, whole)) = parts.last() else { return Ok(Vec::new()) };
                let picked = self.pick(whole, &[])?;
                let starts = self.read(&picked, round, |turn| turn.start);
                // After the last thread, seen as the input of one more.
                inputs.push(self.read(&picked, round, |turn| turn.input));
                outputs.push(Vec::new());
                let products: Vec<&Bdd> = parts.iter().map(|(_, product)| product).collect();
                let effects: Vec<Bdd> = parts.iter().map(|(effect, _)| effect.clone()).collect();
                self.go_back(threads, &starts, &products, &effects, &mut inputs, &mut outputs)?;
                inputs.truncate(threads);
                outputs.truncate(threads);
            }
        }
        let hidden: Vec<bool> = self.frame.layout.crossing().map(|bit| counts(bit.bit)).collect();
        let interface = |(inputs, outputs): (States, States)| {
            let part = |state: &Vec<bool>, count: bool| -> Vec<bool> {
                let kept = state.iter().zip(&hidden).filter(|(_, hidden)| **hidden == count);
                kept.map(|(&value, _)| value).collect()
            };
            // An idle context is one that is not counted.
            let idle = |(at, input): (usize, &Vec<bool>)| {
                hidden.contains(&true)
                    && outputs.get(at).is_some_and(|out| part(out, true) == part(input, true))
            };
            Interface {
                active: inputs.iter().enumerate().map(|one| !idle(one)).collect(),
                inputs: inputs.iter().map(|state| part(state, false)).collect(),
                outputs: outputs.iter().map(|state| part(state, false)).collect(),
            }
        };
        Ok(inputs.into_iter().zip(outputs).map(interface).collect())
    }

    /// From the inputs of a thread back to the first one; `products[t - 1]` is the product of the
    /// threads before `t`.
    fn go_back(
        &self,
        thread: usize,
        starts: &States,
        products: &[&Bdd],
        effects: &[Bdd],
        inputs: &mut [States],
        outputs: &mut [States],
    ) -> Result<(), Exhausted> {
        for before in (0..thread).rev() {
            outputs[before].clone_from(&inputs[before + 1]);
            if before == 0 {
                inputs[0].clone_from(starts);
                break;
            }
            let mut fixed = self.fix(starts, 1, |turn| turn.start);
            fixed.extend(self.fix(&outputs[before], 1, |turn| turn.output));
            let both = self.frame.space.and(products[before - 1], &effects[before])?;
            let picked = self.pick(&both, &fixed)?;
            inputs[before] = self.read(&picked, self.round, |turn| turn.input);
        }
        Ok(())
    }

    fn pick(&self, set: &Bdd, fixed: &[(Var, bool)]) -> Result<Assignment, Exhausted> {
        let picked = pick(&self.frame.space, set, fixed)?;
        Ok(picked.expect("the set was found not to be empty"))
    }

    /// The states of a moment in the first rounds.
    fn read(
        &self,
        values: &Assignment,
        rounds: usize,
        moment: impl Fn(&Turn) -> Var + Copy,
    ) -> States {
        let value = |var: Var| values.get(&var).copied().unwrap_or(false);
        (1..=rounds)
            .map(|round| self.frame.moment(round, moment).map(|(_, var)| value(var)).collect())
            .collect()
    }

    /// The literals of states of a moment from some round on.
    fn fix(
        &self,
        states: &[Vec<bool>],
        first: usize,
        moment: impl Fn(&Turn) -> Var + Copy,
    ) -> Vec<(Var, bool)> {
        let mut literals = Vec::new();
        for (at, state) in states.iter().enumerate() {
            let vars = self.frame.moment(first + at, moment).map(|(_, var)| var);
            literals.extend(vars.zip(state.iter().copied()));
        }
        literals
    }
}

fn counts(bit: Bit) -> bool {
    matches!(bit, Bit::Contexts(_))
}

/// The inputs and outputs of all contexts of a run, and their order.
pub(super) struct Plan {
    pub(super) interfaces: Vec<Interface>,
    /// The contexts in order: whose, and which of this thread, from 1.
    pub(super) order: Vec<(usize, usize)>,
    /// The shared state at first.
    pub(super) begin: Vec<bool>,
    /// The thread that meets the target in its last context; otherwise all end in it together.
    pub(super) meets: Option<usize>,
}

impl Plan {
    /// The run that consists of the runs of the threads.
    pub(super) fn assemble(&self, program: &Program, trails: &[Trail]) -> Witness {
        // Globals come first among the shared bits.
        let globals = Valuation::of_bits(self.begin[..program.globals.len()].iter().copied());
        let mut run = Witness { globals, ..Witness::default() };
        for (id, thread) in program.threads.iter_enumerated() {
            let main = &program.procedures[thread.main].frame;
            let any = || Valuation(vec![0; main.locals.len()]);
            run.locals.push(trails[id.index()].locals.clone().unwrap_or_else(any));
        }
        let mut next = vec![0; trails.len()];
        for &(thread, context) in &self.order {
            let steps = trails[thread].steps[next[thread]..].iter();
            for step in steps.take_while(|step| step.context == context) {
                next[thread] += 1;
                run.steps.push(WitnessStep {
                    thread: ThreadId::from_index(thread),
                    step: step.step,
                    receivers: Vec::new(),
                    matched: None,
                    globals: step.globals.clone(),
                    locals: step.locals.clone(),
                });
            }
        }
        run.fails = trails.iter().any(|trail| trail.fails);
        for (id, trail) in trails.iter().enumerate() {
            if trail.locals.is_none() {
                pass_arguments(program, &mut run, ThreadId::from_index(id));
            }
        }
        run
    }
}

/// Gives a thread that was started and has not moved the values that were passed to it.
fn pass_arguments(program: &Program, run: &mut Witness, started: ThreadId) {
    let starts = |step: &WitnessStep| {
        let edge = step.step.edge();
        edge.is_some_and(|edge| program.edges[edge].action == Action::Start(started))
    };
    let Some(at) = run.steps.iter().position(starts) else { return };
    let Some(edge) = run.steps[at].step.edge() else { return };
    let Some(passing) = program.edges[edge].passing else { return };
    let before = &run.steps[..at];
    let globals = before.last().map_or(&run.globals, |step| &step.globals);
    let starter = run.steps[at].thread;
    let own = before.iter().rfind(|step| step.thread == starter);
    let locals = own.map_or(&run.locals[starter], |step| &step.locals);
    let value = |variable: Variable| match variable {
        Variable::Global(global) => globals.is_true(global),
        Variable::Local(local) => locals.is_true(local),
    };
    let arguments = &program.passings[passing].arguments;
    let passed: Vec<Value> =
        arguments.iter().map(|expr| Value::from(possible(expr, &value).0)).collect();
    run.locals[started].0[..passed.len()].copy_from_slice(&passed);
}
