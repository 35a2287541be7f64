//! # Idea
//! A page with thousands of findings shows one of them at a time, so most of its markup is kept packed: the
//! articles, the sources and the data of all findings but the first ones are one block of text, from which the
//! script takes what is opened. A browser reads the block as one string and builds nothing from it.
//!
//! The block has its chunks behind each other with a blank between them: JSON, deflated, in base64. A chunk is unpacked as a whole, so it is small
//! enough for that to be unnoticed and large enough to be packed well.
//!
//! # Source
//! RFC 1951 for the format *deflate*, RFC 4648 §4 for base64.
//!
//! # Invariants
//! 1. The markup of a chunk was written by the same writer as the page, so it is escaped in the same way.

use super::data::Body;
use super::digest::base64;
use serde::Serialize;
use std::collections::BTreeMap;

/// The first findings are part of the page until they have so many steps, or are so many.
const STEPS: usize = 6_000;
const FINDINGS: usize = 24;
/// Characters of a chunk.
const CHUNK: usize = 400_000;
/// The level of the compression.
const LEVEL: u8 = 6;

/// How many of the first findings are part of the page, given the steps of each.
pub fn at_once(steps: impl Iterator<Item = usize>) -> usize {
    let mut sum = 0;
    let fits = |(at, steps): &(usize, usize)| {
        sum += steps;
        *at == 0 || *at < FINDINGS && sum <= STEPS
    };
    steps.enumerate().take_while(fits).count()
}

/// What is kept for later.
#[derive(Default)]
pub struct Later {
    chunks: Vec<String>,
    open: Chunk,
    size: usize,
}

#[derive(Default, Serialize)]
struct Chunk {
    /// By the number of the finding.
    findings: BTreeMap<usize, LaterFinding>,
    /// Markup, by the number of the file.
    sources: BTreeMap<usize, String>,
}

#[derive(Serialize)]
struct LaterFinding {
    article: String,
    #[serde(flatten)]
    body: Body,
}

impl Later {
    /// Keeps a finding, with the source of its file if nothing before it has that one; gives the number of
    /// the chunk.
    pub fn keep(
        &mut self,
        number: usize,
        article: String,
        body: Body,
        source: Option<(usize, String)>,
    ) -> usize {
        if self.size > CHUNK {
            self.close();
        }
        self.size += article.len() + source.as_ref().map_or(0, |(_, markup)| markup.len());
        self.open.findings.insert(number, LaterFinding { article, body });
        self.open.sources.extend(source);
        self.chunks.len()
    }

    /// The block, or nothing if nothing was kept.
    pub fn finish(mut self) -> Option<String> {
        self.close();
        (!self.chunks.is_empty()).then(|| self.chunks.join(" "))
    }

    fn close(&mut self) {
        let chunk = std::mem::take(&mut self.open);
        self.size = 0;
        if !chunk.findings.is_empty() {
            // Strings, numbers and lists of them can always be written.
            let json = serde_json::to_vec(&chunk).unwrap_or_default();
            self.chunks.push(base64(&miniz_oxide::deflate::compress_to_vec(&json, LEVEL)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_findings_are_there_at_once() {
        assert_eq!(at_once([10_000, 1].into_iter()), 1);
        assert_eq!(at_once([3_000, 3_000, 1].into_iter()), 2);
        assert_eq!(at_once([1; 100].into_iter()), FINDINGS);
        assert_eq!(at_once([].into_iter()), 0);
    }
}
