//! The rules of the component `log_filter_dragnet`: a text of them, parsed, run over events, and printed again.
//!
//! ```text
//!   rule      = IF condition { AND | OR condition } THEN action { ELSEIF ... THEN action } [ELSE action] .
//!   condition = [NOT] EXISTS field | field comparator value
//!   action    = drop | throttle count[/seconds] | set field := value | unset [field]
//! ```

use super::event::{Event, Level, Scalar};
use std::fmt::Write;
use types::error;

/// Seconds of a throttle's window.
const WINDOW_MAX: i64 = 604_800;
const WINDOW: i64 = 60;

/// Where a text got confusing, and in which state the parser was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Confused {
    pub at: String,
    pub state: &'static str,
}

type Parsed<T> = Result<T, Confused>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparator {
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

const COMPARATORS: [(&str, Comparator); 9] = [
    ("==", Comparator::Equal),
    ("!=", Comparator::Unequal),
    ("<>", Comparator::Unequal),
    ("<=", Comparator::LessEqual),
    ("=<", Comparator::LessEqual),
    (">=", Comparator::GreaterEqual),
    ("=>", Comparator::GreaterEqual),
    ("<", Comparator::Less),
    (">", Comparator::Greater),
];

impl Comparator {
    fn sign(self) -> &'static str {
        COMPARATORS.iter().find(|(_, known)| *known == self).map_or("", |(sign, _)| sign)
    }
}

#[derive(Clone, Debug)]
enum Test {
    Exists,
    Lacks,
    Compare(Comparator, Scalar),
}

#[derive(Clone, Debug)]
struct Condition {
    field: String,
    test: Test,
    /// Joined to what stands before it by OR.
    or: bool,
}

#[derive(Clone, Debug)]
enum Action {
    Drop,
    Throttle { count: i64, seconds: i64, ends_us: u64, seen: i64 },
    Set(String, Scalar),
    Unset(String),
}

/// A branch; one without conditions is the ELSE.
#[derive(Clone, Debug)]
struct Branch {
    conditions: Vec<Condition>,
    action: Action,
}

/// The rules in their order, with what throttles have counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Vec<Vec<Branch>>);

/// What kind of value a field has. `None`: any.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Int,
    Text,
}

const KNOWN: [(&str, Class); 19] = [
    ("prio", Class::Int),
    ("err_code", Class::Int),
    ("thread", Class::Int),
    ("query_id", Class::Int),
    ("source_line", Class::Int),
    ("OS_errno", Class::Int),
    ("ts", Class::Int),
    ("err_symbol", Class::Text),
    ("SQL_state", Class::Text),
    ("subsystem", Class::Text),
    ("component", Class::Text),
    ("source_file", Class::Text),
    ("function", Class::Text),
    ("msg", Class::Text),
    ("time", Class::Text),
    ("label", Class::Text),
    ("user", Class::Text),
    ("host", Class::Text),
    ("OS_errmsg", Class::Text),
];

/// Names that MySQL keeps for classes of fields.
const RESERVED: [&str; 4] = ["misc_cstring", "misc_string", "misc_integer", "misc_float"];

fn class_of(field: &str) -> Option<Class> {
    KNOWN.iter().find(|(name, _)| name.eq_ignore_ascii_case(field)).map(|(_, class)| *class)
}

/// A known field by its name in any case, another one as it is written.
fn field_name(field: &str) -> String {
    let known = KNOWN.iter().find(|(name, _)| name.eq_ignore_ascii_case(field));
    known.map_or(field, |(name, _)| name).to_string()
}

impl Rules {
    pub fn parse(text: &str) -> Parsed<Rules> {
        let mut parser = Parser { rest: text.trim_start() };
        let mut rules = Vec::new();
        while !parser.rest.is_empty() {
            rules.push(parser.rule()?);
        }
        Ok(Rules(rules))
    }

    /// Runs the rules; false: the event goes nowhere. Messages of the system always go on, and stay what they are.
    pub fn run(&mut self, event: &mut Event) -> bool {
        let is_system = event.level() == Level::System;
        for rule in &mut self.0 {
            let Some(branch) = rule.iter_mut().find(|branch| branch.holds(event)) else { continue };
            match &mut branch.action {
                Action::Drop if !is_system => return false,
                Action::Throttle { count, seconds, ends_us, seen } if !is_system => {
                    if event.time_us >= *ends_us {
                        (*ends_us, *seen) = (event.time_us + seconds.cast_unsigned() * 1_000_000, 0);
                    }
                    *seen += 1;
                    if seen > count {
                        return false;
                    }
                }
                Action::Drop | Action::Throttle { .. } => {}
                Action::Set(field, _) | Action::Unset(field) if is_system && field == "prio" => {}
                Action::Set(field, value) => event.set(field, value.clone()),
                Action::Unset(field) => event.unset(field),
            }
        }
        true
    }

    /// The rules in words, as the status variable `dragnet.Status` has them.
    pub fn print(&self) -> String {
        let mut out = String::new();
        for rule in &self.0 {
            if !out.is_empty() {
                out.push(' ');
            }
            for (at, branch) in rule.iter().enumerate() {
                match (at, branch.conditions.is_empty()) {
                    (0, _) => out.push_str("IF "),
                    (_, false) => out.push_str(" ELSEIF "),
                    (_, true) => out.push_str(" ELSE "),
                }
                branch.print(&mut out);
            }
            out.push('.');
        }
        out
    }
}

impl Branch {
    /// AND and OR bind alike, from the left to the right.
    fn holds(&self, event: &Event) -> bool {
        self.conditions.iter().enumerate().fold(true, |before, (at, condition)| match (at, condition.or) {
            (0, _) => condition.holds(event),
            (_, true) => before || condition.holds(event),
            (_, false) => before && condition.holds(event),
        })
    }

    fn print(&self, out: &mut String) {
        for (at, condition) in self.conditions.iter().enumerate() {
            if at > 0 {
                out.push_str(if condition.or { " OR " } else { " AND " });
            }
            let field = &condition.field;
            // Writing to memory does not fail.
            let _ = match &condition.test {
                Test::Exists => write!(out, "EXISTS {field}"),
                Test::Lacks => write!(out, "NOT EXISTS {field}"),
                Test::Compare(comparator, value) => {
                    write!(out, "{field}{}{}", comparator.sign(), printed(field, value))
                }
            };
        }
        if !self.conditions.is_empty() {
            out.push_str(" THEN ");
        }
        let _ = match &self.action {
            Action::Drop => write!(out, "drop"),
            Action::Throttle { count, seconds, .. } => write!(out, "throttle {count}/{seconds}"),
            Action::Set(field, value) => write!(out, "set {field}:={}", printed(field, value)),
            Action::Unset(field) => write!(out, "unset {field}"),
        };
    }
}

fn printed(field: &str, value: &Scalar) -> String {
    match value {
        Scalar::Text(text) => format!("\"{text}\""),
        Scalar::Float(n) => format!("{n:.6}"),
        Scalar::Int(n) => match (field, n) {
            ("prio", 0) => "SYSTEM".to_string(),
            ("prio", 1) => "ERROR".to_string(),
            ("prio", 2) => "WARNING".to_string(),
            ("prio", 3) => "INFORMATION".to_string(),
            ("err_code", n) => format!("MY-{n:06}"),
            (_, n) => n.to_string(),
        },
    }
}

impl Condition {
    fn holds(&self, event: &Event) -> bool {
        let found = event.get(&self.field);
        match &self.test {
            Test::Exists => found.is_some(),
            Test::Lacks => found.is_none(),
            Test::Compare(comparator, value) => found.is_some_and(|found| compare(found, *comparator, value)),
        }
    }
}

fn compare(found: &Scalar, comparator: Comparator, value: &Scalar) -> bool {
    let order = match (found, value) {
        (Scalar::Text(a), Scalar::Text(b)) => Some(a.as_str().cmp(b)),
        (Scalar::Int(a), Scalar::Int(b)) => Some(a.cmp(b)),
        (Scalar::Int(a), Scalar::Float(b)) => (*a as f64).partial_cmp(b),
        (Scalar::Float(a), Scalar::Int(b)) => a.partial_cmp(&(*b as f64)),
        (Scalar::Float(a), Scalar::Float(b)) => a.partial_cmp(b),
        // A text is no number.
        _ => None,
    };
    order.is_some_and(|order| match comparator {
        Comparator::Equal => order.is_eq(),
        Comparator::Unequal => order.is_ne(),
        Comparator::Less => order.is_lt(),
        Comparator::LessEqual => order.is_le(),
        Comparator::Greater => order.is_gt(),
        Comparator::GreaterEqual => order.is_ge(),
    })
}

struct Parser<'t> {
    /// Begins with no white space.
    rest: &'t str,
}

impl<'t> Parser<'t> {
    fn confused<T>(&self, state: &'static str) -> Parsed<T> {
        Err(Confused { at: self.rest.to_string(), state })
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_start();
    }

    /// The word that is next; empty: there is none.
    fn peek(&self) -> &'t str {
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    fn word(&mut self) -> &'t str {
        let word = self.peek();
        self.skip(word.len());
        word
    }

    fn takes(&mut self, keyword: &str) -> bool {
        let found = self.peek().eq_ignore_ascii_case(keyword);
        if found {
            self.word();
        }
        found
    }

    fn rule(&mut self) -> Parsed<Vec<Branch>> {
        let first = self.word();
        if !first.eq_ignore_ascii_case("IF") {
            let goes_on = ["ELSE", "ELSEIF"].iter().any(|word| first.eq_ignore_ascii_case(word));
            return self.confused(if goes_on { "IF expected" } else { "getting first token ..." });
        }
        let mut branches = Vec::new();
        let mut conditions = self.conditions()?;
        loop {
            let action = self.action(&conditions)?;
            let is_else = conditions.is_empty();
            branches.push(Branch { conditions, action });
            if self.rest.starts_with('.') {
                self.skip(1);
                return Ok(branches);
            }
            if self.rest.is_empty() {
                return self.confused("statement incomplete");
            }
            let word = self.word();
            conditions = match word {
                _ if word.eq_ignore_ascii_case("ELSEIF") && !is_else => self.conditions()?,
                _ if word.eq_ignore_ascii_case("ELSE") && !is_else => {
                    if self.peek().is_empty() {
                        return self.confused("failed to get token after ELSE ...");
                    }
                    Vec::new()
                }
                _ if word.eq_ignore_ascii_case("ELSE") || word.eq_ignore_ascii_case("ELSEIF") => {
                    return self.confused("ELSE not expected here ...");
                }
                _ => return self.confused("getting first token ..."),
            };
        }
    }

    fn conditions(&mut self) -> Parsed<Vec<Condition>> {
        let (mut all, mut or) = (Vec::new(), false);
        loop {
            all.push(self.condition(or)?);
            match () {
                () if self.takes("THEN") => return Ok(all),
                () if self.takes("AND") => or = false,
                () if self.takes("OR") => or = true,
                () => return self.confused("looking for THEN"),
            }
        }
    }

    fn condition(&mut self, or: bool) -> Parsed<Condition> {
        let lacks = self.takes("NOT");
        if self.takes("EXISTS") {
            let field = self.word();
            return match field {
                "" => self.confused("field name missing or invalid after EXISTS"),
                _ if RESERVED.contains(&field) => self.confused("could not set up field for EXISTS"),
                _ => {
                    let test = if lacks { Test::Lacks } else { Test::Exists };
                    Ok(Condition { field: field_name(field), test, or })
                }
            };
        }
        if lacks {
            return self.confused("NOT requires EXISTS");
        }
        let field = self.word();
        if field.is_empty() {
            return self.confused("field name missing or invalid before comparator");
        }
        if RESERVED.contains(&field) {
            return self.confused("could not set up field before comparator");
        }
        let Some((sign, comparator)) = COMPARATORS.iter().find(|(sign, _)| self.rest.starts_with(sign)) else {
            return self.confused("unknown comparator");
        };
        self.skip(sign.len());
        let field = field_name(field);
        let value = self.value(&field)?;
        Ok(Condition { field, test: Test::Compare(*comparator, value), or })
    }

    fn action(&mut self, conditions: &[Condition]) -> Parsed<Action> {
        if self.takes("drop") {
            return Ok(Action::Drop);
        }
        if self.takes("throttle") {
            return self.throttle();
        }
        if self.takes("unset") {
            let field = self.word();
            return match (field, conditions) {
                ("", [only]) => Ok(Action::Unset(only.field.clone())),
                ("", _) => self.confused("implicit field name only allowed for IFs with exactly 1 condition."),
                (field, _) if RESERVED.contains(&field) => self.confused("could not set up field in action"),
                (field, _) => Ok(Action::Unset(field_name(field))),
            };
        }
        if self.takes("set") {
            let field = self.word();
            if field.is_empty() {
                return self.confused("looking for action's field name");
            }
            if RESERVED.contains(&field) {
                return self.confused("could not set up field in action");
            }
            match () {
                () if self.rest.starts_with(":=") => self.skip(2),
                () if self.rest.starts_with('=') && !self.rest.starts_with("==") => self.skip(1),
                () => {}
            }
            let field = field_name(field);
            let value = self.action_value(&field)?;
            return Ok(Action::Set(field, value));
        }
        self.confused("looking for action verb")
    }

    fn throttle(&mut self) -> Parsed<Action> {
        let at = self.rest;
        let count = match self.action_value("")? {
            Scalar::Int(n) if n > 0 => n,
            Scalar::Int(_) => {
                self.rest = at;
                return self.confused("numerator must be larger than 0");
            }
            _ => {
                self.rest = at;
                return self.confused("action \"throttle\" requires integer or fraction");
            }
        };
        let mut seconds = WINDOW;
        if self.rest.starts_with('/') {
            self.skip(1);
            let digits = self.number();
            match digits.and_then(|text| text.parse().ok()) {
                Some(n) if (1..=WINDOW_MAX).contains(&n) => seconds = n,
                _ => {
                    return self
                        .confused("failed to parse denominator of fraction (0 < integer number of seconds <= 604800)");
                }
            }
            self.skip(digits.map_or(0, str::len));
        }
        Ok(Action::Throttle { count, seconds, ends_us: 0, seen: 0 })
    }

    fn action_value(&mut self, field: &str) -> Parsed<Scalar> {
        match self.rest.starts_with('.') || self.rest.is_empty() {
            true => self.confused("looking for action field's value"),
            false => self.value(field),
        }
    }

    /// The number that is next, with its sign and its fraction; `None`: there is none that ends as one.
    fn number(&self) -> Option<&'t str> {
        let text = self.rest;
        let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
        let sign = usize::from(text.starts_with(['-', '+']));
        let whole = digits(sign);
        let mut end = sign + whole;
        if text[end..].starts_with('.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        let ends = text[end..].chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, '.' | '/'));
        (whole > 0 && ends).then(|| &text[..end])
    }

    fn value(&mut self, field: &str) -> Parsed<Scalar> {
        let class = class_of(field);
        if let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            return self.quoted(quote, field, class);
        }
        let word_end = self.rest.find(|c: char| c.is_whitespace() || c == '.').unwrap_or(self.rest.len());
        let word = &self.rest[..word_end];
        if word.starts_with("ER_") || word.starts_with("MY-") {
            return self.code(word, field, class);
        }
        if field == "prio" && word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let prio = match word.to_ascii_uppercase().as_str() {
                "SYSTEM" => 0,
                "ERROR" => 1,
                "WARNING" => 2,
                "INFORMATION" | "NOTE" => 3,
                _ => return self.confused("unknown prio"),
            };
            self.skip(word.len());
            return Ok(Scalar::Int(prio));
        }
        let Some(number) = self.number() else { return self.confused("malformed number") };
        if class == Some(Class::Text) {
            return self.confused("Argument is of numeric type, field is not.");
        }
        let value = if number.contains('.') {
            if class == Some(Class::Int) {
                return self.confused("Argument is of float type, field is not.");
            }
            number.parse().ok().map(Scalar::Float)
        } else {
            number.parse().ok().map(Scalar::Int)
        };
        let Some(value) = value else { return self.confused("malformed number") };
        self.skip(number.len());
        Ok(value)
    }

    /// A string; a quotation mark in it stands behind a backslash, which stays.
    fn quoted(&mut self, quote: char, field: &str, class: Option<Class>) -> Parsed<Scalar> {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, c)| {
            let is_end = *c == quote && !escaped;
            escaped = *c == '\\' && !escaped;
            is_end
        });
        let Some((end, _)) = end else { return self.confused("testing for prefix") };
        if class == Some(Class::Int) {
            let state = if field == "prio" { "unknown prio" } else { "Argument is of string type, field is not." };
            return self.confused(state);
        }
        let text = self.rest[1..end].to_string();
        self.skip(end + 1);
        Ok(Scalar::Text(text))
    }

    /// An error by its symbol or its number.
    fn code(&mut self, word: &str, field: &str, class: Option<Class>) -> Parsed<Scalar> {
        if class.is_some() && field != "err_code" {
            return self
                .confused("'err_code' is the only built-in field-type we will resolve ER_symbols and MY-codes for");
        }
        let code = match word.strip_prefix("MY-") {
            Some(digits) => match super::pipeline::known_code(digits) {
                Some(code) => code,
                None => return self.confused("invalid MY-code"),
            },
            None => match error::code_of(word) {
                Some(code) => code,
                None => return self.confused("unknown ER_code"),
            },
        };
        self.skip(word.len());
        Ok(Scalar::Int(code.into()))
    }
}

#[cfg(test)]
#[path = "dragnet_tests.rs"]
mod tests;
