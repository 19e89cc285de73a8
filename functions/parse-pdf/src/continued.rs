//! Tables that go on over a page's end become one: nothing stands between the two parts, and their columns agree.

use quarry_model::{Cell, Table};

use crate::blocks::Block;
use crate::caption;
use crate::tables::FoundTable;

/// Sides of the two parts agree when they are this near, in points.
const SAME_SIDE: f32 = 4.0;

/// Joins the parts of every table.
pub(crate) fn join(blocks: Vec<Block>) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks {
        let Block::Table(part, page) = block else {
            out.push(block);
            continue;
        };
        // "Table 3 (continued)" over the second part is no text of its own.
        let repeated = matches!(out.last(), Some(Block::Text(text)) if text.page() == page && caption::is_continuation(&text.text()));
        let above = out.len().checked_sub(if repeated { 2 } else { 1 });
        match above.and_then(|index| out.get_mut(index)) {
            Some(Block::Table(table, first)) if goes_on(table, *first, &part, page) => {
                let from = append(&mut table.table, part.table);
                table.further.push((page, part.rect, from));
                if repeated {
                    out.pop();
                }
            }
            _ => out.push(Block::Table(part, page)),
        }
    }
    out
}

fn goes_on(table: &FoundTable, first: u32, part: &FoundTable, page: u32) -> bool {
    let (last_page, last) = table.further.last().map_or((first, table.rect), |(page, rect, _)| (*page, *rect));
    page == last_page.saturating_add(1)
        && width(&table.table) == width(&part.table)
        && (last.x0 - part.rect.x0).abs() < SAME_SIDE
        && (last.x1 - part.rect.x1).abs() < SAME_SIDE
}

/// Columns of the first row, which no span from above shortens.
fn width(table: &Table) -> u32 {
    table.rows.first().map_or(0, |row| row.iter().map(|cell| cell.colspan).fold(0, u32::saturating_add))
}

/// Adds the rows of a part; a header that is said again is said once. Answers the first row added.
fn append(table: &mut Table, part: Table) -> usize {
    let same = |(a, b): (&Vec<Cell>, &Vec<Cell>)| a.iter().map(|c| &c.text).eq(b.iter().map(|c| &c.text));
    let repeated = table.rows.iter().zip(&part.rows).take_while(|pair| same(*pair)).count();
    table.header_rows = table.header_rows.max(u32::try_from(repeated).unwrap_or(0));
    let from = table.rows.len();
    table.rows.extend(part.rows.into_iter().skip(repeated));
    from
}
