//! Canonical HTML of a table: one writer, so that equal tables are equal bytes.
//!
//! `<thead>` and `<tbody>` where there are headers, `<th>` for every header cell, `rowspan` and `colspan` only above 1,
//! every character of the source escaped, no attribute but the spans, one line a row.

use std::fmt::Write as _;

use quarry_model::Table;

use super::layout::{Layout, Placed};

/// Writes a table.
pub fn to_html(table: &Table) -> String {
    let layout = Layout::of(table);
    let mut out = String::from("<table>\n");
    write_caption(&table.caption, &mut out);
    let grouped = layout.header_rows > 0 && layout.headers_stand_alone();
    for (index, row) in layout.rows.iter().enumerate() {
        if grouped && index == 0 {
            out.push_str("<thead>\n");
        }
        if grouped && index == layout.header_rows {
            out.push_str("</thead>\n<tbody>\n");
        }
        write_row(row.iter().map(CellView::whole), &mut out);
    }
    if grouped {
        out.push_str("</tbody>\n");
    }
    out.push_str("</table>");
    out
}

/// A cell as one window of a table shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellView<'t> {
    pub text: &'t str,
    pub tables: &'t [Table],
    pub rowspan: usize,
    pub colspan: usize,
    pub header: bool,
}

impl<'t> CellView<'t> {
    /// The cell as it stands in the whole table.
    pub(super) fn whole(placed: &Placed<'t>) -> Self {
        Self {
            text: &placed.cell.text,
            tables: &placed.cell.tables,
            rowspan: placed.rowspan,
            colspan: placed.colspan,
            header: placed.header,
        }
    }
}

pub(super) fn write_caption(caption: &str, out: &mut String) {
    if !caption.is_empty() {
        out.push_str("<caption>");
        escape(caption, out);
        out.push_str("</caption>\n");
    }
}

pub(super) fn write_row<'t>(cells: impl Iterator<Item = CellView<'t>>, out: &mut String) {
    out.push_str("<tr>");
    for cell in cells {
        let name = if cell.header { "th" } else { "td" };
        let _ = write!(out, "<{name}");
        if cell.rowspan > 1 {
            let _ = write!(out, " rowspan=\"{}\"", cell.rowspan);
        }
        if cell.colspan > 1 {
            let _ = write!(out, " colspan=\"{}\"", cell.colspan);
        }
        out.push('>');
        escape(cell.text, out);
        for nested in cell.tables {
            out.push_str(&to_html(nested));
        }
        let _ = write!(out, "</{name}>");
    }
    out.push_str("</tr>\n");
}

/// Text as HTML text: markup characters as entities, line breaks as `<br>`, other control characters as spaces.
pub(super) fn escape(text: &str, out: &mut String) {
    for c in text.trim_matches('\n').chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' => out.push_str("<br>"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
}

/// The words of HTML that [`to_html`] wrote: one line a row, cells separated by tabs.
pub fn text_of(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    for (index, piece) in html.split('<').enumerate() {
        let (tag, text) = if index == 0 { ("", piece) } else { piece.split_once('>').unwrap_or(("", piece)) };
        if matches!(tag, "/tr" | "/caption" | "/table" | "br") && !out.ends_with('\n') {
            out.push('\n');
        } else if matches!(tag, "/td" | "/th") {
            out.push('\t');
        }
        let text = if text == "\n" { "" } else { text };
        for (index, piece) in text.split('&').enumerate() {
            let known = [("lt;", '<'), ("gt;", '>'), ("amp;", '&')];
            match known.iter().find_map(|(name, c)| Some((*c, piece.strip_prefix(name)?))).filter(|_| index > 0) {
                Some((c, rest)) => {
                    out.push(c);
                    out.push_str(rest);
                }
                None => out.push_str(piece),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use quarry_model::Cell;

    fn table(rows: &[&[&str]], header_rows: u32) -> Table {
        let rows = rows.iter().map(|r| r.iter().map(|t| Cell::new(*t)).collect()).collect();
        Table { rows, header_rows, ..Table::default() }
    }

    #[test]
    fn headers_spans_and_caption() {
        let mut t = table(&[&["Year", "Sales"], &["2024", "1 < 2 & 3"], &["", ""]], 1);
        t.caption = "A > B".into();
        t.rows[1][0].rowspan = 2;
        t.rows[2].pop();
        assert_eq!(
            to_html(&t),
            "<table>\n<caption>A &gt; B</caption>\n<thead>\n<tr><th>Year</th><th>Sales</th></tr>\n</thead>\n<tbody>\n\
             <tr><td rowspan=\"2\">2024</td><td>1 &lt; 2 &amp; 3</td></tr>\n<tr><td></td></tr>\n</tbody>\n</table>"
        );
    }

    #[test]
    fn huge_spans_are_clamped_to_the_grid() {
        let mut t = table(&[&["a", "b"], &["c"]], 0);
        t.rows[0][0].rowspan = u32::MAX;
        t.rows[1][0].colspan = 1 << 31;
        assert_eq!(to_html(&t), "<table>\n<tr><td rowspan=\"2\">a</td><td>b</td></tr>\n<tr><td colspan=\"1000\">c</td></tr>\n</table>");
    }

    #[test]
    fn a_header_that_reaches_into_the_body_keeps_its_span() {
        let mut t = table(&[&["a", "b"], &["c"], &["d", "e"]], 1);
        t.rows[0][0].rowspan = 2;
        let html = to_html(&t);
        assert!(html.contains("<th rowspan=\"2\">a</th>") && !html.contains("thead"), "{html}");
    }

    #[test]
    fn nothing_of_the_source_is_markup() {
        let t = table(&[&["<script>x</script>\nline", "\u{0}\u{8}ok"]], 0);
        assert_eq!(to_html(&t), "<table>\n<tr><td>&lt;script&gt;x&lt;/script&gt;<br>line</td><td>  ok</td></tr>\n</table>");
    }

    #[test]
    fn words_come_back() {
        let mut t = table(&[&["a & b", "<i>\nx"], &["", "&lt;"]], 1);
        t.caption = "C".into();
        assert_eq!(text_of(&to_html(&t)), "C\na & b\t<i>\nx\t\n\t&lt;\t\n");
    }

    #[test]
    fn nested_tables_stand_in_their_cell() {
        let mut t = table(&[&["outer"]], 0);
        t.rows[0][0].tables.push(table(&[&["inner"]], 0));
        assert_eq!(to_html(&t), "<table>\n<tr><td>outer<table>\n<tr><td>inner</td></tr>\n</table></td></tr>\n</table>");
    }

    #[test]
    fn leading_rows_of_marked_cells_are_headers() {
        let mut t = table(&[&["a", "b"], &["1", "2"]], 0);
        t.rows[0].iter_mut().for_each(|c| c.header = true);
        assert!(to_html(&t).contains("<thead>\n<tr><th>a</th><th>b</th></tr>\n</thead>"));
    }
}
