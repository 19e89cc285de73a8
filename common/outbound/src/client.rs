//! The client: check, connect, follow, read within bounds.

use std::error::Error as _;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Method, Response, StatusCode};
use url::{Host, Url};

use crate::address::is_public;
use crate::error::OutboundError;
use crate::name::file_name;
use crate::resolver::{Guarded, NotPublic, Resolver, Unresolved};

/// Redirects followed at most.
const REDIRECTS: usize = 5;
/// Time to connect.
const CONNECT: Duration = Duration::from_secs(5);
/// Who asks.
const USER_AGENT: &str = concat!("quarry/", env!("CARGO_PKG_VERSION"));

/// Which addresses may be reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    /// Addresses that may be reached although they are not public: an operator's own services.
    pub also: Vec<IpAddr>,
}

impl Rules {
    /// Whether a connection to this address may be made.
    pub fn allows(&self, address: IpAddr) -> bool {
        is_public(address) || self.also.contains(&address)
    }
}

/// What an address gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The body.
    pub bytes: Bytes,
    /// As the server says, without parameters; a hint only.
    pub media_type: Option<String>,
    /// As the server or the address says; a hint only, without folders.
    pub file_name: Option<String>,
}

/// A client for addresses out of requests.
#[derive(Clone)]
pub struct Outbound {
    client: reqwest::Client,
    rules: Arc<Rules>,
}

impl std::fmt::Debug for Outbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbound").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl Outbound {
    /// A client that resolves names with `resolver`.
    pub fn new(resolver: Arc<dyn Resolver>, rules: Rules) -> Result<Self, OutboundError> {
        let rules = Arc::new(rules);
        let client = reqwest::Client::builder()
            .dns_resolver(Arc::new(Guarded { resolver, rules: Arc::clone(&rules) }))
            .redirect(Policy::none())
            // A proxy would resolve names itself, behind our back.
            .no_proxy()
            .connect_timeout(CONNECT)
            // A connection kept open was checked for another request.
            .pool_max_idle_per_host(0)
            .user_agent(USER_AGENT)
            .build()
            .map_err(OutboundError::Client)?;
        Ok(Self { client, rules })
    }

    /// What can be said of an address without asking anybody: scheme, form, a numeric host. The standard's parser has
    /// resolved decimal, octal, hexadecimal and shortened IPv4 forms before the host is looked at.
    pub fn check(&self, address: &str) -> Result<Url, OutboundError> {
        let url = Url::parse(address.trim()).map_err(|_| OutboundError::Malformed)?;
        self.check_url(&url)?;
        Ok(url)
    }

    fn check_url(&self, url: &Url) -> Result<(), OutboundError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(OutboundError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(OutboundError::Credentials);
        }
        let numeric = match url.host().ok_or(OutboundError::Malformed)? {
            Host::Ipv4(v4) => IpAddr::V4(v4),
            Host::Ipv6(v6) => IpAddr::V6(v6),
            Host::Domain(_) => return Ok(()),
        };
        if self.rules.allows(numeric) { Ok(()) } else { Err(OutboundError::NotPublic) }
    }

    /// Reads what an address gives, at most `max_bytes` of it within `time`, over at most five redirects.
    pub async fn fetch(&self, address: &str, max_bytes: u64, time: Duration) -> Result<Answer, OutboundError> {
        let url = self.check(address)?;
        tokio::time::timeout(time, self.follow(url, max_bytes)).await.map_err(|_| OutboundError::TimedOut)?
    }

    async fn follow(&self, mut url: Url, max_bytes: u64) -> Result<Answer, OutboundError> {
        for _ in 0..=REDIRECTS {
            let response = self.client.request(Method::GET, url.clone()).send().await.map_err(cause)?;
            if let Some(next) = redirected(&url, &response) {
                url = next.map_err(|_| OutboundError::Malformed)?;
                self.check_url(&url)?;
                continue;
            }
            if !response.status().is_success() {
                return Err(OutboundError::Status(response.status().as_u16()));
            }
            return read(&url, response, max_bytes).await;
        }
        Err(OutboundError::Redirects)
    }

    /// Sends a body and gives the status of the answer, whose own body is not read. Redirects are not followed: the
    /// receiver's address is the one that was checked and named.
    pub async fn post(&self, address: &str, headers: HeaderMap, body: Bytes, time: Duration) -> Result<u16, OutboundError> {
        let url = self.check(address)?;
        let sent = self.client.post(url).headers(headers).body(body).send();
        let response = tokio::time::timeout(time, sent).await.map_err(|_| OutboundError::TimedOut)?.map_err(cause)?;
        match response.status() {
            status if status.is_success() => Ok(status.as_u16()),
            status => Err(OutboundError::Status(status.as_u16())),
        }
    }
}

/// Where a response sends on to.
fn redirected(from: &Url, response: &Response) -> Option<Result<Url, url::ParseError>> {
    let moved = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let location = response.headers().get(LOCATION).filter(|_| moved)?;
    Some(from.join(&String::from_utf8_lossy(location.as_bytes())))
}

async fn read(url: &Url, mut response: Response, max_bytes: u64) -> Result<Answer, OutboundError> {
    if response.content_length().is_some_and(|length| length > max_bytes) {
        return Err(OutboundError::TooLarge(max_bytes));
    }
    let header = |name| response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let media_type = header(CONTENT_TYPE).and_then(|value| value.split(';').next().map(|bare| bare.trim().to_ascii_lowercase()));
    let name = file_name(header(CONTENT_DISPOSITION).as_deref(), url);
    let mut bytes = BytesMut::new();
    // What a server claims of its length is a hint; what comes is counted.
    while let Some(piece) = response.chunk().await.map_err(cause)? {
        if (bytes.len() as u64).saturating_add(piece.len() as u64) > max_bytes {
            return Err(OutboundError::TooLarge(max_bytes));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(Answer { bytes: bytes.freeze(), media_type: media_type.filter(|kind| !kind.is_empty()), file_name: name })
}

/// The cause behind the client's error: our own resolver speaks through it.
fn cause(error: reqwest::Error) -> OutboundError {
    let mut inner = error.source();
    while let Some(source) = inner {
        if source.is::<NotPublic>() {
            return OutboundError::NotPublic;
        }
        if source.is::<Unresolved>() {
            return OutboundError::Unresolved;
        }
        inner = source.source();
    }
    if error.is_timeout() {
        return OutboundError::TimedOut;
    }
    // Addresses can hold secrets: they do not travel in errors.
    OutboundError::Unreachable(error.without_url())
}
