//! One direction: a crate may use crates of its own folder, of folders further down the road, and of `base`.
//!
//! ```text
//!   lab   front   query   store   base        src/main.rs may use all
//!    |      |---->  |---->  |---->  |
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use crate::Violation;

/// In the order in which a statement travels.
const FOLDERS: [&str; 5] = ["lab", "front", "query", "store", "base"];

pub fn check(top: &Path) -> Vec<Violation> {
    let mut manifests = Vec::new();
    for folder in FOLDERS {
        let Ok(crates) = std::fs::read_dir(top.join("crates").join(folder)) else { continue };
        for entry in crates.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Ok(manifest) = std::fs::read_to_string(entry.path().join("Cargo.toml")) {
                manifests.push((folder, name, manifest));
            }
        }
    }
    let mut found = judge(&manifests);
    let strays = std::fs::read_dir(top.join("crates")).into_iter().flatten().flatten();
    let strays = strays.map(|entry| entry.file_name().to_string_lossy().into_owned());
    found.extend(strays.filter(|name| !FOLDERS.contains(&name.as_str())).map(|name| Violation {
        rule: "layers",
        path: format!("crates/{name}"),
        line: 0,
        message: format!("no such folder in the house: {}", FOLDERS.join(", ")),
    }));
    found
}

/// `manifests`: folder, crate, text of its Cargo.toml.
fn judge(manifests: &[(&str, String, String)]) -> Vec<Violation> {
    let depth = |folder: &str| FOLDERS.iter().position(|known| *known == folder);
    let home: BTreeMap<&str, &str> = manifests.iter().map(|(folder, name, _)| (name.as_str(), *folder)).collect();
    let mut found = Vec::new();
    for (folder, name, manifest) in manifests {
        for (line, dependency) in dependencies(manifest) {
            let Some(other) = home.get(dependency) else { continue };
            if depth(other) < depth(folder) {
                found.push(Violation {
                    rule: "layers",
                    path: format!("crates/{folder}/{name}/Cargo.toml"),
                    line,
                    message: format!("{folder}/{name} must not know {other}/{dependency}: the road has one direction"),
                });
            }
        }
    }
    found
}

/// Line and name of each entry of a dependency table (for tests and builds as well: they could hide a cycle).
fn dependencies(manifest: &str) -> Vec<(usize, &str)> {
    let mut inside = false;
    let mut names = Vec::new();
    for (number, line) in manifest.lines().enumerate().map(|(n, line)| (n + 1, line.trim())) {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            inside = table.ends_with("dependencies");
            // [dependencies.name]
            if let Some((_, name)) = table.rsplit_once("dependencies.") {
                names.push((number, name));
            }
        } else if inside && !line.starts_with('#') {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            if !name.is_empty() {
                names.push((number, name));
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upward_imports_are_found_in_any_table() {
        let manifest = |text: &str| format!("[package]\nname = \"x\"\n{text}");
        let manifests = [
            ("front", "listen".to_owned(), manifest("[dependencies]\nengine.workspace = true\n")),
            (
                "store",
                "engine".to_owned(),
                manifest("[dev-dependencies]\nlisten = { path = \"x\" }\nsync.workspace = true"),
            ),
            ("base", "sync".to_owned(), manifest("[dependencies.engine]\npath = \"x\"\n")),
        ];
        let found: Vec<String> = judge(&manifests).into_iter().map(|violation| violation.message).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("store/engine must not know front/listen"));
        assert!(found[1].starts_with("base/sync must not know store/engine"));
    }
}
