//! `manifest.json`.

use bytes::Bytes;
use quarry_model::manifest::{
    Files, ImageFile, ParserInfo, Processing, ProfileInfo, Quality, QualityStatus, SourceInfo, Stages, Statistics, TableFile, Timing,
};
use quarry_model::{Chunk, Limits, Manifest, Parsed, SCHEMA_VERSION, Timestamp};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::build::Times;
use super::{RevisionRequest, nav, revision_of};
use crate::assets::Pictures;
use crate::chunks::{PictureFile, StoredTable};
use crate::enrich::Enrichment;
use crate::heading::SectionTree;
use crate::parser::Parser;

/// What a manifest is made from.
pub(super) struct Facts<'a> {
    pub parser: &'a dyn Parser,
    pub bytes: &'a Bytes,
    pub request: &'a RevisionRequest,
    pub parsed: &'a Parsed,
    pub enrichment: &'a Enrichment,
    pub limits: &'a Limits,
    pub tree: &'a SectionTree,
    pub chunks: &'a [Chunk],
    pub images: Vec<ImageFile>,
    pub tables: Vec<TableFile>,
    pub times: Times,
    pub completed: Timestamp,
}

pub(super) fn build(facts: &Facts<'_>) -> Manifest {
    let Facts { parser, bytes, request, parsed, limits, .. } = facts;
    let blake3 = blake3::hash(bytes).to_hex().to_string();
    let profile = &request.profile;
    let stats = nav::stats(facts.chunks.iter(), facts.tree.depth());
    let tokens = facts.chunks.iter().map(|chunk| u64::from(chunk.metadata.token_count)).fold(0, u64::saturating_add);
    Manifest {
        schema_version: SCHEMA_VERSION,
        version: "2.0".to_owned(),
        job_id: request.job_id.clone(),
        data_id: request.data_id.clone(),
        document_id: request.document_id.clone(),
        revision: revision_of(*parser, &blake3, &request.parsing_params),
        source_file_name: request.file_name.clone(),
        source: SourceInfo {
            sha256: hex::encode(Sha256::digest(bytes)),
            blake3,
            size_bytes: bytes.len() as u64,
            media_type: profile.format.media_type().to_owned(),
            detected_format: profile.format,
            claimed_format: profile.claimed_format,
            pages: parsed.page_count,
        },
        processing_date: facts.completed,
        processing: Processing {
            page_count: parsed.page_count.unwrap_or(0),
            timing: Timing {
                started_at: facts.times.started,
                completed_at: facts.completed,
                duration_ms: elapsed(facts.times.started, facts.completed),
            },
            stages: Stages { timing_ms: stage_times(facts), token_usage: facts.enrichment.usage.clone() },
            parser: ParserInfo { name: parser.name().to_owned(), version: parser.version().to_owned() },
            models: facts.enrichment.models.clone(),
            limits: (*limits).clone(),
        },
        profile: ProfileInfo {
            category: facts.enrichment.category.clone().unwrap_or_else(|| profile.category.clone()),
            routing_category: profile.routing_category.clone(),
        },
        statistics: Statistics {
            total_chunks: stats.total_chunks,
            text_chunks: stats.text_chunks,
            image_chunks: stats.image_chunks,
            table_chunks: stats.table_chunks,
            total_pages: parsed.page_count.unwrap_or(0),
            total_tokens: tokens,
        },
        files: Files {
            chunks: "chunks.json".to_owned(),
            markdown: "full.md".to_owned(),
            hierarchy: "hierarchy.json".to_owned(),
            images: facts.images.clone(),
            tables: facts.tables.clone(),
        },
        quality: Quality {
            status: if parsed.partial { QualityStatus::Partial } else { QualityStatus::Complete },
            warnings: parsed.warnings.clone(),
        },
        hierarchy: facts.tree.titles(),
    }
}

fn elapsed(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.millis().saturating_sub(from.millis())).unwrap_or(0)
}

fn stage_times(facts: &Facts<'_>) -> Map<String, Value> {
    let Times { started, parsed } = facts.times;
    let times = [("parse", elapsed(started, parsed)), ("chunk", elapsed(parsed, facts.completed))];
    times.into_iter().map(|(name, millis)| (name.to_owned(), Value::from(millis))).collect()
}

pub(super) fn image_files(files: &[PictureFile], pictures: &Pictures) -> Vec<ImageFile> {
    let with_picture = files.iter().filter_map(|file| Some((file, pictures.stored.get(file.picture)?)));
    with_picture
        .map(|(file, picture)| ImageFile {
            id: file.id.clone(),
            file_path: file.path.clone(),
            original_name: picture.original_name.clone(),
            size_bytes: picture.bytes.len() as u64,
            format: picture.kind.name.to_owned(),
            width: picture.size.map(|(width, _)| width),
            height: picture.size.map(|(_, height)| height),
            not_rendered: picture.not_rendered,
        })
        .collect()
}

pub(super) fn table_files(tables: &[StoredTable]) -> Vec<TableFile> {
    tables
        .iter()
        .map(|table| TableFile {
            id: table.id.clone(),
            file_path: table.path.clone(),
            original_name: table.caption.clone(),
            // The file ends in a newline.
            size_bytes: (table.html.len() as u64).saturating_add(1),
            format: "html".to_owned(),
        })
        .collect()
}
