//! The files of `corpus/bp` are what the models print.

use selvedge_testkit::models::bluetooth::{BluetoothVersion, bluetooth};
use selvedge_testkit::models::boolean::{self, Dialect};
use selvedge_testkit::models::{buffers, corpus, exclusion, promela};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn the_corpus_is_what_the_models_print() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/bp");
    let mut expected = BTreeSet::new();
    for file in corpus::files() {
        let text = std::fs::read_to_string(folder.join(&file.name)).unwrap_or_default();
        assert!(text == file.text, "{} differs; `cargo xtask corpus` writes it anew", file.name);
        assert!(expected.insert(file.name), "a name is used twice");
    }
    let present: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("a readable folder").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(present, expected);
}

#[test]
fn machines_of_all_sizes_are_sound() {
    // Printing checks that names exist and that nothing is read after it was set.
    for flawed in [false, true] {
        for count in 2..=6 {
            for machine in [
                exclusion::peterson(count, flawed),
                exclusion::bakery(count, 7, flawed),
                exclusion::szymanski(count, flawed),
                exclusion::anderson(count, flawed),
                buffers::msmie(count + 1, count, count, flawed),
            ] {
                let text = boolean::print(&machine, Dialect::Boppo);
                assert_eq!(text.matches("start_thread").count(), machine.processes.len());
                assert!(promela::print(&machine).contains("assert("));
            }
        }
    }
}

#[test]
fn the_versions_of_the_driver_differ() {
    let texts: BTreeSet<String> =
        BluetoothVersion::ALL.iter().map(|&version| bluetooth(version, 2, 1)).collect();
    assert_eq!(texts.len(), 3);
}
