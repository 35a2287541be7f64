//! # Idea
//! Whether some run of a program satisfies a formula: a search for a loop in the graph of its states,
//! each with what is promised of the next moment, one bit for each operator that looks ahead. A promise
//! is kept if it is what the next moment says of itself; an `U` that is promised again and again must
//! come true.
//!
//! # Source
//! The book: *temporal*, `Formulas`, `Runs, and fairness`; *Semantics*, `Moments and formulas`.
//!
//! # Invariants
//! 1. A run that ends repeats its last moment, in which no step is taken. A run that fails is none.

use super::formula::{Asked, Atom, Formula};
use super::machine::{Event, Machine, Status};
use super::search::Facts;
use super::syntax::ChannelStatement;
use std::collections::HashMap;

/// How many moments with promises are looked at.
const MOST: usize = 400_000;

/// A formula in which few operators are left; the numbers are those of parts that come before.
enum Part {
    Atom(usize),
    Not(usize),
    And(usize, usize),
    /// At the next moment; its bit.
    Next(usize, usize),
    /// Until; its bit, which says that it is true at the next moment.
    Until(usize, usize, usize),
    True,
}

#[derive(Default)]
struct Parts {
    all: Vec<Part>,
    atoms: Vec<Atom>,
    bits: usize,
}

impl Parts {
    fn put(&mut self, part: Part) -> usize {
        self.all.push(part);
        self.all.len() - 1
    }

    fn not(&mut self, f: usize) -> usize {
        self.put(Part::Not(f))
    }

    fn until(&mut self, f: usize, g: usize) -> usize {
        self.bits += 1;
        self.put(Part::Until(f, g, self.bits - 1))
    }

    fn next(&mut self, f: usize) -> usize {
        self.bits += 1;
        self.put(Part::Next(f, self.bits - 1))
    }

    /// `!(!f && !g)`.
    fn or(&mut self, f: usize, g: usize) -> usize {
        let (f, g) = (self.not(f), self.not(g));
        let both = self.put(Part::And(f, g));
        self.not(both)
    }

    fn atom(&mut self, atom: &Atom) -> usize {
        let known = self.atoms.iter().position(|one| one == atom);
        let at = known.unwrap_or_else(|| {
            self.atoms.push(atom.clone());
            self.atoms.len() - 1
        });
        self.put(Part::Atom(at))
    }

    fn read(&mut self, formula: &Formula) -> usize {
        match formula {
            Formula::Atom(atom) => self.atom(atom),
            Formula::Not(f) => {
                let f = self.read(f);
                self.not(f)
            }
            Formula::And(f, g) => {
                let (f, g) = (self.read(f), self.read(g));
                self.put(Part::And(f, g))
            }
            Formula::Or(f, g) => {
                let (f, g) = (self.read(f), self.read(g));
                self.or(f, g)
            }
            Formula::Implies(f, g) => {
                let (f, g) = (self.read(f), self.read(g));
                let f = self.not(f);
                self.or(f, g)
            }
            Formula::Next(f) => {
                let f = self.read(f);
                self.next(f)
            }
            Formula::NextBy(atom, f) => {
                let (atom, f) = (self.atom(atom), self.read(f));
                let f = self.next(f);
                self.put(Part::And(atom, f))
            }
            Formula::Finally(f) => {
                let (all, f) = (self.put(Part::True), self.read(f));
                self.until(all, f)
            }
            // `!F !f`.
            Formula::Globally(f) => {
                let (all, f) = (self.put(Part::True), self.read(f));
                let f = self.not(f);
                let f = self.until(all, f);
                self.not(f)
            }
            Formula::Until(f, g) => {
                let (f, g) = (self.read(f), self.read(g));
                self.until(f, g)
            }
            // "f until g, or for ever": not so if `!g` until neither is true.
            Formula::Weak(f, g) => {
                let (f, g) = (self.read(f), self.read(g));
                let (f, g) = (self.not(f), self.not(g));
                let neither = self.put(Part::And(f, g));
                let fails = self.until(g, neither);
                self.not(fails)
            }
            // "g up to and including the moment at which f is true, or for ever."
            Formula::Release(f, g) => {
                let (f, g) = (self.read(f), self.read(g));
                let (f, g) = (self.not(f), self.not(g));
                let fails = self.until(f, g);
                self.not(fails)
            }
        }
    }

    /// What is true at a moment with these atoms and these promises.
    fn truths(&self, atoms: u64, bits: usize) -> u64 {
        let mut truths = 0;
        for (at, part) in self.all.iter().enumerate() {
            let is = |one: usize| truths >> one & 1 == 1;
            let promised = |bit: usize| bits >> bit & 1 == 1;
            let truth = match *part {
                Part::True => true,
                Part::Atom(atom) => atoms >> atom & 1 == 1,
                Part::Not(f) => !is(f),
                Part::And(f, g) => is(f) && is(g),
                Part::Next(_, bit) => promised(bit),
                Part::Until(f, g, bit) => is(g) || is(f) && promised(bit),
            };
            truths |= u64::from(truth) << at;
        }
        truths
    }

    /// What a moment with these truths makes of the promises of the moment before.
    fn kept(&self, truths: u64) -> usize {
        let mut kept = 0;
        for (at, part) in self.all.iter().enumerate() {
            let (of, bit) = match *part {
                Part::Next(f, bit) => (f, bit),
                Part::Until(.., bit) => (at, bit),
                _ => continue,
            };
            kept |= usize::from(truths >> of & 1 == 1) << bit;
        }
        kept
    }

    /// Which of the `U` are not put off at a moment, as bits.
    fn fulfilled(&self, truths: u64, bits: usize) -> u64 {
        let mut marks = 0;
        let mut number = 0;
        for (at, part) in self.all.iter().enumerate() {
            if let Part::Until(.., bit) = *part {
                let put_off = truths >> at & 1 == 1 && bits >> bit & 1 == 1;
                // What is promised again and is true now is fulfilled where its second part is.
                let Part::Until(_, g, _) = *part else { unreachable!() };
                let fulfilled = !put_off || truths >> g & 1 == 1;
                marks |= u64::from(fulfilled) << number;
                number += 1;
            }
        }
        marks
    }

    fn untils(&self) -> usize {
        self.all.iter().filter(|part| matches!(part, Part::Until(..))).count()
    }
}

/// A step between two states, or the repetition of the last one.
struct Arrow {
    to: usize,
    atoms: u64,
    /// Which of the fair threads move or have ended.
    fair: u64,
}

/// Whether a run satisfies what decides a question; nothing if there is too much to look at.
pub fn some_run(machine: &Machine<'_>, facts: &Facts, asked: &Asked) -> Option<bool> {
    let mut parts = Parts::default();
    let root = parts.read(&asked.sought());
    let width = 1_usize << parts.bits;
    let steps: usize = facts.edges.iter().map(|edges| edges.len().max(1)).sum();
    if steps * width > MOST || parts.all.len() > 63 {
        return None;
    }
    let arrows = arrows(machine, facts, &parts, asked);
    let mut graph = Graph {
        marks: (1 << (parts.untils() + asked.fair.len())) - 1,
        next: vec![Vec::new(); facts.states.len() * width],
    };
    let mut first = Vec::new();
    for (state, arrows) in arrows.iter().enumerate() {
        for arrow in arrows {
            for bits in 0..width {
                let truths = parts.truths(arrow.atoms, bits);
                let marks = parts.fulfilled(truths, bits) | arrow.fair << parts.untils();
                let target = arrow.to * width + bits;
                graph.next[state * width + parts.kept(truths)].push((target, marks));
                if state < facts.initial && truths >> root & 1 == 1 {
                    first.push(target);
                }
            }
        }
    }
    Some(graph.has_loop(&first))
}

fn arrows(machine: &Machine<'_>, facts: &Facts, parts: &Parts, asked: &Asked) -> Vec<Vec<Arrow>> {
    let mut all = Vec::new();
    for state in 0..facts.states.len() {
        let ended = |thread: usize| facts.states[state].threads[thread].status == Status::Ended;
        let here = atoms_of_state(machine, facts, state, &parts.atoms);
        let mut arrows = Vec::new();
        for edge in &facts.edges[state] {
            let moves = |thread: usize| {
                edge.thread == thread || edge.events.contains(&Event::Received(thread))
            };
            let mut atoms = here;
            for (at, atom) in parts.atoms.iter().enumerate() {
                if let Atom::Takes(thread, event) = atom
                    && moves(*thread)
                    && event.is_none_or(|event| does(*thread, edge.thread, &edge.events, event))
                {
                    atoms |= 1 << at;
                }
            }
            let mut fair = 0;
            for (at, &thread) in asked.fair.iter().enumerate() {
                fair |= u64::from(moves(thread) || ended(thread)) << at;
            }
            arrows.push(Arrow { to: edge.to, atoms, fair });
        }
        if facts.movers[state] == 0 {
            arrows.push(Arrow { to: state, atoms: here, fair: u64::MAX >> 16 });
        }
        all.push(arrows);
    }
    all
}

/// Whether a step does something, for this thread.
fn does(thread: usize, mover: usize, events: &[Event], wanted: Event) -> bool {
    match wanted {
        Event::Channel(ChannelStatement::Receive, channel) => {
            let over = |event: &Event| matches!(event, Event::Channel(_, own) if *own == channel);
            thread != mover && events.iter().any(over)
        }
        wanted => thread == mover && events.contains(&wanted),
    }
}

fn atoms_of_state(machine: &Machine<'_>, facts: &Facts, at: usize, atoms: &[Atom]) -> u64 {
    let state = &facts.states[at];
    let is = |thread: usize, status: Status| state.threads[thread].status == status;
    let ended = || (0..state.threads.len()).all(|thread| !is(thread, Status::Runs));
    let mut truths = 0;
    for (number, atom) in atoms.iter().enumerate() {
        let truth = match atom {
            Atom::At(thread, label) => machine.labels(state, *thread).contains(label),
            Atom::In(thread, function) => machine.is_in(state, *thread, *function),
            Atom::Holds(thread, lock) => {
                usize::try_from(state.locks[*lock].0).is_ok_and(|owner| owner == *thread)
            }
            Atom::Unit(thread) => machine.is_in_unit(state, *thread),
            Atom::About(thread, event) => machine.about(state, *thread).contains(event),
            Atom::Ended(thread) => is(*thread, Status::Ended),
            Atom::Blocked(thread) => {
                let moves = facts.movers[at] >> thread & 1 == 1;
                let receives = Event::Received(*thread);
                let mut edges = facts.edges[at].iter();
                let receives = edges.any(|edge| edge.events.contains(&receives));
                is(*thread, Status::Runs) && !moves && !receives
            }
            Atom::End => facts.movers[at] == 0,
            Atom::DeadEnd => facts.movers[at] == 0 && !ended(),
            Atom::Condition(condition) => machine.is_true(condition, state),
            Atom::Takes(..) => false,
        };
        truths |= u64::from(truth) << number;
    }
    truths
}

/// States with promises; the arrows have marks, each of which a loop must have.
struct Graph {
    marks: u64,
    next: Vec<Vec<(usize, u64)>>,
}

impl Graph {
    /// Whether a loop with all marks can be reached from one of these: strongly connected components by
    /// Tarjan's algorithm.
    fn has_loop(&self, first: &[usize]) -> bool {
        let mut index: HashMap<usize, usize> = HashMap::new();
        let mut low: HashMap<usize, usize> = HashMap::new();
        let mut component: HashMap<usize, usize> = HashMap::new();
        let mut stack = Vec::new();
        let mut components = 0;
        for &root in first {
            if index.contains_key(&root) {
                continue;
            }
            let mut path = vec![(root, 0)];
            index.insert(root, index.len());
            low.insert(root, index[&root]);
            stack.push(root);
            while let Some((at, edge)) = path.pop() {
                if let Some(&(to, _)) = self.next[at].get(edge) {
                    path.push((at, edge + 1));
                    if let Some(&known) = index.get(&to) {
                        if !component.contains_key(&to) {
                            let least = low[&at].min(known);
                            low.insert(at, least);
                        }
                    } else {
                        index.insert(to, index.len());
                        low.insert(to, index[&to]);
                        stack.push(to);
                        path.push((to, 0));
                    }
                    continue;
                }
                if low[&at] == index[&at] {
                    let mut members = Vec::new();
                    while let Some(one) = stack.pop() {
                        component.insert(one, components);
                        members.push(one);
                        if one == at {
                            break;
                        }
                    }
                    let (mut marks, mut any) = (0, false);
                    for &one in &members {
                        for &(to, own) in &self.next[one] {
                            if component.get(&to) == Some(&components) {
                                marks |= own;
                                any = true;
                            }
                        }
                    }
                    if any && marks & self.marks == self.marks {
                        return true;
                    }
                    components += 1;
                }
                if let Some(&(parent, _)) = path.last() {
                    let least = low[&parent].min(low[&at]);
                    low.insert(parent, least);
                }
            }
        }
        false
    }
}
