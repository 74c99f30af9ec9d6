//! The command line of the sweep: `--name value` and `--name=value`, checked before anything runs.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::ValueExt;
use lexopt::prelude::{Long, Short};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
            Address::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// One server of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Column heading.
    pub name: String,
    pub address: Address,
    pub user: String,
    pub password: String,
}

/// A checked command line. The fields are its options.
#[derive(Clone, Debug)]
pub struct Options {
    /// The first one is measured against each of the others.
    pub targets: Vec<Target>,
    pub tests: Vec<String>,
    pub threads: Vec<usize>,
    pub tables: usize,
    pub table_size: usize,
    /// Length of a measured run.
    pub time: Duration,
    /// Length of the discarded run before each measured one; zero: none.
    pub warmup: Duration,
    /// Measured runs of each cell on each target.
    pub repeat: usize,
    /// sysbench's `--rand-type`.
    pub rand_type: String,
    /// Name of the database that the sweep makes and fills.
    pub database: String,
    /// Load the tables before and drop them after; off: they are there already.
    pub prepare: bool,
    pub cleanup: bool,
    /// Words handed to sysbench as they are.
    pub extra: Vec<String>,
    pub json: Option<PathBuf>,
    pub html: Option<PathBuf>,
    pub svg: Option<PathBuf>,
}

/// What the command line asks for.
pub enum Parsed {
    Run(Box<Options>),
    Help,
}

/// Tests that change how many rows there are: their tables are loaded afresh before each run.
const RESHAPING: [&str; 3] = ["oltp_insert", "oltp_delete", "bulk_insert"];

/// Does this sysbench script change how many rows there are?
pub fn reshapes(test: &str) -> bool {
    RESHAPING.contains(&test)
}

/// The text of --help.
pub fn help() -> String {
    "clearway sweep: sysbench over servers and thread counts, side by side

  clearway sweep --target new=127.0.0.1:3307 --target old=/run/mysqld/mysqld.sock --html report.html

  --target NAME=WHERE     a server: host:port or /path/to/socket, with user[:password]@ before it when it
                          differs from --user; repeat it. The first is compared with each of the others.
  --user NAME             for all targets (root)
  --password WORD         for all targets (empty); sysbench gets it on its command line
  --tests A,B,...         (oltp_point_select,oltp_read_only,oltp_read_write,oltp_write_only)
  --threads 4,16,...      (4,16,64,128,256)
  --tables N              (4)
  --table-size N          rows a table (100000)
  --time SECONDS          length of a measured run (10)
  --warmup SECONDS        discarded start of each run (2); a thousand threads want 45, since each compiles its Lua code
  --repeat N              rounds; the table shows medians (3)
  --rand-type KIND        uniform, special, gaussian, pareto (uniform)
  --database NAME         made when it is missing (sbtest)
  --no-prepare            the tables are there already
  --no-cleanup            leave the tables there
  --json FILE             every run and the summary, for programs
  --html FILE             one self-contained page with plots, for people
  --svg FILE              the plots of throughput alone, as a picture
  -- WORDS                handed to sysbench as they are, as in: -- --db-ps-mode=disable

Every target is asked before anything is loaded. Errors and failed runs are shown in the table. Exit code: 0 all ran, \
1 a run
failed, 2 wrong usage or a target that does not answer."
        .to_owned()
}

/// Checks the words behind `sweep`. The error is one line that names the word.
pub fn parse(args: impl Iterator<Item = String>) -> Result<Parsed, String> {
    let mut options = Options {
        targets: Vec::new(),
        tests: ["oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only"].map(String::from).to_vec(),
        threads: vec![4, 16, 64, 128, 256],
        tables: 4,
        table_size: 100_000,
        time: Duration::from_secs(10),
        warmup: Duration::from_secs(2),
        repeat: 3,
        rand_type: "uniform".to_owned(),
        database: "sbtest".to_owned(),
        prepare: true,
        cleanup: true,
        extra: Vec::new(),
        json: None,
        html: None,
        svg: None,
    };
    let (mut wanted, mut user, mut password) = (Vec::new(), "root".to_owned(), String::new());
    let mut parser = lexopt::Parser::from_args(args.map(OsString::from));
    loop {
        // The parser itself passes over `--` without a word.
        if let Some(rest) = parser.try_raw_args()
            && rest.peek().is_some_and(|word| word == "--")
        {
            options.extra = rest.skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            break;
        }
        let Some(argument) = parser.next().map_err(text)? else { break };
        let Long(name) = argument else {
            match argument {
                Short('h') => return Ok(Parsed::Help),
                other => return Err(text(other.unexpected())),
            }
        };
        let name = name.to_owned();
        let mut value = || parser.value().and_then(|value| value.string()).map_err(text);
        match name.as_str() {
            "help" => return Ok(Parsed::Help),
            "no-prepare" => options.prepare = false,
            "no-cleanup" => options.cleanup = false,
            "target" => wanted.push(value()?),
            "user" => user = value()?,
            "password" => password = value()?,
            "tests" => options.tests = list(&value()?),
            "threads" => {
                options.threads =
                    list(&value()?).iter().map(|n| number("--threads", n, 1)).collect::<Result<_, _>>()?;
                options.threads.sort_unstable();
                options.threads.dedup();
            }
            "tables" => options.tables = number("--tables", &value()?, 1)?,
            "table-size" => options.table_size = number("--table-size", &value()?, 1)?,
            "time" => options.time = Duration::from_secs(number("--time", &value()?, 1)? as u64),
            "warmup" => options.warmup = Duration::from_secs(number("--warmup", &value()?, 0)? as u64),
            "repeat" => options.repeat = number("--repeat", &value()?, 1)?,
            "rand-type" => options.rand_type = value()?,
            "database" => options.database = value()?,
            "json" => options.json = Some(value()?.into()),
            "html" => options.html = Some(value()?.into()),
            "svg" => options.svg = Some(value()?.into()),
            _ => return Err(text(Long(&name).unexpected())),
        }
    }
    for text in &wanted {
        options.targets.push(target(text, &user, &password)?);
    }
    let mut names: Vec<_> = options.targets.iter().map(|target| &target.name).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() != options.targets.len() {
        return Err("two targets have the same name".to_owned());
    }
    if options.targets.is_empty() {
        return Err("no --target given".to_owned());
    }
    if options.tests.is_empty() || options.threads.is_empty() {
        return Err("--tests and --threads want at least one entry".to_owned());
    }
    Ok(Parsed::Run(Box::new(options)))
}

/// What the parser says, without its type.
fn text(error: lexopt::Error) -> String {
    error.to_string()
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(String::from).collect()
}

fn number(name: &str, text: &str, least: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= least => Ok(n),
        _ => Err(format!("{name} wants a whole number of at least {least}, not '{text}'")),
    }
}

/// `NAME=[user[:password]@](host:port | /path)`.
fn target(text: &str, user: &str, password: &str) -> Result<Target, String> {
    let wrong = || format!("--target wants NAME=host:port or NAME=/path/to/socket, not '{text}'");
    let (name, place) = text.split_once('=').ok_or_else(wrong)?;
    let (login, place) = place.rsplit_once('@').map_or((None, place), |(login, place)| (Some(login), place));
    let (user, password) = match login {
        Some(login) => login.split_once(':').unwrap_or((login, "")),
        None => (user, password),
    };
    let address = if place.starts_with('/') {
        Address::Unix(place.into())
    } else {
        let (host, port) = place.rsplit_once(':').ok_or_else(wrong)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Address::Tcp { host: host.to_owned(), port: port.parse().map_err(|_| wrong())? }
    };
    if name.is_empty() || matches!(&address, Address::Tcp { host, .. } if host.is_empty()) {
        return Err(wrong());
    }
    Ok(Target { name: name.to_owned(), address, user: user.to_owned(), password: password.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<Parsed, String> {
        parse(text.split_whitespace().map(String::from))
    }

    fn options(text: &str) -> Options {
        match words(text) {
            Ok(Parsed::Run(options)) => *options,
            Ok(Parsed::Help) => panic!("help"),
            Err(message) => panic!("{message}"),
        }
    }

    #[test]
    fn targets_by_port_socket_and_login() {
        let o = options("--user u --target a=127.0.0.1:3307 --target=b=eve:p@w@[::1]:33 --target c=/tmp/s.sock");
        assert_eq!(o.targets[0].address, Address::Tcp { host: "127.0.0.1".into(), port: 3307 });
        assert_eq!(o.targets[0].user, "u");
        assert_eq!(o.targets[1].address, Address::Tcp { host: "::1".into(), port: 33 });
        assert_eq!((o.targets[1].user.as_str(), o.targets[1].password.as_str()), ("eve", "p@w"));
        assert_eq!(o.targets[2].address, Address::Unix("/tmp/s.sock".into()));
    }

    #[test]
    fn threads_are_sorted_and_extra_words_pass_through() {
        let o = options("--target a=h:1 --threads 64,4,4 --time=3 -- --db-ps-mode=disable --skip-trx");
        assert_eq!(o.threads, [4, 64]);
        assert_eq!(o.time, Duration::from_secs(3));
        assert_eq!(o.extra, ["--db-ps-mode=disable", "--skip-trx"]);
    }

    #[test]
    fn wrong_usage_is_refused_by_name() {
        for (text, part) in [
            ("", "no --target"),
            ("--target a=nowhere", "host:port"),
            ("--target a=h:1 --target a=h:2", "same name"),
            ("--target a=h:1 --threads 0", "--threads"),
            ("--target a=h:1 --treads 4", "--treads"),
            ("--target a=h:1 --no-prepare=1", "--no-prepare"),
            ("--target a=h:1 stray", "stray"),
            ("--target", "missing argument for option '--target'"),
        ] {
            let message = words(text).err().unwrap_or_default();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
