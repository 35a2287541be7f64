//! Every file of `corpus/bad` with the complaints about it, as data: code, place, message, labels,
//! advice.

use selvedge_base::Diagnostic;
use selvedge_testkit::complaints::compact;
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder of the bad files")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

#[test]
fn bad_files_are_refused_with_exact_complaints() {
    let files = files("bad");
    assert!(files.len() >= 40);
    for path in files {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a bad file is still a text");
        let parsed = selvedge_front_eml::parse(&text);
        let shown = compact(&text, &parsed.diagnostics);
        let refused = parsed.diagnostics.iter().any(Diagnostic::is_error);
        assert!(!parsed.diagnostics.is_empty(), "{name} is not bad at all");
        assert_eq!(refused, !name.starts_with("warning-"), "{name}\n{shown}");
        assert_eq!(parsed.program.is_none(), refused, "{name}");
        insta::assert_snapshot!(name, shown);
    }
}
