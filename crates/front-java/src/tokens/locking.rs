//! Locks that are taken, freed, and freed under other names.

use super::{Frame, Freed, HELD, JavaToken, LockKey, LockName, Step, Unit, Walk, behind};
use crate::library::LockSide;
use crate::points_to::{Holder, ObjectSet};

impl Walk<'_, '_, '_> {
    /// The lock of a synchronized method, or of the initialiser of a class.
    pub(super) fn own_lock(&self) -> Option<LockKey> {
        let of = self.explorer.shared.world.of(self.method);
        // Whoever initialises a class keeps others from doing it.
        let initialises = self.explorer.shared.world.names.text(of.name) == "<clinit>";
        if initialises {
            let key = LockKey { name: LockName::Class(self.method.class), explicit: true };
            return (!self.explorer.model.dropped.contains(&key)).then_some(key);
        }
        if !of.access.is_synchronized() {
            return None;
        }
        if of.access.is_static() {
            let key = LockKey { name: LockName::Class(self.method.class), explicit: false };
            return (!self.explorer.model.dropped.contains(&key)).then_some(key);
        }
        self.explorer.key(self.this.as_ref()?, false)
    }

    /// Takes a lock, known or not, and goes on.
    pub(super) fn take(&mut self, source: usize, mut next: Frame, keys: Vec<LockKey>) {
        let mut steps = Vec::new();
        if next.unit == Unit::None && self.has_regions() {
            steps.push(Step::Begin);
            next.unit = Unit::Region;
        }
        next.monitors = next.monitors.saturating_add(1);
        for key in keys {
            if next.held.len() >= HELD {
                self.explorer.model.dropped.insert(key);
            } else {
                steps.push(Step::Acquire(key.clone()));
                next.held.push(key);
            }
        }
        self.go_on(source, &steps, &next);
    }

    /// Frees a lock, known or not, and goes on.
    pub(super) fn free(&mut self, source: usize, mut next: Frame, mut keys: Vec<LockKey>) {
        let mut steps = Vec::new();
        // The innermost first.
        while let Some(key) = keys.pop() {
            let last = next.held.last().cloned();
            if let Some(last) = last.filter(|last| *last == key || keys.contains(last)) {
                next.held.pop();
                keys.push(key);
                keys.retain(|one| *one != last);
                steps.push(Step::Release(last));
            } else if next.held.is_empty() && key.explicit && next.freed.len() < HELD {
                // It is the caller's.
                next.freed.push(key.clone());
                steps.push(Step::Release(key));
            } else if self.explorer.free_inner(&mut next.held, &key) {
                steps.push(Step::Release(key));
            } else {
                let set = self.explorer.objects_of(&key.name);
                self.freed(&next, set, key.explicit, Some(key.clone()));
                self.explorer.model.dropped.insert(key);
            }
        }
        next.monitors = next.monitors.saturating_sub(1);
        if next.monitors == 0 && next.unit == Unit::Region {
            steps.push(Step::End);
            next.unit = Unit::None;
        }
        self.go_on(source, &steps, &next);
    }

    /// A lock may be freed here under another name than it is held.
    pub(super) fn freed(
        &mut self,
        frame: &Frame,
        objects: ObjectSet,
        explicit: bool,
        name: Option<LockKey>,
    ) {
        let (context, held) = (self.context, frame.held.clone());
        let by_anybody = false;
        self.explorer.freed_elsewhere(Freed { context, held, objects, explicit, name, by_anybody });
    }

    /// The lock that is given up where a condition is waited for, if this method took it last and once.
    pub(super) fn awaited(&self, frame: &Frame, receiver: Option<&JavaToken>) -> Option<LockKey> {
        let JavaToken::View(lock, LockSide::Condition) = receiver? else { return None };
        let key = self.explorer.key(lock, true)?;
        let holds = frame.held.iter().filter(|one| **one == key).count();
        (holds == 1 && frame.held.last() == Some(&key)).then_some(key)
    }

    /// Unknown code may free a lock that it is given or was given before, or that what it was given holds.
    pub(super) fn forget(&mut self, frame: &Frame) {
        let shared = self.explorer.shared;
        if shared.found.for_client {
            self.forget_given(frame);
            return;
        }
        let mut objects = shared.pooled.clone();
        for number in 0..self.frames.operands[frame.at].len() {
            for object in shared.found.operand(self.method, frame.at, number).iter() {
                objects.insert(object);
                for held in shared.holds.get(&object).into_iter().flatten() {
                    objects.insert(*held);
                }
            }
        }
        // A side of a lock, or a condition of it, frees the lock.
        for object in objects.clone().iter() {
            objects.insert(behind(shared.found, object));
        }
        self.forget_all(frame, &objects);
    }

    /// Clients may free a lock of the library that they get hold of. They do not wait for objects of the
    /// class.
    fn forget_given(&mut self, frame: &Frame) {
        let shared = self.explorer.shared;
        let mut objects = ObjectSet::default();
        for object in shared.found.of(Holder::Pool).iter() {
            let lock = behind(shared.found, object);
            if shared.explicit.contains(lock) {
                objects.insert(lock);
            }
        }
        self.forget_all(frame, &objects);
    }

    fn forget_all(&mut self, frame: &Frame, objects: &ObjectSet) {
        if objects.is_empty() {
            return;
        }
        let (context, held) = (self.context, frame.held.clone());
        for explicit in [false, true] {
            self.explorer.freed_elsewhere(Freed {
                context,
                held: held.clone(),
                objects: objects.clone(),
                explicit,
                name: None,
                by_anybody: true,
            });
        }
    }

    /// Whether a token stands for an object that is there, because it has a name of its own or is held.
    pub(super) fn is_held_or_there(&self, frame: &Frame, token: &JavaToken) -> bool {
        self.is_held(frame, token) || self.is_there(frame.at, token)
    }

    /// Whether a token stands for a lock that this method has taken, or for a side of it.
    pub(super) fn is_held(&self, frame: &Frame, token: &JavaToken) -> bool {
        let token = match token {
            JavaToken::View(lock, _) => lock,
            own => own,
        };
        self.explorer.lock_of(token).is_some_and(|name| {
            frame.held.iter().any(|key| match &key.name {
                LockName::Side(inner, _) => **inner == name,
                own => *own == name,
            })
        })
    }
}
