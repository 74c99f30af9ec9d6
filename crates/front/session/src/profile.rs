//! `profiling`: the session's last statements with their stages. Nothing is done while it is off, but for one test at a statement's begin
//! and one at its end.

use crate::session::Session;
use crate::variables::{VarId, id};
use inspect::Rows;
use inspect::profile::Profile;
use sql::ast::{Parsed, ShowLimit};
use std::sync::Arc;
use types::Result;

const HISTORY_SIZE: VarId = id("profiling_history_size");
/// Of a statement's text so much is kept.
const TEXT_CHARS_MAX: usize = 300;

impl Session {
    /// A statement begins, and `profiling` is on.
    #[cold]
    pub(crate) fn begin_profile(&mut self) {
        self.log.is_profiled = true;
        // A statement that was no profile may have shown some.
        if let Some(profiles) = &mut self.profiles {
            profiles.shows = false;
        }
        self.entry.lane().performance.stages.begin_profile();
    }

    /// A statement that was profiled has ended.
    #[cold]
    pub(crate) fn end_profile(&mut self) {
        self.log.is_profiled = false;
        let marks = self.entry.lane().performance.stages.end_profile();
        let size = self.state.vars.uint(HISTORY_SIZE) as usize;
        let is_on = self.state.vars.hot().profiles;
        let text = self.entry.text();
        let profiles = self.profiles.get_or_insert_default();
        let shows = std::mem::take(&mut profiles.shows);
        if shows || !is_on || text.is_empty() {
            return;
        }
        profiles.last_id += 1;
        let text = String::from_utf8_lossy(&text).chars().take(TEXT_CHARS_MAX).collect();
        profiles.kept.push(Arc::new(Profile { id: profiles.last_id, text, marks }));
        let beyond = profiles.kept.len().saturating_sub(size);
        profiles.kept.drain(..beyond);
    }

    /// The profiles for who looks at them.
    pub(crate) fn kept_profiles(&self) -> Vec<Arc<Profile>> {
        let size = self.state.vars.uint(HISTORY_SIZE) as usize;
        let kept = self.profiles.as_ref().map_or(&[][..], |p| &p.kept);
        kept[kept.len().saturating_sub(size)..].to_vec()
    }

    fn note_shown(&mut self) {
        self.profiles.get_or_insert_default().shows = true;
    }

    /// SHOW PROFILES
    pub(crate) fn show_profiles(&mut self) -> Rows {
        self.note_shown();
        inspect::profile::profiles(&self.kept_profiles())
    }

    /// SHOW PROFILE: of the query with that number, or of the last one.
    pub(crate) fn show_profile(
        &mut self,
        parsed: &Parsed,
        types: &[&str],
        query: Option<u64>,
        limit: Option<ShowLimit>,
    ) -> Result<Rows> {
        self.note_shown();
        let kept = self.kept_profiles();
        let profile = match query {
            Some(id) => kept.iter().find(|p| p.id == id),
            None => kept.last(),
        };
        let mut rows = inspect::profile::profile(profile.map(|p| &**p), types);
        let (skip, take) = crate::show::limits(parsed, limit)?;
        rows.rows = rows.rows.into_iter().skip(skip).take(take).collect();
        Ok(rows)
    }
}
