//! # Idea
//! Symbolic context-bounded analysis of programs with Boolean data, any number of threads, and
//! recursion, over decision diagrams. Sets of states, summaries of procedures, and what threads do
//! to the shared state in several contexts are all Boolean functions.
//!
//! - `control`, `layout`: the control flow of a thread; the variables and their order.
//! - `values`, `draft`: expressions and steps as relations.
//! - `steps`, `frame`, `stage`, `tuples`: the saturation of paper 001 Fig. 5.
//! - `inline`, `configurations`: complete configurations of programs whose stacks stay small.
//! - `counters`: interchangeable copies in them.
//! - `witness`, `trail`: the run to a target.
//!
//! # Source
//! Paper 001 §3 (sequential analysis, which is what one thread amounts to), §6 and Fig. 5 (lazy),
//! §3.2 and §7 (eager), generalised to `n` threads as ERRATA demands.
//!
//! # Requires
//! A valid program without locks (they are turned into data before). Accesses to locations and units
//! of work are steps without effect.
//!
//! # Bounds
//! The natural measure is rounds. By tuples, contexts are counted by a number in the shared state
//! that an active context increases and an idle one leaves: `K` contexts in any order are among `K`
//! rounds. By configurations, either is a way to order the turns.
//!
//! # When it concludes for every bound
//! While no call goes deeper than recursion is unrolled, complete configurations are explored; the
//! first that does makes the search start anew by tuples. By configurations it concludes when a whole
//! round (or one more context) reaches no new configuration; given memory, that always comes.
//! (Configurations that differ only in steps behind the last one that touches something shared count
//! as one: whoever moves next can take these steps first.) A program with one thread is done after
//! its first turn. By tuples it never concludes otherwise: that the shared states stay the same for
//! some rounds proves nothing.

mod configurations;
mod control;
mod counters;
mod draft;
mod frame;
mod inline;
mod layout;
mod space;
mod stage;
mod steps;
mod trail;
mod tuples;
mod values;
mod witness;

pub(crate) use self::control::live_locals;

use self::configurations::{Actor, Configurations, NoTurn};
use self::control::{Reductions, ThreadBodies, atomic_depth};
use self::counters::Counters;
use self::frame::RuleParts;
use self::inline::Inlining;
use self::layout::{VariableLayout, shared_bits};
use self::space::{Bdd, Diagrams};
use self::trail::{NoTrail, RunEnd, Trail, find_trail};
use self::tuples::TupleSearch;
use self::witness::Plan;
use crate::exhausted;
use crate::symmetry::permuted;
use crate::unsupported::no_joins;
use selvedge_base::{Budget, Id};
use selvedge_bdd::{BddManager, MAX_VARIABLES, NativeManager, Var};
use selvedge_program::{
    Action, Failure, Interchangeable, Level, Measure, Position, Program, Search, Start, Statistics,
    Successors, Target, ThreadId, Unknown, Valuation, Witness,
};

/// Which inputs of contexts are explored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Those that some run brings.
    Lazy,
    /// All; which of them were real is checked afterwards.
    Eager,
}

/// What the sets consist of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Strategy {
    /// For lazy analysis configurations while stacks stay small, then tuples; for eager analysis
    /// tuples.
    #[default]
    Auto,
    /// Histories of one thread: tuples of shared states at its switches (paper 001 Fig. 5).
    Tuples,
    /// Complete configurations, while stacks stay small. Always lazy.
    Configurations,
}

/// Settings that do not change answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolicOptions {
    /// How many nodes of decision diagrams may be stored at once.
    pub node_limit: usize,
    /// What the sets consist of.
    pub strategy: Strategy,
    /// Whether configurations count interchangeable copies, where the bound counts contexts.
    pub symmetry: bool,
}

impl Default for SymbolicOptions {
    fn default() -> Self {
        Self { node_limit: 1 << 25, strategy: Strategy::Auto, symmetry: false }
    }
}

/// The greatest number of nested atomic sections.
const MOST_SECTIONS: u32 = 255;
/// The greatest number of rounds, if the diagrams have enough variables for them.
const MOST_ROUNDS: usize = 64;
/// The greatest number of steps of one thread in a run.
const MOST_STEPS: usize = 1 << 20;
/// The greatest number of locations of an inlined thread.
const MOST_LOCATIONS: usize = 1 << 14;
/// The same for a thread with recursion, which is unrolled so far.
const MOST_UNROLLED: usize = 1 << 11;

/// A symbolic search that widens its bound step by step.
pub struct SymbolicSearch {
    setting: Setting,
    target: Target,
    measure: Measure,
    engine: Engine,
    /// Work of searches that were given up for larger ones.
    spent: Spent,
}

/// What all searches for one question share.
struct Setting {
    program: Program,
    mode: Mode,
    options: SymbolicOptions,
    budget: Budget,
    controls: Vec<ThreadBodies>,
    /// The greatest number of open atomic sections.
    depth: u32,
    /// Copies that may be counted.
    copies: Vec<Interchangeable>,
}

enum Engine {
    Tuples {
        tuples: Box<TupleSearch>,
        /// How many contexts are allowed, if they are counted.
        contexts: u32,
    },
    Configurations(Box<Configurations>),
}

#[derive(Clone, Copy, Default)]
struct Spent {
    products: u64,
    peak: u64,
}

impl Spent {
    fn add(&mut self, space: &Diagrams) {
        self.products += space.products();
        self.peak = self.peak.max(space.peak());
    }
}

impl SymbolicSearch {
    /// Prepares a search.
    ///
    /// # Errors
    /// If the program has locks, or more data than the diagrams have variables, or a limit is met.
    pub fn new(
        program: &Program,
        target: &Target,
        measure: Measure,
        mode: Mode,
        options: SymbolicOptions,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let locked = |edge: &selvedge_program::Edge| {
            matches!(edge.action, Action::Acquire(_) | Action::Release(_))
        };
        if program.edges.iter().any(locked) {
            return Err(unsupported("the symbolic engine does not handle locks"));
        }
        no_joins(program)?;
        let anywhere = |position: &Position| *position == Position::Any;
        let switches = match target {
            Target::State(pattern) => pattern.threads.iter().all(anywhere),
            _ => true,
        };
        let reductions = Reductions { liveness: true, switches };
        let successors = Successors::new(program);
        let bodies = |thread| ThreadBodies::new(program, &successors, thread, reductions, budget);
        let controls: Result<Vec<ThreadBodies>, _> = program.threads.ids().map(bodies).collect();
        let controls = controls.map_err(Unknown::Stopped)?;
        let depth = atomic_depth(program, &controls, MOST_SECTIONS, budget);
        let Some(depth) = depth.map_err(Unknown::Stopped)? else {
            let text = format!("more than {MOST_SECTIONS} atomic sections can be open at once");
            return Err(unsupported(&text));
        };
        let budget = budget.clone();
        let copies = if options.symmetry { permuted(program, target, measure) } else { Vec::new() };
        let program = program.clone();
        let setting = Setting { program, mode, options, budget, controls, depth, copies };
        let engine = setting.engine(measure)?;
        Ok(Self { setting, target: target.clone(), measure, engine, spent: Spent::default() })
    }

    /// Whether complete configurations are explored, rather than tuples.
    pub fn is_by_configurations(&self) -> bool {
        matches!(self.engine, Engine::Configurations(_))
    }

    /// Goes over to tuples, because stacks grow beyond what was unrolled, and catches up.
    fn change_engine(&mut self) -> Result<Level, Failure> {
        let Engine::Configurations(search) = &self.engine else { return Ok(Level::default()) };
        if self.setting.options.strategy == Strategy::Configurations {
            return Err(unsupported("stacks grow beyond what can be unrolled").into());
        }
        let bound = search.bound;
        self.spent.add(&search.space);
        let contexts = (self.measure == Measure::Contexts).then_some(0);
        let tuples = Box::new(self.setting.tuples(contexts)?);
        // Lower bounds have not met the target, so contexts need no catching up.
        self.engine = Engine::Tuples { tuples, contexts: bound - 1 };
        let lower = if self.measure == Measure::Rounds { bound - 1 } else { 0 };
        for _ in 0..lower {
            self.advance()?;
        }
        self.advance()
    }

    /// Everything within one context more, from the start.
    fn count_context(&mut self) -> Result<Option<Witness>, Failure> {
        let Engine::Tuples { tuples, contexts } = &mut self.engine else { return Ok(None) };
        *contexts += 1;
        self.spent.add(&tuples.frame.space);
        **tuples = self.setting.tuples(Some(*contexts))?;
        for _ in 0..*contexts {
            if let Some(run) = self.setting.round(tuples, &self.target)? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// The values of the globals within the bound, the variables for them, and their manager. If a
    /// bound was ended by the target, it is completed first.
    fn ends(&mut self) -> Result<(Bdd, Vec<Var>, &NativeManager), Failure> {
        if let Engine::Configurations(search) = &mut self.engine {
            match search.finish(self.measure) {
                Ok(()) => {}
                Err(NoTurn::Exhausted(error)) => return Err(exhausted(error).into()),
                Err(NoTurn::Overflow) => {
                    let bound = search.bound;
                    let tuples = self.setting.explored(self.measure, bound)?;
                    self.spent.add(&search.space);
                    self.engine = Engine::Tuples { tuples: Box::new(tuples), contexts: bound };
                }
            }
        }
        match &mut self.engine {
            Engine::Tuples { tuples, contexts } => {
                tuples.finish(&self.setting.program).map_err(exhausted)?;
                // Contexts are spread over as many rounds.
                let nothing = Target::Label(Vec::new());
                while tuples.round < *contexts as usize {
                    self.setting.round(tuples, &nothing)?;
                }
                Ok((tuples.ends.clone(), tuples.end_vars(), &tuples.frame.space.manager))
            }
            Engine::Configurations(search) => {
                let ends = search.ends().map_err(exhausted)?;
                Ok((ends, search.end_vars(), &search.space.manager))
            }
        }
    }
}

fn unsupported(text: &str) -> Unknown {
    Unknown::Unsupported(text.to_owned())
}

impl Setting {
    fn engine(&self, measure: Measure) -> Result<Engine, Unknown> {
        let flat = match self.options.strategy {
            Strategy::Auto if self.mode == Mode::Lazy => self.configurations()?,
            Strategy::Auto | Strategy::Tuples => None,
            Strategy::Configurations => {
                let text = "the program is too large for complete configurations";
                Some(self.configurations()?.ok_or_else(|| unsupported(text))?)
            }
        };
        if let Some(search) = flat {
            return Ok(Engine::Configurations(Box::new(search)));
        }
        let contexts = (measure == Measure::Contexts).then_some(0);
        Ok(Engine::Tuples { tuples: Box::new(self.tuples(contexts)?), contexts: 0 })
    }

    /// The search by configurations, if the program allows it.
    fn configurations(&self) -> Result<Option<Configurations>, Unknown> {
        let program = &self.program;
        let inlined = self.controls.iter().map(|one| {
            let limit = if one.recursive { MOST_UNROLLED } else { MOST_LOCATIONS };
            Inlining::new(one, program, limit)
        });
        let Some(inlined) = inlined.collect::<Option<Vec<Inlining>>>() else { return Ok(None) };
        let counted = self.counted(&inlined);
        // Of copies that are counted, the first one stands for all.
        let acts = |thread: ThreadId| {
            let group = counted.iter().find(|(group, _)| group.contains(&thread));
            group.is_none_or(|(group, _)| group[0] == thread)
        };
        let actors = || program.threads.ids().zip(&inlined).filter(|(thread, _)| acts(*thread));
        // What is shared often follows from where the threads are, so it comes last.
        let counters: usize = counted.iter().map(|(_, variables)| variables).sum();
        let private: usize = actors().map(|(_, one)| one.variables()).sum();
        let private = counters + private;
        let layout = VariableLayout::new(&shared_bits(program, self.depth, None), 0, 0, private);
        if layout.variables > MAX_VARIABLES {
            return Ok(None);
        }
        let space = Diagrams::new(layout.variables, self.options.node_limit, &self.budget);
        // The variables of copies that are counted come first, in the order of the diagrams.
        let (mut first, mut later) = (0, counters);
        for (group, _) in &counted {
            later += inlined[group[0].index()].variables();
        }
        let mut all = Vec::new();
        for (thread, one) in actors() {
            let control = &self.controls[thread.index()];
            let group = counted.iter().find(|(group, _)| group[0] == thread);
            let at = if group.is_some() { &mut first } else { &mut later };
            let begin = *at;
            let own = begin + group.map_or(0, |(_, variables)| *variables);
            *at = own + one.variables();
            let flat = one.build(&space, &layout, program, thread, control, own, group.is_some());
            let flat = flat.map_err(exhausted)?;
            let counters =
                group.map(|(group, _)| Counters::new(&space, &layout, &flat, group, begin));
            let counters = counters.transpose().map_err(exhausted)?;
            all.push(Actor { thread, flat, counters });
        }
        let search = Configurations::new(space, layout, program, all);
        Ok(Some(search.map_err(exhausted)?))
    }

    /// The copies that are counted, with how many variables that takes.
    fn counted(&self, inlined: &[Inlining]) -> Vec<(&[ThreadId], usize)> {
        let countable = |group: &'_ Interchangeable| {
            let at = group.threads[0].index();
            let thread = &self.program.threads[group.threads[0]];
            let waits = thread.start != Start::AtFirst;
            // What was passed to a copy that has not moved is its own.
            let parameters = self.program.procedures[thread.main].frame.parameters;
            let slots = inlined[at].slots(&self.controls[at], &self.program);
            let variables = counters::variables(group.threads.len(), slots);
            variables.filter(|_| !waits || parameters == 0)
        };
        let groups = self.copies.iter();
        groups.filter_map(|group| Some((&group.threads[..], countable(group)?))).collect()
    }

    /// The search by tuples, with a limit on contexts if they are counted.
    fn tuples(&self, contexts: Option<u32>) -> Result<TupleSearch, Unknown> {
        let bits = shared_bits(&self.program, self.depth, contexts);
        let locals = self.most_locals();
        let rounds = (1..=MOST_ROUNDS)
            .take_while(|&rounds| VariableLayout::needed(&bits, rounds, locals) <= MAX_VARIABLES)
            .last();
        let Some(rounds) = rounds else {
            let text = "the program has more variables than the symbolic engine handles";
            return Err(unsupported(text));
        };
        let layout = VariableLayout::new(&bits, rounds, locals, 0);
        let space = Diagrams::new(layout.variables, self.options.node_limit, &self.budget);
        let frame = RuleParts::new(space, layout, contexts).map_err(exhausted)?;
        TupleSearch::new(frame, &self.program, &self.controls, self.mode).map_err(exhausted)
    }

    /// Everything within a bound, by tuples.
    fn explored(&self, measure: Measure, bound: u32) -> Result<TupleSearch, Failure> {
        let mut tuples = self.tuples((measure == Measure::Contexts).then_some(bound))?;
        for _ in 0..bound {
            self.round(&mut tuples, &Target::Label(Vec::new()))?;
        }
        Ok(tuples)
    }

    /// How many locals or results a procedure has at most.
    fn most_locals(&self) -> usize {
        let frames = self.program.procedures.iter().map(|one| &one.frame);
        frames.map(|frame| frame.locals.len().max(frame.results.len())).max().unwrap_or(0)
    }

    /// One round more of the tuples.
    fn round(&self, tuples: &mut TupleSearch, target: &Target) -> Result<Option<Witness>, Failure> {
        if tuples.round >= tuples.frame.layout.rounds() {
            let text = format!("more than {} rounds need too many variables", tuples.round);
            return Err(unsupported(&text).into());
        }
        let found = tuples.advance(&self.program, target).map_err(exhausted)?;
        let Some(found) = found else { return Ok(None) };
        let plan = tuples.plan(&found).map_err(exhausted)?;
        self.run(&plan, target).map(Some)
    }

    /// A run to the target.
    fn run(&self, plan: &Plan, target: &Target) -> Result<Witness, Failure> {
        let program = &self.program;
        let bits = shared_bits(program, self.depth, None);
        let layout = VariableLayout::new(&bits, 0, self.most_locals(), 0);
        let space = Diagrams::new(layout.variables, self.options.node_limit, &self.budget);
        let frame = RuleParts::new(space, layout, None).map_err(exhausted)?;
        let successors = Successors::new(program);
        let everything = Reductions { liveness: false, switches: false };
        let mut trails = Vec::new();
        for (thread, interface) in program.threads.ids().zip(&plan.interfaces) {
            let goal = match (plan.meets, target) {
                (Some(meets), target) if meets == thread.index() => RunEnd::Meet(target),
                (None, Target::State(pattern)) => {
                    RunEnd::Leave(pattern.threads.get(thread).unwrap_or(&Position::Any))
                }
                _ => RunEnd::Leave(&Position::Any),
            };
            if interface.inputs.is_empty() {
                trails.push(Trail::default());
                continue;
            }
            let control = ThreadBodies::new(program, &successors, thread, everything, &self.budget)
                .map_err(Unknown::Stopped)?;
            let trail = find_trail(&frame, program, thread, &control, interface, goal, MOST_STEPS);
            trails.push(match trail {
                Ok(trail) => trail,
                Err(NoTrail::Stopped(error)) => return Err(exhausted(error).into()),
                Err(NoTrail::TooLong) => {
                    let limit = MOST_STEPS as u64;
                    return Err(Unknown::WitnessTooLong { steps: limit, limit }.into());
                }
                Err(NoTrail::Missing) => {
                    return Err(Failure::fault("a thread cannot do its part of a run"));
                }
            });
            frame.space.collect();
        }
        Ok(plan.assemble(program, &trails))
    }
}

impl Search for SymbolicSearch {
    fn measure(&self) -> Measure {
        self.measure
    }

    fn advance(&mut self) -> Result<Level, Failure> {
        let setting = &self.setting;
        // One thread meets nobody: its first turn is everything.
        let alone = setting.program.threads.len() <= 1;
        let (reached, all) = match (&mut self.engine, self.measure) {
            (Engine::Configurations(search), measure) => {
                let met = match search.advance(&setting.program, &self.target, measure) {
                    Ok(met) => met,
                    Err(NoTurn::Exhausted(error)) => return Err(exhausted(error).into()),
                    Err(NoTurn::Overflow) => return self.change_engine(),
                };
                let plan = met.map(|met| search.plan(&setting.program, &met)).transpose();
                let plan = plan.map_err(exhausted)?;
                let run = plan.map(|plan| setting.run(&plan, &self.target)).transpose()?;
                (run, alone || search.complete)
            }
            (Engine::Tuples { tuples, .. }, Measure::Rounds) => {
                (setting.round(tuples, &self.target)?, alone)
            }
            (Engine::Tuples { .. }, Measure::Contexts) => (self.count_context()?, alone),
        };
        Ok(Level { complete: all && reached.is_none(), reached })
    }

    fn count_states(&mut self) -> Result<u128, Failure> {
        let (ends, vars, manager) = self.ends()?;
        Ok(manager.count(&ends, &vars).map_err(exhausted)?)
    }

    fn states(&mut self, limit: usize) -> Result<Vec<Valuation>, Failure> {
        let (ends, vars, manager) = self.ends()?;
        let mut states: Vec<Valuation> = Vec::new();
        let mut next = manager.pick_from(&ends, &vars, &[]).map_err(exhausted)?;
        while let Some(state) = next.filter(|_| states.len() < limit) {
            // The next one differs first where this one has its last false that can become true.
            let falses = state.iter().enumerate().rev().filter(|&(_, &value)| !value);
            next = None;
            for (at, _) in falses {
                let mut prefix = state[..at].to_vec();
                prefix.push(true);
                next = manager.pick_from(&ends, &vars, &prefix).map_err(exhausted)?;
                if next.is_some() {
                    break;
                }
            }
            states.push(Valuation::of_bits(state));
        }
        Ok(states)
    }

    fn statistics(&self) -> Statistics {
        let space = match &self.engine {
            Engine::Tuples { tuples, .. } => &tuples.frame.space,
            Engine::Configurations(search) => &search.space,
        };
        Statistics {
            counts: vec![
                ("relational-products", self.spent.products + space.products()),
                ("peak-nodes", self.spent.peak.max(space.peak())),
            ],
        }
    }
}
