//! Digests of a session's statements.

use crate::state::State;
use crate::variables::{VarId, id};
use sql::digest::{Digesting, NameSet};
use types::charset::Charset;

const MAX_DIGEST_LENGTH: VarId = id("max_digest_length");

impl State {
    /// What digests of statements that this session reads depend on.
    pub(crate) fn digesting(&self) -> Digesting {
        let names = match self.vars.hot().client {
            Charset::Utf8mb4 => NameSet::Utf8mb4,
            Charset::Utf8mb3 => NameSet::Utf8mb3,
            _ => NameSet::OneByte,
        };
        let limit = self.server.globals.load().uint(MAX_DIGEST_LENGTH) as usize;
        Digesting { mode: crate::run::lexer_mode(self.sql_mode), limit, names }
    }
}
