//! Drawings, plans, maps: every page is a section with one picture of the page, and its text is the picture's.

use std::time::{Duration, Instant};

use quarry_model::{Asset, DocumentCode, Evidence, Heading, Limits, Parsed, Row, Warning};
use quarry_pdf::{Line, OutlineEntry, PAGE_DPI, Pdf, reading_order};

use super::scanned::page_box;
use crate::page::PageText;

/// Longest side of a stored picture, in pixels: what pictures are stored with.
const STORED_SIDE: f32 = 2_400.0;
/// Share of the time for a document that drawing may take.
const TIME_SHARE: f64 = 0.5;
/// Longest title, in characters.
const TITLE_CHARACTERS: usize = 120;
/// What title blocks call the title, in the languages drawings come in.
const TITLE_LABELS: &[&str] =
    &["title", "drawing title", "sheet title", "titel", "benennung", "titre", "título", "titolo", "наименование", "图名"];

/// One section and one picture for every page, in page order.
pub(crate) fn parse(pages: Vec<PageText>, outline: &[OutlineEntry], pdf: &Pdf, limits: &Limits) -> Parsed {
    let mut parsed = Parsed::default();
    let deadline = Instant::now().checked_add(Duration::from_secs(limits.parse_seconds).mul_f64(TIME_SHARE));
    for page in pages {
        let number = page.number;
        let lines = reading_order(page.lines);
        let named = outline.iter().find(|entry| entry.page == Some(number as usize));
        let (title, evidence) = match named {
            Some(entry) => (entry.title.clone(), Evidence::Outline),
            None => (title_of(&lines).unwrap_or_else(|| format!("Page {number}")), Evidence::Geometry),
        };
        let section = Some(parsed.headings.len());
        let text = lines.iter().map(Line::text).collect::<Vec<_>>().join("\n");
        let content = if text.contains(&title) { text } else { format!("{title}\n{text}").trim_end().to_owned() };
        parsed.headings.push(Heading { title, level: 1, page: Some(number), evidence, number: None });
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut row = match picture(pdf, number, late) {
            Ok(png) => {
                let asset = parsed.assets.len();
                parsed.assets.push(Asset { bytes: png, original_name: format!("page {number}") });
                Row::image(section, asset, content)
            }
            Err(warning) => {
                parsed.partial |= warning.code == DocumentCode::TimedOut;
                parsed.warnings.push(warning);
                Row::text(section, content)
            }
        };
        row.pages = vec![number];
        row.boxes = page_box(pdf, number).into_iter().collect();
        parsed.rows.push(row);
    }
    parsed
}

fn picture(pdf: &Pdf, page: u32, late: bool) -> Result<Vec<u8>, Warning> {
    let warn = |code, message: String| Warning { code, message, page: Some(page) };
    if late {
        return Err(warn(DocumentCode::TimedOut, "the page was not drawn for want of time; its text is there".to_owned()));
    }
    let longest = pdf.page_size(page).map_or(1.0, |(width, height)| width.max(height).max(1.0));
    let dpi = PAGE_DPI.min(STORED_SIDE / longest * 72.0);
    pdf.render(page, dpi).map(|image| image.png).map_err(|error| warn(DocumentCode::Corrupt, error.to_string()))
}

/// What a title block calls the title, else the largest text of the page.
fn title_of(lines: &[Line]) -> Option<String> {
    let usable = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count() >= 3 && text.chars().count() <= TITLE_CHARACTERS;
    let labelled = lines.iter().enumerate().find_map(|(index, line)| {
        let text = line.text();
        let (label, rest) = text.split_once(':').map_or((text.as_str(), ""), |(label, rest)| (label, rest.trim()));
        if !TITLE_LABELS.contains(&label.trim().to_lowercase().as_str()) {
            return None;
        }
        let below = || lines.get(index.saturating_add(1)).filter(|next| next.rect.horizontal_overlap(&line.rect) > 0.0).map(Line::text);
        Some(rest.to_owned()).filter(|rest| usable(rest)).or_else(|| below().filter(|text| usable(text)))
    });
    labelled.or_else(|| {
        let mut best: Option<&Line> = None;
        for line in lines.iter().filter(|line| usable(&line.text())) {
            if best.is_none_or(|best| line.size > best.size + 0.3) {
                best = Some(line);
            }
        }
        best.map(Line::text)
    })
}
