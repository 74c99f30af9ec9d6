//! Circles of imports between files of one crate: a circle is read as one file, so it should be no larger than one.
//!
//! A file imports another where a path in it, `use` or not, begins with `crate`, `super` or `self` and leads into that file. A
//! module's own children, and the module that a file is part of, are left aside: these are one thing in several files.

use std::collections::{BTreeMap, BTreeSet};

use crate::scan::Line;

/// A file as a module: the names that lead to it from the crate's root.
type Module = Vec<String>;

/// The files of the largest circle of a crate. `files`: path below `src/` and lines of each.
pub fn largest(files: &[(&str, &[Line])]) -> Vec<String> {
    let modules: BTreeMap<Module, &str> = files.iter().map(|(path, _)| (module_of(path), *path)).collect();
    let mut imports: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
    for (path, lines) in files {
        let own = module_of(path);
        let Some((own, _)) = modules.get_key_value(&own) else { continue };
        for written in paths_in(lines) {
            if let Some(other) = leads_to(&written, own, &modules)
                && !other.starts_with(own)
                && !own.starts_with(other)
            {
                imports.entry(own).or_default().insert(other);
            }
        }
    }
    let circle = circles(&imports).into_iter().max_by_key(Vec::len).unwrap_or_default();
    circle.into_iter().map(|module| modules[module].to_owned()).collect()
}

fn module_of(path: &str) -> Module {
    let mut names: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(names.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        names.pop();
    }
    names
}

/// Paths in the code, each as its names; a list in braces is each of its paths.
fn paths_in(lines: &[Line]) -> Vec<Vec<String>> {
    let code: Vec<&str> = lines.iter().filter(|line| !line.test).map(|line| line.code.as_str()).collect();
    let code = code.join("\n");
    let mut paths = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':') {
                expand(&code[at..], &mut Vec::new(), &mut paths);
            }
        }
    }
    paths
}

/// Reads a path from the front of `text` and adds it behind `prefix`, or all that its braces hold; what follows it.
fn expand<'t>(text: &'t str, prefix: &mut Vec<String>, out: &mut Vec<Vec<String>>) -> &'t str {
    let depth = prefix.len();
    let mut rest = text.trim_start();
    loop {
        if let Some(inside) = rest.strip_prefix('{') {
            rest = inside;
            while let Some(c) = rest.trim_start().chars().next() {
                rest = rest.trim_start();
                match c {
                    '}' => {
                        rest = &rest[1..];
                        break;
                    }
                    ',' => rest = &rest[1..],
                    c if c.is_alphabetic() || c == '_' || c == '{' => rest = expand(rest, prefix, out),
                    _ => break,
                }
            }
            break;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 {
            out.push(prefix.clone());
            break;
        }
        prefix.push(rest[..end].to_owned());
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(further) => rest = further,
            None => {
                out.push(prefix.clone());
                break;
            }
        }
    }
    prefix.truncate(depth);
    rest
}

/// The file that a path written in module `own` leads into.
fn leads_to<'m>(path: &[String], own: &Module, modules: &'m BTreeMap<Module, &str>) -> Option<&'m Module> {
    let mut at: Module = own.clone();
    let mut names = path;
    while let Some((first, further)) = names.split_first() {
        match first.as_str() {
            "crate" => at.clear(),
            "super" => at.truncate(at.len().saturating_sub(1)),
            "self" => {}
            _ => break,
        }
        names = further;
    }
    for name in names {
        at.push(name.clone());
        if !modules.contains_key(&at) {
            at.pop();
            break;
        }
    }
    modules.get_key_value(&at).map(|(module, _)| module)
}

/// Groups of modules each of which reaches every other one of its group.
fn circles<'m>(imports: &BTreeMap<&'m Module, BTreeSet<&'m Module>>) -> Vec<Vec<&'m Module>> {
    let reached = |from: &'m Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            for next in imports.get(module).into_iter().flatten() {
                if seen.insert(*next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let all: BTreeMap<&Module, BTreeSet<&Module>> = imports.keys().map(|m| (*m, reached(m))).collect();
    let in_circle = |a: &Module, b: &Module| {
        let reaches = |from: &Module, to: &Module| all.get(from).is_some_and(|seen| seen.contains(to));
        reaches(a, b) && reaches(b, a)
    };
    imports.keys().map(|m| imports.keys().filter(|other| in_circle(m, other)).copied().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::largest;
    use crate::scan;

    fn circle(files: &[(&str, &str)]) -> Vec<String> {
        let scanned: Vec<(&str, Vec<scan::Line>)> =
            files.iter().map(|(path, text)| (*path, scan::lines(text))).collect();
        let files: Vec<(&str, &[scan::Line])> = scanned.iter().map(|(path, lines)| (*path, &lines[..])).collect();
        largest(&files)
    }

    #[test]
    fn circles_are_found_through_braces_and_parents() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use super::{b::X, d::{self, Y}};"),
            ("b.rs", "fn f() { crate::c::g() }"),
            ("c.rs", "use crate::{\n    a,\n    d,\n};"),
            ("d.rs", "// use crate::a;\nfn g() {}"),
        ];
        assert_eq!(circle(&files), ["a.rs", "b.rs", "c.rs"]);
    }

    #[test]
    fn children_tests_and_other_crates_make_no_circle() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod c; use self::c::C; use crate::b;"),
            ("a/c.rs", "use super::A; use other::crate_like::b;"),
            ("b.rs", "#[cfg(test)]\nmod tests { use crate::a; }"),
        ];
        assert!(circle(&files).is_empty());
    }
}
