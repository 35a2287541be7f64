//! # Idea
//! Symbolic context-bounded analysis of programs with Boolean data, any number of threads, and
//! recursion, over decision diagrams. Sets of states, summaries of procedures, and what threads do
//! to the shared state in several contexts are all Boolean functions.
//!
//! - `control`, `layout`: the control flow of a thread; the variables and their order.
//! - `values`, `draft`, `steps`: expressions and steps as relations.
//! - `frame`, `stage`, `tuples`: the saturation of paper 001 Fig. 5.
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
//! The natural measure is rounds. Contexts are counted by a number in the shared state that an active
//! context increases and an idle one leaves: `K` contexts in any order are among `K` rounds.

mod control;
mod draft;
mod frame;
mod layout;
mod space;
mod stage;
mod steps;
mod trail;
mod tuples;
mod values;
mod witness;

use self::control::{Control, Reductions, atomic_depth};
use self::frame::Frame;
use self::layout::{Layout, shared_bits};
use self::space::Space;
use self::trail::{Goal, NoTrail, Trail, find_trail};
use self::tuples::{Found, Tuples};
use self::witness::assemble;
use selvedge_base::{Id, Interrupt};
use selvedge_bdd::{BddManager, MAX_VARIABLES, OutOfNodes, Var};
use selvedge_program::{
    Action, Level, Measure, Position, Program, Run, Search, Statistics, Successors, Target,
    Unknown, Valuation,
};

/// Which inputs of contexts are explored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Those that some run brings.
    Lazy,
    /// All; which of them were real is checked afterwards.
    Eager,
}

/// Settings that do not change answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolicOptions {
    /// How many nodes of decision diagrams may be stored at once.
    pub node_limit: usize,
}

impl Default for SymbolicOptions {
    fn default() -> Self {
        Self { node_limit: 1 << 25 }
    }
}

/// The greatest number of nested atomic sections.
const MOST_SECTIONS: u32 = 255;
/// The greatest number of rounds, if the diagrams have enough variables for them.
const MOST_ROUNDS: usize = 64;

/// The greatest number of steps of one thread in a run.
const MOST_STEPS: usize = 1 << 20;

/// A symbolic search that widens its bound step by step.
pub struct SymbolicSearch {
    program: Program,
    target: Target,
    measure: Measure,
    mode: Mode,
    options: SymbolicOptions,
    interrupt: Interrupt,
    controls: Vec<Control>,
    depth: u32,
    tuples: Tuples,
    /// How many contexts are allowed, if they are counted.
    contexts: u32,
    /// Work of searches that were given up for larger ones.
    spent: Spent,
}

#[derive(Clone, Copy, Default)]
struct Spent {
    products: u64,
    peak: u64,
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
        interrupt: &Interrupt,
    ) -> Result<Self, Unknown> {
        let locked = |edge: &selvedge_program::Edge| {
            matches!(edge.action, Action::Acquire(_) | Action::Release(_))
        };
        if program.edges.iter().any(locked) {
            let text = "the symbolic engine does not handle locks".to_owned();
            return Err(Unknown::Unsupported(text));
        }
        let successors = Successors::new(program);
        let anywhere = |position: &Position| *position == Position::Any;
        let switches = match target {
            Target::State(pattern) => pattern.threads.iter().all(anywhere),
            _ => true,
        };
        let reductions = Reductions { liveness: true, switches };
        let controls: Vec<Control> = program
            .threads
            .ids()
            .map(|thread| Control::new(program, &successors, thread, reductions))
            .collect();
        let Some(depth) = atomic_depth(program, &controls, MOST_SECTIONS) else {
            let text = format!("more than {MOST_SECTIONS} atomic sections can be open at once");
            return Err(Unknown::Unsupported(text));
        };
        let contexts = (measure == Measure::Contexts).then_some(0);
        let tuples = prepare(program, &controls, depth, contexts, mode, options, interrupt)?;
        Ok(Self {
            program: program.clone(),
            target: target.clone(),
            measure,
            mode,
            options,
            interrupt: interrupt.clone(),
            controls,
            depth,
            tuples,
            contexts: 0,
            spent: Spent::default(),
        })
    }

    /// One round more of the tuples.
    fn round(&mut self) -> Result<Option<Run>, Unknown> {
        let tuples = &mut self.tuples;
        if tuples.round >= tuples.frame.layout.rounds() {
            let text = format!("more than {} rounds need too many variables", tuples.round);
            return Err(Unknown::Unsupported(text));
        }
        let found = tuples
            .advance(&self.program, &self.target)
            .map_err(|error| tuples.frame.space.reason(error))?;
        found.map(|found| self.run(&found)).transpose()
    }

    /// A run to the target.
    fn run(&self, found: &Found) -> Result<Run, Unknown> {
        let program = &self.program;
        let stopped = |error| self.tuples.frame.space.reason(error);
        let interfaces = self.tuples.interfaces(found).map_err(stopped)?;
        let bits = shared_bits(program, self.depth, None);
        let layout = Layout::new(&bits, 0, most_locals(program));
        let space = Space::new(layout.variables, self.options.node_limit, &self.interrupt);
        let frame = Frame::new(space, layout, None).map_err(stopped)?;
        let successors = Successors::new(program);
        let everything = Reductions { liveness: false, switches: false };
        let mut trails = Vec::new();
        for (thread, interface) in program.threads.ids().zip(&interfaces) {
            let at = thread.index();
            let goal = match (found, &self.target) {
                (Found::Within(met, _), target) if *met == at => Goal::Meet(target),
                (Found::Between(_), Target::State(pattern)) => {
                    Goal::Leave(pattern.threads.get(thread).unwrap_or(&Position::Any))
                }
                _ => Goal::Leave(&Position::Any),
            };
            if interface.inputs.is_empty() {
                trails.push(Trail::default());
                continue;
            }
            let control = Control::new(program, &successors, thread, everything);
            let trail = find_trail(&frame, program, thread, &control, interface, goal, MOST_STEPS);
            trails.push(match trail {
                Ok(trail) => trail,
                Err(NoTrail::Stopped(error)) => return Err(frame.space.reason(error)),
                Err(NoTrail::TooLong) => {
                    let limit = MOST_STEPS as u64;
                    return Err(Unknown::WitnessTooLong { steps: limit, limit });
                }
                // Not possible unless the search is wrong; then the replayer refuses the run.
                Err(NoTrail::Missing) => Trail::default(),
            });
            frame.space.collect();
        }
        Ok(assemble(program, &frame, &interfaces, &trails))
    }

    /// Completes a round that the target ended. If a limit forbids it, the states stay those of the
    /// round before.
    fn finish(&mut self) {
        let _ = self.tuples.finish(&self.program);
    }

    /// Everything within one context more, from the start.
    fn count_context(&mut self) -> Result<Option<Run>, Unknown> {
        self.contexts += 1;
        let space = &self.tuples.frame.space;
        self.spent.products += space.products();
        self.spent.peak = self.spent.peak.max(space.peak());
        self.tuples = prepare(
            &self.program,
            &self.controls,
            self.depth,
            Some(self.contexts),
            self.mode,
            self.options,
            &self.interrupt,
        )?;
        for _ in 0..self.contexts {
            if let Some(run) = self.round()? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}

fn prepare(
    program: &Program,
    controls: &[Control],
    depth: u32,
    contexts: Option<u32>,
    mode: Mode,
    options: SymbolicOptions,
    interrupt: &Interrupt,
) -> Result<Tuples, Unknown> {
    let bits = shared_bits(program, depth, contexts);
    let locals = most_locals(program);
    let rounds = (1..=MOST_ROUNDS)
        .take_while(|&rounds| Layout::needed(&bits, rounds, locals) <= MAX_VARIABLES)
        .last();
    let Some(rounds) = rounds else {
        let text = "the program has more variables than the symbolic engine handles".to_owned();
        return Err(Unknown::Unsupported(text));
    };
    let layout = Layout::new(&bits, rounds, locals);
    let space = Space::new(layout.variables, options.node_limit, interrupt);
    let stopped = |OutOfNodes| {
        let reason = interrupt.poll().unwrap_or(selvedge_base::StopReason::Memory);
        Unknown::Stopped(reason)
    };
    let frame = Frame::new(space, layout, contexts).map_err(stopped)?;
    Tuples::new(frame, program, controls, mode).map_err(stopped)
}

/// How many locals or results a procedure has at most.
fn most_locals(program: &Program) -> usize {
    let frames = program.procedures.iter().map(|one| one.frame.locals.len().max(one.frame.results));
    frames.max().unwrap_or(0)
}

impl Search for SymbolicSearch {
    fn measure(&self) -> Measure {
        self.measure
    }

    fn advance(&mut self) -> Result<Level, Unknown> {
        let reached = match self.measure {
            Measure::Rounds => self.round()?,
            Measure::Contexts => self.count_context()?,
        };
        // One thread meets nobody: its first round is everything.
        let complete = reached.is_none() && self.program.threads.len() <= 1;
        Ok(Level { reached, complete })
    }

    fn count_states(&mut self) -> u128 {
        self.finish();
        self.tuples.frame.space.manager.count(&self.tuples.ends, &self.tuples.end_vars())
    }

    fn states(&mut self, limit: usize) -> Vec<Valuation> {
        self.finish();
        let manager = &self.tuples.frame.space.manager;
        let vars: Vec<Var> = self.tuples.end_vars();
        let mut states: Vec<Valuation> = Vec::new();
        let mut next = manager.pick_from(&self.tuples.ends, &vars, &[]);
        while let Some(state) = next.filter(|_| states.len() < limit) {
            // The next one differs first where this one has its last false that can become true.
            next =
                state.iter().enumerate().rev().filter(|&(_, &value)| !value).find_map(|(at, _)| {
                    let prefix: Vec<bool> =
                        state[..at].iter().copied().chain(std::iter::once(true)).collect();
                    manager.pick_from(&self.tuples.ends, &vars, &prefix)
                });
            states.push(Valuation(state));
        }
        states
    }

    fn statistics(&self) -> Statistics {
        let space = &self.tuples.frame.space;
        Statistics {
            counts: vec![
                ("relational-products", self.spent.products + space.products()),
                ("peak-nodes", self.spent.peak.max(space.peak())),
            ],
        }
    }
}
