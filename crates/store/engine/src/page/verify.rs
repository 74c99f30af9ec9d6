//! The layout of one node, for checks: everything that [`super::node`] trusts a latched node to keep.

use super::node::{NODE_BYTES, Node, OFF_DEAD, OFF_HEAP, OFF_LOWER, OFF_SLOTS, OFF_UPPER, SLOT_BYTES, head_of};
use super::{PAGE_BYTES, get_u16, get_u32};

impl Node<'_> {
    /// What is wrong with the node's layout: slots, cells and fences lie within the page and nowhere on one another, no byte of
    /// the heap is unaccounted for, keys are in order and within the fences.
    pub fn verify(self) -> Result<(), String> {
        let n = get_u16(self.0, OFF_SLOTS) as usize;
        if n > NODE_BYTES / SLOT_BYTES {
            return Err(format!("{n} slots are more than a page holds"));
        }
        let heap = get_u16(self.0, OFF_HEAP) as usize;
        if heap > PAGE_BYTES || self.slot_at(n) > heap {
            return Err(format!("slots end at byte {} and the heap begins at byte {heap}", self.slot_at(n)));
        }
        let mut extents = Vec::with_capacity(n + 2);
        for (at, name) in [(OFF_LOWER, "lower"), (OFF_UPPER, "upper")] {
            let fence = self.fence(at).map_err(|_| format!("the {name} fence lies outside of the page"))?;
            if let Some(fence) = fence {
                extents.push((get_u16(self.0, at) as usize, fence.len()));
            }
        }
        for i in 0..n {
            let (at, key_len, value_len) = self.cell(i).map_err(|_| format!("slot {i} lies outside of the page"))?;
            extents.push((at, key_len + value_len));
        }
        self.verify_extents(extents, heap)?;
        self.verify_keys(n)
    }

    fn verify_extents(self, mut extents: Vec<(usize, usize)>, heap: usize) -> Result<(), String> {
        extents.retain(|(_, len)| *len > 0);
        extents.sort_unstable();
        let mut end = heap;
        for &(at, len) in &extents {
            if at < end || at + len > PAGE_BYTES {
                return Err(format!(
                    "a cell or fence of {len} bytes at byte {at} lies on others, or past the page's end"
                ));
            }
            end = at + len;
        }
        let used: usize = extents.iter().map(|(_, len)| len).sum();
        let dead = get_u16(self.0, OFF_DEAD) as usize;
        if PAGE_BYTES - heap != used + dead {
            return Err(format!("the heap has {} bytes, {used} of them used and {dead} dead", PAGE_BYTES - heap));
        }
        Ok(())
    }

    fn verify_keys(self, n: usize) -> Result<(), String> {
        let torn = |_| "an offset points outside of the page".to_owned();
        let (lower, upper) = (self.lower_fence().map_err(torn)?, self.upper_fence().map_err(torn)?);
        if let (Some(lower), Some(upper)) = (lower, upper)
            && lower >= upper
        {
            return Err("the lower fence is not below the upper one".into());
        }
        let common = lower.zip(upper).map_or(0, |(l, u)| l.iter().zip(u).take_while(|(a, b)| a == b).count());
        if self.prefix_len() > common {
            return Err(format!("the prefix has {} bytes, and the fences share {common}", self.prefix_len()));
        }
        let prefix = self.prefix().map_err(torn)?;
        let mut before: Option<&[u8]> = None;
        for i in 0..n {
            let rest = self.key_rest(i).map_err(torn)?;
            if get_u32(self.0, self.slot_at(i)) != head_of(rest) {
                return Err(format!("slot {i} has the head of another key"));
            }
            if before.is_some_and(|before| before >= rest) {
                return Err(format!("the key of slot {i} is not above the one before"));
            }
            before = Some(rest);
        }
        // The prefix is the fences' own, so only the ends can lie outside.
        let below = |rest: &[u8], fence: &[u8]| rest < &fence[prefix.len()..];
        if n > 0 {
            let (first, last) = (self.key_rest(0).map_err(torn)?, self.key_rest(n - 1).map_err(torn)?);
            if lower.is_some_and(|lower| below(first, lower)) {
                return Err("the first key is below the lower fence".into());
            }
            if upper.is_some_and(|upper| !below(last, upper)) {
                return Err("the last key is not below the upper fence".into());
            }
        }
        Ok(())
    }
}
