//! What a SELECT calls once a row although several of its clauses read it: volatile entries of its select list, and keys of its groups.

use crate::Planner;
use crate::node::Plan;
use crate::sorted::OrderKey;
use expr::call::AggregateCall;
use expr::written;
use expr::{Expr, Node, Shape, common};

/// Has the expression a part that is the other one?
fn reads(e: &Expr, other: &Expr) -> bool {
    e.any(&mut |part| part.same(other))
}

/// Is it computed of rows as they are, before any window?
fn is_of_row(e: &Expr) -> bool {
    written::is_volatile(e) && !e.has_aggregate() && !e.has_window()
}

/// Is it the same call? Two that are written apart are two.
fn is_one(value: &Expr, e: &Expr) -> bool {
    match (written::of(value), written::of(e)) {
        (Some((a, _)), Some((b, _))) => a == b,
        _ => value.same(e),
    }
}

/// Parts that are one of the values become the columns that these are read by; arguments of aggregates are of other rows.
fn replace(e: &mut Expr, values: &[(Expr, Expr)]) {
    if let Some((_, column)) = values.iter().find(|(value, _)| is_one(value, e)) {
        *e = column.clone();
        return;
    }
    if !matches!(e.node, Node::Aggregate(_)) {
        e.children_mut(&mut |part| replace(part, values));
    }
}

/// Is the call of an aggregate asked for its arguments more than once a row?
fn reads_again(call: &AggregateCall) -> bool {
    call.distinct || !call.order.is_empty()
}

/// Calls `f` on volatile arguments of such aggregates.
fn each_argument(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    match &e.node {
        Node::Aggregate(call) if reads_again(call) => call.each(&mut |argument| {
            if is_of_row(argument) {
                f(argument);
            }
        }),
        _ => e.children(&mut |part| each_argument(part, f)),
    }
}

fn replace_arguments(e: &mut Expr, values: &[(Expr, Expr)]) {
    match &mut e.node {
        Node::Aggregate(call) if reads_again(call) => call.each_mut(&mut |argument| replace(argument, values)),
        _ => e.children_mut(&mut |part| replace_arguments(part, values)),
    }
}

impl Planner<'_> {
    /// The plan's rows with these values; each of them, and what it is read by.
    fn computed(&mut self, plan: Plan, values: Vec<Expr>) -> (Plan, Vec<(Expr, Expr)>) {
        let slot = self.block().shapes.len();
        self.block().shapes.push(Shape::Tuple(values.len()));
        let mut kept = Vec::with_capacity(values.len());
        let mut read = Vec::with_capacity(values.len());
        for (i, e) in values.into_iter().enumerate() {
            let (value, column) = common::kept_decimal(e.clone()).kept_at(slot, i);
            kept.push(value);
            read.push((e, column));
        }
        (Plan::Computed { input: Box::new(plan), slot, values: kept }, read)
    }

    /// What groups read of a row more than once: volatile keys, and arguments of aggregates that are kept apart or sorted. `readers`: where
    /// such keys and aggregates stand.
    pub(super) fn compute_for_groups<'e>(
        &mut self,
        plan: Plan,
        keys: &mut [Expr],
        readers: impl Iterator<Item = &'e mut Expr>,
    ) -> Plan {
        let mut readers: Vec<&mut Expr> = readers.collect();
        let plan = self.compute_arguments(plan, &mut readers);
        let values: Vec<Expr> = keys.iter().filter(|k| is_of_row(k)).cloned().collect();
        if values.is_empty() {
            return plan;
        }
        let (plan, read) = self.computed(plan, values);
        let mut columns = read.iter().map(|(_, column)| column.clone());
        for key in keys.iter_mut().filter(|k| is_of_row(k)) {
            *key = columns.next().expect("one for each");
        }
        readers.into_iter().for_each(|e| replace(e, &read));
        plan
    }

    fn compute_arguments(&mut self, plan: Plan, readers: &mut [&mut Expr]) -> Plan {
        let mut values: Vec<Expr> = Vec::new();
        for e in readers.iter() {
            each_argument(e, &mut |argument| {
                if !values.iter().any(|v| is_one(v, argument)) {
                    values.push(argument.clone());
                }
            });
        }
        if values.is_empty() {
            return plan;
        }
        let (plan, read) = self.computed(plan, values);
        readers.iter_mut().for_each(|e| replace_arguments(e, &read));
        plan
    }

    /// Volatile outputs that HAVING or a part of ORDER BY reads, or that are made distinct.
    pub(super) fn compute_outputs(
        &mut self,
        plan: Plan,
        outputs: &mut [Expr],
        having: &mut Option<Expr>,
        order: &mut [OrderKey],
        distinct: bool,
    ) -> Plan {
        let is_read = |e: &Expr| {
            let in_part = |key: &Expr| !key.same(e) && reads(key, e);
            distinct || having.iter().any(|h| reads(h, e)) || order.iter().any(|o| in_part(&o.expr))
        };
        let is_shared = |e: &Expr| is_of_row(e) && is_read(e);
        let places: Vec<usize> = (0..outputs.len()).filter(|i| is_shared(&outputs[*i])).collect();
        if places.is_empty() {
            return plan;
        }
        let (plan, read) = self.computed(plan, places.iter().map(|i| outputs[*i].clone()).collect());
        having.iter_mut().chain(order.iter_mut().map(|o| &mut o.expr)).for_each(|e| replace(e, &read));
        for (at, (_, column)) in places.into_iter().zip(read) {
            outputs[at] = column;
        }
        plan
    }
}
