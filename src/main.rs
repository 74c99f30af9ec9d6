//! The command line: `serve`, `check`, `dump`, `backup`, `restore`, `sweep`, and wiring, nothing else.

mod allocator;
mod backup;
mod check;
mod datadir;
mod dump;
mod error_log;
mod known_options;
mod notify;
mod options;
mod restore;
mod serve;

const HELP: &str = "\
clearway: a MySQL-compatible transactional database server

Usage: clearway serve [OPTION ...]     run the server       (clearway serve --help)
       clearway check DATADIR          verify all data of a server that does not run; changes nothing
       clearway dump page|log|dictionary DATADIR
                                       show what its files hold (clearway dump --help)
       clearway backup --to=DIR        copy a running server (clearway backup --help)
       clearway restore --from=BACKUP --to=DATADIR
                                       make data of backups and binary logs (clearway restore --help)
       clearway sweep [OPTION ...]     compare servers under rising load with sysbench
       clearway --version
";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    std::process::exit(match arguments.first().map(String::as_str) {
        Some("serve") => match serve::serve(&arguments[1..]) {
            Ok(()) => 0,
            Err(message) => {
                eprintln!("clearway: {message}");
                1
            }
        },
        Some("check") => match check::check(&arguments[1..]) {
            Ok(true) => 0,
            Ok(false) => 1,
            Err(message) => {
                eprintln!("clearway: {message}");
                1
            }
        },
        Some("dump") => match dump::dump(&arguments[1..]) {
            Ok(()) => 0,
            Err(message) => {
                eprintln!("clearway: {message}");
                1
            }
        },
        Some("backup") => match backup::backup(&arguments[1..]) {
            Ok(()) => 0,
            Err(message) => {
                eprintln!("clearway: {message}");
                1
            }
        },
        Some("restore") => match restore::restore(&arguments[1..]) {
            Ok(()) => 0,
            Err(message) => {
                eprintln!("clearway: {message}");
                1
            }
        },
        Some("sweep") => sweep::command(arguments.into_iter().skip(1)),
        Some("--version" | "-V") => {
            println!("clearway {}, compatible with MySQL 8.4.0", env!("CARGO_PKG_VERSION"));
            0
        }
        Some("--help" | "-h" | "help") => {
            print!("{HELP}");
            0
        }
        Some(other) => {
            eprintln!("clearway: unknown command '{other}' (clearway --help lists them)");
            1
        }
        None => {
            eprint!("{HELP}");
            1
        }
    });
}
