//! Who may point at whom. `deny.toml` says the same bans for those who run cargo-deny.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, semver::Version};
use quarry_tests::repository;

/// Every room and the rooms of ours that it may name as a normal dependency.
fn allowed() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let rows: &[(&str, &[&str])] = &[
        ("quarry-model", &[]),
        ("quarry-ports", &["quarry-model"]),
        ("quarry-language", &["quarry-model"]),
        ("quarry-document", &["quarry-model", "quarry-ports", "quarry-language"]),
        ("quarry-outbound", &[]),
        ("quarry-pdf", &["quarry-model"]),
        ("quarry-office", &["quarry-model", "quarry-document"]),
        ("quarry-ocr", &["quarry-model", "quarry-ports"]),
        ("quarry-index", &["quarry-model", "quarry-ports", "quarry-language"]),
        ("quarry-models", &["quarry-model", "quarry-ports", "quarry-language"]),
        ("quarry-publication", &["quarry-model", "quarry-ports", "quarry-index"]),
        ("quarry-retrieval", &["quarry-model", "quarry-ports", "quarry-language", "quarry-document", "quarry-index", "quarry-models"]),
        ("quarry-store-aws", &["quarry-model", "quarry-ports"]),
        ("quarry-store-local", &["quarry-model", "quarry-ports"]),
        ("quarry-runtime", &["quarry-model", "quarry-ports"]),
    ];
    rows.iter().map(|(room, to)| (*room, to.iter().copied().collect())).collect()
}

/// Crates that only these rooms may name. SQLite is the laptop's store, and what one table is queried with.
const ONLY: &[(&str, &[&str])] = &[
    ("tantivy", &["quarry-index"]),
    ("aws-config", &["quarry-store-aws"]),
    ("aws-sdk-s3", &["quarry-store-aws"]),
    ("aws-sdk-sqs", &["quarry-store-aws"]),
    ("aws-sdk-dynamodb", &["quarry-store-aws"]),
    ("lambda_runtime", &["quarry-runtime"]),
    ("lambda_http", &["quarry-runtime"]),
    ("rusqlite", &["quarry-store-local", "quarry-retrieval"]),
    ("rmcp", &["quarry-search"]),
];

/// Crates that may not be linked at all: second TLS stacks, and what they bring.
const BANNED: &[&str] = &["native-tls", "openssl", "openssl-sys", "hyper-tls", "encoding", "kuchiki"];

/// Versions below these have known faults (RUSTSEC-2026-0187, -0194, -0195).
const AT_LEAST: &[(&str, &str)] =
    &[("lopdf", "0.42.0"), ("quick-xml", "0.41.0"), ("rustls", "0.23.0"), ("hyper", "1.0.0"), ("h2", "0.4.0")];

fn metadata() -> Metadata {
    MetadataCommand::new().manifest_path(repository().join("Cargo.toml")).exec().expect("cargo metadata")
}

#[test]
fn arrows_point_one_way() {
    let metadata = metadata();
    let ours: BTreeSet<String> = metadata.workspace_packages().iter().map(|p| p.name.to_string()).collect();
    let allowed = allowed();
    let mut faults = Vec::new();
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        let function = package.manifest_path.as_str().contains("/functions/");
        if name == "quarry" || name == "quarry-tests" {
            continue;
        }
        if !function && !allowed.contains_key(name) {
            faults.push(format!("{name} is a room without a row in this table"));
            continue;
        }
        for dependency in package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal && ours.contains(&d.name)) {
            let to = dependency.name.as_str();
            let fine = match allowed.get(name) {
                Some(rooms) => rooms.contains(to),
                // Functions point to common, never to each other, and never to the laptop's store.
                None => allowed.contains_key(to) && to != "quarry-store-local",
            };
            if !fine {
                faults.push(format!("{name} → {to}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn parsers_have_no_way_to_the_index() {
    for package in metadata().workspace_packages() {
        let name = package.name.as_str();
        if name.starts_with("quarry-parse-") || name == "quarry-profiler" {
            let tree = linked(name);
            for banned in ["tantivy", "quarry-index", "quarry-retrieval", "rusqlite"] {
                assert!(!tree.contains(banned), "{name} links {banned}");
            }
        }
    }
}

#[test]
fn the_laptop_program_links_no_cloud() {
    let tree = linked("quarry");
    for banned in ["aws-config", "aws-sdk-s3", "lambda_runtime", "lambda_http", "quarry-store-aws"] {
        assert!(!tree.contains(banned), "quarry links {banned}");
    }
}

#[test]
fn some_crates_belong_to_one_room() {
    let mut faults = Vec::new();
    for package in metadata().workspace_packages() {
        for dependency in package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal) {
            for (krate, rooms) in ONLY {
                if dependency.name == *krate && !rooms.contains(&package.name.as_str()) {
                    faults.push(format!("{} names {krate}, which only {rooms:?} may", package.name));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn nothing_banned_and_nothing_old_is_linked() {
    let metadata = metadata();
    let mut faults = Vec::new();
    for package in &metadata.packages {
        if BANNED.contains(&package.name.as_str()) {
            faults.push(format!("{} is banned", package.name));
        }
        for (krate, least) in AT_LEAST {
            if package.name.as_str() == *krate && package.version < least.parse::<Version>().expect("version") {
                faults.push(format!("{krate} {} is below {least}", package.version));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The names of all crates that a package links, features resolved for it alone.
fn linked(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", package, "--edges", "normal", "--prefix", "none", "--format", "{p}", "--offline"])
        // With its own features, however the developer has set cargo up.
        .env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION")
        .current_dir(repository())
        .output()
        .expect("cargo tree");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}
