//! # Idea
//! The fix of a finding as a change of the text, and a new name for something, as edits that an editor can
//! make.

use crate::document::OpenDocument;
use crate::job::FindingInText;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Diagnostic, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, Range, TextDocumentEdit, TextEdit, WorkspaceEdit,
};
use selvedge_base::Span;
use selvedge_report::quotes::statement;

/// The fixes of the findings that touch a range, with one of their places or with one of the fix.
pub fn fixes(
    document: &OpenDocument,
    findings: &[(Diagnostic, FindingInText)],
    range: Range,
    versioned: bool,
) -> Vec<CodeActionOrCommand> {
    let mut actions = Vec::new();
    for (diagnostic, FindingInText { finding, edits }) in findings {
        let (Some(fix), Some(edits)) = (&finding.fix, edits) else { continue };
        let related = diagnostic.related_information.iter().flatten();
        let places = related.map(|one| one.location.range).chain([diagnostic.range]);
        let changed = fix.places.iter().filter_map(|&place| statement(document.text(), place));
        let changed = changed.map(|span| document.lines.range(document.text(), span));
        if !places.chain(changed).any(|place| touch(place, range)) {
            continue;
        }
        actions.push(CodeActionOrCommand::CodeAction(CodeAction {
            title: fix.text.trim_end_matches('.').to_owned(),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![diagnostic.clone()]),
            edit: Some(workspace_edit(document, edits, versioned)),
            is_preferred: Some(true),
            ..CodeAction::default()
        }));
    }
    actions
}

fn touch(one: Range, other: Range) -> bool {
    one.start <= other.end && other.start <= one.end
}

/// Changes of this version of a text, or of whatever it is then where an editor knows no versions.
pub fn workspace_edit(
    document: &OpenDocument,
    changes: &[(Span, String)],
    versioned: bool,
) -> WorkspaceEdit {
    let edits = changes.iter().map(|(span, new)| TextEdit {
        range: document.lines.range(document.text(), *span),
        new_text: new.clone(),
    });
    if !versioned {
        #[expect(clippy::mutable_key_type, reason = "the protocol's type")]
        let changes = [(document.uri.clone(), edits.collect())].into_iter().collect();
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let text_document = OptionalVersionedTextDocumentIdentifier {
        uri: document.uri.clone(),
        version: Some(document.version),
    };
    let edit = TextDocumentEdit { text_document, edits: edits.map(OneOf::Left).collect() };
    let document_changes = Some(DocumentChanges::Edits(vec![edit]));
    WorkspaceEdit { document_changes, ..WorkspaceEdit::default() }
}
