//! Little-endian numbers of a record; nothing outside it.

/// An unsigned 16-bit number.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// A signed 16-bit number.
pub(super) fn i16_at(bytes: &[u8], at: usize) -> Option<i16> {
    u16_at(bytes, at).map(u16::cast_signed)
}

/// An unsigned 32-bit number.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// A signed 32-bit number.
pub(super) fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    u32_at(bytes, at).map(u32::cast_signed)
}

/// Bytes from `at`, `length` of them or as many as there are.
pub(super) fn part(bytes: &[u8], at: usize, length: usize) -> &[u8] {
    let end = at.saturating_add(length).min(bytes.len());
    bytes.get(at.min(end)..end).unwrap_or_default()
}

/// UTF-16 as text.
pub(super) fn utf16(bytes: &[u8]) -> String {
    let units =
        bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair.first().copied().unwrap_or(0), pair.get(1).copied().unwrap_or(0)]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// A table of positions: `count + 1` numbers of 32 bits, then `count` records of `record` bytes.
pub(super) fn positions(table: &[u8], record: usize) -> impl Iterator<Item = (u32, u32, &[u8])> {
    let count = table.len().saturating_sub(4).checked_div(record.saturating_add(4)).unwrap_or_default();
    let records = count.saturating_add(1).saturating_mul(4);
    (0..count).filter_map(move |index| {
        let at = index.saturating_mul(4);
        let (from, to) = (u32_at(table, at)?, u32_at(table, at.saturating_add(4))?);
        (from <= to).then(|| (from, to, part(table, records.saturating_add(index.saturating_mul(record)), record)))
    })
}
