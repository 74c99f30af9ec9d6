//! Stored programs: what the dictionary's text becomes, and the interpreter that runs it.
//!
//! ```text
//!   catalog::Routine --compile--> Compiled, shared by all sessions: tree, instructions, types of variables
//!                     Host::plan-> Plans, of one session and one depth: a plan for each part, made at its first use
//!   Interpreter::run: instructions by number; values of variables stand where parameters do
//! ```
//! What only a session can do (transactions, definitions, answers to the client) it asks of a [`Host`]. Errors and warnings look for a
//! handler behind each instruction ([`handlers`]).

pub(crate) mod at_hand;
pub mod closure;
pub(crate) mod compile;
mod cursor;
pub mod diagnostics;
pub(crate) mod form;
pub(crate) mod function;
mod handlers;
mod interpreter;
pub mod lent;
pub(crate) mod trigger;
pub(crate) mod values;

pub use compile::{Compiled, Own, RoutineName, RowColumn, columns_of, trigger_columns, variable};
pub use diagnostics::{Condition, ConditionItems};
pub use form::Form;
pub use interpreter::{Interpreter, OutValue, Plans, run_statement};
pub use lent::{Lent, Rights, Surroundings};
pub use values::assign;

use crate::context::{Env, Outcome, RowSink};
use crate::prepared::Prepared;
use engine::Transaction;
use plan::LocalType;
use sql::ast::{ObjectName, Parsed};
use std::sync::Arc;
use types::{DataType, Result, SqlError, Value};

/// What the interpreter needs of whoever runs a program: of a session.
pub trait Host {
    /// A part's plan.
    type Plan;
    /// What is known of a statement when it begins.
    type Begun;

    fn parts(&mut self) -> (&mut Transaction, &mut dyn Env);
    fn plan(&mut self, part: &Arc<Parsed>, form: Form) -> Result<Self::Plan>;
    fn prepared<'p>(&self, plan: &'p mut Self::Plan) -> &'p mut Prepared;
    /// Has the plan to be made anew before it is used? Of one that `query` and `run` do not make anew themselves.
    fn is_stale(&self, plan: &Self::Plan) -> bool;
    /// Runs a statement whose rows are the program's.
    fn query(&mut self, plan: &mut Self::Plan, locals: &[Value<'static>], sink: &mut dyn RowSink) -> Result<Outcome>;
    /// Runs a statement of the executor's; its rows are the client's. Error 1312 where the client takes no more than one answer.
    fn run(&mut self, plan: &mut Self::Plan, locals: &[Value<'static>]) -> Result<()>;
    /// Runs any other statement. `given`: the values of its expressions that the program has evaluated.
    fn obey(&mut self, part: &Parsed, given: Vec<(Value<'static>, DataType)>) -> Result<()>;
    /// Runs SHOW, whose WHERE may name the program's variables.
    fn show(&mut self, part: &Parsed, types: &Arc<[LocalType]>, locals: &[Value<'static>]) -> Result<()>;
    /// May the procedure be called, if there is one? Asked before arguments are looked at. Error 1370.
    fn may_call(&mut self, part: &Parsed, name: ObjectName) -> Result<()>;
    /// Looks a procedure up. Errors 1205, 1305, 1312, and those of what is forbidden where it is called.
    fn find(&mut self, part: &Parsed, name: ObjectName) -> Result<Own>;
    /// Makes a procedure's surroundings the session's: schema, SQL mode, rights. Errors 1449, 1456.
    fn enter(&mut self, compiled: &Own) -> Result<()>;
    /// Makes those of the caller the session's again.
    fn leave(&mut self);
    fn take_plans(&mut self, compiled: &Own) -> Plans<Self::Plan>;
    fn keep_plans(&mut self, plans: Plans<Self::Plan>);
    /// A statement that is no part of diagnostics begins: conditions of the one before are gone.
    fn clear_conditions(&mut self);
    fn conditions(&mut self) -> &mut Vec<Condition>;
    /// Conditions in place of those that there are.
    fn replace_conditions(&mut self, conditions: Vec<Condition>);
    /// A handler takes a condition.
    fn handles(&mut self, code: u16);
    /// Another condition, counted.
    fn add_condition(&mut self, condition: Condition);
    fn row_count(&self) -> i64;
    /// Is it part of a statement that changes rows? Then a strict mode makes errors of what conditions warn of.
    fn stores(&self) -> bool {
        false
    }
    /// A statement of the program begins. What comes back is given to [`Host::end_statement`].
    fn begin_statement(&mut self) -> Self::Begun;
    /// It has ended.
    fn end_statement(&mut self, begun: Self::Begun, part: &Parsed, error: Option<&SqlError>);

    fn set_row_count(&mut self, rows: i64);
}
