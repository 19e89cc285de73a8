use std::io::{Cursor, Write};

use quarry_model::{DocumentCode, Limits};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn code<T>(result: Result<T, DocumentFailure>) -> DocumentCode {
    result.err().expect("a failure").code
}

#[test]
fn parts_are_found_without_regard_to_case() {
    let bytes = archive(&[("Word/Document.XML", b"<a/>")]);
    let mut archive = Archive::open(&bytes, &Limits::default()).unwrap();
    assert!(archive.contains("word/document.xml"));
    assert_eq!(archive.read("word/DOCUMENT.xml").unwrap().unwrap(), b"<a/>");
    assert_eq!(archive.read("word/styles.xml").unwrap(), None);
    assert_eq!(archive.expansion().used(), 4);
}

#[test]
fn row_6_a_bomb_is_stopped_while_streaming() {
    let zeros = vec![0_u8; 40 << 20];
    let bytes = archive(&[("word/document.xml", &zeros)]);
    assert!(bytes.len() < 100_000);
    let mut archive = Archive::open(&bytes, &Limits::default()).unwrap();
    assert_eq!(code(archive.read("word/document.xml")), DocumentCode::Bomb);
    assert!(archive.expansion().used() < 8 << 20, "stopped after {}", archive.expansion().used());
}

#[test]
fn row_6_the_total_counts_every_part_and_every_reading() {
    let noise: Vec<u8> = (0..600_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let bytes = archive(&[("a", &noise)]);
    let limits = Limits { expanded_bytes: 1_000_000, ..Limits::default() };
    let mut archive = Archive::open(&bytes, &limits).unwrap();
    assert!(archive.read("a").is_ok());
    assert_eq!(code(archive.read("a")), DocumentCode::Bomb);
    let limits = Limits { stream_bytes: 100_000, ..Limits::default() };
    assert_eq!(code(Archive::open(&bytes, &limits).unwrap().read("a")), DocumentCode::TooLarge);
}

#[test]
fn row_7_overlapping_entries_are_counted_on_real_bytes() {
    // Many directory entries point at the same compressed data, which alone stays under the ratio's free mebibyte.
    let zeros = vec![0_u8; 900 << 10];
    let names: Vec<String> = (0..50).map(|n| format!("p{n:03}")).collect();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for name in &names {
        writer.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
        if name == "p000" {
            writer.write_all(&zeros).unwrap();
        }
    }
    let mut bytes = writer.finish().unwrap().into_inner();
    let directory: Vec<usize> = (0..bytes.len() - 4).filter(|&at| bytes[at..].starts_with(b"PK\x01\x02")).collect();
    let (first, rest) = directory.split_first().unwrap();
    let (sizes, offset) = (bytes[first + 16..first + 28].to_vec(), bytes[first + 42..first + 46].to_vec());
    for &entry in rest {
        bytes[entry + 10..entry + 12].copy_from_slice(&8_u16.to_le_bytes());
        bytes[entry + 16..entry + 28].copy_from_slice(&sizes);
        bytes[entry + 42..entry + 46].copy_from_slice(&offset);
    }
    let mut archive = Archive::open(&bytes, &Limits::default()).unwrap();
    let outcome = names.iter().find_map(|name| archive.read(name).err());
    assert_eq!(outcome.unwrap().code, DocumentCode::Bomb);
}

#[test]
fn row_7_false_sizes_change_nothing() {
    let mut bytes = archive(&[("a", b"hello hello hello hello hello")]);
    let at = (0..bytes.len()).find(|&at| bytes[at..].starts_with(b"PK\x01\x02")).unwrap();
    bytes[at + 24..at + 28].copy_from_slice(&0xfff0_0000_u32.to_le_bytes());
    let mut archive = Archive::open(&bytes, &Limits::default()).unwrap();
    match archive.read("a") {
        Ok(bytes) => assert_eq!(bytes.unwrap(), b"hello hello hello hello hello"),
        Err(failure) => assert_eq!(failure.code, DocumentCode::Corrupt),
    }
}

#[test]
fn row_8_entries_are_counted_before_the_directory_is_read() {
    let names: Vec<String> = (0..300).map(|n| format!("word/{n}.xml")).collect();
    let parts: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let bytes = archive(&parts);
    let limits = Limits { archive_entries: 299, ..Limits::default() };
    assert_eq!(code(Archive::open(&bytes, &limits)), DocumentCode::TooManyEntries);
    assert!(Archive::open(&bytes, &Limits { archive_entries: 300, ..limits }).is_ok());
}

#[test]
fn row_8_a_lying_directory_allocates_nothing() {
    let mut bytes = archive(&[("a", b"x")]);
    let end = bytes.len() - 22;
    bytes[end + 8..end + 12].copy_from_slice(&[0xfe, 0xff, 0xfe, 0xff]);
    assert_eq!(code(Archive::open(&bytes, &Limits::default())), DocumentCode::TooManyEntries);
    // A 64-bit record that declares four thousand million entries.
    let mut big = archive(&[("a", b"x")]);
    let end = big.split_off(big.len() - 22);
    let record_at = big.len() as u64;
    big.extend_from_slice(b"PK\x06\x06");
    big.extend_from_slice(&44_u64.to_le_bytes());
    big.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for field in [4_000_000_000_u64, 4_000_000_000, 184_000_000_000, 0] {
        big.extend_from_slice(&field.to_le_bytes());
    }
    big.extend_from_slice(b"PK\x06\x07\0\0\0\0");
    big.extend_from_slice(&record_at.to_le_bytes());
    big.extend_from_slice(&1_u32.to_le_bytes());
    big.extend_from_slice(&end[..8]);
    big.extend_from_slice(&[0xff; 12]);
    big.extend_from_slice(&[0, 0]);
    assert_eq!(code(Archive::open(&big, &Limits::default())), DocumentCode::TooManyEntries);
}

#[test]
fn row_9_names_that_lead_outside_are_not_parts() {
    let bytes =
        archive(&[("../../etc/passwd", b"x"), ("/abs", b"x"), ("a/../../b", b"x"), ("C:/x", b"x"), ("w\\d.xml", b"x"), ("ok", b"x")]);
    let mut archive = Archive::open(&bytes, &Limits::default()).unwrap();
    assert_eq!(archive.names().collect::<Vec<_>>(), ["ok"]);
    for name in ["../../etc/passwd", "/abs", "b", "C:/x", "w\\d.xml"] {
        assert_eq!(archive.read(name).unwrap(), None, "{name}");
    }
}

#[test]
fn row_10_a_symbolic_link_is_not_followed() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("word/document.xml", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let mut archive = Archive::open(&bytes, &Limits::default()).unwrap();
    assert_eq!(archive.read("word/document.xml").unwrap(), None);
}

#[test]
fn damage_is_corrupt_and_a_password_is_encrypted() {
    assert_eq!(code(Archive::open(b"", &Limits::default())), DocumentCode::Corrupt);
    assert_eq!(code(Archive::open(b"PK\x03\x04 and no more", &Limits::default())), DocumentCode::Corrupt);
    let mut bytes = archive(&[("a", b"some text to be damaged later")]);
    bytes[36] ^= 0xff;
    assert_eq!(code(Archive::open(&bytes, &Limits::default()).unwrap().read("a")), DocumentCode::Corrupt);
    let mut locked = archive(&[("a", b"some text")]);
    let at = (0..locked.len()).find(|&at| locked[at..].starts_with(b"PK\x01\x02")).unwrap();
    locked[at + 8] |= 1;
    assert_eq!(code(Archive::open(&locked, &Limits::default()).unwrap().read("a")), DocumentCode::Encrypted);
}

#[test]
fn targets_stay_inside() {
    assert_eq!(resolve_target("word/document.xml", "media/Image1.PNG").as_deref(), Some("word/media/image1.png"));
    assert_eq!(resolve_target("word/document.xml", "../customXml/item1.xml").as_deref(), Some("customxml/item1.xml"));
    assert_eq!(resolve_target("word/document.xml", "/word/styles.xml").as_deref(), Some("word/styles.xml"));
    assert_eq!(resolve_target("", "word/document.xml").as_deref(), Some("word/document.xml"));
    for bad in ["../../x", "..\\x", "c:/x", "", "../../../etc/passwd", "file:///etc/passwd", "http://x/y"] {
        assert_eq!(resolve_target("word/document.xml", bad), None, "{bad}");
    }
    assert_eq!(relationships_of("word/document.xml"), "word/_rels/document.xml.rels");
    assert_eq!(relationships_of(""), "_rels/.rels");
}
