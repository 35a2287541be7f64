//! # Idea
//! The fixes of findings as changes of the text, where the language has a statement for them.

use crate::language::Language;
use crate::load::Text;
use selvedge_base::LineIndex;
use selvedge_findings::{Edit, Finding, Fix, Hold};
use selvedge_front_eml::edit::hold;
use selvedge_program::Program;

/// Adds to each fix the change of `text` that it is, if it is one.
pub(crate) fn add_edits(findings: &mut [Finding], text: &Text, program: &Program) {
    if Language::of(&text.name, &text.text) != Language::Eml {
        return;
    }
    for fix in findings.iter_mut().filter_map(|finding| finding.fix.as_mut()) {
        fix.edits = edits(fix, text, program).unwrap_or_default();
    }
}

fn edits(fix: &Fix, text: &Text, program: &Program) -> Option<Vec<Edit>> {
    let lock = match fix.hold? {
        Hold::Lock(lock) => Some(program.locks[lock].name.as_str()),
        Hold::New => None,
    };
    let insertions = hold(&text.text, lock, &fix.places)?;
    let lines = LineIndex::new(&text.text);
    let edit = |(at, insert)| Edit { place: lines.place(at), insert };
    Some(insertions.into_iter().map(edit).collect())
}
