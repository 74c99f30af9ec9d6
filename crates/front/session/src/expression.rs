//! Expressions of definitions (CHECK, DEFAULT, generated columns, index parts) as canonical text, and what each may hold.

use crate::statement::unsupported;
use sql::ast::{Builtin, Expr, ExprId, Parsed, Statement};
use sql::print::{self, Names};
use types::codes::*;
use types::{Result, SqlError, err};

/// Where an expression stands, with the name of what it belongs to.
#[derive(Clone, Copy)]
pub(crate) enum Place<'n> {
    Check(&'n str),
    Default(&'n str),
    Generated(&'n str),
    Index(&'n str),
}

/// Columns as the table spells them, unqualified.
struct Known<'n>(&'n [String]);

impl Names for Known<'_> {
    fn column(&mut self, _schema: Option<&str>, _table: Option<&str>, column: &str) -> String {
        let known = self.0.iter().find(|c| catalog::eq_name(c, column));
        print::quote_name(known.map_or(column, |c| c.as_str()))
    }
}

/// Functions whose value is another at each call, or depends on who asks.
const VOLATILE: &[&str] = &[
    "benchmark",
    "connection_id",
    "found_rows",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "load_file",
    "master_pos_wait",
    "rand",
    "release_all_locks",
    "release_lock",
    "row_count",
    "sleep",
    "source_pos_wait",
    "unix_timestamp",
    "uuid",
    "uuid_short",
    "version",
];

/// Those of them that a default may call.
const IN_DEFAULTS: &[&str] = &["connection_id", "rand", "unix_timestamp", "uuid", "uuid_short", "version"];

/// The canonical text of an expression over `columns`. Errors 1054, 3102, 3763, 3770, 3772, 3812, 3814, 3816, ...
pub(crate) fn canonical(
    parsed: &Parsed,
    id: ExprId,
    charset: &str,
    columns: &[String],
    place: Place<'_>,
) -> Result<String> {
    let text = print::expression(parsed, id, charset, &mut Known(columns)).ok_or_else(|| refused(parsed, place))?;
    // The text alone holds the expression and nothing else of the statement.
    let alone = sql::parse(format!("DO {text}").as_bytes(), sql::SqlMode::default());
    let alone = alone.map_err(|e| expr::error::parse_error(&e))?;
    debug_assert!(matches!(alone.statement, Statement::Do(_)));
    for e in alone.exprs() {
        check_node(&alone, e, columns, place)?;
    }
    Ok(text)
}

fn check_node(parsed: &Parsed, e: &Expr, columns: &[String], place: Place<'_>) -> Result<()> {
    match e {
        Expr::Column { column, .. } => {
            let name = parsed.name(*column);
            if columns.iter().any(|c| catalog::eq_name(c, name)) {
                return Ok(());
            }
            Err(match place {
                Place::Check(check) => err!(ER_CHECK_CONSTRAINT_REFERS_UNKNOWN_COLUMN, check, name),
                Place::Default(_) => err!(ER_BAD_FIELD_ERROR, name, "default value expression"),
                Place::Generated(_) => err!(ER_BAD_FIELD_ERROR, name, "generated column function"),
                Place::Index(_) => err!(ER_BAD_FIELD_ERROR, name, "functional index"),
            })
        }
        Expr::Call { name, .. } => {
            let name = parsed.name(*name);
            let volatile = VOLATILE.contains(&name);
            match place {
                Place::Default(_) if IN_DEFAULTS.contains(&name) => Ok(()),
                _ if volatile => Err(disallowed(place, name)),
                // A stored function's, or nobody's.
                _ if expr::functions::find(name).is_none() && !plan::expression::is_spatial(name) => {
                    Err(disallowed(place, &print::quote_name(name)))
                }
                _ => Ok(()),
            }
        }
        Expr::Builtin { func, .. } => {
            use Builtin::*;
            let differs = matches!(
                func,
                Now | SysDate
                    | CurDate
                    | CurTime
                    | UtcDate
                    | UtcTime
                    | UtcTimestamp
                    | CurrentUser
                    | User
                    | Database
                    | RowCount
            );
            match place {
                _ if !differs => Ok(()),
                Place::Default(_) => Ok(()),
                _ => Err(disallowed(place, func.name())),
            }
        }
        Expr::Aggregate { .. } | Expr::CountStar | Expr::GroupConcat(_) => Err(err!(ER_INVALID_GROUP_FUNC_USE)),
        Expr::DefaultOf(_) => Err(match place {
            Place::Default(_) => err!(ER_DEFAULT_AS_VAL_GENERATED),
            place => disallowed(place, "default"),
        }),
        Expr::Row(_) => Ok(()),
        _ => Ok(()),
    }
}

fn disallowed(place: Place<'_>, function: &str) -> SqlError {
    match place {
        Place::Check(name) => err!(ER_CHECK_CONSTRAINT_NAMED_FUNCTION_IS_NOT_ALLOWED, name, function),
        Place::Default(name) => err!(ER_DEFAULT_VAL_GENERATED_NAMED_FUNCTION_IS_NOT_ALLOWED, name, function),
        Place::Generated(name) => err!(ER_GENERATED_COLUMN_NAMED_FUNCTION_IS_NOT_ALLOWED, name, function),
        Place::Index(name) => err!(ER_FUNCTIONAL_INDEX_FUNCTION_IS_NOT_ALLOWED, name),
    }
}

/// The error of what has no canonical text: variables, subqueries, parameters, windows.
fn refused(parsed: &Parsed, place: Place<'_>) -> SqlError {
    let windows = parsed.exprs().iter().find_map(|e| if let Expr::Window(call) = e { Some(call) } else { None });
    if let Some(call) = windows {
        return err!(ER_WINDOW_INVALID_WINDOW_FUNC_USE, print::window_function(parsed, call));
    }
    let variable = parsed.exprs().iter().any(|e| matches!(e, Expr::UserVar(_) | Expr::SystemVar { .. }));
    match place {
        Place::Check(name) if variable => err!(ER_CHECK_CONSTRAINT_VARIABLES, name),
        Place::Check(name) => err!(ER_CHECK_CONSTRAINT_FUNCTION_IS_NOT_ALLOWED, name),
        Place::Default(name) if variable => err!(ER_DEFAULT_VAL_GENERATED_VARIABLES, name),
        Place::Default(name) => err!(ER_DEFAULT_VAL_GENERATED_FUNCTION_IS_NOT_ALLOWED, name),
        Place::Generated(name) => err!(ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, name),
        Place::Index(_) => unsupported("this expression in an index"),
    }
}

/// The columns that a canonical expression reads.
pub(crate) fn columns_of(text: &str) -> Vec<String> {
    let parsed = sql::parse(format!("DO {text}").as_bytes(), sql::SqlMode::default());
    let parsed = parsed.expect("canonical text parses");
    let column = |e: &Expr| match e {
        Expr::Column { column, .. } => Some(parsed.name(*column).to_string()),
        _ => None,
    };
    parsed.exprs().iter().filter_map(column).collect()
}

/// Does the expression say true or false, as a CHECK has to?
pub(crate) fn is_boolean(parsed: &Parsed, id: ExprId) -> bool {
    use sql::ast::{BinaryOp::*, UnaryOp};
    const PREDICATES: &[&str] = &[
        "isnull",
        "json_contains",
        "json_contains_path",
        "json_overlaps",
        "json_schema_valid",
        "json_valid",
        "regexp_like",
    ];
    match &parsed[id] {
        Expr::Bool(_) | Expr::And(_) | Expr::Or(_) | Expr::Is { .. } | Expr::Like { .. } | Expr::Regexp { .. } => true,
        Expr::Between { .. } | Expr::InList { .. } | Expr::Unary { op: UnaryOp::Not, .. } => true,
        Expr::Binary { op, .. } => {
            matches!(op, Xor | Eq | NullSafeEq | Ne | Lt | Le | Gt | Ge | SoundsLike | MemberOf)
        }
        Expr::Call { name, .. } => PREDICATES.iter().any(|p| p.eq_ignore_ascii_case(parsed.name(*name))),
        _ => false,
    }
}
