//! Columns that came or went without a rewrite of the rows: ALTER TABLE ... ADD COLUMN, DROP COLUMN in ALGORITHM=INSTANT.
//!
//! ```text
//!   CREATE TABLE t (a, b, c)         rows hold a b c         places  a=0 b=1 c=2
//!   ADD COLUMN d AFTER a             new rows a b c d        places  a=0 d=3 b=1 c=2         version 1
//!   DROP COLUMN b                    new rows a - c d        places  a=0 d=3 c=2, 1 is empty version 2
//! ```
//! A row says how many places it has ([`types::row`]), so any version of the table reads rows of all versions before, those of old
//! snapshots too. What a row has no place for is the column's *initial value*, that of its default when it was added, whatever
//! becomes of the default later. A rewrite of the table (ALGORITHM=INPLACE, COPY, OPTIMIZE, TRUNCATE) begins anew.

use crate::column::Column;
use types::row::RowLayout;
use types::{DataType, Value};

/// MySQL 8.4's bound; then error 4092, or a rewrite where the algorithm is free.
pub const ROW_VERSIONS_MAX: u32 = 64;

#[derive(Clone, Debug, PartialEq)]
pub struct Evolution {
    /// How often columns came or went (TOTAL_ROW_VERSIONS).
    pub versions: u32,
    /// One for each of [`crate::Table::columns`].
    pub columns: Vec<Placed>,
    pub dropped: Vec<Dropped>,
}

/// Where rows have a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    pub place: usize,
    /// The version that it came with; 0: with the table.
    pub added: u32,
    /// What older rows hold.
    pub initial: Value<'static>,
}

/// A place without a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    pub name: String,
    pub data_type: DataType,
    pub place: usize,
    pub added: u32,
    /// The version that it went with.
    pub dropped: u32,
}

impl Evolution {
    /// Of a table that has these columns since it was made.
    fn new(columns: &[Column]) -> Evolution {
        let placed = |place| Placed { place, added: 0, initial: Value::Null };
        Evolution { versions: 0, columns: (0..columns.len()).map(placed).collect(), dropped: Vec::new() }
    }

    /// The next version of a table with these columns: column `i` is what `from[i]` was, or new with an initial value from
    /// `initial`, one for each new column in their order.
    pub fn after(
        before: Option<&Evolution>,
        columns_before: &[Column],
        from: &[Option<usize>],
        initial: impl IntoIterator<Item = Value<'static>>,
    ) -> Evolution {
        let before = before.cloned().unwrap_or_else(|| Evolution::new(columns_before));
        let versions = before.versions + 1;
        let mut next_place = before.columns.len() + before.dropped.len();
        let mut initial = initial.into_iter();
        let columns = from
            .iter()
            .map(|from| match from {
                Some(at) => before.columns[*at].clone(),
                None => {
                    let initial = initial.next().expect("a value for each new column");
                    next_place += 1;
                    Placed { place: next_place - 1, added: versions, initial }
                }
            })
            .collect();
        let mut dropped = before.dropped;
        for (at, was) in before.columns.into_iter().enumerate().filter(|(at, _)| !from.contains(&Some(*at))) {
            let Column { name, data_type, .. } = &columns_before[at];
            let (name, data_type) = (name.clone(), *data_type);
            dropped.push(Dropped { name, data_type, place: was.place, added: was.added, dropped: versions });
        }
        Evolution { versions, columns, dropped }
    }

    /// How rows of these columns lie. `None`: places and columns do not agree.
    pub fn layout(&self, columns: &[Column]) -> Option<RowLayout> {
        let mut types = vec![None; self.columns.len() + self.dropped.len()];
        let placed = self.columns.iter().zip(columns).map(|(p, c)| (p.place, c.data_type));
        for (place, data_type) in placed.chain(self.dropped.iter().map(|d| (d.place, d.data_type))) {
            *types.get_mut(place)? = Some(data_type);
        }
        let types: Option<Vec<DataType>> = types.into_iter().collect();
        let places: Vec<usize> = self.columns.iter().map(|p| p.place).collect();
        let types = types.filter(|_| self.columns.len() == columns.len())?;
        Some(RowLayout::evolved(&types, &places))
    }

    /// Columns that the table had before the first change.
    pub fn initial_columns(&self) -> usize {
        let added = self.columns.iter().map(|c| c.added).chain(self.dropped.iter().map(|d| d.added));
        added.filter(|v| *v == 0).count()
    }
}
