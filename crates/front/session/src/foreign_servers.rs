//! CREATE, ALTER and DROP SERVER.

use crate::needs::Action;
use crate::session::Session;
use crate::statement::text_of;
use catalog::servers::ForeignServer;
use sql::ast::{Parsed, ServerOptions, ServerStatement, ServerVerb, Str};
use types::codes::*;
use types::{Result, err};

impl Session {
    /// Errors 1476, 1477, 1525.
    pub(crate) fn foreign_server(&mut self, parsed: &Parsed, statement: &ServerStatement) -> Result<()> {
        self.need(Action::ForeignServer)?;
        let name = text_of(parsed, statement.name);
        if name.is_empty() {
            return Err(err!(ER_WRONG_VALUE, "server name", name));
        }
        if self.locked.is_some() {
            return Err(err!(ER_TABLE_NOT_LOCKED, "servers"));
        }
        // As in MySQL, no replica is told: the text may hold a password.
        self.state.log_text = None;
        self.define(|ddl| {
            let found = ddl.lock_foreign_servers()?.into_iter().find(|s| s.is_called(&name));
            match (statement.verb, found) {
                (ServerVerb::Create { .. }, Some(_)) => Err(err!(ER_FOREIGN_SERVER_EXISTS, name)),
                (ServerVerb::Create { wrapper }, None) => {
                    let wrapper = text_of(parsed, wrapper);
                    let mut server = ForeignServer { name: name.clone(), wrapper, ..ForeignServer::default() };
                    set_options(&mut server, parsed, &statement.options);
                    ddl.put_foreign_server(&server)
                }
                (ServerVerb::Alter, Some(mut server)) => {
                    set_options(&mut server, parsed, &statement.options);
                    ddl.put_foreign_server(&server)
                }
                (ServerVerb::Drop { .. }, Some(_)) => ddl.remove_foreign_server(&name),
                (ServerVerb::Drop { if_exists: true }, None) => Ok(()),
                (ServerVerb::Alter | ServerVerb::Drop { .. }, None) => Err(err!(ER_FOREIGN_SERVER_DOESNT_EXIST, name)),
            }
        })?;
        Ok(())
    }
}

fn set_options(server: &mut ForeignServer, parsed: &Parsed, options: &ServerOptions) {
    let set = |field: &mut String, text: Option<Str>| {
        if let Some(text) = text {
            *field = text_of(parsed, text);
        }
    };
    set(&mut server.host, options.host);
    set(&mut server.database, options.database);
    set(&mut server.user, options.user);
    set(&mut server.password, options.password);
    set(&mut server.socket, options.socket);
    set(&mut server.owner, options.owner);
    server.port = options.port.unwrap_or(server.port);
}
