//! Stored programs that run, and their plans.

use crate::session::plans::Planned;
use accounts::Access;
use plan::LocalType;
use run::program::{Own, Plans};
use std::sync::Arc;
use types::{CollationId, DataType, Value};

/// What of stored programs a session keeps.
#[derive(Default)]
pub(crate) struct Programs {
    /// The routines that run, the innermost last.
    pub calls: Vec<Running>,
    /// Plans for the next calls, those that were used longest ago first.
    pub kept: Vec<Plans<Box<Planned>>>,
    /// Values of expressions of the statement at hand that were evaluated before: what SET sets, the schedule of an event.
    pub given: Vec<(Value<'static>, DataType)>,
    /// The variables of the routine whose SHOW is at hand: their types, and their values.
    pub shown: Option<(Arc<[LocalType]>, Vec<Value<'static>>)>,
    /// SET ROLE was among the statements of the routines that run.
    pub sets_roles: bool,
    /// The last statement has failed with rows sent. The error ends them, or a handler that takes it.
    pub is_cut: bool,
    /// COMMIT RELEASE and the like have asked for the end of the connection.
    pub closes: bool,
}

/// A routine that runs, and what its call has changed as it was.
pub(crate) struct Running {
    pub compiled: Own,
    pub database: Option<String>,
    pub sql_mode: u64,
    pub collation: CollationId,
    pub access: Option<(Access, String)>,
    /// On the scale of `now_ns`.
    pub began_ns: Option<u64>,
}
