//! # Idea
//! The searches of this crate as engines. What an engine is asked becomes a target for a search over
//! data: what is no truth value becomes bits ([`selvedge_lower::bits`]), locks and joins become shared
//! variables where there are any ([`crate::monitor`]), and so do channels before them
//! ([`selvedge_lower::channels`]), a pattern or an automaton becomes a monitor. Then the bound widens, level by level, until a violation, a proof or
//! a limit, and the run that was found is translated back to the program that was asked about.
//!
//! # Invariants
//! 1. A witness is one of the program that was asked about, not of a translated one.
//! 2. `safe` is said only for a fixpoint of complete global configurations, for visible states that
//!    no return can add to, or where the program has nothing that could fail.
//! 3. A violation that was found is returned whatever limit is met after it.

use crate::explicit::{ExplicitSearch, StackChoice};
use crate::expr::beyond_truth_values;
use crate::monitor::{StepMap, joins_to_data, locks_to_data, monitor, original};
use crate::reduction::{self, PdsSearch, SpdsSearch};
use crate::slice::{Slice, Slices};
use crate::symbolic::{Mode, SymbolicOptions, SymbolicSearch};
use crate::symmetry::copies;
use selvedge_base::Budget;
use selvedge_lower::marked::MarkedRun;
use selvedge_lower::{BitProgram, LockSet, Marked, TargetParts, channels_to_data, to_bits};
use selvedge_program::{
    Action, Bound, Decision, Engine, Explored, Failure, Fault, Feature, Features, LevelCount,
    Measure, NodeId, Program, Question, Search, States, Statistics, Target, Type, Unknown,
    Valuation, Value, Verdict, Witness,
};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Which search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Decision diagrams, over inputs of contexts that some run brings.
    Lazy,
    /// Decision diagrams, over all inputs of contexts.
    Eager,
    /// Explicit states, by contexts.
    Explicit,
    /// The reduction to one pushdown system.
    Pds,
    /// The reduction to one symbolic pushdown system.
    Spds,
}

impl Kind {
    /// Whether it can bound contexts as well as rounds.
    pub fn bounds_contexts(self) -> bool {
        !matches!(self, Self::Pds | Self::Spds)
    }

    /// The kind for a program with these features if none is named, and why.
    pub fn choose(program: &Program, features: Features) -> (Self, &'static str) {
        let recursive = features.contains(Feature::Recursion);
        if !program.numerals.is_empty() {
            (Self::Explicit, "it is a pushdown system")
        } else if !recursive {
            (Self::Lazy, "there is no recursion")
        } else if has_little_data(program) {
            (Self::Explicit, "there is recursion, and little data")
        } else {
            (Self::Lazy, "there is recursion, and much data")
        }
    }

    /// The kind for one of many questions about small programs: it needs no preparation, and sees
    /// at once that nothing is left to reach.
    fn choose_small(program: &Program) -> Self {
        if has_little_data(program) {
            return Self::Explicit;
        }
        Self::choose(program, program.features()).0
    }
}

/// With at most this many bits of globals and of locals of one procedure, the states of a recursive
/// program are searched one by one, which can come to an end.
const FEW_BITS: u32 = 12;

/// Whether the states can be searched one by one.
fn has_little_data(program: &Program) -> bool {
    let bits = |ty: Type| {
        let (low, high) = program.range(ty);
        i64::BITS - (i64::from(high) - i64::from(low)).leading_zeros()
    };
    let globals: u32 = program.globals.iter().map(|global| bits(global.ty)).sum();
    let locals = program
        .procedures
        .iter()
        .map(|procedure| procedure.frame.locals.iter().map(|local| bits(local.ty)).sum::<u32>());
    globals + locals.max().unwrap_or(0) <= FEW_BITS
}

/// Bounds beyond this are explored only if they are asked for, where recursion may keep a search
/// from ever closing.
const DEEPEST: u32 = 20;

/// With more globals than this, those that the question cannot depend on are left out of the search.
const MANY_GLOBALS: usize = 64;

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoundedOptions {
    /// Which search; chosen for the translated program if none is named.
    pub kind: Option<Kind>,
    /// What the bound counts.
    pub measure: Measure,
    /// The bound; without one it widens until something is decided.
    pub limit: Option<u32>,
    /// Whether to count the states that are visible: with the tops of the stacks.
    pub visible: bool,
    /// How many states to list, if any.
    pub list: Option<usize>,
    /// How many threads a start site may start, if the front end had to cut some off.
    pub starts_per_site: Option<u32>,
    /// How many nodes of decision diagrams may be stored at once, if not as many as usual.
    pub max_nodes: Option<usize>,
    /// Whether configurations are stored up to permutation of interchangeable copies, where contexts are
    /// counted.
    pub symmetry: bool,
}

/// An engine that searches under a bound.
pub struct Bounded<'p> {
    program: &'p Program,
    features: Features,
    slices: Rc<Slices>,
    options: BoundedOptions,
    budget: Budget,
    statistics: Statistics,
}

impl<'p> Bounded<'p> {
    /// An engine for all questions about `program`.
    pub fn new(program: &'p Program, options: BoundedOptions, budget: &Budget) -> Self {
        Self::prepared(program, program.features(), Rc::default(), options, budget)
    }

    /// An engine for all questions about `program`, which has these features; it shares its slices
    /// with others.
    pub fn prepared(
        program: &'p Program,
        features: Features,
        slices: Rc<Slices>,
        options: BoundedOptions,
        budget: &Budget,
    ) -> Self {
        let (budget, statistics) = (budget.clone(), Statistics::default());
        Self { program, features, slices, options, budget, statistics }
    }

    /// The question as one about data.
    fn translated(&self, question: &Question) -> Result<Translated<'p>, Unknown> {
        match question {
            Question::Reach(target) => {
                let Self { program, features, slices, budget, .. } = self;
                Translated::reach(program, *features, slices, target, budget)
            }
            // Nothing is a violation, and everything is explored.
            Question::States => {
                let nothing = Target::Label(Vec::new());
                let bits = as_bits(self.program, self.features, &nothing, &self.budget)?;
                if bits.as_ref().is_some_and(|bits| bits.loose) {
                    let why = "a global may begin with any value, and these are not as many as its \
                               bits can write: states cannot be counted";
                    return Err(Unknown::Unsupported(why.to_owned()));
                }
                Translated::unlocked(bits, None, self.program, &nothing, &self.budget)
            }
            _ => {
                let monitored = monitor(self.program, question, &self.budget)?;
                Ok(Translated {
                    bits: None,
                    slice: None,
                    program: Cow::Owned(monitored.program),
                    target: monitored.target,
                    origin: Some(monitored.origin),
                })
            }
        }
    }

    fn search(
        &mut self,
        question: &Question,
        widened: &mut dyn FnMut(Bound),
    ) -> Result<Decision, Failure> {
        if self.features.contains(Feature::Channels) {
            return self.over_channels(question, widened);
        }
        if let (Question::Race(_), Some(marked)) = (question, Marked::new(self.program, question)) {
            return self.marked(&marked, widened);
        }
        let translated = self.translated(question)?;
        let Translated { program, target, .. } = &translated;
        let kind = self.options.kind.unwrap_or_else(|| Kind::choose_small(program));
        let options =
            BoundedOptions { measure: self.measure(kind, program, target), ..self.options };
        let mut running = Running::new(kind, program, target, &options, &self.budget)?;
        let mut explored = Explored {
            bound: Bound { measure: options.measure, limit: 0 },
            levels: Vec::new(),
            complete: false,
            proof: None,
            states: None,
        };
        let found = self.widen(&mut running, &mut explored, program, widened);
        self.statistics.add(&running.search().statistics());
        // States that a limit has kept from being found are not listed at all.
        let list = |limit| self.list(&mut running, &translated, limit).ok();
        explored.states = self.options.list.and_then(list);
        let mut verdict = match found {
            Ok(Some(witness)) => Verdict::Violation(translated.original(witness, self.program)),
            Ok(None) => self.conclude(&explored),
            Err(Failure::Unknown(why)) => Verdict::Unknown(why),
            Err(fault) => return Err(fault),
        };
        let failing = if translated.bits.is_some() { program } else { self.program };
        if cannot_fail(failing, question) {
            verdict = Verdict::Safe;
        }
        Ok(Decision { verdict, explored: Some(explored), searched: None, refined: None })
    }

    /// What is counted. Where no bound was asked for and more than two copies are interchangeable, that is
    /// contexts: rounds tell copies apart.
    fn measure(&self, kind: Kind, program: &Program, target: &Target) -> Measure {
        let BoundedOptions { measure, limit, visible, .. } = self.options;
        let permutes = matches!(kind, Kind::Lazy | Kind::Explicit) && !visible;
        let many = || copies(program, target).iter().any(|group| group.threads.len() > 2);
        if limit.is_none() && permutes && many() {
            return Measure::Contexts;
        }
        measure
    }

    /// The question about a program in which channels are data. What is counted of its states is not
    /// what the program itself has, so no states are shown.
    fn over_channels(
        &mut self,
        question: &Question,
        widened: &mut dyn FnMut(Bound),
    ) -> Result<Decision, Failure> {
        let without = channels_to_data(self.program)?;
        let Some(asked) = without.question(question) else {
            let why = "states are not counted where threads meet over channels; ask for a label, a \
                       state or an assertion";
            return Err(Unknown::Unsupported(why.to_owned()).into());
        };
        let options = BoundedOptions { list: None, visible: false, ..self.options };
        let mut inner = Bounded::new(&without.program, options, &self.budget);
        let mut decision = match (question, without.marked(self.program, question)) {
            (Question::Race(_), Some(marked)) => inner.marked(&marked, widened)?,
            _ => inner.search(&asked, widened)?,
        };
        self.statistics.add(&inner.statistics);
        decision.explored.iter_mut().for_each(|explored| explored.levels.clear());
        if let Verdict::Violation(witness) = &decision.verdict {
            decision.verdict = Verdict::Violation(without.original(witness));
        }
        Ok(decision)
    }

    /// A race, as a label of a program that marks who is about to access the location.
    fn marked(
        &mut self,
        marked: &Marked,
        widened: &mut dyn FnMut(Bound),
    ) -> Result<Decision, Failure> {
        if marked.goals.is_empty() {
            return Ok(Verdict::Safe.into());
        }
        let mut inner = Bounded::new(&marked.program, self.options, &self.budget);
        let asked = Question::Reach(Target::Label(marked.goals.clone()));
        let mut decision = inner.search(&asked, widened)?;
        self.statistics.add(&inner.statistics);
        if let Verdict::Violation(witness) = &decision.verdict {
            decision.verdict = match marked.shown(witness) {
                MarkedRun::Run(run) if marked.exact => Verdict::Violation(run),
                // Later values may forbid the access that was marked.
                _ => Verdict::Unknown(Unknown::OtherData(None)),
            };
        }
        Ok(decision)
    }

    /// Widens the bound until something is decided or a limit is met.
    fn widen(
        &self,
        running: &mut Running<'_>,
        explored: &mut Explored,
        program: &Program,
        widened: &mut dyn FnMut(Bound),
    ) -> Result<Option<Witness>, Failure> {
        let deepest = || if program.is_recursive() { DEEPEST } else { u32::MAX };
        let limit = self.options.limit.unwrap_or_else(deepest);
        while explored.bound.limit < limit && !explored.complete {
            widened(Bound { limit: explored.bound.limit + 1, ..explored.bound });
            let level = running.search().advance()?;
            explored.bound.limit += 1;
            // A thread that is alone cannot do more in a second context than in the first.
            explored.complete = level.complete || program.threads.len() == 1;
            explored.proof = explored.complete.then(|| running.search().proof());
            // A count that a limit has cut short is no count: then the level has none.
            match running.search().count_states() {
                Ok(shared) => explored.levels.push(LevelCount {
                    limit: explored.bound.limit,
                    shared,
                    visible: if self.options.visible { running.count_visible() } else { None },
                }),
                Err(Failure::Unknown(_)) => {}
                Err(fault) => return Err(fault),
            }
            if level.reached.is_some() {
                return Ok(level.reached);
            }
        }
        Ok(None)
    }

    /// What follows if nothing was found within a bound.
    fn conclude(&self, explored: &Explored) -> Verdict<Witness> {
        match self.options.starts_per_site {
            Some(starts) if explored.complete => Verdict::Unknown(Unknown::Starts(starts)),
            None if explored.complete => Verdict::Safe,
            _ => Verdict::Unknown(Unknown::Within(explored.bound)),
        }
    }

    fn list(
        &self,
        running: &mut Running<'_>,
        translated: &Translated<'_>,
        limit: usize,
    ) -> Result<States, Failure> {
        if let (true, Running::Explicit(search)) = (self.options.visible, &mut *running) {
            return Ok(States::Visible(search.visible_states(limit)?));
        }
        let mut others = Vec::new();
        let name = |thread| format!("ended({})", self.program.threads[thread].name);
        if let Some(StepMap { ended, locks, .. }) = &translated.origin {
            others.extend(ended.keys().map(|&thread| name(thread)));
            others.extend(locks.keys().map(|&lock| self.program.locks[lock].name.clone()));
        }
        let states = running.search().states(limit)?;
        let Some(bits) = &translated.bits else { return Ok(States::Shared { others, states }) };
        // What the bits write, then who has ended, then which locks are held.
        others.extend(bits.locks().map(|lock| self.program.locks[lock].name.clone()));
        let typed = |state: &Valuation| {
            let (mut values, held) = bits.state(state)?;
            values.0.extend(&state.0[bits.program.globals.len()..]);
            values.0.extend(held.into_iter().map(Value::from));
            Some(values)
        };
        let states: BTreeSet<Valuation> = states.iter().filter_map(typed).collect();
        Ok(States::Shared { others, states: states.into_iter().collect() })
    }
}

impl Engine for Bounded<'_> {
    fn decide(
        &mut self,
        question: &Question,
        widened: &mut dyn FnMut(Bound),
    ) -> Result<Decision, Fault> {
        match self.search(question, widened) {
            Ok(decision) => Ok(decision),
            Err(Failure::Unknown(why)) => Ok(Verdict::Unknown(why).into()),
            Err(Failure::Fault(fault)) => Err(fault),
        }
    }

    fn statistics(&self) -> Statistics {
        self.statistics.clone()
    }
}

/// A question about data: the program to search, what is to be reached in it, and the way back to
/// the program that was asked about, if it is another one.
struct Translated<'p> {
    /// The program with bits for its data, if it has more than truth values.
    bits: Option<BitProgram>,
    /// The part of the globals that matters, if some were left out first.
    slice: Option<Rc<Slice>>,
    program: Cow<'p, Program>,
    target: Target,
    origin: Option<StepMap>,
}

/// The program with bits for its data; nothing if it has truth values only.
fn as_bits(
    program: &Program,
    features: Features,
    target: &Target,
    budget: &Budget,
) -> Result<Option<BitProgram>, Unknown> {
    if !beyond_truth_values(features) {
        return Ok(None);
    }
    to_bits(program, &TargetParts::by(target), budget).map(Some)
}

impl<'p> Translated<'p> {
    fn reach(
        program: &'p Program,
        features: Features,
        slices: &Slices,
        target: &Target,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let bits = as_bits(program, features, target, budget)?;
        let target = bits.as_ref().map_or_else(|| target.clone(), |bits| bits.target(target));
        // What is kept between questions are slices of the program itself: which bits there are
        // depends on the question.
        let slice = match &bits {
            None if program.globals.len() > MANY_GLOBALS => slices.of(program, &target),
            Some(bits) if bits.program.globals.len() > MANY_GLOBALS => {
                Slice::new(&bits.program, &target).map(Rc::new)
            }
            _ => None,
        };
        let target = slice.as_ref().map_or_else(|| target.clone(), |slice| slice.target(&target));
        Self::unlocked(bits, slice, program, &target, budget)
    }

    /// The question about a slice of a program, or about all of it, without locks and joins.
    fn unlocked(
        bits: Option<BitProgram>,
        slice: Option<Rc<Slice>>,
        program: &'p Program,
        target: &Target,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let searched = bits.as_ref().map_or(program, |bits| &bits.program);
        let part = slice.as_ref().map_or(searched, |slice| &slice.program);
        if searched.locks.is_empty() {
            if let Some((without, origin)) = joins_to_data(part) {
                let target = origin.target(target);
                return Ok(Self {
                    bits,
                    slice,
                    program: Cow::Owned(without),
                    target,
                    origin: Some(origin),
                });
            }
            let program = match (&slice, &bits) {
                (Some(slice), _) => Cow::Owned(slice.program.clone()),
                (None, Some(bits)) => Cow::Owned(bits.program.clone()),
                (None, None) => Cow::Borrowed(program),
            };
            return Ok(Self { bits, slice, program, target: target.clone(), origin: None });
        }
        let mut named = LockSet::new();
        if let Target::State(pattern) = target {
            for &(lock, _) in &pattern.locks {
                named.insert(lock);
            }
        }
        let (unlocked, origin) = locks_to_data(part, &named, budget)?;
        let target = origin.target(target);
        Ok(Self { bits, slice, program: Cow::Owned(unlocked), target, origin: Some(origin) })
    }

    /// A witness of the searched program as one of the program that was asked about.
    fn original(&self, witness: Witness, program: &Program) -> Witness {
        let searched = self.bits.as_ref().map_or(program, |bits| &bits.program);
        let part = self.slice.as_ref().map_or(searched, |slice| &slice.program);
        let locked = match &self.origin {
            Some(origin) => original(&witness, origin, part),
            None => witness,
        };
        let whole = match &self.slice {
            Some(slice) => slice.original(&locked, searched),
            None => locked,
        };
        match &self.bits {
            Some(bits) => bits.original(&whole, program),
            None => whole,
        }
    }
}

/// The nodes on runs to the target within a number of rounds.
///
/// # Errors
/// If the program does not fit, or a limit was met.
pub fn projection(
    program: &Program,
    target: &Target,
    rounds: u32,
    budget: &Budget,
) -> Result<Vec<NodeId>, Unknown> {
    let (features, slices) = (program.features(), Slices::default());
    let translated = Translated::reach(program, features, &slices, target, budget)?;
    let nodes = reduction::projection(&translated.program, &translated.target, rounds, budget)?;
    let back = |node: NodeId| {
        let node = translated.origin.as_ref().map_or(Some(node), |origin| origin.nodes[node])?;
        translated.bits.as_ref().map_or(Some(node), |bits| bits.node(node))
    };
    let old: BTreeSet<NodeId> = nodes.into_iter().filter_map(back).collect();
    Ok(old.into_iter().collect())
}

/// A search that has begun.
enum Running<'p> {
    Explicit(Box<ExplicitSearch<'p>>),
    Other(Box<dyn Search + 'p>),
}

impl<'p> Running<'p> {
    fn new(
        kind: Kind,
        program: &'p Program,
        target: &Target,
        options: &BoundedOptions,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let measure = options.measure;
        if measure == Measure::Contexts && !kind.bounds_contexts() {
            return Err(Unknown::Unsupported(
                "this engine bounds rounds only; lazy, eager and explicit bound contexts"
                    .to_owned(),
            ));
        }
        let symbolic = |mode| {
            let default = SymbolicOptions::default();
            let node_limit = options.max_nodes.unwrap_or(default.node_limit);
            let options = SymbolicOptions { node_limit, symmetry: options.symmetry, ..default };
            SymbolicSearch::new(program, target, measure, mode, options, budget)
        };
        Ok(match kind {
            Kind::Lazy => Self::Other(Box::new(symbolic(Mode::Lazy)?)),
            Kind::Eager => Self::Other(Box::new(symbolic(Mode::Eager)?)),
            Kind::Explicit => {
                let stacks = StackChoice::default();
                let mut search = ExplicitSearch::new(program, target, measure, stacks, budget)?;
                if !options.visible {
                    search = search.reduced(options.symmetry)?;
                }
                Self::Explicit(Box::new(search))
            }
            Kind::Pds => Self::Other(Box::new(PdsSearch::new(program, target, budget)?)),
            Kind::Spds => {
                let search = SpdsSearch::new(program, target, budget)?;
                Self::Other(Box::new(search.with_node_limit(options.max_nodes)))
            }
        })
    }

    fn search(&mut self) -> &mut (dyn Search + 'p) {
        match self {
            Self::Explicit(search) => &mut **search,
            Self::Other(search) => &mut **search,
        }
    }

    /// How many visible states there are, if the engine knows the stacks and has seen them all.
    fn count_visible(&mut self) -> Option<u64> {
        match self {
            Self::Explicit(search) => search.count_visible().ok(),
            Self::Other(_) => None,
        }
    }
}

/// Whether the question is about assertions and there are none.
fn cannot_fail(program: &Program, question: &Question) -> bool {
    let asserts = || program.edges.iter().any(|edge| matches!(edge.action, Action::Assert(_)));
    *question == Question::Reach(Target::Assertion) && !asserts()
}
