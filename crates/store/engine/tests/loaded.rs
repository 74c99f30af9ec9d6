//! A tree that is loaded without undo and then changed by the transaction that made it: what data definition does beside writers.

mod common;

use common::{Scratch, check_sound, key, options, row, whole};
use engine::{Engine, Isolation, Read, Transaction, Tree, TreeKind};
use std::collections::BTreeMap;

/// Every third row is too long for a leaf.
fn sized(i: u64, version: u64) -> Vec<u8> {
    row(i + version, if (i + version).is_multiple_of(3) { 40_000 } else { 100 })
}

/// A transaction with a new tree whose rows were loaded, and then changed, deleted, and put back.
fn fill(engine: &Engine) -> (Transaction, Tree, BTreeMap<u64, Vec<u8>>) {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::ReadUncommitted, false);
    let tree = engine.create_tree(&mut tx, TreeKind::Clustered).unwrap();
    let mut rows = BTreeMap::new();
    for i in 0..600 {
        tx.load(tree, &key(i), stored!(sized(i, 0))).unwrap();
        rows.insert(i, sized(i, 0));
    }
    for i in 0..600 {
        if i % 2 == 0 {
            tx.update(tree, &key(i), stored!(sized(i, 1))).unwrap();
            rows.insert(i, sized(i, 1));
        }
        if i % 5 == 0 {
            tx.delete(tree, &key(i)).unwrap();
            rows.remove(&i);
        }
        if i % 10 == 0 {
            tx.insert(tree, &key(i), stored!(sized(i, 2))).unwrap();
            rows.insert(i, sized(i, 2));
        }
    }
    (tx, tree, rows)
}

fn read(tx: &mut Transaction, tree: Tree, i: u64) -> Option<Vec<u8>> {
    let mut row = Vec::new();
    tx.get(tree, &key(i), Read::Consistent, &mut row).unwrap().then(|| whole(tx, &row))
}

#[test]
fn what_is_committed_is_there_and_nothing_else() {
    let scratch = Scratch::new("loaded");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let (mut tx, tree, rows) = fill(&engine);
    tx.commit().unwrap();
    drop(tx);
    engine.close().unwrap();
    drop(engine);
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let mut tx = Transaction::new(&engine).unwrap();
    tx.begin(Isolation::RepeatableRead, true);
    for i in 0..600 {
        assert_eq!(read(&mut tx, tree, i), rows.get(&i).cloned(), "row {i}");
    }
    tx.rollback().unwrap();
    drop(tx);
    check_sound(&engine, &[tree], "after the load");
    engine.close().unwrap();
}

#[test]
fn what_is_rolled_back_leaves_no_page() {
    let scratch = Scratch::new("unloaded");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let (mut tx, ..) = fill(&engine);
    tx.rollback().unwrap();
    drop(tx);
    check_sound(&engine, &[], "after the rollback");
    engine.close().unwrap();
}

#[test]
fn a_load_leaves_as_much_of_each_leaf_free_as_it_is_told() {
    let scratch = Scratch::new("fill-factor");
    let engine = Engine::open(options(scratch.path()), &mut |_| ()).unwrap();
    let mut tx = Transaction::new(&engine).unwrap();
    tx.begin(Isolation::ReadUncommitted, false);
    let mut pages = |percent: u8, kind: TreeKind| {
        engine.set_fill_factor(percent);
        let tree = engine.create_tree(&mut tx, kind).unwrap();
        for i in 0..20_000 {
            match kind {
                TreeKind::Clustered => tx.load(tree, &key(i), &row(i, 100)).unwrap(),
                TreeKind::Secondary => tx.index_load(tree, &[&key(i)[..], &row(i, 100)].concat()).unwrap(),
            }
        }
        engine.tree_space(tree).used_bytes / engine::PAGE_BYTES
    };
    for kind in [TreeKind::Clustered, TreeKind::Secondary] {
        let whole = pages(100, kind);
        for percent in [10, 50, 80] {
            let expected = whole as f64 * if kind == TreeKind::Clustered { 93.75 } else { 100.0 } / f64::from(percent);
            let found = pages(percent, kind) as f64;
            assert!(
                (0.93..1.12).contains(&(found / expected)),
                "{kind:?} at {percent} %: {found} for {expected} pages"
            );
        }
    }
    tx.commit().unwrap();
    drop(tx);
    engine.close().unwrap();
}
