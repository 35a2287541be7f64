//! # Idea
//! From names that a user gives to ids of the model. A name that does not exist is answered with
//! the one that was probably meant and the list of those that do.

use selvedge_base::{Diagnostic, Id, IdVec, Severity};
use selvedge_program::{LocationId, PATTERNS, Pattern, Program, ThreadId, Units};
use selvedge_report::Patterns;
use selvedge_syntax::nearest::nearest;

/// The threads with these names, or all.
///
/// # Errors
/// A diagnostic for each name that no thread has.
pub fn threads(
    program: &Program,
    names: Option<&[String]>,
) -> Result<Vec<ThreadId>, Vec<Diagnostic>> {
    select(&program.threads, |thread| &thread.name, names, "thread", "unknown-thread")
}

/// The locations with these names, or all.
///
/// # Errors
/// A diagnostic for each name that no location has.
pub fn locations(
    program: &Program,
    names: Option<&[String]>,
) -> Result<Vec<LocationId>, Vec<Diagnostic>> {
    select(&program.locations, |location| &location.name, names, "location", "unknown-location")
}

/// The patterns of a choice, as a set and by their numbers.
///
/// # Errors
/// If a pattern is not defined for these units.
pub fn patterns(choice: Option<&Patterns>, units: Units) -> Result<(Patterns, Vec<u32>), String> {
    let numbers = |wanted: fn(&Pattern) -> bool| {
        PATTERNS.iter().filter(|pattern| wanted(pattern)).map(|pattern| pattern.number).collect()
    };
    match (choice, units) {
        (None | Some(Patterns::All), Units::Exact) => Ok((Patterns::All, numbers(|_| true))),
        // `--units paper` implies the 14 patterns.
        (None | Some(Patterns::All), Units::Paper) | (Some(Patterns::Vaziri), _) => {
            Ok((Patterns::Vaziri, numbers(Pattern::is_vaziri)))
        }
        (Some(Patterns::Numbers(chosen)), units) => {
            let vaziri: Vec<u32> = numbers(Pattern::is_vaziri);
            match chosen.iter().find(|number| !vaziri.contains(number)) {
                Some(other) if units == Units::Paper => Err(format!(
                    "--units paper is defined for the patterns 1 to 14, not for {other}"
                )),
                _ => Ok((Patterns::Numbers(chosen.clone()), chosen.clone())),
            }
        }
    }
}

/// The patterns that a text stands for: `all`, `vaziri`, or numbers and ranges such as `12,17-20`.
///
/// # Errors
/// Says what is wrong with it.
pub fn parse_patterns(text: &str) -> Result<Patterns, String> {
    match text {
        "all" => return Ok(Patterns::All),
        "vaziri" => return Ok(Patterns::Vaziri),
        _ => {}
    }
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (pattern_number(first)?, pattern_number(last)?);
        if first > last {
            return Err(format!("the range `{part}` is empty"));
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(Patterns::Numbers(numbers))
}

fn pattern_number(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let count = PATTERNS.len() as u32;
    match text.parse::<u32>() {
        Ok(number) if (1..=count).contains(&number) => Ok(number),
        Ok(number) => Err(format!("there is no pattern {number}; they are 1 to {count}")),
        Err(_) => Err(format!("`{text}` is not `all`, `vaziri` or a number from 1 to {count}")),
    }
}

/// How many names a list of all names has at most.
const LISTED: usize = 20;

/// Chosen items come in the order of the model, each once.
fn select<I: Id, T>(
    items: &IdVec<I, T>,
    name: impl Fn(&T) -> &String,
    names: Option<&[String]>,
    what: &str,
    code: &'static str,
) -> Result<Vec<I>, Vec<Diagnostic>> {
    let Some(wanted) = names else { return Ok(items.ids().collect()) };
    let wanted: Vec<&str> = wanted.iter().map(|name| name.trim()).collect();
    // The name of a process stands for all its copies.
    let means = |wanted: &str, item: &T| {
        name(item).strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    let exists = |wanted: &&str| items.iter().any(|item| means(wanted, item));
    let mut complaints = Vec::new();
    for missing in wanted.iter().filter(|wanted| !exists(wanted)) {
        let help = others(missing, items.iter().map(|item| name(item).as_str()), what, what);
        let message = format!("there is no {what} `{missing}`");
        complaints.push(Diagnostic::global(code, Severity::Error, message).with_help(help));
    }
    if !complaints.is_empty() {
        return Err(complaints);
    }
    let chosen =
        items.iter_enumerated().filter(|(_, item)| wanted.iter().any(|wanted| means(wanted, item)));
    Ok(chosen.map(|(id, _)| id).collect())
}

/// What could have been meant by a name that nothing has: `thread`, or `procedure of T1`.
pub(crate) fn no_such<'a>(
    missing: &str,
    all: impl Iterator<Item = &'a str> + Clone,
    what: &str,
) -> String {
    let kind = what.split(' ').next().unwrap_or(what);
    let owner = what.strip_prefix(kind).unwrap_or_default();
    format!(
        "there is no {what} `{missing}`; {}",
        others(missing, all, kind, &format!("{kind}{owner}"))
    )
}

/// The name that was probably meant, and all names.
fn others<'a>(
    missing: &str,
    all: impl Iterator<Item = &'a str> + Clone,
    kind: &str,
    what: &str,
) -> String {
    let near = nearest(missing, all.clone()).map(|near| format!("did you mean `{near}`? "));
    let total = all.clone().count();
    let listed: Vec<&str> = all.take(LISTED).collect();
    let owner = what.strip_prefix(kind).unwrap_or_default();
    let names = match (total, total - listed.len()) {
        (0, _) => format!("the program has no {what}"),
        (_, 0) => format!("the {kind}s{owner} are {}", listed.join(", ")),
        (_, rest) => format!("the {kind}s{owner} are {} and {rest} more", listed.join(", ")),
    };
    near.unwrap_or_default() + &names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_lists() {
        assert_eq!(parse_patterns("all"), Ok(Patterns::All));
        assert_eq!(parse_patterns("vaziri"), Ok(Patterns::Vaziri));
        let numbers = |text| match parse_patterns(text) {
            Ok(Patterns::Numbers(numbers)) => numbers,
            other => panic!("{other:?}"),
        };
        assert_eq!(numbers("13,12"), [12, 13]);
        assert_eq!(numbers("3-5,4, 1"), [1, 3, 4, 5]);
        assert_eq!(numbers("1-32").len(), 32);
        for wrong in ["", "0", "33", "1,", "x", "5-3", "-3", "1-99999999999"] {
            assert!(parse_patterns(wrong).is_err(), "{wrong}");
        }
    }
}
