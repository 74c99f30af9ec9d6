//! Aggregates of a query that stand in its subqueries: `SELECT (SELECT SUM(t.a)) FROM t` sums over the rows of `t`. An aggregate
//! whose arguments read columns of outer queries alone is of the outermost of these that takes aggregates in the clause at hand,
//! but of none further out than the innermost one read; where none takes it, it is the subquery's own.
//!
//! One that reads no column is the subquery's own where that takes it, and else of the outermost query that does:
//! `SELECT (SELECT 1 FROM u WHERE u.b = COUNT(*)) FROM t` counts the rows of `t`.

use super::Planner;
use expr::Shape;
use expr::call::AggregateCall;
use expr::{Expr, Node};
use types::codes::*;
use types::{Result, err};

/// Aggregates that subqueries of a block read, columns of its groups' rows behind the keys.
pub struct Asked {
    pub slot: usize,
    pub calls: Vec<AggregateCall>,
}

impl Planner<'_> {
    /// An aggregate, or the column of an outer query's groups that has it. Its arguments were noted as read from `first_read` on.
    pub(super) fn of_its_query(&mut self, mut e: Expr, first_read: usize) -> Result<Expr> {
        let (mut nearest, mut is_plain) = (u8::MAX, true);
        e.any(&mut |e| {
            match &e.node {
                Node::Column { depth, .. } => nearest = nearest.min(*depth),
                Node::Subquery { .. }
                | Node::Exists { .. }
                | Node::InSubquery { .. }
                | Node::Quantified { .. }
                | Node::Outer { .. } => {
                    is_plain = false;
                }
                _ => {}
            }
            false
        });
        if !is_plain {
            return Ok(e);
        }
        let at = |depth: u8| self.scope.blocks.len() - 1 - depth as usize;
        let takes =
            |depth: &u8| self.scope.blocks[at(*depth)].takes_aggregates && !self.scope.blocks[at(*depth)].unseen;
        let furthest = match nearest {
            u8::MAX if takes(&0) => return Ok(e),
            u8::MAX => self.scope.blocks.len() as u8 - 1,
            nearest => nearest,
        };
        let Some(depth) = (1..=furthest).rev().find(takes) else { return Ok(e) };
        let at = at(depth);
        if self.scope.blocks[at].in_aggregate {
            return Err(err!(ER_INVALID_GROUP_FUNC_USE));
        }
        move_out(&mut e, depth);
        let Node::Aggregate(call) = e.node else { unreachable!("an aggregate") };
        let block = &mut self.scope.blocks[at];
        let shapes = &mut block.shapes;
        let asked = block.asked.get_or_insert_with(|| {
            shapes.push(Shape::Tuple(0));
            Asked { slot: shapes.len() - 1, calls: Vec::new() }
        });
        let known = asked.calls.iter().position(|c| c.same_call(&call));
        let n = known.unwrap_or_else(|| {
            asked.calls.push(*call);
            asked.calls.len() - 1
        });
        let (slot, column) = (asked.slot, block.group_keys + n);
        // What its arguments read of that query is the groups' row now; of queries further out it is read there, too.
        let read = self.queries.outer_reads.split_off(first_read);
        self.queries.outer_reads.extend(read.into_iter().filter(|(block, _)| *block < at));
        self.queries.outer_reads.push((at, Expr::column(slot, column, e.ty)));
        Ok(Expr::new(Node::Column { depth, slot: slot as u16, column: column as u16 }, e.ty))
    }

    /// Is it a column that [`Planner::of_its_query`] made?
    pub(super) fn is_asked(&self, slot: u16) -> bool {
        self.current_block().asked.as_ref().is_some_and(|a| a.slot == slot as usize)
    }
}

/// The expression as the query `depth` blocks further out has it.
fn move_out(e: &mut Expr, depth: u8) {
    if let Node::Column { depth: d, .. } = &mut e.node {
        *d -= depth;
    }
    e.children_mut(&mut |c| move_out(c, depth));
}
