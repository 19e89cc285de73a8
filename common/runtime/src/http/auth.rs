//! Who calls, and what they may do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{Extensions, HeaderMap, header};
use quarry_model::record::{ApiKeyRecord, KeyScope};
use quarry_model::{ApiCode, ApiError, Owner, RecordKey, RecordPrefix};
use quarry_ports::{Clock, Records};
use sha2::{Digest as _, Sha256};

use super::claims::{Claims, TokenRules};
use super::failure::Failure;
use super::rate::Rates;
use crate::config::Config;

/// How long an answer about a key is trusted; a revoked key works at most this much longer elsewhere.
const CACHE_MILLIS: i64 = 60_000;
/// Most keys remembered at a time.
const CACHE_ENTRIES: usize = 10_000;

/// Whoever makes a request: put it among a handler's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Whose data this call sees.
    pub owner: Owner,
    /// What the key may do.
    pub scopes: Vec<KeyScope>,
}

impl Caller {
    /// Refuses with `PERMISSION_DENIED` unless the key may do this. `admin` includes the others.
    pub fn require(&self, scope: KeyScope) -> Result<(), Failure> {
        if self.scopes.contains(&scope) || self.scopes.contains(&KeyScope::Admin) {
            return Ok(());
        }
        let name = match scope {
            KeyScope::Ingest => "ingest",
            KeyScope::Query => "query",
            KeyScope::Admin => "admin",
        };
        let message = format!("This key may not do that; it needs the scope `{name}`.");
        Err(ApiError::new(ApiCode::PermissionDenied, message).with("required_permission", name).into())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let Some(authenticator) = parts.extensions.get::<Arc<Authenticator>>().cloned() else {
            return Err(Failure::internal(&"a router outside the shell asked for a caller"));
        };
        authenticator.authenticate(&parts.headers, &parts.extensions).await
    }
}

/// Who is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only who has a key.
    Keys,
    /// The server listens on loopback: as long as no key exists, anybody on this machine is the owner of dropped files (`local`), whatever
    /// key they send. Browsers on foreign pages are not: see [`Authenticator::authenticate`].
    LoopbackUnlessKeys,
    /// Nobody but this process itself: whoever started it owns the data.
    ThisProcess,
}

/// Checks keys.
pub struct Authenticator {
    pub(super) records: Arc<dyn Records>,
    pub(super) clock: Arc<dyn Clock>,
    access: Access,
    /// Whose everything is on a machine without keys, and what the administrator's key opens.
    owner: Owner,
    admin: Option<String>,
    tokens: Option<TokenRules>,
    /// Requests a minute of keys that say nothing else, and of tokens.
    per_minute: Option<u32>,
    rates: Rates,
    cache: Mutex<HashMap<String, Cached>>,
}

#[derive(Clone)]
struct Cached {
    key: Option<ApiKeyRecord>,
    until: i64,
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authenticator").field("access", &self.access).finish_non_exhaustive()
    }
}

impl Authenticator {
    /// An authenticator over the stored keys.
    pub fn new(records: Arc<dyn Records>, clock: Arc<dyn Clock>, access: Access, config: &Config) -> Self {
        let (owner, admin) = (config.drop_in_owner.clone(), config.admin_key_sha256.clone());
        let (tokens, per_minute) = (config.tokens.clone(), config.requests_per_minute);
        let rates = Rates::new(Arc::clone(&records));
        Self { records, clock, access, owner, admin, tokens, per_minute, rates, cache: Mutex::default() }
    }

    /// Finds the caller of a request, and counts the request.
    ///
    /// Where tokens are read, the claims that came with the request decide; without any it needs a key.
    ///
    /// In [`Access::LoopbackUnlessKeys`] without keys, a request from a browser page of another host (`Origin`), or one
    /// that reached us under another host's name (`Host`), is refused: any page a user looks at could otherwise read
    /// their documents through our open port.
    pub async fn authenticate(&self, headers: &HeaderMap, extensions: &Extensions) -> Result<Caller, Failure> {
        if self.access == Access::ThisProcess {
            return Ok(Caller { owner: self.owner.clone(), scopes: vec![KeyScope::Admin] });
        }
        if let (Some(rules), Some(claims)) = (&self.tokens, extensions.get::<Claims>()) {
            let caller = claims.caller(rules)?;
            self.count(&hash_of(&format!("token {} {}", caller.owner, claims.subject())), None).await?;
            return Ok(caller);
        }
        if self.access == Access::LoopbackUnlessKeys && !self.local_keys_exist().await? {
            let caller = local_caller(headers, &self.owner)?;
            self.count("local", None).await?;
            return Ok(caller);
        }
        let header = headers.get(header::AUTHORIZATION);
        let Some(value) = header else {
            return Err(unauthenticated("Authentication required. Provide Authorization header."));
        };
        let token = value.to_str().ok().and_then(|value| value.split_once(' '));
        let Some((_, token)) = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")) else {
            return Err(unauthenticated("Use the Bearer scheme in the Authorization header."));
        };
        self.caller_of(token.trim()).await
    }

    async fn caller_of(&self, token: &str) -> Result<Caller, Failure> {
        let hash = hash_of(token);
        if self.admin.as_ref() == Some(&hash) {
            self.count(&hash, None).await?;
            return Ok(Caller { owner: self.owner.clone(), scopes: vec![KeyScope::Admin] });
        }
        let now = self.clock.now();
        let key = if let Some(key) = self.cached(&hash, now.millis()) {
            key
        } else {
            let item = self.records.get(&RecordKey::api_key(&hash)).await?;
            let key: Option<ApiKeyRecord> = item.map(|item| item.read()).transpose()?;
            self.remember(hash.clone(), key.clone(), now.millis());
            key
        };
        let live = key.filter(|key| key.revoked_at.is_none() && key.expires_at.is_none_or(|end| end > now));
        let key = live.ok_or_else(|| unauthenticated("Invalid API Key"))?;
        self.count(&hash, key.requests_per_minute).await?;
        Ok(Caller { owner: key.owner, scopes: key.scopes })
    }

    /// Counts a request of `who`, by their own limit or the installation's.
    async fn count(&self, who: &str, own: Option<u32>) -> Result<(), Failure> {
        match own.or(self.per_minute) {
            Some(limit) => self.rates.admit(who, limit, self.clock.now()).await,
            None => Ok(()),
        }
    }

    /// Whether the local owner has a key that is still good.
    async fn local_keys_exist(&self) -> Result<bool, Failure> {
        const ANY: &str = "any local key";
        let now = self.clock.now();
        if let Some(known) = self.cached(ANY, now.millis()) {
            return Ok(known.is_some());
        }
        let items = self.records.query_all(&RecordPrefix::api_keys(&self.owner)).await?;
        let keys: Vec<ApiKeyRecord> = items.iter().map(quarry_ports::Item::read).collect::<Result<_, _>>()?;
        let live = keys.into_iter().find(|key| key.revoked_at.is_none() && key.expires_at.is_none_or(|end| end > now));
        let exist = live.is_some();
        self.remember(ANY.to_owned(), live, now.millis());
        Ok(exist)
    }

    fn cached(&self, hash: &str, now: i64) -> Option<Option<ApiKeyRecord>> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.get(hash).filter(|cached| cached.until > now).map(|cached| cached.key.clone())
    }

    fn remember(&self, hash: String, key: Option<ApiKeyRecord>, now: i64) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= CACHE_ENTRIES {
            cache.clear();
        }
        cache.insert(hash, Cached { key, until: now.saturating_add(CACHE_MILLIS) });
    }

    /// Forgets what is known of keys, after one was made or revoked here.
    pub(super) fn forget(&self) {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// SHA-256 of a secret in hex: all that is stored of it.
pub(super) fn hash_of(secret: &str) -> String {
    hex::encode(Sha256::digest(secret.as_bytes()))
}

fn local_caller(headers: &HeaderMap, owner: &Owner) -> Result<Caller, Failure> {
    let origin = headers.get(header::ORIGIN).map(|value| value.to_str().unwrap_or_default());
    let foreign_page = origin.is_some_and(|origin| !origin.split_once("://").is_some_and(|(_, host)| is_loopback(host)));
    let host = headers.get(header::HOST).map(|value| value.to_str().unwrap_or_default());
    if foreign_page || host.is_some_and(|host| !is_loopback(host)) {
        return Err(unauthenticated("Without keys only programs and pages of this machine are served. Create a key for others."));
    }
    Ok(Caller { owner: owner.clone(), scopes: vec![KeyScope::Admin] })
}

/// Whether `host` or `host:port` names this machine.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn unauthenticated(message: &str) -> Failure {
    ApiError::new(ApiCode::Unauthenticated, message).into()
}
