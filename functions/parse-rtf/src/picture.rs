//! Pictures: hexadecimal or binary data in one of several formats.

/// How a picture is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Blip {
    /// PNG, JPEG, EMF, WMF: bytes as they are.
    #[default]
    Whole,
    /// A device-independent bitmap: a BMP file without its first header.
    Bitmap,
    /// A bitmap of the screen of long ago, which nothing reads.
    Device,
}

/// A picture while its data is read.
#[derive(Debug, Default)]
pub(crate) struct PictureData {
    pub blip: Blip,
    bytes: Vec<u8>,
    half: Option<u8>,
    /// Whether there was more than one picture may have.
    pub too_large: bool,
}

impl PictureData {
    pub(crate) fn hex(&mut self, byte: u8, limit: u64) {
        let Some(digit) = char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()) else { return };
        match self.half.take() {
            Some(high) => self.binary(&[high << 4 | digit], limit),
            None => self.half = Some(digit),
        }
    }

    pub(crate) fn binary(&mut self, bytes: &[u8], limit: u64) {
        if (self.bytes.len() as u64).saturating_add(bytes.len() as u64) > limit {
            self.too_large = true;
            return;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The file; `None` for one that is empty or that nothing reads.
    pub(crate) fn into_file(self) -> Option<Vec<u8>> {
        if self.bytes.is_empty() || self.too_large {
            return None;
        }
        match self.blip {
            Blip::Whole => Some(self.bytes),
            Blip::Device => None,
            Blip::Bitmap => bitmap_file(&self.bytes),
        }
    }
}

/// The header of a BMP file in front of a bitmap.
fn bitmap_file(bitmap: &[u8]) -> Option<Vec<u8>> {
    const HEADER: u32 = 14;
    let field = |at: usize| bitmap.get(at..at.saturating_add(4)).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    let header = field(0).filter(|size| (12..=256).contains(size))?;
    let bits = bitmap.get(14..16).and_then(|bytes| bytes.try_into().ok()).map(u16::from_le_bytes)?;
    let colours = match (bits, field(32).unwrap_or(0)) {
        (1 | 4 | 8, 0) => 1_u32 << bits,
        (1 | 4 | 8, used) => used.min(256),
        _ => 0,
    };
    let pixels = HEADER.saturating_add(header).saturating_add(colours.saturating_mul(4));
    let size = u32::try_from(bitmap.len()).ok()?.saturating_add(HEADER);
    let mut file = b"BM".to_vec();
    file.extend(size.to_le_bytes());
    file.extend([0; 4]);
    file.extend(pixels.to_le_bytes());
    file.extend_from_slice(bitmap);
    Some(file)
}
