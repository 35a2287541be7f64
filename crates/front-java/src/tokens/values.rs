//! Values of fields, where a question is asked again with them: a truth value is a number, and so is whether a
//! reference that has no name is null.

use super::{JavaToken, LocationKey, Step, Walk};
use crate::class::{At, BranchCondition, JavaConstant, JavaInstruction};
use crate::frames::was_used;
use crate::world::MemberId;

impl Walk<'_, '_, '_> {
    /// Whether the question is asked with values.
    pub(super) fn has_values(&self) -> bool {
        !self.explorer.values.is_empty()
    }

    fn is_known(&self, location: &LocationKey) -> bool {
        let known = |field: &MemberId| self.explorer.values.contains(field);
        location.path.is_empty() && location.field.as_ref().is_some_and(known)
    }

    /// What a read of a location may give, each with what happens then.
    pub(super) fn read_values(
        &self,
        location: Option<&LocationKey>,
        is_reference: bool,
        steps: &[Step],
        tokens: Vec<JavaToken>,
    ) -> Vec<(Vec<Step>, JavaToken)> {
        let Some(location) = location.filter(|one| self.is_known(one)) else {
            return tokens.into_iter().map(|token| (steps.to_vec(), token)).collect();
        };
        let when = |value: bool| [&[Step::Is(location.clone(), value)], steps].concat();
        let mut ways = vec![(when(false), JavaToken::Number(0))];
        if is_reference {
            let there = tokens.into_iter().map(Self::not_null);
            ways.extend(there.map(|token| (when(true), token)));
        } else {
            ways.push((when(true), JavaToken::Number(1)));
        }
        ways
    }

    /// What a location holds after a write of this.
    pub(super) fn written_value(
        &self,
        location: Option<&LocationKey>,
        is_reference: bool,
        token: Option<&JavaToken>,
    ) -> Option<Step> {
        let location = location.filter(|one| self.is_known(one))?;
        let value = match token {
            Some(JavaToken::Number(number @ (0 | 1))) => Some(*number == 1),
            Some(token) if is_reference => Self::is_object(token).then_some(true),
            _ => None,
        };
        Some(Step::Becomes(location.clone(), value))
    }

    /// The value of a constant.
    pub(super) fn constant(&self, instruction: &JavaInstruction) -> Option<JavaToken> {
        let JavaInstruction::Constant(constant) = instruction else { return None };
        match constant {
            JavaConstant::Int(number @ (0 | 1)) if self.has_values() => {
                Some(JavaToken::Number(*number))
            }
            JavaConstant::Null if self.has_values() => Some(JavaToken::Number(0)),
            _ => None,
        }
    }

    /// A token of something that is not null.
    pub(super) fn not_null(token: JavaToken) -> JavaToken {
        if token == JavaToken::Other { JavaToken::Number(1) } else { token }
    }

    fn is_object(token: &JavaToken) -> bool {
        matches!(
            token,
            JavaToken::Isolated | JavaToken::Fresh | JavaToken::One(_) | JavaToken::Locked(_)
        )
    }

    /// Whether a branch that asks whether a reference is null is taken, if that is known.
    pub(super) fn is_null_branch_taken(
        &self,
        at: At,
        condition: BranchCondition,
        token: Option<&JavaToken>,
    ) -> Option<bool> {
        let BranchCondition::Null(wanted) = condition else { return None };
        let is_null = match token? {
            JavaToken::Number(number) => *number == 0,
            token if self.has_values() && Self::is_object(token) => false,
            _ if self.was_used(at) => false,
            _ => return None,
        };
        Some(is_null == wanted)
    }

    pub(super) fn was_used(&self, at: At) -> bool {
        let mut known = self.explorer.used.borrow_mut();
        let find = || was_used(self.body, &self.frames, at);
        *known.entry((self.method, at)).or_insert_with(find)
    }
}
