//! Postings of contents and keywords: how publication finds other documents without scanning them all.
//!
//! A posting is a hint. It is written before the commit that makes its revision live and may outlive it, so whoever
//! follows one asks the head which revision is served and looks there.

use std::collections::{BTreeMap, BTreeSet};

use futures::stream::{self, StreamExt, TryStreamExt};
use quarry_model::record::{ChunkRecord, GraphNode, Occurrence};
use quarry_model::{Chunk, ChunkId, DocumentId, RecordKey, RecordPrefix, Revision, Scope, Timestamp};
use quarry_ports::{Condition, Item, QueryOptions, RecordError, Records};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Calls to the records store at once.
pub const AT_ONCE: usize = 16;

/// Postings read per content or keyword. What thousands of documents share (a letterhead, a disclaimer) says nothing
/// about two of them, and must not cost every later publication a scan.
const READ_MOST: usize = 1_000;

/// One place where a content stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContentPosting {
    /// First publication of the document, by which the oldest occurrence is found.
    since: Timestamp,
    document_id: DocumentId,
    ordinal: u32,
    revision: Revision,
}

/// A document that carries a keyword.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeywordPosting {
    document_id: DocumentId,
    revision: Revision,
}

/// A revision on its way into the index.
#[derive(Debug, Clone, Copy)]
pub struct Arriving<'a> {
    /// The document.
    pub document: &'a DocumentId,
    /// The revision.
    pub revision: &'a Revision,
    /// First publication of the document.
    pub since: Timestamp,
    /// Its chunks.
    pub chunks: &'a [Chunk],
}

/// The postings of a revision's contents.
pub fn of_contents(scope: &Scope, arriving: &Arriving<'_>) -> Result<Vec<Item>, RecordError> {
    let item = |chunk: &Chunk| {
        let posting = ContentPosting {
            since: arriving.since,
            document_id: arriving.document.clone(),
            ordinal: chunk.ordinal,
            revision: arriving.revision.clone(),
        };
        Item::of(RecordKey::content_hash(scope, &chunk.chunk_id, arriving.document, chunk.ordinal), &posting)
    };
    arriving.chunks.iter().map(item).collect()
}

/// The postings of a revision's keywords.
pub fn of_keywords(scope: &Scope, node: &GraphNode) -> Result<Vec<Item>, RecordError> {
    let posting = KeywordPosting { document_id: node.document_id.clone(), revision: node.revision.clone() };
    node.keywords.iter().map(|(word, _)| Item::of(RecordKey::keyword(scope, word, &node.document_id), &posting)).collect()
}

/// For each chunk of each arriving revision the oldest live occurrence of its content in another document, if that is
/// older than the chunk's own. Revisions arriving together count as live.
pub async fn duplicates(
    records: &dyn Records,
    scope: &Scope,
    live: &BTreeMap<DocumentId, Revision>,
    arriving: &[Arriving<'_>],
) -> Result<Vec<Vec<Option<Occurrence>>>, RecordError> {
    let replaced: BTreeSet<&DocumentId> = arriving.iter().map(|one| one.document).collect();
    let mut oldest: BTreeMap<&ChunkId, ContentPosting> = BTreeMap::new();
    for one in arriving {
        for chunk in one.chunks {
            let posting = ContentPosting {
                since: one.since,
                document_id: one.document.clone(),
                ordinal: chunk.ordinal,
                revision: one.revision.clone(),
            };
            oldest.entry(&chunk.chunk_id).and_modify(|known| *known = known.clone().min(posting.clone())).or_insert(posting);
        }
    }
    let contents: Vec<ChunkId> = oldest.keys().map(|content| (*content).clone()).collect();
    let replaced = &replaced;
    let stored: Vec<(ChunkId, Option<ContentPosting>)> = stream::iter(contents)
        .map(|content| async move {
            let posting = oldest_stored(records, scope, &content, live, replaced).await?;
            Ok::<_, RecordError>((content, posting))
        })
        .buffered(AT_ONCE)
        .try_collect()
        .await?;
    for (content, posting) in stored {
        if let (Some(posting), Some(known)) = (posting, oldest.get_mut(&content)) {
            *known = known.clone().min(posting);
        }
    }
    let of = |one: &Arriving<'_>, chunk: &Chunk| {
        let first = oldest.get(&chunk.chunk_id).filter(|first| first.document_id != *one.document)?;
        Some(Occurrence { document_id: first.document_id.clone(), ordinal: first.ordinal })
    };
    Ok(arriving.iter().map(|one| one.chunks.iter().map(|chunk| of(one, chunk)).collect()).collect())
}

async fn oldest_stored(
    records: &dyn Records,
    scope: &Scope,
    content: &ChunkId,
    live: &BTreeMap<DocumentId, Revision>,
    replaced: &BTreeSet<&DocumentId>,
) -> Result<Option<ContentPosting>, RecordError> {
    let options = QueryOptions { limit: READ_MOST, ..QueryOptions::default() };
    let page = records.query(&RecordPrefix::content_hash(scope, content), options).await?;
    let mut postings: Vec<ContentPosting> = page.items.iter().map(Item::read).collect::<Result<_, _>>()?;
    postings.retain(|posting| !replaced.contains(&posting.document_id));
    postings.sort();
    for posting in postings {
        let Some(served) = live.get(&posting.document_id) else { continue };
        if *served == posting.revision || stands_in(records, content, &posting, served).await? {
            return Ok(Some(posting));
        }
    }
    Ok(None)
}

/// Whether the content stands at the same place in the revision that is served: another one may have written over
/// the posting and never been published.
async fn stands_in(records: &dyn Records, content: &ChunkId, posting: &ContentPosting, served: &Revision) -> Result<bool, RecordError> {
    let item = records.get(&RecordKey::chunk(&posting.document_id, served, posting.ordinal)).await?;
    let chunk: Option<ChunkRecord> = item.map(|item| item.read()).transpose()?;
    Ok(chunk.is_some_and(|chunk| chunk.chunk_id == *content))
}

/// Documents other than the node's own that carry at least `least` of its keywords, by the postings.
pub fn sharing(carriers: &BTreeMap<String, Vec<DocumentId>>, node: &GraphNode, least: usize) -> BTreeSet<DocumentId> {
    let mut counts: BTreeMap<&DocumentId, usize> = BTreeMap::new();
    for document in node.keywords.iter().filter_map(|(word, _)| carriers.get(word)).flatten() {
        *counts.entry(document).or_default() += 1;
    }
    let enough = counts.into_iter().filter(|(document, count)| *count >= least && **document != node.document_id);
    enough.map(|(document, _)| document.clone()).collect()
}

/// The documents that carry each of these words, by the postings.
pub async fn carriers(
    records: &dyn Records,
    scope: &Scope,
    words: BTreeSet<String>,
) -> Result<BTreeMap<String, Vec<DocumentId>>, RecordError> {
    stream::iter(words)
        .map(|word| async move {
            let options = QueryOptions { limit: READ_MOST, ..QueryOptions::default() };
            let page = records.query(&RecordPrefix::keyword(scope, &word), options).await?;
            let documents = page.items.iter().map(|item| item.read::<KeywordPosting>().map(|posting| posting.document_id));
            Ok((word, documents.collect::<Result<_, RecordError>>()?))
        })
        .buffered(AT_ONCE)
        .try_collect()
        .await
}

/// What a document serves now, for [`remove`].
#[derive(Debug, Clone, Copy)]
pub struct Served<'a> {
    /// First publication of the document.
    pub since: Timestamp,
    /// Node of the revision served.
    pub node: &'a GraphNode,
}

/// Removes the postings of a revision that is no longer served. One that a later revision has written over stays; one that
/// was written over the posting of the revision `served` (by a writer that came late) becomes that revision's again.
pub async fn remove(
    records: &dyn Records,
    scope: &Scope,
    document: &DocumentId,
    revision: &Revision,
    node: Option<&GraphNode>,
    served: Option<Served<'_>>,
) -> Result<(), RecordError> {
    let mut keys: Vec<RecordKey> = Vec::new();
    for chunk in chunks(records, document, revision).await? {
        keys.push(RecordKey::content_hash(scope, &chunk.chunk_id, document, chunk.ordinal));
    }
    keys.extend(node.iter().flat_map(|node| &node.keywords).map(|(word, _)| RecordKey::keyword(scope, word, document)));
    let mut kept: BTreeMap<RecordKey, Item> = BTreeMap::new();
    if let Some(Served { since, node }) = served.filter(|served| served.node.revision != *revision) {
        for chunk in chunks(records, document, &node.revision).await? {
            let posting = ContentPosting { since, document_id: document.clone(), ordinal: chunk.ordinal, revision: node.revision.clone() };
            let key = RecordKey::content_hash(scope, &chunk.chunk_id, document, chunk.ordinal);
            kept.insert(key.clone(), Item::of(key, &posting)?);
        }
        kept.extend(of_keywords(scope, node)?.into_iter().map(|item| (item.key.clone(), item)));
    }
    let kept = &kept;
    stream::iter(keys)
        .map(|key| async move {
            let is_its = Condition::Equals("revision".to_owned(), json!(revision));
            let done = match kept.get(&key) {
                Some(item) => records.put(item.clone(), is_its).await,
                None => records.delete(&key, is_its).await,
            };
            match done {
                Ok(()) | Err(RecordError::Condition(_)) => Ok(()),
                Err(error) => Err(error),
            }
        })
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await
}

async fn chunks(records: &dyn Records, document: &DocumentId, revision: &Revision) -> Result<Vec<ChunkRecord>, RecordError> {
    records.query_all(&RecordPrefix::chunks(document, revision)).await?.iter().map(Item::read).collect()
}
