//! Every file of `corpus/bad` with the complaints about it, as data: code, place, message, labels,
//! advice.

use selvedge_base::{Diagnostic, LineIndex, Severity, SourceLabel};
use std::fmt::Write;
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

/// The diagnostics in a compact form.
fn compact(text: &str, diagnostics: &[Diagnostic]) -> String {
    let index = LineIndex::new(text);
    let label = |label: &SourceLabel| {
        let (start, end) = (index.place(label.span.start), index.place(label.span.end));
        format!("{start}-{end}: {}", label.text)
    };
    let mut shown = String::new();
    for diagnostic in diagnostics {
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut line = |text: String| writeln!(shown, "{text}").expect("strings take text");
        line(format!("{severity}[{}] {}", diagnostic.code, diagnostic.message));
        if let Some(primary) = &diagnostic.primary {
            line(format!("  {}", label(primary)));
        }
        for secondary in &diagnostic.secondary {
            line(format!("  also {}", label(secondary)));
        }
        if let Some(help) = &diagnostic.help {
            line(format!("  help: {help}"));
        }
    }
    shown
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
