//! Long chains of OR, and CASE with many conditions, that compare the same columns with constants: `h = 1 OR h = 2 ...`, `(k, h) IN
//! ((1, 2), (3, 4) ...)`, `CASE h WHEN 1 THEN ...`. From the second row on the first condition that is true is looked up and not
//! searched for. Conditions of another shape are asked one by one, in their turn: what they have to say is said as ever.

use super::functions::once;
use super::list::{class, is_plain};
use super::operator::CmpOp;
use super::scratch::{Alternatives, KnownConditions as Known, Sorted};
use super::{Expr, Node};
use crate::{Execution, Scope};
use std::collections::HashMap;
use std::rc::Rc;
use types::Result;
use types::collation::CollationId;

/// Fewer conditions are gone through.
pub const CONDITIONS_MIN: usize = 8;
/// Columns that one condition compares.
const MEMBERS_MAX: usize = 8;

/// What the conditions at hand come to.
pub struct Found {
    /// The place of the first that is true.
    pub first: Option<usize>,
    /// None is, and at least one is NULL.
    pub unknown: bool,
}

/// The conditions of an OR or CASE, in their order.
pub trait Conditions {
    fn count(&self) -> usize;
    fn condition(&self, at: usize) -> &Expr;
}

impl Conditions for [Expr] {
    fn count(&self) -> usize {
        self.len()
    }

    fn condition(&self, at: usize) -> &Expr {
        &self[at]
    }
}

impl Conditions for [(Expr, Expr)] {
    fn count(&self) -> usize {
        self.len()
    }

    fn condition(&self, at: usize) -> &Expr {
        &self[at].0
    }
}

/// `column = constant`
struct Equality<'e> {
    column: &'e Expr,
    constant: &'e Expr,
    collation: CollationId,
}

impl<'e> Equality<'e> {
    fn of(e: &'e Expr) -> Option<Equality<'e>> {
        let Node::Compare(CmpOp::Eq, a, b, collation) = &e.node else { return None };
        // A column alone: it says nothing when it is asked, however often.
        let is_column = |e: &Expr| match &once::inner(e).node {
            Node::Column { .. } => true,
            Node::InCharset(inner) => matches!(inner.node, Node::Column { .. }),
            _ => false,
        };
        let (column, constant) = if is_plain(b) { (a, b) } else { (b, a) };
        (is_column(column) && is_plain(constant)).then_some(Equality { column, constant, collation: *collation })
    }

    /// The one at `member` of a condition that is one, or several joined by AND.
    fn at(condition: &'e Expr, member: usize) -> Option<Equality<'e>> {
        match &condition.node {
            Node::And(list) => list.get(member).and_then(Equality::of),
            _ => Equality::of(condition).filter(|_| member == 0),
        }
    }

    fn is_like(&self, other: &Equality<'_>) -> bool {
        self.collation == other.collation && self.column.same(other.column)
    }
}

/// Members of a condition, each of which is an equality.
fn width(condition: &Expr) -> Option<usize> {
    let width = if let Node::And(list) = &condition.node { list.len() } else { 1 };
    let all = (0..width).all(|member| Equality::at(condition, member).is_some());
    (width <= MEMBERS_MAX && all).then_some(width)
}

impl Alternatives {
    /// What is known of the conditions once the columns of the row at hand have shown their classes.
    fn known<C: Conditions + ?Sized>(conditions: &C, run: &dyn Execution, at: Scope<'_>) -> Result<Known> {
        let widths = (0..conditions.count()).map(|i| width(conditions.condition(i)));
        let Some((model, width)) = widths.enumerate().find_map(|(i, width)| Some((i, width?))) else {
            return Ok(Known::Mixed);
        };
        let equality = |i: usize, member: usize| Equality::at(conditions.condition(i), member);
        let models: Vec<Equality<'_>> = (0..width).map(|m| equality(model, m).expect("it is one")).collect();
        let (mut alike, mut others) = (Vec::new(), Vec::new());
        for i in 0..conditions.count() {
            let is_alike = self::width(conditions.condition(i)) == Some(width)
                && models.iter().enumerate().all(|(m, model)| equality(i, m).is_some_and(|e| e.is_like(model)));
            if is_alike { alike.push(i) } else { others.push(i) }
        }
        let constant = |i: usize, member: usize| equality(i, member).expect("it is one").constant;
        let mut known = Vec::new();
        for i in alike {
            let values = (0..width).map(|m| constant(i, m).eval(run, at)).collect::<Result<Vec<_>>>()?;
            // A NULL makes it unknown, or false, as the other members are.
            if values.iter().any(|v| v.is_null()) { others.push(i) } else { known.push(i) }
        }
        others.sort_unstable();
        if known.len() < CONDITIONS_MIN {
            return Ok(Known::Mixed);
        }
        let mut members = Vec::with_capacity(width);
        for (m, model) in models.iter().enumerate() {
            let v = model.column.eval(run, at)?;
            if v.is_null() {
                return Ok(Known::AskedOnce);
            }
            let Some(class) = class(&v) else { return Ok(Known::Mixed) };
            let constants = known.iter().map(|i| constant(*i, m));
            let Some(sorted) = Sorted::new(constants, class, model.collation, run, at)? else {
                return Ok(Known::Mixed);
            };
            members.push(sorted);
        }
        run.check_growth(known.len() * (size_of::<Box<[u32]>>() + size_of::<usize>() + width * size_of::<u32>()))?;
        let mut by_places = HashMap::with_capacity(known.len());
        for i in known {
            let mut places = Vec::with_capacity(width);
            for (m, sorted) in members.iter().enumerate() {
                let v = constant(i, m).eval(run, at)?;
                let Some(Some(place)) = sorted.place(&v, models[m].collation, run)? else { return Ok(Known::Mixed) };
                places.push(place as u32);
            }
            by_places.entry(places.into_boxed_slice()).or_insert(i);
        }
        Ok(Known::Alternatives(Rc::new(Alternatives { model, members, by_places, others })))
    }

    /// The first of those that can be looked up. The outer `None`: they have to be gone through.
    fn look_up<C: Conditions + ?Sized>(
        &self,
        conditions: &C,
        run: &dyn Execution,
        at: Scope<'_>,
    ) -> Result<Option<Option<usize>>> {
        let mut places = [0; MEMBERS_MAX];
        for (m, sorted) in self.members.iter().enumerate() {
            let model = Equality::at(conditions.condition(self.model), m).expect("it was one");
            let v = model.column.eval(run, at)?;
            if v.is_null() {
                return Ok(None);
            }
            match sorted.place(&v, model.collation, run)? {
                Some(Some(place)) => places[m] = place as u32,
                Some(None) => return Ok(Some(None)),
                None => return Ok(None),
            }
        }
        Ok(Some(self.by_places.get(&places[..self.members.len()]).copied()))
    }
}

/// The first of many conditions that is true. `None`: they have to be gone through.
#[inline(never)]
pub fn first_true<C: Conditions + ?Sized>(conditions: &C, run: &dyn Execution, at: Scope<'_>) -> Result<Option<Found>> {
    let key = std::ptr::from_ref(conditions.condition(0)).addr();
    let all = &run.evaluation().scratch().alternatives;
    let mut known = all.borrow().iter().find(|(k, _)| *k == key).map(|(_, known)| known.clone());
    if matches!(known, Some(Known::AskedOnce)) {
        let now = Alternatives::known(conditions, run, at)?;
        let mut all = all.borrow_mut();
        all.iter_mut().filter(|(k, _)| *k == key).for_each(|(_, known)| *known = now.clone());
        known = Some(now);
    }
    let known = match known {
        Some(Known::Alternatives(known)) => known,
        Some(Known::AskedOnce | Known::Mixed) => return Ok(None),
        None => {
            all.borrow_mut().push((key, Known::AskedOnce));
            return Ok(None);
        }
    };
    let Some(first) = known.look_up(conditions, run, at)? else { return Ok(None) };
    let mut unknown = false;
    for i in known.others.iter().copied().take_while(|i| first.is_none_or(|first| *i < first)) {
        match conditions.condition(i).eval_bool(run, at)? {
            Some(true) => return Ok(Some(Found { first: Some(i), unknown: false })),
            Some(false) => {}
            None => unknown = true,
        }
    }
    Ok(Some(Found { first, unknown: unknown && first.is_none() }))
}
