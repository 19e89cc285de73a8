//! One pinned manifest, searched.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use quarry_language::{Concept, Query};
use quarry_model::record::{IndexManifest, SplitEntry};
use quarry_model::{DocumentId, ObjectKey, Revision};
use quarry_ports::ObjectStore;

use crate::cache::SplitCache;
use crate::channel::{self, Channel};
use crate::document::IndexedChunk;
use crate::error::{IndexError, MissingReason, MissingSplit};
use crate::filter::Filter;
use crate::learned::Learned;
use crate::lists::Source;
use crate::rank::{Corpus, Ranking};
use crate::view::View;

/// Splits opened at the same time.
const OPEN_PARALLEL: usize = 16;
/// Rounds of reading a search may need; see `channel`.
const ROUNDS_MAX: usize = 24;

/// A chunk that matched. Hits are ordered by score to 1e-4, document, ordinal.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The document.
    pub document_id: DocumentId,
    /// The revision the snapshot pins.
    pub revision: Revision,
    /// The chunk's ordinal.
    pub ordinal: u32,
    /// Of the channel; comparable within one channel and query only.
    pub score: f32,
}

/// A chunk as stored: everything an answer shows.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredChunk {
    /// The document.
    pub document_id: DocumentId,
    /// Its revision.
    pub revision: Revision,
    /// As uploaded.
    pub file_name: String,
    /// The chunk and its section.
    pub indexed: IndexedChunk,
}

/// A live document of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveDocument {
    /// Its revision.
    pub revision: Revision,
    /// Chunks.
    pub chunks: u32,
    view: usize,
    from: u32,
}

/// The splits of one manifest, opened.
pub struct Snapshot {
    objects: Arc<dyn ObjectStore>,
    cache: Arc<SplitCache>,
    views: Vec<View>,
    documents: BTreeMap<DocumentId, LiveDocument>,
    corpus: Corpus,
    ranking: Ranking,
    /// What is learnt is kept under it.
    number: u64,
    missing: Mutex<Vec<MissingSplit>>,
}

impl Snapshot {
    /// Opens every split of the manifest: from the cache, else by ranged reads in parallel. Splits that cannot be
    /// read are reported by [`Self::missing`]; the others answer.
    pub async fn open(objects: Arc<dyn ObjectStore>, cache: Arc<SplitCache>, manifest: &IndexManifest) -> Result<Self, IndexError> {
        use futures::StreamExt as _;
        let live: Vec<&SplitEntry> = manifest.splits.iter().filter(|split| split.documents.iter().any(|document| !document.dead)).collect();
        // Futures made before they are streamed: made in the stream's closure they would not be `Send` for callers.
        let openings: Vec<_> = live.iter().map(|split| open_view(objects.as_ref(), &cache, split)).collect();
        let opened: Vec<Result<View, IndexError>> = futures::stream::iter(openings).buffered(OPEN_PARALLEL).collect().await;
        let mut views = Vec::with_capacity(opened.len());
        let mut missing = Vec::new();
        for (result, split) in opened.into_iter().zip(live) {
            match result {
                Ok(view) => views.push(view),
                Err(error) => {
                    tracing::warn!(split = %split.key, %error, "split cannot be read");
                    let documents = split.documents.iter().filter(|document| !document.dead).count() as u32;
                    missing.push(MissingSplit { key: split.key.clone(), reason: reason(&error), documents });
                }
            }
        }
        let mut documents = BTreeMap::new();
        for (at, view) in views.iter().enumerate() {
            for document in view.live() {
                let live = LiveDocument {
                    revision: document.revision.clone(),
                    chunks: document.to - document.from,
                    view: at,
                    from: document.from,
                };
                documents.insert(document.document_id.clone(), live);
            }
        }
        let corpus = Corpus::of(&views);
        Ok(Self {
            objects,
            cache,
            views,
            documents,
            corpus,
            ranking: Ranking::default(),
            number: Learned::number(),
            missing: Mutex::new(missing),
        })
    }

    /// The same snapshot with other weights.
    #[must_use]
    pub fn with_ranking(mut self, ranking: Ranking) -> Self {
        self.ranking = ranking;
        self.cache.learned().forget(self.number);
        self
    }

    /// Splits that could not be read so far. One that is [`MissingReason::Gone`] means: read the head again.
    pub fn missing(&self) -> Vec<MissingSplit> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Live documents of the splits that could be read, by id.
    pub fn documents(&self) -> &BTreeMap<DocumentId, LiveDocument> {
        &self.documents
    }

    /// The languages of the live chunks (ISO 639-1), most frequent first.
    pub fn languages(&self) -> &[String] {
        &self.corpus.languages
    }

    /// The best `limit` chunks of one channel. An empty query has no hits.
    pub async fn search(&self, channel: Channel, query: &str, filter: &Filter, limit: usize) -> Result<Vec<Hit>, IndexError> {
        Ok(self.search_channels(&[channel], query, filter, limit).await?.pop().unwrap_or_default())
    }

    /// As [`Self::search`] for several channels at once, in the order asked: all reads of all channels share rounds.
    /// A split that fails now is reported by [`Self::missing`] and left out of this answer.
    pub async fn search_channels(
        &self,
        channels: &[Channel],
        query: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Vec<Hit>>, IndexError> {
        let languages: Vec<&str> = self.corpus.languages.iter().map(String::as_str).collect();
        let query = Query::new(query, &languages);
        if query.concepts.is_empty() || limit == 0 {
            return Ok(vec![Vec::new(); channels.len()]);
        }
        let masks: Vec<Option<Vec<bool>>> = self.views.iter().map(|view| view.mask(filter)).collect();
        for _ in 0..ROUNDS_MAX {
            if let Some(found) = channel::search(&self.source(), channels, &query, &masks, limit)? {
                return Ok(found);
            }
            self.fetch_missing().await?;
        }
        Err(IndexError::Segment("a search did not settle".into()))
    }

    /// How many live chunks hold each concept in any of its forms, in content or path: what rankings outside weigh
    /// words by. `lang` is the query's language, or `und`.
    pub async fn frequencies(&self, concepts: &[Concept], lang: &str) -> Result<Vec<u64>, IndexError> {
        let languages = channel::stem_languages(&self.corpus, lang);
        for _ in 0..ROUNDS_MAX {
            let source = self.source();
            let lists: Vec<_> = concepts.iter().map(|concept| source.concept(concept, &languages)).collect::<Result<_, _>>()?;
            if let Some(documents) = lists.into_iter().map(|lists| Some(lists?.documents)).collect() {
                return Ok(documents);
            }
            self.fetch_missing().await?;
        }
        Err(IndexError::Segment("a count did not settle".into()))
    }

    /// The splits, their statistics and weights.
    #[cfg(test)]
    pub(crate) fn parts(&self) -> (&[View], &Corpus, &Ranking) {
        (&self.views, &self.corpus, &self.ranking)
    }

    fn source(&self) -> Source<'_> {
        Source { views: &self.views, corpus: &self.corpus, ranking: &self.ranking, learned: (self.cache.learned(), self.number) }
    }

    /// Fetches what all splits missed, in parallel.
    async fn fetch_missing(&self) -> Result<(), IndexError> {
        let fetches: Vec<_> = self.views.iter().map(|view| view.segment.fetch_missing(self.objects.as_ref())).collect();
        let fetched = futures::future::try_join_all(fetches).await;
        if let Err(error) = &fetched {
            self.report(error);
        }
        if fetched?.into_iter().any(|fetched| fetched) {
            self.cache.shrink();
        }
        Ok(())
    }

    fn report(&self, error: &IndexError) {
        let (IndexError::Gone(key) | IndexError::Corrupt { key, .. }) = error else {
            return;
        };
        let documents = self.views.iter().filter(|view| view.segment.key() == key).map(|view| view.live().count() as u32).sum();
        self.note_missing(key, reason(error), documents);
    }

    fn note_missing(&self, key: &ObjectKey, reason: MissingReason, documents: u32) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        if !missing.iter().any(|split| &split.key == key) {
            missing.push(MissingSplit { key: key.clone(), reason, documents });
        }
    }

    /// The number of chunks that pass the filter; no reads.
    pub fn count(&self, filter: &Filter) -> u64 {
        self.views.iter().map(|view| view.mask(filter).map_or(view.chunks, |mask| mask.iter().filter(|taken| **taken).count() as u64)).sum()
    }

    /// All chunks that pass the filter, by document and ordinal, score 0; no reads.
    pub fn all(&self, filter: &Filter) -> Vec<Hit> {
        let masks: Vec<Option<Vec<bool>>> = self.views.iter().map(|view| view.mask(filter)).collect();
        let mut out = Vec::new();
        for live in self.documents.values() {
            let view = &self.views[live.view];
            let taken = |doc: &u32| masks[live.view].as_ref().is_none_or(|mask| mask[*doc as usize]);
            out.extend((live.from..live.from + live.chunks).filter(taken).filter_map(|doc| channel::hit(view, doc, 0.0)));
        }
        out
    }

    /// The chunks of one section in reading order (those of its descendants too with `descendants`), score 0; no reads.
    pub fn section(&self, document: &DocumentId, section_path: &str, descendants: bool) -> Vec<Hit> {
        let Some(live) = self.documents.get(document) else {
            return Vec::new();
        };
        let view = &self.views[live.view];
        (live.from..live.from + live.chunks)
            .filter(|&doc| if descendants { view.is_under(doc, section_path) } else { view.section_path(doc) == section_path })
            .filter_map(|doc| channel::hit(view, doc, 0.0))
            .collect()
    }

    /// Chunks of one document with ordinals in `range`, in order; what is not there is left out.
    pub async fn read(&self, document: &DocumentId, range: Range<u32>) -> Result<Vec<StoredChunk>, IndexError> {
        let Some(live) = self.documents.get(document) else {
            return Ok(Vec::new());
        };
        let view = &self.views[live.view];
        let docs = live.from..live.from + live.chunks;
        let keys: Vec<(DocumentId, u32)> = docs
            .map(|doc| view.segment.ordinal(doc))
            .filter(|ordinal| range.contains(ordinal))
            .map(|ordinal| (document.clone(), ordinal))
            .collect();
        self.fetch(&keys).await
    }

    /// Stored chunks by (document, ordinal), in the order asked; what is not there is left out.
    pub async fn fetch(&self, keys: &[(DocumentId, u32)]) -> Result<Vec<StoredChunk>, IndexError> {
        let mut wanted: Vec<Vec<(usize, u32)>> = vec![Vec::new(); self.views.len()];
        for (place, (document, ordinal)) in keys.iter().enumerate() {
            if let Some(live) = self.documents.get(document)
                && let Some(doc) = self.views[live.view].chunk(live.from, live.from + live.chunks, *ordinal)
            {
                wanted[live.view].push((place, doc));
            }
        }
        let docs: Vec<Vec<u32>> = wanted.iter().map(|wanted| wanted.iter().map(|(_, doc)| *doc).collect()).collect();
        let reads: Vec<_> = self.views.iter().zip(&docs).map(|(view, docs)| view.segment.read(self.objects.as_ref(), docs)).collect();
        let read = futures::future::join_all(reads).await;
        let mut out: Vec<Option<StoredChunk>> = vec![None; keys.len()];
        for ((stored, wanted), view) in read.into_iter().zip(wanted).zip(&self.views) {
            let stored = stored.inspect_err(|error| self.report(error))?;
            for ((file_name, indexed), (place, doc)) in stored.into_iter().zip(wanted) {
                out[place] = view.document(doc).map(|document| StoredChunk {
                    document_id: document.document_id.clone(),
                    revision: document.revision.clone(),
                    file_name,
                    indexed,
                });
            }
        }
        Ok(out.into_iter().flatten().collect())
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.cache.learned().forget(self.number);
    }
}

async fn open_view(objects: &dyn ObjectStore, cache: &SplitCache, split: &SplitEntry) -> Result<View, IndexError> {
    View::new(cache.open(objects, split).await?, split)
}

fn reason(error: &IndexError) -> MissingReason {
    match error {
        IndexError::Gone(_) => MissingReason::Gone,
        IndexError::Analyzer { .. } => MissingReason::Analyzer,
        IndexError::Objects(_) => MissingReason::Unavailable,
        _ => MissingReason::Corrupt,
    }
}
