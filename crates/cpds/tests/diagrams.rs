//! Construction 1 of paper 004 over decision diagrams against the same over sparse maps.

use selvedge_base::{Budget, Id, IdVec};
use selvedge_bdd::{Exhausted, NativeManager};
use selvedge_cpds::{DiagramCombination, DiagramRelations};
use selvedge_pds::domains::{LocalValues, Relation, Relations};
use selvedge_pds::merging::check_merging;
use selvedge_pds::nwa::restrict::{Anywhere, Combination, WeightedRelations};
use selvedge_pds::nwa::{Letter, Nwa};
use selvedge_pds::random::Random;
use selvedge_pds::{
    Configuration, NoReasons, PAutomaton, Pds, RuleId, State, Symbol, WeightDomain,
    WeightedAutomaton, check_laws, extended_post_star, generate,
};

const SYMBOLS: [&str; 3] = ["a", "b", "c"];
/// A value has two bits; the lower one is local.
const VALUES: usize = 4;
const VALUE_BITS: usize = 2;
const LOCALS: usize = 2;
const KEPT: [usize; 1] = [0];

fn domain(nwa: &Nwa, nodes: usize) -> Result<DiagramRelations<NativeManager>, Exhausted> {
    let variables = DiagramRelations::<NativeManager>::variables(nwa, VALUE_BITS);
    DiagramRelations::new(NativeManager::new(variables, nodes), nwa, VALUE_BITS)
}

/// A system, an automaton that reads it, what each rule does to the values, and a start.
struct Sample {
    pds: Pds,
    nwa: Nwa,
    letters: IdVec<RuleId, Letter>,
    values: IdVec<RuleId, Vec<(usize, usize)>>,
    start: Configuration,
}

fn sample(seed: u64) -> Sample {
    let mut random = Random::new(seed);
    let (states, rules) = (1 + random.below(2), 3 + random.below(5));
    let pds: Pds = generate::small(&mut random, states, SYMBOLS.len(), rules);
    let nwa = generate::automaton(&mut random, &SYMBOLS);
    let letters = pds.rules.iter().map(|rule| Letter::from_index(rule.symbol.index())).collect();
    let values = pds
        .rules
        .ids()
        .map(|_| {
            let count = 1 + random.below(5);
            (0..count).map(|_| (random.below(VALUES), random.below(VALUES))).collect()
        })
        .collect();
    let top = Symbol::from_index(random.below(SYMBOLS.len()));
    let start = Configuration { state: State::from_index(0), stack: vec![top] };
    Sample { pds, nwa, letters, values, start }
}

/// All configurations with at most three symbols.
fn configurations(pds: &Pds) -> Vec<Configuration> {
    let mut stacks: Vec<Vec<Symbol>> = vec![Vec::new()];
    let mut all = Vec::new();
    for _ in 0..=3 {
        for state in (0..pds.states).map(State::from_index) {
            all.extend(stacks.iter().map(|stack| Configuration { state, stack: stack.clone() }));
        }
        let longer = |stack: &Vec<Symbol>| {
            let stack = stack.clone();
            (0..SYMBOLS.len()).map(move |symbol| {
                let mut stack = stack.clone();
                stack.push(Symbol::from_index(symbol));
                stack
            })
        };
        stacks = stacks.iter().flat_map(longer).collect();
    }
    all
}

#[test]
fn diagrams_say_what_sparse_maps_say() {
    let budget = Budget::new();
    let (mut pairs, mut reached_somewhere) = (0, 0);
    for seed in 0..300 {
        let Sample { pds, nwa, letters, values, start } = sample(seed);
        let mut base = Relations::new(VALUES);
        let mut maps = WeightedRelations::new(base, &nwa);
        let mut by_maps = Combination::new(&nwa, Anywhere(LocalValues { locals: LOCALS }));
        let relation = |rule, _, _| Relation::new(VALUES, values[rule].iter().copied());
        let weights = by_maps.weights(&pds, &letters, &base, relation);
        let set = WeightedAutomaton::unit(PAutomaton::singleton(pds.states, &start), &maps);
        let reasons = NoReasons;
        let sparse =
            extended_post_star(&pds, &weights, &mut by_maps, &mut maps, &set, reasons, &budget)
                .unwrap();

        let mut diagrams = domain(&nwa, 1 << 20).unwrap();
        let mut by_diagrams = DiagramCombination::new(&nwa, &diagrams, &KEPT).unwrap();
        let weights = by_diagrams
            .weights(&pds, &letters, &mut diagrams, |rule| values[rule].clone())
            .unwrap();
        let set = WeightedAutomaton::unit(PAutomaton::singleton(pds.states, &start), &diagrams);
        let dense = extended_post_star(
            &pds,
            &weights,
            &mut by_diagrams,
            &mut diagrams,
            &set,
            NoReasons,
            &budget,
        )
        .unwrap();

        for end in configurations(&pds) {
            let expected = sparse.value_of(&mut maps, &end, &budget).unwrap();
            let expected = by_maps.project(&expected, &mut base).unwrap();
            let value = dense.value_of(&mut diagrams, &end, &budget).unwrap();
            let value = by_diagrams.project(&value, &diagrams).unwrap();
            for (i, j) in (0..VALUES).flat_map(|i| (0..VALUES).map(move |j| (i, j))) {
                let is_there = expected.contains(i, j);
                assert_eq!(diagrams.contains(&value, i, j), is_there, "seed {seed}: {end:?}");
                pairs += usize::from(is_there);
            }
            reached_somewhere += usize::from(expected != base.zero());
        }
    }
    assert!(pairs > 2000 && reached_somewhere > 500, "{pairs} pairs, {reached_somewhere} ends");
}

#[test]
fn laws_of_diagrams_and_of_their_merging_functions() {
    let Sample { pds, nwa, letters, values, .. } = sample(11);
    let mut diagrams = domain(&nwa, 1 << 20).unwrap();
    let mut combination = DiagramCombination::new(&nwa, &diagrams, &KEPT).unwrap();
    let weights =
        combination.weights(&pds, &letters, &mut diagrams, |rule| values[rule].clone()).unwrap();
    let some: Vec<_> = weights.iter().cloned().collect();
    assert_eq!(check_laws(&mut diagrams, &some), Ok(Ok(())));
    let rule = RuleId::from_index(0);
    assert_eq!(check_merging(&mut combination, &mut diagrams, rule, &some), Ok(Ok(())));
}

#[test]
fn too_few_nodes_are_an_error_and_no_empty_relation() {
    let Sample { pds, nwa, letters, values, start } = sample(11);
    let budget = Budget::new();
    let outcome = |nodes: usize| {
        let mut diagrams = domain(&nwa, nodes)?;
        let mut combination = DiagramCombination::new(&nwa, &diagrams, &KEPT)?;
        let weights =
            combination.weights(&pds, &letters, &mut diagrams, |rule| values[rule].clone())?;
        let set = WeightedAutomaton::unit(PAutomaton::singleton(pds.states, &start), &diagrams);
        let reached = extended_post_star(
            &pds,
            &weights,
            &mut combination,
            &mut diagrams,
            &set,
            NoReasons,
            &budget,
        );
        Ok::<bool, Exhausted>(reached.is_ok())
    };
    assert_eq!(outcome(16), Err(Exhausted::Nodes(16)));
    assert_eq!(outcome(1 << 16), Ok(true));
}
