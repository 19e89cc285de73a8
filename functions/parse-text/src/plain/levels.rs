//! Levels of headings that say none: a kind of heading seen inside another stands below it.

/// What makes headings of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A line drawn below it, or above and below.
    Underline(char, bool),
    /// A row of the numbering table, the number's depth, and the row's rank.
    Numbering(&'static str, u32, Option<u32>),
    /// Capitals.
    Caps,
}

impl Key {
    /// Chapter words know their order: a part is never below a section.
    fn rank(self) -> Option<u32> {
        match self {
            Self::Numbering(_, _, rank) => rank,
            _ => None,
        }
    }
}

/// The kinds that are open, from the top.
#[derive(Debug, Default)]
pub(super) struct Levels {
    open: Vec<Key>,
}

impl Levels {
    /// The level of the next heading.
    pub(super) fn level(&mut self, key: Key) -> u32 {
        if let Some(place) = self.open.iter().position(|open| *open == key) {
            self.open.truncate(place.saturating_add(1));
        } else {
            if let Some(rank) = key.rank() {
                let above = self.open.iter().position(|open| open.rank().is_some_and(|other| other >= rank)).unwrap_or(self.open.len());
                self.open.truncate(above);
            }
            if let Key::Numbering(name, depth, _) = key {
                // `2.1` stands below `2.`, whatever stood between them.
                let deeper = |open: &Key| matches!(open, Key::Numbering(other, d, _) if *other == name && *d > depth);
                let above = self.open.iter().position(deeper).unwrap_or(self.open.len());
                self.open.truncate(above);
            }
            self.open.push(key);
        }
        u32::try_from(self.open.len()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_nest_and_return() {
        let part = Key::Numbering("part", 1, Some(1));
        let chapter = Key::Numbering("chapter", 1, Some(2));
        let article = Key::Numbering("article", 1, Some(4));
        let (two, three) = (Key::Numbering("dotted", 2, None), Key::Numbering("dotted", 3, None));
        let mut levels = Levels::default();
        let told: Vec<u32> = [Key::Caps, part, article, chapter, article, two, three, two, chapter, part, Key::Caps]
            .into_iter()
            .map(|key| levels.level(key))
            .collect();
        assert_eq!(told, [1, 2, 3, 3, 4, 5, 6, 5, 3, 2, 1]);
    }
}
