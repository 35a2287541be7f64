//! Explicit search on pushdown systems, against a simulation of the rules themselves and on systems
//! whose answers are known.

mod common;

use common::{Do, sketch};
use selvedge_base::{Budget, StopReason};
use selvedge_bounded::explicit::{ExplicitSearch, StackChoice};
use selvedge_front_pds::{Parsed, parse};
use selvedge_program::{
    Action, Expr, Level, Measure, NodeId, Position, Program, Proof, Question, Search, Start,
    StatePattern, Target, Unknown, Update, Variable, validate,
};
use selvedge_replay::replay;
use selvedge_testkit::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A configuration: the shared state and the stacks, the top last.
type Configuration = (u32, Vec<Vec<u32>>);

/// What can be seen of one.
type Visible = (u32, Vec<Option<u32>>);

/// Rules of a thread: from head to shared state and word, the new top last. A head without a symbol is
/// the empty stack.
type Rules = BTreeMap<(u32, Option<u32>), Vec<(u32, Vec<u32>)>>;

/// A random system with its text.
struct System {
    threads: Vec<Rules>,
    initial: Configuration,
    pds: String,
    init: String,
}

fn random_system(rng: &mut Rng) -> System {
    let states = rng.between(2, 3);
    let mut pds = format!("{states}\n");
    let mut threads = Vec::new();
    let mut stacks = Vec::new();
    for _ in 0..rng.between(2, 3) {
        let symbols = rng.between(2, 4);
        writeln!(pds, "PDA 0 {}", symbols - 1).expect("strings take text");
        let mut rules = Rules::new();
        for _ in 0..rng.between(2, 8) {
            let from = rng.below(states) as u32;
            let top = (rng.below(8) > 0).then(|| rng.below(symbols) as u32);
            let to = rng.below(states) as u32;
            let length = [0, 1, 1, 1, 1, if top.is_some() { 2 } else { 1 }][rng.below(6)];
            let word: Vec<u32> = (0..length).map(|_| rng.below(symbols) as u32).collect();
            let text: Vec<String> = word.iter().map(u32::to_string).collect();
            let text = if word.is_empty() { "-".to_owned() } else { text.join(" ") };
            let head = top.map_or("-".to_owned(), |top| top.to_string());
            writeln!(pds, "{from} {head} -> {to} {text}").expect("strings take text");
            let word = word.into_iter().rev().collect();
            rules.entry((from, top)).or_default().push((to, word));
        }
        threads.push(rules);
        let depth = [0, 1, 1, 1, 2, 3][rng.below(6)];
        stacks.push((0..depth).map(|_| rng.below(symbols) as u32).collect::<Vec<u32>>());
    }
    let shared = rng.below(states) as u32;
    let texts: Vec<String> = stacks
        .iter()
        .map(|stack| {
            let symbols: Vec<String> = stack.iter().map(u32::to_string).collect();
            if symbols.is_empty() { "-".to_owned() } else { symbols.join(".") }
        })
        .collect();
    let init = format!("{shared}|{}\n", texts.join(","));
    System { threads, initial: (shared, stacks), pds, init }
}

/// The visible states within 1, 2, .. contexts; `None` if a stack gets too deep.
fn simulate(system: &System, levels: usize) -> Option<Vec<BTreeSet<Visible>>> {
    let mut reached: BTreeSet<(usize, Configuration)> =
        (0..system.threads.len()).map(|thread| (thread, system.initial.clone())).collect();
    let mut results = Vec::new();
    for _ in 0..levels {
        // Every thread that may go on does so, as far as it can.
        let mut work: Vec<(usize, Configuration)> = reached.iter().cloned().collect();
        while let Some((thread, (shared, stacks))) = work.pop() {
            let top = stacks[thread].last().copied();
            for (to, word) in system.threads[thread].get(&(shared, top)).into_iter().flatten() {
                let mut stacks = stacks.clone();
                stacks[thread].pop();
                stacks[thread].extend(word);
                if stacks[thread].len() > 8 || reached.len() > 20_000 {
                    return None;
                }
                let next = (thread, (*to, stacks));
                if reached.insert(next.clone()) {
                    work.push(next);
                }
            }
        }
        let visible = |(_, (shared, stacks)): &(usize, Configuration)| {
            (*shared, stacks.iter().map(|stack| stack.last().copied()).collect())
        };
        results.push(reached.iter().map(visible).collect());
        let configurations: Vec<Configuration> =
            reached.iter().map(|(_, configuration)| configuration.clone()).collect();
        for thread in 0..system.threads.len() {
            reached.extend(configurations.iter().map(|one| (thread, one.clone())));
        }
    }
    Some(results)
}

fn search<'p>(
    program: &'p Program,
    target: &Target,
    measure: Measure,
    stacks: StackChoice,
) -> ExplicitSearch<'p> {
    ExplicitSearch::new(program, target, measure, stacks, &Budget::new()).expect("it fits")
}

fn visible(search: &mut ExplicitSearch<'_>) -> BTreeSet<Visible> {
    let read = |label: &str| label.parse::<u32>().ok();
    search
        .visible_states(usize::MAX)
        .expect("no limit is met")
        .into_iter()
        .map(|state| {
            let bits = state.globals.0.iter().rev();
            let shared = bits.fold(0, |number, &bit| number << 1 | u32::from(bit != 0));
            // The empty stack of a thread that does not end there is a node labelled `-`.
            let tops = state.tops.iter().map(|top| top.as_deref().and_then(read));
            (shared, tops.collect())
        })
        .collect()
}

#[test]
fn visible_states_are_those_of_the_rules() {
    const LEVELS: usize = 4;
    let (mut compared, mut targets, mut cut) = (0, 0, 0);
    for seed in 0..1500 {
        let rng = &mut Rng::new(seed);
        let system = random_system(rng);
        let Some(expected) = simulate(&system, LEVELS) else {
            cut += 1;
            continue;
        };
        compared += 1;
        let parsed = parse(&system.pds, Some(&system.init), None).expect("no errors");
        for stacks in [StackChoice::Automatic, StackChoice::Sets] {
            let mut search = search(&parsed.program, &Target::Assertion, Measure::Contexts, stacks);
            for level in &expected {
                search.advance().expect("no limit is met");
                assert_eq!(visible(&mut search), *level, "seed {seed} {stacks:?}\n{}", system.pds);
            }
        }
        // Each of two visible states as a target is reached at the level where it appears first.
        let all: Vec<&Visible> = expected[LEVELS - 1].iter().collect();
        for _ in 0..2 {
            targets += 1;
            check_target(&system, &expected, all[rng.below(all.len())]);
        }
    }
    assert!(compared > 800 && cut > 50 && targets > 1600, "{compared} {cut} {targets}");
}

fn check_target(system: &System, expected: &[BTreeSet<Visible>], wanted: &Visible) {
    let tops: Vec<String> = wanted
        .1
        .iter()
        .map(|top| top.map_or_else(|| "-".to_owned(), |top| top.to_string()))
        .collect();
    let spec = format!("{}|{}", wanted.0, tops.join(","));
    let parsed = parse(&system.pds, Some(&system.init), Some(&spec)).expect("no errors");
    let target = parsed.target.expect("a target");
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        let mut search = search(&parsed.program, &target, Measure::Contexts, stacks);
        for (at, level) in expected.iter().enumerate() {
            let found = search.advance().expect("no limit is met").reached;
            assert_eq!(found.is_some(), level.contains(wanted), "{spec}\n{}", system.pds);
            if let Some(run) = found {
                replay(&parsed.program, &Question::Reach(target.clone()), &run)
                    .expect("the run replays");
                assert!(run.contexts() <= at as u32 + 1);
            }
        }
    }
}

fn system(pds: &str, init: &str) -> Parsed {
    parse(pds, Some(init), None).expect("no errors")
}

/// ERRATA, 001: n handshakes on one bit. The shared states are all there from the first context on,
/// yet the end is reached in the last one only.
#[test]
fn a_plateau_of_shared_states_is_not_complete() {
    const HANDSHAKES: u32 = 5;
    let mut pds = format!("2\nPDA 0 {HANDSHAKES}\n");
    for at in 0..HANDSHAKES {
        writeln!(pds, "0 {at} -> 1 {}", at + 1).expect("strings take text");
    }
    writeln!(pds, "PDA 0 {HANDSHAKES}").expect("strings take text");
    for at in 0..HANDSHAKES {
        writeln!(pds, "1 {at} -> 0 {}", at + 1).expect("strings take text");
    }
    let spec = format!("0|{HANDSHAKES},{HANDSHAKES}");
    let parsed = parse(&pds, Some("0|0,0"), Some(&spec)).expect("no errors");
    let target = parsed.target.expect("a target");
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        for (measure, least) in [(Measure::Contexts, 2 * HANDSHAKES), (Measure::Rounds, HANDSHAKES)]
        {
            let mut search = search(&parsed.program, &target, measure, stacks);
            for limit in 1..=least {
                let level = search.advance().expect("no limit is met");
                assert_eq!(
                    search.count_states().expect("no limit is met"),
                    2,
                    "a plateau from the beginning"
                );
                assert_eq!(level.reached.is_some(), limit == least, "{measure:?} {limit}");
                assert_eq!(level.complete, limit == least, "{measure:?} {limit}");
            }
        }
    }
}

/// The second thread lets the first push once more, again and again: the stack grows for ever, so
/// there is no fixpoint; but nothing ever returns, so nothing else will be visible.
#[test]
fn a_stack_that_grows_for_ever_has_no_fixpoint() {
    let parsed = system("2\nPDA 0 1\n1 0 -> 0 0 1\nPDA 0 0\n0 0 -> 1 0\n", "1|0,0");
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        let mut search = search(&parsed.program, &Target::Assertion, Measure::Contexts, stacks);
        for limit in 1..20 {
            let level = search.advance().expect("no limit is met");
            assert!(level.complete, "{limit}");
            assert_eq!(search.proof(), Proof::Generators, "{limit}");
            assert_eq!(search.count_visible().expect("no limit is met"), 2);
        }
    }
}

/// A stack that grows without bound in one context, and a fixpoint all the same.
#[test]
fn sets_of_stacks_can_be_complete() {
    let pds = "2\nPDA 0 1\n0 0 -> 0 0 1\n0 0 -> 1 1\n1 1 -> 1 -\nPDA 0 1\n1 0 -> 0 1\n";
    let parsed = parse(pds, Some("0|0,0"), Some("0|-,1")).expect("no errors");
    let target = parsed.target.expect("a target");
    let mut search = search(&parsed.program, &target, Measure::Contexts, StackChoice::Automatic);
    let first = search.advance().expect("no limit is met");
    assert!(first.reached.is_none() && !first.complete);
    let names: Vec<&str> = search.statistics().counts.iter().map(|&(name, _)| name).collect();
    assert!(names.contains(&"sets-of-stacks"), "single stacks were given up");
    let second = search.advance().expect("no limit is met");
    let run = second.reached.expect("it is reached");
    replay(&parsed.program, &Question::Reach(target.clone()), &run).expect("the run replays");
    assert_eq!(run.contexts(), 2);
    let mut complete = second.complete;
    for _ in 0..3 {
        complete |= search.advance().expect("no limit is met").complete;
    }
    assert!(complete);
}

/// Deep stacks, but bounded ones, are no reason to give up single stacks.
#[test]
fn deep_stacks_are_followed() {
    const DEPTH: u32 = 300;
    let mut pds = format!("1\nPDA 0 {DEPTH}\n");
    for at in 0..DEPTH {
        writeln!(pds, "0 {at} -> 0 {} {at}", at + 1).expect("strings take text");
    }
    writeln!(pds, "0 {DEPTH} -> 0 -").expect("strings take text");
    let parsed = system(&pds, "0|0");
    let mut search =
        search(&parsed.program, &Target::Assertion, Measure::Contexts, StackChoice::Automatic);
    let count = |search: &ExplicitSearch<'_>| {
        let counts = search.statistics().counts;
        counts.iter().find(|(name, _)| *name == "deepest-stack").map(|&(_, count)| count)
    };
    let level = search.advance();
    // Returning to `at` lets it call again, so it is unbounded in time, not in depth.
    assert!(level.expect("no limit is met").complete);
    assert_eq!(count(&search), Some(u64::from(DEPTH) + 1));
}

#[test]
fn atomic_sections_hide_what_is_inside() {
    // The first thread raises and lowers a bit in one section; the second fails if it sees it.
    let hidden = sketch(
        1,
        &[&[&[Do::Begin, Do::Raise(0), Do::Lower(0), Do::End]], &[&[Do::Assume(0), Do::Fail]]],
    );
    let open = sketch(1, &[&[&[Do::Raise(0), Do::Lower(0)]], &[&[Do::Assume(0), Do::Fail]]]);
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        for measure in [Measure::Rounds, Measure::Contexts] {
            let levels = all_levels(&hidden, &Target::Assertion, measure, stacks);
            assert!(levels.iter().all(|level| level.reached.is_none()));
            let mut last = search(&hidden, &Target::Assertion, measure, stacks);
            last.advance().expect("no limit is met");
            assert_eq!(last.count_states().expect("no limit is met"), 1, "the bit is never seen");
            let levels = all_levels(&open, &Target::Assertion, measure, stacks);
            let least = levels.iter().position(|level| level.reached.is_some());
            assert_eq!(least, Some(usize::from(measure == Measure::Contexts)));
        }
    }
    // A label inside the section is reached.
    let inside: Vec<NodeId> = hidden.nodes.ids().skip(2).take(1).collect();
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        let target = Target::Label(inside.clone());
        let levels = all_levels(&hidden, &target, Measure::Rounds, stacks);
        let run = levels[0].reached.as_ref().expect("it is reached");
        replay(&hidden, &Question::Reach(target.clone()), run).expect("the run replays");
        assert_eq!(run.steps.len(), 2);
    }
}

/// The second context fails, though it leads to no other configuration.
#[test]
fn a_failure_to_come_is_not_complete() {
    let mut program = sketch(1, &[&[&[Do::Fail]], &[&[Do::Raise(0)]]]);
    let guard = Expr::Current(Variable::Global(program.globals.ids().next().expect("a global")));
    let update = program.updates.push(Update { guard: Some(guard), ..Update::default() });
    let fail = program.edges.ids().next().expect("an edge");
    program.edges[fail].update = Some(update);
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        for measure in [Measure::Rounds, Measure::Contexts] {
            let levels = all_levels(&program, &Target::Assertion, measure, stacks);
            let reached: Vec<bool> = levels.iter().map(|level| level.reached.is_some()).collect();
            assert_eq!(reached, [false, true], "{measure:?} {stacks:?}");
            let run = levels[1].reached.as_ref().expect("it is reached");
            replay(&program, &Question::Reach(Target::Assertion), run).expect("the run replays");
        }
    }
}

/// A thread that is started inside an atomic section that nobody ever leaves is at its entry.
#[test]
fn a_thread_is_at_its_entry_once_it_is_started() {
    let mut program = sketch(0, &[&[&[Do::Begin, Do::Block, Do::Block]], &[&[Do::Block]]]);
    let started = program.threads.ids().nth(1).expect("two threads");
    program.threads[started].start = Start::ByEdge { after: None };
    let entry = program.procedures[program.threads[started].main].entry;
    let target = Target::Label(vec![entry]);
    let threads = [Position::Any, Position::At(vec![entry])].into_iter().collect();
    let state = Target::State(StatePattern { globals: Vec::new(), locks: Vec::new(), threads });
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        for target in [&target, &state] {
            let levels = all_levels(&program, target, Measure::Rounds, stacks);
            assert!(levels.iter().all(|level| level.reached.is_none()), "it waits");
        }
    }
    let start = program.edges.ids().nth(1).expect("an edge");
    program.edges[start].action = Action::Start(started);
    program.edges[start].update = None;
    assert_eq!(validate::validate(&program), []);
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        for measure in [Measure::Rounds, Measure::Contexts] {
            let levels = all_levels(&program, &target, measure, stacks);
            let run = levels[0].reached.as_ref().expect("it is reached");
            replay(&program, &Question::Reach(target.clone()), run).expect("the run replays");
            assert_eq!(run.steps.len(), 2);
        }
    }
}

/// The levels up to the fixpoint.
fn all_levels(
    program: &Program,
    target: &Target,
    measure: Measure,
    stacks: StackChoice,
) -> Vec<Level> {
    let mut search = search(program, target, measure, stacks);
    let mut levels = Vec::new();
    loop {
        levels.push(search.advance().expect("no limit is met"));
        if levels[levels.len() - 1].complete {
            return levels;
        }
        assert!(levels.len() < 20, "there is a fixpoint");
    }
}

#[test]
fn interrupts_are_answered() {
    let parsed = system("2\nPDA 0 1\n1 0 -> 0 0 1\nPDA 0 0\n0 0 -> 1 0\n", "1|0,0");
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        let budget = Budget::new();
        let target = Target::Assertion;
        let mut search =
            ExplicitSearch::new(&parsed.program, &target, Measure::Contexts, stacks, &budget)
                .expect("it fits");
        budget.raise(StopReason::Timeout);
        assert_eq!(search.advance(), Err(Unknown::Stopped(StopReason::Timeout).into()));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let refuse = |program: &Program| {
        let budget = Budget::new();
        let target = Target::Assertion;
        let stacks = StackChoice::Automatic;
        let search = ExplicitSearch::new(program, &target, Measure::Rounds, stacks, &budget);
        match search.err() {
            Some(Unknown::Unsupported(reason)) => reason,
            other => panic!("{other:?}"),
        }
    };
    let fail: &[&[Do]] = &[&[Do::Fail]];
    assert!(refuse(&sketch(65, &[fail])).contains("64 bits"));
    let threads: Vec<&[&[Do]]> = vec![fail; 65];
    assert!(refuse(&sketch(1, &threads)).contains("64 threads"));
    let mut open = sketch(30, &[fail]);
    for global in open.globals.ids() {
        open.globals[global].initial = None;
    }
    assert!(refuse(&open).contains("without an initial value"));
    // 64 globals and 64 threads are fine.
    let threads: Vec<&[&[Do]]> = vec![fail; 64];
    let program = sketch(64, &threads);
    let mut last = search(&program, &Target::Assertion, Measure::Rounds, StackChoice::Automatic);
    assert!(last.advance().expect("no limit is met").reached.is_some());
}
