//! # Idea
//! What a text declares, as a tree; and what a name means, wherever it stands.

use crate::document::OpenDocument;
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentSymbol, DocumentSymbolResponse, Location,
    SymbolInformation, SymbolKind,
};
use selvedge_syntax::symbols::{NameId, NameKind};

/// What a text declares: as a tree, or as a list where an editor cannot show a tree.
pub fn outline(document: &OpenDocument, tree: bool) -> DocumentSymbolResponse {
    if tree {
        return DocumentSymbolResponse::Nested(members(document, None));
    }
    let names = document.names();
    let mut all = Vec::new();
    for (_, symbol) in names.symbols.iter_enumerated().filter(|(_, one)| is_shown(one.kind)) {
        let within = symbol.within.map(|within| names.symbols[within].name.clone());
        #[expect(deprecated, reason = "the protocol's type has a field that nobody may use")]
        all.push(SymbolInformation {
            name: symbol.name.clone(),
            kind: kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: Location::new(
                document.uri.clone(),
                document.lines.range(document.text(), symbol.extent),
            ),
            container_name: within,
        });
    }
    DocumentSymbolResponse::Flat(all)
}

fn members(document: &OpenDocument, within: Option<NameId>) -> Vec<DocumentSymbol> {
    let names = document.names();
    let own = names.members(within).into_iter();
    let own = own.filter(|&id| is_shown(names.symbols[id].kind));
    own.map(|id| {
        let symbol = &names.symbols[id];
        let children = members(document, Some(id));
        #[expect(deprecated, reason = "the protocol's type has a field that nobody may use")]
        DocumentSymbol {
            // An editor refuses a symbol without a name.
            name: if symbol.name.is_empty() { "\"\"".to_owned() } else { symbol.name.clone() },
            detail: Some(symbol.kind.what().to_owned()),
            kind: kind(symbol.kind),
            tags: None,
            deprecated: None,
            range: document.lines.range(document.text(), symbol.extent),
            selection_range: document.lines.range(document.text(), symbol.span),
            children: (!children.is_empty()).then_some(children),
        }
    })
    .collect()
}

/// Whether it belongs in an outline; what is only of interest within a function does not.
fn is_shown(kind: NameKind) -> bool {
    !matches!(kind, NameKind::Parameter | NameKind::Local)
}

fn kind(kind: NameKind) -> SymbolKind {
    match kind {
        NameKind::Lock => SymbolKind::KEY,
        NameKind::Condition | NameKind::Channel => SymbolKind::EVENT,
        NameKind::Location | NameKind::Global | NameKind::Parameter | NameKind::Local => {
            SymbolKind::VARIABLE
        }
        NameKind::Variable => SymbolKind::FIELD,
        NameKind::Constant => SymbolKind::CONSTANT,
        NameKind::Enumeration => SymbolKind::ENUM,
        NameKind::Enumerator => SymbolKind::ENUM_MEMBER,
        NameKind::AtomicSet => SymbolKind::NAMESPACE,
        NameKind::Numeral => SymbolKind::NUMBER,
        NameKind::Process => SymbolKind::CLASS,
        NameKind::Function => SymbolKind::FUNCTION,
        NameKind::Label => SymbolKind::STRING,
    }
}

/// Where the name at a byte is declared.
pub fn definition(document: &OpenDocument, offset: u32) -> Option<Location> {
    let names = document.names();
    let found = names.at(offset)?;
    let span = names.symbols[found.symbol].span;
    Some(Location::new(document.uri.clone(), document.lines.range(document.text(), span)))
}

/// Where what is named at a byte is named, with or without its declaration.
pub fn references(
    document: &OpenDocument,
    offset: u32,
    declaration: bool,
) -> Option<Vec<Location>> {
    let names = document.names();
    let found = names.at(offset)?;
    let declared = names.symbols[found.symbol].span;
    let wanted = names.mentions(found.symbol).filter(|&span| declaration || span != declared);
    let location =
        |span| Location::new(document.uri.clone(), document.lines.range(document.text(), span));
    Some(wanted.map(location).collect())
}

/// The same to be shown in the text.
pub fn highlights(document: &OpenDocument, offset: u32) -> Option<Vec<DocumentHighlight>> {
    let found = references(document, offset, true)?.into_iter();
    let kind = Some(DocumentHighlightKind::TEXT);
    Some(found.map(|one| DocumentHighlight { range: one.range, kind }).collect())
}
