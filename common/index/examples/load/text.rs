//! Text of any length, the same for the same words: half of a chunk are stretches of one real document, so that words
//! gather in documents as they do; half are single words of all of them, by their frequency. Every hundredth word is a
//! new one made of two, and three chunks of ten carry a part number, so that the vocabulary grows with the corpus.

use std::path::Path;

use quarry_index::IndexedDocument;
use quarry_model::ChunkType;

use super::support::{chunk_in, document_id, revision};

/// Chunks of one document.
pub(crate) const CHUNKS: usize = 50;
const SECTION: usize = 10;

/// Words to write with.
pub(crate) struct Text {
    words: Vec<String>,
    documents: Vec<std::ops::Range<usize>>,
}

struct Chance(u64);

impl Chance {
    /// A stream of its own for everything that has a number.
    fn of(n: u64) -> Self {
        let mut chance = Self(n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        chance.below(2);
        chance
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * limit as u128) >> 64) as usize
    }
}

impl Text {
    /// Takes the words of the English sets.
    pub(crate) fn read(data: &Path) -> Self {
        let mut files = Vec::new();
        for set in ["hotpot100", "cranfield", "xquad-en"] {
            let folder = std::fs::read_dir(data.join(set).join("docs")).into_iter().flatten();
            files.extend(folder.map(|entry| entry.unwrap().path()));
        }
        files.sort();
        let mut out = Self { words: Vec::new(), documents: Vec::new() };
        for file in files {
            let text = std::fs::read_to_string(file).unwrap();
            let from = out.words.len();
            out.words.extend(text.split_whitespace().filter(|word| *word != "#").map(str::to_owned));
            if out.words.len() > from + 20 {
                out.documents.push(from..out.words.len());
            }
        }
        out
    }

    fn word(&self, chance: &mut Chance) -> &str {
        &self.words[chance.below(self.words.len())]
    }

    fn content(&self, chance: &mut Chance, topic: std::ops::Range<usize>) -> String {
        let mut words: Vec<String> = Vec::new();
        let length = 40 + chance.below(80);
        while words.len() < length {
            let from = topic.start + chance.below(topic.len() - 10);
            words.extend(self.words[from..from + 4 + chance.below(6)].iter().cloned());
            for _ in 0..6 {
                if chance.below(50) == 0 {
                    let (a, b) = (plain(self.word(chance)), plain(self.word(chance)));
                    words.push(format!("{a}{b}"));
                } else {
                    words.push(self.word(chance).to_owned());
                }
            }
        }
        if chance.below(10) < 3 {
            words.push(format!("PN-{}/{}", chance.below(500_000), chance.below(9)));
        }
        words.join(" ")
    }

    fn topic(&self, chance: &mut Chance) -> std::ops::Range<usize> {
        self.documents[chance.below(self.documents.len())].clone()
    }

    /// The document with this number.
    pub(crate) fn document(&self, n: u64) -> IndexedDocument {
        let mut chance = Chance::of(n);
        let topic = self.topic(&mut chance);
        let title = self.words[topic.start..topic.start + 3].join(" ");
        let file_name = format!("{}-{n}.md", title.replace(['/', ' '], "-"));
        let mut headings = [title, String::new()];
        let mut chunks = Vec::with_capacity(CHUNKS);
        for ordinal in 0..CHUNKS {
            if ordinal % SECTION == 0 {
                headings[1] = format!("{} {}", self.word(&mut chance), self.word(&mut chance));
            }
            let content = self.content(&mut chance, topic.clone());
            let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
            chunks.push(chunk_in("en", &file_name, &headings, ordinal as u32, ChunkType::Text, &content));
        }
        IndexedDocument { document_id: document_id(n), revision: revision(n), file_name, chunks }
    }

    /// Questions of two to four words of one chunk each, stop words left out; every tenth asks for a part number too.
    pub(crate) fn queries(&self, count: usize, documents: usize) -> Vec<String> {
        let mut chance = Chance::of(u64::MAX / 3);
        let mut out = Vec::with_capacity(count);
        while out.len() < count {
            let document = self.document(chance.below(documents) as u64);
            let content = &document.chunks[chance.below(CHUNKS)].chunk.content;
            let words: Vec<&str> = content
                .split(' ')
                .map(plain)
                .filter(|word| word.len() > 3 && !quarry_language::stop::is_stop(&quarry_language::fold(&word.to_lowercase()), "en"))
                .collect();
            let length = 2 + chance.below(3);
            if words.len() < length + 8 {
                continue;
            }
            let mut query: Vec<&str> = (0..length).map(|_| words[chance.below(words.len())]).collect();
            if out.len() % 10 == 0 {
                query.extend(content.split(' ').find(|word| word.starts_with("PN-")));
            }
            out.push(query.join(" "));
        }
        out
    }
}

fn plain(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}
