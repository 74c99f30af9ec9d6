//! Copies of stretches of leaves, and where a scan goes on after one.

use super::Direction;
use crate::page::node::{Node, Torn};
use crate::pool::View;
use crate::version::without_spare;
use std::cell::RefCell;
use std::ops::Bound;

/// Buffers that a thread keeps for its next scans.
const SPARE_MAX: usize = 4;

thread_local! {
    /// Buffers of scans that have ended. Each statement that a session keeps prepared would else have tens of KiB of its own, all
    /// of them cold when hundreds of sessions take turns.
    static SPARE: RefCell<Vec<Stretch>> = const { RefCell::new(Vec::new()) };
}

/// Copied entries of a leaf: bytes of key and value, one after the other.
#[derive(Default)]
pub struct Stretch {
    pub bytes: Vec<u8>,
    /// (start, key length, value length)
    pub entries: Vec<(usize, usize, usize)>,
    next: usize,
}

/// Where the scan goes on after the stretch.
pub enum Onward {
    /// Forward: the least key not seen yet; backward: the key below which to go on (`None`: from the end).
    From(Option<Vec<u8>>, /* inclusive */ bool),
    /// In the next leaf: forward from this fence, backward below it.
    Over(Vec<u8>),
    End,
}

impl Stretch {
    /// Gets buffers that an earlier scan has left, if it has none.
    pub fn borrow_buffers(&mut self) {
        if self.bytes.capacity() == 0 {
            // A thread that is ending has none.
            *self = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten().unwrap_or_default();
        }
    }

    /// The scan has ended: leaves the buffers to others.
    pub fn give_back_buffers(&mut self) {
        if self.bytes.capacity() == 0 {
            return;
        }
        self.clear();
        let stretch = std::mem::take(self);
        // When the thread is ending, they are freed.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARE_MAX {
                spare.push(stretch);
            }
        });
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.next = 0;
    }

    #[inline]
    pub fn pop(&mut self) -> Option<(usize, usize, usize)> {
        let entry = self.entries.get(self.next).copied();
        self.next += 1;
        entry
    }

    /// Appends slot `i`; the key's bytes as the node has them.
    #[inline]
    fn push(&mut self, node: Node<'_>, prefix: &[u8], i: usize) -> std::result::Result<(), Torn> {
        let (rest, value) = (node.key_rest(i)?, without_spare(node.value(i)?).ok_or(Torn)?);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(prefix);
        self.bytes.extend_from_slice(rest);
        self.bytes.extend_from_slice(value);
        self.entries.push((start, prefix.len() + rest.len(), value.len()));
        Ok(())
    }

    fn key(&self, i: usize) -> Option<&[u8]> {
        self.entries.get(i).map(|(start, key_len, _)| &self.bytes[*start..start + key_len])
    }

    fn last_key(&self) -> Option<Vec<u8>> {
        self.key(self.entries.len().checked_sub(1)?).map(<[u8]>::to_vec)
    }

    /// The key of the entry popped last; behind the end that of the last one.
    pub fn popped_last(&self) -> Option<&[u8]> {
        self.key(self.next.min(self.entries.len()).checked_sub(1)?)
    }

    /// The key of the entry popped before the last one.
    pub fn popped_before_last(&self) -> Option<&[u8]> {
        self.key(self.next.checked_sub(2)?)
    }
}

/// The first slot at or beyond a bound's key: (slot, equal).
fn slot_for(node: Node<'_>, key: Option<&[u8]>, none: usize) -> std::result::Result<(usize, bool), Torn> {
    key.map_or(Ok((none, false)), |key| node.search(key))
}

/// Where a stretch is to be copied from.
pub struct From<'k> {
    pub direction: Direction,
    pub key: Option<&'k [u8]>,
    pub inclusive: bool,
    pub end: &'k Bound<Vec<u8>>,
}

/// Copies entries of the leaf as far as the scan's end, or about `bytes_max`.
pub fn copy(
    stretch: &mut Stretch,
    leaf: View<'_>,
    from: &From<'_>,
    bytes_max: usize,
) -> std::result::Result<Onward, Torn> {
    match from.direction {
        Direction::Forward => copy_forward(stretch, leaf, from.key, from.inclusive, from.end, bytes_max),
        Direction::Backward => copy_backward(stretch, leaf, from.key, from.inclusive, from.end, bytes_max),
    }
}

fn copy_forward(
    stretch: &mut Stretch,
    leaf: View<'_>,
    from: Option<&[u8]>,
    inclusive: bool,
    end: &Bound<Vec<u8>>,
    bytes_max: usize,
) -> std::result::Result<Onward, Torn> {
    let node = Node(leaf.bytes());
    let (first, equal) = slot_for(node, from, 0)?;
    let first = first + (equal && !inclusive) as usize;
    let len = node.len();
    let (stop, ends_here) = match end {
        Bound::Unbounded => (len, false),
        Bound::Included(key) => node.search(key).map(|(i, equal)| (i + equal as usize, i + (equal as usize) < len))?,
        Bound::Excluded(key) => node.search(key).map(|(i, equal)| (i, i < len || equal))?,
    };
    let prefix = node.prefix()?;
    for i in first..stop.max(first) {
        if stretch.bytes.len() >= bytes_max {
            return Ok(Onward::From(stretch.last_key(), false));
        }
        stretch.push(node, prefix, i)?;
    }
    if ends_here {
        return Ok(Onward::End);
    }
    let Some(fence) = node.upper_fence()? else { return Ok(Onward::End) };
    let past_end = match end {
        Bound::Unbounded => false,
        Bound::Included(key) => fence > &key[..],
        Bound::Excluded(key) => fence >= &key[..],
    };
    Ok(if past_end { Onward::End } else { Onward::Over(fence.to_vec()) })
}

fn copy_backward(
    stretch: &mut Stretch,
    leaf: View<'_>,
    from: Option<&[u8]>,
    inclusive: bool,
    end: &Bound<Vec<u8>>,
    bytes_max: usize,
) -> std::result::Result<Onward, Torn> {
    let node = Node(leaf.bytes());
    let len = node.len();
    let (last, equal) = slot_for(node, from, len)?;
    let last = last + (equal && inclusive) as usize;
    let stop = match end {
        Bound::Unbounded => 0,
        Bound::Included(key) => node.search(key)?.0,
        Bound::Excluded(key) => node.search(key).map(|(i, equal)| i + equal as usize)?,
    };
    let prefix = node.prefix()?;
    for i in (stop.min(last)..last).rev() {
        if stretch.bytes.len() >= bytes_max {
            return Ok(Onward::From(stretch.last_key(), false));
        }
        stretch.push(node, prefix, i)?;
    }
    if stop > 0 {
        return Ok(Onward::End);
    }
    let Some(fence) = node.lower_fence()? else { return Ok(Onward::End) };
    let past_end = match end {
        Bound::Unbounded => false,
        Bound::Included(key) | Bound::Excluded(key) => fence <= &key[..],
    };
    Ok(if past_end { Onward::End } else { Onward::Over(fence.to_vec()) })
}
