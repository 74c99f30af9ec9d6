//! What is asked of the server that is to be copied: text in COM_CLONE, a line for each wish.

use crate::{Error, Manifest, Result};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Only what has changed since this copy.
    pub base: Option<Base>,
    /// Bytes of the data file in a second at most; 0: as many as come.
    pub bytes_a_second: u64,
}

/// What the server has to know of the copy that an increment is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base {
    pub id: String,
    pub server_uuid: String,
    pub log_id: u64,
    pub checkpoint: u64,
}

impl From<&Manifest> for Base {
    fn from(manifest: &Manifest) -> Base {
        let Manifest { id, server_uuid, log_id, checkpoint, .. } = manifest;
        Base { id: id.clone(), server_uuid: server_uuid.clone(), log_id: *log_id, checkpoint: *checkpoint }
    }
}

/// The first line: a server that does not know it refuses.
const FORMAT: &str = "clearway copy 1";

impl Request {
    pub fn print(&self) -> String {
        let mut text = format!("{FORMAT}\nbandwidth={}\n", self.bytes_a_second);
        if let Some(Base { id, server_uuid, log_id, checkpoint }) = &self.base {
            text.push_str(&format!("base={id}\nserver-uuid={server_uuid}\nlog-id={log_id}\ncheckpoint={checkpoint}\n"));
        }
        text
    }

    /// Errors: it is of another version.
    pub fn parse(text: &[u8]) -> Result<Request> {
        let unknown = || Error("the copy is asked for in words that are not known here".to_string());
        let text = std::str::from_utf8(text).map_err(|_| unknown())?;
        let mut lines = text.lines();
        if lines.next() != Some(FORMAT) {
            return Err(unknown());
        }
        let mut found = Request::default();
        for line in lines {
            let (name, value) = line.split_once('=').ok_or_else(unknown)?;
            let number = || value.parse::<u64>().map_err(|_| unknown());
            match name {
                "bandwidth" => found.bytes_a_second = number()?,
                "base" => found.base.get_or_insert_default().id = value.to_string(),
                "server-uuid" => found.base.get_or_insert_default().server_uuid = value.to_string(),
                "log-id" => found.base.get_or_insert_default().log_id = number()?,
                "checkpoint" => found.base.get_or_insert_default().checkpoint = number()?,
                _ => return Err(unknown()),
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_back() {
        let base = Base { id: "a".into(), server_uuid: "s".into(), log_id: u64::MAX, checkpoint: 7 };
        for request in [Request::default(), Request { base: Some(base), bytes_a_second: 9 }] {
            assert_eq!(Request::parse(request.print().as_bytes()), Ok(request));
        }
        assert!(Request::parse(b"").is_err() && Request::parse(b"clearway copy 1\nwhat=1\n").is_err());
    }
}
