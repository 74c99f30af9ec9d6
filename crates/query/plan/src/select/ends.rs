//! MIN and MAX of columns that indexes have in order: the rows at their ends are all that is read.

use super::Bound;
use crate::Planner;
use crate::access::Wanted;
use crate::join_tree::Tree;
use crate::node::{Plan, Scan};
use expr::call::AggregateKind;
use expr::{Expr, Node, Shape, boolean_type};
use types::Result;

/// Most ends that are read for one query.
const ENDS_MAX: usize = 16;

/// A column of which the least or the greatest value is asked for.
pub(super) struct Extreme {
    pub column: Expr,
    pub greatest: bool,
}

impl Extreme {
    /// NULL is no extreme, and comes first.
    pub fn not_null(&self) -> Option<Expr> {
        let asked = Node::IsNull { negated: true, operand: Box::new(self.column.clone()) };
        self.column.ty.nullable.then(|| Expr::new(asked, boolean_type(false)))
    }

    /// The order in which the first row has it.
    pub fn wanted(&self) -> Wanted<'_> {
        Wanted { keys: vec![(&self.column, self.greatest)], limited: true, first: true, ..Wanted::none() }
    }
}

/// When the MIN and the MAX of columns are all that is asked of the rows: which. Else none.
pub(super) fn extremes(s: &Bound) -> Vec<Extreme> {
    let mut found: Vec<Extreme> = Vec::new();
    let mut other = !s.keys.is_empty() || s.is.asked;
    let mut look = |e: &Expr| {
        match &e.node {
            Node::Aggregate(call) => match (call.kind, &call.args[..]) {
                (AggregateKind::Min | AggregateKind::Max, [column])
                    if matches!(column.node, Node::Column { depth: 0, .. }) =>
                {
                    let greatest = call.kind == AggregateKind::Max;
                    if !found.iter().any(|known| known.greatest == greatest && known.column.same(column)) {
                        found.push(Extreme { column: column.clone(), greatest });
                    }
                }
                _ => other = true,
            },
            _ => other |= is_query(e),
        }
        false
    };
    let all = || s.outputs.iter().chain(&s.having).chain(s.order.iter().map(|o| &o.expr));
    all().for_each(|e| _ = e.any(&mut look));
    if other || all().any(has_bare_column) { Vec::new() } else { found }
}

/// Does the expression read a column outside of aggregates?
fn has_bare_column(e: &Expr) -> bool {
    match &e.node {
        Node::Aggregate(_) => false,
        Node::Column { .. } => true,
        _ => {
            let mut found = false;
            e.children(&mut |c| found |= has_bare_column(c));
            found
        }
    }
}

fn is_query(e: &Expr) -> bool {
    use Node::{Exists, InSubquery, Quantified, Subquery};
    matches!(e.node, Subquery { .. } | Exists { .. } | InSubquery { .. } | Quantified { .. })
}

/// May the condition be asked of one scan after the other?
fn is_repeatable(condition: &Expr) -> bool {
    !condition.any(&mut |e| match &e.node {
        Node::Call(f, _) => f.volatile,
        Node::SetUserVariable(..) => true,
        _ => is_query(e),
    })
}

impl Planner<'_> {
    /// The rows with all of these extremes, where indexes of one table have each as an end of what the conditions leave of them.
    pub(super) fn ends(&mut self, tree: &Tree, conditions: &[Expr], extremes: &[Extreme]) -> Result<Option<Plan>> {
        let Tree::Leaf(source) = *tree else { return Ok(None) };
        let of_source = &self.current_block().sources[source];
        let is_stored = of_source.table.as_ref().is_some_and(|table| !table.is_virtual());
        if !is_stored
            || of_source.derived.is_some()
            || of_source.filter.is_some()
            || extremes.is_empty()
            || extremes.len() > ENDS_MAX
        {
            return Ok(None);
        }
        if !conditions.iter().all(is_repeatable) {
            return Ok(None);
        }
        let (slot, table) = (of_source.slot, of_source.table.clone().expect("a stored table"));
        let mut scans: Vec<Scan> = Vec::with_capacity(extremes.len());
        for extreme in extremes {
            let conditions = conditions.iter().cloned().chain(extreme.not_null()).collect();
            let (plan, ordered) = self.join_plan(Tree::Leaf(source), conditions, &extreme.wanted())?;
            let Plan::Scan(mut scan) = plan else { break };
            if !ordered {
                break;
            }
            scan.limit_hint = Some(Expr::int(1));
            scans.push(scan);
        }
        let is_whole = scans.len() == extremes.len();
        if !is_whole || scans.iter().any(|scan| scan.access.index != scans[0].access.index) {
            // Entries of several indexes have no shape in common, but their rows have.
            self.block().shapes[slot] = Shape::Row(table);
            scans.iter_mut().for_each(|scan| scan.covering = false);
        }
        Ok(is_whole.then(|| Plan::Ends(scans)))
    }
}
