//! One session: all that it is made of.

pub(crate) mod binlog_events;
pub(crate) mod bound;
pub(crate) mod hinted;
pub(crate) mod plans;
pub(crate) mod profiles;
pub(crate) mod programs;
pub(crate) mod statements;
pub(crate) mod temporary;
pub(crate) mod tracking;
pub(crate) mod transaction;
pub(crate) mod upload;

use crate::Server;
use crate::dumps::DumpRequest;
use crate::process_entry::Entry;
use crate::session::binlog_events::BinlogEvents;
use crate::session::bound::Bound;
use crate::session::plans::PlanCache;
use crate::session::profiles::Profiles;
use crate::session::programs::Programs;
use crate::session::statements::Statements;
use crate::session::temporary::Temporary;
use crate::session::tracking::Tracking;
use crate::session::transaction::{LockedTable, TransactionState, XaTransaction};
use crate::session::upload::Upload;
use crate::state::State;
use accounts::{Access, Connected};
use catalog::{MetadataPins, Version};
use engine::Transaction;
use observe::SessionCounters;
use protocol::handshake::Scramble;
use protocol::{Algorithm, AnswerStart, Peer, TlsInfo};
use std::sync::Arc;
use std::time::Instant;
use sync::Cached;
use sync::memory::Account;
use types::SqlError;

/// What one answered statement leaves for the command loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    Answered,
    /// COMMIT RELEASE, SHUTDOWN: the connection ends after the answer.
    Close,
    /// LOAD DATA LOCAL: the client sends its file now.
    Upload,
    /// COM_BINLOG_DUMP: the replica may answer events.
    Dump,
}

/// What one connection is made of. Its fields are parts that statements change one by one, whatever file they are in: each has a type
/// of its own where it is more than a value.
pub struct Session {
    pub(crate) server: Arc<Server>,
    pub(crate) peer: Peer,
    pub(crate) scramble: Scramble,
    pub(crate) tls: Option<Arc<TlsInfo>>,
    pub(crate) compression: Option<Algorithm>,
    /// `None` until the login.
    pub(crate) access: Option<Access>,
    /// Rights of the definers of views in use.
    pub(crate) definers: Vec<Access>,
    /// What a statement that calls routines lends them, between such statements.
    pub(crate) lent_rights: Option<Box<dyn run::program::Rights>>,
    pub(crate) password_expired: bool,
    /// The XA transaction in progress.
    pub(crate) xa: Option<XaTransaction>,
    /// Of an account with limits.
    pub(crate) connected: Option<Connected>,
    /// One of the two: statements are looked at before they run.
    pub(crate) restricted: bool,
    /// What the first command is answered with: what `init_connect` says has failed.
    pub(crate) aborted: Option<SqlError>,
    /// Accounts and passwords that the statement at hand has thought up: user, host, password.
    pub(crate) generated: Vec<[String; 3]>,
    /// What BINLOG statements have said.
    pub(crate) binlog_events: Option<Box<BinlogEvents>>,
    pub(crate) interactive: bool,
    /// CLIENT_OPTIONAL_RESULTSET_METADATA
    pub(crate) can_leave_out_metadata: bool,
    /// CLIENT_FOUND_ROWS: UPDATE answers with matched rows.
    pub(crate) found_rows: bool,
    pub(crate) state: State,
    pub(crate) catalog: Cached<Version>,
    pub(crate) tx: Transaction,
    /// For tables that are not transactional, once a statement had one; active while a statement runs alone.
    pub(crate) beside: Option<Box<Transaction>>,
    pub(crate) transaction: TransactionState,
    pub(crate) pins: MetadataPins,
    pub(crate) temporary: Temporary,
    pub(crate) upload: Option<Upload>,
    pub(crate) dump: Option<Box<DumpRequest>>,
    /// LOCK TABLES is in force.
    pub(crate) locked: Option<Vec<LockedTable>>,
    pub(crate) entry: Entry,
    pub(crate) memory: Arc<Account>,
    pub(crate) statements: Statements,
    /// What HANDLER ... OPEN has opened.
    pub(crate) handlers: Vec<run::handler::Handler>,
    pub(crate) bound: Bound,
    pub(crate) plans: PlanCache,
    pub(crate) programs: Programs,
    pub(crate) counters: SessionCounters,
    /// What changes, for clients that asked.
    pub(crate) tracking: Tracking,
    /// More statements of a multi-statement follow.
    pub(crate) more: bool,
    /// The answer is one OK packet and the last of its command: it can be made before what it rests on is durable.
    pub(crate) settles_later: bool,
    /// The query in progress has a deadline, by `max_execution_time`.
    pub(crate) has_deadline: bool,
    /// `binlog_group_commit_sync_delay`: until when the commit at hand waits for others.
    pub(crate) gathers_until: Option<Instant>,
    /// The answer is made, and rests on commits that are not durable yet: [`Session::settle`].
    pub(crate) unsettled: bool,
    /// Where that answer begins.
    pub(crate) answer_at: AnswerStart,
    /// How result sets of statements outside the executor go out.
    pub(crate) format: protocol::RowFormat,
    /// For the slow log and the general log.
    pub(crate) log: crate::logs::Progress,
    /// With `profiling`.
    pub(crate) profiles: Option<Box<Profiles>>,
    /// For Performance Schema.
    pub(crate) recorder: crate::performance::Recorder,
    /// What the hints of the statements at hand have changed, the innermost last.
    pub(crate) hinted: Vec<hinted::Before>,
}

impl Session {
    pub(crate) fn access(&self) -> &Access {
        self.access.as_ref().expect("statements come after the login")
    }
}
