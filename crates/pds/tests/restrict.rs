//! Construction 1 of paper 004 against the nested words of runs, and language strength reduction on its
//! worked example.

mod figure_4;

use selvedge_base::{Budget, Id, IdVec};
use selvedge_pds::domains::{
    LocalValues, PrefixSet, PrefixSets, Relation, Relations, TooManyNodes,
};
use selvedge_pds::merging::value_of_run;
use selvedge_pds::nwa::restrict::{
    Anywhere, Combination, MergingAt, WeightedRelations, nested_word,
};
use selvedge_pds::nwa::{Letter, Nwa, NwaState};
use selvedge_pds::random::Random;
use selvedge_pds::{
    Configuration, NoReasons, PAutomaton, Pds, RuleId, State, Symbol, WeightDomain,
    WeightedAutomaton, check_laws, extended_post_star, generate, text,
};
use std::collections::BTreeMap;

const SYMBOLS: [&str; 3] = ["a", "b", "c"];
const LONGEST: usize = 8;

#[test]
fn what_is_left_is_what_the_automaton_reads() {
    let budget = Budget::new();
    let mut locals = LocalValues { locals: 2 };
    let (mut read, mut refused, mut complete) = (0, 0, 0);
    for seed in 0..250 {
        let mut random = Random::new(seed);
        let (states, rules) = (1 + random.below(2), 3 + random.below(5));
        let pds: Pds = generate::small(&mut random, states, 3, rules);
        let weights: IdVec<RuleId, Relation> = pds
            .rules
            .ids()
            .map(|_| {
                let count = 1 + random.below(5);
                Relation::new(4, (0..count).map(|_| (random.below(4), random.below(4))))
            })
            .collect();
        let nwa = generate::automaton(&mut random, &SYMBOLS);
        let letters: IdVec<RuleId, Letter> =
            pds.rules.iter().map(|rule| Letter::from_index(rule.symbol.index())).collect();
        let mut base = Relations::new(4);
        let mut domain = WeightedRelations::new(base, &nwa);
        let mut restriction = Combination::new(&nwa, Anywhere(locals));
        let restricted =
            restriction.weights(&pds, &letters, &base, |rule, _, _| weights[rule].clone());
        let start = Configuration {
            state: State::from_index(0),
            stack: vec![Symbol::from_index(random.below(3))],
        };
        let set = PAutomaton::singleton(pds.states, &start);
        let set = WeightedAutomaton::unit(set, &domain);
        let reached = extended_post_star(
            &pds,
            &restricted,
            &mut restriction,
            &mut domain,
            &set,
            NoReasons,
            &budget,
        )
        .unwrap();
        // What all runs do that the automaton can read, by where they end.
        let mut expected: BTreeMap<Configuration, Relation> = BTreeMap::new();
        let mut runs = vec![(Vec::new(), start.clone())];
        let mut is_complete = true;
        while let Some((rules, end)) = runs.pop() {
            let value = value_of_run(&pds, &weights, &mut locals, &mut base, &rules).unwrap();
            let is_read = nwa.can_read(&nested_word(&pds, &letters, &rules));
            let (hits, value) =
                if is_read { (&mut read, value) } else { (&mut refused, base.zero()) };
            *hits += 1;
            let here = value_of_run(&pds, &restricted, &mut restriction, &mut domain, &rules);
            let here = restriction.project(&here.unwrap(), &mut base).unwrap();
            assert_eq!(here, value, "seed {seed}: {rules:?}");
            let sum = expected.entry(end.clone()).or_insert_with(|| base.zero());
            *sum = base.combine(sum, &value).unwrap();
            for (rule, after) in pds.successors(&end) {
                if rules.len() == LONGEST {
                    is_complete = false;
                } else {
                    let mut longer: Vec<RuleId> = rules.clone();
                    longer.push(rule);
                    runs.push((longer, after));
                }
            }
            if read + refused > 400 * (seed as usize + 1) {
                is_complete = false;
                break;
            }
        }
        complete += usize::from(is_complete);
        for (end, some) in expected {
            let all = reached.value_of(&mut domain, &end, &budget).unwrap();
            let all = restriction.project(&all, &mut base).unwrap();
            assert!(some.pairs().all(|(i, j)| all.contains(i, j)), "seed {seed}: {end:?}");
            assert!(!is_complete || all == some, "seed {seed}: {end:?}");
        }
    }
    let counts = format!("{read} read, {refused} refused, {complete} complete");
    assert!(read > 2000 && refused > 2000 && complete > 50, "{counts}");
}

#[test]
fn laws_of_weighted_relations() {
    let nwa = generate::automaton(&mut Random::new(3), &SYMBOLS);
    let mut domain = WeightedRelations::new(Relations::new(2), &nwa);
    let mut random = Random::new(5);
    let states: Vec<NwaState> = nwa.states.ids().collect();
    let some: Vec<_> = (0..5)
        .map(|_| {
            let mut relation = BTreeMap::new();
            for _ in 0..random.below(5) {
                let pair = (states[random.below(states.len())], states[random.below(states.len())]);
                let weight = Relation::new(2, [(random.below(2), random.below(2))]);
                relation.insert((pair.0.into(), pair.1.into()), weight);
            }
            relation
        })
        .collect();
    assert_eq!(check_laws(&mut domain, &some), Ok(Ok(())));
}

const LETTERS: [&str; 10] = ["[", "]", "R", "W", "(", ")", "(o", ")o", "(n", ")n"];

/// The set of one word.
fn word(sets: &mut PrefixSets, letters: &[&str]) -> PrefixSet {
    let number = |letter: &&str| LETTERS.iter().position(|known| known == letter).unwrap() as u32;
    let letters: Vec<u32> = letters.iter().map(number).collect();
    sets.word(&letters).unwrap()
}

/// How lock operations are written: all alike, outermost and nested ones apart, outermost ones only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    Alike,
    Apart,
    Outermost,
}

impl Column {
    /// How an operation `sign` is written.
    fn write(self, sign: &'static str, is_outermost: bool) -> Vec<&'static str> {
        let [outer, nested] = if sign == "(" { ["(o", "(n"] } else { [")o", ")n"] };
        match (self, is_outermost) {
            (Self::Alike, _) => vec![sign],
            (_, true) => vec![outer],
            (Self::Apart, false) => vec![nested],
            (Self::Outermost, false) => Vec::new(),
        }
    }
}

/// A return gives the lock back: an outermost one if the lock was free before the call.
struct GivesBack {
    column: Column,
    free: NwaState,
}

impl MergingAt<PrefixSets> for GivesBack {
    fn merge_at(
        &mut self,
        domain: &mut PrefixSets,
        _rule: RuleId,
        (before, after): (NwaState, NwaState),
        caller: &PrefixSet,
        callee: &PrefixSet,
    ) -> Result<PrefixSet, TooManyNodes> {
        assert_eq!(before, after, "the template restores the state of the caller");
        let both = domain.extend(caller, callee)?;
        let released = word(domain, &self.column.write(")", before == self.free));
        domain.extend(&both, &released)
    }
}

/// Table 2: Path 1 with a bound of 7, before and after telling lock operations apart and after
/// removing the nested ones.
#[test]
fn table_2_of_paper_004() {
    // Without the return from main, which no call belongs to.
    let rules = &figure_4::RULES[..13];
    let lines: Vec<&str> = rules.iter().map(|rule| rule.0).collect();
    let named = text::parse(&lines.join("\n")).unwrap();
    let path: Vec<RuleId> = (0..rules.len()).map(RuleId::from_index).collect();
    // Table 1: calls of synchronized functions lock, returns restore what the caller had.
    let mut nwa = Nwa::new(named.symbols.iter().map(String::as_str));
    let (free, held) = (nwa.state("free"), nwa.state("held"));
    nwa.initial.insert(free);
    for letter in nwa.all_letters() {
        for state in [free, held] {
            nwa.internals.insert((state, letter, state));
            nwa.calls.insert((state, letter, held));
            nwa.returns.insert((held, state, letter, state));
        }
    }
    let letters: IdVec<RuleId, Letter> =
        named.pds.rules.iter().map(|rule| nwa.letter(&named.symbols[rule.symbol])).collect();
    for (column, expected) in [
        (Column::Alike, "[ ( ( R ) ( W"),
        (Column::Apart, "[ (o (n R )n (n W"),
        (Column::Outermost, "[ (o R W )o ]"),
    ] {
        let mut base = PrefixSets::new(7, 1000);
        let mut restriction = Combination::new(&nwa, GivesBack { column, free });
        // A domain is its table: all weights come from this one.
        let written: Vec<[PrefixSet; 2]> = rules
            .iter()
            .map(|&(_, sign)| {
                [true, false].map(|is_outermost| match sign {
                    "" => word(&mut base, &[]),
                    "(" => word(&mut base, &column.write("(", is_outermost)),
                    letter => word(&mut base, &[letter]),
                })
            })
            .collect();
        let weights = restriction.weights(&named.pds, &letters, &base, |rule, from, _| {
            written[rule.index()][usize::from(from != free)]
        });
        let mut domain = WeightedRelations::new(base, &nwa);
        let value = value_of_run(&named.pds, &weights, &mut restriction, &mut domain, &path);
        let value = restriction.project(&value.unwrap(), &mut domain.base).unwrap();
        let expected: Vec<&str> = expected.split(' ').collect();
        assert_eq!(value, word(&mut domain.base, &expected), "{column:?}");
    }
}
