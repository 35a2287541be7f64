//! Every file of `corpus/bad-bp` with the complaints about it, as data: code, place, message,
//! labels, advice.

mod common;

use common::check;
use selvedge_base::Diagnostic;
use selvedge_front_bool::{Dialect, Options, parse};
use selvedge_testkit::complaints::compact;

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
