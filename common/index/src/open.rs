//! One split, opened: what searching it needs, in memory; the rest fetched when asked for.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use quarry_model::ObjectKey;
use quarry_ports::ObjectStore;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{InvertedIndexReader, SegmentReader};
use tantivy::postings::{BlockSegmentPostings, SegmentPostings};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::store::StoreReader;
use tantivy::{Index, TantivyDocument};

use crate::alias::Aliases;
use crate::blob::Blob;
use crate::build::segment as failed;
use crate::bundle::Footer;
use crate::directory::SplitDirectory;
use crate::document::{IndexedChunk, StoredForm};
use crate::error::IndexError;
use crate::schema::{CTYPE, ORDINAL, SECTION, fields};
use crate::vocabulary::Vocabulary;

/// Decompressed blocks of stored chunks kept per split.
const STORE_BLOCKS: usize = 32;
/// More rounds of reading than any request needs; a damaged split must not make us read for ever.
const ROUNDS_MAX: usize = 12;

/// The two fields with words.
pub(crate) const CONTENT: usize = 0;
/// See [`CONTENT`].
pub(crate) const PATH: usize = 1;

/// One split, opened.
pub(crate) struct Segment {
    key: ObjectKey,
    blob: Arc<Blob>,
    footer: Arc<Footer>,
    words: [Words; 2],
    store: StoreReader,
    ordinals: Vec<u32>,
    types: Vec<u8>,
    sections: Vec<u32>,
    section_paths: Vec<String>,
}

/// One field with words.
pub(crate) struct Words {
    /// Its words.
    pub(crate) vocabulary: Vocabulary,
    /// Other ways to find them.
    pub(crate) aliases: Aliases,
    /// Lengths of the field, one byte a chunk.
    pub(crate) norms: FieldNormReader,
    reader: Arc<InvertedIndexReader>,
}

/// What opening gives before anything is loaded.
pub(crate) struct Files {
    reader: SegmentReader,
    words: [Arc<InvertedIndexReader>; 2],
    store: StoreReader,
}

impl Segment {
    /// Opens a split of which at least the tail is among `parts` (start, bytes); hot bytes come with the footer.
    pub(crate) fn open(
        key: ObjectKey,
        size: u64,
        footer: Arc<Footer>,
        parts: impl IntoIterator<Item = (u64, Bytes)>,
    ) -> Result<Self, IndexError> {
        let blob = Arc::new(Blob::new(key.clone(), size));
        for (start, bytes) in footer.hot().chain(parts) {
            blob.insert(start, bytes);
        }
        let corrupt = |detail: String| IndexError::Corrupt { key: key.clone(), detail };
        let files = Self::open_files(SplitDirectory::new(blob.clone(), footer.clone())).map_err(|error| corrupt(error.to_string()))?;
        let [content, path] = load_aliases(&blob, &footer).ok_or_else(|| corrupt("vocab unreadable".into()))?;
        let [content_reader, path_reader] = files.words;
        let words = [
            Words::load(&files.reader, content_reader, fields().content, content)?,
            Words::load(&files.reader, path_reader, fields().path, path)?,
        ];
        let chunks = files.reader.max_doc();
        let fast = files.reader.fast_fields();
        let (ordinal, ctype) = (fast.u64(ORDINAL).map_err(failed)?, fast.u64(CTYPE).map_err(failed)?);
        let ordinals = (0..chunks).map(|doc| ordinal.first(doc).unwrap_or_default() as u32).collect();
        let types = (0..chunks).map(|doc| ctype.first(doc).unwrap_or_default() as u8).collect();
        let (mut sections, mut section_paths) = (vec![0; chunks as usize], Vec::new());
        if let Some(column) = fast.str(SECTION).map_err(failed)? {
            for doc in 0..chunks {
                sections[doc as usize] = column.ords().first(doc).unwrap_or_default() as u32;
            }
            let mut path = String::new();
            for ordinal in 0..column.num_terms() {
                path.clear();
                column.ord_to_str(ordinal as u64, &mut path).map_err(failed)?;
                section_paths.push(path.clone());
            }
        }
        Ok(Self { key, blob, footer, words, store: files.store, ordinals, types, sections, section_paths })
    }

    /// Opens the segment files; nothing but headers, footers and indexes is read.
    pub(crate) fn open_files(directory: SplitDirectory) -> Result<Files, IndexError> {
        let index = Index::open(directory).map_err(failed)?;
        let segments = index.searchable_segments().map_err(failed)?;
        let [segment] = segments.as_slice() else {
            return Err(failed("not exactly one segment"));
        };
        let reader = SegmentReader::open(segment).map_err(failed)?;
        let words = [reader.inverted_index(fields().content).map_err(failed)?, reader.inverted_index(fields().path).map_err(failed)?];
        let store = reader.get_store_reader(STORE_BLOCKS).map_err(failed)?;
        Ok(Files { reader, words, store })
    }

    /// Where it is.
    pub(crate) fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// Chunks, dead ones included.
    pub(crate) fn chunks(&self) -> u32 {
        self.ordinals.len() as u32
    }

    /// Chunks by language, most frequent first.
    pub(crate) fn languages(&self) -> &[(String, u32)] {
        &self.footer.languages
    }

    /// A field with words.
    pub(crate) fn words(&self, field: usize) -> &Words {
        &self.words[field]
    }

    /// The ordinal of a chunk.
    pub(crate) fn ordinal(&self, doc: u32) -> u32 {
        self.ordinals[doc as usize]
    }

    /// Ordinals of all chunks.
    pub(crate) fn ordinals(&self) -> &[u32] {
        &self.ordinals
    }

    /// Type codes of all chunks.
    pub(crate) fn types(&self) -> &[u8] {
        &self.types
    }

    /// For every chunk, the index of its section's path in [`Self::section_paths`].
    pub(crate) fn sections(&self) -> &[u32] {
        &self.sections
    }

    /// Section paths, sorted.
    pub(crate) fn section_paths(&self) -> &[String] {
        &self.section_paths
    }

    /// Words in a field over a range of chunks, as the length bytes tell it.
    pub(crate) fn tokens(&self, field: usize, docs: std::ops::Range<u32>) -> u64 {
        docs.map(|doc| u64::from(self.words[field].norms.fieldnorm(doc))).sum()
    }

    /// Words in a field over all chunks.
    pub(crate) fn tokens_of_all(&self, field: usize) -> u64 {
        self.tokens(field, 0..self.chunks())
    }

    /// Bytes held in memory, roughly.
    pub(crate) fn weight(&self) -> u64 {
        let words: usize = self.words.iter().map(|words| words.vocabulary.weight() + words.aliases.weight()).sum();
        let columns = self.ordinals.len() * 9 + self.section_paths.iter().map(String::len).sum::<usize>();
        self.blob.held() + (words + columns) as u64
    }

    /// The postings of a word with positions; `None` when their bytes are not here yet (they are then noted as missing).
    pub(crate) fn postings(&self, field: usize, ordinal: u32) -> Result<Option<SegmentPostings>, IndexError> {
        let words = &self.words[field];
        let option = IndexRecordOption::WithFreqsAndPositions;
        self.or_missing(words.reader.read_postings_from_terminfo(&words.vocabulary.info(ordinal), option))
    }

    /// As [`Self::postings`] without positions, block by block.
    pub(crate) fn blocks(&self, field: usize, ordinal: u32) -> Result<Option<BlockSegmentPostings>, IndexError> {
        let words = &self.words[field];
        let info = words.vocabulary.info(ordinal);
        self.or_missing(words.reader.read_block_postings_from_terminfo(&info, IndexRecordOption::WithFreqs))
    }

    fn or_missing<T>(&self, result: io::Result<T>) -> Result<Option<T>, IndexError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(IndexError::Corrupt { key: self.key.clone(), detail: error.to_string() }),
        }
    }

    /// Fetches what was missed; `false` when nothing was.
    pub(crate) async fn fetch_missing(&self, objects: &dyn ObjectStore) -> Result<bool, IndexError> {
        if self.blob.is_whole() || !self.blob.has_missing() {
            return Ok(false);
        }
        self.blob.fetch_missing(objects).await.map_err(|error| from_objects(error, &self.key))?;
        Ok(true)
    }

    /// Stored chunks with their file names, in the order of `docs`.
    pub(crate) async fn read(&self, objects: &dyn ObjectStore, docs: &[u32]) -> Result<Vec<(String, IndexedChunk)>, IndexError> {
        for _ in 0..ROUNDS_MAX {
            let mut out = Vec::with_capacity(docs.len());
            for &doc in docs {
                out.extend(self.stored(doc)?);
            }
            if out.len() == docs.len() {
                return Ok(out);
            }
            self.fetch_missing(objects).await?;
        }
        Err(IndexError::Corrupt { key: self.key.clone(), detail: "stored chunks cannot be read".into() })
    }

    fn stored(&self, doc: u32) -> Result<Option<(String, IndexedChunk)>, IndexError> {
        let row: TantivyDocument = match self.store.get(doc) {
            Ok(row) => row,
            Err(tantivy::TantivyError::IoError(error)) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(IndexError::Corrupt { key: self.key.clone(), detail: error.to_string() }),
        };
        let bytes = row.get_first(fields().chunk).and_then(|value| value.as_bytes());
        let bytes = bytes.ok_or_else(|| IndexError::Corrupt { key: self.key.clone(), detail: "no stored chunk".into() })?;
        Ok(Some(StoredForm::read(bytes)?))
    }
}

impl Words {
    fn load(
        segment: &SegmentReader,
        reader: Arc<InvertedIndexReader>,
        field: tantivy::schema::Field,
        aliases: Aliases,
    ) -> Result<Self, IndexError> {
        let vocabulary = Vocabulary::load(&reader).map_err(failed)?;
        let norms = segment.fieldnorms_readers().get_field(field).map_err(failed)?;
        let norms = norms.unwrap_or_else(|| FieldNormReader::constant(segment.max_doc(), 0));
        Ok(Self { vocabulary, aliases, norms, reader })
    }
}

/// An object store's failure in the words of the index.
pub(crate) fn from_objects(error: quarry_ports::ObjectError, key: &ObjectKey) -> IndexError {
    match error {
        quarry_ports::ObjectError::NotFound(_) => IndexError::Gone(key.clone()),
        quarry_ports::ObjectError::Range(_) => IndexError::Corrupt { key: key.clone(), detail: "shorter than its entry says".into() },
        error => IndexError::Objects(error),
    }
}

fn load_aliases(blob: &Blob, footer: &Footer) -> Option<[Aliases; 2]> {
    let file = footer.file("vocab")?;
    let packed = blob.read(file.start..file.end).ok()?;
    let bytes = zstd::decode_all(packed.as_slice()).ok()?;
    let mut rest = bytes.as_slice();
    Some([Aliases::read(&mut rest)?, Aliases::read(&mut rest)?])
}
