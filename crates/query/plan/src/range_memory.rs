//! `range_optimizer_max_mem_size`: conditions with more values than MySQL would analyse in so many bytes are no ranges of an index.

use super::Planner;
use super::access::Choice;
use super::slots::slots_of;
use catalog::Table;
use expr::{Expr, Node};
use sql::hints::KeyHint;
use types::codes::*;

/// What one value takes in each index part that it is compared with, and what the analysis takes besides.
const VALUE_BYTES: u64 = 230;
const BASE_BYTES: u64 = 700;
/// The analysis takes memory in blocks, each half again as long as the last.
const BLOCK_BYTES: u64 = 4096;

impl Planner<'_> {
    /// Would the analysis of a table's ranges take more memory than it may? Then only single keys are looked up, and warning
    /// 3170 says so. What is known to be one row is not analysed.
    pub(super) fn outgrows_range_memory(&mut self, leaf: usize, conditions: &[Expr], choice: &Choice) -> bool {
        let source = &self.current_block().sources[leaf];
        let table = source.table.as_ref().expect("a stored table");
        let index = &table.indexes[choice.access.index];
        let one_row = matches!(&choice.access.ranges[..], [r]
            if index.unique && r.equal.len() == index.parts.len() && r.equal.iter().all(|e| e.len() == 1));
        if choice.possible.is_empty() || one_row {
            return false;
        }
        let own = 1u64 << source.slot;
        let all = conditions.iter().filter(|e| slots_of(self.subqueries(), e) == own);
        let values: u64 = all.map(|e| values_in(e, table, source.slot)).sum();
        if values == 0 {
            return false;
        }
        let bytes = blocks(BASE_BYTES + values * VALUE_BYTES);
        let bytes_max = match self.env.system_variable(None, "range_optimizer_max_mem_size") {
            Ok((v, _)) => v.to_u64(),
            Err(_) => 0,
        };
        if bytes_max == 0 || bytes <= bytes_max {
            return false;
        }
        let tuning = self.block().sources[leaf].tuning.get_or_insert_default();
        tuning.keys.insert(0, (KeyHint::IndexMerge, false, Vec::new()));
        tuning.keys.push((KeyHint::RangeOptimization, false, Vec::new()));
        tuning.keys.push((KeyHint::SkipScan, false, Vec::new()));
        self.warnings.literal_warnings.push((
            ER_CAPACITY_EXCEEDED,
            format!(
                "Memory capacity of {bytes_max} bytes for 'range_optimizer_max_mem_size' exceeded. Range \
                 optimization was not done for this query."
            ),
        ));
        true
    }
}

/// Bytes of the blocks that hold so many.
fn blocks(bytes: u64) -> u64 {
    let (mut block, mut all) = (BLOCK_BYTES, BLOCK_BYTES);
    while all < bytes {
        block += block / 2;
        all += block;
    }
    all
}

/// Values that a condition compares parts of the table's indexes with, once for each part.
fn values_in(e: &Expr, table: &Table, slot: usize) -> u64 {
    let parts = |e: &Expr| {
        let Some(column) = e.own_column().filter(|(s, _)| *s as usize == slot).map(|(_, c)| c as usize) else {
            return 0;
        };
        table.indexes.iter().flat_map(|i| &i.parts).filter(|p| p.column == column).count() as u64
    };
    match &e.node {
        Node::And(list) | Node::Or(list) => list.iter().map(|e| values_in(e, table, slot)).sum(),
        Node::In { operand, list, .. } => parts(operand) * list.len() as u64,
        Node::Compare(_, a, b, _) => parts(a) + parts(b),
        Node::Between { operands, .. } => parts(&operands[0]),
        Node::Like { operands, .. } => parts(&operands[0]),
        Node::IsNull { operand, .. } => parts(operand),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::blocks;

    /// As a MySQL server grows its memory.
    #[test]
    fn blocks_grow_by_half() {
        for (bytes, all) in [(1, 4096), (4097, 10240), (23_000, 33_280), (46_000, 54_016), (230_000, 306_736)] {
            assert_eq!(blocks(bytes), all, "{bytes}");
        }
    }
}
