//! Regular expressions as ICU reads them, on a matcher with look-around and back-references.
//!
//! [`pattern`] turns ICU's syntax into the matcher's, and finds the mistakes that ICU has a message for. What is not the same: `\X`.

mod pattern;

use crate::function::{Args, Function, Rule, bytes, f};
use crate::scratch::{Cached, Flags, Pattern, Scratch};
use crate::{Execution, Expr, Node};
use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use types::codes::*;
use types::{CollationId, Result, SqlError, Value, err};

/// Of regular expressions.
pub static FUNCTIONS: &[Function] = &[
    f("regexp_like", 2, 3, Rule::Int(1), like),
    f("regexp_instr", 2, 6, Rule::Int(21), instr),
    f("regexp_substr", 2, 5, Rule::Text(0), substr),
    f("regexp_replace", 3, 6, Rule::LongText, replace),
];

/// One step of a search looks for no interrupts, and one for a long pattern may look at all of it for each byte of the subject: beyond
/// so many bytes of the one times bytes of the other it is given up before it begins. Shorter patterns are searched for in one pass.
const LONG_PATTERN_BYTES: usize = 4096;
const SEARCH_WORK_MAX: usize = 1 << 32;

/// Patterns that one execution keeps compiled.
const CACHED_MAX: usize = 32;

fn illegal() -> SqlError {
    err!(ER_REGEXP_ILLEGAL_ARGUMENT)
}

fn out_of_bounds() -> SqlError {
    err!(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR)
}

/// An argument that counts something: 32 bits of it are looked at.
fn int32(a: &Args<'_>, i: usize) -> Result<Option<i64>> {
    Ok(a.int(i)?.map(|n| i64::from(n as i32)))
}

fn like<'a>(a: Args<'a>) -> Result<Value<'a>> {
    if let Some(found) = like_plain(&a)? {
        return Ok(Value::Int(found as i64));
    }
    let Some(call) = Call::read(&a, None, None, 2)? else { return Ok(Value::Null) };
    Ok(Value::Int(call.find(0, a.run)?.is_some() as i64))
}

/// Of texts in UTF-8 under one collation, neither of which is NULL or empty; `None`: of others.
fn like_plain(a: &Args<'_>) -> Result<Option<bool>> {
    let [x, y] = a.args else { return Ok(None) };
    let collation = x.ty.collation;
    if collation != y.ty.collation || !is_plain(x) || !is_plain(y) || !collation.charset().is_utf8() {
        return Ok(None);
    }
    let Some(pattern) = a.text(1)?.filter(|p| !p.is_empty() && p.len() <= LONG_PATTERN_BYTES) else { return Ok(None) };
    let Some(subject) = a.text(0)? else { return Ok(None) };
    let Ok(subject) = std::str::from_utf8(&subject) else { return Ok(None) };
    let pattern = a.run.evaluation().scratch().pattern(&pattern, read_flags(b"", collation, a.function)?)?;
    let regex = pattern.for_subject(subject)?;
    Ok(Some(Subject::new(subject, a.run).search(|s| regex.find_from_pos(s, 0))?.is_some()))
}

fn instr<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let end = match a.len() {
        0..5 => false,
        _ => match int32(&a, 4)? {
            None => return Ok(Value::Null),
            Some(0) => false,
            Some(1) => true,
            Some(_) => {
                return Err(err!(ER_WRONG_ARGUMENTS, "regexp_instr: return_option must be 1 or 0."));
            }
        },
    };
    let Some(call) = Call::read(&a, Some(2), Some(3), 5)? else { return Ok(Value::Null) };
    Ok(Value::Int(match call.nth(a.run)? {
        Some((from, to)) => call.subject[..if end { to } else { from }].chars().count() as i64 + 1,
        None => 0,
    }))
}

fn substr<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(call) = Call::read(&a, Some(2), Some(3), 4)? else { return Ok(Value::Null) };
    Ok(match call.nth(a.run)? {
        Some((from, to)) => call.text(&call.subject[from..to]),
        None => Value::Null,
    })
}

fn replace<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(call) = Call::read(&a, Some(3), Some(4), 5)? else { return Ok(Value::Null) };
    let Some(with) = unicode(&a, 2)? else { return Ok(Value::Null) };
    if call.subject.is_empty() {
        return Ok(call.text(""));
    }
    let with = String::from_utf8_lossy(&with).into_owned();
    let (regex, subject) = (call.regex()?, Subject::new(&call.subject, a.run));
    // What is less than none is the first.
    let which = if call.occurrence < 0 { 1 } else { call.occurrence };
    let mut out = String::new();
    let (mut at, mut copied, mut n) = (call.start, 0, 0);
    // ICU's buffer is one packet, of two bytes each.
    let (units_max, mut units, mut counted) = (a.run.max_packet() / 2, 0, 0);
    let mut fits = |out: &str| {
        units += out[counted..].encode_utf16().count();
        counted = out.len();
        if units > units_max { Err(err!(ER_REGEXP_BUFFER_OVERFLOW)) } else { Ok(()) }
    };
    while at <= call.subject.len() {
        let Some(found) = subject.search(|s| regex.captures_from_pos(s, at))? else { break };
        a.run.check_interrupt()?;
        let (from, to) = found.get(0).expect("a match has a whole");
        n += 1;
        if which == 0 || n == which {
            out.push_str(&call.subject[copied..from]);
            expand(&with, &found, &call.subject, &mut out)?;
            copied = to;
            a.run.check_work(with.len())?;
            fits(&out)?;
        }
        if which > 0 && n >= which {
            break;
        }
        at = next_start(&call.subject, from, to);
    }
    out.push_str(&call.subject[copied..]);
    if n > 0 {
        fits(&out)?;
    }
    Ok(call.text(&out))
}

/// Where to search on: behind the match, and a character further when it was empty.
fn next_start(subject: &str, from: usize, to: usize) -> usize {
    if to > from {
        return to;
    }
    to + subject[to..].chars().next().map_or(1, char::len_utf8)
}

/// `$1`, `${name}` and `\x` of a replacement.
fn expand(with: &str, found: &fancy_regex::Captures<'_, Subject<'_>>, text: &str, out: &mut String) -> Result<()> {
    let mut chars = with.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        match c {
            '\\' => {
                if let Some((_, c)) = chars.next() {
                    out.push(c);
                }
            }
            '$' => match chars.peek().copied() {
                Some((at, d)) if d.is_ascii_digit() => {
                    // As many digits as there are groups for.
                    let mut n = 0;
                    let mut used = 0;
                    for d in with[at..].chars().map_while(|c| c.to_digit(10)) {
                        let more = n * 10 + d as usize;
                        if used > 0 && more >= found.len() {
                            break;
                        }
                        (n, used) = (more, used + 1);
                    }
                    if n >= found.len() {
                        return Err(out_of_bounds());
                    }
                    chars.nth(used - 1);
                    out.push_str(found.get(n).map_or("", |(from, to)| &text[from..to]));
                }
                Some((at, '{')) => {
                    let end = with[at..].find('}').ok_or_else(bad_group_name)? + at;
                    let (from, to) = found.name(&with[at + 1..end]).ok_or_else(bad_group_name)?;
                    out.push_str(&text[from..to]);
                    while chars.peek().is_some_and(|(i, _)| *i <= end) {
                        chars.next();
                    }
                }
                _ => return Err(bad_group_name()),
            },
            c => out.push(c),
        }
    }
    Ok(())
}

fn bad_group_name() -> SqlError {
    err!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME)
}

fn run_error(_: fancy_regex::Error) -> SqlError {
    timed_out()
}

fn timed_out() -> SqlError {
    err!(ER_REGEXP_TIME_OUT)
}

/// A text that is searched. The matcher has no other place where it could learn that its statement was killed: it asks its input for
/// the bytes before each step that may look at all of them, and a million such steps of backtracking over a long text take minutes.
struct Subject<'s> {
    text: &'s str,
    run: &'s dyn Execution,
    /// What the matcher may have looked at since interrupts were looked for, in [`LOOKED_UNIT`].
    looked: Cell<usize>,
    /// Why the search was left.
    ended: Cell<Option<SqlError>>,
}

/// Bytes that count as one more step.
const LOOKED_UNIT: usize = 64;

/// Interrupts are looked for after so many steps: a mebibyte of text, or as many short looks as take a tenth of a millisecond.
const LOOKED_MAX: usize = 1 << 14;

impl<'s> Subject<'s> {
    fn new(text: &'s str, run: &'s dyn Execution) -> Subject<'s> {
        Subject { text, run, looked: Cell::new(0), ended: Cell::new(None) }
    }

    /// Runs a search. Errors: 3699, and those of an interrupt, which unwinds the matcher; its compiled pattern is not used again.
    fn search<'a, T>(&'a self, search: impl FnOnce(&'a Self) -> fancy_regex::Result<T>) -> Result<T> {
        match catch_unwind(AssertUnwindSafe(|| search(self))) {
            Ok(found) => found.map_err(run_error),
            Err(panic) => {
                self.run.evaluation().scratch().patterns.borrow_mut().clear();
                // No panic of the search's own, which goes on to whoever serves the statement.
                Err(self.ended.take().unwrap_or_else(|| resume_unwind(panic)))
            }
        }
    }

    #[inline]
    fn look(&self) {
        let looked = self.looked.get() + 1 + self.text.len() / LOOKED_UNIT;
        self.looked.set(looked);
        if looked >= LOOKED_MAX {
            self.look_for_interrupts();
        }
    }

    #[cold]
    fn look_for_interrupts(&self) {
        self.looked.set(0);
        if let Err(e) = self.run.check_interrupt_now() {
            self.ended.set(Some(e));
            resume_unwind(Box::new(()));
        }
    }
}

impl fancy_regex::Input for Subject<'_> {
    type Match<'t>
        = (usize, usize)
    where
        Self: 't;

    fn len(&self) -> usize {
        self.text.len()
    }

    fn as_bytes(&self) -> &[u8] {
        self.look();
        self.text.as_bytes()
    }

    fn is_char_boundary(&self, at: usize) -> bool {
        self.text.is_char_boundary(at)
    }

    fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn prev_codepoint_ix(&self, at: usize) -> usize {
        (0..at).rev().find(|i| self.text.is_char_boundary(*i)).unwrap_or(0)
    }

    fn make_match(&self, from: usize, to: usize) -> (usize, usize) {
        (from, to)
    }

    fn advance_position(&self, at: usize) -> usize {
        at + self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    }
}

/// An argument's text in UTF-8; what is binary stays as it is.
fn unicode<'a>(a: &Args<'a>, i: usize) -> Result<Option<Cow<'a, [u8]>>> {
    let Some(text) = a.text(i)? else { return Ok(None) };
    let set = a.charset(i);
    if set.is_utf8() || set == types::Charset::Binary {
        return Ok(Some(text));
    }
    Ok(Some(match text {
        Cow::Borrowed(text) => set.to_utf8(text),
        Cow::Owned(text) => Cow::Owned(set.to_utf8(&text).into_owned()),
    }))
}

/// The arguments of a call, read.
struct Call<'a> {
    subject: Cow<'a, str>,
    pattern: Rc<Pattern>,
    /// Of the result, where that is a text.
    output: CollationId,
    /// A character of the subject stands for a byte.
    bytewise: bool,
    /// Byte to begin at.
    start: usize,
    /// Which match, from 1; 0 all of them (REGEXP_REPLACE).
    occurrence: i64,
}

impl<'a> Call<'a> {
    /// `position`, `occurrence` and `flags` are where the arguments would be. `None`: one of them is NULL.
    fn read(
        a: &Args<'a>,
        position: Option<usize>,
        occurrence: Option<usize>,
        flags: usize,
    ) -> Result<Option<Call<'a>>> {
        let number = |i: Option<usize>, default: i64| match i.filter(|i| *i < a.len()) {
            Some(i) => int32(a, i),
            None => Ok(Some(default)),
        };
        let begin = number(position, 1)?;
        if matches!(a.function, "regexp_substr" | "regexp_replace") && begin.is_some_and(|n| n < 1) {
            return Err(err!(ER_WRONG_PARAMETERS_TO_NATIVE_FCT, a.function));
        }
        let collation = match a.args {
            // There is nothing to choose, and no literal to be converted.
            [x, y, ..] if is_plain(x) && is_plain(y) && x.ty.collation == y.ty.collation => x.ty.collation,
            args => {
                let collation = super::compare::collation_of(&[&args[0], &args[1]])?;
                super::compare::check_literals(&[&args[0], &args[1]], collation)?;
                collation
            }
        };
        // It is looked at before what it is looked for in.
        let Some(pattern) = unicode(a, 1)? else { return Ok(None) };
        if pattern.is_empty() {
            return Err(illegal());
        }
        let (subject, pattern) = (unicode(a, 0)?, Some(pattern));
        if let (None, Some(pattern)) = (&subject, &pattern)
            && a.args[1].is_constant()
        {
            // It is compiled before anything is looked for.
            a.run.evaluation().scratch().pattern(pattern, read_flags(b"", collation, a.function)?)?;
        }
        let (Some(mut subject), Some(mut pattern)) = (subject, pattern) else { return Ok(None) };
        let bytewise = collation.is_binary() && a.function != "regexp_replace";
        if bytewise {
            for (text, e) in [&mut subject, &mut pattern].into_iter().zip(a.args) {
                // A text that is no constant stays what it is.
                if !text.is_ascii() && (e.ty.collation.is_binary() || e.is_constant()) {
                    *text = Cow::Owned(text.iter().map(|b| char::from(*b)).collect::<String>().into_bytes());
                }
            }
        }
        let every = if a.function == "regexp_replace" { 0 } else { 1 };
        let (Some(position), Some(occurrence)) = (begin, number(occurrence, every)?) else {
            return Ok(None);
        };
        let flags = match flags < a.len() {
            true => match a.text(flags)? {
                Some(text) => read_flags(&text, collation, a.function)?,
                None => return Ok(None),
            },
            false => read_flags(b"", collation, a.function)?,
        };
        if pattern.len() > LONG_PATTERN_BYTES && pattern.len().saturating_mul(subject.len()) > SEARCH_WORK_MAX {
            return Err(timed_out());
        }
        let pattern = a.run.evaluation().scratch().pattern(&pattern, flags)?;
        let subject = match subject {
            Cow::Borrowed(s) => match std::str::from_utf8(s) {
                Ok(s) => Cow::Borrowed(s),
                Err(_) => String::from_utf8_lossy(s),
            },
            Cow::Owned(s) => Cow::Owned(String::from_utf8_lossy(&s).into_owned()),
        };
        // REGEXP_INSTR begins at a character, or finds nothing in an empty text.
        let at_character = a.function == "regexp_instr";
        let start = match usize::try_from(position - 1) {
            Err(_) => return Err(out_of_bounds()),
            Ok(0) => 0,
            Ok(_) if at_character && subject.is_empty() => 0,
            Ok(n) if at_character && n >= subject.chars().count() => return Err(out_of_bounds()),
            Ok(n) => match subject.char_indices().map(|(i, _)| i).chain([subject.len()]).nth(n) {
                Some(at) => at,
                None => return Err(out_of_bounds()),
            },
        };
        let output = if a.ty.kind.is_text() { a.ty.collation } else { collation };
        Ok(Some(Call { subject, pattern, output, bytewise, start, occurrence }))
    }

    fn regex(&self) -> Result<&fancy_regex::Regex> {
        self.pattern.for_subject(&self.subject)
    }

    fn find(&self, from: usize, run: &dyn Execution) -> Result<Option<(usize, usize)>> {
        let regex = self.regex()?;
        Subject::new(&self.subject, run).search(|s| regex.find_from_pos(s, from.max(self.start)))
    }

    /// The match asked for.
    fn nth(&self, run: &dyn Execution) -> Result<Option<(usize, usize)>> {
        let mut at = self.start;
        for _ in 1..self.occurrence.max(1) {
            run.check_interrupt()?;
            match self.find(at, run)? {
                Some((from, to)) => at = next_start(&self.subject, from, to),
                None => return Ok(None),
            }
            if at > self.subject.len() {
                return Ok(None);
            }
        }
        self.find(at, run)
    }

    /// A result in the character set of the arguments.
    fn text(&self, s: &str) -> Value<'a> {
        if self.bytewise {
            return bytes(s.chars().map(|c| c as u8).collect::<Vec<u8>>());
        }
        let mut out = Vec::with_capacity(s.len());
        types::Charset::Utf8mb4.convert(self.output.charset(), s.as_bytes(), &mut out);
        bytes(out)
    }
}

/// Is it a text that is read as it is, whose collation therefore holds?
fn is_plain(e: &Expr) -> bool {
    let is_read = matches!(e.node, Node::Column { .. } | Node::Const(_) | Node::Param(_));
    let is_converted = matches!(&e.node, Node::InCharset(e) if matches!(e.node, Node::Const(_) | Node::Param(_)));
    e.ty.kind.is_text() && (is_read || is_converted)
}

/// 3995: binary strings and texts do not match one another.
pub(super) fn check_charsets(function: &str, args: &[crate::Expr]) -> Result<()> {
    check_pair(function, args, 1)?;
    if function == "regexp_replace" { check_pair(function, args, 2) } else { Ok(()) }
}

fn check_pair(function: &str, args: &[crate::Expr], with: usize) -> Result<()> {
    let [x, y] = [&args[0].ty, &args[with].ty];
    // Numbers, dates and documents become what the other is.
    let is_string = |t: &types::DataType| (t.kind.is_bytes() || t.kind.is_text()) && t.kind != types::TypeKind::Json;
    let binary = |t: &types::DataType| t.collation.is_binary();
    if !is_string(x) || !is_string(y) || binary(x) == binary(y) {
        return Ok(());
    }
    // MySQL asks VARBINARY alone: BINARY and BLOB make the other one binary too. Of REGEXP_REPLACE it asks all for the pattern.
    let asked = |t: &types::DataType| !binary(t) || t.kind == types::TypeKind::VarBinary;
    if (function != "regexp_replace" || with == 2) && !(asked(x) && asked(y)) {
        return Ok(());
    }
    let name = |t: &types::DataType| if binary(t) { "binary" } else { t.collation.info().name };
    Err(err!(ER_CHARACTER_SET_MISMATCH, name(x), name(y), function))
}

fn read_flags(text: &[u8], collation: CollationId, function: &str) -> Result<Flags> {
    let ignore_case = collation.char_equal('a' as u32, 'A' as u32);
    let mut flags = Flags { ignore_case, multi_line: false, dot_all: false, unix_lines: false };
    for b in text {
        match b {
            b'c' => flags.ignore_case = false,
            b'i' => flags.ignore_case = true,
            b'm' => flags.multi_line = true,
            b'n' => flags.dot_all = true,
            b'u' => flags.unix_lines = true,
            _ => return Err(err!(ER_WRONG_ARGUMENTS, function)),
        }
    }
    Ok(flags)
}

impl Scratch {
    /// The compiled pattern, from the execution's cache where it is there.
    fn pattern(&self, text: &[u8], flags: Flags) -> Result<Rc<Pattern>> {
        let mut cache = self.patterns.borrow_mut();
        if let Some(c) = cache.iter().find(|c| c.flags == flags && c.text == text) {
            return Ok(c.pattern.clone());
        }
        let pattern = Rc::new(Pattern::new(&String::from_utf8_lossy(text), flags)?);
        if cache.len() == CACHED_MAX {
            cache.remove(0);
        }
        cache.push(Cached { text: text.to_vec(), flags, pattern: pattern.clone() });
        Ok(pattern)
    }
}
