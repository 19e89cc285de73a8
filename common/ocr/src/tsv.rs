//! The table that tesseract writes: one row a word, with its place.

use quarry_ports::OcrWord;

/// Words below this confidence are noise: specks, lines, pictures read as letters.
const LEAST_CONFIDENCE: f32 = 0.3;

/// Lines of words, in the order in which they stand in the table. Columns: level, page, block, paragraph, line, word, left,
/// top, width, height, confidence (0 to 100, -1 for what is no word), text.
pub(crate) fn read(table: &str) -> Vec<Vec<OcrWord>> {
    let mut lines: Vec<Vec<OcrWord>> = Vec::new();
    let mut open: Option<[&str; 4]> = None;
    for row in table.lines() {
        let columns: Vec<&str> = row.splitn(12, '\t').collect();
        let [level, page, block, paragraph, line, _, left, top, width, height, confidence, text] = *columns.as_slice() else { continue };
        if level != "5" || text.trim().is_empty() {
            continue;
        }
        let number = |text: &str| text.parse::<f32>().ok().filter(|n| n.is_finite());
        let (Some(x), Some(y), Some(w), Some(h), Some(sure)) =
            (number(left), number(top), number(width), number(height), number(confidence))
        else {
            continue;
        };
        let confidence = sure / 100.0;
        if confidence < LEAST_CONFIDENCE {
            continue;
        }
        let word = OcrWord { text: text.trim().to_owned(), x0: x, y0: y, x1: x + w, y1: y + h, confidence };
        let here = Some([page, block, paragraph, line]);
        match lines.last_mut() {
            Some(last) if here == open => last.push(word),
            _ => lines.push(vec![word]),
        }
        open = here;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_grouped_by_line() {
        let table = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
            1\t1\t0\t0\t0\t0\t0\t0\t100\t100\t-1\t\n\
            5\t1\t1\t1\t1\t1\t10\t20\t30\t12\t96.5\tThe\n\
            5\t1\t1\t1\t1\t2\t45\t20\t30\t12\t91\tgate\n\
            5\t1\t1\t1\t2\t1\t10\t40\t30\t12\t90\topens.\n\
            5\t1\t1\t1\t2\t2\t10\t40\t30\t12\t12\t|||\n\
            5\t1\t2\t1\t1\t1\tx\t40\t30\t12\t90\tbroken\n5\t1\n";
        let lines = read(table);
        let texts: Vec<Vec<&str>> = lines.iter().map(|line| line.iter().map(|word| word.text.as_str()).collect()).collect();
        assert_eq!(texts, [vec!["The", "gate"], vec!["opens."]]);
        assert_eq!((lines[0][1].x0, lines[0][1].y0, lines[0][1].x1, lines[0][1].y1), (45.0, 20.0, 75.0, 32.0));
        assert!((lines[0][0].confidence - 0.965).abs() < 1e-6);
    }
}
