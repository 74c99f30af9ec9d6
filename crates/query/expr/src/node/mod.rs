//! The tree of a resolved expression: its nodes, and what can be asked of them without a row.

pub mod call;
pub mod written;

use crate::function::Func;
use crate::operator::{ArithOp, BitOp, CmpOp};
use call::{AggregateCall, STORED_CALL, StoredCall, WindowCall};
use std::borrow::Cow;
use std::sync::Arc;
use types::{CollationId, DataType, TypeKind, Value};

/// A node and its static type.
#[derive(Clone, Debug)]
pub struct Expr {
    pub node: Node,
    pub ty: DataType,
}

/// What a node is; operands are expressions again.
#[derive(Clone, Debug)]
pub enum Node {
    Const(Value<'static>),
    Param(usize),
    /// A variable of the stored program that the statement is part of, as messages call it; its value is among the parameters.
    Local(usize, Arc<str>),
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
    Bits(BitOp, Box<Expr>, Box<Expr>),
    BitNot(Box<Expr>),
    Compare(CmpOp, Box<Expr>, Box<Expr>, CollationId),
    Between {
        negated: bool,
        operands: Box<[Expr; 3]>,
        collation: CollationId,
    },
    In {
        negated: bool,
        operand: Box<Expr>,
        list: Vec<Expr>,
        collation: CollationId,
        /// The number of a list that is looked up in a sorted copy: see [`crate::list`]. 0: of no such list.
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
        collation: CollationId,
    },
    /// `CASE [operand] WHEN .. THEN .. ELSE .. END`; with an operand each `when` is a comparison already.
    Case {
        whens: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Cast(Box<Expr>),
    /// The text in the character set of the type, which has to have all of its characters. Errors 3854, 3988.
    InCharset(Box<Expr>),
    Call(Func, Vec<Expr>),
    /// A call of an aggregate function, before grouping is planned; a column of the group's row after.
    Aggregate(Box<AggregateCall>),
    /// A call with OVER, before windows are planned; a column of the window's result after.
    Window(Box<WindowCall>),
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
        collations: Box<[CollationId]>,
    },
    /// `= ANY`, `> ALL`, ...
    Quantified {
        op: CmpOp,
        all: bool,
        operand: Box<Expr>,
        query: usize,
        collation: CollationId,
    },
    UserVariable(String),
    SetUserVariable(String, Box<Expr>),
    /// `DEFAULT` of a column whose default is CURRENT_TIMESTAMP.
    Now(u8),
    /// The stored function that a call is of: its first argument.
    Routine(Arc<StoredCall>),
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

/// A truth value.
#[inline]
pub fn boolean(b: bool) -> Value<'static> {
    Value::Int(b as i64)
}

/// The type of comparisons and logic: `int(1)`.
pub fn boolean_type(nullable: bool) -> DataType {
    DataType { length: 1, nullable, ..DataType::new(TypeKind::BigInt) }
}

impl Expr {
    /// A node of that type.
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

    /// NULL.
    pub fn null() -> Expr {
        Expr::new(Node::Const(Value::Null), DataType::new(TypeKind::Null))
    }

    /// A literal BIGINT.
    pub fn int(v: i64) -> Expr {
        Expr::new(Node::Const(Value::Int(v)), DataType { length: 20, ..DataType::new(TypeKind::BigInt).not_null() })
    }

    /// A column of the query's own frame.
    pub fn column(slot: usize, column: usize, ty: DataType) -> Expr {
        Expr::new(Node::Column { depth: 0, slot: slot as u16, column: column as u16 }, ty)
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

    /// Calls `f` on the direct children.
    pub fn children<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        match &self.node {
            Node::Const(_) | Node::Param(_) | Node::Column { .. } | Node::Subquery { .. } | Node::Exists { .. } => {}
            Node::UserVariable(_) | Node::Now(_) | Node::Outer { .. } | Node::Local(..) | Node::Routine(_) => {}
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
            Node::UserVariable(_) | Node::Now(_) | Node::Outer { .. } | Node::Local(..) | Node::Routine(_) => {}
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

    /// Is there a call of an aggregate function in it that is not planned yet?
    pub fn has_aggregate(&self) -> bool {
        self.any(&mut |e| matches!(e.node, Node::Aggregate(_)))
    }

    /// Is there a call with OVER in it that is not planned yet?
    pub fn has_window(&self) -> bool {
        self.any(&mut |e| matches!(e.node, Node::Window(_)))
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
        match (written::of(self), written::of(other)) {
            (Some((a, _)), Some((b, _))) if a == b => return true,
            (None, None) => {}
            _ => return written::inner(self).same(written::inner(other)),
        }
        if std::mem::discriminant(&self.node) != std::mem::discriminant(&other.node) {
            return false;
        }
        let own = match (&self.node, &other.node) {
            (Node::Const(a), Node::Const(b)) => a == b,
            (Node::Param(a), Node::Param(b)) | (Node::Local(a, _), Node::Local(b, _)) => a == b,
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
            (Node::Call(f, _), Node::Call(g, _)) => f.name == g.name && (!f.volatile || f.name == STORED_CALL),
            (Node::Aggregate(a), Node::Aggregate(b)) => a.same_call(b),
            (Node::Window(a), Node::Window(b)) if a.written == b.written => return true,
            (Node::Window(a), Node::Window(b)) => a.same_form(b),
            (Node::UserVariable(a), Node::UserVariable(b)) => a == b,
            (Node::Now(a), Node::Now(b)) => a == b,
            (Node::Routine(a), Node::Routine(b)) => Arc::ptr_eq(&a.routine, &b.routine),
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

/// A literal, which is not NULL.
pub fn constant(v: Value<'static>, ty: DataType) -> Expr {
    Expr::new(Node::Const(v), ty.not_null())
}

/// A string, or bytes.
pub fn string(bytes: Vec<u8>, collation: CollationId) -> Expr {
    let kind = if collation.is_binary() { TypeKind::VarBinary } else { TypeKind::VarChar };
    let length = collation.charset().char_count(&bytes);
    constant(Value::Bytes(Cow::Owned(bytes)), DataType::string(kind, length as u32, collation))
}
