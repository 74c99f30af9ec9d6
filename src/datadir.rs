//! The data directory: whose it is, and that nobody else uses it.
//!
//! ```text
//!   clearway.id     "clearway 1\nserver-uuid=...\n"     made first, so that a directory without it and not empty is foreign
//!   clearway.lock   locked while a server runs
//! ```

use io::{File, OpenOptions};
use std::path::{Path, PathBuf};

const ID_FILE: &str = "clearway.id";
const LOCK_FILE: &str = "clearway.lock";
/// The first line of the id file: name and format of the directory.
const FORMAT: &str = "clearway 1";

/// An opened data directory. The lock ends with the process or this value.
pub struct DataDir {
    pub path: PathBuf,
    pub uuid: String,
    _lock: File,
}

impl DataDir {
    /// An error unless there is data that a server has made. Changes nothing.
    pub fn require(path: &Path) -> Result<(), String> {
        match path.join(ID_FILE).exists() {
            true => Ok(()),
            false => Err(format!("'{}' is no data directory: there is no '{ID_FILE}'", path.display())),
        }
    }

    /// Makes the directory when it is missing. Errors are one line for stderr.
    pub fn open(path: &Path) -> Result<DataDir, String> {
        let shown = path.display();
        let fail = |what: &str, e: &dyn std::fmt::Display| format!("data directory '{shown}': {what}: {e}");
        std::fs::create_dir_all(path).map_err(|e| fail("cannot be made", &e))?;
        let id_file = path.join(ID_FILE);
        if !id_file.exists() {
            let mut entries = std::fs::read_dir(path).map_err(|e| fail("cannot be read", &e))?;
            let foreign = entries.find_map(|entry| match entry {
                // Whoever wants the first table encrypted says before where its keys go.
                Ok(entry) if entry.file_name() == cipher::CONFIG_FILE => None,
                Ok(entry) if entry.file_name() != LOCK_FILE => Some(entry.file_name().to_string_lossy().into_owned()),
                _ => None,
            });
            if let Some(name) = foreign {
                return Err(format!(
                    "data directory '{shown}' is not empty and not ours: it holds '{name}' and no '{ID_FILE}'"
                ));
            }
        }
        let lock = lock(path)?;
        if !id_file.exists() {
            adopt(path).map_err(|e| fail("cannot be written", &e))?;
        }
        let text = std::fs::read_to_string(&id_file).map_err(|e| fail("cannot be read", &e))?;
        let mut lines = text.lines();
        if lines.next() != Some(FORMAT) {
            return Err(format!("data directory '{shown}': '{ID_FILE}' is damaged or of another version"));
        }
        let uuid = lines.find_map(|line| line.strip_prefix("server-uuid="));
        let uuid = uuid.ok_or_else(|| format!("data directory '{shown}': '{ID_FILE}' has no server-uuid"))?.to_string();
        Ok(DataDir { path: path.to_path_buf(), uuid, _lock: lock })
    }

    /// Makes a directory for data that is about to come, or takes one that is empty but for what says where keys are. No server takes it
    /// before [`DataDir::complete`].
    pub fn prepare(path: &Path) -> Result<DataDir, String> {
        let shown = path.display();
        let fail = |what: &str, e: &dyn std::fmt::Display| format!("'{shown}' {what}: {e}");
        std::fs::create_dir_all(path).map_err(|e| fail("cannot be made", &e))?;
        for entry in std::fs::read_dir(path).map_err(|e| fail("cannot be read", &e))? {
            let name = entry.map_err(|e| fail("cannot be read", &e))?.file_name();
            if name != cipher::CONFIG_FILE {
                return Err(format!("'{shown}' is not empty: it holds '{}'", name.to_string_lossy()));
            }
        }
        let uuid = new_uuid().map_err(|e| fail("cannot be named", &e))?;
        Ok(DataDir { path: path.to_path_buf(), uuid, _lock: lock(path)? })
    }

    /// All of the data has come.
    pub fn complete(&self) -> Result<(), String> {
        identify(&self.path, &self.uuid).map_err(|e| format!("'{}' cannot be written: {e}", self.path.display()))
    }

    /// Nothing is left of data that has not come whole.
    pub fn clear(self) {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name() != cipher::CONFIG_FILE) {
            // What cannot be removed is no data directory all the same.
            let _ = match entry.path().is_dir() {
                true => std::fs::remove_dir_all(entry.path()),
                false => std::fs::remove_file(entry.path()),
            };
        }
        let _ = std::fs::remove_dir(&self.path);
    }
}

fn lock(path: &Path) -> Result<File, String> {
    let shown = path.display();
    let create = OpenOptions { write: true, create: true, ..OpenOptions::read(sync::waits::Wait::MiscFile) };
    let lock = File::open(path.join(LOCK_FILE), create)
        .map_err(|e| format!("data directory '{shown}': cannot be locked: {e}"))?;
    lock.lock_exclusive().map_err(|_| format!("data directory '{shown}' is in use by another server"))?;
    Ok(lock)
}

/// Makes what is in the directory the data of a server with an identity of its own.
pub fn adopt(path: &Path) -> std::io::Result<()> {
    identify(path, &new_uuid()?)
}

fn identify(path: &Path, uuid: &str) -> std::io::Result<()> {
    replace(path, ID_FILE, &format!("{FORMAT}\nserver-uuid={uuid}\n"))
}

/// In a directory that a clone has taken the place of: what the clone said of itself.
const CLONED_FILE: &str = "clearway.cloned";
/// In the folder of a clone, when the data that it replaces are gone: its files are being moved.
const MOVING_FILE: &str = "clearway.moving";

/// Takes a clone that is whole in place of the data that are there, and drops one that is not. May be cut short at any place and
/// begun anew. What the clone that was taken last said of itself, if there ever was one.
pub fn take_clone(path: &Path) -> Result<Option<backup::Manifest>, String> {
    let fail = |e: std::io::Error| format!("data directory '{}': the clone cannot be taken: {e}", path.display());
    let clone = path.join(backup::CLONE_FOLDER);
    let moving = clone.join(MOVING_FILE);
    let sync = |directory: &Path| std::fs::File::open(directory)?.sync_all();
    if clone.join(ID_FILE).exists() {
        drop_data(path, &clone).and_then(|()| sync(path)).map_err(fail)?;
        std::fs::rename(clone.join(ID_FILE), &moving).and_then(|()| sync(&clone)).map_err(fail)?;
    }
    if moving.exists() {
        for entry in std::fs::read_dir(&clone).map_err(fail)? {
            let name = entry.map_err(fail)?.file_name();
            let to: &std::ffi::OsStr =
                if name == backup::MANIFEST_FILE { CLONED_FILE.as_ref() } else { name.as_os_str() };
            if name != MOVING_FILE {
                std::fs::rename(clone.join(&name), path.join(to)).map_err(fail)?;
            }
        }
        sync(path).map_err(fail)?;
    }
    if clone.exists() {
        std::fs::remove_dir_all(&clone).map_err(fail)?;
    }
    match std::fs::read_to_string(path.join(CLONED_FILE)) {
        Ok(text) => backup::Manifest::parse(&text).map(Some).map_err(|e| format!("'{CLONED_FILE}': {e}")),
        Err(_) => Ok(None),
    }
}

/// Removes what a clone has of its own: data, log, keys of the data, binary log; and relay logs, which are of the data before.
fn drop_data(path: &Path, clone: &Path) -> std::io::Result<()> {
    let manifest = std::fs::read_to_string(clone.join(backup::MANIFEST_FILE))?;
    let manifest = backup::Manifest::parse(&manifest).map_err(std::io::Error::other)?;
    let base = manifest.place.and_then(|place| place.file.rsplit_once('.').map(|(base, _)| format!("{base}.")));
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let of_binlog = base.as_ref().and_then(|base| name.strip_prefix(base)).is_some_and(|rest| {
            ["index", "state"].contains(&rest) || !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
        });
        let of_data =
            [engine::DATA_FILE, engine::DOUBLEWRITE_FILE, cipher::FILE_NAME, binlog::files::EXECUTED_FILE, CLONED_FILE];
        let of_data = of_data.contains(&name.as_str());
        if of_data || of_binlog || name.contains("-relay-bin") {
            std::fs::remove_file(entry.path())?;
        } else if name == engine::LOG_DIRECTORY {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Gives a file of the directory another text; whole, durable, or as it was.
pub fn replace(directory: &Path, name: &str, text: &str) -> std::io::Result<()> {
    let temporary = directory.join(format!("{name}.new"));
    std::fs::write(&temporary, text)?;
    std::fs::File::open(&temporary)?.sync_all()?;
    std::fs::rename(&temporary, directory.join(name))?;
    std::fs::File::open(directory)?.sync_all()
}

/// A random UUID.
fn new_uuid() -> std::io::Result<String> {
    let mut b = [0u8; 16];
    getrandom::fill(&mut b).map_err(|e| std::io::Error::other(format!("no random bytes from the system: {e}")))?;
    b[6] = b[6] & 0x0f | 0x40;
    b[8] = b[8] & 0x3f | 0x80;
    let hex: String = b.iter().map(|x| format!("{x:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_ours_or_refused() {
        let base = std::env::temp_dir().join(format!("clearway-datadir-{}", std::process::id()));
        let (ours, foreign) = (base.join("ours"), base.join("foreign"));
        std::fs::create_dir_all(&foreign).unwrap();
        std::fs::write(foreign.join("ibdata1"), "x").unwrap();
        let first = DataDir::open(&ours).unwrap();
        assert!(DataDir::open(&ours).err().unwrap().contains("in use"));
        let uuid = first.uuid.clone();
        drop(first);
        assert_eq!(DataDir::open(&ours).unwrap().uuid, uuid);
        assert!(DataDir::open(&foreign).err().unwrap().contains("not ours"));
        std::fs::write(ours.join(ID_FILE), "clearway 99\n").unwrap();
        assert!(DataDir::open(&ours).err().unwrap().contains("another version"));
        std::fs::remove_dir_all(&base).unwrap();
    }
}
