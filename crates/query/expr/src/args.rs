//! How an evaluator asks for its arguments: as they are, as text, as a number.

use crate::function::Args;
use crate::{Expr, Node, charset, compare, convert, document, integer};
use std::borrow::Cow;
use types::{Charset, CollationId, Result, Value};

impl<'a> Args<'a> {
    /// As text; `None` for NULL.
    #[inline]
    pub fn text(&self, i: usize) -> Result<Option<Cow<'a, [u8]>>> {
        let e = &self.args[i];
        // A string column, which most arguments are, is neither shown as something else nor converted.
        let Node::Column { depth: 0, .. } = e.node else { return self.text_of(i) };
        match e.eval(self.run, self.at)? {
            Value::Null => Ok(None),
            Value::Bytes(text)
                if !self.converts || e.ty.kind.is_text() && e.ty.collation.charset() == self.charset(i) =>
            {
                self.run.check_work(text.len()).map(|()| Some(text))
            }
            _ => self.text_of(i),
        }
    }

    fn text_of(&self, i: usize) -> Result<Option<Cow<'a, [u8]>>> {
        let (v, own) = self.args[i].eval_shown(self.run, self.at)?;
        if v.is_null() {
            return Ok(None);
        }
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
    pub fn int(&self, i: usize) -> Result<Option<i64>> {
        let v = self.whole(i)?;
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

    /// The collation of the string arguments together; the first one's where they do not go together.
    pub fn collation(&self) -> CollationId {
        let all: Vec<&Expr> = self.args.iter().collect();
        compare::collation_of(&all).unwrap_or(self.args[0].ty.collation)
    }
}
