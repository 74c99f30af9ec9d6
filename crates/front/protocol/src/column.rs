//! Column definitions of result sets (`Protocol::ColumnDefinition41`).
//!
//! ```text
//!  lenenc "def" | schema | table | org_table | name | org_name
//!  0x0c | collation 2 | length 4 | type 1 | flags 2 | decimals 1 | 0 0 | for COM_FIELD_LIST: lenenc default, 0xfb: NULL
//! ```

use crate::capability::flags;
use crate::output::ResultsCharset;
use crate::wire::put_lenenc_bytes;
use types::{Charset, CollationId, DECIMALS_NOT_FIXED, DataType, TypeKind};

flags! {
    /// Flags of a column definition. The ones that follow from the type are added when it is written.
    ColumnFlags: u16 {
        NOT_NULL = 0;
        PRI_KEY = 1;
        UNIQUE_KEY = 2;
        MULTIPLE_KEY = 3;
        BLOB = 4;
        UNSIGNED = 5;
        ZEROFILL = 6;
        BINARY = 7;
        ENUM = 8;
        AUTO_INCREMENT = 9;
        TIMESTAMP = 10;
        SET = 11;
        NO_DEFAULT_VALUE = 12;
        ON_UPDATE_NOW = 13;
        PART_KEY = 14;
        /// Not sent: the column of a table, or of a temporary one; others are expressions.
        KEPT = 15;
    }
}

/// A column of a result set as the client sees it. For an expression only `name` and `data_type` are given.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    pub schema: &'a str,
    /// The alias of the table.
    pub table: &'a str,
    pub org_table: &'a str,
    /// The alias of the column.
    pub name: &'a str,
    pub org_name: &'a str,
    pub data_type: DataType,
    /// Key flags, AUTO_INCREMENT, NO_DEFAULT_VALUE, ON_UPDATE_NOW; the others follow from the type.
    pub flags: ColumnFlags,
}

impl<'a> Column<'a> {
    pub fn expression(name: &'a str, data_type: DataType) -> Column<'a> {
        Column { schema: "", table: "", org_table: "", name, org_name: "", data_type, flags: ColumnFlags::NONE }
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>, results: Option<ResultsCharset>) {
        put_lenenc_bytes(out, b"def");
        for name in [self.schema, self.table, self.org_table, self.name, self.org_name] {
            let set = results.map_or(Charset::Utf8mb4, |set| CollationId(set.collation).charset());
            put_lenenc_bytes(out, &set.from_utf8(name.as_bytes()));
        }
        let (collation, max_bytes) = self.charset(results);
        out.push(0x0c);
        out.extend_from_slice(&collation.to_le_bytes());
        out.extend_from_slice(&self.display_bytes(max_bytes).to_le_bytes());
        out.push(match self.data_type.kind {
            // Columns of every size are BLOB; expressions say what they may come to.
            TypeKind::MediumText | TypeKind::MediumBlob if self.is_expression() => 250,
            TypeKind::LongText | TypeKind::LongBlob if self.is_expression() => 251,
            TypeKind::Enum if self.is_expression() && self.table.is_empty() => 247,
            TypeKind::Set if self.is_expression() && self.table.is_empty() => 248,
            kind => type_code(kind),
        });
        out.extend_from_slice(&(self.all_flags().0 & !ColumnFlags::KEPT.0).to_le_bytes());
        out.push(self.decimals());
        out.extend_from_slice(&[0, 0]);
    }

    fn is_expression(&self) -> bool {
        !self.flags.has(ColumnFlags::KEPT)
    }

    fn is_text(&self) -> bool {
        let t = &self.data_type;
        t.kind.is_text() && t.collation != CollationId::BINARY || t.kind == TypeKind::Json && self.is_expression()
    }

    /// Collation id and bytes per character of the column's values on the wire.
    fn charset(&self, results: Option<ResultsCharset>) -> (u16, u8) {
        const BINARY: u16 = 63;
        if !self.is_text() {
            return (BINARY, 1);
        }
        match results {
            Some(charset) => (charset.collation, charset.max_bytes),
            None => (self.data_type.collation.0, self.data_type.collation.info().charset.mbmaxlen() as u8),
        }
    }

    /// See [`DataType::display_bytes`].
    pub fn display_bytes(&self, max_bytes: u8) -> u32 {
        self.data_type.display_bytes(max_bytes, self.is_expression())
    }

    fn decimals(&self) -> u8 {
        let t = &self.data_type;
        if t.kind.is_integer() || matches!(t.kind, TypeKind::Bit | TypeKind::Year | TypeKind::Date | TypeKind::Null) {
            0
        } else if t.kind.is_numeric() || t.kind.is_temporal() {
            t.decimals
        } else if self.is_expression() {
            DECIMALS_NOT_FIXED
        } else {
            0
        }
    }

    fn all_flags(&self) -> ColumnFlags {
        let t = &self.data_type;
        let binary = match t.kind {
            TypeKind::Null => true,
            kind if kind.is_temporal() => true,
            kind if kind.is_numeric() => self.is_expression(),
            _ => !self.is_text() || t.collation.info().name.ends_with("_bin"),
        };
        // Of bytes these are marks of literals and casts: of a bit literal, which has no sign, and of BINARY(n).
        let is_marked = t.kind.is_bytes() && t.zerofill;
        self.flags
            .with(ColumnFlags::NOT_NULL, !t.nullable || self.flags.has(ColumnFlags::NOT_NULL))
            .with(ColumnFlags::UNSIGNED, t.unsigned && !is_marked || matches!(t.kind, TypeKind::Year | TypeKind::Bit))
            .with(ColumnFlags::ZEROFILL, t.zerofill && !is_marked || t.kind == TypeKind::Year && !self.is_expression())
            .with(ColumnFlags::BLOB, t.kind.is_blob() && !self.is_expression())
            .with(ColumnFlags::ENUM, t.kind == TypeKind::Enum)
            .with(ColumnFlags::SET, t.kind == TypeKind::Set)
            .with(ColumnFlags::BINARY, binary)
    }
}

/// `MYSQL_TYPE_*` of a type in column definitions.
pub const fn type_code(kind: TypeKind) -> u8 {
    use TypeKind::*;
    match kind {
        TinyInt => 1,
        SmallInt => 2,
        Int => 3,
        Float => 4,
        Double => 5,
        Null => 6,
        Timestamp => 7,
        BigInt => 8,
        MediumInt => 9,
        Date => 10,
        Time => 11,
        DateTime => 12,
        Year => 13,
        Bit => 16,
        Json => 245,
        Decimal => 246,
        TinyText | Text | MediumText | LongText | TinyBlob | Blob | MediumBlob | LongBlob => 252,
        VarChar | VarBinary => 253,
        Char | Binary | Enum | Set => 254,
        Geometry => 255,
    }
}
