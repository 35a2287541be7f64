//! # Idea
//! Patterns for file names, as the library `globset` reads them: `?` is one character, `*` any
//! number of them, `[ab]` one of those named and `{a,b}` one of those texts, all within one part of
//! a path; a part `**` is any number of parts. A pattern without `/` is about the last part alone.
//!
//! The library compares bytes, so `?` is no character outside of ASCII; `*` is.
//!
//! # Invariants
//! 1. Time is at most the product of the two lengths, since patterns become automata. What becomes
//!    too large an automaton is no pattern.

use globset::{GlobBuilder, GlobSet};

/// A pattern for file names.
#[derive(Clone, Debug)]
pub struct FilePattern {
    text: String,
    globs: GlobSet,
    /// Whether it is about the last part of a path alone.
    last_part: bool,
}

impl FilePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        let last_part = !text.contains('/');
        let pattern = if last_part { text.to_owned() } else { parts(text).join("/") };
        let read = || {
            let glob = GlobBuilder::new(&pattern).literal_separator(true).build()?;
            GlobSet::builder().add(glob).build()
        };
        let globs = read().map_err(|error| error.kind().to_string())?;
        Ok(Self { text: text.to_owned(), globs, last_part })
    }

    /// Whether `path`, with `/` between its parts, is one of those that are meant.
    pub fn matches(&self, path: &str) -> bool {
        let path = parts(path);
        let Some(last) = path.last() else { return false };
        if self.last_part { self.globs.is_match(last) } else { self.globs.is_match(path.join("/")) }
    }
}

impl PartialEq for FilePattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for FilePattern {}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        FilePattern::new(pattern).expect(pattern).matches(path)
    }

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
            ("gr*e", "größe", true),
            ("*", "", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
            ("[ab].{eml,slv}", "x/b.slv", true),
            ("[ab].{eml,slv}", "x/c.slv", false),
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
        for wrong in ["[a", "{a", "a}", "x/[b-a]"] {
            assert!(FilePattern::new(wrong).is_err(), "{wrong}");
        }
        assert!(FilePattern::new(&"?*".repeat(300_000)).is_err());
    }
}
