//! Calls that are more than a function of their operands: of aggregate functions, of window functions, of stored functions.

use crate::Expr;
use sql::ast::{ExprId, ExprList};
use std::sync::Arc;
use types::{DataType, TypeKind};

/// The aggregate functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateKind {
    Count,
    Sum,
    Avg,
    Min,
    Max,
    BitAnd,
    BitOr,
    BitXor,
    StdPop,
    StdSamp,
    VarPop,
    VarSamp,
    GroupConcat,
    JsonArray,
    JsonObject,
    /// The first row's value: columns that the group determines, and those within ANY_VALUE.
    Any,
}

/// An aggregate function and what it is called with.
#[derive(Clone, Debug)]
pub struct AggregateCall {
    pub kind: AggregateKind,
    pub distinct: bool,
    pub args: Vec<Expr>,
    pub order: Vec<(Expr, bool)>,
    pub separator: Vec<u8>,
    pub ty: DataType,
    /// MIN and MAX that no temporary table keeps: a text among them counts as a number without a warning.
    pub quiet: bool,
}

impl AggregateKind {
    /// Does the result take the members away from the accumulator, which can not go on then?
    pub fn gives_away(self) -> bool {
        matches!(self, AggregateKind::JsonArray | AggregateKind::JsonObject)
    }
}

impl AggregateCall {
    /// Can a row be taken out again: see [`crate::aggregate::Accumulator::remove`]?
    pub fn may_remove(&self) -> bool {
        let exact = |e: &Expr| e.ty.kind.is_integer() || e.ty.kind == TypeKind::Decimal;
        match self.kind {
            AggregateKind::Count => !self.distinct && self.args.len() < 2,
            AggregateKind::Sum | AggregateKind::Avg => !self.distinct && self.args.iter().all(exact),
            _ => false,
        }
    }

    /// Do both give the same value for the same rows?
    pub fn same_call(&self, other: &AggregateCall) -> bool {
        self.kind == other.kind
            && self.distinct == other.distinct
            && self.separator == other.separator
            && self.args.len() == other.args.len()
            && self.args.iter().zip(&other.args).all(|(a, b)| a.same(b))
            && self.order.len() == other.order.len()
            && self.order.iter().zip(&other.order).all(|(a, b)| a.1 == b.1 && a.0.same(&b.0))
    }

    /// Is it COUNT(*), or as good as that?
    pub fn counts_rows(&self) -> bool {
        self.kind == AggregateKind::Count && self.args.is_empty()
    }

    /// Do the two keep the same of the rows, so that one accumulator serves both?
    pub fn same_state(&self, other: &AggregateCall) -> bool {
        use AggregateKind::{Avg, Sum};
        let sums = |call: &AggregateCall| matches!(call.kind, Sum | Avg) && !call.distinct && !call.args.is_empty();
        sums(self) && sums(other) && self.args[0].same(&other.args[0])
    }

    /// Calls `f` on each operand.
    pub fn each<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        self.args.iter().for_each(&mut *f);
        self.order.iter().for_each(|(e, _)| f(e));
    }

    /// Calls `f` on each operand, to change it.
    pub fn each_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.args.iter_mut().for_each(&mut *f);
        self.order.iter_mut().for_each(|(e, _)| f(e));
    }
}

/// The window functions, with what beside the arguments they are called with.
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

/// What the bounds of a frame count.
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

/// The rows of a partition that count for the row at hand.
#[derive(Clone, Debug)]
pub struct Frame {
    pub unit: Unit,
    pub start: Bound,
    pub end: Bound,
}

/// A window function, what it is called with, and over which rows.
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
    /// Calls `f` on each operand, bounds and keys of the window among them.
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

    /// The same, to change them.
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
}

/// What is called, and what its value is stored as: a column with the name of the result that it is.
#[derive(Clone, Debug)]
pub struct StoredCall {
    pub routine: Arc<catalog::Routine>,
    pub returns: catalog::Column,
    /// The definer of the view that the call is part of, `user@host`: it calls.
    pub caller: Option<String>,
    /// The view that the statement names, by schema and name: what is missing inside of the call makes that invalid.
    pub view: Option<(String, String)>,
}

/// The name of the function that stands for calls of stored functions.
pub const STORED_CALL: &str = "stored function";
