//! A minimal writer of XLSB.

use super::zip_of;

pub fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let mut out = if kind < 0x80 { vec![kind as u8] } else { vec![(kind & 0x7f) as u8 | 0x80, (kind >> 7) as u8] };
    let mut length = data.len();
    loop {
        let low = (length & 0x7f) as u8;
        length >>= 7;
        out.push(if length > 0 { low | 0x80 } else { low });
        if length == 0 {
            break;
        }
    }
    out.extend(data);
    out
}

pub fn text(said: &str) -> Vec<u8> {
    let units: Vec<u16> = said.encode_utf16().collect();
    let mut out = (units.len() as u32).to_le_bytes().to_vec();
    units.iter().for_each(|unit| out.extend(unit.to_le_bytes()));
    out
}

pub fn row(row: u32, hidden: bool) -> Vec<u8> {
    let mut data = row.to_le_bytes().to_vec();
    data.extend([0; 7]);
    data.push(if hidden { 0x10 } else { 0 });
    data.extend([0; 5]);
    record(0, &data)
}

pub fn cell(kind: u16, column: u32, style: u32, value: &[u8]) -> Vec<u8> {
    record(kind, &[column.to_le_bytes().to_vec(), style.to_le_bytes().to_vec(), value.to_vec()].concat())
}

/// A workbook with one sheet of these records, shared texts, and styles as built-in formats.
pub fn workbook(sheet: &[u8], texts: &[&str], formats: &[u16]) -> Vec<u8> {
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relationships = |inner: String| {
        format!("<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{inner}</Relationships>")
    };
    let relationship =
        |id: &str, kind: &str, target: &str| format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>");
    let list = record(156, &[0_u32.to_le_bytes().to_vec(), 1_u32.to_le_bytes().to_vec(), text("r1"), text("Binary")].concat());
    let strings: Vec<u8> = texts.iter().flat_map(|said| record(19, &[vec![0], text(said)].concat())).collect();
    let mut styles = record(617, &[]);
    for format in formats {
        styles.extend(record(47, &[vec![0, 0], format.to_le_bytes().to_vec(), vec![0; 12]].concat()));
    }
    styles.extend(record(618, &[]));
    let root = relationships(relationship("m", "officeDocument", "xl/workbook.bin"));
    let of_book = relationships(
        relationship("r1", "worksheet", "worksheets/sheet1.bin")
            + &relationship("r2", "sharedStrings", "sharedStrings.bin")
            + &relationship("r3", "styles", "styles.bin"),
    );
    zip_of(&[
        ("[Content_Types].xml", b"<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>"),
        ("_rels/.rels", root.as_bytes()),
        ("xl/workbook.bin", &list),
        ("xl/_rels/workbook.bin.rels", of_book.as_bytes()),
        ("xl/worksheets/sheet1.bin", sheet),
        ("xl/sharedStrings.bin", &strings),
        ("xl/styles.bin", &styles),
    ])
}
