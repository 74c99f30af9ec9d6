//! `clearway backup`: a copy of a running server, made by the server itself (CLONE LOCAL DATA DIRECTORY), with its progress on stderr.

use replica::SourceConfig;
use replica::client::Connection;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

pub const USAGE: &str = "\
Usage: clearway backup --to=DIR [OPTION ...]

Copies a running server to DIR, which must not be there yet, on the server's machine. Everybody goes on meanwhile. A server can be
started from DIR: it has all that was committed before the copy ended, and DIR's place in the binary log is printed.

  --to=DIR            where the copy goes
  --host=NAME         the server (127.0.0.1)
  --port=N            its port (3306)
  --user=NAME         an account with BACKUP_ADMIN (root)
  --password=TEXT     its password; better in the environment, as MYSQL_PWD
  --ssl               over TLS

The server's variable clone_max_data_bandwidth (MiB a second) keeps a copy slow.
";

/// A copy may take long, and says nothing meanwhile.
const PATIENCE: Duration = Duration::from_secs(7 * 24 * 3600);
const TELL_EVERY: Duration = Duration::from_secs(1);

struct Words {
    to: PathBuf,
    source: SourceConfig,
}

/// Makes the copy. An error is one line for stderr.
pub fn backup(arguments: &[String]) -> Result<(), String> {
    if arguments.iter().any(|word| word == "--help") {
        print!("{USAGE}");
        return Ok(());
    }
    let words = parse(arguments)?;
    let mut maker = connect(&words.source)?;
    let mut watcher = connect(&words.source)?;
    let statement = format!("CLONE LOCAL DATA DIRECTORY = {}", quoted(&words.to)?);
    let (told, outcome) = mpsc::channel();
    std::thread::spawn(move || told.send(maker.query(&statement)));
    loop {
        match outcome.recv_timeout(TELL_EVERY) {
            Ok(made) => break made.map(drop).map_err(|e| format!("backup: {} ({})", e.message, e.code))?,
            Err(mpsc::RecvTimeoutError::Timeout) => tell_progress(&mut watcher),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err("backup: the connection was lost".into()),
        }
    }
    println!("{}: a copy of {}:{}", words.to.display(), words.source.host, words.source.port);
    for (name, column) in
        [("binary log", "CONCAT(binlog_file, ':', binlog_position)"), ("GTIDs", "REPLACE(gtid_executed, '\n', '')")]
    {
        let query = format!("SELECT {column} FROM performance_schema.clone_status WHERE binlog_file <> ''");
        // The copy is made; that its place cannot be told is no failure.
        if let Ok(Some(place)) = watcher.value(&query)
            && !place.is_empty()
        {
            println!("{name}: {place}");
        }
    }
    Ok(())
}

/// A line on stderr; nothing where the server does not answer.
fn tell_progress(watcher: &mut Connection) {
    let query = "SELECT stage, data DIV 1048576, estimate DIV 1048576 FROM performance_schema.clone_progress \
                 WHERE state = 'In Progress'";
    if let Ok(rows) = watcher.query(query)
        && let Some([Some(stage), Some(done), Some(all)]) = rows.first().map(|row| &row[..])
    {
        eprintln!("backup: {}: {done} of {all} MiB", stage.to_lowercase());
    }
}

fn connect(source: &SourceConfig) -> Result<Connection, String> {
    Connection::open(source, PATIENCE, &|_| ()).map_err(|e| format!("backup: {} ({})", e.message, e.code))
}

fn parse(arguments: &[String]) -> Result<Words, String> {
    let mut to = None;
    let mut source = SourceConfig {
        host: "127.0.0.1".into(),
        user: "root".into(),
        password: std::env::var("MYSQL_PWD").unwrap_or_default(),
        get_public_key: true,
        ..SourceConfig::default()
    };
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let (name, mut value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (word.as_str(), None),
        };
        if name == "--ssl" {
            source.ssl = true;
            continue;
        }
        if !["--to", "--host", "--port", "--user", "--password"].contains(&name) {
            return Err(format!("backup: unknown option '{word}' (clearway backup --help lists them)"));
        }
        if value.is_none() {
            value = rest.next().cloned();
        }
        let value = value.ok_or_else(|| format!("backup: {name} needs a value"))?;
        match name {
            "--to" => to = Some(std::path::absolute(&value).map_err(|e| format!("backup: '{value}': {e}"))?),
            "--host" => source.host = value,
            "--port" => source.port = value.parse().map_err(|_| format!("backup: '{value}' is no port"))?,
            "--user" => source.user = value,
            _ => source.password = value,
        }
    }
    let to = to.ok_or("backup: --to says where the copy goes (clearway backup --help)")?;
    Ok(Words { to, source })
}

/// A path as a text literal.
fn quoted(path: &Path) -> Result<String, String> {
    let text = path.to_str().ok_or_else(|| format!("backup: '{}' is no UTF-8", path.display()))?;
    Ok(format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Words, String> {
        parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn options_come_with_and_without_an_equals_sign() {
        let found = words("--to=/a/b --host h --port 3307 --user=u --password p=q --ssl").unwrap();
        assert_eq!(found.to, Path::new("/a/b"));
        let source = found.source;
        assert_eq!((&*source.host, source.port, &*source.user, &*source.password), ("h", 3307, "u", "p=q"));
        assert!(source.ssl);
        for wrong in ["", "--host=h", "--to=/a --port=x", "--to=/a --port", "--to=/a --what"] {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_path_is_quoted() {
        assert_eq!(quoted(Path::new("/a'b\\c")).unwrap(), "'/a''b\\\\c'");
    }
}
