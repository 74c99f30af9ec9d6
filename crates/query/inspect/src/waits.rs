//! Waits in `performance_schema`: those of each session, sums of them by name, and the files that are open.

use crate::statements::{ps, times};
use crate::{Context, Row, text, uint, word};
use catalog::{ComputedRows, Table};
use observe::TimeTotals;
use observe::forgotten::{Events, is_shown};
use observe::waits::files::{self, FileSum, FileSums};
use observe::waits::{self, Class, Event, Wait};
use observe::{RowCounts, RowUse};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use types::{Result, Value};

/// What OBJECT_TYPE, OBJECT_SCHEMA and OBJECT_NAME say.
fn object(event: &Event) -> [Value<'static>; 3] {
    let some = |part: Option<&str>| part.filter(|part| !part.is_empty()).map_or(Value::Null, |p| text(p.to_string()));
    match event.what.class() {
        Class::File => [word("FILE"), Value::Null, some(Some(&event.object))],
        Class::Metadata => {
            let mut parts = event.object.split('\0');
            let (kind, schema, name) = (parts.next(), parts.next(), parts.next());
            [some(kind), some(schema), some(name)]
        }
        _ => [Value::Null, Value::Null, Value::Null],
    }
}

fn event_row(event: &Event, now_ns: u64) -> Row {
    let ended = event.began_ns.map(|_| event.ended_ns.unwrap_or(now_ns));
    let took = event.began_ns.zip(ended).map(|(began, ended)| ended.saturating_sub(began));
    let time = |ns: Option<u64>| ns.map_or(Value::Null, ps);
    let [kind, schema, name] = object(event);
    vec![
        uint(event.owner),
        uint(event.id),
        if event.is_over { uint(event.id) } else { Value::Null },
        word(event.what.name()),
        Value::Null,
        time(event.began_ns),
        time(ended),
        time(took),
        Value::Null,
        schema,
        name,
        Value::Null,
        kind,
        uint(0),
        Value::Null,
        Value::Null,
        word(event.operation.name()),
        event.bytes.map_or(Value::Null, |bytes| Value::Int(bytes as i64)),
        Value::Null,
    ]
}

/// Sessions that are there; THREAD_ID is their connection's.
fn sessions(cx: &Context) -> HashMap<u64, (String, String)> {
    let processes = cx.source.processes().into_iter();
    processes.map(|p| (p.id, (p.user.clone(), crate::without_port(&p.host).to_string()))).collect()
}

pub(crate) fn current(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let sessions = sessions(cx);
    let mut events: Vec<Event> = waits::books().filter_map(|book| book.current()).collect();
    events.retain(|event| sessions.contains_key(&event.owner) && is_shown(Events::Waits, false, event.ended_ns));
    events.sort_by_key(|event| event.owner);
    let now_ns = observe::clock::now_ns();
    out.extend(events.iter().map(|event| event_row(event, now_ns)));
    Ok(())
}

pub(crate) fn history(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let sessions = sessions(cx);
    let mut events: Vec<Event> = waits::books().flat_map(|book| book.history()).collect();
    events.retain(|event| sessions.contains_key(&event.owner) && is_shown(Events::Waits, true, event.ended_ns));
    events.sort_by_key(|event| (event.owner, event.id));
    let now_ns = observe::clock::now_ns();
    out.extend(events.iter().map(|event| event_row(event, now_ns)));
    Ok(())
}

type Sums = HashMap<Wait, TimeTotals>;

fn merge(into: &mut Sums, sums: &[(Wait, TimeTotals)]) {
    for (wait, sum) in sums {
        into.entry(*wait).or_insert(TimeTotals::NONE).merge(sum);
    }
}

/// One group: a row for each wait.
fn rows(group: Row, sums: Sums) -> impl Iterator<Item = Row> {
    Wait::ALL.iter().map(move |wait| {
        let mut row = group.clone();
        row.push(word(wait.name()));
        row.extend(times(sums.get(wait).unwrap_or(&TimeTotals::NONE)));
        row
    })
}

pub(crate) fn global(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    let all = waits::picture().all;
    let sums = Wait::ALL.iter().map(|wait| (*wait, all[wait.index()])).collect();
    out.extend(rows(Vec::new(), sums));
    Ok(())
}

pub(crate) fn by_thread(cx: &Context) -> ComputedRows {
    let picture = waits::picture();
    let mut threads: BTreeMap<u64, Sums> = sessions(cx).into_keys().map(|id| (id, Sums::new())).collect();
    for (owner, sums) in &picture.live {
        if let Some(known) = threads.get_mut(owner) {
            merge(known, sums);
        }
    }
    Box::new(threads.into_iter().flat_map(|(id, sums)| rows(vec![uint(id)], sums)))
}

/// Sums of sessions that are there and that have ended by a key of the account; `None` is for threads that are nobody's.
fn grouped<K: Ord>(cx: &Context, key: impl Fn(&str, &str) -> K) -> BTreeMap<Option<K>, Sums> {
    let picture = waits::picture();
    let sessions = sessions(cx);
    let mut groups: BTreeMap<Option<K>, Sums> = BTreeMap::new();
    for (user, host) in sessions.values() {
        groups.entry(Some(key(user, host))).or_default();
    }
    for ((user, host), sums) in &picture.ended {
        merge(groups.entry(Some(key(user, host))).or_default(), sums);
    }
    for (owner, sums) in &picture.live {
        let of = match (owner, sessions.get(owner)) {
            (0, _) => None,
            (_, Some((user, host))) => Some(key(user, host)),
            // It came after the list was made.
            (_, None) => continue,
        };
        merge(groups.entry(of).or_default(), sums);
    }
    groups
}

pub(crate) fn by_account(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (account, sums) in grouped(cx, |user, host| (user.to_string(), host.to_string())) {
        let (user, host) = account.map_or((Value::Null, Value::Null), |(user, host)| (text(user), text(host)));
        out.extend(rows(vec![user, host], sums));
    }
    Ok(())
}

pub(crate) fn by_user(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (user, sums) in grouped(cx, |user, _| user.to_string()) {
        out.extend(rows(vec![user.map_or(Value::Null, text)], sums));
    }
    Ok(())
}

pub(crate) fn by_host(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (host, sums) in grouped(cx, |_, host| host.to_string()) {
        out.extend(rows(vec![host.map_or(Value::Null, text)], sums));
    }
    Ok(())
}

/// All three uses together.
fn total(sums: &FileSums) -> TimeTotals {
    let mut total = TimeTotals::NONE;
    sums.iter().for_each(|sum| total.merge(&sum.sum));
    total
}

/// The columns of a file's sums, from COUNT_STAR on.
fn file_columns(sums: &FileSums) -> Row {
    let mut row: Row = times(&total(sums)).into();
    for (at, sum) in sums.iter().enumerate() {
        row.extend(times(&sum.sum));
        if at < 2 {
            row.push(Value::Int(sum.bytes as i64));
        }
    }
    row
}

pub(crate) fn file_instances(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    for file in files::files().0 {
        if let Some(path) = &file.path {
            out.push(vec![text(path.display().to_string()), word(file.what.name()), uint(file.open.into())]);
        }
    }
    Ok(())
}

pub(crate) fn files_by_instance(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    for file in files::files().0 {
        if let Some(path) = &file.path {
            let mut row = vec![text(path.display().to_string()), word(file.what.name()), uint(file.instance)];
            row.extend(file_columns(&file.sums));
            out.push(row);
        }
    }
    Ok(())
}

pub(crate) fn files_by_event_name(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    let (open, closed) = files::files();
    for wait in Wait::ALL.iter().filter(|wait| wait.class() == Class::File) {
        let mut sums = [FileSum::NONE; 3];
        let of_open = open.iter().filter(|file| file.what == *wait).map(|file| &file.sums);
        let of_closed = closed.iter().filter(|(what, _)| what == wait).map(|(_, sums)| sums);
        for file in of_open.chain(of_closed) {
            sums.iter_mut().zip(file).for_each(|(sum, one)| sum.merge(one));
        }
        let mut row = vec![word(wait.name())];
        row.extend(file_columns(&sums));
        out.push(row);
    }
    Ok(())
}

/// Of what has instances: files. Locks of a kind are counted together.
pub(crate) fn by_instance(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    for file in files::files().0 {
        let mut row = vec![word(file.what.name()), uint(file.instance)];
        row.extend(times(&total(&file.sums)));
        out.push(row);
    }
    Ok(())
}

/// COUNT and times, which are not taken of rows.
fn untimed(count: u64) -> [Value<'static>; 5] {
    [uint(count), uint(0), uint(0), uint(0), uint(0)]
}

/// All, reads, writes, and each kind.
fn io_columns(counts: &RowCounts) -> Row {
    let of = |how: RowUse| counts[how as usize];
    let read = of(RowUse::Fetch) + of(RowUse::Scan);
    let changes = [of(RowUse::Insert), of(RowUse::Update), of(RowUse::Delete)];
    let write = changes.iter().sum();
    [read + write, read, write, read].into_iter().chain(changes).flat_map(untimed).collect()
}

/// Tables of the storage engine with the counts of each index, the clustered one first.
fn tables(cx: &Context) -> Vec<(Arc<Table>, Vec<RowCounts>)> {
    let by_tree = observe::rows_by_tree();
    let stored = |table: &&Arc<Table>| table.is_base() && table.virtual_rows.is_none();
    let mut tables: Vec<Arc<Table>> =
        cx.version.schemas.values().flat_map(|s| s.tables.values()).filter(stored).cloned().collect();
    tables.sort_by(|a, b| (&a.schema, &a.name).cmp(&(&b.schema, &b.name)));
    let counts = |table: &Table| {
        table.indexes.iter().map(|index| by_tree.get(&index.tree.id).copied().unwrap_or_default()).collect()
    };
    tables.into_iter().map(|table| (Arc::clone(&table), counts(&table))).collect()
}

fn sum(counts: &[RowCounts]) -> RowCounts {
    std::array::from_fn(|at| counts.iter().map(|counts| counts[at]).sum())
}

pub(crate) fn io_by_table(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (table, counts) in tables(cx) {
        let mut row = vec![word("TABLE"), text(&table.schema), text(&table.name)];
        row.extend(io_columns(&sum(&counts)));
        out.push(row);
    }
    Ok(())
}

/// Sums of table_lock_waits_summary_by_table.
const LOCK_SUMS: usize = 65;

/// No engine has table locks of its own, and statements hold no other ones: nobody ever waits for one.
pub(crate) fn locks_by_table(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (table, _) in tables(cx) {
        let mut row = vec![word("TABLE"), text(&table.schema), text(&table.name)];
        row.extend((0..LOCK_SUMS).map(|_| uint(0)));
        out.push(row);
    }
    Ok(())
}

/// The row without an index is of inserts and of scans of the whole table.
pub(crate) fn io_by_index(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (table, counts) in tables(cx) {
        let mut line = |index: Value<'static>, counts: &RowCounts| {
            let mut row = vec![word("TABLE"), text(&table.schema), text(&table.name), index];
            row.extend(io_columns(counts));
            out.push(row);
        };
        let all = sum(&counts);
        let mut without = RowCounts::default();
        for how in [RowUse::Scan, RowUse::Insert] {
            without[how as usize] = all[how as usize];
        }
        for (index, counts) in table.indexes.iter().zip(&counts) {
            let mut counts = *counts;
            counts[RowUse::Scan as usize] = 0;
            counts[RowUse::Insert as usize] = 0;
            match index.is_hidden() {
                true => without.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n),
                false => line(text(&index.name), &counts),
            }
        }
        line(Value::Null, &without);
    }
    Ok(())
}

pub(crate) fn objects(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (table, counts) in tables(cx) {
        let mut row = vec![word("TABLE"), text(&table.schema), text(&table.name)];
        row.extend(untimed(sum(&counts).iter().sum()));
        out.push(row);
    }
    Ok(())
}
