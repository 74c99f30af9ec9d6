//! The last events, for `performance_schema.error_log`.

use super::event::{Event, Level};
use std::collections::VecDeque;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use types::json::{Json, parse};

/// Bytes of the events that are kept.
pub(super) const RING_BYTES_MAX: usize = 5 << 20;

/// One event as the table has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Microseconds since 1970; no two have the same.
    pub at_us: u64,
    pub thread: u64,
    pub level: Level,
    /// `MY-010926`
    pub code: String,
    pub subsystem: String,
    pub data: String,
}

impl Logged {
    pub(super) fn of(event: &Event, data: String) -> Logged {
        Logged {
            at_us: event.time_us,
            thread: event.thread(),
            level: event.level(),
            code: format!("MY-{:06}", event.code()),
            subsystem: event.subsystem().chars().take(7).collect(),
            data,
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Logged>() + self.code.len() + self.subsystem.len() + self.data.len()
    }
}

#[derive(Default)]
pub(super) struct Ring {
    pub lines: VecDeque<Logged>,
    pub bytes: usize,
    /// The most that `bytes` has been.
    pub highest: usize,
    pub expired: u64,
    latest_us: u64,
}

impl Ring {
    /// The oldest make room.
    pub fn push(&mut self, mut line: Logged) {
        line.at_us = line.at_us.max(self.latest_us + 1);
        self.latest_us = line.at_us;
        self.bytes += line.bytes();
        self.highest = self.highest.max(self.bytes);
        self.lines.push_back(line);
        while self.bytes > RING_BYTES_MAX
            && let Some(oldest) = self.lines.pop_front()
        {
            self.bytes -= oldest.bytes();
            self.expired += 1;
        }
    }

    pub fn latest_us(&self) -> u64 {
        self.latest_us
    }
}

/// The last events of a log's file. One that cannot be read has none.
pub(super) fn read_back(path: &Path) -> Vec<Logged> {
    let mut text = Vec::new();
    let read = std::fs::File::open(path).and_then(|mut file| {
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(len.saturating_sub(RING_BYTES_MAX as u64)))?;
        file.take(RING_BYTES_MAX as u64).read_to_end(&mut text)
    });
    if read.is_err() {
        return Vec::new();
    }
    let mut all: Vec<Logged> = Vec::new();
    for line in String::from_utf8_lossy(&text).lines() {
        match (line.strip_prefix('\t'), all.last_mut()) {
            (Some(more), Some(last)) => {
                last.data.push('\n');
                last.data.push_str(more);
            }
            _ => all.extend(if line.starts_with('{') { of_json(line) } else { of_line(line) }),
        }
    }
    all
}

/// `2026-11-28T08:46:11.445279Z 13 [Note] [MY-010926] [Server] text`
fn of_line(line: &str) -> Option<Logged> {
    let (time, rest) = line.split_once(' ')?;
    let (thread, rest) = rest.split_once(' ')?;
    let bracketed = |text: &'_ str| {
        let (word, rest) = text.strip_prefix('[')?.split_once(']')?;
        Some((word.to_string(), rest.strip_prefix(' ').unwrap_or(rest).to_string()))
    };
    let (label, rest) = bracketed(rest)?;
    let (code, rest) = bracketed(&rest)?;
    let (subsystem, data) = bracketed(&rest)?;
    Some(Logged {
        at_us: time_us(time)?,
        thread: thread.parse().ok()?,
        level: level(&label)?,
        code: code.starts_with("MY-").then(|| code.chars().take(10).collect())?,
        subsystem: subsystem.chars().take(7).collect(),
        data,
    })
}

fn of_json(line: &str) -> Option<Logged> {
    let Json::Object(fields) = parse::parse(line.as_bytes()).ok()? else { return None };
    let int = |name: &str| match fields.get(name) {
        Some(Json::Int(n)) => Some(*n),
        Some(Json::UInt(n)) => i64::try_from(*n).ok(),
        _ => None,
    };
    let text = |name: &str| match fields.get(name) {
        Some(Json::String(text)) => Some(text.clone()),
        _ => None,
    };
    let code = int("err_code").or_else(|| types::error::code_of(&text("err_symbol")?).map(i64::from)).unwrap_or(0);
    Some(Logged {
        at_us: time_us(&text("time")?)?,
        thread: int("thread").unwrap_or(0).cast_unsigned(),
        level: Level::of(int("prio")?),
        code: format!("MY-{code:06}"),
        subsystem: text("subsystem").unwrap_or_else(|| "Server".to_string()).chars().take(7).collect(),
        data: line.to_string(),
    })
}

fn level(label: &str) -> Option<Level> {
    [Level::System, Level::Error, Level::Warning, Level::Note]
        .into_iter()
        .find(|level| level.name().eq_ignore_ascii_case(label))
}

/// A time in ISO 8601, with the offset of its zone.
fn time_us(text: &str) -> Option<u64> {
    let at: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(at.as_microsecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: String) -> Logged {
        let code = "MY-000001".to_string();
        Logged { at_us: 7, thread: 0, level: Level::Note, code, subsystem: "Server".to_string(), data: text }
    }

    #[test]
    fn the_oldest_make_room_and_times_differ() {
        let mut ring = Ring::default();
        (0..2000).for_each(|i| ring.push(line(format!("{i} {}", "x".repeat(5000)))));
        assert!(ring.bytes <= RING_BYTES_MAX && ring.expired > 900, "{} {}", ring.bytes, ring.expired);
        assert_eq!(ring.lines.len() as u64 + ring.expired, 2000);
        assert!(ring.lines.iter().zip(ring.lines.iter().skip(1)).all(|(a, b)| a.at_us < b.at_us));
        let counted: usize = ring.lines.iter().map(Logged::bytes).sum();
        assert_eq!(counted, ring.bytes);
    }

    #[test]
    fn what_was_written_is_read_back() {
        let dir = std::env::temp_dir().join(format!("clearway-error-log-{}", std::process::id()));
        let text = "half a line\n2026-11-28T08:46:11.445279Z 13 [Note] [MY-010926] [Server] Access denied\n\
                    2026-11-28T09:46:12.000001+01:00 0 [ERROR] [MY-000000] [Server] panicked\n\tat a\n\tat b\n\
                    { \"prio\" : 3, \"err_code\" : 10926, \"time\" : \"2026-11-28T08:46:13.000000Z\", \
                    \"thread\" : 9 }\n\
                    2026-13-28T08:46:11.445279Z 13 [Note] [MY-010926] [Server] no month\n{ \"prio\" : 3";
        std::fs::write(&dir, text).expect("it can be written");
        let read = read_back(&dir);
        std::fs::remove_file(&dir).expect("it is there");
        let shown: Vec<_> =
            read.iter().map(|l| (l.at_us, l.thread, l.level, l.code.as_str(), l.data.as_str())).collect();
        assert_eq!(shown[0], (1_795_855_571_445_279, 13, Level::Note, "MY-010926", "Access denied"));
        assert_eq!(shown[1], (1_795_855_572_000_001, 0, Level::Error, "MY-000000", "panicked\nat a\nat b"));
        assert_eq!((shown[2].0, shown[2].1, shown[2].3), (1_795_855_573_000_000, 9, "MY-010926"));
        assert_eq!(shown.len(), 3);
        assert_eq!(read_back(&dir), []);
    }
}
