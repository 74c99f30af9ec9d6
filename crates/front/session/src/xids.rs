//! Identifiers of XA transactions, of all sessions, and the transactions that are prepared: nobody's, until somebody decides.
//!
//! ```text
//!   label in the engine   flags u8 | format u32 | length of the first part u8 | first part | second part
//!   flags                 1: it is in the binary log, and so will be what becomes of it
//! ```

use binlog::event::XaId;
use catalog::MetadataPins;
use engine::Prepared;
use std::collections::BTreeMap;
use sync::{Mutex, Rank};

/// A prepared transaction.
pub(crate) struct Detached {
    pub id: XaId,
    /// `None`: it has changed nothing, and the next start knows nothing of it.
    pub changes: Option<Prepared>,
    /// Keeps its tables as they are.
    pub pins: MetadataPins,
    /// The binary log has it.
    pub logged: bool,
}

enum Entry {
    /// A session has it, and it is not prepared.
    Session,
    /// `attached`: a session has it still, and nobody else may decide.
    Prepared { of: Box<Detached>, attached: bool },
    /// Somebody is deciding.
    Deciding,
}

/// W, R: XA statements.
pub(crate) struct Xids(Mutex<BTreeMap<Vec<u8>, Entry>>);

impl Default for Xids {
    fn default() -> Xids {
        Xids(Mutex::new(Rank::Session, BTreeMap::new()))
    }
}

/// Identifiers of the same parts in two formats are the same here, as in MySQL.
fn key(id: &XaId) -> Vec<u8> {
    [&[id.gtrid.len() as u8], &id.gtrid[..], &id.bqual[..]].concat()
}

impl Xids {
    /// A session begins one. False: there is one already.
    pub fn begin(&self, id: &XaId) -> bool {
        let mut all = self.0.lock();
        let is_new = !all.contains_key(&key(id));
        if is_new {
            all.insert(key(id), Entry::Session);
        }
        is_new
    }

    /// It is over.
    pub fn remove(&self, id: &XaId) {
        self.0.lock().remove(&key(id));
    }

    pub fn put(&self, of: Detached, attached: bool) {
        let entry = Entry::Prepared { attached, of: Box::new(of) };
        self.0.lock().insert(key(&entry_id(&entry)), entry);
    }

    /// The session that had it has gone.
    pub fn detach(&self, id: &XaId) {
        if let Some(Entry::Prepared { attached, .. }) = self.0.lock().get_mut(&key(id)) {
            *attached = false;
        }
    }

    /// For who decides: [`Xids::put`] or [`Xids::remove`] follows. `own`: the session has it.
    pub fn take(&self, id: &XaId, own: bool) -> Option<Detached> {
        let mut all = self.0.lock();
        let entry = all.get_mut(&key(id))?;
        if !matches!(entry, Entry::Prepared { of, attached } if of.id == *id && *attached == own) {
            return None;
        }
        match std::mem::replace(entry, Entry::Deciding) {
            Entry::Prepared { of, .. } => Some(*of),
            Entry::Session | Entry::Deciding => None,
        }
    }

    /// Those that are prepared.
    pub fn prepared(&self) -> Vec<XaId> {
        let all = self.0.lock();
        let id = |entry: &Entry| matches!(entry, Entry::Prepared { .. }).then(|| entry_id(entry));
        all.values().filter_map(id).collect()
    }
}

fn entry_id(entry: &Entry) -> XaId {
    match entry {
        Entry::Prepared { of, .. } => of.id.clone(),
        Entry::Session | Entry::Deciding => unreachable!("asked of prepared ones"),
    }
}

/// What the engine keeps of it.
pub(crate) fn label(id: &XaId, logged: bool) -> Vec<u8> {
    let mut label = vec![u8::from(logged)];
    label.extend_from_slice(&id.format.to_le_bytes());
    label.push(id.gtrid.len() as u8);
    label.extend_from_slice(&id.gtrid);
    label.extend_from_slice(&id.bqual);
    label
}

pub(crate) fn of_label(label: &[u8]) -> Option<(XaId, bool)> {
    let (flags, rest) = label.split_first()?;
    let (format, rest) = rest.split_first_chunk()?;
    let (len, rest) = rest.split_first()?;
    let (gtrid, bqual) = rest.split_at_checked(usize::from(*len))?;
    Some((XaId { format: u32::from_le_bytes(*format), gtrid: gtrid.into(), bqual: bqual.into() }, flags & 1 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_tells_the_identifier() {
        for (gtrid, bqual, format, logged) in [("a", "", 1, true), ("ab", "c", u32::MAX, false), ("", "x", 0, true)] {
            let id = XaId { format, gtrid: gtrid.into(), bqual: bqual.into() };
            assert_eq!(of_label(&label(&id, logged)), Some((id, logged)));
        }
        assert_eq!(of_label(&[1, 0, 0, 0, 0, 9, b'a']), None);
    }
}
