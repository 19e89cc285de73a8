//! One cell while it is read.

use std::borrow::Cow;

use quarry_document::xml::Tag;

use crate::cells::Kind;
use crate::formats::general;

/// What a cell's element says, and the text that came so far.
#[derive(Debug, Default)]
pub(super) struct Cell {
    pub style: String,
    pub text: String,
    /// How many cells in a row are equal.
    pub repeated: u32,
    pub columns: u32,
    pub rows: u32,
    kind: String,
    value: String,
}

impl Cell {
    pub(super) fn of(tag: &Tag<'_>) -> Self {
        let mut cell = Self { repeated: 1, columns: 1, rows: 1, ..Self::default() };
        for (name, value) in tag.attributes() {
            let number = || value.parse::<u32>().unwrap_or(1).max(1);
            match name {
                "style-name" => cell.style = value.into_owned(),
                "number-columns-repeated" => cell.repeated = number(),
                "number-columns-spanned" => cell.columns = number(),
                "number-rows-spanned" => cell.rows = number(),
                // `calcext:value-type` says "error" where `office:value-type` says "string".
                "value-type" if cell.kind.is_empty() || value == "error" => cell.kind = value.into_owned(),
                "value" | "date-value" | "time-value" | "boolean-value" | "string-value" => cell.value = value.into_owned(),
                _ => {}
            }
        }
        cell
    }

    pub(super) fn kind(&self) -> Kind {
        match self.kind.as_str() {
            "float" | "percentage" | "currency" => Kind::Number,
            "date" | "time" => Kind::Date,
            "boolean" | "error" => Kind::Other,
            _ => Kind::Text,
        }
    }

    /// What the cell shows; its value where it shows nothing.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        if !self.text.trim().is_empty() {
            return Cow::Borrowed(&self.text);
        }
        match (self.kind(), self.value.parse::<f64>()) {
            (Kind::Number, Ok(number)) => {
                let mut out = String::new();
                general(number, &mut out);
                Cow::Owned(out)
            }
            (Kind::Other, _) => Cow::Owned(self.value.to_uppercase()),
            _ => Cow::Borrowed(&self.value),
        }
    }
}
