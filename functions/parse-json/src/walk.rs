//! Values → rows. A stack of work instead of recursion: what is told last is pushed first.

use quarry_document::prose::Collector;
use quarry_model::{Evidence, Parsed, Row};

use crate::records;
use crate::value::Value;

/// A title made of a key is cut to this.
const TITLE_CHARS: usize = 200;

/// What is still to be told.
enum Task<'v> {
    /// Opens the section of a key and tells its value.
    Section { title: String, value: &'v Value<'v>, depth: u32 },
    /// Tells a value in the section that is open.
    Value { value: &'v Value<'v>, depth: u32 },
}

/// Writes rows.
pub(crate) struct Walk<'c> {
    out: Collector<'c>,
    /// Whether the next line joins the row before it.
    in_lines: bool,
}

impl<'c> Walk<'c> {
    pub(crate) fn new(out: Collector<'c>) -> Self {
        Self { out, in_lines: false }
    }

    pub(crate) fn finish(self) -> Parsed {
        self.out.finish()
    }

    /// Text of its own.
    pub(crate) fn text(&mut self, text: &str) {
        self.in_lines = false;
        self.line(text.to_owned());
        self.in_lines = false;
    }

    /// The outermost value.
    pub(crate) fn document(&mut self, value: &Value<'_>) {
        let mut tasks = vec![Task::Value { value, depth: 1 }];
        while let Some(task) = tasks.pop() {
            let (value, depth) = match task {
                Task::Section { title, value, depth } => {
                    self.out.heading(&title, depth, Evidence::Markup);
                    (value, depth.saturating_add(1))
                }
                Task::Value { value, depth } => (value, depth),
            };
            self.in_lines = false;
            let mut below = match value {
                Value::Object(members) => self.object(members, depth),
                Value::Array(items) => self.array(items, depth),
                scalar => {
                    self.line(scalar.scalar().unwrap_or_default().to_owned());
                    Vec::new()
                }
            };
            below.reverse();
            tasks.extend(below);
        }
    }

    /// Says what fits into lines, and answers what needs sections: those come after, or the lines would be theirs.
    fn object<'v>(&mut self, members: &'v [(std::borrow::Cow<'v, str>, Value<'v>)], depth: u32) -> Vec<Task<'v>> {
        let mut below = Vec::new();
        for (key, value) in members {
            match line_of(key, value) {
                Some(line) => self.line(line),
                None => below.push(Task::Section { title: title(key), value, depth }),
            }
        }
        below
    }

    fn array<'v>(&mut self, items: &'v [Value<'v>], depth: u32) -> Vec<Task<'v>> {
        let limits = self.out.limits();
        let tables = records::columns(items).map(|columns| columns.tables(items, limits)).or_else(|| records::matrix(items, limits));
        if let Some(tables) = tables {
            for table in tables {
                self.out.table(table);
            }
            return Vec::new();
        }
        let mut below = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if let Some(text) = item.scalar() {
                self.line(format!("- {text}"));
            } else {
                let title = item.title().map_or_else(|| index.saturating_add(1).to_string(), str::to_owned);
                below.push(Task::Section { title, value: item, depth });
            }
        }
        below
    }

    fn line(&mut self, line: String) {
        if line.trim().is_empty() {
            return;
        }
        let prose = line.contains('\n');
        let section = self.out.section();
        self.out.push(Row { tight: self.in_lines && !prose, ..Row::text(section, line) });
        self.in_lines = !prose;
    }
}

/// A member that is told in a line; `None` when it needs a section.
fn line_of(key: &str, value: &Value<'_>) -> Option<String> {
    let said = match value {
        Value::Array(items) if items.iter().all(|item| item.scalar().is_some_and(|text| text.len() <= 200 && !text.contains('\n'))) => {
            records::list(items)
        }
        Value::Object(members) if members.is_empty() => String::new(),
        other => other.scalar()?.to_owned(),
    };
    let key = key.trim();
    Some(match (key.is_empty(), said.is_empty()) {
        (_, true) => key.to_owned(),
        (true, false) => said,
        (false, false) => format!("{key}: {said}"),
    })
}

fn title(key: &str) -> String {
    let key = key.trim();
    if key.is_empty() { "\u{2205}".to_owned() } else { key.chars().take(TITLE_CHARS).collect() }
}
