//! # Idea
//! A question about a program as a communicating system. The components are the threads that take
//! part, the locks that two of them use, what is known of starts and ends, and the property. An event
//! becomes an action of those that know it: an acquisition one of its thread and the lock, an access that
//! the property sees one of its thread and the property, a start one of both threads. Everything else
//! is silent.
//!
//! Over a channel, an action is one of the thread that sends and the one that receives. Whether a post is
//! lost and who hears a broadcast depends on who is ready, so these are actions of all threads that
//! receive over the channel: where a thread is ready it receives, where it is not it stays as it is.
//!
//! A thread that is about to make an access, or stands at a label, says so by an action of its own, after
//! which it does nothing more. In a race both threads say so at once.
//!
//! # Source
//! Paper 004 §2 and §5 for locks: [`Reentrant::Reduced`] is Fig. 2(c), [`Reentrant::Counted`] Fig.
//! 2(a). SEMANTICS for starts, joins and races.
//!
//! # Requires
//! A valid program with nested locks and units, without values.
//!
//! # Invariants
//! 1. A thread that takes no part can stay in its initial configuration: it holds no lock, and nobody
//!    who takes part waits for it to do something.
//! 2. Every rule of a thread that is a step of the program says which one.

use crate::engine::Reentrant;
use crate::property::{EventEffect, PhaseProperty};
use crate::pushdown::PushdownComponent;
use crate::system::{
    CommunicatingSystem, ComponentAutomaton, ComponentId, ComponentLanguage, SharedAction,
};
use selvedge_base::{Budget, Id, IdVec, StopReason};
use selvedge_lower::thread::LowerError;
use selvedge_lower::{LockSet, LoweredProgram, LoweredThread, lower};
use selvedge_pds::{Rhs, Rule, RuleId, Symbol};
use selvedge_program::{
    Action, ChannelId, Event, LocationId, LockId, Move, NodeId, Observable, Program, Question,
    Start, Target, ThreadId,
};
use std::collections::{BTreeMap, BTreeSet};

/// A thread in which every event is an action, with how many actions there are. Locks are as in
/// [`Reentrant::Counted`].
///
/// # Errors
/// If locks and units are not nested, or a limit was met.
pub fn all_events(
    program: &Program,
    thread: ThreadId,
    budget: &Budget,
) -> Result<(PushdownComponent, usize), LowerError> {
    let lowered = lower(program, &LockSet::new(), budget)?;
    let reentrant = Reentrant::Counted;
    let source = TranslationSource { program, lowered: &lowered, reentrant };
    let own = &lowered.threads[thread];
    let events: BTreeSet<Event> = source.events(thread).collect();
    let action = |event: Event| {
        let at = events.iter().position(|&one| one == event);
        at.map(SharedAction::from_index)
    };
    let [start, bottom] = [0, 1].map(|at| Symbol::from_index(own.pds.symbols + at));
    let mut component = PushdownComponent::new(own.pds.symbols + 2, start);
    component.rule(start, None, Rhs::Push(own.entry, bottom));
    for rule in &own.pds.rules {
        component.rule(rule.symbol, source.event(rule).and_then(action), rule.rhs);
    }
    Ok((component, events.len()))
}

/// What an action is in the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ProgramAction {
    /// A thread acquires a lock.
    Acquire(ThreadId, LockId),
    /// A thread releases a lock.
    Release(ThreadId, LockId),
    /// An event of a thread that the property sees.
    Event(ThreadId, EventEffect),
    /// A thread starts another.
    Start(ThreadId, ThreadId),
    /// A thread ends.
    End(ThreadId),
    /// A thread goes on because another has ended.
    Join(ThreadId, ThreadId),
    /// The two threads of a race are about to make these accesses.
    Race([RaceAccess; 2]),
    /// A thread stands at the label.
    Label(ThreadId),
    /// The first thread sends or posts over a channel, and the second one receives.
    Pass(ChannelId, ThreadId, ThreadId),
    /// A thread posts over a channel, and nobody is ready.
    Lost(ChannelId, ThreadId),
    /// A thread broadcasts over a channel.
    Broadcast(ChannelId, ThreadId),
}

/// An access, as far as races tell accesses apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RaceAccess {
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is volatile.
    pub volatile: bool,
}

/// A thread as a component.
#[derive(Clone, Debug)]
pub struct ThreadComponent {
    /// The thread.
    pub thread: ThreadId,
    /// The component.
    pub component: ComponentId,
    /// The step that each of its rules is, if it is one.
    pub steps: IdVec<RuleId, Option<Move>>,
}

/// A question as a communicating system.
#[derive(Clone, Debug)]
pub struct TranslatedQuestion {
    /// The system.
    pub system: CommunicatingSystem,
    /// The threads that take part.
    pub threads: Vec<ThreadComponent>,
    /// What each action is.
    pub actions: IdVec<SharedAction, ProgramAction>,
}

/// What translation reads.
pub struct TranslationSource<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its threads, with the locks that the form of the locks needs.
    pub lowered: &'a LoweredProgram,
    /// How locks are counted.
    pub reentrant: Reentrant,
}

/// What a thread does over a channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Over {
    Send,
    Post,
    Broadcast,
    Recv,
}

impl TranslationSource<'_> {
    /// The threads that a question is about, one list for each way to answer it.
    pub fn ways(&self, question: &Question) -> Vec<Vec<ThreadId>> {
        match question {
            Question::Reach(Target::Label(nodes)) => {
                let stands = |thread: &ThreadId| {
                    let nodes_of = self.nodes(&self.lowered.threads[*thread], *thread);
                    nodes_of.iter().flatten().any(|node| nodes.contains(node))
                };
                self.program.threads.ids().filter(stands).map(|thread| vec![thread]).collect()
            }
            _ => vec![question.threads()],
        }
    }

    /// The event of a rule. Where locks are counted, re-acquisitions are events, too.
    fn event(&self, rule: &Rule<selvedge_lower::RuleLabel>) -> Option<Event> {
        let edge = rule.label.step.edge().map(|edge| self.program.edges[edge].action);
        match (self.reentrant, edge) {
            (Reentrant::Counted, Some(Action::Acquire(lock))) => Some(Event::Acquire(lock)),
            (Reentrant::Counted, Some(Action::Release(lock))) => Some(Event::Release(lock)),
            _ => rule.label.event,
        }
    }

    /// What a rule does over a channel.
    fn over(&self, rule: &Rule<selvedge_lower::RuleLabel>) -> Option<(ChannelId, Over)> {
        match self.program.edges[rule.label.step.edge()?].action {
            Action::Send(channel) => Some((channel, Over::Send)),
            Action::Post(channel) => Some((channel, Over::Post)),
            Action::Broadcast(channel) => Some((channel, Over::Broadcast)),
            Action::Recv(channel) => Some((channel, Over::Recv)),
            _ => None,
        }
    }

    /// What a thread does over channels, somewhere in its code.
    fn uses(&self, thread: ThreadId) -> BTreeSet<(ChannelId, Over)> {
        let rules = self.lowered.threads[thread].pds.rules.iter();
        rules.filter_map(|rule| self.over(rule)).collect()
    }

    fn events(&self, thread: ThreadId) -> impl Iterator<Item = Event> {
        self.lowered.threads[thread].pds.rules.iter().filter_map(|rule| self.event(rule))
    }

    /// The node of each symbol of a thread.
    fn nodes(&self, lowered: &LoweredThread, thread: ThreadId) -> IdVec<Symbol, Option<NodeId>> {
        let program = self.program;
        let mut nodes = IdVec::filled(None, lowered.pds.symbols);
        let entry = |procedure| program.procedures[procedure].entry;
        nodes[lowered.entry] = Some(entry(program.threads[thread].main));
        for rule in &lowered.pds.rules {
            let Some(edge) = rule.label.step.edge() else { continue };
            let edge = &program.edges[edge];
            nodes[rule.symbol] = Some(edge.source);
            match (rule.rhs, edge.action) {
                (Rhs::Step(target), _) => nodes[target] = Some(edge.target),
                (Rhs::Push(top, below), Action::Call(callee)) => {
                    nodes[top] = Some(entry(callee));
                    nodes[below] = Some(edge.target);
                }
                _ => {}
            }
        }
        nodes
    }

    /// The threads that take part: those of the question, those that use channels, those that have to
    /// start them, and those that are joined.
    fn participants(&self, asked: &[ThreadId]) -> Vec<ThreadId> {
        let program = self.program;
        let mut starters: BTreeMap<ThreadId, Vec<ThreadId>> = BTreeMap::new();
        for thread in program.threads.ids() {
            for event in self.events(thread) {
                if let Event::Start(started) = event {
                    starters.entry(started).or_default().push(thread);
                }
            }
        }
        let mut chosen = BTreeSet::new();
        let mut open = asked.to_vec();
        open.extend(program.threads.ids().filter(|&thread| !self.uses(thread).is_empty()));
        // The threads that somebody has to start.
        let mut started: BTreeSet<ThreadId> = BTreeSet::new();
        while let Some(thread) = open.pop() {
            if !chosen.insert(thread) {
                continue;
            }
            let mut needed = vec![thread];
            for event in self.events(thread) {
                match event {
                    Event::Join(joined) => open.push(joined),
                    Event::Start(other) => {
                        if let Start::ByEdge { after: Some(before) } = program.threads[other].start
                        {
                            needed.push(before);
                        }
                    }
                    _ => {}
                }
            }
            while let Some(one) = needed.pop() {
                let Start::ByEdge { after } = program.threads[one].start else { continue };
                if started.insert(one) {
                    open.extend(starters.get(&one).into_iter().flatten());
                    needed.extend(after);
                }
            }
        }
        chosen.into_iter().collect()
    }

    /// The communicating system for one way to answer a question.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn translate(
        &self,
        question: &Question,
        asked: &[ThreadId],
        property: &PhaseProperty<'_>,
        budget: &Budget,
    ) -> Result<TranslatedQuestion, StopReason> {
        let participants = self.participants(asked);
        let mut build = Build::new(self, question, asked, property, &participants);
        for &thread in &participants {
            budget.check()?;
            build.thread(thread);
        }
        build.finish(budget)
    }
}

/// A system that is being built.
struct Build<'a> {
    source: &'a TranslationSource<'a>,
    question: &'a Question,
    asked: &'a [ThreadId],
    property: &'a PhaseProperty<'a>,
    participants: &'a [ThreadId],
    /// The locks that are components, with their users.
    locks: BTreeMap<LockId, Vec<ThreadId>>,
    /// The threads that are joined.
    joined: BTreeSet<ThreadId>,
    /// What each participant does over channels.
    uses: BTreeMap<ThreadId, BTreeSet<(ChannelId, Over)>>,
    /// The pairs of classes with which the threads of the race can meet.
    races: Vec<[RaceAccess; 2]>,
    ids: BTreeMap<ProgramAction, SharedAction>,
    actions: IdVec<SharedAction, ProgramAction>,
    threads: Vec<ThreadComponent>,
    components: Vec<PushdownComponent>,
}

impl<'a> Build<'a> {
    fn new(
        source: &'a TranslationSource<'a>,
        question: &'a Question,
        asked: &'a [ThreadId],
        property: &'a PhaseProperty<'a>,
        participants: &'a [ThreadId],
    ) -> Self {
        let mut locks: BTreeMap<LockId, Vec<ThreadId>> = BTreeMap::new();
        let mut joined = BTreeSet::new();
        for &thread in participants {
            let mut own = BTreeSet::new();
            for event in source.events(thread) {
                match event {
                    Event::Acquire(lock) => _ = own.insert(lock),
                    Event::Join(other) => _ = joined.insert(other),
                    _ => {}
                }
            }
            for lock in own {
                locks.entry(lock).or_default().push(thread);
            }
        }
        // A lock of one thread alone blocks nobody, but for one whose owner may wait for itself.
        let counts = source.reentrant == Reentrant::Counted;
        locks.retain(|&lock, users| {
            users.len() > 1 || counts && !source.program.locks[lock].reentrant
        });
        let races = match question {
            Question::Race(race) => {
                let classes = race.threads.map(|thread| {
                    let rules = source.lowered.threads[thread].pds.rules.iter();
                    let class = |rule: &Rule<_>| access_class(rule, race.location);
                    rules.filter_map(class).collect::<BTreeSet<RaceAccess>>()
                });
                let pairs = classes[0]
                    .iter()
                    .flat_map(|&first| classes[1].iter().map(move |&second| [first, second]));
                // Two accesses race if one of them writes, unless both are volatile.
                pairs
                    .filter(|[first, second]| {
                        (first.writes || second.writes) && !(first.volatile && second.volatile)
                    })
                    .collect()
            }
            _ => Vec::new(),
        };
        Self {
            source,
            question,
            asked,
            property,
            participants,
            locks,
            joined,
            uses: participants.iter().map(|&thread| (thread, source.uses(thread))).collect(),
            races,
            ids: BTreeMap::new(),
            actions: IdVec::new(),
            threads: Vec::new(),
            components: Vec::new(),
        }
    }

    /// The other participants that do one of these over a channel.
    fn others(&self, thread: ThreadId, channel: ChannelId, what: &[Over]) -> Vec<ThreadId> {
        let uses =
            |one: &ThreadId| what.iter().any(|&way| self.uses[one].contains(&(channel, way)));
        self.participants.iter().copied().filter(|one| *one != thread && uses(one)).collect()
    }

    /// The actions of a step over a channel.
    fn meetings(&mut self, thread: ThreadId, channel: ChannelId, over: Over) -> Vec<SharedAction> {
        let mut actions = Vec::new();
        match over {
            Over::Send | Over::Post => {
                for receiver in self.others(thread, channel, &[Over::Recv]) {
                    actions.push(ProgramAction::Pass(channel, thread, receiver));
                }
                if over == Over::Post {
                    actions.push(ProgramAction::Lost(channel, thread));
                }
            }
            Over::Broadcast => actions.push(ProgramAction::Broadcast(channel, thread)),
            Over::Recv => {
                for sender in self.others(thread, channel, &[Over::Send, Over::Post]) {
                    actions.push(ProgramAction::Pass(channel, sender, thread));
                }
                for sender in self.others(thread, channel, &[Over::Broadcast]) {
                    actions.push(ProgramAction::Broadcast(channel, sender));
                }
            }
        }
        actions.into_iter().map(|action| self.action(action)).collect()
    }

    /// The actions in which a thread takes part by staying where it is, each with its channel.
    fn idle(&mut self, thread: ThreadId) -> Vec<(ChannelId, SharedAction)> {
        let receives =
            |&(channel, over): &(ChannelId, Over)| (over == Over::Recv).then_some(channel);
        let channels: Vec<ChannelId> = self.uses[&thread].iter().filter_map(receives).collect();
        let mut idle = Vec::new();
        for channel in channels {
            let posts = self.others(thread, channel, &[Over::Post]);
            let broadcasts = self.others(thread, channel, &[Over::Broadcast]);
            let lost = posts.into_iter().map(|sender| ProgramAction::Lost(channel, sender));
            let heard = broadcasts.into_iter();
            let heard = heard.map(|sender| ProgramAction::Broadcast(channel, sender));
            let actions: Vec<ProgramAction> = lost.chain(heard).collect();
            idle.extend(actions.into_iter().map(|action| (channel, self.action(action))));
        }
        idle
    }

    fn action(&mut self, action: ProgramAction) -> SharedAction {
        let actions = &mut self.actions;
        *self.ids.entry(action).or_insert_with(|| actions.push(action))
    }

    /// Adds the component of a thread.
    fn thread(&mut self, thread: ThreadId) {
        let (source, program) = (self.source, self.source.program);
        let lowered = &source.lowered.threads[thread];
        let symbols = lowered.pds.symbols;
        let [start, bottom, stopped] = [0, 1, 2].map(|at| Symbol::from_index(symbols + at));
        let mut component = PushdownComponent::new(symbols + 3, start);
        let mut steps: IdVec<RuleId, Option<Move>> = IdVec::new();
        let mut add = |symbol, action, rhs, step| {
            component.rule(symbol, action, rhs);
            steps.push(step);
        };
        let begin = Rhs::Push(lowered.entry, bottom);
        match program.threads[thread].start {
            Start::AtFirst => add(start, None, begin, None),
            Start::ByEdge { .. } => {
                for &starter in self.participants {
                    let starts = Event::Start(thread);
                    if starter != thread && source.events(starter).any(|event| event == starts) {
                        let action = self.action(ProgramAction::Start(starter, thread));
                        add(start, Some(action), begin, None);
                    }
                }
            }
        }
        if self.joined.contains(&thread) {
            let end = self.action(ProgramAction::End(thread));
            add(bottom, Some(end), Rhs::Step(stopped), None);
        }
        let idle = self.idle(thread);
        let mut ready: BTreeSet<(Symbol, ChannelId)> = BTreeSet::new();
        for rule in &lowered.pds.rules {
            let step = Some(rule.label.step);
            if let Some((channel, over)) = source.over(rule) {
                for action in self.meetings(thread, channel, over) {
                    add(rule.symbol, Some(action), rule.rhs, step);
                }
                if over == Over::Recv {
                    ready.insert((rule.symbol, channel));
                }
                continue;
            }
            let in_unit = lowered.in_unit(rule.symbol);
            let action = match source.event(rule) {
                None => None,
                Some(Event::Acquire(lock)) => self
                    .locks
                    .contains_key(&lock)
                    .then(|| self.action(ProgramAction::Acquire(thread, lock))),
                Some(Event::Release(lock)) => self
                    .locks
                    .contains_key(&lock)
                    .then(|| self.action(ProgramAction::Release(thread, lock))),
                // Who runs was started.
                Some(Event::Start(started)) if started == thread => continue,
                Some(Event::Start(started)) => {
                    Some(self.action(ProgramAction::Start(thread, started)))
                }
                Some(Event::Join(joined)) => Some(self.action(ProgramAction::Join(thread, joined))),
                Some(Event::Observable(symbol)) => {
                    match self.property.effect(thread, symbol, in_unit) {
                        None => None,
                        // Whatever the phase, no run with it goes on.
                        Some(EventEffect { stays: 0, ends: 0 }) => continue,
                        Some(effect) => Some(self.action(ProgramAction::Event(thread, effect))),
                    }
                }
            };
            add(rule.symbol, action, rule.rhs, step);
        }
        // Whoever has not begun or has ended is not ready; at first, who is not started begins at once.
        let waits = program.threads[thread].start != Start::AtFirst;
        let outside = [bottom, stopped].into_iter().chain(waits.then_some(start));
        for symbol in (0..symbols).map(Symbol::from_index).chain(outside) {
            for &(channel, action) in &idle {
                if !ready.contains(&(symbol, channel)) {
                    add(symbol, Some(action), Rhs::Step(symbol), None);
                }
            }
        }
        if let Question::Race(race) = self.question
            && let Some(side) = race.threads.iter().position(|&one| one == thread)
        {
            let mut offered = BTreeSet::new();
            for rule in &lowered.pds.rules {
                let Some(class) = access_class(rule, race.location) else { continue };
                for pair in self.races.clone() {
                    if pair[side] == class && offered.insert((rule.symbol, pair)) {
                        let action = self.action(ProgramAction::Race(pair));
                        add(rule.symbol, Some(action), Rhs::Step(stopped), None);
                    }
                }
            }
        }
        if let Question::Reach(Target::Label(nodes)) = self.question
            && self.asked.contains(&thread)
        {
            let action = self.action(ProgramAction::Label(thread));
            for (symbol, node) in source.nodes(lowered, thread).iter_enumerated() {
                if node.is_some_and(|node| nodes.contains(&node)) {
                    add(symbol, Some(action), Rhs::Step(stopped), None);
                }
            }
        }
        let id = ComponentId::from_index(self.threads.len());
        self.threads.push(ThreadComponent { thread, component: id, steps });
        self.components.push(component);
    }

    /// The system with all components, and who knows which action.
    fn finish(mut self, budget: &Budget) -> Result<TranslatedQuestion, StopReason> {
        let program = self.source.program;
        let mut system = CommunicatingSystem::default();
        for (one, component) in self.threads.iter().zip(std::mem::take(&mut self.components)) {
            let name = program.threads[one.thread].name.clone();
            system.add(name, ComponentLanguage::Pushdown(component));
        }
        let place = |thread: ThreadId| {
            let at = self.participants.iter().position(|&one| one == thread);
            at.map(ComponentId::from_index)
        };
        let mut known_to: IdVec<SharedAction, Vec<ComponentId>> = self
            .actions
            .iter()
            .map(|&action| {
                let receivers = |thread: ThreadId, channel: ChannelId| {
                    let others = self.others(thread, channel, &[Over::Recv]).into_iter();
                    std::iter::once(thread).chain(others).filter_map(place).collect()
                };
                let (first, second) = match action {
                    ProgramAction::Lost(channel, thread)
                    | ProgramAction::Broadcast(channel, thread) => {
                        return receivers(thread, channel);
                    }
                    ProgramAction::Pass(_, sender, receiver) => (sender, Some(receiver)),
                    ProgramAction::Acquire(thread, _)
                    | ProgramAction::Release(thread, _)
                    | ProgramAction::Event(thread, _)
                    | ProgramAction::End(thread)
                    | ProgramAction::Join(thread, _)
                    | ProgramAction::Label(thread) => (thread, None),
                    ProgramAction::Start(starter, started) => (starter, Some(started)),
                    ProgramAction::Race(_) => (self.asked[0], Some(self.asked[1])),
                };
                place(first).into_iter().chain(second.and_then(place)).collect()
            })
            .collect();
        let locks = std::mem::take(&mut self.locks);
        for (lock, users) in locks {
            let language = self.lock(lock, &users);
            let id = system.add(program.locks[lock].name.clone(), language);
            system.components[id].processes = users.len() as u32;
            for (action, &what) in self.actions.iter_enumerated() {
                if matches!(what, ProgramAction::Acquire(_, one) | ProgramAction::Release(_, one)
                    if one == lock)
                {
                    known_to[action].push(id);
                }
            }
        }
        for (name, automaton) in self.orders(&place) {
            let actions: BTreeSet<SharedAction> =
                automaton.rows.iter().flatten().map(|&(action, _)| action).collect();
            let id = system.add(name, ComponentLanguage::Regular(automaton));
            for action in actions {
                known_to[action].push(id);
            }
        }
        let effects: Vec<(SharedAction, EventEffect)> = self
            .actions
            .iter_enumerated()
            .filter_map(|(action, &what)| Some((action, self.effect(what)?)))
            .collect();
        let automaton = self.property.automaton(&effects, budget)?;
        let id = system.add("property", ComponentLanguage::Regular(automaton));
        for (action, _) in effects {
            known_to[action].push(id);
        }
        for known in &known_to {
            system.action(known.clone());
        }
        Ok(TranslatedQuestion { system, threads: self.threads, actions: self.actions })
    }

    /// What an action does to the property, if it sees it.
    fn effect(&self, action: ProgramAction) -> Option<EventEffect> {
        match action {
            ProgramAction::Event(_, effect) => Some(effect),
            ProgramAction::Race(_) | ProgramAction::Label(_) => Some(self.property.end()),
            _ => None,
        }
    }

    /// The language of a lock.
    fn lock(&self, lock: LockId, users: &[ThreadId]) -> ComponentLanguage {
        let reentrant = self.source.program.locks[lock].reentrant;
        // A lock that is never released has no action for that.
        let actions: Vec<[Option<SharedAction>; 2]> = users
            .iter()
            .map(|&user| {
                [ProgramAction::Acquire(user, lock), ProgramAction::Release(user, lock)]
                    .map(|action| self.ids.get(&action).copied())
            })
            .collect();
        if self.source.reentrant == Reentrant::Counted && reentrant {
            let symbol = Symbol::from_index;
            let free = symbol(0);
            let mut component = PushdownComponent::new(users.len() + 1, free);
            for (at, &[acquire, release]) in actions.iter().enumerate() {
                let held = symbol(at + 1);
                if acquire.is_some() {
                    component.rule(free, acquire, Rhs::Push(held, free));
                    component.rule(held, acquire, Rhs::Push(held, held));
                }
                if release.is_some() {
                    component.rule(held, release, Rhs::Pop);
                }
            }
            return ComponentLanguage::Pushdown(component);
        }
        let mut rows = vec![Vec::new()];
        for (at, &[acquire, release]) in actions.iter().enumerate() {
            rows[0].extend(acquire.map(|acquire| (acquire, at as u32 + 1)));
            rows.push(release.map(|release| (release, 0)).into_iter().collect());
        }
        ComponentLanguage::Regular(ComponentAutomaton::all_accepting(rows))
    }

    /// What has to happen before what: ends before joins, and starts in their order, each once.
    fn orders(
        &self,
        place: &dyn Fn(ThreadId) -> Option<ComponentId>,
    ) -> Vec<(String, ComponentAutomaton)> {
        let program = self.source.program;
        let of = |wanted: &dyn Fn(ProgramAction) -> bool| -> Vec<SharedAction> {
            let all = self.actions.iter_enumerated();
            all.filter(|&(_, &what)| wanted(what)).map(|(action, _)| action).collect()
        };
        let mut orders = Vec::new();
        for &thread in &self.joined {
            let ends = of(&|what| what == ProgramAction::End(thread));
            let joins = of(&|what| matches!(what, ProgramAction::Join(_, one) if one == thread));
            let rows = vec![
                ends.iter().map(|&end| (end, 1)).collect(),
                joins.iter().map(|&join| (join, 1)).collect(),
            ];
            let name = format!("the end of {}", program.threads[thread].name);
            orders.push((name, ComponentAutomaton::all_accepting(rows)));
        }
        let starts =
            |thread| of(&|what| matches!(what, ProgramAction::Start(_, one) if one == thread));
        for (thread, known) in program.threads.iter_enumerated() {
            let own = starts(thread);
            if own.is_empty() {
                continue;
            }
            let name = format!("the start of {}", known.name);
            if place(thread).is_none() {
                let rows = vec![own.iter().map(|&start| (start, 1)).collect(), Vec::new()];
                orders.push((name.clone(), ComponentAutomaton::all_accepting(rows)));
            }
            if let Start::ByEdge { after: Some(before) } = known.start {
                let rows = vec![
                    starts(before).iter().map(|&start| (start, 1)).collect(),
                    own.iter().map(|&start| (start, 1)).collect(),
                ];
                orders.push((name, ComponentAutomaton::all_accepting(rows)));
            }
        }
        orders
    }
}

/// The class of the access of a rule, if it is one to this location.
fn access_class(
    rule: &Rule<selvedge_lower::RuleLabel>,
    location: LocationId,
) -> Option<RaceAccess> {
    let volatile = rule.label.volatile;
    match rule.label.event? {
        Event::Observable(Observable::Read(one)) if one == location => {
            Some(RaceAccess { writes: false, volatile })
        }
        Event::Observable(Observable::Write(one)) if one == location => {
            Some(RaceAccess { writes: true, volatile })
        }
        _ => None,
    }
}
