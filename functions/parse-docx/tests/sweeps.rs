//! Sweeps: a rich document cut at every 512 bytes, and with single bytes changed. No panic, no hang, a public code.

mod support;

use quarry_model::DocumentCode;
use support::parse;
use support::rich::rich;

/// Codes that damage may end in.
const DAMAGE: [DocumentCode; 5] =
    [DocumentCode::Corrupt, DocumentCode::Encrypted, DocumentCode::Unsupported, DocumentCode::TooManyEntries, DocumentCode::Bomb];

fn check(bytes: &[u8], what: &str) {
    match parse(bytes) {
        Ok(parsed) => {
            for row in &parsed.rows {
                assert!(row.section.is_none_or(|section| section < parsed.headings.len()), "{what}");
                assert!(row.asset.is_none_or(|asset| asset < parsed.assets.len()), "{what}");
                let length = row.content.chars().count();
                assert!(row.refs.iter().all(|reference| reference.row < parsed.rows.len() && reference.at <= length), "{what}");
            }
        }
        Err(failure) => assert!(DAMAGE.contains(&failure.code), "{what}: {failure}"),
    }
}

#[test]
fn cut_anywhere() {
    let bytes = rich().bytes();
    for end in (0..bytes.len()).step_by(512).chain(bytes.len().saturating_sub(64)..bytes.len()) {
        check(&bytes[..end], &format!("cut at {end}"));
        assert!(parse(&bytes[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn one_byte_changed_in_the_archive() {
    let bytes = rich().bytes();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for seed in 0..1_000 {
        let mut damaged = bytes.clone();
        let at = random.below(damaged.len());
        damaged[at] ^= 1 << random.below(8);
        check(&damaged, &format!("seed {seed}, byte {at}"));
    }
}

#[test]
fn one_byte_changed_in_the_text() {
    // Past the checksums: the main part itself is damaged and packed again.
    let source = rich();
    let document = source.document();
    let mut random = Random(0xd1b5_4a32_d192_ed03);
    for seed in 0..500 {
        let mut damaged = document.clone().into_bytes();
        let at = random.below(damaged.len());
        damaged[at] = u8::try_from(random.below(256)).unwrap_or(b'<');
        check(&source.clone().with_document(damaged).bytes(), &format!("seed {seed}, byte {at}"));
    }
}

/// xorshift64*, so that every run sweeps the same bytes.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap_or_default() % limit
    }
}
