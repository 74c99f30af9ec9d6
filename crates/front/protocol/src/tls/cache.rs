//! Sessions of TLS that clients may take up again: `ssl_session_cache_mode`, `ssl_session_cache_timeout`.

use rustls::server::StoresServerSessions;
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};
use sync::{Mutex, Rank};

/// As many as in MySQL.
pub const SESSIONS: usize = 128;

/// Counts since the certificates were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheFigures {
    pub used: u64,
    pub hits: u64,
    pub misses: u64,
    pub overflows: u64,
    pub timeouts: u64,
}

#[derive(Debug, Default)]
struct State {
    sessions: HashMap<Vec<u8>, (Instant, Vec<u8>)>,
    /// Keys, oldest first. A key that was taken is still here until its turn comes.
    order: VecDeque<Vec<u8>>,
    figures: CacheFigures,
}

/// The newest sessions, each for as long as the time-out says.
#[derive(Debug)]
pub struct SessionCache {
    state: Mutex<State>,
    timeout: Duration,
}

impl SessionCache {
    pub fn new(timeout: Duration) -> SessionCache {
        SessionCache { state: Mutex::new(Rank::Workers, State::default()), timeout }
    }

    pub fn figures(&self) -> CacheFigures {
        let state = self.state.lock();
        CacheFigures { used: state.sessions.len() as u64, ..state.figures }
    }

    fn find(&self, key: &[u8], now: Instant, keep: bool) -> Option<Vec<u8>> {
        let mut state = self.state.lock();
        let found = match state.sessions.get(key) {
            Some((since, _)) if now.duration_since(*since) >= self.timeout => {
                state.sessions.remove(key);
                state.figures.timeouts += 1;
                None
            }
            Some((_, value)) if keep => Some(value.clone()),
            Some(_) => state.sessions.remove(key).map(|(_, value)| value),
            None => None,
        };
        match found {
            Some(_) => state.figures.hits += 1,
            None => state.figures.misses += 1,
        }
        found
    }

    fn keep(&self, key: Vec<u8>, value: Vec<u8>, now: Instant) {
        let mut state = self.state.lock();
        if state.sessions.insert(key.clone(), (now, value)).is_none() {
            state.order.push_back(key);
        }
        // The list bounds both: it has every key of the map.
        while state.order.len() > SESSIONS {
            let oldest = state.order.pop_front().expect("the list is not empty");
            if state.sessions.remove(&oldest).is_some() {
                state.figures.overflows += 1;
            }
        }
    }
}

impl StoresServerSessions for SessionCache {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        self.keep(key, value, Instant::now());
        true
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.find(key, Instant::now(), true)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.find(key, Instant::now(), false)
    }

    fn can_cache(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_grow_old_and_make_room() {
        let cache = SessionCache::new(Duration::from_secs(300));
        let start = Instant::now();
        for n in 0..SESSIONS as u32 + 2 {
            cache.keep(n.to_le_bytes().to_vec(), vec![n as u8], start);
        }
        assert_eq!((cache.figures().used, cache.figures().overflows), (SESSIONS as u64, 2));
        let key = 7_u32.to_le_bytes();
        assert_eq!(cache.find(&0_u32.to_le_bytes(), start, true), None, "it made room");
        assert_eq!(cache.find(&key, start, true), Some(vec![7]));
        assert_eq!(cache.find(&key, start, false), Some(vec![7]));
        assert_eq!(cache.find(&key, start, true), None, "taken once");
        let late = start + Duration::from_secs(300);
        assert_eq!(cache.find(&8_u32.to_le_bytes(), late, true), None);
        let figures = cache.figures();
        assert_eq!((figures.hits, figures.misses, figures.timeouts), (2, 3, 1));
    }
}
