//! What functions and triggers of the statement at hand have set.

use crate::variables::{Val, VarId};

#[derive(Debug, Default)]
pub(crate) struct SetWithin {
    /// All variables, for whoever follows them when the statement is over.
    pub ids: Vec<VarId>,
    /// Former values of those that their caller has back, by the number of routines that ran.
    pub former: Vec<(usize, VarId, Val)>,
}
