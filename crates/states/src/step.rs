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

mod act;
mod section;
mod values;

use crate::eval::{Evaluated, Variables};
use crate::program::{Code, index, is_exit, procedure_of};
use crate::state::State;
use selvedge_base::{Budget, Id as _};
use selvedge_program::copies::copy_number;
use selvedge_program::{
    Action, Annotation, Edge, EdgeId, Expr, FailureKind, FailureKinds, GlobalId, Move, NodeId,
    ProcedureId, ThreadId, Unknown, Value, Variable,
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

/// Where something fails.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FailingSite {
    /// In a state at first.
    AtFirst,
    /// At the return from this exit, which no edge makes.
    Return(NodeId),
    /// At this edge.
    Edge(EdgeId),
}

impl FailingSite {
    /// The edge, if it is one.
    pub fn edge(self) -> Option<EdgeId> {
        match self {
            Self::Edge(edge) => Some(edge),
            Self::AtFirst | Self::Return(_) => None,
        }
    }
}

/// A way in which a thread can fail.
#[derive(Clone, Debug)]
pub struct StepFailure {
    /// Where.
    pub site: FailingSite,
    /// How.
    pub kind: FailureKind,
    /// The way there, without the failing step.
    pub path: Path,
    /// The failing step.
    pub step: Move,
}

/// What a thread can do by one edge.
#[derive(Clone, Debug)]
pub struct Offer {
    /// What it accesses.
    pub accesses: Vec<CellAccess>,
    /// What the action says about movers.
    pub mover: Mover,
    /// The ways that end; the last state of each is the outcome.
    pub outcomes: Vec<Path>,
    /// How it can fail: of each site every kind, with one way there.
    pub failures: Vec<StepFailure>,
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
            failures: Vec::new(),
            labelled: Vec::new(),
            repeats: 0,
            too_deep: false,
        }
    }

    /// Notes the kinds in which a step fails.
    fn note(&mut self, kinds: FailureKinds, site: FailingSite, step: Move) {
        for kind in kinds.iter() {
            self.add(site, kind, step, Vec::new);
        }
    }

    /// Notes a failure; the first way to it is kept.
    fn add(
        &mut self,
        site: FailingSite,
        kind: FailureKind,
        step: Move,
        path: impl FnOnce() -> Path,
    ) {
        if !self.failures.iter().any(|one| (one.site, one.kind) == (site, kind)) {
            self.failures.push(StepFailure { site, kind, path: path(), step });
        }
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
    site: FailingSite,
}

/// Why a step has no outcomes.
enum Halt {
    /// It is not possible now.
    Blocked,
    /// It fails.
    Fails(FailureKinds),
    /// It is too large for this search.
    Unknown(Unknown),
}

impl Halt {
    /// Why a step without a possible value has no outcomes.
    fn without_value(fails: FailureKinds) -> Self {
        if fails.is_empty() { Self::Blocked } else { Self::Fails(fails) }
    }
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
            let site = FailingSite::Return(node);
            let attempt = Attempt { state, thread, view, held, edge: None, step, site };
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

    /// What one edge, or the return from an exit, offers, also inside an atomic section.
    pub(crate) fn micro(
        &self,
        state: &State,
        thread: ThreadId,
        edge: Option<EdgeId>,
    ) -> Result<Offer, Unknown> {
        let step = edge.map_or(Move::Return, Move::Edge);
        let view = self.view(state, thread);
        let exit = || state.top(thread).map_or(FailingSite::AtFirst, FailingSite::Return);
        let site = edge.map_or_else(exit, FailingSite::Edge);
        let attempt = Attempt { state, thread, view, held: state.held(thread), edge, step, site };
        let mut offer = Offer::new();
        match self.attempt(&attempt, &mut offer) {
            Ok(()) | Err(Halt::Blocked) => Ok(offer),
            Err(Halt::Fails(kinds)) => {
                offer.note(kinds, site, step);
                offer.outcomes.clear();
                Ok(offer)
            }
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
                return Err(Halt::without_value(guard.fails));
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
            let broken = condition.broken(FailureKind::Assertion);
            offer.note(broken, attempt.site, attempt.step);
            if !condition.can_hold() {
                // A condition that chooses among nothing has no value: it blocks.
                return Err(Halt::without_value(broken));
            }
        }
        let mut denied = false;
        let cells = self.cells(attempt, edge, update, &mut denied, offer)?;
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
                // The first outcome is paid for with the state that it leads to.
                if !offer.outcomes.is_empty() {
                    self.budget.check().map_err(|reason| Halt::Unknown(reason.into()))?;
                }
                let (next, fails) = self.combine(attempt, next, edge, update, &cells, number);
                offer.note(fails, attempt.site, *step);
                if let Some(next) = next {
                    offer.outcomes.push(vec![(*step, next)]);
                }
            }
        }
        if denied {
            offer.outcomes.clear();
        }
        Ok(())
    }

    /// What an expression can be, with what it reads noted and allowed.
    fn read(&self, attempt: &Attempt<'_>, expr: &Expr, offer: &mut Offer) -> Attempted<Evaluated> {
        let mut reads = Vec::new();
        let value = attempt.view.evaluate(expr, &mut reads);
        // All of them are noted, also where the first one is not allowed.
        let mut allowed = Ok(());
        for cell in reads {
            allowed = allowed.and(self.access(attempt, cell, false, offer));
        }
        allowed?;
        offer.note(value.fails, attempt.site, attempt.step);
        if value.too_many {
            return Err(Halt::Unknown(too_many()));
        }
        Ok(value)
    }

    /// Notes an access to a global; fails if an annotation is to protect it and does not.
    fn access(
        &self,
        attempt: &Attempt<'_>,
        cell: GlobalId,
        write: bool,
        offer: &mut Offer,
    ) -> Attempted<()> {
        let program = self.code.program;
        offer.accesses.push(CellAccess { cell, write, held: attempt.held });
        let fails = match program.globals[cell].annotation {
            None => return Ok(()),
            Some(Annotation::GuardedBy(lock)) => {
                if attempt.state.owns(attempt.thread, lock) {
                    return Ok(());
                }
                FailureKind::Annotation.into()
            }
            Some(Annotation::ExclusiveWhen(id)) => {
                let view = Variables { locals: &[], ..attempt.view };
                let value = view.evaluate(&program.conditions[id], &mut Vec::new());
                value.broken(FailureKind::Annotation)
            }
        };
        if fails.is_empty() { Ok(()) } else { Err(Halt::Fails(fails)) }
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

    /// How a state is wrong before any step.
    pub fn wrong_at_first(&self, state: &State) -> FailureKinds {
        let program = self.code.program;
        let kinds = program.invariants.iter().enumerate().map(|(at, one)| {
            let thread = ThreadId::from_index(0);
            let view = Variables { locals: &[], thread, globals: &state.globals, copy: 0 };
            let value = view.evaluate(&program.conditions[one.condition], &mut Vec::new());
            value.broken(FailureKind::of_invariant(at))
        });
        kinds.fold(FailureKinds::NONE, FailureKinds::union)
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

fn too_many() -> Unknown {
    Unknown::Unsupported(format!(
        "the search handles at most {MOST_OUTCOMES} outcomes of a step, and this program has a step \
         with more"
    ))
}
