//! Other ways to find a word of the vocabulary: its folded form, its stems, the form without the signs in it.
//!
//! The postings hold surface forms only; forms that differ are gathered when a query asks. So a stem costs no
//! postings, can never stand instead of the word, and adds nothing to the length of a chunk.

use std::collections::BTreeMap;

use quarry_language::script::is_word_char;
use quarry_language::{fold, segment, stem};

/// Key of the words whose folded form is this.
pub(crate) fn folded_key(folded: &str) -> String {
    format!("={folded}")
}

/// Key of the runs that are this word without the signs in them (`wi-fi` for `wifi`).
pub(crate) fn joined_key(joined: &str) -> String {
    format!("~{joined}")
}

/// Key of the words of a language that have this stem.
pub(crate) fn stem_key(lang: &str, stem: &str) -> String {
    format!("{lang}:{stem}")
}

/// A run without the signs in it; `None` for a plain word.
pub(crate) fn joined(run: &str) -> Option<String> {
    let plain: String = run.chars().filter(|&c| is_word_char(c)).collect();
    (plain.len() < run.len() && plain.chars().nth(1).is_some()).then_some(plain)
}

/// The languages of chunks, as far as they have stems.
#[derive(Default)]
pub(crate) struct Spoken {
    languages: Vec<String>,
    /// A bit for each chunk, in the order of `languages`.
    chunks: Vec<u32>,
}

impl Spoken {
    /// Notes the language of the next chunk.
    pub(crate) fn note(&mut self, lang: &str) {
        let bit = if stem::has_stems(lang) { self.bit(lang) } else { None };
        self.chunks.push(bit.unwrap_or_default());
    }

    /// The bit of a language; `None` for the 33rd, whose words then have no stems.
    fn bit(&mut self, lang: &str) -> Option<u32> {
        let at = self.languages.iter().position(|known| known == lang).unwrap_or_else(|| {
            self.languages.push(lang.to_owned());
            self.languages.len() - 1
        });
        (at < 32).then(|| 1 << at)
    }

    /// The languages of a word that stands in these chunks, added to those known.
    pub(crate) fn add(&self, known: u32, chunks: &[u32]) -> u32 {
        chunks.iter().filter_map(|&chunk| self.chunks.get(chunk as usize)).fold(known, |known, bit| known | bit)
    }

    fn of(&self, bits: u32) -> impl Iterator<Item = &str> {
        self.languages.iter().take(32).enumerate().filter(move |(at, _)| bits & (1 << at) != 0).map(|(_, lang)| lang.as_str())
    }
}

/// The aliases of one vocabulary: key → ordinals of words, both ascending.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    keys: String,
    key_ends: Vec<u32>,
    ordinals: Vec<u32>,
    ordinal_ends: Vec<u32>,
}

impl Aliases {
    /// Computes the aliases of `words`, given in ascending order, each with the bits of its languages.
    pub(crate) fn compute<'a>(words: impl Iterator<Item = (&'a str, u32)>, spoken: &Spoken) -> Self {
        let mut map: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (ordinal, (word, languages)) in words.enumerate() {
            if word.starts_with(segment::PAIR_MARK) {
                continue;
            }
            let mut add = |key: String| {
                let ordinals = map.entry(key).or_default();
                if ordinals.last() != Some(&(ordinal as u32)) {
                    ordinals.push(ordinal as u32);
                }
            };
            let folded = fold(word);
            if folded != word {
                add(folded_key(&folded));
            }
            if let Some(joined) = joined(&folded) {
                add(joined_key(&joined));
            }
            for lang in spoken.of(languages) {
                for form in [word, folded.as_str()] {
                    if let Some(stemmed) = stem::stem(form, lang).filter(|stemmed| stemmed != word) {
                        add(stem_key(lang, &stemmed));
                    }
                }
            }
        }
        let mut out = Self::default();
        for (key, ordinals) in map {
            out.keys.push_str(&key);
            out.key_ends.push(out.keys.len() as u32);
            out.ordinals.extend(ordinals);
            out.ordinal_ends.push(out.ordinals.len() as u32);
        }
        out
    }

    /// Ordinals of the words under a key.
    pub(crate) fn get(&self, key: &str) -> &[u32] {
        let (mut low, mut high) = (0, self.key_ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.key(middle).cmp(key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return &self.ordinals[span(&self.ordinal_ends, middle)],
            }
        }
        &[]
    }

    fn key(&self, at: usize) -> &str {
        &self.keys[span(&self.key_ends, at)]
    }

    /// Bytes held in memory.
    pub(crate) fn weight(&self) -> usize {
        self.keys.len() + 4 * (self.key_ends.len() + self.ordinals.len() + self.ordinal_ends.len())
    }

    /// As stored: counts, then keys, then numbers, little-endian (compressed by the caller).
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for length in [self.keys.len(), self.key_ends.len(), self.ordinals.len()] {
            out.extend((length as u32).to_le_bytes());
        }
        out.extend(self.keys.as_bytes());
        // Differences compress better than the numbers themselves.
        for numbers in [&self.key_ends, &self.ordinals, &self.ordinal_ends] {
            let mut previous = 0_u32;
            for &number in numbers {
                out.extend(number.wrapping_sub(previous).to_le_bytes());
                previous = number;
            }
        }
    }

    /// Reads back what [`Self::write`] wrote, from the front of `bytes`; `None` when it is not that.
    pub(crate) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let [key_bytes, keys, ordinals] = [read_u32(bytes)?, read_u32(bytes)?, read_u32(bytes)?];
        let (text, rest) = bytes.split_at_checked(key_bytes as usize)?;
        *bytes = rest;
        let out = Self {
            keys: String::from_utf8(text.to_vec()).ok()?,
            key_ends: read_numbers(bytes, keys as usize)?,
            ordinals: read_numbers(bytes, ordinals as usize)?,
            ordinal_ends: read_numbers(bytes, keys as usize)?,
        };
        let is_sound = |ends: &[u32], last: u32| ends.is_sorted() && ends.last().is_none_or(|&end| end == last);
        let sound = is_sound(&out.key_ends, key_bytes)
            && is_sound(&out.ordinal_ends, ordinals)
            && out.key_ends.iter().all(|&end| out.keys.is_char_boundary(end as usize));
        sound.then_some(out)
    }
}

fn span(ends: &[u32], at: usize) -> std::ops::Range<usize> {
    let start = if at == 0 { 0 } else { ends[at - 1] as usize };
    start..ends[at] as usize
}

fn read_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*head))
}

fn read_numbers(bytes: &mut &[u8], count: usize) -> Option<Vec<u32>> {
    let (body, rest) = bytes.split_at_checked(count.checked_mul(4)?)?;
    *bytes = rest;
    let mut previous = 0_u32;
    let (numbers, _) = body.as_chunks::<4>();
    Some(
        numbers
            .iter()
            .map(|number| {
                previous = previous.wrapping_add(u32::from_le_bytes(*number));
                previous
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_survive_storage() {
        let mut spoken = Spoken::default();
        ["und", "en", "de"].into_iter().for_each(|lang| spoken.note(lang));
        let words = [("café", vec![0]), ("running", vec![0, 1]), ("runs", vec![1]), ("wi-fi", vec![2])];
        let words = words.iter().map(|(word, chunks)| (*word, spoken.add(0, chunks)));
        let aliases = Aliases::compute(words, &spoken);
        let mut bytes = Vec::new();
        aliases.write(&mut bytes);
        let back = Aliases::read(&mut bytes.as_slice()).unwrap();
        for (key, ordinals) in [("=cafe", vec![0]), ("en:run", vec![1, 2]), ("~wifi", vec![3]), ("en:absent", vec![])] {
            assert_eq!(back.get(key), ordinals, "{key}");
        }
        assert!(Aliases::read(&mut &bytes[..bytes.len() - 1]).is_none());
    }
}
