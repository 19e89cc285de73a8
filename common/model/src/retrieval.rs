//! Retrieval as callers see it: the request with its rules, and the answer (contract §7).

mod answer;
mod normalized;
mod request;
mod validate;

pub use answer::{
    AlsoIn, BudgetReport, Citation, EvidencePart, OmittedPart, ReferencedChunk, ResultMetadata, RetrievalAnswer, RetrievalResult,
    RetrievalRun, RouterUsed, Source, StopReason, TraceStep,
};
pub use normalized::{Channel, ChannelWeights, DocumentSelection, FilterMode, NormalizedRequest, RetrievalFilters, RetrievalMode};
pub use request::{LlmConfig, RetrievalRequest, SectionExclusion};
