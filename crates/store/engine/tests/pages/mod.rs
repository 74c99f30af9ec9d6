//! A checker of data files, written from the formats alone (see `page`, `node`, `space`, `undo`, `overflow`): every page that the
//! bitmap says is allocated is reached exactly once, from a tree, an off-page row or an undo segment, and every node is in order.
//! It reads the file of a closed engine, which has written all its pages.

use engine::{Tree, TreeKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const PAGE: usize = 16384;
const GROUP: u64 = 130_048;
const OFF_PAGE: u64 = 1 << 62;
const TYPES: [&str; 9] =
    ["never written", "super", "bitmap", "leaf", "inner", "undo segment", "undo", "overflow", "free"];

fn u16_at(bytes: &[u8], at: usize) -> usize {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()) as usize
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// What a check found besides its assertions.
#[derive(Debug, Default)]
pub struct Found {
    /// Pages that the bitmaps call allocated.
    pub allocated: u64,
    /// Allocated pages that nothing leads to, with their types.
    pub leaked: BTreeMap<u64, &'static str>,
    /// Entries of each tree, deleted ones too.
    pub entries: BTreeMap<u32, usize>,
}

struct Checker {
    data: Vec<u8>,
    /// What each page was reached as.
    reached: BTreeMap<u64, String>,
    chains: BTreeSet<u64>,
    found: Found,
}

/// Checks the data file in `datadir`, which holds exactly these trees (and those being dropped).
pub fn check(datadir: &Path, trees: &[Tree]) -> Found {
    let file = io::File::open(datadir.join("clearway.data"), io::OpenOptions::READ).unwrap();
    let mut data = vec![0; file.len().unwrap() as usize / PAGE * PAGE];
    file.read_at(&mut data, 0).unwrap();
    let mut checker = Checker { data, reached: BTreeMap::new(), chains: BTreeSet::new(), found: Found::default() };
    for (id, what) in [(0, "super"), (1, "bitmap")] {
        checker.reach(id, what, what);
    }
    for tree in trees {
        checker.tree(*tree);
    }
    checker.undo();
    checker.bitmaps();
    checker.found
}

impl Checker {
    fn pages(&self) -> u64 {
        (self.data.len() / PAGE) as u64
    }

    fn page(&self, id: u64) -> &[u8] {
        assert!(id < self.pages(), "a reference to page {id} of {}", self.pages());
        &self.data[id as usize * PAGE..][..PAGE]
    }

    fn kind(&self, id: u64) -> &'static str {
        TYPES[self.page(id)[4] as usize]
    }

    fn reach(&mut self, id: u64, kind: &str, what: impl Into<String>) {
        let what = what.into();
        let page = self.page(id);
        let crc = u32::from_le_bytes(page[..4].try_into().unwrap());
        assert_eq!(crc, crc32fast::hash(&page[4..]), "page {id}, reached as {what}: checksum");
        assert_eq!(u64_at(page, 8), id, "page {id}, reached as {what}: its own number");
        assert_eq!(self.kind(id), kind, "page {id}, reached as {what}");
        if let Some(before) = self.reached.insert(id, what.clone()) {
            panic!("page {id} is reached as {before} and as {what}");
        }
    }

    fn tree(&mut self, tree: Tree) {
        let level = self.page(tree.root)[5];
        let before = self.found.entries.insert(tree.id, 0);
        assert_eq!(before, None, "tree {} is listed twice", tree.id);
        self.node(tree, tree.root, level, None, None);
    }

    fn node(&mut self, tree: Tree, id: u64, level: u8, lower: Option<&[u8]>, upper: Option<&[u8]>) {
        let what = format!("node of tree {} at level {level}", tree.id);
        self.reach(id, if level == 0 { "leaf" } else { "inner" }, &what);
        let page = self.page(id).to_vec();
        assert_eq!(page[5], level, "page {id}, {what}: level");
        assert_eq!(u32::from_le_bytes(page[24..28].try_into().unwrap()), tree.id, "page {id}, {what}: tree");
        let fence = |at: usize| match u16_at(&page, at + 2) {
            0xFFFF => None,
            len => Some(&page[u16_at(&page, at)..][..len]),
        };
        assert_eq!((fence(36), fence(40)), (lower, upper), "page {id}, {what}: fences");
        let prefix = fence(36).unwrap_or_default()[..u16_at(&page, 34)].to_vec();
        let (slots, first) = (u16_at(&page, 28), 64 + u16_at(&page, 44));
        assert!(first + slots * 10 <= u16_at(&page, 30), "page {id}, {what}: slots and heap overlap");
        let mut keys: Vec<Vec<u8>> = Vec::new();
        let mut values: Vec<&[u8]> = Vec::new();
        for slot in 0..slots {
            let at = first + slot * 10;
            let (cell, klen, vlen) = (u16_at(&page, at + 4), u16_at(&page, at + 6), u16_at(&page, at + 8));
            let rest = &page[cell..cell + klen];
            let mut head = [0; 4];
            head[..klen.min(4)].copy_from_slice(&rest[..klen.min(4)]);
            assert_eq!(page[at..at + 4], u32::from_be_bytes(head).to_le_bytes(), "page {id}, {what}: slot head");
            keys.push([&prefix, rest].concat());
            values.push(&page[cell + klen..cell + klen + vlen]);
        }
        assert!(keys.is_sorted_by(|a, b| a < b), "page {id}, {what}: keys out of order");
        assert!(keys.first().is_none_or(|key| lower.is_none_or(|lower| lower <= &key[..])), "page {id}, {what}");
        assert!(keys.last().is_none_or(|key| upper.is_none_or(|upper| upper > &key[..])), "page {id}, {what}");
        if level > 0 {
            let fences: Vec<Option<&[u8]>> =
                [lower].into_iter().chain(keys.iter().map(|key| Some(&key[..]))).chain([upper]).collect();
            let children = [u64_at(&page, 48)].into_iter().chain(values.iter().map(|value| u64_at(value, 0)));
            for (child, fences) in children.zip(fences.windows(2)) {
                self.node(tree, child, level - 1, fences[0], fences[1]);
            }
            return;
        }
        *self.found.entries.get_mut(&tree.id).expect("listed") += slots;
        for value in values.iter().filter(|_| tree.kind == TreeKind::Clustered) {
            if u64_at(value, 0) & OFF_PAGE != 0 {
                self.chain(&value[16..], true);
            }
        }
    }

    /// The pages of an off-page row. A version that may be purged may have lost the end of its chain.
    fn chain(&mut self, reference: &[u8], whole: bool) {
        let (mut id, chain) = (u64_at(reference, 0), u64_at(reference, 8));
        let len = u32::from_le_bytes(reference[16..20].try_into().unwrap()) as usize;
        if self.chains.contains(&chain) {
            return;
        }
        let mut got = 0;
        while id != 0 {
            let page = self.page(id);
            if page[4] != 7 || u64_at(page, 72) != chain {
                assert!(!whole, "page {id} does not continue chain {chain:x} but is {}", self.kind(id));
                return;
            }
            let (next, here) = (u64_at(page, 64), u32::from_le_bytes(page[80..84].try_into().unwrap()) as usize);
            self.reach(id, "overflow", format!("chain {chain:x}"));
            self.chains.insert(chain);
            got += here;
            id = next;
        }
        assert_eq!(got, len, "length of chain {chain:x}");
    }

    fn undo(&mut self) {
        let mut directory = 2;
        let mut references = Vec::new();
        let mut dropped = Vec::new();
        while directory != 0 {
            self.reach(directory, "undo segment", "undo directory");
            let page = self.page(directory).to_vec();
            for i in 0..u64_at(&page, 64) as usize {
                let segment = u64_at(&page, 72 + i * 8);
                self.reach(segment, "undo segment", "undo segment");
                let (mut id, newest) = (u64_at(self.page(segment), 64), u64_at(self.page(segment), 72));
                loop {
                    self.reach(id, "undo", format!("undo page of segment {segment}"));
                    let page = self.page(id).to_vec();
                    let mut at = 104;
                    while at < u16_at(&page, 96) {
                        let len = u16_at(&page, at);
                        let (kind, secondary, header) = (page[at + 2], page[at + 3] & 1 != 0, u64_at(&page, at + 24));
                        let (klen, dlen) = (u16_at(&page, at + 40), u16_at(&page, at + 46));
                        assert!(len >= 48 + klen + dlen && u16_at(&page, at + len - 2) == len, "page {id} at {at}");
                        if kind == 2 && !secondary && header & OFF_PAGE != 0 && dlen > 0 {
                            references.push(page[at + 48 + klen..][..dlen].to_vec());
                        }
                        if kind == 4 {
                            let id = u32::from_le_bytes(page[at + 4..at + 8].try_into().unwrap());
                            let kind = if secondary { TreeKind::Secondary } else { TreeKind::Clustered };
                            dropped.push(Tree { id, root: u64_at(&page, at + 8), kind });
                        }
                        at += len;
                    }
                    assert_eq!(at, u16_at(&page, 96), "page {id}: records end");
                    if id == newest {
                        assert_eq!(u64_at(&page, 72), 0, "page {id}: the newest has a next");
                        assert_eq!(u64_at(&page, 80), 0, "page {id}: a transaction is open");
                        break;
                    }
                    id = u64_at(&page, 72);
                }
            }
            directory = u64_at(&page, 48);
        }
        // Dropped and not purged yet; its rows may refer to chains, and undo records to the same.
        for tree in dropped {
            let page = self.page(tree.root);
            let is_node = page[4] == 3 || page[4] == 4;
            let there = is_node && u32::from_le_bytes(page[24..28].try_into().unwrap()) == tree.id;
            if there && !self.found.entries.contains_key(&tree.id) {
                self.tree(tree);
            }
        }
        for reference in references {
            self.chain(&reference, false);
        }
    }

    fn bitmaps(&mut self) {
        for group in 0..self.pages().div_ceil(GROUP) {
            let bitmap = self.page(group * GROUP + 1)[64..].to_vec();
            for at in 0..GROUP {
                let id = group * GROUP + at;
                let allocated = bitmap[at as usize / 8] & 1 << (at % 8) != 0;
                assert!(!allocated || id < self.pages(), "page {id}, past the end, is allocated");
                match (allocated, self.reached.get(&id)) {
                    (false, Some(what)) => panic!("page {id}, {what}, is not allocated"),
                    (true, None) => drop(self.found.leaked.insert(id, self.kind(id))),
                    _ => {}
                }
                self.found.allocated += allocated as u64;
            }
        }
    }
}
