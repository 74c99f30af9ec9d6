//! The rows of SHOW statements, before LIKE and WHERE.

use crate::columns::{bigint, int, longtext, titled, varchar};
use crate::ddl_text::{column_type, default_text, has_charset};
use crate::figures::process_row;
use crate::information_schema::{
    collation_rows, column_key, engine_rows as engine_table, extra, index_rows, table_status, table_type,
};
use crate::rows::Rows;
use crate::{Context, Row, create_database, create_table, create_view, maybe, text, uint, word};
use catalog::mdl::{Mode, Name};
use catalog::{Schema, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

fn schema<'c>(cx: &'c Context, name: &str) -> Result<&'c Arc<Schema>> {
    let schema = cx.version.schema(name).filter(|s| (cx.viewer.visible)(&s.name, ""));
    schema.ok_or_else(|| err!(ER_BAD_DB_ERROR, name))
}

fn table<'c>(cx: &'c Context, schema_name: &str, name: &str) -> Result<&'c Arc<Table>> {
    cx.version.schema(schema_name).ok_or_else(|| err!(ER_BAD_DB_ERROR, schema_name))?;
    let table = cx.version.table(schema_name, name).filter(|t| (cx.viewer.visible)(&t.schema, &t.name));
    table.ok_or_else(|| err!(ER_NO_SUCH_TABLE, schema_name, name))
}

pub fn databases(cx: &Context, like: Option<&str>) -> Rows {
    let title = like.map_or("Database".to_string(), |p| format!("Database ({p})"));
    Rows::new(&[(&title, varchar(64))], cx.schemas().map(|s| vec![text(&s.name)]).collect())
}

pub fn tables(cx: &Context, schema_name: &str, full: bool, like: Option<&str>) -> Result<Rows> {
    let schema = schema(cx, schema_name)?;
    let title = like.map_or(format!("Tables_in_{schema_name}"), |p| format!("Tables_in_{schema_name} ({p})"));
    let mut columns = vec![(title.as_str(), varchar(64))];
    if full {
        columns.push(("Table_type", varchar(11)));
    }
    let kind = |t: &Table| word(table_type(t));
    let row = |t: &Arc<Table>| if full { vec![text(&t.name), kind(t)] } else { vec![text(&t.name)] };
    Ok(Rows::new(&columns, cx.tables(schema).map(row).collect()))
}

/// SHOW TABLE STATUS of the tables with such names.
pub fn table_status_of(cx: &Context, schema_name: &str, is_wanted: &dyn Fn(&str) -> bool) -> Result<Rows> {
    let schema = schema(cx, schema_name)?;
    let mut rows = Vec::new();
    for table in cx.tables(schema).filter(|table| is_wanted(&table.name)) {
        let mut row = vec![text(&table.name)];
        row.extend(table_status(cx, table)?);
        rows.push(row);
    }
    Ok(Rows::new(
        &titled(
            "TABLES",
            &[
                ("Name", "TABLE_NAME"),
                ("Engine", "ENGINE"),
                ("Version", "VERSION"),
                ("Row_format", "ROW_FORMAT"),
                ("Rows", "TABLE_ROWS"),
                ("Avg_row_length", "AVG_ROW_LENGTH"),
                ("Data_length", "DATA_LENGTH"),
                ("Max_data_length", "MAX_DATA_LENGTH"),
                ("Index_length", "INDEX_LENGTH"),
                ("Data_free", "DATA_FREE"),
                ("Auto_increment", "AUTO_INCREMENT"),
                ("Create_time", "CREATE_TIME"),
                ("Update_time", "UPDATE_TIME"),
                ("Check_time", "CHECK_TIME"),
                ("Collation", "TABLE_COLLATION"),
                ("Checksum", "CHECKSUM"),
                ("Create_options", "CREATE_OPTIONS"),
                ("Comment", "TABLE_COMMENT"),
            ],
        ),
        rows,
    ))
}

/// SHOW COLUMNS. Errors 1049, 1146, 1356.
pub fn columns(cx: &Context, schema_name: &str, name: &str, full: bool) -> Result<Rows> {
    let table = table(cx, schema_name, name)?;
    if let Some(e) = crate::invalid_view(&cx.version, table) {
        return Err(e);
    }
    let mut rows = Vec::new();
    for (position, column) in table.columns.iter().enumerate().filter(|(_, c)| !c.hidden) {
        let rights = (cx.viewer.column_privileges)(&table.schema, &table.name, &column.name);
        if rights.is_empty() {
            continue;
        }
        let t = &column.data_type;
        let kind = text(column_type(t, &column.members));
        let null = word(if t.nullable { "YES" } else { "NO" });
        let key = word(column_key(table, position));
        let (default, extra) = (maybe(default_text(column)), text(extra(column)));
        rows.push(if full {
            let collation = if has_charset(t) { word(t.collation.info().name) } else { Value::Null };
            let (rights, comment) = (text(rights), text(&column.comment));
            vec![text(&column.name), kind, collation, null, key, default, extra, rights, comment]
        } else {
            vec![text(&column.name), kind, null, key, default, extra]
        });
    }
    let mut titles = vec![("Field", "COLUMN_NAME"), ("Type", "COLUMN_TYPE")];
    if full {
        titles.push(("Collation", "COLLATION_NAME"));
    }
    titles.extend([("Null", "IS_NULLABLE"), ("Key", "COLUMN_KEY"), ("Default", "COLUMN_DEFAULT"), ("Extra", "EXTRA")]);
    if full {
        titles.extend([("Privileges", "PRIVILEGES"), ("Comment", "COLUMN_COMMENT")]);
    }
    let columns = titled("COLUMNS", &titles);
    Ok(Rows::new(&columns, rows))
}

pub fn index(cx: &Context, schema_name: &str, name: &str) -> Result<Rows> {
    let table = table(cx, schema_name, name)?;
    let mut rows = index_rows(cx, table)?;
    for row in &mut rows {
        row.insert(0, text(&table.name));
    }
    Ok(Rows::new(
        &titled(
            "STATISTICS",
            &[
                ("Table", "TABLE_NAME"),
                ("Non_unique", "NON_UNIQUE"),
                ("Key_name", "INDEX_NAME"),
                ("Seq_in_index", "SEQ_IN_INDEX"),
                ("Column_name", "COLUMN_NAME"),
                ("Collation", "COLLATION"),
                ("Cardinality", "CARDINALITY"),
                ("Sub_part", "SUB_PART"),
                ("Packed", "PACKED"),
                ("Null", "NULLABLE"),
                ("Index_type", "INDEX_TYPE"),
                ("Comment", "COMMENT"),
                ("Index_comment", "INDEX_COMMENT"),
                ("Visible", "IS_VISIBLE"),
                ("Expression", "EXPRESSION"),
            ],
        ),
        rows,
    ))
}

pub fn create_table_of(cx: &Context, schema_name: &str, name: &str) -> Result<Rows> {
    let table = table(cx, schema_name, name)?;
    if table.view.is_some() {
        return create_view_of(cx, schema_name, name);
    }
    let encrypts = cx.version.schema(schema_name).is_some_and(|schema| schema.encrypts);
    let row = vec![text(&table.name), text(create_table(table, encrypts, &cx.engine)?)];
    Ok(Rows::new(&[("Table", varchar(64)), ("Create Table", varchar(1024))], vec![row]))
}

/// SHOW CREATE VIEW. Error 1347.
pub fn create_view_of(cx: &Context, schema_name: &str, name: &str) -> Result<Rows> {
    let table = table(cx, schema_name, name)?;
    let view = table.view.as_ref().ok_or_else(|| err!(ER_WRONG_OBJECT, schema_name, name, "VIEW"))?;
    let statement = create_view(table, view, cx.database.as_deref());
    let row = vec![text(&table.name), text(statement), text(&view.client_charset), text(&view.connection_collation)];
    let columns = [
        ("View", varchar(64)),
        ("Create View", varchar(1024)),
        ("character_set_client", varchar(32)),
        ("collation_connection", varchar(32)),
    ];
    Ok(Rows::new(&columns, vec![row]))
}

pub fn create_database_of(cx: &Context, name: &str, if_not_exists: bool) -> Result<Rows> {
    let schema = schema(cx, name)?;
    let row = vec![text(&schema.name), text(create_database(schema, if_not_exists))];
    Ok(Rows::new(&[("Database", varchar(64)), ("Create Database", varchar(1024))], vec![row]))
}

pub fn processlist(cx: &Context, full: bool) -> Rows {
    cx.source.monitor().note_processlist();
    let rows = cx.processes().into_iter().map(|p| process_row(p, full)).collect();
    Rows::new(
        &[
            ("Id", bigint()),
            ("User", varchar(32)),
            ("Host", varchar(261)),
            ("db", varchar(64)),
            ("Command", varchar(16)),
            ("Time", int()),
            ("State", varchar(64)),
            ("Info", longtext()),
        ],
        rows,
    )
}

pub fn engines(cx: &Context) -> Rows {
    let titles = [
        ("Engine", "ENGINE"),
        ("Support", "SUPPORT"),
        ("Comment", "COMMENT"),
        ("Transactions", "TRANSACTIONS"),
        ("XA", "XA"),
        ("Savepoints", "SAVEPOINTS"),
    ];
    Rows::new(&titled("ENGINES", &titles), engine_table(cx))
}

pub fn charsets() -> Rows {
    let row = |c: Charset| {
        let collation = CollationId::default_of(c).info().name;
        vec![word(c.name()), word(c.description()), word(collation), uint(c.mbmaxlen().into())]
    };
    Rows::new(
        &[
            ("Charset", varchar(64)),
            ("Description", varchar(2048)),
            ("Default collation", varchar(64)),
            ("Maxlen", int().unsigned()),
        ],
        Charset::ALL.into_iter().map(row).collect(),
    )
}

pub fn collations() -> Rows {
    let titles = [
        ("Collation", "COLLATION_NAME"),
        ("Charset", "CHARACTER_SET_NAME"),
        ("Id", "ID"),
        ("Default", "IS_DEFAULT"),
        ("Compiled", "IS_COMPILED"),
        ("Sortlen", "SORTLEN"),
        ("Pad_attribute", "PAD_ATTRIBUTE"),
    ];
    Rows::new(&titled("COLLATIONS", &titles), collation_rows())
}

/// SHOW VARIABLES and SHOW STATUS.
pub fn pairs(list: Vec<(String, String)>) -> Rows {
    let rows = list.into_iter().map(|(name, value)| vec![text(name), text(value)]).collect();
    Rows::new(&[("Variable_name", varchar(64).not_null()), ("Value", varchar(1024))], rows)
}

/// Static privileges: name, what they are granted on, what they allow.
const PRIVILEGES: [(&str, &str, &str); 33] = [
    ("Alter", "Tables", "Change what a table is made of"),
    ("Alter routine", "Functions,Procedures", "Change and drop stored routines"),
    ("Create", "Databases,Tables,Indexes", "Make databases and tables"),
    ("Create routine", "Databases", "Make stored routines"),
    ("Create role", "Server Admin", "Make roles"),
    ("Create temporary tables", "Databases", "Make temporary tables"),
    ("Create view", "Tables", "Make views"),
    ("Create user", "Server Admin", "Make, change, rename and drop users"),
    ("Delete", "Tables", "Delete rows"),
    ("Drop", "Databases,Tables", "Drop databases, tables and views"),
    ("Drop role", "Server Admin", "Drop roles"),
    ("Event", "Server Admin", "Make, change, drop and see events"),
    ("Execute", "Functions,Procedures", "Call stored routines"),
    ("File", "File access on server", "Read and write files of the server's machine"),
    ("Grant option", "Databases,Tables,Functions,Procedures", "Give one's own privileges to others"),
    ("Index", "Tables", "Make and drop indexes"),
    ("Insert", "Tables", "Insert rows"),
    ("Lock tables", "Databases", "Lock tables that one may select from"),
    ("Process", "Server Admin", "See the statements of all sessions"),
    ("Proxy", "Server Admin", "Stand for another user"),
    ("References", "Databases,Tables", "Refer to a table by a foreign key"),
    ("Reload", "Server Admin", "Reload or flush tables, logs and privileges"),
    ("Replication client", "Server Admin", "Ask where sources and replicas are"),
    ("Replication slave", "Server Admin", "Read the events of a binary log"),
    ("Select", "Tables", "Read rows"),
    ("Show databases", "Server Admin", "See all databases"),
    ("Show view", "Tables", "See how a view is defined"),
    ("Shutdown", "Server Admin", "Stop the server"),
    ("Super", "Server Admin", "What has a dynamic privilege of its own by now"),
    ("Trigger", "Tables", "Make, drop and see triggers"),
    ("Create tablespace", "Server Admin", "Make, change and drop tablespaces"),
    ("Update", "Tables", "Change rows"),
    ("Usage", "Server Admin", "Connect, and nothing else"),
];

/// SHOW PRIVILEGES: names, contexts and order are MySQL's, and so is it that dynamic ones have no comment.
pub fn privileges(dynamic: &[&str]) -> Rows {
    let of_server = dynamic.iter().map(|name| (*name, "Server Admin", ""));
    let all = PRIVILEGES.into_iter().chain(of_server);
    Rows::new(
        &[("Privilege", varchar(32)), ("Context", varchar(64)), ("Comment", varchar(128))],
        all.map(|(name, context, comment)| [name, context, comment].map(text).to_vec()).collect(),
    )
}

/// SHOW OPEN TABLES of a server that keeps no table open: tables that transactions have locks on, and how many use them now, by a
/// statement that runs or by LOCK TABLES.
pub fn open_tables(cx: &Context, schema: Option<&str>) -> Rows {
    let running: BTreeSet<u64> =
        cx.source.processes().iter().filter(|p| p.command != "Sleep" && p.slot != cx.slot).map(|p| p.id).collect();
    let mut tables: BTreeMap<(String, String), BTreeSet<u64>> = BTreeMap::new();
    for lock in cx.source.metadata_locks().iter().filter(|lock| lock.granted) {
        let Name::Table(of, name) = &*lock.name else { continue };
        if schema.is_some_and(|schema| *schema != **of) || !(cx.viewer.visible)(of, name) {
            continue;
        }
        let users = tables.entry((of.to_string(), name.to_string())).or_default();
        let by_statement = running.contains(&lock.connection);
        if by_statement || matches!(lock.mode, Mode::SharedReadOnly | Mode::SharedNoReadWrite) {
            users.insert(lock.connection);
        }
    }
    let count = DataType { length: 11, ..DataType::new(TypeKind::BigInt) };
    let row = |((schema, name), users): ((String, String), BTreeSet<u64>)| {
        vec![text(schema), text(name), Value::Int(users.len() as i64), Value::Int(0)]
    };
    let rows = Rows::new(
        &[("Database", varchar(64)), ("Table", varchar(64)), ("In_use", count), ("Name_locked", count)],
        tables.into_iter().map(row).collect(),
    );
    Rows { like: 1, ..rows }
}

/// The columns, and no row.
pub fn empty(columns: &[&str]) -> Rows {
    let columns: Vec<_> = columns.iter().map(|c| (*c, varchar(64))).collect();
    Rows::new(&columns, Vec::new())
}

/// SHOW ENGINE ... MUTEX and LOGS, and STATUS of one that keeps nothing to tell of.
pub fn engine_rows(rows: Vec<Row>) -> Rows {
    Rows::new(&[("Type", varchar(10)), ("Name", varchar(512)), ("Status", varchar(10))], rows)
}

const REPLICA_STATUS: &[&str] = &[
    "Replica_IO_State",
    "Source_Host",
    "Source_User",
    "Source_Port",
    "Connect_Retry",
    "Source_Log_File",
    "Read_Source_Log_Pos",
    "Relay_Log_File",
    "Relay_Log_Pos",
    "Relay_Source_Log_File",
    "Replica_IO_Running",
    "Replica_SQL_Running",
    "Replicate_Do_DB",
    "Replicate_Ignore_DB",
    "Replicate_Do_Table",
    "Replicate_Ignore_Table",
    "Replicate_Wild_Do_Table",
    "Replicate_Wild_Ignore_Table",
    "Last_Errno",
    "Last_Error",
    "Skip_Counter",
    "Exec_Source_Log_Pos",
    "Relay_Log_Space",
    "Until_Condition",
    "Until_Log_File",
    "Until_Log_Pos",
    "Source_SSL_Allowed",
    "Source_SSL_CA_File",
    "Source_SSL_CA_Path",
    "Source_SSL_Cert",
    "Source_SSL_Cipher",
    "Source_SSL_Key",
    "Seconds_Behind_Source",
    "Source_SSL_Verify_Server_Cert",
    "Last_IO_Errno",
    "Last_IO_Error",
    "Last_SQL_Errno",
    "Last_SQL_Error",
    "Replicate_Ignore_Server_Ids",
    "Source_Server_Id",
    "Source_UUID",
    "Source_Info_File",
    "SQL_Delay",
    "SQL_Remaining_Delay",
    "Replica_SQL_Running_State",
    "Source_Retry_Count",
    "Source_Bind",
    "Last_IO_Error_Timestamp",
    "Last_SQL_Error_Timestamp",
    "Source_SSL_Crl",
    "Source_SSL_Crlpath",
    "Retrieved_Gtid_Set",
    "Executed_Gtid_Set",
    "Auto_Position",
    "Replicate_Rewrite_DB",
    "Channel_Name",
    "Source_TLS_Version",
    "Source_public_key_path",
    "Get_Source_public_key",
    "Network_Namespace",
];
/// Of these, the numbers: of 32 and of 64 bits.
const REPLICA_INTS: [&str; 11] = [
    "Source_Port",
    "Connect_Retry",
    "Last_Errno",
    "Skip_Counter",
    "Last_IO_Errno",
    "Last_SQL_Errno",
    "Source_Server_Id",
    "SQL_Delay",
    "SQL_Remaining_Delay",
    "Auto_Position",
    "Get_Source_public_key",
];
const REPLICA_BIGINTS: [&str; 7] = [
    "Read_Source_Log_Pos",
    "Relay_Log_Pos",
    "Exec_Source_Log_Pos",
    "Relay_Log_Space",
    "Until_Log_Pos",
    "Seconds_Behind_Source",
    "Source_Retry_Count",
];

/// SHOW REPLICA STATUS: a row a channel.
pub fn replica_status(rows: Vec<Row>, old: bool) -> Rows {
    let column = |name: &&'static str| match name {
        name if REPLICA_INTS.contains(name) => (*name, int().unsigned()),
        name if REPLICA_BIGINTS.contains(name) => (*name, bigint()),
        name => (*name, varchar(64)),
    };
    let mut shown = Rows::new(&REPLICA_STATUS.iter().map(column).collect::<Vec<_>>(), rows);
    if old {
        for (name, _) in &mut shown.columns {
            *name = name.replace("Source", "Master").replace("Replica_", "Slave_");
        }
    }
    shown
}

/// Error 1286 for an engine that is not there.
pub fn unknown_engine(name: &str) -> SqlError {
    err!(ER_UNKNOWN_STORAGE_ENGINE, name)
}

#[cfg(test)]
mod tests {
    use super::PRIVILEGES;
    use accounts::Privileges;

    #[test]
    fn each_static_privilege_is_told_of() {
        let mut told: Vec<String> = PRIVILEGES.iter().map(|(name, ..)| name.to_uppercase()).collect();
        // No bits of their own.
        told.retain(|name| !["PROXY", "USAGE"].contains(&name.as_str()));
        told.sort();
        let mut granted: Vec<String> = Privileges::GLOBAL.names().map(str::to_string).collect();
        granted.sort();
        assert_eq!(told, granted);
    }
}
