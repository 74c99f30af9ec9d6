//! Types, names and defaults as MySQL writes them in SHOW CREATE TABLE and information_schema.

use catalog::{Column, ColumnDefault, Index, Table};
use sql::print::{quote_name, quote_string};
use std::fmt::Write;
use types::collation::CollationId;
use types::{DataType, TypeKind, Value};

/// `int unsigned`, `varchar(20)`, `enum('a','b')`: COLUMN_TYPE.
pub fn column_type(data_type: &DataType, members: &[String]) -> String {
    use TypeKind::*;
    let t = data_type;
    let mut out = type_name(t.kind).to_string();
    match t.kind {
        // MySQL 8 shows widths of integers for TINYINT(1) and ZEROFILL alone.
        TinyInt if t.length == 1 && !t.unsigned && !t.zerofill => out.push_str("(1)"),
        TinyInt | SmallInt | MediumInt | Int | BigInt if t.zerofill => _ = write!(out, "({})", t.length),
        Char | VarChar | Binary | VarBinary | Bit => _ = write!(out, "({})", t.length),
        Decimal => _ = write!(out, "({},{})", t.length, t.decimals),
        Float | Double if t.decimals < types::datatype::DECIMALS_NOT_FIXED && t.length > 0 => {
            _ = write!(out, "({},{})", t.length, t.decimals);
        }
        Time | DateTime | Timestamp if t.decimals > 0 => _ = write!(out, "({})", t.decimals),
        Enum | Set => {
            let list: Vec<String> = members.iter().map(|m| quote_string(m)).collect();
            _ = write!(out, "({})", list.join(","));
        }
        _ => {}
    }
    if t.unsigned && !matches!(t.kind, Bit | Year) {
        out.push_str(" unsigned");
    }
    if t.zerofill && t.kind != Year {
        out.push_str(" zerofill");
    }
    out
}

/// DATA_TYPE.
pub(crate) fn type_name(kind: TypeKind) -> &'static str {
    use TypeKind::*;
    match kind {
        Null => "null",
        TinyInt => "tinyint",
        SmallInt => "smallint",
        MediumInt => "mediumint",
        Int => "int",
        BigInt => "bigint",
        Decimal => "decimal",
        Float => "float",
        Double => "double",
        Bit => "bit",
        Year => "year",
        Date => "date",
        Time => "time",
        DateTime => "datetime",
        Timestamp => "timestamp",
        Char => "char",
        VarChar => "varchar",
        Binary => "binary",
        VarBinary => "varbinary",
        TinyText => "tinytext",
        Text => "text",
        MediumText => "mediumtext",
        LongText => "longtext",
        TinyBlob => "tinyblob",
        Blob => "blob",
        MediumBlob => "mediumblob",
        LongBlob => "longblob",
        Enum => "enum",
        Set => "set",
        Json => "json",
        Geometry => "geometry",
    }
}

/// Has the column a character set (and not `binary`)?
pub(crate) fn has_charset(t: &DataType) -> bool {
    t.kind.is_text() && t.collation != CollationId::BINARY
}

/// `CURRENT_TIMESTAMP` with the column's digits.
pub(crate) fn now_text(t: &DataType) -> String {
    if t.decimals > 0 { format!("CURRENT_TIMESTAMP({})", t.decimals) } else { "CURRENT_TIMESTAMP".to_string() }
}

/// The default as information_schema.COLUMNS prints it; `None` for no default and for NULL.
pub(crate) fn default_text(column: &Column) -> Option<String> {
    match &column.default {
        ColumnDefault::None | ColumnDefault::Value(Value::Null) => None,
        ColumnDefault::Now => Some(now_text(&column.data_type)),
        ColumnDefault::Expression(text) => Some(escaped(text)),
        ColumnDefault::Value(value) => Some(value_text(value, column)),
    }
}

/// The text of an expression as information_schema prints it: quotes behind backslashes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

fn value_text(value: &Value<'_>, column: &Column) -> String {
    match (value, column.data_type.kind) {
        (Value::UInt(n), TypeKind::Enum) => {
            (*n as usize).checked_sub(1).and_then(|i| column.members.get(i)).cloned().unwrap_or_default()
        }
        (Value::UInt(bits), TypeKind::Set) => {
            let on = |i: usize| bits & (1 << i) != 0;
            let names: Vec<&str> =
                column.members.iter().enumerate().filter(|(i, _)| on(*i)).map(|(_, m)| m.as_str()).collect();
            names.join(",")
        }
        (Value::UInt(bits), TypeKind::Bit) => format!("b'{bits:b}'"),
        _ => {
            let mut out = Vec::new();
            value.write_text(&column.data_type, &mut out);
            let charset = column.data_type.collation.charset();
            let text = if column.data_type.kind.is_text() { charset.to_utf8(&out) } else { out.into() };
            String::from_utf8_lossy(&text).into_owned()
        }
    }
}

/// One column of SHOW CREATE TABLE, without indentation.
pub(crate) fn column_line(table: &Table, column: &Column) -> String {
    let t = &column.data_type;
    let mut line = format!("{} {}", quote_name(&column.name), column_type(t, &column.members));
    if has_charset(t) {
        let charset = t.collation.charset();
        let inherited = t.collation == table.default_collation;
        if column.explicit_collation || !inherited {
            _ = write!(line, " CHARACTER SET {}", charset.name());
        }
        // The one that a character set brings goes without saying, but for utf8mb4's, which was another one before 8.0.
        let implied = t.collation == CollationId::default_of(charset);
        if column.explicit_collation || !implied || t.collation == CollationId::UTF8MB4_0900_AI_CI && !inherited {
            _ = write!(line, " COLLATE {}", t.collation.info().name);
        }
    }
    if let Some(g) = &column.generated {
        let kind = if g.stored { "STORED" } else { "VIRTUAL" };
        _ = write!(line, " GENERATED ALWAYS AS ({}) {kind}", g.expression);
    }
    if !t.nullable {
        line.push_str(" NOT NULL");
    } else if t.kind == TypeKind::Timestamp {
        line.push_str(" NULL");
    }
    for kept in &column.kept {
        _ = write!(line, " /*!50606 {kept} */");
    }
    match &column.default {
        _ if column.auto_increment || column.generated.is_some() => {}
        ColumnDefault::Expression(text) => _ = write!(line, " DEFAULT ({text})"),
        ColumnDefault::None => {}
        ColumnDefault::Now => _ = write!(line, " DEFAULT {}", now_text(t)),
        // TEXT and BLOB have no DEFAULT clause.
        ColumnDefault::Value(Value::Null) if t.kind.is_blob() && t.kind != TypeKind::Json || !t.nullable => {}
        ColumnDefault::Value(Value::Null) => line.push_str(" DEFAULT NULL"),
        ColumnDefault::Value(value) if t.kind == TypeKind::Bit => {
            _ = write!(line, " DEFAULT {}", value_text(value, column));
        }
        ColumnDefault::Value(value) => _ = write!(line, " DEFAULT {}", quote_string(&value_text(value, column))),
    }
    if column.on_update_now {
        _ = write!(line, " ON UPDATE {}", now_text(t));
    }
    if column.auto_increment {
        line.push_str(" AUTO_INCREMENT");
    }
    if column.invisible {
        line.push_str(" /*!80023 INVISIBLE */");
    }
    if !column.comment.is_empty() {
        _ = write!(line, " COMMENT {}", quote_string(&column.comment));
    }
    line
}

/// One key of SHOW CREATE TABLE, without indentation.
pub(crate) fn index_line(table: &Table, index: &Index) -> String {
    let mut line = match (index.primary, index.unique) {
        (true, _) => "PRIMARY KEY".to_string(),
        (false, true) => format!("UNIQUE KEY {}", quote_name(&index.name)),
        (false, false) => format!("KEY {}", quote_name(&index.name)),
    };
    let parts: Vec<String> = index
        .parts
        .iter()
        .map(|part| {
            let column = &table.columns[part.column];
            let mut text = match column.index_expression() {
                Some(expression) => format!("({expression})"),
                None => quote_name(&column.name),
            };
            if part.key.prefix > 0 {
                _ = write!(text, "({})", part.key.prefix);
            }
            if part.key.descending {
                text.push_str(" DESC");
            }
            text
        })
        .collect();
    _ = write!(line, " ({})", parts.join(","));
    if let Some(algorithm) = index.algorithm {
        _ = write!(line, " USING {}", algorithm.name());
    }
    if !index.comment.is_empty() {
        _ = write!(line, " COMMENT {}", quote_string(&index.comment));
    }
    if index.invisible {
        line.push_str(" /*!80000 INVISIBLE */");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_mysql_8_writes_them() {
        let int = DataType { length: 11, ..DataType::new(TypeKind::Int) };
        assert_eq!(column_type(&int, &[]), "int");
        assert_eq!(column_type(&int.unsigned(), &[]), "int unsigned");
        let bool = DataType { length: 1, ..DataType::new(TypeKind::TinyInt) };
        assert_eq!(column_type(&bool, &[]), "tinyint(1)");
        assert_eq!(column_type(&DataType::decimal(10, 2), &[]), "decimal(10,2)");
        assert_eq!(column_type(&DataType::new(TypeKind::Double), &[]), "double");
        let precise = DataType { decimals: 6, ..DataType::new(TypeKind::DateTime) };
        assert_eq!(column_type(&precise, &[]), "datetime(6)");
        let members = ["a".to_string(), "it's".to_string()];
        assert_eq!(column_type(&DataType::new(TypeKind::Enum), &members), "enum('a','it''s')");
        assert_eq!(quote_name("a`b"), "`a``b`");
    }
}
