//! # Idea
//! Questions about a program: all pattern queries, some of them at random, random automata, all races
//! and all deadlocks that could be one. The automata have loops that leave out some events, phase
//! transitions on the begin and the end of units, and one to four threads.

use crate::rng::Rng;
use selvedge_base::{Id, IdVec};
use selvedge_program::moment::races;
use selvedge_program::question::pattern_questions;
use selvedge_program::{
    Action, Deadlock, IndexedSymbol, Ipa, Observable, PATTERNS, PatternQuestion, Phase, Program,
    Question, Resource, Sharing, ThreadId, UnitRole, Units, Wait,
};
use std::collections::BTreeSet;

/// Every pattern on every ordered pair of threads and all locations.
pub fn all_patterns(program: &Program, units: Units) -> Vec<Question> {
    let numbers: Vec<u32> = PATTERNS.iter().map(|pattern| pattern.number).collect();
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().collect();
    pattern_questions(program, &numbers, units, &threads, &locations)
        .into_iter()
        .map(Question::Pattern)
        .collect()
}

/// At most `count` of the pattern queries; one in five with [`Units::Paper`]. Most of them are about
/// accesses that the threads have, as the answer is plain for the others.
pub fn some_patterns(program: &Program, rng: &mut Rng, count: usize) -> Vec<Question> {
    let own = symbols(program);
    let is_plausible =
        |query: &Question| match query {
            Question::Pattern(query) => {
                own[query.unit_thread].contains(&Observable::BeginUnit)
                    && query.pattern.accesses.iter().all(|&access| {
                        own[query.thread_of(access)].contains(&query.symbol_of(access))
                    })
            }
            _ => true,
        };
    let (mut plausible, mut others): (Vec<Question>, Vec<Question>) =
        all_patterns(program, Units::Exact).into_iter().partition(is_plausible);
    let mut queries = Vec::new();
    while queries.len() < count && plausible.len() + others.len() > 0 {
        let from = match (plausible.is_empty(), others.is_empty()) {
            (false, false) if rng.percent(90) => &mut plausible,
            (false, true) => &mut plausible,
            _ => &mut others,
        };
        let mut query = from.swap_remove(rng.below(from.len()));
        if let Question::Pattern(query) = &mut query
            && rng.percent(20)
        {
            query.units = Units::Paper;
        }
        queries.push(query);
    }
    queries
}

/// All events that the edges of each thread can show.
pub fn symbols(program: &Program) -> IdVec<ThreadId, BTreeSet<Observable>> {
    let sharing = Sharing::new(program);
    let mut symbols = IdVec::filled(BTreeSet::new(), program.threads.len());
    for edge in &program.edges {
        let symbol = match edge.action {
            Action::Read(location) => Observable::Read(location),
            Action::Write(location) => Observable::Write(location),
            Action::BeginUnit => Observable::BeginUnit,
            Action::EndUnit => Observable::EndUnit,
            _ => continue,
        };
        for &thread in sharing.threads_of(program, edge) {
            symbols[thread].insert(symbol);
        }
    }
    symbols
}

/// A random automaton of at most five phases over the events of the program, or `None` if it shows
/// none.
pub fn random_automaton(program: &Program, rng: &mut Rng) -> Option<Ipa> {
    let own = symbols(program);
    let sigma: Vec<IndexedSymbol> = own
        .iter_enumerated()
        .flat_map(|(thread, symbols)| {
            symbols.iter().map(move |&symbol| IndexedSymbol { thread, symbol })
        })
        .collect();
    let mut threads: Vec<ThreadId> = own.ids().filter(|&thread| !own[thread].is_empty()).collect();
    if threads.is_empty() {
        return None;
    }
    let participants = rng.between(2.min(threads.len()), threads.len().min(4));
    while threads.len() > participants {
        threads.swap_remove(rng.below(threads.len()));
    }
    let phases = (0..rng.between(participants, 5))
        .map(|index| {
            // The first phases go round, so that every participant takes part.
            let thread =
                threads.get(index).copied().unwrap_or_else(|| threads[rng.below(threads.len())]);
            let choices: Vec<Observable> = own[thread].iter().copied().collect();
            let advance = IndexedSymbol { thread, symbol: *rng.pick(&choices) };
            let kept = *rng.pick(&[100, 100, 90, 70, 40]);
            let loops = sigma.iter().copied().filter(|_| rng.percent(kept)).collect();
            Phase { name: format!("q{}", index + 1), loops, advance }
        })
        .collect();
    Some(Ipa { name: "random".to_owned(), phases })
}

/// The automaton of a pattern query in which the unit of the other thread does not count: it guesses
/// the begin of the unit under test, and then the accesses must come before the unit ends.
///
/// # Source
/// Paper 000 Fig. 2, which is this automaton for pattern 12.
pub fn figure_2(program: &Program, query: &PatternQuestion) -> Ipa {
    let locations = || program.locations.ids();
    let sigma: BTreeSet<IndexedSymbol> = program
        .threads
        .ids()
        .flat_map(|thread| {
            locations()
                .map(Observable::Read)
                .chain(locations().map(Observable::Write))
                .chain([Observable::BeginUnit, Observable::EndUnit])
                .map(move |symbol| IndexedSymbol { thread, symbol })
        })
        .collect();
    let unit = |symbol: Observable| IndexedSymbol { thread: query.unit_thread, symbol };
    let mut lambda = sigma.clone();
    lambda.remove(&unit(Observable::EndUnit));
    let mut phases =
        vec![Phase { name: "q1".to_owned(), loops: sigma, advance: unit(Observable::BeginUnit) }];
    for (index, &access) in query.pattern.accesses.iter().enumerate() {
        // Once the unit has all its accesses, it may end. Fig. 2 need not say so, because the last
        // access of pattern 12 is one of the unit under test.
        let unit_goes_on = query.pattern.accesses[index..].iter().any(|a| a.role == UnitRole::Unit);
        let loops = if unit_goes_on { lambda.clone() } else { phases[0].loops.clone() };
        let advance =
            IndexedSymbol { thread: query.thread_of(access), symbol: query.symbol_of(access) };
        phases.push(Phase { name: format!("q{}", index + 2), loops, advance });
    }
    Ipa { name: format!("pattern {}", query.pattern.number), phases }
}

/// Every location and every unordered pair of threads.
pub fn all_races(program: &Program) -> Vec<Question> {
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().collect();
    races(&threads, &locations).into_iter().map(Question::Race).collect()
}

/// Every cycle of at most `max_length` threads of which each has somewhere in its code an acquisition
/// of the lock that it is to hold, or is joined somewhere, and has an acquisition of the lock that it
/// is to want, or a join; short ones first. No order of the two is asked for, so most of these
/// deadlocks cannot happen.
pub fn candidate_deadlocks(program: &Program, max_length: usize) -> Vec<Question> {
    let sharing = Sharing::new(program);
    let none = || IdVec::filled(BTreeSet::new(), program.threads.len());
    let mut held: IdVec<ThreadId, BTreeSet<Resource>> = none();
    let mut wanted: IdVec<ThreadId, BTreeSet<Resource>> = none();
    for edge in &program.edges {
        for &thread in sharing.threads_of(program, edge) {
            match edge.action {
                Action::Acquire(lock) => {
                    held[thread].insert(lock.into());
                    wanted[thread].insert(lock.into());
                }
                Action::Join(joined) => {
                    held[joined].insert(Resource::End(joined));
                    wanted[thread].insert(Resource::End(joined));
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    // Chains of waits of which each holds what the one before wants; the first has the lowest thread.
    let mut chains: Vec<Vec<Wait>> = Vec::new();
    for (thread, resources) in held.iter_enumerated() {
        for &holds in resources {
            // Locks are reentrant, and a thread can join itself.
            if holds.lock().is_none() && wanted[thread].contains(&holds) {
                let waits = vec![Wait { thread, holds, wants: holds }];
                found.push(Question::Deadlock(Deadlock { waits }));
            }
            let others = wanted[thread].iter().filter(|&&wants| wants != holds);
            chains.extend(others.map(|&wants| vec![Wait { thread, holds, wants }]));
        }
    }
    for _ in 2..=max_length.min(program.threads.len()) {
        let mut longer = Vec::new();
        for chain in &chains {
            let (first, holds) = (chain[0], chain[chain.len() - 1].wants);
            for (thread, resources) in held.iter_enumerated() {
                let is_new = chain.iter().all(|wait| wait.thread != thread);
                if thread < first.thread || !is_new || !resources.contains(&holds) {
                    continue;
                }
                for &wants in &wanted[thread] {
                    let chain = [&chain[..], &[Wait { thread, holds, wants }]].concat();
                    if wants == first.holds {
                        found.push(Question::Deadlock(Deadlock { waits: chain }));
                    } else if chain.iter().all(|wait| wait.holds != wants) {
                        longer.push(chain);
                    }
                }
            }
        }
        chains = longer;
    }
    found
}

/// A readable name of a question, for the messages of failing tests.
pub fn describe(program: &Program, question: &Question) -> String {
    let thread = |thread: ThreadId| &program.threads[thread].name;
    match question {
        Question::Pattern(query) => format!(
            "pattern {} of {} against {} on {:?} ({:?})",
            query.pattern.number,
            program.threads[query.unit_thread].name,
            program.threads[query.other_thread].name,
            query.locations.iter().map(|location| location.index()).collect::<Vec<_>>(),
            query.units
        ),
        Question::Race(race) => {
            let location = &program.locations[race.location].name;
            format!(
                "race of {} and {} on {location}",
                thread(race.threads[0]),
                thread(race.threads[1])
            )
        }
        Question::Deadlock(deadlock) => {
            let name = |resource: Resource| match resource {
                Resource::Lock(lock) => program.locks[lock].name.clone(),
                Resource::End(end) => format!("the end of {}", thread(end)),
            };
            let wait = |wait: &Wait| {
                format!(
                    "{} holds {} wants {}",
                    thread(wait.thread),
                    name(wait.holds),
                    name(wait.wants)
                )
            };
            deadlock.waits.iter().map(wait).collect::<Vec<_>>().join(", ")
        }
        other => format!("{other:?}"),
    }
}
