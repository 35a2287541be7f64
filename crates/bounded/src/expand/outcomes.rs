//! # Idea
//! The steps of one activation. Control and action decide whether a step is possible and what it
//! does to what is hidden; what is left are bits in three words (the shared state, the locals of
//! the activation, the values that go somewhere else), some of which are free. The outcomes are the
//! choices for the free bits that the constraint and the enforced conditions allow.
//!
//! # Source
//! [`selvedge_program::data`], semantics 1 to 6. An assertion that fails changes nothing, but needs
//! its guard.

use super::layout::Shared;
use super::values::{Values, View, values};
use super::{
    Activity, ExpandedSymbol, Expansion, MOST_OUTCOMES, StackEffect, Successor, set, spread,
    too_many_outcomes,
};
use selvedge_base::Id;
use selvedge_program::{
    Action, Edge, EdgeId, Expr, Frame, Move, NodeId, ProcedureId, Start, ThreadId, Unknown, Update,
    Variable,
};

/// The three words of an outcome.
const SHARED: usize = 0;
const LOCALS: usize = 1;
/// Locals of a callee, returned values, or arguments of a thread that starts.
const PASSED: usize = 2;

/// What a step makes of the words, as far as it is fixed, and which bits are free.
struct Bits {
    fixed: [u64; 3],
    free: [Vec<u64>; 3],
}

impl Bits {
    fn new(shared: Shared, locals: u64) -> Self {
        Self { fixed: [shared.0, locals, 0], free: [const { Vec::new() }; 3] }
    }

    fn assign(&mut self, word: usize, bit: usize, to: Values) {
        set(&mut self.fixed[word], bit, to.can_be_true() && !to.can_be_false());
        if to.can_be_true() && to.can_be_false() {
            self.free[word].push(1 << bit);
        }
    }

    fn any(&mut self, word: usize, bit: usize) {
        self.free[word].push(1 << bit);
    }

    fn number_free(&self) -> usize {
        self.free.iter().map(Vec::len).sum()
    }

    /// One of the combinations.
    fn combination(&self, mut which: u64) -> [u64; 3] {
        let mut words = self.fixed;
        for (word, free) in words.iter_mut().zip(&self.free) {
            *word |= spread(which, free);
            which >>= free.len();
        }
        words
    }
}

impl Expansion<'_> {
    /// Whether what a procedure enforces holds.
    pub(super) fn enforced(&self, procedure: ProcedureId, shared: Shared, locals: u64) -> bool {
        let Some(condition) = self.program.procedures[procedure].frame.enforced else {
            return true;
        };
        View { shared, locals }.values(&self.program.conditions[condition]).can_be_true()
    }

    /// Adds the successors of an activation at a node; those of its head begin at `head`.
    pub(super) fn steps(
        &mut self,
        thread: ThreadId,
        shared: Shared,
        node: NodeId,
        locals: u64,
        head: usize,
    ) -> Result<(), Unknown> {
        let program = self.program;
        let id = program.nodes[node];
        if !self.enforced(id, shared, locals) {
            return Ok(());
        }
        let procedure = &program.procedures[id];
        if procedure.exit == node {
            let results = procedure.frame.results.len();
            self.check_room(head, results)?;
            for values in 0..1u64 << results {
                let effect = StackEffect::Pop(values);
                self.successors.push(Successor { shared, effect, step: Move::Return });
            }
            return Ok(());
        }
        for at in 0..self.edges.of(node).len() {
            let edge = self.edges.of(node)[at];
            self.take(thread, View { shared, locals }, edge, head)?;
        }
        Ok(())
    }

    fn check_room(&self, head: usize, free: usize) -> Result<(), Unknown> {
        let room = MOST_OUTCOMES.saturating_sub(self.successors.len() - head);
        let fits = free < 64 && 1u64 << free <= room as u64;
        if fits { Ok(()) } else { Err(too_many_outcomes()) }
    }

    fn take(
        &mut self,
        thread: ThreadId,
        view: View,
        id: EdgeId,
        head: usize,
    ) -> Result<(), Unknown> {
        let program = self.program;
        let edge = &program.edges[id];
        let update = edge.update.map(|id| &program.updates[id]);
        let guard = update.and_then(|update| update.guard.as_ref());
        if guard.is_some_and(|guard| !view.values(guard).can_be_true()) {
            return Ok(());
        }
        let step = Move::Edge(id);
        if let Action::Assert(condition) = edge.action {
            let condition = view.values(&program.conditions[condition]);
            if condition.can_be_false() {
                self.check_room(head, 0)?;
                let effect = StackEffect::Fail;
                self.successors.push(Successor { shared: view.shared, effect, step });
            }
            if !condition.can_be_true() {
                return Ok(());
            }
        }
        let Some(shared) = self.act(thread, view.shared, edge.action)? else {
            // Who releases a lock without owning it fails.
            if matches!(edge.action, Action::Release(_)) {
                self.check_room(head, 0)?;
                let effect = StackEffect::Fail;
                self.successors.push(Successor { shared: view.shared, effect, step });
            }
            return Ok(());
        };
        let bits = self.bits(view, shared, edge, update);
        self.check_room(head, bits.number_free())?;
        let constraint = update.and_then(|update| update.constraint.as_ref());
        for which in 0..1u64 << bits.number_free() {
            // The first outcome is paid for with the head.
            if which > 0 {
                self.budget.check()?;
            }
            let [word, locals, passed] = bits.combination(which);
            let after = View { shared: Shared(word), locals };
            if constraint.is_none_or(|it| values(it, view, after).can_be_true()) {
                self.outcome(thread, id, after, passed);
            }
        }
        Ok(())
    }

    /// What an action does to what is hidden; `None` if it is not possible.
    fn act(
        &self,
        thread: ThreadId,
        shared: Shared,
        action: Action,
    ) -> Result<Option<Shared>, Unknown> {
        let layout = &self.layout;
        Ok(match action {
            Action::Acquire(lock) => layout.acquire(shared, thread, lock)?,
            Action::Release(lock) => layout.release(shared, thread, lock),
            Action::BeginAtomic => Some(layout.begin_atomic(shared, thread)?),
            Action::EndAtomic => layout.end_atomic(shared),
            Action::Start(started) => {
                let after = match self.program.threads[started].start {
                    Start::ByEdge { after } => after,
                    Start::AtFirst => None,
                };
                let early = after.is_some_and(|before| layout.waits(shared, before));
                (layout.waits(shared, started) && !early).then_some(shared)
            }
            _ => Some(shared),
        })
    }

    /// Which bits get which values.
    fn bits(&self, view: View, shared: Shared, edge: &Edge, update: Option<&Update>) -> Bits {
        let program = self.program;
        let mut bits = Bits::new(shared, view.locals);
        for (target, value) in update.iter().flat_map(|update| &update.assignments) {
            let (word, bit) = match target {
                Variable::Global(global) => (SHARED, global.index()),
                Variable::Local(local) => (LOCALS, local.index()),
            };
            bits.assign(word, bit, view.values(value));
        }
        let passing = edge.passing.map(|id| &program.passings[id]);
        let arguments: &[Expr] = passing.map_or(&[], |passing| &passing.arguments);
        let passed: &[Expr] = match edge.action {
            Action::Return(id) => &program.returns[id],
            _ => arguments,
        };
        for (at, value) in passed.iter().enumerate() {
            bits.assign(PASSED, at, view.values(value));
        }
        if let Action::Call(callee) = edge.action {
            let Frame { locals, parameters, .. } = &program.procedures[callee].frame;
            for at in *parameters..locals.len() {
                bits.any(PASSED, at);
            }
        }
        bits
    }

    /// Adds an outcome if nothing forbids it.
    fn outcome(&mut self, thread: ThreadId, id: EdgeId, after: View, passed: u64) {
        let program = self.program;
        let edge = &program.edges[id];
        let View { mut shared, locals } = after;
        let effect = match edge.action {
            Action::Return(_) => StackEffect::Pop(passed),
            Action::Call(callee) => {
                if !self.enforced(callee, shared, passed) {
                    return;
                }
                let entry = Activity::At(program.procedures[callee].entry);
                let top = self.symbol(ExpandedSymbol { thread, activity: entry, locals: passed });
                let open = Activity::Open(self.same_return[id]);
                let below = self.symbol(ExpandedSymbol { thread, activity: open, locals });
                StackEffect::Push(top, below)
            }
            action => {
                if !self.enforced(program.nodes[edge.target], shared, locals) {
                    return;
                }
                if let Action::Start(started) = action {
                    shared = self.layout.started(shared, started, passed);
                }
                let activity = Activity::At(edge.target);
                StackEffect::Step(self.symbol(ExpandedSymbol { thread, activity, locals }))
            }
        };
        self.successors.push(Successor { shared, effect, step: Move::Edge(id) });
    }
}
