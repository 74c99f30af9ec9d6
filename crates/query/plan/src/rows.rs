//! Rows: comparisons of several members at once, written out or the columns of a subquery.

use crate::comparison::{compare_exprs, comparison, pair_collation, pair_collations};
use crate::expression::not;
use crate::node::Plan;
use crate::{Planner, parameter};
use expr::error::unsupported;
use expr::operator::CmpOp;
use expr::{Expr, Node, adapt, boolean_type, common, compare};
use sql::ast::{BinaryOp, Expr as Ast, ExprId, ExprList, QueryId};
use types::codes::*;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

#[cold]
fn wrong_width(width: usize) -> SqlError {
    err!(ER_OPERAND_COLUMNS, width)
}

/// An ENUM or SET in a list of numbers and others: beside each it is what it is there.
pub(super) fn listed_each(e: Expr, list: Vec<Expr>, negated: bool) -> Result<Expr> {
    let each = list.into_iter().map(|i| compare_exprs(CmpOp::Eq, e.clone(), i));
    let any: Vec<Expr> = each.collect::<Result<_>>()?;
    let nullable = any.iter().any(|e| e.ty.nullable);
    let any = Expr::new(Node::Or(any), boolean_type(nullable));
    Ok(if negated { not(any) } else { any })
}

impl Planner<'_> {
    /// A comparison in which a row stands on a side, or two subqueries; `None` for all others. Errors 1241, 1242.
    pub(super) fn row_comparison(&mut self, op: CmpOp, left: ExprId, right: ExprId) -> Result<Option<Expr>> {
        let parsed = self.parsed;
        let (a, b) = match (&parsed[left], &parsed[right]) {
            (Ast::Row(a), Ast::Row(b)) => self.rows_alike(*a, *b)?,
            (Ast::Row(a), Ast::Subquery(q)) => {
                let b = self.query_row(*q, a.len())?;
                (self.members_like(*a, &b)?, b)
            }
            (Ast::Subquery(q), Ast::Row(b)) => {
                let a = self.query_row(*q, 0)?;
                if a.len() != b.len() {
                    return Err(wrong_width(a.len()));
                }
                let b = self.members_like(*b, &a)?;
                (a, b)
            }
            (Ast::Subquery(q), Ast::Subquery(r)) => {
                let a = self.query_row(*q, 0)?;
                let b = self.query_row(*r, a.len())?;
                (a, b)
            }
            _ => return Ok(None),
        };
        self.compare_rows(op, a, b).map(Some)
    }

    /// The columns of a subquery's only row; `width`: how many there have to be, 0 for any. Error 1241.
    pub(super) fn query_row(&mut self, id: QueryId, width: usize) -> Result<Vec<Expr>> {
        let query = self.subquery(id, width)?;
        // Without tables there is a row always.
        let is_one = matches!(self.queries.planned[query].plan, Plan::One);
        for e in self.queries.planned[query].outputs.iter_mut().filter(|_| !is_one) {
            *e = common::kept_decimal(std::mem::replace(e, Expr::null()));
        }
        let types = self.queries.planned[query].outputs.iter().map(compare::column_of);
        let column = |(column, ty): (usize, DataType)| {
            let zerofill = ty.zerofill && !ty.kind.is_numeric() && ty.kind != TypeKind::Year;
            let node = Node::Subquery { query, column: column as u16 };
            Expr::new(node, DataType { nullable: ty.nullable || !is_one, zerofill, ..ty })
        };
        Ok(types.enumerate().map(column).collect())
    }

    /// The members of a row, each beside one of `others`.
    fn members_like(&mut self, members: ExprList, others: &[Expr]) -> Result<Vec<Expr>> {
        let ids = self.parsed.list(members);
        let pairs = ids.iter().zip(others);
        pairs
            .map(|(id, other)| self.expr_like(*id, &parameter::widest(&other.ty, self.settings.literal_collation)))
            .collect()
    }

    /// `operand IN (query)`: a value or a row among the rows of a query. Errors 1235, 1241.
    pub(super) fn in_query(&mut self, operand: ExprId, query: QueryId, negated: bool) -> Result<Expr> {
        let parsed = self.parsed;
        let single = [operand];
        let ids = match &parsed[operand] {
            Ast::Row(list) => parsed.list(*list),
            _ => &single,
        };
        let mut operands = Vec::with_capacity(ids.len());
        // What is open takes its type from the query's column.
        let is_open = ids.iter().any(|id| self.is_open(*id));
        if !is_open {
            for id in ids {
                operands.push(self.expr(*id)?);
            }
        }
        self.refuse_limit(query)?;
        let written = query;
        let query = self.joined_subquery(query, ids.len())?;
        self.note_reduced(written, Some(query));
        if is_open {
            for (i, id) in ids.iter().enumerate() {
                let like =
                    parameter::widest(&self.queries.planned[query].outputs[i].ty, self.settings.literal_collation);
                operands.push(self.expr_like(*id, &like)?);
            }
        }
        for (i, operand) in operands.iter().enumerate() {
            let output = self.queries.planned[query].outputs[i].clone();
            self.note_beside_query(operand, &output)?;
            self.note_beside_query(&output, operand)?;
        }
        let collations = pair_collations(&mut operands, &mut self.queries.planned[query].outputs)?;
        let node = Node::InSubquery { negated, operands, query, collations };
        Ok(Expr::new(node, boolean_type(true)))
    }

    /// A literal beside a date or time, one of which is a query's column. Errors 1292, 1525.
    fn note_beside_query(&mut self, e: &Expr, other: &Expr) -> Result<()> {
        if !other.ty.kind.is_temporal() || !matches!(e.node, Node::Const(_)) {
            return Ok(());
        }
        // Neither is a column of this block.
        let other = Expr::new(Node::Const(Value::Null), other.ty);
        if other.ty.kind == TypeKind::Time {
            let mode = types::SqlMode(self.env.sql_mode());
            let (Node::Const(v), column) = (&e.node, &other.ty) else { return Ok(()) };
            self.warnings.literal_warnings.extend(adapt::held_by_column(v, column, "", mode).1);
            return Ok(());
        }
        self.note_literal(e, &other)
    }

    /// `left op ANY (query)` or ALL. `= ANY` is IN and `<> ALL` is NOT IN, of rows too. Errors 1235, 1241.
    pub(super) fn quantified(&mut self, op: BinaryOp, all: bool, left: ExprId, query: QueryId) -> Result<Expr> {
        let Some(op) = comparison(op) else { return Err(unsupported("quantified comparison")) };
        if let (CmpOp::Eq, false) | (CmpOp::Ne, true) = (op, all) {
            return self.in_query(left, query, all);
        }
        let mut operand = Box::new(self.operand(left)?);
        self.refuse_limit(query)?;
        let query = self.subquery(query, 1)?;
        let output = self.queries.planned[query].outputs[0].clone();
        self.note_beside_query(&operand, &output)?;
        if matches!(self.queries.planned[query].plan, Plan::One) {
            self.note_beside_query(&output, &operand)?;
        }
        let collation = pair_collation(&mut operand, &mut self.queries.planned[query].outputs[0])?;
        Ok(Expr::new(Node::Quantified { op, all, operand, query, collation }, boolean_type(true)))
    }

    /// `(a, b) IN ((1, 2), (3, 4))` is a disjunction of row comparisons.
    pub(super) fn row_in(&mut self, members: ExprList, list: ExprList, negated: bool) -> Result<Expr> {
        let parsed = self.parsed;
        let mut any = Vec::new();
        for id in parsed.list(list) {
            let equal = match &parsed[*id] {
                Ast::Row(other) => {
                    let (a, b) = self.rows_alike(members, *other)?;
                    self.listed_row(a, b, list.len() == 1)?
                }
                _ => return Err(wrong_width(members.len())),
            };
            any.push(equal);
        }
        let e = match any.len() {
            1 => any.pop().expect("one"),
            _ => {
                let nullable = any.iter().any(|e| e.ty.nullable);
                Expr::new(Node::Or(any), boolean_type(nullable))
            }
        };
        Ok(if negated { not(e) } else { e })
    }

    /// Two rows, each member with the one that it is compared with; rows in them are taken apart, as they compare member by member.
    fn rows_alike(&mut self, a: ExprList, b: ExprList) -> Result<(Vec<Expr>, Vec<Expr>)> {
        let mut pairs = Vec::with_capacity(a.len());
        self.pair_members(a, b, &mut pairs)?;
        let text = self.text_parameter();
        let (mut left, mut right) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
        for pair in pairs {
            let mut pair = self.alike(&pair, &text)?;
            right.extend(pair.pop());
            left.extend(pair.pop());
        }
        Ok((left, right))
    }

    fn pair_members(&self, a: ExprList, b: ExprList, pairs: &mut Vec<[ExprId; 2]>) -> Result<()> {
        let parsed = self.parsed;
        if a.len() != b.len() {
            return Err(wrong_width(a.len()));
        }
        for (x, y) in parsed.list(a).iter().zip(parsed.list(b)) {
            match (&parsed[*x], &parsed[*y]) {
                (Ast::Row(p), Ast::Row(q)) => self.pair_members(*p, *q, pairs)?,
                (Ast::Row(p), _) if p.len() > 1 => return Err(wrong_width(p.len())),
                (_, Ast::Row(q)) if q.len() > 1 => return Err(wrong_width(1)),
                _ => pairs.push([*x, *y]),
            }
        }
        Ok(())
    }
}
