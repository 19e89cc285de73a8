//! Callers whom an authoriser in front of us has let in: the claims of the token it has checked.
//!
//! The signature, the issuer, the audience and the times are the gateway's business; here is read who the token is about
//! and what it may do. Claims come with the gateway's event, never with a header, so that no caller can make them up.

use std::collections::BTreeMap;

use quarry_model::record::KeyScope;
use quarry_model::{ApiCode, ApiError, Owner};

use super::auth::Caller;
use super::failure::Failure;

/// How tokens are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRules {
    /// The claim that names the owner: `sub` for one corpus a user, or one of an organisation.
    pub owner_claim: String,
    /// What stands before our scopes in a token that also has those of others: `quarry/` makes `quarry/query` ours.
    pub scope_prefix: String,
}

/// The claims of a request's token, among the request's extensions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claims(pub BTreeMap<String, String>);

/// Claims that list scopes, as the common issuers call them.
const SCOPE_CLAIMS: [&str; 2] = ["scope", "scp"];

impl Claims {
    /// Whose data the token opens and what it may do there. Scopes that are not ours are not looked at.
    pub(super) fn caller(&self, rules: &TokenRules) -> Result<Caller, Failure> {
        let named = self.0.get(&rules.owner_claim).map(|name| Owner::new(name.trim()));
        let Some(Ok(owner)) = named else {
            let message = format!("The token names no owner: its claim `{}` is absent or unusable.", rules.owner_claim);
            return Err(ApiError::new(ApiCode::Unauthenticated, message).into());
        };
        let words = SCOPE_CLAIMS.iter().filter_map(|claim| self.0.get(*claim)).flat_map(|text| words(text));
        let mut scopes: Vec<KeyScope> = words.filter_map(|word| scope(word.strip_prefix(rules.scope_prefix.as_str())?)).collect();
        scopes.dedup();
        Ok(Caller { owner, scopes })
    }

    /// Whose requests are counted together: the token's subject.
    pub(super) fn subject(&self) -> &str {
        self.0.get("sub").map_or("", String::as_str)
    }
}

/// A list as tokens write it (`a b`), or as the gateway writes an array (`[a b]`).
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.trim_matches(['[', ']']).split([' ', ',']).filter(|word| !word.is_empty())
}

fn scope(word: &str) -> Option<KeyScope> {
    match word {
        "ingest" => Some(KeyScope::Ingest),
        "query" => Some(KeyScope::Query),
        "admin" => Some(KeyScope::Admin),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(claims: &[(&str, &str)]) -> Result<Caller, Failure> {
        let rules = TokenRules { owner_claim: "org".into(), scope_prefix: "quarry/".into() };
        Claims(claims.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()).caller(&rules)
    }

    #[test]
    fn scopes_are_ours_by_their_prefix_in_every_form_of_list() {
        for (claim, text) in
            [("scope", "openid quarry/query quarry/ingest"), ("scp", "[quarry/query quarry/ingest]"), ("scp", "quarry/query,quarry/ingest")]
        {
            let caller = caller(&[("org", "acme"), (claim, text)]).unwrap();
            assert_eq!((caller.owner.as_str(), caller.scopes), ("acme", vec![KeyScope::Query, KeyScope::Ingest]), "{text}");
        }
        let foreign = caller(&[("org", "acme"), ("scope", "admin files/admin quarry/administrator Quarry/admin")]).unwrap();
        assert_eq!(foreign.scopes, []);
    }

    #[test]
    fn a_token_without_an_owner_opens_nothing() {
        let long = "x".repeat(129);
        for claims in [&[("sub", "ann")][..], &[("org", " ")], &[("org", "a\u{0}b")], &[("org", &long)]] {
            let failure = caller(claims).unwrap_err();
            assert_eq!(failure.0.code, ApiCode::Unauthenticated);
        }
    }
}
