//! # Idea
//! What a thread can do in a state, edge by edge: the outcomes, how it can fail, which cells it accesses
//! holding which locks, and what the action alone says about its being a mover. An atomic section is
//! one step: every way through it that ends is an outcome, and what is met on the way counts.
//!
//! # Source
//! [`selvedge_program::data`] for the steps; paper 002 §3 (the actions), §5 (movers of lock operations),
//! §4.1 (cells, annotations), with the corrections of ERRATA 002: a re-acquisition and an inner release
//! are both-movers; waits, starts, ends and joins; what a guard reads counts also if it blocks.
//!
//! # Invariants
//! 1. Accesses are those of evaluations, also of ones that block or fail.
//! 2. Outcomes are not normalised, see [`StepRelation::normalise`].

use crate::eval::{Evaluated, Variables};
use crate::program::{Code, index, is_exit, procedure_of};
use crate::state::{Activation, State, Suspended};
use rustc_hash::FxHashSet;
use selvedge_base::{Budget, Id as _};
use selvedge_program::copies::copy_number;
use selvedge_program::{
    Action, Annotation, Edge, EdgeId, Expr, FailureKind, GlobalId, LocalId, Move, NodeId,
    ProcedureId, Start, ThreadId, Type, Unknown, Update, Value, Variable,
};
use std::collections::BTreeSet;

/// The way to a node of a search, given where each comes from and how.
pub(crate) fn way_to<'w>(
    mut at: usize,
    before: impl Fn(usize) -> Option<&'w (usize, Path)>,
) -> Path {
    let mut parts = Vec::new();
    while let Some((earlier, path)) = before(at) {
        parts.push(path);
        at = *earlier;
    }
    parts.into_iter().rev().flatten().cloned().collect()
}

/// How many states one step may lead to, or pass through.
const MOST_OUTCOMES: u64 = 1 << 20;

/// Whether a step commutes to the right, and to the left, of steps of other threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mover {
    /// It can be delayed.
    pub right: bool,
    /// It can be advanced.
    pub left: bool,
}

impl Mover {
    /// A step that commutes with all others.
    pub const BOTH: Self = Self { right: true, left: true };
    /// A step that can be delayed only.
    pub const RIGHT: Self = Self { right: true, left: false };
    /// A step that can be advanced only.
    pub const LEFT: Self = Self { right: false, left: true };
    /// A step that commutes with none.
    pub const NONE: Self = Self { right: false, left: false };

    /// What both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { right: self.right && other.right, left: self.left && other.left }
    }
}

/// An access to a global.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CellAccess {
    /// The global.
    pub cell: GlobalId,
    /// Whether it is written.
    pub write: bool,
    /// The locks that the thread holds.
    pub held: u128,
}

/// Steps one behind the other, each with the state that it leads to.
pub type Path = Vec<(Move, State)>;

/// What a thread can do by one edge.
#[derive(Clone, Debug)]
pub struct Offer {
    /// What it accesses.
    pub accesses: Vec<CellAccess>,
    /// What the action says about movers.
    pub mover: Mover,
    /// The ways that end; the last state of each is the outcome.
    pub outcomes: Vec<Path>,
    /// How it fails, and the way there without the failing step; that is the move.
    pub fails: Option<(FailureKind, Path, Move)>,
    /// Ways to labels inside an atomic section.
    pub labelled: Vec<Path>,
    /// How many further ways through an atomic section lead to one of the outcomes.
    pub repeats: u64,
    /// Whether calls were cut off that are too deep.
    pub too_deep: bool,
}

impl Offer {
    fn new() -> Self {
        Self {
            accesses: Vec::new(),
            mover: Mover::BOTH,
            outcomes: Vec::new(),
            fails: None,
            labelled: Vec::new(),
            repeats: 0,
            too_deep: false,
        }
    }

    fn failing(mut self, kind: FailureKind, step: Move) -> Self {
        self.note(kind, step);
        self.outcomes.clear();
        self
    }

    fn note(&mut self, kind: FailureKind, step: Move) {
        if self.fails.is_none() {
            self.fails = Some((kind, Vec::new(), step));
        }
    }
}

/// An atomic section that is being explored.
struct Section {
    /// What was found so far.
    whole: Offer,
    /// The states inside.
    inside: Vec<Inside>,
    /// All that were seen; those behind the section are normalised.
    seen: FxHashSet<State>,
}

/// A state inside an atomic section, with the step to it and the state before, if that is inside too.
struct Inside {
    before: Option<usize>,
    step: Move,
    state: State,
}

impl Section {
    fn new() -> Self {
        Self { whole: Offer::new(), inside: Vec::new(), seen: FxHashSet::default() }
    }

    /// The way to a state inside.
    fn way(&self, mut at: Option<usize>) -> Path {
        let mut way = Path::new();
        while let Some(inside) = at.map(|at| &self.inside[at]) {
            way.push((inside.step, inside.state.clone()));
            at = inside.before;
        }
        way.reverse();
        way
    }
}

/// The step relation of a program.
#[derive(Debug)]
pub struct StepRelation<'c, 'p> {
    /// The program.
    pub code: &'c Code<'p>,
    /// How many calls a thread may have open.
    pub depth: usize,
    /// The nodes that are looked for.
    pub labels: BTreeSet<NodeId>,
    /// When to stop.
    pub budget: Budget,
}

/// A step that is being computed.
struct Attempt<'s> {
    state: &'s State,
    thread: ThreadId,
    view: Variables<'s>,
    held: u128,
    edge: Option<EdgeId>,
    step: Move,
}

/// Why a step has no outcomes.
enum Halt {
    /// It is not possible now.
    Blocked,
    /// It fails.
    Fails(FailureKind),
    /// It is too large for this search.
    Unknown(Unknown),
}

type Attempted<T> = Result<T, Halt>;

impl StepRelation<'_, '_> {
    /// What a thread can do, for each edge from where it stands.
    ///
    /// # Errors
    /// If a step has too many outcomes.
    pub fn offers(&self, state: &State, thread: ThreadId) -> Result<Vec<Offer>, Unknown> {
        let own = state.thread(thread);
        let Some(node) = state.top(thread).filter(|_| !own.stopped) else { return Ok(Vec::new()) };
        if !self.enforced_holds(state, thread) {
            // It waits until somebody changes that.
            let mut blocked = Offer::new();
            let view = self.view(state, thread);
            let (held, step) = (state.held(thread), Move::Return);
            let attempt = Attempt { state, thread, view, held, edge: None, step };
            self.enforced_reads(&attempt, procedure_of(self.code.program, node).0, &mut blocked);
            return Ok(vec![blocked]);
        }
        if is_exit(self.code.program, node) {
            return Ok(vec![self.micro(state, thread, None)?]);
        }
        let edges = self.code.successors.of(node);
        edges
            .iter()
            .map(|&edge| match self.code.program.edges[edge].action {
                Action::BeginAtomic => self.section(state, thread, edge),
                _ => self.micro(state, thread, Some(edge)),
            })
            .collect()
    }

    /// The states to which one move of a thread leads, also inside an atomic section.
    ///
    /// # Errors
    /// If there are too many.
    pub fn outcomes_of(
        &self,
        state: &State,
        thread: ThreadId,
        step: Move,
    ) -> Result<Vec<State>, Unknown> {
        let offer = self.micro(state, thread, step.edge())?;
        let outcomes = offer.outcomes.into_iter().filter_map(|mut path| path.pop());
        Ok(outcomes.filter(|(own, _)| *own == step).map(|(_, next)| next).collect())
    }

    /// An atomic section from its first edge on.
    fn section(&self, state: &State, thread: ThreadId, edge: EdgeId) -> Result<Offer, Unknown> {
        let mut section = Section::new();
        self.collect(&mut section, self.micro(state, thread, Some(edge))?, None, thread);
        let mut at = 0;
        while let Some(here) = section.inside.get(at).map(|inside| inside.state.clone()) {
            if let Some(reason) = self.budget.poll() {
                return Err(reason.into());
            }
            if section.inside.len() as u64 > MOST_OUTCOMES {
                return Err(too_many());
            }
            if let Some(node) = here.top(thread)
                && self.enforced_holds(&here, thread)
            {
                if self.labels.contains(&node) {
                    let way = section.way(Some(at));
                    section.whole.labelled.push(way);
                }
                let edges: Vec<Option<EdgeId>> = if is_exit(self.code.program, node) {
                    vec![None]
                } else {
                    self.code.successors.of(node).iter().map(|&edge| Some(edge)).collect()
                };
                for edge in edges {
                    self.collect(&mut section, self.micro(&here, thread, edge)?, Some(at), thread);
                }
            }
            at += 1;
        }
        Ok(section.whole)
    }

    /// Adds what one edge offers, at the beginning of a section or at a state inside.
    fn collect(
        &self,
        section: &mut Section,
        offer: Offer,
        before: Option<usize>,
        thread: ThreadId,
    ) {
        let whole = &mut section.whole;
        whole.accesses.extend(offer.accesses);
        whole.mover = whole.mover.and(offer.mover);
        whole.too_deep |= offer.too_deep;
        if let (Some((kind, _, step)), None) = (offer.fails, &section.whole.fails) {
            let way = section.way(before);
            section.whole.fails = Some((kind, way, step));
        }
        for mut outcome in offer.outcomes {
            let (step, state) = outcome.pop().expect("an outcome has one step");
            let ends = state.thread(thread).atomic == 0;
            let same = if ends { self.normalise(&state) } else { state.clone() };
            if !section.seen.insert(same) {
                section.whole.repeats += u64::from(ends);
                continue;
            }
            if ends {
                let mut way = section.way(before);
                way.push((step, state));
                section.whole.outcomes.push(way);
            } else {
                section.inside.push(Inside { before, step, state });
            }
        }
    }

    fn copy(&self, thread: ThreadId) -> u32 {
        copy_number(&self.code.program.threads[thread].name)
    }

    fn view<'s>(&self, state: &'s State, thread: ThreadId) -> Variables<'s> {
        let locals = state.thread(thread).stack.last().map_or(&[][..], |top| &top.locals);
        Variables { globals: &state.globals, locals, thread, copy: self.copy(thread) }
    }

    fn enforced_holds(&self, state: &State, thread: ThreadId) -> bool {
        let Some(node) = state.top(thread) else { return true };
        let program = self.code.program;
        let enforced = procedure_of(program, node).1.frame.enforced;
        enforced.is_none_or(|id| {
            let view = self.view(state, thread);
            view.evaluate(&program.conditions[id], &mut Vec::new()).can_hold()
        })
    }

    /// What one edge, or the return from an exit, offers.
    fn micro(
        &self,
        state: &State,
        thread: ThreadId,
        edge: Option<EdgeId>,
    ) -> Result<Offer, Unknown> {
        let step = edge.map_or(Move::Return, Move::Edge);
        let view = self.view(state, thread);
        let attempt = Attempt { state, thread, view, held: state.held(thread), edge, step };
        let mut offer = Offer::new();
        match self.attempt(&attempt, &mut offer) {
            Ok(()) | Err(Halt::Blocked) => Ok(offer),
            Err(Halt::Fails(kind)) => Ok(offer.failing(kind, step)),
            Err(Halt::Unknown(why)) => Err(why),
        }
    }

    fn attempt(&self, attempt: &Attempt<'_>, offer: &mut Offer) -> Attempted<()> {
        let program = self.code.program;
        let edge = attempt.edge.map(|id| &program.edges[id]);
        let update = edge.and_then(|edge| edge.update).map(|id| &program.updates[id]);
        if let Some(guard) = update.and_then(|update| update.guard.as_ref()) {
            let guard = self.read(attempt, guard, offer)?;
            if !guard.can_hold() {
                return Err(guard.fails.map_or(Halt::Blocked, Halt::Fails));
            }
        }
        if let Some(constraint) = update.and_then(|update| update.constraint.as_ref()) {
            let mut reads = Vec::new();
            constraint.variables(&mut |variable, _| {
                if let Variable::Global(cell) = variable {
                    reads.push(cell);
                }
            });
            for cell in reads {
                self.access(attempt, cell, false, offer)?;
            }
        }
        self.all_enforced_reads(attempt, edge, offer);
        let nexts = self.act(attempt, edge, offer)?;
        if let Some(Edge { action: Action::Assert(id), .. }) = edge {
            let condition = self.read(attempt, &program.conditions[*id], offer)?;
            if condition.can_be_false() {
                offer.note(FailureKind::Assertion, attempt.step);
            }
            if !condition.can_hold() {
                return Err(Halt::Fails(condition.fails.unwrap_or(FailureKind::Assertion)));
            }
        }
        let cells = self.cells(attempt, edge, update, offer)?;
        self.check_reads(attempt, &cells, offer);
        let mut outcomes = 1u64;
        for (_, values) in &cells {
            outcomes = outcomes.saturating_mul(values.count());
        }
        if outcomes.saturating_mul(nexts.len() as u64) > MOST_OUTCOMES {
            return Err(Halt::Unknown(too_many()));
        }
        for number in 0..outcomes {
            for (step, next) in &nexts {
                let (next, fails) = self.combine(attempt, next, edge, update, &cells, number);
                if let Some(kind) = fails {
                    offer.note(kind, *step);
                }
                if let Some(next) = next {
                    offer.outcomes.push(vec![(*step, next)]);
                }
            }
        }
        Ok(())
    }

    /// What an expression can be, with what it reads noted and allowed.
    fn read(&self, attempt: &Attempt<'_>, expr: &Expr, offer: &mut Offer) -> Attempted<Evaluated> {
        let mut reads = Vec::new();
        let value = attempt.view.evaluate(expr, &mut reads);
        for cell in reads {
            self.access(attempt, cell, false, offer)?;
        }
        if let Some(kind) = value.fails {
            offer.note(kind, attempt.step);
        }
        if value.too_many {
            return Err(Halt::Unknown(too_many()));
        }
        Ok(value)
    }

    /// Notes an access to a global, unless an annotation protects it; fails if that does not.
    fn access(
        &self,
        attempt: &Attempt<'_>,
        cell: GlobalId,
        write: bool,
        offer: &mut Offer,
    ) -> Attempted<()> {
        let program = self.code.program;
        let fails = match program.globals[cell].annotation {
            None => {
                offer.accesses.push(CellAccess { cell, write, held: attempt.held });
                return Ok(());
            }
            Some(Annotation::GuardedBy(lock)) => {
                let owns = attempt.state.owns(attempt.thread, lock);
                (!owns).then_some(FailureKind::Annotation)
            }
            Some(Annotation::ExclusiveWhen(id)) => {
                let view = Variables { locals: &[], ..attempt.view };
                let value = view.evaluate(&program.conditions[id], &mut Vec::new());
                let wrong = value.can_be_false().then_some(FailureKind::Annotation);
                value.fails.or(wrong)
            }
        };
        fails.map_or(Ok(()), |kind| Err(Halt::Fails(kind)))
    }

    /// What the procedures on top before and after a step enforce is read.
    fn all_enforced_reads(&self, attempt: &Attempt<'_>, edge: Option<&Edge>, offer: &mut Offer) {
        let program = self.code.program;
        let stack = &attempt.state.thread(attempt.thread).stack;
        let below = stack.len().checked_sub(2).map(|at| stack[at].node);
        let top = stack.last().map(|top| top.node);
        let callee = match edge.map(|edge| edge.action) {
            Some(Action::Call(callee)) => Some(callee),
            _ => None,
        };
        let on_stack = [top, below].into_iter().flatten();
        for procedure in on_stack.map(|node| program.nodes[node]).chain(callee) {
            self.enforced_reads(attempt, procedure, offer);
        }
    }

    fn enforced_reads(&self, attempt: &Attempt<'_>, procedure: ProcedureId, offer: &mut Offer) {
        let program = self.code.program;
        let held = attempt.held;
        let enforced = program.procedures[procedure].frame.enforced;
        if let Some(condition) = enforced.map(|id| &program.conditions[id]) {
            condition.variables(&mut |variable, _| {
                if let Variable::Global(cell) = variable {
                    offer.accesses.push(CellAccess { cell, write: false, held });
                }
            });
        }
    }

    /// The checks of a step that writes count as reads of what they look at.
    fn check_reads(&self, attempt: &Attempt<'_>, cells: &[(Cell, Choices)], offer: &mut Offer) {
        let held = attempt.held;
        for condition in self.checked(cells) {
            condition.variables(&mut |variable, _| {
                if let Variable::Global(cell) = variable {
                    offer.accesses.push(CellAccess { cell, write: false, held });
                }
            });
        }
    }

    /// The invariants and predicates that a step which writes these cells has to check.
    fn checked(&self, cells: &[(Cell, Choices)]) -> Vec<&Expr> {
        let program = self.code.program;
        let written: Vec<GlobalId> = cells.iter().filter_map(|(cell, _)| cell.global()).collect();
        if written.is_empty() {
            return Vec::new();
        }
        let invariants = program.invariants.iter().map(|one| one.condition);
        let predicates = program.globals.iter().filter_map(|one| match one.annotation {
            Some(Annotation::ExclusiveWhen(id)) => Some(id),
            _ => None,
        });
        let speaks = |condition: &&Expr| {
            let mut speaks = false;
            condition.variables(&mut |variable, _| {
                speaks |= written.iter().any(|&one| variable == Variable::Global(one));
            });
            speaks
        };
        invariants.chain(predicates).map(|id| &program.conditions[id]).filter(speaks).collect()
    }

    /// What the action does to control and locks: the moves, each with the state that it leads to but
    /// for the data, and with the stack as it was.
    fn act(
        &self,
        attempt: &Attempt<'_>,
        edge: Option<&Edge>,
        offer: &mut Offer,
    ) -> Attempted<Vec<(Move, State)>> {
        let Attempt { state, thread, step, .. } = *attempt;
        let program = self.code.program;
        let mut next = state.clone();
        let ends = state.thread(thread).stack.len() == 1;
        let Some(edge) = edge else {
            if ends {
                offer.mover = Mover::LEFT;
            }
            return Ok(vec![(step, next)]);
        };
        match edge.action {
            Action::Acquire(lock) => match state.owner(lock) {
                None => {
                    offer.mover = Mover::RIGHT;
                    next.set_owner(lock, Some((thread, 1)));
                }
                Some((owner, depth)) if owner == thread && program.locks[lock].reentrant => {
                    next.set_owner(lock, Some((thread, depth + 1)));
                }
                Some(_) => {
                    offer.mover = Mover::NONE;
                    return Err(Halt::Blocked);
                }
            },
            Action::Release(lock) => match state.owner(lock) {
                Some((owner, depth)) if owner == thread => {
                    if depth == 1 {
                        offer.mover = Mover::LEFT;
                        next.set_owner(lock, None);
                    } else {
                        next.set_owner(lock, Some((thread, depth - 1)));
                    }
                }
                _ => return Err(Halt::Fails(FailureKind::Release)),
            },
            Action::Wait(lock) => match state.owner(lock) {
                Some((owner, depth)) if owner == thread => {
                    offer.mover = Mover::LEFT;
                    next.set_owner(lock, None);
                    next.thread_mut(thread).suspended =
                        Some(Suspended { lock, depth, in_set: true });
                }
                _ => return Err(Halt::Fails(FailureKind::Monitor)),
            },
            Action::Resume(lock) => {
                offer.mover = Mover::RIGHT;
                let suspended = state.thread(thread).suspended.filter(|one| one.lock == lock);
                let awake = suspended.filter(|one| !one.in_set || program.spurious_wakeups);
                let Some(Suspended { depth, .. }) = awake else { return Err(Halt::Blocked) };
                if state.owner(lock).is_some() {
                    return Err(Halt::Blocked);
                }
                next.set_owner(lock, Some((thread, depth)));
                next.thread_mut(thread).suspended = None;
            }
            Action::Notify(lock) | Action::NotifyAll(lock) => {
                if !state.owns(thread, lock) {
                    return Err(Halt::Fails(FailureKind::Monitor));
                }
                let members = state.wait_set(lock);
                let wake = |state: &mut State, member: ThreadId| {
                    if let Some(suspended) = &mut state.thread_mut(member).suspended {
                        suspended.in_set = false;
                    }
                };
                if matches!(edge.action, Action::NotifyAll(_)) {
                    for member in members {
                        wake(&mut next, member);
                    }
                } else if let (false, Some(id)) = (members.is_empty(), attempt.edge) {
                    let one = |member: ThreadId| {
                        let mut next = next.clone();
                        wake(&mut next, member);
                        (Move::With(id, member), next)
                    };
                    return Ok(members.into_iter().map(one).collect());
                }
            }
            Action::Start(started) => {
                let after = match program.threads[started].start {
                    Start::ByEdge { after } => after,
                    Start::AtFirst => None,
                };
                let early = after.is_some_and(|before| state.thread(before).waits);
                if !state.thread(started).waits || early {
                    offer.mover = Mover::NONE;
                    return Err(Halt::Blocked);
                }
                let alone = self.code.one_starter[started] && after.is_none();
                offer.mover = if alone { Mover::LEFT } else { Mover::NONE };
                next.thread_mut(started).waits = false;
            }
            Action::Join(joined) => {
                if !state.thread(joined).stack.is_empty() {
                    offer.mover = Mover::NONE;
                    return Err(Halt::Blocked);
                }
            }
            Action::BeginUnit => next.thread_mut(thread).units += 1,
            Action::EndUnit => {
                let units = &mut next.thread_mut(thread).units;
                *units = units.checked_sub(1).ok_or(Halt::Blocked)?;
            }
            Action::BeginAtomic => next.thread_mut(thread).atomic += 1,
            Action::EndAtomic => {
                let atomic = &mut next.thread_mut(thread).atomic;
                *atomic = atomic.checked_sub(1).ok_or(Halt::Blocked)?;
            }
            Action::Call(_) => {
                if state.thread(thread).stack.len() > self.depth {
                    offer.too_deep = true;
                    return Err(Halt::Blocked);
                }
            }
            Action::Return(_) => {
                if ends {
                    offer.mover = Mover::LEFT;
                }
            }
            Action::Skip | Action::Read(_) | Action::Write(_) | Action::Assert(_) => {}
        }
        Ok(vec![(step, next)])
    }

    /// What gets a value in a step, and which.
    fn cells(
        &self,
        attempt: &Attempt<'_>,
        edge: Option<&Edge>,
        update: Option<&Update>,
        offer: &mut Offer,
    ) -> Attempted<Vec<(Cell, Choices)>> {
        let program = self.code.program;
        let Attempt { state, thread, .. } = *attempt;
        let stack = &state.thread(thread).stack;
        let top = stack.last().expect("a thread that moves has an activation");
        let (running, procedure) = procedure_of(program, top.node);
        let mut cells = Vec::new();
        for (target, value) in update.iter().flat_map(|update| &update.assignments) {
            self.written(attempt, *target, offer)?;
            let choices = self.stored(attempt, value, self.ty(running, *target), offer)?;
            cells.push((Cell::Updated(*target), choices));
        }
        let passing = edge.and_then(|edge| edge.passing).map(|id| &program.passings[id]);
        match edge.map(|edge| edge.action) {
            Some(Action::Call(opened)) => {
                for (local, choices) in self.opened(attempt, opened, passing, offer)? {
                    cells.push((Cell::Opened(local), choices));
                }
            }
            Some(Action::Start(started)) => {
                let main = program.threads[started].main;
                for (local, choices) in self.opened(attempt, main, passing, offer)? {
                    cells.push((Cell::Started(started, local), choices));
                }
            }
            None | Some(Action::Return(_)) => {
                let returned = match edge.map(|edge| edge.action) {
                    Some(Action::Return(id)) => &program.returns[id][..],
                    _ => &[],
                };
                let call = top.call.map(|id| &program.edges[id]);
                let caller = call.map(|call| program.nodes[call.source]);
                let targets = call.and_then(|call| call.passing);
                let targets = targets.map_or(&[][..], |id| &program.passings[id].results);
                for (at, &ty) in procedure.frame.results.iter().enumerate() {
                    let choices = match returned.get(at) {
                        Some(value) => self.stored(attempt, value, ty, offer)?,
                        None => self.any(ty),
                    };
                    if let (Some(&Some(target)), Some(caller)) = (targets.get(at), caller) {
                        self.written(attempt, target, offer)?;
                        let choices =
                            self.moved(attempt, &choices, self.ty(caller, target), offer)?;
                        cells.push((Cell::Result(target), choices));
                    }
                }
            }
            _ => {}
        }
        Ok(cells)
    }

    fn written(&self, attempt: &Attempt<'_>, target: Variable, offer: &mut Offer) -> Attempted<()> {
        match target {
            Variable::Global(cell) => self.access(attempt, cell, true, offer),
            Variable::Local(_) => Ok(()),
        }
    }

    fn ty(&self, procedure: ProcedureId, variable: Variable) -> Type {
        let program = self.code.program;
        match variable {
            Variable::Global(id) => program.globals[id].ty,
            Variable::Local(id) => program.procedures[procedure].frame.locals[id].ty,
        }
    }

    fn any(&self, ty: Type) -> Choices {
        let (low, high) = self.code.program.range(ty);
        Choices::Between(low, high)
    }

    /// The locals of an activation that opens.
    fn opened(
        &self,
        attempt: &Attempt<'_>,
        procedure: ProcedureId,
        passing: Option<&selvedge_program::Passing>,
        offer: &mut Offer,
    ) -> Attempted<Vec<(LocalId, Choices)>> {
        let frame = &self.code.program.procedures[procedure].frame;
        let entry = self.code.program.procedures[procedure].entry;
        let mut locals = Vec::new();
        for (id, local) in frame.locals.iter_enumerated() {
            let argument = passing.and_then(|passing| passing.arguments.get(index(id)));
            let choices = match (argument, local.initial) {
                (Some(argument), _) => self.stored(attempt, argument, local.ty, offer)?,
                (None, Some(initial)) if index(id) >= frame.parameters => {
                    Choices::Listed(vec![initial])
                }
                // What nobody reads need not be chosen.
                _ if !self.code.live[entry].contains(&id) => {
                    Choices::Listed(vec![self.code.program.range(local.ty).0])
                }
                _ => self.any(local.ty),
            };
            locals.push((id, choices));
        }
        Ok(locals)
    }

    fn stored(
        &self,
        attempt: &Attempt<'_>,
        expr: &Expr,
        ty: Type,
        offer: &mut Offer,
    ) -> Attempted<Choices> {
        let value = self.read(attempt, expr, offer)?;
        self.held(attempt, value.values.into_iter(), ty, value.fails, offer)
    }

    fn moved(
        &self,
        attempt: &Attempt<'_>,
        choices: &Choices,
        ty: Type,
        offer: &mut Offer,
    ) -> Attempted<Choices> {
        if choices.count() > MOST_OUTCOMES {
            return Err(Halt::Unknown(too_many()));
        }
        let values = (0..choices.count()).map(|at| i64::from(choices.at(at)));
        self.held(attempt, values, ty, None, offer)
    }

    /// Numbers as a variable of a type holds them.
    fn held(
        &self,
        attempt: &Attempt<'_>,
        values: impl Iterator<Item = i64>,
        ty: Type,
        fails: Option<FailureKind>,
        offer: &mut Offer,
    ) -> Attempted<Choices> {
        let (low, high) = self.code.program.range(ty);
        let mut held: Vec<Value> = Vec::new();
        let mut outside = false;
        for value in values {
            let value = match ty {
                Type::Mod(n) => value.rem_euclid(n.into()),
                _ => value,
            };
            match Value::try_from(value) {
                Ok(value) if (low..=high).contains(&value) => held.push(value),
                _ => outside = true,
            }
        }
        if outside {
            offer.note(FailureKind::Range, attempt.step);
        }
        held.sort_unstable();
        held.dedup();
        if held.is_empty() {
            let fails = fails.or(outside.then_some(FailureKind::Range));
            return Err(fails.map_or(Halt::Blocked, Halt::Fails));
        }
        Ok(Choices::Listed(held))
    }

    /// The state in which the cells have the values of one combination; nothing if it is excluded, and
    /// how it fails if it does.
    fn combine(
        &self,
        attempt: &Attempt<'_>,
        next: &State,
        edge: Option<&Edge>,
        update: Option<&Update>,
        cells: &[(Cell, Choices)],
        number: u64,
    ) -> (Option<State>, Option<FailureKind>) {
        let program = self.code.program;
        let Attempt { state, thread, view, .. } = *attempt;
        let mut next = next.clone();
        let mut rest = number;
        let chosen: Vec<(Cell, Value)> = cells
            .iter()
            .map(|(cell, choices)| {
                let own = choices.at(rest % choices.count());
                rest /= choices.count();
                (*cell, own)
            })
            .collect();
        for &(cell, value) in &chosen {
            if let Cell::Updated(target) = cell {
                assign(&mut next, thread, target, value);
            }
        }
        if let Some(constraint) = update.and_then(|update| update.constraint.as_ref()) {
            let after = self.view(&next, thread);
            let value = view.between(constraint, after, &mut Vec::new());
            if !value.can_hold() {
                return (None, value.fails);
            }
        }
        match edge.map(|edge| edge.action) {
            Some(Action::Call(callee)) => {
                let frame = &program.procedures[callee];
                let own = next.thread_mut(thread);
                let goes_on = edge.expect("a call is an edge").target;
                own.stack.last_mut().expect("the caller").node = goes_on;
                own.stack.push(Activation {
                    node: frame.entry,
                    call: attempt.edge,
                    locals: vec![0; frame.frame.locals.len()],
                });
            }
            None | Some(Action::Return(_)) => _ = next.thread_mut(thread).stack.pop(),
            Some(_) => {
                let target = edge.expect("an action is an edge's").target;
                next.thread_mut(thread).stack.last_mut().expect("it moves").node = target;
            }
        }
        for &(cell, value) in &chosen {
            match cell {
                Cell::Updated(_) => {}
                Cell::Result(target) => assign(&mut next, thread, target, value),
                Cell::Opened(local) => assign(&mut next, thread, Variable::Local(local), value),
                Cell::Started(started, _) => {
                    next.thread_mut(started).stack[0].locals.push(value);
                }
            }
        }
        if !self.enforced_holds(&next, thread) {
            return (None, None);
        }
        match self.breaks(state, &next, thread, cells) {
            Some(kind) => (None, Some(kind)),
            None => (Some(next), None),
        }
    }

    /// How a step breaks an invariant or a predicate.
    fn breaks(
        &self,
        before: &State,
        after: &State,
        thread: ThreadId,
        cells: &[(Cell, Choices)],
    ) -> Option<FailureKind> {
        let program = self.code.program;
        let about = |state, thread| Variables { locals: &[], ..self.view(state, thread) };
        for condition in self.checked(cells) {
            let is_invariant = program
                .invariants
                .iter()
                .any(|one| std::ptr::eq(&raw const program.conditions[one.condition], condition));
            if is_invariant {
                let value = about(after, thread).evaluate(condition, &mut Vec::new());
                let wrong = value.can_be_false().then_some(FailureKind::Invariant);
                if let Some(kind) = value.fails.or(wrong) {
                    return Some(kind);
                }
                continue;
            }
            let mut exclusive = 0;
            for other in program.threads.ids() {
                let old = about(before, other).evaluate(condition, &mut Vec::new());
                let new = about(after, other).evaluate(condition, &mut Vec::new());
                if let Some(kind) = new.fails {
                    return Some(kind);
                }
                exclusive += usize::from(new.can_hold());
                let changed = old.values != new.values || old.fails != new.fails;
                if exclusive > 1 || other != thread && changed {
                    return Some(FailureKind::Annotation);
                }
            }
        }
        None
    }

    /// How a state is wrong before any step.
    pub fn wrong_at_first(&self, state: &State) -> Option<FailureKind> {
        let program = self.code.program;
        program.invariants.iter().find_map(|one| {
            let thread = ThreadId::from_index(0);
            let view = Variables { locals: &[], thread, globals: &state.globals, copy: 0 };
            let value = view.evaluate(&program.conditions[one.condition], &mut Vec::new());
            value.fails.or(value.can_be_false().then_some(FailureKind::Invariant))
        })
    }

    /// The state with bare jumps taken and with locals that do not matter reset.
    pub fn normalise(&self, state: &State) -> State {
        let mut next = state.clone();
        let program = self.code.program;
        for (thread, _) in program.threads.iter_enumerated() {
            let own = state.thread(thread);
            if own.waits || own.stack.is_empty() {
                continue;
            }
            let jumps = state.top(thread).map(|node| &self.code.jumps[node]);
            if let Some(&last) = jumps.and_then(|jumps| jumps.last())
                && own.atomic == 0
            {
                let target = program.edges[last].target;
                next.thread_mut(thread).stack.last_mut().expect("it has a top").node = target;
            }
            self.reset(&mut next, thread);
        }
        next
    }

    fn reset(&self, state: &mut State, thread: ThreadId) {
        let program = self.code.program;
        let own = state.thread(thread);
        let mut resets: Vec<(usize, usize, Value)> = Vec::new();
        for (at, activation) in own.stack.iter().enumerate() {
            let live = match own.stack.get(at + 1).and_then(|above| above.call) {
                Some(call) => &self.code.live_below[call],
                None => &self.code.live[activation.node],
            };
            let (_, procedure) = procedure_of(program, activation.node);
            for (id, local) in procedure.frame.locals.iter_enumerated() {
                let low = program.range(local.ty).0;
                if !live.contains(&id) && activation.locals[index(id)] != low {
                    resets.push((at, index(id), low));
                }
            }
        }
        if !resets.is_empty() {
            let own = state.thread_mut(thread);
            for (at, local, low) in resets {
                own.stack[at].locals[local] = low;
            }
        }
    }
}

/// Something that gets a value in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cell {
    Updated(Variable),
    Opened(LocalId),
    Result(Variable),
    Started(ThreadId, LocalId),
}

impl Cell {
    fn global(self) -> Option<GlobalId> {
        match self {
            Self::Updated(Variable::Global(id)) | Self::Result(Variable::Global(id)) => Some(id),
            _ => None,
        }
    }
}

/// The values that a cell can get, at least one.
#[derive(Clone, Debug)]
enum Choices {
    Listed(Vec<Value>),
    Between(Value, Value),
}

impl Choices {
    fn count(&self) -> u64 {
        match self {
            Self::Listed(values) => values.len() as u64,
            Self::Between(low, high) => (i64::from(*high) - i64::from(*low) + 1).unsigned_abs(),
        }
    }

    fn at(&self, at: u64) -> Value {
        match self {
            Self::Listed(values) => values[at as usize],
            Self::Between(low, _) => (i64::from(*low) + at.cast_signed()) as Value,
        }
    }
}

fn assign(state: &mut State, thread: ThreadId, target: Variable, value: Value) {
    match target {
        Variable::Global(id) => {
            if state.globals[index(id)] != value {
                let mut globals = state.globals.to_vec();
                globals[index(id)] = value;
                state.globals = globals.into();
            }
        }
        Variable::Local(id) => {
            let top = state.thread_mut(thread).stack.last_mut();
            top.expect("a thread with locals has an activation").locals[index(id)] = value;
        }
    }
}

fn too_many() -> Unknown {
    Unknown::Unsupported(format!(
        "the search handles at most {MOST_OUTCOMES} outcomes of a step, and this program has a step \
         with more"
    ))
}
