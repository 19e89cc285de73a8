//! The words of Quarry.
//!
//! What this room is for: every type that crosses from one room to another lives here once, so that a stage, a test
//! and a client mean the same thing by the same word. What enters: nothing. What leaves: types, their rules and their
//! JSON forms. What it must never do: I/O, reading a clock, drawing random numbers, `async`.

pub mod api;
pub mod chunk;
pub mod code;
pub mod format;
pub mod hierarchy;
pub mod identity;
pub mod job;
pub mod key;
pub mod limits;
pub mod manifest;
pub mod message;
pub mod nav;
pub mod outcome;
pub mod path;
pub mod pdf;
pub mod record;
pub mod retrieval;
pub mod row;
pub mod scope;
pub mod table;
pub mod time;
pub mod trace;

pub use chunk::{Chunk, ChunkFile, ChunkMetadata, ChunkType, Connection, Position, Relation};
pub use code::{ApiCode, ApiError, DocumentCode, DocumentFailure, FieldViolation};
pub use format::{Family, Format, FormatRow};
pub use hierarchy::{Evidence, HierarchyFile, HierarchyNode};
pub use identity::{ChunkId, DocumentId, IdError, JobId, Revision, SectionId};
pub use job::{Job, JobState, Progress};
pub use key::{ObjectKey, ObjectPrefix, RecordKey, RecordPrefix};
pub use limits::Limits;
pub use manifest::Manifest;
pub use nav::DocNav;
pub use outcome::{Outcome, SkipReason};
pub use retrieval::{NormalizedRequest, RetrievalAnswer, RetrievalRequest};
pub use row::{Asset, Heading, PageBox, Parsed, Row, RowKind, RowRef, TablePart, Warning};
pub use scope::{Namespace, Owner, Scope, ScopeError};
pub use table::{Cell, PackedTable, Table};
pub use time::Timestamp;
pub use trace::{Trace, TraceError};

/// The version written as `schema_version` into every artifact and record of ours.
pub const SCHEMA_VERSION: u32 = 1;
