//! What each format says, told the same way.

mod support;

use quarry_model::{DocumentCode, Format, Limits, RowKind};
use support::{Xlsx, all, biff, n, ods, ods_with, parse_as, read, t, words, xlsb};

#[test]
fn xlsx_values_are_as_shown() {
    let cell = |place: &str, style: usize, value: f64| format!("<c r=\"{place}\" s=\"{style}\"><v>{value}</v></c>");
    let rows = format!(
        "<row r=\"1\">{}{}{}</row><row r=\"2\">{}{}{}</row><row r=\"3\">{}<c r=\"B3\" t=\"b\"><v>1</v></c><c r=\"C3\" t=\"e\"><v>#DIV/0!</v></c></row>\
         <row r=\"4\"><c r=\"A4\" t=\"str\"><f>A1</f><v>made</v></c><c r=\"B4\" s=\"1\" t=\"d\"><v>2024-01-15</v></c><c r=\"C4\"><f>1+1</f></c></row>",
        t("A1", "share"),
        t("B1", "day"),
        t("C1", "price"),
        cell("A2", 0, 0.125),
        cell("B2", 1, 45_306.0),
        cell("C2", 2, 1234.5),
        cell("A3", 3, 1.5),
    );
    let book = Xlsx::new().styles(&["0.0%", "yyyy-mm-dd", "[$€-407] #,##0.00", "# ?/?"]).sheet("Values", &rows);
    let parsed = book.read();
    assert_eq!(all(&parsed), ["[share | day | price]\n12.5% | 2024-01-15 | € 1,234.50\n1 1/2 | TRUE | #DIV/0!\nmade | 2024-01-15 | "]);
    assert_eq!((parsed.headings[0].title.as_str(), parsed.warnings.len(), parsed.partial), ("Values", 0, false));
}

#[test]
fn xlsx_merges_are_spans_and_headers_have_several_rows() {
    let rows = [t("A1", "Region"), t("B1", "2024"), t("D1", "2025"), t("B2", "plan"), t("C2", "done"), t("D2", "plan"), t("E2", "done")]
        .concat()
        + &[t("A3", "North"), n("B3", 1), n("C3", 2), n("D3", 3), n("E3", 4)].concat();
    let merges = "<mergeCells><mergeCell ref=\"A1:A2\"/><mergeCell ref=\"B1:C1\"/><mergeCell ref=\"D1:E1\"/></mergeCells>";
    let parsed = Xlsx::new().sheet_with("S", "", &rows, merges).read();
    assert_eq!(all(&parsed), ["[Region^1_2 | 2024^2_1 | 2025^2_1]\n[plan | done | plan | done]\nNorth | 1 | 2 | 3 | 4"]);
}

#[test]
fn headers_do_not_swallow_rows_of_text() {
    let text = |rows: &[&[&str]]| {
        let mut out = String::new();
        for (row, cells) in rows.iter().enumerate() {
            for (column, said) in cells.iter().enumerate().filter(|(_, said)| !said.is_empty()) {
                let place = format!("{}{}", char::from(b'A' + column as u8), row + 1);
                out.push_str(&if said.parse::<f64>().is_ok() { n(&place, said) } else { t(&place, said) });
            }
        }
        all(&Xlsx::new().sheet("S", &out).read()).join("\n--\n")
    };
    // Rows of nothing but text: one header, however many rows follow without a number.
    let shown = text(&[&["Name", "Town"], &["Ann", "Bern"], &["Bob", "Lyon"], &["Cy", "Rome"]]);
    assert_eq!(shown, "[Name | Town]\nAnn | Bern\nBob | Lyon\nCy | Rome");
    // Equal words name nothing.
    assert_eq!(text(&[&["x", "x"], &["x", "x"]]), "x | x\nx | x");
    // Years name columns.
    assert_eq!(
        text(&[&["", "2023", "2024"], &["North", "7", "8"], &["South", "5", "6"]]),
        "[ | 2023 | 2024]\nNorth | 7 | 8\nSouth | 5 | 6"
    );
    // Numbers from the first row on: no header.
    assert_eq!(text(&[&["1", "2"], &["3", "4"]]), "1 | 2\n3 | 4");
    // A title alone in its row, then names.
    assert_eq!(text(&[&["Sales"], &["Team", "Points"], &["Blues", "1"]]), "[Sales | ]\n[Team | Points]\nBlues | 1");
    // A title with a gap below is the caption of its table; notes stay text.
    let shown = text(&[&["Sales"], &[], &["Team", "Points"], &["Blues", "1"], &[], &["Checked by the audit"]]);
    assert_eq!(shown, "Sales:\n[Team | Points]\nBlues | 1\n--\nChecked by the audit");
}

#[test]
fn xlsx_hidden_things_are_marked() {
    let rows = format!(
        "<row r=\"1\">{}{}</row><row r=\"2\" hidden=\"1\">{}{}</row><row r=\"9\" hidden=\"1\"/>",
        t("A1", "a"),
        t("B1", "b"),
        t("A2", "c"),
        t("B2", "secret")
    );
    let part = format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><cols><col min=\"2\" max=\"2\" hidden=\"1\"/><col min=\"8\" max=\"9\" hidden=\"1\"/></cols><sheetData>{rows}</sheetData></worksheet>"
    );
    let parsed = Xlsx::new().raw_sheet("Open", "", part).sheet_with("Shut", "state=\"veryHidden\"", &t("A1", "key"), "").read();
    let shown: Vec<(String, bool)> = all(&parsed).into_iter().zip(parsed.rows.iter().map(|row| row.hidden)).collect();
    assert_eq!(shown[1..], [("Hidden: rows 2; columns B".to_owned(), true), ("key".to_owned(), true)]);
    assert!(shown[0].0.contains("secret") && !shown[0].1);
}

#[test]
fn xlsx_comments_tables_links_and_shapes() {
    let rows = [t("A1", "loose"), t("A2", "id"), t("B2", "name"), n("A3", 1), t("B3", "pump"), n("A4", 2), t("B4", "valve")].concat();
    let relationships = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
        <Relationship Id=\"t\" Type=\"x/table\" Target=\"../tables/table1.xml\"/><Relationship Id=\"d\" Type=\"x/drawing\" Target=\"../drawings/d.xml\"/>\
        <Relationship Id=\"c\" Type=\"x/comments\" Target=\"../comments1.xml\"/></Relationships>";
    let drawing = "<xdr:wsDr xmlns:xdr=\"http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing\" xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
        xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\">\
        <xdr:twoCellAnchor><xdr:from><xdr:col>3</xdr:col><xdr:row>5</xdr:row></xdr:from><xdr:sp><xdr:nvSpPr><xdr:cNvPr id=\"1\" name=\"b\"/></xdr:nvSpPr><xdr:txBody><a:p><a:r><a:t>boxed</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:twoCellAnchor>\
        <xdr:oneCellAnchor><xdr:from><xdr:col>3</xdr:col><xdr:row>6</xdr:row></xdr:from><xdr:pic><xdr:nvPicPr><xdr:cNvPr id=\"2\" name=\"p\" descr=\"a pump\"/></xdr:nvPicPr><xdr:blipFill><a:blip r:embed=\"i\"/></xdr:blipFill></xdr:pic></xdr:oneCellAnchor>\
        <xdr:twoCellAnchor><xdr:from><xdr:col>3</xdr:col><xdr:row>7</xdr:row></xdr:from><xdr:graphicFrame><c:chart r:id=\"own\"/></xdr:graphicFrame></xdr:twoCellAnchor>\
        <xdr:twoCellAnchor><xdr:from><xdr:col>3</xdr:col><xdr:row>8</xdr:row></xdr:from><xdr:graphicFrame><c:chart r:id=\"far\"/></xdr:graphicFrame></xdr:twoCellAnchor></xdr:wsDr>";
    let drawing_relationships = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"i\" Type=\"x/image\" Target=\"../media/i.png\"/>\
        <Relationship Id=\"own\" Type=\"x/chart\" Target=\"../charts/own.xml\"/><Relationship Id=\"far\" Type=\"x/chart\" Target=\"../charts/far.xml\"/></Relationships>";
    let chart = |title: &str, formula: &str| {
        format!(
            "<c:chartSpace xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"><c:chart>\
        <c:title><c:tx><c:rich><a:p><a:r><a:t>{title}</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:strCache><c:pt idx=\"0\"><c:v>flow</c:v></c:pt></c:strCache></c:strRef></c:tx>\
        <c:val><c:numRef><c:f>{formula}</c:f><c:numCache><c:pt idx=\"0\"><c:v>41</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"
        )
    };
    let comments = "<comments xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><authors><author>Ann</author></authors><commentList>\
        <comment ref=\"B3\" authorId=\"0\"><text><r><t>Ann:</t></r><r><t>\nreplace it</t></r></text></comment></commentList></comments>";
    let table = "<table xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" ref=\"A2:B4\" headerRowCount=\"1\"/>";
    let after =
        "<hyperlinks><hyperlink ref=\"B3\" r:id=\"h\"/></hyperlinks><drawing r:id=\"d\"/><tableParts><tablePart r:id=\"t\"/></tableParts>";
    let parsed = Xlsx::new()
        .sheet_with("S", "", &rows, after)
        .part("xl/worksheets/_rels/sheet0.xml.rels", relationships)
        .part("xl/tables/table1.xml", table)
        .part("xl/comments1.xml", comments)
        .part("xl/drawings/d.xml", drawing)
        .part("xl/drawings/_rels/d.xml.rels", drawing_relationships)
        .part("xl/media/i.png", &b"\x89PNG"[..])
        .part("xl/charts/own.xml", chart("Ours", "S!$A$3:$A$4"))
        .part("xl/charts/far.xml", chart("Theirs", "[1]Far!$A$3:$A$4"))
        .read();
    assert_eq!(
        all(&parsed),
        [
            "loose:\n[id | name]\n1 | pump\n2 | valve",
            "B3 (Ann): replace it",
            "boxed",
            "image: a pump",
            "image: Ours\n\tflow\t\n\t41",
            "Theirs:\n[ | flow]\n | 41",
        ]
    );
    assert_eq!((parsed.assets.len(), parsed.warnings.len()), (1, 0));
}

#[test]
fn xlsb() {
    let sheet = [
        xlsb::row(0, false),
        xlsb::cell(7, 0, 0, &0_u32.to_le_bytes()),
        xlsb::cell(6, 1, 0, &xlsb::text("day")),
        xlsb::cell(62, 2, 0, &[vec![0], xlsb::text("share")].concat()),
        xlsb::row(1, true),
        xlsb::cell(9, 0, 0, &7.5_f64.to_le_bytes()),
        xlsb::cell(2, 1, 1, &((45_306_u32 << 2) | 2).to_le_bytes()),
        xlsb::cell(5, 2, 2, &0.25_f64.to_le_bytes()),
        xlsb::row(2, false),
        xlsb::cell(4, 0, 0, &[1]),
        xlsb::cell(3, 1, 0, &[0x2a]),
        xlsb::cell(7, 2, 0, &99_u32.to_le_bytes()),
        xlsb::record(176, &[2_u32, 3, 0, 0].iter().flat_map(|field| field.to_le_bytes()).collect::<Vec<u8>>()),
    ]
    .concat();
    let parsed = read(Format::Xlsb, &xlsb::workbook(&sheet, &["größe"], &[0, 14, 9]));
    assert_eq!(all(&parsed), ["[größe | day | share]\n7.5 | 2024-01-15 | 25%\nTRUE | #N/A | \u{fffd}", "Hidden: rows 2"]);
    assert_eq!((parsed.headings[0].title.as_str(), parsed.partial), ("Binary", true));
}

#[test]
fn xls() {
    let globals = [biff::styles(&[0, 14, 10]), biff::shared_texts(&["größe", "day"])].concat();
    let sheet = [
        biff::shared(0, 0, 0),
        biff::shared(0, 1, 1),
        biff::label(0, 2, "share"),
        biff::rk(1, 0, 0, (15 << 2) | 2),
        biff::number(1, 1, 1, 45_306.0),
        biff::number(1, 2, 2, 0.256),
        biff::formula_text(2, 0, "made"),
        biff::error(2, 1, 7),
        biff::shared(2, 2, 77),
        biff::merge(3, 3, 0, 2),
        biff::label(3, 0, "wide"),
    ]
    .concat();
    let bytes = biff::compound("/Workbook", &biff::stream(&globals, &[("Old", 0, sheet), ("Shut", 1, biff::label(0, 0, "key"))]));
    let parsed = read(Format::Xls, &bytes);
    assert_eq!(all(&parsed), ["[größe | day | share]\n15 | 2024-01-15 | 25.60%\nmade | #DIV/0! | \u{fffd}\nwide^3_1", "key"]);
    assert_eq!((parsed.headings[0].title.as_str(), parsed.rows[1].hidden), ("Old", true));
    // Encrypted workbooks say so.
    let locked = biff::compound("/Workbook", &biff::stream(&biff::record(0x2f, &[0; 6]), &[]));
    assert_eq!(parse_as(Format::Xls, &locked, &Limits::default()).unwrap_err().code, DocumentCode::Encrypted);
    let package = biff::compound("/EncryptedPackage", b"x");
    assert_eq!(parse_as(Format::Xls, &package, &Limits::default()).unwrap_err().code, DocumentCode::Encrypted);
}

#[test]
fn ods_shows_what_it_says() {
    let styles = "<style:style style:name=\"h\" style:family=\"table\"><style:table-properties table:display=\"false\"/></style:style>";
    let cell = |kind: &str, value: &str, shown: &str| {
        format!("<table:table-cell office:value-type=\"{kind}\" {value}><text:p>{shown}</text:p></table:table-cell>")
    };
    let tables = format!(
        "<table:table table:name=\"One\"><table:table-column table:number-columns-repeated=\"3\"/>\
         <table:table-row>{}{}<table:table-cell table:number-columns-spanned=\"2\" office:value-type=\"string\"><text:p>wide<text:s text:c=\"2\"/>head</text:p><text:p>two</text:p></table:table-cell><table:covered-table-cell/></table:table-row>\
         <table:table-row table:number-rows-repeated=\"2\">{}{}<table:table-cell office:value-type=\"float\" office:value=\"5\" table:number-columns-repeated=\"2\"/></table:table-row>\
         <table:table-row table:visibility=\"collapse\">{}<table:table-cell><office:annotation><dc:creator>Ann</dc:creator><dc:date>2024</dc:date><text:p>look</text:p></office:annotation><text:p>noted</text:p></table:table-cell></table:table-row>\
         <table:table-row table:number-rows-repeated=\"1048000\"><table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row></table:table>\
         <table:table table:name=\"Two\" table:style-name=\"h\"><table:table-row>{}</table:table-row></table:table>",
        cell("string", "", "a"),
        cell("string", "", "b"),
        cell("percentage", "office:value=\"0.5\"", "50 %"),
        cell("date", "office:date-value=\"2024-01-15\"", "15.01.24"),
        cell("string", "", "hidden"),
        cell("string", "", "key"),
    );
    let parsed = read(Format::Ods, &ods(styles, &tables));
    assert_eq!(
        all(&parsed),
        [
            "[a | b | wide  head/two^2_1]\n50 % | 15.01.24 | 5 | 5\n50 % | 15.01.24 | 5 | 5\nhidden | noted |  | ",
            "B4 (Ann): look",
            "Hidden: rows 4",
            "key"
        ]
    );
    assert!(parsed.rows[3].hidden);
    let locked = ods_with("", "", &[("META-INF/manifest.xml", b"<manifest:encryption-data/>")]);
    assert_eq!(parse_as(Format::Ods, &locked, &Limits::default()).unwrap_err().code, DocumentCode::Encrypted);
}

#[test]
fn ods_pictures_and_charts() {
    let frame = |inner: &str| format!("<draw:frame>{inner}<svg:title>said</svg:title></draw:frame>");
    let tables = format!(
        "<table:table table:name=\"One\"><table:shapes>{}{}</table:shapes><table:table-row><table:table-cell><text:p>x</text:p>{}</table:table-cell></table:table-row></table:table>",
        frame("<draw:object xlink:href=\"./Object 1\"/><draw:image xlink:href=\"./ObjectReplacements/Object 1\"/>"),
        frame("<draw:text-box><text:p>boxed</text:p></draw:text-box>"),
        frame("<draw:image xlink:href=\"Pictures/p.png\"/>"),
    );
    let chart: &[u8] = b"<o xmlns:chart='c' xmlns:table='t' xmlns:text='x'><chart:title><text:p>Flow</text:p></chart:title><table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>7</text:p></table:table-cell></table:table-row></table:table></o>";
    let parsed = read(Format::Ods, &ods_with("", &tables, &[("Pictures/p.png", b"\x89PNG"), ("Object 1/content.xml", chart)]));
    let mut shown = all(&parsed);
    shown.sort();
    assert_eq!(shown, ["boxed", "image: Flow\na\t7", "image: said", "x"]);
    assert_eq!(parsed.assets.len(), 1);
}

#[test]
fn separated_values() {
    let shown = |format, bytes: &[u8]| all(&read(format, bytes)).join("\n--\n");
    assert_eq!(
        shown(Format::Csv, b"name,price\n\"Pump, big\",1.5\n\"say \"\"hi\"\"\",2\n"),
        "[name | price]\nPump, big | 1.5\nsay \"hi\" | 2"
    );
    assert_eq!(shown(Format::Csv, b"name;price\nPump;1,5\nValve;2,5\n"), "[name | price]\nPump | 1,5\nValve | 2,5");
    assert_eq!(shown(Format::Csv, b"sep=|\nname|price\nPump;x|1,5\n"), "[name | price]\nPump;x | 1,5");
    assert_eq!(shown(Format::Tsv, b"name\tnote\nPump\ta, b, c\n"), "[name | note]\nPump | a, b, c");
    // Ragged rows, a field over lines, a blank line, no line end at the end.
    assert_eq!(shown(Format::Csv, b"a,b\n1\n1,2,3\n\"x\ny\",2\n\nz,9"), "[a | b | ]\n1 |  | \n1 | 2 | 3\nx/y | 2 | \nz | 9 | ");
    // Other encodings and line ends.
    let wide: Vec<u8> = "name\tgröße\r\nПётр\t5\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(shown(Format::Tsv, &wide), "[name | größe]\nПётр | 5");
    assert_eq!(shown(Format::Csv, b"a,b\r1,2\r"), "[a | b]\n1 | 2");
    // A quotation mark that nothing closes does not swallow the rest.
    let parsed = read(Format::Csv, b"item,size\npipe,\"5 inch\nvalve,3\npump,4\nhose,2\n");
    assert_eq!(all(&parsed), ["[item | size]\npipe | \"5 inch\nvalve | 3\npump | 4\nhose | 2"]);
    assert_eq!(parsed.warnings.len(), 1);
    assert!(parsed.rows.iter().all(|row| row.kind == RowKind::Table));
    assert!(words(&parsed).contains("hose"));
}
