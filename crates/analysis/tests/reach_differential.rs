//! All engines for data against exhaustive search under the same bound, on random concurrent Boolean
//! programs: the *sets* of reachable shared states for every bound, the least bound of a violation,
//! and every run replayed. The sequentialized program, analysed as a sequential one, takes part.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs; `cargo xtask differential` uses it.

use selvedge_base::{Budget, IdVec};
use selvedge_bounded::explicit::{ExplicitSearch, StackChoice};
use selvedge_bounded::sequentialize;
use selvedge_bounded::symbolic::{Mode, SymbolicOptions, SymbolicSearch};
use selvedge_front_bool::parse;
use selvedge_program::{
    Bound, Measure, Position, Program, Question, Search, StatePattern, Target, ThreadId, Unknown,
    Valuation,
};
use selvedge_replay::exhaustive::bounded::{BoundedLimits, BoundedSets, bounded_states};
use selvedge_replay::replay;
use selvedge_testkit::BoolModel;
use selvedge_testkit::boolean::generate::{BoolShape, random_bool_model};
use selvedge_testkit::boolean::shrink::shrink_bool;
use selvedge_testkit::rng::Rng;
use selvedge_testkit::shared::all_run_the_first;
use std::collections::BTreeSet;

fn programs(default: u64) -> u64 {
    std::env::var("SELVEDGE_PROGRAMS").map_or(default, |number| number.parse().expect("a number"))
}

/// The largest bound.
const MOST: u32 = 4;

fn oracle(program: &Program, target: &Target, measure: Measure) -> Option<BoundedSets> {
    let limits = BoundedLimits { call_depth: 5, states: 20_000 };
    let bound = Bound { measure, limit: MOST };
    let targets = std::slice::from_ref(target);
    let sets = bounded_states(program, targets, bound, limits, &Budget::new()).ok()?;
    (!sets.cut).then_some(sets)
}

/// What is wrong with a search, compared with the oracle.
fn complaint(
    mut search: impl Search,
    program: &Program,
    target: &Target,
    expected: &BoundedSets,
) -> Option<String> {
    for (at, level) in expected.levels.iter().enumerate() {
        let bound = at as u32 + 1;
        let found = match search.advance() {
            Ok(found) => found,
            Err(why) => return Some(format!("bound {bound}: {why}")),
        };
        let states: BTreeSet<Valuation> =
            search.states(usize::MAX).expect("no limit is met").into_iter().collect();
        if states != level.states {
            return Some(format!("bound {bound}: {states:?} instead of {:?}", level.states));
        }
        if search.count_states().expect("no limit is met") != states.len() as u128 {
            return Some(format!("bound {bound}: the count is wrong"));
        }
        if found.reached.is_some() != level.reached[0] {
            return Some(format!("bound {bound}: reached is {}", found.reached.is_some()));
        }
        if let Some(run) = found.reached {
            if let Err(error) = replay(program, &Question::Reach(target.clone()), &run) {
                return Some(format!("bound {bound}: a run does not replay: {error}"));
            }
            let needed = match search.measure() {
                Measure::Rounds => run.rounds(),
                Measure::Contexts => run.contexts(),
            };
            return (needed > bound).then(|| format!("bound {bound}: the run needs {needed}"));
        }
        // No later level may have more if this one is complete. (Configurations inside of atomic
        // sections may be new, because nobody can take over there.)
        let last = expected.levels.last().expect("there are levels");
        if found.complete && (last.states != level.states || last.reached[0]) {
            return Some(format!("bound {bound}: it is not complete"));
        }
    }
    None
}

/// The first disagreement about a program; `None` if there is none, or if it is too large.
fn disagreement(program: &Program, measure: Measure, compared: &mut Compared) -> Option<String> {
    let target = Target::Assertion;
    let expected = oracle(program, &target, measure)?;
    compared.programs += 1;
    compared.violations += u64::from(expected.least(0).is_some());
    compared.deep += u64::from(expected.least(0).is_some_and(|least| least > 1));
    let budget = Budget::new();
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        let explicit = ExplicitSearch::new(program, &target, measure, stacks, &budget);
        let explicit = explicit.expect("the program is small");
        if let Some(why) = complaint(explicit, program, &target, &expected) {
            return Some(format!("explicit, {stacks:?}, {measure:?}: {why}"));
        }
    }
    for mode in [Mode::Lazy, Mode::Eager] {
        let options = SymbolicOptions::default();
        let symbolic = SymbolicSearch::new(program, &target, measure, mode, options, &budget);
        let symbolic = match symbolic {
            Ok(symbolic) => symbolic,
            // Recursion can nest atomic sections without bound.
            Err(Unknown::Unsupported(_)) => {
                compared.refused += 1;
                return None;
            }
            Err(why) => return Some(format!("{mode:?}, {measure:?}: {why}")),
        };
        if let Some(why) = complaint(symbolic, program, &target, &expected) {
            return Some(format!("{mode:?}, {measure:?}: {why}"));
        }
    }
    if measure == Measure::Rounds {
        let rounds = 1 + (compared.programs % 3) as u32;
        let whole = compared.programs.is_multiple_of(8);
        if let Some(why) = sequentialized(program, rounds, whole, &expected) {
            return Some(format!("sequentialized, {rounds} rounds: {why}"));
        }
    }
    None
}

/// The sequential program, analysed as one, against the oracle on the concurrent one: the verdict,
/// and if `whole` is set the set of shared states as well.
fn sequentialized(
    program: &Program,
    rounds: u32,
    whole: bool,
    expected: &BoundedSets,
) -> Option<String> {
    let sequential = sequentialize(program, rounds).ok()?;
    let level = &expected.levels[rounds as usize - 1];
    let reaches = |target: &Target| {
        let options = SymbolicOptions::default();
        let budget = Budget::new();
        let mut search = SymbolicSearch::new(
            &sequential.program,
            target,
            Measure::Rounds,
            Mode::Lazy,
            options,
            &budget,
        )
        .expect("the program is small");
        search.advance().expect("no limit is met").reached.is_some()
    };
    if reaches(&sequential.target) != level.reached[0] {
        return Some(format!("the verdict is {}", !level.reached[0]));
    }
    let globals = program.globals.len();
    for number in 0..if whole { 1u32 << globals } else { 0 } {
        let values = (0..globals).map(|at| number >> at & 1 == 1);
        let state = Valuation::of_bits(values);
        let there: IdVec<ThreadId, Position> =
            std::iter::once(Position::At(vec![sequential.done])).collect();
        let target = Target::State(StatePattern {
            globals: sequential.shared.iter().copied().zip(state.0.iter().copied()).collect(),
            locks: Vec::new(),
            threads: there,
        });
        if reaches(&target) != level.states.contains(&state) {
            return Some(format!("it is wrong about {state:?}"));
        }
    }
    None
}

#[derive(Default)]
struct Compared {
    programs: u64,
    violations: u64,
    deep: u64,
    refused: u64,
}

fn compare(seeds: std::ops::Range<u64>, shape: &BoolShape) -> Compared {
    let mut compared = Compared::default();
    for seed in seeds {
        let model = random_bool_model(&mut Rng::new(seed), shape);
        let measure = if seed % 4 == 3 { Measure::Contexts } else { Measure::Rounds };
        if let Some(why) = disagreement(&program_of(&model), measure, &mut compared) {
            let small = shrink_bool(model, |model| {
                disagreement(&program_of(model), measure, &mut Compared::default()).is_some()
            });
            let program = program_of(&small);
            let after = disagreement(&program, measure, &mut Compared::default());
            panic!(
                "seed {seed}: {why}\nsmaller: {after:?}\n{}",
                selvedge_program::text::print(&program)
            );
        }
    }
    compared
}

/// The program of a model, through the front end where the model can be written as text.
fn program_of(model: &BoolModel) -> Program {
    match model.to_bp() {
        Some(text) => {
            let parsed = parse(&text, &selvedge_front_bool::Options::default());
            parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
        }
        None => model.to_program(),
    }
}

#[test]
fn engines_agree_on_random_programs() {
    let compared = compare(0..programs(700), &BoolShape::SMALL);
    assert!(compared.programs > programs(700) / 2, "{}", compared.programs);
    assert!(compared.violations > compared.programs / 10, "{}", compared.violations);
    assert!(compared.deep > 0, "no violation needs a second round");
    assert!(compared.refused < compared.programs / 10, "{}", compared.refused);
}

/// A node does not tell which thread is there.
#[test]
fn engines_agree_on_shared_procedures() {
    let mut compared = Compared::default();
    for seed in 3_000_000..3_000_000 + programs(150) {
        let model = random_bool_model(&mut Rng::new(seed), &BoolShape::SMALL);
        let program = all_run_the_first(&model.to_program()).expect("there are threads");
        assert_eq!(selvedge_program::validate::validate(&program), [], "seed {seed}");
        let measure = if seed % 4 == 3 { Measure::Contexts } else { Measure::Rounds };
        if let Some(why) = disagreement(&program, measure, &mut compared) {
            panic!("seed {seed}: {why}\n{}", selvedge_program::text::print(&program));
        }
    }
    assert!(compared.programs > programs(150) / 2, "{}", compared.programs);
    assert!(compared.violations > compared.programs / 20, "{}", compared.violations);
}

#[test]
fn engines_agree_on_programs_in_text_form() {
    let compared = compare(1_000_000..1_000_000 + programs(300), &BoolShape::SMALL_BOPPO);
    assert!(compared.programs > programs(300) / 2, "{}", compared.programs);
}

#[test]
fn engines_agree_on_sequential_programs() {
    let compared = compare(2_000_000..2_000_000 + programs(200), &BoolShape::SEQUENTIAL);
    assert!(compared.programs > programs(200) / 2, "{}", compared.programs);
}
