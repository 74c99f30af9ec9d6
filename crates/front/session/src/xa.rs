//! XA transactions in one session: start, work, end, and commit in one phase or roll back. XA PREPARE is refused: the engine can
//! not keep a transaction beyond its session yet, so there is never one to recover.

use crate::command::{Done, Session};
use crate::needs::Action;
use inspect::Rows;
use protocol::Output;
use sql::ast::{Parsed, Statement, Xa, Xid};
use std::collections::BTreeSet;
use types::{DataType, Result, SqlError, TypeKind, err};

/// Identifiers of XA transactions of all sessions.
pub(crate) type XaNames = BTreeSet<Vec<u8>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Active,
    Idle,
    /// The engine has rolled it back: nothing is left but XA ROLLBACK.
    RollbackOnly,
}

/// The session's XA transaction.
#[derive(Debug)]
pub(crate) struct XaTransaction {
    name: Vec<u8>,
    stage: Stage,
}

impl XaTransaction {
    /// Does it refuse statements that read or write tables?
    pub fn is_ended(&self) -> bool {
        self.stage != Stage::Active
    }

    fn words(&self) -> &'static str {
        match self.stage {
            Stage::Active => "ACTIVE",
            Stage::Idle => "IDLE",
            Stage::RollbackOnly => "ROLLBACK ONLY",
        }
    }
}

/// Bytes of the format in a name: identifiers of the same parts in two formats are the same to other sessions.
const FORMAT_BYTES: usize = 8;

/// Format, length of the first part, both parts: equal for equal identifiers only.
fn name_of(parsed: &Parsed, xid: Xid) -> Vec<u8> {
    let (first, second) = (parsed.bytes(xid.gtrid), xid.bqual.map_or(&b""[..], |b| parsed.bytes(b)));
    let mut name = xid.format_id.to_be_bytes().to_vec();
    name.push(first.len() as u8);
    name.extend_from_slice(first);
    name.extend_from_slice(second);
    name
}

impl Session {
    /// Error 1399 for what an XA transaction in progress does not allow: everything that would end it or begin another one, and
    /// after XA END everything that touches tables.
    pub(crate) fn check_xa(&self, statement: &Statement) -> Result<()> {
        use Statement as S;
        let Some(xa) = &self.xa else { return Ok(()) };
        let may = match statement {
            S::Xa(_)
            | S::Set(_)
            | S::Use(_)
            | S::Prepare { .. }
            | S::Execute { .. }
            | S::Deallocate(_)
            | S::Kill { .. } => true,
            S::Show(_) | S::Explain(_) | S::DescribeTable { .. } | S::LoadData(_) => xa.stage == Stage::Active,
            S::Savepoint(_) | S::RollbackTo(_) | S::ReleaseSavepoint(_) => xa.stage == Stage::Active,
            _ => false,
        };
        if may { Ok(()) } else { Err(self.wrong_stage()) }
    }

    pub(crate) fn wrong_stage(&self) -> SqlError {
        err!(1399, self.xa.as_ref().map_or("NON-EXISTING", XaTransaction::words))
    }

    pub(crate) fn xa(&mut self, parsed: &Parsed, xa: Xa) -> Result<&'static str> {
        match xa {
            Xa::Start { xid, join, resume } => {
                if join || resume {
                    return Err(err!(1398));
                }
                self.xa_start(name_of(parsed, xid))?;
                Ok("xa_start")
            }
            Xa::End { xid, suspend, .. } => {
                if suspend {
                    return Err(err!(1398));
                }
                self.xa_end(&name_of(parsed, xid))?;
                Ok("xa_end")
            }
            Xa::Prepare(xid) => {
                self.own_xa(&name_of(parsed, xid), Stage::Idle)?;
                Err(err!(1235, "XA PREPARE"))
            }
            Xa::Commit { xid, one_phase } => {
                self.named_xa(&name_of(parsed, xid))?;
                if !one_phase {
                    return Err(self.wrong_stage());
                }
                self.own_xa(&name_of(parsed, xid), Stage::Idle)?;
                self.xa_over();
                self.commit_all()?;
                Ok("xa_commit")
            }
            Xa::Rollback(xid) => {
                self.named_xa(&name_of(parsed, xid))?;
                if self.xa.as_ref().is_some_and(|xa| xa.stage == Stage::Active) {
                    return Err(self.wrong_stage());
                }
                self.xa_over();
                let kept = self.transaction.kept;
                self.rollback_all();
                if kept {
                    self.tell_kept();
                }
                Ok("xa_rollback")
            }
            Xa::Recover { .. } => unreachable!("it answers rows"),
        }
    }

    fn xa_start(&mut self, name: Vec<u8>) -> Result<()> {
        if self.xa.is_some() {
            return Err(self.wrong_stage());
        }
        if self.transaction.explicit || self.tx.is_active() || self.locked.is_some() {
            return Err(err!(1400));
        }
        let mut is_new = false;
        self.server.xa_names.update(|names| {
            let mut names = names.clone();
            is_new = names.insert(name[FORMAT_BYTES..].to_vec());
            names
        });
        if !is_new {
            return Err(err!(1440));
        }
        self.xa = Some(XaTransaction { name, stage: Stage::Active });
        self.begin(false, None)?;
        self.restrict();
        Ok(())
    }

    fn xa_end(&mut self, name: &[u8]) -> Result<()> {
        self.own_xa(name, Stage::Active)?;
        let rolled_back = !self.transaction.explicit;
        let xa = self.xa.as_mut().expect("it is the session's own");
        xa.stage = if rolled_back { Stage::RollbackOnly } else { Stage::Idle };
        self.restrict();
        if rolled_back { Err(err!(1402)) } else { Ok(()) }
    }

    /// The session's own transaction, at this stage. Errors 1397, 1399.
    fn own_xa(&self, name: &[u8], stage: Stage) -> Result<()> {
        match &self.xa {
            Some(xa) if xa.stage != stage => Err(self.wrong_stage()),
            Some(xa) if xa.name != name => Err(err!(1397)),
            Some(_) => Ok(()),
            None => Err(self.wrong_stage()),
        }
    }

    /// XA COMMIT and ROLLBACK: with none in progress the name would be that of a prepared one, and there is none. Errors 1397,
    /// 1399.
    fn named_xa(&self, name: &[u8]) -> Result<()> {
        match &self.xa {
            Some(xa) if xa.name != name => Err(self.wrong_stage()),
            Some(_) => Ok(()),
            None => Err(err!(1397)),
        }
    }

    /// The session has no XA transaction any more; what it did is the caller's to end.
    pub(crate) fn xa_over(&mut self) {
        let Some(xa) = self.xa.take() else { return };
        self.server.xa_names.update(|names| {
            let mut names = names.clone();
            names.remove(&xa.name[FORMAT_BYTES..]);
            names
        });
        self.restrict();
    }

    /// XA RECOVER: prepared transactions, of which there are none. Error 1401.
    pub(crate) fn xa_recover(&mut self, out: &mut Output) -> Result<Done> {
        if self.need(Action::RecoverXa).is_err() {
            return Err(err!(1401));
        }
        let number = DataType::new(TypeKind::BigInt);
        let data = DataType::string(TypeKind::VarChar, 128, types::collation::CollationId::UTF8MB4_0900_AI_CI);
        let columns = [("formatID", number), ("gtrid_length", number), ("bqual_length", number), ("data", data)];
        self.send(Rows::new(&columns, Vec::new()), out)
    }
}
