//! What all sheets of a workbook share: texts, styles, the list of sheets, pictures.

use std::collections::BTreeMap;

use encoding_rs::Encoding;
use quarry_document::Warnings;
use quarry_model::{DocumentCode, DocumentFailure, Limits};

use super::record::{BOF, Dialect, EOF, Pieces, Records};
use crate::bytes::{u16_at, u32_at};
use crate::formats::{Formats, builtin};
use crate::strings::Strings;

/// A sheet as the workbook lists it.
#[derive(Debug)]
pub(super) struct Listed {
    pub name: String,
    pub hidden: bool,
    /// Where its records begin.
    pub offset: usize,
}

#[derive(Debug)]
pub(super) struct Globals {
    pub dialect: Dialect,
    pub strings: Strings,
    pub formats: Formats,
    pub sheets: Vec<Listed>,
    /// The drawing group: where the bytes of pictures stand.
    pub art: Vec<u8>,
}

pub(super) fn read(stream: &[u8], limits: &Limits, warnings: &mut Warnings) -> Result<Globals, DocumentFailure> {
    let mut records = Records::new(stream);
    let corrupt = |what: &str| DocumentFailure::new(DocumentCode::Corrupt, what.to_owned());
    let first = records.next().ok_or_else(|| corrupt("no records"))?;
    let unicode = match (first.kind, u16_at(first.data, 0)) {
        (BOF, Some(0x600)) => true,
        (BOF, Some(0x500)) => false,
        (0x009 | 0x209 | 0x409, _) => {
            return Err(DocumentFailure::new(DocumentCode::Unsupported, "a workbook of Excel 4 or older: save it in a newer format"));
        }
        // Some writers name no version; everything after Excel 95 is Unicode.
        (BOF, _) => true,
        _ => return Err(corrupt("the workbook does not begin with a BOF record")),
    };
    let mut dialect = Dialect { unicode, code_page: encoding_rs::WINDOWS_1252 };
    let (mut strings, mut art, mut sheets) = (Strings::default(), Vec::new(), Vec::new());
    let mut codes: BTreeMap<u16, String> = BTreeMap::new();
    let (mut bold, mut styles): (Vec<bool>, Vec<(u16, u16)>) = Default::default();
    let (mut date1904, mut ended) = (false, false);
    while let Some(record) = records.next() {
        let data = record.data;
        match record.kind {
            EOF => {
                ended = true;
                break;
            }
            0x2f => return Err(DocumentFailure::new(DocumentCode::Encrypted, "the workbook is encrypted")),
            0x42 => dialect.code_page = u16_at(data, 0).map_or(dialect.code_page, code_page),
            0x22 => date1904 = u16_at(data, 0) == Some(1),
            0x31 => bold.push(u16_at(data, 6).is_some_and(|weight| weight >= 600)),
            0x41e => {
                let code = dialect.text(data, 2, if unicode { 2 } else { 1 });
                codes.extend(u16_at(data, 0).zip(code));
            }
            0xe0 => styles.extend(u16_at(data, 0).zip(u16_at(data, 2))),
            0x85 => {
                let kind = data.get(5).copied().unwrap_or_default();
                let (offset, name) = (u32_at(data, 0), dialect.text(data, 6, 1));
                // Modules hold programs.
                if let (Some(offset), Some(name), true) = (offset, name, kind != 6) {
                    let hidden = data.get(4).is_some_and(|state| state & 3 != 0);
                    sheets.push(Listed { name, hidden, offset: offset as usize });
                }
            }
            0xfc => {
                let mut pieces = vec![data];
                pieces.extend(records.continued());
                shared_texts(Pieces::new(pieces), &mut strings);
            }
            0xeb => {
                art.extend_from_slice(data);
                records.continued().iter().for_each(|piece| art.extend_from_slice(piece));
                if art.len() as u64 > limits.stream_bytes {
                    return Err(DocumentFailure::new(DocumentCode::TooLarge, "the pictures of the workbook"));
                }
            }
            _ => {}
        }
    }
    if !ended {
        warnings.partial(DocumentCode::Corrupt, "the workbook's own records are cut off");
    }
    let mut formats = Formats::new(date1904);
    for (font, format) in styles {
        // There is no font 4: the number was never given.
        let font = usize::from(if font > 4 { font.saturating_sub(1) } else { font });
        let code = codes.get(&format).map_or_else(|| builtin(u32::from(format)), String::as_str);
        formats.add(code, bold.get(font).copied().unwrap_or_default());
    }
    Ok(Globals { dialect, strings, formats, sheets, art })
}

/// Ends with the first text that is cut off; nothing is sized by the declared count.
fn shared_texts(mut pieces: Pieces<'_>, strings: &mut Strings) {
    let (_, unique) = (pieces.u32(), pieces.u32().unwrap_or_default());
    for _ in 0..unique {
        let Some(text) = pieces.u16().and_then(|count| pieces.rich_text(usize::from(count))) else { break };
        strings.push(&text);
    }
}

/// The encoding of a Windows code page.
fn code_page(number: u16) -> &'static Encoding {
    let label = match number {
        874 => "windows-874",
        932 => "shift_jis",
        936 => "gbk",
        949 => "euc-kr",
        950 => "big5",
        866 => "ibm866",
        10_000 | 32_768 => "macintosh",
        10_007 => "x-mac-cyrillic",
        1250 => "windows-1250",
        1251 => "windows-1251",
        1253 => "windows-1253",
        1254 => "windows-1254",
        1255 => "windows-1255",
        1256 => "windows-1256",
        1257 => "windows-1257",
        1258 => "windows-1258",
        _ => "windows-1252",
    };
    Encoding::for_label(label.as_bytes()).unwrap_or(encoding_rs::WINDOWS_1252)
}
