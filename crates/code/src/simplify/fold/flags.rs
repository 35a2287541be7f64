//! # Idea
//! A *flag* is a register whose assignments are at most four constants, null and addresses of objects,
//! results of `try` and `timed`, constant results of procedures, copies of flags, and comparisons and
//! logic of flags. It is tracked if it decides between ways that differ in what concerns locks and
//! threads, or in a call of a procedure that contains such a statement.
//!
//! # Source
//! The design, section 5.
//!
//! # Invariants
//! 1. No parameter is a flag.

use super::Known;
use crate::flow::dominators::Dominators;
use crate::flow::graph::BlockGraph;
use crate::model::{BlockId, Module, Procedure, ProcedureId, RegisterId};
use crate::operands::{registers_read, registers_read_by_jump};
use crate::statement::{Callee, Jump, Operation, Statement, Value};
use crate::words::Operator;
use selvedge_base::{Id as _, IdVec};
use std::collections::{BTreeMap, BTreeSet};

/// How many numbers a flag is assigned at most.
const CONSTANTS: usize = 4;

/// How many blocks are searched for what concerns locks; in more of them there is something.
const REGION: usize = 1000;

/// The constant results of procedures.
pub type Constants = IdVec<ProcedureId, Vec<Option<Known>>>;

/// The results that a procedure gives whatever happens.
pub fn constant_results(module: &Module) -> Constants {
    let of = |procedure: &Procedure| {
        let mut results: Option<Vec<Option<Known>>> = None;
        for block in &procedure.blocks {
            let Jump::Return(values) = &block.end.jump else { continue };
            let own: Vec<Option<Known>> = values
                .iter()
                .map(|value| match value {
                    Value::Number(number) => Some(Known::Number(*number)),
                    Value::Null => Some(Known::Null),
                    _ => None,
                })
                .collect();
            match &mut results {
                None => results = Some(own),
                Some(all) => {
                    for (known, own) in all.iter_mut().zip(own) {
                        *known = known.filter(|known| Some(*known) == own);
                    }
                }
            }
        }
        results.unwrap_or_default()
    };
    module.procedures.iter().map(of).collect()
}

/// The flags of a procedure.
pub struct Flags<'a> {
    /// The flags that decide about locks and threads.
    pub tracked: BTreeSet<RegisterId>,
    /// The numbers that a flag may be, if it is nothing else.
    numbers: BTreeMap<RegisterId, BTreeSet<i64>>,
    /// The flags that are null or addresses of objects.
    addresses: BTreeSet<RegisterId>,
    constants: &'a Constants,
}

impl<'a> Flags<'a> {
    /// The flags of a procedure.
    pub fn find(
        module: &Module,
        procedure: &Procedure,
        graph: &BlockGraph,
        constants: &'a Constants,
    ) -> Self {
        let mut flags = Self {
            tracked: BTreeSet::new(),
            numbers: BTreeMap::new(),
            addresses: BTreeSet::new(),
            constants,
        };
        let assignments = assignments(procedure, graph);
        let all = flags.candidates(procedure, &assignments);
        flags.values(&all, &assignments);
        let mut open: Vec<RegisterId> = Vec::new();
        let relevant = Relevance::new(module, procedure, graph);
        for &block in &graph.order {
            let jump = &procedure.blocks[block].end.jump;
            let read = registers_read_by_jump(jump);
            let decides = matches!(jump, Jump::If { .. } | Jump::Switch { .. })
                && read.iter().any(|register| all.contains(register));
            if decides && relevant.differ(graph, block) {
                open.extend(read.into_iter().filter(|register| all.contains(register)));
            }
        }
        while let Some(flag) = open.pop() {
            if flags.tracked.insert(flag) {
                let statements = assignments.get(&flag).into_iter().flatten();
                let read = statements.flat_map(|one| match one.operation {
                    Operation::Move(_) | Operation::Compute { .. } => {
                        registers_read(&one.operation)
                    }
                    _ => Vec::new(),
                });
                open.extend(read.filter(|register| all.contains(register)));
            }
        }
        flags
    }

    /// The value of a result that a called procedure always gives.
    pub fn constant_result(&self, statement: &Statement, result: RegisterId) -> Option<Known> {
        let Operation::Call(call) = &statement.operation else { return None };
        let Callee::Procedure(target) = call.callee else { return None };
        let at = statement.results.iter().position(|&other| other == result)?;
        *self.constants[target].get(at)?
    }

    /// The only number that a flag can be besides another one.
    pub fn only_other(&self, flag: RegisterId, number: i64) -> Option<i64> {
        let numbers = self.numbers.get(&flag)?;
        let mut others = numbers.iter().filter(|&&other| other != number);
        others.next().copied().filter(|_| others.next().is_none())
    }

    /// Whether a flag is null or the address of an object.
    pub fn is_address(&self, flag: RegisterId) -> bool {
        self.addresses.contains(&flag)
    }

    /// All registers that are flags: those that have another assignment are removed, and then what is
    /// made of them.
    fn candidates(
        &self,
        procedure: &Procedure,
        assignments: &BTreeMap<RegisterId, Vec<&Statement>>,
    ) -> BTreeSet<RegisterId> {
        let parameters = procedure.parameters.len();
        let mut all: BTreeSet<RegisterId> =
            assignments.keys().copied().filter(|flag| flag.index() >= parameters).collect();
        let mut readers: BTreeMap<RegisterId, Vec<RegisterId>> = BTreeMap::new();
        let mut removed: Vec<RegisterId> = Vec::new();
        for (&flag, statements) in assignments {
            let mut numbers = BTreeSet::new();
            for statement in statements {
                match &statement.operation {
                    Operation::Move(Value::Number(number)) => {
                        numbers.insert(*number);
                    }
                    Operation::Compute { operator, .. }
                        if !matches!(operator, Operator::Add | Operator::Subtract) => {}
                    Operation::Move(_)
                    | Operation::Make(_)
                    | Operation::Local(_)
                    | Operation::Closure { .. }
                    | Operation::TryLock(_)
                    | Operation::TimedLock(_) => {}
                    _ if self.constant_result(statement, flag).is_some() => {}
                    _ => removed.push(flag),
                }
                for read in registers_read(&statement.operation) {
                    if matches!(statement.operation, Operation::Move(_) | Operation::Compute { .. })
                    {
                        readers.entry(read).or_default().push(flag);
                        removed.extend((!all.contains(&read)).then_some(flag));
                    }
                }
            }
            removed.extend((numbers.len() > CONSTANTS).then_some(flag));
        }
        while let Some(flag) = removed.pop() {
            if all.remove(&flag) {
                removed.extend(readers.get(&flag).into_iter().flatten());
            }
        }
        all
    }

    /// What flags may be whose assignments say it themselves.
    fn values(
        &mut self,
        all: &BTreeSet<RegisterId>,
        assignments: &BTreeMap<RegisterId, Vec<&Statement>>,
    ) {
        for &flag in all {
            let statements = assignments.get(&flag).into_iter().flatten();
            let mut numbers = Some(BTreeSet::new());
            let mut is_address = true;
            for statement in statements {
                let own: Option<&[i64]> = match &statement.operation {
                    Operation::Move(Value::Number(number)) => Some(std::slice::from_ref(number)),
                    Operation::TryLock(_) | Operation::TimedLock(_) => Some(&[0, 1]),
                    Operation::Compute { operator, .. } if operator.compares() => Some(&[0, 1]),
                    _ => None,
                };
                is_address &= matches!(
                    statement.operation,
                    Operation::Move(Value::Null | Value::Global(_) | Value::Procedure(_))
                        | Operation::Make(_)
                        | Operation::Local(_)
                        | Operation::Closure { .. }
                );
                numbers = match (numbers, own) {
                    (Some(mut numbers), Some(own)) => {
                        numbers.extend(own);
                        Some(numbers)
                    }
                    _ => None,
                };
            }
            self.numbers.extend(numbers.map(|numbers| (flag, numbers)));
            self.addresses.extend(is_address.then_some(flag));
        }
    }
}

/// The statements that assign each register, where somebody comes.
fn assignments<'a>(
    procedure: &'a Procedure,
    graph: &BlockGraph,
) -> BTreeMap<RegisterId, Vec<&'a Statement>> {
    let mut found: BTreeMap<RegisterId, Vec<&Statement>> = BTreeMap::new();
    for &block in &graph.order {
        for statement in &procedure.blocks[block].statements {
            for &result in &statement.results {
                found.entry(result).or_default().push(statement);
            }
        }
    }
    found
}

/// Which ends decide about locks and threads.
struct Relevance {
    /// The blocks with such a statement, or a call of a procedure that has one.
    blocks: IdVec<BlockId, bool>,
    postdominators: Dominators,
}

impl Relevance {
    fn new(module: &Module, procedure: &Procedure, graph: &BlockGraph) -> Self {
        let procedures = procedures_that_matter(module);
        let matters = |statement: &Statement| match &statement.operation {
            Operation::Call(call) => match call.callee {
                Callee::Procedure(target) => procedures[target],
                Callee::Virtual(_) | Callee::Value(_) => true,
                Callee::Outside(_) => false,
            },
            operation => concerns_threads(operation),
        };
        let blocks = procedure.blocks.iter();
        let blocks = blocks.map(|block| block.statements.iter().any(matters)).collect();
        Self { blocks, postdominators: Dominators::new(&graph.reversed()) }
    }

    /// Whether the ways from the end of a block to where all of them meet differ in what matters.
    fn differ(&self, graph: &BlockGraph, from: BlockId) -> bool {
        let meeting = self.postdominators.immediate[from];
        let mut seen = BTreeSet::new();
        let mut open = graph.successors[from].clone();
        while let Some(block) = open.pop() {
            if Some(block) == meeting || !seen.insert(block) {
                continue;
            }
            if self.blocks[block] || seen.len() > REGION {
                return true;
            }
            open.extend(graph.leads_to(block));
        }
        false
    }
}

fn concerns_threads(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Lock(_)
            | Operation::TryLock(_)
            | Operation::TimedLock(_)
            | Operation::Unlock { .. }
            | Operation::Wait { .. }
            | Operation::Notify { .. }
            | Operation::Start(_)
            | Operation::Join(_)
            | Operation::Detach(_)
            | Operation::Once { .. }
    )
}

/// The procedures that contain what concerns threads, also in what they call.
fn procedures_that_matter(module: &Module) -> IdVec<ProcedureId, bool> {
    let mut matter = IdVec::filled(false, module.procedures.len());
    let mut callers: IdVec<ProcedureId, Vec<ProcedureId>> =
        IdVec::filled(Vec::new(), module.procedures.len());
    let mut open = Vec::new();
    for (id, procedure) in module.procedures.iter_enumerated() {
        let statements = procedure.blocks.iter().flat_map(|block| &block.statements);
        let mut is_own = procedure.locked.is_some();
        for statement in statements {
            is_own |= concerns_threads(&statement.operation);
            if let Operation::Call(call) = &statement.operation {
                match call.callee {
                    Callee::Procedure(target) => callers[target].push(id),
                    Callee::Virtual(_) | Callee::Value(_) => is_own = true,
                    Callee::Outside(_) => {}
                }
            }
        }
        if is_own {
            matter[id] = true;
            open.push(id);
        }
    }
    while let Some(id) = open.pop() {
        for &caller in &callers[id] {
            if !std::mem::replace(&mut matter[caller], true) {
                open.push(caller);
            }
        }
    }
    matter
}
