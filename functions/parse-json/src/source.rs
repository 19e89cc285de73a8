//! Which values a file holds: one, several in a row, or one a line.

use quarry_model::{DocumentCode, DocumentFailure, Limits, Warning};
use serde::de::IgnoredAny;

use crate::value::Value;

/// Broken lines named in a warning.
const NAMED: usize = 5;

/// The values of a file as one, and what is no value.
pub(crate) struct Document<'a> {
    pub(crate) value: Value<'a>,
    /// Text that is no JSON, kept as it is.
    pub(crate) broken: Vec<&'a str>,
    pub(crate) warnings: Vec<Warning>,
}

/// A JSON file. Programs also write several values one after the other under that name: those are read as an array.
pub(crate) fn document<'a>(text: &'a str, limits: &Limits) -> Result<Document<'a>, DocumentFailure> {
    let whole = match Value::parse(text, &mut { limits.workbook_cells }) {
        Ok(value) => return Ok(Document { value, broken: Vec::new(), warnings: Vec::new() }),
        Err(failure) if failure.code != DocumentCode::Corrupt => return Err(failure),
        Err(failure) => failure,
    };
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let mut pieces = Vec::new();
    let mut start = 0;
    while let Some(Ok(_)) = stream.next() {
        let end = stream.byte_offset();
        pieces.extend(text.get(start..end).map(str::trim).filter(|piece| !piece.is_empty()));
        start = end;
    }
    // One value and then something else is a damaged file; two and more are a habit.
    if pieces.len() < 2 {
        return Err(whole);
    }
    let rest = text.get(start..).unwrap_or_default().trim();
    let mut left = limits.workbook_cells;
    let values = pieces.into_iter().map(|piece| Value::parse(piece, &mut left)).collect::<Result<_, _>>()?;
    let broken: Vec<&str> = Some(rest).filter(|rest| !rest.is_empty()).into_iter().collect();
    let warnings =
        broken.iter().map(|_| Warning::new(DocumentCode::Corrupt, format!("kept as text after the last value: {}", whole.detail)));
    Ok(Document { value: Value::Array(values), warnings: warnings.collect(), broken })
}

/// A file of one value a line. A line that is none is kept as text and named in a warning.
pub(crate) fn lines<'a>(text: &'a str, limits: &Limits) -> Result<Document<'a>, DocumentFailure> {
    let mut left = limits.workbook_cells;
    let (mut values, mut broken, mut named) = (Vec::new(), Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate().map(|(index, line)| (index, line.trim())).filter(|(_, line)| !line.is_empty()) {
        match Value::parse(line, &mut left) {
            Ok(value) => values.push(value),
            Err(failure) if failure.code != DocumentCode::Corrupt => return Err(failure),
            Err(_) => {
                broken.push(line);
                if named.len() < NAMED {
                    named.push(index.saturating_add(1).to_string());
                }
            }
        }
    }
    // Values over several lines are no lines at all.
    if values.is_empty() || broken.len() > values.len() {
        return document(text, limits);
    }
    let mut warnings = Vec::new();
    if !broken.is_empty() {
        let more = if broken.len() > named.len() { ", …" } else { "" };
        let message = format!("{} line(s) are not JSON and were kept as text: {}{more}", broken.len(), named.join(", "));
        warnings.push(Warning::new(DocumentCode::Corrupt, message));
    }
    Ok(Document { value: Value::Array(values), broken, warnings })
}
