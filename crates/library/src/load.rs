//! # Idea
//! From texts to models: what a front end makes of the text of a program, with what the texts beside
//! it ask about it; and properties of a program. Whoever has files reads them, here are texts only.
//!
//! # Invariants
//! 1. There is a model exactly if no complaint is an error.

use crate::language::{Language, first_word};
use selvedge_base::Diagnostic;
use selvedge_program::{Ipa, Program, Target};
use selvedge_report::Source;

pub use selvedge_front_bool::Dialect;

/// A text with the name to show for it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Text {
    /// The name of its file, or what stands for it.
    pub name: String,
    /// The text, without a byte-order mark.
    pub text: String,
}

impl Text {
    /// A text under a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The same for the reports.
    pub fn source(&self) -> Source<'_> {
        Source { name: &self.name, text: &self.text }
    }
}

/// The texts of a model.
#[derive(Clone, Debug)]
pub struct Texts {
    /// The program.
    pub program: Text,
    /// The initial configuration of a pushdown system.
    pub init: Option<Text>,
    /// The target of a pushdown system.
    pub spec: Option<Text>,
}

impl From<Text> for Texts {
    fn from(program: Text) -> Self {
        Self { program, init: None, spec: None }
    }
}

/// How Boolean programs are to be read.
#[derive(Clone, Copy, Default, Debug)]
pub struct Reading {
    /// The dialect; found out from the text if there is none.
    pub dialect: Option<Dialect>,
    /// How many threads a site starts that could start any number; such programs are refused if there
    /// is none.
    pub starts_per_site: Option<u32>,
}

/// What was understood of some texts.
#[derive(Clone, Debug)]
pub struct Model {
    /// The source.
    pub text: Text,
    /// The language that it is in.
    pub language: Language,
    /// What the front end made of it.
    pub program: Program,
    /// The target that the text beside it names, as it was written.
    pub target: Option<(String, Target)>,
    /// How many threads a start site may start, if some had to be cut off.
    pub starts_per_site: Option<u32>,
    /// Labels of the source that no thread can reach, because no thread has their procedure.
    pub unused_labels: Vec<String>,
    /// What the front end had to say, and that did not stop it.
    pub warnings: Vec<Diagnostic>,
}

/// Complaints, by the texts that they are about.
pub type TextComplaints<'t> = Vec<(Source<'t>, Vec<Diagnostic>)>;

/// What the front end of their language makes of some texts, and what it has to say.
pub fn load(texts: &Texts, reading: Reading) -> (Option<Model>, TextComplaints<'_>) {
    let text = &texts.program;
    let language = Language::of(&text.name, &text.text);
    let (model, diagnostics) = match language {
        Language::Eml | Language::TextForm => {
            let (program, diagnostics) = understand(&text.text, language);
            (program.map(|program| Model::new(text, language, program, &diagnostics)), diagnostics)
        }
        Language::Boolean => boolean(text, reading),
        Language::Pushdown => return pushdown(texts),
    };
    (model, vec![(text.source(), diagnostics)])
}

/// What a text that is in text form, or begins like one, says, or an EML program.
pub(crate) fn understand(text: &str, language: Language) -> (Option<Program>, Vec<Diagnostic>) {
    if language == Language::TextForm || first_word(text) == "program" {
        return selvedge_program::text::parse(text);
    }
    let parsed = selvedge_front_eml::parse(text);
    (parsed.program, parsed.diagnostics)
}

impl Model {
    fn new(text: &Text, language: Language, program: Program, warnings: &[Diagnostic]) -> Self {
        Self {
            text: text.clone(),
            language,
            program,
            target: None,
            starts_per_site: None,
            unused_labels: Vec::new(),
            warnings: warnings.to_vec(),
        }
    }

    /// A model of a Boolean program once more, with another number of starts per site; `None` if that
    /// makes too large a program.
    pub fn with_starts(&self, dialect: Option<Dialect>, starts: u32) -> Option<Self> {
        boolean(&self.text, Reading { dialect, starts_per_site: Some(starts) }).0
    }
}

fn boolean(text: &Text, reading: Reading) -> (Option<Model>, Vec<Diagnostic>) {
    let Reading { dialect, starts_per_site } = reading;
    let options = selvedge_front_bool::Options { dialect, starts_per_site };
    let parsed = selvedge_front_bool::parse(&text.text, &options);
    let model = parsed.program.map(|program| Model {
        starts_per_site: program.starts_per_site,
        unused_labels: parsed.unused_labels,
        ..Model::new(text, Language::Boolean, program, &parsed.diagnostics)
    });
    (model, parsed.diagnostics)
}

fn pushdown(texts: &Texts) -> (Option<Model>, TextComplaints<'_>) {
    let Texts { program: text, init, spec } = texts;
    let content = |file: &'_ Option<Text>| file.as_ref().map(|file| file.text.clone());
    let parsed =
        selvedge_front_pds::parse(&text.text, content(init).as_deref(), content(spec).as_deref());
    let by_text = |complaints: &[selvedge_front_pds::Complaint]| {
        [
            (selvedge_front_pds::Input::Pds, Some(text)),
            (selvedge_front_pds::Input::Init, init.as_ref()),
            (selvedge_front_pds::Input::Spec, spec.as_ref()),
        ]
        .into_iter()
        .map(|(which, file)| {
            let own = complaints.iter().filter(|complaint| complaint.input == which);
            let own = own.map(|complaint| complaint.diagnostic.clone()).collect();
            // What is said about a text that is not there is about the system.
            (file.unwrap_or(text).source(), own)
        })
        .collect()
    };
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(complaints) => return (None, by_text(&complaints)),
    };
    let complaints = by_text(&parsed.warnings);
    let warnings: Vec<Diagnostic> =
        parsed.warnings.into_iter().map(|warning| warning.diagnostic).collect();
    let target = spec.as_ref().zip(parsed.target);
    let target = target.map(|(spec, target)| (spec.text.trim().to_owned(), target));
    let model = Model::new(text, Language::Pushdown, parsed.program, &warnings);
    (Some(Model { target, ..model }), complaints)
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

/// Reads a property of `program`.
///
/// # Errors
/// What is wrong with it.
pub fn property(text: Text, program: &Program) -> Result<Property, (Text, Vec<Diagnostic>)> {
    let (automata, diagnostics) = selvedge_front_property::parse(&text.text, program);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err((text, diagnostics));
    }
    Ok(Property { text, automata, warnings: diagnostics })
}
