//! What hints of a statement have changed.

use crate::variables::SessionVariables;

/// What a statement's hints have changed in the session.
pub(crate) struct Before {
    pub vars: SessionVariables,
    pub timestamp: Option<f64>,
    pub insert_id: u64,
}
