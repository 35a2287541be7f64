//! # Idea
//! Patterns for file names: `?` is one character, `*` any number of them, both within one part of a
//! path; a part `**` is any number of parts. A pattern without `/` is about the last part alone.
//!
//! # Invariants
//! 1. Time is at most the product of the two lengths: the tables below are filled once, and nothing
//!    is tried twice.

/// Whether `path`, with `/` between its parts, is one of those that `pattern` means.
pub fn matches(pattern: &str, path: &str) -> bool {
    let path: Vec<&str> = parts(path);
    if !pattern.contains('/') {
        return path.last().is_some_and(|name| part_matches(pattern, name));
    }
    let pattern = parts(pattern);
    align(&pattern, &path, |part| *part == "**", |part, name| part_matches(part, name))
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

fn part_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    align(&pattern, &name, |&c| c == '*', |&wanted, &c| wanted == '?' || wanted == c)
}

/// Whether `items` are what `pattern` describes, where some elements of the pattern stand for any
/// number of items and the others for one.
fn align<P, T>(
    pattern: &[P],
    items: &[T],
    any: impl Fn(&P) -> bool,
    one: impl Fn(&P, &T) -> bool,
) -> bool {
    // `reached[k]`: the pattern so far describes the first `k` items.
    let mut reached = vec![false; items.len() + 1];
    reached[0] = true;
    for wanted in pattern {
        let mut next = vec![false; items.len() + 1];
        if any(wanted) {
            let first = reached.iter().position(|&here| here).unwrap_or(next.len());
            next[first..].fill(true);
        } else {
            for (at, item) in items.iter().enumerate() {
                next[at + 1] = reached[at] && one(wanted, item);
            }
        }
        reached = next;
    }
    reached[items.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, path, expected) in [
            ("a.eml", "a.eml", true),
            ("a.eml", "x/y/a.eml", true),
            ("*.eml", "x/a.eml", true),
            ("*.eml", "x/a.slv", false),
            ("x/*.eml", "x/a.eml", true),
            ("x/*.eml", "x/y/a.eml", false),
            ("x/**/*.eml", "x/a.eml", true),
            ("x/**/*.eml", "x/y/z/a.eml", true),
            ("**/a?.eml", "b/a1.eml", true),
            ("**/a?.eml", "b/a.eml", false),
            ("./x/a.eml", "x/a.eml", true),
            ("x/**", "x/y/a.eml", true),
            ("x/**", "y/x/a.eml", false),
            ("größe*", "größe1", true),
            ("*", "", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn hostile_patterns_end() {
        let pattern = "*a".repeat(500);
        assert!(!matches(&pattern, &"a".repeat(499)));
        assert!(matches(&pattern, &"a".repeat(500)));
        assert!(!matches(&"**/x/".repeat(200), &"x/".repeat(199)));
    }
}
