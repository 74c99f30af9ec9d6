//! Every decoder on mutated packets: no panic, and nothing larger than the packet comes out. Seeded: FUZZ_SEED=n repeats a run,
//! FUZZ_SECONDS=n lengthens it.

use protocol::auth::Plugin;
use protocol::wire::Reader;
use protocol::{Algorithm, Capabilities, Command, Connection, Greeting, Login, Peer, ReadOutcome, Stream};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// Runs `step` with fresh mutants for a bounded time; a failure names the seed.
fn mutate(corpus: &[&[u8]], mut step: impl FnMut(&mut Random, &[u8])) {
    let seed = setting("FUZZ_SEED", 0x5eed_c1ea_7a11);
    println!("FUZZ_SEED={seed}");
    let mut random = Random(seed | 1);
    let end = Instant::now() + Duration::from_secs(setting("FUZZ_SECONDS", 2));
    let mut packet = Vec::new();
    while Instant::now() < end {
        for _ in 0..200 {
            packet.clear();
            packet.extend_from_slice(corpus[random.below(corpus.len())]);
            for _ in 0..random.below(6) {
                let at = random.below(packet.len());
                match random.below(6) {
                    0 if !packet.is_empty() => packet[at] ^= 1 << random.below(8),
                    1 if !packet.is_empty() => packet[at] = random.next() as u8,
                    2 => packet.truncate(at),
                    3 => packet.insert(at, [0xfb, 0xfc, 0xfd, 0xfe, 0xff, 0][random.below(6)]),
                    4 => packet.extend((0..random.below(20)).map(|i| (i * 31) as u8)),
                    _ => {
                        let other = corpus[random.below(corpus.len())];
                        packet.truncate(at);
                        packet.extend_from_slice(&other[random.below(other.len())..]);
                    }
                }
            }
            step(&mut random, &packet);
        }
    }
}

const COMMANDS: &[&[u8]] = &[
    b"\x01",
    b"\x02test",
    b"\x03SELECT 1",
    b"\x03\x01\x01\x00\x01\xfe\x00\x05trace\x02idSELECT 1",
    b"\x04t\0c%",
    b"\x0c\x01\0\0\0",
    b"\x11joe\0\x05proofdb\0\xff\0caching_sha2_password\0\x08\x03_os\x03lin",
    b"\x12\x04\0\0\0\0\0\x07\0\0\0binlog.000001",
    b"\x15\x07\0\0\0\x04host\x04user\x02pw\xea\x0c\0\0\0\0\0\0\0\0",
    b"\x16SELECT ?",
    b"\x17\x01\0\0\0\x00\x01\0\0\0\x08\x01\x0f\x00\x01\x00\x02\x80\x06\x00\x03foo\xfe\x03\x00",
    b"\x17\x01\0\0\0\x08\x01\0\0\0\x02\x00\x01\x01\x00\x00\xfe\x00\x01k\x05\x01v",
    b"\x17\x01\0\0\0\x00\x01\0\0\0\x00\x01\x0c\x00\x0b\x00\xf6\x00\x0b\xda\x07\x0a\x11\x13\x1b\x1e\x01\x00\x00\x00\
      \x0c\x01\x78\x00\x00\x00\x13\x1b\x1e\x01\x00\x00\x00\x0412.5",
    b"\x17\x01\0\0\0\x01\x01\0\0\0\x00\x01\x04\x00\x05\x00\x08\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    b"\x18\x01\0\0\0\x02\0abc",
    b"\x1b\x01\0",
    b"\x1c\x01\0\0\0\x05\0\0\0",
    b"\x1e\0\0\x07\0\0\0\x02\0\0\0ab\x04\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0",
];

#[test]
fn commands_and_parameters() {
    let mut types = Vec::new();
    mutate(COMMANDS, |random, packet| {
        let capabilities = Capabilities(random.next() as u32);
        match Command::parse(packet, capabilities) {
            Ok(Command::Query { text, attributes }) => assert!(text.len() + attributes.len() <= packet.len()),
            Ok(Command::StmtExecute { body, .. }) => {
                if random.below(2) == 0 {
                    types.clear();
                }
                let long = random.below(4);
                let mut values = 0;
                let count = random.below(6);
                let result = body.decode(count, &mut types, |i| i == long, |_, _| values += 1);
                assert!(values <= count && types.len() <= packet.len().max(count));
                assert!(result.is_ok_and(|a| a.len() <= packet.len()) || values <= count);
            }
            Ok(Command::ChangeUser(change)) => assert!(change.attributes.len() <= packet.len()),
            Ok(_) | Err(_) => {}
        }
    });
}

#[test]
fn handshake_responses_and_primitive_fields() {
    let mut response = Capabilities::SERVER.0.to_le_bytes().to_vec();
    response.extend_from_slice(b"\0\0\0\x01\xff");
    response.extend_from_slice(&[0; 23]);
    response.extend_from_slice(b"pam\0\x04abcdtest\0mysql_native_password\0\x08\x03_os\x03lin");
    let old = b"\x85\xa6\x03\0\0\0\0\x01\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0root\0pass".to_vec();
    mutate(&[&response, &old], |_, packet| {
        if let Ok(login) = Login::parse(packet, Capabilities::SERVER) {
            // Invalid UTF-8 grows threefold when it is replaced.
            assert!(login.user.len() <= 3 * packet.len());
        }
        let mut reader = Reader::new(packet);
        while !reader.is_empty() {
            let before = reader.len();
            if reader.lenenc_bytes().is_err() {
                break;
            }
            assert!(reader.len() < before);
        }
    });
    assert_eq!(Greeting::new("8.4.0", 1).plugin, Plugin::CachingSha2);
}

#[test]
fn streams_of_broken_packets() {
    let frames: &[&[u8]] =
        &[b"\x01\0\0\0\x0e\x03\0\0\0\x03abc", b"\xff\xff\xff\0abc", b"\0\0\0\0\0\0\0\0", b"\x05\0\0\x01hello"];
    mutate(frames, |_, bytes| {
        let (mut client, server) = UnixStream::pair().unwrap();
        client.write_all(bytes).unwrap();
        drop(client);
        let mut conn = Connection::new(Stream::Unix(server), Peer::Unix).unwrap();
        let mut packets = 0;
        while conn.read_packet(Some(Duration::from_secs(30))) == ReadOutcome::Packet {
            assert!(conn.packet().len() <= bytes.len());
            packets += 1;
            assert!(packets <= bytes.len() / 4);
        }
    });
}

/// A login that agrees on zlib or zstd, then mutated frames: whatever they say, the buffers stay within what may be sent.
#[test]
fn compressed_frames() {
    let ping = b"\x01\0\0\0\x0e";
    let frame = |before: usize, body: &[u8]| {
        let mut frame = (body.len() as u32).to_le_bytes()[..3].to_vec();
        frame.push(0);
        frame.extend_from_slice(&(before as u32).to_le_bytes()[..3]);
        frame.extend_from_slice(body);
        frame
    };
    let deflate = |bytes: &[u8]| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |bytes: &[u8]| zstd::bulk::compress(bytes, 3).unwrap();
    let zeros = vec![0; 1 << 20];
    let long = [b"\xfc\xff\x0f\0\x03".to_vec(), vec![b' '; 0xf_fffb]].concat();
    let corpus = [
        frame(0, ping),
        frame(5, &deflate(ping)),
        frame(5, &zstd(ping)),
        frame(zeros.len(), &deflate(&zeros)),
        frame(zeros.len(), &zstd(&zeros)),
        frame(long.len(), &deflate(&long)),
        frame(0xff_ffff, &zstd(&long)),
    ];
    let corpus: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    let mut whole = 0;
    mutate(&corpus, |random, bytes| {
        let (mut client, server) = UnixStream::pair().unwrap();
        let mut conn = Connection::new(Stream::Unix(server), Peer::Unix).unwrap();
        conn.set_max_allowed_packet(2 << 20);
        let algorithm = if random.below(2) == 0 { Algorithm::Zlib } else { Algorithm::Zstd(3) };
        conn.compress_with(algorithm).unwrap();
        client.write_all(bytes).unwrap();
        drop(client);
        let mut packets = 0;
        while conn.read_packet(Some(Duration::from_secs(30))) == ReadOutcome::Packet {
            assert!(conn.packet().len() <= 2 << 20);
            packets += 1;
            if packets > 1000 {
                break;
            }
        }
        whole += usize::from(packets > 0);
    });
    assert!(whole > 0, "some frames are left whole");
}
