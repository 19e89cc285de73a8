//! Retrieval as callers see it: the request with its rules, and the answer (contract §7).

mod answer;
mod request;

pub use answer::{
    AlsoIn, BudgetReport, Citation, EvidencePart, OmittedPart, ReferencedChunk, ResultMetadata, RetrievalAnswer, RetrievalResult,
    RetrievalRun, RouterUsed, Source, StopReason, TraceStep,
};
pub use request::{
    Channel, ChannelWeights, DocumentSelection, FilterMode, LlmConfig, NormalizedRequest, RetrievalFilters, RetrievalMode,
    RetrievalRequest, SectionExclusion,
};
