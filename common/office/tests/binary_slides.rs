//! Presentations of `PowerPoint` 97 to 2003, built record by record.

use std::io::{Cursor, Write};
use std::path::Path;

use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed, RowKind};
use quarry_office::binary::ppt;

/// A picture of one pixel.
const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f,
    0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x89, 0x99,
    0x3d, 0x1d, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

fn record(head: u16, kind: u16, body: &[u8]) -> Vec<u8> {
    let mut out = head.to_le_bytes().to_vec();
    out.extend(kind.to_le_bytes());
    out.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
    out.extend(body);
    out
}

fn container(kind: u16, parts: &[Vec<u8>]) -> Vec<u8> {
    record(0xf, kind, &parts.concat())
}

fn numbers(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn text(kind: u32, text: &str) -> Vec<u8> {
    let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    [record(0, 0x0f9f, &numbers(&[kind])), record(0, 0x0fa0, &units)].concat()
}

/// Left, top, right, bottom in points.
type Place = (i32, i32, i32, i32);

fn anchor((left, top, right, bottom): Place, child: bool) -> Vec<u8> {
    let units = |points: i32| points * 8;
    if child {
        let body: Vec<u8> = [left, top, right, bottom].iter().flat_map(|points| units(*points).to_le_bytes()).collect();
        return record(0, 0xf00f, &body);
    }
    let body =
        [top, left, right, bottom].iter().flat_map(|points| i16::try_from(units(*points)).unwrap().to_le_bytes()).collect::<Vec<u8>>();
    record(0, 0xf010, &body)
}

fn properties(list: &[(u16, u32)]) -> Vec<u8> {
    let body: Vec<u8> = list.iter().flat_map(|(id, value)| [id.to_le_bytes().to_vec(), value.to_le_bytes().to_vec()].concat()).collect();
    record(u16::try_from(list.len()).unwrap() << 4 | 3, 0xf00b, &body)
}

fn shape(place: Place, child: bool, list: &[(u16, u32)], words: &[u8]) -> Vec<u8> {
    let mut parts = vec![record(2, 0xf00a, &numbers(&[1024, 0])), properties(list), anchor(place, child)];
    if !words.is_empty() {
        parts.push(record(0xf, 0xf00d, words));
    }
    container(0xf004, &parts)
}

/// A group whose inner coordinates are those of the slide.
fn group(place: Place, list: &[(u16, u32)], shapes: &[Vec<u8>]) -> Vec<u8> {
    let (left, top, right, bottom) = place;
    let frame: Vec<u8> = [left, top, right, bottom].iter().flat_map(|points| (points * 8).to_le_bytes()).collect();
    let own =
        container(0xf004, &[record(1, 0xf009, &frame), record(2, 0xf00a, &numbers(&[1025, 1])), properties(list), anchor(place, false)]);
    container(0xf003, &[vec![own], shapes.to_vec()].concat())
}

fn drawing(shapes: &[Vec<u8>]) -> Vec<u8> {
    let own = container(0xf004, &[record(2, 0xf00a, &numbers(&[1023, 5]))]);
    container(0x040c, &[container(0xf002, &[container(0xf003, &[vec![own], shapes.to_vec()].concat())])])
}

fn slide(notes: u32, hidden: bool, shapes: &[Vec<u8>]) -> Vec<u8> {
    let atom = numbers(&[0, 0, 0, 0, notes, 0]);
    let mut show = vec![0; 16];
    show[10] = if hidden { 4 } else { 0 };
    container(0x03ee, &[record(2, 0x03ef, &atom), record(0, 0x03f9, &show), drawing(shapes)])
}

fn reference(object: u32, id: u32) -> Vec<u8> {
    record(0, 0x03f3, &numbers(&[object, 0, 0, id, 0]))
}

/// The file of these persistent objects; the first is the document.
fn file(objects: &[Vec<u8>], token: u32) -> Vec<u8> {
    let (mut stream, mut places) = (Vec::new(), Vec::new());
    for object in objects {
        places.push(u32::try_from(stream.len()).unwrap());
        stream.extend(object);
    }
    let directory_at = u32::try_from(stream.len()).unwrap();
    let mut directory = vec![1 | u32::try_from(objects.len()).unwrap() << 20];
    directory.extend(&places);
    stream.extend(record(0, 0x1772, &numbers(&directory)));
    let edit_at = u32::try_from(stream.len()).unwrap();
    // The edit names itself as the one before it: a loop.
    stream.extend(record(0, 0x0ff5, &numbers(&[0, 0, edit_at, directory_at, 1, 9, 0])));
    let user = record(0, 0x0ff6, &numbers(&[20, token, edit_at, 0]));
    let blip = record(0x6e0 << 4, 0xf01e, &[&[0; 17], PIXEL].concat());
    let mut out = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for (name, bytes) in [("PowerPoint Document", &stream), ("Current User", &user), ("Pictures", &blip)] {
        out.create_stream(name).unwrap().write_all(bytes).unwrap();
    }
    out.flush().unwrap();
    out.into_inner().into_inner()
}

fn document(lists: &[Vec<u8>]) -> Vec<u8> {
    let mut entry = vec![0; 36];
    entry[28..32].copy_from_slice(&0_u32.to_le_bytes());
    let group = container(0x040b, &[container(0xf000, &[container(0xf001, &[record(0x62, 0xf007, &entry)])])]);
    container(0x03e8, &[vec![record(1, 0x03e9, &numbers(&[5760, 4320])), group], lists.to_vec()].concat())
}

/// Two slides: outline and own text, a table, a picture, a group, notes; the second hidden.
fn rich() -> Vec<u8> {
    let list = record(
        0xf,
        0x0ff0,
        &[reference(2, 256), text(0, "Harbour works"), text(1, "First point\rSecond point"), reference(3, 257)].concat(),
    );
    let notes_list = record(0x2f, 0x0ff0, &reference(4, 900));
    let outline = |index: u32| record(0, 0x0f9e, &numbers(&[index]));
    let cell = |place: Place, words: &str| shape(place, true, &[], &text(4, words));
    let first = slide(
        900,
        false,
        &[
            shape((20, 20, 700, 80), false, &[], &outline(0)),
            shape((400, 100, 700, 200), false, &[], &text(4, "To the right — naïve")),
            shape((20, 100, 320, 200), false, &[], &outline(1)),
            shape((20, 300, 120, 400), false, &[(0x4104, 1)], &[]),
        ],
    );
    let second = slide(
        0,
        true,
        &[
            shape((20, 20, 700, 80), false, &[], &text(6, "Costs\u{b}of stone")),
            group(
                (20, 100, 420, 220),
                &[(0x039f, 1)],
                &[
                    cell((20, 100, 420, 140), "Both columns"),
                    cell((20, 140, 220, 180), "Stone"),
                    cell((220, 140, 420, 180), "41,000"),
                    cell((20, 180, 220, 220), "Steel"),
                    cell((220, 180, 420, 220), "18,500"),
                ],
            ),
        ],
    );
    let page = container(0x03f0, &[drawing(&[shape((20, 20, 90, 90), false, &[], &text(2, "Thank the crane drivers."))])]);
    file(&[document(&[list, notes_list]), first, second, page], 0xe391_c05f)
}

fn read(bytes: &[u8]) -> Result<Parsed, DocumentFailure> {
    ppt::read(bytes, &Limits::default())
}

#[test]
fn slides_are_read_as_those_of_pptx() {
    let parsed = read(&rich()).unwrap();
    let titles: Vec<_> = parsed.headings.iter().map(|heading| (heading.title.as_str(), heading.page)).collect();
    assert_eq!(titles, [("Harbour works", Some(1)), ("Costs of stone", Some(2))]);
    let texts: Vec<&str> = parsed.rows.iter().map(|row| row.content.as_str()).collect();
    assert_eq!(texts, ["First point", "Second point", "To the right — naïve", "", "Notes: Thank the crane drivers.", ""]);
    assert_eq!((parsed.rows[3].kind, parsed.rows[3].asset, parsed.assets[0].bytes.as_slice()), (RowKind::Image, Some(0), PIXEL));
    let table = parsed.rows[5].table.as_ref().unwrap();
    let cells: Vec<Vec<(&str, u32)>> =
        table.rows.iter().map(|row| row.iter().map(|cell| (cell.text.as_str(), cell.colspan)).collect()).collect();
    assert_eq!(cells, [vec![("Both columns", 2)], vec![("Stone", 1), ("41,000", 1)], vec![("Steel", 1), ("18,500", 1)]]);
    assert_eq!(parsed.rows.iter().map(|row| row.hidden).collect::<Vec<_>>(), [false, false, false, false, false, true]);
    assert_eq!(parsed.page_count, Some(2));
}

#[test]
fn a_missing_slide_is_its_outline() {
    let list = record(0xf, 0x0ff0, &[reference(7, 256), text(0, "Gone"), text(1, "but outlined")].concat());
    let parsed = read(&file(&[document(&[list])], 0xe391_c05f)).unwrap();
    assert_eq!((parsed.headings[0].title.as_str(), parsed.rows[0].content.as_str(), parsed.partial), ("Gone", "but outlined", true));
}

#[test]
fn what_cannot_be_read_says_why() {
    assert_eq!(read(&file(&[document(&[])], 0xe391_c05f)).unwrap_err().code, DocumentCode::Empty);
    assert_eq!(read(&file(&[document(&[])], 0xf3d1_c4df)).unwrap_err().code, DocumentCode::Encrypted);
    assert_eq!(read(b"no compound file").unwrap_err().code, DocumentCode::Corrupt);
    let mut old = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    old.create_stream("PP40").unwrap().write_all(b"95").unwrap();
    old.flush().unwrap();
    assert_eq!(read(&old.into_inner().into_inner()).unwrap_err().code, DocumentCode::ConverterMissing);
}

/// The golden input is kept as it is, for containers hold times; what is read of it is what is built here.
#[test]
fn the_golden_input_reads_as_what_is_built() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/ppt/harbour/input.ppt");
    if std::env::var("QUARRY_GOLDEN").is_ok_and(|value| value == "write") && !path.exists() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, rich()).unwrap();
    }
    assert_eq!(read(&std::fs::read(&path).unwrap()).unwrap(), read(&rich()).unwrap());
}

/// hostile.md, row 32.
#[test]
fn a_chain_of_sectors_that_bites_its_tail_ends() {
    let bytes = rich();
    // Every entry of the first table of sectors in turn names sector 0, or itself.
    let table = 512 * (1 + u32::from_le_bytes(bytes[76..80].try_into().unwrap()) as usize);
    for entry in 0..128_u32 {
        for target in [0, entry] {
            let mut looped = bytes.clone();
            let at = table + entry as usize * 4;
            if let Some(slot) = looped.get_mut(at..at + 4) {
                slot.copy_from_slice(&target.to_le_bytes());
                if let Err(failure) = read(&looped) {
                    assert!(matches!(failure.code, DocumentCode::Corrupt | DocumentCode::Empty), "{failure}");
                }
            }
        }
    }
}
