//! # Idea
//! Channels as data. For every thread and every channel that it receives over there are two bits. *Ready*
//! is true while the thread stands where it can receive; the thread itself keeps it, in the steps with
//! which it gets there and goes away. *Due* is true while the thread has to receive: whoever sends sets
//! it for one thread that is ready, a broadcast for all that are, and a post that finds nobody ready for
//! none. The thread clears it when it receives, and takes no other edge before. While anybody is due,
//! nobody sends: that alone looks at who is ready, so whatever else happens meanwhile happens as well
//! behind the meeting.
//!
//! # Source
//! SEMANTICS, "Channels"; paper 003 §2 for the primitives. Locks become data in the same manner.
//!
//! # Requires
//! A valid program with channels.
//!
//! # Invariants
//! 1. Threads, locks, locations and units are those of the given program, and globals begin with its
//!    own. Every thread has its own procedures.
//! 2. A thread that comes back from a call to where it can receive does so in two steps: nobody knows on
//!    the way back where it leads. It counts as back after the second one, which changes only what the
//!    thread itself can see. So no returned value may go to a global there.
//! 3. No edge that sends or receives is inside an atomic section.
//! 4. A state of the new program in which nobody is due is one of the given program; any other one
//!    becomes one when those that are due have received.

use crate::marked::Marked;
use crate::names::Names;
use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, ChannelId, Edge, EdgeId, Expr, Feature, Global, GlobalId, Label, Move, NodeId,
    Operator, Position, Procedure, ProcedureId, Program, Question, Receiver, Sharing, Start,
    StatePattern, Target, ThreadId, Unknown, Valuation, Value, Variable, Witness, WitnessStep,
};
use std::collections::{BTreeMap, BTreeSet};

/// A program whose channels are data.
pub struct ChannelProgram {
    /// The program.
    pub program: Program,
    /// What each edge stands for.
    origins: IdVec<EdgeId, Origin>,
    /// The node that each node is a copy of; `None` where a call comes back in two steps.
    nodes: IdVec<NodeId, Option<NodeId>>,
    /// Whether a thread has to receive over a channel.
    due: BTreeMap<(ChannelId, ThreadId), GlobalId>,
    /// How many globals the given program has.
    globals: usize,
}

/// What an edge stands for.
#[derive(Clone, Copy)]
enum Origin {
    /// This edge.
    Edge(EdgeId),
    /// An edge that sends, posts or broadcasts over this channel.
    Sends(EdgeId, ChannelId),
    /// An edge that receives.
    Receives(EdgeId, ChannelId),
    /// The second step of a return.
    Returns,
}

/// Makes channels data.
///
/// # Errors
/// If somebody sends or receives inside an atomic section, or a value is returned to a global where a
/// thread receives next.
pub fn channels_to_data(source: &Program) -> Result<ChannelProgram, Unknown> {
    if source.features().contains(Feature::AtomicSections) && meets_in_atomic(source) {
        let why = "a thread sends or receives inside an atomic section";
        return Err(Unknown::Unsupported(why.to_owned()));
    }
    let sharing = Sharing::new(source);
    let mut build = Build::new(source);
    build.declare(&sharing);
    build.number(&sharing);
    for thread in source.threads.ids() {
        for &procedure in sharing.procedures(thread) {
            build.procedure(thread, procedure)?;
        }
    }
    Ok(ChannelProgram {
        program: build.out,
        origins: build.origins,
        nodes: build.nodes,
        due: build.due,
        globals: source.globals.len(),
    })
}

/// Whether an edge that sends or receives can be inside an atomic section.
fn meets_in_atomic(program: &Program) -> bool {
    const DEEPEST: u32 = 3;
    let mut seen: BTreeSet<(NodeId, u32)> = BTreeSet::new();
    let mut pending: Vec<(NodeId, u32)> =
        program.threads.iter().map(|one| (program.procedures[one.main].entry, 0)).collect();
    let mut out = IdVec::filled(Vec::new(), program.nodes.len());
    for edge in &program.edges {
        out[edge.source].push(edge);
    }
    while let Some((node, depth)) = pending.pop() {
        if !seen.insert((node, depth)) {
            continue;
        }
        for edge in &out[node] {
            match edge.action {
                Action::BeginAtomic => pending.push((edge.target, (depth + 1).min(DEEPEST))),
                Action::EndAtomic => {
                    // More sections may be open than are counted.
                    pending.extend((depth == DEEPEST).then_some((edge.target, depth)));
                    pending.extend(depth.checked_sub(1).map(|depth| (edge.target, depth)));
                }
                Action::Call(callee) => {
                    pending.push((program.procedures[callee].entry, depth));
                    pending.push((edge.target, depth));
                }
                action if action.channel().is_some() && depth > 0 => return true,
                _ => pending.push((edge.target, depth)),
            }
        }
    }
    false
}

/// A thread and a channel.
type Key = (ChannelId, ThreadId);

/// When a step is possible, and what it sets.
type Way = (Option<Expr>, Vec<(Variable, Expr)>);

struct Build<'p> {
    source: &'p Program,
    out: Program,
    origins: IdVec<EdgeId, Origin>,
    nodes: IdVec<NodeId, Option<NodeId>>,
    /// The channels that a thread can receive over at each node.
    receives: IdVec<NodeId, BTreeSet<ChannelId>>,
    ready: BTreeMap<Key, GlobalId>,
    due: BTreeMap<Key, GlobalId>,
    /// The procedure that each thread runs in place of one.
    numbers: BTreeMap<(ThreadId, ProcedureId), ProcedureId>,
    /// The nodes and edges of each procedure.
    bodies: IdVec<ProcedureId, (Vec<NodeId>, Vec<EdgeId>)>,
}

impl<'p> Build<'p> {
    fn new(source: &'p Program) -> Self {
        let mut receives = IdVec::filled(BTreeSet::new(), source.nodes.len());
        let mut bodies = IdVec::filled((Vec::new(), Vec::new()), source.procedures.len());
        for (node, &procedure) in source.nodes.iter_enumerated() {
            bodies[procedure].0.push(node);
        }
        for (id, edge) in source.edges.iter_enumerated() {
            bodies[source.nodes[edge.source]].1.push(id);
            if let Action::Recv(channel) = edge.action {
                receives[edge.source].insert(channel);
            }
        }
        let out = Program {
            channels: IdVec::new(),
            procedures: IdVec::new(),
            nodes: IdVec::new(),
            edges: IdVec::new(),
            labels: Vec::new(),
            ..source.clone()
        };
        Self {
            source,
            out,
            origins: IdVec::new(),
            nodes: IdVec::new(),
            receives,
            ready: BTreeMap::new(),
            due: BTreeMap::new(),
            numbers: BTreeMap::new(),
            bodies,
        }
    }

    /// The two bits of every thread and every channel that it receives over.
    fn declare(&mut self, sharing: &Sharing) {
        let source = self.source;
        let locals = source.procedures.iter().flat_map(|procedure| &procedure.frame.locals);
        let globals = source.globals.iter().map(|global| global.name.as_str());
        let mut names = Names::avoiding(locals.map(|local| local.name.as_str()).chain(globals));
        let mut keys: BTreeSet<Key> = BTreeSet::new();
        for edge in &source.edges {
            if let Action::Recv(channel) = edge.action {
                let threads = sharing.threads_of(source, edge).iter();
                keys.extend(threads.map(|&thread| (channel, thread)));
            }
        }
        for key @ (channel, thread) in keys {
            let own = &source.threads[thread];
            let entry = source.procedures[own.main].entry;
            let at_first = own.start == Start::AtFirst && self.receives[entry].contains(&channel);
            let mut flag = |what: &str, value: bool| {
                let name = format!("{}_{}_{what}", source.channels[channel].name, own.name);
                let global = Global::flag(names.fresh(&name), Place::NONE, Some(value));
                self.out.globals.push(global)
            };
            self.ready.insert(key, flag("ready", at_first));
            self.due.insert(key, flag("due", false));
        }
    }

    /// Numbers the procedures of the new program: thread by thread.
    fn number(&mut self, sharing: &Sharing) {
        let mut next = 0;
        for thread in self.source.threads.ids() {
            for &procedure in sharing.procedures(thread) {
                self.numbers.insert((thread, procedure), ProcedureId::from_index(next));
                next += 1;
            }
            let main = self.source.threads[thread].main;
            self.out.threads[thread].main = self.numbers[&(thread, main)];
        }
    }

    fn procedure(&mut self, thread: ThreadId, old: ProcedureId) -> Result<(), Unknown> {
        let source = self.source;
        let given = &source.procedures[old];
        let id = self.numbers[&(thread, old)];
        let (nodes, edges) = self.bodies[old].clone();
        let copies: BTreeMap<NodeId, NodeId> =
            nodes.iter().map(|&node| (node, self.node(id, Some(node)))).collect();
        for label in source.labels.iter().filter(|label| copies.contains_key(&label.node)) {
            let node = copies[&label.node];
            self.out.labels.push(Label { node, ..label.clone() });
        }
        let mut name = given.name.clone();
        let taken = |out: &Program, name: &str| {
            out.procedures.iter().any(|one| one.owner == Some(thread) && one.name == name)
        };
        while taken(&self.out, &name) {
            name.push('\'');
        }
        let (entry, exit) = (copies[&given.entry], copies[&given.exit]);
        let owner = Some(thread);
        self.out.procedures.push(Procedure { name, owner, entry, exit, ..given.clone() });
        for edge in edges {
            self.edge(thread, id, &copies, edge)?;
        }
        Ok(())
    }

    fn node(&mut self, procedure: ProcedureId, of: Option<NodeId>) -> NodeId {
        self.nodes.push(of);
        self.out.nodes.push(procedure)
    }

    fn edge(
        &mut self,
        thread: ThreadId,
        procedure: ProcedureId,
        copies: &BTreeMap<NodeId, NodeId>,
        id: EdgeId,
    ) -> Result<(), Unknown> {
        let source = self.source;
        let given = &source.edges[id];
        let edge =
            Edge { source: copies[&given.source], target: copies[&given.target], ..given.clone() };
        let before = self.receives[given.source].clone();
        // Where the thread can receive next, as far as the edge tells.
        let after = match given.action {
            Action::Call(callee) => self.receives[source.procedures[callee].entry].clone(),
            Action::Return(_) => BTreeSet::new(),
            _ => self.receives[given.target].clone(),
        };
        let mut moves: Vec<(Variable, Expr)> = Vec::new();
        for (channels, others, ready) in [(&before, &after, false), (&after, &before, true)] {
            for &channel in channels.difference(others) {
                moves.push(set(self.ready[&(channel, thread)], Expr::Constant(truth(ready))));
            }
        }
        // A thread that is due receives and does nothing else.
        let own_due = before.iter().map(|&channel| current(self.due[&(channel, thread)]).not());
        let waits = own_due.reduce(|all, one| all.join(Operator::And, one));
        match given.action {
            Action::Recv(channel) => {
                let due = self.due[&(channel, thread)];
                moves.push(set(due, Expr::FALSE));
                self.push(&edge, Some(current(due)), moves, Origin::Receives(id, channel));
            }
            Action::Send(channel) | Action::Post(channel) | Action::Broadcast(channel) => {
                for (guard, marks) in self.ways(thread, given.action, channel) {
                    let moves = [moves.clone(), marks].concat();
                    let guard = and(waits.clone(), guard);
                    self.push(&edge, guard, moves, Origin::Sends(id, channel));
                }
            }
            Action::Call(callee) => {
                let edge = Edge { action: self.call(thread, callee), ..edge };
                let back = self.receives[given.target].clone();
                if back.is_empty() {
                    self.push(&edge, waits, moves, Origin::Edge(id));
                } else {
                    self.check_results(given, callee)?;
                    let place = self.source.procedures[callee].end;
                    let between = self.node(procedure, None);
                    let target = edge.target;
                    let call = Edge { target: between, ..edge };
                    self.push(&call, waits, moves, Origin::Edge(id));
                    let flags = back.iter().map(|&channel| self.ready[&(channel, thread)]);
                    let flags = flags.map(|flag| set(flag, Expr::TRUE)).collect();
                    let step = Edge {
                        source: between,
                        target,
                        action: Action::Skip,
                        update: None,
                        passing: None,
                        volatile: false,
                        place,
                    };
                    self.push(&step, None, flags, Origin::Returns);
                }
            }
            Action::Start(started) => {
                let entry = source.procedures[source.threads[started].main].entry;
                let flags = self.receives[entry].iter().map(|&one| self.ready[&(one, started)]);
                moves.extend(flags.map(|flag| set(flag, Expr::TRUE)));
                self.push(&edge, waits, moves, Origin::Edge(id));
            }
            _ => self.push(&edge, waits, moves, Origin::Edge(id)),
        }
        Ok(())
    }

    fn call(&self, thread: ThreadId, callee: ProcedureId) -> Action {
        Action::Call(self.numbers[&(thread, callee)])
    }

    /// What a return to where a thread can receive does must not be seen by others.
    fn check_results(&self, call: &Edge, callee: ProcedureId) -> Result<(), Unknown> {
        let global = |variable: &Variable| matches!(variable, Variable::Global(_));
        let passing = call.passing.map(|id| &self.source.passings[id]);
        let mut results = passing.into_iter().flat_map(|passing| passing.results.iter().flatten());
        let returns = self.bodies[callee].1.iter().map(|&id| &self.source.edges[id]);
        let mut updates = returns
            .filter(|edge| matches!(edge.action, Action::Return(_)))
            .filter_map(|edge| edge.update.map(|id| &self.source.updates[id]));
        let seen = results.any(global)
            || updates.any(|one| one.assignments.iter().any(|(target, _)| global(target)));
        if seen {
            let why = "a value is returned to a global where a thread receives next";
            return Err(Unknown::Unsupported(why.to_owned()));
        }
        Ok(())
    }

    /// The ways to send: when each is possible, and who is due then.
    fn ways(&self, thread: ThreadId, action: Action, channel: ChannelId) -> Vec<Way> {
        let others =
            self.ready.iter().filter(|((over, other), _)| *over == channel && *other != thread);
        let others: Vec<(GlobalId, GlobalId)> =
            others.map(|(key, &ready)| (ready, self.due[key])).collect();
        let free = self.due.values().map(|&due| current(due).not());
        let free = free.reduce(|all, one| all.join(Operator::And, one));
        let to_one = || {
            let one = |&(ready, due): &(GlobalId, GlobalId)| {
                (and(free.clone(), Some(current(ready))), vec![set(due, Expr::TRUE)])
            };
            others.iter().map(one)
        };
        match action {
            // The edge stays, so that whatever stands behind it stays in its place.
            Action::Send(_) if others.is_empty() => vec![(Some(Expr::FALSE), Vec::new())],
            Action::Send(_) => to_one().collect(),
            Action::Post(_) => {
                let nobody = others.iter().map(|&(ready, _)| current(ready).not());
                let nobody = nobody.reduce(|all, one| all.join(Operator::And, one));
                // Who is due is still said to be ready.
                let lost = nobody.and_then(|nobody| and(free.clone(), Some(nobody)));
                to_one().chain([(lost, Vec::new())]).collect()
            }
            _ if others.is_empty() => vec![(None, Vec::new())],
            _ => {
                let all = others.iter().map(|&(ready, due)| set(due, current(ready)));
                vec![(free, all.collect())]
            }
        }
    }

    fn push(
        &mut self,
        edge: &Edge,
        guard: Option<Expr>,
        moves: Vec<(Variable, Expr)>,
        origin: Origin,
    ) {
        let mut update = edge.update;
        if guard.is_some() || !moves.is_empty() {
            let given = edge.update.map(|id| self.source.updates[id].clone());
            let mut new = given.unwrap_or_default();
            new.guard = and(guard, new.guard);
            new.assignments.extend(moves);
            update = Some(self.out.updates.push(new));
        }
        let action = match origin {
            Origin::Sends(..) | Origin::Receives(..) => Action::Skip,
            Origin::Edge(_) | Origin::Returns => edge.action,
        };
        self.origins.push(origin);
        self.out.edges.push(Edge { action, update, ..edge.clone() });
    }
}

impl ChannelProgram {
    /// What is to be reached in the new program.
    pub fn target(&self, target: &Target) -> Target {
        let copies = |given: &[NodeId]| -> Vec<NodeId> {
            let given: BTreeSet<Option<NodeId>> = given.iter().copied().map(Some).collect();
            let all = self.nodes.iter_enumerated();
            all.filter(|(_, node)| given.contains(node)).map(|(copy, _)| copy).collect()
        };
        match target {
            Target::Assertion => Target::Assertion,
            Target::Label(nodes) => Target::Label(copies(nodes)),
            Target::State(pattern) => {
                let mut globals = pattern.globals.clone();
                globals.extend(self.due.values().map(|&due| (due, Value::from(false))));
                let position = |position: &Position| match position {
                    Position::At(nodes) => Position::At(copies(nodes)),
                    other => other.clone(),
                };
                let threads = pattern.threads.iter().map(position).collect();
                let locks = pattern.locks.clone();
                Target::State(StatePattern { globals, locks, threads })
            }
        }
    }

    /// The question about the new program; `None` where it cannot be asked.
    pub fn question(&self, question: &Question) -> Option<Question> {
        match question {
            Question::Reach(target) => Some(Question::Reach(self.target(target))),
            // Whoever is due can move, so nobody is where no thread can.
            Question::Pattern(_) | Question::Automaton(_) | Question::Race(_) | Question::Stuck => {
                Some(question.clone())
            }
            Question::Deadlock(_) | Question::States | Question::Temporal(_) => None,
        }
    }

    /// The new program with a question about events as data, for the program that was given. Whoever is
    /// due is not about to access anything.
    pub fn marked(&self, given: &Program, question: &Question) -> Option<Marked> {
        let mut marked = Marked::new(&self.program, question)?;
        let Question::Race(race) = question else { return Some(marked) };
        let due = self.due.iter().filter(|((_, thread), _)| race.threads.contains(thread));
        let nobody = due.map(|(_, &due)| current(due).not());
        let nobody = nobody.reduce(|all, one| all.join(Operator::And, one));
        let goals: BTreeSet<NodeId> = marked.goals.iter().copied().collect();
        let program = &mut marked.program;
        for edge in program.edges.iter_mut().filter(|edge| goals.contains(&edge.target)) {
            let given = edge.update.map(|id| program.updates[id].clone());
            let mut update = given.unwrap_or_default();
            update.guard = and(update.guard, nobody.clone());
            edge.update = Some(program.updates.push(update));
        }
        // What else the accesses depend on, they depend on in the given program.
        marked.exact = Marked::new(given, question).is_none_or(|marked| marked.exact);
        Some(marked)
    }

    /// The run of the given program that a run of this one stands for. Those that are due at the end
    /// receive as well.
    pub fn original(&self, witness: &Witness) -> Witness {
        let program = &self.program;
        let own = |all: &Valuation| Valuation(all.0[..self.globals.min(all.0.len())].to_vec());
        let entry = |thread: &selvedge_program::Thread| program.procedures[thread.main].entry;
        let mut stacks: IdVec<ThreadId, Vec<NodeId>> =
            program.threads.iter().map(|thread| vec![entry(thread)]).collect();
        // The first step of a return that is not over.
        let mut returning: IdVec<ThreadId, Option<Move>> =
            IdVec::filled(None, program.threads.len());
        let mut steps: Vec<WitnessStep> = Vec::with_capacity(witness.steps.len());
        // Who is due, with the channel and the step in which it is received.
        let mut due: BTreeMap<ThreadId, (ChannelId, usize)> = BTreeMap::new();
        for (index, step) in witness.steps.iter().enumerate() {
            let fails = witness.fails && index + 1 == witness.steps.len();
            let thread = step.thread;
            let stack = &mut stacks[thread];
            let edge = step.step.edge().map(|id| &program.edges[id]);
            match edge.map(|edge| (edge.action, edge.target)) {
                None | Some((Action::Return(_), _)) => _ = stack.pop(),
                Some((action, target)) => {
                    stack.pop();
                    stack.push(target);
                    if let Action::Call(callee) = action {
                        stack.push(program.procedures[callee].entry);
                    }
                }
            }
            let origin = step.step.edge().map(|id| self.origins[id]);
            let taken = match (origin, step.step) {
                (Some(Origin::Receives(edge, _)), _) => {
                    if let Some((_, at)) = due.remove(&thread) {
                        steps[at].receivers.push(Receiver { thread, edge });
                    }
                    continue;
                }
                (Some(Origin::Returns), _) => returning[thread].take().unwrap_or(Move::Return),
                (Some(Origin::Edge(edge)), Move::With(_, other)) => Move::With(edge, other),
                (Some(Origin::Edge(edge) | Origin::Sends(edge, _)), _) => Move::Edge(edge),
                (None, step) => step,
            };
            let on_the_way_back =
                stacks[thread].last().is_some_and(|&top| self.nodes[top].is_none());
            // A return that fails is not on the way back, and no second step comes.
            if on_the_way_back && !fails {
                returning[thread] = Some(taken);
                continue;
            }
            if let Some(Origin::Sends(_, channel)) = origin {
                let set = self.due.iter().filter(|((over, other), flag)| {
                    *over == channel && *other != thread && step.globals.is_true(**flag)
                });
                due.extend(set.map(|(&(_, other), _)| (other, (channel, steps.len()))));
            }
            steps.push(WitnessStep { step: taken, globals: own(&step.globals), ..step.clone() });
        }
        for (thread, (channel, at)) in due {
            let top = stacks[thread].last();
            let edge =
                program.edges.iter_enumerated().find_map(|(id, edge)| match self.origins[id] {
                    Origin::Receives(given, over)
                        if Some(&edge.source) == top && over == channel =>
                    {
                        Some(given)
                    }
                    _ => None,
                });
            steps[at].receivers.extend(edge.map(|edge| Receiver { thread, edge }));
        }
        for step in &mut steps {
            step.receivers.sort_unstable();
        }
        Witness {
            globals: own(&witness.globals),
            locals: witness.locals.clone(),
            steps,
            fails: witness.fails,
            failure: witness.failure,
            ..Witness::default()
        }
    }
}

fn truth(value: bool) -> selvedge_program::Literal {
    selvedge_program::Literal::Bool(value)
}

fn current(global: GlobalId) -> Expr {
    Expr::Current(Variable::Global(global))
}

fn set(global: GlobalId, value: Expr) -> (Variable, Expr) {
    (Variable::Global(global), value)
}

fn and(left: Option<Expr>, right: Option<Expr>) -> Option<Expr> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.join(Operator::And, right)),
        (left, right) => left.or(right),
    }
}
