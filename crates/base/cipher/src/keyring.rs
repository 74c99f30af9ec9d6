//! The keyring: master keys in a file, as MySQL's `component_keyring_file` keeps them, so that either server reads the other's.
//!
//! ```text
//! component_keyring_file.cnf, in the data directory    {"path": "/somewhere/else/keyring", "read_only": false}
//!
//! the keyring file    {"version": "1.0", "elements": [
//!                       {"user": "", "data_id": "INNODBKey-…-1", "data_type": "AES", "data": "hex digits", "extension": []}, …]}
//! ```

use crate::{Error, Result};
use io::{Directory, ErrorKind, File, OpenOptions};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// What says where the keyring is: MySQL's name, and its place for a configuration that is not shared by several servers.
pub const CONFIG_FILE: &str = "component_keyring_file.cnf";

/// Where the keyring file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyringConfig {
    pub path: PathBuf,
    pub read_only: bool,
}

impl KeyringConfig {
    /// What the data directory's configuration says; `None`: there is none.
    ///
    /// Errors: [`Error::Damaged`] when it is no such configuration; [`Error::Io`].
    pub fn load(directory: &Directory) -> Result<Option<KeyringConfig>> {
        let path = directory.join(CONFIG_FILE);
        let Some(text) = read(&path)? else { return Ok(None) };
        let damaged = |why: &str| Error::Damaged { file: path.clone(), why: why.into() };
        let config: Value = serde_json::from_slice(&text).map_err(|e| damaged(&e.to_string()))?;
        let keyring =
            config["path"].as_str().filter(|p| !p.is_empty()).ok_or_else(|| damaged("\"path\" is missing"))?;
        let read_only = match &config["read_only"] {
            Value::Null => false,
            Value::Bool(read_only) => *read_only,
            _ => return Err(damaged("\"read_only\" is neither true nor false")),
        };
        // A name without directory lies in the data directory.
        Ok(Some(KeyringConfig { path: directory.join(keyring), read_only }))
    }

    /// See [`remove_unfinished`]. A directory that is missing has nothing.
    pub(crate) fn remove_unfinished(&self) -> Result<()> {
        let (parent, name) = place_of(&self.path);
        match Directory::open(parent) {
            Ok(directory) => remove_unfinished(&directory, &name),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The directory of a file, and its name there.
fn place_of(path: &Path) -> (&Path, String) {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    (parent, path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
}

/// The keys of a keyring file.
#[derive(Debug, Default)]
pub(crate) struct Keyring {
    /// The file's elements as they stand there, those too that are not ours.
    elements: Vec<Value>,
}

impl Keyring {
    /// Errors: [`Error::Damaged`], [`Error::Io`]. A file that is missing or empty has no keys.
    pub fn load(path: &Path) -> Result<Keyring> {
        let text = read(path)?.unwrap_or_default();
        if text.is_empty() {
            return Ok(Keyring::default());
        }
        let damaged = |why: String| Error::Damaged { file: path.into(), why };
        let file: Value = serde_json::from_slice(&text).map_err(|e| damaged(e.to_string()))?;
        if file["version"] != "1.0" {
            return Err(damaged("a keyring of version 1.0 is expected".into()));
        }
        let elements = file["elements"].as_array().ok_or_else(|| damaged("\"elements\" is missing".into()))?;
        Ok(Keyring { elements: elements.clone() })
    }

    /// Replaces the file, as a whole or not at all.
    pub fn store(&self, path: &Path) -> Result<()> {
        let mut file = Map::new();
        file.insert("version".into(), json!("1.0"));
        file.insert("elements".into(), json!(self.elements));
        let (parent, name) = place_of(path);
        replace(&Directory::open(parent)?, &name, Value::Object(file).to_string().as_bytes())
    }

    pub fn get(&self, id: &str) -> Option<Vec<u8>> {
        let element = self.elements.iter().find(|element| element["data_id"] == id && element["user"] == "")?;
        decode_hex(element["data"].as_str()?)
    }

    /// Puts a key of AES there, in place of one of the same name.
    pub fn put(&mut self, id: &str, key: &[u8]) {
        self.remove(id);
        let data: String = key.iter().map(|byte| format!("{byte:02X}")).collect();
        self.elements.push(json!({"user": "", "data_id": id, "data_type": "AES", "data": data, "extension": []}));
    }

    pub fn remove(&mut self, id: &str) {
        self.elements.retain(|element| element["data_id"] != id || element["user"] != "");
    }

    /// Name and owner of each key.
    pub fn listed(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        self.elements.iter().map(|element| (text(&element["data_id"]), text(&element["user"]))).collect()
    }
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

/// The bytes of a file; `None`: there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let file = match File::open(path, OpenOptions::read(sync::waits::Wait::MiscFile)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut bytes = vec![0; file.len()? as usize];
    file.read_at(&mut bytes, 0)?;
    Ok(Some(bytes))
}

/// Puts a file of these bytes, its owner's alone, in place of what has the name: after a crash there is the one or the other.
pub(crate) fn replace(directory: &Directory, name: &str, bytes: &[u8]) -> Result<()> {
    let new = unfinished(name);
    let file = directory.open_file(
        &new,
        OpenOptions { truncate: true, private: true, ..OpenOptions::create(sync::waits::Wait::MiscFile) },
    )?;
    file.write_at(bytes, 0)?;
    file.sync_all()?;
    drop(file);
    Ok(directory.rename(&new, name)?)
}

/// What a replacement is called until it is whole.
fn unfinished(name: &str) -> String {
    format!("{name}.new")
}

/// Removes what a crash left of [`replace`]: keys are to stand in one place.
pub(crate) fn remove_unfinished(directory: &Directory, name: &str) -> Result<()> {
    let new = unfinished(name);
    if directory.contains(&new)? {
        directory.remove(&new)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use io::faults::SimDisk;

    /// Written by MySQL's component.
    const MYSQLS: &str = concat!(
        r#"{"version":"1.0","elements":[{"user":"","#,
        r#""data_id":"INNODBKey-42671137-e7e4-11f1-ac59-02fc00000001-1","#,
        r#""data_type":"AES","#,
        r#""data":"809EDFF3B1C1786B26210CF8886732E7CCCFF4E4EC706E38E3ABADD0505DBB08","extension":[]},"#,
        r#"{"user":"me@%","data_id":"other","data_type":"SECRET","#,
        r#""data":"00","extension":[]}]}"#,
    );

    fn write(directory: &Directory, name: &str, text: &str) {
        let file = directory
            .open_file(name, OpenOptions { truncate: true, ..OpenOptions::create(sync::waits::Wait::MiscFile) })
            .unwrap();
        file.write_at(text.as_bytes(), 0).unwrap();
    }

    #[test]
    fn mysqls_keyring_is_read_and_goes_on() {
        let disk = SimDisk::mount("/sim/keyring", 1);
        let directory = Directory::open(disk.root()).unwrap();
        write(&directory, "keyring", MYSQLS);
        let path = directory.join("keyring");
        let mut keyring = Keyring::load(&path).unwrap();
        let id = "INNODBKey-42671137-e7e4-11f1-ac59-02fc00000001-1";
        assert_eq!(keyring.get(id).unwrap()[..3], [0x80, 0x9e, 0xdf]);
        assert_eq!(keyring.get("other"), None, "it is somebody's own");
        keyring.put("mine", &[1, 0xab]);
        keyring.put("mine", &[2, 0xab]);
        keyring.store(&path).unwrap();
        let keyring = Keyring::load(&path).unwrap();
        assert_eq!(keyring.get("mine"), Some(vec![2, 0xab]));
        assert_eq!(keyring.get(id).unwrap().len(), 32);
        let owned = |id: &str, user: &str| (id.to_string(), user.to_string());
        assert_eq!(keyring.listed(), [owned(id, ""), owned("other", "me@%"), owned("mine", "")]);
        disk.unmount();
    }

    #[test]
    fn what_is_no_keyring_is_refused() {
        let disk = SimDisk::mount("/sim/keyring-bad", 1);
        let directory = Directory::open(disk.root()).unwrap();
        let path = directory.join("keyring");
        assert!(Keyring::load(&path).unwrap().listed().is_empty());
        for text in ["{", "[]", r#"{"version":"2.0","elements":[]}"#, r#"{"version":"1.0"}"#] {
            write(&directory, "keyring", text);
            assert!(matches!(Keyring::load(&path), Err(Error::Damaged { .. })), "{text}");
        }
        disk.unmount();
    }

    #[test]
    fn the_configuration_is_mysqls() {
        let disk = SimDisk::mount("/sim/keyring-config", 1);
        let directory = Directory::open(disk.root()).unwrap();
        let load = || KeyringConfig::load(&directory);
        assert_eq!(load().unwrap(), None);
        write(&directory, CONFIG_FILE, r#"{"path": "/elsewhere/keys", "read_only": true}"#);
        assert_eq!(load().unwrap(), Some(KeyringConfig { path: "/elsewhere/keys".into(), read_only: true }));
        write(&directory, CONFIG_FILE, r#"{"path": "keys"}"#);
        assert_eq!(load().unwrap(), Some(KeyringConfig { path: directory.join("keys"), read_only: false }));
        for text in ["", "{}", r#"{"path": ""}"#, r#"{"path": "k", "read_only": "no"}"#] {
            write(&directory, CONFIG_FILE, text);
            assert!(matches!(load(), Err(Error::Damaged { .. })), "{text}");
        }
        disk.unmount();
    }
}
