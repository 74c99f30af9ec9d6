//! How many digits of the second a constant text has that is no literal: MySQL looks at its value when it resolves the types.

use crate::call::StoredCall;
use crate::function::Func;
use crate::operator::CmpOp;
use crate::row::Outside;
use crate::{Env, Evaluation, Execution, Expr, Frame, Node, Scope, error};
use catalog::Table;
use std::cell::{RefCell, RefMut};
use std::time::Duration;
use types::gtid::{Gtid, GtidSet};
use types::sql_mode::SqlMode;
use types::{CollationId, DataType, Result, TypeKind, Value};

/// Functions that need no session to give a text.
const KNOWN: [&str; 44] = [
    "if",
    "ifnull",
    "coalesce",
    "nullif",
    "concat",
    "concat_ws",
    "left",
    "right",
    "substring",
    "substr",
    "mid",
    "trim",
    "lower",
    "upper",
    "date",
    "date_add",
    "addtime",
    "subtime",
    "greatest",
    "least",
    "char",
    "elt",
    "hex",
    "inet_ntoa",
    "insert",
    "json_array",
    "json_extract",
    "json_object",
    "json_pretty",
    "json_quote",
    "json_type",
    "json_unquote",
    "json_value",
    "lpad",
    "ltrim",
    "quote",
    "replace",
    "reverse",
    "rpad",
    "rtrim",
    "soundex",
    "substring_index",
    "to_base64",
    "unhex",
];

/// The value of a text that is made of literals, and is none itself.
pub fn value_of(e: &Expr) -> Option<Vec<u8>> {
    let is_known = |f: &Func| KNOWN.contains(&f.name) && !f.volatile;
    let is_open = |e: &Expr| match &e.node {
        Node::Const(_) | Node::Case { .. } | Node::Cast(_) | Node::Compare(..) | Node::InCharset(_) => false,
        Node::Call(f, _) => !is_known(f),
        _ => true,
    };
    if matches!(e.node, Node::Const(_)) || e.any(&mut |e| is_open(e)) {
        return None;
    }
    let nowhere = Nowhere { evaluation: Evaluation::new(&[], 0, SqlMode::NONE), nobody: RefCell::new(Nobody) };
    match e.eval(&nowhere, Scope::new(Frame::empty(), None)) {
        Ok(Value::Bytes(text)) => Some(text.into_owned()),
        _ => None,
    }
}

const NOBODY: &str = "a session, before a statement runs";

/// No statement runs: what asks for one has no value yet, and nobody is warned.
struct Nowhere {
    evaluation: Evaluation<'static>,
    nobody: RefCell<Nobody>,
}

struct Nobody;

impl Outside for Nowhere {
    fn absent<'t>(&self, _: &'t Table, _: &[u8], _: usize) -> Result<Value<'t>> {
        Err(error::unsupported(NOBODY))
    }
}

impl Execution for Nowhere {
    fn evaluation(&self) -> &Evaluation<'_> {
        &self.evaluation
    }

    fn session(&self) -> RefMut<'_, dyn Env + '_> {
        RefMut::map(self.nobody.borrow_mut(), |nobody| nobody as &mut dyn Env)
    }

    fn scalar(&self, _: usize, _: usize, _: Scope<'_>) -> Result<Value<'_>> {
        Err(error::unsupported(NOBODY))
    }

    fn exists(&self, _: usize, _: Scope<'_>) -> Result<bool> {
        Err(error::unsupported(NOBODY))
    }

    fn contains(&self, _: usize, _: &[Expr], _: &[CollationId], _: Scope<'_>) -> Result<Option<bool>> {
        Err(error::unsupported(NOBODY))
    }

    fn quantified(&self, _: usize, _: CmpOp, _: bool, _: &Expr, _: CollationId, _: Scope<'_>) -> Result<Option<bool>> {
        Err(error::unsupported(NOBODY))
    }

    fn call(&self, _: &StoredCall, _: &[Expr], _: Scope<'_>) -> Result<Value<'static>> {
        Err(error::unsupported(NOBODY))
    }

    fn interrupt(&self) -> u8 {
        0
    }

    fn sleep(&self, _: Duration) -> bool {
        false
    }

    fn get_lock(&self, _: &str, _: Duration) -> Result<bool> {
        Err(error::unsupported(NOBODY))
    }
}

impl Env for Nobody {
    fn database(&self) -> Option<&str> {
        None
    }

    fn connection_id(&self) -> u64 {
        0
    }

    fn user(&self) -> &str {
        ""
    }

    fn current_user(&self) -> &str {
        ""
    }

    fn now_us(&self) -> i64 {
        0
    }

    fn time_zone_offset(&self, _: i64) -> i32 {
        0
    }

    fn sql_mode(&self) -> u64 {
        SqlMode::NONE.0
    }

    fn last_insert_id(&self) -> u64 {
        0
    }

    fn set_last_insert_id(&mut self, _: u64) {}

    fn random(&mut self) -> &mut (u32, u32) {
        unreachable!("no function that is volatile is called")
    }

    fn row_count(&self) -> i64 {
        0
    }

    fn found_rows(&self) -> u64 {
        0
    }

    fn system_variable(&self, _: Option<bool>, _: &str) -> Result<(Value<'static>, DataType)> {
        // The least that a bound of a function's result can be.
        Ok((Value::UInt(0), DataType::new(TypeKind::Null)))
    }

    fn user_variable(&self, _: &str) -> (Value<'static>, DataType) {
        (Value::Null, DataType::new(TypeKind::Null))
    }

    fn set_user_variable(&mut self, _: &str, _: Value<'static>, _: DataType) {}

    fn release_lock(&mut self, _: &str) -> Option<bool> {
        None
    }

    fn release_all_locks(&mut self) -> u64 {
        0
    }

    fn lock_owner(&self, _: &str) -> Option<u64> {
        None
    }

    fn receipt(&self, _: Gtid) -> Result<Option<String>> {
        Err(error::unsupported(NOBODY))
    }

    fn may_wait_for_gtids(&self) -> Result<()> {
        Err(error::unsupported(NOBODY))
    }

    fn wait_for_gtids(&self, _: &GtidSet, _: Option<Duration>) -> Result<bool> {
        Err(error::unsupported(NOBODY))
    }

    fn warn(&mut self, _: &'static str, _: u16, _: String) {}
}
