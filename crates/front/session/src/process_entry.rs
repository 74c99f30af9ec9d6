//! A session in the list of processes.

use crate::performance::Instance;
use crate::process::{Details, Doing, Lane, shown};
use engine::Interrupt;
use expr::Stage;
use protocol::HangUp;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use sync::LaneId;

/// A session's own lane.
pub(crate) struct Entry {
    pub server: Arc<crate::Server>,
    pub lane: LaneId,
    /// That of the lane, without looking for it.
    pub performance: Arc<crate::performance::Lane>,
}

impl Entry {
    /// `None`: more sessions than lanes.
    pub fn open(
        server: &Arc<crate::Server>,
        id: u64,
        host: String,
        interrupt: Arc<Interrupt>,
        hang_up: HangUp,
    ) -> Option<Entry> {
        let lane = server.processes.0.claim()?;
        let performance = Arc::clone(&server.processes.0.get(lane).performance);
        interrupt.open_book(id);
        let entry = Entry { server: Arc::clone(server), lane, performance };
        *entry.lane().details.lock() = Details {
            user: "unauthenticated user".to_string(),
            host,
            kill: Some((interrupt, hang_up)),
            ..Details::default()
        };
        entry.performance.open();
        entry.lane().seen.open();
        entry.doing(Doing::Connect, crate::clock::clock_us());
        // Release: pairs with Acquire in `Processes::list`; who sees the id sees the details.
        entry.lane().id.store(id, Ordering::Release);
        Some(entry)
    }

    pub fn id(&self) -> LaneId {
        self.lane
    }

    /// The connection, for whoever asks whether the client is still there.
    pub fn client(&self) -> HangUp {
        let (_, client) = self.lane().details.lock().kill.clone().expect("the entry was opened with it");
        client
    }

    /// What ends the connection, without a lock.
    pub fn ending(&self) -> impl Fn() + Send + Sync + 'static {
        let (interrupt, hang_up) = self.lane().details.lock().kill.clone().expect("the entry was opened with it");
        // The client of a statement that runs is told before the connection closes.
        move || {
            interrupt.raise(2);
            hang_up.end_reading();
        }
    }

    /// What the statement does now.
    #[inline]
    pub fn stage(&self, stage: Stage) {
        // Relaxed: single writer; readers want a recent figure.
        self.lane().stage.store(stage as u8, Ordering::Relaxed);
        self.performance.go_on_far(stage);
    }

    pub fn lane(&self) -> &Lane {
        self.server.processes.0.get(self.lane)
    }

    pub fn identify(&self, user: &str, connection_type: &'static str, database: Option<&str>) {
        let mut details = self.lane().details.lock();
        details.user = user.to_string();
        details.connection_type = Some(connection_type);
        details.database = database.map(str::to_string);
        let host = details.host.clone();
        drop(details);
        self.performance.schema_changed();
        self.server.seen.login(user, &host);
        self.performance.watch_account(user, &host);
    }

    /// The session runs an event.
    pub fn identify_event(&self, user: &str, host: &str, database: &str) {
        let mut details = self.lane().details.lock();
        (details.user, details.host) = (user.to_string(), host.to_string());
        details.thread = Some("thread/sql/event_worker");
        details.database = Some(database.to_string());
        self.performance.schema_changed();
        drop(details);
        self.lane().performance.watch_account(user, host);
    }

    /// What the session's privileges let others do with it.
    pub fn note_privileges(&self, system_user: bool, connection_admin: bool) {
        let mut details = self.lane().details.lock();
        (details.system_user, details.connection_admin) = (system_user, connection_admin);
    }

    pub fn use_database(&self, database: Option<&str>) {
        self.lane().details.lock().database = database.map(str::to_string);
        self.performance.schema_changed();
    }

    /// A command without a text begins.
    #[inline]
    pub fn doing(&self, doing: Doing, now_us: u64) {
        self.begin_statement(doing, 0, now_us);
    }

    /// A statement that came as text begins.
    #[inline]
    pub fn begin(&self, doing: Doing, text: &[u8], now_us: u64) {
        let mut details = self.lane().details.lock();
        details.info.clear();
        details.info.extend_from_slice(shown(text));
        drop(details);
        self.begin_statement(doing, 0, now_us);
    }

    /// Shows another text of the statement at hand: one that holds a password is nobody's to read.
    #[cold]
    pub fn show_as(&self, text: &str) {
        let mut details = self.lane().details.lock();
        details.info.clear();
        details.info.extend_from_slice(text.as_bytes());
    }

    /// A prepared statement begins: its text is known by its id.
    #[inline]
    pub fn begin_statement(&self, doing: Doing, id: u32, now_us: u64) {
        let lane = self.lane();
        // Relaxed: single writer; readers want a recent figure.
        lane.doing.store(doing as u8, Ordering::Relaxed);
        lane.stage.store(Stage::Starting as u8, Ordering::Relaxed); // Relaxed: as above
        lane.statement.store(id, Ordering::Relaxed);
        lane.since_us.store(now_us, Ordering::Relaxed);
        self.performance.go_on(Stage::Starting);
    }

    /// The command is answered. Its time goes on, as MySQL's does.
    #[inline]
    pub fn sleep(&self) {
        // Relaxed: single writer; readers want a recent figure.
        self.lane().doing.store(Doing::Sleep as u8, Ordering::Relaxed);
        self.performance.end_stages();
    }

    pub fn prepared(&self, id: u32, text: &Arc<[u8]>, instance: &Arc<Instance>) {
        let mut details = self.lane().details.lock();
        details.statements.push((id, Arc::clone(text)));
        details.instances.push(Arc::clone(instance));
    }

    pub fn closed(&self, id: u32) {
        let mut details = self.lane().details.lock();
        details.statements.retain(|(i, _)| *i != id);
        details.instances.retain(|instance| instance.id != id);
    }

    pub fn all_closed(&self) {
        let mut details = self.lane().details.lock();
        (details.statements, details.instances) = (Vec::new(), Vec::new());
    }

    /// `max_execution_time`: 0 takes the deadline away.
    pub fn deadline(&self, at_ns: u64) {
        let _details = self.lane().details.lock();
        // Relaxed: read again under the lock.
        self.lane().deadline_ns.store(at_ns, Ordering::Relaxed);
    }

    /// The text of the statement at hand, as far as the list of processes shows it.
    pub fn text(&self) -> Vec<u8> {
        let lane = self.lane();
        let details = lane.details.lock();
        // Relaxed: written by this thread.
        match lane.statement.load(Ordering::Relaxed) {
            0 => details.info.clone(),
            id => {
                details.statements.iter().find(|(i, _)| *i == id).map_or(Vec::new(), |(_, text)| shown(text).to_vec())
            }
        }
    }

    /// Who it is and what it runs, in the words of SHOW ENGINE INNODB STATUS.
    pub fn told(&self) -> String {
        self.server.processes.told(self.lane)
    }

    /// A long statement text is given back before the connection is parked.
    pub fn shrink(&self) {
        let mut details = self.lane().details.lock();
        if details.info.capacity() > 4096 {
            details.info = Vec::new();
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let lane = self.lane();
        let (user, host, is_known) = {
            let details = lane.details.lock();
            let is_known = details.connection_type.is_some() || details.thread.is_some();
            (details.user.clone(), details.host.clone(), is_known)
        };
        self.performance.close(&self.server, &user, &host);
        // Who never logged in was no account.
        if is_known {
            lane.seen.close(&self.server.seen, &user, &host);
        }
        // Relaxed: the lane is released after it, with Release.
        lane.id.store(0, Ordering::Relaxed);
        let details = std::mem::take(&mut *lane.details.lock());
        if let Some(book) = details.kill.as_ref().and_then(|(interrupt, _)| interrupt.book()) {
            let host = inspect::without_port(&details.host);
            book.retire(details.connection_type.map(|_| (&*details.user, host)));
        }
        self.server.processes.0.release(self.lane);
    }
}
