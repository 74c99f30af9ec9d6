//! CREATE SERVER: where tables of another server would be found. They are kept and shown; no engine here asks for them.

use crate::dictionary::{Kind, damaged};
use crate::mdl::Mode;
use crate::{Catalog, Ddl};
use serde::{Deserialize, Serialize};
use types::Result;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignServer {
    pub name: String,
    pub host: String,
    pub database: String,
    pub user: String,
    pub password: String,
    pub port: u64,
    pub socket: String,
    pub wrapper: String,
    pub owner: String,
}

impl ForeignServer {
    /// Names are the same in any letter case.
    fn key(name: &str) -> String {
        name.to_lowercase()
    }

    pub fn is_called(&self, name: &str) -> bool {
        ForeignServer::key(&self.name) == ForeignServer::key(name)
    }
}

impl Catalog {
    /// By name.
    pub fn foreign_servers(&self) -> Result<Vec<ForeignServer>> {
        let read =
            |(name, entry): (String, Vec<u8>)| serde_json::from_slice(&entry).map_err(|_| damaged(name.as_bytes()));
        self.load_entries(Kind::ForeignServer)?.into_iter().map(read).collect()
    }
}

impl Ddl<'_> {
    /// All there are; nobody else changes them until the commit. Errors 1205, 1213, 1317.
    pub fn lock_foreign_servers(&mut self) -> Result<Vec<ForeignServer>> {
        self.lock_new_name("mysql", "servers", Mode::Exclusive)?;
        self.catalog.foreign_servers()
    }

    /// In place of one of the same name.
    pub fn put_foreign_server(&mut self, server: &ForeignServer) -> Result<()> {
        let entry = serde_json::to_vec(server).expect("texts become JSON");
        self.put_entry(Kind::ForeignServer, &ForeignServer::key(&server.name), &entry)
    }

    pub fn remove_foreign_server(&mut self, name: &str) -> Result<()> {
        self.remove_entry(Kind::ForeignServer, &ForeignServer::key(name))
    }
}
