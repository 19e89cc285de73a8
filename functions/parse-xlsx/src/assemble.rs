//! Sheets → rows: one section a sheet, its regions and what floats over them in reading order.

use quarry_model::{Cell, Evidence, Heading, Limits, Parsed, Row, Table};

use crate::cells::{self, Area, CellView, Cells};
use crate::header::{self, Line, Span};
use crate::merges::Merges;
use crate::region::{self, Region};
use crate::sheet::{Float, Floating, Sheet};

/// A title over a table is one line of at most this many characters.
const TITLE_CHARS: usize = 200;
/// Rows between a title and its table.
const TITLE_GAP: u32 = 3;
/// Lines of one text row.
const LINES: usize = 40;
/// A table of more cells is kept packed.
const LARGE: usize = 10_000;

/// Adds a sheet's rows.
pub(crate) fn add(mut sheet: Sheet, parsed: &mut Parsed, limits: &Limits) {
    sheet.cells.sort();
    if sheet.is_empty() {
        return;
    }
    let section = (!sheet.name.trim().is_empty()).then(|| {
        let title = sheet.name.split_whitespace().collect::<Vec<_>>().join(" ");
        parsed.headings.push(Heading { title, level: 1, page: None, evidence: Evidence::Sheet, number: None });
        parsed.headings.len().saturating_sub(1)
    });
    let mut writer = Writer { sheet: &sheet, section, merges: Merges::of(&sheet), limits, rows: Vec::new() };
    writer.write();
    for mut row in writer.rows {
        row.hidden |= sheet.hidden;
        parsed.rows.push(row);
    }
    if let Some(told) = hidden_parts(&sheet).filter(|_| !sheet.hidden) {
        parsed.rows.push(Row { hidden: true, ..Row::text(section, told) });
    }
}

struct Writer<'s> {
    sheet: &'s Sheet,
    section: Option<usize>,
    merges: Merges,
    limits: &'s Limits,
    rows: Vec<Row>,
}

impl<'s> Writer<'s> {
    fn write(&mut self) {
        let regions = region::find(self.sheet);
        let mut floats: Vec<&Float> = self.sheet.floats.iter().collect();
        floats.sort_by_key(|float| (float.row, float.column));
        let mut floats = floats.into_iter().peekable();
        let mut title: Option<CellView<'s>> = None;
        for (index, region) in regions.iter().enumerate() {
            while let Some(float) = floats.next_if(|float| float.row < region.area.top) {
                self.flush(&mut title);
                self.float(float);
            }
            let alone = if region.cells == 1 && region.named.is_none() { self.only_cell(region) } else { None };
            match alone {
                Some(cell) => {
                    self.flush(&mut title);
                    title = Some(cell);
                    let next = regions.get(index.saturating_add(1));
                    if !next.is_some_and(|next| is_title(&cell, region, next)) {
                        self.flush(&mut title);
                    }
                }
                None if region.scattered => {
                    self.flush(&mut title);
                    self.scattered(region);
                }
                None => {
                    let caption = title.take().map(|cell| cell.text.to_owned()).unwrap_or_default();
                    self.table(region, &caption);
                }
            }
        }
        self.flush(&mut title);
        floats.for_each(|float| self.float(float));
    }

    fn only_cell(&self, region: &Region) -> Option<CellView<'s>> {
        let cells = &self.sheet.cells;
        let mut at = 0_usize;
        for row in region.area.top..=region.area.bottom {
            at = cells.seek(at, row, region.area.left);
            if let Some(cell) = cells.get(at).filter(|cell| region.area.contains(cell.row, cell.column)) {
                return Some(cell);
            }
        }
        None
    }

    fn flush(&mut self, title: &mut Option<CellView<'s>>) {
        if let Some(cell) = title.take() {
            self.rows.push(Row::text(self.section, cell.text));
        }
    }

    /// A region as a table, or as several where it is too large for one.
    fn table(&mut self, region: &Region, caption: &str) {
        let area = region.area;
        let headers = match region.named {
            Some(declared) => declared.min(area.height().saturating_sub(1)),
            None => header::count(&self.first_lines(&area), area.width(), area.height()),
        };
        let widest = self.limits.table_cells.checked_div(u64::from(area.width())).unwrap_or(1);
        let most = u32::try_from(widest).unwrap_or(u32::MAX).saturating_sub(headers).max(1);
        let body = area.height().saturating_sub(headers);
        let header_columns =
            u32::from(headers > 0 && self.sheet.cells.at(area.top, area.left).is_none() && !self.merges.covers(area.top, area.left));
        if body <= most {
            let rows = self.grid(&area, area.bottom);
            self.push_table(rows, headers, header_columns, caption.to_owned());
            return;
        }
        let mut top = area.top.saturating_add(headers);
        let parts = body.div_ceil(most);
        while top <= area.bottom {
            let bottom = top.saturating_add(most.saturating_sub(1)).min(area.bottom);
            let mut rows = match headers.checked_sub(1) {
                Some(last) => {
                    let last = area.top.saturating_add(last);
                    self.grid(&Area { bottom: last, ..area }, last)
                }
                None => Vec::new(),
            };
            rows.extend(self.grid(&Area { top, bottom, ..area }, bottom));
            let first = top.saturating_sub(area.top).saturating_sub(headers);
            let told = format!(
                "rows {}–{} of {body}",
                first.saturating_add(1),
                first.saturating_add(bottom.saturating_sub(top)).saturating_add(1)
            );
            let caption = if caption.is_empty() || parts == 1 { told } else { format!("{caption} ({told})") };
            self.push_table(rows, headers, header_columns, caption);
            top = bottom.saturating_add(1);
        }
    }

    fn push_table(&mut self, rows: Vec<Vec<Cell>>, header_rows: u32, header_columns: u32, caption: String) {
        let large = rows.len().saturating_mul(rows.first().map_or(0, Vec::len)) > LARGE;
        let table = Table { rows, header_rows, header_columns, caption };
        self.rows.push(if large { Row::large_table(self.section, table) } else { Row::table(self.section, table) });
    }

    /// The first rows of an area, for finding its headers.
    fn first_lines(&self, area: &Area) -> Vec<Line<'s>> {
        let cells: &'s Cells = &self.sheet.cells;
        let mut at = 0_usize;
        let mut lines = Vec::new();
        for row in (area.top..=area.bottom).take(header::LOOKED_AT) {
            let mut line = Line::default();
            at = cells.seek(at, row, area.left);
            while let Some(cell) = cells.get(at).filter(|cell| cell.row == row && cell.column <= area.right) {
                at = at.saturating_add(1);
                let merge = self.merges.at(row, cell.column);
                let covers = |merge: Area| merge.within(area).map(|part| (part.width(), part.height()));
                let (columns, rows) = merge.and_then(covers).unwrap_or((1, 1));
                line.cells.push(Span { cell, columns, rows });
            }
            lines.push(line);
        }
        lines
    }

    /// The cells of an area as rows of a table; merges end at `bottom`.
    fn grid(&self, area: &Area, bottom: u32) -> Vec<Vec<Cell>> {
        let cells = &self.sheet.cells;
        let mut free_from = vec![0_u32; area.width() as usize];
        let mut rows = Vec::with_capacity(area.height() as usize);
        let mut at = 0_usize;
        for row in area.top..=area.bottom {
            at = cells.seek(at, row, area.left);
            let mut line = Vec::with_capacity(area.width() as usize);
            let mut column = area.left;
            while column <= area.right {
                let slot = column.saturating_sub(area.left) as usize;
                if free_from.get(slot).is_some_and(|free| *free > row) {
                    column = column.saturating_add(1);
                    continue;
                }
                at = skip_to(cells, at, row, column);
                let here = cells.get(at).filter(|cell| (cell.row, cell.column) == (row, column));
                let text = here.map(|cell| cell.text).unwrap_or_default();
                let Some(merge) = self.merges.at(row, column).and_then(|merge| merge.within(&Area { bottom, ..*area })) else {
                    line.push(Cell::new(text));
                    column = column.saturating_add(1);
                    continue;
                };
                // Two merges never overlap in a sound sheet; in another one the first keeps its place.
                let room = (merge.left..=merge.right)
                    .take_while(|place| free_from.get(place.saturating_sub(area.left) as usize).is_some_and(|free| *free <= row))
                    .count();
                let width = u32::try_from(room).unwrap_or(1).max(1);
                line.push(Cell::spanning(text, merge.height(), width));
                for slot in free_from.iter_mut().skip(slot).take(room) {
                    *slot = merge.bottom.saturating_add(1);
                }
                column = column.saturating_add(width);
            }
            rows.push(line);
        }
        rows
    }

    /// Cells too far from each other for a grid: each with its name, a row of the sheet on one line.
    fn scattered(&mut self, region: &Region) {
        let cells = &self.sheet.cells;
        let area = region.area;
        let mut lines: Vec<String> = Vec::new();
        let mut last_row = None;
        let mut at = cells.seek(0, area.top, area.left);
        while let Some(cell) = cells.get(at).filter(|cell| cell.row <= area.bottom) {
            at = at.saturating_add(1);
            if !area.contains(cell.row, cell.column) {
                continue;
            }
            let told = format!("{}: {}", cells::name(cell.row, cell.column), cell.text);
            match lines.last_mut() {
                Some(line) if last_row == Some(cell.row) => {
                    line.push('\t');
                    line.push_str(&told);
                }
                _ => lines.push(told),
            }
            last_row = Some(cell.row);
        }
        self.rows.extend(lines.chunks(LINES).map(|lines| Row::text(self.section, lines.join("\n"))));
    }

    fn float(&mut self, float: &Float) {
        let row = match &float.what {
            Floating::Text(text) => Row::text(self.section, text.clone()),
            Floating::Picture(asset, alt) => Row { asset: *asset, ..Row::image(self.section, 0, alt.clone()) },
            Floating::Chart(told) => Row { asset: None, ..Row::image(self.section, 0, told.clone()) },
            Floating::Data(table) => Row::table(self.section, table.clone()),
            Floating::Note { author, text } => {
                let by = if author.is_empty() { String::new() } else { format!(" ({author})") };
                Row::text(self.section, format!("{}{by}: {text}", cells::name(float.row, float.column)))
            }
        };
        self.rows.push(row);
    }
}

fn skip_to(cells: &Cells, at: usize, row: u32, column: u32) -> usize {
    match cells.get(at) {
        Some(cell) if (cell.row, cell.column) < (row, column) => cells.seek(at, row, column),
        _ => at,
    }
}

/// Whether a lone cell is the title of the region that comes next.
fn is_title(cell: &CellView<'_>, own: &Region, next: &Region) -> bool {
    let over = own.area.left <= next.area.right && next.area.left <= own.area.right;
    let gap = next.area.top.saturating_sub(own.area.bottom);
    let short = !cell.text.contains('\n') && cell.text.chars().take(TITLE_CHARS.saturating_add(1)).count() <= TITLE_CHARS;
    over && (1..=TITLE_GAP).contains(&gap) && next.cells > 1 && !next.scattered && short
}

/// What of a sheet is hidden and holds something, in one line.
fn hidden_parts(sheet: &Sheet) -> Option<String> {
    let used = region::used_area(&sheet.cells)?;
    let range = |first: String, last: String| if first == last { first } else { format!("{first}–{last}") };
    let rows: Vec<String> = sheet
        .hidden_rows
        .iter()
        .filter(|(first, last)| {
            let at = sheet.cells.seek(0, *first, 0);
            sheet.cells.get(at).is_some_and(|cell| cell.row <= *last)
        })
        .map(|(first, last)| range(first.saturating_add(1).to_string(), last.min(&used.bottom).saturating_add(1).to_string()))
        .take(LINES)
        .collect();
    let filled: std::collections::BTreeSet<u32> = if sheet.hidden_columns.is_empty() {
        std::collections::BTreeSet::new()
    } else {
        sheet.cells.iter().map(|cell| cell.column).collect()
    };
    let columns: Vec<String> = sheet
        .hidden_columns
        .iter()
        .filter(|(first, last)| filled.range(*first..=(*last).max(*first)).next().is_some())
        .map(|(first, last)| range(cells::letters(*first), cells::letters(*last.min(&used.right))))
        .take(LINES)
        .collect();
    let told = [("rows", rows), ("columns", columns)].into_iter().filter(|(_, list)| !list.is_empty());
    let told: Vec<String> = told.map(|(what, list)| format!("{what} {}", list.join(", "))).collect();
    (!told.is_empty()).then(|| format!("Hidden: {}", told.join("; ")))
}
