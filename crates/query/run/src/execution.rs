//! One execution of a statement: what its operators share.

use crate::Env;
use crate::context::Kept;
use crate::spill::{Room, WorkingTable};
use crate::subquery::Subquery;
use catalog::error;
use engine::{Isolation, LockMode, Read, Savepoint, Transaction, Wait};
use expr::{Evaluation, Execution, Expr, Frame, Scope};
use observe::Counter;
use plan::constant::Constant;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use types::codes::*;
use types::{Result, SqlError, SqlMode, Value};

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

/// How rows are read that are to be written.
pub const LOCKING: engine::Read =
    engine::Read::Locking { mode: engine::LockMode::Exclusive, wait: engine::Wait::Block };

/// What one operator did in all its loops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub loops: u64,
    pub rows: u64,
    /// Nanoseconds until the first rows and until the ends.
    pub first_ns: u64,
    pub total_ns: u64,
}

/// What all operators of one execution share: its fields are what each of them would be given one by one.
pub struct Run<'x> {
    /// What its expressions share.
    pub evaluation: Evaluation<'x>,
    /// The transaction at hand: see [`crate::beside`].
    pub tx: RefCell<&'x mut Transaction>,
    /// The other one of a statement with tables of both kinds.
    pub(crate) beside: Cell<Option<&'x mut Transaction>>,
    pub(crate) has_beside: bool,
    /// Is the one at hand that of tables which are not transactional?
    pub(crate) is_beside: Cell<bool>,
    pub env: RefCell<&'x mut dyn Env>,
    pub subqueries: &'x [RefCell<Subquery>],
    /// What routines keep from one of the statement's calls to the next.
    pub(crate) at_hand: RefCell<Vec<Box<dyn Kept>>>,
    /// Constant conditions that are asked first.
    pub constants: &'x [Constant],
    /// An INSERT, UPDATE or DELETE.
    pub writes: bool,
    /// A DO.
    pub is_do: Cell<bool>,
    /// Routines that it calls change rows.
    pub writes_within: bool,
    /// The statement is a routine's: an error leaves the rows that it has written.
    pub keeps_rows: bool,
    /// Where that is so: what the row goes back to that is being written.
    pub(crate) unfinished: Cell<Option<Savepoint>>,
    pub plain_reads: PlainReads,
    /// Rows without the LIMIT, where SQL_CALC_FOUND_ROWS asks for them.
    pub found_rows: Cell<Option<u64>>,
    /// Rows of recursive common table expressions, by number.
    pub working: RefCell<Vec<WorkingTable>>,
    /// EXPLAIN ANALYZE: by number of the node.
    pub counts: RefCell<Vec<Count>>,
    /// Rows that an UPDATE of one table has read and WHERE refused: warnings count them too.
    pub refused: Cell<u64>,
    /// Schema and name of the view that rows are inserted through.
    pub target_view: RefCell<Option<Arc<(String, String)>>>,
}

impl<'x> Run<'x> {
    /// What an execution begins with.
    #[inline]
    pub fn new(
        tx: &'x mut Transaction,
        env: &'x mut dyn Env,
        params: &'x [Value<'x>],
        subqueries: &'x [RefCell<Subquery>],
    ) -> Run<'x> {
        Run {
            evaluation: Evaluation::new(params, env.now_us(), SqlMode(env.sql_mode())),
            tx: RefCell::new(tx),
            beside: Cell::new(None),
            has_beside: false,
            is_beside: Cell::new(false),
            env: RefCell::new(env),
            subqueries,
            at_hand: RefCell::new(Vec::new()),
            constants: &[],
            writes: false,
            is_do: Cell::new(false),
            writes_within: false,
            keeps_rows: false,
            unfinished: Cell::new(None),
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
    pub fn evaluate_constants(&self) -> Result<()> {
        if self.constants.is_empty() { Ok(()) } else { self.ask(self.constants.iter()) }
    }

    /// Evaluates constants that are to be known before any row is read.
    #[cold]
    pub fn ask<'f>(&self, constants: impl Iterator<Item = &'f Constant>) -> Result<()> {
        for constant in constants {
            // Not as a condition: only what one is asks whether it is true.
            constant.expr.eval(self, Scope::new(Frame::empty(), None))?;
        }
        self.check_strict()
    }

    /// The values of parameters have come with warnings. `asked`: parameters that MySQL asks for while it optimizes.
    #[cold]
    pub fn ask_for_parameters(&self, asked: &[Expr]) -> Result<()> {
        self.evaluation.has_untold.set(true);
        asked.iter().try_for_each(|e| e.eval(self, Scope::new(Frame::empty(), None)).map(drop))
    }

    /// Are arguments of stored functions stored under the strict mode that is set? Not with IGNORE, and not in DO.
    pub fn stores_arguments(&self) -> bool {
        self.evaluation.strict.get() || !self.writes && !self.is_do.get() && self.evaluation.sql_mode.is_strict()
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

impl Room for Run<'_> {
    #[inline]
    fn must_spill(&self, bytes: usize, max: usize) -> bool {
        bytes > max || bytes > IN_MEMORY_BYTES_MIN && sync::memory::is_tight()
    }

    #[cold]
    fn temp_file(&self) -> Result<cipher::Scratch> {
        self.evaluation.holds_much.set(true);
        observe::increment(Counter::CreatedTmpFiles);
        let directory = match self.env.borrow().system_variable(Some(true), "tmpdir")?.0 {
            Value::Bytes(b) => String::from_utf8_lossy(&b).into_owned(),
            _ => "/tmp".to_string(),
        };
        cipher::Scratch::new(&directory).map_err(|e| {
            SqlError::new(EE_CANTCREATEFILE, format!("Can't create/write to file '{directory}' (OS errno - {e})"))
        })
    }
}
