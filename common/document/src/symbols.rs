//! Characters of the symbol fonts, which office programs store as codes of a font instead of as characters, and which
//! come back out of the PDF they print as private-use characters.

/// The Greek and mathematical part of Symbol, from code 0x41.
const SYMBOL_LETTERS: &str = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ";
const SYMBOL_SMALL: &str = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ";
/// Symbol, codes 0xA1 to 0xBF.
const SYMBOL_UPPER: [char; 31] = [
    'ϒ', '′', '≤', '⁄', '∞', 'ƒ', '♣', '♦', '♥', '♠', '↔', '←', '↑', '→', '↓', '°', '±', '″', '≥', '×', '∝', '∂', '•', '÷', '≠', '≡', '≈',
    '…', '|', '―', '↵',
];
/// Symbol, codes 0xC0 to 0xD8.
const SYMBOL_LOGIC: [char; 25] =
    ['ℵ', 'ℑ', 'ℜ', '℘', '⊗', '⊕', '∅', '∩', '∪', '⊃', '⊇', '⊄', '⊂', '⊆', '∈', '∉', '∠', '∇', '®', '©', '™', '∏', '√', '⋅', '¬'];

/// A character of a symbol font, by its code (with or without the private-use offset 0xF000).
pub fn character(font: &str, code: u32) -> Option<char> {
    let code = if (0xf000..=0xf0ff).contains(&code) { code.checked_sub(0xf000)? } else { code };
    let font = font.to_ascii_lowercase();
    if font.starts_with("wingdings") || font.starts_with("webdings") {
        return Some(wingding(code));
    }
    if font.starts_with("symbol") {
        return symbol(code);
    }
    char::from_u32(code).filter(|c| !c.is_control())
}

/// Replaces private-use characters in text set in a symbol font.
pub fn replace(text: &str, font: Option<&str>) -> String {
    let font = font.unwrap_or("symbol");
    text.chars()
        .map(|c| if ('\u{f000}'..='\u{f0ff}').contains(&c) { character(font, c as u32).unwrap_or(char::REPLACEMENT_CHARACTER) } else { c })
        .collect()
}

/// A bullet as one plain character.
pub fn bullet(text: &str) -> String {
    let first = text.chars().find(|c| !c.is_whitespace());
    match first {
        Some(c @ ('-' | '–' | '—' | '*' | '+' | '•' | '◦' | '▪' | '■' | '□' | '●' | '○' | '►' | '✓' | '➢' | '☐' | '☑' | '☒')) => {
            c.to_string()
        }
        _ => "•".to_owned(),
    }
}

fn nth(list: &str, code: u32, first: u32) -> Option<char> {
    list.chars().nth(code.checked_sub(first)? as usize)
}

fn symbol(code: u32) -> Option<char> {
    match code {
        0x22 => Some('∀'),
        0x24 => Some('∃'),
        0x27 => Some('∋'),
        0x2a => Some('∗'),
        0x2d => Some('−'),
        0x40 => Some('≅'),
        0x41..=0x5a => nth(SYMBOL_LETTERS, code, 0x41),
        0x5c => Some('∴'),
        0x5e => Some('⊥'),
        0x61..=0x7a => nth(SYMBOL_SMALL, code, 0x61),
        0x7e => Some('∼'),
        0x20..=0x7d => char::from_u32(code),
        0xa1..=0xbf => SYMBOL_UPPER.get(code.checked_sub(0xa1)? as usize).copied(),
        0xc0..=0xd8 => SYMBOL_LOGIC.get(code.checked_sub(0xc0)? as usize).copied(),
        0xd9 => Some('∧'),
        0xda => Some('∨'),
        0xdb => Some('⇔'),
        0xdc => Some('⇐'),
        0xdd => Some('⇑'),
        0xde => Some('⇒'),
        0xdf => Some('⇓'),
        0xe0 => Some('◊'),
        0xe1 => Some('⟨'),
        0xe5 => Some('∑'),
        0xf1 => Some('⟩'),
        0xf2 => Some('∫'),
        _ => None,
    }
}

/// The marks of Wingdings that carry meaning in text; every other one is shown as a bullet.
fn wingding(code: u32) -> char {
    match code {
        0x20 => ' ',
        0x28 | 0x29 => '☎',
        0x2a => '✉',
        0x4a => '☺',
        0x4c => '☹',
        0x6c => '●',
        0x6e => '■',
        0x6f | 0x70 | 0x71 | 0x72 | 0xa8 => '☐',
        0x76 => '❖',
        0xa7 => '▪',
        0xd8 => '➢',
        0xdf => '←',
        0xe0 | 0xe8 | 0xf0 => '→',
        0xe1 => '↑',
        0xe2 => '↓',
        0xf3 => '↔',
        0xfb | 0xfd => '☒',
        0xfc => '✓',
        0xfe => '☑',
        _ => '•',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_characters() {
        assert_eq!(character("Symbol", 0xf061), Some('α'));
        assert_eq!(character("Symbol", 0xb3), Some('≥'));
        assert_eq!(character("Symbol", 0xf0ce), Some('∈'));
        assert_eq!(character("Wingdings", 0xf0fc), Some('✓'));
        assert_eq!(character("Wingdings", 0xf0fe), Some('☑'));
        assert_eq!(character("Calibri", 0x41), Some('A'));
        assert_eq!(replace("a\u{f0b7}b", Some("Symbol")), "a•b");
        assert_eq!((bullet("\u{f0b7}"), bullet("–"), bullet("o")), ("•".into(), "–".into(), "•".into()));
    }
}
