//! The PDF reading layer: files changed with their structure, and everything the layer offers asked of them.

use std::collections::BTreeSet;

use quarry_model::Limits;
use quarry_pdf::testing::{Builder, Leaf};
use quarry_pdf::{Pdf, grids_of, lines_of, reading_order};
use quarry_tests::repository;

/// Pieces of syntax that are put where they do not belong.
pub(crate) const TOKENS: &[&str] = &[
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

pub(crate) fn corpus() -> Vec<Vec<u8>> {
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

/// Everything the layer offers.
pub(crate) fn exercise(bytes: &[u8], draw: bool) {
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
