use std::time::Instant;

use quarry_model::{DocumentCode, Limits};

use super::*;

const W: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const STRICT: &str = "http://purl.oclc.org/ooxml/wordprocessingml/main";

fn tree(text: &str) -> Tree {
    Tree::parse(text, &Limits::default()).unwrap()
}

fn code(text: &str) -> DocumentCode {
    Tree::parse(text, &Limits::default()).expect_err("a failure").code
}

#[test]
fn elements_are_matched_by_meaning_not_by_prefix() {
    for text in [
        format!(r#"<w:p xmlns:w="{W}" w:val="1"><w:r/></w:p>"#),
        format!(r#"<x:p x:val="1" xmlns:x="{STRICT}"><x:r/></x:p>"#),
        format!(r#"<p xmlns="{W}" xmlns:q="{W}" q:val="1"><r/></p>"#),
    ] {
        let tree = tree(&text);
        assert!(tree.root().is(Ns::W, "p"), "{text}");
        assert_eq!(tree.root().attribute(Ns::W, "val"), Some("1"), "{text}");
        assert!(tree.root().child(Ns::W, "r").is_some());
    }
    let tree = tree(&format!(r#"<w:p xmlns:w="urn:other"><w:r xmlns:w="{W}"/><w:s/></w:p>"#));
    let spaces: Vec<Ns> = tree.root().elements().map(Element::ns).collect();
    assert_eq!((tree.root().ns(), spaces), (Ns::Other, vec![Ns::W, Ns::Other]));
}

#[test]
fn text_is_read_with_references_cdata_and_line_ends() {
    let tree = tree("<a x=\"1 &lt; 2&#10;&quot;\">a &amp; b &#x4e2d;&#8364;<![CDATA[<c>]]>\r\nd<b>e</b> f &bogus; &#0; A&B</a>");
    assert_eq!(tree.root().attribute(Ns::None, "x"), Some("1 < 2\n\""));
    assert_eq!(tree.root().text(), "a & b 中€<c>\nde f &bogus; \u{fffd} A&B");
    assert_eq!(tree.root().children().count(), 3);
    assert_eq!(tree.root().descendants().count(), 1);
}

#[test]
fn row_11_entities_are_never_expanded() {
    let text = r#"<?xml version="1.0"?><!DOCTYPE a [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;">
        <!ENTITY file SYSTEM "file:///etc/passwd">]><a x="&lol2;">&lol2; &file;</a>"#;
    let tree = tree(text);
    assert_eq!(tree.root().text(), "&lol2; &file;");
    assert_eq!(tree.root().attribute(Ns::None, "x"), Some("&lol2;"));
}

#[test]
fn row_12_depth_is_limited_without_recursion() {
    let deep = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
    assert_eq!(code(&deep(100_000)), DocumentCode::TooDeep);
    assert_eq!(code(&deep(257)), DocumentCode::TooDeep);
    let fits = tree(&deep(256));
    assert_eq!(fits.root().descendants().count(), 255);
    let unlimited = Limits { xml_depth: u32::MAX, ..Limits::default() };
    drop(Tree::parse(&deep(100_000), &unlimited).unwrap());
}

#[test]
fn row_13_a_million_attributes_or_namespaces_cost_little() {
    let start = Instant::now();
    let attributes: String = (0..1_000_000).map(|n| format!(" a{n}=\"\"")).collect();
    assert_eq!(code(&format!("<a{attributes}/>")), DocumentCode::TooLarge);
    let namespaces: String = (0..1_000_000).map(|n| format!(" xmlns:a{n}=\"urn:{n}\"")).collect();
    assert_eq!(code(&format!("<a{namespaces}/>")), DocumentCode::TooLarge);
    let nested: String =
        (0..100).map(|n| (0..100).map(|m| format!(" xmlns:a{n}x{m}=\"u\"")).collect()).map(|a: String| format!("<a{a}>")).collect();
    assert_eq!(code(&nested), DocumentCode::TooLarge);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn damage_is_corrupt() {
    for text in ["", "  ", "text", "<a>", "<a><b></a>", "<a", "</a>", "<a x=1/>", "<a x/>"] {
        assert_eq!(code(text), DocumentCode::Corrupt, "{text:?}");
    }
}

#[test]
fn parts_decode_by_mark_declaration_or_first_bytes() {
    let utf16 = |text: &str, big: bool| -> Vec<u8> {
        text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    };
    let plain = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a>é</a>";
    assert_eq!(decode(utf16(plain, false)), plain);
    assert_eq!(decode(utf16(plain, true)), plain);
    assert_eq!(decode([vec![0xff, 0xfe], utf16(plain, false)].concat()), plain);
    assert_eq!(decode([&[0xef, 0xbb, 0xbf], "<a>é</a>".as_bytes()].concat()), "<a>é</a>");
    assert_eq!(decode(b"<?xml version='1.0' encoding='windows-1252'?><a>\x80</a>".to_vec()).split_once("<a>").unwrap().1, "€</a>");
    assert_eq!(decode(b"<?xml version='1.0' encoding='utf-16'?><a/>".to_vec()), "<?xml version='1.0' encoding='utf-16'?><a/>");
    assert_eq!(decode(b"<a>\xff</a>".to_vec()), "<a>\u{fffd}</a>");
}
