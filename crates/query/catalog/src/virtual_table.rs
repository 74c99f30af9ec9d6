//! Tables whose rows are computed when asked: information_schema, performance_schema, SHOW.

use std::cmp::Ordering;
use types::codes::ER_WRONG_PERFSCHEMA_USAGE;
use types::collation::CollationId;
use types::{Result, Value, err};

/// Rows, each made when it is asked for.
pub type ComputedRows = Box<dyn Iterator<Item = Vec<Value<'static>>> + Send>;

/// Implemented by crate `inspect`, scanned by crate `run`.
pub trait VirtualTable: Send + Sync {
    /// All rows that `sought` admits, others as it likes; `cx` is what the session lets it see. What they tell is of now, though a large
    /// table makes them only as they are read.
    fn rows(&self, cx: &dyn VirtualContext, sought: &[Sought]) -> Result<ComputedRows>;

    /// Which statements may change what it shows.
    fn writes(&self) -> Writes {
        Writes::default()
    }

    /// A row becomes another one, which differs from it. Called where [`Writes::update`] is set. Error 1683 for a column that stays as it
    /// is.
    fn update(&self, _cx: &dyn VirtualContext, _row: &Changed<'_>) -> Result<()> {
        Err(err!(ER_WRONG_PERFSCHEMA_USAGE))
    }

    /// Called where [`Writes::insert`] is set. Error 1022.
    fn insert(&self, _cx: &dyn VirtualContext, _row: &[Value<'_>]) -> Result<()> {
        Err(err!(ER_WRONG_PERFSCHEMA_USAGE))
    }

    /// Called where [`Writes::delete`] is set; the row may be gone.
    fn delete(&self, _cx: &dyn VirtualContext, _row: &[Value<'_>]) -> Result<()> {
        Err(err!(ER_WRONG_PERFSCHEMA_USAGE))
    }

    /// Called where [`Writes::truncate`] is set.
    fn truncate(&self, _cx: &dyn VirtualContext) -> Result<()> {
        Err(err!(ER_WRONG_PERFSCHEMA_USAGE))
    }
}

/// The statements that a virtual table takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    pub update: bool,
    pub insert: bool,
    pub delete: bool,
    pub truncate: bool,
}

/// A row of an UPDATE. Values of ENUM and SET are numbers.
pub struct Changed<'r> {
    pub old: &'r [Value<'r>],
    pub new: &'r [Value<'r>],
    /// The columns that the statement sets.
    pub set: &'r [usize],
}

/// What a virtual table may ask of the session that reads it. Crate `session` implements it; downcast to what is needed.
pub trait VirtualContext {
    fn as_any(&self) -> &dyn std::any::Any;
}

/// A condition of the statement: a column has one of these values, or the row is not wanted.
#[derive(Clone, Debug)]
pub struct Sought {
    pub column: usize,
    pub values: Vec<Vec<u8>>,
    /// What they are compared under.
    pub collation: CollationId,
}

impl Sought {
    pub fn admits(&self, text: &str) -> bool {
        self.values.iter().any(|v| self.is_equal(v, text))
    }

    fn is_equal(&self, value: &[u8], text: &str) -> bool {
        self.collation.compare(value, text.as_bytes()) == Ordering::Equal
    }

    /// Is a text admitted that begins with this and a slash?
    pub fn admits_within(&self, first: &str) -> bool {
        let slashes =
            |v: &[u8]| v.iter().enumerate().filter(|(_, b)| **b == b'/').map(|(at, _)| at).collect::<Vec<_>>();
        self.values.iter().any(|v| slashes(v).into_iter().any(|at| self.is_equal(&v[..at], first)))
    }

    /// The names that are admitted, none of which ends in a blank, where they can be told from the values.
    pub fn names(&self) -> Option<impl Iterator<Item = &str>> {
        let exact = [CollationId::UTF8MB3_BIN, CollationId::UTF8MB4_BIN].contains(&self.collation);
        exact.then(|| self.values.iter().filter_map(|v| Some(std::str::from_utf8(v).ok()?.trim_end_matches(' '))))
    }
}
