use encoding_rs::{BIG5, EUC_KR, GB18030, GBK, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253};

use super::*;

const CHINESE: &str = "本章说明合同双方的权利和义务。甲方应当在三十日内支付全部货款，乙方负责按照约定的时间和地点交付货物，并保证质量符合国家标准。\n第二条　违约责任由违约的一方承担。";
const TAIWAN: &str = "本報告說明公司在過去一年之營運狀況與財務結果，並針對未來的發展方向提出建議。董事會認為，研究與開發的投資應持續增加，以確保產品之競爭力。";
const JAPANESE: &str =
    "この報告書は、昨年度の事業の概要と決算の結果を説明するものです。売上高は前年に比べて増加しましたが、費用も同じように増えています。";
const KOREAN: &str = "이 보고서는 지난 한 해 동안의 사업 개요와 재무 결과를 설명합니다. 매출은 전년 대비 증가하였으나 비용도 함께 늘어났습니다. 앞으로의 계획은 다음 장에서 다룹니다.";
const CZECH: &str = "Příliš žluťoučký kůň úpěl ďábelské ódy. Smlouva nabývá účinnosti dnem podpisu oběma stranami a může být změněna pouze písemně. Zaměstnanci obdrží řádné vyúčtování do čtrnácti dnů.";
const RUSSIAN: &str = "Настоящий договор вступает в силу с момента его подписания сторонами и действует до полного исполнения обязательств. Изменения оформляются в письменной форме.";
const GERMAN: &str = "Die Prüfung der Verträge hat ergeben, dass die Gebühren für das laufende Jahr größer als früher ausfallen. Außerdem müssen die Änderungen schriftlich bestätigt werden – „unverzüglich“.";
const GREEK: &str = "Η παρούσα σύμβαση τίθεται σε ισχύ από την ημερομηνία υπογραφής της και ισχύει μέχρι την πλήρη εκτέλεση των υποχρεώσεων των συμβαλλομένων μερών.";

fn encode(text: &str, encoding: &'static Encoding) -> Vec<u8> {
    let (bytes, _, unmappable) = encoding.encode(text);
    assert!(!unmappable);
    bytes.into_owned()
}

fn utf16(text: &str, mark: bool, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    mark.then_some(0xfeff).into_iter().chain(text.encode_utf16()).flat_map(bytes).collect()
}

#[test]
fn legacy_encodings_are_told_apart() {
    for (text, encoding) in [
        (CHINESE, GBK),
        (TAIWAN, BIG5),
        (JAPANESE, SHIFT_JIS),
        (KOREAN, EUC_KR),
        (CZECH, WINDOWS_1250),
        (RUSSIAN, WINDOWS_1251),
        (GERMAN, WINDOWS_1252),
        (GREEK, WINDOWS_1253),
    ] {
        let bytes = encode(text, encoding);
        let decoded = decode(&bytes, Declaration::Never);
        assert_eq!((decoded.charset.label(), decoded.text.as_ref(), decoded.replaced), (encoding.name(), text, 0));
        assert_eq!(decoded.source_offset, None);
        assert!(looks_like_text(&bytes), "{}", encoding.name());
    }
}

#[test]
fn gb18030_keeps_its_four_byte_characters() {
    let text = format!("{CHINESE}生僻字：㐀㐁𠀀𠀁。");
    let bytes = encode(&text, GB18030);
    let decoded = decode(&bytes, Declaration::Never);
    assert_eq!((decoded.text.as_ref(), decoded.replaced), (text.as_str(), 0));
}

#[test]
fn utf16_and_utf32_with_and_without_a_mark() {
    for text in ["Plain text, 3 lines.\r\nSecond.\r\n", CHINESE, RUSSIAN, KOREAN] {
        for mark in [true, false] {
            for (label, bytes) in [("UTF-16LE", utf16(text, mark, u16::to_le_bytes)), ("UTF-16BE", utf16(text, mark, u16::to_be_bytes))] {
                // Chinese without a space or a Latin letter still has a line end; Korean and Russian have spaces.
                let decoded = decode(&bytes, Declaration::Never);
                assert_eq!((decoded.charset.label(), decoded.text.as_ref()), (label, text), "mark: {mark}");
                assert!(looks_like_text(&bytes), "{label} {mark}");
            }
        }
    }
    let wide: Vec<u8> = "\u{feff}Größe 𠀀".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    assert_eq!(decode(&wide, Declaration::Never).text, "Größe 𠀀");
    assert!(looks_like_text(&wide));
}

#[test]
fn the_utf8_mark_is_cut_and_counted() {
    let stray = decode(b"hello\0world", Declaration::Never);
    assert_eq!((stray.charset.label(), stray.text.as_ref()), ("UTF-8", "hello\0world"));
    let decoded = decode(b"\xef\xbb\xbfabc", Declaration::Never);
    assert_eq!((decoded.text.as_ref(), decoded.source_span(0..3)), ("abc", Some((3, 6))));
}

#[test]
fn one_bad_byte_is_replaced_and_told() {
    let mut bytes = GERMAN.as_bytes().to_vec();
    bytes.insert(20, 0xff);
    let decoded = decode(&bytes, Declaration::Never);
    assert_eq!((decoded.charset.label(), decoded.replaced), ("UTF-8", 1));
    assert_eq!(decoded.text.replace('\u{fffd}', ""), GERMAN);
    assert!(decoded.warning().unwrap().message.contains('1'));
    assert_eq!(decoded.source_offset, None, "offsets no longer run in step");
    assert!(looks_like_text(&bytes));
}

#[test]
fn very_short_chinese_is_not_korean() {
    for text in ["中国", "合同", "第一章"] {
        assert_eq!(decode(&encode(text, GBK), Declaration::Never).text, text);
    }
    // The prior must not swallow short Cyrillic, Greek or German.
    for (text, encoding) in [("Привет, мир", WINDOWS_1251), ("Überprüfung", WINDOWS_1252), ("Größe: 3 mm", WINDOWS_1252)] {
        assert_eq!(decode(&encode(text, encoding), Declaration::Never).text, text);
    }
}

#[test]
fn markup_may_say_what_it_is_written_in() {
    for head in [
        "<meta charset=\"windows-1251\">",
        "<META http-equiv='Content-Type' content='text/html; charset=windows-1251'>",
        "<?xml version='1.0' encoding=\"windows-1251\"?>",
        "<!-- <meta charset=big5> --><meta name=a content=b><meta charset=windows-1251/>",
    ] {
        let text = format!("{head}<p>Да</p>");
        let decoded = decode(&encode(&text, WINDOWS_1251), Declaration::Markup).text.into_owned();
        assert_eq!(decoded, text);
    }
    // A declaration that the bytes contradict is not believed.
    let lie = format!("<meta charset=shift_jis>{GERMAN}");
    assert_eq!(decode(lie.as_bytes(), Declaration::Markup).text, lie);
    let lie = format!("<meta charset=utf-8>{RUSSIAN}");
    assert_eq!(decode(&encode(&lie, WINDOWS_1251), Declaration::Markup).text, lie);
}

#[test]
fn japanese_mail_is_read() {
    let bytes = b"\x1b$B$3$s$K$A$O\x1b(B world";
    assert_eq!(decode(bytes, Declaration::Never).text, "こんにちは world");
}

#[test]
fn binary_is_not_text() {
    let mut seed = 7_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    })
    .take(4096)
    .collect();
    assert!(!looks_like_text(&noise));
    assert!(!looks_like_text(&[0; 100]));
    assert!(!looks_like_text(b""));
    assert!(!looks_like_text(b"\0"));
    assert!(!looks_like_text(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\x01\0\x08\x06\0\0\0"));
    assert!(looks_like_text(b"a"));
    assert!(looks_like_text("naïve".as_bytes()));
}

#[test]
fn any_bytes_decode() {
    for length in 0..64_usize {
        for first in [0_u8, 0x1b, 0x80, 0xc3, 0xfe, 0xff] {
            let bytes: Vec<u8> = (0..length).map(|i| first.wrapping_add((i * 37) as u8)).collect();
            for declaration in [Declaration::Never, Declaration::Markup] {
                let decoded = decode(&bytes, declaration);
                assert!(decoded.text.len() <= bytes.len() * 3 + 3);
                looks_like_text(&bytes);
            }
        }
    }
}

#[test]
fn what_holds_no_text_is_refused() {
    let code = |bytes: &[u8]| read(bytes, Declaration::Never).map(|d| d.text.into_owned()).map_err(|f| f.code);
    assert_eq!(code(b""), Err(DocumentCode::Empty));
    assert_eq!(code(b" \r\n\t\x0c"), Err(DocumentCode::Empty));
    assert_eq!(code(b"\xef\xbb\xbf"), Err(DocumentCode::Empty));
    assert_eq!(code(b"\0"), Err(DocumentCode::Corrupt));
    assert_eq!(code(&[0; 5000]), Err(DocumentCode::Corrupt));
    assert_eq!(code(b"a"), Ok("a".to_owned()));
}

#[test]
fn a_page_that_says_utf8_and_holds_pieces_of_something_else_is_utf8() {
    let mut page = "<meta charset=\"UTF-8\"><title>naturgr".as_bytes().to_vec();
    page.extend(b"\xfcn</title><p>Gartenbau f\xfcr alle");
    page.extend("<p>Qualität, Zuverlässigkeit, größer".as_bytes());
    let decoded = decode(&page, Declaration::Markup);
    assert!(decoded.text.ends_with("Qualität, Zuverlässigkeit, größer"), "{}", decoded.text);
    assert_eq!((decoded.charset.label(), decoded.replaced), ("UTF-8", 2));
    // Where more speaks against it than for it, the page lies.
    let lie = [&b"<meta charset=\"UTF-8\"><p>"[..], &encode(GERMAN, WINDOWS_1252)].concat();
    assert!(decode(&lie, Declaration::Markup).text.ends_with(GERMAN));
}
