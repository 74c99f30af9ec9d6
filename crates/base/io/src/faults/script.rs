//! Scripts: which operation fails, and how.

use super::Random;
use crate::error::{ErrorKind, Op};
use std::path::Path;
use std::str::FromStr;

/// What happens when a rule fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The operation is not done and the power fails.
    Crash,
    /// A random part of a write is done and the power fails; other operations as with `Crash`.
    Tear,
    /// The operation answers with a device error, as does each later one that the rule counts. Of a write any part is done; what a
    /// flush should have made durable may never be, since the kernel forgets that it is not.
    Fail,
    /// As `Fail`, once.
    FailOnce,
    /// As `Fail`, but nothing is done and the answer is that the disk is full: what file systems that copy on write say also to writes over
    /// allocated bytes.
    Full,
}

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub action: Action,
    /// None: any operation that changes something.
    pub op: Option<Op>,
    /// Fires at this count, from 1.
    pub nth: u64,
    /// Counts only operations on paths that contain this.
    pub within: Option<String>,
    /// Operations counted so far.
    seen: u64,
}

impl Rule {
    pub fn new(action: Action, op: Option<Op>, nth: u64) -> Rule {
        assert!(nth > 0, "operations are counted from 1");
        Rule { action, op, nth, within: None, seen: 0 }
    }

    /// The same rule for paths that contain `part`.
    pub fn within(self, part: &str) -> Rule {
        Rule { within: Some(part.to_owned()), ..self }
    }

    fn counts(&self, op: Op, path: &Path) -> bool {
        self.op.map_or(is_change(op), |wanted| wanted == op)
            && self.within.as_ref().is_none_or(|part| path.to_string_lossy().contains(part.as_str()))
    }
}

/// What to do with an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Go,
    Fail(ErrorKind),
    /// The power fails before the operation.
    Crash,
    /// The power fails after the first so many bytes of the write.
    Tear(usize),
}

/// Rules, a budget of bytes, and what has been counted.
#[derive(Clone, Debug)]
pub struct Script {
    rules: Vec<Rule>,
    /// Bytes by which files may still grow.
    budget: Option<u64>,
    /// The budget is for files whose paths contain this.
    budget_within: Option<String>,
    random: Random,
}

impl Default for Script {
    fn default() -> Self {
        Script { rules: Vec::new(), budget: None, budget_within: None, random: Random::new(1) }
    }
}

pub(super) fn is_change(op: Op) -> bool {
    match op {
        Op::Write | Op::Sync | Op::Allocate | Op::Punch | Op::Truncate => true,
        Op::CreateDirectory | Op::Rename | Op::Remove | Op::SyncDirectory => true,
        Op::Open | Op::Read | Op::Stat | Op::Lock | Op::Advise | Op::List | Op::Reserve | Op::Discard => false,
    }
}

impl Script {
    /// A script without rules whose random choices follow `seed`.
    pub fn seeded(seed: u64) -> Script {
        Script { random: Random::new(seed), ..Script::default() }
    }

    pub fn push(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    /// Bytes by which files whose paths contain `part` may still grow; none: no limit.
    pub fn set_budget(&mut self, bytes: Option<u64>, part: &str) {
        self.budget = bytes;
        self.budget_within = (!part.is_empty()).then(|| part.to_owned());
    }

    fn budget_for(&mut self, path: &Path) -> Option<&mut u64> {
        let part = self.budget_within.as_deref().unwrap_or_default();
        self.budget.as_mut().filter(|_| path.to_string_lossy().contains(part))
    }

    /// Gives bytes back to the budget: a file was cut, punched or removed.
    pub(crate) fn refund(&mut self, path: &Path, bytes: u64) {
        if let Some(budget) = self.budget_for(path) {
            *budget += bytes;
        }
    }

    /// Counts the operation in every rule and says what to do with it. `bytes` is what it writes, `growth` by how much it
    /// lengthens the file.
    pub fn judge(&mut self, op: Op, path: &Path, bytes: usize, growth: u64) -> Verdict {
        let mut verdict = Verdict::Go;
        for rule in &mut self.rules {
            if !rule.counts(op, path) {
                continue;
            }
            rule.seen += 1;
            let lasts = matches!(rule.action, Action::Fail | Action::Full);
            let fires = if lasts { rule.seen >= rule.nth } else { rule.seen == rule.nth };
            if !fires || verdict != Verdict::Go {
                continue;
            }
            verdict = match rule.action {
                Action::Crash => Verdict::Crash,
                Action::Tear if op == Op::Write && bytes > 0 => Verdict::Tear(self.random.below(bytes as u64) as usize),
                Action::Tear => Verdict::Crash,
                Action::Fail | Action::FailOnce => Verdict::Fail(ErrorKind::Device),
                Action::Full => Verdict::Fail(ErrorKind::Full),
            };
        }
        if verdict == Verdict::Go
            && let Some(budget) = self.budget_for(path)
        {
            match budget.checked_sub(growth) {
                Some(left) => *budget = left,
                None => verdict = Verdict::Fail(ErrorKind::Full),
            }
        }
        verdict
    }
}

impl FromStr for Script {
    type Err = String;

    fn from_str(text: &str) -> Result<Script, String> {
        let mut script = Script::default();
        for line in text.split(';').map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |word: &str| word.parse::<u64>().map_err(|_| format!("`{word}` in `{line}` is not a number"));
            let (rule, rest) = match words[..] {
                ["full", bytes] => {
                    script.budget = Some(number(bytes)?);
                    continue;
                }
                ["seed", seed] => {
                    script.random = Random::new(number(seed)?);
                    continue;
                }
                [action, op, nth, ref rest @ ..] => {
                    let action = match action {
                        "crash" => Action::Crash,
                        "tear" => Action::Tear,
                        "fail" => Action::Fail,
                        "failonce" => Action::FailOnce,
                        "full" => Action::Full,
                        _ => return Err(format!("unknown action `{action}`")),
                    };
                    let nth = number(nth)?;
                    if nth == 0 {
                        return Err(format!("`{line}`: operations are counted from 1"));
                    }
                    (Rule::new(action, op_named(op)?, nth), rest)
                }
                _ => return Err(format!("`{line}` is not a rule")),
            };
            script.rules.push(match rest {
                [] => rule,
                ["in", part] => rule.within(part),
                _ => return Err(format!("`{line}` ends in something unknown")),
            });
        }
        Ok(script)
    }
}

fn op_named(name: &str) -> Result<Option<Op>, String> {
    Ok(Some(match name {
        "any" => return Ok(None),
        "open" => Op::Open,
        "read" => Op::Read,
        "write" => Op::Write,
        "sync" => Op::Sync,
        "allocate" => Op::Allocate,
        "punch" => Op::Punch,
        "truncate" => Op::Truncate,
        "createdir" => Op::CreateDirectory,
        "rename" => Op::Rename,
        "remove" => Op::Remove,
        "syncdir" => Op::SyncDirectory,
        _ => return Err(format!("unknown operation `{name}`")),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_count_what_they_name_and_fire_once_or_for_good() {
        let mut script: Script = "crash write 2 in redo; fail sync 2; full 100".parse().unwrap();
        let (redo, data) = (Path::new("/d/redo.1"), Path::new("/d/data"));
        assert_eq!(script.judge(Op::Write, data, 40, 40), Verdict::Go);
        assert_eq!(script.judge(Op::Write, redo, 40, 40), Verdict::Go);
        assert_eq!(script.judge(Op::Write, redo, 40, 40), Verdict::Crash);
        assert_eq!(script.judge(Op::Write, redo, 21, 21), Verdict::Fail(ErrorKind::Full));
        assert_eq!(script.judge(Op::Write, redo, 20, 20), Verdict::Go);
        assert_eq!(script.judge(Op::Sync, data, 0, 0), Verdict::Go);
        assert_eq!(script.judge(Op::Sync, data, 0, 0), Verdict::Fail(ErrorKind::Device));
        assert_eq!(script.judge(Op::Sync, data, 0, 0), Verdict::Fail(ErrorKind::Device));
    }

    #[test]
    fn a_script_that_is_not_understood_is_refused() {
        for bad in
            ["crash", "crash write", "crash write x", "crash write 0", "melt write 1", "crash dig 1", "crash any 1 x"]
        {
            assert!(bad.parse::<Script>().is_err(), "{bad}");
        }
    }
}
