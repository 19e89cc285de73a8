//! Messages written out here, read whole.

use quarry_document::{Parser as _, Source};
use quarry_model::message::Profile;
use quarry_model::{DocumentCode, Format, Limits, Parsed, RowKind};

use super::EmlParser;

fn parse_as(format: Format, bytes: &[u8]) -> Result<Parsed, quarry_model::DocumentFailure> {
    let profile =
        Profile { format, claimed_format: None, encoding: None, category: String::new(), routing_category: "generic".into(), pdf: None };
    EmlParser.parse(&Source { bytes, file_name: "m.eml", profile: &profile }, &Limits::default())
}

fn read(message: &str) -> Parsed {
    parse_as(Format::Eml, message.replace('\n', "\r\n").as_bytes()).expect("a message")
}

fn texts(parsed: &Parsed) -> Vec<&str> {
    parsed.rows.iter().map(|row| row.content.as_str()).collect()
}

const HEAD: &str = "From: Ana <ana@x.example>\nTo: bo@x.example\nSubject: =?utf-8?q?Gr=C3=B6=C3=9Fe?=\nDate: Mon, 30 Nov 2026 10:00:00 +0100\nMIME-Version: 1.0\n";

#[test]
fn headers_come_first_and_alternatives_once() {
    let parsed = read(&format!(
        "{HEAD}Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\nplain words\n--b\nContent-Type: text/html\n\n<h1>Part</h1><p>rich <b>words</b></p>\n--b--\n"
    ));
    assert_eq!(parsed.title.as_deref(), Some("Größe"));
    let headings: Vec<(&str, u32)> = parsed.headings.iter().map(|h| (h.title.as_str(), h.level)).collect();
    assert_eq!(headings, [("Größe", 1), ("Part", 2)]);
    assert_eq!(
        texts(&parsed),
        ["From: Ana <ana@x.example>\nTo: bo@x.example\nDate: Mon, 30 Nov 2026 10:00:00 +0100\nSubject: Größe", "rich words"]
    );
}

#[test]
fn an_empty_rich_form_gives_way_to_the_plain_one() {
    let parsed = read(&format!(
        "{HEAD}Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\nplain words\n--b\nContent-Type: text/html\n\n<html><body></body></html>\n--b--\n"
    ));
    assert_eq!(texts(&parsed)[1..], ["plain words"]);
}

#[test]
fn pictures_of_the_page_stand_in_it_and_files_are_listed() {
    let parsed = read(&format!(
        "{HEAD}Content-Type: multipart/mixed; boundary=m\n\n--m\nContent-Type: multipart/related; boundary=r\n\n--r\nContent-Type: text/html\n\n<p>See <img src=\"cid:one@x\" alt=\"plan\"> here</p>\n--r\nContent-Type: image/gif\nContent-ID: <one@x>\nContent-Transfer-Encoding: base64\n\nR0lGODlh\n--r\nContent-Type: image/gif; name=two.gif\nContent-ID: <two@x>\nContent-Transfer-Encoding: base64\n\nR0lGODdh\n--r--\n--m\nContent-Type: text/csv; name=\"../../rates.csv\"\nContent-Disposition: attachment; filename=\"../../rates.csv\"\n\na,b\n1,2\n--m\nContent-Type: application/pdf; name=x.pdf\nContent-Disposition: attachment; filename=x.pdf\n\n%PDF\n--m--\n"
    ));
    assert_eq!(parsed.assets.iter().map(|asset| asset.bytes.as_slice()).collect::<Vec<_>>(), [b"GIF89a", b"GIF87a"]);
    let all = texts(&parsed);
    assert!(all.contains(&"See here") && all.contains(&"a,b\n1,2"), "{all:?}");
    let list = all.iter().find(|text| text.starts_with("Attachments:")).expect("a list");
    assert_eq!(*list, "Attachments:\n- two.gif (image/gif, 6 bytes)\n- rates.csv (text/csv, 8 bytes)\n- x.pdf (application/pdf, 4 bytes)");
    assert_eq!(parsed.headings.last().map(|h| (h.title.as_str(), h.level)), Some(("rates.csv", 2)));
    assert_eq!(parsed.rows.iter().filter(|row| row.kind == RowKind::Image).count(), 2);
    assert!(parsed.warnings[0].message.contains("x.pdf"));
}

#[test]
fn messages_within_messages_stand_below_them() {
    let parsed = read(&format!(
        "{HEAD}Content-Type: multipart/mixed; boundary=m\n\n--m\n\nsee below\n--m\nContent-Type: message/rfc822\n\nFrom: c@x.example\nSubject: Inner\n\ninner words\n--m--\n"
    ));
    assert_eq!(parsed.headings.iter().map(|h| (h.title.as_str(), h.level)).collect::<Vec<_>>(), [("Größe", 1), ("Inner", 2)]);
    assert_eq!(texts(&parsed).last(), Some(&"inner words"));
}

#[test]
fn nothing_nests_without_end() {
    let mut message = "Subject: core\n\nthe middle".to_owned();
    for n in 0..400 {
        message = format!("Subject: {n}\nContent-Type: message/rfc822\n\n{message}");
    }
    let parsed = read(&message);
    assert!(parsed.partial && parsed.warnings.iter().any(|warning| warning.code == DocumentCode::TooDeep));
    let mut parts = "Content-Type: text/plain\n\nwords".to_owned();
    for n in 0..400 {
        parts = format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n{parts}\n--b{n}--");
    }
    let parsed = read(&format!("Subject: x\n{parts}"));
    assert!(parsed.partial);
}

#[test]
fn text_is_read_in_whatever_encoding_it_is() {
    let head = b"Subject: a\r\nContent-Type: text/plain\r\n\r\n".to_vec();
    let cyrillic = encoding_rs::WINDOWS_1251.encode("Снаряжение проверено и убрано на склад до весны следующего года.").0.into_owned();
    let parsed = parse_as(Format::Eml, &[head, cyrillic].concat()).expect("a message");
    assert!(texts(&parsed)[1].contains("Снаряжение"), "{:?}", texts(&parsed));
    let named = b"Subject: a\r\nContent-Type: text/plain; charset=iso-2022-jp\r\n\r\n\x1b$B4A;z\x1b(B".to_vec();
    assert_eq!(texts(&parse_as(Format::Eml, &named).expect("a message"))[1], "漢字");
}

#[test]
fn an_encrypted_message_says_so() {
    let parsed = read(&format!(
        "{HEAD}Content-Type: multipart/encrypted; boundary=b; protocol=\"application/pgp-encrypted\"\n\n--b\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n--b\nContent-Type: application/octet-stream\n\n-----BEGIN\n--b--\n"
    ));
    assert!(parsed.partial && parsed.warnings[0].code == DocumentCode::Encrypted);
    assert_eq!(parsed.headings[0].title, "Größe");
}

#[test]
fn what_is_no_message_is_refused() {
    assert_eq!(parse_as(Format::Eml, b"\r\n\r\n").unwrap_err().code, DocumentCode::Corrupt);
}

#[test]
fn a_saved_page_is_read_as_the_page() {
    let page = "From: <Saved>\nSubject: Tides\nMIME-Version: 1.0\nContent-Type: multipart/related; type=\"text/html\"; boundary=b\n\n--b\nContent-Type: text/html\nContent-Location: http://h.example/a/p.html\n\n<title>Tides at the pier</title><h1>Tides</h1><p>High at six. <img src=\"../pier.gif\" alt=\"Pier\"></p>\n--b\nContent-Type: image/gif\nContent-Location: http://h.example/pier.gif\nContent-Transfer-Encoding: base64\n\nR0lGODlh\n--b--\n";
    let parsed = parse_as(Format::Mhtml, page.replace('\n', "\r\n").as_bytes()).expect("a page");
    assert_eq!(parsed.title.as_deref(), Some("Tides at the pier"));
    assert_eq!((parsed.headings.len(), parsed.assets.len()), (1, 1));
    assert_eq!(texts(&parsed), ["High at six.", "Pier"]);
}

#[test]
fn cuts_and_flips_never_panic() {
    let whole = format!(
        "{HEAD}Content-Type: multipart/mixed; boundary=m\n\n--m\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n<table><tr><td>a=C3=A9</td></tr></table>\n--m\nContent-Type: message/rfc822\n\nSubject: in\n\nx\n--m--\n"
    )
    .into_bytes();
    for end in 0..whole.len() {
        let _ = parse_as(Format::Eml, &whole[..end]);
    }
    for at in 0..whole.len() {
        for value in [0, b'=', b'\n', 0xff] {
            let mut changed = whole.clone();
            changed[at] = value;
            let _ = parse_as(Format::Eml, &changed);
            let _ = parse_as(Format::Mhtml, &changed);
        }
    }
}

#[test]
fn a_part_whose_multipart_is_not_found_is_read() {
    // Found by the fuzz target.
    let damaged = include_bytes!("../../../tests/fuzz/finds/eml/part-without-its-multipart.eml");
    assert!(!parse_as(Format::Eml, damaged).unwrap().rows.is_empty());
}
