//! `parse_docx debug parse FILE --out DIR`: one document into one revision folder, nothing else.

use anyhow::{Context as _, bail};
use quarry_document::{RevisionRequest, parse_to_folder};
use quarry_model::message::Profile;
use quarry_model::{DocumentId, Format, Limits};
use quarry_ports::SystemClock;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [_, _, file, _, out] = arguments.as_slice() else { bail!("usage: parse_docx debug parse FILE --out DIR") };
    let bytes = bytes::Bytes::from(std::fs::read(file).with_context(|| file.clone())?);
    let file_name = std::path::Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let request = RevisionRequest {
        job_id: None,
        data_id: None,
        document_id: DocumentId::from_random([0; 6]),
        file_name,
        profile: Profile {
            format: Format::Docx,
            claimed_format: None,
            encoding: None,
            category: String::new(),
            routing_category: "generic".to_owned(),
        },
        parsing_params: serde_json::Map::new(),
    };
    let folder = parse_to_folder(&quarry_parse_docx::DocxParser, &bytes, &request, &Limits::default(), &SystemClock)?;
    for artifact in folder.files {
        let path = std::path::Path::new(out).join(&artifact.name);
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        std::fs::write(path, &artifact.bytes)?;
    }
    Ok(())
}
