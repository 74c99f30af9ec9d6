//! `clearway check`: verifies a data directory and leaves it as it is.
//!
//! After a crash the data is whole only once its log has been redone. So the engine is opened over an overlay: it recovers
//! as a server would, what it writes goes to a file without a name beside the system's temporary files, and a server that runs
//! keeps the check out by its locks.

use crate::datadir::DataDir;
use crate::{options, serve};
use engine::{Engine, EngineOptions};
use io::Overlay;
use std::path::Path;

pub const HELP: &str = "\
Usage: clearway check DATADIR [OPTION ...]

Verifies pages, trees, rows against indexes, undo and log of a server that does not run, and changes nothing. A line \
for each
problem, then a summary; the exit code is 0 if there is none. OPTION: as for `clearway serve`, such as
--innodb-buffer-pool-size=1G. Room for what recovery would write is taken where temporary files go (TMPDIR).
";

/// True: the data is sound. An error is one line for stderr.
pub fn check(arguments: &[String]) -> Result<bool, String> {
    let [datadir, rest @ ..] = arguments else {
        print!("{HELP}");
        return Err("check: which data directory?".into());
    };
    if datadir == "--help" {
        print!("{HELP}");
        return Ok(true);
    }
    let datadir = Path::new(datadir);
    let globals = options::parse(rest)?.globals;
    DataDir::require(datadir)?;
    let fail = |e: &dyn std::fmt::Display| format!("data directory '{}': {e}", datadir.display());
    let overlay = Overlay::mount(datadir, std::env::temp_dir()).map_err(|e| fail(&e))?;
    let held = DataDir::open(datadir)?;
    let options = EngineOptions { direct_io: false, ..serve::engine_options(&globals, datadir) };
    let engine = Engine::open(options, &mut |text| eprintln!("{text}")).map_err(|e| fail(&e))?;
    let report = ddl::check::check_data(&engine).map_err(|e| fail(&e.message))?;
    println!("{report}");
    // What closing writes is forgotten with the overlay.
    engine.close().map_err(|e| fail(&e))?;
    drop((engine, held));
    overlay.unmount();
    Ok(report.is_clean())
}
