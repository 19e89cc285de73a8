//! Odd documents that must be read.

use quarry_model::DocumentCode;
use quarry_pdf::testing::{Builder, Leaf};

use crate::build::{SENTENCE, annotated, encrypted, leaf, pages, with_font};
use crate::run::{folder, refused, text, warned, words};

#[test]
fn a_broken_cross_reference_table_is_rebuilt() {
    let good = String::from_utf8_lossy(&crate::build::raw(&["<<>>"])).into_owned();
    assert!(good.contains("startxref"), "the builder writes a table");
    let bytes = pages(3).save();
    let at = bytes.windows(9).rposition(|w| w == b"startxref").unwrap();
    let wrong_place = [&bytes[..at], b"startxref\n99999999\n%%EOF\n"].concat();
    let no_table: Vec<u8> = [&bytes[..at], b"\n%%EOF\n"].concat();
    let mut shifted = b"%PDF-1.5\n%junk in front of everything\n".to_vec();
    shifted.extend_from_slice(&bytes[9..]);
    for broken in [wrong_place, no_table, shifted] {
        let text = text(&broken);
        for number in 1..=3 {
            assert!(text.contains(&format!("unique{number}")), "page {number} is found: {text}");
        }
    }
}

#[test]
fn a_file_that_is_cut_off_says_so() {
    // Pages first, so that half a file holds half of them.
    let bytes = pages(6).save();
    let end = bytes.windows(9).rposition(|w| w == b"startxref").unwrap();
    let cut = folder(&bytes[..end]);
    assert!(words(&cut).contains("unique1"));
    assert!(warned(&cut).contains(&DocumentCode::Corrupt));
    assert_eq!(serde_json::to_value(&cut.manifest.quality).unwrap()["status"], "partial");
    assert_eq!(serde_json::to_value(&folder(&bytes).manifest.quality).unwrap()["status"], "complete");
}

#[test]
fn characters_without_a_meaning_are_said_to_have_none() {
    let font = "<</Type/Font/Subtype/Type3/FontBBox[0 0 10 10]/FontMatrix[0.1 0 0 0.1 0 0]/FirstChar 65/LastChar 66/Widths[10 10]\
        /CharProcs<</g1 6 0 R/g2 6 0 R>>/Encoding<</Type/Encoding/Differences[65/g1/g2]>>/Resources<<>>>>";
    let glyph = "<</Length 31>>\nstream\n10 0 0 0 10 10 d1 1 1 8 8 re f\nendstream";
    let content = format!("BT /F1 11 Tf 72 700 Td ({}) Tj ET", "ABAB".repeat(20));
    match crate::run::read(&with_font(font, &content, &[glyph])) {
        Ok(folder) => assert!(warned(&folder).contains(&DocumentCode::NoText), "{:?}", folder.manifest.quality),
        Err(failure) => assert_eq!(failure.code, DocumentCode::NoText, "{failure}"),
    }
}

#[test]
fn chinese_without_an_embedded_font_is_read() {
    let font = "<</Type/Font/Subtype/Type0/BaseFont/SimSun/Encoding/GBK-EUC-H/DescendantFonts[6 0 R]>>";
    let descendant = "<</Type/Font/Subtype/CIDFontType2/BaseFont/SimSun/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 2>>/DW 1000\
        /FontDescriptor<</Type/FontDescriptor/FontName/SimSun/Flags 4/ItalicAngle 0/Ascent 859/Descent -140/StemV 80/FontBBox[0 -140 996 855]>>>>";
    // 水泵手册 in GBK.
    let found = text(&with_font(font, "BT /F1 14 Tf 72 700 Td <CBAEB1C3CAD6B2E1> Tj ET", &[descendant]));
    assert!(found.contains("水泵手册"), "{found}");
}

#[test]
fn hebrew_is_read_from_right_to_left() {
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>";
    let map = "/CIDInit/ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange<00><FF>endcodespacerange\n\
        4 beginbfchar <61><05E9><62><05DC><63><05D5><64><05DD> endbfchar endcmap end end";
    let stream = format!("<</Length {}>>\nstream\n{map}\nendstream", map.len());
    // Drawn from left to right: the last letter of the word first.
    let found = text(&with_font(font, "BT /F1 14 Tf 72 700 Td (dcba) Tj ET", &[&stream]));
    assert!(found.contains("שלום"), "{found}");
}

#[test]
fn turned_pages_are_read_as_they_are_held() {
    for rotate in [90, 180, 270, 450] {
        let mut page = leaf(1);
        page.rotate = rotate;
        // Held upright, the text runs along the page's other side.
        let found = text(&Builder::new().page(page).save());
        assert!(found.contains("fourteen cubic metres"), "{rotate}: {found}");
    }
}

#[test]
fn values_of_a_form_are_read_though_nobody_has_drawn_them() {
    let fields = [
        "<</Type/Annot/Subtype/Widget/FT/Tx/T(given)/TU(Given name)/V(Ada)/Rect[100 600 300 620]>>",
        "<</Type/Annot/Subtype/Widget/FT/Ch/T(country)/V[(Italy)(Malta)]/Rect[100 560 300 580]>>",
        "<</Type/Annot/Subtype/Widget/FT/Btn/T(agreed)/V/Yes/Rect[100 520 120 540]>>",
        "<</Type/Annot/Subtype/Widget/FT/Btn/T(declined)/V/Off/Rect[100 500 120 510]>>",
        "<</Type/Annot/Subtype/Widget/FT/Tx/T(secret)/V(unseen)/F 2/Rect[100 480 300 490]>>",
    ];
    let found = text(&annotated(&fields, "/AcroForm<</Fields[]>>"));
    assert!(found.contains("Given name: Ada") && found.contains("country: Italy, Malta") && found.contains("agreed: Yes"), "{found}");
    assert!(!found.contains("declined") && !found.contains("unseen"), "{found}");
}

#[test]
fn comments_are_read_where_they_stand() {
    let notes = [
        "<</Type/Annot/Subtype/Text/Contents(Check this number.)/T(Ada)/Rect[300 690 320 710]>>",
        "<</Type/Annot/Subtype/Popup/Contents(not twice)/Rect[0 0 1 1]>>",
    ];
    let read = folder(&annotated(&notes, ""));
    assert!(words(&read).contains("Check this number.") && !words(&read).contains("not twice"), "{}", words(&read));
    let chunk = read.chunks.chunks.iter().find(|chunk| chunk.content.contains("Check this number.")).unwrap();
    assert!(chunk.metadata.boxes.iter().any(|b| b.x0 >= 290.0 && b.x1 <= 330.0 && b.y0 >= 120.0), "{:?}", chunk.metadata.boxes);
}

#[test]
fn letter_spaced_text_is_words() {
    let page = Leaf::a4().draw("BT /F1 12 Tf 6 Tc 72 700 Td (SPACED HEADING) Tj ET").text(72.0, 200.0, 11.0, SENTENCE);
    let found = text(&Builder::new().page(page).save());
    assert!(found.contains("SPACED HEADING"), "{found}");
}

#[test]
fn a_scan_with_hidden_words_is_read_by_them() {
    let page = Leaf::a4().blank_scan().hidden(72.0, 100.0, 11.0, SENTENCE);
    let read = folder(&Builder::new().page(page).save());
    assert!(words(&read).contains("fourteen cubic metres"));
    assert_eq!(read.manifest.profile.routing_category, "scanned");
}

/// Row 24.
#[test]
fn an_empty_password_opens_and_a_real_one_refuses() {
    assert!(text(&encrypted("")).contains("fourteen cubic metres"));
    assert_eq!(refused(&encrypted("a real one")), DocumentCode::Encrypted);
}

/// Row 26.
#[test]
fn pictures_alone_are_chunks_and_a_warning() {
    let read = folder(&Builder::new().page(Leaf::a4().blank_scan()).page(Leaf::a4().blank_scan()).save());
    assert_eq!(read.manifest.statistics.image_chunks, 2);
    assert!(warned(&read).contains(&DocumentCode::NoText));
}

/// Row 27.
#[test]
fn what_would_run_or_open_is_noted() {
    let catalog = "/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>/AcroForm<</XFA[(template)(<a/>)]/Fields[]>>\
        /Names<</JavaScript<</Names[(x)<</S/JavaScript/JS(this.run)>>]>>/EmbeddedFiles<</Names[(evil.exe)<</Type/Filespec/F(evil.exe)>>]>>>>";
    let launch = "<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/Launch/F(calc.exe)>>>>";
    let read = folder(&annotated(&[launch], catalog));
    let said = serde_json::to_string(&read.manifest.quality).unwrap();
    for what in ["open action", "script", "embedded files", "XFA"] {
        assert!(said.contains(what), "{what} in {said}");
    }
    for inner in ["app.alert", "this.run", "calc.exe", "evil.exe"] {
        assert!(!words(&read).contains(inner) && !said.contains(inner), "{inner}");
    }
}
