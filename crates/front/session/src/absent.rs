//! Statements about what this server has none of: key caches, tablespaces. Each answers
//! as a MySQL server does that has none of that name either.

use crate::files::files_are_off;
use crate::needs::Action;
use crate::session::Session;
use crate::statement::text_of;
use expr::Env;
use sql::ast::{Absent, Parsed};
use types::codes::*;
use types::{Result, err};

impl Session {
    /// The name of the statement's counter, when there is nothing to do.
    pub(crate) fn absent(&mut self, parsed: &Parsed, what: &Absent) -> Result<()> {
        let text = |s| text_of(parsed, s);
        match *what {
            Absent::KeyCache(name, ref tables) => {
                self.commit_all()?;
                for table in tables {
                    let (schema, table) = self.object(parsed, *table)?;
                    self.need_on_shared(Action::CacheIndex, &schema, &table)?;
                }
                Err(err!(ER_UNKNOWN_KEY_CACHE, text(name)))
            }
            // A thread of the crew serves many connections: none is bound to processors for one of them.
            Absent::NewResourceGroup => {
                self.need(Action::ResourceGroup)?;
                Err(err!(ER_FEATURE_UNSUPPORTED, "Resource Groups", "Thread pool plugin enabled"))
            }
            Absent::ImportTable => {
                self.commit_all()?;
                self.state.database().ok_or_else(|| err!(ER_NO_DB_ERROR))?;
                self.need(Action::ImportTable)?;
                Err(match files_are_off(&self.server.globals.load()) {
                    true => err!(ER_OPTION_PREVENTS_STATEMENT, "--secure-file-priv='NULL'"),
                    false => err!(ER_NOT_SUPPORTED_YET, "IMPORT TABLE"),
                })
            }
            Absent::ResourceGroup { name, sets } => {
                self.need(if sets { Action::UseResourceGroup } else { Action::ResourceGroup })?;
                let name = text(name);
                Err(match inspect::RESOURCE_GROUPS.iter().any(|group| name.eq_ignore_ascii_case(group)) {
                    // These two there are, and they stay as they are.
                    true => err!(ER_FEATURE_UNSUPPORTED, "Resource Groups", "Thread pool plugin enabled"),
                    false => err!(ER_RESOURCE_GROUP_NOT_EXISTS, name),
                })
            }
            Absent::Tablespace(name) => {
                self.need(Action::CreateTablespace)?;
                Err(err!(ER_TABLESPACE_MISSING_WITH_NAME, text(name)))
            }
        }
    }
}
