//! How inputs are changed.

/// A generator whose runs can be repeated: Knuth's MMIX constants.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.next() % end.max(1)
    }
}

/// A file of `corpus`, changed in up to six places: single bytes, pieces of syntax, numbers at the ends of their ranges, cuts,
/// pieces moved and pieces of other files.
pub(crate) fn changed(corpus: &[Vec<u8>], tokens: &[&str], chance: &mut Chance) -> Vec<u8> {
    let bytes = corpus[chance.below(corpus.len())].clone();
    changed_from(bytes, corpus, tokens, chance)
}

/// The same for one file.
pub(crate) fn changed_from(mut bytes: Vec<u8>, corpus: &[Vec<u8>], tokens: &[&str], chance: &mut Chance) -> Vec<u8> {
    for _ in 0..=chance.below(6) {
        if bytes.is_empty() {
            bytes.push(b' ');
        }
        let at = chance.below(bytes.len());
        match chance.below(9) {
            0 | 1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = chance.next() as u8;
                }
            }
            2 | 3 => {
                let token = tokens[chance.below(tokens.len())].as_bytes();
                if chance.below(2) == 0 {
                    bytes.splice(at..at, token.iter().copied());
                } else {
                    let end = (at + token.len()).min(bytes.len());
                    bytes.splice(at..end, token.iter().copied());
                }
            }
            4 => bytes.truncate(at.max(9)),
            5 => {
                let end = (at + chance.below(200)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = chance.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            6 => {
                let other = &corpus[chance.below(corpus.len())];
                let from = chance.below(other.len());
                let end = (from + chance.below(2_000)).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
            7 => {
                let number = [0, 1, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, u32::MAX][chance.below(8)].to_le_bytes();
                let end = (at + [1, 2, 4][chance.below(3)]).min(bytes.len());
                bytes[at..end].copy_from_slice(&number[..end - at]);
            }
            _ => {
                let end = (at + chance.below(100)).min(bytes.len());
                bytes.drain(at..end);
            }
        }
        if bytes.is_empty() {
            bytes.push(b'%');
        }
    }
    bytes
}
