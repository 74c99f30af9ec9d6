//! INSTALL COMPONENT and INSTALL PLUGIN: what is loaded again at each start.

use crate::dictionary::{Kind, damaged};
use crate::{Catalog, Ddl};
use serde::{Deserialize, Serialize};
use types::Result;

/// One component or plugin, as the tables `mysql.component` and `mysql.plugin` have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Installed {
    /// `group`: of all that one statement has installed.
    Component {
        urn: String,
        id: u32,
        group: u32,
    },
    Plugin {
        name: String,
        library: String,
    },
}

impl Installed {
    fn key(&self) -> String {
        match self {
            Installed::Component { urn, .. } => format!("component {urn}"),
            Installed::Plugin { name, .. } => format!("plugin {}", name.to_lowercase()),
        }
    }
}

impl Catalog {
    /// Components first.
    pub fn installed(&self) -> Result<Vec<Installed>> {
        let read =
            |(name, entry): (String, Vec<u8>)| serde_json::from_slice(&entry).map_err(|_| damaged(name.as_bytes()));
        self.load_entries(Kind::Installed)?.into_iter().map(read).collect()
    }
}

impl Ddl<'_> {
    pub fn put_installed(&mut self, what: &Installed) -> Result<()> {
        let entry = serde_json::to_vec(what).expect("texts and numbers become JSON");
        self.put_entry(Kind::Installed, &what.key(), &entry)
    }

    pub fn remove_installed(&mut self, what: &Installed) -> Result<()> {
        self.remove_entry(Kind::Installed, &what.key())
    }
}
