//! Formulas that branch: known answers on a recursive system, and random formulas on systems with few
//! configurations, against fixpoints over all of them.

use selvedge_base::{Budget, Id, StopReason};
use selvedge_pds::random::Random;
use selvedge_pds::{
    AlternatingAutomaton, AlternatingPds, AlternatingRule, Configuration, FormulaPath, MuFormula,
    MuNode, Pds, Rhs, State, Symbol, alternating_pre_star, path_among, satisfying,
    satisfying_among, text,
};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// `mu X. f || EX X` and the like: `some` or every next step, the least or the greatest fixpoint.
fn fixpoint(
    formula: &mut MuFormula,
    variable: u32,
    keep: u32,
    also: Option<u32>,
    some: bool,
    least: bool,
) -> u32 {
    let again = formula.add(MuNode::Variable(variable));
    let mut next = formula.add(if some { MuNode::Some(again) } else { MuNode::Every(again) });
    if let Some(also) = also {
        next = formula.add(if least { MuNode::And(also, next) } else { MuNode::Or(also, next) });
    }
    if least {
        let body = formula.add(MuNode::Or(keep, next));
        formula.add(MuNode::Least { variable, body })
    } else {
        let body = formula.add(MuNode::And(keep, next));
        formula.add(MuNode::Greatest { variable, body })
    }
}

fn random_formula(
    random: &mut Random,
    formula: &mut MuFormula,
    depth: u32,
    variables: &mut u32,
) -> u32 {
    if depth == 0 {
        let atom = random.below(3) as u32;
        return formula.add(MuNode::Atom { atom, positive: random.chance(50) });
    }
    let f = random_formula(random, formula, depth - 1, variables);
    let g = random_formula(random, formula, depth - 1, variables);
    *variables += 2;
    let variable = *variables;
    match random.below(9) {
        0 => formula.add(MuNode::And(f, g)),
        1 => formula.add(MuNode::Or(f, g)),
        2 => formula.add(MuNode::Some(f)),
        3 => formula.add(MuNode::Every(f)),
        4 | 5 => {
            let (some, least) = (random.chance(50), random.chance(50));
            let also = random.chance(60).then_some(g);
            fixpoint(formula, variable, f, also, some, least)
        }
        // One fixpoint inside another of the same kind, on which it depends.
        kind => {
            let least = kind == 6;
            let outer = formula.add(MuNode::Variable(variable));
            let kept =
                formula.add(if least { MuNode::And(outer, g) } else { MuNode::Or(outer, g) });
            let inner = fixpoint(formula, variable + 1, kept, None, random.chance(50), least);
            let next = formula.add(if random.chance(50) {
                MuNode::Some(inner)
            } else {
                MuNode::Every(inner)
            });
            if least {
                let body = formula.add(MuNode::Or(f, next));
                formula.add(MuNode::Least { variable, body })
            } else {
                let body = formula.add(MuNode::And(f, next));
                formula.add(MuNode::Greatest { variable, body })
            }
        }
    }
}

/// A system whose calls go to symbols of a higher level, so that stacks have at most three frames.
fn random_system(random: &mut Random) -> Pds {
    let (states, levels, width) = (1 + random.below(2), 3, 3);
    let mut pds = Pds::new(states, levels * width);
    let symbol = |level: usize, at: usize| Symbol::from_index(level * width + at);
    for _ in 0..8 + random.below(24) {
        let level = random.below(levels);
        let own = |random: &mut Random| symbol(level, random.below(width));
        let rhs = match random.below(4) {
            0 => Rhs::Pop,
            1 if level + 1 < levels => {
                Rhs::Push(symbol(level + 1, random.below(width)), own(random))
            }
            _ => Rhs::Step(own(random)),
        };
        let [from, to] = [(); 2].map(|()| State::from_index(random.below(states)));
        pds.rule(from, own(random), to, rhs, ());
    }
    pds
}

/// What comes next, or the configuration itself if nothing does.
fn next(pds: &Pds, at: &Configuration) -> Vec<Configuration> {
    let mut found = Vec::new();
    if let [top, rest @ ..] = &at.stack[..] {
        for rule in pds.rules.iter().filter(|one| one.state == at.state && one.symbol == *top) {
            let stack: Vec<Symbol> = rule.rhs.symbols().chain(rest.iter().copied()).collect();
            found.push(Configuration { state: rule.to, stack });
        }
    }
    if found.is_empty() { vec![at.clone()] } else { found }
}

/// The configurations that satisfy a part of a formula, by the definition.
fn meaning(
    formula: &MuFormula,
    at: u32,
    graph: &BTreeMap<Configuration, Vec<Configuration>>,
    truth: &dyn Fn(State, Option<Symbol>, u32) -> bool,
    sets: &mut BTreeMap<u32, BTreeSet<Configuration>>,
) -> BTreeSet<Configuration> {
    let filter = |keep: &dyn Fn(&Configuration, &[Configuration]) -> bool| {
        graph.iter().filter(|(one, next)| keep(one, next)).map(|(one, _)| one.clone()).collect()
    };
    match formula.nodes()[at as usize] {
        MuNode::Constant(value) => filter(&|_, _| value),
        MuNode::Atom { atom, positive } => {
            filter(&|one, _| truth(one.state, one.stack.first().copied(), atom) == positive)
        }
        MuNode::And(f, g) => {
            let f = meaning(formula, f, graph, truth, sets);
            let g = meaning(formula, g, graph, truth, sets);
            f.intersection(&g).cloned().collect()
        }
        MuNode::Or(f, g) => {
            let f = meaning(formula, f, graph, truth, sets);
            let g = meaning(formula, g, graph, truth, sets);
            f.union(&g).cloned().collect()
        }
        MuNode::Some(f) => {
            let f = meaning(formula, f, graph, truth, sets);
            filter(&|_, next| next.iter().any(|one| f.contains(one)))
        }
        MuNode::Every(f) => {
            let f = meaning(formula, f, graph, truth, sets);
            filter(&|_, next| next.iter().all(|one| f.contains(one)))
        }
        MuNode::Least { variable, body } | MuNode::Greatest { variable, body } => {
            let least = matches!(formula.nodes()[at as usize], MuNode::Least { .. });
            let mut set = filter(&|_, _| !least);
            loop {
                sets.insert(variable, set.clone());
                let other = meaning(formula, body, graph, truth, sets);
                if other == set {
                    return set;
                }
                set = other;
            }
        }
        MuNode::Variable(variable) => sets[&variable].clone(),
    }
}

fn looks_ahead(formula: &MuFormula, part: u32) -> bool {
    let node = formula.nodes()[part as usize];
    matches!(node, MuNode::Some(_) | MuNode::Every(_) | MuNode::Variable(_))
        || node.parts().any(|part| looks_ahead(formula, part))
}

/// A path shows a formula if that holds on the path taken as a program of its own, where parts that are
/// not followed are what they are in the graph.
fn check_path(
    next: &[Vec<u32>],
    formula: &MuFormula,
    truth: &dyn Fn(u32, u32) -> bool,
    holds: &dyn Fn(u32, u32) -> bool,
    path: &FormulaPath,
) {
    let FormulaPath { configurations, repeats, last, remains, aside } = path;
    let end = configurations.len();
    for pair in configurations.windows(2) {
        assert!(next[pair[0] as usize].contains(&pair[1]), "{path:?} is no path");
    }
    if let Some(first) = repeats {
        let back = configurations[*first];
        assert!(next[configurations[end - 1] as usize].contains(&back), "{path:?} is no loop");
    }
    // What is not followed stands beside something that is, and that has steps in it.
    for part in aside {
        let beside = formula.nodes().iter().any(|node| match *node {
            MuNode::And(f, g) if f == *part => looks_ahead(formula, g),
            MuNode::And(f, g) if g == *part => looks_ahead(formula, f),
            _ => false,
        });
        assert!(beside, "{path:?} leaves out part {part} of {formula:?}");
    }
    // Behind the last configuration nothing holds.
    let graph: Vec<Vec<u32>> = (0..=end)
        .map(|at| match repeats {
            Some(first) if at + 1 == end => vec![*first as u32],
            _ => vec![(at + 1).min(end) as u32],
        })
        .collect();
    let kept = |part: u32| aside.contains(&part) || *remains && *last == Some(part);
    let is_bound = |wanted: u32| {
        let mut binders = formula.nodes().iter().zip(0..).filter(|(_, part)| !kept(*part));
        binders.any(|(node, _)| match node {
            MuNode::Least { variable, .. } | MuNode::Greatest { variable, .. } => {
                *variable == wanted
            }
            _ => false,
        })
    };
    let mut along = MuFormula::default();
    for (part, &node) in formula.nodes().iter().enumerate() {
        let atom = MuNode::Atom { atom: part as u32, positive: true };
        along.add(match node {
            _ if kept(part as u32) => atom,
            MuNode::Constant(_) | MuNode::Atom { .. } => atom,
            MuNode::Every(_) => MuNode::Constant(false),
            MuNode::Variable(variable) if !is_bound(variable) => MuNode::Constant(false),
            node => node,
        });
    }
    let about = |at: u32, part: u32| {
        let Some(&one) = configurations.get(at as usize) else { return false };
        match formula.nodes()[part as usize] {
            _ if kept(part) => holds(part, one),
            MuNode::Constant(value) => value,
            MuNode::Atom { atom, positive } => truth(one, atom) == positive,
            _ => unreachable!("no other part is an atom"),
        }
    };
    let found = satisfying_among(&graph, &along, &about, &Budget::new()).expect("no limit");
    assert!(found[formula.nodes().len() - 1][0], "{path:?} does not show {formula:?}");
}

#[test]
fn random_formulas_mean_what_they_say() {
    let mut counts = [0u32; 2];
    // Paths with an end, with a loop, and those that show nothing.
    let mut shapes = [0u32; 3];
    for seed in 0..1000 {
        let mut random = Random::new(seed);
        let pds = random_system(&mut random);
        let start = Symbol::from_index(random.below(3));
        let start = Configuration { state: State::from_index(0), stack: vec![start] };
        let mut graph = BTreeMap::new();
        let mut pending = vec![start];
        while let Some(one) = pending.pop() {
            if let Entry::Vacant(entry) = graph.entry(one) {
                let next = next(&pds, entry.key());
                pending.extend(next.iter().cloned());
                entry.insert(next);
            }
        }
        let bits = random.next_u64();
        let truth = |state: State, top: Option<Symbol>, atom: u32| {
            let top = top.map_or(9, Symbol::index);
            bits >> ((state.index() * 7 + top * 3 + atom as usize * 13) % 64) & 1 == 1
        };
        let mut formula = MuFormula::default();
        let depth = 1 + random.below(3) as u32;
        let root = random_formula(&mut random, &mut formula, depth, &mut 0);
        assert!(!formula.alternates());
        let expected = meaning(&formula, root, &graph, &truth, &mut BTreeMap::new());
        let numbers: BTreeMap<&Configuration, u32> = graph.keys().zip(0..).collect();
        let targets: Vec<Vec<u32>> =
            graph.values().map(|next| next.iter().map(|one| numbers[one]).collect()).collect();
        let listed: Vec<&Configuration> = graph.keys().collect();
        let about = |at: u32, atom: u32| {
            let one = listed[at as usize];
            truth(one.state, one.stack.first().copied(), atom)
        };
        let among = satisfying_among(&targets, &formula, &about, &Budget::new()).expect("no limit");
        for (at, one) in listed.iter().enumerate() {
            let found = among[root as usize][at];
            assert_eq!(found, expected.contains(one), "seed {seed}: {formula:?} at {one:?}");
            // Of one of the formula and its opposite there is a path.
            let shown = if found { formula.clone() } else { formula.dual() };
            let holds = |part: u32, at: u32| among[part as usize][at as usize] == found;
            let path = path_among(&targets, &shown, &holds, at as u32, &Budget::new());
            let path = path.expect("no limit");
            check_path(&targets, &shown, &about, &holds, &path);
            let nothing = path.last == Some(root);
            shapes[if nothing { 2 } else { usize::from(path.repeats.is_some()) }] += 1;
        }
        let (automaton, states) = satisfying(&pds, &formula, &truth, &Budget::new()).unwrap();
        for one in graph.keys() {
            let found = automaton.accepts(states[one.state.index()], &one.stack);
            assert_eq!(
                found,
                expected.contains(one),
                "seed {seed}: {formula:?} at {one:?} of {pds:?}"
            );
            counts[usize::from(found)] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
    assert!(shapes.iter().all(|&count| count > 150), "{shapes:?}");
}

/// A procedure that calls itself or returns, with stacks of any depth.
#[test]
fn a_recursive_procedure() {
    let named = text::parse("p f -> p f b\np f -> p\np b -> p\np loop -> p loop").unwrap();
    let at_end = |_: State, top: Option<Symbol>, _: u32| top.is_none();
    let ask = |build: &dyn Fn(&mut MuFormula) -> u32, from: &str| {
        let mut formula = MuFormula::default();
        build(&mut formula);
        let (automaton, states) =
            satisfying(&named.pds, &formula, &at_end, &Budget::new()).unwrap();
        automaton.accepts(states[0], &named.configuration(from).unwrap().stack)
    };
    let end = |formula: &mut MuFormula| formula.add(MuNode::Atom { atom: 0, positive: true });
    let ef = |formula: &mut MuFormula, f: u32, variable| {
        fixpoint(formula, variable, f, None, true, true)
    };
    let ag = |formula: &mut MuFormula, f: u32, variable| {
        fixpoint(formula, variable, f, None, false, false)
    };
    let af = |formula: &mut MuFormula, f: u32, variable| {
        fixpoint(formula, variable, f, None, false, true)
    };
    let ag_ef = |formula: &mut MuFormula| {
        let end = end(formula);
        let ef = ef(formula, end, 0);
        ag(formula, ef, 1)
    };
    let ag_af = |formula: &mut MuFormula| {
        let end = end(formula);
        let af = af(formula, end, 0);
        ag(formula, af, 1)
    };
    for from in ["p f", "p f b b b b", "p b b"] {
        assert!(ask(&ag_ef, from), "{from}");
    }
    assert!(!ask(&ag_ef, "p loop"));
    assert!(!ask(&ag_ef, "p f loop b"));
    // It need not return; without a call it does.
    assert!(!ask(&ag_af, "p f"));
    assert!(ask(&ag_af, "p b b b"));
}

#[test]
fn fixpoints_that_alternate_are_seen() {
    // nu X. mu Y. EX (Y || X): again and again.
    let mut formula = MuFormula::default();
    let (x, y) = (formula.add(MuNode::Variable(0)), formula.add(MuNode::Variable(1)));
    let either = formula.add(MuNode::Or(y, x));
    let next = formula.add(MuNode::Some(either));
    let inner = formula.add(MuNode::Least { variable: 1, body: next });
    let mut open = formula.clone();
    assert!(open.alternates(), "X is bound by nothing yet");
    formula.add(MuNode::Greatest { variable: 0, body: inner });
    assert!(formula.alternates());
    open.add(MuNode::Least { variable: 0, body: inner });
    assert!(!open.alternates());
}

/// Both right-hand sides have to succeed, and a complement accepts what the automaton does not.
#[test]
fn rules_with_two_right_hand_sides() {
    let [p, q, r] = [0, 1, 2].map(State::from_index);
    let [a, b] = [0, 1].map(Symbol::from_index);
    let rule = |state, symbol, targets| AlternatingRule { state, symbol, targets };
    let pds = AlternatingPds {
        states: 3,
        symbols: 2,
        rules: vec![
            rule(p, a, vec![(q, Rhs::Pop), (r, Rhs::Step(b))]),
            rule(q, b, Vec::new()),
            rule(r, b, vec![(r, Rhs::Push(a, b)), (q, Rhs::Step(b))]),
            rule(r, a, vec![(q, Rhs::Pop)]),
        ],
    };
    assert_eq!(pds.validate(), None);
    let mut automaton = AlternatingAutomaton::new(3);
    alternating_pre_star(&pds, &mut automaton, &Budget::new()).unwrap();
    // q: anything with b on top. r: b on top, or a and then b. p: a, then b.
    let other = automaton.complement(2, &Budget::new()).unwrap();
    for word in 0..1 << 5 {
        for length in 0..=4 {
            let stack: Vec<Symbol> =
                (0..length).map(|at| if word >> at & 1 == 1 { b } else { a }).collect();
            let starts = |with: &[Symbol]| stack.starts_with(with);
            let expected = [starts(&[a, b]), starts(&[b]), starts(&[b]) || starts(&[a, b])];
            for (state, expected) in [p, q, r].into_iter().zip(expected) {
                assert_eq!(automaton.accepts(state, &stack), expected, "{state:?} {stack:?}");
                assert_eq!(other.accepts(state, &stack), !expected, "{state:?} {stack:?}");
            }
        }
    }
    let stopped = alternating_pre_star(&pds, &mut automaton, &Budget::with_steps(1));
    assert_eq!(stopped, Err(StopReason::Steps));
    let wrong = AlternatingPds { symbols: 1, ..pds };
    assert_eq!(wrong.validate(), Some(0));
}
