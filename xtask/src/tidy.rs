//! Rules about the text of the sources. Each is one function over scanned lines.

use std::collections::BTreeMap;
use std::path::Path;

use crate::scan::{self, Line};
use crate::{Violation, circles, docs, errors, size};

const FILE_LINES_MAX: usize = 1000;
const CIRCLE_FILES_MAX: usize = 3;
/// Where `unsafe` may stand: `xtask/unsafe.txt`, a path a line.
const UNSAFE_PLACES: &str = "xtask/unsafe.txt";
const ATOMIC_ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
/// How far above a line its explanation may start.
const SAFETY_REACH: usize = 6;
const ORDERING_REACH: usize = 3;

struct File {
    path: String,
    text: String,
    /// Empty unless it is Rust.
    lines: Vec<Line>,
    /// Under `tests/`, `benches/`, `examples/` or `fuzz/`: no part of the server.
    is_test: bool,
}

pub fn check(top: &Path) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut files = Vec::new();
    collect(top, top, &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let listed = std::fs::read_to_string(top.join(UNSAFE_PLACES)).unwrap_or_default();
    let listed: Vec<&str> = listed.lines().map(str::trim).filter(|line| !line.starts_with('#')).collect();
    let numbers = errors::numbers(top);
    for file in &files {
        judge(file, &listed, &mut found);
        if file.path.starts_with("crates/") && !file.is_test || file.path.starts_with("src/") {
            found.extend(errors::bare(&file.lines, &numbers).into_iter().map(|line| Violation {
                rule: "error-number",
                path: file.path.clone(),
                line,
                message: "an error has a name: types::codes".to_owned(),
            }));
        }
        let sizes = size::check(&file.text, &file.lines, file.is_test);
        found.extend(sizes.into_iter().map(|(rule, line, message)| Violation {
            rule,
            path: file.path.clone(),
            line,
            message,
        }));
        if file.path.ends_with(".md") {
            docs::check(top, &file.path, &file.text, &mut found);
        }
    }
    import_circles(&files, &mut found);
    architecture(top, &mut found);
    found
}

/// The largest circle of imports in each crate, where it has more files than a reader keeps in mind.
fn import_circles(files: &[File], found: &mut Vec<Violation>) {
    let mut crates: BTreeMap<&str, Vec<(&str, &[Line])>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.starts_with("crates/") && !file.is_test) {
        if let Some((krate, path)) = file.path.split_once("/src/")
            && path.ends_with(".rs")
        {
            crates.entry(krate).or_default().push((path, &file.lines));
        }
    }
    for (krate, files) in crates {
        let circle = circles::largest(&files);
        if circle.len() > CIRCLE_FILES_MAX {
            found.extend(circle.into_iter().map(|file| Violation {
                rule: "import-circle",
                path: krate.to_owned(),
                line: 0,
                message: format!("{file} is in a circle of imports, which has {CIRCLE_FILES_MAX} files at most"),
            }));
        }
    }
}

/// Every text file of the project that people wrote.
fn collect(top: &Path, folder: &Path, files: &mut Vec<File>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            let foreign = matches!(name.as_str(), "target" | "data" | ".git" | "__pycache__" | "node_modules");
            if !foreign && !name.starts_with(".venv") {
                collect(top, &path, files);
            }
            continue;
        }
        let extension = path.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
        let ours = matches!(extension.as_str(), "rs" | "md" | "sh" | "py" | "toml" | "go" | "lua" | "cnf" | "txt");
        if !ours && name != "Makefile" && name != "run" {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let path = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
        let lines = if extension == "rs" { scan::lines(&text) } else { Vec::new() };
        let is_test =
            path.split('/').any(|part| matches!(part, "tests" | "benches" | "examples" | "fuzz" | "tests.rs"));
        files.push(File { path, text, lines, is_test });
    }
}

fn judge(file: &File, unsafe_places: &[&str], found: &mut Vec<Violation>) {
    let mut say = |rule, line, message: &str| {
        found.push(Violation { rule, path: file.path.clone(), line, message: message.to_owned() });
    };
    // Assembled here, so that this file does not break its own rule.
    let machine = ["work", "farm", "root", "home"].map(|folder| format!("/{folder}/"));
    for (number, line) in file.text.lines().enumerate().map(|(n, line)| (n + 1, line)) {
        if machine.iter().any(|path| line.contains(path.as_str())) {
            say("machine-path", number, "a path of one machine");
        }
    }
    if file.lines.is_empty() {
        return;
    }
    let count = file.text.lines().count();
    if count > FILE_LINES_MAX {
        // One violation a started hundred above the limit, so that the ratchet notices growth.
        for _ in 0..(count - FILE_LINES_MAX).div_ceil(100) {
            say("file-length", 0, &format!("{count} lines, at most {FILE_LINES_MAX}"));
        }
    }
    if !file.text.starts_with("//!") && !file.is_test {
        say("header", 1, "a file opens with //! and says what it is");
    }
    let in_crates = file.path.starts_with("crates/");
    let in_sync = file.path.starts_with("crates/base/sync/");
    let counts_itself = in_sync || file.path.starts_with("crates/base/observe/");
    for (i, line) in file.lines.iter().enumerate() {
        let (code, number) = (line.code.as_str(), i + 1);
        let test = file.is_test || line.test;
        if word(code, "todo!") || word(code, "unimplemented!") {
            say("unfinished", number, "unfinished code");
        }
        if code.contains("#[ignore") {
            say("ignored-test", number, "a test that does not run");
        }
        if test && code.contains("thread::sleep") {
            say("sleep", number, "wait for the event, not for a time");
        }
        if in_crates && !in_sync && makes_lock(code) {
            say("lock", number, "locks are made in crate sync only");
        }
        if in_crates && !test && ["println!", "print!", "dbg!"].iter().any(|m| word(code, m)) {
            say("print", number, "standard output belongs to the command line; the error log is standard error");
        }
        if word(code, "unsafe") {
            if !unsafe_places.contains(&file.path.as_str()) {
                say("unsafe-place", number, "unsafe outside the modules of xtask/unsafe.txt");
            }
            if !code.contains("unsafe_code") && !explained(&file.lines, i, SAFETY_REACH, &["SAFETY", "# Safety"]) {
                say("unsafe-reason", number, "no SAFETY comment");
            }
        }
        if in_crates && !counts_itself && !test && names_ordering(code) {
            let partner = |comment: &str| {
                comment.contains("pairs with")
                    || comment.contains("partner")
                    || ATOMIC_ORDERINGS.iter().any(|o| comment.contains(o))
            };
            let from = i.saturating_sub(ORDERING_REACH);
            let to = (i + 1).min(file.lines.len());
            if !file.lines[from..to].iter().any(|line| partner(&line.comment)) {
                say("ordering", number, "an ordering names its partner");
            }
        }
    }
}

/// `name` as a whole word.
pub fn word(code: &str, name: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back().is_some_and(letter);
        let after = code[at + name.len()..].chars().next().is_some_and(letter);
        !before && (!after || name.ends_with('!'))
    })
}

fn makes_lock(code: &str) -> bool {
    let kinds = ["Mutex", "RwLock", "Condvar"];
    // What stands behind the path up to the end of the statement: one name, or a list in braces.
    let from_std = code.split("std::sync::").skip(1).any(|rest| {
        let rest = rest.split(';').next().unwrap_or_default();
        kinds.iter().any(|kind| word(rest, kind))
    });
    from_std || word(code, "parking_lot")
}

fn names_ordering(code: &str) -> bool {
    ATOMIC_ORDERINGS.iter().any(|name| {
        code.contains(&format!("Ordering::{name}"))
            || (word(code, name)
                && ["load(", "store(", "fetch_", "compare_exchange", "swap("].iter().any(|op| code.contains(op)))
    })
}

/// One of `marks` in a comment on the line, or above it without a gap of more than `reach` lines.
fn explained(lines: &[Line], at: usize, reach: usize, marks: &[&str]) -> bool {
    let mut misses = 0;
    for line in lines[..=at].iter().rev() {
        if marks.iter().any(|mark| line.comment.contains(mark)) {
            return true;
        }
        // A long comment or attribute list is one explanation, however many lines it takes.
        if line.comment.is_empty() && !line.code.trim_start().starts_with("#[") {
            misses += 1;
        }
        if misses > reach {
            return false;
        }
    }
    false
}

/// ARCHITECTURE.md names every crate.
fn architecture(top: &Path, found: &mut Vec<Violation>) {
    let text = std::fs::read_to_string(top.join("ARCHITECTURE.md")).unwrap_or_default();
    let folders = std::fs::read_dir(top.join("crates")).into_iter().flatten().flatten();
    for krate in folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok()).flatten().flatten() {
        let name = krate.file_name().to_string_lossy().into_owned();
        if krate.path().join("Cargo.toml").exists() && !word(&text, &name) {
            found.push(Violation {
                rule: "architecture",
                path: "ARCHITECTURE.md".to_owned(),
                line: 0,
                message: format!("does not name crate {name}"),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<&'static str> {
        let file = File { path: path.into(), text: text.into(), lines: scan::lines(text), is_test: false };
        let mut found = Vec::new();
        judge(&file, &["crates/base/sync/src/a.rs"], &mut found);
        found.into_iter().map(|violation| violation.rule).collect()
    }

    const HEAD: &str = "//! What it is.\n";

    /// Tools that look for these words without reading Rust shall not find them in the samples below: `~` goes.
    fn sample(code: &str) -> String {
        format!("{HEAD}{}", code.replace('~', ""))
    }

    #[test]
    fn each_rule_finds_what_it_is_for() {
        for (rule, code) in [
            ("unfinished", "fn f() { to~do!() }"),
            ("ignored-test", "#[ignore = \"slow\"]"),
            ("sleep", "#[cfg(test)]\nmod tests { fn f() { std::thread::~sleep(d) } }"),
            ("lock", "use std::sync::{Arc, Mutex};"),
            ("lock", "use parking~_lot::Mutex;"),
            ("print", "fn f() { println!(\"x\") }"),
            ("ordering", "fn f() {\n\n\n\n x.load(Ordering::Acquire) }"),
            ("ordering", "fn f() {\n\n\n\n x.store(1, Release) }"),
        ] {
            assert_eq!(rules("crates/store/log/src/a.rs", &sample(code)), [rule], "{code}");
        }
        let unsafe_code = sample("fn f() { un~safe { g() } }");
        assert_eq!(rules("crates/store/log/src/a.rs", &unsafe_code), ["unsafe-place", "unsafe-reason"]);
        assert_eq!(rules("crates/store/log/src/a.rs", "fn f() {}"), ["header"]);
        let path = format!("{HEAD}// see /{}/x", "home");
        assert_eq!(rules("crates/store/log/src/a.rs", &path), ["machine-path"]);
        assert_eq!(rules("crates/store/log/src/a.rs", &format!("{HEAD}{}", "\n".repeat(1101))), ["file-length"; 2]);
    }

    #[test]
    fn what_is_explained_or_only_spoken_of_passes() {
        for code in [
            "// todo! and unsafe\nlet x = \"println! unsafe\";",
            "use std::sync::Arc; type Mutex = sync::Mutex;",
            "// Acquire: pairs with Release in `publish`.\nx.load(Ordering::Acquire)",
            "a.cmp(b) == Ordering::Less",
            "#[cfg(test)]\nmod tests { fn f() { println!() } }",
        ] {
            assert_eq!(rules("crates/store/log/src/a.rs", &sample(code)), [""; 0], "{code}");
        }
        let good = sample("// SAFETY: g has no precondition.\nun~safe { g() }");
        assert_eq!(rules("crates/base/sync/src/a.rs", &good), [""; 0]);
    }
}
