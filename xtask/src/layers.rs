//! One direction: a crate may use crates of its own folder, of folders further down the road, and of `base`. Cargo says who
//! depends on whom.
//!
//! ```text
//!   lab   front   query   store   base        src/main.rs may use all
//!    |      |---->  |---->  |---->  |
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use cargo_metadata::{MetadataCommand, Package};

use crate::Violation;

/// In the order in which a statement travels.
const FOLDERS: [&str; 5] = ["lab", "front", "query", "store", "base"];

/// A crate of the house: its folder, its name, and the names of what it depends on, for tests and builds as well, since those
/// could hide a cycle.
struct Krate {
    folder: String,
    name: String,
    dependencies: Vec<String>,
}

pub fn check(top: &Path) -> Vec<Violation> {
    let metadata = MetadataCommand::new().manifest_path(top.join("Cargo.toml")).no_deps().exec();
    let mut found = match metadata {
        Ok(metadata) => judge(&metadata.packages.iter().filter_map(|package| krate(top, package)).collect::<Vec<_>>()),
        Err(error) => vec![violation("Cargo.toml", format!("cargo metadata: {error}"))],
    };
    let strays = std::fs::read_dir(top.join("crates")).into_iter().flatten().flatten();
    let strays = strays.map(|entry| entry.file_name().to_string_lossy().into_owned());
    found.extend(strays.filter(|name| !FOLDERS.contains(&name.as_str())).map(|name| {
        violation(&format!("crates/{name}"), format!("no such folder in the house: {}", FOLDERS.join(", ")))
    }));
    found
}

fn violation(path: &str, message: String) -> Violation {
    Violation { rule: "layers", path: path.to_owned(), line: 0, message }
}

/// `None`: it is not below `crates/`.
fn krate(top: &Path, package: &Package) -> Option<Krate> {
    let place = package.manifest_path.as_std_path().parent()?.strip_prefix(top.join("crates")).ok()?;
    Some(Krate {
        folder: place.parent()?.to_str()?.to_owned(),
        name: package.name.to_string(),
        dependencies: package.dependencies.iter().map(|dependency| dependency.name.clone()).collect(),
    })
}

fn judge(crates: &[Krate]) -> Vec<Violation> {
    let depth = |folder: &str| FOLDERS.iter().position(|known| *known == folder);
    let home: BTreeMap<&str, &str> = crates.iter().map(|krate| (krate.name.as_str(), krate.folder.as_str())).collect();
    let mut found = Vec::new();
    for Krate { folder, name, dependencies } in crates {
        for dependency in dependencies {
            let Some(other) = home.get(dependency.as_str()) else { continue };
            if depth(other) < depth(folder) {
                found.push(violation(
                    &format!("crates/{folder}/{name}/Cargo.toml"),
                    format!("{folder}/{name} must not know {other}/{dependency}: the road has one direction"),
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upward_imports_are_found() {
        let krate = |folder: &str, name: &str, dependencies: &[&str]| Krate {
            folder: folder.to_owned(),
            name: name.to_owned(),
            dependencies: dependencies.iter().map(ToString::to_string).collect(),
        };
        let crates = [
            krate("front", "listen", &["engine", "polling"]),
            krate("store", "engine", &["listen", "sync"]),
            krate("base", "sync", &["engine"]),
        ];
        let found: Vec<String> = judge(&crates).into_iter().map(|violation| violation.message).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("store/engine must not know front/listen"));
        assert!(found[1].starts_with("base/sync must not know store/engine"));
    }

    #[test]
    fn every_crate_is_seen_with_what_it_needs() {
        let metadata = MetadataCommand::new().manifest_path(crate::top().join("Cargo.toml")).no_deps().exec();
        let packages = metadata.expect("cargo metadata").packages;
        let crates: Vec<Krate> = packages.iter().filter_map(|package| krate(&crate::top(), package)).collect();
        let run = crates.iter().find(|krate| krate.name == "run").expect("it is a crate of the house");
        assert_eq!(run.folder, "query");
        assert!(run.dependencies.iter().any(|name| name == "engine"), "{:?}", run.dependencies);
        assert!(crates.iter().all(|krate| FOLDERS.contains(&krate.folder.as_str())));
    }
}
