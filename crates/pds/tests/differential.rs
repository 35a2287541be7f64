//! The fast algorithms against the naive ones, on seeded random systems. The seed is the test case.

use selvedge_base::{Budget, Id, IdVec, StopReason};
use selvedge_pds::domains::{Boolean, GenKill, MinPlus, Relation, Relations, Transfer};
use selvedge_pds::random::Random;
use selvedge_pds::{
    Configuration, Head, Increments, NoReasons, NoRun, NoWeightedRun, PAutomaton, Pds, Reasons,
    RuleId, State, Symbol, WeightDomain, WeightedAutomaton, WitnessDomain, generate, oracle,
    post_star, pre_star, run_from_post_star, run_from_pre_star, unfold, weighted_post_star,
    weighted_pre_star, weighted_run_from_post_star, weighted_run_from_pre_star,
};
use std::collections::BTreeSet;
use std::fmt::{Debug, Write};

const SEEDS: u64 = 3000;
const MAX_RUN: usize = 10_000;

/// A small system with a configuration.
struct Case {
    random: Random,
    pds: Pds,
    start: Configuration,
}

fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let (states, symbols) = (1 + random.below(3), 1 + random.below(3));
    let rules = 1 + random.below(8);
    let pds = generate::small(&mut random, states, symbols, rules);
    let start = generate::configuration(&mut random, states, symbols, 2);
    Case { random, pds, start }
}

/// A small set of configurations, not always a singleton and not always acyclic.
fn regular_set(random: &mut Random, pds: &Pds) -> PAutomaton {
    let mut set = PAutomaton::new(pds.states);
    for _ in 0..=random.below(2) {
        set.add_configuration(&generate::configuration(random, pds.states, pds.symbols, 2));
    }
    if random.chance(30) {
        let node = set.add_node();
        let from = set.control(State::from_index(random.below(pds.states)));
        let [a, b] = std::array::from_fn(|_| Symbol::from_index(random.below(pds.symbols)));
        set.add_transition(from, a, node);
        set.add_transition(node, b, node);
        set.accept(node);
    }
    set
}

#[test]
fn post_star_is_what_naive_pre_star_says_and_its_runs_replay() {
    let budget = Budget::new();
    let (mut positives, mut negatives) = (0, 0);
    for seed in 0..SEEDS {
        let Case { mut random, pds, .. } = case(seed);
        let initial = regular_set(&mut random, &pds);
        let reached = post_star(&pds, &initial, Reasons::new(), &budget).unwrap();
        for (id, reason) in reached.reasons.iter() {
            assert!(reason.premises().all(|premise| premise < id), "seed {seed}: {reason:?}");
        }
        let silent = post_star(&pds, &initial, NoReasons, &budget).unwrap();
        assert_eq!(silent.automaton.transitions(), reached.automaton.transitions());
        let distinct: BTreeSet<_> = reached.automaton.transitions().iter().collect();
        assert_eq!(distinct.len(), reached.automaton.transitions().len(), "seed {seed}: twice");
        for goal in oracle::all_configurations(pds.states, pds.symbols, 3) {
            let naive = oracle::pre_star(&pds, &PAutomaton::singleton(pds.states, &goal));
            let expected = naive.shortest_common(&initial, &Budget::new()).unwrap().is_some();
            assert_eq!(reached.automaton.accepts(&goal), expected, "seed {seed}: {goal:?}");
            match run_from_post_star(&pds, &reached, &goal, MAX_RUN, &Budget::new()) {
                Ok(run) => {
                    positives += 1;
                    assert!(initial.accepts(&run.start), "seed {seed}: starts elsewhere");
                    assert_eq!(pds.replay(&run.start, &run.rules), Ok(goal), "seed {seed}");
                }
                Err(reason) => {
                    negatives += 1;
                    assert_eq!((reason, expected), (NoRun::NotAccepted, false), "seed {seed}");
                }
            }
        }
        if seed % 10 != 0 {
            continue;
        }
        // Search through configurations knows nothing of automata.
        if let Some(start) = initial.shortest() {
            for configuration in oracle::reachable(&pds, &start, 5, 500).configurations {
                assert!(reached.automaton.accepts(&configuration), "seed {seed}: missed");
            }
        }
    }
    assert!(positives > 10_000 && negatives > 20_000, "{positives} {negatives}");
}

#[test]
fn pre_star_is_the_naive_one_and_its_runs_replay() {
    let budget = Budget::new();
    let (mut positives, mut negatives) = (0, 0);
    for seed in 0..SEEDS {
        let Case { mut random, pds, .. } = case(seed);
        let target = regular_set(&mut random, &pds);
        let reaching = pre_star(&pds, &target, Reasons::new(), &budget).unwrap();
        let naive = oracle::pre_star(&pds, &target);
        let sorted = |automaton: &PAutomaton| {
            automaton.transitions().iter().copied().collect::<BTreeSet<_>>()
        };
        assert_eq!(sorted(&reaching.automaton), sorted(&naive), "seed {seed}");
        for (id, reason) in reaching.reasons.iter() {
            assert!(reason.premises().all(|premise| premise < id), "seed {seed}: {reason:?}");
        }
        for start in oracle::all_configurations(pds.states, pds.symbols, 3) {
            match run_from_pre_star(&reaching, &start, MAX_RUN, &Budget::new()) {
                Ok(run) => {
                    positives += 1;
                    let end = pds.replay(&run.start, &run.rules).expect("every rule applies");
                    assert!(target.accepts(&end), "seed {seed}: {start:?} ends at {end:?}");
                }
                Err(reason) => {
                    negatives += 1;
                    assert_eq!(reason, NoRun::NotAccepted, "seed {seed}");
                    let found = oracle::reachable(&pds, &start, 4, 60);
                    let hit = found.configurations.iter().any(|found| target.accepts(found));
                    assert!(!hit, "seed {seed}: missed {start:?}");
                }
            }
        }
    }
    assert!(positives > 20_000 && negatives > 20_000, "{positives} {negatives}");
}

#[test]
fn both_numberings_of_heads_agree() {
    // 2000 × 2000 heads and few rules: the sparse numbering; the same system without the unused
    // names: the dense one.
    let budget = Budget::new();
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let small = generate::small(&mut random, 3, 3, 10);
        let large = Pds { states: 2000, symbols: 2000, rules: small.rules.clone() };
        let start = generate::configuration(&mut random, 3, 3, 2);
        let saturate = |pds: &Pds| {
            let initial = PAutomaton::singleton(pds.states, &start);
            let post = post_star(pds, &initial, NoReasons, &budget).unwrap();
            let pre = pre_star(pds, &initial, NoReasons, &budget).unwrap();
            (post.automaton, pre.automaton)
        };
        let ((post, pre), (large_post, large_pre)) = (saturate(&small), saturate(&large));
        assert_eq!(post.transitions().len(), large_post.transitions().len(), "seed {seed}");
        assert_eq!(pre.transitions().len(), large_pre.transitions().len(), "seed {seed}");
        for configuration in oracle::all_configurations(3, 3, 3) {
            assert_eq!(post.accepts(&configuration), large_post.accepts(&configuration));
            assert_eq!(pre.accepts(&configuration), large_pre.accepts(&configuration));
        }
    }
}

#[test]
fn an_interrupt_stops_every_saturation() {
    let pds = generate::small(&mut Random::new(1), 2, 2, 6);
    let start = Configuration { state: State::from_index(0), stack: vec![Symbol::from_index(0)] };
    let budget = Budget::new();
    budget.raise(StopReason::Memory);
    let set = PAutomaton::singleton(pds.states, &start);
    let weights = IdVec::filled(true, pds.rules.len());
    let weighted = WeightedAutomaton::unit(set.clone(), &Boolean);
    assert_eq!(post_star(&pds, &set, NoReasons, &budget).err(), Some(StopReason::Memory));
    assert_eq!(pre_star(&pds, &set, NoReasons, &budget).err(), Some(StopReason::Memory));
    let stopped = Some(selvedge_pds::Stopped::Budget(StopReason::Memory));
    let post = weighted_post_star(&pds, &weights, &mut Boolean, &weighted, NoReasons, &budget);
    assert_eq!(post.err(), stopped);
    let pre = weighted_pre_star(&pds, &weights, &mut Boolean, &weighted, NoReasons, &budget);
    assert_eq!(pre.err(), stopped);
}

/// Rules on demand: the heads that are met are those of `post*` with all rules, and with the rules
/// that were made the same set is saturated.
#[test]
fn unfolding_meets_the_heads_of_post_star() {
    let budget = Budget::new();
    let (mut met, mut left_out) = (0, 0);
    for seed in 0..SEEDS {
        let Case { pds, start, .. } = case(seed);
        let Some(&top) = start.stack.first() else { continue };
        let start = Configuration { state: start.state, stack: vec![top] };
        let initial = PAutomaton::singleton(pds.states, &start);
        let all = post_star(&pds, &initial, NoReasons, &budget).unwrap().automaton;
        let mut expected: Vec<Head> = Vec::new();
        for state in (0..pds.states).map(State::from_index) {
            expected.extend(all.outgoing(all.control(state)).iter().map(|&(top, _)| (state, top)));
        }
        expected.dedup();
        let mut part: Pds<()> = Pds::new(pds.states, pds.symbols);
        let heads = unfold(&mut part, (start.state, top), &budget, |part, head| {
            for rule in pds.rules.iter().filter(|rule| (rule.state, rule.symbol) == head) {
                part.rule(rule.state, rule.symbol, rule.to, rule.rhs, ());
            }
            Ok::<(), StopReason>(())
        });
        let heads = heads.unwrap();
        assert_eq!(heads, expected, "seed {seed}");
        let same = post_star(&part, &initial, NoReasons, &budget).unwrap().automaton;
        assert_eq!(same.transitions().len(), all.transitions().len(), "seed {seed}");
        met += heads.len();
        left_out += pds.rules.len() - part.rules.len();
        let stopped = unfold(
            &mut Pds::<()>::new(0, 0),
            (start.state, top),
            &Budget::with_steps(1),
            |_, _| Ok(()),
        );
        assert_eq!(stopped, Err(StopReason::Steps));
    }
    assert!(met > 2_000 && left_out > 2_000, "{met} {left_out}");
}

#[test]
fn exponential_runs_are_refused_and_linear_ones_of_any_length_built() {
    // Procedure k calls procedure k + 1 twice; the last one returns at once: 2^60 steps.
    let mut text = String::new();
    for k in 0..60 {
        let next = k + 1;
        write!(text, "p a{k} -> p a{next} b{k}\np b{k} -> p a{next} c{k}\np c{k} -> p\n").unwrap();
    }
    text += "p a60 -> p\n";
    let named = selvedge_pds::text::parse(&text).unwrap();
    let budget = Budget::new();
    let start = named.configuration("p a0").unwrap();
    let end = named.configuration("p").unwrap();
    let initial = PAutomaton::singleton(named.pds.states, &start);
    let reached = post_star(&named.pds, &initial, Reasons::new(), &budget).unwrap();
    assert_eq!(
        run_from_post_star(&named.pds, &reached, &end, MAX_RUN, &Budget::new()),
        Err(NoRun::TooLong)
    );
    let goal = PAutomaton::singleton(named.pds.states, &end);
    let reaching = pre_star(&named.pds, &goal, Reasons::new(), &budget).unwrap();
    assert_eq!(run_from_pre_star(&reaching, &start, MAX_RUN, &Budget::new()), Err(NoRun::TooLong));

    let mut long = String::new();
    for k in 0..200_000 {
        writeln!(long, "p a{k} -> p a{}", k + 1).unwrap();
    }
    let named = selvedge_pds::text::parse(&long).unwrap();
    let initial = PAutomaton::singleton(named.pds.states, &named.configuration("p a0").unwrap());
    let reached = post_star(&named.pds, &initial, Reasons::new(), &budget).unwrap();
    let goal = named.configuration("p a200000").unwrap();
    let run = run_from_post_star(&named.pds, &reached, &goal, 200_000, &Budget::new()).unwrap();
    assert_eq!(run.rules.len(), 200_000);
    assert_eq!(named.pds.replay(&run.start, &run.rules), Ok(goal.clone()));
    let short = run_from_post_star(&named.pds, &reached, &goal, 199_999, &Budget::new());
    assert_eq!(short, Err(NoRun::TooLong));

    // A run that is being rebuilt can be stopped, and so can the search for its end.
    let counted = Budget::with_steps(u64::MAX);
    run_from_post_star(&named.pds, &reached, &goal, 200_000, &counted).unwrap();
    assert!(counted.polls() > 100, "{}", counted.polls());
    for last in [1, 2, counted.polls() / 2, counted.polls()] {
        let stopped =
            run_from_post_star(&named.pds, &reached, &goal, 200_000, &Budget::with_steps(last));
        assert_eq!(stopped, Err(NoRun::Stopped(StopReason::Steps)), "{last}");
    }
    let common = |budget: &Budget| reached.automaton.shortest_common(&initial, budget);
    assert_eq!(common(&Budget::with_steps(1)), Err(StopReason::Steps));
    assert!(common(&Budget::new()).unwrap().is_some());
}

/// Checks weighted saturation against the value of all short runs: that value must be included in
/// the computed one, and equal to it where all runs are short.
fn weighted_case<D: WeightDomain<Error: Debug>>(
    seed: u64,
    domain: &mut D,
    mut random_weight: impl FnMut(&mut Random) -> D::Weight,
) -> (usize, usize)
where
    D::Weight: Debug,
{
    const STEPS: usize = 7;
    let budget = Budget::new();
    let Case { mut random, pds, start } = case(seed);
    let weights: IdVec<RuleId, D::Weight> =
        pds.rules.ids().map(|_| random_weight(&mut random)).collect();
    let initial = PAutomaton::singleton(pds.states, &start);
    let unit = WeightedAutomaton::unit(initial, domain);
    let post = weighted_post_star(&pds, &weights, domain, &unit, NoReasons, &budget).unwrap();
    let query = regular_set(&mut random, &pds);
    let weighted_query = WeightedAutomaton::unit(query.clone(), domain);
    let pre = weighted_pre_star(&pds, &weights, domain, &weighted_query, NoReasons, &budget);
    let pre = pre.unwrap();

    // Forwards and backwards must give the same value of the same question.
    let forwards = post.value(domain, &query, &Budget::new()).unwrap();
    let backwards = pre.value_of(domain, &start, &Budget::new()).unwrap();
    assert_eq!(forwards, backwards, "seed {seed}: post* and pre* differ");

    let short = |domain: &mut D, steps| {
        let goal = |c: &Configuration| query.accepts(c);
        oracle::combine_over_runs(&pds, &weights, domain, &start, goal, steps).unwrap()
    };
    let value = short(domain, STEPS);
    let both = domain.combine(&forwards, &value).unwrap();
    assert_eq!(both, forwards, "seed {seed}: a short run is not included");
    // The value must also be made of runs: if all are short, exactly of these.
    let mut exact = 0;
    if !has_long_run(&pds, &start, STEPS) {
        assert_eq!(forwards, value, "seed {seed}: more than all runs");
        exact = 1;
    }
    (exact, usize::from(forwards != domain.zero()))
}

fn has_long_run(pds: &Pds, start: &Configuration, steps: usize) -> bool {
    let mut current = BTreeSet::from([start.clone()]);
    for _ in 0..=steps {
        current = current.iter().flat_map(|c| pds.successors(c)).map(|(_, c)| c).collect();
    }
    !current.is_empty()
}

fn random_relation(random: &mut Random) -> Relation {
    let count = random.below(5);
    Relation::new(3, (0..count).map(|_| (random.below(3), random.below(3))))
}

#[test]
fn weighted_saturation_gives_the_value_of_all_runs() {
    let mut counts = [(0, 0); 4];
    for seed in 0..SEEDS / 2 {
        let results = [
            weighted_case(seed, &mut Boolean, |_| true),
            weighted_case(seed, &mut MinPlus, |random| Some(random.below(5) as u64)),
            weighted_case(seed, &mut Relations::new(3), random_relation),
            weighted_case(seed, &mut GenKill, |random| {
                Transfer::new(random.below(16) as u64, random.below(16) as u64)
            }),
        ];
        for (count, (exact, nonzero)) in counts.iter_mut().zip(results) {
            count.0 += exact;
            count.1 += nonzero;
        }
    }
    for (exact, nonzero) in counts {
        assert!(exact > 300 && nonzero > 100, "{counts:?}");
    }
}

/// Rebuilds runs for elements of weighted values, in both directions, and checks each run.
fn witness_case<D: WitnessDomain<Error: Debug>>(
    seed: u64,
    domain: &mut D,
    mut random_weight: impl FnMut(&mut Random) -> D::Weight,
    elements: impl Fn(&D::Weight) -> Vec<D::Element>,
    absent: &D::Element,
) -> usize
where
    D::Weight: Debug,
    D::Element: Debug,
{
    let budget = Budget::new();
    let Case { mut random, pds, .. } = case(seed);
    let weights: IdVec<RuleId, D::Weight> =
        pds.rules.ids().map(|_| random_weight(&mut random)).collect();
    let (starts, ends) = (regular_set(&mut random, &pds), regular_set(&mut random, &pds));
    let ends = if random.chance(30) {
        let state = State::from_index(random.below(pds.states));
        PAutomaton::any_stack(pds.states, pds.symbols, [state])
    } else {
        ends
    };
    let unit_starts = WeightedAutomaton::unit(starts.clone(), domain);
    let unit_ends = WeightedAutomaton::unit(ends.clone(), domain);
    let post = weighted_post_star(&pds, &weights, domain, &unit_starts, Increments::new(), &budget);
    let post = post.unwrap();
    let pre = weighted_pre_star(&pds, &weights, domain, &unit_ends, Increments::new(), &budget);
    let pre = pre.unwrap();
    let value = post.value(domain, &ends, &Budget::new()).unwrap();
    assert_eq!(value, pre.value(domain, &starts, &Budget::new()).unwrap(), "seed {seed}");
    let found = elements(&value);
    for element in &found {
        let forwards = weighted_run_from_post_star(
            &pds,
            &weights,
            domain,
            &post,
            &ends,
            element,
            MAX_RUN,
            &Budget::new(),
        );
        let backwards = weighted_run_from_pre_star(
            &weights,
            domain,
            &pre,
            &starts,
            element,
            MAX_RUN,
            &Budget::new(),
        );
        for run in [forwards, backwards] {
            let run = run.unwrap_or_else(|reason| panic!("seed {seed}: {element:?}: {reason:?}"));
            assert!(starts.accepts(&run.start), "seed {seed}: starts elsewhere");
            let end = pds.replay(&run.start, &run.rules).expect("every rule applies");
            assert!(ends.accepts(&end), "seed {seed}: ends elsewhere");
            let weight = oracle::weight_of_run(&weights, domain, &run.rules).unwrap();
            assert!(domain.contains(&weight, element).unwrap(), "seed {seed}: {weight:?}");
        }
    }
    if !domain.contains(&value, absent).unwrap() {
        let none = weighted_run_from_post_star(
            &pds,
            &weights,
            domain,
            &post,
            &ends,
            absent,
            9,
            &Budget::new(),
        );
        assert!(matches!(none, Err(NoWeightedRun::NotInValue)), "seed {seed}");
    }
    found.len()
}

#[test]
fn every_element_of_a_value_has_a_run() {
    let mut counts = [0; 3];
    for seed in 0..SEEDS {
        counts[0] += witness_case(
            seed,
            &mut Relations::new(3),
            random_relation,
            |value| value.pairs().collect(),
            &(2, 0),
        );
        counts[1] += witness_case(
            seed,
            &mut MinPlus,
            |random| Some(random.below(5) as u64),
            |value| value.iter().copied().collect(),
            &1000,
        );
        counts[2] += witness_case(
            seed,
            &mut Boolean,
            |_| true,
            |&value| if value { vec![()] } else { Vec::new() },
            &(),
        );
    }
    assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
}

#[test]
fn program_like_systems_give_the_same_answers_in_both_directions() {
    let budget = Budget::new();
    let mut positives = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let shape = generate::ProgramShape { procedures: 6, nodes: 25, values: 3 };
        let generate::Program { pds, start, target } = generate::program(shape, seed);
        let initial = PAutomaton::singleton(pds.states, &start);
        let goal = PAutomaton::singleton(pds.states, &target);
        let post = post_star(&pds, &initial, Reasons::new(), &budget).unwrap();
        let pre = pre_star(&pds, &goal, Reasons::new(), &budget).unwrap();
        assert_eq!(post.automaton.accepts(&target), pre.automaton.accepts(&start), "seed {seed}");

        let weights: IdVec<RuleId, Relation> =
            pds.rules.ids().map(|_| random_relation(&mut random)).collect();
        let domain = &mut Relations::new(3);
        let (initial, goal) =
            (WeightedAutomaton::unit(initial, domain), WeightedAutomaton::unit(goal, domain));
        let history = Increments::new();
        let post = weighted_post_star(&pds, &weights, domain, &initial, history, &budget);
        let post = post.unwrap();
        let pre = weighted_pre_star(&pds, &weights, domain, &goal, NoReasons, &budget).unwrap();
        let value = post.value(domain, &goal.automaton, &Budget::new()).unwrap();
        assert_eq!(
            value,
            pre.value(domain, &initial.automaton, &Budget::new()).unwrap(),
            "seed {seed}"
        );
        let anywhere: Vec<State> = (0..pds.states).map(State::from_index).collect();
        let automaton = PAutomaton::any_stack(pds.states, pds.symbols, anywhere.iter().copied());
        let anywhere = anywhere.as_slice();
        let value = post.value(domain, anywhere, &Budget::new()).unwrap();
        assert_eq!(value, post.value(domain, &automaton, &Budget::new()).unwrap(), "seed {seed}");
        let first = PAutomaton::any_stack(pds.states, pds.symbols, [anywhere[0]]);
        assert_eq!(
            post.value(domain, &anywhere[..1], &Budget::new()).unwrap(),
            post.value(domain, &first, &Budget::new()).unwrap(),
        );
        for (i, j) in value.pairs() {
            positives += 1;
            let run = weighted_run_from_post_star(
                &pds,
                &weights,
                domain,
                &post,
                anywhere,
                &(i, j),
                1_000_000,
                &Budget::new(),
            )
            .unwrap();
            assert_eq!(run.start, start);
            assert!(pds.replay(&run.start, &run.rules).is_ok(), "seed {seed}");
            let weight = oracle::weight_of_run(&weights, domain, &run.rules).unwrap();
            assert!(weight.contains(i, j), "seed {seed}");
        }
    }
    assert!(positives > 180, "{positives}");
}
