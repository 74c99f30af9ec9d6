//! How an evaluator asks for its arguments: as they are, as text, as a number.

use crate::execution::{LEAST_PACKET, check_work};
use crate::function::Args;
use crate::{Expr, Node, charset, compare, convert, document, integer};
use std::borrow::Cow;
use types::{Charset, CollationId, DataType, Result, Value};

impl<'a> Args<'a> {
    /// As text; `None` for NULL.
    pub fn text(&self, i: usize) -> Result<Option<Cow<'a, [u8]>>> {
        let e = &self.args[i];
        if let Node::Case { .. } = e.node {
            return self.text_shown(i);
        }
        // Most are texts of the character set that is asked for.
        match e.eval(self.run, self.at)? {
            Value::Null => Ok(None),
            Value::Bytes(text)
                if !self.converts || e.ty.kind.is_text() && e.ty.collation.charset() == self.ty.collation.charset() =>
            {
                check_work(self.run, text.len())?;
                Ok(Some(text))
            }
            v => self.text_of(v, &e.ty, i),
        }
    }

    #[inline(never)]
    fn text_shown(&self, i: usize) -> Result<Option<Cow<'a, [u8]>>> {
        match self.args[i].eval_shown(self.run, self.at)? {
            (Value::Null, _) => Ok(None),
            (v, own) => self.text_of(v, own, i),
        }
    }

    /// The text of a value of the type `own`, which argument `i` is or has chosen.
    #[inline(never)]
    fn text_of(&self, v: Value<'a>, own: &DataType, i: usize) -> Result<Option<Cow<'a, [u8]>>> {
        let text = convert::into_text(v, own);
        self.run.check_work(text.len())?;
        Ok(Some(match self.converts {
            false => text,
            true if charset::charset_of(own) == self.ty.collation.charset() && own.kind.is_text() => text,
            // Nothing is known of its characters before it is here.
            true if self.checks_text(i) => charset::in_charset(text, &self.args[i].ty, self.ty.collation)?,
            true => charset::transcode(text, &self.args[i].ty, self.ty),
        }))
    }

    /// Must a text be one of the function's character set, and not what can be made of it there?
    fn checks_text(&self, i: usize) -> bool {
        match self.args[i].node {
            // Bytes that are bound stay what they are, as in MySQL.
            Node::Param(_) => charset::charset_of(&self.args[i].ty) != Charset::Binary,
            _ => compare::FIRST_DECIDES.contains(&self.function) || self.function == "quote",
        }
    }

    /// The character set that [`Args::text`] gives argument `i` in.
    pub fn charset(&self, i: usize) -> Charset {
        let ty = &self.args[i].ty;
        match ty.kind.is_text() || ty.kind.is_bytes() {
            _ if self.converts => self.ty.collation.charset(),
            true => ty.collation.charset(),
            false => Charset::Utf8mb4,
        }
    }

    /// What is asked for an integer. Error 1690, warning 1292.
    pub fn whole(&self, i: usize) -> Result<Value<'a>> {
        let v = self.value(i)?;
        integer::check(&v, &self.args[i], self.run, self.at)?;
        Ok(v)
    }

    /// As BIGINT; `None` for NULL. Errors and warnings as those of [`Args::whole`].
    #[inline]
    pub fn int(&self, i: usize) -> Result<Option<i64>> {
        match self.value(i)? {
            Value::Int(n) => Ok(Some(n)),
            v => self.int_of(v, i),
        }
    }

    #[inline(never)]
    fn int_of(&self, v: Value<'a>, i: usize) -> Result<Option<i64>> {
        integer::check(&v, &self.args[i], self.run, self.at)?;
        Ok(match &v {
            Value::Null => None,
            Value::Bytes(text) if !convert::is_long_column(&self.args[i]) => {
                Some(convert::integer_of_text(text, (i64::MIN.into(), u64::MAX.into()), self.run) as i64)
            }
            Value::Decimal(d) => Some(convert::integer_of_decimal(d, self.run)),
            Value::Json(_) => Some(convert::bits64(&v, self.run) as i64),
            v => Some(v.to_i64()),
        })
    }

    /// As DOUBLE; `None` for NULL. Warning 1292 of a text that is no number.
    pub fn double(&self, i: usize) -> Result<Option<f64>> {
        let v = self.value(i)?;
        if let Value::Json(_) = v {
            return Ok(Some(document::json_number(&v, self.run).to_f64()));
        }
        self.warn_truncated(i, &v);
        Ok(if v.is_null() { None } else { Some(v.to_f64()) })
    }

    /// 1292 for a text that is no number, unless a column of a long string has it.
    fn warn_truncated(&self, i: usize, v: &Value<'_>) {
        if let Value::Bytes(b) = v
            && !convert::is_long_column(&self.args[i])
        {
            convert::warn_truncated_double(b, self.run);
        }
    }

    /// Is a text of so many bytes longer than `max_allowed_packet` lets it be? NULL is to be given in its place then.
    #[inline]
    pub fn outgrows_packet(&self, bytes: usize) -> Result<bool> {
        if bytes <= LEAST_PACKET { Ok(false) } else { self.run.outgrows_packet(self.function, bytes) }
    }

    /// The collation of the string arguments together; the first one's where they do not go together.
    pub fn collation(&self) -> CollationId {
        let all: Vec<&Expr> = self.args.iter().collect();
        compare::collation_of(&all).unwrap_or(self.args[0].ty.collation)
    }
}
