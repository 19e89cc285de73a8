//! One configuration per task: `QUARRY_<TASK>_{BASE_URL, MODEL, KEYS, RPM}`, one by one, or together as the JSON object
//! `QUARRY_MODELS` (`{"PLANNER_MODEL": "…", …}`), which can come out of a secret store as a whole.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use quarry_ports::Task;
use url::Url;

use crate::secret::Secret;

/// Calls per key and minute when none are named.
const RPM: NonZeroU32 = NonZeroU32::new(300).unwrap();
/// The variable that holds them all.
const TOGETHER: &str = "QUARRY_MODELS";
/// Most keys of one task.
const KEYS: usize = 64;

/// Why the models cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A variable holds something else than it should.
    #[error("{variable}: {problem}")]
    Variable {
        /// The variable.
        variable: String,
        /// What is wrong, and what would be right.
        problem: &'static str,
    },
    /// No TLS, no sockets.
    #[error("no HTTP client: {0}")]
    Client(#[source] reqwest::Error),
}

/// Where one task's model is, and how it may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskConfig {
    /// Up to and with the version: `https://…/v1`. Without a slash at the end.
    pub base_url: String,
    /// Name of the model.
    pub model: String,
    /// At least one; rotated.
    pub keys: Vec<Secret>,
    /// Calls per key and minute.
    pub rpm: NonZeroU32,
}

/// Every task that has a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelsConfig {
    /// By task.
    pub tasks: BTreeMap<Task, TaskConfig>,
}

impl ModelsConfig {
    /// Reads the process environment.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::read(|name| std::env::var(name).ok())
    }

    /// Reads from any source of variables. Empty counts as unset. A task has a model when address, model and a key are
    /// set; some of them without the others is an error, so that a slip of the pen does not silently turn a model off.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let set = |name: &str| get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let together: BTreeMap<String, String> = match set(TOGETHER) {
            Some(text) => serde_json::from_str(&text).map_err(|_| wrong(TOGETHER.to_owned(), "must be a JSON object of strings"))?,
            None => BTreeMap::new(),
        };
        // A variable of its own goes before the object.
        let get =
            |name: &str| set(name).or_else(|| together.get(name.trim_start_matches("QUARRY_")).cloned().filter(|value| !value.is_empty()));
        let mut tasks = BTreeMap::new();
        for task in Task::ALL {
            let [base_url, model, keys, rpm] = ["BASE_URL", "MODEL", "KEYS", "RPM"].map(|part| variable(task, part));
            let values = (get(&base_url), get(&model), get(&keys));
            let (url, name, secrets) = match values {
                (None, None, None) => continue,
                (Some(url), Some(name), Some(secrets)) => (url, name, secrets),
                (None, ..) => return Err(missing(base_url)),
                (_, None, _) => return Err(missing(model)),
                (_, _, None) => return Err(missing(keys)),
            };
            let rpm = match get(&rpm) {
                None => RPM,
                Some(text) => text.parse().map_err(|_| wrong(rpm, "must be a number of calls per minute above 0"))?,
            };
            let secrets: Vec<Secret> =
                secrets.split([',', ' ', '\n']).map(str::trim).filter(|key| !key.is_empty()).map(Secret::new).collect();
            if secrets.is_empty() || secrets.len() > KEYS || !secrets.iter().all(|key| key.expose().bytes().all(|b| b.is_ascii_graphic())) {
                return Err(wrong(keys, "must be 1 to 64 keys, separated by commas"));
            }
            tasks.insert(
                task,
                TaskConfig { base_url: address(&url).ok_or_else(|| wrong(base_url, BASE_URL))?, model: name, keys: secrets, rpm },
            );
        }
        Ok(Self { tasks })
    }
}

const BASE_URL: &str =
    "must be an http or https address up to the version, like https://models.example.com/v1, without user, query or fragment";

/// An address that `/chat/completions` can be added to.
fn address(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let plain = matches!(url.scheme(), "http" | "https") && url.has_host();
    let bare = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    (plain && bare).then(|| url.as_str().trim_end_matches('/').to_owned())
}

fn variable(task: Task, part: &str) -> String {
    format!("QUARRY_{}_{part}", task.name().to_ascii_uppercase())
}

fn missing(variable: String) -> ConfigError {
    wrong(variable, "must be set too: a task's model needs BASE_URL, MODEL and KEYS")
}

fn wrong(variable: String, problem: &'static str) -> ConfigError {
    ConfigError::Variable { variable, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<ModelsConfig, ConfigError> {
        ModelsConfig::read(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn tasks_are_independent() {
        assert_eq!(read(&[]).unwrap(), ModelsConfig::default());
        let config = read(&[
            ("QUARRY_PLANNER_BASE_URL", " https://models.example.com/v1/ "),
            ("QUARRY_PLANNER_MODEL", "m-1"),
            ("QUARRY_PLANNER_KEYS", "key-one, key-two"),
            ("QUARRY_OCR_BASE_URL", "http://127.0.0.1:11434/v1"),
            ("QUARRY_OCR_MODEL", "m-2"),
            ("QUARRY_OCR_KEYS", "none"),
            ("QUARRY_OCR_RPM", "7"),
        ])
        .unwrap();
        assert_eq!(config.tasks.keys().collect::<Vec<_>>(), [&Task::Ocr, &Task::Planner]);
        let planner = &config.tasks[&Task::Planner];
        assert_eq!((planner.base_url.as_str(), planner.keys.len(), planner.rpm), ("https://models.example.com/v1", 2, RPM));
        assert_eq!(config.tasks[&Task::Ocr].rpm.get(), 7);
        assert!(!format!("{config:?}").contains("key-one"), "keys show in nothing");
    }

    #[test]
    fn all_tasks_can_come_as_one_object() {
        let object = r#"{"OCR_BASE_URL": "https://models.example.com/v1", "OCR_MODEL": "m", "OCR_KEYS": "one-key", "OCR_RPM": "9"}"#;
        let config = read(&[("QUARRY_MODELS", object), ("QUARRY_OCR_MODEL", "other")]).unwrap();
        let ocr = &config.tasks[&Task::Ocr];
        assert_eq!((ocr.model.as_str(), ocr.rpm.get(), ocr.keys.len()), ("other", 9, 1));
        let error = read(&[("QUARRY_MODELS", "[\"secret-key\"]")]).unwrap_err().to_string();
        assert!(error.starts_with("QUARRY_MODELS") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_named_and_keys_are_not() {
        let whole = [
            ("QUARRY_IMAGE_BASE_URL", "https://models.example.com/v1"),
            ("QUARRY_IMAGE_MODEL", "m"),
            ("QUARRY_IMAGE_KEYS", "secret-key"),
            ("QUARRY_IMAGE_RPM", "5"),
        ];
        assert!(read(&whole).is_ok());
        for without in 0..3 {
            let part: Vec<_> = whole.iter().enumerate().filter(|(at, _)| *at != without).map(|(_, pair)| *pair).collect();
            let error = read(&part).unwrap_err().to_string();
            assert!(error.starts_with(whole[without].0), "{error}");
        }
        for (at, value) in [
            (0, "models.example.com"),
            (0, "ftp://models.example.com"),
            (0, "https://user:secret-key@models.example.com/v1"),
            (0, "https://models.example.com/v1?key=secret-key"),
            (2, ","),
            (2, "secret-key\u{7}"),
            (3, "0"),
            (3, "many"),
        ] {
            let mut pairs = whole;
            pairs[at].1 = value;
            let error = read(&pairs).unwrap_err().to_string();
            assert!(error.starts_with(whole[at].0) && !error.contains("secret"), "{error}");
        }
    }
}
