//! # Idea
//! What can be asked of a program beside races and atomicity: that nothing in it fails, that no thread
//! reaches a label named [`ERROR`], the target of the text beside it, the formulas of its project, and who
//! waits for whom.

use crate::language::Language;
use selvedge_analysis::{EngineKind, Options, QuestionKind, nests};
use selvedge_findings::FindingKind;
use selvedge_program::{
    Action, EdgeId, Expr, Feature, Literal, Measure, NodeId, Program, Question, Successors, Target,
    TemporalQuestion,
};

/// The label that no thread should reach.
pub const ERROR: &str = "ERROR";

/// Whether dead ends of a program are asked about: states in which a thread has not ended and no thread can
/// move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DeadEnds {
    /// There is no question: no thread can wait, or the cycles of waits say everything about dead ends.
    #[default]
    Implied,
    /// They are.
    Asked,
    /// Only if the user chooses them: `assume` filters runs there, so a correct program has dead ends.
    OnRequest,
}

impl DeadEnds {
    fn new(program: &Program, language: Language, follows_values: bool) -> Self {
        let has = |waits: fn(Action) -> bool| program.edges.iter().any(|edge| waits(edge.action));
        match language {
            Language::Boolean | Language::Pushdown => Self::OnRequest,
            _ if has(can_wait) || follows_values && has(acquires) => Self::Asked,
            Language::Eml if may_block(program) => Self::Asked,
            // A thread that ends with a lock blocks others without a cycle.
            _ if has(acquires) && !nests(program) => Self::Asked,
            // A guard that no step of EML has may filter runs.
            Language::TextForm if has_guards(program) => Self::OnRequest,
            _ => Self::Implied,
        }
    }
}

/// What can be asked of a program beside races and atomicity.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Goals {
    /// Whether a step can fail.
    pub can_fail: bool,
    /// Whether more than assertions can.
    pub more_can_fail: bool,
    /// Where the labels named `ERROR` are, if there are any; nowhere if no thread has their procedure.
    pub errors: Option<Vec<NodeId>>,
    /// The target of the text beside it, as it was written.
    pub target: Option<(String, Target)>,
    /// The formulas of its project that are about it.
    pub formulas: Vec<TemporalQuestion>,
    /// Whether values decide who waits for whom.
    pub follows_values: bool,
    /// Whether lock histories alone decide nothing, so that a search may not end.
    pub beyond_locks: bool,
    /// Whether dead ends are asked about.
    pub dead_ends: DeadEnds,
    /// Whether it is a pushdown system, whose contexts are counted.
    pub pushdown: bool,
    /// How many threads a start site may start, if some had to be cut off.
    pub starts_per_site: Option<u32>,
    /// With how many copies of a thread that stands for any number what is reached is asked.
    pub copies: Option<u32>,
}

impl Goals {
    /// What can be asked of a program that is all there is.
    pub fn of_program(program: &Program) -> Self {
        Self::new(program, Language::TextForm)
    }

    /// What can be asked of a program that was read from a text in this language.
    pub fn new(program: &Program, language: Language) -> Self {
        let features = program.features();
        let errors = program.labels.iter().filter(|label| label.name == ERROR);
        let errors: Vec<NodeId> = errors.map(|label| label.node).collect();
        let takes = |engine: EngineKind| {
            features.without(engine.declaration().features.iter().copied().collect()).is_empty()
        };
        let mut deciding = EngineKind::deciding(&[QuestionKind::Deadlock]).into_iter();
        let follows_values = !deciding.any(takes);
        Self {
            can_fail: can_fail(program, language),
            more_can_fail: more_can_fail(program, language),
            errors: (!errors.is_empty()).then_some(errors),
            follows_values,
            beyond_locks: !takes(EngineKind::Tupling),
            dead_ends: DeadEnds::new(program, language, follows_values),
            pushdown: language == Language::Pushdown,
            ..Self::default()
        }
    }

    /// Whether findings of a kind can be asked about.
    pub fn ask(&self, kind: FindingKind) -> bool {
        match kind {
            FindingKind::Deadlock => !self.follows_values,
            FindingKind::Atomicity | FindingKind::Race => true,
            FindingKind::Temporal => !self.formulas.is_empty(),
            other => self.question(other).is_some(),
        }
    }

    /// The question about findings of a kind, if it is one and no relation.
    pub fn question(&self, kind: FindingKind) -> Option<Question> {
        match kind {
            FindingKind::Assertion => self.can_fail.then_some(Question::Reach(Target::Assertion)),
            FindingKind::Label => {
                self.errors.clone().map(|nodes| Question::Reach(Target::Label(nodes)))
            }
            FindingKind::State => self.target.clone().map(|(_, target)| Question::Reach(target)),
            FindingKind::Stuck => (self.dead_ends == DeadEnds::Asked).then_some(Question::Stuck),
            _ => None,
        }
    }

    /// What a question is about in the words of the texts.
    pub fn subject(&self, kind: FindingKind) -> &str {
        match (kind, &self.target) {
            (FindingKind::Label, _) => ERROR,
            (FindingKind::State, Some((text, _))) => text,
            _ => "",
        }
    }

    /// Whether no run can be what a question asks for, whatever the values are.
    pub fn is_out_of_reach(&self, question: &Question) -> bool {
        matches!(question, Question::Reach(Target::Label(nodes)) if nodes.is_empty())
    }

    /// How to ask what can be reached.
    pub fn options(&self, options: &Options) -> Options {
        Options {
            measure: if self.pushdown { Measure::Contexts } else { Measure::Rounds },
            visible: self.pushdown,
            starts_per_site: self.starts_per_site,
            copies: self.copies,
            assertions: true,
            ..*options
        }
    }

    /// Whether something is searched for whose cost is not known.
    pub fn may_be_long(&self) -> bool {
        self.has_search() || self.dead_ends == DeadEnds::Asked
    }

    /// Whether something is searched for that the texts of the program ask.
    pub fn has_search(&self) -> bool {
        self.beyond_locks
            || self.can_fail
            || self.errors.is_some()
            || self.target.is_some()
            || !self.formulas.is_empty()
    }
}

/// Whether a step can fail.
pub(crate) fn can_fail(program: &Program, language: Language) -> bool {
    more_can_fail(program, language)
        || program.edges.iter().any(|edge| matches!(edge.action, Action::Assert(_)))
}

/// Whether more can fail than assertions: where values have types, or something is said of them.
fn more_can_fail(program: &Program, language: Language) -> bool {
    let features = program.features();
    let checked = [Feature::Types, Feature::Checks, Feature::Monitors];
    let values = language == Language::Eml && features.contains(Feature::Values);
    values || checked.into_iter().any(|feature| features.contains(feature))
}

/// Whether a thread may have to wait at such a step for something that is no lock.
fn can_wait(action: Action) -> bool {
    match action {
        // An atomic section waits until some way through it ends.
        Action::BeginAtomic
        | Action::Wait(_)
        | Action::Resume(_)
        | Action::Send(_)
        | Action::Recv(_)
        | Action::Start(_)
        | Action::Join(_) => true,
        Action::Skip
        | Action::Read(_)
        | Action::Write(_)
        | Action::Acquire(_)
        | Action::Release(_)
        | Action::BeginUnit
        | Action::EndUnit
        | Action::EndAtomic
        | Action::Call(_)
        | Action::Return(_)
        | Action::Assert(_)
        | Action::Notify(_)
        | Action::NotifyAll(_)
        | Action::Post(_)
        | Action::Broadcast(_) => false,
    }
}

fn acquires(action: Action) -> bool {
    matches!(action, Action::Acquire(_))
}

/// Whether a thread may stand where its values leave no step: in EML behind a lone guard, which is an
/// `assume` (a branch has two), where there is no step at all, because its condition is never true, and at a
/// `choose` among nothing.
fn may_block(program: &Program) -> bool {
    let successors = Successors::new(program);
    let guarded = |edge: EdgeId| {
        let update = program.edges[edge].update.map(|id| &program.updates[id]);
        update.is_some_and(|update| update.guard.is_some() || update.constraint.is_some())
    };
    let stops = |node: NodeId| match successors.of(node) {
        [] => !program.procedures.iter().any(|procedure| procedure.exit == node),
        [edge] => guarded(*edge),
        _ => false,
    };
    let entries = program.procedures.iter().map(|procedure| procedure.entry);
    let reached = program.edges.iter().map(|edge| edge.target).chain(entries);
    let updates = program.updates.iter().flat_map(|update| {
        let values = update.assignments.iter().map(|(_, value)| value);
        values.chain(&update.guard).chain(&update.constraint)
    });
    let passed = program.passings.iter().flat_map(|passing| &passing.arguments);
    let returned = program.returns.iter().flatten();
    let mut all = updates.chain(passed).chain(returned).chain(&program.conditions);
    reached.into_iter().any(stops) || all.any(may_choose_nothing)
}

/// Whether an expression may choose among nothing.
fn may_choose_nothing(expr: &Expr) -> bool {
    match expr {
        Expr::Choose(low, high) => {
            let some = |low: &Literal, high: &Literal| match (low, high) {
                (Literal::Int(low), Literal::Int(high)) => low <= high,
                _ => false,
            };
            !matches!((&**low, &**high), (Expr::Constant(low), Expr::Constant(high)) if some(low, high))
        }
        Expr::Constant(_)
        | Expr::Choice
        | Expr::Current(_)
        | Expr::Next(_)
        | Expr::Me
        | Expr::Copy => false,
        Expr::Element(_, inner) | Expr::Not(inner) | Expr::Negate(inner) => {
            may_choose_nothing(inner)
        }
        Expr::Binary(_, left, right) => may_choose_nothing(left) || may_choose_nothing(right),
        Expr::Ite(all) => all.iter().any(may_choose_nothing),
    }
}

fn has_guards(program: &Program) -> bool {
    program.updates.iter().any(|update| update.guard.is_some() || update.constraint.is_some())
}
