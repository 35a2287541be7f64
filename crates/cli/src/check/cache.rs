//! # Idea
//! The answers that were given before, in a folder on the disk; [`selvedge_library::cache`] says why
//! they can be believed.
//!
//! # Invariants
//! 1. An entry is written to a file of its own and then renamed, so that no reader sees a part of it,
//!    and of two runs that write the same entry the last one wins, with the same bytes.

use selvedge_library::cache::{Key, LARGEST, Store};
use std::fs::File;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// When the entries take more bytes than this, the ones that were not used for longest go.
const MOST_BYTES: u64 = 256 << 20;
/// When there are more entries than this, likewise.
const MOST_ENTRIES: usize = 20_000;
/// Files of interrupted runs are removed after this time.
const ABANDONED: Duration = Duration::from_hours(1);

/// The folder with the entries.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Tells the files of one process apart while they are written.
    written: AtomicU64,
}

/// What tells this build of the tool from another: the version, and size and time of the executable.
pub fn build() -> String {
    let executable = std::env::current_exe().and_then(std::fs::metadata);
    let executable = executable.map_or_else(
        |_| String::new(),
        |file| format!("{} {:?}", file.len(), file.modified().ok()),
    );
    format!("{} {executable}", env!("CARGO_PKG_VERSION"))
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

impl Store for Cache {
    fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        // Before it is opened: to open a pipe is to wait for who writes into it.
        std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
        let file = File::open(&path).ok()?;
        let mut bytes = Vec::new();
        (&file).take(LARGEST as u64 + 1).read_to_end(&mut bytes).ok()?;
        // The time of the last use, for the eviction; a folder that cannot be written stays usable.
        let _ = File::options()
            .append(true)
            .open(&path)
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(bytes)
    }

    fn put(&self, key: &Key, bytes: &[u8]) -> bool {
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let partial = self.folder.join(format!("{}-{number}.{PARTIAL}", std::process::id()));
        let written = File::create(&partial)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| std::fs::rename(&partial, self.path(key)));
        if written.is_err() {
            let _ = std::fs::remove_file(&partial);
        }
        written.is_ok()
    }
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
        self.folder.join(format!("{key}.{ENTRY}"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_analysis::Options;
    use selvedge_library::{CheckOptions, Fixes};
    use selvedge_program::Units;

    #[test]
    fn the_least_recently_used_go_first() {
        let folder =
            std::env::temp_dir().join(format!("selvedge-test-{}-evict", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let cache = Cache::open(folder).expect("a folder");
        let now = SystemTime::now();
        let options = CheckOptions {
            kinds: Vec::new(),
            patterns: Vec::new(),
            units: Units::Exact,
            chosen: false,
            add_units: None,
            analysis: Options::new(None),
            fixes: Fixes::Skip,
        };
        let keys: Vec<Key> =
            (0..8).map(|at| Key::new("build", "eml", &[&format!("{at}")], &options)).collect();
        assert_eq!(cache.get(&keys[0]), None);
        for (age, key) in keys.iter().enumerate() {
            assert!(cache.put(key, b"bytes"));
            let file = File::options().append(true).open(cache.path(key)).expect("an entry");
            file.set_modified(now - Duration::from_secs(60 * age as u64)).expect("a time");
        }
        assert_eq!(cache.get(&keys[0]).as_deref(), Some(&b"bytes"[..]));
        let foreign = cache.folder.join("notes.txt");
        let (young, old) = (cache.folder.join("1-0.partial"), cache.folder.join("1-1.partial"));
        for path in [&foreign, &young, &old] {
            std::fs::write(path, "x").expect("written");
            let file = File::options().append(true).open(path).expect("there");
            file.set_modified(now - Duration::from_hours(2)).expect("a time");
        }
        File::options()
            .append(true)
            .open(&young)
            .and_then(|file| file.set_modified(now))
            .expect("a time");
        cache.evict_to(u64::MAX, 8, now);
        assert!(keys.iter().all(|key| cache.path(key).exists()), "nothing has to go");
        assert!(foreign.exists() && young.exists() && !old.exists());
        cache.evict_to(u64::MAX, 4, now);
        let left: Vec<bool> = keys.iter().map(|key| cache.path(key).exists()).collect();
        assert_eq!(left, [true, true, true, false, false, false, false, false]);
        cache.evict_to(0, 100, now);
        assert!(keys.iter().all(|key| !cache.path(key).exists()) && foreign.exists());
        std::fs::remove_dir_all(&cache.folder).expect("removed");
    }
}
