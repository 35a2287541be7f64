//! # Idea
//! Locks as typed data. A lock is the thread that holds it, or none. How often it is held is known
//! - for a lock that cannot be acquired again: once;
//! - where every procedure gives back what it takes, from control: an activation remembers whether it
//!   was the one that took the lock (which works for any recursion);
//! - else by counting, if control flow bounds the count.
//!
//! Who waits for a notification is one truth value per thread and wait set.
//!
//! # Source
//! The step relation of the model: [`selvedge_program::Action`]. A wait gives up all holds and the
//! resume behind it takes them back, so that what activations remember stays true.
//!
//! # Requires
//! Behind a wait stands its resume and nothing else; in front of a resume stands its wait.

use super::Refused;
use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, Edge, EdgeId, Expr, Global, GlobalId, Literal, Local, LocalId, LockId, NodeId,
    Operator, ProcedureId, Program, Sharing, Successors, ThreadId, Type, Variable, WaitSetId,
};
use std::collections::{BTreeMap, BTreeSet};

/// A lock held more often than this is not counted.
const MOST_HOLDS: u32 = 15;

/// How it is known how often a lock is held.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Holds {
    /// Once, if at all.
    Once,
    /// The number of holds of a running activation at each node, and the local of each procedure that
    /// remembers whether its activation took the lock.
    ByControl { count: BTreeMap<NodeId, u32>, taken: BTreeMap<ProcedureId, LocalId> },
    /// This global counts.
    Counted(GlobalId),
}

/// The data that stands for locks and wait sets.
pub struct LockData {
    /// Who holds each lock that occurs.
    pub owners: BTreeMap<LockId, GlobalId>,
    /// Whether a lock is held, for those that somebody asks about.
    pub held: BTreeMap<LockId, GlobalId>,
    holds: BTreeMap<LockId, Holds>,
    /// Whether a thread waits for a notification.
    waits: BTreeMap<(WaitSetId, ThreadId), GlobalId>,
    /// How many holds of a lock a thread has given up for a notification.
    saved: BTreeMap<(LockId, ThreadId), GlobalId>,
    spurious: bool,
}

/// What an action does to locks and wait sets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LockEffect {
    /// What makes it fail.
    pub fails: Option<Expr>,
    /// What it asks for.
    pub guard: Option<Expr>,
    /// What it changes.
    pub assignments: Vec<(Variable, Expr)>,
    /// The thread that it notifies.
    pub partner: Option<ThreadId>,
}

impl LockData {
    /// Adds the data to a program; `asked` are the locks about which somebody asks whether they are
    /// held.
    pub fn add(
        program: &mut Program,
        sharing: &Sharing,
        asked: &BTreeSet<LockId>,
    ) -> Result<Self, Refused> {
        let successors = Successors::new(program);
        check_waits(program, &successors)?;
        let mut data = Self {
            owners: BTreeMap::new(),
            held: BTreeMap::new(),
            holds: BTreeMap::new(),
            waits: BTreeMap::new(),
            saved: BTreeMap::new(),
            spurious: program.spurious_wakeups,
        };
        let used: BTreeSet<LockId> =
            program.edges.iter().filter_map(|edge| program.lock_of(edge.action)).collect();
        let guarding = program.globals.iter().filter_map(|global| match global.annotation {
            Some(selvedge_program::Annotation::GuardedBy(lock)) => Some(lock),
            _ => None,
        });
        let all: BTreeSet<LockId> = used.into_iter().chain(guarding).collect();
        for lock in all.iter().copied().chain(asked.iter().copied()).collect::<BTreeSet<_>>() {
            let name = program.locks[lock].name.clone();
            let owner = hidden(program, &name, Type::Thread);
            data.owners.insert(lock, owner);
            if asked.contains(&lock) {
                let held = hidden(program, &format!("{name}_held"), Type::Bool);
                data.held.insert(lock, held);
            }
            let holds = if program.locks[lock].reentrant {
                reentrant(program, &successors, sharing, lock, &name)?
            } else {
                Holds::Once
            };
            let sets = program.wait_sets.iter_enumerated();
            let sets: Vec<WaitSetId> =
                sets.filter(|(_, set)| set.lock == lock).map(|(id, _)| id).collect();
            for thread in program.threads.ids() {
                let waits = data.add_waits(program, sharing, &sets, thread);
                if let (true, &Holds::Counted(count)) = (waits, &holds) {
                    let who = &program.threads[thread].name;
                    let (name, ty) = (format!("{who}_gave_up_{name}"), program.globals[count].ty);
                    data.saved.insert((lock, thread), hidden(program, &name, ty));
                }
            }
            data.holds.insert(lock, holds);
        }
        Ok(data)
    }

    /// Adds whether a thread waits for a notification of these wait sets; whether it ever does.
    fn add_waits(
        &mut self,
        program: &mut Program,
        sharing: &Sharing,
        sets: &[WaitSetId],
        thread: ThreadId,
    ) -> bool {
        let mut some = false;
        for &set in sets {
            let waits = program.edges.iter().any(|edge| {
                edge.action == Action::Wait(set) && sharing.can_take(program, thread, edge)
            });
            if waits {
                let (who, name) = (&program.threads[thread].name, &program.wait_sets[set].name);
                let waiting = hidden(program, &format!("{who}_waits_{name}"), Type::Bool);
                self.waits.insert((set, thread), waiting);
            }
            some |= waits;
        }
        some
    }

    /// The ways to take an edge, as far as locks are concerned.
    pub fn effects(&self, program: &Program, edge: &Edge, thread: ThreadId) -> Vec<LockEffect> {
        let Some(lock) = program.lock_of(edge.action) else {
            return vec![LockEffect::default()];
        };
        let owner = self.owners[&lock];
        let me = Expr::Constant(Literal::Thread(Some(thread)));
        let is = |value: Expr| current(owner).join(Operator::Equal, value);
        let (free, mine) = (is(NOBODY), is(me.clone()));
        let joined = edge.action.wait_set();
        let waits = |thread: ThreadId| self.waits.get(&(joined?, thread)).copied();
        let mut effect = LockEffect::default();
        match edge.action {
            Action::Acquire(_) => self.acquire(program, edge, lock, &me, &free, &mine, &mut effect),
            Action::Release(_) => {
                effect.fails = Some(mine.not());
                self.release(program, edge, lock, &me, &mut effect);
            }
            Action::Wait(_) => {
                effect.fails = Some(mine.not());
                self.owned(lock, NOBODY, &mut effect);
                effect.assignments.extend(waits(thread).map(|bit| set(bit, Expr::TRUE)));
                if let (Some(&saved), Some(Holds::Counted(count))) =
                    (self.saved.get(&(lock, thread)), self.holds.get(&lock))
                {
                    effect.assignments.push(set(saved, current(*count)));
                    effect.assignments.push(set(*count, Expr::number(0)));
                }
            }
            Action::Resume(_) => {
                let notified = waits(thread).filter(|_| !self.spurious);
                let notified = notified.map(|bit| current(bit).not());
                effect.guard = Some(match notified {
                    Some(notified) => free.join(Operator::And, notified),
                    None => free,
                });
                self.owned(lock, me, &mut effect);
                effect.assignments.extend(waits(thread).map(|bit| set(bit, Expr::FALSE)));
                if let (Some(&saved), Some(Holds::Counted(count))) =
                    (self.saved.get(&(lock, thread)), self.holds.get(&lock))
                {
                    effect.assignments.push(set(*count, current(saved)));
                    effect.assignments.push(set(saved, Expr::number(0)));
                }
            }
            Action::NotifyAll(_) => {
                effect.fails = Some(mine.not());
                let all = program.threads.ids().filter_map(waits);
                effect.assignments.extend(all.map(|bit| set(bit, Expr::FALSE)));
            }
            Action::Notify(_) => {
                effect.fails = Some(mine.not());
                let members: Vec<(ThreadId, GlobalId)> = program
                    .threads
                    .ids()
                    .filter_map(|thread| Some((thread, waits(thread)?)))
                    .collect();
                let nobody = members.iter().map(|&(_, bit)| current(bit).not());
                let nobody = nobody.reduce(|all, one| all.join(Operator::And, one));
                let mut ways = vec![LockEffect { guard: nobody, ..effect.clone() }];
                ways.extend(members.iter().map(|&(partner, bit)| LockEffect {
                    guard: Some(current(bit)),
                    assignments: vec![set(bit, Expr::FALSE)],
                    partner: Some(partner),
                    ..effect.clone()
                }));
                return ways;
            }
            _ => {}
        }
        vec![effect]
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one step")]
    fn acquire(
        &self,
        program: &Program,
        edge: &Edge,
        lock: LockId,
        me: &Expr,
        free: &Expr,
        mine: &Expr,
        effect: &mut LockEffect,
    ) {
        let open = free.clone().join(Operator::Or, mine.clone());
        match &self.holds[&lock] {
            Holds::Once => {
                effect.guard = Some(free.clone());
                self.owned(lock, me.clone(), effect);
            }
            Holds::ByControl { count, taken } => {
                if count.get(&edge.source).copied().unwrap_or(0) > 0 {
                    return;
                }
                effect.guard = Some(open);
                self.owned(lock, me.clone(), effect);
                let taken = taken[&program.nodes[edge.source]];
                effect.assignments.push((Variable::Local(taken), free.clone()));
            }
            Holds::Counted(count) => {
                effect.guard = Some(open);
                self.owned(lock, me.clone(), effect);
                let more = current(*count).join(Operator::Add, Expr::number(1));
                effect.assignments.push(set(*count, more));
            }
        }
    }

    fn release(
        &self,
        program: &Program,
        edge: &Edge,
        lock: LockId,
        me: &Expr,
        effect: &mut LockEffect,
    ) {
        let either = |test: Expr| Expr::Ite(Box::new([test, NOBODY, me.clone()]));
        match &self.holds[&lock] {
            Holds::Once => self.owned(lock, NOBODY, effect),
            Holds::ByControl { count, taken } => {
                if count.get(&edge.source).copied().unwrap_or(0) == 1 {
                    let taken = Variable::Local(taken[&program.nodes[edge.source]]);
                    self.owned(lock, either(Expr::Current(taken)), effect);
                    effect.assignments.push((taken, Expr::FALSE));
                }
            }
            Holds::Counted(count) => {
                let last = current(*count).join(Operator::Equal, Expr::number(1));
                self.owned(lock, either(last), effect);
                let fewer = current(*count).join(Operator::Subtract, Expr::number(1));
                effect.assignments.push(set(*count, fewer));
            }
        }
    }

    /// Gives the lock an owner, or none.
    fn owned(&self, lock: LockId, owner: Expr, effect: &mut LockEffect) {
        if let Some(&held) = self.held.get(&lock) {
            let is_held = owner.clone().join(Operator::Equal, NOBODY).not();
            effect.assignments.push(set(held, is_held));
        }
        effect.assignments.push(set(self.owners[&lock], owner));
    }
}

const NOBODY: Expr = Expr::Constant(Literal::Thread(None));

fn current(global: GlobalId) -> Expr {
    Expr::Current(Variable::Global(global))
}

fn set(global: GlobalId, value: Expr) -> (Variable, Expr) {
    (Variable::Global(global), value)
}

/// A global that starts with 0: false, nobody, no hold.
fn hidden(program: &mut Program, name: &str, ty: Type) -> GlobalId {
    let global = Global::flag(name, Place::NONE, Some(false));
    program.globals.push(Global { ty, ..global })
}

/// Waits and resumes come in pairs.
fn check_waits(program: &Program, successors: &Successors) -> Result<(), Refused> {
    let mut before: IdVec<NodeId, Vec<EdgeId>> = IdVec::filled(Vec::new(), program.nodes.len());
    for (id, edge) in program.edges.iter_enumerated() {
        before[edge.target].push(id);
    }
    let ends: BTreeSet<NodeId> =
        program.procedures.iter().flat_map(|one| [one.entry, one.exit]).collect();
    for edge in &program.edges {
        let (node, set) = match edge.action {
            Action::Wait(set) => (edge.target, set),
            Action::Resume(set) => (edge.source, set),
            _ => continue,
        };
        let all = |edges: &[EdgeId], action: Action| {
            edges.iter().all(|&edge| program.edges[edge].action == action)
        };
        let paired = all(&before[node], Action::Wait(set))
            && all(successors.of(node), Action::Resume(set))
            && !ends.contains(&node);
        if !paired {
            let why = "a wait has to be followed by its resume, and a resume to follow its wait";
            return Err(Refused::at(program, edge.place, why));
        }
    }
    Ok(())
}

/// How it is known how often a lock is held that can be acquired again.
fn reentrant(
    program: &mut Program,
    successors: &Successors,
    sharing: &Sharing,
    lock: LockId,
    name: &str,
) -> Result<Holds, Refused> {
    let change = |action: Action| match action {
        Action::Acquire(other) if other == lock => 1,
        Action::Release(other) if other == lock => -1,
        _ => 0,
    };
    if let Some(count) = balanced(program, successors, &change) {
        let mut taken = BTreeMap::new();
        for edge in &program.edges {
            let procedure = program.nodes[edge.source];
            if edge.action != Action::Acquire(lock) || taken.contains_key(&procedure) {
                continue;
            }
            let local =
                Local { initial: Some(0), ..Local::flag(format!("took_{name}"), Place::NONE) };
            taken.insert(procedure, program.procedures[procedure].frame.locals.push(local));
        }
        return Ok(Holds::ByControl { count, taken });
    }
    for thread in program.threads.ids() {
        if !sharing.procedures(thread).is_empty()
            && !is_bounded(program, successors, thread, &change)
        {
            return Err(Refused::new(format!(
                "how often {name} is held at once has no bound, or one above {MOST_HOLDS}"
            )));
        }
    }
    Ok(Holds::Counted(hidden(program, &format!("{name}_holds"), Type::Mod(16))))
}

/// The number of holds at each node, counted within its procedure, if every procedure gives back what
/// it takes and no more.
pub fn balanced(
    program: &Program,
    successors: &Successors,
    change: &impl Fn(Action) -> i32,
) -> Option<BTreeMap<NodeId, u32>> {
    let mut count: BTreeMap<NodeId, u32> = BTreeMap::new();
    for procedure in &program.procedures {
        count.insert(procedure.entry, 0);
        let mut pending = vec![procedure.entry];
        while let Some(node) = pending.pop() {
            let now = count[&node];
            for &id in successors.of(node) {
                let edge = &program.edges[id];
                if matches!(edge.action, Action::Return(_)) {
                    if now != 0 {
                        return None;
                    }
                    continue;
                }
                let then = now.checked_add_signed(change(edge.action))?;
                match count.get(&edge.target) {
                    Some(&known) if known != then => return None,
                    Some(_) => {}
                    None => {
                        count.insert(edge.target, then);
                        pending.push(edge.target);
                    }
                }
            }
        }
        if count.get(&procedure.exit).is_some_and(|&now| now != 0) {
            return None;
        }
    }
    Some(count)
}

/// Whether control flow bounds how often a thread holds a lock.
fn is_bounded(
    program: &Program,
    successors: &Successors,
    thread: ThreadId,
    change: &impl Fn(Action) -> i32,
) -> bool {
    type Entered = (ProcedureId, u32);
    let main = program.threads[thread].main;
    let mut seen: BTreeSet<(Entered, NodeId, u32)> = BTreeSet::new();
    let mut returned: BTreeSet<(Entered, u32)> = BTreeSet::new();
    let mut called: BTreeSet<(Entered, Entered, NodeId)> = BTreeSet::new();
    let mut pending = vec![((main, 0), program.procedures[main].entry, 0)];
    while let Some(fact) = pending.pop() {
        let (entered, node, holds) = fact;
        if holds > MOST_HOLDS {
            return false;
        }
        if !seen.insert(fact) {
            continue;
        }
        let mut returns = program.procedures[entered.0].exit == node;
        for &id in successors.of(node) {
            let edge = &program.edges[id];
            match edge.action {
                Action::Call(callee) => {
                    let inner = (callee, holds);
                    pending.push((inner, program.procedures[callee].entry, holds));
                    called.insert((inner, entered, edge.target));
                    let known = returned.range((inner, 0)..=(inner, u32::MAX));
                    pending.extend(known.map(|&(_, holds)| (entered, edge.target, holds)));
                }
                Action::Return(_) => returns = true,
                // A release of what is not held fails.
                action => {
                    if let Some(holds) = holds.checked_add_signed(change(action)) {
                        pending.push((entered, edge.target, holds));
                    }
                }
            }
        }
        if returns && returned.insert((entered, holds)) {
            let first = (entered, (ProcedureId::from_index(0), 0), NodeId::from_index(0));
            let sites = called.range(first..).take_while(|site| site.0 == entered);
            pending.extend(sites.map(|&(_, outer, target)| (outer, target, holds)));
        }
    }
    true
}
