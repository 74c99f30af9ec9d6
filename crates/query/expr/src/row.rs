//! The rows that expressions read: slots side by side, one scope for each query around.
//!
//! A row at run time is not a vector of values. A *slot* holds one table's current row as the bytes that the engine gave
//! (or one intermediate result as a [`tuple`]), and an expression reads the columns that it needs straight from there.

use crate::tuple;
use catalog::Table;
use std::sync::Arc;
use types::{Result, Value};

/// The current rows of a query block's tables.
pub struct Frame {
    pub slots: Vec<Slot>,
    /// What errors call the columns of slots.
    names: Vec<SlotNames>,
}

/// An empty buffer that a statement writes each time it runs, on cache lines of its own: smaller ones lie side by side, and two
/// sessions' threads that write theirs would take one line from each other, statement after statement.
pub fn own_line() -> Vec<u8> {
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

/// How the bytes of a slot's row are read.
pub enum Shape {
    /// A row of the table's clustered tree.
    Row(Arc<Table>),
    /// A tuple of this many values.
    Tuple(usize),
    /// A tuple of the columns that an index holds: position in the tuple by table column.
    Covered(Vec<Option<usize>>, usize),
}

/// The names of a slot: of a table, or of a query in FROM, which has no schema.
pub struct SlotNames {
    pub slot: usize,
    pub schema: String,
    pub alias: String,
    columns: Columns,
}

enum Columns {
    Table(Arc<Table>),
    Names(Vec<String>),
}

impl SlotNames {
    /// Of a table under its alias.
    pub fn of_table(slot: usize, table: &Arc<Table>, alias: &str) -> SlotNames {
        let columns = Columns::Table(table.clone());
        SlotNames { slot, schema: table.schema.clone(), alias: alias.to_string(), columns }
    }

    /// Of a query in FROM.
    pub fn of_query(slot: usize, alias: &str, columns: Vec<String>) -> SlotNames {
        SlotNames { slot, schema: String::new(), alias: alias.to_string(), columns: Columns::Names(columns) }
    }

    pub(crate) fn column(&self, column: u16) -> Option<&str> {
        match &self.columns {
            Columns::Table(table) => {
                table.columns.get(column as usize).map(|c| c.index_expression().unwrap_or(&c.name))
            }
            Columns::Names(names) => names.get(column as usize).map(String::as_str),
        }
    }

    /// Is it the expression of an index part?
    pub(crate) fn is_expression(&self, column: u16) -> bool {
        matches!(&self.columns, Columns::Table(t) if t.columns.get(column as usize).is_some_and(|c| c.hidden))
    }
}

impl Frame {
    /// Of expressions without tables.
    pub fn empty() -> &'static Frame {
        static EMPTY: Frame = Frame { slots: Vec::new(), names: Vec::new() };
        &EMPTY
    }

    /// Slots without rows.
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
    fn absent<'r, R: Outside + ?Sized>(&'r self, bytes: &[u8], column: usize, run: &R) -> Result<Value<'r>> {
        match self {
            Shape::Row(table) => run.absent(table, bytes, column),
            Shape::Tuple(_) | Shape::Covered(..) => unreachable!("a tuple has all its values"),
        }
    }
}

/// Who knows what rows do not have inside.
pub trait Outside {
    /// A column that a row does not have: it is outside, or was added later.
    fn absent<'t>(&self, table: &'t Table, row: &[u8], column: usize) -> Result<Value<'t>>;
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
    /// The frame's own rows, behind it those of the query around.
    #[inline]
    pub fn new(frame: &'f Frame, outer: Option<&'f Scope<'f>>) -> Scope<'f> {
        Scope { frame, outer, borrowed: usize::MAX, row: &[] }
    }

    /// With `row` as the current row of `slot`.
    #[inline]
    pub fn with_row(frame: &'f Frame, outer: Option<&'f Scope<'f>>, slot: usize, row: &'f [u8]) -> Scope<'f> {
        Scope { frame, outer, borrowed: slot, row }
    }

    /// The same, with `row` as the current row of `slot`; one that was borrowed before is no longer.
    #[inline]
    pub fn instead<'r>(&'r self, slot: usize, row: &'r [u8]) -> Scope<'r> {
        Scope { frame: self.frame, outer: self.outer, borrowed: slot, row }
    }

    /// What errors call the columns of the frame's slots.
    pub fn names(&self) -> &'f [SlotNames] {
        &self.frame.names
    }

    /// The scope of the query around.
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
    pub fn column<R: Outside + ?Sized>(&self, slot: usize, column: usize, run: &R) -> Result<Value<'f>> {
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

    /// How many slots the frame has.
    pub fn slot_count(&self) -> usize {
        self.frame.slots.len()
    }

    /// Is there a row in the slot, its bytes, and its key.
    pub fn slot(&self, slot: usize) -> (bool, &'f [u8], &'f [u8]) {
        let s = &self.frame.slots[slot];
        (s.present || slot == self.borrowed, self.row(slot), &s.key)
    }

    fn row(&self, slot: usize) -> &'f [u8] {
        if slot == self.borrowed { self.row } else { &self.frame.slots[slot].bytes }
    }
}
