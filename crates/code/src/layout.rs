//! # Idea
//! What an access to an object touches. A *leaf* is a smallest part that is told apart: a field that
//! holds no other object, or several fields that overlap (a union, the variants of an enum, bit-fields
//! of one unit), which are one leaf for races and for what may be stored where. Elements of an array
//! inside of an object are one leaf per field of an element; who tells elements apart has the path.
//!
//! # Source
//! The design, section 1, *Layout*. A reference takes 8 bytes where fields have offsets.
//!
//! # Requires
//! A validated module: no type contains itself.
//!
//! # Invariants
//! 1. Leaves of a type are in the order of its fields, and fields that overlap are in one leaf.
//! 2. A type has at most [`LIMIT`] leaves: a field whose type would have more is one leaf.

use crate::model::{Element, Field, FieldId, Kind, Module, TypeId};
use selvedge_base::{IdVec, define_id};
use std::ops::Range;

define_id!(
    /// A leaf of a type.
    LeafId
);

/// How many leaves a type has at most.
pub const LIMIT: usize = 1024;

/// The bytes of a reference, where fields have offsets.
pub const REFERENCE: u64 = 8;

/// A smallest part of objects of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// The fields on the way to it, from the outermost; of fields that overlap the first.
    pub path: Vec<FieldId>,
    /// Its first byte in the first element of all arrays on the way, if fields have offsets.
    pub offset: Option<u64>,
    /// The bytes of one instance; 0 if they are not known.
    pub size: u64,
    /// Whether it is in an array, so that an object has several instances.
    pub in_array: bool,
    /// Whether it stands for several fields, or for an object inside.
    pub is_merged: bool,
}

/// The leaves of all types.
#[derive(Clone, Debug)]
pub struct Layout {
    types: IdVec<TypeId, IdVec<LeafId, Leaf>>,
    /// The bytes of each type: as declared, or up to where its last field ends.
    sizes: IdVec<TypeId, u64>,
    /// The first of the fields that overlap with each field, and whether there are others.
    groups: IdVec<FieldId, (FieldId, bool)>,
}

impl Layout {
    /// The layout of a module.
    pub fn new(module: &Module) -> Self {
        let mut layout = Self {
            types: IdVec::filled(IdVec::new(), module.types.len()),
            sizes: IdVec::filled(0, module.types.len()),
            groups: module.fields.ids().map(|field| (field, false)).collect(),
        };
        for id in inner_types_first(module) {
            layout.sizes[id] = layout.size_of_type(module, id);
            layout.types[id] = layout.leaves_of_type(module, id);
            for group in layout.groups(module, id) {
                for &field in &group.fields {
                    layout.groups[field] = (group.fields[0], group.fields.len() > 1);
                }
            }
        }
        layout
    }

    /// The leaves of a type, in order.
    pub fn leaves(&self, ty: TypeId) -> &IdVec<LeafId, Leaf> {
        &self.types[ty]
    }

    /// The first of the fields that overlap with a field.
    pub fn first_of(&self, field: FieldId) -> FieldId {
        self.groups[field].0
    }

    /// Whether a field overlaps with others.
    pub fn is_merged(&self, field: FieldId) -> bool {
        self.groups[field].1
    }

    /// The bytes of a kind; 0 if they are not known.
    pub fn size(&self, kind: &Kind) -> u64 {
        let counts = kind.counts.iter();
        counts.fold(self.element_size(kind.element), |size, &count| size.saturating_mul(count))
    }

    /// The bytes of one thing; 0 if they are not known.
    pub fn element_size(&self, element: Element) -> u64 {
        match element {
            Element::Word(bytes) => bytes,
            Element::Reference(_) => REFERENCE,
            Element::Inline(ty) => self.sizes[ty],
        }
    }

    /// The leaves of a type that an access to these bytes of it touches, in order; all of them if
    /// fields have no offsets.
    pub fn touched(&self, module: &Module, ty: TypeId, bytes: &Range<u64>) -> Vec<LeafId> {
        let leaves = self.leaves(ty).iter_enumerated();
        let touches = |leaf: &Leaf| self.overlaps(module, ty, leaf, bytes);
        leaves.filter(|(_, leaf)| touches(leaf)).map(|(id, _)| id).collect()
    }

    /// Whether some instance of a leaf has one of the bytes.
    fn overlaps(&self, module: &Module, ty: TypeId, leaf: &Leaf, bytes: &Range<u64>) -> bool {
        // The bytes, seen from the object that the path has come to.
        let (mut owner, mut start, mut end) = (ty, bytes.start, bytes.end);
        let Some(_) = leaf.offset else { return true };
        for (at, &field) in leaf.path.iter().enumerate() {
            let field = &module.fields[field];
            let is_last = at + 1 == leaf.path.len();
            let (first, size) = match (is_last && leaf.is_merged, field.offset) {
                (_, None) => return true,
                (true, Some(_)) => self.group(module, owner, field),
                (false, Some(offset)) => (offset, self.size(&field.kind)),
            };
            let (low, high) = (start.max(first), end.min(first.saturating_add(size)));
            // An array of unknown length ends with the object.
            if size > 0 && low >= high {
                return false;
            }
            let stride = self.element_size(field.kind.element);
            (start, end) = (low.saturating_sub(first), high.saturating_sub(first));
            if is_last || size == 0 || stride == 0 {
                return true;
            }
            if !field.kind.counts.is_empty() {
                if end - start >= stride || end.div_ceil(stride) - start / stride > 1 {
                    (start, end) = (0, stride);
                } else {
                    (start, end) = (start % stride, (end - 1) % stride + 1);
                }
            }
            if let Element::Inline(inner) = field.kind.element {
                owner = inner;
            }
        }
        true
    }

    /// The first byte and the bytes of the fields that overlap with one.
    fn group(&self, module: &Module, owner: TypeId, field: &Field) -> (u64, u64) {
        let groups = self.groups(module, owner);
        let of_field = |group: &&Group| group.fields.iter().any(|&id| module.fields[id] == *field);
        let group = groups.iter().find(of_field);
        group.map_or((0, 0), |group| (group.start, group.end - group.start))
    }

    fn size_of_type(&self, module: &Module, id: TypeId) -> u64 {
        let ty = &module.types[id];
        let end = |field: &FieldId| {
            let field = &module.fields[*field];
            field.offset.map_or(0, |offset| offset.saturating_add(self.size(&field.kind)))
        };
        if ty.size > 0 { ty.size } else { ty.fields.iter().map(end).max().unwrap_or(0) }
    }

    fn leaves_of_type(&self, module: &Module, id: TypeId) -> IdVec<LeafId, Leaf> {
        let groups = self.groups(module, id);
        // Where fields have many leaves of their own, they are not looked into.
        let inner = |group: &Group| match (&group.fields[..], inline_type(module, group)) {
            ([_], Some(ty)) => self.types[ty].len().max(1),
            _ => 1,
        };
        let looks_inside = groups.iter().map(inner).sum::<usize>() <= LIMIT;
        let mut leaves = IdVec::new();
        for group in &groups {
            let field = &module.fields[group.fields[0]];
            let inside = inline_type(module, group).filter(|_| looks_inside);
            let inside = inside.filter(|&ty| !self.types[ty].is_empty());
            let is_array = !field.kind.counts.is_empty();
            if let Some(ty) = inside {
                for leaf in &self.types[ty] {
                    let path = group.fields.iter().chain(&leaf.path).copied().collect();
                    let sum = |offset: u64| leaf.offset.map(|inner| offset.saturating_add(inner));
                    leaves.push(Leaf {
                        path,
                        offset: field.offset.and_then(sum),
                        in_array: leaf.in_array || is_array,
                        ..leaf.clone()
                    });
                }
            } else {
                let is_merged =
                    group.fields.len() > 1 || matches!(field.kind.element, Element::Inline(_));
                let size = if is_merged {
                    group.end - group.start
                } else {
                    self.element_size(field.kind.element)
                };
                let offset = field.offset.map(|_| group.start);
                let path = vec![group.fields[0]];
                leaves.push(Leaf { path, offset, size, in_array: is_array, is_merged });
            }
        }
        leaves
    }

    /// The fields of a type in the order of their offsets, those that overlap together. A field
    /// without an offset overlaps with none.
    fn groups(&self, module: &Module, id: TypeId) -> Vec<Group> {
        let mut fields: Vec<FieldId> = module.types[id].fields.clone();
        fields.sort_by_key(|&field| module.fields[field].offset);
        let mut groups: Vec<Group> = Vec::new();
        for id in fields {
            let field = &module.fields[id];
            let Some(start) = field.offset else {
                groups.push(Group { fields: vec![id], start: 0, end: 0 });
                continue;
            };
            let end = start.saturating_add(self.size(&field.kind));
            match groups.last_mut() {
                Some(group) if start < group.end && end > start => {
                    group.fields.push(id);
                    group.end = group.end.max(end);
                }
                _ => groups.push(Group { fields: vec![id], start, end }),
            }
        }
        groups
    }
}

/// The type of the objects inside of a group of one field.
fn inline_type(module: &Module, group: &Group) -> Option<TypeId> {
    match (&group.fields[..], module.fields[group.fields[0]].kind.element) {
        ([_], Element::Inline(ty)) => Some(ty),
        _ => None,
    }
}

/// Fields that overlap, with the bytes that they have together.
struct Group {
    fields: Vec<FieldId>,
    start: u64,
    end: u64,
}

/// All types, each behind the types of the objects inside of it.
fn inner_types_first(module: &Module) -> Vec<TypeId> {
    let inside = |id: TypeId| {
        let kinds = module.types[id].fields.iter().map(|&field| module.fields[field].kind.element);
        let types = kinds.filter_map(|element| match element {
            Element::Inline(ty) => Some(ty),
            _ => None,
        });
        types.collect::<Vec<TypeId>>()
    };
    let mut order = Vec::new();
    let mut seen = IdVec::filled(false, module.types.len());
    for root in module.types.ids() {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut open = vec![(root, inside(root))];
        while let Some((id, rest)) = open.last_mut() {
            if let Some(next) = rest.pop() {
                if !std::mem::replace(&mut seen[next], true) {
                    open.push((next, inside(next)));
                }
            } else {
                order.push(*id);
                open.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::read;
    use selvedge_base::Id as _;
    use std::fmt::Write as _;

    /// The leaves of the first type that an access touches, as paths.
    fn touched(text: &str, bytes: Range<u64>) -> Vec<String> {
        let module = read(text).module.expect("no mistake");
        let layout = Layout::new(&module);
        let ty = TypeId::from_index(0);
        let shown = |id: LeafId| {
            let path = layout.leaves(ty)[id].path.iter();
            path.map(|&field| module.fields[field].name.as_str()).collect::<Vec<_>>().join(".")
        };
        layout.touched(&module, ty, &bytes).into_iter().map(shown).collect()
    }

    const CELL: &str = "\
type cell 56 { n: word 4 @40; m: mutex @0; link: ref @48 }
type mutex 40 { owner: word 8 @0; count: word 4 @8 }
";

    #[test]
    fn an_access_covers_the_leaves_of_its_bytes() {
        assert_eq!(touched(CELL, 40..44), ["n"]);
        assert_eq!(touched(CELL, 0..9), ["m.owner", "m.count"]);
        assert_eq!(touched(CELL, 44..56), ["link"]);
        assert_eq!(touched(CELL, 12..40), [""; 0]);
        assert_eq!(touched(CELL, 0..56), ["m.owner", "m.count", "n", "link"]);
    }

    #[test]
    fn fields_that_overlap_are_one_leaf() {
        let union =
            "type u 16 { tag: word 4 @0; a: word 8 @8; b: ref @8; c: word 2 @12; d: word 1 @4 }\n";
        assert_eq!(touched(union, 8..9), ["a"]);
        assert_eq!(touched(union, 15..16), ["a"]);
        assert_eq!(touched(union, 0..16), ["tag", "d", "a"]);
        let module = read(union).module.expect("no mistake");
        let layout = Layout::new(&module);
        let leaf = &layout.leaves(TypeId::from_index(0))[LeafId::from_index(2)];
        assert!(leaf.is_merged && leaf.offset == Some(8) && leaf.size == 8);
    }

    #[test]
    fn bit_fields_of_one_unit_are_one_leaf() {
        let bits = "type b 8 { x: word 4 @0; y: word 4 @0; z: word 4 @4 }\n";
        assert_eq!(touched(bits, 0..8), ["x", "z"]);
    }

    #[test]
    fn elements_inside_are_one_leaf_per_field() {
        let array = "\
type a 40 { head: word 8 @0; all: pair[2] @8 }
type pair 16 { x: word 8 @0; y: word 8 @8 }
";
        assert_eq!(touched(array, 8..16), ["all.x"]);
        assert_eq!(touched(array, 32..40), ["all.y"]);
        assert_eq!(touched(array, 16..32), ["all.x", "all.y"]);
        assert_eq!(touched(array, 0..8), ["head"]);
    }

    #[test]
    fn without_offsets_every_leaf_is_touched() {
        assert_eq!(touched("type t { a: ref; b: word }\n", 0..1), ["a", "b"]);
    }

    #[test]
    fn types_with_too_many_leaves_are_not_looked_into() {
        let mut text = String::new();
        for n in 0..64 {
            let next = n + 1;
            writeln!(text, "type t{n} {{ a: t{next}; b: t{next} }}").expect("a string takes it");
        }
        text.push_str("type t64 { w: word 1 @0 }\n");
        let module = read(&text).module.expect("no mistake");
        let layout = Layout::new(&module);
        let most = module.types.ids().map(|ty| layout.leaves(ty).len()).max();
        assert_eq!(most, Some(LIMIT));
    }
}
