//! # Idea
//! The instances of the models that are files in `corpus/bp`, with what is expected of them. The
//! files are compared with what is printed here, so that a file, its model and its expectation stay
//! together.

use super::bluetooth::{self, bluetooth};
use super::boolean::{self, Dialect};
use super::machine::Machine;
use super::tree::{self, Size, tree};
use super::{buffers, exclusion};

/// A file of the corpus.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name within the folder.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The same model for SPIN, where there is one.
    pub machine: Option<Machine>,
}

const SAFE: &str = "safe";

/// All files, in the order of their names within each family.
pub fn files() -> Vec<File> {
    let mut files = Vec::new();
    {
        use bluetooth::BluetoothVersion::{Correct, Original, Repaired};
        for (version, adders, stoppers, expected) in [
            (Original, 1, 1, "violation rounds=2 contexts=4"),
            (Original, 2, 2, "violation rounds=2 contexts=4"),
            (Repaired, 1, 1, SAFE),
            (Repaired, 2, 1, "violation rounds=3 contexts=6"),
            (Repaired, 1, 2, "violation rounds=2 contexts=5"),
            (Correct, 1, 1, SAFE),
            (Correct, 2, 1, SAFE),
            (Correct, 2, 2, SAFE),
        ] {
            let name = format!("bluetooth-{}-{adders}-{stoppers}", version.name());
            let text = bluetooth(version, adders, stoppers);
            files.push(text_file(&name, expected, &text));
        }
    }
    {
        use tree::TreeVersion::{Early, Locked, Unlocked};
        for (version, inserters, searchers, pointer_bits, key_bits, expected) in [
            (Locked, 1, 1, 2, 2, SAFE),
            (Locked, 2, 1, 2, 2, SAFE),
            (Unlocked, 1, 1, 2, 2, SAFE),
            (Unlocked, 2, 0, 2, 2, "violation rounds=2 contexts=5"),
            (Early, 2, 1, 2, 2, "violation rounds=1 contexts=4"),
            (Unlocked, 2, 1, 2, 2, "violation rounds=2 contexts=5"),
        ] {
            let size = Size { inserters, searchers, pointer_bits, key_bits };
            let cells = (1 << pointer_bits) - 1;
            let name = format!("tree-{}-{inserters}-{searchers}-{cells}", version.name());
            files.push(text_file(&name, expected, &tree(version, size)));
        }
    }
    for (name, machine, expected) in machines() {
        files.push(File {
            text: headed(expected, &boolean::print(&machine, Dialect::Boppo)),
            name: format!("{name}.bp"),
            machine: Some(machine),
        });
    }
    for (name, machine, expected) in [
        ("peterson-2-static", exclusion::peterson(2, false), SAFE),
        ("peterson-2-static-flawed", exclusion::peterson(2, true), "violation rounds=1 contexts=3"),
        ("dekker-static", exclusion::dekker(false), SAFE),
        ("dekker-static-flawed", exclusion::dekker(true), "violation rounds=1 contexts=3"),
    ] {
        files.push(File {
            text: headed(expected, &boolean::print(&machine, Dialect::Getafix)),
            name: format!("{name}.bp"),
            machine: Some(machine),
        });
    }
    files
}

/// The machines of the corpus with their names and what is expected of them.
fn machines() -> Vec<(&'static str, Machine, &'static str)> {
    vec![
        ("peterson-2", exclusion::peterson(2, false), SAFE),
        ("peterson-2-flawed", exclusion::peterson(2, true), "violation rounds=1 contexts=3"),
        ("peterson-3", exclusion::peterson(3, false), SAFE),
        ("peterson-3-flawed", exclusion::peterson(3, true), "violation rounds=2 contexts=4"),
        ("peterson-4-flawed", exclusion::peterson(4, true), "violation rounds=2 contexts=5"),
        ("bakery-2-3", exclusion::bakery(2, 3, false), SAFE),
        ("bakery-2-3-flawed", exclusion::bakery(2, 3, true), "violation rounds=1 contexts=3"),
        ("bakery-4-5-flawed", exclusion::bakery(4, 5, true), "violation rounds=1 contexts=3"),
        ("dekker", exclusion::dekker(false), SAFE),
        ("dekker-flawed", exclusion::dekker(true), "violation rounds=1 contexts=3"),
        ("szymanski-2", exclusion::szymanski(2, false), SAFE),
        ("szymanski-2-flawed", exclusion::szymanski(2, true), "violation rounds=2 contexts=5"),
        ("szymanski-3-flawed", exclusion::szymanski(3, true), "violation rounds=2 contexts=5"),
        ("anderson-2", exclusion::anderson(2, false), SAFE),
        ("anderson-3", exclusion::anderson(3, false), SAFE),
        ("anderson-2-flawed", exclusion::anderson(2, true), "violation rounds=1 contexts=3"),
        ("anderson-6-flawed", exclusion::anderson(6, true), "violation rounds=1 contexts=3"),
        ("msmie-3-1-1", buffers::msmie(3, 1, 1, false), SAFE),
        ("msmie-3-2-1", buffers::msmie(3, 2, 1, false), SAFE),
        ("msmie-3-2-1-flawed", buffers::msmie(3, 2, 1, true), "violation rounds=1 contexts=3"),
    ]
}

fn text_file(name: &str, expected: &str, text: &str) -> File {
    File { name: format!("{name}.bp"), text: headed(expected, text), machine: None }
}

fn headed(expected: &str, text: &str) -> String {
    format!("//! expect: {expected}\n\n{text}")
}
