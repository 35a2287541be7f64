//! # Idea
//! What a user may call a topic: its name, as it stands in a message (`error[missing-colon]`), in upper
//! case, by the word of `--only` (`race`), or by the number of a pattern. Where there is none of that
//! name, those are offered that are near or have it for a part.

use selvedge_findings::FindingKind;
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
    if let Some(topic) = topics.iter().find(|topic| topic.name == wanted) {
        return Ok(*topic);
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
