//! `clearway backup`: a copy of a running server, fetched over a connection, into a directory or a stream.

use crate::datadir;
use backup::archive::Writer;
use backup::restore::manifest_of;
use backup::{Frame, MANIFEST_FILE, Manifest, Request};
use io::{Destination, Directory};
use replica::SourceConfig;
use replica::client::Connection;
use replica::fetch::fetch;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use types::SqlError;

pub const USAGE: &str = "\
Usage: clearway backup --to=DIR [OPTION ...]
       clearway backup --to=- [OPTION ...] > FILE

Copies a running server to DIR, which must not be there yet, or as a stream to stdout. Everybody goes on meanwhile. A \
server can be
started from DIR: it has all that was committed before the copy ended. Its place in the binary log is printed (with a \
stream, to
stderr). `clearway restore` makes a data directory of a stream, of increments, and of binary logs that follow.

  --to=DIR                  where the copy goes, on this machine; -: a stream to stdout
  --incremental-from=DIR    only pages that have changed since the backup in DIR, whole or itself incremental
  --compress=zstd|none      of a stream (zstd)
  --throttle=BYTES          bytes of the data file a second, with K, M or G behind; the server's \
  clone_max_data_bandwidth holds, too
  --quiet                   no progress on stderr
  --host=NAME               the server (127.0.0.1)
  --port=N                  its port (3306)
  --user=NAME               an account with BACKUP_ADMIN (root)
  --password=TEXT           its password; better in the environment, as MYSQL_PWD
  --ssl                     over TLS
";

/// A server that says nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(600);
/// Errors of this machine, not of the server.
const OWN: u16 = 0;
const TELL_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Words {
    /// `None`: stdout.
    to: Option<PathBuf>,
    base: Option<PathBuf>,
    compress: bool,
    throttle: u64,
    quiet: bool,
    source: SourceConfig,
}

/// Makes the copy. An error is one line for stderr.
pub fn backup(arguments: &[String]) -> Result<(), String> {
    if arguments.iter().any(|word| word == "--help") {
        print!("{USAGE}");
        return Ok(());
    }
    let words = parse(arguments)?;
    let base =
        words.base.as_deref().map(|path| manifest_of(path).map_err(|e| format!("backup: '{}': {e}", path.display())));
    let base = base.transpose()?;
    let request = Request { base: base.as_ref().map(Into::into), bytes_a_second: words.throttle };
    let failed = |e: SqlError| match e.code {
        OWN => format!("backup: {}", e.message),
        code => format!("backup: {} ({code})", e.message),
    };
    let mut connection = Connection::open(&words.source, PATIENCE, &|_| ()).map_err(failed)?;
    let made = match &words.to {
        Some(path) => to_directory(&mut connection, &request, path, &words),
        None => to_stdout(&mut connection, &request, &words),
    };
    tell(&words, &made.map_err(failed)?);
    Ok(())
}

fn to_directory(
    connection: &mut Connection,
    request: &Request,
    path: &Path,
    words: &Words,
) -> Result<Manifest, SqlError> {
    let failed = |e: &dyn std::fmt::Display| SqlError::new(OWN, e.to_string());
    io::restrict_new_files();
    Directory::create(path).map_err(|e| failed(&e))?;
    let fill = |connection: &mut Connection| -> Result<Manifest, SqlError> {
        let folder = backup::folder(path).map_err(|e| failed(&e))?;
        let mut progress = Progress::new(words);
        let manifest = fetch(connection, request, &mut |frame| {
            progress.see(frame);
            frame.apply(&folder).map_err(|e| failed(&e))
        })?;
        let whole = folder.drop_unfinished().and_then(|()| folder.put(MANIFEST_FILE, manifest.print().as_bytes()));
        whole.map_err(|e| failed(&e))?;
        // An increment is no data of a server.
        if manifest.parent.is_none() {
            datadir::adopt(path).map_err(|e| failed(&e))?;
        }
        folder.sync().map_err(|e| failed(&e))?;
        Ok(manifest)
    };
    let made = fill(connection);
    if made.is_err() {
        // The copy's error is the one to tell.
        let _ = Directory::remove_tree(path);
    }
    made
}

fn to_stdout(connection: &mut Connection, request: &Request, words: &Words) -> Result<Manifest, SqlError> {
    let failed = |e: backup::Error| SqlError::new(OWN, e.to_string());
    let mut writer = Writer::new(std::io::stdout().lock(), words.compress).map_err(failed)?;
    let mut progress = Progress::new(words);
    let manifest = fetch(connection, request, &mut |frame| {
        progress.see(frame);
        writer.put(frame).map_err(failed)
    })?;
    drop(writer.finish().map_err(failed)?);
    Ok(manifest)
}

/// What the copy stands for, where the copy is not.
fn tell(words: &Words, manifest: &Manifest) {
    let name = words.to.as_ref().map_or("stream".to_string(), |path| path.display().to_string());
    let kind = if manifest.parent.is_some() { "what has changed of" } else { "a copy of" };
    let mut lines = vec![format!("{name}: {kind} {}:{}", words.source.host, words.source.port)];
    if let Some(place) = &manifest.place {
        lines.push(format!("binary log: {}:{}", place.file, place.position));
        if !place.gtid_executed.is_empty() {
            lines.push(format!("GTIDs: {}", place.gtid_executed.replace('\n', "")));
        }
    }
    for line in lines {
        match words.to {
            Some(_) => println!("{line}"),
            None => eprintln!("{line}"),
        }
    }
}

/// A line on stderr now and then.
struct Progress {
    all: u64,
    told: Option<Instant>,
}

impl Progress {
    fn new(words: &Words) -> Progress {
        Progress { all: 0, told: (!words.quiet).then(Instant::now) }
    }

    fn see(&mut self, frame: &Frame<'_>) {
        match frame {
            Frame::Begin(manifest) => self.all = manifest.pages * engine::PAGE_BYTES,
            Frame::Progress(done) if self.told.is_some_and(|told| told.elapsed() >= TELL_EVERY) => {
                self.told = Some(Instant::now());
                let percent = done * 100 / self.all.max(1);
                eprintln!("backup: {percent} %, {} of {} MiB", done >> 20, self.all >> 20);
            }
            _ => {}
        }
    }
}

fn parse(arguments: &[String]) -> Result<Words, String> {
    let mut to = None;
    let mut words = Words {
        to: None,
        base: None,
        compress: true,
        throttle: 0,
        quiet: false,
        source: SourceConfig {
            host: "127.0.0.1".into(),
            user: "root".into(),
            password: std::env::var("MYSQL_PWD").unwrap_or_default(),
            get_public_key: true,
            ..SourceConfig::default()
        },
    };
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let (name, mut value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (word.as_str(), None),
        };
        match name {
            "--ssl" => words.source.ssl = true,
            "--quiet" => words.quiet = true,
            "--to" | "--host" | "--port" | "--user" | "--password" | "--incremental-from" | "--compress"
            | "--throttle" => {
                if value.is_none() {
                    value = rest.next().cloned();
                }
                let value = value.ok_or_else(|| format!("backup: {name} needs a value"))?;
                match name {
                    "--to" => to = Some(value),
                    _ => set(&mut words, name, value)?,
                }
            }
            _ => return Err(format!("backup: unknown option '{word}' (clearway backup --help lists them)")),
        }
    }
    let to = to.ok_or("backup: --to says where the copy goes (clearway backup --help)")?;
    if to != "-" {
        words.to = Some(std::path::absolute(&to).map_err(|e| format!("backup: '{to}': {e}"))?);
    }
    Ok(words)
}

fn set(words: &mut Words, name: &str, value: String) -> Result<(), String> {
    match name {
        "--incremental-from" => words.base = Some(PathBuf::from(value)),
        "--host" => words.source.host = value,
        "--port" => words.source.port = value.parse().map_err(|_| format!("backup: '{value}' is no port"))?,
        "--user" => words.source.user = value,
        "--password" => words.source.password = value,
        "--throttle" => {
            words.throttle = bytes(&value).ok_or_else(|| format!("backup: '{value}' is no number of bytes"))?
        }
        _ => {
            words.compress = match value.as_str() {
                "zstd" => true,
                "none" => false,
                _ => return Err(format!("backup: --compress is zstd or none, not '{value}'")),
            }
        }
    }
    Ok(())
}

/// A number of bytes that is none of zero: `500000`, `20M`.
fn bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Words, String> {
        parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn options_come_with_and_without_an_equals_sign() {
        let found = words("--to=/a/b --host h --port 3307 --user=u --password p=q --ssl --throttle 2m").unwrap();
        assert_eq!((found.to.as_deref(), found.throttle), (Some(Path::new("/a/b")), 2 << 20));
        let source = found.source;
        assert_eq!((&*source.host, source.port, &*source.user, &*source.password), ("h", 3307, "u", "p=q"));
        assert!(source.ssl);
        let stream = words("--to - --compress=none --incremental-from=/x").unwrap();
        assert_eq!((stream.to, stream.compress, stream.base), (None, false, Some("/x".into())));
        let wrong = [
            "",
            "--host=h",
            "--to=/a --port=x",
            "--to=/a --port",
            "--to=/a --what",
            "--to=- --throttle=0",
            "--to=- --compress=lz4",
        ];
        for wrong in wrong {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }
}
