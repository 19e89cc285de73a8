//! Prints the lines of a PDF: page, place, size, font, text. `cargo run -p quarry-pdf --example lines FILE [PAGE]`
#![allow(clippy::print_stdout, clippy::expect_used, missing_docs)]

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a file");
    let only: Option<usize> = arguments.next().and_then(|n| n.parse().ok());
    let pdf = quarry_pdf::Pdf::open(std::fs::read(path).expect("readable"), &quarry_model::Limits::default()).expect("a PDF");
    println!("{} pages, title {:?}", pdf.page_count(), pdf.title());
    for entry in pdf.outline() {
        println!("outline {:indent$}{} → {:?} {:?}", "", entry.title, entry.page, entry.y, indent = entry.level as usize * 2);
    }
    pdf.read(|number, page, fonts| {
        if only.is_none_or(|n| n == number) {
            println!(
                "-- page {number}: {}×{}, {} glyphs, {} rules, {} fills, {} pictures, {} drawings, {} unmapped",
                page.width,
                page.height,
                page.glyphs.len(),
                page.rules.len(),
                page.fills.len(),
                page.pictures.len(),
                page.drawings,
                page.unmapped
            );
            for line in quarry_pdf::lines_of(&page, fonts) {
                println!(
                    "{:6.1} {:6.1} {:6.1} {:6.1} s{:4.1} {}{}{} {:>24} {}",
                    line.rect.x0,
                    line.rect.y0,
                    line.rect.x1,
                    line.rect.y1,
                    line.size,
                    if line.bold { "B" } else { "-" },
                    if line.italic { "I" } else { "-" },
                    if line.monospace { "M" } else { "-" },
                    fonts.get(line.font).map_or("", |f| f.name.as_str()),
                    line.text()
                );
            }
        }
        true
    });
}
