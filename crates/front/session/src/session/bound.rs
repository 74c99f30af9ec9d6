//! Values that are bound to a statement.

use run::program::OutValue;
use types::Value;

/// Bytes that the rows of such an expression may take.
pub(crate) const BYTES_MAX: usize = 64 << 20;

/// The parameters of a statement that runs and is not the executor's. Its values are evaluated in the order of the text.
#[derive(Default)]
pub(crate) struct Bound {
    pub values: Vec<Value<'static>>,
    /// How many of them the values evaluated so far have read.
    pub read: usize,
    /// What a CALL has made of those that are OUT or INOUT, for EXECUTE.
    pub out: Vec<OutValue>,
}

impl Bound {
    /// The next `n` of them.
    pub fn take(&mut self, n: usize) -> Vec<Value<'static>> {
        self.read += n;
        self.values[self.read - n..self.read].to_vec()
    }
}
