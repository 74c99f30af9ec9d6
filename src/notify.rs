//! What the service manager is told, as `sd_notify` does it: a datagram to the socket that NOTIFY_SOCKET names. Without that variable
//! nobody is told.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

pub const READY: &str = "READY=1\nSTATUS=ready for connections";
pub const STOPPING: &str = "STOPPING=1\nSTATUS=shutting down";

/// Who does not listen is not told: it changes nothing here.
pub fn tell(state: &str) {
    let Some(place) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let place = place.into_encoded_bytes();
    let address = match place.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(std::path::Path::new(&*String::from_utf8_lossy(&place))),
    };
    if let (Ok(socket), Ok(address)) = (UnixDatagram::unbound(), address) {
        let _ = socket.send_to_addr(state.as_bytes(), &address);
    }
}

/// What the server does until it is ready.
pub fn status(text: &str) {
    tell(&format!("STATUS={text}"));
}
