//! The command line: `serve`, `check`, `dump`, `backup`, `restore`, `sweep`, `manual`, and wiring, nothing else.

mod allocator;
mod backup;
mod check;
mod datadir;
mod dump;
mod known_options;
mod manual;
mod notify;
mod options;
mod restore;
mod serve;

/// What the first word may be.
pub struct Command {
    pub name: &'static str,
    pub arguments: &'static str,
    pub summary: &'static str,
    pub help: fn() -> String,
    /// The exit code.
    run: fn(&[String]) -> i32,
}

pub static COMMANDS: &[Command] = &[
    Command {
        name: "serve",
        arguments: "[OPTION ...]",
        summary: "run the server",
        help: || serve::HELP.to_string(),
        run: |words| told(serve::serve(words).map(|()| true)),
    },
    Command {
        name: "check",
        arguments: "DATADIR",
        summary: "verify all data of a server that does not run; changes nothing",
        help: || check::HELP.to_string(),
        run: |words| told(check::check(words)),
    },
    Command {
        name: "dump",
        arguments: "page|log|dictionary DATADIR",
        summary: "show what its files hold",
        help: || dump::HELP.to_string(),
        run: |words| told(dump::dump(words).map(|()| true)),
    },
    Command {
        name: "backup",
        arguments: "--to=DIR",
        summary: "copy a running server",
        help: || backup::USAGE.to_string(),
        run: |words| told(backup::backup(words).map(|()| true)),
    },
    Command {
        name: "restore",
        arguments: "--from=BACKUP --to=DATADIR",
        summary: "make data of backups and binary logs",
        help: || restore::USAGE.to_string(),
        run: |words| told(restore::restore(words).map(|()| true)),
    },
    Command {
        name: "sweep",
        arguments: "[OPTION ...]",
        summary: "compare servers under rising load with sysbench",
        help: sweep::help,
        run: |words| sweep::command(words.iter().cloned()),
    },
    Command {
        name: "manual",
        arguments: "man|bash|zsh|fish",
        summary: "print the man page, or a shell's completion",
        help: || manual::HELP.to_string(),
        run: |words| told(manual::manual(words).map(|()| true)),
    },
];

/// 1: it could not be done, which is said, or (false) what was looked for was not found.
fn told(done: Result<bool, String>) -> i32 {
    match done {
        Ok(found) => i32::from(!found),
        Err(message) => {
            eprintln!("clearway: {message}");
            1
        }
    }
}

fn help() -> String {
    let mut text = String::from("clearway: a MySQL-compatible transactional database server\n\nUsage:\n");
    for Command { name, arguments, summary, .. } in COMMANDS {
        text.push_str(&format!("  {:<50} {summary}\n", format!("clearway {name} {arguments}")));
    }
    text.push_str("  clearway --version\n\n`clearway COMMAND --help` says more.\n");
    text
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let first = arguments.first().map(String::as_str);
    let command = COMMANDS.iter().find(|c| Some(c.name) == first);
    std::process::exit(match (command, first) {
        (Some(command), _) => (command.run)(&arguments[1..]),
        (None, Some("--version" | "-V")) => {
            println!("clearway {}, compatible with MySQL 8.4.0", env!("CARGO_PKG_VERSION"));
            0
        }
        (None, Some("--help" | "-h" | "help")) => {
            print!("{}", help());
            0
        }
        (None, Some(other)) => {
            eprintln!("clearway: unknown command '{other}' (clearway --help lists them)");
            1
        }
        (None, None) => {
            eprint!("{}", help());
            1
        }
    });
}
