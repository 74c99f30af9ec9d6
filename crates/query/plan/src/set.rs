//! UNION, INTERSECT and EXCEPT: what their members' columns have in common.
//!
//! The members of a chain of UNIONs are brought to one type, that of all of them: `a UNION b UNION c` is planned as two
//! operations, and what the inner one has made of its members is made anew when the outer one comes.

use crate::Planner;
use crate::meta::{kept_meta, united_type};
use crate::node::{Plan, QueryPlan, SetKind, SetOp};
use expr::{Expr, Shape, common, compare};
use sql::ast;
use types::codes::*;
use types::{DataType, Result, TypeKind, err};

impl Planner<'_> {
    pub(super) fn set_operation(
        &mut self,
        query: &ast::Query,
        kind: SetKind,
        all: bool,
        mut left: QueryPlan,
        mut right: QueryPlan,
    ) -> Result<QueryPlan> {
        let given = Some([left.outputs.clone(), right.outputs.clone()]);
        let mut members = Vec::new();
        if kind == SetKind::Union {
            collect_members(&mut left, &mut members);
        } else {
            members.push(&mut left);
        }
        members.push(&mut right);
        let types = unite(&mut members, kind, true)?;
        retype_chain(&mut left, kind, &types);
        if let Plan::SetOp(inner) = &mut left.plan
            && (kind, inner.kind, all) == (SetKind::Union, SetKind::Union, false)
        {
            // Made distinct once, by the last of a chain.
            inner.all = true;
        }
        let columns = left.columns.iter().zip(&types);
        let columns = columns.map(|(c, ty)| kept_meta(&c.name, &Expr { ty: *ty, ..Expr::null() })).collect();
        let outputs = columns_of(&types);
        let shapes = vec![Shape::Tuple(outputs.len())];
        let plan = Plan::SetOp(Box::new(SetOp { kind, all, left, right, slot: 0, given }));
        self.ordered_rows(
            query,
            QueryPlan {
                plan,
                shapes,
                outputs,
                columns,
                correlated: false,
                varies: false,
                absorbed: false,
                reads: Vec::new(),
            },
        )
    }
}

fn columns_of(types: &[DataType]) -> Vec<Expr> {
    types.iter().enumerate().map(|(i, ty)| Expr::column(0, i, *ty)).collect()
}

/// The members of a chain of UNIONs, with the outputs that they had before they were brought to a type.
fn collect_members<'p>(plan: &'p mut QueryPlan, members: &mut Vec<&'p mut QueryPlan>) {
    if !is_chain(plan) {
        return members.push(plan);
    }
    let Plan::SetOp(set) = &mut plan.plan else { unreachable!("a chain is one") };
    let SetOp { left, right, given, .. } = &mut **set;
    let [of_left, of_right] = given.take().expect("a chain has them");
    right.outputs = of_right;
    if !is_chain(left) {
        left.outputs = of_left;
    }
    collect_members(left, members);
    members.push(right);
}

fn is_chain(plan: &QueryPlan) -> bool {
    matches!(&plan.plan, Plan::SetOp(set) if set.kind == SetKind::Union && set.given.is_some())
}

/// The rows of the UNIONs in a chain have the types of its members.
fn retype_chain(plan: &mut QueryPlan, kind: SetKind, types: &[DataType]) {
    if let (SetKind::Union, Plan::SetOp(set)) = (kind, &mut plan.plan)
        && set.kind == SetKind::Union
        && set.given.is_none()
    {
        plan.outputs = columns_of(types);
        retype_chain(&mut set.left, kind, types);
    }
}

/// Error 1222.
pub fn same_width(left: &QueryPlan, right: &QueryPlan) -> Result<()> {
    match left.outputs.len() == right.outputs.len() {
        true => Ok(()),
        false => Err(err!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT)),
    }
}

/// Converts the outputs of the members of a set operation to what they have in common; gives these types. `kept`: as columns of
/// a temporary table.
pub fn unite(members: &mut [&mut QueryPlan], kind: SetKind, kept: bool) -> Result<Vec<DataType>> {
    let name = match kind {
        SetKind::Union => "UNION",
        SetKind::Intersect => "INTERSECT",
        SetKind::Except => "EXCEPT",
    };
    let mut types = Vec::new();
    for column in 0..members[0].outputs.len() {
        let all: Vec<&Expr> = members.iter().map(|m| &m.outputs[column]).collect();
        let explicit = all.iter().any(|e| compare::coercibility(e) == 0);
        let same_set = all.iter().all(|e| e.ty.collation.charset() == all[0].ty.collation.charset());
        let ty = common::common_type(&all, name).map_err(|e| match e.code {
            ER_CANT_AGGREGATE_2COLLATIONS | ER_CANT_AGGREGATE_3COLLATIONS if same_set && !explicit => {
                err!(ER_CANT_AGGREGATE_NCOLLATIONS, "UNION")
            }
            _ => e,
        })?;
        let ty = compare::column_of_all(&all, if kept { united_type(ty, &all) } else { ty });
        let nullables = [all[0].ty.nullable, all[1].ty.nullable];
        for member in members.iter_mut() {
            let e = &mut member.outputs[column];
            let transcodes = e.ty.kind.is_text() && e.ty.collation.charset() != ty.collation.charset();
            let fills = ty.kind == TypeKind::Binary && e.ty.length != ty.length;
            if kept {
                *e = common::kept_decimal(std::mem::replace(e, Expr::null()));
            }
            if e.ty.kind != ty.kind
                || e.ty.decimals != ty.decimals
                || e.ty.unsigned != ty.unsigned
                || transcodes
                || fills
            {
                let mut inner = std::mem::replace(e, Expr::null());
                if ty.kind.is_text() && inner.ty.kind.is_numeric() && inner.ty.kind != TypeKind::Year {
                    // The text of a number alone: nothing fills it up.
                    inner.ty.zerofill = false;
                }
                *e = common::to_type(inner, ty);
            } else if ty.kind.is_text() {
                // The same values, compared in another order.
                e.ty.collation = ty.collation;
            }
        }
        // Rows of EXCEPT are of the left side, those of INTERSECT of both.
        let nullable = match kind {
            SetKind::Union => ty.nullable,
            SetKind::Intersect => nullables == [true; 2],
            SetKind::Except => nullables[0],
        };
        types.push(DataType { nullable, zerofill: ty.zerofill || kept && ty.kind == TypeKind::Year, ..ty });
    }
    Ok(types)
}
