//! A minimal writer of BIFF8 in a compound file.

use std::io::{Cursor, Write as _};

pub fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let mut out = kind.to_le_bytes().to_vec();
    out.extend(u16::try_from(data.len()).unwrap().to_le_bytes());
    out.extend(data);
    out
}

/// A text with its length in `length_bytes`, in UTF-16.
pub fn text(text: &str, length_bytes: usize) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut out = (units.len() as u16).to_le_bytes()[..length_bytes].to_vec();
    out.push(1);
    units.iter().for_each(|unit| out.extend(unit.to_le_bytes()));
    out
}

fn begin(kind: u16) -> Vec<u8> {
    let mut data = 0x600_u16.to_le_bytes().to_vec();
    data.extend(kind.to_le_bytes());
    data.extend([0; 12]);
    record(0x809, &data)
}

fn place(row: u16, column: u16, style: u16) -> Vec<u8> {
    [row.to_le_bytes(), column.to_le_bytes(), style.to_le_bytes()].concat()
}

pub fn number(row: u16, column: u16, style: u16, value: f64) -> Vec<u8> {
    record(0x203, &[place(row, column, style), value.to_le_bytes().to_vec()].concat())
}

pub fn rk(row: u16, column: u16, style: u16, bits: u32) -> Vec<u8> {
    record(0x27e, &[place(row, column, style), bits.to_le_bytes().to_vec()].concat())
}

pub fn shared(row: u16, column: u16, index: u32) -> Vec<u8> {
    record(0xfd, &[place(row, column, 0), index.to_le_bytes().to_vec()].concat())
}

pub fn label(row: u16, column: u16, said: &str) -> Vec<u8> {
    record(0x204, &[place(row, column, 0), text(said, 2)].concat())
}

/// A formula whose value is a text, and that text.
pub fn formula_text(row: u16, column: u16, said: &str) -> Vec<u8> {
    let value = [0, 0, 0, 0, 0, 0, 0xff, 0xff];
    let formula = record(0x06, &[place(row, column, 0), value.to_vec(), vec![0; 6]].concat());
    [formula, record(0x207, &text(said, 2))].concat()
}

pub fn error(row: u16, column: u16, code: u8) -> Vec<u8> {
    record(0x205, &[place(row, column, 0), vec![code, 1]].concat())
}

pub fn merge(top: u16, bottom: u16, left: u16, right: u16) -> Vec<u8> {
    let data: Vec<u8> = [1, top, bottom, left, right].iter().flat_map(|field| u16::to_le_bytes(*field)).collect();
    record(0xe5, &data)
}

/// A workbook: records of its own, then its sheets (name, state, records).
pub fn stream(globals: &[u8], sheets: &[(&str, u8, Vec<u8>)]) -> Vec<u8> {
    let listed = |offsets: &[u32]| -> Vec<u8> {
        let entries = sheets
            .iter()
            .zip(offsets)
            .map(|((name, state, _), offset)| record(0x85, &[offset.to_le_bytes().to_vec(), vec![*state, 0], text(name, 1)].concat()));
        entries.flatten().collect()
    };
    let (first, end) = (begin(5), record(0x0a, &[]));
    let mut at = first.len() + globals.len() + listed(&vec![0; sheets.len()]).len() + end.len();
    let mut offsets = Vec::new();
    for (_, _, records) in sheets {
        offsets.push(u32::try_from(at).unwrap());
        at += begin(0x10).len() + records.len() + end.len();
    }
    let mut out = [first, globals.to_vec(), listed(&offsets), end.clone()].concat();
    for (_, _, records) in sheets {
        out.extend([begin(0x10), records.clone(), end.clone()].concat());
    }
    out
}

/// A compound file with this stream.
pub fn compound(name: &str, stream: &[u8]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    file.create_stream(name).unwrap().write_all(stream).unwrap();
    file.flush().unwrap();
    file.into_inner().into_inner()
}

/// Styles: each a built-in format.
pub fn styles(formats: &[u16]) -> Vec<u8> {
    formats.iter().flat_map(|format| record(0xe0, &[vec![0, 0], format.to_le_bytes().to_vec(), vec![0; 16]].concat())).collect()
}

/// The shared texts, cut into records of `size` bytes inside a text.
pub fn shared_texts(texts: &[&str]) -> Vec<u8> {
    let count = u32::try_from(texts.len()).unwrap().to_le_bytes();
    let mut data = [count, count].concat();
    texts.iter().for_each(|said| data.extend(text(said, 2)));
    record(0xfc, &data)
}
