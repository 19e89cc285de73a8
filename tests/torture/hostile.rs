//! Documents that attack: loops, depth, bombs, lies about sizes.

use quarry_model::{DocumentCode, Limits};

use crate::build::{deflate, filtered, pages, raw};
use crate::run::{Ended, read, read_within, refused, text, words};

/// Read in any way, or refused with one of these codes.
#[track_caller]
fn ends(ended: &Ended, codes: &[DocumentCode]) {
    if let Err(failure) = ended {
        assert!(codes.contains(&failure.code), "{failure}");
    }
}

/// Row 20.
#[test]
fn loops_are_walked_once() {
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>/Font<</F 6 0 R>>>>>>";
    let content = "<</Length 52>>\nstream\n/X Do BT /F 12 Tf 20 100 Td (The end is reached) Tj ET\nendstream";
    let form = "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>/Length 11>>\nstream\n/X Do /X Do\nendstream";
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";
    // The tree of pages holds itself, and the page twice.
    let tree = "<</Type/Pages/Kids[2 0 R 3 0 R 2 0 R 3 0 R]/Count 4>>";
    let read = text(&raw(&[
        "<</Type/Catalog/Pages 2 0 R/Outlines 7 0 R>>",
        tree,
        page,
        content,
        form,
        font,
        "<</First 8 0 R>>",
        "<</Title(a)/Next 8 0 R/First 8 0 R>>",
    ]));
    assert!(read.contains("The end is reached"), "{read}");
    // Its content is itself, its parent is itself.
    ends(
        &crate::run::read(&raw(&[
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Kids[3 0 R]/Count 1/Parent 2 0 R>>",
            "<</Type/Page/Parent 3 0 R/Contents 3 0 R>>",
        ])),
        &[DocumentCode::Corrupt, DocumentCode::Empty],
    );
    ends(&crate::run::read(&raw(&["1 0 R", "2 0 R"])), &[DocumentCode::Corrupt]);
}

/// Row 21.
#[test]
fn arrays_in_arrays_end() {
    for open in ["[", "<</A", "[<</A[", "("] {
        let deep = open.repeat(200_000);
        let nested = format!("<</Type/Catalog/Pages 2 0 R/Deep {deep}>>");
        let tree = "<</Type/Pages/Kids[3 0 R]/Count 1>>";
        let page = format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Annots {deep}>>");
        let content = format!("<</Length {}>>\nstream\n{deep} TJ\nendstream", deep.len() + 3);
        ends(&read(&raw(&[&nested, tree, &page, &content])), &[DocumentCode::TooDeep, DocumentCode::Corrupt, DocumentCode::Empty]);
    }
}

/// Row 22.
#[test]
fn stacked_filters_are_a_bomb() {
    let limits = Limits { stream_bytes: 8 << 20, expanded_bytes: 32 << 20, ..Limits::default() };
    let inner = deflate(&vec![b' '; 64 << 20]);
    for (filters, data) in [
        (vec!["FlateDecode"], inner.clone()),
        (vec!["FlateDecode", "FlateDecode"], deflate(&inner)),
        (vec!["FlateDecode"; 3], deflate(&deflate(&inner))),
        (vec!["FlateDecode"; 40], inner.clone()),
    ] {
        let failure = read_within(&filtered(&filters, data), &limits).map(|folder| words(&folder)).unwrap_err();
        assert_eq!(failure.code, DocumentCode::Bomb, "{filters:?}");
    }
}

/// Row 22, with the filters that need no table to expand, around a small bomb.
#[test]
fn other_filters_do_not_hide_a_bomb() {
    let limits = Limits { stream_bytes: 8 << 20, expanded_bytes: 32 << 20, ..Limits::default() };
    let hex: Vec<u8> = deflate(&vec![b' '; 64 << 20]).iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).chain([b'>']).collect();
    let failure = read_within(&filtered(&["ASCIIHexDecode", "FlateDecode"], hex), &limits).map(|folder| words(&folder)).unwrap_err();
    assert_eq!(failure.code, DocumentCode::Bomb);
    // 128 equal bytes in two, a million times over.
    let run = [129u8, b' '].repeat(1 << 20);
    let ended = read_within(&filtered(&["RunLengthDecode"], run), &limits);
    assert_eq!(ended.map(|folder| words(&folder)).unwrap_err().code, DocumentCode::Bomb);
}

/// Row 23.
#[test]
fn lies_about_sizes_allocate_nothing() {
    let stream = |entries: &str| {
        format!(
            "%PDF-1.5\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[]/Count 999999999>>\nendobj\n\
            3 0 obj\n<</Type/XRef/Root 1 0 R {entries}/Length 6>>\nstream\nabcdef\nendstream\nendobj\nstartxref\n104\n%%EOF\n"
        )
    };
    for entries in [
        "/Size 2147483647/W[1 2 1]",
        "/Size -1/W[1 2 1]",
        "/Size 4/W[2147483647 2147483647 2147483647]",
        "/Size 4/W[-1 -2 -3]",
        "/Size 4/W[0 0 0]/Index[0 4294967295]",
        "/Size 4/W[1 2 1]/Index[-5 10 9999999999 1]",
        "/Size 4/W[1 2 1]/Prev 104",
    ] {
        ends(&read(stream(entries).as_bytes()), &[DocumentCode::Corrupt, DocumentCode::Empty]);
    }
    let table = |rows: &str| {
        format!(
            "%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\nxref\n{rows}\ntrailer\n<</Root 1 0 R/Size 9/Prev 46>>\nstartxref\n46\n%%EOF\n"
        )
    };
    for rows in ["0 4294967295", "-1 5", "0 2\n9999999999 65535 f \n0000000046 00000 n ", "0 99999999999999999999"] {
        ends(&read(table(rows).as_bytes()), &[DocumentCode::Corrupt, DocumentCode::Empty]);
    }
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[-1e38 -1e38 1e38 1e38]/Rotate 7/UserUnit 1e30/Contents 4 0 R>>";
    let huge = raw(&[
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        page,
        "<</Length 999999999>>\nstream\n1e38 0 0 1e38 0 0 cm 0 0 1 1 re f\nendstream",
    ]);
    ends(&read(&huge), &[DocumentCode::Corrupt, DocumentCode::Empty]);
    let picture = "<</Type/XObject/Subtype/Image/Width 2147483647/Height 2147483647/ColorSpace/DeviceRGB/BitsPerComponent 8/Length 3>>\nstream\nabc\nendstream";
    let draws = "<</Length 28>>\nstream\nq 200 0 0 200 0 0 cm /I Do Q\nendstream";
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>";
    ends(
        &read(&raw(&["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", page, draws, picture])),
        &[DocumentCode::Corrupt, DocumentCode::Empty],
    );
}

/// Row 28.
#[test]
fn too_many_pages_are_refused_before_they_are_read() {
    let kids = "3 0 R ".repeat(5_000);
    let tree = format!("<</Type/Pages/Kids[{kids}]/Count 5000>>");
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>";
    // One page five thousand times is one page; five thousand pages are too many.
    ends(&read(&raw(&["<</Type/Catalog/Pages 2 0 R>>", &tree, page])), &[DocumentCode::TooManyPages, DocumentCode::Empty]);
    assert_eq!(refused(&pages(1_501).save()), DocumentCode::TooManyPages);
}

#[test]
fn a_stream_of_operators_without_end_is_cut() {
    let states = "q ".repeat(400_000);
    let text = format!("BT /F1 9 Tf {} ET", "(a) Tj ".repeat(400_000));
    let forms = "/X Do ".repeat(100_000);
    for content in [states, text, forms] {
        let stream = format!("<</Length {}>>\nstream\n{content}\nendstream", content.len());
        let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>/XObject<</X 6 0 R>>>>>>";
        let form = "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 12>>\nstream\n0 0 m 1 1 l S\nendstream";
        let font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";
        ends(
            &read(&raw(&["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", page, &stream, font, form])),
            &[DocumentCode::Empty],
        );
    }
}
