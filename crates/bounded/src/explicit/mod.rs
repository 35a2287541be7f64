//! # Idea
//! Explicit search by contexts or by rounds, for programs with little data. Two search spaces share
//! one order of exploration ([`levels`]): global configurations with their whole stacks
//! ([`interleaving`]), and, once a stack turns out to grow without bound within one context, shared
//! states with one regular set of stacks per thread.
//!
//! # Source
//! Qadeer and Rehof, *Context-bounded model checking of concurrent software* (TACAS 2005); paper 001
//! §2 for rounds. ERRATA, 001: a plateau of shared or visible states proves nothing, so
//! [`Level::complete`] is said only when no thread leads from any configuration to another one.
//!
//! # Invariants
//! 1. Both spaces give the same states and the same answers at every level.
//! 2. Runs have no more contexts, or rounds, than the level at which they were found.

mod configurations;
mod goal;
mod interleaving;
mod levels;
mod stacks;
mod visible;
mod witness;

use crate::expand::{Expansion, valuation};
use goal::Goal;
use interleaving::Interleaving;
use levels::{Halt, Levels, MOST_THREADS};
use selvedge_base::Interrupt;
use selvedge_program::{
    Level, Measure, Program, Run, Search, Statistics, Target, Unknown, Valuation, VisibleState,
};
use visible::Visible;

/// Which search space is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Stacks {
    /// Single stacks as long as they are bounded within a context, then sets of stacks.
    #[default]
    Automatic,
    /// Sets of stacks from the beginning.
    Sets,
}

/// An explicit search.
pub struct ExplicitSearch<'p> {
    measure: Measure,
    space: Plain<'p>,
    run: Option<Run>,
    visible: Visible,
    /// How many configurations `visible` knows.
    looked_at: u32,
}

struct Plain<'p> {
    space: Interleaving<'p>,
    levels: Levels,
}

impl<'p> ExplicitSearch<'p> {
    /// A search for a target in a program.
    ///
    /// # Errors
    /// If the program does not fit.
    pub fn new(
        program: &'p Program,
        target: &Target,
        measure: Measure,
        _stacks: Stacks,
        interrupt: &Interrupt,
    ) -> Result<Self, Unknown> {
        let threads = program.threads.len();
        if threads > MOST_THREADS {
            return Err(Unknown::Unsupported(format!(
                "the explicit search handles at most {MOST_THREADS} threads, but there are {threads}"
            )));
        }
        let expansion = Expansion::new(program)?;
        let space = Interleaving::new(expansion, Goal::new(program, target))?;
        let initial = space.configurations.len();
        let levels = Levels::new::<Interleaving<'_>>(measure, threads, initial, interrupt);
        Ok(Self {
            measure,
            space: Plain { space, levels },
            run: None,
            visible: Visible::new(program),
            looked_at: 0,
        })
    }

    fn look(&mut self) {
        let space = &self.space.space;
        for state in self.looked_at..space.configurations.len() as u32 {
            let tops = space.tops(state).map(|(_, top)| self.visible.top(&space.expansion, top));
            let tops: Box<[u32]> = tops.collect();
            let shared = space.configurations.shared(state);
            self.visible.add(space.expansion.layout(), shared, tops);
        }
        self.looked_at = space.configurations.len() as u32;
    }

    /// How many visible states are reachable within the bound so far: values of the globals, with
    /// the label of the node on top of each stack.
    pub fn count_visible(&mut self) -> u64 {
        self.look();
        self.visible.count()
    }

    /// The first `limit` of these states in ascending order.
    pub fn visible_states(&mut self, limit: usize) -> Vec<VisibleState> {
        self.look();
        self.visible.first(limit)
    }
}

impl Search for ExplicitSearch<'_> {
    fn measure(&self) -> Measure {
        self.measure
    }

    fn advance(&mut self) -> Result<Level, Unknown> {
        let Plain { space, levels } = &mut self.space;
        let halted = |halt| match halt {
            Halt::Unknown(unknown) => unknown,
            Halt::Unbounded => Unknown::Unsupported("a stack grows without bound".to_owned()),
        };
        levels.advance(space).map_err(halted)?;
        let complete = levels.is_complete(space).map_err(halted)?;
        if let (None, Some(hit)) = (&self.run, space.hit) {
            let (first, taken) = space.run(levels.history(), hit);
            self.run = Some(witness::run(&space.expansion, first, &taken));
        }
        Ok(Level { reached: self.run.clone(), complete })
    }

    fn count_states(&mut self) -> u128 {
        self.space.space.globals().len() as u128
    }

    fn states(&mut self, limit: usize) -> Vec<Valuation> {
        let count = self.space.space.expansion.program().globals.len();
        let words = self.space.space.globals().iter();
        let mut all: Vec<Valuation> = words.map(|&word| valuation(word, count)).collect();
        all.sort_unstable();
        all.truncate(limit);
        all
    }

    fn statistics(&self) -> Statistics {
        let Interleaving { expansion, stacks, configurations, steps, .. } = &self.space.space;
        Statistics {
            counts: vec![
                ("configurations", configurations.len() as u64),
                ("steps", *steps),
                ("stack-symbols", expansion.symbols() as u64),
                ("stacks", stacks.len() as u64),
                ("deepest-stack", u64::from(stacks.deepest())),
            ],
        }
    }
}
