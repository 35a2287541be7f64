//! # Idea
//! Answers on disk, so that a model that has not changed is not analysed again. The name of an entry
//! is a hash of everything that the answer depends on; an entry that is not exactly what was written
//! is no entry.
//!
//! The files: [`entry`] (findings as bytes and back), [`revalidate`] (the interleavings of an entry
//! are executed again before they are believed).
//!
//! # Why it is never wrong
//! - The key covers the text, how it is read, every option that matters, the version of the tool and
//!   the size and time of its executable, so that a rebuilt tool does not believe its predecessor.
//!   It is a SHA-256: two runs with the same key asked the same question.
//! - An entry carries its key and a SHA-256 of its contents. A damaged, shortened or foreign one is
//!   ignored, and overwritten by the next answer.
//! - Only complete answers are written: a limit may be met today and not tomorrow.
//! - Every interleaving of an entry is replayed on the model before it is shown. That there is no
//!   further violation, and that a fix works, rests on the two hashes.
//! - An entry is written to a file of its own and then renamed, so that no reader sees a part of it,
//!   and of two runs that write the same entry the last one wins, with the same bytes.
//!
//! Whatever goes wrong with the disk means an analysis, not an error.

pub mod entry;
pub mod revalidate;

use selvedge_findings::Checked;
use selvedge_library::{CheckOptions, Fixes};
use selvedge_program::{Program, Units};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// When the entries take more bytes than this, the ones that were not used for longest go.
const MOST_BYTES: u64 = 256 << 20;
/// When there are more entries than this, likewise.
const MOST_ENTRIES: usize = 20_000;
/// Entries larger than this are neither written nor read.
const LARGEST: u64 = 32 << 20;
/// Files of interrupted runs are removed after this time.
const ABANDONED: Duration = Duration::from_hours(1);

/// The folder with the entries.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Tells the files of one process apart while they are written.
    written: AtomicU64,
}

/// The name of an entry.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key(String);

/// Which program makes and reads the entries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Build {
    /// The version.
    pub version: String,
    /// Size and time of the executable, as text.
    pub executable: String,
}

impl Build {
    /// This program.
    pub fn current() -> Self {
        let executable = std::env::current_exe().and_then(std::fs::metadata);
        let executable = executable.map_or_else(
            |_| String::new(),
            |file| format!("{} {:?}", file.len(), file.modified().ok()),
        );
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), executable }
    }
}

impl Key {
    /// The key of an analysis of `text`; `language` says how it is read.
    pub fn new(build: &Build, language: &str, text: &str, options: &CheckOptions) -> Self {
        let CheckOptions { kinds, patterns, units, analysis, fixes } = options;
        let units = match units {
            Units::Exact => "exact",
            Units::Paper => "paper",
        };
        let fixes = match fixes {
            Fixes::Look => "fixes",
            Fixes::Skip => "no fixes",
        };
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.rule()).collect();
        let parts = [
            entry::FORM.to_owned(),
            build.version.clone(),
            build.executable.clone(),
            language.to_owned(),
            kinds.join(","),
            format!("{patterns:?}"),
            units.to_owned(),
            format!("{analysis:?}"),
            fixes.to_owned(),
            text.to_owned(),
        ];
        let mut hash = Sha256::new();
        for part in parts {
            // The lengths keep the parts apart.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hex(&hash.finalize()))
    }
}

/// The folder for entries if none is given: `selvedge` in the cache folder of the user.
pub fn default_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA").map(PathBuf::from)
    } else {
        // The specification asks to ignore relative paths.
        let xdg = variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let inside = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        xdg.or_else(|| Some(PathBuf::from(variable("HOME")?).join(inside)))
    };
    Some(base?.join("selvedge"))
}

impl Cache {
    /// The cache in `folder`, which is made if it does not exist.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn open(folder: PathBuf) -> std::io::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        Ok(Self { folder, written: AtomicU64::new(0) })
    }

    /// The answer with this key about `program`, if there is one that can be believed.
    pub fn get(&self, key: &Key, program: &Program) -> Option<Checked> {
        let path = self.path(key);
        let file = File::open(&path).ok()?;
        let mut bytes = Vec::new();
        (&file).take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
        let checked = entry::read(&bytes, &key.0, program)?;
        if !checked.findings.iter().all(|finding| revalidate::holds(program, finding)) {
            return None;
        }
        // The time of the last use, for the eviction; a folder that cannot be written stays usable.
        let _ = File::options()
            .append(true)
            .open(&path)
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(checked)
    }

    /// Keeps an answer if it is complete. Says whether it did.
    pub fn put(&self, key: &Key, checked: &Checked, program: &Program) -> bool {
        let complete =
            checked.open.is_empty() && checked.tallies.iter().all(|(_, tally)| tally.unknown == 0);
        if !complete {
            return false;
        }
        let bytes = entry::write(checked, &key.0, program);
        if bytes.len() as u64 > LARGEST {
            return false;
        }
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let partial = self.folder.join(format!("{}-{number}.{PARTIAL}", std::process::id()));
        let written = File::create(&partial)
            .and_then(|mut file| file.write_all(&bytes))
            .and_then(|()| std::fs::rename(&partial, self.path(key)));
        if written.is_err() {
            let _ = std::fs::remove_file(&partial);
        }
        written.is_ok()
    }

    /// Removes entries until the cache is well below its bounds, the ones that were not used for
    /// longest first.
    pub fn evict(&self) {
        self.evict_to(MOST_BYTES, MOST_ENTRIES, SystemTime::now());
    }

    fn evict_to(&self, most_bytes: u64, most_entries: usize, now: SystemTime) {
        let Ok(folder) = std::fs::read_dir(&self.folder) else { return };
        let mut entries = Vec::new();
        let mut bytes = 0;
        for file in folder.flatten() {
            let path = file.path();
            let Ok(about) = file.metadata() else { continue };
            let modified = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            // What is not ours is not touched.
            if is_entry(&path) {
                bytes += about.len();
                entries.push((modified, path, about.len()));
            } else if is_partial(&path)
                && now.duration_since(modified).is_ok_and(|age| age > ABANDONED)
            {
                let _ = std::fs::remove_file(path);
            }
        }
        if bytes <= most_bytes && entries.len() <= most_entries {
            return;
        }
        entries.sort();
        let mut left = entries.len();
        for (_, path, size) in entries {
            // A quarter of room, so that the next run does not have to do this again.
            if bytes <= most_bytes / 4 * 3 && left <= most_entries / 4 * 3 {
                break;
            }
            // Another run may have removed it; that it is gone is all that matters.
            let _ = std::fs::remove_file(path);
            bytes -= size;
            left -= 1;
        }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{}.{ENTRY}", key.0))
    }
}

const ENTRY: &str = "answer";
const PARTIAL: &str = "partial";

fn is_entry(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    path.extension().is_some_and(|extension| extension == ENTRY)
        && stem.len() == 64
        && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_partial(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    path.extension().is_some_and(|extension| extension == PARTIAL)
        && !stem.is_empty()
        && stem.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 of a text in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests;
