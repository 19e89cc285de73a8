//! Fonts: what a code means, how far it moves, and how the font looks by its own word.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use hayro_cmap::{BfString, CMap, CidFamily};
use hayro_font::{CMapResolverFn, Font, FontCache, FontGlyph, FontResolverFn};
use hayro_syntax::object::dict::keys::{
    BASE_FONT, DESCENDANT_FONTS, ENCODING, FLAGS, FONT_DESC, FONT_WEIGHT, ITALIC_ANGLE, ORDERING, REGISTRY, SUBTYPE, TO_UNICODE, TYPE0,
};
use hayro_syntax::object::{self, Array, Dict, Name, Stream};

use crate::to_unicode;

/// How a font looks, by its name and descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FontInfo {
    /// PostScript name without the subset prefix.
    pub name: String,
    /// Bold by name, weight (from 600) or flag.
    pub bold: bool,
    /// Italic or oblique by name, angle or flag.
    pub italic: bool,
    /// All glyphs of one width, by name or flag.
    pub monospace: bool,
}

const FLAG_FIXED_PITCH: u32 = 1;
const FLAG_ITALIC: u32 = 1 << 6;
const FLAG_FORCE_BOLD: u32 = 1 << 18;

impl FontInfo {
    fn of(dict: &Dict<'_>) -> Self {
        let descendant = dict.get::<Array<'_>>(DESCENDANT_FONTS).and_then(|fonts| fonts.iter::<Dict<'_>>().next());
        let descriptor = descendant.as_ref().and_then(|d| d.get::<Dict<'_>>(FONT_DESC)).or_else(|| dict.get::<Dict<'_>>(FONT_DESC));
        let full = dict.get::<Name<'_>>(BASE_FONT).map(|name| name.as_str().to_owned()).unwrap_or_default();
        let name = match full.split_once('+') {
            Some((prefix, rest)) if prefix.len() == 6 && prefix.bytes().all(|b| b.is_ascii_uppercase()) => rest.to_owned(),
            _ => full,
        };
        let lower = name.to_ascii_lowercase();
        let flags = descriptor.as_ref().and_then(|d| d.get::<u32>(FLAGS)).unwrap_or(0);
        let weight = descriptor.as_ref().and_then(|d| d.get::<f32>(FONT_WEIGHT)).unwrap_or(400.0);
        let angle = descriptor.as_ref().and_then(|d| d.get::<f32>(ITALIC_ANGLE)).unwrap_or(0.0);
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        Self {
            bold: weight >= 600.0
                || flags & FLAG_FORCE_BOLD != 0
                || says(&["bold", "black", "heavy", "semibold", "demi"])
                // The TeX families name their bold cuts by abbreviation.
                || says(&["cmbx", "cmssbx", "sfbx", "ecbx", "-medi", "nimbusromno9l-medi"])
                || lower.ends_with("-bd")
                || lower.ends_with(",bold"),
            italic: flags & FLAG_ITALIC != 0 || angle.abs() > 1.0 || says(&["italic", "oblique", "cmti", "cmsl", "-ital"]),
            monospace: flags & FLAG_FIXED_PITCH != 0 || says(&["mono", "courier", "consolas", "cmtt", "typewriter", "nimbusmon"]),
            name,
        }
    }
}

/// A font in use: its look, and its codes read once.
pub(crate) struct LoadedFont<'a> {
    pub(crate) font: Font<'a>,
    pub(crate) index: usize,
    by_cid: Option<Rc<HashMap<u32, char>>>,
    by_code: HashMap<u32, Rc<str>>,
    texts: RefCell<HashMap<u32, Option<Rc<str>>>>,
}

impl LoadedFont<'_> {
    /// The characters of a code; `None` when the font does not say.
    pub(crate) fn text(&self, code: u32) -> Option<Rc<str>> {
        if let Some(known) = self.texts.borrow().get(&code) {
            return known.clone();
        }
        let unicode = match self.font.glyph(self.font.map_code(code), code) {
            FontGlyph::Outline(glyph) => glyph.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        let text: Option<Rc<str>> = match unicode {
            Some(BfString::Char(c)) => Some(c).filter(|c| !is_nothing(*c)).map(|c| Rc::from(c.to_string().as_str())),
            Some(BfString::String(s)) => Some(s).filter(|s| !s.chars().all(is_nothing)).map(|s| Rc::from(s.as_str())),
            None => None,
        }
        .or_else(|| self.by_code.get(&code).cloned())
        .or_else(|| self.by_cid.as_ref().and_then(|map| map.get(&code)).map(|c| Rc::from(c.to_string().as_str())));
        self.texts.borrow_mut().insert(code, text.clone());
        text
    }
}

fn is_nothing(c: char) -> bool {
    c == '\0' || c == '\u{fffd}'
}

/// All fonts of a document.
pub(crate) struct Fonts<'a> {
    cache: FontCache<'a>,
    resolver: FontResolverFn,
    cmaps: CMapResolverFn,
    loaded: HashMap<u128, Option<Rc<LoadedFont<'a>>>>,
    by_family: HashMap<&'static str, Rc<HashMap<u32, char>>>,
    pub(crate) infos: Vec<FontInfo>,
}

impl<'a> Fonts<'a> {
    pub(crate) fn new() -> Self {
        Self {
            cache: FontCache::new(),
            resolver: Arc::new(|query| match query {
                hayro_font::FontQuery::Standard(font) => Some(font.get_font_data()),
                hayro_font::FontQuery::Fallback(font) => Some(font.pick_standard_font().get_font_data()),
            }),
            cmaps: Arc::new(hayro_cmap::load_embedded),
            loaded: HashMap::new(),
            by_family: HashMap::new(),
            infos: Vec::new(),
        }
    }

    /// The font of a dictionary, loaded once.
    pub(crate) fn get(&mut self, dict: &Dict<'a>) -> Option<Rc<LoadedFont<'a>>> {
        let key = hash(dict.data());
        if let Some(known) = self.loaded.get(&key) {
            return known.clone();
        }
        let loaded = self.cache.font(dict, &self.resolver, &self.cmaps).map(|font| {
            let index = self.infos.len();
            self.infos.push(FontInfo::of(dict));
            let own = dict.get::<Stream<'_>>(TO_UNICODE).and_then(|stream| stream.decoded().ok().map(|data| to_unicode::parse(&data)));
            Rc::new(LoadedFont {
                font,
                index,
                by_cid: self.collection(dict),
                by_code: own.unwrap_or_default(),
                texts: RefCell::new(HashMap::new()),
            })
        });
        self.loaded.insert(key, loaded.clone());
        loaded
    }

    /// CID → character of an embedded font with a predefined collection, an identity encoding and no `ToUnicode`.
    fn collection(&mut self, dict: &Dict<'a>) -> Option<Rc<HashMap<u32, char>>> {
        if dict.contains_key(TO_UNICODE) || dict.get::<Name<'_>>(SUBTYPE)?.as_ref() != TYPE0 {
            return None;
        }
        if !dict.get::<Name<'_>>(ENCODING)?.as_str().starts_with("Identity") {
            return None;
        }
        let descendant = dict.get::<Array<'_>>(DESCENDANT_FONTS)?.iter::<Dict<'_>>().next()?;
        let info = descendant.get::<Dict<'_>>("CIDSystemInfo")?;
        let registry = info.get::<object::String<'_>>(REGISTRY)?;
        let ordering = info.get::<object::String<'_>>(ORDERING)?;
        let family = CidFamily::from_registry_ordering(registry.as_bytes(), ordering.as_bytes());
        let name = match ordering.as_bytes() {
            b"GB1" => "GB1",
            b"CNS1" => "CNS1",
            b"Japan1" => "Japan1",
            b"Korea1" | b"KR" => "Korea1",
            _ => return None,
        };
        if let Some(known) = self.by_family.get(name) {
            return Some(known.clone());
        }
        let cmap = CMap::parse((self.cmaps)(family.unicode_cmap()?)?, hayro_cmap::load_embedded)?;
        let mut map = HashMap::new();
        for code in 0x20..=0xffffu32 {
            let (Some(c), Some(cid)) = (char::from_u32(code), cmap.lookup_cid_code(code, 2)) else { continue };
            if cid != 0 {
                map.entry(cid).or_insert(c);
            }
        }
        let map = Rc::new(map);
        self.by_family.insert(name, map.clone());
        Some(map)
    }
}

/// A key for a dictionary's bytes.
fn hash(bytes: &[u8]) -> u128 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut one = DefaultHasher::new();
    bytes.hash(&mut one);
    let mut two = DefaultHasher::new();
    (bytes, 1u8).hash(&mut two);
    (u128::from(one.finish()) << 64) | u128::from(two.finish())
}
