//! # Idea
//! The run to what a search has found: the chain of stored states, the way of one thread between each
//! two of them, and all of it executed once more on states that were not normalised, because a run has
//! the bare jumps and the values that the search left out.
//!
//! # Invariants
//! 1. A state that was executed, normalised, is the stored one.

use crate::program::is_exit;
use crate::search::{Found, StateSearch, StoreKind};
use crate::state::State;
use crate::step::{CellAccess, Path, way_to};
use crate::store::Stored;
use crate::symmetry::{ThreadImage, inverse};
use rustc_hash::FxHashSet;
use selvedge_base::IdVec;
use selvedge_program::{
    Action, EdgeId, FailureKind, Fault, Move, NodeId, ThreadId, Unknown, Valuation, Witness,
    WitnessStep,
};

/// Why there is no run.
#[derive(Debug)]
pub enum NoWitness {
    /// A limit was met.
    Unknown(Unknown),
    /// The search contradicts itself.
    Fault(Fault),
}

impl From<Unknown> for NoWitness {
    fn from(why: Unknown) -> Self {
        Self::Unknown(why)
    }
}

impl StateSearch<'_, '_> {
    /// The run to what was found; its steps know their transactions.
    ///
    /// # Errors
    /// If a limit was met, or if the search contradicts itself.
    pub fn witness(&self, found: &Found) -> Result<Witness, NoWitness> {
        let mut chain: Vec<Stored> = vec![found.from];
        while let Some(&last) = chain.last()
            && self.store.parent(last).state != last
        {
            chain.push(self.store.parent(last).state);
        }
        chain.reverse();
        let first = chain[0];
        let state = self.initial.get(&first).ok_or_else(|| self.lost("no initial state"))?.clone();
        let mut from = self.machine.normalise(&state);
        let mut run = Run::new(self, state);
        for pair in chain.windows(2) {
            let image = self.as_executed(&from);
            let thread = image[self.store.parent(pair[1]).thread];
            let path;
            (path, from) = self.alone(&from, thread, pair[1])?;
            run.transaction += 1;
            run.follow(thread, &path)?;
        }
        // Where it was found in a stored state, bare jumps from there belong to what led there.
        if !found.path.is_empty() || found.fails.is_some() || run.transaction == 0 {
            run.transaction += 1;
        }
        let image = self.as_executed(&from);
        let thread = image[found.thread];
        let path: Path = found
            .path
            .iter()
            .map(|(step, state)| {
                let step = self.symmetry.moved(*step, found.thread, &image);
                (step, self.symmetry.rename(state, &image))
            })
            .collect();
        run.follow(thread, &path)?;
        let threads: Vec<ThreadId> = self.machine.code.program.threads.ids().collect();
        let outside = |run: &Run<'_, '_, '_>, one: &ThreadId| run.state.thread(*one).atomic == 0;
        if let Some((step, kind)) = found.fails {
            run.jump(thread);
            run.push(thread, self.symmetry.moved(step, found.thread, &image));
            run.fail(kind);
        } else if found.at_first.is_none() && threads.iter().all(|one| outside(&run, one)) {
            for thread in threads {
                run.jump(thread);
            }
        }
        if let Some(kind) = found.at_first {
            run.fail(kind);
        }
        Ok(run.witness)
    }

    /// Which thread of a state that is executed is each thread of the stored one.
    fn as_executed(&self, state: &State) -> ThreadImage {
        let threads = self.machine.code.program.threads.ids();
        self.arranged(state).1.map_or_else(|| threads.collect(), |image| inverse(&image))
    }

    /// The way of a thread alone from one stored state to another, and that one.
    fn alone(
        &self,
        from: &State,
        thread: ThreadId,
        to: Stored,
    ) -> Result<(Path, State), NoWitness> {
        let wanted = self.store.packed(to);
        // A thread that fails is stopped where it is.
        let stopped = |state: &State| {
            let mut stopped = state.clone();
            stopped.thread_mut(thread).stopped = true;
            self.machine.normalise(&stopped)
        };
        let mut seen: FxHashSet<State> = FxHashSet::from_iter([from.clone()]);
        // The states in the order in which they are found, each with the one before and the way.
        let mut found: Vec<(State, Option<(usize, Path)>)> = vec![(from.clone(), None)];
        let mut at = 0;
        while let Some((state, _)) = found.get(at) {
            if let Some(reason) = self.machine.budget.poll() {
                return Err(Unknown::Stopped(reason).into());
            }
            for here in [state.clone(), stopped(state)] {
                if self.key(&here) == wanted {
                    return Ok((way_to(at, |at| found[at].1.as_ref()), here));
                }
            }
            for offer in self.machine.offers(&state.clone(), thread)? {
                for way in offer.outcomes {
                    let last = &way.last().expect("an outcome has a step").1;
                    let next = self.machine.normalise(last);
                    if seen.insert(next.clone()) {
                        found.push((next, Some((at, way))));
                    }
                }
            }
            at += 1;
        }
        Err(self.lost("no way leads to a stored state"))
    }

    /// Why there is no run although there should be one. Where hashes stand for states, one may have been
    /// taken for another.
    fn lost(&self, what: &str) -> NoWitness {
        match self.options.store {
            StoreKind::Exact => fault(what),
            StoreKind::Compact => Unknown::Hashes(self.store.count() as u64).into(),
        }
    }

    /// The step of one of a thread's offers that makes an access: the way to it inside an atomic section,
    /// where the thread stands then, and the edge unless it returns.
    pub(crate) fn site(
        &self,
        state: &State,
        thread: ThreadId,
        offer: usize,
        access: CellAccess,
    ) -> Result<(Path, NodeId, Option<EdgeId>), Unknown> {
        let code = self.machine.code;
        let program = code.program;
        let entry = program.procedures[program.threads[thread].main].entry;
        let node = state.top(thread).unwrap_or(entry);
        let edge = code.successors.of(node).get(offer).copied();
        let whole = (Path::new(), node, edge);
        if edge.is_none_or(|edge| program.edges[edge].action != Action::BeginAtomic) {
            return Ok(whole);
        }
        let mut seen: FxHashSet<State> = FxHashSet::default();
        let mut found: Vec<(State, Option<(usize, Path)>)> = vec![(state.clone(), None)];
        let mut at = 0;
        while let Some((here, _)) = found.get(at).cloned() {
            if let Some(reason) = self.machine.budget.poll() {
                return Err(reason.into());
            }
            let node = here.top(thread).unwrap_or(entry);
            let edges: Vec<Option<EdgeId>> = match code.successors.of(node) {
                _ if at == 0 => vec![edge],
                _ if is_exit(program, node) => vec![None],
                edges => edges.iter().copied().map(Some).collect(),
            };
            for edge in edges {
                let offer = self.machine.micro(&here, thread, edge)?;
                if offer.accesses.contains(&access) {
                    return Ok((way_to(at, |at| found[at].1.as_ref()), node, edge));
                }
                for way in offer.outcomes {
                    let next = &way.last().expect("an outcome has a step").1;
                    if next.thread(thread).atomic > 0 && seen.insert(next.clone()) {
                        found.push((next.clone(), Some((at, way))));
                    }
                }
            }
            at += 1;
        }
        Ok(whole)
    }
}

fn fault(what: &str) -> NoWitness {
    NoWitness::Fault(Fault(format!("the search of the states: {what}")))
}

/// A run that is being executed.
struct Run<'s, 'c, 'p> {
    search: &'s StateSearch<'c, 'p>,
    state: State,
    witness: Witness,
    transaction: u32,
}

impl<'s, 'c, 'p> Run<'s, 'c, 'p> {
    fn new(search: &'s StateSearch<'c, 'p>, state: State) -> Self {
        let locals = |thread: &std::sync::Arc<crate::state::ThreadPart>| {
            Valuation(thread.stack.first().map_or_else(Vec::new, |main| main.locals.clone()))
        };
        let witness = Witness {
            globals: Valuation(state.globals.to_vec()),
            locals: state.threads.iter().map(locals).collect::<IdVec<ThreadId, Valuation>>(),
            ..Witness::default()
        };
        Self { search, state, witness, transaction: 0 }
    }

    /// Executes steps of a thread.
    fn follow(&mut self, thread: ThreadId, path: &Path) -> Result<(), NoWitness> {
        for (step, expected) in path {
            if self.state.thread(thread).atomic == 0 {
                self.jump(thread);
            }
            let machine = &self.search.machine;
            let wanted = machine.normalise(expected);
            let outcomes = machine.outcomes_of(&self.state, thread, *step)?;
            let next = outcomes.into_iter().find(|next| {
                let mut next = machine.normalise(next);
                self.stop_as(&wanted, &mut next);
                next == wanted
            });
            let next = next.ok_or_else(|| fault("a step has no such outcome"))?;
            self.take(thread, *step, next);
        }
        Ok(())
    }

    /// Whether threads have failed is of no interest to a run: they are stopped as in another state.
    fn stop_as(&self, wanted: &State, next: &mut State) {
        for thread in self.search.machine.code.program.threads.ids() {
            let stopped = wanted.thread(thread).stopped;
            if next.thread(thread).stopped != stopped {
                next.thread_mut(thread).stopped = stopped;
            }
        }
    }

    /// Takes the bare jumps from where a thread stands.
    fn jump(&mut self, thread: ThreadId) {
        let code = self.search.machine.code;
        while let Some(node) = self.state.top(thread)
            && let Some(&edge) = code.jumps[node].first()
        {
            let mut next = self.state.clone();
            let target = code.program.edges[edge].target;
            next.thread_mut(thread).stack.last_mut().expect("it has a top").node = target;
            self.take(thread, Move::Edge(edge), next);
        }
    }

    fn take(&mut self, thread: ThreadId, step: Move, next: State) {
        let program = self.search.machine.code.program;
        if let Some(Action::Start(started)) = step.edge().map(|edge| program.edges[edge].action)
            && let Some(main) = next.thread(started).stack.first()
        {
            self.witness.locals[started] = Valuation(main.locals.clone());
        }
        self.state = next;
        self.push(thread, step);
    }

    fn fail(&mut self, kind: FailureKind) {
        self.witness.fails = true;
        self.witness.failure = Some(kind);
    }

    fn push(&mut self, thread: ThreadId, step: Move) {
        let top = self.state.thread(thread).stack.last();
        self.witness.steps.push(WitnessStep {
            thread,
            step,
            receivers: Vec::new(),
            matched: None,
            globals: Valuation(self.state.globals.to_vec()),
            locals: Valuation(top.map_or_else(Vec::new, |top| top.locals.clone())),
        });
        self.witness.transactions.push(self.transaction);
    }
}
