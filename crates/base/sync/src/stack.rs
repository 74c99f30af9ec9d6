//! Room on the stack for recursion over what a client sends.
//!
//! A statement that is nested deeply is planned, run and dropped on a stack of its own ([`with_room`]), made for the height that
//! the parser has found, so that none of the walks over it, not even a destructor's, has to ask for room. What recurses with great
//! frames, or over what the parser has not seen, asks [`overrun`] before it goes deeper.

use std::cell::Cell;

thread_local! {
    /// An address near the start of the stack at hand, and its size in bytes; 0 where nobody has said.
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

/// Calls `f` where [`overrun`] objects after `bytes` at the earliest, in the measure of an optimised build, and leaves as much again: on
/// the stack at hand where that has room for both, else on one made for the call, of which the system backs the pages that are touched.
pub fn with_room<R>(bytes: usize, f: impl FnOnce() -> R) -> R {
    let wanted = size_for(bytes).saturating_mul(2);
    let (start, size) = STACK.get();
    let left = match size {
        0 => stacker::remaining_stack().unwrap_or(0),
        size => size.saturating_sub(start.saturating_sub(here())),
    };
    if left >= wanted { f() } else { on_new_stack(wanted, f) }
}

#[cold]
fn on_new_stack<R>(bytes: usize, f: impl FnOnce() -> R) -> R {
    /// Puts the old stack back, also after a panic.
    struct Old((usize, usize));
    impl Drop for Old {
        fn drop(&mut self) {
            STACK.set(self.0);
        }
    }
    let _old = Old(STACK.get());
    stacker::grow(bytes, || {
        begin(bytes);
        f()
    })
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

    fn on_thread_of<R: Send + 'static>(bytes: usize, f: impl FnOnce() -> R + Send + 'static) -> R {
        let run = move || {
            begin(bytes);
            f()
        };
        std::thread::Builder::new().stack_size(bytes).spawn(run).expect("a thread").join().expect("no overflow")
    }

    #[test]
    fn recursion_ends_in_the_middle_of_the_stack() {
        assert_eq!(overrun(), None, "nobody has said how large this thread's stack is");
        let depth = on_thread_of(1 << 20, || depth_reached(0));
        assert!((64..=512).contains(&depth), "{depth} frames of a KiB and more in half of a MiB");
    }

    #[test]
    fn a_stack_with_room_takes_deeper_recursion() {
        let (shallow, deep, after) = on_thread_of(1 << 20, || {
            let shallow = with_room(1 << 10, || depth_reached(0));
            let deep = with_room(8 << 20, || depth_reached(0));
            (shallow, deep, depth_reached(0))
        });
        assert!(deep > 8 * shallow, "{deep} levels where there were {shallow}");
        assert!(after.abs_diff(shallow) < 16, "{after} levels on the old stack again, {shallow} before");
    }

    #[test]
    fn a_panic_on_a_new_stack_gives_the_old_one_back() {
        let (before, after) = on_thread_of(1 << 20, || {
            let before = STACK.get();
            let panicked = std::panic::catch_unwind(|| with_room(8 << 20, || std::panic::resume_unwind(Box::new(()))));
            assert!(panicked.is_err());
            (before, STACK.get())
        });
        assert_eq!(before, after);
    }
}
