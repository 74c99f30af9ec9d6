//! Constants: what MySQL computes once while it plans, and therefore says warnings and errors of also where no row comes.
//!
//! - A constant condition, and a constant that a BIGINT, date or time column would have to hold, and the values of an IN that has
//!   nothing else, are asked when names are resolved: by PREPARE, and not again by EXECUTE.
//! - A literal that a condition compares with a column of numbers is asked when the statement is optimized, at each execution, and
//!   only if no constant beside it has decided the condition.
//!
//! All are computed once ([`once`]), whatever rows come. Other constants (in the select list, as arguments) are computed where a row
//! asks for them, and never where none does.

use crate::Planner;
use expr::adapt::{Reading, TemporalParam};
use expr::function::{Function, Rule, unlisted};
use expr::functions::{self, once};
use expr::{Expr, Node, adapt, boolean_type, compare, convert, string};
use types::datatype::DECIMALS_NOT_FIXED;
use types::{CollationId, Result, SqlError, TypeKind, Value};

/// A constant that is asked before any row is read.
pub struct Constant {
    pub expr: Expr,
    /// When names are resolved: before all others.
    pub early: bool,
}

impl Constant {
    /// Does PREPARE ask it, for all executions?
    pub fn at_prepare(&self) -> bool {
        self.early && !self.expr.any(&mut |e| matches!(e.node, Node::Param(_)))
    }
}

impl Planner<'_> {
    /// Wraps the constants of a condition. `asks`: they are asked where no row comes, too.
    pub(super) fn note_constants(&mut self, e: &mut Expr, asks: bool) {
        self.note_constants_of(e, asks, &mut Vec::new());
    }

    /// `open`: conditions that all have to hold, else the part decides nothing and is not looked at.
    fn note_constants_of(&mut self, e: &mut Expr, asks: bool, open: &mut Vec<Expr>) {
        let conjunction = matches!(e.node, Node::And(_));
        if let Node::And(list) | Node::Or(list) = &mut e.node {
            flatten(list, conjunction);
            // Those that decide it without a row come first.
            list.sort_by_key(|e| !is_known(e));
            let before = open.len();
            let mut decided = false;
            for part in list.iter_mut().filter(|e| is_known(e)) {
                match &part.node {
                    Node::Const(Value::Null) if conjunction => {
                        // As good as false: what stands behind it is not looked at.
                        open.truncate(before);
                        *e = Expr::null();
                        return;
                    }
                    Node::Const(Value::Int(v)) if (*v != 0) != conjunction => {
                        decided = true;
                        break;
                    }
                    _ => {}
                }
                self.note_constants_of(part, asks, open);
                let leaves_open = Node::IsTruth { negated: !conjunction, truth: true, operand: Box::new(part.clone()) };
                open.push(Expr::new(leaves_open, boolean_type(false)));
            }
            if !decided {
                for part in list.iter_mut().filter(|e| !is_known(e)) {
                    self.note_constants_of(part, asks, open);
                }
            }
            open.truncate(before);
        } else if is_known(e) {
            if speaks(e) {
                let condition = std::mem::replace(e, Expr::null());
                *e = once::condition(condition, self.next_once());
                let asked = match open.is_empty() {
                    true => e.clone(),
                    false => Expr::new(Node::And([open, std::slice::from_ref(e)].concat()), boolean_type(true)),
                };
                self.ask_before(asked, true);
            }
        } else {
            self.fold(e, asks, open);
        }
    }

    /// Literals that are compared with columns of numbers, anywhere in a condition.
    fn fold(&mut self, e: &mut Expr, asks: bool, open: &[Expr]) {
        if asks {
            self.ask_for_params(e, open);
        }
        let pair: Option<(&Expr, &mut Expr)> = match &mut e.node {
            Node::Compare(_, a, b, _) => match (is_column_of_numbers(a), is_column_of_numbers(b)) {
                (true, false) => Some((a, b)),
                (false, true) => Some((b, a)),
                _ => None,
            },
            _ => None,
        };
        let Some((column, value)) = pair else {
            self.fold_compared(e);
            return e.children_mut(&mut |e| self.fold(e, asks, open));
        };
        if self.is_no_number(value, column) {
            self.read_once(value, is_exact(column));
            if asks {
                let asked = value.clone();
                let mut all = open.to_vec();
                all.push(asked);
                self.ask_before(Expr::new(Node::And(all), boolean_type(true)), false);
            }
        }
        if is_fixed_float(column) && is_literal(value) {
            *value = adapt::not_near(value).clone();
            adapt::hold_as_float(value, &column.ty);
        }
    }

    /// A literal that is compared with a number is read once, when that is first asked for.
    fn fold_compared(&mut self, e: &mut Expr) {
        let Node::Compare(_, a, b, _) = &mut e.node else { return };
        let is_number = |e: &Expr| e.ty.kind.is_numeric();
        if is_number(b) && self.is_no_number(a, b) {
            self.read_once(a, is_exact(b));
        } else if is_number(a) && self.is_no_number(b, a) {
            self.read_once(b, is_exact(a));
        }
    }

    /// Is it a text that stands in the statement, and no number of the other's kind, as far as is known?
    fn is_no_number(&self, e: &Expr, other: &Expr) -> bool {
        match &e.node {
            Node::Const(Value::Bytes(text)) if is_exact(other) => {
                is_text(e) && !convert::is_hex_literal(e) && !types::number::is_decimal(text)
            }
            _ => self.is_text_literal(e),
        }
    }

    /// It is read once, as a DECIMAL or as a double.
    fn read_once(&mut self, value: &mut Expr, exact: bool) {
        let (literal, number) = (std::mem::replace(value, Expr::null()), self.next_once());
        *value = if exact { once::decimal(literal, number) } else { once::number(literal, number) };
    }

    /// A literal that CASE compares its operand with: MySQL reads it at each row.
    pub(super) fn asked_each_time(&self, e: Expr) -> Expr {
        static EACH_TIME: Function = unlisted("each time", 1, 1, Rule::First, |a| a.value(0));
        let has_no_digits = matches!(&e.node, Node::Const(Value::Bytes(text)) if !types::number::is_decimal(text));
        if !(self.is_text_literal(&e) || is_text(&e) && has_no_digits) {
            return e;
        }
        let ty = e.ty;
        Expr::new(Node::Call(&EACH_TIME, vec![e]), ty)
    }

    /// The same in an expression of the select list, or of an order.
    pub(super) fn fold_shown(&mut self, e: &mut Expr) {
        self.fold_compared(e);
        e.children_mut(&mut |e| self.fold_shown(e));
    }

    /// Parameters that a condition compares with a column.
    fn ask_for_params(&mut self, e: &Expr, open: &[Expr]) {
        let operands: Vec<&Expr> = match &e.node {
            Node::Compare(_, a, b, _) => vec![&**a, &**b],
            Node::Between { operands, .. } => operands.iter().collect(),
            Node::In { operand, list, .. } => std::iter::once(&**operand).chain(list).collect(),
            _ => return,
        };
        if !operands.iter().any(|e| e.own_column().is_some()) {
            return;
        }
        let given = operands.into_iter().filter(|e| is_known(e) && e.any(&mut |e| self.reads_client(e)));
        let asked = given.map(|e| Expr::new(Node::And([open, std::slice::from_ref(e)].concat()), boolean_type(true)));
        let asked: Vec<Expr> = asked.collect();
        self.parameters.asked.extend(asked);
    }

    /// Does `?` stand for it, and not a literal that was lifted, which is never NULL?
    pub(super) fn is_of_client(&self, param: usize) -> bool {
        self.params.get(param).is_none_or(|t| t.nullable)
    }

    fn reads_client(&self, e: &Expr) -> bool {
        matches!(e.node, Node::Param(n) if self.is_of_client(n))
    }

    /// A text that stands in the statement and is no number, as far as is known.
    fn is_text_literal(&self, e: &Expr) -> bool {
        match &e.node {
            Node::Const(Value::Bytes(text)) => {
                is_text(e) && !convert::is_hex_literal(e) && !types::number::is_number(text)
            }
            Node::Param(n) => is_text(e) && !self.is_of_client(*n),
            _ => false,
        }
    }

    /// The values of an IN that are nothing but texts beside a number.
    pub(super) fn once_listed(&mut self, operand: &Expr, list: Vec<Expr>) -> Vec<Expr> {
        let is_null = |e: &Expr| matches!(e.node, Node::Const(Value::Null));
        let is_real = |e: &Expr| matches!(e.ty.kind, TypeKind::Double | TypeKind::Float);
        // All of them are compared as doubles.
        let is_double = |e: &Expr| {
            is_text(e) && !convert::is_hex_literal(e) || is_real(e) || is_real(operand) && compare::is_number(e)
        };
        let are_doubles = list.iter().all(|e| is_null(e) || is_known(e) && is_double(e));
        if !operand.ty.kind.is_numeric() || operand.ty.kind == TypeKind::Year || !are_doubles {
            return list;
        }
        let mut all = Vec::with_capacity(list.len());
        for e in list {
            all.push(if self.is_text_literal(&e) { self.once_early(e) } else { e });
        }
        all
    }

    fn once_early(&mut self, e: Expr) -> Expr {
        let e = once::number(e, self.next_once());
        self.ask_before(e.clone(), true);
        e
    }

    /// A constant of a list whose conversion may speak: it is asked once, before any row is read.
    pub(super) fn kept_value(&mut self, e: Expr) -> Expr {
        if !is_known(&e) || matches!(e.node, Node::Const(_) | Node::Param(_)) {
            return e;
        }
        let e = once::value(e, self.next_once());
        self.ask_before(e.clone(), true);
        e
    }

    pub(super) fn next_once(&mut self) -> i64 {
        self.constants.numbered += 1;
        self.constants.numbered
    }

    /// A condition that MySQL asks when names are resolved if it is one of constants, wherever it stands.
    pub(super) fn asked_early(&mut self, condition: Node) -> Expr {
        let condition = Expr::new(condition, boolean_type(false));
        if !is_known(&condition) || !speaks(&condition) || condition.any(&mut |e| self.reads_client(e)) {
            return condition;
        }
        let condition = once::condition(condition, self.next_once());
        self.ask_before(condition.clone(), true);
        condition
    }

    fn ask_before(&mut self, expr: Expr, early: bool) {
        self.constants.evaluated.push(Constant { expr, early });
    }

    /// A literal that is read as a date here, once. Errors 1292, 1525 when it is none.
    pub(super) fn note_literal(&mut self, e: &Expr, other: &Expr) -> Result<()> {
        self.note_read(e, other, self.reading())
    }

    /// The same of one among others, which may all be `days`: texts and dates, and constant.
    pub(super) fn note_listed(&mut self, e: &Expr, other: &Expr, days: bool) -> Result<()> {
        let reading = match other.ty.kind {
            _ if self.parameters.stores => Reading::ListedStored,
            TypeKind::DateTime | TypeKind::Timestamp => Reading::Bound,
            _ if days => Reading::Day,
            _ => Reading::Listed,
        };
        self.note_read(e, other, reading)
    }

    /// The same of a bound of BETWEEN.
    pub(super) fn note_bound(&mut self, e: &Expr, other: &Expr) -> Result<()> {
        let reading = if self.parameters.stores { self.reading() } else { Reading::Bound };
        self.note_read(e, other, reading)
    }

    fn note_read(&mut self, e: &Expr, other: &Expr, reading: Reading) -> Result<()> {
        match e.node {
            Node::Const(ref v @ Value::Bytes(_)) if other.ty.kind.is_temporal() => {
                let mode = types::SqlMode(self.env.sql_mode());
                let name = self.name_of_column(other);
                let mut told = adapt::check_temporal(v, other.ty.kind, &name, mode, reading)?;
                self.warnings.literal_warnings.append(&mut told);
            }
            // A literal that was lifted: it is never NULL. What stands for `?` may be anything.
            Node::Param(n) if other.ty.kind.is_temporal() && self.params.get(n).is_some_and(|t| !t.nullable) => {
                let name = self.name_of_column(other);
                self.parameters.temporal.push(TemporalParam { param: n, kind: other.ty.kind, column: name, reading });
            }
            // A text that is made of literals is refused as a literal is. What there is to warn of, whoever reads it says.
            _ if matches!(reading, Reading::Strict | Reading::Stored) && other.ty.kind.is_temporal() => {
                if let Some(text) = functions::text_of_literals(e) {
                    let (mode, name) = (types::SqlMode(self.env.sql_mode()), self.name_of_column(other));
                    adapt::check_temporal(&Value::Bytes(text.into()), other.ty.kind, &name, mode, reading)?;
                } else if is_constant_text(e) {
                    let checked = adapt::checked_moment(e.clone(), other.ty.kind, reading == Reading::Stored);
                    self.ask_before(checked, true);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The name of a column of a table of this block; empty for all else.
    fn name_of_column(&self, e: &Expr) -> String {
        let Some((slot, column)) = e.own_column() else { return String::new() };
        let source = self.current_block().sources.iter().find(|s| s.slot == slot as usize);
        source
            .and_then(|s| s.table.as_ref()?.columns.get(column as usize))
            .map_or(String::new(), |c| c.name.to_string())
    }

    pub(super) fn note_literals(&mut self, a: &[Expr], b: &[Expr]) -> Result<()> {
        for (x, y) in a.iter().zip(b) {
            self.note_literal(x, y)?;
            self.note_literal(y, x)?;
        }
        Ok(())
    }

    /// An operand beside `other`: what is constant is read once, and as a column of a date or time would hold it.
    pub(super) fn beside_column(&mut self, e: Expr, other: &Expr) -> Result<Expr> {
        self.note_literal(&e, other)?;
        self.held_beside(e, other)
    }

    /// The same of a bound of BETWEEN.
    pub(super) fn beside_bound(&mut self, e: Expr, other: &Expr) -> Result<Expr> {
        self.note_bound(&e, other)?;
        self.held_beside(e, other)
    }

    fn held_beside(&mut self, e: Expr, other: &Expr) -> Result<Expr> {
        if let Some(kept) = self.beside_other_column(&e, other) {
            return Ok(kept);
        }
        let Some(column) = adapt::temporal_column(&e, other) else { return Ok(e) };
        let name = self.name_of_column(column);
        Ok(match &e.node {
            Node::Const(v) => {
                let mode = types::SqlMode(self.env.sql_mode());
                let (held, told) = adapt::held_by_column(v, &column.ty, &name, mode);
                match told {
                    Some((code, message)) if self.parameters.stores && held.is_none() => {
                        return Err(SqlError::new(code, message));
                    }
                    // That a part is left out is said of under a strict mode only.
                    told => self
                        .warnings
                        .literal_warnings
                        .extend(told.filter(|_| held.is_none() || self.parameters.tells_parts)),
                }
                held.map_or(e.clone(), |v| {
                    Expr::new(Node::Const(v), adapt::beside_column(Expr::null(), &column.ty, false).ty)
                })
            }
            Node::Param(n) => {
                let of_client = self.is_of_client(*n);
                if !of_client {
                    self.parameters.beside_columns.push((*n, column.ty, name));
                }
                adapt::beside_column(e, &column.ty, of_client)
            }
            // Operations of literals: a negative number is one.
            _ if is_known(&e) && is_plain(&e) && !e.any(&mut |e| self.reads_client(e)) => {
                let name = string(name.into_bytes(), CollationId::UTF8MB4_0900_AI_CI);
                let held = once::held(e, &column.ty, name, self.next_once());
                self.ask_before(held.clone(), true);
                held
            }
            _ => e,
        })
    }

    /// A constant beside a BIGINT, or a document beside a TIME, which MySQL brings to the column when it resolves names.
    fn beside_other_column(&mut self, e: &Expr, other: &Expr) -> Option<Expr> {
        let Node::Column { .. } = other.node else { return None };
        match other.ty.kind {
            TypeKind::BigInt => {
                let reads_text = self.is_text_literal(e)
                    || !matches!(e.node, Node::Const(_) | Node::Param(_)) && e.any(&mut |e| self.is_text_literal(e));
                (reads_text && is_known(e) && e.ty.kind != TypeKind::Json).then(|| self.once_early(e.clone()))
            }
            TypeKind::Time if e.ty.kind == TypeKind::Json && is_known(e) => {
                let time = once::time_of_document(e.clone(), self.next_once());
                self.ask_before(time.clone(), true);
                Some(time)
            }
            _ => None,
        }
    }
}

/// Constant, and not by way of the query around it or a variable.
pub(super) fn is_known(e: &Expr) -> bool {
    let reads = |e: &Expr| matches!(e.node, Node::Column { .. } | Node::Window(_) | Node::UserVariable(_));
    e.is_constant() && !e.any(&mut |e| reads(e))
}

/// A text that functions make of literals, parameters and variables.
fn is_constant_text(e: &Expr) -> bool {
    let hangs = |e: &Expr| match &e.node {
        Node::Column { .. } | Node::Outer { .. } | Node::Window(_) | Node::Aggregate(_) => true,
        Node::Subquery { .. } | Node::Exists { .. } | Node::InSubquery { .. } | Node::Quantified { .. } => true,
        Node::SetUserVariable(..) | Node::Local(..) => true,
        Node::Call(f, _) => f.volatile,
        _ => false,
    };
    is_text(e) && !matches!(e.node, Node::Const(_) | Node::Param(_)) && !e.any(&mut |e| hangs(e))
}

/// Conjunctions within a conjunction become its own parts, and disjunctions within a disjunction.
fn flatten(list: &mut Vec<Expr>, conjunction: bool) {
    let is_same = |e: &Expr| matches!((&e.node, conjunction), (Node::And(_), true) | (Node::Or(_), false));
    while let Some(at) = list.iter().position(is_same) {
        let (Node::And(inner) | Node::Or(inner)) = std::mem::replace(&mut list[at], Expr::null()).node else {
            unreachable!("it is of one of the two kinds")
        };
        list.splice(at..=at, inner);
    }
}

/// May the condition warn or fail? A string that counts as a number does, or an operation of numbers.
fn speaks(e: &Expr) -> bool {
    let speaks = |e: &Expr| match &e.node {
        Node::Compare(_, a, b, _) => is_text(a) != is_text(b),
        Node::Between { operands, .. } => operands.iter().any(is_text) && !operands.iter().all(is_text),
        Node::In { operand, list, .. } => list.iter().any(|e| is_text(e) != is_text(operand)),
        Node::Arith(..) | Node::Neg(_) | Node::Cast(_) | Node::Call(..) => true,
        _ => false,
    };
    is_text(e) || e.any(&mut |e| speaks(e))
}

/// A text beside it is read as a DECIMAL.
fn is_exact(e: &Expr) -> bool {
    e.ty.kind == TypeKind::Decimal && !e.is_constant()
}

fn is_column_of_numbers(e: &Expr) -> bool {
    matches!(e.node, Node::Column { .. }) && e.ty.kind.is_numeric() && e.ty.kind != TypeKind::Year
}

/// A FLOAT(M,D): MySQL compares it with a literal as the column would hold that one, in conditions alone.
fn is_fixed_float(e: &Expr) -> bool {
    is_column_of_numbers(e) && e.ty.kind == TypeKind::Float && e.ty.decimals < DECIMALS_NOT_FIXED
}

/// A number or text that stands in the statement, with a sign or without, or what is given for `?`.
fn is_literal(e: &Expr) -> bool {
    let e = adapt::not_near(once::inner(e));
    let e = if let Node::Neg(literal) = &e.node { literal } else { e };
    matches!(e.node, Node::Const(_) | Node::Param(_)) && !convert::is_hex_literal(e)
}

/// Made of numbers and texts by operators alone.
fn is_plain(e: &Expr) -> bool {
    !e.any(&mut |e| !matches!(e.node, Node::Const(_) | Node::Param(_) | Node::Arith(..) | Node::Neg(_) | Node::Cast(_)))
}

pub(super) fn is_text(e: &Expr) -> bool {
    e.ty.kind.is_text() || e.ty.kind.is_bytes()
}
