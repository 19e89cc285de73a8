//! The evidence as parts: its text, and its pictures' bytes where they stand.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use quarry_model::retrieval::EvidencePart;
use quarry_model::{ObjectKey, Scope};
use quarry_ports::ObjectStore;

use crate::evidence::Rendered;

/// Most pictures of one answer.
const PICTURES: usize = 4;
/// Largest picture, in bytes: base64 makes it a third larger.
const PICTURE_BYTES: usize = 1 << 20;

/// Cuts the evidence where pictures stand and puts them there. A picture that cannot be read, is too large, or is of a
/// kind that models do not take, stays a line of text.
pub async fn parts(rendered: &Rendered, scope: &Scope, objects: &dyn ObjectStore) -> Vec<EvidencePart> {
    let mut parts = Vec::new();
    let mut text: Vec<&str> = Vec::new();
    let mut pictures = 0;
    for line in &rendered.lines {
        text.push(&line.text);
        let Some((of, file)) = &line.image else { continue };
        let Some(media_type) = media_type(file).filter(|_| pictures < PICTURES) else { continue };
        let key = ObjectKey::artifact(scope, &of.document_id, &of.revision, file);
        match objects.get(&key).await {
            Ok((bytes, _)) if bytes.len() <= PICTURE_BYTES => {
                parts.push(EvidencePart::Text { text: std::mem::take(&mut text).join("\n") });
                parts.push(EvidencePart::Image { media_type: media_type.to_owned(), data: BASE64_STANDARD.encode(&bytes) });
                pictures += 1;
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "picture not read"),
        }
    }
    if !text.is_empty() {
        parts.push(EvidencePart::Text { text: text.join("\n") });
    }
    parts
}

fn media_type(file: &str) -> Option<&'static str> {
    match file.rsplit_once('.')?.1 {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        _ => None,
    }
}
