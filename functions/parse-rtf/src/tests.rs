//! Documents written out here.

use quarry_model::{DocumentCode, Evidence, Limits, Parsed, RowKind};

use crate::reader::read;

fn parse(body: &str) -> Parsed {
    read(format!("{{\\rtf1\\ansi\\ansicpg1252\\deff0 {body}}}").as_bytes(), &Limits::default()).expect("a document")
}

fn texts(parsed: &Parsed) -> Vec<&str> {
    parsed.rows.iter().map(|row| row.content.as_str()).collect()
}

fn headings(parsed: &Parsed) -> Vec<(&str, u32)> {
    parsed.headings.iter().map(|heading| (heading.title.as_str(), heading.level)).collect()
}

#[test]
fn headings_by_style_inheritance_and_outline_level() {
    let parsed = parse(
        "{\\fonttbl{\\f1 A;}}{\\stylesheet{\\ql Normal;}{\\s1\\outlinelevel0 Kapitel;}{\\s2\\sbasedon1 Unterart;}{\\s3 heading 2;}{\\s4\\sbasedon5 A;}{\\s5\\sbasedon4 B;}{\\*\\cs1 Zeichen;}}\
         \\pard\\s1 One\\par\\pard a\\par\\pard\\s3 Two\\par\\pard\\outlinelevel2 Three\\par\\pard\\s1\\outlinelevel9 no heading\\par\\pard\\s2 Four\\par\\pard\\s4 round\\par",
    );
    assert_eq!(headings(&parsed), [("One", 1), ("Two", 2), ("Three", 3), ("Four", 1)]);
    assert!(parsed.headings.iter().all(|heading| heading.evidence == Evidence::Style));
    assert_eq!(texts(&parsed), ["a", "no heading", "round"]);
}

#[test]
fn characters_of_every_kind() {
    let parsed = parse(
        "{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset204 Arial;}{\\f2\\fcharset2 Symbol;}{\\f3\\fcharset128 MS;}}\
         caf\\'e9 \\u8364? {\\uc0\\u26085\\u26412 x}{\\uc2\\u233\\'c3\\'a9y} \\u-10179?\\u-8704? {\\f1\\'cf\\'ee} {\\f2\\'61} {\\f3\\'93\\'fa} a\\~b\\_c\\-d\\emdash e\\{\\}\\\\\\par",
    );
    assert_eq!(texts(&parsed), ["café € 日本xéy 😀 По α 日 a\u{a0}b-cd—e{}\\"]);
}

#[test]
fn tables_with_merges_and_tables_within() {
    let row = "\\trowd\\trleft0\\clvmgf\\cellx1000\\cellx2000\\cellx3000\\pard\\intbl a\\cell b\\cell c\\cell\\row";
    let second = "\\trowd\\trleft0\\clvmrg\\cellx1010\\clmgf\\cellx2000\\clmrg\\cellx3000\\pard\\intbl\\cell d\\cell\\cell\\row";
    let third = "\\trowd\\trleft0\\cellx1000\\cellx3000\\pard\\intbl e\\cell\\pard\\intbl\\itap2 in\\nestcell ner\\nestcell{\\*\\nesttableprops\\trowd\\cellx500\\cellx900\\nestrow}{\\nonesttables\\par}\\pard\\intbl\\itap1 f\\cell\\row";
    let parsed = parse(&format!("{row}{second}{third}\\pard after\\par"));
    let table = parsed.rows[0].table.as_ref().expect("a table");
    let shape: Vec<Vec<(&str, u32, u32)>> =
        table.rows.iter().map(|row| row.iter().map(|cell| (cell.text.as_str(), cell.rowspan, cell.colspan)).collect()).collect();
    assert_eq!(shape, [vec![("a", 2, 1), ("b", 1, 1), ("c", 1, 1)], vec![("d", 1, 2)], vec![("e", 1, 1), ("f", 1, 2)]]);
    assert_eq!(table.rows[2][1].tables[0].rows[0].iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>(), ["in", "ner"]);
    assert_eq!(parsed.rows[1].content, "after");
}

#[test]
fn notes_comments_boxes_and_labels() {
    let parsed = parse(
        "One{\\super\\chftn{\\footnote\\pard\\plain\\chftn  A note.}} two{\\chftn{\\footnote\\ftnalt An endnote.}}.{\\*\\atnid X}{\\*\\atnauthor Ada}\\chatn{\\*\\annotation{\\*\\atndate 1}Why?}\\par\
         {\\listtext\\pard 1.\\tab}\\ilvl0 first\\par{\\listtext\\pard\\u8226 *\\tab}\\pard\\ilvl1 second\\par\
         {\\shp{\\*\\shpinst{\\sp{\\sn wzDescription}{\\sv A drawn arrow}}{\\shptxt Boxed.\\par}}{\\shprslt twice}}end\\par\
         {\\header Running\\par}{\\footer Page {\\field{\\*\\fldinst PAGE}{\\fldrslt 7}}\\par}",
    );
    assert_eq!(
        texts(&parsed),
        [
            "Running",
            "One[^1] two[^e1].",
            "[^1]: A note.",
            "[^e1]: An endnote.",
            "Comment (Ada): Why?",
            "1. first",
            "  - second",
            "A drawn arrowend",
            "Boxed."
        ]
    );
}

#[test]
fn fields_show_their_results_and_contents_are_evidence() {
    let parsed = parse(
        "{\\field{\\*\\fldinst HYPERLINK \"http://x\"}{\\fldrslt link}} and {\\field{\\*\\fldinst TOC \\\\o}{\\fldrslt \\pard Rivers\\tab 3\\par}}\\pard{\\*\\bkmkstart a}Rivers{\\*\\bkmkend a}\\par water {\\v secret}\\par",
    );
    assert_eq!(parsed.outline.len(), 1);
    assert_eq!(parsed.outline[0].page, Some(3));
    assert!(parsed.rows.iter().any(|row| row.hidden && row.content == "secret"));
}

#[test]
fn pictures_in_hexadecimal_and_binary() {
    let parsed = parse(
        "a{\\*\\shppict{\\pict{\\*\\picprop{\\sp{\\sn wzDescription}{\\sv A dot}}}\\pngblip 47494638 39\n61}}{\\nonshppict{\\pict\\wmetafile8 00}}{\\pict\\jpegblip\\bin4 {}\\\\}\\par",
    );
    assert_eq!(parsed.assets.iter().map(|asset| asset.bytes.as_slice()).collect::<Vec<_>>(), [&b"GIF89a"[..], b"{}\\\\"]);
    let pictures: Vec<&str> = parsed.rows.iter().filter(|row| row.kind == RowKind::Image).map(|row| row.content.as_str()).collect();
    assert_eq!(pictures, ["A dot", ""]);
    assert_eq!(parsed.rows[0].refs.len(), 2);
}

#[test]
fn the_title_comes_from_the_properties() {
    let parsed = parse("{\\info{\\author Nobody}{\\title A {\\b Fine} One}{\\doccomm words}}{\\*\\unknown hidden{\\b x}}text\\par");
    assert_eq!((parsed.title.as_deref(), texts(&parsed)), (Some("A Fine One"), vec!["text"]));
}

#[test]
fn hostile_documents_end() {
    let code = |bytes: &[u8]| read(bytes, &Limits::default()).unwrap_err().code;
    assert_eq!(code(b"PK"), DocumentCode::Corrupt);
    assert_eq!(code(b"{\\rtf1}"), DocumentCode::Empty);
    assert_eq!(code(format!("{{\\rtf1 {}", "{".repeat(100_000)).as_bytes()), DocumentCode::TooDeep);
    assert_eq!(texts(&parse(&"{\\b a}".repeat(100_000)))[0].len(), 100_000);
    let cut = read(b"{\\rtf1 words {\\footnote more", &Limits::default()).expect("a document");
    assert!(cut.partial && texts(&cut).join(" ").contains("more"));
    let notes = parse(&format!("{}x{}", "{\\footnote a".repeat(200), "}".repeat(200)));
    assert!(notes.rows.len() < 100);
    let tables = parse(&format!(
        "\\pard\\itap1000000 a\\par {}\\pard b\\par",
        "\\trowd\\cellx2147483647\\cellx-2147483648 \\intbl c\\cell d\\cell\\row".repeat(50)
    ));
    assert!(texts(&tables).contains(&"b"));
    let unended = parse("a {\\field{\\*\\fldinst TOC b\\par} c\\par} d\\par");
    assert!(texts(&unended).join(" ").contains('d'));
    assert_eq!(texts(&parse("}}}} a \\par")), ["a"]);
}

#[test]
fn cuts_and_flips_never_panic() {
    let whole = b"{\\rtf1\\ansi{\\fonttbl{\\f0\\fcharset2 Symbol;}}{\\stylesheet{\\s1\\outlinelevel0 A;}}\\s1 a\\par\\trowd\\clvmgf\\cellx9\\intbl b\\cell\\row{\\footnote\\ftnalt n}{\\pict\\dibitmap0 0123}{\\field{\\*\\fldinst X}{\\fldrslt y}}\\u-10179?\\'e9\\bin2 zz}";
    for end in 0..whole.len() {
        let _ = read(&whole[..end], &Limits::default());
    }
    for at in 0..whole.len() {
        for value in [b'{', b'}', b'\\', b'9', 0xff] {
            let mut changed = whole.to_vec();
            changed[at] = value;
            let _ = read(&changed, &Limits::default());
        }
    }
}
