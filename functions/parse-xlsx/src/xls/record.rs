//! Records, and texts that run over several of them.

use encoding_rs::Encoding;

use crate::bytes::{u16_at, wide};

/// Goes on with the record before it.
pub(super) const CONTINUE: u16 = 0x3c;
pub(super) const BOF: u16 = 0x809;
pub(super) const EOF: u16 = 0x0a;

/// One record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'s> {
    pub kind: u16,
    pub data: &'s [u8],
}

/// Records in order; ends at the first that is cut off.
#[derive(Debug, Clone)]
pub(super) struct Records<'s> {
    rest: &'s [u8],
}

impl<'s> Records<'s> {
    pub(super) fn new(stream: &'s [u8]) -> Self {
        Self { rest: stream }
    }

    /// The data of the records that continue the last one.
    pub(super) fn continued(&mut self) -> Vec<&'s [u8]> {
        let mut out = Vec::new();
        while u16_at(self.rest, 0) == Some(CONTINUE) {
            let Some(record) = self.next() else { break };
            out.push(record.data);
        }
        out
    }
}

impl<'s> Iterator for Records<'s> {
    type Item = Record<'s>;

    fn next(&mut self) -> Option<Record<'s>> {
        let kind = u16_at(self.rest, 0)?;
        let end = usize::from(u16_at(self.rest, 2)?).saturating_add(4);
        let data = self.rest.get(4..end)?;
        self.rest = self.rest.get(end..)?;
        Some(Record { kind, data })
    }
}

/// How texts are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    /// BIFF8: Unicode, with a byte of flags. Before: one code page.
    pub unicode: bool,
    pub code_page: &'static Encoding,
}

impl Dialect {
    /// A text at `at`, its length in `length_bytes` (1 or 2).
    pub(super) fn text(&self, data: &[u8], at: usize, length_bytes: usize) -> Option<String> {
        let count = if length_bytes == 1 { usize::from(*data.get(at)?) } else { usize::from(u16_at(data, at)?) };
        let at = at.checked_add(length_bytes)?;
        if !self.unicode {
            let bytes = data.get(at..)?;
            let (text, _) = self.code_page.decode_without_bom_handling(bytes.get(..count).unwrap_or(bytes));
            return Some(text.into_owned());
        }
        let mut pieces = Pieces::new(vec![data.get(at..)?]);
        pieces.rich_text(count)
    }
}

/// The data of a record and of those that continue it, read through.
#[derive(Debug)]
pub(super) struct Pieces<'s> {
    list: Vec<&'s [u8]>,
    piece: usize,
    at: usize,
}

impl<'s> Pieces<'s> {
    pub(super) fn new(pieces: Vec<&'s [u8]>) -> Self {
        Self { list: pieces, piece: 0, at: 0 }
    }

    fn rest(&self) -> &'s [u8] {
        self.list.get(self.piece).and_then(|piece| piece.get(self.at..)).unwrap_or_default()
    }

    fn next_piece(&mut self) -> bool {
        self.piece = self.piece.saturating_add(1);
        self.at = 0;
        self.piece < self.list.len()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        while self.rest().is_empty() {
            self.next_piece().then_some(())?;
        }
        let byte = self.rest().first().copied();
        self.at = self.at.saturating_add(1);
        byte
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes([self.byte()?, self.byte()?]))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes([self.byte()?, self.byte()?, self.byte()?, self.byte()?]))
    }

    fn skip(&mut self, mut count: usize) {
        while count > 0 {
            let step = self.rest().len().min(count);
            self.at = self.at.saturating_add(step);
            count = count.saturating_sub(step);
            if count > 0 && !self.next_piece() {
                return;
            }
        }
    }

    /// A text of `count` characters, with its flags before it and the runs and readings that may follow it
    /// ([MS-XLS] 2.5.293).
    pub(super) fn rich_text(&mut self, count: usize) -> Option<String> {
        let flags = self.byte()?;
        let runs = if flags & 8 != 0 { usize::from(self.u16()?) } else { 0 };
        let readings = if flags & 4 != 0 { usize::try_from(self.u32()?).ok()? } else { 0 };
        let text = self.characters(count, flags & 1 != 0);
        self.skip(runs.saturating_mul(4).saturating_add(readings));
        Some(text)
    }

    /// Characters. Where they go on in the next record, that begins with flags of its own.
    pub(super) fn characters(&mut self, mut count: usize, mut is_wide: bool) -> String {
        let mut out = String::new();
        while count > 0 {
            let rest = self.rest();
            let size = if is_wide { 2 } else { 1 };
            let here = count.min(rest.len().checked_div(size).unwrap_or_default());
            let bytes = rest.get(..here.saturating_mul(size)).unwrap_or_default();
            if is_wide {
                out.push_str(&wide(bytes));
            } else {
                // One byte a character: the lower half of UTF-16.
                out.extend(bytes.iter().map(|byte| char::from(*byte)));
            }
            count = count.saturating_sub(here);
            if count > 0 {
                if !self.next_piece() {
                    break;
                }
                is_wide = self.byte().is_some_and(|flags| flags & 1 != 0);
            }
            if here > 0 && count == 0 {
                self.at = self.at.saturating_add(bytes.len());
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_run_over_records() {
        // "abc" narrow, then "def" wide in the next record, then a run of four bytes, then a number.
        let mut pieces = Pieces::new(vec![&[8, 1, 0, b'a', b'b', b'c'], &[1, b'd', 0, b'e', 0], &[0, b'f', 9, 9, 9, 9, 7, 0]]);
        assert_eq!(pieces.rich_text(6).unwrap(), "abcdef");
        assert_eq!(pieces.u16(), Some(7));
        assert_eq!(pieces.byte(), None);
    }

    #[test]
    fn records_end_where_they_are_cut_off() {
        let stream = [9, 8, 2, 0, 1, 2, 0x3c, 0, 1, 0, 5, 10, 0, 9, 0];
        let mut records = Records::new(&stream);
        assert_eq!(records.next().map(|record| (record.kind, record.data.len())), Some((BOF, 2)));
        assert_eq!(records.continued(), [&[5_u8][..]]);
        assert!(records.next().is_none());
    }
}
