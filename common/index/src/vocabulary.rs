//! The words of one field of one split, in memory: sorted, searchable by piece, each with the place of its postings.

use std::ops::Range;

use memchr::memmem;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::TermInfo;

/// Sorted words. A word's ordinal is its place.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// Words end to end, a line feed after each (no word holds one).
    text: Vec<u8>,
    starts: Vec<u32>,
    infos: Vec<Info>,
    /// Where the postings and positions of the last word end.
    ends: (u64, u64),
}

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
        self.text.len() + self.infos.len() * (4 + size_of::<Info>())
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
        let mut out = Vec::new();
        let finder = memmem::Finder::new(piece.as_bytes());
        let mut at = 0;
        while let Some(found) = finder.find(&self.text[at..]) {
            let place = (at + found) as u32;
            let ordinal = self.starts.partition_point(|&start| start <= place) - 1;
            out.push(ordinal as u32);
            at = self.starts.get(ordinal + 1).map_or(self.text.len(), |&next| next as usize);
        }
        out
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
