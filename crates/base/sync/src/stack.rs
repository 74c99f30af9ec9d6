//! How much of its stack a thread has used: recursion over what a client sends asks before it goes deeper.

use std::cell::Cell;

thread_local! {
    /// An address near the stack's start, and the stack's size in bytes; 0 where nobody has said.
    static STACK: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// An unoptimised build's frames are several times as large.
const FRAME_FACTOR: usize = if cfg!(debug_assertions) { 8 } else { 1 };

/// The size to make a stack with, in bytes, that is to do what `bytes` do in an optimised build.
pub const fn size_for(bytes: usize) -> usize {
    bytes.saturating_mul(FRAME_FACTOR)
}

fn here() -> usize {
    let local = 0u8;
    std::ptr::from_ref(std::hint::black_box(&local)).addr()
}

/// Called first by a thread whose stack has `bytes`.
pub fn begin(bytes: usize) {
    STACK.set((here(), bytes));
}

/// Bytes used and the size, once more than half is used: what walks a tree that was just made must find room too.
pub fn overrun() -> Option<(usize, usize)> {
    let (start, size) = STACK.get();
    let used = start.saturating_sub(here());
    (size != 0 && used > size / 2).then_some((used, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth_reached(depth: usize) -> usize {
        let filler = std::hint::black_box([0u8; 1024]);
        if overrun().is_some() || depth == 100_000 {
            return depth + filler[depth % 1024] as usize;
        }
        depth_reached(depth + 1) + filler[0] as usize
    }

    #[test]
    fn recursion_ends_in_the_middle_of_the_stack() {
        assert_eq!(overrun(), None, "nobody has said how large this thread's stack is");
        let bytes = 1 << 20;
        let run = move || {
            begin(bytes);
            depth_reached(0)
        };
        let depth =
            std::thread::Builder::new().stack_size(bytes).spawn(run).expect("a thread").join().expect("no overflow");
        assert!((64..=512).contains(&depth), "{depth} frames of a KiB and more in half of {bytes} bytes");
    }
}
