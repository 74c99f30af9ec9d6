//! Expressions as text, the way EXPLAIN shows them.

use crate::expr::compare::CmpOp;
use crate::expr::number::{ArithOp, BitOp};
use crate::expr::{Expr, Node};
use types::Value;

/// The names of a block's slots: alias and columns.
#[derive(Clone, Debug)]
pub struct SlotNames {
    pub slot: usize,
    pub schema: String,
    pub alias: String,
    pub columns: Vec<String>,
}

/// The blocks around an expression, innermost last.
pub type Scopes = [Vec<SlotNames>];

/// `alias.column`; `None` for a column of an intermediate result.
pub fn column_name(scopes: &Scopes, depth: u8, slot: u16, column: u16) -> Option<(&SlotNames, &str)> {
    let block = scopes.len().checked_sub(1 + depth as usize).and_then(|at| scopes.get(at))?;
    let names = block.iter().find(|n| n.slot == slot as usize)?;
    Some((names, names.columns.get(column as usize)?))
}

pub fn print(e: &Expr, scopes: &Scopes) -> String {
    let p = |e: &Expr| print(e, scopes);
    let list = |l: &[Expr], by: &str| l.iter().map(p).collect::<Vec<_>>().join(by);
    let not = |negated: bool| if negated { "not " } else { "" };
    match &e.node {
        Node::Const(v) => value(v),
        Node::Param(_) => "?".to_string(),
        Node::Column { depth, slot, column } => match column_name(scopes, *depth, *slot, *column) {
            Some((names, column)) => format!("{}.{column}", names.alias),
            None => "<value>".to_string(),
        },
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
        Node::Compare(op, a, b, _) => format!("({} {} {})", p(a), comparison(*op), p(b)),
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
        Node::Cast(e) => format!("cast({} as {})", p(e), format!("{:?}", e.ty.kind).to_lowercase()),
        Node::Call(f, args) => format!("{}({})", f.name, list(args, ",")),
        Node::Aggregate(_) | Node::Window(_) => "<aggregate>".to_string(),
        Node::Subquery(q) => format!("(select #{})", q + 2),
        Node::Exists { negated, query } => format!("{}exists(select #{})", not(*negated), query + 2),
        Node::InSubquery { negated, operands, query, .. } => {
            format!("({} {}in (select #{}))", list(operands, ","), not(*negated), query + 2)
        }
        Node::Quantified { op, all, operand, query, .. } => {
            let any = if *all { "all" } else { "any" };
            format!("({} {} {any} (select #{}))", p(operand), comparison(*op), query + 2)
        }
        Node::UserVariable(name) => format!("(@`{name}`)"),
        Node::SetUserVariable(name, e) => format!("(@`{name}`:={})", p(e)),
        Node::Now(_) => "now()".to_string(),
    }
}

pub fn comparison(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => "=",
        CmpOp::NullSafeEq => "<=>",
        CmpOp::Ne => "<>",
        CmpOp::Lt => "<",
        CmpOp::Le => "<=",
        CmpOp::Gt => ">",
        CmpOp::Ge => ">=",
    }
}

fn value(v: &Value<'_>) -> String {
    match v {
        Value::Null => "NULL".to_string(),
        Value::Bytes(b) => format!("'{}'", String::from_utf8_lossy(b).replace('\'', "''")),
        v => {
            let ty = crate::expr::convert::type_of(v);
            let text = String::from_utf8_lossy(&crate::expr::convert::text(v, &ty)).into_owned();
            if ty.kind.is_temporal() { format!("'{text}'") } else { text }
        }
    }
}
