//! Comparisons of two operands, or of two rows.

use expr::adapt::Reading;
use expr::compare;
use expr::operator::CmpOp;
use expr::{Expr, Node, adapt, boolean_type, functions, operand, wide};
use sql::ast::BinaryOp;
use types::codes::*;
use types::collation::CollationId;
use types::{DataType, Date, DateTime, Result, TypeKind, Value, err};

/// Characters of the longest moment.
const MOMENT_TEXT_MAX: u32 = 26;

impl super::Planner<'_> {
    /// How a literal beside a date is read.
    pub(super) fn reading(&self) -> Reading {
        if self.parameters.stores { Reading::Stored } else { Reading::Strict }
    }

    /// As WHERE or a part of its AND, IS NULL of a DATE or DATETIME that is NOT NULL asks for zero dates.
    pub(super) fn zero_dates(&self, e: Expr) -> Expr {
        let ty = e.ty;
        match e.node {
            Node::And(list) => Expr::new(Node::And(list.into_iter().map(|e| self.zero_dates(e)).collect()), ty),
            Node::IsNull { negated: false, ref operand } if self.is_date_not_null(operand) => {
                let zero = match operand.ty.kind {
                    TypeKind::Date => Value::Date(Date::ZERO),
                    _ => Value::DateTime(DateTime::ZERO),
                };
                let zero = Expr::new(Node::Const(zero), operand.ty.not_null());
                let is_zero = Node::Compare(CmpOp::Eq, operand.clone(), Box::new(zero), CollationId::BINARY);
                let asked = Expr::new(Node::IsNull { negated: false, operand: operand.clone() }, ty);
                Expr::new(Node::Or(vec![Expr::new(is_zero, boolean_type(true)), asked]), boolean_type(true))
            }
            node => Expr::new(node, ty),
        }
    }

    fn is_date_not_null(&self, e: &Expr) -> bool {
        let Node::Column { depth: 0, slot, column } = e.node else { return false };
        let source = self.current_block().sources.iter().find(|s| s.slot == slot as usize);
        let defined = source.and_then(|s| s.table.as_ref()?.columns.get(column as usize));
        defined
            .is_some_and(|c| matches!(c.data_type.kind, TypeKind::Date | TypeKind::DateTime) && !c.data_type.nullable)
    }
}

/// The comparison that an operator stands for, if it is one.
pub(super) fn comparison(op: BinaryOp) -> Option<CmpOp> {
    Some(match op {
        BinaryOp::Eq => CmpOp::Eq,
        BinaryOp::NullSafeEq => CmpOp::NullSafeEq,
        BinaryOp::Ne => CmpOp::Ne,
        BinaryOp::Lt => CmpOp::Lt,
        BinaryOp::Le => CmpOp::Le,
        BinaryOp::Gt => CmpOp::Gt,
        BinaryOp::Ge => CmpOp::Ge,
        _ => return None,
    })
}

/// Both sides brought together: JSON, wide types, collation. Errors 1267, 3854.
pub fn compare_exprs(op: CmpOp, a: Expr, b: Expr) -> Result<Expr> {
    compare_by(op, a, b, if op == CmpOp::Eq { adapt::adapt_equal } else { adapt::adapt })
}

/// The same of members of two rows, one of which is to be less than the other or stands in a list: a YEAR is a number there.
pub(super) fn compare_members(op: CmpOp, a: Expr, b: Expr) -> Result<Expr> {
    compare_by(op, a, b, adapt::adapt_member)
}

/// What CASE compares: years are numbers there, and beside a TIME the text of all else is one, or NULL.
pub(super) fn compare_case(a: Expr, b: Expr) -> Result<Expr> {
    let is_text = b.ty.kind.is_text() && b.ty.kind != TypeKind::Json;
    let is_date = matches!(b.ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp);
    let cast = |e: Expr, ty: DataType| Expr::new(Node::Cast(Box::new(e)), DataType { nullable: true, ..ty });
    let text = DataType::string(TypeKind::VarChar, MOMENT_TEXT_MAX, CollationId::UTF8MB4_0900_AI_CI);
    let time = DataType { length: 17, decimals: 6, ..DataType::new(TypeKind::Time) };
    let b = match a.ty.kind {
        TypeKind::Time if is_text => cast(b, time),
        TypeKind::Time if is_date => cast(cast(b, text), time),
        _ => b,
    };
    compare_by(CmpOp::Eq, a, b, adapt::adapt_member)
}

fn compare_by(op: CmpOp, a: Expr, b: Expr, adapt: fn(Expr, &Expr) -> Expr) -> Result<Expr> {
    let (a, b) = match (a.ty.kind == TypeKind::Json, b.ty.kind == TypeKind::Json) {
        (true, false) => (a, functions::json::as_scalar(b)),
        (false, true) => (functions::json::as_scalar(a), b),
        _ => (a, b),
    };
    let b = adapt::beside_moment(b, &a);
    let a = adapt::beside_moment(a, &b);
    let are_strings = [&a, &b].map(|e| e.ty.kind.is_text() || e.ty.kind.is_bytes());
    let (a, b) = if are_strings == [true; 2] { (a, b) } else { (wide::plain(a), wide::plain(b)) };
    let a = adapt::time_as_text(a, &b);
    let b = adapt::time_as_text(b, &a);
    let b = adapt::near_float(b, &a);
    let a = adapt::near_float(a, &b);
    let collation = compare::collation_for(&[&a, &b], op.symbol())?;
    let b = compare::in_charset(adapt(b, &a), collation);
    let a = compare::in_charset(adapt(a, &b), collation);
    let nullable = op != CmpOp::NullSafeEq && (a.ty.nullable || b.ty.nullable);
    Ok(Expr::new(Node::Compare(op, Box::new(a), Box::new(b), collation), boolean_type(nullable)))
}

/// What each operand is compared with its column of the subquery under; both are brought to its character set. Error 1267.
pub(super) fn pair_collations(operands: &mut [Expr], outputs: &mut [Expr]) -> Result<Box<[CollationId]>> {
    operands.iter_mut().zip(outputs).map(|(a, b)| pair_collation(a, b)).collect()
}

/// The collation of an operand and a subquery's column, both of which are brought to its character set.
pub(super) fn pair_collation(a: &mut Expr, b: &mut Expr) -> Result<CollationId> {
    let are_numbers = [a.ty.kind.is_numeric(), b.ty.kind.is_numeric()];
    for (e, beside_number) in [(&mut *a, are_numbers[1]), (&mut *b, are_numbers[0])] {
        if beside_number {
            *e = operand::enum_number(std::mem::replace(e, Expr::null()));
        }
    }
    let collation = compare::collation_of(&[a, b])?;
    for e in [a, b] {
        *e = compare::in_charset(std::mem::replace(e, Expr::null()), collation);
    }
    Ok(collation)
}

impl super::Planner<'_> {
    /// Two operands of a comparison: what is constant is read once, as a column beside it would hold it. Errors 1267, 1292, 1525.
    pub(super) fn compare_pair(&mut self, op: CmpOp, a: Expr, b: Expr) -> Result<Expr> {
        let a = self.beside_column(adapt::time_beside(a, &b), &b)?;
        let b = self.beside_column(adapt::time_beside(b, &a), &a)?;
        compare_exprs(op, a, b)
    }

    /// Row comparison spelled out: `(a,b) = (c,d)` is a=c AND b=d; `<` goes left to right.
    pub(super) fn compare_rows(&mut self, op: CmpOp, a: Vec<Expr>, b: Vec<Expr>) -> Result<Expr> {
        if a.len() != b.len() {
            return Err(err!(ER_OPERAND_COLUMNS, a.len()));
        }
        let nullable = op != CmpOp::NullSafeEq && a.iter().chain(&b).any(|e| e.ty.nullable);
        if matches!(op, CmpOp::Eq | CmpOp::NullSafeEq | CmpOp::Ne) {
            let pairs = a.into_iter().zip(b);
            let list: Vec<Expr> = pairs.map(|(x, y)| self.compare_pair(op, x, y)).collect::<Result<_>>()?;
            let node = if op == CmpOp::Ne { Node::Or(list) } else { Node::And(list) };
            return Ok(Expr::new(node, boolean_type(nullable)));
        }
        self.note_literals(&a, &b)?;
        let pairs: Vec<(Expr, Expr)> = a.into_iter().zip(b).collect();
        let strict = match op {
            CmpOp::Lt | CmpOp::Le => CmpOp::Lt,
            _ => CmpOp::Gt,
        };
        let last = pairs.len() - 1;
        let mut any = Vec::new();
        for i in 0..pairs.len() {
            let mut all = Vec::new();
            for (x, y) in &pairs[..i] {
                all.push(compare_members(CmpOp::Eq, x.clone(), y.clone())?);
            }
            let (x, y) = pairs[i].clone();
            all.push(compare_members(if i == last { op } else { strict }, x, y)?);
            any.push(Expr::new(Node::And(all), boolean_type(nullable)));
        }
        Ok(Expr::new(Node::Or(any), boolean_type(nullable)))
    }
}
