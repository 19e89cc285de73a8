//! The table of variables, for the documentation, `.env.example` and `quarry doctor`.

/// One variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What holds when it is not set.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

const fn variable(name: &'static str, default: &'static str, meaning: &'static str) -> Variable {
    Variable { name, default, meaning }
}

/// Every variable, in the order of `.env.example`.
pub const VARIABLES: &[Variable] = &[
    variable("QUARRY_DATA", "./.quarry", "Data folder of the local program."),
    variable("QUARRY_PUBLIC_URL", "as the request came", "Address callers reach the API at; used in addresses inside answers."),
    variable("QUARRY_ENVIRONMENT", "local, or aws on Lambda", "Name of this installation, shown by /version."),
    variable("QUARRY_DROP_IN_OWNER", "local", "Owner of files dropped into the bucket or a watched folder."),
    variable(
        "QUARRY_ADMIN_KEY_SHA256",
        "none",
        "SHA-256 (hex) of a key that may do everything for the drop-in owner; makes the first keys of a deployed stack.",
    ),
    variable(
        "QUARRY_JWT_OWNER_CLAIM",
        "none",
        "Claim that names the owner in tokens which an authoriser of the gateway has checked; without it tokens are not looked at.",
    ),
    variable("QUARRY_JWT_SCOPE_PREFIX", "quarry/", "What stands before ingest, query and admin in a token's scopes."),
    variable(
        "QUARRY_REQUESTS_PER_MINUTE",
        "0",
        "Requests a minute that a key may make unless it has a limit of its own; 0 counts nothing.",
    ),
    variable("QUARRY_WEBHOOK_SECRET", "none", "Signs webhooks (HMAC-SHA256); without it none is sent."),
    variable("QUARRY_WEBHOOKS", "true with the secret", "Whether jobs may ask for webhooks; for functions that do not hold the secret."),
    variable(
        "QUARRY_ALLOWED_ADDRESSES",
        "none",
        "IP addresses, separated by commas, that sources may be fetched from and webhooks sent to although they are not public.",
    ),
    variable(
        "QUARRY_LIMITS",
        "{}",
        "JSON object that overrides limits, e.g. {\"file_bytes\": 50000000}. One limit alone: QUARRY_LIMIT_<NAME>.",
    ),
    variable("QUARRY_DIRECT_UPLOAD_BYTES", "file_bytes, or 4500000 on Lambda", "Largest body of POST /documents."),
    variable("QUARRY_HIT_BOOST", "0.1", "How far hit statistics may lift a result: 0 (off) to 0.1."),
    variable("QUARRY_LOG", "warn,quarry=info", "What is logged: a tracing filter."),
    variable("QUARRY_LOG_FORMAT", "text, or json on Lambda", "json or text."),
    variable("QUARRY_METRICS", "false, or true on Lambda", "Whether outcomes also write CloudWatch metrics lines."),
    variable("QUARRY_MODELS", "{}", "JSON object of the four below for all tasks, without QUARRY_: {\"OCR_MODEL\": \"…\"}."),
    variable(
        "QUARRY_<TASK>_BASE_URL",
        "none",
        "Address of a task's model, up to the version. Tasks: SUMMARY, HIERARCHY, IMAGE, OCR, CLASSIFY, PLANNER, NAVIGATOR.",
    ),
    variable("QUARRY_<TASK>_MODEL", "none", "Name of a task's model."),
    variable("QUARRY_<TASK>_KEYS", "none", "Keys of a task's model, separated by commas; they take turns."),
    variable("QUARRY_<TASK>_RPM", "300", "Calls per key and minute."),
    variable("QUARRY_BUCKET", "required on AWS", "Bucket of all objects."),
    variable("QUARRY_TABLE", "required on AWS", "Table of all records."),
    variable("QUARRY_QUEUE_<NAME>_URL", "required on AWS", "Address of a queue the function may use, e.g. QUARRY_QUEUE_PARSE_DOCX_URL."),
    variable("QUARRY_DLQ_<NAME>_URL", "none", "Address of a queue's dead letters, for the operator's commands."),
    variable("QUARRY_VISIBILITY_SECONDS", "720", "How long a received message stays invisible; equal to the queue's own setting."),
];
