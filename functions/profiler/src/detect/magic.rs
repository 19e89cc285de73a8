//! Signatures: bytes that stand at a fixed place.

use quarry_model::Format;

use super::pieces::{le16, le32};

/// What a signature says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signature {
    /// The format itself.
    Is(Format),
    /// A ZIP container: its directory says what is in it.
    Zip,
    /// A compound file (OLE): its directory says what is in it.
    Compound,
    /// Something that is none of our formats, by name.
    Foreign(&'static str),
}

/// Of formats of ours, at the first byte.
const OURS: &[(&[u8], Signature)] = &[
    (b"%PDF-", Signature::Is(Format::Pdf)),
    (b"PK\x03\x04", Signature::Zip),
    // An archive without entries, and the first part of one cut into pieces.
    (b"PK\x05\x06", Signature::Zip),
    (b"PK\x07\x08PK\x03\x04", Signature::Zip),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", Signature::Compound),
    (b"{\\rtf", Signature::Is(Format::Rtf)),
    (b"\x89PNG\r\n\x1A\n", Signature::Is(Format::Png)),
    (b"\xFF\xD8\xFF", Signature::Is(Format::Jpeg)),
    (b"GIF87a", Signature::Is(Format::Gif)),
    (b"GIF89a", Signature::Is(Format::Gif)),
    (b"II*\0", Signature::Is(Format::Tiff)),
    (b"MM\0*", Signature::Is(Format::Tiff)),
    (b"II+\0", Signature::Is(Format::Tiff)),
    (b"MM\0+", Signature::Is(Format::Tiff)),
];

/// Of others, with the place of the bytes.
const FOREIGN: &[(usize, &[u8], &str)] = &[
    (0, b"\x1F\x8B\x08", "this is a gzip archive"),
    (0, b"BZh", "this is a bzip2 archive"),
    (0, b"\xFD7zXZ\0", "this is an xz archive"),
    (0, b"(\xB5/\xFD", "this is a Zstandard archive"),
    (0, b"7z\xBC\xAF\x27\x1C", "this is a 7-Zip archive"),
    (0, b"Rar!\x1A\x07", "this is a RAR archive"),
    (257, b"ustar", "this is a tar archive"),
    (0, b"\x7FELF", "this is a program"),
    (0, b"MZ", "this is a program"),
    (0, b"\xCF\xFA\xED\xFE", "this is a program"),
    (0, b"\xCA\xFE\xBA\xBE", "this is a program"),
    (0, b"\0asm", "this is a program"),
    (0, b"SQLite format 3\0", "this is a SQLite database"),
    (0, b"PAR1", "this is a Parquet file"),
    (0, b"%!PS", "this is a PostScript document"),
    (0, b"AT&TFORM", "this is a DjVu document"),
    (0, b"ITSF", "this is a compiled help file"),
    (60, b"BOOKMOBI", "this is a Mobipocket book"),
    (0, b"ID3", "this is a sound recording"),
    (0, b"fLaC", "this is a sound recording"),
    (0, b"OggS", "this is a sound or video recording"),
    (0, b"\x1A\x45\xDF\xA3", "this is a video"),
    (4, b"ftyphei", "this is a HEIC image"),
    (4, b"ftypmif1", "this is a HEIC image"),
    (4, b"ftypavif", "this is an AVIF image"),
    (4, b"ftyp", "this is a video or sound recording"),
    (0, b"\0\0\x01\0", "this is an icon"),
    (0, b"8BPS", "this is a Photoshop image"),
    (0, b"wOFF", "this is a font"),
    (0, b"wOF2", "this is a font"),
    (0, b"OTTO", "this is a font"),
    (0, b"\0\x01\0\0\0", "this is a font"),
];

/// What the first bytes of a file of `size` bytes say, if anything.
pub(super) fn signature(head: &[u8], size: u64) -> Option<Signature> {
    if let Some((_, signature)) = OURS.iter().find(|(bytes, _)| head.starts_with(bytes)) {
        return Some(*signature);
    }
    if head.starts_with(b"RIFF") {
        return match head.get(8..12) {
            Some(b"WEBP") => Some(Signature::Is(Format::Webp)),
            Some(b"WAVE") => Some(Signature::Foreign("this is a sound recording")),
            Some(b"AVI ") => Some(Signature::Foreign("this is a video")),
            _ => None,
        };
    }
    if is_bitmap(head, size) {
        return Some(Signature::Is(Format::Bmp));
    }
    let at = |place: usize, bytes: &[u8]| head.get(place..).is_some_and(|rest| rest.starts_with(bytes));
    // Short signatures of letters also begin ordinary text ("MZ", "ID3"): there must be a byte that text has not.
    let binary = head.iter().take(512).any(|byte| matches!(byte, 0..=8 | 0x0E..=0x1A));
    FOREIGN
        .iter()
        .find(|(place, bytes, _)| at(*place, bytes) && (binary || bytes.iter().any(|byte| !byte.is_ascii_graphic()) || *bytes == b"%!PS"))
        .map(|(_, _, what)| Signature::Foreign(what))
}

/// `BM`, the file's own size, reserved zeros, and a header of a known length.
fn is_bitmap(head: &[u8], size: u64) -> bool {
    let length = le32(head, 2).map(u64::from);
    head.starts_with(b"BM")
        && length.is_some_and(|length| length == 0 || length.abs_diff(size) <= size / 2)
        && le16(head, 6) == Some(0)
        && le16(head, 8) == Some(0)
        && matches!(le32(head, 14), Some(12 | 40 | 52 | 56 | 64 | 108 | 124))
}

/// Whether a PDF header (`%PDF-1.7`) stands after other bytes in the first KB, as readers allow.
pub(super) fn pdf_header_later(head: &[u8]) -> bool {
    let first = head.get(..1024.min(head.len())).unwrap_or_default();
    first.windows(8).any(|window| match window {
        [b'%', b'P', b'D', b'F', b'-', major, b'.', minor] => major.is_ascii_digit() && minor.is_ascii_digit(),
        _ => false,
    })
}

/// Whether a file ends as a PDF does. A text about PDF has the header in it, but not this.
pub(super) fn pdf_end(tail: &[u8]) -> bool {
    tail.windows(5).any(|window| window == b"%%EOF")
}
