//! Fonts and styles of a document.

use std::collections::{BTreeMap, BTreeSet};

use quarry_document::flow::Purpose;

/// A font.
#[derive(Debug, Clone, Default)]
pub(crate) struct Font {
    pub name: String,
    pub charset: i32,
}

/// A paragraph style.
#[derive(Debug, Clone, Default)]
pub(crate) struct Style {
    pub name: String,
    pub based_on: Option<i32>,
    /// From 0; 9 for body text.
    pub outline: Option<i32>,
}

/// Fonts and styles by number.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub fonts: BTreeMap<i32, Font>,
    pub styles: BTreeMap<i32, Style>,
}

impl Sheet {
    /// Heading level (from 1) and purpose of a style, its ancestors included; a circle of them ends.
    pub(crate) fn role(&self, style: i32) -> (Option<u32>, Purpose) {
        let (mut level, mut purpose, mut seen) = (None, Purpose::Text, BTreeSet::new());
        let mut next = Some(style);
        while let Some(number) = next.filter(|number| seen.insert(*number)) {
            let Some(style) = self.styles.get(&number) else { break };
            let name = style.name.trim().to_lowercase();
            if level.is_none() {
                let named =
                    name.strip_prefix("heading ").and_then(|rest| rest.trim().parse::<i32>().ok()).and_then(|level| level.checked_sub(1));
                level = style.outline.or(named);
            }
            if purpose == Purpose::Text {
                purpose = Purpose::of(&name);
            }
            next = style.based_on;
        }
        (level.and_then(heading_level), purpose)
    }
}

/// A heading's level from 1; `None` for body text.
pub(crate) fn heading_level(outline: i32) -> Option<u32> {
    u32::try_from(outline).ok().filter(|outline| *outline < 9).map(|outline| outline.saturating_add(1))
}
