//! Optimizer hints, of query blocks and of the tables in them: which ones there are, which contradict others, and what those that
//! stand steer.
//!
//! ```text
//!   Hints::new        every comment of the statement read; blocks found by name; duplicates left out (3126, 3127)
//!   Planner::tune     a table comes into a block: its hints become the source's Tuning (3128 for unknown keys)
//!   join_after        JOIN_ORDER and its like, as what each operand of a join has to come after
//!   Hints::warnings   ... and 3128 for what no table was found for
//! ```

use super::Planner;
use super::join_tree::Tree;
use super::names::{Block, Source};
use super::source::Tuning;
use sql::ast::{Parsed, QueryBody, Statement, Str};
use sql::hints::{Hint, HintTable, JoinHint, KeyHint, SemijoinStrategy, TableHint};
use std::fmt::Write as _;
use types::codes::*;

/// What hints say of the whole statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementHints {
    /// MAX_EXECUTION_TIME.
    pub time_limit_ms: Option<u64>,
    /// SET_VAR: name, value, and whether it is written as a number.
    pub set_vars: Vec<(String, String, bool)>,
}

/// SEMIJOIN, NO_SEMIJOIN and SUBQUERY of a subquery's block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubqueryHint {
    Semijoin(bool, Vec<SemijoinStrategy>),
    Strategy { materialize: bool },
}

struct TableHints {
    name: String,
    flags: Vec<(TableHint, bool)>,
    keys: Vec<(KeyHint, bool, Vec<String>)>,
    found: bool,
}

struct BlockHints {
    /// Where its SELECT stands; `None`: the block of an UPDATE or DELETE.
    start: Option<u32>,
    number: usize,
    name: Option<String>,
    flags: Vec<(TableHint, bool)>,
    tables: Vec<TableHints>,
    joins: Vec<(JoinHint, Vec<HintTable>)>,
    /// Names of its join hints were looked up.
    joined: bool,
    subquery: Option<SubqueryHint>,
}

/// The hints of a statement: of its blocks, of itself, and what is wrong with some.
pub struct Hints {
    blocks: Vec<BlockHints>,
    pub statement: StatementHints,
    pub warnings: Vec<(u16, String)>,
}

/// The hints of a statement that need no plan; `None` for a statement without hints.
pub fn of_statement(parsed: &Parsed) -> Option<StatementHints> {
    Hints::new(parsed).map(|h| h.statement)
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn no(on: bool, name: &str) -> String {
    if on { name.to_string() } else { format!("NO_{name}") }
}

/// The hint as its warnings name it.
fn verb(hint: &Hint) -> String {
    match hint {
        Hint::Tables { kind, on, .. } => no(*on, kind.name()),
        Hint::Keys { kind, on, .. } => no(*on, kind.name()),
        Hint::Join { kind, .. } => kind.name().to_string(),
        Hint::Semijoin { on, .. } => no(*on, "SEMIJOIN"),
        Hint::Subquery { .. } => "SUBQUERY".to_string(),
        Hint::BlockName(_) => "QB_NAME".to_string(),
        Hint::MaxExecutionTime(_) => "MAX_EXECUTION_TIME".to_string(),
        Hint::SetVar { .. } => "SET_VAR".to_string(),
        Hint::ResourceGroup(_) => "RESOURCE_GROUP".to_string(),
    }
}

fn block_of(hint: &Hint) -> Option<&str> {
    match hint {
        Hint::Tables { block, .. } | Hint::Join { block, .. } => block.as_deref(),
        Hint::Semijoin { block, .. } | Hint::Subquery { block, .. } => block.as_deref(),
        _ => None,
    }
}

impl Hints {
    /// Reads the hints of a statement; `None` when it has none.
    pub fn new(parsed: &Parsed) -> Option<Box<Hints>> {
        let first = parsed.hints?;
        let statement = match &parsed.statement {
            Statement::Explain(e) => match &e.target {
                sql::ast::ExplainTarget::Statement(s) => s,
                _ => &parsed.statement,
            },
            s => s,
        };
        let changes = matches!(statement, Statement::Update(_) | Statement::Delete(_));
        let selects = parsed.queries().iter().filter_map(|q| match &q.body {
            QueryBody::Select(select) => Some((select.start, select.hints)),
            _ => None,
        });
        let mut comments: Vec<(Option<u32>, Option<Str>)> = selects.map(|(start, h)| (Some(start), h)).collect();
        // What stands behind INSERT, UPDATE or DELETE.
        let verbs = (!comments.iter().any(|(_, h)| *h == Some(first))).then_some(first);
        let mut starts: Vec<u32> = comments.iter().filter_map(|(start, _)| *start).collect();
        starts.sort_unstable();
        // Without a SELECT the statement has a block all the same.
        let own = changes || starts.is_empty();
        if own {
            comments.push((None, verbs));
        } else if let (Some(verb), Some(top)) = (verbs, starts.first()) {
            comments.push((Some(*top), Some(verb)));
        }
        let mut all = Hints { blocks: Vec::new(), statement: StatementHints::default(), warnings: Vec::new() };
        for start in own.then_some(None).into_iter().chain(starts.into_iter().map(Some)) {
            let number = all.blocks.len() + 1;
            all.blocks.push(BlockHints {
                start,
                number,
                name: None,
                flags: Vec::new(),
                tables: Vec::new(),
                joins: Vec::new(),
                joined: false,
                subquery: None,
            });
        }
        let lists: Vec<(usize, sql::hints::HintList)> = comments
            .iter()
            .filter_map(|(start, comment)| {
                let at = all.blocks.iter().position(|b| b.start == *start).expect("each comment has its block");
                Some((at, parsed.hint_list((*comment)?)))
            })
            .collect();
        for (_, list) in &lists {
            all.warnings.extend(list.warning.iter().map(|w| (ER_PARSE_ERROR, w.clone())));
        }
        for (at, list) in &lists {
            list.hints.iter().for_each(|hint| all.name_block(*at, hint));
        }
        let top = match statement {
            Statement::Query(id) => match &parsed[*id].body {
                QueryBody::Select(select) => Some(select.start),
                _ => None,
            },
            _ => None,
        };
        let mut resource_group = None;
        for (at, list) in lists {
            let is_top = top.is_some() && all.blocks[at].start == top;
            for hint in list.hints {
                match hint {
                    Hint::ResourceGroup(name) => resource_group = Some(name),
                    hint => all.add(at, is_top, hint),
                }
            }
        }
        // Every session is in this one.
        if let Some(name) = resource_group.filter(|name| !name.eq_ignore_ascii_case("USR_default")) {
            all.warnings.push((ER_RESOURCE_GROUP_NOT_EXISTS, format!("Resource Group '{name}' does not exist.")));
        }
        Some(Box::new(all))
    }

    fn conflict(&mut self, hint: &str) {
        self.warnings.push((ER_WARN_CONFLICTING_HINT, format!("Hint {hint} is ignored as conflicting/duplicated")));
    }

    fn name_block(&mut self, at: usize, hint: &Hint) {
        let Hint::BlockName(name) = hint else { return };
        if self.blocks[at].name.is_some() || self.blocks.iter().any(|b| b.name.as_ref() == Some(name)) {
            return self.conflict(&format!("QB_NAME({})", quoted(name)));
        }
        self.blocks[at].name = Some(name.clone());
    }

    /// The block of that name, or number.
    fn numbered(&self, name: &str) -> Option<usize> {
        let known = |b: &BlockHints| b.name.as_deref() == Some(name) || name == format!("select#{}", b.number);
        self.blocks.iter().position(known)
    }

    /// The block of that name, or warning 3127.
    fn find(&mut self, name: &str, hint: &Hint) -> Option<usize> {
        let found = self.numbered(name);
        if found.is_none() {
            let text = format!("Query block name {} is not found for {} hint", quoted(name), verb(hint));
            self.warnings.push((ER_WARN_UNKNOWN_QB_NAME, text));
        }
        found
    }

    fn add(&mut self, own: usize, is_top: bool, hint: Hint) {
        let at = match block_of(&hint) {
            Some(name) => match self.find(name, &hint) {
                Some(at) => at,
                None => return,
            },
            None => own,
        };
        let place = block_of(&hint).map_or(String::new(), |b| format!("@{}", quoted(b)));
        let verb = verb(&hint);
        match &hint {
            Hint::Tables { kind, on, tables, .. } if tables.is_empty() => {
                if self.blocks[at].flags.iter().any(|(k, _)| k == kind) {
                    return self.conflict(&format!("{verb}({place} )"));
                }
                self.blocks[at].flags.push((*kind, *on));
            }
            Hint::Tables { kind, on, tables, .. } => {
                for table in tables {
                    let at = match table.block.as_ref().map(|b| self.find(b, &hint)) {
                        Some(None) => continue,
                        Some(Some(at)) => at,
                        None => at,
                    };
                    let all = self.blocks[at].flags.iter().any(|(k, _)| k == kind);
                    let flags = &mut self.table(at, &table.name).flags;
                    if all || flags.iter().any(|(k, _)| k == kind) {
                        self.conflict(&format!("{verb}({} )", written(table)));
                        continue;
                    }
                    flags.push((*kind, *on));
                }
            }
            Hint::Keys { kind, on, table, keys } => self.add_keys(at, *kind, *on, table, keys, &hint),
            Hint::Join { kind, tables, .. } => {
                let joins = &mut self.blocks[at].joins;
                let once = matches!(kind, JoinHint::Prefix | JoinHint::Suffix);
                let fixed = joins.iter().any(|(k, _)| *k == JoinHint::FixedOrder);
                let again = fixed
                    || (*kind == JoinHint::FixedOrder && !joins.is_empty())
                    || (once && joins.iter().any(|(k, _)| k == kind));
                if again {
                    let names: Vec<String> = tables.iter().map(written).collect();
                    return self.conflict(&format!("{verb}({place} {})", names.join(",")));
                }
                joins.push((*kind, tables.clone()));
            }
            Hint::Semijoin { on, strategies, .. } => {
                if self.blocks[at].subquery.is_some() {
                    let names: Vec<String> = strategies.iter().map(|s| format!(" {}", s.name())).collect();
                    return self.conflict(&format!("{verb}({place} {})", names.join(",")));
                }
                self.blocks[at].subquery = Some(SubqueryHint::Semijoin(*on, strategies.clone()));
            }
            Hint::Subquery { materialize, .. } => {
                if self.blocks[at].subquery.is_some() {
                    let name = if *materialize { "MATERIALIZATION" } else { "INTOEXISTS" };
                    return self.conflict(&format!("{verb}({place}  {name})"));
                }
                self.blocks[at].subquery = Some(SubqueryHint::Strategy { materialize: *materialize });
            }
            Hint::MaxExecutionTime(ms) => {
                if !is_top {
                    let text = "MAX_EXECUTION_TIME hint is supported by top-level standalone SELECT statements only";
                    self.warnings.push((ER_WARN_UNSUPPORTED_MAX_EXECUTION_TIME, text.to_string()));
                } else if self.statement.time_limit_ms.is_some() {
                    self.conflict(&format!("MAX_EXECUTION_TIME({ms})"));
                } else {
                    self.statement.time_limit_ms = Some(*ms);
                }
            }
            Hint::SetVar { name, value, number } => {
                let set_vars = &mut self.statement.set_vars;
                if set_vars.iter().any(|(n, ..)| n.eq_ignore_ascii_case(name)) {
                    return self.conflict(&format!("SET_VAR({name}={value}) "));
                }
                set_vars.push((name.clone(), value.clone(), *number));
            }
            Hint::BlockName(_) | Hint::ResourceGroup(_) => {}
        }
    }

    fn add_keys(&mut self, at: usize, kind: KeyHint, on: bool, table: &HintTable, keys: &[String], hint: &Hint) {
        let at = match table.block.as_ref().map(|b| self.find(b, hint)) {
            Some(None) => return,
            Some(Some(at)) => at,
            None => at,
        };
        use KeyHint::{GroupIndex, Icp, Index, JoinIndex, Mrr, OrderIndex, RangeOptimization};
        let known = &mut self.table(at, &table.name).keys;
        let verb = verb(hint);
        if matches!(kind, Icp | Mrr | RangeOptimization) {
            let set = |known: &[(KeyHint, bool, Vec<String>)], key: Option<&String>| {
                known
                    .iter()
                    .any(|(k, _, keys)| *k == kind && (keys.is_empty() || key.is_some_and(|n| keys.contains(n))))
            };
            if keys.is_empty() {
                match set(known, None) {
                    true => self.conflict(&format!("{verb}({} )", written(table))),
                    false => known.push((kind, on, Vec::new())),
                }
                return;
            }
            for key in keys {
                match set(&self.table(at, &table.name).keys, Some(key)) {
                    true => self.conflict(&format!("{verb}({} {} )", written(table), quoted(key))),
                    false => self.table(at, &table.name).keys.push((kind, on, vec![key.clone()])),
                }
            }
            return;
        }
        let scope = |k: KeyHint| matches!(k, JoinIndex | GroupIndex | OrderIndex);
        let excludes = |k: KeyHint| k == kind || (k == Index && scope(kind)) || (kind == Index && scope(k));
        if known.iter().any(|(k, ..)| excludes(*k)) {
            let names: Vec<String> = keys.iter().map(|k| format!(" {}", quoted(k))).collect();
            return self.conflict(&format!("{verb}({} {})", written(table), names.join(",")));
        }
        known.push((kind, on, keys.to_vec()));
    }

    fn table(&mut self, block: usize, name: &str) -> &mut TableHints {
        let tables = &mut self.blocks[block].tables;
        let at = match tables.iter().position(|t| t.name == name) {
            Some(at) => at,
            None => {
                let (flags, keys) = (Vec::new(), Vec::new());
                tables.push(TableHints { name: name.to_string(), flags, keys, found: false });
                tables.len() - 1
            }
        };
        &mut tables[at]
    }

    /// The block of the SELECT that stands at `start`; of the UPDATE or DELETE for `None`.
    pub fn block_at(&self, start: Option<u32>) -> Option<usize> {
        self.blocks.iter().position(|b| b.start == start)
    }

    /// How the block is to be made a join, if a hint says so.
    pub fn subquery(&self, block: usize) -> Option<&SubqueryHint> {
        self.blocks[block].subquery.as_ref()
    }

    fn block_name(&self, block: usize) -> String {
        let b = &self.blocks[block];
        quoted(&b.name.clone().unwrap_or_else(|| format!("select#{}", b.number)))
    }

    fn unresolved(&mut self, name: String, hint: &str) {
        self.warnings.push((ER_UNRESOLVED_HINT_NAME, format!("Unresolved name {name} for {hint} hint")));
    }

    /// All warnings, once the statement is planned.
    pub fn finish(mut self) -> Vec<(u16, String)> {
        for at in 0..self.blocks.len() {
            for table in std::mem::take(&mut self.blocks[at].tables).into_iter().filter(|t| !t.found) {
                let name = format!("{}@{}", quoted(&table.name), self.block_name(at));
                for (kind, on) in &table.flags {
                    self.unresolved(name.clone(), &no(*on, kind.name()));
                }
                for (kind, on, keys) in &table.keys {
                    let hint = no(*on, kind.name());
                    keys.iter().for_each(|k| self.unresolved(format!("{name} {}", quoted(k)), &hint));
                    if keys.is_empty() {
                        self.unresolved(name.clone(), &hint);
                    }
                }
            }
        }
        self.warnings
    }
}

/// A table as the hint wrote it.
fn written(table: &HintTable) -> String {
    let mut out = quoted(&table.name);
    if let Some(block) = &table.block {
        let _ = write!(out, "@{}", quoted(block));
    }
    out
}

impl Planner<'_> {
    /// The block of an UPDATE or DELETE.
    pub(super) fn changed_block(&self) -> Block {
        Block { hints: self.settings.hints.as_ref().and_then(|h| h.block_at(None)), ..Block::default() }
    }

    /// What a hint says of a table, or of all tables, of the block at hand.
    pub(super) fn hinted(&mut self, table: &str, kind: TableHint) -> Option<bool> {
        let block = self.current_block().hints?;
        let hints = &mut self.settings.hints.as_mut()?.blocks[block];
        let all = hints.flags.iter().find(|(k, _)| *k == kind).map(|(_, on)| *on);
        let Some(own) = hints.tables.iter_mut().find(|t| t.name == table) else { return all };
        own.found = true;
        own.flags.iter().find(|(k, _)| *k == kind).map(|(_, on)| *on).or(all)
    }

    /// Gives a table that comes into the block its hints.
    pub(super) fn tune(&mut self, source: &mut Source) {
        let Some(block) = self.current_block().hints else { return };
        source.block = Some(block);
        let (hash, batched) = (self.hinted(&source.name, TableHint::Bnl), self.hinted(&source.name, TableHint::Bka));
        let mut tuning = Tuning { hash, batched, keys: Vec::new() };
        let hints = self.settings.hints.as_mut().expect("a block with hints");
        let own = hints.blocks[block].tables.iter().find(|t| t.name == source.name);
        let keys = own.map_or(Vec::new(), |t| t.keys.clone());
        for (kind, on, names) in keys {
            let mut indexes = Vec::new();
            for name in &names {
                let table = source.table.as_ref();
                let found = table.and_then(|t| t.indexes.iter().position(|i| i.name.eq_ignore_ascii_case(name)));
                match found {
                    Some(i) => indexes.push(i),
                    None => {
                        let table = format!("{}@{} {}", quoted(&source.name), hints.block_name(block), quoted(name));
                        hints.unresolved(table, &no(on, kind.name()));
                    }
                }
            }
            // A hint of which nothing is left says nothing.
            if names.is_empty() || !indexes.is_empty() {
                tuning.keys.push((kind, on, indexes));
            }
        }
        source.tuning = Some(Box::new(tuning));
    }

    /// Looks up the names in the block's join hints: those with a name that is no table's are dropped (3128).
    pub(super) fn check_join_hints(&mut self) {
        let Some(block) = self.current_block().hints else { return };
        let hints = self.settings.hints.as_mut().expect("a block with hints");
        if std::mem::replace(&mut hints.blocks[block].joined, true) {
            return;
        }
        let sources = &self.scope.blocks.last().expect("inside a query block").sources;
        let mut joins = std::mem::take(&mut hints.blocks[block].joins);
        joins.retain(|(kind, tables)| {
            let missing: Vec<&HintTable> =
                tables.iter().filter(|t| !sources.iter().any(|s| names(hints, block, t, s))).collect();
            // A block that there is not is passed over in silence.
            let named = |t: &&&HintTable| t.block.as_ref().is_none_or(|b| hints.numbered(b).is_some());
            let told: Vec<String> = missing.iter().filter(named).map(|t| written(t)).collect();
            let complete = missing.is_empty();
            told.into_iter().for_each(|name| hints.unresolved(name, kind.name()));
            complete
        });
        hints.blocks[block].joins = joins;
    }

    /// For each operand of a join, those that have to come before it: because it reads them (LATERAL), because of STRAIGHT_JOIN
    /// (`straight`: pairs of sets, before and after), and as join hints want it, where that is possible.
    pub(super) fn join_after(&self, operands: &[&Tree], straight: &[(u64, u64)]) -> Vec<u64> {
        let n = operands.len();
        let slots: Vec<u64> = operands.iter().map(|t| t.slots(self)).collect();
        let sources = &self.current_block().sources;
        let of = |bits: u64| (0..n).filter(|i| slots[*i] & bits != 0).fold(0u64, |set, i| set | 1 << i);
        let mut after = vec![0u64; n];
        for (i, operand) in operands.iter().enumerate() {
            after[i] |= of(operand.needs(self)) & !(1 << i);
            for (before, behind) in straight {
                if slots[i] & behind != 0 {
                    after[i] |= of(*before) & !(1 << i);
                }
            }
        }
        let mut after = closed(after).expect("the order of FROM is possible");
        let Some(block) = self.current_block().hints else { return after };
        let hints = self.settings.hints.as_ref().expect("a block with hints");
        for (kind, tables) in &hints.blocks[block].joins {
            let slot = |t: &HintTable| sources.iter().find(|s| names(hints, block, t, s)).map_or(0, |s| 1 << s.slot);
            let order: Vec<u64> = tables.iter().map(|t| of(slot(t))).filter(|set| *set != 0).collect();
            let named = order.iter().fold(0, |all, set| all | set);
            let mut wanted = after.clone();
            let mut add = |i: usize, set: u64| wanted[i] |= set & !(1 << i);
            for (k, set) in order.iter().enumerate() {
                let i = set.trailing_zeros() as usize;
                order[..k].iter().for_each(|before| add(i, *before));
                if *kind == JoinHint::Suffix {
                    add(i, !named & ((1 << n) - 1));
                }
            }
            match kind {
                JoinHint::Prefix => (0..n).filter(|i| named >> i & 1 == 0).for_each(|i| add(i, named)),
                JoinHint::FixedOrder => (0..n).for_each(|i| add(i, (1 << i) - 1)),
                JoinHint::Order | JoinHint::Suffix => {}
            }
            // A hint that cannot be obeyed together with those before it does not count.
            if let Some(possible) = closed(wanted) {
                after = possible;
            }
        }
        after
    }
}

/// Does the hint's table mean this one?
fn names(hints: &Hints, block: usize, table: &HintTable, source: &Source) -> bool {
    let wanted = match &table.block {
        None => Some(block),
        Some(name) => hints.numbered(name),
    };
    source.name == table.name && source.block == wanted
}

/// With what comes before those that come before; `None` when something would come before itself.
fn closed(mut after: Vec<u64>) -> Option<Vec<u64>> {
    loop {
        let before = after.clone();
        for i in 0..after.len() {
            let through = (0..after.len()).filter(|j| after[i] >> j & 1 == 1).fold(0, |set, j| set | before[j]);
            after[i] |= through;
            if after[i] >> i & 1 == 1 {
                return None;
            }
        }
        if after == before {
            return Some(after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(text: &str) -> Vec<(u16, String)> {
        let parsed = sql::parse(text.as_bytes(), sql::SqlMode::default()).unwrap();
        Hints::new(&parsed).expect("there are hints").warnings
    }

    /// As a MySQL server words them.
    #[test]
    fn contradictions() {
        for (text, expected) in [
            ("SELECT /*+ BKA(t1) NO_BKA(t1) */ 1", "NO_BKA(`t1` )"),
            ("SELECT /*+ BNL() NO_BNL() */ 1", "NO_BNL( )"),
            ("SELECT /*+ BKA() NO_BKA(t2) */ 1", "NO_BKA(`t2` )"),
            ("SELECT /*+ INDEX(t1 a,b) JOIN_INDEX(t1 a, b) */ 1", "JOIN_INDEX(`t1`  `a`, `b`)"),
            ("SELECT /*+ NO_ICP(t1 a) NO_ICP(t1 a) */ 1", "NO_ICP(`t1` `a` )"),
            ("SELECT /*+ JOIN_PREFIX(t1) JOIN_PREFIX(t2) */ 1", "JOIN_PREFIX( `t2`)"),
            ("SELECT /*+ JOIN_FIXED_ORDER() JOIN_ORDER(a, b) */ 1", "JOIN_ORDER( `a`,`b`)"),
            ("SELECT /*+ SUBQUERY(INTOEXISTS) SEMIJOIN(LOOSESCAN) */ 1", "SEMIJOIN(  LOOSESCAN)"),
            ("SELECT /*+ QB_NAME(a) QB_NAME(b) */ 1", "QB_NAME(`b`)"),
            ("SELECT /*+ SET_VAR(a=1) SET_VAR(a=2) */ 1", "SET_VAR(a=2) "),
            ("SELECT /*+ MAX_EXECUTION_TIME(1) MAX_EXECUTION_TIME(2) */ 1", "MAX_EXECUTION_TIME(2)"),
        ] {
            let message = format!("Hint {expected} is ignored as conflicting/duplicated");
            assert_eq!(warnings(text), [(ER_WARN_CONFLICTING_HINT, message)], "{text}");
        }
    }

    #[test]
    fn blocks_are_numbered_in_the_order_of_the_text() {
        let text = "SELECT 1 FROM (SELECT 2 FROM t1) x WHERE 1 IN (SELECT /*+ NO_ICP(t@`select#4`) */ 3)";
        assert_eq!(warnings(text)[0].0, 3127);
        let text = "SELECT 1 FROM (SELECT 2 FROM t1) x WHERE 1 IN (SELECT /*+ NO_ICP(t@`select#2`) */ 3)";
        assert_eq!(warnings(text), []);
    }

    #[test]
    fn closures_find_circles() {
        assert_eq!(closed(vec![0, 1, 2]), Some(vec![0, 1, 3]));
        assert_eq!(closed(vec![4, 1, 2]), None);
    }
}
