//! What tools there are: names, purposes, arguments.

use quarry_model::record::KeyScope;
use serde_json::{Map, Value, json};

/// A tool as it is offered.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// As it is called.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// For a model: what it is good for, what it answers.
    pub description: &'static str,
    /// What a key must be allowed to.
    pub scope: KeyScope,
    /// Whether it needs the rest of the API.
    pub needs_api: bool,
    properties: fn() -> Value,
    required: &'static [&'static str],
}

impl Tool {
    /// JSON schema of its arguments.
    pub fn input_schema(&self) -> Map<String, Value> {
        let mut properties = Map::new();
        if let Value::Object(own) = (self.properties)() {
            properties.extend(own);
        }
        properties.insert("namespace".into(), json!({ "type": "string", "description": "Where the documents live; default `default`." }));
        let (least, most) = super::TOKENS;
        properties.insert(
            "token_budget".into(),
            json!({ "type": "integer", "minimum": least, "maximum": most, "default": super::TOKENS_DEFAULT, "description": "Most tokens of the answer." }),
        );
        let mut schema = Map::new();
        schema.insert("type".into(), json!("object"));
        schema.insert("properties".into(), Value::Object(properties));
        schema.insert("required".into(), json!(self.required));
        schema.insert("additionalProperties".into(), json!(false));
        schema
    }

    /// Whether it changes nothing.
    pub fn is_read_only(&self) -> bool {
        self.scope == KeyScope::Query
    }
}

fn strings(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

const DOCUMENTS: &str = "Only these documents.";
const REFS: &str = "A reference as other tools give it: `doc_…` (a document), `doc_…/sec_…` (a section), `doc_…#12` (a chunk).";

const fn tool(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    properties: fn() -> Value,
    required: &'static [&'static str],
) -> Tool {
    Tool { name, title, description, scope: KeyScope::Query, needs_api: false, properties, required }
}

/// Every tool.
pub const TOOLS: &[Tool] = &[
    tool(
        "search",
        "Search documents",
        "Finds what answers a question and returns cited evidence: passages and tables out of the documents, each with a mark like [E1] \
         and its source. Use it first. `agentic` breaks a complex question (comparisons, several entities, one fact leading to another) into steps.",
        || {
            json!({
                "query": { "type": "string", "description": "The question, or words to look for; any language." },
                "agentic": { "type": "boolean", "default": false, "description": "Break a complex question into steps." },
                "top_k": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10 },
                "document_ids": strings(DOCUMENTS),
                "chunk_types": { "type": "array", "items": { "enum": ["text", "table", "image"] }, "description": "Only these kinds." },
            })
        },
        &["query"],
    ),
    tool(
        "list_documents",
        "List documents",
        "Lists the documents of a namespace, newest first: id, file name, chunks, summary.",
        || {
            json!({
                "name_contains": { "type": "string", "description": "Only documents whose file name holds this, whatever its case." },
                "offset": { "type": "integer", "minimum": 0, "default": 0, "description": "How many to pass over." },
            })
        },
        &[],
    ),
    tool(
        "outline",
        "Outline of a document",
        "Shows a document's headings as a tree: titles, pages, sizes, summaries, and the reference of each section for `read`.",
        || {
            json!({
                "document_id": { "type": "string" },
                "section": { "type": "string", "description": "Only what lies below this section: `sec_…`, or its titles joined by ` / `." },
                "depth": { "type": "integer", "minimum": 1, "maximum": 12, "description": "How many levels." },
            })
        },
        &["document_id"],
    ),
    tool(
        "read",
        "Read sections or chunks",
        "Reads the full text of documents, sections or chunks in reading order, tables in their places.",
        || {
            json!({
                "refs": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 50, "description": REFS },
                "mode": { "enum": ["descendants", "self"], "default": "descendants", "description": "Of a section: with everything below it, or its own text alone." },
            })
        },
        &["refs"],
    ),
    tool(
        "grep",
        "Find exact text",
        "Finds every chunk that holds an exact text or matches a regular expression; says how many there are in all. For names, codes, numbers.",
        || {
            json!({
                "pattern": { "type": "string", "minLength": 1, "maxLength": 1000 },
                "regex": { "type": "boolean", "default": false, "description": "Whether the pattern is a regular expression (Rust syntax, no look-around)." },
                "case_sensitive": { "type": "boolean", "default": false },
                "document_ids": strings(DOCUMENTS),
                "chunk_types": { "type": "array", "items": { "enum": ["text", "table", "image"] } },
                "context_chars": { "type": "integer", "minimum": 0, "maximum": 400, "default": 80 },
                "max_results": { "type": "integer", "minimum": 1, "maximum": 200, "default": 30 },
            })
        },
        &["pattern"],
    ),
    tool(
        "assets",
        "List tables and pictures",
        "Lists tables and pictures with captions, pages and references; with `include_urls` also addresses where pictures can be fetched for an hour.",
        || {
            json!({
                "document_ids": strings(DOCUMENTS),
                "type": { "enum": ["any", "table", "image"], "default": "any" },
                "contains": { "type": "string", "description": "Only those whose words hold this, whatever its case." },
                "include_urls": { "type": "boolean", "default": false },
            })
        },
        &[],
    ),
    tool(
        "neighbors",
        "Related documents",
        "Lists documents that share telling words with this one, closest first.",
        || json!({ "document_id": { "type": "string" } }),
        &["document_id"],
    ),
    tool(
        "query_table",
        "Query one table",
        "Runs one SQL SELECT (SQLite) over one table of a document. The table is called `t`; its columns are the header names, and without `sql` the \
         answer lists them with the first rows. Cells that are numbers compare and add up as numbers.",
        || {
            json!({
                "ref": { "type": "string", "description": "The table's chunk: `doc_…#12`, as `assets`, `grep` and `search` give it." },
                "sql": { "type": "string", "maxLength": 4000, "description": "One SELECT over `t`; quote column names: SELECT \"Flow\" FROM t." },
            })
        },
        &["ref"],
    ),
    Tool {
        name: "submit",
        title: "Submit a document",
        description: "Hands in a document to be read and made searchable. With `content` (text) or `content_base64` it is taken at once; without, the answer \
             holds an address to PUT the file to. Answers a job for `job_status`.",
        scope: KeyScope::Ingest,
        needs_api: true,
        properties: || {
            json!({
                "file_name": { "type": "string", "description": "With its extension: notes.md, report.pdf." },
                "content": { "type": "string" },
                "content_base64": { "type": "string" },
                "document_id": { "type": "string", "description": "The document this is a new version of." },
            })
        },
        required: &["file_name"],
    },
    Tool {
        name: "job_status",
        title: "Status of a job",
        description: "Says how far a submitted document is: waiting-file, pending, running, done or failed with its reason. Waits up to `wait` seconds for the end.",
        scope: KeyScope::Query,
        needs_api: true,
        properties: || {
            json!({
                "job_id": { "type": "string" },
                "wait": { "type": "integer", "minimum": 0, "maximum": 20, "default": 5 },
            })
        },
        required: &["job_id"],
    },
];
