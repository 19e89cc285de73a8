//! Why an address was not reached.

/// By meaning. The texts are for the caller who named the address: they say nothing of what stands behind a refused one.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// Not an address at all, or without a host.
    #[error("is not an address")]
    Malformed,
    /// Something else than http or https.
    #[error("must begin with http:// or https://")]
    Scheme,
    /// User and password in the address.
    #[error("must not hold a user name or password")]
    Credentials,
    /// Loopback, private, link-local, reserved: itself, what its name resolves to, or a redirect.
    #[error("does not lead to a public address")]
    NotPublic,
    /// The name is not known.
    #[error("has a host name that cannot be found")]
    Unresolved,
    /// More redirects than are followed.
    #[error("redirects too often")]
    Redirects,
    /// The server answered, but not with success.
    #[error("was answered with status {0}")]
    Status(u16),
    /// More bytes than allowed.
    #[error("gives more than {0} bytes")]
    TooLarge(u64),
    /// Not within the time.
    #[error("did not answer in time")]
    TimedOut,
    /// The connection failed or broke off.
    #[error("could not be reached")]
    Unreachable(#[source] reqwest::Error),
    /// No HTTP client can be made here.
    #[error("no HTTP client")]
    Client(#[source] reqwest::Error),
}
