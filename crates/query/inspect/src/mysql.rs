//! The schema `mysql`: accounts and what is granted to them in the tables in which MySQL keeps them, to be read. They are
//! computed from the directory of accounts, which only CREATE USER, GRANT and their like change: other statements that would
//! write to them are refused. What a dump makes in their places is taken over as a whole ([`crate::granted`]).

use crate::columns::Compute::{All, ByTable};
use crate::columns::{Compute, MYSQL, Written};
use crate::grants::{column_set, table_set};
use crate::{Context, Row, datetime, innodb_statistics, text, uint, word};
use accounts::{Account, Granted, Lifetime, LockTime, LoginRules, Privileges, Requirement};
use catalog::Schema;
use catalog::installed::Installed;
use types::codes::*;
use types::collation::CollationId;
use types::json::{self, Json, Object};
use types::{DateTime, Result, SqlError, Value, err};

/// Rows by table; the others are of what the server does not have.
const COMPUTED: &[(&str, Compute)] = &[
    ("columns_priv", All(columns_priv)),
    ("component", All(component)),
    ("db", All(db)),
    ("default_roles", All(default_roles)),
    ("general_log", All(general_log)),
    ("global_grants", All(global_grants)),
    ("gtid_executed", All(gtid_executed)),
    ("innodb_index_stats", ByTable(innodb_statistics::indexes)),
    ("innodb_table_stats", ByTable(innodb_statistics::tables)),
    ("password_history", All(password_history)),
    ("plugin", All(plugin)),
    ("procs_priv", All(procs_priv)),
    ("proxies_priv", All(proxies_priv)),
    ("role_edges", All(role_edges)),
    ("servers", All(servers)),
    ("slow_log", All(slow_log)),
    ("tables_priv", All(tables_priv)),
    ("user", All(user)),
];

pub(crate) fn schema() -> Schema {
    let mut schema = Schema::new("mysql", CollationId::UTF8MB4_0900_AI_CI);
    MYSQL.add_written(&mut schema, COMPUTED, |name| match name {
        "innodb_index_stats" => Written { insert: Some(|_, _| no_row("innodb_index_stats")), ..Written::NOTHING },
        "innodb_table_stats" => Written { insert: Some(|_, _| no_row("innodb_table_stats")), ..Written::NOTHING },
        _ => Written::NOTHING,
    });
    schema
}

/// The statistics are those of the tables. INSERT IGNORE, by which MySQL's dump would bring others, leaves its rows out with a warning.
fn no_row(table: &str) -> Result<()> {
    Err(err!(ER_NO_SYSTEM_TABLE_ACCESS, "system table", catalog::MYSQL, table))
}

fn general_log(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.logged(false)?);
    Ok(())
}

fn slow_log(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.logged(true)?);
    Ok(())
}

fn gtid_executed(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.gtid_executed().into_iter().map(|interval| {
        let (first, last) = (Value::Int(interval.first as i64), Value::Int(interval.last as i64));
        vec![text(interval.uuid), first, last, text(interval.tag)]
    }));
    Ok(())
}

fn servers(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.foreign_servers()?.into_iter().map(|s| {
        let mut row = [s.name, s.host, s.database, s.user, s.password].map(text).to_vec();
        row.push(Value::Int(s.port as i64));
        row.extend([s.socket, s.wrapper, s.owner].map(text));
        row
    }));
    Ok(())
}

fn component(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.installed()?.into_iter().filter_map(|one| match one {
        Installed::Component { urn, id, group } => Some(vec![uint(id.into()), uint(group.into()), text(urn)]),
        Installed::Plugin { .. } => None,
    }));
    Ok(())
}

fn plugin(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.installed()?.into_iter().filter_map(|one| match one {
        Installed::Plugin { name, library } => Some(vec![text(name), text(library)]),
        Installed::Component { .. } => None,
    }));
    Ok(())
}

/// ENUM('N','Y')
fn yn(b: bool) -> Value<'static> {
    uint(1 + u64::from(b))
}

fn host(account: &Account) -> Value<'static> {
    text(&account.name.host)
}

fn name(account: &Account) -> Value<'static> {
    text(&account.name.user)
}

/// By whom and when.
fn granted(granted: &Granted) -> [Value<'static>; 2] {
    let at = if granted.at_s == 0 { Value::DateTime(DateTime(0)) } else { datetime(granted.at_s) };
    [text(&granted.by), at]
}

/// The last of the privileges that stand before `ssl_type`; those of roles came later, and stand behind.
const LAST_OLD: u64 = Privileges::CREATE_TABLESPACE.0;

fn user(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for a in cx.viewer.rights.directory.accounts() {
        let old = Privileges::GLOBAL.each().filter(|(_, one)| one.0 <= LAST_OLD);
        let mut row = vec![host(a), name(a)];
        row.extend(old.map(|(_, one)| yn(a.global.has(one))));
        row.extend(requirement(&a.requirement));
        let limits = [
            a.limits.queries_per_hour,
            a.limits.updates_per_hour,
            a.limits.connections_per_hour,
            a.limits.user_connections,
        ];
        row.extend(limits.map(|n| uint(n.into())));
        let lifetime = match a.rules.lifetime {
            Lifetime::Default => Value::Null,
            Lifetime::Never => uint(0),
            Lifetime::Days(days) => uint(days.into()),
        };
        row.extend([word(a.plugin.name()), Value::Bytes(a.auth_string.clone().into()), yn(a.password_expired)]);
        row.extend([datetime(a.password_set_at_s), lifetime, yn(a.locked)]);
        row.extend([Privileges::CREATE_ROLE, Privileges::DROP_ROLE].map(|one| yn(a.global.has(one))));
        let number = |n: Option<u32>| n.map_or(Value::Null, |n| uint(n.into()));
        row.extend([number(a.rules.history), number(a.rules.reuse_days)]);
        row.extend([a.rules.require_current.map_or(Value::Null, yn), attributes(a)?]);
        out.push(row);
    }
    Ok(())
}

/// ssl_type to x509_subject.
fn requirement(requirement: &Requirement) -> [Value<'static>; 4] {
    let (kind, rest) = match requirement {
        Requirement::None => (1, ["", "", ""]),
        Requirement::Ssl => (2, ["", "", ""]),
        Requirement::X509 => (3, ["", "", ""]),
        Requirement::Specified { subject, issuer, cipher } => (4, [cipher.as_str(), issuer, subject]),
    };
    let [cipher, issuer, subject] = rest.map(text);
    [uint(kind), cipher, issuer, subject]
}

/// User_attributes: what has no column of its own.
fn attributes(account: &Account) -> Result<Value<'static>> {
    let mut all: Vec<(String, Json)> = Vec::new();
    if !account.attribute.is_empty() {
        let metadata = json::parse::parse(account.attribute.as_bytes());
        let metadata =
            metadata.map_err(|_| SqlError::new(ER_UNKNOWN_ERROR, "the attribute of an account is no JSON"))?;
        all.push(("metadata".to_string(), metadata));
    }
    if account.logins != LoginRules::default() {
        let days = match account.logins.lock {
            LockTime::Days(days) => days.into(),
            LockTime::Unbounded => -1,
        };
        let rules = vec![
            ("failed_login_attempts".to_string(), Json::Int(account.logins.attempts.into())),
            ("password_lock_time_days".to_string(), Json::Int(days)),
        ];
        all.push(("Password_locking".to_string(), Json::Object(Object::from_members(rules))));
    }
    if !account.restrictions.is_empty() {
        let word = |name: &'static str| if name == "GRANT OPTION" { "GRANT" } else { name };
        let names = |taken: &Privileges| taken.names().map(|n| Json::String(word(n).to_string())).collect();
        let restricted = |(schema, taken): (&String, &Privileges)| {
            let members = vec![
                ("Database".to_string(), Json::String(schema.clone())),
                ("Privileges".to_string(), Json::Array(names(taken))),
            ];
            Json::Object(Object::from_members(members))
        };
        all.push(("Restrictions".to_string(), Json::Array(account.restrictions.iter().map(restricted).collect())));
    }
    if !account.second_auth.is_empty() {
        let hash = String::from_utf8_lossy(&account.second_auth).into_owned();
        all.push(("additional_password".to_string(), Json::String(hash)));
    }
    Ok(if all.is_empty() { Value::Null } else { Value::from_json(&Json::Object(Object::from_members(all))) })
}

/// In the order of the columns of `db`.
const OF_SCHEMAS: [Privileges; 19] = [
    Privileges::SELECT,
    Privileges::INSERT,
    Privileges::UPDATE,
    Privileges::DELETE,
    Privileges::CREATE,
    Privileges::DROP,
    Privileges::GRANT_OPTION,
    Privileges::REFERENCES,
    Privileges::INDEX,
    Privileges::ALTER,
    Privileges::CREATE_TEMPORARY_TABLES,
    Privileges::LOCK_TABLES,
    Privileges::CREATE_VIEW,
    Privileges::SHOW_VIEW,
    Privileges::CREATE_ROUTINE,
    Privileges::ALTER_ROUTINE,
    Privileges::EXECUTE,
    Privileges::EVENT,
    Privileges::TRIGGER,
];

fn db(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for a in cx.viewer.rights.directory.accounts() {
        for grant in &a.schemas {
            let mut row = vec![host(a), text(&grant.schema), name(a)];
            row.extend(OF_SCHEMAS.map(|one| yn(grant.privileges.has(one))));
            out.push(row);
        }
    }
    Ok(())
}

fn procs_priv(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    const WORDS: [(&str, Privileges); 3] = [
        ("Execute", Privileges::EXECUTE),
        ("Alter Routine", Privileges::ALTER_ROUTINE),
        ("Grant", Privileges::GRANT_OPTION),
    ];
    for a in cx.viewer.rights.directory.accounts() {
        for grant in &a.routines {
            let words = WORDS.iter().filter(|(_, one)| grant.privileges.has(*one)).map(|(word, _)| *word);
            let [grantor, at] = granted(&grant.granted);
            out.push(vec![
                host(a),
                text(&grant.schema),
                name(a),
                text(&grant.name),
                // ENUM('FUNCTION','PROCEDURE')
                uint(if grant.function { 1 } else { 2 }),
                grantor,
                text(words.collect::<Vec<_>>().join(",")),
                at,
            ]);
        }
    }
    Ok(())
}

fn tables_priv(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for a in cx.viewer.rights.directory.accounts() {
        for grant in &a.tables {
            let mut row = vec![host(a), text(&grant.schema), name(a), text(&grant.table)];
            let of_columns = grant.columns.values().fold(Privileges::NONE, |all, p| all | *p);
            row.extend(granted(&grant.granted));
            row.extend([table_set(grant.privileges), column_set(of_columns)]);
            out.push(row);
        }
    }
    Ok(())
}

fn columns_priv(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for a in cx.viewer.rights.directory.accounts() {
        for grant in &a.tables {
            out.extend(grant.columns.iter().map(|(column, on)| {
                let mut row = vec![host(a), text(&grant.schema), name(a), text(&grant.table)];
                let [_, at] = granted(&grant.granted);
                row.extend([text(column), at, column_set(*on)]);
                row
            }));
        }
    }
    Ok(())
}

fn global_grants(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for a in cx.viewer.rights.directory.accounts() {
        out.extend(a.dynamic.iter().map(|(privilege, with)| vec![name(a), host(a), text(privilege), yn(*with)]));
    }
    Ok(())
}

fn role_edges(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for a in cx.viewer.rights.directory.accounts() {
        out.extend(a.roles.iter().map(|(r, admin)| vec![text(&r.host), text(&r.user), host(a), name(a), yn(*admin)]));
    }
    Ok(())
}

fn default_roles(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for a in cx.viewer.rights.directory.accounts() {
        out.extend(a.default_roles.iter().map(|r| vec![host(a), name(a), text(&r.host), text(&r.user)]));
    }
    Ok(())
}

fn proxies_priv(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for a in cx.viewer.rights.directory.accounts() {
        out.extend(a.proxies.iter().map(|(of, proxy)| {
            let with_grant = Value::Int(i64::from(proxy.with_grant));
            let mut row = vec![host(a), name(a), text(&of.host), text(&of.user), with_grant];
            row.extend(granted(&proxy.granted));
            row
        }));
    }
    Ok(())
}

fn password_history(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for a in cx.viewer.rights.directory.accounts() {
        for (i, old) in a.passwords.iter().enumerate() {
            // The time is the key: of those of one second, the newest first, each has a microsecond of its own.
            let later = a.passwords[..i].iter().rev().take_while(|p| p.set_at_s == old.set_at_s).count();
            let all = a.passwords.iter().filter(|p| p.set_at_s == old.set_at_s).count();
            let at = types::DateTime::from_unix(old.set_at_s as i64, (all - 1 - later) as u32);
            let at = at.map_or(Value::Null, Value::DateTime);
            out.push(vec![host(a), name(a), at, Value::Bytes(old.hash.clone().into())]);
        }
    }
    Ok(())
}
