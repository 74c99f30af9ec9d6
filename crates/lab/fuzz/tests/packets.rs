//! What a client sends: every decoder takes or refuses it, and nothing larger than the packet comes out.

use bolero::check;
use fuzz::{Draw, corpus, mutated};
use protocol::wire::Reader;
use protocol::{Algorithm, Capabilities, Command, Connection, Login, Peer, ReadOutcome, Stream};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const PATIENCE: Option<Duration> = Some(Duration::from_secs(30));

#[test]
fn commands_and_parameters() {
    let corpus = corpus("commands");
    check!().with_type::<Draw>().for_each(|draw| {
        let packet = mutated(&corpus, draw);
        let [.., long, count] = draw.2;
        let (long, count) = (usize::from(long % 4), usize::from(count % 6));
        match Command::parse(&packet, Capabilities(u32::from_le_bytes(draw.2))) {
            Ok(Command::Query { text, attributes }) => assert!(text.len() + attributes.len() <= packet.len()),
            Ok(Command::StmtExecute { body, .. }) => {
                // Types as an execution before may have left them.
                let mut types = Vec::new();
                for _ in 0..2 {
                    let mut values = 0;
                    let result = body.decode(count, &mut types, |i| i == long, |_, _| values += 1);
                    assert!(values <= count && types.len() <= packet.len().max(count));
                    assert!(result.is_ok_and(|a| a.len() <= packet.len()) || values <= count);
                }
            }
            Ok(Command::ChangeUser(change)) => assert!(change.attributes.len() <= packet.len()),
            Ok(_) | Err(_) => {}
        }
    });
}

#[test]
fn logins_and_primitive_fields() {
    let [new, old] = <[Vec<u8>; 2]>::try_from(corpus("logins")).expect("two forms");
    let new = [&Capabilities::SERVER.0.to_le_bytes()[..], &new].concat();
    let corpus = [new, old];
    check!().with_type::<Draw>().for_each(|draw| {
        let packet = mutated(&corpus, draw);
        if let Ok(login) = Login::parse(&packet, Capabilities::SERVER) {
            // Invalid UTF-8 grows threefold when it is replaced.
            assert!(login.user.len() <= 3 * packet.len());
        }
        let mut reader = Reader::new(&packet);
        while !reader.is_empty() {
            let before = reader.len();
            if reader.lenenc_bytes().is_err() {
                break;
            }
            assert!(reader.len() < before);
        }
    });
}

#[test]
fn streams_of_broken_packets() {
    let corpus = corpus("frames");
    check!().with_type::<Draw>().for_each(|draw| {
        let bytes = mutated(&corpus, draw);
        let (mut client, server) = UnixStream::pair().unwrap();
        client.write_all(&bytes).unwrap();
        drop(client);
        let mut conn = Connection::new(Stream::Unix(server), Peer::Unix).unwrap();
        let mut packets = 0;
        while conn.read_packet(PATIENCE) == ReadOutcome::Packet {
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
    let whole = AtomicUsize::new(0);
    check!().with_type::<Draw>().for_each(|draw| {
        let bytes = mutated(&corpus, draw);
        let (mut client, server) = UnixStream::pair().unwrap();
        let mut conn = Connection::new(Stream::Unix(server), Peer::Unix).unwrap();
        conn.set_max_allowed_packet(2 << 20);
        let algorithm = if draw.2[0].is_multiple_of(2) { Algorithm::Zlib } else { Algorithm::Zstd(3) };
        conn.compress_with(algorithm).unwrap();
        client.write_all(&bytes).unwrap();
        drop(client);
        let mut packets = 0;
        while conn.read_packet(PATIENCE) == ReadOutcome::Packet {
            assert!(conn.packet().len() <= 2 << 20);
            packets += 1;
            if packets > 1000 {
                break;
            }
        }
        // Relaxed: one thread counts.
        whole.fetch_add(usize::from(packets > 0), Ordering::Relaxed);
    });
    // Relaxed: as above.
    assert!(whole.load(Ordering::Relaxed) > 0, "some frames are left whole");
}
