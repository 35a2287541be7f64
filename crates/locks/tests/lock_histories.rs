//! Lock histories against brute-force interleaving of random lock words: `Compat`, the composition
//! law, dominance, and the constructive scheduler (ERRATA, 000).

use selvedge_base::{Budget, Id};
use selvedge_locks::lock_history::{LockAction, LockHistory, compatible};
use selvedge_locks::schedule::{
    InterleavingEnd, LocalRun, LocalStep, by_lock_histories, fewest_switches,
};
use selvedge_lower::LockSet;
use selvedge_program::{EdgeId, LockId, Move, ThreadId};
use selvedge_testkit::Rng;
use selvedge_testkit::lock_words::{LockWord, WordAction, interleave, random_word, random_words};

fn history(word: &LockWord) -> LockHistory {
    let held = word.initial.iter().map(|&lock| LockId::from_index(lock)).collect();
    extend(LockHistory::empty(held), &word.actions)
}

fn extend(history: LockHistory, actions: &[WordAction]) -> LockHistory {
    actions.iter().fold(history, |history, &action| history.post(to_engine(action)))
}

fn to_engine(action: WordAction) -> LockAction {
    match action {
        WordAction::Acquire(lock) => LockAction::Acquire(LockId::from_index(lock)),
        WordAction::Release(lock) => LockAction::Release(LockId::from_index(lock)),
    }
}

#[test]
fn compat_agrees_with_brute_force_for_two_to_four_threads() {
    let (mut feasible, mut infeasible) = (0, 0);
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let threads = rng.between(2, 4);
        let words = random_words(&mut rng, threads, 4, if threads == 4 { 5 } else { 8 });
        let histories: Vec<LockHistory> = words.iter().map(history).collect();
        let expected = interleave(&words).is_some();
        let actual = compatible(&histories.iter().collect::<Vec<_>>());
        assert_eq!(actual, expected, "seed {seed}: {words:?}");
        *if expected { &mut feasible } else { &mut infeasible } += 1;
    }
    assert!(feasible > 2000 && infeasible > 2000, "{feasible} feasible, {infeasible} not");
}

#[test]
fn histories_compose_and_composition_is_associative() {
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let word = random_word(&mut rng, 4, 10, &[0, 1, 2]);
        let mut cuts = [0, 0].map(|_| rng.below(word.actions.len() + 1));
        cuts.sort_unstable();
        let held = |at: usize| -> LockSet {
            word.held_after(at).into_iter().map(LockId::from_index).collect()
        };
        let part = |from: usize, to: usize| {
            extend(LockHistory::empty(held(from)), &word.actions[from..to])
        };
        let [i, j] = cuts;
        let (a, b, c) = (part(0, i), part(i, j), part(j, word.actions.len()));
        let whole = history(&word);
        assert_eq!(a.then(&b).then(&c), whole, "seed {seed}: {word:?} cut at {cuts:?}");
        assert_eq!(a.then(&b.then(&c)), whole, "seed {seed}: {word:?} cut at {cuts:?}");
        assert_eq!(LockHistory::empty(whole.initially_held()).then(&whole), whole);
        assert_eq!(whole.then(&LockHistory::empty(whole.finally_held())), whole);
    }
}

/// A history that constrains less admits every partner that the other one admits, and stays below it
/// after any common extension.
#[test]
fn dominance_is_sound_and_preserved() {
    let mut pairs = 0;
    for seed in 0..3_000 {
        let mut rng = Rng::new(seed);
        let words: Vec<LockWord> = (0..40).map(|_| random_word(&mut rng, 3, 6, &[0])).collect();
        let partners: Vec<LockHistory> =
            (0..10).map(|_| history(&random_word(&mut rng, 3, 6, &[1, 2]))).collect();
        for a in &words {
            for b in &words {
                let (x, y) = (history(a), history(b));
                // Words that hold the same locks in the same order can be extended alike.
                let same_stack = a.held_after(a.actions.len()) == b.held_after(b.actions.len());
                if a == b || !x.dominates(&y) || !same_stack {
                    continue;
                }
                pairs += 1;
                for partner in &partners {
                    assert!(!compatible(&[&y, partner]) || compatible(&[&x, partner]));
                }
                let more = random_word(&mut rng, 3, 4, &[]);
                let held = a.held_after(a.actions.len());
                if more.actions.iter().all(|action| match action {
                    WordAction::Acquire(lock) | WordAction::Release(lock) => !held.contains(lock),
                }) {
                    assert!(extend(x, &more.actions).dominates(&extend(y, &more.actions)));
                }
            }
        }
    }
    assert!(pairs > 1000, "only {pairs} comparable pairs");
}

/// Words cut into phases are scheduled by both schedulers exactly if each phase can be interleaved.
#[test]
fn schedules_exist_exactly_for_compatible_phases() {
    let (mut found, mut none) = (0, 0);
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let threads = rng.between(2, 3);
        let phases = rng.between(1, 3);
        let words: Vec<LockWord> = (0..threads).map(|_| random_word(&mut rng, 3, 8, &[])).collect();
        let owners: Vec<usize> = (0..phases).map(|_| rng.below(threads)).collect();
        let cuts: Vec<Vec<usize>> = words
            .iter()
            .map(|word| {
                let mut cuts: Vec<usize> =
                    (0..phases).map(|_| rng.below(word.actions.len() + 1)).collect();
                cuts.sort_unstable();
                cuts
            })
            .collect();
        let feasible = (0..phases).all(|phase| {
            let parts: Vec<LockWord> = words
                .iter()
                .zip(&cuts)
                .map(|(word, cuts)| {
                    let from = phase.checked_sub(1).map_or(0, |before| cuts[before]);
                    LockWord {
                        initial: word.held_after(from),
                        actions: word.actions[from..cuts[phase]].to_vec(),
                    }
                })
                .collect();
            interleave(&parts).is_some()
        });
        let runs: Vec<LocalRun> = (0..threads)
            .map(|thread| local_run(thread, &words[thread], &cuts[thread], &owners))
            .collect();
        let phases = phases as u32;
        let constructed =
            by_lock_histories(&runs, InterleavingEnd::Matched(phases), &Budget::new()).unwrap();
        assert_eq!(constructed.is_some(), feasible, "seed {seed}: {words:?} {cuts:?} {owners:?}");
        // The search may place a thread's steps in other phases, so it can only find more.
        let searched =
            fewest_switches(&runs, InterleavingEnd::Matched(phases), usize::MAX, &Budget::new())
                .unwrap();
        assert!(searched.is_some() || !feasible, "seed {seed}");
        for schedule in constructed.iter().chain(&searched) {
            execute(&runs, schedule, phases);
        }
        let switches = |schedule: &selvedge_program::Witness| {
            schedule.steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
        };
        if let (Some(constructed), Some(searched)) = (&constructed, &searched) {
            assert!(switches(searched) <= switches(constructed), "seed {seed}");
        }
        *if feasible { &mut found } else { &mut none } += 1;
    }
    assert!(found > 2000 && none > 2000, "{found} feasible, {none} not");
}

fn local_run(thread: usize, word: &LockWord, cuts: &[usize], owners: &[usize]) -> LocalRun {
    let mut steps = Vec::new();
    let mut from = 0;
    let mut push = |lock, phase: usize, matched| {
        // The number of the edge is the number of the step.
        let step = Move::Edge(EdgeId::from_index(steps.len()));
        steps.push(LocalStep { step, lock, phase: phase as u32, matched, window: None });
    };
    for (phase, &to) in cuts.iter().enumerate() {
        for &action in &word.actions[from..to] {
            push(Some(to_engine(action)), phase, false);
        }
        if owners[phase] == thread {
            push(None, phase, true);
        }
        from = to;
    }
    LocalRun { thread: ThreadId::from_index(thread), steps, begin: 0 }
}

/// Runs a schedule under the lock semantics and checks order and marks.
fn execute(runs: &[LocalRun], schedule: &selvedge_program::Witness, phases: u32) {
    let mut done = vec![0; runs.len()];
    let mut owner: Vec<Option<ThreadId>> = vec![None; 3];
    let mut matched = 0;
    for step in &schedule.steps {
        let thread = step.thread.index();
        let expected = runs[thread].steps[done[thread]];
        done[thread] += 1;
        assert_eq!(step.step, expected.step);
        match expected.lock {
            Some(LockAction::Acquire(lock)) => {
                assert_eq!(owner[lock.index()].replace(step.thread), None);
            }
            Some(LockAction::Release(lock)) => {
                assert_eq!(owner[lock.index()].take(), Some(step.thread));
            }
            None => {}
        }
        if let Some(number) = step.matched {
            matched += 1;
            assert_eq!(number, matched);
        }
    }
    assert_eq!(matched, phases);
}
