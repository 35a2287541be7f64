//! Every file of `corpus/bad-pds` with the complaints about it, as data.

use selvedge_base::Diagnostic;
use selvedge_front_pds::{Complaint, Input, parse, parse_target};
use selvedge_testkit::complaints::compact;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// What the bad initial states and targets belong to.
const GOOD_PDS: &str = "2\nPDA 1 3\n0 1 -> 1 2\n1 2 -> 0 -\nPDA 1 4\n0 2 -> 1 3\n";
const GOOD_INIT: &str = "0|1,2\n";

/// The names and texts of the files, in order.
fn files() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/bad-pds");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder of the bad files")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let text = |path: &Path| fs::read_to_string(path).expect("a bad file is still a text");
    files.iter().map(|path| (path.clone(), text(path))).collect()
}

#[test]
fn bad_files_are_refused_with_exact_complaints() {
    let files = files();
    assert!(files.len() >= 40);
    for (path, text) in files {
        let part =
            |part: Option<&std::ffi::OsStr>| part.expect("a name").to_string_lossy().into_owned();
        let (name, kind) = (part(path.file_stem()), part(path.extension()));
        let (input, result) = match kind.as_str() {
            "pds" => {
                let init = (name != "missing-init").then_some("0|1");
                let init = if name.starts_with("warning-") { Some("0|1,7") } else { init };
                (Input::Pds, parse(&text, init, None))
            }
            "init" => (Input::Init, parse(GOOD_PDS, Some(&text), None)),
            _ => (Input::Spec, parse(GOOD_PDS, Some(GOOD_INIT), Some(&text))),
        };
        let refused = result.is_err();
        let complaints = match result {
            Ok(parsed) => parsed.warnings,
            Err(complaints) => complaints,
        };
        let own = |complaint: &&Complaint| complaint.input == input;
        let own: Vec<&Diagnostic> =
            complaints.iter().filter(own).map(|complaint| &complaint.diagnostic).collect();
        let shown = compact(&text, own.iter().copied());
        assert!(!own.is_empty() && own.len() == complaints.len(), "{name}.{kind}\n{complaints:?}");
        assert_eq!(refused, !name.starts_with("warning-"), "{name}.{kind}\n{shown}");
        insta::assert_snapshot!(format!("{kind}-{name}"), shown);
    }
}

#[test]
fn bad_targets_are_refused() {
    let program = parse(GOOD_PDS, Some(GOOD_INIT), None).expect("it is good").program;
    let mut shown = String::new();
    for text in ["", "1", "1|2", "1|2,3,1", "9|2,3", "1|4,3", "1|2,1.3", "1|x,-", "1|2,3 4"] {
        let diagnostic = parse_target(&program, text).expect_err("a bad target");
        writeln!(shown, "`{text}`\n{}", compact(text, [&*diagnostic])).expect("strings take text");
    }
    insta::assert_snapshot!("targets", shown);
    for text in ["1|2,3", "0|-,-", " 1 | 2 , - # the end", "0|1,2"] {
        assert!(parse_target(&program, text).is_ok(), "{text}");
    }
}
