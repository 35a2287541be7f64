//! # Idea
//! Temporal questions by explicit search: the states of a program, times an automaton for what a run is
//! to satisfy. A run that decides the question is a way to a cycle of pairs on which every mark is met;
//! such cycles are found in the strongly connected components of what was explored. The search looks
//! for one whenever the number of pairs has doubled, so that a run is found long before everything is
//! explored.
//!
//! Fairness is a mark more for each thread that a run is to be fair to: met where the thread moves, and
//! where it has ended.
//!
//! Of a recursive program either the runs with few open calls are searched ([`search_run`]), or the runs
//! of all depths with some others ([`search_abstractly`]): if none of these does, none of the program
//! does, and one that does has to be tried on the program.
//!
//! # Source
//! Automata-theoretic model checking as in paper 003 §3; components by Tarjan's algorithm, without
//! recursion. A run that ends repeats its last configuration (SEMANTICS), so a state in which nobody can
//! move has one edge to itself, on which nobody moves.
//!
//! # Requires
//! The program is valid and the question makes sense for it. The automaton accepts the runs that decide
//! the question.
//!
//! # Invariants
//! 1. `Safe` is answered only if no call was left out, if no run was found that is not accepted, if all
//!    initial states were looked at, and if no step fails: a run that fails is cut off, so nothing is known of what the formula is to say of it.
//! 2. An atomic section is one edge; no state between two edges lies inside one.

use super::stacks::KnownStacks;
use crate::run::{Refusal, State};
use crate::step::Scheduled;
use crate::temporal::atoms::{Moment, Taken};
use crate::with_values::witness_of;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::Budget;
use selvedge_program::{
    Action, OmegaAutomaton, OmegaEdge, Program, Proposition, Successors, ThreadId, Unknown,
    Verdict, Witness,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;

/// How many pairs are explored before the first look for a cycle.
const FIRST_LOOK: usize = 1 << 10;
/// How many components are tried where a run has to be accepted, and from how many of their pairs.
const MOST_TRIED: usize = 8;
/// How many states one atomic section may have inside.
const MOST_INSIDE: usize = 1 << 16;

/// Searches for a run that the automaton accepts and that is fair to these threads, with at most so many
/// open calls per thread; says how many pairs of states it has seen as well.
pub fn search_run(
    program: &Program,
    automaton: &OmegaAutomaton,
    fair: &[ThreadId],
    call_depth: u32,
    budget: &Budget,
) -> (Verdict<Witness>, u64) {
    let mut search = Search::new(program, automaton, fair, Stacks::UpTo(call_depth));
    let end = search.run(budget, &mut |_| true);
    (search.verdict(end, Unknown::CallDepth(call_depth)), search.pairs.len() as u64)
}

/// Like [`search_run`], with stacks of which so many frames are known and any may be below; a run that
/// is found counts if it is accepted.
pub fn search_abstractly(
    program: &Program,
    automaton: &OmegaAutomaton,
    fair: &[ThreadId],
    known: u32,
    accept: &mut dyn FnMut(&Witness) -> bool,
    budget: &Budget,
) -> (Verdict<Witness>, u64) {
    let stacks = match KnownStacks::new(program, &Successors::new(program), known) {
        Ok(stacks) => Stacks::Known(Box::new(stacks)),
        Err(why) => return (Verdict::Unknown(why), 0),
    };
    let mut search = Search::new(program, automaton, fair, stacks);
    let end = search.run(budget, accept);
    (search.verdict(end, Unknown::Stacks(known)), search.pairs.len() as u64)
}

/// All states of a program outside of atomic sections.
pub struct StateGraph {
    /// The states that a run can begin with.
    pub initial: Vec<u32>,
    /// The states that come next; a state in which nobody can move has itself.
    pub next: Vec<Vec<u32>>,
    /// The truth of each atom at each state.
    pub truth: Vec<Vec<bool>>,
    states: Vec<Rc<State>>,
    /// The edges that leave each state.
    edges: Vec<Vec<StateEdge>>,
}

impl StateGraph {
    /// The run along some states, from the first of them, which begins a run; it goes on from the last one
    /// to the one with this index, for ever, if one is given. A run that stays in a state in which nobody
    /// can move ends there.
    ///
    /// # Panics
    /// If the states do not follow each other.
    pub fn witness(&self, program: &Program, way: &[u32], repeats: Option<usize>) -> Witness {
        let mut steps: Vec<(ThreadId, &Scheduled, Option<u32>, &State)> = Vec::new();
        // How many steps come before each state.
        let mut before = vec![0];
        let mut stays = false;
        let back = repeats.map(|at| way[at]);
        for (&from, to) in way.iter().zip(way[1..].iter().copied().chain(back)) {
            let edge = self.edges[from as usize].iter().find(|edge| edge.target == to);
            assert!(edge.is_some() || from == to, "the states of a run follow each other");
            stays |= edge.is_none();
            if let Some(edge) = edge {
                let taken = edge.steps.iter();
                steps.extend(taken.map(|(step, next)| (edge.taken.thread, step, None, &**next)));
            }
            before.push(steps.len());
        }
        let ends = stays.then_some(steps.len());
        let first = &self.states[way[0] as usize];
        let mut witness = witness_of(program, first, steps.into_iter());
        witness.repeats = repeats.map(|at| before[at]).or(ends);
        witness
    }
}

/// Explores a program in whole, and says where these atoms are true. Those about the step that is taken
/// are true nowhere.
///
/// # Errors
/// If there is a call below so many open calls, if a step can fail, or if a limit is met.
pub fn state_graph(
    program: &Program,
    atoms: &[Proposition],
    call_depth: u32,
    budget: &Budget,
) -> Result<StateGraph, Unknown> {
    let anything = OmegaEdge { guard: Vec::new(), target: 0, marks: 0 };
    let automaton =
        OmegaAutomaton { atoms: atoms.to_vec(), states: vec![vec![anything]], marks: 0 };
    let mut search = Search::new(program, &automaton, &[], Stacks::UpTo(call_depth));
    search.begin()?;
    let initial = (0..search.pairs.len() as u32).collect();
    let mut at = 0;
    while at < search.pairs.len() {
        budget.check()?;
        search.expand_pair(at as u32, budget)?;
        at += 1;
    }
    if let Verdict::Unknown(why) = search.verdict(Ok(None), Unknown::CallDepth(call_depth)) {
        return Err(why);
    }
    // With one state of the automaton, pairs and states are the same.
    let targets = |pair: &Pair| search.edges[pair.edges.clone()].iter().map(|edge| edge.target);
    let next = search.pairs.iter().map(|pair| targets(pair).collect()).collect();
    let (mut truth, mut edges) = (Vec::new(), Vec::new());
    for expanded in search.expanded {
        let expanded = expanded.expect("all states were expanded");
        truth.push(expanded.truth);
        edges.push(expanded.edges);
    }
    Ok(StateGraph { initial, next, truth, states: search.states, edges })
}

/// How much of the stacks is followed.
enum Stacks {
    /// So many open calls per thread; deeper ones are left out.
    UpTo(u32),
    /// The upper frames; any may be below.
    Known(Box<KnownStacks>),
}

/// An edge between states: one step, or an atomic section.
struct StateEdge {
    taken: Taken,
    /// The steps, each with the state behind it.
    steps: Vec<(Scheduled, Rc<State>)>,
    target: u32,
}

/// A state with what leaves it.
struct Expanded {
    edges: Vec<StateEdge>,
    /// The truth of the atoms that are about the state.
    truth: Vec<bool>,
    /// The threads that have ended, as far as fairness asks.
    ended: u64,
    /// Whether nobody can move. Where a call was left out, or a step fails, somebody can.
    ends: bool,
}

/// A state of the program with a state of the automaton.
struct Pair {
    state: u32,
    control: u32,
    /// The pair from which it was reached first, and the number of the edge from there.
    before: Option<(u32, u32)>,
    /// Where its edges are.
    edges: std::ops::Range<usize>,
}

/// A step on the way through an atomic section, and the one before it.
struct Way {
    before: Option<usize>,
    step: Scheduled,
    state: Rc<State>,
}

/// All steps of a way that ends with this one.
fn whole(ways: &[Way], last: Way) -> Vec<(Scheduled, Rc<State>)> {
    let mut before = last.before;
    let mut steps = vec![(last.step, last.state)];
    while let Some(Way { before: further, step, state }) = before.map(|at| &ways[at]) {
        steps.push((step.clone(), Rc::clone(state)));
        before = *further;
    }
    steps.reverse();
    steps
}

/// An edge between pairs.
#[derive(Clone, Copy)]
struct PairEdge {
    target: u32,
    /// The edge of the state; `None` if nobody moves.
    step: Option<u32>,
    marks: u64,
}

struct Search<'a> {
    program: &'a Program,
    successors: Successors,
    automaton: &'a OmegaAutomaton,
    fair: &'a [ThreadId],
    stacks: Stacks,
    states: Vec<Rc<State>>,
    numbers: FxHashMap<Rc<State>, u32>,
    expanded: Vec<Option<Expanded>>,
    pairs: Vec<Pair>,
    found: FxHashMap<(u32, u32), u32>,
    edges: Vec<PairEdge>,
    /// Whether a call was left out, or a run that was found is not accepted.
    incomplete: bool,
    failing: bool,
}

impl<'a> Search<'a> {
    fn new(
        program: &'a Program,
        automaton: &'a OmegaAutomaton,
        fair: &'a [ThreadId],
        stacks: Stacks,
    ) -> Self {
        Self {
            program,
            successors: Successors::new(program),
            automaton,
            fair,
            stacks,
            states: Vec::new(),
            numbers: FxHashMap::default(),
            expanded: Vec::new(),
            pairs: Vec::new(),
            found: FxHashMap::default(),
            edges: Vec::new(),
            incomplete: false,
            failing: false,
        }
    }

    /// All marks that a cycle must meet, as bits.
    fn all_marks(&self) -> Result<u64, Unknown> {
        let marks = self.automaton.marks as usize + self.fair.len();
        match marks {
            0..64 => Ok((1 << marks) - 1),
            _ => Err(unsupported(
                "the formula has too many parts that must come true again and again",
            )),
        }
    }

    /// What the end of a search says, where something was left out for this reason.
    fn verdict(
        &self,
        end: Result<Option<Witness>, Unknown>,
        incomplete: Unknown,
    ) -> Verdict<Witness> {
        match end {
            Ok(Some(witness)) => Verdict::Violation(witness),
            Err(why) => Verdict::Unknown(why),
            Ok(None) if self.incomplete => Verdict::Unknown(incomplete),
            Ok(None) if self.failing => Verdict::Unknown(unsupported(
                "a step can fail, and what a formula says of a run that fails is not defined; \
                 `selvedge reach` shows it",
            )),
            Ok(None) => Verdict::Safe,
        }
    }

    /// Finds the states that a run can begin with.
    fn begin(&mut self) -> Result<(), Unknown> {
        for state in State::all_initial(self.program)? {
            self.failing |= !state.fails_at_first(self.program).is_empty();
            let state = self.number(Rc::new(state));
            self.add(state, 0, None);
        }
        Ok(())
    }

    /// A run that is found and accepted.
    fn run(
        &mut self,
        budget: &Budget,
        accept: &mut dyn FnMut(&Witness) -> bool,
    ) -> Result<Option<Witness>, Unknown> {
        let all = self.all_marks()?;
        self.begin()?;
        let mut at = 0;
        let mut look = FIRST_LOOK;
        while at < self.pairs.len() {
            budget.check()?;
            self.expand_pair(at as u32, budget)?;
            at += 1;
            if at == look || at == self.pairs.len() {
                look = look.max(at) * 2;
                let components = self.accepting(at, all, budget)?;
                self.incomplete |= at == self.pairs.len() && !components.is_empty();
                for component in components.iter().take(MOST_TRIED) {
                    for &entry in component.iter().take(MOST_TRIED) {
                        budget.check()?;
                        let witness = self.witness(component, entry, all);
                        if accept(&witness) {
                            return Ok(Some(witness));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    fn number(&mut self, state: Rc<State>) -> u32 {
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        let number = self.states.len() as u32;
        self.numbers.insert(Rc::clone(&state), number);
        self.states.push(state);
        self.expanded.push(None);
        number
    }

    fn add(&mut self, state: u32, control: u32, before: Option<(u32, u32)>) -> u32 {
        let next = self.pairs.len() as u32;
        let pair = *self.found.entry((state, control)).or_insert(next);
        if pair == next {
            self.pairs.push(Pair { state, control, before, edges: 0..0 });
        }
        pair
    }

    /// Finds the edges that leave a pair.
    fn expand_pair(&mut self, at: u32, budget: &Budget) -> Result<(), Unknown> {
        let Pair { state, control, .. } = self.pairs[at as usize];
        self.expand_state(state, budget)?;
        let start = self.edges.len();
        let expanded = self.expanded[state as usize].as_ref().expect("it was expanded");
        let automaton = self.automaton;
        let mut found = Vec::new();
        let steps = expanded.edges.iter().map(Some).chain(expanded.ends.then_some(None));
        for (index, step) in steps.enumerate() {
            let holds = |&(atom, wanted): &(u32, bool)| {
                let value = match (&automaton.atoms[atom as usize], step) {
                    (Proposition::Takes(thread, deed), Some(step)) => step.taken.is(*thread, *deed),
                    (Proposition::Takes(..), None) => false,
                    _ => expanded.truth[atom as usize],
                };
                value == wanted
            };
            let mut fair = expanded.ended;
            for (bit, &thread) in self.fair.iter().enumerate() {
                if step.is_none_or(|step| step.taken.is(thread, None)) {
                    fair |= 1 << bit;
                }
            }
            let target = step.map_or(state, |step| step.target);
            for edge in &automaton.states[control as usize] {
                if edge.guard.iter().all(holds) {
                    let marks = edge.marks | fair << automaton.marks;
                    found.push((target, edge.target, step.map(|_| index as u32), marks));
                }
            }
        }
        for (target, control, step, marks) in found {
            let number = (self.edges.len() - start) as u32;
            let target = self.add(target, control, Some((at, number)));
            self.edges.push(PairEdge { target, step, marks });
        }
        self.pairs[at as usize].edges = start..self.edges.len();
        Ok(())
    }

    /// Finds the edges that leave a state.
    fn expand_state(&mut self, number: u32, budget: &Budget) -> Result<(), Unknown> {
        if self.expanded[number as usize].is_some() {
            return Ok(());
        }
        let state = Rc::clone(&self.states[number as usize]);
        let mut edges = Vec::new();
        let (incomplete, failing) = (self.incomplete, self.failing);
        (self.incomplete, self.failing) = (false, false);
        for thread in self.program.threads.ids() {
            // Ways into an atomic section that has not ended yet, the shortest first.
            let mut open = vec![(Rc::clone(&state), None, Taken::by(thread))];
            let mut ways: Vec<Way> = Vec::new();
            // What was done on the way is part of what tells two ways apart.
            let mut inside: FxHashSet<(Rc<State>, Taken)> = FxHashSet::default();
            let mut next = 0;
            while next < open.len() {
                budget.check()?;
                let (from, before, taken) = open[next].clone();
                next += 1;
                for (step, to) in self.steps(&from, thread, budget)? {
                    let moment = self.moment(&from, budget);
                    let mut taken = taken.clone();
                    taken.deeds.extend(moment.deed(thread, step.step));
                    taken.deeds.sort_unstable();
                    taken.deeds.dedup();
                    taken.receivers.extend(step.receivers.iter().map(|receiver| receiver.thread));
                    let to = Rc::new(to);
                    let way = Way { before, step, state: Rc::clone(&to) };
                    if to.in_atomic().is_none() {
                        let target = self.number(to);
                        edges.push(StateEdge { taken, steps: whole(&ways, way), target });
                    } else if inside.insert((Rc::clone(&to), taken.clone())) {
                        if inside.len() > MOST_INSIDE {
                            return Err(unsupported(
                                "an atomic section has too many states inside",
                            ));
                        }
                        open.push((to, Some(ways.len()), taken));
                        ways.push(way);
                    }
                }
            }
        }
        let moment = self.moment(&state, budget);
        let atoms = self.automaton.atoms.iter();
        let truth = atoms.map(|atom| moment.holds(atom, None)).collect::<Result<_, _>>()?;
        let mut ended = 0;
        for (bit, &thread) in self.fair.iter().enumerate() {
            ended |= u64::from(!state.waits(thread) && state.has_ended(thread)) << bit;
        }
        // Where a call was left out, or a step fails, somebody can move.
        let ends = edges.is_empty() && !self.incomplete && !self.failing;
        self.incomplete |= incomplete;
        self.failing |= failing;
        self.expanded[number as usize] = Some(Expanded { edges, truth, ended, ends });
        Ok(())
    }

    fn moment<'m>(&'m self, state: &'m State, budget: &'m Budget) -> Moment<'m> {
        Moment { program: self.program, successors: &self.successors, state, budget }
    }

    /// The steps of one thread.
    fn steps(
        &mut self,
        state: &State,
        thread: ThreadId,
        budget: &Budget,
    ) -> Result<Vec<(Scheduled, State)>, Unknown> {
        let mut found = Vec::new();
        let open = state.control.threads[thread].stack.len().saturating_sub(1);
        for step in state.moves(self.program, &self.successors, thread) {
            self.failing |= state.can_fail_within(self.program, thread, &step, budget).is_ok();
            let action = step.step.edge().map(|edge| self.program.edges[edge].action);
            if let Stacks::UpTo(depth) = self.stacks
                && matches!(action, Some(Action::Call(_)))
                && open >= depth as usize
            {
                self.incomplete = true;
                continue;
            }
            let mut reached = Vec::new();
            let taken = state.outcomes_within(self.program, thread, &step, budget, &mut |next| {
                reached.push(next);
                ControlFlow::Continue(())
            });
            if let Some(why) = taken.err().and_then(Refusal::open) {
                return Err(why);
            }
            if let Stacks::Known(stacks) = &self.stacks {
                for next in std::mem::take(&mut reached) {
                    reached.extend(stacks.settle(self.program, next)?);
                }
            }
            found.extend(reached.into_iter().map(|next| (step.clone(), next)));
        }
        Ok(found)
    }

    /// The pairs of each component of the first `explored` pairs on whose edges all marks are met, the
    /// component that is reached first before the others.
    fn accepting(
        &self,
        explored: usize,
        all: u64,
        budget: &Budget,
    ) -> Result<Vec<Vec<u32>>, Unknown> {
        let edges = |pair: u32| &self.edges[self.pairs[pair as usize].edges.clone()];
        let component = components(explored, &|pair| edges(pair), budget)?;
        let mut marks: FxHashMap<u32, (u64, u32)> = FxHashMap::default();
        for pair in 0..explored as u32 {
            for edge in edges(pair) {
                let inner = (edge.target as usize) < explored
                    && component[edge.target as usize] == component[pair as usize];
                if inner {
                    let entry = marks.entry(component[pair as usize]).or_insert((0, pair));
                    entry.0 |= edge.marks;
                    entry.1 = entry.1.min(pair);
                }
            }
        }
        marks.retain(|_, (marks, _)| *marks == all);
        let mut accepting: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for pair in 0..explored as u32 {
            if let Some((_, first)) = marks.get(&component[pair as usize]) {
                accepting.entry(*first).or_default().push(pair);
            }
        }
        Ok(accepting.into_values().collect())
    }

    /// The run to a pair of a component, and then a cycle in it that meets all marks.
    fn witness(&self, component: &[u32], entry: u32, all: u64) -> Witness {
        let mut way = Vec::new();
        let mut pair = entry;
        while let Some((before, edge)) = self.pairs[pair as usize].before {
            way.push((before, edge));
            pair = before;
        }
        let initial = Rc::clone(&self.states[self.pairs[pair as usize].state as usize]);
        way.reverse();
        let mut steps: Vec<(ThreadId, Scheduled, Rc<State>)> = Vec::new();
        let write = |way: &[(u32, u32)], steps: &mut Vec<(ThreadId, Scheduled, Rc<State>)>| {
            for &(pair, edge) in way {
                let Pair { state, edges, .. } = &self.pairs[pair as usize];
                let Some(step) = self.edges[edges.start + edge as usize].step else { continue };
                let expanded = self.expanded[*state as usize].as_ref().expect("it was expanded");
                let StateEdge { taken, steps: moves, .. } = &expanded.edges[step as usize];
                let moves = moves.iter();
                steps.extend(
                    moves.map(|(step, next)| (taken.thread, step.clone(), Rc::clone(next))),
                );
            }
        };
        write(&way, &mut steps);
        let repeats = steps.len();
        let mut met = 0;
        let mut at = entry;
        let mut cycle = Vec::new();
        while met != all || cycle.is_empty() {
            // With all marks met, any edge will do.
            let wanted = |edge: &PairEdge| met == all || edge.marks & !met != 0;
            let way = self.way(component, at, &|_, edge| wanted(edge));
            for &(pair, edge) in &way {
                let edge = self.edges[self.pairs[pair as usize].edges.start + edge as usize];
                met |= edge.marks;
                at = edge.target;
            }
            cycle.extend(way);
        }
        if at != entry {
            cycle.extend(self.way(component, at, &|_, edge| edge.target == entry));
        }
        write(&cycle, &mut steps);
        let steps = steps.iter().map(|(thread, step, next)| (*thread, step, None, &**next));
        let mut witness = witness_of(self.program, &initial, steps);
        witness.repeats = Some(repeats);
        witness
    }

    /// A shortest way inside a component from a pair up to and including an edge that is wanted.
    fn way(
        &self,
        component: &[u32],
        from: u32,
        wanted: &dyn Fn(u32, &PairEdge) -> bool,
    ) -> Vec<(u32, u32)> {
        let mut before: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
        let mut queue = vec![from];
        let mut next = 0;
        while next < queue.len() {
            let pair = queue[next];
            next += 1;
            let range = self.pairs[pair as usize].edges.clone();
            for (number, edge) in self.edges[range].iter().enumerate() {
                if component.binary_search(&edge.target).is_err() {
                    continue;
                }
                if wanted(pair, edge) {
                    let mut way = vec![(pair, number as u32)];
                    let mut at = pair;
                    while at != from {
                        let step = before[&at];
                        way.push(step);
                        at = step.0;
                    }
                    way.reverse();
                    return way;
                }
                if edge.target != from && !before.contains_key(&edge.target) {
                    before.insert(edge.target, (pair, number as u32));
                    queue.push(edge.target);
                }
            }
        }
        unreachable!("every edge of a component can be reached from every pair of it")
    }
}

fn unsupported(why: &str) -> Unknown {
    Unknown::Unsupported(why.to_owned())
}

/// The number of the strongly connected component of each of the first `count` pairs, where edges to
/// others are left out.
fn components<'e>(
    count: usize,
    edges: &dyn Fn(u32) -> &'e [PairEdge],
    budget: &Budget,
) -> Result<Vec<u32>, Unknown> {
    const NONE: u32 = u32::MAX;
    let mut order = vec![NONE; count];
    let mut low = vec![0u32; count];
    let mut component = vec![NONE; count];
    let mut stack = Vec::new();
    let mut entered = 0;
    let mut components = 0;
    for root in 0..count as u32 {
        if order[root as usize] != NONE {
            continue;
        }
        let mut calls = vec![(root, 0usize)];
        while let Some((pair, next)) = calls.pop() {
            let at = pair as usize;
            if next == 0 {
                budget.check()?;
                order[at] = entered;
                low[at] = entered;
                entered += 1;
                stack.push(pair);
            }
            let mut next = next;
            let mut deeper = None;
            while let Some(edge) = edges(pair).get(next) {
                next += 1;
                let to = edge.target as usize;
                if to >= count {
                    continue;
                }
                if order[to] == NONE {
                    deeper = Some(edge.target);
                    break;
                }
                if component[to] == NONE {
                    low[at] = low[at].min(order[to]);
                }
            }
            if let Some(deeper) = deeper {
                calls.push((pair, next));
                calls.push((deeper, 0));
                continue;
            }
            if low[at] == order[at] {
                while let Some(member) = stack.pop() {
                    component[member as usize] = components;
                    if member == pair {
                        break;
                    }
                }
                components += 1;
            }
            if let Some(&(parent, _)) = calls.last() {
                low[parent as usize] = low[parent as usize].min(low[at]);
            }
        }
    }
    Ok(component)
}
