//! Host patterns of accounts: which clients they cover, and which of two comes first.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where a client comes from, as accounts see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// `localhost`, a resolved name, or the address as text.
    pub host: String,
    /// `None`: Unix socket.
    pub address: Option<IpAddr>,
}

impl Client {
    /// A client of the Unix socket, 127.0.0.1 or ::1 is `localhost`.
    pub fn new(address: Option<IpAddr>) -> Client {
        match address.map(|a| a.to_canonical()) {
            Some(ip) if ip != Ipv4Addr::LOCALHOST && ip != Ipv6Addr::LOCALHOST => {
                Client { host: ip.to_string(), address: Some(ip) }
            }
            address => Client { host: "localhost".to_string(), address },
        }
    }
}

/// The host part of an account name: a name, an address, `%` and `_` wildcards, `address/netmask` or `address/bits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Exact(String),
    Wild(String),
    Network { network: u32, mask: u32 },
}

impl HostPattern {
    pub fn new(text: &str) -> HostPattern {
        let text = if text.is_empty() { "%" } else { text };
        let kind = match network(text) {
            Some((network, mask)) => Kind::Network { network, mask },
            None if text.contains(['%', '_']) => Kind::Wild(text.to_ascii_lowercase()),
            None => Kind::Exact(text.to_ascii_lowercase()),
        };
        HostPattern { kind }
    }

    pub fn matches(&self, client: &Client) -> bool {
        let address = client.address.map(|a| a.to_string());
        match &self.kind {
            Kind::Exact(name) => {
                name.eq_ignore_ascii_case(&client.host) || address.is_some_and(|a| name.eq_ignore_ascii_case(&a))
            }
            Kind::Wild(pattern) => {
                let like = |text: &str| like(pattern.as_bytes(), text.to_ascii_lowercase().as_bytes());
                like(&client.host) || address.is_some_and(|a| like(&a))
            }
            Kind::Network { network, mask } => match client.address {
                Some(IpAddr::V4(ip)) => ip.to_bits() & mask == *network,
                _ => false,
            },
        }
    }

    /// Most specific first: exact, then narrow networks, then wildcards, those with a longer fixed beginning earlier; `%` last.
    pub fn rank(&self) -> impl Ord + use<> {
        match &self.kind {
            Kind::Exact(_) => (0, Reverse(0), Reverse(0)),
            Kind::Network { mask, .. } => (1, Reverse(mask.count_ones() as usize), Reverse(0)),
            Kind::Wild(pattern) => {
                let fixed = pattern.find(['%', '_']).unwrap_or(pattern.len());
                (2, Reverse(fixed), Reverse(pattern.len()))
            }
        }
    }
}

/// `198.51.100.0/255.255.255.0` or `198.51.100.0/24`. `None`: no network, the text is taken as a name.
fn network(text: &str) -> Option<(u32, u32)> {
    let (address, mask) = text.split_once('/')?;
    let address = address.parse::<Ipv4Addr>().ok()?.to_bits();
    let mask = match mask.parse::<u32>() {
        Ok(bits @ 0..=32) => u32::MAX.checked_shl(32 - bits).unwrap_or(0),
        Ok(_) => return None,
        Err(_) => mask.parse::<Ipv4Addr>().ok()?.to_bits(),
    };
    (address & mask == address).then_some((address, mask))
}

/// LIKE with `%`, `_` and the escape `\`.
pub(crate) fn like(pattern: &[u8], text: &[u8]) -> bool {
    // Greedy with one point of return: the last `%`.
    let (mut p, mut t) = (0, 0);
    let mut retry = None;
    loop {
        match pattern.get(p) {
            Some(b'%') => {
                retry = Some((p, t));
                p += 1;
                continue;
            }
            Some(b'_') if t < text.len() => {
                (p, t) = (p + 1, t + 1);
                continue;
            }
            Some(b'\\') if p + 1 < pattern.len() && text.get(t) == Some(&pattern[p + 1]) => {
                (p, t) = (p + 2, t + 1);
                continue;
            }
            Some(byte) if *byte != b'\\' && text.get(t) == Some(byte) => {
                (p, t) = (p + 1, t + 1);
                continue;
            }
            None if t == text.len() => return true,
            _ => {}
        }
        match retry {
            Some((percent, at)) if at < text.len() => {
                retry = Some((percent, at + 1));
                (p, t) = (percent + 1, at + 1);
            }
            _ => return false,
        }
    }
}

/// A part of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Byte(u8),
    /// `_`
    One,
    /// `%`
    Many,
}

fn parts(pattern: &[u8]) -> Vec<Part> {
    let mut bytes = pattern.iter().copied();
    let mut out = Vec::with_capacity(pattern.len());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => Part::Many,
            b'_' => Part::One,
            b'\\' => Part::Byte(bytes.next().unwrap_or(byte)),
            byte => Part::Byte(byte),
        });
    }
    out
}

/// Does `pattern` match all that `other`, a pattern too, matches?
pub(crate) fn covers(pattern: &[u8], other: &[u8]) -> bool {
    let (pattern, other) = (parts(pattern), parts(other));
    // Greedy with one point of return, as `like`: the last `%`, which alone covers another one.
    let (mut p, mut o) = (0, 0);
    let mut retry = None;
    loop {
        match (pattern.get(p), other.get(o)) {
            (Some(Part::Many), _) => {
                retry = Some((p, o));
                p += 1;
                continue;
            }
            (None, None) => return true,
            (Some(Part::One), Some(Part::One | Part::Byte(_))) => {
                (p, o) = (p + 1, o + 1);
                continue;
            }
            (Some(Part::Byte(a)), Some(Part::Byte(b))) if a == b => {
                (p, o) = (p + 1, o + 1);
                continue;
            }
            _ => {}
        }
        match retry {
            Some((percent, at)) if at < other.len() => {
                retry = Some((percent, at + 1));
                (p, o) = (percent + 1, at + 1);
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(ip: &str) -> Client {
        Client::new(Some(ip.parse().unwrap()))
    }

    #[test]
    fn patterns_cover_the_clients_that_they_name() {
        let matches = |pattern: &str, ip: &str| HostPattern::new(pattern).matches(&client(ip));
        assert!(matches("localhost", "127.0.0.1") && matches("localhost", "::1") && matches("127.0.0.1", "127.0.0.1"));
        assert!(HostPattern::new("LocalHost").matches(&Client::new(None)));
        assert!(!HostPattern::new("127.0.0.1").matches(&Client::new(None)));
        assert!(matches("%", "10.1.2.3") && matches("", "10.1.2.3") && matches("10.1.%", "10.1.2.3"));
        assert!(matches("10._.2.3", "10.1.2.3") && !matches("10._.2.3", "10.11.2.3"));
        assert!(matches("10.1.0.0/255.255.0.0", "10.1.2.3") && !matches("10.1.0.0/255.255.0.0", "10.2.2.3"));
        assert!(matches("10.1.2.0/24", "10.1.2.3") && !matches("10.1.2.0/24", "10.1.3.3"));
        assert!(!matches("10.1.2.3/24", "10.1.2.3"), "the address has bits outside the mask");
        assert!(matches("10.1.2.3", "::ffff:10.1.2.3"), "an IPv4 client of an IPv6 socket");
    }

    #[test]
    fn the_more_specific_pattern_ranks_first() {
        let mut patterns = ["%", "10.%", "10.1.0.0/16", "10.1.2.3", "10.1.2.0/24", "10.1.%"];
        patterns.sort_by_key(|p| HostPattern::new(p).rank());
        assert_eq!(patterns, ["10.1.2.3", "10.1.2.0/24", "10.1.0.0/16", "10.1.%", "10.%", "%"]);
    }

    #[test]
    fn a_pattern_covers_narrower_ones() {
        let covered =
            [(r"a\_b", r"a\_b"), ("a_b", r"a\_b"), ("a_b", "axb"), ("a_b", "a_b"), ("a%z", "a%y%z"), ("a%z", "a_z")];
        covered.iter().for_each(|(p, o)| assert!(covers(p.as_bytes(), o.as_bytes()), "{p} {o}"));
        let beyond = [
            (r"a\_b", "a_b"),
            (r"a\_b", "axb"),
            ("a_b", "a%b"),
            ("m_", "m%"),
            ("a%z", "a%"),
            ("a%z", "%z"),
            ("a%z", "a%z_"),
        ];
        beyond.iter().for_each(|(p, o)| assert!(!covers(p.as_bytes(), o.as_bytes()), "{p} {o}"));
    }

    #[test]
    fn like_backtracks() {
        assert!(like(b"%a%b", b"xaxbxab") && !like(b"%a%b", b"xaxbxa"));
        assert!(like(b"my\\_db", b"my_db") && !like(b"my\\_db", b"myxdb"));
        assert!(like(b"", b"") && like(b"%%", b"") && !like(b"_", b""));
    }
}
