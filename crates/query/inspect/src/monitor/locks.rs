//! Transactions and locks in the words of SHOW ENGINE INNODB STATUS.

use super::KeyError;
use crate::Process;
use crate::locks::{Picture, shown_id};
use engine::{Deadlock, Engine, LockInfo, LockMode, LockOn};
use sql::print::quote_name;
use std::fmt::Write;
use std::time::SystemTime;
use types::key::{self, KeyPart};

/// Of a transaction's locks no more than these are listed.
const LOCKS_LISTED: usize = 10;
/// How long a report may become before transactions are left out.
const REPORT_BYTES_MAX: usize = 1 << 20;

/// A moment in the time zone of the server's machine.
pub(crate) fn local_time(at: SystemTime) -> String {
    let since_1970 = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let time = jiff::Timestamp::from_microsecond(since_1970.as_micros() as i64).unwrap_or_default();
    time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The line of a transaction that says whose it is. The number of the query is the moment at which it began, in microseconds: no
/// counter that all sessions share gives one.
pub fn thread_line(process: &Process) -> String {
    let mut line = format!("MySQL thread id {}, query id {}", process.id, process.since_us);
    // A port is no part of a host. Nobody looks the name of an address up for a report.
    let host = process.host.rsplit_once(':').map_or(&process.host[..], |(host, _)| host);
    for word in [host, &process.user[..], &process.state[..]].into_iter().filter(|word| !word.is_empty()) {
        line.push(' ');
        line.push_str(word);
    }
    line
}

/// Bytes as InnoDB prints a field of a record.
fn field(number: usize, bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let ascii = |b: &u8| if (b' '..=b'~').contains(b) { char::from(*b) } else { ' ' };
    format!(" {number}: len {}; hex {hex}; asc {};;\n", bytes.len(), bytes.iter().map(ascii).collect::<String>())
}

/// The parts of a key, as keys are stored.
fn fields(parts: &[KeyPart], key: &[u8]) -> Vec<String> {
    let mut rest = key;
    let mut out = Vec::new();
    for part in parts {
        let Some(length) = key::part_length(rest, part).filter(|n| *n > 0 && *n <= rest.len()) else { break };
        let (bytes, after) = rest.split_at(length);
        out.push(field(out.len(), bytes));
        rest = after;
    }
    out
}

/// A lock, with where its key is now and with the key's parts.
fn record_lock(engine: &Engine, picture: &Picture, lock: &LockInfo, trx: u64) -> String {
    let Some((schema, table, index)) = picture.tree(lock.tree) else {
        return "RECORD LOCKS of a dropped table\n".into();
    };
    let letter = if lock.mode == LockMode::Exclusive { "X" } else { "S" };
    let kind = match &lock.on {
        LockOn::Record(_) | LockOn::Span { gaps: false, .. } => " locks rec but not gap",
        LockOn::Insertion(_) => " locks gap before rec insert intention",
        // InnoDB's locks on the supremum are next-key locks.
        LockOn::Span { high: None, .. } | LockOn::Span { records: true, .. } => "",
        LockOn::Gap(_) | LockOn::Span { .. } => " locks gap before rec",
    };
    let waiting = if lock.granted { "" } else { " waiting" };
    let key =
        lock.key().map(|key| key.strip_suffix(&[0]).filter(|_| matches!(lock.on, LockOn::Span { .. })).unwrap_or(key));
    let place = key.and_then(|key| engine.place_of(index.tree, key));
    // All tables lie in one space.
    let page = place.map_or(index.tree.root, |place| place.page);
    let mut out = format!(
        "RECORD LOCKS space id 0 page no {page} n bits {} index {} of table {}.{} trx id {trx} lock_mode \
         {letter}{kind}{waiting}\n",
        place.map_or(0, |place| place.slots),
        index.name,
        quote_name(schema),
        quote_name(&table.name),
    );
    let Some(key) = key else {
        out.push_str("Record lock, heap no 1 PHYSICAL RECORD: n_fields 1; info bits 0\n");
        out.push_str(&field(0, b"supremum"));
        return out + "\n";
    };
    let is_clustered = std::ptr::eq(index, &table.indexes[0]);
    let own = index.parts.iter().chain(table.indexes[0].parts.iter().filter(|_| !is_clustered));
    let parts: Vec<KeyPart> = own.map(|part| part.key).collect();
    let fields = fields(&parts, key);
    // Slots count from 0; before them InnoDB has the infimum and the supremum.
    let heap_no = place.map_or(0, |place| place.slot + 2);
    let _ = writeln!(out, "Record lock, heap no {heap_no} KEY: n_fields {}; info bits 0", fields.len());
    out + &fields.concat() + "\n"
}

/// The section of the last deadlock; empty if there was none.
pub(super) fn deadlock_section(engine: &Engine, picture: &Picture) -> String {
    engine.latest_deadlock().map_or_else(String::new, |deadlock| {
        super::status::section("LATEST DETECTED DEADLOCK") + &deadlock_text(engine, picture, &deadlock)
    })
}

/// The last deadlock, for the error log.
pub fn deadlock_report(cx: &crate::Context) -> Option<String> {
    let deadlock = cx.engine.latest_deadlock()?;
    let text = deadlock_text(&cx.engine, &Picture::take(cx), &deadlock);
    Some(format!("Transactions deadlock detected, dumping detailed information.\n{}", text.trim_end()))
}

/// What is told of a deadlock.
fn deadlock_text(engine: &Engine, picture: &Picture, deadlock: &Deadlock) -> String {
    let at_us = deadlock.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros() as u64;
    let mut out = format!("{}\n", local_time(deadlock.at));
    for (i, member) in deadlock.members.iter().enumerate() {
        let n = i + 1;
        let trx = shown_id(member.trx, member.slot);
        let active = at_us.saturating_sub(member.began_us) / 1_000_000;
        out.push_str(&format!("*** ({n}) TRANSACTION:\nTRANSACTION {trx}, ACTIVE {active} sec\n"));
        out.push_str(&format!("LOCK WAIT undo log entries {}\n{}\n", member.work, member.session));
        out.push_str(&format!("\n*** ({n}) HOLDS THE LOCK(S):\n"));
        member.holds.iter().for_each(|lock| out.push_str(&record_lock(engine, picture, lock, trx)));
        out.push_str(&format!("\n*** ({n}) WAITING FOR THIS LOCK TO BE GRANTED:\n"));
        match &member.waits {
            Ok(lock) => out.push_str(&record_lock(engine, picture, lock, trx)),
            Err(other) => out.push_str(&format!("{other}\n")),
        }
        out.push('\n');
    }
    out.push_str(&format!("*** WE ROLL BACK TRANSACTION ({})\n", deadlock.victim + 1));
    out
}

/// The section of the last foreign key that a statement failed by; empty if there was none.
pub(super) fn key_section(cx: &crate::Context, error: Option<&KeyError>) -> String {
    let Some(e) = error else { return String::new() };
    let at_us = e.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros() as u64;
    let active = at_us.saturating_sub(if e.began_us == 0 { at_us } else { e.began_us }) / 1_000_000;
    let mut out = super::status::section("LATEST FOREIGN KEY ERROR");
    let trx = shown_id(e.trx, e.slot);
    let _ = writeln!(out, "{} {} Transaction:\nTRANSACTION {trx}, ACTIVE {active} sec", local_time(e.at), e.thread);
    let _ = writeln!(out, "undo log entries {}\n{}", e.work, e.session);
    // The message is `... fails (`schema`.`table`, CONSTRAINT ...)`.
    let told = e.error.message.split_once(" (").and_then(|(_, rest)| rest.strip_suffix(')'));
    let Some((child, constraint)) = told.and_then(|told| told.split_once(", CONSTRAINT ")) else {
        let _ = writeln!(out, "{}", e.error.message);
        return out;
    };
    let _ = writeln!(out, "Foreign key constraint fails for table {child}:\n,\n  CONSTRAINT {constraint}");
    let Some((child_key, parent, parent_key)) = ends(cx, child, constraint) else { return out };
    let adds = e.error.code == types::codes::ER_NO_REFERENCED_ROW_2;
    let _ = match adds {
        true => writeln!(
            out,
            "Trying to add in child table, in index {child_key} tuple:\n\nBut in parent table {parent}, in index \
             {parent_key},\nthere is no such record."
        ),
        false => writeln!(
            out,
            "Trying to delete or update in parent table, in index {parent_key} tuple:\n\nBut in child table {child}, \
             in index {child_key}, there is a record."
        ),
    };
    out
}

/// The child's index, the parent's name, and the parent's index of a constraint that is still there.
fn ends(cx: &crate::Context, child: &str, constraint: &str) -> Option<(String, String, String)> {
    let unquoted = |name: &str| name.trim_matches('`').replace("``", "`");
    let (schema, name) = child.split_once("`.`")?;
    let table = cx.version.table(&unquoted(schema), &unquoted(name))?;
    let key = table.foreign_keys.iter().find(|key| constraint.starts_with(&quote_name(&key.name)))?;
    let parent = cx.version.table(&key.parent.0, &key.parent.1)?;
    let leads = |index: &&catalog::Index| {
        index.parts.iter().map(|part| part.column).take(key.columns.len()).eq(key.columns.iter().copied())
    };
    let child_index = table.indexes.iter().find(leads)?;
    let found = catalog::parent_index(&parent.columns, &parent.indexes, &key.parent_columns)?;
    let parent_name = format!("{}.{}", quote_name(&key.parent.0), quote_name(&key.parent.1));
    Some((child_index.name.clone(), parent_name, parent.indexes[found].name.clone()))
}

/// Every session: those without a transaction first, as InnoDB has them. `lists_locks`: those that are held, too.
pub(super) fn transactions(engine: &Engine, picture: &Picture, lists_locks: bool, out: &mut String) {
    let active = |slot: u32| picture.transactions.iter().any(|t| t.slot == slot);
    for process in picture.processes.iter().filter(|p| p.slot != u32::MAX && !active(p.slot)) {
        let trx = shown_id(0, process.slot);
        let _ = writeln!(out, "---TRANSACTION {trx}, not started\n0 lock struct(s), heap size 0, 0 row lock(s)");
    }
    for t in &picture.transactions {
        let process = picture.process(t.slot);
        if process.is_none() && !t.rolling_back {
            continue;
        }
        if out.len() > REPORT_BYTES_MAX {
            observe::increment(observe::Counter::InnodbTruncatedStatusWrites);
            out.push_str("... truncated...\n");
            return;
        }
        let active = picture.now_us.saturating_sub(picture.began_us(t)) / 1_000_000;
        let (locks, records) = picture.counts(t.slot);
        let trx = shown_id(t.trx, t.slot);
        let doing = if t.rolling_back { " recovered trx, rollback in the background" } else { "" };
        let own = || picture.locks.iter().filter(|l| l.slot == t.slot);
        let heap: u64 = own().map(LockInfo::bytes).sum();
        let waits = if t.waiting.is_some() { "LOCK WAIT " } else { "" };
        let undo = if t.work > 0 { format!(", undo log entries {}", t.work) } else { String::new() };
        let _ = writeln!(out, "---TRANSACTION {trx}, ACTIVE {active} sec{doing}");
        let _ = writeln!(out, "{waits}{locks} lock struct(s), heap size {heap}, {records} row lock(s){undo}");
        if let Some(process) = process {
            let _ = writeln!(out, "{}", thread_line(process));
        }
        if let Some(query) = process.and_then(|p| p.info.as_ref()) {
            let _ = writeln!(out, "{query}");
        }
        if let Some(wait) = &t.waiting {
            let seconds = wait.since.as_secs();
            let _ = writeln!(out, "------- TRX HAS BEEN WAITING {seconds} SEC FOR THIS LOCK TO BE GRANTED:");
            match &wait.on {
                Ok(_) => own().filter(|l| !l.granted).for_each(|l| out.push_str(&record_lock(engine, picture, l, trx))),
                Err(other) => out.push_str(&format!("{other}\n")),
            }
            out.push_str("------------------\n");
        }
        if lists_locks {
            own().take(LOCKS_LISTED).for_each(|l| out.push_str(&record_lock(engine, picture, l, trx)));
            if own().count() > LOCKS_LISTED {
                let _ = writeln!(out, "{LOCKS_LISTED} LOCKS PRINTED FOR THIS TRX: SUPPRESSING FURTHER PRINTS");
            }
        }
    }
}
