//! START REPLICA UNTIL: where the applier ends by itself.

use crate::config::Position;
use crate::relay::Place;
use types::gtid::{Gtid, GtidSet};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Until {
    #[default]
    Never,
    /// SOURCE_LOG_FILE, SOURCE_LOG_POS: in front of the first transaction that begins there or behind it.
    Source(String, u64),
    /// RELAY_LOG_FILE, RELAY_LOG_POS
    Relay(String, u64),
    /// SQL_BEFORE_GTIDS: in front of the first one of these.
    Before(GtidSet),
    /// SQL_AFTER_GTIDS: once all of these are applied.
    After(GtidSet),
    /// SQL_AFTER_MTS_GAPS: once there is no gap in what is applied.
    AfterGaps,
}

/// The number at the end of a file's name.
fn number_of(file: &str) -> Option<u64> {
    file.rsplit_once('.')?.1.parse().ok()
}

impl Until {
    /// `Until_Condition`
    pub fn words(&self) -> &'static str {
        match self {
            Until::Never => "None",
            Until::Source(..) => "Source",
            Until::Relay(..) => "Relay",
            Until::Before(_) => "SQL_BEFORE_GTIDS",
            Until::After(_) => "SQL_AFTER_GTIDS",
            Until::AfterGaps => "SQL_AFTER_MTS_GAPS",
        }
    }

    /// `Until_Log_File`, `Until_Log_Pos`
    pub fn place(&self) -> (&str, u64) {
        match self {
            Until::Source(file, offset) | Until::Relay(file, offset) => (file, *offset),
            _ => ("", 0),
        }
    }

    /// Does it end between two transactions, at this place? `executed`: all transactions so far. `gaps`: of those behind the place some are
    /// committed.
    pub(crate) fn is_reached(&self, position: &Position, place: Place, executed: &GtidSet, gaps: bool) -> bool {
        match self {
            Until::Never | Until::Before(_) => false,
            Until::Source(file, offset) => {
                let numbers = number_of(&position.file).zip(number_of(file));
                numbers.is_some_and(|(now, end)| (now, position.offset) >= (end, *offset))
            }
            Until::Relay(file, offset) => {
                number_of(file).is_some_and(|end| (place.number, place.offset) >= (end, *offset))
            }
            Until::After(set) => set.is_subset_of(executed),
            Until::AfterGaps => !gaps,
        }
    }

    /// Does it end in front of this transaction?
    pub(crate) fn is_before(&self, gtid: Option<Gtid>) -> bool {
        match (self, gtid) {
            (Until::Before(set), Some(gtid)) => set.contains(gtid),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_at_or_behind_its_place() {
        let none = GtidSet::default();
        let place = Place { number: 3, offset: 100 };
        let at =
            |until: &Until, file: &str, offset| until.is_reached(&Position::new(file, offset), place, &none, false);
        let source = Until::Source("binlog.000009".into(), 157);
        assert!(
            !at(&source, "binlog.000009", 4) && at(&source, "binlog.000009", 157) && at(&source, "binlog.000010", 4)
        );
        assert!(!at(&source, "binlog.000008", 900) && !at(&source, "", 4));
        let relay = |offset| Until::Relay("host-relay-bin.000003".into(), offset);
        assert!(at(&relay(100), "b.1", 4) && !at(&relay(101), "b.1", 4));
        let set = GtidSet::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-4").unwrap();
        assert!(!Until::After(set.clone()).is_reached(&Position::default(), place, &none, false));
        assert!(Until::After(set.clone()).is_reached(&Position::default(), place, &set, false));
        let gaps = |gaps| Until::AfterGaps.is_reached(&Position::default(), place, &none, gaps);
        assert!(gaps(false) && !gaps(true));
        let (uuid, number) = (types::gtid::Uuid::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562").unwrap(), 4);
        assert!(Until::Before(set.clone()).is_before(Some(Gtid { uuid, tag: Default::default(), number })));
        assert!(!Until::Before(set).is_before(Some(Gtid { uuid, tag: Default::default(), number: 5 })));
    }
}
