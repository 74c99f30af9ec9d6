//! Stored procedures and functions: SHOW CREATE, SHOW STATUS, ROUTINES, PARAMETERS.

use crate::columns::{titled, varchar};
use crate::ddl_text::{column_type, escaped, has_charset, type_name};
use crate::{Context, Row, Rows, datetime, maybe, text, uint, word};
use catalog::routine::{ParameterMode, Routine};
use catalog::{Column, RoutineKind};
use sql::print::quote_name;
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{Result, TypeKind, Value, err};

/// The type of a parameter, or of what a function gives, as definitions have it.
fn declared(column: &Column) -> String {
    let t = &column.data_type;
    let mut declared = column_type(t, &column.members);
    if has_charset(t) {
        declared += &format!(" CHARSET {}", t.collation.charset().name());
        if t.collation != types::CollationId::default_of(t.collation.charset()) {
            declared += &format!(" COLLATE {}", t.collation.info().name);
        }
    }
    declared
}

/// The statement that makes the routine, as SHOW CREATE and, with the schema where it was named, the binary log have it.
pub fn create_text(schema: Option<&str>, routine: &Routine, if_not_exists: bool) -> String {
    let (user, host) = routine.definer.rsplit_once('@').unwrap_or((&routine.definer, ""));
    // As its own text is quoted.
    let ansi = SqlMode(routine.sql_mode).has(SqlMode::ANSI_QUOTES);
    let quote_name = |name: &str| if ansi { format!("\"{}\"", name.replace('"', "\"\"")) } else { quote_name(name) };
    let definer = format!("{}@{}", quote_name(user), quote_name(host));
    let exists = if if_not_exists { "IF NOT EXISTS " } else { "" };
    let (kind, name) = (routine.kind.word(), quote_name(&routine.name));
    let of = schema.map_or_else(String::new, |schema| quote_name(schema) + ".");
    let mut out = format!("CREATE DEFINER={definer} {kind} {exists}{of}{name}({})", routine.parameter_text);
    if let Some(returns) = &routine.returns {
        out += &format!(" RETURNS {}", declared(returns));
    }
    out.push('\n');
    if routine.access != catalog::routine::RoutineAccess::ContainsSql {
        out += &format!("    {}\n", routine.access.words());
    }
    if routine.deterministic {
        out += "    DETERMINISTIC\n";
    }
    if routine.invoker {
        out += "    SQL SECURITY INVOKER\n";
    }
    if !routine.comment.is_empty() {
        out += &format!("    COMMENT '{}'\n", escaped(&routine.comment).replace("\\'", "''"));
    }
    out + &routine.body
}

/// SHOW CREATE PROCEDURE, SHOW CREATE FUNCTION. Error 1305 also where the session may not know of it.
pub fn show_create(cx: &Context, schema: &str, kind: RoutineKind, name: &str) -> Result<Rows> {
    let routine = cx.version.routine(schema, kind, name).filter(|r| cx.sees_routine(r));
    let routine = routine.ok_or_else(|| err!(ER_SP_DOES_NOT_EXIST, kind.word(), name))?;
    let shows_text = cx.shows_routine(routine);
    let (title, create) = match routine.kind {
        RoutineKind::Procedure => ("Procedure", "Create Procedure"),
        _ => ("Function", "Create Function"),
    };
    let columns = [
        (title, varchar(64)),
        ("sql_mode", varchar(256)),
        (create, varchar(1024)),
        ("character_set_client", varchar(32)),
        ("collation_connection", varchar(32)),
        ("Database Collation", varchar(32)),
    ];
    let row = vec![
        text(&routine.name),
        text(SqlMode(routine.sql_mode).names()),
        maybe(shows_text.then(|| create_text(None, routine, false))),
        text(&routine.client_charset),
        text(&routine.connection_collation),
        text(&routine.database_collation),
    ];
    Ok(Rows::new(&columns, vec![row]))
}

/// SHOW PROCEDURE STATUS, SHOW FUNCTION STATUS.
pub fn status(cx: &Context, kind: RoutineKind) -> Rows {
    let columns = titled(
        "ROUTINES",
        &[
            ("Db", "ROUTINE_SCHEMA"),
            ("Name", "ROUTINE_NAME"),
            ("Type", "ROUTINE_TYPE"),
            ("Language", "EXTERNAL_LANGUAGE"),
            ("Definer", "DEFINER"),
            ("Modified", "LAST_ALTERED"),
            ("Created", "CREATED"),
            ("Security_type", "SECURITY_TYPE"),
            ("Comment", "ROUTINE_COMMENT"),
            ("character_set_client", "CHARACTER_SET_CLIENT"),
            ("collation_connection", "COLLATION_CONNECTION"),
            ("Database Collation", "DATABASE_COLLATION"),
        ],
    );
    let rows = visible(cx).filter(|r| r.kind == kind).map(|r| {
        vec![
            text(&r.schema),
            text(&r.name),
            word(r.kind.word()),
            word("SQL"),
            text(&r.definer),
            datetime(r.altered),
            datetime(r.created),
            word(if r.invoker { "INVOKER" } else { "DEFINER" }),
            text(&r.comment),
            text(&r.client_charset),
            text(&r.connection_collation),
            text(&r.database_collation),
        ]
    });
    Rows { like: 1, ..Rows::new(&columns, rows.collect()) }
}

/// Those that the session may know of.
fn visible(cx: &Context) -> impl Iterator<Item = &Routine> {
    let all = cx.version.schemas.values().flat_map(|s| s.routines.values());
    all.map(|r| &**r).filter(|r| cx.sees_routine(r))
}

pub(crate) fn routines(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for r in visible(cx) {
        let mut row = vec![text(&r.name), word("def"), text(&r.schema), text(&r.name), word(r.kind.word())];
        match &r.returns {
            Some(returns) => row.extend(described(returns)),
            None => {
                row.push(word(""));
                row.extend(std::iter::repeat_n(Value::Null, 8));
            }
        }
        let body = cx.shows_routine(r).then(|| r.body.clone());
        row.extend([
            word("SQL"),
            maybe(body),
            Value::Null,
            word("SQL"),
            word("SQL"),
            word(if r.deterministic { "YES" } else { "NO" }),
            word(r.access.words()),
            Value::Null,
            word(if r.invoker { "INVOKER" } else { "DEFINER" }),
            datetime(r.created),
            datetime(r.altered),
            text(SqlMode(r.sql_mode).names()),
            text(&r.comment),
            text(&r.definer),
            text(&r.client_charset),
            text(&r.connection_collation),
            text(&r.database_collation),
        ]);
        out.push(row);
    }
    Ok(())
}

pub(crate) fn parameters(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for r in visible(cx) {
        let mut push = |at: usize, mode: Value<'static>, name: Value<'static>, column: &Column| {
            let mut row = vec![word("def"), text(&r.schema), text(&r.name), uint(at as u64), mode, name];
            row.extend(described(column));
            row.push(word(r.kind.word()));
            out.push(row);
        };
        if let Some(returns) = &r.returns {
            push(0, Value::Null, Value::Null, returns);
        }
        for (i, p) in r.parameters.iter().enumerate() {
            let mode = match p.mode {
                ParameterMode::In => "IN",
                ParameterMode::Out => "OUT",
                ParameterMode::InOut => "INOUT",
            };
            push(i + 1, word(mode), text(&p.column.name), &p.column);
        }
    }
    Ok(())
}

/// DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION,
/// CHARACTER_SET_NAME, COLLATION_NAME, DTD_IDENTIFIER.
fn described(column: &Column) -> Vec<Value<'static>> {
    let t = &column.data_type;
    let mut row = vec![word(type_name(t.kind))];
    let mut figures = crate::figures::type_figures(t);
    if t.kind == TypeKind::Bit {
        figures[3] = uint(0);
    }
    row.extend(figures);
    row.push(text(column_type(t, &column.members)));
    row
}
