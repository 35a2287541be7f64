//! # Idea
//! The copy of a body: its instructions one after the other, each with what is put before and behind it; then
//! everything that names a place in it, with the place where that is now.

use super::{ConductorPlace, Copy, length, on_local};
use crate::bytes::{Bytes, ClassDamage, damage};
use crate::class::{At, FieldAccess, InvokeKind, JavaBody, JavaInstruction, JavaKind};
use crate::names::{kind_of_field, kinds_of_method};
use selvedge_base::Id as _;
use std::collections::BTreeMap;

/// The copy of a body.
pub(super) struct CodeCopy<'c, 'a> {
    pub copy: &'c Copy<'a>,
    pub body: &'c JavaBody,
    pub method: usize,
}

/// Where things are in the copy of a body.
struct Moved {
    /// What is put before each instruction, and behind it.
    before: Vec<Vec<u8>>,
    after: Vec<Vec<u8>>,
    /// Where what is put before each instruction begins; the last is the end.
    starts: Vec<u32>,
    /// Where each instruction begins.
    instructions: Vec<u32>,
}

impl CodeCopy<'_, '_> {
    fn at(&self, byte: u32) -> usize {
        self.body.offsets.partition_point(|&offset| offset < byte)
    }

    /// The copy, with calls of the conductor at these places.
    pub fn code(
        &self,
        mut part: Bytes<'_>,
        own: &BTreeMap<ConductorPlace, u16>,
    ) -> Result<Vec<u8>, ClassDamage> {
        let first = part.at;
        let (stack, mut locals) = (part.u2()?, part.u2()?);
        let size = part.u4()?;
        let code = part.at;
        part.take(size as usize)?;
        let code = &self.copy.bytes[code..part.at];
        let own_locals = locals;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (number, instruction) in self.body.instructions.iter().enumerate() {
            let place = ConductorPlace::Instruction(At::from_index(number));
            let (mut one, mut two) = (Vec::new(), Vec::new());
            if let Some(&point) = own.get(&place) {
                let told = self.told(number, instruction, own_locals);
                locals = locals.max(own_locals.saturating_add(told.locals));
                one.extend(told.push);
                let method = match told.of {
                    ToldOf::One => self.copy.before,
                    ToldOf::Several => self.copy.before_call,
                    ToldOf::Element => self.copy.before_element,
                };
                one.extend(Copy::call(method, point));
                one.extend(told.back);
                if instruction.goes_on() {
                    two = Copy::call(self.copy.after, point);
                }
            }
            before.push(one);
            after.push(two);
        }
        let moved = self.moved(code, before, after);
        let Some(&end) = moved.starts.last().filter(|&&end| end < u32::from(u16::MAX)) else {
            return damage(first, "the body becomes too long");
        };
        let mut out = stack.saturating_add(6).to_be_bytes().to_vec();
        out.extend(locals.to_be_bytes());
        out.extend(end.to_be_bytes());
        for number in 0..self.body.instructions.len() {
            out.extend(&moved.before[number]);
            out.extend(self.instruction(code, number, &moved)?);
            out.extend(&moved.after[number]);
        }
        let place = |byte: u16| moved.starts[self.at(byte.into())] as u16;
        let handlers = part.u2()?;
        out.extend(handlers.to_be_bytes());
        for _ in 0..handlers {
            for _ in 0..3 {
                out.extend(place(part.u2()?).to_be_bytes());
            }
            out.extend(part.u2()?.to_be_bytes());
        }
        out.extend(self.attributes(&mut part, &moved)?);
        Ok(out)
    }

    /// How the conductor is told which objects an instruction is about.
    fn told(&self, number: usize, instruction: &JavaInstruction, free: u16) -> Told {
        use JavaInstruction as I;
        let plain = |code: &[u8]| Told { push: code.to_vec(), ..Told::default() };
        if self.is_unborn(number) {
            return plain(&[1]);
        }
        let wide = |kind: JavaKind| kind.width() == 2;
        let text = |name| self.copy.names.text(name);
        match instruction {
            I::Field(FieldAccess::Get, _) | I::MonitorEnter => plain(&[89]),
            I::Field(FieldAccess::Put, member) => match kind_of_field(text(member.descriptor)) {
                Some(kind) if wide(kind) => plain(&[93, 88, 91]),
                _ => plain(&[92, 87]),
            },
            I::ArrayLoad(_) => Told { of: ToldOf::Element, ..plain(&[92]) },
            I::ArrayStore(kind) => {
                let mut push = on_local(54, *kind, free);
                push.push(92);
                let back = on_local(21, *kind, free);
                Told { push, back, of: ToldOf::Element, locals: kind.width() }
            }
            I::Invoke(kind, member) => {
                let has_object = *kind != InvokeKind::Static && text(member.name) != "<init>";
                self.told_of_call(text(member.descriptor), has_object, free)
            }
            I::InvokeDynamic(_, _, descriptor) => self.told_of_call(text(*descriptor), false, free),
            _ => plain(&[1]),
        }
    }

    /// The arguments of a call are put aside. The conductor gets its object, if objects are no arguments, or
    /// else all of them, that of the call first.
    fn told_of_call(&self, descriptor: &str, has_object: bool, free: u16) -> Told {
        let kinds = kinds_of_method(descriptor).map_or(Vec::new(), |one| one.0);
        let (mut places, mut local) = (Vec::new(), free);
        for &kind in &kinds {
            places.push((kind, local));
            local = local.saturating_add(kind.width());
        }
        let several = kinds.contains(&JavaKind::Reference);
        let of = if several { ToldOf::Several } else { ToldOf::One };
        let mut told = Told { of, ..Told::default() };
        if !several && !has_object {
            told.push.push(1);
            return told;
        }
        for &(kind, local) in places.iter().rev() {
            told.push.extend(on_local(54, kind, local));
        }
        told.back = places.iter().flat_map(|&(kind, local)| on_local(21, kind, local)).collect();
        if has_object {
            told.push.push(89);
        }
        if several {
            let own = local;
            if has_object {
                told.push.extend(on_local(54, JavaKind::Reference, own));
                local = local.saturating_add(1);
            }
            let objects = places.iter().filter(|one| one.0 == JavaKind::Reference);
            let objects: Vec<u16> = objects.map(|one| one.1).collect();
            told.push.push(17);
            told.push.extend((objects.len() as u16 + 1).to_be_bytes());
            told.push.push(189);
            told.push.extend(self.copy.object.to_be_bytes());
            let all = has_object.then_some((0_u16, own)).into_iter();
            for (number, local) in all.chain((1..).zip(objects)) {
                told.push.extend([89, 17]);
                told.push.extend(number.to_be_bytes());
                told.push.extend(on_local(21, JavaKind::Reference, local));
                told.push.push(83);
            }
        }
        told.locals = local - free;
        told
    }

    /// Whether `this` may be an object whose constructor has not called that of its superclass.
    fn is_unborn(&self, number: usize) -> bool {
        let names = self.copy.names;
        if names.text(self.copy.class.methods[self.method].name) != "<init>" {
            return false;
        }
        let calls = |one: &JavaInstruction| match one {
            JavaInstruction::Invoke(InvokeKind::Special, member) => {
                let own = member.class == self.copy.class.name;
                let above = Some(member.class) == self.copy.class.superclass;
                names.text(member.name) == "<init>" && (own || above)
            }
            _ => false,
        };
        self.body.instructions.iter().position(calls).is_none_or(|first| number <= first)
    }

    /// Where everything is.
    fn moved(&self, code: &[u8], before: Vec<Vec<u8>>, after: Vec<Vec<u8>>) -> Moved {
        let (mut starts, mut instructions) = (Vec::new(), Vec::new());
        let mut at = 0;
        for number in 0..self.body.instructions.len() {
            starts.push(at);
            at += before[number].len() as u32;
            instructions.push(at);
            let (from, to) = self.range(code, number);
            let mut size = (to - from) as u32;
            if matches!(code[from], 170 | 171) {
                size = size - padding(from as u32) + padding(at);
            }
            at += size + after[number].len() as u32;
        }
        starts.push(at);
        Moved { before, after, starts, instructions }
    }

    fn range(&self, code: &[u8], number: usize) -> (usize, usize) {
        let offsets = &self.body.offsets;
        let to = offsets.get(number + 1).map_or(code.len(), |&to| to as usize);
        (offsets[number] as usize, to)
    }

    /// An instruction where it is now.
    fn instruction(
        &self,
        code: &[u8],
        number: usize,
        moved: &Moved,
    ) -> Result<Vec<u8>, ClassDamage> {
        let (from, to) = self.range(code, number);
        let bytes = &code[from..to];
        let here = i64::from(moved.instructions[number]);
        // How far it is to where a jump from here by so many bytes leads.
        let jump = |by: i64| {
            let target = i64::from(self.body.offsets[number]) + by;
            let target = self.at(u32::try_from(target).unwrap_or(0));
            i64::from(moved.starts[target]) - here
        };
        let four = |at: usize| {
            let bytes = [code[at], code[at + 1], code[at + 2], code[at + 3]];
            i64::from(i32::from_be_bytes(bytes))
        };
        let mut out = vec![bytes[0]];
        match bytes[0] {
            153..=168 | 198 | 199 => {
                let by = jump(i64::from(i16::from_be_bytes([bytes[1], bytes[2]])));
                let Ok(by) = i16::try_from(by) else {
                    return damage(from, "a jump becomes too long");
                };
                out.extend(by.to_be_bytes());
            }
            200 | 201 => out.extend((jump(four(from + 1)) as i32).to_be_bytes()),
            170 | 171 => {
                out.resize(1 + padding(moved.instructions[number]) as usize, 0);
                let mut at = from + 1 + padding(from as u32) as usize;
                let mut put = |value: i64| out.extend((value as i32).to_be_bytes());
                put(jump(four(at)));
                let (one, two) = (four(at + 4), four(at + 8));
                put(one);
                if bytes[0] == 170 {
                    put(two);
                    at += 12;
                    while at < to {
                        put(jump(four(at)));
                        at += 4;
                    }
                } else {
                    at += 8;
                    while at < to {
                        put(four(at));
                        put(jump(four(at + 4)));
                        at += 8;
                    }
                }
            }
            _ => out.extend(&bytes[1..]),
        }
        Ok(out)
    }

    /// The attributes that a run needs: lines and frames.
    fn attributes(&self, part: &mut Bytes<'_>, moved: &Moved) -> Result<Vec<u8>, ClassDamage> {
        let mut kept = Vec::new();
        for _ in 0..part.u2()? {
            let name = part.u2()?;
            let size = part.u4()?;
            let mut inner = part.part(size as usize)?;
            let copied = if self.copy.is_text(name, "LineNumberTable") {
                let count = inner.u2()?;
                let mut out = count.to_be_bytes().to_vec();
                for _ in 0..count {
                    let place = moved.starts[self.at(inner.u2()?.into())] as u16;
                    out.extend(place.to_be_bytes());
                    out.extend(inner.u2()?.to_be_bytes());
                }
                out
            } else if self.copy.is_text(name, "StackMapTable") {
                self.frames(&mut inner, moved)?
            } else {
                continue;
            };
            kept.push((name, copied));
        }
        let mut out = (kept.len() as u16).to_be_bytes().to_vec();
        for (name, bytes) in kept {
            out.extend(name.to_be_bytes());
            out.extend(length(&bytes)?);
            out.extend(bytes);
        }
        Ok(out)
    }

    fn frames(&self, part: &mut Bytes<'_>, moved: &Moved) -> Result<Vec<u8>, ClassDamage> {
        let count = part.u2()?;
        let mut out = count.to_be_bytes().to_vec();
        let (mut old, mut new) = (-1_i64, -1_i64);
        for _ in 0..count {
            let kind = part.u1()?;
            let delta = match kind {
                0..=63 => u16::from(kind),
                64..=127 => u16::from(kind - 64),
                _ => part.u2()?,
            };
            old += i64::from(delta) + 1;
            let place = i64::from(moved.starts[self.at(u32::try_from(old).unwrap_or(0))]);
            let Ok(delta) = u16::try_from(place - new - 1) else {
                return damage(part.at, "the frames are in no order");
            };
            new = place;
            // The forms with a number of their own for how far it is.
            out.push(match kind {
                0..=63 => 251,
                64..=127 => 247,
                other => other,
            });
            out.extend(delta.to_be_bytes());
            let values = |part: &mut Bytes<'_>, out: &mut Vec<u8>, count: u16| {
                (0..count).try_for_each(|_| self.frame_value(part, moved, out))
            };
            match kind {
                64..=127 | 247 => values(part, &mut out, 1)?,
                252..=254 => values(part, &mut out, u16::from(kind) - 251)?,
                255 => {
                    for _ in 0..2 {
                        let count = part.u2()?;
                        out.extend(count.to_be_bytes());
                        values(part, &mut out, count)?;
                    }
                }
                _ => {}
            }
        }
        Ok(out)
    }

    fn frame_value(
        &self,
        part: &mut Bytes<'_>,
        moved: &Moved,
        out: &mut Vec<u8>,
    ) -> Result<(), ClassDamage> {
        let tag = part.u1()?;
        out.push(tag);
        match tag {
            7 => out.extend(part.u2()?.to_be_bytes()),
            // An object that is not there yet, by the instruction that makes it.
            8 => {
                let made = self.at(part.u2()?.into());
                let place = moved.instructions.get(made).copied().unwrap_or(0) as u16;
                out.extend(place.to_be_bytes());
            }
            _ => {}
        }
        Ok(())
    }
}

/// Code around a call of the conductor.
#[derive(Default)]
struct Told {
    /// Pushes what it is told.
    push: Vec<u8>,
    /// Makes the stack again what it was.
    back: Vec<u8>,
    /// What it is told of.
    of: ToldOf,
    /// How many more local variables that needs.
    locals: u16,
}

/// What the conductor is told of.
#[derive(Clone, Copy, Default)]
enum ToldOf {
    /// An object, or none.
    #[default]
    One,
    /// Several objects.
    Several,
    /// An element of an array.
    Element,
}

/// The bytes behind the code of a switch at this byte, up to a multiple of four.
fn padding(at: u32) -> u32 {
    3 - at % 4
}
