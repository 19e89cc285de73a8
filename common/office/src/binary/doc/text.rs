//! Characters and their properties: the piece table ([MS-DOC] 2.8.35) and the formatted pages (2.9.33, 2.9.174).

use quarry_model::{DocumentCode, DocumentFailure};

use crate::binary::numbers::{part, positions, u16_at, u32_at};

/// Size of a formatted page.
const PAGE: usize = 512;

/// A stretch of text as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    /// Characters before it.
    from: u32,
    to: u32,
    /// Where its first character stands in the main stream, in bytes.
    at: u32,
    /// One byte for a character instead of two.
    narrow: bool,
}

/// The pieces of the document in the order of its text.
#[derive(Debug, Default)]
pub(super) struct Text<'a> {
    main: &'a [u8],
    pieces: Vec<Piece>,
}

impl<'a> Text<'a> {
    /// Reads the piece table.
    ///
    /// Fails with `CORRUPT` when there is none.
    pub(super) fn read(main: &'a [u8], table: &[u8]) -> Result<Self, DocumentFailure> {
        let mut at = 0_usize;
        // Property lists of fast saves stand before the pieces.
        while table.get(at) == Some(&1) {
            at = at.saturating_add(3).saturating_add(usize::from(u16_at(table, at.saturating_add(1)).unwrap_or_default()));
        }
        let length = u32_at(table, at.saturating_add(1)).filter(|_| table.get(at) == Some(&2));
        let length = length.ok_or_else(|| DocumentFailure::new(DocumentCode::Corrupt, "the document's pieces are missing"))?;
        let table = part(table, at.saturating_add(5), length as usize);
        let mut pieces: Vec<Piece> = Vec::new();
        for (from, to, record) in positions(table, 8) {
            let place = u32_at(record, 2).unwrap_or_default();
            let narrow = place & 0x4000_0000 != 0;
            let at = if narrow { (place & 0x3fff_ffff) >> 1 } else { place };
            // Pieces follow one another; what does not is damage.
            if pieces.last().is_none_or(|last| last.to == from) {
                pieces.push(Piece { from, to, at, narrow });
            }
        }
        if pieces.is_empty() {
            return Err(DocumentFailure::new(DocumentCode::Corrupt, "the document has no text"));
        }
        Ok(Self { main, pieces })
    }

    /// The characters from one place to another, each with where it stands in the main stream. Ends where the stream does.
    pub(super) fn characters(&self, from: u32, to: u32) -> impl Iterator<Item = Character> + '_ {
        let first = self.pieces.partition_point(|piece| piece.to <= from);
        let pieces = self.pieces.get(first..).unwrap_or_default().iter().take_while(move |piece| piece.from < to);
        pieces.flat_map(move |piece| {
            let width = if piece.narrow { 1 } else { 2 };
            let start = piece.from.max(from);
            (start..piece.to.min(to)).map_while(move |place| {
                let at = piece.at.saturating_add(place.saturating_sub(piece.from).saturating_mul(width));
                let unit = if piece.narrow { wide(*self.main.get(at as usize)?) } else { u16_at(self.main, at as usize)? };
                Some(Character { place, at, unit })
            })
        })
    }
}

/// A UTF-16 unit of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Character {
    /// Characters before it in the document.
    pub place: u32,
    /// Its byte in the main stream.
    pub at: u32,
    pub unit: u16,
}

/// A character stored as one byte (2.9.73 `FcCompressed`): Windows-1252, where control characters are their own.
fn wide(byte: u8) -> u16 {
    const UPPER: [u16; 32] = [
        0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d, 0x017d, 0x8f, 0x90,
        0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
    ];
    byte.checked_sub(0x80).and_then(|upper| UPPER.get(usize::from(upper))).copied().unwrap_or(u16::from(byte))
}

/// Stretches of the main stream with one property list each.
#[derive(Debug, Default)]
pub(super) struct Runs<'a> {
    /// First byte, byte behind the last, properties; ascending.
    runs: Vec<(u32, u32, &'a [u8])>,
}

impl<'a> Runs<'a> {
    /// Properties of characters.
    pub(super) fn of_characters(main: &'a [u8], table: &[u8]) -> Self {
        Self::read(main, table, |page, index, runs| {
            let offset = *page.get(runs.saturating_add(1).saturating_mul(4).saturating_add(index))?;
            let at = usize::from(offset).saturating_mul(2);
            (at > 0).then(|| part(page, at.saturating_add(1), usize::from(page.get(at).copied().unwrap_or_default())))
        })
    }

    /// Properties of paragraphs: the number of their style in two bytes, then modifiers.
    pub(super) fn of_paragraphs(main: &'a [u8], table: &[u8]) -> Self {
        Self::read(main, table, |page, index, runs| {
            let offset = *page.get(runs.saturating_add(1).saturating_mul(4).saturating_add(index.saturating_mul(13)))?;
            let at = usize::from(offset).saturating_mul(2);
            let words = usize::from(*page.get(at)?);
            let (from, length) = if words == 0 {
                (at.saturating_add(2), usize::from(*page.get(at.saturating_add(1))?).saturating_mul(2))
            } else {
                (at.saturating_add(1), words.saturating_mul(2).saturating_sub(1))
            };
            (at > 0).then(|| part(page, from, length))
        })
    }

    fn read(main: &'a [u8], table: &[u8], properties: fn(&'a [u8], usize, usize) -> Option<&'a [u8]>) -> Self {
        let mut runs = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for (_, _, record) in positions(table, 4) {
            let number = u32_at(record, 0).unwrap_or_default() & 0x003f_ffff;
            if !seen.insert(number) {
                continue;
            }
            let page = part(main, (number as usize).saturating_mul(PAGE), PAGE);
            let count = usize::from(page.get(PAGE.saturating_sub(1)).copied().unwrap_or_default());
            for index in 0..count {
                let at = index.saturating_mul(4);
                let (Some(from), Some(to)) = (u32_at(page, at), u32_at(page, at.saturating_add(4))) else { break };
                if from < to {
                    runs.push((from, to, properties(page, index, count).unwrap_or_default()));
                }
            }
        }
        runs.sort_by_key(|(from, to, _)| (*from, *to));
        Self { runs }
    }

    /// The properties of a byte of the main stream, and the byte at which they end.
    pub(super) fn at(&self, byte: u32) -> (&'a [u8], u32) {
        let next = self.runs.partition_point(|(from, _, _)| *from <= byte);
        let until = self.runs.get(next).map_or(u32::MAX, |(from, _, _)| *from);
        match next.checked_sub(1).and_then(|index| self.runs.get(index)) {
            Some((_, to, properties)) if byte < *to => (properties, *to),
            _ => (&[], until),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_in_the_order_of_the_text() {
        let mut main = b"__World".to_vec();
        main.extend("Héllo ".encode_utf16().flat_map(u16::to_le_bytes));
        let mut table = vec![1, 2, 0, 9, 9, 2];
        table.extend(28_u32.to_le_bytes());
        for place in [0_u32, 6, 11] {
            table.extend(place.to_le_bytes());
        }
        for at in [7_u32, 0x4000_0000 | 4] {
            table.extend([0, 0]);
            table.extend(at.to_le_bytes());
            table.extend([0, 0]);
        }
        let text = Text::read(&main, &table).unwrap();
        let units: Vec<u16> = text.characters(0, 99).map(|character| character.unit).collect();
        assert_eq!(String::from_utf16(&units).unwrap(), "Héllo World");
        let units: Vec<u16> = text.characters(5, 8).map(|character| character.unit).collect();
        assert_eq!(String::from_utf16(&units).unwrap(), " Wo");
    }

    #[test]
    fn one_byte_characters_are_windows_1252() {
        assert_eq!([wide(0x41), wide(0x80), wide(0x93), wide(0xe9)], [0x41, 0x20ac, 0x201c, 0xe9]);
    }
}
