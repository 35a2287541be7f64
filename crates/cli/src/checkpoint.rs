//! # Idea
//! What survives of a search, in a folder: `run.txt` says of what run it is, line by line, and every
//! search of the run has a folder with its logs. A run that goes on compares itself with `run.txt` and
//! says what differs.
//!
//! # Invariants
//! 1. Nothing is written into a folder that has something else.
//! 2. What a run may cost and how many work on it is not compared: the answer does not depend on it.

use crate::output::Output;
use selvedge_analysis::Journal;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
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

/// The folder of a run.
#[derive(Debug)]
pub struct CheckpointFolder {
    path: PathBuf,
    output: Output,
}

impl CheckpointFolder {
    /// A folder for a run that begins.
    ///
    /// # Errors
    /// If it has something, or cannot be written; the text says so.
    pub fn begin(path: &Path, identity: &RunIdentity, output: Output) -> Result<Self, String> {
        let complain = |error: io::Error| format!("cannot write {}: {error}", path.display());
        fs::create_dir_all(path).map_err(complain)?;
        if fs::read_dir(path).map_err(complain)?.next().is_some() {
            return Err(format!(
                "{} is not empty; go on from a checkpoint with --resume, or name another folder",
                path.display()
            ));
        }
        fs::write(path.join("run.txt"), identity.text()).map_err(complain)?;
        Ok(Self { path: path.to_owned(), output })
    }

    /// The folder of a run that goes on.
    ///
    /// # Errors
    /// If there is none, or it is of another run; the text says what differs.
    pub fn resume(path: &Path, identity: &RunIdentity, output: Output) -> Result<Self, String> {
        let shown = path.display();
        let text = fs::read_to_string(path.join("run.txt"))
            .map_err(|error| format!("there is no checkpoint in {shown}: {error}"))?;
        match identity.difference(&text) {
            Some(difference) => {
                Err(format!("the checkpoint in {shown} is of another run: {difference}"))
            }
            None => Ok(Self { path: path.to_owned(), output }),
        }
    }

    /// The folder that the first of several processes has begun.
    pub fn joined(path: &Path, output: Output) -> Self {
        Self { path: path.to_owned(), output }
    }

    fn folder(&self, search: u64) -> PathBuf {
        self.path.join(format!("{search:016x}"))
    }
}

impl Journal for CheckpointFolder {
    fn list(&self, search: u64) -> io::Result<Vec<String>> {
        let folder = match fs::read_dir(self.folder(search)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder?,
        };
        folder.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn read(&self, search: u64, name: &str) -> io::Result<Box<dyn Read + Send>> {
        let file = File::open(self.folder(search).join(name))?;
        Ok(Box::new(io::BufReader::with_capacity(1 << 16, file)))
    }

    fn create(&self, search: u64, name: &str) -> io::Result<Box<dyn Write + Send>> {
        let folder = self.folder(search);
        fs::create_dir_all(&folder)?;
        let file = File::create(folder.join(name))?;
        Ok(Box::new(LogFile { file, synced: Instant::now() }))
    }

    fn remove(&self, search: u64, name: &str) -> io::Result<()> {
        fs::remove_file(self.folder(search).join(name))
    }

    fn note(&self, text: &str) {
        self.output.warn(text);
    }
}

/// A log that is being written.
struct LogFile {
    file: File,
    synced: Instant,
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
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
