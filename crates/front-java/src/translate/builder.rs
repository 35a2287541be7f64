//! Registers, statements and blocks of one procedure.

use super::Translator;
use crate::class::At;
use crate::world::ClassId;
use selvedge_base::{Id, Place};
use selvedge_code::flow::graph::BlockGraph;
use selvedge_code::flow::liveness::live_at_entry;
use selvedge_code::model::{Block, BlockId, Handler, Procedure, RegisterId};
use selvedge_code::operands::each_target_mut;
use selvedge_code::place::{InlinedPlace, PlaceId};
use selvedge_code::registers::{FreshNames, renumber};
use selvedge_code::statement::{End, Jump, Operation, Provenance, Statement, Value};

/// A procedure that is being made.
pub(super) struct Builder<'t, 'a> {
    pub translator: &'t mut Translator<'a>,
    /// The class whose code it is.
    pub class: ClassId,
    pub procedure: Procedure,
    /// The statements of the block that is being made.
    pub statements: Vec<Statement>,
    origin: Option<u32>,
    place: Option<PlaceId>,
}

impl<'t, 'a> Builder<'t, 'a> {
    pub(super) fn new(
        translator: &'t mut Translator<'a>,
        class: ClassId,
        procedure: Procedure,
    ) -> Self {
        let statements = Vec::new();
        Self { translator, class, procedure, statements, origin: None, place: None }
    }

    /// What follows comes from this instruction.
    pub(super) fn stand_at(&mut self, at: At, line: Option<u32>) {
        self.origin = u32::try_from(at.index()).ok();
        self.place = line.map(|line| {
            let file = self.translator.file(self.class);
            let place =
                InlinedPlace { place: Place::in_line(line).in_file(file), inlined_at: None };
            let Translator { places, made, .. } = &mut *self.translator;
            places.place(&mut made.module.places, place)
        });
    }

    /// What follows comes from where other statements come from.
    pub(super) fn stand_like(&mut self, other: &Provenance) {
        (self.origin, self.place) = (other.origin, other.place);
    }

    pub(super) fn provenance(&self) -> Provenance {
        Provenance { origin: self.origin, place: self.place, note: None }
    }

    pub(super) fn register(&mut self, name: String) -> RegisterId {
        self.procedure.registers.push(name)
    }

    /// A statement without a result.
    pub(super) fn run(&mut self, operation: Operation, may_fail: bool) {
        self.push(Vec::new(), operation, may_fail);
    }

    /// A statement whose result gets a new register; its name is a letter and the origin.
    pub(super) fn value(&mut self, letter: char, operation: Operation, may_fail: bool) -> Value {
        let name = format!("{letter}{}", self.origin.unwrap_or_default());
        let result = self.register(name);
        self.push(vec![result], operation, may_fail);
        Value::Register(result)
    }

    pub(super) fn assign(&mut self, register: RegisterId, value: Value) {
        self.push(vec![register], Operation::Move(value), false);
    }

    pub(super) fn push(&mut self, results: Vec<RegisterId>, operation: Operation, may_fail: bool) {
        let provenance = self.provenance();
        self.statements.push(Statement { results, operation, may_fail, provenance });
    }

    /// Whether one of the statements may fail.
    pub(super) fn may_fail(&self) -> bool {
        self.statements.iter().any(|one| one.may_fail)
    }

    /// Puts the statements into a block.
    pub(super) fn block(&mut self, name: String, handlers: Vec<Handler>, jump: Jump) -> Block {
        let statements = std::mem::take(&mut self.statements);
        let end = End { jump, provenance: self.provenance() };
        Block { name, handlers, statements, end }
    }

    /// The procedure with tidy registers that have distinct names; what may be read before it is
    /// assigned is unknown from the beginning.
    pub(super) fn finish(mut self) -> Procedure {
        let graph = BlockGraph::new(&self.procedure);
        let parameters = self.procedure.parameters.len();
        let undefined = live_at_entry(&self.procedure, &graph);
        let unknown: Vec<Statement> = undefined
            .into_iter()
            .filter(|register| register.index() >= parameters)
            .map(|register| Statement::new(vec![register], Operation::Move(Value::Unknown)))
            .collect();
        if !unknown.is_empty() {
            self.enter_by(unknown);
        }
        renumber(&mut self.procedure);
        let mut names = FreshNames::beside([]);
        for name in &mut self.procedure.registers {
            *name = names.name(name);
        }
        self.procedure
    }

    /// Puts statements before the first block, which may be the head of a loop.
    fn enter_by(&mut self, statements: Vec<Statement>) {
        let blocks = &mut self.procedure.blocks;
        let first = BlockId::from_index(0);
        let last = BlockId::from_index(blocks.len());
        let moved = std::mem::replace(
            &mut blocks[first],
            Block {
                name: "entry".to_owned(),
                handlers: Vec::new(),
                statements,
                end: End::new(Jump::Goto(last)),
            },
        );
        blocks.push(moved);
        for block in &mut *blocks {
            let is_entry = block.name == "entry";
            if is_entry {
                continue;
            }
            each_target_mut(&mut block.end.jump, |target| {
                if *target == first {
                    *target = last;
                }
            });
            for handler in &mut block.handlers {
                if handler.target == first {
                    handler.target = last;
                }
            }
        }
    }
}
