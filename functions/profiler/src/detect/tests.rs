//! Every row of the format table, built here byte by byte; lies, damage, and things that are two at once.

use bytes::Bytes;
use quarry_model::format::FORMAT_TABLE;
use quarry_model::{DocumentCode, DocumentFailure, Format, Limits};

use super::*;

fn found_of(bytes: &[u8], name: &str) -> Result<Detection, DocumentFailure> {
    match detect(&Pieces::whole(Bytes::copy_from_slice(bytes)), name, &Limits::default()) {
        Ok(found) => Ok(found),
        Err(Stop::Failure(failure)) => Err(failure),
        Err(Stop::Missing(range)) => panic!("a whole file misses {range:?}"),
    }
}

fn format_of(bytes: &[u8], name: &str) -> Format {
    found_of(bytes, name).unwrap_or_else(|failure| panic!("{name}: {failure}")).format
}

fn code_of(bytes: &[u8], name: &str) -> DocumentCode {
    found_of(bytes, name).expect_err(name).code
}

/// A ZIP of stored entries: enough for a reader of directories.
fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(entries, 0, b"")
}

fn zip_with(entries: &[(&str, &[u8])], flags: u16, comment: &[u8]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let offset = u32::try_from(out.len()).unwrap();
        let mut fields = Vec::new();
        for value in [20, flags, 0, 0, 0] {
            fields.extend(u16::to_le_bytes(value));
        }
        let length = u32::try_from(content.len()).unwrap();
        for value in [archive::checksum(content), length, length] {
            fields.extend(value.to_le_bytes());
        }
        fields.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        fields.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&fields);
        out.extend(name.as_bytes());
        out.extend(*content);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = u32::try_from(out.len()).unwrap();
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        out.extend(u16::try_from(entries.len()).unwrap().to_le_bytes());
    }
    out.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend(u16::try_from(comment.len()).unwrap().to_le_bytes());
    out.extend(comment);
    out
}

fn office(part: &str) -> Vec<u8> {
    zip(&[("[Content_Types].xml", b"<Types/>"), ("_rels/.rels", b"<R/>"), (part, b"<x/>")])
}

fn open_document(kind: &str) -> Vec<u8> {
    zip(&[("mimetype", kind.as_bytes()), ("content.xml", b"<x/>")])
}

/// A compound file with one directory sector that names these streams.
fn compound(streams: &[&str]) -> Vec<u8> {
    let mut header = vec![0u8; 512];
    header[..8].copy_from_slice(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
    header[30..32].copy_from_slice(&9u16.to_le_bytes());
    header[48..52].copy_from_slice(&1u32.to_le_bytes());
    header[76..512].fill(0xFF);
    header[76..80].copy_from_slice(&0u32.to_le_bytes());
    let mut table = vec![0xFFu8; 512];
    table[4..8].copy_from_slice(&0xFFFF_FFFEu32.to_le_bytes());
    let mut directory = vec![0u8; 512];
    for (entry, name) in directory.chunks_mut(128).zip(std::iter::once(&"Root Entry").chain(streams)) {
        for (place, unit) in name.encode_utf16().enumerate() {
            entry[place * 2..place * 2 + 2].copy_from_slice(&unit.to_le_bytes());
        }
        let length = u16::try_from((name.encode_utf16().count() + 1) * 2).unwrap();
        entry[64..66].copy_from_slice(&length.to_le_bytes());
        entry[66] = 2;
    }
    [header, table, directory].concat()
}

/// An ordinary file of each format.
fn sample(format: Format) -> Vec<u8> {
    match format {
        Format::Pdf => b"%PDF-1.7\n1 0 obj<<>>endobj\ntrailer<<>>\nstartxref\n9\n%%EOF\n".to_vec(),
        Format::Docx => office("word/document.xml"),
        Format::Pptx => office("ppt/presentation.xml"),
        Format::Xlsx => office("xl/workbook.xml"),
        Format::Xlsb => office("xl/workbook.bin"),
        Format::Ods => open_document("application/vnd.oasis.opendocument.spreadsheet"),
        Format::Odt => open_document("application/vnd.oasis.opendocument.text"),
        Format::Epub => open_document("application/epub+zip"),
        Format::Doc => compound(&["WordDocument"]),
        Format::Xls => compound(&["Workbook"]),
        Format::Ppt => compound(&["PowerPoint Document"]),
        Format::Csv => b"a,b,c\n1,2,3\n4,5,6\n".to_vec(),
        Format::Tsv => b"a\tb\n1\t2\n3\t4\n".to_vec(),
        Format::Markdown => "# Título\n\nSome **strong** words, [a link](x.md).\n\n- one\n- two\n".into(),
        Format::Text => "Nothing but words, in a row.\nAnd a second line of them.\n".into(),
        Format::Html => b"<!DOCTYPE html>\n<html><body><p>Hi</p></body></html>".to_vec(),
        Format::Mhtml => b"From: <Saved by Blink>\r\nSnapshot-Content-Location: http://x/\r\nSubject: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\ttype=\"text/html\";\r\n\tboundary=\"b\"\r\n\r\n--b\r\n".to_vec(),
        Format::Xml => b"<?xml version=\"1.0\"?>\n<catalog><item/></catalog>".to_vec(),
        Format::Rtf => b"{\\rtf1\\ansi Hello}".to_vec(),
        Format::Eml => b"From: a@x.org\r\nTo: b@x.org\r\nSubject: Hi\r\nDate: Mon, 30 Nov 2026 10:00:00 +0000\r\n\r\nHello.\r\n".to_vec(),
        Format::Json => b"{\"a\": [1, 2, {\"b\": null}]}\n".to_vec(),
        Format::Jsonl => b"{\"a\": 1}\n{\"a\": 2}\n{\"a\": 3}\n".to_vec(),
        Format::Png => b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR".to_vec(),
        Format::Jpeg => b"\xFF\xD8\xFF\xE0\0\x10JFIF\0".to_vec(),
        Format::Gif => b"GIF89a\x01\0\x01\0\0\0\0".to_vec(),
        Format::Webp => b"RIFF\x1A\0\0\0WEBPVP8L".to_vec(),
        Format::Tiff => b"II*\0\x08\0\0\0\0\0".to_vec(),
        Format::Bmp => {
            let mut bytes = b"BM".to_vec();
            bytes.extend(58u32.to_le_bytes());
            bytes.extend([0; 4]);
            bytes.extend(54u32.to_le_bytes());
            bytes.extend(40u32.to_le_bytes());
            bytes.resize(58, 0);
            bytes
        }
        Format::Fragment => b"{\"schema_version\": 1, \"rows\": []}".to_vec(),
    }
}

#[test]
fn every_format_of_the_table_is_recognised_under_its_own_names() {
    for row in FORMAT_TABLE {
        for extension in row.extensions {
            let found = found_of(&sample(row.format), &format!("file.{extension}")).unwrap_or_else(|f| panic!("{extension}: {f}"));
            assert_eq!((found.format, found.claimed), (row.format, None), "{extension}");
        }
    }
}

#[test]
fn content_alone_is_enough_for_all_but_the_fragment() {
    for row in FORMAT_TABLE.iter().filter(|row| row.format != Format::Fragment) {
        for name in ["README", "file.unknown"] {
            assert_eq!(format_of(&sample(row.format), name), row.format, "{name}");
        }
    }
}

/// Row 3: the extension lies.
#[test]
fn a_lie_in_the_name_is_seen_and_recorded() {
    for row in FORMAT_TABLE.iter().filter(|row| !text::is_text_format(row.format)) {
        let lie = if row.format == Format::Docx { ("report.pdf", Format::Pdf) } else { ("report.docx", Format::Docx) };
        let found = found_of(&sample(row.format), lie.0).unwrap();
        assert_eq!((found.format, found.claimed), (row.format, Some(lie.1)));
        assert_eq!(found.profile().claimed_format, Some(lie.1));
    }
    let page = found_of(&sample(Format::Html), "notes.md").unwrap();
    assert_eq!((page.format, page.claimed), (Format::Html, Some(Format::Markdown)));
    let words = found_of(&sample(Format::Text), "slides.pptx").unwrap();
    assert_eq!((words.format, words.claimed), (Format::Text, Some(Format::Pptx)));
}

#[test]
fn the_extension_decides_between_kinds_of_text() {
    let words = sample(Format::Text);
    for (name, format) in
        [("a.md", Format::Markdown), ("a.txt", Format::Text), ("a.log", Format::Text), ("a.html", Format::Html), ("a.csv", Format::Csv)]
    {
        assert_eq!(format_of(&words, name), format, "{name}");
    }
    // Markdown may begin with HTML, a text file may hold JSON, mail or a table.
    assert_eq!(format_of(b"<div align=\"center\">\n\n# Title\n\n</div>\n", "README.md"), Format::Markdown);
    assert_eq!(format_of(&sample(Format::Json), "notes.txt"), Format::Text);
    assert_eq!(format_of(&sample(Format::Eml), "mail.txt"), Format::Text);
    assert_eq!(format_of(&sample(Format::Csv), "table.md"), Format::Markdown);
    // But what claims a syntax must have it.
    assert_eq!(format_of(&words, "data.json"), Format::Text);
    assert_eq!(format_of(&words, "data.xml"), Format::Text);
    assert_eq!(format_of(&words, "mail.eml"), Format::Text);
}

#[test]
fn markup_is_told_apart_by_its_root() {
    for page in [
        "<html lang='en'><p>x",
        "<!-- saved --><!doctype HTML><p>x",
        "<?xml version='1.0'?><!DOCTYPE html><html/>",
        "<p>para</p>",
        "<table><tr><td>1</table>",
    ] {
        assert_eq!(format_of(page.as_bytes(), "x"), Format::Html, "{page}");
    }
    for document in ["<note><to>A</to></note>", "<?xml version='1.0'?><svg/>", "<feed xmlns='urn:x'></feed>"] {
        assert_eq!(format_of(document.as_bytes(), "x"), Format::Xml, "{document}");
    }
    for words in ["<https://example.org> is where it is\nand more", "<- look here, and there\n", "<name of the sender> goes here\n"] {
        assert_eq!(format_of(words.as_bytes(), "x"), Format::Text, "{words}");
    }
}

#[test]
fn prose_is_no_table_and_a_script_is_no_markdown() {
    assert_eq!(format_of(b"Dear Ann, hello.\nDear Bob, hello.\nDear Cat, hello.\n", "x"), Format::Text);
    assert_eq!(format_of(b"#!/bin/sh\n# a comment\necho '- x'\n- y **z** **\n", "x"), Format::Text);
    assert_eq!(format_of(b"Note: this is a sentence.\nSubject: another\n", "x"), Format::Text);
}

#[test]
fn text_says_what_it_is_written_in() {
    let encoding = |bytes: &[u8], name: &str| found_of(bytes, name).unwrap().encoding.unwrap();
    assert_eq!(encoding("año, naïve, 漢字".as_bytes(), "a.txt"), "UTF-8");
    let wide: Vec<u8> = [0xFF, 0xFE].into_iter().chain("Grüße aus Köln".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(encoding(&wide, "a.txt"), "UTF-16LE");
    assert_eq!(encoding(b"<html><meta charset=\"shift_jis\"><p>\x93\xFA\x96\x7B\x8C\xEA</p></html>", "a.html"), "Shift_JIS");
    assert_eq!(found_of(&sample(Format::Pdf), "a.pdf").unwrap().encoding, None);
}

/// Rows 1 and 2.
#[test]
fn nothing_one_byte_and_nuls_are_refused() {
    assert_eq!(code_of(b"", "a.txt"), DocumentCode::Empty);
    assert_eq!(code_of(b"x", "a.txt"), DocumentCode::Corrupt);
    assert_eq!(code_of(&[0; 4096], "a.txt"), DocumentCode::Empty);
    assert_eq!(code_of(&vec![0; 200_000], "a.docx"), DocumentCode::Corrupt);
    assert_eq!(code_of(b" \n\t\r\n ", "a.md"), DocumentCode::Empty);
    assert_eq!(code_of(b"\xEF\xBB\xBF\n\n", "a.md"), DocumentCode::Empty);
}

/// Row 4: two things at once are always read as the same one.
#[test]
fn a_polyglot_is_what_its_first_byte_says() {
    let both = [sample(Format::Pdf), sample(Format::Docx)].concat();
    assert_eq!(format_of(&both, "a.docx"), Format::Pdf);
    let mut stored = zip(&[("[Content_Types].xml", b"%PDF-1.7\n"), ("word/document.xml", b"<x/>")]);
    stored.extend(b"%%EOF");
    // What follows the archive is taken for its comment's neighbour; the first byte still decides.
    assert!(matches!(found_of(&stored, "a.pdf"), Ok(Detection { format: Format::Docx, .. })));
    let late = [b"junk before the header\n".to_vec(), sample(Format::Pdf)].concat();
    assert_eq!(format_of(&late, "a.pdf"), Format::Pdf);
    // A text that speaks of PDF has the header, but not the end.
    assert_eq!(format_of(b"A PDF begins with %PDF-1.7 in its first line.\n", "a.md"), Format::Markdown);
}

#[test]
fn damaged_containers_are_corrupt() {
    assert_eq!(code_of(b"PK\x03\x04 not really a zip", "broken.docx"), DocumentCode::Corrupt);
    let whole = sample(Format::Docx);
    for cut in [30, whole.len() / 2, whole.len() - 23, whole.len() - 1] {
        let outcome = found_of(&whole[..cut], "a.docx");
        assert!(matches!(&outcome, Err(failure) if failure.code == DocumentCode::Corrupt), "{cut}: {outcome:?}");
    }
    let epub = sample(Format::Epub);
    assert_eq!(code_of(&epub[..70], "a.epub"), DocumentCode::Corrupt);
    assert_eq!(code_of(&compound(&["WordDocument"])[..700], "a.doc"), DocumentCode::Corrupt);
    let mut noise: Vec<u8> = (0..4096u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    noise[0] = 0xFE;
    noise[1] = 0x01;
    assert_eq!(code_of(&noise, "a.docx"), DocumentCode::Corrupt, "a name that promises a document");
    assert_eq!(code_of(&noise, "a.bin"), DocumentCode::Unsupported);
}

/// Row 32: sectors in a circle.
#[test]
fn a_loop_of_sectors_ends() {
    let mut looping = compound(&["WordDocument"]);
    looping[512 + 4..512 + 8].copy_from_slice(&1u32.to_le_bytes());
    assert_eq!(code_of(&looping, "a.doc"), DocumentCode::Corrupt);
}

#[test]
fn encrypted_files_are_told_so() {
    assert_eq!(code_of(&compound(&["EncryptionInfo", "EncryptedPackage"]), "a.docx"), DocumentCode::Encrypted);
    let locked = zip_with(&[("[Content_Types].xml", b"x"), ("word/document.xml", b"x")], 1, b"");
    assert_eq!(code_of(&locked, "a.docx"), DocumentCode::Encrypted);
}

/// Row 8: counted before anything is made for them.
#[test]
fn too_many_entries_are_refused_by_count_and_by_claim() {
    let limits = Limits { archive_entries: 3, ..Limits::default() };
    let names: Vec<String> = (0..5).map(|n| format!("word/{n}")).collect();
    let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
    let mut many = zip(&entries);
    let code = |bytes: &[u8]| match detect(&Pieces::whole(Bytes::copy_from_slice(bytes)), "a.docx", &limits) {
        Err(Stop::Failure(failure)) => failure.code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code(&many), DocumentCode::TooManyEntries);
    // A directory that claims fewer than it has.
    let end = many.len() - 22;
    many[end + 8..end + 12].copy_from_slice(&[1, 0, 1, 0]);
    assert_eq!(code(&many), DocumentCode::TooManyEntries);
}

#[test]
fn archives_are_found_behind_comments_and_before_other_bytes() {
    let commented = zip_with(&[("[Content_Types].xml", b"x"), ("word/document.xml", b"x")], 0, &[b'c'; 3000]);
    assert_eq!(format_of(&commented, "a.docx"), Format::Docx);
    let renamed = zip(&[("[Content_Types].xml", b"x"), ("word/document2.xml", b"x")]);
    assert_eq!(format_of(&renamed, "a.docx"), Format::Docx);
    let embedded = zip(&[("[Content_Types].xml", b"x"), ("word/document.xml", b"x"), ("word/embeddings/b.xlsx", b"x"), ("xl/extra", b"x")]);
    assert_eq!(format_of(&embedded, "a.docx"), Format::Docx);
}

#[test]
fn an_open_document_that_was_packed_again_is_recognised() {
    let kind = b"application/vnd.oasis.opendocument.spreadsheet";
    assert_eq!(archive::checksum(kind), 0x8A39_6C85, "as other programs have it");
    let late = zip(&[("Configurations2/", b""), ("content.xml", b"<x/>"), ("mimetype", kind)]);
    assert_eq!(format_of(&late, "a.ods"), Format::Ods);
    let ended = zip(&[("META-INF/container.xml", b"<x/>"), ("mimetype", b"application/vnd.oasis.opendocument.text\n")]);
    assert_eq!(format_of(&ended, "a.odt"), Format::Odt);
    assert_eq!(code_of(&zip(&[("content.xml", b"<x/>"), ("mimetype", b"text/plain")]), "a.ods"), DocumentCode::Unsupported);
}

#[test]
fn other_kinds_are_named_in_the_refusal() {
    let tar = [vec![b'a'; 257], b"ustar\0".to_vec(), vec![0; 300]].concat();
    for (bytes, what) in [
        (zip(&[("a.txt", b"hello")]), "ZIP archive"),
        (b"\x1F\x8B\x08\0\0\0\0\0".to_vec(), "gzip"),
        (tar, "tar archive"),
        (b"\x7FELF\x02\x01\x01\0".to_vec(), "program"),
        (b"\0\0\0\x18ftypmp42\0\0\0\0".to_vec(), "video"),
        (b"%!PS-Adobe-3.0\n%%EOF\n".to_vec(), "PostScript"),
        (compound(&["__properties_version1.0"]), "Outlook"),
    ] {
        let failure = found_of(&bytes, "a").unwrap_err();
        assert_eq!(failure.code, DocumentCode::Unsupported, "{what}");
        assert!(failure.detail.contains(what), "{}", failure.detail);
    }
    // Letters that happen to begin a signature are text.
    assert_eq!(format_of(b"MZ is a country code.\nID3 is a tag.\n", "a.txt"), Format::Text);
    assert_eq!(format_of(b"BM is short for benchmark, among others.\n", "a.txt"), Format::Text);
}

#[test]
fn every_format_without_a_parser_has_a_sentence_that_names_it() {
    for row in FORMAT_TABLE {
        let words = category(row.format).split(' ').count();
        assert!((1..=5).contains(&words));
        let failure = unsupported(row.format);
        assert!(failure.message().contains(category(row.format)), "{}", failure.message());
    }
    assert_eq!(unsupported(Format::Eml).detail, "this is an e-mail message");
    assert_eq!(unsupported(Format::Pdf).detail, "this is a PDF document");
}

/// A large file is never read whole: head, end, directory.
#[test]
fn only_what_the_decision_needs_is_asked_for() {
    let filler = vec![b'z'; 3 << 20];
    let large = zip(&[("[Content_Types].xml", b"<T/>"), ("word/media/image1.bin", &filler), ("word/document.xml", b"<x/>")]);
    let (format, asked) = step_by_step(&large, "a.docx");
    assert_eq!(format, Format::Docx);
    assert!(asked < 80 << 10, "{asked} bytes");
    let (format, asked) = step_by_step(&[sample(Format::Text).repeat(60_000), b"\n".to_vec()].concat(), "a.txt");
    assert_eq!(format, Format::Text);
    assert!(asked <= 70 << 10, "{asked} bytes");
}

fn step_by_step(bytes: &[u8], name: &str) -> (Format, u64) {
    let mut pieces = Pieces::new(bytes.len() as u64);
    let mut asked = 0;
    for _ in 0..20 {
        match detect(&pieces, name, &Limits::default()) {
            Ok(found) => return (found.format, asked),
            Err(Stop::Missing(range)) => {
                asked += range.end - range.start;
                let piece = &bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
                pieces.add(range.start, Bytes::copy_from_slice(piece));
            }
            Err(Stop::Failure(failure)) => panic!("{failure}"),
        }
    }
    panic!("never satisfied")
}

/// Row 25 for containers: cut anywhere, nothing panics and nothing loops.
#[test]
fn any_cut_and_any_flipped_byte_ends_in_an_answer() {
    for format in [Format::Docx, Format::Epub, Format::Xls, Format::Pdf, Format::Bmp] {
        let whole = sample(format);
        for cut in 0..whole.len() {
            let _ = found_of(&whole[..cut], "a.docx");
        }
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 0xFF;
            let _ = found_of(&flipped, "a.docx");
        }
    }
}
