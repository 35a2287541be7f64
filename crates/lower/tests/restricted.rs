//! A thread times an automaton against Construction 1 of paper 004, which keeps the automaton's states in
//! weights, and against all runs of the thread whose nested word the automaton can read.

use selvedge_base::{Budget, Id, IdVec};
use selvedge_lower::{LockSet, LoweredThread, lower};
use selvedge_pds::domains::{PrefixSet, PrefixSets};
use selvedge_pds::nwa::restrict::{Anywhere, Combination, WeightedRelations, nested_word};
use selvedge_pds::nwa::{Letter, Nwa, NwaState};
use selvedge_pds::value::Query;
use selvedge_pds::{
    Configuration, Extend, NoReasons, PAutomaton, Pds, Rule, RuleId, State, WeightedAutomaton,
    extended_post_star, weighted_post_star,
};
use selvedge_program::{
    Action, Event, Move, Observable, Program, RestrictionState, StepKind, ThreadId,
};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::restrictions::{random_restriction, reads};
use std::collections::BTreeSet;

/// Runs of up to so many steps are compared one by one.
const LONGEST: usize = 8;
const NODES: usize = 200_000;

fn lowered(program: &Program, thread: ThreadId) -> LoweredThread {
    let all: LockSet = program.locks.ids().collect();
    lower(program, &all, &Budget::new()).expect("EML nests").threads[thread].clone()
}

/// What a rule does, as the automaton sees it.
fn step(
    program: &Program,
    thread: &LoweredThread,
    rule: &Rule<selvedge_lower::RuleLabel>,
) -> StepKind {
    match (rule.label.event, rule.label.step) {
        (Some(Event::Observable(Observable::Read(x))), _) => StepKind::Read(x),
        (Some(Event::Observable(Observable::Write(x))), _) => StepKind::Write(x),
        (Some(Event::Observable(Observable::BeginUnit)), _) => StepKind::BeginUnit,
        (Some(Event::Observable(Observable::EndUnit)), _) => StepKind::EndUnit,
        (Some(Event::Acquire(lock)), _) => StepKind::Acquire(lock),
        (Some(Event::Release(lock)), _) => StepKind::Release(lock),
        (None, Move::Return) => StepKind::Return(thread.procedure(rule.symbol)),
        (None, Move::Edge(edge)) => match program.edges[edge].action {
            Action::Call(callee) => StepKind::Call(callee),
            _ => StepKind::Step,
        },
        (event, step) => panic!("{event:?} {step:?} is not part of these programs"),
    }
}

/// The word letter of a rule: which edge it takes, or from which procedure it returns.
fn word_letter(program: &Program, thread: &LoweredThread, rule: RuleId) -> u32 {
    let rule = &thread.pds.rules[rule];
    let number = match rule.label.step.edge() {
        Some(edge) => edge.index(),
        None => program.edges.len() + thread.procedure(rule.symbol).index(),
    };
    number as u32
}

fn start(thread: &LoweredThread) -> Configuration {
    Configuration { state: State::from_index(0), stack: vec![thread.entry] }
}

/// The same automaton, as the pushdown library has it.
fn nwa(restriction: &selvedge_program::Restriction) -> Nwa {
    let names: Vec<String> = (0..restriction.other.index()).map(|at| format!("l{at}")).collect();
    let mut nwa = Nwa::new(names.iter().map(String::as_str));
    for state in 0..restriction.states {
        nwa.state(format!("q{state}"));
    }
    let state = |state: RestrictionState| NwaState::from_index(state.index());
    let letter = |at: selvedge_program::RestrictionLetter| Letter::from_index(at.index());
    nwa.initial = restriction.initial.iter().map(|&one| state(one)).collect();
    for (&(from, a), targets) in &restriction.internals {
        nwa.internals.extend(targets.iter().map(|&to| (state(from), letter(a), state(to))));
    }
    for (&(from, a), targets) in &restriction.calls {
        nwa.calls.extend(targets.iter().map(|&to| (state(from), letter(a), state(to))));
    }
    for (&(from, a), targets) in &restriction.returns {
        let returns = targets.iter();
        nwa.returns
            .extend(returns.map(|&(call, to)| (state(from), state(call), letter(a), state(to))));
    }
    nwa
}

/// All runs of at most so many rules; none if there are very many.
fn runs<L>(pds: &Pds<L>, start: &Configuration, steps: usize) -> Vec<Vec<RuleId>> {
    let mut all = vec![(Vec::new(), start.clone())];
    let mut at = 0;
    while at < all.len() && all.len() < 20_000 {
        let (rules, configuration) = all[at].clone();
        at += 1;
        if rules.len() < steps {
            for (rule, after) in pds.successors(&configuration) {
                let mut longer: Vec<RuleId> = rules.clone();
                longer.push(rule);
                all.push((longer, after));
            }
        }
    }
    if at < all.len() { Vec::new() } else { all.into_iter().map(|(rules, _)| rules).collect() }
}

#[test]
fn the_product_has_the_values_of_construction_1() {
    let budget = Budget::new();
    let (mut compared, mut read, mut refused) = (0, 0, 0);
    for seed in 0..1_500 {
        let mut rng = Rng::new(seed);
        let shape = if seed % 2 == 0 { &Shape::SMALL } else { &Shape::TINY };
        let mut program = random_model(&mut rng, shape).to_program();
        let thread = program.threads.ids().next().expect("a thread");
        let restriction = random_restriction(&mut rng, &program, thread);
        let whole = lowered(&program, thread);
        program.restrictions.push(restriction.clone());
        let product = lowered(&program, thread);
        let nwa = nwa(&restriction);
        let kinds: IdVec<RuleId, StepKind> =
            whole.pds.rules.iter().map(|rule| step(&program, &whole, rule)).collect();
        let letters: IdVec<RuleId, Letter> = kinds
            .iter()
            .map(|&kind| Letter::from_index(restriction.letter(kind).index()))
            .collect();
        // One by one: what the automaton reads is what the product does.
        let all = runs(&whole.pds, &start(&whole), LONGEST);
        let words = |thread: &LoweredThread, rules: &[RuleId]| -> Vec<u32> {
            rules.iter().map(|&rule| word_letter(&program, thread, rule)).collect()
        };
        if !all.is_empty() {
            let mut expected: BTreeSet<Vec<u32>> = BTreeSet::new();
            for rules in &all {
                let can_read = nwa.can_read(&nested_word(&whole.pds, &letters, rules));
                let word: Vec<_> = rules.iter().map(|&rule| kinds[rule].into()).collect();
                assert_eq!(can_read, reads(&restriction, &word), "seed {seed}");
                if can_read {
                    expected.insert(words(&whole, rules));
                    read += 1;
                } else {
                    refused += 1;
                }
            }
            let found = runs(&product.pds, &start(&product), LONGEST);
            let found: BTreeSet<Vec<u32>> =
                found.iter().map(|rules| words(&product, rules)).collect();
            if !found.is_empty() {
                assert_eq!(found, expected, "seed {seed}");
            }
        }
        // All at once: the values over all configurations.
        if nwa.initial.len() == 1 {
            let mut base = PrefixSets::new(LONGEST + 1, NODES);
            let Some(there) = value_of_product(&program, &product, &mut base, &budget) else {
                continue;
            };
            let written = |rule: RuleId, base: &mut PrefixSets| {
                base.word(&[word_letter(&program, &whole, rule)]).expect("one node")
            };
            let written: IdVec<RuleId, PrefixSet> =
                whole.pds.rules.ids().map(|rule| written(rule, &mut base)).collect();
            let mut construction = Combination::new(&nwa, Anywhere(Extend));
            let weights =
                construction.weights(&whole.pds, &letters, &base, |rule, _, _| written[rule]);
            let mut domain = WeightedRelations::new(base, &nwa);
            let set = PAutomaton::singleton(1, &start(&whole));
            let set = WeightedAutomaton::unit(set, &domain);
            let reached = extended_post_star(
                &whole.pds,
                &weights,
                &mut construction,
                &mut domain,
                &set,
                NoReasons,
                &budget,
            );
            let Ok(reached) = reached else { continue };
            let anywhere = [State::from_index(0)];
            let Ok(value) = reached.value(&mut domain, Query::AnyStack(&anywhere), &budget) else {
                continue;
            };
            let here = construction.project(&value, &mut domain.base).expect("few nodes");
            assert_eq!(here, there, "seed {seed}: {:?}", domain.base.strings(here));
            compared += 1;
        }
    }
    let counts = format!("{compared} values; {read} runs are read, {refused} are not");
    assert!(compared > 800 && read > 9_000 && refused > 3_000, "{counts}");
}

/// The words of the runs of a thread that was multiplied with an automaton.
fn value_of_product(
    program: &Program,
    product: &LoweredThread,
    base: &mut PrefixSets,
    budget: &Budget,
) -> Option<PrefixSet> {
    let weights: IdVec<RuleId, PrefixSet> = product
        .pds
        .rules
        .ids()
        .map(|rule| base.word(&[word_letter(program, product, rule)]).expect("one node"))
        .collect();
    let set = PAutomaton::singleton(1, &start(product));
    let set = WeightedAutomaton::unit(set, base);
    let reached = weighted_post_star(&product.pds, &weights, base, &set, NoReasons, budget).ok()?;
    let anywhere = [State::from_index(0)];
    reached.value(base, Query::AnyStack(&anywhere), budget).ok()
}

/// The invariants of lowered threads hold of products, too.
#[test]
fn products_are_lowered_threads() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let mut program = random_model(&mut rng, &Shape::SMALL).to_program();
        let thread = program.threads.ids().next().expect("a thread");
        let restriction = random_restriction(&mut rng, &program, thread);
        program.restrictions.push(restriction);
        let product = lowered(&program, thread);
        let mut next = 0;
        let mut first = true;
        while next < product.pds.symbols {
            let range = product.context_range(selvedge_pds::Symbol::from_index(next));
            assert_eq!(range.start, next, "contexts are consecutive");
            let pops = range.clone().map(selvedge_pds::Symbol::from_index).filter(|&symbol| {
                product.rules_of(symbol).any(|(_, rule)| rule.rhs == selvedge_pds::Rhs::Pop)
            });
            assert!(first || pops.count() <= 1, "a promise is one state");
            (next, first) = (range.end, false);
        }
        let sorted = product.pds.rules.iter().map(|rule| rule.symbol);
        assert!(sorted.is_sorted());
    }
}

/// What happens inside a call decides what may happen behind it: the location that `f` reads is the one
/// that main reads after the return, and the promise of a call is kept.
#[test]
fn a_call_goes_on_as_its_callee_has_ended() {
    let text = "program set s { x, y }
        thread T main main {
            procedure main nodes 3 entry 0 exit 2 { 0 -> 1 call f 1 -> 2 read x 1 -> 2 read y }
            procedure f nodes 2 entry 0 exit 1 { 0 -> 1 read x 0 -> 1 read y }
        }";
    let mut program = selvedge_program::text::parse(text).0.expect("a program");
    let thread = program.threads.ids().next().expect("a thread");
    let locations: Vec<_> = program.locations.ids().collect();
    let letter = selvedge_program::RestrictionLetter::from_index;
    let [none, saw_x, saw_y] = [0, 1, 2].map(RestrictionState::from_index);
    let [x, y, other] = [0, 1, 2].map(letter);
    let both = [saw_x, saw_y];
    program.restrictions.push(selvedge_program::Restriction {
        thread,
        source: "same".to_owned(),
        text: String::new(),
        states: 3,
        initial: vec![none],
        letters: [
            (StepKind::Read(locations[0]).into(), x),
            (StepKind::Read(locations[1]).into(), y),
        ]
        .into(),
        other,
        internals: [
            ((none, x), vec![saw_x]),
            ((none, y), vec![saw_y]),
            ((saw_x, x), vec![saw_x]),
            ((saw_y, y), vec![saw_y]),
        ]
        .into(),
        calls: [((none, other), vec![none])].into(),
        returns: both.map(|state| ((state, other), vec![(none, state)])).into(),
    });
    let product = lowered(&program, thread);
    let reads: BTreeSet<Vec<u32>> = runs(&product.pds, &start(&product), LONGEST)
        .iter()
        .filter(|rules| rules.len() == 5)
        .map(|rules| rules.iter().map(|&rule| word_letter(&program, &product, rule)).collect())
        .collect();
    // The call, a read of f, its return, the same read of main, and the end.
    assert_eq!(reads, BTreeSet::from([vec![0, 3, 6, 1, 5], vec![0, 4, 6, 2, 5]]));
}
