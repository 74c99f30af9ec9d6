//! HELP: the session reads the tables that the answer is made of. Nobody needs a right on them.

use crate::session::{Done, Session};
use crate::taken_over::rows_of;
use inspect::granted::Made;
use protocol::Output;
use run::Outcome;
use types::Result;

impl Session {
    /// Errors 1146, 1728.
    pub(crate) fn help(&mut self, mask: &str, out: &mut Output) -> Result<Done> {
        let rows = inspect::help::answer(mask, &mut |name| self.help_table(name))?;
        self.send(rows, out)
    }

    fn help_table(&mut self, name: &str) -> Result<Made> {
        let table = self.pin_handled(catalog::MYSQL, name).map_err(|e| self.not_begun(e))?;
        self.state.single_statement = self.autocommits();
        let mut made = None;
        let mut read = |tx: &mut engine::Transaction| {
            made = Some(rows_of(tx, std::sync::Arc::clone(&table))?);
            Ok(Outcome::default())
        };
        let result = match table.engine.is_transactional() {
            true => self.begin_readable(table.readable_since, true).and_then(|()| read(&mut self.tx)),
            false => self.with_beside(None, |_, beside| read(beside)),
        };
        self.finish_statement(result)?;
        Ok(made.expect("it was read"))
    }
}
