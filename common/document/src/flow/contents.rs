//! Entries of a table of contents.

use super::block::ContentsEntry;

impl ContentsEntry {
    /// What an entry of the contents says, `Title⇥12`: title, level (from 1), the page at its end, the bookmark it leads to.
    pub fn read(text: &str, level: u32, anchor: Option<String>) -> Self {
        let (title, page) = match text.rsplit_once('\t') {
            Some((title, page)) if is_page_number(page) => (title, page.trim().parse().ok()),
            _ => (text, None),
        };
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title = title.trim_end_matches(['.', ' ', '…']).to_owned();
        Self { title, level, page, anchor }
    }
}

/// Whether a line ends as entries of a contents list do: in a tab and the number of a page.
pub fn ends_in_page_number(text: &str) -> bool {
    text.trim_end().rsplit_once('\t').is_some_and(|(_, page)| is_page_number(page))
}

fn is_page_number(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text.len() <= 8
        && text.chars().all(|c| c.is_ascii_digit() || matches!(c, 'i' | 'v' | 'x' | 'l' | 'c' | 'I' | 'V' | 'X' | 'L' | 'C' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_taken_apart() {
        let entry = ContentsEntry::read("2.1 Where  it stands ....\t 14", 2, None);
        assert_eq!((entry.title.as_str(), entry.level, entry.page), ("2.1 Where it stands", 2, Some(14)));
        assert_eq!(ContentsEntry::read("Preface\tix", 1, None).page, None);
        assert!(ends_in_page_number("a\tix") && !ends_in_page_number("a\tb") && !ends_in_page_number("12"));
    }
}
