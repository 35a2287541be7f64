//! # Idea
//! The constants of a class file. Entries name other entries, so they are kept as they stand and followed
//! when somebody asks; what is asked for must be there and be of the kind that is asked for.
//!
//! # Source
//! JVMS 4.4, and 4.4.7 for texts.

use crate::bytes::{Bytes, ClassDamage, damage};
use crate::class::{FieldAccess, HandleKind, InvokeKind, JavaConstant, JavaHandle, JavaMember};
use crate::names::{JavaName, JavaNames};

/// An entry, and the byte at which it stands.
#[derive(Clone, Copy)]
enum Entry<'a> {
    /// The first entry, and the one behind a number of 64 bits.
    Unusable,
    Text(&'a [u8]),
    Int(i32),
    Float(u32),
    Long(i64),
    Double(u64),
    Class(u16),
    String(u16),
    Field(u16, u16),
    Method(u16, u16),
    InterfaceMethod(u16, u16),
    NameAndType(u16, u16),
    Handle(u8, u16),
    MethodType(u16),
    Dynamic(u16, u16),
    InvokeDynamic(u16, u16),
    Module(u16),
    Package(u16),
}

/// The constants of a class file.
pub(crate) struct Pool<'a> {
    entries: Vec<(usize, Entry<'a>)>,
}

/// What an instruction or an attribute asks a member to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberKind {
    Field,
    /// A method of a class, or, if it may be, of an interface.
    Method {
        class: bool,
        interface: bool,
    },
}

impl<'a> Pool<'a> {
    pub fn read(bytes: &mut Bytes<'a>) -> Result<Self, ClassDamage> {
        let count = bytes.u2()?;
        let mut entries = vec![(bytes.at, Entry::Unusable)];
        while entries.len() < usize::from(count) {
            let at = bytes.at;
            let entry = match bytes.u1()? {
                1 => {
                    let length = bytes.u2()?;
                    Entry::Text(bytes.take(usize::from(length))?)
                }
                3 => Entry::Int(bytes.i4()?),
                4 => Entry::Float(bytes.u4()?),
                5 => Entry::Long(bytes.u8()?.cast_signed()),
                6 => Entry::Double(bytes.u8()?),
                7 => Entry::Class(bytes.u2()?),
                8 => Entry::String(bytes.u2()?),
                9 => Entry::Field(bytes.u2()?, bytes.u2()?),
                10 => Entry::Method(bytes.u2()?, bytes.u2()?),
                11 => Entry::InterfaceMethod(bytes.u2()?, bytes.u2()?),
                12 => Entry::NameAndType(bytes.u2()?, bytes.u2()?),
                15 => Entry::Handle(bytes.u1()?, bytes.u2()?),
                16 => Entry::MethodType(bytes.u2()?),
                17 => Entry::Dynamic(bytes.u2()?, bytes.u2()?),
                18 => Entry::InvokeDynamic(bytes.u2()?, bytes.u2()?),
                19 => Entry::Module(bytes.u2()?),
                20 => Entry::Package(bytes.u2()?),
                tag => return damage(at, format!("there is no constant with the tag {tag}")),
            };
            entries.push((at, entry));
            if matches!(entry, Entry::Long(_) | Entry::Double(_)) {
                entries.push((at, Entry::Unusable));
            }
        }
        Ok(Self { entries })
    }

    /// An entry that is asked for at `offset`.
    fn entry(&self, index: u16, offset: usize) -> Result<(usize, Entry<'a>), ClassDamage> {
        match self.entries.get(usize::from(index)) {
            None => {
                let last = self.entries.len() - 1;
                damage(offset, format!("constant {index} is named here and {last} is the last one"))
            }
            Some((_, Entry::Unusable)) => {
                damage(offset, format!("constant {index}, which is named here, cannot be used"))
            }
            Some(&found) => Ok(found),
        }
    }

    fn wrong<T>(index: u16, offset: usize, wanted: &str) -> Result<T, ClassDamage> {
        damage(offset, format!("constant {index}, which is named here, is no {wanted}"))
    }

    /// The bytes of a text.
    fn text(&self, index: u16, offset: usize) -> Result<(usize, &'a [u8]), ClassDamage> {
        match self.entry(index, offset)? {
            (at, Entry::Text(bytes)) => Ok((at, bytes)),
            _ => Self::wrong(index, offset, "text"),
        }
    }

    /// A text that names something.
    pub fn name(
        &self,
        index: u16,
        offset: usize,
        names: &mut JavaNames,
    ) -> Result<JavaName, ClassDamage> {
        let (at, bytes) = self.text(index, offset)?;
        match decode(bytes) {
            Some((text, true)) => Ok(names.intern(&text)),
            Some((_, false)) => damage(at, "this name has half a surrogate pair"),
            None => damage(at, "this text is not in modified UTF-8"),
        }
    }

    /// The name of an entry of a kind of its own: a class, a module, a package.
    pub fn class(
        &self,
        index: u16,
        offset: usize,
        names: &mut JavaNames,
    ) -> Result<JavaName, ClassDamage> {
        match self.entry(index, offset)? {
            (at, Entry::Class(name) | Entry::Module(name) | Entry::Package(name)) => {
                self.name(name, at, names)
            }
            _ => Self::wrong(index, offset, "class"),
        }
    }

    /// The same, or nothing for 0.
    pub fn class_or_none(
        &self,
        index: u16,
        offset: usize,
        names: &mut JavaNames,
    ) -> Result<Option<JavaName>, ClassDamage> {
        if index == 0 { Ok(None) } else { self.class(index, offset, names).map(Some) }
    }

    /// A name and a type.
    fn name_and_type(
        &self,
        index: u16,
        offset: usize,
        names: &mut JavaNames,
    ) -> Result<(JavaName, JavaName), ClassDamage> {
        match self.entry(index, offset)? {
            (at, Entry::NameAndType(name, descriptor)) => {
                Ok((self.name(name, at, names)?, self.name(descriptor, at, names)?))
            }
            _ => Self::wrong(index, offset, "name and type"),
        }
    }

    /// A field or a method.
    pub fn member(
        &self,
        index: u16,
        offset: usize,
        wanted: MemberKind,
        names: &mut JavaNames,
    ) -> Result<JavaMember, ClassDamage> {
        let (at, entry) = self.entry(index, offset)?;
        let (class, what) = match (entry, wanted) {
            (Entry::Field(class, what), MemberKind::Field)
            | (Entry::Method(class, what), MemberKind::Method { class: true, .. })
            | (Entry::InterfaceMethod(class, what), MemberKind::Method { interface: true, .. }) => {
                (class, what)
            }
            (_, MemberKind::Field) => return Self::wrong(index, offset, "field"),
            _ => return Self::wrong(index, offset, "method that can be called so"),
        };
        let class = self.class(class, at, names)?;
        let (name, descriptor) = self.name_and_type(what, at, names)?;
        let text = names.text(descriptor);
        let is_type = match wanted {
            MemberKind::Field => crate::names::kind_of_field(text).is_some(),
            MemberKind::Method { .. } => crate::names::kinds_of_method(text).is_some(),
        };
        if is_type {
            Ok(JavaMember { class, name, descriptor })
        } else {
            damage(at, format!("{text:?} is not the type of such a member"))
        }
    }

    /// A method handle.
    pub fn handle(
        &self,
        index: u16,
        offset: usize,
        names: &mut JavaNames,
    ) -> Result<JavaHandle, ClassDamage> {
        let (at, Entry::Handle(kind, member)) = self.entry(index, offset)? else {
            return Self::wrong(index, offset, "method handle");
        };
        let method = |class, interface| MemberKind::Method { class, interface };
        let (kind, wanted) = match kind {
            1 => (HandleKind::Field(FieldAccess::Get), MemberKind::Field),
            2 => (HandleKind::Field(FieldAccess::GetStatic), MemberKind::Field),
            3 => (HandleKind::Field(FieldAccess::Put), MemberKind::Field),
            4 => (HandleKind::Field(FieldAccess::PutStatic), MemberKind::Field),
            5 => (HandleKind::Invoke(InvokeKind::Virtual), method(true, false)),
            6 => (HandleKind::Invoke(InvokeKind::Static), method(true, true)),
            7 => (HandleKind::Invoke(InvokeKind::Special), method(true, true)),
            8 => (HandleKind::New, method(true, false)),
            9 => (HandleKind::Invoke(InvokeKind::Interface), method(false, true)),
            other => return damage(at, format!("there is no method handle of kind {other}")),
        };
        Ok(JavaHandle { kind, member: self.member(member, at, wanted, names)? })
    }

    /// A constant that can be pushed, given to a bootstrap method, or be the value of a field.
    pub fn constant(
        &self,
        index: u16,
        offset: usize,
        names: &mut JavaNames,
    ) -> Result<JavaConstant, ClassDamage> {
        let (at, entry) = self.entry(index, offset)?;
        Ok(match entry {
            Entry::Int(value) => JavaConstant::Int(value),
            Entry::Float(bits) => JavaConstant::Float(f32::from_bits(bits)),
            Entry::Long(value) => JavaConstant::Long(value),
            Entry::Double(bits) => JavaConstant::Double(f64::from_bits(bits)),
            Entry::Class(_) => JavaConstant::Class(self.class(index, offset, names)?),
            // Half a surrogate pair does no harm in a text that names nothing.
            Entry::String(text) => {
                let (at, bytes) = self.text(text, at)?;
                match decode(bytes) {
                    Some((text, _)) => JavaConstant::Text(names.intern(&text)),
                    None => return damage(at, "this text is not in modified UTF-8"),
                }
            }
            Entry::Handle(..) => JavaConstant::Handle(self.handle(index, offset, names)?),
            Entry::MethodType(descriptor) => {
                JavaConstant::MethodType(self.name(descriptor, at, names)?)
            }
            Entry::Dynamic(bootstrap, what) => {
                let (_, descriptor) = self.name_and_type(what, at, names)?;
                if crate::names::kind_of_field(names.text(descriptor)).is_none() {
                    return damage(at, "this constant has no type of a value");
                }
                JavaConstant::Dynamic(bootstrap, descriptor)
            }
            _ => return Self::wrong(index, offset, "constant with a value"),
        })
    }

    /// What `invokedynamic` calls: a bootstrap method, a name and a type.
    pub fn invoke_dynamic(
        &self,
        index: u16,
        offset: usize,
        names: &mut JavaNames,
    ) -> Result<(u16, JavaName, JavaName), ClassDamage> {
        let (at, Entry::InvokeDynamic(bootstrap, what)) = self.entry(index, offset)? else {
            return Self::wrong(index, offset, "dynamic call");
        };
        let (name, descriptor) = self.name_and_type(what, at, names)?;
        if crate::names::kinds_of_method(names.text(descriptor)).is_none() {
            return damage(at, "this dynamic call has no type of a method");
        }
        Ok((bootstrap, name, descriptor))
    }
}

/// A text in modified UTF-8 (0 takes two bytes, characters beyond 16 bits are surrogate pairs), and whether
/// no half of a pair had to be replaced; `None` if it is none.
fn decode(bytes: &[u8]) -> Option<(String, bool)> {
    if let (Ok(text), false) = (std::str::from_utf8(bytes), bytes.contains(&0)) {
        return Some((text.to_owned(), true));
    }
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied();
    while let Some(first) = rest.next() {
        let mut more = || {
            let next = rest.next()?;
            (next & 0xC0 == 0x80).then_some(u16::from(next & 0x3F))
        };
        units.push(match first {
            1..=0x7F => u16::from(first),
            0xC0..=0xDF => u16::from(first & 0x1F) << 6 | more()?,
            0xE0..=0xEF => u16::from(first & 0x0F) << 12 | more()? << 6 | more()?,
            _ => return None,
        });
    }
    let mut whole = true;
    let text = char::decode_utf16(units).map(|unit| {
        unit.unwrap_or_else(|_| {
            whole = false;
            char::REPLACEMENT_CHARACTER
        })
    });
    let text = text.collect();
    Some((text, whole))
}
