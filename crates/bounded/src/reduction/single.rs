//! # Idea
//! One pushdown system for all threads and one guess. A control location `(k, p_1, …, p_K)` has the
//! number of the current round and the shared state of each; thread after thread runs through all
//! rounds, and each is called by the one before, so that the stacks pile up.
//!
//! # Source
//! Paper 001 §4, Fig. 4 and Theorem 1. The staging of Appendix A.2, made lazy: only rules of heads
//! that are reachable from the guess are made
//! ([`selvedge_pds::unfold`](mod@selvedge_pds::unfold)), so control locations arise stage by stage; and the
//! last thread does not go on to the next round unless the current one ended as guessed, so rules
//! that cannot lead to a configuration of Theorem 1 do not arise. Which shared states may be guessed
//! is up to the caller.
//!
//! For a question about a moment inside the run, a flag in the control location says that the target
//! was met; the thread that met it does nothing any more. Up to that moment the run is a run of the
//! program, whatever the other threads do later.
//!
//! # Invariants
//! 1. Rounds are counted from 0; `k = K` is the paper's `K + 1`.
//! 2. Every rule has a reachable head.

use super::threads::{Act, ControlId, Gamma, Threads};
use crate::expand::Shared;
use crate::explicit::goal::{Spot, TargetTest};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec};
use selvedge_pds::{Head, Pds, Rhs, State, unfold};
use selvedge_program::{ThreadId, Unknown};

/// A control location.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SequentialControl {
    /// `k`.
    pub round: usize,
    /// For a state: the threads so far are where it wants them. Else: the target was met.
    pub flag: bool,
    /// `p_1, …, p_K`.
    pub states: Box<[ControlId]>,
}

/// What a rule means.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Whose step it is.
    pub thread: ThreadId,
    /// In which round.
    pub round: usize,
    /// What it does.
    pub act: Act,
    /// Whether the target is met by it, or before it if it does nothing.
    pub hits: bool,
}

/// The system for one guess.
pub struct Single {
    /// The rules.
    pub pds: Pds<Label>,
    /// The control locations.
    pub controls: IdVec<State, SequentialControl>,
    /// `(1, p_1, …, p_K)`.
    pub start: State,
    /// The control locations with which `e_{n+1}` is reached.
    pub finals: Vec<State>,
}

/// How the target has to be met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Occasion {
    /// At any time.
    Anytime,
    /// At the end of a run whose last step is one of this thread in the last round. An assertion
    /// fails there; a label has to be where some thread stands then.
    AtTheEndBy(ThreadId),
}

/// Builds the system for a guess.
///
/// # Errors
/// If it was interrupted, or if the program does not fit.
pub fn single(
    threads: &mut Threads<'_>,
    goal: &TargetTest,
    guess: &[ControlId],
    occasion: Occasion,
    budget: &Budget,
) -> Result<Single, Unknown> {
    let count = threads.program().threads.len();
    let last = ThreadId::from_index(count.saturating_sub(1));
    let mut build = Build {
        goal,
        guess,
        occasion,
        last,
        controls: IdVec::new(),
        numbers: FxHashMap::default(),
    };
    let start = build.control(SequentialControl {
        round: 0,
        flag: matches!(goal, TargetTest::State { .. }),
        states: guess.into(),
    });
    let first = match count {
        0 => Gamma::Final,
        _ => Gamma::Begin(ThreadId::from_index(0)),
    };
    let first = threads.symbol(first);
    let mut pds = Pds::new(0, 0);
    let heads =
        unfold(&mut pds, (start, first), budget, |pds, head| build.rules(threads, pds, head))?;
    let ends = threads.symbol(Gamma::Final);
    let finals = heads.iter().filter(|head| head.1 == ends).map(|head| head.0).collect();
    pds.states = build.controls.len();
    pds.symbols = threads.symbols();
    Ok(Single { pds, controls: build.controls, start, finals })
}

struct Build<'a> {
    goal: &'a TargetTest,
    guess: &'a [ControlId],
    occasion: Occasion,
    last: ThreadId,
    controls: IdVec<State, SequentialControl>,
    numbers: FxHashMap<SequentialControl, State>,
}

impl Build<'_> {
    fn control(&mut self, control: SequentialControl) -> State {
        if let Some(&known) = self.numbers.get(&control) {
            return known;
        }
        let state = self.controls.push(control.clone());
        self.numbers.insert(control, state);
        state
    }

    /// Adds the rules of a head.
    fn rules(
        &mut self,
        threads: &mut Threads<'_>,
        pds: &mut Pds<Label>,
        (state, symbol): Head,
    ) -> Result<(), Unknown> {
        let control = self.controls[state].clone();
        let gamma = threads.gamma(symbol);
        let Some(thread) = gamma.thread() else { return Ok(()) };
        let round = control.round;
        let silent = Label { thread, round, act: Act::Silent, hits: false };
        let mut add = |build: &mut Self, to: SequentialControl, rhs: Rhs, label: Label| {
            let to = build.control(to);
            pds.rule(state, symbol, to, rhs, label);
        };
        if round == self.guess.len() {
            // The second kind of rules of Fig. 4, second line: the next thread is called.
            let next = if thread == self.last {
                Gamma::Final
            } else {
                Gamma::Begin(ThreadId::from_index(thread.index() + 1))
            };
            let to = SequentialControl {
                round: 0,
                flag: self.leaves(threads, &control, gamma),
                ..control
            };
            add(self, to, Rhs::Push(threads.symbol(next), symbol), silent);
            return Ok(());
        }
        let location = control.states[round];
        let before = threads.shared(location);
        if self.may_move(gamma, round) {
            let (steps, failing) = threads.steps(location, symbol)?;
            for step in steps {
                let mut to = control.clone();
                to.states[round] = step.to;
                let label = Label { act: step.act, ..silent };
                if let (Some(before), Act::Take(_, after, _)) = (before, step.act)
                    && let Some(started) = starts_at_label(threads, self.goal, before, after)
                {
                    match self.occasion {
                        Occasion::Anytime => {
                            if let Some(met) = self.met(&to, thread) {
                                add(self, met, step.rhs, Label { hits: true, ..label });
                            }
                        }
                        // A thread that still has a turn says itself where it ends.
                        Occasion::AtTheEndBy(_) => {
                            let is_last = round + 1 == self.guess.len();
                            to.flag |= is_last && started < thread;
                        }
                    }
                }
                add(self, to, step.rhs, label);
            }
            if let (TargetTest::Assertion, Some(met)) = (self.goal, self.met(&control, thread)) {
                for successor in failing {
                    let shared = before.unwrap_or_default();
                    let act = Act::Take(successor, shared, gamma.activation());
                    add(self, met.clone(), Rhs::Step(symbol), Label { act, hits: true, ..silent });
                }
            }
            let at_label = before.is_some_and(|shared| {
                self.goal.label(&threads.expansion, shared, thread, gamma.activation())
            });
            if let (true, Occasion::Anytime) = (at_label, self.occasion)
                && let Some(met) = self.met(&control, thread)
            {
                add(self, met, Rhs::Step(symbol), Label { hits: true, ..silent });
            }
        }
        let is_last = round + 1 == self.guess.len();
        if self.occasion == Occasion::AtTheEndBy(thread) && is_last && before.is_some() {
            // The run may end inside an atomic section.
            let to = SequentialControl { round: round + 1, ..control.clone() };
            add(self, to, Rhs::Step(symbol), silent);
        }
        // The first line: the next round.
        let as_guessed = self.guess.get(round + 1).is_none_or(|&next| next == location);
        if threads.switchable(location, thread).is_some()
            && !matches!(gamma, Gamma::Begin(_))
            && (thread != self.last || as_guessed)
        {
            let to = SequentialControl { round: round + 1, ..control };
            add(self, to, Rhs::Step(symbol), silent);
        }
        Ok(())
    }

    /// The flag when a thread leaves with this on top of its stack.
    fn leaves(&self, threads: &Threads<'_>, control: &SequentialControl, gamma: Gamma) -> bool {
        let Some(thread) = gamma.thread() else { return control.flag };
        let top = gamma.activation();
        match (self.goal, self.occasion) {
            (TargetTest::State { .. }, _) => {
                // As if nobody waited: whether the thread does is seen in the end.
                let nobody = Shared::default();
                control.flag && self.goal.spot(&threads.expansion, nobody, thread, top)
            }
            (TargetTest::Label(_), Occasion::AtTheEndBy(_)) => {
                let last = control.states.last().and_then(|&last| threads.shared(last));
                let label = |shared| self.goal.label(&threads.expansion, shared, thread, top);
                control.flag || last.is_some_and(label)
            }
            _ => control.flag,
        }
    }

    /// Whether a thread may move in a round.
    fn may_move(&self, gamma: Gamma, round: usize) -> bool {
        match (self.occasion, gamma) {
            (Occasion::Anytime, _) | (_, Gamma::Begin(_)) => true,
            (Occasion::AtTheEndBy(last), _) => {
                gamma.thread() <= Some(last) || round + 1 < self.guess.len()
            }
        }
    }

    /// The control location after a thread has met the target: it idles through the other rounds.
    fn met(&self, control: &SequentialControl, thread: ThreadId) -> Option<SequentialControl> {
        let round = control.round;
        let in_time = match self.occasion {
            Occasion::Anytime => true,
            Occasion::AtTheEndBy(last) => thread == last && round + 1 == self.guess.len(),
        };
        let as_guessed = thread != self.last
            || control.states[round..].iter().zip(&self.guess[round + 1..]).all(|(a, b)| a == b);
        (in_time && as_guessed && !control.flag).then(|| SequentialControl {
            round: self.guess.len(),
            flag: true,
            states: control.states.clone(),
        })
    }
}

/// The thread that a step starts, if the target is a label at its first node.
pub fn starts_at_label(
    threads: &mut Threads<'_>,
    goal: &TargetTest,
    before: Shared,
    after: Shared,
) -> Option<ThreadId> {
    if !matches!(goal, TargetTest::Label(_)) {
        return None;
    }
    threads.program().threads.ids().find(|&thread| {
        let layout = threads.expansion.layout();
        if !layout.waits(before, thread) || layout.waits(after, thread) {
            return false;
        }
        let first = threads.expansion.first(thread);
        goal.label(&threads.expansion, after, thread, Some(first))
    })
}

/// Whether a shared state at the end is one that the target asks for, given that the threads are
/// where it wants them.
pub fn ends_in_target(
    threads: &Threads<'_>,
    goal: &TargetTest,
    control: &SequentialControl,
) -> bool {
    let TargetTest::State { threads: spots, .. } = goal else { return control.flag };
    let Some(shared) = control.states.last().and_then(|&last| threads.quiet(last)) else {
        return false;
    };
    let layout = threads.expansion.layout();
    let started = spots
        .iter_enumerated()
        .all(|(thread, spot)| !matches!(spot, Spot::At(_)) || !layout.waits(shared, thread));
    control.flag && started && goal.shared(layout, shared)
}
