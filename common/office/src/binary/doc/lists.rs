//! Numbers in front of paragraphs: lists ([MS-DOC] 2.9.131), their levels (2.9.150), their overrides (2.9.132).

use std::collections::BTreeMap;

use quarry_document::flow::{Label, Suffix};
use quarry_document::numbering::numerals;

use crate::binary::numbers::{i32_at, part, u16_at, u32_at};

/// Levels of a list.
const LEVELS: usize = 9;
/// Size of a list's head, of a level's head, of an override's head.
const LIST_HEAD: usize = 28;
const LEVEL_HEAD: usize = 28;
const OVERRIDE_HEAD: usize = 16;

#[derive(Debug, Clone, Default)]
struct Level {
    start: i32,
    format: u8,
    no_suffix: bool,
    /// As shown; a code below nine stands for the number of that level.
    text: Vec<u16>,
}

/// All lists, and where they have come to.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// By the number of the list.
    levels: BTreeMap<u32, Vec<Level>>,
    /// By the number that paragraphs name, less one: which list, and levels that begin elsewhere.
    overrides: Vec<(u32, BTreeMap<usize, i32>)>,
    counters: BTreeMap<u32, [Option<i32>; LEVELS]>,
    /// Overrides whose beginnings were used.
    begun: std::collections::BTreeSet<(i16, usize)>,
}

impl Lists {
    /// `lists` reaches to the end of the stream, for the levels stand behind the table of lists.
    pub(super) fn read(lists: &[u8], overrides: &[u8]) -> Self {
        let mut out = Self::default();
        let count = usize::from(u16_at(lists, 0).unwrap_or_default());
        let mut at = count.saturating_mul(LIST_HEAD).saturating_add(2);
        for index in 0..count {
            let head = part(lists, index.saturating_mul(LIST_HEAD).saturating_add(2), LIST_HEAD);
            let Some(id) = u32_at(head, 0) else { break };
            let simple = head.get(26).is_some_and(|flags| flags & 1 != 0);
            let mut levels = Vec::new();
            for _ in 0..if simple { 1 } else { LEVELS } {
                let Some((level, length)) = level(part(lists, at, usize::MAX)) else { break };
                levels.push(level);
                at = at.saturating_add(length);
            }
            out.levels.insert(id, levels);
        }
        let count = u32_at(overrides, 0).unwrap_or_default() as usize;
        let mut at = count.saturating_mul(OVERRIDE_HEAD).saturating_add(4);
        for index in 0..count {
            let head = part(overrides, index.saturating_mul(OVERRIDE_HEAD).saturating_add(4), OVERRIDE_HEAD);
            let Some(id) = u32_at(head, 0) else { break };
            let mut starts = BTreeMap::new();
            at = at.saturating_add(4);
            for _ in 0..head.get(12).copied().unwrap_or_default() {
                let one = part(overrides, at, usize::MAX);
                let (Some(start), Some(flags)) = (i32_at(one, 0), u32_at(one, 4)) else { break };
                at = at.saturating_add(8);
                if flags & 0x10 != 0 {
                    starts.insert((flags & 0xf) as usize, start);
                }
                if flags & 0x20 != 0 {
                    let Some((own, length)) = level(part(overrides, at, usize::MAX)) else { break };
                    if flags & 0x10 != 0 {
                        starts.insert((flags & 0xf) as usize, own.start);
                    }
                    at = at.saturating_add(length);
                }
            }
            out.overrides.push((id, starts));
        }
        out
    }

    /// The label of the next paragraph that names `list` and `level`.
    pub(super) fn label(&mut self, list: i16, level: u8) -> Option<Label> {
        let (id, starts) = usize::try_from(list).ok().and_then(|list| list.checked_sub(1)).and_then(|list| self.overrides.get(list))?;
        let levels = self.levels.get(id)?;
        let level = usize::from(level).min(LEVELS.saturating_sub(1)).min(levels.len().checked_sub(1)?);
        let own = levels.get(level)?;
        let counters = self.counters.entry(*id).or_default();
        let fresh = starts.get(&level).filter(|_| self.begun.insert((list, level)));
        let slot = counters.get_mut(level)?;
        *slot = match (fresh, *slot) {
            (Some(start), _) => Some(*start),
            (None, Some(last)) => Some(last.saturating_add(1)),
            (None, None) => Some(own.start),
        };
        for deeper in counters.iter_mut().skip(level.saturating_add(1)) {
            *deeper = None;
        }
        let suffix = if own.no_suffix { Suffix::Nothing } else { Suffix::Space };
        if own.format == 23 {
            return Some(Label { text: "•".to_owned(), suffix, bullet: true, level });
        }
        let mut text = String::new();
        for unit in char::decode_utf16(own.text.iter().copied()) {
            let unit = unit.unwrap_or(char::REPLACEMENT_CHARACTER);
            match (unit as usize, levels.get(unit as usize)) {
                (place, Some(named)) if place < LEVELS => {
                    let number = counters.get(place).copied().flatten().unwrap_or(named.start);
                    text.push_str(&numerals::format(i64::from(number), format(named.format)));
                }
                (place, _) if place < LEVELS => {}
                _ => text.push(unit),
            }
        }
        (!text.trim().is_empty()).then_some(Label { text, suffix, bullet: false, level })
    }
}

/// A level, and how many bytes it takes.
fn level(bytes: &[u8]) -> Option<(Level, usize)> {
    let start = i32_at(bytes, 0)?;
    let format = *bytes.get(4)?;
    let no_suffix = *bytes.get(15)? == 2;
    let properties = usize::from(*bytes.get(24)?).saturating_add(usize::from(*bytes.get(25)?));
    let at = LEVEL_HEAD.saturating_add(properties);
    let letters = usize::from(u16_at(bytes, at)?);
    let text = part(bytes, at.saturating_add(2), letters.saturating_mul(2));
    let text = (0..letters).map_while(|index| u16_at(text, index.saturating_mul(2))).collect();
    Some((Level { start, format, no_suffix, text }, at.saturating_add(2).saturating_add(letters.saturating_mul(2))))
}

/// The name that DOCX gives a format of numbers ([MS-OSHARED] 2.2.1.3 `MSONFC`).
fn format(number: u8) -> &'static str {
    match number {
        1 => "upperRoman",
        2 => "lowerRoman",
        3 => "upperLetter",
        4 => "lowerLetter",
        5 => "ordinal",
        6 => "cardinalText",
        7 => "ordinalText",
        8 => "hex",
        9 => "chicago",
        10 => "ideographDigital",
        11 => "japaneseCounting",
        12 => "aiueo",
        13 => "iroha",
        14 => "decimalFullWidth",
        18 => "decimalEnclosedCircle",
        22 => "decimalZero",
        24 => "ganada",
        25 => "chosung",
        26 => "decimalEnclosedFullstop",
        27 => "decimalEnclosedParen",
        30 => "ideographTraditional",
        31 => "ideographZodiac",
        33 => "taiwaneseCounting",
        35 => "taiwaneseCountingThousand",
        37 => "chineseCounting",
        38 => "chineseLegalSimplified",
        39 => "chineseCountingThousand",
        41 => "koreanDigital",
        42 => "koreanCounting",
        45 => "hebrew2",
        46 => "arabicAlpha",
        53 => "thaiNumbers",
        57 => "numberInDash",
        58 => "russianLower",
        59 => "russianUpper",
        255 => "none",
        _ => "decimal",
    }
}
