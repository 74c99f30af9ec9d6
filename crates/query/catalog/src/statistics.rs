//! What the planner knows of a table's contents. Sampled by whoever plans first, kept until the table has changed a lot.

use crate::column::Column;
use crate::index::Index;
use sync::Snapshot;

/// Estimates. Versions of a table share their place, so a sample may be of other indexes: see [`Sample::is_of`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// When: seconds since 1970.
    pub taken_s: u64,
    /// Rows at the time of sampling.
    pub rows: u64,
    /// By index, then by number of its leading parts: rows with the same values there, at least 1.
    pub rows_per_key: Vec<Vec<f64>>,
    /// By column: different values, guessed from some hundred rows.
    pub different: Vec<f64>,
}

impl Sample {
    /// Is it of a table with these columns and indexes?
    pub fn is_of(&self, columns: &[Column], indexes: &[Index]) -> bool {
        self.different.len() == columns.len()
            && self.rows_per_key.len() == indexes.len()
            && self.rows_per_key.iter().zip(indexes).all(|(r, i)| r.len() == i.parts.len())
    }
}

/// A table's place for its sample.
pub struct Statistics {
    /// W: whoever samples. R: whoever plans. `None`: not sampled yet.
    sample: Snapshot<Option<Sample>>,
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics { sample: Snapshot::new(None) }
    }
}

impl Statistics {
    pub fn load(&self) -> std::sync::Arc<Option<Sample>> {
        self.sample.load()
    }

    pub fn store(&self, sample: std::sync::Arc<Option<Sample>>) {
        self.sample.store(sample);
    }
}
