//! # Idea
//! Types, fields, globals, methods, places, and what stands before the blocks of a procedure.

use super::{Check, Site};
use crate::model::{Element, Field, FieldId, Kind, MethodId, Module, Procedure, Type, TypeId};
use crate::statement::Value;
use selvedge_base::{FileId, Id as _, IdVec};
use std::collections::HashSet;

impl<'a> Check<'a> {
    pub(super) fn declarations(&mut self) {
        let module = self.module;
        self.places();
        self.names(
            module.types.iter_enumerated().map(|(id, ty)| (Site::Type(id), &*ty.name)),
            "type",
        );
        let globals = module.globals.iter_enumerated();
        self.names(globals.map(|(id, global)| (Site::Global(id), &*global.name)), "global");
        let procedures = module.procedures.iter_enumerated();
        self.names(procedures.map(|(id, one)| (Site::Procedure(id), &*one.name)), "procedure");
        for (id, ty) in module.types.iter_enumerated() {
            self.site = Site::Type(id);
            self.ty(id, ty);
        }
        let listed: HashSet<FieldId> =
            module.types.iter().flat_map(|ty| ty.fields.iter().copied()).collect();
        for (id, field) in module.fields.iter_enumerated() {
            self.site = Site::Field(id);
            self.field(field, listed.contains(&id));
        }
        for (id, global) in module.globals.iter_enumerated() {
            self.site = Site::Global(id);
            self.kind(&global.kind);
        }
        for (id, _) in module.methods.iter_enumerated() {
            self.site = Site::Method(id);
            self.method(id);
        }
        if self.breaches.is_empty() {
            self.cycles();
        }
    }

    /// Complains about names that come twice.
    fn names(&mut self, names: impl Iterator<Item = (Site, &'a str)>, what: &str) {
        let mut seen = HashSet::new();
        for (site, name) in names {
            if !seen.insert(name) {
                self.site = site;
                let message = format!("there are two {what}s `{name}`");
                self.breach("duplicate-name", message, "choose another name for one of them");
            }
        }
    }

    fn places(&mut self) {
        let module = self.module;
        self.site = Site::Module;
        for (id, link) in module.places.iter_enumerated() {
            let file = link.place.file;
            if file == FileId::READ || file.index() > module.files.len() {
                let help = "every place lies in a file of the module";
                self.breach("unknown-file", format!("{id:?} lies in no file"), help);
            }
            if link.inlined_at.is_some_and(|outer| outer >= id) {
                let help = "add the outer place first";
                self.breach("endless-place", format!("{id:?} is inlined at a later place"), help);
            }
        }
    }

    fn ty(&mut self, id: TypeId, ty: &'a Type) {
        let module = self.module;
        for &supertype in &ty.supertypes {
            self.in_range(supertype, &module.types);
        }
        let mut fields = Vec::new();
        for &field in &ty.fields {
            if self.in_range(field, &module.fields) {
                fields.push((Site::Field(field), &*module.fields[field].name));
                if module.fields[field].owner != id {
                    let help = "a field is in the list of the type that declares it";
                    let message = format!("`{}` has a field of another type", ty.name);
                    self.breach("foreign-field", message, help);
                }
            }
        }
        self.names(fields.into_iter(), "field");
        self.site = Site::Type(id);
        let Some(variants) = &ty.variants else { return };
        if !ty.fields.contains(&variants.tag) {
            let message = format!("the tag of `{}` is no field of it", ty.name);
            self.breach("foreign-field", message, "name the field that tells the variants apart");
        }
        self.names(variants.cases.iter().map(|(name, _)| (Site::Type(id), &**name)), "variant");
        let mut values = HashSet::new();
        for (name, value) in &variants.cases {
            if !values.insert(value) {
                let message = format!("variant `{name}` has the tag {value} of another variant");
                self.breach("duplicate-tag", message, "give each variant its own value");
            }
        }
    }

    fn field(&mut self, field: &Field, is_listed: bool) {
        let module = self.module;
        self.kind(&field.kind);
        if !self.in_range(field.owner, &module.types) {
            return;
        }
        let owner = &module.types[field.owner];
        if !is_listed {
            let message = format!("`{}` is in no list of fields", field.name);
            self.breach("foreign-field", message, "add it to the type that declares it");
        }
        let beyond = field.offset.is_some_and(|offset| owner.size > 0 && offset > owner.size);
        if beyond {
            let message =
                format!("`{}` begins behind the {} bytes of its type", field.name, owner.size);
            self.breach("offset-beyond-size", message, "correct the offset or the size");
        }
    }

    pub(super) fn element(&mut self, element: Element) {
        let module = self.module;
        if let Element::Inline(ty) | Element::Reference(Some(ty)) = element {
            self.in_range(ty, &module.types);
        }
    }

    pub(super) fn kind(&mut self, kind: &Kind) {
        self.element(kind.element);
    }

    fn method(&mut self, id: MethodId) {
        let module = self.module;
        let method = &module.methods[id];
        self.in_range(method.owner, &module.types);
        let mut seen = HashSet::new();
        let mut signature = None;
        for &(class, target) in &method.targets {
            if !self.in_range(class, &module.types) || !self.in_range(target, &module.procedures) {
                continue;
            }
            if !seen.insert(class) {
                let message =
                    format!("`{}` has two targets for `{}`", method.name, module.types[class].name);
                self.breach("duplicate-target", message, "keep the one that is called");
            }
            let target = &module.procedures[target];
            let own = (target.parameters.len(), target.returns.len());
            if own.0 == 0 || *signature.get_or_insert(own) != own {
                let message = format!(
                    "`{}` has {} parameters and {} results, unlike other targets of `{}`",
                    target.name, own.0, own.1, method.name
                );
                let help = "targets of a method take the object and the same arguments";
                self.breach("target-mismatch", message, help);
            }
        }
    }

    /// No type is its own supertype or a part of itself.
    fn cycles(&mut self) {
        let module = self.module;
        let above = |ty: &Type| ty.supertypes.clone();
        if let Some(id) = on_cycle(module, above) {
            self.site = Site::Type(id);
            let message = format!("`{}` is its own supertype", module.types[id].name);
            self.breach("cyclic-type", message, "remove one of the supertypes");
        }
        let inside = |ty: &Type| {
            let kinds = ty.fields.iter().map(|&field| module.fields[field].kind.element);
            kinds
                .filter_map(|element| match element {
                    Element::Inline(ty) => Some(ty),
                    _ => None,
                })
                .collect()
        };
        if let Some(id) = on_cycle(module, inside) {
            self.site = Site::Type(id);
            let message = format!("`{}` contains itself", module.types[id].name);
            self.breach("cyclic-type", message, "write `ref` before the type of the field");
        }
    }

    pub(super) fn header(&mut self, procedure: &Procedure) {
        let module = self.module;
        for kind in procedure.parameters.iter().flatten() {
            self.kind(kind);
        }
        if procedure.parameters.len() > procedure.registers.len() {
            let message = "a parameter is no register".to_owned();
            self.breach("id-out-of-range", message, "the first registers are the parameters");
            return;
        }
        let names: HashSet<&str> = procedure.registers.iter().map(String::as_str).collect();
        if names.len() < procedure.registers.len() {
            let message = "two registers have one name".to_owned();
            self.breach("duplicate-name", message, "give each register its own name");
        }
        let labels: HashSet<&str> = procedure.blocks.iter().map(|block| &*block.name).collect();
        if labels.len() < procedure.blocks.len() {
            let message = "two blocks have one label".to_owned();
            self.breach("duplicate-name", message, "give each block its own label");
        }
        match procedure.locked {
            None => {}
            Some(Value::Register(register)) if register.index() < procedure.parameters.len() => {}
            Some(Value::Global(global)) => {
                self.in_range(global, &module.globals);
            }
            Some(_) => {
                let message = "what is locked is no parameter and no global".to_owned();
                self.breach("locked-value", message, "name a parameter, or a global behind `&`");
            }
        }
    }
}

/// A type that leads to itself, if there is one.
fn on_cycle(module: &Module, next: impl Fn(&Type) -> Vec<TypeId>) -> Option<TypeId> {
    let mut done: IdVec<TypeId, Option<bool>> = IdVec::filled(None, module.types.len());
    for root in module.types.ids() {
        if done[root].is_some() {
            continue;
        }
        done[root] = Some(false);
        let mut open = vec![(root, next(&module.types[root]))];
        while let Some((id, rest)) = open.last_mut() {
            match rest.pop() {
                None => {
                    done[*id] = Some(true);
                    open.pop();
                }
                Some(target) => match done[target] {
                    Some(false) => return Some(target),
                    Some(true) => {}
                    None => {
                        done[target] = Some(false);
                        open.push((target, next(&module.types[target])));
                    }
                },
            }
        }
    }
    None
}
