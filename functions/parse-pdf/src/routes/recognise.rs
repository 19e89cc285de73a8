//! Pages → pictures → words → lines as the layout knows them.

use std::time::{Duration, Instant};

use quarry_model::{DocumentCode, Warning};
use quarry_pdf::{Line, Pdf, Rect, Word};
use quarry_ports::{Ocr, OcrError, OcrPicture, OcrWord, Recognised};

use super::scanned::{Scans, known_language};
use crate::page::{PageText, inside};

/// Resolution at which pages are read: letters of 10 points are 28 pixels high, as recognition likes them.
const OCR_DPI: f32 = 200.0;
/// Longest wait for one page.
const PAGE_PATIENCE: Duration = Duration::from_secs(30);
/// Share of a line's height that is its font size, for Latin lines with ascenders and descenders.
const SIZE_SHARE: f32 = 0.95;
/// Lines whose height is within this share of the page's usual one have the usual size: heights follow the letters in a
/// line, sizes do not.
const SAME_SIZE: f32 = 0.25;
/// A line of so few words may hold low letters alone; then half the usual height is the usual size.
const FEW_WORDS: usize = 2;
const LOW_LETTERS: f32 = 0.45;

/// A page to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    /// Among the pages.
    pub(super) index: usize,
    /// From 1.
    pub(super) page: u32,
}

/// A page as it is given to recognition.
struct Drawn {
    job: Job,
    png: Vec<u8>,
    width: u32,
    height: u32,
    dpi: f32,
}

/// Reads pages, several at once, until the time is up. Answers those that have no text afterwards.
pub(super) fn read(
    pages: &mut [PageText],
    jobs: Vec<Job>,
    pdf: &Pdf,
    ocr: &dyn Ocr,
    mut language: Option<String>,
    deadline: Option<Instant>,
    scans: &mut Scans,
) -> Vec<Job> {
    let at_once = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let mut unread = Vec::new();
    let mut late = 0usize;
    let mut gone: Option<OcrError> = None;
    for batch in jobs.chunks(at_once.max(1)) {
        let left = deadline.map_or(PAGE_PATIENCE, |deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_zero() || gone.is_some() {
            late = late.saturating_add(if gone.is_some() { 0 } else { batch.len() });
            unread.extend_from_slice(batch);
            continue;
        }
        let drawn: Vec<Drawn> = batch.iter().filter_map(|job| draw(pdf, *job)).collect();
        unread.extend(batch.iter().filter(|job| !drawn.iter().any(|d| d.job.index == job.index)));
        let spoken = language.as_deref();
        let answers: Vec<Result<Recognised, OcrError>> = std::thread::scope(|scope| {
            let asked: Vec<_> = drawn.iter().map(|page| scope.spawn(move || ask(page, ocr, spoken, left.min(PAGE_PATIENCE)))).collect();
            asked.into_iter().map(|one| one.join().unwrap_or_else(|_| Err(OcrError::Failed("it panicked".to_owned())))).collect()
        });
        for (page, answer) in drawn.iter().zip(answers) {
            let lines = match answer {
                Ok(recognised) => lines_of(&recognised, page),
                Err(error) => {
                    let message = format!("{}: {error}", ocr.name());
                    scans.warnings.push(Warning { code: DocumentCode::NoText, message, page: Some(page.job.page) }.into());
                    if matches!(error, OcrError::Unavailable(_)) {
                        gone = Some(error);
                    }
                    Vec::new()
                }
            };
            if lines.is_empty() {
                unread.push(page.job);
                continue;
            }
            if language.is_none() {
                language = known_language(&lines.iter().map(|line| line.text() + "\n").collect::<String>());
            }
            if let Some(text) = pages.get_mut(page.job.index) {
                adopt(text, lines);
            }
        }
    }
    if late > 0 {
        scans.partial = true;
        let message = format!("{late} scanned pages were not recognised for want of time; split the document to have them read");
        scans.warnings.push(Warning::new(DocumentCode::TimedOut, message).into());
    }
    unread.sort_by_key(|job| job.index);
    unread
}

fn draw(pdf: &Pdf, job: Job) -> Option<Drawn> {
    let image = pdf.render(job.page, OCR_DPI).ok()?;
    // A large page is drawn at a lower resolution than asked for.
    let dpi = image.width as f32 / pdf.page_size(job.page)?.0.max(1.0) * 72.0;
    Some(Drawn { job, png: image.png, width: image.width, height: image.height, dpi })
}

fn ask(page: &Drawn, ocr: &dyn Ocr, language: Option<&str>, patience: Duration) -> Result<Recognised, OcrError> {
    let Drawn { png, width, height, dpi, .. } = page;
    ocr.recognise(&OcrPicture { png, width: *width, height: *height, dpi: *dpi, language, patience })
}

/// What was recognised joins what the page says itself; where both stand in one place the page is right.
fn adopt(page: &mut PageText, mut lines: Vec<Line>) {
    let unmapped = page.glyphs > 0 && page.unmapped as usize > page.glyphs / 2;
    if unmapped {
        page.lines.clear();
        page.unmapped = 0;
    }
    lines.retain(|line| !page.lines.iter().any(|own| inside(&line.rect, &own.rect) || inside(&own.rect, &line.rect)));
    page.lines.append(&mut lines);
}

fn lines_of(recognised: &Recognised, page: &Drawn) -> Vec<Line> {
    let scale = 72.0 / page.dpi.max(1.0);
    match recognised {
        Recognised::Lines(lines) => placed(lines, scale),
        Recognised::Text(text) => unplaced(text, page.width as f32 * scale, page.height as f32 * scale),
    }
}

fn placed(lines: &[Vec<OcrWord>], scale: f32) -> Vec<Line> {
    let rect = |word: &OcrWord| Rect::from_corners(word.x0 * scale, word.y0 * scale, word.x1 * scale, word.y1 * scale);
    let extents: Vec<Rect> = lines.iter().filter_map(|words| words.iter().map(rect).reduce(|a, b| a.union(&b))).collect();
    let mut heights: Vec<f32> = extents.iter().map(Rect::height).collect();
    heights.sort_by(f32::total_cmp);
    let usual = heights.get(heights.len() / 2).copied().unwrap_or(10.0);
    let filled = lines.iter().filter(|words| !words.is_empty());
    let made = filled.zip(extents).enumerate().map(|(index, (words, extent))| {
        let ratio = extent.height() / usual.max(0.1);
        let low = words.len() <= FEW_WORDS && (LOW_LETTERS..1.0).contains(&ratio);
        let size = SIZE_SHARE * if low || (ratio - 1.0).abs() <= SAME_SIZE { usual } else { extent.height() };
        let words = words.iter().map(|word| (word.text.clone(), rect(word))).collect();
        line(words, extent, size, index)
    });
    made.collect()
}

/// Lines without places are spread evenly over the page: in order, and no more precise than the page itself.
fn unplaced(text: &str, width: f32, height: f32) -> Vec<Line> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let step = height / lines.len().max(1) as f32;
    let spread = lines.iter().enumerate().filter(|(_, text)| !text.is_empty()).map(|(index, text)| {
        let rect = Rect { x0: 0.0, y0: step * index as f32, x1: width, y1: step * (index as f32 + 1.0) };
        line(text.split_whitespace().map(|word| (word.to_owned(), rect)).collect(), rect, step.min(12.0), index)
    });
    spread.collect()
}

fn line(words: Vec<(String, Rect)>, rect: Rect, size: f32, drawn: usize) -> Line {
    let word = |(text, rect): (String, Rect)| Word { text, rect, size, font: usize::MAX, rise: 0.0, spaced: true };
    Line {
        words: words.into_iter().map(word).collect(),
        rect,
        baseline: rect.y1 - 0.2 * rect.height(),
        size,
        font: usize::MAX,
        bold: false,
        italic: false,
        monospace: false,
        color: [0; 3],
        angle: 0,
        hidden: false,
        drawn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, x0: f32, y0: f32, y1: f32) -> OcrWord {
        OcrWord { text: text.into(), x0, y0, x1: x0 + 40.0, y1, confidence: 0.9 }
    }

    #[test]
    fn words_stand_in_points_where_they_stood_in_pixels() {
        let page = Drawn { job: Job { index: 0, page: 1 }, png: Vec::new(), width: 2000, height: 1000, dpi: 144.0 };
        let recognised = Recognised::Lines(vec![
            vec![word("Large", 100.0, 100.0, 160.0)],
            vec![word("one", 100.0, 200.0, 222.0), word("two", 150.0, 200.0, 220.0)],
            vec![word("run", 100.0, 230.0, 246.0)],
        ]);
        let lines = lines_of(&recognised, &page);
        assert_eq!(lines.iter().map(Line::text).collect::<Vec<_>>(), ["Large", "one two", "run"]);
        assert_eq!(lines[1].rect, Rect { x0: 50.0, y0: 100.0, x1: 95.0, y1: 111.0 });
        assert!(lines[0].size > 2.0 * lines[1].size);
        assert_eq!(lines[1].size, lines[2].size, "low letters do not make a smaller size");
    }

    #[test]
    fn text_without_places_stays_on_its_page_and_in_order() {
        let page = Drawn { job: Job { index: 0, page: 1 }, png: Vec::new(), width: 400, height: 800, dpi: 144.0 };
        let lines = lines_of(&Recognised::Text("The gate\n\nopens at six.".into()), &page);
        assert_eq!(lines.len(), 2);
        assert!(lines[0].baseline < lines[1].baseline && lines[1].rect.y1 <= 400.0 && lines[1].rect.x1 <= 200.0);
        assert!(lines_of(&Recognised::Text(" \n".into()), &page).is_empty());
    }
}
