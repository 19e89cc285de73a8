//! What is read of slides, row by row.

mod support;

use quarry_model::{DocumentCode, Parsed, RowKind};
use support::{NAMESPACES, Pptx, Slide, frame, group, p, parse, picture, placeholder, pp, shape, table, text_box, title};

fn texts(parsed: &Parsed) -> Vec<&str> {
    parsed.rows.iter().map(|row| row.content.as_str()).collect()
}

fn titles(parsed: &Parsed) -> Vec<(&str, Option<u32>)> {
    parsed.headings.iter().map(|heading| (heading.title.as_str(), heading.page)).collect()
}

#[test]
fn a_slide_is_a_section_and_a_page() {
    let parsed = Pptx::new([Slide::new(title("One") + &text_box((20, 100, 100, 20), &p("a"))), Slide::new(title("Two"))]).read();
    assert_eq!(titles(&parsed), [("One", Some(1)), ("Two", Some(2))]);
    assert_eq!(parsed.page_count, Some(2));
    let row = &parsed.rows[0];
    assert_eq!((row.section, row.pages.as_slice()), (Some(0), &[1][..]));
    let place = row.boxes[0];
    assert_eq!((place.page, place.x0, place.y0, place.x1, place.y1), (1, 20.0, 100.0, 120.0, 120.0));
}

#[test]
fn the_layout_says_which_placeholder_is_the_title() {
    // A mention without a kind is what the layout's placeholder of that index is; index 0 is the title.
    let slide = Slide::new(placeholder(r#"idx="1""#, None, &p("item")) + &placeholder("", None, &p("The title")));
    let parsed = Pptx::new([slide]).read();
    assert_eq!(titles(&parsed)[0].0, "The title");
    assert_eq!(texts(&parsed), ["- item"], "bodies inherit their bullets");
}

#[test]
fn a_title_in_lines_is_one_line_and_an_empty_one_is_none() {
    let lines = placeholder(r#"type="title""#, None, "<a:p><a:r><a:t>Up</a:t></a:r><a:br/><a:r><a:t>and down</a:t></a:r></a:p>");
    let empty = placeholder(r#"type="title""#, None, "<a:p/>") + &text_box((20, 100, 100, 20), &p("Instead"));
    let parsed = Pptx::new([Slide::new(lines), Slide::new(empty), Slide::new("")]).read();
    assert_eq!(titles(&parsed).iter().map(|(title, _)| *title).collect::<Vec<_>>(), ["Up and down", "Instead", "Slide 3"]);
}

#[test]
fn a_larger_text_is_the_title_of_a_slide_without_one() {
    let large = r#"<a:p><a:r><a:rPr sz="3600"/><a:t>Large words</a:t></a:r></a:p>"#;
    let slide = Slide::new(
        text_box((20, 20, 100, 20), &p("small print"))
            + &text_box((20, 60, 400, 60), large)
            + &text_box((20, 400, 400, 60), &large.replace("Large", "Low")),
    );
    let parsed = Pptx::new([slide]).read();
    assert_eq!(titles(&parsed)[0].0, "Large words");
    assert_eq!(texts(&parsed), ["small print", "Low words"]);
}

#[test]
fn a_long_first_text_stays_text() {
    let long = "word ".repeat(60);
    let parsed = Pptx::new([Slide::new(text_box((20, 20, 400, 200), &p(long.trim())))]).read();
    assert_eq!((titles(&parsed)[0].0, texts(&parsed)[0]), ("Slide 1", long.trim()));
}

#[test]
fn shapes_are_read_by_position() {
    let at = |x, y, text: &str| text_box((x, y, 200, 40), &p(text));
    let slide = Slide::new(title("T") + &at(400, 300, "4") + &at(20, 300, "3") + &at(400, 100, "2") + &at(20, 100, "1"));
    assert_eq!(texts(&Pptx::new([slide]).read()), ["1", "2", "3", "4"]);
    // Placeholders without a place of their own stand where the layout puts them.
    let slide = Slide::new(title("T") + &placeholder(r#"idx="2""#, None, &p("right")) + &placeholder(r#"idx="1""#, None, &p("left")));
    assert_eq!(texts(&Pptx::new([slide]).read()), ["- left", "- right"]);
}

#[test]
fn a_group_is_read_as_one() {
    let inner = text_box((30, 110, 80, 20), &p("in 1")) + &text_box((30, 150, 80, 20), &p("in 2"));
    let slide = Slide::new(title("T") + &text_box((300, 120, 80, 20), &p("beside")) + &group((20, 100, 100, 100), &inner));
    assert_eq!(texts(&Pptx::new([slide]).read()), ["in 1", "in 2", "beside"]);
}

#[test]
fn merged_cells_are_spans_and_lose_no_words() {
    let rows: &[&[(&str, &str)]] = &[
        &[("gridSpan=\"2\" rowSpan=\"2\"", "both"), ("hMerge=\"1\"", "left over"), ("", "c")],
        &[("vMerge=\"1\"", ""), ("hMerge=\"1\" vMerge=\"1\"", ""), ("", "f")],
        &[("gridSpan=\"2147483648\"", "g"), ("", "h"), ("rowSpan=\"999\"", "i")],
    ];
    let parsed = Pptx::new([Slide::new(title("T") + &frame((20, 100, 300, 90), &table(r#"firstRow="1" firstCol="1""#, rows)))]).read();
    let table = parsed.rows[0].table.as_ref().unwrap();
    let cells: Vec<Vec<(&str, u32, u32)>> =
        table.rows.iter().map(|row| row.iter().map(|cell| (cell.text.as_str(), cell.rowspan, cell.colspan)).collect()).collect();
    assert_eq!(
        cells,
        [vec![("both\nleft over", 2, 2), ("c", 1, 1)], vec![("f", 1, 1)], vec![("g", 1, 1), ("h", 1, 1), ("i", 1, 1)]],
        "a span ends with the table, and where a cell that is not merged says something"
    );
    assert_eq!((table.header_rows, table.header_columns), (1, 1));
}

#[test]
fn a_table_of_one_cell_is_a_frame() {
    let parsed = Pptx::new([Slide::new(title("T") + &frame((20, 100, 300, 90), &table("", &[&[("", "framed")]])))]).read();
    assert_eq!((parsed.rows[0].kind, texts(&parsed)[0]), (RowKind::Text, "framed"));
}

#[test]
fn footers_are_told_once_and_slide_numbers_never() {
    let slide = |name: &str| {
        Slide::new(
            title(name)
                + &placeholder(r#"type="ftr" idx="10""#, None, &p("Confidential"))
                + &placeholder(r#"type="sldNum" idx="11""#, None, &p("12")),
        )
    };
    assert_eq!(texts(&Pptx::new([slide("a"), slide("b")]).read()), ["Confidential"]);
}

#[test]
fn notes_and_comments_stand_behind_their_slide() {
    let thread = r#"<p188:cmLst xmlns:p188="http://schemas.microsoft.com/office/powerpoint/2018/8/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">
        <p188:cm authorId="{A}"><p188:replyLst><p188:reply authorId="{B}"><p188:txBody><a:p><a:r><a:t>No.</a:t></a:r></a:p></p188:txBody></p188:reply></p188:replyLst>
        <p188:txBody><a:p><a:r><a:t>Is it?</a:t></a:r></a:p></p188:txBody></p188:cm></p188:cmLst>"#;
    let authors = r#"<p188:authorLst xmlns:p188="http://schemas.microsoft.com/office/powerpoint/2018/8/main"><p188:author id="{A}" name="Ann"/></p188:authorLst>"#;
    let slide = Slide::new(title("T") + &text_box((20, 100, 90, 20), &p("body"))).notes("n1", &(p("say this") + &p("then that"))).related(
        "rIdC",
        "comments",
        "comments/modernComment_1.xml",
        thread,
    );
    let parsed = Pptx::new([slide]).related("rIdA", "authors", "authors.xml", authors).read();
    assert_eq!(texts(&parsed), ["body", "Notes: say this", "then that", "Comment (Ann): Is it?", "Comment: No."]);
    assert!(parsed.rows.iter().all(|row| row.pages == [1]));
}

#[test]
fn hidden_slides_and_shapes_are_marked() {
    let off = shape("<p:nvPr/>", r#" hidden="1""#, Some((20, 100, 90, 20)), &p("off"));
    let parsed = Pptx::new([Slide::new(title("a") + &off), Slide::new(title("b") + &text_box((20, 100, 90, 20), &p("x"))).hidden()]).read();
    assert_eq!(parsed.rows.iter().map(|row| row.hidden).collect::<Vec<_>>(), [true, true]);
    assert_eq!(parsed.headings.len(), 2);
}

#[test]
fn a_missing_picture_is_a_warning_and_keeps_its_description() {
    let slide = Slide::new(title("T") + &picture("rId7", "A bridge", (20, 100, 90, 90)) + &picture("rId9", "", (20, 300, 90, 90)))
        .relationship("rId7", "image", "../media/gone.png", "Internal")
        .relationship("rId9", "image", "https://example.org/a.png", "External");
    let parsed = Pptx::new([slide]).read();
    assert_eq!(texts(&parsed), ["A bridge", "https://example.org/a.png"]);
    assert!(parsed.partial && parsed.warnings.iter().any(|warning| warning.message.contains("gone.png")), "{:?}", parsed.warnings);
    assert!(parsed.rows.iter().all(|row| row.asset.is_none()));
}

#[test]
fn a_damaged_slide_leaves_the_others() {
    let deck = Pptx::new([Slide::new(title("a")), Slide::new(title("b")), Slide::new(title("c"))]).with_slide(1, b"<p:sld".to_vec());
    let parsed = deck.read();
    assert_eq!(titles(&parsed), [("a", Some(1)), ("Slide 2", Some(2)), ("c", Some(3))]);
    assert!(parsed.partial);
}

#[test]
fn without_a_list_slides_are_read_by_name() {
    let slides = (1..=11).map(|n| Slide::new(title(&format!("s{n}"))));
    let parsed = Pptx::new(slides).with_list("").read();
    assert_eq!(
        titles(&parsed).iter().map(|(title, _)| (*title).to_owned()).collect::<Vec<_>>(),
        (1..=11).map(|n| format!("s{n}")).collect::<Vec<_>>()
    );
}

#[test]
fn no_slides_are_an_empty_document() {
    assert_eq!(parse(&Pptx::new([]).bytes()).unwrap_err().code, DocumentCode::Empty);
}

#[test]
fn strict_names_read_alike() {
    let mut parts = Pptx::new([Slide::new(title("Strict") + &text_box((20, 100, 90, 20), &p("words")))]).all_parts();
    for (_, bytes) in &mut parts {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let text = text
            .replace("http://schemas.openxmlformats.org/presentationml/2006/main", "http://purl.oclc.org/ooxml/presentationml/main")
            .replace("http://schemas.openxmlformats.org/drawingml/2006/main", "http://purl.oclc.org/ooxml/drawingml/main")
            .replace(
                "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
                "http://purl.oclc.org/ooxml/officeDocument/relationships",
            );
        *bytes = text.into_bytes();
    }
    let parsed = parse(&support::zip_of(&parts)).unwrap();
    assert_eq!((titles(&parsed)[0].0, texts(&parsed)[0]), ("Strict", "words"));
}

#[test]
fn an_embedded_object_is_its_picture() {
    let object = format!(
        r#"<mc:AlternateContent><mc:Choice Requires="v"><p:oleObj progId="Excel.Sheet.12" spid="1"/></mc:Choice><mc:Fallback><p:oleObj progId="Excel.Sheet.12"><p:embed/>{}</p:oleObj></mc:Fallback></mc:AlternateContent>"#,
        picture("rId5", "", (20, 100, 90, 90))
    );
    let slide = Slide::new(title("T") + &frame((20, 100, 90, 90), &object)).related("rId5", "image", "media/image1.png", support::PIXEL);
    let parsed = Pptx::new([slide]).read();
    assert_eq!(parsed.rows.iter().map(|row| row.asset).collect::<Vec<_>>(), [Some(0)]);
    assert!(parsed.warnings.iter().any(|warning| warning.message.contains("Excel.Sheet.12")));
}

#[test]
fn alternatives_are_read_once() {
    let both = format!(
        "<mc:AlternateContent><mc:Choice Requires=\"x\">{}</mc:Choice><mc:Fallback>{}</mc:Fallback></mc:AlternateContent>",
        text_box((20, 100, 90, 20), &p("once")),
        text_box((20, 100, 90, 20), &p("once"))
    );
    let parsed = Pptx::new([Slide::new(title("T") + &both)]).read();
    assert_eq!(texts(&parsed), ["once"]);
    let _ = (NAMESPACES, pp);
}

/// hostile.md, row 29.
#[test]
fn two_thousand_slides_and_groups_in_groups() {
    let slides = (0..2_000).map(|n| Slide::new(title(&format!("Slide {n}")) + &text_box((20, 100, 90, 20), &p(&format!("text {n}")))));
    let parsed = Pptx::new(slides).read();
    assert_eq!(texts(&parsed), (0..2_000).map(|n| format!("text {n}")).collect::<Vec<_>>());
    let mut nested = text_box((20, 100, 90, 20), &p("innermost"));
    for _ in 0..60 {
        nested = group((20, 100, 90, 20), &nested);
    }
    assert_eq!(texts(&Pptx::new([Slide::new(title("T") + &nested)]).read()), ["innermost"]);
    for _ in 0..2_000 {
        nested = format!("<p:grpSp>{nested}</p:grpSp>");
    }
    assert_eq!(parse(&Pptx::new([Slide::new(nested)]).bytes()).unwrap_err().code, DocumentCode::TooDeep);
}
