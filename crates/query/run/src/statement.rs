//! Whole statements: their operators, and what is done with the rows.

use crate::build::build_query;
use crate::change::{DeleteStatement, UpdateStatement};
use crate::context::{Outcome, RowSink};
use crate::explain::ExplainStatement;
use crate::insert::InsertStatement;
use crate::many::{DeleteManyStatement, UpdateManyStatement};
use crate::subquery::Query;
use crate::{Frame, Run, Scope, Step, recycle};
use expr::{Execution, Expr, store};
use plan::ColumnMeta;
use plan::node::Body;
use types::codes::*;
use types::{DataType, Result, Value, err};

/// A statement with its operators and buffers.
pub struct Statement {
    kind: Kind,
    /// The row on its way to the sink.
    values: Vec<Value<'static>>,
}

enum Kind {
    Query(Box<Query>, Vec<String>),
    OneRow(Box<Query>),
    Values {
        list: Vec<Expr>,
        /// A strict mode makes errors of their warnings.
        strict: bool,
    },
    Do(Vec<Expr>),
    Insert(Box<InsertStatement>),
    Update(Box<UpdateStatement>),
    Delete(Box<DeleteStatement>),
    UpdateMany(Box<UpdateManyStatement>),
    DeleteMany(Box<DeleteManyStatement>),
    Explain(Box<ExplainStatement>),
}

impl Statement {
    /// Operators made of the plan.
    pub fn new(body: Body) -> Statement {
        let kind = match body {
            Body::Query(q, into) => Kind::Query(Box::new(build_query(*q)), into),
            Body::OneRow(q) => Kind::OneRow(Box::new(build_query(*q))),
            Body::Values(list) => Kind::Values { list, strict: false },
            Body::Do(list) => Kind::Do(list),
            Body::Insert(i) => Kind::Insert(Box::new(InsertStatement::new(*i))),
            Body::Update(u) => Kind::Update(Box::new(UpdateStatement::new(*u))),
            Body::Delete(d) => Kind::Delete(Box::new(DeleteStatement::new(*d))),
            Body::UpdateMany(u) => Kind::UpdateMany(Box::new(UpdateManyStatement::new(*u))),
            Body::Explain(e) => Kind::Explain(Box::new(ExplainStatement::new(*e))),
            Body::DeleteMany(d) => Kind::DeleteMany(Box::new(DeleteManyStatement::new(*d))),
        };
        Statement { kind, values: Vec::new() }
    }

    /// Expressions whose values are wanted, and nothing else.
    pub fn values(&self) -> &[Expr] {
        match &self.kind {
            Kind::Values { list, .. } => list,
            _ => unreachable!("planned for its values"),
        }
    }

    /// The values are stored, in columns if there are some: a strict mode makes errors of their warnings.
    #[inline]
    pub fn store_values(&mut self, column: Option<&DataType>) {
        if let Kind::Values { list, strict } = &mut self.kind
            && !*strict
        {
            *strict = true;
            if let (Some(column), [e]) = (column, &mut list[..]) {
                *e = store::column_into(std::mem::replace(e, Expr::null()), column.kind);
            }
        }
    }

    /// Runs the statement once; its rows go to `sink`.
    pub fn execute(&mut self, run: &Run<'_>, columns: &[ColumnMeta], sink: &mut dyn RowSink) -> Result<Outcome> {
        run.check_killed()?;
        match &mut self.kind {
            Kind::Query(q, into) if into.is_empty() => {
                q.forget();
                q.open(run, None)?;
                sink.columns(columns)?;
                let (mut rows, row) = (0, &mut self.values);
                q.each(run, &mut |outputs, at| {
                    rows += 1;
                    // The usual few columns go by the stack.
                    match outputs {
                        [a] => sink.row(&[a.eval(run, at)?])?,
                        [a, b] => sink.row(&[a.eval(run, at)?, b.eval(run, at)?])?,
                        [a, b, c] => sink.row(&[a.eval(run, at)?, b.eval(run, at)?, c.eval(run, at)?])?,
                        _ => {
                            let mut values = recycle(std::mem::take(row));
                            for e in outputs {
                                values.push(e.eval(run, at)?);
                            }
                            sink.row(&values)?;
                            *row = recycle(values);
                        }
                    }
                    run.evaluation.row.set(rows + 1);
                    Ok(Step::More)
                })?;
                Ok(Outcome { affected_rows: rows, found_rows: run.found_rows.get(), ..Outcome::default() })
            }
            Kind::Query(q, into) => select_into(q, into, run),
            Kind::OneRow(q) => {
                run.evaluation.strict.set(run.evaluation.sql_mode.is_strict());
                if !first_row(q, run)? {
                    return Ok(Outcome::default());
                }
                let mut values = Vec::with_capacity(q.outputs.len());
                for e in &q.outputs {
                    values.push(e.eval(run, Scope::new(&q.frame, None))?.into_owned());
                }
                run.check_strict()?;
                sink.row(&values)?;
                last_row(q, run)?;
                Ok(Outcome { affected_rows: 1, ..Outcome::default() })
            }
            Kind::Values { list, strict } => {
                run.evaluation.strict.set(*strict && run.evaluation.sql_mode.is_strict());
                let values: Result<Vec<Value<'_>>> =
                    list.iter().map(|e| e.eval(run, Scope::new(Frame::empty(), None))).collect();
                let values = values?;
                run.check_strict()?;
                sink.row(&values)?;
                Ok(Outcome::default())
            }
            Kind::Do(list) => {
                run.is_do.set(true);
                for e in list {
                    e.eval(run, Scope::new(Frame::empty(), None))?;
                }
                Ok(Outcome::default())
            }
            Kind::Insert(i) => changed(i.execute(run), run),
            Kind::Update(u) => changed(u.execute(run), run),
            Kind::Delete(d) => changed(d.execute(run), run),
            Kind::UpdateMany(u) => changed(u.execute(run), run),
            Kind::DeleteMany(d) => changed(d.execute(run), run),
            Kind::Explain(e) => e.execute(run, columns, sink),
        }
    }
}

/// How a changing statement ended: the first problem is its error, also if it showed in a condition that no row met.
fn changed(result: Result<Outcome>, run: &Run<'_>) -> Result<Outcome> {
    run.check_strict()?;
    result
}

/// Is there a row? Warning 1329 where there is none.
fn first_row(q: &mut Query, run: &Run<'_>) -> Result<bool> {
    q.forget();
    q.open(run, None)?;
    let found = q.next(run, None)?;
    if !found {
        run.push_warning(err!(ER_SP_FETCH_NO_DATA));
    }
    Ok(found)
}

/// Error 1172 where there is another row, when the first has been taken.
fn last_row(q: &mut Query, run: &Run<'_>) -> Result<()> {
    if q.next(run, None)? { Err(err!(ER_TOO_MANY_ROWS)) } else { Ok(()) }
}

/// SELECT ... INTO @a, @b: each is set before the next value is computed, which may read it.
fn select_into(q: &mut Query, names: &[String], run: &Run<'_>) -> Result<Outcome> {
    if !first_row(q, run)? {
        return Ok(Outcome::default());
    }
    for (name, e) in names.iter().zip(&q.outputs) {
        let value = e.eval(run, Scope::new(&q.frame, None))?.into_owned();
        run.env.borrow_mut().set_user_variable(name, value, e.ty);
    }
    last_row(q, run)?;
    Ok(Outcome { affected_rows: 1, ..Outcome::default() })
}
