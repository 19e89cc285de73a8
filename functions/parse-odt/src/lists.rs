//! Numbers of lists and headings.

use std::collections::BTreeMap;

use quarry_document::flow::{Label, Suffix};
use quarry_document::numbering::numerals;
use quarry_document::symbols;
use quarry_document::xml::{Element, Ns};

/// Levels of a list.
const LEVELS: usize = 10;

#[derive(Debug, Clone, Default)]
struct Level {
    bullet: Option<String>,
    format: String,
    prefix: String,
    suffix: String,
    /// How many numbers are shown, its own included.
    shown: usize,
    start: i64,
    synchronous: bool,
}

impl Level {
    fn read(element: Element<'_>) -> Self {
        let text = |name| element.attribute(Ns::OdfText, name);
        let style = |name| element.attribute(Ns::OdfStyle, name).unwrap_or_default().to_owned();
        let bullet = element.name().ends_with("-bullet") || element.name().ends_with("-image");
        Self {
            bullet: bullet.then(|| text("bullet-char").unwrap_or("•").to_owned()),
            format: style("num-format"),
            prefix: style("num-prefix"),
            suffix: style("num-suffix"),
            shown: text("display-levels").and_then(|levels| levels.trim().parse().ok()).unwrap_or(1),
            start: text("start-value").and_then(|start| start.trim().parse().ok()).unwrap_or(1),
            synchronous: element.attribute(Ns::OdfStyle, "num-letter-sync") == Some("true"),
        }
    }

    fn numeral(&self, number: i64) -> String {
        let format = match self.format.as_str() {
            "" => return String::new(),
            "a" if self.synchronous => "lowerLetter",
            "A" if self.synchronous => "upperLetter",
            "a" | "A" => {
                let letters = usize::try_from(number).ok().and_then(numerals::positional_letters).unwrap_or_else(|| number.to_string());
                return if self.format == "A" { letters.to_uppercase() } else { letters };
            }
            "i" => "lowerRoman",
            "I" => "upperRoman",
            other => match other.chars().next() {
                Some('一') => "chineseCounting",
                Some('壹' | '壱') => "chineseLegalSimplified",
                Some('①') => "decimalEnclosedCircle",
                Some('ア') => "aiueo",
                Some('イ') => "iroha",
                Some('甲') => "ideographTraditional",
                Some('子') => "ideographZodiac",
                Some('가') => "ganada",
                Some('ㄱ') => "chosung",
                Some('일') => "koreanDigital",
                Some('А') => "russianUpper",
                Some('а') => "russianLower",
                Some('א') => "hebrew2",
                Some('１') => "decimalFullWidth",
                _ => "decimal",
            },
        };
        numerals::format(number, format)
    }
}

/// List styles, and how far each list has counted.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    styles: BTreeMap<String, BTreeMap<usize, Level>>,
    outline: BTreeMap<usize, Level>,
    counters: BTreeMap<String, [Option<i64>; LEVELS]>,
    /// The counter of each list that has a name.
    named: BTreeMap<String, String>,
    anonymous: u64,
}

impl Lists {
    /// Adds the list styles of a part.
    pub(crate) fn read(&mut self, root: Element<'_>) {
        let groups = root.elements().filter(|group| group.ns() == Ns::OdfOffice && matches!(group.name(), "styles" | "automatic-styles"));
        for element in groups.flat_map(Element::elements).filter(|element| element.ns() == Ns::OdfText) {
            let levels = element.elements().filter_map(|level| {
                let index = level.attribute(Ns::OdfText, "level")?.trim().parse::<usize>().ok()?.checked_sub(1)?;
                (index < LEVELS).then(|| (index, Level::read(level)))
            });
            match element.name() {
                "list-style" => {
                    let name = element.attribute(Ns::OdfStyle, "name").unwrap_or_default().to_owned();
                    self.styles.insert(name, levels.collect());
                }
                "outline-style" => self.outline = levels.collect(),
                _ => {}
            }
        }
    }

    /// Opens a list at the top, and gives the key of its counter: it counts on from the list it names, or afresh.
    pub(crate) fn open(&mut self, list: Element<'_>, style: &str) -> String {
        let id = list.attribute(Ns::Xml, "id").or_else(|| list.attribute(Ns::OdfText, "id"));
        let continues = list.attribute(Ns::OdfText, "continue-list").and_then(|id| self.named.get(id).cloned());
        let same_style = || (list.attribute(Ns::OdfText, "continue-numbering") == Some("true")).then(|| format!("style {style}"));
        let key = continues.or_else(same_style).unwrap_or_else(|| {
            self.anonymous = self.anonymous.saturating_add(1);
            format!("list {}", self.anonymous)
        });
        if let Some(id) = id {
            self.named.insert(id.to_owned(), key.clone());
        }
        key
    }

    /// Counts an item and gives its label. The list is also remembered as the last of its style.
    pub(crate) fn label(&mut self, key: &str, style: &str, level: usize, start: Option<i64>) -> Option<Label> {
        let level = level.min(LEVELS.saturating_sub(1));
        let levels = self.styles.get(style);
        let Some(definition) = levels.and_then(|levels| levels.get(&level)) else {
            return Some(Label { text: "•".to_owned(), suffix: Suffix::Space, bullet: true, level });
        };
        let counters = self.counters.entry(key.to_owned()).or_default();
        count(counters, level, start, definition.start);
        let counters = *counters;
        let label = label(levels?, &counters, level);
        self.counters.insert(format!("style {style}"), counters);
        label
    }

    /// Counts a heading and gives its label.
    pub(crate) fn heading(&mut self, level: usize, start: Option<i64>) -> Option<Label> {
        let level = level.min(LEVELS.saturating_sub(1));
        let definition = self.outline.get(&level)?;
        let counters = self.counters.entry("outline".to_owned()).or_default();
        count(counters, level, start, definition.start);
        label(&self.outline, counters, level).filter(|label| !label.bullet)
    }
}

fn count(counters: &mut [Option<i64>; LEVELS], level: usize, start: Option<i64>, first: i64) {
    if let Some(counter) = counters.get_mut(level) {
        *counter = Some(start.unwrap_or_else(|| counter.map_or(first, |count| count.saturating_add(1))));
    }
    for deeper in counters.iter_mut().skip(level.saturating_add(1)) {
        *deeper = None;
    }
}

fn label(levels: &BTreeMap<usize, Level>, counters: &[Option<i64>; LEVELS], level: usize) -> Option<Label> {
    let own = levels.get(&level)?;
    if let Some(bullet) = &own.bullet {
        return Some(Label { text: symbols::bullet(bullet), suffix: Suffix::Space, bullet: true, level });
    }
    let first = level.saturating_add(1).saturating_sub(own.shown.max(1));
    let numbers = (first..=level).filter_map(|index| {
        let definition = levels.get(&index)?;
        let number = counters.get(index).copied().flatten().unwrap_or(definition.start);
        Some(definition.numeral(number)).filter(|numeral| !numeral.is_empty())
    });
    let numbers = numbers.collect::<Vec<_>>().join(".");
    let text = if own.format.is_empty() { String::new() } else { format!("{}{numbers}{}", own.prefix, own.suffix) };
    (!text.trim().is_empty()).then(|| Label { text: text.trim().to_owned(), suffix: Suffix::Space, bullet: false, level })
}
