//! Operators: each pulls rows from its inputs and leaves its own in the slots of a [`Frame`].
//!
//! A row at run time is not a vector of values. A *slot* holds one table's current row as the bytes that the engine gave
//! (or one intermediate result as a [`tuple`]), and an expression reads the columns that it needs straight from there. A
//! join's row is the slots of its tables side by side. Buffers belong to the plan and are used again by the next
//! execution, unless they have grown great or go on in files: then the operators go when the execution ends ([`Run::holds_much`]).

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
pub mod tuple;
pub mod window;
pub mod write;

pub use build::Statement;

use crate::context::Env;
use crate::error;
use crate::expr::Expr;
use crate::plan::{constant::Foreseen, print::SlotNames};
use catalog::Table;
use engine::{Isolation, LockMode, Read, Transaction, Wait};
use observe::Counter;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use sync::memory::Excess;
use types::{Result, SqlError, Value};

/// What one operator keeps in memory at most before it goes on in a file: offsets in buffers have 32 bits.
const IN_MEMORY_BYTES_MAX: u64 = 1 << 30;

/// What an operator keeps in memory though the statement has little left.
const IN_MEMORY_BYTES_MIN: usize = 1 << 20;

/// A value that functions take some hundred microseconds for.
const LONG_BYTES: usize = 1 << 16;

/// The least that `max_allowed_packet` can be.
const LEAST_PACKET: usize = 1024;

/// Bytes of a buffer that a plan may keep for its next execution.
const KEPT_BYTES_MAX: usize = 1 << 20;

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

/// What all operators and expressions of one execution share.
pub struct Run<'x> {
    /// The transaction at hand: see [`beside`].
    pub tx: RefCell<&'x mut Transaction>,
    /// The other one of a statement with tables of both kinds.
    beside: Cell<Option<&'x mut Transaction>>,
    has_beside: bool,
    /// Is the one at hand that of tables which are not transactional?
    is_beside: Cell<bool>,
    pub env: RefCell<&'x mut dyn Env>,
    pub params: &'x [Value<'x>],
    pub subqueries: &'x [RefCell<subquery::Subquery>],
    /// Constant conditions that are asked first.
    pub foreseen: &'x [Foreseen],
    /// `NOW()`: microseconds since 1970 UTC at the statement's start.
    pub now_us: i64,
    pub sql_mode: types::sql_mode::SqlMode,
    /// Conversion problems are errors (a strict INSERT or UPDATE), warnings else.
    pub strict: Cell<bool>,
    /// The first of them in this statement.
    strict_error: RefCell<Option<Box<SqlError>>>,
    /// An INSERT, UPDATE or DELETE.
    pub writes: bool,
    pub plain_reads: PlainReads,
    /// Are there warnings of parameters that nobody has asked for yet?
    pub has_untold: Cell<bool>,
    /// The statement has no table.
    pub reads_nothing: bool,
    /// State of RAND() with a constant seed, by call site; and of RAND() without one.
    pub random: Cell<u64>,
    /// What functions remember during the execution.
    pub scratch: crate::expr::functions::Scratch,
    steps: Cell<u32>,
    /// `div_precision_increment`, once a division has asked for it.
    div_increment: Cell<Option<u32>>,
    /// `group_concat_max_len`, once GROUP_CONCAT has asked for it.
    group_concat_max: Cell<Option<usize>>,
    /// `max_allowed_packet`, once a longer result than any could be has asked for it.
    max_packet: Cell<Option<usize>>,
    /// Warnings raised so far, for the `info` of the outcome.
    pub warnings: Cell<u64>,
    /// Rows without the LIMIT, where SQL_CALC_FOUND_ROWS asks for them.
    pub found_rows: Cell<Option<u64>>,
    /// Rows of recursive common table expressions, by number.
    pub working: RefCell<Vec<recursive::WorkingTable>>,
    /// EXPLAIN ANALYZE: by number of the node.
    pub counts: RefCell<Vec<counted::Count>>,
    /// What LAST_INSERT_ID(expr) was given in this statement.
    pub given_id: Cell<Option<u64>>,
    /// Rows that an UPDATE of one table has read and WHERE refused: warnings count them too.
    pub refused: Cell<u64>,
    /// Schema and name of the view that rows are inserted through.
    pub target_view: RefCell<Option<Arc<(String, String)>>>,
    /// Operators have opened a temporary file, or a buffer has grown beyond [`KEPT_BYTES_MAX`].
    holds_much: Cell<bool>,
}

impl<'x> Run<'x> {
    pub fn new(
        tx: &'x mut Transaction,
        env: &'x mut dyn Env,
        params: &'x [Value<'x>],
        subqueries: &'x [RefCell<subquery::Subquery>],
    ) -> Run<'x> {
        let (now_us, mode) = (env.now_us(), env.sql_mode());
        Run {
            tx: RefCell::new(tx),
            beside: Cell::new(None),
            has_beside: false,
            is_beside: Cell::new(false),
            env: RefCell::new(env),
            params,
            subqueries,
            foreseen: &[],
            now_us,
            sql_mode: types::sql_mode::SqlMode(mode),
            strict: Cell::new(false),
            strict_error: RefCell::new(None),
            writes: false,
            plain_reads: PlainReads::Query,
            has_untold: Cell::new(false),
            reads_nothing: false,
            random: Cell::new(0),
            scratch: Default::default(),
            steps: Cell::new(0),
            div_increment: Cell::new(None),
            group_concat_max: Cell::new(None),
            max_packet: Cell::new(None),
            warnings: Cell::new(0),
            found_rows: Cell::new(None),
            working: RefCell::new(Vec::new()),
            counts: RefCell::new(Vec::new()),
            given_id: Cell::new(None),
            refused: Cell::new(0),
            target_view: RefCell::new(None),
            holds_much: Cell::new(false),
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
        self.has_untold.set(true);
        let frame = Frame::new(Vec::new(), Vec::new());
        asked.iter().try_for_each(|e| e.eval(self, Scope::new(&frame, None)).map(drop))
    }

    /// Somebody asks for a parameter's value.
    #[cold]
    pub fn tell_of_parameter(&self, parameter: usize) {
        let (told, more) = self.env.borrow_mut().untold(parameter);
        self.has_untold.set(more);
        for (code, message) in told {
            self.tell(code, message);
        }
    }

    /// An operator's buffer (groups, distinct keys, a hash join's side, rows about to change) has grown to so many bytes. Errors of
    /// [`error::check_memory`].
    #[inline]
    pub fn check_growth(&self, bytes: usize) -> Result<()> {
        if bytes <= KEPT_BYTES_MAX { Ok(()) } else { self.check_great_growth(bytes) }
    }

    #[cold]
    fn check_great_growth(&self, bytes: usize) -> Result<()> {
        self.holds_much.set(true);
        // Operators count bytes in 32 bits.
        if bytes > u32::MAX as usize {
            return Err(error::out_of_memory(Excess::Statement { limit: u32::MAX.into() }));
        }
        error::check_memory()
    }

    /// Has an operator's buffer of so many bytes to go on in a file? Beyond `max`, and earlier where the statement has little left.
    #[inline]
    pub fn must_spill(&self, bytes: usize, max: usize) -> bool {
        bytes > max || bytes > IN_MEMORY_BYTES_MIN && sync::memory::is_tight()
    }

    /// Have the operators files or buffers that are not to outlive the execution?
    pub fn holds_much(&self) -> bool {
        self.holds_much.get()
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

    /// A numeric variable of the session.
    #[cold]
    pub fn variable(&self, name: &str) -> u64 {
        let value = self.env.borrow().system_variable(None, name);
        value.expect("the executor asks for variables that there are").0.to_u64()
    }

    /// Would a function's result of so many bytes be longer than `max_allowed_packet`? It is NULL then, with warning 1301. Errors of
    /// [`error::check_memory`] if it is not, and more than the statement may take.
    #[inline]
    pub fn outgrows_packet(&self, function: &str, bytes: usize) -> Result<bool> {
        if bytes <= LEAST_PACKET { Ok(false) } else { self.outgrows_set_packet(function, bytes) }
    }

    /// `max_allowed_packet`.
    pub fn max_packet(&self) -> usize {
        let max = self.max_packet.get().unwrap_or_else(|| self.variable("max_allowed_packet") as usize);
        self.max_packet.set(Some(max));
        max
    }

    #[cold]
    fn outgrows_set_packet(&self, function: &str, bytes: usize) -> Result<bool> {
        let max = self.max_packet();
        if bytes > max {
            self.warn(1301, format!("Result of {function}() was larger than max_allowed_packet ({max}) - truncated"));
            return Ok(true);
        }
        error::check_memory_for(bytes).map(|()| false)
    }

    /// `group_concat_max_len`.
    pub fn group_concat_max(&self) -> usize {
        if let Some(known) = self.group_concat_max.get() {
            return known;
        }
        let most = usize::try_from(self.variable("group_concat_max_len")).unwrap_or(usize::MAX);
        self.group_concat_max.set(Some(most));
        most
    }

    /// `div_precision_increment`.
    pub fn div_increment(&self) -> u32 {
        if let Some(known) = self.div_increment.get() {
            return known;
        }
        let increment = self.variable("div_precision_increment") as u32;
        self.div_increment.set(Some(increment));
        increment
    }

    /// A temporary file in `tmpdir`. Errors 1 (no such directory) and 3.
    #[cold]
    pub fn temp_file(&self) -> Result<cipher::Scratch> {
        self.holds_much.set(true);
        observe::increment(Counter::CreatedTmpFiles);
        let directory = match self.env.borrow().system_variable(Some(true), "tmpdir")?.0 {
            Value::Bytes(b) => String::from_utf8_lossy(&b).into_owned(),
            _ => "/tmp".to_string(),
        };
        cipher::Scratch::new(&directory)
            .map_err(|e| SqlError::new(1, format!("Can't create/write to file '{directory}' (OS errno - {e})")))
    }

    /// A warning, or the statement's error: see [`Run::check_strict`].
    pub fn warn(&self, code: u16, message: impl Into<String>) {
        let message = message.into();
        if self.strict.get() && is_strict(code) {
            self.strict_error.borrow_mut().get_or_insert_with(|| Box::new(SqlError::new(code, message)));
            return;
        }
        self.tell(code, message);
    }

    /// A warning that is one in strict statements, too.
    pub fn tell(&self, code: u16, message: String) {
        self.warnings.set(self.warnings.get() + 1);
        self.env.borrow_mut().warn("Warning", code, message);
    }

    /// A note, which is counted with the warnings.
    pub fn note(&self, code: u16, message: String) {
        self.warnings.set(self.warnings.get() + 1);
        self.env.borrow_mut().warn("Note", code, message);
    }

    /// Warnings so far, with those of who read the statement.
    pub fn warning_count(&self) -> u64 {
        self.env.borrow().warning_count().max(self.warnings.get())
    }

    /// Says the error that a warning became in other words.
    pub fn retell_strict(&self, tell: impl FnOnce(SqlError) -> SqlError) {
        if let Some(e) = self.strict_error.borrow_mut().as_deref_mut() {
            *e = tell(e.clone());
        }
    }

    /// The error that a warning became since the statement is a strict INSERT, UPDATE or DELETE.
    #[inline]
    pub fn check_strict(&self) -> Result<()> {
        match self.strict_error.borrow().as_deref() {
            Some(e) => Err(e.clone()),
            None => Ok(()),
        }
    }

    /// An engine error on the way to the client.
    #[cold]
    pub fn engine_error(&self, e: engine::Error) -> SqlError {
        error::engine(e)
    }

    /// Has somebody killed this query, or has it too much memory? Looked at by operators that may work long without asking the engine.
    pub fn check_interrupt(&self) -> Result<()> {
        let n = self.steps.get().wrapping_add(1);
        self.steps.set(n);
        if !n.is_multiple_of(256) {
            return Ok(());
        }
        self.check_interrupt_now()
    }

    /// A value of so many bytes is about to be worked on: of long ones a few hundred rows take long.
    #[inline]
    pub fn check_work(&self, bytes: usize) -> Result<()> {
        if bytes < LONG_BYTES { Ok(()) } else { self.check_interrupt_now() }
    }

    #[inline]
    pub fn check_interrupt_now(&self) -> Result<()> {
        error::check_memory()?;
        self.check_killed()
    }

    #[inline]
    pub fn check_killed(&self) -> Result<()> {
        match self.tx.borrow().interrupt().reason() {
            0 => Ok(()),
            state => Err(error::interrupted(state)),
        }
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

    /// Seconds east of UTC of the session's time zone at `unix_seconds`.
    pub fn zone_offset(&self, unix_seconds: i64) -> i64 {
        self.env.borrow().time_zone_offset(unix_seconds) as i64
    }
}

/// Does a strict INSERT, UPDATE or DELETE take this warning for an error?
#[cold]
fn is_strict(code: u16) -> bool {
    const CODES: [u16; 20] = [
        1048, 1071, 1260, 1261, 1262, 1263, 1264, 1265, 1292, 1301, 1364, 1365, 1366, 1406, 1411, 1423, 1441, 3020,
        3155, 3156,
    ];
    CODES.contains(&code)
}

/// The current rows of a query block's tables.
pub struct Frame {
    pub slots: Vec<Slot>,
    /// What errors call the columns of slots.
    names: Vec<SlotNames>,
}

/// An empty buffer that a statement writes each time it runs, on cache lines of its own: smaller ones lie side by side, and two
/// sessions' threads that write theirs would take one line from each other, statement after statement.
pub(super) fn own_line() -> Vec<u8> {
    Vec::with_capacity(64)
}

/// One table's current row.
pub struct Slot {
    pub shape: Shape,
    /// False: every column is NULL (the missing side of an outer join).
    pub present: bool,
    /// The row, as [`Shape`] says.
    pub bytes: Vec<u8>,
    /// The row's key in the clustered tree, when it comes from a table.
    pub key: Vec<u8>,
}

pub enum Shape {
    /// A row of the table's clustered tree.
    Row(Arc<Table>),
    /// A tuple of this many values.
    Tuple(usize),
    /// A tuple of the columns that an index holds: position in the tuple by table column.
    Covered(Vec<Option<usize>>, usize),
}

impl Frame {
    pub fn new(shapes: Vec<Shape>, names: Vec<SlotNames>) -> Frame {
        let slots = shapes
            .into_iter()
            .map(|shape| Slot { shape, present: false, bytes: own_line(), key: own_line() })
            .collect();
        Frame { slots, names }
    }
}

impl Shape {
    /// Column `column` of a row of this shape, as far as the row has it.
    #[inline]
    fn column<'r>(&'r self, bytes: &'r [u8], column: usize) -> Option<Value<'r>> {
        match self {
            Shape::Row(table) => table.layout.get(bytes, column),
            Shape::Tuple(n) => Some(tuple::get(bytes, *n, column)),
            Shape::Covered(map, n) => {
                Some(tuple::get(bytes, *n, map[column].expect("the planner reads only columns that the index has")))
            }
        }
    }

    /// A column that a row does not have: it is outside, or was added later.
    #[cold]
    fn absent<'r>(&'r self, bytes: &[u8], column: usize, run: &Run<'_>) -> Result<Value<'r>> {
        match self {
            Shape::Row(table) => long::absent(&run.tx.borrow(), table, bytes, column),
            Shape::Tuple(_) | Shape::Covered(..) => unreachable!("a tuple has all its values"),
        }
    }
}

/// The value that a row written before the column was added has for it.
#[cold]
pub fn added_column(table: &Table, column: usize) -> Value<'_> {
    crate::expr::reborrow(table.initial_value(column))
}

/// An empty vector for values of another lifetime, in the memory of the old one.
pub fn recycle<'b>(mut values: Vec<Value<'_>>) -> Vec<Value<'b>> {
    values.clear();
    // Collecting in place: the element types differ in lifetime only, so the allocation is kept.
    values.into_iter().map(|_| unreachable!("cleared")).collect()
}

/// The frame that an expression reads, and the frames of the queries around it.
#[derive(Clone, Copy)]
pub struct Scope<'f> {
    frame: &'f Frame,
    outer: Option<&'f Scope<'f>>,
    /// The current row of this slot is not in the frame but `row`, where a cursor or a sort has it; `usize::MAX`: of none.
    borrowed: usize,
    row: &'f [u8],
}

impl<'f> Scope<'f> {
    #[inline]
    pub fn new(frame: &'f Frame, outer: Option<&'f Scope<'f>>) -> Scope<'f> {
        Scope { frame, outer, borrowed: usize::MAX, row: &[] }
    }

    /// With `row` as the current row of `slot`.
    #[inline]
    pub fn with_row(frame: &'f Frame, outer: Option<&'f Scope<'f>>, slot: usize, row: &'f [u8]) -> Scope<'f> {
        Scope { frame, outer, borrowed: slot, row }
    }

    pub fn names(&self) -> &'f [SlotNames] {
        &self.frame.names
    }

    pub fn outer(&self) -> Option<&'f Scope<'f>> {
        self.outer
    }

    /// The scope so many queries further out.
    pub fn further_out(self, depth: u8) -> Scope<'f> {
        let mut scope = self;
        for _ in 0..depth {
            scope = *scope.outer().expect("an outer column is read inside its query");
        }
        scope
    }

    /// The value of a column of the current row.
    #[inline]
    pub fn column(&self, slot: usize, column: usize, run: &Run<'_>) -> Result<Value<'f>> {
        match self.column_inside(slot, column) {
            Some(value) => Ok(value),
            None => self.frame.slots[slot].shape.absent(self.row(slot), column, run),
        }
    }

    /// The same, unless the row does not have the value inside.
    #[inline]
    pub fn column_inside(&self, slot: usize, column: usize) -> Option<Value<'f>> {
        let s = &self.frame.slots[slot];
        if slot == self.borrowed {
            return s.shape.column(self.row, column);
        }
        if !s.present {
            return Some(Value::Null);
        }
        s.shape.column(&s.bytes, column)
    }

    fn row(&self, slot: usize) -> &'f [u8] {
        if slot == self.borrowed { self.row } else { &self.frame.slots[slot].bytes }
    }
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
