//! The share of rows that a condition keeps: by the histogram of its column, else by how many different values there are, else by
//! a rule of thumb.

use super::Planner;
use catalog::histogram::{CHARACTERS_MAX, Domain};
use catalog::{Column, Histogram};
use expr::operator::CmpOp;
use expr::{Expr, Node, functions};
use types::temporal::parse::{datetime_from_number, parse_datetime, parse_time};
use types::{CollationId, DateTime, Result, SqlMode, Value};

/// What a comparison is with, as far as it is known when the statement is planned.
enum Operand {
    /// Of the histogram's domain.
    Value(Value<'static>),
    /// A number between two integers, for a column of integers.
    Between(i64, i64),
    Null,
    /// A parameter or lifted literal.
    Unknown,
}

impl Planner<'_> {
    /// What the histogram of a column says of a condition on it, if the column has one and the condition compares it with values.
    fn by_histogram(&self, e: &Expr) -> Option<f64> {
        match &e.node {
            Node::Compare(op, a, b, collation) => {
                if let Some((column, h)) = self.histogram(a) {
                    return self.compared(*op, column, h, b, *collation);
                }
                let (column, h) = self.histogram(b)?;
                self.compared(op.mirrored(), column, h, a, *collation)
            }
            Node::Between { negated, operands, collation } => {
                let [v, low, high] = &**operands;
                let (column, h) = self.histogram(v)?;
                let less = self.compared(CmpOp::Lt, column, h, low, *collation)?;
                let outside = less + self.compared(CmpOp::Gt, column, h, high, *collation)?;
                Some(if *negated { outside.min(h.not_null()) } else { (h.not_null() - outside).max(0.0) })
            }
            Node::In { negated, operand, list, collation, .. } => {
                let (column, h) = self.histogram(operand)?;
                let mut inside = 0.0;
                for e in list {
                    if matches!(self.value_at_hand(column, h, e, *collation)?, Operand::Null) {
                        return None;
                    }
                    inside += self.compared(CmpOp::Eq, column, h, e, *collation)?;
                }
                let inside = inside.min(h.not_null());
                Some(if *negated { h.not_null() - inside } else { inside })
            }
            Node::IsNull { negated, operand } => {
                let (_, h) = self.histogram(operand)?;
                Some(if *negated { h.not_null() } else { h.nulls })
            }
            Node::Column { .. } => {
                let (column, h) = self.histogram(e)?;
                let zero = Expr::int(0);
                self.compared(CmpOp::Ne, column, h, &zero, h.collation)
            }
            _ => None,
        }
    }

    fn histogram(&self, e: &Expr) -> Option<(&Column, &Histogram)> {
        let Node::Column { depth: 0, slot, column } = e.raw() else { return None };
        let source = self.current_block().sources.iter().find(|s| s.slot == *slot as usize)?;
        let column = &source.table.as_ref()?.columns[*column as usize];
        Some((column, column.histogram.as_deref()?))
    }

    /// `column op with`
    fn compared(&self, op: CmpOp, column: &Column, h: &Histogram, with: &Expr, collation: CollationId) -> Option<f64> {
        let v = match self.value_at_hand(column, h, with, collation)? {
            Operand::Value(v) => v,
            Operand::Null if op == CmpOp::NullSafeEq => return Some(h.nulls),
            Operand::Null => return Some(0.0),
            Operand::Between(below, above) => {
                return Some(match op {
                    CmpOp::Eq | CmpOp::NullSafeEq => 0.0,
                    CmpOp::Ne => h.not_null(),
                    CmpOp::Lt | CmpOp::Le => h.less_than(&Value::Int(above)),
                    CmpOp::Gt | CmpOp::Ge => h.greater_than(&Value::Int(below)),
                });
            }
            Operand::Unknown => {
                let one = h.not_null() / (h.different().max(1) as f64);
                return match op {
                    CmpOp::Eq | CmpOp::NullSafeEq => Some(one),
                    CmpOp::Ne => Some(h.not_null() - one),
                    _ => None,
                };
            }
        };
        let equal = h.equal_to(&v);
        // Members of an ENUM or SET are told apart, not compared.
        let ordered = !matches!(h.domain, Domain::Enum | Domain::Set);
        match op {
            CmpOp::Eq | CmpOp::NullSafeEq => Some(equal),
            CmpOp::Ne => Some((h.not_null() - equal).max(0.0)),
            _ if !ordered => None,
            CmpOp::Lt => Some(h.less_than(&v)),
            CmpOp::Le => Some((h.not_null() - h.greater_than(&v)).max(0.0)),
            CmpOp::Gt => Some(h.greater_than(&v)),
            CmpOp::Ge => Some((h.not_null() - h.less_than(&v)).max(0.0)),
        }
    }

    /// `None`: not a value, or one that the histogram's order says nothing about.
    fn value_at_hand(&self, column: &Column, h: &Histogram, e: &Expr, collation: CollationId) -> Option<Operand> {
        let v = match &functions::once::inner(e).node {
            Node::Const(v) => v,
            Node::Param(_) => {
                // Where it decides over a join, the statement is better planned with its values.
                self.parameters
                    .values_matter
                    .set(self.parameters.values_matter.get() || self.current_block().sources.len() > 1);
                return Some(Operand::Unknown);
            }
            _ => return None,
        };
        if v.is_null() {
            return Some(Operand::Null);
        }
        let of = |v: Value<'static>| Some(Operand::Value(v));
        match (h.domain, v) {
            (Domain::String, Value::Bytes(b)) if collation == h.collation => {
                let (from, to) = (e.ty.collation.charset(), collation.charset());
                let bytes = if from == to { b.to_vec() } else { to.from_utf8(&from.to_utf8(b)).into_owned() };
                let kept = to.char_offset(&bytes, CHARACTERS_MAX);
                of(Value::Bytes(bytes[..kept].to_vec().into()))
            }
            (Domain::String, _) => None,
            (Domain::Enum, Value::Bytes(b)) => {
                let at = column.members.iter().position(|m| h.collation.equal(m.as_bytes(), b));
                of(Value::Int(at.map_or(0, |at| at as i64 + 1)))
            }
            (Domain::Set, Value::Bytes(b)) => {
                let named = |part: &[u8]| column.members.iter().position(|m| h.collation.equal(m.as_bytes(), part));
                let bits = b.split(|c| *c == b',').filter_map(named).fold(0i64, |bits, at| bits | 1 << at);
                of(Value::Int(bits))
            }
            (Domain::Int | Domain::UInt | Domain::Enum | Domain::Set, Value::Int(_) | Value::UInt(_)) => of(v.clone()),
            (Domain::Int | Domain::UInt, Value::Decimal(_) | Value::Double(_) | Value::Bytes(_)) => {
                let n = v.to_f64();
                match n == n.floor() {
                    true => of(Value::Int(n as i64)),
                    false => Some(Operand::Between(n.floor() as i64, n.ceil() as i64)),
                }
            }
            (Domain::Double, Value::Date(_) | Value::Time(_) | Value::DateTime(_)) => None,
            (Domain::Double, v) => of(Value::Double(v.to_f64())),
            (
                Domain::Decimal,
                Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) | Value::Bytes(_),
            ) => of(Value::Decimal(v.to_decimal())),
            (Domain::Date, v) => of(Value::Date(moment(v)?.date())),
            (Domain::DateTime, v) => of(Value::DateTime(moment(v)?)),
            (Domain::Time, Value::Time(_)) => of(v.clone()),
            (Domain::Time, Value::Bytes(b)) => of(Value::Time(parse_time(b, SqlMode::NONE)?.value)),
            _ => None,
        }
    }

    /// The share of rows that a condition keeps.
    pub(super) fn selectivity(&self, e: &Expr) -> Result<f64> {
        if let Some(share) = self.by_histogram(e) {
            return Ok(share.clamp(0.0, 1.0));
        }
        Ok(match &e.node {
            Node::Compare(CmpOp::Eq | CmpOp::NullSafeEq, a, b, _) => {
                let (x, y) = (self.different(a)?, self.different(b)?);
                match (x, y) {
                    (None, None) => 0.1,
                    (x, y) => 1.0 / x.unwrap_or(1.0).max(y.unwrap_or(1.0)).max(1.0),
                }
            }
            Node::Compare(CmpOp::Ne, ..) => 0.9,
            Node::Compare(..) => 0.3333,
            Node::Between { negated, .. } => {
                if *negated {
                    0.8889
                } else {
                    0.1111
                }
            }
            Node::Like { negated, .. } => {
                if *negated {
                    0.8889
                } else {
                    0.1111
                }
            }
            Node::In { negated, operand, list, .. } => {
                let one = self.different(operand)?.map_or(0.1, |d| 1.0 / d.max(1.0));
                let share = (one * list.len() as f64).min(0.5);
                if *negated { 1.0 - share } else { share }
            }
            Node::IsNull { negated, .. } => {
                if *negated {
                    0.9
                } else {
                    0.1
                }
            }
            Node::And(list) => {
                let mut share = 1.0;
                for e in list {
                    share *= self.selectivity(e)?;
                }
                share
            }
            Node::Or(list) => {
                let mut none = 1.0;
                for e in list {
                    none *= 1.0 - self.selectivity(e)?;
                }
                1.0 - none
            }
            Node::Not(e) => 1.0 - self.selectivity(e)?,
            Node::InSubquery { .. } | Node::Exists { .. } | Node::Quantified { .. } => 0.5,
            _ => 0.3333,
        })
    }

    /// Different values of a column: where an index tells, else as the sampled rows have it.
    pub(super) fn different(&self, e: &Expr) -> Result<Option<f64>> {
        let raw = e.raw();
        let Node::Column { depth: 0, slot, column } = raw else { return Ok(None) };
        let Some(source) = self.current_block().sources.iter().find(|s| s.slot == *slot as usize) else {
            return Ok(None);
        };
        let Some(table) = source.table.as_ref().filter(|t| t.virtual_rows.is_none()) else { return Ok(None) };
        if let Some(histogram) = &table.columns[*column as usize].histogram {
            return Ok(Some(histogram.different() as f64));
        }
        let sample = self.sample(table)?;
        let Some(sample) = &*sample else { return Ok(None) };
        let of = |i: usize| sample.rows as f64 / sample.rows_per_key[i][0];
        let leading = |i: &catalog::Index| i.parts[0].column == *column as usize;
        let sampled = || sample.different.get(*column as usize).copied();
        Ok(table.indexes.iter().position(leading).map(of).or_else(sampled))
    }
}

/// A value that a date is compared with.
fn moment(v: &Value<'_>) -> Option<DateTime> {
    match v {
        Value::Date(d) => Some(d.at_midnight()),
        Value::DateTime(t) => Some(*t),
        Value::Bytes(b) => Some(parse_datetime(b, SqlMode::NONE)?.value),
        Value::Int(n) => Some(datetime_from_number(*n, 0, SqlMode::NONE)?.value),
        _ => None,
    }
}
