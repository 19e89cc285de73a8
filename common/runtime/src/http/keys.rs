//! Making, listing and revoking API keys.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quarry_model::record::{ApiKeyRecord, KeyScope};
use quarry_model::{ApiError, Owner, RecordKey, RecordPrefix, Timestamp};
use quarry_ports::{Condition, Item, TransactError, Write};

use super::auth::{Authenticator, hash_of};
use super::failure::Failure;
use crate::random;

/// A key to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// Whose data it opens.
    pub owner: Owner,
    /// For people.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<KeyScope>,
    /// End of life.
    pub expires_at: Option<Timestamp>,
    /// Requests a minute, where it is not the installation's limit.
    pub requests_per_minute: Option<u32>,
}

/// A key, as its owner sees it after creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyListing {
    /// `key_` and the first 16 hex digits of the hash: names it without opening anything.
    pub id: String,
    /// The record.
    pub key: ApiKeyRecord,
}

fn listing(key: ApiKeyRecord) -> KeyListing {
    KeyListing { id: format!("key_{}", key.sha256.chars().take(16).collect::<String>()), key }
}

impl Authenticator {
    /// Makes a key; the secret is returned this once and never stored: `sk_` and 32 random bytes in URL-safe base64.
    pub async fn create_key(&self, new: NewKey) -> Result<(String, KeyListing), Failure> {
        let secret = format!("sk_{}", URL_SAFE_NO_PAD.encode(random::bytes::<32>()?));
        let key = ApiKeyRecord {
            sha256: hash_of(&secret),
            owner: new.owner,
            scopes: new.scopes,
            name: new.name,
            hint: secret.chars().take(8).collect(),
            created_at: self.clock.now(),
            expires_at: new.expires_at,
            revoked_at: None,
            requests_per_minute: new.requests_per_minute,
        };
        self.put_key(&key, Condition::Absent).await?;
        Ok((secret, listing(key)))
    }

    /// An owner's keys, oldest first, revoked ones included.
    pub async fn list_keys(&self, owner: &Owner) -> Result<Vec<KeyListing>, Failure> {
        let items = self.records.query_all(&RecordPrefix::api_keys(owner)).await?;
        let mut keys = items.iter().map(|item| item.read().map(listing)).collect::<Result<Vec<_>, _>>()?;
        keys.sort_by(|a, b| (a.key.created_at, &a.id).cmp(&(b.key.created_at, &b.id)));
        Ok(keys)
    }

    /// Revokes a key by its id. Effective here at once, elsewhere within a minute.
    pub async fn revoke_key(&self, owner: &Owner, id: &str) -> Result<(), Failure> {
        let found = self.list_keys(owner).await?.into_iter().find(|key| key.id == id);
        let mut key = found.ok_or_else(|| ApiError::not_found("API key", id))?.key;
        if key.revoked_at.is_none() {
            key.revoked_at = Some(self.clock.now());
            self.put_key(&key, Condition::Exists).await?;
        }
        Ok(())
    }

    async fn put_key(&self, key: &ApiKeyRecord, condition: Condition) -> Result<(), Failure> {
        let writes = vec![
            Write::Put(Item::of(RecordKey::api_key(&key.sha256), key)?, condition.clone()),
            Write::Put(Item::of(RecordKey::api_key_listing(&key.owner, &key.sha256), key)?, condition),
        ];
        let result = self.records.transact(writes).await;
        self.forget();
        result.map_err(|error: TransactError| error.into())
    }
}
