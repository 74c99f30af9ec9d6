//! What a copy says of itself.
//!
//! ```text
//!   clearway backup 1
//!   name=value            a line each; lines of unknown names are refused, since they may matter
//!   crc32=xxxxxxxx        of all that stands before it
//! ```

use crate::{Error, Result};

/// In the directory of a copy.
pub const MANIFEST_FILE: &str = "clearway.backup";
const FORMAT: &str = "clearway backup 1";

/// The place in the binary log that a copy stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    /// Where the first event behind the copy begins.
    pub position: u64,
    /// All that the copy has; empty: transactions have no GTIDs.
    pub gtid_executed: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Of this copy.
    pub id: String,
    /// Of the copy that this one is what has changed since; `None`: it is whole.
    pub parent: Option<String>,
    /// The server that was copied, and its log: an increment and its base have the same.
    pub server_uuid: String,
    pub log_id: u64,
    pub version: String,
    /// Recovery begins here; an increment of this copy has what has changed from here on.
    pub checkpoint: u64,
    /// All commits below are in the copy.
    pub end: u64,
    /// Pages of the data file.
    pub pages: u64,
    /// Pages that are in this copy and are not of zeros.
    pub used_pages: u64,
    /// `None`: the server has no binary log.
    pub place: Option<Place>,
    /// Where it was fetched from by CLONE INSTANCE, host and port.
    pub source: Option<String>,
    /// Nothing that was committed later, by the server's clock, is in it; microseconds since 1970.
    pub at_us: u64,
}

impl Manifest {
    pub fn print(&self) -> String {
        let mut text = format!("{FORMAT}\n");
        let mut line = |name: &str, value: &dyn std::fmt::Display| text.push_str(&format!("{name}={value}\n"));
        line("id", &self.id);
        if let Some(parent) = &self.parent {
            line("parent", parent);
        }
        line("server-uuid", &self.server_uuid);
        line("log-id", &self.log_id);
        line("version", &self.version);
        line("checkpoint", &self.checkpoint);
        line("end", &self.end);
        line("pages", &self.pages);
        line("used-pages", &self.used_pages);
        if let Some(place) = &self.place {
            line("binlog-file", &place.file);
            line("binlog-position", &place.position);
            line("gtid-executed", &place.gtid_executed.replace('\n', ""));
        }
        if let Some(source) = &self.source {
            line("source", source);
        }
        line("at-us", &self.at_us);
        let crc = crc32fast::hash(text.as_bytes());
        text.push_str(&format!("crc32={crc:08x}\n"));
        text
    }

    /// Errors: it is damaged, or of another version.
    pub fn parse(text: &str) -> Result<Manifest> {
        let damaged = || Error("what the backup says of itself is damaged".to_string());
        let (body, crc) = text.rsplit_once("crc32=").ok_or_else(damaged)?;
        if u32::from_str_radix(crc.trim_end(), 16) != Ok(crc32fast::hash(body.as_bytes())) {
            return Err(damaged());
        }
        let mut lines = body.lines();
        if lines.next() != Some(FORMAT) {
            return Err(Error("the backup is of another version of clearway".to_string()));
        }
        let mut found = Manifest::default();
        for line in lines {
            let (name, value) = line.split_once('=').ok_or_else(damaged)?;
            let number = || value.parse::<u64>().map_err(|_| damaged());
            match name {
                "id" => found.id = value.to_string(),
                "parent" => found.parent = Some(value.to_string()),
                "server-uuid" => found.server_uuid = value.to_string(),
                "log-id" => found.log_id = number()?,
                "version" => found.version = value.to_string(),
                "checkpoint" => found.checkpoint = number()?,
                "end" => found.end = number()?,
                "pages" => found.pages = number()?,
                "used-pages" => found.used_pages = number()?,
                "binlog-file" => found.place.get_or_insert_default().file = value.to_string(),
                "binlog-position" => found.place.get_or_insert_default().position = number()?,
                "gtid-executed" => found.place.get_or_insert_default().gtid_executed = value.to_string(),
                "source" => found.source = Some(value.to_string()),
                "at-us" => found.at_us = number()?,
                _ => return Err(Error("the backup is of another version of clearway".to_string())),
            }
        }
        Ok(found)
    }

    /// May this copy be laid over `before`? The error says why not.
    pub fn follows(&self, before: &Manifest) -> Result<()> {
        let refused = |why: String| Err(Error(why));
        match &self.parent {
            None => refused(format!("backup {} is whole, not an increment: name it first, or alone", self.id)),
            Some(parent) if *parent != before.id => refused(format!(
                "backup {} is an increment of backup {parent}, not of backup {}: name base and increments in the \
                 order in which they were made",
                self.id, before.id
            )),
            Some(_) if (self.log_id, &self.server_uuid) != (before.log_id, &before.server_uuid) => {
                refused(format!("backup {} is of another server than backup {}", self.id, before.id))
            }
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_back_and_no_damaged_one_does() {
        let whole = Manifest {
            id: "a".into(),
            server_uuid: "s".into(),
            log_id: u64::MAX,
            checkpoint: 5,
            end: 9,
            pages: 64,
            used_pages: 3,
            at_us: 1,
            ..Manifest::default()
        };
        let place = Place { file: "binlog.000002".into(), position: 157, gtid_executed: "u:1-5,v:1".into() };
        let increment = Manifest { id: "b".into(), parent: Some("a".into()), place: Some(place), ..whole.clone() };
        for manifest in [&whole, &increment] {
            let text = manifest.print();
            assert_eq!(Manifest::parse(&text).as_ref(), Ok(manifest));
            assert!((0..text.len() - 1).all(|len| Manifest::parse(&text[..len]).is_err()));
            assert!(Manifest::parse(&text.replace("pages=64", "pages=65")).is_err());
        }
        assert_eq!(increment.follows(&whole), Ok(()));
        assert!(whole.follows(&increment).is_err() && increment.follows(&increment).is_err());
        assert!(increment.follows(&Manifest { log_id: 1, ..whole }).is_err());
    }
}
