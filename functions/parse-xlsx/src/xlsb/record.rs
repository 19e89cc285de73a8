//! Records of a binary part, as they are decoded.

use std::io::{BufReader, Read};

use quarry_document::archive::failure_of;
use quarry_model::{DocumentCode, DocumentFailure};

use crate::bytes::{u32_at, wide};

/// Pulls records out of a part.
pub(super) struct Records<R> {
    bytes: BufReader<R>,
    data: Vec<u8>,
}

impl<R: Read> Records<R> {
    pub(super) fn new(bytes: R) -> Self {
        Self { bytes: BufReader::with_capacity(64 << 10, bytes), data: Vec::new() }
    }

    /// The next record: its kind and data; `None` at the end.
    ///
    /// Fails with `CORRUPT` for a record that is cut off.
    pub(super) fn next(&mut self) -> Result<Option<(u16, &[u8])>, DocumentFailure> {
        let Some(first) = self.byte()? else { return Ok(None) };
        let mut kind = u16::from(first);
        if first & 0x80 != 0 {
            let second = self.byte()?.ok_or_else(cut)?;
            kind = (kind & 0x7f) | (u16::from(second & 0x7f) << 7);
        }
        let mut length = 0_u64;
        for place in 0..4_u32 {
            let byte = self.byte()?.ok_or_else(cut)?;
            length |= u64::from(byte & 0x7f) << place.saturating_mul(7);
            if byte & 0x80 == 0 {
                break;
            }
        }
        self.data.clear();
        // Grows with the bytes that come, not with the length that is claimed.
        let read = (&mut self.bytes).take(length).read_to_end(&mut self.data).map_err(|error| failure_of(&error))?;
        if (read as u64) < length {
            return Err(cut());
        }
        Ok(Some((kind, &self.data)))
    }

    fn byte(&mut self) -> Result<Option<u8>, DocumentFailure> {
        let mut byte = [0_u8];
        let count = self.bytes.read(&mut byte).map_err(|error| failure_of(&error))?;
        Ok((count > 0).then_some(byte[0]))
    }
}

fn cut() -> DocumentFailure {
    DocumentFailure::new(DocumentCode::Corrupt, "a record is cut off")
}

/// A text at `at` with its length before it ([MS-XLSB] 2.5.169), and where it ends.
pub(super) fn text(data: &[u8], at: usize) -> Option<(String, usize)> {
    let start = at.checked_add(4)?;
    let end = start.checked_add((u32_at(data, at)? as usize).checked_mul(2)?)?;
    Some((wide(data.get(start..end)?), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_lengths_of_several_bytes() {
        let mut bytes = vec![0x01, 0x02, 7, 8, 0x9c, 0x01, 0x81, 0x01];
        bytes.extend([9_u8; 129]);
        bytes.push(5);
        let mut records = Records::new(&bytes[..]);
        assert_eq!(records.next().unwrap(), Some((1, &[7_u8, 8][..])));
        assert_eq!(records.next().unwrap().map(|(kind, data)| (kind, data.len())), Some((156, 129)));
        assert_eq!(records.next().unwrap_err().code, DocumentCode::Corrupt);
        assert_eq!(text(&[2, 0, 0, 0, b'o', 0, b'k', 0], 0), Some(("ok".to_owned(), 8)));
        assert_eq!(text(&[255, 255, 255, 255, 0], 0), None);
    }
}
