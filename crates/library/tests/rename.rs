//! Every name of every example gets another one: the program is the same up to this name, and so is what is
//! found in it.

use selvedge_base::{Budget, Place};
use selvedge_findings::{FindingKind, Tally};
use selvedge_library::check::Fixes;
use selvedge_library::file::Loaded;
use selvedge_library::load::{Reading, Text, Texts, load};
use selvedge_library::{CheckOptions, Language, names};
use selvedge_program::Program;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn read(name: &str, text: &str) -> Option<Program> {
    let texts = Texts::from(Text::new(name, text));
    load(&texts, Reading { dialect: None, starts_per_site: Some(2) }).0.map(|model| model.program)
}

/// The words of a text.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect()
}

/// A name of so many characters that stands nowhere, so that places stay where they are.
fn fresh(length: usize, taken: &BTreeSet<&str>) -> Option<String> {
    let letters = ('a'..='z').chain('A'..='Z').map(|letter| {
        let mut name = String::from(letter);
        while name.len() < length {
            name.push('q');
        }
        name
    });
    // These two are no names in a Boolean program.
    letters.filter(|name| name != "T" && name != "F").find(|name| !taken.contains(name.as_str()))
}

/// A text with one of its words replaced.
fn with_word(text: &str, old: &str, new: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut word = String::new();
    for character in text.chars().chain(['\n']) {
        if character.is_ascii_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        shown.push_str(if word == old { new } else { &word });
        word.clear();
        shown.push(character);
    }
    shown.pop();
    shown
}

/// The printed program, without quotes, which depend on the name.
fn printed(program: &Program) -> String {
    selvedge_program::text::print(program).replace('"', "")
}

/// What is found in a text, without its names: the verdicts, and of each finding its kind, its places and where
/// its run goes; `None` if that takes too long.
type Outcome = (Vec<(FindingKind, Tally)>, Vec<(FindingKind, Vec<Place>, Vec<Place>)>);

fn outcome(name: &str, text: &str) -> Option<Outcome> {
    let options = CheckOptions { fixes: Fixes::Skip, ..CheckOptions::default() };
    let mut loaded = Loaded::new(Text::new(name, text), true);
    loaded.prepare(&options);
    let budget = Budget::with_steps(WORK);
    let answer = loaded.check(&options, None, &budget, &mut |_, _, _| {})?;
    let answer = answer.expect("no engine contradicts itself");
    let findings = answer.checked.findings.iter().map(|finding| {
        let run = finding.trace.steps.iter().map(|step| step.place).collect();
        (finding.kind, finding.places.clone(), run)
    });
    // Names may decide which of two findings comes first.
    let mut findings: Vec<_> = findings.collect();
    findings.sort_by_key(|one| format!("{one:?}"));
    answer.stopped.is_none().then_some((answer.checked.tallies, findings))
}

/// A check that takes longer is not compared.
const WORK: u64 = 30_000;
/// So many names of each file get their verdicts compared.
const COMPARED: usize = 3;

fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["examples", "bench/models", "corpus/bp", "crates/states/tests/programs"] {
        let entries = fs::read_dir(root.join(folder)).expect("the folder is there");
        let mut own: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        own.retain(|path| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            matches!(extension, Some("eml" | "bp" | "slv"))
                && fs::metadata(path).is_ok_and(|file| file.len() < 6000)
        });
        own.sort();
        found.extend(own);
    }
    found
}

#[test]
fn every_name_of_every_example_can_be_another_one() {
    let (mut renamed, mut refused, mut kept) = (0, Vec::new(), 0);
    let (mut compared, mut found) = (0, 0);
    for path in models() {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let text = fs::read_to_string(&path).expect("a text");
        let Some(before) = read(&name, &text) else { continue };
        let before = printed(&before);
        let taken = words(&text);
        let language = Language::of(&name, &text);
        let index = names::index(&text, language);
        assert!(!index.symbols.is_empty(), "{name}");
        let outcome_before = outcome(&name, &text);
        let every = index.symbols.len().div_ceil(COMPARED);
        for (id, symbol) in index.symbols.iter_enumerated() {
            let at = symbol.span.start;
            if names::renamed_at(&index, language, at).is_err() {
                kept += 1;
                continue;
            }
            let Some(new) = fresh((symbol.span.end - at) as usize, &taken) else { continue };
            let changes = match names::rename(&Text::new(name.as_str(), text.as_str()), at, &new) {
                Ok(changes) => changes,
                Err(why) => {
                    refused.push(format!("{name}: {} {}: {why}", symbol.kind.what(), symbol.name));
                    continue;
                }
            };
            assert_eq!(changes.len(), index.mentions(id).count());
            let changed = names::replaced(&text, &changes);
            let after = read(&name, &changed).expect("a program");
            // Of several locals of one name the program numbers all but the first.
            let namesakes = index
                .symbols
                .iter()
                .filter(|other| (&other.name, other.within) == (&symbol.name, symbol.within));
            if namesakes.count() > 1 {
                continue;
            }
            // A name in braces is no word.
            let old = symbol.name.replace('"', "");
            let after = with_word(&printed(&after), &new, &old);
            assert_eq!(after, before, "{name}: {} `{}`", symbol.kind.what(), symbol.name);
            renamed += 1;
            if renamed % every == 0
                && let Some(before) = &outcome_before
            {
                let after = outcome(&name, &changed);
                assert_eq!(after.as_ref(), Some(before), "{name}: `{}` to `{new}`", symbol.name);
                compared += 1;
                found += before.1.len();
            }
        }
    }
    assert_eq!(refused, [""; 0]);
    assert!(renamed > 1500 && kept > 100, "{renamed} {kept}");
    assert!(compared > 200 && found > 100, "{compared} {found}");
}
