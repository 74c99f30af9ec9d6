//! What a path finds in a fragment: manual 14.11, "XML Functions".

use super::parse::{Document, Kind};
use super::path::{Axis, Function, Item, Set};
use crate::Execution;
use crate::charset;
use crate::convert;
use crate::error::out_of_range;
use crate::functions::{bytes, math, string};
use crate::number;
use crate::operator::{ArithOp, CmpOp};
use std::cmp::Ordering;
use types::codes::*;
use types::{CollationId, DECIMALS_NOT_FIXED, DataType, Result, SqlError, TypeKind, Value, err};

/// Nodes that one step may find, repeated ones counted each time.
const FOUND_MAX: usize = 1 << 22;

/// A node that was found.
#[derive(Clone, Copy)]
pub struct Found {
    pub node: usize,
    /// From 0 among those that the step found together with it.
    position: usize,
    /// In a predicate: how many nodes the predicate is asked of; otherwise 0.
    size: usize,
}

/// A value and its type, which says how many digits a number shows.
type Scalar = (Value<'static>, DataType);

fn integer(n: i64) -> Scalar {
    (Value::Int(n), DataType::new(TypeKind::BigInt))
}

fn double(n: f64, decimals: u8) -> Scalar {
    (Value::Double(n), DataType { decimals, ..DataType::new(TypeKind::Double) })
}

fn text(text: Vec<u8>) -> Scalar {
    (bytes(text), DataType::new(TypeKind::VarChar))
}

fn null() -> Scalar {
    (Value::Null, DataType::new(TypeKind::Null))
}

fn truth(b: Option<bool>) -> Scalar {
    b.map_or_else(null, |b| integer(b as i64))
}

/// A path on its way through a document.
pub struct Evaluation<'e> {
    pub source: &'e [u8],
    pub document: &'e Document,
    pub run: &'e dyn Execution,
    /// Of the texts; strings compare under it.
    pub ty: &'e DataType,
}

impl Evaluation<'_> {
    fn collation(&self) -> CollationId {
        self.ty.collation
    }

    /// The value as the function gives it; `None` for NULL.
    pub fn shown(&self, item: &Item) -> Result<Option<Vec<u8>>> {
        let (value, ty) = self.scalar(item, None)?;
        Ok((!value.is_null()).then(|| convert::into_text(value, &ty).into_owned()))
    }

    /// A set's texts, in the order of the source, with spaces between them.
    fn text_of(&self, set: &[Found]) -> Vec<u8> {
        let nodes = &self.document.nodes;
        let mut chosen = vec![false; nodes.len()];
        for f in set {
            chosen[f.node] = true;
        }
        let mut out = Vec::new();
        for node in nodes.iter().filter(|n| n.kind == Kind::Text && chosen[n.parent]) {
            if !out.is_empty() {
                out.push(b' ');
            }
            out.extend_from_slice(&self.source[node.span.clone()]);
        }
        out
    }

    fn scalar(&self, item: &Item, context: Option<Found>) -> Result<Scalar> {
        if let Some((used, size)) = sync::stack::overrun() {
            return Err(err!(ER_STACK_OVERRUN_NEED_MORE, used, size, size / 2));
        }
        Ok(match item {
            Item::Set(set) => text(self.text_of(&self.find(set, context)?)),
            Item::Constant(value, ty) => (value.clone(), *ty),
            Item::Variable(name) => {
                let (value, ty) = self.run.session().user_variable(name);
                match value {
                    Value::Bytes(b) => text(charset::transcode(b, &ty, self.ty).into_owned()),
                    value => (value, ty),
                }
            }
            Item::Compare(op, a, b) => truth(self.compare(*op, a, b, context)?),
            Item::Arith(op, a, b) => {
                let (a, b) = (self.scalar(a, context)?, self.scalar(b, context)?);
                self.arith(*op, a, b)?
            }
            Item::Negate(a) => {
                let (value, ty) = self.scalar(a, context)?;
                let negated = number::negate(&value, self.run)?;
                let kind = number::negate_type(&ty);
                let decimals = if kind.kind == TypeKind::Double { ty.decimals } else { kind.decimals };
                (negated, DataType { decimals, ..kind })
            }
            Item::And(a, b) => truth(match self.truth_of(a, context)? {
                Some(false) => Some(false),
                a => match self.truth_of(b, context)? {
                    Some(true) => a,
                    Some(false) => Some(false),
                    None => None,
                },
            }),
            Item::Or(a, b) => truth(match self.truth_of(a, context)? {
                Some(true) => Some(true),
                a => match self.truth_of(b, context)? {
                    Some(false) => a,
                    Some(true) => Some(true),
                    None => None,
                },
            }),
            Item::Call(function, args) => self.call(*function, args, context)?,
        })
    }

    fn arith(&self, op: ArithOp, a: Scalar, b: Scalar) -> Result<Scalar> {
        let mut ty = number::arith_type(op, &a.1, &b.1);
        if ty.kind == TypeKind::Double {
            // A text has as many digits as it has.
            let digits = |s: &Scalar| if s.1.kind.is_text() { DECIMALS_NOT_FIXED } else { s.1.decimals };
            ty.decimals = digits(&a).max(digits(&b));
        }
        let overflow = |e: SqlError| match e.code {
            ER_DATA_OUT_OF_RANGE => {
                let sign = match op {
                    ArithOp::Add => "+",
                    ArithOp::Sub => "-",
                    ArithOp::Mul => "*",
                    ArithOp::Div => "/",
                    ArithOp::IntDiv => "DIV",
                    ArithOp::Mod => "%",
                };
                let shown = |s: &Scalar| String::from_utf8_lossy(&convert::text(&s.0, &s.1)).into_owned();
                let kind = if ty.kind == TypeKind::Double { "DOUBLE" } else { "BIGINT" };
                out_of_range(kind, &format!("({} {sign} {})", shown(&a), shown(&b)))
            }
            _ => e,
        };
        Ok((number::arith(op, &a.0, &b.0, &ty, self.run).map_err(overflow)?, ty))
    }

    /// As a number; 1292 for a text that is none.
    fn number(&self, value: &Value<'_>) -> Option<f64> {
        if let Value::Bytes(b) = value {
            convert::warn_truncated_double(b, self.run);
        }
        (!value.is_null()).then(|| value.to_f64())
    }

    /// A set is true when it has one node: not more of them.
    fn truth_of(&self, item: &Item, context: Option<Found>) -> Result<Option<bool>> {
        if let Item::Set(set) = item {
            return Ok(Some(self.find(set, context)?.len() == 1));
        }
        let (value, _) = self.scalar(item, context)?;
        Ok(self.number(&value).map(|n| n != 0.0))
    }

    fn holds(&self, op: CmpOp, a: &Value<'_>, b: &Value<'_>) -> Option<bool> {
        let order = match (a, b) {
            (Value::Null, _) | (_, Value::Null) => return None,
            (Value::Bytes(a), Value::Bytes(b)) => self.collation().compare(a, b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                a.partial_cmp(&b).unwrap_or(Ordering::Equal)
            }
        };
        Some(op.holds(order))
    }

    /// A set compares as any of the texts directly in its nodes does.
    fn compare(&self, op: CmpOp, a: &Item, b: &Item, context: Option<Found>) -> Result<Option<bool>> {
        let (set, other, first) = match (a, b) {
            (Item::Set(set), other) => (set, other, true),
            (other, Item::Set(set)) => (set, other, false),
            _ => {
                let (a, b) = (self.scalar(a, context)?, self.scalar(b, context)?);
                return Ok(self.holds(op, &a.0, &b.0));
            }
        };
        let found = self.find(set, context)?;
        let (other, _) = self.scalar(other, context)?;
        for f in found {
            for (_, node) in self.document.children(f.node, Kind::Text) {
                let text = bytes(&self.source[node.span.clone()]);
                let holds = if first { self.holds(op, &text, &other) } else { self.holds(op, &other, &text) };
                if holds == Some(true) {
                    return Ok(holds);
                }
            }
        }
        Ok(Some(false))
    }

    fn call(&self, function: Function, args: &[Item], context: Option<Found>) -> Result<Scalar> {
        let value = |i: usize| self.scalar(&args[i], context);
        let text_at = |i: usize| -> Result<Option<Vec<u8>>> {
            let (value, ty) = value(i)?;
            Ok((!value.is_null()).then(|| convert::into_text(value, &ty).into_owned()))
        };
        // Integers stay what they are, other numbers lose their digits.
        let whole = |round: fn(f64) -> f64| -> Result<Scalar> {
            Ok(match value(0)? {
                (Value::Int(n), _) => integer(n),
                (v, _) => self.number(&v).map_or_else(null, |n| double(round(n), 0)),
            })
        };
        let set = |i: usize| match &args[i] {
            Item::Set(set) => self.find(set, context),
            _ => Ok(Vec::new()),
        };
        let charset = self.collation().charset();
        Ok(match function {
            Function::True => integer(1),
            Function::False => integer(0),
            Function::Not => truth(self.truth_of(&args[0], context)?.map(|b| !b)),
            Function::Boolean => integer((self.truth_of(&args[0], context)? == Some(true)) as i64),
            Function::Ceiling => whole(f64::ceil)?,
            Function::Floor => whole(f64::floor)?,
            Function::Round => whole(|n| math::round_double(n, 0, false))?,
            Function::Number => self.number(&value(0)?.0).map_or_else(null, |n| double(n, DECIMALS_NOT_FIXED)),
            // What comes behind the second argument is read and left out.
            Function::Concat => match (text_at(0)?, text_at(1)?) {
                (Some(mut a), Some(b)) => {
                    a.extend_from_slice(&b);
                    text(a)
                }
                _ => null(),
            },
            Function::Contains => match (text_at(0)?, text_at(1)?) {
                (Some(hay), Some(needle)) => {
                    let mut go_on = || self.run.check_interrupt_now();
                    integer((string::position(self.collation(), &needle, &hay, 1, &mut go_on)? > 0) as i64)
                }
                _ => integer(0),
            },
            Function::Substring => {
                let Some(mut whole) = text_at(0)? else { return Ok(null()) };
                let (from, len) = (value(1)?.0, if args.len() > 2 { value(2)?.0 } else { Value::Int(i64::MAX) });
                if from.is_null() || len.is_null() {
                    return Ok(null());
                }
                let part = string::part(charset, &whole, from.to_i64(), len.to_i64());
                whole.truncate(part.end);
                whole.drain(..part.start);
                text(whole)
            }
            Function::StringLength => {
                let whole = match args {
                    [] => Some(self.text_of(&self.find(&Set::Context, context)?)),
                    _ => text_at(0)?,
                };
                whole.map_or_else(null, |t| integer(charset.char_count(&t) as i64))
            }
            Function::Last => integer(counted(&self.find(&Set::Context, context)?)),
            Function::Count => integer(counted(&set(0)?)),
            Function::Position => integer(context.map_or(0, |f| f.position as i64 + 1)),
            Function::Sum => {
                let mut sum = 0.0;
                for f in set(0)? {
                    for (_, node) in self.document.children(f.node, Kind::Text) {
                        sum += types::number::parse_f64(&self.source[node.span.clone()]).0;
                    }
                }
                double(sum, DECIMALS_NOT_FIXED)
            }
        })
    }

    /// The nodes of a set, from `context` on or from the root, in the document's order.
    pub fn find(&self, set: &Set, context: Option<Found>) -> Result<Vec<Found>> {
        if let Some((used, size)) = sync::stack::overrun() {
            return Err(err!(ER_STACK_OVERRUN_NEED_MORE, used, size, size / 2));
        }
        Ok(match set {
            Set::Root => vec![Found { node: 0, position: 0, size: 0 }],
            Set::Context => context.into_iter().collect(),
            Set::Step(of, axis, name) => self.step(&self.find(of, context)?, *axis, name)?,
            Set::Union(a, b) => {
                let mut nodes: Vec<usize> = self.find(a, context)?.iter().map(|f| f.node).collect();
                nodes.extend(self.find(b, context)?.iter().map(|f| f.node));
                nodes.sort_unstable();
                nodes.dedup();
                numbered(nodes)
            }
            Set::Filter(of, condition) => {
                self.choose(&self.find(of, context)?, |f| Ok(self.truth_of(condition, Some(f))? == Some(true)))?
            }
            Set::Nth(of, nth) => self.choose(&self.find(of, context)?, |f| {
                let (n, _) = self.scalar(nth, Some(f))?;
                Ok(!n.is_null() && n.to_i64() > 0 && n.to_i64() - 1 == f.position as i64)
            })?,
        })
    }

    fn choose(&self, of: &[Found], chosen: impl Fn(Found) -> Result<bool>) -> Result<Vec<Found>> {
        let mut out = Vec::new();
        for f in of {
            self.run.check_interrupt()?;
            if chosen(Found { size: of.len(), ..*f })? {
                out.push(f.node);
            }
        }
        Ok(numbered(out))
    }

    fn step(&self, from: &[Found], axis: Axis, name: &[u8]) -> Result<Vec<Found>> {
        let nodes = &self.document.nodes;
        let named = |i: usize| name.first() == Some(&b'*') || &self.source[nodes[i].span.clone()] == name;
        let mut out = Vec::new();
        if axis == Axis::Parent {
            let mut parents: Vec<usize> = from.iter().filter(|f| f.node > 0).map(|f| nodes[f.node].parent).collect();
            parents.retain(|n| named(*n));
            parents.sort_unstable();
            parents.dedup();
            return Ok(numbered(parents));
        }
        if matches!(axis, Axis::Ancestor | Axis::AncestorOrSelf) {
            let or_self = axis == Axis::AncestorOrSelf;
            return Ok(self.ancestors(from, or_self, named));
        }
        for f in from {
            self.run.check_interrupt()?;
            let found = out.len();
            let add = |(node, _)| {
                let position = out.len() - found;
                out.push(Found { node, position, size: 0 });
            };
            let or_self = matches!(axis, Axis::SelfNode | Axis::DescendantOrSelf) && named(f.node);
            let selves = or_self.then_some((f.node, &nodes[f.node])).into_iter();
            match axis {
                Axis::SelfNode => selves.for_each(add),
                Axis::Attribute => {
                    self.document.children(f.node, Kind::Attribute).filter(|(i, _)| named(*i)).for_each(add)
                }
                Axis::Descendant | Axis::DescendantOrSelf => {
                    let inside = self.document.inside(f.node).filter(|(i, n)| n.kind == Kind::Tag && named(*i));
                    selves.chain(inside).for_each(add)
                }
                _ => self.document.children(f.node, Kind::Tag).filter(|(i, _)| named(*i)).for_each(add),
            }
            if out.len() > FOUND_MAX {
                return Err(SqlError::new(ER_UNKNOWN_ERROR, "XPATH error: too many nodes are found"));
            }
        }
        Ok(out)
    }

    /// Their positions count down in the order of the source, from as many as were met, whether or not twice. The fragment itself
    /// is nobody's ancestor.
    fn ancestors(&self, from: &[Found], or_self: bool, named: impl Fn(usize) -> bool) -> Vec<Found> {
        let nodes = &self.document.nodes;
        let mut met: Vec<usize> = Vec::new();
        for f in from {
            met.extend((or_self && named(f.node)).then_some(f.node));
            let mut at = nodes[f.node].parent;
            while at != 0 {
                met.extend(named(at).then_some(at));
                at = nodes[at].parent;
            }
        }
        let all = met.len();
        met.sort_unstable();
        met.dedup();
        met.into_iter().enumerate().map(|(i, node)| Found { node, position: all - 1 - i, size: 0 }).collect()
    }
}

fn numbered(nodes: Vec<usize>) -> Vec<Found> {
    nodes.into_iter().enumerate().map(|(position, node)| Found { node, position, size: 0 }).collect()
}

/// The node that a predicate is asked of counts for all of them.
fn counted(set: &[Found]) -> i64 {
    match set {
        [one] if one.size > 0 => one.size as i64,
        _ => set.len() as i64,
    }
}
