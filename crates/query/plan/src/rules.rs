//! What a table asks of its rows beyond types and unique keys, compiled from the dictionary's texts: default expressions,
//! generated columns, checks, and the foreign keys from it and on it.

use super::Planner;
use super::names::{Block, Source};
use super::node::rules::{Child, Parent, Rules, TableRules};
use crate::table_use::TableUse;
use catalog::{Changes, ColumnDefault, Table, parent_index};
use expr::Expr;
use expr::Shape;
use sql::ast::{self, Statement};
use std::sync::Arc;
use types::Result;

impl Planner<'_> {
    /// The rules of `table`; `None` when there are none. Foreign keys on the table count when the statement's `changes` delete
    /// rows or update them.
    /// `check`: of the view that the statement names in place of the table.
    pub fn rules(
        &mut self,
        table: &Arc<Table>,
        changes: Changes,
        check: Option<(String, Expr)>,
    ) -> Result<Option<Arc<Rules>>> {
        let referenced = changes.update || changes.delete;
        let is_parent = referenced && self.version.children(&table.schema, &table.name).next().is_some();
        let triggers = self.triggers(table, changes)?;
        if !table.has_rules() && !is_parent && check.is_none() && triggers.all.is_empty() {
            return Ok(None);
        }
        let mut nodes: Vec<TableRules> = vec![self.table_rules(table)?];
        nodes[0].view_check = check;
        let mut at = 0;
        while referenced && at < nodes.len() {
            let parent = nodes[at].table.clone();
            let version = Arc::clone(self.version);
            for child in version.children(&parent.schema, &parent.name) {
                let node = match nodes.iter().position(|n| n.table.id == child.id) {
                    Some(node) => node,
                    None => {
                        nodes.push(self.table_rules(child)?);
                        nodes.len() - 1
                    }
                };
                nodes[at].children.extend(links(&parent, child, node));
            }
            at += 1;
        }
        let version = Arc::clone(self.version);
        for related in version.related(table, changes).iter().filter(|r| r.written) {
            self.note_use(&related.table);
            self.table_use(related.table.id).carried = true;
        }
        Ok(Some(Arc::new(Rules { nodes, triggers })))
    }

    fn table_rules(&mut self, table: &Arc<Table>) -> Result<TableRules> {
        self.note_use(table);
        let mut rules = TableRules {
            table: table.clone(),
            defaults: Vec::new(),
            generated: Vec::new(),
            checks: Vec::new(),
            view_check: None,
            parents: Vec::new(),
            children: Vec::new(),
        };
        for (i, column) in table.columns.iter().enumerate() {
            if let ColumnDefault::Expression(text) = &column.default {
                rules.defaults.push((i, self.stored_expression(text, table)?));
            }
            if let Some(generated) = &column.generated {
                let e = self.stored(&generated.expression, table, generated.array.is_some())?;
                rules.generated.push((i, e));
            }
        }
        for check in table.checks.iter().filter(|c| c.enforced) {
            rules.checks.push((check.name.clone(), self.stored_expression(&check.expression, table)?));
        }
        for (key, foreign) in table.foreign_keys.iter().enumerate() {
            let parent = self.version.base_table(&foreign.parent.0, &foreign.parent.1).filter(|t| t.is_base()).cloned();
            let index = parent.as_ref().and_then(|t| parent_index(&t.columns, &t.indexes, &foreign.parent_columns));
            let Some((parent, index)) = parent.zip(index) else {
                rules.parents.push(Parent { key, found: None, columns: Vec::new() });
                continue;
            };
            self.note_use(&parent);
            let own = |part: &catalog::IndexPart| {
                let name = &parent.columns[part.column].name;
                let at = foreign.parent_columns.iter().position(|c| c == name);
                foreign.columns[at.expect("the index starts with the key's columns")]
            };
            let parts = &parent.indexes[index].parts[..foreign.columns.len()];
            let columns = parts.iter().map(own).collect();
            rules.parents.push(Parent { key, found: Some((parent.clone(), index)), columns });
        }
        Ok(rules)
    }

    /// The statement depends on the table's definition, whatever it may do with it.
    pub(super) fn note_use(&mut self, table: &Table) {
        if self.uses.tables.iter().any(|t| t.id == table.id) {
            return;
        }
        self.uses.tables.push(TableUse::new(table));
    }

    /// The same of a table that a view is made of.
    pub(super) fn note_in_view(&mut self, table: &Table) {
        self.note_use(table);
        self.table_use(table.id).in_view = true;
    }

    /// An expression of the dictionary over a row of `table` in slot 0.
    pub fn stored_expression(&mut self, text: &str, table: &Arc<Table>) -> Result<Expr> {
        self.stored(text, table, false)
    }

    /// The same; of `array`, CAST(... AS type ARRAY), what is between CAST( and AS.
    pub fn stored(&mut self, text: &str, table: &Arc<Table>, array: bool) -> Result<Expr> {
        let parsed = sql::parse(format!("DO {text}").as_bytes(), sql::SqlMode::default());
        let parsed = parsed.map_err(|e| expr::error::parse_error(&e))?;
        self.grow(self.parsed.height() + parsed.height())?;
        let Statement::Do(list) = &parsed.statement else { unreachable!("the text begins with DO") };
        let mut inner = Planner::new(&parsed, self.version, &mut *self.env, &[]);
        let mut block = Block::default();
        block.sources.push(Source::of_table(0, table, None));
        block.shapes.push(Shape::Row(table.clone()));
        inner.scope.blocks.push(block);
        inner.constants.numbered = self.constants.numbered;
        let mut id = parsed.list(*list)[0];
        if array {
            let ast::Expr::Cast(cast) = &parsed[id] else { unreachable!("the text of an array is a CAST") };
            id = cast.operand;
        }
        let e = inner.plain(id);
        // Nobody asks them before a row does.
        let constants = inner.constants.numbered;
        self.constants.numbered = constants;
        e
    }
}

/// The foreign keys of `child` that lead to `parent`.
fn links(parent: &Table, child: &Table, node: usize) -> Vec<Child> {
    let mut found = Vec::new();
    for (key, foreign) in child.foreign_keys.iter().enumerate() {
        if foreign.parent.0 != parent.schema || foreign.parent.1 != parent.name {
            continue;
        }
        // A key that does not fit its parent was made with foreign_key_checks off: it finds no rows.
        let theirs: Option<Vec<usize>> = foreign.parent_columns.iter().map(|c| parent.column_position(c)).collect();
        let (Some(theirs), Some(index)) = (theirs, child.foreign_key_index(foreign)) else { continue };
        let pairs: Vec<(usize, usize)> = foreign.columns.iter().copied().zip(theirs).collect();
        let of = |part: &catalog::IndexPart| {
            let pair = pairs.iter().find(|(own, _)| *own == part.column);
            pair.expect("the index starts with the key's columns").1
        };
        let columns = child.indexes[index].parts[..pairs.len()].iter().map(of).collect();
        found.push(Child { node, key, index, columns, pairs });
    }
    found
}
