//! Every file of `corpus/bad-bp` with the complaints about it, as data: code, place, message,
//! labels, advice.

mod common;

use common::check;
use selvedge_base::{Diagnostic, LineIndex, Severity, SourceLabel};
use selvedge_front_bool::{Dialect, Options, parse};
use std::fmt::Write;

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
    let files = common::files(&["corpus/bad-bp"]);
    assert!(files.len() >= 50);
    for (path, text) in files {
        let file = path.rsplit('/').next().unwrap_or_default();
        let name = file.trim_end_matches(".bp");
        let getafix = text.starts_with("// dialect: getafix");
        let dialect = getafix.then_some(Dialect::Getafix);
        let parsed = parse(&text, &Options { dialect, starts_per_site: None });
        let shown = compact(&text, &parsed.diagnostics);
        let refused = parsed.diagnostics.iter().any(Diagnostic::is_error);
        assert!(!parsed.diagnostics.is_empty(), "{name} is not bad at all");
        assert_eq!(refused, !name.starts_with("warning-"), "{name}\n{shown}");
        assert_eq!(parsed.program.is_none(), refused, "{name}");
        check(&text);
        insta::assert_snapshot!(name, shown);
    }
}
