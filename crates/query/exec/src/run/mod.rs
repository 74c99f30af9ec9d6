//! Operators: each pulls rows from its inputs and leaves its own in the slots of a [`Frame`].
//!
//! A row is no vector of values ([`expr::row`]): a join's row is the slots of its tables side by side. Buffers belong to the plan and
//! are used again by the next execution, unless they have grown great or go on in files: then the operators go when the execution
//! ends ([`Run::holds_much`]).

pub mod batched;
pub mod beside;
pub mod build;
pub mod change;
pub mod counted;
pub mod entries;
pub mod fields;
pub mod flow;
mod gate;
pub mod group;
mod held;
pub mod index_merge;
pub mod insert;
mod intersection;
pub mod join;
pub mod json_table;
pub mod load;
pub mod logged;
pub mod long;
pub mod loose;
pub mod many;
pub mod multi_range;
pub mod recursive;
pub mod rules;
pub mod scan;
pub mod skip;
pub mod sort;
pub mod spill;
pub mod subquery;
pub mod window;
pub mod write;

pub use build::Statement;

use crate::context::Env;
use catalog::{Table, error};
use engine::{Isolation, LockMode, Read, Transaction, Wait};
use expr::compare::CmpOp;
use expr::{Evaluation, Execution, Expr, Frame, Scope, Shape, tuple};
use observe::Counter;
use plan::constant::Foreseen;
use std::cell::{Cell, RefCell, RefMut};
use std::sync::Arc;
use std::time::Duration;
use types::{CollationId, Result, SqlError, SqlMode, Value};

/// What one operator keeps in memory at most before it goes on in a file: offsets in buffers have 32 bits.
const IN_MEMORY_BYTES_MAX: u64 = 1 << 30;

/// What an operator keeps in memory though the statement has little left.
const IN_MEMORY_BYTES_MIN: usize = 1 << 20;

/// How tables without a locking clause are read, by the kind of statement: what InnoDB's `store_lock` decides. What a statement writes
/// rests on what is there and stays so, unless MySQL takes a snapshot's word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainReads {
    /// SELECT: from the snapshot, at SERIALIZABLE with shared locks.
    Query,
    /// INSERT, REPLACE and CREATE TABLE with a query, and UPDATE of one table: with shared locks from REPEATABLE READ on.
    Source,
    /// All other statements, SET and DO too: with shared locks.
    Locked,
}

/// What all operators of one execution share.
pub struct Run<'x> {
    /// What its expressions share.
    pub evaluation: Evaluation<'x>,
    /// The transaction at hand: see [`beside`].
    pub tx: RefCell<&'x mut Transaction>,
    /// The other one of a statement with tables of both kinds.
    beside: Cell<Option<&'x mut Transaction>>,
    has_beside: bool,
    /// Is the one at hand that of tables which are not transactional?
    is_beside: Cell<bool>,
    pub env: RefCell<&'x mut dyn Env>,
    pub subqueries: &'x [RefCell<subquery::Subquery>],
    /// Constant conditions that are asked first.
    pub foreseen: &'x [Foreseen],
    /// An INSERT, UPDATE or DELETE.
    pub writes: bool,
    pub plain_reads: PlainReads,
    /// Rows without the LIMIT, where SQL_CALC_FOUND_ROWS asks for them.
    pub found_rows: Cell<Option<u64>>,
    /// Rows of recursive common table expressions, by number.
    pub working: RefCell<Vec<recursive::WorkingTable>>,
    /// EXPLAIN ANALYZE: by number of the node.
    pub counts: RefCell<Vec<counted::Count>>,
    /// Rows that an UPDATE of one table has read and WHERE refused: warnings count them too.
    pub refused: Cell<u64>,
    /// Schema and name of the view that rows are inserted through.
    pub target_view: RefCell<Option<Arc<(String, String)>>>,
}

impl Execution for Run<'_> {
    #[inline]
    fn evaluation(&self) -> &Evaluation<'_> {
        &self.evaluation
    }

    fn session(&self) -> RefMut<'_, dyn expr::Env + '_> {
        RefMut::map(self.env.borrow_mut(), |env| -> &mut (dyn expr::Env + '_) { &mut **env })
    }

    fn absent<'t>(&self, table: &'t Table, row: &[u8], column: usize) -> Result<Value<'t>> {
        long::absent(&self.tx.borrow(), table, row, column)
    }

    fn scalar(&self, query: usize, column: usize, at: Scope<'_>) -> Result<Value<'_>> {
        subquery::scalar(self, query, column, at)
    }

    fn exists(&self, query: usize, at: Scope<'_>) -> Result<bool> {
        subquery::exists(self, query, at)
    }

    fn contains(
        &self,
        query: usize,
        operands: &[Expr],
        collations: &[CollationId],
        at: Scope<'_>,
    ) -> Result<Option<bool>> {
        subquery::contains(self, query, operands, collations, at)
    }

    fn quantified(
        &self,
        query: usize,
        op: CmpOp,
        all: bool,
        operand: &Expr,
        collation: CollationId,
        at: Scope<'_>,
    ) -> Result<Option<bool>> {
        subquery::quantified(self, query, op, all, operand, collation, at)
    }

    fn interrupt(&self) -> u8 {
        self.tx.borrow().interrupt().reason()
    }

    fn sleep(&self, time: Duration) -> bool {
        let interrupt = Arc::clone(self.tx.borrow().interrupt());
        interrupt.arm();
        interrupt.sleep(time) != engine::Slept::Interrupted
    }

    fn get_lock(&self, name: &str, timeout: Duration) -> Result<bool> {
        self.env.borrow_mut().get_lock(name, timeout, &mut self.tx.borrow_mut())
    }
}

impl<'x> Run<'x> {
    pub fn new(
        tx: &'x mut Transaction,
        env: &'x mut dyn Env,
        params: &'x [Value<'x>],
        subqueries: &'x [RefCell<subquery::Subquery>],
    ) -> Run<'x> {
        Run {
            evaluation: Evaluation::new(params, env.now_us(), SqlMode(env.sql_mode())),
            tx: RefCell::new(tx),
            beside: Cell::new(None),
            has_beside: false,
            is_beside: Cell::new(false),
            env: RefCell::new(env),
            subqueries,
            foreseen: &[],
            writes: false,
            plain_reads: PlainReads::Query,
            found_rows: Cell::new(None),
            working: RefCell::new(Vec::new()),
            counts: RefCell::new(Vec::new()),
            refused: Cell::new(0),
            target_view: RefCell::new(None),
        }
    }

    /// The statement has tables of both kinds.
    pub fn set_beside(&mut self, beside: &'x mut Transaction) {
        self.beside = Cell::new(Some(beside));
        self.has_beside = true;
    }

    /// Asks the constants that MySQL asks while it plans: their warnings and errors come also where no row does.
    #[inline]
    pub fn foresee(&self) -> Result<()> {
        if self.foreseen.is_empty() { Ok(()) } else { self.ask(self.foreseen.iter()) }
    }

    #[cold]
    pub fn ask<'f>(&self, constants: impl Iterator<Item = &'f Foreseen>) -> Result<()> {
        let frame = Frame::new(Vec::new(), Vec::new());
        for constant in constants {
            // Not as a condition: only what one is asks whether it is true.
            constant.expr.eval(self, Scope::new(&frame, None))?;
        }
        self.check_strict()
    }

    /// The values of parameters have come with warnings. `asked`: parameters that MySQL asks for while it optimizes.
    #[cold]
    pub fn ask_for_parameters(&self, asked: &[Expr]) -> Result<()> {
        self.evaluation.has_untold.set(true);
        let frame = Frame::new(Vec::new(), Vec::new());
        asked.iter().try_for_each(|e| e.eval(self, Scope::new(&frame, None)).map(drop))
    }

    /// Has an operator's buffer of so many bytes to go on in a file? Beyond `max`, and earlier where the statement has little left.
    #[inline]
    pub fn must_spill(&self, bytes: usize, max: usize) -> bool {
        bytes > max || bytes > IN_MEMORY_BYTES_MIN && sync::memory::is_tight()
    }

    /// Have the operators files or buffers that are not to outlive the execution?
    pub fn holds_much(&self) -> bool {
        self.evaluation.holds_much.get()
    }

    /// Bytes of a temporary table in memory: what has more goes on in a file.
    pub fn tmp_memory(&self) -> usize {
        self.env.borrow().tmp_memory().min(IN_MEMORY_BYTES_MAX) as usize
    }

    /// The same of a sort.
    pub fn sort_memory(&self) -> usize {
        self.env.borrow().sort_buffer_size().min(IN_MEMORY_BYTES_MAX) as usize
    }

    /// `max_sort_length`.
    pub fn max_sort_length(&self) -> usize {
        self.env.borrow().max_sort_length().min(IN_MEMORY_BYTES_MAX) as usize
    }

    /// A temporary file in `tmpdir`. Errors 1 (no such directory) and 3.
    #[cold]
    pub fn temp_file(&self) -> Result<cipher::Scratch> {
        self.evaluation.holds_much.set(true);
        observe::increment(Counter::CreatedTmpFiles);
        let directory = match self.env.borrow().system_variable(Some(true), "tmpdir")?.0 {
            Value::Bytes(b) => String::from_utf8_lossy(&b).into_owned(),
            _ => "/tmp".to_string(),
        };
        cipher::Scratch::new(&directory)
            .map_err(|e| SqlError::new(1, format!("Can't create/write to file '{directory}' (OS errno - {e})")))
    }

    /// An engine error on the way to the client.
    #[cold]
    pub fn engine_error(&self, e: engine::Error) -> SqlError {
        error::engine(e)
    }

    /// How a table without a locking clause is read: see [`PlainReads`]. A SELECT at SERIALIZABLE that is a transaction of its own
    /// takes no locks, its snapshot serialises it.
    #[inline]
    pub fn plain_read(&self) -> Read {
        let isolation = self.tx.borrow().isolation();
        let locks = match self.plain_reads {
            PlainReads::Query => isolation == Isolation::Serializable && !self.env.borrow().is_single_statement(),
            PlainReads::Source => isolation > Isolation::ReadCommitted,
            PlainReads::Locked => true,
        };
        if locks { Read::Locking { mode: LockMode::Shared, wait: Wait::Block } } else { Read::Consistent }
    }
}

/// The value that a row written before the column was added has for it.
#[cold]
pub fn added_column(table: &Table, column: usize) -> Value<'_> {
    expr::reborrow(table.initial_value(column))
}

/// An empty vector for values of another lifetime, in the memory of the old one.
pub fn recycle<'b>(mut values: Vec<Value<'_>>) -> Vec<Value<'b>> {
    values.clear();
    // Collecting in place: the element types differ in lifetime only, so the allocation is kept.
    values.into_iter().map(|_| unreachable!("cleared")).collect()
}

/// What the receiver of a row says to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    More,
    /// More, and this row was not wanted: a row lock that it took is given back, where the isolation level allows.
    Reject,
    Stop,
}

/// What has become of a row that was read without its lock, once it is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It was locked already, or needs no lock.
    AsRead,
    /// It is in the slot as it is now, and still wanted.
    Changed,
    /// It is no longer there, or no longer wanted.
    Gone,
}

/// A receiver of rows.
pub type Receive<'r> = dyn FnMut(Scope<'_>) -> Result<Step> + 'r;

/// A source of rows. `open` starts it, again if it ran before. Then either `next` leaves a row in the frame's slots and
/// says true, or `each` passes all rows on, borrowed from where they lie.
pub trait Op: Send {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()>;
    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool>;
    /// Passes the rows on until there is none or the receiver stops.
    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        while self.next(run, frame, outer)? {
            match receive(Scope::new(frame, outer))? {
                Step::More => {}
                Step::Reject => self.reject(run),
                Step::Stop => break,
            }
        }
        Ok(())
    }
    /// The last row of `next` is wanted, and is about to be written: locks it if it was read without.
    fn settle(&mut self, _run: &Run<'_>, _frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<Settled> {
        Ok(Settled::AsRead)
    }
    /// The last row was not wanted: gives back a row lock that it took, where the isolation level allows.
    fn reject(&mut self, _run: &Run<'_>) {}
    /// A new execution begins: results kept over several openings are out of date.
    fn forget(&mut self) {}
}
