//! The PROXY protocol: a proxy says first whose connection it passes on, in text (version 1) or in bytes (version 2).
//!
//! Only connections from listed networks may say so, and they have to: whoever else sends such a header gets the answer to a packet that
//! is none.

use protocol::{Peer, Stream};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

/// A header that is not there after so long does not come.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest line of version 1, with its end.
const LINE_BYTES_MAX: usize = 107;
/// What version 2 begins with.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// Signature, version and command, family, length.
const HEAD_BYTES: usize = 16;
/// Addresses and what else a proxy tells.
const BODY_BYTES_MAX: usize = 4096;

/// Addresses of proxies: those that have the first `bits` bits of `address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// `proxy_protocol_networks`: addresses and subnets, separated by commas or blanks; `*` is all of them.
    ///
    /// Errors: the word that is neither.
    pub fn list(text: &str) -> Result<Vec<Network>, String> {
        let words = text.split([',', ' ']).filter(|word| !word.is_empty());
        let networks = words.map(|word| match word {
            "*" => {
                Ok(vec![Network::new(Ipv4Addr::UNSPECIFIED.into(), 0), Network::new(Ipv6Addr::UNSPECIFIED.into(), 0)])
            }
            word => Network::parse(word).map(|network| vec![network]).ok_or_else(|| word.to_string()),
        });
        networks.collect::<Result<Vec<_>, _>>().map(|networks| networks.concat())
    }

    fn new(address: IpAddr, bits: u8) -> Network {
        Network { address, bits }
    }

    fn parse(word: &str) -> Option<Network> {
        let (address, bits) = word.split_once('/').map_or((word, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(most), |bits| bits.parse().ok().filter(|bits| *bits <= most))?;
        Some(Network::new(address, bits))
    }

    fn has(&self, ip: IpAddr) -> bool {
        let differ = |a: u128, b: u128, width: u8| (a ^ b).checked_shr(u32::from(width - self.bits)).unwrap_or(0) != 0;
        match (self.address, ip.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(ip)) => !differ(own.to_bits().into(), ip.to_bits().into(), 32),
            (IpAddr::V6(own), IpAddr::V6(ip)) => !differ(own.to_bits(), ip.to_bits(), 128),
            _ => false,
        }
    }
}

/// Whose connection it is: the peer, or the client that a proxy names.
///
/// Errors: the proxy says nothing in time, or what is no header.
pub fn client_of(stream: &Stream, peer: Peer, proxies: &[Network]) -> io::Result<Peer> {
    let Peer::Tcp(address) = peer else { return Ok(peer) };
    if !proxies.iter().any(|network| network.has(address.ip())) {
        return Ok(peer);
    }
    let deadline = Instant::now() + PATIENCE;
    let mut head = [0; HEAD_BYTES];
    read(stream, &mut head[..SIGNATURE.len()], deadline)?;
    if head[..SIGNATURE.len()] == SIGNATURE {
        read(stream, &mut head[SIGNATURE.len()..], deadline)?;
        let length = usize::from(u16::from_be_bytes([head[14], head[15]]));
        if length > BODY_BYTES_MAX {
            return Err(wrong());
        }
        let mut body = vec![0; length];
        read(stream, &mut body, deadline)?;
        return Ok(of_bytes(head[12], head[13], &body)?.map_or(peer, Peer::Tcp));
    }
    let mut line = head[..SIGNATURE.len()].to_vec();
    while !line.ends_with(b"\r\n") {
        if line.len() == LINE_BYTES_MAX {
            return Err(wrong());
        }
        let mut byte = [0];
        read(stream, &mut byte, deadline)?;
        line.push(byte[0]);
    }
    Ok(of_line(&line)?.map_or(peer, Peer::Tcp))
}

fn wrong() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "no PROXY header")
}

/// Fills the buffer, and reads no byte more: what follows is the client's.
fn read(stream: &Stream, mut buffer: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !buffer.is_empty() {
        match stream.recv(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => buffer = &mut buffer[n..],
            // The socket's own timeout is short.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// `PROXY TCP4 client server port port`. `None`: the proxy does not know, or speaks for itself.
fn of_line(line: &[u8]) -> io::Result<Option<SocketAddr>> {
    let line = std::str::from_utf8(line).map_err(|_| wrong())?.trim_end();
    let mut words = line.split(' ');
    if words.next() != Some("PROXY") {
        return Err(wrong());
    }
    let family = words.next().ok_or_else(wrong)?;
    if family == "UNKNOWN" {
        return Ok(None);
    }
    let mut next = || words.next().ok_or_else(wrong);
    let (client, _server, port) = (next()?, next()?, next()?);
    let address: IpAddr = client.parse().map_err(|_| wrong())?;
    let port = port.parse().map_err(|_| wrong())?;
    match (family, address) {
        ("TCP4", IpAddr::V4(_)) | ("TCP6", IpAddr::V6(_)) => Ok(Some(SocketAddr::new(address, port))),
        _ => Err(wrong()),
    }
}

/// The same of version 2.
fn of_bytes(version_and_command: u8, family: u8, body: &[u8]) -> io::Result<Option<SocketAddr>> {
    match version_and_command {
        // The proxy speaks for itself, as it does to see whether the server is there.
        0x20 => return Ok(None),
        0x21 => {}
        _ => return Err(wrong()),
    }
    let port = |at: usize| body.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]));
    let found = match family {
        0x11 => body.first_chunk::<4>().map(|b| IpAddr::from(*b)).zip(port(8)),
        0x21 => body.first_chunk::<16>().map(|b| IpAddr::from(*b)).zip(port(32)),
        // Not of TCP: nothing to go by.
        _ => return Ok(None),
    };
    found.map(|(address, port)| Some(SocketAddr::new(address, port))).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn networks_hold_their_addresses() {
        let list = Network::list("10.1.0.0/16, ::1 192.168.7.7").expect("networks");
        let holds = |text: &str| list.iter().any(|network| network.has(ip(text)));
        assert!(["10.1.255.3", "::1", "192.168.7.7", "::ffff:10.1.2.3"].into_iter().all(holds));
        assert!(!["10.2.0.1", "::2", "192.168.7.8"].into_iter().any(holds));
        let all = Network::list("*").expect("all");
        assert!(["1.2.3.4", "fe80::1"].into_iter().all(|text| all.iter().any(|network| network.has(ip(text)))));
        assert_eq!(Network::list("10.0.0.0/33"), Err("10.0.0.0/33".to_string()));
        assert_eq!(Network::list("here"), Err("here".to_string()));
        assert_eq!(Network::list(""), Ok(Vec::new()));
    }

    #[test]
    fn lines_name_the_client() {
        let of = |text: &str| of_line(text.as_bytes()).map_err(|_| ()).map(|found| found.map(|a| a.to_string()));
        assert_eq!(of("PROXY TCP4 1.2.3.4 5.6.7.8 99 3306\r\n"), Ok(Some("1.2.3.4:99".to_string())));
        assert_eq!(of("PROXY TCP6 ::2 ::3 99 3306\r\n"), Ok(Some("[::2]:99".to_string())));
        assert_eq!(of("PROXY UNKNOWN\r\n"), Ok(None));
        for wrong in ["PROXY TCP4 ::2 ::3 1 2\r\n", "PROXY\r\n", "GET / HTTP\r\n", "PROXY TCP4 1.2.3.4 5.6.7.8 x 1\r\n"]
        {
            assert_eq!(of(wrong), Err(()), "{wrong}");
        }
    }

    #[test]
    fn bytes_name_the_client() {
        let body = [1, 2, 3, 4, 5, 6, 7, 8, 0, 99, 12, 234];
        assert_eq!(of_bytes(0x21, 0x11, &body).expect("a header"), Some("1.2.3.4:99".parse().expect("an address")));
        assert_eq!(of_bytes(0x20, 0, &[]).expect("the proxy's own"), None);
        assert!(of_bytes(0x21, 0x11, &body[..9]).is_err());
        assert!(of_bytes(0x31, 0x11, &body).is_err());
    }
}
