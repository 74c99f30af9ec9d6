//! Queries inside: of a statement, in FROM, and of expressions (scalar, IN, EXISTS, ANY/ALL).

use crate::key_set::KeySet;
use crate::{Frame, Op, Run, Scope, Step, tuple};
use expr::compare;
use expr::key::encode_key;
use expr::operator::CmpOp;
use expr::{Execution, Expr, Node, Shape, reborrow};
use hashbrown::HashMap;
use observe::Counter;
use types::codes::*;
use types::{CollationId, Result, Value, err};

/// A query block ready to run.
pub struct Query {
    root: Box<dyn Op>,
    pub frame: Frame,
    pub outputs: Vec<Expr>,
    /// The slot whose tuple is the row that the outputs make.
    tuple: Option<usize>,
}

/// The slot whose tuples have all outputs, in their order, and nothing else.
fn tuple_of(frame: &Frame, outputs: &[Expr]) -> Option<usize> {
    let of = |e: &Expr| match e.node {
        Node::Column { depth: 0, slot, column } => Some((slot as usize, column as usize)),
        _ => None,
    };
    let (slot, _) = of(outputs.first()?)?;
    let is_whole = matches!(frame.slots[slot].shape, Shape::Tuple(n) if n == outputs.len());
    (is_whole && outputs.iter().enumerate().all(|(i, e)| of(e) == Some((slot, i)))).then_some(slot)
}

impl Query {
    /// Operators, the rows they fill, and what is computed of these.
    pub fn new(root: Box<dyn Op>, frame: Frame, outputs: Vec<Expr>) -> Query {
        let tuple = tuple_of(&frame, &outputs);
        Query { root, frame, outputs, tuple }
    }

    /// Before the first row. `outer`: the row of the query around.
    pub fn open(&mut self, run: &Run<'_>, outer: Option<&Scope<'_>>) -> Result<()> {
        self.root.open(run, &mut self.frame, outer)
    }

    /// The next row into the frame. False: there is none.
    #[inline]
    pub fn next(&mut self, run: &Run<'_>, outer: Option<&Scope<'_>>) -> Result<bool> {
        self.root.next(run, &mut self.frame, outer)
    }

    /// Passes all rows on, each with the output expressions.
    pub fn each(&mut self, run: &Run<'_>, receive: &mut dyn FnMut(&[Expr], Scope<'_>) -> Result<Step>) -> Result<()> {
        let Query { root, frame, outputs, .. } = self;
        root.each(run, frame, None, &mut |at| receive(outputs, at))
    }

    /// Passes all rows on as tuples. `bytes`: a buffer for those that have to be made.
    pub fn each_tuple(
        &mut self,
        run: &Run<'_>,
        outer: Option<&Scope<'_>>,
        bytes: &mut Vec<u8>,
        receive: &mut dyn FnMut(&[u8]) -> Result<Step>,
    ) -> Result<()> {
        let Query { root, frame, outputs, tuple } = self;
        root.each(run, frame, outer, &mut |at| {
            if let Some(slot) = *tuple
                && let (true, row, _) = at.slot(slot)
            {
                return receive(row);
            }
            bytes.clear();
            let mut w = tuple::Writer::new(bytes, outputs.len());
            for e in outputs.iter() {
                w.push(&e.eval(run, at)?);
            }
            w.finish();
            receive(bytes)
        })
    }

    /// Appends the current row as a tuple.
    pub fn write_row(&self, run: &Run<'_>, outer: Option<&Scope<'_>>, out: &mut Vec<u8>) -> Result<()> {
        let at = Scope::new(&self.frame, outer);
        if let Some(slot) = self.tuple
            && let (true, row, _) = at.slot(slot)
        {
            out.extend_from_slice(row);
            return Ok(());
        }
        let mut w = tuple::Writer::new(out, self.outputs.len());
        for e in &self.outputs {
            w.push(&e.eval(run, at)?);
        }
        w.finish();
        Ok(())
    }

    /// Rows kept from an earlier execution are dropped.
    pub fn forget(&mut self) {
        self.root.forget();
    }
}

/// A subquery of an expression. Its result is kept for the execution unless it reads columns from outside.
pub struct Subquery {
    query: Query,
    correlated: bool,
    /// Of its only row, the columns; whether they are those of the whole execution.
    row: Vec<Value<'static>>,
    is_row_kept: bool,
    /// IN: the set of rows.
    exists: Option<bool>,
    set: Option<RowSet>,
    key: Vec<u8>,
    cache: Cache,
}

/// Bytes of results that are kept, and how many are looked for before it is asked whether that is any use.
const CACHE_BYTES: usize = 1 << 20;
const TRIED: u64 = 256;

/// Results of a correlated subquery by the values that it reads from outside: few of them often come again and again.
#[derive(Default)]
struct Cache {
    /// Empty: nothing is kept.
    reads: Vec<Expr>,
    results: HashMap<Box<[u8]>, Box<[Value<'static>]>>,
    bytes: usize,
    asked: u64,
    found: u64,
    key: Vec<u8>,
}

impl Cache {
    /// The result for the row at hand; `None` when it is to be computed. Whether it may be kept then is in the second part.
    fn find(&mut self, run: &Run<'_>, at: Scope<'_>) -> Result<(Option<&[Value<'static>]>, bool)> {
        let useless = self.asked >= TRIED && self.found * 8 < self.asked;
        if self.reads.is_empty() || useless || run.writes {
            return Ok((None, false));
        }
        self.key.clear();
        let mut w = tuple::Writer::new(&mut self.key, self.reads.len());
        for e in &self.reads {
            w.push(&e.eval(run, at)?);
        }
        w.finish();
        self.asked += 1;
        let known = self.results.get(&self.key[..]);
        self.found += known.is_some() as u64;
        Ok((known.map(|row| &row[..]), known.is_none()))
    }

    /// Keeps the result for the values of the last `find`.
    fn keep(&mut self, row: &[Value<'static>]) {
        let heap = |v: &Value<'_>| if let Value::Bytes(b) = v { b.len() } else { 0 };
        let entry = size_of::<(Box<[u8]>, Box<[Value<'_>]>)>();
        let bytes = self.key.len() + row.iter().map(heap).sum::<usize>() + size_of_val(row) + entry;
        if self.bytes + bytes > CACHE_BYTES {
            self.results.clear();
            self.bytes = 0;
        }
        if bytes <= CACHE_BYTES / 16 {
            self.bytes += bytes;
            self.results.insert(self.key.clone().into_boxed_slice(), row.into());
        }
    }

    fn forget(&mut self) {
        if self.asked > 0 {
            *self = Cache { reads: std::mem::take(&mut self.reads), ..Cache::default() };
        }
    }
}

#[derive(Default)]
struct RowSet {
    keys: KeySet,
    rows: usize,
    has_null: bool,
}

impl Subquery {
    /// `reads`: what a correlated one reads from outside.
    pub fn new(query: Query, correlated: bool, reads: Vec<Expr>) -> Subquery {
        let cache = Cache { reads, ..Cache::default() };
        Subquery {
            query,
            correlated,
            row: Vec::new(),
            is_row_kept: false,
            exists: None,
            set: None,
            key: Vec::new(),
            cache,
        }
    }

    /// Before each execution of the statement.
    pub fn forget(&mut self) {
        self.is_row_kept = false;
        self.exists = None;
        self.set = None;
        self.cache.forget();
        self.query.forget();
    }
}

/// A column of a subquery's only row: NULL for no row, 1242 for more than one.
pub fn scalar<'a>(run: &'a Run<'_>, i: usize, column: usize, at: Scope<'_>) -> Result<Value<'a>> {
    let mut sub = run.subqueries[i].borrow_mut();
    let sub = &mut *sub;
    if sub.is_row_kept {
        return Ok(sub.row[column].clone());
    }
    let (known, may_keep) = sub.cache.find(run, at)?;
    if let Some(row) = known {
        return Ok(row[column].clone());
    }
    let warnings = run.evaluation.warnings.get();
    let _outside = run.outside();
    sub.query.open(run, Some(&at))?;
    sub.row.clear();
    if sub.query.next(run, Some(&at))? {
        let inner = Scope::new(&sub.query.frame, Some(&at));
        for e in &sub.query.outputs {
            sub.row.push(e.eval(run, inner)?.into_owned());
        }
        if sub.query.next(run, Some(&at))? {
            return Err(err!(ER_SUBQUERY_NO_1_ROW));
        }
    } else {
        sub.row.resize(sub.query.outputs.len(), Value::Null);
    }
    if !sub.correlated {
        sub.is_row_kept = true;
    } else if may_keep && run.evaluation.warnings.get() == warnings {
        sub.cache.keep(&sub.row);
    } else {
        return Ok(std::mem::replace(&mut sub.row[column], Value::Null));
    }
    Ok(sub.row[column].clone())
}

/// Does the subquery have a row for the row at hand?
pub fn exists(run: &Run<'_>, i: usize, at: Scope<'_>) -> Result<bool> {
    let mut sub = run.subqueries[i].borrow_mut();
    let sub = &mut *sub;
    if let Some(b) = sub.exists {
        return Ok(b);
    }
    let (known, may_keep) = sub.cache.find(run, at)?;
    if let Some(row) = known {
        return Ok(row[0].to_i64() != 0);
    }
    let warnings = run.evaluation.warnings.get();
    let _outside = run.outside();
    sub.query.open(run, Some(&at))?;
    let found = sub.query.next(run, Some(&at))?;
    if !sub.correlated {
        sub.exists = Some(found);
    } else if may_keep && run.evaluation.warnings.get() == warnings {
        sub.cache.keep(&[Value::Int(found as i64)]);
    }
    Ok(found)
}

/// `operands IN (subquery)`.
pub fn contains(
    run: &Run<'_>,
    i: usize,
    operands: &[Expr],
    collations: &[CollationId],
    at: Scope<'_>,
) -> Result<Option<bool>> {
    let mut values = Vec::with_capacity(operands.len());
    for e in operands {
        values.push(e.eval(run, at)?);
    }
    let mut sub = run.subqueries[i].borrow_mut();
    let sub = &mut *sub;
    let hashable = !sub.correlated
        && operands.iter().zip(&sub.query.outputs).zip(collations).all(|((a, b), collation)| {
            a.ty.kind == b.ty.kind
                && a.ty.unsigned == b.ty.unsigned
                && a.ty.decimals == b.ty.decimals
                && (!a.ty.kind.is_text() || (a.ty.collation == *collation && b.ty.collation == *collation))
        });
    if hashable {
        if sub.set.is_none() {
            let _outside = run.outside();
            let mut set = RowSet::default();
            observe::increment(Counter::CreatedTmpTables);
            sub.query.open(run, Some(&at))?;
            while sub.query.next(run, Some(&at))? {
                run.check_interrupt()?;
                let inner = Scope::new(&sub.query.frame, Some(&at));
                sub.key.clear();
                set.rows += 1;
                observe::increment(Counter::HandlerWrite);
                let mut null = false;
                for e in &sub.query.outputs {
                    let v = e.eval(run, inner)?;
                    null |= v.is_null();
                    encode_key(&mut sub.key, &v, &e.ty, false);
                }
                run.check_work(sub.key.len())?;
                if null {
                    set.has_null = true;
                } else {
                    set.keys.insert(run, &sub.key)?;
                }
            }
            sub.set = Some(set);
        }
        let set = sub.set.as_ref().expect("just made");
        observe::increment(Counter::HandlerReadKey);
        if set.rows == 0 {
            return Ok(Some(false));
        }
        // NULLs in rows of several columns match column by column: below.
        if operands.len() == 1 || !(set.has_null || values.iter().any(Value::is_null)) {
            if values.iter().any(Value::is_null) {
                return Ok(None);
            }
            sub.key.clear();
            for (v, e) in values.iter().zip(&sub.query.outputs) {
                encode_key(&mut sub.key, v, &e.ty, false);
            }
            if set.keys.contains(&sub.key) {
                return Ok(Some(true));
            }
            return Ok(if set.has_null { None } else { Some(false) });
        }
    }
    let mut unknown = false;
    let _outside = run.outside();
    sub.query.open(run, Some(&at))?;
    while sub.query.next(run, Some(&at))? {
        run.check_interrupt()?;
        let inner = Scope::new(&sub.query.frame, Some(&at));
        let mut all = Some(true);
        for ((v, e), collation) in values.iter().zip(&sub.query.outputs).zip(collations) {
            let w = e.eval(run, inner)?;
            if v.is_null() || w.is_null() {
                all = all.and(None);
            } else if compare::values(v, &w, *collation, run)?.is_ne() {
                all = Some(false);
                break;
            }
        }
        match all {
            Some(true) => return Ok(Some(true)),
            None => unknown = true,
            Some(false) => {}
        }
    }
    Ok(if unknown { None } else { Some(false) })
}

/// `operand op ALL (subquery)` or ANY.
pub fn quantified(
    run: &Run<'_>,
    i: usize,
    op: CmpOp,
    all: bool,
    operand: &Expr,
    collation: CollationId,
    at: Scope<'_>,
) -> Result<Option<bool>> {
    let value = operand.eval(run, at)?;
    let value = reborrow(&value);
    let mut sub = run.subqueries[i].borrow_mut();
    let sub = &mut *sub;
    let mut unknown = false;
    let _outside = run.outside();
    sub.query.open(run, Some(&at))?;
    while sub.query.next(run, Some(&at))? {
        run.check_interrupt()?;
        let inner = Scope::new(&sub.query.frame, Some(&at));
        let w = sub.query.outputs[0].eval(run, inner)?;
        if value.is_null() || w.is_null() {
            unknown = true;
        } else if op.holds(compare::values(&value, &w, collation, run)?) != all {
            return Ok(Some(!all));
        }
    }
    Ok(if unknown { None } else { Some(all) })
}
