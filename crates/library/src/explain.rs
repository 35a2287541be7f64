//! # Idea
//! What a user may call a topic: its name, as it stands in a message (`error[missing-colon]`), in upper
//! case, by the word of `--only` (`race`), by the number of a pattern, or as a report prints it where that
//! has a number of its own (`cycle-3`, `rank 2`). Where there is none of that name, those are offered that
//! are near or have it for a part.

use selvedge_findings::FindingKind;
use selvedge_report::describe::kind_name;
use selvedge_report::explain::{Topic, topics};
use selvedge_syntax::nearest::distance;

/// How many names are offered.
const OFFERED: usize = 4;
/// Nobody misspells a name of this length by accident, and the distance is quadratic.
const LONGEST: usize = 64;

/// The topic that is called so.
///
/// # Errors
/// If there is none, with the names that may be meant, the nearest first.
pub fn find(name: &str) -> Result<Topic, Vec<&'static str>> {
    let topics = topics();
    let wanted = canonical(name);
    let named = |name: &str| topics.iter().find(|topic| topic.name == name).copied();
    if let Some(topic) = named(&wanted).or_else(|| named(&general(&wanted))) {
        return Ok(topic);
    }
    if wanted.is_empty() || wanted.len() > LONGEST {
        return Err(Vec::new());
    }
    let limit = wanted.chars().count().div_ceil(3).min(4);
    let mut near: Vec<(usize, &'static str)> = topics
        .iter()
        .filter_map(|topic| {
            let far = distance(&wanted, topic.name);
            let part = topic.name.split('-').any(|word| word == wanted);
            // A name that has the word is offered behind those that are almost it.
            (far <= limit).then_some(far).or(part.then_some(limit + 1)).map(|far| (far, topic.name))
        })
        .collect();
    near.sort_by_key(|&(far, _)| far);
    Err(near.into_iter().take(OFFERED).map(|(_, name)| name).collect())
}

/// The name of a topic in the form in which topics have theirs.
fn canonical(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let inside = ["error[", "warning["].iter().find_map(|head| name.strip_prefix(head));
    let name = inside.map_or(name.as_str(), |rest| rest.trim_end_matches([']', ':']));
    let name = name.trim_start_matches('-').trim_matches(['(', ')']);
    let topic = FindingKind::TOPICS.into_iter().find(|(word, _)| *word == name);
    if let Some((_, &[kind, ..])) = topic {
        return kind.rule().to_owned();
    }
    let number = name.strip_prefix("pattern ").unwrap_or(name);
    if number.parse::<u32>().is_ok() {
        return format!("pattern-{number}");
    }
    name.replace([' ', '_'], "-")
}

/// The name of the topic for a word that a report forms with a number or a name, and for a limit in the words
/// of a report.
fn general(word: &str) -> String {
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    let said = |kind: &FindingKind| kind_name(*kind).replace(' ', "-") == word;
    if let Some(kind) = FindingKind::ALL.into_iter().find(said) {
        return kind.rule().to_owned();
    }
    let topic = match word.split_once('-') {
        Some(("cycle", count)) if is_number(count) => "cycle-n",
        Some(("rounds", count)) if is_number(count) => "rounds-n",
        Some(("rank", number)) if is_number(number) => "rank",
        Some(("property", _)) => "property-name",
        _ => match word {
            "the-time-limit-was-reached" => "timeout",
            "the-memory-limit-was-reached" => "memory",
            "the-limit-on-work-was-reached" => "max-work",
            "the-run-was-interrupted" => "interrupted",
            "vacuously" => "vacuous",
            "proved-safe" => "safe",
            "context" => "contexts",
            "round" => "rounds",
            "right" | "left" | "both" | "pre" | "post" => "mover",
            "nothing-is-shared-between-threads" => "nothing-shared",
            kind => return format!("{kind}-failure"),
        },
    };
    topic.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::java::DEMOTIONS;
    use selvedge_analysis::EngineKind;
    use selvedge_base::StopReason;
    use selvedge_logic::Fragment;
    use selvedge_program::{FailureKind, Proof};
    use selvedge_report::describe::NOTHING_SHARED;

    #[test]
    fn names_in_every_form() {
        for (given, expected) in [
            ("data-race", "data-race"),
            ("race", "data-race"),
            ("Deadlock", "deadlock"),
            ("assertion", "assertion-failure"),
            ("pattern-12", "pattern-12"),
            ("pattern 12", "pattern-12"),
            ("12", "pattern-12"),
            ("error[missing-colon]:", "missing-colon"),
            ("warning[unused_lock]", "unused-lock"),
            ("(A6)", "a6"),
            ("--max-work", "max-work"),
            ("the limit on work was reached", "max-work"),
            ("not reproducible", "not-reproducible"),
            ("cycle-3", "cycle-n"),
            ("rank 2", "rank"),
            ("property-lost-update", "property-name"),
            ("property-violation", "property-violation"),
            ("range", "range-failure"),
        ] {
            assert_eq!(find(given).map(|topic| topic.name), Ok(expected), "{given}");
        }
    }

    #[test]
    fn near_names_are_offered() {
        assert_eq!(find("data-rcae").unwrap_err()[0], "data-race");
        assert_eq!(find("missing-coln").unwrap_err()[0], "missing-colon");
        assert!(find("lock").unwrap_err().contains(&"unused-lock"));
        assert!(find("pattern-33").unwrap_err().iter().all(|name| name.starts_with("pattern-")));
        for far in ["", "zzzzzzzz", &"x".repeat(10_000)] {
            assert_eq!(find(far), Err(Vec::new()));
        }
    }

    /// The words that reports take from enumerations and lists of the code.
    #[test]
    fn every_word_of_a_report_is_explained() {
        let failures = std::iter::successors(Some(FailureKind::Assertion), |kind| match kind {
            FailureKind::Assertion => Some(FailureKind::Invariant(0)),
            FailureKind::Invariant(_) => Some(FailureKind::Range),
            FailureKind::Range => Some(FailureKind::Index),
            FailureKind::Index => Some(FailureKind::Division),
            FailureKind::Division => Some(FailureKind::Release),
            FailureKind::Release => Some(FailureKind::Monitor),
            FailureKind::Monitor => Some(FailureKind::Annotation),
            FailureKind::Annotation => None,
        });
        let stops = std::iter::successors(Some(StopReason::Timeout), |reason| match reason {
            StopReason::Timeout => Some(StopReason::Memory),
            StopReason::Memory => Some(StopReason::Steps),
            StopReason::Steps => Some(StopReason::Cancelled),
            StopReason::Cancelled => None,
        });
        let mut words: Vec<String> = failures.map(|kind| kind.word().to_owned()).collect();
        words.extend(stops.map(|reason| reason.to_string()));
        words.extend(EngineKind::ALL.map(|engine| engine.declaration().name.to_owned()));
        words.extend(FindingKind::ALL.map(|kind| kind.rule().to_owned()));
        words.extend(FindingKind::ALL.map(|kind| kind_name(kind).to_owned()));
        let fragments = [Fragment::Chains, Fragment::Safety, Fragment::CoSafety, Fragment::General];
        words.extend(fragments.map(|fragment| fragment.word().to_owned()));
        words.extend([Proof::Fixpoint, Proof::Generators].map(|proof| proof.word().to_owned()));
        words.push(NOTHING_SHARED.to_owned());
        words.extend(DEMOTIONS.map(str::to_owned));
        words.extend((1..=7).map(|rank| format!("rank {rank}")));
        words.extend((1..=8).map(|assumption| format!("A{assumption}")));
        let others = "safe; violation; unknown; holds; fails; vacuously; refused; not asked; left out; \
                      proved safe; transaction; context; round; right; left; both; pre; post; at first; \
                      at the end; pairwise; read-only; exclusive; not reproducible";
        words.extend(others.split("; ").map(str::to_owned));
        let unknown: Vec<&String> = words.iter().filter(|word| find(word).is_err()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
