//! # Idea
//! The texts of the files that a program in Java was made of, where they are found: below the folders that
//! `--source` names, or else below those that lie around what was read, as builds lay them out. Only files that
//! findings name are read.

use crate::input::read_text;
use selvedge_base::{Budget, FileId, Id as _, Place};
use selvedge_findings::CheckedFile;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where sources lie in the folder of a project.
const USUAL: [&str; 4] = ["src/main/java", "src/test/java", "src", ""];
/// How far above what was read the folder of the project may be.
const ABOVE: usize = 8;

/// Adds the texts that the findings of a file are about.
pub fn add(file: &mut CheckedFile, given: &[PathBuf], budget: &Budget) {
    if file.program.files.is_empty() || file.claims.is_empty() {
        return;
    }
    let folders = if given.is_empty() { usual(Path::new(&file.file)) } else { given.to_vec() };
    for id in named(file) {
        let Some(other) = file.program.file(id) else { continue };
        // Names come from class files: they must not lead out of the folder.
        let inside = Path::new(&other.name);
        let plain = inside.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !plain {
            continue;
        }
        let found = folders.iter().map(|folder| folder.join(inside)).find(|path| path.is_file());
        if let Some(Ok(text)) = found.map(|path| read_text(&path, budget)) {
            file.sources.insert(id, text.text);
        }
    }
}

/// The files that findings lie in.
fn named(file: &CheckedFile) -> BTreeSet<FileId> {
    let all = file.findings.iter();
    let places = all.flat_map(|finding| {
        let steps = finding.trace.steps.iter().chain(&finding.trace.next);
        steps.map(|step| step.place).chain(finding.places.iter().copied())
    });
    let own: BTreeSet<FileId> = places.map(|place: Place| place.file).collect();
    own.into_iter().filter(|id| id.index() != FileId::READ.index()).collect()
}

/// The folders in which sources usually lie, seen from what was read.
fn usual(read: &Path) -> Vec<PathBuf> {
    let absolute = std::path::absolute(read).unwrap_or_else(|_| read.to_owned());
    let above = absolute.ancestors().take(ABOVE);
    above.flat_map(|folder| USUAL.iter().map(move |inside| folder.join(inside))).collect()
}
