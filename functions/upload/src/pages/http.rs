//! `GET /documents/{id}/pages/{n}.png`.

use std::sync::Arc;

use ::http::{HeaderValue, StatusCode, header};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use quarry_model::record::{ChunkRecord, KeyScope};
use quarry_model::{ApiError, RecordKey};
use quarry_pdf::{Rect, mark, smaller};
use quarry_runtime::http::{Caller, Failure, Params};
use serde::Deserialize;

use super::{Place, address};
use crate::Upload;
use crate::documents::{find, served};
use crate::input::Violations;

/// Most bytes of an answer with the image itself: a function's answer holds 6 MB with its binary parts in base64.
const DIRECT_BYTES: usize = 4 << 20;
/// Most boxes marked in one request.
const MOST_BOXES: usize = 64;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageParams {
    /// Boxes to mark, in points from the top left, as chunks carry them: `x0,y0,x1,y1`, several joined by `;`.
    highlight: Option<String>,
    /// The chunk (its `sort_order`) whose boxes on this page are marked.
    chunk: Option<u32>,
}

pub(crate) async fn page(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Path((id, page)): Path<(String, String)>,
    Params(params): Params<PageParams>,
) -> Result<Response, Failure> {
    caller.require(KeyScope::Query)?;
    let found = find(&upload, &caller.owner, &id).await?;
    let revision = served(&found.record)?;
    let mut bad = Violations::default();
    let number = bad.page_file(&page);
    let mut boxes = bad.boxes(params.highlight.as_deref());
    bad.check()?;
    if let Some(ordinal) = params.chunk {
        let item = upload.jobs.records().get(&RecordKey::chunk(&found.record.document_id, revision, ordinal)).await?;
        let chunk: ChunkRecord = item.ok_or_else(|| ApiError::not_found("Chunk", &ordinal.to_string()))?.read()?;
        boxes.extend(chunk.metadata.boxes.iter().filter(|b| b.page == number).map(|b| Rect { x0: b.x0, y0: b.y0, x1: b.x1, y1: b.y1 }));
    }
    let place = Place { scope: &found.scope, document: &found.record.document_id, revision };
    let image = upload.pages.image(place, number).await?;
    if boxes.is_empty() && image.len() > DIRECT_BYTES {
        let location = address(upload.objects.as_ref(), &place.page(number)).await?;
        return Ok((StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, location)]).into_response());
    }
    let image = if boxes.is_empty() { image } else { marked(image, boxes).await? };
    let mut response = Body::from(image).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/png"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // A document's next revision may have another page under this address.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=60"));
    Ok(response)
}

/// Marks boxes; a picture too large to be answered is halved until it fits.
async fn marked(image: Bytes, boxes: Vec<Rect>) -> Result<Bytes, Failure> {
    let work = move || {
        let mut drawn = mark(&image, &boxes)?;
        while drawn.png.len() > DIRECT_BYTES && drawn.width.min(drawn.height) > 1 {
            drawn = smaller(&drawn.png)?;
        }
        Ok::<_, quarry_pdf::RenderError>(Bytes::from(drawn.png))
    };
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| Failure::internal(&error))?;
    done.map_err(|error| Failure::internal(&error))
}

impl Violations {
    /// The number in `<n>.png`.
    fn page_file(&mut self, given: &str) -> u32 {
        let digits = given.strip_suffix(".png").filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        match digits.and_then(|digits| digits.parse().ok()) {
            Some(number) if number > 0 => number,
            _ => {
                self.add("path.page", "must be the number of a page, from 1, with .png: 3.png");
                0
            }
        }
    }

    fn boxes(&mut self, given: Option<&str>) -> Vec<Rect> {
        let Some(given) = given.filter(|text| !text.trim().is_empty()) else { return Vec::new() };
        let boxes: Option<Vec<Rect>> = given.split(';').map(one_box).collect();
        match boxes {
            Some(boxes) if boxes.len() <= MOST_BOXES => boxes,
            Some(_) => {
                self.add("query.highlight", format!("holds at most {MOST_BOXES} boxes"));
                Vec::new()
            }
            None => {
                self.add("query.highlight", "must be x0,y0,x1,y1 in points from the top left, several boxes joined by ;");
                Vec::new()
            }
        }
    }
}

fn one_box(text: &str) -> Option<Rect> {
    let numbers: Vec<f32> = text.split(',').map(|n| n.trim().parse().ok().filter(|n: &f32| n.is_finite())).collect::<Option<_>>()?;
    match *numbers.as_slice() {
        [x0, y0, x1, y1] => Some(Rect::from_corners(x0, y0, x1, y1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_files() {
        let number = |text| {
            let mut bad = Violations::default();
            let number = bad.page_file(text);
            bad.check().is_ok().then_some(number)
        };
        assert_eq!(number("3.png"), Some(3));
        assert_eq!(number("0012.png"), Some(12));
        for bad in ["0.png", "3", ".png", "-1.png", "+1.png", "3.jpg", "99999999999.png", "٣.png", "1.5.png"] {
            assert_eq!(number(bad), None, "{bad}");
        }
    }

    #[test]
    fn boxes() {
        let read = |text| {
            let mut bad = Violations::default();
            let boxes = bad.boxes(Some(text));
            bad.check().is_ok().then_some(boxes.len())
        };
        assert_eq!(read("1,2,3,4"), Some(1));
        assert_eq!(read(" 1, 2, 3.5, 4e2 ;5,6,7,8"), Some(2));
        assert_eq!(read(""), Some(0));
        for bad in ["1,2,3", "1,2,3,x", "1,2,3,inf", "1,2,3,4;", "NaN,0,0,0"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read(&["0,0,1,1"; 65].join(";")), None);
    }
}
