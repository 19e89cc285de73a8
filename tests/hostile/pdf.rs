//! PDF through the whole program (rows 20 to 28); every ending in detail is in `tests/torture`.

use crate::road::Road;

#[path = "../torture/build.rs"]
#[allow(dead_code, reason = "the torture set uses all of it")]
mod build;

use build::{annotated, deflate, encrypted, filtered, pages, raw};
use quarry_pdf::testing::{Builder, Leaf};

#[test]
fn row_20_loops_and_a_tree_of_pages_that_holds_itself() {
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>/Font<</F 6 0 R>>>>>>";
    let content = "<</Length 52>>\nstream\n/X Do BT /F 12 Tf 20 100 Td (The end is reached) Tj ET\nendstream";
    let form = "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>/Length 11>>\nstream\n/X Do /X Do\nendstream";
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";
    let file = raw(&["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R 3 0 R 2 0 R]/Count 3>>", page, content, form, font]);
    assert!(Road::with("loop.pdf", &file).and_is_read().markdown().contains("The end is reached"));
}

#[test]
fn row_21_four_million_arrays_in_one_another() {
    let deep = "[".repeat(4_000_000);
    let file = raw(&[
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        &format!("<</Type/Page/Parent 2 0 R/Annots {deep}>>"),
    ]);
    Road::with("deep.pdf", &file).ends_within(&["TOO_DEEP", "CORRUPT", "EMPTY"]);
}

#[test]
fn row_22_a_bomb_of_stacked_filters() {
    // A kilobyte that is 300 MB.
    let bomb = deflate(&deflate(&vec![b' '; 300 << 20]));
    assert!(bomb.len() < 4 << 10, "{} bytes", bomb.len());
    Road::with("bomb.pdf", &filtered(&["FlateDecode", "FlateDecode"], bomb)).fails_with(&["BOMB"]);
}

#[test]
fn row_24_a_password() {
    Road::with("locked.pdf", &encrypted("a real one")).fails_with(&["ENCRYPTED"]);
    assert!(Road::with("open.pdf", &encrypted("")).and_is_read().markdown().contains("fourteen cubic metres"));
}

#[test]
fn rows_23_and_25_broken_and_cut_off() {
    let whole = pages(3).save();
    let end = whole.windows(9).rposition(|w| w == b"startxref").expect("an end");
    let manifest = Road::with("cut.pdf", &whole[..end]).and_is_read().manifest();
    assert_eq!(manifest["quality"]["status"], "partial");
    Road::with("start.pdf", &whole[..40]).fails_with(&["CORRUPT"]);
    let lies = [&whole[..end], b"startxref\n18446744073709551615\n%%EOF\n"].concat();
    assert!(Road::with("lies.pdf", &lies).and_is_read().markdown().contains("unique3"));
}

#[test]
fn row_26_pictures_only() {
    let file = Builder::new().page(Leaf::sized(120.0, 90.0).blank_scan()).page(Leaf::sized(120.0, 90.0).blank_scan()).save();
    // Whether or not this machine reads text in pictures: these hold none.
    let manifest = Road::with("scan.pdf", &file).and_is_read().manifest();
    assert_eq!(manifest["statistics"]["image_chunks"], 2);
    assert_eq!(manifest["profile"]["routing_category"], "scanned");
    assert!(manifest["quality"]["warnings"].as_array().is_some_and(|all| all.iter().any(|one| one["code"] == "NO_TEXT")), "{manifest}");
}

#[test]
fn row_27_nothing_in_it_is_run() {
    let catalog =
        "/OpenAction<</S/JavaScript/JS(app.launchURL\\(1\\))>>/Names<</EmbeddedFiles<</Names[(evil.exe)<</Type/Filespec/F(evil.exe)>>]>>>>";
    let manifest = Road::with("active.pdf", &annotated(&[], catalog)).and_is_read().manifest();
    let said = manifest["quality"].to_string();
    assert!(said.contains("open action") && said.contains("embedded files"), "{said}");
}

#[test]
fn row_28_more_pages_than_are_read() {
    Road::with("long.pdf", &pages(1_501).save()).fails_with(&["TOO_MANY_PAGES"]);
}
