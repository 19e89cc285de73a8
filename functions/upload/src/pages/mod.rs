//! Images of pages: drawn when they are first asked for, then kept under the revision's folder as `pages/page-<n>.png`.

mod drawer;
mod http;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quarry_model::{ApiCode, ApiError, DocumentId, Format, Manifest, ObjectKey, Revision, Scope};
use quarry_ports::{ObjectError, ObjectStore, PutOptions};
use quarry_runtime::http::Failure;

pub(crate) use drawer::draw;
pub use drawer::{DrawError, DrawPages, InProcess, PATIENCE};
pub(crate) use http::page;

/// One revision of a document, and the stores and hands to draw its pages with.
pub struct Pages {
    /// Where documents lie.
    pub objects: Arc<dyn ObjectStore>,
    /// Draws.
    pub drawer: Arc<dyn DrawPages>,
}

/// A reading of a document.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Whose.
    pub scope: &'a Scope,
    /// Which.
    pub document: &'a DocumentId,
    /// Which reading of it.
    pub revision: &'a Revision,
}

impl Place<'_> {
    fn key(&self, name: &str) -> ObjectKey {
        ObjectKey::artifact(self.scope, self.document, self.revision, name)
    }

    /// Where the image of a page is kept.
    pub fn page(&self, number: u32) -> ObjectKey {
        self.key(&format!("pages/page-{number}.png"))
    }
}

impl Pages {
    /// The image of a page (from 1), kept or drawn.
    ///
    /// `NOT_FOUND` when the document has no such page, `UNSUPPORTED_MEDIA_TYPE` when its format has no pages that can be
    /// drawn, `DEADLINE_EXCEEDED` when drawing takes too long, `UNAVAILABLE` when too many are being drawn.
    pub async fn image(&self, place: Place<'_>, number: u32) -> Result<Bytes, Failure> {
        match self.objects.get(&place.page(number)).await {
            Ok((kept, _)) => return Ok(kept),
            Err(ObjectError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let manifest = self.read(place, "manifest.json").await?;
        let manifest: Manifest = serde_json::from_slice(&manifest).map_err(|error| Failure::internal(&error))?;
        let format = manifest.source.detected_format;
        if format != Format::Pdf {
            let message = format!("Pages are drawn of PDF documents; this one is {}.", format.name());
            return Err(ApiError::new(ApiCode::UnsupportedMediaType, message).into());
        }
        let pages = manifest.source.pages.unwrap_or(0);
        if number == 0 || number > pages {
            return Err(no_page(number, pages));
        }
        let source = self.read(place, &format!("source/original.{}", format.extension())).await?;
        let image = self.drawer.draw(source, number).await.map_err(|error| match error {
            DrawError::NoPage => no_page(number, pages),
            DrawError::TimedOut(after) => {
                let message = format!("The page is not drawn after {} seconds. Its text can be read all the same.", after.as_secs());
                ApiError::new(ApiCode::DeadlineExceeded, message).into()
            }
            DrawError::Busy => ApiError::unavailable(2).into(),
            DrawError::Failed(cause) => {
                tracing::warn!(document = %place.document, page = number, cause, "a page cannot be drawn");
                let message = "The page cannot be drawn, though its text was read. The source itself is at …/source.";
                Failure::from(ApiError::new(ApiCode::InternalError, message).with("page", number))
            }
        })?;
        let options = PutOptions { content_type: Some("image/png".to_owned()), ..PutOptions::default() };
        if let Err(error) = self.objects.put(&place.page(number), image.clone(), options).await {
            // The caller has the image; the next one draws it again.
            tracing::warn!(document = %place.document, page = number, %error, "a page image is not kept");
        }
        Ok(image)
    }

    async fn read(&self, place: Place<'_>, name: &str) -> Result<Bytes, Failure> {
        match self.objects.get(&place.key(name)).await {
            Ok((bytes, _)) => Ok(bytes),
            // The revision was replaced and swept between two reads.
            Err(ObjectError::NotFound(_)) => Err(crate::documents::absent(place.document.as_str())),
            Err(error) => Err(error.into()),
        }
    }
}

fn no_page(number: u32, pages: u32) -> Failure {
    ApiError::not_found("Page", &number.to_string()).with("pages", pages).into()
}

/// An address of a kept image, for answers that are too large to be sent.
async fn address(objects: &dyn ObjectStore, key: &ObjectKey) -> Result<String, Failure> {
    Ok(objects.presign_get(key, Duration::from_hours(1), None).await?)
}
