//! `quarry debug profile FILE`.

use std::path::Path;

use quarry_runtime::Config;
use serde_json::json;

use super::reading;
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) fn run(config: &Config, file: &Path, as_json: bool) -> Result<Exit, Failure> {
    let source = reading::open(file)?;
    let found = reading::profile(&source, &config.limits)?;
    let profile = reading::whole_profile(&found, &source, &config.limits)?;
    let row = found.format.row();
    let reader = row.family.map(quarry_model::Family::function);
    if as_json {
        output::json(&json!({
            "file_name": source.name,
            "size": source.bytes.len(),
            "profile": profile,
            "media_type": found.format.media_type(),
            "parser": reader,
        }))?;
        return Ok(Exit::Ok);
    }
    output::text(format!("format    {} ({})", found.format.name(), found.format.media_type()))?;
    if let Some(claimed) = found.claimed {
        output::text(format!("claimed   {} by its name", claimed.name()))?;
    }
    if let Some(encoding) = &found.encoding {
        output::text(format!("encoding  {encoding}"))?;
    }
    output::text(format!("category  {}, read as {}", profile.category, profile.routing_category))?;
    for line in profile.pdf.iter().flat_map(|pdf| &pdf.evidence) {
        output::text(format!("evidence  {line}"))?;
    }
    output::text(format!("parser    {}", reader.unwrap_or("none: this format is recognised but not read")))?;
    Ok(Exit::Ok)
}
