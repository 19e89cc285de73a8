//! The grants of `template.yaml`, one by one.

use std::collections::{BTreeMap, BTreeSet};

use quarry_tests::repository;
use serde_yaml_ng::Value;

/// A permission, and the pattern of object keys, partitions or queues that it holds for.
pub(crate) type Grant = (String, String);

pub(crate) struct Template(Value);

impl Template {
    pub(crate) fn read() -> Self {
        let text = std::fs::read_to_string(repository().join("template.yaml")).expect("template.yaml");
        Self(serde_yaml_ng::from_str(&text).expect("YAML"))
    }

    /// Logical names and properties of all resources of a type.
    pub(crate) fn resources(&self, kind: &str) -> BTreeMap<String, Value> {
        let all = self.0["Resources"].as_mapping().expect("resources");
        let of_kind = all.iter().filter(|(_, resource)| resource["Type"].as_str() == Some(kind));
        of_kind.map(|(name, resource)| (name.as_str().expect("a name").to_owned(), resource["Properties"].clone())).collect()
    }

    /// The functions by their folders' names.
    pub(crate) fn functions(&self) -> BTreeMap<String, Value> {
        let all = self.resources("AWS::Serverless::Function").into_values();
        all.map(|function| {
            let uri = function["CodeUri"].as_str().expect("CodeUri");
            (uri.trim_start_matches("target/lambda/").trim_end_matches('/').to_owned(), function)
        })
        .collect()
    }

    /// What each function may do.
    pub(crate) fn grants(&self) -> BTreeMap<String, BTreeSet<Grant>> {
        self.functions().into_iter().map(|(name, function)| (name, grants_of(&function))).collect()
    }
}

fn grants_of(function: &Value) -> BTreeSet<Grant> {
    let mut grants = BTreeSet::new();
    for policy in list(&function["Policies"]) {
        for statement in list(&policy["Statement"]) {
            assert_eq!(statement["Effect"].as_str(), Some("Allow"));
            let places: Vec<String> = list(&statement["Resource"]).iter().flat_map(|resource| places(resource, &statement)).collect();
            for action in list(&statement["Action"]) {
                let action = action.as_str().expect("an action");
                assert!(!action.contains('*'), "{action} is a whole family");
                grants.extend(places.iter().map(|place| (action.to_owned(), place.clone())));
            }
        }
    }
    grants
}

/// What a statement's resource holds for: keys of objects, the partitions its condition names, or the queue.
fn places(resource: &Value, statement: &Value) -> Vec<String> {
    let Value::Tagged(tagged) = resource else { panic!("a resource is named by reference: {resource:?}") };
    let text = tagged.value.as_str().expect("text");
    if let Some((_, key)) = text.split_once("${Bucket}") {
        return vec![key.trim_start_matches('/').to_owned()];
    }
    if text == "Table.Arn" {
        let condition = &statement["Condition"];
        assert_eq!(condition["Null"]["dynamodb:LeadingKeys"].as_str(), Some("false"), "a scan names no partition and would pass");
        return list(&condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"])
            .iter()
            .map(|key| key.as_str().expect("a key").to_owned())
            .collect();
    }
    let queue = text.strip_suffix("Queue.Arn").unwrap_or_else(|| panic!("{text} is neither bucket nor table nor queue"));
    vec![kebab(queue)]
}

/// `ParseText` is `parse-text`.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && i > 0 {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

pub(crate) fn list(value: &Value) -> Vec<Value> {
    match value {
        Value::Sequence(all) => all.clone(),
        // Policies under a condition of the stack (`!If`) are the same for every function.
        Value::Tagged(_) | Value::Null => {
            if matches!(value, Value::Null) {
                Vec::new()
            } else {
                vec![value.clone()]
            }
        }
        one => vec![one.clone()],
    }
}

/// As IAM compares: `*` is any text, also none, also with slashes.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(head) else { return false };
    loop {
        if matches(rest, left) {
            return true;
        }
        let mut chars = left.chars();
        if chars.next().is_none() {
            return false;
        }
        left = chars.as_str();
    }
}
