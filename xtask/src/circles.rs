//! Circles of imports between files of one crate: a circle is read as one file, so it should be no larger than one.
//!
//! A file imports another where a path in it, `use` or not, begins with `crate`, `super` or `self` and leads into that file, by way of
//! names that others pass on too (`pub use` in `lib.rs`), or where it begins with a name that `use` has brought. A module's own
//! children, and the module that a file is part of, are left aside: these are one thing in several files. Not seen are names that
//! `use x::*` passes on, and calls of methods that stand in another file than their type.

use std::collections::{BTreeMap, BTreeSet};

use crate::scan::Line;

/// A file as a module: the names that lead to it from the crate's root.
type Module = Vec<String>;

/// A path as its names, and what it is called where it is written.
struct Written {
    path: Vec<String>,
    name: String,
}

/// By module: the names that it has from others, with the paths that they stand for.
type Passed<'m> = BTreeMap<&'m Module, BTreeMap<String, Vec<String>>>;

/// More names in a row that stand for one another than anybody writes.
const PASSED_MAX: usize = 8;

/// The files of the largest circle of a crate. `files`: path below `src/` and lines of each.
pub fn largest(files: &[(&str, &[Line])]) -> Vec<String> {
    let modules: BTreeMap<Module, &str> = files.iter().map(|(path, _)| (module_of(path), *path)).collect();
    let codes: Vec<(&Module, String)> = files
        .iter()
        .filter_map(|(path, lines)| Some((modules.get_key_value(&module_of(path))?.0, code_of(lines))))
        .collect();
    let passed: Passed<'_> = codes.iter().map(|(own, code)| (*own, names_in(code))).collect();
    let mut imports: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
    for (own, code) in &codes {
        for path in paths_in(code, &passed[own]) {
            if let Some(other) = leads_to(&path, own, &modules, &passed)
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

fn code_of(lines: &[Line]) -> String {
    let code: Vec<&str> = lines.iter().filter(|line| !line.test).map(|line| line.code.as_str()).collect();
    code.join("\n")
}

fn module_of(path: &str) -> Module {
    let mut names: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(names.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        names.pop();
    }
    names
}

/// Paths in the code that may lead into this crate: a list in braces is each of its paths, and a name from elsewhere is where it is.
fn paths_in(code: &str, imported: &BTreeMap<String, Vec<String>>) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for (at, head) in heads(code) {
        let mut written = Vec::new();
        if matches!(head, "crate" | "super" | "self") {
            expand(&code[at..], &mut Vec::new(), &mut written);
            paths.extend(written.into_iter().map(|written| written.path));
        } else if let Some(origin) = imported.get(head) {
            expand(&code[at..], &mut Vec::new(), &mut written);
            paths.extend(written.iter().map(|written| [origin, &written.path[1..]].concat()));
        }
    }
    paths
}

/// Where paths of several names begin, with the first of these.
fn heads(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices("::").filter_map(|(end, _)| {
        let before = code[..end].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        (before.len() < end && !before.ends_with(':')).then(|| (before.len(), &code[before.len()..end]))
    })
}

/// The names that `use` brings into a file, with their paths.
fn names_in(code: &str) -> BTreeMap<String, Vec<String>> {
    let mut paths = Vec::new();
    for at in words(code, "use ") {
        expand(&code[at + "use ".len()..], &mut Vec::new(), &mut paths);
    }
    paths.into_iter().map(|written| (written.name, written.path)).collect()
}

/// Where the word stands, and is not the end of another one.
fn words<'c>(code: &'c str, word: &'c str) -> impl Iterator<Item = usize> + 'c {
    let begins = |at: usize| {
        let before = code[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':')
    };
    code.match_indices(word).map(|(at, _)| at).filter(move |at| begins(*at))
}

/// Reads a path from the front of `text` and adds it behind `prefix`, or all that its braces hold; what follows it.
fn expand<'t>(text: &'t str, prefix: &mut Vec<String>, out: &mut Vec<Written>) -> &'t str {
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
            out.push(Written { path: prefix.clone(), name: String::new() });
            break;
        }
        prefix.push(rest[..end].to_owned());
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(further) => rest = further,
            None => {
                let alias = rest.trim_start().strip_prefix("as ").map(str::trim_start);
                let end = alias.map_or(0, |a| a.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(a.len()));
                // `self` in braces is called as its module.
                let own = prefix.iter().rfind(|name| *name != "self").cloned().unwrap_or_default();
                let name = alias.map_or(own, |alias| alias[..end].to_owned());
                rest = alias.map_or(rest, |alias| &alias[end..]);
                let path = prefix.iter().enumerate().filter(|(at, name)| *at == 0 || *name != "self");
                out.push(Written { path: path.map(|(_, name)| name.clone()).collect(), name });
                break;
            }
        }
    }
    prefix.truncate(depth);
    rest
}

/// The file that a path written in module `own` leads into, through the names that modules on its way have from others.
fn leads_to<'m>(
    path: &[String],
    own: &'m Module,
    modules: &'m BTreeMap<Module, &str>,
    passed: &Passed<'m>,
) -> Option<&'m Module> {
    let (mut own, mut path) = (own, path.to_vec());
    for _ in 0..PASSED_MAX {
        let (module, rest) = step(&path, own, modules)?;
        match rest.split_first().and_then(|(first, further)| Some((passed.get(module)?.get(first)?, further))) {
            Some((other, further)) => path = [&other[..], further].concat(),
            None => return Some(module),
        }
        own = module;
    }
    None
}

/// The module that a path leads into, and what of the path is not modules' names. `None`: it leads out of the crate.
fn step<'m, 'p>(
    path: &'p [String],
    own: &Module,
    modules: &'m BTreeMap<Module, &str>,
) -> Option<(&'m Module, &'p [String])> {
    let mut at: Module = own.clone();
    let mut names = path;
    let mut is_inside = false;
    while let Some((first, further)) = names.split_first() {
        match first.as_str() {
            "crate" => at.clear(),
            "super" => at.truncate(at.len().saturating_sub(1)),
            "self" => {}
            _ => break,
        }
        is_inside = true;
        names = further;
    }
    while let Some((first, further)) = names.split_first() {
        at.push(first.clone());
        if !modules.contains_key(&at) {
            at.pop();
            break;
        }
        is_inside = true;
        names = further;
    }
    let (module, _) = modules.get_key_value(&at)?;
    is_inside.then_some((module, names))
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
    fn circles_are_found_through_names_that_others_pass_on() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d; pub use a::X as Y; use crate::d::{self, Z};"),
            ("a.rs", "use crate::b::{self, f};"),
            ("b.rs", "use crate::c; use c::W; use std::fmt;"),
            ("c.rs", "fn f() -> crate::Y { super::Z::new() }"),
            ("d.rs", "use crate::fmt::Debug;"),
        ];
        assert_eq!(circle(&files), ["a.rs", "b.rs", "c.rs"]);
    }

    #[test]
    fn circles_are_found_behind_names_that_a_file_has_imported() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b as other; fn f() -> other::X { other::std::g() }"),
            ("b/mod.rs", "mod c; mod d; pub use c::X;"),
            ("b/c.rs", "use crate::a;"),
            ("b/d.rs", "use crate::a;"),
        ];
        assert_eq!(circle(&files), ["a.rs", "b/c.rs"]);
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
