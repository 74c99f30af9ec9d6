//! What accounts with limits have used up, and failed logins in a row. In memory only: a restart begins anew, as in MySQL.

use crate::directory::AccountName;
use crate::options::{Limits, LockTime, LoginRules};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use types::codes::*;
use types::{SqlError, err};

const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 86_400;

/// Counters of the accounts that have limits.
pub(crate) type UsageMap = HashMap<AccountName, Arc<Usage>>;

/// What one account has used in the current hour. Only sessions of accounts with limits have one.
#[derive(Debug, Default)]
pub struct Usage {
    /// Seconds since 1970. W: the session that finds the hour over. R: sessions of the account.
    hour_began_s: AtomicU64,
    /// W, R: sessions of the account.
    queries: AtomicU32,
    /// W, R: sessions of the account.
    updates: AtomicU32,
    /// W, R: logins of the account.
    connections: AtomicU32,
    /// W: logins and ends of sessions of the account.
    open: AtomicU32,
}

impl Usage {
    /// FLUSH USER_RESOURCES
    pub(crate) fn reset(&self) {
        for counter in [&self.queries, &self.updates, &self.connections] {
            // Relaxed: counters of one account, nothing is published with them.
            counter.store(0, Ordering::Relaxed);
        }
    }

    fn turn_hour(&self, now_s: u64) {
        // Relaxed: whoever wins begins the hour; a statement counted on the wrong side of it does no harm.
        let began = self.hour_began_s.load(Ordering::Relaxed);
        if now_s >= began + HOUR_S
            // Relaxed: as above.
            && self.hour_began_s.compare_exchange(began, now_s, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.reset();
        }
    }

    /// Counts a statement. Error 1226.
    pub fn statement(&self, user: &str, limits: &Limits, is_update: bool, now_s: u64) -> Result<(), SqlError> {
        self.turn_hour(now_s);
        take(&self.queries, limits.queries_per_hour, user, "max_questions")?;
        if is_update { take(&self.updates, limits.updates_per_hour, user, "max_updates") } else { Ok(()) }
    }

    /// Counts a login; the guard is its end. `of_all`: how many sessions at a time an account may have without a limit of its
    /// own. Errors 1203, 1226.
    pub(crate) fn connect(
        self: &Arc<Usage>,
        user: &str,
        limits: &Limits,
        of_all: u32,
        now_s: u64,
    ) -> Result<Connected, SqlError> {
        self.turn_hour(now_s);
        match limits.user_connections {
            0 => take(&self.open, of_all, user, "").map_err(|_| err!(ER_TOO_MANY_USER_CONNECTIONS, user))?,
            own => take(&self.open, own, user, "max_user_connections")?,
        }
        let connected = Connected(Arc::clone(self));
        take(&self.connections, limits.connections_per_hour, user, "max_connections_per_hour")?;
        Ok(connected)
    }
}

/// One more of `max`, 0 for any number. Error 1226.
fn take(counter: &AtomicU32, max: u32, user: &str, resource: &str) -> Result<(), SqlError> {
    // Relaxed: one counter, nothing is published with it.
    let taken = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (max == 0 || n < max).then(|| n + 1));
    taken.map(drop).map_err(|n| err!(ER_USER_LIMIT_REACHED, user, resource, n))
}

/// A session of an account with limits.
#[derive(Debug)]
pub struct Connected(Arc<Usage>);

impl Connected {
    pub fn usage(&self) -> &Usage {
        &self.0
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        // Relaxed: one counter, nothing is published with it.
        let open = self.0.open.fetch_sub(1, Ordering::Relaxed);
        assert!(open > 0, "counted when it began");
    }
}

/// Failed logins in a row, of accounts that FAILED_LOGIN_ATTEMPTS is said of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failures {
    pub count: u16,
    /// Seconds since 1970: when they became too many.
    pub blocked_at_s: u64,
}

impl Failures {
    /// One more.
    pub fn another(self, rules: &LoginRules, now_s: u64) -> Failures {
        let count = self.count.saturating_add(1);
        let blocked_at_s = if count == rules.attempts { now_s } else { self.blocked_at_s };
        Failures { count, blocked_at_s }
    }

    /// (days the account is blocked for, days that remain), as error 3955 words them; `None`: it is not.
    pub fn blocked(&self, rules: &LoginRules, now_s: u64) -> Option<(String, String)> {
        if !rules.block() || self.count < rules.attempts {
            return None;
        }
        match rules.lock {
            LockTime::Unbounded => Some(("unlimited".to_string(), "unlimited".to_string())),
            LockTime::Days(days) => {
                let until = self.blocked_at_s + u64::from(days) * DAY_S;
                let left = until.checked_sub(now_s).filter(|s| *s > 0)?;
                Some((days.to_string(), left.div_ceil(DAY_S).to_string()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_for_an_hour_and_open_sessions_until_they_end() {
        let (usage, limits) =
            (Arc::new(Usage::default()), Limits { queries_per_hour: 2, user_connections: 1, ..Limits::default() });
        let first = usage.connect("joe", &limits, 0, HOUR_S).unwrap();
        assert_eq!(usage.connect("joe", &limits, 0, HOUR_S).unwrap_err().code, ER_USER_LIMIT_REACHED);
        let say = |now| first.usage().statement("joe", &limits, true, now);
        assert!(say(HOUR_S).is_ok() && say(HOUR_S).is_ok());
        let error = say(HOUR_S + 1).unwrap_err();
        assert_eq!(error.message, "User 'joe' has exceeded the 'max_questions' resource (current value: 2)");
        assert!(say(2 * HOUR_S).is_ok(), "a new hour");
        drop(first);
        assert!(usage.connect("joe", &limits, 0, HOUR_S).is_ok());

        let usage = Arc::new(Usage::default());
        let only = usage.connect("ann", &Limits::default(), 1, HOUR_S).unwrap();
        assert_eq!(usage.connect("ann", &Limits::default(), 1, HOUR_S).unwrap_err().code, ER_TOO_MANY_USER_CONNECTIONS);
        drop(only);
        let own = Limits { user_connections: 2, ..Limits::default() };
        let both = [(); 2].map(|()| usage.connect("ann", &own, 1, HOUR_S).unwrap());
        assert_eq!(usage.connect("ann", &own, 1, HOUR_S).unwrap_err().code, ER_USER_LIMIT_REACHED);
        drop(both);
    }

    #[test]
    fn an_account_is_blocked_for_whole_days() {
        let rules = LoginRules { attempts: 2, lock: LockTime::Days(2) };
        let once = Failures::default().another(&rules, 10);
        assert_eq!(once.blocked(&rules, 10), None);
        let twice = once.another(&rules, 20);
        assert_eq!(twice.blocked(&rules, 20), Some(("2".into(), "2".into())));
        assert_eq!(twice.blocked(&rules, 20 + DAY_S + 1), Some(("2".into(), "1".into())));
        assert_eq!(twice.blocked(&rules, 20 + 2 * DAY_S), None);
    }
}
