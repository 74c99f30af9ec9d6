//! Conditions on the expression of an indexed generated column, an index part's expression among them, become conditions on the
//! column, whose index can find their rows.
//!
//! Where the column has the expression's type the two have the same values, and the column stands for the expression. Where it is
//! a narrower column of the same kind, or a functional index has CAST around what is asked for, an equality with a value that
//! the column can hold is said of the column as well: the condition itself still decides.

use crate::array::in_slot;
use crate::join_tree::Tree;
use crate::{Planner, access};
use expr::compare::COLLATE;
use expr::operator::CmpOp;
use expr::{Expr, Node};
use std::sync::Arc;
use types::{DataType, Result, TypeKind, Value};

/// An indexed generated column of one of the block's tables.
struct Candidate {
    source: usize,
    at: usize,
    /// What its values are.
    expression: Expr,
    /// Part of a functional index: CAST and COLLATE around the expression do not count.
    hidden: bool,
    data_type: DataType,
}

impl Planner<'_> {
    /// Replaces expressions among the conditions of WHERE and of joins, and adds conditions to the former.
    pub(super) fn search_generated(&mut self, tree: &mut Tree, conditions: &mut Vec<Expr>) -> Result<()> {
        let indexed = |t: &catalog::Table| t.columns.iter().any(|c| c.generated.is_some()) && t.is_base();
        if !self.current_block().sources.iter().any(|s| s.table.as_deref().is_some_and(indexed)) {
            return Ok(());
        }
        let candidates = self.generated_columns()?;
        let mut more = Vec::new();
        for e in conditions.iter_mut() {
            self.replace(e, &candidates);
            more.extend(candidates.iter().find_map(|c| self.also(e, c)));
        }
        conditions.extend(more);
        tree.each_condition(&mut |e| self.replace(e, &candidates));
        Ok(())
    }

    /// Those of indexes that hints leave, of tables whose rows are not made up by an outer join.
    fn generated_columns(&mut self) -> Result<Vec<Candidate>> {
        let mut columns = Vec::new();
        for (number, source) in self.current_block().sources.iter().enumerate() {
            let Some(table) = source.table.as_ref().filter(|t| t.is_base() && !source.nullable) else { continue };
            if source.stands_for.is_some() || source.columns.len() != table.columns.len() {
                continue;
            }
            for index in access::usable(self, source, table)? {
                for part in &table.indexes[index].parts {
                    let is_generated = table.columns[part.column].generated.as_ref().is_some_and(|g| g.array.is_none());
                    if is_generated && !columns.iter().any(|(n, _, _, at)| (*n, *at) == (number, part.column)) {
                        columns.push((number, source.slot, Arc::clone(table), part.column));
                    }
                }
            }
        }
        let mut candidates = Vec::new();
        for (source, slot, table, at) in columns {
            let column = &table.columns[at];
            let generated = column.generated.as_ref().expect("a generated column");
            let mut expression = self.stored_expression(&generated.expression, &table)?;
            in_slot(&mut expression, slot);
            // A column that is another one needs no help.
            if expression.own_column().is_none() && is_searchable(&column.data_type) {
                candidates.push(Candidate {
                    source,
                    at,
                    expression,
                    hidden: column.hidden,
                    data_type: column.data_type,
                });
            }
        }
        Ok(candidates)
    }

    fn column_of(&self, c: &Candidate) -> Expr {
        self.current_block().sources[c.source].column(c.at, 0)
    }

    /// The column in the place of its expression, where the two have one type.
    fn replace(&self, e: &mut Expr, candidates: &[Candidate]) {
        if let Node::And(list) | Node::Or(list) = &mut e.node {
            list.iter_mut().for_each(|e| self.replace(e, candidates));
            return;
        }
        let Some(side) = asked(e) else { return };
        let equal = |c: &&Candidate| side.same(&c.expression) && same_type(&side.ty, &c.data_type);
        if let Some(c) = candidates.iter().find(equal) {
            *side = self.column_of(c);
        }
    }

    /// What a condition says of a column whose values differ from the expression's only where they do not fit.
    fn also(&self, e: &Expr, c: &Candidate) -> Option<Expr> {
        let mut said = e.clone();
        let is_equality = matches!(said.node, Node::Compare(CmpOp::Eq, ..) | Node::In { .. });
        let side = asked(&mut said).filter(|_| is_equality)?;
        let bare = if c.hidden { without_cast(&c.expression) } else { &c.expression };
        let narrower = |ty: &DataType| {
            // CHAR and BINARY keep no spaces or zeros at the end.
            let keeps = !matches!(c.data_type.kind, TypeKind::Char | TypeKind::Binary);
            let strings = is_string(ty) && is_string(&c.data_type) && keeps && ty.collation == c.data_type.collation;
            strings || (ty.kind.is_integer() && c.data_type.kind.is_integer())
        };
        if !side.same(bare) || !narrower(&side.ty) {
            return None;
        }
        *side = self.column_of(c);
        let fits = |e: &Expr| matches!(&e.node, Node::Const(v) if fits(v, &c.data_type));
        let all_fit = match &said.node {
            Node::Compare(_, a, b, _) => [a, b].into_iter().any(|e| fits(e)),
            Node::In { list, .. } => list.iter().all(fits),
            _ => false,
        };
        all_fit.then_some(said)
    }
}

/// The side of a comparison that may be an expression, where the others are the same for all rows.
fn asked(e: &mut Expr) -> Option<&mut Expr> {
    match &mut e.node {
        Node::Compare(CmpOp::Eq | CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge, a, b, _) => {
            match (a.is_constant(), b.is_constant()) {
                (false, true) => Some(a),
                (true, false) => Some(b),
                _ => None,
            }
        }
        Node::Between { negated: false, operands, .. } => {
            let [v, low, high] = &mut **operands;
            (low.is_constant() && high.is_constant()).then_some(v)
        }
        Node::In { negated: false, operand, list, .. } => list.iter().all(Expr::is_constant).then_some(&mut **operand),
        _ => None,
    }
}

fn is_string(ty: &DataType) -> bool {
    (ty.kind.is_text() || ty.kind.is_bytes()) && !matches!(ty.kind, TypeKind::Json | TypeKind::Geometry)
}

/// Types whose values an index finds by comparison.
fn is_searchable(ty: &DataType) -> bool {
    use TypeKind::*;
    let exact = ty.kind.is_integer() || matches!(ty.kind, Decimal | Double | Date | Time | DateTime);
    exact || is_string(ty)
}

/// Has a column of the second type every value of the first as it is, and compares them alike?
fn same_type(from: &DataType, to: &DataType) -> bool {
    let alike = from.kind == to.kind && from.unsigned == to.unsigned && from.decimals == to.decimals;
    alike && (!is_string(to) || from.collation == to.collation) && (to.length >= from.length || to.kind.is_integer())
}

/// Is a value one that the column would keep as it is?
fn fits(v: &Value<'_>, ty: &DataType) -> bool {
    match v {
        Value::Int(n) => ty.kind.is_integer() && ty.holds_integer(*n),
        Value::Bytes(text) => is_string(ty) && ty.collation.charset().char_count(text) <= ty.length as usize,
        _ => false,
    }
}

fn without_cast(e: &Expr) -> &Expr {
    match &e.node {
        Node::Cast(inner) | Node::InCharset(inner) => without_cast(inner),
        Node::Call(f, args) if f.name == COLLATE => without_cast(&args[0]),
        _ => e,
    }
}
