//! Resolved expressions: every name is a slot and column, every node has a static type, evaluation borrows.
//!
//! The static type ([`Expr::ty`]) tells clients and sort keys what to expect; evaluation itself goes by the kind of the
//! values at hand, as MySQL's does for parameters and user variables, with the collation fixed at planning.

pub mod aggregate;
pub mod alternatives;
pub mod array;
pub mod charset;
pub mod compare;
pub mod convert;
pub mod document;
pub mod functions;
pub mod integer;
pub mod list;
pub mod moment;
pub mod number;
pub mod wide;
pub mod window;

use crate::plan::print;
use crate::run::{Run, Scope};
use compare::CmpOp;
use number::ArithOp;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;
use types::datatype::DataType;
use types::{Result, SqlError, TypeKind, Value};

#[derive(Clone, Debug)]
pub struct Expr {
    pub node: Node,
    pub ty: DataType,
}

#[derive(Clone, Debug)]
pub enum Node {
    Const(Value<'static>),
    Param(usize),
    /// A variable of the stored program that the statement is part of; its value is among the parameters.
    Local(usize),
    /// `depth` 0: this query's frame, 1: the query around it, ...
    Column {
        depth: u8,
        slot: u16,
        column: u16,
    },
    /// An expression of a query further out that has queries in it, as that query reads it: `depth` 1 is the one just around. It is
    /// opaque here: columns and queries in it are not this query's.
    Outer {
        depth: u8,
        expr: Box<Expr>,
    },
    /// Member name of an ENUM index.
    EnumText(Box<Expr>, Arc<[String]>),
    /// Member names of a SET bitmap, joined by commas.
    SetText(Box<Expr>, Arc<[String]>),
    /// A TIMESTAMP as tables hold it, in UTC, brought to the session's time zone.
    LocalTime(Box<Expr>),
    Arith(ArithOp, Box<Expr>, Box<Expr>),
    Neg(Box<Expr>),
    Bits(number::BitOp, Box<Expr>, Box<Expr>),
    BitNot(Box<Expr>),
    Compare(CmpOp, Box<Expr>, Box<Expr>, types::collation::CollationId),
    Between {
        negated: bool,
        operands: Box<[Expr; 3]>,
        collation: types::collation::CollationId,
    },
    In {
        negated: bool,
        operand: Box<Expr>,
        list: Vec<Expr>,
        collation: types::collation::CollationId,
        /// The number of a list that is looked up in a sorted copy: see [`list`]. 0: of no such list.
        kept: i64,
    },
    IsNull {
        negated: bool,
        operand: Box<Expr>,
    },
    /// IS [NOT] TRUE / FALSE
    IsTruth {
        negated: bool,
        truth: bool,
        operand: Box<Expr>,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Xor(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Like {
        negated: bool,
        operands: Box<[Expr; 2]>,
        escape: Option<char>,
        collation: types::collation::CollationId,
    },
    /// `CASE [operand] WHEN .. THEN .. ELSE .. END`; with an operand each `when` is a comparison already.
    Case {
        whens: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Cast(Box<Expr>),
    /// The text in the character set of the type, which has to have all of its characters. Errors 3854, 3988.
    InCharset(Box<Expr>),
    Call(functions::Func, Vec<Expr>),
    /// A call of an aggregate function, before grouping is planned; a column of the group's row after.
    Aggregate(Box<aggregate::AggregateCall>),
    /// A call with OVER, before windows are planned; a column of the window's result after.
    Window(Box<window::WindowCall>),
    /// A column of a subquery's only row: the value of a scalar subquery, or a member of a row.
    Subquery {
        query: usize,
        column: u16,
    },
    Exists {
        negated: bool,
        query: usize,
    },
    InSubquery {
        negated: bool,
        operands: Vec<Expr>,
        query: usize,
        /// By operand: what it is compared under.
        collations: Box<[types::collation::CollationId]>,
    },
    /// `= ANY`, `> ALL`, ...
    Quantified {
        op: CmpOp,
        all: bool,
        operand: Box<Expr>,
        query: usize,
        collation: types::collation::CollationId,
    },
    UserVariable(String),
    SetUserVariable(String, Box<Expr>),
    /// `DEFAULT` of a column whose default is CURRENT_TIMESTAMP.
    Now(u8),
}

/// The place of the first WHEN of CASE whose condition is true.
fn first_when(whens: &[(Expr, Expr)], run: &Run<'_>, at: Scope<'_>) -> Result<Option<usize>> {
    for (i, (when, _)) in whens.iter().enumerate() {
        if when.eval_bool(run, at)? == Some(true) {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

/// A value that borrows what `v` owns.
#[inline]
pub fn reborrow<'a>(v: &'a Value<'_>) -> Value<'a> {
    match v {
        Value::Null => Value::Null,
        Value::Int(v) => Value::Int(*v),
        Value::UInt(v) => Value::UInt(*v),
        Value::Double(v) => Value::Double(*v),
        Value::Decimal(v) => Value::Decimal(*v),
        Value::Date(v) => Value::Date(*v),
        Value::Time(v) => Value::Time(*v),
        Value::DateTime(v) => Value::DateTime(*v),
        Value::Bytes(b) => Value::Bytes(Cow::Borrowed(b)),
        Value::Json(b) => Value::Json(Cow::Borrowed(b)),
    }
}

/// Error 3988 of a text that stands for `?`. A literal that was lifted out of the statement, which is never NULL, does not.
#[cold]
fn impossible_for(e: &Expr, collation: types::CollationId) -> Option<SqlError> {
    let is_given = matches!(e.node, Node::Param(_)) && e.ty.nullable;
    is_given.then(|| types::err!(3988, e.ty.collation.info().name, collation.info().name, "parameter"))
}

#[inline]
pub fn boolean(b: bool) -> Value<'static> {
    Value::Int(b as i64)
}

/// The type of comparisons and logic: `int(1)`.
pub fn boolean_type(nullable: bool) -> DataType {
    DataType { length: 1, nullable, ..DataType::new(TypeKind::BigInt) }
}

impl Expr {
    pub fn new(node: Node, ty: DataType) -> Expr {
        Expr { node, ty }
    }

    /// What is beneath the text of an ENUM or SET column, or the local time of a TIMESTAMP.
    pub fn raw(&self) -> &Node {
        match &self.node {
            Node::EnumText(c, _) | Node::SetText(c, _) | Node::LocalTime(c) => &c.node,
            n => n,
        }
    }

    /// Slot and column of an expression that is a column of its own query.
    pub fn own_column(&self) -> Option<(u16, u16)> {
        match *self.raw() {
            Node::Column { depth: 0, slot, column } => Some((slot, column)),
            _ => None,
        }
    }

    pub fn null() -> Expr {
        Expr::new(Node::Const(Value::Null), DataType::new(TypeKind::Null))
    }

    pub fn int(v: i64) -> Expr {
        Expr::new(Node::Const(Value::Int(v)), DataType { length: 20, ..DataType::new(TypeKind::BigInt).not_null() })
    }

    pub fn column(slot: usize, column: usize, ty: DataType) -> Expr {
        Expr::new(Node::Column { depth: 0, slot: slot as u16, column: column as u16 }, ty)
    }

    /// What a tuple keeps of the expression, and what reads that from column `column` of `slot`. Of an ENUM or SET it keeps the
    /// number, so that it still is one beside numbers.
    pub fn kept_at(self, slot: usize, column: usize) -> (Expr, Expr) {
        let members = self.members().cloned();
        let is_enum = matches!(self.node, Node::EnumText(..));
        let ty = self.ty;
        let kept = if members.is_some() { convert::enum_number(self) } else { self };
        let read = Expr::column(slot, column, kept.ty);
        let read = match members {
            Some(members) if is_enum => Expr::new(Node::EnumText(Box::new(read), members), ty),
            Some(members) => Expr::new(Node::SetText(Box::new(read), members), ty),
            None => read,
        };
        (kept, read)
    }

    /// Is it the other expression, or an ENUM or SET of that number?
    pub fn says(&self, other: &Expr) -> bool {
        match &self.node {
            Node::EnumText(number, _) | Node::SetText(number, _) => number.same(other) || self.same(other),
            _ => self.same(other),
        }
    }

    /// The members of an ENUM or SET whose number is at hand.
    pub fn members(&self) -> Option<&Arc<[String]>> {
        match &self.node {
            Node::EnumText(_, members) | Node::SetText(_, members) => Some(members),
            _ => None,
        }
    }

    /// The value in the given scope.
    #[inline]
    pub fn eval<'a>(&'a self, run: &'a Run<'_>, at: Scope<'a>) -> Result<Value<'a>> {
        match &self.node {
            Node::Const(v) => Ok(reborrow(v)),
            Node::Param(i) => match run.params.get(*i) {
                Some(v) => {
                    if run.has_untold.get() {
                        run.tell_of_parameter(*i);
                    }
                    Ok(reborrow(v))
                }
                None => Err(SqlError::new(1210, "Incorrect arguments to EXECUTE")),
            },
            Node::Column { depth: 0, slot, column } => at.column(*slot as usize, *column as usize, run),
            _ => self.eval_slow(run, at),
        }
    }

    fn eval_slow<'a>(&'a self, run: &'a Run<'_>, at: Scope<'a>) -> Result<Value<'a>> {
        match &self.node {
            Node::Const(_) | Node::Param(_) => self.eval(run, at),
            Node::Local(i) => Ok(reborrow(&run.params[*i])),
            Node::Column { depth, slot, column } => {
                at.further_out(*depth).column(*slot as usize, *column as usize, run)
            }
            Node::Outer { depth, expr } => expr.eval(run, at.further_out(*depth)),
            Node::EnumText(e, members) | Node::SetText(e, members) => {
                Ok(member_text(e.eval(run, at)?, self.ty, members))
            }
            Node::LocalTime(e) => Ok(match e.eval(run, at)? {
                Value::DateTime(t) => Value::DateTime(convert::from_utc(t, run)),
                other => other,
            }),
            Node::Arith(op, a, b) => {
                let x = a.eval(run, at)?;
                if x.is_null() && *op == ArithOp::IntDiv {
                    return Ok(Value::Null);
                }
                let y = b.eval(run, at)?;
                number::arith(*op, &x, &y, &self.ty, run).map_err(|e| self.failed(e, at))
            }
            Node::Neg(e) => number::negate(&e.eval(run, at)?, run).map_err(|e| self.failed(e, at)),
            Node::Bits(op, a, b) => {
                let x = a.eval(run, at)?;
                let y = if x.is_null() { Value::Null } else { b.eval(run, at)? };
                integer::check(&x, a, run, at)?;
                integer::check(&y, b, run, at)?;
                number::bits(*op, &x, &y, self.ty.kind == TypeKind::VarBinary, run)
            }
            Node::BitNot(e) => {
                let v = e.eval(run, at)?;
                integer::check(&v, e, run, at)?;
                number::bit_not(&v, self.ty.kind == TypeKind::VarBinary, run)
            }
            Node::Cast(e) => {
                let v = e.eval(run, at)?;
                if self.ty.kind == TypeKind::BigInt {
                    integer::check(&v, e, run, at)?;
                }
                let v = convert::cast(v, &self.ty, &e.ty, run)?;
                Ok(match e.node {
                    // What a client sends is a text only once it was looked at.
                    Node::Param(_) => charset::text_or_null(v, &self.ty, run),
                    _ => v,
                })
            }
            Node::InCharset(e) => match e.eval(run, at)? {
                Value::Bytes(text) => match charset::in_charset(text, &e.ty, self.ty.collation) {
                    Ok(text) => Ok(Value::Bytes(text)),
                    Err(error) => Err(impossible_for(e, self.ty.collation).unwrap_or(error)),
                },
                v => convert::cast(v, &self.ty, &e.ty, run),
            },
            Node::Case { whens, otherwise } => {
                let found = match whens.len() >= alternatives::CONDITIONS_MIN {
                    true => alternatives::first_true(&whens[..], run, at)?.map(|found| found.first),
                    false => None,
                };
                let first = match found {
                    Some(first) => first,
                    None => first_when(whens, run, at)?,
                };
                if let Some((_, then)) = first.map(|i| &whens[i]) {
                    return convert::unify(then.eval(run, at)?, &then.ty, &self.ty, run);
                }
                match otherwise {
                    // No conditions: a conversion alone.
                    Some(e) if whens.is_empty() => convert::keep(e.eval(run, at)?, &e.ty, &self.ty, run),
                    Some(e) => convert::unify(e.eval(run, at)?, &e.ty, &self.ty, run),
                    None => Ok(Value::Null),
                }
            }
            Node::Call(f, args) => {
                let args = functions::Args { run, at, args, function: f.name, converts: f.joins_text(), ty: &self.ty };
                match (f.eval)(args) {
                    Ok(Value::Json(document)) => match run.outgrows_packet(f.name, document.len())? {
                        true => Ok(Value::Null),
                        false => run.check_work(document.len()).map(|()| Value::Json(document)),
                    },
                    // What follows may be as long: a copy, a key, a buffer that it goes to.
                    Ok(Value::Bytes(text)) => run.check_work(text.len()).map(|()| Value::Bytes(text)),
                    v => v.map_err(|e| self.failed(e, at)),
                }
            }
            Node::Subquery { query, column } => crate::run::subquery::scalar(run, *query, *column as usize, at),
            Node::UserVariable(name) => Ok(run.env.borrow().user_variable(name).0),
            Node::SetUserVariable(name, e) => {
                let v = e.eval(run, at)?.into_owned();
                run.env.borrow_mut().set_user_variable(name, v.clone(), e.ty);
                Ok(v)
            }
            Node::Now(decimals) => Ok(convert::now(run, *decimals)),
            Node::Aggregate(_) | Node::Window(_) => unreachable!("columns of an operator's row once planned"),
            _ => Ok(match self.eval_bool(run, at)? {
                Some(b) => boolean(b),
                None => Value::Null,
            }),
        }
    }

    /// Error 1690 says what is out of range.
    #[cold]
    pub fn failed(&self, e: SqlError, at: Scope<'_>) -> SqlError {
        match e.message.strip_suffix("in ''") {
            Some(what) if e.code == 1690 => {
                let text = print::print(self, &print::AtRow(at));
                SqlError::new(1690, format!("{what}in '{text}'"))
            }
            _ => e,
        }
    }

    /// Three-valued truth: `None` is UNKNOWN.
    pub fn eval_bool<'a>(&'a self, run: &'a Run<'_>, at: Scope<'a>) -> Result<Option<bool>> {
        match &self.node {
            Node::Compare(op, a, b, collation) => {
                let x = a.eval(run, at)?;
                // The other operand is not asked then.
                if x.is_null() && *op != CmpOp::NullSafeEq {
                    return Ok(None);
                }
                let y = b.eval(run, at)?;
                if *op == CmpOp::NullSafeEq {
                    return Ok(Some(match (x.is_null(), y.is_null()) {
                        (true, true) => true,
                        (false, false) => compare::values(&x, &y, *collation, run)? == Ordering::Equal,
                        _ => false,
                    }));
                }
                if y.is_null() {
                    return Ok(None);
                }
                Ok(Some(op.holds(compare::values(&x, &y, *collation, run)?)))
            }
            Node::Between { negated, operands, collation } => {
                let [e, low, high] = &**operands;
                let v = e.eval(run, at)?;
                if v.is_null() {
                    return Ok(None);
                }
                let (low, high) = (low.eval(run, at)?, high.eval(run, at)?);
                let ge = match low.is_null() {
                    true => None,
                    false => Some(compare::values(&v, &low, *collation, run)? != Ordering::Less),
                };
                let le = match high.is_null() {
                    true => None,
                    false => Some(compare::values(&v, &high, *collation, run)? != Ordering::Greater),
                };
                let both = match (ge, le) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                Ok(both.map(|b| b != *negated))
            }
            Node::In { negated, operand, list, collation, kept } => {
                let v = operand.eval(run, at)?;
                if v.is_null() {
                    return Ok(None);
                }
                if *kept != 0
                    && let Some(found) = list::look_up(*kept, &v, list, *collation, run, at)?
                {
                    return Ok(found.map(|found| found != *negated));
                }
                let mut unknown = false;
                for e in list {
                    let w = e.eval(run, at)?;
                    if w.is_null() {
                        unknown = true;
                    } else if compare::values(&v, &w, *collation, run)? == Ordering::Equal {
                        return Ok(Some(!*negated));
                    }
                }
                Ok(if unknown { None } else { Some(*negated) })
            }
            Node::IsNull { negated, operand } => Ok(Some(operand.eval(run, at)?.is_null() != *negated)),
            Node::IsTruth { negated, truth, operand } => {
                Ok(Some((operand.eval_bool(run, at)? == Some(*truth)) != *negated))
            }
            Node::And(list) => {
                let mut unknown = false;
                for e in list {
                    match e.eval_bool(run, at)? {
                        Some(false) => return Ok(Some(false)),
                        Some(true) => {}
                        None => unknown = true,
                    }
                }
                Ok(if unknown { None } else { Some(true) })
            }
            Node::Or(list) => {
                if list.len() >= alternatives::CONDITIONS_MIN
                    && let Some(found) = alternatives::first_true(&list[..], run, at)?
                {
                    return Ok(if found.unknown { None } else { Some(found.first.is_some()) });
                }
                let mut unknown = false;
                for e in list {
                    match e.eval_bool(run, at)? {
                        Some(true) => return Ok(Some(true)),
                        Some(false) => {}
                        None => unknown = true,
                    }
                }
                Ok(if unknown { None } else { Some(false) })
            }
            Node::Xor(a, b) => {
                let (x, y) = (a.eval_bool(run, at)?, b.eval_bool(run, at)?);
                Ok(x.zip(y).map(|(x, y)| x != y))
            }
            Node::Not(e) => Ok(e.eval_bool(run, at)?.map(|b| !b)),
            Node::Like { negated, operands, escape, collation } => {
                let text = operands[0].eval(run, at)?;
                if text.is_null() {
                    return Ok(None);
                }
                let pattern = operands[1].eval(run, at)?;
                if pattern.is_null() {
                    return Ok(None);
                }
                let text = convert::text(&text, &operands[0].ty);
                let pattern = convert::text(&pattern, &operands[1].ty);
                let found = collation.try_like(&text, &pattern, *escape, &mut || run.check_interrupt_now())?;
                Ok(Some(found != *negated))
            }
            Node::Outer { depth, expr } => expr.eval_bool(run, at.further_out(*depth)),
            Node::Exists { negated, query } => Ok(Some(crate::run::subquery::exists(run, *query, at)? != *negated)),
            Node::InSubquery { negated, operands, query, collations } => {
                Ok(crate::run::subquery::contains(run, *query, operands, collations, at)?.map(|b| b != *negated))
            }
            Node::Quantified { op, all, operand, query, collation } => {
                crate::run::subquery::quantified(run, *query, *op, *all, operand, *collation, at)
            }
            _ if convert::is_long_column(self) => Ok(self.eval(run, at)?.to_bool()),
            _ => convert::truth(&self.eval(run, at)?, run),
        }
    }

    /// Calls `f` on the direct children.
    pub fn children<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        match &self.node {
            Node::Const(_) | Node::Param(_) | Node::Column { .. } | Node::Subquery { .. } | Node::Exists { .. } => {}
            Node::UserVariable(_) | Node::Now(_) | Node::Outer { .. } | Node::Local(_) => {}
            Node::EnumText(e, _) | Node::SetText(e, _) | Node::Neg(e) | Node::BitNot(e) | Node::Not(e) => f(e),
            Node::Cast(e) | Node::InCharset(e) | Node::LocalTime(e) | Node::SetUserVariable(_, e) => f(e),
            Node::IsNull { operand, .. } | Node::IsTruth { operand, .. } | Node::Quantified { operand, .. } => {
                f(operand)
            }
            Node::Arith(_, a, b) | Node::Bits(_, a, b) | Node::Compare(_, a, b, _) | Node::Xor(a, b) => {
                f(a);
                f(b);
            }
            Node::Between { operands, .. } => operands.iter().for_each(f),
            Node::Like { operands, .. } => operands.iter().for_each(f),
            Node::In { operand, list, .. } => {
                f(operand);
                list.iter().for_each(f);
            }
            Node::And(list) | Node::Or(list) | Node::Call(_, list) | Node::InSubquery { operands: list, .. } => {
                list.iter().for_each(f)
            }
            Node::Case { whens, otherwise } => {
                for (w, t) in whens {
                    f(w);
                    f(t);
                }
                if let Some(e) = otherwise {
                    f(e);
                }
            }
            Node::Aggregate(call) => call.each(f),
            Node::Window(call) => call.each(f),
        }
    }

    /// Calls `f` on the direct children, to change them.
    pub fn children_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match &mut self.node {
            Node::Const(_) | Node::Param(_) | Node::Column { .. } | Node::Subquery { .. } | Node::Exists { .. } => {}
            Node::UserVariable(_) | Node::Now(_) | Node::Outer { .. } | Node::Local(_) => {}
            Node::EnumText(e, _) | Node::SetText(e, _) | Node::Neg(e) | Node::BitNot(e) | Node::Not(e) => f(e),
            Node::Cast(e) | Node::InCharset(e) | Node::LocalTime(e) | Node::SetUserVariable(_, e) => f(e),
            Node::IsNull { operand, .. } | Node::IsTruth { operand, .. } | Node::Quantified { operand, .. } => {
                f(operand)
            }
            Node::Arith(_, a, b) | Node::Bits(_, a, b) | Node::Compare(_, a, b, _) | Node::Xor(a, b) => {
                f(a);
                f(b);
            }
            Node::Between { operands, .. } => operands.iter_mut().for_each(f),
            Node::Like { operands, .. } => operands.iter_mut().for_each(f),
            Node::In { operand, list, .. } => {
                f(operand);
                list.iter_mut().for_each(f);
            }
            Node::And(list) | Node::Or(list) | Node::Call(_, list) | Node::InSubquery { operands: list, .. } => {
                list.iter_mut().for_each(f)
            }
            Node::Case { whens, otherwise } => {
                for (w, t) in whens {
                    f(w);
                    f(t);
                }
                if let Some(e) = otherwise {
                    f(e);
                }
            }
            Node::Aggregate(call) => call.each_mut(f),
            Node::Window(call) => call.each_mut(f),
        }
    }

    /// Does `test` hold for this node or any below it?
    pub fn any(&self, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
        if test(self) {
            return true;
        }
        let mut found = false;
        self.children(&mut |e| found = found || e.any(test));
        found
    }

    /// Are there more than so many nodes in it?
    pub fn has_more_nodes(&self, max: usize) -> bool {
        let mut nodes = 0;
        self.any(&mut |_| {
            nodes += 1;
            nodes > max
        })
    }

    pub fn has_aggregate(&self) -> bool {
        self.any(&mut |e| matches!(e.node, Node::Aggregate(_)))
    }

    /// The same during the whole execution: reads no column of this query, no subquery, and has no side effect.
    pub fn is_constant(&self) -> bool {
        !self.any(&mut |e| match &e.node {
            Node::Column { depth, .. } => *depth == 0,
            Node::Subquery { .. } | Node::Exists { .. } | Node::InSubquery { .. } | Node::Quantified { .. } => true,
            Node::SetUserVariable(..) | Node::UserVariable(_) | Node::Aggregate(_) | Node::Outer { .. } => true,
            Node::Call(f, _) => f.volatile,
            _ => false,
        })
    }

    /// Are the two the same expression (for GROUP BY and index matching)?
    pub fn same(&self, other: &Expr) -> bool {
        if std::mem::discriminant(&self.node) != std::mem::discriminant(&other.node) {
            return false;
        }
        let own = match (&self.node, &other.node) {
            (Node::Const(a), Node::Const(b)) => a == b,
            (Node::Param(a), Node::Param(b)) | (Node::Local(a), Node::Local(b)) => a == b,
            (Node::Column { depth: d, slot: s, column: c }, Node::Column { depth: e, slot: t, column: g }) => {
                (d, s, c) == (e, t, g)
            }
            (Node::Outer { depth: d, expr: a }, Node::Outer { depth: e, expr: b }) => d == e && a.same(b),
            (Node::Arith(a, ..), Node::Arith(b, ..)) => a == b,
            (Node::Bits(a, ..), Node::Bits(b, ..)) => a == b,
            (Node::Compare(a, _, _, c), Node::Compare(b, _, _, d)) => a == b && c == d,
            (Node::Between { negated: a, .. }, Node::Between { negated: b, .. }) => a == b,
            (Node::In { negated: a, .. }, Node::In { negated: b, .. }) => a == b,
            (Node::IsNull { negated: a, .. }, Node::IsNull { negated: b, .. }) => a == b,
            (Node::IsTruth { negated: a, truth: t, .. }, Node::IsTruth { negated: b, truth: u, .. }) => {
                (a, t) == (b, u)
            }
            (Node::Like { negated: a, escape: x, .. }, Node::Like { negated: b, escape: y, .. }) => (a, x) == (b, y),
            (Node::Cast(_), Node::Cast(_)) | (Node::InCharset(_), Node::InCharset(_)) => self.ty == other.ty,
            (Node::Call(f, _), Node::Call(g, _)) => f.name == g.name && !f.volatile,
            (Node::Aggregate(a), Node::Aggregate(b)) => a.same_call(b),
            (Node::Window(a), Node::Window(b)) if a.written == b.written => return true,
            (Node::Window(a), Node::Window(b)) => a.same_form(b),
            (Node::UserVariable(a), Node::UserVariable(b)) => a == b,
            (Node::Now(a), Node::Now(b)) => a == b,
            // One subquery that two expressions came to share, by an alias or a position; two texts are two subqueries.
            (Node::Subquery { query: a, column: i }, Node::Subquery { query: b, column: j }) => (a, i) == (b, j),
            (Node::Exists { negated: a, query: q }, Node::Exists { negated: b, query: r }) => (a, q) == (b, r),
            (Node::InSubquery { negated: a, query: q, .. }, Node::InSubquery { negated: b, query: r, .. }) => {
                (a, q) == (b, r)
            }
            (Node::Quantified { op, all, query, .. }, Node::Quantified { op: p, all: every, query: r, .. }) => {
                (op, all, query) == (p, every, r)
            }
            (Node::SetUserVariable(..), _) => false,
            _ => true,
        };
        if !own {
            return false;
        }
        let (mut mine, mut theirs) = (Vec::new(), Vec::new());
        self.children(&mut |e| mine.push(e));
        other.children(&mut |e| theirs.push(e));
        mine.len() == theirs.len() && mine.iter().zip(theirs).all(|(a, b)| a.same(b))
    }
}

/// The text of an ENUM's or SET's number, in its character set; what is no such number stays as it is.
pub(crate) fn member_text<'v>(v: Value<'v>, ty: DataType, members: &'v [String]) -> Value<'v> {
    let Value::UInt(n) = v else { return v };
    let set = ty.collation.charset();
    if ty.kind == TypeKind::Enum {
        let member = n.checked_sub(1).and_then(|i| members.get(i as usize));
        return Value::Bytes(set.from_utf8(member.map_or(b"", |m| m.as_bytes())));
    }
    let chosen = members.iter().enumerate().filter(|(i, _)| n & (1 << i) != 0).map(|(_, m)| m.as_str());
    let text = chosen.collect::<Vec<_>>().join(",");
    Value::Bytes(Cow::Owned(set.from_utf8(text.as_bytes()).into_owned()))
}
