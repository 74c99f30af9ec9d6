//! Expressions back to text, in the words in which MySQL keeps them in its dictionary: lower-case functions, every operator
//! in parentheses, string literals with their character set. That text is what SHOW CREATE TABLE prints, and it parses to
//! the same tree under any `sql_mode`.

use crate::ast::*;
use std::fmt::Write;

/// How names of columns are written, and what stands for a subquery.
pub trait Names {
    fn column(&mut self, schema: Option<&str>, table: Option<&str>, column: &str) -> String;

    /// The text of a subquery with its parentheses; `None` where none is allowed.
    fn query(&mut self, _query: QueryId) -> Option<String> {
        None
    }

    /// The stored function that a call means, as it is written; `None`: a native one.
    fn routine(&mut self, _schema: Option<&str>, _name: &str) -> Option<String> {
        None
    }

    /// May calls with OVER stand where the expression does?
    fn has_windows(&self) -> bool {
        false
    }
}

/// Columns by their last name alone: for definitions that speak of one table.
pub struct Bare;

impl Names for Bare {
    fn column(&mut self, _schema: Option<&str>, _table: Option<&str>, column: &str) -> String {
        quote_name(column)
    }
}

/// A name in backticks.
pub fn quote_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A string literal.
pub fn quote_string(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + 2);
    out.push('\'');
    push_escaped(&mut out, s, true);
    out.push('\'');
    out
}

/// `doubled`: a quote is written twice, as SHOW CREATE TABLE does; else behind a backslash, as in expressions.
fn push_escaped(out: &mut String, s: &str, doubled: bool) {
    for c in s.chars() {
        match c {
            '\'' if doubled => out.push_str("''"),
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
}

/// A definition of the WINDOW clause, with its parentheses.
pub fn window(parsed: &Parsed, spec: &WindowSpec, names: &mut dyn Names) -> Option<String> {
    let mut printer = Printer { parsed, charset: "", names, out: String::new() };
    printer.window_spec(spec)?;
    Some(printer.out)
}

/// The expression as MySQL keeps it. `charset` is the connection's, which literals without introducer have.
/// `None`: something that has no place in a stored expression (a parameter, a subquery where `names` knows none).
pub fn expression(parsed: &Parsed, id: ExprId, charset: &str, names: &mut dyn Names) -> Option<String> {
    let mut printer = Printer { parsed, charset, names, out: String::new() };
    printer.expr(id)?;
    Some(printer.out)
}

struct Printer<'p> {
    parsed: &'p Parsed,
    charset: &'p str,
    names: &'p mut dyn Names,
    out: String,
}

impl Printer<'_> {
    fn push(&mut self, s: &str) {
        self.out.push_str(s);
    }

    fn expr(&mut self, id: ExprId) -> Option<()> {
        let parsed = self.parsed;
        match &parsed[id] {
            Expr::Null
            | Expr::Bool(_)
            | Expr::Int(_)
            | Expr::Decimal(_)
            | Expr::Float(_)
            | Expr::String { .. }
            | Expr::Bytes { .. }
            | Expr::Temporal { .. } => self.literal(&parsed[id])?,
            Expr::Is { .. }
            | Expr::Like { .. }
            | Expr::Regexp { .. }
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::InQuery { .. }
            | Expr::Quantified { .. }
            | Expr::Exists(_) => self.predicate(&parsed[id])?,
            Expr::ConvertUsing { .. }
            | Expr::Collate { .. }
            | Expr::DateArith { .. }
            | Expr::Extract { .. }
            | Expr::TimestampAdd { .. }
            | Expr::TimestampDiff { .. }
            | Expr::Trim { .. }
            | Expr::Char { .. }
            | Expr::DefaultOf(_) => self.keyword_call(&parsed[id])?,
            Expr::Column { schema, table, column } => {
                let name = |n: &Option<Name>| n.map(|n| parsed.name(n));
                let text = self.names.column(name(schema), name(table), parsed.name(*column));
                self.push(&text);
            }
            Expr::Unary { op, operand } => self.unary(*op, *operand)?,
            Expr::Binary { op, left, right } => self.binary(*op, *left, *right)?,
            Expr::And(list) => self.joined(*list, " and ")?,
            Expr::Or(list) => self.joined(*list, " or ")?,
            Expr::Subquery(query) => self.query(*query)?,
            Expr::Row(list) => {
                self.push("(");
                self.comma_list(parsed.list(*list))?;
                self.push(")");
            }
            Expr::Case { operand, whens, otherwise } => self.case(*operand, *whens, *otherwise)?,
            Expr::Call { schema, name, args } => {
                let written = parsed.name(*name);
                match (self.names.routine(schema.map(|s| parsed.name(s)), written), schema) {
                    (Some(routine), _) => self.call(&routine, parsed.list(*args))?,
                    (None, None) => self.call(usual_name(&written.to_ascii_lowercase()), parsed.list(*args))?,
                    (None, Some(_)) => return None,
                }
            }
            Expr::Builtin { func, args } => self.builtin(*func, parsed.list(*args))?,
            Expr::Aggregate { func, distinct, args } => {
                self.push(aggregate_name(*func));
                self.push(if *distinct { "(distinct " } else { "(" });
                self.comma_list(parsed.list(*args))?;
                self.push(")");
            }
            Expr::CountStar => self.push("count(0)"),
            Expr::GroupConcat(g) => self.group_concat(g)?,
            Expr::Window(call) if self.names.has_windows() => self.window_call(call)?,
            Expr::Cast(cast) => self.cast(cast)?,
            // Variables, parameters, rows of INSERT, windows, and what no stored expression may have.
            _ => return None,
        }
        Some(())
    }

    /// A literal.
    fn literal(&mut self, expr: &Expr) -> Option<()> {
        let parsed = self.parsed;
        match expr {
            Expr::Null => self.push("NULL"),
            Expr::Bool(b) => self.push(if *b { "true" } else { "false" }),
            Expr::Int(n) => _ = write!(self.out, "{n}"),
            Expr::Decimal(s) => {
                let text = String::from_utf8_lossy(parsed.bytes(*s)).into_owned();
                // MySQL keeps the value: a leading point gets its zero.
                if text.starts_with('.') {
                    self.push("0");
                }
                self.push(&text);
            }
            Expr::Float(s) => {
                let text = String::from_utf8_lossy(parsed.bytes(*s)).into_owned();
                self.push(&text);
            }
            Expr::String { text, introducer } => {
                let charset = introducer.map_or(self.charset, |i| parsed.name(i)).to_ascii_lowercase();
                let text = String::from_utf8(parsed.bytes(*text).to_vec()).ok()?;
                // Without a character set, as in views, literals are those of the connection.
                if !charset.is_empty() {
                    _ = write!(self.out, "_{charset}");
                }
                self.push("'");
                push_escaped(&mut self.out, &text, false);
                self.push("'");
            }
            Expr::Bytes { bytes, introducer, .. } => {
                if let Some(i) = introducer {
                    _ = write!(self.out, "_{}", parsed.name(*i).to_ascii_lowercase());
                }
                self.push("0x");
                for b in parsed.bytes(*bytes) {
                    _ = write!(self.out, "{b:02X}");
                }
            }
            Expr::Temporal { kind, text, .. } => {
                let word = match kind {
                    TemporalKind::Date => "DATE",
                    TemporalKind::Time => "TIME",
                    TemporalKind::DateTime => "TIMESTAMP",
                };
                let text = String::from_utf8_lossy(parsed.bytes(*text)).into_owned();
                _ = write!(self.out, "{word}'{text}'");
            }
            _ => return None,
        }
        Some(())
    }

    /// A comparison that is no operator: IS, LIKE, BETWEEN, IN, EXISTS.
    fn predicate(&mut self, expr: &Expr) -> Option<()> {
        let parsed = self.parsed;
        match expr {
            Expr::Is { operand, negated, test } => {
                self.push("(");
                match test {
                    Truth::True | Truth::False => self.condition(*operand)?,
                    Truth::Null | Truth::Unknown => self.expr(*operand)?,
                }
                self.push(if *negated { " is not " } else { " is " });
                self.push(match test {
                    Truth::Null | Truth::Unknown => "null",
                    Truth::True => "true",
                    Truth::False => "false",
                });
                self.push(")");
            }
            Expr::Like { operand, negated, pattern, escape } => {
                self.negation(*negated, |p| {
                    p.push("(");
                    p.expr(*operand)?;
                    p.push(" like ");
                    p.expr(*pattern)?;
                    if let Some(escape) = escape {
                        p.push(" escape ");
                        p.expr(*escape)?;
                    }
                    p.push(")");
                    Some(())
                })?;
            }
            Expr::Regexp { operand, negated, pattern } => {
                self.negation(*negated, |p| p.call("regexp_like", &[*operand, *pattern]))?;
            }
            Expr::Between { operand, negated, low, high } => {
                self.push("(");
                self.expr(*operand)?;
                self.push(if *negated { " not between " } else { " between " });
                self.expr(*low)?;
                self.push(" and ");
                self.expr(*high)?;
                self.push(")");
            }
            Expr::InList { operand, negated, list } => {
                self.push("(");
                self.expr(*operand)?;
                self.push(if *negated { " not in (" } else { " in (" });
                self.comma_list(parsed.list(*list))?;
                self.push("))");
            }
            Expr::InQuery { operand, negated, query } => {
                self.negation(*negated, |p| {
                    p.expr(*operand)?;
                    p.push(" in ");
                    p.query(*query)
                })?;
            }
            Expr::Quantified { op, all, left, query } => {
                self.push("(");
                self.expr(*left)?;
                let word = if *all { "all" } else { "any" };
                _ = write!(self.out, " {} {word} ", infix(*op)?);
                self.query(*query)?;
                self.push(")");
            }
            Expr::Exists(query) => {
                self.push("exists");
                self.query(*query)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// What has a grammar of its own behind its name: CONVERT, COLLATE, INTERVAL, EXTRACT, TRIM.
    fn keyword_call(&mut self, expr: &Expr) -> Option<()> {
        let parsed = self.parsed;
        match expr {
            Expr::ConvertUsing { operand, charset } => {
                self.push("convert(");
                self.expr(*operand)?;
                _ = write!(self.out, " using {})", parsed.name(*charset).to_ascii_lowercase());
            }
            Expr::Collate { operand, collation } => {
                self.push("(");
                self.expr(*operand)?;
                _ = write!(self.out, " collate {})", parsed.name(*collation).to_ascii_lowercase());
            }
            Expr::DateArith { subtract, date, amount, unit } => {
                self.push("(");
                self.expr(*date)?;
                self.push(if *subtract { " - interval " } else { " + interval " });
                self.expr(*amount)?;
                _ = write!(self.out, " {})", unit_name(*unit));
            }
            Expr::Extract { unit, operand } => {
                _ = write!(self.out, "extract({} from ", unit_name(*unit));
                self.expr(*operand)?;
                self.push(")");
            }
            Expr::TimestampAdd { unit, amount, date } => {
                self.push("(");
                self.expr(*date)?;
                self.push(" + interval ");
                self.expr(*amount)?;
                _ = write!(self.out, " {})", unit_name(*unit));
            }
            Expr::TimestampDiff { unit, from, to } => {
                _ = write!(self.out, "timestampdiff({},", unit_name(*unit).to_ascii_uppercase());
                self.comma_list(&[*from, *to])?;
                self.push(")");
            }
            Expr::Trim { side, remove, operand } => {
                self.push(match (side, remove) {
                    (TrimSide::Leading, Some(_)) => "trim(leading ",
                    (TrimSide::Trailing, Some(_)) => "trim(trailing ",
                    (TrimSide::Both, Some(_)) => "trim(both ",
                    (TrimSide::Leading, None) => "ltrim(",
                    (TrimSide::Trailing, None) => "rtrim(",
                    (TrimSide::Both, None) => "trim(",
                });
                if let Some(remove) = remove {
                    self.expr(*remove)?;
                    self.push(" from ");
                }
                self.expr(*operand)?;
                self.push(")");
            }
            Expr::Char { args, charset } => {
                self.push("char(");
                self.comma_list(parsed.list(*args))?;
                if let Some(charset) = charset {
                    _ = write!(self.out, " using {}", parsed.name(*charset).to_ascii_lowercase());
                }
                self.push(")");
            }
            Expr::DefaultOf(column) => {
                self.push("default(");
                self.expr(*column)?;
                self.push(")");
            }
            _ => return None,
        }
        Some(())
    }

    fn query(&mut self, query: QueryId) -> Option<()> {
        let text = self.names.query(query)?;
        self.push(&text);
        Some(())
    }

    fn negation(&mut self, negated: bool, inner: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        if !negated {
            return inner(self);
        }
        self.push("(not(");
        inner(self)?;
        self.push("))");
        Some(())
    }

    fn unary(&mut self, op: UnaryOp, operand: ExprId) -> Option<()> {
        match (op, &self.parsed[operand]) {
            (UnaryOp::Plus, _) => return self.expr(operand),
            // A literal with its sign is one literal.
            (UnaryOp::Neg, Expr::Int(_) | Expr::Decimal(_) | Expr::Float(_)) => {
                self.push("-");
                self.push("(");
                self.expr(operand)?;
                self.push(")");
            }
            (UnaryOp::Neg, _) => {
                self.push("-(");
                self.expr(operand)?;
                self.push(")");
            }
            (UnaryOp::BitNot, _) => {
                self.push("~(");
                self.expr(operand)?;
                self.push(")");
            }
            (UnaryOp::Not, _) => return self.not(operand),
            (UnaryOp::Binary, _) => {
                self.push("cast(");
                self.expr(operand)?;
                self.push(" as char charset binary)");
            }
        }
        Some(())
    }

    /// NOT goes inwards where there is an opposite, as MySQL's does.
    fn not(&mut self, operand: ExprId) -> Option<()> {
        let opposite = match &self.parsed[operand] {
            Expr::Binary { op, left, right } => match op {
                BinaryOp::Eq => Some((BinaryOp::Ne, *left, *right)),
                BinaryOp::Ne => Some((BinaryOp::Eq, *left, *right)),
                BinaryOp::Lt => Some((BinaryOp::Ge, *left, *right)),
                BinaryOp::Ge => Some((BinaryOp::Lt, *left, *right)),
                BinaryOp::Gt => Some((BinaryOp::Le, *left, *right)),
                BinaryOp::Le => Some((BinaryOp::Gt, *left, *right)),
                _ => None,
            },
            _ => None,
        };
        if let Some((op, left, right)) = opposite {
            return self.binary(op, left, right);
        }
        match &self.parsed[operand] {
            Expr::Column { .. } => {
                self.push("(0 = ");
                self.expr(operand)?;
                self.push(")");
            }
            _ => {
                self.push("(not(");
                self.expr(operand)?;
                self.push("))");
            }
        }
        Some(())
    }

    fn binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> Option<()> {
        match op {
            BinaryOp::Concat => return self.call("concat", &[left, right]),
            BinaryOp::JsonExtract => return self.call("json_extract", &[left, right]),
            BinaryOp::JsonUnquoteExtract => {
                self.push("json_unquote(");
                self.call("json_extract", &[left, right])?;
                self.push(")");
                return Some(());
            }
            BinaryOp::SoundsLike => {
                self.push("(");
                self.call("soundex", &[left])?;
                self.push(" = ");
                self.call("soundex", &[right])?;
                self.push(")");
                return Some(());
            }
            _ => {}
        }
        self.push("(");
        self.expr(left)?;
        _ = write!(self.out, " {} ", infix(op)?);
        if op == BinaryOp::MemberOf {
            self.push("(");
        }
        self.expr(right)?;
        self.push(if op == BinaryOp::MemberOf { "))" } else { ")" });
        Some(())
    }

    fn joined(&mut self, list: ExprList, word: &str) -> Option<()> {
        self.push("(");
        for (i, id) in self.parsed.list(list).iter().enumerate() {
            if i > 0 {
                self.push(word);
            }
            self.condition(*id)?;
        }
        self.push(")");
        Some(())
    }

    /// An operand of logic: what is no condition by itself is compared with 0.
    fn condition(&mut self, id: ExprId) -> Option<()> {
        let number = matches!(
            self.parsed[id],
            Expr::Column { .. } | Expr::Call { .. } | Expr::Builtin { .. } | Expr::Case { .. } | Expr::Cast(_)
        ) || matches!(self.parsed[id], Expr::Binary { op, .. } if op.is_number());
        if !number {
            return self.expr(id);
        }
        self.push("(0 <> ");
        self.expr(id)?;
        self.push(")");
        Some(())
    }

    fn comma_list(&mut self, list: &[ExprId]) -> Option<()> {
        for (i, id) in list.iter().enumerate() {
            if i > 0 {
                self.push(",");
            }
            self.expr(*id)?;
        }
        Some(())
    }

    fn call(&mut self, name: &str, args: &[ExprId]) -> Option<()> {
        self.push(name);
        self.push("(");
        self.comma_list(args)?;
        self.push(")");
        Some(())
    }

    fn builtin(&mut self, func: Builtin, args: &[ExprId]) -> Option<()> {
        use Builtin::*;
        let name = match func {
            Mod => {
                self.push("(");
                self.expr(args[0])?;
                self.push(" % ");
                self.expr(args[1])?;
                self.push(")");
                return Some(());
            }
            // The names that MySQL prints.
            Substring => "substr",
            Day => "dayofmonth",
            _ => func.name(),
        };
        match (func, args) {
            (Date, [date]) => self.cast_as(*date, "date"),
            (Time, [time]) => self.cast_as(*time, "time"),
            _ => self.call(name, args),
        }
    }

    fn cast_as(&mut self, operand: ExprId, to: &str) -> Option<()> {
        self.push("cast(");
        self.expr(operand)?;
        _ = write!(self.out, " as {to})");
        Some(())
    }

    fn cast(&mut self, cast: &Cast) -> Option<()> {
        let length = |n: Option<u32>| n.map_or(String::new(), |n| format!("({n})"));
        let digits = |n: u8| if n > 0 { format!("({n})") } else { String::new() };
        let mut to = match cast.to {
            CastType::Signed => "signed".to_string(),
            CastType::Unsigned => "unsigned".to_string(),
            CastType::Binary(n) if cast.array => format!("binary{}", length(n)),
            CastType::Char { length: n, charset: Some(_) } if cast.array => format!("binary{}", length(n)),
            CastType::Char { length: n, .. } if cast.array => format!("char{}", length(n)),
            CastType::Decimal(p, s) if cast.array => format!("decimal({}, {})", p.unwrap_or(10), s.unwrap_or(0)),
            CastType::Binary(n) => format!("char{} charset binary", length(n)),
            CastType::Char { length: n, charset } => {
                let charset = charset.map_or(self.charset, |c| self.parsed.name(c)).to_ascii_lowercase();
                let charset = if charset.is_empty() { "utf8mb4".to_string() } else { charset };
                format!("char{} charset {charset}", length(n))
            }
            CastType::NChar(n) => format!("char{} charset utf8mb3", length(n)),
            CastType::Date => "date".to_string(),
            CastType::Time(n) => format!("time{}", digits(n)),
            CastType::DateTime(n) => format!("datetime{}", digits(n)),
            CastType::Year => "year".to_string(),
            CastType::Decimal(p, s) => format!("decimal({},{})", p.unwrap_or(10), s.unwrap_or(0)),
            CastType::Float(Some(p)) if p > 24 => "double".to_string(),
            CastType::Float(_) => "float".to_string(),
            CastType::Double => "double".to_string(),
            CastType::Json => "json".to_string(),
            CastType::Spatial => return None,
        };
        if cast.array {
            to.push_str(" array");
        }
        let Some(zone) = cast.time_zone else { return self.cast_as(cast.operand, &to) };
        self.push("cast(");
        self.expr(cast.operand)?;
        let zone = String::from_utf8_lossy(self.parsed.bytes(zone)).replace('\'', "\\'");
        _ = write!(self.out, " AT TIME ZONE '{zone}' as {to})");
        Some(())
    }

    fn case(&mut self, operand: Option<ExprId>, whens: ExprList, otherwise: Option<ExprId>) -> Option<()> {
        self.push("(case");
        if let Some(operand) = operand {
            self.push(" ");
            self.expr(operand)?;
        }
        for pair in self.parsed.list(whens).chunks(2) {
            self.push(" when ");
            self.expr(pair[0])?;
            self.push(" then ");
            self.expr(pair[1])?;
        }
        if let Some(otherwise) = otherwise {
            self.push(" else ");
            self.expr(otherwise)?;
        }
        self.push(" end)");
        Some(())
    }

    /// A call with OVER, and the blank that MySQL writes behind a window's parentheses.
    fn window_call(&mut self, call: &WindowCall) -> Option<()> {
        if call.from_last || call.ignore_nulls {
            return None;
        }
        match call.func {
            WindowFunc::Aggregate(id) => self.expr(id)?,
            _ => self.call(window_function(self.parsed, call), self.parsed.list(call.args))?,
        }
        self.push(" OVER ");
        match (call.over.base, call.over.by_name) {
            (Some(base), true) => self.push(&quote_name(self.parsed.name(base))),
            _ => self.window_spec(&call.over)?,
        }
        Some(())
    }

    fn window_spec(&mut self, spec: &WindowSpec) -> Option<()> {
        let parsed = self.parsed;
        self.push("(");
        if let Some(base) = spec.base {
            _ = write!(self.out, "{} ", quote_name(parsed.name(base)));
        }
        if !spec.partition.is_empty() {
            self.push("PARTITION BY ");
            self.comma_list(parsed.list(spec.partition))?;
            self.push(" ");
        }
        for (i, item) in spec.order.iter().enumerate() {
            self.push(if i == 0 { "ORDER BY " } else { "," });
            self.expr(item.expr)?;
            self.push(if item.descending { " desc" } else { "" });
        }
        self.push(if spec.order.is_empty() { "" } else { " " });
        if let Some(frame) = &spec.frame {
            self.push(match frame.unit {
                FrameUnit::Rows => "ROWS BETWEEN ",
                FrameUnit::Range => "RANGE BETWEEN ",
                FrameUnit::Groups => return None,
            });
            self.frame_bound(frame.start)?;
            self.push(" AND ");
            self.frame_bound(frame.end)?;
        }
        self.push(") ");
        Some(())
    }

    fn frame_bound(&mut self, bound: FrameBound) -> Option<()> {
        let (distance, word) = match bound {
            FrameBound::UnboundedPreceding => (None, "UNBOUNDED PRECEDING"),
            FrameBound::UnboundedFollowing => (None, "UNBOUNDED FOLLOWING"),
            FrameBound::CurrentRow => (None, "CURRENT ROW"),
            FrameBound::Preceding(distance, unit) => (Some((distance, unit)), " PRECEDING"),
            FrameBound::Following(distance, unit) => (Some((distance, unit)), " FOLLOWING"),
        };
        if let Some((distance, unit)) = distance {
            self.push(if unit.is_some() { "INTERVAL " } else { "" });
            self.expr(distance)?;
            if let Some(unit) = unit {
                _ = write!(self.out, " {} ", unit_name(unit));
            }
        }
        self.push(word);
        Some(())
    }

    fn group_concat(&mut self, g: &GroupConcat) -> Option<()> {
        self.push(if g.distinct { "group_concat(distinct " } else { "group_concat(" });
        self.comma_list(self.parsed.list(g.args))?;
        for (i, item) in g.order.iter().enumerate() {
            self.push(if i == 0 { " order by " } else { "," });
            self.expr(item.expr)?;
            self.push(if item.descending { " DESC" } else { " ASC" });
        }
        let separator = g.separator.map_or(",".into(), |s| String::from_utf8_lossy(self.parsed.bytes(s)).into_owned());
        self.push(" separator '");
        push_escaped(&mut self.out, &separator, false);
        self.push("')");
        Some(())
    }
}

fn infix(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Xor => "xor",
        BinaryOp::Eq => "=",
        BinaryOp::NullSafeEq => "<=>",
        BinaryOp::Ne => "<>",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::MemberOf => "member of",
        BinaryOp::BitOr => "|",
        BinaryOp::BitAnd => "&",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::IntDiv => "DIV",
        BinaryOp::Mod => "%",
        BinaryOp::BitXor => "^",
        BinaryOp::SoundsLike | BinaryOp::Concat | BinaryOp::JsonExtract | BinaryOp::JsonUnquoteExtract => return None,
    })
}

/// The name under which MySQL keeps a function that has several.
fn usual_name(name: &str) -> &str {
    match name {
        "lcase" => "lower",
        "ucase" => "upper",
        "character_length" => "char_length",
        "octet_length" => "length",
        "power" => "pow",
        "ceil" => "ceiling",
        "sha" | "sha1" => "sha",
        "day" => "dayofmonth",
        other => other,
    }
}

/// The name of a function with OVER.
pub fn window_function(parsed: &Parsed, call: &WindowCall) -> &'static str {
    match call.func {
        WindowFunc::RowNumber => "row_number",
        WindowFunc::Rank => "rank",
        WindowFunc::DenseRank => "dense_rank",
        WindowFunc::CumeDist => "cume_dist",
        WindowFunc::PercentRank => "percent_rank",
        WindowFunc::Ntile => "ntile",
        WindowFunc::Lead => "lead",
        WindowFunc::Lag => "lag",
        WindowFunc::FirstValue => "first_value",
        WindowFunc::LastValue => "last_value",
        WindowFunc::NthValue => "nth_value",
        WindowFunc::Aggregate(id) => match &parsed[id] {
            Expr::Aggregate { func, .. } => aggregate_name(*func),
            Expr::GroupConcat(_) => "group_concat",
            _ => "count",
        },
    }
}

fn aggregate_name(func: Aggregate) -> &'static str {
    match func {
        Aggregate::Count => "count",
        Aggregate::Sum => "sum",
        Aggregate::Min => "min",
        Aggregate::Max => "max",
        Aggregate::Avg => "avg",
        Aggregate::BitAnd => "bit_and",
        Aggregate::BitOr => "bit_or",
        Aggregate::BitXor => "bit_xor",
        Aggregate::StdPop => "std",
        Aggregate::StdSamp => "stddev_samp",
        Aggregate::VarPop => "variance",
        Aggregate::VarSamp => "var_samp",
        Aggregate::JsonArrayAgg => "json_arrayagg",
        Aggregate::JsonObjectAgg => "json_objectagg",
    }
}

fn unit_name(unit: IntervalUnit) -> &'static str {
    use IntervalUnit::*;
    match unit {
        Microsecond => "microsecond",
        Second => "second",
        Minute => "minute",
        Hour => "hour",
        Day => "day",
        Week => "week",
        Month => "month",
        Quarter => "quarter",
        Year => "year",
        SecondMicrosecond => "second_microsecond",
        MinuteMicrosecond => "minute_microsecond",
        MinuteSecond => "minute_second",
        HourMicrosecond => "hour_microsecond",
        HourSecond => "hour_second",
        HourMinute => "hour_minute",
        DayMicrosecond => "day_microsecond",
        DaySecond => "day_second",
        DayMinute => "day_minute",
        DayHour => "day_hour",
        YearMonth => "year_month",
    }
}
