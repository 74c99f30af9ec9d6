//! Rules about the documents: a relative link leads to a file, its `#part` to a heading, and a path in backticks exists.
//!
//! A path is what begins with a folder of this repository (`crates/`, `tests/`, ...) and holds no blank. `*` stands for any
//! name. `module::name` is looked for below a crate's `src`: as files as far as it goes, then as a word in the last one.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::Violation;

/// What a path in backticks begins with. Others are words of a shell, of SQL, or paths at run time.
const FOLDERS: [&str; 6] = ["crates/", "src/", "tests/", "bench/", "docs/", "xtask/"];

/// `path` and text of a document.
pub fn check(top: &Path, path: &str, text: &str, found: &mut Vec<Violation>) {
    let mut say = |line, message: String| found.push(Violation { rule: "docs", path: path.to_owned(), line, message });
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    for (line, text) in prose(text) {
        for target in links(text) {
            if let Some(message) = broken_link(top, folder, path, target) {
                say(line, message);
            }
        }
        for word in quoted(text) {
            if let Some(message) = unknown_name(top, folder, word) {
                say(line, message);
            }
        }
    }
}

/// Numbered lines outside of fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(n, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((n + 1, line))
    })
}

/// Targets of `[text](target)` that are no addresses.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
}

/// What stands between backticks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn broken_link(top: &Path, folder: &Path, own: &str, target: &str) -> Option<String> {
    let (file, part) = target.split_once('#').map_or((target, None), |(file, part)| (file, Some(part)));
    let file = if file.is_empty() { PathBuf::from(own) } else { resolved(&folder.join(file)) };
    if !top.join(&file).exists() {
        return Some(format!("a link leads nowhere: {target}"));
    }
    let part = part?;
    let text = std::fs::read_to_string(top.join(&file)).unwrap_or_default();
    let anchors: BTreeSet<String> =
        prose(&text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| anchor(line)).collect();
    (!anchors.contains(part)).then(|| format!("a link leads to no heading: {target}"))
}

/// Without `..`.
fn resolved(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            other => whole.push(other),
        }
    }
    whole
}

/// The `#part` that a heading gets.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn unknown_name(top: &Path, folder: &Path, word: &str) -> Option<String> {
    if word.contains(char::is_whitespace) {
        return None;
    }
    if word.contains("::") {
        let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
        if word.starts_with("crate::") || !word.split("::").all(|part| is_name(part.trim_end_matches("()"))) {
            return None;
        }
        return (!names_code(top, word)).then(|| format!("no such name in the code: {word}"));
    }
    let path = word.trim_end_matches('/');
    if !FOLDERS.iter().any(|start| word.starts_with(start)) || path.contains(['{', '<', '(', '$']) {
        return None;
    }
    // A document of a crate, or a table with a column for the crate, may speak of the crate's own `src`.
    let of_crate = path.starts_with("src/") && crates(top).iter().any(|krate| matches(krate, path));
    let there = matches(top, path) || matches(&top.join(folder), path) || of_crate;
    (!there).then(|| format!("no such file: {word}"))
}

/// Is there a file of this path, in which `*` stands for any text of a name?
fn matches(folder: &Path, path: &str) -> bool {
    let (first, rest) = path.split_once('/').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let fits: Vec<PathBuf> = match first.split_once('*') {
        None => vec![folder.join(first)],
        Some((start, end)) => std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
            })
            .map(|entry| entry.path())
            .collect(),
    };
    fits.iter().any(|fit| rest.map_or(fit.exists(), |rest| matches(fit, rest)))
}

/// The folders of all crates.
fn crates(top: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(top.join("crates")).into_iter().flatten().flatten();
    folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok()).flatten().flatten().map(|e| e.path()).collect()
}

/// `crate::module::name`, or without the crate where one crate has such a module. What begins with neither is a name of somebody
/// else's.
fn names_code(top: &Path, word: &str) -> bool {
    let mut parts: Vec<&str> = word.split("::").map(|part| part.trim_end_matches("()")).collect();
    let crates = crates(top);
    let named = crates.iter().find(|krate| krate.file_name().is_some_and(|name| name == parts[0]));
    match named {
        Some(krate) => {
            parts.remove(0);
            is_below(&krate.join("src"), &parts)
        }
        None => crates.iter().any(|krate| is_below(&krate.join("src"), &parts)),
    }
}

/// Follows `parts` down modules that are files; the rest has to stand as words in the file or folder that is reached.
fn is_below(at: &Path, parts: &[&str]) -> bool {
    let Some((first, rest)) = parts.split_first() else { return true };
    let (file, folder) = (at.join(format!("{first}.rs")), at.join(first));
    if folder.is_dir() && is_below(&folder, rest) || file.is_file() && says(&file, rest) {
        return true;
    }
    says(at, parts)
}

/// Do all of `names` stand as words in this file, or in one file of this folder or below it?
fn says(at: &Path, names: &[&str]) -> bool {
    if at.is_dir() {
        let entries = std::fs::read_dir(at).into_iter().flatten().flatten();
        return entries.map(|entry| entry.path()).any(|path| says(&path, names));
    }
    if at.extension().is_none_or(|extension| extension != "rs") {
        return false;
    }
    let Ok(text) = std::fs::read_to_string(at) else { return false };
    names.iter().all(|name| crate::tidy::word(&text, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        check(&crate::top(), "docs/x.md", text, &mut found);
        found.into_iter().map(|violation| violation.message).collect()
    }

    #[test]
    fn what_leads_nowhere_is_found() {
        for text in [
            "[a](no-such-file.md)",
            "[a](../ARCHITECTURE.md#no-such-heading)",
            "`crates/base/types/src/no_such_file.rs`",
            "`tests/no_such_folder/*.py`",
            "`types::no_such_module`",
            "`no_such_crate::thing`",
        ] {
            assert_eq!(messages(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn what_is_there_passes() {
        for text in [
            "[a](../ARCHITECTURE.md#the-house) and [b](https://example.org/x)",
            "`crates/base/types/src/key.rs`, `tests/e2e/test_*.py`, `SELECT a/b`",
            "`types::key`, `sync::Rank`, `collation::like`",
            "```\n[a](no-such-file.md) `crates/none`\n```",
        ] {
            assert_eq!(messages(text), [""; 0], "{text}");
        }
    }
}
