//! `diagnostics/`: for those who ask why a document was read the way it was.

use quarry_model::message::Profile;
use quarry_model::{DocumentFailure, SCHEMA_VERSION, Warning};
use serde_json::json as value;

use super::{Artifact, json};
use crate::heading::SectionTree;

pub(super) fn write(profile: &Profile, tree: &SectionTree, warnings: &[Warning]) -> Result<Vec<Artifact>, DocumentFailure> {
    let headings: Vec<_> = tree
        .sections()
        .iter()
        .filter(|section| section.evidence.is_some())
        .map(|section| {
            value!({
                "section_id": section.id, "title": section.title, "level": section.level,
                "original_level": section.original_level.unwrap_or(section.level), "page": section.page, "evidence": section.evidence,
            })
        })
        .collect();
    let file = |name: &str, content: &serde_json::Value| {
        Ok(Artifact { name: format!("diagnostics/{name}.json"), media_type: "application/json", bytes: json(content)? })
    };
    let mut files = vec![file("profile", &value!({ "schema_version": SCHEMA_VERSION, "profile": profile }))?];
    if let Some(anatomy) = profile.pdf.as_ref().and_then(|pdf| pdf.anatomy.as_ref()) {
        files.push(file("anatomy", &value!({ "schema_version": SCHEMA_VERSION, "anatomy": anatomy }))?);
    }
    files.push(file("headings", &value!({ "schema_version": SCHEMA_VERSION, "headings": headings }))?);
    files.push(file("warnings", &value!({ "schema_version": SCHEMA_VERSION, "warnings": warnings }))?);
    Ok(files)
}
