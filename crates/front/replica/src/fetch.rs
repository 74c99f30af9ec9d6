//! Fetches a copy of another server over a connection to it: COM_CLONE with words of our own, which only a Clearway knows.

use crate::client::Connection;
use backup::{Frame, Manifest, Request};
use types::SqlError;

const COM_CLONE: u8 = 0x20;
const DONOR: u16 = 3862;
const UNEXPECTED: u16 = 3863;

fn unexpected(e: &backup::Error) -> SqlError {
    SqlError::new(UNEXPECTED, format!("Clone received unexpected response from Donor : {e}."))
}

/// Gives all frames to `take`; the last one, END, is answered. Errors: the server's; 3862, it is no Clearway; 3863, it answers what is not
/// understood; 2013; those of `take`.
pub fn fetch(
    connection: &mut Connection,
    request: &Request,
    take: &mut dyn FnMut(&Frame<'_>) -> Result<(), SqlError>,
) -> Result<Manifest, SqlError> {
    let known = connection.value("SHOW VARIABLES LIKE 'clearway_address_space_size'")?;
    if known.is_none() {
        let text =
            format!("Clone Donor Error: {} is no Clearway: its files are of another kind.", connection.server_version);
        return Err(SqlError::new(DONOR, text));
    }
    connection.command(COM_CLONE, request.print().as_bytes())?;
    let mut packet = Vec::new();
    let mut end = None;
    while connection.event(&mut packet)? {
        let frame = Frame::parse(&packet[1..]).map_err(|e| unexpected(&e))?;
        if let Frame::End(manifest) = &frame {
            end = Some(manifest.clone());
        }
        take(&frame)?;
    }
    end.ok_or_else(|| unexpected(&backup::Error("the copy has no end".to_string())))
}
