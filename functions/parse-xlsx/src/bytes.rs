//! Fields of binary records; what lies outside a record is `None`.

/// A little-endian number at `at`.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_le_bytes)
}

/// A little-endian number at `at`.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

/// A floating point number at `at`.
pub(crate) fn f64_at(bytes: &[u8], at: usize) -> Option<f64> {
    bytes.get(at..at.checked_add(8)?)?.try_into().ok().map(f64::from_le_bytes)
}

/// A number in 30 bits: a whole one, or the upper part of a floating point one; perhaps in hundredths ([MS-XLS] 2.5.217).
#[allow(clippy::arithmetic_side_effects, reason = "floating point cannot overflow into a panic")]
pub(crate) fn rk(bits: u32) -> f64 {
    let value = if bits & 2 != 0 { f64::from((bits as i32) >> 2) } else { f64::from_bits(u64::from(bits & !3) << 32) };
    if bits & 1 != 0 { value / 100.0 } else { value }
}

/// The errors of a cell ([MS-XLS] 2.5.10).
pub(crate) fn error(code: u8) -> &'static str {
    match code {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0f => "#VALUE!",
        0x17 => "#REF!",
        0x1d => "#NAME?",
        0x24 => "#NUM!",
        0x2a => "#N/A",
        0x2b => "#GETTING_DATA",
        _ => "#ERROR!",
    }
}

/// UTF-16, little endian.
pub(crate) fn wide(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).filter_map(|pair| u16_at(pair, 0));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_thirty_bits() {
        assert_eq!(rk((7_u32 << 2) | 2), 7.0);
        assert_eq!(rk(((-7_i32) << 2) as u32 | 2), -7.0);
        assert_eq!(rk((12_345_u32 << 2) | 3), 123.45);
        assert_eq!(rk(((1.5_f64.to_bits() >> 32) as u32) & !3), 1.5);
    }
}
