//! # Idea
//! The same search for programs with values, atomic sections, waits or channels: states of all threads with their
//! data, breadth first. A thread that the question does not name may leave the values that another one
//! waits for, or meet it, so all of them move.
//!
//! # Source
//! [`selvedge_program::data`] for the steps, the definitions of the questions for what is looked for:
//! a race or a deadlock is what the check of witnesses takes for one.
//!
//! # Invariants
//! 1. All steps come from [`State::outcomes`]. A step that fails is none.
//! 2. `Safe` is answered only if no call was left out, and if all initial states were looked at.

use super::Sought;
use super::monitor::Sight;
use crate::moment::{check_deadlock, check_race};
use crate::run::State;
use crate::step::Scheduled;
use crate::with_values::witness_of;
use rustc_hash::FxHashSet;
use selvedge_base::Budget;
use selvedge_program::{
    Action, Program, Question, Successors, ThreadId, Unknown, Verdict, Witness,
};
use std::ops::ControlFlow;
use std::rc::Rc;

/// A state that was reached.
struct Visit {
    state: Rc<State>,
    /// How many accesses are matched.
    matched: u32,
    /// The visit before, and the step from there.
    before: Option<(usize, ThreadId, Scheduled)>,
}

/// A search for one question.
pub(super) struct Search<'a> {
    program: &'a Program,
    successors: Successors,
    question: &'a Question,
    goal: &'a Sought,
    call_depth: u32,
    visits: Vec<Visit>,
    seen: FxHashSet<(Rc<State>, u32)>,
    limit_met: bool,
}

impl<'a> Search<'a> {
    pub fn new(
        program: &'a Program,
        question: &'a Question,
        goal: &'a Sought,
        call_depth: u32,
    ) -> Self {
        Self {
            program,
            successors: Successors::new(program),
            question,
            goal,
            call_depth,
            visits: Vec::new(),
            seen: FxHashSet::default(),
            limit_met: false,
        }
    }

    /// Searches to the end; says how many states there were as well.
    pub fn run(mut self, budget: &Budget) -> (Verdict<Witness>, u64) {
        let verdict = match self.search(budget) {
            Err(why) => Verdict::Unknown(why),
            Ok(Some((last, step))) => Verdict::Violation(self.witness(last, step)),
            Ok(None) if self.limit_met => Verdict::Unknown(Unknown::CallDepth(self.call_depth)),
            Ok(None) => Verdict::Safe,
        };
        (verdict, self.visits.len() as u64)
    }

    /// The visit at which the goal is met, and the step from there that matches the last access.
    #[expect(clippy::type_complexity, reason = "a step with its outcome")]
    fn search(
        &mut self,
        budget: &Budget,
    ) -> Result<Option<(usize, Option<(ThreadId, Scheduled, State)>)>, Unknown> {
        for state in State::all_initial(self.program)? {
            self.add(Rc::new(state), 0, None);
        }
        let mut at = 0;
        while at < self.visits.len() {
            if let Some(reason) = budget.poll() {
                return Err(Unknown::Stopped(reason));
            }
            let state = Rc::clone(&self.visits[at].state);
            if self.is_now(&state) {
                return Ok(Some((at, None)));
            }
            for thread in self.program.threads.ids() {
                for step in state.moves(self.program, &self.successors, thread) {
                    if let Some(next) = self.take(at, &state, thread, &step, budget)? {
                        return Ok(Some((at, Some((thread, step, next)))));
                    }
                }
            }
            at += 1;
        }
        Ok(None)
    }

    /// Takes a step; the state behind it if it matches the last access.
    fn take(
        &mut self,
        at: usize,
        state: &State,
        thread: ThreadId,
        scheduled: &Scheduled,
        budget: &Budget,
    ) -> Result<Option<State>, Unknown> {
        let open = state.control.threads[thread].stack.len().saturating_sub(1);
        let action = scheduled.step.edge().map(|edge| self.program.edges[edge].action);
        if matches!(action, Some(Action::Call(_))) && open >= self.call_depth as usize {
            self.limit_met = true;
            return Ok(None);
        }
        let mut outcomes = Vec::new();
        let kind = state.outcomes_within(self.program, thread, scheduled, budget, &mut |next| {
            outcomes.push(next);
            ControlFlow::Continue(())
        });
        let kind = match kind {
            Ok(kind) => kind,
            Err(refusal) => return refusal.open().map_or(Ok(None), Err),
        };
        let matched = self.visits[at].matched;
        let in_unit = state.control.threads[thread].unit_depth > 0;
        let sight = Sight { thread, kind, in_unit };
        let (advances, stays) = match self.goal {
            Sought::Moment(_) => (false, true),
            Sought::Word(monitor) => {
                let phase = &monitor.phases[matched as usize];
                if phase.advances(sight) && matched as usize + 1 == monitor.phases.len() {
                    return Ok(outcomes.pop());
                }
                (phase.advances(sight), phase.stays(sight))
            }
        };
        for next in outcomes.into_iter().map(Rc::new) {
            let before = Some((at, thread, scheduled.clone()));
            if advances {
                self.add(Rc::clone(&next), matched + 1, before.clone());
            }
            if stays {
                self.add(next, matched, before);
            }
        }
        Ok(None)
    }

    fn add(
        &mut self,
        state: Rc<State>,
        matched: u32,
        before: Option<(usize, ThreadId, Scheduled)>,
    ) {
        if self.seen.insert((Rc::clone(&state), matched)) {
            self.visits.push(Visit { state, matched, before });
        }
    }

    /// Whether this is the moment that is looked for.
    fn is_now(&self, state: &State) -> bool {
        match self.question {
            Question::Race(race) => check_race(self.program, race, state).is_ok(),
            Question::Deadlock(deadlock) => check_deadlock(self.program, deadlock, state).is_ok(),
            _ => false,
        }
    }

    /// The run to a visit, and then a step that matches an access.
    fn witness(&self, last: usize, step: Option<(ThreadId, Scheduled, State)>) -> Witness {
        let mut steps = Vec::new();
        let mut visit = &self.visits[last];
        let matched = visit.matched + 1;
        steps.extend(step.map(|(thread, step, next)| (thread, step, Some(matched), Rc::new(next))));
        while let Some((before, thread, step)) = &visit.before {
            let earlier = &self.visits[*before];
            let matched = (visit.matched > earlier.matched).then_some(visit.matched);
            steps.push((*thread, step.clone(), matched, Rc::clone(&visit.state)));
            visit = earlier;
        }
        steps.reverse();
        let steps =
            steps.iter().map(|(thread, step, matched, next)| (*thread, step, *matched, &**next));
        witness_of(self.program, &visit.state, steps)
    }
}
