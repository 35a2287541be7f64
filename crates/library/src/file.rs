//! # Idea
//! One file of a check becomes a model and what there is to say about it. A file that cannot be read
//! or understood is a complaint like any other, so that the other files are analysed all the same.

use crate::ask::can_wait_alone;
use crate::cache::{Key, Store, get, put};
use crate::check::{AllAnswers, CheckOptions, CheckWork, Fixes, ask_part, check_goals, conclude};
use crate::edits::add_edits;
use crate::formulas::ProjectFormulas;
use crate::goals::{DeadEnds, ERROR, Goals};
use crate::java::{
    ClassBytes, JavaChecked, JavaClasses, JavaPart, JavaProgram, JavaSettings, JavaSites,
};
use crate::language::{Language, extension};
use crate::load::{Model, Reading, Text, Texts, load};
use crate::restrict::{ThreadRestriction, restrict};
use crate::shard::FilePart;
use crate::vacuity;
use selvedge_analysis::copies::{FEW_COPIES, instance};
use selvedge_analysis::{InternalError, Options, Prepared, left_out};
use selvedge_base::{Budget, Diagnostic, Severity, StopReason};
use selvedge_findings::wrap::with_units;
use selvedge_findings::{Checked, CheckedFile, FindingKind, Tally};
use selvedge_program::copies::CopiesFor;
use selvedge_program::{Copies, Program};
use selvedge_report::describe::count;
use std::sync::Arc;

/// How many threads a site may start at most that could start any number.
pub(crate) const STARTS: u32 = 3;

/// The language of programs in Java, which are many models.
const JAVA: &str = "java";

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
    /// What can be asked of it beside races and atomicity.
    pub goals: Goals,
    /// What there is to say about it.
    pub complaints: Vec<Diagnostic>,
    /// The texts beside it, with what there is to say about them.
    pub beside: Vec<(Text, Vec<Diagnostic>)>,
    /// Whether a limit was met before it was read.
    pub stopped: bool,
    /// The program in Java, if it is one; the model has nothing in it then.
    pub java: Option<Arc<JavaProgram>>,
    /// The bytes of its classes, if they were kept.
    pub class_bytes: Arc<ClassBytes>,
    /// The formulas of its project that are about it.
    pub formulas: ProjectFormulas,
    /// The model with threads that stand for any number of copies, if it has some and the number of copies
    /// that it has now decides everything that was asked so far.
    pub any_copies: Option<Box<Program>>,
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
    /// Whether a limit was met that depends on the machine. Who gives the limits knows.
    pub not_reproducible: bool,
    /// The answers that a part of the questions has, where only that was asked.
    pub part: Option<AllAnswers>,
    /// The same of a program in Java.
    pub java_part: Option<JavaPart>,
    /// The program that the findings are about and what is claimed, if the file is many models.
    pub about: Option<(Program, String, JavaSites)>,
}

impl FileAnswer {
    /// What was found in a model.
    fn of_model(checked: Checked, stopped: Option<StopReason>) -> Self {
        Self {
            checked,
            from_cache: false,
            stopped,
            not_reproducible: false,
            part: None,
            java_part: None,
            about: None,
        }
    }

    /// What was found in a program in Java.
    pub fn of_java(java: JavaChecked, stopped: Option<StopReason>) -> Self {
        let JavaChecked { checked, program, claim, sites, .. } = java;
        Self { about: Some((program, claim, sites)), ..Self::of_model(checked, stopped) }
    }

    /// How many questions are open.
    pub fn open(&self) -> usize {
        self.checked.tallies.iter().map(|(_, tally)| tally.unknown).sum()
    }
}

impl Loaded {
    /// What is understood of a text; one that is not `named` and does not say what it is, is EML.
    pub fn new(text: Text, named: bool) -> Self {
        Self::restricted(Texts::from(text), named, &[], &Budget::new())
    }

    /// The same for a text with others beside it, where only some runs of threads count. The budget is for
    /// automata that have to be joined.
    pub fn restricted(
        texts: Texts,
        named: bool,
        restrictions: &[ThreadRestriction],
        budget: &Budget,
    ) -> Self {
        if named && Language::detect(&texts.program.name, &texts.program.text).is_none() {
            let help = match extension(&texts.program.name) {
                Some("ipa") => {
                    "a property is checked on a program: selvedge atomicity PROGRAM --property FILE"
                }
                Some("init" | "spec") => {
                    "it is read with the pushdown system beside it: name the .pds file"
                }
                Some(crate::code::EXTENSION) => "code in text form is for `selvedge show`",
                Some("nwa") => "nested-word automata are for `selvedge nwa`",
                _ => {
                    "there are EML programs (.eml), models in text form (.slv), Boolean programs \
                     (.bp) and pushdown systems (.pds); `selvedge check` also takes programs in Java \
                     (.class, .jar)"
                }
            };
            let message = "this is no file that Selvedge knows";
            let complaint = Diagnostic::global("unknown-format", Severity::Error, message);
            return Self::refused(texts.program, complaint.with_help(help.to_owned()));
        }
        let reading = Reading { dialect: None, starts_per_site: Some(STARTS) };
        let (model, said) = load(&texts, reading);
        let mut said = said.into_iter().map(|(_, complaints)| complaints);
        let complaints = said.next().unwrap_or_default();
        let others: Vec<Vec<Diagnostic>> = said.collect();
        let Texts { program: text, init, spec } = texts;
        let language = Language::of(&text.name, &text.text);
        let mut loaded = Self { language: language.extension(), complaints, ..Self::nothing(text) };
        // What is said of a text that is not there is said of the program.
        let mut others = others.into_iter();
        for beside in [init, spec] {
            let own = others.next().unwrap_or_default();
            match beside {
                Some(beside) => loaded.beside.push((beside, own)),
                None => loaded.complaints.extend(own),
            }
        }
        if let Some(mut model) = model {
            match restrict(&mut model.program, restrictions, budget) {
                Ok(()) => loaded.understand(model),
                Err(wrong) => loaded.complaints.extend(wrong),
            }
        }
        loaded
    }

    fn understand(&mut self, model: Model) {
        let Model { program, language, target, starts_per_site, unused_labels, .. } = model;
        let many = program.threads.iter().any(|thread| thread.copies == Copies::Any);
        let kinds = [CopiesFor::Threads(2), CopiesFor::Deadlocks];
        let mut given = many.then(|| program.clone());
        let decided = instance(program, &kinds, FEW_COPIES);
        self.copies = decided.limit;
        // How many copies decide what is reached is never known.
        let asks = target.is_some() || Goals::new(&decided.program, language).may_be_long();
        let (program, few) = match given.take_if(|_| asks) {
            Some(given) => {
                let few = instance(given, &[], FEW_COPIES);
                (few.program, few.limit)
            }
            None => (decided.program, None),
        };
        self.any_copies = given.map(Box::new);
        let goals = Goals::new(&program, language);
        self.goals = Goals { target, starts_per_site, copies: few, ..goals };
        if unused_labels.iter().any(|label| label == ERROR) {
            self.goals.errors.get_or_insert_default();
        }
        let nothing = self.nothing_to_ask(&program);
        self.complaints.extend(
            nothing.map(|message| Diagnostic::global("nothing-to-ask", Severity::Warning, message)),
        );
        self.program = Some(program);
    }

    /// Why there is nothing to ask, if so and if nobody has said it yet.
    fn nothing_to_ask(&self, program: &Program) -> Option<&'static str> {
        let said = self.complaints.iter().any(|one| one.code == "no-atomicity-question");
        let asks = FindingKind::CHECKED.into_iter().any(|kind| self.goals.question(kind).is_some());
        if said || asks || can_wait_alone(program) {
            return None;
        }
        if program.threads.len() < 2 {
            return Some("fewer than two threads take part, so there is nothing to ask");
        }
        let shares = !program.locations.is_empty() || !program.locks.is_empty();
        (!shares).then_some(
            "there is no shared location, no lock, no assertion and no label `ERROR`, so there is \
             nothing to ask",
        )
    }

    fn nothing(text: Text) -> Self {
        Self {
            text,
            language: "",
            program: None,
            copies: None,
            goals: Goals::default(),
            complaints: Vec::new(),
            beside: Vec::new(),
            stopped: false,
            java: None,
            class_bytes: Arc::default(),
            formulas: ProjectFormulas::default(),
            any_copies: None,
        }
    }

    /// A program in Java; `name` is what was read.
    pub fn java(
        name: String,
        mut classes: JavaClasses,
        settings: &JavaSettings,
        budget: &Budget,
    ) -> Self {
        let mut loaded = Self { language: JAVA, ..Self::nothing(Text::new(name, "")) };
        loaded.class_bytes = Arc::new(classes.take_bytes());
        let said: Vec<(String, Diagnostic)> = classes.complaints.clone();
        loaded.beside = said
            .into_iter()
            .map(|(file, complaint)| (Text::new(file, ""), vec![complaint]))
            .collect();
        let damaged = loaded.beside.iter().flat_map(|(_, said)| said).any(Diagnostic::is_error);
        if !damaged {
            match classes.program(settings, budget) {
                Ok(program) => {
                    loaded.complaints.extend(program.unknown_names());
                    loaded.java = Some(Arc::new(program));
                    loaded.program = Some(Program::default());
                }
                Err(complaint) => loaded.complaints.push(*complaint),
            }
        }
        loaded
    }

    /// A program in Java whose questions were answered in parts.
    pub fn java_in_parts(name: &str) -> Self {
        let text = Text::new(name, "");
        Self { language: JAVA, program: Some(Program::default()), ..Self::nothing(text) }
    }

    /// A file of which nothing is understood.
    pub fn refused(text: Text, complaint: Diagnostic) -> Self {
        Self { complaints: vec![complaint], ..Self::nothing(text) }
    }

    /// Has the formulas of a project asked that are about this file; `relative` is its name as seen from the
    /// folder of the configuration. To be called before it is prepared.
    pub fn ask_formulas(&mut self, formulas: &ProjectFormulas, relative: &str) {
        self.formulas = formulas.about(&self.text.name, relative);
        if self.formulas.all.is_empty() || self.program.is_none() {
            return;
        }
        self.complaints.retain(|one| one.code != "nothing-to-ask");
        if let Some(given) = self.any_copies.take() {
            // How many copies decide a formula is not known.
            let few = instance(*given, &[], FEW_COPIES);
            let language = Language::of(&self.text.name, &self.text.text);
            let Goals { target, starts_per_site, .. } = std::mem::take(&mut self.goals);
            let goals = Goals::new(&few.program, language);
            self.goals = Goals { target, starts_per_site, copies: few.limit, ..goals };
            self.program = Some(few.program);
        }
    }

    /// Makes questions of the formulas, and says what is wrong with them.
    fn understand_formulas(&mut self) {
        if self.formulas.all.is_empty() {
            return;
        }
        let Some(program) = &self.program else { return };
        let name = &self.text.name;
        let (questions, wrong) = if self.java.is_some() {
            let why = "formulas are asked about models only";
            (Vec::new(), self.formulas.not_asked(name, why))
        } else {
            self.formulas.questions(program, name)
        };
        self.goals.formulas = questions;
        if !wrong.is_empty() {
            self.beside.push((self.formulas.config.clone(), wrong));
        }
    }

    /// Adds the units of work that the options ask for, and says what the program lacks for the
    /// questions about it.
    pub fn prepare(&mut self, options: &CheckOptions) {
        if self.java.is_some() {
            self.understand_formulas();
            return;
        }
        let Some(program) = &mut self.program else { return };
        if let Some(units) = options.add_units {
            *program = with_units(program, units);
            // Nodes have other numbers now.
            let Goals { errors, target, starts_per_site, copies, .. } =
                std::mem::take(&mut self.goals);
            let language = Language::of(&self.text.name, &self.text.text);
            self.goals = Goals { target, starts_per_site, copies, ..Goals::new(program, language) };
            self.goals.errors = self.goals.errors.take().or(errors.map(|_| Vec::new()));
        }
        self.understand_formulas();
        if options.chosen && self.goals.dead_ends == DeadEnds::OnRequest {
            self.goals.dead_ends = DeadEnds::Asked;
            self.complaints.retain(|one| one.code != "nothing-to-ask");
        }
        let Some(program) = &self.program else { return };
        let said = vacuity::lacking(program, self.places_in());
        // Who says what must not fail has said what must hold.
        let atomicity = options.kinds.contains(&FindingKind::Atomicity) && !self.goals.has_search();
        let known: Vec<_> = self.complaints.iter().filter_map(|one| one.primary.clone()).collect();
        let is_new = |one: &Diagnostic| {
            let place = one.primary.as_ref().map(|label| label.span);
            let said = known.iter().any(|label| Some(label.span) == place);
            !said && (atomicity || one.code != vacuity::NO_UNITS_CODE)
        };
        self.complaints.extend(said.into_iter().filter(is_new));
    }

    /// The text that the places of the program are in, if that is the one that was read.
    fn places_in(&self) -> Option<&str> {
        let is_source = self.program.as_ref().is_some_and(|program| program.files.is_empty());
        (is_source && self.language != Language::TextForm.extension()).then_some(&self.text.text)
    }

    /// What is to be said about the model after it was analysed.
    pub fn afterwards(&self, checked: &Checked) -> Vec<Diagnostic> {
        let mut said = checked.faults.clone();
        said.extend(vacuity::unreached(&checked.unreached, self.places_in()));
        said
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
        progress: &mut dyn FnMut(CheckWork, usize, usize),
    ) -> Option<Result<FileAnswer, InternalError>> {
        if let Some(java) = &self.java {
            let answer = java.check_cached(options, cache, budget, progress);
            return Some(answer.map(|java| FileAnswer::of_java(java, budget.stopped())));
        }
        let program = self.program.as_ref()?;
        let beside = self.beside.iter().map(|(text, _)| text.text.as_str());
        let texts: Vec<&str> = std::iter::once(self.text.text.as_str()).chain(beside).collect();
        let key = |build| {
            let key = Key::new(build, self.language, &texts, options);
            key.restricted(&program.restrictions).asked(&self.goals.formulas)
        };
        let cache = cache.map(|(store, build)| (store, key(build)));
        if let Some((store, key)) = &cache
            && let Some((checked, _)) = get(*store, key, program, &self.goals, budget)
        {
            let known = FileAnswer::of_model(checked, None);
            return Some(Ok(FileAnswer { from_cache: true, ..known }));
        }
        let options = self.options(options);
        let metered = budget.metered_part();
        let checked = match check_goals(program, &self.goals, &options, &metered, progress) {
            Ok(checked) => checked,
            Err(bug) => return Some(Err(bug)),
        };
        // Looking for fixes ends early without a word if a limit is met.
        let stopped = budget.stopped();
        if let Some((store, key)) = &cache
            && stopped.is_none()
            && checked.faults.is_empty()
        {
            put(*store, key, &checked, program, metered.polls());
        }
        Some(Ok(FileAnswer::of_model(checked, stopped)))
    }

    /// What a model is worth about which no question arises: nothing if threads were left out of it. Of a
    /// program in Java that is known already.
    fn judge_without_question(&self, checked: &mut Checked) {
        let Some(program) = self.program.as_ref().filter(|_| self.language != JAVA) else { return };
        let asked = checked.tallies.iter().any(|(_, tally)| tally.questions > 0);
        if asked || !checked.open.is_empty() {
            return;
        }
        let Goals { starts_per_site, copies, .. } = self.goals;
        let few = starts_per_site.map(|limit| (limit, "start", "site"));
        let few = few.or(self.copies.or(copies).map(|limit| (limit, "copy", "process")));
        if let Some((limit, what, of)) = few {
            let what = count(limit as usize, what);
            let why = format!("nothing to check: no question arises with at most {what} per {of}");
            checked.open.push(why);
        } else {
            checked.nothing_shared = vacuity::shares_nothing(program);
        }
    }

    fn options(&self, options: &CheckOptions) -> CheckOptions {
        let analysis = Options { copies: self.copies, ..options.analysis };
        CheckOptions { analysis, ..options.clone() }
    }

    /// Asks a part of the questions about the model; `None` if nothing was understood. The findings are
    /// those of this part, without fixes.
    ///
    /// # Errors
    /// If an engine contradicts itself.
    pub fn check_part(
        &self,
        options: &CheckOptions,
        part: &FilePart<'_>,
        budget: &Budget,
        progress: &mut dyn FnMut(CheckWork, usize, usize),
    ) -> Option<Result<FileAnswer, InternalError>> {
        if let Some(java) = &self.java {
            let answer = java.check_part(options, part.shard, budget, progress);
            return Some(answer.map(|(java, part)| {
                let mut answer = FileAnswer::of_java(java, budget.stopped());
                answer.java_part = Some(part);
                answer
            }));
        }
        let prepared = Prepared::new(self.program.as_ref()?);
        let options = CheckOptions { fixes: Fixes::Skip, ..self.options(options) };
        let (goals, part) = (&self.goals, Some(part));
        let answered = ask_part(&prepared, goals, &options, part, budget, progress);
        Some(answered.and_then(|answers| {
            let checked = conclude(&prepared, goals, &options, answers.clone(), budget)?;
            let answer = FileAnswer::of_model(checked, budget.stopped());
            Ok(FileAnswer { part: Some(answers), ..answer })
        }))
    }

    /// What the answers to all questions about the model show; `None` if nothing was understood.
    ///
    /// # Errors
    /// If an engine contradicts itself.
    pub fn conclude(
        &self,
        options: &CheckOptions,
        answers: AllAnswers,
        budget: &Budget,
    ) -> Option<Result<FileAnswer, InternalError>> {
        let prepared = Prepared::new(self.program.as_ref()?);
        let options = self.options(options);
        let checked = conclude(&prepared, &self.goals, &options, answers, budget);
        Some(checked.map(|checked| FileAnswer::of_model(checked, None)))
    }

    /// All complaints, each with the text that it is about.
    pub fn said(&self) -> impl Iterator<Item = (&Text, &Diagnostic)> {
        let own = self.complaints.iter().map(|complaint| (&self.text, complaint));
        let beside = self.beside.iter().flat_map(|(text, complaints)| {
            complaints.iter().map(move |complaint| (text, complaint))
        });
        own.chain(beside)
    }

    /// The file with what was found in it, for the reports; with the program that the findings are about, if
    /// that is not the one that was read.
    pub fn report_about(
        &self,
        checked: Checked,
        about: Option<(Program, String, JavaSites)>,
    ) -> CheckedFile {
        let Some((program, claim, _)) = about else { return self.report(checked) };
        CheckedFile { program, claims: vec![claim], ..self.report(checked) }
    }

    /// The file with what was found in it, for the reports.
    pub fn report(&self, mut checked: Checked) -> CheckedFile {
        self.judge_without_question(&mut checked);
        if let Some(program) = &self.program {
            add_edits(&mut checked.findings, &self.text, program);
        }
        let about_events = [FindingKind::Atomicity, FindingKind::Race];
        let asks = |(kind, tally): &(FindingKind, Tally)| {
            about_events.contains(kind) && tally.questions > 0
        };
        let asked = checked.tallies.iter().any(asks);
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
            not_reproducible: false,
            left_out,
            not_asked: checked.not_asked,
            nothing_shared: checked.nothing_shared,
            claims: Vec::new(),
            sources: std::collections::BTreeMap::new(),
        }
    }
}
