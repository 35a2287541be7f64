//! # Idea
//! Names for the variables and procedures of a program that a transformation makes: readable, valid
//! identifiers, and all different.

use std::collections::{BTreeMap, BTreeSet};

/// The names that are taken.
pub struct Names {
    taken: BTreeSet<String>,
    /// The next number to try behind a name that is taken.
    next: BTreeMap<String, u64>,
}

impl Names {
    /// No names are taken but these.
    pub fn avoiding<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self { taken: names.map(str::to_owned).collect(), next: BTreeMap::new() }
    }

    /// A free name like the one wished for, which is taken from now on.
    pub fn fresh(&mut self, wish: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut name: String = wish.chars().map(plain).collect();
        if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
            name.insert(0, '_');
        }
        if self.taken.insert(name.clone()) {
            return name;
        }
        let number = self.next.entry(name.clone()).or_insert(2);
        loop {
            let numbered = format!("{name}__{number}");
            *number += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_different() {
        let mut names = Names::avoiding(["x_1"].into_iter());
        let wishes = ["x_1", "x_1", "a'b", "a b", "1", ""];
        let given: Vec<String> = wishes.iter().map(|wish| names.fresh(wish)).collect();
        assert_eq!(given, ["x_1__2", "x_1__3", "a_b", "a_b__2", "_1", "_"]);
    }
}
