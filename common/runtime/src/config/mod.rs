//! The configuration: one documented table of `QUARRY_…` variables, read once at start.
//!
//! The local default needs none of them. `.env.example` at the top of the repository mirrors [`VARIABLES`]; a test
//! compares the two.

mod variables;

pub use variables::{VARIABLES, Variable};

use std::net::IpAddr;
use std::time::Duration;

use quarry_model::{Limits, Owner};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::http::TokenRules;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a line; the default on Lambda.
    Json,
    /// For people; the default elsewhere.
    Text,
}

/// What to log, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// A `tracing` filter: `info`, `quarry=debug,warn`.
    pub filter: String,
    /// How lines look.
    pub format: LogFormat,
    /// Whether each outcome also writes a metrics line in CloudWatch's embedded metric format.
    pub metrics: bool,
    /// The installation whose metrics they are: several can share an account.
    pub environment: String,
}

/// A secret that signs; it shows itself to nobody who prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(String);

impl SigningSecret {
    /// Its bytes, for the signature.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl From<&str> for SigningSecret {
    fn from(secret: &str) -> Self {
        Self(secret.to_owned())
    }
}

impl std::fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[secret]")
    }
}

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Every limit.
    pub limits: Limits,
    /// Whose dropped files are.
    pub drop_in_owner: Owner,
    /// By how much hit statistics may lift a result: 0 (off) to 0.1.
    pub hit_boost: f64,
    /// Logging.
    pub log: LogConfig,
    /// The address callers reach us at, without a slash at the end; for addresses inside answers.
    pub public_url: Option<String>,
    /// Largest body of a direct upload, in bytes.
    pub direct_upload_bytes: u64,
    /// SHA-256 (hex) of an administrator's key that is valid without being stored: how the first key of a deployed stack
    /// is made.
    pub admin_key_sha256: Option<String>,
    /// How the tokens are read that an authoriser of the gateway has checked; without it they are not looked at.
    pub tokens: Option<TokenRules>,
    /// Requests a minute that a key may make, where it says nothing else; `None` counts nothing.
    pub requests_per_minute: Option<u32>,
    /// Signs webhooks; without it none is sent.
    pub webhook_secret: Option<SigningSecret>,
    /// Whether jobs may ask for webhooks: when this process has the secret, or is told that the notifier has it.
    pub webhooks: bool,
    /// Addresses that may be fetched from and called although they are not public: an operator's own services.
    pub allowed_addresses: Vec<IpAddr>,
    /// How long a received message stays invisible on AWS: the queue's own setting, six times the function's timeout.
    pub visibility: Duration,
    /// Name of the deployed environment, as `/version` shows it.
    pub environment: String,
}

impl Config {
    /// Reads the process environment.
    pub fn from_env() -> Result<Self, Error> {
        Self::read(|name| std::env::var(name).ok())
    }

    /// Reads from any source of variables. Empty counts as unset.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let get = |name: &str| get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let on_lambda = get("AWS_LAMBDA_FUNCTION_NAME").is_some();
        let format = match get("QUARRY_LOG_FORMAT").as_deref() {
            Some("json") => LogFormat::Json,
            Some("text") => LogFormat::Text,
            Some(_) => return Err(wrong("QUARRY_LOG_FORMAT", "must be json or text")),
            None if on_lambda => LogFormat::Json,
            None => LogFormat::Text,
        };
        let owner = get("QUARRY_DROP_IN_OWNER").unwrap_or_else(|| "local".to_owned());
        let admin_key_sha256 = get("QUARRY_ADMIN_KEY_SHA256").map(|hash| hash.to_ascii_lowercase());
        if admin_key_sha256.as_ref().is_some_and(|hash| hash.len() != 64 || !hash.bytes().all(|b| b.is_ascii_hexdigit())) {
            return Err(wrong("QUARRY_ADMIN_KEY_SHA256", "must be 64 hex digits"));
        }
        let limits = limits(&get)?;
        let environment = get("QUARRY_ENVIRONMENT").unwrap_or_else(|| if on_lambda { "aws" } else { "local" }.to_owned());
        let webhook_secret = get("QUARRY_WEBHOOK_SECRET").map(SigningSecret);
        Ok(Self {
            drop_in_owner: Owner::new(&owner).map_err(|error| wrong("QUARRY_DROP_IN_OWNER", &error.to_string()))?,
            hit_boost: number(&get, "QUARRY_HIT_BOOST", 0.1, |boost| (0.0..=0.1).contains(boost), "must be between 0 and 0.1")?,
            log: LogConfig {
                filter: get("QUARRY_LOG").unwrap_or_else(|| "warn,quarry=info".to_owned()),
                format,
                metrics: flag(&get, "QUARRY_METRICS", on_lambda)?,
                environment: environment.clone(),
            },
            public_url: get("QUARRY_PUBLIC_URL").map(|url| url.trim_end_matches('/').to_owned()),
            direct_upload_bytes: number(
                &get,
                "QUARRY_DIRECT_UPLOAD_BYTES",
                if on_lambda { 4_500_000 } else { limits.file_bytes },
                |bytes| *bytes > 0,
                "must be a number of bytes above 0",
            )?,
            admin_key_sha256,
            tokens: get("QUARRY_JWT_OWNER_CLAIM").map(|owner_claim| TokenRules {
                owner_claim,
                scope_prefix: get("QUARRY_JWT_SCOPE_PREFIX").unwrap_or_else(|| "quarry/".to_owned()),
            }),
            requests_per_minute: Some(number(&get, "QUARRY_REQUESTS_PER_MINUTE", 0, |_| true, "must be a whole number")?)
                .filter(|most| *most > 0),
            webhooks: flag(&get, "QUARRY_WEBHOOKS", webhook_secret.is_some())?,
            webhook_secret,
            allowed_addresses: addresses(&get)?,
            visibility: Duration::from_secs(number(
                &get,
                "QUARRY_VISIBILITY_SECONDS",
                720,
                |s| (1..=43_200).contains(s),
                "must be between 1 and 43200",
            )?),
            environment,
            limits,
        })
    }
}

/// `QUARRY_LIMITS` (a JSON object of overrides) first, then `QUARRY_LIMIT_<NAME>` one by one.
fn limits(get: &impl Fn(&str) -> Option<String>) -> Result<Limits, Error> {
    let defaults = match serde_json::to_value(Limits::default()) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let mut limits = match get("QUARRY_LIMITS") {
        Some(text) => serde_json::from_str::<Map<String, Value>>(&text)
            .map_err(|error| wrong("QUARRY_LIMITS", &format!("must be a JSON object of limits: {error}")))?,
        None => Map::new(),
    };
    for name in defaults.keys() {
        let variable = format!("QUARRY_LIMIT_{}", name.to_ascii_uppercase());
        if let Some(text) = get(&variable) {
            let value: u64 = text.parse().map_err(|_| wrong(&variable, "must be a whole number"))?;
            limits.insert(name.clone(), Value::from(value));
        }
    }
    let limits: Limits = serde_json::from_value(Value::Object(limits)).map_err(|error| wrong("QUARRY_LIMITS", &error.to_string()))?;
    if limits.receives == 0 || limits.parse_seconds == 0 || limits.file_bytes == 0 {
        return Err(wrong("QUARRY_LIMITS", "receives, parse_seconds and file_bytes must be above 0"));
    }
    Ok(limits)
}

fn addresses(get: &impl Fn(&str) -> Option<String>) -> Result<Vec<IpAddr>, Error> {
    let text = get("QUARRY_ALLOWED_ADDRESSES").unwrap_or_default();
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().map_err(|_| wrong("QUARRY_ALLOWED_ADDRESSES", "must be IP addresses separated by commas"))).collect()
}

fn number<T: std::str::FromStr>(
    get: &impl Fn(&str) -> Option<String>,
    variable: &str,
    default: T,
    allowed: impl Fn(&T) -> bool,
    problem: &str,
) -> Result<T, Error> {
    let Some(text) = get(variable) else { return Ok(default) };
    text.parse().ok().filter(allowed).ok_or_else(|| wrong(variable, problem))
}

fn flag(get: &impl Fn(&str) -> Option<String>, variable: &str, default: bool) -> Result<bool, Error> {
    match get(variable).as_deref() {
        None => Ok(default),
        Some("1" | "true" | "on" | "yes") => Ok(true),
        Some("0" | "false" | "off" | "no") => Ok(false),
        Some(_) => Err(wrong(variable, "must be true or false")),
    }
}

fn wrong(variable: &str, problem: &str) -> Error {
    Error::Config { variable: variable.to_owned(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn read(pairs: &[(&str, &str)]) -> Result<Config, Error> {
        let map: HashMap<_, _> = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Config::read(|name| map.get(name).cloned())
    }

    #[test]
    fn nothing_set_is_a_working_local_configuration() {
        let config = read(&[]).unwrap();
        assert_eq!(config.limits, Limits::default());
        assert_eq!(config.drop_in_owner, Owner::local());
        assert_eq!(config.log.format, LogFormat::Text);
        assert_eq!(config.direct_upload_bytes, config.limits.file_bytes);
        assert!(!config.log.metrics);
    }

    #[test]
    fn on_lambda_logs_are_json_with_metrics_and_bodies_fit_the_gateway() {
        let config = read(&[("AWS_LAMBDA_FUNCTION_NAME", "upload")]).unwrap();
        assert_eq!(config.log.format, LogFormat::Json);
        assert!(config.log.metrics);
        assert_eq!(config.direct_upload_bytes, 4_500_000);
    }

    #[test]
    fn limits_come_as_json_or_one_by_one_and_the_single_one_wins() {
        let config = read(&[("QUARRY_LIMITS", r#"{"receives": 5, "xml_depth": 9}"#), ("QUARRY_LIMIT_RECEIVES", "4")]).unwrap();
        assert_eq!((config.limits.receives, config.limits.xml_depth), (4, 9));
        assert_eq!(config.limits.file_bytes, Limits::default().file_bytes);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (name, value) in [
            ("QUARRY_LIMITS", r#"{"receivs": 5}"#),
            ("QUARRY_LIMITS", "[]"),
            ("QUARRY_LIMIT_RECEIVES", "many"),
            ("QUARRY_HIT_BOOST", "0.2"),
            ("QUARRY_LOG_FORMAT", "xml"),
            ("QUARRY_METRICS", "perhaps"),
            ("QUARRY_REQUESTS_PER_MINUTE", "-1"),
            ("QUARRY_ALLOWED_ADDRESSES", "localhost"),
            ("QUARRY_ADMIN_KEY_SHA256", "abc"),
        ] {
            let error = read(&[(name, value)]).unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
    }

    #[test]
    fn the_example_file_names_every_variable_and_no_other() {
        let example = include_str!("../../../../.env.example");
        let named: Vec<&str> = example
            .lines()
            .filter_map(|line| line.strip_prefix("# QUARRY_").or_else(|| line.strip_prefix("QUARRY_")))
            .filter_map(|line| line.split_once('=').map(|(name, _)| name))
            .collect();
        let known: Vec<&str> = VARIABLES.iter().filter_map(|variable| variable.name.strip_prefix("QUARRY_")).collect();
        assert_eq!(named, known);
    }
}
