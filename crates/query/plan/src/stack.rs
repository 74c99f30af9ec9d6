//! The stack that a statement needs, by how deeply it is nested.

/// Stack for a level of [`sql::ast::Parsed::height`], in an optimised build: planning it takes most.
const LEVEL_BYTES: usize = 12 << 10;
/// Statements so high are planned and run on the stack at hand.
pub const PLAIN_HEIGHT: u32 = 40;
/// Views and rules of tables included, a statement is no higher.
pub const HEIGHT_MAX: u32 = 8000;

/// The stack that a statement of that height is to have before it is looked at, in bytes.
pub fn stack_bytes(height: u32) -> usize {
    if height <= PLAIN_HEIGHT { 0 } else { height as usize * LEVEL_BYTES }
}

/// Calls `f` with so much room on the stack; 0: where it stands.
pub fn with_stack<R>(bytes: usize, f: impl FnOnce() -> R) -> R {
    if bytes == 0 { f() } else { sync::stack::with_room(bytes, f) }
}
