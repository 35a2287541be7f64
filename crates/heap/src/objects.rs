//! # Idea
//! An abstract object stands for all objects that one statement makes, for a global, or for what code
//! that is not given makes at a call. A pointer is a place in one of them; which element of an array it
//! leads to is not told apart. Pointers are numbered, so that sets of them are sets of bits.
//!
//! # Requires
//! A validated module and its layout.
//!
//! # Invariants
//! 1. Pointers with equal numbers are equal, and no path has an index other than [`Index::Any`].

use rustc_hash::FxHashMap;
use selvedge_base::{IdVec, define_id};
use selvedge_code::address::{Address, Index, PathStep, is_subtype};
use selvedge_code::layout::Layout;
use selvedge_code::model::{
    Element, FieldId, GlobalId, Kind, Module, Point, ProcedureId, RegisterId, TypeId,
};
use selvedge_code::words::{Side, TypeFlag};

define_id!(
    /// An abstract object.
    ObjectId
);
define_id!(
    /// A place in an abstract object.
    PointerId
);

/// What makes an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    /// A statement: `make` or `local`.
    Statement(ProcedureId, Point),
    /// A statement that makes a closure of this procedure.
    Closure(ProcedureId, Point, ProcedureId),
    /// A statement that starts a thread; its handle.
    Thread(ProcedureId, Point),
    /// Code that is not given, and that this statement calls.
    Outside(ProcedureId, Point),
    /// Whoever calls this procedure first: what a parameter is then.
    Parameter(ProcedureId, RegisterId),
    /// A global.
    Global(GlobalId),
    /// A procedure, as a value.
    Procedure(ProcedureId),
}

/// An abstract object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeapObject {
    /// What makes it.
    pub site: Site,
    /// What it holds.
    pub kind: Kind,
}

impl HeapObject {
    /// Its type, or that of its elements: an array begins where its first element does.
    pub fn ty(&self) -> Option<TypeId> {
        match self.kind.element {
            Element::Inline(ty) => Some(ty),
            _ => None,
        }
    }

    /// Whether its type is only declared: code that is not given may have made something of a type
    /// below.
    pub fn is_open(&self) -> bool {
        matches!(self.site, Site::Outside(..) | Site::Parameter(..))
    }
}

/// A place in an object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pointer {
    /// The object.
    pub object: ObjectId,
    /// The way to a part of it.
    pub steps: Vec<PathStep>,
    /// Bytes behind the start of this part; none if the place is not known.
    pub rest: Option<u64>,
    /// The side of the lock at this place.
    pub side: Option<Side>,
}

/// All objects and pointers that an analysis has met.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// The objects.
    pub objects: IdVec<ObjectId, HeapObject>,
    /// The pointers.
    pub pointers: IdVec<PointerId, Pointer>,
    by_site: FxHashMap<Site, ObjectId>,
    numbers: FxHashMap<Pointer, PointerId>,
    fields: FxHashMap<(PointerId, FieldId), Option<PointerId>>,
    cells: FxHashMap<PointerId, PointerId>,
}

impl Objects {
    /// The object of a site.
    pub fn object(&mut self, site: Site, kind: impl FnOnce() -> Kind) -> ObjectId {
        if let Some(&known) = self.by_site.get(&site) {
            return known;
        }
        let object = self.objects.push(HeapObject { site, kind: kind() });
        self.by_site.insert(site, object);
        object
    }

    /// A pointer to the first byte of an object.
    pub fn to_object(&mut self, object: ObjectId) -> PointerId {
        self.pointer(Pointer { object, steps: Vec::new(), rest: Some(0), side: None })
    }

    /// A pointer to some byte of an object.
    pub fn into_object(&mut self, object: ObjectId) -> PointerId {
        self.pointer(Pointer { object, steps: Vec::new(), rest: None, side: None })
    }

    fn pointer(&mut self, mut pointer: Pointer) -> PointerId {
        for step in &mut pointer.steps {
            if let PathStep::Element(index) = step {
                *index = Index::Any;
            }
        }
        if let Some(&known) = self.numbers.get(&pointer) {
            return known;
        }
        let id = self.pointers.push(pointer.clone());
        self.numbers.insert(pointer, id);
        id
    }

    fn address(&self, id: PointerId) -> Address {
        let Pointer { object, steps, rest, side } = &self.pointers[id];
        let root = self.objects[*object].kind.clone();
        Address { root, steps: steps.clone(), rest: *rest, side: *side }
    }

    fn of_address(&mut self, object: ObjectId, address: Address) -> PointerId {
        let Address { steps, rest, side, .. } = address;
        self.pointer(Pointer { object, steps, rest, side })
    }

    /// A field behind a pointer; nothing if the object cannot have it.
    pub fn field(
        &mut self,
        module: &Module,
        layout: &Layout,
        (base, field): (PointerId, FieldId),
    ) -> Option<PointerId> {
        if let Some(&known) = self.fields.get(&(base, field)) {
            return known;
        }
        let object = self.pointers[base].object;
        let found = match self.address(base).field(module, layout, field) {
            Ok(address) => Some(self.of_address(object, address)),
            Err(_) => self.misfit(module, (base, field)),
        };
        self.fields.insert((base, field), found);
        found
    }

    /// A field of an object that is not known to have it. Where types have no bytes the object is of
    /// another type, unless it is only declared to be of this one; where they have, it is some byte.
    fn misfit(
        &mut self,
        module: &Module,
        (base, field): (PointerId, FieldId),
    ) -> Option<PointerId> {
        let Pointer { object, ref steps, .. } = self.pointers[base];
        let of = &self.objects[object];
        let is_free = module.fields[field].offset.is_none();
        if is_free && !(of.is_open() && steps.is_empty()) {
            return None;
        }
        if is_free {
            let steps = vec![PathStep::Field(field)];
            return Some(self.pointer(Pointer { object, steps, rest: Some(0), side: None }));
        }
        Some(self.into_object(object))
    }

    /// An element behind a pointer.
    pub fn element(
        &mut self,
        module: &Module,
        layout: &Layout,
        (base, index): (PointerId, Index),
        kind: &Kind,
    ) -> PointerId {
        let object = self.pointers[base].object;
        match self.address(base).element(module, layout, index, kind) {
            Ok(address) => self.of_address(object, address),
            Err(_) => self.into_object(object),
        }
    }

    /// Some bytes behind a pointer.
    pub fn shift(
        &mut self,
        module: &Module,
        layout: &Layout,
        (base, bytes): (PointerId, Option<i64>),
    ) -> PointerId {
        let object = self.pointers[base].object;
        match self.address(base).shift(module, layout, bytes) {
            Ok(address) => self.of_address(object, address),
            Err(_) => self.into_object(object),
        }
    }

    /// A side of the lock at a pointer.
    pub fn side(&mut self, base: PointerId, side: Side) -> PointerId {
        let pointer = self.pointers[base].clone();
        if pointer.side.is_some() {
            base
        } else {
            self.pointer(Pointer { side: Some(side), ..pointer })
        }
    }

    /// A part of what a pointer leads to, by the fields on the way.
    pub fn part(
        &mut self,
        module: &Module,
        layout: &Layout,
        (base, fields): (PointerId, &[FieldId]),
    ) -> PointerId {
        let mut at = base;
        for &field in fields {
            at = self.field(module, layout, (at, field)).unwrap_or(at);
            if !module.fields[field].kind.counts.is_empty() {
                let mut pointer = self.pointers[at].clone();
                pointer.steps.push(PathStep::Element(Index::Any));
                at = self.pointer(pointer);
            }
        }
        at
    }

    /// The memory at a pointer: the smallest part, and of fields that overlap the first one.
    pub fn cell(&mut self, module: &Module, layout: &Layout, id: PointerId) -> PointerId {
        if let Some(&known) = self.cells.get(&id) {
            return known;
        }
        let object = self.pointers[id].object;
        let mut address = self.address(id).innermost(module, layout);
        address.side = None;
        let merged = address.steps.iter().position(|step| match step {
            PathStep::Field(field) => layout.is_merged(*field),
            PathStep::Element(_) => false,
        });
        if let Some(at) = merged {
            address.steps.truncate(at + 1);
            if let PathStep::Field(field) = &mut address.steps[at] {
                *field = layout.first_of(*field);
            }
            address.rest = Some(0);
        }
        if address.rest.is_none() {
            address.steps.clear();
        }
        let cell = self.of_address(object, address);
        self.cells.insert(id, cell);
        cell
    }

    /// The types of the objects that may begin at a pointer: of the whole one, and of the part there.
    pub fn types_at(&self, module: &Module, id: PointerId) -> Vec<TypeId> {
        let of = &self.objects[self.pointers[id].object];
        let mut found: Vec<TypeId> = of.ty().into_iter().collect();
        if let Element::Inline(ty) = self.address(id).kind(module).element
            && !found.contains(&ty)
        {
            found.push(ty);
        }
        found
    }

    /// Whether an object may be of a type or of one below it. What code that is not given makes may be
    /// of a type below the declared one; no type that is not given is below one that is.
    pub fn may_be(&self, module: &Module, object: ObjectId, ty: TypeId) -> bool {
        let of = &self.objects[object];
        // Bytes may be anything.
        let Some(own) = of.ty() else { return true };
        is_subtype(module, own, ty)
            || (of.is_open() && is_subtype(module, ty, own))
            || (is_outside(module, ty)
                && module.types_above(own).iter().any(|&one| is_outside(module, one)))
    }
}

fn is_outside(module: &Module, ty: TypeId) -> bool {
    module.types[ty].flags.contains(TypeFlag::Outside)
}
