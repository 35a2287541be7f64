//! # Idea
//! Which accesses commute. Every access belongs to a *class*: its cell, its thread, whether it writes,
//! and the locks that the thread holds. A class is a both-mover as long as no class of another thread
//! was seen that conflicts with it: one of them writes, and no lock is held in both. This contains
//! what the literature infers per variable (a lock that protects it, one thread alone, nobody writes),
//! which [`ProtectionRule::Paper`] has for comparison.
//!
//! # Source
//! Paper 002 §5.1 and §6, with the correction of ERRATA 002 to Theorem 6.1: whatever is *evaluated* is
//! registered, also by a guard that blocks.
//!
//! # Invariants
//! 1. Classes only grow in number, and one that lost its status never gets it back. So a search that
//!    begins again whenever one loses it ends.
//! 2. Accesses to a global that an annotation protects are both-movers: the step relation checks the
//!    annotation. Their classes are known all the same.
//! 3. The classes of a cell stand in the order in which they were first seen.

use crate::step::{CellAccess, Mover};
use selvedge_base::{Id as _, IdVec};
use selvedge_program::{
    AccessSite, Annotation, EdgeId, GlobalId, LockId, NodeId, Program, ProtectionKind, ThreadId,
    VariableProtection,
};

/// Which accesses count as protected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ProtectionRule {
    /// Those whose class conflicts with no other.
    #[default]
    Classes,
    /// Those to a cell for which there is a lock, or a thread, that had a part in every access.
    Paper,
}

/// Accesses of one thread to one cell with the same locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessClass {
    /// The thread.
    pub thread: ThreadId,
    /// Whether it writes.
    pub write: bool,
    /// The locks that it holds.
    pub held: u128,
    /// Where it was first seen: the node, and the edge unless it was a return.
    pub seen: Option<(NodeId, Option<EdgeId>)>,
    /// Whether another class conflicts with it.
    broken: bool,
}

impl AccessClass {
    /// Whether the two are of different threads, one writes, and no lock is held in both.
    pub fn clashes(&self, other: &Self) -> bool {
        let conflict = self.thread != other.thread && (self.write || other.write);
        conflict && self.held & other.held == 0
    }
}

/// The locks, and the thread, that had a part in all accesses to a cell so far: the set `M_z` of the
/// paper, in which a thread is a lock that it always holds.
#[derive(Clone, Copy, Debug)]
struct CommonLocks {
    locks: u128,
    thread: Option<ThreadId>,
    accessed: bool,
}

/// The classes of all cells.
#[derive(Clone, Debug)]
pub struct Protection {
    rule: ProtectionRule,
    classes: IdVec<GlobalId, Vec<AccessClass>>,
    common: IdVec<GlobalId, CommonLocks>,
    annotated: IdVec<GlobalId, bool>,
    /// How often a class that was known lost its status.
    pub losses: u64,
    /// The classes that are new since this was last emptied: the cell and which of its classes.
    pub new: Vec<(GlobalId, usize)>,
}

impl Protection {
    /// Nothing was seen yet.
    pub fn new(program: &Program, rule: ProtectionRule) -> Self {
        let common = CommonLocks { locks: u128::MAX, thread: None, accessed: false };
        Self {
            rule,
            classes: IdVec::filled(Vec::new(), program.globals.len()),
            common: IdVec::filled(common, program.globals.len()),
            annotated: program.globals.iter().map(|one| one.annotation.is_some()).collect(),
            losses: 0,
            new: Vec::new(),
        }
    }

    /// Registers accesses of a thread; what they allow.
    pub fn register(&mut self, thread: ThreadId, accesses: &[CellAccess]) -> Mover {
        let mut mover = Mover::BOTH;
        for access in accesses {
            let broken = self.class(thread, access).broken;
            let broken = match self.rule {
                ProtectionRule::Classes => broken,
                ProtectionRule::Paper => {
                    let common = &self.common[access.cell];
                    common.locks == 0 && common.thread.is_none()
                }
            };
            if broken && !self.annotated[access.cell] {
                mover = Mover::NONE;
            }
        }
        mover
    }

    fn class(&mut self, thread: ThreadId, access: &CellAccess) -> AccessClass {
        let CellAccess { cell, write, held } = *access;
        let classes = &mut self.classes[cell];
        let same =
            |one: &&AccessClass| one.thread == thread && one.write == write && one.held == held;
        if let Some(known) = classes.iter().find(same) {
            return *known;
        }
        let mut new = AccessClass { thread, write, held, seen: None, broken: false };
        let mut lost = 0;
        for other in classes.iter_mut() {
            if other.clashes(&new) {
                new.broken = true;
                lost += u64::from(!other.broken);
                other.broken = true;
            }
        }
        self.new.push((cell, classes.len()));
        classes.push(new);
        let common = &mut self.common[cell];
        let before = common.locks != 0 || common.thread.is_some();
        common.thread = if common.accessed { common.thread } else { Some(thread) };
        common.thread = common.thread.filter(|&one| one == thread);
        common.locks &= held;
        let empty = common.locks == 0 && common.thread.is_none();
        if !self.annotated[cell] {
            self.losses += match self.rule {
                ProtectionRule::Classes => lost,
                ProtectionRule::Paper => u64::from(common.accessed && before && empty),
            };
        }
        common.accessed = true;
        new
    }

    /// Whether a class of accesses was seen.
    pub fn knows(&self, thread: ThreadId, access: &CellAccess) -> bool {
        let CellAccess { cell, write, held } = *access;
        let mut classes = self.classes[cell].iter();
        classes.any(|one| one.thread == thread && one.write == write && one.held == held)
    }

    /// Whether an access is no mover, with what was seen before it.
    pub fn would_break(&self, thread: ThreadId, access: &CellAccess) -> bool {
        let CellAccess { cell, write, held } = *access;
        if self.annotated[cell] {
            return false;
        }
        match self.rule {
            ProtectionRule::Classes => {
                let new = AccessClass { thread, write, held, seen: None, broken: false };
                self.classes[cell].iter().any(|one| one.clashes(&new))
            }
            ProtectionRule::Paper => {
                let common = &self.common[cell];
                let alone = !common.accessed || common.thread == Some(thread);
                common.locks & held == 0 && !alone
            }
        }
    }

    /// Says where a class was first seen.
    pub fn locate(&mut self, cell: GlobalId, class: usize, node: NodeId, edge: Option<EdgeId>) {
        self.classes[cell][class].seen = Some((node, edge));
    }

    /// The classes of a cell.
    pub fn classes(&self, cell: GlobalId) -> &[AccessClass] {
        &self.classes[cell]
    }

    /// The class of a cell with which it was left without protection: the later one of two that clash, or
    /// else the one without any of the locks of all earlier ones.
    pub fn breaking(&self, cell: GlobalId) -> Option<usize> {
        let classes = &self.classes[cell];
        let clashes = |at: usize| classes[..at].iter().any(|one| one.clashes(&classes[at]));
        let first = (0..classes.len()).find(|&at| clashes(at));
        first.or_else(|| {
            let several = classes.iter().any(|one| one.thread != classes[0].thread);
            let written = classes.iter().any(|one| one.write);
            let mut common = u128::MAX;
            let without = classes.iter().position(|one| {
                common &= one.held;
                common == 0
            });
            without.filter(|_| several && written)
        })
    }

    /// What protects each global; elements of an array that have the same protection are one. An
    /// annotation counts if it was `kept` in all that was seen.
    pub fn table(&self, program: &Program, kept: bool, proved: bool) -> Vec<VariableProtection> {
        let mut all: Vec<VariableProtection> = Vec::new();
        let mut arrays = program.arrays.iter().peekable();
        let mut cells = program.globals.ids().peekable();
        while let Some(&cell) = cells.peek() {
            let first = |array: &&selvedge_program::NamedArray| {
                array.array.first == selvedge_program::Variable::Global(cell)
            };
            let Some(array) = arrays.next_if(first) else {
                all.push(self.row(program, cell, kept, proved));
                cells.next();
                continue;
            };
            let length = array.array.length as usize;
            let rows = cells.by_ref().take(length);
            let mut rows: Vec<_> = rows.map(|cell| self.row(program, cell, kept, proved)).collect();
            let alike = rows.iter().all(|one| one.kind == rows[0].kind);
            if alike && length > 1 {
                // The element about which there is most to say speaks for all.
                let said = |row: &VariableProtection| (row.accessed, row.broken_by.len());
                rows.sort_by_key(|row| std::cmp::Reverse(said(row)));
                rows.truncate(1);
                rows[0].variable = format!("{}[*]", array.name);
            }
            all.extend(rows);
        }
        all
    }

    fn row(
        &self,
        program: &Program,
        cell: GlobalId,
        kept: bool,
        proved: bool,
    ) -> VariableProtection {
        let classes = &self.classes[cell];
        let site = |class: &AccessClass| site(program, class);
        let common = classes.iter().fold(u128::MAX, |common, one| common & one.held);
        let mut clash = None;
        for (at, one) in classes.iter().enumerate() {
            if let Some(before) = classes[..at].iter().find(|before| before.clashes(one)) {
                clash = Some(Box::new((site(before), site(one))));
                break;
            }
        }
        let kind = match (classes.first(), program.globals[cell].annotation.filter(|_| kept)) {
            (_, Some(Annotation::GuardedBy(lock))) => ProtectionKind::Locks(vec![lock]),
            (_, Some(Annotation::ExclusiveWhen(_))) => ProtectionKind::Exclusive,
            (Some(first), _) if classes.iter().all(|one| one.thread == first.thread) => {
                ProtectionKind::Thread(first.thread)
            }
            _ if classes.iter().all(|one| !one.write) => ProtectionKind::ReadOnly,
            _ if common != 0 => ProtectionKind::Locks(locks(program, common)),
            _ if clash.is_some() => ProtectionKind::None,
            _ => ProtectionKind::Pairwise,
        };
        let by = match &kind {
            ProtectionKind::Locks(locks) => &locks[..],
            _ => &[],
        };
        let others = program.locks.ids().filter(|lock| !by.contains(lock));
        let broken_by = others.filter_map(|lock| {
            let without = classes.iter().find(|one| one.held & 1 << lock.index() == 0)?;
            Some((lock, site(without)))
        });
        VariableProtection {
            variable: program.globals[cell].name.clone(),
            broken_by: broken_by.collect(),
            clash: clash.filter(|_| kind == ProtectionKind::None),
            kind,
            proved,
            accessed: !classes.is_empty(),
        }
    }
}

fn locks(program: &Program, held: u128) -> Vec<LockId> {
    program.locks.ids().filter(|lock| held & 1 << lock.index() != 0).collect()
}

/// The first access of a class.
pub fn site(program: &Program, class: &AccessClass) -> AccessSite {
    let entry = program.procedures[program.threads[class.thread].main].entry;
    let (node, edge) = class.seen.unwrap_or((entry, None));
    let place = match edge {
        Some(edge) => program.edges[edge].place,
        None => program.procedures[program.nodes[node]].end,
    };
    let AccessClass { thread, write, held, .. } = *class;
    AccessSite { thread, write, node, edge, place, held: locks(program, held) }
}
