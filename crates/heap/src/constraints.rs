//! What statements add to sets.

use crate::flow::SetId;
use crate::objects::{PointerId, Site};
use crate::points_to::{CallKind, Solver, StatementAt, Use};
use selvedge_code::address::Index;
use selvedge_code::flow::definitions::Definition;
use selvedge_code::flow::graph::BlockGraph;
use selvedge_code::model::{Element, FieldId, Kind, Point, ProcedureId, RegisterId, TypeId};
use selvedge_code::statement::{
    Call, Callee, Jump, MemoryAccess, Operation, Shape, Statement, Value,
};
use selvedge_code::words::UpdateOperator;

impl Solver<'_> {
    /// Adds the statements of a procedure.
    pub(crate) fn statements(&mut self, id: ProcedureId) {
        let procedure = &self.module.procedures[id];
        let order = BlockGraph::new(procedure).order;
        for block in order {
            let of = &procedure.blocks[block];
            for (index, statement) in of.statements.iter().enumerate() {
                self.statement((id, Point::new(block, index)), statement);
            }
            let end = (id, Point::new(block, of.statements.len()));
            match &of.end.jump {
                Jump::Return(values) => {
                    for (number, &value) in values.iter().enumerate() {
                        let from = self.operand(end, value);
                        if let Some(&into) = self.found.procedures[&id].results().get(number) {
                            self.copy(from, into, None);
                        }
                    }
                }
                Jump::Throw(value) => {
                    let from = self.operand(end, *value);
                    self.copy(from, self.thrown, None);
                }
                _ => {}
            }
        }
    }

    /// The set of a result of a statement; one that nobody looks at if it has no such result.
    fn result(
        &mut self,
        (procedure, point): StatementAt,
        statement: &Statement,
        number: usize,
    ) -> SetId {
        match statement.results.get(number) {
            Some(&register) => self.statement_result((procedure, point), register),
            None => self.push(),
        }
    }

    fn statement_result(&mut self, (procedure, point): StatementAt, register: RegisterId) -> SetId {
        let definition = Definition::Statement(point, register);
        self.found
            .procedures
            .get(&procedure)
            .and_then(|one| one.node_of(definition))
            .unwrap_or_else(|| self.push())
    }

    fn statement(&mut self, at: StatementAt, statement: &Statement) {
        match &statement.operation {
            Operation::Make(shape) | Operation::Local(shape) => {
                let into = self.result(at, statement, 0);
                self.make(Site::Statement(at.0, at.1), kind_of(shape), into);
            }
            Operation::Closure { procedure, captures } => {
                let into = self.result(at, statement, 0);
                let site = Site::Closure(at.0, at.1, *procedure);
                self.make(site, Kind::single(Element::Word(0)), into);
                self.captures(at, *procedure, captures);
            }
            Operation::Field { base, field } => {
                let (from, into) = (self.operand(at, *base), self.result(at, statement, 0));
                self.add_use(from, Use::Field(*field, into));
            }
            Operation::Element { base, .. } => {
                let (from, into) = (self.operand(at, *base), self.result(at, statement, 0));
                self.add_use(from, Use::Element(at.0, at.1, into));
            }
            Operation::Shift { base, bytes } => {
                let (from, into) = (self.operand(at, *base), self.result(at, statement, 0));
                let bytes = if let Value::Number(bytes) = bytes { Some(*bytes) } else { None };
                self.add_use(from, Use::Shift(bytes, into));
            }
            Operation::Side { base, side } => {
                let (from, into) = (self.operand(at, *base), self.result(at, statement, 0));
                self.add_use(from, Use::Side(*side, into));
            }
            Operation::Narrow { value, ty } => {
                let (from, into) = (self.operand(at, *value), self.result(at, statement, 0));
                self.copy(from, into, Some(*ty));
            }
            Operation::Move(value) => {
                let (from, into) = (self.operand(at, *value), self.result(at, statement, 0));
                self.copy(from, into, None);
            }
            Operation::Compute { operator, left, right } if !operator.compares() => {
                self.mixed(at, statement, &[*left, *right]);
            }
            Operation::Any(values) => self.mixed(at, statement, values),
            Operation::Caught => self.caught(at, statement),
            _ => self.effect(at, statement),
        }
    }

    /// A value that is computed of others may lead to any byte of what they lead to.
    fn mixed(&mut self, at: StatementAt, statement: &Statement, values: &[Value]) {
        let into = self.result(at, statement, 0);
        for &value in values {
            let from = self.operand(at, value);
            self.add_use(from, Use::Shift(None, into));
        }
    }

    /// What a handler catches is of a type that it names.
    fn caught(&mut self, at: StatementAt, statement: &Statement) {
        let into = self.result(at, statement, 0);
        let blocks = &self.module.procedures[at.0].blocks;
        let handlers = blocks.iter().flat_map(|block| &block.handlers);
        let types: Vec<Option<TypeId>> =
            handlers.filter(|one| one.target == at.1.block).map(|one| one.catches).collect();
        for ty in types {
            self.copy(self.thrown, into, ty);
            let kind = Kind::single(ty.map_or(Element::Word(0), Element::Inline));
            self.make(Site::Outside(at.0, at.1), kind, into);
        }
    }

    fn effect(&mut self, at: StatementAt, statement: &Statement) {
        match &statement.operation {
            Operation::Load(access) => self.load(at, statement, *access),
            Operation::Store { access, value } => self.store(at, *access, *value),
            Operation::Update { access, operator, value } => {
                self.load(at, statement, *access);
                if matches!(operator, UpdateOperator::Swap | UpdateOperator::Any) {
                    self.store(at, *access, *value);
                }
            }
            Operation::Exchange { access, new, .. } => {
                self.load(at, statement, *access);
                self.store(at, *access, *new);
            }
            Operation::Copy { to, from, kind } => self.copied(at, (*to, *from), kind),
            Operation::Call(call) => self.called_by(at, statement, CallKind::Call, call),
            Operation::Start(call) => {
                let into = self.result(at, statement, 0);
                let kind = Kind::single(Element::Word(0));
                self.make(Site::Thread(at.0, at.1), kind, into);
                let of_thread = Statement::new(Vec::new(), Operation::Caught);
                self.called_by(at, &of_thread, CallKind::Start, call);
            }
            Operation::Once { procedure, arguments, .. } => {
                let callee = Callee::Procedure(*procedure);
                let call = Call { callee, arguments: arguments.clone() };
                self.called_by(at, statement, CallKind::Once, &call);
            }
            _ => {}
        }
    }

    fn load(&mut self, at: StatementAt, statement: &Statement, access: MemoryAccess) {
        let (from, into) = (self.operand(at, access.address), self.result(at, statement, 0));
        self.add_use(from, Use::Load(into));
    }

    fn store(&mut self, at: StatementAt, access: MemoryAccess, value: Value) {
        if matches!(value, Value::Number(_) | Value::Null | Value::Unknown) {
            return;
        }
        let (into, from) = (self.operand(at, access.address), self.operand(at, value));
        self.add_use(into, Use::Store(from));
    }

    /// Each part of what is copied has a set of its own.
    fn copied(&mut self, at: StatementAt, (to, from): (Value, Value), kind: &Kind) {
        let mut parts: Vec<Vec<FieldId>> = match kind.element {
            Element::Inline(ty) => {
                self.layout.leaves(ty).iter().map(|leaf| leaf.path.clone()).collect()
            }
            Element::Word(_) | Element::Reference(_) => Vec::new(),
        };
        if parts.is_empty() {
            parts.push(Vec::new());
        }
        let parts = parts.into_iter().map(|path| (path, self.push())).collect();
        self.moved.insert(at, parts);
        let (to, from) = (self.operand(at, to), self.operand(at, from));
        self.add_use(from, Use::CopyFrom(at.0, at.1));
        self.add_use(to, Use::CopyTo(at.0, at.1));
    }

    /// An element of an array that an `elem` names.
    pub(crate) fn element(
        &mut self,
        (procedure, point): StatementAt,
        base: PointerId,
    ) -> PointerId {
        let block = &self.module.procedures[procedure].blocks[point.block];
        let statement = &block.statements[point.index as usize].operation;
        let Operation::Element { index, kind, .. } = statement else { return base };
        let index = match index {
            Value::Number(number) => Index::Constant(*number),
            _ => Index::Any,
        };
        let objects = &mut self.found.objects;
        objects.element(self.module, &self.layout, (base, index), kind)
    }

    /// What a closure has captured becomes the first parameters of its procedure.
    fn captures(&mut self, at: StatementAt, procedure: ProcedureId, captures: &[Value]) {
        if self.module.procedures[procedure].blocks.is_empty() {
            for &value in captures {
                let from = self.operand(at, value);
                self.copy(from, self.pool(), None);
            }
            return;
        }
        self.reach(procedure);
        for (number, &value) in captures.iter().enumerate() {
            let (from, into) = (self.operand(at, value), self.parameter(procedure, number));
            self.copy(from, into, None);
        }
    }

    fn called_by(&mut self, at: StatementAt, statement: &Statement, kind: CallKind, call: &Call) {
        let arguments = call.arguments.iter().map(|&value| self.operand(at, value)).collect();
        let results =
            (0..statement.results.len()).map(|number| self.result(at, statement, number)).collect();
        self.add_call(at, kind, call.callee.clone(), arguments, results);
    }
}

/// What an object of this shape holds; how many elements it has is not known.
fn kind_of(shape: &Shape) -> Kind {
    Kind { element: shape.element, counts: vec![0; shape.counts.len()] }
}
