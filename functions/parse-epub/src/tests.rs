//! Books built here.

use std::io::{Cursor, Write as _};

use quarry_model::{DocumentCode, Evidence, Limits, Parsed};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::read;

const CONTAINER: &str = "<container xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfiles><rootfile full-path=\"OPS/book.opf\"/></rootfiles></container>";

fn zip(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).expect("an entry");
        writer.write_all(bytes).expect("bytes");
    }
    writer.finish().expect("an archive").into_inner()
}

/// A book of chapters `c1.xhtml`, `c2.xhtml` … with the navigation given and pictures.
fn book(nav: &str, chapters: &[&str]) -> Vec<u8> {
    let manifest: String = (1..=chapters.len())
        .map(|n| format!("<item id=\"c{n}\" href=\"text/c%20{n}.xhtml\" media-type=\"application/xhtml+xml\"/>"))
        .collect();
    let spine: String = (1..=chapters.len()).map(|n| format!("<itemref idref=\"c{n}\"/>")).collect();
    let opf = format!(
        "<package xmlns=\"http://www.idpf.org/2007/opf\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><metadata><dc:title>A Book</dc:title></metadata>\
         <manifest><item id=\"nav\" href=\"nav.xhtml\" properties=\"nav\" media-type=\"application/xhtml+xml\"/>{manifest}\
         <item id=\"p\" href=\"img/p.gif\" media-type=\"image/gif\"/></manifest><spine><itemref idref=\"nav\"/>{spine}</spine></package>"
    );
    let nav = format!("<html xmlns:epub=\"http://www.idpf.org/2007/ops\"><body><nav epub:type=\"toc\"><ol>{nav}</ol></nav></body></html>");
    let names: Vec<String> = (1..=chapters.len()).map(|n| format!("OPS/text/c {n}.xhtml")).collect();
    let mut parts: Vec<(&str, &[u8])> = vec![
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", CONTAINER.as_bytes()),
        ("OPS/book.opf", opf.as_bytes()),
        ("OPS/nav.xhtml", nav.as_bytes()),
        ("OPS/img/p.gif", b"GIF89a"),
    ];
    parts.extend(names.iter().map(String::as_str).zip(chapters.iter().map(|chapter| chapter.as_bytes())));
    zip(&parts)
}

fn parse(bytes: &[u8]) -> Parsed {
    read(bytes, &Limits::default()).expect("a book")
}

fn headings(parsed: &Parsed) -> Vec<(&str, u32, Evidence)> {
    parsed.headings.iter().map(|heading| (heading.title.as_str(), heading.level, heading.evidence)).collect()
}

fn texts(parsed: &Parsed) -> Vec<(Option<usize>, &str)> {
    parsed.rows.iter().map(|row| (row.section, row.content.as_str())).collect()
}

#[test]
fn the_contents_list_gives_levels_and_titles_that_are_no_headings() {
    let parsed = parse(&book(
        "<li><a href=\"text/c%201.xhtml\">Part One</a><ol><li><a href=\"text/c%202.xhtml#a\">1. Rivers</a></li><li><a href=\"text/c%202.xhtml#b\">2. Lakes</a></li></ol></li>",
        &[
            "<html><head><title/></head><body><h1>Part One</h1></body></html>",
            "<html><body><h1 id=\"a\">Rivers</h1><p>Water runs.</p><h2>Deltas</h2><p>It ends.</p><p id=\"b\" class=\"title\">2. Lakes</p><p>Water stands.</p><h2>Shores</h2><p>Sand.</p></body></html>",
        ],
    ));
    assert_eq!(
        headings(&parsed),
        [
            ("Part One", 1, Evidence::Toc),
            ("Rivers", 2, Evidence::Toc),
            ("Deltas", 3, Evidence::Markup),
            ("2. Lakes", 2, Evidence::Toc),
            ("Shores", 4, Evidence::Markup),
        ]
    );
    assert_eq!(texts(&parsed), [(Some(1), "Water runs."), (Some(2), "It ends."), (Some(3), "Water stands."), (Some(4), "Sand.")]);
    assert_eq!((parsed.title.as_deref(), parsed.outline.len()), (Some("A Book"), 3));
}

#[test]
fn a_title_in_two_headings_is_one() {
    let parsed = parse(&book(
        "<li><a href=\"text/c%201.xhtml\">Chapter 1. Loomings</a></li>",
        &["<html><body><h2>Chapter 1</h2><h2>Loomings</h2><p>Call me.</p></body></html>"],
    ));
    assert_eq!(headings(&parsed), [("Chapter 1 Loomings", 1, Evidence::Toc)]);
}

#[test]
fn chapters_cut_into_files_go_on_and_pictures_are_found() {
    let parsed = parse(&book(
        "<li><a href=\"text/c%201.xhtml\">One</a></li>",
        &[
            "<html><body><svg xmlns:xlink=\"x\"><title>Cover</title><image xlink:href=\"../img/p.gif\"/></svg><h1>One</h1><p>First<a epub:type=\"noteref\" href=\"#n\">1</a>.</p></body></html>",
            "<html><body><p>Second <img src=\"../img/p.gif\" alt=\"A pier\"/> half.</p><aside epub:type=\"footnote\" id=\"n\"><p>1. A note.</p></aside></body></html>",
        ],
    ));
    assert_eq!(headings(&parsed), [("One", 1, Evidence::Toc)]);
    assert_eq!(
        texts(&parsed),
        [(None, "Cover"), (Some(0), "First[^1]."), (Some(0), "Second half."), (Some(0), "A pier"), (Some(0), "[^1]: A note.")]
    );
    assert_eq!(parsed.assets.len(), 1, "one picture, shown twice");
}

#[test]
fn what_closes_itself_swallows_nothing() {
    let parsed =
        parse(&book("", &["<html><head><script src=\"a.js\"/><title/></head><body><a id=\"x\"/><p/><p>All <i/>words.</p></body></html>"]));
    assert_eq!(texts(&parsed), [(None, "All words.")]);
}

#[test]
fn an_old_book_has_its_contents_in_ncx() {
    let opf = "<package><manifest><item id=\"n\" href=\"toc.ncx\" media-type=\"application/x-dtbncx+xml\"/><item id=\"a\" href=\"a.html\" media-type=\"application/xhtml+xml\"/></manifest><spine toc=\"n\"><itemref idref=\"a\"/></spine></package>";
    let ncx = "<ncx><navMap><navPoint><navLabel><text>One</text></navLabel><content src=\"a.html\"/><navPoint><navLabel><text>Two</text></navLabel><content src=\"a.html#t\"/></navPoint></navPoint></navMap></ncx>";
    let page = "<html><body><h3>One</h3><p>a</p><h3 id=\"t\">Two</h3><p>b</p></body></html>";
    let parsed = parse(&zip(&[
        ("META-INF/container.xml", CONTAINER.as_bytes()),
        ("OPS/book.opf", opf.as_bytes()),
        ("OPS/toc.ncx", ncx.as_bytes()),
        ("OPS/a.html", page.as_bytes()),
    ]));
    assert_eq!(headings(&parsed), [("One", 1, Evidence::Toc), ("Two", 2, Evidence::Toc)]);
}

#[test]
fn protected_text_is_encrypted_and_mangled_fonts_are_not() {
    let opf = "<package><manifest><item id=\"a\" href=\"a.html\" media-type=\"application/xhtml+xml\"/></manifest><spine><itemref idref=\"a\"/></spine></package>";
    let encryption = |algorithm: &str, part: &str| {
        format!(
            "<encryption><EncryptedData><EncryptionMethod Algorithm=\"{algorithm}\"/><CipherData><CipherReference URI=\"{part}\"/></CipherData></EncryptedData></encryption>"
        )
    };
    let with = |encryption: &str| {
        zip(&[
            ("META-INF/container.xml", CONTAINER.as_bytes()),
            ("META-INF/encryption.xml", encryption.as_bytes()),
            ("OPS/book.opf", opf.as_bytes()),
            ("OPS/a.html", b"<p>words</p>"),
        ])
    };
    let protected = with(&encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OPS/a.html"));
    assert_eq!(read(&protected, &Limits::default()).unwrap_err().code, DocumentCode::Encrypted);
    let fonts = with(&encryption("http://www.idpf.org/2008/embedding", "OPS/font.otf"));
    assert_eq!(texts(&parse(&fonts)), [(None, "words")]);
}

#[test]
fn damage_is_told() {
    let code = |parts: &[(&str, &[u8])]| read(&zip(parts), &Limits::default()).unwrap_err().code;
    assert_eq!(code(&[("a", b"b")]), DocumentCode::Corrupt);
    assert_eq!(code(&[("x.opf", b"<package/>")]), DocumentCode::Corrupt);
    let missing = book("", &["<p>one</p>"]);
    let parsed = parse(&missing);
    assert!(!parsed.partial);
    let opf = "<package><manifest><item id=\"a\" href=\"../../a.html\" media-type=\"application/xhtml+xml\"/><item id=\"b\" href=\"b.html\" media-type=\"application/xhtml+xml\"/><item id=\"c\" href=\"c.html\" media-type=\"application/xhtml+xml\"/></manifest><spine><itemref idref=\"a\"/><itemref idref=\"b\"/><itemref idref=\"c\"/></spine></package>";
    let parsed =
        parse(&zip(&[("META-INF/container.xml", CONTAINER.as_bytes()), ("OPS/book.opf", opf.as_bytes()), ("OPS/b.html", b"<p>b</p>")]));
    assert!(parsed.partial && parsed.warnings.len() == 2, "{:?}", parsed.warnings);
    let bomb = book("", &[&" ".repeat(200 << 20)]);
    assert_eq!(read(&bomb, &Limits::default()).unwrap_err().code, DocumentCode::Bomb);
}

#[test]
fn cuts_and_flips_never_panic() {
    let whole = book("<li><a href=\"text/c%201.xhtml\">One</a></li>", &["<h1>One</h1><table><tr><td>a<td>b</table>"]);
    for end in (0..whole.len()).step_by(7) {
        let _ = read(&whole[..end], &Limits::default());
    }
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        let _ = read(&changed, &Limits::default());
    }
}
