//! What a session lets others see of itself.

use crate::seen::{ATTRIBUTES_BYTES, ATTRIBUTES_SIZE, Variables, kept_attributes};
use crate::session::Session;
use crate::variables::Val;

impl Session {
    /// What the client has said of itself at its login.
    pub(crate) fn keep_attributes(&self, attributes: &[(Vec<u8>, Vec<u8>)]) {
        let globals = self.server.globals.load();
        let Val::Int(size) = *globals.get(ATTRIBUTES_SIZE) else { unreachable!("it is an integer") };
        // -1: as the server likes it.
        let size = usize::try_from(size).unwrap_or(ATTRIBUTES_BYTES);
        let (kept, bytes, lost) = kept_attributes(attributes, size);
        self.entry.lane().seen.attributes(kept);
        self.server.seen.note_attributes(bytes, lost);
    }

    /// A command is over that may have changed variables.
    #[inline]
    pub(crate) fn hand_over_variables(&mut self) {
        if self.state.vars.take_changed() {
            self.show_variables();
        }
    }

    /// Others see the variables as they are now.
    #[cold]
    pub(crate) fn show_variables(&self) {
        let state = &self.state;
        let variables = Variables {
            system: state.vars.clone(),
            computed: state.computed_now(),
            user: state.user_vars.values().cloned().collect(),
        };
        let before = self.entry.lane().seen.show(variables);
        // Not under the lock: it may be large.
        drop(before);
    }
}
