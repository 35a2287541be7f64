//! # Idea
//! All threads, round by round. What a thread can do in its first `k` contexts is its effect, a
//! relation between the `k` shared states that it finds and the `k` that it leaves. Effects compose
//! along the schedule; those histories that fit together, and begin with an initial state, are the
//! runs of the program.
//!
//! The inputs of thread `i` for round `k` follow from whole histories that match along the schedule:
//! the threads behind `i` take what `i` left in rounds `1..k-1` to the start of rounds `2..k`, and
//! those before `i` take the starts of rounds `1..k` to its inputs. Both products are kept for all
//! threads, so a round costs as many compositions as there are threads, times two.
//!
//! *Lazy* analysis explores only inputs that some run brings; *eager* analysis explores all, and
//! uses the products to find out afterwards which were real.
//!
//! # Source
//! Paper 001 §6, Fig. 5, rules R8 to R12 and the rule Checker of §7, for any number of threads as
//! ERRATA demands: to pass on only the last state would admit runs that do not exist.
//!
//! # Invariants
//! In round `k`, with `Z_r` the start of round `r`, `I_r` and `O_r` before and after a thread:
//! 1. `prefix[i]` is `(Z_1..Z_k, I_1..I_k)`: the threads before `i`; `None` for the first.
//! 2. `suffix[i]` is `(O_1..O_{k-1}, Z_2..Z_k)`: the threads behind `i` in the previous rounds;
//!    `None` in the first round.

use super::Mode;
use super::control::{Point, ThreadBodies};
use super::frame::RuleParts;
use super::space::Bdd;
use super::stage::{Summarised, ThreadStages, entry_of};
use super::steps::{Routine, routines};
use selvedge_base::Id;
use selvedge_bdd::{Exhausted, Var};
use selvedge_program::{NodeId, Position, Program, StatePattern, Target, ThreadId};

/// The search by tuples.
pub(super) struct TupleSearch {
    pub(super) frame: RuleParts,
    pub(super) mode: Mode,
    pub(super) threads: Vec<ThreadStages>,
    /// The round that was begun last.
    pub(super) round: usize,
    /// The thread whose context in this round was explored last, if nothing was concluded from it.
    open: Option<usize>,
    /// The histories `(I_1..I_k, O_1..O_{k-1})` that runs bring to that context.
    feasible: Bdd,
    /// Of the latest complete context of each thread.
    pub(super) effects: Vec<Bdd>,
    pub(super) prefix: Vec<Option<Bdd>>,
    pub(super) suffix: Vec<Option<Bdd>>,
    /// The globals at the end of the latest complete round, where the last thread left them.
    pub(super) ends: Bdd,
    /// The round whose variables they are over; behind `round` while that is not complete.
    ends_round: usize,
}

/// How a target was met.
#[derive(Debug)]
pub(super) enum TargetHit {
    /// In the context of a thread: `(I_1..I_k, O_1..O_{k-1})` of that thread.
    Within(usize, Bdd),
    /// At the end of the round: for every thread its effect up to the position asked for, and the
    /// product of those before it and itself, `(Z_1..Z_k, I_1..I_k)` as if for the next one.
    Between(Vec<(Bdd, Bdd)>),
}

/// The bits at the end of a round that are no globals.
fn hidden_ends(frame: &RuleParts, round: usize) -> Vec<Var> {
    let ends = frame.moment(round, |turn| turn.output);
    let hidden = ends.filter(|(bit, _)| !matches!(bit.bit, super::layout::Bit::Global(_)));
    hidden.map(|(_, var)| var).collect()
}

impl TupleSearch {
    pub(super) fn new(
        frame: RuleParts,
        program: &Program,
        controls: &[ThreadBodies],
        mode: Mode,
    ) -> Result<Self, Exhausted> {
        let mut threads = Vec::new();
        for (thread, control) in program.threads.ids().zip(controls) {
            let routines = routines(&frame.space, &frame.layout, program, thread, control)?;
            threads.push(ThreadStages::new(&frame, routines));
        }
        let bottom = frame.space.bottom();
        let count = threads.len();
        let first = frame.initial(program, |turn| turn.output)?;
        let ends = frame.space.exists(&first, &frame.space.cube(hidden_ends(&frame, 1))?)?;
        Ok(Self {
            mode,
            effects: vec![bottom.clone(); count],
            prefix: vec![None; count],
            suffix: vec![None; count],
            round: 0,
            open: None,
            feasible: bottom.clone(),
            ends,
            ends_round: 1,
            threads,
            frame,
        })
    }

    /// Goes on to the end of the next round, or until the target is met. Afterwards, or if it was
    /// met at an earlier call, [`TupleSearch::finish`] completes the round.
    pub(super) fn advance(
        &mut self,
        program: &Program,
        target: &Target,
    ) -> Result<Option<TargetHit>, Exhausted> {
        self.finish(program)?;
        self.round += 1;
        self.compose_suffixes()?;
        for thread in 0..self.threads.len() {
            self.explore(program, thread)?;
            let met = self.threads[thread].violations(&self.frame, program, target)?;
            let met = self.frame.space.and(&met, &self.feasible)?;
            if !self.frame.space.is_bottom(&met) {
                return Ok(Some(TargetHit::Within(thread, met)));
            }
            self.conclude(thread)?;
        }
        match target {
            Target::State(pattern) => self.find_state(program, pattern),
            _ => Ok(None),
        }
    }

    /// Completes the round without looking for the target.
    pub(super) fn finish(&mut self, program: &Program) -> Result<(), Exhausted> {
        if let Some(thread) = self.open {
            self.conclude(thread)?;
            for thread in thread + 1..self.threads.len() {
                self.explore(program, thread)?;
                self.conclude(thread)?;
            }
        }
        Ok(())
    }

    /// The next context of a thread.
    fn explore(&mut self, program: &Program, thread: usize) -> Result<(), Exhausted> {
        self.feasible = self.find_feasible(program, thread)?;
        let real = self.round == 1 && thread == 0 || self.mode == Mode::Lazy;
        let allowed = if real { self.feasible.clone() } else { self.frame.space.top() };
        // With one thread there are no inputs to guess; what can be eager are the summaries.
        let alone = self.threads.len() == 1 && self.mode == Mode::Eager;
        let summarised = if alone { Summarised::Everything } else { Summarised::Calls };
        self.threads[thread].advance(&self.frame, self.round, &allowed, summarised)?;
        self.open = Some(thread);
        Ok(())
    }

    /// Composes the effect of the context with the product for the threads behind it.
    fn conclude(&mut self, thread: usize) -> Result<(), Exhausted> {
        let (frame, space) = (&self.frame, &self.frame.space);
        let mut effect = self.threads[thread].effect(frame, self.round, &|routine, point| {
            Ok(routine.body.switch[point].then(|| space.top()))
        })?;
        if self.mode == Mode::Lazy {
            effect = space.and(&effect, &self.feasible)?;
        }
        self.effects[thread] = effect;
        if thread + 1 < self.threads.len() {
            let before = self.prefix[thread].clone();
            self.prefix[thread + 1] = Some(self.append(before.as_ref(), &self.effects[thread])?);
        } else {
            self.ends = self.project(&self.effects[thread])?;
            self.ends_round = self.round;
        }
        self.open = None;
        self.frame.space.collect();
        Ok(())
    }

    /// The products of the threads behind each, over the rounds before `round`.
    fn compose_suffixes(&mut self) -> Result<(), Exhausted> {
        let round = self.round;
        if round == 1 {
            return Ok(());
        }
        let (frame, space) = (&self.frame, &self.frame.space);
        let outputs = frame.moments(1..=round - 1, |turn| turn.output);
        let inputs = frame.moments(1..=round - 1, |turn| turn.input);
        let starts = frame.moments(2..=round, |turn| turn.start);
        let pairs: Vec<(Var, Var)> = outputs.iter().copied().zip(starts).collect();
        let mut suffix = space.equal(&pairs)?;
        let cube = space.cube(outputs.clone())?;
        let shift = frame.shift(&[(inputs, outputs)])?;
        for thread in (0..self.threads.len()).rev() {
            self.suffix[thread] = Some(suffix.clone());
            if thread > 0 {
                suffix = space.product(&suffix, &self.effects[thread], frame.same, &cube, shift)?;
            }
        }
        Ok(())
    }

    /// The histories `(I_1..I_k, O_1..O_{k-1})` that runs bring to the next context of a thread.
    fn find_feasible(&self, program: &Program, thread: usize) -> Result<Bdd, Exhausted> {
        let round = self.round;
        let (frame, space) = (&self.frame, &self.frame.space);
        let starts = frame.moments(1..=round, |turn| turn.start);
        match (&self.prefix[thread], &self.suffix[thread]) {
            (None, suffix) => {
                let initial = frame.initial(program, |turn| turn.input)?;
                let Some(suffix) = suffix else { return Ok(initial) };
                let inputs = frame.moments(1..=round, |turn| turn.input);
                let shift = frame.shift(&[(starts, inputs)])?;
                space.and(&initial, &space.rename(suffix, shift)?)
            }
            (Some(prefix), None) => space.exists(prefix, &space.cube(starts)?),
            (Some(prefix), Some(suffix)) => space.and_exists(prefix, suffix, &space.cube(starts)?),
        }
    }

    /// The product of the threads before one, and the one.
    fn append(&self, prefix: Option<&Bdd>, effect: &Bdd) -> Result<Bdd, Exhausted> {
        let round = self.round;
        let (frame, space) = (&self.frame, &self.frame.space);
        let starts = frame.moments(1..=round, |turn| turn.start);
        let inputs = frame.moments(1..=round, |turn| turn.input);
        let outputs = frame.moments(1..=round, |turn| turn.output);
        match prefix {
            None => {
                let shift = frame.shift(&[(inputs.clone(), starts), (outputs, inputs)])?;
                space.rename(effect, shift)
            }
            Some(prefix) => {
                let cube = space.cube(inputs.clone())?;
                let shift = frame.shift(&[(outputs, inputs)])?;
                space.product(prefix, effect, frame.same, &cube, shift)
            }
        }
    }

    /// The globals that the last thread leaves.
    fn project(&self, effect: &Bdd) -> Result<Bdd, Exhausted> {
        let round = self.round;
        let (frame, space) = (&self.frame, &self.frame.space);
        let mut cube = frame.moments(1..=round, |turn| turn.input);
        cube.extend(frame.moments(1..=round - 1, |turn| turn.output));
        cube.extend(hidden_ends(frame, round));
        space.and_exists(effect, &self.feasible, &space.cube(cube)?)
    }

    /// The variables of [`TupleSearch::ends`], in the order of the globals.
    pub(super) fn end_vars(&self) -> Vec<Var> {
        let globals = self.frame.moment(self.ends_round, |turn| turn.output);
        let globals = globals.filter(|(bit, _)| matches!(bit.bit, super::layout::Bit::Global(_)));
        globals.map(|(_, var)| var).collect()
    }

    /// Whether the round can end in a state of the pattern.
    fn find_state(
        &self,
        program: &Program,
        pattern: &StatePattern,
    ) -> Result<Option<TargetHit>, Exhausted> {
        use selvedge_bdd::BddManager;
        let (frame, space) = (&self.frame, &self.frame.space);
        let round = self.round;
        let mut product: Option<Bdd> = None;
        let mut products = Vec::new();
        for (thread, stages) in self.threads.iter().enumerate() {
            let id = ThreadId::from_index(thread);
            let position = pattern.threads.get(id).unwrap_or(&Position::Any);
            let effect = match position {
                Position::Any => self.effects[thread].clone(),
                _ => stages.effect(frame, round, &|routine, point| {
                    stands(frame, program, id, position, routine, point)
                })?,
            };
            let next = self.append(product.as_ref(), &effect)?;
            products.push((effect, next.clone()));
            product = Some(next);
        }
        let Some(product) = product else { return Ok(None) };
        let mut ends = Vec::new();
        for &(global, value) in &pattern.globals {
            let turn = frame.layout.shared[global.index()].turns[round - 1];
            ends.push((turn.input, value != 0));
        }
        let mut met = space.and(&product, &space.manager.conjunction(&ends)?)?;
        met = space.and(&met, &frame.initial(program, |turn| turn.start)?)?;
        let starts = frame.moments(2..=round, |turn| turn.start);
        let pairs: Vec<(Var, Var)> =
            frame.moments(1..=round - 1, |turn| turn.input).into_iter().zip(starts).collect();
        met = space.and(&met, &space.equal(&pairs)?)?;
        if space.is_bottom(&met) {
            return Ok(None);
        }
        if let Some((_, last)) = products.last_mut() {
            *last = met;
        }
        Ok(Some(TargetHit::Between(products)))
    }
}

/// The condition under which a thread at a point is at a position.
pub(super) fn stands(
    frame: &RuleParts,
    program: &Program,
    thread: ThreadId,
    position: &Position,
    routine: &Routine,
    point: usize,
) -> Result<Option<Bdd>, Exhausted> {
    let at = |node: &NodeId| matches!(position, Position::At(nodes) if nodes.contains(node));
    Ok(match routine.body.points[point] {
        _ if *position == Position::Any => Some(frame.space.top()),
        Point::Node(node) => at(&node).then(|| frame.space.top()),
        Point::Ended => (*position == Position::Ended).then(|| frame.space.top()),
        Point::Waiting if at(&entry_of(program, thread)) => {
            let started = frame.layout.find(super::layout::Bit::Started(thread)).value.now;
            Some(frame.space.literal(started, true)?)
        }
        Point::Waiting => None,
    })
}
