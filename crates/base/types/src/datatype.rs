//! Column and expression types with MySQL's attributes.

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

/// MySQL's collation id (information_schema.COLLATIONS.ID); 63 is `binary`, 255 `utf8mb4_0900_ai_ci`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CollationId(pub u16);

/// A static type: of a column, a parameter or an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}
