//! Images of pages: drawn once, kept, marked, refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quarry_model::{ApiCode, DocumentId, Limits, Namespace, ObjectKey, Owner, Revision, Scope};
use quarry_ports::{ObjectStore, PutOptions};
use quarry_store_local::{LocalStore, PublicBase};
use quarry_upload::{DrawError, DrawPages, InProcess, Pages, Place};

/// A page of 200 by 100 points with a black square of 50 points at its lower left. Readers find the objects without a table.
const PDF: &str = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
    3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R>>endobj\n\
    4 0 obj<</Length 14>>stream\n0 0 50 50 re f\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";

/// Counts, and does what it is told or draws.
struct Counting {
    drawn: AtomicU32,
    fails: Option<DrawError>,
    real: InProcess,
}

#[async_trait]
impl DrawPages for Counting {
    async fn draw(&self, source: Bytes, page: u32) -> Result<Bytes, DrawError> {
        self.drawn.fetch_add(1, Ordering::SeqCst);
        match &self.fails {
            Some(error) => Err(error.clone()),
            None => self.real.draw(source, page).await,
        }
    }
}

struct Bench {
    _folder: tempfile::TempDir,
    objects: Arc<dyn ObjectStore>,
    drawer: Arc<Counting>,
    pages: Pages,
    scope: Scope,
    document: DocumentId,
    revision: Revision,
}

impl Bench {
    /// A revision folder of a document of this format, with its manifest and its source.
    async fn new(format: &str, source: &str, fails: Option<DrawError>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let objects = LocalStore::open(folder.path(), PublicBase::default()).unwrap().objects();
        let drawer = Arc::new(Counting { drawn: AtomicU32::new(0), fails, real: InProcess::new(Arc::new(Limits::default())) });
        let scope = Scope::new(Owner::local(), Namespace::default());
        let pages = Pages { objects: Arc::clone(&objects), drawer: drawer.clone() };
        let bench = Self {
            _folder: folder,
            pages,
            objects,
            drawer,
            document: DocumentId::from_random([1; 6]),
            revision: Revision::of("a", "b", "c"),
            scope,
        };
        let manifest =
            MANIFEST.replace("FORMAT", format).replace("DOC", bench.document.as_str()).replace("REV", &bench.revision.to_string());
        bench.put("manifest.json", manifest).await;
        bench.put(&format!("source/original.{format}"), source.to_owned()).await;
        bench
    }

    async fn put(&self, name: &str, content: String) {
        let key = ObjectKey::artifact(&self.scope, &self.document, &self.revision, name);
        self.objects.put(&key, Bytes::from(content), PutOptions::default()).await.unwrap();
    }

    async fn image(&self, page: u32) -> Result<Bytes, ApiCode> {
        let place = Place { scope: &self.scope, document: &self.document, revision: &self.revision };
        self.pages.image(place, page).await.map_err(|failure| failure.0.code)
    }
}

const MANIFEST: &str = r#"{"schema_version":1,"version":"2.0","job_id":null,"data_id":null,"document_id":"DOC","revision":"REV",
    "source_file_name":"a","source":{"sha256":"","blake3":"","size_bytes":1,"media_type":"a/b","detected_format":"FORMAT","pages":1},
    "processing_date":"2026-01-01T00:00:00.000Z","processing":{"page_count":1,"timing":{"started_at":"2026-01-01T00:00:00.000Z",
    "completed_at":"2026-01-01T00:00:00.000Z","duration_ms":1},"stages":{"timing_ms":{},"token_usage":{}},
    "parser":{"name":"p","version":"1"},"models":{},"limits":{}},"profile":{"category":"c","routing_category":"generic"},
    "statistics":{"total_chunks":1,"text_chunks":1,"image_chunks":0,"table_chunks":0,"total_pages":1,"total_tokens":1},
    "files":{"chunks":"chunks.json","markdown":"full.md","hierarchy":"hierarchy.json","images":[],"tables":[]},
    "quality":{"status":"complete","warnings":[]},"HIERARCHY":{}}"#;

#[tokio::test]
async fn a_page_is_drawn_once_and_kept() {
    let bench = Bench::new("pdf", PDF, None).await;
    let image = bench.image(1).await.unwrap();
    assert!(image.starts_with(b"\x89PNG"));
    assert_eq!(bench.image(1).await.unwrap(), image);
    assert_eq!(bench.drawer.drawn.load(Ordering::SeqCst), 1);
    let key = ObjectKey::artifact(&bench.scope, &bench.document, &bench.revision, "pages/page-1.png");
    assert_eq!(bench.objects.get(&key).await.unwrap().0, image);
}

#[tokio::test]
async fn what_cannot_be_drawn_has_a_code() {
    let bench = Bench::new("pdf", PDF, None).await;
    for page in [0, 2, u32::MAX] {
        assert_eq!(bench.image(page).await, Err(ApiCode::NotFound), "page {page}");
    }
    assert_eq!(bench.drawer.drawn.load(Ordering::SeqCst), 0, "no page that is not there is drawn");
    assert_eq!(Bench::new("docx", "PK", None).await.image(1).await, Err(ApiCode::UnsupportedMediaType));
    assert_eq!(Bench::new("pdf", "not a pdf", None).await.image(1).await, Err(ApiCode::InternalError));
    for (error, code) in [
        (DrawError::TimedOut(Duration::from_secs(1)), ApiCode::DeadlineExceeded),
        (DrawError::Busy, ApiCode::Unavailable),
        (DrawError::NoPage, ApiCode::NotFound),
        (DrawError::Failed("x".into()), ApiCode::InternalError),
    ] {
        assert_eq!(Bench::new("pdf", PDF, Some(error)).await.image(1).await, Err(code));
    }
}
