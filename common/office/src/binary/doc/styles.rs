//! The style sheet ([MS-DOC] 2.9.271).

use std::collections::BTreeSet;

use quarry_document::flow::Purpose;

use super::sprm;
use crate::binary::numbers::{part, u16_at, utf16};

/// Style numbers below this are headings 1 to 9; 0 is ordinary text (2.9.260 `sti`).
const LAST_HEADING: u16 = 9;

/// A style by itself.
#[derive(Debug, Default, Clone)]
struct Style {
    based_on: Option<u16>,
    number: u16,
    name: String,
    outline: Option<u8>,
    list: Option<i16>,
    list_level: Option<u8>,
    bold: Option<bool>,
    hidden: Option<bool>,
}

/// A style with what it inherits.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resolved {
    pub purpose: Purpose,
    /// From 1.
    pub heading: Option<u32>,
    pub list: Option<i16>,
    pub list_level: Option<u8>,
    pub bold: bool,
    pub hidden: bool,
}

/// All styles by number.
#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: Vec<Option<Style>>,
}

impl Styles {
    pub(super) fn read(sheet: &[u8]) -> Self {
        let head = usize::from(u16_at(sheet, 0).unwrap_or_default());
        let base = usize::from(u16_at(sheet, 4).unwrap_or(10));
        let mut at = head.saturating_add(2);
        let mut styles = Vec::new();
        while let Some(length) = u16_at(sheet, at) {
            let definition = part(sheet, at.saturating_add(2), usize::from(length));
            styles.push((length > 0).then(|| Style::read(definition, base)).flatten());
            at = at.saturating_add(2).saturating_add(usize::from(length));
        }
        Self { styles }
    }

    /// A style with everything it inherits.
    pub(super) fn get(&self, number: u16) -> Resolved {
        let mut out = Resolved::default();
        let (mut bold, mut hidden, mut outline) = (None, None, None);
        let mut seen = BTreeSet::new();
        let mut next = Some(number);
        while let Some(number) = next.filter(|number| seen.insert(*number)) {
            let Some(style) = self.styles.get(usize::from(number)).and_then(Option::as_ref) else { break };
            let heading = (1..=LAST_HEADING).contains(&style.number).then(|| u32::from(style.number));
            // Level 9 says: ordinary text, whatever was inherited.
            let own = style.outline.map(|level| if level < 9 { Some(u32::from(level).saturating_add(1)) } else { None });
            outline = outline.or(own).or(heading.map(Some));
            if out.purpose == Purpose::Text {
                out.purpose = style.purpose();
            }
            out.list = out.list.or(style.list);
            out.list_level = out.list_level.or(style.list_level);
            bold = bold.or(style.bold);
            hidden = hidden.or(style.hidden);
            next = style.based_on;
        }
        out.heading = outline.flatten();
        (out.bold, out.hidden) = (bold.unwrap_or_default(), hidden.unwrap_or_default());
        out
    }
}

impl Style {
    fn read(definition: &[u8], base: usize) -> Option<Self> {
        let number = u16_at(definition, 0)? & 0x0fff;
        let kind = u16_at(definition, 2)?;
        let lists = u16_at(definition, 4)? & 0x000f;
        let letters = usize::from(u16_at(definition, base)?);
        let name = utf16(part(definition, base.saturating_add(2), letters.saturating_mul(2)));
        let based_on = Some(kind >> 4).filter(|number| *number != 0x0fff);
        let mut style = Self { based_on, number, name: name.to_lowercase(), ..Self::default() };
        let mut at = base.saturating_add(4).saturating_add(letters.saturating_mul(2));
        for index in 0..lists {
            let Some(length) = u16_at(definition, at) else { break };
            let list = part(definition, at.saturating_add(2), usize::from(length));
            // A paragraph style holds the properties of its paragraphs, behind its own number, then of its characters.
            let list = if kind & 0x000f == 1 && index == 0 { part(list, 2, usize::MAX) } else { list };
            style.take(list);
            at = at.saturating_add(2).saturating_add(usize::from(length));
            at = at.saturating_add(at & 1);
        }
        Some(style)
    }

    fn take(&mut self, list: &[u8]) {
        for sprm in sprm::sprms(list) {
            match sprm.code {
                sprm::OUTLINE => self.outline = Some(sprm.byte()),
                sprm::LIST => self.list = Some(sprm.short()),
                sprm::LIST_LEVEL => self.list_level = Some(sprm.byte()),
                sprm::BOLD => self.bold = Some(sprm.byte() == 1),
                sprm::HIDDEN => self.hidden = Some(sprm.byte() == 1),
                _ => {}
            }
        }
    }

    /// By its number, which is the same in every language; else by its name.
    fn purpose(&self) -> Purpose {
        match self.number {
            62 => Purpose::Title,
            34 => Purpose::Caption,
            35 => Purpose::ContentsOther,
            19..=27 => Purpose::Contents(u32::from(self.number).saturating_sub(18)),
            _ => Purpose::of(&self.name),
        }
    }
}
