//! Sets and what flows between them: what is new in a set is passed on at once to where it goes, in the order
//! in which sets depend on each other; sets that pass everything to each other are one.

use super::{ABOVE_ARRAYS, Fitting, Holder, Key, NodeSet, ObjectId, ObjectSet, Site, Solver, Use};
use crate::client::is_of_library;
use crate::names::JavaName;
use crate::world::ClassId;
use rustc_hash::FxHashMap;
use selvedge_base::graph::components;
use selvedge_base::set::Bits;
use selvedge_base::{Id, IdVec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How many copies are added before their order is looked at for the first time.
const FIRST_ORDER: usize = 10_000;

/// The sets of the analysis.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) sets: IdVec<NodeSet, ObjectSet>,
    /// The set that a set has become a part of, or itself.
    parents: IdVec<NodeSet, NodeSet>,
    /// Where everything in a set goes, or everything of a type.
    copies: IdVec<NodeSet, Vec<(NodeSet, Option<JavaName>)>>,
    uses: IdVec<NodeSet, Vec<Use>>,
    /// What has come into a set and was not passed on.
    fresh: IdVec<NodeSet, ObjectSet>,
    /// The sets with something fresh, first those that others depend on.
    waiting: BinaryHeap<Reverse<(u32, NodeSet)>>,
    ranks: IdVec<NodeSet, u32>,
    /// How many copies there are, and how many there were when the order was looked at.
    edges: usize,
    ordered: usize,
    /// Sets that are to become one.
    joins: Vec<(NodeSet, NodeSet)>,
    /// Of each type that something is passed on by: which objects are of it.
    masks: FxHashMap<JavaName, TypeMask>,
    /// The work since it was asked for, in chunks of sets.
    work: usize,
}

/// How many chunks of sets count as one step of work.
const CHUNKS_PER_STEP: usize = 16;
/// To use an object costs as much as so many chunks.
const CHUNKS_PER_USE: usize = 8;
/// To follow an instruction costs as much as so many chunks.
pub(super) const CHUNKS_PER_INSTRUCTION: usize = 64;

/// Which objects are of a type, as far as they have come by, in words of bits.
#[derive(Default)]
struct TypeMask {
    fits: Vec<u64>,
    /// The objects that were looked at.
    seen: Vec<u64>,
}

impl Flow {
    pub(super) fn push(&mut self) -> NodeSet {
        let node = self.sets.push(ObjectSet::default());
        self.parents.push(node);
        self.copies.push(Vec::new());
        self.uses.push(Vec::new());
        self.fresh.push(ObjectSet::default());
        self.ranks.push(u32::MAX);
        node
    }

    /// Notes work that costs as much as so many chunks.
    pub(super) fn note_work(&mut self, chunks: usize) {
        self.work += chunks;
    }

    /// The steps of work since this was asked for.
    pub(super) fn take_work(&mut self) -> u64 {
        (std::mem::take(&mut self.work) / CHUNKS_PER_STEP) as u64
    }

    /// The set that a set is a part of.
    pub(super) fn find(&self, mut node: NodeSet) -> NodeSet {
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    /// What is in a set.
    pub(super) fn set(&self, node: NodeSet) -> &ObjectSet {
        &self.sets[self.find(node)]
    }

    /// Two sets are one from now on.
    pub(super) fn join(&mut self, one: NodeSet, other: NodeSet) {
        self.joins.push((one, other));
    }

    fn note_fresh(&mut self, node: NodeSet, new: &ObjectSet) {
        if new.is_empty() {
            return;
        }
        if self.fresh[node].is_empty() {
            self.waiting.push(Reverse((self.ranks[node], node)));
        }
        self.fresh[node].add(new, None);
    }

    /// Passes objects to a set, those of a type if one is named, for which they were looked at.
    fn pass(&mut self, objects: &ObjectSet, into: NodeSet, filter: Option<JavaName>) {
        self.work += 1 + objects.chunks();
        let mask = filter.and_then(|name| self.masks.get(&name)).map(|mask| &mask.fits[..]);
        let new = self.sets[into].add(objects, mask);
        if !new.is_empty() {
            // The chunks of the set are put in order again.
            self.work += self.sets[into].chunks();
        }
        self.note_fresh(into, &new);
    }

    /// The order in which sets depend on each other, and those that pass everything to each other.
    fn order(&mut self) -> Vec<Vec<NodeSet>> {
        let parents: Vec<NodeSet> = self.parents.ids().map(|one| self.find(one)).collect();
        self.parents = parents.into_iter().collect();
        let mut edges = 0;
        self.work += CHUNKS_PER_USE * (self.edges + self.parents.len());
        for node in self.copies.ids() {
            let parents = &self.parents;
            let own = &mut self.copies[node];
            for one in own.iter_mut() {
                one.0 = parents[one.0];
            }
            own.sort_unstable();
            own.dedup();
            own.retain(|one| one.0 != node);
            // What takes everything takes what is of a type.
            own.dedup_by(|later, first| later.0 == first.0 && first.1.is_none());
            own.shrink_to_fit();
            edges += own.len();
        }
        self.edges = edges;
        self.ordered = edges;
        let count = self.parents.len();
        let all = components(count, |node| self.copies[node].iter().map(|one| one.0));
        let last = u32::try_from(all.len()).unwrap_or(u32::MAX);
        for (rank, component) in (0..last).zip(&all) {
            for &node in component {
                self.ranks[node] = last - rank;
            }
        }
        let waiting: Vec<NodeSet> = self.waiting.drain().map(|Reverse((_, node))| node).collect();
        self.waiting = waiting.into_iter().map(|node| Reverse((self.ranks[node], node))).collect();
        let whole =
            |node: NodeSet| self.copies[node].iter().filter(|one| one.1.is_none()).map(|one| one.0);
        let mut cycles = components(count, whole);
        cycles.retain(|one| one.len() > 1);
        cycles
    }
}

impl Solver<'_> {
    pub(super) fn node(&mut self, holder: Holder) -> NodeSet {
        if let Some(&known) = self.found.holders.get(&holder) {
            return known;
        }
        let node = self.flow.push();
        self.found.holders.insert(holder, node);
        node
    }

    pub(super) fn object(&mut self, site: Site, name: JavaName) -> ObjectId {
        if let Some(&known) = self.objects.get(&site) {
            return known;
        }
        // What clients pass is of their own classes, whatever it implements.
        let own = matches!(site, Site::Passed(..)) && self.found.for_client;
        let is_function = matches!(site, Site::Lambda(..));
        let class = if own || is_function { None } else { self.world.find(name) };
        let object = self.found.objects.push(super::JavaObject { site, name, class });
        self.objects.insert(site, object);
        object
    }

    pub(super) fn give_all(&mut self, node: NodeSet, objects: &ObjectSet) {
        let node = self.flow.find(node);
        self.flow.pass(objects, node, None);
    }

    pub(super) fn give(&mut self, node: NodeSet, object: ObjectId) {
        let node = self.flow.find(node);
        if self.flow.sets[node].insert(object) {
            if self.flow.fresh[node].is_empty() {
                self.flow.waiting.push(Reverse((self.flow.ranks[node], node)));
            }
            self.flow.fresh[node].insert(object);
        }
    }

    pub(super) fn copy(&mut self, from: NodeSet, into: NodeSet, filter: Option<JavaName>) {
        let filter = filter.filter(|&name| name != self.known.object);
        let (from, into) = (self.flow.find(from), self.flow.find(into));
        if from == into || !self.edges.insert((from, into, filter)) {
            return;
        }
        self.flow.copies[from].push((into, filter));
        self.flow.edges += 1;
        if self.flow.sets[from].is_empty() {
            return;
        }
        // Chunks are shared, so this is no copy of the objects.
        let objects = self.flow.sets[from].clone();
        self.look_at(&objects, filter);
        self.flow.pass(&objects, into, filter);
    }

    pub(super) fn add_use(&mut self, node: NodeSet, one: Use) {
        let node = self.flow.find(node);
        if !self.used.insert((node, one)) {
            return;
        }
        self.flow.uses[node].push(one);
        let objects = self.flow.sets[node].clone();
        self.apply_to(one, &objects);
    }

    /// A use of some objects: of those that can be used so.
    fn apply_to(&mut self, one: Use, objects: &ObjectSet) {
        let filter = self.used_as(one).filter(|&name| name != self.known.object);
        self.look_at(objects, filter);
        let mask = filter.and_then(|name| self.flow.masks.get(&name)).map(|mask| &mask.fits[..]);
        let mut fitting = ObjectSet::default();
        fitting.add(objects, mask);
        self.flow.work += objects.chunks() + CHUNKS_PER_USE * fitting.len();
        match one {
            Use::Receiver(call) => self.dispatch(call, &fitting),
            Use::Load(Key::Held | Key::Element, into) => {
                let rest = self.load_from_pool(fitting, into);
                rest.iter().for_each(|object| self.apply(one, object));
            }
            Use::Store(Key::Held | Key::Element, from) => {
                let pool = self.node(Holder::Pool);
                if fitting.meets(&self.pooled_outside) {
                    self.copy(from, pool, None);
                    fitting = fitting.without(&self.pooled_outside);
                }
                fitting.iter().for_each(|object| self.apply(one, object));
            }
            _ => fitting.iter().for_each(|object| self.apply(one, object)),
        }
    }

    /// Loads what those of some objects hold of which unknown code has that; what is left of them.
    fn load_from_pool(&mut self, objects: ObjectSet, into: NodeSet) -> ObjectSet {
        let pool = self.node(Holder::Pool);
        let outside = objects.meets(&self.pooled_outside);
        if outside {
            self.copy(pool, into, None);
        }
        let (from, to) = (self.flow.find(pool), self.flow.find(into));
        // Who gets all that unknown code has gets what objects hold whose contents it has.
        if from == to || self.edges.contains(&(from, to, None)) {
            objects.without(&self.pooled)
        } else if outside {
            objects.without(&self.pooled_outside)
        } else {
            objects
        }
    }

    /// The type that an object has to be of to be used so: no machine lets others come here.
    fn used_as(&self, one: Use) -> Option<JavaName> {
        match one {
            Use::Load(Key::Field(field), _)
            | Use::Store(Key::Field(field), _)
            | Use::Keeps(field, ..) => Some(self.world.classes[field.class].name),
            // The elements are of any type.
            Use::Load(Key::Element, _) | Use::Store(Key::Element, _) => Some(self.known.strings),
            Use::Receiver(call) => Some(self.calls[call].member.class),
            _ => None,
        }
    }

    /// Whether an object can be of a type.
    pub(super) fn fits(&self, object: ObjectId, wanted: JavaName) -> bool {
        let of = self.found.objects[object];
        let given = matches!(of.site, Site::Given(..) | Site::Passed(..));
        let function = matches!(of.site, Site::Lambda(..)) || self.is_of_client(object);
        let key: Fitting = (of.name, of.class, given, function);
        if let Some(&known) = self.fitting.borrow().get(&(key, wanted)) {
            return known;
        }
        let fits = self.is_of(object, wanted);
        self.fitting.borrow_mut().insert((key, wanted), fits);
        fits
    }

    /// Finds out which of some objects are of a type. Only what comes by is looked at: a program has as many
    /// types as it has classes, and few objects of one meet the name of another.
    fn look_at(&mut self, objects: &ObjectSet, filter: Option<JavaName>) {
        let Some(wanted) = filter else { return };
        let mut mask = self.flow.masks.remove(&wanted).unwrap_or_default();
        for (word, bits) in objects.words() {
            if mask.seen.len() <= word {
                mask.seen.resize(word + 1, 0);
                mask.fits.resize(word + 1, 0);
            }
            let new = bits & !mask.seen[word];
            self.flow.work += 1 + CHUNKS_PER_USE * new.count_ones() as usize;
            mask.seen[word] |= new;
            for bit in Bits(new) {
                if self.fits(ObjectId::from_index(word * 64 + bit), wanted) {
                    mask.fits[word] |= 1 << bit;
                }
            }
        }
        self.flow.masks.insert(wanted, mask);
    }

    fn is_of(&self, object: ObjectId, wanted: JavaName) -> bool {
        let of = self.found.objects[object];
        let is_array = |name: JavaName| self.text(name).starts_with('[');
        match (is_array(of.name), is_array(wanted)) {
            // The interfaces of arrays may be among the classes of the program.
            (true, false) => {
                self.world.find(wanted).is_none() || ABOVE_ARRAYS.contains(&self.text(wanted))
            }
            // What comes from outside is what its type says, which may be that of an array, too.
            (false, true) => {
                matches!(of.site, Site::Given(..) | Site::Passed(..))
                    && of.class.is_none()
                    && ABOVE_ARRAYS.contains(&self.text(of.name))
            }
            (true, true) => true,
            (false, false) => match (of.class, self.world.find(wanted)) {
                (Some(class), Some(wanted)) => self.may_extend(class, wanted),
                // What code outside makes is none of the program's classes, but a lambda may be.
                (None, Some(wanted)) => {
                    let is_function = matches!(of.site, Site::Lambda(..));
                    (is_function || self.is_of_client(object))
                        && self.world.classes[wanted].access.is_interface()
                }
                (class, None) => {
                    !self.table.is_immutable(self.text(wanted))
                        || self.table.is_open(self.text(wanted))
                        || class.is_some_and(|class| self.is_named_above(class, wanted))
                }
            },
        }
    }

    /// Whether objects of a class may be of another one. Classes of the library that are not there extend none
    /// of the program; others may.
    fn may_extend(&self, class: ClassId, wanted: ClassId) -> bool {
        let (_, broken) = self.world.line(class);
        let (_, missing) = self.world.interfaces(class);
        let unknown =
            |name: Option<JavaName>| name.is_some_and(|name| !is_of_library(self.text(name)));
        self.world.extends(class, wanted) == Some(true) || unknown(broken) || unknown(missing)
    }

    /// Whether a client passes the object, and so is called where the object is.
    pub(super) fn is_of_client(&self, object: ObjectId) -> bool {
        self.found.for_client && matches!(self.found.objects[object].site, Site::Passed(..))
    }

    /// Whether a class of the program extends or implements one outside.
    fn is_named_above(&self, class: ClassId, name: JavaName) -> bool {
        let (line, broken) = self.world.line(class);
        let (interfaces, _) = self.world.interfaces(class);
        broken == Some(name)
            || line
                .iter()
                .chain(&interfaces)
                .any(|&one| self.world.classes[one].interfaces.contains(&name))
    }

    /// The body of one method, or what came into a set; whether there was something to do.
    pub(super) fn step(&mut self) -> bool {
        if let Some((one, other)) = self.flow.joins.pop() {
            self.unite(one, other);
            return true;
        }
        if let Some(method) = self.bodies.pop() {
            self.body(method);
            return true;
        }
        if self.flow.edges > self.flow.ordered + self.flow.ordered / 2 + FIRST_ORDER {
            self.edges.clear();
            for cycle in self.flow.order() {
                for pair in cycle.windows(2) {
                    self.flow.join(pair[0], pair[1]);
                }
            }
            for (from, copies) in self.flow.copies.iter_enumerated() {
                self.edges.extend(copies.iter().map(|&(into, filter)| (from, into, filter)));
            }
            return true;
        }
        let Some(Reverse((_, node))) = self.flow.waiting.pop() else { return false };
        let objects = std::mem::take(&mut self.flow.fresh[node]);
        // What is added meanwhile sees these by itself.
        let (copies, uses) = (self.flow.copies[node].len(), self.flow.uses[node].len());
        for number in 0..copies {
            let (into, filter) = self.flow.copies[node][number];
            let into = self.flow.find(into);
            self.look_at(&objects, filter);
            self.flow.pass(&objects, into, filter);
        }
        for number in 0..uses {
            let one = self.flow.uses[node][number];
            self.apply_to(one, &objects);
        }
        true
    }

    /// Makes two sets one: what is in one of them goes where the other one's goes.
    fn unite(&mut self, one: NodeSet, other: NodeSet) {
        let (one, other) = (self.flow.find(one), self.flow.find(other));
        if one == other {
            return;
        }
        let size = |node: NodeSet| self.flow.copies[node].len() + self.flow.uses[node].len();
        let (own, gone) = if size(one) < size(other) { (other, one) } else { (one, other) };
        self.flow.parents[gone] = own;
        let objects = std::mem::take(&mut self.flow.sets[gone]);
        self.flow.fresh[gone] = ObjectSet::default();
        self.flow.pass(&objects, own, None);
        for (into, filter) in std::mem::take(&mut self.flow.copies[gone]) {
            self.copy(own, into, filter);
        }
        for one in std::mem::take(&mut self.flow.uses[gone]) {
            self.add_use(own, one);
        }
    }

    /// Everything is known: the sets of all holders.
    #[expect(clippy::iter_over_hash_type, reason = "each is changed by itself")]
    pub(super) fn finish_sets(&mut self) {
        for node in self.found.holders.values_mut() {
            *node = self.flow.find(*node);
        }
        self.found.sets = std::mem::take(&mut self.flow.sets);
    }
}
