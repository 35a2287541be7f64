//! # Idea
//! Where stacks stay bounded a program has finitely many configurations: the shared values, and for
//! every thread its location and locals. They are explored turn by turn, as plain symbolic reachability:
//! the configurations after the turn of a thread are those before it, closed under its steps. There
//! is one copy of the shared values, however many rounds there are, and when a whole round adds
//! nothing, nothing can be added by any number of them: a proof.
//!
//! In its turn a thread's own location is control: the set is split by it before and put together
//! afterwards. What was in the set at the end of its last turn is closed already.
//!
//! # Source
//! Burch et al., *Symbolic Model Checking: 10^20 States and Beyond* (1990), scheduled in rounds as
//! in paper 001 §2.3; for contexts, as in Qadeer and Rehof (TACAS 2005), every thread continues what
//! was reachable with one context less.
//!
//! # Invariants
//! 1. At switches no atomic section is open, and its bits are not in the sets.
//! 2. No call was reached that is not unrolled; otherwise the search fails and says so.
//! 3. Copies are counted (`counters`) only where contexts are: there every thread continues what was
//!    reachable with one context less, and so does one of the copies, whichever it is.

use super::control::Point;
use super::counters::{Counters, Roster};
use super::draft::{Assignment, pick};
use super::inline::{Flat, FlatLocation};
use super::layout::{Bit, Pair, VariableLayout};
use super::space::{Bdd, Diagrams};
use super::stage::entry_of;
use super::trail::Interface;
use super::witness::Plan;
use selvedge_base::Id;
use selvedge_bdd::{BddManager, Exhausted, Var};
use selvedge_program::{Measure, Position, Program, StatePattern, Target, ThreadId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The search by configurations.
pub(super) struct Configurations {
    pub(super) space: Diagrams,
    pub(super) layout: VariableLayout,
    actors: Vec<Actor>,
    /// No atomic section is open, and the bits that say so.
    outside: (Bdd, Bdd),
    /// The configurations at switches that are reachable within the bound.
    pub(super) reached: Bdd,
    /// By actor: the configurations that are closed under its steps.
    closed: Vec<Bdd>,
    /// All turns that found something.
    turns: Vec<Turn>,
    /// The initial configurations.
    initial: Bdd,
    /// The bound that was begun last.
    pub(super) bound: u32,
    /// The next actor, and the configurations in which it and those after it begin their turns, if a
    /// turn met the target.
    open: Option<(usize, Bdd)>,
    /// A bound was reached that added nothing.
    pub(super) complete: bool,
}

/// Who takes turns.
pub(super) struct Actor {
    /// A thread, or the first one of copies that are counted.
    pub(super) thread: ThreadId,
    pub(super) flat: Flat,
    /// The copies, if they are counted.
    pub(super) counters: Option<Counters>,
}

/// Why a turn has no end.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoTurn {
    /// A limit was met.
    Exhausted(Exhausted),
    /// A call was reached that is not unrolled: the search is of no use for the program.
    Overflow,
}

impl From<Exhausted> for NoTurn {
    fn from(error: Exhausted) -> Self {
        Self::Exhausted(error)
    }
}

/// A turn of an actor.
struct Turn {
    actor: usize,
    /// The configurations in which it begins.
    before: Bdd,
    /// Those in which it ends.
    after: Bdd,
}

/// The sets of a thread in its turn, by location.
type Sets = BTreeMap<usize, Bdd>;

/// Where a target was met: the latest turn if a thread met it in its turn, and the configuration.
pub(super) struct Met {
    /// The actor, its location, and the configurations in which it began its turn.
    within: Option<(usize, usize, Bdd)>,
    state: Assignment,
}

impl Configurations {
    pub(super) fn new(
        space: Diagrams,
        layout: VariableLayout,
        program: &Program,
        actors: Vec<Actor>,
    ) -> Result<Self, Exhausted> {
        let depth: Vec<Var> = layout.depth().iter().map(|bit| bit.now).collect();
        let zero: Vec<(Var, bool)> = depth.iter().map(|&var| (var, false)).collect();
        let outside = (space.manager.conjunction(&zero)?, space.cube(depth)?);
        let mut literals = Vec::new();
        for one in layout.crossing() {
            let value = match one.bit {
                Bit::Global(global) => program.globals[global].initial.map(|value| value != 0),
                _ => Some(false),
            };
            literals.extend(value.map(|value| (one.value.now, value)));
        }
        for Actor { flat, .. } in actors.iter().filter(|actor| actor.counters.is_none()) {
            literals.extend(flat.numbered(flat.entry));
        }
        let mut initial = space.manager.conjunction(&literals)?;
        for counters in actors.iter().filter_map(|actor| actor.counters.as_ref()) {
            initial = space.and(&initial, &counters.at_first(&space)?)?;
        }
        let closed = vec![space.bottom(); actors.len()];
        Ok(Self {
            outside,
            reached: initial.clone(),
            closed,
            turns: Vec::new(),
            initial,
            bound: 0,
            open: None,
            complete: false,
            actors,
            layout,
            space,
        })
    }

    /// Goes on to the next bound, or until the target is met.
    pub(super) fn advance(
        &mut self,
        program: &Program,
        target: &Target,
        measure: Measure,
    ) -> Result<Option<Met>, NoTurn> {
        self.finish(measure)?;
        self.bound += 1;
        let begin = self.reached.clone();
        for actor in 0..self.actors.len() {
            let before = self.before(measure, &begin);
            let sets = self.turn(actor, &before)?;
            let met = self.meet(program, target, actor, &sets)?;
            self.conclude(actor, before.clone(), &sets)?;
            if let Some((location, state)) = met {
                self.open = Some((actor + 1, begin));
                return Ok(Some(Met { within: Some((actor, location, before)), state }));
            }
        }
        self.complete = self.reached == begin;
        self.space.collect();
        match target {
            Target::State(pattern) => Ok(self.find_state(program, pattern)?),
            _ => Ok(None),
        }
    }

    /// Completes the bound without looking for the target.
    pub(super) fn finish(&mut self, measure: Measure) -> Result<(), NoTurn> {
        while let Some((actor, begin)) = self.open.take().filter(|one| one.0 < self.actors.len()) {
            let before = self.before(measure, &begin);
            self.open = Some((actor, begin.clone()));
            let sets = self.turn(actor, &before)?;
            self.conclude(actor, before, &sets)?;
            self.open = Some((actor + 1, begin));
        }
        Ok(())
    }

    /// The configurations in which the next actor begins its turn.
    fn before(&self, measure: Measure, begin: &Bdd) -> Bdd {
        match measure {
            Measure::Rounds => self.reached.clone(),
            Measure::Contexts => begin.clone(),
        }
    }

    /// The configurations in which an actor is a thread of its own: one of its copies is taken out.
    fn acting(&self, actor: usize, set: &Bdd) -> Result<Bdd, Exhausted> {
        let Actor { flat, counters, .. } = &self.actors[actor];
        match counters {
            Some(counters) => counters.taken_out(&self.space, flat, set),
            None => Ok(set.clone()),
        }
    }

    /// The configurations that steps of an actor reach from those not yet closed under them.
    fn turn(&self, actor: usize, before: &Bdd) -> Result<Sets, NoTurn> {
        let space = &self.space;
        let flat = &self.actors[actor].flat;
        let new = space.without(before, &self.closed[actor])?;
        let new = self.acting(actor, &new)?;
        let mut sets = Sets::new();
        flat.split(space, &space.and(&new, &self.outside.0)?, &mut sets)?;
        let mut fresh = sets.clone();
        // Procedures that are called are finished first.
        let rank = |at: usize| (Reverse(flat.locations[at].depth), at);
        let mut queue: BTreeSet<_> = sets.keys().map(|&at| rank(at)).collect();
        while let Some((_, at)) = queue.pop_first() {
            space.check()?;
            let Some(set) = fresh.remove(&at) else { continue };
            if let Some(overflow) = &flat.locations[at].overflow
                && !space.is_bottom(&space.and(&set, overflow)?)
            {
                return Err(NoTurn::Overflow);
            }
            for hop in &flat.locations[at].hops {
                let image = hop.image.of(space, &set)?;
                let known = sets.entry(hop.target).or_insert_with(|| space.bottom());
                let new = space.extend(known, &image)?;
                if !space.is_bottom(&new) {
                    let fresh = fresh.entry(hop.target).or_insert_with(|| space.bottom());
                    *fresh = space.or(fresh, &new)?;
                    queue.insert(rank(hop.target));
                }
            }
        }
        Ok(sets)
    }

    /// Puts the sets of a turn together.
    fn conclude(&mut self, actor: usize, before: Bdd, sets: &Sets) -> Result<(), Exhausted> {
        let space = &self.space;
        let Actor { flat, counters, .. } = &self.actors[actor];
        let mut ends = space.bottom();
        for (&at, set) in sets {
            if flat.locations[at].switch {
                let left = space.and_exists(set, &self.outside.0, &self.outside.1)?;
                let here = space.manager.conjunction(&flat.numbered(at))?;
                ends = space.or(&ends, &space.and(&left, &here)?)?;
            }
        }
        if let Some(counters) = counters {
            ends = counters.put_back(space, flat, &ends)?;
        }
        // What was closed before is in the configurations before the turn. Where one copy has moved,
        // others have not.
        self.closed[actor] = match counters {
            Some(_) => before.clone(),
            None => space.or(&before, &ends)?,
        };
        let new = space.extend(&mut self.reached, &ends)?;
        if !space.is_bottom(&new) {
            self.turns.push(Turn { actor, before, after: ends });
        }
        Ok(())
    }

    /// Where a thread meets a target of its own in its turn.
    fn meet(
        &self,
        program: &Program,
        target: &Target,
        actor: usize,
        sets: &Sets,
    ) -> Result<Option<(usize, Assignment)>, Exhausted> {
        for (&at, set) in sets {
            let location = &self.actors[actor].flat.locations[at];
            for condition in self.conditions(program, target, location) {
                let met = self.space.and(set, &condition)?;
                if let Some(state) = pick(&self.space, &met, &[])? {
                    return Ok(Some((at, state)));
                }
            }
        }
        Ok(None)
    }

    fn conditions(&self, program: &Program, target: &Target, location: &FlatLocation) -> Vec<Bdd> {
        match target {
            Target::Assertion => {
                location.hops.iter().filter_map(|hop| hop.failure.clone()).collect()
            }
            Target::Label(nodes) => {
                let here = matches!(location.point, Point::Node(node) if nodes.contains(&node));
                let mut all: Vec<Bdd> = here.then(|| self.space.top()).into_iter().collect();
                // A thread that is started is at its entry at once.
                let starts = location.hops.iter().filter_map(|hop| hop.start.as_ref());
                let labelled = |thread: ThreadId| nodes.contains(&entry_of(program, thread));
                let starts = starts.filter(|(thread, _)| labelled(*thread));
                all.extend(starts.map(|(_, domain)| domain.clone()));
                all
            }
            Target::State(_) => Vec::new(),
        }
    }

    /// Whether a state of the pattern is reachable within the bound.
    fn find_state(
        &self,
        program: &Program,
        pattern: &StatePattern,
    ) -> Result<Option<Met>, Exhausted> {
        let space = &self.space;
        let globals = pattern.globals.iter();
        let values: Vec<(Var, bool)> =
            globals.map(|&(global, value)| (self.layout.global(global).now, value != 0)).collect();
        let mut met = space.and(&self.reached, &space.manager.conjunction(&values)?)?;
        for (thread, position) in pattern.threads.iter_enumerated() {
            if *position == Position::Any {
                continue;
            }
            // Copies that are counted are not asked for.
            let actor = self.actors.iter().find(|actor| actor.thread == thread);
            let Some(Actor { flat, .. }) = actor else { continue };
            let mut places = space.bottom();
            for &at in &flat.stops {
                let location = &flat.locations[at];
                let mut literals = flat.numbered(at);
                let here = match (location.point, position) {
                    (Point::Node(node), Position::At(nodes)) => nodes.contains(&node),
                    (Point::Ended, Position::Ended) => true,
                    (Point::Waiting, Position::At(nodes)) => {
                        literals.push((self.layout.find(Bit::Started(thread)).value.now, true));
                        nodes.contains(&entry_of(program, thread))
                    }
                    _ => false,
                };
                if here {
                    places = space.or(&places, &space.manager.conjunction(&literals)?)?;
                }
            }
            met = space.and(&met, &places)?;
        }
        Ok(pick(space, &met, &[])?.map(|state| Met { within: None, state }))
    }

    /// The globals, in their order.
    pub(super) fn end_vars(&self) -> Vec<Var> {
        let globals = self.layout.shared.iter().filter(|one| matches!(one.bit, Bit::Global(_)));
        globals.map(|one| one.value.now).collect()
    }

    /// The values of the globals within the bound.
    pub(super) fn ends(&self) -> Result<Bdd, Exhausted> {
        let globals = self.end_vars();
        let all = (0..self.space.manager.variables()).map(Var::from_index);
        let cube = self.space.cube(all.filter(|var| !globals.contains(var)).collect())?;
        self.space.exists(&self.reached, &cube)
    }

    /// The turns that lead to where the target was met.
    pub(super) fn plan(&self, program: &Program, met: &Met) -> Result<Plan, Exhausted> {
        let mut backwards: Vec<PastTurn> = Vec::new();
        let mut state = self.complete(&met.state);
        if let Some((actor, location, before)) = &met.within {
            let start = self.walk_back(*actor, before, *location, &state)?;
            let start = start.expect("what is reachable was reached from somewhere");
            let (from, start) = self.put_back(*actor, &start);
            let input = self.shared(&start);
            backwards.push(PastTurn { actor: *actor, from, input, end: None });
            state = start;
        }
        let value = |state: &Assignment, var: Var| state.get(&var).copied().unwrap_or(false);
        let holds =
            |set: &Bdd, state: &Assignment| self.space.manager.eval(set, &|var| value(state, var));
        while !holds(&self.initial, &state) {
            let turn = self.turns.iter().find(|turn| holds(&turn.after, &state));
            let turn = turn.expect("what is reachable was reached in some turn");
            let Actor { flat, counters, .. } = &self.actors[turn.actor];
            // Of copies that are counted, any may be the one that has moved.
            let ways = match counters {
                Some(counters) => counters.ways_out(flat, &state).collect(),
                None => vec![(0, state.clone())],
            };
            let mut start = None;
            let mut to = 0;
            for (slot, acting) in ways {
                let location = flat.located(&acting);
                start = self.walk_back(turn.actor, &turn.before, location, &acting)?;
                if start.is_some() {
                    to = slot;
                    break;
                }
            }
            let start = start.expect("what is reachable was reached from somewhere");
            let (from, start) = self.put_back(turn.actor, &start);
            let (input, output) = (self.shared(&start), self.shared(&state));
            backwards.push(PastTurn { actor: turn.actor, from, input, end: Some((to, output)) });
            state = start;
        }
        backwards.reverse();
        Ok(self.schedule(program, self.shared(&state), backwards))
    }

    /// The slot from which the copy that moves was taken, and the configuration before that.
    fn put_back(&self, actor: usize, state: &Assignment) -> (usize, Assignment) {
        let Actor { flat, counters, .. } = &self.actors[actor];
        match counters {
            Some(counters) => counters.way_in(flat, state),
            None => (0, state.clone()),
        }
    }

    /// Gives turns to threads: of copies that are counted, to one that is in the slot.
    fn schedule(&self, program: &Program, begin: Vec<bool>, turns: Vec<PastTurn>) -> Plan {
        let mut plan = Plan {
            interfaces: vec![Interface::default(); program.threads.len()],
            order: Vec::new(),
            meets: None,
            begin,
        };
        let rosters = self.actors.iter().map(|one| one.counters.as_ref().map(Counters::roster));
        let mut rosters: Vec<Option<Roster>> = rosters.collect();
        let crossing: Vec<Bit> = self.layout.crossing().map(|one| one.bit).collect();
        for PastTurn { actor, from, input, end } in turns {
            let mut thread = self.actors[actor].thread;
            if let Some(roster) = &mut rosters[actor] {
                let started = |one: ThreadId| {
                    let at = crossing.iter().position(|&bit| bit == Bit::Started(one));
                    at.is_none_or(|at| input[at])
                };
                thread = roster.take(from, started).expect("a counter counts copies");
                if let Some((to, _)) = &end {
                    roster.put(*to, thread);
                }
            }
            if end.is_none() {
                plan.meets = Some(thread.index());
            }
            let interface = &mut plan.interfaces[thread.index()];
            interface.inputs.push(input);
            plan.order.push((thread.index(), interface.inputs.len()));
            interface.outputs.extend(end.map(|(_, output)| output));
            interface.active.push(true);
        }
        plan
    }

    /// From a configuration back to one with which the turn of an actor began, if there is one.
    fn walk_back(
        &self,
        actor: usize,
        before: &Bdd,
        location: usize,
        state: &Assignment,
    ) -> Result<Option<Assignment>, Exhausted> {
        struct Increment {
            at: usize,
            set: Bdd,
            origin: Option<(usize, usize)>,
        }
        let space = &self.space;
        let flat = &self.actors[actor].flat;
        // The turn is repeated with the other threads where they are now.
        let own: BTreeSet<Var> = flat.variables().chain(self.shared_now()).collect();
        let others: Vec<(Var, bool)> =
            state.iter().filter(|(var, _)| !own.contains(var)).map(|(&var, &v)| (var, v)).collect();
        let before = self.acting(actor, before)?;
        let begin = space.and(&before, &space.manager.conjunction(&others)?)?;
        let mut known = Sets::new();
        flat.split(space, &space.and(&begin, &self.outside.0)?, &mut known)?;
        let mut increments: Vec<Increment> = known
            .iter()
            .map(|(&at, set)| Increment { at, set: set.clone(), origin: None })
            .collect();
        let counter: BTreeSet<Var> = flat.counter.iter().copied().collect();
        let wanted = |state: &Assignment| -> Assignment {
            let kept = state.iter().filter(|(var, _)| !counter.contains(var));
            kept.map(|(&var, &value)| (var, value)).collect()
        };
        let end = wanted(state);
        let mut next = 0;
        let found = loop {
            let Some(Increment { at, set, .. }) = increments.get(next) else { return Ok(None) };
            let value = |var| end.get(&var).copied().unwrap_or(false);
            if *at == location && space.manager.eval(set, &value) {
                break next;
            }
            let (at, set) = (*at, set.clone());
            for (number, hop) in flat.locations[at].hops.iter().enumerate() {
                let image = hop.image.of(space, &set)?;
                let known = known.entry(hop.target).or_insert_with(|| space.bottom());
                let new = space.extend(known, &image)?;
                if !space.is_bottom(&new) {
                    let origin = Some((next, number));
                    increments.push(Increment { at: hop.target, set: new, origin });
                }
            }
            next += 1;
        };
        let (mut at, mut state) = (found, end);
        while let Some((from, hop)) = increments[at].origin {
            let image = &flat.locations[increments[from].at].hops[hop].image;
            let source = image.before(space, &increments[from].set, &state)?;
            state = wanted(&self.complete(&source.expect("an increment has predecessors")));
            at = from;
        }
        state.extend(flat.numbered(increments[at].at));
        Ok(Some(state))
    }

    /// All variables of a configuration; those that do not matter are false.
    fn complete(&self, values: &Assignment) -> Assignment {
        let vars = self.actors.iter().flat_map(|actor| {
            let counters = actor.counters.iter().flat_map(Counters::all);
            actor.flat.variables().chain(counters)
        });
        let vars = vars.chain(self.shared_now());
        vars.map(|var| (var, values.get(&var).copied().unwrap_or(false))).collect()
    }

    fn shared_now(&self) -> impl Iterator<Item = Var> {
        self.layout.shared.iter().map(|one| one.value.now)
    }

    fn shared(&self, state: &Assignment) -> Vec<bool> {
        self.layout.crossing().map(|one| state[&one.value.now]).collect()
    }
}

/// A turn on the way to the target.
struct PastTurn {
    actor: usize,
    /// The slot from which a copy was taken, if copies are counted.
    from: usize,
    /// What is shared before it.
    input: Vec<bool>,
    /// The slot in which the copy ends and what is shared then; nothing if the turn meets the target.
    end: Option<(usize, Vec<bool>)>,
}

impl Flat {
    /// The literals of a location where contexts can end.
    pub(super) fn numbered(&self, location: usize) -> Vec<(Var, bool)> {
        let number = self.stops.binary_search(&location).expect("a context can end there");
        let bits = self.counter.iter().rev().enumerate();
        bits.map(|(at, &var)| (var, number >> at & 1 == 1)).collect()
    }

    /// The location of a configuration.
    fn located(&self, state: &Assignment) -> usize {
        self.stops[self.counter.iter().fold(0, |number, var| number << 1 | usize::from(state[var]))]
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = Var> {
        self.counter.iter().copied().chain(self.locals.iter().map(|local: &Pair| local.now))
    }

    /// The parts of a set by the location of this thread.
    fn split(&self, space: &Diagrams, set: &Bdd, sets: &mut Sets) -> Result<(), Exhausted> {
        let mut parts = vec![(0, set.clone())];
        for &var in &self.counter {
            let cube = space.cube(vec![var])?;
            let mut halves = Vec::new();
            for (number, part) in parts {
                for value in [false, true] {
                    let half = space.and_exists(&part, &space.literal(var, value)?, &cube)?;
                    if !space.is_bottom(&half) {
                        halves.push((number << 1 | usize::from(value), half));
                    }
                }
            }
            parts = halves;
        }
        sets.extend(parts.into_iter().map(|(number, part)| (self.stops[number], part)));
        Ok(())
    }
}
