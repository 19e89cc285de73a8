//! `toc_hierarchies.json`: the source's own table of contents, in the form Knowhere's clients read.

use std::fmt::Write as _;

use quarry_model::Heading;
use serde_json::{Map, Value, json};

/// The file, or `None` when the source has no table of contents.
pub(super) fn write(outline: &[Heading]) -> Option<Value> {
    if outline.is_empty() {
        return None;
    }
    let mut table = String::from("| id | heading | level |\n|----|---|---|");
    for (index, entry) in outline.iter().enumerate() {
        let title = entry.title.replace('|', "\\|");
        let _ = write!(table, "\n| {} | {title} | {} |", index.saturating_add(1), entry.level);
    }
    let entries: Vec<Value> = outline.iter().map(|e| json!({ "title": e.title, "level": e.level, "page": e.page })).collect();
    let mut rest = outline;
    let tree = nested(&mut rest, 0, MOST_LEVELS);
    Some(json!([{ "toc_range": [1, outline.len()], "toc_with_level": table, "toc_tree": tree, "entries": entries }]))
}

const MOST_LEVELS: u32 = 32;

/// Takes entries deeper than `above` from the front, each with those below it.
fn nested(rest: &mut &[Heading], above: u32, depth: u32) -> Map<String, Value> {
    let mut map = Map::new();
    while let Some((first, after)) = rest.split_first() {
        if first.level <= above && above > 0 {
            break;
        }
        *rest = after;
        let below = if depth == 0 { Map::new() } else { nested(rest, first.level, depth.saturating_sub(1)) };
        let mut name = first.title.clone();
        let mut number = 1_u32;
        while map.contains_key(&name) {
            number = number.saturating_add(1);
            name = format!("{} ({number})", first.title);
        }
        map.insert(name, Value::Object(below));
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;
    use quarry_model::Evidence;

    #[test]
    fn a_tree_and_a_table() {
        let entry = |level, title: &str| Heading { title: title.into(), number: None, level, page: Some(level), evidence: Evidence::Toc };
        let file = write(&[entry(1, "A"), entry(2, "B|C"), entry(2, "D"), entry(1, "A"), entry(3, "E")]).unwrap();
        assert_eq!(file[0]["toc_tree"], json!({ "A": { "B|C": {}, "D": {} }, "A (2)": { "E": {} } }));
        assert!(file[0]["toc_with_level"].as_str().unwrap().contains("| 2 | B\\|C | 2 |"));
        assert_eq!(write(&[]), None);
    }
}
