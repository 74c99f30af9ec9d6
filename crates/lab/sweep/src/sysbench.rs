//! Stock sysbench 1.0 as a child process: its command line and its report.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::options::{Address, Options, Target};

/// What sysbench says at the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub transactions: u64,
    pub queries: u64,
    /// Errors after which the script went on (deadlocks, lock wait timeouts, duplicate keys).
    pub ignored_errors: u64,
    pub reconnects: u64,
    pub seconds: f64,
    pub tps: f64,
    pub qps: f64,
    pub latency_avg_ms: f64,
    pub latency_p95_ms: f64,
    pub latency_max_ms: f64,
}

/// The first line of `sysbench --version`, or what to do about its absence.
pub fn find() -> Result<String, String> {
    match Command::new("sysbench").arg("--version").stdin(Stdio::null()).output() {
        Ok(output) => {
            Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or("sysbench").trim().to_owned())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err("sysbench is not installed: it is in the package 'sysbench' of Debian, Ubuntu, Fedora and Homebrew \
             (Debian, Ubuntu: apt-get install sysbench; version 1.0)"
                .to_owned())
        }
        Err(error) => Err(format!("cannot start sysbench: {error}")),
    }
}

/// The words that say where to connect.
fn connection(target: &Target, database: &str) -> Vec<String> {
    let mut words = match &target.address {
        Address::Tcp { host, port } => vec![format!("--mysql-host={host}"), format!("--mysql-port={port}")],
        Address::Unix(path) => vec![format!("--mysql-socket={}", path.display())],
    };
    words.push(format!("--mysql-user={}", target.user));
    words.push(format!("--mysql-password={}", target.password));
    words.push(format!("--mysql-db={database}"));
    words
}

/// sysbench with `test` and `action` (prepare, run, cleanup); its output is piped.
pub fn command(options: &Options, target: &Target, test: &str, threads: usize, action: &str) -> Command {
    // bulk_insert has a table a thread; the others load with a thread a table at most.
    let threads = if action == "run" || test == "bulk_insert" { threads } else { options.tables.min(8) };
    // The select_random scripts read the first of the same tables and refuse to make more than one.
    let random = test.starts_with("select_random");
    let script = if random && action != "run" { "oltp_point_select" } else { test };
    let tables = if random && action == "run" { 1 } else { options.tables };
    let mut command = Command::new("sysbench");
    command.arg(script).args(connection(target, &options.database)).args([
        format!("--threads={threads}"),
        format!("--time={}", (options.warmup + options.time).as_secs()),
        "--events=0".to_owned(),
        format!("--rand-type={}", options.rand_type),
    ]);
    if test != "bulk_insert" {
        command.arg(format!("--tables={tables}")).arg(format!("--table-size={}", options.table_size));
    }
    if action == "run" && !options.warmup.is_zero() {
        // Reports then, and begins to count anew.
        command.arg(format!("--report-checkpoints={}", options.warmup.as_secs()));
    }
    command.args(&options.extra).arg(action);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs to the end; its output, or its first complaint.
pub fn finish(child: Child) -> Result<String, String> {
    let output = child.wait_with_output().map_err(|error| format!("cannot wait for sysbench: {error}"))?;
    checked(&output)
}

fn checked(output: &Output) -> Result<String, String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let complaint = complaint(&text, &errors);
    Err(complaint.unwrap_or_else(|| format!("sysbench ended with {} and said nothing", output.status)))
}

/// The line that says most: a server's error number comes before sysbench's own "could not".
fn complaint(stdout: &str, stderr: &str) -> Option<String> {
    let lines: Vec<&str> = stderr.lines().chain(stdout.lines()).filter(|line| line.contains("FATAL")).collect();
    let best = lines.iter().find(|line| line.contains("error ") || line.contains("errno")).or(lines.first());
    let last = stderr.lines().chain(stdout.lines()).rfind(|line| !line.trim().is_empty());
    best.copied().or(last).map(|line| line.trim().trim_start_matches("FATAL: ").to_owned())
}

/// Reads the report that sysbench prints after a run that had reached a checkpoint after its `warmup`, if that is not zero.
pub fn parse(text: &str, warmup: Duration) -> Result<Report, String> {
    let mut reports = text.split("SQL statistics:").skip(1);
    let expected = 1 + usize::from(!warmup.is_zero());
    let (Some(text), 0) = (reports.nth(expected - 1), reports.count()) else {
        return Err(format!("sysbench did not report {expected} times"));
    };
    let mut fields: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut percentile = None;
    for line in text.lines() {
        let Some((name, rest)) = line.trim().split_once(':') else { continue };
        let values: Vec<&str> = rest.split_whitespace().collect();
        if name.ends_with("percentile") && !values.is_empty() {
            percentile = values.first().copied();
        }
        // The first one of a name counts: "total:" of the queries comes before nothing else of that name.
        fields.entry(name).or_insert(values);
    }
    let word = |name: &str| {
        let values = fields.get(name).ok_or_else(|| format!("sysbench's report has no '{name}'"))?;
        values.first().copied().ok_or_else(|| format!("sysbench's report has nothing after '{name}'"))
    };
    let float = |name: &str, text: &str| {
        let text = text.trim_end_matches('s');
        text.parse::<f64>().map_err(|_| format!("sysbench's '{name}' is no number: {text}"))
    };
    let count = |name: &str| {
        let text = word(name)?;
        text.parse::<u64>().map_err(|_| format!("sysbench's '{name}' is no count: {text}"))
    };
    let number = |name: &str| float(name, word(name)?);
    let (transactions, queries) = (count("transactions")?, count("queries")?);
    // It runs on through checkpoints, while the counts begin anew.
    let seconds = number("total time")? - warmup.as_secs_f64();
    if seconds <= 0.0 {
        return Err("sysbench's run took no time".to_owned());
    }
    Ok(Report {
        transactions,
        queries,
        ignored_errors: count("ignored errors")?,
        reconnects: count("reconnects")?,
        seconds,
        tps: transactions as f64 / seconds,
        qps: queries as f64 / seconds,
        latency_avg_ms: number("avg")?,
        latency_p95_ms: float("95th percentile", percentile.ok_or("sysbench's report has no percentile")?)?,
        latency_max_ms: number("max")?,
    })
}

/// Makes the database when it is missing and returns the server's version, through sysbench's own client library, so
/// that nothing else has to be installed.
pub fn connect(target: &Target, database: &str) -> Result<String, String> {
    let script = Script::write(database)?;
    let output = Command::new("sysbench")
        .arg(&script.path)
        .args(connection(target, ""))
        .arg("connect")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start sysbench: {error}"))?;
    let text = checked(&output)?;
    let version = text.lines().find_map(|line| line.strip_prefix("version="));
    Ok(version.unwrap_or("unknown").to_owned())
}

/// A Lua script in the temporary directory, gone when it is dropped.
struct Script {
    path: PathBuf,
}

impl Script {
    fn write(database: &str) -> Result<Script, String> {
        if database.is_empty() || !database.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(format!("database name '{database}': letters, digits and _ only"));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
        let path = std::env::temp_dir().join(format!("clearway-sweep-{}-{now}.lua", std::process::id()));
        let text = format!(
            "function event() end\n\
             sysbench.cmdline.commands = {{ connect = {{ function ()\n\
             local connection = sysbench.sql.driver():connect()\n\
             connection:query('CREATE DATABASE IF NOT EXISTS {database}')\n\
             print('version=' .. connection:query_row('SELECT VERSION()'))\n\
             end }} }}\n"
        );
        write_new(&path, &text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Script { path })
    }
}

/// Never through a link or over a file that somebody put there.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

impl Drop for Script {
    fn drop(&mut self) {
        // A file left in the temporary directory harms nobody.
        let _left_behind = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As sysbench 1.0.20 prints it.
    pub const REPORT: &str = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4

Threads started!

SQL statistics:
    queries performed:
        read:                            14924
        write:                           4255
        other:                           2128
        total:                           21307
    transactions:                        1062   (1054.70 per sec.)
    queries:                             21307  (21160.50 per sec.)
    ignored errors:                      4      (3.97 per sec.)
    reconnects:                          1      (0.00 per sec.)

General statistics:
    total time:                          1.0052s
    total number of events:              1062

Latency (ms):
         min:                                    1.60
         avg:                                    3.77
         max:                                   14.62
         95th percentile:                        6.21
         sum:                                 4006.56

Threads fairness:
    events (avg/stddev):           265.5000/29.69
    execution time (avg/stddev):   1.0016/0.00
";

    #[test]
    fn a_report_is_read_whole() {
        let report = parse(REPORT, Duration::ZERO).expect("a report");
        assert_eq!((report.transactions, report.queries), (1062, 21307));
        assert_eq!((report.ignored_errors, report.reconnects), (4, 1));
        assert_eq!((report.latency_avg_ms, report.latency_p95_ms, report.latency_max_ms), (3.77, 6.21, 14.62));
        assert!((report.qps - 21307.0 / 1.0052).abs() < 1e-6);
    }

    #[test]
    fn what_comes_before_the_checkpoint_does_not_count() {
        let (begin, end) = REPORT.split_at(REPORT.find("SQL statistics").expect("it is there"));
        let warm = end.replace("21307", "999").replace("1.0052s", "3.0000s");
        let whole = format!("{begin}[ 3s ] Checkpoint report:\n{warm}\n{}", end.replace("1.0052s", "4.0052s"));
        let report = parse(&whole, Duration::from_secs(3)).expect("a report");
        assert!(report.queries == 21307 && (report.seconds - 1.0052).abs() < 1e-9, "{report:?}");
        assert!(parse(&whole, Duration::ZERO).unwrap_err().contains("1 times"));
        assert!(parse(REPORT, Duration::from_secs(3)).unwrap_err().contains("2 times"));
    }

    #[test]
    fn a_cut_report_is_an_error_that_names_the_field() {
        let cut = REPORT.replace("ignored errors", "errors");
        assert!(parse(&cut, Duration::ZERO).unwrap_err().contains("ignored errors"));
        assert!(parse("", Duration::ZERO).unwrap_err().contains("report"));
        let garbled = REPORT.replace("95th percentile:                        6.21", "95th percentile:  n/a");
        assert!(parse(&garbled, Duration::ZERO).unwrap_err().contains("percentile"));
    }

    #[test]
    fn the_servers_own_error_is_preferred() {
        let stderr = "FATAL: unable to connect to MySQL server on host 'h', port 1, aborting...\n\
                      FATAL: error 2002: Can't connect to server on 'h' (115)\nFATAL: Thread initialization failed!";
        assert_eq!(complaint("", stderr).as_deref(), Some("error 2002: Can't connect to server on 'h' (115)"));
        assert_eq!(complaint("", "boom\n").as_deref(), Some("boom"));
        assert_eq!(complaint("", ""), None);
    }

    #[test]
    fn all_scripts_but_bulk_insert_share_their_tables() {
        let options = crate::summary::tests::options("--target a=h:1 --tables 4");
        let words = |test: &str, action: &str| {
            let command = command(&options, &options.targets[0], test, 16, action);
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let prepare = words("select_random_points", "prepare");
        assert!(prepare[0] == "oltp_point_select" && prepare.contains(&"--tables=4".to_owned()), "{prepare:?}");
        let run = words("select_random_points", "run");
        assert!(run[0] == "select_random_points" && run.contains(&"--tables=1".to_owned()), "{run:?}");
        assert!(!words("bulk_insert", "run").iter().any(|word| word.starts_with("--table")));
    }

    #[test]
    fn a_database_name_cannot_carry_code() {
        assert!(Script::write("x'); os.execute('true").is_err());
    }
}
