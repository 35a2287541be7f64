//! What calls reach, by receivers that do the same.

use super::{Invocation, ObjectId, ObjectSet};
use crate::library::Effect;
use crate::world::MemberId;
use std::collections::{BTreeMap, BTreeSet};

/// The receivers of a call, or that it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallReceivers {
    objects: ObjectSet,
    none: bool,
}

impl CallReceivers {
    /// Adds one; whether it is new.
    pub fn insert(&mut self, receiver: Option<ObjectId>) -> bool {
        match receiver {
            Some(object) => self.objects.insert(object),
            None => !std::mem::replace(&mut self.none, true),
        }
    }

    /// Whether one is among them.
    pub fn contains(&self, receiver: Option<ObjectId>) -> bool {
        receiver.map_or(self.none, |object| self.objects.contains(object))
    }

    /// How many receivers there are.
    fn len(&self) -> usize {
        self.objects.len() + usize::from(self.none)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<ObjectId>> + '_ {
        self.none.then_some(None).into_iter().chain(self.objects.iter().map(Some))
    }
}

impl Invocation {
    /// How much there is to look at where it is followed: receivers and methods.
    pub(crate) fn size(&self) -> usize {
        // Of those for which code outside does the same, one is looked for.
        let outside: usize = self.library.0.iter().map(|(_, all)| all.objects.chunks()).sum();
        self.callees.pairs() + self.callees.0.len() + self.callbacks.len() + outside
    }
}

/// Methods that a call reaches, with their receivers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callees(BTreeMap<(MemberId, bool), CallReceivers>);

impl Callees {
    /// Adds a method for a receiver, or for a call that has none. Its parameters are the operands of the call
    /// if it is called directly; if not, they are what a lambda has captured or what code outside passes.
    pub fn insert(&mut self, receiver: Option<ObjectId>, method: MemberId, direct: bool) {
        self.0.entry((method, direct)).or_default().insert(receiver);
    }

    /// Adds a method that is called directly for some receivers.
    pub(super) fn insert_all(&mut self, receivers: &ObjectSet, method: MemberId) {
        self.0.entry((method, true)).or_default().objects.add(receivers, None);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many pairs of a method and a receiver there are.
    fn pairs(&self) -> usize {
        self.0.values().map(CallReceivers::len).sum()
    }

    /// The methods, and whether each is called directly.
    pub fn methods(&self) -> impl Iterator<Item = (MemberId, bool)> + '_ {
        self.0.keys().copied()
    }

    /// The same with the receivers.
    pub fn groups(&self) -> impl Iterator<Item = ((MemberId, bool), &CallReceivers)> + '_ {
        self.0.iter().map(|(&key, receivers)| (key, receivers))
    }
}

/// Methods that code outside calls, with their receivers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callbacks(BTreeMap<MemberId, CallReceivers>);

impl Callbacks {
    /// Adds one; whether it is new.
    pub fn insert(&mut self, receiver: Option<ObjectId>, method: MemberId) -> bool {
        self.0.entry(method).or_default().insert(receiver)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many methods there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether a method is among them.
    pub fn has(&self, method: MemberId) -> bool {
        self.0.contains_key(&method)
    }

    /// Whether a method is among them for a receiver.
    pub fn contains(&self, receiver: Option<ObjectId>, method: MemberId) -> bool {
        self.0.get(&method).is_some_and(|all| all.contains(receiver))
    }

    /// The methods.
    pub fn methods(&self) -> impl Iterator<Item = MemberId> + '_ {
        self.0.keys().copied()
    }

    /// The receivers with the methods, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (Option<ObjectId>, MemberId)> + '_ {
        let all = self.0.iter();
        let mut pairs: Vec<(Option<ObjectId>, MemberId)> =
            all.flat_map(|(&method, of)| of.iter().map(move |one| (one, method))).collect();
        pairs.sort_unstable();
        pairs.into_iter()
    }

    /// The same, of some of the methods.
    pub fn pairs_of<'a>(
        &'a self,
        wanted: &'a BTreeSet<MemberId>,
    ) -> impl Iterator<Item = (Option<ObjectId>, MemberId)> + 'a {
        let all = self.0.iter().filter(|(method, _)| wanted.contains(method));
        all.flat_map(|(&method, of)| of.iter().map(move |one| (one, method)))
    }
}

/// What code outside does that a call reaches, by the receiver; nothing is known of it where there is no
/// effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutsideEffects(Vec<(Option<Effect>, CallReceivers)>);

impl OutsideEffects {
    /// Adds what is done for a receiver.
    pub fn insert(&mut self, receiver: Option<ObjectId>, effect: Option<Effect>) {
        let at = self.0.iter().position(|one| one.0 == effect).unwrap_or_else(|| {
            self.0.push((effect, CallReceivers::default()));
            self.0.len() - 1
        });
        self.0[at].1.insert(receiver);
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is done for a receiver, if it is one.
    pub fn of(&self, receiver: Option<ObjectId>) -> Option<Option<Effect>> {
        let own = self.0.iter().find(|(_, receivers)| receivers.contains(receiver));
        own.map(|one| one.0)
    }

    /// What is done, for whichever receiver.
    pub fn values(&self) -> impl Iterator<Item = Option<Effect>> + '_ {
        self.0.iter().map(|one| one.0)
    }

    /// What is done, with the receivers for which it is.
    pub fn groups(&self) -> impl Iterator<Item = (Option<Effect>, &CallReceivers)> + '_ {
        self.0.iter().map(|(effect, receivers)| (*effect, receivers))
    }

    /// What is done for each receiver.
    pub fn iter(&self) -> impl Iterator<Item = (Option<ObjectId>, Option<Effect>)> + '_ {
        self.groups().flat_map(|(effect, all)| all.iter().map(move |receiver| (receiver, effect)))
    }
}
