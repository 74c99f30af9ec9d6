//! Digests of a session's statements, and where those of the same digest are summed up.
//!
//! A digest is looked for when a text is read; the place of its sums stays with the plan, or for statements that are read each
//! time, in a small table of the session. An execution compares two numbers and has it.

use crate::digest_place::{KNOWN_MAX, KnownPlace, RECENT, Verb};
use crate::session::Session;
use crate::session::plans::Planned;
use crate::state::State;
use crate::variables::{VarId, id};
use expr::functions::crypto::digest_hash;
use observe::digests;
use observe::setup::{self, Consumer};
use sql::digest::{Digesting, NameSet, digest_text};
use std::hash::{DefaultHasher, Hash, Hasher};
use types::charset::Charset;

const MAX_DIGEST_LENGTH: VarId = id("max_digest_length");

/// Longer ones are read each time.
const RECENT_BYTES_MAX: usize = 1024;
/// What the first word of a prepared statement's digest takes of `max_digest_length`.
const VERB_BYTES: usize = 2;

impl State {
    /// What digests of statements that this session reads depend on.
    pub(crate) fn digesting(&self) -> Digesting {
        let names = match self.vars.hot().client {
            Charset::Utf8mb4 => NameSet::Utf8mb4,
            Charset::Utf8mb3 => NameSet::Utf8mb3,
            _ => NameSet::OneByte,
        };
        let limit = self.globals.peek().uint(MAX_DIGEST_LENGTH) as usize;
        Digesting { mode: crate::run::lexer_mode(self.sql_mode), limit, names }
    }
}

impl Session {
    /// The statement at hand is an execution of this plan.
    #[inline]
    pub(crate) fn digest_plan(&mut self, planned: &mut Planned, verb: Verb) {
        let known = planned.place;
        match known.is_current(self.entry.performance.schemas()) {
            true => self.recorder.digests.place = known.place,
            false => planned.place = self.digest(planned.parsed.source(), verb),
        }
    }

    /// The statement at hand is this text, which was parsed.
    pub(crate) fn digest(&mut self, source: &[u8], verb: Verb) -> KnownPlace {
        if !setup::consumers().have(&[Consumer::Global, Consumer::Digest]) || !digests::are_kept() {
            return KnownPlace::default();
        }
        let how = self.state.digesting();
        let key = (source.len() <= RECENT_BYTES_MAX).then(|| {
            let mut hasher = DefaultHasher::new();
            (source, verb, how.mode, how.names as u8).hash(&mut hasher);
            hasher.finish()
        });
        let schemas = self.entry.performance.schemas();
        let digests = &mut self.recorder.digests;
        if let (Some(key), Some(recent)) = (key, &digests.recent) {
            let (of, known) = recent[key as usize % RECENT];
            if of == key && known.is_current(schemas) {
                digests.place = known.place;
                return known;
            }
        }
        let limit = if verb == Verb::Run { how.limit } else { how.limit.saturating_sub(VERB_BYTES) };
        let text = format!("{}{}", verb.word(), digest_text(source, Digesting { limit, ..how }));
        let hash = digest_hash(&text);
        let known = match digests.known.get(&hash).filter(|known| known.is_current(schemas)) {
            Some(known) => *known,
            // The one table that all sessions share is asked for what is new to this one.
            None => {
                let schema = self.state.database.as_deref();
                let place = digests::place_of(schema, hash, &text, self.state.clock_us);
                if digests.known.len() >= KNOWN_MAX {
                    digests.known.clear();
                }
                let known = KnownPlace { place, schemas };
                digests.known.insert(hash, known);
                known
            }
        };
        digests.place = known.place;
        if let Some(key) = key {
            let recent = digests.recent.get_or_insert_default();
            recent[key as usize % RECENT] = (key, known);
        }
        known
    }
}
