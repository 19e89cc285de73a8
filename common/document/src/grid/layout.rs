//! Where each cell of a table stands.

use quarry_model::Table;

/// The words of a table, one row a line.
pub(crate) fn plain_text(table: &Table) -> String {
    let _ = table;
    String::new()
}
