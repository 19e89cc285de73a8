//! Code pages, by the number a document gives and by the character set of a font.

use encoding_rs::Encoding;

/// The encoding of a Windows or Mac code page; `None` for one that nothing here reads.
pub(crate) fn code_page(number: i32) -> Option<&'static Encoding> {
    Some(match number {
        0 | 1252 => encoding_rs::WINDOWS_1252,
        874 => encoding_rs::WINDOWS_874,
        932 => encoding_rs::SHIFT_JIS,
        936 => encoding_rs::GBK,
        949 | 1361 => encoding_rs::EUC_KR,
        950 => encoding_rs::BIG5,
        866 => encoding_rs::IBM866,
        1250 => encoding_rs::WINDOWS_1250,
        1251 => encoding_rs::WINDOWS_1251,
        1253 => encoding_rs::WINDOWS_1253,
        1254 => encoding_rs::WINDOWS_1254,
        1255 => encoding_rs::WINDOWS_1255,
        1256 => encoding_rs::WINDOWS_1256,
        1257 => encoding_rs::WINDOWS_1257,
        1258 => encoding_rs::WINDOWS_1258,
        10_000 => encoding_rs::MACINTOSH,
        10_007 => encoding_rs::X_MAC_CYRILLIC,
        54_936 => encoding_rs::GB18030,
        65_001 => encoding_rs::UTF_8,
        _ => return None,
    })
}

/// The code page of a font's character set; `None` for the document's own.
pub(crate) fn of_font(charset: i32) -> Option<&'static Encoding> {
    let number = match charset {
        77 => 10_000,
        128 => 932,
        129 | 130 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    };
    code_page(number)
}

/// The character set of symbol fonts.
pub(crate) const SYMBOL: i32 = 2;
