//! List numbers as Word shows them: abstract lists, their instances with overrides, lists linked to styles.

use std::collections::{BTreeMap, BTreeSet};

use quarry_document::flow::{Label, Suffix};
use quarry_document::numbering::numerals;
use quarry_document::symbols;
use quarry_document::xml::{Element, Ns, Tree};

use crate::word::properties::{attribute, number, toggle, value, w};
use crate::word::styles::{NumberProperties, ParagraphStyle, Styles};

/// Levels of a list.
const LEVELS: usize = 9;

#[derive(Debug, Clone, Default)]
struct Level {
    start: i64,
    format: String,
    text: String,
    suffix: Suffix,
    /// After which level (from 1) it starts again; 0 never; `None` after any above it.
    restart: Option<usize>,
    legal: bool,
    style: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct Abstract {
    levels: BTreeMap<usize, Level>,
    /// The style whose list this one really is.
    style_link: Option<String>,
}

#[derive(Debug, Default)]
struct Instance {
    of: i64,
    starts: BTreeMap<usize, i64>,
    levels: BTreeMap<usize, Level>,
}

/// All lists of a document, and how far each has counted.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    lists: BTreeMap<i64, Abstract>,
    instances: BTreeMap<i64, Instance>,
    counters: BTreeMap<i64, [Option<i64>; LEVELS]>,
    /// Instances whose start override has had its effect, by level.
    started: BTreeSet<(i64, usize)>,
}

impl Numbering {
    pub(crate) fn read(tree: &Tree) -> Self {
        let mut numbering = Self::default();
        for element in tree.root().elements() {
            if element.is(Ns::W, "abstractNum") {
                let Some(id) = attribute(element, "abstractNumId").and_then(|id| id.trim().parse().ok()) else { continue };
                let levels = element.elements().filter(|level| level.is(Ns::W, "lvl")).filter_map(Level::read).collect();
                let style_link = value(element, "numStyleLink").map(str::to_owned);
                numbering.lists.entry(id).or_insert(Abstract { levels, style_link });
            } else if element.is(Ns::W, "num") {
                let Some(id) = attribute(element, "numId").and_then(|id| id.trim().parse().ok()) else { continue };
                let mut instance = Instance { of: number(element, "abstractNumId").unwrap_or(-1), ..Instance::default() };
                for override_ in element.elements().filter(|child| child.is(Ns::W, "lvlOverride")) {
                    let Some(level) = level_index(override_) else { continue };
                    if let Some(start) = number(override_, "startOverride") {
                        instance.starts.insert(level, start);
                    }
                    if let Some((_, replaced)) = w(override_, "lvl").and_then(Level::read) {
                        instance.levels.insert(level, replaced);
                    }
                }
                numbering.instances.entry(id).or_insert(instance);
            }
        }
        numbering
    }

    /// Counts one paragraph and gives its label; `None` when it belongs to no list.
    pub(crate) fn label(&mut self, direct: NumberProperties, style: &ParagraphStyle, styles: &Styles) -> Option<Label> {
        let list = direct.list.or(style.number.list).filter(|list| *list != 0)?;
        let instance = self.instances.get(&list)?;
        let abstract_id = self.resolve(instance.of, styles);
        let abstract_list = self.lists.get(&abstract_id)?;
        let by_style = || {
            // A list may name the style of each of its levels; that binds more than what the style itself says.
            let name = style.number_style.as_ref().filter(|_| direct.list.is_none())?;
            abstract_list.levels.iter().find(|(_, level)| level.style.as_ref() == Some(name)).map(|(index, _)| *index)
        };
        let level = match direct.level {
            Some(level) => usize::try_from(level).ok()?,
            None => by_style().or_else(|| usize::try_from(style.number.level.unwrap_or_default()).ok()).unwrap_or_default(),
        }
        .min(LEVELS.saturating_sub(1));
        let definition = |index: usize| instance.levels.get(&index).or_else(|| abstract_list.levels.get(&index));
        let own = definition(level)?;

        let counters = self.counters.entry(abstract_id).or_default();
        let override_ = instance.starts.get(&level).filter(|_| self.started.insert((list, level)));
        let first = override_.copied().or_else(|| instance.starts.get(&level).copied()).unwrap_or(own.start);
        let count = match (override_, counters.get(level).copied().flatten()) {
            (Some(start), _) => *start,
            (None, Some(count)) => count.saturating_add(1),
            (None, None) => first,
        };
        if let Some(counter) = counters.get_mut(level) {
            *counter = Some(count);
        }
        for (index, counter) in counters.iter_mut().enumerate().skip(level.saturating_add(1)) {
            let restarts = match definition(index).and_then(|definition| definition.restart) {
                None => true,
                Some(after) => after > 0 && level < after,
            };
            if restarts {
                *counter = None;
            }
        }
        if own.format == "bullet" {
            let text = symbols::bullet(&own.text);
            // A blank bullet only indents what goes on with an item.
            return (!own.text.trim().is_empty()).then_some(Label { text, suffix: own.suffix, bullet: true, level });
        }
        let shown = |index: usize| {
            let definition = definition(index);
            let count = counters.get(index).copied().flatten();
            let count = count.or_else(|| definition.map(|definition| definition.start)).unwrap_or(1);
            let format = definition.map_or("decimal", |definition| definition.format.as_str());
            // "Legal" lists show every number in Arabic digits.
            numerals::format(count, if own.legal && !matches!(format, "none" | "bullet") { "decimal" } else { format })
        };
        let text = fill(&own.text, shown);
        (!text.trim().is_empty()).then_some(Label { text, suffix: own.suffix, bullet: false, level })
    }

    /// The list that really counts: follows links through styles; a circle ends it.
    fn resolve(&self, id: i64, styles: &Styles) -> i64 {
        let (mut id, mut seen) = (id, BTreeSet::new());
        while seen.insert(id) {
            let Some(style) = self.lists.get(&id).filter(|list| list.levels.is_empty()).and_then(|list| list.style_link.as_ref()) else {
                break;
            };
            let Some(instance) = styles.number_of(style).list.and_then(|list| self.instances.get(&list)) else { break };
            id = instance.of;
        }
        id
    }
}

impl Level {
    fn read(element: Element<'_>) -> Option<(usize, Self)> {
        let index = level_index(element)?;
        // A format of a later Word stands beside a plain one that older readers take.
        let format = w(element, "numFmt").and_then(|format| attribute(format, "val")).or_else(|| {
            let compatible = element.child(Ns::Mc, "AlternateContent")?.child(Ns::Mc, "Fallback")?;
            value(compatible, "numFmt")
        });
        let level = Self {
            start: number(element, "start").unwrap_or(0),
            format: format.unwrap_or("decimal").to_owned(),
            text: value(element, "lvlText").unwrap_or_default().to_owned(),
            suffix: if value(element, "suff") == Some("nothing") { Suffix::Nothing } else { Suffix::Space },
            restart: number(element, "lvlRestart").and_then(|level| usize::try_from(level).ok()),
            legal: toggle(element, "isLgl").unwrap_or_default(),
            style: value(element, "pStyle").map(str::to_owned),
        };
        Some((index, level))
    }
}

fn level_index(element: Element<'_>) -> Option<usize> {
    attribute(element, "ilvl")?.trim().parse().ok().filter(|level| *level < LEVELS)
}

/// Puts numbers in the places of `%1` … `%9`.
fn fill(pattern: &str, shown: impl Fn(usize) -> String) -> String {
    let (mut out, mut chars) = (String::new(), pattern.chars().peekable());
    while let Some(c) = chars.next() {
        let level = (c == '%').then(|| chars.peek().and_then(|digit| digit.to_digit(10))).flatten().and_then(|digit| digit.checked_sub(1));
        match level {
            Some(level) => {
                chars.next();
                out.push_str(&shown(level as usize));
            }
            None => out.push(c),
        }
    }
    out
}
