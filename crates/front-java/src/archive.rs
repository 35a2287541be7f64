//! # Idea
//! A jar is a zip archive of class files. Those for newer versions of Java stand apart, in
//! `META-INF/versions/N`; the newest that is asked for counts. A jar in a jar is not looked into, and that
//! is said.
//!
//! # Source
//! The JAR File Specification (multi-release archives).
//!
//! # Invariants
//! 1. No entry is unpacked beyond [`LARGEST_CLASS`], nor beyond [`MOST_RATIO`] times its packed size.

use crate::reader::LARGEST_CLASS;
use selvedge_base::{Budget, StopReason};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{Cursor, Read};
use zip::ZipArchive;

/// How many entries an archive may have.
pub const MOST_ENTRIES: usize = 65_535;
/// How many times its packed size an entry may have.
pub const MOST_RATIO: u64 = 200;
/// Entries up to this size are unpacked whatever their ratio is.
const SMALL: u64 = 1 << 20;

/// Why an archive, or an entry of it, was not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArchiveDamage {
    /// It is no archive, or a damaged one.
    Archive(String),
    /// It has more entries than that.
    Entries(usize),
    /// This entry is damaged, or larger than it may be.
    Entry(String, String),
    /// The budget is used up.
    Stopped(StopReason),
}

impl fmt::Display for ArchiveDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Archive(why) => write!(f, "the archive cannot be read: {why}"),
            Self::Entries(most) => write!(f, "the archive has more than {most} entries"),
            Self::Entry(name, why) => write!(f, "the entry {name:?} cannot be read: {why}"),
            Self::Stopped(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for ArchiveDamage {}

/// What an archive has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contents {
    /// The class files, by their path without a version, with their bytes.
    pub classes: Vec<(String, Vec<u8>)>,
    /// Archives inside, which are not looked into.
    pub nested: Vec<String>,
    /// How many class files count for a newer version of Java than the first one.
    pub versioned: usize,
    /// How many class files are for a version that is not asked for.
    pub for_others: usize,
    /// How many entries are no class files.
    pub others: usize,
}

/// Reads the class files of an archive that count for a version of Java, or for the newest.
///
/// # Errors
/// If it is damaged or too large, or if the budget is used up.
pub fn read_archive(
    bytes: &[u8],
    release: Option<u16>,
    budget: &Budget,
) -> Result<Contents, ArchiveDamage> {
    let broken = |why: zip::result::ZipError| ArchiveDamage::Archive(why.to_string());
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    if archive.len() > MOST_ENTRIES {
        return Err(ArchiveDamage::Entries(MOST_ENTRIES));
    }
    let mut contents = Contents::default();
    // The number of the entry that counts for a path, and its version.
    let mut chosen: BTreeMap<String, (u16, usize)> = BTreeMap::new();
    for number in 0..archive.len() {
        budget.check().map_err(ArchiveDamage::Stopped)?;
        let entry = archive.by_index_raw(number).map_err(broken)?;
        let name = entry.name().map_err(broken)?.into_owned();
        if entry.is_dir() {
            continue;
        }
        if has_ending(&name, "jar") || has_ending(&name, "war") {
            contents.nested.push(name);
            continue;
        }
        if !has_ending(&name, "class") {
            contents.others += 1;
            continue;
        }
        let (version, path) = versioned(&name);
        if release.is_some_and(|release| version > release) {
            contents.for_others += 1;
            continue;
        }
        match chosen.get(&path) {
            // The first of two entries for one path counts, as on a class path.
            Some(&(known, _)) if known >= version => contents.for_others += 1,
            older => {
                contents.for_others += usize::from(older.is_some());
                chosen.insert(path, (version, number));
            }
        }
    }
    for (path, (version, number)) in chosen {
        budget.check().map_err(ArchiveDamage::Stopped)?;
        contents.versioned += usize::from(version > 0);
        let bytes = unpack(&mut archive, number, &path)?;
        contents.classes.push((path, bytes));
    }
    Ok(contents)
}

/// The version of Java that an entry is for, 0 for all, and its path without it.
fn versioned(name: &str) -> (u16, String) {
    let inside = name.strip_prefix("META-INF/versions/").and_then(|rest| rest.split_once('/'));
    match inside {
        Some((version, path)) => match version.parse() {
            Ok(version) => (version, path.to_owned()),
            Err(_) => (0, name.to_owned()),
        },
        None => (0, name.to_owned()),
    }
}

/// Whether a path ends so.
fn has_ending(name: &str, ending: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn unpack(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    number: usize,
    path: &str,
) -> Result<Vec<u8>, ArchiveDamage> {
    let wrong = |why: String| ArchiveDamage::Entry(path.to_owned(), why);
    let entry = archive.by_index(number).map_err(|why| wrong(why.to_string()))?;
    let packed = entry.compressed_size();
    let most = packed.saturating_mul(MOST_RATIO).max(SMALL).min(LARGEST_CLASS as u64);
    let mut bytes = Vec::new();
    // What the archive says of the size is not believed.
    let read = entry.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|why| wrong(why.to_string()))?;
    if bytes.len() as u64 > most {
        return Err(wrong(format!("it unpacks to more than {most} bytes")));
    }
    Ok(bytes)
}
