//! The words that tell what kind of question a query is: one table, one language per entry.

/// The cues of a language.
pub(super) struct Cues {
    /// ISO 639-1.
    pub(super) lang: &'static str,
    /// Words that compare, choose between or join the things asked about. Single words, lower case.
    pub(super) comparing: &'static [&'static str],
    /// What opens a comparison of two things that have no capital, and what stands between them:
    /// `difference between … and …`.
    pub(super) pairs: &'static [(&'static str, &'static [&'static str])],
    /// Where a second question begins inside a sentence, and how it begins then.
    pub(super) next: &'static [(&'static str, &'static str)],
}

pub(super) const CUES: &[Cues] = &[
    Cues {
        lang: "en",
        comparing: &[
            "both",
            "or",
            "versus",
            "vs",
            "compare",
            "compared",
            "comparison",
            "difference",
            "differences",
            "between",
            "than",
            "same",
            "common",
            "first",
            "earlier",
            "later",
            "older",
            "younger",
            "larger",
            "bigger",
            "smaller",
            "longer",
            "shorter",
            "higher",
            "lower",
            "more",
            "respectively",
            "and",
            "either",
            "each",
        ],
        pairs: &[
            ("between ", &[" and "]),
            ("compare ", &[" with ", " to ", " and ", " versus ", " vs "]),
            ("comparison of ", &[" with ", " to ", " and "]),
        ],
        next: &[
            (" and who ", "who "),
            (" and what ", "what "),
            (" and when ", "when "),
            (" and where ", "where "),
            (" and which ", "which "),
            (" and how ", "how "),
            (" and why ", "why "),
        ],
    },
    Cues {
        lang: "es",
        comparing: &[
            "ambos",
            "ambas",
            "o",
            "u",
            "versus",
            "vs",
            "compara",
            "compare",
            "comparar",
            "comparado",
            "comparación",
            "diferencia",
            "diferencias",
            "entre",
            "mismo",
            "misma",
            "común",
            "primero",
            "antes",
            "después",
            "mayor",
            "menor",
            "más",
            "menos",
            "y",
            "e",
            "respectivamente",
            "cada",
        ],
        pairs: &[
            ("entre ", &[" y ", " e "]),
            ("compara ", &[" con ", " y ", " e "]),
            ("comparar ", &[" con ", " y ", " e "]),
            ("comparación de ", &[" con ", " y ", " e "]),
        ],
        next: &[
            (" y quién ", "quién "),
            (" y qué ", "qué "),
            (" y cuándo ", "cuándo "),
            (" y dónde ", "dónde "),
            (" y cuál ", "cuál "),
            (" y cómo ", "cómo "),
            (" y cuánto ", "cuánto "),
            (" y por qué ", "por qué "),
        ],
    },
    Cues { lang: "zh", comparing: &[], pairs: &[], next: &[("，以及", ""), ("，并且", ""), ("，还有", ""), ("，另外", "")] },
];

/// How two things are joined in Chinese, longest first.
pub(super) const JOINS_ZH: &[&str] = &["或者", "还是", "以及", "和", "与", "跟", "及", "或", "、"];
/// Words that compare in Chinese.
pub(super) const COMPARES_ZH: &[&str] =
    &["比较", "区别", "不同", "差异", "相比", "都", "共同", "哪个", "哪一个", "谁", "分别", "更", "同一", "相同", "各"];
/// What ends the second thing: where that which is asked about both begins.
pub(super) const ASKS_ZH: &[&str] = &["的", "相比", "都", "哪", "谁", "分别", "有什么", "有何", "之间", "更", "各", "是"];

/// The cues of a language; English where there are none.
pub(super) fn of(lang: &str) -> &'static Cues {
    CUES.iter().find(|cues| cues.lang == lang).unwrap_or(&CUES[0])
}
