//! Old debt by rule and file: `rule count path`, a line each. It may shrink, never grow, and no file may join.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::Violation;

/// Rules that have no debt by decree: they are never written to the file.
const ABSOLUTE: [&str; 5] = ["layers", "unsafe-place", "unfinished", "ignored-test", "machine-path"];

#[derive(Default)]
pub struct Ratchet {
    allowed: BTreeMap<(String, String), usize>,
}

const FILE: &str = "xtask/ratchet.txt";

impl Ratchet {
    pub fn read(top: &Path) -> io::Result<Ratchet> {
        match std::fs::read_to_string(top.join(FILE)) {
            Ok(text) => Ratchet::parse(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Ratchet::default()),
            Err(error) => Err(error),
        }
    }

    fn parse(text: &str) -> io::Result<Ratchet> {
        let mut ratchet = Ratchet::default();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [rule, count, path] = words[..] else {
                return Err(io::Error::other(format!("not 'rule count path': {line}")));
            };
            let count = count.parse().map_err(|_| io::Error::other(format!("no count: {line}")))?;
            ratchet.allowed.insert((rule.to_owned(), path.to_owned()), count);
        }
        Ok(ratchet)
    }

    /// What goes beyond the debt, and a note on debt that has shrunk.
    pub fn judge(&self, found: &[Violation]) -> (Vec<Violation>, String) {
        let counts = count(found);
        let over = |violation: &&Violation| {
            let key = (violation.rule.to_owned(), violation.path.clone());
            counts[&key] > self.allowed(&key)
        };
        let grown = found.iter().filter(over).cloned().collect();
        let shrunk =
            self.allowed.iter().filter(|(key, allowed)| counts.get(*key).copied().unwrap_or(0) < **allowed).count();
        let note = match shrunk {
            0 => String::new(),
            n => format!("{n} counts of {FILE} can be lowered: cargo xtask ratchet\n"),
        };
        (grown, note)
    }

    fn allowed(&self, key: &(String, String)) -> usize {
        if ABSOLUTE.contains(&key.0.as_str()) { 0 } else { self.allowed.get(key).copied().unwrap_or(0) }
    }

    /// Writes the smaller of the allowed and the present count; with no file yet, the present counts.
    pub fn write_lowered(top: &Path, found: &[Violation]) -> io::Result<String> {
        let fresh = !top.join(FILE).exists();
        let ratchet = Ratchet::read(top)?;
        let mut text =
            String::from("# Debt that may shrink and never grow: rule count path. Written by cargo xtask ratchet.\n");
        let mut lines = 0;
        for (key, count) in count(found) {
            let kept = if fresh { count } else { count.min(ratchet.allowed(&key)) };
            if kept > 0 && !ABSOLUTE.contains(&key.0.as_str()) {
                text += &format!("{} {kept} {}\n", key.0, key.1);
                lines += 1;
            }
        }
        std::fs::write(top.join(FILE), text)?;
        Ok(format!("{FILE}: {lines} lines\n"))
    }
}

fn count(found: &[Violation]) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for violation in found {
        *counts.entry((violation.rule.to_owned(), violation.path.clone())).or_insert(0) += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(rule: &'static str, path: &str, times: usize) -> Vec<Violation> {
        (1..=times).map(|line| Violation { rule, path: path.into(), line, message: String::new() }).collect()
    }

    #[test]
    fn debt_may_shrink_and_not_grow() {
        let ratchet = Ratchet::parse("# head\nordering 2 a.rs\n").expect("a ratchet");
        assert_eq!(ratchet.judge(&broken("ordering", "a.rs", 2)), (vec![], String::new()));
        assert_eq!(ratchet.judge(&broken("ordering", "a.rs", 3)).0.len(), 3);
        assert_eq!(ratchet.judge(&broken("ordering", "b.rs", 1)).0.len(), 1);
        let (grown, note) = ratchet.judge(&broken("ordering", "a.rs", 1));
        assert!(grown.is_empty() && note.contains("lowered"));
    }

    #[test]
    fn some_rules_take_no_debt() {
        let ratchet = Ratchet::parse("unfinished 2 a.rs\n").expect("a ratchet");
        assert_eq!(ratchet.judge(&broken("unfinished", "a.rs", 1)).0.len(), 1);
        assert!(Ratchet::parse("ordering two a.rs").is_err());
    }
}
