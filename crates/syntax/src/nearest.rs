//! # Idea
//! A misspelt name is close to the right one: few insertions, deletions, replacements and swaps of
//! neighbouring characters lead from one to the other. The more characters a name has, the more of
//! them may be wrong.
//!
//! # Source
//! The optimal string alignment distance: the usual dynamic programme with one more case for swaps.

use crate::tokens::quote;
use selvedge_base::Diagnostic;

/// The candidate that `word` was probably meant to be, the first of the nearest; `None` if none is
/// near. Names that differ only in upper and lower case are always near.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody misspells a name of this length by accident, and the distance is quadratic.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let limit = word.chars().count().div_ceil(3).min(3);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == word || candidate.len().abs_diff(word.len()) > LONGEST {
            continue;
        }
        let distance =
            if candidate.eq_ignore_ascii_case(word) { 0 } else { distance(word, candidate) };
        // A name of one letter is near every other such name, which helps nobody.
        let replaced_whole = distance >= candidate.chars().count().max(word.chars().count());
        if distance <= limit && !replaced_whole && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The diagnostic with the word that is probably meant in place of the one it is about.
#[must_use]
pub fn suggest(diagnostic: Diagnostic, meant: &str) -> Diagnostic {
    let span = diagnostic.primary.as_ref().map(|label| label.span);
    let diagnostic = diagnostic.with_help(format!("did you mean {}?", quote(meant)));
    match span {
        Some(span) => diagnostic.with_replacement(span, meant),
        None => diagnostic,
    }
}

/// The optimal string alignment distance of two words.
pub fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    // Rows `i - 2`, `i - 1` and `i` of the table.
    let mut before: Vec<usize> = vec![0; right.len() + 1];
    let mut above: Vec<usize> = (0..=right.len()).collect();
    let mut row: Vec<usize> = vec![0; right.len() + 1];
    for i in 1..=left.len() {
        row[0] = i;
        for j in 1..=right.len() {
            let replaced = above[j - 1] + usize::from(left[i - 1] != right[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            let swapped =
                i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if swapped {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before, &mut above);
        std::mem::swap(&mut above, &mut row);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits() {
        for (left, right, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("count", "count", 0),
            ("cuont", "count", 1),
            ("cont", "count", 1),
            ("countt", "count", 1),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3),
        ] {
            assert_eq!(distance(left, right), expected, "{left} {right}");
            assert_eq!(distance(right, left), expected, "{right} {left}");
        }
    }

    #[test]
    fn only_near_names_are_suggested() {
        assert_eq!(nearest("conut", ["data", "count"]), Some("count"));
        assert_eq!(nearest("STACK", ["stick", "stack"]), Some("stack"));
        assert_eq!(nearest("x", ["y", "z"]), None);
        assert_eq!(nearest("elephant", ["data", "count"]), None);
        assert_eq!(nearest(&"a".repeat(1000), ["a"]), None);
        assert_eq!(nearest("ab", ["ac", "ad"]), Some("ac"));
    }
}
