//! `query_table`: one SELECT over one table, in a database of its own that holds nothing else and may do nothing else.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use quarry_document::grid;
use quarry_model::{ApiCode, ApiError, ChunkType, ObjectKey, Table};
use quarry_ports::ObjectError;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};
use serde::Deserialize;

use super::documents::one_line;
use super::page::{DATA_NOTE, Page};
use super::reference::Reference;
use super::{Call, ToolAnswer, failure};

/// Longest statement, in bytes.
const SQL_BYTES: usize = 4_000;
/// Longest time of one statement.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often time is looked at, in steps of the database's machine.
const STEPS: i32 = 1_000;
/// Longest single value, in bytes.
const VALUE_BYTES: i32 = 1 << 20;
/// Most columns of a table.
const COLUMNS: usize = 400;
/// Rows shown when there is no statement.
const SAMPLE: &str = "SELECT * FROM t LIMIT 5";
/// Most rows that are counted past those shown.
const COUNTED: usize = 100_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(rename = "ref")]
    reference: String,
    sql: Option<String>,
}

pub(super) async fn query_table(call: Call<'_>) -> Result<ToolAnswer, ApiError> {
    let arguments: Arguments = call.arguments()?;
    let sql = arguments.sql.filter(|sql| !sql.trim().is_empty()).unwrap_or_else(|| SAMPLE.to_owned());
    if sql.len() > SQL_BYTES {
        return Err(ApiError::invalid_field("sql", &format!("has at most {SQL_BYTES} bytes")));
    }
    let html = table_html(&call, &arguments.reference).await?;
    let budget = call.budget;
    let work = tokio::task::spawn_blocking(move || {
        let table = grid::from_html(&html).ok_or_else(|| ApiError::invalid_field("ref", "is a table that cannot be queried; `read` it"))?;
        answer(&table, &sql, budget)
    });
    work.await.map_err(|_| ApiError::internal())?
}

/// The whole table, of which the chunk may be a window.
async fn table_html(call: &Call<'_>, reference: &str) -> Result<String, ApiError> {
    let reference: Reference = reference.parse()?;
    let Reference::Chunk(document, ordinal) = &reference else {
        return Err(ApiError::invalid_field("ref", "must name a chunk: doc_…#12"));
    };
    let reader = call.reader().await?.ok_or_else(|| ApiError::not_found("Chunk", &reference.to_string()))?;
    let found = reader.corpus().fetch(&[(document.clone(), *ordinal)]).await.map_err(|error| failure(&error.into()))?;
    let stored = found.into_iter().next().ok_or_else(|| ApiError::not_found("Chunk", &reference.to_string()))?;
    let chunk = &stored.indexed.chunk;
    if chunk.kind != ChunkType::Table {
        return Err(ApiError::invalid_field("ref", "is no table; `assets` with type table lists the tables"));
    }
    let Some(file) = chunk.metadata.file_path.as_ref() else { return Ok(chunk.content.clone()) };
    let key = ObjectKey::artifact(&call.scope, document, &stored.revision, file);
    match call.tools.objects.get(&key).await {
        Ok((bytes, _)) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(ObjectError::NotFound(_)) => Ok(chunk.content.clone()),
        Err(error) => Err(failure(&error.into())),
    }
}

fn answer(table: &Table, sql: &str, budget: u32) -> Result<ToolAnswer, ApiError> {
    let rows = dense(table);
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if width == 0 || width > COLUMNS {
        return Err(ApiError::invalid_field("ref", &format!("is a table of {width} columns; 1 to {COLUMNS} can be queried")));
    }
    let headers = (table.header_rows as usize).min(rows.len());
    let names = names(&rows[..headers], width);
    let mut database = filled(&names, &rows[headers..]).map_err(|error| broken(&error))?;
    restrict(&mut database).map_err(|error| broken(&error))?;
    let mut page = Page::new(budget);
    page.head(DATA_NOTE);
    page.head(&format!(
        "table t: {} rows, columns {}",
        rows.len() - headers,
        names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
    ));
    let mut statement = database.prepare(sql).map_err(|error| refused(&error))?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(ApiError::invalid_field("sql", "must be one SELECT"));
    }
    let columns = statement.column_names().map(one_line).collect::<Vec<_>>().join(" | ");
    page.head(&columns);
    let count = statement.column_count();
    let mut found = statement.query([]).map_err(|error| refused(&error))?;
    let mut at = 0;
    while let Some(row) = found.next().map_err(|error| refused(&error))? {
        at += 1;
        if at > COUNTED {
            page.leave_out("rows not counted");
            break;
        }
        let cells =
            (0..count).map(|column| row.get_ref(column).map(shown)).collect::<Result<Vec<_>, _>>().map_err(|error| refused(&error))?;
        page.push(&format!("row {at}"), &cells.join(" | "));
    }
    let mut answer = page.finish();
    // Rows of a result are nothing that other tools could be handed.
    answer.refs.clear();
    Ok(answer)
}

/// Every cell in every place that it covers.
fn dense(table: &Table) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::with_capacity(table.rows.len());
    // Of each column: how many rows from here on are covered from above, and by what.
    let mut above: Vec<(u32, String)> = Vec::new();
    for row in &table.rows {
        let mut out: Vec<String> = Vec::new();
        let mut cells = row.iter();
        loop {
            let column = out.len();
            if let Some((left, text)) = above.get_mut(column).filter(|(left, _)| *left > 0) {
                *left -= 1;
                out.push(text.clone());
                continue;
            }
            let Some(cell) = cells.next() else { break };
            let text = cell.text.trim().to_owned();
            for _ in 0..cell.colspan.min(COLUMNS as u32 + 1) {
                let column = out.len();
                if above.len() <= column {
                    above.resize(column + 1, (0, String::new()));
                }
                above[column] = (cell.rowspan.saturating_sub(1), text.clone());
                out.push(text.clone());
            }
        }
        rows.push(out);
    }
    rows
}

/// Names of columns: what their header cells say, from the top, each once.
fn names(headers: &[Vec<String>], width: usize) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut names = Vec::with_capacity(width);
    for column in 0..width {
        let mut parts: Vec<&str> = Vec::new();
        for row in headers {
            let part = row.get(column).map_or("", String::as_str);
            if !part.is_empty() && parts.last() != Some(&part) {
                parts.push(part);
            }
        }
        let said: String = one_line(&parts.join(" ")).replace('"', "'");
        let base = if said.is_empty() { format!("c{}", column + 1) } else { said };
        // SQLite does not tell names apart by case.
        let mut name = base.clone();
        for n in 2.. {
            if taken.insert(name.to_lowercase()) {
                break;
            }
            name = format!("{base} ({n})");
        }
        names.push(name);
    }
    names
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn filled(names: &[String], rows: &[Vec<String>]) -> rusqlite::Result<Connection> {
    let mut database = Connection::open_in_memory()?;
    let columns = names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    database.execute_batch(&format!("CREATE TABLE t ({columns})"))?;
    let transaction = database.transaction()?;
    {
        let places = vec!["?"; names.len()].join(", ");
        let mut insert = transaction.prepare(&format!("INSERT INTO t VALUES ({places})"))?;
        for row in rows {
            let values = (0..names.len()).map(|column| row.get(column).map_or(Value::Null, |text| value(text)));
            insert.execute(params_from_iter(values))?;
        }
    }
    transaction.commit()?;
    Ok(database)
}

/// A number where the cell is one, thousands separated by commas or not; else its text.
fn value(text: &str) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    let digits = text.strip_prefix(['-', '+', '−']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let groups: Vec<&str> = whole.split(',').collect();
    let grouped = groups.len() == 1 || (groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    // `007` is a name.
    let named = whole.len() > 1 && whole.starts_with('0');
    if !grouped || named || !groups.iter().all(|group| all_digits(group)) || !all_digits(fraction) {
        return Value::Text(text.to_owned());
    }
    let plain = text.replace(',', "").replace('−', "-");
    if let Ok(number) = plain.trim_start_matches('+').parse::<i64>() {
        return Value::Integer(number);
    }
    plain.parse::<f64>().map_or_else(|_| Value::Text(text.to_owned()), Value::Real)
}

/// Only reading `t`, only for so long, nothing large.
fn restrict(database: &mut Connection) -> rusqlite::Result<()> {
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES as i32),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 60),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 10),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    ] {
        database.set_limit(limit, most)?;
    }
    database.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Function { .. } => Authorization::Allow,
        AuthAction::Read { table_name, .. } if !table_name.starts_with("sqlite_") => Authorization::Allow,
        _ => Authorization::Deny,
    }))?;
    let began = Instant::now();
    database.progress_handler(STEPS, Some(move || began.elapsed() > PATIENCE))
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => one_line(&String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

/// The statement is at fault; SQLite's own sentence says how.
fn refused(error: &rusqlite::Error) -> ApiError {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) {
        return ApiError::new(ApiCode::DeadlineExceeded, format!("The statement took longer than {} s. Ask for less.", PATIENCE.as_secs()));
    }
    let said: String = one_line(&error.to_string()).chars().take(200).collect();
    ApiError::invalid_field("sql", &format!("must be one SELECT over t: {said}"))
}

fn broken(error: &rusqlite::Error) -> ApiError {
    tracing::error!(target: "quarry::tools", %error, "a table cannot be loaded");
    ApiError::internal()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quarry_model::Cell;

    fn pumps() -> Table {
        let row = |cells: [&str; 3]| cells.into_iter().map(Cell::new).collect::<Vec<_>>();
        let mut rows = vec![row(["Pump", "Flow", "Flow"]), row(["P-12", "1,200", "007"]), row(["P-13", "80.5", "n/a"])];
        rows[1][0] = Cell::spanning("P-12", 2, 1);
        rows[2].remove(0);
        Table { rows, header_rows: 1, ..Table::default() }
    }

    fn asked(sql: &str) -> Result<String, ApiError> {
        answer(&pumps(), sql, 600).map(|answer| answer.text)
    }

    #[test]
    fn numbers_are_numbers_and_spans_are_filled() {
        let text = asked("SELECT Pump, sum(Flow) AS total FROM t GROUP BY Pump").unwrap();
        assert!(text.ends_with("Pump | total\nP-12 | 1280.5"), "{text}");
        let text = asked("SELECT \"Flow (2)\" FROM t ORDER BY Flow").unwrap();
        assert!(text.ends_with("Flow (2)\nn/a\n007"), "{text}");
    }

    #[test]
    fn nothing_but_one_select_is_run() {
        for sql in [
            "DELETE FROM t",
            "SELECT 1; SELECT 2",
            "ATTACH '/etc/passwd' AS x",
            "PRAGMA table_info(t)",
            "SELECT * FROM sqlite_master",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
            "SELECT load_extension('x')",
            "SELECT zeroblob(100000000)",
            "SELECT * FROM nowhere",
            "CREATE TABLE x (y)",
            "nonsense",
        ] {
            let error = asked(sql).unwrap_err();
            assert_eq!(error.code, ApiCode::InvalidArgument, "{sql}: {error}");
        }
    }

    #[test]
    fn a_statement_without_end_is_ended() {
        let joins = (0..40).map(|n| format!("t AS t{n}")).collect::<Vec<_>>().join(", ");
        let error = asked(&format!("SELECT count(*) FROM {joins}")).unwrap_err();
        assert_eq!(error.code, ApiCode::DeadlineExceeded, "{error}");
    }

    #[test]
    fn rows_that_do_not_fit_are_counted() {
        let rows = std::iter::once(vec![Cell::new("n")]).chain((0..5_000).map(|n| vec![Cell::new(n.to_string())])).collect();
        let answer = answer(&Table { rows, header_rows: 1, ..Table::default() }, "SELECT n FROM t", 400).unwrap();
        assert!(answer.truncated && answer.tokens <= 400, "{answer:?}");
        assert!(answer.left_out.last().unwrap().ends_with(" more"), "{:?}", answer.left_out);
    }
}
