//! XA transactions: start, work, end, then commit in one phase or prepare, and what becomes of prepared ones
//! ([manual, 15.3.8](https://dev.mysql.com/doc/refman/8.4/en/xa-states.html)).
//!
//! ```text
//!   XA START -> Active -> XA END -> Idle -> XA PREPARE -> nobody's (xids), or with `xa_detach_on_prepare` off Prepared until the session
//!   ends |                        |
//!                        XA COMMIT ... ONE PHASE     XA COMMIT, XA ROLLBACK in any session
//! ```
//! What is prepared stands in the log with its events, and so does the decision with its own: engine and binary log cannot differ.

use crate::needs::Action;
use crate::session::transaction::{Stage, XaTransaction};
use crate::session::{Done, Session};
use crate::variables::{VarId, id};
use crate::xids::{Detached, label};
use binlog::event::XaId;
use catalog::{MetadataPins, Waiting};
use engine::{Begin, Decision, Isolation, Undecided};
use expr::Stage as Doing;
use inspect::Rows;
use protocol::Output;
use sql::ast::{Parsed, ShowWhat, Statement, Xa, Xid};
use types::codes::*;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

pub(crate) const DETACH: VarId = id("xa_detach_on_prepare");

/// Does it read no table?
fn is_of_server(what: &ShowWhat) -> bool {
    matches!(
        what,
        ShowWhat::Warnings { .. }
            | ShowWhat::CountWarnings
            | ShowWhat::Errors { .. }
            | ShowWhat::CountErrors
            | ShowWhat::Engine { .. }
            | ShowWhat::BinaryLogStatus
            | ShowWhat::ReplicaStatus { .. }
    )
}

fn id_of(parsed: &Parsed, xid: Xid) -> XaId {
    let bqual = xid.bqual.map_or(&b""[..], |b| parsed.bytes(b));
    XaId { format: xid.format_id as u32, gtrid: parsed.bytes(xid.gtrid).to_vec(), bqual: bqual.to_vec() }
}

/// What becomes of XA in a stored function or trigger, inside of a statement's transaction.
pub(crate) fn refused_within(xa: &Xa) -> SqlError {
    match xa {
        Xa::Start { .. } => err!(ER_XAER_OUTSIDE),
        Xa::Commit { .. } | Xa::Rollback(_) => err!(ER_XAER_NOTA),
        _ => err!(ER_XAER_RMFAIL, "NON-EXISTING"),
    }
}

impl Session {
    /// Error 1399 for what an XA transaction in progress does not allow: everything that would end it or begin another one, and
    /// after XA END everything that touches tables. Error 4091 for temporary tables that it would have to take along.
    pub(crate) fn check_xa(&self, statement: &Statement) -> Result<()> {
        use Statement as S;
        let Some(xa) = &self.xa else { return Ok(()) };
        let is_active = xa.stage == Stage::Active;
        let may = match statement {
            S::Xa(_)
            | S::Set(_)
            | S::Use(_)
            | S::Prepare { .. }
            | S::Execute { .. }
            | S::Deallocate(_)
            | S::Kill { .. } => true,
            // They end no transaction and read no table; the statements of a procedure are asked one by one.
            S::Call { .. }
            | S::Signal(_)
            | S::GetDiagnostics(_)
            | S::Help(_)
            | S::SetRole(_)
            | S::UnlockTables
            | S::LockInstance
            | S::UnlockInstance
            | S::PurgeLogs(_) => true,
            S::Show(show) if is_of_server(&show.what) => true,
            S::Show(_) | S::Explain(_) | S::DescribeTable { .. } | S::LoadData(_) | S::Binlog(_) => is_active,
            S::Savepoint(_) | S::RollbackTo(_) | S::ReleaseSavepoint(_) => is_active,
            S::CreateTable(create) if create.temporary && is_active => return self.may_use_temporary(),
            S::DropTable { temporary: true, .. } if is_active => return self.may_use_temporary(),
            _ => false,
        };
        if may { Ok(()) } else { Err(self.wrong_stage()) }
    }

    fn may_use_temporary(&self) -> Result<()> {
        if self.state.vars.bool(DETACH) { Err(err!(ER_XA_TEMP_TABLE)) } else { Ok(()) }
    }

    /// Of a statement of the executor's. Errors 1399, 4091.
    #[cold]
    pub(crate) fn check_xa_planned(&self, prepared: &run::Prepared) -> Result<()> {
        let Some(xa) = &self.xa else { return Ok(()) };
        if xa.is_ended() && prepared.uses() != run::Uses::Nothing {
            return Err(self.wrong_stage());
        }
        let mut tables = prepared.tables().iter();
        if tables.any(|t| self.is_temporary(&t.schema, &t.table)) { self.may_use_temporary() } else { Ok(()) }
    }

    pub(crate) fn wrong_stage(&self) -> SqlError {
        err!(ER_XAER_RMFAIL, self.xa.as_ref().map_or("NON-EXISTING", XaTransaction::words))
    }

    pub(crate) fn xa(&mut self, parsed: &Parsed, xa: Xa) -> Result<()> {
        match xa {
            Xa::Start { xid, join, resume } => {
                match &mut self.xa {
                    Some(own) if resume && own.stage == Stage::Idle => {
                        if own.id != id_of(parsed, xid) {
                            return Err(err!(ER_XAER_NOTA));
                        }
                        own.stage = Stage::Active;
                        self.restrict();
                    }
                    _ if join || resume => return Err(err!(ER_XAER_INVAL)),
                    _ => self.xa_start(id_of(parsed, xid))?,
                }
                Ok(())
            }
            Xa::End { xid, suspend, .. } => {
                if suspend {
                    return Err(err!(ER_XAER_INVAL));
                }
                self.xa_end(&id_of(parsed, xid))?;
                Ok(())
            }
            Xa::Prepare(xid) => {
                let id = id_of(parsed, xid);
                self.own_xa(&id, Stage::Idle)?;
                self.xa_prepare(&id)?;
                Ok(())
            }
            Xa::Commit { xid, one_phase } => {
                let id = id_of(parsed, xid);
                if self.is_prepared(&id)? {
                    if one_phase && self.xa.is_some() {
                        return Err(self.wrong_stage());
                    }
                    self.xa_decide(&id, Decision::Commit)?;
                } else {
                    if !one_phase {
                        return Err(self.wrong_stage());
                    }
                    self.own_xa(&id, Stage::Idle)?;
                    let result = self.commit_all_as(Some(&id));
                    self.xa_over();
                    result?;
                    self.commit_number_if_given()?;
                }
                Ok(())
            }
            Xa::Rollback(xid) => {
                let id = id_of(parsed, xid);
                if self.is_prepared(&id)? {
                    self.xa_decide(&id, Decision::RollBack)?;
                    return Ok(());
                }
                if self.xa.as_ref().is_some_and(|xa| xa.stage == Stage::Active) {
                    return Err(self.wrong_stage());
                }
                self.xa_over();
                let kept = self.transaction.kept;
                self.rollback_all();
                if kept {
                    self.tell_kept();
                }
                Ok(())
            }
            Xa::Recover { .. } => unreachable!("it answers rows"),
        }
    }

    fn xa_start(&mut self, id: XaId) -> Result<()> {
        if self.xa.is_some() {
            return Err(self.wrong_stage());
        }
        if self.transaction.explicit || self.tx.is_active() || self.locked.is_some() {
            return Err(err!(ER_XAER_OUTSIDE));
        }
        if !self.server.xids.begin(&id) {
            return Err(err!(ER_XAER_DUPID));
        }
        self.xa = Some(XaTransaction { id, stage: Stage::Active });
        self.begin(false, None)?;
        self.restrict();
        Ok(())
    }

    fn xa_end(&mut self, id: &XaId) -> Result<()> {
        self.own_xa(id, Stage::Active)?;
        let rolled_back = !self.transaction.explicit;
        let xa = self.xa.as_mut().expect("it is the session's own");
        xa.stage = if rolled_back { Stage::RollbackOnly } else { Stage::Idle };
        self.restrict();
        if rolled_back { Err(err!(ER_XA_RBROLLBACK)) } else { Ok(()) }
    }

    /// The session's own transaction, at this stage. Errors 1397, 1399.
    fn own_xa(&self, id: &XaId, stage: Stage) -> Result<()> {
        match &self.xa {
            Some(xa) if xa.stage != stage => Err(self.wrong_stage()),
            Some(xa) if xa.id != *id => Err(err!(ER_XAER_NOTA)),
            Some(_) => Ok(()),
            None => Err(self.wrong_stage()),
        }
    }

    /// XA COMMIT and ROLLBACK: is it for the prepared ones, the session's own among them? False: it is the session's, and not prepared.
    /// Error 1399: the session has another one, or a transaction that is none.
    fn is_prepared(&self, id: &XaId) -> Result<bool> {
        match &self.xa {
            Some(xa) if xa.id != *id => Err(self.wrong_stage()),
            Some(xa) => Ok(xa.stage == Stage::Prepared),
            None if self.is_in_transaction() => Err(self.wrong_stage()),
            None => Ok(true),
        }
    }

    /// XA PREPARE of the session's own. After an error it is rolled back and over.
    fn xa_prepare(&mut self, id: &XaId) -> Result<()> {
        let prepared = self.prepare_own(id);
        let Ok(detached) = prepared else {
            self.pins.end_commit();
            self.xa_over();
            self.rollback_all();
            return prepared.map(drop);
        };
        let stays = !self.state.vars.bool(DETACH);
        self.server.xids.put(detached, stays);
        match &mut self.xa {
            Some(xa) if stays => xa.stage = Stage::Prepared,
            xa => *xa = None,
        }
        self.restrict();
        self.settle_xa()?;
        self.commit_number_if_given()
    }

    /// Puts the session's transaction aside as a prepared one; its place in the log may not be durable yet. Errors 1040, 1205, 1290,
    /// 1317 and those of a commit.
    pub(crate) fn prepare_own(&mut self, id: &XaId) -> Result<Detached> {
        let mut pins =
            MetadataPins::claim_alone(self.server.catalog.locks()).ok_or_else(|| err!(ER_CON_COUNT_ERROR))?;
        let timeout = self.state.vars.hot().lock_wait_timeout;
        self.entry.stage(Doing::HandlerCommit);
        self.pins.begin_commit(Waiting { timeout, tx: &mut self.tx })?;
        let mut logged = false;
        let changes = if self.tx.has_writes() {
            if self.transaction.changes_shared {
                self.check_read_only()?;
            }
            logged = self.state.log_xa(&mut self.tx, id, false)?;
            let mut beside = self.position_beside()?;
            let prepared = self.tx.prepare(&label(id, logged), beside.as_mut());
            Some(prepared.map_err(catalog::error::engine)?)
        } else {
            if self.tx.is_active() {
                self.tx.commit().map_err(catalog::error::engine)?;
            }
            None
        };
        self.state.track_commit(if logged { self.tx.commit_end() } else { 0 });
        self.pins.hand_over(&mut pins);
        Ok(Detached { id: id.clone(), changes, pins, logged })
    }

    /// In an applier's session: a transaction of its own with the position behind what is about to be prepared.
    fn position_beside(&mut self) -> Result<Option<engine::Transaction>> {
        if self.state.applied.is_none() {
            return Ok(None);
        }
        let mut beside = self.tx.beside().map_err(catalog::error::engine)?;
        beside.begin(Isolation::ReadCommitted, false);
        self.state.store_position(&mut beside)?;
        Ok(Some(beside))
    }

    /// Waits until what stands in the log is durable; then the session has no transaction.
    fn settle_xa(&mut self) -> Result<()> {
        let durable = self.tx.await_durable().map_err(catalog::error::engine);
        self.pins.end_commit();
        self.state.end_gtid(true);
        self.ended();
        durable
    }

    /// A number that was named and that nothing has used up goes to an empty transaction.
    fn commit_number_if_given(&mut self) -> Result<()> {
        if self.state.gtid.next.is_given() { self.commit_number() } else { Ok(()) }
    }

    /// XA COMMIT, XA ROLLBACK of a prepared transaction. Errors 1205, 1317, 1397, 1837.
    fn xa_decide(&mut self, id: &XaId, decision: Decision) -> Result<()> {
        if self.state.gtid.next.is_given() && self.passes_over()? {
            self.state.release_gtid();
            return Ok(());
        }
        let own = self.xa.is_some();
        let detached = self.server.xids.take(id, own).ok_or_else(|| err!(ER_XAER_NOTA))?;
        let kept = self.transaction.kept;
        match self.decide(detached, decision) {
            Ok(pins) => {
                self.xa = None;
                self.restrict();
                let durable = self.settle_xa();
                self.server.xids.remove(id);
                drop(pins);
                durable?;
                if kept && decision == Decision::RollBack {
                    self.tell_kept();
                }
                self.commit_number_if_given()
            }
            Err(undecided) => {
                let (error, detached) = *undecided;
                self.server.xids.put(detached, own);
                self.pins.end_commit();
                self.state.end_gtid(false);
                self.ended();
                Err(error)
            }
        }
    }

    /// Brings the decision into the log. Returns what keeps the transaction's tables as they are.
    fn decide(
        &mut self,
        mut detached: Detached,
        decision: Decision,
    ) -> std::result::Result<MetadataPins, Box<(SqlError, Detached)>> {
        let Some(changes) = detached.changes.take() else { return Ok(detached.pins) };
        if let Err(error) = self.begin_decision(&detached, decision) {
            if self.tx.is_active() {
                // The error before is the one to tell.
                let _ = self.tx.rollback();
            }
            return Err(Box::new((error, Detached { changes: Some(changes), ..detached })));
        }
        match self.tx.decide(changes, decision) {
            Ok(()) => {
                self.state.track_commit(self.tx.commit_end());
                Ok(detached.pins)
            }
            Err(undecided) => {
                let Undecided { error, prepared } = *undecided;
                Err(Box::new((catalog::error::engine(error), Detached { changes: Some(prepared), ..detached })))
            }
        }
    }

    fn begin_decision(&mut self, detached: &Detached, decision: Decision) -> Result<()> {
        self.entry.stage(Doing::HandlerCommit);
        let timeout = self.state.vars.hot().lock_wait_timeout;
        self.pins.begin_commit(Waiting { timeout, tx: &mut self.tx })?;
        if !self.tx.is_active() {
            self.tx.begin_as(Begin {
                isolation: Isolation::ReadCommitted,
                read_only: false,
                alone: false,
                now_us: self.state.clock_us,
            });
        }
        self.state.store_position(&mut self.tx)?;
        if detached.logged {
            let word = if decision == Decision::Commit { "COMMIT" } else { "ROLLBACK" };
            self.state.log_xa_decision(&mut self.tx, &format!("XA {word} {}", detached.id))?;
        }
        Ok(())
    }

    /// The session has no XA transaction any more; what it did is the caller's to end. One that is prepared waits for another session.
    pub(crate) fn xa_over(&mut self) {
        let Some(xa) = self.xa.take() else { return };
        if xa.stage == Stage::Prepared {
            self.server.xids.detach(&xa.id);
        } else {
            self.server.xids.remove(&xa.id);
        }
        self.restrict();
    }

    /// XA RECOVER: prepared transactions. Error 1401.
    pub(crate) fn xa_recover(&mut self, convert: bool, out: &mut Output) -> Result<Done> {
        if self.need(Action::RecoverXa).is_err() {
            return Err(err!(ER_XAER_RMERR));
        }
        let number = DataType::new(TypeKind::BigInt);
        let data = DataType::string(TypeKind::VarChar, 258, types::collation::CollationId::UTF8MB4_0900_AI_CI);
        let columns = [("formatID", number), ("gtrid_length", number), ("bqual_length", number), ("data", data)];
        let row = |id: XaId| {
            let bytes = [&id.gtrid[..], &id.bqual[..]].concat();
            let text = match convert {
                true => bytes.iter().fold("0x".to_string(), |text, byte| text + &format!("{byte:02X}")).into_bytes(),
                false => bytes,
            };
            let int = |n: usize| Value::Int(n as i64);
            let (first, second) = (id.gtrid.len(), id.bqual.len());
            vec![int(id.format as usize), int(first), int(second), Value::Bytes(text.into())]
        };
        let rows = self.server.xids.prepared().into_iter().map(row).collect();
        self.send(Rows::new(&columns, rows), out)
    }
}
