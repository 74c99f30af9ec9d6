//! The crew: what holds for connections with a thread each holds for those that are served in turn.

mod echo;

use echo::{PATIENCE, Server, connect, echo, read_packet, send, server, until};
use protocol::ClosedBy;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Two active connections are a crowd.
fn crowded(park_after: Duration) -> Server {
    server(|config, _| (config.crowd, config.crew, config.park_after) = (1, 2, park_after))
}

const LONG: Duration = Duration::from_secs(600);

fn connect_many(server: &Server, count: usize) -> Vec<TcpStream> {
    (0..count).map(|_| connect(server.address)).collect()
}

#[test]
fn many_clients_are_answered_by_few_threads() {
    let server = crowded(LONG);
    let clients = connect_many(&server, 64);
    until("all are served in turn", || server.listener.workers() - server.listener.idle_workers() <= 3);
    let threads: Vec<_> = clients
        .into_iter()
        .enumerate()
        .map(|(i, mut client)| {
            std::thread::spawn(move || {
                for round in 0..300 {
                    echo(&mut client, format!("{i}/{round}").as_bytes());
                }
                // In pieces, and several at once.
                client.write_all(&[2, 0, 0]).unwrap();
                std::thread::yield_now();
                client.write_all(&[0, b'a', b'b', 1, 0, 0, 0, b'c']).unwrap();
                assert!(read_packet(&mut client).unwrap().ends_with(b"ab"));
                assert!(read_packet(&mut client).unwrap().ends_with(b"c"));
                let long = vec![b'x'; 40_000];
                echo(&mut client, &long);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    until("the connections go", || server.listener.connections() == 0);
    assert!(server.listener.stop(PATIENCE));
}

#[test]
fn a_statement_that_sleeps_keeps_nobody_waiting() {
    let server = crowded(LONG);
    let mut clients = connect_many(&server, 12);
    let (sleepers, others) = clients.split_at_mut(6);
    for (n, sleeper) in sleepers.iter_mut().enumerate() {
        send(sleeper, b"w");
        until("it sleeps", || server.service.waiting.load(Ordering::SeqCst) == n + 1);
        for other in &mut *others {
            echo(other, b"meanwhile");
        }
    }
    assert!(server.listener.stop(PATIENCE));
    assert_eq!(server.listener.workers(), 0);
    let ends: Vec<_> = server.closed.try_iter().collect();
    assert_eq!(ends.iter().filter(|(_, by)| *by == ClosedBy::Service).count(), 6);
    assert_eq!(ends.iter().filter(|(_, by)| *by == ClosedBy::Shutdown).count(), 6);
}

#[test]
fn answers_that_are_kept_leave_once_they_are_settled() {
    let server = crowded(LONG);
    let threads: Vec<_> = connect_many(&server, 40)
        .into_iter()
        .enumerate()
        .map(|(i, mut client)| {
            std::thread::spawn(move || {
                for round in 0..300 {
                    echo(
                        &mut client,
                        format!("{}{i}/{round}", if (i + round) % 4 == 0 { "r" } else { "c" }).as_bytes(),
                    );
                }
                // The second one is there before the first is settled.
                client.write_all(&[2, 0, 0, 0, b'c', b'1', 2, 0, 0, 0, b'c', b'2']).unwrap();
                assert!(read_packet(&mut client).unwrap().ends_with(b"c1"));
                assert!(read_packet(&mut client).unwrap().ends_with(b"c2"));
                // And this one the client does not wait for.
                send(&mut client, b"c3");
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    until("the connections go", || server.listener.connections() == 0);
    assert_eq!(server.service.settles.load(Ordering::SeqCst), 40 * (300 * 3 / 4 + 3));
    assert!(server.listener.stop(PATIENCE));
}

#[test]
fn commands_that_wait_for_answers_that_are_kept_do_not_keep_them() {
    let server = crowded(LONG);
    let done = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for mut client in connect_many(&server, 24) {
            let done = &done;
            scope.spawn(move || {
                for _ in 0..200 {
                    echo(&mut client, b"c1");
                    echo(&mut client, b"l");
                }
                done.fetch_add(1, Ordering::SeqCst);
                // Others may still wait for an answer to be settled.
                while done.load(Ordering::SeqCst) < 24 {
                    echo(&mut client, b"c2");
                }
            });
        }
    });
    assert!(server.listener.stop(PATIENCE));
}

#[test]
fn a_statement_that_computes_for_long_keeps_nobody_waiting() {
    let server = crowded(LONG);
    let mut clients = connect_many(&server, 8);
    let (spinner, others) = clients.split_first_mut().unwrap();
    send(spinner, b"s");
    until("it computes", || server.service.waiting.load(Ordering::SeqCst) == 1);
    for _ in 0..100 {
        others.iter_mut().for_each(|other| echo(other, b"meanwhile"));
    }
    server.service.spin.store(false, Ordering::SeqCst);
    assert!(read_packet(spinner).unwrap().ends_with(b"s"));
    echo(spinner, b"and again");
    assert!(server.listener.stop(PATIENCE));
}

#[test]
fn idle_connections_are_parked_and_a_thin_crowd_gets_threads_again() {
    let server = crowded(Duration::from_millis(5));
    let mut clients = connect_many(&server, 8);
    for _ in 0..50 {
        clients.iter_mut().for_each(|client| echo(client, b"busy"));
    }
    until("all are parked", || server.listener.workers() == server.listener.idle_workers());
    for _ in 0..50 {
        echo(&mut clients[0], b"alone");
    }
    drop(clients);
    until("the connections go", || server.listener.connections() == 0);
    assert!(server.listener.stop(PATIENCE));
}

#[test]
fn a_hang_up_ends_a_connection_that_waits_its_turn() {
    let server = crowded(LONG);
    let mut clients = connect_many(&server, 4);
    clients.iter_mut().for_each(|client| echo(client, b"x"));
    let hang_up = server.service.hang_ups.lock().get(&2).unwrap().clone();
    hang_up.hang_up();
    assert!(read_packet(&mut clients[1]).is_err());
    assert_eq!(server.closed.recv_timeout(PATIENCE).unwrap(), (2, ClosedBy::Client));
    echo(&mut clients[2], b"unharmed");
    drop(clients.remove(3));
    assert_eq!(server.closed.recv_timeout(PATIENCE).unwrap(), (4, ClosedBy::Client));
    assert!(server.listener.stop(PATIENCE));
}

#[test]
fn all_get_their_turn_beside_many_that_are_silent() {
    let server = crowded(LONG);
    let mut silent = connect_many(&server, 120);
    // They use up places: some with a turn that they do not use, some with a transaction.
    for (n, client) in silent.iter_mut().enumerate() {
        echo(client, if n % 3 == 0 { b"t" } else { b"x" });
    }
    std::thread::scope(|scope| {
        for mut client in connect_many(&server, 120) {
            scope.spawn(move || (0..200).for_each(|round| echo(&mut client, format!("{round}").as_bytes())));
        }
        for client in silent.iter_mut().step_by(3) {
            echo(client, b"in the middle");
            echo(client, b"e");
        }
    });
    silent.iter_mut().for_each(|client| echo(client, b"back"));
    assert!(server.listener.stop(PATIENCE));
}
