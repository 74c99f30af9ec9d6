//! `clearway restore`: a data directory of backups, and of binary logs that follow.

use crate::datadir::{self, DataDir};
use crate::options::{self, Options};
use crate::serve;
use backup::restore::{Source, restore as bring_back};
use backup::{Manifest, Place};
use replica::replay::{Plan, Point, Start};
use session::error_log::ErrorLog;
use session::persisted::Persisted;
use session::tls::Tls;
use session::variables::{Globals, Val, find};
use session::{Server, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use types::gtid::GtidSet;

pub const USAGE: &str = "\
Usage: clearway restore --from=BACKUP [--from=INCREMENT ...] --to=DATADIR [--binlog FILE ... [UNTIL]] [OPTION ...]

Makes DATADIR, which must not be there or be empty, of what `clearway backup` has made, and verifies it: pages by \
their checksums, the
log by recovering with it. Prints the place in the source's binary log, and the GTIDs, that the data then stand for. \
Nothing is there after an
error. What the keyring needs (component_keyring_file.cnf) may be in DATADIR before.

  --from=BACKUP             a directory, a file with a stream, or - for a stream on stdin; then increments in the \
  order in which they
                            were made
  --to=DATADIR              where the data go
  --binlog FILE ...         point-in-time recovery: applies these files of the source's binary log from the backup's \
  place on, to
                            their end or UNTIL
  --until-gtid=SET          up to and with the last of these transactions
  --before-gtid=SET         up to the first of these transactions, which is left out
  --until-time=TIME         up to the first transaction that was committed at TIME or later, which is left out: \
  '2026-11-24 09:30:00',
                            with a fraction if need be; local time, or with an offset ('...Z', '...+02:00')
  --until-position=FILE:N   up to and with the transaction that ends there
  --quiet                   no progress on stderr
  OPTION                    as for `clearway serve`, such as --innodb-buffer-pool-size=1G: for recovery and applying
";

const TELL_EVERY: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Words {
    from: Vec<String>,
    to: Option<PathBuf>,
    binlog: Vec<PathBuf>,
    until: Option<Point>,
    quiet: bool,
    /// For the server.
    options: Vec<String>,
}

/// Brings the data back. An error is one line for stderr.
pub fn restore(arguments: &[String]) -> Result<(), String> {
    if arguments.iter().any(|word| word == "--help") {
        print!("{USAGE}");
        return Ok(());
    }
    io::restrict_new_files();
    let words = parse(arguments)?;
    let to = words.to.as_deref().expect("it was looked for");
    let options = options::parse(&words.options)?;
    let mut sources =
        words.from.iter().map(|name| Source::open(name)).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let datadir = DataDir::prepare(to).map_err(failed)?;
    match fill(&words, options, &mut sources, &datadir) {
        Ok(lines) => {
            lines.iter().for_each(|line| println!("{line}"));
            Ok(())
        }
        Err(message) => {
            datadir.clear();
            Err(failed(message))
        }
    }
}

fn failed(e: impl std::fmt::Display) -> String {
    format!("restore: {e}")
}

/// Lines that tell what was made.
fn fill(words: &Words, options: Options, sources: &mut [Source], datadir: &DataDir) -> Result<Vec<String>, String> {
    let mut ticker = Ticker { told: (!words.quiet).then(Instant::now) };
    let folder = backup::folder(&datadir.path).map_err(|e| e.to_string())?;
    let manifest = bring_back(sources, &folder, &mut |name, done, all| {
        ticker.tell(|| format!("{name}: {} %, {} of {} MiB", done * 100 / all.max(1), done >> 20, all >> 20));
    })
    .map_err(|e| e.to_string())?;
    let plan = match words.binlog.is_empty() {
        true => None,
        false => Some(plan(words, &manifest, &datadir.path)?),
    };
    let executed = run(options, &manifest, datadir, plan.as_ref(), &mut ticker)?;
    datadir.complete()?;
    let mut lines =
        vec![format!("{}: backup {} of server {}", datadir.path.display(), manifest.id, manifest.server_uuid)];
    if let Some(plan) = &plan {
        lines.push(format!("applied: {} transactions of the binary log", plan.transactions));
    }
    if let Some(Place { file, position, gtid_executed }) = &manifest.place {
        let end = plan.as_ref().map_or(Some((file, position)), |plan| plan.end.as_ref().map(|(file, at)| (file, at)));
        lines.push(match end {
            Some((file, position)) => format!("binary log: {file}:{position}"),
            None => "binary log: no place in these files stands for the data, only GTIDs do".to_string(),
        });
        let gtids = if plan.is_some() { executed } else { gtid_executed.clone() };
        if !gtids.is_empty() {
            lines.push(format!("GTIDs: {}", gtids.replace('\n', "")));
        }
    }
    Ok(lines)
}

/// What of the files is to be applied.
fn plan(words: &Words, manifest: &Manifest, datadir: &Path) -> Result<Plan, String> {
    let Some(place) = &manifest.place else {
        return Err("the backup has no place in a binary log: its server had none".into());
    };
    let executed = GtidSet::parse(&place.gtid_executed).ok_or("the backup's GTIDs are damaged")?;
    let from = Start {
        file: place.file.clone(),
        position: place.position,
        executed,
        at_us: manifest.at_us,
        copied: datadir.join(&place.file),
    };
    // Files may be encrypted, under keys of the source's keyring, which the data need as well.
    let directory = io::Directory::open_or_create(datadir).map_err(|e| e.to_string())?;
    let vault = cipher::Vault::open(&directory).map_err(|e| e.to_string())?;
    let keys = binlog::LogKeys::new(Arc::new(vault), manifest.server_uuid.clone(), false);
    Plan::make(&words.binlog, &from, words.until.as_ref().unwrap_or(&Point::End), &keys)
}

/// Recovers the data as a server would, applies what is planned, and closes it; all GTIDs that are there then.
fn run(
    options: Options,
    manifest: &Manifest,
    datadir: &DataDir,
    plan: Option<&Plan>,
    ticker: &mut Ticker,
) -> Result<String, String> {
    let Options { mut globals, native_password, client_charset, .. } = options;
    let set = |globals: &mut Globals, name: &str, value: Val| globals.set(find(name).expect("the table has it"), value);
    // Transactions keep what they had, a GTID or none.
    set(&mut globals, "gtid_mode", Val::UInt(u64::from(manifest.place.is_some())));
    set(&mut globals, "log_bin", Val::Bool(manifest.place.is_some()));
    let log_bin = manifest.place.as_ref().and_then(|place| place.file.rsplit_once('.')).map_or("", |(base, _)| base);
    let log = Arc::new(ErrorLog::to_stderr());
    session::buffer_pool::settle(&mut globals);
    session::memory::settle(&mut globals);
    session::computed_variables(&mut globals, &datadir.path, datadir.uuid.clone(), serve::hostname());
    let (engine, binlog) = serve::open_engine(&mut globals, datadir, log_bin, &log)?;
    let settings = Settings {
        error_log: Arc::clone(&log),
        globals,
        datadir: datadir.path.clone(),
        stop: Box::new(|| ()),
        persisted: Persisted::default(),
        native_password,
        client_charset,
        // Files are applied whole.
        filter_options: session::FilterOptions::default(),
        tls: Tls(None),
        binlog: binlog.clone(),
        write_persisted: serve::write_persisted(&datadir.path),
        adopt_copy: Box::new(datadir::adopt),
        cloned: None,
        // What follows in the files changes those rows, too. They go when a server starts, as ever.
        goes_on: true,
    };
    let server = Server::open(Arc::clone(&engine), settings, String::new).map_err(|e| e.to_string())?;
    let replayed = plan.map_or(Ok(()), |plan| {
        let all = plan.transactions;
        server.replay(plan, &mut |done| ticker.tell(|| format!("{done} of {all} transactions applied")))
    });
    let executed = server.executed().to_string();
    let closed = serve::close(&server, &engine, binlog, &log);
    replayed.map_err(|e| format!("{} ({})", e.message, e.code))?;
    closed?;
    Ok(executed)
}

/// A line on stderr now and then.
struct Ticker {
    /// `None`: nothing is told.
    told: Option<Instant>,
}

impl Ticker {
    fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.told.is_some_and(|told| told.elapsed() >= TELL_EVERY) {
            self.told = Some(Instant::now());
            eprintln!("restore: {}", line());
        }
    }
}

fn parse(arguments: &[String]) -> Result<Words, String> {
    let mut words = Words::default();
    let mut rest = arguments.iter().peekable();
    while let Some(word) = rest.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (word.as_str(), None),
        };
        match name {
            "--quiet" => words.quiet = true,
            "--from" | "--to" | "--binlog" | "--until-gtid" | "--before-gtid" | "--until-time" | "--until-position" => {
                let value = value.or_else(|| rest.next().cloned());
                let value = value.ok_or_else(|| format!("restore: {name} needs a value"))?;
                match name {
                    "--from" => words.from.push(value),
                    "--to" => {
                        words.to = Some(std::path::absolute(&value).map_err(|e| format!("restore: '{value}': {e}"))?);
                    }
                    "--binlog" => {
                        words.binlog.push(PathBuf::from(value));
                        while let Some(more) = rest.next_if(|word| !word.starts_with('-')) {
                            words.binlog.push(PathBuf::from(more));
                        }
                    }
                    _ if words.until.is_some() => return Err("restore: two points to end at".into()),
                    _ => words.until = Some(until(name, &value).map_err(failed)?),
                }
            }
            _ => words.options.push(word.clone()),
        }
    }
    let needed =
        [(words.from.is_empty(), "--from names the backup"), (words.to.is_none(), "--to says where the data go")];
    if let Some((_, what)) = needed.iter().find(|(missing, _)| *missing) {
        return Err(format!("restore: {what} (clearway restore --help)"));
    }
    if words.until.is_some() && words.binlog.is_empty() {
        return Err("restore: a point to end at is of a binary log: --binlog names its files".into());
    }
    Ok(words)
}

fn until(name: &str, value: &str) -> Result<Point, String> {
    Ok(match name {
        "--until-gtid" | "--before-gtid" => {
            let set = GtidSet::parse(value).filter(|set| !set.is_empty());
            let set = set.ok_or_else(|| format!("'{value}' is no GTID and no set of them"))?;
            if name == "--until-gtid" { Point::After(set) } else { Point::Before(set) }
        }
        "--until-time" => {
            let us = replica::replay::time_us(value);
            Point::Time(us.ok_or_else(|| format!("'{value}' is no time: 'YYYY-MM-DD hh:mm:ss'"))?)
        }
        _ => {
            let parts =
                value.rsplit_once(':').and_then(|(file, offset)| Some((file.to_string(), offset.parse().ok()?)));
            let (file, offset) = parts.ok_or_else(|| format!("'{value}' is no place: FILE:POSITION"))?;
            Point::Place { file, offset }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Words, String> {
        parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn the_files_of_the_binary_log_may_be_many_words() {
        let found = words("--from=b --from i --to=/d --binlog b.000001 b.000002 --until-position b.000002:99 --port=5")
            .unwrap();
        assert_eq!((found.from, found.binlog.len()), (vec!["b".to_string(), "i".to_string()], 2));
        assert_eq!(found.until, Some(Point::Place { file: "b.000002".into(), offset: 99 }));
        assert_eq!(found.options, ["--port=5"]);
        for wrong in [
            "--to=/d",
            "--from=b",
            "--from=b --to=/d --until-gtid=x --binlog=f",
            "--from=b --to=/d --until-position=f:1",
            "--from=b --to=/d --binlog f --until-position=f",
        ] {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }
}
