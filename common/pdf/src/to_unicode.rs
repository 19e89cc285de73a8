//! `ToUnicode` maps read leniently: entries in any order, of any width, broken ones passed over. Asked when the font
//! library finds nothing for a code.

use std::collections::HashMap;
use std::rc::Rc;

/// Most entries that are kept.
const MAX_ENTRIES: usize = 200_000;

/// Reads the `bfchar` and `bfrange` sections of a map.
pub(crate) fn parse(data: &[u8]) -> HashMap<u32, Rc<str>> {
    let mut map = HashMap::new();
    let mut tokens = Tokens { data, at: 0 };
    let mut section = Section::None;
    let mut pending: Vec<Token> = Vec::new();
    while let Some(token) = tokens.next() {
        if map.len() >= MAX_ENTRIES {
            break;
        }
        if let Token::Word(word) = &token {
            section = match word.as_slice() {
                b"beginbfchar" => Section::Char,
                b"beginbfrange" => Section::Range,
                _ => Section::None,
            };
            pending.clear();
            continue;
        }
        pending.push(token);
        match (section, pending.as_slice()) {
            (Section::Char, [Token::Hex(from), Token::Hex(to)]) => {
                insert(&mut map, code(from), to);
                pending.clear();
            }
            (Section::Range, [Token::Hex(from), Token::Hex(last), Token::Hex(to)]) => {
                range(&mut map, code(from), code(last), to);
                pending.clear();
            }
            (Section::Range, [Token::Hex(from), Token::Hex(_), Token::List(items)]) => {
                for (code, item) in (code(from)..).zip(items) {
                    insert(&mut map, code, item);
                }
                pending.clear();
            }
            (Section::None, _) => pending.clear(),
            (_, [_, _, _, ..]) => pending.clear(),
            _ => {}
        }
    }
    map
}

#[derive(Clone, Copy)]
enum Section {
    None,
    Char,
    Range,
}

enum Token {
    Hex(Vec<u8>),
    List(Vec<Vec<u8>>),
    Word(Vec<u8>),
}

fn code(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |value, byte| (value << 8) | u32::from(*byte))
}

fn units(bytes: &[u8]) -> Vec<u16> {
    if let [single] = bytes {
        return vec![u16::from(*single)];
    }
    bytes.chunks_exact(2).filter_map(|pair| Some(u16::from_be_bytes([*pair.first()?, *pair.get(1)?]))).collect()
}

fn insert(map: &mut HashMap<u32, Rc<str>>, code: u32, to: &[u8]) {
    let text: String = String::from_utf16_lossy(&units(to)).chars().filter(|c| *c != '\0' && *c != '\u{fffd}').collect();
    if !text.is_empty() {
        map.insert(code, Rc::from(text.as_str()));
    }
}

fn range(map: &mut HashMap<u32, Rc<str>>, first: u32, last: u32, to: &[u8]) {
    let base = units(to);
    for step in 0..=last.saturating_sub(first).min(0xffff) {
        let mut shifted = base.clone();
        if let Some(end) = shifted.last_mut() {
            *end = end.wrapping_add(step as u16);
        }
        let text: String = String::from_utf16_lossy(&shifted).chars().filter(|c| *c != '\0' && *c != '\u{fffd}').collect();
        if !text.is_empty() && map.len() < MAX_ENTRIES {
            map.insert(first.saturating_add(step), Rc::from(text.as_str()));
        }
    }
}

struct Tokens<'d> {
    data: &'d [u8],
    at: usize,
}

impl Tokens<'_> {
    fn byte(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn next(&mut self) -> Option<Token> {
        loop {
            match self.byte()? {
                b'%' => {
                    while self.byte().is_some_and(|b| b != b'\n' && b != b'\r') {
                        self.step();
                    }
                }
                b'<' if self.data.get(self.at.saturating_add(1)) != Some(&b'<') => return Some(Token::Hex(self.hex())),
                b'[' => return Some(Token::List(self.list())),
                b if b.is_ascii_alphanumeric() => return Some(Token::Word(self.word())).filter(|t| !is_number(t)).or_else(|| self.next()),
                _ => self.step(),
            }
        }
    }

    fn hex(&mut self) -> Vec<u8> {
        self.step();
        let mut digits = Vec::new();
        while let Some(byte) = self.byte() {
            self.step();
            if byte == b'>' {
                break;
            }
            if let Some(digit) = char::from(byte).to_digit(16) {
                digits.push(digit as u8);
            }
        }
        if digits.len() % 2 == 1 {
            digits.push(0);
        }
        digits.chunks_exact(2).map(|pair| pair.iter().fold(0u8, |value, digit| (value << 4) | digit)).collect()
    }

    fn list(&mut self) -> Vec<Vec<u8>> {
        self.step();
        let mut items = Vec::new();
        while let Some(byte) = self.byte() {
            match byte {
                b']' => {
                    self.step();
                    break;
                }
                b'<' => items.push(self.hex()),
                _ => self.step(),
            }
        }
        items
    }

    fn word(&mut self) -> Vec<u8> {
        let mut word = Vec::new();
        while let Some(byte) = self.byte().filter(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')) {
            word.push(byte);
            self.step();
        }
        word
    }
}

fn is_number(token: &Token) -> bool {
    matches!(token, Token::Word(word) if word.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_in_any_order_and_of_any_width() {
        let map = parse(
            b"2 beginbfchar\n<0037> <0054>\n<0003> <0020>\nendbfchar\n2 beginbfrange <10> <12> <0041>\n<0020> <0021> [<00660069> <0078>] endbfrange\n\
              1 beginbfchar <05> <D83DDE00> endbfchar % end\n",
        );
        let at = |code: u32| map.get(&code).map(std::string::ToString::to_string);
        assert_eq!(at(0x37).as_deref(), Some("T"));
        assert_eq!(at(0x03).as_deref(), Some(" "));
        assert_eq!(at(0x12).as_deref(), Some("C"));
        assert_eq!(at(0x20).as_deref(), Some("fi"));
        assert_eq!(at(0x21).as_deref(), Some("x"));
        assert_eq!(at(0x05).as_deref(), Some("\u{1f600}"));
    }

    #[test]
    fn broken_maps_end() {
        for data in [&b"beginbfchar <"[..], b"beginbfrange <00> <ffffffff> <0041>", b"beginbfchar [ <00", b"<<<<>>>>"] {
            parse(data);
        }
    }
}
