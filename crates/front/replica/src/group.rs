//! Where transactions begin and end in a stream of events.

use binlog::decode::{Head, QueryEvent, code};
use binlog::event::{Header, Kind};

/// What an event is to its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It belongs to none: about files, or to keep a connection alive.
    Outside,
    /// In front of one.
    Head,
    /// BEGIN: several events follow.
    Opens,
    Inside,
    /// A statement that is a transaction of its own.
    Alone,
    /// The last one, with its changes.
    Commits,
    /// The last one, without.
    RollsBack,
}

impl Step {
    pub fn ends(self) -> bool {
        matches!(self, Step::Alone | Step::Commits | Step::RollsBack)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    Headed,
    Block,
}

/// Follows one stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Groups(State);

impl Groups {
    /// Is a transaction in the middle?
    pub fn is_open(&self) -> bool {
        self.0 != State::Between
    }

    /// `None`: the event is damaged.
    pub fn step(&mut self, header: &Header, body: &[u8]) -> Option<Step> {
        match (header.kind(), header.code) {
            (Some(Kind::Gtid | Kind::AnonymousGtid | Kind::GtidTagged), _) => {
                self.0 = State::Headed;
                Some(Step::Head)
            }
            (_, code::MARIA_GTID) => {
                // Without a BEGIN of its own.
                let alone = Head::decode_maria(body)?.is_standalone;
                self.0 = if alone { State::Headed } else { State::Block };
                Some(if alone { Step::Head } else { Step::Opens })
            }
            (Some(Kind::Query), _) => Some(self.query(QueryEvent::decode(body)?.text)),
            // Whoever makes changes has the events that are in a payload instead of it.
            (Some(Kind::Xid | Kind::TransactionPayload), _) | (_, code::XA_PREPARE) => {
                self.0 = State::Between;
                Some(Step::Commits)
            }
            (Some(Kind::Rotate | Kind::FormatDescription | Kind::PreviousGtids | Kind::Heartbeat | Kind::Stop), _) => {
                Some(Step::Outside)
            }
            // MariaDB's checkpoints and lists of GTIDs, MySQL's heartbeat with a long position, what is to be left out.
            (_, 161 | 163 | code::HEARTBEAT_V2 | code::INCIDENT) => Some(Step::Outside),
            _ => Some(Step::Inside),
        }
    }

    fn query(&mut self, text: &[u8]) -> Step {
        let is = |word: &[u8]| text.trim_ascii().eq_ignore_ascii_case(word);
        let opens = is(b"BEGIN") || text.get(..9).is_some_and(|word| word.eq_ignore_ascii_case(b"XA START "));
        if opens && self.0 != State::Block {
            self.0 = State::Block;
            return Step::Opens;
        }
        if self.0 == State::Block {
            if is(b"COMMIT") || is(b"ROLLBACK") {
                self.0 = State::Between;
                return if is(b"COMMIT") { Step::Commits } else { Step::RollsBack };
            }
            return Step::Inside;
        }
        self.0 = State::Between;
        Step::Alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use binlog::event::{Checksum, GtidEvent, Query, Stamp, put, xid};

    fn steps(events: &[(Kind, Vec<u8>)]) -> Vec<Step> {
        let mut groups = Groups::default();
        let mut step = |(kind, body): &(Kind, Vec<u8>)| {
            let mut event = Vec::new();
            let stamp = Stamp { timestamp: 1, server_id: 2 };
            put(&mut event, *kind, stamp, 0, None, &[body], Checksum::None);
            groups.step(&Header::decode(&event).unwrap(), body).unwrap()
        };
        events.iter().map(&mut step).collect()
    }

    #[test]
    fn transactions_are_told_apart() {
        let query = |text: &str| {
            let query = Query {
                thread_id: 1,
                database: "",
                sql_mode: 0,
                flags: 0,
                collations: [45; 3],
                time_zone: "",
                microseconds: 0,
                invoker: None,
                utf8mb4_collation: 0,
                explicit_defaults: None,
                xid: None,
                any_database: false,
                require_primary_key: None,
                default_encryption: None,
            };
            (Kind::Query, [query.head(), text.as_bytes().to_vec()].concat())
        };
        let head = || {
            let event = GtidEvent {
                gtid: None,
                has_statements: false,
                last_committed: 0,
                sequence_number: 1,
                immediate_commit_us: 1,
                original_commit_us: 1,
                immediate_version: 80_400,
                original_version: 80_400,
            };
            (Kind::AnonymousGtid, event.body(0, Checksum::None))
        };
        let events = [
            head(),
            query("BEGIN"),
            (Kind::WriteRows, vec![]),
            query("ROLLBACK TO s"),
            (Kind::Xid, xid(1).to_vec()),
            head(),
            query("CREATE TABLE t (a INT)"),
            head(),
            query("BEGIN"),
            query("INSERT INTO t VALUES (1)"),
            query("COMMIT"),
            (Kind::Rotate, vec![0; 9]),
        ];
        use Step::*;
        assert_eq!(
            steps(&events),
            [Head, Opens, Inside, Inside, Commits, Head, Alone, Head, Opens, Inside, Commits, Outside]
        );
    }
}
