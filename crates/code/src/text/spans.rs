//! # Idea
//! Where the parts of a module stand in the text that it was read from, so that what is wrong with
//! them can be shown there.

use crate::model::{BlockId, FieldId, GlobalId, MethodId, Point, ProcedureId, TypeId};
use crate::validate::Site;
use selvedge_base::{Id as _, IdVec, Span};

/// The bytes of the parts of a module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spans {
    /// The names of types.
    pub types: IdVec<TypeId, Span>,
    /// The names of fields.
    pub fields: IdVec<FieldId, Span>,
    /// The names of globals.
    pub globals: IdVec<GlobalId, Span>,
    /// The methods, where they are first declared.
    pub methods: IdVec<MethodId, Span>,
    /// The procedures.
    pub procedures: IdVec<ProcedureId, ProcedureSpans>,
}

/// The bytes of the parts of a procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcedureSpans {
    /// Its name.
    pub name: Span,
    /// Its blocks.
    pub blocks: IdVec<BlockId, BlockSpans>,
}

/// The bytes of the parts of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockSpans {
    /// Its label.
    pub label: Span,
    /// Its statements.
    pub statements: Vec<Span>,
    /// Its end.
    pub end: Span,
}

impl Spans {
    /// The bytes of a part, if it is a part of the text.
    pub fn of(&self, site: Site) -> Option<Span> {
        match site {
            Site::Module => None,
            Site::Type(id) => self.types.get(id).copied(),
            Site::Field(id) => self.fields.get(id).copied(),
            Site::Global(id) => self.globals.get(id).copied(),
            Site::Method(id) => self.methods.get(id).copied(),
            Site::Procedure(id) => self.procedures.get(id).map(|procedure| procedure.name),
            Site::Block(id, block) => self.block(id, block).map(|block| block.label),
            Site::Point(id, point) => self.point(id, point),
        }
    }

    fn block(&self, procedure: ProcedureId, block: BlockId) -> Option<&BlockSpans> {
        self.procedures.get(procedure)?.blocks.get(block)
    }

    fn point(&self, procedure: ProcedureId, point: Point) -> Option<Span> {
        let block = self.block(procedure, point.block)?;
        Some(block.statements.get(point.index as usize).copied().unwrap_or(block.end))
    }
}

impl ProcedureSpans {
    /// Of a procedure whose name stands here, without blocks yet.
    pub fn new(name: Span) -> Self {
        Self { name, blocks: IdVec::new() }
    }

    /// The block that is being read.
    pub(super) fn last(&mut self) -> Option<&mut BlockSpans> {
        let last = self.blocks.len().checked_sub(1)?;
        Some(&mut self.blocks[BlockId::from_index(last)])
    }
}
