//! # Idea
//! Where a statement comes from: a place in a file, and where the code around it was inlined. Many
//! statements share the outer part of such a chain, so chains are interned.
//!
//! # Invariants
//! 1. What a chain goes on with is older than its first link, so every chain ends.

use crate::model::Module;
use selvedge_base::{FileId, Id as _, IdVec, Place, define_id};
use std::collections::HashMap;

define_id!(
    /// A place of a module.
    PlaceId
);

/// A place, and where its code was inlined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InlinedPlace {
    /// The place in its file.
    pub place: Place,
    /// The call that was replaced by this code.
    pub inlined_at: Option<PlaceId>,
}

/// Gives equal places and file names one id.
#[derive(Clone, Debug, Default)]
pub struct PlaceInterner {
    places: HashMap<InlinedPlace, PlaceId>,
    files: HashMap<String, FileId>,
}

impl PlaceInterner {
    /// The interner of the places that a module has.
    pub fn of(module: &Module) -> Self {
        let mut interner = Self::default();
        for (id, &place) in module.places.iter_enumerated() {
            interner.places.entry(place).or_insert(id);
        }
        for (at, name) in module.files.iter().enumerate() {
            interner.files.entry(name.clone()).or_insert(FileId::from_index(at + 1));
        }
        interner
    }

    /// The id of a place.
    pub fn place(
        &mut self,
        places: &mut IdVec<PlaceId, InlinedPlace>,
        place: InlinedPlace,
    ) -> PlaceId {
        *self.places.entry(place).or_insert_with(|| places.push(place))
    }

    /// The id of a file.
    pub fn file(&mut self, files: &mut Vec<String>, name: &str) -> FileId {
        if let Some(&id) = self.files.get(name) {
            return id;
        }
        files.push(name.to_owned());
        let id = FileId::from_index(files.len());
        self.files.insert(name.to_owned(), id);
        id
    }

    /// The chain `inner` with `outer` behind its end: where code lies whose call at `outer` was
    /// replaced by it.
    pub fn inlined(
        &mut self,
        places: &mut IdVec<PlaceId, InlinedPlace>,
        inner: PlaceId,
        outer: PlaceId,
    ) -> PlaceId {
        let chain: Vec<Place> = chain(places, inner).map(|link| link.place).collect();
        let mut end = outer;
        for place in chain.into_iter().rev() {
            end = self.place(places, InlinedPlace { place, inlined_at: Some(end) });
        }
        end
    }
}

/// The links of a chain, from the innermost place to the outermost call.
pub fn chain(
    places: &IdVec<PlaceId, InlinedPlace>,
    first: PlaceId,
) -> impl Iterator<Item = InlinedPlace> + '_ {
    std::iter::successors(Some(places[first]), |link| link.inlined_at.map(|next| places[next]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_shared_and_extended() {
        let mut module = Module::default();
        let mut interner = PlaceInterner::default();
        let file = interner.file(&mut module.files, "a.c");
        assert_eq!(interner.file(&mut module.files, "a.c"), file);
        let at = |line| Place::in_line(line).in_file(file);
        let link = |line, inlined_at| InlinedPlace { place: at(line), inlined_at };
        let places = &mut module.places;
        let outer = interner.place(places, link(9, None));
        let middle = interner.place(places, link(5, None));
        let inner = interner.place(places, link(1, Some(middle)));
        let all = interner.inlined(places, inner, outer);
        let lines: Vec<_> = chain(places, all).map(|link| link.place.line()).collect();
        assert_eq!(lines, [Some(1), Some(5), Some(9)]);
        assert_eq!(interner.inlined(places, inner, outer), all);
        let mut again = PlaceInterner::of(&module);
        assert_eq!(again.place(&mut module.places, link(5, None)), middle);
        assert_eq!(again.file(&mut module.files, "a.c"), file);
        assert_eq!(module.file_name(at(1)), Some("a.c"));
        assert_eq!(module.file_name(Place::NONE), None);
    }
}
