//! # Idea
//! Blocks: ids, results, arguments, orderings, sides and kinds of locks, and where `caught` may stand.

use super::{Check, Site};
use crate::model::{BlockId, Point, Procedure, ProcedureId};
use crate::operands::{each_value, each_value_of_jump, targets};
use crate::statement::{
    Call, Callee, End, Jump, LockKind, MemoryAccess, Operation, Provenance, Statement, Value,
};
use crate::words::{LockMode, Ordering, Side, Word as _};
use selvedge_base::{Id as _, IdVec};
use std::collections::HashSet;

impl Check<'_> {
    pub(super) fn block(&mut self, id: ProcedureId, at: BlockId, procedure: &Procedure) {
        let module = self.module;
        let block = &procedure.blocks[at];
        self.site = Site::Block(id, at);
        for handler in &block.handlers {
            self.in_range(handler.target, &procedure.blocks);
            if let Some(ty) = handler.catches {
                self.in_range(ty, &module.types);
            }
        }
        for (index, statement) in block.statements.iter().enumerate() {
            self.site = Site::Point(id, Point::new(at, index));
            self.statement(procedure, statement);
        }
        self.site = Site::Point(id, Point::new(at, block.statements.len()));
        self.end(procedure, &block.end);
    }

    fn provenance(&mut self, provenance: &Provenance) {
        let module = self.module;
        if let Some(place) = provenance.place {
            self.in_range(place, &module.places);
        }
    }

    fn value(&mut self, procedure: &Procedure, value: Value) {
        let module = self.module;
        match value {
            Value::Register(register) => self.in_range(register, &procedure.registers),
            Value::Global(global) => self.in_range(global, &module.globals),
            Value::Procedure(of) => self.in_range(of, &module.procedures),
            Value::Number(_) | Value::Null | Value::Unknown => true,
        };
    }

    fn statement(&mut self, procedure: &Procedure, statement: &Statement) {
        let before = self.breaches.len();
        self.provenance(&statement.provenance);
        for &result in &statement.results {
            self.in_range(result, &procedure.registers);
        }
        let distinct: HashSet<_> = statement.results.iter().collect();
        if distinct.len() < statement.results.len() {
            let message = "a register gets two results of one statement".to_owned();
            self.breach("duplicate-result", message, "give each result its own register");
        }
        let mut values = Vec::new();
        each_value(&statement.operation, |&value| values.push(value));
        for value in values {
            self.value(procedure, value);
        }
        self.ids(&statement.operation);
        if self.breaches.len() == before {
            self.results(statement);
            self.operation(&statement.operation);
        }
    }

    /// The ids that are no values.
    fn ids(&mut self, operation: &Operation) {
        let module = self.module;
        match operation {
            Operation::Make(shape) | Operation::Local(shape) => self.element(shape.element),
            Operation::Element { kind, .. } | Operation::Copy { kind, .. } => self.kind(kind),
            Operation::Field { field, .. } => {
                self.in_range(*field, &module.fields);
            }
            Operation::Narrow { ty, .. } => {
                self.in_range(*ty, &module.types);
            }
            Operation::Closure { procedure, .. } | Operation::Once { procedure, .. } => {
                self.in_range(*procedure, &module.procedures);
            }
            Operation::Call(call) | Operation::Start(call) => match &call.callee {
                Callee::Procedure(procedure) => {
                    self.in_range(*procedure, &module.procedures);
                }
                Callee::Virtual(method) => {
                    self.in_range(*method, &module.methods);
                }
                Callee::Value(_) | Callee::Outside(_) => {}
            },
            _ => {}
        }
    }

    /// The number of registers that a statement assigns.
    fn results(&mut self, statement: &Statement) {
        let found = statement.results.len();
        let (least, most) = match &statement.operation {
            Operation::Call(call) => match self.signature(&call.callee) {
                Some((_, returns)) if found > 0 => (returns, returns),
                _ => (0, usize::MAX),
            },
            Operation::Start(_) => (0, 1),
            Operation::Exchange { .. } => (2, 2),
            Operation::Store { .. }
            | Operation::Copy { .. }
            | Operation::Lock(_)
            | Operation::Unlock { .. }
            | Operation::Wait { .. }
            | Operation::Notify { .. }
            | Operation::Join(_)
            | Operation::Detach(_)
            | Operation::Once { .. }
            | Operation::SetKind { .. } => (0, 0),
            _ => (1, 1),
        };
        if found < least || found > most {
            let count =
                if least == most { least.to_string() } else { format!("{least} or {most}") };
            let results = if count == "1" { "result" } else { "results" };
            let message =
                format!("this gives {count} {results}, and {found} registers are assigned");
            self.breach("wrong-results", message, "write a register for each result before `=`");
        }
    }

    /// The numbers of parameters and results of what is called, if they are known.
    fn signature(&self, callee: &Callee) -> Option<(usize, usize)> {
        let target = match callee {
            Callee::Procedure(procedure) | Callee::Value(Value::Procedure(procedure)) => *procedure,
            Callee::Virtual(method) => self.module.methods[*method].targets.first()?.1,
            Callee::Value(_) | Callee::Outside(_) => return None,
        };
        let target = self.module.procedures.get(target)?;
        Some((target.parameters.len(), target.returns.len()))
    }

    fn operation(&mut self, operation: &Operation) {
        let module = self.module;
        match operation {
            Operation::Call(call) | Operation::Start(call) => self.call(call),
            Operation::Once { procedure, arguments, .. } => {
                self.arguments(module.procedures[*procedure].parameters.len(), arguments.len());
            }
            Operation::Closure { procedure, captures } => {
                let parameters = module.procedures[*procedure].parameters.len();
                if captures.len() > parameters {
                    self.arguments(parameters, captures.len());
                }
            }
            Operation::Narrow { value: Value::Number(_) | Value::Procedure(_), .. } => {
                let message = "`narrow` of a value that is no address".to_owned();
                self.breach("narrow-value", message, "narrow an address, or null");
            }
            Operation::Load(access) => self.ordering(*access, &[Ordering::Release], "load"),
            Operation::Store { access, .. } => {
                self.ordering(*access, &[Ordering::Acquire], "store");
            }
            Operation::Update { access, .. } | Operation::Exchange { access, .. }
                if access.ordering.is_none() =>
            {
                let message = "an atomic update has no ordering".to_owned();
                self.breach("wrong-ordering", message, "write `relaxed` if it orders nothing");
            }
            Operation::Lock(taken) | Operation::TryLock(taken) | Operation::TimedLock(taken) => {
                self.side(taken.side);
            }
            Operation::Unlock { side, .. } => self.side(*side),
            Operation::SetKind { kind: LockKind { mode: LockMode::ByObject, .. }, .. } => {
                let message = "`byobject` is no kind that an object can have".to_owned();
                self.breach("lock-kind", message, "write `plain`, `reentrant` or `checked`");
            }
            _ => {}
        }
    }

    fn ordering(&mut self, access: MemoryAccess, wrong: &[Ordering], what: &str) {
        let both = Ordering::AcquireRelease;
        if let Some(ordering) = access.ordering.filter(|one| *one == both || wrong.contains(one)) {
            let message = format!("a {what} cannot be `{}`", ordering.word());
            let help = "loads are `relaxed`, `acquire` or `seqcst`, stores `relaxed`, `release` or \
                        `seqcst`";
            self.breach("wrong-ordering", message, help);
        }
    }

    fn side(&mut self, side: Option<Side>) {
        if side == Some(Side::Condition) {
            let message = "a condition cannot be locked".to_owned();
            self.breach("lock-side", message, "write `read`, `write` or no side");
        }
    }

    fn call(&mut self, call: &Call) {
        if let Callee::Virtual(_) = call.callee
            && call.arguments.is_empty()
        {
            let message = "a virtual call has no object".to_owned();
            self.breach("wrong-arguments", message, "the object is the first argument");
        } else if let Some((parameters, _)) = self.signature(&call.callee) {
            self.arguments(parameters, call.arguments.len());
        }
    }

    fn arguments(&mut self, parameters: usize, arguments: usize) {
        if parameters != arguments {
            let message = format!("{arguments} arguments for {parameters} parameters");
            self.breach("wrong-arguments", message, "give one argument for each parameter");
        }
    }

    fn end(&mut self, procedure: &Procedure, end: &End) {
        self.provenance(&end.provenance);
        let mut values = Vec::new();
        each_value_of_jump(&end.jump, |&value| values.push(value));
        for value in values {
            self.value(procedure, value);
        }
        for target in targets(&end.jump) {
            self.in_range(target, &procedure.blocks);
        }
        match &end.jump {
            Jump::If { operator, .. } if !operator.compares() => {
                let message = format!("`{}` is no comparison", operator.word());
                self.breach("no-comparison", message, "use eq, ne, lt, le, gt or ge");
            }
            Jump::Switch { cases, .. } => {
                let distinct: HashSet<i64> = cases.iter().map(|&(value, _)| value).collect();
                if distinct.len() < cases.len() {
                    let message = "two cases have one value".to_owned();
                    self.breach("duplicate-case", message, "keep one of them");
                }
            }
            Jump::Return(values) if values.len() != procedure.returns.len() => {
                let (found, wanted) = (values.len(), procedure.returns.len());
                let message = format!("{found} results of a procedure that returns {wanted}");
                self.breach("wrong-results", message, "correct `returns` or this line");
            }
            _ => {}
        }
    }

    /// `caught` begins blocks that only failures come to.
    pub(super) fn caught(&mut self, id: ProcedureId, procedure: &Procedure) {
        let mut handles = IdVec::filled(false, procedure.blocks.len());
        let mut entered = IdVec::filled(false, procedure.blocks.len());
        for block in &procedure.blocks {
            for handler in &block.handlers {
                handles[handler.target] = true;
            }
            for target in targets(&block.end.jump) {
                entered[target] = true;
            }
        }
        for (at, block) in procedure.blocks.iter_enumerated() {
            for (index, statement) in block.statements.iter().enumerate() {
                if statement.operation != Operation::Caught {
                    continue;
                }
                self.site = Site::Point(id, Point::new(at, index));
                if index > 0 || !handles[at] {
                    let message = "`caught` does not begin a handler".to_owned();
                    let help = "move it to the start of a block that a `catch` names";
                    self.breach("caught-outside-handler", message, help);
                } else if entered[at] || at == BlockId::from_index(0) {
                    let message = "a handler with `caught` is entered without a failure".to_owned();
                    let help = "let the handler go to a block that both use";
                    self.breach("caught-without-failure", message, help);
                }
            }
        }
    }
}
