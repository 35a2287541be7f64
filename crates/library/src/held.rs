//! # Idea
//! Which locks are held wherever a location is accessed, and which threads reach a procedure: what a
//! reader of a program wants to know before anything is asked about it. Every access gets the locks that
//! are held there on every way to it; a lock protects a location if all accesses of it hold the lock.
//!
//! # Source
//! Lock sets (Savage et al., Eraser, 1997), found in the code instead of in runs: a forward analysis that
//! keeps for each lock the least number of holds. A call changes the numbers by what its callee changes at
//! least.
//!
//! # Invariants
//! 1. A lock that is said to be held is held in every run that comes there. The converse need not hold.

use selvedge_base::{Budget, IdVec, StopReason};
use selvedge_program::{
    Action, EdgeId, LocationId, LockId, NodeId, ProcedureId, Program, Start, Successors, ThreadId,
};
use std::collections::{BTreeMap, BTreeSet};

/// How many holds of a lock are told apart.
const MOST_HOLDS: i32 = 8;

/// Which locks are held where, and who comes where.
#[derive(Clone, Debug)]
pub struct HeldLocks {
    /// The locks held before each edge; `None` if no thread comes there.
    held: IdVec<EdgeId, Option<BTreeSet<LockId>>>,
    /// The locks held whenever each procedure is entered; `None` if it never is.
    entered: IdVec<ProcedureId, Option<BTreeSet<LockId>>>,
    threads: IdVec<ProcedureId, BTreeSet<ThreadId>>,
}

/// At how many accesses of a location a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProtectedAccesses {
    /// The location.
    pub location: LocationId,
    /// How many accesses hold the lock.
    pub held: usize,
    /// How many there are.
    pub all: usize,
}

/// Changes of the numbers of holds; a lock that is not there keeps its number.
type Change = BTreeMap<LockId, i32>;

impl HeldLocks {
    /// Follows the calls of a valid program from the mains of the threads that can start.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn new(program: &Program, budget: &Budget) -> Result<Self, StopReason> {
        let threads = reached(program);
        let mut analysis = Analysis {
            program,
            successors: Successors::new(program),
            budget,
            changes: IdVec::filled(None, program.procedures.len()),
            states: IdVec::filled(None, program.nodes.len()),
            callers: callers(program),
        };
        analysis.summaries()?;
        analysis.states(&threads)?;
        let holds = |state: &Change| -> BTreeSet<LockId> {
            state.iter().filter(|(_, holds)| **holds > 0).map(|(&lock, _)| lock).collect()
        };
        let states = analysis.states;
        let edges = program.edges.iter().map(|edge| states[edge.source].as_ref().map(holds));
        let entries = program.procedures.iter().map(|one| states[one.entry].as_ref().map(holds));
        Ok(Self { held: edges.collect(), entered: entries.collect(), threads })
    }

    /// The threads that reach a procedure.
    pub fn threads(&self, procedure: ProcedureId) -> &BTreeSet<ThreadId> {
        &self.threads[procedure]
    }

    /// The locks that are held whenever a procedure is entered; `None` if it never is.
    pub fn at_entry(&self, procedure: ProcedureId) -> Option<&BTreeSet<LockId>> {
        self.entered[procedure].as_ref()
    }

    /// The accesses of a location that some thread reaches: the edge, whether it writes, and the locks
    /// that are held.
    pub fn accesses(
        &self,
        program: &Program,
        location: LocationId,
    ) -> Vec<(EdgeId, bool, &BTreeSet<LockId>)> {
        let edges = program.edges.iter_enumerated();
        edges
            .filter_map(|(id, edge)| {
                let writes = match edge.action {
                    Action::Read(own) if own == location => false,
                    Action::Write(own) if own == location => true,
                    _ => return None,
                };
                Some((id, writes, self.held[id].as_ref()?))
            })
            .collect()
    }

    /// The locations at some of whose accesses a lock is held, those that it protects first.
    pub fn protected(&self, program: &Program, lock: LockId) -> Vec<ProtectedAccesses> {
        let mut found = Vec::new();
        for location in program.locations.ids() {
            let accesses = self.accesses(program, location);
            let held = accesses.iter().filter(|(_, _, locks)| locks.contains(&lock)).count();
            if held > 0 {
                found.push(ProtectedAccesses { location, held, all: accesses.len() });
            }
        }
        found.sort_by_key(|one| (one.held < one.all, one.location));
        found
    }

    /// The threads that take a lock.
    pub fn takers(&self, program: &Program, lock: LockId) -> BTreeSet<ThreadId> {
        let takes = program.edges.iter().filter(|edge| edge.action == Action::Acquire(lock));
        takes.flat_map(|edge| &self.threads[program.nodes[edge.source]]).copied().collect()
    }
}

/// The threads that reach each procedure: those that run from the beginning, and those that one of them
/// starts.
fn reached(program: &Program) -> IdVec<ProcedureId, BTreeSet<ThreadId>> {
    let mut threads: IdVec<ProcedureId, BTreeSet<ThreadId>> =
        IdVec::filled(BTreeSet::new(), program.procedures.len());
    let mut edges: IdVec<ProcedureId, Vec<Action>> =
        IdVec::filled(Vec::new(), program.procedures.len());
    for edge in &program.edges {
        if matches!(edge.action, Action::Call(_) | Action::Start(_)) {
            edges[program.nodes[edge.source]].push(edge.action);
        }
    }
    let at_first = program.threads.iter_enumerated();
    let at_first = at_first.filter(|(_, thread)| thread.start == Start::AtFirst);
    let mut work: Vec<(ThreadId, ProcedureId)> =
        at_first.map(|(id, thread)| (id, thread.main)).collect();
    while let Some((thread, procedure)) = work.pop() {
        if !threads[procedure].insert(thread) {
            continue;
        }
        for &action in &edges[procedure] {
            match action {
                Action::Call(callee) => work.push((thread, callee)),
                Action::Start(started) => work.push((started, program.threads[started].main)),
                _ => {}
            }
        }
    }
    threads
}

/// The procedures that call each procedure.
fn callers(program: &Program) -> IdVec<ProcedureId, BTreeSet<ProcedureId>> {
    let mut callers = IdVec::filled(BTreeSet::new(), program.procedures.len());
    for edge in &program.edges {
        if let Action::Call(callee) = edge.action {
            callers[callee].insert(program.nodes[edge.source]);
        }
    }
    callers
}

struct Analysis<'p> {
    program: &'p Program,
    successors: Successors,
    budget: &'p Budget,
    /// What a procedure changes at least; `None` while it is not known to return.
    changes: IdVec<ProcedureId, Option<Change>>,
    /// The numbers of holds at each node; `None` while no thread comes there.
    states: IdVec<NodeId, Option<Change>>,
    callers: IdVec<ProcedureId, BTreeSet<ProcedureId>>,
}

impl Analysis<'_> {
    /// What each procedure changes, from its entry to its exit.
    fn summaries(&mut self) -> Result<(), StopReason> {
        let mut work: Vec<ProcedureId> = self.program.procedures.ids().collect();
        while let Some(procedure) = work.pop() {
            let entry = self.program.procedures[procedure].entry;
            let exit = self.program.procedures[procedure].exit;
            let mut states: BTreeMap<NodeId, Change> = BTreeMap::from([(entry, Change::new())]);
            let mut nodes = vec![entry];
            while let Some(node) = nodes.pop() {
                self.poll()?;
                let state = states[&node].clone();
                for &edge in self.successors.of(node) {
                    let edge = &self.program.edges[edge];
                    let Some(after) = self.after(&state, edge.action) else { continue };
                    let changed = match states.get_mut(&edge.target) {
                        Some(known) => least(known, &after),
                        None => states.insert(edge.target, after).is_none(),
                    };
                    if changed {
                        nodes.push(edge.target);
                    }
                }
            }
            let new = states.remove(&exit);
            if new.is_some() && self.changes[procedure] != new {
                self.changes[procedure] = new;
                work.extend(&self.callers[procedure]);
            }
        }
        Ok(())
    }

    /// The numbers of holds at every node that a thread reaches.
    fn states(
        &mut self,
        threads: &IdVec<ProcedureId, BTreeSet<ThreadId>>,
    ) -> Result<(), StopReason> {
        let mains = self.program.threads.iter_enumerated();
        let mains = mains.filter(|(id, thread)| threads[thread.main].contains(id));
        let mut work: Vec<NodeId> =
            mains.map(|(_, thread)| self.program.procedures[thread.main].entry).collect();
        for &node in &work {
            self.states[node] = Some(Change::new());
        }
        while let Some(node) = work.pop() {
            self.poll()?;
            let Some(state) = self.states[node].clone() else { continue };
            for edge in self.successors.of(node).to_vec() {
                let (action, target) = {
                    let edge = &self.program.edges[edge];
                    (edge.action, edge.target)
                };
                if let Action::Call(callee) = action {
                    self.join(self.program.procedures[callee].entry, &state, &mut work);
                }
                if let Some(after) = self.after(&state, action) {
                    self.join(target, &after, &mut work);
                }
            }
        }
        Ok(())
    }

    fn join(&mut self, node: NodeId, state: &Change, work: &mut Vec<NodeId>) {
        let changed = match &mut self.states[node] {
            Some(known) => least(known, state),
            unknown @ None => {
                *unknown = Some(state.clone());
                true
            }
        };
        if changed {
            work.push(node);
        }
    }

    /// What an action makes of the numbers; `None` behind a call that is not known to return.
    fn after(&self, state: &Change, action: Action) -> Option<Change> {
        let mut after = state.clone();
        let mut change = |lock: LockId, by: i32| {
            let holds = after.entry(lock).or_insert(0);
            *holds = (*holds + by).clamp(-MOST_HOLDS, MOST_HOLDS);
        };
        match action {
            Action::Acquire(lock) => change(lock, 1),
            Action::Release(lock) => change(lock, -1),
            // Who waits has the lock back when it goes on.
            Action::Call(callee) => {
                for (&lock, &by) in self.changes[callee].as_ref()? {
                    change(lock, by);
                }
            }
            _ => {}
        }
        Some(after)
    }

    fn poll(&self) -> Result<(), StopReason> {
        self.budget.poll().map_or(Ok(()), Err)
    }
}

/// Keeps the smaller numbers; whether one has become smaller.
fn least(known: &mut Change, other: &Change) -> bool {
    let mut changed = false;
    for (&lock, &holds) in other {
        let own = known.entry(lock).or_insert(0);
        if holds < *own {
            *own = holds;
            changed = true;
        }
    }
    for (lock, own) in known {
        if *own > 0 && !other.contains_key(lock) {
            *own = 0;
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id as _;

    fn protected(text: &str) -> Vec<String> {
        let program = selvedge_front_eml::parse(text).program.expect("a program");
        let held = HeldLocks::new(&program, &Budget::new()).expect("no limit");
        let mut found = Vec::new();
        for (id, lock) in program.locks.iter_enumerated() {
            for one in held.protected(&program, id) {
                let location = &program.locations[one.location].name;
                found.push(format!("{} {location} {}/{}", lock.name, one.held, one.all));
            }
        }
        found
    }

    #[test]
    fn a_lock_protects_what_is_accessed_under_it() {
        let text = "lock : l, m; var : x, y, z;
            process P {
                get { read x; }
                synchronized(l) both { get(); synchronized(l) { write y; } write z; }
                main { both(); synchronized(l) { get(); } acquire(m); read z; release(m); write z; }
            }
            process Q { synchronized(m) main { read y; } never { write x; } }";
        assert_eq!(protected(text), ["l x 1/1", "l y 1/2", "l z 1/3", "m y 1/2", "m z 1/3"]);
    }

    #[test]
    fn recursion_and_unbalanced_procedures() {
        let text = "lock : l; var : x, y;
            process P {
                take { acquire(l); }
                give { release(l); }
                walk { if (*) { take(); walk(); give(); } read x; }
                main { take(); read y; walk(); write y; give(); }
            }
            process Q { main { if (*) { acquire(l); } write x; } }";
        assert_eq!(protected(text), ["l y 2/2", "l x 1/2"]);
    }

    #[test]
    fn threads_reach_procedures_by_calls_and_starts() {
        let text = "var : x;
            process P { main { start W; f(); } f { write x; } unused { read x; } }
            process W waits { main { read x; } }
            process N waits { main { read x; } }";
        let program = selvedge_front_eml::parse(text).program.expect("a program");
        let held = HeldLocks::new(&program, &Budget::new()).expect("no limit");
        let mut found = Vec::new();
        for (id, procedure) in program.procedures.iter_enumerated() {
            let threads = held.threads(id).iter();
            let names: Vec<&str> =
                threads.map(|&thread| program.threads[thread].name.as_str()).collect();
            found.push(format!("{}: {}", procedure.name, names.join(" ")));
        }
        assert_eq!(found, ["main: P", "f: P", "unused: ", "main: W", "main: "]);
        let x = LocationId::from_index(0);
        assert_eq!(held.accesses(&program, x).len(), 2);
    }

    #[test]
    fn it_ends_with_its_budget() {
        let text = "lock : l; process P { main { synchronized(l) { skip; } } }";
        let program = selvedge_front_eml::parse(text).program.expect("a program");
        assert!(HeldLocks::new(&program, &Budget::with_steps(2)).is_err());
    }
}
