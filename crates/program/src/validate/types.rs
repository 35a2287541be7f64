//! # Idea
//! The invariants of [`crate::model`] that concern types: ranges, first values, arrays, sorts of
//! expressions, what invariants and annotations speak of.

use super::Validator;
use crate::data::{
    Annotation, Array, Expr, Local, MOST_INVARIANTS, NamedArray, Operator, Sort, Type, Value,
    Variable, element_name,
};
use crate::model::{ConditionId, Copies, LocalId, Procedure};
use crate::own::{owner, owner_in};
use selvedge_base::{Id, IdVec, Place};

impl Validator<'_> {
    /// What each copy of a thread has one of: only procedures of the thread mention it.
    fn owners(&mut self) {
        let program = self.program;
        for global in &program.globals {
            let Some(owner) = global.owner else { continue };
            let Some(thread) = program.threads.get(owner) else {
                self.breach(global.place, format!("{} is owned by nobody", global.name));
                return;
            };
            if thread.copies != Copies::Any {
                let (name, thread) = (&global.name, &thread.name);
                let message = format!("{name} is owned by {thread}, which stands for no copies");
                self.breach(global.place, message);
            }
            if global.location.is_some() || global.annotation.is_some() {
                let message = format!("{} is owned, but others access it", global.name);
                self.breach(global.place, message);
            }
        }
        if !self.breaches.is_empty() || program.globals.iter().all(|one| one.owner.is_none()) {
            return;
        }
        let enforced = program.procedures.iter().filter_map(|one| one.frame.enforced);
        let spoken = program.invariants.iter().map(|one| one.condition).chain(enforced);
        let predicates = program.globals.iter().filter_map(|one| match one.annotation {
            Some(Annotation::ExclusiveWhen(condition)) => Some(condition),
            _ => None,
        });
        let spoken = spoken.chain(predicates).map(|id| (None, &program.conditions[id]));
        let mentions = spoken.map(|(own, expr)| (own, owner_in(program, expr), Place::NONE));
        let edges = program.edges.iter().map(|edge| {
            let own = program.procedures[program.nodes[edge.source]].owner;
            (own, owner(program, edge), edge.place)
        });
        for (own, owner, place) in mentions.chain(edges) {
            if let Some(owner) = owner.filter(|&owner| own != Some(owner)) {
                let name = &program.threads[owner].name;
                self.breach(place, format!("what {name} owns is mentioned elsewhere"));
            }
        }
    }

    /// Enumerations, and the types, first values and annotations of globals.
    pub(super) fn types(&mut self) {
        let program = self.program;
        let enums = program.enums.iter();
        self.unique("enumeration", enums.map(|one| (one.name.as_str(), Place::NONE)));
        for one in &program.enums {
            let values = one.values.iter();
            self.unique("enumerator", values.map(|value| (value.as_str(), Place::NONE)));
            if one.values.is_empty() {
                self.breach(Place::NONE, format!("{} has no enumerator", one.name));
            }
        }
        for global in &program.globals {
            self.variable(&global.name, global.place, global.ty, global.initial);
            if global.location.is_some_and(|id| program.locations.get(id).is_none()) {
                self.breach(global.place, format!("{} has no such location", global.name));
            }
            match global.annotation {
                Some(Annotation::GuardedBy(lock)) if program.locks.get(lock).is_none() => {
                    self.breach(global.place, format!("{} has no such lock", global.name));
                }
                Some(Annotation::ExclusiveWhen(condition)) => {
                    self.about_globals(global.place, condition, "a predicate");
                }
                Some(Annotation::GuardedBy(_)) | None => {}
            }
        }
        if let Some(first) = program.invariants.get(MOST_INVARIANTS) {
            let message = format!("a program has at most {MOST_INVARIANTS} invariants");
            self.breach(first.place, message);
        }
        for invariant in &program.invariants {
            self.about_globals(invariant.place, invariant.condition, "an invariant");
            let names_threads = program
                .conditions
                .get(invariant.condition)
                .is_some_and(|one| one.any(&mut |part| matches!(part, Expr::Me)));
            if names_threads {
                self.breach(invariant.place, "an invariant speaks of no thread".to_owned());
            }
        }
        self.owners();
        self.arrays(&program.arrays, program.globals.len(), "global");
        for NamedArray { name, array } in &program.arrays {
            let elements: Vec<_> = array
                .elements()
                .filter_map(|one| match one {
                    Variable::Global(id) => program.globals.get(id),
                    Variable::Local(_) => None,
                })
                .collect();
            let Some(first) = elements.first() else { continue };
            let alike = elements.iter().enumerate().all(|(at, one)| {
                let follows = |id: usize, own: usize| own == id + at;
                let location = match (first.location, one.location) {
                    (None, None) => true,
                    (Some(first), Some(own)) => follows(first.index(), own.index()),
                    _ => false,
                };
                let guard = match (first.annotation, one.annotation) {
                    (Some(Annotation::GuardedBy(first)), Some(Annotation::GuardedBy(own))) => {
                        let each = elements.get(1).map(|one| one.annotation)
                            != Some(Some(Annotation::GuardedBy(first)));
                        own.index() == first.index() + if each { at } else { 0 }
                    }
                    (Some(Annotation::GuardedBy(_)), _) | (_, Some(Annotation::GuardedBy(_))) => {
                        false
                    }
                    _ => true,
                };
                one.name == element_name(name, at as u32)
                    && (one.ty, one.initial, one.place) == (first.ty, first.initial, first.place)
                    && one.owner == first.owner
                    && location
                    && guard
            });
            if !alike {
                self.breach(first.place, format!("the elements of {name} are not alike"));
            }
        }
    }

    /// The types and first values of the locals of a procedure.
    pub(super) fn local_types(&mut self, procedure: &Procedure) {
        let frame = &procedure.frame;
        for local in &frame.locals {
            self.variable(&local.name, local.place, local.ty, local.initial);
        }
        for &ty in &frame.results {
            self.ty(&procedure.name, procedure.place, ty);
        }
        self.arrays(&frame.arrays, frame.locals.len(), "local");
        for NamedArray { name, array } in &frame.arrays {
            let Variable::Local(first) = array.first else { continue };
            let alike = are_alike(&frame.locals, first, array.length, name);
            if !alike || first.index() < frame.parameters {
                self.breach(procedure.place, format!("the elements of {name} are not alike"));
            }
        }
    }

    fn variable(&mut self, name: &str, place: Place, ty: Type, initial: Option<Value>) {
        if !self.ty(name, place, ty) {
            return;
        }
        let (low, high) = self.program.range(ty);
        if initial.is_some_and(|value| !(low..=high).contains(&value)) {
            self.breach(place, format!("{name} starts with a value that it cannot have"));
        }
    }

    fn ty(&mut self, name: &str, place: Place, ty: Type) -> bool {
        let fine = match ty {
            Type::Bool | Type::Thread => true,
            Type::Int { low, high } => low <= high && i64::from(high) - i64::from(low) < 1 << 31,
            Type::Mod(n) => n >= 1,
            Type::Enum(id) => self.program.enums.get(id).is_some_and(|one| !one.values.is_empty()),
        };
        if !fine {
            self.breach(place, format!("{name} has a type without values, or with too many"));
        }
        fine
    }

    /// Whether arrays are rows of existing variables that do not overlap, in their order.
    fn arrays(&mut self, arrays: &[NamedArray], variables: usize, kind: &str) {
        self.unique("array", arrays.iter().map(|one| (one.name.as_str(), Place::NONE)));
        let mut behind = 0;
        for NamedArray { name, array } in arrays {
            let first = match array.first {
                Variable::Global(id) if kind == "global" => id.index(),
                Variable::Local(id) if kind == "local" => id.index(),
                _ => usize::MAX,
            };
            let end = first.saturating_add(array.length as usize);
            if first < behind || end > variables || array.length == 0 {
                self.breach(Place::NONE, format!("{name} is no row of variables of its own"));
            }
            behind = end;
        }
    }

    /// A condition over globals whose value is one and the same.
    fn about_globals(&mut self, place: Place, condition: ConditionId, what: &str) {
        let Some(condition) = self.program.conditions.get(condition) else {
            self.breach(place, format!("{what} does not exist"));
            return;
        };
        let speaks_of_more = condition.any(&mut |part| match part {
            Expr::Choice | Expr::Choose(..) | Expr::Copy | Expr::Next(_) => true,
            Expr::Current(variable) => matches!(variable, Variable::Local(_)),
            Expr::Element(array, _) => matches!(array.first, Variable::Local(_)),
            _ => false,
        });
        let mut exist = true;
        condition.variables(&mut |variable, _| match variable {
            Variable::Global(id) => exist &= self.program.globals.get(id).is_some(),
            Variable::Local(_) => {}
        });
        if !exist {
            self.breach(place, format!("{what} names a global that does not exist"));
            return;
        }
        if speaks_of_more {
            self.breach(place, format!("{what} speaks of more than the values of globals"));
            return;
        }
        self.has_sort(None, place, condition, Sort::Bool);
    }

    /// Whether an expression has a sort.
    pub(super) fn has_sort(
        &mut self,
        procedure: Option<&Procedure>,
        place: Place,
        expr: &Expr,
        sort: Sort,
    ) {
        match self.sort(procedure, expr) {
            Ok(own) if own == sort => {}
            Ok(own) => self.breach(place, format!("{own:?} where {sort:?} is needed")),
            // That something does not exist is reported by itself.
            Err(message) if message.is_empty() => {}
            Err(message) => self.breach(place, message),
        }
    }

    /// The sort of a variable; an empty message if it does not exist.
    pub(super) fn variable_sort(
        &self,
        procedure: Option<&Procedure>,
        variable: Variable,
    ) -> Result<Sort, String> {
        let ty = match variable {
            Variable::Global(id) => self.program.globals.get(id).map(|one| one.ty),
            Variable::Local(id) => {
                procedure.and_then(|one| one.frame.locals.get(id)).map(|one| one.ty)
            }
        };
        ty.map(Type::sort).ok_or_else(String::new)
    }

    fn sort(&self, procedure: Option<&Procedure>, expr: &Expr) -> Result<Sort, String> {
        let needs = |part: &Expr, sort: Sort| match self.sort(procedure, part)? {
            own if own == sort => Ok(()),
            own => Err(format!("{own:?} where {sort:?} is needed")),
        };
        match expr {
            Expr::Constant(literal) => {
                let exists = match *literal {
                    crate::Literal::Enumerator(id, at) => {
                        let one = self.program.enums.get(id);
                        one.is_some_and(|one| (at as usize) < one.values.len())
                    }
                    crate::Literal::Thread(Some(thread)) => {
                        self.program.threads.get(thread).is_some()
                    }
                    _ => true,
                };
                exists.then(|| literal.sort()).ok_or_else(|| format!("{literal:?} does not exist"))
            }
            Expr::Choice => Ok(Sort::Bool),
            Expr::Choose(low, high) => {
                needs(low, Sort::Int)?;
                needs(high, Sort::Int)?;
                Ok(Sort::Int)
            }
            Expr::Current(variable) | Expr::Next(variable) => {
                self.variable_sort(procedure, *variable)
            }
            Expr::Element(array, index) => {
                needs(index, Sort::Int)?;
                let arrays = match array.first {
                    Variable::Global(_) => &self.program.arrays[..],
                    Variable::Local(_) => procedure.map_or(&[][..], |one| &one.frame.arrays),
                };
                if !arrays.iter().any(|one| one.array == *array) {
                    return Err(format!("{array:?} does not exist"));
                }
                self.variable_sort(procedure, Array::element(*array, 0))
            }
            Expr::Me => Ok(Sort::Thread),
            Expr::Copy => Ok(Sort::Int),
            Expr::Not(inner) => needs(inner, Sort::Bool).map(|()| Sort::Bool),
            Expr::Negate(inner) => needs(inner, Sort::Int).map(|()| Sort::Int),
            Expr::Binary(operator, left, right) => match operator {
                Operator::And | Operator::Or | Operator::Xor | Operator::Implies => {
                    needs(left, Sort::Bool)?;
                    needs(right, Sort::Bool)?;
                    Ok(Sort::Bool)
                }
                Operator::Equal => {
                    needs(right, self.sort(procedure, left)?)?;
                    Ok(Sort::Bool)
                }
                Operator::Less | Operator::LessEqual => {
                    needs(left, Sort::Int)?;
                    needs(right, Sort::Int)?;
                    Ok(Sort::Bool)
                }
                Operator::Add
                | Operator::Subtract
                | Operator::Multiply
                | Operator::Divide
                | Operator::Remainder => {
                    needs(left, Sort::Int)?;
                    needs(right, Sort::Int)?;
                    Ok(Sort::Int)
                }
            },
            Expr::Ite(parts) => {
                needs(&parts[0], Sort::Bool)?;
                let sort = self.sort(procedure, &parts[1])?;
                needs(&parts[2], sort)?;
                Ok(sort)
            }
        }
    }
}

fn are_alike(locals: &IdVec<LocalId, Local>, first: LocalId, length: u32, name: &str) -> bool {
    let own = |at: u32| locals.get(LocalId::from_index(first.index() + at as usize));
    let Some(model) = own(0) else { return false };
    (0..length).all(|at| {
        own(at).is_some_and(|one| {
            one.name == element_name(name, at)
                && (one.ty, one.initial, one.place) == (model.ty, model.initial, model.place)
        })
    })
}
