//! `SmartArt`: the words of its data model, as an outline.

use std::collections::{BTreeMap, BTreeSet};

use quarry_document::Warnings;
use quarry_document::xml::{Element, Ns};
use quarry_model::{DocumentCode, DocumentFailure};

use crate::drawing;
use crate::package::{Package, Relationships};

/// Deepest indentation shown.
const MAX_LEVEL: usize = 8;

/// One point of a diagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Its words; lines separated by `\n`, never empty.
    pub text: String,
    /// How many points it stands below, 0 to 8.
    pub level: usize,
}

/// Reads the data model of the diagram that a drawing refers to.
pub fn find(
    reference: Element<'_>,
    package: &mut Package<'_>,
    relationships: &Relationships,
    warnings: &mut Warnings,
) -> Result<Vec<Point>, DocumentFailure> {
    let Some(part) = reference.attribute(Ns::R, "dm").and_then(|id| relationships.part(id)) else {
        warnings.partial(DocumentCode::Corrupt, "a diagram's relationship is missing");
        return Ok(Vec::new());
    };
    Ok(package.linked_tree(part, warnings)?.map(|tree| points(tree.root())).unwrap_or_default())
}

/// The points of a data model that say anything, in the order of its connections, children after their parent.
fn points(model: Element<'_>) -> Vec<Point> {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    let mut roots: Vec<&str> = Vec::new();
    for point in list(model, "ptLst", "pt") {
        let Some(id) = point.attribute(Ns::None, "modelId") else { continue };
        match point.attribute(Ns::None, "type") {
            Some("doc") => roots.push(id),
            None | Some("node" | "asst") => order.push(id),
            // Presentation points and transitions repeat what nodes say, or say nothing.
            Some(_) => continue,
        }
        let body = point.child(Ns::Dgm, "t");
        let paragraphs = body.into_iter().flat_map(Element::elements).filter(|paragraph| paragraph.is(Ns::A, "p"));
        let lines: Vec<String> = paragraphs.map(drawing::text).filter(|line| !line.is_empty()).collect();
        texts.insert(id, lines.join("\n"));
    }
    let mut children: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
    for connection in list(model, "cxnLst", "cxn") {
        if !matches!(connection.attribute(Ns::None, "type"), None | Some("parOf")) {
            continue;
        }
        let ends = connection.attribute(Ns::None, "srcId").zip(connection.attribute(Ns::None, "destId"));
        if let Some((parent, child)) = ends {
            let place = connection.attribute(Ns::None, "srcOrd").and_then(|place| place.parse().ok()).unwrap_or(u32::MAX);
            children.entry(parent).or_default().push((place, child));
        }
    }
    for list in children.values_mut() {
        list.sort_by_key(|(place, _)| *place);
    }

    let (mut out, mut seen) = (Vec::new(), BTreeSet::new());
    // Points that no connection reaches still speak, after the others.
    for start in roots.into_iter().chain(order) {
        let mut stack = vec![(start, 0_usize)];
        while let Some((id, depth)) = stack.pop() {
            let Some(text) = texts.get(id).filter(|_| seen.insert(id)) else { continue };
            if !text.is_empty() {
                out.push(Point { text: text.clone(), level: depth.saturating_sub(1).min(MAX_LEVEL) });
            }
            let below = children.get(id).into_iter().flatten().rev();
            stack.extend(below.map(|(_, child)| (*child, depth.saturating_add(1))));
        }
    }
    out
}

fn list<'t>(model: Element<'t>, list: &str, item: &str) -> Vec<Element<'t>> {
    let list = model.child(Ns::Dgm, list);
    list.into_iter().flat_map(Element::elements).filter(|child| child.is(Ns::Dgm, item)).collect()
}
