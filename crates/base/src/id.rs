//! # Idea
//! One `u32` newtype per concept, and a vector that only this type can index, so that a node is
//! never mistaken for an edge.
//!
//! # Invariants
//! 1. An id that came from [`IdVec::push`] is in range for that vector for as long as it lives.

use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense index: a newtype over `u32`, made by [`define_id!`](crate::define_id).
pub trait Id: Copy + Eq + Ord + Hash + fmt::Debug {
    /// The id with this position.
    ///
    /// # Panics
    /// If `index` does not fit into 32 bits.
    fn from_index(index: usize) -> Self;
    /// The position of this id.
    fn index(self) -> usize;
}

/// Defines a typed dense index.
///
/// ```
/// selvedge_base::define_id!(/// A stack symbol `γ ∈ Γ`.
///     Symbol);
/// ```
#[macro_export]
macro_rules! define_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $crate::Id for $name {
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than u32::MAX ids"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

/// A dense map from `I` to `T`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    id: PhantomData<fn(I) -> I>,
}

impl<I: Id, T> IdVec<I, T> {
    /// An empty map.
    pub const fn new() -> Self {
        Self { items: Vec::new(), id: PhantomData }
    }

    /// The map that gives `items[k]` to the `k`-th id.
    pub const fn from_vec(items: Vec<T>) -> Self {
        Self { items, id: PhantomData }
    }

    /// A map with `len` copies of `item`.
    pub fn filled(item: T, len: usize) -> Self
    where
        T: Clone,
    {
        Self::from_vec(vec![item; len])
    }

    /// Adds an item and returns its id.
    pub fn push(&mut self, item: T) -> I {
        let id = self.next_id();
        self.items.push(item);
        id
    }

    /// The id that the next [`IdVec::push`] will return.
    pub fn next_id(&self) -> I {
        I::from_index(self.items.len())
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item of `id`, or `None` if the id is out of range.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The items in the order of their ids.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The items in the order of their ids, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// The ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// Ids and items in order.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// The items as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I: Id, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I: Id, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Self::from_vec(items.into_iter().collect())
    }
}

impl<'a, I: Id, T> IntoIterator for &'a IdVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, I: Id, T> IntoIterator for &'a mut IdVec<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

impl<I: Id, T: fmt::Debug> fmt::Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    define_id!(
        /// An id for the tests.
        TestId
    );

    #[test]
    fn ids_follow_the_order_of_pushes() {
        let mut vec: IdVec<TestId, char> = IdVec::new();
        assert!(vec.is_empty());
        let a = vec.push('a');
        let b = vec.push('b');
        assert!(a < b);
        assert_eq!(vec[b], 'b');
        vec[a] = 'z';
        assert_eq!(vec.iter_enumerated().collect::<Vec<_>>(), [(a, &'z'), (b, &'b')]);
        assert_eq!(vec.get(vec.next_id()), None);
        assert_eq!(format!("{b:?}"), "TestId(1)");
    }
}
