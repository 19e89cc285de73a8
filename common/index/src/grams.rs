//! Which stretches of a vocabulary may contain a piece: a signature for every 32 words, turned on its side.
//!
//! Every three bytes of a word set one of 1,024 bits of its stretch. The bits of one number for all stretches lie
//! together, so that a piece is looked for with as many conjunctions as it has threes of bytes, over one bit for every 32
//! words. A stretch that passes is then searched itself: the answer is that of searching all of it.

/// Words in a stretch.
pub(crate) const STRETCH: usize = 32;
const BITS: usize = 1024;

/// The signatures.
#[derive(Debug)]
pub(crate) struct Grams {
    rows: Vec<u64>,
    /// Words of 64 bits in a row.
    width: usize,
}

impl Grams {
    /// Signatures of words in order.
    pub(crate) fn new<'a>(count: usize, words: impl Iterator<Item = &'a [u8]>) -> Self {
        let width = count.div_ceil(STRETCH).div_ceil(64);
        let mut rows = vec![0_u64; width * BITS];
        for (at, word) in words.enumerate() {
            let stretch = at / STRETCH;
            for three in word.array_windows() {
                rows[row(*three) * width + stretch / 64] |= 1 << (stretch % 64);
            }
        }
        Self { rows, width }
    }

    /// Bytes held in memory.
    pub(crate) fn weight(&self) -> usize {
        self.rows.len() * 8
    }

    /// Stretches that may contain `piece`; `None` when it is too short to tell.
    pub(crate) fn stretches(&self, piece: &[u8]) -> Option<Vec<usize>> {
        let mut threes = piece.array_windows();
        let of = |three: &[u8; 3]| &self.rows[row(*three) * self.width..][..self.width];
        let mut may = of(threes.next()?).to_vec();
        for three in threes {
            may.iter_mut().zip(of(three)).for_each(|(may, has)| *may &= has);
        }
        let mut out = Vec::new();
        for (at, mut bits) in may.into_iter().enumerate() {
            while bits != 0 {
                out.push(at * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
        Some(out)
    }
}

fn row([a, b, c]: [u8; 3]) -> usize {
    let number = u32::from(a) | u32::from(b) << 8 | u32::from(c) << 16;
    (number.wrapping_mul(0x9e37_79b1) >> 22) as usize
}
