//! Every file of `corpus/bad-property` and `corpus/bad-model` with the complaints about it, as data.

use selvedge_base::Diagnostic;
use selvedge_program::Program;
use selvedge_testkit::complaints::compact;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names and texts of the files of a folder, in order.
fn files(folder: &str) -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> = fs::read_dir(root().join("corpus").join(folder))
        .expect("the folder of the bad files")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let name = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
    let text = |path: &Path| fs::read_to_string(path).expect("a bad file is still a text");
    files.iter().map(|path| (name(path), text(path))).collect()
}

fn stack() -> Program {
    let text = fs::read_to_string(root().join("examples/stack.eml")).expect("the example");
    selvedge_front_eml::parse(&text).program.expect("no errors")
}

#[test]
fn bad_properties_are_refused_with_exact_complaints() {
    let program = stack();
    for (name, text) in files("bad-property") {
        let (automata, diagnostics) = selvedge_front_property::parse(&text, &program);
        let shown = compact(&text, &diagnostics);
        assert!(automata.is_empty() && !diagnostics.is_empty(), "{name} is not bad at all");
        let refused = diagnostics.iter().any(Diagnostic::is_error);
        assert_eq!(refused, !name.starts_with("warning-"), "{name}\n{shown}");
        insta::assert_snapshot!(format!("property-{name}"), shown);
    }
}

#[test]
fn bad_models_are_refused_with_exact_complaints() {
    for (name, text) in files("bad-model") {
        let (program, diagnostics) = selvedge_program::text::parse(&text);
        let shown = compact(&text, &diagnostics);
        assert!(program.is_none(), "{name} is not bad at all");
        insta::assert_snapshot!(format!("model-{name}"), shown);
    }
}
