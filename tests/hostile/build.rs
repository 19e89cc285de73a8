//! Word files built in code.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const TYPES: &str = "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"xml\" ContentType=\"application/xml\"/>\
    <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override PartName=\"/word/document.xml\" \
    ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>";
const RELATIONS: &str = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" \
    Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" Target=\"word/document.xml\"/></Relationships>";

/// The main part around a body.
pub(crate) fn document(body: &str) -> String {
    format!("<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>{body}</w:body></w:document>")
}

/// A Word file with this body.
pub(crate) fn docx(body: &str) -> Vec<u8> {
    docx_with("word/document.xml", document(body).as_bytes())
}

/// A Word file in which one part is given.
pub(crate) fn docx_with(part: &str, content: &[u8]) -> Vec<u8> {
    package(&[(part, content)])
}

/// A package with these parts beside the usual two.
pub(crate) fn package(parts: &[(&str, &[u8])]) -> Vec<u8> {
    write(|zip| {
        for (name, content) in parts {
            entry(zip, name, content);
        }
    })
}

/// A Word file with this many entries that nothing needs.
pub(crate) fn many_entries(count: usize) -> Vec<u8> {
    write(|zip| {
        entry(zip, "word/document.xml", document("<w:p><w:r><w:t>x</w:t></w:r></w:p>").as_bytes());
        for n in 0..count {
            entry(zip, &format!("junk/{n}"), b"");
        }
    })
}

/// A Word file with names that try to leave their place, and with a link.
pub(crate) fn odd_names() -> Vec<u8> {
    write(|zip| {
        entry(zip, "word/document.xml", document("<w:p><w:r><w:t>Only known parts are opened.</w:t></w:r></w:p>").as_bytes());
        for name in ["../outside.txt", "/etc/outside", "C:\\outside", "word/..\\outside", "a\u{0}outside"] {
            entry(zip, name, b"outside");
        }
        zip.add_symlink("word/link.xml", "/etc/passwd", SimpleFileOptions::default()).expect("link");
    })
}

fn write(fill: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    entry(&mut zip, "[Content_Types].xml", TYPES.as_bytes());
    entry(&mut zip, "_rels/.rels", RELATIONS.as_bytes());
    fill(&mut zip);
    zip.finish().expect("zip").into_inner()
}

fn entry(zip: &mut ZipWriter<Cursor<Vec<u8>>>, name: &str, content: &[u8]) {
    zip.start_file(name, SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)).expect("entry");
    zip.write_all(content).expect("content");
}
