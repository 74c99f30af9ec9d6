//! HANDLER: rows of one table in the order of an index, from a place that is kept from statement to statement.
//!
//! The place is a key, not a cursor: between two statements nothing is latched, locked or kept from being purged, and the
//! next one reads what is there by then.

use crate::build::build_subquery;
use crate::context::{Env, Outcome, RowSink};
use crate::limit::limit_value;
use crate::scan::ScanOp;
use crate::{Op, Run};
use catalog::{Table, Version};
use engine::{Read, Transaction};
use expr::{Execution, Expr, Frame, Scope, Shape, convert};
use plan::Planner;
use plan::handler::HandlerPlan;
use plan::node::{Access, Scan};
use sql::ast::{HandlerRead, HandlerStep, KeyComparison, Parsed};
use std::cell::RefCell;
use std::sync::Arc;
use types::{Result, SqlMode, StoreContext, TypeKind, Value, key};

/// Where the last READ has come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Nowhere yet: NEXT begins in front, PREV behind.
    #[default]
    Nowhere,
    /// At the entry of this key, which may be gone by now.
    At(Vec<u8>),
    /// Between entries: the next one is this key or greater.
    Before(Vec<u8>),
    /// Behind all entries.
    Behind,
}

/// A table that HANDLER ... OPEN has opened.
pub struct Handler {
    table: Arc<Table>,
    alias: String,
    /// Whose order the place is in; `None`: the table as it lies.
    index: Option<usize>,
    place: Place,
}

/// Keys from `lower` on, below `upper`; backward: the greatest first.
struct Stretch {
    lower: Vec<u8>,
    upper: Option<Vec<u8>>,
    backward: bool,
}

impl Handler {
    /// A table that HANDLER ... OPEN has just opened.
    pub fn new(table: Arc<Table>, alias: &str) -> Handler {
        Handler { table, alias: alias.to_string(), index: None, place: Place::Nowhere }
    }

    /// What HANDLER calls the table.
    pub fn alias(&self) -> &str {
        &self.alias
    }

    /// The table as it was when it was opened.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The table as it is now, which may be another one: reading starts anew then.
    pub fn follow(&mut self, table: Arc<Table>) {
        if (self.table.id, self.table.version) != (table.id, table.version) {
            self.place = Place::Nowhere;
        }
        self.table = table;
    }

    /// Forgets where it was.
    pub fn rewind(&mut self) {
        self.place = Place::Nowhere;
    }

    /// Reads on. Rows go to `sink`. Errors 1054, 1070, 1111, 1176, 1210 and those of expressions.
    pub fn read(
        &mut self,
        (parsed, read): (&Parsed, &HandlerRead),
        version: &Arc<Version>,
        tx: &mut Transaction,
        env: &mut dyn Env,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        let mut planner = Planner::new(parsed, version, env, &[]);
        let plan = planner.handler_read(&self.table, &self.alias, read)?;
        let (_, subqueries) = planner.finish();
        let subqueries: Vec<_> = subqueries.into_iter().map(|q| RefCell::new(build_subquery(q))).collect();
        let run = Run::new(tx, env, &[], &subqueries);
        let mut frame = Frame::new(vec![Shape::Row(self.table.clone())], Vec::new());
        sink.columns(&plan.columns)?;
        let number = |e: &Option<Expr>, default| match e {
            Some(e) => limit_value(e, &run, Scope::new(&frame, None)),
            None => Ok(default),
        };
        let (count, offset) = (number(&plan.count, 1)?, number(&plan.offset, 0)?);
        if count == 0 {
            return Ok(Outcome::default());
        }
        if plan.index != self.index {
            (self.index, self.place) = (plan.index, Place::Nowhere);
        }
        let stretch = self.stretch(read.step, &plan, &run, &frame)?;
        self.pass((count, offset), &plan, stretch, &run, &mut frame, sink)
    }

    fn pass(
        &mut self,
        (count, mut offset): (u64, u64),
        plan: &HandlerPlan,
        stretch: Option<Stretch>,
        run: &Run<'_>,
        frame: &mut Frame,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        let mut sent = 0;
        let Some(stretch) = stretch else { return Ok(Outcome::default()) };
        let mut scan = self.scan(stretch.backward);
        scan.open(run, frame, None)?;
        scan.seek(&stretch.lower, stretch.upper.as_deref(), stretch.backward);
        let mut last = None;
        while sent < count {
            run.check_interrupt()?;
            if !scan.next_entry(run, frame, None)? {
                // At the end of the stretch: behind what was read, or where it would have been.
                self.place = match (last.take(), stretch.backward) {
                    (Some(key), false) if stretch.upper.is_some() => Place::At(key),
                    (_, false) => stretch.upper.map_or(Place::Behind, Place::Before),
                    (_, true) => Place::Before(stretch.lower),
                };
                return Ok(Outcome { affected_rows: sent, ..Outcome::default() });
            }
            last = Some(scan.entry_key(frame).to_vec());
            let at = Scope::new(frame, None);
            let wanted = match &plan.filter {
                Some(e) => e.eval_bool(run, at)? == Some(true),
                None => true,
            };
            if !wanted {
                continue;
            }
            if offset > 0 {
                offset -= 1;
                continue;
            }
            let values = plan.outputs.iter().map(|e| e.eval(run, at)).collect::<Result<Vec<_>>>()?;
            sink.row(&values)?;
            sent += 1;
        }
        self.place = Place::At(last.expect("rows were sent"));
        Ok(Outcome { affected_rows: sent, ..Outcome::default() })
    }

    fn scan(&self, backward: bool) -> ScanOp {
        let index = self.index.unwrap_or(0);
        ScanOp::new(Scan {
            slot: 0,
            alias: self.alias.clone(),
            table: self.table.clone(),
            view: None,
            access: Access { index, ranges: Vec::new(), backward, ordered: true, loose: None, skip: None },
            read: Read::Consistent,
            covering: false,
            limit_hint: None,
            implied: None,
            rows: 1.0,
            filtered: 1.0,
            possible: Vec::new(),
            multi_range: false,
        })
    }

    /// `None`: no key is like that.
    fn stretch(&self, step: HandlerStep, plan: &HandlerPlan, run: &Run<'_>, frame: &Frame) -> Result<Option<Stretch>> {
        let up = |lower| Some(Stretch { lower, upper: None, backward: false });
        let down = |upper| Some(Stretch { lower: Vec::new(), upper, backward: true });
        Ok(match (step, &self.place) {
            (HandlerStep::First, _) | (HandlerStep::Next, Place::Nowhere) => up(Vec::new()),
            (HandlerStep::Last, _) | (HandlerStep::Prev, Place::Nowhere | Place::Behind) => down(None),
            (HandlerStep::Next, Place::At(key)) => up([key, &[0][..]].concat()),
            (HandlerStep::Next, Place::Before(key)) => up(key.clone()),
            (HandlerStep::Next, Place::Behind) => None,
            (HandlerStep::Prev, Place::At(key) | Place::Before(key)) => down(Some(key.clone())),
            (HandlerStep::Key(comparison, _), _) => {
                let Some(key) = self.encode(&plan.key, run, frame)? else { return Ok(None) };
                let behind = successor(&key);
                match comparison {
                    KeyComparison::Equal => Some(Stretch { lower: key, upper: behind, backward: false }),
                    KeyComparison::AtLeast => up(key),
                    KeyComparison::Above => behind.and_then(up),
                    KeyComparison::AtMost => down(behind),
                    KeyComparison::Below => down(Some(key)),
                }
            }
        })
    }

    /// The values as the index has them; `None`: NULL for a column that has none.
    fn encode(&self, values: &[Expr], run: &Run<'_>, frame: &Frame) -> Result<Option<Vec<u8>>> {
        let mut out = Vec::new();
        let index = &self.table.indexes[self.index.unwrap_or(0)];
        for (part, e) in index.parts.iter().zip(values) {
            let column = &self.table.columns[part.column];
            let value = e.eval(run, Scope::new(frame, None))?;
            if value.is_null() {
                if !part.key.data_type.nullable {
                    return Ok(None);
                }
                key::encode_part(&mut out, &part.key, &Value::Null);
                continue;
            }
            let context = StoreContext { mode: SqlMode::NONE, column: &column.name, row: 1, members: &column.members };
            let source = convert::source_type(&e.ty, &value);
            let (held, _) = types::coerce_for_store(value, &source, &column.data_type, &context)?;
            let held = match held {
                Value::DateTime(t) if column.data_type.kind == TypeKind::Timestamp => {
                    Value::DateTime(convert::to_utc(t, run).unwrap_or(t))
                }
                other => other,
            };
            key::encode_part(&mut out, &part.key, &held);
        }
        Ok(Some(out))
    }
}

/// The smallest key after all that begin with `key`; `None` when there is none.
fn successor(key: &[u8]) -> Option<Vec<u8>> {
    let end = key.iter().rposition(|b| *b != 0xFF)?;
    let mut next = key[..=end].to_vec();
    next[end] += 1;
    Some(next)
}
