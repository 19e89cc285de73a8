//! Sweeps: workbooks cut at every 512 bytes, and with single bytes changed. No panic, no hang, a public code.

mod support;

use quarry_model::{DocumentCode, Format, Limits};
use support::{Xlsx, biff, n, ods, parse_as, t, xlsb};

/// Codes that damage may end in.
const DAMAGE: [DocumentCode; 7] = [
    DocumentCode::Empty,
    DocumentCode::Corrupt,
    DocumentCode::Encrypted,
    DocumentCode::Unsupported,
    DocumentCode::TooManyEntries,
    DocumentCode::Bomb,
    DocumentCode::TooLarge,
];

fn check(format: Format, bytes: &[u8], what: &str) {
    match parse_as(format, bytes, &Limits::default()) {
        Ok(parsed) => {
            for row in &parsed.rows {
                assert!(row.section.is_none_or(|section| section < parsed.headings.len()), "{what}");
                assert!(row.asset.is_none_or(|asset| asset < parsed.assets.len()), "{what}");
            }
        }
        Err(failure) => assert!(DAMAGE.contains(&failure.code), "{what}: {failure}"),
    }
}

fn samples() -> Vec<(Format, Vec<u8>)> {
    let cells: String = (1..=40).map(|row| t(&format!("A{row}"), "name") + &n(&format!("B{row}"), 45_000 + row)).collect();
    let merges = "<mergeCells><mergeCell ref=\"A1:B2\"/></mergeCells>";
    let xlsx = Xlsx::new().styles(&["yyyy-mm-dd"]).strings("<si><t>x</t></si>").sheet_with("S", "", &cells, merges).bytes();
    let sheet: Vec<u8> = (0..40)
        .flat_map(|row| [biff::shared(row, 0, 0), biff::number(row, 1, 1, 45_000.0), biff::formula_text(row, 2, "f")].concat())
        .collect();
    let globals = [biff::styles(&[0, 14]), biff::shared_texts(&["größe", "other"])].concat();
    let xls = biff::compound("/Workbook", &biff::stream(&globals, &[("S", 0, [sheet, biff::merge(50, 52, 0, 3)].concat())]));
    let rows: Vec<u8> = (0..40_u32)
        .flat_map(|row| [xlsb::row(row, false), xlsb::cell(7, 0, 0, &[0; 4]), xlsb::cell(5, 1, 1, &45_000.0_f64.to_le_bytes())].concat())
        .collect();
    let xlsb = xlsb::workbook(&rows, &["text"], &[0, 14]);
    let row = "<table:table-row table:number-rows-repeated=\"3\"><table:table-cell office:value-type=\"float\" office:value=\"5\" table:number-columns-spanned=\"2\"><text:p>5</text:p></table:table-cell></table:table-row>";
    let ods = ods("", &format!("<table:table table:name=\"S\">{}</table:table>", row.repeat(20)));
    let csv: Vec<u8> = (0..200).flat_map(|row| format!("name,\"va,lue\",{row}\r\n").into_bytes()).collect();
    vec![(Format::Xlsx, xlsx), (Format::Xls, xls), (Format::Xlsb, xlsb), (Format::Ods, ods), (Format::Csv, csv)]
}

#[test]
fn cut_anywhere() {
    for (format, bytes) in samples() {
        for end in (0..bytes.len()).step_by(512).chain(bytes.len().saturating_sub(64)..bytes.len()) {
            check(format, &bytes[..end], &format!("{format:?} cut at {end}"));
        }
    }
}

#[test]
fn one_byte_changed() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (format, bytes) in samples() {
        for seed in 0..1_000 {
            let mut damaged = bytes.clone();
            let at = random.below(damaged.len());
            damaged[at] ^= 1 << random.below(8);
            check(format, &damaged, &format!("{format:?} seed {seed}, byte {at}"));
        }
    }
}

#[test]
fn one_byte_changed_past_the_checksums() {
    // The records and the XML themselves are damaged and packed again.
    let mut random = Random(0xd1b5_4a32_d192_ed03);
    let rows: Vec<u8> = (0..10_u32)
        .flat_map(|row| [xlsb::row(row, false), xlsb::cell(7, 0, 0, &[0; 4]), xlsb::cell(6, 1, 1, &xlsb::text("t"))].concat())
        .collect();
    let part = format!(
        "<worksheet><sheetData>{}</sheetData><mergeCells><mergeCell ref=\"A1:B2\"/></mergeCells></worksheet>",
        (1..9).map(|row| n(&format!("B{row}"), row)).collect::<String>()
    );
    for seed in 0..500 {
        let mut damaged = rows.clone();
        let at = random.below(damaged.len());
        damaged[at] = random.below(256) as u8;
        check(Format::Xlsb, &xlsb::workbook(&damaged, &["text"], &[0, 14]), &format!("xlsb seed {seed}, byte {at}"));
        let mut damaged = part.clone().into_bytes();
        let at = random.below(damaged.len());
        damaged[at] = random.below(256) as u8;
        check(Format::Xlsx, &Xlsx::new().raw_sheet("S", "", damaged).bytes(), &format!("xlsx seed {seed}, byte {at}"));
    }
}

/// xorshift64*, so that every run sweeps the same bytes.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap_or_default() % limit
    }
}
