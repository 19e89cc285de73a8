//! What styles are for.

/// What a paragraph style is for, by the name it was born with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// Text, or a heading.
    #[default]
    Text,
    /// The title of the document.
    Title,
    /// A caption.
    Caption,
    /// An entry of the table of contents, of this level from 1.
    Contents(u32),
    /// The title of the table of contents, or an entry of a table of figures.
    ContentsOther,
}

impl Purpose {
    /// What the lower-case `name` of a style says. Built-in styles keep their English names in every language version.
    pub fn of(name: &str) -> Self {
        match name {
            "title" => Self::Title,
            "caption" => Self::Caption,
            "toc heading" | "contents heading" | "table of figures" => Self::ContentsOther,
            name => {
                let level = name.strip_prefix("toc ").or_else(|| name.strip_prefix("contents ")).and_then(|level| level.parse().ok());
                level.filter(|level| (1..=10).contains(level)).map_or(Self::Text, Self::Contents)
            }
        }
    }
}
