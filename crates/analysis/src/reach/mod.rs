//! # Idea
//! Questions about data under a bound: [`reach()`] chooses an engine ([`ReachEngine`]), widens the bound
//! level by level until a violation, a proof or a limit, and replays what the engine found.
//!
//! # Invariants
//! 1. A violation exists only as a trace that the replayer has executed.
//! 2. `safe` is said only for a fixpoint of complete global configurations, or where the program has
//!    nothing that could fail.

mod engine;

pub use engine::ReachEngine;

use crate::questions::InternalError;
pub(crate) use engine::Running;
use selvedge_base::{Budget, Id};
use selvedge_program::{
    Action, Bound, LevelCount, Measure, Program, Question, ReachAnswer, Statistics, Target, Trace,
    Unknown, Valuation, Verdict, VisibleState, Witness,
};
use selvedge_replay::replay;

/// Bounds beyond this are explored only if they are asked for, where recursion may keep a search
/// from ever closing.
const DEEPEST: u32 = 20;

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReachOptions {
    /// Which engine; chosen by the size of the data if none is named.
    pub engine: Option<ReachEngine>,
    /// What the bound counts.
    pub measure: Measure,
    /// The bound; without one it widens until something is decided.
    pub limit: Option<u32>,
    /// Whether to count the states that are visible: with the tops of the stacks.
    pub visible: bool,
    /// How many threads a start site may start, if the front end had to cut some off.
    pub starts_per_site: Option<u32>,
}

impl ReachOptions {
    /// Any engine, without a bound.
    pub fn new(measure: Measure) -> Self {
        Self { engine: None, measure, limit: None, visible: false, starts_per_site: None }
    }
}

/// An answer with the search that gave it, for questions about its states.
pub struct Reached<'p> {
    /// The answer.
    pub answer: ReachAnswer,
    /// The engine that gave it.
    pub engine: ReachEngine,
    /// Why this one, if none was named.
    pub chosen: Option<&'static str>,
    search: Option<Running<'p>>,
}

impl Reached<'_> {
    /// The first `limit` shared states within the bound, in ascending order.
    pub fn states(&mut self, limit: usize) -> Vec<Valuation> {
        self.search.as_mut().map_or_else(Vec::new, |search| search.states(limit))
    }

    /// The first `limit` visible states within the bound, in ascending order, if the engine has them.
    pub fn visible_states(&mut self, limit: usize) -> Option<Vec<VisibleState>> {
        self.search.as_mut()?.visible_states(limit)
    }
}

/// Decides whether `target` can be reached in a valid program. Without a target the question is
/// which states can be reached, and `safe` means that all of them were found.
///
/// # Errors
/// If an engine claims a run that does not replay.
pub fn reach<'p>(
    program: &'p Program,
    target: Option<&Target>,
    options: &ReachOptions,
    budget: &Budget,
    on_level: &mut dyn FnMut(u32),
) -> Result<Reached<'p>, InternalError> {
    let nothing = Target::Label(Vec::new());
    let named = options.engine.map(|engine| (engine, None));
    let (engine, chosen) = named.unwrap_or_else(|| {
        let (engine, why) = ReachEngine::choose(program);
        (engine, Some(why))
    });
    let asked = target.unwrap_or(&nothing);
    let mut answer = ReachAnswer {
        verdict: Verdict::Safe,
        bound: Bound { measure: options.measure, limit: 0 },
        levels: Vec::new(),
        complete: false,
        statistics: Statistics::default(),
    };
    let mut search = match Running::new(engine, program, asked, options, budget) {
        Ok(search) => search,
        Err(why) => {
            answer.verdict = Verdict::Unknown(why);
            return Ok(Reached { answer, engine, chosen, search: None });
        }
    };
    let found = widen(&mut search, &mut answer, program, options, on_level);
    answer.statistics = search.statistics();
    answer.verdict = match found {
        Some(run) => {
            let trace =
                replay(program, &Question::Reach(asked.clone()), &run).map_err(|error| {
                    let name = engine.name();
                    InternalError(format!("engine {name}: a witness does not replay: {error}"))
                })?;
            Verdict::Violation(trace)
        }
        None => conclude(answer.verdict, answer.bound, answer.complete, options),
    };
    if cannot_fail(program, target) {
        answer.verdict = Verdict::Safe;
    }
    Ok(Reached { answer, engine, chosen, search: Some(search) })
}

/// Widens the bound until something is decided; leaves a reason in the verdict if a limit was met.
fn widen(
    search: &mut Running<'_>,
    answer: &mut ReachAnswer,
    program: &Program,
    options: &ReachOptions,
    on_level: &mut dyn FnMut(u32),
) -> Option<Witness> {
    let limit = options.limit.unwrap_or(if is_recursive(program) { DEEPEST } else { u32::MAX });
    while answer.bound.limit < limit && !answer.complete {
        on_level(answer.bound.limit + 1);
        match search.advance() {
            Ok(level) => {
                answer.bound.limit += 1;
                // A thread that is alone cannot do more in a second context than in the first.
                answer.complete = level.complete || program.threads.len() == 1;
                answer.levels.push(LevelCount {
                    limit: answer.bound.limit,
                    shared: search.count_states(),
                    visible: if options.visible { search.count_visible() } else { None },
                });
                if level.reached.is_some() {
                    return level.reached;
                }
            }
            Err(why) => {
                answer.verdict = Verdict::Unknown(why);
                return None;
            }
        }
    }
    None
}

/// What follows if nothing was found.
fn conclude(
    verdict: Verdict<Trace>,
    bound: Bound,
    complete: bool,
    options: &ReachOptions,
) -> Verdict<Trace> {
    match (verdict, options.starts_per_site) {
        (Verdict::Unknown(why), _) => Verdict::Unknown(why),
        (_, Some(starts)) if complete => Verdict::Unknown(Unknown::Starts(starts)),
        _ if complete => Verdict::Safe,
        _ => Verdict::Unknown(Unknown::Within(bound)),
    }
}

/// Whether the question is about assertions and there are none.
fn cannot_fail(program: &Program, target: Option<&Target>) -> bool {
    let asserts = || program.edges.iter().any(|edge| matches!(edge.action, Action::Assert(_)));
    target == Some(&Target::Assertion) && !asserts()
}

/// Whether a procedure can be called while it is active.
fn is_recursive(program: &Program) -> bool {
    let mut callees = vec![Vec::new(); program.procedures.len()];
    let mut indegrees = vec![0usize; program.procedures.len()];
    for edge in &program.edges {
        if let Action::Call(callee) = edge.action {
            let caller = program.nodes[edge.source];
            callees[caller.index()].push(callee.index());
            indegrees[callee.index()] += 1;
        }
    }
    // A graph has no cycle iff its vertices can be taken away in order, each without predecessors.
    let mut free: Vec<usize> = (0..callees.len()).filter(|&at| indegrees[at] == 0).collect();
    let mut taken = 0;
    while let Some(at) = free.pop() {
        taken += 1;
        for &callee in &callees[at] {
            indegrees[callee] -= 1;
            if indegrees[callee] == 0 {
                free.push(callee);
            }
        }
    }
    taken < callees.len()
}
