//! Rows of some slots as bytes, while other rows take their places.

use super::{Frame, Scope};

/// Appends the rows of some slots: `present u8 | length u32 | bytes | length u32 | key` for each.
pub fn save_slots(out: &mut Vec<u8>, at: Scope<'_>, slots: &[usize]) {
    for s in slots {
        let (present, row, key) = at.slot(*s);
        out.push(present as u8);
        for part in [row, key] {
            out.extend_from_slice(&(part.len() as u32).to_le_bytes());
            out.extend_from_slice(part);
        }
    }
}

/// Puts saved rows back into their slots.
pub fn restore_slots(saved: &[u8], frame: &mut Frame, slots: &[usize]) {
    let mut at = 0;
    for s in slots {
        let slot = &mut frame.slots[*s];
        slot.present = saved[at] != 0;
        at += 1;
        for part in [&mut slot.bytes, &mut slot.key] {
            let length = u32::from_le_bytes(saved[at..at + 4].try_into().expect("four bytes")) as usize;
            part.clear();
            part.extend_from_slice(&saved[at + 4..at + 4 + length]);
            at += 4 + length;
        }
    }
}
