//! Values of expressions in statements that the executor does not run: SET, KILL, EXECUTE, SHOW ... LIMIT.
//!
//! Literals are read off the tree. Any other expression is cut out of the text and run as `SELECT expr`, so that SET
//! knows everything that a query knows, subqueries too.

use crate::run::lexer_mode;
use crate::session::Session;
use crate::session::bound::BYTES_MAX;
use crate::sink::MemorySink;
use crate::statement::{is_planned, parse_error};
use expr::Env;
use expr::error::unsupported;
use sql::ast::{Expr, ExprId, Parsed, UnaryOp};
use sql::lexer::{Lexer, Tok};
use std::borrow::Cow;
use types::codes::*;
use types::collation::CollationId;
use types::{DataType, Decimal, Result, TypeKind, Value, err};

/// A literal's value, if the expression is one.
pub(crate) fn literal(parsed: &Parsed, id: ExprId) -> Option<(Value<'static>, DataType)> {
    let value = match &parsed[id] {
        Expr::Null => (Value::Null, DataType::new(TypeKind::Null)),
        Expr::Bool(b) => (Value::Int(i64::from(*b)), DataType::new(TypeKind::BigInt)),
        Expr::Int(n) => match i64::try_from(*n) {
            Ok(n) => (Value::Int(n), DataType::new(TypeKind::BigInt)),
            Err(_) => (Value::UInt(*n), DataType::new(TypeKind::BigInt).unsigned()),
        },
        Expr::Decimal(text) => {
            let d = Decimal::parse(parsed.bytes(*text)).0;
            (Value::Decimal(d), DataType::decimal(65, 30))
        }
        Expr::Float(text) => {
            let n = std::str::from_utf8(parsed.bytes(*text)).ok()?.parse().ok()?;
            (Value::Double(n), DataType::new(TypeKind::Double))
        }
        Expr::String { text, introducer: None } => {
            let bytes = parsed.bytes(*text).to_vec();
            let length = bytes.len() as u32;
            let t = DataType::string(TypeKind::VarChar, length, CollationId::UTF8MB4_0900_AI_CI);
            (Value::Bytes(Cow::Owned(bytes)), t)
        }
        Expr::Unary { op: UnaryOp::Neg, operand } => {
            let (value, t) = literal(parsed, *operand)?;
            let value = match value {
                Value::Int(n) => Value::Int(-n),
                Value::UInt(n) if n == 1 << 63 => Value::Int(i64::MIN),
                Value::Double(n) => Value::Double(-n),
                Value::Decimal(_) => {
                    let mut text = b"-".to_vec();
                    value.write_text(&t, &mut text);
                    Value::Decimal(Decimal::parse(&text).0)
                }
                _ => return None,
            };
            (value, DataType { unsigned: false, ..t })
        }
        _ => return None,
    };
    Some(value)
}

/// An item of a SET statement, as it stands in the text.
#[derive(Default)]
pub(crate) struct Assignment {
    /// What is behind `=` or `:=`.
    pub value: std::ops::Range<usize>,
    /// It begins with `@@`.
    pub at_at: bool,
}

/// The items of a SET statement.
pub(crate) fn assignment_texts(source: &[u8], mode: sql::SqlMode) -> Vec<Assignment> {
    let mut lexer = Lexer::new(source, mode);
    let mut items = Vec::new();
    let (mut depth, mut start, mut at_at) = (0, None, false);
    // Where the token before ends: a comment, or the end of one, is not the value's.
    let mut before = 0;
    loop {
        let token = lexer.next_token();
        match token.tok {
            Tok::LParen => depth += 1,
            Tok::RParen => depth -= 1,
            Tok::AtAt if start.is_none() => at_at = true,
            Tok::Eq | Tok::Assign if depth == 0 && start.is_none() => start = Some(token.end as usize),
            Tok::Comma | Tok::End | Tok::Semicolon | Tok::Bad if depth == 0 || token.tok != Tok::Comma => {
                let end = before;
                items.push(Assignment { value: start.take().unwrap_or(end)..end, at_at: std::mem::take(&mut at_at) });
                if token.tok != Tok::Comma {
                    return items;
                }
            }
            _ => {}
        }
        before = token.end as usize;
    }
}

/// The value is of no rows: errors 1111 and 3593 of aggregates and windows that stand in no subquery.
fn refuse_groups(parsed: &Parsed) -> Result<()> {
    let [_] = parsed.queries() else { return Ok(()) };
    for e in parsed.exprs() {
        if let Expr::Window(call) = e {
            return Err(err!(ER_WINDOW_INVALID_WINDOW_FUNC_USE, sql::print::window_function(parsed, call)));
        }
    }
    let is_group = |e: &Expr| matches!(e, Expr::Aggregate { .. } | Expr::CountStar | Expr::GroupConcat(_));
    if parsed.exprs().iter().any(is_group) { Err(err!(ER_INVALID_GROUP_FUNC_USE)) } else { Ok(()) }
}

impl Session {
    /// The parameters of a statement that is run with them, and their types.
    pub(crate) fn bound_values(&self) -> (Vec<Value<'static>>, Vec<DataType>) {
        let text = self.state.vars.hot().literals;
        let values = self.bound.values.clone();
        let types = values.iter().map(|v| plan::parameter::sent_type(v, None, text)).collect();
        (values, types)
    }

    fn type_of_bound(&self, value: &Value<'_>) -> DataType {
        let t = expr::convert::type_of(value);
        match value {
            Value::Bytes(_) => DataType { collation: self.state.vars.hot().literals, ..t },
            _ => t,
        }
    }

    /// The value of an expression; `text` is where it stands in the statement.
    pub(crate) fn evaluate(&mut self, parsed: &Parsed, id: ExprId, text: &[u8]) -> Result<(Value<'static>, DataType)> {
        self.evaluate_in(parsed, id, text, true)
    }

    /// The same; error 1235 for tables and stored functions, and 1054 for words, unless the statement `takes_tables`.
    pub(crate) fn evaluate_in(
        &mut self,
        parsed: &Parsed,
        id: ExprId,
        text: &[u8],
        takes_tables: bool,
    ) -> Result<(Value<'static>, DataType)> {
        if let Some(given) = self.programs.given.pop() {
            return Ok(given);
        }
        if let Some(value) = literal(parsed, id) {
            return Ok(value);
        }
        match &parsed[id] {
            Expr::Param(_) => {
                let value = self.bound.take(1).swap_remove(0);
                let t = self.type_of_bound(&value);
                return Ok((value, t));
            }
            Expr::UserVar(name) => return Ok(self.state.user_variable(parsed.name(*name))),
            Expr::Column { schema: None, table: None, column } if takes_tables => {
                // A bare word: SET x = ON.
                let word = parsed.name(*column).as_bytes().to_vec();
                let t = DataType::string(TypeKind::VarChar, word.len() as u32, CollationId::UTF8MB4_0900_AI_CI);
                return Ok((Value::Bytes(Cow::Owned(word)), t));
            }
            _ => {}
        }
        let mut query = b"SELECT ".to_vec();
        query.extend_from_slice(text);
        let parsed = sql::parse(&query, lexer_mode(self.state.sql_mode)).map_err(parse_error)?;
        if !is_planned(&parsed.statement) {
            return Err(types::error::syntax_error());
        }
        refuse_groups(&parsed)?;
        let values = self.bound.take(parsed.param_count as usize);
        let types: Vec<DataType> = values.iter().map(|v| self.type_of_bound(v)).collect();
        let mut planned = self.plan(parsed, &types)?;
        planned.prepared.lock_plain_reads();
        if !takes_tables && (planned.prepared.calls() || !planned.prepared.tables().is_empty()) {
            return Err(unsupported("Usage of subqueries or stored function calls as part of this statement"));
        }
        let mut sink = MemorySink::new(BYTES_MAX);
        self.run_into(&mut planned, &values, &mut sink)?;
        let t = sink.columns.first().map_or(DataType::new(TypeKind::Null), |c| c.data_type);
        match (sink.rows.len(), sink.columns.len()) {
            (_, n) if n != 1 => Err(err!(ER_OPERAND_COLUMNS, 1)),
            (0, _) => Ok((Value::Null, t)),
            (1, _) => Ok((sink.rows.swap_remove(0).swap_remove(0), t)),
            _ => Err(err!(ER_SUBQUERY_NO_1_ROW)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_assignments() {
        let texts = |s: &str| -> Vec<String> {
            let items = assignment_texts(s.as_bytes(), sql::SqlMode::default());
            let sign = |at_at| if at_at { "@@" } else { "" };
            items.into_iter().map(|a| format!("{}{}", sign(a.at_at), s[a.value].trim())).collect()
        };
        assert_eq!(
            texts("SET @a = 1, b := (SELECT x FROM t WHERE c=1, 2), @@d='x,y'"),
            ["1", "(SELECT x FROM t WHERE c=1, 2)", "@@'x,y'"]
        );
        assert_eq!(texts("SET a = @@b, @@session.c = 1"), ["@@b", "@@1"]);
        assert_eq!(texts("SET NAMES utf8mb4, @a = b = c"), ["", "b = c"]);
        assert_eq!(texts("/*!40101 SET @a = @@b, @c=1 */"), ["@@b", "1"]);
    }
}
