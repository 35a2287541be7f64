//! # Idea
//! What the names of a text mean, for whoever wants to find or to change them: what is declared, and
//! where each name that means it stands. A reader fills it from its tree, also from what it could read
//! of a text with mistakes.
//!
//! # Invariants
//! 1. Occurrences are sorted, do not overlap, and each has its symbol; the declaration of a symbol is
//!    one of its occurrences.
//! 2. A symbol is declared within one that was declared before it.

use selvedge_base::{IdVec, Span, define_id};

define_id!(
    /// Something that a text declares.
    NameId
);

/// What kind of thing a name means.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NameKind {
    /// A lock.
    Lock,
    /// A condition of a lock.
    Condition,
    /// A channel.
    Channel,
    /// A shared location without a value.
    Location,
    /// A variable that threads share.
    Global,
    /// A variable of each copy of a process.
    Variable,
    /// A constant.
    Constant,
    /// A type with named values.
    Enumeration,
    /// A value of such a type.
    Enumerator,
    /// A set of locations that belong together.
    AtomicSet,
    /// A number that is written in several globals.
    Numeral,
    /// A process, or a thread.
    Process,
    /// A function, or a procedure.
    Function,
    /// A parameter of a function.
    Parameter,
    /// A variable of a function.
    Local,
    /// A place in a function that has a name.
    Label,
}

impl NameKind {
    /// What it is, in one or two words.
    pub fn what(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Condition => "condition",
            Self::Channel => "channel",
            Self::Location => "location",
            Self::Global => "shared variable",
            Self::Variable => "process variable",
            Self::Constant => "constant",
            Self::Enumeration => "enumeration",
            Self::Enumerator => "enumerator",
            Self::AtomicSet => "atomic set",
            Self::Numeral => "numeral",
            Self::Process => "process",
            Self::Function => "function",
            Self::Parameter => "parameter",
            Self::Local => "local variable",
            Self::Label => "label",
        }
    }
}

/// Something that a text declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredName {
    /// Its name, without the signs around it if it is quoted.
    pub name: String,
    /// What it is.
    pub kind: NameKind,
    /// Where its name is declared.
    pub span: Span,
    /// All of its declaration, with the body of a function.
    pub extent: Span,
    /// What it is declared in.
    pub within: Option<NameId>,
}

/// A name where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameUse {
    /// Its bytes.
    pub span: Span,
    /// What it means.
    pub symbol: NameId,
}

/// What a text declares and uses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NameIndex {
    /// What is declared, in the order in which it was found.
    pub symbols: IdVec<NameId, DeclaredName>,
    /// Where the names stand.
    pub occurrences: Vec<NameUse>,
}

impl NameIndex {
    /// Notes a declaration that is all of `span` and no more.
    pub fn declare(
        &mut self,
        name: &str,
        kind: NameKind,
        span: Span,
        within: Option<NameId>,
    ) -> NameId {
        let symbol = DeclaredName { name: name.to_owned(), kind, span, extent: span, within };
        let id = self.symbols.push(symbol);
        self.mention(span, id);
        id
    }

    /// Says how far a declaration goes, its name included.
    pub fn extend(&mut self, symbol: NameId, extent: Span) {
        let own = &mut self.symbols[symbol];
        own.extent = own.extent.to(extent);
    }

    /// Notes a name that means something declared.
    pub fn mention(&mut self, span: Span, symbol: NameId) {
        self.occurrences.push(NameUse { span, symbol });
    }

    /// Puts the occurrences in order when all were noted. A name that was seen twice, because a reader
    /// writes one construct as another in which it stands twice, is there once.
    #[must_use]
    pub fn finish(mut self) -> Self {
        self.occurrences.sort_by_key(|one| (one.span, one.symbol));
        self.occurrences.dedup_by_key(|one| one.span);
        self
    }

    /// The name at a byte or just behind it.
    pub fn at(&self, offset: u32) -> Option<NameUse> {
        let next = self.occurrences.partition_point(|one| one.span.start <= offset);
        let last = self.occurrences[..next].last()?;
        (offset <= last.span.end).then_some(*last)
    }

    /// Where the names of a symbol stand, in order.
    pub fn mentions(&self, symbol: NameId) -> impl Iterator<Item = Span> + '_ {
        self.occurrences.iter().filter(move |one| one.symbol == symbol).map(|one| one.span)
    }

    /// What is declared directly within a symbol, or within none, in the order of the text.
    pub fn members(&self, within: Option<NameId>) -> Vec<NameId> {
        let own = self.symbols.iter_enumerated().filter(|(_, symbol)| symbol.within == within);
        let mut own: Vec<NameId> = own.map(|(id, _)| id).collect();
        own.sort_by_key(|&id| self.symbols[id].span);
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_stand() {
        let mut symbols = NameIndex::default();
        let process = symbols.declare("P", NameKind::Process, Span::new(8, 9), None);
        symbols.extend(process, Span::new(0, 40));
        let lock = symbols.declare("l", NameKind::Lock, Span::new(50, 51), None);
        symbols.mention(Span::new(20, 21), lock);
        symbols.mention(Span::new(20, 21), lock);
        let function = symbols.declare("f", NameKind::Function, Span::new(12, 13), Some(process));
        let symbols = symbols.finish();
        assert_eq!(symbols.occurrences.len(), 4);
        let at = |offset| symbols.at(offset).map(|one| one.symbol);
        assert_eq!([at(7), at(8), at(9), at(10)], [None, Some(process), Some(process), None]);
        assert_eq!((at(20), at(21), at(22), at(50)), (Some(lock), Some(lock), None, Some(lock)));
        assert_eq!(
            symbols.mentions(lock).collect::<Vec<_>>(),
            [Span::new(20, 21), Span::new(50, 51)]
        );
        assert_eq!(symbols.members(None), [process, lock]);
        assert_eq!(symbols.members(Some(process)), [function]);
        assert_eq!(symbols.symbols[process].extent, Span::new(0, 40));
        assert_eq!(NameIndex::default().at(0), None);
    }
}
