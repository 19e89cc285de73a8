//! Canonical HTML of a table read back: the inverse of [`super::to_html`], for those who have the stored file alone.

use quarry_model::{Cell, Table};

/// Tables nested deeper than this were never written.
const DEPTH: usize = 64;

/// A table that is being read.
#[derive(Default)]
struct Open {
    table: Table,
    row: Vec<Cell>,
    cell: Option<Cell>,
    in_caption: bool,
    in_head: bool,
}

/// The table that [`super::to_html`] wrote; `None` for anything that it cannot have written.
pub fn from_html(html: &str) -> Option<Table> {
    let mut open: Vec<Open> = Vec::new();
    for piece in html.split('<').skip(1) {
        let (tag, text) = piece.split_once('>')?;
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if name == "table" {
            if open.len() >= DEPTH || open.last().is_some_and(|outer| outer.cell.is_none()) {
                return None;
            }
            open.push(Open::default());
            continue;
        }
        let table = open.last_mut()?;
        match name {
            "/table" => {
                let done = open.pop()?.table;
                match open.last_mut() {
                    Some(outer) => outer.cell.as_mut()?.tables.push(done),
                    None => return Some(done),
                }
                continue;
            }
            "caption" => table.in_caption = true,
            "/caption" => table.in_caption = false,
            "thead" => table.in_head = true,
            "/thead" => table.in_head = false,
            "tbody" | "/tbody" | "tr" => {}
            "/tr" => {
                table.table.rows.push(std::mem::take(&mut table.row));
                table.table.header_rows = table.table.header_rows.saturating_add(u32::from(table.in_head));
            }
            "td" | "th" => {
                let cell = Cell::spanning("", span(attributes, "rowspan"), span(attributes, "colspan"));
                table.cell = Some(Cell { header: name == "th", ..cell });
            }
            "/td" | "/th" => {
                let cell = table.cell.take()?;
                table.row.push(cell);
            }
            "br" => table.say("\n"),
            _ => return None,
        }
        if table.in_caption || table.cell.is_some() {
            table.say(&unescaped(text));
        }
    }
    None
}

impl Open {
    fn say(&mut self, text: &str) {
        match &mut self.cell {
            Some(cell) => cell.text.push_str(text),
            None => self.table.caption.push_str(text),
        }
    }
}

fn span(attributes: &str, name: &str) -> u32 {
    let value = attributes.split(' ').find_map(|attribute| attribute.strip_prefix(name)?.strip_prefix("=\"")?.strip_suffix('"'));
    value.and_then(|value| value.parse().ok()).unwrap_or(1)
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::to_html;

    #[test]
    fn what_was_written_is_read_back() {
        let inner = Table { rows: vec![vec![Cell::new("deep")]], ..Table::default() };
        let head = |text: &str| Cell { header: true, ..Cell::new(text) };
        let mut holder = Cell::new("a < b & \"c\"\nline &lt; two");
        holder.tables.push(inner);
        let table = Table {
            rows: vec![
                vec![head("Name"), head("Flow"), head("Note")],
                vec![Cell::spanning("P-12", 2, 1), Cell::new("4"), holder],
                vec![Cell::spanning("none", 1, 2)],
            ],
            header_rows: 1,
            header_columns: 0,
            caption: "Pumps > 3".into(),
        };
        let html = to_html(&table);
        let read = from_html(&html).unwrap();
        assert_eq!(to_html(&read), html);
        assert_eq!((read.header_rows, read.caption.as_str(), read.rows[1][0].rowspan), (1, "Pumps > 3", 2));
        assert_eq!(read.rows[1][2].text, "a < b & \"c\"\nline &lt; two");
    }

    #[test]
    fn anything_else_is_refused() {
        for html in [
            "",
            "text",
            "<table>",
            "<table><script>x</script></table>",
            "<tr></tr>",
            "<table></td></table>",
            "<table><table></table></table>",
        ] {
            assert_eq!(from_html(html), None, "{html}");
        }
        assert_eq!(from_html(&"<table><tr><td>".repeat(100_000)), None);
    }
}
