//! # Idea
//! Every name of the model as a name of the language: as it is where that is possible, otherwise
//! with other characters in place of those that are not allowed, and with a number where it is taken.

use crate::ast::is_async;
use crate::dialect::Dialect;
use crate::token::{Kind, Tokens};
use rustc_hash::{FxHashMap, FxHashSet};

/// The names of one scope.
#[derive(Clone)]
pub struct Taken {
    dialect: Dialect,
    names: FxHashSet<String>,
    counts: FxHashMap<String, usize>,
}

impl Taken {
    /// No name is taken yet, but what a dialect reserves.
    pub fn new(dialect: Dialect) -> Self {
        let mut taken = Self { dialect, names: FxHashSet::default(), counts: FxHashMap::default() };
        if dialect == Dialect::Getafix {
            taken.reserve("print");
        }
        taken
    }

    /// A name that nothing else in this scope has, as close to `wish` as possible.
    pub fn fresh(&mut self, wish: &str) -> String {
        let base = allowed(wish, self.dialect);
        let count = self.counts.entry(base.clone()).or_insert(0);
        loop {
            *count += 1;
            let tried = match (*count, base.strip_suffix('}')) {
                (1, _) => base.clone(),
                (count, Some(open)) => format!("{open} #{count}}}"),
                (count, None) => format!("{base}_{count}"),
            };
            if self.names.insert(tried.clone()) {
                return tried;
            }
        }
    }

    /// Keeps a name from being used.
    pub fn reserve(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }
}

/// Whether it is a name of the language.
pub fn is_name(text: &str) -> bool {
    let mut tokens = Tokens::new(text);
    let first = tokens.next();
    first.kind == Kind::Name && first.text.len() == text.len() && text != "_"
}

/// The name itself, or one that is allowed and similar. GETAFIX has neither `$` nor `.`, and no
/// blanks between braces.
fn allowed(wish: &str, dialect: Dialect) -> String {
    let more: &[char] = if dialect == Dialect::Boppo { &['$', '.'] } else { &[] };
    let letter = |one: char| one.is_ascii_alphanumeric() || one == '_' || more.contains(&one);
    if is_name(wish) && (dialect == Dialect::Boppo || wish.chars().all(letter)) {
        return wish.to_owned();
    }
    let mut name: String = wish.chars().map(|one| if letter(one) { one } else { '_' }).collect();
    if !is_name(&name) {
        name.insert(0, '_');
    }
    if !is_name(&name) {
        name.push('_');
    }
    name
}

/// A label that starts no thread when a call stands behind it.
pub fn quiet(label: &str) -> String {
    if is_async(label) { format!("{label}_") } else { label.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_allowed_and_different() {
        let mut taken = Taken::new(Dialect::Boppo);
        let mut fresh = |wish| taken.fresh(wish);
        assert_eq!(fresh("x"), "x");
        assert_eq!(fresh("x"), "x_2");
        assert_eq!(fresh("x_2"), "x_2_2");
        assert_eq!(fresh("main@L"), "main_L");
        assert_eq!(fresh("{a > b}"), "{a > b}");
        assert_eq!(fresh("{a > b}"), "{a > b #2}");
        assert_eq!(fresh("T"), "_T");
        assert_eq!(fresh("_"), "__");
        assert_eq!(fresh(""), "___2");
        assert_eq!(fresh("9é"), "_9_");
        assert_eq!(fresh("x // y"), "x____y");
        let mut taken = Taken::new(Dialect::Getafix);
        let mut fresh = |wish| taken.fresh(wish);
        assert_eq!(fresh("a.b$c"), "a_b_c");
        assert_eq!(fresh("{a > b}"), "_a___b_");
        assert_eq!(fresh("print"), "print_2");
    }
}
