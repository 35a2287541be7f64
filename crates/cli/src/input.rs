//! # Idea
//! From a path to a model: read the file, find out which language it is in, and print what the front
//! end has to say about it.

use crate::args::reach::{Dialect, Files};
use crate::exit::Exit;
use crate::output::Output;
use crate::watchdog::within;
use selvedge_analysis::Instance;
use selvedge_base::{Budget, Diagnostic, Span, StopReason};
use selvedge_program::copies::Asked;
use selvedge_program::{Ipa, Program, Target};
use selvedge_report::Source;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// A text with the name to show for it.
#[derive(Clone, Debug)]
pub struct Text {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// The text, without a byte-order mark.
    pub text: String,
}

impl Text {
    /// The same for the reports.
    pub fn source(&self) -> Source<'_> {
        Source { name: &self.name, text: &self.text }
    }
}

/// A model and where it comes from.
#[derive(Clone, Debug)]
pub struct Model {
    /// The source.
    pub text: Text,
    /// What the front end made of it.
    pub program: Program,
    /// What the front end had to say, and that did not stop it.
    pub warnings: Vec<Diagnostic>,
}

/// The languages of models.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// EML.
    Eml,
    /// The model's own text form.
    TextForm,
    /// Concurrent Boolean programs.
    Boolean,
    /// Concurrent pushdown systems.
    Pushdown,
}

impl Language {
    /// The language of a text: by the extension of its name, or by its first word.
    fn of(path: &Path, text: &str) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("slv") => return Self::TextForm,
            Some("bp") => return Self::Boolean,
            Some("pds") => return Self::Pushdown,
            Some("eml") => return Self::Eml,
            _ => {}
        }
        match first_word(text) {
            "program" => Self::TextForm,
            "decl" | "void" | "bool" | "dfs" => Self::Boolean,
            _ if is_pushdown(text) => Self::Pushdown,
            _ => Self::Eml,
        }
    }
}

/// A model with data, and what its files ask about it.
#[derive(Clone, Debug)]
pub struct DataModel {
    /// The source.
    pub text: Text,
    /// The language that it is in.
    pub language: Language,
    /// What the front end made of it.
    pub program: Program,
    /// The target that a file beside it names, as it was written.
    pub target: Option<(String, Target)>,
    /// How many threads a start site may start, if some had to be cut off.
    pub starts_per_site: Option<u32>,
    /// Labels of the source that no thread can reach, because no thread has their procedure.
    pub unused_labels: Vec<String>,
    /// What the front end had to say, and that did not stop it.
    pub warnings: Vec<Diagnostic>,
}

/// How Boolean programs are to be read.
#[derive(Clone, Copy, Default, Debug)]
pub struct Reading {
    /// The dialect; found out from the text if there is none.
    pub dialect: Option<Dialect>,
    /// How many threads a site starts that could start any number, unless an option says it; such
    /// programs are refused if there is none.
    pub starts_per_site: Option<u32>,
}

/// Texts of this many bytes and more are refused. Places count in 32 bits, and what is made of a
/// text takes many times its size.
const TOO_LARGE: u64 = 1 << 29;
/// How many bytes are read between two looks at the budget.
const CHUNK: u64 = 1 << 20;

/// Reads the model at `path`; `-` is standard input. Mistakes have been printed when this returns.
pub fn model(path: &Path, output: Output, budget: &Budget) -> Result<Model, Exit> {
    let (input, reading) = (Files::at(path), Reading::default());
    let DataModel { text, program, warnings, .. } = data_model(&input, reading, output, budget)?;
    Ok(Model { text, program, warnings })
}

/// Reads a model for questions of these kinds: where threads stand for any number of copies, with as
/// many as decide them, or with `most`, which is returned then. Mistakes have been printed when this
/// returns.
pub fn instance(
    path: &Path,
    asked: &[Asked],
    most: u32,
    output: Output,
    budget: &Budget,
) -> Result<(Model, Option<u32>), Exit> {
    let model = model(path, output, budget)?;
    let Instance { program, limit } = selvedge_analysis::instance(model.program, asked, most);
    Ok((Model { program, ..model }, limit))
}

/// Reads a model with data and what is asked about it; `-` is standard input. Mistakes have been
/// printed when this returns.
pub fn data_model(
    input: &Files,
    reading: Reading,
    output: Output,
    budget: &Budget,
) -> Result<DataModel, Exit> {
    let (input, inner) = (input.clone(), budget.clone());
    let name = name(&input.file);
    let read = within(budget, move || read_data_model(&input, reading, output, &inner));
    read.unwrap_or_else(|reason| Err(not_read(&name, reason, output)))
}

/// Says that a limit was met before a file was read.
fn not_read(name: &str, reason: StopReason, output: Output) -> Exit {
    output.complain(&format!("{name} was not read to its end: {reason}"));
    Exit::Unknown
}

fn read_data_model(
    input: &Files,
    reading: Reading,
    output: Output,
    budget: &Budget,
) -> Result<DataModel, Exit> {
    let text = text(&input.file, output, budget)?;
    let language = Language::of(&input.file, &text.text);
    let misread = reading.dialect.is_some() && language != Language::Boolean;
    let misfit = misread.then_some("a dialect is for Boolean programs");
    if let Some(misfit) = misfit.or_else(|| input.misfit(language)) {
        output.complain(&format!("{misfit}, and {} is none", text.name));
        return Err(Exit::BadInput);
    }
    match language {
        Language::Eml | Language::TextForm => {
            let Model { text, program, warnings } =
                parse(text, language == Language::TextForm, output)?;
            Ok(DataModel {
                text,
                language,
                program,
                target: None,
                starts_per_site: None,
                unused_labels: Vec::new(),
                warnings,
            })
        }
        Language::Boolean => boolean(&text, input, reading, output),
        Language::Pushdown => pushdown(text, input, output, budget),
    }
}

fn boolean(
    text: &Text,
    input: &Files,
    reading: Reading,
    output: Output,
) -> Result<DataModel, Exit> {
    let starts = input.starts_per_site.or(reading.starts_per_site);
    let (model, diagnostics) = boolean_program(text, reading.dialect, starts);
    output.diagnostics(&diagnostics, &text.source());
    model.ok_or(Exit::BadInput)
}

/// A model of a Boolean program once more, with another number of starts per site; `None` if that
/// makes too large a program, or a limit is met before.
pub fn with_starts(
    model: &DataModel,
    dialect: Option<Dialect>,
    starts: u32,
    budget: &Budget,
) -> Option<DataModel> {
    let text = model.text.clone();
    within(budget, move || boolean_program(&text, dialect, Some(starts)).0).ok().flatten()
}

fn boolean_program(
    text: &Text,
    dialect: Option<Dialect>,
    starts_per_site: Option<u32>,
) -> (Option<DataModel>, Vec<Diagnostic>) {
    let options =
        selvedge_front_bool::Options { dialect: dialect.map(Into::into), starts_per_site };
    let parsed = selvedge_front_bool::parse(&text.text, &options);
    let model = parsed.program.map(|program| DataModel {
        text: text.clone(),
        language: Language::Boolean,
        program,
        target: None,
        starts_per_site: parsed.limited_starts,
        unused_labels: parsed.unused_labels,
        warnings: parsed.diagnostics.clone(),
    });
    (model, parsed.diagnostics)
}

fn pushdown(text: Text, input: &Files, output: Output, budget: &Budget) -> Result<DataModel, Exit> {
    let init = beside(input.init.as_deref(), &input.file, "init", output, budget)?;
    let spec = beside(input.spec.as_deref(), &input.file, "spec", output, budget)?;
    let content = |file: &Option<Text>| file.as_ref().map(|file| file.text.clone());
    let parsed =
        selvedge_front_pds::parse(&text.text, content(&init).as_deref(), content(&spec).as_deref());
    let complain = |complaints: &[selvedge_front_pds::Complaint]| {
        for (which, file) in [
            (selvedge_front_pds::Input::Pds, Some(&text)),
            (selvedge_front_pds::Input::Init, init.as_ref()),
            (selvedge_front_pds::Input::Spec, spec.as_ref()),
        ] {
            let own = complaints.iter().filter(|complaint| complaint.input == which);
            let own: Vec<Diagnostic> = own.map(|complaint| complaint.diagnostic.clone()).collect();
            // What is said about a file that is not there is about the system.
            output.diagnostics(&own, &file.unwrap_or(&text).source());
        }
    };
    let parsed = parsed.map_err(|complaints| {
        complain(&complaints);
        Exit::BadInput
    })?;
    complain(&parsed.warnings);
    let target = spec.as_ref().zip(parsed.target);
    let target = target.map(|(spec, target)| (spec.text.trim().to_owned(), target));
    Ok(DataModel {
        language: Language::Pushdown,
        program: parsed.program,
        target,
        starts_per_site: None,
        unused_labels: Vec::new(),
        warnings: parsed.warnings.into_iter().map(|warning| warning.diagnostic).collect(),
        text,
    })
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

/// Parses a text that is a model in text form if `in_text_form` says so or it begins like one, and
/// EML otherwise.
pub fn parse(text: Text, in_text_form: bool, output: Output) -> Result<Model, Exit> {
    let in_text_form = in_text_form || first_word(&text.text) == "program";
    let (program, diagnostics) = understand(&text.text, in_text_form);
    output.diagnostics(&diagnostics, &text.source());
    match program {
        Some(program) => Ok(Model { text, program, warnings: diagnostics }),
        None => Err(Exit::BadInput),
    }
}

/// What the front end of the language makes of a text, and what it has to say.
pub fn understand(text: &str, in_text_form: bool) -> (Option<Program>, Vec<Diagnostic>) {
    if in_text_form {
        return selvedge_program::text::parse(text);
    }
    let parsed = selvedge_front_eml::parse(text);
    (parsed.program, parsed.diagnostics)
}

/// A property and where it comes from.
#[derive(Clone, Debug)]
pub struct Property {
    /// The source.
    pub text: Text,
    /// One automaton per choice that the property leaves open.
    pub automata: Vec<Ipa>,
    /// What the front end had to say, and that did not stop it.
    pub warnings: Vec<Diagnostic>,
}

/// Reads the property of `program` at `path`. Mistakes have been printed when this returns.
pub fn property(
    path: &Path,
    program: &Program,
    output: Output,
    budget: &Budget,
) -> Result<Property, Exit> {
    let (path, inner, program) = (path.to_owned(), budget.clone(), program.clone());
    let name = name(&path);
    let read = within(budget, move || read_property(&path, &program, output, &inner));
    read.unwrap_or_else(|reason| Err(not_read(&name, reason, output)))
}

fn read_property(
    path: &Path,
    program: &Program,
    output: Output,
    budget: &Budget,
) -> Result<Property, Exit> {
    let text = text(path, output, budget)?;
    let (automata, diagnostics) = selvedge_front_property::parse(&text.text, program);
    output.diagnostics(&diagnostics, &text.source());
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Exit::BadInput);
    }
    Ok(Property { text, automata, warnings: diagnostics })
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

/// The same, left behind if the budget is used up.
pub fn text_within(path: &Path, output: Output, budget: &Budget) -> Result<Text, Exit> {
    let (inner, file) = (budget.clone(), path.to_owned());
    let read = within(budget, move || text(&file, output, &inner));
    read.unwrap_or_else(|reason| Err(not_read(&name(path), reason, output)))
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
enum NoBytes {
    Disk(io::Error),
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

fn read_file(path: &Path, budget: &Budget) -> Result<Vec<u8>, NoBytes> {
    // Before it is opened: to open a pipe is to wait for who writes into it.
    refuse_devices(&std::fs::metadata(path)?)?;
    let mut file = File::open(path)?;
    let before = file.metadata()?;
    if before.is_dir() {
        return Err(io::Error::other("it is a directory").into());
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

/// Whether a text begins like a pushdown system: with a number of shared states.
fn is_pushdown(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let first = lines.filter(|line| !line.is_empty()).find_map(|line| line.chars().next());
    first.is_some_and(|first| first.is_ascii_digit())
}

/// The first word after blanks and comments, or nothing if something else comes first.
pub fn first_word(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if let Some(comment) = text.strip_prefix("//") {
            text = comment.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(comment) = text.strip_prefix("/*") {
            text = comment.split_once("*/").map_or("", |(_, rest)| rest);
        } else {
            let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            return &text[..end.unwrap_or(text.len())];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_of_texts_without_a_name() {
        let of = |text| Language::of(Path::new("-"), text);
        assert_eq!(of("# shared states\n\n 2 # two\nPDA 0 1\n"), Language::Pushdown);
        assert_eq!(of("void main() begin skip; end"), Language::Boolean);
        assert_eq!(of("// 2\nprogram"), Language::TextForm);
        for eml in ["", "#", "lock l;", "// 2\nprocess T { }"] {
            assert_eq!(of(eml), Language::Eml, "{eml}");
        }
    }

    #[test]
    fn first_words() {
        assert_eq!(first_word("program\n"), "program");
        assert_eq!(first_word("  // program\n/* x */ process T"), "process");
        assert_eq!(first_word("programs"), "programs");
        for none in ["", "   ", "// program", "/* program", "; program"] {
            assert_eq!(first_word(none), "", "{none}");
        }
    }
}
