//! Window functions: what is called over which rows. Computed by `run::window`; a column of its result once planned.

use crate::aggregate::AggregateCall;
use crate::{Expr, Node, common, convert};
use sql::ast::{ExprId, ExprList};
use types::codes::*;
use types::{DataType, Result, SqlError, TypeKind};

#[derive(Clone, Debug)]
pub enum WindowFunc {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    /// Number of buckets; NULL gives NULL.
    Ntile(Box<Expr>),
    /// Of `args[0]`, so many rows before or after; `args[1]` where there is no such row.
    Lag(Box<Expr>),
    Lead(Box<Expr>),
    FirstValue,
    LastValue,
    NthValue(Box<Expr>),
    Aggregate(Box<AggregateCall>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Rows,
    Range,
}

/// One end of a frame. The expression: for ROWS a number of rows, for RANGE the order key of the farthest row that is in.
#[derive(Clone, Debug)]
pub enum Bound {
    UnboundedPreceding,
    Preceding(Expr),
    CurrentRow,
    Following(Expr),
    UnboundedFollowing,
}

#[derive(Clone, Debug)]
pub struct Frame {
    pub unit: Unit,
    pub start: Bound,
    pub end: Bound,
}

#[derive(Clone, Debug)]
pub struct WindowCall {
    /// Where it is written: what came of one call, by an alias or a position, is computed once, also where operands are volatile.
    pub written: ExprId,
    /// The lists of PARTITION BY and ORDER BY as written: functions over one named window share its rows.
    pub window: (ExprList, Vec<ExprId>),
    pub func: WindowFunc,
    pub args: Vec<Expr>,
    pub partition: Vec<Expr>,
    /// (expression, descending)
    pub order: Vec<(Expr, bool)>,
    pub frame: Frame,
}

impl WindowCall {
    pub fn each<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        match &self.func {
            WindowFunc::Ntile(n) | WindowFunc::Lag(n) | WindowFunc::Lead(n) | WindowFunc::NthValue(n) => f(n),
            WindowFunc::Aggregate(call) => call.each(f),
            _ => {}
        }
        self.args.iter().chain(&self.partition).for_each(&mut *f);
        self.order.iter().for_each(|(e, _)| f(e));
        for bound in [&self.frame.start, &self.frame.end] {
            if let Bound::Preceding(e) | Bound::Following(e) = bound {
                f(e);
            }
        }
    }

    pub fn each_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match &mut self.func {
            WindowFunc::Ntile(n) | WindowFunc::Lag(n) | WindowFunc::Lead(n) | WindowFunc::NthValue(n) => f(n),
            WindowFunc::Aggregate(call) => call.each_mut(f),
            _ => {}
        }
        self.args.iter_mut().chain(&mut self.partition).for_each(&mut *f);
        self.order.iter_mut().for_each(|(e, _)| f(e));
        for bound in [&mut self.frame.start, &mut self.frame.end] {
            if let Bound::Preceding(e) | Bound::Following(e) = bound {
                f(e);
            }
        }
    }

    /// Do both run over the same rows in the same order?
    pub fn same_rows(&self, other: &WindowCall) -> bool {
        let is_equal = || {
            self.partition.len() == other.partition.len()
                && self.order.len() == other.order.len()
                && self.partition.iter().zip(&other.partition).all(|(a, b)| a.same(b))
                && self.order.iter().zip(&other.order).all(|(a, b)| a.1 == b.1 && a.0.same(&b.0))
        };
        self.window == other.window || is_equal()
    }

    /// The same function over frames of the same form; operands are compared by the caller.
    pub fn same_form(&self, other: &WindowCall) -> bool {
        let function = match (&self.func, &other.func) {
            (WindowFunc::Aggregate(a), WindowFunc::Aggregate(b)) => a.kind == b.kind,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        let bounds = |f: &Frame| (std::mem::discriminant(&f.start), std::mem::discriminant(&f.end));
        function
            && self.args.len() == other.args.len()
            && self.frame.unit == other.frame.unit
            && bounds(&self.frame) == bounds(&other.frame)
            && self.same_rows(other)
    }

    /// The type of the result. Error 1267 when LAG's or LEAD's default does not go with its expression.
    pub fn result_type(&self) -> Result<DataType> {
        let count = DataType { length: 21, ..DataType::new(TypeKind::BigInt).unsigned().not_null() };
        Ok(match &self.func {
            WindowFunc::RowNumber | WindowFunc::Rank | WindowFunc::DenseRank | WindowFunc::Ntile(_) => count,
            WindowFunc::PercentRank | WindowFunc::CumeDist => {
                DataType { length: 23, ..DataType::new(TypeKind::Double).not_null() }
            }
            WindowFunc::Lag(_) | WindowFunc::Lead(_) => {
                let all: Vec<&Expr> = self.args.iter().collect();
                let ty = widened(common::common_type(&all, "lag")?);
                // A default stands in for the rows that there are not.
                let nullable = self.args.len() < 2 || self.args.iter().any(|e| e.ty.nullable);
                DataType { unsigned: ty.unsigned && ty.kind != TypeKind::Decimal, nullable, ..ty }
            }
            WindowFunc::FirstValue | WindowFunc::LastValue | WindowFunc::NthValue(_) => {
                let Some(e) = self.args.first() else {
                    return Err(SqlError::new(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, "Incorrect parameter count"));
                };
                widened(e.ty)
            }
            WindowFunc::Aggregate(call) => DataType { nullable: call.ty.nullable, ..widened(call.ty) },
        })
    }
}

/// A value that was kept in a temporary table: MySQL has integers of two sizes there.
fn widened(ty: DataType) -> DataType {
    use TypeKind as K;
    let kind = match ty.kind {
        k if k.is_integer() && ty.length >= 10 => {
            let unsigned = convert::is_unsigned(&ty);
            return DataType { kind: K::BigInt, nullable: true, unsigned, ..ty };
        }
        k if k.is_integer() || k == K::Year => K::Int,
        K::Char | K::Enum | K::Set => K::VarChar,
        K::Binary => K::VarBinary,
        K::TinyText => return DataType { nullable: true, ..DataType::string(K::VarChar, 255, ty.collation) },
        K::TinyBlob => return DataType { nullable: true, ..DataType::string(K::VarBinary, 255, ty.collation) },
        k => k,
    };
    let zerofill = ty.zerofill && ty.kind != K::Year;
    DataType { kind, nullable: true, unsigned: convert::is_unsigned(&ty), zerofill, ..ty }
}

impl Expr {
    pub fn has_window(&self) -> bool {
        self.any(&mut |e| matches!(e.node, Node::Window(_)))
    }
}
