//! # Idea
//! Formulas that a project lists in its configuration, each with a name. One is about every file that is
//! checked, or about those that it says; of each of them it becomes a question, and what is wrong with it
//! is said at its place in the configuration.
//!
//! # Invariants
//! 1. A formula that speaks of something that a file lacks is a mistake, and never left out in silence.
//! 2. What is wrong with a formula keeps no other question about the file from being asked.

use crate::glob::FilePattern;
use crate::load::Text;
use crate::select;
use selvedge_base::{Diagnostic, Severity, SourceLabel, Span};
use selvedge_program::{Program, TemporalQuestion};

/// A formula about the runs of the models of a project.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProjectFormula {
    /// What it is called.
    pub name: String,
    /// The text, with definitions before it if there are some.
    pub text: String,
    /// The names of the threads that runs are fair to.
    pub fair: Vec<String>,
    /// Which files it is about, seen from the folder of the configuration or as given; all, if nothing is
    /// said.
    pub file: Option<FilePattern>,
    /// Where its text stands in the configuration, with what is around it there.
    pub span: Span,
    /// Where the first letter of its text stands there, if it stands there letter by letter.
    pub first: Option<u32>,
}

/// The formulas of a project.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProjectFormulas {
    /// The configuration that lists them.
    pub config: Text,
    /// The formulas, in its order.
    pub all: Vec<ProjectFormula>,
}

impl ProjectFormulas {
    /// Those about a file: `name` is its name as given, `relative` the one as seen from the folder of the
    /// configuration.
    #[must_use]
    pub fn about(&self, name: &str, relative: &str) -> Self {
        let names = [relative.to_owned(), name.replace('\\', "/")];
        let about = |formula: &&ProjectFormula| {
            let pattern = formula.file.as_ref();
            pattern.is_none_or(|pattern| names.iter().any(|name| pattern.matches(name)))
        };
        let all: Vec<ProjectFormula> = self.all.iter().filter(about).cloned().collect();
        if all.is_empty() {
            return Self::default();
        }
        Self { config: self.config.clone(), all }
    }

    /// The questions about a program that was read from the file `name`, and what is wrong with formulas.
    pub(crate) fn questions(
        &self,
        program: &Program,
        name: &str,
    ) -> (Vec<TemporalQuestion>, Vec<Diagnostic>) {
        let mut questions = Vec::new();
        let mut wrong = Vec::new();
        for formula in &self.all {
            match formula.question(program) {
                Ok(question) => questions.push(question),
                Err(said) => wrong.extend(said.into_iter().map(|one| formula.placed(one, name))),
            }
        }
        (questions, wrong)
    }

    /// That these formulas are not asked about a file, and why.
    pub(crate) fn not_asked(&self, name: &str, why: &str) -> Vec<Diagnostic> {
        let one = |formula: &ProjectFormula| {
            let message = format!("formula `{}` is not asked about {name}", formula.name);
            Diagnostic::error("formula-not-asked", message, formula.span, why)
                .with_severity(Severity::Warning)
                .with_help(WHICH_FILES)
        };
        self.all.iter().map(one).collect()
    }
}

/// What helps if a formula is not about all files.
const WHICH_FILES: &str = "`file = \"…\"` beside a formula says which files it is about";

impl ProjectFormula {
    fn question(&self, program: &Program) -> Result<TemporalQuestion, Vec<Diagnostic>> {
        let fair = match &self.fair[..] {
            [] => Vec::new(),
            names => select::threads(program, Some(names))?,
        };
        let (mut questions, said) = selvedge_logic::parse(&self.text, program, &fair);
        if said.iter().any(Diagnostic::is_error) {
            return Err(said);
        }
        if let (Some(question), true) = (questions.pop(), questions.is_empty()) {
            return Ok(TemporalQuestion { name: Some(self.name.clone()), ..question });
        }
        let message = "there is more than one formula in one text";
        let help = "write a [[temporal]] for each of them";
        let complaint = Diagnostic::global("bad-value", Severity::Error, message);
        Err(vec![complaint.with_help(help)])
    }

    /// A complaint about its text as one about the configuration.
    fn placed(&self, complaint: Diagnostic, file: &str) -> Diagnostic {
        let place = |span: Span| match self.first {
            Some(first) => Span::new(first + span.start, first + span.end),
            None => self.span,
        };
        let label = |label: SourceLabel| SourceLabel { span: place(label.span), ..label };
        let unnamed = || SourceLabel { span: self.span, text: "in this formula".to_owned() };
        let help = match (complaint.help, &self.file) {
            (help, Some(_)) => help,
            (Some(help), None) => Some(format!("{help}; {WHICH_FILES}")),
            (None, None) => Some(WHICH_FILES.to_owned()),
        };
        Diagnostic {
            message: format!("formula `{}`, about {file}: {}", self.name, complaint.message),
            primary: Some(complaint.primary.map_or_else(unnamed, label)),
            secondary: complaint.secondary.into_iter().map(label).collect(),
            help,
            ..complaint
        }
    }
}
