//! Headings, numbers, lists and tables.
#![allow(clippy::format_collect, clippy::needless_raw_string_hashes, reason = "parts are written as they look in a file")]

mod support;

use quarry_model::{Evidence, Limits};
use support::{Docx, NAMESPACES, headings, listed, p, parse_with, pp, run, styled, table, tables, texts};

/// A list with these levels: format and pattern.
fn list(id: i64, levels: &[(&str, &str)]) -> String {
    let levels: String = levels
        .iter()
        .enumerate()
        .map(|(index, (format, text))| {
            format!(r#"<w:lvl w:ilvl="{index}"><w:start w:val="1"/><w:numFmt w:val="{format}"/><w:lvlText w:val="{text}"/></w:lvl>"#)
        })
        .collect();
    format!(r#"<w:abstractNum w:abstractNumId="{id}">{levels}</w:abstractNum>"#)
}

fn instance(id: i64, of: i64, inside: &str) -> String {
    format!(r#"<w:num w:numId="{id}"><w:abstractNumId w:val="{of}"/>{inside}</w:num>"#)
}

#[test]
fn headings_follow_outline_levels_through_based_on() {
    let styles = r#"
        <w:style w:type="paragraph" w:styleId="A"><w:name w:val="Επικεφαλίδα"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
        <w:style w:type="paragraph" w:styleId="B"><w:name w:val="mine"/><w:basedOn w:val="A"/></w:style>
        <w:style w:type="paragraph" w:styleId="C"><w:name w:val="body again"/><w:basedOn w:val="A"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
        <w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/></w:style>
        <w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>"#;
    let long = "A heading that is long, ends in a full stop and starts nowhere near a year but is still what its style says it is.";
    let body = styled("T", "The title")
        + &styled("A", "One")
        + &styled("B", long)
        + &styled("C", "no heading")
        + &styled("H2", "2024 Results")
        + &pp("<w:outlineLvl w:val=\"2\"/>", "direct")
        + &pp("<w:pStyle w:val=\"A\"/><w:outlineLvl w:val=\"9\"/>", "taken back")
        + &styled("A", "");
    let parsed = Docx::new(body).styles(styles).read();
    assert_eq!(headings(&parsed), [(1, "The title"), (1, "One"), (1, long), (2, "2024 Results"), (3, "direct")]);
    assert_eq!(texts(&parsed), ["no heading", "taken back"]);
    assert_eq!(parsed.rows[0].section, Some(2));
    assert_eq!(parsed.rows[1].section, Some(4));
}

#[test]
fn row_14_styles_in_a_circle_are_reported() {
    let style = |id: &str, base: &str| {
        format!(r#"<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{id}"/><w:basedOn w:val="{base}"/></w:style>"#)
    };
    let parsed = Docx::new(styled("a", "text")).styles(&(style("a", "b") + &style("b", "a") + &style("c", "c"))).read();
    assert_eq!(texts(&parsed), ["text"]);
    assert_eq!(parsed.warnings.len(), 3);
    assert!(parsed.warnings[0].message.contains("circle"), "{:?}", parsed.warnings);
}

#[test]
fn numbers_are_computed_as_word_shows_them() {
    let numbering = list(0, &[("decimal", "%1."), ("lowerLetter", "%2)"), ("lowerRoman", "%1.%2.%3")])
        + &list(1, &[("bullet", "\u{f0b7}")])
        + &list(2, &[("chineseCountingThousand", "%1、")])
        + &instance(1, 0, "")
        + &instance(2, 0, r#"<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>"#)
        + &instance(3, 1, "")
        + &instance(4, 2, "");
    let body = listed(1, 0, "one")
        + &listed(1, 1, "a")
        + &listed(1, 1, "b")
        + &listed(1, 2, "deep")
        + &listed(1, 0, "two")
        + &listed(1, 1, "again a")
        + &listed(2, 0, "seven")
        + &listed(2, 0, "eight")
        + &listed(3, 0, "dot")
        + &listed(4, 0, "中文")
        + &listed(0, 0, "no list")
        + &listed(77, 0, "unknown list");
    let parsed = Docx::new(body).numbering(&numbering).read();
    assert_eq!(
        texts(&parsed),
        [
            "1. one",
            "  a) a",
            "  b) b",
            "    1.b.i deep",
            "2. two",
            "  a) again a",
            "7. seven",
            "8. eight",
            "- dot",
            "一、 中文",
            "no list",
            "unknown list"
        ]
    );
    let tight: Vec<bool> = parsed.rows.iter().map(|row| row.tight).collect();
    assert_eq!(tight, [false, true, true, true, true, true, true, true, true, true, false, false]);
}

#[test]
fn numbers_of_headings_come_through_their_styles() {
    let styles = r#"
        <w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
        <w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
        <w:style w:type="numbering" w:styleId="Outline"><w:name w:val="Outline"/><w:pPr><w:numPr><w:numId w:val="5"/></w:numPr></w:pPr></w:style>
        <w:style w:type="paragraph" w:styleId="S"><w:name w:val="Part"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>"#;
    let numbering = r#"
        <w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="Outline"/></w:abstractNum>
        <w:abstractNum w:abstractNumId="5"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:pStyle w:val="H1"/><w:lvlText w:val="%1"/></w:lvl>
        <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:pStyle w:val="H2"/><w:isLgl/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>
        <w:abstractNum w:abstractNumId="6"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="SECTION %1"/></w:lvl></w:abstractNum>
        <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="5"><w:abstractNumId w:val="5"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="6"/></w:num>"#;
    let body = styled("H1", "Alpha")
        + &styled("H2", "Beta")
        + &styled("H2", "Gamma")
        + &styled("H1", "Delta")
        + &styled("S", "Named")
        + &styled("S", "");
    let parsed = Docx::new(body).styles(styles).numbering(numbering).read();
    let shown: Vec<String> = parsed.headings.iter().map(quarry_model::Heading::shown).collect();
    assert_eq!(shown, ["I Alpha", "1.1 Beta", "1.2 Gamma", "II Delta", "SECTION 1 Named", "SECTION 2"]);
    assert_eq!(headings(&parsed)[1..3], [(2, "Beta"), (2, "Gamma")], "what Word counts is no part of the title");
    assert_eq!(texts(&parsed), [""; 0]);
}

#[test]
fn tables_have_their_spans() {
    let cell = |properties: &'static str, text: &'static str| (properties, text);
    let grid = table(&[
        &[cell(r#"<w:vMerge w:val="restart"/>"#, "a"), cell(r#"<w:gridSpan w:val="2"/>"#, "b")],
        &[cell("<w:vMerge/>", ""), cell("", "c"), cell(r#"<w:vMerge w:val="restart"/>"#, "d &lt;")],
        &[cell(r#"<w:gridSpan w:val="2"/>"#, "e"), cell("<w:vMerge/>", "")],
    ]);
    assert_eq!(
        tables(&Docx::new(grid).read()),
        [
            "<table>\n<tr><td rowspan=\"2\">a</td><td colspan=\"2\">b</td></tr>\n<tr><td>c</td><td rowspan=\"2\">d &lt;</td></tr>\n<tr><td colspan=\"2\">e</td></tr>\n</table>"
        ]
    );
}

#[test]
fn a_merge_reaches_over_a_row_that_ends_early() {
    let grid = table(&[&[("", "A"), (r#"<w:vMerge w:val="restart"/>"#, "B")], &[("", "x")], &[("", "C"), ("<w:vMerge/>", "")]]);
    assert_eq!(
        tables(&Docx::new(grid).read()),
        ["<table>\n<tr><td>A</td><td rowspan=\"3\">B</td></tr>\n<tr><td>x</td></tr>\n<tr><td>C</td></tr>\n</table>"]
    );
}

#[test]
fn rows_begin_late_and_merge_sideways_the_old_way() {
    let body = format!(
        r#"<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr><w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr><w:tc>{}</w:tc></w:tr>
        <w:tr><w:tc><w:tcPr><w:hMerge w:val="restart"/></w:tcPr>{}</w:tc><w:tc><w:tcPr><w:hMerge/></w:tcPr>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>"#,
        p("1"),
        p("2"),
        p("3"),
        p("late"),
        p("wide"),
        p(""),
        p("end")
    );
    assert_eq!(
        tables(&Docx::new(body).read()),
        [
            "<table>\n<tr><td>1</td><td>2</td><td>3</td></tr>\n<tr><td></td><td>late</td></tr>\n<tr><td colspan=\"2\">wide</td><td>end</td></tr>\n</table>"
        ]
    );
}

#[test]
fn content_controls_and_revisions_around_rows_and_cells_are_read_through() {
    let row = |inside: &str| format!("<w:tr>{inside}</w:tr>");
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", p(text));
    let control = |inside: &str| format!("<w:sdt><w:sdtPr/><w:sdtContent>{inside}</w:sdtContent></w:sdt>");
    let deleted = format!("<w:tr><w:trPr><w:del w:id=\"1\"/></w:trPr>{}</w:tr>", cell("gone"));
    let body = format!(
        "<w:tbl>{}{}{deleted}<w:ins>{}</w:ins></w:tbl>",
        control(&row(&(cell("a") + &cell("b")))),
        row(&(control(&cell("c")) + &cell("d"))),
        row(&(cell("e") + &cell("f")))
    );
    assert_eq!(
        tables(&Docx::new(body).read()),
        ["<table>\n<tr><td>a</td><td>b</td></tr>\n<tr><td>c</td><td>d</td></tr>\n<tr><td>e</td><td>f</td></tr>\n</table>"]
    );
}

#[test]
fn header_rows_are_marked_bold_or_set_apart_by_their_style() {
    let bold = |text: &str| format!("<w:tc><w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{text}</w:t></w:r></w:p></w:tc>");
    let plain = |text: &str| format!("<w:tc>{}</w:tc>", p(text));
    let of = |properties: &str, first_row: &str, first: String| {
        format!("<w:tbl><w:tblPr>{properties}</w:tblPr><w:tr>{first_row}{first}</w:tr><w:tr>{}{}</w:tr></w:tbl>", plain("1"), plain("2"))
    };
    let style = r#"<w:style w:type="table" w:styleId="Fancy"><w:name w:val="Fancy"/><w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr></w:style>"#;
    let look = r#"<w:tblStyle w:val="Fancy"/><w:tblLook w:val="04A0"/>"#;
    for (grid, header) in [
        (of("", "<w:trPr><w:tblHeader/></w:trPr>", plain("a") + &plain("b")), true),
        (of("", "", bold("a") + &bold("b")), true),
        (of(look, "", plain("a") + &plain("b")), true),
        (of(r#"<w:tblStyle w:val="Fancy"/><w:tblLook w:firstRow="0"/>"#, "", plain("a") + &plain("b")), false),
        (of("", "", plain("a") + &plain("b")), false),
    ] {
        let html = tables(&Docx::new(grid).styles(style).read()).remove(0);
        assert_eq!(html.contains("<th>a</th>"), header, "{html}");
    }
}

#[test]
fn cells_keep_lines_nested_tables_and_pictures_behind() {
    let nested = table(&[&[("", "x"), ("", "y")]]);
    let body = format!("<w:tbl><w:tr><w:tc>{}{}{nested}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>", p("one"), listed(1, 0, "two"), p("z"));
    let parsed = Docx::new(body).numbering(&(list(0, &[("decimal", "%1.")]) + &instance(1, 0, ""))).read();
    assert_eq!(
        tables(&parsed),
        ["<table>\n<tr><td>one<br>1. two<table>\n<tr><td>x</td><td>y</td></tr>\n</table></td><td>z</td></tr>\n</table>"]
    );
}

#[test]
fn a_table_of_one_cell_is_a_frame_around_text() {
    let body = format!("<w:tbl><w:tr><w:tc>{}{}</w:tc></w:tr></w:tbl>", styled("Heading1", "Framed"), p("text"));
    let parsed = Docx::new(body).usual_styles().read();
    assert_eq!((headings(&parsed), texts(&parsed)), (vec![(1, "Framed")], vec!["text"]));
}

#[test]
fn row_15_deep_and_wide_tables_stay_bounded() {
    let mut body = p("core");
    for _ in 0..50 {
        body = format!(
            "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc><w:tcPr><w:gridSpan w:val=\"2147483648\"/></w:tcPr>{body}</w:tc></w:tr></w:tbl>",
            p("side")
        );
    }
    let html = tables(&Docx::new(body).read()).remove(0);
    assert_eq!(html.matches("<table>").count(), 50);
    assert_eq!(html.matches("</table>").count(), 50);
    assert!(html.contains("core") && !html.contains("2147483648"));

    let row: String = (0..50).map(|n| format!("<w:tc>{}</w:tc>", p(&n.to_string()))).collect();
    let grid = format!("<w:tbl>{}</w:tbl>", format!("<w:tr>{row}</w:tr>").repeat(20));
    let limits = Limits { table_cells: 100, ..Limits::default() };
    let parsed = parse_with(&Docx::new(grid).bytes(), &limits).unwrap();
    assert!(parsed.partial && parsed.warnings[0].message.contains("cells"), "{:?}", parsed.warnings);
}

#[test]
fn without_styles_numbers_and_bold_lines_are_weaker_evidence() {
    let bold = |text: &str| format!("<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{text}</w:t></w:r></w:p>");
    let prose = p("Some prose that goes on for a while and says nothing of importance to anybody at all, as prose does.");
    let chapters = p("Chapter 1 Beginnings") + &prose + &p("Chapter 2 Endings") + &prose;
    let parsed = Docx::new(chapters).read();
    assert_eq!(headings(&parsed), [(1, "Chapter 1 Beginnings"), (1, "Chapter 2 Endings")]);
    assert!(parsed.headings.iter().all(|heading| heading.evidence == Evidence::Numbering));

    let parsed = Docx::new(bold("Purpose") + &prose + &bold("Scope") + &prose).read();
    assert_eq!(headings(&parsed), [(1, "Purpose"), (1, "Scope")]);
    assert!(parsed.headings.iter().all(|heading| heading.evidence == Evidence::Geometry));

    // A list of bold items, one bold line alone, and a document in bold throughout have no headings.
    for body in [
        bold("a") + &bold("b") + &bold("c") + &prose,
        bold("alone") + &prose,
        bold("Purpose") + &bold(&"all bold ".repeat(30)) + &bold("Scope") + &bold(&"all bold ".repeat(30)),
    ] {
        assert!(Docx::new(body).read().headings.is_empty());
    }
    // Where styles speak, nothing else does.
    let parsed = Docx::new(styled("Heading1", "Styled") + &bold("Purpose") + &prose + &bold("Scope") + &prose).usual_styles().read();
    assert_eq!(headings(&parsed), [(1, "Styled")]);
}

#[test]
fn empty_documents_are_read_as_empty() {
    for body in [String::new(), "<w:p/>".to_owned(), "<w:sectPr/>".to_owned(), format!("<w:p>{}</w:p>", run("  "))] {
        let parsed = Docx::new(body).read();
        assert!(parsed.rows.is_empty() && parsed.headings.is_empty());
    }
    assert!(NAMESPACES.contains("wordprocessingml"));
}

#[test]
fn what_stands_under_a_title_is_no_title() {
    let style = |id: &str, base: &str, size: u32| {
        format!(
            r#"<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{id}"/><w:basedOn w:val="{base}"/><w:rPr><w:sz w:val="{size}"/></w:rPr></w:style>"#
        )
    };
    let styles = style("Title", "Normal", 56) + &style("Author", "Title", 24) + &style("Cover", "Title", 72);
    let body = styled("Title", "A report") + &styled("Author", "Ana Ruiz") + &styled("Cover", "Volume 2") + &p("text");
    let parsed = Docx::new(body).styles(&styles).read();
    assert_eq!(headings(&parsed), [(1, "A report"), (1, "Volume 2")]);
    assert_eq!(texts(&parsed), ["Ana Ruiz", "text"]);
}

#[test]
fn blank_bullets_only_indent_and_boxes_are_kept() {
    let numbering = list(1, &[("bullet", "☒")]) + &list(2, &[("bullet", " ")]) + &instance(1, 1, "") + &instance(2, 2, "");
    let parsed = Docx::new(listed(1, 0, "done") + &listed(2, 0, "and more of it")).numbering(&numbering).read();
    assert_eq!(texts(&parsed), ["- ☒ done", "and more of it"]);
}

#[test]
fn a_caption_that_the_table_says_too_is_told_once() {
    let inside = table(&[&[("", "a"), ("", "b")]]).replacen("<w:tbl>", r#"<w:tbl><w:tblPr><w:tblCaption w:val="Rainfall"/></w:tblPr>"#, 1);
    let styles = r#"<w:style w:type="paragraph" w:styleId="C"><w:name w:val="caption"/></w:style>"#;
    let parsed = Docx::new(styled("C", "Table 1: Rainfall") + &inside).styles(styles).read();
    assert!(tables(&parsed)[0].contains("<caption>Table 1: Rainfall</caption>"), "{:?}", tables(&parsed));
}
