//! What the engine should hold: committed states, and the changes of transactions over them.

use engine::{LongReference, REFERENCE_BYTES, Transaction, Tree, TreeKind};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A row by what it is made from: its version and length.
pub type Row = (u64, usize);
pub type Rows = BTreeMap<u64, Row>;

pub fn key(id: u64) -> [u8; 8] {
    id.to_be_bytes()
}

/// A row's bytes: its version, then `len` bytes that differ from version to version.
pub fn bytes((version, len): Row) -> Vec<u8> {
    let filler = (0..len).map(|at| (version.wrapping_mul(31).wrapping_add(at as u64 * 7)) as u8);
    version.to_be_bytes().into_iter().chain(filler).collect()
}

/// From this length on a row's bytes are outside, in two long values, and the row itself says its version, marked, and length.
pub const LONG: usize = 3800;
const MARK: u64 = 1 << 63;

/// The long values of a row: one that follows from its version, and one from its length alone, so that a change to another version of the
/// same length may keep it.
pub fn long_values((version, len): Row) -> [Vec<u8>; 2] {
    let own = len * 2 / 3;
    [bytes((version, own)), bytes((len as u64, len - own))]
}

pub fn body((version, len): Row) -> [u8; 16] {
    let mut body = [0; 16];
    body[..8].copy_from_slice(&(version | MARK).to_be_bytes());
    body[8..].copy_from_slice(&(len as u64).to_be_bytes());
    body
}

/// The references of a row as it is stored, if its values are outside.
pub fn references(stored: &[u8]) -> Option<[LongReference; 2]> {
    let rest = stored.strip_suffix(&[2, 0])?;
    let at = rest.len().checked_sub(2 * REFERENCE_BYTES)?;
    let (first, second) = rest[at..].split_at(REFERENCE_BYTES);
    (at == 16 && rest[0] & 0x80 != 0).then(|| [first.try_into().unwrap(), second.try_into().unwrap()])
}

/// The row that is stored so; `None`: nobody wrote it.
pub fn row_of(tx: &Transaction, stored: &[u8]) -> engine::Result<Option<Row>> {
    let word = |at: usize| stored.get(at..at + 8).map(|word| u64::from_be_bytes(word.try_into().unwrap()));
    let Some(version) = word(0) else { return Ok(None) };
    let Some(references) = references(stored) else {
        let row = (version, stored.len() - 8);
        return Ok((bytes(row) == stored).then_some(row));
    };
    let row = (version & !MARK, word(8).expect("it has references") as usize);
    let mut found = [Vec::new(), Vec::new()];
    for (reference, out) in references.iter().zip(&mut found) {
        tx.load_long(reference, out)?;
    }
    Ok((found == long_values(row)).then_some(row))
}

/// An index entry: a byte of the version, then the key.
pub fn entry(id: u64, (version, _): Row) -> Vec<u8> {
    let byte = version.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
    [&[byte as u8][..], &key(id)].concat()
}

/// A clustered tree with a secondary one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trees {
    pub table: Tree,
    pub index: Tree,
}

impl Trees {
    /// As the dictionary keeps them.
    pub fn place(self) -> Vec<u8> {
        let words = [self.table.root, self.table.id.into(), self.index.root, self.index.id.into()];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    pub fn placed(value: &[u8]) -> Trees {
        let word = |at: usize| u64::from_le_bytes(value[at * 8..at * 8 + 8].try_into().unwrap());
        let tree = |at: usize, kind| Tree { id: word(at + 1) as u32, root: word(at), kind };
        Trees { table: tree(0, TreeKind::Clustered), index: tree(2, TreeKind::Secondary) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub trees: Trees,
    pub rows: Rc<Rows>,
}

/// All tables, by number. Copies share what they have in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub tables: BTreeMap<u64, Table>,
}

impl State {
    pub fn row(&self, table: u64, id: u64) -> Option<Row> {
        self.tables.get(&table)?.rows.get(&id).copied()
    }

    pub fn trees(&self) -> Vec<Tree> {
        self.tables.values().flat_map(|table| [table.trees.table, table.trees.index]).collect()
    }

    /// Where two states differ first, in words.
    pub fn difference(&self, other: &State) -> String {
        let numbers = |state: &State| state.tables.keys().copied().collect::<Vec<_>>();
        if numbers(self) != numbers(other) {
            return format!("tables {:?} in place of {:?}", numbers(self), numbers(other));
        }
        for (number, table) in &self.tables {
            let there = &other.tables[number];
            if table.trees != there.trees {
                return format!("table {number} has other trees");
            }
            let ids = table.rows.keys().chain(there.rows.keys());
            let differing: Vec<_> = ids.filter(|id| table.rows.get(id) != there.rows.get(id)).collect();
            if let Some(id) = differing.first() {
                let (found, expected) = (table.rows.get(id), there.rows.get(id));
                let count = differing.len();
                return format!("table {number}: row {id} is {found:?} in place of {expected:?} ({count} rows differ)");
            }
        }
        "no difference".into()
    }
}

/// What a transaction has changed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Tables made, and tables dropped (`None`).
    pub tables: BTreeMap<u64, Option<Trees>>,
    /// Rows written, and rows deleted (`None`), by table and key.
    pub rows: BTreeMap<(u64, u64), Option<Row>>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.rows.is_empty()
    }

    /// The row as the transaction has it over `base`.
    pub fn row(&self, base: &State, table: u64, id: u64) -> Option<Row> {
        // A table that was made or emptied has none of the rows from before.
        let before = || if self.tables.contains_key(&table) { None } else { base.row(table, id) };
        self.rows.get(&(table, id)).copied().unwrap_or_else(before)
    }

    /// What the transaction sees over `base`.
    pub fn over(&self, base: &State) -> State {
        let mut state = base.clone();
        for (number, trees) in &self.tables {
            match trees {
                Some(trees) => drop(state.tables.insert(*number, Table { trees: *trees, rows: Rc::default() })),
                None => drop(state.tables.remove(number)),
            }
        }
        for ((number, id), row) in &self.rows {
            let Some(table) = state.tables.get_mut(number) else { continue };
            let rows = Rc::make_mut(&mut table.rows);
            match row {
                Some(row) => rows.insert(*id, *row),
                None => rows.remove(id),
            };
        }
        state
    }
}
