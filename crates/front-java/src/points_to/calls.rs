//! Calls: which method of the program each receiver has, lambdas and what is captured, dynamic calls.

use super::outside::STREAMS;
use super::{
    Call, CallId, CallReceivers, Doubt, Holder, Invocation, JavaObject, Lambda, NodeSet, ObjectId,
    ObjectSet, Site, Solver, TAKEN, Target, Use, is_reference,
};
use crate::class::{At, HandleKind, InvokeKind, JavaConstant, JavaMember};
use crate::frames::{Definition, Frames};
use crate::names::JavaName;
use crate::world::{ClassId, MemberId, Resolution};
use std::collections::BTreeMap;
use std::rc::Rc;

impl Solver<'_> {
    pub(super) fn call(
        &mut self,
        caller: MemberId,
        frames: &Frames,
        at: At,
        (how, member): (InvokeKind, JavaMember),
        result: NodeSet,
    ) -> CallId {
        let count = frames.operands[at].len();
        let operands = (0..count).map(|one| Some(self.operand(caller, frames, at, one))).collect();
        let gives = member.descriptor;
        let is_reference = is_reference(self.text(gives).rsplit(')').next().unwrap_or_default());
        let result = is_reference.then_some(result);
        self.reached_by.push(Invocation::default());
        self.dispatched.push(ObjectSet::default());
        self.done.push(CallReceivers::default());
        // Whether or not there is a receiver.
        self.assumptions(member.class, member);
        let call = self.calls.push(Call { caller, at, how, member, operands, result, gives });
        self.calls_at.insert((caller, at), call);
        call
    }

    pub(super) fn invocation(&mut self, call: CallId) -> &mut Invocation {
        &mut self.reached_by[call]
    }

    pub(super) fn invoke(&mut self, call: CallId) {
        let Call { how, member, .. } = self.calls[call];
        match how {
            InvokeKind::Static => match self.world.method(member) {
                Resolution::Found(target) => {
                    self.trigger(target.class);
                    self.link(call, target);
                }
                Resolution::Absent => {}
                Resolution::Missing(_) => self.library(call, None, member.class),
            },
            InvokeKind::Special | InvokeKind::Virtual | InvokeKind::Interface => {
                if let Some(receiver) = self.calls[call].operands[0] {
                    self.add_use(receiver, Use::Receiver(call));
                }
                // Values are no objects here.
                if self.table.is_immutable(self.text(member.class)) {
                    self.library(call, None, member.class);
                }
            }
        }
    }

    /// Calls outside whose receivers are no objects that are known; whether there are new ones.
    pub(super) fn without_receivers(&mut self) -> bool {
        let mut any = false;
        for call in self.calls.ids() {
            let Call { how, member, .. } = self.calls[call];
            let Some(&Some(receiver)) = self.calls[call].operands.first() else { continue };
            if how != InvokeKind::Static
                && self.flow.set(receiver).is_empty()
                && self.world.find(member.class).is_none()
                && !self.done[call].contains(None)
            {
                any = true;
                self.library(call, None, member.class);
            }
        }
        any
    }

    /// The method that an object has under a name: one of the program, or the class outside that has it.
    pub(super) fn select(&self, class: ClassId, member: JavaMember) -> Result<MemberId, JavaName> {
        let (line, broken) = self.world.line(class);
        let declared = |class: ClassId| {
            let methods = &self.world.classes[class].methods;
            let number = methods.iter().position(|one| {
                (one.name, one.descriptor) == (member.name, member.descriptor)
                    && !one.access.is_static()
            });
            number.map(|number| MemberId { class, number })
        };
        let has_body = |id: &MemberId| self.world.of(*id).body.is_some();
        if let Some(found) = line.iter().find_map(|&one| declared(one)).filter(has_body) {
            return Ok(found);
        }
        let (interfaces, missing) = self.world.interfaces(class);
        let candidates: Vec<MemberId> =
            interfaces.iter().filter_map(|&one| declared(one)).filter(has_body).collect();
        // Of several the one that no other overrides.
        let overridden = |one: &MemberId| {
            let mut others = candidates.iter().filter(|other| other.class != one.class);
            others.any(|other| self.world.extends(other.class, one.class) == Some(true))
        };
        // What a class above has counts before what interfaces have; of threads that is known.
        let above = broken.map(|name| self.text(name));
        let has_own = above == Some("java/lang/Thread") && member.name == self.known.run;
        if let Some(&found) = candidates.iter().find(|one| !overridden(one)).filter(|_| !has_own) {
            return Ok(found);
        }
        let other = missing.filter(|_| broken.is_none_or(|name| name == self.known.object));
        Err(other.or(broken).unwrap_or(self.known.object))
    }

    /// Calls the methods that some receivers have.
    pub(super) fn dispatch(&mut self, call: CallId, receivers: &ObjectSet) {
        let new = self.dispatched[call].add(receivers, None);
        if new.is_empty() {
            return;
        }
        let Call { how, member, .. } = self.calls[call];
        if how == InvokeKind::Special {
            match self.world.method(member) {
                Resolution::Found(target) if self.world.of(target).body.is_some() => {
                    self.link_all(call, &new, target);
                }
                Resolution::Missing(class) => {
                    new.iter().for_each(|object| self.library(call, Some(object), class));
                }
                _ => {}
            }
            return;
        }
        // Those that do the same are done at once.
        let mut by_target: BTreeMap<MemberId, ObjectSet> = BTreeMap::new();
        for object in new.iter() {
            let class = self.found.objects[object].class;
            let Some(class) = class.filter(|_| !self.lambdas.contains_key(&object)) else {
                self.dispatch_outside(call, object);
                continue;
            };
            let targets = self.targets.get(&(class, member)).map(Rc::clone);
            let targets = targets.unwrap_or_else(|| {
                let targets: Rc<[Target]> = Rc::from(self.targets_in(class, member));
                self.targets.insert((class, member), Rc::clone(&targets));
                targets
            });
            for &target in targets.iter() {
                match target {
                    Ok(target) => _ = by_target.entry(target).or_default().insert(object),
                    Err(outside) => self.library(call, Some(object), outside),
                }
            }
        }
        for (target, objects) in by_target {
            self.link_all(call, &objects, target);
        }
    }

    /// Calls what a function has, or an object from outside.
    fn dispatch_outside(&mut self, call: CallId, object: ObjectId) {
        let member = self.calls[call].member;
        if let Some(lambda) = self.lambdas.get(&object) {
            let is_function = lambda.method == member.name;
            // The interface may have other methods of the same name, with bodies.
            match self.world.find(member.class).map(|class| self.select(class, member)) {
                Some(Ok(target)) => {
                    let mut one = ObjectSet::default();
                    one.insert(object);
                    self.link_all(call, &one, target);
                }
                _ if is_function => self.link_handle(call, object),
                _ => self.library(call, Some(object), member.class),
            }
            return;
        }
        // Arrays have the methods of all objects.
        if self.text(member.class).starts_with('[') {
            self.library(call, Some(object), self.known.object);
            return;
        }
        let of = self.found.objects[object];
        // A stream is what it goes over, but has methods of its own.
        if self.text(member.class).starts_with(STREAMS) {
            self.library(call, Some(object), member.class);
            return;
        }
        let known = self.table.effect(self.text(of.name), self.text(member.name)).is_some();
        self.library(call, Some(object), if known { of.name } else { self.meant(of, member) });
    }

    /// What an object of a class has where a method is called.
    fn targets_in(&self, class: ClassId, member: JavaMember) -> Vec<Target> {
        let mut targets = Vec::new();
        if let Resolution::Found(meant) = self.world.method(member) {
            // A private method is reached whatever the object has under that name.
            if self.world.of(meant).access.is_private() {
                return vec![Ok(meant)];
            }
            // A method that is not seen from the package of the object's class is not overridden there.
            if self.is_hidden_from(meant, class) {
                targets.push(Ok(meant));
            }
        }
        targets.push(self.select(class, member));
        targets
    }

    /// The class whose line counts for a method of an object from outside, if its own class has none: what is
    /// said of the type that it is called by, if that is not what all objects have, or the object is known to
    /// be nothing else or something that the table tells of.
    fn meant(&self, of: JavaObject, member: JavaMember) -> JavaName {
        let own = self.text(of.name);
        let plain = self.table.is_immutable(own) || self.table.is_safe(own);
        let by_type = match (member.class == self.known.object, own.starts_with('[')) {
            // An array may be looked at as a list.
            (true, true) => return self.world.names.find("java/util/List").unwrap_or(of.name),
            (true, false) => plain,
            (false, array) => {
                array || plain || self.table.is_listed(own) || !matches!(of.site, Site::New(..))
            }
        };
        // What is said of a sequence that nothing changes is not true of others.
        let by_value = self.table.is_open(self.text(member.class)) && !self.table.is_immutable(own);
        if by_type && !by_value { member.class } else { of.name }
    }

    /// Whether a method is visible in its package only, and some class between it and another is not in it.
    fn is_hidden_from(&self, meant: MemberId, class: ClassId) -> bool {
        let access = self.world.of(meant).access;
        if access.is_public() || access.is_protected() || access.is_private() {
            return false;
        }
        let package = |class: ClassId| {
            let text = self.text(self.world.classes[class].name);
            text.rsplit_once('/').map_or("", |(package, _)| package).to_owned()
        };
        let own = package(meant.class);
        !self.world.classes[meant.class].access.is_interface()
            && self.world.of(meant).body.is_some()
            && self.world.line(class).0.iter().any(|&one| package(one) != own)
    }

    /// The operands of a call without a receiver become the parameters of a method.
    fn link(&mut self, call: CallId, target: MemberId) {
        if self.world.of(target).body.is_none() {
            let class = self.world.classes[target.class].name;
            self.library(call, None, class);
            return;
        }
        self.reach(target);
        self.invocation(call).callees.insert(None, target, true);
        self.pass_operands(call, target, 0);
    }

    /// The same with some receivers.
    fn link_all(&mut self, call: CallId, receivers: &ObjectSet, target: MemberId) {
        if self.world.of(target).body.is_none() {
            let class = self.world.classes[target.class].name;
            receivers.iter().for_each(|object| self.library(call, Some(object), class));
            return;
        }
        self.reach(target);
        self.invocation(call).callees.insert_all(receivers, target);
        let this = self.node(Holder::Value(target, Definition::Parameter(0)));
        self.give_all(this, receivers);
        self.pass_operands(call, target, 1);
    }

    /// The operands of a call, from one on, become the parameters of a method, which gives back its result.
    fn pass_operands(&mut self, call: CallId, target: MemberId, first: usize) {
        if !self.linked.insert((call, target)) {
            return;
        }
        let operands = self.calls[call].operands.clone();
        for (number, operand) in operands.into_iter().enumerate().skip(first) {
            let Ok(number) = u16::try_from(number) else { continue };
            let into = self.node(Holder::Value(target, Definition::Parameter(number)));
            if let Some(operand) = operand {
                self.copy(operand, into, None);
            }
        }
        self.returns(call, target);
    }

    pub(super) fn returns(&mut self, call: CallId, target: MemberId) {
        let Call { caller, at, .. } = self.calls[call];
        if let Some(&taken) = self.found.holders.get(&Holder::Operand(caller, at, TAKEN)) {
            let returned = self.node(Holder::Returned(target));
            self.copy(returned, taken, None);
        }
        if let Some(result) = self.calls[call].result {
            let returned = self.node(Holder::Returned(target));
            self.copy(returned, result, None);
        }
    }

    /// A lambda is called: what it has captured and what is passed become parameters.
    pub(super) fn link_handle(&mut self, call: CallId, object: ObjectId) {
        let passed: Vec<Option<NodeSet>> =
            self.calls[call].operands.iter().skip(1).copied().collect();
        self.link_passed(call, object, &passed);
    }

    /// A lambda is called with these parameters behind what it has captured.
    pub(super) fn link_passed(
        &mut self,
        call: CallId,
        object: ObjectId,
        passed: &[Option<NodeSet>],
    ) {
        let Some(lambda) = self.lambdas.get(&object) else { return };
        let (handle, captured) = (lambda.handle, lambda.captured);
        let mut nodes: Vec<Option<NodeSet>> =
            (0..captured).map(|one| Some(self.node(Holder::Captured(object, one)))).collect();
        nodes.extend_from_slice(passed);
        match handle.kind {
            HandleKind::Invoke(InvokeKind::Static | InvokeKind::Special) => {
                match self.world.method(handle.member) {
                    Resolution::Found(target) if self.world.of(target).body.is_some() => {
                        self.trigger(target.class);
                        self.link_nodes(call, object, target, &nodes);
                    }
                    _ => self.unknown_nodes(call, object, &nodes, handle.member),
                }
            }
            HandleKind::Invoke(_) => match self.world.method(handle.member) {
                Resolution::Found(target) if self.world.of(target).access.is_private() => {
                    self.link_nodes(call, object, target, &nodes);
                }
                _ => {
                    // Kept for the receivers to come.
                    for (number, node) in nodes.iter().enumerate() {
                        let number = u8::try_from(number).unwrap_or(u8::MAX).saturating_add(64);
                        let Call { caller, at, .. } = self.calls[call];
                        let kept = self.node(Holder::Operand(caller, at, number));
                        if let Some(node) = node {
                            self.copy(*node, kept, None);
                        }
                    }
                    if let Some(Some(receiver)) = nodes.first() {
                        self.add_use(*receiver, Use::Handle(call, object));
                    }
                }
            },
            HandleKind::New => {
                let Some(class) = self.world.find(handle.member.class) else {
                    self.unknown_nodes(call, object, &nodes, handle.member);
                    if !self.table.is_immutable(self.text(handle.member.class)) {
                        let Call { caller, at, result, .. } = self.calls[call];
                        let made = self.object(Site::Made(caller, at), handle.member.class);
                        let taken = self.found.holders.get(&Holder::Operand(caller, at, TAKEN));
                        for node in taken.copied().into_iter().chain(result) {
                            self.give(node, made);
                        }
                    }
                    return;
                };
                self.trigger(class);
                let Call { caller, at, .. } = self.calls[call];
                let made = self.object(Site::Made(caller, at), handle.member.class);
                self.finalizer(class, made);
                let kept = self.node(Holder::Operand(caller, at, u8::MAX));
                self.give(kept, made);
                if let Some(&taken) = self.found.holders.get(&Holder::Operand(caller, at, TAKEN)) {
                    self.give(taken, made);
                }
                if let Some(result) = self.calls[call].result {
                    self.give(result, made);
                }
                nodes.insert(0, Some(kept));
                if let Resolution::Found(target) = self.world.method(handle.member) {
                    self.link_nodes(call, object, target, &nodes);
                }
            }
            HandleKind::Field(_) => {
                let Call { caller, at, .. } = self.calls[call];
                self.found.doubts.insert(Doubt::Lambda(caller, at));
            }
        }
    }

    pub(super) fn dispatch_handle(&mut self, call: CallId, lambda: ObjectId, receiver: ObjectId) {
        let Some(of) = self.lambdas.get(&lambda) else { return };
        let member = of.handle.member;
        // What has no such method is not what the function is called with.
        if self.world.find(member.class).is_some() && !self.fits(receiver, member.class) {
            return;
        }
        let count = usize::from(of.captured) + of.passed(self.world);
        let Call { caller, at, .. } = self.calls[call];
        let nodes: Vec<Option<NodeSet>> = (0..count)
            .map(|number| {
                let number = u8::try_from(number).unwrap_or(u8::MAX).saturating_add(64);
                Some(self.node(Holder::Operand(caller, at, number)))
            })
            .collect();
        // A function is called by the name of what it implements.
        if self.lambdas.get(&receiver).is_some_and(|one| one.method == member.name) {
            self.link_passed(call, receiver, nodes.get(1..).unwrap_or_default());
            return;
        }
        match self.found.objects[receiver].class.map(|class| self.select(class, member)) {
            Some(Ok(target)) => self.link_nodes(call, lambda, target, &nodes),
            _ => self.unknown_nodes(call, lambda, &nodes, member),
        }
    }

    pub(super) fn link_nodes(
        &mut self,
        call: CallId,
        object: ObjectId,
        target: MemberId,
        nodes: &[Option<NodeSet>],
    ) {
        self.reach(target);
        self.invocation(call).callees.insert(Some(object), target, false);
        for (number, node) in nodes.iter().enumerate() {
            let Ok(number) = u16::try_from(number) else { continue };
            let into = self.node(Holder::Value(target, Definition::Parameter(number)));
            if let Some(node) = node {
                self.copy(*node, into, None);
            }
        }
        self.returns(call, target);
    }

    pub(super) fn unknown_nodes(
        &mut self,
        call: CallId,
        object: ObjectId,
        nodes: &[Option<NodeSet>],
        member: JavaMember,
    ) {
        let pool = self.node(Holder::Pool);
        for node in nodes.iter().flatten() {
            self.copy(*node, pool, None);
        }
        self.unknown_result(call);
        let Call { caller, at, .. } = self.calls[call];
        if let Some(&taken) = self.found.holders.get(&Holder::Operand(caller, at, TAKEN)) {
            self.copy(pool, taken, None);
            // What it makes is taken, too.
            if let Some(name) = self.mutable_type(member.descriptor)
                && self.world.find(name).is_none()
            {
                let given = self.object(Site::Given(caller, at), name);
                self.give(taken, given);
            }
        }
        self.meets_parallel |= ["parallel", "parallelStream"].contains(&self.text(member.name));
        let invocation = self.invocation(call);
        invocation.unknown = true;
        invocation.library.insert(Some(object), None);
        self.note_unknown(member);
    }

    pub(super) fn note_unknown(&mut self, member: JavaMember) {
        *self.unknown_calls.entry((member.class, member.name)).or_default() += 1;
    }

    /// What unknown code gives back: anything that it knows, or something of its own.
    pub(super) fn unknown_result(&mut self, call: CallId) {
        let Call { caller, at, gives, result, .. } = self.calls[call];
        let Some(result) = result else { return };
        let pool = self.node(Holder::Pool);
        let Some(name) = self.mutable_type(gives) else {
            // A value; or an object of the program of a type whose objects are values otherwise.
            let text = self.text(gives).rsplit(')').next().unwrap_or_default();
            let class = text.strip_prefix('L').and_then(|text| text.strip_suffix(';'));
            if let Some(name) = class.and_then(|class| self.world.names.find(class)) {
                self.copy(pool, result, Some(name));
            }
            return;
        };
        self.copy(pool, result, Some(name));
        if self.world.find(name).is_none() {
            let object = self.object(Site::Given(caller, at), name);
            self.give(result, object);
        }
        self.constants(name, result);
    }

    pub(super) fn dynamic(
        &mut self,
        call: CallId,
        bootstrap: Option<crate::class::Bootstrap>,
        name: JavaName,
    ) {
        let Call { caller, at, gives, result, .. } = self.calls[call];
        let operands: Vec<NodeSet> = self.calls[call].operands.iter().flatten().copied().collect();
        let class =
            bootstrap.as_ref().map_or("", |one| self.world.names.text(one.method.member.class));
        match class {
            "java/lang/invoke/LambdaMetafactory" => {
                let handle = bootstrap.and_then(|one| match one.arguments.get(1) {
                    Some(JavaConstant::Handle(handle)) => Some(*handle),
                    _ => None,
                });
                let text = self.text(gives);
                let interface = text.rsplit(")L").next().and_then(|text| text.strip_suffix(';'));
                let interface = interface.and_then(|text| self.world.names.find(text));
                let object =
                    self.object(Site::Lambda(caller, at), interface.unwrap_or(self.known.object));
                let Some(handle) = handle else {
                    self.found.doubts.insert(Doubt::Lambda(caller, at));
                    return;
                };
                let captured = u8::try_from(operands.len()).unwrap_or(u8::MAX);
                self.lambdas.insert(object, Lambda { method: name, handle, captured });
                for (number, operand) in (0..captured).zip(operands) {
                    let into = self.node(Holder::Captured(object, number));
                    self.copy(operand, into, None);
                }
                if let Some(result) = result {
                    self.give(result, object);
                }
            }
            "java/lang/invoke/StringConcatFactory" => {
                for operand in operands {
                    self.shown(call, operand);
                }
                self.invocation(call).library.insert(None, Some(crate::library::SHOWING));
            }
            "java/lang/runtime/ObjectMethods" => {
                for operand in operands {
                    self.add_use(operand, Use::Components(call));
                }
                self.invocation(call).library.insert(None, Some(crate::library::COMPONENTS));
            }
            "java/lang/runtime/SwitchBootstraps" => {
                self.invocation(call).library.insert(None, Some(crate::library::PURE));
            }
            _ => {
                let called = self.text(name).to_owned();
                self.found.doubts.insert(Doubt::Assumption("dynamic calls", called));
                let member = JavaMember { class: self.known.object, name, descriptor: gives };
                let pool = self.node(Holder::Pool);
                for operand in operands {
                    self.copy(operand, pool, None);
                }
                let invocation = self.invocation(call);
                invocation.unknown = true;
                invocation.library.insert(None, None);
                self.unknown_result(call);
                self.note_unknown(member);
            }
        }
    }
}
