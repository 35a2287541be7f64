//! # Idea
//! Models behind each other in one program: what has a number in a model has another one there.

use selvedge_base::Id;
use selvedge_findings::Finding;
use selvedge_program::{
    Action, Deadlock, EdgeId, LocationId, LockId, Move, NodeId, PatternQuestion, ProcedureId,
    Program, Question, Race, Resource, StepKind, ThreadId, Trace, TraceStep, Wait,
};

/// By how much the numbers of a model change where it is put behind others.
#[derive(Clone, Copy)]
pub(super) struct Shift {
    threads: usize,
    locations: usize,
    locks: usize,
    procedures: usize,
    pub(super) edges: usize,
}

pub(super) fn by<I: Id>(id: I, shift: usize) -> I {
    I::from_index(id.index() + shift)
}

impl Shift {
    /// Puts a model behind a program.
    pub(super) fn append(program: &mut Program, model: &Program) -> Self {
        let shift = Self {
            threads: program.threads.len(),
            locations: program.locations.len(),
            locks: program.locks.len(),
            procedures: program.procedures.len(),
            edges: program.edges.len(),
        };
        let nodes = program.nodes.len();
        let sets = program.atomic_sets.len();
        program.files.clone_from(&model.files);
        for set in &model.atomic_sets {
            program.atomic_sets.push(set.clone());
        }
        for lock in &model.locks {
            program.locks.push(lock.clone());
        }
        for location in &model.locations {
            let mut location = location.clone();
            location.atomic_set = by(location.atomic_set, sets);
            program.locations.push(location);
        }
        for procedure in &model.procedures {
            let mut procedure = procedure.clone();
            procedure.entry = by::<NodeId>(procedure.entry, nodes);
            procedure.exit = by(procedure.exit, nodes);
            program.procedures.push(procedure);
        }
        for &procedure in &model.nodes {
            program.nodes.push(by::<ProcedureId>(procedure, shift.procedures));
        }
        for edge in &model.edges {
            let mut edge = edge.clone();
            edge.source = by(edge.source, nodes);
            edge.target = by(edge.target, nodes);
            edge.action = shift.action(edge.action);
            program.edges.push(edge);
        }
        for thread in &model.threads {
            let mut thread = thread.clone();
            thread.main = by(thread.main, shift.procedures);
            program.threads.push(thread);
        }
        shift
    }

    fn action(self, action: Action) -> Action {
        match action {
            Action::Read(one) => Action::Read(by(one, self.locations)),
            Action::Write(one) => Action::Write(by(one, self.locations)),
            Action::Acquire(one) => Action::Acquire(by(one, self.locks)),
            Action::Release(one) => Action::Release(by(one, self.locks)),
            Action::Call(one) => Action::Call(by(one, self.procedures)),
            // The models have no other actions with numbers.
            other => other,
        }
    }

    fn thread(self, id: ThreadId) -> ThreadId {
        by(id, self.threads)
    }

    fn location(self, id: LocationId) -> LocationId {
        by(id, self.locations)
    }

    fn lock(self, id: LockId) -> LockId {
        by(id, self.locks)
    }

    fn resource(self, one: Resource) -> Resource {
        match one {
            Resource::Lock(lock) => Resource::Lock(self.lock(lock)),
            Resource::End(thread) => Resource::End(self.thread(thread)),
        }
    }

    pub(super) fn finding(self, mut finding: Finding) -> Finding {
        finding.threads.iter_mut().for_each(|one| *one = self.thread(*one));
        finding.locations.iter_mut().for_each(|one| *one = self.location(*one));
        finding.locks.iter_mut().for_each(|one| *one = self.lock(*one));
        finding.question = match finding.question {
            Question::Pattern(one) => Question::Pattern(PatternQuestion {
                unit_thread: self.thread(one.unit_thread),
                other_thread: self.thread(one.other_thread),
                locations: one.locations.iter().map(|&one| self.location(one)).collect(),
                ..one
            }),
            Question::Race(one) => Question::Race(Race {
                location: self.location(one.location),
                threads: one.threads.map(|one| self.thread(one)),
            }),
            Question::Deadlock(one) => Question::Deadlock(Deadlock {
                waits: one
                    .waits
                    .into_iter()
                    .map(|wait| Wait {
                        thread: self.thread(wait.thread),
                        holds: self.resource(wait.holds),
                        wants: self.resource(wait.wants),
                    })
                    .collect(),
            }),
            other => other,
        };
        finding.trace = self.trace(finding.trace);
        finding
    }

    fn trace(self, mut trace: Trace) -> Trace {
        for step in trace.steps.iter_mut().chain(&mut trace.next) {
            self.step(step);
        }
        trace
    }

    fn step(self, step: &mut TraceStep) {
        step.thread = self.thread(step.thread);
        let edge = |id: EdgeId| by(id, self.edges);
        step.step = match step.step {
            Move::Edge(id) => Move::Edge(edge(id)),
            Move::With(id, thread) => Move::With(edge(id), self.thread(thread)),
            Move::Return => Move::Return,
        };
        step.kind = match step.kind {
            StepKind::Acquire(id) => StepKind::Acquire(self.lock(id)),
            StepKind::Release(id) => StepKind::Release(self.lock(id)),
            StepKind::Read(id) => StepKind::Read(self.location(id)),
            StepKind::Write(id) => StepKind::Write(self.location(id)),
            StepKind::Call(id) => StepKind::Call(by(id, self.procedures)),
            StepKind::Return(id) => StepKind::Return(by(id, self.procedures)),
            other => other,
        };
    }
}
