//! # Idea
//! A state is stored with interchangeable copies ([`Interchangeable`]) in a fixed order of their parts,
//! once for all its permutations. A part of a copy is its stack with its locals, the variables that are
//! its own, the locks that it owns, the wait set for whose notification it waits, and the variables of others
//! that name it; all of that goes along when it takes another place.
//!
//! # Requires
//! A valid program in which every thread stands for one.
//!
//! # Invariants
//! 1. Two permutations of a state have the same arrangement: copies are ordered by their parts, and
//!    copies with equal parts can change places without any effect.
//! 2. What one copy accesses counts as accessed by every copy that was started then. These are at least
//!    the accesses of all permutations of a state, so classes of accesses lose their status at least
//!    where they do without symmetry. Where all copies run from the beginning, they are exactly those.

use crate::layout::{CellId, PackedLayout};
use crate::program::index;
use crate::search::Goal;
use crate::state::{Activation, State, ThreadPart};
use crate::step::FailingSite;
use selvedge_base::{Id, IdVec};
use selvedge_program::interchangeable::thread_of;
use selvedge_program::{
    EdgeId, GlobalId, Interchangeable, Move, NodeId, OwnText, Program, SymmetryScope, Target,
    ThreadId, Type, Value, thread_value,
};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// Where each thread goes.
pub type ThreadImage = IdVec<ThreadId, ThreadId>;

/// The permutation that undoes one.
pub fn inverse(image: &ThreadImage) -> ThreadImage {
    let mut inverse = image.clone();
    for (from, &to) in image.iter_enumerated() {
        inverse[to] = from;
    }
    inverse
}

/// Which copies are interchangeable.
#[derive(Clone, Debug)]
pub struct Symmetry<'p> {
    program: &'p Program,
    groups: Vec<Interchangeable>,
    /// The group of each thread, and its place in it.
    places: IdVec<ThreadId, Option<(usize, usize)>>,
    /// The globals that name threads.
    names: Vec<GlobalId>,
    /// Whether some procedure has a local that names threads.
    has_naming_locals: bool,
    packed: Option<PackedParts>,
}

/// Where the parts of copies are in packed states.
#[derive(Clone, Debug)]
struct PackedParts {
    /// The cells of each copy of each group: those of the thread, then the globals of its own.
    cells: Vec<Vec<(Range<CellId>, Vec<CellId>)>>,
    /// The value of the position of a copy that waits, by group.
    waiting: Vec<Value>,
    /// The cells that name threads: owners of locks, globals and locals.
    names: Vec<CellId>,
}

impl<'p> Symmetry<'p> {
    /// No copies are interchangeable.
    pub fn none(program: &'p Program) -> Self {
        Self {
            program,
            groups: Vec::new(),
            places: IdVec::filled(None, program.threads.len()),
            names: Vec::new(),
            has_naming_locals: false,
            packed: None,
        }
    }

    /// The interchangeable copies of a program, where something is looked for.
    pub fn new(
        program: &'p Program,
        goal: &Goal,
        wanted: SymmetryScope,
        layout: Option<&PackedLayout>,
    ) -> Self {
        let mut symmetry = Self::none(program);
        let is_thread = |ty: Type| ty == Type::Thread;
        symmetry.names = program
            .globals
            .iter_enumerated()
            .filter(|(_, global)| is_thread(global.ty))
            .map(|(id, _)| id)
            .collect();
        let mut locals = program.procedures.iter().flat_map(|one| &one.frame.locals);
        symmetry.has_naming_locals = locals.any(|local| is_thread(local.ty));
        let target = match goal {
            Goal::Label(nodes) => Target::Label(nodes.iter().copied().collect()),
            Goal::State(pattern) => Target::State(pattern.clone()),
            Goal::Failure | Goal::DeadEnd | Goal::Everything => Target::Assertion,
        };
        symmetry.groups = Interchangeable::groups(program, &target, wanted);
        for (at, group) in symmetry.groups.iter().enumerate() {
            for (place, &thread) in group.threads.iter().enumerate() {
                symmetry.places[thread] = Some((at, place));
            }
        }
        symmetry.packed = layout.map(|layout| symmetry.packed_parts(layout));
        symmetry
    }

    /// Whether no copies are interchangeable.
    pub fn is_trivial(&self) -> bool {
        self.groups.is_empty()
    }

    /// How many threads are interchangeable with another one.
    pub fn threads(&self) -> usize {
        self.groups.iter().map(|group| group.threads.len()).sum()
    }

    fn packed_parts(&self, layout: &PackedLayout) -> PackedParts {
        let program = self.program;
        let cells = |group: &Interchangeable| {
            let copies = group.threads.iter().zip(&group.own);
            let cells = copies.map(|(&thread, own)| {
                let cells = &layout.threads[thread];
                let locals = program.procedures[cells.main].frame.locals.len();
                let globals = own.globals.iter().map(|&global| index(global)).collect();
                (cells.position..cells.locals + locals, globals)
            });
            cells.collect()
        };
        let owners = program.locks.ids().map(|lock| layout.owner(lock));
        let globals = self.names.iter().map(|&global| index(global));
        let locals = layout.threads.iter().flat_map(|own| {
            let locals = program.procedures[own.main].frame.locals.iter_enumerated();
            let naming = locals.filter(|(_, local)| local.ty == Type::Thread);
            naming.map(|(id, _)| own.locals + index(id))
        });
        PackedParts {
            cells: self.groups.iter().map(cells).collect(),
            waiting: self
                .groups
                .iter()
                .map(|one| layout.threads[one.threads[0]].waiting())
                .collect(),
            names: owners.chain(globals).chain(locals).collect(),
        }
    }

    /// The threads that were started and are interchangeable with one that was, itself left out.
    pub fn others<'s>(
        &'s self,
        state: &'s State,
        thread: ThreadId,
    ) -> impl Iterator<Item = ThreadId> + 's {
        let group = self.places[thread].map(|(group, _)| &self.groups[group].threads[..]);
        let group = group.unwrap_or_default().iter().copied();
        group.filter(move |&other| other != thread && !state.thread(other).waits)
    }

    /// How a state is arranged: where each thread goes, if one goes anywhere.
    pub fn arrangement(&self, state: &State) -> Option<ThreadImage> {
        let mut image = None;
        for (at, group) in self.groups.iter().enumerate() {
            let started: Vec<usize> = (0..group.threads.len())
                .filter(|&copy| !state.thread(group.threads[copy]).waits)
                .collect();
            self.arrange(&started, at, &mut image, |one, other| {
                self.compare(state, group, one, other)
            });
        }
        image
    }

    /// Puts copies in order.
    fn arrange(
        &self,
        started: &[usize],
        group: usize,
        image: &mut Option<ThreadImage>,
        mut compare: impl FnMut(usize, usize) -> Ordering,
    ) {
        if started.windows(2).all(|pair| compare(pair[0], pair[1]) != Ordering::Greater) {
            return;
        }
        let mut sorted = started.to_vec();
        sorted.sort_by(|&one, &other| compare(one, other));
        let threads = &self.groups[group].threads;
        let image = image.get_or_insert_with(|| self.places.ids().collect());
        for (&to, &from) in started.iter().zip(&sorted) {
            image[threads[from]] = threads[to];
        }
    }

    /// Compares the parts of two copies of a group.
    fn compare(
        &self,
        state: &State,
        group: &Interchangeable,
        one: usize,
        other: usize,
    ) -> Ordering {
        let (first, second) = (group.threads[one], group.threads[other]);
        let (left, right) = (state.thread(first), state.thread(second));
        let (own, others) = (&group.own[one], &group.own[other]);
        let flags = |part: &ThreadPart| {
            let suspended = part.suspended.map(|one| (one.set, one.depth, one.in_set));
            (part.stack.len(), part.stopped, part.units, part.atomic, suspended)
        };
        let stacks = || {
            let mut order = Ordering::Equal;
            for (left, right) in left.stack.iter().zip(&right.stack) {
                let key = |one: &Activation, own: &OwnText| {
                    (own.relative_node(one.node), one.call.map(|call| own.relative_edge(call)))
                };
                order = key(left, own).cmp(&key(right, others));
                order = order.then_with(|| left.locals.cmp(&right.locals));
                if order.is_ne() {
                    break;
                }
            }
            order
        };
        let globals = || {
            let values = |own: &OwnText| -> Vec<Value> {
                own.globals.iter().map(|&global| state.globals[index(global)]).collect()
            };
            values(own).cmp(&values(others))
        };
        let names = || {
            let mut order = Ordering::Equal;
            for owner in state.locks.iter().filter_map(|lock| lock.map(|(owner, _)| owner)) {
                order = order.then((owner == first).cmp(&(owner == second)));
            }
            self.for_each_name(state, &mut |name| {
                order = order.then((name == first).cmp(&(name == second)));
            });
            order
        };
        flags(left).cmp(&flags(right)).then_with(stacks).then_with(globals).then_with(names)
    }

    /// Visits all threads that variables name, in a fixed order of the variables.
    fn for_each_name(&self, state: &State, visit: &mut dyn FnMut(ThreadId)) {
        for &global in &self.names {
            thread_of(Type::Thread, state.globals[index(global)]).into_iter().for_each(&mut *visit);
        }
        if !self.has_naming_locals {
            return;
        }
        for (at, thread) in state.threads.iter().enumerate() {
            if self.places[ThreadId::from_index(at)].is_some() || thread.waits {
                continue;
            }
            for activation in &thread.stack {
                let frame = &self.program.procedures[self.program.nodes[activation.node]].frame;
                for (local, &value) in frame.locals.iter().zip(&activation.locals) {
                    thread_of(local.ty, value).into_iter().for_each(&mut *visit);
                }
            }
        }
    }

    /// The copies that can do nothing that another one before them cannot do as well, in a state that
    /// is arranged.
    pub fn twins(&self, state: &State) -> Vec<ThreadId> {
        let mut twins = Vec::new();
        for group in &self.groups {
            let mut before: Option<usize> = None;
            for (copy, &thread) in group.threads.iter().enumerate() {
                if state.thread(thread).waits {
                    continue;
                }
                if before.is_some_and(|one| self.compare(state, group, one, copy).is_eq()) {
                    twins.push(thread);
                } else {
                    before = Some(copy);
                }
            }
        }
        twins
    }

    /// The state in which every thread has gone to its image.
    pub fn rename(&self, state: &State, image: &ThreadImage) -> State {
        let mut globals = state.globals.to_vec();
        let mut threads = state.threads.clone();
        for (from, &to) in image.iter_enumerated() {
            let (Some((group, place)), Some((_, new))) = (self.places[from], self.places[to])
            else {
                continue;
            };
            if from == to {
                continue;
            }
            let group = &self.groups[group];
            let (own, other) = (&group.own[place], &group.own[new]);
            for (&from, &to) in own.globals.iter().zip(&other.globals) {
                globals[index(to)] = state.globals[index(from)];
            }
            let mut part = Arc::clone(&state.threads[index(from)]);
            if !own.is_shared() {
                for activation in &mut Arc::make_mut(&mut part).stack {
                    activation.node = own.moved_node(other, activation.node);
                    activation.call = activation.call.map(|call| own.moved_edge(other, call));
                }
            }
            threads[index(to)] = part;
        }
        let renamed = |ty: Type, value: Value| match thread_of(ty, value) {
            Some(thread) => thread_value(Some(image[thread])),
            None => value,
        };
        for &global in &self.names {
            globals[index(global)] = renamed(Type::Thread, globals[index(global)]);
        }
        if self.has_naming_locals {
            for thread in &mut threads {
                let part = Arc::make_mut(thread);
                for activation in &mut part.stack {
                    let frame = &self.program.procedures[self.program.nodes[activation.node]].frame;
                    for (local, value) in frame.locals.iter().zip(&mut activation.locals) {
                        *value = renamed(local.ty, *value);
                    }
                }
            }
        }
        let owner =
            |lock: &Option<(ThreadId, u32)>| lock.map(|(owner, depth)| (image[owner], depth));
        State { globals: globals.into(), locks: state.locks.iter().map(owner).collect(), threads }
    }

    /// Arranges a packed state; where each thread has gone, if one has gone anywhere.
    pub fn arrange_words(
        &self,
        layout: &PackedLayout,
        words: &mut [u64],
        cells: &mut Vec<Value>,
    ) -> Option<ThreadImage> {
        let packed = self.packed.as_ref()?;
        Self::read(layout, words, cells);
        let mut image = None;
        for at in 0..self.groups.len() {
            let started = Self::started_cells(packed, at, cells);
            self.arrange(&started, at, &mut image, |one, other| {
                self.compare_cells(packed, at, cells, one, other)
            });
        }
        let image = image?;
        let before = cells.clone();
        for (group, copies) in self.groups.iter().zip(&packed.cells) {
            for (&thread, (own, globals)) in group.threads.iter().zip(copies) {
                let to = self.places[image[thread]].map_or(0, |(_, place)| place);
                let (other, other_globals) = &copies[to];
                cells[other.clone()].copy_from_slice(&before[own.clone()]);
                for (&from, &to) in globals.iter().zip(other_globals) {
                    cells[to] = before[from];
                }
            }
        }
        for &cell in &packed.names {
            if let Some(thread) = thread_of(Type::Thread, cells[cell]) {
                cells[cell] = thread_value(Some(image[thread]));
            }
        }
        layout.write_changes(words, &before, cells);
        Some(image)
    }

    /// The same as [`Symmetry::twins`] for packed words.
    pub fn twins_of_words(
        &self,
        layout: &PackedLayout,
        words: &[u64],
        cells: &mut Vec<Value>,
    ) -> Vec<ThreadId> {
        let Some(packed) = &self.packed else { return Vec::new() };
        Self::read(layout, words, cells);
        let mut twins = Vec::new();
        for (at, group) in self.groups.iter().enumerate() {
            let started = Self::started_cells(packed, at, cells);
            for pair in started.windows(2) {
                if self.compare_cells(packed, at, cells, pair[0], pair[1]).is_eq() {
                    twins.push(group.threads[pair[1]]);
                }
            }
        }
        twins
    }

    fn read(layout: &PackedLayout, words: &[u64], cells: &mut Vec<Value>) {
        if cells.len() != layout.cells() {
            *cells = layout.lowest();
        }
        layout.read(words, cells);
    }

    fn started_cells(packed: &PackedParts, group: usize, cells: &[Value]) -> Vec<usize> {
        let copies = packed.cells[group].iter().enumerate();
        let waiting = packed.waiting[group];
        let started = copies.filter(|(_, (own, _))| cells[own.start] != waiting);
        started.map(|(copy, _)| copy).collect()
    }

    fn compare_cells(
        &self,
        packed: &PackedParts,
        group: usize,
        cells: &[Value],
        one: usize,
        other: usize,
    ) -> Ordering {
        let ((own, globals), (others, other_globals)) =
            (&packed.cells[group][one], &packed.cells[group][other]);
        let threads = &self.groups[group].threads;
        let (first, second) =
            (thread_value(Some(threads[one])), thread_value(Some(threads[other])));
        let values = |globals: &[CellId]| -> Vec<Value> {
            globals.iter().map(|&cell| cells[cell]).collect()
        };
        let names = || {
            let mut names = packed.names.iter().map(|&cell| cells[cell]);
            let differ = names.find(|&name| name == first || name == second);
            differ.map_or(Ordering::Equal, |name| (name == first).cmp(&(name == second)))
        };
        cells[own.clone()]
            .cmp(&cells[others.clone()])
            .then_with(|| values(globals).cmp(&values(other_globals)))
            .then_with(names)
    }

    /// The global that is to one copy what another one is to another copy.
    pub fn moved_global(&self, global: GlobalId, from: ThreadId, to: ThreadId) -> GlobalId {
        let Some((own, other)) = self.texts(from, to) else { return global };
        let at = own.globals.iter().position(|&one| one == global);
        at.map_or(global, |at| other.globals[at])
    }

    /// The node at which one copy is where another one is at a node.
    pub fn moved_node(&self, node: NodeId, from: ThreadId, to: ThreadId) -> NodeId {
        self.texts(from, to).map_or(node, |(own, other)| own.moved_node(other, node))
    }

    /// The edge that is to one copy what another one is to another copy.
    pub fn moved_edge(&self, edge: EdgeId, from: ThreadId, to: ThreadId) -> EdgeId {
        self.texts(from, to).map_or(edge, |(own, other)| own.moved_edge(other, edge))
    }

    /// The move of a thread, where every thread has gone to its image.
    pub fn moved(&self, step: Move, thread: ThreadId, image: &ThreadImage) -> Move {
        let edge = |edge: EdgeId| self.moved_edge(edge, thread, image[thread]);
        match step {
            Move::Edge(one) => Move::Edge(edge(one)),
            Move::With(one, other) => Move::With(edge(one), image[other]),
            Move::Return => Move::Return,
        }
    }

    /// The edge of the first copy that stands for the same edge of all.
    pub fn representative(&self, edge: EdgeId) -> EdgeId {
        for group in &self.groups {
            for own in &group.own {
                if own.has_edge(edge) {
                    return own.moved_edge(&group.own[0], edge);
                }
            }
        }
        edge
    }

    /// The site of the first copy that stands for the same site of all.
    pub fn representative_site(&self, site: FailingSite) -> FailingSite {
        match site {
            FailingSite::AtFirst => site,
            FailingSite::Edge(edge) => FailingSite::Edge(self.representative(edge)),
            FailingSite::Return(exit) => {
                let has_exit = |own: &&OwnText| own.has_node(exit);
                let own = |group: &Interchangeable| {
                    group.own.iter().find(has_exit).map(|own| own.moved_node(&group.own[0], exit))
                };
                FailingSite::Return(self.groups.iter().find_map(own).unwrap_or(exit))
            }
        }
    }

    fn texts(&self, from: ThreadId, to: ThreadId) -> Option<(&OwnText, &OwnText)> {
        let ((group, place), (_, other)) = (self.places[from]?, self.places[to]?);
        let own = &self.groups[group].own;
        Some((&own[place], &own[other])).filter(|_| !own[place].is_shared())
    }
}
