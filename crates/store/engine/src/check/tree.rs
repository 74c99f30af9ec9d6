//! Trees from their roots down, rows, and the versions of rows that somebody may still read.

use super::{Checker, Reached};
use crate::overflow::{self, Piece};
use crate::page::node::Node;
use crate::page::{PageId, PageType, get_u64};
use crate::segment;
use crate::txn::Status;
use crate::undo::{self, Kind, Record};
use crate::version::{Header, LongReference, PAYLOAD_AT, ROW_AT, patch_back, without_spare};
use crate::{Tree, TreeKind};

/// What the parent says of a node.
struct Place<'k> {
    id: PageId,
    /// Unknown of a root.
    level: Option<u8>,
    lower: Option<&'k [u8]>,
    upper: Option<&'k [u8]>,
}

/// What stands in a leaf.
struct Entry<'e> {
    tree: Tree,
    page: PageId,
    key: &'e [u8],
    value: &'e [u8],
    /// Bytes that the value may have at its place.
    room: usize,
}

impl Checker<'_> {
    /// Checks a tree with everything that its rows refer to.
    pub(super) fn tree(&mut self, tree: Tree) {
        self.report.trees.insert(tree.id, Default::default());
        self.last_leaf = None;
        self.node(tree, Place { id: tree.root, level: None, lower: None, upper: None });
    }

    /// A node and what lies below it. Depth of recursion: the tree's height.
    fn node(&mut self, tree: Tree, place: Place<'_>) {
        let id = place.id;
        let level = match place.level {
            Some(level) => level,
            None => match self.page(id) {
                Some(page) => Node(&page).level(),
                None => return,
            },
        };
        let kind = if level > 0 { PageType::Inner } else { PageType::Leaf };
        let Some(page) = self.reach(id, kind, Reached::Node(tree.id)) else { return };
        let node = Node(&page);
        let say = |checker: &mut Self, what: String| checker.say(Some(id), Some(tree.id), what);
        if node.tree() != tree.id {
            return say(self, format!("it says that it belongs to tree {}", node.tree()));
        }
        if node.level() != level {
            return say(self, format!("its level is {}, and its parent's {}", node.level(), level + 1));
        }
        if let Err(what) = node.verify() {
            return say(self, what);
        }
        if (node.lower_fence(), node.upper_fence()) != (Ok(place.lower), Ok(place.upper)) {
            say(self, "its fences are not the separators around it in its parent".into());
        }
        let figures = self.report.trees.get_mut(&tree.id).expect("the tree is entered before its nodes");
        figures.nodes += 1;
        if node.is_leaf() {
            figures.entries += node.len() as u64;
            let before = self.last_leaf.replace(id);
            figures.jumps += before.is_some_and(|before| !(before + 1..=before + 2).contains(&id)) as u64;
            self.entries(tree, id, node);
        } else {
            self.children(tree, id, node, (place.lower, place.upper));
        }
    }

    fn children(&mut self, tree: Tree, id: PageId, node: Node<'_>, fences: (Option<&[u8]>, Option<&[u8]>)) {
        let n = node.len();
        let mut keys = vec![Vec::new(); n];
        for (i, key) in keys.iter_mut().enumerate() {
            node.copy_key(i, key).expect(VERIFIED);
        }
        for i in 0..=n {
            let Ok(child) = node.child(i) else {
                self.say(Some(id), Some(tree.id), format!("the entry of slot {} is no reference to a child", i - 1));
                continue;
            };
            let place = Place {
                id: child,
                level: Some(node.level() - 1),
                lower: if i == 0 { fences.0 } else { Some(&keys[i - 1]) },
                upper: if i == n { fences.1 } else { Some(&keys[i]) },
            };
            self.node(tree, place);
        }
    }

    fn entries(&mut self, tree: Tree, id: PageId, node: Node<'_>) {
        let mut key = Vec::new();
        for i in 0..node.len() {
            key.clear();
            node.copy_key(i, &mut key).expect(VERIFIED);
            let stored = node.value(i).expect(VERIFIED);
            let words = if tree.kind == TreeKind::Clustered { ROW_AT } else { PAYLOAD_AT };
            let Some(value) = without_spare(stored).filter(|value| value.len() >= words) else {
                self.say(Some(id), Some(tree.id), format!("the value of slot {i} has {} bytes", stored.len()));
                continue;
            };
            self.check_transaction(Header::read(value).trx(), id, Some(tree.id), &format!("slot {i}"));
            if tree.kind == TreeKind::Clustered {
                self.row(&Entry { tree, page: id, key: &key, value, room: stored.len() });
            }
        }
    }

    /// A row: what it refers to, and the versions of it that somebody may still read.
    fn row(&mut self, entry: &Entry<'_>) {
        let header = Header::read(entry.value);
        let (page, tree) = (Some(entry.page), Some(entry.tree.id));
        // Purge frees what a deleted row refers to before it removes the row.
        let whole = !self.dropped.contains(&entry.tree.id) && (!header.is_deleted() || self.is_needed(header.trx()));
        match overflow::references(header, &entry.value[ROW_AT..]) {
            Ok(references) => {
                references.iter().for_each(|long| self.chain(long, true, whole, entry.page, entry.tree.id));
            }
            Err(error) => self.say(page, tree, error.to_string()),
        }
        if matches!(self.core.system.status(header.trx()), Status::RolledBack) {
            self.say(page, tree, format!("a row is of transaction {}, which was rolled back", header.trx()));
        }
        if let Err(what) = self.versions(entry) {
            self.say(page, tree, what);
        }
    }

    /// Walks from a row to the oldest version that is needed, and puts each together.
    fn versions(&mut self, entry: &Entry<'_>) -> Result<(), String> {
        let (mut header, mut roll_ptr) = (Header::read(entry.value), get_u64(entry.value, 8));
        let (mut row, mut older, mut bytes) = (entry.value[ROW_AT..].to_vec(), Vec::new(), Vec::new());
        // A row that was loaded has no undo: the tree is its transaction's own.
        while roll_ptr != 0 && self.is_needed(header.trx()) {
            let (page, at) = undo::split_roll_ptr(roll_ptr);
            segment::read_record(self.core.store(), roll_ptr, &mut bytes).map_err(|error| error.to_string())?;
            let record = Record::decode(&bytes).expect("read_record checked it");
            let is_ours = record.trx == header.trx()
                && record.tree == entry.tree.id
                && !record.secondary
                && record.key == entry.key;
            if !is_ours || !matches!(record.kind, Kind::Insert | Kind::Update) {
                return Err(format!(
                    "a version by transaction {} leads to page {page}, offset {at}, where there is a record of \
                     transaction {} for another row",
                    header.trx(),
                    record.trx
                ));
            }
            if record.kind == Kind::Insert {
                return Ok(());
            }
            patch_back(&row, record.prefix, record.suffix, record.data, &mut older)
                .ok_or_else(|| format!("the undo record on page {page} at offset {at} does not fit its row"))?;
            let may_be_undone = matches!(self.core.system.status(record.trx), Status::Open(_));
            if may_be_undone && !undo::is_undone(&bytes) && ROW_AT + older.len() > entry.room {
                return Err(format!("transaction {} could not be undone: a row has no room to grow back", record.trx));
            }
            std::mem::swap(&mut row, &mut older);
            (header, roll_ptr) = (Header(record.header), record.roll_ptr);
        }
        Ok(())
    }

    /// The pages of a long value. One that is not `whole` may have lost the end of its chain, or all of it, or never had it.
    pub(super) fn chain(&mut self, reference: &LongReference, of_row: bool, whole: bool, page: PageId, tree: u32) {
        let reference = overflow::decode(reference);
        match self.chains.insert(reference.chain, of_row) {
            Some(true) if of_row => {
                return self.say(Some(page), Some(tree), format!("chain {:x} belongs to two rows", reference.chain));
            }
            Some(before) => {
                self.chains.insert(reference.chain, before || of_row);
                return;
            }
            None => {}
        }
        let (mut id, mut found) = (reference.first, 0);
        while id != 0 {
            // What was freed may be anybody's since, or not be in the file any more.
            if !whole && !self.core.space.is_owned(&self.core.pool, tree, id).unwrap_or(false) {
                return;
            }
            let is_piece = match self.page(id) {
                Some(bytes) => overflow::piece(&bytes, reference.chain),
                None => return,
            };
            let Some(Piece { next, bytes }) = is_piece else {
                if whole {
                    self.say(Some(id), Some(tree), format!("it does not continue chain {:x}", reference.chain));
                }
                return;
            };
            if self.reach(id, PageType::Overflow, Reached::Chain(tree)).is_none() {
                return;
            }
            found += bytes;
            id = next;
        }
        // One that a crash cut short ends where the next page would have been linked.
        if found != reference.len && (whole || found > reference.len) {
            let what = format!("chain {:x} has {found} bytes, its row {}", reference.chain, reference.len);
            self.say(Some(page), Some(tree), what);
        }
    }
}

const VERIFIED: &str = "the node's layout was verified";
