//! Grouping: select list, HAVING and ORDER BY rewritten to read the group's row.

use crate::node::{Group, Plan};
use crate::outer_aggregate::Asked;
use crate::slots::subquery_of;
use crate::sorted::OrderKey;
use crate::{ColumnMeta, Planner};
use expr::call::AggregateCall;
use expr::function::{Function, Rule, unlisted};
use expr::functions::{self, ANY_VALUE};
use expr::operator::{BitOp, CmpOp};
use expr::written;
use expr::{Expr, Node, Shape, common, compare, function, operand};
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{DataType, Result, TypeKind, Value, err};

/// What becomes of expressions above a grouping.
struct Grouping<'k> {
    slot: usize,
    keys: &'k [Expr],
    rollup: bool,
    aggregates: Vec<AggregateCall>,
    /// Volatile entries of the select list, by their numbers, once they read the group's row.
    written: Vec<(i64, Expr)>,
    keep: bool,
}

impl Grouping<'_> {
    fn column(&mut self, call: AggregateCall, ty: DataType) -> Expr {
        let i = match self.aggregates.iter().position(|a| a.same_call(&call)) {
            Some(i) => i,
            None => {
                self.aggregates.push(call);
                self.aggregates.len() - 1
            }
        };
        Expr::column(self.slot, self.keys.len() + i, ty)
    }

    /// GROUPING(a, b): of the bits in the column behind the aggregates, one for each argument.
    fn grouping(&mut self, args: &[Expr]) -> Result<Expr> {
        let ty = DataType { length: 21, ..DataType::new(TypeKind::BigInt) };
        let mut all: Option<Expr> = None;
        for (n, arg) in args.iter().enumerate() {
            let Some(i) = self.keys.iter().position(|k| arg.says(k)) else {
                return Err(err!(ER_FIELD_IN_GROUPING_NOT_GROUP_BY, n + 1));
            };
            let bits = if self.rollup { Expr::column(self.slot, BITS_COLUMN, ty) } else { Expr::int(0) };
            let bit = |op, a, b| Expr::new(Node::Bits(op, Box::new(a), Box::new(b)), ty);
            let one = bit(BitOp::And, bit(BitOp::ShiftRight, bits, Expr::int(i as i64)), Expr::int(1));
            all = Some(match all {
                None => one,
                Some(before) => bit(BitOp::Or, bit(BitOp::ShiftLeft, before, Expr::int(1)), one),
            });
        }
        let bits = all.ok_or_else(|| functions::wrong_count(GROUPING))?;
        Ok(Expr::new(Node::Cast(Box::new(bits)), ty))
    }
}

/// The name of the function that stands for GROUPING.
pub const GROUPING: &str = "grouping";
static GROUPING_FUNCTION: Function = unlisted(GROUPING, 1, 64, Rule::Int(21), |_| Ok(Value::Int(0)));

/// A call of GROUPING, until the grouping is planned.
/// Conditions that are the same for all rows, or never true.
pub fn constants(conditions: &[Expr]) -> Vec<Expr> {
    let is_null = |e: &Expr| matches!(e.node, Node::Const(Value::Null));
    let never = |e: &Expr| match &e.node {
        Node::Compare(op, a, b, _) => *op != CmpOp::NullSafeEq && (is_null(a) || is_null(b)),
        _ => false,
    };
    let fixed = conditions.iter().filter(|e| e.is_constant() || never(e));
    fixed.map(|e| if never(e) { Expr::null() } else { e.clone() }).collect()
}

/// What is grouped by is NULL in the rows that ROLLUP adds, and no column of a table any more.
pub fn describe_rolled_up(columns: &mut [ColumnMeta], outputs: &[Expr]) {
    for (meta, e) in columns.iter_mut().zip(outputs) {
        meta.data_type.zerofill &= e.ty.zerofill;
        let is_key =
            matches!(e.node, Node::Column { depth: 0, .. }) || e.members().is_some() && e.own_column().is_some();
        if !meta.org_name.is_empty() && is_key && e.ty.nullable {
            let kind = match e.ty.kind {
                TypeKind::Enum | TypeKind::Set => TypeKind::Char,
                kind => kind,
            };
            let e = Expr { ty: DataType { kind, ..e.ty }, ..Expr::null() };
            *meta = super::meta::plain_meta(&meta.name, &e);
        }
    }
}

/// MySQL takes no INTERVAL() for another one, so what is grouped by one is in no other list, unless that is `named`.
pub fn key_of(e: Expr, named: bool) -> Expr {
    static UNLIKE: function::Function = unlisted("unlike", 1, 1, function::Rule::First, |a| a.value(0));
    if named || !e.any(&mut |e| matches!(&e.node, Node::Call(f, _) if f.name == "interval")) {
        return e;
    }
    let ty = e.ty;
    Expr::new(Node::Call(&UNLIKE, vec![e]), ty)
}

/// GROUPING(args), until the grouping is planned.
pub fn grouping_call(args: Vec<Expr>) -> Expr {
    let ty = DataType { length: 21, ..DataType::new(TypeKind::BigInt) };
    Expr::new(Node::Call(&GROUPING_FUNCTION, args), ty)
}

/// Is GROUPING called in it?
pub fn has_grouping_call(e: &Expr) -> bool {
    e.any(&mut |e| matches!(&e.node, Node::Call(f, _) if f.name == GROUPING))
}

/// The column of rolled up keys, until the number of aggregates is known.
const BITS_COLUMN: usize = u16::MAX as usize;

fn place_bits(e: &mut Expr, slot: usize, at: usize) {
    if let Node::Column { depth: 0, slot: s, column } = &mut e.node
        && *s as usize == slot
        && *column as usize == BITS_COLUMN
    {
        *column = at as u16;
    }
    e.children_mut(&mut |c| place_bits(c, slot, at));
}

impl Planner<'_> {
    /// Puts a grouping operator on top of `input`.
    pub(super) fn group(
        &mut self,
        input: Plan,
        keys: Vec<Expr>,
        rollup: bool,
        outputs: &mut [Expr],
        having: &mut Option<Expr>,
        order: &mut [OrderKey],
    ) -> Result<Plan> {
        // Groups of an ENUM or SET are those of its numbers.
        let number = |k: Expr| if k.members().is_some() { operand::enum_number(k) } else { k };
        let keys: Vec<Expr> = keys.into_iter().map(number).collect();
        let block = self.block();
        let asked = block.asked.take();
        let keep = asked.is_some();
        let asked = asked.unwrap_or_else(|| {
            block.shapes.push(Shape::Tuple(0));
            Asked { slot: block.shapes.len() - 1, calls: Vec::new() }
        });
        let slot = asked.slot;
        let mut grouping = Grouping { slot, keys: &keys, rollup, aggregates: asked.calls, written: Vec::new(), keep };
        for e in outputs.iter_mut().chain(having.iter_mut()).chain(order.iter_mut().map(|o| &mut o.expr)) {
            self.regroup(e, &mut grouping)?;
        }
        let Grouping { aggregates, keep, .. } = grouping;
        let rolled_up = keys.len() + aggregates.len();
        for e in outputs.iter_mut().chain(having.iter_mut()).chain(order.iter_mut().map(|o| &mut o.expr)) {
            place_bits(e, slot, rolled_up);
        }
        let shapes = &mut self.block().shapes;
        shapes[slot] = Shape::Tuple(rolled_up + rollup as usize);
        let keep = if keep { (0..shapes.len()).filter(|s| *s != slot).collect() } else { Vec::new() };
        let implicit = keys.is_empty();
        let keys = keys.into_iter().map(common::kept_decimal).collect();
        Ok(Plan::Group(Box::new(Group {
            input,
            keys,
            aggregates,
            slot,
            rollup,
            in_order: false,
            keep,
            implicit,
            conditions: Vec::new(),
        })))
    }

    fn regroup(&self, e: &mut Expr, g: &mut Grouping<'_>) -> Result<()> {
        let Some((number, _)) = written::of(e) else { return self.regroup_parts(e, g) };
        if let Some((_, known)) = g.written.iter().find(|(n, _)| *n == number) {
            *e = known.clone();
            return Ok(());
        }
        self.regroup_parts(e, g)?;
        g.written.push((number, e.clone()));
        Ok(())
    }

    fn regroup_parts(&self, e: &mut Expr, g: &mut Grouping<'_>) -> Result<()> {
        if let Some(i) = g.keys.iter().position(|k| k.same(e)) {
            let is_number = e.ty.kind.is_numeric() || e.ty.kind == TypeKind::Year;
            let zerofill = e.ty.zerofill && !(g.rollup && is_number);
            let ty = compare::column_of(e);
            *e = Expr::column(g.slot, i, DataType { nullable: ty.nullable || g.rollup, zerofill, ..ty });
            return Ok(());
        }
        let ty = compare::column_of(e);
        match &e.node {
            Node::Aggregate(call) => *e = g.column((**call).clone(), ty),
            Node::Column { depth: 0, .. } => *e = g.column(AggregateCall::any(e.clone()), ty),
            Node::Call(f, args) if f.name == GROUPING => *e = g.grouping(args)?,
            _ => {
                if let Node::Subquery { query, .. }
                | Node::Exists { query, .. }
                | Node::InSubquery { query, .. }
                | Node::Quantified { query, .. } = &e.node
                {
                    // Its outer columns are those of the group's first row.
                    g.keep |= self.queries.planned[*query].correlated;
                }
                let mut result = Ok(());
                e.children_mut(&mut |c| {
                    if result.is_ok() {
                        result = self.regroup(c, g);
                    }
                });
                result?;
                if let Node::EnumText(number, _) | Node::SetText(number, _) = &e.node {
                    e.ty.nullable |= number.ty.nullable;
                }
            }
        }
        Ok(())
    }

    /// ONLY_FULL_GROUP_BY for DISTINCT: 3065 or 3066 for an order that equal rows need not agree about.
    pub(super) fn check_distinct_order(&self, outputs: &[Expr], order: &[OrderKey]) -> Result<()> {
        if !SqlMode(self.env.sql_mode()).has(SqlMode::ONLY_FULL_GROUP_BY) {
            return Ok(());
        }
        let is_selected = |key: &OrderKey| outputs.iter().any(|o| o.says(&key.expr));
        for (i, key) in order.iter().enumerate().filter(|(_, key)| !is_selected(key)) {
            match self.beyond(&key.expr, outputs) {
                None => {}
                Some(Beyond::Aggregate) => return Err(err!(ER_AGGREGATE_IN_ORDER_NOT_SELECT, i + 1, "DISTINCT")),
                Some(Beyond::Column(name)) => return Err(err!(ER_FIELD_IN_ORDER_NOT_SELECT, i + 1, name, "DISTINCT")),
            }
        }
        Ok(())
    }

    /// What an expression reads that outputs do not say.
    fn beyond(&self, e: &Expr, outputs: &[Expr]) -> Option<Beyond> {
        let said = |o: &Expr| o.says(e) || subquery_of(e).is_some() && subquery_of(e) == subquery_of(o);
        match &e.node {
            // One that is part of an expression need not be what is selected.
            Node::Aggregate(_) => Some(Beyond::Aggregate),
            _ if outputs.iter().any(said) => None,
            Node::Call(f, _) if f.name == ANY_VALUE => None,
            Node::Column { depth: 0, slot, .. } if self.is_asked(*slot) => Some(Beyond::Aggregate),
            Node::Column { depth: 0, slot, column } => Some(Beyond::Column(self.full_name(*slot, *column))),
            _ => {
                let mut found = None;
                e.children(&mut |c| found = found.take().or_else(|| self.beyond(c, outputs)));
                let query = subquery_of(e).map(|q| &self.queries.planned[q]).filter(|q| q.correlated);
                found.or_else(|| query.and_then(|q| q.reads.iter().find_map(|read| self.beyond(read, outputs))))
            }
        }
    }

    pub(super) fn full_name(&self, slot: u16, column: u16) -> String {
        let merged = self.merged_column(&Expr::column(slot as usize, column as usize, DataType::new(TypeKind::Null)));
        if let Some((s, i)) = merged {
            return format!("{}.{}", s.name, s.columns[i].name);
        }
        match self.current_block().sources.iter().find(|s| s.slot == slot as usize) {
            Some(s) if !s.schema.is_empty() => {
                format!("{}.{}.{}", s.schema, s.name, s.columns[column as usize].name)
            }
            Some(s) => format!("{}.{}", s.name, s.columns[column as usize].name),
            None => String::new(),
        }
    }
}

enum Beyond {
    Column(String),
    Aggregate,
}
