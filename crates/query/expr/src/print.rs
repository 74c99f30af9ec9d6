//! Expressions as text, for EXPLAIN and for errors.

use crate::Scope;
use crate::array::{self, Search};
use crate::functions::stored::called;
use crate::operator::{ArithOp, BitOp};
use crate::row::SlotNames;
use crate::{Expr, Node, written};
use types::json::Json;
use types::{DataType, TypeKind, Value};

/// What a reader is told of columns.
pub trait Names {
    fn column(&self, depth: u8, slot: u16, column: u16) -> String;
}

/// The blocks around an expression, innermost last.
pub type Scopes = Vec<Vec<SlotNames>>;

/// The slot's names and the column's; `None` for a column of an intermediate result.
pub fn column_name(scopes: &Scopes, depth: u8, slot: u16, column: u16) -> Option<(&SlotNames, &str)> {
    let block = scopes.len().checked_sub(1 + depth as usize).and_then(|at| scopes.get(at))?;
    let names = block.iter().find(|n| n.slot == slot as usize)?;
    Some((names, names.column(column)?))
}

/// For EXPLAIN.
impl Names for Scopes {
    fn column(&self, depth: u8, slot: u16, column: u16) -> String {
        match column_name(self, depth, slot, column) {
            Some((names, expression)) if names.is_expression(column) => expression.to_string(),
            Some((names, column)) => format!("{}.{column}", names.alias),
            None => "<value>".to_string(),
        }
    }
}

/// For errors at a row: whole names, and where there are none, the value.
pub struct AtRow<'a>(pub Scope<'a>);

impl Names for AtRow<'_> {
    fn column(&self, depth: u8, slot: u16, column: u16) -> String {
        let mut scope = &self.0;
        for _ in 0..depth {
            let Some(outer) = scope.outer() else { return "<value>".to_string() };
            scope = outer;
        }
        let names = scope.names().iter().find(|n| n.slot == slot as usize);
        match names.and_then(|n| Some((n, n.column(column)?))) {
            Some((names, column)) if names.schema.is_empty() => format!("`{}`.`{column}`", names.alias),
            Some((names, column)) => format!("`{}`.`{}`.`{column}`", names.schema, names.alias),
            None => {
                scope.column_inside(slot as usize, column as usize).map_or_else(|| "<value>".to_string(), |v| value(&v))
            }
        }
    }
}

/// The expression as MySQL's EXPLAIN and errors write it.
pub fn print(e: &Expr, names: &dyn Names) -> String {
    let p = |e: &Expr| print(e, names);
    let list = |l: &[Expr], by: &str| l.iter().map(p).collect::<Vec<_>>().join(by);
    let not = |negated: bool| if negated { "not " } else { "" };
    match &e.node {
        Node::Const(v) => value(v),
        Node::Param(_) => "?".to_string(),
        Node::Local(_, name) => name.to_string(),
        Node::Column { depth, slot, column } => names.column(*depth, *slot, *column),
        Node::EnumText(e, _) | Node::SetText(e, _) | Node::LocalTime(e) => p(e),
        Node::Arith(op, a, b) => {
            let op = match op {
                ArithOp::Add => "+",
                ArithOp::Sub => "-",
                ArithOp::Mul => "*",
                ArithOp::Div => "/",
                ArithOp::IntDiv => "DIV",
                ArithOp::Mod => "%",
            };
            format!("({} {op} {})", p(a), p(b))
        }
        Node::Bits(op, a, b) => {
            let op = match op {
                BitOp::Or => "|",
                BitOp::And => "&",
                BitOp::Xor => "^",
                BitOp::ShiftLeft => "<<",
                BitOp::ShiftRight => ">>",
            };
            format!("({} {op} {})", p(a), p(b))
        }
        Node::Neg(e) => format!("-({})", p(e)),
        Node::BitNot(e) => format!("~({})", p(e)),
        Node::Compare(op, a, b, _) => format!("({} {} {})", p(a), op.symbol(), p(b)),
        Node::Between { negated, operands, .. } => {
            let [e, low, high] = &**operands;
            format!("({} {}between {} and {})", p(e), not(*negated), p(low), p(high))
        }
        Node::In { negated, operand, list: l, .. } => {
            format!("({} {}in ({}))", p(operand), not(*negated), list(l, ","))
        }
        Node::IsNull { negated, operand } => format!("({} is {}null)", p(operand), not(*negated)),
        Node::IsTruth { negated, truth, operand } => format!("({} is {}{truth})", p(operand), not(*negated)),
        Node::And(l) => format!("({})", list(l, " and ")),
        Node::Or(l) => format!("({})", list(l, " or ")),
        Node::Xor(a, b) => format!("({} xor {})", p(a), p(b)),
        Node::Not(e) => format!("(not({}))", p(e)),
        Node::Like { negated, operands, .. } => {
            format!("({} {}like {})", p(&operands[0]), not(*negated), p(&operands[1]))
        }
        Node::Case { whens, otherwise } => {
            let mut out = "(case".to_string();
            for (w, t) in whens {
                out.push_str(&format!(" when {} then {}", p(w), p(t)));
            }
            if let Some(e) = otherwise {
                out.push_str(&format!(" else {}", p(e)));
            }
            out + " end)"
        }
        Node::InCharset(e) => p(e),
        Node::Cast(operand) => format!("cast({} as {})", p(operand), cast_type(&e.ty)),
        Node::Call(f, args) => match array::as_search(e) {
            Some(call) => search(&call, names),
            None if let Some((call, args)) = called(e) => {
                let routine = &call.routine;
                format!("`{}`.`{}`({})", routine.schema, routine.name, list(args, ","))
            }
            None if !std::ptr::eq(written::inner(e), e) => p(written::inner(e)),
            None => format!("{}({})", f.name, list(args, ",")),
        },
        Node::Aggregate(_) | Node::Window(_) => "<aggregate>".to_string(),
        Node::Outer { expr, .. } => print(expr, names),
        Node::Subquery { query, .. } => format!("(select #{})", query + 2),
        Node::Exists { negated, query } => format!("{}exists(select #{})", not(*negated), query + 2),
        Node::InSubquery { negated, operands, query, .. } => {
            format!("({} {}in (select #{}))", list(operands, ","), not(*negated), query + 2)
        }
        Node::Quantified { op, all, operand, query, .. } => {
            let any = if *all { "all" } else { "any" };
            format!("({} {} {any} (select #{}))", p(operand), op.symbol(), query + 2)
        }
        Node::UserVariable(name) => format!("(@`{name}`)"),
        Node::SetUserVariable(name, e) => format!("(@`{name}`:={})", p(e)),
        Node::Now(_) => "now()".to_string(),
        Node::Routine(call) => call.routine.name.clone(),
    }
}

fn cast_type(t: &DataType) -> String {
    use TypeKind::*;
    match t.kind {
        TinyInt | SmallInt | MediumInt | Int | BigInt => if t.unsigned { "unsigned" } else { "signed" }.to_string(),
        Decimal => format!("decimal({},{})", t.length, t.decimals),
        Time | DateTime if t.decimals > 0 => format!("{}({})", format!("{:?}", t.kind).to_lowercase(), t.decimals),
        kind => format!("{kind:?}").to_lowercase(),
    }
}

/// A search in the array of a multi-valued index.
fn search(call: &array::Call<'_>, names: &dyn Names) -> String {
    let values = match &call.values.node {
        Node::Const(v) => array::wanted(v, call.values, call.kind, call.element).map(|j| json_text(&j)),
        _ => None,
    };
    let values = values.unwrap_or_else(|| print(call.values, names));
    let array = match call.column.node {
        Node::Column { depth, slot, column } => names.column(depth, slot, column),
        _ => unreachable!("the hidden column of an index part"),
    };
    match call.kind {
        Search::Member => format!("{values} member of ({array})"),
        Search::Contains => format!("json_contains({array},{values})"),
        Search::Overlaps => format!("json_overlaps({array},{values})"),
    }
}

/// A document that is known, as MySQL shows it.
pub fn json_text(j: &Json) -> String {
    format!("json'{}'", String::from_utf8_lossy(&j.to_text()))
}

fn value(v: &Value<'_>) -> String {
    match v {
        Value::Null => "NULL".to_string(),
        Value::Bytes(b) => format!("'{}'", String::from_utf8_lossy(b).replace('\'', "''")),
        // The sign is an operation.
        Value::Int(n @ ..0) => format!("-({})", n.unsigned_abs()),
        v => {
            let ty = crate::convert::type_of(v);
            let text = String::from_utf8_lossy(&crate::convert::text(v, &ty)).into_owned();
            if ty.kind.is_temporal() { format!("'{text}'") } else { text }
        }
    }
}
