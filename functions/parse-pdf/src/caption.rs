//! Captions: which lines name a figure or a table, by the word they begin with and the number after it.

/// What a caption names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Table,
    Figure,
}

/// The words that open captions, in lower case.
const WORDS: &[(&str, Names)] = &[
    ("table", Names::Table),
    ("tab", Names::Table),
    ("tabelle", Names::Table),
    ("tabla", Names::Table),
    ("tabela", Names::Table),
    ("tabella", Names::Table),
    ("tableau", Names::Table),
    ("tabel", Names::Table),
    ("cuadro", Names::Table),
    ("таблица", Names::Table),
    ("табл", Names::Table),
    ("表", Names::Table),
    ("figure", Names::Figure),
    ("fig", Names::Figure),
    ("figura", Names::Figure),
    ("figuur", Names::Figure),
    ("abbildung", Names::Figure),
    ("abb", Names::Figure),
    ("image", Names::Figure),
    ("exhibit", Names::Figure),
    ("chart", Names::Figure),
    ("plate", Names::Figure),
    ("scheme", Names::Figure),
    ("algorithm", Names::Figure),
    ("algorithmus", Names::Figure),
    ("listing", Names::Figure),
    ("рис", Names::Figure),
    ("рисунок", Names::Figure),
    ("图", Names::Figure),
    ("圖", Names::Figure),
    ("図", Names::Figure),
    ("그림", Names::Figure),
    ("표", Names::Table),
];

/// Longest caption, in characters; anything longer is text that begins with a reference.
const LONGEST: usize = 1_200;

/// What a block of text names, when it is a caption: a caption word, its number, and then an end, a mark or a title that
/// begins like one. "Figure 3 shows that" is a sentence.
pub(crate) fn names(text: &str) -> Option<Names> {
    let text = text.trim_start();
    let cjk = WORDS
        .iter()
        .find(|(word, _)| !word.is_ascii() && text.starts_with(word) && word.chars().all(quarry_language::script::is_ideographic));
    let (length, names) = if let Some((word, names)) = cjk {
        (word.len(), *names)
    } else {
        let length = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
        let word = text.get(..length)?.to_lowercase();
        (length, WORDS.iter().find(|(known, _)| *known == word)?.1)
    };
    let capital = text.chars().next().is_some_and(|c| !c.is_lowercase());
    let rest = text.get(length..)?.trim_start_matches(['.', ' ', '\u{a0}']);
    let number = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '–'))).unwrap_or(rest.len());
    let (number, after) = rest.split_at(number);
    let counted = number.chars().count() <= 8
        && (number.starts_with(|c: char| c.is_numeric())
            || number.trim_end_matches('.').chars().all(|c| matches!(c, 'I' | 'V' | 'X' | 'L'))
            || number.starts_with(char::is_uppercase) && number.chars().any(char::is_numeric));
    let marked = number.ends_with('.') || after.trim_start().starts_with([':', '.', '|', '–', '—', '-', '：', '(', '　']);
    // Without a mark, the title after the number begins with a capital, or not with a letter at all.
    let titled = !after.trim_start().starts_with(char::is_lowercase);
    (capital && counted && !number.is_empty() && (marked || titled) && text.chars().nth(LONGEST).is_none()).then_some(names)
}

/// Whether a caption says that what it names goes on from the page before.
pub(crate) fn is_continuation(text: &str) -> bool {
    const WORDS: &[&str] = &["continued", "cont.", "cont'd", "cont’d", "fortsetzung", "suite", "continuación", "продолжение", "续", "続き"];
    let lower = text.to_lowercase();
    names(text) == Some(Names::Table) && lower.chars().count() < 160 && WORDS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_and_sentences() {
        for (text, names_what) in [
            ("Table 1: Results", Some(Names::Table)),
            ("TABLE IV", Some(Names::Table)),
            ("Fig. 3. Loss over time", Some(Names::Figure)),
            ("Figure A.2 – the pump", Some(Names::Figure)),
            ("Abb. 7 Schnitt", Some(Names::Figure)),
            ("表 2 结果", Some(Names::Table)),
            ("图3：结构", Some(Names::Figure)),
            ("Figure 3 shows that the loss falls", None),
            ("Tables 1 and 2 agree", None),
            ("Table of contents", None),
            ("table 1 holds", None),
            ("Figures", None),
            ("Plate tectonics", None),
        ] {
            assert_eq!(names(text), names_what, "{text}");
        }
    }
}
