//! What each function may do in the cloud is what its code does, and nothing else.
//!
//! The emulator enforces no permissions, so this test is where a missing grant shows: every function lives through a life of
//! documents on stores that note each use, and the uses are held against the statements of `template.yaml` in both directions.

mod recorder;
mod template;
mod world;

use std::collections::BTreeSet;

use template::{Template, list, matches};

/// Grants that the life of this test does not use, with the reason they stand.
const UNUSED: &[(&str, &str, &str)] = &[
    ("*", "s3:ListBucket", "without it S3 answers 403 for an absent object, not 404"),
    ("*", "sqs:GetQueueAttributes", "the event source asks for it"),
    ("*", "sqs:ChangeMessageVisibility", "only what is to be tried again is released"),
    ("parse-*", "s3:GetObject uploads/*", "any format can be uploaded; this life uploads text"),
    ("parse-*", "dynamodb:GetItem", "a job is read anew when it fails"),
    ("parse-*", "OUTBOX", "a job that fails may have a webhook"),
    ("profiler", "OUTBOX", "a job that fails may have a webhook"),
    ("upload", "OUTBOX", "a job that is called off may have a webhook"),
    ("upload", "dynamodb:DeleteItem", "a retry forgets the attempts of before"),
    ("search", "DOC#*", "tools find a document of another namespace by it"),
    ("compactor", "HASH#*", "postings that a dead publication has left"),
    ("compactor", "KW#*", "postings that a dead publication has left"),
    ("compactor", "s3:GetObject documents/*", "a merge of a damaged split reads the folders"),
    ("compactor", "s3:GetObject index/*", "a merge needs more splits than this life makes"),
    ("compactor", "s3:PutObject index/*", "a merge needs more splits than this life makes"),
    ("publisher", "s3:DeleteObject index/*", "a split that lost its race"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grants_are_what_the_code_uses() {
    let grants = Template::read().grants();
    let world = world::World::new(grants.keys().cloned());
    world.live().await;
    let mut faults = Vec::new();
    for (function, used) in world.used() {
        let granted = &grants[&function];
        for (permission, what) in &used {
            if !granted.iter().any(|(action, place)| action == permission && matches(place, what)) {
                faults.push(format!("{function} needs {permission} on {what}"));
            }
        }
        // Objects and queues pair by pair; of the table each action and each partition, for a statement grants their product.
        let mut parts = BTreeSet::new();
        for (action, place) in granted {
            let is_used = |of: &dyn Fn(&(&'static str, String)) -> bool| used.iter().any(of);
            if action.starts_with("dynamodb:") {
                parts.insert((action.clone(), is_used(&|one| one.0 == action)));
                parts.insert((place.clone(), is_used(&|one| one.0.starts_with("dynamodb:") && matches(place, &one.1))));
            } else {
                parts.insert((format!("{action} {place}"), is_used(&|one| one.0 == action && matches(place, &one.1))));
            }
        }
        for (part, _) in parts.iter().filter(|(_, is_used)| !is_used) {
            let explained =
                UNUSED.iter().any(|(of, what, _)| matches(of, &function) && (part == what || part.split(' ').next() == Some(what)));
            if !explained {
                faults.push(format!("{function} does not use {part}"));
            }
        }
    }
    let faults: BTreeSet<String> = faults.into_iter().collect();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.into_iter().collect::<Vec<_>>().join("\n"));
}

/// What `infra/costs.md` counts with. A change that makes a document or a question dearer shows here.
#[tokio::test]
async fn a_document_and_a_question_cost_what_costs_md_says() {
    let functions = Template::read().functions();
    let world = world::World::new(functions.into_keys());
    world.twenty_documents().await;
    let documents = world.counts();
    world.twenty_questions().await;
    let both = world.counts();
    let mut dear = Vec::new();
    for (permission, per_document, per_question) in COSTS {
        let of = |counts: &std::collections::BTreeMap<&str, u64>| counts.get(permission).copied().unwrap_or(0);
        let (document, question) = (of(&documents).div_ceil(20), (of(&both) - of(&documents)).div_ceil(20));
        if document > *per_document || question > *per_question {
            dear.push(format!("{permission}: {document} a document, {question} a question"));
        }
    }
    assert!(dear.is_empty(), "{dear:#?}");
}

/// Permission, uses for each document of ten pages, uses for each question: at most. `DeleteItem` of a question is the right to
/// count anew on a record that has expired; it is rarely made use of.
const COSTS: &[(&str, u64, u64)] = &[
    ("s3:GetObject", 12, 1),
    ("s3:PutObject", 12, 0),
    ("s3:DeleteObject", 1, 0),
    ("s3:ListBucket", 0, 0),
    ("dynamodb:GetItem", 6, 3),
    ("dynamodb:BatchGetItem", 21, 20),
    ("dynamodb:Query", 30, 0),
    ("dynamodb:PutItem", 20, 2),
    ("dynamodb:DeleteItem", 3, 14),
    ("dynamodb:ConditionCheckItem", 0, 0),
    ("dynamodb:BatchWriteItem", 82, 6),
    ("dynamodb:UpdateItem", 0, 14),
    ("sqs:SendMessage", 2, 0),
];

#[test]
fn every_function_and_queue_has_its_alarms() {
    let template = Template::read();
    let alarms: BTreeSet<String> = template.resources("AWS::CloudWatch::Alarm").into_keys().collect();
    let mut wanted = Vec::new();
    for queue in template.resources("AWS::SQS::Queue").into_keys().filter_map(|name| name.strip_suffix("Queue").map(str::to_owned)) {
        wanted.extend([format!("{queue}DeadLettersAlarm"), format!("{queue}OldestMessageAlarm")]);
    }
    for function in template.resources("AWS::Serverless::Function").into_keys() {
        let name = function.strip_suffix("Function").expect("a function is named so");
        wanted.extend([format!("{name}ErrorsAlarm"), format!("{name}ThrottlesAlarm")]);
    }
    let missing: Vec<&String> = wanted.iter().filter(|name| !alarms.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(template.resources("AWS::CloudWatch::Dashboard").len(), 1);
}

#[test]
fn queues_wait_longer_than_their_functions_and_keep_what_is_given_up() {
    let template = Template::read();
    let (queues, functions) = (template.resources("AWS::SQS::Queue"), template.resources("AWS::Serverless::Function"));
    let mut seen = 0;
    for (name, source) in template.resources("AWS::Lambda::EventSourceMapping") {
        let reference = |value: &serde_yaml_ng::Value| match value {
            serde_yaml_ng::Value::Tagged(tagged) => tagged.value.as_str().unwrap_or_default().trim_end_matches(".Arn").to_owned(),
            other => panic!("{other:?}"),
        };
        let (queue, function) = (&queues[&reference(&source["EventSourceArn"])], &functions[&reference(&source["FunctionName"])]);
        let visibility = queue["VisibilityTimeout"].as_u64().expect("a visibility");
        assert!(visibility >= 6 * function["Timeout"].as_u64().expect("a timeout"), "{name}");
        assert!(queue["RedrivePolicy"]["maxReceiveCount"] != serde_yaml_ng::Value::Null, "{name}");
        assert_eq!(list(&source["FunctionResponseTypes"])[0].as_str(), Some("ReportBatchItemFailures"), "{name}");
        let single = name.starts_with("Parse");
        assert!(!single || source["BatchSize"].as_u64() == Some(1), "{name}");
        assert!(source["ScalingConfig"]["MaximumConcurrency"] != serde_yaml_ng::Value::Null, "{name}");
        seen += 1;
    }
    assert_eq!(seen, 16);
}

/// Where tokens are used, no route is left that lets a call in without one.
#[test]
fn every_route_asks_for_a_token_where_tokens_are_used() {
    const OPEN: [&str; 2] = ["GET /health", "GET /openapi.json"];
    let mut seen = 0;
    for (name, route) in Template::read().resources("AWS::ApiGatewayV2::Route") {
        if OPEN.contains(&route["RouteKey"].as_str().expect("a key")) {
            continue;
        }
        let words = |field: &str| match &route[field] {
            serde_yaml_ng::Value::Tagged(choice) if choice.tag == "!If" => list(&choice.value).iter().take(2).map(text).collect::<Vec<_>>(),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(words("AuthorizationType"), ["HasJwt", "JWT"], "{name}");
        assert_eq!(words("AuthorizerId"), ["HasJwt", "Authorizer"], "{name}");
        seen += 1;
    }
    assert!(seen >= 14, "{seen}");
}

/// A text, or what a reference refers to.
fn text(value: &serde_yaml_ng::Value) -> String {
    match value {
        serde_yaml_ng::Value::Tagged(tagged) => text(&tagged.value),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}
