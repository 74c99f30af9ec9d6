//! Column and expression types with MySQL's attributes.

use crate::collation::CollationId;

/// `decimals` of a FLOAT or DOUBLE without a fixed number of digits after the point (MySQL's `DECIMAL_NOT_SPECIFIED`).
pub const DECIMALS_NOT_FIXED: u8 = 31;

/// The kinds of MySQL column types. ENUM and SET carry their members in the column definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    Null,
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Decimal,
    Float,
    Double,
    Bit,
    Year,
    Date,
    Time,
    DateTime,
    Timestamp,
    Char,
    VarChar,
    Binary,
    VarBinary,
    TinyText,
    Text,
    MediumText,
    LongText,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    Enum,
    Set,
    Json,
    Geometry,
}

impl TypeKind {
    /// TINYINT to BIGINT.
    pub const fn is_integer(self) -> bool {
        use TypeKind::*;
        matches!(self, TinyInt | SmallInt | MediumInt | Int | BigInt)
    }

    /// Everything that is a number at run time: integers, DECIMAL, FLOAT, DOUBLE, BIT and YEAR.
    pub const fn is_numeric(self) -> bool {
        use TypeKind::*;
        self.is_integer() || matches!(self, Decimal | Float | Double | Bit | Year)
    }

    /// DATE, TIME, DATETIME or TIMESTAMP.
    pub const fn is_temporal(self) -> bool {
        use TypeKind::*;
        matches!(self, Date | Time | DateTime | Timestamp)
    }

    /// Values are [`crate::Value::Bytes`]: strings with a character set, binary strings, JSON and geometry.
    pub const fn is_bytes(self) -> bool {
        use TypeKind::*;
        matches!(
            self,
            Char | VarChar
                | Binary
                | VarBinary
                | TinyText
                | Text
                | MediumText
                | LongText
                | TinyBlob
                | Blob
                | MediumBlob
                | LongBlob
                | Json
                | Geometry
        )
    }

    /// A string type with a character set that is not `binary`, or ENUM and SET.
    pub const fn is_text(self) -> bool {
        use TypeKind::*;
        matches!(self, Char | VarChar | TinyText | Text | MediumText | LongText | Enum | Set)
    }

    /// TEXT and BLOB of every size, JSON, GEOMETRY: no index without a prefix length, no literal default.
    pub const fn is_blob(self) -> bool {
        use TypeKind::*;
        matches!(
            self,
            TinyText | Text | MediumText | LongText | TinyBlob | Blob | MediumBlob | LongBlob | Json | Geometry
        )
    }
}

/// A static type: of a column, a parameter or an expression.
#[derive(Clone, Copy, Debug, Eq)]
pub struct DataType {
    pub kind: TypeKind,
    pub unsigned: bool,
    pub zerofill: bool,
    pub nullable: bool,
    /// Characters for CHAR/VARCHAR, bytes for BINARY/VARBINARY/BLOB/TEXT, digits (precision) for DECIMAL, bits for BIT, display width else.
    pub length: u32,
    /// Scale of DECIMAL, digits after the point of FLOAT(m,d)/DOUBLE(m,d) (31: not fixed), fractional seconds digits of temporals.
    pub decimals: u8,
    pub collation: CollationId,
    /// How strongly a column of strings holds its collation, lower wins: [`IMPLICIT`] of tables' columns. A column of a derived table holds
    /// it as the expression does that it is made of. It is no part of what the type is.
    pub coercibility: u8,
}

/// The coercibility of tables' columns.
pub const IMPLICIT: u8 = 2;

impl PartialEq for DataType {
    fn eq(&self, other: &DataType) -> bool {
        let of = |t: &DataType| (t.kind, t.unsigned, t.zerofill, t.nullable, t.length, t.decimals, t.collation);
        of(self) == of(other)
    }
}

impl DataType {
    /// A signed, nullable type of this kind with length 0, collation `binary`, and decimals 0 (31 for FLOAT and DOUBLE). A YEAR
    /// is filled with zeros, as columns are; of what is computed, 0 is `0`.
    pub const fn new(kind: TypeKind) -> DataType {
        let decimals = match kind {
            TypeKind::Float | TypeKind::Double => DECIMALS_NOT_FIXED,
            _ => 0,
        };
        DataType {
            kind,
            unsigned: false,
            zerofill: matches!(kind, TypeKind::Year),
            nullable: true,
            length: if matches!(kind, TypeKind::Year) { 4 } else { 0 },
            decimals,
            collation: CollationId::BINARY,
            coercibility: IMPLICIT,
        }
    }

    /// A string type of `length` characters (CHAR, VARCHAR) or bytes (TEXT, BLOB, BINARY).
    pub const fn string(kind: TypeKind, length: u32, collation: CollationId) -> DataType {
        DataType { length, collation, ..DataType::new(kind) }
    }

    pub const fn decimal(precision: u32, scale: u8) -> DataType {
        DataType { length: precision, decimals: scale, ..DataType::new(TypeKind::Decimal) }
    }

    pub const fn unsigned(self) -> DataType {
        DataType { unsigned: true, ..self }
    }

    pub const fn not_null(self) -> DataType {
        DataType { nullable: false, ..self }
    }

    /// The longest value in bytes, of numbers the display width: of a column or an expression, its characters of `max_bytes` at most.
    pub fn display_bytes(&self, max_bytes: u8, is_expression: bool) -> u32 {
        use TypeKind::*;
        let t = self;
        let fraction = |width: u32| if t.decimals > 0 { width + 1 + u32::from(t.decimals) } else { width };
        let signed = |width: u32| if t.unsigned { width } else { width + 1 };
        let text = |chars: u32| chars.saturating_mul(u32::from(max_bytes));
        match t.kind {
            Null => 0,
            TinyInt | SmallInt | MediumInt | Int | BigInt if t.length > 0 => t.length,
            TinyInt => signed(3),
            SmallInt => signed(5),
            MediumInt if t.unsigned => 8,
            MediumInt => 9,
            Int => signed(10),
            BigInt => 20,
            Decimal => signed(t.length + u32::from(t.decimals > 0)),
            Float | Double if t.length > 0 => t.length,
            Float => 12,
            Double => 22,
            Bit => t.length.max(1),
            Year => 4,
            Date => 10,
            Time => fraction(10),
            DateTime | Timestamp => fraction(19),
            Char | VarChar | Enum | Set => text(t.length),
            Binary | VarBinary => t.length,
            TinyText => text(255),
            Text => text(if t.length > 0 { t.length } else { 65_535 }),
            MediumText if t.length > 0 && is_expression => {
                text(t.length).saturating_mul(t.collation.charset().mbmaxlen())
            }
            MediumText => text(16_777_215),
            TinyBlob => 255,
            Blob => {
                if t.length > 0 {
                    t.length
                } else {
                    65_535
                }
            }
            MediumBlob if t.length > 0 => t.length,
            MediumBlob => 16_777_215,
            // Whole characters of four bytes.
            Json if is_expression => !3,
            // The text of GROUP_CONCAT says what it may come to, as an expression in bytes that may be characters each.
            LongText if t.length > 0 && is_expression => {
                text(t.length).saturating_mul(t.collation.charset().mbmaxlen())
            }
            LongText if t.length > 0 => text(t.length),
            LongBlob if t.length > 0 => t.length,
            LongText | LongBlob | Json | Geometry => u32::MAX,
        }
    }

    /// Bits of an integer type; 64 for every other.
    const fn integer_bits(&self) -> u32 {
        match self.kind {
            TypeKind::TinyInt => 8,
            TypeKind::SmallInt => 16,
            TypeKind::MediumInt => 24,
            TypeKind::Int => 32,
            _ => 64,
        }
    }

    /// Smallest and largest integer of an integer type.
    pub const fn integer_bounds(&self) -> (i64, u64) {
        let spare = 64 - self.integer_bits();
        if self.unsigned { (0, u64::MAX >> spare) } else { (i64::MIN >> spare, (i64::MAX >> spare) as u64) }
    }

    /// Is this an integer type, and `value` within its bounds?
    #[inline]
    pub const fn holds_integer(&self, value: i64) -> bool {
        let spare = 64 - self.integer_bits();
        let within = if self.unsigned {
            value >= 0 && value as u64 <= u64::MAX >> spare
        } else {
            value << spare >> spare == value
        };
        self.kind.is_integer() && within
    }

    /// Most bytes that a value of a string type may have.
    pub fn max_bytes(&self) -> u64 {
        use TypeKind::*;
        match self.kind {
            Char | VarChar => self.length as u64 * self.collation.info().charset.mbmaxlen() as u64,
            TinyText | TinyBlob => 255,
            Text | Blob if self.length == 0 => 65_535,
            MediumText | MediumBlob => 16_777_215,
            LongText | LongBlob | Json | Geometry => 4_294_967_295,
            _ => self.length as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_held_within_the_bounds_and_nowhere_else() {
        use TypeKind::*;
        for kind in [TinyInt, SmallInt, MediumInt, Int, BigInt, Decimal, Year] {
            for unsigned in [false, true] {
                let column = DataType { unsigned, ..DataType::new(kind) };
                let (low, high) = column.integer_bounds();
                let near = [low, high.min(i64::MAX as u64) as i64, 0, i64::MIN, i64::MAX];
                for value in near.iter().flat_map(|n| [n.saturating_sub(1), *n, n.saturating_add(1)]) {
                    let within = kind.is_integer() && value as i128 >= low as i128 && value as i128 <= high as i128;
                    assert_eq!(column.holds_integer(value), within, "{value} in {column:?}");
                }
            }
        }
    }
}
