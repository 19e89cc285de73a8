//! Text: runs, fields, insertions and deletions, hidden text, notes, text boxes, headers, formulas.
#![allow(clippy::format_collect, clippy::needless_raw_string_hashes, reason = "parts are written as they look in a file")]

mod support;

use quarry_model::{Evidence, RowKind};
use support::{Docx, NAMESPACES, PIXEL, field, headings, images, p, parse, picture, pp, run, styled, tables, texts};

#[test]
fn runs_keep_tabs_breaks_hyphens_and_symbols() {
    let parsed = Docx::new(
        r#"<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:softHyphen/><w:t>e</w:t>
        <w:sym w:font="Wingdings" w:char="F0FC"/><w:cr/></w:r></w:p>"#,
    )
    .read();
    assert_eq!(texts(&parsed), ["a\tb\nc-de✓"]);
}

#[test]
fn insertions_stay_and_deletions_go() {
    let deleted_mark = r#"<w:p><w:pPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr><w:r><w:t>joined </w:t></w:r></w:p>"#;
    let body = format!(
        r#"<w:p><w:r><w:t>one </w:t></w:r><w:ins><w:r><w:t>two </w:t></w:r></w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>
        <w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>moved here</w:t></w:r></w:moveTo></w:p>
        {deleted_mark}{}<w:ins>{}</w:ins><w:del>{}</w:del>"#,
        p("together"),
        p("inserted paragraph"),
        p("deleted paragraph")
    );
    assert_eq!(texts(&Docx::new(body).read()), ["one two moved here", "joined together", "inserted paragraph"]);
}

#[test]
fn wrappers_of_every_kind_are_read_through() {
    let wrap = |open: &str, close: &str| format!("<w:p>{open}{}{close}</w:p>", run("word"));
    let body: String = [
        ("<w:hyperlink r:id=\"x\">", "</w:hyperlink>"),
        ("<w:smartTag>", "</w:smartTag>"),
        ("<w:customXml>", "</w:customXml>"),
        ("<w:sdt><w:sdtPr/><w:sdtContent>", "</w:sdtContent></w:sdt>"),
        ("<w:dir w:val=\"rtl\">", "</w:dir>"),
        ("<w:fldSimple w:instr=\" AUTHOR \">", "</w:fldSimple>"),
        ("<w:newWrapper>", "</w:newWrapper>"),
    ]
    .iter()
    .map(|(open, close)| wrap(open, close))
    .collect();
    let block = format!("<w:sdt><w:sdtPr/><w:sdtContent>{}</w:sdtContent></w:sdt><w:customXml>{}</w:customXml>", p("block"), p("custom"));
    let parsed = Docx::new(body + &block).read();
    assert_eq!(texts(&parsed), ["word", "word", "word", "word", "word", "word", "word", "block", "custom"]);
}

#[test]
fn fields_show_their_result_only() {
    let nested = field(&format!("IF {} = 1", "x"), &field("PAGEREF _Toc1", &run("7")));
    let check = r#"<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="1"/></w:checkBox></w:ffData></w:fldChar></w:r>
        <w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>"#;
    let parsed = Docx::new(format!("<w:p>{}{nested}{check}</w:p>", run("see "))).read();
    assert_eq!(texts(&parsed), ["see 7☒"]);
}

#[test]
fn a_field_without_end_hides_nothing() {
    let open = r#"<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> QUOTE </w:instrText></w:r>"#;
    let parsed = Docx::new(format!("<w:p>{}{open}</w:p>{}", run("before"), p("after"))).read();
    assert_eq!(texts(&parsed), ["before", "after"]);
    assert_eq!(parsed.warnings.len(), 1);
}

#[test]
fn hidden_text_is_kept_apart_and_flagged() {
    let body = format!("<w:p>{}<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r></w:p>{}", run("seen "), styled("Hid", "all hidden"));
    let styles = r#"<w:style w:type="paragraph" w:styleId="Hid"><w:name w:val="Hid"/><w:rPr><w:vanish/></w:rPr></w:style>"#;
    let parsed = Docx::new(body).styles(styles).read();
    let rows: Vec<(&str, bool)> = parsed.rows.iter().map(|row| (row.content.as_str(), row.hidden)).collect();
    assert_eq!(rows, [("seen", false), ("secret", true), ("all hidden", true)]);
}

#[test]
fn notes_stand_at_their_place_once() {
    let reference = |kind: &str, id: u32| format!(r#"<w:r><w:{kind}Reference w:id="{id}"/></w:r>"#);
    let body = format!(
        "<w:p>{}{}{}</w:p><w:p>{}{}{}{}</w:p>",
        run("First"),
        reference("footnote", 2),
        run(" sentence."),
        run("Second"),
        reference("endnote", 2),
        reference("footnote", 2),
        reference("comment", 0)
    );
    let note = |kind: &str, text: &str| {
        format!(
            r#"<w:{kind}s {NAMESPACES}><w:{kind} w:type="separator" w:id="0">{}</w:{kind}><w:{kind} w:id="2"><w:p><w:r><w:{kind}Ref/><w:t>{text}</w:t></w:r></w:p>{}</w:{kind}></w:{kind}s>"#,
            p("----"),
            p("second paragraph")
        )
    };
    let comments = format!(r#"<w:comments {NAMESPACES}><w:comment w:id="0" w:author="Ada">{}</w:comment></w:comments>"#, p("Check this."));
    let parsed = Docx::new(body)
        .related("f", "footnotes", "footnotes.xml", note("footnote", "The foot."))
        .related("e", "endnotes", "endnotes.xml", note("endnote", "The end."))
        .related("c", "comments", "comments.xml", comments)
        .read();
    assert_eq!(
        texts(&parsed),
        [
            "First[^1] sentence.",
            "[^1]: The foot.",
            "second paragraph",
            "Second[^e1][^1]",
            "[^e1]: The end.",
            "second paragraph",
            "Comment (Ada): Check this."
        ]
    );
}

#[test]
fn a_text_box_is_read_once() {
    let content = format!("<w:txbxContent>{}</w:txbxContent>", styled("Heading1", "in the box"));
    let body = format!(
        r#"<w:p>{}<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><a:graphic><a:graphicData><wps:wsp><wps:txbx>{content}</wps:txbx></wps:wsp>
        </a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>{content}</v:textbox></v:shape></w:pict></mc:Fallback>
        </mc:AlternateContent></w:r></w:p>"#,
        run("anchor")
    );
    let parsed = Docx::new(body).usual_styles().read();
    assert_eq!(texts(&parsed), ["anchor", "in the box"]);
    assert!(parsed.headings.is_empty(), "a text box opens no section");
    let only_fallback = format!(
        r#"<w:p><w:r><mc:AlternateContent><mc:Choice Requires="new"><w:newThing/></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>{content}</v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"#
    );
    assert_eq!(texts(&Docx::new(only_fallback).read()), ["in the box"]);
}

#[test]
fn headers_and_footers_are_told_once_before_the_body() {
    let part = |kind: &str, inside: &str| format!("<w:{kind} {NAMESPACES}>{inside}</w:{kind}>");
    let page = format!("<w:p>{}{}{}</w:p>", run("Page "), field("PAGE", &run("3")), run(" of 9"));
    let section = |id: &str| {
        format!(
            r#"<w:p><w:pPr><w:sectPr><w:headerReference w:type="default" r:id="{id}"/><w:footerReference r:id="f1"/></w:sectPr></w:pPr></w:p>"#
        )
    };
    let picture = format!("<w:p><w:r>{}</w:r></w:p>", picture("img", "Logo of Acme"));
    let parsed = Docx::new(format!("{}{}{}{}", p("Body"), p("Chapter head"), section("h1"), section("h2")))
        .related("h1", "header", "header1.xml", part("hdr", &(p("Acme Inc.") + &p("Chapter head") + &picture)))
        .related("h2", "header", "header2.xml", part("hdr", &p("Acme Inc.")))
        .related("f1", "footer", "footer1.xml", part("ftr", &(page + &p("Confidential"))))
        .read();
    assert_eq!(texts(&parsed), ["Acme Inc.", "Logo of Acme", "Confidential", "Body", "Chapter head"]);
    assert!(parsed.assets.is_empty(), "a picture of every page is decoration");
}

#[test]
fn formulas_become_latex() {
    let r = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
    let e = |name: &str, inside: &str| format!("<m:{name}>{inside}</m:{name}>");
    let fraction = e("f", &(e("num", &r("a")) + &e("den", &r("2b"))));
    let root = e("rad", &(e("radPr", r#"<m:degHide m:val="1"/>"#) + "<m:deg/>" + &e("e", &r("x"))));
    let power = e("sSup", &(e("e", &r("x")) + &e("sup", &r("2"))));
    let sum = e("nary", &(e("naryPr", r#"<m:chr m:val="∑"/>"#) + &e("sub", &r("i=1")) + &e("sup", &r("n")) + &e("e", &r("i"))));
    let brackets = e("d", &(e("dPr", r#"<m:begChr m:val="["/><m:endChr m:val="]"/>"#) + &e("e", &r("α≤β"))));
    let matrix = e("m", &(e("mr", &(e("e", &r("1")) + &e("e", &r("0")))) + &e("mr", &(e("e", &r("0")) + &e("e", &r("1"))))));
    let sine = e("func", &(e("fName", &r("sin")) + &e("e", &r("θ"))));
    for (formula, latex) in [
        (fraction, r"$\frac{a}{2b}$"),
        (root, r"$\sqrt{x}$"),
        (power, "$x^{2}$"),
        (sum, r"$\sum_{i=1}^{n}{i}$"),
        (brackets, r"$\left[\alpha \leq \beta\right]$"),
        (matrix, r"$\begin{matrix}1 & 0 \\ 0 & 1\end{matrix}$"),
        (sine, r"$\sin {\theta}$"),
    ] {
        let parsed = Docx::new(format!("<w:p>{}<m:oMath>{formula}</m:oMath>{}</w:p>", run("so "), run(" holds"))).read();
        assert_eq!(texts(&parsed), [format!("so {latex} holds")], "{formula}");
    }
    let display = Docx::new(format!("<w:p><m:oMathPara><m:oMath>{}</m:oMath></m:oMathPara></w:p>", r("E=m")));
    assert_eq!(texts(&display.read()), ["$$E=m$$"]);
}

#[test]
fn pictures_stand_in_their_text_at_code_points() {
    let body = format!("<w:p>{}<w:r>{}</w:r>{}<w:r>{}</w:r></w:p>", run("  日本 "), picture("i1", "A cat"), run("and "), picture("i2", ""));
    let parsed = Docx::new(body).related("i1", "image", "media/a.png", PIXEL).related("i2", "image", "media/b.png", PIXEL).read();
    let host = &parsed.rows[0];
    assert_eq!(host.content, "日本 and");
    assert_eq!(host.refs.iter().map(|r| (r.row, r.at)).collect::<Vec<_>>(), [(1, 2), (2, 6)]);
    assert_eq!((parsed.rows[1].content.as_str(), parsed.rows[1].asset), ("A cat", Some(0)));
    assert_eq!(parsed.assets[1].original_name, "b.png");
    assert_eq!(parsed.rows.len(), 3);
}

#[test]
fn what_the_author_says_of_a_picture_counts_before_the_name_of_its_file() {
    let named = |alt: &str| picture("i1", alt).replace("id=\"0\" name=\"\"", "id=\"0\" name=\"p\" descr=\"red.png\"");
    let body = format!("<w:p><w:r>{}</w:r></w:p><w:p><w:r>{}</w:r></w:p>", named("A cat"), named(""));
    let parsed = Docx::new(body).related("i1", "image", "media/a.png", PIXEL).read();
    assert_eq!(images(&parsed).iter().map(|row| row.content.as_str()).collect::<Vec<_>>(), ["A cat", "red.png"]);
}

#[test]
fn the_same_picture_twice_is_one_asset_and_a_linked_one_is_never_fetched() {
    let vml = r#"<w:pict><v:shape alt="Old one"><v:imagedata r:id="i1"/></v:shape></w:pict>"#;
    let linked = picture("out", "Linked").replace("r:embed", "r:link");
    let body = format!("<w:p><w:r>{}</w:r></w:p><w:p><w:r>{vml}</w:r></w:p><w:p><w:r>{linked}</w:r></w:p>", picture("i1", ""));
    let parsed = Docx::new(body)
        .related("i1", "image", "media/a.png", PIXEL)
        .relationship("out", "image", "http://169.254.169.254/x.png", "External")
        .read();
    let rows: Vec<(&str, Option<usize>)> = images(&parsed).iter().map(|row| (row.content.as_str(), row.asset)).collect();
    assert_eq!(rows, [("", Some(0)), ("Old one", Some(0)), ("Linked (http://169.254.169.254/x.png)", None)]);
    assert_eq!(parsed.assets.len(), 1);
}

#[test]
fn captions_go_to_what_they_name() {
    let caption = |sequence: &str, text: &str| {
        format!(
            r#"<w:p><w:pPr><w:pStyle w:val="Caption"/></w:pPr>{}{}{}</w:p>"#,
            run(&format!("{sequence} ")),
            field(&format!("SEQ {sequence} \\* ARABIC"), &run("1")),
            run(text)
        )
    };
    let grid = support::table(&[&[("", "x"), ("", "y")]]);
    let body =
        format!("<w:p><w:r>{}</w:r></w:p>{}{}{grid}", picture("i1", "alt"), caption("Figure", ": a duck"), caption("Table", ": numbers"));
    let parsed = Docx::new(body).usual_styles().related("i1", "image", "media/a.png", PIXEL).read();
    assert_eq!(images(&parsed)[0].content, "Figure 1: a duck\nalt");
    assert_eq!(texts(&parsed), ["Figure 1: a duck"], "a picture's caption is text as well, a table's stands in the table");
    assert!(tables(&parsed)[0].contains("<caption>Table 1: numbers</caption>"));
}

#[test]
fn charts_become_tables_and_diagrams_outlines() {
    let cache = |values: &[&str]| -> String {
        values.iter().enumerate().map(|(index, value)| format!(r#"<c:pt idx="{index}"><c:v>{value}</c:v></c:pt>"#)).collect()
    };
    let series = |name: &str, values: &[&str]| {
        format!(
            "<c:ser><c:tx><c:strRef><c:strCache>{}</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache>{}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>{}</c:numCache></c:numRef></c:val></c:ser>",
            cache(&[name]),
            cache(&["2023", "2024"]),
            cache(values)
        )
    };
    let chart = format!(
        "<c:chartSpace {NAMESPACES}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>{}{}</c:barChart></c:plotArea></c:chart></c:chartSpace>",
        series("North", &["1", "2"]),
        series("South", &["3", "4.5"])
    );
    let point = |id: &str, kind: &str, text: &str| {
        format!(r#"<dgm:pt modelId="{id}" type="{kind}"><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>"#)
    };
    let link = |from: &str, to: &str, place: u32| {
        format!(r#"<dgm:cxn modelId="c{to}" srcId="{from}" destId="{to}" srcOrd="{place}" destOrd="0"/>"#)
    };
    let data = format!(
        "<dgm:dataModel {NAMESPACES}><dgm:ptLst>{}{}{}{}{}</dgm:ptLst><dgm:cxnLst>{}{}{}</dgm:cxnLst></dgm:dataModel>",
        point("0", "doc", ""),
        point("2", "node", "Second"),
        point("1", "node", "First"),
        point("3", "node", "Below first"),
        point("9", "pres", "First"),
        link("0", "1", 0),
        link("0", "2", 1),
        link("1", "3", 0)
    );
    let graphic = |inside: &str| {
        format!(
            "<w:p><w:r><w:drawing><wp:inline><wp:docPr id=\"1\" name=\"x\"/><a:graphic><a:graphicData>{inside}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
        )
    };
    let parsed = Docx::new(graphic(r#"<c:chart r:id="ch"/>"#) + &graphic(r#"<dgm:relIds r:dm="dm"/>"#))
        .related("ch", "chart", "charts/chart1.xml", chart)
        .related("dm", "diagramData", "diagrams/data1.xml", data)
        .read();
    assert_eq!(
        tables(&parsed),
        [
            "<table>\n<caption>Sales</caption>\n<thead>\n<tr><th></th><th>North</th><th>South</th></tr>\n</thead>\n<tbody>\n<tr><th>2023</th><td>1</td><td>3</td></tr>\n<tr><th>2024</th><td>2</td><td>4.5</td></tr>\n</tbody>\n</table>"
        ]
    );
    assert_eq!(texts(&parsed), ["- First", "  - Below first", "- Second"]);
}

#[test]
fn strict_documents_read_like_transitional_ones() {
    let w = "http://purl.oclc.org/ooxml/wordprocessingml/main";
    let document = format!(
        r#"<x:document xmlns:x="{w}"><x:body><x:p><x:pPr><x:outlineLvl x:val="0"/></x:pPr><x:r><x:t>Head</x:t></x:r></x:p><x:p><x:r><x:t>Text</x:t></x:r></x:p></x:body></x:document>"#
    );
    let root = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument" Target="/word/main.xml"/></Relationships>"#;
    let bytes = support::zip_of(&[("_rels/.rels", root.as_bytes()), ("word/main.xml", document.as_bytes())]);
    let parsed = parse(&bytes).unwrap();
    assert_eq!(headings(&parsed), [(1, "Head")]);
    assert_eq!(texts(&parsed), ["Text"]);
}

#[test]
fn what_lies_outside_is_said() {
    let parsed = Docx::new(format!("{}<w:altChunk r:id=\"x\"/><w:p><w:subDoc r:id=\"y\"/></w:p>", p("a"))).read();
    let said: Vec<&str> = parsed.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(said, ["an embedded document (altChunk) is not read", "a sub-document is not read"]);
    assert!(parsed.partial);
}

#[test]
fn the_title_comes_from_the_core_properties() {
    let core = r#"<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title> A  title </dc:title></cp:coreProperties>"#;
    assert_eq!(Docx::new(p("x")).part("docProps/core.xml", core).read().title.as_deref(), Some("A title"));
    assert_eq!(Docx::new(p("x")).read().title, None);
}

#[test]
fn ruby_keeps_both_readings() {
    let ruby = format!("<w:p><w:r><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r></w:p>", run("とうきょう"), run("東京"));
    assert_eq!(texts(&Docx::new(ruby).read()), ["東京(とうきょう)"]);
}

#[test]
fn contents_are_evidence_and_not_text() {
    let entry = |level: u32, title: &str, page: &str, anchor: &str| {
        format!(
            r#"<w:p><w:pPr><w:pStyle w:val="TOC{level}"/></w:pPr><w:hyperlink w:anchor="{anchor}">{}<w:r><w:tab/></w:r>{}</w:hyperlink></w:p>"#,
            run(title),
            field(&format!("PAGEREF {anchor} \\h"), &run(page))
        )
    };
    let control = format!(
        r#"<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr><w:sdtContent>{}<w:p>{}</w:p>{}{}<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p></w:sdtContent></w:sdt>"#,
        styled("TOCHeading", "Contents"),
        r#"<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> TOC \o "1-3" \h </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>"#,
        entry(1, "Opening", "3", "_Toc1"),
        entry(2, "Details", "4", "_Toc2")
    );
    let target = |style: &str, name: &str, text: &str| {
        format!(r#"<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:bookmarkStart w:id="1" w:name="{name}"/>{}</w:p>"#, run(text))
    };
    let body = format!(
        "{}{control}{}{}{}{}",
        p("Preface"),
        target("Heading1", "_Toc1", "Opening"),
        p("One."),
        target("MyOwn", "_Toc2", "Details"),
        p("Two.")
    );
    let parsed = Docx::new(body).usual_styles().read();
    assert_eq!(texts(&parsed), ["Preface", "One.", "Two."]);
    let outline: Vec<_> = parsed.outline.iter().map(|entry| (entry.level, entry.title.as_str(), entry.page)).collect();
    assert_eq!(outline, [(1, "Opening", Some(3)), (2, "Details", Some(4))]);
    let found: Vec<_> = parsed.headings.iter().map(|heading| (heading.level, heading.title.as_str(), heading.evidence)).collect();
    assert_eq!(found, [(1, "Opening", Evidence::Style), (2, "Details", Evidence::Toc)]);
}

#[test]
fn a_contents_field_that_never_ends_swallows_nothing() {
    let begin = r#"<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> TOC \o </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>"#;
    let body = format!(
        "<w:p>{begin}{}</w:p>{}{}{}",
        run("No entries found."),
        styled("Heading1", "Real"),
        p("All of this stays."),
        pp("", "And this.")
    );
    let parsed = Docx::new(body).usual_styles().read();
    assert_eq!(texts(&parsed), ["No entries found.", "All of this stays.", "And this."]);
    assert_eq!(headings(&parsed), [(1, "Real")]);
    assert!(parsed.rows.iter().all(|row| row.kind == RowKind::Text));
}
