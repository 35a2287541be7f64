//! # Idea
//! The fix of a finding, the repair of a mistake and a new name for something, as edits that an editor can
//! make.

use crate::document::OpenDocument;
use crate::job::FindingInText;
use crate::report::mistake;
use crate::settings::EditorSettings;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Diagnostic, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, Range, TextDocumentEdit, TextEdit, WorkspaceEdit,
};
use selvedge_base::{Replacement, Span};
use selvedge_report::quotes::statement;
use selvedge_syntax::tokens::quote;

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
        let title = fix.text.trim_end_matches('.').to_owned();
        let edit = workspace_edit(document, edits, versioned);
        actions.push(quick_fix(title, diagnostic.clone(), edit));
    }
    actions
}

/// The repairs of the mistakes that touch a range, with their place or with that of the repair.
pub fn repairs(
    document: &OpenDocument,
    settings: &EditorSettings,
    range: Range,
    versioned: bool,
) -> Vec<CodeActionOrCommand> {
    let mut actions = Vec::new();
    for complaint in &document.loaded().complaints {
        let Some(Replacement { span, text }) = &complaint.replacement else { continue };
        let changed = document.lines.range(document.text(), *span);
        let diagnostic = mistake(&document.into(), complaint, settings);
        if !touch(diagnostic.range, range) && !touch(changed, range) {
            continue;
        }
        let old = &document.text()[span.range()];
        let title = match (old.is_empty(), text.is_empty()) {
            (true, _) => format!("Insert {}", quote(text)),
            (false, true) => format!("Remove {}", quote(old)),
            (false, false) => format!("Replace {} with {}", quote(old), quote(text)),
        };
        let edit = workspace_edit(document, &[(*span, text.clone())], versioned);
        actions.push(quick_fix(title, diagnostic, edit));
    }
    actions
}

fn quick_fix(title: String, diagnostic: Diagnostic, edit: WorkspaceEdit) -> CodeActionOrCommand {
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic]),
        edit: Some(edit),
        is_preferred: Some(true),
        ..CodeAction::default()
    })
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
