//! Form fields of the old kind.

use quarry_document::xml::Element;

use crate::word::properties::{attribute, value, w};

/// What a form field of the old kind shows by itself: a check box, or the chosen entry of a list.
pub(crate) fn form_value(field_char: Element<'_>) -> Option<String> {
    let data = w(field_char, "ffData")?;
    if let Some(check) = w(data, "checkBox") {
        let on = |name| w(check, name).map(|state| !matches!(attribute(state, "val"), Some("0" | "false" | "off")));
        return Some(if on("checked").or_else(|| on("default")).unwrap_or_default() { "☒" } else { "☐" }.to_owned());
    }
    let list = w(data, "ddList")?;
    let chosen = value(list, "result").or_else(|| value(list, "default")).and_then(|index| index.parse::<usize>().ok()).unwrap_or_default();
    let entry = list.elements().filter(|entry| entry.name() == "listEntry").nth(chosen)?;
    attribute(entry, "val").map(str::to_owned)
}
