//! Signed addresses of the local server: what S3's presigned addresses are in the cloud.
//!
//! `{base}/objects/{key}?expires=…&method=…&ct=…&name=…&sig=…`, the key as one percent-encoded segment. The signature is
//! HMAC-SHA-256 over method, key, end of life, content type and file name, under a key kept in the data folder.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use quarry_model::{ObjectKey, Timestamp};
use sha2::Sha256;

use crate::LocalError;

/// What RFC 3986 leaves unreserved stays as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Where signed addresses begin, below the base.
const PLACE: &str = "/objects/";

/// Where the local server is reached: `http://127.0.0.1:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicBase(String);

impl PublicBase {
    /// Takes scheme, host and port, with or without a trailing `/`.
    pub fn new(base: &str) -> Self {
        Self(base.trim_end_matches('/').to_owned())
    }

    /// Without a trailing `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for PublicBase {
    /// `http://127.0.0.1:8080`.
    fn default() -> Self {
        Self::new("http://127.0.0.1:8080")
    }
}

/// Why a signed address is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignedUrlError {
    /// Parts are missing or cannot be read.
    #[error("the address is not a signed one")]
    Malformed,
    /// The signature does not fit the address.
    #[error("the signature does not fit the address")]
    Signature,
    /// Signed for another method.
    #[error("the address is for another method")]
    Method,
    /// Signed for another content type.
    #[error("the address is for another content type")]
    ContentType,
    /// Its life is over.
    #[error("the address has expired")]
    Expired,
}

/// What an address allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    method: &'static str,
    key: ObjectKey,
    /// Seconds since the epoch.
    expires: i64,
    content_type: String,
    file_name: String,
}

impl Grant {
    pub(crate) fn get(key: ObjectKey, expires: i64, file_name: Option<&str>) -> Self {
        Self { method: "GET", key, expires, content_type: String::new(), file_name: file_name.unwrap_or_default().to_owned() }
    }

    pub(crate) fn put(key: ObjectKey, expires: i64, content_type: &str) -> Self {
        Self { method: "PUT", key, expires, content_type: content_type.to_owned(), file_name: String::new() }
    }
}

/// Signs addresses and checks them.
pub(crate) struct Signer {
    base: PublicBase,
    secret: [u8; 32],
}

impl Signer {
    /// Reads the secret of the data folder, drawing it the first time.
    pub(crate) fn open(data: &Path, base: PublicBase) -> Result<Self, LocalError> {
        let path = data.join("address.key");
        let secret = match read_secret(&path)? {
            Some(secret) => secret,
            None => draw_secret(&path)?,
        };
        Ok(Self { base, secret })
    }

    /// The address of a grant.
    pub(crate) fn address(&self, grant: &Grant) -> String {
        let encoded = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
        let mut url =
            format!("{}{PLACE}{}?expires={}&method={}", self.base.as_str(), encoded(grant.key.as_str()), grant.expires, grant.method);
        for (name, value) in [("ct", &grant.content_type), ("name", &grant.file_name)] {
            if !value.is_empty() {
                url.extend(["&", name, "=", encoded(value).as_str()]);
            }
        }
        url.extend(["&sig=", hex::encode(self.mac(grant).finalize().into_bytes()).as_str()]);
        url
    }

    /// Checks an address as it arrived.
    pub(crate) fn verify(
        &self,
        method: &str,
        path_and_query: &str,
        content_type: Option<&str>,
        now: Timestamp,
    ) -> Result<Grant, SignedUrlError> {
        let (grant, signature) = parse(path_and_query).ok_or(SignedUrlError::Malformed)?;
        // Compares in constant time.
        self.mac(&grant).verify_slice(&signature).map_err(|_| SignedUrlError::Signature)?;
        // Who may read may ask for the head as well.
        let asked = if method.eq_ignore_ascii_case("HEAD") { "GET" } else { method };
        if !asked.eq_ignore_ascii_case(grant.method) {
            return Err(SignedUrlError::Method);
        }
        if now.seconds() >= grant.expires {
            return Err(SignedUrlError::Expired);
        }
        if grant.method == "PUT" && content_type != Some(grant.content_type.as_str()) {
            return Err(SignedUrlError::ContentType);
        }
        Ok(grant)
    }

    fn mac(&self, grant: &Grant) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).unwrap_or_else(|_| unreachable!("HMAC takes keys of any length"));
        let expires = grant.expires.to_string();
        for part in ["quarry address v1", grant.method, grant.key.as_str(), &expires, &grant.content_type, &grant.file_name] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }
}

impl Grant {
    pub(crate) fn into_parts(self) -> (ObjectKey, Option<String>) {
        (self.key, Some(self.file_name).filter(|name| !name.is_empty()))
    }
}

fn parse(path_and_query: &str) -> Option<(Grant, Vec<u8>)> {
    let (path, query) = path_and_query.split_once('?')?;
    let key = decoded(path.strip_prefix(PLACE)?)?;
    let mut grant =
        Grant { method: "", key: ObjectKey::from_event(&key), expires: 0, content_type: String::new(), file_name: String::new() };
    let mut signature = None;
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=')?;
        let value = decoded(value)?;
        match name {
            "expires" => grant.expires = value.parse().ok()?,
            "method" => grant.method = ["GET", "PUT"].into_iter().find(|known| *known == value)?,
            "ct" => grant.content_type = value,
            "name" => grant.file_name = value,
            "sig" => signature = hex::decode(value).ok(),
            _ => return None,
        }
    }
    Some((grant, signature?))
}

fn decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

fn read_secret(path: &Path) -> Result<Option<[u8; 32]>, LocalError> {
    match fs::read(path) {
        Ok(bytes) => match bytes.try_into() {
            Ok(secret) => Ok(Some(secret)),
            Err(_) => Err(LocalError::Misuse("address.key in the data folder is damaged; remove it to draw a new one")),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LocalError::file("read", path)(error)),
    }
}

/// Written beside and linked into place: of several processes that start together, one wins and all use its secret.
fn draw_secret(path: &Path) -> Result<[u8; 32], LocalError> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|_| LocalError::Misuse("the system gives no random numbers"))?;
    let beside = path.with_extension(format!("{}.new", hex::encode(&secret[..8])));
    let mut options = fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&beside).and_then(|mut file| file.write_all(&secret)).map_err(LocalError::file("write", &beside))?;
    let linked = fs::hard_link(&beside, path);
    fs::remove_file(&beside).map_err(LocalError::file("remove", &beside))?;
    match linked {
        Ok(()) => Ok(secret),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            read_secret(path)?.ok_or(LocalError::Misuse("address.key vanished while it was read"))
        }
        Err(error) => Err(LocalError::file("link", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer() -> Signer {
        Signer { base: PublicBase::new("http://h:1/"), secret: [7; 32] }
    }

    fn path_of(url: &str) -> &str {
        url.strip_prefix("http://h:1").unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn an_address_is_good_for_its_key_method_type_and_life() {
        let key = ObjectKey::from_event("uploads/a b+c%/ü/..");
        let url = signer().address(&Grant::put(key.clone(), 100, "text/plain; charset=utf-8"));
        let path = path_of(&url);
        assert!(path.split(['/', '?']).all(|segment| segment != ".."), "{path}");
        let verify = |method, path: &str, ct, now| signer().verify(method, path, ct, at(now)).map(|grant| grant.into_parts().0);
        let ct = Some("text/plain; charset=utf-8");
        assert_eq!(verify("PUT", path, ct, 99), Ok(key));
        assert_eq!(verify("PUT", path, ct, 100), Err(SignedUrlError::Expired));
        assert_eq!(verify("GET", path, ct, 99), Err(SignedUrlError::Method));
        assert_eq!(verify("PUT", path, Some("text/html"), 99), Err(SignedUrlError::ContentType));
        assert_eq!(verify("PUT", path, None, 99), Err(SignedUrlError::ContentType));
        for (from, to) in [("expires=100", "expires=999"), ("uploads", "downloads"), ("method=PUT", "method=GET"), ("ct=text", "ct=test")] {
            assert_eq!(verify("PUT", &path.replace(from, to), ct, 99), Err(SignedUrlError::Signature), "{to}");
        }
        assert_eq!(verify("PUT", "/objects/x", ct, 99), Err(SignedUrlError::Malformed));
        assert_eq!(verify("PUT", &path.replace("&sig=", "&gis="), ct, 99), Err(SignedUrlError::Malformed));
    }

    #[test]
    fn a_reading_address_carries_the_name_to_save_under() {
        let url = signer().address(&Grant::get(ObjectKey::from_event("a"), 9, Some("Müller & Söhne.docx")));
        let grant = signer().verify("HEAD", path_of(&url), None, at(1)).unwrap();
        assert_eq!(grant.into_parts().1.as_deref(), Some("Müller & Söhne.docx"));
    }

    #[test]
    fn the_secret_is_drawn_once_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let one = Signer::open(folder.path(), PublicBase::default()).unwrap();
        let two = Signer::open(folder.path(), PublicBase::default()).unwrap();
        assert_eq!(one.secret, two.secret);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(folder.path().join("address.key")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
