//! # Idea
//! A configuration is one stack of nodes per thread, with the number of units it is in, and for each
//! lock who owns it and how often. A step of a thread takes an edge from the node on top of its
//! stack, or returns from the exit on top of it. A thread that waits takes no step before an edge of
//! another one has started it, which happens once; a join is possible when the stack of the joined
//! thread is empty. A thread in a wait set has given up all its holds of the lock of
//! the set; behind a notification it takes them back at once, when the lock is free. A thread is ready for
//! a channel if it was started and an edge that receives leaves the node on top of its stack; it takes
//! such an edge in the step of another thread, which sends, posts or broadcasts. Where only some runs of a
//! thread count, a step that the automaton of its restriction cannot read is none, and a thread whose
//! automaton cannot read that it receives is not ready.
//!
//! # Source
//! SEMANTICS, "Events"; the reentrant semantics of paper 000 §3.1.1. Reentrancy and nested units are
//! counted. Engines mark the outermost ones on the stack instead; the two must agree.
//!
//! Data is added by [`crate::run`], which calls the control part of the step here; on its own this
//! relation refuses steps whose meaning depends on data.
//!
//! # Requires
//! The program is valid ([`selvedge_program::validate`]). Moves need not be: a wrong one is a
//! [`StepError`].
//!
//! # Invariants
//! 1. A frame's node is where the frame goes on: while a call is open, the caller's node is the
//!    target of the call edge.
//! 2. An owned lock has a depth of at least 1.
//! 3. A step that fails leaves the configuration as it was.

use crate::restriction::{self, ReadLevel, can_read, unread};
use selvedge_base::{Id, IdVec};
use selvedge_program::{
    Action, ChannelId, Edge, EdgeId, LockId, Move, NodeId, Program, Receiver, Start, StepKind,
    StepSymbol, Successors, ThreadId, WaitSetId,
};

/// A step of a thread with those who receive in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Scheduled {
    /// What the thread does.
    pub step: Move,
    /// Who receives, in the order of the threads.
    pub receivers: Vec<Receiver>,
}

impl From<Move> for Scheduled {
    /// A step in which nobody receives.
    fn from(step: Move) -> Self {
        Self { step, receivers: Vec::new() }
    }
}

/// A thread between two steps.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ThreadState {
    /// The nodes of the open procedures, innermost last; empty once main has returned.
    pub stack: Vec<NodeId>,
    /// How many units of work are open.
    pub unit_depth: u32,
    /// Whether it waits to be started.
    pub waits: bool,
    /// The wait set for whose notification it has given up a lock.
    pub suspended: Option<Suspension>,
    /// What the automaton of its restriction has read; empty if all runs of the thread count.
    pub read: Vec<ReadLevel>,
}

/// A thread that has given up a lock for a notification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Suspension {
    /// The wait set that it has joined.
    pub set: WaitSetId,
    /// How many holds of the lock of the set were given up.
    pub depth: u32,
    /// Whether it is still in the set.
    pub in_set: bool,
}

/// Who owns a lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ownership {
    /// The thread that holds it.
    pub owner: ThreadId,
    /// How many of its acquisitions are not yet released.
    pub depth: u32,
}

/// A program between two steps.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Configuration {
    /// The threads.
    pub threads: IdVec<ThreadId, ThreadState>,
    /// The locks; `None` is free.
    pub locks: IdVec<LockId, Option<Ownership>>,
}

/// What is in a configuration beside the stacks.
struct AroundStacks {
    threads: Vec<(u32, bool, Option<Suspension>)>,
    locks: IdVec<LockId, Option<Ownership>>,
}

/// Why a thread cannot take a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StepError {
    /// There is no such thread.
    NoSuchThread,
    /// There is no such edge.
    NoSuchEdge,
    /// The main procedure of the thread has returned.
    Finished,
    /// The edge does not start at the node on top of the stack.
    NotAtSource,
    /// The node on top of the stack is not the exit of its procedure.
    NotAtExit,
    /// Another thread owns the lock.
    Blocked(LockId, ThreadId),
    /// The thread does not own the lock that it releases, waits for or notifies about.
    NotOwner(LockId),
    /// The thread has not joined the wait set, or was not notified yet.
    NotNotified(WaitSetId),
    /// The thread that the step takes along cannot be, or another one has to be.
    Partner(WaitSetId),
    /// The thread is in no unit that it could leave.
    NoUnit,
    /// A count would leave 32 bits.
    TooDeep,
    /// The thread waits to be started.
    Waits,
    /// The thread that it starts does not wait any more.
    AlreadyStarted(ThreadId),
    /// The thread that it starts comes after one that still waits.
    TooEarly(ThreadId, ThreadId),
    /// The thread that it joins has not returned from its main.
    NotEnded(ThreadId),
    /// Another thread is named, but the step takes none along.
    NoPartner,
    /// The thread receives in the step of another one, not in its own.
    Receives(ChannelId),
    /// No thread receives what is sent.
    NoReceiver(ChannelId),
    /// The thread that is to receive is not ready for it.
    NotReady(ThreadId, ChannelId),
    /// Other threads have to receive, or in another order.
    Receivers(ChannelId),
    /// The automaton of the thread's restriction cannot read the step.
    Restricted,
    /// The step depends on data, which this step relation does not know.
    Data,
}

impl Configuration {
    /// Every thread at the start of its main procedure, every lock free.
    pub fn initial(program: &Program) -> Self {
        let threads = program.threads.iter_enumerated().map(|(id, thread)| ThreadState {
            stack: vec![program.procedures[thread.main].entry],
            unit_depth: 0,
            waits: thread.start != Start::AtFirst,
            suspended: None,
            read: program.restriction(id).map(unread).unwrap_or_default(),
        });
        Self { threads: threads.collect(), locks: IdVec::filled(None, program.locks.len()) }
    }

    /// The steps that the control flow of a thread offers, in the order of the edges, with all who can
    /// receive in them. Locks and units may still forbid one; [`Configuration::step`] decides.
    pub fn moves(
        &self,
        program: &Program,
        successors: &Successors,
        thread: ThreadId,
    ) -> Vec<Scheduled> {
        self.moves_among(program, successors, thread, true)
    }

    /// Like [`Configuration::moves`]; nobody receives unless the others are free to move.
    pub(crate) fn moves_among(
        &self,
        program: &Program,
        successors: &Successors,
        thread: ThreadId,
        others: bool,
    ) -> Vec<Scheduled> {
        let Some(&top) = self.threads.get(thread).and_then(|state| state.stack.last()) else {
            return Vec::new();
        };
        if program.procedures[program.nodes[top]].exit == top {
            return vec![Move::Return.into()];
        }
        let mut moves = Vec::new();
        for &edge in successors.of(top) {
            let action = program.edges[edge].action;
            if let Some(channel) = action.channel() {
                let receive = |thread: ThreadId| {
                    let top = self.threads[thread].stack.last().filter(|_| others);
                    let edges = top.map_or(&[][..], |&top| successors.of(top)).iter();
                    let receives = |edge: &&EdgeId| {
                        program.edges[**edge].action == Action::Recv(channel)
                            && !self.threads[thread].waits
                            && self.may(program, thread, StepSymbol::Received(channel))
                    };
                    edges.filter(receives).map(|&edge| Receiver { thread, edge }).collect()
                };
                let ready = self.threads.ids().filter(|&other| other != thread);
                let ready: Vec<Vec<Receiver>> = ready.map(receive).collect();
                let step = Move::Edge(edge);
                let receivers = receivers(action, &ready).into_iter();
                moves.extend(receivers.map(|receivers| Scheduled { step, receivers }));
                continue;
            }
            let mut members = Vec::new();
            if let Action::Notify(set) = action {
                members.extend(self.wait_set(set));
            }
            if members.is_empty() {
                moves.push(Move::Edge(edge).into());
            }
            moves.extend(members.into_iter().map(|member| Move::With(edge, member).into()));
        }
        moves
    }

    /// Whether a thread is ready for a channel.
    pub fn is_ready(&self, program: &Program, thread: ThreadId, channel: ChannelId) -> bool {
        let Some(state) = self.threads.get(thread).filter(|state| !state.waits) else {
            return false;
        };
        let receives = |edge: &Edge| {
            Some(&edge.source) == state.stack.last() && edge.action == Action::Recv(channel)
        };
        program.edges.iter().any(receives)
            && self.may(program, thread, StepSymbol::Received(channel))
    }

    /// The threads in a wait set.
    pub fn wait_set(&self, set: WaitSetId) -> impl Iterator<Item = ThreadId> {
        self.threads.iter_enumerated().filter_map(move |(thread, state)| {
            state.suspended.filter(|one| one.set == set && one.in_set).map(|_| thread)
        })
    }

    /// Whether a thread owns a lock.
    pub fn holds(&self, thread: ThreadId, lock: LockId) -> bool {
        self.locks[lock].is_some_and(|one| one.owner == thread)
    }

    /// Whether the restriction of a thread, if there is one, lets it take a step that does this.
    pub fn may(&self, program: &Program, thread: ThreadId, step: impl Into<StepSymbol>) -> bool {
        let (step, read) = (step.into(), &self.threads[thread].read);
        program.restriction(thread).is_none_or(|restriction| can_read(restriction, read, step))
    }

    /// Takes a step of a thread and says what it did.
    ///
    /// # Errors
    /// If the thread cannot take this step now; the configuration is unchanged then.
    pub fn step(
        &mut self,
        program: &Program,
        thread: ThreadId,
        step: impl Into<Scheduled>,
    ) -> Result<StepKind, StepError> {
        let scheduled = step.into();
        let on_data = |edge: &Edge| {
            let action = match edge.action {
                Action::Start(_) | Action::Join(_) => false,
                action => action.is_about_data(),
            };
            action || edge.update.is_some() || edge.passing.is_some()
        };
        let edge = scheduled.step.edge().and_then(|edge| program.edges.get(edge));
        let depends_on_data = edge.is_some_and(on_data);
        if depends_on_data {
            return Err(StepError::Data);
        }
        self.step_control(program, thread, &scheduled, true)
    }

    /// Takes a step of a thread as if there were no data: stacks, locks, units, starts, joins and
    /// channels only. Nobody receives unless the others are free to move.
    pub(crate) fn step_control(
        &mut self,
        program: &Program,
        thread: ThreadId,
        Scheduled { step, receivers }: &Scheduled,
        others: bool,
    ) -> Result<StepKind, StepError> {
        let state = self.threads.get(thread).ok_or(StepError::NoSuchThread)?;
        if state.waits {
            return Err(StepError::Waits);
        }
        let &top = state.stack.last().ok_or(StepError::Finished)?;
        match *step {
            Move::Edge(edge) => match program.edges.get(edge) {
                Some(taken) if taken.action.channel().is_some() => {
                    self.meet(program, thread, taken, receivers, others)
                }
                _ if !receivers.is_empty() => Err(StepError::NoPartner),
                _ => self.take_edge(program, thread, top, edge, None),
            },
            Move::With(..) | Move::Return if !receivers.is_empty() => Err(StepError::NoPartner),
            Move::With(edge, partner) => self.take_edge(program, thread, top, edge, Some(partner)),
            Move::Return => {
                let procedure = program.nodes[top];
                if program.procedures[procedure].exit != top {
                    return Err(StepError::NotAtExit);
                }
                self.read(program, thread, StepKind::Return(procedure))?;
                self.threads[thread].stack.pop();
                Ok(StepKind::Return(procedure))
            }
        }
    }

    /// Takes an edge that sends, and those of all who receive.
    fn meet(
        &mut self,
        program: &Program,
        thread: ThreadId,
        edge: &Edge,
        receivers: &[Receiver],
        others: bool,
    ) -> Result<StepKind, StepError> {
        if self.threads[thread].stack.last() != Some(&edge.source) {
            return Err(StepError::NotAtSource);
        }
        let (kind, channel) = match edge.action {
            Action::Send(channel) => (StepKind::Send(channel), channel),
            Action::Post(channel) => (StepKind::Post(channel), channel),
            Action::Broadcast(channel) => (StepKind::Broadcast(channel), channel),
            Action::Recv(channel) => return Err(StepError::Receives(channel)),
            _ => return Err(StepError::NoPartner),
        };
        for receiver in receivers {
            let taken = program.edges.get(receiver.edge).ok_or(StepError::NoSuchEdge)?;
            let state = self.threads.get(receiver.thread).ok_or(StepError::NoSuchThread)?;
            let stands_there = !state.waits && state.stack.last() == Some(&taken.source);
            let is_other = others && receiver.thread != thread;
            if !is_other || !stands_there || taken.action != Action::Recv(channel) {
                return Err(StepError::NotReady(receiver.thread, channel));
            }
            if !self.may(program, receiver.thread, StepSymbol::Received(channel)) {
                return Err(StepError::Restricted);
            }
        }
        if !receivers.is_sorted_by(|one, next| one.thread < next.thread) {
            return Err(StepError::Receivers(channel));
        }
        let ready =
            |&other: &ThreadId| others && other != thread && self.is_ready(program, other, channel);
        let fits = match (kind, receivers) {
            (StepKind::Send(_), []) => return Err(StepError::NoReceiver(channel)),
            (StepKind::Send(_) | StepKind::Post(_), [_]) => true,
            (StepKind::Post(_), []) => !self.threads.ids().any(|other| ready(&other)),
            (StepKind::Broadcast(_), _) => {
                let receiving = receivers.iter().map(|receiver| receiver.thread);
                self.threads.ids().filter(ready).eq(receiving)
            }
            _ => false,
        };
        if !fits {
            return Err(StepError::Receivers(channel));
        }
        self.read(program, thread, kind)?;
        for receiver in receivers {
            self.read(program, receiver.thread, StepSymbol::Received(channel))?;
        }
        for (mover, edge) in receivers
            .iter()
            .map(|receiver| (receiver.thread, &program.edges[receiver.edge]))
            .chain([(thread, edge)])
        {
            let stack = &mut self.threads[mover].stack;
            stack.pop();
            stack.push(edge.target);
        }
        Ok(kind)
    }

    fn take_edge(
        &mut self,
        program: &Program,
        thread: ThreadId,
        top: NodeId,
        edge: EdgeId,
        partner: Option<ThreadId>,
    ) -> Result<StepKind, StepError> {
        let edge = program.edges.get(edge).ok_or(StepError::NoSuchEdge)?;
        if edge.source != top {
            return Err(StepError::NotAtSource);
        }
        if partner.is_some() && !matches!(edge.action, Action::Notify(_)) {
            return Err(StepError::NoPartner);
        }
        let before = program.restriction(thread).map(|_| self.around_stacks());
        let kind = self.act(program, thread, top, edge.action, partner)?;
        if let Err(error) = self.read(program, thread, kind) {
            if let Some(before) = before {
                self.restore(before);
            }
            return Err(error);
        }
        let stack = &mut self.threads[thread].stack;
        stack.pop();
        match kind {
            StepKind::Return(_) => {}
            StepKind::Call(callee) => {
                stack.extend([edge.target, program.procedures[callee].entry]);
            }
            _ => stack.push(edge.target),
        }
        Ok(kind)
    }

    /// Reads a step of a thread in its restriction, if there is one.
    fn read(
        &mut self,
        program: &Program,
        thread: ThreadId,
        step: impl Into<StepSymbol>,
    ) -> Result<(), StepError> {
        let Some(restriction) = program.restriction(thread) else { return Ok(()) };
        let can = restriction::read(restriction, &mut self.threads[thread].read, step.into());
        if can { Ok(()) } else { Err(StepError::Restricted) }
    }

    /// All but the stacks and what was read.
    fn around_stacks(&self) -> AroundStacks {
        let threads = self.threads.iter().map(|one| (one.unit_depth, one.waits, one.suspended));
        AroundStacks { threads: threads.collect(), locks: self.locks.clone() }
    }

    fn restore(&mut self, before: AroundStacks) {
        self.locks = before.locks;
        for (thread, (unit_depth, waits, suspended)) in self.threads.iter_mut().zip(before.threads)
        {
            (thread.unit_depth, thread.waits, thread.suspended) = (unit_depth, waits, suspended);
        }
    }

    /// What an action does to locks, units and other threads.
    fn act(
        &mut self,
        program: &Program,
        thread: ThreadId,
        top: NodeId,
        action: Action,
        partner: Option<ThreadId>,
    ) -> Result<StepKind, StepError> {
        Ok(match action {
            Action::Read(location) => StepKind::Read(location),
            Action::Write(location) => StepKind::Write(location),
            Action::Acquire(lock) => self.acquire(program, thread, lock)?,
            Action::Release(lock) => self.release(thread, lock)?,
            Action::Wait(set) => self.wait(program, thread, set)?,
            Action::Resume(set) => self.resume(program, thread, set)?,
            Action::Notify(set) => self.notify(program, thread, set, partner)?,
            Action::NotifyAll(set) => self.notify_all(program, thread, set)?,
            Action::BeginUnit => self.begin_unit(thread)?,
            Action::EndUnit => self.end_unit(thread)?,
            Action::Call(callee) => StepKind::Call(callee),
            Action::Return(_) => StepKind::Return(program.nodes[top]),
            Action::Start(started) => self.start(program, started)?,
            Action::Join(joined) => self.join(joined)?,
            Action::Skip | Action::Assert(_) | Action::BeginAtomic | Action::EndAtomic => {
                StepKind::Step
            }
            // Somebody else may have a part in these.
            Action::Send(_) | Action::Post(_) | Action::Broadcast(_) | Action::Recv(_) => {
                return Err(StepError::NoPartner);
            }
        })
    }

    fn start(&mut self, program: &Program, started: ThreadId) -> Result<StepKind, StepError> {
        if !self.threads[started].waits {
            return Err(StepError::AlreadyStarted(started));
        }
        if let Start::ByEdge { after: Some(before) } = program.threads[started].start
            && self.threads[before].waits
        {
            return Err(StepError::TooEarly(started, before));
        }
        self.threads[started].waits = false;
        Ok(StepKind::Start(started))
    }

    fn join(&self, joined: ThreadId) -> Result<StepKind, StepError> {
        if self.threads[joined].stack.is_empty() {
            Ok(StepKind::Join(joined))
        } else {
            Err(StepError::NotEnded(joined))
        }
    }

    fn acquire(
        &mut self,
        program: &Program,
        thread: ThreadId,
        lock: LockId,
    ) -> Result<StepKind, StepError> {
        let reentrant = program.locks[lock].reentrant;
        match &mut self.locks[lock] {
            Some(Ownership { owner, .. }) if *owner != thread || !reentrant => {
                Err(StepError::Blocked(lock, *owner))
            }
            Some(Ownership { depth, .. }) => {
                *depth = depth.checked_add(1).ok_or(StepError::TooDeep)?;
                Ok(StepKind::Step)
            }
            free @ None => {
                *free = Some(Ownership { owner: thread, depth: 1 });
                Ok(StepKind::Acquire(lock))
            }
        }
    }

    fn release(&mut self, thread: ThreadId, lock: LockId) -> Result<StepKind, StepError> {
        match &mut self.locks[lock] {
            Some(Ownership { owner, depth }) if *owner == thread => {
                *depth -= 1;
                if *depth > 0 {
                    return Ok(StepKind::Step);
                }
                self.locks[lock] = None;
                Ok(StepKind::Release(lock))
            }
            _ => Err(StepError::NotOwner(lock)),
        }
    }

    fn wait(
        &mut self,
        program: &Program,
        thread: ThreadId,
        set: WaitSetId,
    ) -> Result<StepKind, StepError> {
        let lock = program.wait_sets[set].lock;
        let Some(Ownership { owner, depth }) = self.locks[lock] else {
            return Err(StepError::NotOwner(lock));
        };
        if owner != thread {
            return Err(StepError::NotOwner(lock));
        }
        self.locks[lock] = None;
        self.threads[thread].suspended = Some(Suspension { set, depth, in_set: true });
        Ok(StepKind::Wait(set))
    }

    fn resume(
        &mut self,
        program: &Program,
        thread: ThreadId,
        set: WaitSetId,
    ) -> Result<StepKind, StepError> {
        let suspended = self.threads[thread].suspended.filter(|one| one.set == set);
        let Some(Suspension { depth, .. }) =
            suspended.filter(|one| !one.in_set || program.spurious_wakeups)
        else {
            return Err(StepError::NotNotified(set));
        };
        let lock = program.wait_sets[set].lock;
        if let Some(Ownership { owner, .. }) = self.locks[lock] {
            return Err(StepError::Blocked(lock, owner));
        }
        self.locks[lock] = Some(Ownership { owner: thread, depth });
        self.threads[thread].suspended = None;
        Ok(StepKind::Resume(set))
    }

    fn notify(
        &mut self,
        program: &Program,
        thread: ThreadId,
        set: WaitSetId,
        partner: Option<ThreadId>,
    ) -> Result<StepKind, StepError> {
        let lock = program.wait_sets[set].lock;
        if !self.holds(thread, lock) {
            return Err(StepError::NotOwner(lock));
        }
        let mut members = self.wait_set(set);
        let fits = match partner {
            None => members.next().is_none(),
            Some(partner) => members.any(|member| member == partner),
        };
        drop(members);
        if !fits {
            return Err(StepError::Partner(set));
        }
        if let Some(suspended) = partner.and_then(|one| self.threads[one].suspended.as_mut()) {
            suspended.in_set = false;
        }
        Ok(StepKind::Notify(set))
    }

    fn notify_all(
        &mut self,
        program: &Program,
        thread: ThreadId,
        set: WaitSetId,
    ) -> Result<StepKind, StepError> {
        let lock = program.wait_sets[set].lock;
        if !self.holds(thread, lock) {
            return Err(StepError::NotOwner(lock));
        }
        for state in &mut self.threads {
            if let Some(suspended) = state.suspended.as_mut().filter(|one| one.set == set) {
                suspended.in_set = false;
            }
        }
        Ok(StepKind::Notify(set))
    }

    fn begin_unit(&mut self, thread: ThreadId) -> Result<StepKind, StepError> {
        let depth = &mut self.threads[thread].unit_depth;
        *depth = depth.checked_add(1).ok_or(StepError::TooDeep)?;
        Ok(if *depth == 1 { StepKind::BeginUnit } else { StepKind::Step })
    }

    fn end_unit(&mut self, thread: ThreadId) -> Result<StepKind, StepError> {
        let depth = &mut self.threads[thread].unit_depth;
        *depth = depth.checked_sub(1).ok_or(StepError::NoUnit)?;
        Ok(if *depth == 0 { StepKind::EndUnit } else { StepKind::Step })
    }
}

/// Who can receive in a step, if these are ready, each with the edges that it can take.
fn receivers(action: Action, ready: &[Vec<Receiver>]) -> Vec<Vec<Receiver>> {
    let any_one = || ready.iter().flatten().map(|&receiver| vec![receiver]).collect();
    match action {
        Action::Post(_) if ready.iter().all(Vec::is_empty) => vec![Vec::new()],
        Action::Send(_) | Action::Post(_) => any_one(),
        Action::Broadcast(_) => {
            let mut all = vec![Vec::new()];
            for edges in ready.iter().filter(|edges| !edges.is_empty()) {
                let with = |before: &Vec<Receiver>| {
                    let before = before.clone();
                    edges.iter().map(move |&edge| [&before[..], &[edge]].concat())
                };
                all = all.iter().flat_map(with).collect();
            }
            all
        }
        _ => Vec::new(),
    }
}

impl StepError {
    /// The reason in words, with the names of the program.
    pub fn describe(self, program: &Program) -> String {
        let lock_name = |lock: LockId| match program.locks.get(lock) {
            Some(lock) => lock.name.clone(),
            None => format!("lock {}", lock.index()),
        };
        let thread_name = |thread: ThreadId| match program.threads.get(thread) {
            Some(thread) => thread.name.clone(),
            None => format!("thread {}", thread.index()),
        };
        let channel_name = |channel: ChannelId| match program.channels.get(channel) {
            Some(channel) => channel.name.clone(),
            None => format!("channel {}", channel.index()),
        };
        match self {
            Self::Receives(channel) => {
                let channel = channel_name(channel);
                format!("it is received over {channel} in the step of a thread that sends")
            }
            Self::NoReceiver(channel) => {
                format!("no other thread receives over {}", channel_name(channel))
            }
            Self::NotReady(thread, channel) => {
                format!("{} cannot receive over {} now", thread_name(thread), channel_name(channel))
            }
            Self::Receivers(channel) => {
                format!("other threads have to receive over {}", channel_name(channel))
            }
            Self::NoSuchThread => "there is no such thread".to_owned(),
            Self::NoSuchEdge => "there is no such edge".to_owned(),
            Self::Finished => "the thread has finished".to_owned(),
            Self::NotAtSource => "the thread is not where the edge starts".to_owned(),
            Self::NotAtExit => "the thread is not at the exit of a procedure".to_owned(),
            Self::Blocked(lock, owner) => {
                format!("{} is owned by {}", lock_name(lock), thread_name(owner))
            }
            Self::NotOwner(lock) => format!("the thread does not own {}", lock_name(lock)),
            Self::NotNotified(set) => {
                format!("the thread was not notified about {}", program.wait_set_title(set))
            }
            Self::Partner(set) => {
                let set = program.wait_set_title(set);
                format!("one of the threads that wait for {set} has to be notified")
            }
            Self::NoPartner => "no other thread takes part in this step".to_owned(),
            Self::NoUnit => "the thread is in no unit".to_owned(),
            Self::Waits => "the thread was not started yet".to_owned(),
            Self::AlreadyStarted(started) => format!("{} was started before", thread_name(started)),
            Self::TooEarly(started, before) => {
                let (started, before) = (thread_name(started), thread_name(before));
                format!("{started} comes after {before}, which still waits")
            }
            Self::NotEnded(joined) => format!("{} has not ended", thread_name(joined)),
            Self::Restricted => "the restriction of the thread does not allow the step".to_owned(),
            Self::Data => "the step depends on data".to_owned(),
            Self::TooDeep => "a nesting depth exceeds 32 bits".to_owned(),
        }
    }
}
