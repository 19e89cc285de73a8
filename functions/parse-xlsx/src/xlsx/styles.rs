//! The styles part: of each cell style its number format, and whether it is bold.

use std::collections::BTreeMap;

use quarry_document::xml::{Element, Ns};

use super::is_true;
use crate::formats::{Formats, builtin};

pub(super) fn read(root: Element<'_>, date1904: bool) -> Formats {
    let number = |element: Element<'_>, name| element.attribute(Ns::None, name).and_then(|value| value.parse::<u32>().ok());
    let list = |name| root.child(Ns::S, name).into_iter().flat_map(Element::elements).filter(|element| element.ns() == Ns::S);
    let codes: BTreeMap<u32, &str> =
        list("numFmts").filter_map(|format| Some((number(format, "numFmtId")?, format.attribute(Ns::None, "formatCode")?))).collect();
    let bold: Vec<bool> =
        list("fonts").map(|font| font.child(Ns::S, "b").is_some_and(|bold| bold.attribute(Ns::None, "val").is_none_or(is_true))).collect();
    let mut formats = Formats::new(date1904);
    for style in list("cellXfs") {
        let id = number(style, "numFmtId").unwrap_or_default();
        let font = number(style, "fontId").unwrap_or_default() as usize;
        formats.add(codes.get(&id).copied().unwrap_or_else(|| builtin(id)), bold.get(font).copied().unwrap_or_default());
    }
    formats
}
