//! SHOW CREATE TABLE and SHOW CREATE DATABASE.

use crate::ddl_text::{column_line, index_line};
use catalog::{Schema, Table};
use sql::print::{quote_name, quote_string};
use std::fmt::Write;
use std::sync::atomic::Ordering;
use types::collation::CollationId;

/// The statement that makes this table.
pub fn create_table(table: &Table) -> String {
    let mut lines: Vec<String> = table.named_columns().map(|c| column_line(table, c)).collect();
    lines.extend(table.named_indexes().map(|i| index_line(table, i)));
    lines.extend(table.foreign_keys.iter().map(|k| k.clause(table)));
    lines.extend(table.checks.iter().map(|c| {
        let enforced = if c.enforced { "" } else { " /*!80016 NOT ENFORCED */" };
        format!("CONSTRAINT {} CHECK ({}){enforced}", quote_name(&c.name), c.expression)
    }));
    let mut out = format!("CREATE TABLE {} (\n  {}\n)", quote_name(&table.name), lines.join(",\n  "));
    out.push_str(" ENGINE=InnoDB");
    if let Some(counter) = &table.auto_increment {
        // Relaxed: a figure for the reader, no order with anything.
        let next = counter.next.load(Ordering::Relaxed);
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
    if !table.create_options.is_empty() {
        _ = write!(out, " {}", table.create_options);
    }
    if !table.comment.is_empty() {
        _ = write!(out, " COMMENT={}", quote_string(&table.comment));
    }
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
    out.push_str(" */ /*!80016 DEFAULT ENCRYPTION='N' */");
    out
}
