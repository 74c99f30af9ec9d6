//! Fetches a copy of another server over a connection to it: COM_CLONE with words of our own, which only a Clearway knows.

use crate::client::Connection;
use backup::{Frame, Manifest, Request};
use types::codes::*;
use types::{SqlError, err};

const COM_CLONE: u8 = 0x20;

fn unexpected(e: &backup::Error) -> SqlError {
    err!(ER_CLONE_PROTOCOL, e)
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
        return Err(err!(
            ER_CLONE_DONOR,
            format!("{} is no Clearway: its files are of another kind", connection.server_version)
        ));
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
