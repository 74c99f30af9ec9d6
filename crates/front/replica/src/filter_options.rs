//! `--replicate-do-db` and its like: rules that channels begin with at every start of the server, in place of those kept.

use crate::config::Filters;
use std::collections::BTreeMap;

const REWRITE: &str = "replicate_rewrite_db";
/// In the order of [`Filters::rules`].
const OPTIONS: [&str; 7] = [
    "replicate_do_db",
    "replicate_ignore_db",
    "replicate_do_table",
    "replicate_ignore_table",
    "replicate_wild_do_table",
    "replicate_wild_ignore_table",
    REWRITE,
];

/// What the options of one start say: of all channels, and of single ones (`--replicate-do-db=CHANNEL:DATABASE`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterOptions {
    all: Filters,
    channels: BTreeMap<String, Filters>,
}

impl FilterOptions {
    /// Is that the name of such an option, with `_` between its words?
    pub fn is_one(name: &str) -> bool {
        OPTIONS.contains(&name)
    }

    /// Takes one option, which may be given several times. False: the value makes no sense.
    pub fn add(&mut self, name: &str, value: &str) -> bool {
        let (channel, value) = match value.split_once(':') {
            Some((channel, value)) => (Some(channel.trim()), value),
            None => (None, value),
        };
        let filters = match channel {
            Some(channel) => self.channels.entry(channel.to_lowercase()).or_default(),
            None => &mut self.all,
        };
        let value = value.trim();
        if name == REWRITE {
            let pair = value.split_once("->").map(|(from, to)| (from.trim(), to.trim()));
            let Some((from, to)) = pair.filter(|(from, to)| !from.is_empty() && !to.is_empty()) else { return false };
            filters.rewrite_db.push((from.to_string(), to.to_string()));
            return true;
        }
        let is_right = if name.ends_with("_table") { value.contains('.') } else { !value.is_empty() };
        match filters.list(name).filter(|_| is_right) {
            Some(list) => list.push(value.to_string()),
            None => return false,
        }
        true
    }

    /// What new channels begin with, of what was kept. `now_us`: since when the rules hold.
    pub fn over(&self, kept: Filters, now_us: u64) -> Filters {
        kept.replaced_by(self.all.clone(), now_us)
    }

    /// The same of one channel.
    pub fn over_channel(&self, channel: &str, kept: Filters, now_us: u64) -> Filters {
        match self.channels.get(&channel.to_lowercase()) {
            Some(own) => Filters { for_channel: true, ..kept.replaced_by(own.clone(), now_us) },
            None => kept,
        }
    }
}

impl Filters {
    /// The rules of an option's kind.
    fn list(&mut self, option: &str) -> Option<&mut Vec<String>> {
        Some(match option {
            "replicate_do_db" => &mut self.do_db,
            "replicate_ignore_db" => &mut self.ignore_db,
            "replicate_do_table" => &mut self.do_table,
            "replicate_ignore_table" => &mut self.ignore_table,
            "replicate_wild_do_table" => &mut self.wild_do_table,
            "replicate_wild_ignore_table" => &mut self.wild_ignore_table,
            _ => return None,
        })
    }

    /// Kinds that `options` has rules of have these and no others.
    fn replaced_by(mut self, mut options: Filters, now_us: u64) -> Filters {
        for (kind, option) in OPTIONS.iter().enumerate() {
            let given = options.list(option).map(std::mem::take);
            let is_given = match (self.list(option), given) {
                (Some(own), Some(given)) if !given.is_empty() => {
                    *own = given;
                    true
                }
                (Some(_), _) => false,
                (None, _) => {
                    let pairs = std::mem::take(&mut options.rewrite_db);
                    let is_given = !pairs.is_empty();
                    if is_given {
                        self.rewrite_db = pairs;
                    }
                    is_given
                }
            };
            if is_given {
                self.by_options |= 1 << kind;
                self.set_us = now_us;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceConfig;

    #[test]
    fn options_stand_in_for_what_was_kept_of_their_kind_and_are_not_kept() {
        let mut options = FilterOptions::default();
        for (name, value) in [
            ("replicate_do_db", "a"),
            ("replicate_do_db", "b"),
            ("replicate_rewrite_db", "old -> new"),
            ("replicate_wild_ignore_table", "West: a.tmp%"),
        ] {
            assert!(FilterOptions::is_one(name) && options.add(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("replicate_do_table", "t"),
            ("replicate_do_db", ""),
            ("replicate_rewrite_db", "old"),
            ("replicate_rewrite_db", "->new"),
            ("replicate_same_server_id", "1"),
        ] {
            assert!(!options.add(name, value), "{name}={value}");
        }
        assert!(!FilterOptions::is_one("replicate_same_server_id"));
        let kept = Filters { do_db: vec!["c".into()], ignore_table: vec!["c.t".into()], ..Filters::default() };
        let all = options.over(kept, 7);
        assert_eq!(all.do_db, ["a", "b"]);
        assert_eq!(all.ignore_table, ["c.t"]);
        assert_eq!(all.rewrite_db, [("old".to_string(), "new".to_string())]);
        assert_eq!((all.set_us, all.for_channel, all.by_options), (7, false, 0b100_0001));
        assert_eq!(options.over_channel("east", all.clone(), 8), all);
        let west = options.over_channel("west", all.clone(), 8);
        assert_eq!((&west.wild_ignore_table[..], west.for_channel), (&["a.tmp%".to_string()][..], true));
        let stored = SourceConfig { filters: west, ..SourceConfig::default() }.encode();
        let stored = SourceConfig::decode(&stored).unwrap().filters;
        assert!(stored.do_db.is_empty() && stored.rewrite_db.is_empty() && stored.wild_ignore_table.is_empty());
        assert_eq!(stored.ignore_table, ["c.t"]);
    }
}
