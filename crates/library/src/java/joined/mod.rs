//! # Idea
//! What the answers about all models of a program in Java say together: the conflicts that were found, each in
//! the shortest of its runs, one program with the threads of all models that have one, and why the answer is
//! open.

mod claim;
mod fixes;
mod shift;

use super::check::{JavaChecked, JavaFigures, JavaSites, NAMED};
use crate::java::conflict::{conflict, note_accesses};
use crate::java::joined::shift::{Shift, by};
use crate::java::values::REFUTED;
use selvedge_base::{Budget, Diagnostic, IdVec, Place, StopReason};
use selvedge_findings::{AccessTable, Checked, Conflict, Finding, FindingKind, Tally, by_cause};
use selvedge_front_java::options::UnknownCalls;
use selvedge_front_java::questions::{JavaModel, Understood};
use selvedge_front_java::remarks::StepRemark;
use selvedge_front_java::world::MemberId;
use selvedge_program::{Action, ProcedureId, Program, Valuation};
use selvedge_report::describe::count;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is true of the answer by itself")]
pub(super) struct Joined {
    program: Program,
    /// By the class of what they are about.
    conflicts: BTreeMap<(String, ConflictKey), Conflict>,
    /// The models of the conflicts.
    models_of: BTreeMap<(String, ConflictKey), Rc<ConflictModel>>,
    sites: JavaSites,
    /// The number of what the program begins with that is asked about, and the name of its first thread.
    pub(super) beginning: usize,
    pub(super) first_thread: Option<String>,
    accesses: AccessTable,
    tallies: BTreeMap<FindingKind, Tally>,
    pub(super) open: BTreeSet<String>,
    /// A warning for each engine that ended with an internal error where another one answered.
    faults: Vec<Diagnostic>,
    shared: usize,
    kinds: usize,
    can_meet: bool,
    /// Whether two threads share something, even if nothing is asked about it.
    shares: bool,
    /// What two threads may wait by that no question about deadlocks is about, in words.
    other_waits: BTreeSet<String>,
    /// Whether more threads may wait for each other's locks than such a question has.
    longer_cycles: bool,
    /// Whether there is no question because nothing is shared.
    nothing_shared: bool,
    /// Whether a limit was met before everything was known that there is to ask.
    pub(super) stopped: bool,
    /// Whether a part of the program was not looked at, so that nothing is proved.
    cut: bool,
    models: usize,
    cycles: usize,
    /// What unknown calls are assumed to do.
    pub(super) unknown_calls: UnknownCalls,
    /// The class whose clients were asked about.
    pub(super) clients_of: Option<String>,
    /// Whether a framework runs it.
    pub(super) in_framework: bool,
    /// How many locks a deadlock has that was asked about.
    pub(super) deadlock_locks: usize,
    unknown: BTreeMap<String, usize>,
    ignored: BTreeSet<String>,
    /// Where it is assumed that all threads are waited for.
    assumed: BTreeSet<String>,
    methods: (usize, usize),
    /// The public methods that nothing reaches, whatever the program begins with, and names of some.
    pub(super) unreached: Option<BTreeSet<MemberId>>,
    /// How many these are, and the names of the first.
    pub(super) unreached_count: usize,
    pub(super) unreached_names: Vec<String>,
    /// The units of work.
    units: BTreeMap<UnitExtent, UnitPlaces>,
    /// Classes that are marked as not thread-safe.
    unasked: BTreeSet<String>,
}

/// What tells one conflict from another: its kind and its places.
pub(super) type ConflictKey = (FindingKind, Vec<Place>);

/// A model in which something was found, and its procedures that run for the object.
struct ConflictModel {
    program: Program,
    own: BTreeSet<ProcedureId>,
    /// Whether a lock is given up for a while, which frees it however often it is held.
    waits: bool,
}

/// What tells the conflict of a finding from others.
pub(super) fn key_of(finding: &Finding) -> ConflictKey {
    let mut places = finding.places.clone();
    places.sort_unstable();
    (finding.kind, places)
}

/// Units of work by the method and the place that they begin in.
type UnitPlaces = BTreeSet<(String, Place)>;

/// What a unit of work is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum UnitExtent {
    /// A method.
    Method,
    /// What is under a lock.
    Region,
    /// A pass of a loop.
    Pass,
}

/// The units of work of a model: the method, where they begin, and what they are.
pub(super) fn units(model: &JavaModel) -> impl Iterator<Item = (String, Place, UnitExtent)> + '_ {
    let JavaModel { program, remarks, .. } = model;
    let begins =
        program.edges.iter_enumerated().filter(|(_, edge)| edge.action == Action::BeginUnit);
    begins.map(|(id, edge)| {
        let procedure = &program.procedures[program.nodes[edge.source]];
        let method = selvedge_findings::cause::method_name(&procedure.name);
        let said = remarks.edges.get(&id);
        let extent = if said.is_some_and(|said| said.contains(&StepRemark::Pass)) {
            UnitExtent::Pass
        } else if edge.source == procedure.entry {
            UnitExtent::Method
        } else {
            UnitExtent::Region
        };
        (method, edge.place, extent)
    })
}

impl Joined {
    pub(super) fn add(
        &mut self,
        model: &JavaModel,
        checked: Checked,
        (joins, refuted): (&BTreeSet<ConflictKey>, &BTreeSet<ConflictKey>),
        budget: &Budget,
    ) -> Result<(), StopReason> {
        for (kind, tally) in checked.tallies {
            *self.tallies.entry(kind).or_default() += tally;
        }
        self.open.extend(checked.open);
        self.faults.extend(checked.faults);
        self.open.extend(model.doubts.iter().cloned());
        if !model.about_locks {
            self.ignored.extend(model.ignored.iter().cloned());
            note_accesses(&mut self.accesses, model, budget)?;
            for (method, at, extent) in units(model) {
                self.units.entry(extent).or_default().insert((method, at));
            }
        }
        let (mut shift, mut kept) = (None, None);
        for finding in checked.findings {
            let key = key_of(&finding);
            let steps = |one: &Finding| one.trace.steps.len();
            // One line may access objects of several classes.
            let own = (model.class.clone(), key.clone());
            let known = self.conflicts.get(&own);
            let tags: BTreeSet<String> = known
                .iter()
                .flat_map(|known| &known.finding.tags)
                .chain(&finding.tags)
                .cloned()
                .collect();
            // Values have to rule it out in every model.
            let is_refuted =
                refuted.contains(&key) && known.is_none_or(|known| known.demoted.contains(REFUTED));
            let is_better = known.is_none_or(|known| steps(&finding) < steps(&known.finding));
            if is_better {
                let mut conflict = conflict(model, finding);
                if joins.contains(&key) {
                    conflict.demoted.insert("join-assumed".to_owned());
                }
                if is_refuted {
                    conflict.demoted.insert(REFUTED.to_owned());
                }
                let shift = *shift.get_or_insert_with(|| {
                    for thread in &model.program.threads {
                        let is_first = Some(&thread.name) == self.first_thread.as_ref();
                        self.sites.threads.push((self.beginning, is_first));
                    }
                    let shift = Shift::append(&mut self.program, &model.program);
                    let sites = model.remarks.sites.iter();
                    let moved = sites.map(|(&edge, &site)| (by(edge, shift.edges), site));
                    self.sites.edges.extend(moved);
                    shift
                });
                conflict.finding = shift.finding(conflict.finding);
                self.conflicts.insert(own.clone(), conflict);
                let kept = kept.get_or_insert_with(|| {
                    let (program, own) = (model.program.clone(), model.remarks.own.clone());
                    let mut said = model.remarks.edges.values().flatten();
                    let waits = said.any(|one| *one == StepRemark::Waits);
                    Rc::new(ConflictModel { program, own, waits })
                });
                self.models_of.insert(own.clone(), Rc::clone(kept));
            }
            if let Some(known) = self.conflicts.get_mut(&own) {
                if !is_refuted {
                    known.demoted.remove(REFUTED);
                }
                known.finding.tags = tags.into_iter().collect();
            }
        }
        Ok(())
    }

    pub(super) fn understand(&mut self, understood: Understood) {
        let Understood { kinds, shared, models, cycles, methods, unknown, ignored, doubts, .. } =
            understood;
        self.unasked.extend(understood.unasked);
        self.shares |= understood.shares;
        self.other_waits.extend(understood.other_waits);
        self.longer_cycles |= understood.longer_cycles;
        let unreached: BTreeSet<MemberId> = understood.unreached.into_iter().collect();
        self.unreached = Some(match self.unreached.take() {
            Some(known) => &known & &unreached,
            None => unreached,
        });
        self.assumed.extend(understood.assumed);
        self.cycles += cycles;
        self.can_meet |= kinds.len() > 1 || kinds.iter().any(|(_, single)| !single);
        self.kinds = self.kinds.max(kinds.len());
        self.shared += shared.len();
        self.models += models;
        self.methods = (self.methods.0.max(methods.0), methods.1);
        for (name, count) in unknown {
            *self.unknown.entry(name).or_default() += count;
        }
        self.ignored.extend(ignored);
        self.open.extend(understood.left);
        self.cut |= understood.cut;
        let more = doubts.len().saturating_sub(NAMED);
        self.open.extend(doubts.into_iter().take(NAMED));
        if more > 0 {
            self.open.insert(format!("{} like these", count(more, "more reason")));
        }
    }

    /// How many questions of a kind were asked.
    fn questions(&self, kind: FindingKind) -> usize {
        self.tallies.get(&kind).map_or(0, |tally| tally.questions)
    }

    /// What the answer is worth if there is no question: nothing if one thread was found, or something was
    /// left out that the program names.
    fn judge_without_question(&mut self, kinds: &[FindingKind]) {
        let asked = kinds.iter().any(|kind| self.questions(*kind) > 0);
        // Where the work was stopped, what there is to ask is not known.
        if asked || self.stopped || self.cut {
            return;
        }
        if !self.can_meet {
            self.open.insert("nothing to check: one thread was found".to_owned());
            return;
        }
        if self.open.is_empty() {
            let left_out = self.left_out(kinds);
            if !left_out.is_empty() {
                let what = left_out.join("; ");
                self.open.insert(format!("nothing to check: the model leaves out {what}"));
            }
        }
        self.nothing_shared = !self.shares && self.open.is_empty();
    }

    /// What the program names and no question is about, in words.
    fn left_out(&self, kinds: &[FindingKind]) -> Vec<String> {
        let named = |names: &mut dyn Iterator<Item = &String>| {
            names.take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let mut left_out = Vec::new();
        if !self.unknown.is_empty() {
            let calls = count(self.unknown.values().sum(), "unknown call");
            let names = named(&mut self.unknown.keys());
            left_out.push(format!("{calls} (`--list unknown`: {names})"));
        }
        if !self.ignored.is_empty() {
            let locks = count(self.ignored.len(), "lock");
            let names = named(&mut self.ignored.iter());
            left_out.push(format!("{locks} (`--list ignored-locks`: {names})"));
        }
        if !self.unasked.is_empty() {
            let names = named(&mut self.unasked.iter());
            left_out.push(format!("objects marked `@NotThreadSafe` ({names})"));
        }
        if !kinds.contains(&FindingKind::Deadlock) {
            return left_out;
        }
        if self.longer_cycles {
            let locks = self.deadlock_locks;
            let advice = if locks == 2 { " (`--deadlock-locks 3`)" } else { "" };
            left_out.push(format!("cycles of more than {locks} locks{advice}"));
        }
        if !self.other_waits.is_empty() {
            let names = named(&mut self.other_waits.iter());
            left_out.push(format!("deadlocks over what is no lock ({names})"));
        }
        left_out
    }

    pub(super) fn conclude(mut self, kinds: &[FindingKind]) -> JavaChecked {
        self.judge_without_question(kinds);
        let claim = self.claim(kinds);
        if !self.open.is_empty() {
            // What was not understood may hide something of every kind, if anything was asked.
            let asked = kinds.iter().any(|kind| self.questions(*kind) > 0);
            for kind in kinds {
                let tally = self.tallies.entry(*kind).or_default();
                tally.questions += usize::from(asked);
                tally.unknown += usize::from(asked);
            }
        }
        if self.cut {
            for tally in self.tallies.values_mut() {
                tally.unknown += tally.safe;
                (tally.safe, tally.vacuous) = (0, 0);
            }
        }
        let figures = JavaFigures {
            methods: self.methods.0,
            kinds: self.kinds,
            shared: self.shared,
            models: self.models,
        };
        let threads = self.program.threads.len();
        let mut findings = by_cause(self.conflicts.into_values().collect(), &self.accesses);
        for finding in &mut findings {
            finding.trace.locals = IdVec::filled(Valuation::default(), threads);
        }
        let tallies = kinds
            .iter()
            .map(|kind| (*kind, self.tallies.get(kind).copied().unwrap_or_default()))
            .collect();
        let open = self.open.into_iter().collect();
        let nothing_shared = self.nothing_shared;
        let mut checked = Checked { findings, tallies, open, nothing_shared, ..Checked::default() };
        for fault in self.faults {
            if !checked.faults.contains(&fault) {
                checked.faults.push(fault);
            }
        }
        JavaChecked { checked, program: self.program, claim, sites: self.sites, figures }
    }
}
