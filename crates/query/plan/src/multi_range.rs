//! Rows that a secondary index finds, read in the order of the clustered one: multi-range read of a scan, batched key access of a
//! join. As hints and `optimizer_switch` have it; by cost where the table has more pages than the buffer pool, and a batch has
//! several rows of a page.

use super::Planner;
use super::explain::access_type;
use super::node::{Plan, Scan};
use super::slots::slots_of;
use super::tables::bits;
use catalog::error;
use sql::ast::{ExplainTarget, Statement};
use sql::hints::KeyHint;
use types::Result;

/// Bytes of one entry of a batch, roughly.
const ENTRY_BYTES: f64 = 40.0;
/// Of the pages that are read for rows one by one, batches have to spare this part.
const WORTH: f64 = 0.1;

impl Planner<'_> {
    /// Are a scan's rows read in batches? `limited`: few of them may be wanted.
    pub(super) fn reads_in_batches(&self, leaf: usize, scan: &Scan, limited: bool) -> Result<bool> {
        let wanted = has_rows_elsewhere(scan) && scan.access.loose.is_none() && access_type(scan) == "range";
        if !wanted || !self.only_reads() {
            return Ok(false);
        }
        if let Some(on) = self.hinted_multi_range(leaf, scan.access.index) {
            return Ok(on);
        }
        if self.switched_off("mrr") {
            return Ok(false);
        }
        Ok(self.switched_off("mrr_cost_based") || (!limited && self.batches_pay(scan, scan.rows)?))
    }

    /// If a join's right side, with `bound` slots known, is looked up for many rows at a time: the slots of these.
    pub(super) fn batch(&self, left: Option<&Plan>, right: &Plan, bound: u64) -> Result<Option<Vec<usize>>> {
        let scan = match right {
            Plan::Scan(scan) => scan,
            Plan::Filter { input, .. } => match &**input {
                Plan::Scan(scan) => scan,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let [range] = &scan.access.ranges[..] else { return Ok(None) };
        if !scan.table.engine.is_transactional() {
            // The rows of both sides are read by one operator, which has one transaction.
            return Ok(None);
        }
        let linked = range.equal.iter().flatten().any(|e| slots_of(self.subqueries(), e) & bound != 0);
        if !has_rows_elsewhere(scan) || !linked || !matches!(access_type(scan), "ref" | "eq_ref") {
            return Ok(None);
        }
        let leaf = self.current_block().sources.iter().position(|s| s.slot == scan.slot).expect("a table of the block");
        let on = match self.current_block().sources[leaf].tuning.as_ref().and_then(|t| t.batched) {
            Some(on) => on,
            None if self.switched_off("batched_key_access") => false,
            None if self.hinted_multi_range(leaf, scan.access.index).unwrap_or(!self.switched_off("mrr")) => {
                let rows = left.map_or(1.0, super::cost::plan_rows) * scan.rows;
                self.switched_off("mrr_cost_based") || self.batches_pay(scan, rows)?
            }
            None => false,
        };
        Ok(on.then(|| bits(bound)))
    }

    /// MRR and NO_MRR of a table's index.
    fn hinted_multi_range(&self, leaf: usize, index: usize) -> Option<bool> {
        let tuning = self.current_block().sources[leaf].tuning.as_ref()?;
        let hints = || tuning.keys.iter().filter(|(kind, ..)| *kind == KeyHint::Mrr);
        let own = hints().find(|(_, _, indexes)| indexes.contains(&index));
        own.or_else(|| hints().find(|(_, _, indexes)| indexes.is_empty())).map(|(_, on, _)| *on)
    }

    /// What a statement changes it reads entry by entry, as in MySQL.
    fn only_reads(&self) -> bool {
        match &self.parsed.statement {
            Statement::Query(_) => true,
            Statement::Explain(e) => matches!(e.target, ExplainTarget::Query(_)),
            _ => false,
        }
    }

    /// Do so many rows, read in the order of the clustered index, spare reading pages?
    fn batches_pay(&self, scan: &Scan, rows: f64) -> Result<bool> {
        let number = |name| self.env.system_variable(None, name).map(|(v, _)| v.to_f64());
        let (_, leaves) = self.env.engine().estimate(scan.table.indexes[0].tree).map_err(error::engine)?;
        let leaves = (leaves as f64).max(1.0);
        if leaves * number("innodb_page_size")? <= number("innodb_buffer_pool_size")? {
            return Ok(false);
        }
        let batch = (number("read_rnd_buffer_size")? / ENTRY_BYTES).clamp(1.0, rows.max(1.0));
        Ok(pages_of(batch, leaves) <= batch * (1.0 - WORTH))
    }
}

/// Are rows read from another tree than they are found in?
fn has_rows_elsewhere(scan: &Scan) -> bool {
    let index = &scan.table.indexes[scan.access.index];
    scan.access.index != 0
        && !scan.covering
        && index.array_part.is_none()
        && index.parts.iter().all(|p| p.key.prefix == 0)
}

/// Different pages that so many rows lie in, anywhere in a table of `pages`.
fn pages_of(rows: f64, pages: f64) -> f64 {
    pages * (1.0 - (-rows / pages).exp())
}

#[cfg(test)]
mod tests {
    use super::pages_of;

    #[test]
    fn rows_share_pages_where_there_are_many_of_them() {
        assert!((pages_of(10.0, 1e6) - 10.0).abs() < 0.01);
        assert!((pages_of(1e6, 100.0) - 100.0).abs() < 0.01);
        let some = pages_of(100.0, 100.0);
        assert!((60.0..65.0).contains(&some), "{some}");
    }
}
