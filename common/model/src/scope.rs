//! Whose data a call is about. Every key is built from a [`Scope`], so no store method can be reached without one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest namespace, in characters.
pub const NAMESPACE_MAX_CHARS: usize = 255;

/// A namespace or an owner that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// The namespace is longer than [`NAMESPACE_MAX_CHARS`].
    #[error("a namespace has at most 255 characters")]
    NamespaceTooLong,
    /// The namespace holds control characters.
    #[error("a namespace holds no control characters")]
    NamespaceControl,
    /// The owner is empty, too long or holds control characters.
    #[error("an owner has 1 to 128 characters and no control characters")]
    Owner,
}

/// The tenant: from the authenticated key or token, never from a request body. Locally `local`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Owner(String);

impl Owner {
    /// Takes an owner's name as an authenticator gives it.
    pub fn new(name: &str) -> Result<Self, ScopeError> {
        let length = name.chars().count();
        if length == 0 || length > 128 || name.chars().any(char::is_control) {
            return Err(ScopeError::Owner);
        }
        Ok(Self(name.to_owned()))
    }

    /// The owner of everything in a local installation without keys.
    pub fn local() -> Self {
        Self("local".to_owned())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Owner {
    type Error = ScopeError;
    fn try_from(name: String) -> Result<Self, ScopeError> {
        Self::new(&name)
    }
}

impl From<Owner> for String {
    fn from(owner: Owner) -> Self {
        owner.0
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One corpus of an owner: trimmed, empty = `default`, at most 255 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Namespace(String);

impl Namespace {
    /// Takes a namespace as a caller writes it.
    pub fn new(name: &str) -> Result<Self, ScopeError> {
        let name = name.trim();
        if name.is_empty() {
            return Ok(Self::default());
        }
        if name.chars().count() > NAMESPACE_MAX_CHARS {
            return Err(ScopeError::NamespaceTooLong);
        }
        if name.chars().any(char::is_control) {
            return Err(ScopeError::NamespaceControl);
        }
        Ok(Self(name.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Namespace {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl TryFrom<String> for Namespace {
    type Error = ScopeError;
    fn try_from(name: String) -> Result<Self, ScopeError> {
        Self::new(&name)
    }
}

impl From<Namespace> for String {
    fn from(namespace: Namespace) -> Self {
        namespace.0
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An owner and one of their namespaces.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scope {
    /// The tenant.
    pub owner: Owner,
    /// The corpus.
    pub namespace: Namespace,
}

impl Scope {
    /// Pairs an owner with a namespace.
    pub fn new(owner: Owner, namespace: Namespace) -> Self {
        Self { owner, namespace }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_trimmed_bounded_and_never_empty() {
        assert_eq!(Namespace::new("  ").unwrap(), Namespace::default());
        assert_eq!(Namespace::new(" legal ").unwrap().as_str(), "legal");
        assert_eq!(Namespace::new(&"é".repeat(255)).unwrap().as_str().chars().count(), 255);
        assert_eq!(Namespace::new(&"é".repeat(256)), Err(ScopeError::NamespaceTooLong));
        assert_eq!(Namespace::new("a\nb"), Err(ScopeError::NamespaceControl));
    }
}
