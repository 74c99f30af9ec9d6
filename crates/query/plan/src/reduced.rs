//! Subqueries that are a constant: MySQL takes `(SELECT 'x')` for 'x', so that it is a literal beside what stands beside it.

use super::Planner;
use crate::slots::subquery_of;
use expr::Expr;
use sql::ast::{BinaryOp, Expr as Ast, ExprId, QueryBody, QueryId, SelectItem, UnaryOp};
use types::Result;

/// Operators of numbers and texts in such a constant.
const OPERATORS: [BinaryOp; 6] =
    [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::IntDiv, BinaryOp::Mod];

impl Planner<'_> {
    /// The expression that a subquery without tables shows, if it is made of literals alone.
    pub(super) fn reduced(&self, query: QueryId) -> Option<ExprId> {
        let query = &self.parsed[query];
        let QueryBody::Select(select) = &query.body else { return None };
        let [SelectItem::Expr { expr, .. }] = select.items[..] else { return None };
        let is_more =
            query.with.is_some() || query.limit.is_some() || query.into.is_some() || !query.locking.is_empty();
        let groups = !select.group.is_empty() || select.having.is_some() || !select.windows.is_empty();
        let reads = select.from.is_some() || select.filter.is_some() || select.options.from_dual;
        let is_plain = !is_more && !groups && !reads && query.order.is_empty() && select.hints.is_none();
        (is_plain && self.is_of_literals(expr)).then_some(expr)
    }

    /// `(SELECT ...)` as a value.
    pub(super) fn scalar_subquery(&mut self, query: QueryId) -> Result<Expr> {
        if let Some(constant) = self.reduced(query) {
            self.note_reduced(query, None);
            return self.in_clause(constant, "field list");
        }
        let e = self.query_row(query, 1)?.pop().expect("one column");
        self.note_reduced(query, subquery_of(&e));
        Ok(e)
    }

    fn is_of_literals(&self, id: ExprId) -> bool {
        match &self.parsed[id] {
            Ast::Bool(_) | Ast::Int(_) | Ast::Decimal(_) | Ast::Float(_) => true,
            Ast::String { .. } | Ast::Bytes { .. } | Ast::Temporal { .. } => true,
            Ast::Unary { op: UnaryOp::Neg | UnaryOp::Plus, operand } => self.is_of_literals(*operand),
            Ast::Binary { op, left, right } if OPERATORS.contains(op) => {
                self.is_of_literals(*left) && self.is_of_literals(*right)
            }
            Ast::Cast(cast) => self.is_of_literals(cast.operand),
            _ => false,
        }
    }
}
