//! # Idea
//! Explicit search by contexts or by rounds, for programs with little data. Two search spaces share
//! one order of exploration (`levels`): global configurations with their whole stacks
//! (`interleaving`), and, once a stack turns out to grow without bound within one context, shared
//! states with one regular set of stacks per thread (`aggregate`).
//!
//! # Source
//! Qadeer and Rehof, *Context-bounded model checking of concurrent software* (TACAS 2005); paper 001
//! §2 for rounds. ERRATA, 001: a plateau of shared or visible states proves nothing, so
//! [`Level::complete`] is said only when no thread leads from any configuration to another one, or
//! when no return can uncover anything that leads to another visible state (`generators`).
//!
//! # Invariants
//! 1. Both spaces give the same states and the same answers at every level, except that sets of
//!    stacks may be found complete later.
//! 2. Runs have no more contexts, or rounds, than the level at which they were found.
//! 3. A run that was found is reported, also if its level could not be explored to the end; states
//!    are counted and listed only for levels that were.

mod aggregate;
mod arrangement;
mod classes;
mod configurations;
mod generators;
pub(crate) mod goal;
mod interleaving;
mod language;
mod levels;
mod saturation;
mod stacks;
mod visible;
pub(crate) mod witness;

use crate::expand::{Expansion, valuation};
use crate::symmetry::{copies, permuted};
use aggregate::Aggregates;
use classes::Classes;
use generators::{Attempt, Top, View, Views};
use goal::TargetTest;
use interleaving::{Interleaving, Reduction};
use levels::{Halt, Levels, MOST_THREADS};
use rustc_hash::FxHashSet;
use selvedge_base::{Budget, Id, StopReason};
use selvedge_program::{
    Failure, Level, Measure, Program, Proof, Search, Statistics, Target, Unknown, Valuation,
    VisibleState, Witness,
};
use stacks::StackId;
use visible::Visible;

/// Which search space is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum StackChoice {
    /// Single stacks as long as they are bounded within a context, then sets of stacks.
    #[default]
    Automatic,
    /// Sets of stacks from the beginning.
    Sets,
}

/// An explicit search.
///
/// ```
/// use selvedge_base::Budget;
/// use selvedge_bounded::explicit::{ExplicitSearch, StackChoice};
/// use selvedge_program::{Measure, Search, Target};
///
/// let (program, _) = selvedge_program::text::parse(
///     "program thread T main m { procedure m nodes 2 entry 0 exit 1 { 0 -> 1 skip } }",
/// );
/// let program = program.expect("a program");
/// let (target, measure) = (Target::Assertion, Measure::Contexts);
/// let budget = Budget::new();
/// let mut search =
///     ExplicitSearch::new(&program, &target, measure, StackChoice::Automatic, &budget).unwrap();
/// let level = search.advance().unwrap();
/// assert!(level.complete && level.reached.is_none());
/// ```
pub struct ExplicitSearch<'p> {
    program: &'p Program,
    target: Target,
    measure: Measure,
    budget: Budget,
    space: SearchSpace<'p>,
    levels: Levels,
    /// How many levels were explored.
    level: u32,
    /// How many of them with sets of stacks.
    caught_up: u32,
    run: Option<Witness>,
    /// Why the last level was not explored to its end.
    stopped: Option<Failure>,
    visible: Visible,
    /// For each stack what `visible` sees of it.
    labels: Vec<u32>,
    /// How many states of the space `visible` knows.
    looked_at: u32,
    /// Whether stacks may grow with every level.
    growing: bool,
    views: Views,
    /// For each stack what `views` see of it.
    tops: Vec<Top>,
    /// Nodes that are not told apart in `views`, once they are needed.
    classes: Option<Classes>,
    /// How many states of the space `views` knows, and how many are known not to show the view at
    /// which the last attempt at a proof ended.
    viewed: u32,
    compared: u32,
    /// What the last attempt at a proof came to, and how many there were.
    attempt: Option<Attempt>,
    attempts: u32,
    proof: Proof,
}

enum SearchSpace<'p> {
    Stacks(Box<Interleaving<'p>>),
    Sets(Box<Aggregates<'p>>),
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
        stacks: StackChoice,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let threads = program.threads.len();
        if threads > MOST_THREADS {
            return Err(Unknown::Unsupported(format!(
                "the explicit search handles at most {MOST_THREADS} threads, but there are {threads}"
            )));
        }
        let (space, levels) = match stacks {
            StackChoice::Automatic => {
                single_stacks(program, target, measure, Reduction::default(), budget)?
            }
            StackChoice::Sets => sets_of_stacks(program, target, measure, budget)?,
        };
        Ok(Self {
            program,
            target: target.clone(),
            measure,
            budget: budget.clone(),
            space,
            levels,
            level: 0,
            caught_up: 0,
            run: None,
            stopped: None,
            visible: Visible::new(program),
            labels: Vec::new(),
            looked_at: 0,
            growing: threads > 1 && program.is_recursive(),
            views: Views::new(threads),
            tops: Vec::new(),
            classes: None,
            viewed: 0,
            compared: 0,
            attempt: None,
            attempts: 0,
            proof: Proof::Fixpoint,
        })
    }

    /// The same without configurations in which private steps are left to be taken, and up to permutation
    /// of interchangeable copies if that is wanted and contexts are counted; all configurations where
    /// there is recursion. Visible states are then not to be counted: they show what is left out.
    ///
    /// # Errors
    /// If the program does not fit.
    pub fn reduced(mut self, symmetry: bool) -> Result<Self, Unknown> {
        let Self { program, target, measure, budget, .. } = &self;
        if matches!(self.space, SearchSpace::Stacks(_)) && !program.is_recursive() {
            let copies = if symmetry { permuted(program, target, *measure) } else { Vec::new() };
            let reduction = Reduction { copies, private: true };
            (self.space, self.levels) =
                single_stacks(program, target, *measure, reduction, budget)?;
        }
        Ok(self)
    }

    /// How many configurations were found if those that are permutations of each other count as one;
    /// nothing where stacks grow without bound. A search up to permutation has found as many.
    pub fn count_orbits(&mut self) -> Option<usize> {
        let copies = copies(self.program, &self.target);
        match &mut self.space {
            SearchSpace::Stacks(space) => Some(space.orbits(copies)),
            SearchSpace::Sets(_) => None,
        }
    }

    /// How many visible states are reachable within the bound so far: values of the globals, with
    /// the label of the node on top of each stack.
    ///
    /// # Errors
    /// If a limit was met before they were counted.
    pub fn count_visible(&mut self) -> Result<u64, Failure> {
        self.look()?;
        Ok(self.visible.count())
    }

    /// The first `limit` of these states in ascending order.
    ///
    /// # Errors
    /// If a limit was met before they were found.
    pub fn visible_states(&mut self, limit: usize) -> Result<Vec<VisibleState>, Failure> {
        self.look()?;
        Ok(self.visible.first(limit))
    }

    /// Explores the next level, and all before it if the space was changed.
    fn explore(&mut self) -> Result<bool, Halt> {
        match &mut self.space {
            SearchSpace::Stacks(space) => {
                self.levels.advance(&mut **space)?;
                self.levels.is_complete(&mut **space)
            }
            SearchSpace::Sets(space) => {
                while self.caught_up <= self.level {
                    self.levels.advance(&mut **space)?;
                    self.caught_up += 1;
                }
                self.levels.is_complete(&mut **space)
            }
        }
    }

    /// Rebuilds the run to the target once it was found, also right after a limit was met.
    fn rebuild(&mut self) -> Result<(), Failure> {
        if self.run.is_some() {
            return Ok(());
        }
        self.run = match self.rebuilt(&self.budget.clone()) {
            Err(Failure::Unknown(Unknown::Stopped(_))) => {
                self.rebuilt(&Budget::with_steps(LAST_WORK))?
            }
            run => run?,
        };
        Ok(())
    }

    fn rebuilt(&mut self, budget: &Budget) -> Result<Option<Witness>, Failure> {
        let history = self.levels.history();
        Ok(match &mut self.space {
            SearchSpace::Stacks(space) => match space.hit {
                None => None,
                Some(hit) => {
                    let (first, taken) = space.run(history, hit)?;
                    Some(witness::run(&space.expansion, first, &taken))
                }
            },
            SearchSpace::Sets(space) => match space.hit {
                None => None,
                Some(hit) => {
                    let (first, taken) = space.run(history, hit, budget)?;
                    Some(witness::run(&space.expansion, first, &taken))
                }
            },
        })
    }

    /// Goes over to sets of stacks. What was found with single ones is found.
    fn go_over(&mut self) -> Result<(), Failure> {
        self.rebuild()?;
        let Self { program, target, measure, budget, .. } = self;
        (self.space, self.levels) = sets_of_stacks(program, target, *measure, budget)?;
        self.looked_at = 0;
        self.visible = Visible::new(self.program);
        self.viewed = 0;
        self.views = Views::new(self.program.threads.len());
        (self.labels, self.tops) = (Vec::new(), Vec::new());
        self.compared = 0;
        self.classes = None;
        self.attempt = None;
        Ok(())
    }

    /// Explores the next level, whatever it takes.
    fn finish_level(&mut self) -> Result<bool, Failure> {
        let mut explored = self.explore();
        if let Err(Halt::Unbounded) = explored {
            self.go_over()?;
            explored = self.explore();
        }
        explored.map_err(|halt| match halt {
            Halt::Failure(failure) => failure,
            Halt::Unbounded => Failure::fault("a set of stacks has no bound to exceed"),
        })
    }

    /// How often a proof that no view is missing was tried.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether no view is missing, although stacks may still grow.
    fn has_all_views(&mut self) -> Result<bool, StopReason> {
        match self.attempt {
            Some(Attempt::Proved) => return Ok(true),
            Some(Attempt::Hopeless) => return Ok(false),
            Some(Attempt::Missing(_)) | None => {}
        }
        let budget = &self.budget;
        let goal = match &self.space {
            SearchSpace::Stacks(space) => &space.goal,
            SearchSpace::Sets(space) => &space.goal,
        };
        let classes = match &mut self.classes {
            Some(classes) => classes,
            none => none.insert(Classes::new(self.program, goal, &self.visible, budget)?),
        };
        // Views are gathered only if an attempt can get further than the last one.
        if let Some(Attempt::Missing(missing)) = &self.attempt
            && !find_view(&mut self.space, classes, &mut self.compared, missing, budget)?
        {
            return Ok(false);
        }
        let views = &mut self.views;
        match &mut self.space {
            SearchSpace::Stacks(space) => {
                let mut tops = Vec::with_capacity(self.program.threads.len());
                let Interleaving { configurations, stacks, expansion, .. } = &mut **space;
                for stack in self.tops.len()..stacks.len() {
                    let top = stacks.top(StackId::from_index(stack));
                    self.tops.push(top.map(|top| classes.of(expansion, top)));
                }
                let count = configurations.len() as u32;
                while self.viewed < count && !views.are_too_many() {
                    poll(budget, self.viewed)?;
                    let shared = configurations.shared(self.viewed);
                    if expansion.layout().in_atomic(shared).is_none() {
                        let stacks = configurations.entries(self.viewed).iter();
                        tops.clear();
                        tops.extend(stacks.map(|stack| self.tops[stack.index()]));
                        views.add(shared, &tops);
                    }
                    self.viewed += 1;
                }
            }
            SearchSpace::Sets(space) => {
                while (self.viewed as usize) < space.len() && !views.are_too_many() {
                    let shared = space.shared(self.viewed);
                    let tops = classes_of_tops(space, classes, self.viewed);
                    views.add_all(shared, &tops, budget)?;
                    self.viewed += 1;
                }
            }
        }
        let (expansion, goal) = match &mut self.space {
            SearchSpace::Stacks(space) => (&mut space.expansion, &space.goal),
            SearchSpace::Sets(space) => (&mut space.expansion, &space.goal),
        };
        if views.are_too_many() {
            self.attempt = Some(Attempt::Hopeless);
            return Ok(false);
        }
        self.compared = self.viewed;
        self.attempts += 1;
        let attempt = generators::attempt(views, classes, expansion, goal, budget)?;
        Ok(*self.attempt.insert(attempt) == Attempt::Proved)
    }

    /// Adds what can be seen of the states since the last time.
    fn look(&mut self) -> Result<(), Failure> {
        self.check_finished()?;
        let budget = &self.budget;
        let visible = &mut self.visible;
        match &self.space {
            SearchSpace::Stacks(space) => {
                for stack in self.labels.len()..space.stacks.len() {
                    let top = space.stacks.top(StackId::from_index(stack));
                    self.labels.push(visible.top(&space.expansion, top));
                }
                let layout = space.expansion.layout();
                let mut tops = Vec::with_capacity(self.program.threads.len());
                while self.looked_at < space.configurations.len() as u32 {
                    let state = self.looked_at;
                    poll(budget, state)?;
                    let shared = space.configurations.shared(state);
                    let stacks = space.configurations.entries(state).iter();
                    let seen = stacks.zip(self.program.threads.ids()).map(|(&stack, thread)| {
                        let label = self.labels[stack.index()];
                        Visible::of_thread(layout, shared, thread, label)
                    });
                    tops.clear();
                    tops.extend(seen);
                    visible.add(layout, shared, &tops);
                    self.looked_at += 1;
                }
            }
            SearchSpace::Sets(space) => {
                while self.looked_at < space.len() as u32 {
                    let state = self.looked_at;
                    let shared = space.shared(state);
                    let tops: Vec<Vec<u32>> = space
                        .tops(state)
                        .map(|(thread, tops)| {
                            let layout = space.expansion.layout();
                            let seen = |top| {
                                let label = visible.top(&space.expansion, top);
                                Visible::of_thread(layout, shared, thread, label)
                            };
                            let mut seen: Vec<u32> = tops.map(seen).collect();
                            seen.sort_unstable();
                            seen.dedup();
                            seen
                        })
                        .collect();
                    visible.add_all(space.expansion.layout(), shared, &tops, budget)?;
                    self.looked_at += 1;
                }
            }
        }
        Ok(())
    }

    /// Whether everything within the bound was explored.
    fn check_finished(&self) -> Result<(), Failure> {
        self.stopped.clone().map_or(Ok(()), Err)
    }

    fn globals(&self) -> &FxHashSet<u64> {
        match &self.space {
            SearchSpace::Stacks(space) => space.globals(),
            SearchSpace::Sets(space) => space.globals(),
        }
    }
}

/// How many states are looked at between two looks at the budget.
const POLL_EVERY: u32 = 1024;

/// The work that rebuilding a run may take after a limit was met: a moment.
const LAST_WORK: u64 = 256 * 1024;

/// Looks at the budget now and then.
fn poll(budget: &Budget, count: u32) -> Result<(), StopReason> {
    if count.is_multiple_of(POLL_EVERY) {
        budget.charge(1 + u64::from(count.min(POLL_EVERY)))
    } else {
        Ok(())
    }
}

/// Whether a view is shown by one of the states that were not compared with it yet.
fn find_view(
    space: &mut SearchSpace<'_>,
    classes: &mut Classes,
    compared: &mut u32,
    (shared, tops): &View,
    budget: &Budget,
) -> Result<bool, StopReason> {
    let count = match space {
        SearchSpace::Stacks(space) => space.configurations.len() as u32,
        SearchSpace::Sets(space) => space.len() as u32,
    };
    while *compared < count {
        poll(budget, *compared)?;
        let shows = match space {
            SearchSpace::Stacks(space) => {
                let Interleaving { configurations, stacks, expansion, .. } = &mut **space;
                configurations.shared(*compared) == *shared
                    && configurations.entries(*compared).iter().zip(tops).all(|(&stack, &top)| {
                        stacks.top(stack).map(|top| classes.of(expansion, top)) == top
                    })
            }
            SearchSpace::Sets(space) => {
                space.shared(*compared) == *shared
                    && classes_of_tops(space, classes, *compared)
                        .iter()
                        .zip(tops)
                        .all(|(all, top)| all.contains(top))
            }
        };
        if shows {
            return Ok(true);
        }
        *compared += 1;
    }
    Ok(false)
}

/// For each thread the classes of the symbols that are on top of its stacks in a state.
fn classes_of_tops(space: &mut Aggregates<'_>, classes: &mut Classes, state: u32) -> Vec<Vec<Top>> {
    let mut tops: Vec<Vec<Top>> = space.tops(state).map(|(_, tops)| tops.collect()).collect();
    for tops in &mut tops {
        for top in tops.iter_mut().flatten() {
            *top = classes.of(&mut space.expansion, *top);
        }
        tops.sort_unstable();
        tops.dedup();
    }
    tops
}

fn single_stacks<'p>(
    program: &'p Program,
    target: &Target,
    measure: Measure,
    reduction: Reduction,
    budget: &Budget,
) -> Result<(SearchSpace<'p>, Levels), Unknown> {
    let goal = TargetTest::new(program, target);
    let space = Interleaving::new(Expansion::new(program, budget)?, goal, reduction, budget)?;
    let (threads, initial) = (program.threads.len(), space.configurations.len());
    let levels = Levels::new::<Interleaving<'_>>(measure, threads, initial, budget);
    Ok((SearchSpace::Stacks(Box::new(space)), levels))
}

fn sets_of_stacks<'p>(
    program: &'p Program,
    target: &Target,
    measure: Measure,
    budget: &Budget,
) -> Result<(SearchSpace<'p>, Levels), Unknown> {
    let expansion = Expansion::new(program, budget)?;
    let space = Aggregates::new(expansion, TargetTest::new(program, target), budget)?;
    let (threads, initial) = (program.threads.len(), space.len());
    let levels = Levels::new::<Aggregates<'_>>(measure, threads, initial, budget);
    Ok((SearchSpace::Sets(Box::new(space)), levels))
}

impl Search for ExplicitSearch<'_> {
    fn measure(&self) -> Measure {
        self.measure
    }

    fn advance(&mut self) -> Result<Level, Failure> {
        self.check_finished()?;
        self.budget.check()?;
        let mut complete = match self.finish_level() {
            Ok(complete) => complete,
            Err(failure) => {
                // What was found before a limit is found.
                self.stopped = Some(failure.clone());
                if matches!(failure, Failure::Unknown(_)) {
                    self.rebuild()?;
                }
                let reached = self.run.clone().ok_or(failure)?;
                return Ok(Level { reached: Some(reached), complete: false });
            }
        };
        self.level += 1;
        self.rebuild()?;
        self.proof = Proof::Fixpoint;
        if !complete && self.growing && self.run.is_none() {
            // A proof that was stopped is none, but the level was explored.
            complete = self.has_all_views() == Ok(true);
            self.proof = Proof::Generators;
        }
        Ok(Level { reached: self.run.clone(), complete })
    }

    fn proof(&self) -> Proof {
        self.proof
    }

    fn count_states(&mut self) -> Result<u128, Failure> {
        self.check_finished()?;
        Ok(self.globals().len() as u128)
    }

    fn states(&mut self, limit: usize) -> Result<Vec<Valuation>, Failure> {
        self.check_finished()?;
        let count = self.program.globals.len();
        let words = self.globals().iter();
        let mut all: Vec<Valuation> = words.map(|&word| valuation(word, count)).collect();
        all.sort_unstable();
        all.truncate(limit);
        Ok(all)
    }

    fn statistics(&self) -> Statistics {
        let counts = match &self.space {
            SearchSpace::Stacks(space) => vec![
                ("configurations", space.configurations.len() as u64),
                ("steps", space.steps),
                ("stack-symbols", space.expansion.symbols() as u64),
                ("stacks", space.stacks.len() as u64),
                ("deepest-stack", u64::from(space.stacks.deepest())),
            ],
            SearchSpace::Sets(space) => vec![
                ("aggregates", space.len() as u64),
                ("contexts", space.contexts() as u64),
                ("stack-symbols", space.expansion.symbols() as u64),
                ("sets-of-stacks", space.sets() as u64),
            ],
        };
        Statistics { counts }
    }
}
