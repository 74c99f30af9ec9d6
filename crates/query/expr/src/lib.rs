//! Typed expressions: every name is a slot and column, every node has a static type, evaluation borrows.
//!
//! The static type ([`Expr::ty`]) tells clients and sort keys what to expect; evaluation itself goes by the kind of the
//! values at hand, as MySQL's does for parameters and user variables, with the collation fixed at planning.
//!
//! From the bottom up, so that no file imports what stands further down in this list:
//!
//! ```text
//!   operator  the signs between operands                     tuple, key   values of intermediate results as bytes
//!   row       the rows that are read, a scope per query      scratch      what functions remember
//!   node      the tree: literals, columns, operators, calls   \
//!   function  what a function is, and the rule of its type     } these three know one another
//!   execution what is asked of the statement that evaluates   /
//!   charset, clock, document, convert, compare, number: what the nodes mean, value by value
//!   integer, moment, store, array, args, escape: values where others are asked for, arguments of functions among them
//!   common, operand, adapt: operands brought to what stands beside them, at planning
//!   functions, wide: the functions that there are, and how they are found
//!   list, alternatives: many conditions looked up at once    print        the tree as text
//!   aggregate, window, between: what is planned of these     eval         the value of a tree for the rows of a scope
//! ```
//! The one way back up is a method: who evaluates its operands calls [`Expr::eval`], which stands on top.
//!
//! Knows how a row is laid out and what a session may be asked, but neither transactions nor plans nor operators: what it needs of
//! an execution is the trait [`Execution`].

pub mod adapt;
pub mod aggregate;
pub mod alternatives;
mod args;
pub mod array;
pub mod between;
pub mod charset;
pub mod clock;
pub mod common;
pub mod compare;
pub mod convert;
pub mod document;
mod env;
pub mod error;
pub mod escape;
mod eval;
mod execution;
pub mod function;
pub mod functions;
pub mod integer;
pub mod key;
pub mod list;
pub mod moment;
mod node;
pub mod number;
pub mod operand;
pub mod operator;
pub mod print;
pub mod row;
mod scratch;
pub mod store;
pub mod time_zone;
pub mod tuple;
pub mod variable;
pub mod wide;
pub mod window;

pub use env::{Env, LoadedFile, SourcePlace, SourceWait, Stage, Teller};
pub use eval::member_text;
pub use execution::{Evaluation, Execution, lexer_mode};
pub use functions::{random_part, random_seed};
pub use node::{Expr, Node, boolean, boolean_type, call, constant, reborrow, string, written};
pub use row::{Frame, Scope, Shape, Slot};
pub use store::Strictness;
