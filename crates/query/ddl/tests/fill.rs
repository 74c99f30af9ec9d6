//! Indexes filled from the rows that a table has.

#[path = "../../run/tests/common/mod.rs"]
mod common;

use common::{Database, int};

#[test]
fn an_index_is_filled_in_order_whatever_the_memory() {
    let mut db = Database::new();
    let columns = [("id", int().not_null()), ("a", int().not_null())];
    db.table("t", &columns, &[("PRIMARY", true, &[0]), ("a", true, &[1])], false);
    let mut table = catalog::Table::clone(&db.version.schemas["test"].tables["t"]);
    for id in 0..997 {
        db.change(&format!("INSERT INTO t VALUES ({id}, {})", id * 7 % 997));
    }
    let wanted: Vec<String> = db.rows("SELECT id FROM t FORCE INDEX (a) ORDER BY a");
    // More runs than are merged at a time, some, none.
    for memory in [100, 2000, 16 << 20] {
        db.tx.begin(engine::Isolation::ReadUncommitted, false);
        table.indexes[1].tree = db.env.engine.create_tree(&mut db.tx, engine::TreeKind::Secondary).unwrap();
        db.env.tmp_memory = memory;
        ddl::fill::fill_indexes(&mut db.tx, &mut db.env, &table, [1].into_iter()).unwrap();
        db.tx.commit().unwrap();
        db.env.tmp_memory = 16 << 20;
        db.define(table.clone());
        assert_eq!(db.rows("SELECT id FROM t FORCE INDEX (a) ORDER BY a"), wanted, "{memory} bytes");
    }
    db.change("INSERT INTO t VALUES (2000, 2000)");
    // A value that is there twice is found in whatever run it stands.
    table.indexes[1].unique = false;
    db.define(table.clone());
    db.change("INSERT INTO t VALUES (2001, 5)");
    table.indexes[1].unique = true;
    for memory in [100, 2000, 16 << 20] {
        db.tx.begin(engine::Isolation::ReadUncommitted, false);
        table.indexes[1].tree = db.env.engine.create_tree(&mut db.tx, engine::TreeKind::Secondary).unwrap();
        db.env.tmp_memory = memory;
        let refused = ddl::fill::fill_indexes(&mut db.tx, &mut db.env, &table, [1].into_iter()).unwrap_err();
        assert_eq!((refused.code, &*refused.message), (1062, "Duplicate entry '5' for key 't.a'"), "{memory} bytes");
        db.tx.rollback().unwrap();
    }
}

#[test]
fn an_index_is_filled_without_a_lock_for_each_row() {
    let mut db = Database::new();
    db.sbtest(50);
    let mut table = catalog::Table::clone(&db.version.schemas["test"].tables["sbtest1"]);
    for isolation in [engine::Isolation::ReadUncommitted, engine::Isolation::RepeatableRead] {
        db.tx.begin(isolation, false);
        table.indexes[1].tree = db.env.engine.create_tree(&mut db.tx, engine::TreeKind::Secondary).unwrap();
        ddl::fill::fill_indexes(&mut db.tx, &mut db.env, &table, [1].into_iter()).unwrap();
        assert_eq!(db.tx.lock_count(), 0);
        let all = engine::Range { lower: std::ops::Bound::Unbounded, upper: std::ops::Bound::Unbounded };
        let consistent = engine::Read::Consistent;
        let mut cursor = engine::Cursor::new(table.indexes[1].tree, all, engine::Direction::Forward, consistent, 0);
        let mut entries = 0;
        while cursor.next(&mut db.tx).unwrap().is_some() {
            entries += 1;
        }
        assert_eq!(entries, 50);
        db.tx.commit().unwrap();
    }
}
