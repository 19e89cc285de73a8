//! Headings in capitals: only where the text as a whole shows that they are headings.

/// Longer lines in capitals are warnings and disclaimers.
const TITLE_CHARS: usize = 80;

/// Whether a line is written in capitals, as a title could be.
pub(super) fn is_capital_line(line: &str) -> bool {
    let line = line.trim();
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let capitals = line.chars().filter(|c| c.is_uppercase()).count();
    letters >= 4
        && capitals == letters
        && line.chars().nth(TITLE_CHARS).is_none()
        && !line.ends_with(['.', ',', ';', '!', '?'])
        && !line.contains(['|', '=', '{', '}', '<', '>', '\t'])
        && letters.saturating_mul(2) > line.chars().filter(|c| !c.is_whitespace()).count()
}

/// Whether most letters of a text are small: in a text written in capitals they say nothing.
pub(super) fn is_mostly_small(text: &str) -> bool {
    let (mut capitals, mut small) = (0_usize, 0_usize);
    for c in text.chars().take(200_000) {
        capitals = capitals.saturating_add(usize::from(c.is_uppercase()));
        small = small.saturating_add(usize::from(c.is_lowercase()));
    }
    small > capitals.saturating_mul(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capital_lines() {
        for line in ["INTRODUCTION", "GENERAL TERMS AND CONDITIONS", "ВВЕДЕНИЕ", "ÜBERSICHT 2024"] {
            assert!(is_capital_line(line), "{line}");
        }
        for line in ["USA", "Introduction", "DO NOT ENTER!", "A = B + C", "X1234567890", "目录", "ID | NAME", ""] {
            assert!(!is_capital_line(line), "{line}");
        }
    }
}
