//! The directories of a TIFF file (TIFF 6.0 §2; `BigTIFF`), which EXIF blocks are as well: where they are, and the few
//! texts in them that say what a picture shows.

/// `ImageDescription`, `XPTitle`, `XPComment`, `XPSubject`: what a picture shows. Makers, owners and places are left out.
const TEXT_TAGS: [u16; 4] = [0x010E, 0x9C9B, 0x9C9C, 0x9C9F];
/// Longest text taken over, in bytes.
const TEXT_BYTES: u64 = 8_192;
/// Most entries looked at in one directory.
const ENTRIES: u64 = 4_096;

/// Where the directories of a file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tiff {
    little: bool,
    big: bool,
    /// Of each directory, in the order of the chain.
    pub(crate) offsets: Vec<u64>,
    /// Whether the chain of directories leads back into itself.
    pub(crate) circle: bool,
}

impl Tiff {
    /// Follows the chain of directories. `None` when the header is no TIFF header or leads nowhere.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let little = match bytes.get(..2)? {
            b"II" => true,
            b"MM" => false,
            _ => return None,
        };
        let big = number(bytes, 2, 2, little)? == 43;
        let mut tiff = Self { little, big, offsets: Vec::new(), circle: false };
        let mut seen = std::collections::HashSet::new();
        let mut next = if big { tiff.at(bytes, 8, 8)? } else { tiff.at(bytes, 4, 4)? };
        while next != 0 {
            if !seen.insert(next) {
                tiff.circle = true;
                break;
            }
            let Some((entries, first)) = tiff.entries(bytes, next) else { break };
            tiff.offsets.push(next);
            let end = entries.checked_mul(tiff.entry_bytes()).and_then(|length| first.checked_add(length));
            next = end.and_then(|end| tiff.at(bytes, end, tiff.word())).unwrap_or(0);
        }
        (!tiff.offsets.is_empty()).then_some(tiff)
    }

    /// Makes `bytes` a file whose first directory is this one, so that any decoder shows that page.
    pub(crate) fn show(&self, bytes: &mut [u8], offset: u64) {
        let word = offset.to_le_bytes();
        let (at, length) = if self.big { (8, 8) } else { (4, 4) };
        let mut word = word.get(..length).unwrap_or_default().to_vec();
        if !self.little {
            word.reverse();
        }
        if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.get_mut(..length)) {
            place.copy_from_slice(&word);
        }
    }

    /// What the first directory says the picture shows.
    pub(crate) fn first_texts(&self, bytes: &[u8]) -> Vec<String> {
        self.offsets.first().map(|offset| self.texts(bytes, *offset)).unwrap_or_default()
    }

    /// What a directory says the picture shows.
    pub(crate) fn texts(&self, bytes: &[u8], offset: u64) -> Vec<String> {
        let Some((entries, first)) = self.entries(bytes, offset) else { return Vec::new() };
        let mut found: Vec<String> = Vec::new();
        for index in 0..entries.min(ENTRIES) {
            let at = first.saturating_add(index.saturating_mul(self.entry_bytes()));
            if let Some(text) = self.text(bytes, at).filter(|text| !text.is_empty() && !found.contains(text)) {
                found.push(text);
            }
        }
        found
    }

    fn text(&self, bytes: &[u8], at: u64) -> Option<String> {
        let tag = u16::try_from(self.at(bytes, at, 2)?).ok().filter(|tag| TEXT_TAGS.contains(tag))?;
        let count = self.at(bytes, at.checked_add(4)?, self.word())?.min(TEXT_BYTES);
        let value = at.checked_add(4)?.checked_add(self.word())?;
        let place = if count <= self.word() { value } else { self.at(bytes, value, self.word())? };
        let start = usize::try_from(place).ok()?;
        let raw = bytes.get(start..start.checked_add(usize::try_from(count).ok()?)?)?;
        // The tags that Windows writes are UTF-16, the registered one is 8-bit text.
        let text = if tag == 0x010E {
            String::from_utf8_lossy(raw).into_owned()
        } else {
            let units: Vec<u16> =
                raw.chunks_exact(2).map(|pair| pair.iter().rev().fold(0, |word, byte| (word << 8) | u16::from(*byte))).collect();
            String::from_utf16_lossy(&units)
        };
        Some(text.split('\0').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// How many entries a directory has, and where the first is.
    fn entries(&self, bytes: &[u8], offset: u64) -> Option<(u64, u64)> {
        let width = if self.big { 8 } else { 2 };
        Some((self.at(bytes, offset, width)?, offset.checked_add(width)?))
    }

    fn entry_bytes(&self) -> u64 {
        if self.big { 20 } else { 12 }
    }

    /// Bytes of an offset or a count.
    fn word(&self) -> u64 {
        if self.big { 8 } else { 4 }
    }

    fn at(&self, bytes: &[u8], offset: u64, width: u64) -> Option<u64> {
        number(bytes, offset, width, self.little)
    }
}

fn number(bytes: &[u8], offset: u64, width: u64, little: bool) -> Option<u64> {
    let start = usize::try_from(offset).ok()?;
    let raw = bytes.get(start..start.checked_add(usize::try_from(width).ok()?)?)?;
    let fold = |word: u64, byte: &u8| (word << 8) | u64::from(*byte);
    Some(if little { raw.iter().rev().fold(0, fold) } else { raw.iter().fold(0, fold) })
}
