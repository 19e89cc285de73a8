//! The words of one field of one split, in memory: sorted, searchable by piece, each with the place of its postings.

use std::ops::Range;
use std::sync::OnceLock;

use memchr::memmem;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::TermInfo;

use crate::grams::{self, Grams};

/// Sorted words. A word's ordinal is its place.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// Words end to end, a line feed after each (no word holds one).
    text: Vec<u8>,
    starts: Vec<u32>,
    infos: Vec<Info>,
    /// Where the postings and positions of the last word end.
    ends: (u64, u64),
    /// Made when first asked.
    grams: OnceLock<Grams>,
}

/// Vocabularies with fewer words are searched at once.
const GRAMS_FROM: usize = 4096;

#[derive(Debug, Clone, Copy)]
struct Info {
    documents: u32,
    postings: u64,
    positions: u64,
}

impl Vocabulary {
    /// Reads the dictionary of a field.
    pub(crate) fn load(reader: &InvertedIndexReader) -> std::io::Result<Self> {
        let mut out = Self::default();
        let mut stream = reader.terms().stream()?;
        while let Some((word, info)) = stream.next() {
            if !out.infos.is_empty() && (info.postings_range.start as u64, info.positions_range.start as u64) != out.ends {
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "postings are not contiguous"));
            }
            out.starts.push(out.text.len() as u32);
            out.text.extend(word);
            out.text.push(b'\n');
            out.infos.push(Info {
                documents: info.doc_freq,
                postings: info.postings_range.start as u64,
                positions: info.positions_range.start as u64,
            });
            out.ends = (info.postings_range.end as u64, info.positions_range.end as u64);
        }
        Ok(out)
    }

    /// Bytes held in memory.
    pub(crate) fn weight(&self) -> usize {
        self.text.len() + self.infos.len() * (4 + size_of::<Info>()) + self.grams.get().map_or(0, Grams::weight)
    }

    /// The number of words.
    pub(crate) fn len(&self) -> u32 {
        self.infos.len() as u32
    }

    /// A word.
    pub(crate) fn word(&self, ordinal: u32) -> &[u8] {
        let start = self.starts[ordinal as usize] as usize;
        let end = self.starts.get(ordinal as usize + 1).map_or(self.text.len(), |&next| next as usize);
        &self.text[start..end - 1]
    }

    /// Where the postings of a word are.
    pub(crate) fn info(&self, ordinal: u32) -> TermInfo {
        let info = self.infos[ordinal as usize];
        let (postings, positions) = self.infos.get(ordinal as usize + 1).map_or(self.ends, |next| (next.postings, next.positions));
        TermInfo {
            doc_freq: info.documents,
            postings_range: info.postings as usize..postings as usize,
            positions_range: info.positions as usize..positions as usize,
        }
    }

    /// The ordinal of a word.
    pub(crate) fn find(&self, word: &str) -> Option<u32> {
        let at = self.lower_bound(word.as_bytes());
        (at < self.len() && self.word(at) == word.as_bytes()).then_some(at)
    }

    /// Ordinals of the words that begin with `prefix`.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Range<u32> {
        let from = self.lower_bound(prefix.as_bytes());
        let mut to = from;
        while to < self.len() && self.word(to).starts_with(prefix.as_bytes()) {
            to += 1;
        }
        from..to
    }

    /// Ordinals of the words that contain `piece` (not empty).
    pub(crate) fn containing(&self, piece: &str) -> Vec<u32> {
        let finder = memmem::Finder::new(piece.as_bytes());
        let mut out = Vec::new();
        if self.infos.len() < GRAMS_FROM {
            self.containing_in(0..self.infos.len(), &finder, &mut out);
            return out;
        }
        let grams = self.grams.get_or_init(|| Grams::new(self.infos.len(), (0..self.len()).map(|ordinal| self.word(ordinal))));
        let Some(stretches) = grams.stretches(piece.as_bytes()) else {
            self.containing_in(0..self.infos.len(), &finder, &mut out);
            return out;
        };
        for stretch in stretches {
            let from = stretch * grams::STRETCH;
            self.containing_in(from..(from + grams::STRETCH).min(self.infos.len()), &finder, &mut out);
        }
        out
    }

    fn containing_in(&self, words: Range<usize>, finder: &memmem::Finder<'_>, out: &mut Vec<u32>) {
        let start = |ordinal: usize| self.starts.get(ordinal).map_or(self.text.len(), |&start| start as usize);
        let (mut at, end) = (start(words.start), start(words.end));
        while let Some(found) = finder.find(&self.text[at..end]) {
            let place = (at + found) as u32;
            let ordinal = words.start + self.starts[words.clone()].partition_point(|&start| start <= place) - 1;
            out.push(ordinal as u32);
            at = start(ordinal + 1);
        }
    }

    /// Ordinals of the words that end with `suffix`.
    pub(crate) fn with_suffix(&self, suffix: &str) -> Vec<u32> {
        self.containing(suffix).into_iter().filter(|&ordinal| self.word(ordinal).ends_with(suffix.as_bytes())).collect()
    }

    fn lower_bound(&self, word: &[u8]) -> u32 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = u32::midpoint(low, high);
            if self.word(middle) < word { low = middle + 1 } else { high = middle }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_vocabulary_is_searched_like_a_small_one() {
        let mut words: Vec<String> =
            (0..9_000_u32).map(|n| format!("{:x}{}", n.wrapping_mul(2_654_435_761), "水泵".repeat(n as usize % 3))).collect();
        words.sort();
        words.dedup();
        let mut vocabulary = Vocabulary::default();
        for word in &words {
            vocabulary.starts.push(vocabulary.text.len() as u32);
            vocabulary.text.extend(word.as_bytes());
            vocabulary.text.push(b'\n');
            vocabulary.infos.push(Info { documents: 1, postings: 0, positions: 0 });
        }
        for piece in ["a", "3f", "3f1", "77a0", "水", "泵水", "0水泵", words[4_000].as_str(), "absent"] {
            let expected: Vec<u32> = (0..words.len()).filter(|&at| words[at].contains(piece)).map(|at| at as u32).collect();
            assert_eq!(vocabulary.containing(piece), expected, "{piece}");
        }
    }
}
