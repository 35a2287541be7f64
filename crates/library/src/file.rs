//! # Idea
//! One file of a check becomes a model and what there is to say about it. A file that cannot be read
//! or understood is a complaint like any other, so that the other files are analysed all the same.

use crate::ask::can_wait_alone;
use crate::cache::{Key, Store, get, put};
use crate::check::{CheckOptions, check};
use crate::language::{Language, extension, first_word};
use crate::load::{Text, understand};
use crate::restrict::{ThreadRestriction, restrict};
use selvedge_analysis::copies::{FEW_COPIES, instance};
use selvedge_analysis::{InternalError, Options, left_out};
use selvedge_base::{Budget, Diagnostic, Severity, StopReason};
use selvedge_findings::{Checked, CheckedFile, FindingKind};
use selvedge_program::Program;
use selvedge_program::copies::CopiesFor;

/// A file that was looked at.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name and text.
    pub text: Text,
    /// The language that it was read as.
    pub language: &'static str,
    /// The model, unless a complaint is an error; with as many copies of its threads as decide what
    /// is asked.
    pub program: Option<Program>,
    /// With how many copies nothing beyond them is known, if so.
    pub copies: Option<u32>,
    /// What there is to say about it.
    pub complaints: Vec<Diagnostic>,
    /// Whether a limit was met before it was read.
    pub stopped: bool,
}

/// What was found in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileAnswer {
    /// The findings, and what was asked.
    pub checked: Checked,
    /// Whether it was known already.
    pub from_cache: bool,
    /// What stopped the analysis before it was complete.
    pub stopped: Option<StopReason>,
}

impl FileAnswer {
    /// How many questions are open.
    pub fn open(&self) -> usize {
        self.checked.tallies.iter().map(|(_, tally)| tally.unknown).sum()
    }
}

impl Loaded {
    /// What is understood of a text; one that is not `named` and does not say what it is, is EML.
    pub fn new(text: Text, named: bool) -> Self {
        Self::restricted(text, named, &[], &Budget::new())
    }

    /// The same, where only some runs of threads count. The budget is for automata that have to be joined.
    pub fn restricted(
        text: Text,
        named: bool,
        restrictions: &[ThreadRestriction],
        budget: &Budget,
    ) -> Self {
        let extension = extension(&text.name);
        let (language, read) = match (extension, first_word(&text.text)) {
            (Some("slv"), _) | (_, "program") => ("slv", Language::TextForm),
            (Some("eml"), _) | (_, "lock" | "var" | "process") => ("eml", Language::Eml),
            _ if !named => ("eml", Language::Eml),
            _ => {
                let help = match extension {
                    Some("ipa") => {
                        "a property is checked on a program: selvedge atomicity PROGRAM --property \
                             FILE"
                    }
                    Some("bp" | "pds") => "programs with data are for `selvedge reach`",
                    _ => "there are EML programs (.eml) and models in text form (.slv)",
                };
                let message = "this is no file that Selvedge knows";
                let complaint = Diagnostic::global("unknown-format", Severity::Error, message);
                return Self::refused(text, complaint.with_help(help.to_owned()));
            }
        };
        let (program, mut complaints) = understand(&text.text, read);
        let program =
            program.and_then(|mut program| match restrict(&mut program, restrictions, budget) {
                Ok(()) => Some(program),
                Err(wrong) => {
                    complaints.extend(wrong);
                    None
                }
            });
        let kinds = [CopiesFor::Threads(2), CopiesFor::Deadlocks];
        let instance = program.map(|program| instance(program, &kinds, FEW_COPIES));
        let copies = instance.as_ref().and_then(|instance| instance.limit);
        let program = instance.map(|instance| instance.program);
        if let Some(program) = &program
            && program.threads.len() < 2
            && !can_wait_alone(program)
            && !complaints.iter().any(|complaint| complaint.code == "no-atomicity-question")
        {
            let message = "fewer than two threads take part, so there is nothing to ask";
            complaints.push(Diagnostic::global("nothing-to-ask", Severity::Warning, message));
        }
        Self { text, language, program, copies, complaints, stopped: false }
    }

    /// A file of which nothing is understood.
    pub fn refused(text: Text, complaint: Diagnostic) -> Self {
        let complaints = vec![complaint];
        Self { text, language: "", program: None, copies: None, complaints, stopped: false }
    }

    /// Asks everything about the model, or gives the answer that is known already; `None` if nothing was
    /// understood. The cache comes with what tells one build of the tool from another.
    ///
    /// # Errors
    /// If an engine contradicts itself.
    pub fn check(
        &self,
        options: &CheckOptions,
        cache: Option<(&dyn Store, &str)>,
        budget: &Budget,
        progress: &mut dyn FnMut(FindingKind, usize, usize),
    ) -> Option<Result<FileAnswer, InternalError>> {
        let program = self.program.as_ref()?;
        let key = |build| {
            let key = Key::new(build, self.language, &self.text.text, options);
            key.restricted(&program.restrictions)
        };
        let cache = cache.map(|(store, build)| (store, key(build)));
        if let Some((store, key)) = &cache
            && let Some(checked) = get(*store, key, program, budget)
        {
            return Some(Ok(FileAnswer { checked, from_cache: true, stopped: None }));
        }
        let analysis = Options { copies: self.copies, ..options.analysis };
        let options = CheckOptions { analysis, ..options.clone() };
        let checked = match check(program, &options, budget, progress) {
            Ok(checked) => checked,
            Err(bug) => return Some(Err(bug)),
        };
        // Looking for fixes ends early without a word if a limit is met.
        let stopped = budget.stopped();
        if let Some((store, key)) = &cache
            && stopped.is_none()
        {
            put(*store, key, &checked, program);
        }
        Some(Ok(FileAnswer { checked, from_cache: false, stopped }))
    }

    /// The file with what was found in it, for the reports.
    pub fn report(&self, checked: Checked) -> CheckedFile {
        let about_events = [FindingKind::Atomicity, FindingKind::Race];
        let asked = checked.tallies.iter().any(|(kind, _)| about_events.contains(kind));
        let left_out = self.program.as_ref().filter(|_| asked).map(left_out).unwrap_or_default();
        CheckedFile {
            file: self.text.name.clone(),
            source: self.text.text.clone(),
            program: self.program.clone().unwrap_or_default(),
            findings: checked.findings,
            suppressed: Vec::new(),
            known: Vec::new(),
            tallies: checked.tallies,
            open: checked.open,
            left_out,
        }
    }
}
