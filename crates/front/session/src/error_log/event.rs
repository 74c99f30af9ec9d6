//! One event on its way into the error log: fields with names, as MySQL's log services see it.

use types::error;

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Int(i64),
    Float(f64),
    Text(String),
}

impl Scalar {
    pub fn int(&self) -> Option<i64> {
        match self {
            Scalar::Int(n) => Some(*n),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Scalar::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// How loud an event is. MySQL's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    System = 0,
    Error = 1,
    Warning = 2,
    Note = 3,
}

impl Level {
    pub(super) fn of(prio: i64) -> Level {
        match prio {
            ..=0 => Level::System,
            1 => Level::Error,
            2 => Level::Warning,
            _ => Level::Note,
        }
    }

    /// As the field `label` and the table have it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Level::System => "System",
            Level::Error => "Error",
            Level::Warning => "Warning",
            Level::Note => "Note",
        }
    }
}

/// Bytes of a message; those of panics have a backtrace, and their own bound.
const MESSAGE_BYTES_MAX: usize = 8192;
const BACKTRACE_BYTES_MAX: usize = 64 << 10;

#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Microseconds since 1970.
    pub time_us: u64,
    /// Its message has lines, and is ours.
    pub has_lines: bool,
    /// In the order in which they are written.
    fields: Vec<(String, Scalar)>,
}

impl Event {
    /// `stamp`: the time in words.
    pub fn new(level: Level, code: u16, thread: u64, time_us: u64, stamp: String, message: &str) -> Event {
        // What a client has a part in is one line: it could look like another event.
        let has_lines = code == 0 && level == Level::Error;
        let most = if has_lines { BACKTRACE_BYTES_MAX } else { MESSAGE_BYTES_MAX };
        let message = &message[..floor_char_boundary(message, most)];
        let text = |text: &str| Scalar::Text(text.to_string());
        let entry = error::entry(code);
        let state = error::sqlstate(code);
        let mut event = Event { time_us, has_lines, fields: Vec::with_capacity(10) };
        let mut add = |name: &str, value| event.fields.push((name.to_string(), value));
        add("prio", Scalar::Int(level as i64));
        add("err_code", Scalar::Int(code.into()));
        add("subsystem", text(subsystem(code)));
        add("msg", text(message));
        add("time", Scalar::Text(stamp));
        add("ts", Scalar::Int((time_us / 1000).cast_signed()));
        add("thread", Scalar::Int(thread.cast_signed()));
        if let Some(entry) = entry {
            add("err_symbol", text(entry.symbol));
        }
        add("SQL_state", text(&String::from_utf8_lossy(&state)));
        add("label", text(level.name()));
        event
    }

    pub fn get(&self, name: &str) -> Option<&Scalar> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub fn set(&mut self, name: &str, value: Scalar) {
        match self.fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.fields.push((name.to_string(), value)),
        }
    }

    pub fn unset(&mut self, name: &str) {
        self.fields.retain(|(known, _)| known != name);
    }

    pub fn level(&self) -> Level {
        Level::of(self.get("prio").and_then(Scalar::int).unwrap_or(Level::Error as i64))
    }

    pub fn code(&self) -> u16 {
        self.get("err_code").and_then(Scalar::int).and_then(|n| u16::try_from(n).ok()).unwrap_or(0)
    }

    pub fn thread(&self) -> u64 {
        self.get("thread").and_then(Scalar::int).unwrap_or(0).cast_unsigned()
    }

    pub fn subsystem(&self) -> &str {
        self.get("subsystem").and_then(Scalar::text).unwrap_or("Server")
    }

    /// The message as one line of text, or as several, of which all but the first are indented.
    pub fn line(&self) -> String {
        let message =
            self.get("msg").and_then(Scalar::text).unwrap_or("No error message, or error message of non-string type");
        let mut out = String::with_capacity(message.len());
        for c in message.trim_end_matches('\n').chars() {
            match c {
                '\n' if self.has_lines => out.push_str("\n\t"),
                '\n' | '\r' | '\0' => out.push(' '),
                c => out.push(c),
            }
        }
        out
    }

    /// The traditional format: `2026-11-21T23:00:00.123456Z 0 [System] [MY-010931] [Server] text`.
    pub fn traditional(&self) -> String {
        let level = self.level();
        let label = if level == Level::Error { "ERROR" } else { level.name() };
        let time = self.get("time").and_then(Scalar::text).unwrap_or("0000-00-00T00:00:00.000000Z");
        let (thread, code, subsystem) = (self.thread(), self.code(), self.subsystem());
        format!("{time} {thread} [{label}] [MY-{code:06}] [{subsystem}] {}", self.line())
    }

    /// The event as one JSON object on one line.
    pub fn json(&self) -> String {
        let mut out = String::from("{ ");
        for (at, (name, value)) in self.fields.iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            quote(name, &mut out);
            out.push_str(" : ");
            match value {
                Scalar::Int(n) => out.push_str(&n.to_string()),
                Scalar::Float(n) => out.push_str(&format!("{n:.6}")),
                Scalar::Text(text) => quote(text, &mut out),
            }
        }
        out.push_str(" }");
        out
    }
}

/// The part of the server that MySQL has such messages from.
fn subsystem(code: u16) -> &'static str {
    match error::entry(code) {
        Some(entry) if entry.symbol.starts_with("ER_IB_") => "InnoDB",
        Some(entry) if entry.symbol.starts_with("ER_REPLICA_") || entry.symbol.starts_with("ER_RPL_") => "Repl",
        _ => "Server",
    }
}

/// A JSON string.
pub(crate) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 || c == '\x7F' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The last place up to `most` where a character begins.
fn floor_char_boundary(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::codes::*;

    fn event(code: u16, text: &str) -> Event {
        Event::new(Level::Note, code, 13, 1_795_855_571_445_279, "2026-11-28T08:46:11.445279Z".to_string(), text)
    }

    #[test]
    fn formats_are_mysqls() {
        let event = event(ER_ACCESS_DENIED_ERROR_WITH_PASSWORD, "Access denied for user 'a\nb'@'localhost'");
        assert_eq!(
            event.traditional(),
            "2026-11-28T08:46:11.445279Z 13 [Note] [MY-010926] [Server] Access denied for user 'a b'@'localhost'"
        );
        assert_eq!(
            event.json(),
            concat!(
                r#"{ "prio" : 3, "err_code" : 10926, "subsystem" : "Server", "msg" : "#,
                r#""Access denied for user 'a\u000ab'@'localhost'", "#,
                r#""time" : "2026-11-28T08:46:11.445279Z", "ts" : 1795855571445, "thread" : 13, "#,
                r#""err_symbol" : "ER_ACCESS_DENIED_ERROR_WITH_PASSWORD", "SQL_state" : "HY000", "label" : "Note" }"#
            )
        );
    }

    #[test]
    fn hostile_messages_are_one_line_and_bounded() {
        for text in ["\0\0", "x\r\n[ERROR]", &"ü".repeat(1 << 20)] {
            let event = event(1, text);
            assert!(!event.traditional().contains('\n') && event.traditional().len() < 9000);
            assert!(!event.json().contains('\n') && event.json().len() < 60_000);
        }
    }
}
