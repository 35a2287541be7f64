//! Calls: which procedures they reach, and what flows into and out of these.

use crate::flow::{PointerSet, SetId};
use crate::objects::{PointerId, Site};
use crate::points_to::{
    Call, CallKind, CallSiteId, CallTargets, Solver, StatementAt, ThreadKind, Use,
};
use selvedge_code::model::{Element, Kind, MethodId, Point, ProcedureId, TypeId};
use selvedge_code::statement::{Callee, Operation};
use std::collections::BTreeSet;

impl Solver<'_> {
    pub(crate) fn add_call(
        &mut self,
        at: StatementAt,
        kind: CallKind,
        callee: Callee,
        arguments: Vec<SetId>,
        results: Vec<SetId>,
    ) {
        let targets = CallTargets {
            kind,
            procedures: BTreeSet::new(),
            declared: BTreeSet::new(),
            is_open: false,
        };
        self.found.calls.insert(at, targets);
        let call = Call { at, kind, callee: callee.clone(), arguments, results };
        let first = call.arguments.first().copied();
        let id = self.calls.push(call);
        match callee {
            Callee::Procedure(procedure) => self.link(id, procedure, 0),
            Callee::Virtual(_) => {
                if let Some(receiver) = first {
                    self.add_use(receiver, Use::Receiver(id));
                }
            }
            Callee::Value(value) => {
                let node = self.operand(at, value);
                self.add_use(node, Use::Called(id));
            }
            Callee::Outside(name) => match self.rows.get(name.as_str()) {
                Some(&row) => self.link(id, row, 0),
                None => self.call_outside(id, None, &name),
            },
        }
    }

    /// Calls the methods that some receivers have.
    pub(crate) fn dispatch(&mut self, call: CallSiteId, receivers: &PointerSet) {
        let Callee::Virtual(method) = self.calls[call].callee else { return };
        for pointer in receivers.iter() {
            let (object, of) = self.object_of(pointer);
            let is_open = of.is_open();
            let types = self.found.objects.types_at(self.module, pointer);
            let targets: Vec<ProcedureId> =
                types.into_iter().filter_map(|ty| self.target(method, ty)).collect();
            for &target in &targets {
                self.link_receiver(call, pointer, target);
            }
            // Whoever is not given may have made something of a type below, with a method of its own.
            let owner = self.module.methods[method].owner;
            let is_unknown =
                targets.is_empty() && self.found.objects.may_be(self.module, object, owner);
            if is_open || is_unknown {
                self.outside_method(call, method);
            }
        }
    }

    fn target(&mut self, method: MethodId, ty: TypeId) -> Option<ProcedureId> {
        *self.targets.entry((method, ty)).or_insert_with(|| self.module.target(method, ty))
    }

    fn outside_method(&mut self, call: CallSiteId, method: MethodId) {
        let of = &self.module.methods[method];
        let name = format!("{}.{}", self.module.types[of.owner].name, of.name);
        self.call_outside(call, None, &name);
    }

    /// Calls procedures and closures.
    pub(crate) fn called(&mut self, call: CallSiteId, callees: &PointerSet) {
        for pointer in callees.iter() {
            match self.object_of(pointer).1.site {
                Site::Procedure(procedure) => self.link(call, procedure, 0),
                Site::Closure(maker, point, procedure) => {
                    let captures = self.captured_by(maker, point);
                    self.link(call, procedure, captures);
                }
                Site::Outside(..) | Site::Parameter(..) => {
                    self.call_outside(call, None, "a value from outside");
                }
                _ => {}
            }
        }
    }

    /// How many values a closure has captured.
    fn captured_by(&self, procedure: ProcedureId, point: Point) -> usize {
        let block = &self.module.procedures[procedure].blocks[point.block];
        match &block.statements[point.index as usize].operation {
            Operation::Closure { captures, .. } => captures.len(),
            _ => 0,
        }
    }

    /// A receiver becomes the first parameter of the method that it has.
    fn link_receiver(&mut self, call: CallSiteId, receiver: PointerId, target: ProcedureId) {
        if self.module.procedures[target].blocks.is_empty() {
            self.link(call, target, 0);
            return;
        }
        self.reach(target);
        let this = self.parameter(target, 0);
        self.give(this, receiver);
        if self.links.insert((call, target)) {
            self.pass(call, target, (1, 0));
        }
    }

    /// The arguments of a call become the parameters of a procedure, behind those that it has.
    fn link(&mut self, call: CallSiteId, target: ProcedureId, behind: usize) {
        let procedure = &self.module.procedures[target];
        if procedure.blocks.is_empty() {
            if self.links.insert((call, target)) {
                let at = self.calls[call].at;
                self.found.calls.entry(at).and_modify(|one| _ = one.declared.insert(target));
                self.call_outside(call, Some(target), &procedure.name);
            }
            return;
        }
        self.reach(target);
        if self.links.insert((call, target)) {
            self.pass(call, target, (0, behind));
        }
    }

    /// Passes arguments, from one on, and takes results.
    fn pass(&mut self, call: CallSiteId, target: ProcedureId, (first, behind): (usize, usize)) {
        let Call { at, kind, arguments, results, .. } = self.calls[call].clone();
        self.found.calls.entry(at).and_modify(|one| _ = one.procedures.insert(target));
        if kind == CallKind::Start {
            self.found.threads.insert(ThreadKind { start: Some(at), entry: target });
        }
        for (number, &argument) in arguments.iter().enumerate().skip(first) {
            let into = self.parameter(target, number + behind);
            self.copy(argument, into, None);
        }
        for (number, &into) in results.iter().enumerate() {
            if let Some(&from) = self.found.procedures[&target].results().get(number) {
                self.copy(from, into, None);
            }
        }
    }

    /// Code that is not given gets the arguments, and gives back what it has or something of its own.
    fn call_outside(&mut self, call: CallSiteId, declared: Option<ProcedureId>, name: &str) {
        let Call { at, arguments, results, .. } = self.calls[call].clone();
        let targets = self.found.calls.get_mut(&at);
        if declared.is_none()
            && let Some(targets) = targets
        {
            if targets.is_open {
                return;
            }
            targets.is_open = true;
        }
        *self.found.unknown.entry(name.to_owned()).or_default() += 1;
        let pool = self.pool();
        for argument in arguments {
            self.copy(argument, pool, None);
        }
        let kinds = declared.map(|one| &self.module.procedures[one].returns);
        for (number, &into) in results.iter().enumerate() {
            let kind = kinds.and_then(|kinds| kinds.get(number)).and_then(Option::as_ref);
            match kind.map(|kind| kind.element) {
                // A number leads nowhere.
                Some(Element::Word(1 | 2 | 4)) => {}
                Some(Element::Reference(Some(ty))) => {
                    self.copy(pool, into, Some(ty));
                    let kind = Kind::single(Element::Inline(ty));
                    self.make(Site::Outside(at.0, at.1), kind, into);
                }
                _ => {
                    self.copy(pool, into, None);
                    let kind = Kind::single(Element::Word(0));
                    self.make(Site::Outside(at.0, at.1), kind, into);
                }
            }
        }
    }
}
