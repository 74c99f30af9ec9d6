//! Recursive common table expressions: the blocks that start them, and the blocks that make new rows of the last ones.

use super::Planner;
use super::join_tree::{StarColumn, Tree};
use super::meta::kept_meta;
use super::names::{Source, SourceColumn};
use super::node::{Plan, QueryPlan, Recursive, SetKind};
use super::set::{same_width, unite};
use super::sorted::OrderlessLimit;
use crate::Provenance;
use crate::Told;
use expr::Shape;
use expr::error::unsupported;
use expr::{Expr, Node, compare};
use sql::ast::{self, QueryBody, QueryId};
use std::sync::Arc;
use types::codes::*;
use types::{DataType, Result, SqlError, TypeKind, err};

/// Name and type of a column, and the words of its ENUM or SET.
type WorkingColumn = (String, DataType, Option<Arc<[String]>>);

/// A common table expression whose query is being planned.
#[derive(Clone)]
pub struct Working {
    number: usize,
    /// Known once a block without recursion is planned.
    columns: Option<Vec<WorkingColumn>>,
    /// [`Planner::level`] of the blocks that may read the expression itself, once each.
    level: usize,
    references: usize,
}

impl Planner<'_> {
    /// Plans a query of WITH RECURSIVE, whether it means itself or not.
    pub(super) fn recursive_query(&mut self, at: usize) -> Result<QueryPlan> {
        let number = self.queries.working_tables;
        self.queries.working_tables += 1;
        let level = self.scope.level + 2;
        self.scope.ctes[at].working = Some(Box::new(Working { number, columns: None, level, references: 0 }));
        let first_read = self.queries.outer_reads.len();
        let plan = self.recursive_blocks(at, number);
        let reads = self.reads_outside(first_read);
        self.scope.ctes[at].working = None;
        Ok(QueryPlan { correlated: !reads.is_empty(), reads, ..plan? })
    }

    fn recursive_blocks(&mut self, at: usize, number: usize) -> Result<QueryPlan> {
        let (name, id) = (self.scope.ctes[at].name.clone(), self.scope.ctes[at].query);
        let query = &self.parsed[id];
        let mut operands = Vec::new();
        let mut distinct = false;
        self.operands(id, &mut operands, &mut distinct);
        if operands.len() < 2 || query.with.is_some() {
            // No union of blocks: it can not be recursive.
            self.working(at).level = self.scope.level + 1;
            return self
                .query(id, false)
                .map_err(|e| self.early(at, e, ER_CTE_RECURSIVE_REQUIRES_UNION, "should contain a UNION"));
        }
        let (mut seed, mut steps): (Option<QueryPlan>, Vec<QueryPlan>) = (None, Vec::new());
        self.scope.level += 1;
        let planned = self.recursive_operands(at, &operands, distinct, &mut seed, &mut steps);
        self.scope.level -= 1;
        planned?;
        let Some(seed) = seed else { return Err(order_of_blocks(&name)) };
        if steps.is_empty() {
            return self.query(id, false);
        }
        if query.order.iter().any(|item| self.reads_from(item.expr, &name)) {
            return Err(too_often(&name));
        }
        if !query.order.is_empty() {
            return Err(unsupported("ORDER BY over UNION in recursive Common Table Expression"));
        }
        self.scope.blocks.push(super::names::Block::default());
        let limit = self.limit(query.limit);
        self.scope.blocks.pop();
        let mut columns = seed.columns.clone();
        for c in &mut columns {
            (c.provenance, c.told) = (Provenance::Merged, Told::kept(&c.name));
        }
        let types: Vec<DataType> = seed.outputs.iter().map(|e| DataType { nullable: true, ..column_type(e) }).collect();
        let members: Vec<Arc<[String]>> =
            seed.outputs.iter().map(|e| e.members().cloned().unwrap_or_default()).collect();
        let names = columns.iter().map(|c| c.name.clone()).collect();
        let outputs: Vec<Expr> =
            types.iter().zip(&members).enumerate().map(|(i, (ty, members))| kept_column(i, *ty, members)).collect();
        let shapes = vec![Shape::Tuple(outputs.len())];
        let limit: OrderlessLimit = limit?;
        let recursive =
            Recursive { number, slot: 0, seed, steps, distinct, types, members, names, limit: limit.clone() };
        let plan = super::query::limited(Plan::Recursive(Box::new(recursive)), limit);
        Ok(QueryPlan {
            plan,
            shapes,
            outputs,
            columns,
            correlated: false,
            varies: false,
            absorbed: false,
            reads: Vec::new(),
        })
    }

    fn recursive_operands(
        &mut self,
        at: usize,
        operands: &[QueryId],
        distinct: bool,
        seed: &mut Option<QueryPlan>,
        steps: &mut Vec<QueryPlan>,
    ) -> Result<()> {
        let name = self.scope.ctes[at].name.clone();
        for id in operands {
            self.working(at).references = 0;
            let plan = self.query(*id, false);
            let recursive = self.working(at).references > 0;
            let mut plan = match plan {
                Ok(plan) => plan,
                Err(e) => {
                    let what =
                        "should have one or more non-recursive query blocks followed by one or more recursive ones";
                    return Err(self.early(at, e, ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST, what));
                }
            };
            if recursive {
                if let QueryBody::Select(s) = &self.parsed[*id].body
                    && (!s.group.is_empty() || has_group(&plan.plan))
                {
                    return Err(err!(ER_CTE_RECURSIVE_FORBIDS_AGGREGATION, name));
                }
                self.refuse_ordered(*id)?;
                same_width(seed.as_ref().expect("columns are known"), &plan)?;
                steps.push(plan);
                continue;
            }
            if !steps.is_empty() {
                return Err(order_of_blocks(&name));
            }
            *seed = Some(match seed.take() {
                None => plan,
                Some(mut first) => {
                    same_width(&first, &plan)?;
                    let types = unite(&mut [&mut first, &mut plan], SetKind::Union, false)?;
                    self.united(first, plan, types, distinct)
                }
            });
            let names = self.scope.ctes[at].columns.clone();
            let columns = self.derived_columns(seed.as_ref().expect("just set"), &names)?;
            let outputs = &seed.as_ref().expect("just set").outputs;
            let known = columns.into_iter().zip(outputs).map(|(c, e)| (c.name, column_type(e), e.members().cloned()));
            self.working(at).columns = Some(known.collect());
        }
        Ok(())
    }

    /// Error 1235 for a recursive block with ORDER BY, LIMIT or DISTINCT of its own.
    fn refuse_ordered(&self, id: QueryId) -> Result<()> {
        let query = &self.parsed[id];
        let distinct = matches!(&query.body, QueryBody::Select(s) if s.options.distinct);
        match distinct || !query.order.is_empty() || query.limit.is_some() {
            true => Err(unsupported(
                "ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table Expression",
            )),
            false => Ok(()),
        }
    }

    fn united(&self, left: QueryPlan, right: QueryPlan, types: Vec<DataType>, distinct: bool) -> QueryPlan {
        let of = |(c, ty): (&crate::ColumnMeta, &DataType)| kept_meta(&c.name, &Expr { ty: *ty, ..Expr::null() });
        let columns = left.columns.iter().zip(&types).map(of).collect();
        let outputs: Vec<Expr> = types.iter().enumerate().map(|(i, ty)| Expr::column(0, i, *ty)).collect();
        let shapes = vec![Shape::Tuple(outputs.len())];
        let kind = SetKind::Union;
        let plan =
            Plan::SetOp(Box::new(super::node::SetOp { kind, all: !distinct, left, right, slot: 0, given: None }));
        QueryPlan {
            plan,
            shapes,
            outputs,
            columns,
            correlated: false,
            varies: false,
            absorbed: false,
            reads: Vec::new(),
        }
    }

    /// The blocks of a chain of UNIONs.
    fn operands(&self, id: QueryId, out: &mut Vec<QueryId>, distinct: &mut bool) {
        match &self.parsed[id].body {
            QueryBody::SetOp { op: ast::SetOp::Union, all, left, right } => {
                *distinct |= !all;
                let plain = |q: QueryId| self.parsed[q].order.is_empty() && self.parsed[q].limit.is_none();
                match plain(*left) {
                    true => self.operands(*left, out, distinct),
                    false => out.push(*left),
                }
                out.push(*right);
            }
            _ => out.push(id),
        }
    }

    fn working(&mut self, at: usize) -> &mut Working {
        self.scope.ctes[at].working.as_deref_mut().expect("being planned")
    }

    /// The error of a block that was refused because it means the expression before its columns are known.
    /// Is the expression a subquery over the table of that name alone?
    fn reads_from(&self, id: ast::ExprId, name: &str) -> bool {
        let ast::Expr::Subquery(query) = self.parsed[id] else { return false };
        let QueryBody::Select(select) = &self.parsed[query].body else { return false };
        let Some(ast::TableRef::Table(factor)) = select.from.map(|from| &self.parsed[from]) else { return false };
        factor.name.schema.is_none() && self.parsed.name(factor.name.name).eq_ignore_ascii_case(name)
    }

    fn early(&mut self, at: usize, e: SqlError, code: u16, what: &str) -> SqlError {
        let name = &self.scope.ctes[at].name;
        match e.code == EARLY {
            true => SqlError::new(code, format!("Recursive Common Table Expression '{name}' {what}")),
            false => e,
        }
    }

    /// The expression itself in FROM of one of its recursive blocks.
    pub(super) fn working_table(&mut self, at: usize, alias: &str) -> Result<(Tree, Vec<StarColumn>)> {
        let (name, level) = (self.scope.ctes[at].name.clone(), self.scope.level);
        let working = self.working(at);
        let Some(columns) = working.columns.clone() else { return Err(SqlError::new(EARLY, "too early")) };
        working.references += 1;
        if working.references > 1 || working.level != level {
            return Err(too_often(&name));
        }
        let number = working.number;
        let column = |(name, ty, members)| SourceColumn {
            name,
            data_type: DataType { nullable: true, ..ty },
            hidden: false,
            invisible: false,
            origin: None,
            members,
        };
        let columns: Vec<SourceColumn> = columns.into_iter().map(column).collect();
        let slot = self.block().shapes.len();
        self.block().shapes.push(Shape::Tuple(columns.len()));
        self.add_source(Source { working: Some(number), ..Source::of_tuple(slot, alias, columns) })
    }

    /// Error 3576 when a source that may be missing is a recursive table.
    pub(super) fn refuse_working(&self, source: usize) -> Result<()> {
        let Some(number) = self.current_block().sources[source].working else { return Ok(()) };
        let of = |c: &&super::query::Cte| c.working.as_ref().is_some_and(|w| w.number == number);
        let name = self.scope.ctes.iter().find(of).map_or("", |c| &c.name);
        Err(err!(ER_CTE_RECURSIVE_FORBIDDEN_JOIN_ORDER, name))
    }
}

/// A column of NULLs holds no other value. An ENUM or SET is one where its members are known.
fn column_type(e: &Expr) -> DataType {
    match e.ty.kind {
        TypeKind::Null => DataType::string(TypeKind::VarBinary, 0, types::CollationId::BINARY),
        TypeKind::Enum | TypeKind::Set if e.members().is_none() => DataType { kind: TypeKind::Char, ..e.ty },
        _ => compare::column_of(e),
    }
}

/// A column of the rows, which hold the numbers of ENUM and SET.
fn kept_column(i: usize, ty: DataType, members: &Arc<[String]>) -> Expr {
    let number = DataType { nullable: true, ..DataType::new(TypeKind::BigInt).unsigned() };
    let node = match ty.kind {
        TypeKind::Enum => Node::EnumText(Box::new(Expr::column(0, i, number)), members.clone()),
        TypeKind::Set => Node::SetText(Box::new(Expr::column(0, i, number)), members.clone()),
        _ => return Expr::column(0, i, ty),
    };
    Expr::new(node, ty)
}

/// Stands for 3573 or 3574 until it is known which.
const EARLY: u16 = ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST;

#[cold]
fn order_of_blocks(name: &str) -> SqlError {
    err!(ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST, name)
}

/// Is there grouping or a window in this block (not in tables of it)?
fn has_group(plan: &Plan) -> bool {
    match plan {
        Plan::Group(_) | Plan::Window(_) => true,
        Plan::Filter { input, .. } | Plan::Distinct { input, .. } | Plan::Limit { input, .. } => has_group(input),
        Plan::Computed { input, .. } => has_group(input),
        Plan::Sort(s) => has_group(&s.input),
        _ => false,
    }
}

#[cold]
fn too_often(name: &str) -> SqlError {
    err!(ER_CTE_RECURSIVE_REQUIRES_SINGLE_REFERENCE, name)
}
