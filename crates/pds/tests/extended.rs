//! Extended weighted pushdown systems: the saturations against the values of runs, and the worked
//! example of the source.

mod figure_4;

use selvedge_base::{Budget, Id, IdVec};
use selvedge_pds::domains::{
    GenKill, LocalFacts, LocalValues, PrefixSet, PrefixSets, Relation, Relations, TooManyNodes,
    Transfer,
};
use selvedge_pds::merging::value_of_run;
use selvedge_pds::random::Random;
use selvedge_pds::{
    Configuration, Increments, Merging, NoReasons, PAutomaton, Pds, RuleId, WeightDomain,
    WeightedAutomaton, check_merging, extended_post_star, extended_pre_star,
    extended_run_from_post_star, extended_run_from_pre_star, generate, oracle, text,
    weighted_post_star, weighted_pre_star,
};
use std::collections::BTreeSet;

const LOCALS: LocalValues = LocalValues { locals: 2 };
const LONGEST: usize = 6;

struct Case {
    pds: Pds,
    weights: IdVec<RuleId, Relation>,
    start: Configuration,
}

fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let (states, symbols) = (1 + random.below(2), 2 + random.below(2));
    let rules = 3 + random.below(5);
    let pds = generate::small(&mut random, states, symbols, rules);
    let start = generate::configuration(&mut random, states, symbols, 2);
    let weights = pds.rules.ids().map(|_| {
        let count = 1 + random.below(5);
        Relation::new(4, (0..count).map(|_| (random.below(4), random.below(4))))
    });
    Case { weights: weights.collect(), pds, start }
}

/// All runs from a configuration with at most `steps` rules, with where they end.
fn runs(pds: &Pds, start: &Configuration, steps: usize) -> Vec<(Vec<RuleId>, Configuration)> {
    let mut all = vec![(Vec::new(), start.clone())];
    let mut from = 0;
    for _ in 0..steps {
        let to = all.len();
        for at in from..to {
            let (rules, configuration) = all[at].clone();
            for (rule, after) in pds.successors(&configuration) {
                let mut longer = rules.clone();
                longer.push(rule);
                all.push((longer, after));
            }
        }
        from = to;
        if all.len() > 3000 {
            break;
        }
    }
    all
}

fn is_part(part: &Relation, whole: &Relation) -> bool {
    part.pairs().all(|(i, j)| whole.contains(i, j))
}

#[test]
fn values_are_those_of_the_runs() {
    let budget = Budget::new();
    let mut domain = Relations::new(4);
    let (mut elements, mut merged) = (0, 0);
    for seed in 0..400 {
        let Case { pds, weights, start } = case(seed);
        let unit = |configuration: &Configuration| {
            let set = PAutomaton::singleton(pds.states, configuration);
            WeightedAutomaton::unit(set, &Relations::new(4))
        };
        let mut locals = LOCALS;
        let forward = extended_post_star(
            &pds,
            &weights,
            &mut locals,
            &mut domain,
            &unit(&start),
            Increments::new(),
            &budget,
        )
        .unwrap();
        let mut goals = BTreeSet::new();
        for (rules, end) in runs(&pds, &start, LONGEST) {
            let value = value_of_run(&pds, &weights, &mut locals, &mut domain, &rules).unwrap();
            let all = forward.value_of(&mut domain, &end, &budget).unwrap();
            assert!(is_part(&value, &all), "seed {seed}: {rules:?}");
            let plain = oracle::weight_of_run(&weights, &mut domain, &rules).unwrap();
            merged += usize::from(plain != value);
            goals.insert(end);
        }
        for goal in goals.into_iter().take(12) {
            let value = forward.value_of(&mut domain, &goal, &budget).unwrap();
            let backward = extended_pre_star(
                &pds,
                &weights,
                &mut locals,
                &mut domain,
                &unit(&goal),
                Increments::new(),
                &budget,
            )
            .unwrap();
            // Both directions say the same of the same runs.
            let same = backward.value_of(&mut domain, &start, &budget).unwrap();
            assert_eq!(same, value, "seed {seed}: {goal:?}");
            for element in value.pairs() {
                let query = PAutomaton::singleton(pds.states, &goal);
                let found = extended_run_from_post_star(
                    &pds,
                    &weights,
                    &mut locals,
                    &mut domain,
                    &forward,
                    &query,
                    &element,
                    10_000,
                    &budget,
                );
                let query = PAutomaton::singleton(pds.states, &start);
                let other = extended_run_from_pre_star(
                    &weights,
                    &mut locals,
                    &mut domain,
                    &backward,
                    &query,
                    &element,
                    10_000,
                    &budget,
                );
                for run in [found.unwrap(), other.unwrap()] {
                    assert_eq!(run.start, start, "seed {seed}");
                    assert_eq!(pds.replay(&run.start, &run.rules), Ok(goal.clone()), "seed {seed}");
                    let value = value_of_run(&pds, &weights, &mut locals, &mut domain, &run.rules);
                    assert!(value.unwrap().contains(element.0, element.1), "seed {seed}");
                }
                elements += 1;
            }
        }
    }
    assert!(elements > 5000 && merged > 3000, "{elements} elements, {merged} merged");
}

/// Merging by `⊗`, as a saturation that does not know it sees it.
struct Plain;

impl<D: WeightDomain> Merging<D> for Plain {
    fn merge(
        &mut self,
        domain: &mut D,
        _rule: RuleId,
        caller: &D::Weight,
        callee: &D::Weight,
    ) -> Result<D::Weight, D::Error> {
        domain.extend(caller, callee)
    }
}

#[test]
fn merging_by_extend_changes_nothing() {
    let budget = Budget::new();
    let mut domain = Relations::new(4);
    for seed in 0..400 {
        let Case { pds, weights, start } = case(10_000 + seed);
        let set = PAutomaton::singleton(pds.states, &start);
        let set = WeightedAutomaton::unit(set, &domain);
        let one =
            weighted_post_star(&pds, &weights, &mut domain, &set, NoReasons, &budget).unwrap();
        let two =
            extended_post_star(&pds, &weights, &mut Plain, &mut domain, &set, NoReasons, &budget)
                .unwrap();
        let back =
            weighted_pre_star(&pds, &weights, &mut domain, &set, NoReasons, &budget).unwrap();
        let forth =
            extended_pre_star(&pds, &weights, &mut Plain, &mut domain, &set, NoReasons, &budget)
                .unwrap();
        for goal in oracle::all_configurations(pds.states, pds.symbols, 3) {
            let expected = one.value_of(&mut domain, &goal, &budget);
            assert_eq!(two.value_of(&mut domain, &goal, &budget), expected, "seed {seed}");
            let expected = back.value_of(&mut domain, &goal, &budget);
            assert_eq!(forth.value_of(&mut domain, &goal, &budget), expected, "seed {seed}");
        }
    }
}

/// A fact about a local of `main` survives a call that kills it in the callee, and one about a global
/// does not.
#[test]
fn the_callers_locals_survive_a_call() {
    let named =
        text::parse("p main -> p a\np a -> p f b\np f -> p g\np g -> p\np b -> p end").unwrap();
    let weights: IdVec<RuleId, Transfer> = [
        Transfer::new(0b11, 0),
        Transfer::new(0, 0),
        Transfer::new(0, 0b11),
        Transfer::new(0, 0),
        Transfer::new(0, 0),
    ]
    .into_iter()
    .collect();
    let start = named.configuration("p main").unwrap();
    let set = WeightedAutomaton::unit(PAutomaton::singleton(1, &start), &GenKill);
    let budget = Budget::new();
    let reached = extended_post_star(
        &named.pds,
        &weights,
        &mut LocalFacts(0b01),
        &mut GenKill,
        &set,
        NoReasons,
        &budget,
    )
    .unwrap();
    let facts = |at: &str| {
        let goal = named.configuration(at).unwrap();
        reached.value_of(&mut GenKill, &goal, &budget).unwrap().apply(0)
    };
    assert_eq!((facts("p end"), facts("p g b")), (Some(0b01), Some(0)));
}

/// The set of some words, a letter for each character.
fn words(sets: &mut PrefixSets, all: &[&str]) -> PrefixSet {
    let mut set = sets.none();
    for word in all {
        let letters: Vec<u32> = word.chars().map(u32::from).collect();
        let one = sets.word(&letters).unwrap();
        set = sets.combine(&set, &one).unwrap();
    }
    set
}

/// `m(a, b) = a ⊗ b ⊗ const`: a synchronized call gives its lock back when it returns.
struct GivesBack;

impl Merging<PrefixSets> for GivesBack {
    fn merge(
        &mut self,
        domain: &mut PrefixSets,
        _rule: RuleId,
        caller: &PrefixSet,
        callee: &PrefixSet,
    ) -> Result<PrefixSet, TooManyNodes> {
        let both = domain.extend(caller, callee)?;
        let released = domain.word(&[u32::from(')')])?;
        domain.extend(&both, &released)
    }
}

/// Figure 4 of the source: rules 1 to 15 of the process P0, every call of which takes the lock.
#[test]
fn figure_4_of_paper_004() {
    let rules = figure_4::RULES;
    let lines: Vec<&str> = rules.iter().map(|rule| rule.0).collect();
    let named = text::parse(&lines.join("\n")).unwrap();
    let start = named.configuration("p e_main").unwrap();
    let at_exit = named.configuration("p x_main").unwrap();
    let path: Vec<RuleId> = (0..14).map(RuleId::from_index).collect();
    let end = named.pds.replay(&start, &path).unwrap();
    assert!(end.stack.is_empty());
    let budget = Budget::new();
    for (k, expected) in [(11, ["[((R)(W))]", "[((R))]"]), (8, ["[((R)(W)", "[((R))]"])] {
        let mut domain = PrefixSets::new(k, 1000);
        let weights: IdVec<RuleId, PrefixSet> =
            rules.iter().map(|rule| words(&mut domain, &[rule.1])).collect();
        if k == 11 {
            let value = value_of_run(&named.pds, &weights, &mut GivesBack, &mut domain, &path);
            assert_eq!(value, Ok(words(&mut domain, &["[((R)(W))]"])));
        }
        let set = WeightedAutomaton::unit(PAutomaton::singleton(1, &start), &domain);
        let reached = extended_post_star(
            &named.pds,
            &weights,
            &mut GivesBack,
            &mut domain,
            &set,
            NoReasons,
            &budget,
        )
        .unwrap();
        let value = reached.value_of(&mut domain, &at_exit, &budget).unwrap();
        assert_eq!(value, words(&mut domain, &expected));
        assert_eq!(domain.strings(value), 2);
    }
    let mut domain = PrefixSets::new(3, 1000);
    let some = [
        words(&mut domain, &["a"]),
        words(&mut domain, &["", "ab"]),
        words(&mut domain, &["bcd", "a", "cc"]),
    ];
    let merging = check_merging(&mut GivesBack, &mut domain, RuleId::from_index(0), &some);
    assert_eq!(merging, Ok(Ok(())));
}
