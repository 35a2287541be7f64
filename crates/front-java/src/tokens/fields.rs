//! Reads and writes of fields on tokens.

use super::{Frame, JavaSubject, JavaToken, LocationKey, ModelFacts, Step, Walk};
use crate::class::{At, FieldAccess, HandleMode, JavaInstruction};
use crate::frames::Definition;
use crate::points_to::Holder;
use crate::world::{MemberId, Resolution};
use selvedge_base::Id;
use std::rc::Rc;

impl Walk<'_, '_, '_> {
    pub(super) fn field(
        &mut self,
        source: usize,
        frame: &Frame,
        access: FieldAccess,
        found: Resolution<MemberId>,
        operands: &[JavaToken],
    ) -> Option<()> {
        let shared = self.explorer.shared;
        let Resolution::Found(field) = found else {
            // A field outside the program is what its object holds.
            let is_static = matches!(access, FieldAccess::GetStatic | FieldAccess::PutStatic);
            let location =
                if is_static { None } else { self.explorer.location(&operands[0], None) };
            let writes = matches!(access, FieldAccess::Put | FieldAccess::PutStatic);
            let step = location
                .map(|one| if writes { Step::Write(one, false) } else { Step::Read(one, false) });
            let steps: Vec<Step> = step.into_iter().collect();
            for token in self.result_tokens(frame.at) {
                let (mut next, _) = self.after(frame, token)?;
                if writes && operands.last().is_some_and(Self::is_fresh) {
                    Self::publish(&mut next);
                    next.published = true;
                }
                self.go_on(source, &steps, &next);
            }
            return Some(());
        };
        let of = &shared.world.classes[field.class].fields[field.number];
        let handle = shared.world.of(self.method).by_handle;
        let volatile = of.access.is_volatile();
        let is_reference = crate::points_to::is_reference(shared.world.names.text(of.descriptor));
        let location = match (access, self.explorer.subject) {
            (FieldAccess::GetStatic | FieldAccess::PutStatic, JavaSubject::Statics(class)) => {
                // What the initialiser does to them nobody sees: it is called as one that is quiet.
                (field.class == class)
                    .then(|| LocationKey { path: Rc::from([]), field: Some(field) })
            }
            (FieldAccess::GetStatic | FieldAccess::PutStatic, _) => None,
            _ => self.explorer.location(&operands[0], Some(field)),
        };
        match access {
            FieldAccess::GetStatic | FieldAccess::Get => {
                let volatile = match handle {
                    Some(mode) => mode.is_volatile(),
                    None => {
                        self.is_client() || (volatile && !self.feeds_own_write(frame.at, field))
                    }
                };
                // What is read and written in one step, nobody sees in between.
                let one_step = handle.is_some_and(HandleMode::is_atomic)
                    && !self.body.instructions[..frame.at.index()]
                        .iter()
                        .any(|one| matches!(one, JavaInstruction::Field(..)));
                let steps: Vec<Step> = location
                    .clone()
                    .filter(|_| !one_step)
                    .map(|one| Step::Read(one, volatile))
                    .into_iter()
                    .collect();
                let tokens = if !is_reference {
                    vec![self.number_of(operands.first(), field)]
                } else if access == FieldAccess::Get {
                    let holder = Holder::Value(self.method, Definition::Result(frame.at));
                    self.explorer.loaded(&operands[0], field, shared.found.of(holder))
                } else {
                    self.result_tokens(frame.at)
                };
                // What nobody else knows holds the object only if it is stored in itself.
                let private = operands.first() == Some(&JavaToken::Fresh);
                let itself = |token: JavaToken| match token {
                    JavaToken::Isolated if private => JavaToken::Fresh,
                    token => token,
                };
                let tokens: Vec<JavaToken> = tokens.into_iter().map(itself).collect();
                // Two loads of a field that is written once agree.
                let kept =
                    is_reference && access == FieldAccess::Get && self.is_kept(frame.at, field);
                let tokens = match frame.memo.get(&field) {
                    Some(known) if kept => vec![known.clone()],
                    _ => tokens,
                };
                for (steps, token) in
                    self.read_values(location.as_ref(), is_reference, &steps, tokens)
                {
                    let (mut next, _) = self.after(frame, token.clone())?;
                    if kept {
                        next.memo.insert(field, token);
                    }
                    self.go_on(source, &steps, &next);
                }
            }
            FieldAccess::PutStatic | FieldAccess::Put => {
                let volatile = match handle {
                    Some(mode) => mode.is_volatile(),
                    None => {
                        self.is_client() || (volatile && !self.depends_on_own_read(frame.at, field))
                    }
                };
                let becomes = self.written_value(location.as_ref(), is_reference, operands.last());
                let write = location.map(|one| Step::Write(one, volatile));
                let steps: Vec<Step> = write.into_iter().chain(becomes).collect();
                let (mut next, _) = self.after(frame, JavaToken::Other)?;
                // Storing what the object owns in the object makes nothing known.
                let owned = matches!(operands.last(), Some(JavaToken::Part(..)))
                    && shared.facts.owning.contains(&field);
                if is_reference
                    && access == FieldAccess::Put
                    && self.is_kept(frame.at, field)
                    && let Some(token) = operands.last()
                {
                    // What has no name of its own is named by the field.
                    let part = self.explorer.part_of(&operands[0], field);
                    let unnamed = matches!(token, JavaToken::Other | JavaToken::Number(_));
                    let named = unnamed.then_some(part).flatten();
                    next.memo.insert(field, named.unwrap_or_else(|| token.clone()));
                }
                // Nor does storing the object in itself, as long as whoever loads it from there knows that.
                let in_itself = access == FieldAccess::Put
                    && operands[0] == JavaToken::Fresh
                    && operands.last() == Some(&JavaToken::Fresh);
                if operands.last().is_some_and(Self::is_fresh) && !owned && !in_itself {
                    Self::publish(&mut next);
                    next.published = true;
                }
                self.go_on(source, &steps, &next);
            }
        }
        Some(())
    }

    /// What a field of a value holds that is no reference.
    fn number_of(&self, base: Option<&JavaToken>, field: MemberId) -> JavaToken {
        let object = match base {
            Some(JavaToken::One(object)) => Some(*object),
            Some(JavaToken::Isolated | JavaToken::Fresh) => self.explorer.object,
            _ => None,
        };
        let constants = &self.explorer.shared.constants;
        let number = object.and_then(|object| constants.get(&(object, field)));
        number.map_or(JavaToken::Other, |&number| JavaToken::Number(number))
    }

    /// Whether an instruction works on a field of `this` that is written once.
    fn is_kept(&self, at: At, field: MemberId) -> bool {
        let ModelFacts { world, facts, .. } = self.explorer.shared;
        facts.write_once.contains(&field)
            && !world.of(self.method).access.is_static()
            && self.frames.operands[at]
                .first()
                .is_some_and(|one| one[..] == [Definition::Parameter(0)])
    }
}
