//! # Idea
//! An address is an object and a path in it: fields, elements, bytes that are left over, and at the
//! end a side of a lock. The layout makes one path of all that lead to the same byte: 48 bytes before
//! the `link` of a cell is the cell (`container_of`).
//!
//! # Source
//! The design, section 1, *Address*.
//!
//! # Requires
//! A validated module and its layout.
//!
//! # Invariants
//! 1. A path is the outermost one to its byte: it ends with a field at the first byte of its owner only
//!    if it was asked for by name, and [`Address::same_byte`] knows that both are one.
//! 2. Behind a side there is nothing.

use crate::flow::definitions::ValueId;
use crate::layout::Layout;
use crate::model::{Element, FieldId, Kind, Module, TypeId};
use crate::words::Side;

/// The number of an element, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Index {
    /// This one.
    Constant(i64),
    /// The one that a value names; the same one as long as no definition of it is executed again.
    Value(ValueId),
    /// Some element.
    Any,
}

/// A part of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PathStep {
    /// A field.
    Field(FieldId),
    /// An element of an array.
    Element(Index),
}

/// A place in an object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    /// What the object holds.
    pub root: Kind,
    /// The way to a part of it.
    pub steps: Vec<PathStep>,
    /// Bytes behind the start of this part; none if they are not known.
    pub rest: Option<u64>,
    /// The side of the lock at this place.
    pub side: Option<Side>,
}

/// An address can no longer be told: it may lie in any object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownAddress;

impl Address {
    /// The first byte of an object.
    pub fn of_object(root: Kind) -> Self {
        Self { root, steps: Vec::new(), rest: Some(0), side: None }
    }

    /// What the part holds that the path leads to, bytes that are left over apart.
    pub fn kind(&self, module: &Module) -> Kind {
        let mut kind = self.root.clone();
        for step in &self.steps {
            kind = match step {
                PathStep::Field(field) => module.fields[*field].kind.clone(),
                PathStep::Element(_) => element_of(&kind),
            };
        }
        kind
    }

    /// A field of the object at this address.
    ///
    /// # Errors
    /// If no object of the type that declares the field is known to begin at this byte.
    pub fn field(
        &self,
        module: &Module,
        layout: &Layout,
        field: FieldId,
    ) -> Result<Self, UnknownAddress> {
        let mut address = self.seen_as(module, layout, module.fields[field].owner)?;
        address.steps.push(PathStep::Field(field));
        Ok(address)
    }

    /// An element of the array at this address, or of the one that this address is an element of.
    ///
    /// # Errors
    /// If the element may lie outside of the object.
    pub fn element(
        &self,
        module: &Module,
        layout: &Layout,
        index: Index,
        kind: &Kind,
    ) -> Result<Self, UnknownAddress> {
        if self.side.is_some() {
            return Err(UnknownAddress);
        }
        let mut address = self.clone();
        let own = address.kind(module);
        if address.rest == Some(0) && !own.counts.is_empty() && element_of(&own) == *kind {
            address.steps.push(PathStep::Element(index));
            return Ok(address);
        }
        // From one element to another one, or from an object that is no array to itself.
        if index == Index::Constant(0) && address.rest == Some(0) {
            return Ok(address);
        }
        let bytes = layout.size(kind);
        match index {
            Index::Constant(number) if bytes > 0 => {
                let bytes = i64::try_from(bytes).map_err(|_| UnknownAddress)?;
                address.shift(module, layout, number.checked_mul(bytes))
            }
            _ => address.shift(module, layout, None),
        }
    }

    /// A side of the lock at this address.
    ///
    /// # Errors
    /// If the address is a side already.
    pub fn side(&self, side: Side) -> Result<Self, UnknownAddress> {
        if self.side.is_some() {
            return Err(UnknownAddress);
        }
        Ok(Self { side: Some(side), ..self.clone() })
    }

    /// Some bytes further on; how many may not be known.
    ///
    /// # Errors
    /// If the byte lies outside of the object, or may.
    pub fn shift(
        &self,
        module: &Module,
        layout: &Layout,
        bytes: Option<i64>,
    ) -> Result<Self, UnknownAddress> {
        let (Some(bytes), Some(rest), None) = (bytes, self.rest, self.side) else {
            // Within the object or out of it.
            return Err(UnknownAddress);
        };
        let mut at = i128::from(rest) + i128::from(bytes);
        let mut address = Self { rest: Some(0), ..self.clone() };
        // Outwards, until the byte lies in the part.
        loop {
            let size = i128::from(layout.size(&address.kind(module)));
            if (0..size).contains(&at) || (at == 0 && size == 0) {
                break;
            }
            match address.steps.pop() {
                Some(PathStep::Field(field)) => {
                    at += i128::from(module.fields[field].offset.ok_or(UnknownAddress)?);
                }
                Some(PathStep::Element(index)) => {
                    if size == 0 {
                        return Err(UnknownAddress);
                    }
                    let moved = at.div_euclid(size);
                    let index = match index {
                        Index::Constant(number) => {
                            let number = i128::from(number) + moved;
                            i64::try_from(number).map_or(Index::Any, Index::Constant)
                        }
                        // Another element, of which nothing is known.
                        Index::Value(_) | Index::Any => Index::Any,
                    };
                    address.steps.push(PathStep::Element(index));
                    at = at.rem_euclid(size);
                }
                None => return Err(UnknownAddress),
            }
        }
        let rest = u64::try_from(at).map_err(|_| UnknownAddress)?;
        address.inwards(module, layout, rest);
        Ok(address)
    }

    /// Takes steps inwards as long as bytes are left over and one part has them.
    fn inwards(&mut self, module: &Module, layout: &Layout, mut rest: u64) {
        while rest > 0 {
            let kind = self.kind(module);
            if !kind.counts.is_empty() {
                let size = layout.size(&element_of(&kind));
                if size == 0 {
                    break;
                }
                let number = i64::try_from(rest / size).map_or(Index::Any, Index::Constant);
                self.steps.push(PathStep::Element(number));
                rest %= size;
                continue;
            }
            let Element::Inline(ty) = kind.element else { break };
            let Some((field, offset)) = only_field_at(module, layout, ty, rest) else { break };
            self.steps.push(PathStep::Field(field));
            rest -= offset;
        }
        self.rest = Some(rest);
    }

    /// The same address with a path to an object of a type: outwards where the object begins at this
    /// byte, or inwards where one of its type does.
    fn seen_as(
        &self,
        module: &Module,
        layout: &Layout,
        ty: TypeId,
    ) -> Result<Self, UnknownAddress> {
        if self.rest != Some(0) || self.side.is_some() {
            return Err(UnknownAddress);
        }
        let is_it = |address: &Self| {
            let kind = address.kind(module);
            let inner = match kind.element {
                Element::Inline(inner) if kind.counts.is_empty() => inner,
                _ => return false,
            };
            // Where fields have no offsets, an object has the fields of its supertypes.
            inner == ty || (layout_free(module, ty) && is_subtype(module, inner, ty))
        };
        let mut outer = self.clone();
        loop {
            if is_it(&outer) {
                return Ok(outer);
            }
            match outer.steps.pop() {
                Some(PathStep::Field(field)) if module.fields[field].offset == Some(0) => {}
                Some(PathStep::Element(Index::Constant(0))) => {}
                _ => break,
            }
        }
        let mut inner = self.clone();
        loop {
            if is_it(&inner) {
                return Ok(inner);
            }
            let Some(step) = inner.first_part(module, layout) else { return Err(UnknownAddress) };
            inner.steps.push(step);
        }
    }

    /// The only part that begins at the first byte of what the path leads to.
    fn first_part(&self, module: &Module, layout: &Layout) -> Option<PathStep> {
        let kind = self.kind(module);
        if !kind.counts.is_empty() {
            return Some(PathStep::Element(Index::Constant(0)));
        }
        let Element::Inline(ty) = kind.element else { return None };
        let (field, offset) = only_field_at(module, layout, ty, 0)?;
        (offset == 0).then_some(PathStep::Field(field))
    }

    /// The path to the smallest part at this byte; two addresses of one object are the same byte if
    /// these are equal.
    #[must_use]
    pub fn innermost(&self, module: &Module, layout: &Layout) -> Self {
        let mut inner = self.clone();
        if inner.rest == Some(0) {
            while let Some(step) = inner.first_part(module, layout) {
                inner.steps.push(step);
            }
        }
        inner
    }

    /// Whether two addresses in one object are the same byte, as far as their elements are the same.
    pub fn same_byte(&self, other: &Self, module: &Module, layout: &Layout) -> bool {
        self.innermost(module, layout) == other.innermost(module, layout)
    }
}

/// What an element of an array holds.
fn element_of(kind: &Kind) -> Kind {
    let inner = kind.counts.iter().skip(1).copied().collect();
    Kind { element: kind.element, counts: inner }
}

/// The only field of a type that has a byte, with its offset; none if several overlap there.
fn only_field_at(
    module: &Module,
    layout: &Layout,
    ty: TypeId,
    byte: u64,
) -> Option<(FieldId, u64)> {
    let mut found = None;
    for &id in &module.types[ty].fields {
        let field = &module.fields[id];
        let offset = field.offset?;
        let end = offset.saturating_add(layout.size(&field.kind));
        if (offset..end).contains(&byte) && found.replace((id, offset)).is_some() {
            return None;
        }
    }
    found
}

/// Whether the fields of a type have no offsets.
fn layout_free(module: &Module, ty: TypeId) -> bool {
    module.types[ty].fields.iter().all(|&field| module.fields[field].offset.is_none())
}

/// Whether a type is another one or has it among its supertypes.
pub fn is_subtype(module: &Module, ty: TypeId, supertype: TypeId) -> bool {
    module.types_above(ty).contains(&supertype)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::read;
    use selvedge_base::Id as _;

    const TYPES: &str = "\
type cell 56 { m: mutex @0; n: word 4 @40; link: node @48 }
type mutex 40 { owner: word 8 @0 }
type node 8 { next: ref node @0 }
type choice 16 { tag: word 8 @0; a: word 8 @8; b: ref @8 }
type table 160 { cells: cell[2] @0; rest: word 4[12] @112 }
type base { f: word }
type derived: base { g: word }
";

    struct Test {
        module: Module,
        layout: Layout,
    }

    impl Test {
        fn new() -> Self {
            let module = read(TYPES).module.expect("no mistake");
            let layout = Layout::new(&module);
            Self { module, layout }
        }

        fn ty(&self, name: &str) -> TypeId {
            self.module.types.ids().find(|&id| self.module.types[id].name == name).expect("a type")
        }

        fn object(&self, name: &str, counts: &[u64]) -> Address {
            let element = Element::Inline(self.ty(name));
            Address::of_object(Kind { element, counts: counts.to_vec() })
        }

        fn field(&self, address: &Address, name: &str) -> Address {
            let field = self.module.fields.ids().find(|&id| self.module.fields[id].name == name);
            address.field(&self.module, &self.layout, field.expect("a field")).expect("known")
        }

        fn element(&self, address: &Address, index: Index, name: &str) -> Address {
            let kind = Kind::single(Element::Inline(self.ty(name)));
            address.element(&self.module, &self.layout, index, &kind).expect("known")
        }

        fn shift(&self, address: &Address, bytes: i64) -> Result<Address, UnknownAddress> {
            address.shift(&self.module, &self.layout, Some(bytes))
        }
    }

    #[test]
    fn bytes_before_a_field_lie_in_its_container() {
        let test = Test::new();
        let cell = test.object("cell", &[]);
        let link = test.field(&cell, "link");
        assert_eq!(test.shift(&link, -48), Ok(cell.clone()));
        assert_eq!(test.shift(&link, -8), Ok(test.field(&cell, "n")));
        assert_eq!(test.shift(&cell, 48), Ok(link.clone()));
        assert_eq!(test.shift(&cell, 44).map(|found| found.rest), Ok(Some(44)));
        assert_eq!(test.shift(&cell, 42).map(|found| found.rest), Ok(Some(2)));
        assert_eq!(test.shift(&cell, -1), Err(UnknownAddress));
        assert_eq!(test.shift(&cell, 56), Err(UnknownAddress));
        assert_eq!(link.shift(&test.module, &test.layout, None), Err(UnknownAddress));
        // A field of a list that lies in the cell leads back, too.
        let next = test.field(&link, "next");
        assert_eq!(test.shift(&next, -48), Ok(cell));
    }

    #[test]
    fn shifts_out_of_an_element_give_some_element() {
        let test = Test::new();
        let cells = test.object("cell", &[8]);
        let value = Index::Value(ValueId::from_index(3));
        let cell = test.element(&cells, value, "cell");
        let link = test.field(&cell, "link");
        assert_eq!(test.shift(&link, -48), Ok(cell.clone()));
        assert_eq!(test.shift(&cell, 56), Ok(test.element(&cells, Index::Any, "cell")));
        let third = test.element(&cells, Index::Constant(3), "cell");
        assert_eq!(test.shift(&third, -56), Ok(test.element(&cells, Index::Constant(2), "cell")));
        assert_eq!(test.shift(&cells, 2 * 56 + 40), {
            let second = test.element(&cells, Index::Constant(2), "cell");
            Ok(test.field(&second, "n"))
        });
        let next = test.element(&third, Index::Constant(1), "cell");
        assert_eq!(next, test.element(&cells, Index::Constant(4), "cell"));
    }

    #[test]
    fn one_byte_has_several_paths() {
        let test = Test::new();
        let table = test.object("table", &[]);
        let cells = test.field(&table, "cells");
        let first = test.element(&cells, Index::Constant(0), "cell");
        let mutex = test.field(&first, "m");
        assert!(table.same_byte(&mutex, &test.module, &test.layout));
        assert!(!table.same_byte(&test.field(&first, "n"), &test.module, &test.layout));
        // Fields are found outwards and inwards.
        assert_eq!(test.field(&table, "owner").steps.len(), 4);
        assert_eq!(test.field(&mutex, "n"), test.field(&first, "n"));
        let choice = test.object("choice", &[]);
        assert_eq!(
            test.shift(&choice, 8).map(|found| (found.steps.len(), found.rest)),
            Ok((0, Some(8)))
        );
    }

    #[test]
    fn sides_end_a_path() {
        let test = Test::new();
        let mutex = test.field(&test.object("cell", &[]), "m");
        let read = mutex.side(Side::Read).expect("known");
        assert_eq!(read.side(Side::Write), Err(UnknownAddress));
        assert_eq!(test.shift(&read, 0), Err(UnknownAddress));
        assert!(!read.same_byte(&mutex, &test.module, &test.layout));
    }

    #[test]
    fn objects_have_the_fields_of_their_supertypes() {
        let test = Test::new();
        let derived = test.object("derived", &[]);
        assert_eq!(test.field(&derived, "f").steps.len(), 1);
        let f = test.module.fields.ids().find(|&id| test.module.fields[id].name == "g");
        let base = test.object("base", &[]);
        assert_eq!(
            base.field(&test.module, &test.layout, f.expect("a field")),
            Err(UnknownAddress)
        );
    }
}
