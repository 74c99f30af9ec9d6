//! Optimizer hints: what a `/*+ ... */` comment says. A hint that cannot be read ends the comment with a warning; those before it
//! count.

use crate::ast::{Parsed, Str};

/// A table that a hint names: `name[@block]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HintTable {
    pub name: String,
    pub block: Option<String>,
}

/// Hints for tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableHint {
    Bka,
    Bnl,
    HashJoin,
    Merge,
    DerivedConditionPushdown,
}

/// Hints for indexes of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyHint {
    Icp,
    Mrr,
    RangeOptimization,
    Index,
    JoinIndex,
    GroupIndex,
    OrderIndex,
    IndexMerge,
    SkipScan,
}

/// A hint about the order of a join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JoinHint {
    FixedOrder,
    Order,
    Prefix,
    Suffix,
}

/// A strategy that SEMIJOIN and NO_SEMIJOIN name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SemijoinStrategy {
    FirstMatch,
    LooseScan,
    Materialization,
    DupsWeedout,
}

/// One optimizer hint of a `/*+ ... */` comment, as written. Manual: 10.9.3, Optimizer Hints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hint {
    /// `[NO_]BKA([@block] [table, ...])`; without tables for all of the block.
    Tables {
        kind: TableHint,
        on: bool,
        block: Option<String>,
        tables: Vec<HintTable>,
    },
    /// `[NO_]INDEX([@block] table [index, ...])`; without indexes for all of the table.
    Keys {
        kind: KeyHint,
        on: bool,
        table: HintTable,
        keys: Vec<String>,
    },
    Join {
        kind: JoinHint,
        block: Option<String>,
        tables: Vec<HintTable>,
    },
    Semijoin {
        on: bool,
        block: Option<String>,
        strategies: Vec<SemijoinStrategy>,
    },
    /// SUBQUERY(MATERIALIZATION), or INTOEXISTS.
    Subquery {
        block: Option<String>,
        materialize: bool,
    },
    BlockName(String),
    MaxExecutionTime(u64),
    /// SET_VAR: the value as a number with its suffix (true), or a word or string.
    SetVar {
        name: String,
        value: String,
        number: bool,
    },
    ResourceGroup(String),
}

/// The hints of a comment, and the warning that it ended with.
#[derive(Debug, Default)]
pub struct HintList {
    pub hints: Vec<Hint>,
    pub warning: Option<String>,
}

impl TableHint {
    /// As hints and warnings write it.
    pub fn name(self) -> &'static str {
        match self {
            TableHint::Bka => "BKA",
            TableHint::Bnl => "BNL",
            TableHint::HashJoin => "HASH_JOIN",
            TableHint::Merge => "MERGE",
            TableHint::DerivedConditionPushdown => "DERIVED_CONDITION_PUSHDOWN",
        }
    }
}

impl KeyHint {
    /// As hints and warnings write it.
    pub fn name(self) -> &'static str {
        match self {
            KeyHint::Icp => "ICP",
            KeyHint::Mrr => "MRR",
            KeyHint::RangeOptimization => "RANGE_OPTIMIZATION",
            KeyHint::Index => "INDEX",
            KeyHint::JoinIndex => "JOIN_INDEX",
            KeyHint::GroupIndex => "GROUP_INDEX",
            KeyHint::OrderIndex => "ORDER_INDEX",
            KeyHint::IndexMerge => "INDEX_MERGE",
            KeyHint::SkipScan => "SKIP_SCAN",
        }
    }
}

impl JoinHint {
    /// As hints and warnings write it.
    pub fn name(self) -> &'static str {
        match self {
            JoinHint::FixedOrder => "JOIN_FIXED_ORDER",
            JoinHint::Order => "JOIN_ORDER",
            JoinHint::Prefix => "JOIN_PREFIX",
            JoinHint::Suffix => "JOIN_SUFFIX",
        }
    }
}

const STRATEGIES: [(&str, SemijoinStrategy); 4] = [
    ("FIRSTMATCH", SemijoinStrategy::FirstMatch),
    ("LOOSESCAN", SemijoinStrategy::LooseScan),
    ("MATERIALIZATION", SemijoinStrategy::Materialization),
    ("DUPSWEEDOUT", SemijoinStrategy::DupsWeedout),
];

impl SemijoinStrategy {
    /// As hints and warnings write it.
    pub fn name(self) -> &'static str {
        STRATEGIES.iter().find(|(_, s)| *s == self).expect("each has a name").0
    }
}

impl Parsed {
    /// What a hint comment of the statement says.
    pub fn hint_list(&self, comment: Str) -> HintList {
        let (from, to) = comment.range();
        let mut reader = Reader { source: &self.source, at: from, end: to, list: HintList::default() };
        if let Err(Bad { at, what }) = reader.all() {
            let near = &self.source[at..];
            let mut near = String::from_utf8_lossy(&near[..near.len().min(NEAR_BYTES)]).into_owned();
            near.truncate(near.trim_end_matches(char::REPLACEMENT_CHARACTER).len());
            let line = 1 + self.source[..at].iter().filter(|b| **b == b'\n').count();
            reader.list.warning = Some(format!("{what} near '{near}' at line {line}"));
        }
        reader.list
    }
}

/// Most bytes of the statement that a warning quotes.
const NEAR_BYTES: usize = 512;
const SYNTAX: &str = "Optimizer hint syntax error";

/// Where the comment stops making sense.
struct Bad {
    at: usize,
    what: &'static str,
}

type R<T> = Result<T, Bad>;

struct Reader<'s> {
    source: &'s [u8],
    at: usize,
    end: usize,
    list: HintList,
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | 0x80..)
}

impl Reader<'_> {
    fn all(&mut self) -> R<()> {
        loop {
            self.space();
            if self.at == self.end && !self.list.hints.is_empty() {
                return Ok(());
            }
            let hint = self.hint()?;
            self.list.hints.push(hint);
        }
    }

    fn bad<T>(&self, at: usize) -> R<T> {
        Err(Bad { at, what: SYNTAX })
    }

    fn space(&mut self) {
        while self.at < self.end && self.source[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.space();
        (self.at < self.end).then(|| self.source[self.at])
    }

    fn eat(&mut self, b: u8) -> bool {
        let found = self.peek() == Some(b);
        self.at += found as usize;
        found
    }

    fn expect(&mut self, b: u8) -> R<()> {
        if self.eat(b) { Ok(()) } else { self.bad(self.at) }
    }

    /// A word without quotes.
    fn word(&mut self) -> R<String> {
        self.space();
        let from = self.at;
        while self.at < self.end && is_word(self.source[self.at]) {
            self.at += 1;
        }
        if from == self.at {
            return self.bad(from);
        }
        Ok(String::from_utf8_lossy(&self.source[from..self.at]).into_owned())
    }

    /// A name, in backquotes or not. Numbers are none.
    fn name(&mut self) -> R<String> {
        match self.peek() {
            Some(b'`') => self.quoted(b'`'),
            Some(_) => {
                let from = self.at;
                let word = self.word()?;
                if word.bytes().all(|b| b.is_ascii_digit()) { self.bad(from) } else { Ok(word) }
            }
            None => self.bad(self.at),
        }
    }

    fn quoted(&mut self, quote: u8) -> R<String> {
        let open = self.at;
        let mut text = Vec::new();
        self.at += 1;
        while self.at < self.end {
            let b = self.source[self.at];
            self.at += 1;
            if b == quote {
                if self.at == self.end || self.source[self.at] != quote {
                    return Ok(String::from_utf8_lossy(&text).into_owned());
                }
                self.at += 1;
            }
            text.push(b);
        }
        self.bad(open)
    }

    /// `@name`, if it stands here.
    fn block(&mut self) -> R<Option<String>> {
        if !self.eat(b'@') {
            return Ok(None);
        }
        match self.source.get(self.at) {
            Some(b'`') if self.at < self.end => Ok(Some(self.quoted(b'`')?)),
            Some(b) if self.at < self.end && is_word(*b) => Ok(Some(self.word()?)),
            _ => self.bad(self.at),
        }
    }

    fn table(&mut self) -> R<HintTable> {
        let name = self.name()?;
        let block = match self.at < self.end && self.source[self.at] == b'@' {
            true => self.block()?,
            false => None,
        };
        Ok(HintTable { name, block })
    }

    /// `table, table ...`, or nothing.
    fn tables(&mut self) -> R<Vec<HintTable>> {
        let mut out = Vec::new();
        if self.peek() == Some(b')') {
            return Ok(out);
        }
        loop {
            out.push(self.table()?);
            if !self.eat(b',') {
                return Ok(out);
            }
        }
    }

    fn hint(&mut self) -> R<Hint> {
        self.space();
        let from = self.at;
        let word = match self.word() {
            Ok(word) => word.to_ascii_uppercase(),
            Err(_) => return self.bad(from),
        };
        let (on, base) = match word.strip_prefix("NO_") {
            Some(rest) => (false, rest),
            None => (true, &word[..]),
        };
        use {JoinHint as J, KeyHint as K, TableHint as T};
        let tables = |kind| Kind::Tables(kind);
        let kind = match (base, on) {
            ("BKA", _) => tables(T::Bka),
            ("BNL", _) => tables(T::Bnl),
            ("HASH_JOIN", _) => tables(T::HashJoin),
            ("MERGE", _) => tables(T::Merge),
            ("DERIVED_CONDITION_PUSHDOWN", _) => tables(T::DerivedConditionPushdown),
            ("ICP", false) => Kind::Keys(K::Icp),
            ("MRR", _) => Kind::Keys(K::Mrr),
            ("RANGE_OPTIMIZATION", false) => Kind::Keys(K::RangeOptimization),
            ("INDEX", _) => Kind::Keys(K::Index),
            ("JOIN_INDEX", _) => Kind::Keys(K::JoinIndex),
            ("GROUP_INDEX", _) => Kind::Keys(K::GroupIndex),
            ("ORDER_INDEX", _) => Kind::Keys(K::OrderIndex),
            ("INDEX_MERGE", _) => Kind::Keys(K::IndexMerge),
            ("SKIP_SCAN", _) => Kind::Keys(K::SkipScan),
            ("JOIN_FIXED_ORDER", true) => Kind::Join(J::FixedOrder),
            ("JOIN_ORDER", true) => Kind::Join(J::Order),
            ("JOIN_PREFIX", true) => Kind::Join(J::Prefix),
            ("JOIN_SUFFIX", true) => Kind::Join(J::Suffix),
            ("SEMIJOIN", _) => Kind::Semijoin,
            ("SUBQUERY", true) => Kind::Subquery,
            ("QB_NAME", true) => Kind::BlockName,
            ("MAX_EXECUTION_TIME", true) => Kind::MaxExecutionTime,
            ("SET_VAR", true) => Kind::SetVar,
            ("RESOURCE_GROUP", true) => Kind::ResourceGroup,
            _ => return self.bad(from),
        };
        self.expect(b'(')?;
        let hint = self.arguments(kind, on)?;
        self.expect(b')')?;
        Ok(hint)
    }

    fn arguments(&mut self, kind: Kind, on: bool) -> R<Hint> {
        Ok(match kind {
            Kind::Tables(kind) => {
                let block = self.block()?;
                Hint::Tables { kind, on, block, tables: self.tables()? }
            }
            Kind::Keys(kind) => {
                let block = self.block()?;
                let mut table = match &block {
                    Some(_) => HintTable { name: self.name()?, block: None },
                    None => self.table()?,
                };
                table.block = table.block.or(block);
                let mut keys = Vec::new();
                if self.peek() != Some(b')') {
                    loop {
                        keys.push(self.name()?);
                        if !self.eat(b',') {
                            break;
                        }
                    }
                }
                Hint::Keys { kind, on, table, keys }
            }
            Kind::Join(kind) => {
                let block = self.block()?;
                let tables = if kind == JoinHint::FixedOrder { Vec::new() } else { self.tables()? };
                Hint::Join { kind, block, tables }
            }
            Kind::Semijoin => {
                let block = self.block()?;
                let mut strategies = Vec::new();
                while self.peek() != Some(b')') {
                    if !strategies.is_empty() {
                        self.expect(b',')?;
                    }
                    self.space();
                    let from = self.at;
                    let word = self.word()?.to_ascii_uppercase();
                    let Some((_, strategy)) = STRATEGIES.iter().find(|(n, _)| *n == word) else {
                        return self.bad(from);
                    };
                    strategies.push(*strategy);
                }
                Hint::Semijoin { on, block, strategies }
            }
            Kind::Subquery => {
                let block = self.block()?;
                self.space();
                let from = self.at;
                let materialize = match &self.word()?.to_ascii_uppercase()[..] {
                    "MATERIALIZATION" => true,
                    "INTOEXISTS" => false,
                    _ => return self.bad(from),
                };
                Hint::Subquery { block, materialize }
            }
            Kind::BlockName => Hint::BlockName(self.name()?),
            Kind::ResourceGroup => Hint::ResourceGroup(self.name()?),
            Kind::MaxExecutionTime => {
                self.space();
                let from = self.at;
                match self.word()?.parse::<u64>() {
                    Ok(ms) if ms <= u32::MAX.into() => Hint::MaxExecutionTime(ms),
                    Ok(_) => {
                        self.space();
                        return Err(Bad { at: self.at, what: "Unsupported MAX_EXECUTION_TIME" });
                    }
                    Err(_) => return self.bad(from),
                }
            }
            Kind::SetVar => {
                let name = self.name()?;
                self.expect(b'=')?;
                match self.peek() {
                    Some(b'\'') => Hint::SetVar { name, value: self.quoted(b'\'')?, number: false },
                    Some(b'`') => Hint::SetVar { name, value: self.quoted(b'`')?, number: false },
                    Some(b) if b.is_ascii_digit() => {
                        let mut value = self.word()?;
                        if self.at < self.end && self.source[self.at] == b'.' {
                            self.at += 1;
                            value = format!("{value}.{}", self.word()?);
                        }
                        Hint::SetVar { name, value, number: true }
                    }
                    _ => Hint::SetVar { name, value: self.word()?, number: false },
                }
            }
        })
    }
}

enum Kind {
    Tables(TableHint),
    Keys(KeyHint),
    Join(JoinHint),
    Semijoin,
    Subquery,
    BlockName,
    MaxExecutionTime,
    SetVar,
    ResourceGroup,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(comment: &str) -> HintList {
        let text = format!("SELECT /*+ {comment} */ 1");
        let parsed = crate::parse(text.as_bytes(), crate::SqlMode::default()).unwrap();
        parsed.hint_list(parsed.hints.expect("there is a comment"))
    }

    #[test]
    fn forms() {
        let table = |name: &str, block: Option<&str>| HintTable { name: name.into(), block: block.map(String::from) };
        let list = hints("no_bnl(a, b@`q 1`) Index(@q t `k``1`, k2) JOIN_FIXED_ORDER(@q) set_var(x = 1G) QB_NAME(q)");
        assert_eq!(list.warning, None);
        let tables = vec![table("a", None), table("b", Some("q 1"))];
        assert_eq!(list.hints[0], Hint::Tables { kind: TableHint::Bnl, on: false, block: None, tables });
        let keys = vec!["k`1".to_string(), "k2".to_string()];
        assert_eq!(list.hints[1], Hint::Keys { kind: KeyHint::Index, on: true, table: table("t", Some("q")), keys });
        let block = Some("q".to_string());
        assert_eq!(list.hints[2], Hint::Join { kind: JoinHint::FixedOrder, block, tables: Vec::new() });
        assert_eq!(list.hints[3], Hint::SetVar { name: "x".into(), value: "1G".into(), number: true });
    }

    #[test]
    fn what_cannot_be_read_ends_the_comment() {
        let list = hints("NO_ICP(t) , NO_MRR(t)");
        assert_eq!(list.hints.len(), 1);
        assert_eq!(list.warning.unwrap(), "Optimizer hint syntax error near ', NO_MRR(t) */ 1' at line 1");
        assert_eq!(hints("").warning.unwrap(), "Optimizer hint syntax error near '*/ 1' at line 1");
        assert_eq!(
            hints("MAX_EXECUTION_TIME(4294967296)").warning.unwrap(),
            "Unsupported MAX_EXECUTION_TIME near ') */ 1' at line 1"
        );
        assert!(hints("JOIN_FIXED_ORDER(t)").warning.is_some() && hints("ICP(t)").warning.is_some());
    }
}
