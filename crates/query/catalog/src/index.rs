//! Indexes: columns of a table in an order, and the tree that has it.

use crate::HIDDEN_INDEX;
use crate::column::Column;
use crate::options::{IndexAlgorithm, StorageEngine};
use engine::Tree;
use types::key::KeyPart;

#[derive(Clone, Debug)]
pub struct Index {
    pub name: String,
    pub unique: bool,
    pub primary: bool,
    /// INVISIBLE: kept up to date, not used by plans.
    pub invisible: bool,
    /// Made for a foreign key without one: it goes when another index can serve the key, and somebody's own once it is renamed.
    pub for_foreign_key: bool,
    /// The index's own columns. Keys of a secondary tree are these, then the clustered index's parts that are not whole parts of it.
    pub parts: Vec<IndexPart>,
    /// Of a multi-valued index, the part that holds an array: a row has an entry for each element of it, none for an empty array,
    /// and one for NULL.
    pub array_part: Option<usize>,
    pub tree: Tree,
    /// As it was asked for.
    pub algorithm: Option<IndexAlgorithm>,
    pub comment: String,
}

impl Index {
    /// The clustered index of a table without a key that could be it.
    pub fn is_hidden(&self) -> bool {
        self.name == HIDDEN_INDEX
    }

    /// Which of the parts holds an array.
    pub fn array_part_of(parts: &[IndexPart], columns: &[Column]) -> Option<usize> {
        parts.iter().position(|p| columns[p.column].array_of().is_some())
    }
}

#[derive(Clone, Debug)]
pub struct IndexPart {
    /// Position in [`crate::Table::columns`].
    pub column: usize,
    pub key: KeyPart,
}

/// Which of the indexes counts the AUTO_INCREMENT column: the first that starts with it, or, in MyISAM, that has it anywhere. There
/// the numbers are those of the rows that are alike in the parts before it.
pub(crate) fn counting<'i>(
    indexes: impl Iterator<Item = &'i [IndexPart]> + Clone,
    column: usize,
    engine: StorageEngine,
) -> Option<usize> {
    indexes.clone().position(|parts| parts[0].column == column).or_else(|| {
        let has = |parts: &[IndexPart]| parts.iter().any(|p| p.column == column);
        indexes.clone().position(has).filter(|_| engine == StorageEngine::MyIsam)
    })
}
