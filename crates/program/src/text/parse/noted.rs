//! # Idea
//! Where the names of a text stand and what they mean, noted while it is read, for editors. Each name has
//! one declaration, so the bytes of the declaration say which one is meant, whatever becomes of its number.

use super::words::{Reference, Table};
use selvedge_base::Span;
use selvedge_syntax::symbols::{NameIndex, NameKind};
use std::collections::HashMap;

/// What was noted; nothing unless somebody asks for it.
#[derive(Default)]
pub(super) struct Noted {
    /// Whether somebody does.
    wanted: bool,
    declared: Vec<Declared>,
    /// Names, each with the declaration that it means.
    uses: Vec<(Span, Span)>,
    /// The bytes of the edges, in their order.
    pub(super) edges: Vec<Span>,
    /// The thread and the procedure that are being read.
    pub(super) thread: Option<Span>,
    pub(super) procedure: Option<Span>,
}

struct Declared {
    name: String,
    kind: NameKind,
    span: Span,
    extent: Span,
    within: Option<Span>,
}

impl Noted {
    /// Nothing yet, for somebody who asks.
    pub(super) fn wanted() -> Self {
        Self { wanted: true, ..Self::default() }
    }

    /// A declaration, within the procedure or the thread that is being read.
    pub(super) fn declare(&mut self, kind: NameKind, name: &Reference) {
        let within = match kind {
            NameKind::Parameter | NameKind::Local => self.procedure,
            NameKind::Function => self.thread,
            _ => None,
        };
        self.declare_within(kind, name, within);
    }

    /// A declaration within another one.
    pub(super) fn declare_within(
        &mut self,
        kind: NameKind,
        name: &Reference,
        within: Option<Span>,
    ) {
        if self.wanted {
            let (span, name) = (name.span, name.name.clone());
            self.declared.push(Declared { name, kind, span, extent: span, within });
        }
    }

    /// How far the declaration with this name goes.
    pub(super) fn extend(&mut self, declaration: Span, extent: Span) {
        let found = self.declared.iter_mut().rev().find(|one| one.span == declaration);
        if let Some(found) = found {
            found.extent = found.extent.to(extent);
        }
    }

    /// A name, and the declaration that it means.
    pub(super) fn mention(&mut self, name: Span, declaration: Span) {
        if self.wanted {
            self.uses.push((name, declaration));
        }
    }

    /// A name that is found in a table.
    pub(super) fn mention_in(&mut self, name: Span, table: &Table, at: usize) {
        if self.wanted {
            self.uses.extend(table.declared.get(at).map(|(_, declaration)| (name, *declaration)));
        }
    }

    /// An edge, by its bytes.
    pub(super) fn edge(&mut self, span: Span) {
        if self.wanted {
            self.edges.push(span);
        }
    }

    /// What was noted, for whoever looks for names.
    pub(super) fn index(self) -> NameIndex {
        let mut index = NameIndex::default();
        let mut ids = HashMap::new();
        for Declared { name, kind, span, extent, within } in self.declared {
            let within = within.and_then(|within| ids.get(&within).copied());
            let id = index.declare(&name, kind, span, within);
            index.extend(id, extent);
            ids.entry(span).or_insert(id);
        }
        for (span, declaration) in self.uses {
            if let Some(&id) = ids.get(&declaration) {
                index.mention(span, id);
            }
        }
        index.finish()
    }
}
