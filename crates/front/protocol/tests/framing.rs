//! Packets over a socket pair: sizes around the 16 MiB border, dribbled bytes, bounds, pipelining.

use protocol::{Connection, Peer, ReadOutcome, Stream};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

const PART: usize = 0xff_ffff;
const LONG: Option<Duration> = Some(Duration::from_secs(30));

fn pair() -> (UnixStream, Connection) {
    let (client, server) = UnixStream::pair().unwrap();
    (client, Connection::new(Stream::Unix(server), Peer::Unix).unwrap())
}

fn frame(payload: &[u8], first_seq: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let mut seq = first_seq;
    let mut parts = payload.chunks(PART);
    loop {
        let part = parts.next().unwrap_or(&[]);
        out.extend_from_slice(&(part.len() as u32).to_le_bytes()[..3]);
        out.push(seq);
        out.extend_from_slice(part);
        seq = seq.wrapping_add(1);
        if part.len() < PART {
            return out;
        }
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i as u32).wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect()
}

#[test]
fn payloads_of_every_size_come_and_go_whole() {
    for len in [0, 1, 16_379, 16_380, 16_381, 70_000, PART - 1, PART, PART + 1, 2 * PART, 2 * PART + 5] {
        let (mut client, mut conn) = pair();
        conn.set_max_allowed_packet(64 << 20);
        let payload = pattern(len);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                client.write_all(&frame(&payload, 0)).unwrap();
                let parts = (len / PART + 1) as u8;
                let mut echoed = vec![0; len + 4 * usize::from(parts)];
                client.read_exact(&mut echoed).unwrap();
                assert!(echoed == frame(&payload, parts), "{len}");
            });
            assert_eq!(conn.read_packet(LONG), ReadOutcome::Packet);
            let (packet, out) = conn.split();
            assert!(packet == payload, "{len}");
            out.begin().extend_from_slice(packet);
            out.end().unwrap();
            out.flush().unwrap();
        });
    }
}

#[test]
fn dribbled_and_pipelined_packets_are_the_same_packets() {
    let (mut client, mut conn) = pair();
    let bytes = [frame(b"one", 0), frame(b"", 0), frame(b"three", 0)].concat();
    for step in 1..=bytes.len() {
        std::thread::scope(|scope| {
            scope.spawn(|| bytes.chunks(step).for_each(|chunk| client.write_all(chunk).unwrap()));
            for expected in [&b"one"[..], b"", b"three"] {
                assert_eq!(conn.read_packet(LONG), ReadOutcome::Packet);
                assert_eq!(conn.packet(), expected);
            }
        });
        assert!(!conn.has_more_input());
        conn.release_buffers();
    }
    assert_eq!(conn.read_packet(Some(Duration::from_millis(1))), ReadOutcome::Idle);
    drop(client);
    assert_eq!(conn.read_packet(LONG), ReadOutcome::Closed);
}

#[test]
fn bounds_are_kept() {
    let (mut client, mut conn) = pair();
    conn.set_max_allowed_packet(1000);
    client.write_all(&frame(&[7; 1000], 0)).unwrap();
    assert_eq!(conn.read_packet(LONG), ReadOutcome::Packet);
    client.write_all(&frame(&[7; 1001], 0)).unwrap();
    assert_eq!(conn.read_packet(LONG), ReadOutcome::TooLarge);

    let (mut client, mut conn) = pair();
    client.write_all(&frame(b"x", 3)).unwrap();
    assert_eq!(conn.read_packet(LONG), ReadOutcome::OutOfOrder);

    let (mut client, mut conn) = pair();
    conn.set_net_read_timeout(Duration::from_millis(20));
    client.write_all(&[10, 0, 0, 0, b'x']).unwrap();
    assert_eq!(conn.read_packet(Some(Duration::from_millis(5))), ReadOutcome::TimedOut);

    let (mut client, mut conn) = pair();
    client.write_all(&[10, 0, 0, 0, b'x']).unwrap();
    drop(client);
    assert_eq!(conn.read_packet(LONG), ReadOutcome::Broken);
}
