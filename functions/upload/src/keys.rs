//! API keys.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequest as _, Request, State};
use quarry_model::api::{CreateKey, KeyBody, KeyCreated, KeyList, RevokeKey};
use quarry_model::record::KeyScope;
use quarry_runtime::http::{Body, Caller, Failure, NewKey};
use serde_json::{Value, json};

use crate::Upload;
use crate::input::Violations;

pub(crate) async fn create(State(upload): State<Arc<Upload>>, caller: Caller, request: Request) -> Result<Json<KeyCreated>, Failure> {
    // Who may not is told so, whatever the body says.
    caller.require(KeyScope::Admin)?;
    let Body(request): Body<CreateKey> = Body::from_request(request, &()).await?;
    let mut bad = Violations::default();
    let name = request.name.trim();
    if name.is_empty() || name.chars().count() > 255 || name.chars().any(char::is_control) {
        bad.add("body.name", "has 1 to 255 characters and no control characters");
    }
    let mut scopes = request.scopes.unwrap_or_else(|| vec![KeyScope::Ingest, KeyScope::Query]);
    scopes.dedup();
    if scopes.is_empty() {
        bad.add("body.scopes", "names at least one of ingest, query, admin");
    }
    if request.expires_at.is_some_and(|end| end <= upload.jobs.now()) {
        bad.add("body.expires_at", "lies in the future");
    }
    if request.requests_per_minute == Some(0) {
        bad.add("body.requests_per_minute", "is at least 1; leave it out for the installation's limit");
    }
    bad.check()?;
    let new = NewKey {
        owner: caller.owner,
        name: name.to_owned(),
        scopes,
        expires_at: request.expires_at,
        requests_per_minute: request.requests_per_minute,
    };
    let (secret, made) = upload.authenticator.create_key(new).await?;
    Ok(Json(KeyCreated {
        id: made.id,
        api_key: secret,
        name: made.key.name,
        scopes: made.key.scopes,
        expires_at: made.key.expires_at,
        requests_per_minute: made.key.requests_per_minute,
    }))
}

pub(crate) async fn list(State(upload): State<Arc<Upload>>, caller: Caller) -> Result<Json<KeyList>, Failure> {
    caller.require(KeyScope::Admin)?;
    let now = upload.jobs.now();
    let keys = upload.authenticator.list_keys(&caller.owner).await?;
    let api_keys: Vec<KeyBody> = keys
        .into_iter()
        .map(|listing| KeyBody {
            id: listing.id,
            api_key: format!("{}…", listing.key.hint),
            is_active: listing.key.revoked_at.is_none() && listing.key.expires_at.is_none_or(|end| end > now),
            name: listing.key.name,
            scopes: listing.key.scopes,
            created_at: listing.key.created_at,
            expires_at: listing.key.expires_at,
            revoked_at: listing.key.revoked_at,
            requests_per_minute: listing.key.requests_per_minute,
        })
        .collect();
    Ok(Json(KeyList { total: api_keys.len(), api_keys }))
}

pub(crate) async fn revoke(State(upload): State<Arc<Upload>>, caller: Caller, request: Request) -> Result<Json<Value>, Failure> {
    caller.require(KeyScope::Admin)?;
    let Body(request): Body<RevokeKey> = Body::from_request(request, &()).await?;
    upload.authenticator.revoke_key(&caller.owner, &request.api_key_id).await?;
    Ok(Json(json!({ "message": "The key is revoked; it stops working everywhere within a minute." })))
}
