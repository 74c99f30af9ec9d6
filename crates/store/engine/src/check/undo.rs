//! Undo: the directory, segments from the oldest page to the newest, records, open transactions.

use super::{Checker, Page, Reached};
use crate::btree::Target;
use crate::page::node::Node;
use crate::page::{OFF_WORD_A, PageId, PageType, get_u64};
use crate::segment::{ENTRIES_AT, ENTRIES_MAX, OFF_COUNT};
use crate::space::UNDO_DIRECTORY;
use crate::txn::Status;
use crate::undo::{self, Kind, RECORDS_AT, Record};
use crate::version::{Header, LongReference};
use crate::{Tree, TreeKind};

/// What undo records say of trees and long values, to be followed once the trees of tables have been.
#[derive(Default)]
pub(super) struct History {
    /// Trees that open transactions have made.
    made: Vec<Tree>,
    /// Trees that are to be freed.
    dropped: Vec<Tree>,
    /// Long values that were dropped.
    replaced: Vec<Replaced>,
}

struct Replaced {
    reference: LongReference,
    /// Somebody may still read it.
    is_needed: bool,
    page: PageId,
    tree: Tree,
}

/// Where a segment is being read.
struct At {
    /// The transaction that is open in it; 0: none.
    open: u64,
    /// The transaction of the record before.
    last: u64,
}

/// A change of an open transaction that a rollback would undo.
struct Undoable {
    tree: Tree,
    key: Vec<u8>,
    page: PageId,
}

impl Checker<'_> {
    pub(super) fn undo(&mut self) -> History {
        let mut history = History::default();
        let mut directory = UNDO_DIRECTORY;
        while directory != 0 {
            let Some(page) = self.reach(directory, PageType::UndoSegment, Reached::UndoDirectory) else { break };
            let count = get_u64(&page, OFF_COUNT);
            if count > ENTRIES_MAX {
                self.say(Some(directory), None, format!("the undo directory counts {count} segments on one page"));
            }
            for i in 0..count.min(ENTRIES_MAX) {
                self.segment(get_u64(&page, ENTRIES_AT + i as usize * 8), &mut history);
            }
            directory = get_u64(&page, OFF_WORD_A);
        }
        history
    }

    fn segment(&mut self, segment: PageId, history: &mut History) {
        let Some(head) = self.reach(segment, PageType::UndoSegment, Reached::Segment) else { return };
        let (first, newest) = (get_u64(&head, undo::OFF_FIRST), get_u64(&head, undo::OFF_NEWEST));
        let open = self.page(newest).and_then(|page| undo::open_transaction(&page));
        if let Some((trx, _)) = open {
            self.report.open_transactions += 1;
            let is_prepared = self.page(newest).is_some_and(|page| undo::prepared_label(&page).is_some());
            self.report.prepared_transactions += u64::from(is_prepared);
            if !matches!(self.core.system.status(trx), Status::Open(_)) {
                let status = self.core.system.status(trx);
                self.say(Some(newest), None, format!("transaction {trx} is open here, and elsewhere {status:?}"));
            }
        }
        let mut at = At { open: open.map_or(0, |(trx, _)| trx), last: 0 };
        let mut undoable = Vec::new();
        let (mut id, mut before) = (first, None);
        let mut found_first = open.is_none();
        loop {
            let Some(page) = self.reach(id, PageType::Undo, Reached::Undo) else { return };
            // A segment's very first page was made before its head and names none.
            if ![0, segment].contains(&undo::segment(&page)) {
                self.say(Some(id), None, format!("it says that it belongs to undo segment {}", undo::segment(&page)));
            }
            // The page before the first one has been freed.
            if let Some(before) = before
                && get_u64(&page, OFF_WORD_A) != before
            {
                self.say(Some(id), None, format!("it does not say that page {before} is before it"));
            }
            found_first |= open.is_some_and(|(_, roll_ptr)| undo::split_roll_ptr(roll_ptr).0 == id);
            self.records(id, &page, &mut at, history, &mut undoable);
            if id == newest {
                if undo::next(&page) != 0 {
                    self.say(Some(id), None, "it is the newest of its segment and has a next one");
                }
                break;
            }
            (id, before) = (undo::next(&page), Some(id));
            if id == 0 {
                self.say(before, None, format!("undo segment {segment} ends before its newest page {newest}"));
                break;
            }
        }
        if !found_first {
            self.say(Some(newest), None, format!("the first record of open transaction {} is gone", at.open));
        }
        self.undoable(undoable, at.open);
    }

    fn records(&mut self, id: PageId, page: &Page, at: &mut At, history: &mut History, undoable: &mut Vec<Undoable>) {
        let (mut offset, end) = (RECORDS_AT, undo::free_at(page));
        while offset < end {
            let record = undo::record_len(page, offset).map(|len| &page[offset..offset + len]);
            let decoded = record.and_then(|record| Some((record, Record::decode(record)?)));
            let Some((bytes, record)) = decoded else {
                return self.say(Some(id), None, format!("there is no undo record at offset {offset}"));
            };
            if undo::record_before(page, offset + bytes.len()) != Some(offset) {
                self.say(Some(id), None, format!("the lengths of the undo record at offset {offset} differ"));
            }
            self.report.undo_records += 1;
            self.check_transaction(record.trx, id, Some(record.tree), &format!("the undo record at offset {offset}"));
            if record.trx < at.last {
                let what = format!("transaction {} stands after {} in one undo segment", record.trx, at.last);
                self.say(Some(id), None, what);
            }
            at.last = record.trx;
            self.record(id, &record, undo::is_undone(bytes), at.open, history, undoable);
            offset += bytes.len();
        }
        if offset > end {
            self.say(Some(id), None, format!("the last undo record ends at offset {offset}, the records at {end}"));
        }
    }

    fn record(
        &mut self,
        page: PageId,
        record: &Record<'_>,
        is_undone: bool,
        open: u64,
        history: &mut History,
        undoable: &mut Vec<Undoable>,
    ) {
        let kind = if record.secondary { TreeKind::Secondary } else { TreeKind::Clustered };
        let tree = Tree { id: record.tree, root: record.root, kind };
        let is_open = open != 0 && record.trx == open;
        match record.kind {
            // What is undone is freed; what stays is its table's once its transaction is over.
            Kind::CreateTree if is_open => history.made.push(tree),
            Kind::CreateTree => {}
            Kind::DropTree if !is_open && !is_undone => history.dropped.push(tree),
            Kind::DropTree | Kind::Prepare => {}
            // Whole if a row has it, which knows it then.
            Kind::LongValue => {
                let references = record.dropped.iter().filter(|_| is_open && !is_undone);
                let replaced =
                    |reference: &LongReference| Replaced { reference: *reference, is_needed: false, page, tree };
                history.replaced.extend(references.map(replaced));
            }
            Kind::Insert | Kind::Update => {
                // Over a deletion that nobody needs: purge may have freed them before.
                let before = Header(record.header);
                let is_gone = before.is_deleted() && !self.is_needed(before.trx());
                let is_needed = !is_undone && !is_gone && self.is_needed(record.trx);
                let replaced = |reference: &LongReference| Replaced { reference: *reference, is_needed, page, tree };
                history.replaced.extend(record.dropped.iter().map(replaced));
                if is_open && !is_undone {
                    undoable.push(Undoable { tree, key: record.key.to_vec(), page });
                }
            }
        }
    }

    /// What an open transaction has changed says so: else its rollback would pass it over. Its tables may be gone, if it is rolled
    /// back without its session.
    fn undoable(&mut self, undoable: Vec<Undoable>, open: u64) {
        for Undoable { tree, key, page } in undoable {
            if self.core.store().exists(tree).is_ok_and(|exists| !exists) {
                continue;
            }
            match self.writer_of(tree, &key) {
                Ok(Some(trx)) if trx == open => {}
                Ok(trx) => {
                    let now =
                        trx.map_or_else(|| "there is no such entry".into(), |trx| format!("transaction {trx} did"));
                    let what = format!("by its undo record open transaction {open} wrote an entry, by the tree {now}");
                    self.say(Some(page), Some(tree.id), what);
                }
                Err(error) => self.say(Some(page), Some(tree.id), error.to_string()),
            }
        }
    }

    /// Who wrote the newest version of an entry.
    fn writer_of(&self, tree: Tree, key: &[u8]) -> crate::Result<Option<u64>> {
        let store = self.core.store();
        loop {
            let leaf = store.leaf(tree, Target::At(key))?;
            let node = Node(leaf.bytes());
            let found =
                node.search(key).and_then(|(slot, equal)| if equal { node.value(slot).map(Some) } else { Ok(None) });
            match found {
                Ok(value) => {
                    let trx = value.and_then(Header::of).map(Header::trx);
                    if leaf.validate() {
                        return Ok(trx);
                    }
                }
                Err(torn) => store.torn(leaf, torn)?,
            }
        }
    }

    /// Trees and long values that only undo records know of.
    pub(super) fn history(&mut self, history: History) {
        for tree in history.made {
            self.made.insert(tree.id);
            self.hidden_tree(tree);
        }
        for tree in history.dropped {
            self.dropped.insert(tree.id);
            self.hidden_tree(tree);
        }
        for Replaced { reference, is_needed, page, tree } in history.replaced {
            // Long values go with their tree's space, whatever undo still says of them: purge and rollback pass it over.
            if self.core.store().exists(tree).unwrap_or(true) {
                self.chain(&reference, false, is_needed, page, tree.id);
            }
        }
    }

    /// A tree that no table has, if it is there: it may have been freed, and its root be somebody else's.
    fn hidden_tree(&mut self, tree: Tree) {
        if !self.report.trees.contains_key(&tree.id) && self.core.store().exists(tree).unwrap_or(false) {
            self.tree(tree);
        }
    }
}
