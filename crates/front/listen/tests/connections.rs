//! Connections through a real listener with an echo service: parking, bounds, timeouts, KILL, shutdown.

mod echo;

use echo::{PATIENCE, Server, connect, echo, read_packet, send, server, until};
use protocol::ClosedBy;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A figure of /proc/self/status: `Threads`, or `VmRSS` in KiB.
fn status(name: &str) -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// In a process of its own, so that threads and memory of other tests do not count.
#[test]
fn five_thousand_idle_connections_cost_no_threads_and_little_memory() {
    const CONNECTIONS: usize = 5_000;
    if std::env::var_os("LISTEN_TEST_ALONE").is_none() {
        let name = "five_thousand_idle_connections_cost_no_threads_and_little_memory";
        let alone = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env("LISTEN_TEST_ALONE", "1")
            .status()
            .unwrap();
        assert!(alone.success());
        return;
    }
    let server = server(|config, _| config.worker_idle = Duration::from_millis(50));
    let mut warm = connect(server.address);
    echo(&mut warm, b"warm");
    let before = status("VmRSS");
    let mut clients: Vec<TcpStream> = (0..CONNECTIONS)
        .map(|_| {
            let mut client = connect(server.address);
            echo(&mut client, b"once");
            client
        })
        .collect();
    assert_eq!(server.listener.connections(), CONNECTIONS + 1);
    // What is left: this thread, the test harness and the poller.
    until("the workers end", || server.listener.workers() == 0 && status("Threads") <= 4);
    let per_connection = status("VmRSS").saturating_sub(before) * 1024 / CONNECTIONS;
    println!("{per_connection} bytes a connection, {} threads", status("Threads"));
    assert!(per_connection <= 16 << 10, "{per_connection} bytes an idle connection, both ends");
    for client in clients.iter_mut().step_by(7) {
        echo(client, b"awake again");
    }
    drop(clients);
    until("the connections go", || server.listener.connections() == 1);
    assert!(server.listener.stop(PATIENCE));
    assert_eq!(read_packet(&mut warm).unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof);
}

#[test]
fn as_many_workers_stay_as_are_cached() {
    let server = server(|config, _| {
        config.worker_idle = Duration::from_millis(20);
        config.worker_cache = 2;
    });
    let mut clients: Vec<TcpStream> = (0..6).map(|_| connect(server.address)).collect();
    clients.iter_mut().for_each(|client| echo(client, b"once"));
    until("some workers end", || server.listener.workers() == 2);
    server.listener.set_worker_cache(0);
    until("the others end", || server.listener.workers() == 0);
    echo(&mut clients[0], b"again");
    assert!(server.listener.stop(PATIENCE));
}

#[test]
fn many_clients_in_turns_are_all_answered() {
    let server = server(|_, _| {});
    let threads: Vec<_> = (0..8)
        .map(|t| {
            let address = server.address;
            std::thread::spawn(move || {
                let mut clients: Vec<TcpStream> = (0..16).map(|_| connect(address)).collect();
                for round in 0..60 {
                    for (i, client) in clients.iter_mut().enumerate() {
                        echo(client, format!("{t}/{i}/{round}").as_bytes());
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    until("the connections go", || server.listener.connections() == 0);
    assert!(server.listener.stop(PATIENCE));
}

#[test]
fn one_connection_above_the_bound_is_reserved_and_the_next_is_told_1040() {
    let server = server(|config, _| config.max_connections = 2);
    let mut first = connect(server.address);
    let second = connect(server.address);
    let mut third = TcpStream::connect(server.address).unwrap();
    let refusal = b"\xff\x10\x04Too many connections".to_vec();
    assert_eq!(read_packet(&mut third).unwrap(), refusal);
    assert_eq!(server.service.reserved_refused.load(Ordering::SeqCst), 1, "the service decided");
    until("the reserved place is free", || server.listener.connections() == 2);
    drop(second);
    until("a place is free", || server.listener.connections() == 1);
    let mut again = connect(server.address);
    echo(&mut again, b"in");
    echo(&mut first, b"still here");
    server.listener.register_gauges();
    assert_eq!(observe::status_value("Threads_connected"), Some(2));
    assert!(observe::status_value("Threads_cached").is_some() && observe::status_value("Threads_running").is_some());
    server.listener.set_max_connections(3);
    let mut more = connect(server.address);
    echo(&mut more, b"a wider door");
    assert!(server.listener.stop(PATIENCE));
}

#[test]
fn idle_connections_end_when_their_time_is_up() {
    let server = server(|_, idle_limit| *idle_limit = Duration::from_millis(100));
    let mut client = connect(server.address);
    let farewell = read_packet(&mut client).unwrap();
    assert_eq!((farewell[0], u16::from_le_bytes([farewell[1], farewell[2]])), (0xff, 4031));
    assert!(read_packet(&mut client).is_err());
    assert_eq!(server.closed.recv_timeout(PATIENCE).unwrap(), (1, ClosedBy::IdleTimeout));
    assert!(server.listener.stop(PATIENCE));
}

#[test]
fn a_hang_up_ends_parked_and_reading_connections() {
    for park_after in [Duration::from_millis(2), Duration::from_secs(600)] {
        let server = server(|config, _| config.park_after = park_after);
        let mut client = connect(server.address);
        echo(&mut client, b"x");
        if park_after < Duration::from_secs(1) {
            until("the worker is idle", || observe_idle(&server));
        }
        let hang_up = server.service.hang_ups.lock().get(&1).unwrap().clone();
        hang_up.hang_up();
        assert!(read_packet(&mut client).is_err());
        assert_eq!(server.closed.recv_timeout(PATIENCE).unwrap(), (1, ClosedBy::Client));
        assert!(server.listener.stop(PATIENCE));
    }
}

/// The one connection is parked: its worker waits for work.
fn observe_idle(server: &Server) -> bool {
    server.listener.workers() == server.listener.idle_workers()
}

#[test]
fn stopping_interrupts_running_statements_and_closes_everything() {
    let server = server(|_, _| {});
    let mut parked = connect(server.address);
    let mut busy = connect(server.address);
    send(&mut busy, b"w");
    until("the statement runs", || server.service.waiting.load(Ordering::SeqCst) == 1);
    assert!(server.listener.stop(PATIENCE));
    assert_eq!(server.listener.workers(), 0);
    assert!(read_packet(&mut parked).is_err() && read_packet(&mut busy).is_err());
    let mut ends: Vec<_> = server.closed.try_iter().collect();
    ends.sort_by_key(|(id, _)| *id);
    assert_eq!(ends, [(1, ClosedBy::Shutdown), (2, ClosedBy::Service)]);
    assert!(TcpStream::connect(server.address).is_err());
}

#[test]
fn packets_that_break_the_protocol_end_their_connection_only() {
    let server = server(|_, _| {});
    let mut good = connect(server.address);
    let mut bad = connect(server.address);
    bad.write_all(&[1, 0, 0, 9, b'x']).unwrap();
    let answer = read_packet(&mut bad).unwrap();
    assert_eq!((answer[0], u16::from_le_bytes([answer[1], answer[2]])), (0xff, 1156));
    assert_eq!(server.closed.recv_timeout(PATIENCE).unwrap(), (2, ClosedBy::ProtocolError));
    let mut bad = connect(server.address);
    bad.write_all(&[0xff, 0xff, 0xff, 0]).unwrap();
    let answer = read_packet(&mut bad).unwrap();
    assert_eq!((answer[0], u16::from_le_bytes([answer[1], answer[2]])), (0xff, 1153));
    assert_eq!(server.closed.recv_timeout(PATIENCE).unwrap(), (3, ClosedBy::ProtocolError));
    echo(&mut good, b"unharmed");
    send(&mut good, b"q");
    assert_eq!(server.closed.recv_timeout(PATIENCE).unwrap(), (1, ClosedBy::Service));
    assert!(server.listener.stop(PATIENCE));
}
