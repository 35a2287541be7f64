//! # Idea
//! What a method makes and keeps in a field of `this` is another object for each place where `this` is made:
//! of two queues, each has its own array. Only there objects are told apart by it, since a store into `this`
//! is what keeps them apart; of what is made for variables of a method they would all be in the same sets.
//!
//! Who has the object of a field knows by that which of them it is, and in a constructor, which runs once for
//! each `this`, one `this` makes one object: see [`crate::facts`].
//!
//! # Source
//! Milanova, Rountev and Ryder, "Parameterized object sensitivity" (2002): heap objects with one receiver;
//! variables have none here.
//!
//! # Invariants
//! 1. Whatever `this` can be, what is made with it is in the set of the instruction's result.
//! 2. Of one method and one `this`, the same maker is told each time.

use super::{Holder, Maker, NodeSet, ObjectId, ObjectSet, PointsTo, Site, Solver, Use, array_name};
use crate::class::{At, FieldAccess, JavaBody, JavaInstruction};
use crate::frames::{Definition, Frames};
use crate::world::MemberId;
use rustc_hash::FxHashSet;
use selvedge_base::Id;

/// How many makers of `this` are told apart in one method; what is made with others is one object.
const MAKERS: usize = 8;

impl Solver<'_> {
    /// What a method stores in a field of `this` here, if that is one thing that it makes itself. Clients have
    /// one object of each class, so nothing is told apart for them.
    pub(super) fn kept(
        &self,
        method: MemberId,
        body: &JavaBody,
        frames: &Frames,
        at: At,
    ) -> Option<At> {
        let JavaInstruction::Field(FieldAccess::Put, _) = body.instructions[at.index()] else {
            return None;
        };
        let [this, value] = &frames.operands[at][..] else { return None };
        let (&[Definition::Parameter(0)], &[Definition::Result(made)]) = (&this[..], &value[..])
        else {
            return None;
        };
        let makes = matches!(
            body.instructions[made.index()],
            JavaInstruction::New(_) | JavaInstruction::NewArray(..)
        );
        let told = makes && !self.world.of(method).access.is_static() && !self.found.for_client;
        told.then_some(made)
    }

    fn this(&mut self, method: MemberId) -> NodeSet {
        self.node(Holder::Value(method, Definition::Parameter(0)))
    }

    /// An instruction makes something.
    pub(super) fn makes(&mut self, method: MemberId, at: At) {
        if self.kept.contains(&(method, at)) {
            let this = self.this(method);
            self.add_use(this, Use::Makes(method, at));
        } else {
            self.make_with((method, at), None);
        }
    }

    /// Makes what is kept in methods for which no `this` is known; whether there is something new.
    pub(super) fn without_this(&mut self) -> bool {
        let mut any = false;
        for (method, at) in self.kept.clone() {
            let this = self.this(method);
            if self.flow.set(this).is_empty()
                && !self.objects.contains_key(&Site::New(method, at, 0, None))
            {
                any = true;
                self.make_with((method, at), None);
            }
        }
        any
    }

    /// The maker of a `this` that a method tells from others.
    fn maker(&mut self, method: MemberId, this: ObjectId) -> Option<Maker> {
        let maker = self.found.maker(this)?;
        let told = self.makers.entry(method).or_default();
        let known = told.contains(&maker) || (told.len() < MAKERS && told.insert(maker));
        known.then_some(maker)
    }

    /// An instruction makes something, with this `this` if that counts.
    pub(super) fn make_with(&mut self, (method, at): (MemberId, At), this: Option<ObjectId>) {
        let world = self.world;
        let Some(body) = &world.of(method).body else { return };
        let maker = this.and_then(|this| self.maker(method, this));
        let result = self.node(Holder::Value(method, Definition::Result(at)));
        match &body.instructions[at.index()] {
            JavaInstruction::New(name) => {
                let object = self.object(Site::New(method, at, 0, maker), *name);
                self.give(result, object);
                if let Some(class) = world.find(*name) {
                    self.trigger(class);
                    self.finalizer(class, object);
                }
            }
            JavaInstruction::NewArray(element, dimensions) => {
                let of = self.text(*element).to_owned();
                let mut above = result;
                for dimension in 0..*dimensions {
                    let name = array_name(world, &of, *dimensions - dimension);
                    let object = self.object(
                        Site::New(method, at, dimension, maker),
                        name.unwrap_or(self.known.strings),
                    );
                    self.give(above, object);
                    above = self.node(Holder::Held(object));
                }
            }
            _ => {}
        }
    }

    /// Everything is known: which instructions make several objects.
    pub(super) fn finish_makers(&mut self) {
        let mut seen = FxHashSet::default();
        for of in &self.found.objects {
            if let Site::New(method, at, 0, _) = of.site
                && !seen.insert((method, at))
            {
                self.found.told_apart.insert((method, at));
            }
        }
    }

    /// What is made here with this `this` is kept in a field of it.
    pub(super) fn keep(&mut self, field: MemberId, (method, at): (MemberId, At), this: ObjectId) {
        self.make_with((method, at), Some(this));
        let maker = self.maker(method, this);
        if let Some(&object) = self.objects.get(&Site::New(method, at, 0, maker)) {
            let into = self.node(Holder::Field(this, field));
            self.give(into, object);
        }
    }
}

impl PointsTo {
    /// The instruction that makes an object.
    fn maker(&self, object: ObjectId) -> Option<Maker> {
        match self.objects[object].site {
            Site::New(method, at, 0, _) => Some((method, at)),
            _ => None,
        }
    }

    /// Where `this` was made when an object was, if there are others that differ in that.
    pub fn told_by(&self, object: ObjectId) -> Option<Maker> {
        match self.objects[object].site {
            Site::New(method, at, _, maker) if self.told_apart.contains(&(method, at)) => maker,
            _ => None,
        }
    }

    /// Those of the objects that an instruction makes that it can make where `this` is one of some objects.
    pub fn made_with(&self, made: &ObjectSet, receivers: &ObjectSet) -> ObjectSet {
        let mut all = ObjectSet::default();
        for object in made.iter() {
            let told = match self.objects[object].site {
                Site::New(.., maker) => maker,
                _ => None,
            };
            if told.is_none() || receivers.iter().any(|one| self.maker(one) == told) {
                all.insert(object);
            }
        }
        all
    }
}
