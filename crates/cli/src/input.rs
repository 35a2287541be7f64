//! # Idea
//! From a path to a model: read the file, find out which language it is in, and print what the front
//! end has to say about it.

use crate::args::reach::Files;
use crate::exit::Exit;
use crate::output::Output;
use crate::watchdog::within;
use selvedge_base::{Budget, Diagnostic, Span, StopReason};
use selvedge_library::code::EXTENSION;
use selvedge_library::java;
use selvedge_library::load::{self, Dialect, TextComplaints, Texts};
use selvedge_library::restrict::read_restriction;
use selvedge_library::{Language, ThreadRestriction};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

pub use selvedge_library::load::{Model, Reading, Text};

/// Texts of this many bytes and more are refused. Places count in 32 bits, and what is made of a
/// text takes many times its size.
const TOO_LARGE: u64 = 1 << 29;
/// How many bytes are read between two looks at the budget.
const CHUNK: u64 = 1 << 20;

/// Reads the model at `path`; `-` is standard input. Mistakes have been printed when this returns.
pub fn model(path: &Path, output: Output, budget: &Budget) -> Result<Model, Exit> {
    data_model(&Files::at(path), Reading::default(), output, budget)
}

/// Reads a model with data and what is asked about it; `-` is standard input. What the options say is
/// stronger than `reading`. Mistakes have been printed when this returns.
pub fn data_model(
    input: &Files,
    reading: Reading,
    output: Output,
    budget: &Budget,
) -> Result<Model, Exit> {
    let (input, inner) = (input.clone(), budget.clone());
    let name = name(&input.file);
    let bytes = length(&input);
    let read = within(budget, bytes, move || read_data_model(&input, reading, output, &inner));
    read.unwrap_or_else(|reason| Err(not_read(&name, reason, output)))
}

/// How many bytes a model has, if what is made of it is not much more than what is read.
fn length(input: &Files) -> Option<u64> {
    let file = &input.file;
    let more =
        [(&input.init, "init"), (&input.spec, "spec")].into_iter().map(|(named, extension)| {
            let path = named.clone().unwrap_or_else(|| file.with_extension(extension));
            if named.is_some() || path.exists() { file_length(&path) } else { Some(0) }
        });
    let more: Option<u64> = more.sum();
    let bytes = file_length(file)? + more?;
    input.starts_per_site.is_none().then_some(bytes)
}

/// Says that a limit was met before a file was read.
pub fn not_read(name: &str, reason: StopReason, output: Output) -> Exit {
    output.complain(&format!("{name} was not read to its end: {reason}"));
    Exit::Unknown
}

fn read_data_model(
    input: &Files,
    reading: Reading,
    output: Output,
    budget: &Budget,
) -> Result<Model, Exit> {
    if input.file.extension().is_some_and(|extension| extension == EXTENSION) {
        let name = input.file.display();
        output.complain(&format!("{name} is code in text form, which is for `selvedge show`"));
        return Err(Exit::BadInput);
    }
    let program = text(&input.file, output, budget)?;
    let language = Language::of(&program.name, &program.text);
    let misread = reading.dialect.is_some() && language != Language::Boolean;
    let misfit = misread.then_some("a dialect is for Boolean programs");
    if let Some(misfit) = misfit.or_else(|| input.misfit(language)) {
        output.complain(&format!("{misfit}, and {} is none", program.name));
        return Err(Exit::BadInput);
    }
    let mut texts = Texts::from(program);
    if language == Language::Pushdown {
        texts.init = beside(input.init.as_deref(), &input.file, "init", output, budget)?;
        texts.spec = beside(input.spec.as_deref(), &input.file, "spec", output, budget)?;
    }
    let starts_per_site = input.starts_per_site.or(reading.starts_per_site);
    let reading = Reading { starts_per_site, ..reading };
    understood(load::load(&texts, reading), output)
}

/// Prints what there is to say about a model.
pub fn understood(
    (model, complaints): (Option<Model>, TextComplaints<'_>),
    output: Output,
) -> Result<Model, Exit> {
    for (source, diagnostics) in &complaints {
        output.diagnostics(diagnostics, source);
    }
    model.ok_or(Exit::BadInput)
}

/// A model of a Boolean program once more, with another number of starts per site; `None` if that
/// makes too large a program, or a limit is met before.
pub fn with_starts(
    model: &Model,
    dialect: Option<Dialect>,
    starts: u32,
    budget: &Budget,
) -> Option<Model> {
    let model = model.clone();
    within(budget, None, move || model.with_starts(dialect, starts)).ok().flatten()
}

/// The file that was named, or the one beside `file` with another extension, if there is one.
fn beside(
    named: Option<&Path>,
    file: &Path,
    extension: &str,
    output: Output,
    budget: &Budget,
) -> Result<Option<Text>, Exit> {
    if let Some(path) = named {
        return text(path, output, budget).map(Some);
    }
    if file.as_os_str() == "-" {
        return Ok(None);
    }
    let path = file.with_extension(extension);
    if path.is_file() { text(&path, output, budget).map(Some) } else { Ok(None) }
}

/// Reads a text file; `-` is standard input. Mistakes have been printed when this returns.
pub fn text(path: &Path, output: Output, budget: &Budget) -> Result<Text, Exit> {
    read_text(path, budget).map_err(|unreadable| match unreadable {
        Unreadable::Disk(name, error) => {
            output.complain(&format!("cannot read {name}: {error}"));
            Exit::BadInput
        }
        Unreadable::Encoding(text, diagnostic) => {
            output.diagnostics(&[*diagnostic], &text.source());
            Exit::BadInput
        }
        Unreadable::Stopped(name, reason) => not_read(&name, reason, output),
    })
}

/// Reads the automata that say which runs of threads count. Mistakes have been printed when this returns.
pub fn restrictions(
    wanted: &[(String, String)],
    output: Output,
    budget: &Budget,
) -> Result<Vec<ThreadRestriction>, Exit> {
    let one = |(thread, file): &(String, String)| {
        let thread = thread.clone();
        let understand = move |text: &Text| read_restriction(&thread, text);
        let (text, (restriction, complaints)) =
            read_within(Path::new(file), output, budget, understand)?;
        output.diagnostics(&complaints, &text.source());
        restriction.ok_or(Exit::BadInput)
    };
    wanted.iter().map(one).collect()
}

/// A model of which only those runs of threads count that the automata of some files can read. Mistakes
/// have been printed when this returns.
pub fn restricted(
    model: Model,
    wanted: &[(String, String)],
    output: Output,
    budget: &Budget,
) -> Result<Model, Exit> {
    if wanted.is_empty() {
        return Ok(model);
    }
    let restrictions = restrictions(wanted, output, budget)?;
    let (name, inner) = (model.text.name.clone(), budget.clone());
    let restricted = within(budget, None, move || model.restricted(&restrictions, &inner))
        .map_err(|reason| not_read(&name, reason, output))?;
    restricted.map_err(|(text, wrong)| {
        output.diagnostics(&wrong, &text.source());
        Exit::BadInput
    })
}

/// Reads a text file and makes something of it; both is left behind if the budget is used up.
pub fn read_within<T: Send + 'static>(
    path: &Path,
    output: Output,
    budget: &Budget,
    understand: impl FnOnce(&Text) -> T + Send + 'static,
) -> Result<(Text, T), Exit> {
    let (inner, file) = (budget.clone(), path.to_owned());
    let read = within(budget, file_length(path), move || {
        let text = text(&file, output, &inner)?;
        let understood = understand(&text);
        Ok((text, understood))
    });
    read.unwrap_or_else(|reason| Err(not_read(&name(path), reason, output)))
}

/// How many bytes a file has, if it is one that is read without waiting.
pub fn file_length(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().filter(Metadata::is_file).map(|known| known.len())
}

/// Why a text cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// The system refused, with the name to show.
    Disk(String, io::Error),
    /// It is not UTF-8; the text has replacement characters, and the diagnostic says where.
    Encoding(Text, Box<Diagnostic>),
    /// A limit was met before its end, with the name to show.
    Stopped(String, StopReason),
}

/// Why bytes cannot be read.
pub enum NoBytes {
    /// The system refused.
    Disk(io::Error),
    /// A limit was met before their end.
    Stopped(StopReason),
}

impl From<io::Error> for NoBytes {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

/// The name to show for a path.
fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// Reads a text file; `-` is standard input. It may block where that is a pipe, so whoever has a
/// limit calls it [`within`] one.
pub fn read_text(path: &Path, budget: &Budget) -> Result<Text, Unreadable> {
    let name = name(path);
    let bytes = if path.as_os_str() == "-" {
        read(&mut io::stdin().lock(), budget)
    } else {
        read_file(path, budget)
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(NoBytes::Disk(error)) => return Err(Unreadable::Disk(name, error)),
        Err(NoBytes::Stopped(reason)) => return Err(Unreadable::Stopped(name, reason)),
    };
    match String::from_utf8(bytes) {
        Ok(mut text) => {
            if text.starts_with('\u{feff}') {
                text.drain(..'\u{feff}'.len_utf8());
            }
            Ok(Text { name, text })
        }
        Err(error) => {
            // The replacement characters stand where the first bad byte was.
            let at = error.utf8_error().valid_up_to();
            let byte = error.as_bytes()[at];
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let span = Span::new(at as u32, at as u32 + 3);
            let message = format!("the file is not UTF-8: byte 0x{byte:02X} at offset {at}");
            let diagnostic = Diagnostic::error("not-utf8", message, span, "first bad byte");
            Err(Unreadable::Encoding(Text { name, text }, Box::new(diagnostic)))
        }
    }
}

/// The class files and archives of a folder in the order of their names, or the one file that is named, with
/// their bytes as they are asked for.
pub fn class_files(
    path: &Path,
    budget: &Budget,
) -> Result<impl Iterator<Item = (String, Result<Vec<u8>, NoBytes>)>, NoBytes> {
    let mut files = Vec::new();
    if path.is_dir() {
        let mut open = vec![path.to_owned()];
        while let Some(folder) = open.pop() {
            budget.check().map_err(NoBytes::Stopped)?;
            for entry in std::fs::read_dir(&folder)? {
                let entry = entry?;
                let (path, kind) = (entry.path(), entry.file_type()?);
                let shown = path.display().to_string();
                if kind.is_dir() {
                    open.push(path);
                } else if java::is_class_file(&shown) || java::is_archive(&shown) {
                    files.push(path);
                }
            }
        }
        files.sort();
        if files.is_empty() {
            let what = "there are no class files and no jars in it";
            return Err(io::Error::other(what).into());
        }
    } else {
        files.push(path.to_owned());
    }
    let budget = budget.clone();
    Ok(files.into_iter().map(move |path| (name(&path), read_file(&path, &budget))))
}

fn read_file(path: &Path, budget: &Budget) -> Result<Vec<u8>, NoBytes> {
    // Before it is opened: to open a pipe is to wait for who writes into it.
    refuse_devices(&std::fs::metadata(path)?)?;
    let mut file = File::open(path)?;
    let before = file.metadata()?;
    if before.is_dir() {
        return Err(
            io::Error::other("it is a directory; `selvedge check` takes directories").into()
        );
    }
    if before.len() >= TOO_LARGE {
        return Err(too_large().into());
    }
    let bytes = read(&mut file, budget)?;
    let after = file.metadata()?;
    // A pipe has no size; half of one text and half of another is neither.
    let changed = before.is_file()
        && (before.len() != after.len()
            || after.len() != bytes.len() as u64
            || before.modified().ok() != after.modified().ok());
    if changed {
        return Err(io::Error::other("it changed while it was read; try again").into());
    }
    Ok(bytes)
}

#[cfg(unix)]
fn refuse_devices(metadata: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = metadata.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        let what = "it is a device; name a file, or - for standard input";
        return Err(io::Error::other(what));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_devices(_: &Metadata) -> io::Result<()> {
    Ok(())
}

fn read(from: &mut impl Read, budget: &Budget) -> Result<Vec<u8>, NoBytes> {
    let mut bytes = Vec::new();
    loop {
        let read = from.by_ref().take(CHUNK).read_to_end(&mut bytes)?;
        if bytes.len() as u64 >= TOO_LARGE {
            return Err(too_large().into());
        }
        if (read as u64) < CHUNK {
            return Ok(bytes);
        }
        budget.check().map_err(NoBytes::Stopped)?;
    }
}

fn too_large() -> io::Error {
    io::Error::other("it has 512 MiB or more")
}
