//! Scans, slides and drawings through the parser, with recognition that is played and with the real program.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use quarry_document::{Parser, Source};
use quarry_model::message::Profile;
use quarry_model::{DocumentCode, Evidence, Format, Limits, Parsed, Row, RowKind};
use quarry_parse_pdf::PdfParser;
use quarry_pdf::testing::{Builder, Leaf};
use quarry_ports::{Ocr, OcrError, OcrPicture, OcrWord, Recognised};

fn parse_with(parser: &PdfParser, route: &str, bytes: &[u8], limits: &Limits) -> Parsed {
    let profile = Profile {
        format: Format::Pdf,
        claimed_format: None,
        encoding: None,
        category: String::new(),
        routing_category: route.into(),
        pdf: None,
    };
    parser.parse(&Source { bytes, file_name: "a.pdf", profile: &profile }, limits).unwrap()
}

fn parse(route: &str, bytes: &[u8]) -> Parsed {
    parse_with(&PdfParser::default(), route, bytes, &Limits::default())
}

fn texts(parsed: &Parsed) -> Vec<&str> {
    parsed.rows.iter().map(|row| row.content.as_str()).collect()
}

fn codes(parsed: &Parsed) -> Vec<(DocumentCode, Option<u32>)> {
    parsed.warnings.iter().map(|warning| (warning.code, warning.page)).collect()
}

/// Says the same of every picture and keeps what it was asked.
#[derive(Default)]
struct Played {
    asked: AtomicU32,
    fails: Option<OcrError>,
}

impl Ocr for Played {
    fn name(&self) -> &'static str {
        "played 1"
    }

    fn recognise(&self, picture: &OcrPicture<'_>) -> Result<Recognised, OcrError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        assert!(picture.png.starts_with(b"\x89PNG") && (picture.dpi - 200.0).abs() < 2.0);
        if let Some(error) = &self.fails {
            return Err(error.clone());
        }
        // A line that begins one inch from the left and two inches from the top.
        let word = |text: &str, x0: f32| OcrWord { text: text.into(), x0, y0: 400.0, x1: x0 + 100.0, y1: 428.0, confidence: 0.9 };
        Ok(Recognised::Lines(vec![vec![word("The", 200.0), word("gate", 310.0), word("opens.", 420.0)]]))
    }
}

fn scans(pages: usize) -> Vec<u8> {
    (0..pages).fold(Builder::new(), |builder, _| builder.page(Leaf::sized(240.0, 200.0).blank_scan())).save()
}

#[test]
fn a_scan_that_nobody_reads_is_pictures_and_a_warning() {
    let parsed = parse("scanned", &scans(3));
    assert_eq!(
        parsed.rows.iter().map(|row| (row.kind, row.pages.clone())).collect::<Vec<_>>(),
        [1, 2, 3].map(|page| (RowKind::Image, vec![page]))
    );
    assert!(parsed.rows.iter().all(|row| row.boxes.len() == 1));
    assert_eq!(codes(&parsed), [1, 2, 3].map(|page| (DocumentCode::NoText, Some(page))));
    assert!(!parsed.partial);
}

#[test]
fn a_scan_in_strips_is_drawn_as_one_page() {
    let strips = Leaf::a4().scan(2, 2, vec![200; 4]).draw("q 595 0 0 100 0 0 cm /I0 Do Q q 595 0 0 100 0 300 cm /I0 Do Q");
    let text = Leaf::a4().lines(
        72.0,
        100.0,
        11.0,
        &["A page of text stands before the scan, and it is long enough.", "A second line of it follows here."],
    );
    let parsed = parse("generic", &Builder::new().page(text.clone()).page(strips).page(text).save());
    let order: Vec<(RowKind, u32)> = parsed.rows.iter().map(|row| (row.kind, row.pages[0])).collect();
    assert_eq!(order.iter().filter(|(kind, _)| *kind == RowKind::Image).collect::<Vec<_>>(), [&(RowKind::Image, 2)]);
    assert!(order.is_sorted_by_key(|(_, page)| *page), "the picture stands between the pages around it: {order:?}");
    let image = parsed.rows.iter().find(|row| row.kind == RowKind::Image).unwrap();
    assert_eq!((image.boxes[0].x1, image.boxes[0].y1), (595.0, 842.0));
}

#[test]
fn what_is_recognised_is_text_where_it_stands() {
    let ocr = Arc::new(Played::default());
    let parser = PdfParser::with_ocr(Some(ocr.clone()));
    let parsed = parse_with(&parser, "scanned", &scans(3), &Limits::default());
    assert_eq!(ocr.asked.load(Ordering::SeqCst), 3);
    let read: Vec<&Row> = parsed.rows.iter().filter(|row| row.content.contains("The gate opens.")).collect();
    assert_eq!(read.len(), 3, "{:?}", texts(&parsed));
    let place = read[0].boxes[0];
    assert!((place.x0 - 72.0).abs() < 1.0 && (place.y0 - 144.0).abs() < 1.0 && (place.x1 - 187.2).abs() < 1.0, "{place:?}");
    assert!(codes(&parsed).is_empty(), "{:?}", parsed.warnings);
    assert_ne!(parser.version(), PdfParser::default().version(), "recognised text makes another revision");
}

#[test]
fn recognition_that_fails_or_is_gone_fails_no_document() {
    for error in [OcrError::Failed("x".into()), OcrError::Unavailable("x".into()), OcrError::TimedOut(std::time::Duration::from_secs(1))] {
        let gone = matches!(error, OcrError::Unavailable(_));
        let ocr = Arc::new(Played { fails: Some(error), ..Played::default() });
        let parsed = parse_with(&PdfParser::with_ocr(Some(ocr.clone())), "scanned", &scans(5), &Limits::default());
        assert_eq!(parsed.rows.iter().filter(|row| row.kind == RowKind::Image).count(), 5);
        assert!(codes(&parsed).iter().all(|(code, _)| *code == DocumentCode::NoText));
        assert!(!gone || ocr.asked.load(Ordering::SeqCst) < 5, "who is gone is not asked again");
    }
}

#[test]
fn without_time_left_pages_stay_pictures_and_the_document_is_partial() {
    let ocr = Arc::new(Played::default());
    let limits = Limits { parse_seconds: 0, ..Limits::default() };
    let parsed = parse_with(&PdfParser::with_ocr(Some(ocr.clone())), "scanned", &scans(3), &limits);
    assert_eq!(ocr.asked.load(Ordering::SeqCst), 0);
    assert!(parsed.partial && codes(&parsed).contains(&(DocumentCode::TimedOut, None)));
    assert_eq!(parsed.rows.len(), 3);
}

#[test]
fn a_hidden_layer_is_text_when_it_is_words() {
    let words = "The reserve well delivers fourteen cubic metres an hour.";
    let layered = Leaf::a4().blank_scan().hidden(72.0, 100.0, 11.0, words);
    let noise = Leaf::a4().blank_scan().hidden(72.0, 100.0, 11.0, "~~|_ .:;' \\/ ^^ -- ||| _.,' ;:");
    let ocr = Arc::new(Played::default());
    let parsed = parse_with(
        &PdfParser::with_ocr(Some(ocr.clone())),
        "scanned",
        &Builder::new().page(layered).page(noise).save(),
        &Limits::default(),
    );
    assert_eq!(ocr.asked.load(Ordering::SeqCst), 1, "only the page whose layer is noise");
    assert!(texts(&parsed).iter().any(|text| text.contains(words)));
    assert!(!texts(&parsed).iter().any(|text| text.contains("|||")), "{:?}", texts(&parsed));
}

#[test]
fn slides_are_sections_under_their_titles() {
    let slide = |title: &str, body: &[&str]| Leaf::sized(960.0, 540.0).text(60.0, 80.0, 36.0, title).lines(60.0, 180.0, 20.0, body);
    let pdf = Builder::new()
        .page(slide("Where we stand", &["Three pumps run", "and a fourth is ordered"]))
        .page(slide("What comes next", &["The valve is replaced"]))
        .page(Leaf::sized(960.0, 540.0).text(60.0, 300.0, 20.0, "Questions?"))
        .save();
    let parsed = parse("slides", &pdf);
    let titles: Vec<(&str, u32, Option<u32>)> = parsed.headings.iter().map(|h| (h.title.as_str(), h.level, h.page)).collect();
    assert_eq!(titles[..2], [("Where we stand", 1, Some(1)), ("What comes next", 1, Some(2))]);
    assert_eq!((titles.len(), titles[2].2), (3, Some(3)));
    assert!(parsed.headings.iter().all(|heading| heading.evidence == Evidence::Slide));
    for row in &parsed.rows {
        assert_eq!(row.pages, [parsed.headings[row.section.unwrap()].page.unwrap()], "{row:?}");
    }
}

#[test]
fn sheets_are_sections_with_one_picture_and_their_text() {
    let sheet = |title: &str| {
        Leaf::sized(1684.0, 1191.0).draw("100 100 m 300 500 700 20 900 900 c S").text(1300.0, 1100.0, 14.0, title).text(
            200.0,
            300.0,
            8.0,
            "Valve V-12",
        )
    };
    let parsed =
        parse("atlas", &Builder::new().page(sheet("Ground floor plan")).page(sheet("Roof plan")).page(Leaf::sized(1684.0, 1191.0)).save());
    let titles: Vec<&str> = parsed.headings.iter().map(|heading| heading.title.as_str()).collect();
    assert_eq!(titles, ["Ground floor plan", "Roof plan", "Page 3"]);
    assert_eq!(parsed.rows.len(), 3);
    for (index, row) in parsed.rows.iter().enumerate() {
        assert_eq!((row.kind, row.section, row.pages.as_slice()), (RowKind::Image, Some(index), [index as u32 + 1].as_slice()));
        assert!(index == 2 || row.content.contains("Valve V-12"));
        let bytes = &parsed.assets[row.asset.unwrap()].bytes;
        assert!(bytes.starts_with(b"\x89PNG"));
    }
}

/// The whole way with the program itself, where it is installed.
#[test]
fn the_real_program_reads_a_drawn_page() {
    let Some(ocr) = quarry_ocr::on_this_machine() else {
        eprintln!("skipped: tesseract is not on this machine");
        return;
    };
    // A page of text is drawn, and the picture of it scanned into another document.
    let page = Leaf::a4().lines(
        72.0,
        120.0,
        14.0,
        &["The reserve well delivers fourteen cubic metres an hour,", "and the pump must never run dry in summer."],
    );
    let drawn = quarry_pdf::Pdf::open(Builder::new().page(page).save(), &Limits::default()).unwrap().render(1, 200.0).unwrap();
    let grey = image::load_from_memory(&drawn.png).unwrap().to_luma8();
    let scan = Builder::new().page(Leaf::a4().scan(drawn.width, drawn.height, grey.into_raw())).save();
    let parsed = parse_with(&PdfParser::with_ocr(Some(ocr)), "scanned", &scan, &Limits::default());
    let text = texts(&parsed).join(" ");
    for word in ["reserve", "fourteen", "cubic", "metres", "pump", "summer"] {
        assert!(text.contains(word), "{word} in {text:?} {:?}", parsed.warnings);
    }
    let row = parsed.rows.iter().find(|row| row.content.contains("reserve")).unwrap();
    assert!((row.boxes[0].x0 - 72.0).abs() < 4.0 && (row.boxes[0].y0 - 108.0).abs() < 8.0, "{:?}", row.boxes);
}
