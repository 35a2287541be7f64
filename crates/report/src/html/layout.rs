//! # Idea
//! Where everything of an interleaving goes before a single tag is written: rows from the top to
//! the bottom, lanes from the left to the right, and what spans several rows of a lane: a bar from
//! an acquisition to its release, a bracket around a unit of work, a band for a phase.
//!
//! The diagram can be shown with every step or with the events only. Both forms are one list of
//! rows, each of which knows in which forms it is shown, so that the page switches between them
//! without being laid out anew.
//!
//! # Requires
//! The trace was executed by the replayer, so its calls and returns, acquisitions and releases
//! match.
//!
//! # Invariants
//! 1. Steps of the pattern have a row, in both forms.
//! 2. Rows are in the order of time; spans refer to rows and are closed intervals.
//! 3. The rows of a fold stand in a row, behind the row that names it.

use super::folds::{Fold, folds};
use crate::interleaving::events;
use selvedge_findings::Finding;
use selvedge_program::{LockId, Program, StepKind, ThreadId, Trace, TraceStep};

/// The arranged interleaving.
pub struct DiagramLayout {
    /// The lanes, from the left to the right.
    pub lanes: Vec<Lane>,
    /// The rows, from the top to the bottom.
    pub rows: Vec<Row>,
    /// Ownership of locks.
    pub bars: Vec<Bar>,
    /// Units of work.
    pub units: Vec<RowSpan>,
    /// The phases of the pattern, in order.
    pub phases: Vec<(usize, usize)>,
    /// The rows of what repeats for ever, if something does.
    pub repeats: Option<(usize, usize)>,
    /// The texts of the folds.
    pub folds: Vec<String>,
    /// How many steps are shown only with every step.
    pub silent: usize,
}

/// A thread's part of the width.
pub struct Lane {
    /// The thread.
    pub thread: ThreadId,
    /// How many locks it holds at once, at most.
    pub slots: usize,
    /// Whether it has units of work.
    pub units: bool,
}

/// A line of the diagram.
pub struct Row {
    /// What it shows.
    pub content: Content,
    /// When it is shown.
    pub shown: Shown,
    /// The fold that it is in, if there is one.
    pub fold: Option<usize>,
}

/// In which form of the diagram a row is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// In both.
    Always,
    /// With every step only.
    Full,
    /// With events only.
    Brief,
}

/// What a row shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// A step of the trace, counted from 0.
    Step {
        /// Which step.
        step: usize,
        /// Whose lane.
        lane: usize,
        /// How many calls are open.
        depth: usize,
        /// The lanes of those who receive in it, each with how many calls are open there.
        with: Vec<(usize, usize)>,
    },
    /// Another thread takes over.
    Switch {
        /// The lane that is left.
        from: usize,
        /// The lane that goes on.
        to: usize,
        /// What the thread keeps meanwhile.
        keeps: Vec<LockId>,
    },
    /// So many steps are left out.
    Gap(usize),
    /// The rows that follow are folded, in the fold of this number.
    Fold(usize),
    /// The point of the formula with this number is here.
    Point(usize),
    /// From here on the steps are repeated for ever.
    Repeats,
    /// And again from this step on, counted from 0.
    Again(usize),
    /// The executed part ends here; what follows are next steps.
    Moment,
    /// A next step, counted from 0.
    Next {
        /// Which one.
        step: usize,
        /// Whose lane.
        lane: usize,
        /// How many calls are open.
        depth: usize,
    },
}

/// Rows `first..=last` of a lane.
pub struct RowSpan {
    /// Whose lane.
    pub lane: usize,
    /// The first row.
    pub first: usize,
    /// The last row.
    pub last: usize,
    /// Whether it goes on after the end of the trace.
    pub open: bool,
}

/// The ownership of a lock.
pub struct Bar {
    /// Where.
    pub span: RowSpan,
    /// Which lock.
    pub lock: LockId,
    /// Its place beside the other locks of the lane.
    pub slot: usize,
}

/// Arranges the interleaving of a finding with the lanes of its threads first, and at most about
/// `most` steps.
pub fn layout(finding: &Finding, program: &Program, most: usize) -> DiagramLayout {
    let trace = &finding.trace;
    let lanes = lanes(trace, &finding.threads);
    let events = events(finding.kind, trace, program);
    let mut builder = Builder::new(lanes);
    let last = trace.steps.len();
    let kept = |step: usize| {
        step < most / 2 || step + most - most / 2 >= last || trace.steps[step].matched.is_some()
    };
    let mut left_out = 0;
    let folds = folds(finding, program, &events);
    let mut folds = folds.iter().peekable();
    for (position, step) in trace.steps.iter().enumerate() {
        if folds.next_if(|fold| fold.last < position).is_some() {
            builder.folding = None;
        }
        builder.points(trace, position, &mut left_out);
        if trace.repeats == Some(position) {
            builder.gap(std::mem::take(&mut left_out));
            builder.push(Content::Repeats, Shown::Always);
            builder.repeats = Some(builder.rows.len() - 1);
        }
        if kept(position) {
            builder.gap(std::mem::take(&mut left_out));
            if let Some(fold) = folds.peek().filter(|fold| fold.first <= position) {
                builder.fold(fold);
            }
            builder.switch(step.thread, events[position]);
            builder.silent += usize::from(!events[position]);
            let shown = if events[position] { Shown::Always } else { Shown::Full };
            builder.step(position, step, shown);
        } else {
            left_out += 1;
        }
        builder.execute(step.thread, step.kind, program);
        if step.matched.is_some() {
            builder.phase();
        }
    }
    builder.folding = None;
    builder.points(trace, last, &mut left_out);
    if let Some(first) = trace.repeats {
        builder.push(Content::Again(first), Shown::Always);
    }
    if !trace.next.is_empty() {
        builder.push(Content::Moment, Shown::Always);
    }
    for (position, step) in trace.next.iter().enumerate() {
        let lane = builder.lane(step.thread);
        let depth = builder.threads[lane].depth;
        builder.push(Content::Next { step: position, lane, depth }, Shown::Always);
    }
    builder.finish()
}

/// The threads of the finding, then others that move.
fn lanes(trace: &Trace, threads: &[ThreadId]) -> Vec<ThreadId> {
    let mut lanes: Vec<ThreadId> = Vec::new();
    let moving = trace.steps.iter().chain(&trace.next).flat_map(|step| {
        let receiving = step.receivers.iter().map(|receiver| receiver.thread);
        std::iter::once(step.thread).chain(receiving)
    });
    for thread in threads.iter().copied().chain(moving) {
        if !lanes.contains(&thread) {
            lanes.push(thread);
        }
    }
    lanes
}

/// What is known of a thread while the rows are laid out.
#[derive(Default)]
struct Running {
    depth: usize,
    /// The locks by slot, each with the row of its acquisition.
    held: Vec<Option<(LockId, usize)>>,
    /// The row in which the open unit began.
    unit: Option<usize>,
    units: bool,
}

struct Builder {
    order: Vec<ThreadId>,
    threads: Vec<Running>,
    rows: Vec<Row>,
    bars: Vec<Bar>,
    units: Vec<RowSpan>,
    phases: Vec<(usize, usize)>,
    silent: usize,
    /// The row from which on everything is repeated.
    repeats: Option<usize>,
    folds: Vec<String>,
    /// The fold in which rows are laid out now.
    folding: Option<usize>,
    /// The lane of the last step, with every step and with events only.
    full: Option<usize>,
    brief: Option<usize>,
}

impl Builder {
    fn new(order: Vec<ThreadId>) -> Self {
        Self {
            threads: order.iter().map(|_| Running::default()).collect(),
            order,
            rows: Vec::new(),
            bars: Vec::new(),
            units: Vec::new(),
            phases: Vec::new(),
            silent: 0,
            repeats: None,
            folds: Vec::new(),
            folding: None,
            full: None,
            brief: None,
        }
    }

    fn lane(&self, thread: ThreadId) -> usize {
        self.order.iter().position(|&other| other == thread).unwrap_or(0)
    }

    fn push(&mut self, content: Content, shown: Shown) {
        self.rows.push(Row { content, shown, fold: self.folding });
    }

    /// The rows that follow are in this fold.
    fn fold(&mut self, fold: &Fold) {
        if self.folding.is_none() {
            let number = self.folds.len();
            self.folds.push(fold.text.clone());
            self.push(Content::Fold(number), Shown::Brief);
            self.folding = Some(number);
        }
    }

    /// Says which points of a formula lie before the step at `position`.
    fn points(&mut self, trace: &Trace, position: usize, left_out: &mut usize) {
        let here = trace.points.iter().enumerate().filter(|&(_, &after)| after == position);
        for (number, _) in here {
            self.gap(std::mem::take(left_out));
            self.push(Content::Point(number + 1), Shown::Always);
        }
    }

    fn gap(&mut self, steps: usize) {
        if steps > 0 {
            self.push(Content::Gap(steps), Shown::Always);
            // What happened in between may have changed the running thread.
            (self.full, self.brief) = (None, None);
        }
    }

    /// Says that another thread takes over, in the forms of the diagram in which it does here.
    fn switch(&mut self, thread: ThreadId, event: bool) {
        let to = self.lane(thread);
        let full = self.full.replace(to).filter(|&from| from != to);
        let brief = if event { self.brief.replace(to).filter(|&from| from != to) } else { None };
        if full == brief {
            self.switch_row(full, to, Shown::Always);
        } else {
            self.switch_row(full, to, Shown::Full);
            self.switch_row(brief, to, Shown::Brief);
        }
    }

    fn switch_row(&mut self, from: Option<usize>, to: usize, shown: Shown) {
        let Some(from) = from else { return };
        let keeps = self.threads[from].held.iter().flatten().map(|&(lock, _)| lock).collect();
        self.push(Content::Switch { from, to, keeps }, shown);
    }

    fn step(&mut self, position: usize, step: &TraceStep, shown: Shown) {
        let lane = self.lane(step.thread);
        // A return stands where its call stands.
        let returns = usize::from(matches!(step.kind, StepKind::Return(_)));
        let depth = self.threads[lane].depth.saturating_sub(returns);
        let receiving = step.receivers.iter().map(|receiver| self.lane(receiver.thread));
        let with = receiving.map(|lane| (lane, self.threads[lane].depth)).collect();
        self.push(Content::Step { step: position, lane, depth, with }, shown);
    }

    /// Carries out what a step does to locks, units and calls, in the row that was laid out last.
    fn execute(&mut self, thread: ThreadId, kind: StepKind, program: &Program) {
        let row = self.rows.len().saturating_sub(1);
        let lane = self.lane(thread);
        let running = &mut self.threads[lane];
        match kind {
            StepKind::BeginUnit => {
                running.unit = Some(row);
                running.units = true;
            }
            StepKind::EndUnit => {
                if let Some(first) = running.unit.take() {
                    self.units.push(RowSpan { lane, first, last: row, open: false });
                }
            }
            StepKind::Acquire(_) | StepKind::Resume(_) => {
                let Some(lock) = kind.takes(program) else { return };
                let free = running.held.iter().position(Option::is_none);
                let slot = free.unwrap_or_else(|| {
                    running.held.push(None);
                    running.held.len() - 1
                });
                running.held[slot] = Some((lock, row));
            }
            StepKind::Release(_) | StepKind::Wait(_) => {
                let freed = kind.frees(program);
                let mut held = running.held.iter();
                let slot = held.position(|held| held.is_some_and(|(own, _)| Some(own) == freed));
                if let Some(slot) = slot
                    && let Some((lock, first)) = running.held[slot].take()
                {
                    let span = RowSpan { lane, first, last: row, open: false };
                    self.bars.push(Bar { span, lock, slot });
                }
            }
            StepKind::Call(_) => running.depth += 1,
            StepKind::Return(_) => running.depth = running.depth.saturating_sub(1),
            StepKind::Notify(_)
            | StepKind::Send(_)
            | StepKind::Post(_)
            | StepKind::Broadcast(_)
            | StepKind::Read(_)
            | StepKind::Write(_)
            | StepKind::Start(_)
            | StepKind::Join(_)
            | StepKind::Step => {}
        }
    }

    /// A phase ends with the row that was laid out last.
    fn phase(&mut self) {
        let first = self.phases.last().map_or(0, |&(_, last)| last + 1);
        self.phases.push((first, self.rows.len() - 1));
    }

    fn finish(mut self) -> DiagramLayout {
        let last = self.rows.len().saturating_sub(1);
        let mut lanes = Vec::new();
        for (lane, (running, &thread)) in self.threads.iter().zip(&self.order).enumerate() {
            for (slot, held) in running.held.iter().enumerate() {
                if let &Some((lock, first)) = held {
                    let span = RowSpan { lane, first, last, open: true };
                    self.bars.push(Bar { span, lock, slot });
                }
            }
            if let Some(first) = running.unit {
                self.units.push(RowSpan { lane, first, last, open: true });
            }
            lanes.push(Lane { thread, slots: running.held.len(), units: running.units });
        }
        DiagramLayout {
            lanes,
            rows: self.rows,
            bars: self.bars,
            units: self.units,
            phases: self.phases,
            repeats: self.repeats.map(|first| (first, last)),
            folds: self.folds,
            silent: self.silent,
        }
    }
}
