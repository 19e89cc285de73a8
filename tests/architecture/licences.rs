//! Dependencies under permissive licences only. `deny.toml` says the same.

use cargo_metadata::MetadataCommand;
use quarry_tests::repository;
use spdx::Expression;

/// SPDX names that may be linked.
const PERMITTED: &[&str] = &[
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "Unlicense",
    "BSL-1.0",
    "CC0-1.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "MPL-2.0",
    "CDLA-Permissive-2.0",
    "OpenSSL",
];

#[test]
fn every_dependency_is_permissive() {
    let metadata = MetadataCommand::new().manifest_path(repository().join("Cargo.toml")).exec().expect("cargo metadata");
    let mut faults = Vec::new();
    for package in &metadata.packages {
        let Some(licence) = &package.license else {
            if package.license_file.is_none() {
                faults.push(format!("{} names no licence", package.name));
            }
            continue;
        };
        // Old manifests separate alternatives with a slash.
        let written = licence.replace('/', " OR ");
        let expression = Expression::parse(&written).unwrap_or_else(|e| panic!("{}: {licence}: {e}", package.name));
        let permitted = expression.evaluate(|requirement| requirement.license.id().is_some_and(|id| PERMITTED.contains(&id.name)));
        if !permitted {
            faults.push(format!("{} {}: {licence}", package.name, package.version));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
