//! # Idea
//! Random programs with channels: all four statements, locks, units, branches and loops, 2 to 4 threads,
//! with or without recursion; and what such a program can do, once more, by the words of the rules and
//! without any thought of cost.
//!
//! # Source
//! The rules for channels: a thread is ready if its next step can be to receive. `send` happens together
//! with one other ready thread and waits while there is none; `post` with one if there are some, else
//! alone; `broadcast` with all of them.

use crate::Rng;
use selvedge_base::Id;
use selvedge_program::text::parse;
use selvedge_program::{Action, LockId, NodeId, Program, Start, ThreadId};
use std::collections::BTreeSet;

/// What random programs with channels are made of.
#[derive(Clone, Copy, Debug)]
pub struct ChannelShape {
    /// The most threads, at least two.
    pub threads: usize,
    /// The most statements in a row.
    pub statements: usize,
    /// Whether a procedure may call itself.
    pub recursion: bool,
    /// Whether a thread may wait to be started.
    pub starts: bool,
}

impl ChannelShape {
    /// Small enough for all interleavings of two or three threads.
    pub const SMALL: Self = Self { threads: 3, statements: 4, recursion: false, starts: true };
    /// Up to four threads with little to do.
    pub const WIDE: Self = Self { threads: 4, statements: 3, recursion: false, starts: false };
    /// Two threads, of which each may call itself.
    pub const DEEP: Self = Self { threads: 2, statements: 3, recursion: true, starts: false };
}

/// A random program with channels.
///
/// # Panics
/// Never, unless the text form is broken.
pub fn random_channel_program(rng: &mut Rng, shape: &ChannelShape) -> Program {
    let threads = rng.between(2, shape.threads);
    let started = (shape.starts && rng.percent(20)).then(|| threads - 1);
    let mut lines = vec!["program channel a channel b lock l lock m set s { x, y }".to_owned()];
    for thread in 0..threads {
        let waits = if started == Some(thread) { "waits " } else { "" };
        lines.push(format!("thread T{thread} {waits}main main {{"));
        let starts = started.filter(|_| thread == 0);
        for (name, callee) in [("main", Some("f")), ("f", shape.recursion.then_some("f"))] {
            let mut body = Body { rng, edges: Vec::new(), nodes: 2, callee };
            let first = match starts.filter(|_| name == "main") {
                Some(started) => {
                    let next = body.node();
                    body.edge(0, next, &format!("start T{started}"));
                    next
                }
                None => 0,
            };
            let most = if name == "main" { shape.statements } else { 2 };
            body.block(first, 1, most, 2);
            lines.push(format!("procedure {name} nodes {} entry 0 exit 1 {{", body.nodes));
            lines.append(&mut body.edges);
            lines.push("}".to_owned());
        }
        lines.push("}".to_owned());
    }
    let text = lines.join("\n");
    let (program, problems) = parse(&text);
    program.unwrap_or_else(|| panic!("{problems:?}\n{text}"))
}

struct Body<'r> {
    rng: &'r mut Rng,
    edges: Vec<String>,
    nodes: usize,
    callee: Option<&'static str>,
}

impl Body<'_> {
    fn node(&mut self) -> usize {
        self.nodes += 1;
        self.nodes - 1
    }

    fn edge(&mut self, from: usize, to: usize, action: &str) {
        self.edges.push(format!("{from} -> {to} {action}"));
    }

    fn block(&mut self, from: usize, to: usize, most: usize, depth: usize) {
        let count = self.rng.between(1, most);
        let mut at = from;
        for left in (0..count).rev() {
            let next = if left == 0 { to } else { self.node() };
            self.statement(at, next, depth);
            at = next;
        }
    }

    fn statement(&mut self, from: usize, to: usize, depth: usize) {
        let kind = self.rng.weighted(&[40, 32, 6, 8, 8, 3, 3]);
        match kind {
            0 => {
                let word = *self.rng.pick(&["send", "post", "broadcast", "recv", "recv"]);
                let channel = if self.rng.percent(75) { "a" } else { "b" };
                self.edge(from, to, &format!("{word} {channel}"));
            }
            1 => {
                let word = *self.rng.pick(&["read", "write", "write"]);
                let location = *self.rng.pick(&["x", "x", "x", "y"]);
                self.edge(from, to, &format!("{word} {location}"));
            }
            2 | 3 if depth > 0 => {
                let (begin, end) = if kind == 2 {
                    ("begin".to_owned(), "end".to_owned())
                } else {
                    let lock = *self.rng.pick(&["l", "m"]);
                    (format!("acquire {lock}"), format!("release {lock}"))
                };
                let (inside, last) = (self.node(), self.node());
                self.edge(from, inside, &begin);
                self.block(inside, last, 2, depth - 1);
                self.edge(last, to, &end);
            }
            4 if depth > 0 => {
                self.statement(from, to, depth - 1);
                self.statement(from, to, depth - 1);
            }
            5 if depth > 0 => {
                // A loop has its own head, which other ways do not lead through.
                let (head, inside) = (self.node(), self.node());
                self.edge(from, head, "skip");
                self.edge(head, inside, "skip");
                self.statement(inside, head, depth - 1);
                self.edge(head, to, "skip");
            }
            _ => match self.callee {
                Some(callee) if self.rng.percent(60) => {
                    self.edge(from, to, &format!("call {callee}"));
                }
                _ => self.edge(from, to, "skip"),
            },
        }
    }
}

/// Where the threads are: whether each was started, and its stack; who holds which lock, and how often.
pub type NaiveStanding = (Vec<(bool, Vec<usize>)>, Vec<Option<(usize, u32)>>);

/// All that a program without data can come to, by the words of the rules; `None` if that is more than
/// `most`. Calls deeper than `depth` are left out.
pub fn naive_standings(
    program: &Program,
    depth: usize,
    most: usize,
) -> Option<BTreeSet<NaiveStanding>> {
    let threads = program.threads.iter().map(|thread| {
        let entry = program.procedures[thread.main].entry;
        (thread.start == Start::AtFirst, vec![entry.index()])
    });
    let first: NaiveStanding = (threads.collect(), vec![None; program.locks.len()]);
    let mut seen = BTreeSet::from([first.clone()]);
    let mut pending = vec![first];
    while let Some(standing) = pending.pop() {
        for next in naive_steps(program, &standing, depth) {
            if seen.insert(next.clone()) {
                pending.push(next);
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(seen)
}

/// What one step leads to.
fn naive_steps(program: &Program, standing: &NaiveStanding, depth: usize) -> Vec<NaiveStanding> {
    let (threads, locks) = standing;
    let mut all = Vec::new();
    // The node of a thread that can move.
    let top = |thread: usize| {
        let (started, stack) = &threads[thread];
        stack.last().copied().filter(|_| *started)
    };
    let goes = |standing: &mut NaiveStanding, thread: usize, to: NodeId| {
        *standing.0[thread].1.last_mut().expect("it moves") = to.index();
    };
    for thread in 0..threads.len() {
        let Some(at) = top(thread) else { continue };
        let procedure = program.nodes[NodeId::from_index(at)];
        if program.procedures[procedure].exit.index() == at {
            let mut next = standing.clone();
            next.0[thread].1.pop();
            all.push(next);
            continue;
        }
        for edge in program.edges.iter().filter(|edge| edge.source.index() == at) {
            let mut next = standing.clone();
            goes(&mut next, thread, edge.target);
            let holds = |lock: LockId| locks[lock.index()];
            match edge.action {
                Action::Send(a) | Action::Post(a) | Action::Broadcast(a) => {
                    // Every other thread with the places that it can receive its way to.
                    let ready: Vec<(usize, Vec<NodeId>)> = (0..threads.len())
                        .filter(|&other| other != thread)
                        .filter_map(|other| {
                            let at = top(other)?;
                            let receives = program.edges.iter().filter(|edge| {
                                edge.source.index() == at && edge.action == Action::Recv(a)
                            });
                            let to: Vec<NodeId> = receives.map(|edge| edge.target).collect();
                            (!to.is_empty()).then_some((other, to))
                        })
                        .collect();
                    let mut outcomes = Vec::new();
                    if let Action::Broadcast(_) = edge.action {
                        outcomes.push(next);
                        for (other, to) in &ready {
                            let mut longer = Vec::new();
                            for outcome in &outcomes {
                                for &to in to {
                                    let mut with = outcome.clone();
                                    goes(&mut with, *other, to);
                                    longer.push(with);
                                }
                            }
                            outcomes = longer;
                        }
                    } else {
                        for (other, to) in &ready {
                            for &to in to {
                                let mut with = next.clone();
                                goes(&mut with, *other, to);
                                outcomes.push(with);
                            }
                        }
                        if ready.is_empty() && matches!(edge.action, Action::Post(_)) {
                            outcomes.push(next);
                        }
                    }
                    all.extend(outcomes);
                    continue;
                }
                Action::Recv(_) => continue,
                Action::Acquire(lock) => match holds(lock) {
                    Some((owner, _)) if owner != thread => continue,
                    held => {
                        let times = held.map_or(0, |(_, times)| times);
                        next.1[lock.index()] = Some((thread, times + 1));
                    }
                },
                Action::Release(lock) => match holds(lock) {
                    Some((owner, times)) if owner == thread => {
                        next.1[lock.index()] = (times > 1).then(|| (thread, times - 1));
                    }
                    _ => continue,
                },
                Action::Call(callee) => {
                    if threads[thread].1.len() > depth {
                        continue;
                    }
                    next.0[thread].1.push(program.procedures[callee].entry.index());
                }
                Action::Start(started) => {
                    let started = ThreadId::index(started);
                    if threads[started].0 {
                        continue;
                    }
                    next.0[started].0 = true;
                }
                _ => {}
            }
            all.push(next);
        }
    }
    all
}
