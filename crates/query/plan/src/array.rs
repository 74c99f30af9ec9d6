//! Searches in arrays: MEMBER OF, JSON_CONTAINS and JSON_OVERLAPS of the expression of a multi-valued index part become searches in
//! the hidden column that holds its array ([`expr::array`]), whose index can find their rows.
//!
//! As in MySQL the values have to be the same for all rows, and those of MEMBER OF of the kind of the array's elements; a value
//! that has no counterpart among these is compared with the document.

use crate::join_tree::Tree;
use crate::node::{IndexRange, Scan};
use crate::{Planner, access};
use expr::array::{self, Search};
use expr::functions::json;
use expr::print::json_text;
use expr::{Expr, Node, document};
use std::sync::Arc;
use types::{DataType, Result, Value};

/// The array of an index part of one of the block's tables.
struct Candidate {
    /// What its CAST is of.
    operand: Expr,
    column: Expr,
    element: DataType,
}

impl Planner<'_> {
    /// Replaces such calls among the conditions of WHERE and of joins.
    pub(super) fn search_arrays(&mut self, tree: &mut Tree, conditions: &mut [Expr]) -> Result<()> {
        let has_array = |t: &catalog::Table| t.indexes.iter().any(|i| i.array_part.is_some());
        if !self.current_block().sources.iter().any(|s| s.table.as_deref().is_some_and(has_array)) {
            return Ok(());
        }
        let candidates = self.candidates()?;
        let mut refused = None;
        let mut replace = |e: &mut Expr| refused = refused.take().or(replace(e, &candidates).err());
        conditions.iter_mut().for_each(&mut replace);
        tree.each_condition(&mut replace);
        // What a view says of its table.
        self.block().sources.iter_mut().filter_map(|s| s.filter.as_mut()).for_each(&mut replace);
        refused.map_or(Ok(()), Err)
    }

    /// The arrays of indexes that hints leave.
    fn candidates(&mut self) -> Result<Vec<Candidate>> {
        let mut parts = Vec::new();
        for source in &self.current_block().sources {
            let has_array = |t: &catalog::Table| t.indexes.iter().any(|i| i.array_part.is_some());
            // Rows that an outer join makes up have no arrays.
            let Some(table) = source.table.as_ref().filter(|t| has_array(t) && !source.nullable) else { continue };
            for index in access::usable(self, source, table)? {
                let Some(part) = table.indexes[index].array_part else { continue };
                let at = table.indexes[index].parts[part].column;
                // No index covers it.
                source.used[at].set(true);
                parts.push((source.slot, Arc::clone(table), at));
            }
        }
        let mut candidates = Vec::new();
        for (slot, table, at) in parts {
            let column = &table.columns[at];
            let generated = column.generated.as_ref().expect("an array is generated");
            let mut operand = self.stored(&generated.expression, &table, true)?;
            in_slot(&mut operand, slot);
            let element = column.array_of().expect("an array");
            candidates.push(Candidate { operand, column: Expr::column(slot, at, column.data_type), element });
        }
        Ok(candidates)
    }
}

/// An expression over slot 0 becomes one over another slot.
pub(super) fn in_slot(e: &mut Expr, to: usize) {
    if let Node::Column { slot, .. } = &mut e.node {
        *slot = to as u16;
    }
    e.children_mut(&mut |e| in_slot(e, to));
}

/// Error 3141 for a text that is known and no document.
fn replace(e: &mut Expr, candidates: &[Candidate]) -> Result<()> {
    if let Node::And(list) | Node::Or(list) = &mut e.node {
        return list.iter_mut().try_for_each(|e| replace(e, candidates));
    }
    let Some((kind, values, operand)) = parts_of(e).filter(|(_, values, _)| is_fixed(values)) else { return Ok(()) };
    if !candidates.iter().any(|c| operand.same(&c.operand)) {
        return Ok(());
    }
    if let (Node::Const(Value::Bytes(text)), Search::Contains | Search::Overlaps) = (&values.node, kind) {
        let Node::Call(f, args) = &e.node else { unreachable!("as it was taken apart") };
        let number = args.iter().position(|a| std::ptr::eq(a, values)).expect("an argument");
        document::parse_text(&document::utf8(text, &values.ty)?, number, f.name)?;
    }
    let fits = |c: &&Candidate| {
        operand.same(&c.operand)
            && (kind != Search::Member || array::is_of_class(&values.ty, &c.element))
            // What is known now can be said now.
            && match &values.node {
                Node::Const(v) => array::wanted(v, values, kind, &c.element).is_some(),
                _ => true,
            }
    };
    let Some(found) = candidates.iter().find(fits) else { return Ok(()) };
    let values = values.clone();
    let plain = std::mem::replace(e, Expr::null());
    *e = array::search(kind, plain, values, found.column.clone(), found.element);
    Ok(())
}

/// What is looked for, and in what.
fn parts_of(e: &Expr) -> Option<(Search, &Expr, &Expr)> {
    let Node::Call(f, args) = &e.node else { return None };
    let [a, b] = &args[..] else { return None };
    Some(match json::search_of(f)? {
        Search::Member => (Search::Member, a, b),
        Search::Contains => (Search::Contains, b, a),
        Search::Overlaps if is_fixed(a) => (Search::Overlaps, a, b),
        Search::Overlaps => (Search::Overlaps, b, a),
    })
}

/// The same value for all rows of the statement's execution.
fn is_fixed(e: &Expr) -> bool {
    !e.any(&mut |e| match &e.node {
        Node::Column { .. } | Node::SetUserVariable(..) | Node::Aggregate(_) | Node::Window(_) => true,
        Node::Subquery { .. } | Node::Exists { .. } | Node::InSubquery { .. } | Node::Quantified { .. } => true,
        Node::Call(f, _) => f.volatile,
        _ => false,
    })
}

/// The name of a part of the scan's index, or its expression.
pub(super) fn part_name(s: &Scan, part: usize) -> &str {
    let column = &s.table.columns[s.table.indexes[s.access.index].parts[part].column];
    column.index_expression().unwrap_or(&column.name)
}

/// For EXPLAIN: the element that a value stands for in a part of the scan's index, if it is known and the part is an array.
pub(super) fn shown_element(s: &Scan, part: usize, value: &Expr) -> Option<String> {
    let index = &s.table.indexes[s.access.index];
    let Node::Const(v) = &value.node else { return None };
    let element = &index.parts[part].key.data_type;
    let known = (index.array_part == Some(part)).then(|| array::wanted(v, value, Search::Member, element))?;
    known.map(|j| json_text(&j))
}

/// For EXPLAIN: what a range looks for in the array of its index, if `part` is that.
pub(super) fn shown_elements(
    s: &Scan,
    range: &IndexRange,
    part: usize,
    text: &dyn Fn(&Expr) -> String,
) -> Option<Vec<String>> {
    let index = &s.table.indexes[s.access.index];
    let (search, _) = range.array.filter(|_| index.array_part == Some(part))?;
    let values = &range.equal[part][0];
    let element = &index.parts[part].key.data_type;
    let wanted = match &values.node {
        Node::Const(v) => array::wanted(v, values, search, element),
        _ => None,
    };
    let plain = |j: types::json::Json| String::from_utf8_lossy(&j.to_text()).into_owned();
    let elements: Vec<String> = match wanted {
        Some(j) => array::keys_of(j).map(plain).collect(),
        None => vec![text(values)],
    };
    let cast = part_name(s, part);
    // What is between CAST( and AS type ARRAY).
    let operand =
        cast.strip_prefix("cast(").and_then(|rest| rest.rfind(" as ").map(|end| &rest[..end])).unwrap_or(cast);
    Some(elements.iter().map(|e| format!("({e} MEMBER OF ({operand}))")).collect())
}
