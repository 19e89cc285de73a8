//! A fuzz target for the PDF reading layer, on stable Rust: files are changed at random, structure included, and everything
//! the layer offers is asked of them. A panic, a hang or an abort is a find: the input is kept in `target/fuzz-finds`, and
//! what is mended moves to `tests/fuzz/finds`, which every run reads first.
//!
//! ```text
//! QUARRY_FUZZ_SECONDS=900 cargo test --release -p quarry-tests --test fuzz
//! ```
//!
//! Without the variable it runs for two seconds, so that it is known to run. `QUARRY_FUZZ_SEED` repeats a run.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use quarry_model::Limits;
use quarry_pdf::testing::{Builder, Leaf};
use quarry_pdf::{Pdf, grids_of, lines_of, reading_order};
use quarry_tests::repository;

const STACK_BYTES: usize = 64 << 20;
/// Longest reading of one input: far above what any of the small files needs.
const PATIENCE: Duration = Duration::from_secs(20);
/// Pieces of syntax that are put where they do not belong.
const TOKENS: &[&str] = &[
    "<<",
    ">>",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "/",
    "%",
    "0 R",
    "1 0 R",
    "2 0 R",
    "3 0 R",
    "obj",
    "endobj",
    "stream\n",
    "endstream",
    "xref",
    "trailer",
    "startxref",
    "null",
    "true",
    "-1",
    "0",
    "1",
    "65535",
    "4294967295",
    "-2147483648",
    "1e38",
    "0.0000001",
    "/Length 9999999",
    "/Kids[2 0 R]",
    "/Parent 3 0 R",
    "/Type/Page",
    "/Filter/FlateDecode",
    "/Filter[/FlateDecode/FlateDecode]",
    "/Filter/JBIG2Decode",
    "/Filter/JPXDecode",
    "/Filter/CCITTFaxDecode",
    "/Filter/LZWDecode",
    "/Rotate 90",
    "/MediaBox[0 0 0 0]",
    "/W[1 2 1]",
    "/Index[0 4294967295]",
    "/Type/ObjStm/N 999/First 1",
    "/Subtype/Form",
    "/Subtype/Image/Width 65535/Height 65535",
    "q",
    "Q",
    "BT",
    "ET",
    "Tj",
    "TJ",
    "Td",
    "cm",
    "Do",
    "re f",
    "9999 Tf",
    "0 Tf",
    "3 Tr",
    "/DecodeParms<</Predictor 15/Columns 2147483647>>",
    "/Encoding/Identity-H",
    "/ToUnicode 4 0 R",
    "/CIDToGIDMap 4 0 R",
    "/Annots[3 0 R]",
];

/// A generator whose runs can be repeated: Knuth's MMIX constants.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() % end.max(1)
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for case in std::fs::read_dir(repository().join("tests/golden/pdf")).expect("golden PDFs") {
        files.push(std::fs::read(case.expect("a case").path().join("input.pdf")).expect("an input"));
    }
    files.sort();
    let leaf = || {
        Leaf::a4().text(72.0, 90.0, 18.0, "Chapter 1").text(72.0, 130.0, 11.0, "The reserve well delivers fourteen cubic metres an hour.")
    };
    let grid = (0..4).fold(leaf(), |leaf, n| leaf.draw(&format!("72 {0} m 400 {0} l S {1} 300 m {1} 420 l S", 300 + n * 40, 72 + n * 109)));
    // Streams as they are written, so that what is changed is operators and not deflated bytes; and deflated.
    let plain = quarry_pdf::testing::written(Builder::new().page(leaf()).page(grid.clone()).title("A title").finish());
    files.push(plain);
    files.push(Builder::new().page(grid).page(leaf().blank_scan().hidden(72.0, 300.0, 9.0, "under it")).save());
    files
}

fn changed(corpus: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = corpus[chance.below(corpus.len())].clone();
    for _ in 0..=chance.below(6) {
        let at = chance.below(bytes.len());
        match chance.below(8) {
            0 | 1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = chance.next() as u8;
                }
            }
            2 | 3 => {
                let token = TOKENS[chance.below(TOKENS.len())].as_bytes();
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

/// Everything the layer offers.
fn exercise(bytes: &[u8], draw: bool) {
    let limits = Limits { stream_bytes: 16 << 20, expanded_bytes: 64 << 20, pdf_pages: 50, image_pixels: 4_000_000, ..Limits::default() };
    let Ok(pdf) = Pdf::open(bytes.to_vec(), &limits) else { return };
    let mut objects = Vec::new();
    pdf.read(|number, page, fonts| {
        let lines = reading_order(lines_of(&page, fonts));
        assert!(lines.iter().all(|line| !line.words.is_empty()), "a line has words");
        grids_of(&page);
        let coverage = page.picture_coverage();
        assert!((0.0..=1.0).contains(&coverage), "a share is a share");
        objects.push((number, page.pictures.iter().filter_map(|picture| picture.object).collect::<BTreeSet<_>>()));
        true
    });
    for (number, wanted) in objects.into_iter().take(4) {
        pdf.pictures(number, &wanted, limits.image_pixels);
    }
    pdf.outline();
    pdf.notes();
    pdf.title();
    pdf.language();
    pdf.active_content();
    if draw && pdf.page_size(1).is_some_and(|(width, height)| width * height < 1e6) {
        let _ = pdf.render(1, 36.0);
    }
}

/// Whether an input is read without a panic and in time.
fn survives(bytes: &[u8], draw: bool) -> Result<(), String> {
    let (send, receive) = mpsc::channel();
    let input = bytes.to_vec();
    let work = move || {
        let ended = catch_unwind(AssertUnwindSafe(|| exercise(&input, draw)));
        let _ = send.send(ended.map_err(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
        }));
    };
    thread::Builder::new().stack_size(STACK_BYTES).spawn(work).map_err(|error| error.to_string())?;
    match receive.recv_timeout(PATIENCE) {
        Ok(ended) => ended.map_err(|panic| format!("panic: {panic}")),
        Err(_) => Err(format!("no end after {PATIENCE:?}")),
    }
}

fn main() -> ExitCode {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let time = Duration::from_secs(number("QUARRY_FUZZ_SECONDS").unwrap_or(2));
    let seed = number("QUARRY_FUZZ_SEED").unwrap_or(1);
    let (mended, found) = (repository().join("tests/fuzz/finds"), repository().join("target/fuzz-finds"));
    let mut finds = 0;
    let mut known: Vec<PathBuf> = std::fs::read_dir(&mended).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    known.sort();
    for path in known {
        let bytes = std::fs::read(&path).expect("a find");
        if let Err(what) = survives(&bytes, true) {
            eprintln!("{}: {what}", path.display());
            finds += 1;
        }
    }
    std::fs::create_dir_all(&found).expect("a folder for finds");
    let corpus = corpus();
    let mut chance = Chance(seed);
    let (begun, mut tried) = (Instant::now(), 0u64);
    while begun.elapsed() < time {
        let bytes = changed(&corpus, &mut chance);
        tried += 1;
        // What takes the whole process down is found here afterwards.
        let current = found.join("current.pdf");
        std::fs::write(&current, &bytes).expect("the input is kept");
        if let Err(what) = survives(&bytes, tried.is_multiple_of(16)) {
            finds += 1;
            let kept = found.join(format!("{seed}-{tried}.pdf"));
            std::fs::rename(&current, &kept).expect("the find is kept");
            eprintln!("{}: {what}", kept.display());
        }
    }
    eprintln!("{tried} inputs from seed {seed} in {:?}: {finds} finds", begun.elapsed());
    if finds > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
