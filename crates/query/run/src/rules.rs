//! Rules of a table at work: default expressions and generated columns complete a row, checks judge it, foreign keys look
//! for its parent and carry changes to its children.
//!
//! Foreign keys are looked at after the row is written, so that a row may refer to itself. The parent's row is read with a
//! shared lock, a child's with an exclusive one: of two transactions that make a child and take its parent away, one waits.

use crate::operator::recycle;
use crate::program::compile::Own;
use crate::triggers::{Fire, NewRow, Triggers};
use crate::write::{self, Refused, RowWriter, column};
use crate::{Frame, Run, Scope, Shape, long};
use catalog::{ForeignKey, ReferenceAction, Table, TriggerEvent};
use engine::{Cursor, Direction, LockMode, Range, Read, Wait};
use expr::{Execution, Expr, Node, Strictness, array, reborrow, store};
use plan::node::rules::{Child, Rules, TableRules};
use std::ops::Bound;
use std::sync::Arc;
use types::codes::*;
use types::{Result, SqlError, Value, err, key};

/// How far a change is carried (InnoDB's bound).
const DEPTH_MAX: usize = 15;

const SHARED: Read = Read::Locking { mode: LockMode::Shared, wait: Wait::Block };
const EXCLUSIVE: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };

/// The rules of the table that a statement writes, with the buffers of one that runs.
pub struct RuleSet {
    rules: Arc<Rules>,
    /// `None`: the statement fires none.
    triggers: Option<Box<Triggers>>,
    /// By node: a frame whose slot 0 is of the table's shape.
    frames: Vec<Frame>,
    /// Generated columns of the statement's table that stay as they are, since nothing that they read changes.
    kept: Vec<usize>,
    row: Vec<u8>,
    key: Vec<u8>,
    /// What triggers have set in the row at hand, by column, and buffers for what the row takes of it.
    set: Vec<(usize, Value<'static>)>,
    columns: Vec<usize>,
    values: Vec<Value<'static>>,
    /// Node and index in which a change that was carried on met a key that is there already.
    met: Option<(usize, usize)>,
}

impl RuleSet {
    /// The rules with frames for their expressions.
    pub fn new(rules: Arc<Rules>) -> RuleSet {
        let frame = |n: &TableRules| Frame::new(vec![Shape::Row(n.table.clone())], Vec::new());
        let frames = rules.nodes.iter().map(frame).collect();
        let triggers = Triggers::new(&rules.nodes[0].table, &rules.triggers.all);
        RuleSet {
            rules,
            triggers,
            frames,
            kept: Vec::new(),
            row: Vec::new(),
            key: Vec::new(),
            set: Vec::new(),
            columns: Vec::new(),
            values: Vec::new(),
            met: None,
        }
    }

    /// For rows of which only these columns change: what generated columns make of others is not computed again. Those that are.
    pub fn only_changing(&mut self, columns: &[usize]) -> Vec<usize> {
        let (mut changing, mut kept) = (columns.to_vec(), Vec::new());
        for (at, e) in &self.rules.nodes[0].generated {
            let reads = |e: &Expr| match e.node {
                Node::Column { depth: 0, column, .. } => changing.contains(&usize::from(column)),
                _ => false,
            };
            // One that is set itself, to its DEFAULT, is computed.
            let is_set = changing.contains(at);
            if is_set || e.any(&mut |e| reads(e)) { changing.push(*at) } else { kept.push(*at) }
        }
        self.kept = kept;
        changing.split_off(columns.len())
    }

    /// What stays of them where rows that are there get another form in place: columns that are `absent` are computed. What the
    /// others hold was computed, checked and found a parent when it was written.
    pub fn only_complete(&mut self, absent: &dyn Fn(usize) -> bool) {
        let rules = Arc::get_mut(&mut self.rules).expect("rules that were just made");
        for node in &mut rules.nodes {
            node.generated.retain(|(c, _)| absent(*c));
            node.checks.clear();
            node.parents.clear();
        }
    }

    /// The table's triggers at that time of that event.
    fn triggers(&self, event: TriggerEvent, before: bool) -> &[Own] {
        self.triggers.as_ref().map_or(&[], |t| t.of(event, before))
    }

    /// Is there a trigger for the event at that time?
    pub fn fires(&self, event: TriggerEvent, before: bool) -> bool {
        !self.triggers(event, before).is_empty()
    }

    /// Is there a trigger for rows that go?
    pub fn fires_at_delete(&self) -> bool {
        [true, false].iter().any(|before| self.fires(TriggerEvent::Delete, *before))
    }

    /// The table that the statement writes.
    pub fn table(&self) -> &Arc<Table> {
        &self.rules.nodes[0].table
    }

    /// Columns that triggers before an update may change.
    pub fn changed_by_triggers(&self) -> &[usize] {
        &self.rules.triggers.set_by_update
    }

    /// Fires triggers before the encoded row is written in place of `old`, or of none. `nulls`: columns that are NULL, and have other
    /// values in the encoded row; those of them that stay NULL, and that a trigger has made so. What triggers have set.
    pub fn before_row(
        &mut self,
        old: Option<&[u8]>,
        writer: &mut RowWriter,
        nulls: &mut Vec<usize>,
        run: &Run<'_>,
    ) -> Result<&[(usize, Value<'static>)]> {
        let RuleSet { rules, triggers, row, key, set, columns, .. } = self;
        let event = if old.is_some() { TriggerEvent::Update } else { TriggerEvent::Insert };
        let table = &*rules.nodes[0].table;
        row.clone_from(&writer.row);
        key.clone_from(&writer.key);
        let mut emptied = std::mem::take(set);
        emptied.clear();
        let mut new = NewRow { row, nulls: std::mem::take(nulls), set: emptied };
        let fired = triggers.as_ref().map_or(&[][..], |t| t.of(event, true));
        run.fire(fired, table, old, Some(&mut new), true)?;
        (*nulls, *set) = (new.nulls, new.set);
        columns.clear();
        let mut values = recycle(std::mem::take(&mut self.values));
        for (c, value) in set.iter() {
            if value.is_null() && !table.columns[*c].data_type.nullable {
                nulls.push(*c);
            } else if table.columns[*c].generated.is_none() {
                columns.push(*c);
                values.push(reborrow(value));
            }
        }
        if !columns.is_empty() {
            let rekey = columns.iter().any(|c| table.indexes[0].parts.iter().any(|part| part.column == *c));
            writer.change(&run.tx.borrow(), table, (row, key), columns, &values, rekey)?;
        }
        self.values = recycle(values);
        Ok(set)
    }

    /// Fires triggers before a row is deleted.
    pub fn before_delete(&self, old: &[u8], run: &Run<'_>) -> Result<()> {
        self.fire_at(TriggerEvent::Delete, true, Some(old), None, run)
    }

    /// Fires triggers after an update that has left the row as it was.
    pub fn unchanged(&self, old: &[u8], new: &[u8], run: &Run<'_>) -> Result<()> {
        run.row_stands();
        self.fire_at(TriggerEvent::Update, false, Some(old), Some(new), run)
    }

    fn fire_at(
        &self,
        event: TriggerEvent,
        before: bool,
        old: Option<&[u8]>,
        new: Option<&[u8]>,
        run: &Run<'_>,
    ) -> Result<()> {
        let triggers = self.triggers(event, before);
        if triggers.is_empty() {
            return Ok(());
        }
        let mut new = new.map(|row| NewRow { row, nulls: Vec::new(), set: Vec::new() });
        run.fire(triggers, &self.rules.nodes[0].table, old, new.as_mut(), false)
    }

    /// Do foreign keys lead to the table?
    pub fn has_children(&self) -> bool {
        !self.rules.nodes[0].children.is_empty()
    }

    /// Computes what triggers before an insertion or an update are to see in the encoded row: default expressions of columns that
    /// are `absent`, once and for all, and generated columns, if a trigger reads one. Errors are those of the expressions.
    pub fn fill_for_triggers(
        &mut self,
        event: TriggerEvent,
        writer: &mut RowWriter,
        absent: &dyn Fn(usize) -> bool,
        row: u64,
        how: Strictness,
        run: &Run<'_>,
    ) -> Result<()> {
        let rules = Arc::clone(&self.rules);
        let node = &rules.nodes[0];
        let shows_generated = self.triggers.as_ref().is_some_and(|t| t.shows_generated(event));
        let is_shown = |(c, _): &&(usize, Expr)| shows_generated && !node.table.columns[*c].hidden;
        let defaults = node.defaults.iter().filter(|(c, _)| absent(*c));
        for (at, e) in defaults.chain(node.generated.iter().filter(is_shown)) {
            if !self.kept.contains(at) {
                self.fill(0, &node.table, *at, e, writer, row, how, run)?;
            }
        }
        Ok(())
    }

    /// Computes what the encoded row has placeholders for, default expressions of columns that are `absent` and generated
    /// columns, and checks it. Errors 1369, 3819 and those of the expressions.
    pub fn complete(
        &mut self,
        writer: &mut RowWriter,
        absent: &dyn Fn(usize) -> bool,
        row: u64,
        how: Strictness,
        run: &Run<'_>,
    ) -> Result<()> {
        self.complete_node(0, writer, absent, row, how, run)
    }

    fn complete_node(
        &mut self,
        node: usize,
        writer: &mut RowWriter,
        absent: &dyn Fn(usize) -> bool,
        row: u64,
        how: Strictness,
        run: &Run<'_>,
    ) -> Result<()> {
        let rules = Arc::clone(&self.rules);
        let rules = &rules.nodes[node];
        let defaults = rules.defaults.iter().filter(|(c, _)| absent(*c));
        for (at, e) in defaults.chain(&rules.generated) {
            if node == 0 && self.kept.contains(at) {
                continue;
            }
            self.fill(node, &rules.table, *at, e, writer, row, how, run)?;
        }
        if let Some((view, e)) = &rules.view_check {
            let at = Scope::with_row(&self.frames[node], None, 0, &writer.row);
            if e.eval_bool(run, at)? != Some(true) {
                let (schema, name) = view.split_once('.').unwrap_or(("", view));
                return Err(err!(ER_VIEW_CHECK_FAILED, schema, name));
            }
        }
        for (name, e) in &rules.checks {
            let at = Scope::with_row(&self.frames[node], None, 0, &writer.row);
            if e.eval_bool(run, at)? == Some(false) {
                return Err(err!(ER_CHECK_CONSTRAINT_VIOLATED, name));
            }
        }
        Ok(())
    }

    /// Puts the value of an expression over the encoded row into one of its columns.
    #[expect(clippy::too_many_arguments, reason = "one step of the above")]
    fn fill(
        &mut self,
        node: usize,
        table: &Table,
        at: usize,
        e: &Expr,
        writer: &mut RowWriter,
        row: u64,
        how: Strictness,
        run: &Run<'_>,
    ) -> Result<()> {
        self.row.clone_from(&writer.row);
        self.key.clone_from(&writer.key);
        let scope = Scope::with_row(&self.frames[node], None, 0, &self.row);
        let value = match table.columns[at].array_of() {
            Some(_) => array::stored(e.eval(run, scope)?, e, table, at, row, how, run)?,
            None => {
                let value = e.eval(run, scope);
                if table.columns[at].hidden {
                    run.evaluation.retell_strict(|e| of_index(e, table, at, row));
                }
                let value = value.and_then(|v| store::store(v, &e.ty, &table.columns[at], row, how, run));
                value.map_err(|e| of_index(e, table, at, row))?
            }
        };
        let rekey = table.indexes[0].parts.iter().any(|p| p.column == at);
        writer.change(&run.tx.borrow(), table, (&self.row, &self.key), &[at], &[value], rekey)?;
        Ok(())
    }

    /// After the insertion of `row`: does each of its foreign keys have a parent? Error 1452, and those of triggers.
    pub fn inserted(&self, row: &[u8], run: &Run<'_>) -> Result<()> {
        if self.is_linked() && run.env.borrow().foreign_key_checks() {
            self.check_parents(0, None, row, None, run)?;
        }
        run.row_stands();
        self.fire_at(TriggerEvent::Insert, false, None, Some(row), run)
    }

    /// Does a foreign key lead to its own table? Then parents can be looked for when all rows are there.
    pub fn refers_to_itself(&self) -> bool {
        let table = &self.rules.nodes[0].table;
        table.foreign_keys.iter().any(|k| (&k.parent.0, &k.parent.1) == (&table.schema, &table.name))
    }

    /// After a change from `old` to `new`. Errors 1451, 1452, 1761 and those of changes carried on, and of triggers.
    pub fn updated(&mut self, old: &[u8], new: &[u8], run: &Run<'_>) -> Result<()> {
        if self.is_linked() && run.env.borrow().foreign_key_checks() {
            // Of tables that refer to each other, the other one follows first.
            self.carry(0, old, Some(new), &mut Vec::new(), run).map_err(|e| self.told_of_parent(e, new, run))?;
            self.check_parents(0, Some(old), new, None, run)?;
        }
        run.row_stands();
        self.fire_at(TriggerEvent::Update, false, Some(old), Some(new), run)
    }

    /// An error of carrying on a change: where a child has the new key already it is 1761, of the row that the statement changed.
    #[cold]
    fn told_of_parent(&mut self, e: SqlError, new: &[u8], run: &Run<'_>) -> SqlError {
        let Some((node, index)) = self.met.take() else { return e };
        let (parent, child) = (&self.rules.nodes[0].table, &self.rules.nodes[node].table);
        let first = parent.indexes.len() - parent.named_indexes().count();
        let mut inside = Vec::new();
        let entry = match long::inside(&run.tx.borrow(), parent, new, &mut inside) {
            Ok(new) => write::shown_entry(parent, first, new, Some(run)),
            Err(e) => return e,
        };
        err!(ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO, parent.name, entry, child.name, child.indexes[index].name)
    }

    /// A change from `old` to `new` met a key of `index` that is there already: error 1451 if a row refers to the old key of
    /// that index or one before it, since InnoDB asks for those before it enters the new one.
    #[cold]
    pub fn referred(&self, old: &[u8], new: &[u8], index: usize, run: &Run<'_>) -> Result<()> {
        let node = &self.rules.nodes[0];
        let parent = &*node.table;
        if !run.env.borrow().foreign_key_checks() {
            return Ok(());
        }
        let (mut old_inside, mut new_inside) = (Vec::new(), Vec::new());
        let old = long::inside(&run.tx.borrow(), parent, old, &mut old_inside)?;
        let new = long::inside(&run.tx.borrow(), parent, new, &mut new_inside)?;
        for child in &node.children {
            let foreign = &self.rules.nodes[child.node].table.foreign_keys[child.key];
            let referred = catalog::parent_index(&parent.columns, &parent.indexes, &foreign.parent_columns);
            let asked = referred.is_some_and(|at| at <= index);
            let refuses = matches!(foreign.on_update, ReferenceAction::NoAction | ReferenceAction::Restrict);
            if asked && refuses && Self::leaves(child, parent, old, Some(new)) {
                self.refuse(child, parent, old, run)?;
            }
        }
        Ok(())
    }

    /// Does a row have another key now, or none, for a child that may have referred to the old one?
    fn leaves(child: &Child, parent: &Table, old: &[u8], new: Option<&[u8]>) -> bool {
        let kept = |new: &[u8]| child.pairs.iter().all(|(_, c)| column(parent, old, *c) == column(parent, new, *c));
        !new.is_some_and(kept) && !child.pairs.iter().any(|(_, c)| column(parent, old, *c).is_null())
    }

    /// Error 1451 if a row of the child refers to `old`.
    fn refuse(&self, child: &Child, parent: &Table, old: &[u8], run: &Run<'_>) -> Result<()> {
        let table = &*self.rules.nodes[child.node].table;
        match referring(child, table, parent, old, SHARED, 1, run)?.is_empty() {
            true => Ok(()),
            false => Err(err!(ER_ROW_IS_REFERENCED_2, broken(table, &table.foreign_keys[child.key]))),
        }
    }

    /// After the deletion of `old`. Errors 1451 and those of changes carried on, and of triggers.
    pub fn deleted(&mut self, old: &[u8], run: &Run<'_>) -> Result<()> {
        if self.is_linked() && run.env.borrow().foreign_key_checks() {
            self.carry(0, old, None, &mut Vec::new(), run)?;
        }
        run.row_stands();
        self.fire_at(TriggerEvent::Delete, false, Some(old), None, run)
    }

    /// Are there foreign keys at all?
    fn is_linked(&self) -> bool {
        let node = &self.rules.nodes[0];
        !node.parents.is_empty() || !node.children.is_empty()
    }

    /// `followed`: the foreign key along which the change came, whose parent is just being changed.
    fn check_parents(
        &self,
        node: usize,
        old: Option<&[u8]>,
        new: &[u8],
        followed: Option<usize>,
        run: &Run<'_>,
    ) -> Result<()> {
        let rules = &self.rules.nodes[node];
        let table = &*rules.table;
        let (mut old_inside, mut new_inside) = (Vec::new(), Vec::new());
        let old = old.map(|old| long::inside(&run.tx.borrow(), table, old, &mut old_inside)).transpose()?;
        let new = long::inside(&run.tx.borrow(), table, new, &mut new_inside)?;
        for parent in rules.parents.iter().filter(|p| Some(p.key) != followed) {
            let foreign = &table.foreign_keys[parent.key];
            let mut values = foreign.columns.iter().map(|c| (*c, column(table, new, *c)));
            let same = |old: &[u8]| foreign.columns.iter().all(|c| column(table, old, *c) == column(table, new, *c));
            if values.any(|(_, v)| v.is_null()) || old.is_some_and(same) {
                continue;
            }
            let found = match &parent.found {
                Some((t, index)) => {
                    let mut prefix = Vec::new();
                    for (part, c) in t.indexes[*index].parts.iter().zip(&parent.columns) {
                        key::encode_part(&mut prefix, &part.key, &column(table, new, *c));
                    }
                    !keys_under(t, *index, &prefix, SHARED, 1, run)?.is_empty()
                }
                None => false,
            };
            if !found {
                return Err(err!(ER_NO_REFERENCED_ROW_2, broken(table, foreign)));
            }
        }
        Ok(())
    }

    /// Does what the foreign keys on a table say about a row that was deleted (`new` is none) or changed. `path`: ids of the
    /// tables from which the change came.
    fn carry(&mut self, node: usize, old: &[u8], new: Option<&[u8]>, path: &mut Vec<u64>, run: &Run<'_>) -> Result<()> {
        if path.len() >= DEPTH_MAX {
            return Err(err!(ER_FK_DEPTH_EXCEEDED, DEPTH_MAX));
        }
        let rules = Arc::clone(&self.rules);
        let parent = &*rules.nodes[node].table;
        let (mut old_inside, mut new_inside) = (Vec::new(), Vec::new());
        let old = long::inside(&run.tx.borrow(), parent, old, &mut old_inside)?;
        let new = new.map(|new| long::inside(&run.tx.borrow(), parent, new, &mut new_inside)).transpose()?;
        path.push(parent.id);
        for child in &rules.nodes[node].children {
            if !Self::leaves(child, parent, old, new) {
                continue;
            }
            let table = &*rules.nodes[child.node].table;
            let foreign = &table.foreign_keys[child.key];
            let action = if new.is_some() { foreign.on_update } else { foreign.on_delete };
            // An update that would come back to a table is refused, as in InnoDB.
            let comes_back = new.is_some() && path.contains(&table.id);
            let refuses = comes_back || matches!(action, ReferenceAction::NoAction | ReferenceAction::Restrict);
            if refuses {
                self.refuse(child, parent, old, run)?;
                continue;
            }
            for found in referring(child, table, parent, old, EXCLUSIVE, usize::MAX, run)? {
                self.carry_to(
                    child,
                    &found,
                    parent,
                    if action == ReferenceAction::SetNull { None } else { new },
                    action == ReferenceAction::Cascade && new.is_none(),
                    path,
                    run,
                )?;
            }
        }
        path.pop();
        Ok(())
    }

    /// Changes one child's row, which is locked: deletes it, or gives it the key that `new`, its parent, has now, or NULL.
    #[expect(clippy::too_many_arguments, reason = "one step of the above")]
    fn carry_to(
        &mut self,
        child: &Child,
        child_key: &[u8],
        parent: &Table,
        new: Option<&[u8]>,
        delete: bool,
        path: &mut Vec<u64>,
        run: &Run<'_>,
    ) -> Result<()> {
        run.check_interrupt()?;
        let rules = Arc::clone(&self.rules);
        let table = &*rules.nodes[child.node].table;
        let mut old = Vec::new();
        let tree = table.indexes[0].tree;
        if !run.tx.borrow_mut().get(tree, child_key, EXCLUSIVE, &mut old).map_err(|e| run.engine_error(e))? {
            return Ok(());
        }
        let mut writer = RowWriter::default();
        if delete {
            writer.delete(table, &mut run.tx.borrow_mut(), child_key, &old).map_err(Refused::locked)?;
            return self.carry(child.node, &old, None, path, run);
        }
        let columns: Vec<usize> = child.pairs.iter().map(|(own, _)| *own).collect();
        let value = |c: usize| new.map_or(Value::Null, |new| column(parent, new, c));
        let values: Vec<Value<'_>> = child.pairs.iter().map(|(_, theirs)| value(*theirs)).collect();
        writer.change(&run.tx.borrow(), table, (&old, child_key), &columns, &values, true)?;
        let how = Strictness::new(run, false, false);
        self.complete_node(child.node, &mut writer, &|_| false, 1, how, run)?;
        let touched = vec![true; table.indexes.len()];
        let written = writer.update(table, &mut run.tx.borrow_mut(), child_key, &old, &touched);
        match written {
            Ok(_) => {}
            Err(Refused::Duplicate(i)) => {
                self.met = Some((child.node, i));
                return Err(writer.duplicate(table, i, run));
            }
            Err(refused) => return Err(refused.locked()),
        }
        self.carry(child.node, &old, Some(&writer.row), path, run)?;
        self.check_parents(child.node, Some(&old), &writer.row, Some(child.key), run)
    }
}

/// The error of a value for column `at`; of an index part's, in words of the index. Errors 3751, 3752, 3903, 3907.
#[cold]
fn of_index(e: SqlError, table: &Table, at: usize, row: u64) -> SqlError {
    let index = table.indexes.iter().find(|i| i.parts.iter().any(|p| p.column == at));
    let Some(index) = index.filter(|_| table.columns[at].hidden) else { return e };
    match e.code {
        WARN_DATA_TRUNCATED | ER_TRUNCATED_WRONG_VALUE => {
            err!(ER_WARN_DATA_TRUNCATED_FUNCTIONAL_INDEX, index.name, row)
        }
        ER_WARN_DATA_OUT_OF_RANGE => err!(ER_WARN_DATA_OUT_OF_RANGE_FUNCTIONAL_INDEX, index.name, row),
        ER_DATA_TOO_LONG => err!(ER_FUNCTIONAL_INDEX_DATA_IS_TOO_LONG, index.name),
        ER_INVALID_JSON_VALUE_FOR_CAST => err!(ER_INVALID_JSON_VALUE_FOR_FUNC_INDEX, index.name),
        _ => e,
    }
}

/// Clustered keys of at most `most` rows of a child, `table`, that refer to the row `old` of `parent`.
fn referring(
    child: &Child,
    table: &Table,
    parent: &Table,
    old: &[u8],
    read: Read,
    most: usize,
    run: &Run<'_>,
) -> Result<Vec<Vec<u8>>> {
    let mut prefix = Vec::new();
    for (part, c) in table.indexes[child.index].parts.iter().zip(&child.columns) {
        key::encode_part(&mut prefix, &part.key, &column(parent, old, *c));
    }
    keys_under(table, child.index, &prefix, read, most, run)
}

/// Clustered keys of at most `most` rows whose entries in an index start with `prefix`, each locked as `read` says.
fn keys_under(
    table: &Table,
    index: usize,
    prefix: &[u8],
    read: Read,
    most: usize,
    run: &Run<'_>,
) -> Result<Vec<Vec<u8>>> {
    let mut upper = prefix.to_vec();
    let bounded = key::successor(&mut upper);
    let range = Range {
        lower: Bound::Included(prefix),
        upper: if bounded { Bound::Excluded(&upper[..]) } else { Bound::Unbounded },
    };
    let mut tx = run.tx.borrow_mut();
    let mut cursor = Cursor::new(table.indexes[index].tree, range, Direction::Forward, read, 1);
    let (mut keys, mut bytes, mut row) = (Vec::new(), 0, Vec::new());
    while keys.len() < most
        && let Some(entry) = cursor.next(&mut tx).map_err(|e| run.engine_error(e))?
    {
        let at = if index == 0 { 0 } else { crate::entries::own_parts(table, index, entry.key) };
        let key = entry.key[at..].to_vec();
        if index > 0 && !tx.get(table.indexes[0].tree, &key, read, &mut row).map_err(|e| run.engine_error(e))? {
            continue;
        }
        bytes += key.len() + size_of::<Vec<u8>>();
        run.check_growth(bytes)?;
        keys.push(key);
    }
    Ok(keys)
}

/// The foreign key as errors 1451 and 1452 name it.
#[cold]
fn broken(table: &Table, foreign: &ForeignKey) -> String {
    format!(" (`{}`.`{}`, {})", table.schema, table.name, foreign.clause(table))
}

/// Does `IGNORE` turn this error of a rule into a warning?
pub fn is_ignorable(e: &SqlError) -> bool {
    matches!(
        e.code,
        ER_BAD_NULL_ERROR
            | ER_VIEW_CHECK_FAILED
            | ER_ROW_IS_REFERENCED_2
            | ER_NO_REFERENCED_ROW_2
            | ER_CHECK_CONSTRAINT_VIOLATED
    )
}
