//! Mini-transactions: changes of one or more latched pages that are redone together or not at all, as one group of the log.
//!
//! Every method changes the page and notes the change; [`Mtr::commit`] appends the notes as one log group, stamps the pages
//! with the group's end LSN and marks them dirty, before the latches are given back. A group is a sequence of
//!
//! ```text
//!  0    1           7
//!  +----+-----------+---------------------------+
//!  | op | page id   | what the op needs         |     page id: 48 bits, little-endian
//!  +----+-----------+---------------------------+
//!  IMAGE      low u16, high u16, bytes 0..low, bytes high..16384 (zeroes between)
//!  INSERT     slot u16, key length u16, value length u16, key rest, value
//!  REMOVE     slot u16
//!  REPLACE    slot u16, length u16, value
//!  PATCH      slot u16, offset in value u16, length u16, bytes
//!  TRUNCATE   keep u16, upper fence length u16, upper fence      (the left half of a split)
//!  WRITE      offset u16, length u16, bytes
//!  UNDO       length u16, undo record                            (appended to an undo page)
//!  END        transaction id u64                                 (the transaction is over: committed or undone)
//! ```
//!
//! Groups that commit a transaction with events begin with those: see [`crate::events`].
//!
//! Redo is physiological: ops name slots, and apply to a page exactly once, in order, by its page LSN.

use crate::events;
use crate::page::node::{Node, NodeMut};
use crate::page::{self, OFF_LSN, PAGE_BYTES, PageId, PageType, get_u16, get_u64, put_u64};
use crate::pool::Exclusive;
use crate::undo;
use log::{Log, Lsn};
use observe::Counter;
use std::cell::RefCell;

const OP_IMAGE: u8 = 1;
const OP_INSERT: u8 = 2;
const OP_REMOVE: u8 = 3;
const OP_REPLACE: u8 = 4;
const OP_PATCH: u8 = 5;
const OP_TRUNCATE: u8 = 6;
const OP_WRITE: u8 = 7;
const OP_UNDO: u8 = 8;
const OP_END: u8 = 9;

const OP_HEAD_BYTES: usize = 7;

thread_local! {
    /// The last mini-transaction's buffer, for the next one.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A mini-transaction in the making.
pub struct Mtr {
    group: Vec<u8>,
    /// It is encrypted whatever pages it changes.
    sealed: bool,
}

impl Mtr {
    pub fn new() -> Mtr {
        let mut group = BUFFER.take();
        group.clear();
        Mtr { group, sealed: false }
    }

    /// Puts events in front: before any op.
    pub fn events(&mut self, last: &events::Last<'_>) {
        assert!(self.group.is_empty(), "events stand at the front of their group");
        last.put(&mut self.group);
        self.sealed |= last.sealed;
    }

    /// Bytes of the group so far.
    pub fn bytes(&self) -> usize {
        self.group.len()
    }

    fn op(&mut self, op: u8, page: PageId) {
        debug_assert!(page < 1 << 48, "a page id has 48 bits");
        self.group.push(op);
        self.group.extend_from_slice(&page.to_le_bytes()[..6]);
    }

    fn u16(&mut self, v: usize) {
        debug_assert!(v <= usize::from(u16::MAX), "{v} is beyond a page");
        self.group.extend_from_slice(&(v as u16).to_le_bytes());
    }

    /// The page as it is now: after it was formatted or rebuilt.
    pub fn image(&mut self, page: &Exclusive<'_>) {
        let bytes = page.bytes();
        let (low, high) = used_ends(bytes);
        debug_assert!(low <= high && high <= PAGE_BYTES, "what is unused lies between {low} and {high}");
        self.op(OP_IMAGE, page.id);
        self.u16(low);
        self.u16(high);
        self.group.extend_from_slice(&bytes[..low]);
        self.group.extend_from_slice(&bytes[high..]);
    }

    /// Inserts a cell at a slot; `rest` is the key without the node's prefix.
    pub fn insert(&mut self, page: &mut Exclusive<'_>, slot: usize, rest: &[u8], value: &[u8]) {
        debug_assert!(slot <= Node(page.bytes()).len(), "slot {slot} would leave a hole");
        NodeMut(page.bytes_mut()).insert_rest(slot, rest, value);
        self.op(OP_INSERT, page.id);
        self.u16(slot);
        self.u16(rest.len());
        self.u16(value.len());
        self.group.extend_from_slice(rest);
        self.group.extend_from_slice(value);
    }

    pub fn remove(&mut self, page: &mut Exclusive<'_>, slot: usize) {
        debug_assert!(slot < Node(page.bytes()).len(), "nothing is in slot {slot}");
        NodeMut(page.bytes_mut()).remove(slot);
        self.op(OP_REMOVE, page.id);
        self.u16(slot);
    }

    /// Replaces a value by one of any length that fits.
    pub fn replace(&mut self, page: &mut Exclusive<'_>, slot: usize, value: &[u8]) {
        debug_assert!(Node(page.bytes()).fits_value(slot, value.len()), "the caller has found room");
        NodeMut(page.bytes_mut()).replace_value(slot, value);
        self.op(OP_REPLACE, page.id);
        self.u16(slot);
        self.u16(value.len());
        self.group.extend_from_slice(value);
    }

    /// Overwrites part of a value.
    pub fn patch(&mut self, page: &mut Exclusive<'_>, slot: usize, offset: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        NodeMut(page.bytes_mut()).value_mut(slot)[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.op(OP_PATCH, page.id);
        self.u16(slot);
        self.u16(offset);
        self.u16(bytes.len());
        self.group.extend_from_slice(bytes);
    }

    /// Keeps the first `keep` slots and sets the upper fence.
    pub fn truncate(&mut self, page: &mut Exclusive<'_>, keep: usize, upper: &[u8]) {
        debug_assert!(keep <= Node(page.bytes()).len(), "of fewer slots {keep} cannot stay");
        truncate(page.bytes_mut(), keep, upper);
        self.op(OP_TRUNCATE, page.id);
        self.u16(keep);
        self.u16(upper.len());
        self.group.extend_from_slice(upper);
    }

    /// Overwrites bytes of a page that is no node.
    pub fn write(&mut self, page: &mut Exclusive<'_>, offset: usize, bytes: &[u8]) {
        page.bytes_mut()[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.op(OP_WRITE, page.id);
        self.u16(offset);
        self.u16(bytes.len());
        self.group.extend_from_slice(bytes);
    }

    /// Appends a record to an undo page and returns its offset. The caller has checked that there is room.
    pub fn undo(&mut self, page: &mut Exclusive<'_>, record: &[u8]) -> usize {
        debug_assert!(undo::fits(page.bytes(), record.len()), "the caller has found room");
        debug_assert!(undo::Record::decode(record).is_some(), "what is appended can be read again");
        let id = page.id;
        let at = undo::append(page.bytes_mut(), id, record);
        self.op(OP_UNDO, page.id);
        self.u16(record.len());
        self.group.extend_from_slice(record);
        at
    }

    /// Notes on the newest undo page of a transaction that it is over.
    pub fn end_transaction(&mut self, page: &mut Exclusive<'_>, trx: u64) {
        undo::end_transaction(page.bytes_mut(), trx);
        self.op(OP_END, page.id);
        self.group.extend_from_slice(&trx.to_le_bytes());
    }

    /// Appends the group to the log, encrypted if one of the pages is. Returns its end: the pages' new LSN.
    pub fn commit(self, log: &Log, pages: &mut [&mut Exclusive<'_>]) -> Lsn {
        self.commit_with(log, pages, |_| ())
    }

    /// As [`Mtr::commit`], calling `publish(end)` when the group's place is fixed and before any flush can cover it.
    pub fn commit_with(mut self, log: &Log, pages: &mut [&mut Exclusive<'_>], publish: impl FnOnce(Lsn)) -> Lsn {
        debug_assert!(!self.group.is_empty(), "a group says something");
        let sealed = self.sealed || pages.iter().any(|page| page::is_encrypted(page.bytes()));
        let mut reservation = match log.reserve_as(self.group.len(), sealed) {
            Ok(reservation) => reservation,
            // Pages in memory are ahead of a log that takes no more: what is on disk is consistent, memory is not.
            Err(error) => fatal(&error),
        };
        let (start, end) = (reservation.lsn(), reservation.end());
        debug_assert!(start < end, "a group takes room");
        publish(end);
        let mut changed = 0;
        for page in pages.iter_mut().filter(|page| page.is_changed()) {
            debug_assert!(get_u64(page.bytes(), OFF_LSN) <= start, "a page's changes follow one another in the log");
            put_u64(page.bytes_mut(), OFF_LSN, end);
            page.set_dirty(start);
            changed += 1;
        }
        observe::add(Counter::InnodbBufferPoolWriteRequests, changed);
        reservation.fill(&self.group);
        reservation.complete();
        BUFFER.set(std::mem::take(&mut self.group));
        end
    }
}

#[cold]
fn fatal(error: &log::Error) -> ! {
    eprintln!(
        "[ERROR] [Engine] the log takes no more groups, stopping so that recovery can start from what is durable: \
         {error}"
    );
    std::process::abort()
}

/// The used bytes at both ends of a page: `0..low` and `high..`.
fn used_ends(bytes: &[u8]) -> (usize, usize) {
    let node = Node(bytes);
    if node.is_node() {
        let high = get_u16(bytes, 30) as usize;
        return (high - node.gap(), high);
    }
    if page::page_type(bytes) == Some(PageType::Undo) {
        return (undo::free_at(bytes), PAGE_BYTES);
    }
    let low = bytes.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
    (low, PAGE_BYTES)
}

fn truncate(bytes: &mut [u8], keep: usize, upper: &[u8]) {
    let lower = Node(bytes).lower_fence().expect("a latched node has sound offsets").map(<[u8]>::to_vec);
    NodeMut(bytes).rebuild(0..keep, lower.as_deref(), Some(upper));
}

/// One decoded op of a group.
pub struct Op<'g> {
    pub page: PageId,
    op: u8,
    args: &'g [u8],
}

impl<'g> Op<'g> {
    /// Takes the first op off the rest of a group. `Err` says what is wrong with it.
    pub fn split_from(rest: &mut &'g [u8]) -> Result<Op<'g>, String> {
        let Some((head, tail)) = rest.split_at_checked(OP_HEAD_BYTES) else {
            return Err(format!("{} bytes are too few for an op", rest.len()));
        };
        let op = head[0];
        let mut id = [0; 8];
        id[..6].copy_from_slice(&head[1..]);
        let arg = |at: usize| tail.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]) as usize);
        let len = match op {
            OP_IMAGE => arg(0).zip(arg(2)).and_then(|(low, high)| Some(4 + low + PAGE_BYTES.checked_sub(high)?)),
            OP_INSERT => arg(2).zip(arg(4)).map(|(k, v)| 6 + k + v),
            OP_REMOVE => Some(2),
            OP_REPLACE | OP_TRUNCATE | OP_WRITE => arg(2).map(|n| 4 + n),
            OP_PATCH => arg(4).map(|n| 6 + n),
            OP_UNDO => arg(0).map(|n| 2 + n),
            OP_END => Some(8),
            other => return Err(format!("unknown op {other}")),
        };
        let Some((args, tail)) = len.and_then(|len| tail.split_at_checked(len)) else {
            return Err(format!("op {op} is cut short"));
        };
        *rest = tail;
        Ok(Op { page: u64::from_le_bytes(id), op, args })
    }

    /// Does it change what a rollback goes by?
    pub fn is_undo(&self) -> bool {
        matches!(self.op, OP_UNDO | OP_END)
    }

    /// Does it make the page from nothing, so that what is on disk does not matter?
    pub fn is_image(&self) -> bool {
        self.op == OP_IMAGE
    }

    /// The transaction whose undo record this is, if it is one.
    pub fn undo_transaction(&self) -> Option<u64> {
        (self.op == OP_UNDO).then(|| undo::record_transaction(&self.args[2..]))
    }

    /// The op in the words of this file's head, without its bytes.
    pub fn describe(&self) -> String {
        // `split_from` has seen that the arguments are there; what they say may be anything.
        let arg = |at: usize| get_u16(self.args, at);
        let what = match self.op {
            OP_IMAGE => format!("IMAGE of {} bytes", self.args.len() - 4),
            OP_INSERT => format!("INSERT slot {}, key rest of {} bytes, value of {}", arg(0), arg(2), arg(4)),
            OP_REMOVE => format!("REMOVE slot {}", arg(0)),
            OP_REPLACE => format!("REPLACE slot {}, value of {} bytes", arg(0), arg(2)),
            OP_PATCH => format!("PATCH slot {}, offset {}, {} bytes", arg(0), arg(2), arg(4)),
            OP_TRUNCATE => format!("TRUNCATE to {} slots", arg(0)),
            OP_WRITE => format!("WRITE offset {}, {} bytes", arg(0), arg(2)),
            OP_UNDO => match undo::Record::decode(&self.args[2..]) {
                Some(record) => format!("UNDO {:?} of transaction {}", record.kind, record.trx),
                None => "UNDO, DAMAGED".to_owned(),
            },
            OP_END => format!("END of transaction {}", get_u64(self.args, 0)),
            other => unreachable!("`split_from` refused op {other}"),
        };
        format!("page {}: {what}", self.page)
    }

    /// Redoes the op on its page: reads and writes nothing else.
    pub fn apply(&self, bytes: &mut [u8]) {
        let arg = |at: usize| get_u16(self.args, at) as usize;
        match self.op {
            OP_IMAGE => {
                let (low, high) = (arg(0), arg(2));
                bytes.fill(0);
                bytes[..low].copy_from_slice(&self.args[4..4 + low]);
                bytes[high..].copy_from_slice(&self.args[4 + low..]);
            }
            OP_INSERT => {
                let (rest, value) = self.args[6..].split_at(arg(2));
                NodeMut(bytes).insert_rest(arg(0), rest, value);
            }
            OP_REMOVE => NodeMut(bytes).remove(arg(0)),
            OP_REPLACE => NodeMut(bytes).replace_value(arg(0), &self.args[4..]),
            OP_PATCH => NodeMut(bytes).value_mut(arg(0))[arg(2)..][..arg(4)].copy_from_slice(&self.args[6..]),
            OP_TRUNCATE => truncate(bytes, arg(0), &self.args[4..]),
            OP_WRITE => bytes[arg(0)..][..arg(2)].copy_from_slice(&self.args[4..]),
            OP_UNDO => {
                undo::append(bytes, self.page, &self.args[2..]);
            }
            OP_END => undo::end_transaction(bytes, get_u64(self.args, 0)),
            other => unreachable!("`split_from` refused op {other}"),
        }
    }
}
