//! A stored chunk made ready for matching and packing: its words, its sentences. Made once, kept by whoever reads often.

use std::ops::Range;
use std::sync::OnceLock;

use quarry_index::StoredChunk;
use quarry_language::segment::{analyze, is_paired};
use quarry_language::{sentences, surface, tokens};
use quarry_model::{ChunkType, path};

use crate::corpus::ChunkKey;
use crate::hydration::{Segment, segments, without_assets};
use crate::query::{Root, root};

/// A title: what other texts refer to a chunk by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// Roots of its words, a trailing bracket left out (`Mercury (planet)`).
    pub words: Vec<Root>,
    /// Its surface, for scripts that do not set words apart; empty for others.
    pub unspaced: String,
    /// Its words in surface form.
    pub surface: String,
}

/// A sentence of a text chunk, or a part of it that stands for itself.
#[derive(Debug)]
pub struct Sentence {
    /// Bytes of the chunk's content, trailing white space included.
    pub bytes: Range<usize>,
    /// Its words.
    pub words: Words,
    tokens: OnceLock<u32>,
}

impl Sentence {
    /// Tokens, counted at the first call.
    pub fn tokens(&self, content: &str) -> u32 {
        *self.tokens.get_or_init(|| tokens::count(content.get(self.bytes.clone()).unwrap_or_default()))
    }
}

/// What a chunk consists of, in reading order.
#[derive(Debug)]
pub enum Part {
    /// A sentence of a text; the whole of a table or picture.
    Sentence(Sentence),
    /// An asset that stands here: its ordinal.
    Asset(u32),
}

/// A chunk ready for matching.
#[derive(Debug)]
pub struct Passage {
    /// As stored.
    pub stored: StoredChunk,
    /// The words of the content.
    pub words: Words,
    /// The words of file name and headings.
    pub path_words: Words,
    /// What others may call it: the section's title, the file's name.
    pub titles: Vec<Title>,
    parts: OnceLock<Vec<Part>>,
    surface: OnceLock<String>,
}

impl Passage {
    /// Analyses a stored chunk.
    pub fn new(stored: StoredChunk) -> Self {
        let chunk = &stored.indexed.chunk;
        let lang = chunk.metadata.lang.as_str();
        let words = match chunk.kind {
            ChunkType::Table => Words::of(&visible_text(&chunk.content), lang),
            ChunkType::Text if !chunk.metadata.connect_to.is_empty() => Words::of(&without_assets(chunk), lang),
            ChunkType::Text | ChunkType::Image => Words::of(&chunk.content, lang),
        };
        let stem = file_stem(&stored.file_name);
        let mut path_words = Words::of(&stem, lang);
        let titles_below = path::split(&stored.indexed.section.path).into_iter().skip(1);
        titles_below.for_each(|title| path_words.extend(Words::of(&title, lang)));
        let mut titles = vec![Title::new(&stored.indexed.section.title, lang)];
        let own = Title::new(&stem, lang);
        if own.words != titles[0].words {
            titles.push(own);
        }
        titles.retain(|title| !title.words.is_empty());
        Self { words, path_words, titles, parts: OnceLock::new(), surface: OnceLock::new(), stored }
    }

    /// What it is found by.
    pub fn key(&self) -> ChunkKey {
        (self.stored.document_id.clone(), self.stored.indexed.chunk.ordinal)
    }

    /// Its language.
    pub fn lang(&self) -> &str {
        &self.stored.indexed.chunk.metadata.lang
    }

    /// Sentences and assets in reading order.
    pub fn parts(&self) -> &[Part] {
        self.parts.get_or_init(|| {
            let chunk = &self.stored.indexed.chunk;
            let sentence = |bytes: Range<usize>| {
                let words = Words::of(chunk.content.get(bytes.clone()).unwrap_or_default(), &chunk.metadata.lang);
                Part::Sentence(Sentence { words, bytes, tokens: OnceLock::new() })
            };
            if chunk.kind != ChunkType::Text {
                return vec![sentence(0..chunk.content.len())];
            }
            let mut parts = Vec::new();
            for segment in segments(chunk) {
                match segment {
                    Segment::Asset(ordinal) => parts.push(Part::Asset(ordinal)),
                    Segment::Text(bytes) => {
                        let text = chunk.content.get(bytes.clone()).unwrap_or_default();
                        let ranges = sentences(text).into_iter().map(|range| range.start + bytes.start..range.end + bytes.start);
                        parts.extend(ranges.map(sentence));
                    }
                }
            }
            parts
        })
    }

    /// The surface of the content.
    pub fn surface(&self) -> &str {
        self.surface.get_or_init(|| surface(&self.stored.indexed.chunk.content))
    }

    /// Whether the content names a title.
    pub fn mentions(&self, title: &Title) -> bool {
        if !title.unspaced.is_empty() {
            return self.surface().contains(&title.unspaced);
        }
        contains(&self.words.sequence, &title.words)
    }
}

impl Title {
    /// Analyses a title.
    pub fn new(title: &str, lang: &str) -> Self {
        let bare = match title.rfind(['(', '（']) {
            Some(open) if title.trim_end().ends_with([')', '）']) && open > 0 => &title[..open],
            _ => title,
        };
        let surface = surface(bare);
        let unspaced = if surface.split(' ').any(is_paired) { surface.clone() } else { String::new() };
        Self { words: Words::of(bare, lang).sequence, unspaced, surface }
    }

    /// Whether a text, given as roots and as surface, names the title.
    pub fn is_in(&self, words: &[Root], text_surface: &str) -> bool {
        if self.unspaced.is_empty() { contains(words, &self.words) } else { text_surface.contains(&self.unspaced) }
    }
}

/// The words of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    /// Roots in reading order; a run with signs in it (`Gromit's`, `A-12/b`) stands as its parts.
    pub sequence: Vec<Root>,
    /// Roots of the runs that stand as their parts.
    pub wholes: Vec<Root>,
}

impl Words {
    /// Analyses a text.
    pub fn of(text: &str, lang: &str) -> Self {
        let mut tokens: Vec<(u32, Root)> = Vec::new();
        analyze(text, |token| tokens.push((token.position, root(token.text, lang))));
        let mut words = Self::default();
        for (i, &(position, root)) in tokens.iter().enumerate() {
            // Even: a whole; the odd position behind it: its first part.
            let has_parts = position % 2 == 0 && tokens.get(i + 1).is_some_and(|next| next.0 == position + 1);
            if has_parts { words.wholes.push(root) } else { words.sequence.push(root) }
        }
        words
    }

    /// All of them, in no useful order.
    pub fn all(&self) -> impl Iterator<Item = Root> + '_ {
        self.sequence.iter().chain(&self.wholes).copied()
    }

    /// Adds the words of another text.
    pub fn extend(&mut self, other: Self) {
        self.sequence.extend(other.sequence);
        self.wholes.extend(other.wholes);
    }
}

/// A file's name as words: without its extension, joining signs as spaces.
pub fn file_stem(file_name: &str) -> String {
    let stem = file_name.rsplit_once('.').map_or(file_name, |(stem, _)| if stem.is_empty() { file_name } else { stem });
    stem.replace(['_', '-'], " ")
}

/// The text of a table's HTML: what a reader sees of it.
pub fn visible_text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        out.push(' ');
        let Some(close) = rest[open..].find('>') else { break };
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    out.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn contains(words: &[Root], phrase: &[Root]) -> bool {
    !phrase.is_empty() && words.windows(phrase.len()).any(|window| window == phrase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_lose_their_bracket_and_are_found_in_any_form() {
        let title = Title::new("Creature Comforts (series)", "en");
        let text = "Park also made the creature comfort films.";
        assert!(title.is_in(&Words::of(text, "en").sequence, &surface(text)));
        assert!(!title.is_in(&Words::of("creature of comforts", "en").sequence, ""));
        let chinese = Title::new("水泵", "zh");
        assert!(chinese.is_in(&[], &surface("检查水泵的压力")));
    }

    #[test]
    fn a_possessive_is_still_the_name() {
        let title = Title::new("Wallace and Gromit", "en");
        assert!(title.is_in(&Words::of("Who drew Wallace and Gromit\u{2019}s dog?", "en").sequence, ""));
        assert!(Words::of("use C++", "en").all().any(|word| word == root("c++", "und")));
    }

    #[test]
    fn tables_are_read_as_their_cells() {
        assert_eq!(visible_text("<table><tr><td>a &amp; b</td></tr></table>").split_whitespace().collect::<Vec<_>>(), ["a", "&", "b"]);
        assert_eq!(file_stem("1952_Idaho-team.md"), "1952 Idaho team");
        assert_eq!(file_stem(".md"), ".md");
    }
}
