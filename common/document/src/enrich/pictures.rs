//! Words for pictures that say little themselves: what stands written in them, and what they show.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use quarry_model::{Parsed, RowKind};
use quarry_ports::{Ended, Prompt, Task};

use super::Work;

/// Pictures of one document that a model is shown.
const MOST: usize = 200;
/// Files smaller than this are rules and icons; larger ones are not sent.
const BYTES: (usize, usize) = (1 << 10, 5 << 20);
/// Pictures narrower or lower than this, in pixels, show nothing.
const SIDE: u32 = 48;
/// A caption of at least so many characters needs no help.
const TELLING: usize = 80;
const OCR_TOKENS: u32 = 1_000;
const DESCRIPTION_TOKENS: u32 = 200;
const WAIT: Duration = Duration::from_secs(40);

const OCR: &str = "Transcribe all text that is written in the picture, line by line, in its own language. Add nothing. Answer NONE when there is no text.";
const DESCRIBE: &str = "Describe in at most three sentences what the picture shows, for somebody who searches the document it stands in: what kind of \
picture it is, its subject, names, quantities. Use the language of the caption, or else of the text in the picture. Answer NONE when it shows nothing, \
like a rule or a blank.";

/// Adds what the models see to the rows of pictures.
pub(super) async fn describe(parsed: &mut Parsed, work: &mut Work<'_>) {
    // One question for each picture, however often it is shown.
    let mut shown: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, row) in parsed.rows.iter().enumerate() {
        let says_little = row.kind == RowKind::Image && row.content.trim().chars().count() < TELLING;
        if let Some(asset) = row.asset.filter(|_| says_little) {
            shown.entry(asset).or_default().push(index);
        }
    }
    let suited = |asset: &usize| parsed.assets.get(*asset).and_then(|asset| media_type(&asset.bytes)).is_some();
    shown.retain(|asset, _| suited(asset));
    let past = shown.len().saturating_sub(MOST);
    let shown: Vec<(usize, Vec<usize>)> = shown.into_iter().take(MOST).collect();
    let tasks = [
        (Task::Ocr, OCR, OCR_TOKENS, "pictures were not searched for text"),
        (Task::Image, DESCRIBE, DESCRIPTION_TOKENS, "pictures were not described"),
    ];
    for (task, instructions, most_tokens, lack) in tasks {
        if !work.asks(task) {
            continue;
        }
        let prompts = shown.iter().map(|(asset, rows)| {
            let bytes = parsed.assets.get(*asset).map(|asset| asset.bytes.clone()).unwrap_or_default();
            let media_type = media_type(&bytes).unwrap_or("image/png");
            let caption = rows.first().and_then(|row| parsed.rows.get(*row)).map_or("", |row| row.content.trim());
            let prompt = Prompt::new(task, instructions).image(media_type, Bytes::from(bytes)).limits(most_tokens, WAIT);
            if caption.is_empty() { prompt } else { prompt.data("caption", caption) }
        });
        let (mut lacking, mut cause) = (past, "too_many");
        for ((_, rows), answer) in shown.iter().zip(work.ask(task, prompts.collect()).await) {
            let said = match answer {
                Ok(answer) => said(&answer.text, answer.ended),
                Err(name) => {
                    lacking = lacking.saturating_add(1);
                    cause = name;
                    continue;
                }
            };
            for index in rows {
                if let Some(row) = parsed.rows.get_mut(*index) {
                    add(&mut row.content, &said);
                }
            }
        }
        work.missing(lacking, lack, cause);
    }
}

/// What is worth keeping of an answer.
fn said(text: &str, ended: Ended) -> String {
    let text = text.trim().trim_matches('`').trim();
    let nothing = text.trim_end_matches('.').eq_ignore_ascii_case("none");
    match ended {
        _ if nothing => String::new(),
        // The last word may be half of one.
        Ended::Length => text.rsplit_once(char::is_whitespace).map_or(text, |(head, _)| head).to_owned(),
        Ended::Complete => text.to_owned(),
    }
}

fn add(content: &mut String, said: &str) {
    if said.is_empty() || content.contains(said) {
        return;
    }
    if !content.trim().is_empty() {
        content.push('\n');
    }
    content.push_str(said);
}

/// The media type of a picture that models take; `None` for one that is not sent.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    if !(BYTES.0..=BYTES.1).contains(&bytes.len()) {
        return None;
    }
    let format = image::guess_format(bytes).ok()?;
    let media_type = match format {
        image::ImageFormat::Png => "image/png",
        image::ImageFormat::Jpeg => "image/jpeg",
        image::ImageFormat::Gif => "image/gif",
        image::ImageFormat::WebP => "image/webp",
        _ => return None,
    };
    let (width, height) = image::ImageReader::with_format(std::io::Cursor::new(bytes), format).into_dimensions().ok()?;
    (width >= SIDE && height >= SIDE).then_some(media_type)
}
