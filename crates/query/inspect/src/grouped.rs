//! Sums of sessions, by what a table of `performance_schema` groups them by.

use crate::statements::SessionSums;
use crate::{Context, Row, text, uint};
use std::collections::BTreeMap;

/// What the sums of a table are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Thread,
    Account,
    User,
    Host,
    /// All together.
    Nothing,
}

/// A group: a session, or a user and a host. What it is not grouped by is left empty.
type Key<'s> = (u64, &'s str, &'s str);

impl By {
    /// `None`: the sums are in no group. Those of sessions that have ended are no thread's.
    fn key(self, sums: &SessionSums) -> Option<Key<'_>> {
        Some(match self {
            By::Thread => (sums.thread?, "", ""),
            By::Account => (0, &sums.user, &sums.host),
            By::User => (0, &sums.user, ""),
            By::Host => (0, "", &sums.host),
            By::Nothing => (0, "", ""),
        })
    }

    /// The columns in front of the sums.
    fn columns(self, (thread, user, host): Key<'_>) -> Row {
        match self {
            By::Thread => vec![uint(thread)],
            By::Account => vec![text(user), text(host)],
            By::User => vec![text(user)],
            By::Host => vec![text(host)],
            By::Nothing => Vec::new(),
        }
    }
}

/// The groups in order, each with its columns and with what `add` makes of its sessions' sums.
pub(crate) fn grouped<S: Default>(cx: &Context, by: By, add: impl Fn(&mut S, &SessionSums)) -> Vec<(Row, S)> {
    let all = cx.source.session_sums();
    let mut groups: BTreeMap<Key<'_>, S> = BTreeMap::new();
    if by == By::Nothing {
        // It is there, whether there are sessions or not.
        groups.entry((0, "", "")).or_default();
    }
    for sums in &all {
        if let Some(key) = by.key(sums) {
            add(groups.entry(key).or_default(), sums);
        }
    }
    groups.into_iter().map(|(key, group)| (by.columns(key), group)).collect()
}
