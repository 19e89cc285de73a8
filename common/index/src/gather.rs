//! Postings of several words as one list: chunk by chunk, frequencies added up.

use tantivy::postings::BlockSegmentPostings;

use crate::error::IndexError;
use crate::open::Segment;

/// Chunks added up at a time: the sums stay in the nearest cache.
const STRETCH: usize = 4096;
/// With more lists than this, short ones are sorted together first.
const MANY: usize = 64;
/// Shorter than a block of the segment library.
const SHORT: u32 = 128;
/// Where sums are kept apart: by field for ranked words, all in the first for exact pieces.
const SLOTS: usize = 2;

/// One word to add.
pub(crate) struct Wanted {
    /// Field of the word.
    pub(crate) field: usize,
    /// The word.
    pub(crate) ordinal: u32,
    /// What its frequencies are multiplied by; above 0.
    pub(crate) weight: f32,
    /// Where its sum goes.
    pub(crate) slot: usize,
}

/// What stands where in several words together; sorted by chunk.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Chunks.
    pub(crate) docs: Vec<u32>,
    /// Weighted frequencies of each by slot, 0 where there is none.
    pub(crate) sums: Vec<[f32; SLOTS]>,
}

struct Cursor {
    postings: BlockSegmentPostings,
    at: usize,
    weight: f32,
    slot: usize,
}

impl Cursor {
    /// The next chunk; `None` at the end.
    fn doc(&self) -> Option<u32> {
        self.postings.docs().get(self.at).copied()
    }

    /// Hands on what stands before `end`.
    fn drain(&mut self, end: u32, mut take: impl FnMut(u32, f32)) {
        loop {
            let docs = &self.postings.docs()[self.at..];
            let freqs = &self.postings.freqs()[self.at..];
            let before = if docs.last().is_some_and(|&last| last < end) { docs.len() } else { docs.partition_point(|&doc| doc < end) };
            for (&doc, &freq) in docs[..before].iter().zip(freqs) {
                take(doc, self.weight * freq as f32);
            }
            self.at += before;
            if before < docs.len() || docs.is_empty() {
                return;
            }
            self.postings.advance();
            self.at = 0;
        }
    }
}

/// Adds up `words` and the chunks of `more` (first slot, any order). Sums are made in the order of `words`, so that they are
/// the same for every layout of splits. `None` when bytes are not here yet: all of them are then noted as missing.
pub(crate) fn gather(segment: &Segment, words: &[Wanted], more: Vec<(u32, f32)>) -> Result<Option<Gathered>, IndexError> {
    let mut cursors = Vec::new();
    let mut short: Vec<(u32, usize, f32)> = more.into_iter().map(|(doc, value)| (doc, 0, value)).collect();
    let mut complete = true;
    for word in words {
        let Some(postings) = segment.blocks(word.field, word.ordinal)? else {
            complete = false;
            continue;
        };
        let mut cursor = Cursor { postings, at: 0, weight: word.weight, slot: word.slot };
        if words.len() > MANY && cursor.postings.doc_freq() < SHORT {
            cursor.drain(u32::MAX, |doc, value| short.push((doc, word.slot, value)));
        } else {
            cursors.push(cursor);
        }
    }
    if !complete {
        return Ok(None);
    }
    short.sort_by_key(|(doc, ..)| *doc);
    Ok(Some(add_up(cursors, &short)))
}

fn add_up(mut cursors: Vec<Cursor>, mut short: &[(u32, usize, f32)]) -> Gathered {
    let total = cursors.iter().map(|cursor| cursor.postings.doc_freq() as usize).max().unwrap_or_default().max(short.len());
    let mut out = Gathered { docs: Vec::with_capacity(total), sums: Vec::with_capacity(total) };
    if let ([cursor], []) = (cursors.as_mut_slice(), short) {
        let slot = cursor.slot;
        cursor.drain(u32::MAX, |doc, value| {
            let mut sums = [0.0; SLOTS];
            sums[slot] = value;
            out.docs.push(doc);
            out.sums.push(sums);
        });
        return out;
    }
    let mut sums = vec![[0.0_f32; SLOTS]; STRETCH];
    let mut touched = [0_u64; STRETCH / 64];
    loop {
        let next = cursors.iter().filter_map(Cursor::doc).chain(short.first().map(|(doc, ..)| *doc)).min();
        let Some(next) = next else { return out };
        let base = next - next % STRETCH as u32;
        let end = base.saturating_add(STRETCH as u32);
        let mut add = |doc: u32, slot: usize, value: f32| {
            let at = (doc - base) as usize;
            touched[at / 64] |= 1 << (at % 64);
            sums[at][slot] += value;
        };
        for cursor in &mut cursors {
            let slot = cursor.slot;
            cursor.drain(end, |doc, value| add(doc, slot, value));
        }
        let here = short.partition_point(|(doc, ..)| *doc < end);
        for &(doc, slot, value) in &short[..here] {
            add(doc, slot, value);
        }
        short = &short[here..];
        for (word, bits) in touched.iter_mut().enumerate() {
            while *bits != 0 {
                let at = word * 64 + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                out.docs.push(base + at as u32);
                out.sums.push(std::mem::take(&mut sums[at]));
            }
        }
    }
}
