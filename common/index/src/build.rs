//! Building a split from documents, and getting its documents back.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use quarry_language::ANALYZER_ID;
use quarry_model::record::{SplitDocument, SplitEntry};
use quarry_model::{ChunkType, ObjectKey, Scope};
use quarry_ports::ObjectStore;
use tantivy::directory::RamDirectory;
use tantivy::index::InvertedIndexReader;
use tantivy::schema::IndexRecordOption;
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{Directory, HasLen, Index, IndexSettings, SingleSegmentIndexWriter, TantivyDocument};

use crate::alias::{Aliases, Spoken};
use crate::blob::Blob;
use crate::bundle::{FILES, Footer};
use crate::cache::SplitCache;
use crate::directory::{SplitDirectory, Touched};
use crate::document::{IndexedChunk, IndexedDocument, StoredForm};
use crate::error::IndexError;
use crate::open::Segment;
use crate::schema::{fields, tokenizers};
use crate::text::{content_text, path_text};
use crate::vocabulary::Vocabulary;

/// Splits larger than this are read by piece, and their footer rides in the manifest.
pub const WHOLE_MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Footers larger than this stay in the split.
const FOOTER_INLINE_MAX: usize = 96 * 1024;
/// Arena of the segment writer; it grows as needed, this only sizes its tables.
const ARENA_BYTES: usize = 16 * 1024 * 1024;

/// A split ready to be written with `PutCondition::IfAbsent` under `entry.key`.
#[derive(Debug, Clone)]
pub struct BuiltSplit {
    /// The object.
    pub bytes: Bytes,
    /// Its entry for the manifest, level 0, nothing dead.
    pub entry: SplitEntry,
}

/// Builds one split. Documents are sorted by id and contiguous in it; the same documents give the same bytes.
/// Documents without chunks leave no trace.
pub fn build_split(scope: &Scope, mut documents: Vec<IndexedDocument>) -> Result<BuiltSplit, IndexError> {
    documents.sort_by(|a, b| a.document_id.cmp(&b.document_id));
    check(&documents)?;
    let directory = RamDirectory::create();
    let settings = IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor { compression_level: Some(3) }),
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    let mut writer = Index::builder()
        .schema(fields().schema.clone())
        .settings(settings)
        .tokenizers(tokenizers())
        .single_segment_index_writer(directory.clone(), ARENA_BYTES)
        .map_err(segment)?;

    let mut spoken = Spoken::default();
    let mut languages: BTreeMap<String, u32> = BTreeMap::new();
    let mut entries = Vec::with_capacity(documents.len());
    let mut next = 0_u32;
    for document in &documents {
        let from = next;
        let main = main_language(document);
        for indexed in &document.chunks {
            let lang = if indexed.chunk.metadata.lang == "und" { main } else { indexed.chunk.metadata.lang.as_str() };
            add(&mut writer, document, indexed)?;
            spoken.note(lang);
            if lang != "und" {
                *languages.entry(lang.to_owned()).or_default() += 1;
            }
            next += 1;
        }
        if next > from {
            entries.push(SplitDocument {
                document_id: document.document_id.clone(),
                revision: document.revision.clone(),
                from,
                to: next,
                dead: false,
            });
        }
    }
    let index = writer.finalize().map_err(segment)?;
    let mut languages: Vec<(String, u32)> = languages.into_iter().collect();
    languages.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    bundle(scope, &index, &directory, &spoken, languages, entries)
}

/// Every document once, its chunks in order.
fn check(documents: &[IndexedDocument]) -> Result<(), IndexError> {
    let mut ids = HashSet::new();
    for document in documents {
        let refuse = |detail| IndexError::Document { document_id: document.document_id.clone(), detail };
        if !ids.insert(&document.document_id) {
            return Err(refuse("given twice"));
        }
        if !document.chunks.windows(2).all(|pair| pair[0].chunk.ordinal < pair[1].chunk.ordinal) {
            return Err(refuse("chunks are not in order of their ordinals"));
        }
    }
    Ok(())
}

/// The language most of a document's text is in; chunks too short to tell are taken to be in it.
fn main_language(document: &IndexedDocument) -> &str {
    let mut lengths: BTreeMap<&str, usize> = BTreeMap::new();
    for indexed in &document.chunks {
        if indexed.chunk.metadata.lang != "und" {
            *lengths.entry(&indexed.chunk.metadata.lang).or_default() += indexed.chunk.content.len();
        }
    }
    lengths.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0))).map_or("und", |(lang, _)| lang)
}

fn add(writer: &mut SingleSegmentIndexWriter, document: &IndexedDocument, indexed: &IndexedChunk) -> Result<(), IndexError> {
    let fields = fields();
    let (content, path) = (content_text(indexed), path_text(indexed));
    let mut row = TantivyDocument::default();
    row.add_text(fields.content, content);
    row.add_text(fields.path, path);
    row.add_u64(fields.ordinal, u64::from(indexed.chunk.ordinal));
    row.add_u64(fields.ctype, type_code(indexed.chunk.kind));
    row.add_text(fields.section, &indexed.section.path);
    row.add_bytes(fields.chunk, &StoredForm::write(&document.file_name, indexed)?);
    writer.add_document(row).map_err(segment)
}

/// As the `ctype` column holds it.
pub(crate) fn type_code(kind: ChunkType) -> u64 {
    match kind {
        ChunkType::Text => 0,
        ChunkType::Image => 1,
        ChunkType::Table => 2,
    }
}

/// Puts the segment's files into one object, and learns from opening it what its footer has to carry.
fn bundle(
    scope: &Scope,
    index: &Index,
    directory: &RamDirectory,
    spoken: &Spoken,
    languages: Vec<(String, u32)>,
    documents: Vec<SplitDocument>,
) -> Result<BuiltSplit, IndexError> {
    let metas = index.load_metas().map_err(segment)?;
    let meta = metas.segments.first().ok_or_else(|| IndexError::Segment("no segment was written".into()))?;
    let uuid = meta.id().uuid_string();
    let mut contents: Vec<Vec<u8>> = Vec::with_capacity(FILES.len());
    for extension in FILES {
        contents.push(if extension == "vocab" { Vec::new() } else { file(directory, &format!("{uuid}.{extension}"))? });
    }
    let reader = tantivy::SegmentReader::open(&index.searchable_segments().map_err(segment)?[0]).map_err(segment)?;
    let mut aliases = Vec::new();
    for field in [fields().content, fields().path] {
        let postings = reader.inverted_index(field).map_err(segment)?;
        let vocabulary = Vocabulary::load(&postings).map_err(segment)?;
        let mut words = Vec::with_capacity(vocabulary.len() as usize);
        for ordinal in 0..vocabulary.len() {
            let word = std::str::from_utf8(vocabulary.word(ordinal)).unwrap_or_default();
            words.push((word, languages_of(&postings, &vocabulary, ordinal, spoken)?));
        }
        Aliases::compute(words.into_iter(), spoken).write(&mut aliases);
    }
    let vocab = FILES.iter().position(|name| *name == "vocab").unwrap_or_default();
    contents[vocab] = zstd::bulk::compress(&aliases, 3).map_err(segment)?;

    // The library names a segment by chance; a canonical name makes the bytes a function of the chunks.
    let canonical = String::from_utf8(directory.atomic_read(Path::new("meta.json")).map_err(segment)?).map_err(segment)?;
    let canonical = canonical.replace(&dashed(&uuid), &dashed(&"0".repeat(32)));
    let mut footer = Footer::new(ANALYZER_ID, canonical, languages, &contents);
    let mut body = contents.concat();
    let hot = hot_ranges(&footer, &body)?;
    footer.set_hot(hot, &body);
    let footer_offset = body.len() as u64;
    footer.write(&mut body)?;

    let hash = blake3::hash(&body).to_hex().to_string();
    let size = body.len() as u64;
    let bytes = Bytes::from(body);
    let footer_bytes = bytes.slice(footer_offset as usize..);
    let inline = size > WHOLE_MAX_BYTES && footer_bytes.len() <= FOOTER_INLINE_MAX;
    let segment = Segment::open(ObjectKey::split(scope, &hash), size, Arc::new(footer), [(0, bytes.clone())])?;
    let entry = SplitEntry {
        key: ObjectKey::split(scope, &hash),
        hash,
        analyzer_id: ANALYZER_ID.to_owned(),
        size,
        footer_offset,
        footer: inline.then(|| STANDARD.encode(&footer_bytes)),
        chunks: segment.chunks(),
        content_tokens: segment.tokens_of_all(0),
        path_tokens: segment.tokens_of_all(1),
        documents,
        level: 0,
    };
    Ok(BuiltSplit { bytes, entry })
}

/// The languages of the chunks that hold a word.
fn languages_of(postings: &InvertedIndexReader, vocabulary: &Vocabulary, ordinal: u32, spoken: &Spoken) -> Result<u32, IndexError> {
    let mut blocks = postings.read_block_postings_from_terminfo(&vocabulary.info(ordinal), IndexRecordOption::Basic).map_err(segment)?;
    let mut languages = 0;
    while !blocks.docs().is_empty() {
        languages = spoken.add(languages, blocks.docs());
        blocks.advance();
    }
    Ok(languages)
}

/// Everything outside the tail that opening touches, sorted and disjoint.
fn hot_ranges(footer: &Footer, body: &[u8]) -> Result<Vec<std::ops::Range<u64>>, IndexError> {
    let touched = Touched::new(Mutex::default());
    let blob = Arc::new(Blob::new(ObjectKey::from_event("being-built"), body.len() as u64));
    blob.insert(0, Bytes::copy_from_slice(body));
    Segment::open_files(SplitDirectory::recording(blob, Arc::new(footer.clone()), touched.clone()))?;
    let tail = footer.tail();
    let mut ranges = std::mem::take(&mut *touched.lock().unwrap_or_else(PoisonError::into_inner));
    ranges.retain(|range| range.end <= tail.start && !range.is_empty());
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut out: Vec<std::ops::Range<u64>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    Ok(out)
}

fn file(directory: &RamDirectory, name: &str) -> Result<Vec<u8>, IndexError> {
    let slice = directory.open_read(Path::new(name)).map_err(segment)?;
    debug_assert!(slice.len() > 0);
    Ok(slice.read_bytes().map_err(segment)?.to_vec())
}

/// A UUID of 32 digits the way the library's description writes it.
fn dashed(uuid: &str) -> String {
    [&uuid[..8], &uuid[8..12], &uuid[12..16], &uuid[16..20], &uuid[20..]].join("-")
}

pub(crate) fn segment(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> IndexError {
    IndexError::Segment(error.into())
}

/// The live documents of a split, out of its stored fields, sorted by id: what a rebuild starts from.
pub async fn read_documents(objects: &dyn ObjectStore, cache: &SplitCache, split: &SplitEntry) -> Result<Vec<IndexedDocument>, IndexError> {
    let segment = cache.open(objects, split).await?;
    let live: Vec<&SplitDocument> = split.documents.iter().filter(|document| !document.dead).collect();
    let ids: Vec<u32> = live.iter().flat_map(|document| document.from..document.to).collect();
    let mut stored = segment.read(objects, &ids).await?.into_iter();
    let mut out = Vec::with_capacity(live.len());
    for document in live {
        let mut file_name = String::new();
        let mut chunks = Vec::with_capacity((document.to - document.from) as usize);
        for (name, indexed) in stored.by_ref().take((document.to - document.from) as usize) {
            file_name = name;
            chunks.push(indexed);
        }
        out.push(IndexedDocument { document_id: document.document_id.clone(), revision: document.revision.clone(), file_name, chunks });
    }
    out.sort_by(|a, b| a.document_id.cmp(&b.document_id));
    Ok(out)
}
