//! # Idea
//! A check that is too long for one machine is done by several: each asks its part of the questions and
//! writes every answer down, and whoever has all parts concludes what one run would have concluded.
//! Which part a question belongs to depends on its file and on itself, so that neither the order of the
//! files nor other files matter.
//!
//! The files: [`stored`] (a part as JSON and back), [`mod@join`] (all parts together).
//!
//! # Invariants
//! 1. Every question belongs to exactly one of the parts, and so do those that are only counted.
//! 2. A part has the answers that a whole run gives: engines are functions of the question.

pub mod join;
pub mod stored;

use selvedge_program::{Program, Question, Resource, Target};
use sha2::{Digest, Sha256};
use std::fmt;

/// One of several parts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shard {
    /// Which, from 1.
    index: u32,
    /// Of how many.
    count: u32,
}

impl Shard {
    /// The part with a number among so many, if there is one.
    pub fn new(index: u32, count: u32) -> Option<Self> {
        (1..=count).contains(&index).then_some(Self { index, count })
    }

    /// Which one it is, from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many there are.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Whether what these words name belongs to it.
    fn has(self, words: &[&str]) -> bool {
        let mut hash = Sha256::new();
        for word in words {
            // The lengths keep the words apart.
            hash.update((word.len() as u64).to_le_bytes());
            hash.update(word);
        }
        let first = hash.finalize().iter().take(8).fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        first % u64::from(self.count) == u64::from(self.index - 1)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// Reads `3/16`.
///
/// # Errors
/// Says what is wrong with the text.
pub fn parse_shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').and_then(|(index, count)| {
        let number = |word: &str| word.parse::<u32>().ok().filter(|_| !word.starts_with('+'));
        Some((number(index)?, number(count)?))
    });
    let (index, count) = numbers.ok_or("a shard is `NUMBER/COUNT`, such as 3/16")?;
    Shard::new(index, count).ok_or_else(|| match count {
        0 => "there is at least one shard".to_owned(),
        _ => format!("the shards of {count} are 1/{count} to {count}/{count}"),
    })
}

/// A part of the questions about one file.
#[derive(Clone, Copy, Debug)]
pub struct FilePart<'a> {
    /// Which part.
    pub shard: Shard,
    /// What tells the file from others, wherever its folder is.
    pub identity: &'a str,
}

impl FilePart<'_> {
    /// Whether a question belongs to it. Those about the same threads and locations stay together: they
    /// share work.
    pub fn has(&self, program: &Program, question: &Question) -> bool {
        let thread = |id| program.threads[id].name.as_str();
        let location = |id| program.locations[id].name.as_str();
        let resource = |resource| match resource {
            Resource::Lock(lock) => program.locks[lock].name.as_str(),
            Resource::End(ended) => thread(ended),
        };
        let mut words = vec![self.identity];
        match question {
            Question::Pattern(one) => {
                words.extend(["atomicity", thread(one.unit_thread), thread(one.other_thread)]);
                let mut locations: Vec<&str> =
                    one.locations.iter().map(|&id| location(id)).collect();
                locations.sort_unstable();
                words.extend(locations);
            }
            Question::Race(race) => {
                words.extend(["race", location(race.location)]);
                words.extend(race.threads.map(thread));
            }
            Question::Deadlock(deadlock) => {
                words.push("deadlock");
                for wait in &deadlock.waits {
                    words.extend([thread(wait.thread), resource(wait.holds), resource(wait.wants)]);
                }
            }
            Question::Reach(Target::Assertion) => words.push("assertion"),
            Question::Reach(Target::Label(_)) => words.push("label"),
            Question::Reach(Target::State(_)) => words.push("state"),
            Question::Stuck => words.push("stuck"),
            Question::Temporal(one) => {
                words.extend(["temporal", one.definitions.as_str(), one.text.as_str()]);
            }
            Question::Automaton(_) | Question::States => words.push("other"),
        }
        self.shard.has(&words)
    }

    /// Whether the questions that are only counted belong to it, and the texts of the file.
    pub fn counts_rest(&self) -> bool {
        self.shard.has(&[self.identity])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_program::relation::QuestionRelation;
    use selvedge_program::{PATTERNS, Units};

    #[test]
    fn shards_are_read() {
        assert_eq!(parse_shard("3/16"), Ok(Shard { index: 3, count: 16 }));
        assert_eq!(parse_shard("1/1").map(|one| one.to_string()), Ok("1/1".to_owned()));
        for wrong in ["", "3", "/", "3/", "/4", "0/4", "5/4", "0/0", "1/0", "-1/4", "+1/4", "1/2/3"]
        {
            assert!(parse_shard(wrong).is_err(), "{wrong}");
        }
        assert!(parse_shard("4294967296/4294967297").is_err());
    }

    /// Every question has one part, and with enough of them no part has none.
    #[test]
    fn parts_divide_the_questions() {
        let source = "var : a, b, c, d;
            process P { main { unit { read a; write b; read c; write d; } } }
            process Q { main { unit { read a; write b; read c; write d; } } }
            process R { main { unit { read a; write b; read c; write d; } } }";
        let program = selvedge_front_eml::parse(source).program.expect("a program");
        let threads: Vec<_> = program.threads.ids().collect();
        let locations: Vec<_> = program.locations.ids().collect();
        let numbers: Vec<u32> = PATTERNS.iter().map(|pattern| pattern.number).collect();
        let patterns = QuestionRelation::patterns(&numbers, Units::Exact, &threads, &locations);
        let races = QuestionRelation::races(&threads, &locations);
        let all: Vec<_> = patterns.questions(&program).chain(races.questions(&program)).collect();
        for count in 1..=5 {
            let mut sizes = vec![0; count as usize];
            for question in &all {
                let has = |&index: &u32| {
                    let shard = Shard::new(index, count).expect("a shard");
                    FilePart { shard, identity: "a.eml" }.has(&program, question)
                };
                let [one] = (1..=count).filter(has).collect::<Vec<_>>()[..] else {
                    panic!("{question:?}")
                };
                sizes[one as usize - 1] += 1;
            }
            assert!(sizes.iter().all(|&size| size > 0), "{sizes:?}");
        }
    }
}
