//! What holds of every plan, whoever made it: asserted in debug builds where operators are made of it.
//!
//! An expression reads a column that the shape of its slot has, and each node makes as wide a row of its slot as the shape says. What
//! a planner got wrong is told here by its cause, and not by a row of some statement that reads beyond its values.

use super::{Group, Join, Plan, QueryPlan, Scan, SetOp, Window};
use expr::{Expr, Node, Shape};

/// Panics where the plan of a block is none that operators can be made of. Blocks below have their own turn.
pub fn assert_sound(query: &QueryPlan) {
    // The tables of one that was absorbed are read elsewhere.
    if query.absorbed {
        return;
    }
    let block = Block { shapes: &query.shapes };
    block.node(&query.plan);
    block.all(&query.outputs);
}

struct Block<'p> {
    shapes: &'p [Shape],
}

impl Block<'_> {
    fn shape(&self, slot: usize) -> &Shape {
        assert!(slot < self.shapes.len(), "slot {slot} of {}", self.shapes.len());
        &self.shapes[slot]
    }

    fn slots(&self, slots: &[usize]) {
        assert!(slots.iter().all(|slot| *slot < self.shapes.len()), "slots {slots:?} of {}", self.shapes.len());
    }

    /// The slot has a tuple of so many values.
    fn is_tuple(&self, slot: usize, width: usize) {
        match self.shape(slot) {
            Shape::Tuple(n) => assert_eq!(*n, width, "values in slot {slot}"),
            _ => panic!("slot {slot} is a table's, and gets a tuple"),
        }
    }

    fn expression(&self, e: &Expr) {
        e.any(&mut |e| {
            if let Node::Column { depth: 0, slot, column } = e.node {
                let column = usize::from(column);
                match self.shape(slot.into()) {
                    Shape::Row(table) => assert!(column < table.columns.len(), "column {column} of `{}`", table.name),
                    Shape::Tuple(n) => assert!(column < *n, "value {column} of {n} in slot {slot}"),
                    Shape::Covered(map, _) => assert!(map[column].is_some(), "the index lacks column {column}"),
                }
            }
            false
        });
    }

    fn all<'e>(&self, list: impl IntoIterator<Item = &'e Expr>) {
        list.into_iter().for_each(|e| self.expression(e));
    }

    fn node(&self, plan: &Plan) {
        match plan {
            Plan::One => {}
            Plan::Values { slot, rows } => {
                rows.iter().for_each(|row| self.is_tuple(*slot, row.len()));
                rows.iter().for_each(|row| self.all(row));
            }
            Plan::Scan(scan) => self.scan(scan),
            Plan::IndexMerge(merge) => {
                assert!(merge.branches.len() > 1, "one branch is a scan");
                for (scan, condition) in &merge.branches {
                    assert_eq!(scan.slot, merge.first().slot, "branches are of one table");
                    self.scan(scan);
                    self.expression(condition);
                }
            }
            Plan::Intersection(several) => {
                assert!(several.scans.len() > 1, "one index is a scan");
                for scan in &several.scans {
                    assert_eq!(scan.slot, several.scans[0].slot, "the indexes are of one table");
                    assert!(scan.access.index > 0, "the clustered index has the rows themselves");
                    self.scan(scan);
                }
            }
            Plan::Ends(scans) => {
                for scan in scans {
                    assert_eq!(scan.slot, scans[0].slot, "the indexes are of one table");
                    assert!(scan.access.ordered || scan.access.ranges.len() <= 1, "the first row has the extreme");
                    self.scan(scan);
                }
            }
            Plan::Virtual { slot, table, sought } => {
                assert!(table.is_virtual(), "`{}` has rows of its own", table.name);
                match &self.shapes[*slot] {
                    Shape::Row(written) => assert_eq!(written.id, table.id, "the rows of `{}`", table.name),
                    _ => self.is_tuple(*slot, table.columns.len()),
                }
                assert!(sought.iter().all(|s| s.column < table.columns.len()), "columns of `{}`", table.name);
                sought.iter().for_each(|s| self.all(&s.values));
            }
            Plan::Derived { slot, query, .. } => self.is_tuple(*slot, query.outputs.len()),
            Plan::JsonTable(table) => {
                self.is_tuple(table.slot, table.width);
                self.expression(&table.doc);
            }
            Plan::Counted { input, .. } => self.node(input),
            Plan::Recursive(r) => {
                assert_eq!(r.types.len(), r.names.len(), "a column has a type and a name");
                self.is_tuple(r.slot, r.types.len());
                for query in r.steps.iter().chain([&r.seed]) {
                    assert_eq!(query.outputs.len(), r.types.len(), "each step gives all columns");
                }
            }
            Plan::Working { slot, .. } => self.slots(&[*slot]),
            Plan::Join(join) => self.join(join),
            Plan::Filter { input, condition } => {
                self.node(input);
                self.expression(condition);
            }
            Plan::Group(group) => self.group(group),
            Plan::Window(window) => self.window(window),
            Plan::Sort(sort) => {
                self.node(&sort.input);
                self.is_tuple(sort.slot, sort.values.len());
                self.all(sort.keys.iter().map(|key| &key.expr));
                self.all(&sort.values);
            }
            Plan::Distinct { input, values } => {
                self.node(input);
                self.all(values);
            }
            Plan::Computed { input, slot, values } => {
                self.node(input);
                self.is_tuple(*slot, values.len());
                self.all(values);
            }
            Plan::Limit { input, count, offset, .. } => {
                self.node(input);
                self.all(offset.iter().chain([count]));
            }
            Plan::SetOp(set) => self.set(set),
        }
    }

    fn scan(&self, scan: &Scan) {
        let name = &scan.table.name;
        assert!(scan.table.is_base(), "`{name}` has no trees");
        assert!(scan.access.index < scan.table.indexes.len(), "index {} of `{name}`", scan.access.index);
        let parts = scan.table.indexes[scan.access.index].parts.len();
        match self.shape(scan.slot) {
            Shape::Row(table) => assert_eq!(table.id, scan.table.id, "slot {} is another table's", scan.slot),
            Shape::Covered(..) => assert!(scan.covering, "`{name}` is read as a whole"),
            Shape::Tuple(_) => panic!("`{name}` fills a slot of tuples"),
        }
        for range in &scan.access.ranges {
            assert!(range.equal.iter().all(|values| !values.is_empty()), "a part without alternatives finds nothing");
            assert_eq!(range.equal.len(), range.nulls.len(), "of each part is known what NULL means");
            assert!(
                range.pattern.is_none() || range.lower.is_none() && range.upper.is_none(),
                "a pattern is the bound"
            );
            self.all(range.equal.iter().flatten());
            self.all(range.lower.iter().chain(&range.upper).map(|(e, _)| e));
        }
        if let Some(loose) = &scan.access.loose {
            assert!(loose.parts <= parts, "{} leading parts of {parts}", loose.parts);
            assert!(!scan.multi_range, "a loose scan reads its rows one by one");
        }
        if let Some(skip) = &scan.access.skip {
            assert!(skip.parts > 0 && skip.parts < parts, "a range behind {} parts of {parts}", skip.parts);
            assert!(scan.access.loose.is_none() && !scan.multi_range, "one way to read an index");
        }
        self.all(&scan.implied);
    }

    fn join(&self, join: &Join) {
        self.node(&join.left);
        self.node(&join.right);
        assert!(join.batch.is_none() || join.hash.is_empty(), "a batch looks up, a hash join does not");
        if let Some(slots) = &join.batch {
            self.slots(slots);
            let looked_up = match &join.right {
                Plan::Filter { input, .. } => input,
                right => right,
            };
            assert!(matches!(looked_up, Plan::Scan(_)), "a batch is looked up in one index");
        }
        self.slots(&join.right_slots);
        self.all(&join.condition);
        self.all(join.hash.iter().flat_map(|(left, right)| [left, right]));
    }

    fn group(&self, group: &Group) {
        self.node(&group.input);
        assert!(group.keys.is_empty() || !group.implicit, "a key is GROUP BY's");
        self.slots(&group.keep);
        self.all(&group.keys);
        self.all(&group.conditions);
        group.aggregates.iter().for_each(|call| call.each(&mut |e| self.expression(e)));
    }

    fn window(&self, window: &Window) {
        self.node(&window.input);
        assert!(!window.steps.is_empty(), "there is something to compute");
        self.is_tuple(window.value_slot, window.values.len());
        self.is_tuple(window.slot, window.steps.len());
        self.slots(&window.keep);
        self.all(&window.partition);
        self.all(window.order.iter().map(|key| &key.expr));
        self.all(&window.values);
    }

    fn set(&self, set: &SetOp) {
        assert_eq!(set.left.outputs.len(), set.right.outputs.len(), "both sides give the same columns");
        self.is_tuple(set.slot, set.left.outputs.len());
    }
}
