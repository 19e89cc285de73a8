//! The exact ("term") channel: pieces of the surface text of content and path.
//!
//! A piece without white space lies inside one run, so inside one word of the vocabulary: scanning the vocabulary
//! finds the words, their postings the chunks. Runs stored as pairs are matched by pairs in consecutive slots. A piece
//! with spaces is a sequence of runs: the first may begin before it, the last may end after it, those between are
//! whole, and all stand in consecutive slots. Nothing has to be verified on the text: the result equals a scan.

use std::cell::Cell;

use quarry_language::script::is_unspaced;
use quarry_language::segment::{PAIR_MARK, is_paired, pair};
use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::{DocSet as _, TERMINATED};

use crate::error::IndexError;
use crate::impact::gallop;
use crate::open::{CONTENT, PATH};
use crate::view::View;
use crate::vocabulary::Vocabulary;

/// One place of a run: chunk, first slot, the slot after it.
type Place = (u32, u32, u32);

/// One field of one split, and whether something of it was not here.
struct Asked<'a> {
    view: &'a View,
    field: usize,
    missing: Cell<bool>,
}

impl<'a> Asked<'a> {
    fn new(view: &'a View, field: usize) -> Self {
        Self { view, field, missing: Cell::new(false) }
    }

    fn vocabulary(&self) -> &'a Vocabulary {
        &self.view.segment.words(self.field).vocabulary
    }

    /// Postings with positions; bytes that are not here are noted.
    fn postings(&self, ordinal: u32) -> Result<Option<SegmentPostings>, IndexError> {
        let postings = self.view.segment.postings(self.field, ordinal)?;
        self.missing.set(self.missing.get() || postings.is_none());
        Ok(postings)
    }
}

/// Chunks of a split in which `piece`, without white space, stands in a run stored as pairs, once for each field. Other
/// runs are found through the words that contain it, and so are two characters, which are one pair. `None` when bytes are not
/// here yet; they are then noted as missing.
pub(crate) fn across_pairs(view: &View, piece: &str) -> Result<Option<Vec<(u32, f32)>>, IndexError> {
    let mut found = Vec::new();
    let mut complete = true;
    if piece.chars().nth(2).is_some() {
        for field in [CONTENT, PATH] {
            let asked = Asked::new(view, field);
            found.extend(pairs(&asked, piece, false, None)?.into_iter().map(|(doc, _, _)| (doc, 1.0)));
            complete &= !asked.missing.get();
        }
    }
    Ok(complete.then_some(found))
}

/// Chunks of a split (live or not, sorted) whose content or path contains `piece`, runs with spaces between them. All of
/// them are in every list of `parts`. `None` when bytes are not here yet; they are then noted as missing.
pub(crate) fn sequences(view: &View, piece: &str, parts: &[&[u32]]) -> Result<Option<Vec<u32>>, IndexError> {
    let within = parts.split_first().map(|(first, others)| others.iter().fold(first.to_vec(), |docs, other| common(&docs, other)));
    let mut found = Vec::new();
    if within.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Some(found));
    }
    let mut complete = true;
    for field in [CONTENT, PATH] {
        let asked = Asked::new(view, field);
        found.extend(sequence(&asked, piece, within.as_deref())?);
        complete &= !asked.missing.get();
    }
    if !complete {
        // Chunks that hold every part are there, so that every run will be asked for.
        [CONTENT, PATH].into_iter().try_for_each(|field| announce(&Asked::new(view, field), piece))?;
        return Ok(None);
    }
    found.sort_unstable();
    found.dedup();
    Ok(Some(found))
}

/// What two sorted lists share; the first is the shorter.
fn common(short: &[u32], long: &[u32]) -> Vec<u32> {
    let mut rest = long;
    let mut out = Vec::new();
    for &doc in short {
        rest = &rest[gallop(rest, doc)..];
        if rest.first() == Some(&doc) {
            out.push(doc);
        }
    }
    out
}

/// Chunks with the runs of `piece` one after the other.
fn sequence(asked: &Asked<'_>, piece: &str, known: Option<&[u32]>) -> Result<Vec<u32>, IndexError> {
    let runs: Vec<&str> = piece.split(' ').collect();
    let last = runs.len() - 1;
    let vocabulary = asked.vocabulary();
    // Whole runs first, the rarest first: most queries are nowhere, and this is where it shows.
    let frequency = |run: &str| vocabulary.find(run).map_or(0, |ordinal| vocabulary.info(ordinal).doc_freq);
    let mut order: Vec<usize> = (1..last).collect();
    order.sort_by_key(|&at| if is_paired(runs[at]) { u32::MAX } else { frequency(runs[at]) });
    order.extend([last, 0]);
    let mut places: Vec<Vec<Place>> = vec![Vec::new(); runs.len()];
    let mut within: Option<Vec<u32>> = known.map(<[u32]>::to_vec);
    for at in order {
        let found = run_places(asked, runs[at], at == 0, at == last, within.as_deref())?;
        let mut docs: Vec<u32> = found.iter().map(|place| place.0).collect();
        docs.dedup();
        places[at] = found;
        if docs.is_empty() {
            return Ok(docs);
        }
        within = Some(docs);
    }
    // Each run has to begin where the one before it ends.
    let mut ends: Vec<(u32, u32)> = places[0].iter().map(|&(doc, _, end)| (doc, end)).collect();
    for next in &places[1..] {
        ends.sort_unstable();
        ends.dedup();
        ends = next.iter().filter(|(doc, start, _)| ends.binary_search(&(*doc, *start)).is_ok()).map(|&(doc, _, end)| (doc, end)).collect();
    }
    let mut docs: Vec<u32> = ends.into_iter().map(|(doc, _)| doc).collect();
    docs.sort_unstable();
    docs.dedup();
    Ok(docs)
}

/// Notes the postings of all runs as wanted, so that they come in one round instead of one after the other.
fn announce(asked: &Asked<'_>, piece: &str) -> Result<(), IndexError> {
    let last = piece.split(' ').count() - 1;
    for (at, run) in piece.split(' ').enumerate() {
        for ordinal in plain_words(asked, run, at == 0, at == last) {
            asked.postings(ordinal)?;
        }
    }
    Ok(())
}

/// Words of the vocabulary that can be this run where runs are not stored as pairs.
fn plain_words(asked: &Asked<'_>, run: &str, open_start: bool, open_end: bool) -> Vec<u32> {
    if run.chars().any(is_unspaced) || (is_paired(run) && !open_start && !open_end) {
        return Vec::new();
    }
    let vocabulary = asked.vocabulary();
    let mut words: Vec<u32> = match (open_start, open_end) {
        (true, _) => vocabulary.with_suffix(run),
        (_, true) => vocabulary.with_prefix(run).collect(),
        _ => vocabulary.find(run).into_iter().collect(),
    };
    words.retain(|&ordinal| {
        let word = std::str::from_utf8(vocabulary.word(ordinal));
        word.is_ok_and(|word| !word.starts_with(PAIR_MARK) && !is_paired(word))
    });
    words
}

/// Places of a run, sorted by chunk. With `open_start` it may begin, with `open_end` it may end inside a longer run.
fn run_places(asked: &Asked<'_>, run: &str, open_start: bool, open_end: bool, within: Option<&[u32]>) -> Result<Vec<Place>, IndexError> {
    let mut places = Vec::new();
    for ordinal in plain_words(asked, run, open_start, open_end) {
        for (doc, slot) in slots(asked, ordinal, within)? {
            places.push((doc, slot, slot + 1));
        }
    }
    if open_start || open_end || is_paired(run) {
        places.extend(pairs(asked, run, !open_end, within)?);
    }
    places.sort_unstable();
    Ok(places)
}

/// Places of a run among runs stored as pairs. With `closed` the run has to end there.
fn pairs(asked: &Asked<'_>, run: &str, closed: bool, within: Option<&[u32]>) -> Result<Vec<Place>, IndexError> {
    let vocabulary = asked.vocabulary();
    let chars: Vec<char> = run.chars().collect();
    let mut wanted: Vec<Vec<u32>> = Vec::new();
    for (at, &first) in chars.iter().enumerate() {
        let second = chars.get(at + 1).copied();
        if second.is_none() && !closed && at > 0 {
            break;
        }
        if second.is_none() && !closed {
            // A single character, with anything after it.
            let prefixes = [first.to_string(), format!("{PAIR_MARK}{first}")];
            let of_two = |ordinal: &u32| {
                let word = std::str::from_utf8(vocabulary.word(*ordinal)).unwrap_or_default();
                let bare = word.strip_prefix(PAIR_MARK).unwrap_or(word);
                bare.chars().count() == 2 && (word.len() > bare.len() || is_paired(word))
            };
            wanted.push(prefixes.iter().flat_map(|prefix| vocabulary.with_prefix(prefix)).filter(of_two).collect());
            continue;
        }
        match vocabulary.find(&pair(first, second)) {
            Some(ordinal) => wanted.push(vec![ordinal]),
            None => return Ok(Vec::new()),
        }
    }
    // All that is missing comes in one round; below, one pair after the other would ask for it.
    for &ordinal in wanted.iter().flatten() {
        asked.postings(ordinal)?;
    }
    if asked.missing.get() {
        return Ok(Vec::new());
    }
    // Rarest first, so that later lists are looked at in few chunks only.
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&at| wanted[at].iter().map(|&ordinal| u64::from(vocabulary.info(ordinal).doc_freq)).sum::<u64>());
    let mut starts: Option<Vec<(u32, u32)>> = None;
    for at in order {
        let mut docs: Option<Vec<u32>> = starts.as_ref().map(|starts| starts.iter().map(|place| place.0).collect());
        if let Some(docs) = &mut docs {
            docs.dedup();
        }
        let mut found: Vec<(u32, u32)> = Vec::new();
        for &ordinal in &wanted[at] {
            let places = slots(asked, ordinal, docs.as_deref().or(within))?;
            found.extend(places.into_iter().filter_map(|(doc, slot)| Some((doc, slot.checked_sub(at as u32)?))));
        }
        found.sort_unstable();
        found.dedup();
        if let Some(starts) = &starts {
            found.retain(|place| starts.binary_search(place).is_ok());
        }
        if found.is_empty() {
            return Ok(Vec::new());
        }
        starts = Some(found);
    }
    let length = chars.len() as u32;
    Ok(starts.unwrap_or_default().into_iter().map(|(doc, start)| (doc, start, start + length)).collect())
}

/// Where a word stands as a whole: chunk and slot, for all chunks or those of `within` (sorted).
fn slots(asked: &Asked<'_>, ordinal: u32, within: Option<&[u32]>) -> Result<Vec<(u32, u32)>, IndexError> {
    let Some(mut postings) = asked.postings(ordinal)? else {
        return Ok(Vec::new());
    };
    let mut out = Vec::new();
    let mut positions = Vec::new();
    let mut take = |postings: &mut SegmentPostings| {
        let doc = postings.doc();
        postings.positions(&mut positions);
        out.extend(positions.iter().filter(|position| *position % 2 == 0).map(|position| (doc, position / 2)));
    };
    match within {
        None => {
            while postings.doc() != TERMINATED {
                take(&mut postings);
                postings.advance();
            }
        }
        Some(docs) => {
            for &doc in docs {
                if postings.doc() > doc {
                    continue;
                }
                match postings.seek(doc) {
                    TERMINATED => break,
                    found if found == doc => take(&mut postings),
                    _ => {}
                }
            }
        }
    }
    Ok(out)
}
