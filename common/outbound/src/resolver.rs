//! Names to numbers, and the check on every number.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::client::Rules;

/// Gives the addresses of a name.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// All addresses of a host name.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's own name service.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// A name with an address that is not public.
#[derive(Debug, thiserror::Error)]
#[error("not a public address")]
pub(crate) struct NotPublic;

/// A name without addresses.
#[derive(Debug, thiserror::Error)]
#[error("no such name")]
pub(crate) struct Unresolved;

/// What the HTTP client asks before it connects: it connects to these addresses and to no other.
pub(crate) struct Guarded {
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) rules: Arc<Rules>,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, rules) = (Arc::clone(&self.resolver), Arc::clone(&self.rules));
        Box::pin(async move {
            let addresses = resolver.resolve(name.as_str()).await.map_err(|_| Unresolved)?;
            if addresses.is_empty() {
                return Err(Unresolved.into());
            }
            // One bad address among good ones is a trick, not a mistake.
            if !addresses.iter().all(|address| rules.allows(*address)) {
                return Err(NotPublic.into());
            }
            // The client puts the port in.
            Ok(Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}
