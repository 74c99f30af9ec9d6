//! Plugins: SHOW PLUGINS and `information_schema.PLUGINS`.

use crate::columns::varchar;
use crate::{Context, Row, Rows, text, word};
use catalog::installed::Installed;
use types::{Result, Value};

/// One that this program has.
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    pub name: &'static str,
    pub kind: &'static str,
    /// The library, as SONAME of INSTALL PLUGIN has it; empty: it is there from the start.
    pub soname: &'static str,
    /// Of MySQL's interface for plugins of its kind.
    interface: &'static str,
    description: &'static str,
}

const fn p(
    name: &'static str,
    kind: &'static str,
    soname: &'static str,
    interface: &'static str,
    description: &'static str,
) -> Plugin {
    Plugin { name, kind, soname, interface, description }
}

const NATIVE: &str = "mysql_native_password";
const LIBRARY: &str = "connection_control.so";

/// Those that are there from the start first.
#[rustfmt::skip]
pub const PLUGINS: &[Plugin] = &[
    p(NATIVE, "AUTHENTICATION", "", "2.1", "Password hashes of MySQL before 8.0"),
    p("sha256_password", "AUTHENTICATION", "", "2.1", "Salted password hashes"),
    p("caching_sha2_password", "AUTHENTICATION", "", "2.1", "Salted password hashes, with a cache of what was proved"),
    p("InnoDB", "STORAGE ENGINE", "", "8.4", "Transactions, row locks and foreign keys"),
    p("MEMORY", "STORAGE ENGINE", "", "8.4", "No transactions, rows are gone when the server stops"),
    p("MyISAM", "STORAGE ENGINE", "", "8.4", "No transactions, rows are logged and recovered as those of InnoDB"),
    p("CONNECTION_CONTROL", "AUDIT", LIBRARY, "4.1", "Delays logins after failures"),
    p("CONNECTION_CONTROL_FAILED_LOGIN_ATTEMPTS", "INFORMATION SCHEMA", LIBRARY, "8.4", "Accounts with failed logins in a row"),
    p("audit_log", "AUDIT", "audit_log.so", "4.1", "Who does what, from where, and what comes of it"),
    p("auth_socket", "AUTHENTICATION", "auth_socket.so", "2.1", "Users of the machine, by the Unix socket"),
    p("mysql_no_login", "AUTHENTICATION", "mysql_no_login.so", "2.1", "Accounts that nobody logs in to"),
    p("rpl_semi_sync_source", "REPLICATION", "semisync_source.so", "4.0", "Source-side semi-synchronous replication."),
    p("rpl_semi_sync_replica", "REPLICATION", "semisync_replica.so", "4.0", "Replica-side semi-synchronous replication."),
];

/// Those that are there: status and the library as it was named.
fn present(native_password: bool, installed: &[Installed]) -> Vec<(&'static Plugin, &'static str, Value<'static>)> {
    let built_in = PLUGINS.iter().filter(|p| p.soname.is_empty()).map(|p| {
        let on = p.name != NATIVE || native_password;
        (p, if on { "ACTIVE" } else { "DISABLED" }, Value::Null)
    });
    let added = installed.iter().filter_map(|one| match one {
        Installed::Plugin { name, library } => {
            let found = PLUGINS.iter().find(|p| p.name.eq_ignore_ascii_case(name))?;
            Some((found, "ACTIVE", text(library)))
        }
        Installed::Component { .. } => None,
    });
    built_in.chain(added).collect()
}

/// SHOW PLUGINS. `native_password`: can mysql_native_password be used?
pub fn show(native_password: bool, installed: &[Installed]) -> Rows {
    let row = |(plugin, status, library): (&Plugin, _, _)| {
        vec![word(plugin.name), word(status), word(plugin.kind), library, word("Apache-2.0")]
    };
    Rows::new(
        &[
            ("Name", varchar(64).not_null()),
            ("Status", varchar(10).not_null()),
            ("Type", varchar(80).not_null()),
            ("Library", varchar(64)),
            ("License", varchar(80)),
        ],
        present(native_password, installed).into_iter().map(row).collect(),
    )
}

pub(crate) fn plugins(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let installed = cx.source.installed()?;
    for (plugin, status, library) in present(cx.source.has_native_password(), &installed) {
        let (version, load) = match library {
            Value::Null if status == "DISABLED" => (Value::Null, "OFF"),
            Value::Null => (Value::Null, "FORCE"),
            _ => (word("1.11"), "ON"),
        };
        out.push(vec![
            word(plugin.name),
            word("1.0"),
            word(status),
            word(plugin.kind),
            word(plugin.interface),
            library,
            version,
            word("Clearway"),
            word(plugin.description),
            word("Apache-2.0"),
            word(load),
        ]);
    }
    Ok(())
}
