//! Hostile input: every case ends in rows or in a public code, in bounded time and memory.
#![allow(clippy::format_collect, clippy::needless_raw_string_hashes, reason = "parts are written as they look in a file")]

mod support;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use quarry_model::{DocumentCode, Limits};
use support::{Docx, NAMESPACES, p, parse, picture, run, texts, zip_of};

fn code(bytes: &[u8]) -> DocumentCode {
    parse(bytes).expect_err("a failure").code
}

#[test]
fn row_6_a_bomb_in_the_text_fails_the_document_while_streaming() {
    let start = Instant::now();
    let bytes = Docx::new(p(&" ".repeat(300 << 20))).bytes();
    assert_eq!(code(&bytes), DocumentCode::Bomb);
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}

#[test]
fn row_6_a_bomb_in_a_picture_costs_the_picture() {
    let parsed = Docx::new(format!("{}<w:p><w:r>{}</w:r></w:p>", p("text"), picture("i", "white")))
        .related("i", "image", "media/white.bmp", vec![0xff; 20 << 20])
        .read();
    assert_eq!(texts(&parsed), ["text"]);
    assert_eq!((parsed.assets.len(), parsed.rows[1].content.as_str(), parsed.partial), (0, "white", true));
    assert_eq!(parsed.warnings[0].code, DocumentCode::Bomb);
}

#[test]
fn row_6_the_total_fails_the_document_even_in_pictures() {
    let noise: Vec<u8> = (0..400_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    let docx = Docx::new(format!("<w:p><w:r>{}</w:r></w:p>", picture("i", ""))).related("i", "image", "media/a.bin", noise);
    let limits = Limits { expanded_bytes: 200_000, ..Limits::default() };
    assert_eq!(support::parse_with(&docx.bytes(), &limits).unwrap_err().code, DocumentCode::Bomb);
}

#[test]
fn row_8_a_hundred_thousand_entries() {
    let start = Instant::now();
    let names: Vec<String> = (0..100_000).map(|n| format!("word/e{n}.xml")).collect();
    let mut bytes = Vec::new();
    // Written by hand: a directory of entries that all point at one empty local header.
    bytes.extend_from_slice(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let directory = bytes.len();
    for name in &names {
        bytes.extend_from_slice(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&[0; 16]);
        bytes.extend_from_slice(name.as_bytes());
    }
    let size = bytes.len() - directory;
    // 100,000 does not fit into the old record, so a 64-bit record says it.
    let record = bytes.len() as u64;
    bytes.extend_from_slice(b"PK\x06\x06");
    bytes.extend_from_slice(&44_u64.to_le_bytes());
    bytes.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for field in [100_000, 100_000, size as u64, directory as u64] {
        bytes.extend_from_slice(&field.to_le_bytes());
    }
    bytes.extend_from_slice(b"PK\x06\x07\0\0\0\0");
    bytes.extend_from_slice(&record.to_le_bytes());
    bytes.extend_from_slice(&1_u32.to_le_bytes());
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
    assert_eq!(code(&bytes), DocumentCode::TooManyEntries);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn rows_9_and_10_names_and_targets_outside_lead_nowhere() {
    let body = format!("{}<w:p><w:r>{}</w:r></w:p>", p("safe"), picture("out", "picture"));
    for target in ["../../../etc/passwd", "/etc/passwd", "..\\..\\secret", "file:///etc/passwd", "C:/windows/x"] {
        let parsed = Docx::new(body.clone()).relationship("out", "image", target, "Internal").part("../../etc/passwd", "x").read();
        assert_eq!(texts(&parsed), ["safe"], "{target}");
        assert!(parsed.assets.is_empty(), "{target}");
    }
}

#[test]
fn row_11_entities_stay_as_written() {
    let mut declarations = "<!ENTITY a0 \"boom\">".to_owned();
    for n in 1..40 {
        let _ = write!(declarations, "<!ENTITY a{n} \"&a{0};&a{0};\">", n - 1);
    }
    let document = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE w:document [{declarations}<!ENTITY x SYSTEM \"file:///etc/passwd\">]><w:document {NAMESPACES}><w:body>{}</w:body></w:document>",
        p("a &a39; b &x; c &amp; d")
    );
    assert_eq!(texts(&Docx::raw(document).read()), ["a &a39; b &x; c & d"]);
}

#[test]
fn row_12_a_hundred_thousand_levels() {
    // Numbered, for a hundred thousand equal elements would be refused as a bomb before anything is parsed.
    let deep: String = (0..100_000_u64).map(|n| format!("<w:sdtContent w:n=\"{}\">", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    assert_eq!(code(&Docx::new(deep).bytes()), DocumentCode::TooDeep);
    // A stack of ordinary size is enough for the deepest document that is read.
    for wrapper in [
        ("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"),
        ("<w:tbl><w:tr><w:tc>", "<w:p/></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>"),
        ("<w:ins>", "</w:ins>"),
    ] {
        let each = wrapper.0.matches('<').count();
        let times = 248 / each;
        let body = format!("{}{}{}", wrapper.0.repeat(times), p("core"), wrapper.1.repeat(times));
        let parsed = std::thread::Builder::new().stack_size(8 << 20).spawn(move || Docx::new(body).read()).unwrap().join().unwrap();
        assert!(!parsed.rows.is_empty());
    }
    let inline = format!("<w:p>{}{}{}</w:p>", "<w:smartTag>".repeat(245), run("core"), "</w:smartTag>".repeat(245));
    assert_eq!(texts(&Docx::new(inline).read()), ["core"]);
    let math =
        format!("<w:p><m:oMath>{}<m:r><m:t>x</m:t></m:r>{}</m:oMath></w:p>", "<m:sSup><m:e>".repeat(120), "</m:e></m:sSup>".repeat(120));
    assert!(texts(&Docx::new(math).read())[0].contains('x'));
}

#[test]
fn row_13_a_million_attributes() {
    let start = Instant::now();
    let attributes: String = (0..1_000_000_u64).fold(String::new(), |mut out, n| {
        let _ = write!(out, " w:a{n}=\"{}\"", n * 7919 % 1_000_003);
        out
    });
    assert_eq!(code(&Docx::new(format!("<w:p{attributes}/>")).bytes()), DocumentCode::TooLarge);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn row_14_relationships_in_a_circle_end() {
    // A picture that is the document itself, a note that refers to itself, a header that names itself.
    let note = format!(
        r#"<w:footnotes {NAMESPACES}><w:footnote w:id="1"><w:p>{}<w:r><w:footnoteReference w:id="1"/></w:r></w:p></w:footnote></w:footnotes>"#,
        run("note")
    );
    let header =
        format!(r#"<w:hdr {NAMESPACES}>{}<w:p><w:pPr><w:sectPr><w:headerReference r:id="h"/></w:sectPr></w:pPr></w:p></w:hdr>"#, p("head"));
    let body = format!(
        r#"<w:p>{}<w:r><w:footnoteReference w:id="1"/></w:r></w:p><w:p><w:r>{}</w:r></w:p><w:sectPr><w:headerReference r:id="h"/></w:sectPr>"#,
        run("text"),
        picture("self", "me")
    );
    let parsed = Docx::new(body)
        .related("n", "footnotes", "footnotes.xml", note)
        .related("h", "header", "header1.xml", header)
        .relationship("self", "image", "document.xml", "Internal")
        .part("word/_rels/header1.xml.rels", r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="h" Type="x/header" Target="header1.xml"/></Relationships>"#)
        .read();
    assert_eq!(texts(&parsed), ["head", "text[^1]", "[^1]: note"]);
}

#[test]
fn damaged_packages_say_so() {
    assert_eq!(code(b""), DocumentCode::Corrupt);
    assert_eq!(code(&zip_of(&[("hello.txt", b"hi")])), DocumentCode::Corrupt);
    assert_eq!(code(&Docx::raw("<w:document>").bytes()), DocumentCode::Corrupt);
    assert_eq!(code(&Docx::raw("").bytes()), DocumentCode::Corrupt);
    let mut locked = Docx::new(p("x")).bytes();
    let places: Vec<usize> = (0..locked.len() - 4).filter(|&at| locked[at..].starts_with(b"PK\x01\x02")).collect();
    places.iter().for_each(|at| locked[at + 8] |= 1);
    assert_eq!(code(&locked), DocumentCode::Encrypted);
    // A damaged part beside the text costs that part.
    let parsed = Docx::new(p("text")).styles("<w:style>").part("docProps/core.xml", "<broken").read();
    assert_eq!((texts(&parsed), parsed.partial), (vec!["text"], true));
}

#[test]
fn parts_in_utf_16_are_read() {
    let document =
        format!("<?xml version=\"1.0\" encoding=\"UTF-16\"?><w:document {NAMESPACES}><w:body>{}</w:body></w:document>", p("größe 大小"));
    let utf16: Vec<u8> = [0xfeff_u16].into_iter().chain(document.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let root = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>"#;
    let parsed = parse(&zip_of(&[("_rels/.rels", root.as_bytes()), ("word/document.xml", &utf16)])).unwrap();
    assert_eq!(texts(&parsed), ["größe 大小"]);
}

#[test]
fn time_is_linear_in_fields_pictures_and_headings() {
    let start = Instant::now();
    let mut body = String::new();
    for n in 0..20_000 {
        let _ = write!(body, "<w:p><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r>{}</w:p>", run(&format!("t{n}")));
    }
    let pictures: String = (0..5_000).map(|_| format!("<w:r>{}</w:r>", picture("i", "x"))).collect();
    let parsed = Docx::new(format!("{body}<w:p>{pictures}</w:p>")).related("i", "image", "media/a.png", support::PIXEL).read();
    assert_eq!(parsed.rows.len(), 25_000);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
