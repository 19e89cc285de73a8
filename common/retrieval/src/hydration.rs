//! Assets in their places. A text chunk is cut where its assets stand, and they are placed between the pieces; no mark
//! in a text is ever replaced by string.

use std::ops::Range;

use quarry_model::{Chunk, Relation};

use crate::corpus::ChunkKey;
use crate::passage::Passage;

/// A stretch of a text chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Bytes of the content.
    Text(Range<usize>),
    /// The asset with this ordinal, instead of its mark.
    Asset(u32),
}

/// Cuts a text chunk at its assets, in reading order. Links with positions outside the content, or inside one
/// another, are left out: their marks stay text.
pub fn segments(chunk: &Chunk) -> Vec<Segment> {
    let mut places: Vec<(usize, usize, u32)> = chunk
        .metadata
        .connect_to
        .iter()
        .filter(|link| link.relation == Relation::Embeds)
        .filter_map(|link| link.position.map(|p| (p.start as usize, p.end as usize, link.target_ordinal)))
        .collect();
    if places.is_empty() {
        return if chunk.content.is_empty() { Vec::new() } else { vec![Segment::Text(0..chunk.content.len())] };
    }
    places.sort_unstable();
    // Code points to bytes.
    let starts: Vec<usize> = chunk.content.char_indices().map(|(at, _)| at).chain([chunk.content.len()]).collect();
    let mut out = Vec::new();
    let mut at = 0;
    for (start, end, ordinal) in places {
        let (Some(&start), Some(&end)) = (starts.get(start), starts.get(end)) else { continue };
        if start < at || end < start {
            continue;
        }
        if start > at {
            out.push(Segment::Text(at..start));
        }
        out.push(Segment::Asset(ordinal));
        at = end;
    }
    if at < chunk.content.len() {
        out.push(Segment::Text(at..chunk.content.len()));
    }
    out
}

/// The text of a chunk without its assets' marks.
pub fn without_assets(chunk: &Chunk) -> String {
    let mut out = String::with_capacity(chunk.content.len());
    for segment in segments(chunk) {
        match segment {
            Segment::Text(bytes) => out.push_str(chunk.content.get(bytes).unwrap_or_default()),
            Segment::Asset(_) => out.push(' '),
        }
    }
    out
}

/// The keys of the assets embedded in a passage.
pub fn embedded(passage: &Passage) -> Vec<ChunkKey> {
    let document = &passage.stored.document_id;
    let links = passage.stored.indexed.chunk.metadata.connect_to.iter();
    links.filter(|link| link.relation == Relation::Embeds).map(|link| (document.clone(), link.target_ordinal)).collect()
}

/// The content of a chunk with its assets in their places: tables as HTML, pictures as their words. `asset` gives the
/// content of an embedded chunk, or nothing where the request's types leave it out.
pub fn content(chunk: &Chunk, asset: impl Fn(u32) -> Option<String>) -> String {
    let mut blocks: Vec<String> = Vec::new();
    for segment in segments(chunk) {
        let block = match segment {
            Segment::Text(bytes) => chunk.content.get(bytes).unwrap_or_default().trim().to_owned(),
            Segment::Asset(ordinal) => asset(ordinal).unwrap_or_default(),
        };
        if !block.is_empty() {
            blocks.push(block);
        }
    }
    blocks.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{embed, text_chunk};
    use proptest::prelude::*;

    #[test]
    fn assets_stand_where_they_stood() {
        let mut chunk = text_chunk(0, "Größe wächst.\n[tables/table-1.html]\nEnde [images/image-2.png].", "a.md/S");
        embed(&mut chunk, 1, "[tables/table-1.html]");
        embed(&mut chunk, 2, "[images/image-2.png]");
        let text = content(&chunk, |ordinal| (ordinal == 1).then(|| "<table>[images/image-2.png]</table>".to_owned()));
        assert_eq!(text, "Größe wächst.\n<table>[images/image-2.png]</table>\nEnde\n.");
    }

    #[test]
    fn wrong_positions_leave_the_text_alone() {
        let mut chunk = text_chunk(0, "short", "a.md/S");
        embed(&mut chunk, 1, "short");
        chunk.metadata.connect_to[0].position = Some(quarry_model::Position { start: 3, end: 99 });
        assert_eq!(segments(&chunk), [Segment::Text(0..5)]);
    }

    proptest! {
        #[test]
        fn text_segments_cover_what_is_not_an_asset(places in prop::collection::vec((0_u32..12, 0_u32..12), 0..5)) {
            let mut chunk = text_chunk(0, "aé漢b🙂cdéf", "a.md/S");
            for (start, end) in places {
                embed(&mut chunk, 1, "");
                chunk.metadata.connect_to.last_mut().unwrap().position = Some(quarry_model::Position { start, end });
            }
            let mut at = 0;
            for segment in segments(&chunk) {
                if let Segment::Text(bytes) = segment {
                    prop_assert!(bytes.start >= at && chunk.content.get(bytes.clone()).is_some());
                    at = bytes.end;
                }
            }
        }
    }
}
