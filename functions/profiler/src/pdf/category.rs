//! What kind of document it is, in a few words: from its title and the words of its first pages, else from its shape. It
//! is for people and for search; nothing is decided by it.

/// A category and the words that speak for it, in lower case. Words of a title count [`TITLE_WEIGHT`] times.
const KINDS: &[(&str, &[&str])] = &[
    ("invoice", &["invoice", "rechnung", "rechnungsnummer", "facture", "factura", "fattura", "amount due", "vat", "发票"]),
    ("contract", &["agreement", "contract", "vertrag", "contrat", "contrato", "parties", "hereinafter", "合同", "договор"]),
    (
        "user manual",
        &["manual", "user guide", "handbook", "handbuch", "anleitung", "benutzerhandbuch", "manuel", "guía", "手册", "reference"],
    ),
    ("research article", &["abstract", "references", "introduction", "keywords", "doi", "arxiv", "et al", "摘要", "zusammenfassung"]),
    ("financial report", &["annual report", "balance sheet", "fiscal", "shareholders", "geschäftsbericht", "rapport annuel", "年度报告"]),
    ("legal text", &["act", "regulation", "statute", "gesetz", "verordnung", "§", "article", "loi", "ley", "закон", "条例"]),
    ("technical standard", &["standard", "specification", "iso", "din", "iec", "norm", "shall", "规范", "标准"]),
    ("form", &["please fill", "signature", "date of birth", "formular", "unterschrift", "formulaire", "formulario", "申请表"]),
    ("curriculum vitae", &["curriculum vitae", "resume", "lebenslauf", "work experience", "education", "skills", "简历"]),
    ("thesis", &["thesis", "dissertation", "masterarbeit", "bachelorarbeit", "thèse", "tesis", "学位论文"]),
    ("letter", &["dear", "sincerely", "yours faithfully", "sehr geehrte", "mit freundlichen grüßen", "madame, monsieur"]),
    ("minutes", &["minutes", "agenda", "attendees", "protokoll", "tagesordnung", "ordre du jour", "会议纪要"]),
];
const TITLE_WEIGHT: usize = 4;
/// Different words that must speak for a category; one alone is chance.
const LEAST_WORDS: usize = 2;

/// At most five words.
pub(crate) fn category(title: Option<&str>, first_pages: &str, route: &str) -> &'static str {
    let (title, text) = (title.unwrap_or_default().to_lowercase(), first_pages.to_lowercase());
    let mut best: Option<(usize, &'static str)> = None;
    for (kind, words) in KINDS {
        let said = |place: &str| words.iter().filter(|word| holds(place, word)).count();
        let (in_title, in_text) = (said(&title), said(&text));
        let score = in_title.saturating_mul(TITLE_WEIGHT).saturating_add(in_text);
        if (in_title > 0 || in_text >= LEAST_WORDS) && best.is_none_or(|(most, _)| score > most) {
            best = Some((score, kind));
        }
    }
    match (route, best) {
        ("slides", _) => "presentation slides",
        ("atlas", _) => "set of drawings",
        (_, Some((_, kind))) => kind,
        ("scanned", None) => "scanned document",
        _ => "PDF document",
    }
}

/// Whether a word stands in a text by itself; words of scripts without spaces stand anywhere.
fn holds(text: &str, word: &str) -> bool {
    if !word.chars().all(|c| c.is_alphabetic() && !matches!(c, '\u{2e80}'..='\u{9fff}') || c == ' ') {
        return text.contains(word);
    }
    text.match_indices(word).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at.saturating_add(found.len())..).and_then(|after| after.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_shape_name_the_kind() {
        assert_eq!(category(Some("Pump 300 User Guide"), "", "generic"), "user manual");
        assert_eq!(category(None, "Rechnung Nr. 12\nRechnungsnummer 12\nBetrag", "generic"), "invoice");
        assert_eq!(category(None, "Abstract. We show …\n1 Introduction\nReferences", "generic"), "research article");
        assert_eq!(category(None, "2024年 合同 договор", "generic"), "contract");
        assert_eq!(category(None, "The cat sat on the mat; the actor acted.", "generic"), "PDF document");
        assert_eq!(category(None, "", "scanned"), "scanned document");
        assert_eq!(category(Some("User guide"), "", "slides"), "presentation slides");
        assert!(KINDS.iter().all(|(kind, _)| kind.split(' ').count() <= 5));
    }
}
