//! # Idea
//! From a path to a model: read the file, find out which language it is in, and print what the front
//! end has to say about it.

use crate::args::reach::{Dialect, Input};
use crate::exit::Exit;
use crate::output::Output;
use selvedge_base::{Diagnostic, Span};
use selvedge_program::{Ipa, Program, Target};
use selvedge_report::Source;
use std::fs::File;
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

/// Texts of this many bytes and more are refused: places count in 32 bits.
const TOO_LARGE: u64 = u32::MAX as u64;

/// Reads the model at `path`; `-` is standard input. Mistakes have been printed when this returns.
pub fn model(path: &Path, output: Output) -> Result<Model, Exit> {
    let input = Input {
        file: path.to_owned(),
        dialect: None,
        starts_per_site: None,
        init: None,
        spec: None,
    };
    let DataModel { text, program, warnings, .. } = data_model(&input, output)?;
    Ok(Model { text, program, warnings })
}

/// Reads a model with data and what is asked about it; `-` is standard input. Mistakes have been
/// printed when this returns.
pub fn data_model(input: &Input, output: Output) -> Result<DataModel, Exit> {
    let text = text(&input.file, output)?;
    let language = Language::of(&input.file, &text.text);
    if let Some(misfit) = input.misfit(language) {
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
        Language::Boolean => boolean(text, input, output),
        Language::Pushdown => pushdown(text, input, output),
    }
}

fn boolean(text: Text, input: &Input, output: Output) -> Result<DataModel, Exit> {
    let options = selvedge_front_bool::Options {
        dialect: input.dialect.map(|dialect| match dialect {
            Dialect::Boppo => selvedge_front_bool::Dialect::Boppo,
            Dialect::Getafix => selvedge_front_bool::Dialect::Getafix,
        }),
        starts_per_site: input.starts_per_site,
    };
    let parsed = selvedge_front_bool::parse(&text.text, &options);
    output.diagnostics(&parsed.diagnostics, &text.source());
    Ok(DataModel {
        text,
        language: Language::Boolean,
        program: parsed.program.ok_or(Exit::BadInput)?,
        target: None,
        starts_per_site: parsed.limited_starts,
        unused_labels: parsed.unused_labels,
        warnings: parsed.diagnostics,
    })
}

fn pushdown(text: Text, input: &Input, output: Output) -> Result<DataModel, Exit> {
    let init = beside(input.init.as_deref(), &input.file, "init", output)?;
    let spec = beside(input.spec.as_deref(), &input.file, "spec", output)?;
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
) -> Result<Option<Text>, Exit> {
    if let Some(path) = named {
        return text(path, output).map(Some);
    }
    let path = file.with_extension(extension);
    if path.is_file() { text(&path, output).map(Some) } else { Ok(None) }
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
pub fn property(path: &Path, program: &Program, output: Output) -> Result<Property, Exit> {
    let text = text(path, output)?;
    let (automata, diagnostics) = selvedge_front_property::parse(&text.text, program);
    output.diagnostics(&diagnostics, &text.source());
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Exit::BadInput);
    }
    Ok(Property { text, automata, warnings: diagnostics })
}

/// Reads a text file; `-` is standard input. Mistakes have been printed when this returns.
pub fn text(path: &Path, output: Output) -> Result<Text, Exit> {
    read_text(path).map_err(|unreadable| {
        match unreadable {
            Unreadable::Disk(name, error) => {
                output.complain(&format!("cannot read {name}: {error}"));
            }
            Unreadable::Encoding(text, diagnostic) => {
                output.diagnostics(&[*diagnostic], &text.source());
            }
        }
        Exit::BadInput
    })
}

/// Why a text cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// The system refused, with the name to show.
    Disk(String, io::Error),
    /// It is not UTF-8; the text has replacement characters, and the diagnostic says where.
    Encoding(Text, Box<Diagnostic>),
}

/// Reads a text file; `-` is standard input.
pub fn read_text(path: &Path) -> Result<Text, Unreadable> {
    let (name, bytes) = if path.as_os_str() == "-" {
        ("<stdin>".to_owned(), read(&mut io::stdin().lock()))
    } else {
        (path.display().to_string(), open(path).and_then(|mut file| read(&mut file)))
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => return Err(Unreadable::Disk(name, error)),
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

fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::other("it is a directory"));
    }
    if metadata.len() >= TOO_LARGE {
        return Err(too_large());
    }
    Ok(file)
}

fn read(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(TOO_LARGE).read_to_end(&mut bytes)?;
    if bytes.len() as u64 >= TOO_LARGE { Err(too_large()) } else { Ok(bytes) }
}

fn too_large() -> io::Error {
    io::Error::other("it has 4 GiB or more")
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
    fn first_words() {
        assert_eq!(first_word("program\n"), "program");
        assert_eq!(first_word("  // program\n/* x */ process T"), "process");
        assert_eq!(first_word("programs"), "programs");
        for none in ["", "   ", "// program", "/* program", "; program"] {
            assert_eq!(first_word(none), "", "{none}");
        }
    }
}
