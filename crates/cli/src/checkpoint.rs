//! # Idea
//! What survives of a search, in a folder: `run.txt` says of what run it is, line by line, and every
//! search of the run has a folder with its logs. A run that goes on compares itself with `run.txt` and
//! says what differs.
//!
//! # Invariants
//! 1. Nothing is written into a folder that has something else, or that another run is writing.
//! 2. What a run may cost and how many work on it is not compared: the answer does not depend on it.

use crate::output::Output;
use selvedge_analysis::Journal;
use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The first line of `run.txt`.
const FORMAT: &str = "selvedge checkpoint 1";

/// How often what is written is also brought to the disk, so that a machine that fails loses no more.
const SYNC: Duration = Duration::from_secs(5);

/// What a run is about: names and values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunIdentity(Vec<(&'static str, String)>);

impl RunIdentity {
    /// The identity of a run about a program, given as a text, with these settings.
    pub fn new(program: &str, settings: Vec<(&'static str, String)>) -> Self {
        let mut hasher = DefaultHasher::new();
        program.hash(&mut hasher);
        let mut all = vec![
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("program", format!("{:016x}", hasher.finish())),
        ];
        all.extend(settings);
        Self(all)
    }

    /// As a text, a line for each name.
    pub fn text(&self) -> String {
        let lines = self.0.iter().map(|(name, value)| format!("{name} = {value}\n"));
        format!("{FORMAT}\n{}", lines.collect::<String>())
    }

    /// How it differs from what a text says.
    pub fn difference(&self, text: &str) -> Option<String> {
        let mut lines = text.lines();
        if lines.next() != Some(FORMAT) {
            return Some("it is none of this form".to_owned());
        }
        let known: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(" = ")).collect();
        let mut differences = Vec::new();
        for (name, value) in &self.0 {
            let was = known.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
            match was {
                Some(was) if was == value => {}
                Some(was) => differences.push(format!("{name} was {was} and is {value}")),
                None => differences.push(format!("{name} is not said")),
            }
        }
        (!differences.is_empty()).then(|| differences.join("; "))
    }
}

/// How many bytes may be on the disk, and how many are.
#[derive(Clone, Debug)]
struct DiskUse {
    limit: Option<u64>,
    used: Arc<AtomicU64>,
}

impl DiskUse {
    /// Counts bytes that are about to be written.
    fn take(&self, bytes: u64) -> io::Result<()> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        match self.limit {
            Some(limit) if used > limit => {
                Err(io::Error::new(io::ErrorKind::StorageFull, "the limit of --disk was reached"))
            }
            _ => Ok(()),
        }
    }

    fn give_back(&self, bytes: u64) {
        // What was there before may not have been counted.
        let _ = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            Some(used.saturating_sub(bytes))
        });
    }
}

/// The folder of a run.
#[derive(Debug)]
pub struct CheckpointFolder {
    path: PathBuf,
    output: Output,
    disk: DiskUse,
    /// Held as long as the run lasts, so that no other one writes there.
    _lock: Option<File>,
}

impl CheckpointFolder {
    fn new(path: &Path, output: Output, disk: Option<u64>, lock: Option<File>) -> Self {
        let disk = DiskUse { limit: disk, used: Arc::default() };
        Self { path: path.to_owned(), output, disk, _lock: lock }
    }

    /// A folder for a run that begins, in which so many bytes may be written.
    ///
    /// # Errors
    /// If it has something, or cannot be written; the text says so.
    pub fn begin(
        path: &Path,
        identity: &RunIdentity,
        output: Output,
        disk: Option<u64>,
    ) -> Result<Self, String> {
        let complain = |error: io::Error| format!("cannot write {}: {error}", path.display());
        fs::create_dir_all(path).map_err(complain)?;
        if fs::read_dir(path).map_err(complain)?.next().is_some() {
            return Err(format!(
                "{} is not empty; go on from a checkpoint with --resume, or name another folder",
                path.display()
            ));
        }
        let lock = locked(path)?;
        fs::write(path.join("run.txt"), identity.text()).map_err(complain)?;
        Ok(Self::new(path, output, disk, lock))
    }

    /// The folder of a run that goes on.
    ///
    /// # Errors
    /// If there is none, or it is of another run; the text says what differs. With `first`, also if
    /// another run is writing there.
    pub fn resume(
        path: &Path,
        identity: &RunIdentity,
        output: Output,
        disk: Option<u64>,
        first: bool,
    ) -> Result<Self, String> {
        let shown = path.display();
        let text = fs::read_to_string(path.join("run.txt"))
            .map_err(|error| format!("there is no checkpoint in {shown}: {error}"))?;
        match identity.difference(&text) {
            Some(difference) => {
                Err(format!("the checkpoint in {shown} is of another run: {difference}"))
            }
            None if first => {
                let folder = Self::new(path, output, disk, locked(path)?);
                folder.disk.used.store(size(path), Ordering::Relaxed);
                Ok(folder)
            }
            None => Ok(Self::new(path, output, disk, None)),
        }
    }

    /// The folder that the first of several processes has begun.
    pub fn joined(path: &Path, output: Output, disk: Option<u64>) -> Self {
        Self::new(path, output, disk, None)
    }

    fn folder(&self, search: u64) -> PathBuf {
        self.path.join(format!("{search:016x}"))
    }
}

/// Keeps other runs from writing into a folder; nothing where files cannot be locked.
fn locked(path: &Path) -> Result<Option<File>, String> {
    let Ok(file) = File::create(path.join("run.lock")) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            Err(format!("another run is writing to {}", path.display()))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// How many bytes are in a folder.
fn size(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => size(&entry.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        })
        .sum()
}

impl Journal for CheckpointFolder {
    fn list(&self, search: u64) -> io::Result<Vec<String>> {
        let folder = match fs::read_dir(self.folder(search)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder?,
        };
        folder.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn read(&self, search: u64, name: &str, from: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut file = File::open(self.folder(search).join(name))?;
        file.seek(SeekFrom::Start(from))?;
        Ok(Box::new(io::BufReader::with_capacity(1 << 16, file)))
    }

    fn create(&self, search: u64, name: &str) -> io::Result<Box<dyn Write + Send>> {
        let folder = self.folder(search);
        let advised = |error| advised(&self.path, error);
        fs::create_dir_all(&folder).map_err(advised)?;
        let file = File::create(folder.join(name)).map_err(advised)?;
        let (disk, checkpoint) = (self.disk.clone(), self.path.clone());
        Ok(Box::new(LogFile { file, synced: Instant::now(), disk, checkpoint }))
    }

    fn remove(&self, search: u64, name: &str) -> io::Result<()> {
        let path = self.folder(search).join(name);
        let bytes = fs::metadata(&path)?.len();
        fs::remove_file(path)?;
        self.disk.give_back(bytes);
        Ok(())
    }

    fn note(&self, text: &str) {
        self.output.warn(text);
    }
}

/// A log that is being written.
struct LogFile {
    file: File,
    synced: Instant,
    disk: DiskUse,
    checkpoint: PathBuf,
}

/// An error, with what to do where there is no room.
fn advised(checkpoint: &Path, error: io::Error) -> io::Error {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    if !matches!(error.kind(), StorageFull | QuotaExceeded) {
        return error;
    }
    let folder = checkpoint.display();
    let text = format!("{error}; when there is room, resume with --resume {folder}");
    io::Error::new(error.kind(), text)
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let advised = |error| advised(&self.checkpoint, error);
        self.disk.take(bytes.len() as u64).map_err(advised)?;
        let written = self.file.write(bytes);
        let missing = bytes.len() - written.as_ref().copied().unwrap_or(0);
        self.disk.give_back(missing as u64);
        written.map_err(advised)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()?;
        if self.synced.elapsed() > SYNC {
            self.file.sync_data()?;
            self.synced = Instant::now();
        }
        Ok(())
    }
}
