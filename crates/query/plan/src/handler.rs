//! HANDLER ... READ: names resolved, nothing to choose.

use super::Planner;
use super::names::{Block, Source};

use crate::ColumnMeta;
use catalog::Table;
use catalog::eq_name;
use expr::Shape;
use expr::error::unsupported;
use expr::{Expr, Node};
use sql::ast::{HandlerRead, HandlerStep};
use std::sync::Arc;
use types::codes::*;
use types::{Result, err};

/// What HANDLER ... READ reads.
pub struct HandlerPlan {
    /// `None`: the table as it lies.
    pub index: Option<usize>,
    /// Values for the first parts of the index.
    pub key: Vec<Expr>,
    pub filter: Option<Expr>,
    pub count: Option<Expr>,
    pub offset: Option<Expr>,
    pub outputs: Vec<Expr>,
    pub columns: Vec<ColumnMeta>,
}

impl Planner<'_> {
    /// Errors 1054, 1070, 1111, 1176, 1210.
    pub fn handler_read(&mut self, table: &Arc<Table>, alias: &str, read: &HandlerRead) -> Result<HandlerPlan> {
        let index = match read.index.map(|name| self.parsed.name(name)) {
            None => None,
            Some(name) => {
                let found =
                    table.indexes.iter().position(|i| i.name != catalog::HIDDEN_INDEX && eq_name(&i.name, name));
                let found = found.ok_or_else(|| err!(ER_KEY_DOES_NOT_EXITS, name, alias))?;
                if table.indexes[found].array_part.is_some() {
                    return Err(unsupported("HANDLER ... READ of a multi-valued index"));
                }
                Some(found)
            }
        };
        let mut block = Block::default();
        block.shapes.push(Shape::Row(table.clone()));
        self.scope.blocks.push(block);
        let (_, star) = self.add_source(Source::of_table(0, table, Some(alias)))?;
        let outputs: Vec<Expr> = star.iter().map(|c| self.star_expr(c)).collect();
        let columns = star.iter().zip(&outputs).map(|(c, e)| self.meta(&c.name, e)).collect();
        let filter = read.filter.map(|id| self.plain(id)).transpose()?;
        let mut key = Vec::new();
        if let HandlerStep::Key(_, values) = read.step {
            let parts = table.indexes[index.expect("a key is one of an index")].parts.len();
            for id in self.parsed.list(values) {
                if key.len() == parts {
                    return Err(err!(ER_TOO_MANY_KEY_PARTS, parts));
                }
                let e = self.plain(*id)?;
                if e.any(&mut |e| matches!(e.node, Node::Column { .. })) {
                    return Err(err!(ER_WRONG_ARGUMENTS, "HANDLER ... READ"));
                }
                key.push(e);
            }
        }
        let mut number = |id| self.plain(id);
        let count = read.limit.map(|l| number(l.count)).transpose()?;
        let offset = read.limit.and_then(|l| l.offset).map(number).transpose()?;
        Ok(HandlerPlan { index, key, filter, count, offset, outputs, columns })
    }
}
