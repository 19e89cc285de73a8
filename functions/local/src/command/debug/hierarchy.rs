//! `quarry debug hierarchy FILE`: the heading tree with what made each heading one.

use std::path::Path;

use quarry_model::HierarchyNode;
use quarry_runtime::Config;
use serde_json::Value;

use super::reading;
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) fn run(config: &Config, file: &Path, as_json: bool) -> Result<Exit, Failure> {
    let source = reading::open(file)?;
    let folder = reading::parse(file, &source, &config.limits)?;
    if as_json {
        output::json(&folder.hierarchy)?;
        return Ok(Exit::Ok);
    }
    let mut open: Vec<(usize, &HierarchyNode)> = folder.hierarchy.headings.iter().rev().map(|node| (0, node)).collect();
    while let Some((depth, node)) = open.pop() {
        let evidence = serde_json::to_value(node.evidence)?;
        let evidence = if let Value::String(name) = &evidence { name.as_str() } else { "text before the first heading" };
        let was = node.original_level.map(|level| format!(", was {level}")).unwrap_or_default();
        let page = node.page.map(|page| format!("  p. {page}")).unwrap_or_default();
        let title = output::line(&node.title, 100);
        output::text(format!("{}{title}  (level {}{was}, {evidence}){page}", "  ".repeat(depth), node.level))?;
        open.extend(node.children.iter().rev().map(|child| (depth + 1, child)));
    }
    Ok(Exit::Ok)
}
