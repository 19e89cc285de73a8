//! A simple table as GitHub-flavoured Markdown, for `full.md`.

use quarry_model::Table;

use super::layout::Layout;

/// Writes a table, or answers `None` when Markdown cannot say it exactly: spans, nested tables, several header rows,
/// header columns.
pub fn to_markdown(table: &Table) -> Option<String> {
    let layout = Layout::of(table);
    let cells = || layout.rows.iter().flatten();
    let simple = layout.header_rows <= 1
        && layout.width > 0
        && cells().all(|p| p.rowspan == 1 && p.colspan == 1 && p.cell.tables.is_empty())
        && cells().filter(|p| p.row >= layout.header_rows).all(|p| !p.header);
    if !simple {
        return None;
    }
    let mut out = String::new();
    if !table.caption.is_empty() {
        out.push_str(&table.caption);
        out.push_str("\n\n");
    }
    let mut rows = table.rows.iter();
    let head = if layout.header_rows == 1 { rows.next() } else { None };
    write_row(head.into_iter().flatten().map(|c| c.text.as_str()), layout.width, &mut out);
    out.push('|');
    out.push_str(&" --- |".repeat(layout.width));
    out.push('\n');
    for row in rows {
        write_row(row.iter().map(|c| c.text.as_str()), layout.width, &mut out);
    }
    Some(out)
}

fn write_row<'t>(mut cells: impl Iterator<Item = &'t str>, width: usize, out: &mut String) {
    out.push('|');
    for _ in 0..width {
        out.push(' ');
        let text = cells.next().unwrap_or_default().trim();
        for c in text.chars() {
            match c {
                '|' => out.push_str("\\|"),
                '\n' => out.push_str("<br>"),
                c if c.is_control() => out.push(' '),
                c => out.push(c),
            }
        }
        out.push_str(if text.is_empty() { "|" } else { " |" });
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use quarry_model::Cell;

    #[test]
    fn simple_tables_only() {
        let mut t =
            Table { rows: vec![vec![Cell::new("a|b"), Cell::new("c")], vec![Cell::new("1\n2")]], header_rows: 1, ..Table::default() };
        assert_eq!(to_markdown(&t).unwrap(), "| a\\|b | c |\n| --- | --- |\n| 1<br>2 | |\n");
        t.rows[0][0].colspan = 2;
        assert_eq!(to_markdown(&t), None);
    }
}
