//! Hostile workbooks, by the rows of the table of hostile inputs.

mod support;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use quarry_model::{DocumentCode, Format, Limits};
use support::{Xlsx, all, biff, n, ods, parse_as, read, t, words, zip_of};

fn code(format: Format, bytes: &[u8]) -> DocumentCode {
    parse_as(format, bytes, &Limits::default()).expect_err("a failure").code
}

#[test]
fn rows_1_and_2_nothing_is_no_workbook() {
    for format in [Format::Xlsx, Format::Xlsb, Format::Xls, Format::Ods] {
        for bytes in [&b""[..], b"x", &[0; 600]] {
            assert_eq!(code(format, bytes), DocumentCode::Corrupt, "{format:?}");
        }
        assert!(parse_as(format, &zip_of(&[("hello.txt", b"hi")]), &Limits::default()).is_err());
    }
    assert_eq!(code(Format::Csv, b""), DocumentCode::Empty);
}

#[test]
fn row_6_bombs_stop_while_they_are_read() {
    let start = Instant::now();
    let spaces = " ".repeat(200 << 20);
    let sheet = format!("<worksheet><sheetData>{spaces}</sheetData></worksheet>");
    assert_eq!(code(Format::Xlsx, &Xlsx::new().raw_sheet("S", "", sheet).bytes()), DocumentCode::Bomb);
    assert_eq!(code(Format::Xlsx, &Xlsx::new().strings(&spaces).sheet("S", "").bytes()), DocumentCode::Bomb);
    assert_eq!(code(Format::Ods, &ods("", &spaces)), DocumentCode::Bomb);
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}

#[test]
fn row_6_one_long_text_in_many_cells() {
    // 20,000 cells that share a text of 32 KB would be 640 MB.
    let noise: String = (0..32_000_u32).map(|n| char::from(b'a' + (n.wrapping_mul(2_654_435_761) >> 27) as u8 % 26)).collect();
    let rows: String = (1..=20_000).map(|row| format!("<c r=\"A{row}\" t=\"s\"><v>0</v></c>")).collect();
    let bytes = Xlsx::new().strings(&format!("<si><t>{noise}</t></si>")).sheet("S", &rows).bytes();
    assert_eq!(code(Format::Xlsx, &bytes), DocumentCode::Bomb);
    let row = format!(
        "<table:table><table:table-row table:number-rows-repeated=\"1000000\"><table:table-cell><text:p>{noise}</text:p></table:table-cell></table:table-row></table:table>"
    );
    assert_eq!(code(Format::Ods, &ods("", &row)), DocumentCode::Bomb);
}

#[test]
fn rows_9_and_10_targets_outside_lead_nowhere() {
    for target in ["../../../etc/passwd", "/etc/passwd", "..\\..\\secret", "file:///etc/passwd"] {
        let relationships = format!(
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"d\" Type=\"x/drawing\" Target=\"{target}\"/></Relationships>"
        );
        let book = Xlsx::new()
            .sheet_with("S", "", &t("A1", "safe"), "<drawing r:id=\"d\"/>")
            .part("xl/worksheets/_rels/sheet0.xml.rels", relationships);
        assert_eq!(all(&book.read()), ["safe"], "{target}");
    }
}

#[test]
fn row_11_entities_stay_as_written() {
    let mut declarations = "<!ENTITY a0 \"boom\">".to_owned();
    for n in 1..40 {
        let _ = write!(declarations, "<!ENTITY a{n} \"&a{0};&a{0};\">", n - 1);
    }
    let part = format!(
        "<!DOCTYPE worksheet [{declarations}<!ENTITY x SYSTEM \"file:///etc/passwd\">]><worksheet><sheetData>{}</sheetData></worksheet>",
        t("A1", "a &a39; b &x; &amp;")
    );
    assert_eq!(all(&Xlsx::new().raw_sheet("S", "", part).read()), ["a &a39; b &x; &"]);
}

#[test]
fn row_12_a_hundred_thousand_levels() {
    let deep: String = (0..100_000_u64).map(|n| format!("<x n=\"{}\">", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    assert_eq!(code(Format::Xlsx, &Xlsx::new().sheet("S", &deep).bytes()), DocumentCode::TooDeep);
    assert_eq!(code(Format::Ods, &ods("", &deep)), DocumentCode::TooDeep);
}

#[test]
fn row_13_a_million_attributes() {
    let attributes: String = (0..1_000_000_u64).map(|n| format!(" a{n}=\"{}\"", n * 7919 % 1_000_003)).collect();
    assert_eq!(code(Format::Xlsx, &Xlsx::new().sheet("S", &format!("<c{attributes}/>")).bytes()), DocumentCode::TooLarge);
}

#[test]
fn row_16_two_far_corners_are_two_cells() {
    let start = Instant::now();
    let parsed = Xlsx::new().sheet("S", &(n("A1", 1) + &n("XFD1048576", 2))).read();
    assert_eq!(all(&parsed), ["1", "2"]);
    let corner = |columns: u32| format!("<table:table-cell table:number-columns-repeated=\"{columns}\"/>");
    let value = "<table:table-cell office:value-type=\"float\" office:value=\"1\"/>";
    let table = format!(
        "<table:table><table:table-row>{value}</table:table-row><table:table-row table:number-rows-repeated=\"1048574\">{}</table:table-row><table:table-row>{}{value}</table:table-row></table:table>",
        corner(16_384),
        corner(16_383)
    );
    assert_eq!(all(&read(Format::Ods, &ods("", &table))), ["1", "1"]);
    let sheet = [biff::number(0, 0, 0, 1.0), biff::number(65_535, 255, 0, 2.0)].concat();
    assert_eq!(all(&read(Format::Xls, &biff::compound("/Workbook", &biff::stream(&[], &[("S", 0, sheet)])))), ["1", "2"]);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn row_17_addresses_outside_and_dimensions_that_lie() {
    let cells = [n("A1", 1), n("XFE1", 2), n("A1048577", 3), n("", 4), n("A99999999999", 5), n("B1", 6)].concat();
    let part = format!("<worksheet><dimension ref=\"A1:XFD1048576\"/><sheetData>{cells}</sheetData></worksheet>");
    let parsed = Xlsx::new().raw_sheet("S", "", part).read();
    assert_eq!((all(&parsed), parsed.partial), (vec!["1 | 6".to_owned()], true));
    // Merges of whole rows and columns cost no more than what is in them.
    let merges: String = (0..2_000).map(|n| format!("<mergeCell ref=\"A{}:XFD{}\"/>", n * 3 + 1, n * 3 + 2)).collect();
    let parsed = Xlsx::new().sheet_with("S", "", &(n("A1", 1) + &n("A6000", 2)), &format!("<mergeCells>{merges}</mergeCells>")).read();
    let shown = words(&parsed);
    assert!(shown.contains('1') && shown.contains('2'), "{shown}");
}

#[test]
fn row_18_links_and_formulas_are_not_followed() {
    let cells = "<c r=\"A1\" t=\"str\"><f>WEBSERVICE(\"http://169.254.169.254/\")</f><v>cached</v></c><c r=\"A2\"><f>[1]Far!A1</f><v>7</v></c><c r=\"A3\"><f>NOW()</f></c>";
    assert_eq!(all(&Xlsx::new().sheet("S", cells).read()), ["cached\n7"]);
}

#[test]
fn row_18_two_date_systems() {
    let cell = "<c r=\"A1\" s=\"0\"><v>0</v></c><c r=\"A2\" s=\"0\"><v>43831.5</v></c>";
    let book = Xlsx::new().styles(&["yyyy-mm-dd hh:mm"]).sheet("S", cell);
    assert_eq!(all(&book.clone().properties("date1904=\"1\"").read()), ["1904-01-01 00:00\n2024-01-02 12:00"]);
    assert_eq!(all(&book.read())[0].lines().last(), Some("2020-01-01 12:00"));
}

#[test]
fn row_19_a_text_that_is_not_there_marks_its_cell() {
    let cells = "<c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"B1\" t=\"s\"><v>4294967295</v></c><c r=\"C1\" t=\"s\"><v>-1</v></c>";
    let parsed = Xlsx::new().strings("<si><t>here</t></si>").sheet("S", cells).read();
    assert_eq!((all(&parsed), parsed.partial, parsed.warnings.len()), (vec!["here | \u{fffd} | \u{fffd}".to_owned()], true, 1));
}

#[test]
fn one_bad_sheet_does_not_fail_the_workbook() {
    let book = Xlsx::new()
        .sheet("Good", &t("A1", "good"))
        .raw_sheet("Cut", "", format!("<worksheet><sheetData>{}<c r=\"A2\"", t("A1", "before")))
        .raw_sheet("Noise", "", "no xml at all <<<")
        .sheet("Last", &t("A1", "last"));
    let parsed = book.read();
    assert_eq!(
        (all(&parsed), parsed.partial, parsed.warnings.len()),
        (vec!["good".to_owned(), "before".to_owned(), "last".to_owned()], true, 2)
    );
    // Nothing but bad sheets is a bad workbook.
    assert_eq!(code(Format::Xlsx, &Xlsx::new().raw_sheet("S", "", "<worksheet>").bytes()), DocumentCode::Corrupt);
    let bytes = biff::compound(
        "/Workbook",
        &biff::stream(&[], &[("Good", 0, biff::label(0, 0, "good")), ("Bad", 0, biff::record(0x203, &[0; 3]))]),
    );
    assert_eq!(all(&read(Format::Xls, &bytes)), ["good"]);
}

#[test]
fn more_cells_than_allowed_are_named() {
    let limits = Limits { workbook_cells: 5, ..Limits::default() };
    let cells: String = (1..=9).map(|row| n(&format!("A{row}"), row)).collect();
    for (format, bytes) in [
        (Format::Xlsx, Xlsx::new().sheet("S", &cells).bytes()),
        (Format::Csv, b"1\n2\n3\n4\n5\n6\n7\n".to_vec()),
        (
            Format::Ods,
            ods(
                "",
                "<table:table><table:table-row table:number-rows-repeated=\"1000000\"><table:table-cell office:value-type=\"float\" office:value=\"1\"/></table:table-row></table:table>",
            ),
        ),
        (
            Format::Xls,
            biff::compound("/Workbook", &biff::stream(&[], &[("S", 0, (0..9).flat_map(|row| biff::number(row, 0, 0, 1.0)).collect())])),
        ),
    ] {
        let parsed = parse_as(format, &bytes, &limits).unwrap();
        let count: usize = parsed.rows.iter().filter_map(quarry_model::Row::grid).map(|table| table.rows.len()).sum();
        assert_eq!((count, parsed.partial, parsed.warnings[0].code), (5, true, DocumentCode::TooLarge), "{format:?}");
    }
}

#[test]
fn tables_too_large_for_one_are_several_with_their_headers() {
    let limits = Limits { table_cells: 20, ..Limits::default() };
    let cells: String = t("A1", "name")
        + &t("B1", "size")
        + &(2..=31).map(|row| t(&format!("A{row}"), &format!("n{row}")) + &n(&format!("B{row}"), row)).collect::<String>();
    let parsed = parse_as(Format::Xlsx, &Xlsx::new().sheet("S", &cells).bytes(), &limits).unwrap();
    let shown = all(&parsed);
    assert_eq!(shown.len(), 4);
    assert!(shown.iter().all(|table| table.contains("[name | size]")), "{shown:?}");
    assert!(shown[3].starts_with("rows 28–30 of 30:\n[name | size]\nn29 | 29"), "{}", shown[3]);
}

#[test]
fn row_32_compound_files_that_turn_in_circles() {
    let bytes =
        biff::compound("/Workbook", &biff::stream(&[], &[("S", 0, (0..400).flat_map(|row| biff::number(row, 0, 0, 1.0)).collect())]));
    let start = Instant::now();
    // Every entry of the sector table points at sector 1.
    for at in (512..bytes.len()).step_by(512) {
        let mut looped = bytes.clone();
        looped[at..at + 512].chunks_exact_mut(4).for_each(|entry| entry.copy_from_slice(&1_u32.to_le_bytes()));
        if let Err(failure) = parse_as(Format::Xls, &looped, &Limits::default()) {
            assert!(matches!(failure.code, DocumentCode::Corrupt | DocumentCode::Unsupported), "{failure}");
        }
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn row_37_one_line_of_two_hundred_megabytes() {
    let start = Instant::now();
    let limits = Limits::default();
    // No separator at all; nothing but separators; a value between each.
    for (text, partial) in [("x".repeat(200 << 20), false), (",".repeat(50 << 20), false), ("ab,".repeat(20 << 20), true)] {
        let parsed = parse_as(Format::Csv, text.as_bytes(), &limits).unwrap();
        assert_eq!(parsed.partial, partial);
    }
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}

#[test]
fn row_58_values_that_look_like_formulas_are_text() {
    assert_eq!(all(&read(Format::Csv, b"=1+1,@x\n+A1,-2\n")), ["[=1+1 | @x]\n+A1 | -2"]);
}
