//! The questions about races and deadlocks are all that there are: compared with every list of waits
//! that one can write down.

use selvedge_base::IdVec;
use selvedge_program::{
    Action, Deadlock, LockId, Program, Question, Race, Sharing, ThreadId, Wait,
};
use selvedge_replay::question_error;
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::queries::{all_races, candidate_deadlocks};
use std::collections::BTreeSet;

/// Every list of `length` waits that is a deadlock by its invariants and of which every thread
/// acquires both locks somewhere.
fn all_cycles(program: &Program, length: usize) -> BTreeSet<Deadlock> {
    let sharing = Sharing::new(program);
    let mut acquired: IdVec<ThreadId, BTreeSet<LockId>> =
        IdVec::filled(BTreeSet::new(), program.threads.len());
    for edge in &program.edges {
        if let Action::Acquire(lock) = edge.action {
            for &thread in sharing.threads_of(program, edge) {
                acquired[thread].insert(lock);
            }
        }
    }
    let mut waits = Vec::new();
    for (thread, locks) in acquired.iter_enumerated() {
        for &holds in locks {
            waits.extend(locks.iter().map(|&wants| Wait {
                thread,
                holds: holds.into(),
                wants: wants.into(),
            }));
        }
    }
    let mut lists = vec![Vec::new()];
    for _ in 0..length {
        let longer = |list: &Vec<Wait>| {
            let list = list.clone();
            waits.iter().map(move |&wait| [&list[..], &[wait]].concat()).collect::<Vec<_>>()
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
        .into_iter()
        .map(|waits| Deadlock { waits })
        .filter(|deadlock| question_error(program, &Question::Deadlock(deadlock.clone())).is_none())
        .collect()
}

fn deadlock_of(question: &Question) -> Deadlock {
    match question {
        Question::Deadlock(deadlock) => deadlock.clone(),
        other => panic!("{other:?} is no deadlock"),
    }
}

fn race_of(question: &Question) -> Race {
    match question {
        Question::Race(race) => *race,
        other => panic!("{other:?} is no race"),
    }
}

#[test]
fn candidates_are_all_cycles() {
    let mut lengths = [0; 2];
    for seed in 0..80 {
        let shape = Shape { processes: (3, 3), locks: 3, ..Shape::CONTENDED };
        let program = random_model(&mut Rng::new(seed), &shape).to_program();
        for (longest, count) in (2..=3).zip(&mut lengths) {
            let candidates = candidate_deadlocks(&program, longest);
            let expected: BTreeSet<Deadlock> =
                (2..=longest).flat_map(|length| all_cycles(&program, length)).collect();
            let found: BTreeSet<Deadlock> = candidates.iter().map(deadlock_of).collect();
            assert_eq!(found, expected, "seed {seed}");
            assert_eq!(candidates.len(), found.len(), "twice the same, seed {seed}");
            *count += found.len();
            assert!(candidates.is_sorted_by_key(|question| question.threads().len()));
        }
        assert_eq!(candidate_deadlocks(&program, 1), []);
        // No cycle is longer than the number of threads.
        assert_eq!(candidate_deadlocks(&program, 3), candidate_deadlocks(&program, usize::MAX));
    }
    assert!(lengths[0] > 50 && lengths[1] > lengths[0] + 30, "{lengths:?}");
}

#[test]
fn races_are_about_every_location_and_pair() {
    for seed in 0..30 {
        let program = random_model(&mut Rng::new(seed), &Shape::CONTENDED).to_program();
        let races = all_races(&program);
        let (threads, locations) = (program.threads.len(), program.locations.len());
        assert_eq!(races.len(), locations * threads * (threads - 1) / 2);
        assert_eq!(races.iter().map(race_of).collect::<BTreeSet<_>>().len(), races.len());
        assert!(races.iter().all(|race| question_error(&program, race).is_none()));
    }
}
