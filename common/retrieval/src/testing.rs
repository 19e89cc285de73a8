//! Small corpora for tests, searched by brute force.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use quarry_index::{Channel, Filter, FilterMode, Hit, IndexError, IndexedChunk, SectionText, StoredChunk};
use quarry_language::{Concept, surface};
use quarry_model::{Chunk, ChunkId, ChunkMetadata, ChunkType, Connection, DocumentId, Position, Relation, Revision, SectionId, path};

use crate::corpus::{ChunkKey, Corpus};
use crate::passage::Words;
use crate::query::root;
use crate::snapshot::Reader;

/// The `n`-th document.
pub(crate) fn document(n: u8) -> DocumentId {
    DocumentId::from_random([n; 6])
}

/// A text chunk in English.
pub(crate) fn text_chunk(ordinal: u32, content: &str, section: &str) -> Chunk {
    chunk(ChunkType::Text, ordinal, content, section)
}

/// A chunk of any type.
pub(crate) fn chunk(kind: ChunkType, ordinal: u32, content: &str, section: &str) -> Chunk {
    let titles = path::split(section);
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    Chunk {
        chunk_id: ChunkId::text(content),
        kind,
        ordinal,
        content: content.to_owned(),
        path: section.to_owned(),
        metadata: ChunkMetadata {
            length: content.chars().count() as u32,
            token_count: quarry_language::tokens::count(content),
            summary: String::new(),
            page_nums: vec![],
            tokens: vec![],
            keywords: vec![],
            lang: "en".into(),
            file_path: (kind != ChunkType::Text).then(|| format!("{}s/{}-{ordinal}.x", kind.name(), kind.name())),
            section_id: SectionId::for_path(&titles, 0),
            boxes: vec![],
            connect_to: vec![],
            rows: None,
            hidden: false,
            document_top_summary: String::new(),
        },
    }
}

/// Embeds the chunk `target` where `mark` stands.
pub(crate) fn embed(host: &mut Chunk, target: u32, mark: &str) {
    let start = host.content.find(mark).map_or(0, |at| host.content[..at].chars().count()) as u32;
    host.metadata.connect_to.push(Connection {
        target: ChunkId::text(mark),
        target_ordinal: target,
        relation: Relation::Embeds,
        reference: Some(mark.to_owned()),
        position: Some(Position { start, end: start + mark.chars().count() as u32 }),
    });
}

/// A corpus in memory.
#[derive(Default)]
pub(crate) struct MemoryCorpus {
    chunks: BTreeMap<ChunkKey, StoredChunk>,
}

impl MemoryCorpus {
    /// Adds a document: its chunks' paths begin with `file`.
    pub(crate) fn add(&mut self, n: u8, file: &str, chunks: Vec<Chunk>) -> &mut Self {
        for chunk in chunks {
            let section = chunk.path.clone();
            let title = path::split(&section).pop().unwrap_or_default();
            let indexed =
                IndexedChunk { section: SectionText { path: section, title, summary: String::new(), ..SectionText::default() }, chunk };
            let stored = StoredChunk {
                document_id: document(n),
                revision: Revision::of(&n.to_string(), "test", "{}"),
                file_name: file.to_owned(),
                indexed,
            };
            self.chunks.insert((stored.document_id.clone(), stored.indexed.chunk.ordinal), stored);
        }
        self
    }

    /// A reader over it.
    pub(crate) fn reader(self) -> Reader {
        Reader::new(Arc::new(self))
    }

    fn passing(&self, filter: &Filter) -> impl Iterator<Item = (&ChunkKey, &StoredChunk)> {
        self.chunks.iter().filter(move |(key, stored)| passes(filter, key, stored))
    }

    fn words(stored: &StoredChunk, channel: Channel) -> Words {
        let lang = &stored.indexed.chunk.metadata.lang;
        match channel {
            Channel::Path => Words::of(
                &format!("{} {}", crate::passage::file_stem(&stored.file_name), stored.indexed.section.path.replace('/', " ")),
                lang,
            ),
            _ => Words::of(&stored.indexed.chunk.content, lang),
        }
    }
}

fn passes(filter: &Filter, key: &ChunkKey, stored: &StoredChunk) -> bool {
    let section = stored.indexed.section.path.as_str();
    let signal = filter.signal_paths.iter().any(|text| section.to_lowercase().contains(text));
    filter.include_documents.as_ref().is_none_or(|set| set.contains(&key.0))
        && !filter.exclude_documents.contains(&key.0)
        && !filter.exclude_sections.iter().any(|out| out.document_id == key.0 && path::is_within(section, &out.section_path))
        && filter.chunk_types.as_ref().is_none_or(|types| types.contains(&stored.indexed.chunk.kind))
        && (filter.signal_paths.is_empty() || signal == (filter.signal_mode == FilterMode::Keep))
}

fn hit(key: &ChunkKey, stored: &StoredChunk, score: f32) -> Hit {
    Hit { document_id: key.0.clone(), revision: stored.revision.clone(), ordinal: key.1, score }
}

#[async_trait]
impl Corpus for MemoryCorpus {
    fn version(&self) -> u64 {
        1
    }

    fn is_partial(&self) -> bool {
        false
    }

    fn revision(&self, document: &DocumentId) -> Option<Revision> {
        self.chunks.iter().find(|(key, _)| key.0 == *document).map(|(_, stored)| stored.revision.clone())
    }

    fn count(&self, filter: &Filter) -> u64 {
        self.passing(filter).count() as u64
    }

    fn all(&self, filter: &Filter) -> Vec<Hit> {
        self.passing(filter).map(|(key, stored)| hit(key, stored, 0.0)).collect()
    }

    fn section(&self, document: &DocumentId, section_path: &str) -> Vec<u32> {
        let own = self.chunks.iter().filter(|(key, stored)| key.0 == *document && stored.indexed.section.path == section_path);
        own.map(|(key, _)| key.1).collect()
    }

    fn languages(&self) -> &[String] {
        &[]
    }

    async fn search(&self, channels: &[Channel], query: &str, filter: &Filter, limit: usize) -> Result<Vec<Vec<Hit>>, IndexError> {
        let query = quarry_language::Query::new(query, &[]);
        let search = |channel: &Channel| {
            let mut hits: Vec<Hit> = self
                .passing(filter)
                .filter_map(|(key, stored)| {
                    let score = if *channel == Channel::Term {
                        let text = surface(&format!("{} {}", stored.indexed.chunk.content, stored.indexed.section.path));
                        query.units.iter().filter(|unit| text.contains(unit.as_str())).count()
                    } else {
                        let words = Self::words(stored, *channel);
                        let lang = &stored.indexed.chunk.metadata.lang;
                        query.concepts.iter().map(|c| words.all().filter(|w| *w == root(&c.text, lang)).count()).sum()
                    };
                    (score > 0).then(|| hit(key, stored, score as f32))
                })
                .collect();
            hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| (&a.document_id, a.ordinal).cmp(&(&b.document_id, b.ordinal))));
            hits.truncate(limit);
            hits
        };
        Ok(channels.iter().map(search).collect())
    }

    async fn fetch(&self, keys: &[ChunkKey]) -> Result<Vec<StoredChunk>, IndexError> {
        Ok(keys.iter().filter_map(|key| self.chunks.get(key).cloned()).collect())
    }

    async fn frequencies(&self, concepts: &[Concept], _: &str) -> Result<Vec<u64>, IndexError> {
        let holds = |stored: &StoredChunk, concept: &Concept| {
            let wanted = root(&concept.text, &stored.indexed.chunk.metadata.lang);
            Self::words(stored, Channel::Content).all().chain(Self::words(stored, Channel::Path).all()).any(|word| word == wanted)
        };
        Ok(concepts.iter().map(|concept| self.chunks.values().filter(|stored| holds(stored, concept)).count() as u64).collect())
    }
}
