//! # Idea
//! What one thread does alone from a stored state: the nodes of its transactions, and where they are cut.
//!
//! # Source
//! As [`super`]; condition C is kept by cutting a node of every cycle that has no cut.
//!
//! # Invariants
//! Those of [`super`].

use super::{Found, Goal, Reduction, StateSearch};
use crate::state::State;
use crate::step::{Mover, Offer, Path, StepFailure, way_to};
use crate::store::Stored;
use rustc_hash::FxHashMap;
use selvedge_program::{StepMover, ThreadId, Unknown};

/// A node of an expansion.
pub(super) struct Node {
    pub state: State,
    post: bool,
    /// Where it comes from, and how.
    before: Option<(usize, Path)>,
    next: Vec<usize>,
    cut: bool,
}

/// How many nodes a transaction may have before it is cut wherever that is allowed.
const LARGE: usize = 4096;

impl StateSearch<'_, '_> {
    /// Stores what a thread can do from a state in one transaction.
    pub(super) fn expand(
        &mut self,
        number: Stored,
        state: &State,
        thread: ThreadId,
    ) -> Result<Option<Found>, Unknown> {
        loop {
            let losses = self.protection.losses;
            self.recent.clear();
            let (nodes, found) = self.explore(number, state, thread)?;
            if found.is_some() {
                return Ok(found);
            }
            if self.protection.losses == losses || self.options.reduction == Reduction::None {
                self.note_movers();
                let depth = self.depth_behind(number);
                for node in nodes.iter().filter(|node| node.cut) {
                    if let Some(found) = self.keep(number, thread, &node.state, depth)? {
                        return Ok(Some(found));
                    }
                }
                return Ok(None);
            }
            self.outdated = true;
        }
    }

    /// The nodes of a thread's transactions from a state; those to be stored are cut.
    fn explore(
        &mut self,
        number: Stored,
        state: &State,
        thread: ThreadId,
    ) -> Result<(Vec<Node>, Option<Found>), Unknown> {
        let first =
            Node { state: state.clone(), post: false, before: None, next: Vec::new(), cut: false };
        let mut nodes = vec![first];
        let mut known: FxHashMap<(State, bool), usize> = FxHashMap::default();
        known.insert((state.clone(), false), 0);
        let mut at = 0;
        while at < nodes.len() {
            if let Some(reason) = self.budget.poll() {
                return Err(reason.into());
            }
            self.counts.nodes += 1;
            // Where every step is a transaction, what follows is looked at when the state is expanded.
            if self.options.reduction == Reduction::None && nodes[at].post {
                nodes[at].cut = true;
                at += 1;
                continue;
            }
            let here = nodes[at].state.clone();
            let offers = self.machine.offers(&here, thread)?;
            let mut movers = Vec::with_capacity(offers.len());
            for (which, offer) in offers.iter().enumerate() {
                self.too_deep |= offer.too_deep;
                if self.part.is_some() {
                    let allowed = self.observe(&here, thread, which, &offer.accesses)?;
                    movers.push(offer.mover.and(allowed));
                    continue;
                }
                movers.push(offer.mover.and(self.protection.register(thread, &offer.accesses)));
                self.spread(&here, thread, &offer.accesses);
                if !self.protection.new.is_empty() {
                    self.note_classes(number, thread, &nodes, at, which)?;
                }
            }
            if let Some(found) = self.met(number, thread, &nodes, at, &offers)? {
                return Ok((nodes, Some(found)));
            }
            self.stop_failing(number, thread, &nodes, at, &offers)?;
            if nodes[at].post && self.is_cut(&here, thread, &offers, &movers, nodes.len()) {
                nodes[at].cut = true;
                at += 1;
                continue;
            }
            for (offer, mover) in offers.into_iter().zip(movers) {
                self.counts.transitions += offer.repeats;
                for (count, path) in offer.outcomes.into_iter().enumerate() {
                    if count > 0 {
                        self.budget.check()?;
                    }
                    self.counts.transitions += 1;
                    let post = match self.options.reduction {
                        Reduction::Transactions => nodes[at].post || !mover.right,
                        Reduction::LeftMovers | Reduction::None => true,
                    };
                    if self.movers.is_some()
                        && let (Some(node), Some((step, _))) = (here.top(thread), path.first())
                    {
                        let Mover { right, left } = mover;
                        let edge = step.edge();
                        self.recent.push(StepMover { node, edge, right, left, pre: !post, post });
                    }
                    let last = &path.last().expect("an outcome has a step").1;
                    let next = self.machine.normalise(last);
                    let key = (next, post);
                    let target = if let Some(&known) = known.get(&key) {
                        known
                    } else {
                        nodes.push(Node {
                            state: key.0.clone(),
                            post,
                            before: Some((at, path)),
                            next: Vec::new(),
                            cut: false,
                        });
                        known.insert(key, nodes.len() - 1);
                        nodes.len() - 1
                    };
                    nodes[at].next.push(target);
                }
            }
            at += 1;
        }
        cut_cycles(&mut nodes);
        Ok((nodes, None))
    }

    /// What was looked for, at a node or on the way out of it.
    fn met(
        &mut self,
        number: Stored,
        thread: ThreadId,
        nodes: &[Node],
        at: usize,
        offers: &[Offer],
    ) -> Result<Option<Found>, Unknown> {
        let found = |path: Path, fails| Found { from: number, thread, path, fails, at_first: None };
        if matches!(self.goal, Goal::Label(_)) {
            if self.is_goal(&nodes[at].state) {
                return Ok(Some(found(path_to(nodes, at), None)));
            }
            if let Some(path) = offers.iter().find_map(|offer| offer.labelled.first()) {
                return Ok(Some(found([path_to(nodes, at), path.clone()].concat(), None)));
            }
        }
        for StepFailure { site, kind, path, step } in
            offers.iter().flat_map(|offer| &offer.failures)
        {
            let site = self.symmetry.representative_site(*site);
            if self.failures.contains(&(site, *kind)) {
                continue;
            }
            let path = [path_to(nodes, at), path.clone()].concat();
            let failing = found(path, Some((*step, *kind)));
            self.note_failure(site, *kind, &failing)?;
            if self.goal == Goal::Failure && !self.collect {
                return Ok(Some(failing));
            }
        }
        Ok(None)
    }

    /// Where a step fails its thread stops, and the others go on.
    fn stop_failing(
        &mut self,
        number: Stored,
        thread: ThreadId,
        nodes: &[Node],
        at: usize,
        offers: &[Offer],
    ) -> Result<(), Unknown> {
        let depth = self.depth_behind(number);
        for offer in offers {
            // What a failing section has done so far is seen by nobody: it is one step.
            if !offer.failures.iter().any(|failure| failure.path.is_empty()) {
                continue;
            }
            let mut stopped = nodes[at].state.clone();
            stopped.thread_mut(thread).stopped = true;
            let stopped = self.machine.normalise(&stopped);
            self.keep(number, thread, &stopped, depth)?;
        }
        Ok(())
    }

    /// Whether a transaction ends at a node behind its commit.
    fn is_cut(
        &self,
        state: &State,
        thread: ThreadId,
        offers: &[Offer],
        movers: &[Mover],
        size: usize,
    ) -> bool {
        let enabled = offers.iter().any(|offer| !offer.outcomes.is_empty());
        if !enabled || movers.iter().any(|mover| !mover.left) {
            return true;
        }
        let Some(node) = state.top(thread) else { return true };
        let branches = offers.len() > 1 || self.machine.code.loop_head[node];
        let early = self.options.early_ends && branches && state.held(thread) == 0;
        early || size > LARGE
    }
}

/// The way to a node.
pub(super) fn path_to(nodes: &[Node], at: usize) -> Path {
    way_to(at, |at| nodes[at].before.as_ref())
}

/// Cuts one node of every bottom component of post nodes that has none (condition C).
fn cut_cycles(nodes: &mut [Node]) {
    loop {
        // Backwards from what is cut.
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            node.next.iter().for_each(|&next| before[next].push(at));
        }
        let mut fine: Vec<bool> = nodes.iter().map(|node| node.cut || !node.post).collect();
        let mut pending: Vec<usize> = (0..nodes.len()).filter(|&at| nodes[at].cut).collect();
        while let Some(at) = pending.pop() {
            for &one in &before[at] {
                if !std::mem::replace(&mut fine[one], true) {
                    pending.push(one);
                }
            }
        }
        let Some(start) = (0..nodes.len()).find(|&at| !fine[at]) else { return };
        // Whatever can be reached from here does not reach a cut. Down to a bottom component:
        let mut bottom = reachable(nodes, start);
        while let Some(below) =
            bottom.iter().map(|&at| reachable(nodes, at)).find(|below| below.len() < bottom.len())
        {
            bottom = below;
        }
        let first = bottom.into_iter().min().expect("a component has a node");
        nodes[first].cut = true;
    }
}

/// The nodes to which steps lead, itself among them.
fn reachable(nodes: &[Node], from: usize) -> Vec<usize> {
    let mut seen = vec![false; nodes.len()];
    seen[from] = true;
    let mut all = vec![from];
    let mut position = 0;
    while position < all.len() {
        for &next in &nodes[all[position]].next {
            if !std::mem::replace(&mut seen[next], true) {
                all.push(next);
            }
        }
        position += 1;
    }
    all
}
