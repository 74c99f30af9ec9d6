//! `clearway dump`: pages, log and dictionary of a server that does not run, as text. The debugging door beside `clearway check`:
//! it judges nothing and changes nothing.
//!
//! The directory is mounted under an overlay as for a check, so that whatever is opened writes nowhere, and its lock keeps a
//! server out meanwhile. Pages and log are shown as they stand in the files; the dictionary as recovery leaves it.

use crate::datadir::DataDir;
use crate::{options, serve};
use catalog::dictionary;
use engine::{Engine, EngineOptions, Isolation, LOG_DIRECTORY, Transaction};
use io::Overlay;
use log::{Step, Survey};
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

pub const HELP: &str = "\
Usage: clearway dump page DATADIR NUMBER [NUMBER ...]
       clearway dump log DATADIR [--from=LSN] [--groups=N]
       clearway dump dictionary DATADIR [OPTION ...]

Shows what the files of a server that does not run hold, and changes nothing.
page        pages of the data file as they stand there, a NUMBER or FIRST-LAST each
log         the control file and the groups of the log from the checkpoint on, or from the LSN of a group; all, or N \
of them
dictionary  each entry as its kind, schema, name and JSON text, after recovery; OPTION: as for clearway serve.
            Entries of accounts hold the hashes of passwords.
Encrypted pages and groups are named, not shown.
";

/// An error is one line for stderr.
pub fn dump(arguments: &[String]) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    match arguments {
        [word] if word == "--help" => print(&mut out, HELP),
        [what, datadir, rest @ ..] => {
            let datadir = Path::new(datadir);
            DataDir::require(datadir)?;
            let overlay = Overlay::mount(datadir, std::env::temp_dir()).map_err(|e| fail(datadir, &e))?;
            let held = DataDir::open(datadir)?;
            let done = match what.as_str() {
                "page" => pages(&mut out, datadir, rest),
                "log" => groups(&mut out, datadir, rest),
                "dictionary" => entries(&mut out, datadir, rest),
                other => Err(format!("dump: what is '{other}'? (clearway dump --help)")),
            };
            drop(held);
            overlay.unmount();
            done
        }
        _ => {
            print(&mut out, HELP)?;
            Err("dump: what, and of which data directory?".into())
        }
    }
}

fn fail(datadir: &Path, error: &dyn Display) -> String {
    format!("data directory '{}': {error}", datadir.display())
}

fn print(out: &mut dyn Write, text: &str) -> Result<(), String> {
    out.write_all(text.as_bytes()).map_err(|e| format!("standard output: {e}"))
}

fn pages(out: &mut dyn Write, datadir: &Path, numbers: &[String]) -> Result<(), String> {
    if numbers.is_empty() {
        return Err("dump page: which one?".into());
    }
    for word in numbers {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let number =
            |text: &str| text.parse::<u64>().map_err(|_| format!("dump page: '{word}' is no number of a page"));
        for id in number(first)?..=number(last)? {
            let text = engine::dump::page_of_file(datadir, id).map_err(|e| fail(datadir, &e))?;
            print(out, &text)?;
        }
    }
    Ok(())
}

fn groups(out: &mut dyn Write, datadir: &Path, words: &[String]) -> Result<(), String> {
    let mut survey = Survey::open(&datadir.join(LOG_DIRECTORY)).map_err(|e| fail(datadir, &e))?;
    let mut most = u64::MAX;
    for word in words {
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("dump log: {word}: '{text}' is no number"));
        match word.split_once('=') {
            Some(("--from", lsn)) => {
                let lsn = number(lsn)?;
                if lsn < survey.checkpoint() {
                    return Err(format!(
                        "dump log: the checkpoint is {}, what lies before it may be gone",
                        survey.checkpoint()
                    ));
                }
                survey.seek(lsn);
            }
            Some(("--groups", n)) => most = number(n)?,
            _ => return Err(format!("dump log: unknown option '{word}'")),
        }
    }
    for line in survey.head() {
        print(out, &format!("{line}\n"))?;
    }
    for _ in 0..most {
        match survey.step().map_err(|e| fail(datadir, &e))? {
            Step::End { lsn, why } => return print(out, &format!("end at LSN {lsn}: {why}\n")),
            Step::Group { start, end, epoch, payload_bytes, payload } => {
                let mut text = format!("group {start} to {end}, epoch {epoch}, {payload_bytes} bytes\n");
                match payload {
                    Some(payload) => {
                        engine::dump::group(payload).iter().for_each(|line| text += &format!("  {line}\n"))
                    }
                    None => text += "  encrypted\n",
                }
                print(out, &text)?;
            }
        }
    }
    Ok(())
}

fn entries(out: &mut dyn Write, datadir: &Path, words: &[String]) -> Result<(), String> {
    let globals = options::parse(words)?.globals;
    let options = EngineOptions { direct_io: false, ..serve::engine_options(&globals, datadir) };
    let engine = Engine::open(options, &mut |text| eprintln!("{text}")).map_err(|e| fail(datadir, &e))?;
    let told = tell_entries(out, &engine, datadir);
    // What closing writes is forgotten with the overlay.
    engine.close().map_err(|e| fail(datadir, &e))?;
    told
}

fn tell_entries(out: &mut dyn Write, engine: &Arc<Engine>, datadir: &Path) -> Result<(), String> {
    let mut tx = Transaction::new(engine).map_err(|e| fail(datadir, &e))?;
    tx.begin(Isolation::RepeatableRead, true);
    for kind in dictionary::KINDS {
        let entries = dictionary::load(&mut tx, engine.dictionary(), kind).map_err(|e| fail(datadir, &e.message))?;
        for entry in entries {
            let (schema, name) = (&entry.schema, &entry.name);
            print(out, &format!("{kind:?} {schema:?} {name:?} {}\n", String::from_utf8_lossy(&entry.value)))?;
        }
    }
    tx.rollback().map_err(|e| fail(datadir, &e))
}
