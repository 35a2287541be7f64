//! Proofs for every bound on systems whose stacks grow for ever: found where they exist, and never
//! where a visible state is still to come. Random systems are compared with a search of their own
//! rules that knows no bound on contexts, only one on the depth of stacks: whatever that one sees has
//! to be seen by a search that calls itself complete.
//!
//! `SELVEDGE_PROGRAMS` sets the number of systems (default: a few seconds' worth), `SELVEDGE_SEED` the
//! first seed.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_base::Budget;
use selvedge_bounded::explicit::{ExplicitSearch, StackChoice};
use selvedge_front_pds::parse;
use selvedge_program::{Measure, Program, Proof, Question, Search, Target};
use selvedge_replay::replay;
use selvedge_testkit::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A configuration: the shared state and the stacks, the top last.
type Configuration = (u32, Vec<Vec<u32>>);

/// What can be seen of one.
type View = (u32, Vec<Option<u32>>);

/// Rules of a thread: from head to shared state and word, the new top last.
type Rules = BTreeMap<(u32, u32), Vec<(u32, Vec<u32>)>>;

/// A rule: from head to shared state and word, the new top first.
type Rule = (u32, u32, u32, Vec<u32>);

struct System {
    threads: Vec<Rules>,
    initial: Configuration,
    pds: String,
    init: String,
}

/// A system in which most rules change the shared state, so that threads have to take turns, and
/// stacks go up and down.
fn random_system(rng: &mut Rng) -> System {
    let states = rng.between(2, 3);
    let mut pds = format!("{states}\n");
    let mut threads = Vec::new();
    let mut stacks = Vec::new();
    for _ in 0..rng.between(2, 3) {
        let symbols = rng.between(2, 4);
        writeln!(pds, "PDA 0 {}", symbols - 1).expect("strings take text");
        let mut rules = Rules::new();
        for _ in 0..rng.between(3, 7) {
            let (from, top) = (rng.below(states) as u32, rng.below(symbols) as u32);
            let turn = rng.percent(75);
            let to = if turn { (from + 1) % states as u32 } else { rng.below(states) as u32 };
            let length = [0, 0, 1, 1, 2, 2][rng.below(6)];
            let word: Vec<u32> = (0..length).map(|_| rng.below(symbols) as u32).collect();
            let text: Vec<String> = word.iter().map(u32::to_string).collect();
            let text = if word.is_empty() { "-".to_owned() } else { text.join(" ") };
            writeln!(pds, "{from} {top} -> {to} {text}").expect("strings take text");
            let word = word.into_iter().rev().collect();
            rules.entry((from, top)).or_default().push((to, word));
        }
        threads.push(rules);
        stacks.push(vec![rng.below(symbols) as u32]);
    }
    let shared = rng.below(states) as u32;
    let texts: Vec<String> = stacks.iter().map(|stack| stack[0].to_string()).collect();
    let init = format!("{shared}|{}\n", texts.join(","));
    System { threads, initial: (shared, stacks), pds, init }
}

/// How many pushes a random ladder may need: counters unrolled on the stack.
const MOST_RUNGS: usize = 5;

/// The first thread pushes one symbol several times above another, and takes them off again, one
/// handshake each; the second thread grows with each handshake. Random rules are added to both.
fn random_ladder(rng: &mut Rng) -> System {
    let rungs = rng.between(1, MOST_RUNGS);
    let (rung, ground) = (10, 11);
    let mut first: Vec<Rule> = vec![(0, 0, 0, vec![1, ground])];
    for at in 1..rungs as u32 {
        first.push((0, at, 0, vec![at + 1, rung]));
    }
    first.push((0, rungs as u32, 0, vec![rung]));
    first.push((1, rung, 0, Vec::new()));
    if rng.percent(70) {
        first.push((1, ground, 0, vec![ground]));
    }
    let mut second = vec![(0, 0, 1, vec![0, 1])];
    for _ in 0..rng.below(3) {
        let (from, to) = (rng.below(2) as u32, rng.below(2) as u32);
        let symbols = [rung, ground, 12];
        let word = (0..rng.below(3)).map(|_| *rng.pick(&symbols)).collect();
        first.push((from, *rng.pick(&symbols), to, word));
        let word = (0..rng.below(3)).map(|_| rng.below(2) as u32).collect();
        second.push((rng.below(2) as u32, rng.below(2) as u32, rng.below(2) as u32, word));
    }
    system(2, &[(12, first), (1, second)], &[0, 0])
}

/// A system from its rules, with the new top first.
fn system(states: u32, threads: &[(u32, Vec<Rule>)], initial: &[u32]) -> System {
    let mut pds = format!("{states}\n");
    let mut all = Vec::new();
    for (last, rules) in threads {
        writeln!(pds, "PDA 0 {last}").expect("strings take text");
        let mut own = Rules::new();
        for (from, top, to, word) in rules {
            let text: Vec<String> = word.iter().map(u32::to_string).collect();
            let text = if word.is_empty() { "-".to_owned() } else { text.join(" ") };
            writeln!(pds, "{from} {top} -> {to} {text}").expect("strings take text");
            let word = word.iter().rev().copied().collect();
            own.entry((*from, *top)).or_default().push((*to, word));
        }
        all.push(own);
    }
    let texts: Vec<String> = initial.iter().map(u32::to_string).collect();
    let init = format!("0|{}\n", texts.join(","));
    let stacks = initial.iter().map(|&symbol| vec![symbol]).collect();
    System { threads: all, initial: (0, stacks), pds, init }
}

/// What is seen of a system with stacks up to a depth, in any number of contexts, as far as a number
/// of configurations goes.
fn deep(system: &System) -> BTreeSet<View> {
    const DEEPEST: usize = 9;
    const MOST: usize = 6_000;
    let mut met: BTreeSet<Configuration> = [system.initial.clone()].into();
    let mut work = std::collections::VecDeque::from([system.initial.clone()]);
    while let Some((shared, stacks)) = work.pop_front() {
        for (thread, rules) in system.threads.iter().enumerate() {
            let Some(&top) = stacks[thread].last() else { continue };
            for (to, word) in rules.get(&(shared, top)).into_iter().flatten() {
                let mut stacks = stacks.clone();
                stacks[thread].pop();
                stacks[thread].extend(word);
                let next = (*to, stacks);
                let fits = next.1[thread].len() <= DEEPEST && met.len() < MOST;
                if fits && met.insert(next.clone()) {
                    work.push_back(next);
                }
            }
        }
    }
    let seen = |(shared, stacks): &Configuration| {
        (*shared, stacks.iter().map(|stack| stack.last().copied()).collect())
    };
    met.iter().map(seen).collect()
}

fn views(search: &mut ExplicitSearch<'_>) -> BTreeSet<View> {
    let read = |label: &str| label.parse::<u32>().ok();
    search
        .visible_states(usize::MAX)
        .expect("no limit is met")
        .into_iter()
        .map(|state| {
            let bits = state.globals.0.iter().rev();
            let shared = bits.fold(0, |number, &bit| number << 1 | u32::from(bit != 0));
            (shared, state.tops.iter().map(|top| top.as_deref().and_then(read)).collect())
        })
        .collect()
}

fn search<'p>(
    program: &'p Program,
    target: &Target,
    measure: Measure,
    stacks: StackChoice,
) -> ExplicitSearch<'p> {
    ExplicitSearch::new(program, target, measure, stacks, &Budget::new()).expect("it fits")
}

/// A question that nothing answers.
fn nothing() -> Target {
    Target::Label(Vec::new())
}

#[derive(Default, Debug)]
struct Counts {
    systems: usize,
    fixpoints: usize,
    proofs: usize,
    /// Proofs after a level at which something new was seen, and it was not the first.
    late_proofs: usize,
    /// Levels at which nothing new was seen, but something later: a plateau.
    plateaus: usize,
    /// No proof, though the last level has all that the deep search sees.
    missed: usize,
    targets: usize,
}

const LEVELS: usize = 10;

fn check(seed: u64, system: &System, rng: &mut Rng, counts: &mut Counts) {
    counts.systems += 1;
    let context = || format!("seed {seed}\n{}{}", system.pds, system.init);
    let all = deep(system);
    let parsed = parse(&system.pds, Some(&system.init), None).expect("no errors");
    let measure = if rng.percent(70) { Measure::Contexts } else { Measure::Rounds };
    let stacks = if rng.percent(50) { StackChoice::Automatic } else { StackChoice::Sets };
    let mut search = search(&parsed.program, &nothing(), measure, stacks);
    let mut levels: Vec<BTreeSet<View>> = Vec::new();
    let mut complete = None;
    while levels.len() < LEVELS && complete.is_none() {
        let level = search.advance().expect("no limit is met");
        levels.push(views(&mut search));
        complete = level.complete.then(|| search.proof());
    }
    let last = levels.last().expect("a level");
    let growth = |at: usize| levels[at].len() > levels[at - 1].len();
    match complete {
        Some(proof) => {
            assert!(all.is_subset(last), "{proof:?}, but there is more: {}", context());
            counts.fixpoints += usize::from(proof == Proof::Fixpoint);
            let proved = proof == Proof::Generators;
            counts.proofs += usize::from(proved);
            counts.late_proofs += usize::from(proved && levels.len() > 3);
        }
        None if all.is_subset(last) => counts.missed += 1,
        None => {}
    }
    let known = |level: &BTreeSet<View>| all.is_subset(level) && level == last;
    let plateau = |&at: &usize| !growth(at) && !known(&levels[at]);
    counts.plateaus += (1..levels.len()).filter(plateau).count();
    // Whatever can be seen is never excluded, whichever question is asked.
    let all: Vec<&View> = all.iter().collect();
    check_target(system, all[rng.below(all.len())], measure, stacks, counts);
}

fn check_target(
    system: &System,
    wanted: &View,
    measure: Measure,
    stacks: StackChoice,
    counts: &mut Counts,
) {
    let top = |top: &Option<u32>| top.map_or_else(|| "-".to_owned(), |top| top.to_string());
    let tops: Vec<String> = wanted.1.iter().map(top).collect();
    let spec = format!("{}|{}", wanted.0, tops.join(","));
    let Ok(parsed) = parse(&system.pds, Some(&system.init), Some(&spec)) else { return };
    let target = parsed.target.expect("a target");
    let mut search = search(&parsed.program, &target, measure, stacks);
    for _ in 0..LEVELS {
        let level = search.advance().expect("no limit is met");
        if let Some(run) = level.reached {
            counts.targets += 1;
            replay(&parsed.program, &Question::Reach(target.clone()), &run)
                .expect("the run replays");
            return;
        }
        assert!(!level.complete, "{spec} is reached\n{}{}", system.pds, system.init);
    }
}

#[test]
fn nothing_is_seen_after_a_proof() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let systems: u64 = number("SELVEDGE_PROGRAMS").map_or(200, |programs: u64| programs * 10);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let (mut random, mut ladders) = (Counts::default(), Counts::default());
    for seed in first..first + systems {
        let rng = &mut Rng::new(seed);
        let system = random_system(rng);
        check(seed, &system, rng, &mut random);
        let system = random_ladder(rng);
        check(seed, &system, rng, &mut ladders);
    }
    println!("random: {random:?}\nladders: {ladders:?}");
    let systems = systems as usize;
    assert!(random.proofs * 10 > systems && random.plateaus * 60 > systems, "{random:?}");
    assert!(ladders.proofs * 10 > systems && ladders.plateaus > systems, "{ladders:?}");
    assert!(random.late_proofs > 0 && ladders.late_proofs * 10 > systems);
    assert!(random.targets * 2 > systems && ladders.targets * 2 > systems);
}

/// The first thread pushes a rung `rungs` times and takes one off at each handshake. Nothing new is
/// seen for two contexts per rung; then the ground is uncovered. The stack of the second thread grows
/// for ever, so there is no fixpoint of configurations, and only a proof can tell what comes.
#[test]
fn a_plateau_before_the_last_return_is_not_a_proof() {
    for rungs in 1..=6u32 {
        let mut pds = format!("2\nPDA 0 {}\n0 0 -> 0 1 50\n", rungs + 60);
        for at in 1..rungs {
            writeln!(pds, "0 {at} -> 0 {} 40", at + 1).expect("strings take text");
        }
        writeln!(pds, "0 {rungs} -> 0 40\n1 40 -> 0 -\n1 50 -> 0 50\nPDA 0 1\n0 0 -> 1 0 1")
            .expect("strings take text");
        let parsed = parse(&pds, Some("0|0,0"), Some("0|50,0")).expect("no errors");
        let target = parsed.target.expect("a target");
        for stacks in [StackChoice::Automatic, StackChoice::Sets] {
            for (measure, least) in
                [(Measure::Contexts, 2 * rungs + 1), (Measure::Rounds, rungs + 1)]
            {
                let mut asked = search(&parsed.program, &target, measure, stacks);
                let mut counted = search(&parsed.program, &nothing(), measure, stacks);
                let mut seen = Vec::new();
                for limit in 1..least {
                    let level = asked.advance().expect("no limit is met");
                    assert!(level.reached.is_none() && !level.complete, "{rungs} {limit}");
                    let level = counted.advance().expect("no limit is met");
                    assert!(!level.complete, "{rungs} {limit}");
                    seen.push(counted.count_visible().expect("no limit is met"));
                }
                // All but the first contexts see the same.
                let plateau = seen.iter().skip(3);
                assert!(plateau.clone().all(|count| count == plateau.clone().next().unwrap()));
                let run = asked.advance().expect("no limit is met").reached.expect("the ground");
                replay(&parsed.program, &Question::Reach(target.clone()), &run)
                    .expect("the run replays");
                let proofs = (0..3).map(|_| {
                    let level = counted.advance().expect("no limit is met");
                    (level.complete, counted.proof())
                });
                let proofs: Vec<_> = proofs.collect();
                assert!(proofs.contains(&(true, Proof::Generators)), "{rungs} {proofs:?}");
                // An attempt is repeated only when its missing view was found, at most once a view,
                // and not at every level.
                let attempts = (asked.attempts(), counted.attempts());
                assert!(attempts.0 <= 2 && attempts.1 <= 4, "{rungs} {attempts:?}");
            }
        }
    }
}

/// Both threads go up and down without end, in turns.
#[test]
fn growing_stacks_can_be_proved() {
    let pds = "2\nPDA 0 1\n1 0 -> 0 0\n1 0 -> 0 0 1\n1 0 -> 0 1\n1 1 -> 0 -\n\
               PDA 0 1\n0 0 -> 1 0 1\n0 0 -> 1 1\n0 1 -> 1 -\n";
    let parsed = parse(pds, Some("1|0,0"), None).expect("no errors");
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        for measure in [Measure::Contexts, Measure::Rounds] {
            let mut search = search(&parsed.program, &nothing(), measure, stacks);
            let complete = (0..8).any(|_| search.advance().expect("no limit is met").complete);
            assert!(complete && search.proof() == Proof::Generators, "{stacks:?} {measure:?}");
            let seen = search.count_visible().expect("no limit is met");
            for _ in 0..4 {
                search.advance().expect("no limit is met");
            }
            assert_eq!(search.count_visible().expect("no limit is met"), seen);
        }
    }
}

/// Symbol 5 is only below a call that does not return, so no return uncovers it.
#[test]
fn what_is_below_depends_on_how_a_call_was_entered() {
    let pds = "2\nPDA 0 5\n0 0 -> 1 2 3\n1 0 -> 0 4 5\n0 2 -> 1 -\n1 3 -> 0 0\n0 4 -> 1 4\n\
               PDA 0 1\n1 0 -> 0 0 1\n0 0 -> 1 0 1\n";
    let parsed = parse(pds, Some("0|0,0"), Some("1|5,0")).expect("no errors");
    let target = parsed.target.expect("a target");
    let mut search = search(&parsed.program, &target, Measure::Contexts, StackChoice::Automatic);
    let complete = (0..8).any(|_| search.advance().expect("no limit is met").complete);
    assert!(complete && search.proof() == Proof::Generators);
}

/// The published systems whose stacks grow without bound.
#[test]
fn published_systems_are_proved() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/benchmarks/cuba");
    if !folder.exists() {
        println!("skipped: no folder {}", folder.display());
        return;
    }
    for (file, seen, proof) in [
        ("08_Stefan-1/stefan-2", 20, Proof::Generators),
        ("08_Stefan-1/stefan-4", 254, Proof::Generators),
        ("06_K-Indcution/k-induction", 40, Proof::Generators),
        ("converge-11", 40, Proof::Generators),
        ("diverge-11", 12, Proof::Generators),
        ("diverge-12", 12, Proof::Generators),
        ("diverge-13", 28, Proof::Generators),
    ] {
        let read = |extension: &str| fs::read_to_string(folder.join(format!("{file}.{extension}")));
        let (pds, init) = (read("pds").expect("rules"), read("init").expect("a state"));
        let parsed = parse(&pds, Some(&init), None).expect("no errors");
        let mut search =
            search(&parsed.program, &nothing(), Measure::Contexts, StackChoice::Automatic);
        let levels = (1..=8).find(|_| search.advance().expect("no limit is met").complete);
        println!("{file}: {levels:?} {:?}", search.proof());
        assert!(levels.is_some(), "{file}");
        assert_eq!(
            (search.count_visible().expect("no limit is met"), search.proof()),
            (seen, proof),
            "{file}"
        );
    }
}
