//! The embedded outline: titles with level, page and height.

use std::collections::HashSet;

use hayro_syntax::object::{Array, Dict, MaybeRef, Name, Object, ObjectIdentifier, String as PdfString};
use hayro_syntax::transform::Transform;
use hayro_syntax::xref::XRef;

/// Most entries that are read.
const MAX_ENTRIES: usize = 50_000;

/// One entry of the outline.
#[derive(Debug, Clone, PartialEq)]
pub struct OutlineEntry {
    /// As written, white space folded.
    pub title: String,
    /// From 1.
    pub level: u32,
    /// Page, from 1, when it points at one.
    pub page: Option<usize>,
    /// Height on that page in points from the top, when it says.
    pub y: Option<f32>,
}

type PlaceOf<'p> = dyn Fn(usize) -> Option<(Transform, (f32, f32))> + 'p;

/// Walks the outline in reading order, without recursion and each item once.
pub(crate) fn read_outline(xref: &XRef, pages: &[Option<ObjectIdentifier>], place: &PlaceOf<'_>) -> Vec<OutlineEntry> {
    let mut entries = Vec::new();
    let Some(catalog) = xref.get::<Dict<'_>>(xref.root_id()) else { return entries };
    let Some(root) = catalog.get::<Dict<'_>>("Outlines") else { return entries };
    let mut seen = HashSet::new();
    let mut stack: Vec<(ObjectIdentifier, u32)> = Vec::new();
    let reference = |dict: &Dict<'_>, key: &str| dict.get_ref(key).map(ObjectIdentifier::from);
    stack.extend(reference(&root, "First").map(|first| (first, 1)));
    while let Some((id, level)) = stack.pop() {
        if !seen.insert((id.obj_number, id.gen_number)) || entries.len() >= MAX_ENTRIES {
            continue;
        }
        let Some(item) = xref.get::<Dict<'_>>(id) else { continue };
        stack.extend(reference(&item, "Next").map(|next| (next, level)));
        stack.extend(reference(&item, "First").map(|first| (first, level.saturating_add(1))));
        let title = item.get::<PdfString<'_>>("Title").map(|title| text_string(title.as_bytes())).unwrap_or_default();
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            continue;
        }
        let target = destination(&item, &catalog);
        let page = target.as_ref().and_then(|array| page_of(array, pages));
        let y = page.and_then(|page| height(target.as_ref()?, page.checked_sub(1)?, place));
        entries.push(OutlineEntry { title, level, page, y });
    }
    entries
}

/// The destination array of an item: direct, by an action, or by name.
fn destination<'a>(item: &Dict<'a>, catalog: &Dict<'a>) -> Option<Array<'a>> {
    let object = item.get::<Object<'_>>("Dest").or_else(|| {
        let action = item.get::<Dict<'_>>("A")?;
        (action.get::<Name<'_>>("S")?.as_str() == "GoTo").then(|| action.get::<Object<'_>>("D"))?
    })?;
    resolve(object, catalog)
}

fn resolve<'a>(object: Object<'a>, catalog: &Dict<'a>) -> Option<Array<'a>> {
    let name: Vec<u8> = match object {
        Object::Array(array) => return Some(array),
        Object::Dict(dict) => return dict.get::<Array<'_>>("D"),
        Object::Name(name) => name.as_ref().to_vec(),
        Object::String(string) => string.as_bytes().to_vec(),
        _ => return None,
    };
    let found = catalog
        .get::<Dict<'_>>("Dests")
        .and_then(|old| old.get::<Object<'_>>(name.as_slice()))
        .or_else(|| lookup(catalog.get::<Dict<'_>>("Names")?.get::<Dict<'_>>("Dests")?, &name))?;
    match found {
        Object::Array(array) => Some(array),
        Object::Dict(dict) => dict.get::<Array<'_>>("D"),
        _ => None,
    }
}

/// Looks a name up in a name tree. Trees are wide and shallow; a bound on the nodes visited ends any loop.
fn lookup<'a>(root: Dict<'a>, name: &[u8]) -> Option<Object<'a>> {
    let mut nodes = vec![root];
    let mut visited = 0u32;
    while let Some(node) = nodes.pop() {
        visited = visited.saturating_add(1);
        if visited > 10_000 {
            return None;
        }
        if let Some(names) = node.get::<Array<'_>>("Names") {
            let mut items = names.iter::<Object<'_>>();
            while let (Some(key), Some(value)) = (items.next(), items.next()) {
                if matches!(&key, Object::String(key) if key.as_bytes() == name) {
                    return Some(value);
                }
            }
        }
        let Some(kids) = node.get::<Array<'_>>("Kids") else { continue };
        for kid in kids.iter::<Dict<'_>>() {
            let within = kid.get::<Array<'_>>("Limits").is_none_or(|limits| {
                let mut ends = limits.iter::<PdfString<'_>>();
                match (ends.next(), ends.next()) {
                    (Some(low), Some(high)) => name >= low.as_bytes() && name <= high.as_bytes(),
                    _ => true,
                }
            });
            if within {
                nodes.push(kid);
            }
        }
    }
    None
}

/// The page (from 1) of a destination array.
fn page_of(array: &Array<'_>, pages: &[Option<ObjectIdentifier>]) -> Option<usize> {
    match array.raw_iter().next()? {
        MaybeRef::Ref(reference) => {
            let id = ObjectIdentifier::from(reference);
            pages.iter().position(|page| *page == Some(id)).and_then(|index| index.checked_add(1))
        }
        MaybeRef::NotRef(Object::Number(number)) => {
            let index = usize::try_from(number.as_i64()).ok()?;
            (index < pages.len()).then(|| index.saturating_add(1))
        }
        MaybeRef::NotRef(_) => None,
    }
}

/// The height a destination names, for the kinds that name one.
fn height(array: &Array<'_>, page: usize, place: &PlaceOf<'_>) -> Option<f32> {
    let items: Vec<Object<'_>> = array.iter::<Object<'_>>().collect();
    let kind = items.iter().find_map(|item| if let Object::Name(name) = item { Some(name.as_str().to_owned()) } else { None })?;
    let numbers: Vec<Option<f32>> = items
        .iter()
        .skip_while(|item| !matches!(item, Object::Name(_)))
        .skip(1)
        .map(|item| if let Object::Number(number) = item { Some(number.as_f32()) } else { None })
        .collect();
    let (x, y) = match kind.as_str() {
        "XYZ" => (numbers.first().copied().flatten().unwrap_or(0.0), numbers.get(1).copied().flatten()?),
        "FitH" | "FitBH" => (0.0, numbers.first().copied().flatten()?),
        "FitR" => (numbers.first().copied().flatten().unwrap_or(0.0), numbers.get(3).copied().flatten()?),
        _ => return None,
    };
    let (transform, (_, page_height)) = place(page)?;
    let [_, b, _, d, _, f] = transform.as_coeffs();
    let shown = b as f32 * x + d as f32 * y + f as f32;
    Some(shown.clamp(0.0, page_height))
}

/// A PDF text string: UTF-16 with a mark, UTF-8 with a mark, else `PDFDocEncoding`.
pub(crate) fn text_string(bytes: &[u8]) -> String {
    if let Some(rest) = bytes.strip_prefix(&[0xfe, 0xff]) {
        let units: Vec<u16> = rest.chunks_exact(2).filter_map(|pair| Some(u16::from_be_bytes([*pair.first()?, *pair.get(1)?]))).collect();
        return without_language_marks(&String::from_utf16_lossy(&units));
    }
    if let Some(rest) = bytes.strip_prefix(&[0xff, 0xfe]) {
        let units: Vec<u16> = rest.chunks_exact(2).filter_map(|pair| Some(u16::from_le_bytes([*pair.first()?, *pair.get(1)?]))).collect();
        return without_language_marks(&String::from_utf16_lossy(&units));
    }
    if let Some(rest) = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]) {
        return String::from_utf8_lossy(rest).into_owned();
    }
    bytes.iter().map(|byte| doc_encoding(*byte)).collect()
}

/// Escape sequences that name a language stand between two U+001B.
fn without_language_marks(text: &str) -> String {
    let mut inside = false;
    text.chars()
        .filter(|c| {
            if *c == '\u{1b}' {
                inside = !inside;
                return false;
            }
            !inside
        })
        .collect()
}

/// `PDFDocEncoding`, ISO 32000-1 annex D.2: Latin-1 but for these.
fn doc_encoding(byte: u8) -> char {
    match byte {
        0x18 => '\u{02d8}',
        0x19 => '\u{02c7}',
        0x1a => '\u{02c6}',
        0x1b => '\u{02d9}',
        0x1c => '\u{02dd}',
        0x1d => '\u{02db}',
        0x1e => '\u{02da}',
        0x1f => '\u{02dc}',
        0x80 => '\u{2022}',
        0x81 => '\u{2020}',
        0x82 => '\u{2021}',
        0x83 => '\u{2026}',
        0x84 => '\u{2014}',
        0x85 => '\u{2013}',
        0x86 => '\u{0192}',
        0x87 => '\u{2044}',
        0x88 => '\u{2039}',
        0x89 => '\u{203a}',
        0x8a => '\u{2212}',
        0x8b => '\u{2030}',
        0x8c => '\u{201e}',
        0x8d => '\u{201c}',
        0x8e => '\u{201d}',
        0x8f => '\u{2018}',
        0x90 => '\u{2019}',
        0x91 => '\u{201a}',
        0x92 => '\u{2122}',
        0x93 => '\u{fb01}',
        0x94 => '\u{fb02}',
        0x95 => '\u{0141}',
        0x96 => '\u{0152}',
        0x97 => '\u{0160}',
        0x98 => '\u{0178}',
        0x99 => '\u{017d}',
        0x9a => '\u{0131}',
        0x9b => '\u{0142}',
        0x9c => '\u{0153}',
        0x9d => '\u{0161}',
        0x9e => '\u{017e}',
        0xa0 => '\u{20ac}',
        other => char::from(other),
    }
}
