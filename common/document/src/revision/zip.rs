//! `result.zip`: fixed order, fixed times, fixed compression.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::Artifact;

pub(super) fn write<'a>(files: impl Iterator<Item = &'a Artifact>) -> Result<Vec<u8>, zip::result::ZipError> {
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        // Pictures are compressed already.
        let method = if file.name.starts_with("images/") { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644)
            .large_file(file.bytes.len() > u32::MAX as usize);
        out.start_file(file.name.as_str(), options)?;
        out.write_all(&file.bytes)?;
    }
    Ok(out.finish()?.into_inner())
}
