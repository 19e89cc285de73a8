//! Corpus tools: one registry behind MCP, HTTP and whoever asks in process. Each is a plain question about one
//! namespace, bounded by its own token budget; it says what it left out and gives references to go on with. A wrong
//! argument is an answer with a public code, never a crash.

mod arguments;
mod assets;
mod documents;
mod grep;
mod intake;
mod page;
mod query_table;
mod read;
mod reference;
mod registry;
mod search;

use std::sync::Arc;

use quarry_model::record::{DocumentPlace, DocumentRecord, DocumentStatus, KeyScope};
use quarry_model::{ApiCode, ApiError, DocumentId, Limits, Owner, RecordKey, Revision, Scope};
use quarry_ports::{ObjectStore, Records};
use serde::Serialize;
use serde_json::Value;

pub use intake::{Api, ApiAnswer, ApiCall};
pub use reference::Reference;
pub use registry::{TOOLS, Tool};

use crate::error::RetrievalError;
use crate::retriever::Retriever;
use crate::snapshot::Reader;

/// Tokens of an answer when a call names none.
pub const TOKENS_DEFAULT: u32 = 4_000;
/// Least and most tokens of an answer; agents' programs cut answers at 25,000.
pub const TOKENS: (u32, u32) = (300, 20_000);
/// Seconds a caller waits before trying again when a store is out of order.
const RETRY_SECONDS: u64 = 2;

/// Who asks.
#[derive(Debug, Clone)]
pub struct ToolCaller {
    /// Whose data the call sees.
    pub owner: Owner,
    /// What the key may do.
    pub scopes: Vec<KeyScope>,
    /// The namespace of calls that name none.
    pub namespace: Option<String>,
    /// The caller's own `Authorization`, for what is handed on to the rest of the API.
    pub authorization: Option<String>,
}

impl ToolCaller {
    fn may(&self, scope: KeyScope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&KeyScope::Admin)
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ToolAnswer {
    /// Everything that was found, as far as the budget goes, for a model to read.
    pub text: String,
    /// What it costs, by the one tokenizer; at most the call's `token_budget`.
    pub tokens: u32,
    /// Whether something was left out.
    pub truncated: bool,
    /// What was left out: the first few by reference, then how many more.
    pub left_out: Vec<String>,
    /// What is shown, to be handed to other tools.
    pub refs: Vec<String>,
}

/// The registry over one installation.
pub struct Tools {
    retriever: Arc<Retriever>,
    records: Arc<dyn Records>,
    objects: Arc<dyn ObjectStore>,
    limits: Arc<Limits>,
    api: Option<Arc<dyn Api>>,
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tools").field("intake", &self.api.is_some()).finish_non_exhaustive()
    }
}

/// What a tool works with: the caller, where, and one pinned publication.
struct Call<'a> {
    tools: &'a Tools,
    caller: &'a ToolCaller,
    scope: Scope,
    budget: u32,
    arguments: Value,
}

impl Tools {
    /// Tools over the stores. Without `api`, documents cannot be submitted and jobs not be read.
    pub fn new(
        retriever: Arc<Retriever>,
        records: Arc<dyn Records>,
        objects: Arc<dyn ObjectStore>,
        limits: Arc<Limits>,
        api: Option<Arc<dyn Api>>,
    ) -> Self {
        Self { retriever, records, objects, limits, api }
    }

    /// The tools this caller may use here.
    pub fn list(&self, caller: &ToolCaller) -> impl Iterator<Item = &'static Tool> {
        let here = self.api.is_some();
        TOOLS.iter().filter(move |tool| here || !tool.needs_api).filter(|tool| caller.may(tool.scope))
    }

    /// Calls a tool.
    pub async fn call(&self, caller: &ToolCaller, name: &str, arguments: Value) -> Result<ToolAnswer, ApiError> {
        let tool = TOOLS.iter().find(|tool| tool.name == name && (self.api.is_some() || !tool.needs_api));
        let Some(tool) = tool else {
            return Err(ApiError::not_found("Tool", &name.chars().take(80).collect::<String>()));
        };
        if !caller.may(tool.scope) {
            return Err(ApiError::new(ApiCode::PermissionDenied, "This key may not use that tool."));
        }
        let (common, arguments) = arguments::Common::take(arguments, caller.namespace.as_deref())?;
        let scope = Scope::new(caller.owner.clone(), common.namespace);
        let call = Call { tools: self, caller, scope, budget: common.token_budget, arguments };
        match tool.name {
            "list_documents" => documents::list(call).await,
            "outline" => documents::outline(call).await,
            "neighbors" => documents::neighbors(call).await,
            "read" => read::read(call).await,
            "search" => search::search(call).await,
            "grep" => grep::grep(call).await,
            "assets" => assets::assets(call).await,
            "query_table" => query_table::query_table(call).await,
            "submit" => intake::submit(call).await,
            "job_status" => intake::job_status(call).await,
            _ => Err(ApiError::internal()),
        }
    }
}

impl Call<'_> {
    /// The newest publication of the namespace; `None` when there is none yet.
    async fn reader(&self) -> Result<Option<Reader>, ApiError> {
        self.tools.retriever.pin(&self.scope).await.map_err(|error| failure(&error))
    }

    /// A live document of the namespace, and the revision that the publication serves.
    async fn document(&self, reader: Option<&Reader>, id: &DocumentId) -> Result<(DocumentRecord, Revision), ApiError> {
        let absent = || ApiError::not_found("Document", id.as_str());
        let Some(item) = self.tools.records.get(&RecordKey::document(&self.scope, id)).await.map_err(|e| failure(&e.into()))? else {
            return Err(self.elsewhere(id).await?.unwrap_or_else(absent));
        };
        let record: DocumentRecord = item.read().map_err(|error| failure(&error.into()))?;
        let served = reader.and_then(|reader| reader.corpus().revision(id));
        let revision = served.or_else(|| record.active_revision.clone()).filter(|_| record.status == DocumentStatus::Active);
        Ok((record, revision.ok_or_else(absent)?))
    }

    /// Says so when the document is the caller's, but lives in another namespace: agents do lose track of these.
    async fn elsewhere(&self, id: &DocumentId) -> Result<Option<ApiError>, ApiError> {
        let item = self.tools.records.get(&RecordKey::document_place(id)).await.map_err(|error| failure(&error.into()))?;
        let place: Option<DocumentPlace> = item.and_then(|item| item.read().ok());
        let place = place.filter(|place| place.scope.owner == self.scope.owner && place.scope != self.scope);
        Ok(place.map(|place| {
            let problem = format!("the document lives in namespace {}; name that one", place.scope.namespace);
            ApiError::invalid_field("namespace", &problem)
        }))
    }
}

/// What went wrong, as a caller may know it.
fn failure(error: &RetrievalError) -> ApiError {
    if error.is_transient() {
        tracing::warn!(target: "quarry::tools", %error, "cannot answer now");
        return ApiError::unavailable(RETRY_SECONDS);
    }
    tracing::error!(target: "quarry::tools", %error, "a tool failed");
    ApiError::internal()
}
