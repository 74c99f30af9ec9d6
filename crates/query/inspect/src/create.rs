//! SHOW CREATE TABLE and SHOW CREATE DATABASE.

use crate::ddl_text::{column_line, index_line};
use crate::information_schema::{PERFORMANCE_SCHEMA_ENGINE, is_of_instruments};
use catalog::{CheckOption, Schema, Table, View, ViewAlgorithm};
use engine::Engine;
use sql::lexer::{Lexer, Tok};
use sql::print::{quote_name, quote_string};
use std::fmt::Write;
use types::Result;
use types::collation::CollationId;

/// The statement that makes this table. Errors: the counter of its AUTO_INCREMENT column cannot be read.
pub fn create_table(table: &Table, encrypts: bool, engine: &Engine) -> Result<String> {
    let mut lines: Vec<String> = table.named_columns().map(|c| column_line(table, c)).collect();
    lines.extend(table.named_indexes().map(|i| index_line(table, i)));
    lines.extend(table.foreign_keys.iter().map(|k| k.clause(table)));
    lines.extend(table.checks.iter().map(|c| {
        let enforced = if c.enforced { "" } else { " /*!80016 NOT ENFORCED */" };
        format!("CONSTRAINT {} CHECK ({}){enforced}", quote_name(&c.name), c.expression)
    }));
    let word = if table.temporary { "TEMPORARY " } else { "" };
    let mut out = format!("CREATE {word}TABLE {} (\n  {}\n)", quote_name(&table.name), lines.join(",\n  "));
    let options = table.create_options.in_schema(encrypts && !table.temporary);
    out.push_str(&options.before_engine(quote_name));
    let engine_name = if is_of_instruments(table) { PERFORMANCE_SCHEMA_ENGINE } else { table.engine.name() };
    _ = write!(out, " ENGINE={engine_name}");
    if let Some(counter) = &table.auto_increment {
        let next = counter.next(engine).map_err(catalog::error::from_engine)?;
        if next > 1 {
            _ = write!(out, " AUTO_INCREMENT={next}");
        }
    }
    let collation = table.default_collation;
    _ = write!(out, " DEFAULT CHARSET={}", collation.charset().name());
    // MySQL leaves out default collations, but for utf8mb4's.
    if collation != CollationId::default_of(collation.charset()) || collation == CollationId::UTF8MB4_0900_AI_CI {
        _ = write!(out, " COLLATE={}", collation.info().name);
    }
    let (options, behind_comment) = options.shown(quote_string);
    out.push_str(&options);
    if !table.comment.is_empty() {
        _ = write!(out, " COMMENT={}", quote_string(&table.comment));
    }
    out.push_str(&behind_comment);
    Ok(out)
}

/// The statement that makes this view, for somebody whose current schema is `database`.
pub fn create_view(table: &Table, view: &View, database: Option<&str>) -> String {
    let algorithm = match view.algorithm {
        ViewAlgorithm::Undefined => "UNDEFINED",
        ViewAlgorithm::Merge => "MERGE",
        ViewAlgorithm::TempTable => "TEMPTABLE",
    };
    let (user, host) = view.definer.rsplit_once('@').unwrap_or((&view.definer, ""));
    let security = if view.invoker { "INVOKER" } else { "DEFINER" };
    let own = database == Some(&table.schema);
    let name = if own { quote_name(&table.name) } else { quote_name(&table.schema) + "." + &quote_name(&table.name) };
    let named: Vec<String> = table.columns.iter().filter(|_| view.named).map(|c| quote_name(&c.name)).collect();
    let columns = if named.is_empty() { String::new() } else { format!(" ({})", named.join(",")) };
    let query = if own { unqualified(&view.query, &table.schema) } else { view.query.clone() };
    let check = match view.check_option {
        CheckOption::None => "",
        CheckOption::Local => " WITH LOCAL CHECK OPTION",
        CheckOption::Cascaded => " WITH CASCADED CHECK OPTION",
    };
    let definer = format!("{}@{}", quote_name(user), quote_name(host));
    format!(
        "CREATE ALGORITHM={algorithm} DEFINER={definer} SQL SECURITY {security} VIEW {name}{columns} AS {query}{check}"
    )
}

/// The text without `schema`. in front of names.
fn unqualified(query: &str, schema: &str) -> String {
    let quoted = quote_name(schema);
    let mut lexer = Lexer::new(query.as_bytes(), sql::SqlMode::default());
    let (mut out, mut kept) = (String::with_capacity(query.len()), 0);
    let mut before = lexer.next_token();
    while before.tok != Tok::End {
        let token = lexer.next_token();
        let (from, to) = (before.start as usize, before.end as usize);
        if token.tok == Tok::Dot && query.get(from..to) == Some(&quoted) {
            out.push_str(&query[kept..from]);
            kept = token.end as usize;
        }
        before = token;
    }
    out.push_str(&query[kept..]);
    out
}

/// The statement that makes this schema.
pub fn create_database(schema: &Schema, if_not_exists: bool) -> String {
    let collation = schema.default_collation;
    let mut out = "CREATE DATABASE ".to_string();
    if if_not_exists {
        out.push_str("/*!32312 IF NOT EXISTS*/ ");
    }
    _ = write!(out, "{} /*!40100 DEFAULT CHARACTER SET {}", quote_name(&schema.name), collation.charset().name());
    if collation != CollationId::default_of(collation.charset()) || collation == CollationId::UTF8MB4_0900_AI_CI {
        _ = write!(out, " COLLATE {}", collation.info().name);
    }
    let encrypts = if schema.encrypts { 'Y' } else { 'N' };
    _ = write!(out, " */ /*!80016 DEFAULT ENCRYPTION='{encrypts}' */");
    if schema.read_only {
        out.push_str(" /* READ ONLY = 1 */");
    }
    out
}
