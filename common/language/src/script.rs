//! Which script a character belongs to, as far as words are concerned.

/// Scripts that matter for segmentation and for telling languages apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "named by Unicode")]
pub enum Script {
    Latin,
    Cyrillic,
    Greek,
    Armenian,
    Georgian,
    Hebrew,
    Arabic,
    Devanagari,
    Bengali,
    Tamil,
    Indic,
    Thai,
    Lao,
    Khmer,
    Myanmar,
    Hangul,
    Kana,
    Han,
    Ethiopic,
    /// Any other letter.
    Other,
}

impl Script {
    /// The script of a letter; `None` for digits, marks, punctuation and white space.
    pub fn of(c: char) -> Option<Self> {
        if !c.is_alphabetic() {
            return None;
        }
        Some(match c as u32 {
            0x41..=0x24F | 0x1E00..=0x1EFF | 0x2C60..=0x2C7F | 0xA720..=0xA7FF | 0xAB30..=0xAB6F => Self::Latin,
            0x370..=0x3FF | 0x1F00..=0x1FFF => Self::Greek,
            0x400..=0x52F | 0x1C80..=0x1C8F | 0x2DE0..=0x2DFF | 0xA640..=0xA69F => Self::Cyrillic,
            0x530..=0x58F => Self::Armenian,
            0x10A0..=0x10FF | 0x1C90..=0x1CBF | 0x2D00..=0x2D2F => Self::Georgian,
            0x590..=0x5FF => Self::Hebrew,
            0x600..=0x6FF | 0x750..=0x77F | 0x8A0..=0x8FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFF => Self::Arabic,
            0x900..=0x97F | 0xA8E0..=0xA8FF => Self::Devanagari,
            0x980..=0x9FF => Self::Bengali,
            0xB80..=0xBFF => Self::Tamil,
            0xA00..=0xB7F | 0xC00..=0xDFF => Self::Indic,
            0xE00..=0xE7F => Self::Thai,
            0xE80..=0xEFF => Self::Lao,
            0x1780..=0x17FF | 0x19E0..=0x19FF => Self::Khmer,
            0x1000..=0x109F | 0xA9E0..=0xA9FF | 0xAA60..=0xAA7F => Self::Myanmar,
            0x1100..=0x11FF | 0x3130..=0x318F | 0xA960..=0xA97F | 0xAC00..=0xD7FF => Self::Hangul,
            0x3041..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F | 0x1B000..=0x1B16F => Self::Kana,
            0x2E80..=0x2FDF
            | 0x3005..=0x3007
            | 0x3021..=0x3029
            | 0x3100..=0x312F
            | 0x31A0..=0x31BF
            | 0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xF900..=0xFAFF
            | 0x20000..=0x323AF => Self::Han,
            0x1200..=0x139F | 0x2D80..=0x2DDF | 0xAB00..=0xAB2F => Self::Ethiopic,
            _ => Self::Other,
        })
    }
}

/// Whether a word of this character's script is not set apart by spaces, so that words need a dictionary.
pub fn is_unspaced(c: char) -> bool {
    // Everything below Thai is spaced: the common case leaves at once.
    (c as u32) >= 0xE00
        && (matches!(c as u32, 0xE00..=0xEFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0xA9E0..=0xA9FF | 0xAA60..=0xAA7F) || is_ideographic(c))
}

/// Han and Kana: scripts in which two characters in a row are a useful word.
pub fn is_ideographic(c: char) -> bool {
    matches!(Script::of(c), Some(Script::Han | Script::Kana)) || matches!(c, '\u{30FB}'..='\u{30FE}' | '\u{3099}'..='\u{309E}')
}

/// Letters, digits and the marks that belong to them.
pub fn is_word_char(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c)
}
