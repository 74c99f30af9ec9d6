//! This server's own sources, by name.

use expr::{SourcePlace, SourceWait};
use replica::{Awaited, Channel, Filters};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use sync::{Mutex, Rank};
use types::codes::*;
use types::{Result, err};

/// All channels, by name.
pub(crate) struct Channels {
    /// W: statements about channels. R: SHOW REPLICA STATUS and its like.
    pub map: Mutex<BTreeMap<String, Arc<Channel>>>,
    /// What a new channel begins with. W, R: the same.
    pub filters: Mutex<Filters>,
}

impl Channels {
    pub fn new() -> Channels {
        Channels {
            map: Mutex::new(Rank::Session, BTreeMap::new()),
            filters: Mutex::new(Rank::Session, Filters::default()),
        }
    }

    pub fn all(&self) -> Vec<Arc<Channel>> {
        self.map.lock().values().cloned().collect()
    }

    pub fn find(&self, name: &str) -> Option<Arc<Channel>> {
        let map = self.map.lock();
        // A data directory of an earlier version may have one that is named in capitals.
        map.get(name).or_else(|| map.values().find(|channel| channel.name().to_lowercase() == name)).cloned()
    }

    /// The channel of that name, or the only one. Error 3079.
    pub fn only(&self, name: Option<&str>) -> Result<Option<Arc<Channel>>> {
        match name {
            Some(name) => Ok(self.find(name)),
            // The channel without a name is there always, so that with another one there are several.
            None if self.map.lock().keys().any(|name| !name.is_empty()) => Err(err!(ER_REPLICA_MULTIPLE_CHANNELS_CMD)),
            None => Ok(self.find("")),
        }
    }

    /// FLUSH RELAY LOGS, of all channels or of one. Error 3074.
    pub fn begin_relay_files(&self, name: Option<&str>) -> Result<()> {
        match name {
            None => self.all().iter().for_each(|channel| channel.begin_relay_file()),
            Some(name) => match self.find(name) {
                Some(channel) => channel.begin_relay_file(),
                // The channel without a name is there always.
                None if name.is_empty() => {}
                None => return Err(err!(ER_REPLICA_CHANNEL_DOES_NOT_EXIST, name)),
            },
        }
        Ok(())
    }

    /// SOURCE_POS_WAIT. Errors 1317, 3079.
    pub fn wait_for(&self, place: &SourcePlace<'_>, time: Option<Duration>) -> Result<SourceWait> {
        let name = place.channel.map(str::to_lowercase);
        let Some(channel) = self.only(name.as_deref())? else { return Ok(SourceWait::NotRunning) };
        let wait = channel.await_applied(place.file, place.offset, time, sync::blocking::is_interrupted);
        Ok(match wait.ok_or_else(|| err!(ER_QUERY_INTERRUPTED))? {
            Awaited::NotRunning => SourceWait::NotRunning,
            Awaited::TimedOut => SourceWait::TimedOut,
            Awaited::Reached(moves) => SourceWait::Reached(moves),
        })
    }

    /// CHANGE REPLICATION FILTER without a channel: what a new one begins with.
    pub fn filters(&self) -> Filters {
        self.filters.lock().clone()
    }

    pub fn put(&self, channel: &Arc<Channel>) {
        self.map.lock().insert(channel.name().to_string(), Arc::clone(channel));
    }

    pub fn remove(&self, name: &str) {
        self.map.lock().remove(name);
    }
}
