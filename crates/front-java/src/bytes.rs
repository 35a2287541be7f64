//! # Idea
//! A position in the bytes of a class file. Whatever is read is checked against the end first, and a
//! mistake says at which byte it was found.

use std::fmt;

/// What is wrong with a class file, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassDamage {
    /// The byte at which it was noticed.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ClassDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {})", self.message, self.offset)
    }
}

impl std::error::Error for ClassDamage {}

/// A mistake at a byte.
pub(crate) fn damage<T>(offset: usize, message: impl Into<String>) -> Result<T, ClassDamage> {
    Err(ClassDamage { offset, message: message.into() })
}

/// Bytes, and how far they were read.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a> {
    all: &'a [u8],
    /// The next byte.
    pub at: usize,
    /// One past the last byte.
    end: usize,
}

impl<'a> Bytes<'a> {
    pub fn new(all: &'a [u8]) -> Self {
        Self { all, at: 0, end: all.len() }
    }

    pub fn is_done(&self) -> bool {
        self.at == self.end
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], ClassDamage> {
        let rest = self.end - self.at;
        if count > rest {
            return damage(self.at, format!("{count} bytes are expected here and {rest} are left"));
        }
        let taken = &self.all[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    /// A part of so many bytes, which counts from the beginning of the file as well.
    pub fn part(&mut self, count: usize) -> Result<Self, ClassDamage> {
        let at = self.at;
        self.take(count)?;
        Ok(Self { all: self.all, at, end: at + count })
    }

    pub fn u1(&mut self) -> Result<u8, ClassDamage> {
        Ok(self.take(1)?[0])
    }

    pub fn u2(&mut self) -> Result<u16, ClassDamage> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub fn u4(&mut self) -> Result<u32, ClassDamage> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub fn u8(&mut self) -> Result<u64, ClassDamage> {
        Ok(u64::from(self.u4()?) << 32 | u64::from(self.u4()?))
    }

    pub fn i1(&mut self) -> Result<i8, ClassDamage> {
        Ok(self.u1()?.cast_signed())
    }

    pub fn i2(&mut self) -> Result<i16, ClassDamage> {
        Ok(self.u2()?.cast_signed())
    }

    pub fn i4(&mut self) -> Result<i32, ClassDamage> {
        Ok(self.u4()?.cast_signed())
    }
}
