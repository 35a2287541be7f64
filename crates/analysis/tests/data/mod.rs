//! The engines for data, asked as the command line asks, against exhaustive search within the same
//! bound.

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_program::{
    Answer, Bound, Measure, NodeId, Program, Question, Target, Unknown, Verdict, text, validate,
};
use selvedge_replay::exhaustive::bounded::{BoundedLimits, BoundedSets, bounded_states};
use selvedge_testkit::Rng;
use selvedge_testkit::boolean::targets::random_state;

/// The largest bound.
pub const MOST: u32 = 3;

/// The engines.
pub const SEARCHES: [EngineKind; 5] =
    [EngineKind::Explicit, EngineKind::Lazy, EngineKind::Eager, EngineKind::Pds, EngineKind::Spds];

/// The seeds of a run: those of the environment, or `few` from the first one.
pub fn seeds(few: u64) -> std::ops::Range<u64> {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let first = number("SELVEDGE_SEED", 1);
    first..first + number("SELVEDGE_PROGRAMS", few)
}

/// What became of the programs and questions.
#[derive(Default, Debug)]
pub struct Tally {
    pub programs: usize,
    /// Too many states, or an open call too many, for trying everything.
    pub large: usize,
    /// Asked of an engine.
    pub questions: usize,
    pub reached: usize,
    /// Targets for which it matters what the programs are about; each is asked of several engines.
    pub noticed: usize,
    pub safe: usize,
    /// An engine refused, because atomic sections nest without bound, or needed too many nodes.
    pub refused: usize,
}

impl Tally {
    /// The comparison meant something.
    pub fn check(&self) {
        assert!(self.programs * 3 > self.large, "{self:?}");
        assert!(self.refused * 10 < self.questions, "{self:?}");
        assert!(self.reached * 20 > self.questions && self.safe > 0, "{self:?}");
        assert!(self.noticed > 3, "{self:?}");
    }
}

/// The answer to one question.
pub fn one(program: &Program, question: &Question, options: &Options) -> Answer {
    let questions = std::slice::from_ref(question);
    let report = answer(&Prepared::new(program), questions, options, &Budget::new(), &mut |_| {});
    let mut report = report.unwrap_or_else(|error| panic!("{error}\n{}", text::print(program)));
    report.answers.remove(0)
}

/// What a program can do within the largest bound, if trying everything comes to an end.
pub fn oracle(program: &Program, targets: &[Target], measure: Measure) -> Option<BoundedSets> {
    let limits = BoundedLimits { call_depth: 4, states: 6_000 };
    let bound = Bound { measure, limit: MOST };
    let sets = bounded_states(program, targets, bound, limits, &Budget::new()).ok()?;
    (!sets.cut).then_some(sets)
}

/// What was asked about a program, and what it can do.
pub struct Compared {
    pub targets: [Target; 3],
    pub measure: Measure,
    pub expected: BoundedSets,
}

/// Compares all engines with trying everything. One of the targets is one of `nodes`.
pub fn compare(
    program: &Program,
    nodes: &[NodeId],
    rng: &mut Rng,
    seed: u64,
    tally: &mut Tally,
) -> Option<Compared> {
    assert_eq!(validate::validate(program), [], "seed {seed}");
    if nodes.is_empty() {
        return None;
    }
    let label = Target::Label(vec![*rng.pick(nodes)]);
    let targets = [Target::Assertion, label, random_state(program, rng)];
    let measure = if seed.is_multiple_of(3) { Measure::Contexts } else { Measure::Rounds };
    let Some(expected) = oracle(program, &targets, measure) else {
        tally.large += 1;
        return None;
    };
    tally.programs += 1;
    for (at, target) in targets.iter().enumerate() {
        let question = Question::Reach(target.clone());
        for engine in SEARCHES {
            if measure == Measure::Contexts && !engine.bounds_contexts() {
                continue;
            }
            // One pushdown system for all threads grows fast with the rounds.
            let most = if engine == EngineKind::Pds { MOST - 1 } else { MOST };
            let limit = 1 + rng.below(most as usize);
            let options = Options {
                measure,
                limit: Some(limit as u32),
                max_nodes: Some(50_000),
                ..Options::new(Some(engine))
            };
            let within = expected.levels[limit - 1].reached[at];
            let ever = expected.levels[MOST as usize - 1].reached[at];
            let verdict = one(program, &question, &options).verdict.map(|_| ());
            let what = || {
                let (name, text) = (engine.name(), text::print(program));
                format!("seed {seed}, {name}, {limit} {measure:?}, {target:?}: {verdict:?}\n{text}")
            };
            tally.questions += 1;
            match verdict {
                Verdict::Violation(()) => {
                    assert!(within, "{}", what());
                    tally.reached += 1;
                }
                Verdict::Safe => {
                    assert!(!ever, "{}", what());
                    tally.safe += 1;
                }
                Verdict::Unknown(Unknown::Within(_)) => assert!(!within, "{}", what()),
                Verdict::Unknown(Unknown::Unsupported(ref why)) => {
                    assert!(why.contains("atomic section"), "{}", what());
                    tally.refused += 1;
                }
                Verdict::Unknown(Unknown::Nodes { .. }) => tally.refused += 1,
                Verdict::Unknown(_) => panic!("{}", what()),
            }
        }
    }
    Some(Compared { targets, measure, expected })
}
