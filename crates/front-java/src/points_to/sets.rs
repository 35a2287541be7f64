//! Sets of objects, as bits.

use super::ObjectId;
use selvedge_base::Id;

/// A set of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectSet(pub(super) Vec<u64>);

impl ObjectSet {
    /// Adds an object; whether it is new.
    pub fn insert(&mut self, object: ObjectId) -> bool {
        let (word, bit) = (object.index() / 64, object.index() % 64);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] >> bit & 1 == 0;
        self.0[word] |= 1 << bit;
        is_new
    }

    /// Whether an object is in it.
    pub fn contains(&self, object: ObjectId) -> bool {
        let (word, bit) = (object.index() / 64, object.index() % 64);
        self.0.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }

    /// The objects in order.
    pub fn iter(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| ObjectId::from_index(at * 64 + bit))
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Whether it has an object in common with another set.
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, two)| one & two != 0)
    }

    /// The only object of it, if there is exactly one.
    pub fn only(&self) -> Option<ObjectId> {
        let mut objects = self.iter();
        let first = objects.next();
        first.filter(|_| objects.next().is_none())
    }
}
