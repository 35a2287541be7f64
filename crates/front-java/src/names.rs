//! # Idea
//! Names of classes, members and types are compared all the time and written rarely, so each is stored
//! once and stands for itself by its number.
//!
//! # Invariants
//! 1. Equal names have equal numbers; numbers count from 0 in the order of first use.

use rustc_hash::FxHashMap;
use selvedge_base::{IdVec, define_id};
use std::sync::Arc;

define_id!(
    /// A name: of a class (`java/lang/Object`), a member, a type (`[I`), a file.
    JavaName
);

/// All names that were read.
#[derive(Clone, Debug, Default)]
pub struct JavaNames {
    texts: IdVec<JavaName, Arc<str>>,
    numbers: FxHashMap<Arc<str>, JavaName>,
}

impl JavaNames {
    /// The number of a name.
    pub fn intern(&mut self, text: &str) -> JavaName {
        if let Some(&known) = self.numbers.get(text) {
            return known;
        }
        let text: Arc<str> = Arc::from(text);
        let number = self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// The number of a name that was read before.
    pub fn find(&self, text: &str) -> Option<JavaName> {
        self.numbers.get(text).copied()
    }

    /// The text of a name.
    pub fn text(&self, name: JavaName) -> &str {
        &self.texts[name]
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// A class as Java writes it, with dots.
    pub fn class(&self, name: JavaName) -> String {
        self.text(name).replace('/', ".")
    }
}

/// What a method takes and gives, from its descriptor; `None` if that is none.
pub fn kinds_of_method(
    descriptor: &str,
) -> Option<(Vec<crate::JavaKind>, Option<crate::JavaKind>)> {
    let (parameters, result) = descriptor.strip_prefix('(')?.split_once(')')?;
    let mut kinds = Vec::new();
    let mut rest = parameters;
    while !rest.is_empty() {
        let (kind, length) = first_kind(rest)?;
        kinds.push(kind);
        rest = &rest[length..];
    }
    if result == "V" {
        return Some((kinds, None));
    }
    let (kind, length) = first_kind(result)?;
    (length == result.len()).then_some((kinds, Some(kind)))
}

/// The types of the parameters of a method, from its descriptor; those before the first that is none.
pub fn parameters_of_method(descriptor: &str) -> Vec<&str> {
    let inside = descriptor.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let mut rest = inside.map_or("", |(parameters, _)| parameters);
    let mut all = Vec::new();
    while let Some((_, length)) = first_kind(rest) {
        all.push(&rest[..length]);
        rest = &rest[length..];
    }
    all
}

/// What a field holds, from its descriptor; `None` if that is none.
pub fn kind_of_field(descriptor: &str) -> Option<crate::JavaKind> {
    let (kind, length) = first_kind(descriptor)?;
    (length == descriptor.len()).then_some(kind)
}

/// The kind of the first type of a text and how long that is.
fn first_kind(text: &str) -> Option<(crate::JavaKind, usize)> {
    use crate::JavaKind::{Double, Float, Int, Long, Reference};
    let kind = match text.as_bytes().first()? {
        b'B' | b'C' | b'I' | b'S' | b'Z' => Int,
        b'J' => Long,
        b'F' => Float,
        b'D' => Double,
        b'L' => {
            let end = text.find(';')?;
            return (end > 1).then_some((Reference, end + 1));
        }
        b'[' => {
            let dimensions = text.bytes().take_while(|&one| one == b'[').count();
            // More dimensions than this are no type (JVMS 4.3.2).
            let (_, length) = (dimensions <= 255).then(|| base(&text[dimensions..]))??;
            return Some((Reference, dimensions + length));
        }
        _ => return None,
    };
    Some((kind, 1))
}

/// The type behind the dimensions of an array.
fn base(text: &str) -> Option<(crate::JavaKind, usize)> {
    if text.starts_with('[') { None } else { first_kind(text) }
}
