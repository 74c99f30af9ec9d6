//! One session: statements on the engine, each answer compared with the model.

use crate::model::{Changes, LONG, Row, Rows, State, Trees, body, bytes, entry, key, long_values, references, row_of};
use engine::{
    Cursor, Direction, Engine, Error, Isolation, LockMode, Long, Range, Read, Savepoint, Transaction, Tree, TreeKind,
    Wait,
};
use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::ops::Bound;
use std::time::Duration;

const X: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::NoWait };
const S: Read = Read::Locking { mode: LockMode::Shared, wait: Wait::NoWait };
const ALL: Range<'static> = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

/// Why a statement did not come to its end.
pub enum Fail {
    /// What the engine answered.
    Engine(Error),
    /// The engine answered what it must not.
    Wrong(String),
}

impl From<Error> for Fail {
    fn from(error: Error) -> Fail {
        Fail::Engine(error)
    }
}

type Outcome<T = ()> = Result<T, Fail>;

fn expect(holds: bool, what: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(Fail::Wrong(what())) }
}

pub struct Session {
    /// Ended by hand: what becomes of it depends on how the engine ends.
    pub tx: ManuallyDrop<Transaction>,
    pub isolation: Isolation,
    /// What its snapshot sees, once it has one.
    pub snapshot: Option<State>,
    pub changes: Changes,
    pub savepoints: Vec<(Savepoint, Changes)>,
    /// Tables that it has locked anything in.
    pub touched: BTreeSet<u64>,
}

impl Session {
    pub fn begin(engine: &Engine, isolation: Isolation) -> Outcome<Session> {
        let mut tx = Transaction::new(engine)?;
        tx.begin(isolation, false);
        tx.set_lock_wait_timeout(Duration::ZERO);
        Ok(Session {
            tx: ManuallyDrop::new(tx),
            isolation,
            snapshot: None,
            changes: Changes::default(),
            savepoints: Vec::new(),
            touched: BTreeSet::new(),
        })
    }

    /// Ends the session; its transaction is over.
    pub fn end(self) {
        drop(ManuallyDrop::into_inner(self.tx));
    }

    /// The process is gone.
    pub fn crash(self) {
        ManuallyDrop::into_inner(self.tx).crash();
    }

    /// What a consistent read sees, by the newest committed state.
    pub fn view(&mut self, committed: &State) -> State {
        if self.isolation <= Isolation::ReadCommitted {
            return self.changes.over(committed);
        }
        self.changes.over(self.snapshot.get_or_insert_with(|| committed.clone()))
    }

    pub fn put(&mut self, trees: Trees, table: u64, id: u64, new: Row, committed: &State) -> Outcome {
        self.touched.insert(table);
        let expected = self.changes.row(committed, table, id);
        let mut old = Vec::new();
        let found = self.tx.get(trees.table, &key(id), X, &mut old)?;
        self.compare("locking read", table, id, found.then_some(&old[..]), expected)?;
        // Half of the changes keep a long value.
        let new = match expected {
            Some((_, len)) if len >= LONG && new.0.is_multiple_of(2) => (new.0, len),
            _ => new,
        };
        match expected {
            Some(before) => {
                write(new, found.then_some((&old[..], before)), |row| self.tx.update(trees.table, &key(id), row))?;
                if entry(id, before) != entry(id, new) {
                    self.tx.index_delete(trees.index, &entry(id, before))?;
                    self.tx.index_insert(trees.index, &entry(id, new), None, b"")?;
                }
            }
            None => {
                write(new, None, |row| self.tx.insert(trees.table, &key(id), row))?;
                self.tx.index_insert(trees.index, &entry(id, new), None, b"")?;
            }
        }
        self.changes.rows.insert((table, id), Some(new));
        Ok(())
    }

    /// Inserts without a look: a row that is there must be a duplicate.
    pub fn insert(&mut self, trees: Trees, table: u64, id: u64, new: Row, committed: &State) -> Outcome {
        self.touched.insert(table);
        let expected = self.changes.row(committed, table, id);
        match (write(new, None, |row| self.tx.insert(trees.table, &key(id), row)), expected) {
            (Err(Error::DuplicateKey), Some(_)) => return Ok(()),
            (Err(Error::DuplicateKey), None) => {
                return Err(Fail::Wrong(format!("table {table}: a duplicate of row {id}, which is not there")));
            }
            (Ok(()), Some(before)) => {
                return Err(Fail::Wrong(format!("table {table}: row {id} is inserted over {before:?}")));
            }
            (other, None) => other?,
            (Err(error), Some(_)) => return Err(error.into()),
        }
        self.tx.index_insert(trees.index, &entry(id, new), None, b"")?;
        self.changes.rows.insert((table, id), Some(new));
        Ok(())
    }

    pub fn remove(&mut self, trees: Trees, table: u64, id: u64, committed: &State) -> Outcome {
        self.touched.insert(table);
        let expected = self.changes.row(committed, table, id);
        let mut old = Vec::new();
        let found = self.tx.get(trees.table, &key(id), X, &mut old)?;
        self.compare("locking read", table, id, found.then_some(&old[..]), expected)?;
        if let Some(before) = expected {
            self.tx.delete(trees.table, &key(id))?;
            self.tx.index_delete(trees.index, &entry(id, before))?;
            self.changes.rows.insert((table, id), None);
        }
        Ok(())
    }

    fn compare(&self, what: &str, table: u64, id: u64, found: Option<&[u8]>, expected: Option<Row>) -> Outcome {
        let row = found.map(|stored| row_of(&self.tx, stored)).transpose()?.flatten();
        expect(found.is_some() == row.is_some() && row == expected, || {
            let found = found.map(|bytes| (row, bytes.len()));
            format!("{what} of table {table}, row {id}: {found:?} in place of {expected:?}")
        })
    }

    pub fn read(&mut self, trees: Trees, table: u64, id: u64, committed: &State) -> Outcome {
        let expected = self.view(committed).row(table, id);
        let mut row = Vec::new();
        let found = self.tx.get(trees.table, &key(id), Read::Consistent, &mut row)?;
        self.compare("consistent read", table, id, found.then_some(&row[..]), expected)
    }

    /// Reads a table through its rows and through its index.
    pub fn scan(&mut self, trees: Trees, table: u64, direction: Direction, committed: &State) -> Outcome {
        let view = self.view(committed);
        let expected = &view.tables[&table].rows;
        let rows = rows_of(&mut self.tx, trees.table, direction)?;
        expect(rows == **expected, || {
            let differs = |id: &&u64| rows.get(id) != expected.get(id);
            let first = rows.keys().chain(expected.keys()).find(differs);
            let (found, wanted) = first.map(|id| (rows.get(id), expected.get(id))).unwrap_or_default();
            format!("scan of table {table} at row {first:?}: {found:?} in place of {wanted:?}")
        })?;
        self.scan_index(trees, table, direction, expected)
    }

    fn scan_index(&mut self, trees: Trees, table: u64, direction: Direction, expected: &Rows) -> Outcome {
        let mut cursor = Cursor::new(trees.index, ALL, direction, Read::Consistent, 0);
        let (mut entries, mut row) = (BTreeSet::new(), Vec::new());
        while let Some(found) = cursor.next(&mut self.tx)? {
            let (name, certain) = (found.key.to_vec(), found.certain);
            let id = u64::from_be_bytes(name[1..].try_into().expect("an entry has nine bytes"));
            let there = self.tx.get(trees.table, &key(id), Read::Consistent, &mut row)?;
            let is_row = there && row_of(&self.tx, &row)?.is_some_and(|row| entry(id, row) == name);
            expect(is_row || !certain, || format!("index of table {table}: entry {name:?} has no row"))?;
            if is_row {
                entries.insert(name);
            }
        }
        let wanted: BTreeSet<Vec<u8>> = expected.iter().map(|(id, row)| entry(*id, *row)).collect();
        expect(entries == wanted, || {
            let difference: Vec<_> = entries.symmetric_difference(&wanted).take(3).collect();
            format!("index of table {table}: it differs from the rows in {difference:?}")
        })
    }

    /// Locks and reads the rows of a range.
    pub fn lock_range(&mut self, trees: Trees, table: u64, ids: std::ops::Range<u64>, committed: &State) -> Outcome {
        self.touched.insert(table);
        let newest = self.changes.over(committed);
        let (low, high) = (key(ids.start), key(ids.end));
        let range = Range { lower: Bound::Included(&low), upper: Bound::Excluded(&high) };
        let mut cursor = Cursor::new(trees.table, range, Direction::Forward, S, 8);
        let mut found = Rows::new();
        while let Some(row) = cursor.next(&mut self.tx)? {
            let id = u64::from_be_bytes(row.key.try_into().expect("a key has eight bytes"));
            let decoded = row_of(&self.tx, row.value)?;
            expect(decoded.is_some(), || format!("table {table}: row {id} is one that nobody wrote"))?;
            found.extend(decoded.map(|row| (id, row)));
        }
        let wanted: Rows = newest.tables[&table].rows.range(ids.clone()).map(|(id, row)| (*id, *row)).collect();
        expect(found == wanted, || format!("locked range {ids:?} of table {table}: {found:?} in place of {wanted:?}"))
    }

    pub fn create(&mut self, engine: &Engine, table: u64) -> Outcome<Trees> {
        let clustered = engine.create_tree_as(&mut self.tx, TreeKind::Clustered, engine.encrypts())?;
        let index = engine.create_tree_as(&mut self.tx, TreeKind::Secondary, engine.encrypts())?;
        let trees = Trees { table: clustered, index };
        self.tx.insert(engine.dictionary(), &key(table), &trees.place())?;
        self.changes.tables.insert(table, Some(trees));
        self.touched.insert(table);
        Ok(trees)
    }

    /// Fills a table that this very transaction has made.
    pub fn load(&mut self, trees: Trees, table: u64, rows: &Rows) -> Outcome {
        for (id, row) in rows {
            write(*row, None, |row| self.tx.load(trees.table, &key(*id), row))?;
        }
        let mut entries: Vec<_> = rows.iter().map(|(id, row)| entry(*id, *row)).collect();
        entries.sort_unstable();
        for entry in entries {
            self.tx.index_load(trees.index, &entry)?;
        }
        self.changes.rows.extend(rows.iter().map(|(id, row)| ((table, *id), Some(*row))));
        Ok(())
    }

    /// TRUNCATE: other trees take the place of the table's.
    pub fn empty_table(&mut self, engine: &Engine, trees: Trees, table: u64) -> Outcome {
        let mut old = Vec::new();
        let there = self.tx.get(engine.dictionary(), &key(table), X, &mut old)?;
        expect(there && Trees::placed(&old) == trees, || format!("the dictionary has lost table {table}"))?;
        let clustered = engine.create_tree_as(&mut self.tx, TreeKind::Clustered, engine.encrypts())?;
        let index = engine.create_tree_as(&mut self.tx, TreeKind::Secondary, engine.encrypts())?;
        let empty = Trees { table: clustered, index };
        self.tx.update(engine.dictionary(), &key(table), &empty.place())?;
        engine.drop_tree(&mut self.tx, trees.table)?;
        engine.drop_tree(&mut self.tx, trees.index)?;
        self.changes.rows.retain(|(of, _), _| *of != table);
        self.changes.tables.insert(table, Some(empty));
        self.touched.insert(table);
        Ok(())
    }

    pub fn drop_table(&mut self, engine: &Engine, trees: Trees, table: u64) -> Outcome {
        let mut old = Vec::new();
        let there = self.tx.get(engine.dictionary(), &key(table), X, &mut old)?;
        expect(there && Trees::placed(&old) == trees, || format!("the dictionary has lost table {table}"))?;
        self.tx.delete(engine.dictionary(), &key(table))?;
        engine.drop_tree(&mut self.tx, trees.table)?;
        engine.drop_tree(&mut self.tx, trees.index)?;
        self.changes.tables.insert(table, None);
        self.touched.insert(table);
        Ok(())
    }
}

/// Writes a row, in place of `old`, which is stored so, if there is one.
fn write(
    row: Row,
    old: Option<(&[u8], Row)>,
    run: impl FnOnce(engine::Row<'_>) -> engine::Result<()>,
) -> engine::Result<()> {
    if row.1 < LONG {
        return run((&bytes(row)).into());
    }
    let [own, shared] = long_values(row);
    let kept = old.filter(|(_, before)| before.1 == row.1).and_then(|(stored, _)| references(stored));
    let second = match &kept {
        Some([_, second]) => Long::Kept(second),
        None => Long::New(&shared),
    };
    run(engine::Row { body: &body(row), long: &[Long::New(&own), second] })
}

pub fn rows_of(tx: &mut Transaction, tree: Tree, direction: Direction) -> Outcome<Rows> {
    let mut cursor = Cursor::new(tree, ALL, direction, Read::Consistent, 0);
    let (mut rows, mut count) = (Rows::new(), 0);
    while let Some(found) = cursor.next(tx)? {
        let id = u64::from_be_bytes(found.key.try_into().expect("a key has eight bytes"));
        let Some(row) = row_of(tx, found.value)? else {
            return Err(Fail::Wrong(format!("tree {}: row {id} is one that nobody wrote", tree.id)));
        };
        rows.insert(id, row);
        count += 1;
    }
    expect(rows.len() == count, || format!("tree {}: a scan returns rows twice", tree.id))?;
    Ok(rows)
}
