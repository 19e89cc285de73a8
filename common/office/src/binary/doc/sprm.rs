//! Property modifiers ([MS-DOC] 2.6): which property, and its operand.

use crate::binary::numbers::{i16_at, i32_at, part, u16_at};

/// One modifier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sprm<'a> {
    pub code: u16,
    pub operand: &'a [u8],
}

impl Sprm<'_> {
    /// The first byte of the operand.
    pub(super) fn byte(&self) -> u8 {
        self.operand.first().copied().unwrap_or_default()
    }

    /// The operand as a number of 16 bits.
    pub(super) fn short(&self) -> i16 {
        i16_at(self.operand, 0).unwrap_or_default()
    }

    /// The operand as a number of 32 bits.
    pub(super) fn long(&self) -> i32 {
        i32_at(self.operand, 0).unwrap_or_default()
    }
}

/// The modifiers of a list, up to the first that does not fit.
pub(super) fn sprms(list: &[u8]) -> impl Iterator<Item = Sprm<'_>> {
    let mut at = 0_usize;
    std::iter::from_fn(move || {
        let code = u16_at(list, at)?;
        let from = at.saturating_add(2);
        let (skip, length) = match (code >> 13, code) {
            (0 | 1, _) => (0, 1),
            (2 | 4 | 5, _) => (0, 2),
            (3, _) => (0, 4),
            (7, _) => (0, 3),
            // Table definitions count their bytes in 16 bits, and one too many.
            (_, TABLE_DEFINITION) => (2, usize::from(u16_at(list, from)?).saturating_sub(1)),
            // A change of many tabs has no length: it deletes some (with a tolerance each) and adds others.
            (_, 0xc615) if list.get(from) == Some(&255) => {
                let deleted = usize::from(*list.get(from.saturating_add(1))?);
                let added_at = from.saturating_add(2).saturating_add(deleted.saturating_mul(4));
                let added = usize::from(*list.get(added_at)?);
                (1, deleted.saturating_mul(4).saturating_add(added.saturating_mul(3)).saturating_add(2))
            }
            _ => (1, usize::from(*list.get(from)?)),
        };
        let start = from.saturating_add(skip);
        at = start.saturating_add(length);
        (at <= list.len()).then(|| Sprm { code, operand: part(list, start, length) })
    })
}

/// Codes that are read.
pub(super) const STYLE: u16 = 0x4600;
pub(super) const IN_TABLE: u16 = 0x2416;
pub(super) const ROW_END: u16 = 0x2417;
pub(super) const TABLE_DEPTH: u16 = 0x6649;
pub(super) const INNER_CELL: u16 = 0x244b;
pub(super) const INNER_ROW_END: u16 = 0x244c;
pub(super) const OUTLINE: u16 = 0x2640;
pub(super) const LIST_LEVEL: u16 = 0x260a;
pub(super) const LIST: u16 = 0x460b;
pub(super) const HUGE: u16 = 0x6646;
pub(super) const HUGE_OLD: u16 = 0x6645;
pub(super) const TABLE_DEFINITION: u16 = 0xd608;
pub(super) const MERGE_DOWN: u16 = 0xd62b;
pub(super) const TABLE_HEADER: u16 = 0x3404;
pub(super) const DELETED: u16 = 0x0800;
pub(super) const DATA: u16 = 0x0806;
pub(super) const BOLD: u16 = 0x0835;
pub(super) const HIDDEN: u16 = 0x083c;
pub(super) const SPECIAL: u16 = 0x0855;
pub(super) const PICTURE: u16 = 0x6a03;
pub(super) const SYMBOL: u16 = 0x6a09;
pub(super) const CHARACTER_STYLE: u16 = 0x4a30;
