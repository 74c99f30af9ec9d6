//! Windows: OVER clauses resolved against WINDOW, and the operators that compute them on top of a query block's rows.

use crate::Planner;
use crate::names::{AliasRule, Windows};
use crate::node::{Edge, Plan, SortKey, Step, StepFrame, Window};
use crate::parameter::{self, Takes};
use crate::slots::subquery_of;
use crate::sorted::OrderKey;
use expr::call::AggregateKind;
use expr::call::{Bound, Frame, Unit, WindowCall, WindowFunc};
use expr::error::unsupported;
use expr::number;
use expr::operator::ArithOp;
use expr::{Expr, Node, Shape, common, compare, functions, operand};
use sql::ast::{self, Expr as Ast, FrameBound, FrameUnit, WindowSpec};
use std::collections::HashSet;
use types::codes::*;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

/// A window as OVER and WINDOW together say.
#[derive(Clone)]
struct Resolved {
    name: String,
    partition: ast::ExprList,
    order: Vec<ast::OrderItem>,
    frame: Option<ast::Frame>,
}

/// Partition, order (with descending), and frame.
type Rows = (Vec<Expr>, Vec<(Expr, bool)>, Frame);

/// Windows of one block, those of WINDOW and those in parentheses behind OVER.
const WINDOWS_MAX: usize = 127;
const UNNAMED: &str = "<unnamed window>";

impl Planner<'_> {
    /// Checks the WINDOW clause of the block.
    pub(super) fn check_windows(&mut self) -> Result<()> {
        let windows = self.block().windows.clone();
        self.count_windows(windows.len())?;
        for (i, (name, spec)) in windows.iter().enumerate() {
            let name = self.parsed.name(*name);
            if windows[..i].iter().any(|(n, _)| self.parsed.name(*n).eq_ignore_ascii_case(name)) {
                return Err(err!(ER_WINDOW_DUPLICATE_NAME, name));
            }
            self.resolve(spec, name, 0)?;
        }
        Ok(())
    }

    /// Error 4086 for more windows than a block may have. It also bounds how deep definitions inherit each other.
    fn count_windows(&mut self, more: usize) -> Result<()> {
        let count = &mut self.block().window_count;
        *count += more;
        match *count > WINDOWS_MAX {
            true => Err(err!(ER_TOO_MANY_WINDOWS, *count, WINDOWS_MAX)),
            false => Ok(()),
        }
    }

    fn resolve(&self, spec: &WindowSpec, name: &str, depth: usize) -> Result<Resolved> {
        let own = Resolved {
            name: name.to_string(),
            partition: spec.partition,
            order: spec.order.clone(),
            frame: spec.frame.clone(),
        };
        let Some(base) = spec.base else { return Ok(own) };
        let windows = &self.current_block().windows;
        if depth > windows.len() {
            return Err(err!(ER_WINDOW_CIRCULARITY_IN_WINDOW_GRAPH));
        }
        let wanted = self.parsed.name(base);
        let Some((n, found)) = windows.iter().find(|(n, _)| self.parsed.name(*n).eq_ignore_ascii_case(wanted)) else {
            return Err(err!(ER_WINDOW_NO_SUCH_WINDOW, wanted));
        };
        let base = self.resolve(found, self.parsed.name(*n), depth + 1)?;
        if spec.by_name {
            return Ok(base);
        }
        if !own.partition.is_empty() {
            return Err(err!(ER_WINDOW_NO_CHILD_PARTITIONING));
        }
        if base.frame.is_some() {
            return Err(err!(ER_WINDOW_NO_INHERIT_FRAME, base.name));
        }
        if !base.order.is_empty() && !own.order.is_empty() {
            return Err(err!(ER_WINDOW_NO_REDEFINE_ORDER_BY, name, base.name));
        }
        let order = if own.order.is_empty() { base.order } else { own.order };
        Ok(Resolved { partition: base.partition, order, ..own })
    }

    /// A call with OVER.
    pub(super) fn window_call(&mut self, written: ast::ExprId, call: &ast::WindowCall) -> Result<Expr> {
        match self.block().windows_in {
            Windows::Allowed => {}
            Windows::Refused => return Err(misplaced(sql::print::window_function(self.parsed, call))),
            Windows::InSpecification => {
                return Err(err!(ER_WINDOW_NESTED_WINDOW_FUNC_USE_IN_WINDOW_SPEC, UNNAMED));
            }
        }
        if call.from_last {
            return Err(unsupported("FROM LAST"));
        }
        if call.ignore_nulls {
            return Err(unsupported("IGNORE NULLS"));
        }
        self.count_windows(!call.over.by_name as usize)?;
        let spec = self.resolve(&call.over, UNNAMED, 0)?;
        let rule = std::mem::replace(&mut self.block().alias_rule, AliasRule::Never);
        self.block().windows_in = Windows::Refused;
        let function = self.window_function(call);
        self.block().windows_in = Windows::InSpecification;
        let rows = function.and_then(|(func, args)| Ok((func, args, self.window_rows(&spec)?)));
        self.block().windows_in = Windows::Allowed;
        self.block().alias_rule = rule;
        let (func, args, (partition, order, frame)) = rows?;
        let window = (spec.partition, spec.order.iter().map(|o| o.expr).collect());
        let call = WindowCall { written, window, func, args, partition, order, frame };
        let ty = call.result_type()?;
        Ok(Expr::new(Node::Window(Box::new(call)), ty))
    }

    fn window_rows(&mut self, spec: &Resolved) -> Result<Rows> {
        let ids = self.parsed.list(spec.partition).iter().copied().chain(spec.order.iter().map(|o| o.expr));
        for id in ids {
            if matches!(self.parsed[id], Ast::Int(_)) {
                return Err(err!(ER_WINDOW_ILLEGAL_ORDER_BY, spec.name));
            }
        }
        let partition = self.exprs(spec.partition)?;
        let mut order = Vec::new();
        for o in &spec.order {
            order.push((operand::enum_number(self.expr(o.expr)?), o.descending));
        }
        let ids = self.parsed.list(spec.partition).iter().copied().chain(spec.order.iter().map(|o| o.expr));
        ids.zip(partition.iter().chain(order.iter().map(|(e, _)| e)))
            .try_for_each(|(id, e)| self.refuse_outer(id, e))?;
        let frame = self.window_frame(spec, &order)?;
        Ok((partition, order, frame))
    }

    /// Error 6432 for a column of a query further outside, by itself. One of a merged table of this query may mean such a column.
    fn refuse_outer(&self, written: ast::ExprId, e: &Expr) -> Result<()> {
        let Node::Column { depth, slot, column } = e.node else { return Ok(()) };
        if depth == 0 || self.is_own_name(written)? {
            return Ok(());
        }
        let block = &self.scope.blocks[self.scope.blocks.len() - 1 - depth as usize];
        let name = block.sources.iter().find(|s| s.slot == slot as usize).map_or(String::new(), |s| {
            let schema = if s.schema.is_empty() { String::new() } else { format!("{}.", s.schema) };
            format!("{schema}{}.{}", s.name, s.columns[column as usize].name)
        });
        Err(err!(ER_INVALID_OUTER_REFERENCE, name))
    }

    fn window_frame(&mut self, spec: &Resolved, order: &[(Expr, bool)]) -> Result<Frame> {
        let Some(frame) = &spec.frame else {
            return Ok(Frame { unit: Unit::Range, start: Bound::UnboundedPreceding, end: Bound::CurrentRow });
        };
        let name = &spec.name;
        let unit = match frame.unit {
            FrameUnit::Rows => Unit::Rows,
            FrameUnit::Range => Unit::Range,
            FrameUnit::Groups => return Err(unsupported("GROUPS")),
        };
        use FrameBound as F;
        if frame.start == F::UnboundedFollowing {
            return Err(err!(ER_WINDOW_FRAME_START_ILLEGAL, name));
        }
        if frame.end == F::UnboundedPreceding {
            return Err(err!(ER_WINDOW_FRAME_END_ILLEGAL, name));
        }
        let crossed = matches!(
            (frame.start, frame.end),
            (F::Following(..), F::CurrentRow | F::Preceding(..)) | (F::CurrentRow, F::Preceding(..))
        );
        if crossed {
            return Err(bad_bound(name));
        }
        let start = self.window_bound(frame.start, unit, name, order)?;
        let end = self.window_bound(frame.end, unit, name, order)?;
        Ok(Frame { unit, start, end })
    }

    fn window_bound(&mut self, bound: FrameBound, unit: Unit, name: &str, order: &[(Expr, bool)]) -> Result<Bound> {
        let (id, interval, following) = match bound {
            FrameBound::UnboundedPreceding => return Ok(Bound::UnboundedPreceding),
            FrameBound::UnboundedFollowing => return Ok(Bound::UnboundedFollowing),
            FrameBound::CurrentRow => return Ok(Bound::CurrentRow),
            FrameBound::Preceding(id, interval) => (id, interval, false),
            FrameBound::Following(id, interval) => (id, interval, true),
        };
        let amount = self.expr_for(id, &parameter::integer_type(), Takes::Stored)?;
        let side = |e: Expr| if following { Bound::Following(e) } else { Bound::Preceding(e) };
        if unit == Unit::Rows {
            if interval.is_some() {
                return Err(err!(ER_WINDOW_ROWS_INTERVAL_USE, name));
            }
            return match &amount.node {
                Node::Const(Value::Int(0..)) | Node::Const(Value::UInt(_)) | Node::Param(_) => Ok(side(amount)),
                _ => Err(bad_bound(name)),
            };
        }
        let key = match order {
            [(key, descending)] if key.ty.kind.is_numeric() || key.ty.kind.is_temporal() => (key.clone(), *descending),
            _ => {
                return Err(err!(ER_WINDOW_RANGE_FRAME_ORDER_TYPE, name));
            }
        };
        let (key, descending) = key;
        let subtract = following == descending;
        match (key.ty.kind.is_temporal(), interval) {
            (true, None) => Err(err!(ER_WINDOW_RANGE_FRAME_TEMPORAL_TYPE, name)),
            (false, Some(_)) => Err(err!(ER_WINDOW_RANGE_FRAME_NUMERIC_TYPE, name)),
            (true, Some(unit)) => Ok(side(functions::temporal::add_interval(key, amount, unit, subtract))),
            (false, None) => {
                let negative = match &amount.node {
                    Node::Const(Value::Null) => true,
                    Node::Const(v) => v.to_f64() < 0.0,
                    _ => false,
                };
                if negative {
                    return Err(bad_bound(name));
                }
                let op = if subtract { ArithOp::Sub } else { ArithOp::Add };
                // Keys near the end of their type's range: one digit more.
                let wide = expr::common::to_type(key, number::sum_type(&order[0].0.ty, false));
                let ty = number::arith_type(op, &wide.ty, &amount.ty);
                Ok(side(Expr::new(Node::Arith(op, Box::new(wide), Box::new(amount)), ty)))
            }
        }
    }

    fn window_function(&mut self, call: &ast::WindowCall) -> Result<(WindowFunc, Vec<Expr>)> {
        use ast::WindowFunc as F;
        if let F::Aggregate(id) = call.func {
            return Ok((self.window_aggregate(id)?, Vec::new()));
        }
        let name = sql::print::window_function(self.parsed, call);
        // Its values pass through the rows that the window keeps.
        let mut args: Vec<Expr> = self.window_args(call)?.into_iter().map(common::kept_decimal).collect();
        let func = match call.func {
            F::RowNumber => WindowFunc::RowNumber,
            F::Rank => WindowFunc::Rank,
            F::DenseRank => WindowFunc::DenseRank,
            F::CumeDist => WindowFunc::CumeDist,
            F::PercentRank => WindowFunc::PercentRank,
            F::FirstValue => WindowFunc::FirstValue,
            F::LastValue => WindowFunc::LastValue,
            F::Ntile => WindowFunc::Ntile(Box::new(count(args.remove(0), 1, name)?)),
            F::NthValue => WindowFunc::NthValue(Box::new(count(args.remove(1), 1, name)?)),
            F::Lag | F::Lead => {
                let offset = if args.len() > 1 { args.remove(1) } else { Expr::int(1) };
                let offset = Box::new(count(offset, 0, name)?);
                let all: Vec<&Expr> = args.iter().collect();
                let ty = common::common_type(&all, name)?;
                let kind = if ty.kind == TypeKind::Binary { TypeKind::VarBinary } else { ty.kind };
                let ty = DataType { kind, ..ty };
                let other = |e: &Expr| e.ty.kind != ty.kind || e.ty.decimals != ty.decimals;
                args = args.into_iter().map(|e| if other(&e) { common::to_type(e, ty) } else { e }).collect();
                if call.func == F::Lag { WindowFunc::Lag(offset) } else { WindowFunc::Lead(offset) }
            }
            F::Aggregate(_) => unreachable!("above"),
        };
        Ok((func, args))
    }

    /// An argument that counts rows is an integer where `?` stands for it; a value and its replacement are of one type.
    fn window_args(&mut self, call: &ast::WindowCall) -> Result<Vec<Expr>> {
        use ast::WindowFunc as F;
        let (text, integer) = (self.text_parameter(), parameter::integer_type());
        let ids = self.parsed.list(call.args);
        let at = match call.func {
            F::Ntile => 0,
            F::Lag | F::Lead | F::NthValue => 1,
            _ => ids.len(),
        };
        let values: Vec<_> = ids.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, id)| *id).collect();
        let mut args = self.alike(&values, &text)?;
        if let Some(count) = ids.get(at) {
            args.insert(at, self.expr_for(*count, &integer, Takes::Stored)?);
        }
        Ok(args)
    }

    fn window_aggregate(&mut self, id: ast::ExprId) -> Result<WindowFunc> {
        match &self.parsed[id] {
            Ast::Aggregate { distinct: true, .. } => return Err(unsupported("<window function>(DISTINCT ..)")),
            Ast::GroupConcat(_) => return Err(unsupported("group_concat as window function")),
            _ => {}
        }
        self.request.over = true;
        let e = self.expr(id);
        self.request.over = false;
        match e?.node {
            Node::Aggregate(call) if call.kind != AggregateKind::Any => Ok(WindowFunc::Aggregate(call)),
            _ => Err(unsupported("this function as window function")),
        }
    }

    /// Puts the operators that compute the windows of `outputs` and `order` on top of `input`, whose rows are in the slots
    /// `keep`. Of these an operator keeps the rows of the ones that somebody reads behind it.
    pub(super) fn windows(
        &mut self,
        mut input: Plan,
        outputs: &mut [Expr],
        order: &mut [OrderKey],
        mut keep: Vec<usize>,
    ) -> Plan {
        let mut calls: Vec<Expr> = Vec::new();
        for e in outputs.iter().chain(order.iter().map(|o| &o.expr)) {
            e.any(&mut |e| {
                if matches!(e.node, Node::Window(_)) && !calls.iter().any(|c| c.same(e)) {
                    calls.push(e.clone());
                }
                false
            });
        }
        let call_of = |e: &Expr| match &e.node {
            Node::Window(call) => (**call).clone(),
            _ => unreachable!("only windows are collected"),
        };
        let mut columns: Vec<(Expr, Expr)> = Vec::new();
        while let Some(first) = calls.first() {
            let first = call_of(first);
            let (mine, rest): (Vec<Expr>, Vec<Expr>) = calls.into_iter().partition(|e| call_of(e).same_rows(&first));
            calls = rest;
            let (value_slot, slot) = (self.block().shapes.len(), self.block().shapes.len() + 1);
            let mut values = Vec::new();
            let mut steps = Vec::new();
            for (i, e) in mine.into_iter().enumerate() {
                steps.push(step(call_of(&e), value_slot, &mut values));
                let column = Expr::column(slot, i, compare::column_of(&e));
                columns.push((e, column));
            }
            self.block().shapes.push(Shape::Tuple(values.len()));
            self.block().shapes.push(Shape::Tuple(steps.len()));
            let order = first.order.into_iter().map(|(expr, descending)| SortKey { expr, descending }).collect();
            let partition = first.partition;
            let kept = keep.clone();
            input =
                Plan::Window(Box::new(Window { input, keep: kept, partition, order, values, value_slot, steps, slot }));
            keep.push(slot);
        }
        for e in outputs.iter_mut().chain(order.iter_mut().map(|o| &mut o.expr)) {
            replace(e, &columns);
        }
        let mut read = HashSet::new();
        outputs.iter().chain(order.iter().map(|o| &o.expr)).for_each(|e| self.note_slots(e, &mut read));
        self.keep_what_is_read(&mut input, read);
        input
    }

    /// Slots that nobody reads behind a window are not kept by it: the rows of tables are mostly far longer than what is asked of
    /// them.
    fn keep_what_is_read(&self, plan: &mut Plan, mut read: HashSet<usize>) {
        let Plan::Window(w) = plan else { return };
        w.keep.retain(|slot| read.contains(slot));
        let keys = w.partition.iter().chain(w.order.iter().map(|k| &k.expr));
        keys.chain(&w.values).for_each(|e| self.note_slots(e, &mut read));
        for e in w.steps.iter().flat_map(|(step, frame)| step.counts().into_iter().chain(frame.counts())) {
            self.note_slots(e, &mut read);
        }
        self.keep_what_is_read(&mut w.input, read);
    }

    /// The slots of the block at hand that an expression reads, itself or in its subqueries.
    fn note_slots(&self, e: &Expr, read: &mut HashSet<usize>) {
        let mut note = |e: &Expr| {
            if let Node::Column { depth: 0, slot, .. } = e.node {
                read.insert(slot as usize);
            }
        };
        e.any(&mut |e| {
            note(e);
            let queries = subquery_of(e).into_iter();
            queries.flat_map(|query| &self.queries.planned[query].reads).for_each(&mut note);
            false
        });
    }
}

impl Step {
    /// What counts rows; its arguments are among the window's values.
    fn counts(&self) -> Option<&Expr> {
        match self {
            Step::Ntile(n) | Step::Nth(_, n) | Step::Shift { offset: n, .. } => Some(n),
            _ => None,
        }
    }
}

impl StepFrame {
    fn counts(&self) -> impl Iterator<Item = &Expr> {
        [&self.start, &self.end].into_iter().filter_map(|edge| match edge {
            Edge::Before(e) | Edge::After(e) => Some(e),
            _ => None,
        })
    }
}

fn replace(e: &mut Expr, columns: &[(Expr, Expr)]) {
    if let Some((_, column)) = columns.iter().find(|(call, _)| call.same(e)) {
        *e = column.clone();
        return;
    }
    e.children_mut(&mut |c| replace(c, columns));
}

/// A call over the tuple of `values` that is kept for each row.
fn step(call: WindowCall, value_slot: usize, values: &mut Vec<Expr>) -> (Step, StepFrame) {
    let key = call.order.first().map(|(e, _)| e.clone());
    let mut value = |e: Expr| match values.iter().position(|v| v.same(&e)) {
        Some(i) => i,
        None => {
            values.push(e);
            values.len() - 1
        }
    };
    let ranges = call.frame.unit == Unit::Range;
    let mut edge = |b: Bound| match b {
        Bound::UnboundedPreceding | Bound::UnboundedFollowing => Edge::Unbounded,
        Bound::CurrentRow => Edge::Current,
        Bound::Preceding(e) | Bound::Following(e) if ranges => {
            let key = key.clone().expect("RANGE with an amount has one key");
            Edge::Key { key: value(key), limit: value(e) }
        }
        Bound::Preceding(e) => Edge::Before(e),
        Bound::Following(e) => Edge::After(e),
    };
    let frame = StepFrame { rows: !ranges, start: edge(call.frame.start), end: edge(call.frame.end) };
    let mut args = call.args.into_iter();
    let mut next = || value(args.next().expect("counted by the parser"));
    let step = match call.func {
        WindowFunc::RowNumber => Step::RowNumber,
        WindowFunc::Rank => Step::Rank,
        WindowFunc::DenseRank => Step::DenseRank,
        WindowFunc::PercentRank => Step::PercentRank,
        WindowFunc::CumeDist => Step::CumeDist,
        WindowFunc::Ntile(n) => Step::Ntile(*n),
        WindowFunc::FirstValue => Step::First(next()),
        WindowFunc::LastValue => Step::Last(next()),
        WindowFunc::NthValue(n) => Step::Nth(next(), *n),
        WindowFunc::Lag(_) | WindowFunc::Lead(_) => {
            let forward = matches!(call.func, WindowFunc::Lead(_));
            let (WindowFunc::Lag(offset) | WindowFunc::Lead(offset)) = call.func else {
                unreachable!("one of the two")
            };
            let first = next();
            let default = args.next().map(&mut value);
            Step::Shift { value: first, default, offset: *offset, forward }
        }
        WindowFunc::Aggregate(mut call) => {
            for e in &mut call.args {
                let ty = compare::column_of(e);
                *e = Expr::column(value_slot, value(std::mem::replace(e, Expr::null())), ty);
            }
            Step::Aggregate(call)
        }
    };
    (step, frame)
}

/// An argument that counts rows: a literal or parameter, at least `least`.
fn count(e: Expr, least: u64, name: &str) -> Result<Expr> {
    match &e.node {
        Node::Param(_) | Node::UserVariable(_) => Ok(e),
        Node::Const(Value::Int(n)) if *n >= 0 && *n as u64 >= least => Ok(e),
        Node::Const(Value::UInt(_)) => Ok(e),
        Node::Const(Value::Int(0)) => Err(err!(ER_WRONG_ARGUMENTS, name)),
        _ => Err(SqlError::new(ER_PARSE_ERROR, "You have an error in your SQL syntax")),
    }
}

#[cold]
fn misplaced(name: &str) -> SqlError {
    err!(ER_WINDOW_INVALID_WINDOW_FUNC_USE, name)
}

#[cold]
fn bad_bound(name: &str) -> SqlError {
    err!(ER_WINDOW_FRAME_ILLEGAL, name)
}
