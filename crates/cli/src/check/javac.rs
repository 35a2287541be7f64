//! # Idea
//! A source file of Java becomes class files: a compiler, if there is one, writes them into a folder of its own,
//! which is gone when they have been read.
//!
//! # Invariants
//! 1. The compiler runs no code of the program: annotation processors are off.
//! 2. It ends when the budget is used up.

use crate::input::NoBytes;
use selvedge_base::{Budget, Diagnostic, Severity};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How many lines of a compiler's complaints are shown.
const LINES: usize = 12;

/// Whether a file of this name is a source file of Java.
pub fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "java")
}

/// A program of the JDK, as `JAVA_HOME` or else the system finds it.
pub fn tool(name: &str) -> PathBuf {
    let home = std::env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin").join(name));
    home.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(name))
}

/// A folder that is removed when nobody needs it.
pub struct ClassFolder(pub PathBuf);

impl ClassFolder {
    /// A new folder, among those for what is needed for a while.
    pub fn new() -> std::io::Result<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("selvedge-classes-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for ClassFolder {
    fn drop(&mut self) {
        // Whether it can be removed changes no answer.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Why there are no class files.
pub enum NotCompiled {
    /// The system refused, or a limit was met.
    NoBytes(NoBytes),
    /// There is no compiler, or it refuses the file.
    Wrong(Box<Diagnostic>),
}

/// Compiles a source file, with those beside it that it needs.
pub fn compile(
    source: &Path,
    classpath: &[PathBuf],
    budget: &Budget,
) -> Result<ClassFolder, NotCompiled> {
    let disk = |error| NotCompiled::NoBytes(NoBytes::Disk(error));
    // That there is a file is said of the file, and not by the compiler.
    std::fs::metadata(source).map_err(disk)?;
    let folder = ClassFolder::new().map_err(disk)?;
    let said = folder.0.join("said");
    let errors = std::fs::File::create(&said).map_err(disk)?;
    let mut command = Command::new(tool("javac"));
    command.args(["-g", "-proc:none", "-nowarn", "-encoding", "UTF-8", "-d"]).arg(&folder.0);
    let beside = source.parent().filter(|path| !path.as_os_str().is_empty());
    command.arg("-sourcepath").arg(beside.unwrap_or(Path::new(".")));
    if let Ok(path) = std::env::join_paths(classpath) {
        command.arg("-cp").arg(path);
    }
    command.arg(source).stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let message = "there is no Java compiler: neither JAVA_HOME nor PATH has a `javac`";
            let error = Diagnostic::global("no-javac", Severity::Error, message);
            let help = "install a JDK (such as Debian's default-jdk-headless), or name class files or \
                        a jar, which need none";
            return Err(NotCompiled::Wrong(Box::new(error.with_help(help.to_owned()))));
        }
        Err(error) => return Err(disk(error)),
    };
    let status = loop {
        if let Some(status) = child.try_wait().map_err(disk)? {
            break status;
        }
        if let Err(reason) = budget.check() {
            let _ = child.kill();
            let _ = child.wait();
            return Err(NotCompiled::NoBytes(NoBytes::Stopped(reason)));
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    if status.success() {
        return Ok(folder);
    }
    let said = std::fs::read(&said).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    let shown: Vec<&str> = said.lines().take(LINES).collect();
    let message = format!("javac refuses this file:\n{}", shown.join("\n"));
    Err(NotCompiled::Wrong(Box::new(Diagnostic::global("not-compiled", Severity::Error, message))))
}
