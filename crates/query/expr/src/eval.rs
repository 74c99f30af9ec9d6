//! Evaluation: the value of an expression for the rows of a scope, borrowed from where it lies.

use crate::execution::check_work;
use crate::operator::{ArithOp, CmpOp};
use crate::{
    Execution, Expr, Node, Scope, alternatives, boolean, charset, compare, convert, function, integer, list, number,
    print, reborrow, variable,
};
use std::borrow::Cow;
use std::cmp::Ordering;
use types::codes::*;
use types::{CollationId, DataType, Result, SqlError, TypeKind, Value, err};

impl Expr {
    /// The value in the given scope.
    #[inline]
    pub fn eval<'a>(&'a self, run: &'a dyn Execution, at: Scope<'a>) -> Result<Value<'a>> {
        match &self.node {
            Node::Const(v) => Ok(reborrow(v)),
            Node::Param(i) => match run.evaluation().params.get(*i) {
                Some(v) => {
                    if run.evaluation().has_untold.get() {
                        run.tell_of_parameter(*i);
                    }
                    Ok(reborrow(v))
                }
                None => Err(err!(ER_WRONG_ARGUMENTS, "EXECUTE")),
            },
            Node::Column { depth: 0, slot, column } => at.column(*slot as usize, *column as usize, run),
            Node::Local(i, _) => Ok(reborrow(&run.evaluation().params[*i])),
            _ => self.eval_more(run, at),
        }
    }

    /// Functions come before what else there is, whose frame on the stack is that of all kinds of node together.
    #[inline(never)]
    fn eval_more<'a>(&'a self, run: &'a dyn Execution, at: Scope<'a>) -> Result<Value<'a>> {
        match &self.node {
            Node::Call(f, args) => self.call(f, args, run, at),
            Node::Arith(op, a, b) => self.arith(*op, a, b, run, at),
            _ => self.eval_slow(run, at),
        }
    }

    fn arith<'a>(
        &'a self,
        op: ArithOp,
        a: &'a Expr,
        b: &'a Expr,
        run: &'a dyn Execution,
        at: Scope<'a>,
    ) -> Result<Value<'a>> {
        let x = a.eval(run, at)?;
        if x.is_null() && op == ArithOp::IntDiv {
            return Ok(Value::Null);
        }
        let y = b.eval(run, at)?;
        number::arith(op, &x, &y, &self.ty, run).map_err(|e| self.failed(e, at))
    }

    #[inline(never)]
    fn eval_slow<'a>(&'a self, run: &'a dyn Execution, at: Scope<'a>) -> Result<Value<'a>> {
        match &self.node {
            Node::Const(_) | Node::Param(_) | Node::Local(..) => self.eval(run, at),
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
            Node::Arith(op, a, b) => self.arith(*op, a, b, run, at),
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
            Node::Cast(e) if (self.ty.kind.is_text() || self.ty.kind.is_bytes()) && self.ty.kind != TypeKind::Json => {
                let (v, from) = e.eval_shown(run, at)?;
                let v = convert::cast(v, &self.ty, from, run)?;
                Ok(match e.node {
                    // What a client sends is a text only once it was looked at.
                    Node::Param(_) => charset::text_or_null(v, &self.ty, run),
                    _ => v,
                })
            }
            Node::Cast(e) => {
                let v = e.eval(run, at)?;
                if self.ty.kind == TypeKind::BigInt {
                    integer::check(&v, e, run, at)?;
                }
                if self.ty.kind == TypeKind::Decimal
                    && let Value::Bytes(text) = &v
                    && convert::is_made_text(e)
                {
                    convert::warn_made_decimal(text, run);
                    return convert::cast(Value::Decimal(v.to_decimal()), &self.ty, &e.ty, run);
                }
                convert::cast(v, &self.ty, &e.ty, run)
            }
            Node::InCharset(e) => match e.eval(run, at)? {
                Value::Bytes(text) => match charset::in_charset(text, &e.ty, self.ty.collation) {
                    Ok(text) => Ok(Value::Bytes(text)),
                    Err(error) => Err(impossible_for(e, self.ty.collation).unwrap_or(error)),
                },
                v => convert::cast(v, &self.ty, &e.ty, run),
            },
            Node::Case { whens, otherwise } => self.chosen(whens, otherwise.as_deref(), run, at),
            Node::Call(f, args) => self.call(f, args, run, at),
            Node::Subquery { query, column } => run.scalar(*query, *column as usize, at),
            Node::UserVariable(name) => Ok(variable::read(run.session().user_variable(name), &self.ty)),
            Node::SetUserVariable(name, e) => {
                let (v, ty) = variable::kept(e.eval(run, at)?.into_owned(), &e.ty);
                run.session().set_user_variable(name, v.clone(), ty);
                Ok(v)
            }
            Node::Now(decimals) => Ok(convert::now(run, *decimals)),
            Node::Routine(_) => unreachable!("it is called"),
            Node::Aggregate(_) | Node::Window(_) => unreachable!("columns of an operator's row once planned"),
            _ => Ok(match self.eval_bool(run, at)? {
                Some(b) => boolean(b),
                None => Value::Null,
            }),
        }
    }

    /// The value of a function.
    fn call<'a>(
        &'a self,
        f: function::Func,
        args: &'a [Expr],
        run: &'a dyn Execution,
        at: Scope<'a>,
    ) -> Result<Value<'a>> {
        let args = function::Args { run, at, args, function: f.name, converts: f.joins_text(), ty: &self.ty };
        let mut v = (f.eval)(args);
        match &v {
            // What follows may be as long: a copy, a key, a buffer that it goes to.
            Ok(Value::Bytes(text)) => {
                if let Err(e) = check_work(run, text.len()) {
                    v = Err(e);
                }
            }
            Ok(Value::Json(_)) | Err(_) => v = self.looked_at(f, v, run, at),
            Ok(_) => {}
        }
        v
    }

    /// A document that a function has given, or an error.
    #[inline(never)]
    fn looked_at<'a>(
        &self,
        f: function::Func,
        v: Result<Value<'a>>,
        run: &'a dyn Execution,
        at: Scope<'a>,
    ) -> Result<Value<'a>> {
        match v {
            Ok(Value::Json(document)) => match run.outgrows_packet(f.name, document.len())? {
                true => Ok(Value::Null),
                false => check_work(run, document.len()).map(|()| Value::Json(document)),
            },
            v => v.map_err(|e| self.failed(e, at)),
        }
    }

    /// The value as a text shows it, with its type: of numbers that CASE makes doubles of, the one that it chooses as that is.
    pub fn eval_shown<'a>(&'a self, run: &'a dyn Execution, at: Scope<'a>) -> Result<(Value<'a>, &'a DataType)> {
        match &self.node {
            Node::Case { whens, otherwise } if self.ty.kind == TypeKind::Double && !whens.is_empty() => {
                match branch(whens, otherwise.as_deref(), run, at)? {
                    Some(e) => e.eval_shown(run, at),
                    None => Ok((Value::Null, &self.ty)),
                }
            }
            _ => Ok((self.eval(run, at)?, &self.ty)),
        }
    }

    /// The value of CASE, which is of this expression's type.
    fn chosen<'a>(
        &'a self,
        whens: &'a [(Expr, Expr)],
        otherwise: Option<&'a Expr>,
        run: &'a dyn Execution,
        at: Scope<'a>,
    ) -> Result<Value<'a>> {
        let Some(e) = branch(whens, otherwise, run, at)? else { return Ok(Value::Null) };
        let v = e.eval(run, at)?;
        match whens.is_empty() {
            // No conditions: a conversion alone.
            true => convert::keep(v, &e.ty, &self.ty, run),
            false => convert::unify(v, &e.ty, &self.ty, run),
        }
    }
    /// Error 1690 says what is out of range.
    #[cold]
    pub fn failed(&self, e: SqlError, at: Scope<'_>) -> SqlError {
        match e.message.strip_suffix("in ''") {
            Some(what) if e.code == ER_DATA_OUT_OF_RANGE => {
                let text = print::print(self, &print::AtRow(at));
                SqlError::new(ER_DATA_OUT_OF_RANGE, format!("{what}in '{text}'"))
            }
            _ => e,
        }
    }

    /// Three-valued truth: `None` is UNKNOWN.
    pub fn eval_bool<'a>(&'a self, run: &'a dyn Execution, at: Scope<'a>) -> Result<Option<bool>> {
        match &self.node {
            Node::Compare(op, a, b, collation) => compared(*op, a, b, *collation, run, at),
            Node::Between { negated, operands, collation } => {
                Ok(between(operands, *collation, run, at)?.map(|b| b != *negated))
            }
            Node::In { negated, operand, list, collation, kept } => {
                Ok(is_among(operand, list, *kept, *collation, run, at)?.map(|b| b != *negated))
            }
            Node::IsNull { negated, operand } => Ok(Some(operand.eval(run, at)?.is_null() != *negated)),
            Node::EnumText(number, _) | Node::SetText(number, _) => number.eval_bool(run, at),
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
                Ok(is_like(operands, *escape, *collation, run, at)?.map(|b| b != *negated))
            }
            Node::Outer { depth, expr } => expr.eval_bool(run, at.further_out(*depth)),
            Node::Exists { negated, query } => Ok(Some(run.exists(*query, at)? != *negated)),
            Node::InSubquery { negated, operands, query, collations } => {
                Ok(run.contains(*query, operands, collations, at)?.map(|b| b != *negated))
            }
            Node::Quantified { op, all, operand, query, collation } => {
                run.quantified(*query, *op, *all, operand, *collation, at)
            }
            _ if convert::is_long_column(self) => Ok(self.eval(run, at)?.to_bool()),
            _ => convert::truth(&self.eval(run, at)?, run),
        }
    }
}

#[inline]
fn compared(
    op: CmpOp,
    a: &Expr,
    b: &Expr,
    collation: CollationId,
    run: &dyn Execution,
    at: Scope<'_>,
) -> Result<Option<bool>> {
    let x = a.eval(run, at)?;
    // The other operand is not asked then.
    if x.is_null() && op != CmpOp::NullSafeEq {
        return Ok(None);
    }
    let y = b.eval(run, at)?;
    if op == CmpOp::NullSafeEq {
        return Ok(Some(match (x.is_null(), y.is_null()) {
            (true, true) => true,
            (false, false) => compare::values(&x, &y, collation, run)? == Ordering::Equal,
            _ => false,
        }));
    }
    if y.is_null() {
        return Ok(None);
    }
    Ok(Some(op.holds(compare::values(&x, &y, collation, run)?)))
}

fn between(operands: &[Expr; 3], collation: CollationId, run: &dyn Execution, at: Scope<'_>) -> Result<Option<bool>> {
    let [e, low, high] = operands;
    let v = e.eval(run, at)?;
    if v.is_null() {
        return Ok(None);
    }
    let (low, high) = (low.eval(run, at)?, high.eval(run, at)?);
    let ge = match low.is_null() {
        true => None,
        false => Some(compare::values(&v, &low, collation, run)? != Ordering::Less),
    };
    let le = match high.is_null() {
        true => None,
        false => Some(compare::values(&v, &high, collation, run)? != Ordering::Greater),
    };
    let both = match (ge, le) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    };
    Ok(both)
}

/// `operand IN (list)`. `kept`: see [`Node::In`].
fn is_among(
    operand: &Expr,
    list: &[Expr],
    kept: i64,
    collation: CollationId,
    run: &dyn Execution,
    at: Scope<'_>,
) -> Result<Option<bool>> {
    let v = operand.eval(run, at)?;
    if v.is_null() {
        tell_of_listed(operand, list, run, at)?;
        return Ok(None);
    }
    if kept != 0
        && let Some(found) = list::look_up(kept, &v, list, collation, run, at)?
    {
        return Ok(found);
    }
    let mut unknown = false;
    let is_number = |v: &Value<'_>| matches!(v, Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_));
    let mut read: Option<Value<'_>> = None;
    for e in list {
        let w = e.eval(run, at)?;
        if w.is_null() {
            unknown = true;
            continue;
        }
        let beside = match &v {
            // A text is read as a number once for all numbers.
            Value::Bytes(text) if is_number(&w) => read.get_or_insert_with(|| {
                convert::warn_truncated_double(text, run);
                Value::Double(v.to_f64())
            }),
            v => v,
        };
        if compare::values(beside, &w, collation, run)? == Ordering::Equal {
            return Ok(Some(true));
        }
    }
    Ok(if unknown { None } else { Some(false) })
}

/// Texts of a list that is looked through are read as numbers where the operand is one, also where it is NULL.
#[cold]
fn tell_of_listed(operand: &Expr, list: &[Expr], run: &dyn Execution, at: Scope<'_>) -> Result<()> {
    let is_constant = |e: &Expr| matches!(e.node, Node::Const(_) | Node::Param(_) | Node::Call(..));
    if !operand.ty.kind.is_numeric() || list.iter().all(is_constant) {
        return Ok(());
    }
    for e in list {
        if let Value::Bytes(text) = e.eval(run, at)? {
            convert::warn_truncated_double(&text, run);
        }
    }
    Ok(())
}

fn is_like(
    operands: &[Expr; 2],
    escape: Option<char>,
    collation: CollationId,
    run: &dyn Execution,
    at: Scope<'_>,
) -> Result<Option<bool>> {
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
    let found = collation.try_like(&text, &pattern, escape, &mut || run.check_interrupt_now())?;
    Ok(Some(found))
}

/// The branch that CASE chooses.
fn branch<'a>(
    whens: &'a [(Expr, Expr)],
    otherwise: Option<&'a Expr>,
    run: &'a dyn Execution,
    at: Scope<'a>,
) -> Result<Option<&'a Expr>> {
    let found = match whens.len() >= alternatives::CONDITIONS_MIN {
        true => alternatives::first_true(whens, run, at)?.map(|found| found.first),
        false => None,
    };
    let first = match found {
        Some(first) => first,
        None => first_when(whens, run, at)?,
    };
    Ok(first.map(|i| &whens[i].1).or(otherwise))
}

/// The place of the first WHEN of CASE whose condition is true.
fn first_when(whens: &[(Expr, Expr)], run: &dyn Execution, at: Scope<'_>) -> Result<Option<usize>> {
    for (i, (when, _)) in whens.iter().enumerate() {
        if when.eval_bool(run, at)? == Some(true) {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

/// Error 3988 of a text that stands for `?`. A literal that was lifted out of the statement, which is never NULL, does not.
#[cold]
fn impossible_for(e: &Expr, collation: CollationId) -> Option<SqlError> {
    let is_given = matches!(e.node, Node::Param(_)) && e.ty.nullable;
    is_given
        .then(|| err!(ER_IMPOSSIBLE_STRING_CONVERSION, e.ty.collation.info().name, collation.info().name, "parameter"))
}

/// The text of an ENUM's or SET's number, in its character set; what is no such number stays as it is.
pub fn member_text<'v>(v: Value<'v>, ty: DataType, members: &'v [String]) -> Value<'v> {
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
