//! Tests of row windows.

use super::*;
use crate::grid::text_of;
use proptest::prelude::*;

fn limits(chunk_tokens: u32) -> Limits {
    Limits { chunk_tokens, ..Limits::default() }
}

fn check(table: &Table, max: u32) -> Vec<TableWindow> {
    let windows = windows(table, &limits(max));
    for window in &windows {
        assert!(tokens::count(&window.html) <= max, "{} tokens: {}", tokens::count(&window.html), window.html);
        assert!(window.html.starts_with("<table>") && window.html.ends_with("</table>"));
    }
    windows
}

fn body(columns: usize, rows: usize, text: impl Fn(usize, usize) -> String) -> Table {
    let rows = (0..rows).map(|r| (0..columns).map(|c| Cell::new(text(r, c))).collect()).collect();
    Table { rows, header_rows: 1, ..Table::default() }
}

#[test]
fn a_cell_that_reaches_into_a_window_is_repeated_there() {
    let mut table = body(2, 40, |r, c| format!("cell {r} {c}"));
    for row in 2..40 {
        table.rows[row].remove(0);
    }
    table.rows[1][0] = Cell::spanning("group", 39, 1);
    let windows = check(&table, 200);
    assert!(windows.len() > 2);
    for window in &windows {
        let [first, last, _] = window.rows.unwrap();
        assert!(window.html.contains(&format!("<td rowspan=\"{}\">group</td>", last - first + 1)), "{}", window.html);
    }
}

#[test]
fn a_row_too_large_by_itself_is_cut_between_and_inside_cells() {
    let long = "This cell holds a whole article. ".repeat(100);
    let table = body(3, 3, |r, c| if (r, c) == (1, 1) { long.clone() } else { format!("{r}{c}") });
    let windows = check(&table, 300);
    let words: String = windows.iter().map(|w| text_of(&w.html)).collect();
    assert_eq!(words.matches("whole article").count(), 100);
    let head = "<tr><th>00</th><th>01</th></tr>\n</thead>\n<tbody>\n<tr><td>10</td><td>This cell";
    assert!(windows[1].html.contains(head), "each part names its row and its column: {}", windows[1].html);
    assert!(words.contains("10") && words.contains("12") && words.contains("22"));
}

#[test]
fn headers_too_wide_to_repeat_are_repeated_by_columns() {
    let table = body(400, 3, |r, c| format!("v{r}x{c}"));
    let windows = check(&table, 300);
    assert!(windows.iter().all(|w| w.html.contains("<thead>")));
    let words: String = windows.iter().map(|w| text_of(&w.html)).collect();
    for c in 0..400 {
        assert!((0..3).all(|r| words.contains(&format!("v{r}x{c}\t"))), "{c}");
    }
}

#[test]
fn long_headers_and_captions_are_told_once() {
    let mut table = body(2, 30, |r, c| if r == 0 { "a very long header ".repeat(60) } else { format!("{r} {c}") });
    table.caption = "long caption ".repeat(100);
    let words: String = check(&table, 300).iter().map(|w| text_of(&w.html)).collect();
    assert_eq!((words.matches("long header").count(), words.matches("long caption").count()), (120, 100));
}

#[test]
fn markup_quoted_in_cells_stays_within_the_limit() {
    check(&body(2, 4, |_, _| "<&>".repeat(900)), 300);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_cell_is_in_some_window(
        cells in prop::collection::vec(prop::collection::vec(("[a-z<&]{1,12}( [a-z]{1,8}){0,30}", 1_u32..4, 1_u32..4), 1..6), 1..14),
        header_rows in 0_u32..3,
    ) {
        let rows: Vec<Vec<Cell>> = cells.iter().map(|r| r.iter().map(|(t, a, b)| Cell::spanning(t.clone(), *a, *b)).collect()).collect();
        let table = Table { rows, header_rows, ..Table::default() };
        let words: String = check(&table, 160).iter().map(|w| text_of(&w.html).split_whitespace().collect::<Vec<_>>().join(" ") + " ").collect();
        for (text, _, _) in cells.iter().flatten() {
            for word in text.split_whitespace() {
                prop_assert!(words.contains(word), "{word} not in {words}");
            }
        }
    }
}
